#include "generator/services/preprocess/logarithm.h"

#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

namespace rocegen::preprocess {

namespace {

using dataflow::BitVec;
using dataflow::Type;
using dataflow::Typed;
using dataflow::Value;

constexpr int kIndexBits = 7;    // segments: 2^7
constexpr int kOffsetBits = 17;  // of d, whose unit is 2^-24
constexpr int kFraction = kIndexBits + kOffsetBits;
constexpr int kBaseBits = 32;                     // fraction bits of e ln 2 and ln(1 + s)
constexpr int kSlopeBits = 21;                    // of c1, and of d * c2
constexpr int kCurveBits = 13;                    // of c2
constexpr int kShortOffset = 13;                  // high bits of d that d * c2 takes
constexpr int kSumBits = kSlopeBits + kFraction;  // of the sum
constexpr std::uint32_t kMinusInfinity = 0xff800000;
constexpr std::uint32_t kNan = 0x7fc00000;

struct Segment {
  std::uint64_t base;   // ln(1 + s)
  std::uint64_t slope;  // c1
  std::uint64_t curve;  // c2
};

std::uint64_t fixed(double value, int fraction_bits) {
  return static_cast<std::uint64_t>(std::llround(std::ldexp(value, fraction_bits)));
}

const std::array<Segment, 1 << kIndexBits>& segments() {
  static const auto table = [] {
    std::array<Segment, 1 << kIndexBits> out{};
    const double h = std::ldexp(1.0, -kIndexBits);
    // Nodes of the third Chebyshev polynomial, cos 150, 90, 30 degrees, moved so that the first is 0 and +1 is h.
    const double root = std::cos(std::numbers::pi / 6);
    const double d1 = h * root / (1 + root);
    const double d2 = 2 * d1;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double s = 1 + static_cast<double>(i) * h;
      const double f1 = std::log1p(d1 / s) / d1;
      const double f2 = std::log1p(d2 / s) / d2;
      const double curve = (f1 - f2) / (d2 - d1);
      out[i] = {fixed(std::log(s), kBaseBits), fixed(f1 + curve * d1, kSlopeBits), fixed(curve, kCurveBits)};
    }
    return out;
  }();
  return table;
}

std::uint64_t exponent_part(int e) { return fixed(e * std::numbers::ln2, kBaseBits); }

/// Place of the leading one, from 1.
int bits_of(std::uint64_t value) { return static_cast<int>(std::bit_width(value)); }

constexpr int kTop = 5;  // integer bits of a logarithm: ln 2^33 < 23

}  // namespace

std::uint32_t log_bits(std::int64_t t) {
  if (t < 0) return kNan;
  if (t == 0) return kMinusInfinity;
  const auto number = static_cast<std::uint64_t>(t);
  const int e = bits_of(number) - 1;
  const std::uint64_t fraction =
      (e >= kFraction ? number >> (e - kFraction) : number << (kFraction - e)) & ((std::uint64_t{1} << kFraction) - 1);
  const Segment& segment = segments()[fraction >> kOffsetBits];
  const std::uint64_t d = fraction & ((1U << kOffsetBits) - 1);
  const std::uint64_t d_short = d >> (kOffsetBits - kShortOffset);
  // Unit of d_short * curve: 2^-(22 + 16).
  const std::uint64_t bend =
      d_short * segment.curve >> (kFraction - (kOffsetBits - kShortOffset) + kCurveBits - kSlopeBits);
  const std::uint64_t sum = ((exponent_part(e) + segment.base) << (kSumBits - kBaseBits)) + (segment.slope - bend) * d;
  if (sum == 0) return 0;
  const int top = bits_of(sum) - 1;                             // place of the leading one, at least that of 0.5
  const std::uint64_t mantissa = sum >> (top - 24) & 0xffffff;  // 23 bits behind the one, and one to round by
  const auto biased = static_cast<std::uint32_t>(top - kSumBits + 127);
  return (biased << 23 | static_cast<std::uint32_t>(mantissa >> 1)) + static_cast<std::uint32_t>(mantissa & 1);
}

