#include "generator/dataflow/passes.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "generator/dataflow/evaluate.h"
#include "generator/dataflow/schedule.h"
#include "tests/unit/dataflow/sample_graphs.h"

using namespace rocegen::dataflow;

namespace {

int count_op(const Graph& g, std::string_view name) {
  int n = 0;
  const auto live = g.live();
  for (int i = 0; i < g.size(); ++i) n += live[static_cast<std::size_t>(i)] && g.node({i}).op->name() == name ? 1 : 0;
  return n;
}

int widest(const Graph& g, std::string_view name) {
  int n = 0;
  const auto live = g.live();
  for (int i = 0; i < g.size(); ++i) {
    if (live[static_cast<std::size_t>(i)] && g.node({i}).op->name() == name) n = std::max(n, g.width({i}));
  }
  return n;
}

/// Every pass alone and all of them leave the values as they are.
void check_passes(const Graph& graph, std::mt19937_64& rng, int rounds) {
  std::vector<std::vector<BitVec>> stimuli;
  std::vector<std::vector<BitVec>> expected;
  for (int i = 0; i < rounds; ++i) {
    stimuli.push_back(sample::random_inputs(graph, rng));
    expected.push_back(evaluate(graph, stimuli.back()));
  }
  const auto check = [&](std::string_view name, const Graph& result) {
    CAPTURE(name);
    REQUIRE(result.outputs().size() == graph.outputs().size());
    for (std::size_t i = 0; i < stimuli.size(); ++i) REQUIRE(evaluate(result, stimuli[i]) == expected[i]);
  };
  Graph after = graph;
  for (const auto& pass : passes()) {
    check(pass.name, pass.run(graph));
    after = pass.run(after);
    check(std::string("after ") + std::string(pass.name), after);
  }
  CHECK(estimate_luts(after) >= 0);
}

}  // namespace

TEST_CASE("passes: every operator keeps its value") {
  std::mt19937_64 rng(0x9A55);
  for (const int width : {1, 2, 3, 7, 16, 33, 70}) {
    CAPTURE(width);
    check_passes(sample::all_operators(width, "all_ops"), rng, 40);
  }
}

TEST_CASE("passes: random graphs keep their values") {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    check_passes(sample::random_graph(rng, 10 + static_cast<int>(seed % 40), "random"), rng, 12);
  }
}

TEST_CASE("passes: random sums, products and counts keep their values") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    check_passes(sample::random_arithmetic(rng, 4 + static_cast<int>(seed % 24), "arithmetic"), rng, 12);
  }
}

TEST_CASE("ranges: no value is ever outside of what the analysis says") {
  for (unsigned seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    Graph g = seed % 2 == 0 ? sample::random_graph(rng, 30, "random") : sample::random_arithmetic(rng, 20, "random");
    const auto ranges = analyse_ranges(g);
    const auto live = g.live();
    int outputs = 0;
    for (int i = 0; i < g.size(); ++i) {
      if (live[static_cast<std::size_t>(i)]) g.output("value" + std::to_string(outputs++), {i});
    }
    for (int round = 0; round < 20; ++round) {
      const auto values = evaluate(g, sample::random_inputs(g, rng));
      for (std::size_t k = 0; k < values.size(); ++k) {
        const Port& port = g.outputs()[k];
        if (!live[static_cast<std::size_t>(port.node.index)]) continue;
        CHECK_MESSAGE(ranges[static_cast<std::size_t>(port.node.index)].contains(values[k]),
                      std::string(g.node(port.node).op->name()));
      }
    }
  }
}

