// The library: what the generator knows about modules written in SystemVerilog.
//
// The SystemVerilog is the one place where a port is declared: the library reads the ANSI headers of the files under
// templates/ (and of text that the generator itself writes: compiled arithmetic, the register block), evaluates their
// parameter and width expressions for a given set of parameters, and groups ports into streams by their names:
//
//   s_<name>_tvalid/tready/tdata/tkeep/tlast/tuser   a stream that the module takes   (Role::sink)
//   m_<name>_tvalid/...                              a stream that the module gives   (Role::source)
//
// A stream whose tvalid is declared with a range `[N-1:0]` is an array of N streams; its payload ports are the lanes'
// payloads concatenated, lane 0 in the low bits. Every other port is a plain pin. Ports named `clk`, `rst`, `clk_<d>`,
// `rst_<d>` are clocks and resets.
//
// What a header cannot say is said in a structured comment, above the module or in it:
//
//   // rocegen: comb none                                        no combinational path between streams
//   // rocegen: comb s_a.tready<-m_b.tready, m_b.tvalid<-s_a.tvalid   these paths and no other (globs allowed:
//   s_*.tready)
//   // rocegen: clock m_axis clk_m                               a stream's (or pin's) clock in a module of several
//   clocks;
//                                                              "async": any domain may be connected
//   // rocegen: record m_pkt.tuser tx_pkt_err                    record tag of a payload field that is a flat vector
//   // rocegen: passes s_axis m_axis                             m_axis carries the records that s_axis took
//
// Without `comb` the combinational paths of a module are unknown: a cycle through it is a warning, not an error (those
// of the stream cells in templates/lib are known). Without `clock` everything belongs to `clk`; in a module with the
// clocks clk_s and clk_m and no clk, s_* streams belong to clk_s and m_* streams to clk_m.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "generator/netlist/expression.h"
#include "generator/spec/diagnostic.h"