Normalised normalise(Typed& t, Value number) {
  const int width = number.type.width;
  int step = 1;
  while (step * 2 < width) step *= 2;
  Value shift = t.constant(0);
  Value x = number;
  std::vector<Value> bits;
  for (; step > 0; step /= 2) {
    if (step >= width) continue;
    const Value zeros = t.eq(t.slice(x, width - 1, width - step), t.constant(0));
    const Value moved = t.wrap(t.shl(x, t.constant(step)), {width, false});
    x = t.select(zeros, moved, x);
    bits.push_back(zeros);
  }
  if (!bits.empty()) shift = t.concat(bits);
  return {x, shift};
}

Value build_log(Typed& t, Value number) {
  const int magnitude_bits = number.type.is_signed ? number.type.width - 1 : number.type.width;
  const Value magnitude = t.wrap(number, {magnitude_bits, false});
  const auto [mantissa, shift] = normalise(t, magnitude);
  const Type kWord{32, false};

  // Fraction bits behind the leading one, exactly kFraction of them.
  Value fraction = mantissa;
  if (magnitude_bits - 1 < kFraction)
    fraction = t.shl(mantissa, t.constant(kFraction - (magnitude_bits - 1)));
  else
    fraction = t.shr(mantissa, t.constant(magnitude_bits - 1 - kFraction));
  const Value index = t.slice(fraction, kFraction - 1, kOffsetBits);
  const Value d = t.slice(fraction, kOffsetBits - 1, 0);
  const Value d_short = t.slice(fraction, kOffsetBits - 1, kOffsetBits - kShortOffset);

  const auto table = [&t](Value at, int entries, int width, auto&& value) {
    std::vector<BitVec> list;
    for (int i = 0; i < entries; ++i) list.emplace_back(width, value(i));
    return t.table(at, {width, false}, list);
  };
  const auto segment = [](int i) { return segments()[static_cast<std::size_t>(i)]; };
  const int count = 1 << kIndexBits;
  const Value base = table(index, count, kBaseBits, [&](int i) { return segment(i).base; });
  const Value slope = table(index, count, kSlopeBits + 1, [&](int i) { return segment(i).slope; });
  const Value curve = table(index, count, kCurveBits, [&](int i) { return segment(i).curve; });
  // The exponent is magnitude_bits - 1 - shift; what no number has is 0.
  const Value exponent = table(shift, 1 << shift.type.width, kBaseBits + kTop, [&](int s) {
    const int e = magnitude_bits - 1 - s;
    return e < 0 ? 0 : exponent_part(e);
  });
  const Value bend =
      t.shr(t.mul(d_short, curve), t.constant(kFraction - (kOffsetBits - kShortOffset) + kCurveBits - kSlopeBits));
  const Value line = t.wrap(t.sub(slope, bend), {kSlopeBits + 1, false});  // never negative
  const Value whole = t.shl(t.add(exponent, base), t.constant(kSumBits - kBaseBits));
  const int sum_bits = kTop + kSumBits;
  const Value sum = t.wrap(t.add(whole, t.mul(line, d)), {sum_bits, false});

  // The leading one stands in one of the places of 16, 8, 4, 2, 1, 0.5, or there is none.
  Value mantissa_bits = t.constant({24, false}, BitVec(24));
  Value biased = t.constant({8, false}, BitVec(8));
  for (int place = -1; place < kTop; ++place) {
    const int top = kSumBits + place;
    const Value one = t.slice(sum, top, top);
    mantissa_bits = t.select(one, t.slice(sum, top - 1, top - 24), mantissa_bits);
    biased = t.select(one, t.constant({8, false}, BitVec(8, static_cast<std::uint64_t>(127 + place))), biased);
  }
  const Value packed = t.concat(std::array{biased, t.slice(mantissa_bits, 23, 1)});
  Value result = t.wrap(t.add(packed, t.slice(mantissa_bits, 0, 0)), kWord);
  result = t.select(t.eq(magnitude, t.constant(0)), t.constant(kWord, BitVec(32, kMinusInfinity)), result);
  if (number.type.is_signed)
    result = t.select(t.lt(number, t.constant(0)), t.constant(kWord, BitVec(32, kNan)), result);
  return result;
}

}  // namespace rocegen::preprocess
