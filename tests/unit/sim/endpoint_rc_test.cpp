// Every operation of the reference endpoint beside WRITE, held against the protocol sheet with frames made here.
#include <doctest/doctest.h>

#include "sim/model/endpoint.h"

using namespace rocegen::sim;

namespace {

constexpr uint64_t kBase = 0x5000;
constexpr uint64_t kLocal = 0x9000;
constexpr uint32_t kKey = 0x207;

using Lines = std::vector<std::string>;

/// One endpoint whose peer is the test; path MTU 256.
struct Rig {
  Memory memory;
  Endpoint e{memory, {}};
  QpConfig qp;
  Ps now = 0;

  explicit Rig(const std::function<void(QpConfig&)>& edit = {}) {
    e.set_address({0x0A, 0x0A000001, 64, 0});
    qp.qpn = 5;
    qp.pmtu = 1;
    qp.access = kAccWrite | kAccRead | kAccAtomic;
    qp.rq_psn = 100;
    qp.sq_psn = 1000;
    qp.dqpn = 9;
    qp.dip = 0x0A000002;
    qp.dmac = 0x0B;
    qp.pd = 3;
    qp.rq_on = true;
    qp.max_rd = qp.max_dest_rd = 2;
    qp.min_rnr_timer = 3;
    if (edit) edit(qp);
    e.setup_qp(qp);
    MrConfig mr;
    mr.index = 2;
    mr.variant = 7;
    mr.access = 15;
    mr.pd = 3;
    mr.base = kBase;
    mr.length = 4096;
    e.setup_mr(mr);
    memory.add_region(kBase, 4096);
    memory.add_region(kLocal, 4096);
  }

  Frame frame(uint8_t opcode, uint32_t psn, size_t n = 0) const {
    Frame f;
    f.dst_mac = 0x0A;
    f.src_mac = 0x0B;
    f.src_ip = 0x0A000002;
    f.dst_ip = 0x0A000001;
    f.opcode = opcode;
    f.dqpn = 5;
    f.psn = psn;
    f.va = kBase;
    f.rkey = kKey;
    f.ackreq = opcode_layout(opcode).request;
    f.payload = Bytes(n, static_cast<uint8_t>(psn));
    f.dma_len = static_cast<uint32_t>(n);
    return f;
  }
  void take(const Frame& f) { e.receive(now, build(f), false); }
  void take(uint8_t opcode, uint32_t psn, size_t n = 0) { take(frame(opcode, psn, n)); }
  void answer(uint8_t syndrome, uint32_t psn, uint32_t msn = 0) {
    Frame f = frame(op::Ack, psn);
    f.syndrome = syndrome;
    f.msn = msn;
    take(f);
  }
  void read(uint32_t psn, uint32_t n, uint64_t va = kBase, uint32_t key = kKey) {
    Frame f = frame(op::ReadRequest, psn);
    f.dma_len = n;
    f.va = va;
    f.rkey = key;
    take(f);
  }
  void respond(uint8_t opcode, uint32_t psn, size_t n) {
    Frame f = frame(opcode, psn, n);
    f.syndrome = kSynAckNoLimit;
    take(f);
  }
  void post(uint8_t opcode, uint32_t n, uint64_t id, uint8_t flags = kWqeSignaled) {
    Wqe w;
    w.qpn = 5;
    w.opcode = opcode;
    w.length = n;
    w.wr_id = id;
    w.flags = flags;
    w.laddr = kLocal;
    w.raddr = 0x700000;
    w.imm = 0xABCD;
    e.post(w);
  }
  void recv(uint64_t id, uint32_t length = 4096) {
    Rqe r;
    r.qpn = 5;
    r.wr_id = id;
    r.addr = kLocal;
    r.length = length;
    e.post_recv(r);
  }
  /// All frames that it sends now: "OPCODE psn [syndrome msn] [bytes]".
  Lines sent() {
    Lines out;
    Bytes b;
    while (e.transmit(now, b)) {
      const Parsed p = parse(b);
      REQUIRE(p.ok());
      const OpcodeLayout& l = opcode_layout(p.frame.opcode);
      std::string s = opcode_name(p.frame.opcode) + " " + std::to_string(p.frame.psn);
      if (l.aeth) s += " " + to_hex(Bytes{p.frame.syndrome}) + " " + std::to_string(p.frame.msn);
      if (l.payload) s += " " + std::to_string(p.frame.payload.size());
      if (p.frame.opcode == op::ReadRequest) s += " " + std::to_string(p.frame.dma_len);
      if (p.frame.se) s += " S";
      out.push_back(s);
      last = p.frame;
    }
    return out;
  }
  Lines completions() {
    Lines out;
    Cqe c;
    while (e.poll_cqe(c)) {
      out.push_back((c.receive() ? "r" : "") + std::to_string(c.wr_id) + " " + status_name(c.status) +
                    (c.status == WcStatus::Success ? " " + std::to_string(c.bytes) : ""));
      cqe = c;
    }
    return out;
  }
  Lines events() {
    Lines out;
    QpEvent v;
    while (e.poll_event(v)) out.push_back(cause_name(v.cause));
    return out;
  }
  Frame last;
  Cqe cqe;
};

}  // namespace

