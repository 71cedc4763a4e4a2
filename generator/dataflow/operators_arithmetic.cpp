// The arithmetic operators of the expression graph: one class each.
#include "generator/dataflow/operator_support.h"

namespace rocegen::dataflow {

namespace {

using namespace detail;

// ---- arithmetic -----------------------------------------------------------------------------------

NodeId low(Graph& graph, NodeId a, int width) { return graph.slice(a, width - 1, 0); }

/// Levels of a carry look-ahead adder of two operands (Yosys' $lcu; a carry chain of an FPGA is no slower).
int adder_levels(int width) { return std::max(1, log2_ceil(width)); }

/// Levels of 3:2 counters from `terms` numbers down to two, as Yosys maps $macc.
int carry_save_levels(int terms) {
  int levels = 0;
  for (; terms > 2; terms = terms / 3 * 2 + terms % 3) ++levels;
  return levels;
}

struct SumAndCarry {
  NodeId sum;
  NodeId carry;
};

/// a + b + carry as a chain of adders that take at most `budget` levels each.
SumAndCarry add_in_chunks(Graph& graph, NodeId a, NodeId b, NodeId carry, int budget) {
  const int width = graph.width(a);
  const int chunk = budget >= 12 ? width : 1 << std::max(1, budget);
  std::vector<NodeId> parts;
  for (int lo = 0; lo < width; lo += chunk) {
    const int hi = std::min(width, lo + chunk) - 1;
    const NodeId sum = graph.add_carry(graph.slice(a, hi, lo), graph.slice(b, hi, lo), carry);
    parts.insert(parts.begin(), graph.slice(sum, hi - lo, 0));
    carry = graph.bit(sum, hi - lo + 1);
  }
  return {graph.concat(parts), carry};
}

class Add final : public Operator {
  std::string_view name() const override { return "add"; }
  int result_width(Widths widths, const Attributes&) const override {
    want_args(name(), widths, 2);
    want_equal(name(), widths);
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes&) const override { return args[0] + args[1]; }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    return widths[0] == 1 ? lut_arrival(args) : behind(args, adder_levels(widths[0]));
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override { return join(args, " + "); }
  bool commutative() const override { return true; }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    for (std::size_t i = 0; i < 2; ++i) {
      const BitVec* c = graph.constant_value(args[i]);
      if (c != nullptr && c->is_zero()) return args[1 - i];
    }
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    if (adder_levels(graph.width(args[0])) <= budget) return Operator::expand(graph, args, attrs, budget);
    return add_in_chunks(graph, args[0], args[1], graph.constant(1, 0), budget).sum;
  }
  Range range(Ranges args, int, const Attributes&) const override { return add_ranges(args[0], args[1]); }
  int luts(Widths widths, const Attributes&) const override { return widths[0]; }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes&, int width) const override {
    return graph.add(low(graph, args[0], width), low(graph, args[1], width));
  }
};

class Sub final : public Operator {
  std::string_view name() const override { return "sub"; }
  int result_width(Widths widths, const Attributes&) const override {
    want_args(name(), widths, 2);
    want_equal(name(), widths);
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes&) const override { return args[0] - args[1]; }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    return widths[0] == 1 ? lut_arrival(args) : behind(args, adder_levels(widths[0]));
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override { return join(args, " - "); }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    if (args[0] == args[1]) return graph.constant(graph.width(args[0]), 0);
    const BitVec* c = graph.constant_value(args[1]);
    if (c != nullptr && c->is_zero()) return args[0];
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    if (adder_levels(graph.width(args[0])) <= budget) return Operator::expand(graph, args, attrs, budget);
    return add_in_chunks(graph, args[0], graph.not_(args[1]), graph.constant(1, 1), budget).sum;
  }
  Range range(Ranges args, int, const Attributes&) const override { return sub_ranges(args[0], args[1]); }
  int luts(Widths widths, const Attributes&) const override { return widths[0]; }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes&, int width) const override {
    return graph.sub(low(graph, args[0], width), low(graph, args[1], width));
  }
};

