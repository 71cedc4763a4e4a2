// The operators of the expression graph: one class each, and the table that lists them.
#include "generator/dataflow/operator_support.h"

namespace rocegen::dataflow {

namespace {

using namespace detail;

// ---- leaves ---------------------------------------------------------------------------------------

class Input final : public Operator {
  std::string_view name() const override { return "input"; }
  int result_width(Widths, const Attributes&) const override { fault(name(), "is made by Graph::input only"); }
  BitVec evaluate(Values, const Attributes&) const override { throw std::logic_error("input has no value of its own"); }
  Arrival arrival(Arrivals, Widths, const Attributes&) const override { return kRegister; }
  std::string expression(TextContext&, Operands, const Attributes&) const override {
    throw std::logic_error("input has no expression");
  }
};

class Constant final : public Operator {
  std::string_view name() const override { return "constant"; }
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 0);
    return attrs.bits.width();
  }
  BitVec evaluate(Values, const Attributes& attrs) const override { return attrs.bits; }
  Arrival arrival(Arrivals, Widths, const Attributes&) const override { return kConstant; }
  std::string expression(TextContext& context, Operands, const Attributes& attrs) const override {
    return context.constant(attrs.bits);
  }
  bool wiring() const override { return true; }
  Range range(Ranges, int, const Attributes& attrs) const override { return Range::exactly(attrs.bits); }
};

// ---- bitwise logic --------------------------------------------------------------------------------

/// and, or, xor of two or more values.
class Nary : public Operator {
 public:
  int luts(Widths widths, const Attributes&) const override {
    return widths[0] * std::max(1, (static_cast<int>(widths.size()) + 3) / 5);
  }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes& attrs, int width) const override {
    std::vector<NodeId> narrow;
    for (const auto a : args) narrow.push_back(graph.slice(a, width - 1, 0));
    return graph.apply(*this, narrow, attrs);
  }
  bool commutative() const override { return true; }
  int result_width(Widths widths, const Attributes&) const override {
    if (widths.empty()) fault(name(), "takes at least one argument");
    want_equal(name(), widths);
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes&) const override {
    BitVec r = args[0];
    for (const auto& a : args.subspan(1)) r = combine(r, a);
    return r;
  }
  Arrival arrival(Arrivals args, Widths, const Attributes&) const override {
    std::vector<Arrival> level(args.begin(), args.end());  // grouped as the text groups them
    while (level.size() > kLutInputs) {
      std::vector<Arrival> next;
      for (std::size_t i = 0; i < level.size(); i += kLutInputs) next.push_back(tree_arrival(group_of(level, i)));
      level = std::move(next);
    }
    return tree_arrival(level);
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override {
    std::vector<std::string> level;
    for (const auto* a : args) level.push_back(a->text());
    while (level.size() > kLutInputs) {
      std::vector<std::string> next;
      for (std::size_t i = 0; i < level.size(); i += kLutInputs) {
        const auto group = group_of(level, i);
        next.push_back(group.size() == 1 ? group[0] : fmt::format("({})", join(group, symbol())));
      }
      level = std::move(next);
    }
    return join(level, symbol());
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    std::vector<NodeId> level(args.begin(), args.end());
    while (level.size() > kLutInputs) {
      std::vector<NodeId> next;
      for (std::size_t i = 0; i < level.size(); i += kLutInputs) {
        next.push_back(graph.apply(*this, group_of(level, i)));
      }
      level = std::move(next);
    }
    return Operator::expand(graph, level, attrs, budget);
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    if (args.size() == 1) return args[0];
    BitVec constant = neutral(graph.width(args[0]));
    std::vector<NodeId> rest;
    for (std::size_t i = 0; i < args.size(); ++i) {  // sorted: equal arguments stand side by side
      if (const BitVec* c = graph.constant_value(args[i])) {
        constant = combine(constant, *c);
      } else if (!rest.empty() && rest.back() == args[i]) {
        if (duplicates_cancel()) rest.pop_back();
      } else {
        rest.push_back(args[i]);
      }
    }
    if (rest.empty() || is_absorbing(constant)) return graph.constant(constant);
    const bool keep_constant = constant != neutral(graph.width(args[0]));
    if (keep_constant && duplicates_cancel() && constant.is_ones()) {
      return graph.not_(graph.apply(*this, rest));
    }
    if (rest.size() + (keep_constant ? 1 : 0) == args.size()) return std::nullopt;
    if (keep_constant) rest.push_back(graph.constant(constant));
    return graph.apply(*this, rest);
  }

 private:
  /// Up to six elements from index `first`: what one LUT6 joins.
  template <typename T>
  static std::span<const T> group_of(const std::vector<T>& level, std::size_t first) {
    return std::span(level).subspan(first, std::min<std::size_t>(kLutInputs, level.size() - first));
  }
  virtual BitVec combine(const BitVec& a, const BitVec& b) const = 0;
  virtual BitVec neutral(int width) const = 0;
  virtual bool is_absorbing(const BitVec&) const { return false; }
  virtual bool duplicates_cancel() const { return false; }
  virtual std::string_view symbol() const = 0;
};

class And final : public Nary {
  std::string_view name() const override { return "and"; }
  BitVec combine(const BitVec& a, const BitVec& b) const override { return a & b; }
  BitVec neutral(int width) const override { return BitVec::ones(width); }
  bool is_absorbing(const BitVec& value) const override { return value.is_zero(); }
  std::string_view symbol() const override { return " & "; }
  Range range(Ranges args, int, const Attributes&) const override {
    Range r = args[0];
    for (const auto& a : args.subspan(1)) {
      const BitVec least(a.width());
      const BitVec& most = BitVec::less_unsigned(a.umax, r.umax) ? a.umax : r.umax;
      r = Range::both(Range::of_bits(r.zeros | a.zeros, r.ones & a.ones), Range::of_unsigned(least, most));
    }
    return r;
  }
};

