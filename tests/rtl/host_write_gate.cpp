// Bench of write_gate: records come out in order, each not before its writes are done, with the truth about its QP.
#include <map>
#include <optional>

#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/rq_model.h"

using namespace rocegen::bench;
using rocegen::bench::rq::QpCfg;

namespace {

constexpr std::uint32_t kQps = P_QpCount;
constexpr std::size_t kWidth = P_Width;
constexpr std::size_t kTagLsb = P_TagLsb, kQpnLsb = P_QpnLsb, kSynLsb = P_SynLsb;
constexpr unsigned kDepth = P_Depth, kSlack = P_Slack, kDropErr = P_DropErr;
constexpr unsigned kDrain = P_Drain, kSettle = P_Settle;
constexpr int kPsnLsb = P_PsnLsb, kPsnCount = P_PsnCount;  // -1: no PSN
constexpr bool kPsn = kPsnLsb >= 0;
/// Cycles that a set-up takes when nothing is in its way, and some more.
constexpr unsigned kSetup = kSettle + 12 + (kPsn ? 1 : 0);

bool psn_before(std::uint64_t a, std::uint64_t b) { return ((a - b) & 0x800000) != 0; }

/// A fatal NAK, as its AETH says.
bool fatal(std::uint64_t syndrome) { return (syndrome & 0x60) == 0x60 && (syndrome & 0x1F) != 0; }

/// Plays memory (done pulses) and checks what leaves. `sent` counts the write commands so far: the tag of a record that
/// enters now.
class Memory : public Agent {
 public:
  Memory(Vdut& dut, Rng& rng) : dut_(dut), rng_(rng) {}
  void drive() override {
    dut_.sent_i = static_cast<std::uint16_t>(sent);
    dut_.done_valid_i = 0;
    dut_.done_err_i = rng_.percent(50) ? 1 : 0;
    dut_.done_qpn_i = static_cast<std::uint32_t>(rng_.next()) & rq::kQpnMask;
    dut_.done_psn_i = static_cast<std::uint32_t>(rng_.next()) & 0xFFFFFF;
    if (writes.empty() || !rng_.percent(speed)) return;
    dut_.done_valid_i = 1;
    dut_.done_err_i = writes.front().err ? 1 : 0;
    dut_.done_qpn_i = writes.front().qpn;
    dut_.done_psn_i = writes.front().psn;
  }
  void sample() override {
    ++now;
    Write news{kQps, false, 0};
    if (dut_.done_valid_i) {
      news = writes.front();
      writes.pop_front();
      ++done;
      last_done = now;
      if (!kPsn) note(news);
    }
    drain();
    if (dut_.s_cfg_tvalid && dut_.s_cfg_tready) {
      const Bytes cfg = Port(dut_.s_cfg_tdata, QpCfg::kWidth).value();
      const auto qpn = static_cast<std::uint32_t>(get_field(cfg, QpCfg::kWidth - 25, 24));
      // Cleared within some cycles: until then either answer is right.
      if (get_field(cfg, QpCfg::kWidth - 1, 1) != 0) {
        if (failed_since_.erase(qpn) != 0) failed_until_[qpn] = now;
        unsure_[qpn] = now;
      }
    }
    // With PSNs a pulse counts a cycle later: behind a set-up of its own cycle.
    if (kPsn) note(news);
    if (dut_.s_rec_tvalid && dut_.s_rec_tready) {
      held.push_back(Port(dut_.s_rec_tdata, kWidth).value());
      entered_at.push_back(now);
      tags.push_back(full_tags.front());
      full_tags.pop_front();
      ++entered;
    }
    const bool valid = dut_.m_rec_tvalid != 0;
    if (valid && !shown_) appear();
    shown_ = valid && dut_.m_rec_tready == 0;
    if (!dut_.room_o) ++no_room;
    REQUIRE_MESSAGE((dut_.s_rec_tready != 0 || dut_.room_o == 0), "full although room_o promised Slack places");
  }
  void on_reset() override {
    writes.clear();
    failed_since_.clear();
    failed_psn_.clear();
    failed_until_.clear();
    unsure_.clear();
    held.clear();
    tags.clear();
    full_tags.clear();
    entered_at.clear();
    sent = done = 0;
    waiting_ = shown_ = false;
    dut_.done_valid_i = 0;
  }
  void command(std::uint32_t qpn, bool err) { command(qpn, err, static_cast<std::uint32_t>(rng_.next()) & 0xFFFFFF); }
  void command(std::uint32_t qpn, bool err, std::uint32_t psn) {
    writes.push_back({qpn, err, psn});
    ++sent;
  }
  /// Records that may still be dropped leave the model when a later one appears, or here.
  void settle() {
    while (!held.empty()) {
      INFO("seed ", seed());
      REQUIRE_MESSAGE(may_drop(held.front()), "a record was lost");
      pop();
    }
  }

