#include "sim/model/endpoint.h"

#include <doctest/doctest.h>

#include <functional>

using namespace rocegen::sim;

namespace {

constexpr uint64_t kBase = 0x5000;

/// One endpoint whose peer is the test.
struct Rig {
  Memory memory;
  Endpoint e{memory, {}};
  QpConfig qp;
  Ps now = 0;

  explicit Rig(const std::function<void(QpConfig&)>& edit = {}) {
    e.set_address({0x0A, 0x0A000001, 64, 0});
    qp.qpn = 5;
    qp.pmtu = 1;
    qp.rq_psn = 100;
    qp.sq_psn = 0xFFFFFE;
    qp.dqpn = 9;
    qp.dip = 0x0A000002;
    qp.dmac = 0x0B;
    qp.pd = 3;
    if (edit) edit(qp);
    e.setup_qp(qp);
    MrConfig mr;
    mr.index = 2;
    mr.variant = 7;
    mr.pd = 3;
    mr.base = kBase;
    mr.length = 4096;
    e.setup_mr(mr);
    memory.add_region(kBase, 4096);
  }

  Frame to_it(uint8_t opcode, uint32_t psn) const {
    Frame f;
    f.dst_mac = 0x0A;
    f.src_mac = 0x0B;
    f.src_ip = 0x0A000002;
    f.dst_ip = 0x0A000001;
    f.opcode = opcode;
    f.dqpn = 5;
    f.psn = psn;
    return f;
  }
  void write(uint8_t opcode, uint32_t psn, size_t n, bool ackreq = true, uint32_t dma_len = 0xFFFFFFFF) {
    Frame f = to_it(opcode, psn);
    f.payload = Bytes(n, static_cast<uint8_t>(psn));
    f.ackreq = ackreq;
    f.va = kBase;
    f.rkey = 0x207;
    f.dma_len = dma_len == 0xFFFFFFFF ? static_cast<uint32_t>(n) : dma_len;
    e.receive(now, build(f), false);
  }
  void answer(uint8_t syndrome, uint32_t psn) {
    Frame f = to_it(op::Ack, psn);
    f.syndrome = syndrome;
    e.receive(now, build(f), false);
  }
  void post(uint32_t n, uint64_t id = 1, uint8_t flags = kWqeSignaled) {
    Wqe w;
    w.qpn = 5;
    w.length = n;
    w.wr_id = id;
    w.flags = flags;
    e.post(w);
  }
  /// All frames that it sends now: "opcode psn [syndrome msn]" each.
  std::vector<std::string> sent() {
    std::vector<std::string> out;
    Bytes b;
    while (e.transmit(now, b)) {
      const Parsed p = parse(b);
      REQUIRE(p.ok());
      std::string s = opcode_name(p.frame.opcode) + " " + std::to_string(p.frame.psn);
      if (p.frame.opcode == op::Ack) s += " " + to_hex(Bytes{p.frame.syndrome}) + " " + std::to_string(p.frame.msn);
      if (p.frame.ackreq) s += " A";
      out.push_back(s);
    }
    return out;
  }
  std::vector<std::string> completions() {
    std::vector<std::string> out;
    Cqe c;
    while (e.poll_cqe(c)) out.push_back(std::to_string(c.wr_id) + " " + status_name(c.status));
    return out;
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("endpoint: requester cuts a message over the wrap of the PSN") {
  Rig r;
  r.post(256 * 2 + 1);
  CHECK(r.sent() == Lines{"WRITE_FIRST 16777214", "WRITE_MIDDLE 16777215", "WRITE_LAST 0 A"});
  r.answer(0x1F, 0xFFFFFF);
  CHECK(r.completions().empty());
  r.answer(0x1F, 0);
  CHECK(r.completions() == Lines{"1 success"});
}

TEST_CASE("endpoint: lengths around the MTU give the right number of packets") {
  for (const auto& [n, packets] :
       std::vector<std::pair<uint32_t, size_t>>{{0, 1}, {1, 1}, {255, 1}, {256, 1}, {257, 2}, {512, 2}, {513, 3}}) {
    Rig r;
    r.post(n);
    CHECK(r.sent().size() == packets);
  }
}

TEST_CASE("endpoint: go-back-N on NAK, once until there is progress") {
  Rig r([](QpConfig& q) { q.sq_psn = 10; });
  for (uint64_t i = 0; i < 4; ++i) r.post(8, i);
  CHECK(r.sent().size() == 4);
  r.answer(kSynNakPsn, 12);
  CHECK(r.completions() == Lines{"0 success", "1 success"});
  CHECK(r.sent() == Lines{"WRITE_ONLY 12 A", "WRITE_ONLY 13 A"});
  r.answer(kSynNakPsn, 12);
  CHECK(r.sent().empty());
  r.answer(0x1F, 12);
  r.answer(kSynNakPsn, 13);
  CHECK(r.sent() == Lines{"WRITE_ONLY 13 A"});
}

TEST_CASE("endpoint: timeout, retry count, flush") {
  Rig r([](QpConfig& q) {
    q.timeout = 1;
    q.retry_cnt = 2;
    q.sq_psn = 0;
  });
  r.post(8, 1);
  r.post(8, 2, 0);
  r.post(8, 3);
  CHECK(r.sent().size() == 3);
  for (int k = 0; k < 2; ++k) {
    CHECK(r.e.next_timer() == r.now + ack_timeout(1));
    r.now += ack_timeout(1) - 1;
    r.e.tick(r.now);
    CHECK(r.sent().empty());
    r.now += 1;
    r.e.tick(r.now);
    CHECK(r.sent().size() == 3);
  }
  r.now += ack_timeout(1);
  r.e.tick(r.now);
  CHECK(r.sent().empty());
  // Errors complete even what was unsignaled.
  CHECK(r.completions() == Lines{"1 retry_exc_err", "2 flush_err", "3 flush_err"});
  QpEvent ev;
  REQUIRE(r.e.poll_event(ev));
  CHECK(ev.cause == EventCause::RetryExc);
  r.post(8, 4);
  CHECK(r.completions() == Lines{"4 flush_err"});
}

TEST_CASE("endpoint: a pause stops the timer") {
  Rig r([](QpConfig& q) { q.timeout = 1; });
  r.post(8);
  r.sent();
  r.now += 1000;
  r.e.pause(r.now, true);
  CHECK(r.e.next_timer() == kNever);
  r.now += 100 * ack_timeout(1);
  r.e.tick(r.now);
  r.e.pause(r.now, false);
  CHECK(r.e.next_timer() == r.now + ack_timeout(1) - 1000);
}

TEST_CASE("endpoint: window") {
  Memory m;
  EndpointConfig c;
  c.window = 3;
  Rig r;
  Endpoint e(m, c);
  e.setup_qp(r.qp);
  Wqe w;
  w.qpn = 5;
  w.length = 256 * 10;
  e.post(w);
  Bytes b;
  int n = 0;
  while (e.transmit(0, b)) ++n;
  CHECK(n == 3);
  CHECK_FALSE(e.has_frame());
}

TEST_CASE("endpoint: responder in order, MSN, A bit") {
  Rig r;
  r.write(op::WriteFirst, 100, 256, true, 600);
  CHECK(r.sent() == Lines{"ACK 100 1f 0"});
  r.write(op::WriteMiddle, 101, 256, false);
  CHECK(r.sent().empty());
  r.write(op::WriteLast, 102, 88);
  CHECK(r.sent() == Lines{"ACK 102 1f 1"});
  Bytes want(256, 100);
  want.insert(want.end(), 256, 101);
  want.insert(want.end(), 88, 102);
  CHECK(r.memory.read(kBase, 600) == want);
  CHECK(r.memory.check_guards().empty());
}

TEST_CASE("endpoint: responder gaps and duplicates") {
  Rig r;
  r.write(op::WriteOnly, 102, 8);
  r.write(op::WriteOnly, 103, 8);
  CHECK(r.sent() == Lines{"ACK 100 60 0"});
  r.write(op::WriteOnly, 99, 8);
  CHECK(r.sent() == Lines{"ACK 99 1f 0"});
  r.write(op::WriteOnly, 100, 8);
  CHECK(r.sent() == Lines{"ACK 100 1f 1"});
  r.write(op::WriteOnly, 102, 8);
  CHECK(r.sent() == Lines{"ACK 101 60 1"});
  CHECK(r.memory.read8(kBase) == 100);
}

TEST_CASE("endpoint: responder refuses, dies, stays silent") {
  const auto fatal = [](const std::function<void(Rig&)>& what, const std::string& answer) {
    Rig r;
    what(r);
    CHECK(r.sent() == Lines{answer});
    r.write(op::WriteOnly, 100, 8);
    CHECK(r.sent().empty());
    QpEvent ev;
    CHECK(r.e.poll_event(ev));
  };
  fatal([](Rig& r) { r.write(op::WriteMiddle, 100, 256); }, "ACK 100 61 0");
  fatal([](Rig& r) { r.write(op::WriteFirst, 100, 252, true, 600); }, "ACK 100 61 0");
  fatal([](Rig& r) { r.write(op::WriteOnly, 100, 8, true, 9); }, "ACK 100 61 0");
  fatal([](Rig& r) { r.write(op::CmpSwap, 100, 0); }, "ACK 100 61 0");
  fatal(
      [](Rig& r) {
        Frame f = r.to_it(op::WriteOnly, 100);
        f.payload = Bytes(8, 1);
        f.dma_len = 8;
        f.rkey = 0x207;
        f.va = kBase + 4089;
        r.e.receive(0, build(f), false);
      },
      "ACK 100 62 0");
  fatal(
      [](Rig& r) {
        Frame f = r.to_it(op::WriteOnly, 100);
        f.payload = Bytes(8, 1);
        f.dma_len = 8;
        f.rkey = 0x207;
        f.va = ~uint64_t{0} - 3;  // the sum wraps
        r.e.receive(0, build(f), false);
      },
      "ACK 100 62 0");
}

TEST_CASE("endpoint: requests that cannot be executed") {
  Rig r;
  r.post(8, 1);
  Wqe w;
  w.qpn = 5;
  w.wr_id = 2;
  w.opcode = 77;
  r.e.post(w);
  r.post(8, 3);
  CHECK(r.sent() == Lines{"WRITE_ONLY 16777214 A"});
  CHECK_FALSE(r.e.has_frame());
  r.answer(0x1F, 0xFFFFFE);
  CHECK(r.completions() == Lines{"1 success", "2 loc_qp_op_err", "3 flush_err"});
  w.qpn = 77;
  r.e.post(w);
  CHECK(r.completions() == Lines{"2 loc_qp_op_err"});
}
