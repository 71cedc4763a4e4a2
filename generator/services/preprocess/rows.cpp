#include "generator/services/preprocess/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>

#include "generator/dataflow/evaluate.h"
#include "generator/dataflow/passes.h"
#include "generator/services/preprocess/logarithm.h"

namespace rocegen::preprocess {

namespace {

using dataflow::BitVec;
using dataflow::Graph;
using dataflow::NodeId;
using dataflow::Type;
using dataflow::Typed;
using dataflow::Value;

constexpr std::uint64_t kHashFactor = 0x9ddfea08eb382d69;  // of hash128to64
constexpr Type kWord{32, false};

int bits_for(int values) { return std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(values - 1)))); }

bool power_of_two(std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); }

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

/// What a column's chain looks like apart from the numbers that a table can give.
std::string shape(const Column& column) {
  std::string out = column.kind == ColumnKind::dense ? "s" : "u";
  for (const Operation& o : column.operations) {
    out += fmt::format(" {}", to_string(o.op));
    switch (o.op) {
      case Operator::bucketize:
        out += fmt::format(" {}", o.numbers.size());
        break;
      case Operator::shift:
      case Operator::scale:
        out += fmt::format(" {} {} {}", o.numbers[0], o.numbers.back(), o.type.text());
        break;
      default:
        break;
    }
  }
  return out;
}

/// Builds the operators of columns of one shape, one of them at a time in force: the one of slot `slot`.
class Chain {
 public:
  /// `columns`: by slot; of slots that never ask, any of the shape.
  Chain(Typed& typed, Graph& graph, std::optional<Value> slot, std::vector<const Column*> columns)
      : t_(typed), g_(graph), slot_(slot), columns_(std::move(columns)) {}

  Value build(Value word) {
    Value x = columns_[0]->kind == ColumnKind::dense ? t_.wrap(word, {32, true}) : word;
    for (std::size_t i = 0; i < columns_[0]->operations.size(); ++i) x = step(x, i);
    return t_.wrap(x, kWord);
  }

 private:
  /// Number `n` of operation `i`, by slot.
  std::vector<std::int64_t> numbers(std::size_t i, std::size_t n) const {
    std::vector<std::int64_t> out;
    for (const Column* c : columns_) out.push_back(c->operations[i].numbers[n]);
    return out;
  }

  /// The entry of the slot.
  Value pick(const std::vector<std::int64_t>& entries, Type type) {
    const bool same = std::all_of(entries.begin(), entries.end(), [&](std::int64_t e) { return e == entries[0]; });
    if (same || !slot_) return t_.constant(type, BitVec(type.width, static_cast<std::uint64_t>(entries[0])));
    std::vector<BitVec> table;
    for (int s = 0; s < 1 << slot_->type.width; ++s)
      table.emplace_back(type.width, static_cast<std::uint64_t>(entries[std::min(idx(s), entries.size() - 1)]));
    return t_.table(*slot_, type, table);
  }
  Value pick(const std::vector<std::int64_t>& entries) {
    const auto [low, high] = std::minmax_element(entries.begin(), entries.end());
    const auto magnitude = static_cast<std::uint64_t>(std::max(*high, ~*low));
    return pick(entries, {static_cast<int>(std::bit_width(*low < 0 ? magnitude : static_cast<std::uint64_t>(*high))) +
                              (*low < 0     ? 1
                               : *high == 0 ? 1
                                            : 0),
                          *low < 0});
  }

  /// One of several values, each made of one number.
  template <typename Make>
  Value choose(const std::vector<std::int64_t>& entries, Make&& make) {
    std::vector<std::int64_t> different;
    std::vector<std::int64_t> which;
    for (const std::int64_t e : entries) {
      const auto it = std::find(different.begin(), different.end(), e);
      which.push_back(it - different.begin());
      if (it == different.end()) different.push_back(e);
    }
    std::vector<Value> values;
    for (const std::int64_t e : different) values.push_back(make(e));
    if (values.size() == 1) return values[0];
    const Type index{bits_for(static_cast<int>(values.size())), false};
    while (values.size() < std::size_t{1} << index.width) values.push_back(values.back());
    return t_.mux(pick(which, index), values);
  }