TEST_CASE("ranges: sums, differences and products of small intervals, exhaustively") {
  constexpr int kWidth = 4;
  const auto vec = [](unsigned v) { return BitVec(kWidth, v & 15U); };
  for (unsigned a_lo = 0; a_lo < 16; a_lo += 3) {
    for (unsigned a_hi = a_lo; a_hi < 16; a_hi += 2) {
      for (unsigned b_lo = 0; b_lo < 16; b_lo += 3) {
        for (unsigned b_hi = b_lo; b_hi < 16; b_hi += 2) {
          const Range a = Range::of_unsigned(vec(a_lo), vec(a_hi));
          const Range b = Range::of_unsigned(vec(b_lo), vec(b_hi));
          const Range sum = add_ranges(a, b);
          const Range difference = sub_ranges(a, b);
          const Range product = mul_ranges(a, b);
          for (unsigned x = a_lo; x <= a_hi; ++x) {
            for (unsigned y = b_lo; y <= b_hi; ++y) {
              REQUIRE(sum.contains(vec(x + y)));
              REQUIRE(difference.contains(vec(x - y)));
              REQUIRE(product.contains(vec(x * y)));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("narrow: a sum of small numbers is a small sum, a decided comparison a constant") {
  Graph g("narrow");
  const NodeId a = g.zext(g.input("a_i", 5), 32);
  const NodeId b = g.zext(g.input("b_i", 5), 32);
  g.output("sum_o", g.add(a, b));
  g.output("less_o", g.ult(g.add(a, b), g.constant(32, 100)));
  g.output("signed_o", g.slt(g.sext(g.input("c_i", 4), 40), g.sext(g.input("d_i", 7), 40)));
  g.output("low_o", g.slice(g.mul(g.input("e_i", 30), g.input("f_i", 30)), 4, 0));
  const Graph n = fold(narrow(g));
  CHECK(widest(n, "add") == 6);
  CHECK(count_op(n, "ult") == 0);
  REQUIRE(n.constant_value(n.outputs()[1].node) != nullptr);
  CHECK(n.constant_value(n.outputs()[1].node)->is_ones());
  CHECK(widest(n, "mul") == 5);
  for (int i = 0; i < n.size(); ++i) {
    if (n.node({i}).op->name() == "slt") CHECK(n.width(n.node({i}).args[0]) == 7);
  }
}

TEST_CASE("strength: constant factors are signed digits, divisions products") {
  Graph g("strength");
  const NodeId a = g.input("a_i", 16);
  g.output("x7_o", g.mul(a, BitVec(16, 7)));  // 8a - a
  g.output("x8_o", g.mul(a, BitVec(16, 8)));  // wiring
  g.output("q_o", g.udiv(a, BitVec(16, 10)));
  g.output("r_o", g.urem(a, BitVec(16, 10)));
  g.output("q16_o", g.udiv(a, BitVec(16, 16)));
  g.output("r16_o", g.urem(a, BitVec(16, 16)));
  const Graph n = optimise(g);
  CHECK(count_op(n, "udiv_const") == 0);
  CHECK(count_op(n, "urem_const") == 0);
  CHECK(count_op(n, "mul_const") == 0);
  CHECK(count_op(n, "sub") >= 1);
  for (unsigned v = 0; v < 65536; v += v < 300 ? 1 : 37) {
    const auto out = evaluate(n, std::array{BitVec(16, v)});
    REQUIRE(out[0].to_uint64() == ((v * 7) & 0xFFFFU));
    REQUIRE(out[1].to_uint64() == ((v * 8) & 0xFFFFU));
    REQUIRE(out[2].to_uint64() == v / 10);
    REQUIRE(out[3].to_uint64() == v % 10);
    REQUIRE(out[4].to_uint64() == v / 16);
    REQUIRE(out[5].to_uint64() == v % 16);
  }
}

TEST_CASE("strength: every divisor of eight bits is exact") {
  for (unsigned d = 1; d < 256; ++d) {
    Graph g("division");
    const NodeId a = g.input("a_i", 8);
    g.output("q_o", g.udiv(a, BitVec(8, d)));
    g.output("r_o", g.urem(a, BitVec(8, d)));
    const Graph n = optimise(g);
    for (unsigned v = 0; v < 256; ++v) {
      const auto out = evaluate(n, std::array{BitVec(8, v)});
      REQUIRE(out[0].to_uint64() == v / d);
      REQUIRE(out[1].to_uint64() == v % d);
    }
  }
}

TEST_CASE("carry save: a sum of many terms has one adder") {
  Graph g("dot");
  std::vector<NodeId> terms;
  for (int i = 0; i < 8; ++i) {
    const NodeId x = g.sext(g.input("x" + std::to_string(i) + "_i", 8), 20);
    terms.push_back(g.mul(x, BitVec(20, 0) - BitVec(20, static_cast<unsigned>(3 + 5 * i))));
  }
  NodeId sum = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) sum = g.add(sum, terms[i]);
  g.output("y_o", sum);
  const Graph n = optimise(g);
  CHECK(count_op(n, "add") + count_op(n, "sub") == 1);
  Options options;
  options.combinational = true;
  CHECK(schedule(n, options).levels() < schedule(g, options).levels() / 2);
}

TEST_CASE("balance: chains become trees") {
  Graph g("chains");
  NodeId any = g.input("a_i", 4);
  NodeId least = any;
  for (int i = 0; i < 15; ++i) {
    const NodeId x = g.input("x" + std::to_string(i) + "_i", 4);
    any = g.or_(any, x);
    least = g.umin(x, least);
  }
  g.output("any_o", any);
  g.output("least_o", least);
  const Graph n = optimise(g);
  CHECK(count_op(n, "or") == 1);
  CHECK(count_op(n, "umin") == 15);
  Options options;
  options.combinational = true;
  CHECK(schedule(n, options).levels() * 3 <= schedule(g, options).levels());
}