namespace rocegen::netlist {

using spec::Diagnostics;
using spec::Place;

enum class Direction { input, output };
enum class Role { sink, source };

// Value of a module parameter: an integer, or SystemVerilog text (a string literal or a sized literal over 64 bits).
class ParamValue {
 public:
  ParamValue() = default;
  template <typename T>
  requires std::is_integral_v<T> ParamValue(T value)
      : number_(static_cast<std::int64_t>(value)) {}        // NOLINT(google-explicit-constructor)
  ParamValue(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  ParamValue(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool is_number() const { return !text_.has_value(); }
  [[nodiscard]] std::int64_t number() const { return number_; }
  // The SystemVerilog text of a value that is not a number; empty otherwise.
  [[nodiscard]] std::string text() const { return text_.value_or(""); }
  bool operator==(const ParamValue&) const = default;

 private:
  std::int64_t number_ = 0;
  std::optional<std::string> text_;
};

struct Param {
  std::string name;
  ParamValue value;
  bool operator==(const Param&) const = default;
};
using Params = std::vector<Param>;

// A parameter as a header declares it.
struct ParamDecl {
  std::string name;
  bool local = false;  // localparam inside #( )
  std::string type;    // "int", "bit", "logic", ...; empty when not written
  bool is_signed = false;
  Expression msb, lsb;       // packed range; empty when there is none
  std::string package_type;  // "roce_pkg::x_t" when the type comes from a package
  Expression value;          // default; empty when the header gives none
  Place place;
};

// A port as a header declares it.
struct PortDecl {
  std::string name;
  Direction direction = Direction::input;
  bool ranged = false;  // written with a packed range
  Expression msb, lsb;
  std::string package_type;  // "roce_pkg::rx_hdr_t", else empty
  Place place;
};

struct CombPath {
  std::string to, from;  // "s_a.tready", "m_b.tvalid" or a pin's name; globs with '*'
};

// One module of the library, parameters not yet resolved.
struct ModuleDecl {
  std::string name;
  std::string file;  // as shown to users, relative to the root it was read from
  Place place;
  bool generated = false;  // its text was written by the generator
  std::string summary;     // first sentence of the header comment
  std::vector<ParamDecl> params;
  std::vector<PortDecl> ports;
  std::optional<std::vector<CombPath>> comb;                    // nullopt: unknown
  std::vector<std::pair<std::string, std::string>> clocks_of;   // stream or pin -> clock port
  std::vector<std::pair<std::string, std::string>> records_of;  // "stream.field" -> record
  std::vector<std::pair<std::string, std::string>> passes;      // sink stream -> source stream
  std::vector<std::string> instantiates;                        // names that may be modules it instantiates, sorted
  std::vector<std::string> packages;                            // packages that it names, sorted
  std::vector<std::string> includes;                            // `include "..." of its file, in order
};

// ---- a module with its parameters resolved ----------------------------------------------------------------------

struct Port {
  std::string name;
  Direction direction = Direction::input;
  int width = 1;        // bits
  bool ranged = false;  // declared as a vector, also when one bit wide
  std::string record;   // "roce_pkg::rx_hdr_t" when declared with a package type
  std::string clock;    // clock port that it belongs to; empty for clocks, resets and purely combinational modules
  Place place;
};

// A payload field of a stream, per lane.
struct Field {
  std::string name;    // "tdata", "tkeep", "tlast", "tuser"
  int width = 1;       // bits of one lane
  std::string record;  // record tag, "" when a plain vector
  bool operator==(const Field&) const = default;
};

struct Stream {
  std::string name;  // "s_hdr"
  Role role = Role::sink;
  bool array = false;  // tvalid is a vector
  int lanes = 1;
  bool has_ready = true;
  std::vector<Field> fields;  // in the order tdata, tkeep, tlast, tuser
  std::string clock;          // clock port
  Place place;

  [[nodiscard]] const Field* field(std::string_view name) const;
  [[nodiscard]] bool is_packet() const { return field("tlast") != nullptr; }
  // All payload bits of one lane.
  [[nodiscard]] int payload_width() const;
  // "512 rx_hdr_t" style summary for messages and diagrams.
  [[nodiscard]] std::string describe() const;
};

struct Interface {
  std::string module;
  std::string file;
  bool generated = false;
  Params params;                                          // every parameter of the header, resolved, localparams too
  std::vector<std::string> overridable;                   // those of `params` that an instance may set
  std::vector<std::pair<std::string, int>> param_widths;  // width in bits of those that are not int (0: untyped)
  std::vector<Port> ports;                                // in header order
  std::vector<Stream> streams;                            // in order of first port
  std::vector<std::string> clocks;                        // clock ports
  std::vector<std::string> resets;                        // reset ports
  std::optional<std::vector<CombPath>> comb;
  std::vector<std::pair<std::string, std::string>> passes;
  Place place;

  [[nodiscard]] const Port* port(std::string_view name) const;
  [[nodiscard]] const Stream* stream(std::string_view name) const;
  [[nodiscard]] Stream* stream(std::string_view name);
  // True when the port belongs to a stream, or is a clock or a reset; false for plain pins.
  [[nodiscard]] bool is_plain(std::string_view port_name) const;
};

// A packed struct or other named type of a package.
struct StructField {
  std::string name;
  int lsb = 0;
  int width = 1;
  std::string record;  // type when it is itself a record
};
struct RecordInfo {
  std::string name;  // qualified: "roce_pkg::rx_hdr_t"
  int width = 0;
  std::vector<StructField> fields;  // most significant first; empty for plain vectors and enums
};

class Library {
 public:
  // Reads every *.sv below `root`, in sorted order. Faults are diagnostics with file and line. Files are shown as
  // `shown_as`/relative path (default: the folder's own name).
  void read_tree(const std::filesystem::path& root, Diagnostics& diagnostics, const std::string& shown_as = "");
  void read_file(const std::filesystem::path& file, const std::string& shown_as, Diagnostics& diagnostics);
  // Registers the modules and packages of a text. `generated`: the text was written by this program (dataflow, CSR).
  void read_text(std::string_view text, const std::string& shown_as, bool generated, Diagnostics& diagnostics);
  // Registers a module whose header exists only in memory (a module of the design itself).
  void add(ModuleDecl declaration, Diagnostics& diagnostics);

  [[nodiscard]] const ModuleDecl* find(std::string_view module) const;
  [[nodiscard]] const std::vector<ModuleDecl>& modules() const { return modules_; }

  // Resolves a module for a set of parameters: widths, streams, clocks. Unknown module or parameter, a width that
  // cannot be evaluated or is below 1, malformed streams are diagnostics; then nothing is returned.
  [[nodiscard]] std::optional<Interface> elaborate(std::string_view module, const Params& params,
                                                   Diagnostics& diagnostics, const Place& at = {}) const;

  // A constant of a package ("roce_pkg::IcrcInit"); nothing when unknown or not constant.
  [[nodiscard]] std::optional<std::int64_t> constant(std::string_view qualified) const;
  // A type of a package ("roce_pkg::rx_hdr_t").
  [[nodiscard]] std::optional<RecordInfo> record(std::string_view qualified) const;

  // `modules` and everything that they instantiate, instantiated before instantiating, each once; unknown names are
  // skipped. This is the order of a filelist.
  [[nodiscard]] std::vector<std::string> closure(const std::vector<std::string>& modules) const;
  // The files of the packages that these modules use, in dependency order, as shown to users.
  [[nodiscard]] std::vector<std::string> package_files(const std::vector<std::string>& modules) const;
  // The files that these modules include, as written after `include, each once, sorted.
  [[nodiscard]] std::vector<std::string> include_files(const std::vector<std::string>& modules) const;

 private:
  struct Package;
  class PackageScope;
  friend class HeaderReader;

  [[nodiscard]] const Package* package(std::string_view name) const;

  std::vector<ModuleDecl> modules_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<std::shared_ptr<const Package>> packages_;
};

// True when `text` matches `glob`, in which '*' stands for any characters.
[[nodiscard]] bool glob_match(std::string_view glob, std::string_view text);

}  // namespace rocegen::netlist
