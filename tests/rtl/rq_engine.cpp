// Bench of rq_engine: a model of every ring, exact to the cycle, beside a responder that consumes entries.
//
// The model follows what can be seen at the pins: an entry is in its ring when cnt_rq_rqes_o pulses, a set-up is in
// force when it is taken, a completion has been decided when m_cqe shows it. From these it knows what every look-up
// must return, and of each entry where it is and what may become of it.
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/rq_model.h"

using namespace rocegen::bench;
using namespace rocegen::bench::rq;

namespace {

constexpr std::uint32_t kQps = P_QpCount, kSrqs = P_SrqCount, kSlots = P_RqeSlots;
constexpr std::uint32_t kRows = kQps + kSrqs;

enum class Mode { closed, open, flushed };

/// A ring as the model knows it.
struct RingModel {
  Mode mode = Mode::closed;
  Ring told;                       // what rq_ring_o must show
  std::deque<Rqe> entries;         // posted, neither consumed nor flushed nor dropped; the oldest is number tail - size
  bool wanted = false;             // a mark was taken: entries are flushed
  std::deque<std::uint64_t> late;  // dropped by a set-up; flushes of the first two may have been on their way
  unsigned late_left = 0;
  std::uint32_t size() const { return 1U << told.log2; }
  std::uint32_t head() const { return (told.tail - static_cast<std::uint32_t>(entries.size())) & kIdxMask; }
};

class Model : public Agent {
 public:
  Model(Vdut& dut, Rng& rng) : dut_(dut), rng_(rng), rings(kRows) {}

  // ---- rx_responder's look-ups: something in every cycle, what the user asked for first ------------
  void drive() override {
    dut_.rq_row_i = row_asked_ ? *row_asked_ : random_row();
    dut_.rq_slot_i = slot_asked_ ? *slot_asked_ : static_cast<std::uint32_t>(rng_.below(kSlots));
    row_asked_.reset();
    slot_asked_.reset();
    // The gate's word on the record that rcq offers, constant with it: some bit of the record.
    dut_.s_rcq_tuser = static_cast<std::uint8_t>(dut_.s_rcq_tvalid ? err_of(Port(dut_.s_rcq_tdata, Rcq::kWidth).value())
                                                                   : rng_.below(2));
    dut_.head_we_i = 0;
    dut_.head_row_i = static_cast<std::uint32_t>(rng_.next()) & kQpnMask;
    dut_.head_i = static_cast<std::uint32_t>(rng_.next()) & kIdxMask;
    dut_.head_gen_i = static_cast<std::uint8_t>(rng_.below(16));
    if (!heads_.empty()) {
      dut_.head_we_i = 1;
      dut_.head_row_i = heads_.front().row;
      dut_.head_gen_i = static_cast<std::uint8_t>(heads_.front().gen);
      dut_.head_i = heads_.front().head;
      heads_.pop_front();
    } else if (rng_.percent(10)) {
      dut_.head_we_i = 1;  // of a ring that does not exist: no effect
      dut_.head_row_i = kRows + static_cast<std::uint32_t>(rng_.below(3));
    }
  }
  void ask_row(std::uint32_t row) { row_asked_ = row; }
  void ask_slot(std::uint32_t slot) { slot_asked_ = slot; }
  void tell_head(std::uint32_t row, unsigned gen, std::uint32_t head) { heads_.push_back({row, gen, head & kIdxMask}); }
  bool heads_told() const { return heads_.empty(); }

  void sample() override {
    ++now;
    // An entry was written in the cycle before.
    if (dut_.cnt_rq_rqes_o) accept();
    rejected_counted += dut_.cnt_rq_rqes_rejected_o;
    flushed_counted += dut_.cnt_rq_flushed_o;
    completed_counted += dut_.cnt_rq_completions_o;
    full_counted += dut_.cnt_rq_ring_full_o;
    check_look_ups();
    if (dut_.m_cqe_tvalid && !cqe_shown_) completion(Cqe::unpack(Port(dut_.m_cqe_tdata, 256).value()));
    cqe_shown_ = dut_.m_cqe_tvalid != 0 && dut_.m_cqe_tready == 0;
    take_set_ups();
    if (dut_.s_rcq_tvalid && dut_.s_rcq_tready) take_rcq();
    if (dut_.s_rqe_tvalid && dut_.s_rqe_tready) {
      REQUIRE_FALSE(offered_rqes.empty());
      taken_.push_back(offered_rqes.front());
      offered_rqes.pop_front();
      since_.push_back(now);
      taken_at[taken_.back().slot.wr_id] = now;
    }
  }

  void on_reset() override {
    rings.assign(kRows, {});
    taken_.clear();
    since_.clear();
    offered_rqes.clear();
    offered_rcqs.clear();
    rcqs_.clear();
    heads_.clear();
    modes_.clear();
    slots_.clear();
    want_ring_.clear();
    want_slot_.clear();
    told_head_.clear();
    cqe_shown_ = false;
    dut_.head_we_i = 0;
  }

  static std::optional<std::uint32_t> row_of(const Rqe& e) {
    if (e.qpn >= (e.shared() ? kSrqs : kQps)) return std::nullopt;
    return e.shared() ? kQps + e.qpn : e.qpn;
  }

  /// The responder took the oldest entry of a ring.
  Rqe consume(std::uint32_t row) {
    RingModel& r = rings[row];
    REQUIRE_FALSE(r.entries.empty());
    const Rqe e = r.entries.front();
    r.entries.pop_front();
    return e;
  }

  /// Nothing is on its way: every entry is in a ring, every ring that had to be flushed is.
  void check_quiet() {
    REQUIRE(taken_.empty());
    REQUIRE(rcqs_.empty());
    for (std::uint32_t row = 0; row < kRows; ++row) {
      RingModel& r = rings[row];
      INFO("row ", row, " seed ", seed());
      if (r.wanted) {
        REQUIRE_MESSAGE(r.entries.empty(), "a ring was not flushed to its end");
        r.wanted = false;
        set_mode(row, Mode::flushed);
      }
    }
    REQUIRE(rejected_counted == rejected);
    REQUIRE(flushed_counted == flushed + flushed_at_once);
    REQUIRE(completed_counted == completed);
    REQUIRE(accepted + rejected + flushed_at_once == static_cast<std::uint64_t>(taken_at.size()) - forgotten);
  }

