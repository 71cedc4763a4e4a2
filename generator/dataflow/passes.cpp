#include "generator/dataflow/passes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "generator/dataflow/rebuild.h"

namespace rocegen::dataflow {

namespace {

using Args = std::vector<NodeId>;

constexpr int kLutInputs = 6;  // a count of that many bits is a LUT a result bit, whatever is known of them

std::size_t at(int index) { return static_cast<std::size_t>(index); }
std::size_t at(NodeId id) { return static_cast<std::size_t>(id.index); }

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// How often each live node is read; an output counts as two readers, so that what it shows stays.
std::vector<int> count_reads(const Graph& graph) {
  std::vector<int> reads(at(graph.size()), 0);
  const auto live = graph.live();
  for (int i = 0; i < graph.size(); ++i) {
    if (!live[at(i)]) continue;
    for (const auto a : graph.node({i}).args) ++reads[at(a)];
  }
  for (const auto& port : graph.outputs()) reads[at(port.node)] += 2;
  return reads;
}

/// Number of low bits of every node that some reader looks at.
std::vector<int> demanded_widths(const Graph& graph) {
  static constexpr std::array<std::string_view, 11> kLowClosed = {"add", "sub", "sum", "mul",  "mul_const", "and",
                                                                  "or",  "xor", "not", "zext", "sext"};
  std::vector<int> demand(at(graph.size()), 0);
  const auto raise = [&](NodeId id, int width) {
    demand[at(id)] = std::max(demand[at(id)], std::clamp(width, 1, graph.width(id)));
  };
  for (const auto& port : graph.outputs()) raise(port.node, graph.width(port.node));
  for (int i = graph.size(); i-- > 0;) {
    const int wanted = demand[at(i)];
    if (wanted == 0) continue;
    const Node& n = graph.node({i});
    const std::string_view name = n.op->name();
    if (n.op == &ops::slice()) {
      raise(n.args[0], n.attrs.numbers[1] + wanted);
    } else if (name == "shl_const") {
      raise(n.args[0], wanted - n.attrs.numbers[0]);
    } else if (name == "concat") {
      int position = n.width;
      for (const auto a : n.args) {
        position -= graph.width(a);
        raise(a, wanted - position);
      }
    } else if (name == "mux") {
      raise(n.args[0], graph.width(n.args[0]));
      for (std::size_t k = 1; k < n.args.size(); ++k) raise(n.args[k], wanted);
    } else {
      const bool low_closed = is_one_of(name, kLowClosed);
      for (const auto a : n.args) raise(a, low_closed ? wanted : graph.width(a));
    }
  }
  return demand;
}

/// One node of the narrowing pass.
class Narrower {
 public:
  explicit Narrower(const Graph& graph) : ranges_(analyse_ranges(graph)), demand_(demanded_widths(graph)) {}

  NodeId operator()(Graph& to, NodeId id, const Node& n, const Args& args) {
    const Range& range = ranges_[at(id)];
    if (range.is_constant()) return to.constant(range.umin);
    if (const auto made = comparison(to, n, args)) return *made;
    if (const auto made = magnitude(to, n, args)) return *made;
    if (const auto made = count(to, n, args)) return *made;
    const int unsigned_width = range.unsigned_bits();
    const int signed_width = range.signed_bits();
    const int width = std::min({demand_[at(id)], unsigned_width, signed_width});
    if (width < n.width && !n.op->wiring()) {
      if (const auto low = n.op->low_bits(to, args, n.attrs, width)) {
        const bool by_sign = width == signed_width && width != unsigned_width && width != demand_[at(id)];
        return by_sign ? to.sext(*low, n.width) : to.zext(*low, n.width);
      }
    }
    return to.apply(*n.op, args, n.attrs);
  }

