#include "generator/dataflow/bitvec.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <stdexcept>
#include <vector>

using rocegen::dataflow::BitVec;

namespace {

using Bits = std::vector<bool>;  // the naive model: one bool a bit, least significant first

BitVec random_vec(std::mt19937_64& rng, int width) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(width) / 64 + 1);
  const auto shape = rng() % 8;
  for (auto& w : words) w = shape == 0 ? 0 : shape == 1 ? ~std::uint64_t{0} : rng();
  return BitVec::from_words(width, words);
}

Bits bits_of(const BitVec& v) {
  Bits r;
  for (int i = 0; i < v.width(); ++i) r.push_back(v.bit(i));
  return r;
}

BitVec vec_of(const Bits& b) {
  BitVec r(static_cast<int>(b.size()));
  for (std::size_t i = 0; i < b.size(); ++i) r.set_bit(static_cast<int>(i), b[i]);
  return r;
}

Bits add(const Bits& a, const Bits& b, bool carry) {
  Bits r;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int sum = static_cast<int>(a[i]) + static_cast<int>(b[i]) + static_cast<int>(carry);
    r.push_back((sum & 1) != 0);
    carry = sum > 1;
  }
  return r;
}

constexpr std::array kWidths = {1, 2, 7, 31, 32, 63, 64, 65, 127, 128, 129, 200, 512, 1000, 4096};

}  // namespace

TEST_CASE("bitvec: arithmetic, logic and shifts agree with bit-by-bit models at every width class") {
  std::mt19937_64 rng(0xB17);
  for (const int width : kWidths) {
    CAPTURE(width);
    for (int round = 0; round < 20; ++round) {
      const BitVec a = random_vec(rng, width);
      const BitVec b = random_vec(rng, width);
      const Bits x = bits_of(a);
      const Bits y = bits_of(b);
      Bits inverted = y;
      inverted.flip();
      CHECK(bits_of(a + b) == add(x, y, false));
      CHECK(bits_of(a - b) == add(x, inverted, true));
      CHECK(bits_of(~b) == inverted);

      Bits conj = x;
      Bits disj = x;
      Bits diff = x;
      int ones = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        conj[i] = x[i] && y[i];
        disj[i] = x[i] || y[i];
        diff[i] = x[i] != y[i];
        ones += x[i] ? 1 : 0;
      }
      CHECK(bits_of(a & b) == conj);
      CHECK(bits_of(a | b) == disj);
      CHECK(bits_of(a ^ b) == diff);
      CHECK(a.popcount() == ones);
      CHECK(a.parity() == (ones % 2 == 1));
      CHECK(a.is_zero() == (ones == 0));
      CHECK(a.is_ones() == (ones == width));

      const int amount = static_cast<int>(rng() % static_cast<unsigned>(width + 3));
      Bits left(x.size(), false);
      Bits right(x.size(), false);
      Bits arith(x.size(), x.back());
      for (int i = 0; i < width; ++i) {
        const auto to = static_cast<std::size_t>(i);
        if (i >= amount) left[to] = x[static_cast<std::size_t>(i - amount)];
        if (i + amount < width) right[to] = arith[to] = x[static_cast<std::size_t>(i + amount)];
      }
      CHECK(bits_of(a.shl(amount)) == left);
      CHECK(bits_of(a.shr(amount)) == right);
      CHECK(bits_of(a.sar(amount)) == arith);

      bool less = false;
      for (std::size_t i = 0; i < x.size(); ++i) less = x[i] != y[i] ? y[i] : less;
      CHECK(BitVec::less_unsigned(a, b) == less);
      CHECK(BitVec::less_signed(a, b) == (x.back() != y.back() ? x.back() : less));
      CHECK_FALSE(BitVec::less_unsigned(a, a));
      CHECK_FALSE(BitVec::less_signed(a, a));
    }
  }
}

TEST_CASE("bitvec: multiplication by repeated addition") {
  std::mt19937_64 rng(0xB18);
  for (const int width : {1, 5, 16, 64, 65, 130}) {
    const BitVec a = random_vec(rng, width);
    BitVec sum(width);
    for (unsigned k = 0; k < 40; ++k) {
      CHECK(a * BitVec(width, k) == (width >= 6 ? sum : BitVec(width, a.low64() * k)));
      sum = sum + a;
    }
  }
}

TEST_CASE("bitvec: slice, insert, resize, sign extension") {
  std::mt19937_64 rng(0xB19);
  for (const int width : kWidths) {
    const BitVec a = random_vec(rng, width);
    const Bits x = bits_of(a);
    for (int round = 0; round < 10; ++round) {
      const int lo = static_cast<int>(rng() % static_cast<unsigned>(width));
      const int hi = lo + static_cast<int>(rng() % static_cast<unsigned>(width - lo));
      const BitVec part = a.slice(hi, lo);
      CHECK(part == vec_of(Bits(x.begin() + lo, x.begin() + hi + 1)));
      BitVec back(width);
      back.insert(lo, part);
      for (int i = 0; i < width; ++i) CHECK(back.bit(i) == (i >= lo && i <= hi && a.bit(i)));
    }
    const BitVec wide = a.sign_extend(width + 70);
    for (int i = 0; i < width + 70; ++i) CHECK(wide.bit(i) == a.bit(std::min(i, width - 1)));
    CHECK(a.resize(width + 70).resize(width) == a);
    CHECK(a.resize(width + 70).popcount() == a.popcount());
  }
}

TEST_CASE("bitvec: text") {
  CHECK(BitVec::from_hex(12, "aB_c").hex() == "abc");
  CHECK(BitVec(5, 0x1F).hex() == "1f");
  CHECK(BitVec(1, 1).literal() == "1'h1");
  CHECK(BitVec(64, 10).literal() == "64'h000000000000000a");
  CHECK(BitVec::from_hex(68, "f_0123456789abcdef").literal() == "{4'hf, 64'h0123456789abcdef}");
  std::mt19937_64 rng(0xB20);
  for (const int width : kWidths) {
    const BitVec a = random_vec(rng, width);
    CHECK(BitVec::from_hex(width, a.hex()) == a);
  }
  const std::array<std::uint8_t, 9> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK(BitVec::from_bytes(bytes).hex() == "090807060504030201");
  CHECK(BitVec::from_bytes(bytes).lowest_one() == 0);
  CHECK(BitVec::from_bytes(bytes).highest_one() == 67);
  CHECK(BitVec(100).lowest_one() == -1);
}

TEST_CASE("bitvec: faults") {
  CHECK_THROWS_AS(BitVec(0), std::invalid_argument);
  CHECK_THROWS_AS(BitVec(-3), std::invalid_argument);
  CHECK_THROWS_AS(BitVec(8) + BitVec(9), std::invalid_argument);
  CHECK_THROWS_AS((void)BitVec(8).slice(8, 0), std::invalid_argument);
  CHECK_THROWS_AS((void)BitVec(8).slice(2, 3), std::invalid_argument);
  CHECK_THROWS_AS(BitVec(8).set_bit(8, true), std::invalid_argument);
  CHECK_THROWS_AS(BitVec(8).insert(5, BitVec(4)), std::invalid_argument);
  CHECK_THROWS_AS((void)BitVec(8).shl(-1), std::invalid_argument);
  CHECK_THROWS_AS(BitVec::from_hex(4, "10"), std::invalid_argument);
  CHECK_THROWS_AS(BitVec::from_hex(4, "g"), std::invalid_argument);
  CHECK_THROWS_AS((void)BitVec::ones(65).to_uint64(), std::invalid_argument);
  CHECK(BitVec(65, 7).to_uint64() == 7);
}