  std::deque<Rqe> offered_rqes;
  std::deque<Rcq> offered_rcqs;
  std::deque<std::pair<Rcq, bool>> rcqs_;  // taken completions with err, not yet seen on m_cqe
  std::unordered_map<std::uint64_t, std::uint64_t> taken_at, accepted_at;
  std::uint64_t now = 0, accepted = 0, rejected = 0, flushed = 0, flushed_at_once = 0, completed = 0, marks = 0,
                stale_marks = 0, dropped = 0, late_flushes = 0, forgotten = 0;
  std::uint64_t rejected_counted = 0, flushed_counted = 0, completed_counted = 0, full_counted = 0;
  std::uint64_t longest_cfg = 0, write_errs = 0;
  std::optional<Ring> ring_seen;
  std::optional<Slot> slot_seen;
  std::deque<QpCfg> offered_cfgs;
  std::deque<SrqCfg> offered_srqs;

 private:
  static bool err_of(const Bytes& rcq) { return get_field(rcq, 96, 1) != 0; }
  std::uint32_t random_row() {
    switch (rng_.below(8)) {
      case 0:
        return kRows + static_cast<std::uint32_t>(rng_.below(4));
      case 1:
        return static_cast<std::uint32_t>(rng_.next()) & kQpnMask;
      case 2:
        return static_cast<std::uint32_t>(rng_.below(kRows)) | 1U << rng_.below(24);
      case 3:
        return static_cast<std::uint32_t>(rng_.below(kRows));
      default:
        return static_cast<std::uint32_t>(rng_.below(std::min<std::uint32_t>(kRows, 6)));
    }
  }

  void set_mode(std::uint32_t row, Mode mode) {
    rings[row].mode = mode;
    modes_[row].emplace_back(now, mode);
    if (modes_[row].size() > 64) modes_[row].pop_front();
  }
  /// Was the ring ever in one of these modes from `since` on?
  bool was(std::uint32_t row, std::uint64_t since, Mode mode) const {
    if (rings[row].mode == mode) return true;
    const auto list = modes_.find(row);
    if (list == modes_.end()) return mode == Mode::closed;
    Mode before = Mode::closed;
    for (const auto& [at, what] : list->second) {
      if (at >= since && before == mode) return true;  // until `at`
      before = what;
    }
    return false;
  }

  void accept() {
    REQUIRE_FALSE(taken_.empty());
    const Rqe e = taken_.front();
    taken_.pop_front();
    since_.pop_front();
    const auto row = row_of(e);
    INFO("qpn ", e.qpn, " flags ", e.flags, " wr_id ", e.slot.wr_id, " cycle ", now, " seed ", seed());
    REQUIRE(row.has_value());
    REQUIRE_FALSE(e.malformed());
    RingModel& r = rings[*row];
    REQUIRE_MESSAGE(r.mode == Mode::open, "an entry went into a ring that is not open");
    // A responder that has taken a set-up already which is still on its way here: what counts is gone soon.
    const Head& head = told_head_[*row];
    const bool ahead = ((head.gen - r.told.gen) & 15) == 1;
    const std::uint32_t from = head.gen == r.told.gen ? head.head : 0;
    if (!ahead) REQUIRE_MESSAGE(((r.told.tail - from) & kIdxMask) < r.size(), "an entry went into a full ring");
    const std::uint32_t slot = r.told.base + (r.told.tail & (r.size() - 1));
    REQUIRE(slot < kSlots);
    slots_[slot] = e.slot;
    r.told.tail = (r.told.tail + 1) & kIdxMask;
    r.entries.push_back(e);
    accepted_at[e.slot.wr_id] = now;
    ++accepted;
  }

  void check_look_ups() {
    if (!dut_.ready_o) return;
    if (want_ring_.size() == 2) {
      const Ring got = Ring::unpack(Port(dut_.rq_ring_o, Ring::kWidth).value());
      const Ring want = want_ring_.front();
      INFO("cycle ", now, " seed ", seed());
      REQUIRE(got.gen == want.gen);
      REQUIRE(got.base == want.base);
      REQUIRE(got.log2 == want.log2);
      REQUIRE(got.tail == want.tail);
      ring_seen = got;
      want_ring_.pop_front();
    }
    if (want_slot_.size() == 2) {
      const Slot got = Slot::unpack(Port(dut_.rq_slot_o, Slot::kWidth).value());
      INFO("cycle ", now, " seed ", seed());
      if (want_slot_.front()) {
        REQUIRE(got.target == want_slot_.front()->target);
        REQUIRE(got.addr == want_slot_.front()->addr);
        REQUIRE(got.length == want_slot_.front()->length);
        REQUIRE(got.wr_id == want_slot_.front()->wr_id);
      }
      slot_seen = got;
      want_slot_.pop_front();
    }
    want_ring_.push_back(dut_.rq_row_i < kRows ? rings[dut_.rq_row_i].told : Ring{});
    const auto slot = slots_.find(dut_.rq_slot_i);
    want_slot_.push_back(slot == slots_.end() ? std::nullopt : std::optional<Slot>(slot->second));
    // The model knows a head a little earlier than the DUT, which errs on the full side.
    if (dut_.head_we_i && dut_.head_row_i < kRows)
      told_head_[dut_.head_row_i] = {dut_.head_row_i, dut_.head_gen_i, dut_.head_i};
  }

