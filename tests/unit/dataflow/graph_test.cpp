#include "generator/dataflow/graph.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "generator/dataflow/evaluate.h"
#include "tests/unit/dataflow/sample_graphs.h"

using namespace rocegen::dataflow;

namespace {

/// The message of the std::invalid_argument that `f` throws, "" when it does not.
std::string fault_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("graph: equal nodes are one node, also with arguments in another order") {
  Graph g("g");
  const NodeId a = g.input("a_i", 8);
  const NodeId b = g.input("b_i", 8);
  CHECK(g.add(a, b) == g.add(b, a));
  CHECK(g.xor_n(std::array{a, b}) == g.xor_n(std::array{b, a}));
  CHECK(g.sub(a, b) != g.sub(b, a));
  CHECK(g.constant(8, 3) == g.constant(8, 3));
  CHECK(g.constant(8, 3) != g.constant(9, 3));
  CHECK(g.xor_reduce(a, BitVec(8, 6)) == g.xor_reduce(a, BitVec(8, 6)));
  CHECK(g.xor_reduce(a, BitVec(8, 6)) != g.xor_reduce(a, BitVec(8, 7)));
  CHECK(a != b);
}

TEST_CASE("graph: constants fold and identities simplify") {
  Graph g("g");
  const NodeId a = g.input("a_i", 8);
  const NodeId b = g.input("b_i", 8);
  const NodeId zero = g.constant(8, 0);
  const NodeId ones = g.constant(BitVec::ones(8));
  const auto value = [&g](NodeId id) {
    const BitVec* v = g.constant_value(id);
    REQUIRE(v != nullptr);
    return v->to_uint64();
  };
  CHECK(value(g.add(g.constant(8, 200), g.constant(8, 100))) == 44);
  CHECK(value(g.popcount(g.constant(8, 0x77))) == 6);
  CHECK(g.add(a, zero) == a);
  CHECK(g.sub(a, zero) == a);
  CHECK(value(g.sub(a, a)) == 0);
  CHECK(g.xor_(a, zero) == a);
  CHECK(value(g.xor_(a, a)) == 0);
  CHECK(g.xor_n(std::array{a, b, a}) == b);
  CHECK(g.xor_(a, ones) == g.not_(a));
  CHECK(value(g.and_(a, zero)) == 0);
  CHECK(g.and_(a, ones) == a);
  CHECK(g.and_(a, a) == a);
  CHECK(value(g.or_(a, ones)) == 255);
  CHECK(g.not_(g.not_(a)) == a);
  CHECK(g.slice(a, 7, 0) == a);
  CHECK(g.slice(g.slice(a, 6, 1), 3, 2) == g.slice(a, 4, 3));
  CHECK(g.slice(g.concat(a, b), 15, 8) == a);
  CHECK(g.slice(g.concat(a, b), 11, 4) == g.concat(g.slice(a, 3, 0), g.slice(b, 7, 4)));
  CHECK(g.concat(g.slice(a, 7, 3), g.slice(a, 2, 0)) == a);
  CHECK(value(g.slice(g.zext(a, 12), 11, 8)) == 0);
  CHECK(g.xor_reduce(a, BitVec(8, 0x10)) == g.bit(a, 4));
  CHECK(value(g.and_reduce(a, BitVec(8, 0))) == 1);
  CHECK(g.select(g.constant(1, 1), a, b) == a);
  CHECK(g.select(g.bit(b, 0), a, a) == a);
  CHECK(g.shl(a, 0) == a);
  CHECK(value(g.shr(a, 8)) == 0);
  CHECK(g.shl(a, g.constant(3, 2)) == g.shl(a, 2));
  CHECK(g.mul(a, BitVec(8, 4)) == g.shl(a, 2));
  CHECK(value(g.eq(a, a)) == 1);
  CHECK(value(g.ult(a, a)) == 0);
  CHECK(value(g.sle(a, a)) == 1);
  CHECK(value(g.ult(a, zero)) == 0);
  CHECK(value(g.ult(ones, a)) == 0);
  CHECK(value(g.ule(zero, a)) == 1);
  CHECK(value(g.ule(a, ones)) == 1);
  CHECK(value(g.slt(a, g.constant(8, 0x80))) == 0);
  CHECK(value(g.slt(g.constant(8, 0x7F), a)) == 0);
  CHECK(value(g.sle(g.constant(8, 0x80), a)) == 1);
  CHECK(value(g.sle(a, g.constant(8, 0x7F))) == 1);
  CHECK(g.constant_value(g.ult(a, ones)) == nullptr);
  CHECK(g.constant_value(g.slt(zero, a)) == nullptr);
}

TEST_CASE("graph: every operator of the table occurs in the sample graph and has a unique name") {
  const Graph g = sample::all_operators(24, "all_ops");
  std::set<std::string_view> used;
  for (int i = 0; i < g.size(); ++i) used.insert(g.node({i}).op->name());
  std::set<std::string_view> names;
  for (const auto* op : operators()) {
    CHECK(names.insert(op->name()).second);
    CHECK_MESSAGE(used.contains(op->name()), op->name());
    CHECK(&find_operator(op->name()) == op);
  }
}

TEST_CASE("graph: every operator evaluates to what plain integers give") {
  std::mt19937_64 rng(0x6E41);
  for (const int width : {1, 2, 5, 8, 13, 16, 31}) {
    CAPTURE(width);
    const std::uint64_t limit = (std::uint64_t{1} << width) - 1;
    const auto sign = [&](std::uint64_t v) { return static_cast<std::int64_t>(v << (64 - width)) >> (64 - width); };
    Graph g("g");
    const NodeId a = g.input("a_i", width);
    const NodeId b = g.input("b_i", width);
    const NodeId c = g.input("c_i", 1);
    const NodeId s = g.input("s_i", 6);
    struct Row {
      std::string name;
      NodeId node;
      std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t)> expected;
    };
    const std::uint64_t m = rng() & limit;
    const BitVec mask(width, m);
    using U = std::uint64_t;
    const std::vector<Row> rows = {
        {"add", g.add(a, b), [&](U x, U y, U, U) { return (x + y) & limit; }},
        {"sub", g.sub(a, b), [&](U x, U y, U, U) { return (x - y) & limit; }},
        {"add_carry", g.add_carry(a, b, c), [&](U x, U y, U k, U) { return x + y + k; }},
        {"mul", g.mul(a, mask), [&](U x, U, U, U) { return x * m & limit; }},
        {"popcount", g.popcount(a), [&](U x, U, U, U) { return static_cast<U>(__builtin_popcountll(x)); }},
        {"and", g.and_(a, b), [&](U x, U y, U, U) { return x & y; }},
        {"or", g.or_(a, b), [&](U x, U y, U, U) { return x | y; }},
        {"xor", g.xor_(a, b), [&](U x, U y, U, U) { return x ^ y; }},
        {"not", g.not_(a), [&](U x, U, U, U) { return ~x & limit; }},
        {"xor_reduce", g.xor_reduce(a, mask), [&](U x, U, U, U) { return static_cast<U>(__builtin_parityll(x & m)); }},
        {"or_reduce", g.or_reduce(a, mask), [&](U x, U, U, U) { return static_cast<U>((x & m) != 0); }},
        {"and_reduce", g.and_reduce(a, mask), [&](U x, U, U, U) { return static_cast<U>((x & m) == m); }},
        {"eq", g.eq(a, b), [&](U x, U y, U, U) { return static_cast<U>(x == y); }},
        {"ne", g.ne(a, b), [&](U x, U y, U, U) { return static_cast<U>(x != y); }},
        {"ult", g.ult(a, b), [&](U x, U y, U, U) { return static_cast<U>(x < y); }},
        {"ule", g.ule(a, b), [&](U x, U y, U, U) { return static_cast<U>(x <= y); }},
        {"slt", g.slt(a, b), [&](U x, U y, U, U) { return static_cast<U>(sign(x) < sign(y)); }},
        {"sle", g.sle(a, b), [&](U x, U y, U, U) { return static_cast<U>(sign(x) <= sign(y)); }},
        {"select", g.select(c, a, b), [&](U x, U y, U k, U) { return k != 0 ? x : y; }},
        {"shl", g.shl(a, s), [&](U x, U, U, U n) { return x << n & limit; }},
        {"shr", g.shr(a, s), [&](U x, U, U, U n) { return x >> n; }},
        {"sar", g.sar(a, s), [&](U x, U, U, U n) { return static_cast<U>(sign(x) >> n) & limit; }},
        {"shl_const", g.shl(a, 3), [&](U x, U, U, U) { return x << 3 & limit; }},
        {"shr_const", g.shr(a, 3), [&](U x, U, U, U) { return x >> 3; }},
        {"sar_const", g.sar(a, 3), [&](U x, U, U, U) { return static_cast<U>(sign(x) >> 3) & limit; }},
        {"slice", g.slice(a, width - 1, width / 2), [&](U x, U, U, U) { return x >> (width / 2); }},
        {"concat", g.concat(a, s), [&](U x, U, U, U n) { return x << 6 | n; }},
        {"zext", g.zext(a, 40), [&](U x, U, U, U) { return x; }},
        {"sext", g.sext(a, 40), [&](U x, U, U, U) { return static_cast<U>(sign(x)) & 0xFFFFFFFFFFULL; }},
        {"mux", g.mux(g.slice(s, 1, 0), std::array{a, b, g.not_(a), g.constant(mask)}),
         [&](U x, U y, U, U n) {
           return std::array<U, 4>{x, y, ~x & limit, m}[n & 3];
         }},
    };
    for (const auto& row : rows) g.output(row.name + "_o", row.node);
    for (int round = 0; round < 200; ++round) {
      const std::uint64_t x = rng() & limit;
      const std::uint64_t y = round % 5 == 0 ? x : rng() & limit;
      const std::uint64_t k = rng() & 1;
      const std::uint64_t n = rng() & 63;
      const auto out = evaluate(g, std::array{BitVec(width, x), BitVec(width, y), BitVec(1, k), BitVec(6, n)});
      for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK_MESSAGE(out[i].to_uint64() == rows[i].expected(x, y, k, n), rows[i].name);
      }
    }
  }
}