 private:
  /// Comparisons, minima and maxima in as few bits as their arguments need, unsigned if they can be.
  std::optional<NodeId> comparison(Graph& to, const Node& n, const Args& args) const {
    struct Kind {
      std::string_view name;
      std::string_view as_unsigned;
      bool by_sign;    ///< the order of two's complement numbers
      bool same_bits;  ///< the result is one of the arguments
    };
    static constexpr std::array<Kind, 10> kKinds = {{{"eq", "eq", false, false},
                                                     {"ne", "ne", false, false},
                                                     {"ult", "ult", false, false},
                                                     {"ule", "ule", false, false},
                                                     {"slt", "ult", true, false},
                                                     {"sle", "ule", true, false},
                                                     {"umin", "umin", false, true},
                                                     {"umax", "umax", false, true},
                                                     {"smin", "umin", true, true},
                                                     {"smax", "umax", true, true}}};
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.name == n.op->name(); });
    if (kind == kKinds.end()) return std::nullopt;
    const Range& a = ranges_[at(n.args[0])];
    const Range& b = ranges_[at(n.args[1])];
    const bool plain = !kind->by_sign || (a.is_non_negative() && b.is_non_negative());
    const bool equality = kind->name == "eq" || kind->name == "ne";
    const int unsigned_width = std::max(a.unsigned_bits(), b.unsigned_bits());
    const int signed_width = std::max(a.signed_bits(), b.signed_bits());
    const bool by_sign = !plain || (equality && signed_width < unsigned_width);
    const int width = by_sign ? signed_width : unsigned_width;
    if (kind->same_bits) {
      if (const auto winner = known_winner(a, b, *n.op)) return args[*winner];
    }
    if (width >= a.width() && plain != kind->by_sign) return std::nullopt;  // as it is already
    const Operator& op = find_operator(plain ? kind->as_unsigned : kind->name);
    const NodeId low = to.apply(op, std::array{to.slice(args[0], width - 1, 0), to.slice(args[1], width - 1, 0)});
    if (!kind->same_bits) return low;
    return by_sign ? to.sext(low, n.width) : to.zext(low, n.width);
  }

  /// Which argument of a minimum or maximum wins whatever they are.
  static std::optional<std::size_t> known_winner(const Range& a, const Range& b, const Operator& op) {
    const bool is_signed = op.name()[0] == 's';
    const auto less_or_equal = [&](const Range& x, const Range& y) {
      return is_signed ? !BitVec::less_signed(y.smin, x.smax) : !BitVec::less_unsigned(y.umin, x.umax);
    };
    const bool least = op.name().ends_with("min");
    if (less_or_equal(a, b)) return least ? 0 : 1;
    if (less_or_equal(b, a)) return least ? 1 : 0;
    return std::nullopt;
  }

  /// Magnitude and saturation where the range makes them trivial.
  std::optional<NodeId> magnitude(Graph& to, const Node& n, const Args& args) const {
    if (n.op->name() == "abs") {
      const Range& a = ranges_[at(n.args[0])];
      if (a.is_non_negative()) return args[0];
      if (a.ones.bit(a.width() - 1)) return to.neg(args[0]);
      const int width = a.signed_bits();
      if (width < n.width) return to.zext(to.abs(to.slice(args[0], width - 1, 0)), n.width);
    }
    if (n.op->name() == "saturate") {
      const Range& a = ranges_[at(n.args[0])];
      const bool is_signed = n.attrs.numbers[1] != 0 && !a.is_non_negative();
      const int width = is_signed ? a.signed_bits() : a.unsigned_bits();
      if (width < a.width() || is_signed != (n.attrs.numbers[1] != 0)) {
        return to.saturate(to.slice(args[0], width - 1, 0), is_signed, n.width, n.attrs.numbers[2] != 0);
      }
    }
    return std::nullopt;
  }

  /// Population counts leave out what is known.
  std::optional<NodeId> count(Graph& to, const Node& n, const Args& args) const {
    if (n.op->name() != "popcount") return std::nullopt;
    const Range& a = ranges_[at(n.args[0])];
    const BitVec known = a.zeros | a.ones;
    if (known.is_zero() || a.width() <= kLutInputs) return std::nullopt;
    Args bits;
    for (int i = 0; i < a.width(); ++i) {
      if (!known.bit(i)) bits.push_back(to.bit(args[0], i));
    }
    const NodeId unknown = to.zext(to.popcount(to.from_bits(bits)), n.width);
    return to.add(unknown, to.constant(n.width, static_cast<std::uint64_t>(a.ones.popcount())));
  }

  std::vector<Range> ranges_;
  std::vector<int> demand_;
};

/// A digit of a canonical signed digit number: +-2^shift.
struct Digit {
  int shift;
  bool negative;
};