  void anew(std::uint32_t row) {
    RingModel& r = rings[row];
    if (r.wanted) {
      if (r.entries.empty()) set_mode(row, Mode::flushed);  // it may have got that far
      r.late.clear();
      for (const Rqe& e : r.entries) r.late.push_back(e.slot.wr_id);
      r.late_left = cqe_shown_ ? 1 : 2;  // of two one is just entering m_cqe's register
    }
    dropped += r.entries.size();
    r.entries.clear();
    r.wanted = false;
  }
  static bool fits(std::uint32_t base, unsigned log2) {
    return log2 <= 20 && std::uint64_t{base} + (std::uint64_t{1} << log2) <= kSlots;
  }
  void take_set_ups() {
    if (dut_.s_cfg_tvalid && dut_.s_cfg_tready) {
      const QpCfg c = offered_cfgs.front();
      offered_cfgs.pop_front();
      if (c.qpn < kQps && (c.setup || c.state == kReset)) {
        anew(c.qpn);
        RingModel& r = rings[c.qpn];
        Mode mode = Mode::closed;
        if (c.setup) {
          r.told = Ring{(r.told.gen + 1) & 15, c.rq_base, c.rq_log2, 0};
          if (c.rq_on && !c.srq && c.state >= kInit && c.state <= kErr && fits(c.rq_base, c.rq_log2))
            mode = c.state == kErr ? Mode::flushed : Mode::open;
        }
        set_mode(c.qpn, mode);
      }
    }
    if (dut_.s_srq_tvalid && dut_.s_srq_tready) {
      const SrqCfg c = offered_srqs.front();
      offered_srqs.pop_front();
      if (c.srqn < kSrqs) {
        anew(kQps + c.srqn);
        RingModel& r = rings[kQps + c.srqn];
        r.told = Ring{(r.told.gen + 1) & 15, c.base, c.log2, 0};
        set_mode(kQps + c.srqn, fits(c.base, c.log2) ? Mode::open : Mode::closed);
      }
    }
    cfg_waits_ = dut_.s_cfg_tvalid && !dut_.s_cfg_tready ? cfg_waits_ + 1 : 0;
    longest_cfg = std::max(longest_cfg, cfg_waits_);
  }

  void take_rcq() {
    REQUIRE_FALSE(offered_rcqs.empty());
    const Rcq c = offered_rcqs.front();
    offered_rcqs.pop_front();
    REQUIRE(Port(dut_.s_rcq_tdata, Rcq::kWidth).value() == c.pack());
    if (!c.flush) {
      rcqs_.emplace_back(c, err_of(c.pack()));
      return;
    }
    ++marks;
    if (c.qpn >= kQps) return;
    RingModel& r = rings[c.qpn];
    if (r.mode == Mode::open && r.told.gen == c.gen)
      r.wanted = true;
    else
      ++stale_marks;
  }

  void completion(const Cqe& c) {
    INFO("wr_id ", c.wr_id, " status ", c.status, " qpn ", c.qpn, " cycle ", now, " seed ", seed());
    REQUIRE(c.syndrome == 0);
    if (!rcqs_.empty() && rcqs_.front().first.wr_id == c.wr_id) {
      const auto [want, err] = rcqs_.front();
      rcqs_.pop_front();
      REQUIRE(c.qpn == want.qpn);
      REQUIRE(c.opcode == (want.write_imm ? 129 : 128));
      REQUIRE(c.flags == (want.tag << 8 | want.flags << 1 | 1));
      REQUIRE(c.status == (err && want.status == kSuccess ? kProtErr : want.status));
      write_errs += err && want.status == kSuccess ? 1 : 0;
      REQUIRE(c.imm == want.imm);
      REQUIRE(c.bytes == want.bytes);
      ++completed;
      return;
    }
    REQUIRE(c.opcode == 128);
    REQUIRE(c.flags == 1);
    REQUIRE(c.imm == 0);
    REQUIRE(c.bytes == 0);
    if (!taken_.empty() && taken_.front().slot.wr_id == c.wr_id) {
      // Of an entry that no ring took.
      const Rqe e = taken_.front();
      const std::uint64_t since = since_.front();
      taken_.pop_front();
      since_.pop_front();
      REQUIRE(c.qpn == e.qpn);
      const auto row = row_of(e);
      if (c.status == kFlushErr) {
        REQUIRE(row.has_value());
        REQUIRE_FALSE(e.malformed());
        RingModel& r = rings[*row];
        // Decided in an earlier life of the ring, or this one's flush is over.
        if (r.wanted && !was(*row, since, Mode::flushed)) {
          REQUIRE_MESSAGE(r.entries.empty(), "flushed before older entries of its ring");
          r.wanted = false;
          set_mode(*row, Mode::flushed);
        }
        REQUIRE_MESSAGE(was(*row, since, Mode::flushed), "flushed, but its QP is not in ERR");
        ++flushed_at_once;
      } else {
        REQUIRE(c.status == kQpOpErr);
        if (row && !e.malformed()) REQUIRE_MESSAGE(was(*row, since, Mode::closed), "rejected, but its ring is set up");
        ++rejected;
      }
      return;
    }
    // Of an entry in a ring that is flushed.
    REQUIRE(c.status == kFlushErr);
    REQUIRE(c.qpn < kQps);
    RingModel& r = rings[c.qpn];
    if (!r.entries.empty() && r.entries.front().slot.wr_id == c.wr_id) {
      REQUIRE_MESSAGE(r.wanted, "flushed, but no mark came");
      r.entries.pop_front();
      ++flushed;
      return;
    }
    REQUIRE_MESSAGE((r.late_left > 0 && !r.late.empty() && r.late.front() == c.wr_id),
                    "a completion that no one is owed (made up, twice, or out of order)");
    r.late.pop_front();
    --r.late_left;
    ++flushed;
    ++late_flushes;
  }

  Vdut& dut_;
  Rng& rng_;

 public:
  std::vector<RingModel> rings;

