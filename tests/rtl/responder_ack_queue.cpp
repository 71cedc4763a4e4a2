// Bench of ack_queue against a model of what may be owed to each QP.
#include <map>
#include <set>

#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/rq_model.h"

using namespace rocegen::bench;
using rocegen::bench::rq::Answer;
using rocegen::bench::rq::QpCfg;

namespace {

constexpr std::uint32_t kQps = P_QpCount;
constexpr std::size_t kPktWidth = 302;
constexpr std::uint32_t kPsnMask = 0xFFFFFF;

/// Reads a tx_pkt_t; everything but the answer must be that of an ACK.
Answer unpack_packet(const Bytes& beat) {
  Record r(beat, kPktWidth);
  Answer a;
  const auto life = r.get(6);
  a.qpn = static_cast<std::uint32_t>(r.get(24));
  REQUIRE(r.get(8) == 0x11);
  REQUIRE(r.get(2) == 0);  // se, ackreq
  a.psn = static_cast<std::uint32_t>(r.get(24));
  REQUIRE(r.get(14) == 0);  // pay_bytes
  REQUIRE(r.get(64) == 0);  // va
  REQUIRE(r.get(64) == 0);  // rkey, dma_len
  a.syndrome = static_cast<std::uint8_t>(r.get(8));
  a.msn = static_cast<std::uint32_t>(r.get(24));
  REQUIRE(r.get(64) == 0);  // imm, compare_lo
  REQUIRE(life == a.life());
  return a;
}

/// What may come out. An answer that is taken either replaces the one that waits or follows it: which of the two, the
/// queue decides by what it has already committed to its output, so the model keeps every answer since the last one
/// sent and accepts any that no rule forbids, but the last one must always come.
class Scoreboard : public Agent {
 public:
  Scoreboard(Rng& rng, Vdut& dut) : rng_(&rng), dut_(dut) {}
  void drive() override {
    if (busy == 2) {
      if (rng_->percent(2)) dut_.busy_i = !dut_.busy_i;
    } else {
      dut_.busy_i = busy != 0;
    }
  }
  void sample() override {
    if (dut_.s_ack_tvalid && dut_.s_ack_tready) {
      const Answer a = Answer::unpack(Port(dut_.s_ack_tdata, Answer::kWidth).value());
      ++taken;
      idle_ = 0;
      if (a.qpn < kQps) {
        owed[a.qpn].push_back(a);
        ++known;
      }
    } else if (dut_.s_ack_tvalid && ready_once) {
      ++idle_;
      REQUIRE_MESSAGE(idle_ < (cfg_before_ ? 3 : 2), "s_ack waits longer than a cycle");
    }
    // Before the answer of this cycle is seen by a set-up it is known, and one of a later cycle is not.
    cfg_before_ = false;
    if (dut_.s_cfg_tvalid && dut_.s_cfg_tready) {
      const Bytes cfg = Port(dut_.s_cfg_tdata, QpCfg::kWidth).value();
      const auto qpn = static_cast<std::uint32_t>(get_field(cfg, QpCfg::kWidth - 25, 24));
      const bool anew = get_field(cfg, QpCfg::kWidth - 1, 1) != 0 || get_field(cfg, QpCfg::kWidth - 28, 3) == 0;
      cfg_before_ = true;
      if (anew && qpn < kQps) {
        // Of those that are owed only what is in front of m_pkt already may still come.
        auto& list = owed[qpn];
        for (Answer& a : list) ghosts_[qpn].push_back(a);
        list.clear();
        forgettable_.erase(qpn);
        ++anews;
      }
    }
    stale += dut_.cnt_ack_stale_o;
    if (dut_.s_ack_tready) ready_once = true;
    coalesced += dut_.cnt_ack_coalesced_o;
  }
  void on_reset() override {
    owed.clear();
    ghosts_.clear();
    taken = known = sent = coalesced = stale = ghosts = anews = 0;
    cfg_before_ = false;
    ready_once = false;
  }
  void got(const Bytes& beat) {
    const Answer a = unpack_packet(beat);
    ++sent;
    INFO("qpn ", a.qpn, " psn ", a.psn, " syndrome ", int(a.syndrome), " seed ", seed());
    auto& list = owed[a.qpn];
    // The latest of several that look alike.
    std::size_t at = list.size();
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].psn == a.psn && list[i].msn == a.msn && list[i].syndrome == a.syndrome) at = i;
    }
    if (at == list.size()) {
      // Not owed: only an answer from before a set-up that was on its way out may come, in order, each once.
      auto& old = ghosts_[a.qpn];
      std::size_t ghost = 0;
      while (ghost < old.size() &&
             !(old[ghost].psn == a.psn && old[ghost].msn == a.msn && old[ghost].syndrome == a.syndrome))
        ++ghost;
      REQUIRE_MESSAGE(ghost < old.size(),
                      "an answer that is not owed (made up, twice, or older than one already sent)");
      old.erase(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(ghost) + 1);
      ++ghosts;
      return;
    }
    // Skipped answers were replaced by newer ones; a duplicate's answer must not have replaced a NAK.
    for (std::size_t i = 0; i < at; ++i) {
      if ((list[i].syndrome >> 5) != 3) continue;
      bool newer = false;
      for (std::size_t k = i + 1; k <= at; ++k) newer = newer || !list[k].dup;
      REQUIRE_MESSAGE(newer, "the answer to a duplicate replaced a NAK");
    }
    // Duplicates' answers right behind a NAK may have been forgotten while it waited.
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    if ((a.syndrome >> 5) == 3)
      forgettable_[a.qpn] = true;
    else
      forgettable_.erase(a.qpn);
  }
  /// After everything came out: nothing is owed but answers that a NAK made superfluous, and the counter explains the
  /// rest.
  void check_done() {
    for (const auto& [qpn, list] : owed) {
      INFO("qpn ", qpn, " seed ", seed());
      for (const Answer& a : list) REQUIRE_MESSAGE((a.dup && forgettable_.count(qpn) != 0), "an answer was lost");
    }
    REQUIRE(sent + coalesced + stale == known);
  }

  std::map<std::uint32_t, std::deque<Answer>> owed;
  std::uint64_t taken = 0, known = 0, sent = 0, coalesced = 0, stale = 0;
  std::uint64_t ghosts = 0;  ///< answers sent after a set-up of their QP
  std::uint64_t anews = 0;
  bool ready_once = false;
  unsigned busy = 0;  ///< busy_i: 0, 1, or 2: at random

 private:
  Rng* rng_;
  Vdut& dut_;
  std::map<std::uint32_t, bool> forgettable_;
  std::map<std::uint32_t, std::deque<Answer>> ghosts_;
  unsigned idle_ = 0;
  bool cfg_before_ = false;
};

