// stall_watch: the stream passes through untouched in the same cycle; stalled_o and its counter against a model.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::uint64_t kCycles = P_Cycles;
constexpr std::size_t kDataW = P_DataW;

/// Drives both ends, and checks every output in every cycle.
class Wire : public Agent {
 public:
  Wire(Rng& rng, Vdut& dut)
      : rng_(&rng),
        dut_(&dut),
        in_{Port(dut.s_tx_tvalid, 1), Port(dut.s_tx_tready, 1), Port(dut.s_tx_tdata, kDataW),
            Port(dut.s_tx_tkeep, kDataW / 8), Port(dut.s_tx_tlast, 1)},
        out_{Port(dut.m_tx_tvalid, 1), Port(dut.m_tx_tready, 1), Port(dut.m_tx_tdata, kDataW),
             Port(dut.m_tx_tkeep, kDataW / 8), Port(dut.m_tx_tlast, 1)} {}
  void drive() override {
    if (!offered_) {
      offered_ = rng_->percent(rate);
      in_.valid.set(offered_ ? 1 : 0);
      in_.data.set_value(rng_->bits(kDataW));
      in_.keep.set_value(rng_->bits(kDataW / 8));
      in_.last.set(rng_->below(2));
    }
    out_.ready.set(closed || rng_->percent(stall) ? 0 : 1);
  }
  void sample() override {
    REQUIRE(out_.valid.get() == in_.valid.get());
    REQUIRE(in_.ready.get() == out_.ready.get());
    REQUIRE(out_.data.value() == in_.data.value());
    REQUIRE(out_.keep.value() == in_.keep.value());
    REQUIRE(out_.last.get() == in_.last.get());
    const bool waits = offered_ && out_.ready.get() == 0;
    // waited_: cycles that the beat at the output has waited before this one.
    REQUIRE((dut_->stalled_o != 0) == (waited_ >= kCycles));
    REQUIRE((dut_->held_o != 0) == (waited_ != 0));
    REQUIRE((dut_->cnt_tx_stalls_o != 0) == (waits && waited_ + 1 == kCycles));
    stalls += dut_->cnt_tx_stalls_o;
    stalled += dut_->stalled_o;
    waited_ = waits ? waited_ + 1 : 0;
    if (offered_ && !waits) {
      offered_ = false;
      ++taken;
    }
  }
  void on_reset() override {
    offered_ = false;
    waited_ = 0;
    in_.valid.set(0);
    out_.ready.set(0);
  }
  unsigned rate = 100, stall = 0;
  bool closed = false;
  std::uint64_t taken = 0, stalls = 0, stalled = 0;

 private:
  struct Ports {
    Port valid, ready, data, keep, last;
  };
  Rng* rng_;
  Vdut* dut_;
  Ports in_, out_;
  bool offered_ = false;
  std::uint64_t waited_ = 0;
};

struct Bench {
  explicit Bench(std::uint64_t salt) : sim(salt), wire(sim.rng(), sim.dut) {
    sim.add(wire);
    sim.reset();
  }
  /// One beat that waits `cycles` cycles, then is taken.
  void wait(std::uint64_t cycles) {
    wire.closed = cycles > 0;
    sim.run(cycles);
    wire.closed = false;
    sim.step();
  }
  Sim<Vdut> sim;
  Wire wire;
};

}  // namespace

TEST_CASE("a beat that waits Cycles - 1 cycles is no stall, one that waits Cycles is") {
  Bench b(1);
  b.wait(kCycles - 1);
  CHECK(b.wire.stalls == 0);
  b.wait(kCycles);
  CHECK(b.wire.stalls == 1);
  CHECK(b.wire.stalled == 1);  // the cycle in which the beat is taken
  b.sim.step();
  CHECK(b.wire.stalled == 1);
  // Two waits that only together are long enough.
  b.wait(kCycles - 1);
  b.wait(kCycles - 1);
  CHECK(b.wire.stalls == 1);
}

TEST_CASE("a stall of any length counts once and lasts until a beat is taken") {
  Bench b(2);
  b.wait(5 * kCycles + 3);
  CHECK(b.wire.stalls == 1);
  CHECK(b.wire.stalled == 4 * kCycles + 4);
  b.wait(2 * kCycles);
  CHECK(b.wire.stalls == 2);
}

TEST_CASE("without a beat nothing stalls, however long the MAC is not ready") {
  Bench b(3);
  b.wire.rate = 0;
  b.wire.closed = true;
  b.sim.run(3 * kCycles + 10);
  CHECK(b.wire.stalls == 0);
  CHECK(b.wire.stalled == 0);
  // The count starts with the beat.
  b.wire.rate = 100;
  b.sim.run(kCycles - 1);
  CHECK(b.wire.stalls == 0);
  b.sim.step();
  CHECK(b.wire.stalls == 1);
}

TEST_CASE("random traffic") {
  Bench b(4);
  for (int phase = 0; phase < 60; ++phase) {
    b.wire.rate = static_cast<unsigned>(b.sim.rng().between(1, 100));
    b.wire.stall = static_cast<unsigned>(b.sim.rng().below(100));
    b.sim.run(100);
    if (kCycles <= 256) {
      // Around the bound: what separates a stall from none is one cycle.
      b.wire.closed = true;
      b.sim.run(kCycles - 2 + b.sim.rng().below(5));
      b.wire.closed = false;
    }
  }
  CHECK(b.wire.taken > 100);
  if (kCycles <= 256) CHECK(b.wire.stalls > 5);
}

TEST_CASE("a reset ends a stall") {
  Bench b(5);
  b.wire.closed = true;
  b.sim.run(kCycles + 5);
  CHECK(b.sim.dut.stalled_o == 1);
  b.sim.reset(1);
  CHECK(b.sim.dut.stalled_o == 0);
  b.sim.run(kCycles - 1);
  CHECK(b.wire.stalls == 1);
  b.sim.step();
  CHECK(b.wire.stalls == 2);
}