TEST_CASE("graph: table look-up") {
  Graph g("g");
  const NodeId index = g.input("index_i", 7);
  std::vector<BitVec> entries;
  for (unsigned i = 0; i < 128; ++i) entries.emplace_back(11, i * i);
  g.output("o", g.table(index, entries));
  for (unsigned i = 0; i < 128; ++i) CHECK(evaluate(g, std::array{BitVec(7, i)})[0] == entries[i]);
}

TEST_CASE("graph: column sums and carry-save compression keep the sum") {
  std::mt19937_64 rng(0x5A);
  for (int round = 0; round < 60; ++round) {
    const int width = 1 + static_cast<int>(rng() % 12);
    const bool wrap = width > 2 && round % 2 == 0;
    Graph g("g");
    const NodeId in = g.input("in_i", 100);
    std::vector<std::vector<NodeId>> columns(static_cast<std::size_t>(width));
    std::vector<int> weight(100, -1);
    for (int i = 0; i < 100; ++i) {
      if (rng() % 3 == 0) continue;
      const auto column = rng() % static_cast<unsigned>(width);
      weight[static_cast<std::size_t>(i)] = static_cast<int>(column);
      columns[column].push_back(g.bit(in, i));
    }
    auto compressed = columns;
    compress_columns(g, compressed, wrap);
    std::vector<int> column_of;
    for (std::size_t c = 0; c < compressed.size(); ++c) {
      CHECK(compressed[c].size() <= 2);
      for (const auto n : compressed[c]) {
        g.output(fmt::format("o{}_o", column_of.size()), n);
        column_of.push_back(static_cast<int>(c));
      }
    }
    g.output("sum_o", sum_columns(g, columns, width));
    const BitVec value = sample::random_vec(rng, 100);
    std::uint64_t sum = 0;
    for (int i = 0; i < 100; ++i) {
      if (weight[static_cast<std::size_t>(i)] >= 0 && value.bit(i)) sum += 1ULL << weight[static_cast<std::size_t>(i)];
    }
    const auto out = evaluate(g, std::array{value});
    std::uint64_t again = 0;
    for (std::size_t i = 0; i < column_of.size(); ++i) again += out[i].to_uint64() << column_of[i];
    const std::uint64_t modulus = (1ULL << width) - (wrap ? 1 : 0);
    CHECK(again % modulus == sum % modulus);
    if (wrap) CHECK((again == 0) == (sum == 0));  // one's complement has two zeros: only nothing gives the first
    CHECK(out.back().to_uint64() == sum % (1ULL << width));
  }
}

