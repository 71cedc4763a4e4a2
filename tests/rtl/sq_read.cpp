// Bench of sq_engine, second part: READs, atomics, receiver-not-ready, credits, fence, SQD, data errors. Against
// the host and peer of sq_model.h; cases are named after the rows of cases.md.
#include "tests/rtl/sq_bench.h"

namespace {

/// Waits until the engine has taken and worked off every answer offered.
void heard(Engine& e) {
  e.until([&] { return e.ack_order.empty(); }, 5000, "answers taken");
  e.run(40);
}
/// Waits for this many completions.
void completed(Engine& e, std::uint64_t count, std::uint64_t limit = 5000) {
  e.until([&] { return e.cqes >= count; }, limit, "completions");
  e.run(60);
  CHECK(e.cqes == count);
}

}  // namespace

TEST_CASE("one READ of each length around the MTU: B03 P38") {
  for (unsigned pmtu = 1; pmtu <= 5; ++pmtu) {
    Engine e(100 + pmtu);
    const auto q = any_qpn(e);
    e.setup(config(q, 0xFFFFFE, pmtu));
    const auto mtu = mtu_of(pmtu);
    std::uint64_t packets = 0, count = 0;
    for (const std::uint32_t length : {0U, 1U, mtu - 1, mtu, mtu + 1, 2 * mtu, 2 * mtu + 1, 0U, 5 * mtu, 7 * mtu + 3}) {
      e.post(q, length, 1, kRead);
      packets += std::max(1U, (length + mtu - 1) / mtu);
      ++count;
    }
    settle(e);
    CHECK(e.commands == count);
    CHECK(e.life(q).nxt == psn_add(0xFFFFFE, static_cast<std::uint32_t>(packets)));
    CHECK(e.cqes == count);
    CHECK(e.errors == 0);
    CHECK(e.count_resent == 0);
    CHECK(e.count_responses == packets);
    CHECK(e.count_responses_stale == 0);
    CHECK(e.forwarded == packets);
  }
}

TEST_CASE("every opcode with every flag: P25 P28 P31") {
  Engine e(25);
  const auto q = any_qpn(e);
  e.setup(config(q, 5, 2));
  std::uint64_t posts = 0;
  for (unsigned flags = 0; flags < 8; ++flags)
    for (const unsigned opcode : {kWrite, kWriteImm, kSend, kSendImm, kRead, kCmpSwap, kFetchAdd, kSendInv}) {
      e.post(q, static_cast<std::uint32_t>(e.rng().below(2000)), flags | 1, opcode);
      ++posts;
    }
  settle(e);
  CHECK(e.cqes == posts);
  CHECK(e.errors == 0);
  // The length of an atomic means nothing.
  e.post(q, 0xFFFFFFFF, 1, kFetchAdd);
  settle(e);
  CHECK(e.errors == 0);
}

TEST_CASE("an ACK beyond a READ does not complete it: L3 P07") {
  if (P_WindowPkts < 6) return;
  Engine e(3);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.keep_log = true;
  e.setup(config(q, 40, 1));
  e.post(q, 10);
  const auto read = e.post(q, 600, 1, kRead);  // 41, 42, 43
  e.post(q, 10);
  sent(e, q, 3);
  e.send_ack(q, 44);
  completed(e, 1);
  REQUIRE(e.log.size() == 5);
  CHECK(e.log[3].psn == 41);
  CHECK(e.log[3].dma_len == 600);
  CHECK(e.log[4].psn == 44);
  CHECK(e.count_implied == 1);
  CHECK(e.count_rewinds == 1);
  e.send_ack(q, 44);
  e.send_ack(q, 42);  // no ACK completes a READ, not even with a PSN of it
  heard(e);
  CHECK(e.count_implied == 3);
  CHECK(e.count_rewinds == 1);
  CHECK(e.cqes == 1);
  e.send_read(read, 0, 2);
  e.send_ack(q, 44);
  settle(e);
  CHECK(e.cqes == 3);
  CHECK(e.errors == 0);
}

TEST_CASE("a response acknowledges what is before its READ, one beyond it only what is before the lost one") {
  if (P_WindowPkts < 8 || P_RdDepth < 2) return;
  Engine e(30);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 0xFFFFFE, 1));
  e.post(q, 10);                                // FFFFFE
  e.post(q, 10);                                // FFFFFF
  const auto a = e.post(q, 256 * 2, 1, kRead);  // 0, 1
  const auto b = e.post(q, 8, 1, kRead);        // 2
  sent(e, q, 4);
  e.send_read(b, 0, 0);
  completed(e, 2);
  CHECK(e.count_implied == 1);
  CHECK(e.life(q).una == 0);
  e.send_read(a, 0, 1);
  e.send_read(b, 0, 0);
  settle(e);
  CHECK(e.cqes == 4);
  CHECK(e.errors == 0);
}

TEST_CASE("a READ that lost a response asks for the rest, the answer may start anew: L4 P08") {
  if (P_WindowPkts < 5) return;
  for (int kind = 0; kind < 5; ++kind) {
    Engine e(400 + static_cast<std::uint64_t>(kind));
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.keep_log = true;
    e.setup(config(q, 0xFFFFFF, 2, kind == 4 ? code_for(200) : 0));
    const auto read = e.post(q, 4 * 512 - 3, 1, kRead);
    sent(e, q, 1);
    const std::uint32_t first = 0xFFFFFF;
    e.send_response(q, first, 0x0D, 512);
    e.send_response(q, psn_add(first, 1), 0x0E, 512);
    if (kind != 4) e.send_response(q, psn_add(first, 3), 0x0F, 509);  // 2 is lost
    sent(e, q, 2, 100'000);
    CHECK(e.log[1].psn == psn_add(first, 2));
    CHECK(e.log[1].dma_len == 1021);
    if (kind == 1) {  // the rest of the first answer comes after all
      e.send_response(q, psn_add(first, 2), 0x0E, 512);
      e.send_response(q, psn_add(first, 3), 0x0F, 509);
    } else if (kind == 2) {  // two answers of one packet each
      e.send_response(q, psn_add(first, 2), 0x0D, 512);
      e.send_response(q, psn_add(first, 3), 0x10, 509);
    } else {
      e.send_read(read, 2, 3);
    }
    if (kind == 3) e.send_read(read, 2, 3);  // twice
    settle(e);
    CHECK(e.cqes == 1);
    CHECK(e.errors == 0);
    CHECK(e.count_rewinds == 1);
    CHECK(e.count_responses == 4);
    CHECK(e.count_responses_stale == (kind == 3 ? 2 : 0));
  }
}

TEST_CASE("the first of many responses is lost: one retry, not one for each: L6 L19") {
  Engine e(19);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 0xFFFF00, 1));
  const auto read = e.post(q, 256 * 1000, 1, kRead);
  sent(e, q, 1);
  for (std::uint32_t i = 1; i < 1000; ++i) e.send_response(q, psn_add(0xFFFF00, i), i == 999 ? 0x0F : 0x0E, 256);
  heard(e);
  CHECK(e.count_implied == 999);
  CHECK(e.count_rewinds == 1);
  CHECK(e.life(q).sent == 2);
  e.send_read(read, 0, 999);
  settle(e);
  CHECK(e.errors == 0);
  CHECK(e.forwarded == 1000);
}

