#include "generator/dataflow/checksum.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "generator/dataflow/evaluate.h"
#include "tests/unit/dataflow/sample_graphs.h"

using namespace rocegen::dataflow;

namespace {

using Words = std::array<std::uint16_t, 10>;

std::array<std::uint8_t, 20> bytes_of(const Words& words) {
  std::array<std::uint8_t, 20> r{};
  for (std::size_t i = 0; i < 10; ++i) {
    r[2 * i] = static_cast<std::uint8_t>(words[i] >> 8);
    r[2 * i + 1] = static_cast<std::uint8_t>(words[i]);
  }
  return r;
}

/// csum_o as the two bytes in wire order, high byte first.
std::uint16_t compiled(const Graph& g, const Words& words) {
  const auto out = evaluate(g, std::array{BitVec::from_bytes(bytes_of(words))})[0].to_uint64();
  return static_cast<std::uint16_t>((out & 0xFF) << 8 | out >> 8);
}

std::uint32_t plain_sum(const Words& words) {
  std::uint32_t sum = 0;
  for (const auto w : words) sum += w;
  return sum;
}

}  // namespace

TEST_CASE("checksum: the example of Wikipedia's article and of RFC 1071") {
  const Words header = {0x4500, 0x0073, 0x0000, 0x4000, 0x4011, 0x0000, 0xC0A8, 0x0001, 0xC0A8, 0x00C7};
  CHECK(internet_checksum(bytes_of(header)) == 0xB861);
  CHECK(compiled(ipv4_checksum_graph(), header) == 0xB861);
  const std::array<std::uint8_t, 8> rfc = {0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7};
  CHECK(internet_checksum(rfc) == static_cast<std::uint16_t>(~0xDDF2));
  CHECK_THROWS_AS(internet_checksum(std::span(rfc).first(3)), std::invalid_argument);
}

TEST_CASE("checksum: every way the carries can fold") {
  const Graph g = ipv4_checksum_graph();
  // case E01: a sum of 0x2FFFD folds to 0xFFFF and needs the second carry; around it and around every multiple of
  // 0xFFFF.
  const Words e01 = {0xFFFF, 0xFFFF, 0xFFFF, 0x0000, 0x0000, 0x0000, 0x0000, 0x0000, 0x0000, 0x0000};
  REQUIRE(plain_sum(e01) == 0x2FFFD);
  CHECK(compiled(g, e01) == 0x0000);
  CHECK(compiled(g, e01) == internet_checksum(bytes_of(e01)));
  int folds_with_second_carry = 0;
  for (std::uint32_t high = 0; high <= 9; ++high) {
    for (std::uint32_t low = 0; low <= 0xFFFF; low += low == 12 ? 0xFFE0 : low > 0xFF00 || low < 12 ? 1 : 0xFFE0) {
      const std::uint32_t target = high << 16 | low;
      Words words{};
      std::uint32_t rest = target;
      for (auto& w : words) {
        w = static_cast<std::uint16_t>(std::min<std::uint32_t>(rest, 0xFFFF));
        rest -= w;
      }
      if (rest != 0) continue;  // more than ten words can hold
      REQUIRE(plain_sum(words) == target);
      if ((target & 0xFFFF) + (target >> 16) > 0xFFFF) ++folds_with_second_carry;
      CHECK_MESSAGE(compiled(g, words) == internet_checksum(bytes_of(words)), target);
    }
  }
  CHECK(folds_with_second_carry >= 9);
  CHECK(compiled(g, Words{}) == 0xFFFF);
  Words ones{};
  ones.fill(0xFFFF);
  CHECK(compiled(g, ones) == 0x0000);
}

TEST_CASE("checksum: random headers, and a good header sums to zero") {
  const Graph g = ipv4_checksum_graph();
  std::mt19937_64 rng(0xC5);
  for (int round = 0; round < 3000; ++round) {
    Words words{};
    const auto density = rng() % 3;
    for (auto& w : words) {
      w = static_cast<std::uint16_t>(density == 0   ? rng()
                                     : density == 1 ? rng() | rng() | rng()
                                                    : rng() & rng() & rng());
    }
    words[5] = 0;
    const std::uint16_t sum = internet_checksum(bytes_of(words));
    REQUIRE(compiled(g, words) == sum);
    words[5] = sum;
    REQUIRE(compiled(g, words) == 0);
  }
}