class AddCarry final : public Operator {
  std::string_view name() const override { return "add_carry"; }
  int result_width(Widths widths, const Attributes&) const override {
    want_args(name(), widths, 3);
    want_equal(name(), widths.first(2));
    if (widths[2] != 1) fault(name(), "the carry is {} bits wide, must be 1", widths[2]);
    return widths[0] + 1;
  }
  BitVec evaluate(Values args, const Attributes&) const override {
    const int width = args[0].width() + 1;
    return args[0].resize(width) + args[1].resize(width) + args[2].resize(width);
  }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    return widths[0] == 1 ? lut_arrival(args) : behind(args, adder_levels(widths[0]));
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override {
    return fmt::format("{{1'b0, {}}} + {{1'b0, {}}} + {{{}'d0, {}}}", args[0]->text(), args[1]->text(),
                       args[0]->width(), args[2]->text());
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    if (adder_levels(graph.width(args[0])) <= budget) return Operator::expand(graph, args, attrs, budget);
    const auto r = add_in_chunks(graph, args[0], args[1], args[2], budget);
    return graph.concat(r.carry, r.sum);
  }
  Range range(Ranges args, int width, const Attributes&) const override {
    const BitVec least = args[0].umin.resize(width) + args[1].umin.resize(width) + args[2].umin.resize(width);
    const BitVec most = args[0].umax.resize(width) + args[1].umax.resize(width) + args[2].umax.resize(width);
    return Range::of_unsigned(least, most);
  }
  int luts(Widths widths, const Attributes&) const override { return widths[0] + 1; }
};

class MulConst final : public Operator {
  std::string_view name() const override { return "mul_const"; }
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 1);
    if (attrs.bits.width() != widths[0]) {
      fault(name(), "factor of {} bits for an argument of {}", attrs.bits.width(), widths[0]);
    }
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes& attrs) const override { return args[0] * attrs.bits; }
  Arrival arrival(Arrivals args, Widths widths, const Attributes& attrs) const override {
    const int terms = attrs.bits.popcount();
    if (terms == 0) return kConstant;
    if (terms == 1) return args[0];
    if (widths[0] <= kLutInputs) return lut_arrival(std::vector<Arrival>(static_cast<std::size_t>(widths[0]), args[0]));
    // Short products lose more: their columns are lowest where the carry chain is longest.
    return behind(args, carry_save_levels(terms) + adder_levels(widths[0]) - (widths[0] <= 8 ? 2 : 1));
  }
  std::string expression(TextContext& context, Operands args, const Attributes& attrs) const override {
    return fmt::format("{} * {}", args[0]->text(), context.constant(attrs.bits));
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    const int terms = attrs.bits.popcount();
    if (terms == 0) return graph.constant(graph.width(args[0]), 0);
    if (terms == 1) return graph.shl(args[0], attrs.bits.lowest_one());
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int) const override {
    const int width = graph.width(args[0]);
    std::vector<std::vector<NodeId>> columns(static_cast<std::size_t>(width));
    for (int i = 0; i < width; ++i) {
      if (!attrs.bits.bit(i)) continue;
      for (int j = 0; i + j < width; ++j) {
        columns[static_cast<std::size_t>(i + j)].push_back(graph.bit(args[0], j));
      }
    }
    return sum_columns(graph, std::move(columns), width);
  }
  Range range(Ranges args, int, const Attributes& attrs) const override {
    return mul_ranges(args[0], Range::exactly(attrs.bits));
  }
  int luts(Widths widths, const Attributes& attrs) const override {
    return widths[0] * std::max(0, attrs.bits.popcount() - 1);
  }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes& attrs, int width) const override {
    return graph.mul(low(graph, args[0], width), attrs.bits.resize(width));
  }
};