TEST_CASE("implied NAKs use up the retries as sequence NAKs do") {
  if (P_WindowPkts < 3) return;
  Engine e(20);
  const auto q = any_qpn(e);
  e.link.answer = false;
  Config c = config(q, 9, 1);
  c.retry_cnt = 0;
  e.setup(c);
  e.post(q, 100, 1, kRead);
  e.post(q, 100);
  sent(e, q, 2);
  e.send_ack(q, 10);
  completed(e, 2);
  CHECK(e.cqe_log[0].status == kRetryExc);
  CHECK(e.cqe_log[1].status == kFlush);
}

TEST_CASE("impossible responses end the QP") {
  struct Case {
    unsigned request;
    std::uint32_t length, at;
    unsigned opcode;
    std::uint32_t bytes;
    unsigned syndrome = 0x1F;
  };
  // READ of 600 bytes at MTU 256: FIRST 256, MIDDLE 256, LAST 88.
  const std::vector<Case> cases = {
      {kRead, 600, 0, 0x0E, 256},       {kRead, 600, 0, 0x0F, 256},       {kRead, 600, 0, 0x10, 256},
      {kRead, 600, 0, 0x12, 8},         {kRead, 600, 0, 0x0D, 255},       {kRead, 600, 0, 0x0D, 257},
      {kRead, 600, 0, 0x0D, 0},         {kRead, 600, 0, 0x0D, 256, 0x60}, {kRead, 600, 0, 0x0D, 256, 0x20},
      {kRead, 600, 0, 0x0D, 256, 0x9F}, {kRead, 600, 1, 0x0F, 256},       {kRead, 600, 1, 0x10, 256},
      {kRead, 600, 1, 0x0E, 88},        {kRead, 600, 2, 0x0E, 88},        {kRead, 600, 2, 0x0D, 88},
      {kRead, 600, 2, 0x0F, 87},        {kRead, 600, 2, 0x0F, 89},        {kRead, 600, 2, 0x0F, 256},
      {kRead, 600, 2, 0x0F, 0},         {kRead, 600, 2, 0x0F, 88, 0x61},  {kRead, 20, 0, 0x0F, 20},
      {kRead, 20, 0, 0x0D, 20},         {kRead, 0, 0, 0x10, 1},           {kRead, 256, 0, 0x10, 0},
      {kRead, 8, 0, 0x12, 8},           {kCmpSwap, 8, 0, 0x10, 8},        {kCmpSwap, 8, 0, 0x12, 4},
      {kFetchAdd, 99, 0, 0x12, 0},      {kFetchAdd, 8, 0, 0x12, 8, 0x40}, {kFetchAdd, 8, 0, 0x0D, 8}};
  Engine e(7);
  e.link.answer = false;
  std::uint64_t done = 0;
  for (const Case& t : cases) {
    const auto q = any_qpn(e);
    e.setup(config(q, 0xFFFFFF, 1));
    const bool behind = P_WindowPkts > 4 && ring() > 1;
    e.post(q, t.length, 0, t.request);
    if (behind) e.post(q, 10, 1);
    sent(e, q, behind ? 2 : 1);
    for (std::uint32_t k = 0; k < t.at; ++k) e.send_response(q, psn_add(0xFFFFFF, k), k == 0 ? 0x0D : 0x0E, 256);
    e.send_response(q, psn_add(0xFFFFFF, t.at), t.opcode, t.bytes, t.syndrome);
    done += behind ? 2 : 1;
    completed(e, done);
    CHECK(e.cqe_log[done - (behind ? 2 : 1)].status == kBadResp);
    if (behind) CHECK(e.cqe_log[done - 1].status == kFlush);
    CHECK(e.event_log.back() == std::pair<std::uint32_t, unsigned>{q, kEvtBadResponse});
    CHECK(e.event_psns.back() == psn_add(0xFFFFFF, t.at));
  }
  CHECK(e.count_responses_bad == cases.size());
}

TEST_CASE("fatal NAKs beside READs: who fails, who is flushed") {
  if (P_WindowPkts < 7) return;
  for (int kind = 0; kind < 3; ++kind) {
    Engine e(60 + static_cast<std::uint64_t>(kind));
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.setup(config(q, 100, 1));
    e.post(q, 10);
    e.post(q, 700, 1, kRead);  // 101..103
    e.post(q, 10);             // 104
    sent(e, q, 3);
    if (kind == 0) e.send_ack(q, 101, 0x62);  // the READ is refused
    if (kind == 1) {                          // its source fails half way
      e.send_response(q, 101, 0x0D, 256);
      e.send_ack(q, 102, 0x63);
    }
    if (kind == 2) e.send_ack(q, 104, 0x61);  // what is behind it; its own answer was lost
    completed(e, 3);
    CHECK(e.cqe_log[0].status == kOk);
    CHECK(e.cqe_log[1].status == (kind == 0 ? kAccess : kind == 1 ? kRemOp : kFlush));
    CHECK(e.cqe_log[1].syndrome == (kind == 0 ? 0x62 : kind == 1 ? 0x63 : 0));
    CHECK(e.cqe_log[2].status == (kind == 2 ? kInvReq : kFlush));
    CHECK(e.cqe_log[2].syndrome == (kind == 2 ? 0x61 : 0));
  }
}

TEST_CASE("responses of strangers, of before and of nothing only give their space back") {
  Engine e(8);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.fetch.stall_percent = 50;
  e.setup(config(q, 0, 1));
  e.send_response(q, 0, 0x10, 8);  // nothing was asked
  heard(e);
  const auto read = e.post(q, 300, 1, kRead);
  sent(e, q, 1);
  Ack a;
  a.qpn = q;
  a.psn = 0;
  a.opcode = 0x0D;
  a.bytes = 256;
  a.src_ip = e.life(q).cfg.dip + 1;
  e.send_ack(a);
  a.src_ip = e.life(q).cfg.dip;
  a.pkey = 0x7001;
  e.send_ack(a);
  a.pkey = 0xFFFF;
  a.qpn = P_QpCount;
  e.send_ack(a);
  a.qpn = q + (1U << 22);
  e.send_ack(a);
  if (P_Services != 0) {
    a.qpn = q;
    a.life = e.present_life(q) ^ 32U;  // judged by the services of another life
    e.send_ack(a);
  }
  constexpr unsigned kMore = P_Services != 0 ? 1 : 0;
  e.send_response(q, 2, 0x10, 8);         // not asked for yet
  e.send_response(q, 0xFFFFFF, 0x10, 8);  // of before
  e.send_response(q, 0x800000, 0x12, 8);
  heard(e);
  CHECK(e.count_responses_stale == 8 + kMore);
  CHECK(e.count_responses == 0);
  CHECK(e.cqes == 0);
  e.send_read(read, 0, 1);
  e.send_read(read, 0, 1);
  settle(e);
  CHECK(e.count_responses == 2);
  CHECK(e.count_responses_stale == 10 + kMore);
  CHECK(e.fetched == 12 + kMore);
  CHECK(e.count_rewinds == 0);
}