class Or final : public Nary {
  std::string_view name() const override { return "or"; }
  BitVec combine(const BitVec& a, const BitVec& b) const override { return a | b; }
  BitVec neutral(int width) const override { return BitVec(width); }
  bool is_absorbing(const BitVec& value) const override { return value.is_ones(); }
  std::string_view symbol() const override { return " | "; }
  Range range(Ranges args, int, const Attributes&) const override {
    Range r = args[0];
    for (const auto& a : args.subspan(1)) {
      const BitVec& least = BitVec::less_unsigned(a.umin, r.umin) ? r.umin : a.umin;
      r = Range::both(Range::of_bits(r.zeros & a.zeros, r.ones | a.ones),
                      Range::of_unsigned(least, BitVec::ones(a.width())));
    }
    return r;
  }
};

class Xor final : public Nary {
  std::string_view name() const override { return "xor"; }
  BitVec combine(const BitVec& a, const BitVec& b) const override { return a ^ b; }
  BitVec neutral(int width) const override { return BitVec(width); }
  bool duplicates_cancel() const override { return true; }
  std::string_view symbol() const override { return " ^ "; }
  Range range(Ranges args, int, const Attributes&) const override {
    Range r = args[0];
    for (const auto& a : args.subspan(1)) {
      r = Range::of_bits((r.zeros & a.zeros) | (r.ones & a.ones), (r.zeros & a.ones) | (r.ones & a.zeros));
    }
    return r;
  }
};

class Not final : public Operator {
  std::string_view name() const override { return "not"; }
  int result_width(Widths widths, const Attributes&) const override {
    want_args(name(), widths, 1);
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes&) const override { return ~args[0]; }
  Arrival arrival(Arrivals args, Widths, const Attributes&) const override { return lut_arrival(args); }
  std::string expression(TextContext&, Operands args, const Attributes&) const override {
    return fmt::format("~{}", args[0]->text());
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    const Node& n = graph.node(args[0]);
    if (n.op == this) return n.args[0];
    return std::nullopt;
  }
  Range range(Ranges args, int, const Attributes&) const override {
    const Range& a = args[0];
    return {~a.umax, ~a.umin, ~a.smax, ~a.smin, a.ones, a.zeros};
  }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes&, int width) const override {
    return graph.not_(graph.slice(args[0], width - 1, 0));
  }
};

/// and, or, xor of the bits that a mask selects.
class Reduce : public Operator {
 public:
  int luts(Widths, const Attributes& attrs) const override { return (attrs.bits.popcount() + 4) / 5; }
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 1);
    if (attrs.bits.width() != widths[0]) {
      fault(name(), "mask of {} bits for an argument of {}", attrs.bits.width(), widths[0]);
    }
    return 1;
  }
  Arrival arrival(Arrivals args, Widths, const Attributes& attrs) const override {
    return plan_reduction(args[0], attrs.bits, split()).arrival;
  }
  std::string expression(TextContext& context, Operands args, const Attributes& attrs) const override {
    std::string r;
    for (const auto& part : plan_reduction(kRegister, attrs.bits, split()).parts) {
      r += fmt::format("{}{}", r.empty() ? "" : " ^ ", flat(context, *args[0], part));
    }
    return r;
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    if (attrs.bits.is_zero()) return graph.constant(empty());
    if (attrs.bits.popcount() == 1) return graph.bit(args[0], attrs.bits.lowest_one());
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    const BitVec& mask = attrs.bits;
    if (mask.popcount() <= kLutInputs) return Operator::expand(graph, args, attrs, budget);
    std::vector<NodeId> leaves;
    BitVec leaf(mask.width());
    int taps = 0;
    for (int i = 0; i < mask.width(); ++i) {
      if (!mask.bit(i)) continue;
      leaf.set_bit(i, true);
      if (++taps == kLutInputs) {
        leaves.push_back(graph.apply(*this, args, {{}, leaf}));
        leaf = BitVec(mask.width());
        taps = 0;
      }
    }
    if (taps > 0) leaves.push_back(graph.apply(*this, args, {{}, leaf}));
    return combiner().expand(graph, leaves, {}, budget);
  }

 protected:
  virtual std::string symbol() const = 0;
  /// Written as parts that are joined by " ^ ", see plan_reduction.
  virtual bool split() const { return false; }
  virtual BitVec empty() const = 0;
  virtual const Operator& combiner() const = 0;
  virtual std::string masked(TextContext& context, const std::string& value, const BitVec& mask) const {
    return fmt::format("{}({} & {})", symbol(), value, context.constant(mask));
  }

 private:
  std::string flat(TextContext& context, const Operand& arg, const BitVec& mask) const {
    const int hi = mask.highest_one();
    const int lo = mask.lowest_one();
    const int span = hi - lo + 1;
    if (hi == lo) return arg.bits(hi, lo);
    const bool window = span <= mask.width() / 2 || mask.popcount() == span;
    const BitVec part = window ? mask.slice(hi, lo) : mask;
    const std::string value = window ? arg.bits(hi, lo) : arg.text();
    return part.is_ones() ? symbol() + value : masked(context, value, part);
  }
};