TEST_CASE("types: RNR delays and credit counts are those of the sheet") {
  // In microseconds, codes 0 to 31.
  const uint64_t us[32] = {655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
                           480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
                           20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};
  for (uint8_t c = 0; c < 32; ++c) CHECK(rnr_delay(c) == us[c] * 1000 * kNs);
  CHECK(credit_count(0) == 0);
  CHECK(credit_count(5) == 6);
  CHECK(credit_count(0x10) == 256);
  CHECK(credit_count(0x1D) == 24576);
  CHECK(credit_count(0x1E) == 32768);
  for (uint32_t n : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 11u, 12u, 1000u, 32767u, 32768u, 100000u}) {
    const uint8_t c = credit_code(n);
    CHECK(credit_count(c) <= n);
    CHECK((c == 30 || credit_count(static_cast<uint8_t>(c + 1)) > n));
  }
}

TEST_CASE("endpoint: SEND takes an entry at FIRST, completes at LAST, and tells credits") {
  Rig r;
  r.recv(1);
  r.recv(2);
  r.take(op::SendFirst, 100, 256);
  CHECK(r.completions().empty());
  CHECK(r.sent() == Lines{"ACK 100 01 0"});
  Frame f = r.frame(op::SendLastImm, 101, 10);
  f.imm = 0x01020304;
  f.se = true;
  r.take(f);
  CHECK(r.sent() == Lines{"ACK 101 01 1"});
  CHECK(r.completions() == Lines{"r1 success 266"});
  CHECK(r.cqe.flags == (kCqeRecv | kCqeWithImm | kCqeSolicited));
  CHECK(r.cqe.imm == 0x01020304);
  CHECK(r.cqe.opcode == kWcRecv);
  CHECK(r.memory.read8(kLocal + 256) == 101);
  r.take(f);  // again: acknowledged, not received
  CHECK(r.sent() == Lines{"ACK 101 01 1"});
  CHECK(r.completions().empty());
}

TEST_CASE("endpoint: no receive entry, RNR NAK once, then silence until ePSN comes") {
  Rig r;
  r.take(op::SendOnly, 100, 8);
  r.take(op::SendOnly, 101, 8);
  CHECK(r.sent() == Lines{"ACK 100 23 0"});
  r.recv(1, 7);
  r.recv(2);
  r.take(op::SendOnly, 100, 8);
  CHECK(r.sent() == Lines{"ACK 100 61 0"});
  CHECK(r.completions() == Lines{"r1 loc_len_err", "r2 flush_err"});
  CHECK(r.events() == Lines{"local_len"});
}

TEST_CASE("endpoint: a refused request that holds a receive entry ends it with the cause") {
  const auto first = [](const std::function<void(Rig&)>& what) {
    Rig r;
    r.recv(1);
    r.recv(2);
    what(r);
    const Lines all = r.completions();
    REQUIRE(all.size() == 2);
    CHECK(all[1] == "r2 flush_err");
    return all[0];
  };
  CHECK(first([](Rig& r) { r.take(op::SendFirst, 100, 252); }) == "r1 rem_inv_req_err");
  CHECK(first([](Rig& r) {
          r.take(op::SendFirst, 100, 256);
          r.take(op::WriteMiddle, 101, 256);
        }) == "r1 rem_inv_req_err");
  CHECK(first([](Rig& r) { r.take(op::SendLast, 100, 4); }) == "r1 flush_err");  // took none
  CHECK(first([](Rig& r) {
          Frame f = r.frame(op::WriteOnlyImm, 100, 8);
          f.rkey ^= 1;
          r.take(f);
        }) == "r1 rem_access_err");
  CHECK(first([](Rig& r) {
          r.take(op::SendFirst, 100, 256);
          r.e.set_state(5, QpState::Err);
        }) == "r1 flush_err");
}

