#include "generator/netlist/library.h"

#include <algorithm>
#include <filesystem>

#include "tests/unit/netlist/support.h"

namespace {

using namespace rocegen;
using namespace rocegen::netlist;
using namespace rocegen::netlist::test;

Library read(std::string_view text, Diagnostics& diagnostics) {
  Library library;
  library.read_text(text, "dir/file.sv", false, diagnostics);
  return library;
}

Library good(std::string_view text) {
  Diagnostics diagnostics;
  Library library = read(text, diagnostics);
  INFO(shown(diagnostics));
  CHECK(diagnostics.empty());
  return library;
}

Interface elaborated(const Library& library, std::string_view module, const Params& params = {}) {
  Diagnostics diagnostics;
  auto interface = library.elaborate(module, params, diagnostics);
  INFO(shown(diagnostics));
  REQUIRE(interface.has_value());
  CHECK(diagnostics.empty());
  return *interface;
}

std::int64_t param(const Interface& interface, std::string_view name) {
  for (const Param& p : interface.params) {
    if (p.name == name) return p.value.number();
  }
  FAIL("no parameter ", std::string(name));
  return 0;
}

// Reads text with one fault in a header.
spec::Diagnostic header_fault(std::string_view text, std::string_view code = "E0301") {
  Diagnostics diagnostics;
  read(text, diagnostics);
  return only(diagnostics, code);
}

spec::Diagnostic elaboration_fault(std::string_view text, std::string_view code, const Params& params = {}) {
  Diagnostics diagnostics;
  const Library library = good(text);
  CHECK(!library.elaborate("m", params, diagnostics).has_value());
  return only(diagnostics, code);
}

TEST_CASE("library: a header in house style") {
  const Library library = good(R"(// thing: does a thing to a stream. More words.
//
// Depth: beats.
`include "rocegen_assert.svh"
`default_nettype none

module thing #(
  parameter int DataW = 64,  // bits
  parameter int Depth = 2 ** 4,
  parameter bit Fast = 1'b1,
  parameter logic [31:0] Seed = 32'hDEBB20E3,
  localparam int KeepW = DataW / 8
) (
  input  logic                       clk,
  input  logic                       rst,
  input  logic                       s_in_tvalid,
  output logic                       s_in_tready,
  input  logic [DataW-1:0]           s_in_tdata,
  input  logic [KeepW-1:0]           s_in_tkeep,
  input  logic                       s_in_tlast,
  output logic [$clog2(Depth+1)-1:0] level_o
);
  stream_fifo #(.Width(8)) u_f (.clk(clk));
  other_cell u_o (.clk(clk));
  logic [pk::K-1:0] x;
endmodule

`default_nettype wire
)");
  const ModuleDecl* decl = library.find("thing");
  REQUIRE(decl != nullptr);
  CHECK(decl->file == "dir/file.sv");
  CHECK(decl->place.line == 7);
  CHECK(decl->place.column == 8);
  CHECK(decl->summary == "does a thing to a stream");
  CHECK(decl->includes == std::vector<std::string>{"rocegen_assert.svh"});
  CHECK(std::find(decl->instantiates.begin(), decl->instantiates.end(), "stream_fifo") != decl->instantiates.end());
  CHECK(std::find(decl->instantiates.begin(), decl->instantiates.end(), "other_cell") != decl->instantiates.end());
  CHECK(decl->packages == std::vector<std::string>{"pk"});

  const Interface i = elaborated(library, "thing", {{"DataW", 512}});
  CHECK(param(i, "DataW") == 512);
  CHECK(param(i, "Depth") == 16);
  CHECK(param(i, "Fast") == 1);
  CHECK(param(i, "Seed") == 0xDEBB20E3LL);
  CHECK(param(i, "KeepW") == 64);
  CHECK(i.overridable == std::vector<std::string>{"DataW", "Depth", "Fast", "Seed"});
  CHECK(i.clocks == std::vector<std::string>{"clk"});
  CHECK(i.resets == std::vector<std::string>{"rst"});
  REQUIRE(i.streams.size() == 1);
  CHECK(i.streams[0].name == "s_in");
  CHECK(i.streams[0].role == Role::sink);
  CHECK(i.streams[0].is_packet());
  CHECK(!i.streams[0].array);
  CHECK(i.streams[0].clock == "clk");
  CHECK(i.streams[0].fields == std::vector<Field>{{"tdata", 512, ""}, {"tkeep", 64, ""}, {"tlast", 1, ""}});
  CHECK(i.streams[0].payload_width() == 577);
  CHECK(i.port("level_o")->width == 5);
  CHECK(i.is_plain("level_o"));
  CHECK(!i.is_plain("clk"));
  CHECK(!i.is_plain("s_in_tdata"));
}

TEST_CASE("library: awkward but legal headers") {
  const Library library = good(R"(
`define WIDTH 12
`ifdef FORMAL
module broken ( this is not SystemVerilog
`elsif VERILATOR
also not
`else
module m/* odd */#(parameter A=1,B=A+1, parameter signed [7:0] C=-3,
  parameter int unsigned D = (A > 0) ? $clog2(A+B) : 0, // comma, paren ) in a comment
  parameter MODE = "a)b,c", parameter E = {4'hA, 4'h5})
 (input wire clk,rst,(* mark_debug = "true" *) input wire logic a,b,
  input [`WIDTH-1:0]c, input logic signed [B:0] d,e,
  output reg f, output wire [C+3:0] g, input int h, input var logic i_i,
  output var logic [3:0] j = 4'd0
 );
  always @(*) f = a;