class Popcount final : public Operator {
  std::string_view name() const override { return "popcount"; }
  int result_width(Widths widths, const Attributes&) const override {
    want_args(name(), widths, 1);
    return log2_ceil(widths[0] + 1);
  }
  BitVec evaluate(Values args, const Attributes&) const override {
    return BitVec(log2_ceil(args[0].width() + 1), static_cast<std::uint64_t>(args[0].popcount()));
  }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    const int n = widths[0];
    if (n <= kLutInputs) return lut_arrival(std::vector<Arrival>(static_cast<std::size_t>(n), args[0]));
    return behind(args, std::max(3, (3 * log2_ceil(n) - 3) / 2));  // fitted to what Yosys makes of $countones
  }
  std::string expression(TextContext& context, Operands args, const Attributes&) const override {
    // Yosys makes adders of a short $countones, with more LUTs than the counter has.
    if (args[0]->width() <= kLutInputs) {
      return fmt::format("{}({})", context.counter(args[0]->width()), args[0]->text());
    }
    return fmt::format("{}'($countones({}))", log2_ceil(args[0]->width() + 1), args[0]->text());
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    if (graph.width(args[0]) == 1) return args[0];
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    const int n = graph.width(args[0]);
    if (n <= kLutInputs) return Operator::expand(graph, args, attrs, budget);
    std::vector<std::vector<NodeId>> columns(1);
    for (int i = 0; i < n; ++i) columns[0].push_back(graph.bit(args[0], i));
    return sum_columns(graph, std::move(columns), log2_ceil(n + 1));
  }
  Range range(Ranges args, int width, const Attributes&) const override {
    const auto count = [width](int n) { return BitVec(width, static_cast<std::uint64_t>(n)); };
    return Range::of_unsigned(count(args[0].ones.popcount()), count(args[0].width() - args[0].zeros.popcount()));
  }
  int luts(Widths widths, const Attributes&) const override {
    return widths[0] <= kLutInputs ? log2_ceil(widths[0] + 1) : widths[0] * 5 / 4;
  }
};

/// Any number of values added.
class Sum final : public Operator {
  std::string_view name() const override { return "sum"; }
  int result_width(Widths widths, const Attributes&) const override {
    if (widths.empty()) fault(name(), "takes at least one argument");
    want_equal(name(), widths);
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes&) const override {
    BitVec r = args[0];
    for (const auto& a : args.subspan(1)) r = r + a;
    return r;
  }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    return behind(args, carry_save_levels(static_cast<int>(args.size())) + adder_levels(widths[0]));
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override { return join(args, " + "); }
  bool commutative() const override { return true; }
  Range range(Ranges args, int, const Attributes&) const override {
    Range r = args[0];
    for (const auto& a : args.subspan(1)) r = add_ranges(r, a);
    return r;
  }
  int luts(Widths widths, const Attributes&) const override {
    return widths[0] * (2 * static_cast<int>(widths.size()) - 3);
  }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes&, int width) const override {
    std::vector<NodeId> narrow;
    for (const auto a : args) narrow.push_back(low(graph, a, width));
    return graph.sum(narrow);
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    if (args.size() == 1) return args[0];
    if (args.size() == 2) return graph.add(args[0], args[1]);
    BitVec constant(graph.width(args[0]));
    std::vector<NodeId> rest;
    for (const auto a : args) {
      const BitVec* c = graph.constant_value(a);
      if (c == nullptr) rest.push_back(a);
      if (c != nullptr) constant = constant + *c;
    }
    const bool keep = !constant.is_zero();
    if (rest.size() + (keep ? 1 : 0) == args.size()) return std::nullopt;
    if (keep) rest.push_back(graph.constant(constant));
    return graph.sum(rest);
  }
  NodeId expand(Graph& graph, Args args, const Attributes&, int) const override {
    const int width = graph.width(args[0]);
    std::vector<std::vector<NodeId>> columns(static_cast<std::size_t>(width));
    for (const auto a : args) {
      for (int i = 0; i < width; ++i) {
        const NodeId bit = graph.bit(a, i);
        const BitVec* known = graph.constant_value(bit);
        if (known == nullptr || !known->is_zero()) columns[static_cast<std::size_t>(i)].push_back(bit);
      }
    }
    return sum_columns(graph, std::move(columns), width);
  }
};