  Value step(Value x, std::size_t i) {
    const Operation& o = columns_[0]->operations[i];
    switch (o.op) {
      case Operator::fill_null: {
        auto null = numbers(i, 0);
        for (auto& n : null) n &= 0xffffffff;
        return t_.wrap(t_.select(t_.eq(t_.wrap(x, kWord), pick(null, kWord)), pick(numbers(i, 1)), x), x.type);
      }
      case Operator::neg2zero:
        return t_.max(std::array{x, t_.constant(0)});
      case Operator::clamp:
        return t_.min(std::array{t_.max(std::array{x, pick(numbers(i, 0))}), pick(numbers(i, 1))});
      case Operator::log:
        return build_log(t_, t_.add(x, pick(numbers(i, 0))));
      case Operator::modulus: {
        const Value word = t_.wrap(x, kWord);
        return remainder(numbers(i, 0), word, [&](std::int64_t m) { return t_.mod(word, t_.constant(m)); });
      }
      case Operator::sigrid_hash: {
        const Value hash = sigrid_hash(t_.wrap(x, {64, false}), numbers(i, 0));
        return remainder(numbers(i, 1), hash, [&](std::int64_t m) { return floor_mod(hash, m); });
      }
      case Operator::bucketize: {
        std::vector<Value> below;
        for (std::size_t n = 0; n < o.numbers.size(); ++n) below.push_back(t_.lt(pick(numbers(i, n)), x));
        return t_.popcount(t_.concat(below));
      }
      case Operator::shift:
        if (o.numbers[0] < 0) return t_.shr(x, t_.constant(-o.numbers[0]));
        return t_.saturate(t_.shl(x, t_.constant(o.numbers[0])), {32, x.type.is_signed});
      case Operator::scale:
        return i > 0 && makes_real(i - 1) ? scale_real(x, o) : scaled(x, o, o.numbers[1]);
      case Operator::float32:
        return float32(x);
      case Operator::bfloat16: {
        // To the nearest, ties to even. Neither NaN nor infinity changes.
        const Value last = t_.slice(x, 16, 16);
        return t_.slice(t_.sum(std::array{x, t_.constant(0x7fff), last}), 31, 16);
      }
    }
    throw std::logic_error("an operator without hardware");
  }

  bool makes_real(std::size_t i) const {
    const Operator op = columns_[0]->operations[i].op;
    return op == Operator::log || op == Operator::float32;
  }

