#include "generator/dataflow/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

#include "generator/spec/keywords.h"

namespace rocegen::dataflow {

namespace {

std::size_t hash_node(const Operator& op, std::span<const NodeId> args, const Attributes& attrs) {
  std::size_t h = std::hash<std::string_view>{}(op.name());
  const auto mix = [&h](std::size_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ULL + (h >> 31); };
  for (const auto a : args) mix(static_cast<std::size_t>(a.index));
  for (const auto n : attrs.numbers) mix(static_cast<std::size_t>(n));
  mix(attrs.bits.hash());
  return h;
}

}  // namespace

bool is_identifier(std::string_view text) {
  if (text.empty() || (std::isalpha(static_cast<unsigned char>(text[0])) == 0)) return false;
  const bool legal = std::all_of(text.begin(), text.end(),
                                 [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  return legal && !spec::is_keyword(text);
}

Graph::Graph(std::string name, std::string description) : description_(std::move(description)) {
  rename(std::move(name));
}

void Graph::rename(std::string name) {
  if (!is_identifier(name)) throw std::invalid_argument(fmt::format("'{}' cannot name a module", name));
  name_ = std::move(name);
}

NodeId Graph::input(std::string name, int width, std::string doc) {
  if (!is_identifier(name) || name == "clk" || name == "ce_i") {
    throw std::invalid_argument(fmt::format("'{}' cannot name an input", name));
  }
  for (const auto& p : inputs_) {
    if (p.name == name) throw std::invalid_argument(fmt::format("input '{}' exists", name));
  }
  if (width < 1 || width > kMaxWidth) {
    throw std::invalid_argument(fmt::format("input '{}' is {} bits wide, allowed are 1 to {}", name, width, kMaxWidth));
  }
  Attributes attrs;
  attrs.numbers = {static_cast<int>(inputs_.size()), width};
  const NodeId id = insert(ops::input(), {}, std::move(attrs), width);
  inputs_.push_back({std::move(name), id, std::move(doc)});
  return id;
}

void Graph::output(std::string name, NodeId id, std::string doc) {
  node(id);
  if (!is_identifier(name)) throw std::invalid_argument(fmt::format("'{}' cannot name an output", name));
  const auto clash = [&name](const Port& p) { return p.name == name; };
  if (std::any_of(inputs_.begin(), inputs_.end(), clash) || std::any_of(outputs_.begin(), outputs_.end(), clash)) {
    throw std::invalid_argument(fmt::format("port '{}' exists", name));
  }
  outputs_.push_back({std::move(name), id, std::move(doc)});
}

NodeId Graph::constant(const BitVec& value) {
  if (value.width() < 1 || value.width() > kMaxWidth) {
    throw std::invalid_argument(fmt::format("constant of {} bits, allowed are 1 to {}", value.width(), kMaxWidth));
  }
  return insert(ops::constant(), {}, {{}, value}, value.width());
}

NodeId Graph::apply(const Operator& op, std::span<const NodeId> args, Attributes attrs) {
  std::vector<NodeId> sorted(args.begin(), args.end());
  std::vector<int> widths;
  widths.reserve(sorted.size());
  bool all_constant = !sorted.empty();
  for (const auto a : sorted) {
    widths.push_back(node(a).width);
    all_constant = all_constant && constant_value(a) != nullptr;
  }
  const int width = op.result_width(widths, attrs);
  if (width < 1 || width > kMaxWidth) {
    throw std::invalid_argument(fmt::format("{}: result of {} bits, allowed are 1 to {}", op.name(), width, kMaxWidth));
  }
  if (all_constant) {
    std::vector<BitVec> values;
    values.reserve(sorted.size());
    for (const auto a : sorted) values.push_back(*constant_value(a));
    return constant(op.evaluate(values, attrs));
  }
  if (op.commutative()) std::sort(sorted.begin(), sorted.end());
  if (const auto simpler = op.simplify(*this, sorted, attrs)) return *simpler;
  return insert(op, sorted, std::move(attrs), width);
}

NodeId Graph::insert(const Operator& op, std::span<const NodeId> args, Attributes attrs, int width) {
  const std::size_t hash = hash_node(op, args, attrs);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Node& n = nodes_[static_cast<std::size_t>(it->second)];
    if (n.op == &op && std::equal(n.args.begin(), n.args.end(), args.begin(), args.end()) && n.attrs == attrs) {
      return {it->second};
    }
  }
  const NodeId id{size()};
  nodes_.push_back({&op, {args.begin(), args.end()}, std::move(attrs), width});
  by_hash_.emplace(hash, id.index);
  return id;
}

const Node& Graph::node(NodeId id) const {
  if (id.index < 0 || id.index >= size()) {
    throw std::invalid_argument(fmt::format("node {} is not in graph '{}'", id.index, name_));
  }
  return nodes_[static_cast<std::size_t>(id.index)];
}

const BitVec* Graph::constant_value(NodeId id) const {
  const Node& n = node(id);
  return n.op == &ops::constant() ? &n.attrs.bits : nullptr;
}

std::vector<bool> Graph::live() const {
  std::vector<bool> r(nodes_.size(), false);
  for (const auto& p : outputs_) r[static_cast<std::size_t>(p.node.index)] = true;
  for (const auto& p : inputs_) r[static_cast<std::size_t>(p.node.index)] = true;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!r[i]) continue;
    for (const auto a : nodes_[i].args) r[static_cast<std::size_t>(a.index)] = true;
  }
  return r;
}