/// a * b modulo 2^width.
class Mul final : public Operator {
  std::string_view name() const override { return "mul"; }
  int result_width(Widths widths, const Attributes&) const override {
    want_args(name(), widths, 2);
    want_equal(name(), widths);
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes&) const override { return args[0] * args[1]; }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    if (widths[0] <= kLutInputs / 2) {
      std::vector<Arrival> in;
      for (const auto a : args) in.insert(in.end(), static_cast<std::size_t>(widths[0]), a);
      return lut_arrival(in);
    }
    return behind(args, std::max(2, carry_save_levels(widths[0]) + adder_levels(widths[0]) - 2));
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override { return join(args, " * "); }
  bool commutative() const override { return true; }
  Range range(Ranges args, int, const Attributes&) const override { return mul_ranges(args[0], args[1]); }
  int luts(Widths widths, const Attributes&) const override { return widths[0] * widths[0]; }
  std::optional<NodeId> low_bits(Graph& graph, Args args, const Attributes&, int width) const override {
    return graph.mul(low(graph, args[0], width), low(graph, args[1], width));
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    for (std::size_t i = 0; i < 2; ++i) {
      if (const BitVec* factor = graph.constant_value(args[i])) return graph.mul(args[1 - i], BitVec(*factor));
    }
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes&, int) const override {
    const int width = graph.width(args[0]);
    std::vector<std::vector<NodeId>> columns(static_cast<std::size_t>(width));
    for (int i = 0; i < width; ++i) {
      for (int j = 0; i + j < width; ++j) {
        columns[static_cast<std::size_t>(i + j)].push_back(graph.and_(graph.bit(args[0], i), graph.bit(args[1], j)));
      }
    }
    return sum_columns(graph, std::move(columns), width);
  }
};

/// Unsigned quotient or remainder by a constant.
class Division : public Operator {
 public:
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 1);
    if (attrs.bits.width() != widths[0]) {
      fault(name(), "divisor of {} bits for an argument of {}", attrs.bits.width(), widths[0]);
    }
    if (attrs.bits.is_zero()) fault(name(), "division by zero");
    return widths[0];
  }
  /// One subtraction a bit, as Yosys builds it; the passes make a product of it.
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    return behind(args, widths[0] * adder_levels(widths[0]));
  }
  int luts(Widths widths, const Attributes&) const override { return 2 * widths[0] * widths[0]; }
};

class UdivConst final : public Division {
  std::string_view name() const override { return "udiv_const"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override { return BitVec::divide(args[0], attrs.bits); }
  std::string expression(TextContext& context, Operands args, const Attributes& attrs) const override {
    return fmt::format("{} / {}", args[0]->text(), context.constant(attrs.bits));
  }
  Range range(Ranges args, int, const Attributes& attrs) const override {
    return Range::of_unsigned(BitVec::divide(args[0].umin, attrs.bits), BitVec::divide(args[0].umax, attrs.bits));
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    if (attrs.bits.popcount() == 1) return graph.shr(args[0], attrs.bits.lowest_one());
    return std::nullopt;
  }
  /// floor(a / d) = floor(a * m / 2^(w + l)) with l = ceil(log2 d), m = ceil(2^(w + l) / d), for all a < 2^w
  /// (Granlund and Montgomery, Division by Invariant Integers using Multiplication, PLDI 1994, theorem 4.2).
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int budget) const override {
    const int w = graph.width(args[0]);
    const int shift = w + log2_of(attrs.bits);
    const int wide = shift + w + 1;
    if (wide > kMaxWidth) return Operator::expand(graph, args, attrs, budget);
    BitVec power(wide);
    power.set_bit(shift, true);
    const BitVec divisor = attrs.bits.resize(wide);
    const BitVec reciprocal = BitVec::divide(power + divisor - BitVec(wide, 1), divisor);
    const NodeId product = graph.mul(graph.zext(args[0], wide), reciprocal);
    return graph.slice(product, shift + w - 1, shift);
  }

  static int log2_of(const BitVec& divisor) {
    return divisor.popcount() == 1 ? divisor.highest_one() : divisor.highest_one() + 1;
  }
};