  /// x modulo the slot's number; powers of two by one mask.
  template <typename Make>
  Value remainder(const std::vector<std::int64_t>& moduli, Value x, Make&& make) {
    const std::int64_t most = *std::max_element(moduli.begin(), moduli.end());
    const Type type{std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most - 1)))), false};
    if (std::all_of(moduli.begin(), moduli.end(), power_of_two)) {
      auto masks = moduli;
      for (auto& m : masks) --m;
      return t_.and_(std::array{t_.wrap(x, type), pick(masks, type)});
    }
    return choose(moduli, [&](std::int64_t m) {
      return power_of_two(m) ? t_.and_(std::array{t_.wrap(x, type), t_.constant(m - 1)}) : t_.wrap(make(m), type);
    });
  }

  /// hash128to64(salt, twang_mix64(x)) of folly, modulo 2^64.
  Value sigrid_hash(Value x, const std::vector<std::int64_t>& salts) {
    const BitVec factor(64, kHashFactor);
    const auto fold = [this](NodeId v, int by) { return g_.xor_(v, g_.shr(v, by)); };
    NodeId key = x.node;
    key = fold(g_.add(g_.not_(key), g_.shl(key, 21)), 24);
    key = fold(g_.sum(std::array{key, g_.shl(key, 3), g_.shl(key, 8)}), 14);
    key = fold(g_.sum(std::array{key, g_.shl(key, 2), g_.shl(key, 4)}), 28);
    key = g_.add(key, g_.shl(key, 31));
    const NodeId salt = pick(salts, {64, false}).node;
    const NodeId a = fold(g_.mul(g_.xor_(key, salt), factor), 47);
    const NodeId b = fold(g_.mul(g_.xor_(salt, a), factor), 47);
    return {g_.mul(b, factor), {64, false}};
  }

  /// Of a hash as a signed number, 0..m-1.
  Value floor_mod(Value hash, std::int64_t m) {
    const auto below = static_cast<std::int64_t>((~std::uint64_t{0} % static_cast<std::uint64_t>(m) + 1) %
                                                 static_cast<std::uint64_t>(m));  // 2^64 mod m
    const Value rest = t_.mod(hash, t_.constant(m));
    const Value less = t_.lt(rest, t_.constant(below));
    const Value moved = t_.sub(t_.add(rest, t_.select(less, t_.constant(m), t_.constant(0))), t_.constant(below));
    return t_.wrap(t_.select(t_.slice(hash, 63, 63), moved, rest), {33, false});
  }

  Value scaled(Value x, const Operation& o, std::int64_t shift) {
    Value product = t_.mul(x, t_.constant(o.numbers[0]));
    if (shift > 0) product = t_.shr(t_.add(product, t_.constant(std::int64_t{1} << (shift - 1))), t_.constant(shift));
    return t_.saturate(product, o.type);
  }

  /// Of a logarithm: 0, or 0.5 to below 64, or minus infinity, or NaN (which becomes 0).
  Value scale_real(Value x, const Operation& o) {
    const Value exponent = t_.slice(x, 30, 23);
    const Value some = t_.ne(exponent, t_.constant(0));
    const Value mantissa = t_.wrap(t_.concat(std::array{some, t_.slice(x, 22, 0)}), {30, false});
    // 126 stands for 0.5: what lies above are the places to the left of a fraction of 24 bits.
    const Value places = t_.wrap(t_.sub(t_.slice(exponent, 2, 0), t_.constant(6)), {3, false});
    const Value number = scaled(t_.shl(mantissa, places), o, o.numbers[1] + 24);
    const Value least = t_.saturate(t_.constant({33, true}, BitVec(33, std::uint64_t{1} << 32)), o.type);
    const Value special = t_.eq(exponent, t_.constant(255));
    const Value instead = t_.select(t_.slice(x, 31, 31), least, t_.constant(o.type, BitVec(o.type.width)));
    return t_.select(special, instead, number);
  }

  /// To the nearest, ties to even.
  Value float32(Value x) {
    const Value magnitude = t_.abs(x);
    const int width = std::max(magnitude.type.width, 26);
    const auto [mantissa, shift] = normalise(t_, t_.wrap(magnitude, {width, false}));
    const int low = width - 24;  // bits below the 24 that are kept
    const Value kept = t_.slice(mantissa, width - 2, low);
    const Value rest = t_.slice(mantissa, low - 1, 0);
    const Value half = t_.slice(mantissa, low - 1, low - 1);
    const Value tie = t_.eq(rest, t_.constant(std::int64_t{1} << (low - 1)));
    const Value up =
        t_.and_(std::array{half, t_.not_(t_.and_(std::array{tie, t_.not_(t_.slice(mantissa, low, low))}))});
    const Value exponent = t_.wrap(t_.sub(t_.constant(127 + width - 1), shift), {8, false});
    const Value packed = t_.wrap(t_.add(t_.concat(std::array{exponent, kept}), up), {31, false});
    const Value sign = x.type.is_signed ? t_.lt(x, t_.constant(0)) : t_.constant({1, false}, BitVec(1));
    const Value none = t_.eq(magnitude, t_.constant(0));
    return t_.select(none, t_.constant(kWord, BitVec(32)), t_.concat(std::array{sign, packed}));
  }

  Typed& t_;
  Graph& g_;
  std::optional<Value> slot_;
  std::vector<const Column*> columns_;
};

/// Bytes of output of the first `words` words of a message.
Value length_of(Typed& t, const Layout& layout, Value words) {
  const int row = layout.row_words();
  const Value rows = t.div(words, t.constant(row));
  Value bytes = t.mul(rows, t.constant(layout.row_bytes()));
  if (row == 1) return bytes;
  const Value rest = t.mod(words, t.constant(row));
  const int width = static_cast<int>(std::bit_width(static_cast<unsigned>(layout.row_bytes())));
  std::vector<BitVec> table;
  for (int i = 0; i < 1 << rest.type.width; ++i)
    table.emplace_back(width, static_cast<std::uint64_t>(layout.bytes_after(std::min(i, row - 1))));
  return t.add(bytes, t.table(rest, {width, false}, table));
}

}  // namespace

