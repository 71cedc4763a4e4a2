// Bench of cfg_order: who gets a record, in which order, how far apart; the record is answered last.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kWidth = 343;
constexpr unsigned kReset = 0, kErr = 5;

struct Bench : Agent {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        in(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1), Port(sim.dut.s_cfg_tdata, kWidth)),
        drain(sim.rng(), Port(sim.dut.m_drain_tvalid, 1), Port(sim.dut.m_drain_tready, 1),
              Port(sim.dut.m_drain_tdata, kWidth)),
        cfg(sim.rng(), Port(sim.dut.m_cfg_tvalid, 1), Port(sim.dut.m_cfg_tready, 1),
            Port(sim.dut.m_cfg_tdata, kWidth)) {
    for (Agent* a :
         {static_cast<Agent*>(&in), static_cast<Agent*>(&drain), static_cast<Agent*>(&cfg), static_cast<Agent*>(this)})
      sim.add(*a);
    drain.on_beat = [this](const Bytes& beat) { note('d', beat); };
    cfg.on_beat = [this](const Bytes& beat) { note('c', beat); };
    sim.reset();
    sim.run_until([&] { return sim.dut.ready_o != 0; }, P_QpCount + 10);
  }
  void drive() override {}
  void sample() override {
    ++now;
    REQUIRE((sim.dut.m_drain_tvalid == 0 || sim.dut.m_cfg_tvalid == 0));
    if (sim.dut.m_cfg_tvalid && drained_ != 0 && offered_ == 0) {
      offered_ = now;
      // The drain was noted before this agent counted its cycle.
      CHECK(now - drained_ == P_Settle + 2);
    }
    if (sim.dut.s_cfg_tvalid && sim.dut.s_cfg_tready) {
      const Bytes record = Port(sim.dut.s_cfg_tdata, kWidth).value();
      const bool setup = get_field(record, kWidth - 1, 1) != 0;
      const bool reset = get_field(record, kWidth - 28, 3) == kReset;
      INFO("seed ", seed(), " record ", taken);
      CHECK(went == (setup ? "dc" : reset ? "cd" : "c"));
      went.clear();
      drained_ = offered_ = 0;
      ++taken;
    }
  }
  void note(char side, const Bytes& beat) {
    CHECK(beat == Port(sim.dut.s_cfg_tdata, kWidth).value());
    REQUIRE(sim.dut.s_cfg_tvalid != 0);
    if (side == 'd' && went.empty()) drained_ = now;
    const auto qpn = get_field(beat, kWidth - 25, 24);
    if (side == 'c' && qpn < P_QpCount) {
      const bool setup = get_field(beat, kWidth - 1, 1) != 0;
      lives[qpn] = (lives[qpn] + (setup ? 1 : 0)) % 64;
      CHECK(sim.dut.life_o == lives[qpn]);
    }
    went += side;
  }
  void on_reset() override {
    went.clear();
    drained_ = offered_ = 0;
    lives.assign(P_QpCount, 0);
  }
  void push(bool setup, unsigned state) {
    Bytes record = sim.rng().bits(kWidth);
    set_field(record, kWidth - 1, 1, setup ? 1 : 0);
    set_field(record, kWidth - 28, 3, state);
    if (sim.rng().percent(90)) set_field(record, kWidth - 25, 24, sim.rng().below(P_QpCount));
    in.push(record);
  }

  Sim<Vdut> sim;
  StreamSource in;
  StreamSink drain, cfg;
  std::vector<std::uint64_t> lives = std::vector<std::uint64_t>(P_QpCount);  // set-ups of each QP, modular
  std::string went;                                                          // who took the record: d and c
  std::uint64_t now = 0, taken = 0;

 private:
  std::uint64_t drained_ = 0, offered_ = 0;
};

}  // namespace

TEST_CASE("every kind of record, however slow the others are") {
  for (unsigned stall : {0U, 50U, 90U}) {
    Bench b(1 + stall);
    b.in.stall_percent = stall / 2;
    b.drain.stall_percent = stall;
    b.cfg.stall_percent = 90 - stall;
    for (unsigned i = 0; i < 200; ++i) b.push(b.sim.rng().percent(50), static_cast<unsigned>(b.sim.rng().below(8)));
    b.sim.run_until([&] { return b.taken == 200; }, 200 * (P_Settle + 200));
  }
}

TEST_CASE("latency: a change of state takes 3 cycles, RESET 4, a set-up Settle more") {
  Bench b(2);
  const auto cycles = [&](bool setup, unsigned state) {
    const std::uint64_t before = b.sim.cycle(), count = b.taken;
    b.push(setup, state);
    b.sim.run_until([&] { return b.taken != count; }, P_Settle + 20);
    return b.sim.cycle() - before;
  };
  CHECK(cycles(false, kErr) == 3);
  CHECK(cycles(false, kReset) == 4);
  CHECK(cycles(true, kReset) == 4 + P_Settle);
  CHECK(cycles(true, 3) == 4 + P_Settle);
}

TEST_CASE("nobody gets a set-up before the drain is through; a change of state needs no drain") {
  Bench b(3);
  b.drain.stall_percent = 100;
  b.push(false, kErr);
  b.sim.run(10);
  CHECK(b.taken == 1);
  b.push(true, 3);
  b.sim.run(500 + P_Settle);
  CHECK(b.taken == 1);
  CHECK(b.went.empty());
  CHECK(b.sim.dut.m_cfg_tvalid == 0);
  b.drain.stall_percent = 0;
  b.sim.run(P_Settle + 6);
  CHECK(b.taken == 2);
}

TEST_CASE("lives are counted for each queue pair, round the circle") {
  Bench b(5);
  for (unsigned i = 0; i < 800; ++i) b.push(b.sim.rng().percent(80), 3);
  b.sim.run_until([&] { return b.taken == 800; }, 800 * (P_Settle + 20));
}

TEST_CASE("reset in the middle") {
  Bench b(4);
  for (unsigned i = 0; i < 20; ++i) {
    b.push(true, 3);
    b.push(false, kReset);
    b.sim.run(b.sim.rng().below(2 * P_Settle));
    b.in.queue.clear();
    b.sim.reset();
    b.sim.run_until([&] { return b.sim.dut.ready_o != 0; }, P_QpCount + 10);
  }
  const std::uint64_t before = b.taken;
  b.push(true, 3);
  b.sim.run(P_Settle + 6);
  CHECK(b.taken == before + 1);
}
