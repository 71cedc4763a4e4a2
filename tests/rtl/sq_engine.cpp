// Bench of sq_engine against the host and peer of sq_model.h. Cases are named after the rows of cases.md.
#include "tests/rtl/sq_bench.h"

TEST_CASE("one message of each length around the MTU: L73 P41 L21 P38") {
  for (unsigned pmtu = 1; pmtu <= 5; ++pmtu) {
    Engine e(100 + pmtu);
    const auto q = any_qpn(e);
    e.setup(config(q, 0xFFFFFE, pmtu));
    const auto mtu = mtu_of(pmtu);
    std::uint64_t packets = 0;
    for (const std::uint32_t length : {0U, 1U, mtu - 1, mtu, mtu + 1, 2 * mtu, 2 * mtu + 1, 0U, 5 * mtu, 7 * mtu + 3}) {
      e.post(q, length);
      packets += std::max(1U, (length + mtu - 1) / mtu);
    }
    settle(e);
    CHECK(e.commands == packets);
    CHECK(e.life(q).nxt == psn_add(0xFFFFFE, static_cast<std::uint32_t>(packets)));
    CHECK(e.cqes == 10);
    CHECK(e.errors == 0);
    CHECK(e.count_resent == 0);
  }
}

TEST_CASE("window closes and opens across the PSN wrap: L1 P40") {
  for (const std::uint32_t start : {0xFFFFF0U, 0xFFFFFFU, 0U, 0x7FFFFAU, 0xFFFFFFU - P_WindowPkts + 1}) {
    Engine e(start);
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.setup(config(q, start & kPsnMask, 1));
    e.post(q, 256 * (3 * P_WindowPkts + 5));
    sent(e, q, P_WindowPkts);
    e.run(2000);
    CHECK(e.life(q).sent == P_WindowPkts);
    std::uint64_t total = P_WindowPkts;
    while (total < 3 * P_WindowPkts + 5) {
      const auto step = std::min<std::uint64_t>(1 + e.rng().below(P_WindowPkts), 3 * P_WindowPkts + 5 - total);
      e.send_ack(q, psn_add(e.life(q).una, static_cast<std::uint32_t>(step - 1)));
      total += step;
      sent(e, q, total);
      e.run(300);
      CHECK(e.life(q).sent == total);
    }
    e.send_ack(q, psn_add(e.life(q).nxt, kPsnMask));
    settle(e);
    CHECK(e.cqes == 1);
    CHECK(e.count_closed >= 3);
    CHECK(e.count_resent == 0);
  }
}

TEST_CASE("the packet that closes the window asks for an ACK: L18") {
  Engine e(18);
  const auto q = any_qpn(e);
  e.keep_log = true;
  e.link.answer = false;
  e.setup(config(q, 77, 1));
  e.post(q, 256 * 4 * P_WindowPkts);
  sent(e, q, P_WindowPkts);
  CHECK(e.log.back().ackreq);
  e.send_ack(q, e.log.back().psn);
  sent(e, q, 2 * P_WindowPkts);
  CHECK(e.log.back().ackreq);
  // A peer that answers nothing but AckReq keeps it going.
  e.link.answer = true;
  e.send_ack(q, e.log.back().psn);
  settle(e);
}

TEST_CASE("a run of NAKs starts one rewind, further ones only a timeout or progress: L6 L19") {
  if (P_WindowPkts < 8) return;
  Engine e(6);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 0xFFFFFC, 1, 6));
  e.post(q, 256 * 8);
  sent(e, q, 8);
  for (int i = 0; i < 7; ++i) e.send_ack(q, 0xFFFFFC, 0x60);
  sent(e, q, 16);
  e.run(100);
  CHECK(e.life(q).sent == 16);
  CHECK(e.count_rewinds == 1);
  CHECK(e.count_naks == 7);
  // Now the timeout: one more, and after it a NAK counts again, once.
  sent(e, q, 24, 64 * P_TickCycles + 4 * kWalk + 1000);
  CHECK(e.count_timeouts == 1);
  CHECK(e.count_rewinds == 2);
  e.send_ack(q, 0xFFFFFC, 0x60);
  e.send_ack(q, 0xFFFFFC, 0x60);
  sent(e, q, 32);
  e.run(100);
  CHECK(e.life(q).sent == 32);
  CHECK(e.count_rewinds == 3);
  // A NAK further on is progress: it acknowledges what is before it.
  e.send_ack(q, 0xFFFFFF, 0x60);
  sent(e, q, 32 + 5);
  e.run(100);
  CHECK(e.life(q).sent == 32 + 5);
  CHECK(e.count_rewinds == 4);
  e.send_ack(q, 3);
  settle(e);
  CHECK(e.life(q).jumps_back == 4);
}

TEST_CASE("no retransmission without a cause: L7") {
  Engine e(7);
  const unsigned code = code_for(1000);  // far above the round trip
  const unsigned busy = std::min<unsigned>(P_QpCount, 8);
  for (std::uint32_t q = 0; q < busy; ++q) e.setup(config(q, 0xFFFF00 + q, 1 + q % 5, code));
  const std::uint64_t end = e.now() + 12 * (std::uint64_t{P_TickCycles} << code) + 8 * kWalk;
  e.link.delay_min = 10;
  e.link.delay_max = 60;
  while (e.now() < end) {
    for (std::uint32_t q = 0; q < busy; ++q)
      if (e.wqe_order.size() < 4)
        e.post(q, static_cast<std::uint32_t>(e.rng().below(3000)), e.rng().percent(50) ? 1 : 0);
    e.step();
  }
  for (std::uint32_t q = 0; q < busy; ++q) e.post(q, 1);
  settle(e);
  CHECK(e.commands > 40);
  CHECK(e.count_timeouts == 0);
  CHECK(e.count_resent == 0);
}

