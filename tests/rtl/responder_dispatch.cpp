// Bench of rx_dispatch: order and content of both streams, and what is dropped.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/responder_model.h"

using namespace rocegen::bench;

namespace {

constexpr std::uint32_t kDepth = P_RspDepth;

/// What an ACK keeps of a header: the fields that an ACK has.
Header as_ack(Header h) {
  h.buf_addr = 0;
  h.pay_bytes = 0;
  h.va = 0;
  h.rkey = 0;
  h.dma_len = 0;
  h.imm = 0;
  return h;
}

struct Bench : Agent {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        in(sim.rng(), Port(sim.dut.s_hdr_tvalid, 1), Port(sim.dut.s_hdr_tready, 1),
           Port(sim.dut.s_hdr_tdata, Header::kWidth)),
        req(sim.rng(), Port(sim.dut.m_req_tvalid, 1), Port(sim.dut.m_req_tready, 1),
            Port(sim.dut.m_req_tdata, Header::kWidth)),
        rsp(sim.rng(), Port(sim.dut.m_rsp_tvalid, 1), Port(sim.dut.m_rsp_tready, 1),
            Port(sim.dut.m_rsp_tdata, Header::kWidth)) {
    // This one first: a request passes through in the cycle in which it comes.
    for (Agent* a :
         {static_cast<Agent*>(this), static_cast<Agent*>(&in), static_cast<Agent*>(&req), static_cast<Agent*>(&rsp)})
      sim.add(*a);
    req.on_beat = [this](const Bytes& beat) {
      REQUIRE(!want_req.empty());
      REQUIRE(Header::unpack(beat) == want_req.front());
      want_req.pop_front();
    };
    // What was dropped is found out by what comes: a sequence without its missing members, counted.
    rsp.on_beat = [this](const Bytes& beat) {
      while (!want_rsp.empty() && !(want_rsp.front() == Header::unpack(beat))) {
        want_rsp.pop_front();
        ++missing;
      }
      REQUIRE_MESSAGE(!want_rsp.empty(), "an ACK that never came in, seed " << seed());
      want_rsp.pop_front();
      ++got_rsp;
    };
    // Before the first edge in reset registers hold anything, and the RAMs' range assertion knows no reset.
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
    sim.run(4);
  }
  void drive() override {}
  void sample() override {
    overflows += sim.dut.cnt_rsp_overflow_o;
    if (!sim.dut.s_hdr_tvalid || !sim.dut.s_hdr_tready) return;
    const Header h = Header::unpack(Port(sim.dut.s_hdr_tdata, Header::kWidth).value());
    if (h.opcode == 0x11)
      want_rsp.push_back(as_ack(h));
    else
      want_req.push_back(h);
  }
  Header random(bool ack) {
    Header h = Header::unpack(sim.rng().bits(Header::kWidth));
    if (ack)
      h.opcode = 0x11;
    else if (h.opcode == 0x11)
      h.opcode = 0x0A;
    return h;
  }

  Sim<Vdut> sim;
  StreamSource in;
  StreamSink req, rsp;
  std::deque<Header> want_req, want_rsp;
  std::uint64_t overflows = 0, missing = 0, got_rsp = 0;
};

}  // namespace

TEST_CASE("every opcode goes its way") {
  Bench b(1);
  for (unsigned op = 0; op < 256; ++op) {
    Header h = b.random(false);
    h.opcode = static_cast<std::uint8_t>(op);
    b.in.push(h.pack());
  }
  b.sim.run_until([&] { return b.in.queue.empty(); }, 300);
  b.sim.run(5);
  CHECK(b.want_req.empty());
  CHECK(b.req.beats.size() == 255);
  CHECK(b.rsp.beats.size() == 1);
  CHECK(b.overflows == 0);
}

TEST_CASE("a requester that takes nothing costs ACKs, not requests") {
  Bench b(2);
  b.rsp.stall_percent = 100;
  for (unsigned i = 0; i < 3 * kDepth; ++i) {
    b.in.push(b.random(true).pack());
    b.in.push(b.random(false).pack());
  }
  b.sim.run(6 * kDepth + 10);
  CHECK(b.in.queue.empty());
  CHECK(b.req.beats.size() == 3 * kDepth);
  CHECK(b.overflows == 2 * kDepth);
  b.rsp.stall_percent = 0;
  b.sim.run(kDepth + 10);
  CHECK(b.rsp.beats.size() == kDepth);
  CHECK(b.missing == 0);  // the oldest are kept
}

TEST_CASE("a header a cycle") {
  Bench b(3);
  for (unsigned i = 0; i < 200; ++i) b.in.push(b.random(i % 3 == 0).pack());
  const auto start = b.sim.cycle();
  b.sim.run_until([&] { return b.in.queue.empty(); }, 300);
  CHECK(b.sim.cycle() - start == 200);
}

TEST_CASE("random traffic and stalls") {
  for (unsigned round = 0; round < 6; ++round) {
    Bench b(10 + round);
    Rng& rng = b.sim.rng();
    b.in.stall_percent = static_cast<unsigned>(rng.below(2) * 40);
    b.req.stall_percent = static_cast<unsigned>(rng.below(80));
    b.rsp.stall_percent = round == 0 ? 99 : static_cast<unsigned>(rng.below(90));
    const unsigned acks = static_cast<unsigned>(rng.between(20, 95));
    for (unsigned i = 0; i < 5000; ++i) {
      if (b.in.queue.size() < 2) b.in.push(b.random(rng.percent(acks)).pack());
      b.sim.step();
    }
    b.req.stall_percent = b.rsp.stall_percent = 0;
    b.sim.run(100 + kDepth);
    CHECK(b.want_req.empty());
    b.missing += b.want_rsp.size();
    CHECK(b.missing == b.overflows);
    CHECK(b.got_rsp > 0);
    if (round == 0) CHECK(b.overflows > 100);
  }
}
