#include "generator/dataflow/bitvec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace rocegen::dataflow {

namespace {

std::size_t words_for(int width) { return (static_cast<std::size_t>(width) + 63) / 64; }

}  // namespace

BitVec::BitVec(int width, std::uint64_t value) : width_(width) {
  if (width < 1) throw std::invalid_argument(fmt::format("bit vector of width {}", width));
  words_.assign(words_for(width), 0);
  words_[0] = value;
  trim();
}

BitVec BitVec::ones(int width) {
  BitVec r(width);
  for (auto& w : r.words_) w = ~std::uint64_t{0};
  r.trim();
  return r;
}

BitVec BitVec::from_hex(int width, std::string_view digits) {
  BitVec r(width);
  int position = 0;
  for (auto it = digits.rbegin(); it != digits.rend(); ++it) {
    const char c = *it;
    if (c == '_') continue;
    unsigned v = 0;
    if (c >= '0' && c <= '9') {
      v = static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      v = static_cast<unsigned>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      v = static_cast<unsigned>(c - 'A') + 10;
    } else {
      throw std::invalid_argument(fmt::format("'{}' is not a hexadecimal digit", c));
    }
    for (int i = 0; i < 4; ++i, ++position) {
      if ((v >> i & 1U) == 0) continue;
      if (position >= width) throw std::invalid_argument(fmt::format("0x{} does not fit into {} bits", digits, width));
      r.set_bit(position, true);
    }
  }
  return r;
}

BitVec BitVec::from_bytes(std::span<const std::uint8_t> bytes) {
  BitVec r(static_cast<int>(bytes.size()) * 8);
  for (std::size_t i = 0; i < bytes.size(); ++i) r.words_[i / 8] |= std::uint64_t{bytes[i]} << (i % 8 * 8);
  return r;
}

BitVec BitVec::from_words(int width, std::span<const std::uint64_t> words) {
  BitVec r(width);
  std::copy_n(words.begin(), std::min(words.size(), r.words_.size()), r.words_.begin());
  r.trim();
  return r;
}

void BitVec::set_bit(int index, bool value) {
  if (index < 0 || index >= width_) throw std::invalid_argument(fmt::format("bit {} of {}", index, width_));
  const std::uint64_t mask = std::uint64_t{1} << (static_cast<unsigned>(index) % 64);
  auto& word = words_[static_cast<std::size_t>(index) / 64];
  word = value ? word | mask : word & ~mask;
}

std::uint64_t BitVec::to_uint64() const {
  for (std::size_t i = 1; i < words_.size(); ++i) {
    if (words_[i] != 0) throw std::invalid_argument("bit vector value needs more than 64 bits");
  }
  return low64();
}

bool BitVec::is_zero() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t w) { return w == 0; });
}

bool BitVec::is_ones() const { return popcount() == width_; }

int BitVec::popcount() const {
  int n = 0;
  for (const auto w : words_) n += std::popcount(w);
  return n;
}

int BitVec::lowest_one() const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] != 0) return static_cast<int>(i * 64) + std::countr_zero(words_[i]);
  }
  return -1;
}

int BitVec::highest_one() const {
  for (std::size_t i = words_.size(); i-- > 0;) {
    if (words_[i] != 0) return static_cast<int>(i * 64) + 63 - std::countl_zero(words_[i]);
  }
  return -1;
}

BitVec BitVec::slice(int hi, int lo) const {
  if (lo < 0 || hi < lo || hi >= width_) {
    throw std::invalid_argument(fmt::format("slice [{}:{}] of {} bits", hi, lo, width_));
  }
  return shr(lo).resize(hi - lo + 1);
}

BitVec BitVec::resize(int width) const { return from_words(width, words_); }

BitVec BitVec::sign_extend(int width) const {
  BitVec r = resize(width);
  if (width > width_ && width_ > 0 && bit(width_ - 1)) {
    for (int i = width_; i < width; ++i) r.set_bit(i, true);
  }
  return r;
}

void BitVec::insert(int lo, const BitVec& part) {
  if (lo < 0 || lo + part.width_ > width_) {
    throw std::invalid_argument(fmt::format("{} bits at {} of {}", part.width_, lo, width_));
  }
  const std::size_t word = static_cast<std::size_t>(lo) / 64;
  const unsigned shift = static_cast<unsigned>(lo) % 64;
  for (std::size_t i = 0; i < part.words_.size(); ++i) {
    words_[word + i] |= part.words_[i] << shift;
    if (shift != 0 && word + i + 1 < words_.size()) words_[word + i + 1] |= part.words_[i] >> (64 - shift);
  }
}

BitVec BitVec::shl(int amount) const {
  BitVec r(width_);
  if (amount < 0) throw std::invalid_argument("negative shift");
  if (amount >= width_) return r;
  const std::size_t word = static_cast<std::size_t>(amount) / 64;
  const unsigned shift = static_cast<unsigned>(amount) % 64;
  for (std::size_t i = word; i < words_.size(); ++i) {
    r.words_[i] = words_[i - word] << shift;
    if (shift != 0 && i > word) r.words_[i] |= words_[i - word - 1] >> (64 - shift);
  }
  r.trim();
  return r;
}

