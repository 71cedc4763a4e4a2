// What is known of a value before it is computed: intervals and bits. The passes narrow by it.
#pragma once

#include <span>

#include "generator/dataflow/bitvec.h"

namespace rocegen::dataflow {

/// A set of values of one width, as the intersection of an interval of unsigned numbers, one of two's complement
/// numbers, and known bits. Never empty.
struct Range {
  BitVec umin, umax;  ///< as unsigned numbers
  BitVec smin, smax;  ///< as two's complement numbers
  BitVec zeros;       ///< bits that are always 0
  BitVec ones;        ///< bits that are always 1

  static Range full(int width);
  static Range exactly(const BitVec& value);
  static Range of_unsigned(const BitVec& least, const BitVec& greatest);
  static Range of_signed(const BitVec& least, const BitVec& greatest);
  static Range of_bits(const BitVec& zeros, const BitVec& ones);
  /// The smallest range that holds both.
  static Range either(const Range& a, const Range& b);
  /// The values that are in both. Precondition: there are some.
  static Range both(const Range& a, const Range& b);

  int width() const { return zeros.width(); }
  bool contains(const BitVec& value) const;
  /// One value only.
  bool is_constant() const { return umin == umax; }
  bool is_non_negative() const { return zeros.bit(width() - 1); }
  /// Fewest bits, at least 1, from which zero extension (sign extension) restores every value.
  int unsigned_bits() const;
  int signed_bits() const;

 private:
  /// Lets intervals and bits sharpen each other.
  Range& refine();
};

/// Ranges of sums, differences and products modulo 2^width.
Range add_ranges(const Range& a, const Range& b);
Range sub_ranges(const Range& a, const Range& b);
Range mul_ranges(const Range& a, const Range& b);

/// Fewest bits, at least 1, that hold `value` as an unsigned (two's complement) number.
int unsigned_bits(const BitVec& value);
int signed_bits(const BitVec& value);

}  // namespace rocegen::dataflow