struct Bench {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        in(sim.rng(), Port(sim.dut.s_ack_tvalid, 1), Port(sim.dut.s_ack_tready, 1),
           Port(sim.dut.s_ack_tdata, Answer::kWidth)),
        out(sim.rng(), Port(sim.dut.m_pkt_tvalid, 1), Port(sim.dut.m_pkt_tready, 1),
            Port(sim.dut.m_pkt_tdata, kPktWidth)),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, QpCfg::kWidth)),
        score(sim.rng(), sim.dut) {
    for (Agent* a :
         {static_cast<Agent*>(&in), static_cast<Agent*>(&out), static_cast<Agent*>(&cfg), static_cast<Agent*>(&score)})
      sim.add(*a);
    out.on_beat = [this](const Bytes& beat) {
      score.got(beat);
      seen.push_back(unpack_packet(beat));
    };
    // Before the first edge in reset registers hold anything, and the RAMs' range assertion knows no reset.
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
    sim.run_until([this] { return sim.dut.ready_o != 0; }, kQps + 20);
  }
  void answer(std::uint32_t qpn, std::uint8_t syndrome, std::uint32_t psn, std::uint32_t msn, bool dup = false) {
    // What only other modules use must not matter here.
    in.push(
        Answer{qpn, syndrome, psn, msn, dup, sim.rng().percent(50), static_cast<std::uint32_t>(sim.rng().below(65536))}
            .pack());
  }
  /// A set-up of a QP (setup) or a change of its state.
  void configure(std::uint32_t qpn, bool setup, unsigned state) {
    QpCfg c;
    c.qpn = qpn;
    c.setup = setup;
    c.state = state;
    cfg.push(c.pack(sim.rng()));
  }
  /// Everything is taken and, after the longest possible way, sent.
  void settle() {
    sim.run_until([this] { return in.queue.empty(); }, 200'000);
    const unsigned busy = std::exchange(score.busy, 0);
    std::uint64_t before = 0;
    do {
      before = score.sent;
      sim.run(100);
    } while (score.sent != before);
    score.busy = busy;
    score.check_done();
  }
  std::vector<Answer> take() {
    settle();
    return std::exchange(seen, {});
  }

  Sim<Vdut> sim;
  StreamSource in;
  StreamSink out;
  StreamSource cfg;
  Scoreboard score;
  std::vector<Answer> seen;
};

