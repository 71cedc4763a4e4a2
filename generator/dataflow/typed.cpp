#include "generator/dataflow/typed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace rocegen::dataflow {

namespace {

template <typename... T>
[[noreturn]] void fault(fmt::format_string<T...> text, T&&... args) {
  throw std::invalid_argument(fmt::format(text, std::forward<T>(args)...));
}

constexpr int kMaxAmountWidth = 16;

}  // namespace

std::string Type::text() const { return fmt::format("{}{}", is_signed ? 's' : 'u', width); }

std::optional<Type> Type::parse(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'u' && text[0] != 's') || text[1] == '0') return std::nullopt;
  int width = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), width);
  if (error != std::errc{} || end != text.data() + text.size() || width < 1 || width > kMaxWidth) return std::nullopt;
  return Type{width, text[0] == 's'};
}

bool Type::holds(Type other) const {
  if (is_signed == other.is_signed) return width >= other.width;
  return is_signed && width > other.width;
}

Type common_type(Type a, Type b) {
  if (a.is_signed == b.is_signed) return {std::max(a.width, b.width), a.is_signed};
  const int unsigned_width = a.is_signed ? b.width : a.width;
  const int signed_width = a.is_signed ? a.width : b.width;
  return {std::max(signed_width, unsigned_width + 1), true};
}

Type Typed::common(std::span<const Value> values) {
  Type r = values[0].type;
  for (const auto& v : values) r = common_type(r, v.type);
  return checked(r.width, r.is_signed);
}

Type Typed::checked(int width, bool is_signed) {
  if (width > kMaxWidth) fault("the result needs {} bits, at most {} are possible", width, kMaxWidth);
  return {width, is_signed};
}

NodeId Typed::as(Value a, Type type) {
  return a.type.is_signed ? g_.sext(a.node, type.width) : g_.zext(a.node, type.width);
}

Value Typed::constant(std::int64_t value) {
  const BitVec bits(64, static_cast<std::uint64_t>(value));
  const int width = value < 0 ? signed_bits(bits) : unsigned_bits(bits);
  return {g_.constant(bits.slice(width - 1, 0)), {width, value < 0}};
}

Value Typed::sub(Value a, Value b) {
  const Type c = common_type(a.type, b.type);
  const Type type = checked(c.width + 1, true);
  return {g_.sub(as(a, type), as(b, type)), type};
}

Value Typed::abs(Value a) {
  if (!a.type.is_signed) return a;
  return {g_.abs(a.node), {a.type.width, false}};
}

Value Typed::sum(std::span<const Value> values) {
  const Type c = common(values);
  const Type type = checked(c.width + log2_ceil(static_cast<int>(values.size())), c.is_signed);
  std::vector<NodeId> terms;
  for (const auto& v : values) terms.push_back(as(v, type));
  return {g_.sum(terms), type};
}

Value Typed::mul(Value a, Value b) {
  const Type type = checked(a.type.width + b.type.width, a.type.is_signed || b.type.is_signed);
  return {g_.mul(as(a, type), as(b, type)), type};
}

Value Typed::divided(Value a, Value divisor, bool quotient) {
  const BitVec* d = g_.constant_value(divisor.node);
  if (d == nullptr) fault("the divisor must be a constant");
  if (d->is_zero() || divisor.type.is_signed) fault("the divisor must be positive");
  if (a.type.is_signed) fault("the dividend is {}, it must be unsigned", a.type.text());
  const int width = std::max(a.type.width, d->width());
  const NodeId wide = g_.zext(a.node, width);
  const BitVec by = d->resize(width);
  if (quotient) return {g_.slice(g_.udiv(wide, by), a.type.width - 1, 0), a.type};
  const int rest = std::min(width, unsigned_bits(by - BitVec(width, 1)));
  return {g_.slice(g_.urem(wide, by), rest - 1, 0), {rest, false}};
}

Value Typed::div(Value a, Value divisor) { return divided(a, divisor, true); }
Value Typed::mod(Value a, Value divisor) { return divided(a, divisor, false); }

Value Typed::pick(std::span<const Value> values, bool greatest) {
  const Type type = common(values);
  NodeId r = as(values[0], type);
  for (const auto& v : values.subspan(1)) {
    const NodeId x = as(v, type);
    if (type.is_signed) {
      r = greatest ? g_.smax(r, x) : g_.smin(r, x);
    } else {
      r = greatest ? g_.umax(r, x) : g_.umin(r, x);
    }
  }
  return {r, type};
}

Value Typed::min(std::span<const Value> values) { return pick(values, false); }
Value Typed::max(std::span<const Value> values) { return pick(values, true); }

Value Typed::bitwise(std::span<const Value> values, const Operator& op) {
  const Type type = common(values);
  std::vector<NodeId> args;
  for (const auto& v : values) args.push_back(as(v, type));
  return {g_.apply(op, args), type};
}