TEST_CASE("a middle packet is lost: resent from there, byte-exact: L22 P22") {
  if (P_WindowPkts < 4) return;
  for (std::uint32_t packets = 2; packets <= 16; ++packets) {
    Engine e(2200 + packets);
    const auto q = any_qpn(e);
    e.setup(config(q, 0xFFFFF8, 1 + packets % 5, 12));
    e.keep_log = true;
    const auto mtu = mtu_of(1 + packets % 5);
    e.post(q, packets * mtu - 7);
    const auto lost = 1 + e.rng().below(packets - 1);
    sent(e, q, lost < P_WindowPkts ? lost : 1);
    e.link.drop = 100;
    sent(e, q, e.life(q).sent + 1);
    e.link.drop = 0;
    settle(e, 50 * P_TickCycles * 4096);
    CHECK(e.cqes == 1);
    CHECK(e.errors == 0);
    CHECK(e.life(q).jumps_back >= 1);
    CHECK(e.life(q).jumps_back <= e.count_rewinds);
  }
}

TEST_CASE("NAK for what is acknowledged already, double and stale ACKs, ghosts: L27") {
  if (P_WindowPkts < 6) return;
  Engine e(27);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 0xFFFFFD, 1, 8));
  e.post(q, 256 * 6);
  sent(e, q, 6);
  e.send_ack(q, 0xFFFFFF);
  e.run(20);
  e.send_ack(q, 0xFFFFFD, 0x60);
  e.send_ack(q, 0xFFFFFF, 0x60);
  e.send_ack(q, 0xFFFFFF, 0x62);
  e.send_ack(q, 0xFFFFFF);
  e.send_ack(q, 0xFFFFFE);
  e.send_ack(q, 0x7FFFFF);
  e.send_ack(q, 0x800000);
  e.send_ack(q, 3);  // not sent yet
  e.send_ack(q, 3, 0x61);
  e.send_ack(q, 0x400000);
  e.run(300);
  CHECK(e.count_stale == 10);
  CHECK(e.life(q).sent == 6);
  CHECK(e.count_errors == 0);
  CHECK(e.cqes == 0);
  // Reserved syndromes change nothing.
  for (const unsigned s : {0x40U, 0x5FU, 0x64U, 0x7FU, 0x80U, 0x9FU, 0xE0U, 0xFFU}) e.send_ack(q, 2, s);
  // Neither do headers of others.
  Ack a;
  a.qpn = q;
  a.psn = 2;
  a.src_ip = e.life(q).cfg.dip + 1;
  e.send_ack(a);
  a.src_ip = e.life(q).cfg.dip;
  a.pkey = 0x8001;
  e.send_ack(a);
  a.pkey = 0xFFFF;
  a.opcode = 0x13;
  e.send_ack(a);
  a.opcode = 0x11;
  a.qpn = P_QpCount;
  e.send_ack(a);
  a.qpn = q + (1U << 20);
  e.send_ack(a);
  a.qpn = q;
  if (P_Services != 0) {
    a.life = e.present_life(q) ^ 1U;  // judged by the services of another life
    e.send_ack(a);
    a.life.reset();
  }
  e.run(300);
  CHECK(e.count_reserved == 8);
  CHECK(e.count_dropped == (P_Services != 0 ? 6 : 5));
  CHECK(e.cqes == 0);
  a.qpn = q;
  a.pkey = 0x7FFF;  // limited member: fits
  e.send_ack(a);
  settle(e);
  CHECK(e.cqes == 1);
}

TEST_CASE("limited members on both sides do not match, credits of an ACK do not matter") {
  Engine e(28);
  const auto q = any_qpn(e);
  e.link.answer = false;
  Config c = config(q, 5, 1);
  c.pkey = 0x1234;
  e.setup(c);
  e.post(q, 10);
  sent(e, q, 1);
  Ack a;
  a.qpn = q;
  a.psn = 5;
  a.src_ip = c.dip;
  a.pkey = 0x1234;
  e.send_ack(a);
  e.run(100);
  CHECK(e.cqes == 0);
  CHECK(e.count_dropped == 1);
  a.pkey = 0x9234;
  a.syndrome = 0x00;
  e.send_ack(a);
  settle(e);
  CHECK(e.cqes == 1);
}

TEST_CASE("no answer at all: exactly retry_cnt retries, then retry exceeded and flush: L79") {
  for (unsigned retries = 0; retries <= 7; ++retries) {
    Engine e(79 + retries);
    const auto q = any_qpn(e);
    e.link.answer = false;
    Config c = config(q, 0xFFFFFF, 1, 1);
    c.retry_cnt = retries;
    e.setup(c);
    const auto posts = std::min<std::uint64_t>(3, ring());
    for (std::uint64_t i = 0; i < posts; ++i) e.post(q, 10 + static_cast<std::uint32_t>(i), 0);
    const auto in_window = std::min<std::uint64_t>(posts, P_WindowPkts);
    e.until([&] { return e.errors == posts; }, 40 * (8 * P_TickCycles + 4 * kWalk), "flushed");
    e.run(200);
    CHECK(e.life(q).sent == in_window * (1 + retries));
    CHECK(e.count_timeouts == retries + 1);
    CHECK(e.count_rewinds == retries);
    REQUIRE(e.cqe_log.size() == posts);
    CHECK(e.cqe_log[0].status == kRetryExc);
    for (std::uint64_t i = 1; i < posts; ++i) CHECK(e.cqe_log[i].status == kFlush);
    REQUIRE(e.event_log.size() == 1);
    CHECK(e.event_log[0] == std::pair<std::uint32_t, unsigned>{q, kEvtRetryExc});
    CHECK(e.life(q).errs == 1);
    // What comes later is flushed too, in order.
    e.post(q, 1, 0);
    e.post(q, 1, 1);
    e.until([&] { return e.errors == posts + 2; }, 1000, "flushed");
  }
}