TEST_CASE("closing responses back to back, accepted or not: each is held against its own READ") {
  // A stale or refused closing response in front of a good one of the same QP, with and without strangers between.
  for (unsigned round = 0; round < 8; ++round) {
    Engine e(900 + round);
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.setup(config(q, 0xFFFFFE, 1));
    const std::uint64_t count = std::min(P_RdDepth, 4);
    std::vector<std::uint64_t> reads;
    // Different lengths: a response checked against a neighbour's row would not fit.
    for (std::uint64_t i = 0; i < count; ++i)
      reads.push_back(e.post(q, 10 + static_cast<std::uint32_t>(i) + (i % 2 != 0 ? 256 : 0), 1, kRead));
    sent(e, q, count);
    std::uint64_t stale = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint32_t last = i % 2 != 0 ? 1 : 0;
      for (unsigned again = 0; again < (round & 3U); ++again, ++stale) {
        if (i > 0)
          e.send_read(reads[i - 1], i % 2 == 0 ? 1 : 0, i % 2 == 0 ? 1 : 0);  // answered already
        else
          e.send_response(q, 0x800000, 0x10, 8);
      }
      if (round >= 4 && P_QpCount > 1) {
        e.send_response((q + 1) % P_QpCount, 0, 0x10, 8);
        ++stale;
      }
      e.send_read(reads[i], 0, last);
    }
    settle(e);
    CHECK(e.count_responses == count + count / 2);
    CHECK(e.count_responses_stale == stale);
    CHECK(e.cqes == count);
    CHECK(e.errors == 0);
    CHECK(e.count_rewinds == 0);
  }
}

TEST_CASE("a READ completes when its data is in memory, and what is behind it after it") {
  Engine e(9);
  const auto q = any_qpn(e);
  e.link.write = false;
  e.setup(config(q, 3, 1));
  e.post(q, 600, 0, kRead);
  e.post(q, 10, 1);
  e.until([&] { return e.count_responses == 3; }, 2000, "responses");
  e.run(500);
  CHECK(e.cqes == 0);
  e.link.write = true;
  settle(e);
  CHECK(e.cqes == 1);
  // Its first response alone completes what is in front of it.
  if (P_WindowPkts > 2) {
    e.link.answer = e.link.write = false;
    e.post(q, 10, 1);
    const auto read = e.post(q, 600, 0, kRead);
    const auto sent_before = e.life(q).sent;
    sent(e, q, sent_before + 2);
    e.send_read(read, 0, 0);
    completed(e, 2);
    e.send_response(q, psn_add(e.requests.at(read).first, 1), 0x0E, 256);
    e.send_response(q, psn_add(e.requests.at(read).first, 2), 0x0F, 88);
    e.link.answer = e.link.write = true;
    settle(e);
  }
  // An atomic too.
  const auto completions = e.cqes;
  const auto responses = e.count_responses;
  e.link.write = false;
  e.post(q, 8, 1, kFetchAdd);
  e.until([&] { return e.count_responses == responses + 1; }, 2000, "result");
  e.run(300);
  CHECK(e.cqes == completions);
  e.link.write = true;
  settle(e);
}

TEST_CASE("many READs, answered faster than their completions are taken") {
  unsigned log2 = 1;
  while ((2U << log2) <= P_WqeSlots && log2 < 10) ++log2;
  Engine e(10);
  const auto q = any_qpn(e);
  Config c = config(q, 0xFFFFF0, 1);
  c.sq_log2 = log2;
  c.sq_base = 0;
  c.max_rd = 255;
  e.setup(c);
  e.cqe.stall_percent = 100;
  const std::uint64_t slots = 1ULL << log2;
  for (std::uint64_t i = 0; i < 3 * slots; ++i) e.post(q, static_cast<std::uint32_t>(i % 300), 1, kRead);
  e.run(60 * slots + 2000);
  e.cqe.stall_percent = 20;
  settle(e, 1'000'000);
  CHECK(e.cqes == 3 * slots);
  CHECK(e.errors == 0);
}

TEST_CASE("an error does not complete a READ while its data is on its way") {
  for (const bool whole : {false, true}) {
    Engine e(11);
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.link.write = false;
    e.setup(config(q, 3, 1));
    const auto read = e.post(q, 600, 1, kRead);
    sent(e, q, 1);
    e.send_read(read, 0, whole ? 2 : 1);
    heard(e);
    e.send_event(q, 1);
    e.run(500);
    CHECK(e.event_log.size() == 1);
    CHECK(e.cqes == 0);
    e.link.write = true;
    completed(e, 1);
    CHECK(e.cqe_log[0].status == (whole ? kOk : kFlush));
    CHECK(e.nothing_to_memory());
  }
}

TEST_CASE("data that does not reach the memory fails its READ, in or out of ERR") {
  if (P_WindowPkts < 8 || P_RdDepth < 2) return;
  for (int kind = 0; kind < 4; ++kind) {
    Engine e(120 + static_cast<std::uint64_t>(kind));
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.setup(config(q, 0xFFFFFC, 1));
    const auto good = e.post(q, 10, 1, kRead);  // FFFFFC
    const auto bad = e.post(q, 300, 1, kRead);  // FFFFFD, FFFFFE
    e.post(q, 10, 0);                           // FFFFFF
    const auto posts = ring() > 3 ? 4U : 3U;
    if (posts == 4) e.post(q, 10, 0);
    sent(e, q, posts);
    e.link.write = false;
    e.write_errors.insert(bad);
    e.send_read(good, 0, 0);
    e.send_read(bad, 0, kind == 2 ? 0 : 1);  // kind 2: in the middle of it
    if (kind == 1) e.send_ack(q, 0xFFFFFF, 0x1F);
    if (kind == 3) e.send_ack(q, 0xFFFFFF, 0x62);  // the QP is in ERR when the data gets lost
    heard(e);
    e.link.write = true;
    completed(e, posts);
    CHECK(e.cqe_log[0].status == kOk);
    CHECK(e.cqe_log[1].status == kProtErr);
    for (std::size_t i = 2; i < posts; ++i) CHECK(e.cqe_log[i].status == kFlush);
    REQUIRE(e.event_log.size() == 1);
    CHECK(e.event_log[0].second == (kind == 3 ? kEvtPeerNak : kEvtWriteErr));
    if (kind != 3) CHECK(e.event_psns[0] == 0xFFFFFD);
  }
}