 private:
  std::deque<Rqe> taken_;  // by s_rqe, not yet decided
  std::deque<std::uint64_t> since_;
  struct Head {
    std::uint32_t row = 0;
    unsigned gen = 0;
    std::uint32_t head = 0;
  };
  std::deque<Head> heads_;
  std::map<std::uint32_t, std::deque<std::pair<std::uint64_t, Mode>>> modes_;
  std::unordered_map<std::uint32_t, Slot> slots_;
  std::unordered_map<std::uint32_t, Head> told_head_;
  std::deque<Ring> want_ring_;
  std::deque<std::optional<Slot>> want_slot_;
  std::optional<std::uint32_t> row_asked_, slot_asked_;
  bool cqe_shown_ = false;
  std::uint64_t cfg_waits_ = 0;
};

struct Bench {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        rqe(sim.rng(), Port(sim.dut.s_rqe_tvalid, 1), Port(sim.dut.s_rqe_tready, 1), Port(sim.dut.s_rqe_tdata, 256)),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, QpCfg::kWidth)),
        srq(sim.rng(), Port(sim.dut.s_srq_tvalid, 1), Port(sim.dut.s_srq_tready, 1),
            Port(sim.dut.s_srq_tdata, SrqCfg::kWidth)),
        rcq(sim.rng(), Port(sim.dut.s_rcq_tvalid, 1), Port(sim.dut.s_rcq_tready, 1),
            Port(sim.dut.s_rcq_tdata, Rcq::kWidth)),
        cqe(sim.rng(), Port(sim.dut.m_cqe_tvalid, 1), Port(sim.dut.m_cqe_tready, 1), Port(sim.dut.m_cqe_tdata, 256)),
        model(sim.dut, sim.rng()) {
    for (Agent* a : {static_cast<Agent*>(&rqe), static_cast<Agent*>(&cfg), static_cast<Agent*>(&srq),
                     static_cast<Agent*>(&rcq), static_cast<Agent*>(&cqe), static_cast<Agent*>(&model)})
      sim.add(*a);
    cqe.on_beat = [this](const Bytes& beat) { seen.push_back(Cqe::unpack(beat)); };
    reset();
  }
  void reset() {
    for (StreamSource* s : {&rqe, &cfg, &srq, &rcq}) s->queue.clear();
    // Before the first edge in reset registers hold anything, and the RAMs' range assertion knows no reset.
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
    sim.run_until([this] { return sim.dut.ready_o != 0; }, kRows + 20);
    gens.assign(kRows, 0);
  }
  Rqe entry(std::uint32_t qpn, unsigned flags = 0, unsigned opcode = 0) {
    Rng& rng = sim.rng();
    return Rqe{qpn, flags, opcode,
               Slot{static_cast<unsigned>(rng.below(8)), rng.next(), static_cast<std::uint32_t>(rng.next()),
                    ++serial << 20 | rng.below(1 << 20)}};
  }
  std::uint64_t post(const Rqe& e) {
    model.offered_rqes.push_back(e);
    rqe.push(e.pack(sim.rng()));
    return e.slot.wr_id;
  }
  std::uint64_t post(std::uint32_t qpn, unsigned flags = 0, unsigned opcode = 0) {
    return post(entry(qpn, flags, opcode));
  }
  void configure(const QpCfg& c) {
    model.offered_cfgs.push_back(c);
    cfg.push(c.pack(sim.rng()));
  }
  void share(const SrqCfg& c) {
    model.offered_srqs.push_back(c);
    srq.push(c.pack());
  }
  /// Sets a QP up with a ring and waits until it is in force; the responder's head is zero again.
  void set_up(std::uint32_t qpn, std::uint32_t base, unsigned log2, unsigned state = kRts) {
    configure({true, qpn, state, true, false, base, log2});
    sim.run_until([&] { return cfg.queue.empty(); }, 60);
    gens[qpn] = (gens[qpn] + 1) & 15;
    model.tell_head(qpn, gens[qpn], 0);
    sim.run(2);
  }
  void state(std::uint32_t qpn, unsigned value) {
    QpCfg c;
    c.setup = false;
    c.qpn = qpn;
    c.state = value;
    c.rq_base = static_cast<std::uint32_t>(sim.rng().below(1 << 20));
    c.rq_log2 = static_cast<unsigned>(sim.rng().below(32));
    configure(c);
    sim.run_until([&] { return cfg.queue.empty(); }, 60);
  }
  void send(const Rcq& c) {
    model.offered_rcqs.push_back(c);
    rcq.push(c.pack());
  }
  void mark(std::uint32_t qpn, unsigned gen) {
    Rcq c = random_rcq();
    c.flush = true;
    c.qpn = qpn;
    c.gen = gen;
    send(c);
  }
  Rcq random_rcq() {
    Rng& rng = sim.rng();
    Rcq c;
    c.wtag = static_cast<std::uint32_t>(rng.below(65536));
    c.gen = static_cast<unsigned>(rng.below(16));
    c.write_imm = rng.percent(50);
    c.status = static_cast<unsigned>(rng.percent(70) ? 0 : rng.below(16));
    c.flags = static_cast<unsigned>(rng.below(8));
    c.tag = static_cast<unsigned>(rng.below(256));
    c.imm = static_cast<std::uint32_t>(rng.next());
    c.bytes = static_cast<std::uint32_t>(rng.next());
    return c;
  }
  /// The responder consumes the oldest entry of a ring: its head moves, then the completion is on its way.
  void consume(std::uint32_t row, std::uint32_t qpn) {
    const Rqe e = model.consume(row);
    model.tell_head(row, model.rings[row].told.gen, model.rings[row].head());
    Rcq c = random_rcq();
    c.qpn = qpn;
    c.wr_id = e.slot.wr_id;
    send(c);
  }
  void settle(std::uint64_t limit = 20'000) {
    std::uint64_t still = 0;
    std::uint64_t before = ~std::uint64_t{0};
    for (std::uint64_t i = 0; i < limit && still < 60; ++i) {
      sim.step();
      const std::uint64_t sum = seen.size() + rqe.taken + rcq.taken + cfg.taken + srq.taken;
      still = sum == before ? still + 1 : 0;
      before = sum;
    }
    REQUIRE(still >= 60);
  }
  std::vector<std::pair<std::uint64_t, unsigned>> take() {
    std::vector<std::pair<std::uint64_t, unsigned>> result;
    for (const Cqe& c : seen) result.emplace_back(c.wr_id, c.status);
    seen.clear();
    return result;
  }

  Sim<Vdut> sim;
  StreamSource rqe, cfg, srq, rcq;
  StreamSink cqe;
  Model model;
  std::vector<Cqe> seen;
  std::vector<unsigned> gens;
  std::uint64_t serial = 0;
};

using Seen = std::vector<std::pair<std::uint64_t, unsigned>>;
constexpr unsigned kLog2 = kSlots >= 4 ? 2 : 1;  // a ring that fits into every shape
constexpr std::uint32_t kRing = 1U << kLog2;
constexpr std::uint32_t kQp = kQps - 1;

}  // namespace

