// The structural IR: a design is modules; a module is ports, instances and the connections between them. Value types
// and indices: a Design can be copied, compared by its JSON, and changed by passes. Streams are connected as a whole.
//
// Building one (generator/stack does this):
//
//   Library library;
//   Diagnostics diags;
//   library.read_tree("templates", diags);
//   Builder top(library, "nic_100g", diags);
//   auto rx = top.instance("rx_frontend_i", "rx_frontend", {{"DataW", 512}, {"BufBeats", 1024}});
//   auto dispatch = top.instance("rx_dispatch_i", "rx_dispatch");
//   auto arb = top.instance("tx_arb_i", "stream_arb", {{"N", 2}, {"DataW", 512}, {"UserW", 304}, {"Priority", true}});
//   top.expose_stream(rx.stream("s_rx"), "s_axis_rx");              // becomes ports of the top
//   top.connect(rx.stream("m_hdr"), dispatch.stream("s_hdr"));       // may be cut: weight 1
//   top.connect(dma.stream("m_pkt"), arb.stream("s_axis", 1), {.weight = 2});        // lane 1 of an array; a long wire
//   top.connect(acks.stream("m_pkt"), arb.stream("s_axis", 0), {.as_packet = true});
//   top.connect_pin(csr.pin("local_ip_o"), rx.pin("local_ip_i"));
//   top.tie(framer.pin("ttl_i"), 64);
//   top.leave_open(csr.pin("spare_o"), "no reader in this variant");
//   int i = 0;
//   for (const PinMatch& m : top.output_pins("cnt_")) top.connect_pin(m.pin, bank.pin("pulse_i", i++, 1));
//   auto ready = top.reduce("tables_ready", Reduce::all, {mr.pin("ready_o"), sq.pin("ready_o")});
//   top.connect_pin(ready, csr.pin("ready_i"));
//   top.expose_pins(dma, "m_axi_");                                  // every pin m_axi_*, under its own name
//   Design design = single(top.take());                              // then run_passes(design, ...)
//
// Clock and reset pins (`clk`, `rst`, `clk_<d>`, `rst_<d>`) are connected by themselves: an instance lives in one
// domain
// ("" is the ports clk and rst of the module, "mac" its ports clk_mac and rst_mac), or gives one to each of its clocks.
// Misuse of the builder and faults of the design are diagnostics; the builder never throws.
#pragma once

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/netlist/library.h"

namespace rocegen::netlist {

// A SystemVerilog attribute: (* key = "value" *).
struct Attribute {
  std::string key, value;
};

// One clock with its reset. The ports are `clk`/`rst` for the name "", else `clk_<name>`/`rst_<name>`.
struct Domain {
  std::string name;
  double mhz = 0;  // 0: unknown
  std::string comment;
  std::vector<Attribute> clock_attributes, reset_attributes;  // on the two ports

  [[nodiscard]] std::string clock_port() const { return name.empty() ? "clk" : "clk_" + name; }
  [[nodiscard]] std::string reset_port() const { return name.empty() ? "rst" : "rst_" + name; }
};

// Which line of the generator made a thing: "generator/stack/network.cpp:41". For messages only, never in the output.
struct Origin {
  std::string text;
};

inline constexpr int kTop = -1;          // instance index of the module's own ports
inline constexpr int kBroken = -2;       // an instance that could not be made (already reported)
inline constexpr int kWholeStream = -1;  // lane of a stream that is no array

// A stream of an instance, or of the module itself (a port group).
struct StreamRef {
  int instance = kTop;
  std::string stream;       // "m_hdr"; for ports of the module their group name "s_axis_rx"
  int lane = kWholeStream;  // index in an array
  bool operator==(const StreamRef&) const = default;
};

// A pin or a part of one.
struct PinRef {
  enum class Kind { instance, port, net, constant };
  Kind kind = Kind::instance;
  int instance = kTop;
  std::string name;  // of the pin, the port or the net
  int lsb = 0;
  int width = 0;            // 0: the whole pin
  std::uint64_t value = 0;  // of a constant of `width` bits
  bool operator==(const PinRef&) const = default;

