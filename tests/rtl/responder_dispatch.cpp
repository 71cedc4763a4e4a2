// Bench of rx_dispatch: order and content of its streams, and what is dropped.
#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/responder_model.h"

using namespace rocegen::bench;

namespace {

constexpr std::uint32_t kDepth = P_RspDepth;

bool is_ack(const Header& h) { return h.opcode == 0x11; }
/// READ responses and atomic acknowledges: answers that own buffer space.
bool is_response(const Header& h) { return (h.opcode >= 0x0D && h.opcode <= 0x10) || h.opcode == 0x12; }

/// What an answer keeps of a header: the fields that an answer has.
Header as_answer(Header h) {
  h.va = 0;
  h.rkey = 0;
  h.dma_len = 0;
  h.imm = 0;
  h.refuse = false;
  h.tag = 0;
  if (P_Services == 0) h.life = 0;
  return h;
}

enum class Kind : std::uint8_t { request, response, ack };

struct Bench : Agent {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        in(sim.rng(), Port(sim.dut.s_hdr_tvalid, 1), Port(sim.dut.s_hdr_tready, 1),
           Port(sim.dut.s_hdr_tdata, Header::kWidth)),
        req(sim.rng(), Port(sim.dut.m_req_tvalid, 1), Port(sim.dut.m_req_tready, 1),
            Port(sim.dut.m_req_tdata, Header::kWidth)),
        rsp(sim.rng(), Port(sim.dut.m_rsp_tvalid, 1), Port(sim.dut.m_rsp_tready, 1),
            Port(sim.dut.m_rsp_tdata, Header::kWidth)),
        order(sim.rng(), Port(sim.dut.m_order_tvalid, 1), Port(sim.dut.m_order_tready, 1),
              Port(sim.dut.m_order_tdata, 1)) {
    // This one first: a request passes through in the cycle in which it comes.
    for (Agent* a : {static_cast<Agent*>(this), static_cast<Agent*>(&in), static_cast<Agent*>(&req),
                     static_cast<Agent*>(&rsp), static_cast<Agent*>(&order)})
      sim.add(*a);
    req.on_beat = [this](const Bytes& beat) {
      REQUIRE(!want_req.empty());
      REQUIRE(Header::unpack(beat) == want_req.front());
      want_req.pop_front();
    };
    // Which ACKs were dropped is found out by what comes: a sequence without its missing members, counted.
    rsp.on_beat = [this](const Bytes& beat) {
      while (!want_rsp.empty() && !(want_rsp.front() == Header::unpack(beat))) {
        REQUIRE_MESSAGE(is_ack(want_rsp.front()), "a response was lost, seed " << seed());
        want_rsp.pop_front();
        ++missing;
      }
      REQUIRE_MESSAGE(!want_rsp.empty(), "an answer that never came in, seed " << seed());
      want_rsp.pop_front();
      ++got_rsp;
    };
    order.on_beat = [this](const Bytes& beat) {
      REQUIRE(!want_order.empty());
      REQUIRE((beat[0] & 1U) == (want_order.front() ? 1U : 0U));
      want_order.pop_front();
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
    if (is_ack(h) || is_response(h))
      want_rsp.push_back(as_answer(h));
    else
      want_req.push_back(h);
    if (!is_ack(h)) want_order.push_back(is_response(h));
  }
  Header random(Kind kind) {
    static constexpr std::uint8_t responses[] = {0x0D, 0x0E, 0x0F, 0x10, 0x12};
    Header h = Header::unpack(sim.rng().bits(Header::kWidth));
    if (kind == Kind::ack) h.opcode = 0x11;
    if (kind == Kind::response) h.opcode = responses[sim.rng().below(5)];
    if (kind == Kind::request && (is_ack(h) || is_response(h))) h.opcode = 0x0A;
    return h;
  }
  void check_empty() {
    CHECK(want_req.empty());
    CHECK(want_order.empty());
    // What is left in want_rsp was dropped at the end.
    for (const auto& h : want_rsp) CHECK(is_ack(h));
    missing += want_rsp.size();
    want_rsp.clear();
    CHECK(missing == overflows);
  }

  Sim<Vdut> sim;
  StreamSource in;
  StreamSink req, rsp, order;
  std::deque<Header> want_req, want_rsp;
  std::deque<bool> want_order;
  std::uint64_t overflows = 0, missing = 0, got_rsp = 0;
};

}  // namespace

TEST_CASE("every opcode goes its way") {
  Bench b(1);
  for (unsigned op = 0; op < 256; ++op) {
    Header h = b.random(Kind::request);
    h.opcode = static_cast<std::uint8_t>(op);
    b.in.push(h.pack());
  }
  b.sim.run_until([&] { return b.in.queue.empty(); }, 300);
  b.sim.run(10);
  CHECK(b.req.beats.size() == 250);
  CHECK(b.rsp.beats.size() == 6);
  CHECK(b.order.beats.size() == 255);
  CHECK(b.overflows == 0);
  b.check_empty();
}

TEST_CASE("a requester that takes nothing costs ACKs, not requests") {
  Bench b(2);
  b.rsp.stall_percent = 100;
  for (unsigned i = 0; i < 3 * kDepth; ++i) {
    b.in.push(b.random(Kind::ack).pack());
    b.in.push(b.random(Kind::request).pack());
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

TEST_CASE("a requester that takes nothing loses no response") {
  Bench b(4);
  b.rsp.stall_percent = 100;
  for (unsigned i = 0; i < 3 * kDepth; ++i) {
    b.in.push(b.random(Kind::ack).pack());
    b.in.push(b.random(Kind::response).pack());
  }
  b.sim.run(10 * kDepth + 10);
  CHECK(!b.in.queue.empty());
  CHECK(b.order.beats.size() == kDepth / 2);
  b.rsp.stall_percent = 0;
  b.sim.run(10 * kDepth + 10);
  CHECK(b.in.queue.empty());
  b.check_empty();
  // Each of the others came through, in order; an ACK goes when the place is needed only once.
  CHECK(b.order.beats.size() == 3 * kDepth);
}

TEST_CASE("requests and responses wait for m_order, ACKs do not") {
  Bench b(5);
  b.order.stall_percent = 100;
  for (unsigned i = 0; i < 20; ++i) b.in.push(b.random(i % 2 == 0 ? Kind::request : Kind::response).pack());
  b.sim.run(50);
  CHECK(b.in.queue.size() == 18);
  CHECK(b.req.beats.size() == 1);
  CHECK(b.rsp.beats.size() == 1);
  b.order.stall_percent = 0;
  b.sim.run(50);
  CHECK(b.in.queue.empty());
  b.order.stall_percent = 100;
  b.sim.run(2);
  for (unsigned i = 0; i < 20; ++i) b.in.push(b.random(Kind::ack).pack());
  b.sim.run(50);
  CHECK(b.in.queue.empty());
  CHECK(b.rsp.beats.size() == 10 + 20);
  b.check_empty();
}

TEST_CASE("a header a cycle") {
  for (const unsigned part : {2U, 3U, 100U}) {
    Bench b(3 + part);
    for (unsigned i = 0; i < 200; ++i) {
      b.in.push(b.random(i % part == 0 ? Kind::ack : i % part == 1 ? Kind::response : Kind::request).pack());
    }
    const auto start = b.sim.cycle();
    b.sim.run_until([&] { return b.in.queue.empty(); }, 300);
    CHECK(b.sim.cycle() - start == 200);
    b.sim.run(10);
    CHECK(b.overflows == 0);
    b.check_empty();
  }
}

TEST_CASE("random traffic and stalls") {
  for (unsigned round = 0; round < 8; ++round) {
    Bench b(20 + round);
    Rng& rng = b.sim.rng();
    b.in.stall_percent = static_cast<unsigned>(rng.below(2) * 40);
    b.req.stall_percent = static_cast<unsigned>(rng.below(80));
    b.rsp.stall_percent = round == 0 ? 99 : static_cast<unsigned>(rng.below(90));
    b.order.stall_percent = static_cast<unsigned>(rng.below(2) * rng.below(90));
    const unsigned acks = static_cast<unsigned>(rng.between(20, 95));
    const unsigned responses = round == 0 ? 0 : static_cast<unsigned>(rng.below(60));
    for (unsigned i = 0; i < 5000; ++i) {
      if (b.in.queue.size() < 2) {
        b.in.push(b.random(rng.percent(acks)        ? Kind::ack
                           : rng.percent(responses) ? Kind::response
                                                    : Kind::request)
                      .pack());
      }
      b.sim.step();
    }
    b.in.stall_percent = b.req.stall_percent = b.rsp.stall_percent = b.order.stall_percent = 0;
    b.sim.run(100 + kDepth);
    b.check_empty();
    CHECK(b.got_rsp > 0);
    if (round == 0) CHECK(b.overflows > 100);
  }
}