TEST_CASE("errors of a former life change nothing: P17") {
  Engine e(81);
  const auto q = any_qpn(e);
  e.setup(config(q, 100, 1));
  e.set_state(q, kErr);
  for (unsigned i = 0; i < 70; ++i) {  // once round the numbers
    e.setup(config(q, 100, 1));
    e.post(q, 300);
    for (const unsigned cause : {kEvtReadErr, kEvtWriteErr}) e.send_former_event(q, cause, 100, cause == kEvtReadErr);
    e.send_former_event(q, kEvtReadErr, 100);
    e.until([&] { return e.cqes == i + 1 && e.evt_order.empty(); }, 5000, "completion");
    CHECK(e.event_log.empty());
    CHECK(e.life(q).errs == 0);
    e.set_state(q, i % 2 == 0 ? kErr : kReset);
  }
}

TEST_CASE("sequence NAKs use up retries as timeouts do, progress gives them back") {
  if (P_WindowPkts < 4) return;
  Engine e(80);
  const auto q = any_qpn(e);
  e.link.answer = false;
  Config c = config(q, 100, 1, 0);
  c.retry_cnt = 1;
  e.setup(c);
  e.post(q, 256 * 40);
  std::uint32_t una = 100;
  std::uint64_t seen = 0;
  for (int i = 0; i < 6; ++i) {  // each NAK is one packet further on
    e.until([&] { return psn_diff(e.life(q).nxt, una) >= 3 && e.life(q).sent >= seen + 3; }, 3000, "packets");
    seen = e.life(q).sent;
    e.send_ack(q, ++una, 0x60);
    e.run(60);
  }
  CHECK(e.count_rewinds == 6);
  CHECK(e.count_errors == 0);
  // A second one without progress is ignored, it cannot exhaust anything.
  e.send_ack(q, una, 0x60);
  e.run(60);
  CHECK(e.count_rewinds == 6);
  CHECK(e.count_errors == 0);
}

TEST_CASE("progress by an ACK gives timeouts their retries back") {
  if (P_WindowPkts < 5) return;
  Engine e(82);
  const auto q = any_qpn(e);
  e.link.answer = false;
  Config c = config(q, 0xFFFFFE, 1, 1);
  c.retry_cnt = 2;
  e.setup(c);
  e.post(q, 256 * 5);
  std::uint64_t timeouts = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    timeouts += 2;
    e.until([&] { return e.count_timeouts == timeouts; }, 20 * (2 * P_TickCycles + 2 * kWalk), "two timeouts");
    e.send_ack(q, psn_add(0xFFFFFE, i));
    e.until([&] { return e.ack_order.empty(); }, 100, "the ACK");
  }
  CHECK(e.count_errors == 0);
  e.until([&] { return e.cqes == 1; }, 40 * (2 * P_TickCycles + 2 * kWalk), "retries used up");
  CHECK(e.count_timeouts == timeouts + 3);
  CHECK(e.cqe_log[0].status == kRetryExc);
}

TEST_CASE("requests 2^23 PSNs and more behind the one that failed are flushed, not completed") {
  if (ring() < 4) return;
  Engine e(83);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 5, 1));
  for (int i = 0; i < 4; ++i) e.post(q, 0x80000000U - 256U * static_cast<unsigned>(i), 1);
  sent(e, q, 1);
  e.until([&] { return e.posted_all(); }, 1000, "posted");
  e.send_event(q, 4);
  e.until([&] { return e.cqes == 4; }, 1000, "flush");
  for (const auto& c : e.cqe_log) CHECK(c.status == kFlush);
}

TEST_CASE("a rewind that waits for dma_read uses up no retries") {
  if (P_QpCount < 2 || P_WindowPkts < 12) return;
  Engine e(84);
  for (std::uint32_t q = 0; q < 2; ++q) {
    Config c = config(q, 7, 1, code_for(300));
    c.retry_cnt = 2;
    e.setup(c);
  }
  e.cmd.stall_percent = 100;
  for (std::uint32_t q = 0; q < 2; ++q) e.post(q, 256 * 12);  // more than the command queue holds
  e.run(30 * (std::uint64_t{P_TickCycles} << code_for(300)) + 10 * kWalk);
  CHECK(e.count_timeouts >= 1);
  CHECK(e.count_timeouts <= 2);
  CHECK(e.count_errors == 0);
  e.cmd.stall_percent = 0;
  settle(e);
  CHECK(e.errors == 0);
}

TEST_CASE("completions lag far behind acknowledgements when a rewind comes, and catch up while it passes over them") {
  unsigned log2 = 1;
  while ((2U << log2) <= P_WqeSlots && log2 < 8) ++log2;
  const std::uint64_t slots = 1ULL << log2;
  if (slots < 20 + 3 * P_Quantum || P_WindowPkts < 4) return;
  Engine e(85);
  const auto q = any_qpn(e);
  for (int round = 0; round < 6; ++round) {
    Config c = config(q, 0xFFFFF0, 1);
    c.sq_log2 = log2;
    c.sq_base = 0;
    e.setup(c);
    e.link.answer = false;
    e.cqe.stall_percent = 100;
    const auto base = e.cqes;
    for (std::uint64_t i = 0; i < 3 * slots; ++i) e.post(q, 1 + static_cast<std::uint32_t>(i % 200), 1);
    // Acknowledge everything but the last three that the ring holds. 18 completions fit into the queues.
    const auto sendable = slots + 14;
    while (e.life(q).sent < sendable) {
      const int open = psn_diff(e.life(q).nxt, e.life(q).una);
      if (open > 3) e.send_ack(q, psn_add(e.life(q).nxt, kPsnMask - 3));
      e.run(40);
      REQUIRE(e.now() < 1'000'000);
    }
    e.send_ack(q, e.life(q).una, 0x60);
    if (round % 2 == 1) e.run(20 + e.rng().below(60));
    e.cqe.stall_percent = round < 4 ? 0 : 40;
    e.run(400);
    e.link.answer = true;
    while (!e.quiet()) {
      if (e.life(q).nxt != e.life(q).una) e.send_ack(q, psn_add(e.life(q).nxt, kPsnMask));
      e.run(100);
      REQUIRE(e.now() < 3'000'000);
    }
    CHECK(e.cqes - base == 3 * slots);
  }
  CHECK(e.errors == 0);
}

