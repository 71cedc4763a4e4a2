// One operator at one width, between ports: what the delay table holds (generator/dataflow/delay_table.h).
#pragma once

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "generator/dataflow/graph.h"
#include "tests/unit/dataflow/sample_graphs.h"

namespace rocegen::dataflow::sample {

inline constexpr std::array<std::string_view, 22> kDelayOperators = {
    "add", "sub", "sum4", "mul",  "mul_const", "popcount", "and8",   "xor8", "or_reduce", "xor_reduce", "eq",
    "ult", "slt", "umin", "smax", "abs",       "saturate", "select", "mux8", "table8",    "shl",        "sar"};
inline constexpr std::array kDelayWidths = {4, 8, 16, 32, 64};

/// The operator alone: `sum4`, `and8`, `xor8` take 4 and 8 values, `mux8` chooses from 8, `table8` looks up 256
/// entries.
inline Graph delay_graph(std::string_view op, int width) {
  Graph g("op");
  const NodeId a = g.input("a_i", width);
  const auto another = [&](int i) { return g.input("b" + std::to_string(i) + "_i", width); };
  const auto several = [&](int n) {
    std::vector<NodeId> r{a};
    while (static_cast<int>(r.size()) < n) r.push_back(another(static_cast<int>(r.size())));
    return r;
  };
  std::mt19937_64 rng(static_cast<std::uint64_t>(width));
  NodeId y;
  if (op == "sum4") {
    y = g.sum(several(4));
  } else if (op == "and8") {
    y = g.and_n(several(8));
  } else if (op == "xor8") {
    y = g.xor_n(several(8));
  } else if (op == "mul") {
    y = g.mul(a, another(1));
  } else if (op == "mul_const") {
    y = g.mul(a, BitVec(width, 0x5D));
  } else if (op == "popcount") {
    y = g.popcount(a);
  } else if (op == "or_reduce") {
    y = g.or_reduce(a);
  } else if (op == "xor_reduce") {
    y = g.xor_reduce(a);
  } else if (op == "abs") {
    y = g.abs(a);
  } else if (op == "saturate") {
    y = g.saturate(a, true, width / 2, true);
  } else if (op == "select") {
    const NodeId b = another(1);
    y = g.select(g.input("c_i", 1), a, b);
  } else if (op == "mux8") {
    y = g.mux(g.input("c_i", 3), several(8));
  } else if (op == "table8") {
    std::vector<BitVec> entries;
    for (int i = 0; i < 256; ++i) entries.push_back(BitVec(width, rng()));
    y = g.table(g.input("c_i", 8), entries);
  } else if (op == "shl") {
    y = g.shl(a, g.input("c_i", log2_ceil(width)));
  } else if (op == "sar") {
    y = g.sar(a, g.input("c_i", log2_ceil(width)));
  } else {
    y = g.apply(find_operator(op), std::array{a, another(1)});
  }
  g.output("y_o", y);
  return g;
}

}  // namespace rocegen::dataflow::sample
