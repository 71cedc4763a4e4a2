#include "generator/dataflow/register_flow.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace rocegen::dataflow;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Register bits of an assignment to stages.
int cost(const Graph& g, const std::vector<int>& stage, int latency) {
  std::vector<int> last = stage;
  for (int v = 0; v < g.size(); ++v) {
    for (const auto a : g.node({v}).args) last[at(a.index)] = std::max(last[at(a.index)], stage[at(v)]);
  }
  for (const auto& port : g.outputs()) last[at(port.node.index)] = latency;
  int bits = 0;
  for (int v = 0; v < g.size(); ++v) bits += g.width({v}) * (last[at(v)] - stage[at(v)]);
  return bits;
}

bool legal(const Graph& g, const std::vector<int>& stage, const std::vector<std::pair<int, int>>& apart) {
  for (int v = 0; v < g.size(); ++v) {
    for (const auto a : g.node({v}).args) {
      if (stage[at(a.index)] > stage[at(v)]) return false;
    }
  }
  return std::all_of(apart.begin(), apart.end(),
                     [&](const auto& p) { return stage[at(p.second)] > stage[at(p.first)]; });
}

/// Least cost over all legal assignments.
int exhaustive(const Graph& g, int latency, const std::vector<std::pair<int, int>>& apart) {
  int best = std::numeric_limits<int>::max();
  std::vector<int> stage(at(g.size()), 0);
  while (true) {
    if (legal(g, stage, apart)) best = std::min(best, cost(g, stage, latency));
    int v = 0;
    for (; v < g.size(); ++v) {  // the next assignment; inputs stay in stage 0
      if (g.node({v}).args.empty()) continue;
      if (++stage[at(v)] < latency) break;
      stage[at(v)] = 0;
    }
    if (v == g.size()) return best;
  }
}

}  // namespace

TEST_CASE("register flow: as few registers as an exhaustive search finds") {
  for (unsigned seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    std::mt19937 rng(seed);
    const auto below = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    Graph g("random");
    std::vector<NodeId> pool = {g.input("a_i", 1 + below(9)), g.input("b_i", 1 + below(9))};
    while (g.size() < 9) {
      const NodeId a = pool[at(below(static_cast<int>(pool.size())))];
      const NodeId b = pool[at(below(static_cast<int>(pool.size())))];
      NodeId made = a;
      switch (below(3)) {
        case 0:
          made = g.popcount(a);
          break;
        case 1:
          made = g.concat(a, b);
          break;
        default:
          made = g.not_(a);
      }
      pool.push_back(made);
    }
    // Every node is read or an output.
    std::vector<bool> read(at(g.size()), false);
    for (int v = 0; v < g.size(); ++v) {
      for (const auto a : g.node({v}).args) read[at(a.index)] = true;
    }
    for (int v = 0; v < g.size(); ++v) {
      if (!read[at(v)]) g.output("o" + std::to_string(v) + "_o", {v});
    }
    const int latency = 2 + below(2);
    RegisterFlow flow(g, std::vector<int>(at(g.size()), 0), latency);
    std::vector<std::pair<int, int>> apart;
    for (int step = 0; step < 3; ++step) {  // constraints may be added between solutions
      const auto stage = flow.solve();
      REQUIRE(stage.has_value());
      REQUIRE(legal(g, *stage, apart));
      CHECK(cost(g, *stage, latency) == exhaustive(g, latency, apart));
      int v = 0;
      while (g.node({v}).args.empty()) v = below(g.size());
      const int u = g.node({v}).args[0].index;
      auto more = apart;
      more.emplace_back(u, v);
      if (exhaustive(g, latency, more) == std::numeric_limits<int>::max()) break;
      apart = more;
      flow.separate(u, v);
    }
  }
}

TEST_CASE("register flow: a narrow value waits instead of a wide one") {
  Graph g("diamond");
  const NodeId a = g.input("a_i", 32);
  const NodeId few = g.popcount(a);
  const NodeId wide = g.mul(g.zext(few, 20), BitVec(20, 5));
  g.output("o", g.not_(wide));
  RegisterFlow flow(g, std::vector<int>(at(g.size()), 0), 4);
  const auto stage = flow.solve();
  REQUIRE(stage.has_value());
  CHECK((*stage)[at(few.index)] == 0);
  CHECK((*stage)[at(wide.index)] == 3);
}