TEST_CASE("latency: an entry can be read the third cycle after it was taken, a completion leaves after two") {
  Bench b(1);
  b.set_up(kQp, kSlots - kRing, kLog2);
  b.sim.run(10);
  const std::uint64_t id = b.post(kQp);
  b.settle();
  // Written in the second cycle after: read from the third on; the counter pulses in that cycle.
  CHECK(b.model.accepted_at[id] - b.model.taken_at[id] == 3);
  b.consume(kQp, kQp);
  const std::uint64_t start = b.sim.cycle();
  b.sim.run_until([&] { return b.sim.dut.m_cqe_tvalid != 0; }, 20);
  CHECK(b.sim.cycle() - start == 2);
  b.settle();
  b.model.check_quiet();
}

TEST_CASE("a full ring holds the stream back, once counted, until an entry is consumed") {
  Bench b(2);
  b.set_up(kQp, 0, kLog2);
  std::vector<std::uint64_t> ids;
  for (std::uint32_t i = 0; i < 3 * kRing; ++i) ids.push_back(b.post(kQp));
  for (std::uint32_t left = 2 * kRing; left > 0; --left) {
    b.sim.run(100);
    CHECK(b.model.accepted == 3 * kRing - left);
    CHECK(b.model.full_counted == 2 * kRing + 1 - left);
    b.consume(kQp, kQp);
  }
  b.settle();
  CHECK(b.model.accepted == 3 * kRing);
  for (std::uint32_t i = 0; i < kRing; ++i) b.consume(kQp, kQp);
  b.settle();
  const Seen seen = b.take();
  REQUIRE(seen.size() == ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK(seen[i].first == ids[i]);
  b.model.check_quiet();
}

TEST_CASE("an entry every two cycles into one ring and into many, a completion every two cycles") {
  Bench b(3);
  unsigned log2 = 1;
  while ((2U << log2) * 2 <= kSlots && log2 < 9) ++log2;
  const std::uint32_t count = 1U << log2;
  b.set_up(0, 0, log2);
  if (kQps > 1) b.set_up(kQps - 1, kSlots - count, log2);
  b.sim.run(10);
  for (const bool many : {false, true}) {
    if (many && kQps == 1) break;
    const std::uint64_t total = many ? 2 * count : count;
    for (std::uint64_t i = 0; i < total; ++i) b.post(many && i % 2 != 0 ? kQps - 1 : 0);
    const std::uint64_t before = b.model.accepted;
    const std::uint64_t start = b.sim.cycle();
    b.sim.run_until([&] { return b.model.accepted == before + total; }, 3 * total + 20);
    CHECK(b.sim.cycle() - start <= 2 * total + 6);
    for (std::uint64_t i = 0; i < total; ++i) b.consume(many && i % 2 != 0 ? kQps - 1 : 0, 0);
    const std::uint64_t begin = b.sim.cycle();
    b.sim.run_until([&] { return b.seen.size() == total; }, 3 * total + 20);
    CHECK(b.sim.cycle() - begin <= 2 * total + 6);
    b.seen.clear();
    b.sim.run_until([&] { return b.model.heads_told(); }, 3 * total + 20);
    b.settle();
  }
  b.model.check_quiet();
}

TEST_CASE("entries that no ring takes complete at once, each with its reason") {
  Bench b(4);
  b.set_up(0, 0, kLog2);
  const auto answer = [&](std::uint64_t id) {
    b.settle();
    const Seen seen = b.take();
    if (seen.empty()) return 99U;
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].first == id);
    return seen[0].second;
  };
  CHECK(answer(b.post(kQps)) == kQpOpErr);
  CHECK(answer(b.post(0xFFFFFF)) == kQpOpErr);
  CHECK(answer(b.post(kSrqs, 1)) == kQpOpErr);
  CHECK(answer(b.post(0, 1)) == kQpOpErr);  // a shared ring that is not set up
  CHECK(answer(b.post(0, 0, 1)) == kQpOpErr);
  CHECK(answer(b.post(0, 0, 0x80)) == kQpOpErr);
  CHECK(answer(b.post(0, 2)) == kQpOpErr);
  CHECK(answer(b.post(0, 0x80)) == kQpOpErr);
  if (kQps > 1) CHECK(answer(b.post(kQp)) == kQpOpErr);  // never set up
  CHECK(answer(b.post(0)) == 99);
  for (const unsigned state : {kInit, kRtr, kRts, kSqd, kErr}) {  // changes of state do nothing but RESET
    b.state(0, state);
    CHECK(answer(b.post(0)) == 99);
    b.consume(0, 0);
    b.settle();
    b.take();
  }
  b.state(0, kReset);
  CHECK(answer(b.post(0)) == kQpOpErr);
  b.state(0, kRts);
  CHECK(answer(b.post(0)) == kQpOpErr);
  // Set-ups that give no ring: none wanted, a shared one, too long, beyond the end, unknown state, RESET.
  const std::vector<QpCfg> closed = {{true, 0, kRts, false, false, 0, kLog2},
                                     {true, 0, kRts, true, true, 0, kLog2},
                                     {true, 0, kRts, true, false, 0, 21},
                                     {true, 0, kRts, true, false, 0, 31},
                                     {true, 0, kRts, true, false, kSlots - kRing + 1, kLog2},
                                     {true, 0, 6, true, false, 0, kLog2},
                                     {true, 0, 7, true, false, 0, kLog2},
                                     {true, 0, kReset, true, false, 0, kLog2},
                                     {true, 0, kRts, false, true, 0, kLog2}};
  for (const QpCfg& c : closed) {
    b.configure(c);
    b.settle();
    CHECK(answer(b.post(0)) == kQpOpErr);
  }
  b.set_up(0, kSlots - kRing, kLog2, kErr);
  CHECK(answer(b.post(0)) == kFlushErr);
  CHECK(answer(b.post(0, 0, 3)) == kQpOpErr);
  for (const unsigned state : {kInit, kRtr, kRts, kSqd}) {
    b.set_up(0, kSlots - kRing, kLog2, state);
    CHECK(answer(b.post(0)) == 99);
  }
  b.model.check_quiet();
}