  // Bits [lsb + width - 1 : lsb] of this one.
  [[nodiscard]] PinRef slice(int from, int bits) const;
};

// A constant driver.
[[nodiscard]] PinRef constant(int width, std::uint64_t value);

// A part of the payload that a connection hands to a sink field: bits of a source field, or a constant.
struct Piece {
  std::string field;  // source field; empty: a constant
  int lsb = 0;
  int width = 0;            // 0: the whole field
  std::uint64_t value = 0;  // constant
  bool operator==(const Piece&) const = default;
};
// How one field of the sink is made; pieces most significant first.
struct FieldMap {
  std::string field;
  std::vector<Piece> pieces;
  bool operator==(const FieldMap&) const = default;
};
using PayloadMap = std::vector<FieldMap>;

// A single-beat record becomes a packet without payload: tuser takes the record (zero above it up to `tuser_width`),
// tdata and tkeep are zero, tlast is one.
[[nodiscard]] PayloadMap record_as_packet(int record_width, int tuser_width);

struct StreamConnection {
  StreamRef source, sink;
  int weight = 1;                    // 0: never cut, 1: short wire, 2: long wire (see pipeline.h)
  PayloadMap map;                    // empty: fields go by name
  std::vector<std::string> dropped;  // source fields that nobody reads, on purpose
  std::string name;                  // of the wires: <name>_tvalid, ...
  std::string comment;
  Origin origin;
};

struct PinConnection {
  PinRef driver, sink;
  std::string quasi_static;  // reason why a crossing of clock domains is safe; empty: it is not
  std::string comment;
  Origin origin;
};

enum class Reduce {
  none,  // a plain wire, driven by connections
  all,   // AND of all bits of the operands
  any,   // OR of all bits
};
struct Net {
  std::string name;
  int width = 1;
  Reduce reduce = Reduce::none;
  std::vector<PinRef> operands;  // of a reduction
  std::string comment;
  Origin origin;
};

// A pin or stream that is deliberately not connected.
struct Open {
  bool is_stream = false;
  StreamRef stream;
  PinRef pin;
  std::string reason;
  std::string name;  // of a stream's wires (pass `names`)
  Origin origin;
};

// A port of a structural module. Clocks and resets are not listed here: they come from `domains`.
struct ModulePort {
  std::string name;
  Direction direction = Direction::input;
  int width = 1;
  bool ranged = false;
  std::string record;
  std::string domain;
  std::string comment;
  std::vector<Attribute> attributes;
};
// A stream port: its ports are <name>_tvalid, ...; seen from outside, so Role::sink is an input of the module.
struct ModuleStream {
  std::string name;
  Role role = Role::sink;
  bool has_ready = true;
  std::vector<Field> fields;
  std::string domain;
  std::string comment;
  std::vector<Attribute> attributes;  // on tvalid

  [[nodiscard]] Stream as_stream() const;
};

struct Instance {
  std::string name;
  Params params;  // as given; the resolved set is in `interface.params`
  Interface interface;
  std::vector<std::pair<std::string, std::string>> domains;  // clock port -> domain
  std::string comment;
  std::string inserted_by;                                 // pass that made it; empty: the architecture
  std::vector<std::pair<std::string, std::string>> wires;  // output pin -> wire, port or net (pass `names`)
  Origin origin;

  // Domain of one of its streams or pins; "" also for what has no clock.
  [[nodiscard]] std::string domain_of_clock(std::string_view clock) const;
};

struct Module {
  std::string name;
  std::string comment;  // header comment of the emitted file; lines separated by '\n'
  std::vector<Domain> domains;
  std::vector<ModuleStream> streams;             // port groups, in order of exposure
  std::vector<ModulePort> ports;                 // plain ports
  std::vector<std::pair<bool, int>> port_order;  // (is_stream, index) in order of exposure
  std::vector<Instance> instances;
  std::vector<StreamConnection> stream_connections;
  std::vector<PinConnection> pin_connections;
  std::vector<Net> nets;
  std::vector<Open> opens;
  Origin origin;