Geometry::Geometry(const Layout& layout, int data_width)
    : lanes(data_width / 32),
      row(layout.row_words()),
      group(std::gcd(lanes, row)),
      phases(row / group),
      phase_bits(bits_for(phases)) {
  for (const int column : layout.output) unit = std::min(unit, layout.columns[idx(column)].bytes);
}

Graph lane_graph(const Layout& layout, const Geometry& geometry, int remainder, std::string name) {
  Graph g(std::move(name), "the operators of the columns that a lane sees.");
  Typed t(g);
  const Value word{g.input("word_i", 32, "a word of a row."), kWord};
  std::optional<Value> slot;
  if (geometry.phases > 1)
    slot = Value{g.input("slot_i", geometry.phase_bits, "which of its columns."), {geometry.phase_bits, false}};
  // Columns of one shape are one chain.
  std::vector<std::string> shapes;
  std::vector<std::vector<const Column*>> members;
  std::vector<int> chain_of;  // by slot; of columns that are left out, the first
  for (int s = 0; s < geometry.phases; ++s) {
    const Column& column = layout.columns[idx(s * geometry.group + remainder)];
    if (column.bytes == 0) {
      chain_of.push_back(-1);
      continue;
    }
    const std::string key = shape(column);
    const auto it = std::find(shapes.begin(), shapes.end(), key);
    const auto at = static_cast<std::size_t>(it - shapes.begin());
    if (it == shapes.end()) {
      shapes.push_back(key);
      members.emplace_back(idx(geometry.phases), &column);
    }
    members[at][idx(s)] = &column;
    chain_of.push_back(static_cast<int>(at));
  }
  std::vector<Value> results;
  for (auto& columns : members) results.push_back(Chain(t, g, slot, columns).build(word));
  Value out = results[0];
  if (results.size() > 1) {
    const int bits = bits_for(static_cast<int>(results.size()));
    while (results.size() < std::size_t{1} << bits) results.push_back(results[0]);
    std::vector<BitVec> table;
    for (int s = 0; s < 1 << geometry.phase_bits; ++s)
      table.emplace_back(bits,
                         static_cast<std::uint64_t>(std::max(0, chain_of[std::min(idx(s), chain_of.size() - 1)])));
    out = t.mux(t.table(*slot, {bits, false}, table), results);
  }
  g.output("word_o", out.node, "its bytes in the output, from bit 0.");
  return g;
}

Graph column_graph(const Column& column) {
  Layout layout;
  layout.columns = {column};
  layout.output = {0};
  return lane_graph(layout, Geometry(layout, 32), 0, "pre_column");
}

