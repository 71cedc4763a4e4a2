// Questions about a module that passes and writers share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

// A stream end as seen from inside the module.
struct StreamEnd {
  Stream stream;
  bool gives = false;                 // its beats come from here
  std::optional<std::string> domain;  // nothing: any domain will do (combinational or asynchronous)
};

// The stream that a reference names; nothing when it dangles.
[[nodiscard]] std::optional<StreamEnd> stream_at(const Module& module, const StreamRef& ref);

// A pin, port or net.
struct PinEnd {
  int width = 0;  // of the whole pin
  bool can_drive = false;
  bool can_be_driven = false;
  std::optional<std::string> domain;
};
[[nodiscard]] std::optional<PinEnd> pin_at(const Module& module, const PinRef& ref);

// How every field of the sink is made: the map of the connection, or field by field.
[[nodiscard]] PayloadMap effective_map(const StreamConnection& connection, const Stream& source, const Stream& sink);
// True when every sink field is the whole source field of its name.
[[nodiscard]] bool is_identity(const PayloadMap& map, const Stream& source);
// When the map only takes source fields apart (each source field is exactly the concatenation of whole sink fields),
// the sink fields of `field`, most significant first; empty otherwise.
[[nodiscard]] std::vector<std::string> parts_of(const PayloadMap& map, const Stream& source, const Stream& sink,
                                                std::string_view field);
[[nodiscard]] bool is_unpacking(const PayloadMap& map, const Stream& source, const Stream& sink);

// Whose names the wires of a connection have.
enum class Bundle {
  own,                 // wires of its own, named after the connection; fields of the source
  own_sink,            // likewise, with the fields of the sink (the source's port is their concatenation)
  source_port,         // the source is a port group of the module
  sink_port,           // the sink is one, and takes the wires as they are
  sink_port_unpacked,  // the sink is one, and the source's port is the concatenation of its fields
};
[[nodiscard]] Bundle bundle_of(const Module& module, const StreamConnection& connection);

// "rx_frontend_i" -> "rx_frontend", "u_x" -> "x".
[[nodiscard]] std::string base_name(std::string_view instance);
// Name for what hangs on a stream end: "rx_frontend_hdr", "cfg_fork_1" (m_axis[1]), "s_axis_rx".
[[nodiscard]] std::string stream_base_name(const Module& module, const StreamRef& ref);
// Name for the wire of an output pin: "csr_local_ip" for csr_i.local_ip_o.
[[nodiscard]] std::string pin_base_name(const Module& module, int instance, std::string_view pin);
// Reset port -> the clock port it goes with: "rst_s" -> "clk_s".
[[nodiscard]] std::string clock_of_reset(std::string_view reset);

// A place that says where in the design something is: "module nic_100g".
[[nodiscard]] Place place_of(const Module& module);

// Inserts a library module into a connection: it becomes source -> instance -> sink. `in_map` makes the fields of the
// instance's s_axis from the source, `out_map` those of the sink from its m_axis (empty: by name). Every clock of the
// new instance gets `domain`, unless `domains` says otherwise. False after a report when the module cannot be made.
struct Insertion {
  std::string name;
  std::string module;
  Params params;
  std::string comment;
  std::string pass;
  std::vector<std::pair<std::string, std::string>> domains;  // clock port -> domain
  PayloadMap in_map, out_map;
  std::vector<std::string> in_dropped, out_dropped;
};
[[nodiscard]] bool insert(Module& module, std::size_t connection, const Library& library, Insertion insertion,
                          Diagnostics& diagnostics);

// One payload vector {tuser, tlast, tkeep, tdata} for cells that carry a single tdata.
[[nodiscard]] PayloadMap packing_map(const Stream& stream);    // stream -> tdata
[[nodiscard]] PayloadMap unpacking_map(const Stream& stream);  // tdata -> stream

}  // namespace rocegen::netlist
