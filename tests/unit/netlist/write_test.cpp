#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "generator/netlist/write_diagram.h"
#include "generator/netlist/write_json.h"
#include "generator/netlist/write_verilog.h"
#include "tests/unit/netlist/support.h"

namespace {

using namespace rocegen;
using namespace rocegen::netlist;
using namespace rocegen::netlist::test;

const Library& library() {
  static const Library kLibrary = small_library();
  return kLibrary;
}

Design finished(Module module, int depth = 0) {
  Design d = single(std::move(module));
  Diagnostics found;
  const bool ok = standard_passes({.pipeline_depth = depth}).run(d, library(), found);
  INFO(shown(found));
  REQUIRE(ok);
  return d;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Two FIFOs with a slice, a port each side.
Module small(Diagnostics& diagnostics) {
  Builder b(library(), "two_fifos", diagnostics);
  b.comment("two FIFOs.\nThe second one is deeper.");
  b.domain("", 250, "core");
  const auto first = b.instance("first_i", "stream_fifo", {{"Width", 12}, {"Depth", 4}}, "takes");
  const auto second = b.instance("second_i", "stream_fifo", {{"Depth", 64}, {"Width", 12}});
  b.expose_stream(first.stream("s_axis"), "s_axis_in", {.comment = "what comes"});
  b.connect(first.stream("m_axis"), second.stream("s_axis"), {.weight = 2});
  b.expose_stream(second.stream("m_axis"), "m_axis_out",
                  {.attributes = {{"X_INTERFACE_INFO", "xilinx.com:interface:axis:1.0 out \"T\""}}});
  b.expose_pin(first.pin("level_o"), "level_o");
  b.leave_open(second.pin("level_o"), "nobody asks");
  return b.take();
}

TEST_CASE("verilog: golden text of a small module") {
  Diagnostics diagnostics;
  Module m = small(diagnostics);
  REQUIRE(diagnostics.empty());
  const std::string expected = R"(// two_fifos: two FIFOs.
// The second one is deeper.
//
// Written by rocegen: change the specification, not this file.
`default_nettype none

module two_fifos (
  input  logic        clk,  // core, 250 MHz
  input  logic        rst,
  // what comes
  input  logic        s_axis_in_tvalid,
  output logic        s_axis_in_tready,
  input  logic [11:0] s_axis_in_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 out \"T\"" *)
  output logic        m_axis_out_tvalid,
  input  logic        m_axis_out_tready,
  output logic [11:0] m_axis_out_tdata,
  output logic [2:0]  level_o
);

  // first_i.m_axis -> first_slice0_i.s_axis
  logic        first_tvalid;
  logic        first_tready;
  logic [11:0] first_tdata;

  // first_slice0_i.m_axis -> second_i.s_axis
  logic        first_slice0_tvalid;
  logic        first_slice0_tready;
  logic [11:0] first_slice0_tdata;

  // Single signals.
  logic [6:0] second_level;

  // takes
  stream_fifo #(
    .Width(12),
    .Depth(4)
  ) first_i (
    .clk          (clk),
    .rst          (rst),
    .s_axis_tvalid(s_axis_in_tvalid),
    .s_axis_tready(s_axis_in_tready),
    .s_axis_tdata (s_axis_in_tdata),
    .m_axis_tvalid(first_tvalid),
    .m_axis_tready(first_tready),
    .m_axis_tdata (first_tdata),
    .level_o      (level_o)
  );

  stream_fifo #(
    .Width(12),
    .Depth(64)
  ) second_i (
    .clk          (clk),
    .rst          (rst),
    .s_axis_tvalid(first_slice0_tvalid),
    .s_axis_tready(first_slice0_tready),
    .s_axis_tdata (first_slice0_tdata),
    .m_axis_tvalid(m_axis_out_tvalid),
    .m_axis_tready(m_axis_out_tready),
    .m_axis_tdata (m_axis_out_tdata),
    .level_o      (second_level)
  );

  // pipeline_depth 1, weight 2: slice 1 of 1 in first_i.m_axis -> second_i.s_axis
  stream_reg #(
    .Width(12)
  ) first_slice0_i (
    .clk          (clk),
    .rst          (rst),
    .s_axis_tvalid(first_tvalid),
    .s_axis_tready(first_tready),
    .s_axis_tdata (first_tdata),
    .m_axis_tvalid(first_slice0_tvalid),
    .m_axis_tready(first_slice0_tready),
    .m_axis_tdata (first_slice0_tdata)
  );

  // Not read, on purpose.
  logic unused_ok;
  assign unused_ok = &{
    1'b0,
    second_level   // nobody asks
  };

endmodule

`default_nettype wire
)";
  CHECK(write_verilog(finished(std::move(m), 1).top()) == expected);
}

// Everything that the writer knows, in one module.
Module large(Diagnostics& diagnostics) {
  Builder b(library(), "whole", diagnostics);
  b.domain("mac", 322.265625);
  const auto fifo = b.instance("hdr_fifo_i", "stream_fifo", {{"Width", 40}, {"Depth", 32}});
  const auto fork = b.instance("fork_i", "stream_fork", {{"N", 3}, {"Width", 40}});
  const auto arb = b.instance("arb_i", "stream_arb", {{"N", 3}, {"DataW", 128}, {"UserW", 41}, {"Priority", true}});
  const auto narrow = b.instance("narrow_i", "stream_arb", {{"N", 1}, {"DataW", 64}, {"UserW", 41}});
  const auto bank = b.instance("bank_i", "counter_bank", {{"N", 6}});
  const auto spare = b.instance("spare_i", "stream_skid", {{"Width", 3}});
  b.expose_stream(fifo.stream("s_axis"), "s_axis_hdr");
  b.connect(fifo.stream("m_axis"), fork.stream("s_axis"), {.weight = 1});
  b.connect(fork.stream("m_axis", 0), arb.stream("s_axis", 0), {.weight = 2, .as_packet = true});
  b.connect(fork.stream("m_axis", 1), arb.stream("s_axis", 1),
            {.map = {{"tdata", {{"", 0, 96, 7}, {"tdata", 8, 32}}},
                     {"tkeep", {{"", 0, 16, 0xFFFF}}},
                     {"tlast", {{"", 0, 1, 1}}},
                     {"tuser", {{"tdata", 0, 8}, {"", 0, 33, 0}}}}});
  b.leave_open(fork.stream("m_axis", 2), "two readers are enough");
  b.expose_stream(narrow.stream("s_axis", 0), "s_axis_pkt", {.domain = "mac", .weight = 1});
  b.connect(narrow.stream("m_axis"), arb.stream("s_axis", 2), {.weight = 2});
  b.expose_stream(arb.stream("m_axis"), "m_axis_pkt", {.domain = "mac", .weight = 2, .data_width = 32});
  b.leave_open(spare.stream("s_axis"), "for later");
  b.leave_open(spare.stream("m_axis"), "for later");
  b.expose_pins(bank, "count", "total");
  b.expose_pin(bank.pin("sel_i"), "sel_i");
  const PinRef half = b.net("half", 3, "some bits");
  b.connect_pin(fifo.pin("level_o", 2, 3), half);
  b.leave_open(fifo.pin("level_o", 0, 1), "odd");
  b.leave_open(fifo.pin("level_o", 5, 1), "full");
  b.connect_pin(half, bank.pin("pulse_i", 0, 3));
  b.connect_pin(fifo.pin("level_o", 1, 1), bank.pin("pulse_i", 3, 1));
  b.tie(bank.pin("pulse_i", 4, 1), 1);
  b.connect_pin(b.reduce("any", Reduce::any, {half, constant(2, 0)}), bank.pin("pulse_i", 5, 1));
  b.connect_pin(b.reduce("every", Reduce::all, {half}), b.output_port("every_o"));
  const PinRef in = b.input_port("in_i", 4);
  const PinRef out = b.output_port("out_o", 6);
  b.connect_pin(in.slice(0, 2), out.slice(4, 2));
  b.connect_pin(constant(4, 9), out.slice(0, 4));
  b.connect_pin(in.slice(2, 2), b.output_port("high_o", 2));
  return b.take();
}

std::string tool_output(const std::string& command, int& status) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  status = ::pclose(pipe);
  status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  return output;
}