TEST_CASE("endpoint: SEND with invalidate kills the key, or the QP") {
  Rig r;
  r.recv(1);
  r.recv(2);
  r.recv(3);
  Frame f = r.frame(op::SendOnlyInv, 100, 4);
  f.inv_rkey = kKey;
  r.take(f);
  CHECK(r.completions() == Lines{"r1 success 4"});
  CHECK(r.cqe.flags == (kCqeRecv | kCqeWithInv));
  CHECK(r.cqe.imm == kKey);
  r.sent();
  f.psn = 101;
  r.take(f);
  CHECK(r.sent().empty());
  CHECK(r.completions() == Lines{"r2 loc_qp_op_err", "r3 flush_err"});
  CHECK(r.events() == Lines{"invalidate"});
}

TEST_CASE("endpoint: READ is answered from memory, with its PSNs; again in part; ranges are held") {
  Rig r;
  r.read(100, 600);
  CHECK(r.sent() == Lines{"READ_RESP_FIRST 100 1f 1 256", "READ_RESP_MIDDLE 101 256", "READ_RESP_LAST 102 1f 1 88"});
  r.read(102, 88, kBase + 512);
  CHECK(r.sent() == Lines{"READ_RESP_ONLY 102 1f 1 88"});
  r.read(100, 600, kBase + 1);
  r.read(100, 601);
  r.read(101, 0xFFFFFFFF, kBase + 256);
  r.read(100, 600, kBase, kKey ^ 1);
  r.read(99, 1);
  CHECK(r.sent().empty());
  r.take(op::WriteOnly, 103, 4);
  CHECK(r.sent() == Lines{"ACK 103 00 2"});
  r.read(104, 0, 0, 0);
  CHECK(r.sent() == Lines{"READ_RESP_ONLY 104 1f 3 0"});
}

TEST_CASE("endpoint: more READs than resources, and a key that dies under a READ") {
  Rig r;
  for (uint32_t k = 0; k < 3; ++k) r.read(100 + k, 8);
  CHECK(r.sent() == Lines{"READ_RESP_ONLY 100 1f 1 8", "READ_RESP_ONLY 101 1f 2 8", "ACK 102 61 2"});
  Rig s;
  s.read(100, 1000);
  Bytes b;
  REQUIRE(s.e.transmit(0, b));
  MrConfig gone;
  gone.index = 2;
  gone.valid = false;
  s.e.setup_mr(gone);
  CHECK(s.sent() == Lines{"ACK 101 62 1"});
  CHECK(s.events() == Lines{"nak_access"});
  // Another request has killed the QP meanwhile: the NAK in place of the response is the last packet, there is no
  // second event.
  Rig t;
  t.read(100, 1000);
  REQUIRE(t.e.transmit(0, b));
  t.read(104, 8, kBase, kKey ^ 1);
  CHECK(t.events() == Lines{"nak_access"});
  t.e.setup_mr(gone);
  CHECK(t.sent() == Lines{"ACK 101 62 1"});
  CHECK(t.events().empty());
}

TEST_CASE("endpoint: atomics execute once and answer again") {
  Rig r;
  r.memory.write(kBase, Bytes{0xFF, 0, 0, 0, 0, 0, 0, 0});
  Frame f = r.frame(op::FetchAdd, 100);
  f.swap_add = 2;
  r.take(f);
  r.take(f);
  CHECK(r.sent() == Lines{"ATOMIC_ACK 100 1f 1", "ATOMIC_ACK 100 1f 1"});
  CHECK(r.last.original == 0xFF);
  CHECK(r.memory.read(kBase, 2) == Bytes{0x01, 0x01});
  f = r.frame(op::CmpSwap, 101);
  f.compare = 0x100;
  f.swap_add = 7;
  r.take(f);
  CHECK(r.sent() == Lines{"ATOMIC_ACK 101 1f 2"});
  CHECK(r.memory.read8(kBase) == 1);
  f.psn = 102;
  f.va = kBase + 4;
  r.take(f);
  CHECK(r.sent() == Lines{"ACK 102 61 2"});
}