void Graph::label(NodeId id, std::string text) {
  node(id);
  // Names that end in _q are the registers'.
  if (!is_identifier(text) || text.ends_with("_q")) {
    throw std::invalid_argument(fmt::format("'{}' cannot label a node", text));
  }
  labels_.emplace(id.index, std::move(text));
}

std::string_view Graph::label(NodeId id) const {
  const auto it = labels_.find(id.index);
  return it == labels_.end() ? std::string_view{} : std::string_view{it->second};
}

// ---- operators ----------------------------------------------------------------------------------

NodeId Graph::add(NodeId a, NodeId b) { return apply(find_operator("add"), std::array{a, b}); }
NodeId Graph::sub(NodeId a, NodeId b) { return apply(find_operator("sub"), std::array{a, b}); }
NodeId Graph::add_carry(NodeId a, NodeId b, NodeId carry) {
  return apply(find_operator("add_carry"), std::array{a, b, carry});
}
NodeId Graph::mul(NodeId a, const BitVec& factor) {
  return apply(find_operator("mul_const"), std::array{a}, {{}, factor});
}
NodeId Graph::sum(std::span<const NodeId> args) { return apply(find_operator("sum"), args); }
NodeId Graph::neg(NodeId a) { return sub(constant(width(a), 0), a); }
NodeId Graph::mul(NodeId a, NodeId b) { return apply(find_operator("mul"), std::array{a, b}); }
NodeId Graph::udiv(NodeId a, const BitVec& divisor) {
  return apply(find_operator("udiv_const"), std::array{a}, {{}, divisor});
}
NodeId Graph::urem(NodeId a, const BitVec& divisor) {
  return apply(find_operator("urem_const"), std::array{a}, {{}, divisor});
}
NodeId Graph::umin(NodeId a, NodeId b) { return apply(find_operator("umin"), std::array{a, b}); }
NodeId Graph::umax(NodeId a, NodeId b) { return apply(find_operator("umax"), std::array{a, b}); }
NodeId Graph::smin(NodeId a, NodeId b) { return apply(find_operator("smin"), std::array{a, b}); }
NodeId Graph::smax(NodeId a, NodeId b) { return apply(find_operator("smax"), std::array{a, b}); }
NodeId Graph::abs(NodeId a) { return apply(find_operator("abs"), std::array{a}); }
NodeId Graph::saturate(NodeId a, bool a_signed, int to, bool result_signed) {
  return apply(find_operator("saturate"), std::array{a}, {{to, a_signed ? 1 : 0, result_signed ? 1 : 0}, {}});
}
NodeId Graph::and_n(std::span<const NodeId> args) { return apply(ops::and_n(), args); }
NodeId Graph::or_n(std::span<const NodeId> args) { return apply(ops::or_n(), args); }
NodeId Graph::xor_n(std::span<const NodeId> args) { return apply(ops::xor_n(), args); }
NodeId Graph::and_(NodeId a, NodeId b) { return apply(ops::and_n(), std::array{a, b}); }
NodeId Graph::or_(NodeId a, NodeId b) { return apply(ops::or_n(), std::array{a, b}); }
NodeId Graph::xor_(NodeId a, NodeId b) { return apply(ops::xor_n(), std::array{a, b}); }
NodeId Graph::not_(NodeId a) { return apply(find_operator("not"), std::array{a}); }
NodeId Graph::xor_reduce(NodeId a, const BitVec& mask) { return apply(ops::xor_reduce(), std::array{a}, {{}, mask}); }
NodeId Graph::or_reduce(NodeId a, const BitVec& mask) { return apply(ops::or_reduce(), std::array{a}, {{}, mask}); }
NodeId Graph::and_reduce(NodeId a, const BitVec& mask) { return apply(ops::and_reduce(), std::array{a}, {{}, mask}); }
NodeId Graph::xor_reduce(NodeId a) { return xor_reduce(a, BitVec::ones(width(a))); }
NodeId Graph::or_reduce(NodeId a) { return or_reduce(a, BitVec::ones(width(a))); }
NodeId Graph::and_reduce(NodeId a) { return and_reduce(a, BitVec::ones(width(a))); }
NodeId Graph::eq(NodeId a, NodeId b) { return apply(find_operator("eq"), std::array{a, b}); }
NodeId Graph::ne(NodeId a, NodeId b) { return apply(find_operator("ne"), std::array{a, b}); }
NodeId Graph::ult(NodeId a, NodeId b) { return apply(find_operator("ult"), std::array{a, b}); }
NodeId Graph::ule(NodeId a, NodeId b) { return apply(find_operator("ule"), std::array{a, b}); }
NodeId Graph::slt(NodeId a, NodeId b) { return apply(find_operator("slt"), std::array{a, b}); }
NodeId Graph::sle(NodeId a, NodeId b) { return apply(find_operator("sle"), std::array{a, b}); }
NodeId Graph::select(NodeId condition, NodeId when_true, NodeId when_false) {
  return mux(condition, std::array{when_false, when_true});
}
NodeId Graph::mux(NodeId index, std::span<const NodeId> choices) {
  std::vector<NodeId> args{index};
  args.insert(args.end(), choices.begin(), choices.end());
  return apply(find_operator("mux"), args);
}
NodeId Graph::shl(NodeId a, int amount) { return apply(find_operator("shl_const"), std::array{a}, {{amount}, {}}); }
NodeId Graph::shr(NodeId a, int amount) { return apply(find_operator("shr_const"), std::array{a}, {{amount}, {}}); }
NodeId Graph::sar(NodeId a, int amount) { return apply(find_operator("sar_const"), std::array{a}, {{amount}, {}}); }
NodeId Graph::shl(NodeId a, NodeId amount, int scale) {
  return apply(find_operator("shl"), std::array{a, amount}, {{scale}, {}});
}
NodeId Graph::shr(NodeId a, NodeId amount, int scale) {
  return apply(find_operator("shr"), std::array{a, amount}, {{scale}, {}});
}
NodeId Graph::sar(NodeId a, NodeId amount, int scale) {
  return apply(find_operator("sar"), std::array{a, amount}, {{scale}, {}});
}
NodeId Graph::slice(NodeId a, int hi, int lo) { return apply(ops::slice(), std::array{a}, {{hi, lo}, {}}); }
NodeId Graph::concat(std::span<const NodeId> parts) { return apply(find_operator("concat"), parts); }
NodeId Graph::concat(NodeId high, NodeId low) { return concat(std::array{high, low}); }
NodeId Graph::from_bits(std::span<const NodeId> bits) {
  const std::vector<NodeId> parts(bits.rbegin(), bits.rend());
  return concat(parts);
}
NodeId Graph::zext(NodeId a, int to) { return apply(find_operator("zext"), std::array{a}, {{to}, {}}); }
NodeId Graph::sext(NodeId a, int to) { return apply(find_operator("sext"), std::array{a}, {{to}, {}}); }
NodeId Graph::popcount(NodeId a) { return apply(find_operator("popcount"), std::array{a}); }
NodeId Graph::table(NodeId index, std::span<const BitVec> entries) {
  if (entries.empty()) throw std::invalid_argument("table: no entries");
  const int entry_width = entries[0].width();
  BitVec flat(entry_width * static_cast<int>(entries.size()));
  int position = 0;
  for (const auto& e : entries) {
    if (e.width() != entry_width) throw std::invalid_argument("table: entries differ in width");
    flat.insert(position, e);
    position += entry_width;
  }
  return apply(find_operator("table"), std::array{index}, {{entry_width}, flat});
}