Graph pack_graph(const Layout& layout, const Geometry& geometry) {
  Graph g("pre_pack", "puts the results of a beat's lanes together.");
  Typed t(g);
  const int words_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(geometry.lanes)));
  const NodeId lanes = g.input("lanes_i", geometry.lanes * 32, "a word of each lane.");
  const Value phase{g.input("phase_i", geometry.phase_bits, "position of the beat in the row, in groups of words."),
                    {geometry.phase_bits, false}};
  const Value words{g.input("words_i", words_bits, "words of the beat that are there."), {words_bits, false}};

  // What stands at which place of the output, by phase.
  const int unit = geometry.unit;
  const int places = geometry.lanes * 4 / unit;
  std::vector<std::vector<int>> source(idx(places));  // number of the unit among all of the lanes, -1 for none
  for (int p = 0; p < geometry.phases; ++p) {
    int at = 0;
    for (int block = 0; block < geometry.lanes / geometry.group; ++block) {
      const int first = (p + block) % geometry.phases * geometry.group;  // column
      for (const int column : layout.output) {
        if (column < first || column >= first + geometry.group) continue;
        const int lane = block * geometry.group + column - first;
        for (int b = 0; b < layout.columns[idx(column)].bytes / unit; ++b)
          source[idx(at++)].push_back(lane * 4 / unit + b);
      }
    }
    for (auto& place : source) place.resize(idx(p + 1), -1);
  }
  std::vector<NodeId> parts;
  for (const auto& place : source) {
    std::vector<int> different;
    for (const int s : place)
      if (s >= 0 && std::find(different.begin(), different.end(), s) == different.end()) different.push_back(s);
    if (different.empty()) {
      parts.push_back(g.constant(8 * unit, 0));
      continue;
    }
    std::vector<Value> choices;
    for (const int s : different)
      choices.push_back({g.slice(lanes, (s + 1) * 8 * unit - 1, s * 8 * unit), {8 * unit, false}});
    if (choices.size() == 1) {
      parts.push_back(choices[0].node);
      continue;
    }
    const int bits = bits_for(static_cast<int>(choices.size()));
    while (choices.size() < std::size_t{1} << bits) choices.push_back(choices[0]);
    std::vector<BitVec> table;
    for (int p = 0; p < 1 << geometry.phase_bits; ++p) {
      const auto it = std::find(different.begin(), different.end(), place[std::min(idx(p), place.size() - 1)]);
      table.emplace_back(bits, it == different.end() ? 0 : static_cast<std::uint64_t>(it - different.begin()));
    }
    parts.push_back(t.mux(t.table(phase, {bits, false}, table), choices).node);
  }
  std::reverse(parts.begin(), parts.end());
  g.output("data_o", g.concat(parts), "the output, from byte 0.");

  // Bytes of output up to a word of the row or of those behind it, minus those in front of the beat.
  const int bytes_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(geometry.lanes * 4)));
  const Value begin = t.mul(phase, t.constant(geometry.group));
  const Value end = t.add(begin, words);
  const auto so_far = [&](int word) {
    return static_cast<std::uint64_t>(layout.length(4 * static_cast<std::uint64_t>(word)));
  };
  const auto look_up = [&](Value at) {
    std::vector<BitVec> table;
    for (int w = 0; w < 1 << at.type.width; ++w) table.emplace_back(bytes_bits, so_far(w));  // modulo: a difference
    return t.table(at, {bytes_bits, false}, table);
  };
  const int last = geometry.row - geometry.group + geometry.lanes;
  const Value at_end = t.wrap(end, {static_cast<int>(std::bit_width(static_cast<unsigned>(last))), false});
  const Value at_begin =
      t.wrap(begin, {std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(geometry.row - 1)))), false});
  g.output("bytes_o", t.wrap(t.sub(look_up(at_end), look_up(at_begin)), {bytes_bits, false}).node, "its bytes.");
  return g;
}

Graph span_graph(const Layout& layout, const Geometry& geometry) {
  Graph g("pre_span", "position of a packet in its row, and what becomes of its address and length.");
  Typed t(g);
  const Value words{g.input("words_i", kWordsBits, "words of the message in front of the packet."),
                    {kWordsBits, false}};
  const Value bytes{g.input("bytes_i", 14, "bytes of the packet."), {14, false}};
  const Value addr{g.input("addr_i", 64, "address that its first byte would have."), {64, false}};
  const Value end = t.wrap(t.add(words, t.shr(bytes, t.constant(2))), {kWordsBits, false});
  const Value before = length_of(t, layout, words);
  const Value after = length_of(t, layout, end);
  Value phase = t.constant(0);
  if (geometry.phases > 1)
    phase = t.mod(t.shr(words, t.constant(std::countr_zero(static_cast<unsigned>(geometry.group)))),
                  t.constant(geometry.phases));
  const Value gone = t.wrap(t.sub(t.shl(words, t.constant(2)), before), {32, false});
  const Value inside = t.or_(std::array{t.any(t.slice(bytes, 1, 0)), t.any(t.mod(end, t.constant(geometry.row)))});
  g.output("phase_o", t.wrap(phase, {geometry.phase_bits, false}).node, "its position, in groups of words.");
  g.output("addr_o", t.wrap(t.sub(addr, gone), {64, false}).node, "address of the first byte of its output.");
  g.output("bytes_o", t.wrap(t.sub(after, before), {14, false}).node, "bytes of its output.");
  g.output("inside_o", inside.node, "it ends within a row.");
  return g;
}

Graph length_graph(const Layout& layout) {
  Graph g("pre_length", "bytes of the output of a message.");
  Typed t(g);
  const Value bytes{g.input("bytes_i", 32, "bytes of the message."), {32, false}};
  g.output("bytes_o", t.wrap(length_of(t, layout, t.shr(bytes, t.constant(2))), {32, false}).node,
           "bytes of its output.");
  return g;
}