  [[nodiscard]] const ModuleStream* port_stream(std::string_view name) const;
  [[nodiscard]] const ModulePort* port(std::string_view name) const;
  [[nodiscard]] int find_instance(std::string_view name) const;  // -1: none
  // "rx_frontend_i.m_hdr" or "port s_axis_rx", for messages.
  [[nodiscard]] std::string describe(const StreamRef& ref) const;
  [[nodiscard]] std::string describe(const PinRef& ref) const;
};

struct Design {
  std::vector<Module> modules;               // instantiated before instantiating; the last one is the top
  std::vector<std::string> library_modules;  // what the design needs of the library, in file order (pass `prune`)
  std::vector<std::string> package_files;    // files of the packages that they use
  std::vector<std::string> include_files;    // files that they `include

  [[nodiscard]] const Module& top() const { return modules.back(); }
};

// A design of one module.
[[nodiscard]] Design single(Module module);

// ---- building -----------------------------------------------------------------------------------------------------

// An instance under construction. Cheap to copy.
class InstanceHandle {
 public:
  InstanceHandle() = default;
  explicit InstanceHandle(int index) : index_(index) {}
  [[nodiscard]] StreamRef stream(std::string name, int lane = kWholeStream) const {
    return {index_, std::move(name), lane};
  }
  [[nodiscard]] PinRef pin(std::string name) const {
    return {PinRef::Kind::instance, index_, std::move(name), 0, 0, 0};
  }
  [[nodiscard]] PinRef pin(std::string name, int lsb, int width) const {
    return {PinRef::Kind::instance, index_, std::move(name), lsb, width, 0};
  }
  [[nodiscard]] int index() const { return index_; }

 private:
  int index_ = kTop;
};

// A plain pin found by a query.
struct PinMatch {
  PinRef pin;
  std::string instance;  // name
  std::string module;
  std::string name;  // "cnt_rx_icrc_o"
  int width = 1;
};

struct ConnectOptions {
  int weight = 1;                      // for the register slices, see pipeline.h
  bool as_packet = false;              // a record source (tdata only) into a packet sink: see record_as_packet
  std::vector<std::string> drop = {};  // fields of the source that the sink does not want
  std::vector<std::string> zero = {};  // fields of the sink that the source does not have: tied to zero
  PayloadMap map = {};                 // or say exactly how every field of the sink is made
  std::string comment = {};
};
struct ExposeOptions {
  std::string domain = "=";  // "=": the domain of what is exposed
  int weight = 0;
  int data_width = 0;  // bits of the port's tdata, tkeep follows; 0: those of the stream (the width pass adapts)
  PayloadMap map = {};
  std::string comment = {};
  std::vector<Attribute> attributes = {};
};
struct PinOptions {
  std::string quasi_static = {};
  std::string comment = {};
};

class Builder {
 public:
  using Where = std::source_location;
  // `library` and `diagnostics` must outlive the builder. The domain "" (clk, rst) exists from the start.
  Builder(const Library& library, std::string name, Diagnostics& diagnostics, Where where = Where::current());

  // Header comment of the emitted module.
  void comment(std::string text);
  // Declares a clock domain; mhz is for documentation and constraints. Declaring "" sets the frequency of clk.
  void domain(const std::string& name, double mhz = 0, std::string comment = "");

  // SystemVerilog attributes on the clock and the reset port of a declared domain.
  void domain_attributes(const std::string& name, std::vector<Attribute> clock, std::vector<Attribute> reset);

  // Adds an instance; all its clocks are in `domain`. An unknown module or parameter is a diagnostic (and later uses of
  // the handle are ignored silently).
  InstanceHandle instance(std::string name, std::string_view module, Params params = {}, std::string comment = "",
                          const std::string& domain = "", Where where = Where::current());
  // Gives one clock port of a module of several clocks a domain of its own.
  void clock(InstanceHandle instance, const std::string& clock_port, const std::string& domain,
             Where where = Where::current());