TEST_CASE("graph: faults name the operator and what is wrong") {
  Graph g("g");
  const NodeId a = g.input("a_i", 8);
  const NodeId b = g.input("b_i", 9);
  CHECK(has(fault_of([&] { g.add(a, b); }), "add: arguments of 8 and 9 bits"));
  CHECK(has(fault_of([&] { g.sub(a, b); }), "sub:"));
  CHECK(has(fault_of([&] { g.add_carry(a, a, a); }), "the carry is 8 bits wide"));
  CHECK(has(fault_of([&] { g.mul(a, BitVec(9)); }), "factor of 9 bits"));
  CHECK(has(fault_of([&] { g.xor_(a, b); }), "xor:"));
  CHECK(has(fault_of([&] { g.xor_n({}); }), "at least one argument"));
  CHECK(has(fault_of([&] { g.concat(std::span<const NodeId>{}); }), "at least one argument"));
  CHECK(has(fault_of([&] { g.xor_reduce(a, BitVec(7)); }), "mask of 7 bits"));
  CHECK(has(fault_of([&] { g.eq(a, b); }), "eq:"));
  CHECK(has(fault_of([&] { g.slt(a, b); }), "slt:"));
  CHECK(has(fault_of([&] { g.select(a, a, a); }), "an index of 8 bits needs 256 choices, not 2"));
  CHECK(has(fault_of([&] { g.mux(g.bit(a, 0), std::array{a, b}); }), "mux:"));
  CHECK(has(fault_of([&] { g.shl(a, -1); }), "negative amount"));
  CHECK(has(fault_of([&] { g.shl(a, g.input("wide_i", 17)); }), "an amount of 17 bits"));
  CHECK(has(fault_of([&] { g.shl(a, b, 20); }), "scale 20"));
  CHECK(has(fault_of([&] { g.slice(a, 8, 0); }), "[8:0] of an argument of 8 bits"));
  CHECK(has(fault_of([&] { g.slice(a, 1, 2); }), "[1:2]"));
  CHECK(has(fault_of([&] { g.zext(a, 7); }), "to 7 bits from 8"));
  CHECK(has(fault_of([&] { g.sext(a, 7); }), "sext:"));
  CHECK(has(fault_of([&] { g.zext(a, kMaxWidth + 1); }), "result of 4097 bits"));
  CHECK(has(fault_of([&] { g.table(a, std::array{BitVec(3)}); }), "needs 256 entries"));
  CHECK(has(fault_of([&] { g.table(a, std::array{BitVec(3), BitVec(4)}); }), "differ in width"));
  CHECK(has(fault_of([&] { g.table(a, std::span<const BitVec>{}); }), "no entries"));
  CHECK(has(fault_of([&] { g.not_(NodeId{}); }), "node -1 is not in graph 'g'"));
  CHECK(has(fault_of([&] { g.not_(NodeId{1000}); }), "node 1000"));
  CHECK(has(fault_of([&] { g.apply(find_operator("input"), {}); }), "Graph::input only"));
  CHECK(has(fault_of([&] { g.apply(find_operator("not"), std::array{a, a}); }), "not: takes 1 arguments, not 2"));
  CHECK(has(fault_of([&] { g.apply(find_operator("zext"), std::array{a}); }), "attribute 0 is missing"));
  CHECK(has(fault_of([&] { (void)find_operator("frob"); }), "no operator 'frob'"));
  CHECK(has(fault_of([&] { g.input("a_i", 8); }), "exists"));
  CHECK(has(fault_of([&] { g.input("clk", 1); }), "cannot name an input"));
  CHECK(has(fault_of([&] { g.input("x_i", 0); }), "0 bits wide"));
  CHECK(has(fault_of([&] { g.input("x_i", kMaxWidth + 1); }), "4097 bits wide"));
  CHECK(has(fault_of([&] { g.output("2x", a); }), "cannot name an output"));
  CHECK(has(fault_of([&] { g.output("a_i", a); }), "exists"));
  CHECK(has(fault_of([&] { g.label(a, "module"); }), "cannot label"));
  CHECK(has(fault_of([&] { g.label(a, "x_s1_q"); }), "cannot label"));
  for (const char* word : {"accept_on", "module", "logic", "until", "xor", "0a", "", "a-b", "_a"})
    CHECK_FALSE(is_identifier(word));
  for (const char* word : {"a", "logics", "data_i", "n0"}) CHECK(is_identifier(word));
  CHECK(has(fault_of([&] { Graph("module"); }), "cannot name a module"));
  CHECK(has(fault_of([&] { evaluate(g, std::array{BitVec(8)}); }), "inputs, 1 values"));
}

TEST_CASE("evaluate: by name, and faults") {
  Graph g("g");
  const NodeId a = g.input("a_i", 8);
  g.output("o", g.not_(a));
  CHECK(evaluate(g, std::map<std::string, BitVec>{{"a_i", BitVec(8, 1)}}).at("o") == BitVec(8, 0xFE));
  CHECK(has(fault_of([&] { evaluate(g, std::map<std::string, BitVec>{}); }), "input 'a_i' has no value"));
  CHECK(has(fault_of([&] { evaluate(g, std::array{BitVec(7)}); }), "is 8 bits wide, the value 7"));
}