endmodule : m
`endif
module no_ports; endmodule
module empty_ports(); endmodule
module with_import import pk::*; #(parameter int X = 1) (input logic a); endmodule
)");
  CHECK(library.modules().size() == 4);
  const Interface m = elaborated(library, "m");
  CHECK(param(m, "A") == 1);
  CHECK(param(m, "B") == 2);
  CHECK(param(m, "C") == -3);
  CHECK(param(m, "D") == 2);
  CHECK(param(m, "E") == 0xA5);
  CHECK(m.params[4].value.text() == "\"a)b,c\"");
  CHECK(m.port("b")->width == 1);
  CHECK(m.port("b")->direction == Direction::input);
  CHECK(m.port("c")->width == 12);
  CHECK(m.port("d")->width == 3);
  CHECK(m.port("e")->width == 3);
  CHECK(m.port("f")->direction == Direction::output);
  CHECK(m.port("g")->width == 1);
  CHECK(m.port("g")->ranged);
  CHECK(m.port("h")->width == 32);
  CHECK(m.port("i_i")->width == 1);
  CHECK(m.port("j")->width == 4);
  CHECK(m.clocks == std::vector<std::string>{"clk"});
  CHECK(m.resets == std::vector<std::string>{"rst"});
  CHECK(elaborated(library, "no_ports").ports.empty());
  CHECK(elaborated(library, "empty_ports").ports.empty());
  CHECK(elaborated(library, "m", {{"A", 7}}).port("d")->width == 9);
}

TEST_CASE("library: records of packages become widths") {
  const Library library = good(R"(
package base;
  localparam int Deep = 3 * 4;
  typedef logic [Deep-1:0] word_t;
  typedef enum logic [1:0] { Idle, Run = 2'd2, Done } state_t;
  typedef enum { Red, Green } colour_t;
  function automatic int twice(input int x);
    twice = 2 * x;
  endfunction
endpackage
package pk;
  typedef struct packed {
    base::word_t       w;
    logic [base::Deep:0] v;
    logic              b, c;
    base::state_t      s;
  } rec_t;
  typedef struct packed { rec_t inner; logic [0:6] up; bit one; byte eight; int unsigned thirty_two; } outer_t;
  localparam int W = base::twice(base::Deep) + 1;
endpackage
module m (input logic clk, input logic rst, input pk::rec_t s_a_tdata, input logic s_a_tvalid, output logic s_a_tready,
  output logic [$bits(pk::outer_t):0] x_o, output logic [pk::W-1:0] y_o, output logic [base::Done:0] z_o);
endmodule
)");
  const auto rec = library.record("pk::rec_t");
  REQUIRE(rec.has_value());
  CHECK(rec->width == 12 + 13 + 2 + 2);
  REQUIRE(rec->fields.size() == 5);
  CHECK(rec->fields[0].name == "w");
  CHECK(rec->fields[0].lsb == 17);
  CHECK(rec->fields[0].width == 12);
  CHECK(rec->fields[4].name == "s");
  CHECK(rec->fields[4].lsb == 0);
  const auto outer = library.record("pk::outer_t");
  REQUIRE(outer.has_value());
  CHECK(outer->width == 29 + 7 + 1 + 8 + 32);
  CHECK(outer->fields[0].record == "pk::rec_t");
  CHECK(library.record("base::colour_t")->width == 32);
  CHECK(!library.record("pk::nothing").has_value());
  CHECK(library.constant("base::Deep") == 12);
  CHECK(library.constant("base::Done") == 3);
  CHECK(library.constant("pk::W") == 25);
  CHECK(!library.constant("pk::Nothing").has_value());
  const Interface i = elaborated(library, "m");
  CHECK(i.port("s_a_tdata")->width == 29);
  CHECK(i.stream("s_a")->field("tdata")->record == "pk::rec_t");
  CHECK(i.port("x_o")->width == 78);
  CHECK(i.port("y_o")->width == 25);
  CHECK(i.port("z_o")->width == 4);
  CHECK(library.package_files({"m"}) == std::vector<std::string>{"dir/file.sv"});
}

TEST_CASE("library: the records of roce_pkg") {
  Library library;
  Diagnostics diagnostics;
  library.read_tree(std::string(ROCEGEN_SOURCE_DIR) + "/templates", diagnostics, "templates");
  INFO(shown(diagnostics));
  REQUIRE(!diagnostics.has_errors());
  CHECK(library.constant("roce_pkg::IcrcInit") == 0xDEBB20E3LL);
  CHECK(library.record("roce_pkg::wqe_t")->width == 512);
  CHECK(library.record("roce_pkg::cqe_t")->width == 256);
  CHECK(library.record("roce_pkg::tx_cmd_t")->width == library.record("roce_pkg::tx_pkt_t")->width + 64 + 3);
  // By default write_gate is a gate of completions.
  const auto completion = library.record("roce_pkg::rcq_t");
  const auto lsb = [&](const char* name) {
    return std::ranges::find(completion->fields, name, &StructField::name)->lsb;
  };
  Diagnostics none;
  const auto gate = library.elaborate("write_gate", {}, none);
  REQUIRE(gate);
  const auto parameter = [&](const char* name) { return std::ranges::find(gate->params, name, &Param::name)->value; };
  CHECK(parameter("Width") == ParamValue(completion->width));
  CHECK(parameter("TagLsb") == ParamValue(lsb("wtag")));
  CHECK(parameter("QpnLsb") == ParamValue(lsb("qpn")));
  // Every module of the templates elaborates with its own defaults, at the width of its files.
  for (const ModuleDecl& module : library.modules()) {
    Diagnostics own;
    const auto interface = library.elaborate(module.name, {}, own);
    INFO(module.name, ": ", shown(own));
    CHECK(interface.has_value());
    if (interface) CHECK(!interface->file.empty());
  }
}

TEST_CASE("library: stream arrays") {
  const Library library = good(R"(
module m #(parameter int N = 3, parameter int W = 8) (input logic clk,
  input logic [N-1:0] s_a_tvalid, output logic [N-1:0] s_a_tready, input logic [N*W-1:0] s_a_tdata,
  input logic [N-1:0] s_a_tlast, input logic [N*W/8-1:0] s_a_tkeep,
  output logic m_b_tvalid, output logic [W-1:0] m_b_tdata);
endmodule)");
  const Interface i = elaborated(library, "m", {{"N", 4}, {"W", 16}});
  const Stream* a = i.stream("s_a");
  REQUIRE(a != nullptr);
  CHECK(a->array);
  CHECK(a->lanes == 4);
  CHECK(a->field("tdata")->width == 16);
  CHECK(a->field("tkeep")->width == 2);
  CHECK(a->field("tlast")->width == 1);
  CHECK(a->fields[1].name == "tkeep");  // fixed order, whatever the header's
  CHECK(elaborated(library, "m", {{"N", 1}}).stream("s_a")->array);
  CHECK(elaborated(library, "m", {{"N", 1}}).stream("s_a")->lanes == 1);
  CHECK(!i.stream("m_b")->has_ready);
  CHECK(i.stream("m_b")->role == Role::source);
}

TEST_CASE("library: clocks") {
  const Library library = good(R"(
module cross (input logic clk_s, input logic rst_s, input logic s_x_tvalid, output logic s_x_tready,
  input logic clk_m, input logic rst_m, output logic m_x_tvalid, input logic m_x_tready);
endmodule
// rocegen: clock s_y clk_fast
// rocegen: clock async_i async
module mixed (input logic clk, input logic clk_fast, input logic rst, input logic s_y_tvalid, output logic s_y_tready,
  input logic a_i, input logic async_i);
endmodule
module comb (input logic [3:0] a_i, output logic b_o);
endmodule
)");
  const Interface cross = elaborated(library, "cross");
  CHECK(cross.clocks == std::vector<std::string>{"clk_s", "clk_m"});
  CHECK(cross.stream("s_x")->clock == "clk_s");
  CHECK(cross.stream("m_x")->clock == "clk_m");
  const Interface mixed = elaborated(library, "mixed");
  CHECK(mixed.stream("s_y")->clock == "clk_fast");
  CHECK(mixed.port("a_i")->clock == "clk");
  CHECK(mixed.port("async_i")->clock.empty());
  CHECK(elaborated(library, "comb").port("a_i")->clock.empty());
}

TEST_CASE("library: structured comments") {
  const Library library = good(R"(
// rocegen: comb s_a.tready<-m_b.tready, m_b.tvalid <- s_a.tvalid
// rocegen: record m_b.tuser pkt_err
// rocegen: passes s_a m_b
module one (input logic clk, input logic s_a_tvalid, output logic s_a_tready,
  output logic m_b_tvalid, input logic m_b_tready, output logic [4:0] m_b_tuser);
  // rocegen: comb s_a.tready<-s_a.tvalid
endmodule
// rocegen: comb none
module two (input logic clk); endmodule
module three (input logic clk); endmodule
module stream_fifo (input logic clk, input logic s_axis_tvalid, output logic m_axis_tvalid); endmodule
)");
  const ModuleDecl* one = library.find("one");
  REQUIRE(one->comb.has_value());
  REQUIRE(one->comb->size() == 3);
  CHECK((*one->comb)[1].to == "m_b.tvalid");
  CHECK((*one->comb)[1].from == "s_a.tvalid");
  CHECK(library.find("two")->comb.has_value());
  CHECK(library.find("two")->comb->empty());
  CHECK(!library.find("three")->comb.has_value());
  CHECK(library.find("stream_fifo")->comb.has_value());  // known without a comment
  CHECK(elaborated(library, "one").stream("m_b")->field("tuser")->record == "pkt_err");
  CHECK(elaborated(library, "one").passes.size() == 1);

  const spec::Diagnostic d =
      header_fault("// rocegen: combination none\nmodule m (input logic clk); endmodule\n", "E0303");
  CHECK(d.place.line == 1);
  CHECK(mentions(d, "combination none"));
  header_fault("// rocegen: comb s_a.tready\nmodule m (input logic clk); endmodule\n", "E0303");
  header_fault("// rocegen: clock s_a\nmodule m (input logic clk); endmodule\n", "E0303");
  elaboration_fault("// rocegen: clock s_a clk_x\nmodule m (input logic clk); endmodule\n", "E0303");
  elaboration_fault("// rocegen: record m_a.tdata x\nmodule m (input logic clk); endmodule\n", "E0303");
  elaboration_fault("// rocegen: passes s_a m_a\nmodule m (input logic clk); endmodule\n", "E0303");
}

TEST_CASE("library: headers that are refused, each with its place") {
  struct Case {
    const char* text;
    int line;
    const char* mentions;
  };
  const Case cases[] = {
      {"module m (a, b);\n input a; output b;\nendmodule", 1, "ANSI"},
      {"module m (\n input logic [3:0][7:0] a);\nendmodule", 2, "dimension"},
      {"module m (\n input logic a [0:3]);\nendmodule", 2, "unpacked"},
      {"module m (\n input logic clk,\n inout wire sda);\nendmodule", 3, "inout"},
      {"module m (\n axi_if.master bus);\nendmodule", 2, "ANSI"},
      {"module m (input logic clk,\n axi_if.master bus);\nendmodule", 2, "interface"},
      {"module m #(\n parameter type T = logic) (input T a);\nendmodule", 2, "type"},
      {"module m (input logic a,\n input logic a);\nendmodule", 2, "twice"},
      {"module m #(parameter int A = 1,\n parameter int A = 2) ();\nendmodule", 2, "twice"},
      {"module m (\n input logic [`W-1:0] a);\nendmodule", 2, "macro"},
      {"module m (input logic a\n", 2, "','"},
      {"module m (input logic a);\n", 1, "endmodule"},
      {"module m #(localparam int A) ();\nendmodule", 1, "value"},
      {"module m (input logic [7] a);\nendmodule", 1, "[msb:lsb]"},
      {"module m (input word_t a);\nendmodule", 1, "word_t"},
      {"module m (input pk::w_t [3:0] a);\nendmodule", 1, "packed array"},
      {"module m (input logic a); /* never", 1, "comment"},
      {"`ifdef A\nmodule m (); endmodule\n", 3, "endif"},
      {"`endif\nmodule m (); endmodule\n", 1, "ifdef"},
      {"package p;\n localparam int A;\nendpackage", 2, "value"},
      {"package p;\n typedef struct packed { logic a; } t;\n", 1, "endpackage"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const spec::Diagnostic d = header_fault(c.text);
    CHECK(d.place.file == "dir/file.sv");
    CHECK(d.place.line == c.line);
    CHECK_MESSAGE(mentions(d, c.mentions), spec::render(d));
  }
}