class UremConst final : public Division {
  std::string_view name() const override { return "urem_const"; }
  BitVec evaluate(Values args, const Attributes& attrs) const override {
    BitVec rest;
    BitVec::divide(args[0], attrs.bits, &rest);
    return rest;
  }
  std::string expression(TextContext& context, Operands args, const Attributes& attrs) const override {
    return fmt::format("{} % {}", args[0]->text(), context.constant(attrs.bits));
  }
  Range range(Ranges args, int width, const Attributes& attrs) const override {
    if (BitVec::less_unsigned(args[0].umax, attrs.bits)) return args[0];
    return Range::of_unsigned(BitVec(width), attrs.bits - BitVec(width, 1));
  }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    if (attrs.bits.popcount() != 1) return std::nullopt;
    const BitVec mask = attrs.bits - BitVec(attrs.bits.width(), 1);
    return graph.and_(args[0], graph.constant(mask));
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int) const override {
    const NodeId quotient = graph.udiv(args[0], attrs.bits);
    return graph.sub(args[0], graph.mul(quotient, attrs.bits));
  }
};

/// The smaller or greater of two values.
class MinMax : public Operator {
 public:
  MinMax(std::string_view name, bool is_signed, bool greatest) : name_(name), signed_(is_signed), greatest_(greatest) {}
  std::string_view name() const override { return name_; }
  int result_width(Widths widths, const Attributes&) const override {
    want_args(name(), widths, 2);
    want_equal(name(), widths);
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes&) const override { return args[pick(args[0], args[1])]; }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    if (widths[0] == 1) return lut_arrival(args);
    return behind(args, order_levels(widths[0]) + 1);
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override {
    const std::string a = args[0]->text();
    const std::string b = args[1]->text();
    const std::string_view symbol = greatest_ ? ">" : "<";
    return signed_ ? fmt::format("($signed({}) {} $signed({})) ? {} : {}", a, symbol, b, a, b)
                   : fmt::format("({} {} {}) ? {} : {}", a, symbol, b, a, b);
  }
  bool commutative() const override { return true; }
  Range range(Ranges args, int, const Attributes&) const override {
    const Range& a = args[0];
    const Range& b = args[1];
    const Range ends = signed_ ? Range::of_signed(chosen(a.smin, b.smin), chosen(a.smax, b.smax))
                               : Range::of_unsigned(chosen(a.umin, b.umin), chosen(a.umax, b.umax));
    return Range::both(Range::either(a, b), ends);
  }
  int luts(Widths widths, const Attributes&) const override { return 2 * widths[0]; }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    if (args[0] == args[1]) return args[0];
    for (std::size_t i = 0; i < 2; ++i) {  // against an end of the range, either it or the other wins always
      const BitVec* c = graph.constant_value(args[i]);
      if (c == nullptr) continue;
      const BitVec least = end(c->width());
      if (*c == (greatest_ ? ~least : least)) return args[i];
      if (*c == (greatest_ ? least : ~least)) return args[1 - i];
    }
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes&, int) const override {
    const NodeId less = signed_ ? graph.slt(args[0], args[1]) : graph.ult(args[0], args[1]);
    return greatest_ ? graph.select(less, args[1], args[0]) : graph.select(less, args[0], args[1]);
  }

 private:
  bool less(const BitVec& a, const BitVec& b) const {
    return signed_ ? BitVec::less_signed(a, b) : BitVec::less_unsigned(a, b);
  }
  std::size_t pick(const BitVec& a, const BitVec& b) const { return less(a, b) != greatest_ ? 0 : 1; }
  BitVec chosen(const BitVec& a, const BitVec& b) const { return pick(a, b) == 0 ? a : b; }
  BitVec end(int width) const {
    BitVec least(width);
    if (signed_) least.set_bit(width - 1, true);
    return least;
  }

  std::string_view name_;
  bool signed_;
  bool greatest_;
};

