// Arithmetic on numbers of declared types over an expression graph: what a user writes. Results are exact: their type
// holds every value, so that nothing wraps unless it is asked for; the narrowing pass takes back what is not needed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "generator/dataflow/graph.h"

namespace rocegen::dataflow {

/// An integer type: u<width> or s<width> (two's complement), 1 to kMaxWidth bits.
struct Type {
  int width = 1;
  bool is_signed = false;
  friend bool operator==(const Type&, const Type&) = default;

  /// "u8", "s12".
  std::string text() const;
  /// The type of that text, if it is one.
  static std::optional<Type> parse(std::string_view text);
  /// Whether every value of `other` is one of this type.
  bool holds(Type other) const;
};

struct Value {
  NodeId node;
  Type type;
};

/// The smallest type that holds every value of both.
Type common_type(Type a, Type b);

/// Builds typed expressions. Functions throw std::invalid_argument with a sentence when the types do not allow the
/// operation or the result is wider than kMaxWidth.
class Typed {
 public:
  explicit Typed(Graph& graph) : g_(graph) {}

  Value constant(std::int64_t value);
  Value constant(Type type, const BitVec& bits) { return {g_.constant(bits), type}; }

  Value add(Value a, Value b) { return sum(std::array{a, b}); }
  Value sub(Value a, Value b);
  Value neg(Value a) { return sub(constant(0), a); }
  Value abs(Value a);
  Value sum(std::span<const Value> values);
  Value mul(Value a, Value b);
  /// Of an unsigned value by a positive constant.
  Value div(Value a, Value divisor);
  Value mod(Value a, Value divisor);
  Value min(std::span<const Value> values);
  Value max(std::span<const Value> values);

  /// Bit by bit, of the common type.
  Value and_(std::span<const Value> values);
  Value or_(std::span<const Value> values);
  Value xor_(std::span<const Value> values);
  Value not_(Value a);

  Value eq(Value a, Value b);
  Value ne(Value a, Value b);
  Value lt(Value a, Value b);
  Value le(Value a, Value b);

  /// condition (u1) ? a : b, of the common type.
  Value select(Value condition, Value a, Value b);
  /// choices[index]; as many choices as the index has values.
  Value mux(Value index, std::span<const Value> choices);
  Value table(Value index, Type type, std::span<const BitVec> entries);

  /// By a constant exact: a * 2^n (n bits wider) and floor(a / 2^n) (n bits narrower). By a value the type stays, bits
  /// are lost.
  Value shl(Value a, Value amount);
  Value shr(Value a, Value amount);

  Value slice(Value a, int hi, int lo);
  /// The first part in the most significant bits.
  Value concat(std::span<const Value> parts);

  /// The same number in a type that holds all of a's.
  Value extend(Value a, Type type);
  /// Modulo 2^width.
  Value wrap(Value a, Type type);
  /// The nearest number of the type.
  Value saturate(Value a, Type type);

  Value popcount(Value a);
  Value any(Value a) { return {g_.or_reduce(a.node), {}}; }
  Value all(Value a) { return {g_.and_reduce(a.node), {}}; }
  Value parity(Value a) { return {g_.xor_reduce(a.node), {}}; }

 private:
  NodeId as(Value a, Type type);
  Value pick(std::span<const Value> values, bool greatest);
  Value bitwise(std::span<const Value> values, const Operator& op);
  Value divided(Value a, Value divisor, bool quotient);
  static Type common(std::span<const Value> values);
  static Type checked(int width, bool is_signed);

  Graph& g_;
};

}  // namespace rocegen::dataflow