TEST_CASE("lost data and a completer that looks all the time") {
  Engine e(121);
  const auto q = any_qpn(e);
  e.link.write_delay_min = e.link.write_delay_max = 1;
  std::uint64_t lost = 0;
  for (int round = 0; round < 300; ++round) {
    e.link.answer = true;
    e.link.delay_min = e.link.delay_max = 1 + e.rng().below(4) % 4;
    Config c = config(q, 0xFFFFFE, 1);
    c.max_rd = 8;
    e.setup(c);
    const auto posts = std::min<std::uint64_t>(ring(), 2 + e.rng().below(6));
    for (std::uint64_t i = 0; i < posts; ++i) e.post(q, 1 + static_cast<std::uint32_t>(e.rng().below(300)), 1, kRead);
    const auto bad = e.last_id - e.rng().below(posts);
    e.write_errors.insert(bad);
    const auto start = e.cqes;
    e.until([&] { return e.cqes == start + posts; }, 5000, "completions");
    CHECK(e.errors == lost + 1 + (e.last_id - bad));
    lost = e.errors;
  }
}

TEST_CASE("payload that cannot be read fails the request that holds the PSN") {
  if (P_WindowPkts < 6 || ring() < 4) return;
  Engine e(13);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 0xFFFFFD, 1));
  e.post(q, 10, 0);   // FFFFFD
  e.post(q, 10, 0);   // FFFFFE
  e.post(q, 600, 0);  // FFFFFF..1
  e.post(q, 10, 0);
  sent(e, q, 6);
  e.send_ack(q, 0xFFFFFD);
  heard(e);
  // A repeat of what is acknowledged could not be read: no harm. One of a response: not ours.
  e.send_event(q, kEvtReadErr, 0xFFFFFD);
  e.send_event(q, kEvtReadErr, 3);
  e.send_event(q, kEvtWriteErr, 0xFFFFFE, true);  // s_done tells that
  e.run(100);
  CHECK(e.event_log.empty());
  e.send_event(q, kEvtReadErr, 0);
  completed(e, 3);
  CHECK(e.cqe_log[0].status == kFlush);
  CHECK(e.cqe_log[1].status == kProtErr);
  CHECK(e.cqe_log[2].status == kFlush);
  REQUIRE(e.event_psns.size() == 1);
  CHECK(e.event_psns[0] == 0);
}

TEST_CASE("RNR NAK: waits for the time of its code, exactly, whatever the ACK timer says: P11 L9 L13") {
  for (unsigned code = 0; code < 32; ++code) {
    const std::uint64_t time = Engine::rnr_cycles(code);
    if (time > (P_QpCount > 64 ? 6'000 : 30'000)) continue;
    Engine e(1100 + code);
    const auto q = any_qpn(e);
    e.link.answer = false;
    e.strict_rnr = true;
    Config c = config(q, 7, 1, 1);
    c.retry_cnt = 0;  // a timeout would end it
    c.timeout = code_for(200 + 2 * kWalk);
    e.setup(c);
    e.post(q, 1, 1, kSend);
    sent(e, q, 1);
    for (int i = 0; i < 3; ++i) {
      e.run(e.rng().below(50));
      e.send_ack(q, 7, 0x20 | code);
      sent(e, q, static_cast<std::uint64_t>(i) + 2, 2 * time + 4 * kWalk + 1000);
      const auto took = e.command_times.back() - e.life(q).rnr_taken;
      CHECK(took >= time);
      CHECK(took <= time + 3 * kQuarter + 2 * kWalk + 60);
    }
    CHECK(e.count_timeouts == 0);
    CHECK(e.count_rnr == 3);
    e.send_ack(q, 7);
    settle(e);
    CHECK(e.errors == 0);
  }
}

TEST_CASE("rnr_retry: exactly so many, 7 without end: L10 P14") {
  for (unsigned retries = 0; retries <= 7; ++retries) {
    Engine e(140 + retries);
    const auto q = any_qpn(e);
    e.strict_rnr = true;
    e.link.rnr = 100;
    Config c = config(q, 0xFFFFFF, 1);
    c.rnr_retry = retries;
    c.retry_cnt = 0;
    e.setup(c);
    e.post(q, 300, 0, kSend);
    if (retries == 7) {
      sent(e, q, 40, 40 * (2 * Engine::rnr_cycles(1) + 3 * kWalk + 500));
      e.link.rnr = 0;
      e.post(q, 1, 1);
      settle(e);
      CHECK(e.errors == 0);
      continue;
    }
    completed(e, 1, 20 * (2 * Engine::rnr_cycles(1) + 3 * kWalk + 500));
    CHECK(e.count_rnr == retries + 1);
    CHECK(e.cqe_log[0].status == kRnrExc);
    CHECK(e.cqe_log[0].syndrome == 0x21);
    REQUIRE(e.event_log.size() == 1);
    CHECK(e.event_log[0].second == kEvtRnrExc);
    CHECK(e.count_rewinds == retries);
  }
}

