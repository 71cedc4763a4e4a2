// Bench of svc_mask: the latest set-up of a queue pair is what a look-up shows a cycle later, until the next look-up.
#include <map>
#include <optional>

#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kSetupBits = 343;  // qp_cfg_t: setup and QPN on top, services at the bottom
constexpr unsigned kAll = (1U << P_Services) - 1U;

struct Bench {
  explicit Bench(std::uint64_t salt) : sim(salt), rng(sim.rng()) { reset(); }
  void reset() {
    idle();
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
    masks.clear();
    want.reset();
  }
  void idle() {
    sim.dut.s_cfg_tvalid = 0;
    sim.dut.rd_en_i = 0;
    Port(sim.dut.s_cfg_tdata, kSetupBits).set_value(rng.bits(kSetupBits));
    sim.dut.rd_qpn_i = static_cast<std::uint32_t>(rng.below(1 << 24));
  }
  /// Every bit that does not count is random.
  void setup(std::uint32_t qpn, unsigned mask, bool fresh = true) {
    Bytes record = rng.bits(kSetupBits);
    set_field(record, kSetupBits - 1, 1, fresh);
    set_field(record, kSetupBits - 25, 24, qpn);
    set_field(record, 0, 8, mask);
    Port(sim.dut.s_cfg_tdata, kSetupBits).set_value(record);
    sim.dut.s_cfg_tvalid = 1;
    if (fresh && qpn < P_QpCount) next = {qpn, mask & kAll};
  }
  void look(std::uint32_t qpn) {
    sim.dut.rd_en_i = 1;
    sim.dut.rd_qpn_i = qpn;
    asked = qpn;
  }
  /// A cycle; what was looked up is compared. A set-up in the cycle of a look-up counts from the next one on.
  void step() {
    sim.dut.eval();
    CHECK(sim.dut.s_cfg_tready == 1);
    if (sim.dut.rd_en_i) want = sim.dut.ready_o != 0 && masks.contains(asked) ? masks[asked] : 0;
    if (next) masks[next->first] = next->second;
    next.reset();
    sim.step();
    if (want) REQUIRE_MESSAGE(unsigned{sim.dut.mask_o} == *want, "QP " << asked << ", seed " << seed());
    idle();
  }
  /// Of the table, beyond it, or like one of it in its low bits.
  std::uint32_t any_qpn() {
    const auto qpn = static_cast<std::uint32_t>(rng.below(std::min(P_QpCount, 16)));
    if (rng.percent(15)) return static_cast<std::uint32_t>(P_QpCount + rng.below(0x1000000 - P_QpCount));
    return rng.percent(10) ? qpn | (1U << rng.between(14, 23)) : qpn;
  }
  Sim<Vdut> sim;
  Rng& rng;
  std::map<std::uint32_t, unsigned> masks;
  std::optional<std::pair<std::uint32_t, unsigned>> next;
  std::uint32_t asked = 0;
  std::optional<unsigned> want;
};

}  // namespace

TEST_CASE("zero until ready_o, QpCount cycles after reset, and until set up, in every row; again after a reset") {
  Bench b(1);
  for (unsigned round = 0; round < 2; ++round) {
    unsigned cycles = 0;
    for (; b.sim.dut.ready_o == 0; ++cycles) {
      REQUIRE(cycles <= P_QpCount + 2);
      b.look(cycles % P_QpCount);
      b.step();
    }
    CHECK(cycles >= P_QpCount - 1);
    for (std::uint32_t qpn = 0; qpn < P_QpCount; ++qpn) {
      b.look(qpn);
      b.step();
    }
    for (std::uint32_t qpn = 0; qpn < P_QpCount; ++qpn) {
      b.setup(qpn, kAll);
      b.step();
    }
    for (std::uint32_t qpn = 0; qpn < P_QpCount; ++qpn) {
      b.look(qpn);
      b.step();
      REQUIRE(unsigned{b.sim.dut.mask_o} == kAll);
    }
    b.reset();
  }
}

TEST_CASE("a mask stays until the next look-up, whatever is set up meanwhile") {
  Bench b(2);
  while (b.sim.dut.ready_o == 0) b.step();
  b.setup(0, kAll);
  b.step();
  b.look(0);
  b.step();
  b.setup(0, 0);
  b.step();
  for (unsigned i = 0; i < 10; ++i) b.step();
  CHECK(unsigned{b.sim.dut.mask_o} == kAll);
  b.look(0);
  b.step();
  CHECK(unsigned{b.sim.dut.mask_o} == 0);
}

TEST_CASE("set-ups, changes of state and look-ups of any QPN in any cycle") {
  Bench b(3);
  while (b.sim.dut.ready_o == 0) b.step();
  std::map<unsigned, unsigned> seen;
  for (unsigned i = 0; i < 20'000; ++i) {
    if (b.rng.percent(50)) b.setup(b.any_qpn(), static_cast<unsigned>(b.rng.below(256)), b.rng.percent(80));
    if (b.rng.percent(60)) b.look(b.any_qpn());
    b.step();
    ++seen[unsigned{b.sim.dut.mask_o}];
  }
  CHECK(seen.size() == std::size_t{kAll} + 1);  // each mask that there is
}