bool have(const std::string& tool) {
  int status = 0;
  tool_output("command -v " + tool, status);
  if (status != 0) MESSAGE("not installed, so not tried: ", tool);
  return status == 0;
}

// A folder of its own, gone afterwards.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "rocegen_netlist_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ec;
    std::filesystem::remove_all(path, ec);
  }
  std::filesystem::path path;
};

void lint(const Design& design) {
  const Folder folder;
  const std::string root = ROCEGEN_SOURCE_DIR;
  std::string files;
  for (const std::string& module : design.library_modules)
    files += fmt::format(" {}/{}", root, library().find(module)->file);
  const std::string own = (folder.path / (design.top().name + ".sv")).string();
  std::ofstream(own) << write_verilog(design.top());
  files += " " + own;
  int status = 0;
  if (have("verilator")) {
    const std::string out = tool_output(
        fmt::format("verilator --lint-only -Wall -I{}/templates/lib --top-module {}{}", root, design.top().name, files),
        status);
    CHECK_MESSAGE(status == 0, out);
    CHECK(out.empty());
  }
  if (have("yosys")) {
    const std::string out =
        tool_output(fmt::format("yosys -q -e 'implicitly declared|conflicting drivers|out of bounds|is used but has no "
                                "driver' -p 'read_verilog "
                                "-sv -I {}/templates/lib{}; hierarchy -check -top {}; proc; check -assert'",
                                root, files, design.top().name),
                    status);
    CHECK_MESSAGE(status == 0, out);
  }
}