  struct Write {
    std::uint32_t qpn;
    bool err;
    std::uint32_t psn;
  };
  std::deque<Write> writes;
  Bytes last;  // record that left
  std::deque<Bytes> held;
  std::deque<std::uint64_t> tags, full_tags, entered_at;
  std::uint64_t sent = 0, done = 0, now = 0, last_done = 0;
  std::uint64_t left = 0, dropped = 0, with_err = 0, no_room = 0, entered = 0;
  std::uint64_t taken = 0, longest = 0;  // set-ups, and the most cycles that one had to wait
  std::uint64_t fastest = ~std::uint64_t{0}, fastest_done = ~std::uint64_t{0};
  unsigned speed = 50;

 private:
  void note(const Write& w) {
    if (!w.err || w.qpn >= kQps) return;
    if (failed_since_.count(w.qpn) == 0) {
      former_psn_[w.qpn] = failed_psn_.count(w.qpn) != 0 ? failed_psn_[w.qpn] : w.psn;
      failed_psn_[w.qpn] = w.psn;
    }
    failed_since_[w.qpn] = now;
  }
  /// Nothing from before a set-up is left when it is taken; what came later does not hold it.
  void drain() {
    if (!dut_.s_cfg_tvalid) return;
    if (!waiting_) {
      waiting_ = true;
      free_ = 0;
      since_ = now;
      due_ = false;
      idle_ = 0;
      return;
    }
    const bool blocked = dut_.s_rec_tvalid && !dut_.s_rec_tready;
    if (free_ < kSettle && (kDrain == 0 || !blocked)) {
      ++free_;
      writes_due_ = sent;
      records_due_ = entered;
    }
    const std::uint64_t gone = left + dropped - (shown_ ? 1 : 0);
    const bool records = kDrain == 0 || gone >= records_due_;
    if (!due_ && free_ == kSettle && done >= writes_due_ && records) due_ = true;
    if (dut_.s_cfg_tready) {
      INFO("seed ", seed(), " set-up ", taken);
      REQUIRE_MESSAGE(free_ == kSettle, "a set-up was taken too early");
      REQUIRE_MESSAGE(done >= writes_due_, "a write of a former life was under way at a set-up");
      if (kDrain != 0 && !records) {
        REQUIRE_MESSAGE(!shown_, "a record of a former life was left at a set-up");
        for (std::uint64_t i = gone; i < records_due_; ++i)
          REQUIRE_MESSAGE(droppable(held[i - gone]), "a record of a former life was left at a set-up");
      }
      ++taken;
      longest = std::max(longest, now - since_);
      waiting_ = false;
    } else if (due_ && kDropErr == 0) {
      // The table of failures has one write port.
      if (!dut_.done_valid_i || !dut_.done_err_i) ++idle_;
      REQUIRE_MESSAGE(idle_ < (kPsn ? 9U : 8U), "a set-up waits for nothing");
    }
  }
  static std::uint32_t qpn_of(const Bytes& rec) { return static_cast<std::uint32_t>(get_field(rec, kQpnLsb, 24)); }
  static bool droppable(const Bytes& rec) {
    return kDropErr == 1 || (kDropErr == 2 && !fatal(get_field(rec, kSynLsb, 8)));
  }
  /// What a record becomes when a write of its QP has failed: none of its PSNs lies beyond that.
  static Bytes held_back(Bytes rec, const std::map<std::uint32_t, std::uint64_t>& psns) {
    const auto failed = psns.find(qpn_of(rec));
    if (!kPsn || failed == psns.end()) return rec;
    for (int i = 0; i < kPsnCount; ++i) {
      const auto lsb = static_cast<std::size_t>(kPsnLsb + 24 * i);
      if (!psn_before(get_field(rec, lsb, 24), failed->second)) set_field(rec, lsb, 24, failed->second);
    }
    if (kDropErr == 2) set_field(rec, kSynLsb, 8, 0x63);
    return rec;
  }
  /// What m_rec_tuser may be. A failure or a set-up of the last few cycles may be seen or not.
  std::pair<bool, bool> answers(std::uint32_t qpn) const {  // may be 0, may be 1
    bool may0 = true, may1 = false;
    if (qpn < kQps) {
      const auto failed = failed_since_.find(qpn);
      const auto unsure = unsure_.find(qpn);
      may1 = failed != failed_since_.end();
      may0 = !may1 || now - failed->second < kLag + stalled_;
      if (unsure != unsure_.end() && now - unsure->second < kLag + stalled_) may1 = may0 = true;
    }
    return {may0, may1};
  }
  /// A record is dropped at any time between its coming in and now.
  bool may_drop(const Bytes& rec) const {
    const std::uint32_t qpn = qpn_of(rec);
    if (!droppable(rec) || qpn >= kQps) return false;
    const auto until = failed_until_.find(qpn);
    return failed_since_.count(qpn) != 0 || (until != failed_until_.end() && until->second + kLag > entered_at.front());
  }
  void pop() {
    held.pop_front();
    tags.pop_front();
    entered_at.pop_front();
    ++dropped;
  }
  void appear() {
    const Bytes rec = Port(dut_.m_rec_tdata, kWidth).value();
    INFO("seed ", seed(), " record ", left + dropped);
    const bool err = dut_.m_rec_tuser != 0;
    // What was looked up before a set-up may leave behind the next failure.
    const auto is = [&](const Bytes& in) {
      return err ? held_back(in, failed_psn_) == rec || held_back(in, former_psn_) == rec : in == rec;
    };
    while (!held.empty() && !is(held.front())) {
      REQUIRE_MESSAGE(may_drop(held.front()), "a record is missing or out of order");
      pop();
    }
    REQUIRE_MESSAGE(!held.empty(), "a record that never came in");
    REQUIRE_MESSAGE(tags.front() <= done, "a record left before its data was in memory");
    const auto [may0, may1] = answers(qpn_of(rec));
    if (err) REQUIRE_MESSAGE(may1, "a failure that did not happen");
    if (!err) REQUIRE_MESSAGE(may0, "a failed write was kept quiet");
    REQUIRE_MESSAGE((!err || !droppable(held.front())), "a record that had to be dropped");
    last = rec;
    fastest = std::min(fastest, now - entered_at.front());
    if (tags.front() == done) fastest_done = std::min(fastest_done, now - last_done);
    held.pop_front();
    tags.pop_front();
    entered_at.pop_front();
    ++left;
    with_err += err ? 1 : 0;
  }
  static constexpr std::uint64_t kLag = kPsn ? 7 : 6;