void compress_columns(Graph& graph, std::vector<std::vector<NodeId>>& columns, bool wrap, std::size_t height) {
  const auto tall = [height](const std::vector<NodeId>& c) { return c.size() > height; };
  while (std::any_of(columns.begin(), columns.end(), tall)) {
    std::vector<std::vector<NodeId>> next(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& column = columns[i];
      for (std::size_t used = 0; used < column.size();) {
        std::size_t take = std::min<std::size_t>(6, column.size() - used);
        if (take == 4) take = 3;  // as many bits remain as behind a 4:3 counter, for one LUT less
        if (take <= 2) {
          next[i].insert(next[i].end(), column.begin() + static_cast<std::ptrdiff_t>(used), column.end());
          break;
        }
        const NodeId count = graph.popcount(graph.from_bits(std::span(column).subspan(used, take)));
        for (int b = 0; b < graph.width(count); ++b) {
          const std::size_t to = i + static_cast<std::size_t>(b);
          if (to < columns.size()) {
            next[to].push_back(graph.bit(count, b));
          } else if (wrap) {
            next[to % columns.size()].push_back(graph.bit(count, b));
          }
        }
        used += take;
      }
    }
    columns = std::move(next);
  }
}

NodeId sum_columns(Graph& graph, std::vector<std::vector<NodeId>> columns, int width) {
  columns.resize(static_cast<std::size_t>(width));
  compress_columns(graph, columns, false);
  const NodeId zero = graph.constant(1, 0);
  std::vector<NodeId> done;  // below the first column that holds two bits nothing is left to add
  std::vector<NodeId> a;
  std::vector<NodeId> b;
  for (const auto& column : columns) {
    const NodeId first = !column.empty() ? column[0] : zero;
    if (a.empty() && column.size() < 2) {
      done.push_back(first);
    } else {
      a.push_back(first);
      b.push_back(column.size() > 1 ? column[1] : zero);
    }
  }
  if (a.empty()) return graph.from_bits(done);
  const NodeId high = graph.add(graph.from_bits(a), graph.from_bits(b));
  return done.empty() ? high : graph.concat(high, graph.from_bits(done));
}

}  // namespace rocegen::dataflow