TEST_CASE("shared rings: rows behind the queue pairs', full, consumed by any QP, set up anew") {
  if (kSrqs == 0) return;
  Bench b(5);
  const std::uint32_t n = kSrqs - 1;
  for (unsigned round = 0; round < 3; ++round) {
    b.share({n, kSlots - kRing, kLog2});
    b.share({kSrqs, 0, 1});  // does not exist
    b.settle();
    CHECK(b.model.rings[kQps + n].told.gen == round + 1);
    for (std::uint32_t i = 0; i < kRing + 2; ++i) b.post(n, 1);
    b.sim.run(100);
    for (std::uint32_t i = 0; i < kRing; ++i) {
      b.consume(kQps + n, i % kQps);
      b.settle();
    }
    CHECK(b.take().size() == kRing);
  }
  CHECK(b.model.dropped == 4);  // two a round were left; the last two are still there
  b.share({n, kSlots - kRing + 1, kLog2});
  b.settle();
  const std::uint64_t id = b.post(n, 1);
  b.settle();
  CHECK(b.take() == Seen{{id, kQpOpErr}});
  b.model.check_quiet();
}

TEST_CASE("a dead QP's entries are flushed in order, those posted meanwhile too, then at once") {
  Bench b(6);
  b.set_up(kQp, 0, kLog2);
  std::vector<std::uint64_t> ids;
  for (std::uint32_t i = 0; i < kRing; ++i) ids.push_back(b.post(kQp));
  b.settle();
  b.cqe.stall_percent = 100;
  b.consume(kQp, kQp);  // its completion leaves first
  b.mark(kQp, b.gens[kQp]);
  b.sim.run(60);
  ids.push_back(b.post(kQp));  // into the ring: one place is free
  ids.push_back(b.post(kQp));  // waits: it is full until it has been flushed
  b.sim.run(60);
  b.cqe.stall_percent = 0;
  b.settle();
  ids.push_back(b.post(kQp));
  b.mark(kQp, b.gens[kQp]);  // once more: no effect
  b.settle();
  const Seen seen = b.take();
  REQUIRE(seen.size() == ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CHECK(seen[i].first == ids[i]);
    if (i > 0) CHECK(seen[i].second == kFlushErr);
  }
  b.model.check_quiet();
  CHECK(b.model.rings[kQp].mode == Mode::flushed);
  // Set up again it takes entries as ever.
  b.set_up(kQp, 0, kLog2);
  b.post(kQp);
  b.settle();
  CHECK(b.take().empty());
  b.consume(kQp, kQp);
  b.settle();
  CHECK(b.take().size() == 1);
  b.model.check_quiet();
}

TEST_CASE("a mark from before a set-up, of no ring, or of a QP that does not exist does nothing") {
  Bench b(7);
  b.mark(kQp, 0);
  b.mark(kQps, 0);
  b.mark(0xFFFFFF, 15);
  b.settle();
  for (unsigned i = 0; i < 20; ++i) {  // the counts wrap
    b.set_up(kQp, 0, kLog2);
    b.post(kQp);
    for (unsigned old = 1; old < 16; ++old) b.mark(kQp, (b.gens[kQp] - old) & 15);
    b.settle();
    CHECK(b.take().empty());
  }
  b.mark(kQp, b.gens[kQp]);
  b.settle();
  CHECK(b.take().size() == 1);
  b.state(kQp, kReset);
  b.mark(kQp, b.gens[kQp]);
  b.settle();
  const std::uint64_t id = b.post(kQp);
  b.settle();
  CHECK(b.take() == Seen{{id, kQpOpErr}});
  b.model.check_quiet();
}

TEST_CASE("a flush is left out when the responder has taken the QP's next set-up already") {
  Bench b(12);
  b.set_up(kQp, 0, kLog2);
  for (std::uint32_t i = 0; i < kRing; ++i) b.post(kQp);
  b.settle();
  b.consume(kQp, kQp);
  b.settle();
  CHECK(b.take().size() == 1);
  b.model.tell_head(kQp, b.gens[kQp] + 1, 0);
  b.sim.run(5);
  b.mark(kQp, b.gens[kQp]);
  b.settle();
  CHECK(b.take().empty());
  b.set_up(kQp, 0, kLog2);
  b.post(kQp);
  b.settle();
  b.mark(kQp, b.gens[kQp]);
  b.settle();
  CHECK(b.take().size() == 1);
  b.model.check_quiet();
}

TEST_CASE("RESET and set-up drop what the ring holds, even in the middle of its flush") {
  for (const bool reset : {false, true}) {
    Bench b(8);
    b.set_up(kQp, 0, kLog2);
    for (std::uint32_t i = 0; i < kRing; ++i) b.post(kQp);
    b.settle();
    b.cqe.stall_percent = 100;
    b.mark(kQp, b.gens[kQp]);
    b.sim.run(60);  // one on m_cqe, at most two behind it
    if (reset) b.state(kQp, kReset);
    b.set_up(kQp, 0, kLog2);
    b.post(kQp);
    b.mark(kQp, b.gens[kQp]);
    b.sim.run(60);
    b.cqe.stall_percent = 0;
    b.settle();
    const Seen seen = b.take();
    CHECK(seen.size() >= 2);
    CHECK(seen.size() <= 4);
    b.model.check_quiet();
    CHECK(b.model.rings[kQp].mode == Mode::flushed);
  }
}

TEST_CASE("all QPs die at once while m_cqe stands still: set-ups go on, nothing is lost") {
  Bench b(9);
  const std::uint32_t count = std::min<std::uint32_t>(kQps, std::min<std::uint32_t>(kSlots / 2, 600));
  for (std::uint32_t q = 0; q < count; ++q) b.set_up(q, 2 * q, 1);
  for (std::uint32_t q = 0; q < count; ++q) b.post(q);
  b.settle();
  b.cqe.stall_percent = 100;
  for (unsigned twice = 0; twice < 2; ++twice) {
    for (std::uint32_t q = 0; q < count; ++q) b.mark(count - 1 - q, 1);
  }
  b.sim.run(24 * count + 100);
  CHECK(b.rcq.queue.empty());  // the list has room for all
  b.model.longest_cfg = 0;
  b.state(0, kSqd);
  b.share({0, 0, 1});
  b.settle();
  CHECK(b.srq.queue.empty());
  CHECK(b.model.longest_cfg <= 30);
  b.cqe.stall_percent = 0;
  b.settle(20 * count + 1000);
  CHECK(b.model.flushed == count);
  b.model.check_quiet();
}