Value Typed::and_(std::span<const Value> values) { return bitwise(values, ops::and_n()); }
Value Typed::or_(std::span<const Value> values) { return bitwise(values, ops::or_n()); }
Value Typed::xor_(std::span<const Value> values) { return bitwise(values, ops::xor_n()); }
Value Typed::not_(Value a) { return {g_.not_(a.node), a.type}; }

Value Typed::eq(Value a, Value b) {
  const Type type = common(std::array{a, b});
  return {g_.eq(as(a, type), as(b, type)), {}};
}

Value Typed::ne(Value a, Value b) {
  const Type type = common(std::array{a, b});
  return {g_.ne(as(a, type), as(b, type)), {}};
}

Value Typed::lt(Value a, Value b) {
  const Type type = common(std::array{a, b});
  return {type.is_signed ? g_.slt(as(a, type), as(b, type)) : g_.ult(as(a, type), as(b, type)), {}};
}

Value Typed::le(Value a, Value b) {
  const Type type = common(std::array{a, b});
  return {type.is_signed ? g_.sle(as(a, type), as(b, type)) : g_.ule(as(a, type), as(b, type)), {}};
}

Value Typed::select(Value condition, Value a, Value b) {
  if (condition.type != Type{}) fault("the condition is {}, it must be u1", condition.type.text());
  const Type type = common(std::array{a, b});
  return {g_.select(condition.node, as(a, type), as(b, type)), type};
}

Value Typed::mux(Value index, std::span<const Value> choices) {
  if (index.type.is_signed || index.type.width > 12) fault("the index is {}, it must be u1 to u12", index.type.text());
  const std::size_t count = std::size_t{1} << index.type.width;
  if (choices.size() != count) {
    fault("an index of {} chooses from {} values, {} are given", index.type.text(), count, choices.size());
  }
  const Type type = common(choices);
  std::vector<NodeId> args;
  for (const auto& c : choices) args.push_back(as(c, type));
  return {g_.mux(index.node, args), type};
}

Value Typed::table(Value index, Type type, std::span<const BitVec> entries) {
  if (index.type.is_signed || index.type.width > 12) fault("the index is {}, it must be u1 to u12", index.type.text());
  const std::size_t count = std::size_t{1} << index.type.width;
  if (entries.size() != count) {
    fault("an index of {} looks up {} entries, {} are given", index.type.text(), count, entries.size());
  }
  return {g_.table(index.node, entries), type};
}

Value Typed::shl(Value a, Value amount) {
  if (amount.type.is_signed) fault("the amount is {}, it must be unsigned", amount.type.text());
  if (const BitVec* by = g_.constant_value(amount.node)) {
    const int n = unsigned_bits(*by) > 13 ? kMaxWidth : static_cast<int>(by->low64());
    const Type type = checked(a.type.width + n, a.type.is_signed);
    return {g_.shl(as(a, type), n), type};
  }
  if (amount.type.width > kMaxAmountWidth) fault("the amount is {}, at most u16 is possible", amount.type.text());
  return {g_.shl(a.node, amount.node), a.type};
}

Value Typed::shr(Value a, Value amount) {
  if (amount.type.is_signed) fault("the amount is {}, it must be unsigned", amount.type.text());
  if (const BitVec* by = g_.constant_value(amount.node)) {
    const int top = a.type.width - 1;
    const int n = unsigned_bits(*by) > 13 ? kMaxWidth : static_cast<int>(by->low64());
    if (n <= top) return {g_.slice(a.node, top, n), {a.type.width - n, a.type.is_signed}};
    return a.type.is_signed ? Value{g_.bit(a.node, top), {1, true}} : Value{g_.constant(1, 0), {}};
  }
  if (amount.type.width > kMaxAmountWidth) fault("the amount is {}, at most u16 is possible", amount.type.text());
  return {a.type.is_signed ? g_.sar(a.node, amount.node) : g_.shr(a.node, amount.node), a.type};
}

Value Typed::slice(Value a, int hi, int lo) {
  if (lo < 0 || hi < lo || hi >= a.type.width) fault("bits {} to {} of a value of {} bits", hi, lo, a.type.width);
  return {g_.slice(a.node, hi, lo), {hi - lo + 1, false}};
}

Value Typed::concat(std::span<const Value> parts) {
  int width = 0;
  std::vector<NodeId> nodes;
  for (const auto& p : parts) {
    width += p.type.width;
    nodes.push_back(p.node);
  }
  return {g_.concat(nodes), checked(width, false)};
}

Value Typed::extend(Value a, Type type) {
  if (!type.holds(a.type)) fault("{} does not hold every value of {}", type.text(), a.type.text());
  return {as(a, type), type};
}

Value Typed::wrap(Value a, Type type) {
  return {type.width <= a.type.width ? g_.slice(a.node, type.width - 1, 0) : as(a, type), type};
}

Value Typed::saturate(Value a, Type type) {
  return {g_.saturate(a.node, a.type.is_signed, type.width, type.is_signed), type};
}

Value Typed::popcount(Value a) {
  const NodeId n = g_.popcount(a.node);
  return {n, {g_.width(n), false}};
}

}  // namespace rocegen::dataflow