namespace {

dataflow::CompiledModule compiled(const Graph& graph, const dataflow::Options& options) {
  return dataflow::compile(dataflow::optimise(graph), options);
}

/// pre_rows: lanes of equal latency, which column each sees, and the packing.
std::string rows_text(const Geometry& geo, const RowModules& rows, int pack_latency) {
  const int words_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(geo.lanes)));
  const int bytes_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(geo.lanes * 4)));
  const int lanes_latency = rows.latency - pack_latency;
  std::string out = fmt::format(
      "// pre_rows: what becomes of a beat of rows; written by rocegen, one beat a cycle, no stalls.\n"
      "//\n"
      "// data_i holds {lanes} words that begin at word phase_i * {group} of a row of {row}; words_i of them are "
      "there.\n"
      "// {latency} cycles later data_o has their output, from byte 0, and bytes_o how many bytes that are.\n"
      "`default_nettype none\n\n"
      "module pre_rows (\n"
      "  input  logic           clk,\n"
      "  input  logic [{data}:0] data_i,\n"
      "  input  logic [{phase}:0] phase_i,\n"
      "  input  logic [{words}:0] words_i,\n"
      "  output logic [{data}:0] data_o,\n"
      "  output logic [{bytes}:0] bytes_o\n"
      ");\n\n"
      "  logic [{data}:0] lanes;\n"
      "  logic [{phase}:0] pack_phase;\n"
      "  logic [{words}:0] pack_words;\n\n",
      fmt::arg("lanes", geo.lanes), fmt::arg("group", geo.group), fmt::arg("row", geo.row),
      fmt::arg("latency", rows.latency), fmt::arg("data", geo.lanes * 32 - 1), fmt::arg("phase", geo.phase_bits - 1),
      fmt::arg("words", words_bits - 1), fmt::arg("bytes", bytes_bits - 1));
  for (int block = 0; geo.phases > 1 && block < geo.lanes / geo.group; ++block) {
    const int step = block % geo.phases;
    out += fmt::format("  logic [{}:0] slot_{};\n", geo.phase_bits - 1, block);
    if (step == 0) {
      out += fmt::format("  assign slot_{} = phase_i;\n", block);
    } else {
      out += fmt::format("  assign slot_{0} = phase_i >= {1}'d{2} ? phase_i - {1}'d{2} : phase_i + {1}'d{3};\n", block,
                         geo.phase_bits, geo.phases - step, step);
    }
  }
  std::string unused;
  for (int lane = 0; lane < geo.lanes; ++lane) {
    const int module = rows.lane_module[idx(lane % geo.group)];
    const std::string range = fmt::format("[{}:{}]", lane * 32 + 31, lane * 32);
    if (module < 0) {
      out += fmt::format("  assign lanes{} = 32'd0;\n", range);
      unused += (unused.empty() ? "data_i" : ", data_i") + range;
      continue;
    }
    const dataflow::CompiledModule& m = rows.modules[idx(module)];
    out += fmt::format(
        "\n  logic [31:0] lane_{};\n  {} u_lane_{} (\n    .clk(clk),\n    .ce_i(1'b1),\n    .word_i(data_i{}),\n", lane,
        m.name, lane, range);
    if (geo.phases > 1) out += fmt::format("    .slot_i(slot_{}),\n", lane / geo.group);
    out += fmt::format("    .word_o(lane_{})\n  );\n", lane);
    out += fmt::format(
        "  delay_line #(\n    .Width(32),\n    .Stages({})\n  ) u_wait_{} (\n    .clk(clk),\n    .d_i(lane_{}),\n"
        "    .q_o(lanes{})\n  );\n",
        lanes_latency - m.latency, lane, lane, range);
  }
  out += fmt::format(
      "\n  delay_line #(\n    .Width({0}),\n    .Stages({1})\n  ) u_wait (\n    .clk(clk),\n    .d_i({{phase_i, "
      "words_i}}),\n"
      "    .q_o({{pack_phase, pack_words}})\n  );\n\n"
      "  pre_pack u_pack (\n    .clk(clk),\n    .ce_i(1'b1),\n    .lanes_i(lanes),\n    .phase_i(pack_phase),\n"
      "    .words_i(pack_words),\n    .data_o(data_o),\n    .bytes_o(bytes_o)\n  );\n",
      geo.phase_bits + words_bits, lanes_latency);
  if (!unused.empty())
    out +=
        fmt::format("\n  // Nothing of these columns is left.\n  logic unused;\n  assign unused = ^{{{}}};\n", unused);
  return out + "\nendmodule\n\n`default_nettype wire\n";
}

}  // namespace