TEST_CASE("random: everything at once, with stalls everywhere") {
  constexpr unsigned kStalls[][3] = {{0, 0, 0},  {0, 0, 50}, {60, 20, 10}, {20, 60, 0},
                                     {0, 0, 85}, {90, 0, 0}, {0, 90, 30}};
  std::uint64_t flushed = 0, stale = 0, dropped = 0, rejected = 0, at_once = 0, late = 0, full = 0, completed = 0,
                write_errs = 0;
  for (unsigned round = 0; round < 7; ++round) {
    Bench b(100 + round);
    Rng& rng = b.sim.rng();
    b.rqe.stall_percent = kStalls[round][0];
    b.rcq.stall_percent = kStalls[round][1];
    b.cqe.stall_percent = kStalls[round][2];
    b.cfg.stall_percent = 50;
    const std::uint32_t hot = std::min<std::uint32_t>(kQps, 1 + static_cast<std::uint32_t>(rng.below(5)));
    const std::uint32_t hot_srq = std::min<std::uint32_t>(kSrqs, 2);
    const auto qp = [&] { return static_cast<std::uint32_t>(rng.percent(95) ? rng.below(hot) : rng.below(kQps)); };
    // Rings do not overlap: each hot row has a part of the slots.
    const std::uint32_t parts = hot + hot_srq;
    const std::uint32_t part = std::max<std::uint32_t>(kSlots / parts, 1);
    unsigned top = 0;
    while ((2U << top) <= part && top < 5) ++top;
    if (part < 2) top = 0;
    // The responder's view: its own counts, and since when it knows of a set-up; -1: not yet told.
    struct Owed {
      std::uint32_t row;
      std::uint64_t at;
    };
    std::vector<unsigned> gen(kRows, 0);
    std::vector<bool> dead(kRows, true);
    std::deque<Owed> owed;
    std::uint64_t cfgs = 0, srqs = 0;
    struct Ask {
      std::uint32_t row = 0;
      unsigned step = 0;
      std::uint32_t head = 0;
      unsigned gen = 0;
    } ask;
    std::vector<std::uint32_t> head(kRows, 0);
    const auto take_owed = [&] {
      const std::uint32_t row = owed.front().row;
      owed.pop_front();
      gen[row] = (gen[row] + 1) & 15;
      head[row] = 0;
      dead[row] = false;
      b.model.tell_head(row, gen[row], 0);
    };
    for (unsigned cycle = 0; cycle < 30'000; ++cycle) {
      // Entries, most of them for hot rings.
      if (b.rqe.queue.size() < 3 && rng.percent(60)) {
        const bool shared = hot_srq != 0 && rng.percent(30);
        Rqe e = b.entry(shared ? static_cast<std::uint32_t>(rng.below(hot_srq)) : qp(), shared ? 1 : 0);
        if (rng.percent(2)) e.qpn = static_cast<std::uint32_t>(rng.next()) & kQpnMask;
        if (rng.percent(1)) e.opcode = 1U << rng.below(8);
        if (rng.percent(1)) e.flags |= 2U << rng.below(7);
        b.post(e);
      }
      // The responder: one ring at a time, its row, its slot, then the completion.
      if (ask.step == 0 && b.model.heads_told() && rng.percent(60) && b.rcq.queue.size() < 40) {
        ask = {static_cast<std::uint32_t>(hot_srq != 0 && rng.percent(30) ? kQps + rng.below(hot_srq) : qp()), 1, 0, 0};
        ask.head = head[ask.row];
        ask.gen = gen[ask.row];
        b.model.ask_row(ask.row);
      } else if (ask.step == 4) {
        const Ring ring = *b.model.ring_seen;
        const std::uint32_t held = (ring.tail - ask.head) & kIdxMask;
        if (gen[ask.row] != ask.gen || ring.gen != ask.gen || held == 0 || dead[ask.row]) {
          ask.step = 0;
        } else {
          REQUIRE(held <= 1U << ring.log2);
          b.model.ask_slot(ring.base + (ask.head & ((1U << ring.log2) - 1)));
        }
      } else if (ask.step == 7) {
        // Set up anew meanwhile: the entry is gone and so is who would have used it.
        RingModel& r = b.model.rings[ask.row];
        if (gen[ask.row] == ask.gen && r.told.gen == ask.gen && !dead[ask.row]) {
          REQUIRE_FALSE(r.entries.empty());
          REQUIRE(r.entries.front().slot == *b.model.slot_seen);
          b.consume(ask.row, ask.row < kQps ? ask.row : qp());
          head[ask.row] = (head[ask.row] + 1) & kIdxMask;
        }
        ask.step = 0;
      }
      if (ask.step != 0) ++ask.step;
      // QPs die, by an error or by a change to ERR.
      if (rng.below(150) == 0) {
        const std::uint32_t q = qp();
        dead[q] = true;
        b.mark(q, gen[q]);
      }
      // Set-ups and changes of state; the responder takes a set-up some cycles earlier or later.
      if (b.cfg.queue.empty() && owed.empty() && b.cfg.taken == cfgs && rng.below(100) == 0) {
        const std::uint32_t q = qp();
        QpCfg c;
        c.qpn = rng.percent(95) ? q : kQps + static_cast<std::uint32_t>(rng.below(2));
        c.setup = rng.percent(70);
        c.state = static_cast<unsigned>(c.setup ? rng.percent(90) ? kRts : rng.below(8) : rng.below(6));
        c.rq_on = rng.percent(95);
        c.srq = rng.percent(5);
        c.rq_log2 = static_cast<unsigned>(rng.below(top + 1));
        c.rq_base = q < hot ? q * part : 0;
        if (q >= hot) c.rq_on = false;
        if (rng.percent(3)) c.rq_log2 = 22;
        b.configure(c);
        ++cfgs;
        if (c.qpn < kQps && c.setup) owed.push_back({c.qpn, cycle + rng.below(30)});
        if (c.qpn < kQps && !c.setup && (c.state == kReset || c.state == kErr)) dead[c.qpn] = true;
        if (c.qpn < kQps && !c.setup && c.state == kErr) b.mark(c.qpn, gen[c.qpn]);
      }
      if (hot_srq != 0 && b.srq.queue.empty() && owed.empty() && b.srq.taken == srqs && rng.below(400) == 0) {
        const auto n = static_cast<std::uint32_t>(rng.below(hot_srq));
        b.share({n, (hot + n) * part, static_cast<unsigned>(rng.below(top + 1))});
        ++srqs;
        owed.push_back({kQps + n, cycle + rng.below(30)});
      }
      while (!owed.empty() && owed.front().at <= cycle && (ask.step == 0 || ask.row != owed.front().row)) take_owed();
      b.sim.step();
      if (rng.below(700) == 0) b.cqe.stall_percent = kStalls[rng.below(7)][2];
    }
    b.cqe.stall_percent = b.rqe.stall_percent = b.rcq.stall_percent = b.cfg.stall_percent = 0;
    while (!owed.empty()) take_owed();
    b.settle(60'000);
    REQUIRE(b.cfg.queue.empty());
    REQUIRE(b.rcq.queue.empty());
    // What waits for a full ring goes on when the rings are emptied.
    unsigned turns = 0;
    while (!b.rqe.queue.empty() || b.rqe.taken != b.model.accepted + b.model.rejected + b.model.flushed_at_once) {
      REQUIRE(++turns < 20);
      for (std::uint32_t q = 0; q < kQps; ++q) {
        if (!b.model.rings[q].entries.empty()) b.mark(q, gen[q]);
      }
      for (std::uint32_t n = 0; n < kSrqs; ++n) {
        while (!b.model.rings[kQps + n].entries.empty()) b.consume(kQps + n, 0);
      }
      b.settle(60'000);
    }
    b.model.check_quiet();
    CHECK(b.model.longest_cfg <= 30);
    flushed += b.model.flushed;
    stale += b.model.stale_marks;
    dropped += b.model.dropped;
    rejected += b.model.rejected;
    at_once += b.model.flushed_at_once;
    late += b.model.late_flushes;
    full += b.model.full_counted;
    completed += b.model.completed;
    write_errs += b.model.write_errs;
  }
  MESSAGE("completed " << completed << ", flushed " << flushed << " (late " << late << "), flushed at once " << at_once
                       << ", rejected " << rejected << ", dropped " << dropped << ", stale marks " << stale
                       << ", ring full " << full);
  CHECK(completed > 5000);
  CHECK(write_errs > 1000);
  CHECK(flushed > 500);
  CHECK(at_once > 200);
  CHECK(rejected > 500);
  CHECK(dropped > 200);
  CHECK(stale > 20);
  CHECK(full > 50);
}

TEST_CASE("reset with entries, marks and completions under way forgets all") {
  Bench b(10);
  b.set_up(kQp, 0, kLog2);
  for (std::uint32_t i = 0; i < kRing; ++i) b.post(kQp);
  b.settle();
  b.cqe.stall_percent = 100;
  b.mark(kQp, 1);
  b.sim.run(40);
  b.cqe.stall_percent = 0;
  b.model.forgotten = b.model.taken_at.size() - b.model.accepted;
  b.reset();
  b.seen.clear();
  b.model.rejected_counted = b.model.flushed_counted = b.model.completed_counted = 0;
  b.model.rejected = b.model.flushed = b.model.completed = b.model.flushed_at_once = 0;
  const std::uint64_t id = b.post(kQp);
  b.settle();
  CHECK(b.take() == Seen{{id, kQpOpErr}});
  b.mark(kQp, 0);
  b.set_up(kQp, 0, kLog2);
  b.post(kQp);
  b.settle();
  CHECK(b.take().empty());
  b.model.check_quiet();
}

// 22-bit indices wrap after 4 million entries: seconds even without the agents, so in the small shapes only.
TEST_CASE("the indices of a ring wrap" * doctest::skip(kQps > 16)) {
  VerilatedContext context;
  Vdut dut(&context);
  const auto cycle = [&] {
    dut.clk = 1;
    dut.eval();
    dut.clk = 0;
    dut.eval();
  };
  dut.rst = 1;
  for (unsigned i = 0; i < 4; ++i) cycle();
  dut.rst = 0;
  while (dut.ready_o == 0) cycle();
  Rng rng(seed());
  Port(dut.s_cfg_tdata, QpCfg::kWidth).set_value(QpCfg{true, 0, kRts, true, false, 0, kLog2}.pack(rng));
  dut.s_cfg_tvalid = 1;
  while (dut.s_cfg_tready == 0) cycle();
  cycle();
  dut.s_cfg_tvalid = 0;
  // The head follows the tail at once, until it stands still just before the wrap: then the ring fills over it.
  constexpr std::uint64_t kWrap = std::uint64_t{1} << 22;
  std::uint64_t accepted = 0, head = 0;
  Port(dut.s_rqe_tdata, 256).set_value(Rqe{}.pack(rng));
  dut.s_rqe_tvalid = 1;
  dut.m_cqe_tready = 1;
  dut.head_gen_i = 1;
  const auto run = [&](std::uint64_t cycles, std::uint64_t last) {
    for (std::uint64_t i = 0; i < cycles; ++i) {
      accepted += dut.cnt_rq_rqes_o;
      head = std::min(accepted, last);
      dut.head_we_i = 1;
      dut.head_i = static_cast<std::uint32_t>(head) & kIdxMask;
      cycle();
      REQUIRE(dut.m_cqe_tvalid == 0);
    }
  };
  // A ring of two is full for some cycles each time: more cycles than two an entry.
  for (unsigned i = 0; i < 64 && accepted < kWrap - 1; ++i) run((kWrap - 1 - accepted) * 2 + 8, kWrap - 1);
  run(100, kWrap - 1);
  CHECK(head == kWrap - 1);
  CHECK(accepted == kWrap - 1 + kRing);
  CHECK(Ring::unpack(Port(dut.rq_ring_o, Ring::kWidth).value()).tail == (accepted & kIdxMask));
  run(1000, ~std::uint64_t{0});
  CHECK(accepted > kWrap + 100);
  dut.final();
}