TEST_CASE("library: a faulty module does not hide the next one") {
  Diagnostics diagnostics;
  const Library library = read(
      "module bad (a); endmodule\nmodule fine (input logic clk); endmodule\nmodule worse (inout wire x); endmodule\n",
      diagnostics);
  CHECK(codes_of(diagnostics) == std::vector<std::string>{"E0301", "E0301"});
  CHECK(library.find("bad") == nullptr);
  CHECK(library.find("fine") != nullptr);
}

TEST_CASE("library: declared twice") {
  const spec::Diagnostic d = header_fault("module m (); endmodule\nmodule m (); endmodule\n", "E0302");
  CHECK(d.place.line == 2);
  REQUIRE(d.notes.size() == 1);
  CHECK(d.notes[0].place.line == 1);
  header_fault("package p; endpackage\npackage p; endpackage\n", "E0302");
}

TEST_CASE("library: files that cannot be read") {
  Library library;
  Diagnostics diagnostics;
  library.read_tree("/nonexistent/templates", diagnostics);
  library.read_file("/nonexistent/x.sv", "x.sv", diagnostics);
  CHECK(codes_of(diagnostics) == std::vector<std::string>{"E0300", "E0300"});
}

TEST_CASE("library: parameters that do not work") {
  Diagnostics diagnostics;
  const Library library = good("module fifo #(parameter int Width = 8) (input logic [Width-1:0] a_i); endmodule");
  Place at;
  at.file = "top.fifo_i";
  CHECK(!library.elaborate("fifo", {{"Widht", 8}}, diagnostics, at).has_value());
  const spec::Diagnostic d = only(diagnostics, "E0305");
  CHECK(mentions(d, "Widht"));
  CHECK(mentions(d, "did you mean 'Width'?"));
  CHECK(d.place.line == 1);

  Diagnostics unknown;
  CHECK(!library.elaborate("fifa", {}, unknown, at).has_value());
  CHECK(mentions(only(unknown, "E0304"), "did you mean 'fifo'?"));

  elaboration_fault("module m #(parameter int A = 1) (); endmodule", "E0305", {{"A", 1}, {"A", 2}});
  elaboration_fault("module m #(localparam int A = 1) (); endmodule", "E0305", {{"A", 1}});
  CHECK(mentions(elaboration_fault("module m #(parameter int W = 0) (input logic [W-1:0] a); endmodule", "E0306"),
                 "[-1:0]"));
  CHECK(mentions(elaboration_fault("module m #(parameter int W = 4) (input logic [0:W-1] a); endmodule", "E0306"),
                 "[N:0]"));
  CHECK(mentions(elaboration_fault("module m #(parameter int W) (input logic [W:0] a); endmodule", "E0306"),
                 "no default"));
  CHECK(mentions(elaboration_fault("module m #(parameter int W = 8 / X) (); endmodule", "E0306"), "'X'"));
  CHECK(mentions(elaboration_fault("module m (input logic [X:0] a); endmodule", "E0306"), "'X'"));
  CHECK(mentions(
      elaboration_fault("module m #(parameter int W = 1) (input logic [(1<<W):0] a); endmodule", "E0306", {{"W", 40}}),
      "a"));
  CHECK(mentions(elaboration_fault("module m (input pk::x_t a); endmodule", "E0304"), "pk::x_t"));
  CHECK(mentions(elaboration_fault("module m #(parameter bit B = 0) (); endmodule", "E0307", {{"B", 2}}), "1 bits"));
  CHECK(mentions(elaboration_fault("module m #(parameter logic [3:0] B = 0) (); endmodule", "E0307", {{"B", 16}}),
                 "4 bits"));
  CHECK(mentions(elaboration_fault("module m #(parameter int B = 0) (); endmodule", "E0307", {{"B", 0x80000000LL}}),
                 "32 bits"));
  // The parameters in force are part of the message.
  CHECK(mentions(
      elaboration_fault("module m #(parameter int W = 3, parameter int V = W - 3) (input logic [V-1:0] a); endmodule",
                        "E0306"),
      "W = 3, V = 0"));
}