/// `factor` modulo 2^width as the fewest signed digits, no two of them adjacent (Reitwiesner 1960).
std::vector<Digit> signed_digits(BitVec factor) {
  std::vector<Digit> digits;
  const int width = factor.width();
  for (int i = 0; i < width; ++i) {
    if (!factor.bit(i)) continue;
    BitVec one(width);
    one.set_bit(i, true);
    const bool negative = i + 1 < width && factor.bit(i + 1);
    digits.push_back({i, negative});
    factor = negative ? factor + one : factor - one;
  }
  return digits;
}

/// The carry-save pass.
class CarrySaver {
 public:
  explicit CarrySaver(const Graph& graph)
      : graph_(graph), ranges_(analyse_ranges(graph)), reads_(count_reads(graph)), made_(at(graph.size())) {}

  Graph run() {
    mark_absorbed();
    return rebuild(graph_, [this](Graph& to, NodeId id, const Node& n, const Args& args) {
      for (std::size_t k = 0; k < args.size(); ++k) made_[at(n.args[k])] = args[k];
      if (is_sum(n) && !absorbed_[at(id)]) return compress(to, id);
      return to.apply(*n.op, args, n.attrs);
    });
  }

 private:
  /// Bits by weight, and one constant, that add up to a value modulo 2^width.
  struct Columns {
    std::vector<std::vector<NodeId>> bits;
    BitVec constant;
  };

  static bool is_sum(const Node& n) {
    static constexpr std::array<std::string_view, 6> kSums = {"add", "sub", "sum", "mul", "mul_const", "popcount"};
    return is_one_of(n.op->name(), kSums);
  }

  /// A number that is the signed or unsigned reading of a node, times +-2^shift.
  struct Term {
    NodeId id;
    bool is_signed = false;
    int shift = 0;
    bool negative = false;
    bool shared = false;  ///< something else reads it, or it enters several times: it is computed once, on its own
  };

  /// The terms into which a term falls apart, if it may: nobody else reads it, and its value does not wrap before the
  /// sum does.
  std::optional<std::vector<Term>> parts(const Term& t, int width, bool root) const {
    const Node& n = graph_.node(t.id);
    const std::string_view name = n.op->name();
    const bool shared = t.shared || (!root && reads_[at(t.id)] != 1);
    const auto part = [&](NodeId id, bool is_signed, int shift, bool negative) {
      return Term{id, is_signed, shift, negative, shared};
    };
    const bool modular = n.width + t.shift >= width;
    if (name == "zext") return std::vector{part(n.args[0], false, t.shift, t.negative)};
    if (name == "sext" && (modular || t.is_signed)) return std::vector{part(n.args[0], true, t.shift, t.negative)};
    if (shared || (!modular && !exact(t))) return std::nullopt;
    std::vector<Term> r;
    if (name == "shl_const") {
      r.push_back(part(n.args[0], t.is_signed, t.shift + n.attrs.numbers[0], t.negative));
    } else if (name == "add" || name == "sum" || name == "sub") {
      for (const auto a : n.args) r.push_back(part(a, t.is_signed, t.shift, t.negative));
      if (name == "sub") r[1].negative = !t.negative;
    } else if (name == "mul_const") {
      const int room = width - t.shift;
      const BitVec factor = t.is_signed ? n.attrs.bits.sign_extend(room) : n.attrs.bits.resize(room);
      for (const auto& d : signed_digits(factor)) {
        r.push_back(part(n.args[0], t.is_signed, t.shift + d.shift, t.negative != d.negative));
      }
      for (auto& copy : r) copy.shared = copy.shared || r.size() > 1;
    } else {
      return std::nullopt;
    }
    return r;
  }

  /// The node's operator does not wrap: its value is that of the operator on numbers.
  bool exact(const Term& t) const {
    const Node& n = graph_.node(t.id);
    const int wide = 2 * n.width + 8;
    const auto value = [&](const BitVec& v) { return t.is_signed ? v.sign_extend(wide) : v.resize(wide); };
    BitVec low;
    BitVec high;
    const auto ends = [&](NodeId a) {
      const Range& r = ranges_[at(a)];
      return t.is_signed ? std::pair{value(r.smin), value(r.smax)} : std::pair{value(r.umin), value(r.umax)};
    };
    const std::string_view name = n.op->name();
    if (name == "add" || name == "sum") {
      low = high = BitVec(wide);
      for (const auto a : n.args) {
        const auto [least, most] = ends(a);
        low = low + least;
        high = high + most;
      }
    } else if (name == "sub") {
      const auto [least_a, most_a] = ends(n.args[0]);
      const auto [least_b, most_b] = ends(n.args[1]);
      low = least_a - most_b;
      high = most_a - least_b;
    } else if (name == "mul_const" || name == "shl_const") {
      BitVec factor = value(n.attrs.bits.width() == 0 ? BitVec(n.width) : n.attrs.bits);
      if (name == "shl_const") {
        if (n.attrs.numbers[0] >= n.width) return false;
        factor = BitVec(wide);
        factor.set_bit(n.attrs.numbers[0], true);
      }
      const auto [least, most] = ends(n.args[0]);
      low = least * factor;
      high = most * factor;
      if (BitVec::less_signed(high, low)) std::swap(low, high);
    } else {
      return false;
    }
    if (t.is_signed) return signed_bits(low) <= n.width && signed_bits(high) <= n.width;
    return !low.bit(wide - 1) && unsigned_bits(high) <= n.width;
  }

