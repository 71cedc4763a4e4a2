// Bench of the arithmetic of AES: what synthesis gets (gates) against what simulation gets (functions), and both
// against the definitions: the S-box as inverse and affine map, the product in GF(2^128) bit by bit.
#include "Vdut.h"
#include "tests/rtl/aes_reference.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;
namespace aes = rocegen::bench::aes;

namespace {

unsigned times(unsigned a, unsigned b) {
  unsigned r = 0;
  for (; b != 0; b >>= 1, a = (a << 1) ^ ((a & 0x80) != 0 ? 0x11BU : 0U))
    if ((b & 1) != 0) r ^= a;
  return r;
}

/// FIPS 197, section 5.1.1.
unsigned sbox(unsigned x) {
  unsigned inverse = 0;
  for (unsigned y = 1; y < 256; ++y)
    if (times(x, y) == 1) inverse = y;
  unsigned out = 0x63;
  for (unsigned i = 0; i < 5; ++i) out ^= ((inverse << i) | (inverse >> (8 - i))) & 0xFF;
  return out;
}

/// a * b modulo x^128 + x^7 + x^2 + x + 1.
Bytes product(Bytes a, const Bytes& b) {
  Bytes sum(16);
  for (std::size_t i = 0; i < 128; ++i) {
    if (get_field(b, i, 1) != 0)
      for (std::size_t j = 0; j < 16; ++j) sum[j] ^= a[j];
    const bool over = (a[15] & 0x80) != 0;
    for (std::size_t j = 16; j-- > 0;)
      a[j] = static_cast<std::uint8_t>(a[j] << 1 | (j > 0 ? a[j - 1] >> 7 : 0));
    if (over) a[0] ^= 0x87;
  }
  return sum;
}

}  // namespace

TEST_CASE("the S-box") {
  Sim<Vdut> sim;
  for (unsigned x = 0; x < 256; ++x) {
    Port(sim.dut.block_i, 128).set(x);
    sim.dut.eval();
    CHECK(sim.dut.sbox_o == sbox(x));
    CHECK(sim.dut.sbox_quarters_o == sbox(x));
  }
}

TEST_CASE("rounds and products: gates and functions, random") {
  Sim<Vdut> sim;
  auto& r = sim.rng();
  for (int i = 0; i < 2000; ++i) {
    const Bytes block = i == 0 ? Bytes(16) : r.bytes(16), key = r.percent(5) ? Bytes(16, 0xFF) : r.bytes(16);
    Port(sim.dut.block_i, 128).set_value(block);
    Port(sim.dut.key_i, 128).set_value(key);
    sim.dut.last_i = r.percent(50) ? 1 : 0;
    sim.dut.skip_i = r.percent(30) ? 1 : 0;
    sim.dut.eval();
    INFO("seed ", seed(), " case ", i);
    REQUIRE(aes::hex(Port(sim.dut.gates_o, 640).value()) == aes::hex(Port(sim.dut.functions_o, 640).value()));
    REQUIRE(aes::hex(Port(sim.dut.product_gates_o, 567).value()) ==
            aes::hex(Port(sim.dut.product_functions_o, 567).value()));
    REQUIRE(aes::hex(Port(sim.dut.product_o, 128).value()) == aes::hex(product(block, key)));
  }
}
