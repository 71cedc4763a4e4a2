// Arbitrary-precision bit vectors: the values that flow through an expression graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rocegen::dataflow {

/// An unsigned bit vector of a fixed width (1 bit or more). Bits above the width are always zero in storage.
/// Operators that take two vectors demand equal widths and throw std::invalid_argument otherwise; arithmetic wraps
/// modulo 2^width, as in SystemVerilog.
class BitVec {
 public:
  /// A vector of width 0: "no value". Only comparison and width() are meaningful.
  BitVec() = default;
  /// `value` truncated to `width` bits. Throws std::invalid_argument when width < 1.
  explicit BitVec(int width, std::uint64_t value = 0);

  /// All bits one.
  static BitVec ones(int width);
  /// Hexadecimal digits, most significant first; `_` is skipped. Throws std::invalid_argument on another character or
  /// when the value does not fit.
  static BitVec from_hex(int width, std::string_view digits);
  /// Byte 0 becomes bits 7:0, as on a stream. Throws std::invalid_argument when empty.
  static BitVec from_bytes(std::span<const std::uint8_t> bytes);
  /// Word 0 becomes bits 63:0; missing words are zero, excess bits are dropped.
  static BitVec from_words(int width, std::span<const std::uint64_t> words);

  int width() const { return width_; }
  bool bit(int index) const {
    return (words_[static_cast<std::size_t>(index) / 64] >> (static_cast<unsigned>(index) % 64) & 1) != 0;
  }
  void set_bit(int index, bool value);
  std::span<const std::uint64_t> words() const { return words_; }
  /// The value; throws std::invalid_argument when it needs more than 64 bits.
  std::uint64_t to_uint64() const;
  /// The low 64 bits.
  std::uint64_t low64() const { return words_.empty() ? 0 : words_[0]; }
  bool is_zero() const;
  bool is_ones() const;
  int popcount() const;
  bool parity() const { return (popcount() & 1) != 0; }
  /// Index of the lowest (highest) one, -1 when zero.
  int lowest_one() const;
  int highest_one() const;

  /// Bits hi..lo. Throws std::invalid_argument when outside the vector.
  BitVec slice(int hi, int lo) const;
  /// Zero-extended or truncated to `width`.
  BitVec resize(int width) const;
  /// Sign-extended (or truncated) to `width`.
  BitVec sign_extend(int width) const;
  /// Ors `part` in at bit `lo`; throws std::invalid_argument when it does not fit.
  void insert(int lo, const BitVec& part);

  BitVec shl(int amount) const;
  BitVec shr(int amount) const;
  BitVec sar(int amount) const;

  BitVec operator~() const;
  friend BitVec operator&(const BitVec& a, const BitVec& b);
  friend BitVec operator|(const BitVec& a, const BitVec& b);
  friend BitVec operator^(const BitVec& a, const BitVec& b);
  friend BitVec operator+(const BitVec& a, const BitVec& b);
  friend BitVec operator-(const BitVec& a, const BitVec& b);
  friend BitVec operator*(const BitVec& a, const BitVec& b);
  friend bool operator==(const BitVec& a, const BitVec& b) = default;

  /// a < b, unsigned and as two's complement.
  static bool less_unsigned(const BitVec& a, const BitVec& b);
  static bool less_signed(const BitVec& a, const BitVec& b);

  /// Quotient and remainder, unsigned. Throws std::invalid_argument when b is zero.
  static BitVec divide(const BitVec& a, const BitVec& b, BitVec* remainder = nullptr);

  /// ceil(width/4) lower-case hexadecimal digits.
  std::string hex() const;
  /// SystemVerilog literal; wide values are a concatenation of 64-bit literals.
  std::string literal() const;
  std::size_t hash() const;

 private:
  void trim();
  static void same_width(const BitVec& a, const BitVec& b);

  int width_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace rocegen::dataflow