class XorReduce final : public Reduce {
  std::string_view name() const override { return "xor_reduce"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override {
    return bool_vec((args[0] & attrs.bits).parity());
  }
  std::string symbol() const override { return "^"; }
  bool split() const override { return true; }
  BitVec empty() const override { return BitVec(1, 0); }
  const Operator& combiner() const override { return ops::xor_n(); }
  Range range(Ranges args, int, const Attributes& attrs) const override {
    if (!(attrs.bits & ~(args[0].zeros | args[0].ones)).is_zero()) return Range::full(1);
    return Range::exactly(bool_vec((args[0].ones & attrs.bits).parity()));
  }
};

class OrReduce final : public Reduce {
  std::string_view name() const override { return "or_reduce"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override {
    return bool_vec(!(args[0] & attrs.bits).is_zero());
  }
  std::string symbol() const override { return "|"; }
  BitVec empty() const override { return BitVec(1, 0); }
  const Operator& combiner() const override { return ops::or_n(); }
  Range range(Ranges args, int, const Attributes& attrs) const override {
    if (!(args[0].ones & attrs.bits).is_zero()) return Range::exactly(bool_vec(true));
    if ((attrs.bits & ~args[0].zeros).is_zero()) return Range::exactly(bool_vec(false));
    const bool any = attrs.bits.is_ones() && !args[0].umin.is_zero();
    return any ? Range::exactly(bool_vec(true)) : Range::full(1);
  }
};

class AndReduce final : public Reduce {
  std::string_view name() const override { return "and_reduce"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override {
    return bool_vec((args[0] | ~attrs.bits).is_ones());
  }
  std::string symbol() const override { return "&"; }
  BitVec empty() const override { return BitVec(1, 1); }
  const Operator& combiner() const override { return ops::and_n(); }
  std::string masked(TextContext& context, const std::string& value, const BitVec& mask) const override {
    return fmt::format("&({} | {})", value, context.constant(~mask));
  }
  Range range(Ranges args, int, const Attributes& attrs) const override {
    if (!(args[0].zeros & attrs.bits).is_zero()) return Range::exactly(bool_vec(false));
    if ((attrs.bits & ~args[0].ones).is_zero()) return Range::exactly(bool_vec(true));
    return Range::full(1);
  }
};

// ---- comparisons ----------------------------------------------------------------------------------

class Compare : public Operator {
 public:
  int result_width(Widths widths, const Attributes&) const override {
    want_args(name(), widths, 2);
    want_equal(name(), widths);
    return 1;
  }
  BitVec evaluate(Values args, const Attributes&) const override { return bool_vec(holds(args[0], args[1])); }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    if (args[0] == args[1]) return graph.constant(bool_vec(holds_for_equal()));
    return std::nullopt;
  }

 private:
  virtual bool holds(const BitVec& a, const BitVec& b) const = 0;
  virtual bool holds_for_equal() const = 0;
};

class Equality : public Compare {
 public:
  bool commutative() const override { return true; }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    return plan_reduction(lut_arrival(args), BitVec::ones(widths[0]), false).arrival;
  }

  int luts(Widths widths, const Attributes&) const override { return (2 * widths[0] + 4) / 5; }
  Range range(Ranges args, int, const Attributes&) const override {
    const Range& a = args[0];
    const Range& b = args[1];
    const bool apart = BitVec::less_unsigned(a.umax, b.umin) || BitVec::less_unsigned(b.umax, a.umin) ||
                       BitVec::less_signed(a.smax, b.smin) || BitVec::less_signed(b.smax, a.smin) ||
                       !((a.zeros & b.ones) | (a.ones & b.zeros)).is_zero();
    if (apart) return Range::exactly(evaluate(std::array{BitVec(1, 0), BitVec(1, 1)}, {}));
    if (a.is_constant() && b.is_constant()) return Range::exactly(evaluate(std::array{a.umin, b.umin}, {}));
    return Range::full(1);
  }

 protected:
  /// Any bit differs.
  static NodeId differs(Graph& graph, Args args, int budget) {
    const NodeId x = graph.xor_(args[0], args[1]);
    const int width = graph.width(x);
    std::vector<NodeId> leaves;
    for (int lo = 0; lo < width; lo += kLutInputs / 2) {
      BitVec mask(width);
      for (int i = lo; i < std::min(width, lo + kLutInputs / 2); ++i) mask.set_bit(i, true);
      leaves.push_back(graph.or_reduce(x, mask));
    }
    return ops::or_n().expand(graph, leaves, {}, budget);
  }
};

class Eq final : public Equality {
  std::string_view name() const override { return "eq"; }
  bool holds(const BitVec& a, const BitVec& b) const override { return a == b; }
  bool holds_for_equal() const override { return true; }
  std::string expression(TextContext&, Operands args, const Attributes&) const override { return join(args, " == "); }
  NodeId expand(Graph& graph, Args args, const Attributes&, int budget) const override {
    return graph.not_(differs(graph, args, budget));
  }
};

class Ne final : public Equality {
  std::string_view name() const override { return "ne"; }
  bool holds(const BitVec& a, const BitVec& b) const override { return a != b; }
  bool holds_for_equal() const override { return false; }
  std::string expression(TextContext&, Operands args, const Attributes&) const override { return join(args, " != "); }
  NodeId expand(Graph& graph, Args args, const Attributes&, int budget) const override {
    return differs(graph, args, budget);
  }
};

/// a < b built of three-bit pieces whose (less, equal) pairs are combined in a tree.
NodeId less_in_pieces(Graph& graph, NodeId a, NodeId b) {
  struct Piece {
    NodeId less;
    NodeId equal;
  };
  const int width = graph.width(a);
  std::vector<Piece> level;  // least significant first
  for (int lo = 0; lo < width; lo += kLutInputs / 2) {
    const int hi = std::min(width, lo + kLutInputs / 2) - 1;
    const NodeId x = graph.slice(a, hi, lo);
    const NodeId y = graph.slice(b, hi, lo);
    level.push_back({graph.ult(x, y), graph.eq(x, y)});
  }
  while (level.size() > 1) {
    std::vector<Piece> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      const auto& [low_less, low_equal] = level[i];
      const auto& [high_less, high_equal] = level[i + 1];
      next.push_back({graph.or_(high_less, graph.and_(high_equal, low_less)), graph.and_(high_equal, low_equal)});
    }
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = std::move(next);
  }
  return level[0].less;
}

