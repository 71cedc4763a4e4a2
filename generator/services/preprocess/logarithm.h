// Natural logarithm of a whole number as float32: tables and a polynomial in fixed point, one description for the
// hardware and for a C++ function that gives the same bits.
//
// t = 2^e * (1 + f), 0 <= f < 1. The high 7 bits of f choose a segment that starts at s; with d = f - s
//   ln t = e ln 2 + ln(1 + s) + d (c1 - d c2)
// The parabola goes through the logarithm at d = 0, so that powers of two are rounded from e ln 2 alone and ln 1 is 0.
// Its other two nodes are those of a Chebyshev polynomial stretched so that its first root lies there: it is wrong by
// at most 2^-27.3, less than a tenth of an ulp of a result of 1 or more. Only ln 2 is less than 1.
#pragma once

#include <cstdint>

#include "generator/dataflow/typed.h"

namespace rocegen::preprocess {

/// Most bits of a number whose logarithm is taken.
inline constexpr int kLogMaxBits = 33;

/// ln(t) as float32 bits; minus infinity of 0, NaN (0x7fc00000) of a negative number. t < 2^33.
std::uint32_t log_bits(std::int64_t t);

/// The same as a graph; `t` of at most kLogMaxBits bits (without the sign).
dataflow::Value build_log(dataflow::Typed& typed, dataflow::Value t);

/// A number whose leading one stands on top, and how far it had to go there.
struct Normalised {
  dataflow::Value mantissa;  ///< as wide as the number was; 0 when that was 0
  dataflow::Value shift;     ///< places to the left
};
Normalised normalise(dataflow::Typed& typed, dataflow::Value unsigned_number);

}  // namespace rocegen::preprocess
