// Bench of cmd_bypass: requests leave in their order, whichever way each takes; those without payload go around what
// waits for memory as soon as no request is in there.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kCmdBits = 369, kPktBits = 302, kPayLsb = 224, kOpcodeLsb = 264;

/// The way through dma_read is a queue whose commands leave `delay` cycles or more after they came.
struct Bench : Agent {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        in(sim.rng(), Port(sim.dut.s_cmd_tvalid, 1), Port(sim.dut.s_cmd_tready, 1),
           Port(sim.dut.s_cmd_tdata, kCmdBits)),
        through(sim.rng(), Port(sim.dut.m_cmd_tvalid, 1), Port(sim.dut.m_cmd_tready, 1),
                Port(sim.dut.m_cmd_tdata, kCmdBits)),
        around(sim.rng(), Port(sim.dut.m_pkt_tvalid, 1), Port(sim.dut.m_pkt_tready, 1),
               Port(sim.dut.m_pkt_tdata, kPktBits)) {
    for (Agent* a : {static_cast<Agent*>(&in), static_cast<Agent*>(&through), static_cast<Agent*>(&around),
                     static_cast<Agent*>(this)})
      sim.add(*a);
    through.on_beat = [this](const Bytes& cmd) {
      CHECK(cmd == commands.at(entered));
      // Without payload this way is taken only when a request is on it, or was in the cycle before.
      if (get_field(cmd, kPayLsb, 14) == 0 && !(P_EmptyThrough != 0 && message(cmd)))
        REQUIRE((!inside.empty() || now_ - last_left_ <= 2));
      inside.push_back({cmd, now_ + delay});
      ++entered;
    };
    around.on_beat = [this](const Bytes& pkt) {
      if (P_EmptyThrough != 0) REQUIRE(!message(pkt));
      leave(pkt);
      ++bypassed;
    };
    sim.dut.request_left_i = 0;
    sim.reset();
  }
  void drive() override {
    left_ = !inside.empty() && inside.front().second <= now_ && !sim.rng().percent(stall_percent);
    if (left_) {
      leave(packet(inside.front().first));
      inside.pop_front();
      last_left_ = now_;
    }
    // The pulse comes a cycle later.
    sim.dut.request_left_i = pulse_ ? 1 : 0;
    pulse_ = left_;
  }
  void sample() override {
    if (sim.dut.s_cmd_tvalid != 0 && sim.dut.s_cmd_tready != 0 && sim.dut.m_cmd_tvalid == 0) ++entered;
    ++now_;
  }
  void on_reset() override { sim.dut.request_left_i = 0; }
  /// SEND or WRITE.
  static bool message(const Bytes& pkt) {
    const std::uint64_t opcode = get_field(pkt, kOpcodeLsb, 8);
    return opcode < 0x0C || opcode == 0x16 || opcode == 0x17;
  }
  static Bytes packet(const Bytes& cmd) {
    Bytes out((kPktBits + 7) / 8);
    for (std::size_t at = 0; at < kPktBits; at += 8)
      set_field(out, at, std::min<std::size_t>(8, kPktBits - at),
                get_field(cmd, at, std::min<std::size_t>(8, kPktBits - at)));
    return out;
  }
  void leave(const Bytes& pkt) {
    INFO("seed ", seed(), " request ", gone);
    REQUIRE(gone < commands.size());
    REQUIRE(pkt == packet(commands[gone]));
    ++gone;
  }
  void push(bool payload) {
    Bytes cmd = sim.rng().bits(kCmdBits);
    set_field(cmd, kPayLsb, 14, payload ? sim.rng().below(16383) + 1 : 0);
    if (reads) set_field(cmd, kOpcodeLsb, 8, 0x0C);
    commands.push_back(cmd);
    in.push(cmd);
  }

  Sim<Vdut> sim;
  StreamSource in;
  StreamSink through, around;
  std::vector<Bytes> commands;
  std::deque<std::pair<Bytes, std::uint64_t>> inside;
  std::uint64_t entered = 0, gone = 0, bypassed = 0;
  std::uint64_t delay = 3;
  unsigned stall_percent = 0;
  bool reads = false;  // requests that never go through for their own sake

 private:
  std::uint64_t now_ = 10, last_left_ = 0;
  bool left_ = false, pulse_ = false;
};

}  // namespace

TEST_CASE("random: nobody overtakes, nobody is lost") {
  for (unsigned round = 0; round < 12; ++round) {
    Bench b(1 + round);
    b.in.stall_percent = round % 2 != 0 ? 50 : 0;
    b.through.stall_percent = round / 2 % 2 != 0 ? 60 : 0;
    b.around.stall_percent = round / 4 != 0 ? 80 : 10;
    b.stall_percent = round % 3 != 0 ? 70 : 0;
    b.delay = round % 5 == 0 ? 1 : 1 + b.sim.rng().below(40);
    const unsigned share = static_cast<unsigned>(b.sim.rng().below(5)) * 25;
    for (unsigned i = 0; i < 2000; ++i) b.push(b.sim.rng().percent(share));
    b.sim.run_until([&] { return b.gone == 2000; }, 200'000);
    CHECK(b.inside.empty());
    if (share == 0 && P_EmptyThrough == 0) CHECK(b.bypassed == 2000);
    if (share == 100) CHECK(b.bypassed == 0);
  }
}

TEST_CASE("without payload: around, one every two cycles; behind payload that waits: through, after it") {
  Bench b(40);
  b.reads = true;
  b.delay = 300;
  for (unsigned i = 0; i < 200; ++i) b.push(false);
  b.sim.run(403);
  CHECK(b.gone == 200);
  CHECK(b.bypassed == 200);
  b.push(true);
  for (unsigned i = 0; i < 50; ++i) b.push(false);
  b.sim.run(200);
  CHECK(b.gone == 200);
  CHECK(b.inside.size() == 51);
  b.sim.run(300);
  CHECK(b.gone == 251);
  b.push(false);
  b.sim.run(5);
  CHECK(b.gone == 252);
  CHECK(b.bypassed == 201);
  // Held back in front of the line, it holds back payload behind it.
  b.around.stall_percent = 100;
  b.push(false);
  b.push(true);
  b.sim.run(50);
  CHECK(b.inside.empty());
  b.around.stall_percent = 0;
  b.sim.run(50);
  CHECK(b.inside.size() == 1);
}
