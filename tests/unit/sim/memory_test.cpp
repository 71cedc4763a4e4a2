#include "sim/model/memory.h"

#include <doctest/doctest.h>

#include <map>

#include "sim/model/rng.h"

using namespace rocegen::sim;

TEST_CASE("memory: behaves as a map of bytes over all 64 bits of address") {
  Memory m(5);
  Rng rng(1);
  std::map<uint64_t, uint8_t> want;
  const uint64_t places[] = {0, 4090, 0x12345678, ~uint64_t{0} - 3000, uint64_t{1} << 63};
  for (int n = 0; n < 3000; ++n) {
    const uint64_t at = places[rng.below(5)] + rng.below(9000);
    Bytes b(rng.below(300));
    for (size_t i = 0; i < b.size(); ++i) {
      b[i] = static_cast<uint8_t>(rng.next());
      want[at + i] = b[i];
    }
    m.write(at, b);
    const uint64_t from = places[rng.below(5)] + rng.below(9000);
    const Bytes is = m.read(from, 500);
    for (size_t i = 0; i < is.size(); ++i) {
      const auto it = want.find(from + i);
      REQUIRE(is[i] == (it != want.end() ? it->second : m.background(from + i)));
      REQUIRE(m.read8(from + i) == is[i]);
    }
  }
  CHECK(m.check_guards().empty());
}

TEST_CASE("memory: each byte that the device writes outside of a region is found, inside none") {
  for (uint64_t base : {uint64_t{0x1003}, uint64_t{0}, ~uint64_t{0} - 99}) {
    for (uint64_t at = base - 40; at != base + 140; ++at) {
      Memory m;
      m.add_region(base, 100);
      const uint8_t other = static_cast<uint8_t>(~m.background(at));
      m.device_write(at, Bytes{other});
      const bool inside = at - base < 100;
      CHECK(m.in_region(at) == inside);
      CHECK(m.violations().empty() == inside);
      CHECK(m.check_guards().empty() == inside);
      if (!inside) CHECK(m.check_guards().front().find("guard byte 0x") == 0);
    }
  }
}

TEST_CASE("memory: strobes, and a write that begins and ends outside") {
  Memory m;
  m.add_region(0x100, 16);
  m.write(0x0F0, Bytes(64, 0));
  const uint8_t strobe[6] = {0x00, 0x80, 0xFF, 0xFF, 0x01, 0x00};  // bytes 15..32 of the write
  m.device_write(0x0F0, Bytes(48, 0xEE), strobe);
  for (uint64_t i = 0; i < 64; ++i) CHECK(m.read8(0x0F0 + i) == (i >= 15 && i <= 32 ? 0xEE : 0));
  CHECK(m.violations().size() == 2);
  const auto guards = m.check_guards();
  REQUIRE(guards.size() == 2);
  CHECK(guards[0] == "guard byte 0xff was 0x00, is 0xee");
  CHECK(guards[1] == "guard byte 0x110 was 0x00, is 0xee");
}

TEST_CASE("memory: what the host writes is the guard's new value; error ranges") {
  Memory m;
  m.write(0x5000, Bytes(10, 3));
  CHECK(m.check_guards().empty());
  m.device_write(0x5004, Bytes{3});
  CHECK(m.check_guards().empty());    // the same value
  CHECK(m.violations().size() == 1);  // but a write all the same
  m.add_error({0x2000, 64}, true, false);
  m.add_error({~uint64_t{0} - 7, 8}, false, true);
  CHECK(m.read_fails(0x203F, 1));
  CHECK(m.read_fails(0x1FFF, 2));
  CHECK_FALSE(m.read_fails(0x1FFF, 1));
  CHECK_FALSE(m.read_fails(0x2040, 100));
  CHECK_FALSE(m.write_fails(0x2000, 1));
  CHECK(m.write_fails(~uint64_t{0} - 20, 14));
  CHECK_FALSE(m.write_fails(~uint64_t{0} - 20, 13));
  m.clear_errors();
  CHECK_FALSE(m.read_fails(0x2000, 64));
}