 public:
  std::uint64_t stalled_ = 0;  ///< longest that a record may stand behind the look-up

 private:
  Vdut& dut_;
  Rng& rng_;
  std::map<std::uint32_t, std::uint64_t> failed_since_, failed_until_, unsure_, failed_psn_, former_psn_;
  bool shown_ = false;
  bool waiting_ = false;
  bool due_ = false;  // the set-up has nothing to wait for
  unsigned free_ = 0, idle_ = 0;
  std::uint64_t since_ = 0, writes_due_ = 0, records_due_ = 0;
};

struct Bench {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        in(sim.rng(), Port(sim.dut.s_rec_tvalid, 1), Port(sim.dut.s_rec_tready, 1), Port(sim.dut.s_rec_tdata, kWidth)),
        out(sim.rng(), Port(sim.dut.m_rec_tvalid, 1), Port(sim.dut.m_rec_tready, 1), Port(sim.dut.m_rec_tdata, kWidth)),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, QpCfg::kWidth)),
        memory(sim.dut, sim.rng()) {
    for (Agent* a :
         {static_cast<Agent*>(&in), static_cast<Agent*>(&out), static_cast<Agent*>(&cfg), static_cast<Agent*>(&memory)})
      sim.add(*a);
    // Before the first edge in reset registers hold anything, and the RAMs' range assertion knows no reset.
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
    sim.run_until([this] { return sim.dut.ready_o != 0; }, kQps + 20);
  }
  /// A record behind all write commands so far.
  void record(std::uint32_t qpn, std::optional<unsigned> syndrome = {}, std::optional<std::uint32_t> psn = {}) {
    Bytes rec = sim.rng().bits(kWidth);
    set_field(rec, kQpnLsb, 24, qpn);
    set_field(rec, kTagLsb, 16, memory.sent & 0xFFFF);
    if (syndrome) set_field(rec, kSynLsb, 8, *syndrome);
    for (int i = 0; kPsn && psn && i < kPsnCount; ++i)
      set_field(rec, static_cast<std::size_t>(kPsnLsb + 24 * i), 24, *psn);
    memory.full_tags.push_back(memory.sent);
    in.push(rec);
  }
  void configure(std::uint32_t qpn, bool setup) {
    QpCfg c;
    c.qpn = qpn;
    c.setup = setup;
    c.state = static_cast<unsigned>(sim.rng().below(6));
    cfg.push(c.pack(sim.rng()));
  }
  Sim<Vdut> sim;
  StreamSource in;
  StreamSink out;
  StreamSource cfg;
  Memory memory;
};

}  // namespace