/// |a| of a two's complement number, as unsigned number.
class Abs final : public Operator {
  std::string_view name() const override { return "abs"; }
  int result_width(Widths widths, const Attributes&) const override {
    want_args(name(), widths, 1);
    return widths[0];
  }
  BitVec evaluate(Values args, const Attributes&) const override { return magnitude(args[0]); }
  Arrival arrival(Arrivals args, Widths widths, const Attributes&) const override {
    if (widths[0] <= kLutInputs) return lut_arrival(std::vector<Arrival>(static_cast<std::size_t>(widths[0]), args[0]));
    return behind(args, std::max(2, log2_ceil(widths[0]) - 2));  // the carry is an and of low bits
  }
  std::string expression(TextContext&, Operands args, const Attributes&) const override {
    const int sign = args[0]->width() - 1;
    return fmt::format("{} ? -{} : {}", args[0]->bits(sign, sign), args[0]->text(), args[0]->text());
  }
  Range range(Ranges args, int width, const Attributes&) const override {
    const Range& a = args[0];
    if (a.smin.bit(width - 1) && !a.smax.bit(width - 1)) {
      const BitVec low = magnitude(a.smin);
      return Range::of_unsigned(BitVec(width), BitVec::less_unsigned(low, a.smax) ? a.smax : low);
    }
    const bool negative = a.smin.bit(width - 1);
    return negative ? Range::of_unsigned(magnitude(a.smax), magnitude(a.smin)) : Range::both(a, a);
  }
  int luts(Widths widths, const Attributes&) const override { return widths[0]; }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes&) const override {
    if (graph.width(args[0]) == 1) return args[0];
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes&, int) const override {
    const int width = graph.width(args[0]);
    const NodeId sign = graph.bit(args[0], width - 1);
    return graph.add(graph.xor_(args[0], graph.replicate(sign, width)), graph.zext(sign, width));
  }

  static BitVec magnitude(const BitVec& a) { return a.bit(a.width() - 1) ? BitVec(a.width()) - a : a; }
};