/// What can be seen of answers in packets.
std::vector<Answer> list(std::initializer_list<Answer> answers) {
  std::vector<Answer> result = answers;
  for (Answer& a : result) a.dup = false;
  return result;
}

/// Fills the output with answers of QP 0 so that what comes later has to wait in the table.
void plug(Bench& b) {
  b.out.stall_percent = 100;
  for (unsigned i = 0; i < 8; ++i) {
    b.answer(0, 0x1F, 0xF00000 + i, 0);
    b.sim.run(20);
  }
}
/// Opens it again; the answers that came out behind the plug.
std::vector<Answer> unplug(Bench& b) {
  b.sim.run_until([&] { return b.in.queue.empty(); }, 10'000);
  b.sim.run(20);
  b.out.stall_percent = 0;
  std::vector<Answer> all = b.take();
  REQUIRE(all.size() >= 8);
  for (unsigned i = 0; i < 8; ++i) REQUIRE(all[i].psn == 0xF00000 + i);
  return {all.begin() + 8, all.end()};
}

}  // namespace

TEST_CASE("an answer becomes an ACK packet with every other field zero") {
  Bench b(1);
  b.answer(kQps - 1, 0x1F, 0xFFFFFF, 0x123456);
  CHECK(b.take() == list({{kQps - 1, 0x1F, 0xFFFFFF, 0x123456}}));
  b.answer(kQps - 1, 0x62, 0, 0xFFFFFF);
  CHECK(b.take() == list({{kQps - 1, 0x62, 0, 0xFFFFFF}}));
  CHECK(b.score.coalesced == 0);
}

TEST_CASE("the newest answer of a QP wins") {
  Bench b(2);
  plug(b);
  const std::uint32_t q = kQps - 1;
  b.answer(q, 0x1F, 1, 1);
  b.answer(q, 0x1F, 2, 2);
  b.answer(q, 0x1F, 3, 3);
  CHECK(unplug(b) == list({{q, 0x1F, 3, 3}}));
  CHECK(b.score.coalesced == 2);
}