TEST_CASE("retry_cnt 0: the first NAK ends the QP, what is before it succeeds") {
  if (P_WindowPkts < 3 || ring() < 3) return;
  Engine e(81);
  const auto q = any_qpn(e);
  e.link.answer = false;
  Config c = config(q, 100, 1, 0);
  c.retry_cnt = 0;
  e.setup(c);
  for (int i = 0; i < 3; ++i) e.post(q, 5);
  sent(e, q, 3);
  e.send_ack(q, 101, 0x60);
  e.until([&] { return e.cqes == 3; }, 1000, "completions");
  CHECK(e.cqe_log[0].status == kOk);
  CHECK(e.cqe_log[1].status == kRetryExc);
  CHECK(e.cqe_log[2].status == kFlush);
}

TEST_CASE("fatal NAKs: status, syndrome, event, flush: P53") {
  for (unsigned kind = 1; kind <= 3; ++kind) {
    Engine e(530 + kind);
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.setup(config(q, 0xFFFFFF, 1));
    const auto posts = std::min<std::uint64_t>({4, ring(), P_WindowPkts});
    for (std::uint64_t i = 0; i < posts; ++i) e.post(q, 100, i == 0 ? 1 : 0);
    sent(e, q, posts);
    const std::uint32_t bad = posts > 1 ? 1 : 0;  // the request that is refused
    e.send_ack(q, psn_add(0xFFFFFF, bad), 0x60 + kind);
    e.until([&] { return e.cqes == posts; }, 1000, "completions");
    e.run(100);
    const unsigned status = kind == 1 ? kInvReq : kind == 2 ? kAccess : kRemOp;
    for (std::uint32_t i = 0; i < posts; ++i) {
      CHECK(e.cqe_log[i].status == (i < bad ? kOk : i == bad ? status : kFlush));
      CHECK(e.cqe_log[i].syndrome == (i == bad ? 0x60 + kind : 0));
    }
    REQUIRE(e.event_log.size() == 1);
    CHECK(e.event_log[0] == std::pair<std::uint32_t, unsigned>{q, kEvtPeerNak});
    CHECK(e.life(q).errs == 1);
    CHECK(e.count_fatal == 1);
    const auto before = e.commands;
    for (int i = 0; i < 5; ++i) e.post(q, 10, static_cast<unsigned>(i & 1));
    e.until([&] { return e.cqes == posts + 5; }, 1000, "flushed");
    CHECK(e.commands == before);
    CHECK(e.cqe_log.back().status == kFlush);
    // Revived by a set-up.
    e.link.answer = true;
    e.setup(config(q, 9, 2));
    e.post(q, 1000);
    settle(e);
    CHECK(e.cqe_log.back().status == kOk);
  }
}

TEST_CASE("a NAK inside a message of many packets fails that message") {
  if (P_WindowPkts < 6) return;
  Engine e(54);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 0xFFFFFE, 1));
  e.post(q, 256);
  e.post(q, 256 * 4);
  e.until([&] { return e.life(q).sent >= 4; }, 1000, "packets");
  e.send_ack(q, 1, 0x62);
  e.until([&] { return e.cqes == 2; }, 1000, "completions");
  CHECK(e.cqe_log[0].status == kOk);
  CHECK(e.cqe_log[1].status == kAccess);
}

TEST_CASE("the ACK timer keeps T, not much longer: L78 P44 B06") {
  const unsigned most = P_TickCycles <= 16 ? 9 : 6;
  for (unsigned code = 1; code <= most; ++code) {
    Engine e(780 + code);
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.run(e.rng().below(500));
    e.setup(config(q, 7, 1, code));
    e.post(q, 1);
    sent(e, q, 1);
    const std::uint64_t t = std::uint64_t{P_TickCycles} << code;
    for (int i = 0; i < 3; ++i) {
      const auto start = e.command_times.back();
      sent(e, q, static_cast<std::uint64_t>(i) + 2, 2 * t + 4 * kWalk + 500);
      const auto took = e.command_times.back() - start;
      CHECK(took >= t);
      CHECK(took <= t + 2 * kQuarter + 2 * kWalk + 40);
    }
  }
}

TEST_CASE("timeout code 31 does not overflow, code 0 never ends: L78") {
  for (const unsigned code : {0U, 31U, 30U, 20U}) {
    Engine e(31);
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.setup(config(q, 7, 1, code));
    e.post(q, 1);
    sent(e, q, 1);
    e.run(20'000 + 40 * P_TickCycles);
    CHECK(e.count_timeouts == 0);
    CHECK(e.life(q).sent == 1);
    e.send_ack(q, 7);
    settle(e);
  }
}

TEST_CASE("a paused link stops the timers: P34") {
  Engine e(34);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 7, 1, 2));
  e.post(q, 1);
  sent(e, q, 1);
  e.sim.dut.tx_stalled_i = 1;
  e.run(20 * 4 * P_TickCycles + 10 * kWalk);
  CHECK(e.count_timeouts == 0);
  e.sim.dut.tx_stalled_i = 0;
  sent(e, q, 2, 4 * P_TickCycles + 4 * kQuarter + 4 * kWalk + 100);
}