BitVec BitVec::shr(int amount) const {
  BitVec r(width_);
  if (amount < 0) throw std::invalid_argument("negative shift");
  if (amount >= width_) return r;
  const std::size_t word = static_cast<std::size_t>(amount) / 64;
  const unsigned shift = static_cast<unsigned>(amount) % 64;
  for (std::size_t i = 0; i + word < words_.size(); ++i) {
    r.words_[i] = words_[i + word] >> shift;
    if (shift != 0 && i + word + 1 < words_.size()) r.words_[i] |= words_[i + word + 1] << (64 - shift);
  }
  return r;
}

BitVec BitVec::sar(int amount) const {
  if (amount < 0) throw std::invalid_argument("negative shift");
  const int n = std::min(amount, width_ - 1);
  return slice(width_ - 1, n).sign_extend(width_);
}

BitVec BitVec::operator~() const {
  BitVec r = *this;
  for (auto& w : r.words_) w = ~w;
  r.trim();
  return r;
}

BitVec operator&(const BitVec& a, const BitVec& b) {
  BitVec::same_width(a, b);
  BitVec r = a;
  for (std::size_t i = 0; i < r.words_.size(); ++i) r.words_[i] &= b.words_[i];
  return r;
}

BitVec operator|(const BitVec& a, const BitVec& b) {
  BitVec::same_width(a, b);
  BitVec r = a;
  for (std::size_t i = 0; i < r.words_.size(); ++i) r.words_[i] |= b.words_[i];
  return r;
}

BitVec operator^(const BitVec& a, const BitVec& b) {
  BitVec::same_width(a, b);
  BitVec r = a;
  for (std::size_t i = 0; i < r.words_.size(); ++i) r.words_[i] ^= b.words_[i];
  return r;
}

BitVec operator+(const BitVec& a, const BitVec& b) {
  BitVec::same_width(a, b);
  BitVec r = a;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < r.words_.size(); ++i) {
    const std::uint64_t partial = a.words_[i] + b.words_[i];
    const std::uint64_t sum = partial + carry;
    carry = static_cast<std::uint64_t>(partial < a.words_[i]) | static_cast<std::uint64_t>(sum < partial);
    r.words_[i] = sum;
  }
  r.trim();
  return r;
}

BitVec operator-(const BitVec& a, const BitVec& b) { return a + ~b + BitVec(a.width_, 1); }

BitVec operator*(const BitVec& a, const BitVec& b) {
  BitVec::same_width(a, b);
  BitVec r(a.width_);
  for (int i = 0; i < b.width_; ++i) {
    if (b.bit(i)) r = r + a.shl(i);
  }
  return r;
}

bool BitVec::less_unsigned(const BitVec& a, const BitVec& b) {
  same_width(a, b);
  for (std::size_t i = a.words_.size(); i-- > 0;) {
    if (a.words_[i] != b.words_[i]) return a.words_[i] < b.words_[i];
  }
  return false;
}

bool BitVec::less_signed(const BitVec& a, const BitVec& b) {
  same_width(a, b);
  const bool sign_a = a.bit(a.width_ - 1);
  const bool sign_b = b.bit(b.width_ - 1);
  return sign_a != sign_b ? sign_a : less_unsigned(a, b);
}

BitVec BitVec::divide(const BitVec& a, const BitVec& b, BitVec* remainder) {
  same_width(a, b);
  if (b.is_zero()) throw std::invalid_argument("division by zero");
  BitVec quotient(a.width_);
  BitVec rest(a.width_);
  for (int i = a.width_; i-- > 0;) {
    const bool carry = rest.bit(a.width_ - 1);  // the bit above the remainder
    rest = rest.shl(1);
    rest.set_bit(0, a.bit(i));
    if (carry || !less_unsigned(rest, b)) {
      rest = rest - b;
      quotient.set_bit(i, true);
    }
  }
  if (remainder != nullptr) *remainder = rest;
  return quotient;
}

std::string BitVec::hex() const {
  std::string r;
  for (int i = (width_ - 1) / 4; i >= 0; --i) {
    const auto bit = static_cast<std::size_t>(i) * 4;
    r += "0123456789abcdef"[words_[bit / 64] >> (bit % 64) & 0xF];
  }
  return r;
}

std::string BitVec::literal() const {
  if (width_ <= 64) return fmt::format("{}'h{}", width_, hex());
  std::string r = "{";
  for (int hi = width_ - 1; hi >= 0;) {
    const int lo = hi / 64 * 64;
    r += fmt::format("{}{}'h{}", r.size() > 1 ? ", " : "", hi - lo + 1, slice(hi, lo).hex());
    hi = lo - 1;
  }
  return r + "}";
}

std::size_t BitVec::hash() const {
  std::uint64_t h = 0xCBF29CE484222325ULL + static_cast<std::uint64_t>(width_);
  for (const auto w : words_) {
    h = (h ^ w) * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 29;
  }
  return static_cast<std::size_t>(h);
}

void BitVec::trim() {
  const unsigned rest = static_cast<unsigned>(width_) % 64;
  if (rest != 0) words_.back() &= ~std::uint64_t{0} >> (64 - rest);
}

void BitVec::same_width(const BitVec& a, const BitVec& b) {
  if (a.width_ != b.width_) throw std::invalid_argument(fmt::format("widths {} and {} differ", a.width_, b.width_));
}

}  // namespace rocegen::dataflow