TEST_CASE("a record waits for its writes and for no more; latency") {
  Bench b(1);
  b.memory.speed = 0;
  b.record(0);
  b.sim.run(20);
  CHECK(b.memory.left == 1);
  for (unsigned i = 0; i < 3; ++i) b.memory.command(kQps - 1, false);
  b.record(0);
  b.memory.command(0, false);
  b.record(0);
  b.sim.run(50);
  CHECK(b.memory.left == 1);
  b.memory.speed = 100;
  b.sim.run(3);
  b.memory.speed = 0;
  b.sim.run(20);
  CHECK(b.memory.left == 2);
  CHECK(b.memory.writes.size() == 1);
  b.memory.speed = 100;
  b.sim.run(20);
  CHECK(b.memory.left == 3);
  CHECK(b.memory.fastest == 4);
  CHECK(b.memory.fastest_done == (kPsn ? 4 : 3));
}

TEST_CASE("a record a cycle") {
  Bench b(2);
  for (unsigned i = 0; i < 500; ++i) b.record(static_cast<std::uint32_t>(b.sim.rng().below(kQps)));
  const std::uint64_t start = b.sim.cycle();
  b.sim.run_until([&] { return b.memory.left == 500; }, 600);
  CHECK(b.sim.cycle() - start <= 510);
}

TEST_CASE("room_o falls with Slack places left, and comes back") {
  Bench b(3);
  b.memory.speed = 0;
  b.memory.command(0, false);
  unsigned pushed = 0;
  while (b.sim.dut.room_o != 0 && pushed < 2 * kDepth) {
    b.record(0);
    b.sim.run(4);
    ++pushed;
  }
  CHECK(pushed == kDepth - kSlack);
  for (unsigned i = 0; i < kSlack; ++i) b.record(0);
  b.sim.run(4 * kSlack + 10);
  CHECK(b.in.queue.empty());
  b.record(0);
  b.sim.run(50);
  CHECK(b.in.queue.size() == 1);
  CHECK(b.memory.left == 0);
  b.memory.speed = 100;
  b.sim.run(4 * kDepth);
  CHECK(b.memory.left == kDepth + 1);
  CHECK(b.sim.dut.room_o == 1);
}

TEST_CASE("a failed write: told for its QP until a set-up, for no other") {
  Bench b(4);
  b.memory.speed = 100;
  b.memory.command(0, true);
  b.memory.command(kQps, true);
  b.memory.command(0xFFFFFF, true);
  b.sim.run(20);
  const auto send = [&](std::uint32_t qpn, unsigned syndrome) {
    const auto before = std::pair(b.memory.left, b.memory.with_err);
    b.record(qpn, syndrome);
    b.sim.run(20);
    return std::pair(b.memory.left - before.first, b.memory.with_err - before.second);
  };
  using Result = std::pair<std::uint64_t, std::uint64_t>;
  const Result ack = kDropErr == 0 ? Result{1, 1} : Result{0, 0};
  const Result nak = kDropErr == 1 ? Result{0, 0} : Result{1, 1};  // it stands for the failure
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(send(0, 0x1F) == ack);
    CHECK(send(0, 0x00) == ack);
    CHECK(send(0, 0x63) == nak);
    CHECK(send(0, 0x2C) == ack);
    CHECK(send(0, 0x62) == nak);
    CHECK(send(0, 0x61) == nak);
    CHECK(send(0, 0x60) == ack);
    CHECK(send(kQps, 0x1F) == Result{1, 0});
    CHECK(send(0xFFFFFF, 0x1F) == Result{1, 0});
    if (kQps > 1) CHECK(send(kQps - 1, 0x1F) == Result{1, 0});
    b.configure(0, false);
    b.configure(kQps, true);
    b.sim.run(2 * kSetup);
    CHECK(b.cfg.queue.empty());
  }
  b.configure(0, true);
  b.sim.run(kSetup);
  CHECK(b.cfg.queue.empty());
  CHECK(send(0, 0x1F) == Result{1, 0});
  b.memory.command(0, true);
  b.sim.run(20);
  CHECK(send(0, 0x1F) == ack);
  b.memory.settle();
}