TEST_CASE("progress starts the timer anew, stale ACKs do not") {
  if (P_WindowPkts < 8) return;
  Engine e(35);
  const auto q = any_qpn(e);
  e.link.answer = false;
  const unsigned code = P_QpCount > 64 ? 5 : 3;
  const std::uint64_t t = std::uint64_t{P_TickCycles} << code;
  e.setup(config(q, 0, 1, code));
  e.post(q, 256 * 8);
  sent(e, q, 8);
  for (std::uint32_t p = 0; p < 7; ++p) {
    e.run(t - 2 * kWalk - 60 > t ? t / 2 : t - 2 * kWalk - 60);
    e.send_ack(q, p);
  }
  CHECK(e.count_timeouts == 0);
  const auto start = e.now();
  while (e.count_timeouts == 0 && e.now() < start + 4 * t) {
    e.send_ack(q, 3);
    e.run(20);
  }
  CHECK(e.count_timeouts == 1);
  CHECK(e.now() - start >= t - 60);
  CHECK(e.now() - start <= t + 2 * kQuarter + 2 * kWalk + 100);
}

TEST_CASE("requests that cannot be executed complete in order and end the QP") {
  for (int kind = 0; kind < 4; ++kind) {
    Engine e(900 + static_cast<std::uint64_t>(kind));
    const auto q = any_qpn(e);
    e.setup(config(q, 0xFFFFFE, 2));
    const bool before = ring() > 2;
    if (before) {
      e.post(q, 3000, 1);
      e.post(q, 100, 0);
    }
    Wqe w;
    w.qpn = q;
    w.length = 64;
    w.flags = 0;
    if (kind == 0) w.opcode = 7;
    if (kind == 1) w.flags = 0x80;
    if (kind == 2) w.length = 0x80000001;
    if (kind == 3) {
      w.length = 0xFFFFFFFF;
      w.opcode = 255;
    }
    e.post(w);
    e.post(q, 5, 0);
    e.post(q, 6, 1);
    const std::uint64_t expected = before ? 4 : 3;
    e.until([&] { return e.cqes == expected; }, 5000, "completions");
    e.run(200);
    CHECK(e.cqes == expected);
    CHECK(e.count_bad == 1);
    REQUIRE(e.event_log.size() == 1);
    CHECK(e.event_log[0] == std::pair<std::uint32_t, unsigned>{q, kEvtBadWqe});
  }
}

TEST_CASE("the longest message has 2^31 bytes") {
  Engine e(231);
  const auto q = any_qpn(e);
  e.keep_log = true;
  e.setup(config(q, 0xFFFFF0, 1));
  e.post(q, 0x80000000U);
  e.post(q, 7);
  sent(e, q, 200);
  CHECK(e.log[0].dma_len == 0x80000000U);
  CHECK(e.errors == 0);
  e.set_state(q, kReset);
}

TEST_CASE("addresses run over 2^32") {
  Engine e(64);
  const auto q = any_qpn(e);
  e.setup(config(q, 1, 1));
  for (const std::uint64_t low : {0xFFFFFF00ULL, 0xFFFFFFFFULL, 0x1FFFFF000ULL}) {
    Wqe w;
    w.qpn = q;
    w.length = 2000;
    w.laddr = low;
    e.post(w);
  }
  settle(e);
  CHECK(e.cqes == 3);
}

TEST_CASE("requests for QPs that cannot take them are answered at once") {
  Engine e(77);
  for (const std::uint32_t qpn : {0U, 0U, static_cast<unsigned>(P_QpCount), 0xFFFFFFU, 0x800000U}) {
    Wqe w;
    w.qpn = qpn;
    w.flags = 0;
    e.cqe.stall_percent = 50;
    e.post(w);
  }
  e.until([&] { return e.cqes == 5; }, 1000, "rejects");
  CHECK(e.count_rejected == 5);
  const auto q = any_qpn(e);
  for (const unsigned state : {kReset, kInit, kRtr}) {
    Config c = config(q, 0);
    c.state = state;
    e.setup(c);
    e.post(q, 1, 0);
    e.until([&] { return e.posted_all(); }, 1000, "reject");
  }
  e.set_state(q, kRts);
  e.post(q, 1, 1);
  settle(e);
  CHECK(e.cqe_log.back().status == kOk);
  // A ring that does not fit leaves the QP in RESET, whatever came before.
  for (const unsigned log2 : {5U, 20U, 21U, 31U}) {
    Config c = config(q, 0);
    c.sq_base = P_WqeSlots - 1;
    c.sq_log2 = log2;
    e.setup(c);
    e.set_state(q, kRts);
    e.post(q, 1, 1);
    e.until([&] { return e.posted_all(); }, 1000, "reject");
    CHECK(e.cqe_log.back().status == kQpOpErr);
  }
  CHECK(e.commands == 1);
}