class Order : public Compare {
 public:
  int luts(Widths widths, const Attributes&) const override { return widths[0]; }
  Range range(Ranges args, int, const Attributes&) const override {
    const Range& a = args[0];
    const Range& b = args[1];
    const bool best = is_signed() ? holds(a.smin, b.smax) : holds(a.umin, b.umax);
    const bool worst = is_signed() ? holds(a.smax, b.smin) : holds(a.umax, b.umin);
    return best == worst ? Range::exactly(bool_vec(best)) : Range::full(1);
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    // Against an end of the range the answer is known; Verilator objects to such comparisons.
    const int width = graph.width(args[0]);
    BitVec least(width);
    if (is_signed()) least.set_bit(width - 1, true);
    const BitVec* a = graph.constant_value(args[0]);
    const BitVec* b = graph.constant_value(args[1]);
    const BitVec end_a = or_equal() ? least : ~least;  // least <= b always, greatest < b never
    const BitVec end_b = or_equal() ? ~least : least;  // a <= greatest always, a < least never
    if ((a != nullptr && *a == end_a) || (b != nullptr && *b == end_b)) return graph.constant(bool_vec(or_equal()));
    return Compare::simplify(graph, args, attrs);
  }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    const int n = widths[0];
    if (n > kLutInputs / 2) return behind(args, order_levels(n));
    std::vector<Arrival> in;
    for (const auto a : args) in.insert(in.end(), static_cast<std::size_t>(n), a);
    return lut_arrival(in);
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    const int width = graph.width(args[0]);
    if (width <= kLutInputs / 2) return Operator::expand(graph, args, attrs, budget);
    NodeId a = args[0];
    NodeId b = args[1];
    if (is_signed()) {  // biased: the sign bit inverted makes the order unsigned
      const auto bias = [&](NodeId x) {
        return graph.concat(graph.not_(graph.bit(x, width - 1)), graph.slice(x, width - 2, 0));
      };
      a = bias(a);
      b = bias(b);
    }
    return or_equal() ? graph.not_(less_in_pieces(graph, b, a)) : less_in_pieces(graph, a, b);
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override {
    const std::string_view symbol = or_equal() ? "<=" : "<";
    if (!is_signed()) return fmt::format("{} {} {}", args[0]->text(), symbol, args[1]->text());
    return fmt::format("$signed({}) {} $signed({})", args[0]->text(), symbol, args[1]->text());
  }

 private:
  bool holds(const BitVec& a, const BitVec& b) const override {
    const auto less = is_signed() ? BitVec::less_signed : BitVec::less_unsigned;
    return or_equal() ? !less(b, a) : less(a, b);
  }
  bool holds_for_equal() const override { return or_equal(); }
  virtual bool is_signed() const = 0;
  virtual bool or_equal() const = 0;
};

class Ult final : public Order {
  std::string_view name() const override { return "ult"; }
  bool is_signed() const override { return false; }
  bool or_equal() const override { return false; }
};

class Ule final : public Order {
  std::string_view name() const override { return "ule"; }
  bool is_signed() const override { return false; }
  bool or_equal() const override { return true; }
};

class Slt final : public Order {
  std::string_view name() const override { return "slt"; }
  bool is_signed() const override { return true; }
  bool or_equal() const override { return false; }
};

class Sle final : public Order {
  std::string_view name() const override { return "sle"; }
  bool is_signed() const override { return true; }
  bool or_equal() const override { return true; }
};

// ---- choice ---------------------------------------------------------------------------------------

class Mux final : public Operator {
  std::string_view name() const override { return "mux"; }
  int result_width(Widths widths, const Attributes&) const override {
    if (widths.empty() || widths[0] > kMaxTableIndexWidth) {
      fault(name(), "the index may be 1 to {} bits wide", kMaxTableIndexWidth);
    }
    const std::size_t choices = std::size_t{1} << widths[0];
    if (widths.size() != choices + 1) {
      fault(name(), "an index of {} bits needs {} choices, not {}", widths[0], choices, widths.size() - 1);
    }
    want_equal(name(), widths.subspan(1));
    return widths[1];
  }
  BitVec evaluate(Values args, const Attributes&) const override {
    return args[1 + static_cast<std::size_t>(args[0].to_uint64())];
  }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    if (widths[0] > 2) return mux_arrival(latest(args.subspan(1)), args[0], widths[0]);
    std::vector<Arrival> in(args.begin() + 1, args.end());
    in.insert(in.end(), static_cast<std::size_t>(widths[0]), args[0]);
    return lut_arrival(in);
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override {
    return choose(args, args[0]->width() - 1, 1);
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    if (const BitVec* index = graph.constant_value(args[0])) {
      return args[1 + static_cast<std::size_t>(index->to_uint64())];
    }
    if (std::all_of(args.begin() + 1, args.end(), [&](NodeId a) { return a == args[1]; })) return args[1];
    if (args.size() == 3 && graph.width(args[1]) == 1) {
      const BitVec* low = graph.constant_value(args[1]);
      const BitVec* high = graph.constant_value(args[2]);
      if (low != nullptr && high != nullptr) return high->is_ones() ? args[0] : graph.not_(args[0]);
    }
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    const int bits = graph.width(args[0]);
    if (bits <= 2) return Operator::expand(graph, args, attrs, budget);
    std::vector<NodeId> level(args.begin() + 1, args.end());
    for (int lo = 0; lo < bits; lo += 2) {
      const int hi = std::min(bits - 1, lo + 1);
      const NodeId index = graph.slice(args[0], hi, lo);
      const std::size_t group = std::size_t{1} << (hi - lo + 1);
      std::vector<NodeId> next;
      for (std::size_t i = 0; i < level.size(); i += group) {
        next.push_back(graph.mux(index, std::span(level).subspan(i, group)));
      }
      level = std::move(next);
    }
    return level[0];
  }

