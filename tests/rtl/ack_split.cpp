// Bench of ack_split: every answer goes to its side, in order, at once; a set-up waits for those on their way.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kWidth = 106, kOrdered = 24, kCfgWidth = 343;

struct Bench : Agent {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        in(sim.rng(), Port(sim.dut.s_ack_tvalid, 1), Port(sim.dut.s_ack_tready, 1), Port(sim.dut.s_ack_tdata, kWidth)),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, kCfgWidth)),
        now(sim.rng(), Port(sim.dut.m_now_tvalid, 1), Port(sim.dut.m_now_tready, 1), Port(sim.dut.m_now_tdata, kWidth)),
        behind(sim.rng(), Port(sim.dut.m_behind_tvalid, 1), Port(sim.dut.m_behind_tready, 1),
               Port(sim.dut.m_behind_tdata, kWidth)) {
    for (Agent* a : {static_cast<Agent*>(&in), static_cast<Agent*>(&cfg), static_cast<Agent*>(&now),
                     static_cast<Agent*>(&behind), static_cast<Agent*>(this)})
      sim.add(*a);
    now.on_beat = [this](const Bytes& beat) { leave(false, beat); };
    behind.on_beat = [this](const Bytes& beat) { leave(true, beat); };
    sim.reset();
  }
  void drive() override {}
  void sample() override {
    if (sim.dut.s_cfg_tvalid != 0) {
      INFO("seed ", seed(), " set-up ", taken);
      REQUIRE((sim.dut.s_cfg_tready != 0) == (passed_ == P_Settle));
      if (sim.dut.s_cfg_tready != 0) {
        ++taken;
        passed_ = 0;
      } else if (sim.dut.s_ack_tvalid == 0 || sim.dut.s_ack_tready != 0) {
        ++passed_;
      }
    }
  }
  void on_reset() override { passed_ = 0; }
  void push() {
    want.push_back(sim.rng().bits(kWidth));
    in.push(want.back());
  }
  void leave(bool ordered, const Bytes& beat) {
    INFO("seed ", seed(), " answer ", left);
    REQUIRE(!want.empty());
    CHECK(beat == want.front());
    CHECK((get_field(beat, kOrdered, 1) != 0) == ordered);
    REQUIRE(sim.dut.s_ack_tready != 0);  // the same cycle
    want.pop_front();
    ++left;
  }

  Sim<Vdut> sim;
  StreamSource in, cfg;
  StreamSink now, behind;
  std::deque<Bytes> want;
  std::uint64_t left = 0, taken = 0;

 private:
  unsigned passed_ = 0;
};

}  // namespace

TEST_CASE("random answers and set-ups, stalls on both sides") {
  for (unsigned round = 0; round < 6; ++round) {
    Bench b(10 + round);
    b.in.stall_percent = round % 2 != 0 ? 40 : 0;
    b.now.stall_percent = round / 2 == 1 ? 60 : 0;
    b.behind.stall_percent = round / 2 == 2 ? 90 : 10;
    for (unsigned i = 0; i < 3000; ++i) b.push();
    for (unsigned i = 0; i < 10; ++i) b.cfg.push(b.sim.rng().bits(kCfgWidth));
    b.sim.run_until([&] { return b.left == 3000 && b.taken == 10; }, 60'000);
    CHECK(b.want.empty());
  }
}

TEST_CASE("an answer a cycle; one side held back holds the other only behind its own answer") {
  Bench b(2);
  b.behind.stall_percent = 0;
  for (unsigned i = 0; i < 500; ++i) b.push();
  b.sim.run(502);
  CHECK(b.left == 500);
  b.behind.stall_percent = 100;
  b.cfg.push(b.sim.rng().bits(kCfgWidth));
  for (unsigned i = 0; i < 100; ++i) b.push();
  b.sim.run(2 * P_Settle + 200);
  CHECK(b.left < 530);
  CHECK(get_field(b.want.front(), kOrdered, 1) == 1);
  CHECK(b.taken == (P_Settle < 10 ? b.taken : 0));  // time that answers are held back does not count
  b.behind.stall_percent = 0;
  b.sim.run(2 * P_Settle + 200);
  CHECK(b.left == 600);
  CHECK(b.taken == 1);
}