TEST_CASE("endpoint: requester of READs, partial retry, implied NAK, depth, fence") {
  Rig r;
  r.post(kWrWrite, 8, 1);
  r.post(kWrRead, 600, 2);
  r.post(kWrRead, 8, 3);
  r.post(kWrFetchAdd, 8, 4);
  CHECK(r.sent() == Lines{"WRITE_ONLY 1000 8", "READ_REQUEST 1001 600", "READ_REQUEST 1004 8"});
  r.respond(op::ReadRespFirst, 1001, 256);
  CHECK(r.completions() == Lines{"1 success 8"});
  r.respond(op::ReadRespLast, 1003, 88);  // the middle is missing
  CHECK(r.sent() == Lines{"READ_REQUEST 1002 344", "READ_REQUEST 1004 8"});
  CHECK(r.last.psn == 1004);
  r.respond(op::ReadRespOnly, 1004, 8);
  CHECK(r.sent().empty());
  r.respond(op::ReadRespFirst, 1002, 256);
  r.respond(op::ReadRespLast, 1003, 88);
  CHECK(r.completions() == Lines{"2 success 600"});
  CHECK(r.memory.read8(kLocal + 600 - 1) == (1003 & 255));
  CHECK(r.sent() == Lines{"FETCH_ADD 1005"});
  r.post(kWrSend, 4, 5, kWqeSignaled | kWqeFence);
  r.answer(kSynAckNoLimit, 1005);  // beyond both: neither is done
  CHECK(r.completions().empty());
  CHECK(r.sent() == Lines{"READ_REQUEST 1004 8", "FETCH_ADD 1005"});
  r.respond(op::ReadRespOnly, 1004, 8);
  Frame f = r.frame(op::AtomicAck, 1005);
  f.syndrome = kSynAckNoLimit;
  f.original = 0x0102030405060708;
  r.take(f);
  CHECK(r.completions() == Lines{"3 success 8", "4 success 8"});
  CHECK(r.memory.read(kLocal, 8) == Bytes{8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(r.sent() == Lines{"SEND_ONLY 1006 4"});
}

TEST_CASE("endpoint: an impossible response, and a depth of none") {
  Rig r;
  r.post(kWrRead, 600, 1);
  r.post(kWrWrite, 1, 2);
  r.sent();
  r.respond(op::ReadRespOnly, 1000, 8);
  CHECK(r.completions() == Lines{"1 bad_resp_err", "2 flush_err"});
  CHECK(r.events() == Lines{"bad_response"});
  Rig s([](QpConfig& q) { q.max_rd = 0; });
  s.post(kWrCmpSwap, 8, 1);
  CHECK(s.completions() == Lines{"1 loc_qp_op_err"});
}

TEST_CASE("endpoint: RNR wait, its count, and that the ACK timer does not end it") {
  Rig r([](QpConfig& q) {
    q.rnr_retry = 1;
    q.timeout = 1;
  });
  r.post(kWrSendImm, 4, 1, kWqeSignaled | kWqeSolicited);
  r.post(kWrSend, 4, 2);
  CHECK(r.sent() == Lines{"SEND_ONLY_IMM 1000 4 S", "SEND_ONLY 1001 4"});
  r.answer(0x27, 1000);
  CHECK(r.e.next_timer() == rnr_delay(7));
  r.now = rnr_delay(7) - 1;
  r.e.tick(r.now);
  CHECK(r.sent().empty());
  r.now += 1;
  r.e.tick(r.now);
  CHECK(r.sent() == Lines{"SEND_ONLY_IMM 1000 4 S", "SEND_ONLY 1001 4"});
  r.answer(0x21, 1000);
  CHECK(r.completions() == Lines{"1 rnr_retry_exc_err", "2 flush_err"});
  CHECK(r.events() == Lines{"rnr_exc"});
}

TEST_CASE("endpoint: credits hold SENDs back, one may probe") {
  Rig r;
  r.post(kWrSend, 4, 1);
  CHECK(r.sent().size() == 1);
  r.answer(1, 1000, 1);  // MSN 1 and one more
  r.post(kWrSend, 4, 2);
  r.post(kWrSend, 4, 3);
  CHECK(r.sent() == Lines{"SEND_ONLY 1001 4"});
  r.answer(0, 1001, 2);
  CHECK(r.sent() == Lines{"SEND_ONLY 1002 4"});
  r.post(kWrWrite, 4, 4);
  r.post(kWrWriteImm, 4, 5);
  CHECK(r.sent().empty() == false);
  CHECK(r.e.has_frame() == false);
  r.answer(kSynAckNoLimit, 1003, 4);
  CHECK(r.sent() == Lines{"WRITE_ONLY_IMM 1004 4"});
}

TEST_CASE("endpoint: stale ACKs give no credits; syndromes that RC has not are ignored") {
  Rig r;
  r.post(kWrSend, 4, 1);
  CHECK(r.sent().size() == 1);
  r.answer(1, 1000, 1);
  for (uint64_t id = 2; id < 5; ++id) r.post(kWrSend, 4, id);
  CHECK(r.sent() == Lines{"SEND_ONLY 1001 4"});
  r.answer(8, 1000, 1);
  r.answer(kSynAckNoLimit, 999, 0);
  CHECK(r.sent().empty());
  for (const uint8_t s : Bytes{0x40, 0x5F, 0x64, 0x7F, 0x80, 0x9F, 0xA1, 0xE0, 0xE1, 0xFF}) r.answer(s, 1001, 2);
  CHECK(r.sent().empty());
  CHECK(r.completions() == Lines{"1 success 4"});
  CHECK(r.events().empty());
  r.answer(2, 1001, 2);
  CHECK(r.sent() == Lines{"SEND_ONLY 1002 4", "SEND_ONLY 1003 4"});
}

TEST_CASE("endpoint: FLUSH and ATOMIC WRITE are refused in their turn, and never carried out") {
  for (const uint8_t o : {op::Flush, op::AtomicWrite}) {
    Rig r;
    r.take(o, 101, 8);
    CHECK(r.sent() == Lines{"ACK 100 60 0"});
    r.take(op::WriteOnly, 100, 0);
    CHECK(r.sent() == Lines{"ACK 100 00 1"});
    r.take(o, 100, 8);
    CHECK(r.sent().empty());
    r.take(o, 101, 0);
    CHECK(r.sent() == Lines{"ACK 101 61 1"});
    CHECK(r.events() == Lines{"nak_inv_req"});
    CHECK(r.memory.read(kBase, 8) == Rig().memory.read(kBase, 8));
  }
}

TEST_CASE("endpoint: SQD finishes what was begun and tells once") {
  Rig r;
  r.post(kWrWrite, 600, 1);
  r.post(kWrWrite, 8, 2);
  Bytes b;
  REQUIRE(r.e.transmit(0, b));
  r.e.set_state(5, QpState::Sqd);
  CHECK(r.sent() == Lines{"WRITE_MIDDLE 1001 256", "WRITE_LAST 1002 88"});
  CHECK(r.events().empty());
  r.answer(kSynAckNoLimit, 1002);
  CHECK(r.events() == Lines{"sq_drained"});
  r.e.set_state(5, QpState::Rts);
  CHECK(r.sent() == Lines{"WRITE_ONLY 1003 8"});
}

TEST_CASE("endpoint: a shared ring outlives its QPs") {
  Rig r([](QpConfig& q) { q.srq = true; });
  r.e.setup_srq({0, 4});
  Rqe e;
  e.shared = true;
  e.addr = kLocal;
  e.length = 1024;
  for (uint64_t i = 1; i <= 3; ++i) {
    e.wr_id = i;
    r.e.post_recv(e);
  }
  r.take(op::SendFirst, 100, 256);
  CHECK(r.sent() == Lines{"ACK 100 1f 0"});
  r.e.set_state(5, QpState::Err);
  CHECK(r.completions() == Lines{"r1 flush_err"});
  r.e.setup_qp(r.qp);
  r.take(op::SendOnly, 100, 3);
  CHECK(r.completions() == Lines{"r2 success 3"});
  r.recv(9);  // it has no ring of its own
  CHECK(r.completions() == Lines{"r9 loc_qp_op_err"});
}