TEST_CASE("nothing leaves with a PSN beyond the first write that failed, whatever fails behind it") {
  if (!kPsn) return;
  Bench b(9);
  b.memory.speed = 100;
  const auto psn_of = [&](unsigned syndrome, std::uint32_t psn) {
    const auto before = b.memory.left;
    b.record(0, syndrome, psn);
    b.sim.run(20);
    REQUIRE(b.memory.left == before + 1);
    const auto out = get_field(b.memory.last, static_cast<std::size_t>(kPsnLsb), 24);
    if (kPsnCount == 2) CHECK(get_field(b.memory.last, static_cast<std::size_t>(kPsnLsb + 24), 24) == out);
    if (kDropErr == 2) CHECK(get_field(b.memory.last, kSynLsb, 8) == (b.memory.with_err != 0 ? 0x63 : syndrome));
    return out;
  };
  CHECK(psn_of(0x61, 7) == 7);
  // Two in a row, the PSNs around the wrap; then others, at once and later.
  for (const std::uint32_t psn : {0xFFFFFFU, 0x000000U, 0x000001U}) b.memory.command(0, true, psn);
  b.memory.command(kQps, true, 5);
  b.sim.run(20);
  b.memory.command(0, true, 2);
  b.sim.run(20);
  CHECK(psn_of(0x61, 3) == 0xFFFFFF);
  CHECK(psn_of(0x62, 0xFFFFFF) == 0xFFFFFF);
  CHECK(psn_of(0x63, 0) == 0xFFFFFF);
  CHECK(psn_of(0x63, 0xFFFFFE) == 0xFFFFFE);
  CHECK(b.memory.with_err == 4);
  b.configure(0, true);
  b.sim.run(kSetup);
  b.memory.command(0, true, 9);
  b.sim.run(20);
  CHECK(psn_of(0x61, 20) == 9);
}

TEST_CASE("set-ups are taken however many writes fail, and records come") {
  Bench b(5);
  b.memory.speed = 90;
  const auto some = [&] { return static_cast<std::uint32_t>(b.sim.rng().below(kQps)); };
  for (unsigned i = 0; i < 20 * (kSetup + 60); ++i) {
    while (b.memory.writes.size() < 20) b.memory.command(some(), true);
    if (b.in.queue.size() < 2) b.record(some());
    if (b.cfg.queue.empty()) b.configure(some(), true);
    b.sim.step();
  }
  CHECK(b.memory.taken >= 19);
  if (kDropErr == 0) CHECK(b.memory.longest < kSetup + 100 + 2 * kDepth);
}

TEST_CASE("a set-up waits for what is inside, what is on its way, and the writes without a record") {
  Bench b(7);
  b.memory.speed = 0;
  // Nothing inside: the time that records may be on their way.
  b.configure(0, true);
  b.sim.run_until([&] { return b.cfg.queue.empty(); }, kSetup);
  CHECK(b.memory.longest >= kSettle);
  // A record that comes in just before the time is over belongs to the former life, one later does not.
  b.memory.command(0, false);
  b.configure(0, true);
  b.sim.run(kSettle - 1);
  b.record(0);
  b.sim.run(100);
  CHECK(b.cfg.queue.size() == 1);
  b.memory.command(0, false);
  b.record(0);
  b.sim.run(20);
  b.memory.speed = 100;
  b.sim.step();
  b.memory.speed = 0;
  CHECK(b.memory.done == 1);
  b.sim.run(12);
  CHECK(b.cfg.queue.empty());
  CHECK(b.memory.left == 1);
  b.memory.speed = 100;
  b.sim.run(12);
  CHECK(b.memory.left == 2);
  // A write that no record follows, and that fails: the new life does not hear of it.
  b.memory.speed = 0;
  b.memory.command(0, true);
  b.configure(0, true);
  b.sim.run(kSetup + 50);
  CHECK(b.cfg.queue.size() == 1);
  b.memory.speed = 100;
  b.sim.run(12);
  CHECK(b.cfg.queue.empty());
  b.record(0, 0x1F);
  b.sim.run(12);
  CHECK(b.memory.left == 3);
  CHECK(b.memory.with_err == 0);
}