TEST_CASE("a full ring holds the poster back, nothing is lost: L60") {
  Engine e(60);
  const auto q = any_qpn(e);
  e.link.answer = false;
  Config c = config(q, 0xFFFFFC, 1);
  c.sq_log2 = slots_log2() < 2 ? slots_log2() : 2;
  e.setup(c);
  const std::uint64_t slots = 1ULL << c.sq_log2;
  for (std::uint64_t i = 0; i < 5 * slots; ++i) e.post(q, static_cast<std::uint32_t>(i * 31), 1);
  e.run(500);
  CHECK(e.count_wqes == slots);
  CHECK(e.count_full == 1);
  e.link.answer = true;
  // Packets of before got no answer: acknowledge them by hand.
  while (!e.quiet()) {
    if (e.life(q).nxt != e.life(q).una) e.send_ack(q, psn_add(e.life(q).nxt, kPsnMask));
    e.run(100);
    REQUIRE(e.now() < 200'000);
  }
  CHECK(e.cqes == 5 * slots);
  CHECK(e.count_full >= 2);
}

TEST_CASE("a stalled completion queue loses nothing and holds up no set-up, error or event") {
  Engine e(40);
  const std::uint32_t busy = std::min<unsigned>(P_QpCount, 4);
  for (std::uint32_t q = 0; q < busy; ++q) e.setup(config(q, q, 1));
  e.cqe.stall_percent = 100;
  e.err.stall_percent = 100;
  e.event.stall_percent = 100;
  for (int i = 0; i < 60; ++i) e.post(static_cast<std::uint32_t>(e.rng().below(busy)), 50, 1);
  e.run(2000);
  CHECK(e.cqes == 0);
  for (std::uint32_t q = 0; q < busy; ++q) e.send_event(q, 1 + q % 2);
  e.until([&] { return e.evt_order.empty(); }, 200, "errors taken");
  e.set_state(0, kErr);  // taken although m_err stalls
  e.run(500);
  e.err.stall_percent = 0;
  e.event.stall_percent = 0;
  e.run(200);
  CHECK(e.event_log.size() == busy);
  Config c = config(0, 1234, 2);
  e.setup(c);  // with the completion queue full of the old life
  e.cqe.stall_percent = 30;
  e.run(1000);
  e.post(0, 3000, 1);
  settle(e);
  for (std::uint32_t q = 1; q < busy; ++q) CHECK(e.life(q).errs == 1);
}

TEST_CASE("foreign errors: one event each, told to the responder, ignored when dead or never set up") {
  Engine e(41);
  const auto q = any_qpn(e);
  e.send_event(q, 1);
  e.send_event(P_QpCount, 2);
  e.run(100);
  CHECK(e.event_log.empty());
  Config c = config(q, 0);
  c.state = kRtr;
  e.setup(c);
  e.send_event(q, 2);
  e.send_event(q, 1);
  e.run(100);
  REQUIRE(e.event_log.size() == 1);
  CHECK(e.event_log[0] == std::pair<std::uint32_t, unsigned>{q, 2});
  CHECK(e.life(q).errs == 1);
  e.post(q, 1, 0);
  e.until([&] { return e.cqes == 1; }, 200, "flush");
  CHECK(e.cqe_log[0].status == kFlush);
  e.setup(config(q, 0));
  e.link.answer = false;
  e.post(q, 1, 0);
  sent(e, q, 1);
  e.send_event(q, kEvtReadErr, e.life(q).una);
  e.until([&] { return e.cqes == 2; }, 200, "error");
  CHECK(e.cqe_log[1].status == kProtErr);
}

TEST_CASE("state changes: ERR flushes, RESET discards, SQD finishes the message") {
  Engine e(42);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 50, 1));
  e.post(q, 10, 0);
  if (ring() > 1) e.post(q, 10, 1);
  sent(e, q, 1);
  e.run(100);
  e.set_state(q, kErr);
  e.until([&] { return e.cqes == std::min<std::uint64_t>(2, ring()); }, 500, "flush");
  CHECK(e.cqe_log[0].status == kFlush);
  CHECK(e.event_log.empty());
  e.set_state(q, kRts);  // only a set-up revives
  e.post(q, 10, 0);
  e.run(200);
  CHECK(e.cqe_log.back().status == kFlush);
  CHECK(e.cqes == std::min<std::uint64_t>(2, ring()) + 1);
  e.setup(config(q, 60, 1));
  e.post(q, 10, 1);
  sent(e, q, 1);
  const auto cqes = e.cqes;
  e.set_state(q, kReset);
  e.send_ack(q, 60);
  e.run(300);
  CHECK(e.cqes == cqes);
  e.set_state(q, kRts);  // RESET is left by a set-up only
  e.run(300);
  CHECK(e.commands == e.lives[q][1].sent + e.lives[q][2].sent);
  CHECK(e.cqes == cqes);
  // SQD
  e.setup(config(q, 70, 1));
  e.post(q, 256 * 30, 1);
  sent(e, q, 1);
  e.set_state(q, kSqd);
  e.post(q, 256 * 2, 1);
  e.link.answer = true;
  while (!e.life(q).una || psn_diff(e.life(q).una, 100) < 0) {
    if (e.life(q).nxt != e.life(q).una) e.send_ack(q, psn_add(e.life(q).nxt, kPsnMask));
    e.run(50);
    REQUIRE(e.now() < 100'000);
  }
  if (ring() > 1) {
    e.run(500);
    CHECK(e.life(q).sent == 30);
  }
  e.set_state(q, kRts);
  settle(e);
  CHECK(e.life(q).sent == 32);
}

TEST_CASE("a QP that goes to ERR before its EvtSqDrained was told gives only the error's event, by command none") {
  for (const bool command : {false, true}) {
    Engine e(44);
    const auto q = any_qpn(e);
    e.setup(config(q, 0));
    e.event.stall_percent = 100;
    // The first waits in front of the host, so the second waits in the list.
    for (const unsigned state : {kSqd, kRts, kSqd}) {
      e.set_state(q, state);
      e.run(3000);
    }
    if (command)
      e.set_state(q, kErr);
    else
      e.send_event(q, 2);
    e.run(200);
    e.event.stall_percent = 0;
    e.run(3000);
    std::vector<std::pair<std::uint32_t, unsigned>> told{{q, kEvtSqDrained}};
    if (!command) told.emplace_back(q, 2);
    CHECK(e.event_log == told);
    if (!command) CHECK(e.life(q).errs == 1);
  }
}