TEST_CASE("a duplicate's answer does not replace a waiting NAK, anything else does") {
  Bench b(3);
  const std::uint32_t q = kQps - 1;
  plug(b);
  b.answer(q, 0x60, 5, 1);
  b.answer(q, 0x1F, 4, 1, true);
  b.answer(q, 0x1F, 4, 1, true);
  CHECK(unplug(b) == list({{q, 0x60, 5, 1}}));
  plug(b);
  b.answer(q, 0x60, 5, 1);
  b.answer(q, 0x1F, 4, 1, true);
  b.answer(q, 0x1F, 5, 2);
  b.answer(q, 0x1F, 5, 2, true);
  CHECK(unplug(b) == list({{q, 0x1F, 5, 2}}));
  plug(b);
  b.answer(q, 0x1F, 4, 1, true);
  b.answer(q, 0x61, 5, 1);
  CHECK(unplug(b) == list({{q, 0x61, 5, 1}}));
  plug(b);
  b.answer(q, 0x1F, 7, 1);
  b.answer(q, 0x1F, 6, 3, true);
  CHECK(unplug(b) == list({{q, 0x1F, 6, 3}}));
  plug(b);  // an RNR NAK (type 1) is no NAK that a duplicate's answer must spare
  b.answer(q, 0x21, 7, 1);
  b.answer(q, 0x1F, 6, 1, true);
  CHECK(unplug(b) == list({{q, 0x1F, 6, 1}}));
}

TEST_CASE("a set-up or RESET of a QP forgets its waiting answer, nothing else does") {
  const std::uint32_t q = kQps - 1;
  struct Row {
    bool setup;
    unsigned state;
    bool forgets;
  };
  unsigned salt = 40;
  for (const Row row : {Row{true, 3, true}, Row{true, 1, true}, Row{false, 0, true}, Row{false, 3, false},
                        Row{false, 5, false}, Row{false, 4, false}}) {
    for (const bool nak : {false, true}) {
      CAPTURE(row.setup);
      CAPTURE(row.state);
      Bench b(++salt);
      plug(b);
      b.answer(q, nak ? 0x60 : 0x1F, 1, 1);
      b.sim.run(20);
      b.configure(q, row.setup, row.state);
      b.configure(kQps, row.setup, row.state);  // no such QP
      b.sim.run(20);
      CHECK(b.cfg.queue.empty());
      CHECK(b.score.stale == (row.forgets ? 1 : 0));
      CHECK(b.score.ghosts == 0);
      if (!row.forgets) {
        CHECK(unplug(b) == list({{q, static_cast<std::uint8_t>(nak ? 0x60 : 0x1F), 1, 1}}));
        continue;
      }
      CHECK(unplug(b).empty());
      // The QP still had its place in the queue; after that it waits as if for the first time.
      plug(b);
      b.answer(q, nak ? 0x60 : 0x1F, 2, 2);
      b.sim.run(20);
      b.configure(q, row.setup, row.state);
      b.sim.run(20);
      b.answer(q, 0x1F, 3, 0, true);  // no NAK waits any longer that it would have to spare
      b.sim.run(20);
      CHECK(unplug(b) == list({{q, 0x1F, 3, 0, true}}));
      CHECK(b.score.stale == 2);
      CHECK(b.score.coalesced == 0);
    }
  }
}

TEST_CASE("the answers of all QPs forgotten, answered anew, forgotten: the queue has room for each once") {
  Bench b(60);
  plug(b);
  for (unsigned round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < kQps; ++i) b.answer(i, 0x1F, round + 1, i);
    b.sim.run_until([&] { return b.in.queue.empty(); }, 3 * kQps + 100);
    b.sim.run(20);
    if (round == 2) break;
    for (std::uint32_t i = 0; i < kQps; ++i) b.configure(i, true, 3);
    b.sim.run_until([&] { return b.cfg.queue.empty(); }, 3 * kQps + 100);
    b.sim.run(20);
  }
  CHECK(b.score.stale == 2 * kQps);
  const std::vector<Answer> got = unplug(b);
  REQUIRE(got.size() == kQps);
  for (const Answer& a : got) REQUIRE(a.psn == 3);
}