  /// Calls `visit` with every leaf of the sum.
  template <typename Visit>
  void each_leaf(const Term& t, int width, bool root, const Visit& visit) const {
    if (t.shift >= width) return;
    const auto inner = parts(t, width, root);
    if (!inner) {
      visit(t);
      return;
    }
    for (const auto& part : *inner) each_leaf(part, width, false, visit);
  }

  /// Notes which sums become part of a later one.
  void mark_absorbed() {
    absorbed_.assign(at(graph_.size()), false);
    const auto live = graph_.live();
    for (int i = graph_.size(); i-- > 0;) {
      const Node& n = graph_.node({i});
      if (!live[at(i)] || !is_sum(n) || absorbed_[at(i)]) continue;
      mark_below({{i}}, n.width, true);
    }
  }

  void mark_below(const Term& t, int width, bool root) {
    if (t.shift >= width) return;
    const Node& n = graph_.node(t.id);
    const auto inner = parts(t, width, root);
    if (!inner) {
      if (!root && merges(t, width, false)) absorbed_[at(t.id)] = true;
      return;
    }
    if (!root && is_sum(n)) absorbed_[at(t.id)] = true;
    for (const auto& part : *inner) mark_below(part, width, false);
  }

  /// A product or count whose bits join the columns of the sum that reads it.
  bool merges(const Term& t, int width, bool root) const {
    const Node& n = graph_.node(t.id);
    if (t.shared || (!root && reads_[at(t.id)] != 1)) return false;
    const bool modular = n.width + t.shift >= width;
    if (n.op->name() == "popcount") return modular || !t.is_signed || ranges_[at(t.id)].is_non_negative();
    return n.op->name() == "mul" && (modular || product_is_exact(t));
  }

  bool product_is_exact(const Term& t) const {
    const Node& n = graph_.node(t.id);
    const int wide = 2 * n.width + 1;
    const auto value = [&](const BitVec& v) { return t.is_signed ? v.sign_extend(wide) : v.resize(wide); };
    for (const auto a : {0U, 1U}) {
      for (const auto b : {0U, 1U}) {
        const Range& x = ranges_[at(n.args[0])];
        const Range& y = ranges_[at(n.args[1])];
        const BitVec product = t.is_signed ? value(a != 0 ? x.smax : x.smin) * value(b != 0 ? y.smax : y.smin)
                                           : value(a != 0 ? x.umax : x.umin) * value(b != 0 ? y.umax : y.umin);
        if (t.is_signed ? signed_bits(product) > n.width : unsigned_bits(product) > n.width) return false;
      }
    }
    return true;
  }

  void add_constant(Columns& c, int shift, bool negative) const {
    const int width = c.constant.width();
    if (shift >= width) return;
    BitVec one(width);
    one.set_bit(shift, true);
    c.constant = negative ? c.constant - one : c.constant + one;
  }

  /// +-bit * 2^shift: the negative of a bit is its inverse, less one.
  void add_bit(Graph& to, Columns& c, NodeId bit, int shift, bool negative) const {
    if (shift >= c.constant.width()) return;
    const BitVec* known = to.constant_value(bit);
    if (known != nullptr) {
      if (!known->is_zero()) add_constant(c, shift, negative);
      return;
    }
    c.bits[at(shift)].push_back(negative ? to.not_(bit) : bit);
    if (negative) add_constant(c, shift, true);
  }

