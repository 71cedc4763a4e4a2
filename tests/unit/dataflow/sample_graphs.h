// Graphs that use every operator, for the unit tests and the RTL benches.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "generator/dataflow/graph.h"

namespace rocegen::dataflow::sample {

inline BitVec random_vec(std::mt19937_64& rng, int width) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(width) / 64 + 1);
  const auto shape = rng() % 8;  // corners more often than chance gives them
  for (auto& w : words)
    w = shape == 0 ? 0 : shape == 1 ? ~std::uint64_t{0} : shape == 2 ? rng() & rng() & rng() : rng();
  BitVec r = BitVec::from_words(width, words);
  if (shape == 3) {
    r = BitVec(width);
    r.set_bit(static_cast<int>(rng() % static_cast<unsigned>(width)), true);
  }
  return r;
}

/// Every operator of the table once or more, on operands of `width` bits. Each output is named after its operator.
/// With `only`, just the output of that name.
inline Graph all_operators(int width, const std::string& name, const std::string& only = "") {
  std::mt19937_64 rng(static_cast<std::uint64_t>(width) * 77 + 5);
  Graph g(name, fmt::format("every operator on operands of {} bits.", width));
  const NodeId a = g.input("a_i", width);
  const NodeId b = g.input("b_i", width);
  const NodeId c = g.input("c_i", 1);
  const NodeId amount = g.input("amount_i", 7);
  const NodeId index = g.input("index_i", 8);
  const BitVec mask = random_vec(rng, width) | BitVec(width, 1);
  const BitVec factor = (random_vec(rng, width) & random_vec(rng, width)) ^ BitVec(width, 0x5D);
  const auto output = [&](const std::string& port, NodeId node) {
    if (only.empty() || only == port) g.output(port, node);
  };
  output("add_o", g.add(a, b));
  output("sub_o", g.sub(a, b));
  output("add_carry_o", g.add_carry(a, b, c));
  output("add_const_o", g.add(a, g.constant(factor)));
  output("mul_const_o", g.mul(a, factor));
  output("popcount_o", g.popcount(a));
  output("sum_o", g.sum(std::vector{a, b, g.not_(a), g.shl(b, 1), g.constant(factor)}));
  output("neg_o", g.neg(a));
  if (width <= 40) output("mul_o", g.mul(a, b));
  output("udiv_o", g.udiv(g.slice(a, std::min(width, 12) - 1, 0), mask.resize(std::min(width, 12))));
  output("urem_o", g.urem(g.slice(a, std::min(width, 12) - 1, 0), mask.resize(std::min(width, 12))));
  output("umin_o", g.umin(a, b));
  output("umax_o", g.umax(a, b));
  output("smin_o", g.smin(a, b));
  output("smax_o", g.smax(a, b));
  output("abs_o", g.abs(a));
  for (const int to : {std::max(1, width / 2), width + 3}) {
    for (const int kind : {0, 1, 2, 3}) {
      output(fmt::format("saturate_{}_{}_o", to, kind), g.saturate(a, kind % 2 != 0, to, kind / 2 != 0));
    }
  }
  output("and_o", g.and_(a, b));
  output("or_o", g.or_n(std::vector{a, b, g.shl(a, 1), g.shr(b, 1)}));
  std::vector<NodeId> many;
  for (int i = 0; i < 15; ++i) many.push_back(i % 2 == 0 ? g.shl(a, i) : g.sar(b, i));
  output("xor_o", g.xor_n(many));
  output("not_o", g.not_(a));
  output("xor_reduce_o", g.xor_reduce(a, mask));
  output("or_reduce_o", g.or_reduce(a, mask));
  output("and_reduce_o", g.and_reduce(a, mask));
  output("parity_o", g.xor_reduce(a));
  output("any_o", g.or_reduce(g.xor_(a, b)));
  output("all_o", g.and_reduce(b));
  output("eq_o", g.eq(a, b));
  output("ne_o", g.ne(a, b));
  output("eq_const_o", g.eq(a, g.constant(mask)));
  output("ult_o", g.ult(a, b));
  output("ule_o", g.ule(a, b));
  output("slt_o", g.slt(a, b));
  output("sle_o", g.sle(a, b));
  output("select_o", g.select(c, a, b));
  std::vector<NodeId> choices;
  for (int i = 0; i < 8; ++i) choices.push_back(i == 0 ? a : i == 7 ? b : g.constant(random_vec(rng, width)));
  output("mux_o", g.mux(g.slice(index, 2, 0), choices));
  std::vector<BitVec> entries;
  for (int i = 0; i < 256; ++i) entries.push_back(random_vec(rng, std::min(width, 40)));
  output("table_o", g.table(index, entries));
  output("shl_const_o", g.shl(a, std::max(1, width / 3)));
  output("shr_const_o", g.shr(a, std::max(1, width / 3)));
  output("sar_const_o", g.sar(a, std::max(1, width / 3)));
  output("shl_o", g.shl(a, amount));
  output("shr_o", g.shr(a, g.slice(amount, 2, 0), 1));
  output("sar_o", g.sar(a, amount));
  output("slice_o", g.slice(a, width - 1, width / 2));
  output("concat_o", g.concat(std::vector{a, c, b, g.constant(3, 5)}));
  output("zext_o", g.zext(a, width + 9));
  output("sext_o", g.sext(a, width + 9));
  output("replicate_o", g.replicate(c, width + 1));
  output("constant_o", g.constant(mask));
  output("through_o", a);
  return g;
}