TEST_CASE("all QPs at once: each has its place, in the order in which they began to wait") {
  Bench b(4);
  b.out.stall_percent = 100;
  for (std::uint32_t i = 0; i < kQps; ++i) b.answer((i * 7 + 3) % kQps, 0x1F, i, i);
  const bool all = std::set<std::uint32_t>{7 % kQps}.size() == 1 && kQps % 7 != 0;
  b.sim.run_until([&] { return b.in.queue.empty(); }, 3 * kQps + 100);
  for (std::uint32_t i = 0; i < kQps; ++i) b.answer((i * 7 + 3) % kQps, 0x1F, i, i + kQps);
  b.sim.run_until([&] { return b.in.queue.empty(); }, 3 * kQps + 100);
  b.sim.run(30);
  b.out.stall_percent = 0;
  const std::vector<Answer> got = b.take();
  if (all) {
    // Up to eight were on their way out before their second answer came.
    REQUIRE(got.size() >= kQps);
    CHECK(got.size() <= kQps + 8);
    for (std::uint32_t i = 0; i < kQps; ++i) REQUIRE(got[i].qpn == (i * 7 + 3) % kQps);
  }
}

TEST_CASE("an answer every two cycles in and out together, one a cycle where only one side works") {
  Bench b(5);
  constexpr std::uint32_t kCount = 400;
  // One QP, back to back: coalesced, but never slower, and the last one comes.
  for (std::uint32_t i = 0; i < kCount; ++i) b.answer(0, 0x1F, i, i);
  const std::uint64_t start = b.sim.cycle();
  b.sim.run_until([&] { return b.in.queue.empty(); }, 2 * kCount + 10);
  CHECK(b.sim.cycle() - start <= 2 * kCount);
  CHECK(b.take().back() == Answer{0, 0x1F, kCount - 1, kCount - 1});
  if (kQps < 16) return;
  const std::uint32_t count = std::min<std::uint32_t>(kQps, 512);
  const std::uint64_t again = b.sim.cycle();
  for (std::uint32_t i = 0; i < count; ++i) b.answer(i, 0x1F, i, i);
  b.sim.run_until([&] { return b.seen.size() == count; }, 2 * count + 40);
  CHECK(b.sim.cycle() - again <= 2 * count + 30);
  b.take();
  if (kQps < 64) return;
  b.out.stall_percent = 100;
  for (std::uint32_t i = 0; i < count; ++i) b.answer(i, 0x1F, i, i);
  b.sim.run_until([&] { return b.in.queue.empty(); }, 2 * count + 40);
  b.sim.run(20);
  b.out.stall_percent = 0;
  const std::uint64_t drain = b.sim.cycle();
  b.sim.run_until([&] { return b.seen.size() == count; }, 2 * count + 40);
  CHECK(b.sim.cycle() - drain <= count + 30);
}

TEST_CASE("latency") {
  Bench b(6);
  b.answer(0, 0x1F, 1, 1);
  b.sim.run_until([&] { return b.score.taken == 1; }, 10);
  const std::uint64_t start = b.sim.cycle();
  b.sim.run_until([&] { return b.score.sent == 1; }, 30);
  MESSAGE("cycles from taken to offered: " << b.sim.cycle() - start - 1);
  CHECK(b.sim.cycle() - start <= 15);
}

TEST_CASE("QPNs beyond the table are taken and ignored") {
  Bench b(7);
  for (const std::uint32_t q : {kQps, kQps + 1, 0x800000U, 0xFFFFFFU}) b.answer(q, 0x1F, 1, 1);
  b.answer(0, 0x1F, 9, 9);
  CHECK(b.take() == list({{0, 0x1F, 9, 9}}));
}