  static std::string choose(Operands args, int bit, std::size_t first) {
    const std::size_t half = std::size_t{1} << bit;
    const std::string high =
        bit == 0 ? args[first + 1]->text() : fmt::format("({})", choose(args, bit - 1, first + half));
    const std::string low = bit == 0 ? args[first]->text() : fmt::format("({})", choose(args, bit - 1, first));
    return fmt::format("{} ? {} : {}", args[0]->bits(bit, bit), high, low);
  }
  int luts(Widths widths, const Attributes&) const override {
    return widths[1] * ((static_cast<int>(widths.size()) + 1) / 3);
  }
  Range range(Ranges args, int, const Attributes&) const override {
    const auto first = static_cast<std::size_t>(args[0].umin.to_uint64());
    const auto last = static_cast<std::size_t>(args[0].umax.to_uint64());
    Range r = args[1 + first];
    for (std::size_t i = first + 1; i <= last; ++i) r = Range::either(r, args[1 + i]);
    return r;
  }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes&, int width) const override {
    std::vector<NodeId> choices;
    for (const auto a : args.subspan(1)) choices.push_back(graph.slice(a, width - 1, 0));
    return graph.mux(args[0], choices);
  }
};

class Table final : public Operator {
  std::string_view name() const override { return "table"; }
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 1);
    if (widths[0] > kMaxTableIndexWidth) fault(name(), "the index may be 1 to {} bits wide", kMaxTableIndexWidth);
    const int width = number(name(), attrs, 0);
    if (width < 1 || attrs.bits.width() != width << widths[0]) {
      fault(name(), "an index of {} bits needs {} entries", widths[0], 1 << widths[0]);
    }
    return width;
  }
  BitVec evaluate(Values args, const Attributes& attrs) const override {
    return entry(attrs, static_cast<int>(args[0].to_uint64()));
  }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    const int lut_bits = std::min(widths[0], kLutInputs);
    const Arrival lut = lut_arrival(std::vector<Arrival>(static_cast<std::size_t>(lut_bits), args[0]));
    return mux_arrival(lut, args[0], widths[0] - lut_bits);
  }
  std::string expression(TextContext& context, Operands args, const Attributes& attrs) const override {
    return fmt::format("{}[{}]", context.rom(attrs.bits, attrs.numbers[0]), args[0]->text());
  }
  std::optional<NodeId> simplify(Graph& graph, Args, const Attributes& attrs) const override {
    const BitVec first = entry(attrs, 0);
    const int entries = attrs.bits.width() / attrs.numbers[0];
    for (int i = 1; i < entries; ++i) {
      if (entry(attrs, i) != first) return std::nullopt;
    }
    return graph.constant(first);
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    const int bits = graph.width(args[0]);
    if (bits <= kLutInputs) return Operator::expand(graph, args, attrs, budget);
    const int top = std::min(2, bits - kLutInputs);
    const NodeId low = graph.slice(args[0], bits - top - 1, 0);
    const int part = attrs.bits.width() >> top;
    std::vector<NodeId> choices;
    for (int i = 0; i < 1 << top; ++i) {
      const NodeId choice =
          graph.apply(*this, std::array{low}, {attrs.numbers, attrs.bits.slice((i + 1) * part - 1, i * part)});
      const Node n = graph.node(choice);
      choices.push_back(n.op == this ? expand(graph, n.args, n.attrs, budget) : choice);
    }
    return graph.mux(graph.slice(args[0], bits - 1, bits - top), choices);
  }

  static BitVec entry(const Attributes& attrs, int index) {
    const int width = attrs.numbers[0];
    return attrs.bits.slice((index + 1) * width - 1, index * width);
  }
  int luts(Widths widths, const Attributes& attrs) const override {
    return attrs.numbers[0] * std::max(1, ((1 << widths[0]) / 64) * 4 / 3);
  }
  Range range(Ranges args, int, const Attributes& attrs) const override {
    const auto first = static_cast<int>(args[0].umin.to_uint64());
    const auto last = static_cast<int>(args[0].umax.to_uint64());
    Range r = Range::exactly(entry(attrs, first));
    for (int i = first + 1; i <= last; ++i) r = Range::either(r, Range::exactly(entry(attrs, i)));
    return r;
  }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes& attrs, int width) const override {
    std::vector<BitVec> entries;
    for (int i = 0; i < 1 << graph.width(args[0]); ++i) entries.push_back(entry(attrs, i).resize(width));
    return graph.table(args[0], entries);
  }
};

// ---- shifts ---------------------------------------------------------------------------------------

class ShiftConst : public Operator {
 public:
  bool wiring() const override { return true; }
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 1);
    if (number(name(), attrs, 0) < 0) fault(name(), "negative amount");
    return widths[0];
  }
  Arrival arrival(Arrivals args, Widths, const Attributes&) const override { return args[0]; }
};

class ShlConst final : public ShiftConst {
  std::string_view name() const override { return "shl_const"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override { return args[0].shl(attrs.numbers[0]); }
  std::string expression(TextContext&, Operands args, const Attributes& attrs) const override {
    const int amount = attrs.numbers[0];
    return fmt::format("{{{}, {}'d0}}", args[0]->bits(args[0]->width() - 1 - amount, 0), amount);
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    if (attrs.numbers[0] == 0) return args[0];
    if (attrs.numbers[0] >= graph.width(args[0])) return graph.constant(graph.width(args[0]), 0);
    return std::nullopt;
  }
  Range range(Ranges args, int width, const Attributes& attrs) const override {
    if (attrs.numbers[0] >= width) return Range::exactly(BitVec(width));
    BitVec factor(width);
    factor.set_bit(attrs.numbers[0], true);
    return mul_ranges(args[0], Range::exactly(factor));
  }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes& attrs, int width) const override {
    return graph.shl(graph.slice(args[0], width - 1, 0), attrs.numbers[0]);
  }
};

