// Bench of qp_timer on its own: every RNR code and timeout code against the table of the standard, at clock rates
// that the whole engine would be too slow to simulate; never early.
#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/sq_rules.h"

using namespace rocegen::bench;
using namespace rocegen::bench::sq;

namespace {

constexpr std::uint64_t kQuarter = (P_TickCycles + 3) / 4;
constexpr std::uint64_t kWalk = P_QpCount > 8 ? P_QpCount : 8;

/// Cycles that a wait may take here; where a tick is short every code fits.
constexpr std::uint64_t kLongest = P_TickCycles > 64 ? 100'000 : 4'000'000;

class Timer {
 public:
  explicit Timer(std::uint64_t salt)
      : sim(salt),
        time(sim.rng(), Port(sim.dut.m_time_tvalid, 1), Port(sim.dut.m_time_tready, 1), Port(sim.dut.m_time_una, 24)) {
    sim.add(time);
    time.on_beat = [this](const Bytes&) {
      ++fired;
      last = sim.cycle();
      kind = sim.dut.m_time_kind;
      qpn = sim.dut.m_time_qpn;
      una = sim.dut.m_time_una;
      gen = sim.dut.m_time_gen;
    };
    sim.dut.tx_stalled_i = sim.dut.hold_i = sim.dut.set_valid_i = 0;
    sim.dut.state_we_i = sim.dut.cursor_we_i = sim.dut.retired_we_i = 0;
    sim.reset();
    sim.run_until([this] { return sim.dut.ready_o != 0; }, 40'000);
  }
  void setup(unsigned q, unsigned timeout) {
    sim.dut.hold_i = 1;
    sim.run_until([this] { return sim.dut.idle_o != 0; }, 100);
    sim.dut.set_valid_i = 1;
    sim.dut.set_qpn_i = static_cast<std::uint8_t>(q);
    sim.dut.set_timeout_i = static_cast<std::uint8_t>(timeout);
    sim.step();
    sim.dut.set_valid_i = sim.dut.hold_i = 0;
  }
  void state(unsigned q, unsigned state, std::uint32_t una_psn, unsigned generation, bool rnr = false,
             unsigned code = 0, bool drain = false) {
    Port(sim.dut.state_i, 115)
        .set_value(Record(115)
                       .put(state, 3)
                       .put(una_psn, 24)
                       .put(generation, 4)
                       .put(0xF, 4)
                       .put(0xABCDEF, 24)
                       .put(3, 2)
                       .put(0x55, 8)
                       .put(1, 1)
                       .put(0x3FFFFF, 22)
                       .put(rnr, 1)
                       .put(code, 5)
                       .put(drain, 1)
                       .put(0xFFFF, 16)
                       .value());
    sim.dut.state_qpn_i = static_cast<std::uint8_t>(q);
    sim.dut.state_we_i = 1;
    sim.step();
    sim.dut.state_we_i = 0;
  }
  void cursor(unsigned q, std::uint32_t nxt, unsigned generation) {
    Port(sim.dut.cursor_i, 99)
        .set_value(Record(99)
                       .put(0x3FFFFF, 22)
                       .put(nxt, 24)
                       .put(nxt, 24)
                       .put(generation, 4)
                       .put(0xFF, 8)
                       .put(1, 1)
                       .put(0xFFFF, 16)
                       .value());
    sim.dut.cursor_qpn_i = static_cast<std::uint8_t>(q);
    sim.dut.cursor_we_i = 1;
    sim.step();
    sim.dut.cursor_we_i = 0;
  }
  void retired(unsigned q, std::uint32_t psn) {
    sim.dut.retired_qpn_i = static_cast<std::uint8_t>(q);
    sim.dut.retired_psn_i = psn;
    sim.dut.retired_we_i = 1;
    sim.step();
    sim.dut.retired_we_i = 0;
  }
  /// Runs until the next report; returns the cycles since `start`.
  std::uint64_t wait(std::uint64_t start, std::uint64_t limit) {
    const auto before = fired;
    sim.run_until([&] { return fired != before; }, limit);
    return last - start;
  }

  Sim<Vdut> sim;
  StreamSink time;
  std::uint64_t fired = 0, last = 0;
  unsigned kind = 9, qpn = 0, gen = 0;
  std::uint32_t una = 0;
};

}  // namespace

TEST_CASE("every RNR code: the table's time, never less: P11 L9") {
  Timer t(1);
  for (unsigned code = 0; code < 32; ++code) {
    const unsigned q = code % P_QpCount;
    // Least time: the table's microseconds in clock cycles, rounded up.
    const std::uint64_t least = (std::uint64_t{kRnrTime[code]} * 10'000 * P_TickCycles + 4095) / 4096;
    if (least > kLongest) continue;
    // A quarter is a whole number of cycles: that alone may stretch the time.
    const std::uint64_t stretched = least * (4 * kQuarter) / P_TickCycles;
    t.setup(q, 1);  // the ACK timer would be faster
    t.cursor(q, 9, code % 16);
    t.sim.run(t.sim.rng().below(3 * kWalk));
    const auto start = t.sim.cycle();
    t.state(q, kRts, 7, code % 16, true, code);
    const auto took = t.wait(start, 2 * stretched + 1000);
    INFO("code ", code);
    CHECK(took >= least);
    CHECK(took <= stretched + 3 * kQuarter + 2 * kWalk + 20);
    CHECK(t.kind == 1);
    CHECK(t.qpn == q);
    CHECK(t.una == 7);
    CHECK(t.gen == code % 16);
    t.state(q, kErr, 7, 0);
  }
}

TEST_CASE("never early, wherever in a quarter the wait begins") {
  Timer t(7);
  t.setup(0, 0);
  t.cursor(0, 9, 0);
  const std::uint64_t least = (std::uint64_t{kRnrTime[1]} * 10'000 * P_TickCycles + 4095) / 4096;
  for (unsigned i = 0; i < 200; ++i) {
    t.sim.run(t.sim.rng().below(3 * kQuarter + 7));
    const auto start = t.sim.cycle();
    t.state(0, kRts, 7, i % 16, true, 1);
    CHECK(t.wait(start, 2 * least + 1000) >= least);
    t.state(0, kRts, 7, i % 16);
    t.sim.run(2 * kWalk);
  }
}

TEST_CASE("a later RNR NAK starts the time anew, also in the middle of a wait") {
  Timer t(2);
  t.setup(0, 0);
  t.cursor(0, 9, 0);
  t.state(0, kRts, 7, 0, true, 20);
  t.sim.run(1000 + t.sim.rng().below(3000));
  CHECK(t.fired == 0);
  const auto start = t.sim.cycle();
  t.state(0, kRts, 7, 1, true, 18);
  const std::uint64_t least = (std::uint64_t{kRnrTime[18]} * 10'000 * P_TickCycles + 4095) / 4096;
  CHECK(t.wait(start, 4 * least) >= least);
  CHECK(t.gen == 1);
}

TEST_CASE("the ACK timer starts anew when an RNR wait ends: no part of either time counts for the other") {
  Timer t(3);
  t.setup(0, 8);
  t.cursor(0, 9, 3);
  t.state(0, kRts, 7, 3);
  const std::uint64_t timeout = std::uint64_t{P_TickCycles} << 8;
  t.sim.run(timeout * 3 / 4);
  t.state(0, kRts, 7, 3, true, 1);  // the same PSN and generation
  auto start = t.sim.cycle();
  CHECK(t.wait(start, timeout) >= 10 * kQuarter);
  CHECK(t.kind == 1);
  start = t.sim.cycle();
  t.state(0, kRts, 7, 3);
  CHECK(t.wait(start, 3 * timeout) >= timeout);
  CHECK(t.kind == 0);
}

TEST_CASE("timeouts: T at least, at most a quarter and two walks more: P44") {
  Timer t(4);
  for (unsigned code = 1; code <= 14; ++code) {
    const unsigned q = code % P_QpCount;
    const std::uint64_t time = std::uint64_t{P_TickCycles} << code;
    if (time > kLongest) continue;
    t.setup(q, code);
    t.cursor(q, 0xFFFFFF, 5);  // nothing is outstanding
    t.state(q, kSqd, 0xFFFFFF, 5);
    t.sim.run(t.sim.rng().below(3 * kWalk));
    const auto start = t.sim.cycle();
    t.cursor(q, 2, 5);
    const auto took = t.wait(start, 2 * (4 * kQuarter << code) + 1000);
    CHECK(took >= time);
    CHECK(took <= (4 * kQuarter << code) + 2 * kQuarter + 2 * kWalk + 20);
    CHECK(t.kind == 0);
    t.state(q, kErr, 0, 0);
  }
}

TEST_CASE("SQD: told when everything is acknowledged and retired, until it is taken note of") {
  Timer t(5);
  t.setup(0, 0);
  t.cursor(0, 20, 1);
  t.retired(0, 20);
  t.state(0, kSqd, 20, 1, false, 0, false);  // told before
  t.sim.run(5 * kWalk);
  t.state(0, kRts, 20, 1, false, 0, true);  // not in SQD
  t.sim.run(5 * kWalk);
  t.state(0, kSqd, 19, 1, false, 0, true);  // a packet is outstanding
  t.sim.run(5 * kWalk);
  t.retired(0, 19);
  t.state(0, kSqd, 20, 1, false, 0, true);  // not retired
  t.sim.run(5 * kWalk);
  CHECK(t.fired == 0);
  t.retired(0, 20);
  t.sim.run(5 * kWalk);
  CHECK(t.fired >= 4);
  CHECK(t.kind == 2);
  t.state(0, kSqd, 20, 1);
  t.sim.run(2 * kWalk);
  const auto fired = t.fired;
  t.sim.run(5 * kWalk);
  CHECK(t.fired == fired);
}

TEST_CASE("a stalled report waits, and time goes on behind it") {
  Timer t(6);
  for (unsigned q = 0; q < P_QpCount && q < 4; ++q) {
    t.setup(q, 0);
    t.cursor(q, 9, 0);
    t.state(q, kRts, 7, 0, true, 1 + q);
  }
  t.time.stall_percent = 95;
  t.sim.run(20'000);
  const unsigned busy = P_QpCount < 4 ? P_QpCount : 4;
  CHECK(t.fired > busy);  // nobody ends the wait: it is told again and again
}