  // Connects a stream that gives (m_*, or a port group s_* of the module) to one that takes. Two arrays of the same
  // size given without a lane are connected lane by lane.
  void connect(const StreamRef& source, const StreamRef& sink, ConnectOptions options = {},
               Where where = Where::current());
  // Makes an instance's stream a port group of the module.
  void expose_stream(const StreamRef& ref, const std::string& port_name, ExposeOptions options = {},
                     Where where = Where::current());

  void connect_pin(const PinRef& driver, const PinRef& sink, PinOptions options = {}, Where where = Where::current());
  // Drives an input with a constant. `sink` may be a whole pin or a slice of one.
  void tie(const PinRef& sink, std::uint64_t value, std::string comment = "", Where where = Where::current());
  // Makes a pin a port of the module (same direction and width).
  void expose_pin(const PinRef& pin, const std::string& port_name, ExposeOptions options = {},
                  Where where = Where::current());
  // Every plain pin whose name starts with `prefix`, in header order, as port `rename` + the rest of the name.
  void expose_pins(InstanceHandle instance, std::string_view prefix, ExposeOptions options = {},
                   Where where = Where::current());
  void expose_pins(InstanceHandle instance, std::string_view prefix, const std::string& rename,
                   ExposeOptions options = {}, Where where = Where::current());
  // A port of the module without an instance's pin behind it; connect it with connect_pin.
  PinRef input_port(const std::string& name, int width = 1, ExposeOptions options = {}, Where where = Where::current());
  PinRef output_port(const std::string& name, int width = 1, ExposeOptions options = {},
                     Where where = Where::current());
  // A port of the module by name, once it exists.
  [[nodiscard]] PinRef port(std::string name) const;
  [[nodiscard]] StreamRef port_stream(std::string name) const;

  // A wire: drive it with connect_pin(driver, net), read it with connect_pin(net, sink).
  PinRef net(const std::string& name, int width = 1, std::string comment = "", Where where = Where::current());
  // A one-bit wire that is the AND or OR of all bits of `operands`.
  PinRef reduce(const std::string& name, Reduce how, std::vector<PinRef> operands, std::string comment = "",
                Where where = Where::current());

  // Deliberately unconnected. An output pin stays open; an input pin must be tied instead. A stream that gives is
  // accepted and thrown away; one that takes never sees a beat.
  void leave_open(const PinRef& pin, std::string reason, Where where = Where::current());
  void leave_open(const StreamRef& stream, std::string reason, Where where = Where::current());

  // Record tag of a payload field, where the header gives only a flat vector.
  void set_record(const StreamRef& stream, std::string_view field, std::string_view record);

  // Plain output pins whose name starts with `prefix`, in order of instances, then of the header.
  [[nodiscard]] std::vector<PinMatch> output_pins(std::string_view prefix) const;
  // Plain input pins likewise.
  [[nodiscard]] std::vector<PinMatch> input_pins(std::string_view prefix) const;
  // Width in bits of a pin, 0 when unknown.
  [[nodiscard]] int width(const PinRef& pin) const;
  // Resolved interface of an instance; an empty one when the instance could not be made.
  [[nodiscard]] const Interface& interface(InstanceHandle instance) const;

  [[nodiscard]] const Module& module() const { return module_; }
  // The finished module. Nothing is checked yet: run the passes.
  [[nodiscard]] Module take();

 private:
  spec::Diagnostic& fault(std::string_view code, std::string message, const Origin& origin);
  // Finds a stream that must give (drives) or take; reports when there is none. Broken instances: nothing, silently.
  std::optional<Stream> resolve(StreamRef& ref, bool drives, const Origin& origin);
  // Width of a pin that must drive or be driven, 0 after a report (or silently for broken instances).
  int resolve(PinRef& ref, bool drives, const Origin& origin);
  bool name_is_free(const std::string& name, std::string_view what, const Origin& origin);
  std::string domain_of(const PinRef& ref) const;

  const Library* library_;
  Diagnostics* diagnostics_;
  Module module_;
};

}  // namespace rocegen::netlist