TEST_CASE("library: parameters wider than 63 bits pass through as text") {
  const Library library =
      good("module m #(parameter logic [127:0] K = 128'h0123456789ABCDEF0123456789ABCDEF) (); endmodule");
  CHECK(elaborated(library, "m").params[0].value.text() == "128'h0123456789ABCDEF0123456789ABCDEF");
  CHECK(elaborated(library, "m", {{"K", "128'd5"}}).params[0].value.text() == "128'd5");
}

TEST_CASE("library: streams that are none") {
  const auto fault = [](const std::string& ports) {
    return elaboration_fault("module m (input logic clk, " + ports + "); endmodule", "E0308");
  };
  CHECK(mentions(fault("input logic [7:0] s_a_tdata"), "s_a_tvalid"));
  CHECK(mentions(fault("output logic s_a_tvalid"), "direction"));
  CHECK(mentions(fault("input logic s_a_tvalid, input logic s_a_tready"), "s_a_tready"));
  CHECK(mentions(fault("output logic m_a_tvalid, input logic [7:0] m_a_tdata"), "m_a_tdata"));
  CHECK(mentions(fault("input logic [2:0] s_a_tvalid, output logic [1:0] s_a_tready"), "2 bits"));
  CHECK(mentions(fault("input logic [2:0] s_a_tvalid, input logic [7:0] s_a_tdata"), "3 streams"));
  CHECK(mentions(fault("input logic s_a_tvalid, input logic [1:0] s_a_tlast"), "tlast"));
  CHECK(mentions(fault("input logic s_a_tvalid, input logic [63:0] s_a_tdata, input logic [6:0] s_a_tkeep"),
                 "one bit for each byte"));
  CHECK(mentions(
      elaboration_fault("module m (input logic clk_a, input logic clk_b, input logic s_x_tvalid); endmodule", "E0309"),
      "rocegen: clock s_x clk_a"));
}