class ShrConst final : public ShiftConst {
  std::string_view name() const override { return "shr_const"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override { return args[0].shr(attrs.numbers[0]); }
  std::string expression(TextContext&, Operands args, const Attributes& attrs) const override {
    const int amount = attrs.numbers[0];
    return fmt::format("{{{}'d0, {}}}", amount, args[0]->bits(args[0]->width() - 1, amount));
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    if (attrs.numbers[0] == 0) return args[0];
    if (attrs.numbers[0] >= graph.width(args[0])) return graph.constant(graph.width(args[0]), 0);
    return std::nullopt;
  }
  Range range(Ranges args, int, const Attributes& attrs) const override {
    const int n = attrs.numbers[0];
    return Range::of_unsigned(args[0].umin.shr(n), args[0].umax.shr(n));
  }
};

class SarConst final : public ShiftConst {
  std::string_view name() const override { return "sar_const"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override { return args[0].sar(attrs.numbers[0]); }
  std::string expression(TextContext&, Operands args, const Attributes& attrs) const override {
    const int top = args[0]->width() - 1;
    const int amount = std::min(attrs.numbers[0], top);
    return fmt::format("{{{{{}{{{}}}}}, {}}}", amount, args[0]->bits(top, top), args[0]->bits(top, amount));
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    if (attrs.numbers[0] == 0 || graph.width(args[0]) == 1) return args[0];
    return std::nullopt;
  }
  Range range(Ranges args, int, const Attributes& attrs) const override {
    const int n = attrs.numbers[0];
    return Range::of_signed(args[0].smin.sar(n), args[0].smax.sar(n));
  }
};

class Shift : public Operator {
 public:
  int luts(Widths widths, const Attributes& attrs) const override {
    return widths[0] * ((useful_bits(widths[0], widths[1], attrs.numbers[0]) + 1) / 2);
  }
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 2);
    if (widths[1] > kMaxShiftAmountWidth) {
      fault(name(), "an amount of {} bits, allowed are 1 to {}", widths[1], kMaxShiftAmountWidth);
    }
    const int scale = number(name(), attrs, 0);
    if (scale < 0 || scale > 14) fault(name(), "scale {}, allowed are 0 to 14", scale);
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes& attrs) const override {
    return shift(args[0], static_cast<int>(args[1].to_uint64()) << attrs.numbers[0]);
  }
  Arrival arrival(Arrivals args, Widths widths, const Attributes& attrs) const override {
    return mux_arrival(args[0], args[1], useful_bits(widths[0], widths[1], attrs.numbers[0]));
  }
  std::string expression(TextContext&, Operands args, const Attributes& attrs) const override {
    const int scale = attrs.numbers[0];
    return text(args[0]->text(), scale == 0 ? args[1]->text() : fmt::format("{{{}, {}'d0}}", args[1]->text(), scale));
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    if (const BitVec* amount = graph.constant_value(args[1])) {
      return constant_shift(graph, args[0], static_cast<int>(amount->to_uint64()) << attrs.numbers[0]);
    }
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    const int width = graph.width(args[0]);
    const int bits = graph.width(args[1]);
    const int scale = attrs.numbers[0];
    const int useful = std::min(bits, std::max(0, log2_ceil(width) - scale));
    NodeId value = args[0];
    for (int lo = 0; lo < useful; lo += 2) {
      const int hi = std::min(useful - 1, lo + 1);
      value = graph.apply(*this, std::array{value, graph.slice(args[1], hi, lo)}, {{scale + lo}, {}});
    }
    if (useful == bits) return value;
    // Any higher bit of the amount shifts everything out.
    const NodeId high = graph.slice(args[1], bits - 1, useful);
    BitVec mask = BitVec::ones(bits - useful);
    const NodeId all = graph.apply(ops::or_reduce(), std::array{high}, {{}, mask});
    const Node n = graph.node(all);
    const NodeId any = n.op == &ops::or_reduce() ? n.op->expand(graph, n.args, n.attrs, budget) : all;
    return graph.select(any, constant_shift(graph, args[0], width), value);
  }

 private:
  /// Amount bits that cost a multiplexer; all higher ones together cost one more.
  static int useful_bits(int width, int amount_bits, int scale) {
    const int useful = std::min(amount_bits, std::max(0, log2_ceil(width) - scale));
    return useful == amount_bits ? useful : useful + 1 + log2_ceil(amount_bits - useful);
  }
  virtual BitVec shift(const BitVec& value, int amount) const = 0;
  virtual std::string text(const std::string& value, const std::string& amount) const = 0;
  virtual NodeId constant_shift(Graph& graph, NodeId value, int amount) const = 0;
};

class Shl final : public Shift {
  std::string_view name() const override { return "shl"; }
  BitVec shift(const BitVec& value, int amount) const override { return value.shl(amount); }
  std::string text(const std::string& value, const std::string& amount) const override {
    return fmt::format("{} << {}", value, amount);
  }
  NodeId constant_shift(Graph& graph, NodeId value, int amount) const override { return graph.shl(value, amount); }
};

class Shr final : public Shift {
  std::string_view name() const override { return "shr"; }
  BitVec shift(const BitVec& value, int amount) const override { return value.shr(amount); }
  std::string text(const std::string& value, const std::string& amount) const override {
    return fmt::format("{} >> {}", value, amount);
  }
  NodeId constant_shift(Graph& graph, NodeId value, int amount) const override { return graph.shr(value, amount); }
  Range range(Ranges args, int width, const Attributes&) const override {
    return Range::of_unsigned(BitVec(width), args[0].umax);
  }
};

