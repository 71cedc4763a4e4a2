#include "generator/dataflow/compile.h"

#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>

#include "generator/dataflow/checksum.h"
#include "generator/dataflow/crc.h"
#include "tests/unit/dataflow/sample_graphs.h"
#include "tests/unit/dataflow/sv_depth.h"

using namespace rocegen::dataflow;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::set<std::string> names(std::initializer_list<const char*> list) { return {list.begin(), list.end()}; }

}  // namespace

TEST_CASE("compile: ports are those of docs/architecture.md, 'Compiled modules'") {
  struct Row {
    CompiledModule module;
    std::set<std::string> inputs;
    std::string output;
    bool clocked;
  };
  const std::vector<Row> rows = {
      {compile_icrc_data(512, 8), names({"clk", "ce_i", "data_i"}), "crc_o", true},
      {compile_icrc_step(512), names({"state_i", "crc_i"}), "state_o", false},
      {compile_icrc_rewind(512, 8), names({"clk", "ce_i", "state_i", "zeros_i"}), "state_o", true},
      {compile_icrc_residue(512), names({"zeros_i"}), "state_o", false},
      {compile_ipv4_checksum(8), names({"clk", "ce_i", "header_i"}), "csum_o", true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.module.name);
    const auto netlist = sample::read_netlist(row.module.systemverilog);
    CHECK(netlist.inputs == row.inputs);
    CHECK(netlist.outputs == std::set<std::string>{row.output});
    CHECK((row.module.latency > 0) == row.clocked);
    CHECK(row.module.levels <= 8);
    CHECK(has(row.module.systemverilog, "module " + row.module.name + " ("));
  }
  const auto widths = sample::read_netlist(rows[0].module.systemverilog).widths;
  CHECK(widths.at("data_i") == 512);
  CHECK(widths.at("crc_o") == 32);
  CHECK(sample::read_netlist(rows[2].module.systemverilog).widths.at("zeros_i") == 8);
  CHECK(sample::read_netlist(rows[4].module.systemverilog).widths.at("header_i") == 160);
}

TEST_CASE("compile: the same graph gives the same bytes") {
  for (const int levels : {1, 2, 5, 10}) {
    Options o;
    o.level_budget = levels;
    CHECK(compile(sample::all_operators(33, "m"), o).systemverilog ==
          compile(sample::all_operators(33, "m"), o).systemverilog);
    CHECK(compile_icrc_data(256, levels).systemverilog == compile_icrc_data(256, levels).systemverilog);
    CHECK(compile_icrc_rewind(256, levels).systemverilog == compile_icrc_rewind(256, levels).systemverilog);
    CHECK(compile_ipv4_checksum(levels).systemverilog == compile_ipv4_checksum(levels).systemverilog);
  }
}

TEST_CASE("compile: text stays within 100 columns, has a header, and is plain ASCII") {
  for (const int levels : {1, 3, 10}) {
    Options o;
    o.level_budget = levels;
    for (const auto& m : {compile(sample::all_operators(70, "m"), o), compile_icrc_data(1024, levels),
                          compile_icrc_rewind(1024, levels), compile_ipv4_checksum(levels)}) {
      std::istringstream lines(m.systemverilog);
      bool first = true;
      for (std::string line; std::getline(lines, line);) {
        CHECK(line.size() <= 100);
        CHECK((line.empty() || line.back() != ' '));
        if (first) CHECK(line.rfind("// " + m.name + ": ", 0) == 0);
        first = false;
      }
      for (const char c : m.systemverilog) REQUIRE((c == '\n' || (c >= ' ' && c <= '~')));
      CHECK(has(m.systemverilog, "`default_nettype none\n"));
      CHECK(m.systemverilog.ends_with("endmodule\n\n`default_nettype wire\n"));
    }
  }
}

TEST_CASE("compile: a constant output and an unread input are written cleanly") {
  Graph g("edges", "corners.");
  const NodeId a = g.input("a_i", 8);
  g.input("b_i", 3);
  g.output("c_o", g.constant(70, 5));
  g.output("d_o", g.bit(a, 2));
  g.output("e_o", a);
  Options o;
  o.combinational = true;
  const std::string text = compile(g, o).systemverilog;
  CHECK(has(text, "localparam logic [69:0] Mask0 = {6'h00, 64'h0000000000000005};"));
  CHECK(has(text, "assign c_o = Mask0;"));
  CHECK(has(text, "assign d_o = a_i[2];"));
  CHECK(has(text, "assign unused_ok = &{1'b0, clk, ce_i, b_i};"));
  o.clock_ports = false;
  CHECK_FALSE(has(compile(g, o).systemverilog, "clk"));
}

TEST_CASE("compile: labels become names unless they clash") {
  Graph g("labels", "names.");
  const NodeId a = g.input("a_i", 8);
  const NodeId x = g.add(a, g.constant(8, 1));
  const NodeId y = g.xor_(x, g.shl(a, 1));
  g.label(x, "next");
  g.label(y, "o");  // the name of the output
  g.output("o", g.and_(g.or_(y, x), g.sub(y, x)));
  Options o;
  o.combinational = true;
  const std::string text = compile(g, o).systemverilog;
  CHECK(has(text, "assign next = a_i + 8'h01;"));
  CHECK(has(text, "assign o_ = next ^ {a_i[6:0], 1'd0};"));
}