TEST_CASE("progress gives the RNR retries back") {
  if (P_WindowPkts < 3 || ring() < 3) return;
  Engine e(15);
  const auto q = any_qpn(e);
  e.link.answer = false;
  Config c = config(q, 50, 1);
  c.rnr_retry = 1;
  e.setup(c);
  for (int i = 0; i < 3; ++i) e.post(q, 1, 1, kSend);
  sent(e, q, 3);
  std::uint64_t packets = 3;
  for (std::uint32_t psn = 50; psn < 53; ++psn) {  // each is refused once, the NAK acknowledges those before
    e.send_ack(q, psn, 0x21);
    packets += 53 - psn;
    sent(e, q, packets, 10'000);
  }
  CHECK(e.count_errors == 0);
  e.send_ack(q, 52, 0x21);
  completed(e, 3);
  CHECK(e.cqe_log[1].status == kOk);
  CHECK(e.cqe_log[2].status == kRnrExc);
}

TEST_CASE("an ACK gives the RNR retries back") {
  if (P_WindowPkts < 2) return;
  Engine e(151);
  const auto q = any_qpn(e);
  e.link.answer = false;
  Config c = config(q, 50, 1);
  c.rnr_retry = 1;
  e.setup(c);
  e.post(q, 1, 1, kSend);
  e.post(q, 1, 1, kSend);
  sent(e, q, 2);
  e.send_ack(q, 50, 0x21);
  sent(e, q, 4, 10'000);
  e.send_ack(q, 50);
  e.send_ack(q, 51, 0x21);  // no progress in itself
  sent(e, q, 5, 10'000);
  e.send_ack(q, 51);
  settle(e);
  CHECK(e.errors == 0);
}

TEST_CASE("after an RNR NAK everything from it on goes again, in order: P10") {
  if (P_WindowPkts < 4 || ring() < 4) return;
  Engine e(16);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.keep_log = true;
  e.setup(config(q, 50, 1));
  for (int i = 0; i < 4; ++i) e.post(q, 1, 1, kSend);
  sent(e, q, 4);
  e.send_ack(q, 51, 0x23);
  heard(e);
  CHECK(e.life(q).sent == 4);
  CHECK(e.cqes == 1);
  // A second one, sequence NAKs and stale ACKs during the wait change nothing.
  const auto until = e.life(q).rnr_until;
  e.send_ack(q, 51, 0x3F);
  e.send_ack(q, 51, 0x60);
  e.send_ack(q, 50);
  heard(e);
  CHECK(e.life(q).rnr_until == until);
  sent(e, q, 7, 10'000);
  CHECK(e.command_times[4] >= until);
  for (std::uint32_t i = 0; i < 3; ++i) CHECK(e.log[4 + i].psn == 51 + i);
  e.run(300);
  CHECK(e.life(q).sent == 7);
  // A wait that an ACK ends: the peer has it after all.
  e.send_ack(q, 51, 0x2D);
  heard(e);
  e.send_ack(q, 52);
  sent(e, q, 8, 500);
  CHECK(e.log[7].psn == 53);
  e.send_ack(q, 53);
  settle(e);
  CHECK(e.errors == 0);
}

TEST_CASE("an RNR NAK beyond an unanswered READ: both go again when the time has come") {
  if (P_WindowPkts < 4) return;
  Engine e(161);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.strict_rnr = true;
  e.keep_log = true;
  e.setup(config(q, 50, 1));
  const auto read = e.post(q, 10, 1, kRead);
  e.post(q, 1, 1, kSend);
  sent(e, q, 2);
  e.send_ack(q, 51, 0x22);
  heard(e);
  CHECK(e.cqes == 0);
  sent(e, q, 4, 10'000);
  CHECK(e.log[2].psn == 50);
  e.send_read(read, 0, 0);
  e.send_ack(q, 51);
  settle(e);
}

TEST_CASE("an RNR storm ends when it ends: L12 P13") {
  Engine e(17);
  const auto q = any_qpn(e);
  e.link.rnr = 100;
  e.setup(config(q, 0, 1, code_for(500 + 2 * kWalk)));
  for (int i = 0; i < 20; ++i) e.post(q, 500, 1, i % 2 == 0 ? kSend : kWriteImm);
  const std::uint64_t storm = P_QpCount > 64 ? 100 : 1000;
  e.until([&] { return e.count_rnr >= storm; }, storm * (2 * Engine::rnr_cycles(1) + 3 * kWalk + 300), "RNR NAKs");
  e.link.rnr = 20;
  settle(e, 400'000);
  CHECK(e.cqes == 20);
  CHECK(e.errors == 0);
}

TEST_CASE("credits: within, none, a probe, no limit") {
  if (P_WindowPkts < 7 || ring() < 4) return;
  Engine e(18);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 0, 1));
  Ack a;
  a.qpn = q;
  a.src_ip = e.life(q).cfg.dip;
  const auto ack = [&](std::uint32_t psn, std::uint32_t msn, unsigned code) {
    a.psn = psn;
    a.msn = msn;
    a.syndrome = code;
    e.send_ack(a);
    heard(e);
    e.run(200);
  };
  for (int i = 0; i < 3; ++i) e.post(q, 1, 1, kSend);
  sent(e, q, 3);  // nothing is known: no limit
  ack(0, 1, 1);   // one more after the first: up to the second
  e.post(q, 1, 1, kSend);
  e.run(300);
  CHECK(e.life(q).sent == 3);
  CHECK(e.count_credit_waits >= 1);
  ack(1, 2, 1);  // up to the third
  CHECK(e.life(q).sent == 3);
  ack(2, 3, 0);  // nothing is outstanding: a probe
  CHECK(e.life(q).sent == 4);
  e.post(q, 1, 1, kSend);
  e.post(q, 1, 1, kSendImm);
  e.run(300);
  CHECK(e.life(q).sent == 4);
  ack(3, 4, 4);  // both
  CHECK(e.life(q).sent == 6);
  e.post(q, 1, 1, kWrite);  // takes no receive request
  e.run(300);
  CHECK(e.life(q).sent == 7);
  ack(4, 5, 0);  // takes nothing back
  e.post(q, 1, 1, kSend);
  e.run(300);
  CHECK(e.life(q).sent == 8);
  ack(7, 8, 0);
  // An answer to a READ says nothing about credits.
  const auto read = e.post(q, 1, 1, kRead);
  e.post(q, 1, 1, kWriteImm);
  e.run(300);
  CHECK(e.life(q).sent == 9);
  e.post(q, 1, 1, kWrite);
  e.run(300);
  CHECK(e.life(q).sent == 9);  // in order
  e.send_read(read, 0, 0);
  heard(e);
  e.run(200);
  CHECK(e.life(q).nxt == 11);  // the probe, and the WRITE behind it
  ack(9, 10, 0x1F);
  ack(10, 11, 0);  // no limit is for good
  for (int i = 0; i < 4; ++i) e.post(q, 1, 1, kSend);
  e.run(300);
  CHECK(e.life(q).nxt == 15);
  e.link.answer = true;
  ack(14, 15, 0);
  settle(e);
  CHECK(e.errors == 0);
}

TEST_CASE("a credit code means what the table says, and no more than the ring") {
  if (P_WindowPkts < 100) return;
  Engine e(181);
  const std::uint32_t q = 0;
  for (unsigned code = 0; code < 31; ++code) {
    Config c = config(q, 0, 1);
    c.sq_log2 = 7;
    c.sq_base = 0;
    e.link.answer = false;
    e.setup(c);
    e.post(q, 1, 1, kSend);
    sent(e, q, 1);
    Ack a;
    a.qpn = q;
    a.src_ip = e.life(q).cfg.dip;
    a.psn = 0;
    a.msn = 1;
    a.syndrome = code;
    e.post(q, 0, 1, kWrite);  // keeps something outstanding
    sent(e, q, 2);
    e.send_ack(a);
    heard(e);
    for (int i = 0; i < 120; ++i) e.post(q, 1, 1, kSend);
    e.run(1500);
    // Requests 1 + credits and on have to wait; the write is request 1.
    const auto may = std::min<std::uint64_t>(122, std::max<std::uint64_t>(2, 1 + kCredits[code]));
    CHECK(e.life(q).sent == may);
    e.set_state(q, kReset);
  }
}

TEST_CASE("a peer that counts credits and gives them back slowly") {
  Engine e(182);
  e.link.credits = true;
  e.link.delay_min = 5;
  e.link.delay_max = 60;
  const auto busy = std::min<unsigned>(P_QpCount, 4);
  for (std::uint32_t q = 0; q < busy; ++q) e.setup(config(q, 0xFFFFF0, 1, 9));
  for (int i = 0; i < 200; ++i)
    e.post(static_cast<std::uint32_t>(e.rng().below(busy)), static_cast<std::uint32_t>(e.rng().below(700)), 1,
           e.rng().percent(50)   ? kSend
           : e.rng().percent(50) ? kWrite
                                 : kWriteImm);
  settle(e, 600'000);
  CHECK(e.cqes == 200);
  CHECK(e.errors == 0);
}

TEST_CASE("a fence waits for READs and atomics in front of it, for nothing else: L42") {
  if (P_WindowPkts < 4) return;
  Engine e(42);
  const auto q = any_qpn(e);
  e.link.answer = false;
  e.setup(config(q, 0, 1));
  e.post(q, 1);
  e.post(q, 1, kSignaled | kFence, kSend);
  sent(e, q, 2);  // a WRITE without its ACK does not matter
  const auto read = e.post(q, 10, 1, kRead);
  e.post(q, 1, kSignaled | kFence, kSend);
  e.run(400);
  CHECK(e.life(q).sent == 3);
  CHECK(e.count_fence_waits >= 1);
  e.link.write = false;
  e.send_read(read, 0, 0);
  heard(e);
  e.run(300);
  CHECK(e.life(q).sent == 3);  // what it sends may be what the READ brings
  e.link.write = true;
  sent(e, q, 4);
  e.send_ack(q, 3);
  settle(e);
  CHECK(e.errors == 0);
}

TEST_CASE("no more READs and atomics outstanding than the peer takes: L24 L39") {
  for (const unsigned max_rd : {1U, 2U, 3U, 5U, 128U, 255U}) {
    Engine e(240 + max_rd);
    const auto q = any_qpn(e);
    Config c = config(q, 0xFFFFF0, 1);
    c.max_rd = max_rd;
    e.setup(c);
    e.link.answer = false;
    const auto posts = std::min<std::uint64_t>(ring(), 12);
    for (std::uint64_t i = 0; i < posts; ++i) e.post(q, 1, 1, i % 3 == 1 ? kFetchAdd : kRead);
    e.run(600);
    const auto limit = std::min<std::uint64_t>({max_rd, P_RdDepth, posts, P_WindowPkts});
    CHECK(e.life(q).sent == limit);
    e.link.answer = true;
    e.send_event(q, 1);
    e.until([&] { return e.cqes == posts; }, 2000, "flush");
    e.setup(c);
    for (int i = 0; i < 300; ++i)
      e.post(q, static_cast<std::uint32_t>(e.rng().below(600)), 1, i % 5 == 1 ? kCmpSwap : kRead);
    settle(e, 400'000);
    CHECK(e.cqes == posts + 300);
  }
  for (const unsigned opcode : {kRead, kCmpSwap, kFetchAdd}) {
    Engine e(39);
    const auto q = any_qpn(e);
    Config c = config(q, 0, 1);
    c.max_rd = 0;
    e.setup(c);
    e.post(q, 8, 0, opcode);
    completed(e, 1);
    CHECK(e.cqe_log[0].status == kQpOpErr);
    CHECK(e.commands == 0);
  }
}

TEST_CASE("SQD: the message is finished, then one event when nothing is outstanding") {
  Engine e(43);
  const auto q = any_qpn(e);
  e.setup(config(q, 0xFFFFFE, 1));
  // Idle: at once, once for each time.
  for (std::size_t i = 1; i <= 3; ++i) {
    e.set_state(q, kSqd);
    e.until([&] { return e.event_log.size() == i; }, 6 * kWalk + 300, "drained");
    CHECK(e.event_log.back() == std::pair<std::uint32_t, unsigned>{q, kEvtSqDrained});
    e.run(4 * kWalk + 100);
    CHECK(e.event_log.size() == i);
    if (i != 2) e.set_state(q, kRts);
  }
  CHECK(e.life(q).errs == 0);
  // In a message, at a window that closes all the time, with the host slow.
  for (int round = 0; round < 20; ++round) {
    const auto events = e.event_log.size();
    e.cmd.stall_percent = round % 3 == 0 ? 90 : 0;
    e.cqe.stall_percent = round % 4 == 1 ? 95 : 0;
    e.link.delay_min = e.link.delay_max = 3;
    e.post(q, 256 * 40, 1, round % 2 == 0 ? kWrite : kSend);
    e.post(q, 256 * 3, 1, kRead);
    e.post(q, 10, 1);
    e.run(100 + e.rng().below(200));
    e.set_state(q, kSqd);
    e.until([&] { return e.event_log.size() == events + 1; }, 40'000, "drained");
    const auto commands = e.commands;
    e.run(6 * kWalk + 300);
    CHECK(e.event_log.size() == events + 1);
    CHECK(e.commands == commands);
    e.set_state(q, kRts);
    settle(e);
  }
  // READ data on its way.
  e.cmd.stall_percent = e.cqe.stall_percent = 0;
  e.link.write = false;
  const auto events = e.event_log.size();
  const auto responses = e.count_responses;
  e.post(q, 100, 0, kRead);
  e.until([&] { return e.count_responses == responses + 1; }, 2000, "response");
  e.set_state(q, kSqd);
  e.run(6 * kWalk + 300);
  CHECK(e.event_log.size() == events);
  e.link.write = true;
  e.until([&] { return e.event_log.size() == events + 1; }, 6 * kWalk + 300, "drained");
  // Set up in SQD; left before it was drained: no event.
  Config c = config(q, 5, 1);
  c.state = kSqd;
  e.setup(c);
  e.until([&] { return e.event_log.size() == events + 2; }, 6 * kWalk + 300, "drained");
  e.set_state(q, kRts);
  e.link.answer = false;
  e.post(q, 10, 1);
  sent(e, q, 1);
  e.set_state(q, kSqd);
  e.run(4 * kWalk + 100);
  e.set_state(q, kRts);
  e.life(q).drains = 0;
  e.send_ack(q, 5);
  settle(e);
  e.run(6 * kWalk + 300);
  CHECK(e.event_log.size() == events + 2);
  CHECK(e.count_resent == 0);
}

TEST_CASE("a set-up waits for data on its way to memory, of whatever QP, and s_ack with it") {
  Engine e(44);
  const auto q = any_qpn(e);
  const std::uint32_t other = P_QpCount > 1 ? (q + 1) % P_QpCount : q;
  for (int round = 0; round < 30; ++round) {
    e.link.write_delay_min = e.link.write_delay_max = 400;
    e.setup(config(q, e.rng().below(kPsnMask) & kPsnMask, 1, 12));
    if (other != q) e.setup(config(other, 0xFFFFFF, 1, 12));
    e.post(q, 256 * 8, 1, kRead);
    if (other != q) e.post(other, 256 * 8, 1, kRead);
    const auto base = e.count_responses;
    e.until([&] { return e.count_responses >= base + 1 + e.rng().below(6); }, 2000, "responses");
    e.run(e.rng().below(30));
    if (round % 3 == 0) e.set_state(q, kReset);
    const bool pending = !e.to_memory.empty();
    const auto start = e.now();
    e.setup(config(q, 77, 2));
    if (pending) CHECK(e.now() - start > 20);
    e.post(q, 1000, 1, kRead);
    settle(e);
  }
}

TEST_CASE("an endless stream of responses does not starve a set-up") {
  if (P_QpCount < 2) return;
  Engine e(441);
  e.link.write_delay_min = e.link.write_delay_max = 100;
  e.setup(config(0, 5, 1));
  e.post(0, 256 * 3000, 1, kRead);
  e.until([&] { return e.count_responses > 20; }, 3000, "responses");
  for (int i = 0; i < 5; ++i) {
    const auto start = e.now();
    e.setup(config(1, 7, 1));
    CHECK(e.now() - start < 400);
    e.run(100);
  }
  CHECK(e.count_responses < 3000);  // it is still going on
  settle(e);
  CHECK(e.errors == 0);
}

TEST_CASE("a stalled m_fetch holds back answers only") {
  Engine e(45);
  const auto q = any_qpn(e);
  const std::uint32_t other = P_QpCount > 1 ? (q + 1) % P_QpCount : q;
  e.setup(config(q, 5, 1));
  if (other != q) e.setup(config(other, 5, 1));
  e.link.answer = false;
  e.fetch.stall_percent = 100;
  e.post(q, 256 * 40, 1, kRead);
  sent(e, q, 1);
  const auto read = e.last_id;
  e.send_read(read, 0, 39);
  e.run(500);
  CHECK(e.ack_order.size() > 10);  // they wait
  e.send_event(other, 2);
  e.until([&] { return e.evt_order.empty(); }, 100, "errors are taken");
  e.until([&] { return e.event_log.size() == 1; }, 100, "and told");
  e.fetch.stall_percent = 20;
  if (other == q) {
    e.until([&] { return e.cqes == 1; }, 3000, "flush");
  } else {
    settle(e);
    CHECK(e.errors == 0);
  }
  e.until([&] { return e.nothing_to_memory(); }, 3000, "commands");
}

TEST_CASE("2000 set-ups with READs: nothing leaks from one life into the next: P17 P16") {
  Engine e(46);
  const std::uint32_t busy = std::min<unsigned>(P_QpCount, 4);
  e.link.delay_min = 5;
  e.link.delay_max = 60;
  e.link.drop = 3;
  e.link.rnr = 5;
  for (int i = 0; i < 2000; ++i) {
    const auto q = static_cast<std::uint32_t>(e.rng().below(busy));
    Config c = config(q, static_cast<std::uint32_t>(e.rng().next() & kPsnMask),
                      1 + static_cast<unsigned>(e.rng().below(5)), 4);
    c.sq_log2 = static_cast<unsigned>(e.rng().below(slots_log2() + 1));
    c.max_rd = 1 + static_cast<unsigned>(e.rng().below(9));
    if (e.rng().percent(30)) e.set_state(q, kReset);
    e.setup(c);
    const auto posts = e.rng().below(4);
    for (std::uint64_t k = 0; k < posts; ++k)
      e.post(q, static_cast<std::uint32_t>(e.rng().below(6000)), e.rng().percent(70) ? 1 : 0,
             static_cast<unsigned>(e.rng().below(7)));
    e.cmd.stall_percent = e.rng().percent(20) ? 100 : 10;
    e.cqe.stall_percent = e.rng().percent(20) ? 100 : 10;
    e.fetch.stall_percent = e.rng().percent(20) ? 90 : 10;
    e.run(e.rng().below(120));
    if (!e.wqe_order.empty()) {
      e.cmd.stall_percent = e.cqe.stall_percent = 0;
      e.until([&] { return e.wqe_order.empty(); }, 100'000, "posted");
    }
  }
  e.cmd.stall_percent = e.cqe.stall_percent = 0;
  e.link.drop = e.link.rnr = 0;
  for (std::uint32_t q = 0; q < busy; ++q) {
    e.setup(config(q, 3));
    for (int k = 0; k < 10; ++k) e.post(q, 2000, 1, k % 2 == 0 ? kRead : kWrite);
  }
  settle(e);
}

TEST_CASE("random traffic of all kinds over a lossy link: P23") {
  for (std::uint64_t round = 0; round < 4; ++round) {
    Engine e(4700 + round);
    const bool loss = round != 0;
    e.link.drop = loss ? 2 * static_cast<unsigned>(round) : 0;
    e.link.ack_drop = loss ? 4 : 0;
    e.link.ack_double = loss ? 5 : 0;
    e.link.delay_min = 5;
    e.link.delay_max = loss ? 80 : 60;
    e.link.reorder = round == 2;
    e.link.fatal_per_10000 = round == 3 ? 10 : 0;
    e.link.rnr = round == 0 ? 0 : 5;
    e.link.credits = round == 1 || round == 3;
    e.link.write_err_per_10000 = round == 3 ? 15 : 0;
    e.link.write_delay_max = 100;
    const std::uint32_t busy = std::min<unsigned>(P_QpCount, 16);
    const auto spread = P_QpCount / busy;
    std::vector<std::uint32_t> qps;
    for (std::uint32_t i = 0; i < busy; ++i) qps.push_back(i * spread);
    const auto fresh = [&](std::uint32_t q) {
      Config c =
          config(q, psn_add(0xFFFFFF, static_cast<std::uint32_t>(kPsnMask + 1 - e.rng().below(60))),
                 1 + static_cast<unsigned>(e.rng().below(5)), code_for(400) + static_cast<unsigned>(e.rng().below(2)));
      if (!loss) c.timeout = 11;  // a stalled dma_read must not look like loss
      if (e.rng().percent(20)) c.sq_psn = static_cast<std::uint32_t>(e.rng().next() & kPsnMask);
      c.max_rd = 1 + static_cast<unsigned>(e.rng().below(20));
      e.setup(c, 40'000);
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
        e.fetch.stall_percent = stall();
        e.err.stall_percent = stall();
        e.event.stall_percent = stall();
        e.wqe.stall_percent = stall() / 2;
        e.ack.stall_percent = stall() / 2;
        e.done.stall_percent = stall() / 2;
        e.link.rnr_code = 1 + static_cast<unsigned>(e.rng().below(5));
      }
      const auto q = qps[e.rng().below(qps.size())];
      if (e.wqe_order.size() < 6 && e.rng().percent(20)) {
        static constexpr std::array<unsigned, 10> kKinds = {kRead, kRead,  kRead,    kCmpSwap, kFetchAdd,
                                                            kSend, kWrite, kSendImm, kSendInv, kWriteImm};
        Wqe w = e.any(q, kKinds[e.rng().below(kKinds.size())]);
        const auto mtu = mtu_of(e.life(q).cfg.pmtu);
        w.length = static_cast<std::uint32_t>(e.rng().percent(60)   ? e.rng().below(200)
                                              : e.rng().percent(80) ? e.rng().below(4 * mtu)
                                                                    : mtu * (1 + e.rng().below(12)));
        w.flags = (e.rng().percent(60) ? 1U : 0U) | (e.rng().percent(20) ? 2U : 0U) | (e.rng().percent(10) ? 4U : 0U);
        if (round == 3 && e.rng().below(400) == 0) w.opcode = 8;
        e.post(w);
      }
      if (e.rng().below(150) == 0) {  // noise
        const auto& l = e.life(q);
        const std::uint32_t old = psn_add(l.una, kPsnMask - static_cast<std::uint32_t>(e.rng().below(500)));
        e.send_ack(q, old, e.rng().percent(50) ? 0x1F : e.rng().percent(50) ? 0x60 : 0x3F);
        e.send_response(q, old, 0x0D + static_cast<unsigned>(e.rng().below(4)),
                        static_cast<std::uint32_t>(e.rng().below(300)));
        e.send_response(q, psn_add(l.nxt, 100'000), 0x12, 8);
      }
      if (round == 3 && e.rng().below(1500) == 0) {
        // A packet that has not left cannot have failed.
        const unsigned cause = 1 + static_cast<unsigned>(e.rng().below(4));
        if (cause != kEvtReadErr || e.life(q).una != e.life(q).nxt) e.send_event(q, cause, e.life(q).una);
      }
      if (round == 3 && e.rng().below(1000) == 0) {
        // A request that still waits at the door would land in either life.
        e.until([&] { return e.wqe_order.empty(); }, 400'000, "posted");
        if (e.rng().percent(30))
          e.set_state(q, kErr);
        else if (e.rng().percent(30))
          e.set_state(q, kReset);
        fresh(q);
      }
      if (e.rng().below(700) == 0 && e.life(q).state == kRts) {
        e.set_state(q, kSqd);
        e.run(e.rng().below(300));
        if (e.life(q).state == kSqd) e.set_state(q, kRts);
      }
      e.step();
    }
    for (auto* s : {&e.cmd, &e.cqe, &e.fetch, &e.err, &e.event}) s->stall_percent = 10;
    e.wqe.stall_percent = e.ack.stall_percent = e.done.stall_percent = 0;
    e.link.fatal_per_10000 = e.link.write_err_per_10000 = 0;
    for (const auto q : qps) {
      if (e.life(q).peer_dead) e.until([&] { return e.life(q).state == kErr; }, 3'000'000, "the NAK of a dead peer");
      e.post(q, 1, 1);
    }
    e.until([&] { return e.quiet() && e.nothing_to_memory(); }, 3'000'000, "every request completes");
    e.run(3000);
    for (const auto q : qps) {
      const Life& l = e.life(q);
      if (l.suspect) CHECK(l.told.count(kEvtRetryExc) + l.told.count(kEvtRnrExc) + l.told.count(kEvtBadWqe) > 0);
    }
    CHECK(e.count_packets == e.commands);
    CHECK(e.count_cqes + e.count_rejected == e.cqes);
    CHECK(e.count_responses >= e.forwarded);
    if (round == 0) {
      CHECK(e.count_resent == 0);
      CHECK(e.errors == 0);
      CHECK(e.count_responses_stale == 2 * e.count_stale);
    }
    std::printf(
        "random round %d: %llu packets (%llu again), %llu responses (%llu accepted), %llu completions (%llu errors), "
        "%llu rewinds, %llu timeouts, %llu RNR NAKs, %llu implied NAKs, %llu cycles\n",
        static_cast<int>(round), static_cast<unsigned long long>(e.commands),
        static_cast<unsigned long long>(e.count_resent), static_cast<unsigned long long>(e.fetched),
        static_cast<unsigned long long>(e.forwarded), static_cast<unsigned long long>(e.cqes),
        static_cast<unsigned long long>(e.errors), static_cast<unsigned long long>(e.count_rewinds),
        static_cast<unsigned long long>(e.count_timeouts), static_cast<unsigned long long>(e.count_rnr),
        static_cast<unsigned long long>(e.count_implied), static_cast<unsigned long long>(e.now()));
  }
}

TEST_CASE("throughput: answers") {
  if (P_QpCount < 64 || P_RdDepth < 16) return;
  const auto rate = [](const std::vector<std::uint64_t>& t) {
    return static_cast<double>(t.back() - t.front()) / static_cast<double>(t.size() - 1);
  };
  {  // responses of many QPs
    Engine e(50);
    e.link.answer = false;
    std::vector<std::uint64_t> reads;
    for (std::uint32_t q = 0; q < P_QpCount; ++q) e.setup(config(q, q, 3));
    for (int i = 0; i < 4; ++i)
      for (std::uint32_t q = 0; q < P_QpCount; ++q) reads.push_back(e.post(q, 64, 1, kRead));
    e.until([&] { return e.commands == reads.size(); }, 30'000, "requests");
    for (const auto id : reads) e.send_read(id, 0, 0);
    settle(e);
    std::printf("64 B READs of %d QPs: %.2f cycles a response\n", P_QpCount, rate(e.fetch_times));
    CHECK(rate(e.fetch_times) <= 2.1);
  }
  {  // one READ of many packets
    Engine e(51);
    e.link.answer = false;
    e.setup(config(0, 0, 1));
    const auto read = e.post(0, 256 * 1000, 1, kRead);
    sent(e, 0, 1);
    e.send_read(read, 0, 999);
    settle(e);
    std::printf("one READ of 1000 packets: %.2f cycles a response\n", rate(e.fetch_times));
    CHECK(rate(e.fetch_times) <= 2.1);
  }
  {  // the same of one QP: each closes the READ that the next one is behind
    Engine e(54);
    e.link.answer = false;
    Config c = config(0, 0, 3);
    c.max_rd = P_RdDepth;
    e.setup(c);
    std::vector<std::uint64_t> reads;
    for (int i = 0; i < P_RdDepth; ++i) reads.push_back(e.post(0, 64, 1, kRead));
    sent(e, 0, reads.size());
    for (const auto id : reads) e.send_read(id, 0, 0);
    settle(e);
    std::printf("64 B READs of one QP, all answered at once: %.2f cycles a response\n", rate(e.fetch_times));
    CHECK(rate(e.fetch_times) <= 2.1);
  }
  {  // READs of one packet of one QP, end to end: the round trip through the engine is the limit
    Engine e(52);
    e.link.delay_min = e.link.delay_max = 1;
    Config c = config(0, 0, 3);
    c.sq_log2 = 9;
    c.sq_base = 0;
    c.max_rd = 16;
    e.setup(c);
    for (int i = 0; i < 3000; ++i) e.post(0, 64, 1, kRead);
    settle(e);
    std::printf("64 B READs of one QP, 16 outstanding: %.2f cycles each\n", rate(e.fetch_times));
    CHECK(rate(e.fetch_times) <= 4.1);
  }
  {  // ACKs of one QP
    Engine e(53);
    e.link.answer = false;
    Config c = config(0, 0, 1);
    c.sq_log2 = 8;
    c.sq_base = 0;
    e.setup(c);
    for (int i = 0; i < 200; ++i) e.post(0, 10, 1);
    sent(e, 0, 200);
    for (std::uint32_t i = 0; i < 200; ++i) e.send_ack(0, i);
    const auto start = e.now();
    e.until([&] { return e.ack_order.empty(); }, 2000, "ACKs");
    std::printf("ACKs of one QP: %.2f cycles each\n", static_cast<double>(e.now() - start) / 200);
    CHECK(e.now() - start <= 410);
    settle(e);
  }
}