class Sar final : public Shift {
  std::string_view name() const override { return "sar"; }
  BitVec shift(const BitVec& value, int amount) const override { return value.sar(amount); }
  std::string text(const std::string& value, const std::string& amount) const override {
    return fmt::format("$signed({}) >>> {}", value, amount);
  }
  NodeId constant_shift(Graph& graph, NodeId value, int amount) const override { return graph.sar(value, amount); }
  Range range(Ranges args, int width, const Attributes&) const override {
    const BitVec zero(width);
    const BitVec minus_one = BitVec::ones(width);
    return Range::of_signed(BitVec::less_signed(args[0].smin, zero) ? args[0].smin : zero,
                            BitVec::less_signed(minus_one, args[0].smax) ? args[0].smax : minus_one);
  }
};

// ---- wiring ---------------------------------------------------------------------------------------

class Slice final : public Operator {
  std::string_view name() const override { return "slice"; }
  bool wiring() const override { return true; }
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 1);
    const int hi = number(name(), attrs, 0);
    const int lo = number(name(), attrs, 1);
    if (lo < 0 || hi < lo || hi >= widths[0]) fault(name(), "[{}:{}] of an argument of {} bits", hi, lo, widths[0]);
    return hi - lo + 1;
  }
  BitVec evaluate(Values args, const Attributes& attrs) const override {
    return args[0].slice(attrs.numbers[0], attrs.numbers[1]);
  }
  Arrival arrival(Arrivals args, Widths, const Attributes&) const override { return args[0]; }
  std::string expression(TextContext&, Operands args, const Attributes& attrs) const override {
    return args[0]->bits(attrs.numbers[0], attrs.numbers[1]);
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    const int hi = attrs.numbers[0];
    const int lo = attrs.numbers[1];
    const Node n = graph.node(args[0]);
    if (lo == 0 && hi == n.width - 1) return args[0];
    if (n.op == this) return graph.slice(n.args[0], hi + n.attrs.numbers[1], lo + n.attrs.numbers[1]);
    if (n.op->name() == "zext" || n.op->name() == "sext") {
      const int low_width = graph.width(n.args[0]);
      if (hi < low_width) return graph.slice(n.args[0], hi, lo);
      if (lo >= low_width && n.op->name() == "zext") return graph.constant(hi - lo + 1, 0);
      if (lo == 0) return n.op->name() == "zext" ? graph.zext(n.args[0], hi + 1) : graph.sext(n.args[0], hi + 1);
    }
    if (n.op->name() == "shl_const") {
      const int amount = n.attrs.numbers[0];
      if (lo >= amount) return graph.slice(n.args[0], hi - amount, lo - amount);
      if (hi < amount) return graph.constant(hi - lo + 1, 0);
    }
    if (n.op->name() == "concat") {
      std::vector<NodeId> parts;
      int top = n.width;
      for (const auto part : n.args) {
        const int bottom = top - graph.width(part);
        const int from = std::min(hi, top - 1);
        const int to = std::max(lo, bottom);
        if (from >= to) parts.push_back(graph.slice(part, from - bottom, to - bottom));
        top = bottom;
      }
      return graph.concat(parts);
    }
    return std::nullopt;
  }
  Range range(Ranges args, int width, const Attributes& attrs) const override {
    const int hi = attrs.numbers[0];
    const int lo = attrs.numbers[1];
    const Range& a = args[0];
    Range r = Range::of_bits(a.zeros.slice(hi, lo), a.ones.slice(hi, lo));
    if (a.umax.highest_one() <= hi) {
      r = Range::both(r, Range::of_unsigned(a.umin.shr(lo).resize(width), a.umax.shr(lo).resize(width)));
    }
    if (a.signed_bits() <= hi + 1) {
      r = Range::both(r, Range::of_signed(a.smin.sar(lo).resize(width), a.smax.sar(lo).resize(width)));
    }
    return r;
  }
};

class Concat final : public Operator {
  std::string_view name() const override { return "concat"; }
  bool wiring() const override { return true; }
  int result_width(Widths widths, const Attributes&) const override {
    if (widths.empty()) fault(name(), "takes at least one argument");
    int width = 0;
    for (const int w : widths) width += w;
    return width;
  }
  BitVec evaluate(Values args, const Attributes&) const override {
    int position = 0;
    for (const auto& a : args) position += a.width();
    BitVec r(position);
    for (const auto& a : args) {
      position -= a.width();
      r.insert(position, a);
    }
    return r;
  }
  Arrival arrival(Arrivals args, Widths, const Attributes&) const override { return latest(args); }
  std::string expression(TextContext&, Operands args, const Attributes&) const override {
    return fmt::format("{{{}}}", join(args, ", "));
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    if (args.size() == 1) return args[0];
    std::vector<NodeId> parts;
    for (const auto a : args) {
      const Node n = graph.node(a);
      for (const auto part : n.op == this ? std::span<const NodeId>(n.args) : std::span<const NodeId>(&a, 1)) {
        if (!parts.empty()) {
          if (const auto merged = merge(graph, parts.back(), part)) {
            parts.back() = *merged;
            continue;
          }
        }
        parts.push_back(part);
      }
    }
    if (std::equal(parts.begin(), parts.end(), args.begin(), args.end())) return std::nullopt;
    return graph.concat(parts);
  }

  /// Two neighbours as one node: constants, or adjoining slices of one value.
  static std::optional<NodeId> merge(Graph& graph, NodeId high, NodeId low) {
    const BitVec* a = graph.constant_value(high);
    const BitVec* b = graph.constant_value(low);
    if (a != nullptr && b != nullptr) {
      BitVec value = b->resize(a->width() + b->width());
      value.insert(b->width(), *a);
      return graph.constant(value);
    }
    const Node& h = graph.node(high);
    const Node& l = graph.node(low);
    if (h.op == &ops::slice() && l.op == &ops::slice() && h.args == l.args &&
        h.attrs.numbers[1] == l.attrs.numbers[0] + 1) {
      const NodeId base = h.args[0];
      const int hi = h.attrs.numbers[0];
      const int lo = l.attrs.numbers[1];
      return graph.slice(base, hi, lo);
    }
    return std::nullopt;
  }
  Range range(Ranges args, int width, const Attributes&) const override {
    BitVec least(width);
    BitVec most(width);
    BitVec zeros(width);
    BitVec ones(width);
    int position = width;
    for (const auto& a : args) {
      position -= a.width();
      least.insert(position, a.umin);
      most.insert(position, a.umax);
      zeros.insert(position, a.zeros);
      ones.insert(position, a.ones);
    }
    return Range::both(Range::of_bits(zeros, ones), Range::of_unsigned(least, most));
  }
};