RowModules compile_rows(const Layout& layout, int data_width, int level_budget) {
  const Geometry geo(layout, data_width);
  dataflow::Options options;
  options.level_budget = level_budget;
  RowModules out;
  // Lanes whose columns have the same operators are one module.
  std::vector<std::vector<Column>> seen;
  std::vector<int> module_of;
  for (int k = 0; k < geo.group; ++k) {
    std::vector<Column> columns;
    bool any = false;
    for (int s = 0; s < geo.phases; ++s) {
      columns.push_back(layout.columns[idx(s * geo.group + k)]);
      any = any || columns.back().bytes > 0;
      columns.back().number = 0;
    }
    if (!any) {
      out.lane_module.push_back(-1);
      continue;
    }
    const auto same = [&](const std::vector<Column>& other) {
      return std::equal(other.begin(), other.end(), columns.begin(), [](const Column& a, const Column& b) {
        return a.bytes == b.bytes && (a.bytes == 0 || (a.operations == b.operations &&
                                                       (a.kind == ColumnKind::dense) == (b.kind == ColumnKind::dense)));
      });
    };
    const auto it = std::find_if(seen.begin(), seen.end(), same);
    if (it != seen.end()) {
      out.lane_module.push_back(module_of[static_cast<std::size_t>(it - seen.begin())]);
      continue;
    }
    seen.push_back(columns);
    module_of.push_back(static_cast<int>(out.modules.size()));
    out.lane_module.push_back(module_of.back());
    dataflow::Options lane = options;
    lane.input_levels = geo.phases > 1 && level_budget > 3 ? 2 : 0;  // the number of the column
    out.modules.push_back(compiled(lane_graph(layout, geo, k, fmt::format("pre_lane_{}", module_of.back())), lane));
    // Many lanes are one module: the simulator shall not write its code for each of them.
    std::string& text = out.modules.back().systemverilog;
    text.insert(text.find(");\n") + 3, "\n  /* verilator no_inline_module */\n");
    out.latency = std::max(out.latency, out.modules.back().latency);
  }
  dataflow::CompiledModule pack = compiled(pack_graph(layout, geo), options);
  const int pack_latency = pack.latency;
  out.latency += pack_latency;
  int levels = 0;
  for (const auto& m : out.modules) levels = std::max(levels, m.levels);
  levels = std::max(levels, pack.levels);
  out.modules.push_back(std::move(pack));
  dataflow::CompiledModule rows;
  rows.name = "pre_rows";
  rows.latency = out.latency;
  rows.levels = levels;
  rows.systemverilog = rows_text(geo, out, pack_latency);
  out.modules.push_back(std::move(rows));
  options.elastic = true;
  out.modules.push_back(compiled(span_graph(layout, geo), options));
  out.span_latency = out.modules.back().latency;
  out.modules.push_back(compiled(length_graph(layout), options));
  out.length_latency = out.modules.back().latency;
  return out;
}

std::vector<std::uint8_t> evaluate_rows(const Layout& layout, std::span<const std::uint32_t> words) {
  std::vector<Graph> graphs;
  for (const Column& column : layout.columns) graphs.push_back(column_graph(column.bytes > 0 ? column : Column{}));
  std::vector<std::uint8_t> out;
  const auto row = idx(layout.row_words());
  for (std::size_t first = 0; first < words.size(); first += row) {
    for (const int column : layout.output) {
      if (first + idx(column) >= words.size()) break;
      const auto result = dataflow::evaluate(graphs[idx(column)], std::array{BitVec(32, words[first + idx(column)])});
      for (int b = 0; b < layout.columns[idx(column)].bytes; ++b)
        out.push_back(static_cast<std::uint8_t>(result[0].low64() >> (8 * b)));
    }
  }
  return out;
}

}  // namespace rocegen::preprocess
