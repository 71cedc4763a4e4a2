// Helpers of the operator classes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "generator/dataflow/graph.h"
#include "generator/dataflow/operator.h"

namespace rocegen::dataflow::detail {

using Args = std::span<const NodeId>;
using Values = std::span<const BitVec>;
using Arrivals = std::span<const Arrival>;
using Widths = std::span<const int>;
using Operands = std::span<const Operand* const>;

inline constexpr int kLutInputs = 6;
inline constexpr int kMaxShiftAmountWidth = 16;
inline constexpr int kMaxTableIndexWidth = 12;

template <typename... T>
[[noreturn]] void fault(std::string_view op, fmt::format_string<T...> text, T&&... args) {
  throw std::invalid_argument(fmt::format("{}: {}", op, fmt::format(text, std::forward<T>(args)...)));
}

inline void want_args(std::string_view op, Widths widths, std::size_t count) {
  if (widths.size() != count) fault(op, "takes {} arguments, not {}", count, widths.size());
}

inline void want_equal(std::string_view op, Widths widths) {
  for (const int w : widths) {
    if (w != widths[0]) fault(op, "arguments of {} and {} bits, must be equal", widths[0], w);
  }
}

inline int number(std::string_view op, const Attributes& attrs, std::size_t index) {
  if (index >= attrs.numbers.size()) fault(op, "attribute {} is missing", index);
  return attrs.numbers[index];
}

inline BitVec bool_vec(bool value) { return BitVec(1, value ? 1 : 0); }

inline std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string r;
  for (const auto& part : parts) {
    if (!r.empty()) r += separator;
    r += part;
  }
  return r;
}

inline std::string join(Operands args, std::string_view separator) {
  std::vector<std::string> parts;
  for (const auto* a : args) parts.push_back(a->text());
  return join(parts, separator);
}

/// After some whole levels behind the latest argument: nothing more fits into the last LUT.
inline Arrival behind(Arrivals args, int levels) {
  const Arrival a = latest(args);
  return a.inputs == 0 ? kConstant : Arrival{a.level + levels, kLutInputs};
}

/// Multiplexer of 2^index_bits values that arrive alike, four to a LUT6.
inline Arrival mux_arrival(Arrival value, Arrival index, int index_bits) {
  Arrival r = value;
  for (int done = 0; done < index_bits; done += 2) {
    const int bits = std::min(2, index_bits - done);
    std::vector<Arrival> in(std::size_t{1} << bits, r);
    in.insert(in.end(), static_cast<std::size_t>(bits), index);
    r = lut_arrival(in);
  }
  return r;
}

/// Levels of an order comparison of two numbers.
inline int order_levels(int width) { return std::max(2, log2_ceil(width) - 1); }

using Ranges = std::span<const Range>;

/// The arithmetic operators, for the table of operators.cpp.
std::span<const Operator* const> arithmetic_operators();

/// A stateless operator.
template <typename T>
const Operator& instance() {
  static const T op;
  return op;
}

}  // namespace rocegen::dataflow::detail
