#include "generator/dataflow/range.h"

#include <algorithm>
#include <array>

namespace rocegen::dataflow {

namespace {

const BitVec& lesser(const BitVec& a, const BitVec& b) { return BitVec::less_unsigned(a, b) ? a : b; }
const BitVec& greater(const BitVec& a, const BitVec& b) { return BitVec::less_unsigned(a, b) ? b : a; }
const BitVec& lesser_signed(const BitVec& a, const BitVec& b) { return BitVec::less_signed(a, b) ? a : b; }
const BitVec& greater_signed(const BitVec& a, const BitVec& b) { return BitVec::less_signed(a, b) ? b : a; }

BitVec sign_mask(int width) {
  BitVec r(width);
  r.set_bit(width - 1, true);
  return r;
}

/// Ones in the lowest `count` bits.
BitVec low_ones(int width, int count) {
  return count <= 0 ? BitVec(width) : BitVec::ones(std::min(count, width)).resize(width);
}

/// Whether `wide` is the sign extension of its low `width` bits.
bool fits_signed(const BitVec& wide, int width) { return signed_bits(wide) <= width; }

/// Known low bits of a sum, difference or product follow from the known low bits of both operands.
Range with_low_bits(Range r, const Range& a, const Range& b, const BitVec& value) {
  const BitVec unknown = ~((a.zeros | a.ones) & (b.zeros | b.ones));
  const int known = unknown.is_zero() ? r.width() : unknown.lowest_one();
  const BitVec mask = low_ones(r.width(), known);
  return Range::both(r, Range::of_bits(~value & mask, value & mask));
}

}  // namespace

int unsigned_bits(const BitVec& value) { return std::max(1, value.highest_one() + 1); }

int signed_bits(const BitVec& value) {
  const BitVec magnitude = value.bit(value.width() - 1) ? ~value : value;
  return magnitude.highest_one() + 2;
}

Range Range::full(int width) { return of_bits(BitVec(width), BitVec(width)); }

Range Range::exactly(const BitVec& value) { return {value, value, value, value, ~value, value}; }

Range Range::of_unsigned(const BitVec& least, const BitVec& greatest) {
  Range r = full(least.width());
  r.umin = least;
  r.umax = greatest;
  return r.refine();
}

Range Range::of_signed(const BitVec& least, const BitVec& greatest) {
  Range r = full(least.width());
  r.smin = least;
  r.smax = greatest;
  return r.refine();
}

Range Range::of_bits(const BitVec& zeros, const BitVec& ones) {
  const BitVec sign = sign_mask(zeros.width());
  const BitVec free = ~(zeros | ones);
  Range r{ones, ~zeros, ones | (free & sign), ~zeros & ~(free & sign), zeros, ones};
  return r;
}

Range Range::either(const Range& a, const Range& b) {
  Range r{lesser(a.umin, b.umin),         greater(a.umax, b.umax), lesser_signed(a.smin, b.smin),
          greater_signed(a.smax, b.smax), a.zeros & b.zeros,       a.ones & b.ones};
  return r.refine();
}

Range Range::both(const Range& a, const Range& b) {
  Range r{greater(a.umin, b.umin),       lesser(a.umax, b.umax), greater_signed(a.smin, b.smin),
          lesser_signed(a.smax, b.smax), a.zeros | b.zeros,      a.ones | b.ones};
  return r.refine();
}

bool Range::contains(const BitVec& value) const {
  return !BitVec::less_unsigned(value, umin) && !BitVec::less_unsigned(umax, value) &&
         !BitVec::less_signed(value, smin) && !BitVec::less_signed(smax, value) && (value & zeros).is_zero() &&
         (~value & ones).is_zero();
}

int Range::unsigned_bits() const { return dataflow::unsigned_bits(umax); }

int Range::signed_bits() const { return std::max(dataflow::signed_bits(smin), dataflow::signed_bits(smax)); }

Range& Range::refine() {
  const int w = width();
  const BitVec sign = sign_mask(w);
  for (int round = 0; round < 2; ++round) {
    umin = greater(umin, ones);
    umax = lesser(umax, ~zeros);
    // Where the sign is known, both intervals are one.
    if (!umax.bit(w - 1) || umin.bit(w - 1) || smin.bit(w - 1) == smax.bit(w - 1)) {
      const bool negative = umin.bit(w - 1) || (smin.bit(w - 1) && smax.bit(w - 1));
      if (negative) umin = greater(umin, sign);
      if (!negative) umax = lesser(umax, ~sign);
      smin = greater_signed(smin, umin);
      smax = lesser_signed(smax, umax);
      umin = greater(umin, smin);
      umax = lesser(umax, smax);
    }
    // The bits above the highest that differs between the ends are those of both ends.
    const BitVec prefix = ~low_ones(w, (umin ^ umax).highest_one() + 1);
    ones = ones | (umin & prefix);
    zeros = zeros | (~umin & prefix);
  }
  return *this;
}

Range add_ranges(const Range& a, const Range& b) {
  const int w = a.width();
  Range r = Range::full(w);
  const BitVec most = a.umax.resize(w + 1) + b.umax.resize(w + 1);
  if (!most.bit(w)) r = Range::both(r, Range::of_unsigned(a.umin + b.umin, most.resize(w)));
  const BitVec low = a.smin.sign_extend(w + 1) + b.smin.sign_extend(w + 1);
  const BitVec high = a.smax.sign_extend(w + 1) + b.smax.sign_extend(w + 1);
  if (fits_signed(low, w) && fits_signed(high, w)) {
    r = Range::both(r, Range::of_signed(low.resize(w), high.resize(w)));
  }
  return with_low_bits(r, a, b, a.ones + b.ones);
}

Range sub_ranges(const Range& a, const Range& b) {
  const int w = a.width();
  Range r = Range::full(w);
  if (!BitVec::less_unsigned(a.umin, b.umax)) r = Range::both(r, Range::of_unsigned(a.umin - b.umax, a.umax - b.umin));
  const BitVec low = a.smin.sign_extend(w + 1) - b.smax.sign_extend(w + 1);
  const BitVec high = a.smax.sign_extend(w + 1) - b.smin.sign_extend(w + 1);
  if (fits_signed(low, w) && fits_signed(high, w)) {
    r = Range::both(r, Range::of_signed(low.resize(w), high.resize(w)));
  }
  return with_low_bits(r, a, b, a.ones - b.ones);
}

Range mul_ranges(const Range& a, const Range& b) {
  const int w = a.width();
  Range r = Range::full(w);
  const BitVec most = a.umax.resize(2 * w) * b.umax.resize(2 * w);
  if (most.highest_one() < w) r = Range::both(r, Range::of_unsigned(a.umin * b.umin, most.resize(w)));
  const std::array ends_a = {a.smin.sign_extend(2 * w), a.smax.sign_extend(2 * w)};
  const std::array ends_b = {b.smin.sign_extend(2 * w), b.smax.sign_extend(2 * w)};
  BitVec low = ends_a[0] * ends_b[0];
  BitVec high = low;
  for (const auto& x : ends_a) {
    for (const auto& y : ends_b) {
      const BitVec product = x * y;
      low = lesser_signed(low, product);
      high = greater_signed(high, product);
    }
  }
  if (fits_signed(low, w) && fits_signed(high, w)) {
    r = Range::both(r, Range::of_signed(low.resize(w), high.resize(w)));
  }
  return with_low_bits(r, a, b, a.ones * b.ones);
}

}  // namespace rocegen::dataflow
