#include "generator/dataflow/schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "generator/dataflow/checksum.h"
#include "generator/dataflow/compile.h"
#include "generator/dataflow/crc.h"
#include "generator/dataflow/evaluate.h"
#include "tests/unit/dataflow/sample_graphs.h"
#include "tests/unit/dataflow/sv_depth.h"

using namespace rocegen::dataflow;

namespace {

Options budget(int levels) {
  Options o;
  o.level_budget = levels;
  return o;
}

Options combinational() {
  Options o;
  o.combinational = true;
  return o;
}

/// The scheduled graph computes what the original does, the schedule keeps its promises, and in the written text every
/// path from an input to an output crosses exactly `latency` registers.
void check_all(const Graph& graph, const Options& options, std::mt19937_64& rng, int rounds) {
  const Schedule s = schedule(graph, options);
  REQUIRE_NOTHROW(check_schedule(s, options));
  if (!options.combinational) CHECK(s.levels() <= options.level_budget);
  CHECK(s.latency == (options.combinational ? 0 : static_cast<int>(s.stage_levels.size())));
  for (int i = 0; i < rounds; ++i) {
    const auto inputs = sample::random_inputs(graph, rng);
    CHECK(evaluate(s.graph, inputs) == evaluate(graph, inputs));
  }
  const CompiledModule m = compile(graph, options);
  CHECK(m.latency == s.latency);
  const auto netlist = sample::read_netlist(m.systemverilog);
  CHECK(netlist.register_bits == s.register_bits);
  std::map<std::string, std::set<int>> known;
  REQUIRE(netlist.outputs.size() == graph.outputs().size());
  for (const auto& port : s.graph.outputs()) {
    const auto& found = sample::depths(netlist, port.name, known);
    if (s.graph.constant_value(port.node) != nullptr) {
      CHECK(found.empty());
    } else {
      CHECK_MESSAGE(found == std::set<int>{s.latency}, port.name);
    }
  }
}

}  // namespace

TEST_CASE("schedule: every operator at every budget: same values, stages within the budget, registers balanced") {
  std::mt19937_64 rng(0x5C4ED);
  for (const int width : {1, 3, 16, 64, 100}) {
    const Graph g = sample::all_operators(width, "all_ops");
    for (const int levels : {1, 2, 4, 10}) {
      CAPTURE(width);
      CAPTURE(levels);
      check_all(g, budget(levels), rng, 6);
    }
    check_all(g, combinational(), rng, 6);
  }
}

TEST_CASE("schedule: random graphs") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const Graph g = sample::random_graph(rng, 10 + static_cast<int>(seed), "random");
    for (const int levels : {1, 2, 5}) check_all(g, budget(levels), rng, 4);
    check_all(g, combinational(), rng, 4);
  }
}

TEST_CASE("schedule: the compiled modules keep every budget") {
  std::mt19937_64 rng(0xC0DE);
  for (const int levels : {1, 2, 3, 5, 8, 24}) {
    CAPTURE(levels);
    for (const int width : {64, 512}) {
      check_all(icrc_data_graph(width), budget(levels), rng, 2);
      check_all(icrc_rewind_graph(width), budget(levels), rng, 4);
    }
    check_all(ipv4_checksum_graph(), budget(levels), rng, 10);
  }
}

TEST_CASE("schedule: one 256-input parity spans stages, with few registers") {
  Graph g("parity", "of 256 bits.");
  const NodeId a = g.input("a_i", 256);
  g.output("p_o", g.xor_reduce(a));
  CHECK(schedule(g, budget(10)).latency == 1);
  CHECK(schedule(g, budget(10)).register_bits == 1);
  const Schedule two = schedule(g, budget(2));
  CHECK(two.latency == 2);
  CHECK(two.stage_levels == std::vector<int>{2, 2});
  CHECK(two.register_bits <= 8 + 1);  // ceil(256 / 36) partial parities, then the result
  const Schedule one = schedule(g, budget(1));
  CHECK(one.latency == 4);
  CHECK(one.register_bits <= 43 + 8 + 2 + 1);
}

TEST_CASE("schedule: stages are evened out without another stage") {
  const Schedule s = schedule(icrc_rewind_graph(512), budget(13));
  CHECK(s.latency == 2);
  CHECK(*std::max_element(s.stage_levels.begin(), s.stage_levels.end()) <= 8);
}