TEST_CASE("random answers, stalls on both sides: nothing lost, made up, doubled or turned back") {
  constexpr unsigned kStalls[][2] = {{0, 0}, {0, 50}, {50, 0}, {70, 20}, {0, 90}, {20, 97}, {90, 0}};
  for (unsigned round = 0; round < 7; ++round) {
    Bench b(100 + round);
    Rng& rng = b.sim.rng();
    b.score.busy = 2;
    b.in.stall_percent = kStalls[round][0];
    b.out.stall_percent = kStalls[round][1];
    const std::uint32_t hot = static_cast<std::uint32_t>(std::min<std::uint64_t>(kQps, 1 + rng.below(6)));
    std::uint32_t serial = 0;
    for (unsigned cycle = 0; cycle < 20'000; ++cycle) {
      if (b.in.queue.size() < 2) {
        const auto q = static_cast<std::uint32_t>(rng.percent(90) ? rng.below(hot) : rng.below(kQps));
        const bool nak = rng.percent(30);
        ++serial;  // tells answers apart
        b.answer(q,
                 static_cast<std::uint8_t>(nak               ? 0x60 + rng.below(4)
                                           : rng.percent(10) ? 0x21
                                                             : 0x1F),
                 serial & kPsnMask, ~serial & kPsnMask, !nak && rng.percent(50));
      }
      if (round >= 3 && rng.below(40) == 0 && b.cfg.queue.empty())
        b.configure(static_cast<std::uint32_t>(rng.percent(90) ? rng.below(hot) : rng.below(kQps + 1)), rng.percent(50),
                    static_cast<unsigned>(rng.below(6)));
      b.sim.step();
      if (rng.below(500) == 0) b.out.stall_percent = kStalls[rng.below(7)][1];
    }
    b.out.stall_percent = 0;
    b.settle();
    CHECK(b.score.sent > 100);
    if (round != 6) CHECK(b.score.coalesced > 100);
    if (round >= 3 && round != 6) CHECK(b.score.stale > 20);
    if (round >= 3) CHECK(b.score.anews > 100);
    CHECK(b.score.ghosts <= 8 * b.score.anews);
  }
}

TEST_CASE("reset with answers waiting forgets them") {
  Bench b(8);
  b.out.stall_percent = 100;
  for (std::uint32_t i = 0; i < 40; ++i) b.answer(i % kQps, 0x1F, i, i);
  b.sim.run(60);
  b.in.queue.clear();
  b.sim.reset();
  b.out.stall_percent = 0;
  b.sim.run_until([&] { return b.sim.dut.ready_o != 0; }, kQps + 20);
  b.answer(0, 0x1F, 77, 7);
  CHECK(b.take() == list({{0, 0x1F, 77, 7}}));
}

TEST_CASE("a full line collects answers for HoldCycles, not longer; a NAK and a free line never wait") {
  Bench b(90);
  const std::uint32_t q = kQps - 1;
  const auto delay = [&](std::uint8_t syndrome) {
    b.score.busy = 1;
    b.sim.run(10);
    const std::uint64_t before = b.score.sent;
    b.answer(q, syndrome, 9, 1);
    std::uint64_t cycles = 0;
    while (b.score.sent == before && cycles < 3 * P_HoldCycles + 100) {
      b.sim.step();
      ++cycles;
    }
    return cycles;
  };
  const std::uint64_t ack = delay(0x1F);
  const std::uint64_t nak = delay(0x60);
  CHECK(nak < 25);
  if (P_HoldCycles == 0) {
    CHECK(ack < 20);
    return;
  }
  CHECK(ack >= P_HoldCycles);
  CHECK(ack < P_HoldCycles + 25);
  b.score.busy = 0;
  b.sim.run(10);
  b.answer(q, 0x1F, 10, 1);
  b.sim.run(20);
  CHECK(b.score.sent == 3);
  // A steady stream of answers of one QP becomes one in HoldCycles.
  b.score.busy = 1;
  b.sim.run(10);
  const std::uint64_t before = b.score.sent;
  const std::uint64_t rounds = 8;
  for (std::uint64_t i = 0; i < rounds * P_HoldCycles / 4; ++i) {
    b.answer(q, 0x1F, static_cast<std::uint32_t>(i), 1);
    b.sim.run(4);
  }
  CHECK(b.score.sent - before <= rounds + 1);
  CHECK(b.score.sent - before >= rounds - 3);
  b.settle();
}
