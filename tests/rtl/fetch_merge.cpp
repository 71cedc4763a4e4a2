// Bench of fetch_merge: commands come out in the order of the bits, unchanged, none early, at a command a cycle.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kCmdBits = 158;

struct Bench : Agent {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        order(sim.rng(), Port(sim.dut.s_order_tvalid, 1), Port(sim.dut.s_order_tready, 1),
              Port(sim.dut.s_order_tdata, 1)),
        req(sim.rng(), Port(sim.dut.s_req_tvalid, 1), Port(sim.dut.s_req_tready, 1),
            Port(sim.dut.s_req_tdata, kCmdBits)),
        rsp(sim.rng(), Port(sim.dut.s_rsp_tvalid, 1), Port(sim.dut.s_rsp_tready, 1),
            Port(sim.dut.s_rsp_tdata, kCmdBits)),
        out(sim.rng(), Port(sim.dut.m_fetch_tvalid, 1), Port(sim.dut.m_fetch_tready, 1),
            Port(sim.dut.m_fetch_tdata, kCmdBits)) {
    for (Agent* a : {static_cast<Agent*>(&order), static_cast<Agent*>(&req), static_cast<Agent*>(&rsp),
                     static_cast<Agent*>(&out), static_cast<Agent*>(this)})
      sim.add(*a);
    out.on_beat = [this](const Bytes& beat) {
      REQUIRE(!want.empty());
      REQUIRE_MESSAGE(beat == want.front(), "command " << got << " differs, seed " << seed());
      want.pop_front();
      ++got;
    };
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
    sim.run(4);
  }
  void drive() override {}
  // A command may only be taken after its bit.
  void sample() override { REQUIRE(req.taken + rsp.taken <= order.taken); }

  // Queues a header: its bit and its command.
  void header(bool response) {
    Bytes command = sim.rng().bits(kCmdBits);
    want.push_back(command);
    order.push({static_cast<std::uint8_t>(response ? 1 : 0)});
    (response ? rsp : req).push(std::move(command));
  }

  Sim<Vdut> sim;
  StreamSource order, req, rsp;
  StreamSink out;
  std::deque<Bytes> want;
  std::uint64_t got = 0;
};

}  // namespace

TEST_CASE("a command a cycle, in any pattern") {
  for (unsigned pattern = 0; pattern < 5; ++pattern) {
    Bench b(1 + pattern);
    constexpr unsigned kCount = 300;
    for (unsigned i = 0; i < kCount; ++i) {
      b.header(pattern == 0   ? false
               : pattern == 1 ? true
               : pattern == 2 ? i % 2 != 0
               : pattern == 3 ? i % 7 < 3
                              : b.sim.rng().percent(50));
    }
    const auto start = b.sim.cycle();
    b.sim.run_until([&] { return b.got == kCount; }, 1000);
    CHECK(b.sim.cycle() - start <= kCount + 4);
  }
}

TEST_CASE("the order queue holds Depth bits") {
  Bench b(10);
  b.req.stall_percent = b.rsp.stall_percent = 100;
  for (unsigned i = 0; i < P_Depth + 20; ++i) b.header(b.sim.rng().percent(50));
  b.sim.run(P_Depth + 50);
  CHECK(b.order.taken == P_Depth);
  CHECK(b.got == 0);
  b.req.stall_percent = b.rsp.stall_percent = 0;
  b.sim.run_until([&] { return b.want.empty(); }, 2 * P_Depth + 100);
}

TEST_CASE("one stream does not pass while the other's turn is") {
  Bench b(11);
  b.rsp.stall_percent = 100;
  b.header(false);
  b.header(true);
  for (unsigned i = 0; i < 10; ++i) b.header(false);
  b.sim.run(50);
  CHECK(b.got == 1);
  CHECK(b.req.taken == 1);
  b.rsp.stall_percent = 0;
  b.sim.run_until([&] { return b.want.empty(); }, 100);
}

TEST_CASE("random traffic and stalls") {
  for (unsigned round = 0; round < 12; ++round) {
    Bench b(20 + round);
    Rng& rng = b.sim.rng();
    for (auto* s : {&b.order, &b.req, &b.rsp}) s->stall_percent = static_cast<unsigned>(rng.below(2) * rng.below(95));
    b.out.stall_percent = static_cast<unsigned>(rng.below(2) * rng.below(90));
    const unsigned responses = static_cast<unsigned>(rng.below(101));
    for (unsigned i = 0; i < 1500; ++i) b.header(rng.percent(responses));
    b.sim.run_until([&] { return b.want.empty(); }, 200'000);
    CHECK(b.got == 1500);
    CHECK(b.order.queue.empty());
    b.sim.run(20);
  }
}