TEST_CASE("schedule: values wait in their narrowest form") {
  // The wide extension of x is needed only beside the late y: x waits in 4 bits, not in 40.
  Graph g("narrow", "late partner.");
  const NodeId x = g.input("x_i", 4);
  const NodeId y = g.input("y_i", 40);
  NodeId late = y;
  for (int i = 0; i < 6; ++i) late = g.add(late, g.constant(40, 0x1234567 + static_cast<unsigned>(i)));
  g.output("o", g.xor_(late, g.zext(g.not_(x), 40)));
  const Schedule s = schedule(g, budget(6));
  REQUIRE(s.latency >= 6);
  // Evened out, each adder is cut once: one carry bit waits too.
  CHECK(s.register_bits <= (40 + 1 + 4) * (s.latency - 1) + 40);

  // Slices are taken where they are cut off: eight of the 64 bits wait, the rest does not.
  Graph h("slices", "early slice.");
  const NodeId z = h.input("z_i", 64);
  NodeId sum = h.slice(z, 15, 0);
  for (int i = 0; i < 5; ++i) sum = h.add(sum, h.constant(16, 0x111 + static_cast<unsigned>(i)));
  h.output("o", h.concat(sum, h.slice(z, 63, 56)));
  const Schedule t = schedule(h, budget(4));
  REQUIRE(t.latency == 5);
  CHECK(t.register_bits == (16 + 8) * 5);
}

TEST_CASE("schedule: levels in front of the inputs count") {
  Options o = budget(4);
  const Graph g = icrc_data_graph(512);
  CHECK(schedule(g, o).latency == 1);
  o.input_levels = 2;
  const Schedule s = schedule(g, o);
  CHECK(s.latency == 2);
  CHECK(s.levels() <= 4);
  CHECK_NOTHROW(check_schedule(s, o));
  o.input_levels = 4;
  CHECK_THROWS_AS(schedule(g, o), std::invalid_argument);
}

TEST_CASE("schedule: faults") {
  Graph g("g");
  const NodeId a = g.input("a_i", 8);
  CHECK_THROWS_AS(schedule(g, budget(4)), std::invalid_argument);  // no output
  g.output("o", g.not_(a));
  CHECK_THROWS_AS(schedule(g, budget(0)), std::invalid_argument);
  Options o = budget(4);
  o.clock_ports = false;
  CHECK_THROWS_AS(schedule(g, o), std::invalid_argument);
}

TEST_CASE("schedule: check_schedule finds each kind of breach") {
  const Graph g = icrc_rewind_graph(64);
  const Options o = budget(3);
  const Schedule good = schedule(g, o);
  REQUIRE(good.latency > 1);
  REQUIRE_NOTHROW(check_schedule(good, o));
  Schedule bad = good;
  bad.register_bits += 1;
  CHECK_THROWS_AS(check_schedule(bad, o), std::logic_error);
  bad = good;
  bad.stage[0] = 1;  // an input
  CHECK_THROWS_AS(check_schedule(bad, o), std::logic_error);
  bad = good;
  *std::find_if(bad.stage.begin(), bad.stage.end(), [](int s) { return s > 0; }) = good.latency;
  CHECK_THROWS_AS(check_schedule(bad, o), std::logic_error);
  for (std::size_t i = 0; i < good.stage.size(); ++i) {  // any node moved against its neighbours or the figures
    if (good.graph.node({static_cast<int>(i)}).args.empty()) continue;
    bad = good;
    bad.stage[i] += bad.stage[i] + 1 < good.latency ? 1 : -1;
    CHECK_THROWS_AS(check_schedule(bad, o), std::logic_error);
  }
  CHECK_THROWS_AS(check_schedule(good, budget(2)), std::logic_error);
  CHECK_THROWS_AS(check_schedule(good, combinational()), std::logic_error);
}

TEST_CASE("schedule: level budget from pipeline_depth and clock") {
  CHECK(level_budget(0, 250.0) == 24);
  CHECK(level_budget(0, 1000.0) == 24);
  CHECK(level_budget(1, 100.0) == 10);
  CHECK(level_budget(2, 100.0) == 8);
  CHECK(level_budget(3, 100.0) == 6);
  CHECK(level_budget(4, 100.0) == 5);
  CHECK(level_budget(1, 250.0) == 8);  // (4 - 0.4) / 0.45
  CHECK(level_budget(2, 322.265625) == 6);
  CHECK(level_budget(4, 1000.0) == 2);
  for (int depth = 0; depth < 4; ++depth) {
    for (double mhz = 50; mhz < 700; mhz += 10) {
      CHECK(level_budget(depth + 1, mhz) <= level_budget(depth, mhz));
      CHECK(level_budget(depth, mhz + 10) <= level_budget(depth, mhz));
    }
  }
  CHECK_THROWS_AS(level_budget(5, 250.0), std::invalid_argument);
  CHECK_THROWS_AS(level_budget(-1, 250.0), std::invalid_argument);
  CHECK_THROWS_AS(level_budget(2, 0.0), std::invalid_argument);
}