class Extend : public Operator {
 public:
  bool wiring() const override { return true; }
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 1);
    const int width = number(name(), attrs, 0);
    if (width < widths[0]) fault(name(), "to {} bits from {}", width, widths[0]);
    return width;
  }
  Arrival arrival(Arrivals args, Widths, const Attributes&) const override { return args[0]; }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    const Node& n = graph.node(args[0]);
    if (n.width == attrs.numbers[0]) return args[0];
    if (n.op == this) return graph.apply(*this, std::vector<NodeId>(n.args), attrs);
    return std::nullopt;
  }
};

class Zext final : public Extend {
  std::string_view name() const override { return "zext"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override { return args[0].resize(attrs.numbers[0]); }
  std::string expression(TextContext&, Operands args, const Attributes& attrs) const override {
    return fmt::format("{{{}'d0, {}}}", attrs.numbers[0] - args[0]->width(), args[0]->text());
  }
  Range range(Ranges args, int width, const Attributes&) const override {
    const Range& a = args[0];
    return Range::both(Range::of_unsigned(a.umin.resize(width), a.umax.resize(width)),
                       Range::of_bits(~(~a.zeros).resize(width), a.ones.resize(width)));
  }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes&, int width) const override {
    const NodeId a = args[0];
    return width <= graph.width(a) ? graph.slice(a, width - 1, 0) : graph.zext(a, width);
  }
};

class Sext final : public Extend {
  std::string_view name() const override { return "sext"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override { return args[0].sign_extend(attrs.numbers[0]); }
  std::string expression(TextContext&, Operands args, const Attributes& attrs) const override {
    const int width = args[0]->width();
    if (width == 1) return fmt::format("{{{}{{{}}}}}", attrs.numbers[0], args[0]->text());
    return fmt::format("{{{{{}{{{}}}}}, {}}}", attrs.numbers[0] - width, args[0]->bits(width - 1, width - 1),
                       args[0]->text());
  }
  Range range(Ranges args, int width, const Attributes&) const override {
    const Range& a = args[0];
    return Range::both(Range::of_signed(a.smin.sign_extend(width), a.smax.sign_extend(width)),
                       Range::of_bits(a.zeros.sign_extend(width), a.ones.sign_extend(width)));
  }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes&, int width) const override {
    const NodeId a = args[0];
    return width <= graph.width(a) ? graph.slice(a, width - 1, 0) : graph.sext(a, width);
  }
};

// ---- the table ------------------------------------------------------------------------------------

}  // namespace

std::optional<NodeId> Operator::simplify(Graph&, Args, const Attributes&) const { return std::nullopt; }

NodeId Operator::expand(Graph& graph, Args args, const Attributes& attrs, int) const {
  return graph.apply(*this, args, attrs);
}

Range Operator::range(std::span<const Range>, int width, const Attributes&) const { return Range::full(width); }

int Operator::luts(std::span<const int>, const Attributes&) const { return 0; }

std::optional<NodeId> Operator::low_bits(Graph&, Args, const Attributes&, int) const { return std::nullopt; }

std::span<const Operator* const> operators() {
  static const std::vector<const Operator*> kTable = [] {
    std::vector<const Operator*> table = {
        &instance<Input>(),     &instance<Constant>(), &instance<And>(),       &instance<Or>(),
        &instance<Xor>(),       &instance<Not>(),      &instance<XorReduce>(), &instance<OrReduce>(),
        &instance<AndReduce>(), &instance<Eq>(),       &instance<Ne>(),        &instance<Ult>(),
        &instance<Ule>(),       &instance<Slt>(),      &instance<Sle>(),       &instance<Mux>(),
        &instance<Table>(),     &instance<ShlConst>(), &instance<ShrConst>(),  &instance<SarConst>(),
        &instance<Shl>(),       &instance<Shr>(),      &instance<Sar>(),       &instance<Slice>(),
        &instance<Concat>(),    &instance<Zext>(),     &instance<Sext>(),
    };
    const auto arithmetic = detail::arithmetic_operators();
    table.insert(table.end(), arithmetic.begin(), arithmetic.end());
    return table;
  }();
  return kTable;
}

const Operator& find_operator(std::string_view name) {
  static const std::unordered_map<std::string_view, const Operator*> kByName = [] {
    std::unordered_map<std::string_view, const Operator*> r;
    for (const auto* op : operators()) r.emplace(op->name(), op);
    return r;
  }();
  if (const auto it = kByName.find(name); it != kByName.end()) return *it->second;
  throw std::invalid_argument(fmt::format("there is no operator '{}'", name));
}

namespace ops {
const Operator& input() { return instance<Input>(); }
const Operator& constant() { return instance<Constant>(); }
const Operator& slice() { return instance<Slice>(); }
const Operator& xor_n() { return instance<Xor>(); }
const Operator& or_n() { return instance<Or>(); }
const Operator& and_n() { return instance<And>(); }
const Operator& xor_reduce() { return instance<XorReduce>(); }
const Operator& or_reduce() { return instance<OrReduce>(); }
const Operator& and_reduce() { return instance<AndReduce>(); }
}  // namespace ops

}  // namespace rocegen::dataflow
