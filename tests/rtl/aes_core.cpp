// Bench of aes_core: known answers (FIPS 197, SP 800-38A, and the NIST files of ../shared where they are), then random
// blocks and keys against OpenSSL, a new key every cycle.
#include <filesystem>

#include "Vdut.h"
#include "tests/rtl/aes_reference.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;
namespace aes = rocegen::bench::aes;

namespace {

constexpr int kRounds = P_KeyBits == 256 ? 14 : 10;
constexpr int kLatency = 1 + (kRounds + P_RoundsPerStage - 1) / P_RoundsPerStage;

struct Case {
  Bytes key, in, out;  // in and out: Lanes blocks
};

/// Feeds a case a cycle and checks each one Latency cycles later.
void run(const std::vector<Case>& cases) {
  Sim<Vdut> sim;
  Port key(sim.dut.key_i, P_KeyBits), in(sim.dut.block_i, P_Lanes * 128), out(sim.dut.cipher_o, P_Lanes * 128);
  for (std::size_t i = 0; i < cases.size() + kLatency; ++i) {
    if (i < cases.size()) {
      Bytes padded = cases[i].key;
      if (padded.size() < P_KeyBits / 8) {
        const Bytes noise = sim.rng().bytes(P_KeyBits / 8 - padded.size());  // nobody may look at it
        padded.insert(padded.end(), noise.begin(), noise.end());
      }
      key.set_value(padded);
      sim.dut.long_i = cases[i].key.size() == 32 ? 1 : 0;
      in.set_value(cases[i].in);
    }
    sim.dut.clk = 0;
    sim.dut.eval();
    if (i >= kLatency) {
      INFO("case ", i - kLatency, " of ", cases.size(), ", seed ", seed());
      REQUIRE(aes::hex(out.value()) == aes::hex(cases[i - kLatency].out));
    }
    sim.dut.clk = 1;
    sim.dut.eval();
  }
}

/// The same block in every lane.
Case spread(const Bytes& key, const Bytes& in, const Bytes& out) {
  Case c{key, {}, {}};
  for (int j = 0; j < P_Lanes; ++j) {
    c.in.insert(c.in.end(), in.begin(), in.end());
    c.out.insert(c.out.end(), out.begin(), out.end());
  }
  return c;
}

bool fits(const Bytes& key) { return key.size() == 16 || (key.size() == 32 && P_KeyBits == 256); }

}  // namespace

TEST_CASE("known answers") {
  const struct {
    const char *key, *in, *out;
  } kAnswers[] = {
      // FIPS 197, appendix C.1, C.3 and B
      {"000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"},
      {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "00112233445566778899aabbccddeeff",
       "8ea2b7ca516745bfeafc49904b496089"},
      {"2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"},
      // SP 800-38A, F.1.1 and F.1.5, block 1 and 4
      {"2b7e151628aed2a6abf7158809cf4f3c", "6bc1bee22e409f96e93d7e117393172a", "3ad77bb40d7a3660a89ecaf32466ef97"},
      {"2b7e151628aed2a6abf7158809cf4f3c", "f69f2445df4f9b17ad2b417be66c3710", "7b0c785e27e8ad3f8223207104725dd4"},
      {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", "6bc1bee22e409f96e93d7e117393172a",
       "f3eed1bdb5d2a03c064b5a7e3db181f8"},
      {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", "f69f2445df4f9b17ad2b417be66c3710",
       "23304b7a39f9f3ff067d8d8f9e24ecc7"},
  };
  std::vector<Case> cases;
  for (const auto& a : kAnswers)
    if (fits(aes::unhex(a.key))) cases.push_back(spread(aes::unhex(a.key), aes::unhex(a.in), aes::unhex(a.out)));
  REQUIRE(cases.size() >= 4);
  run(cases);
}

TEST_CASE("NIST response files of ../shared") {
  std::vector<Case> cases;
  for (const char* name : {"ECBGFSbox128", "ECBKeySbox128", "ECBMMT128", "ECBGFSbox256", "ECBKeySbox256", "ECBMMT256"})
    for (const aes::Vector& v : aes::read_response_file(std::string(name) + ".rsp")) {
      const Bytes key = v.bytes("KEY"), in = v.bytes("PLAINTEXT"), out = v.bytes("CIPHERTEXT");
      for (std::size_t at = 0; fits(key) && at + 16 <= in.size(); at += 16)
        cases.push_back(spread(key, Bytes(in.begin() + static_cast<long>(at), in.begin() + static_cast<long>(at) + 16),
                               Bytes(out.begin() + static_cast<long>(at), out.begin() + static_cast<long>(at) + 16)));
    }
  if (cases.empty()) {
    MESSAGE("skipped: ../shared/vectors/aes is not there");
    return;
  }
  MESSAGE(cases.size() << " blocks");
  run(cases);
}

TEST_CASE("random keys and blocks against OpenSSL, a key a cycle") {
  Rng rng(seed());
  std::vector<Case> cases;
  for (int i = 0; i < 3000; ++i) {
    Case c;
    c.key = rng.bytes(P_KeyBits == 256 && rng.percent(50) ? 32 : 16);
    c.in = rng.bytes(P_Lanes * 16);
    c.out = aes::ecb(c.key, c.in);
    cases.push_back(std::move(c));
  }
  run(cases);
}