  void add_value(Graph& to, Columns& c, NodeId value, bool is_signed, int shift, bool negative) const {
    const int top = to.width(value) - 1;
    for (int i = 0; i <= top; ++i) {
      add_bit(to, c, to.bit(value, i), shift + i, negative != (is_signed && i == top));
    }
  }

  /// A factor without its extension.
  struct Factor {
    NodeId id;
    bool is_signed;
  };
  /// `modular`: the product matters modulo 2^width(product) only, so that any reading of a full-width factor will do.
  Factor factor_of(NodeId id, const Term& product, bool modular) const {
    const Node& n = graph_.node(id);
    if (n.op->name() == "zext") return {n.args[0], false};
    if (n.op->name() == "sext" && (modular || product.is_signed)) return {n.args[0], true};
    return {id, !modular && product.is_signed};
  }

  void add_leaf(Graph& to, Columns& c, const Term& t, bool root) {
    const int width = c.constant.width();
    const Node& n = graph_.node(t.id);
    if (const BitVec* value = graph_.constant_value(t.id)) {
      const BitVec extended = (t.is_signed ? value->sign_extend(width) : value->resize(width)).shl(t.shift);
      c.constant = t.negative ? c.constant - extended : c.constant + extended;
      return;
    }
    const bool merge = merges(t, width, root);
    if (n.op->name() == "popcount" && merge) {
      const NodeId value = made_[at(n.args[0])];
      for (int i = 0; i < to.width(value); ++i) add_bit(to, c, to.bit(value, i), t.shift, t.negative);
      return;
    }
    if (n.op->name() == "mul" && merge) {
      const bool modular = n.width + t.shift >= width;
      const Factor a = factor_of(n.args[0], t, modular);
      const Factor b = factor_of(n.args[1], t, modular);
      const NodeId x = made_[at(a.id)];
      const NodeId y = made_[at(b.id)];
      const int top_x = to.width(x) - 1;
      const int top_y = to.width(y) - 1;
      for (int i = 0; i <= top_x; ++i) {
        for (int j = 0; j <= top_y; ++j) {
          const bool minus = (a.is_signed && i == top_x) != (b.is_signed && j == top_y);
          if (t.shift + i + j >= width) continue;
          add_bit(to, c, to.and_(to.bit(x, i), to.bit(y, j)), t.shift + i + j, t.negative != minus);
        }
      }
      return;
    }
    add_value(to, c, made_[at(t.id)], t.is_signed, t.shift, t.negative);
  }

  /// A leaf as a number of `width` bits, without its sign.
  NodeId extended(Graph& to, const Term& t, int width) const {
    const BitVec* constant = graph_.constant_value(t.id);
    const NodeId value = constant != nullptr ? to.constant(*constant) : made_[at(t.id)];
    const int own = to.width(value);
    const NodeId resized = own > width   ? to.slice(value, width - 1, 0)
                           : t.is_signed ? to.sext(value, width)
                                         : to.zext(value, width);
    return to.shl(resized, t.shift);
  }

  /// The sum at `root` by columns; one or two plain terms become an addition or a subtraction.
  NodeId compress(Graph& to, NodeId root) {
    const int width = graph_.width(root);
    std::vector<Term> leaves;
    bool merging = false;
    each_leaf({root}, width, true, [&](const Term& t) {
      leaves.push_back(t);
      merging = merging || merges(t, width, t.id == root);
    });
    if (!merging && leaves.size() == 1) {
      const NodeId value = extended(to, leaves[0], width);
      return leaves[0].negative ? to.neg(value) : value;
    }
    if (!merging && leaves.size() == 2 && !(leaves[0].negative && leaves[1].negative)) {
      const std::size_t first = leaves[0].negative ? 1 : 0;
      const NodeId a = extended(to, leaves[first], width);
      const NodeId b = extended(to, leaves[1 - first], width);
      return leaves[1 - first].negative ? to.sub(a, b) : to.add(a, b);
    }
    Columns c{std::vector<std::vector<NodeId>>(at(width)), BitVec(width)};
    for (const auto& t : leaves) add_leaf(to, c, t, t.id == root);
    for (int i = 0; i < width; ++i) {
      if (c.constant.bit(i)) c.bits[at(i)].push_back(to.constant(1, 1));
    }
    return sum_columns(to, std::move(c.bits), width);
  }

  const Graph& graph_;
  std::vector<Range> ranges_;
  std::vector<int> reads_;
  std::vector<bool> absorbed_;
  std::vector<NodeId> made_;  // places of the arguments seen so far
};