TEST_CASE("library: closure and packages") {
  Diagnostics diagnostics;
  Library library;
  library.read_text("module leaf (input logic clk); endmodule", "leaf.sv", false, diagnostics);
  library.read_text(
      "module middle (input logic clk); leaf u_a (.clk(clk)); leaf u_b (.clk(clk)); logic [q::X:0] z; endmodule",
      "middle.sv", false, diagnostics);
  library.read_text(
      "`include \"z.svh\"\nmodule top (input logic clk); middle #(.A(1)) u_m (.clk(clk)); missing u_x (); endmodule",
      "top.sv", false, diagnostics);
  library.read_text("module lonely (input logic leaf); endmodule", "lonely.sv", false, diagnostics);
  library.read_text("package p; localparam int Y = 2; endpackage", "p.sv", false, diagnostics);
  library.read_text("package q; localparam int X = p::Y; endpackage", "q.sv", false, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(library.closure({"top"}) == std::vector<std::string>{"leaf", "middle", "top"});
  CHECK(library.closure({"middle", "top"}) == std::vector<std::string>{"leaf", "middle", "top"});
  CHECK(library.closure({"lonely"}) == std::vector<std::string>{"lonely"});
  CHECK(library.closure({"nothing"}).empty());
  CHECK(library.package_files({"top", "middle"}) == std::vector<std::string>{"p.sv", "q.sv"});
  CHECK(library.include_files({"top", "leaf"}) == std::vector<std::string>{"z.svh"});
}

TEST_CASE("library: packages that contain themselves do not hang") {
  const Library library =
      good("package p; localparam int A = B; localparam int B = A; typedef struct packed { t x; } t; endpackage");
  CHECK(!library.constant("p::A").has_value());
  CHECK(!library.record("p::t").has_value());
}

TEST_CASE("library: generated text is marked") {
  Diagnostics diagnostics;
  Library library;
  library.read_text("module csr (input logic clk); endmodule", "csr.sv", true, diagnostics);
  CHECK(library.find("csr")->generated);
  CHECK(library.elaborate("csr", {}, diagnostics)->generated);
}

TEST_CASE("library: globs") {
  CHECK(glob_match("s_*.tready", "s_axis.tready"));
  CHECK(glob_match("*", ""));
  CHECK(glob_match("a*b*c", "axxbyyc"));
  CHECK(!glob_match("a*b", "axbx"));
  CHECK(!glob_match("a", "ab"));
}

}  // namespace