/// A random graph: `size` operators on earlier nodes.
inline Graph random_graph(std::mt19937_64& rng, int size, const std::string& name) {
  Graph g(name, "random.");
  std::vector<NodeId> pool;
  const auto below = [&rng](std::size_t n) { return static_cast<int>(rng() % n); };
  for (int i = 0; i < 4; ++i) pool.push_back(g.input(fmt::format("i{}_i", i), 1 + below(40)));
  const auto pick = [&] { return pool[static_cast<std::size_t>(below(pool.size()))]; };
  const auto fit = [&](NodeId x, int width) {
    const int w = g.width(x);
    if (w == width) return x;
    if (w > width) return g.slice(x, width - 1 + below(static_cast<std::size_t>(w - width + 1)) / 2, 0);
    return rng() % 2 == 0 ? g.zext(x, width) : g.sext(x, width);
  };
  const auto pick_width = [&](int width) {
    const NodeId x = fit(pick(), width);
    return g.width(x) == width ? x : g.slice(x, width - 1, 0);
  };
  for (int i = 0; i < size; ++i) {
    const NodeId a = pick();
    const int w = g.width(a);
    const NodeId b = pick_width(w);
    NodeId r = a;
    switch (below(20)) {
      case 0:
        r = g.add(a, b);
        break;
      case 1:
        r = g.sub(a, b);
        break;
      case 2:
        r = g.xor_(a, b);
        break;
      case 3:
        r = g.and_(a, b);
        break;
      case 4:
        r = g.or_(a, g.not_(b));
        break;
      case 5:
        r = g.xor_reduce(a, random_vec(rng, w));
        break;
      case 6:
        r = g.or_reduce(a, random_vec(rng, w));
        break;
      case 7:
        r = g.and_reduce(a, random_vec(rng, w));
        break;
      case 8:
        r = g.eq(a, b);
        break;
      case 9:
        r = g.slt(a, b);
        break;
      case 10:
        r = g.ule(a, b);
        break;
      case 11:
        r = g.select(pick_width(1), a, b);
        break;
      case 12:
        r = g.shl(a, pick_width(4));
        break;
      case 13:
        r = g.sar(a, pick_width(3));
        break;
      case 14:
        r = g.popcount(a);
        break;
      case 15:
        r = w < 60 ? g.concat(a, pick_width(1 + below(9))) : g.not_(a);
        break;
      case 16:
        r = g.slice(a, w - 1 - below(static_cast<std::size_t>(w)) / 2, below(static_cast<std::size_t>(w)) / 2);
        break;
      case 17:
        r = g.mul(a, random_vec(rng, w));
        break;
      case 18:
        r = g.add_carry(a, b, pick_width(1));
        break;
      default: {
        std::vector<NodeId> args{a, b};
        for (int k = below(12); k > 0; --k) args.push_back(pick_width(w));
        r = g.xor_n(args);
      }
    }
    pool.push_back(r);
  }
  for (int i = 0; i < 5; ++i) g.output(fmt::format("o{}_o", i), pool[pool.size() - 1 - static_cast<std::size_t>(i)]);
  return g;
}

/// A random graph of sums, differences, products, counts, extensions and comparisons of values of few bits.
inline Graph random_arithmetic(std::mt19937_64& rng, int size, const std::string& name) {
  Graph g(name, "random arithmetic.");
  const auto below = [&rng](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  std::vector<NodeId> pool;
  for (int i = 0; i < 5; ++i) pool.push_back(g.input(fmt::format("i{}_i", i), 1 + below(9)));
  const auto pick = [&] { return pool[static_cast<std::size_t>(below(static_cast<int>(pool.size())))]; };
  const auto extend = [&](NodeId x, int width) {
    if (g.width(x) >= width) return g.slice(x, width - 1, 0);
    return rng() % 2 == 0 ? g.zext(x, width) : g.sext(x, width);
  };
  for (int i = 0; i < size; ++i) {
    const NodeId a = pick();
    const NodeId b = pick();
    const int w = std::clamp(std::max(g.width(a), g.width(b)) + below(3), 1, 28);
    const NodeId x = extend(a, w);
    const NodeId y = extend(b, w);
    NodeId r = x;
    switch (below(16)) {
      case 0:
      case 1:
        r = g.add(x, y);
        break;
      case 2:
        r = g.sub(x, y);
        break;
      case 3:
        r = g.sum(std::vector{x, y, extend(pick(), w), extend(pick(), w)});
        break;
      case 4:
        r = g.mul(x, random_vec(rng, w));
        break;
      case 5:
      case 6: {
        const int product = std::min(28, g.width(a) + g.width(b));
        r = g.mul(extend(a, product), extend(b, product));
        break;
      }
      case 7:
        r = g.popcount(x);
        break;
      case 8:
        r = g.shl(x, below(3));
        break;
      case 9:
        r = g.sar(x, below(3));
        break;
      case 10:
        r = rng() % 2 == 0 ? g.smin(x, y) : g.umax(x, y);
        break;
      case 11:
        r = rng() % 2 == 0 ? g.slt(x, y) : g.ule(x, y);
        break;
      case 12:
        r = g.abs(x);
        break;
      case 13:
        r = g.saturate(x, rng() % 2 == 0, 1 + below(w), rng() % 2 == 0);
        break;
      case 14:
        r = g.add(x, g.constant(random_vec(rng, w)));
        break;
      default:
        r = g.select(g.slice(pick(), 0, 0), x, y);
    }
    pool.push_back(r);
  }
  for (int i = 0; i < 3; ++i) g.output(fmt::format("o{}_o", i), pool[pool.size() - 1 - static_cast<std::size_t>(i)]);
  return g;
}

inline std::vector<BitVec> random_inputs(const Graph& g, std::mt19937_64& rng) {
  std::vector<BitVec> r;
  for (const auto& port : g.inputs()) r.push_back(random_vec(rng, g.width(port.node)));
  return r;
}

}  // namespace rocegen::dataflow::sample