/// Nested nodes of one associative operator that nobody else reads, flattened.
void flatten(const Graph& to, const std::vector<bool>& own, NodeId id, const Operator& op, Args& leaves) {
  const Node& n = to.node(id);
  if (n.op != &op || !own[at(id)]) {
    leaves.push_back(id);
    return;
  }
  for (const auto a : n.args) flatten(to, own, a, op, leaves);
}

constexpr std::array kPasses = {
    Pass{"fold", fold},     Pass{"strength", reduce_strength}, Pass{"narrow", narrow}, Pass{"carry_save", save_carries},
    Pass{"narrow", narrow}, Pass{"balance", balance},          Pass{"fold", fold},
};

}  // namespace

std::vector<Range> analyse_ranges(const Graph& graph) {
  std::vector<Range> ranges;
  ranges.reserve(at(graph.size()));
  const auto live = graph.live();
  std::vector<Range> args;
  for (int i = 0; i < graph.size(); ++i) {
    const Node& n = graph.node({i});
    if (!live[at(i)]) {
      ranges.push_back(Range::full(1));
      continue;
    }
    args.clear();
    for (const auto a : n.args) args.push_back(ranges[at(a)]);
    ranges.push_back(n.op->range(args, n.width, n.attrs));
  }
  return ranges;
}

Graph fold(const Graph& graph) {
  return rebuild(graph,
                 [](Graph& to, NodeId, const Node& n, const Args& args) { return to.apply(*n.op, args, n.attrs); });
}

Graph narrow(const Graph& graph) { return rebuild(graph, Narrower(graph)); }

Graph reduce_strength(const Graph& graph) {
  const auto divisions_to_products = [](Graph& to, NodeId, const Node& n, const Args& args) {
    const bool division = n.op->name() == "udiv_const" || n.op->name() == "urem_const";
    return division ? n.op->expand(to, args, n.attrs, 1) : to.apply(*n.op, args, n.attrs);
  };
  // A remainder becomes a quotient first.
  return rebuild(rebuild(graph, divisions_to_products), divisions_to_products);
}

Graph save_carries(const Graph& graph) { return fold(CarrySaver(graph).run()); }

Graph balance(const Graph& graph) {
  static constexpr std::array<std::string_view, 3> kFlat = {"and", "or", "xor"};
  static constexpr std::array<std::string_view, 4> kTrees = {"umin", "umax", "smin", "smax"};
  const auto reads = count_reads(graph);
  std::vector<bool> own;  // of the new graph: one reader only
  const auto build = [&](Graph& to, NodeId id, const Node& n, const Args& args) {
    NodeId made;
    Args leaves;
    own.resize(at(to.size()), false);
    for (const auto a : args) flatten(to, own, a, *n.op, leaves);
    if (is_one_of(n.op->name(), kFlat)) {
      made = to.apply(*n.op, leaves);
    } else if (is_one_of(n.op->name(), kTrees) && leaves.size() > 2) {
      while (leaves.size() > 1) {
        Args next;
        for (std::size_t i = 0; i < leaves.size(); i += 2) {
          const bool pair = i + 1 < leaves.size();
          next.push_back(pair ? to.apply(*n.op, std::array{leaves[i], leaves[i + 1]}) : leaves[i]);
        }
        leaves = std::move(next);
        own.resize(at(to.size()), reads[at(id)] == 1);
      }
      made = leaves[0];
    } else {
      made = to.apply(*n.op, args, n.attrs);
    }
    own.resize(at(to.size()), false);
    own[at(made)] = reads[at(id)] == 1;
    return made;
  };
  return fold(rebuild(graph, build));
}

std::span<const Pass> passes() { return kPasses; }

Graph optimise(const Graph& graph) {
  Graph r = graph;
  for (const auto& pass : passes()) r = pass.run(r);
  return r;
}

int estimate_luts(const Graph& graph) {
  int luts = 0;
  const auto live = graph.live();
  std::vector<int> widths;
  for (int i = 0; i < graph.size(); ++i) {
    if (!live[at(i)]) continue;
    const Node& n = graph.node({i});
    widths.clear();
    for (const auto a : n.args) widths.push_back(graph.width(a));
    luts += n.op->luts(widths, n.attrs);
  }
  return luts;
}

}  // namespace rocegen::dataflow