TEST_CASE("a consumer that stalls for ever holds set-ups of a gate that drains, of no other") {
  Bench b(8);
  b.memory.speed = 100;
  b.out.stall_percent = 100;
  for (unsigned i = 0; i < kDepth + 8; ++i) b.record(0);
  b.sim.run(4 * kDepth);
  CHECK(!b.in.queue.empty());
  b.configure(0, true);
  b.sim.run(kSetup + 100);
  CHECK(b.cfg.queue.size() == (kDrain != 0 ? 1 : 0));
  // What stood in front of the full FIFO is counted as well.
  b.out.stall_percent = 0;
  b.sim.run(kDepth + 8 + kSetup);
  CHECK(b.cfg.queue.empty());
  CHECK(b.memory.left == kDepth + 8);
}

TEST_CASE("random: order, truth and nothing lost, over the wrap of the tags") {
  struct Round {
    unsigned in, out, speed, err;
    std::size_t writes;  // under way at most; set-ups wait for them
  };
  const Round rounds[] = {
      {0, 0, 100, 0, 300}, {0, 0, 50, 2, 60}, {50, 20, 30, 5, 20}, {20, 70, 90, 10, 300}, {0, 40, 60, 1, 40}};
  for (unsigned round = 0; round < 5; ++round) {
    Bench b(100 + round);
    Rng& rng = b.sim.rng();
    b.in.stall_percent = rounds[round].in;
    b.out.stall_percent = rounds[round].out;
    b.memory.speed = rounds[round].speed;
    // A stalled output keeps what was looked up before.
    b.memory.stalled_ = rounds[round].out == 0 ? 0 : 60;
    const auto qpn = [&] {
      return static_cast<std::uint32_t>(rng.percent(3) ? kQps + rng.below(3)
                                                       : rng.below(std::min<std::uint32_t>(kQps, 6)));
    };
    for (unsigned i = 0; i < (round == 0 ? 80'000U : 60'000U); ++i) {
      if (b.memory.writes.size() < rounds[round].writes && rng.percent(80)) {
        for (unsigned k = rng.percent(90) ? 1 : 3; k > 0; --k) b.memory.command(qpn(), rng.percent(rounds[round].err));
      }
      if (b.in.queue.size() < 3 && rng.percent(60)) b.record(qpn());
      if (rng.below(30) == 0 && b.cfg.queue.empty()) b.configure(qpn(), rng.percent(70));
      b.sim.step();
    }
    b.out.stall_percent = 0;
    b.memory.speed = 100;
    b.sim.run(2000);
    CHECK(b.in.queue.empty());
    CHECK(b.cfg.queue.empty());
    CHECK(b.memory.taken > 30);
    b.memory.settle();
    if (round == 0) CHECK(b.memory.sent > 66'000);
    if (round == 0) CHECK(b.memory.with_err + b.memory.dropped == 0);
    if (round != 0) CHECK(b.memory.with_err + b.memory.dropped > 100);
    CHECK(b.memory.left + b.memory.dropped > std::min(1500U, 40 * kDepth));
    CHECK(b.memory.left > 100);
  }
}

TEST_CASE("reset forgets records, counts and failures") {
  Bench b(6);
  b.memory.speed = 100;
  b.memory.command(0, true);
  b.sim.run(10);
  b.memory.speed = 0;
  b.memory.command(0, false);
  for (unsigned i = 0; i < 3; ++i) b.record(0);
  b.sim.run(20);
  b.in.queue.clear();
  b.sim.reset();
  b.sim.run_until([&] { return b.sim.dut.ready_o != 0; }, kQps + 20);
  const std::uint64_t left = b.memory.left;
  b.record(0);
  b.sim.run(20);
  CHECK(b.memory.left == left + 1);
  CHECK(b.memory.with_err == 0);
}