/// The nearest value of another type: numbers are {width, argument is signed, result is signed}.
class Saturate final : public Operator {
  std::string_view name() const override { return "saturate"; }
  int result_width(Widths widths, const Attributes& attrs) const override {
    want_args(name(), widths, 1);
    for (std::size_t i = 1; i < 3; ++i) {
      const int flag = number(name(), attrs, i);
      if (flag != 0 && flag != 1) fault(name(), "a signedness of {}", flag);
    }
    return number(name(), attrs, 0);
  }
  BitVec evaluate(Values args, const Attributes& attrs) const override {
    const auto [to, from_signed, to_signed] = unpack(attrs);
    const int wide = std::max(to, args[0].width()) + 2;
    const BitVec value = from_signed ? args[0].sign_extend(wide) : args[0].resize(wide);
    const BitVec most = greatest(to, to_signed).resize(wide);
    const BitVec least = to_signed ? BitVec(wide) - most - BitVec(wide, 1) : BitVec(wide);
    if (BitVec::less_signed(value, least)) return least.resize(to);
    return (BitVec::less_signed(most, value) ? most : value).resize(to);
  }
  Arrival arrival(Arrivals args, Widths widths, const Attributes& attrs) const override {
    const auto [to, from_signed, to_signed] = unpack(attrs);
    const int tested = std::max(1, widths[0] - to + (to_signed ? 1 : 0));
    const Arrival over = plan_reduction(args[0], BitVec::ones(tested), false).arrival;
    return lut_arrival(std::array{over, args[0], args[0]});
  }
  std::string expression(TextContext& context, Operands args, const Attributes& attrs) const override {
    const auto [to, from_signed, to_signed] = unpack(attrs);
    const int top = args[0]->width() - 1;
    const int value_bits = to_signed ? to - 1 : to;  // beside the sign
    const std::string fits = args[0]->bits(to - 1, 0);
    const std::string sign = args[0]->bits(top, top);
    const std::string most = context.constant(greatest(to, to_signed));
    if (!from_signed) return fmt::format("(|{}) ? {} : {}", args[0]->bits(top, value_bits), most, fits);
    const std::string above = args[0]->bits(top - 1, value_bits);
    if (!to_signed)
      return fmt::format("{} ? {} : (|{}) ? {} : {}", sign, context.constant(BitVec(to)), above, most, fits);
    return fmt::format("({} == {{{}{{{}}}}}) ? {} : {} ? {} : {}", above, top - value_bits, sign, fits, sign,
                       context.constant(~greatest(to, true)), most);
  }
  Range range(Ranges args, int, const Attributes& attrs) const override {
    const auto [to, from_signed, to_signed] = unpack(attrs);
    const auto end = [&](const BitVec& value) { return evaluate(std::array{value}, attrs); };
    const BitVec low = end(from_signed ? args[0].smin : args[0].umin);
    const BitVec high = end(from_signed ? args[0].smax : args[0].umax);
    return to_signed ? Range::of_signed(low, high) : Range::of_unsigned(low, high);
  }
  int luts(Widths widths, const Attributes& attrs) const override { return attrs.numbers[0] + widths[0] / 5 + 1; }
  std::optional<NodeId> simplify(Graph& graph, Args args, const Attributes& attrs) const override {
    const auto [to, from_signed, to_signed] = unpack(attrs);
    const int width = graph.width(args[0]);
    if (!from_signed && (to_signed ? to - 1 : to) >= width) return graph.zext(args[0], to);
    if (from_signed && to_signed && to >= width) return graph.sext(args[0], to);
    if (from_signed && width == 1) return to_signed ? graph.sext(args[0], to) : graph.constant(to, 0);
    if (from_signed && !to_signed && to >= width - 1) {
      const NodeId value = graph.zext(graph.slice(args[0], width - 2, 0), to);
      return graph.select(graph.bit(args[0], width - 1), graph.constant(to, 0), value);
    }
    return std::nullopt;
  }
  NodeId expand(Graph& graph, Args args, const Attributes& attrs, int) const override {
    const auto [to, from_signed, to_signed] = unpack(attrs);
    const int top = graph.width(args[0]) - 1;
    const int value_bits = to_signed ? to - 1 : to;
    const NodeId fits = graph.slice(args[0], to - 1, 0);
    const NodeId most = graph.constant(greatest(to, to_signed));
    if (!from_signed) return graph.select(graph.or_reduce(graph.slice(args[0], top, value_bits)), most, fits);
    const NodeId sign = graph.bit(args[0], top);
    const NodeId above = graph.slice(args[0], top - 1, value_bits);
    const NodeId over = graph.select(graph.or_reduce(above), most, fits);
    if (!to_signed) return graph.select(sign, graph.constant(to, 0), over);
    const NodeId least = graph.constant(~greatest(to, true));
    return graph.select(sign, graph.select(graph.and_reduce(above), fits, least), over);
  }

  struct Kind {
    int to;
    bool from_signed;
    bool to_signed;
  };
  static Kind unpack(const Attributes& attrs) {
    return {attrs.numbers[0], attrs.numbers[1] != 0, attrs.numbers[2] != 0};
  }
  static BitVec greatest(int width, bool is_signed) {
    BitVec r = BitVec::ones(width);
    if (is_signed) r.set_bit(width - 1, false);
    return r;
  }
};

const MinMax& min_max(bool is_signed, bool greatest) {
  static const std::array kAll = {MinMax("umin", false, false), MinMax("umax", false, true),
                                  MinMax("smin", true, false), MinMax("smax", true, true)};
  return kAll[(is_signed ? 2 : 0) + (greatest ? 1 : 0)];
}

}  // namespace

std::span<const Operator* const> detail::arithmetic_operators() {
  static const std::array<const Operator*, 15> kTable = {
      &instance<Add>(),       &instance<Sub>(),       &instance<AddCarry>(), &instance<MulConst>(),
      &instance<Popcount>(),  &instance<Sum>(),       &instance<Mul>(),      &instance<UdivConst>(),
      &instance<UremConst>(), &min_max(false, false), &min_max(false, true), &min_max(true, false),
      &min_max(true, true),   &instance<Abs>(),       &instance<Saturate>(),
  };
  return kTable;
}

}  // namespace rocegen::dataflow