TEST_CASE("verilog: clean in Verilator and Yosys, whatever the depth") {
  for (const int depth : {0, 1, 3, 4}) {
    CAPTURE(depth);
    Diagnostics diagnostics;
    Module m = large(diagnostics);
    INFO(shown(diagnostics));
    REQUIRE(diagnostics.empty());
    lint(finished(std::move(m), depth));
  }
}

TEST_CASE("verilog: what the expressions look like") {
  Diagnostics diagnostics;
  Module m = large(diagnostics);
  const std::string text = write_verilog(finished(std::move(m)).top());
  CHECK(contains(text, "assign half = hdr_fifo_level[4:2];"));
  CHECK(contains(text, "assign any = |{half, 2'd0};"));
  CHECK(contains(text, "assign every_o = every;"));
  CHECK(contains(text, "assign every = &half;"));
  CHECK(contains(text, "({any, 1'd1, hdr_fifo_level[1], half})"));
  CHECK(contains(text, "assign out_o = {in_i[1:0], 4'd9};"));
  CHECK(contains(text, "assign high_o = in_i[3:2];"));
  CHECK(contains(text, "hdr_fifo_level[0]"));
  CHECK(contains(text, ".Priority(1)"));
  CHECK(contains(text, "output logic [31:0] total_o"));
  CHECK(contains(text, "({narrow_width_tdata, 96'h7, fork_1_tdata[39:8], 128'd0})"));
  CHECK(contains(text, "{1'd1, fork_1_tready, fork_0_tready}"));
  CHECK(!contains(text, "localparam"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CHECK_MESSAGE((line.empty() || line.back() != ' '), line);
    CHECK_MESSAGE(line.size() <= 100, line);
  }
}

TEST_CASE("verilog: parameters are as wide as they are declared") {
  Diagnostics diagnostics;
  Library own;
  own.read_text(
      R"(module cell_p #(parameter bit B = 0, parameter logic [31:0] L = 0, parameter int I = 0, parameter U = 0,
    parameter signed [7:0] S = 0, parameter MODE = "x", parameter logic [127:0] K = 0, localparam int D = I) ();
  endmodule)",
      "cell_p.sv", false, diagnostics);
  Builder b(own, "top", diagnostics);
  b.instance("p_i", "cell_p",
             {{"MODE", "\"fast\""},
              {"B", true},
              {"L", 0xDEBB20E3LL},
              {"I", -5},
              {"U", 7},
              {"S", -3},
              {"K", "128'hFFFF_0000_FFFF_0000_FFFF"}});
  INFO(shown(diagnostics));
  REQUIRE(diagnostics.empty());
  const std::string text = write_verilog(b.module());
  CHECK(contains(text, R"(  cell_p #(
    .B   (1'd1),
    .L   (32'hdebb20e3),
    .I   (-5),
    .U   (7),
    .S   (-3),
    .MODE("fast"),
    .K   (128'hFFFF_0000_FFFF_0000_FFFF)
  ) p_i ()"));
}

TEST_CASE("verilog: a module without a register or a reset is clean too") {
  Diagnostics diagnostics;
  Builder b(library(), "plain", diagnostics);
  const auto ram = b.instance("ram_i", "ram_sdp", {{"Width", 8}, {"Depth", 16}});
  for (const char* pin : {"wr_en_i", "wr_addr_i", "wr_data_i", "rd_en_i", "rd_addr_i", "rd_data_o"})
    b.expose_pin(ram.pin(pin), pin);
  REQUIRE(diagnostics.empty());
  lint(finished(b.take()));
  Builder c(library(), "wires", diagnostics);
  c.connect_pin(c.input_port("a_i", 4), c.output_port("b_o", 4));
  const Design d = finished(c.take());
  CHECK(!contains(write_verilog(d.top()), "clk"));
  lint(d);
}

TEST_CASE("verilog: streams straight through, and ports left open") {
  Diagnostics diagnostics;
  Builder b(library(), "through", diagnostics);
  const auto skid = b.instance("skid_i", "stream_skid", {{"Width", 8}});
  b.expose_stream(skid.stream("s_axis"), "s_axis_a");
  b.expose_stream(skid.stream("m_axis"), "m_axis_a");
  REQUIRE(diagnostics.empty());
  Module m = b.take();
  // Two more port groups: one wired to the other, and a pair that nobody uses.
  ModuleStream in = m.streams[0];
  in.name = "s_axis_b";
  ModuleStream out = m.streams[1];
  out.name = "m_axis_b";
  ModuleStream lost = in;
  lost.name = "s_axis_c";
  ModuleStream silent = out;
  silent.name = "m_axis_c";
  for (const ModuleStream& s : {in, out, lost, silent}) {
    m.port_order.emplace_back(true, static_cast<int>(m.streams.size()));
    m.streams.push_back(s);
  }
  StreamConnection c;
  c.source = {kTop, "s_axis_b", kWholeStream};
  c.sink = {kTop, "m_axis_b", kWholeStream};
  m.stream_connections.push_back(c);
  for (const char* name : {"s_axis_c", "m_axis_c"}) {
    Open open;
    open.is_stream = true;
    open.stream = {kTop, name, kWholeStream};
    open.reason = "not in this variant";
    m.opens.push_back(open);
  }
  const Design d = finished(std::move(m));
  const std::string text = write_verilog(d.top());
  CHECK(contains(text, "assign m_axis_b_tdata = s_axis_b_tdata;"));
  CHECK(contains(text, "assign s_axis_b_tready = m_axis_b_tready;"));
  CHECK(contains(text, "assign s_axis_c_tready = 1'd1;"));
  CHECK(contains(text, "assign m_axis_c_tvalid = 1'd0;"));
  lint(d);
}

TEST_CASE("verilog: a module of the design can be instantiated by another") {
  Diagnostics diagnostics;
  Module inner = small(diagnostics);
  Library own = library();
  Design inner_design = finished(std::move(inner));
  own.read_text(write_verilog(inner_design.top()), "two_fifos.sv", true, diagnostics);
  Builder b(own, "outer", diagnostics);
  const auto i = b.instance("inner_i", "two_fifos");
  b.expose_stream(i.stream("s_axis_in"), "s_axis_x");
  b.expose_stream(i.stream("m_axis_out"), "m_axis_x");
  b.expose_pin(i.pin("level_o"), "level_o");
  INFO(shown(diagnostics));
  REQUIRE(diagnostics.empty());
  Design d;
  d.modules = {inner_design.top(), b.take()};
  CHECK(standard_passes({}).run(d, own, diagnostics));
  INFO(shown(diagnostics));
  CHECK(d.top().name == "outer");
  CHECK(std::find(d.library_modules.begin(), d.library_modules.end(), "stream_fifo") != d.library_modules.end());
  CHECK(std::find(d.library_modules.begin(), d.library_modules.end(), "two_fifos") == d.library_modules.end());
}

TEST_CASE("json: complete, in a fixed order, the same twice") {
  const auto once = [] {
    Diagnostics diagnostics;
    Module m = large(diagnostics);
    return write_json(finished(std::move(m), 2));
  };
  const std::string text = once();
  CHECK(text == once());
  CHECK(text.back() == '\n');
  const auto json = nlohmann::ordered_json::parse(text);
  CHECK(json["format"] == "rocegen-netlist-1");
  CHECK(json["top"] == "whole");
  const auto& module = json["modules"][0];
  CHECK(module["domains"][1]["clock"] == "clk_mac");
  CHECK(module["ports"][0]["stream"] == "s_axis_hdr");
  CHECK(module["instances"][0]["name"] == "hdr_fifo_i");
  CHECK(module["instances"][0]["parameters"]["Width"] == 40);
  CHECK(module["instances"][0]["parameters"]["Style"] == 0);
  CHECK(module["instances"][0]["overridden"] == nlohmann::ordered_json::array({"Width", "Depth"}));
  CHECK(module["instances"][0]["clocks"]["clk"] == "clk");
  CHECK(module["instances"][0]["pins"][0]["wire"] == "hdr_fifo_level");
  CHECK(module["stream_connections"].size() > 5);
  CHECK(module["left_open"][0]["reason"] == "two readers are enough");
  CHECK(text.find("/work") == std::string::npos);
  CHECK(text.find("_test.cpp") == std::string::npos);  // no trace of where the generator stood
}

TEST_CASE("verilog and diagram: the same twice") {
  const auto once = [] {
    Diagnostics diagnostics;
    Module m = large(diagnostics);
    const Design d = finished(std::move(m), 3);
    return write_verilog(d.top()) + write_dot(d.top());
  };
  CHECK(once() == once());
}

TEST_CASE("diagram: streams, domains, slices") {
  Diagnostics diagnostics;
  Module m = large(diagnostics);
  const Design d = finished(std::move(m), 2);
  const std::string folded = write_dot(d.top());
  CHECK(contains(folded, "rankdir=LR"));
  CHECK(contains(folded, "cluster_clk"));
  CHECK(contains(folded, "cluster_clk_mac"));
  CHECK(contains(folded, "322.266 MHz"));
  CHECK(contains(folded, "<b>hdr_fifo</b>"));
  CHECK(contains(folded, "2 slices"));
  CHECK(!contains(folded, "stream_skid\", fontsize=9"));
  CHECK(contains(folded, "\"p_s_axis_hdr\" -> i0"));
  const std::string unfolded = write_dot(d.top(), {.fold_slices = false, .pins = false});
  CHECK(contains(unfolded, "label=\"stream_reg\""));
  CHECK(!contains(unfolded, "slices"));
  CHECK(!contains(unfolded, "#aaaaaa"));
}

TEST_CASE("diagram: a block with pins to many others says so instead of covering the streams") {
  const auto dot_of = [](int makers) {
    Diagnostics diagnostics;
    Builder b(library(), "counted", diagnostics);
    const auto bank = b.instance("bank_i", "counter_bank", {{"N", makers}});
    for (int i = 0; i < makers; ++i) {
      const auto maker = b.instance(fmt::format("maker{}_i", i), "maker");
      b.connect_pin(maker.pin("cnt_made_o"), bank.pin("pulse_i", i, 1));
    }
    REQUIRE(diagnostics.empty());
    return write_dot(b.module());
  };
  CHECK(contains(dot_of(4), "i1 -> i0 [label=\"cnt_made_o\""));
  CHECK(!contains(dot_of(4), "blocks"));
  CHECK(contains(dot_of(5), "pins with 5 blocks"));
  CHECK(!contains(dot_of(5), " -> i0"));
}

TEST_CASE("diagram: behind a crossing the payload is still named") {
  Diagnostics diagnostics;
  Builder b(library(), "crossed", diagnostics);
  b.domain("mac");
  const auto maker = b.instance("maker_i", "rec_maker", {}, "", "mac");
  const auto taker = b.instance("taker_i", "rec_taker");
  b.connect(maker.stream("m_out"), taker.stream("s_in"), {.weight = 2});
  REQUIRE(diagnostics.empty());
  const std::string dot = write_dot(finished(b.take(), 2).top());
  CHECK(contains(dot, "i0 -> i2 [label=\"rec_t\""));
  CHECK(contains(dot, "i2 -> i1 [label=\"rec_t\\n2 slices\""));
}

TEST_CASE("diagram: drawn by Graphviz") {
  Diagnostics diagnostics;
  if (have("dot")) {
    Module m = large(diagnostics);
    const Design d = finished(std::move(m), 2);
    const auto svg = dot_to_svg(write_dot(d.top()), diagnostics);
    INFO(shown(diagnostics));
    REQUIRE(svg.has_value());
    CHECK(contains(*svg, "<svg"));
    CHECK(contains(*svg, "hdr_fifo"));
    CHECK(!dot_to_svg("digraph { this is not dot", diagnostics).has_value());
    const spec::Diagnostic failed = only(diagnostics, "E0341");
    CHECK(mentions(failed, "syntax error"));
    CHECK(!mentions(failed, "/tmp/"));
  }
  Diagnostics missing;
  CHECK(!dot_to_svg("digraph {}", missing, "dot-that-is-not-there").has_value());
  CHECK(mentions(only(missing, "E0340"), "package graphviz"));
}

}  // namespace