TEST_CASE("2000 set-ups with traffic: nothing leaks from one life into the next: P17 P16") {
  Engine e(17);
  const std::uint32_t busy = std::min<unsigned>(P_QpCount, 4);
  e.link.delay_min = 5;
  e.link.delay_max = 60;
  e.link.drop = 3;
  for (int i = 0; i < 2000; ++i) {
    const auto q = static_cast<std::uint32_t>(e.rng().below(busy));
    Config c = config(q, static_cast<std::uint32_t>(e.rng().next() & kPsnMask),
                      1 + static_cast<unsigned>(e.rng().below(5)), 4);
    c.sq_log2 = static_cast<unsigned>(e.rng().below(slots_log2() + 1));
    if (e.rng().percent(30)) e.set_state(q, kReset);
    e.setup(c);
    const auto posts = e.rng().below(4);
    for (std::uint64_t k = 0; k < posts; ++k)
      e.post(q, static_cast<std::uint32_t>(e.rng().below(6000)), e.rng().percent(70) ? 1 : 0);
    e.cmd.stall_percent = e.rng().percent(20) ? 100 : 10;
    e.cqe.stall_percent = e.rng().percent(20) ? 100 : 10;
    // The poster must not hang at a QP that is set up anew.
    e.run(e.rng().below(120));
    if (!e.wqe_order.empty()) {
      e.cmd.stall_percent = e.cqe.stall_percent = 0;
      e.until([&] { return e.wqe_order.empty(); }, 100'000, "posted");
    }
  }
  e.cmd.stall_percent = e.cqe.stall_percent = 0;
  e.link.drop = 0;
  for (std::uint32_t q = 0; q < busy; ++q) {
    e.setup(config(q, 3));
    for (int k = 0; k < 10; ++k) e.post(q, 2000, 1);
  }
  settle(e);
}

TEST_CASE("no QP waits for another: a long message, a closed window and a dead peer hold up nobody: rule 5") {
  if (P_QpCount < 5) return;
  Engine e(55);
  for (std::uint32_t q = 0; q < 5; ++q) e.setup(config(q, 1000 * q, q == 0 ? 5 : 1, q == 4 ? 2 : 0));
  e.link.delay_min = e.link.delay_max = 30;
  e.cmd.stall_percent = 60;
  e.post(0, 4096 * 4000);  // long
  // QP 4's peer never answers: its packets are taken for lost.
  for (int round = 0; round < 30; ++round) {
    for (std::uint32_t q = 1; q <= 3; ++q) {
      const auto before = e.cqes;
      const auto start = e.now();
      e.post(q, 64, 1);
      e.until([&] { return e.cqes > before; }, 2000, "a short message");
      CHECK(e.now() - start < 500);
    }
  }
  e.set_state(0, kReset);
}

TEST_CASE("turns are fair: nobody sends more than a quantum while others wait") {
  if (P_QpCount < 5 || ring() < 4) return;
  Engine e(56);
  e.keep_log = true;
  for (std::uint32_t q = 0; q < 4; ++q) e.setup(config(q, 0, 1 + q));
  e.link.delay_min = e.link.delay_max = 20;
  e.cmd.stall_percent = 100;
  for (int i = 0; i < 4; ++i)
    for (std::uint32_t q = 0; q < 4; ++q) e.post(q, mtu_of(1 + q) * 3, 1);
  e.run(500);
  e.cmd.stall_percent = 50;
  settle(e);
  // A turn costs no more than the quantum and what its last packet is over. Later windows are closed.
  std::uint64_t cost = 0;
  std::uint32_t owner = 99;
  for (std::size_t i = 0; i < 24; ++i) {
    if (e.log[i].qpn != owner) cost = 0;
    owner = e.log[i].qpn;
    CHECK(cost < P_Quantum);
    cost += 1 + mtu_of(1 + owner) / 256;
  }
}

TEST_CASE("random traffic over a lossy link: everything at once: P23") {
  for (std::uint64_t round = 0; round < 3; ++round) {
    Engine e(2300 + round);
    e.link.drop = round == 0 ? 0 : 2 + 3 * static_cast<unsigned>(round);
    e.link.ack_drop = round == 0 ? 0 : 10;
    e.link.ack_double = 10;
    e.link.delay_min = 5;
    e.link.delay_max = round == 0 ? 60 : 80;
    e.link.reorder = round != 0;
    e.link.fatal_per_10000 = round == 2 ? 10 : 0;
    const std::uint32_t busy = std::min<unsigned>(P_QpCount, 24);
    const auto spread = P_QpCount / busy;
    std::vector<std::uint32_t> qps;
    for (std::uint32_t i = 0; i < busy; ++i) qps.push_back(i * spread);
    const auto fresh = [&](std::uint32_t q) {
      Config c = config(q, psn_add(0xFFFFFF, static_cast<std::uint32_t>(kPsnMask + 1 - e.rng().below(60))),
                        1 + static_cast<unsigned>(e.rng().below(5)), 4 + static_cast<unsigned>(e.rng().below(2)));
      if (P_QpCount > 64) c.timeout = 5;
      if (round == 0) c.timeout = 9;  // a stalled dma_read must not look like loss
      if (e.rng().percent(20)) c.sq_psn = static_cast<std::uint32_t>(e.rng().next() & kPsnMask);
      e.setup(c, 20'000);
    };
    for (const auto q : qps) fresh(q);
    const std::uint64_t end = e.now() + (P_QpCount > 64 ? 15'000 : 25'000);
    std::uint64_t mood = 0;
    while (e.now() < end) {
      if (e.now() >= mood) {
        mood = e.now() + 200 + e.rng().below(500);
        const auto stall = [&] {
          return e.rng().percent(30) ? 0U : e.rng().percent(20) ? 95U : static_cast<unsigned>(e.rng().below(70));
        };
        e.cmd.stall_percent = stall();
        e.cqe.stall_percent = stall();
        e.err.stall_percent = stall();
        e.event.stall_percent = stall();
        e.wqe.stall_percent = stall() / 2;
        e.ack.stall_percent = stall() / 2;
      }
      const auto q = qps[e.rng().below(qps.size())];
      if (e.wqe_order.size() < 6 && e.rng().percent(20)) {
        Wqe w;
        w.qpn = q;
        const auto mtu = mtu_of(e.life(q).cfg.pmtu);
        w.length = static_cast<std::uint32_t>(e.rng().percent(60)   ? e.rng().below(200)
                                              : e.rng().percent(80) ? e.rng().below(4 * mtu)
                                                                    : mtu * (1 + e.rng().below(12)));
        w.flags = e.rng().percent(60) ? 1 : 0;
        if (e.rng().percent(20)) w.flags |= 2;
        w.laddr = e.rng().below(1ULL << 32);
        w.raddr = e.rng().below(1ULL << 32);
        if (round == 2 && e.rng().below(400) == 0) w.opcode = 8;
        if (round == 2 && e.rng().below(200) == 0) w.qpn = P_QpCount + static_cast<std::uint32_t>(e.rng().below(50));
        e.post(w);
      }
      if (e.rng().below(150) == 0) {  // noise
        const auto& l = e.life(q);
        e.send_ack(q, psn_add(l.una, kPsnMask - static_cast<std::uint32_t>(e.rng().below(500))),
                   e.rng().percent(50) ? 0x1F : 0x60);
        e.send_ack(q, psn_add(l.nxt, 1000 + static_cast<std::uint32_t>(e.rng().below(1000))), 0x61);
      }
      if (round == 2 && e.rng().below(1500) == 0) e.send_event(q, 1 + static_cast<unsigned>(e.rng().below(4)));
      if (round == 2 && e.rng().below(1500) == 0) {
        // A request that still waits at the door would land in either life.
        e.until([&] { return e.wqe_order.empty(); }, 400'000, "posted");
        if (e.rng().percent(30))
          e.set_state(q, kErr);
        else if (e.rng().percent(30))
          e.set_state(q, kReset);
        fresh(q);
      }
      e.step();
    }
    e.cmd.stall_percent = e.cqe.stall_percent = e.err.stall_percent = e.event.stall_percent = 10;
    e.wqe.stall_percent = e.ack.stall_percent = 0;
    e.link.fatal_per_10000 = 0;
    for (const auto q : qps) {
      if (e.life(q).peer_dead) e.until([&] { return e.life(q).state == kErr; }, 3'000'000, "the NAK of a dead peer");
      e.post(q, 1, 1);
    }
    e.until([&] { return e.quiet(); }, 3'000'000, "every request completes");
    e.run(3000);
    std::uint64_t jumps = 0;
    for (std::uint32_t q = 0; q < P_QpCount; ++q)
      for (const auto& l : e.lives[q]) jumps += l.jumps_back;
    CHECK(jumps <= e.count_rewinds);
    CHECK(e.count_packets == e.commands);
    CHECK(e.count_cqes + e.count_rejected == e.cqes);
    if (round == 0) {
      CHECK(e.count_resent == 0);
      CHECK(e.errors == 0);
    }
    if (round == 1) CHECK(e.count_resent > 0);
    std::printf(
        "random round %d: %llu packets (%llu again), %llu completions (%llu errors), %llu rewinds, %llu timeouts, %llu "
        "cycles\n",
        static_cast<int>(round), static_cast<unsigned long long>(e.commands),
        static_cast<unsigned long long>(e.count_resent), static_cast<unsigned long long>(e.cqes),
        static_cast<unsigned long long>(e.errors), static_cast<unsigned long long>(e.count_rewinds),
        static_cast<unsigned long long>(e.count_timeouts), static_cast<unsigned long long>(e.now()));
  }
}

TEST_CASE("throughput: single-packet messages of one QP and of all") {
  if (ring() < 4 || P_WindowPkts < 64) return;
  for (const bool all : {false, true}) {
    Engine e(3);
    e.link.delay_min = e.link.delay_max = 10;
    const std::uint32_t busy = all ? P_QpCount : 1;
    for (std::uint32_t q = 0; q < busy; ++q) {
      Config c = config(q, q * 3, 3);
      if (!all) {
        c.sq_log2 = 8;  // the ring must not be the limit
        c.sq_base = 0;
      }
      e.setup(c);
    }
    const std::uint64_t total = 3000;
    for (std::uint64_t i = 0; i < total; ++i) e.post(static_cast<std::uint32_t>(i % busy), 64, 1);
    settle(e);
    REQUIRE(e.command_times.size() == total);
    const auto per = [&](std::uint64_t from, std::uint64_t to) {
      return static_cast<double>(e.command_times[to] - e.command_times[from]) / static_cast<double>(to - from);
    };
    std::printf("%u QPs, 64 B: %.2f cycles a packet\n", busy, per(500, total - 1));
    CHECK(per(500, total - 1) <= 3.0);
    CHECK(e.cqes == total);
  }
}

TEST_CASE("throughput: a backlog of single-packet messages in every ring") {
  if (ring() < 4 || P_WindowPkts < 64) return;
  Engine e(4);
  e.link.delay_min = e.link.delay_max = 10;
  for (std::uint32_t q = 0; q < P_QpCount; ++q) e.setup(config(q, q * 3, 3));
  e.cmd.stall_percent = 100;
  const std::uint64_t total = P_QpCount * ring();
  for (std::uint64_t i = 0; i < total; ++i) e.post(static_cast<std::uint32_t>(i % P_QpCount), 64, 1);
  e.until([&] { return e.wqe_order.empty(); }, 4 * total + 1000, "posted");
  e.cmd.stall_percent = 0;
  settle(e);
  const auto cycles = static_cast<double>(e.command_times.back() - e.command_times.front());
  std::printf("%d QPs with %d messages each: %.2f cycles a packet\n", P_QpCount, static_cast<int>(ring()),
              cycles / static_cast<double>(total - 1));
  CHECK(cycles / static_cast<double>(total - 1) <= 3.0);
}
