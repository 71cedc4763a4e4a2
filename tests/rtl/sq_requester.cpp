// Bench of sq_post and sq_requester. The bench plays the rest of sq_engine (acknowledged positions, READ counts,
// credits, RNR waits, rewinds, errors, set-ups, completions), the peers and the link, all at random, and holds every
// slot written, cursor told, READ listed and command sent against a model of its own that counts PSNs and ring
// indices without wrapping. Cases name the rows of cases.md that they cover.
#include <optional>
#include <set>
#include <tuple>

#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr unsigned kReset = 0, kRtr = 2, kRts = 3, kSqd = 4, kErr = 5;
constexpr unsigned kWrite = 0, kWriteImm = 1, kSend = 2, kSendImm = 3, kRead = 4, kCmpSwap = 5, kFetchAdd = 6,
                   kSendInv = 9;
constexpr unsigned kOps[] = {kWrite, kWriteImm, kSend, kSendImm, kRead, kCmpSwap, kFetchAdd, kSendInv};
constexpr unsigned kSignaled = 1, kSolicited = 2, kFence = 4;
constexpr unsigned kGood = 0, kBadOp = 1, kBadLen = 2;
constexpr std::uint64_t kPsn = 0x1000000;
constexpr unsigned kCmdDepth = 16;  // packets that may wait in front of m_cmd

/// The number nearest to `near` that is `value` modulo 2^bits.
std::uint64_t unwrap(std::uint64_t value, unsigned bits, std::uint64_t near) {
  const std::uint64_t span = 1ULL << bits;
  const std::uint64_t ahead = (value - near) & (span - 1);
  return ahead < span / 2 ? near + ahead : near + ahead - span;
}

struct Req {
  unsigned op = 0, flags = 1, bad = kGood, target = 0;
  std::uint64_t laddr = 0, raddr = 0, swap_add = 0, compare = 0, wr_id = 0;
  std::uint32_t length = 0, rkey = 0, imm = 0, qpn = 0;
  bool atomic() const { return op == kCmpSwap || op == kFetchAdd; }
  bool reads() const { return op == kRead || atomic(); }
  bool sends() const { return op == kSend || op == kSendImm || op == kSendInv; }
  bool receives() const { return sends() || op == kWriteImm; }
  // Set when it is queued.
  std::uint64_t first = 0, last = 0;  // PSNs, not wrapped
  std::uint64_t before = 0;           // READs and atomics in front of it
};

struct Config {
  std::uint32_t qpn = 0, sq_base = 0, sq_psn = 0;
  unsigned state = kRts, pmtu = 1, sq_log2 = 2, max_rd = 4;
};

/// A queue pair between two set-ups.
struct Life {
  Config cfg;
  std::uint64_t number = 0;
  std::deque<Req> reqs;
  std::uint64_t next = 0;   // PSN of the next request
  std::uint64_t reads = 0;  // READs and atomics queued
  // what sq_ack would hold
  unsigned state = kReset;
  std::uint64_t una = 0, rdu = 0, lsn = 0, mem = 0, head = 0;
  unsigned gen = 0;
  bool limited = false, rnr = false, blocked = false;
  std::uint64_t rnr_since = 0, rnr_sent = 0, fail_time = 0, quiet_since = 0, state_since = 0;
  bool flush_seen = false;
  // told to the engine, with the cycle
  std::deque<std::pair<std::uint64_t, std::uint64_t>> told;
  std::deque<std::tuple<std::uint64_t, bool, std::uint64_t>> credit;
  // requester seen from outside
  std::uint64_t expect = 0, nxt = 0, cursor_nxt = 0, last_decided = 0;
  unsigned since = 0;
  std::uint64_t probe = 0;  // PSN of the last one
  std::uint64_t sent = 0, resent = 0, jumps = 0, rewinds = 0, partial = 0, reads_sent = 0, reads_listed = 0;
  std::set<std::uint64_t> listed;
  // peer
  std::uint64_t epsn = 0, ackable = 0;
  std::uint32_t mtu() const { return 128U << cfg.pmtu; }
  unsigned read_limit() const { return std::min<unsigned>(cfg.max_rd, P_RdDepth); }
  /// Ring number of the request that PSN belongs to.
  std::size_t at(std::uint64_t psn) const {
    return static_cast<std::size_t>(
        std::partition_point(reqs.begin(), reqs.end(), [&](const Req& r) { return r.last < psn; }) - reqs.begin());
  }
  /// READs and atomics that lie in front of a PSN as a whole.
  std::uint64_t reads_before(std::uint64_t psn) const {
    const auto i = at(psn);
    return i < reqs.size() ? reqs[i].before : reads;
  }
};

struct Chances {
  unsigned drop = 0, nak = 0, rnr = 0, limited = 0, sqd = 0, bad = 0, reset = 0, event = 0;  // per 10000
  unsigned advance = 20;                                                                     // percent a turn
  unsigned timeout = 600;  // cycles without progress until a rewind; 0: never
  unsigned mem = 10;       // percent a cycle that a READ's data gets to memory
  bool ack_all = false;    // at once, all there is
};

class Bench : public Agent {
 public:
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        wqe(sim.rng(), Port(sim.dut.s_wqe_tvalid, 1), Port(sim.dut.s_wqe_tready, 1), Port(sim.dut.s_wqe_tdata, 512)),
        kick(sim.rng(), Port(sim.dut.s_kick_tvalid, 1), Port(sim.dut.s_kick_tready, 1), Port(sim.dut.s_kick_tdata, 14)),
        cmd(sim.rng(), Port(sim.dut.m_cmd_tvalid, 1), Port(sim.dut.m_cmd_tready, 1), Port(sim.dut.m_cmd_tdata, 369)),
        bad(sim.rng(), Port(sim.dut.m_bad_tvalid, 1), Port(sim.dut.m_bad_tready, 1), Port(sim.dut.m_bad_tdata, 15)),
        flush(sim.rng(), Port(sim.dut.m_flush_tvalid, 1), Port(sim.dut.m_flush_tready, 1),
              Port(sim.dut.m_flush_tdata, 14)),
        reject(sim.rng(), Port(sim.dut.m_reject_tvalid, 1), Port(sim.dut.m_reject_tready, 1),
               Port(sim.dut.m_reject_tdata, 256)),
        lives(P_QpCount) {
    for (Agent* a :
         {static_cast<Agent*>(this), static_cast<Agent*>(&wqe), static_cast<Agent*>(&kick), static_cast<Agent*>(&cmd),
          static_cast<Agent*>(&bad), static_cast<Agent*>(&flush), static_cast<Agent*>(&reject)})
      sim.add(*a);
    for (auto& l : lives) l.emplace_back();
    cmd.on_beat = [this](const Bytes& b) { on_command(b); };
    bad.on_beat = [this](const Bytes& b) { on_bad(b); };
    flush.on_beat = [this](const Bytes& b) { on_flush(b); };
    reject.on_beat = [this](const Bytes& b) { on_reject(b); };
    latency = static_cast<unsigned>(sim.rng().between(3, 12));
    sim.reset();
    sim.run_until([this] { return sim.dut.ready_o != 0; }, 40'000);
  }

  // ---- doing --------------------------------------------------------------------------------------

  void step() {
    sim.step();
    for (auto* s : {&cmd, &bad, &flush, &reject}) s->beats.clear();
  }
  void run(std::uint64_t cycles) {
    for (std::uint64_t i = 0; i < cycles; ++i) step();
  }
  template <class Done>
  void until(Done done, std::uint64_t limit, const char* what) {
    for (std::uint64_t i = 0; i < limit; ++i) {
      if (done()) return;
      step();
    }
    if (!done()) FAIL("not done after " << limit << " cycles: " << std::string(what) << ", ROCEGEN_SEED=" << seed());
  }
  std::uint64_t now() const { return sim.cycle(); }
  Rng& rng() { return sim.rng(); }
  Life& life(std::uint32_t q) { return lives[q].back(); }

  /// Starts a queue pair anew; with hold, as sq_ack does it. Returns the cycles until all was idle.
  std::uint64_t setup(const Config& c) {
    hold = true;
    const auto start = now();
    until(
        [&] {
          return sim.dut.idle_o != 0 && bad_open == 0 && due.empty() && !sim.dut.m_bad_tvalid && now() > start + 2;
        },
        1500, "idle for a set-up");
    const auto cycles = now() - start;
    setting = c;
    step();
    setting.reset();
    run(rng().below(4));
    hold = false;
    return cycles;
  }

  /// Numbers and offers a request.
  void post(Req r) {
    r.wr_id = rng().next();
    wqe.push(Record(512)
                 .put(r.compare, 64)
                 .put(r.swap_add, 64)
                 .put(r.imm, 32)
                 .put(r.rkey, 32)
                 .put(r.raddr, 64)
                 .put(rng().next(), 32)
                 .put(r.length, 32)
                 .put(r.laddr, 64)
                 .put(r.wr_id, 64)
                 .put(rng().next(), 8)
                 .put(r.qpn, 24)
                 .put(rng().next(), 13)
                 .put(r.target, 3)
                 .put(r.flags, 8)
                 .put(r.op, 8)
                 .value());
    offered.push_back(r);
  }
  /// A request with everything but its kind at random.
  Req make(std::uint32_t q, unsigned op, std::uint32_t length, unsigned flags = 1) {
    Req r;
    r.qpn = q;
    r.op = op;
    r.length = length;
    r.flags = flags;
    r.target = static_cast<unsigned>(rng().below(8));
    r.laddr = rng().next();
    r.raddr = rng().next();
    r.swap_add = rng().next();
    r.compare = rng().next();
    r.rkey = static_cast<std::uint32_t>(rng().next());
    r.imm = static_cast<std::uint32_t>(rng().next());
    return r;
  }

  /// One event of sq_ack: the new row is in force now, told `latency` cycles later; `always` kicks, else only a QP
  /// whose mark is set.
  void told(std::uint32_t q, bool always) {
    Life& l = life(q);
    due.push_back(
        {now() + latency, q, l.number, l.state, l.una, l.gen, l.rdu, l.limited, l.lsn, l.rnr, always || l.blocked});
    if (l.una != acked_before_) l.quiet_since = now();
  }
  void move_una(std::uint32_t q, std::uint64_t una) {
    Life& l = life(q);
    REQUIRE(una >= l.una);
    l.una = una;
    l.rdu = l.reads_before(una);
    l.quiet_since = now();
  }
  void rewind(std::uint32_t q) {
    Life& l = life(q);
    l.gen = (l.gen + 1) & 15U;
    ++l.rewinds;
    l.quiet_since = now();
    told(q, true);
  }
  void set_state(std::uint32_t q, unsigned state) {
    life(q).state = state;
    life(q).state_since = now();
    if (state == kErr) life(q).fail_time = now();
    told(q, true);
  }
  void set_rnr(std::uint32_t q, bool on) {
    Life& l = life(q);
    l.rnr = on;
    l.rnr_since = now();
    l.rnr_sent = 0;
    l.quiet_since = now();
    if (on) {
      l.gen = (l.gen + 1) & 15U;
      ++l.rewinds;
    }
    told(q, !on);
  }

  bool all_acked(std::uint32_t q) {
    Life& l = life(q);
    return l.una == l.next || l.state == kErr || l.state == kReset;
  }
  bool quiet() {
    if (!offered.empty()) return false;
    for (std::uint32_t q = 0; q < P_QpCount; ++q)
      if (!all_acked(q)) return false;
    return true;
  }

  // ---- every cycle ----------------------------------------------------------------------------------

  void drive() override {
    auto& d = sim.dut;
    d.hold_i = hold ? 1 : 0;
    d.set_valid_i = 0;
    d.state_we_i = 0;
    d.head_we_i = 0;
    d.mem_we_i = 0;
    Port(d.set_i, 343).set_value(rng().bits(343));
    d.state_qpn_i = static_cast<unsigned>(rng().below(P_QpCount));
    d.head_qpn_i = static_cast<unsigned>(rng().below(P_QpCount));
    d.mem_qpn_i = static_cast<unsigned>(rng().below(P_QpCount));
    if (setting) {
      begin(*setting);
      return;
    }
    if (!hold) act();
    if (!due.empty() && due.front().time <= now()) {
      const Told t = due.front();
      due.pop_front();
      put_state(t);
      if (t.kick) kick.push(Record(14).put(t.qpn, 14).value());
    }
    retire();
  }

  void sample() override {
    auto& d = sim.dut;
    // With LowLatency a tail is told in the cycle before its slot is written.
    const Tail tail{d.tail_we_o != 0, d.tail_qpn_o, d.tail_o};
    tail_told = P_LowLatency != 0 ? std::exchange(tail_before, tail) : tail;
    if (d.cursor_we_o != 0) on_cursor();
    if (d.rd_we_o != 0) on_read();
    if (d.wqe_we_o != 0) on_slot();
    if (d.cnt_sq_wqes_o != 0) ++queued;
    if (d.cnt_sq_wqes_rejected_o != 0) {
      ++rejected;
      REQUIRE(!offered.empty());
      REQUIRE_MESSAGE(life_of(offered.front()) == nullptr, "a request was rejected for no reason");
      rejects.push_back(offered.front());
      offered.pop_front();
    }
    if (d.cnt_sq_packets_o != 0) {
      decided.push_back(now() - 1);
      ++packets;
    }
    resent_count += d.cnt_sq_retransmits_o;
    window_waits += d.cnt_sq_window_closed_o;
    credit_waits += d.cnt_sq_credit_waits_o;
    read_waits += d.cnt_sq_read_waits_o;
    fence_waits += d.cnt_sq_fence_waits_o;
    bad_count += d.cnt_sq_wqes_bad_o;
    full_count += d.cnt_sq_ring_full_o;
    if (d.s_wqe_tvalid != 0 && d.s_wqe_tready != 0) taken_times.push_back(now());
  }

  // ---- state of the model, open to the tests ----------------------------------------------------------

  Sim<Vdut> sim;
  StreamSource wqe, kick;
  StreamSink cmd, bad, flush, reject;
  Chances chances;
  std::vector<std::vector<Life>> lives;
  std::deque<Req> offered;
  struct Told {
    std::uint64_t time;
    std::uint32_t qpn;
    std::uint64_t life;
    unsigned state;
    std::uint64_t una;
    unsigned gen;
    std::uint64_t rdu;
    bool limited;
    std::uint64_t lsn;
    bool rnr;
    bool kick;
  };
  std::deque<Told> due;
  struct Tail {
    bool valid = false;
    std::uint32_t qpn = 0, idx = 0;
  };
  Tail tail_told;    ///< belongs to the slot that is written in this cycle
  Tail tail_before;  ///< told in the cycle before
  unsigned latency = 3;
  bool hold = false;
  std::optional<Config> setting;
  std::uint32_t active = P_QpCount;   // QPs that act() looks at
  std::deque<std::uint64_t> decided;  // when the packets in front of m_cmd were decided on
  std::deque<std::uint64_t> taken_times, cmd_times;
  std::uint64_t queued = 0, rejected = 0, packets = 0, commands = 0, resent_count = 0, model_resent = 0;
  std::uint64_t window_waits = 0, credit_waits = 0, read_waits = 0, fence_waits = 0, bad_count = 0, full_count = 0;
  std::uint64_t bads = 0, flushes = 0, probes = 0, fenced = 0, partial = 0, dropped = 0, jumps = 0, slots = 0;
  unsigned bad_open = 0;
  std::uint64_t op_count[16] = {};

 private:
  std::uint64_t acked_before_ = 0;
  std::uint32_t turn_ = 0;

  void put_state(const Told& t) {
    auto& d = sim.dut;
    Life& l = life(t.qpn);
    REQUIRE(l.number == t.life);
    d.state_we_i = 1;
    d.state_qpn_i = t.qpn;
    d.state_i = t.state;
    d.una_i = static_cast<std::uint32_t>(t.una % kPsn);
    d.gen_i = t.gen;
    d.rdu_i = static_cast<std::uint8_t>(t.rdu);
    d.limited_i = t.limited ? 1 : 0;
    d.lsn_i = static_cast<std::uint32_t>(t.lsn & 0x3FFFFF);
    d.rnr_i = t.rnr ? 1 : 0;
    if (l.told.empty() || l.told.back().second != t.una) l.told.emplace_back(now(), t.una);
    l.credit.emplace_back(now(), t.limited, t.lsn);
  }

  void begin(const Config& c) {
    auto& d = sim.dut;
    Life l;
    l.cfg = c;
    l.number = lives[c.qpn].size();
    l.state = c.state;
    // So far up that nothing ever gets below zero.
    l.next = l.una = l.expect = l.nxt = l.cursor_nxt = l.epsn = l.ackable = (1ULL << 40) + c.sq_psn;
    l.quiet_since = now();
    lives[c.qpn].push_back(std::move(l));
    put_state({now(), c.qpn, lives[c.qpn].size() - 1, c.state, life(c.qpn).una, 0, 0, false, 0, false, false});
    kick.push(Record(14).put(c.qpn, 14).value());
    d.head_we_i = 1;
    d.head_qpn_i = c.qpn;
    d.head_i = 0;
    d.set_valid_i = 1;
    d.set_life_i = (lives[c.qpn].size() - 1) % 64;
    Port(d.set_i, 343)
        .set_value(Record(343)
                       .put(1, 1)
                       .put(c.qpn, 24)
                       .put(c.state, 3)
                       .put(c.pmtu, 3)
                       .put(0, 4)
                       .put(0, 32)
                       .put(rng().next(), 24)
                       .put(c.sq_psn, 24)
                       .put(rng().next(), 24)
                       .put(0, 32)
                       .put(0, 64)
                       .put(rng().next(), 16)
                       .put(c.sq_base, 20)
                       .put(c.sq_log2, 5)
                       .put(c.max_rd, 8)
                       .put(rng().next(), 8)
                       .put(0, 2)
                       .put(0, 16)
                       .put(0, 25)
                       .put(rng().next(), 8)
                       .value());
  }

  bool chance(unsigned per_10000) { return per_10000 != 0 && rng().below(10'000) < per_10000; }

  /// What sq_ack and the peer do in a cycle: one event every second cycle, QP after QP.
  void act() {
    if (now() % 2 != 0) return;
    turn_ = (turn_ + 1) % active;
    const std::uint32_t q = turn_;
    Life& l = life(q);
    if (l.number == 0 || l.state == kReset || l.state == kErr || l.state == kRtr) return;
    acked_before_ = l.una;
    const std::uint64_t limit = std::min(l.ackable, l.cursor_nxt);
    if (l.state == kSqd && now() - l.state_since > 300) {
      set_state(q, kRts);
    } else if (l.rnr) {
      if (now() - l.rnr_since > 150 && rng().percent(10)) set_rnr(q, false);
    } else if (limit > l.una && (chances.ack_all || rng().percent(chances.advance))) {
      const auto step = chances.ack_all || rng().percent(30) ? limit - l.una : rng().between(1, limit - l.una);
      // The peer tells its credits with every acknowledgement. It has room for a request every now and then.
      move_una(q, l.una + step);
      if (chance(chances.limited * 20)) l.limited = !l.limited;
      const auto done = l.at(l.epsn);
      l.lsn = std::max<std::uint64_t>(l.lsn, done + (rng().percent(60) ? 0 : rng().below(4)));
      if (chance(chances.rnr * 20)) {
        set_rnr(q, true);
      } else if (chance(chances.nak * 20)) {
        rewind(q);
      } else {
        told(q, false);
      }
    } else if (l.cursor_nxt > l.una && chances.timeout != 0 && now() - l.quiet_since > chances.timeout) {
      rewind(q);
    } else if (chance(chances.sqd) && l.state == kRts) {
      set_state(q, kSqd);
    } else if (chance(chances.event)) {
      set_state(q, kErr);
    }
  }

  /// The completer: heads follow what is acknowledged, READs when their data is in memory; a dead ring is flushed.
  void retire() {
    auto& d = sim.dut;
    if (rng().percent(70)) {
      const auto q = static_cast<std::uint32_t>(rng().below(active));
      Life& l = life(q);
      if (l.told.empty() || l.mem == l.rdu || hold) return;
      // Only what the engine has been told already.
      const std::uint64_t known = l.reads_before(l.told.back().second);
      if (l.mem < known && (chances.ack_all || rng().percent(chances.mem))) {
        l.mem = chances.ack_all ? known : l.mem + 1;
        d.mem_we_i = 1;
        d.mem_qpn_i = q;
        d.mem_i = static_cast<std::uint8_t>(l.mem);
      }
    }
    const auto q = chances.ack_all ? turn_ : static_cast<std::uint32_t>(rng().below(active));
    Life& l = life(q);
    if (hold || l.told.empty()) return;
    std::uint64_t head = l.head;
    if (l.state == kErr) {
      if (l.flush_seen) head = l.reqs.size();
    } else {
      while (head < l.reqs.size() && l.reqs[head].last < l.told.back().second &&
             (!l.reqs[head].reads() || l.reqs[head].before < l.mem))
        ++head;
    }
    if (head == l.head) return;
    l.flush_seen = false;
    l.head = chances.ack_all || rng().percent(50) ? head : l.head + 1;
    if (l.head != head && l.state == kErr) l.flush_seen = true;
    d.head_we_i = 1;
    d.head_qpn_i = q;
    d.head_i = static_cast<std::uint32_t>(l.head & 0x3FFFFF);
  }

  // ---- what the engine says -------------------------------------------------------------------------

  void on_slot() {
    auto& d = sim.dut;
    REQUIRE(!offered.empty());
    REQUIRE_MESSAGE(life_of(offered.front()) != nullptr, "a slot was written for a request that must be rejected");
    Req r = offered.front();
    offered.pop_front();
    Life& l = life(r.qpn);
    ++slots;
    const bool known = std::find(std::begin(kOps), std::end(kOps), r.op) != std::end(kOps) && (r.flags & 0xF8U) == 0;
    const std::uint64_t packets_needed =
        r.atomic() || r.length == 0 ? 1 : (std::uint64_t{r.length} + l.mtu() - 1) / l.mtu();
    if (!known || (r.reads() && l.cfg.max_rd == 0)) {
      r.bad = kBadOp;
    } else if (!r.atomic() && (r.length > 0x80000000U || (r.op == kRead && packets_needed > (1U << 22)))) {
      r.bad = kBadLen;
    }
    const auto idx = l.reqs.size();
    const std::uint64_t size = 1ULL << l.cfg.sq_log2;
    REQUIRE_MESSAGE(idx - l.head < size, "a full ring took a request");
    r.first = l.next;
    r.last = l.next + (r.bad != kGood ? 1 : packets_needed) - 1;
    r.before = l.reads;
    if (r.reads() && r.bad == kGood) ++l.reads;
    l.next = r.last + 1;
    l.reqs.push_back(r);
    REQUIRE(tail_told.valid);
    REQUIRE(tail_told.qpn == r.qpn);
    REQUIRE(unwrap(tail_told.idx, kIdxW, idx) == idx + 1);
    REQUIRE(d.wqe_slot_o == l.cfg.sq_base + idx % size);
    Record q(Port(d.req_o, 348).value(), 348);
    REQUIRE(q.get(1) == ((idx / size) & 1U));
    REQUIRE_MESSAGE(q.get(2) == r.bad, "op " << r.op << " length " << r.length << " pmtu " << l.cfg.pmtu);
    if (r.bad == kGood) {
      REQUIRE(q.get(4) == r.op);
      REQUIRE(q.get(1) == ((r.flags & kFence) != 0 ? 1U : 0U));
      REQUIRE(q.get(1) == ((r.flags & kSolicited) != 0 && r.receives() ? 1U : 0U));
      REQUIRE(q.get(3) == r.target);
      REQUIRE(q.get(64) == r.laddr);
      REQUIRE(q.get(64) == r.raddr);
      REQUIRE(q.get(32) == r.rkey);
      REQUIRE(q.get(32) == (r.atomic() ? r.swap_add >> 32 : r.length));
      REQUIRE(q.get(32) == (r.atomic() ? r.swap_add & 0xFFFFFFFF : r.imm));
      REQUIRE(q.get(64) == (r.op == kCmpSwap ? r.compare : 0));
      REQUIRE(q.get(24) == r.first % kPsn);
      REQUIRE(q.get(24) == r.last % kPsn);
    }
    Record c(Port(d.cpl_o, 126).value(), 126);
    REQUIRE(c.get(1) == ((r.flags & kSignaled) != 0 ? 1U : 0U));
    const auto rd = c.get(1);
    if (r.bad == kGood) REQUIRE(rd == (r.reads() ? 1U : 0U));
    REQUIRE(c.get(4) == wc_opcode(r.op));
    const auto bytes = c.get(32);
    if (r.bad == kGood) REQUIRE(bytes == (r.atomic() ? 8 : r.length));
    REQUIRE(c.get(64) == r.wr_id);
    REQUIRE(c.get(24) == r.last % kPsn);
  }
  static unsigned wc_opcode(unsigned op) {
    switch (op) {
      case kWrite:
      case kWriteImm:
        return 1;
      case kRead:
        return 2;
      case kCmpSwap:
        return 3;
      case kFetchAdd:
        return 4;
      default:
        return 0;
    }
  }
  /// The life that a request is queued in; none: it must be rejected.
  Life* life_of(const Req& r) {
    if (r.qpn >= P_QpCount) return nullptr;
    Life& l = life(r.qpn);
    return l.state == kRts || l.state == kSqd || l.state == kErr ? &l : nullptr;
  }
  void on_reject(const Bytes& b) {
    REQUIRE(!rejects.empty());
    const Req r = rejects.front();
    rejects.pop_front();
    Record c(b, 256);
    REQUIRE(c.get(128) == 0);
    REQUIRE(c.get(64) == r.wr_id);
    REQUIRE(c.get(8) == 0);
    REQUIRE(c.get(24) == r.qpn);
    REQUIRE(c.get(16) == 0);
    REQUIRE(c.get(8) == wc_opcode(r.op));
    REQUIRE(c.get(8) == 2);
  }
  std::deque<Req> rejects;

  void on_cursor() {
    auto& d = sim.dut;
    if (d.set_valid_i != 0) {
      REQUIRE(d.cursor_qpn_o == setting->qpn);
      return;
    }
    Life& l = life(d.cursor_qpn_o);
    REQUIRE(l.number > 0);
    Record c(Port(d.cursor_o, 99).value(), 99);
    const auto idx = c.get(22);
    const auto psn = unwrap(c.get(24), 24, l.cursor_nxt);
    const auto nxt = unwrap(c.get(24), 24, l.cursor_nxt);
    c.get(12);
    l.blocked = c.get(1) != 0;
    const auto rd = c.get(8);
    const auto rdnxt = c.get(8);
    REQUIRE_MESSAGE(nxt >= l.cursor_nxt, "QP " << d.cursor_qpn_o << ": nxt went back");
    REQUIRE_MESSAGE(nxt <= l.next, "QP " << d.cursor_qpn_o << ": nxt is beyond what was posted");
    REQUIRE(psn <= nxt);
    REQUIRE(rd == (l.reads_before(psn) & 0xFF));
    REQUIRE(rdnxt == (l.reads_before(nxt) & 0xFF));
    // Requests that are acknowledged may still have to be passed over.
    const auto real = unwrap(idx, kIdxW, l.at(psn));
    REQUIRE(real <= l.at(psn));
    l.cursor_nxt = nxt;
  }

  void on_read() {
    auto& d = sim.dut;
    Life& l = life(d.rd_qpn_o);
    const auto n = unwrap(d.rd_num_o, 8, l.rdu);
    ++l.reads_listed;
    l.listed.insert(n);
    const auto r = std::find_if(l.reqs.begin(), l.reqs.end(),
                                [&](const Req& x) { return x.reads() && x.bad == kGood && x.before == n; });
    REQUIRE_MESSAGE(r != l.reqs.end(), "QP " << d.rd_qpn_o << " listed READ " << n << ", which there is not");
    Record c(Port(d.rd_o, 148).value(), 148);
    REQUIRE(c.get(1) == (r->atomic() ? 1U : 0U));
    REQUIRE(c.get(3) == r->target);
    REQUIRE(c.get(64) == r->laddr);
    REQUIRE(c.get(32) == (r->atomic() ? 8 : r->length));
    REQUIRE(c.get(24) == r->first % kPsn);
    REQUIRE(c.get(24) == r->last % kPsn);
  }

  void on_command(const Bytes& b) {
    Record c(b, 369);
    const auto target = c.get(3);
    const auto addr = c.get(64);
    const auto number = c.get(6);
    const auto qpn = static_cast<std::uint32_t>(c.get(24));
    const auto opcode = c.get(8);
    const auto se = c.get(1);
    const auto ackreq = c.get(1) != 0;
    const auto psn24 = c.get(24);
    const auto bytes = c.get(14);
    const auto va = c.get(64);
    const auto rkey = c.get(32);
    const auto dma_len = c.get(32);
    const auto compare = (c.get(32) << 32);
    const auto imm = c.get(32);
    const auto compare_lo = c.get(32);
    ++commands;
    cmd_times.push_back(now());
    REQUIRE(qpn < P_QpCount);
    REQUIRE_MESSAGE(!decided.empty(), "a command before its packet was counted");
    const auto when = decided.front();
    decided.pop_front();
    // The life in which it was decided on: set-ups wait until every packet is decided.
    std::size_t n = lives[qpn].size() - 1;
    while (n > 1 && start_of(qpn, n) > when) --n;
    Life& l = lives[qpn][n];
    const bool alive = n + 1 == lives[qpn].size();
    REQUIRE_MESSAGE(number == n % 64, "a packet of another life's number");
    const std::uint64_t psn = unwrap(psn24, 24, l.nxt);
    REQUIRE_MESSAGE(psn < l.next, "QP " << qpn << ": nothing is posted at PSN " << psn24);
    const std::size_t index = l.at(psn);
    const Req& r = l.reqs[index];
    REQUIRE(psn >= r.first);
    REQUIRE_MESSAGE(r.bad == kGood, "a bad request was sent");
    const bool first = psn == r.first;
    const bool last = r.reads() || psn == r.last;
    const std::uint64_t k = psn - r.first;
    ++op_count[r.op];

    // The packet itself.
    static constexpr std::uint64_t kSendOps[] = {0x00, 0x01, 0x02, 0x04};
    static constexpr std::uint64_t kWriteOps[] = {0x06, 0x07, 0x08, 0x0A};
    const unsigned place = first ? (last ? 3 : 0) : (last ? 2 : 1);
    std::uint64_t want = r.sends() ? kSendOps[place] : kWriteOps[place];
    if (last && (r.op == kSendImm || r.op == kWriteImm)) ++want;
    if (last && r.op == kSendInv) want = first ? 0x17 : 0x16;
    if (r.op == kRead) want = 0x0C;
    if (r.op == kCmpSwap) want = 0x13;
    if (r.op == kFetchAdd) want = 0x14;
    REQUIRE_MESSAGE(opcode == want, "op " << r.op << " place " << place << ": opcode " << opcode);
    REQUIRE(se == (last && r.receives() && (r.flags & kSolicited) != 0 ? 1U : 0U));
    REQUIRE(addr == (r.reads() ? 0 : r.laddr + k * l.mtu()));
    REQUIRE(target == (r.reads() ? 0 : r.target));
    REQUIRE(bytes == (r.reads() ? 0 : last ? r.length - k * l.mtu() : l.mtu()));
    const bool reth = r.reads() || (first && !r.sends());
    REQUIRE(va == (r.op == kRead ? r.raddr + k * l.mtu() : reth ? r.raddr : 0));
    REQUIRE(rkey == (reth ? r.rkey : 0));
    REQUIRE(compare + compare_lo == (r.op == kCmpSwap ? r.compare : 0));
    if (r.atomic()) {
      REQUIRE((dma_len << 32) + imm == r.swap_add);
    } else {
      REQUIRE(dma_len == (r.op == kRead ? r.length - k * l.mtu() : reth ? r.length : 0));
      const bool with = last && (r.op == kSendImm || r.op == kWriteImm || r.op == kSendInv);
      REQUIRE(imm == (with ? r.imm : 0));
    }
    if (r.reads() && k != 0) ++partial;

    // Its turn: the next PSN, or wherever an acknowledgement had put the cursor when its turn began.
    const bool again = psn < l.nxt;
    REQUIRE_MESSAGE(psn <= l.nxt, "QP " << qpn << " jumped over a PSN");
    if (psn != l.expect) {
      bool caused = false;
      for (std::size_t i = l.told.size(); i-- > 0 && !caused;) {
        caused = l.told[i].second == psn && l.told[i].first <= when;
        if (l.told[i].first + 40 < l.last_decided) break;
      }
      REQUIRE_MESSAGE(caused, "QP " << qpn << " went from PSN " << l.expect << " to " << psn << " without a cause");
      if (psn < l.expect) {
        ++l.jumps;
        ++jumps;
        REQUIRE_MESSAGE(l.jumps <= l.rewinds, "QP " << qpn << " went back more often than it was told to");
      }
    }
    l.last_decided = when;
    const std::uint64_t behind = r.reads() ? r.last + 1 : psn + 1;
    l.expect = behind;
    if (again) {
      ++model_resent;
    } else {
      l.nxt = behind;
    }
    ++l.sent;

    // What it had to wait for. The bench knows more than the engine did then, so this never asks too much.
    REQUIRE_MESSAGE(psn < l.una + P_WindowPkts, "QP " << qpn << " overran its window");
    ++l.since;
    REQUIRE_MESSAGE((ackreq || !(last || l.since >= P_AckInterval)), "no AckReq on PSN " << psn24);
    if (ackreq) l.since = 0;
    if (r.receives() && alive && starved(l, index, when)) {
      if (first) {
        REQUIRE_MESSAGE(l.una >= psn, "QP " << qpn << " sent request " << index << " without credit");
        REQUIRE_MESSAGE(ackreq, "a probe that asks for no answer");
        l.probe = psn;
        ++probes;
      } else {
        // Of a request that began before credits were counted more may go.
        REQUIRE_MESSAGE((l.una > r.first || l.probe != r.first), "QP " << qpn << " went on with a probe too early");
      }
    }
    if (r.reads()) {
      ++l.reads_sent;
      REQUIRE_MESSAGE(r.before < l.rdu + l.read_limit(), "QP " << qpn << " has too many READs outstanding");
      REQUIRE_MESSAGE(l.listed.count(r.before) == 1, "QP " << qpn << " did not list READ " << r.before);
    }
    if (first && (r.flags & kFence) != 0) {
      REQUIRE_MESSAGE(l.mem >= r.before, "QP " << qpn << " passed a fence");
      ++fenced;
    }
    if (alive && l.rnr && when > l.rnr_since + latency) {
      // A turn that was open goes on: a quantum and what waits.
      ++l.rnr_sent;
      REQUIRE_MESSAGE(l.rnr_sent <= P_Quantum, "QP " << qpn << " sends in its RNR wait");
      if (cmd.stall_percent == 0) REQUIRE_MESSAGE(when < l.rnr_since + latency + 100, "sent late in an RNR wait");
    }
    if (alive && l.state == kSqd && first && !again && cmd.stall_percent == 0)
      REQUIRE_MESSAGE(when < l.state_since + latency + 100, "QP " << qpn << " began a message in SQD");
    if (alive && l.state == kErr && cmd.stall_percent == 0)
      REQUIRE_MESSAGE(when < l.fail_time + latency + 100, "QP " << qpn << " sends in ERR");

    // The link and the peer.
    if (!alive || chance(chances.drop)) {
      ++dropped;
      return;
    }
    if (psn == l.epsn) l.epsn = behind;
    // A READ is answered, and a duplicate as well; the rest is acknowledged when it asks for it.
    if (behind <= l.epsn && ackreq) l.ackable = std::max(l.ackable, l.epsn);
  }
  /// No state that the turn can have seen let request `index` go. Turns are fetched some ten turns ahead.
  bool starved(const Life& l, std::size_t index, std::uint64_t when) const {
    if (cmd.stall_percent != 0) return false;
    for (std::size_t i = l.credit.size(); i-- > 0;) {
      const auto& [time, limited, lsn] = l.credit[i];
      if (time > when) continue;
      if (!limited || index < lsn) return false;
      if (time + 12 * (P_Quantum + 16) < when) return true;
    }
    return false;
  }
  std::uint64_t start_of(std::uint32_t q, std::size_t n) const {
    return lives[q][n].told.empty() ? 0 : lives[q][n].told.front().first;
  }

  void on_bad(const Bytes& b) {
    const auto q = static_cast<std::uint32_t>(get_field(b, 0, 14));
    Life& l = life(q);
    const auto i = l.at(l.una);
    REQUIRE(i < l.reqs.size());
    const Req& r = l.reqs[i];
    ++bads;
    REQUIRE_MESSAGE(r.bad != kGood, "QP " << q << ": a good request was reported as bad");
    REQUIRE_MESSAGE(l.una == r.first, "QP " << q << ": a bad request was reported too early");
    REQUIRE(get_field(b, 14, 1) == (r.bad == kBadLen ? 1U : 0U));
    REQUIRE(l.state != kReset);
    if (l.state != kErr) set_state(q, kErr);
  }
  void on_flush(const Bytes& b) {
    const auto q = static_cast<std::uint32_t>(get_field(b, 0, 14));
    Life& l = life(q);
    // A flush that was asked for in the life before is harmless.
    if (l.state != kErr) return;
    l.flush_seen = true;
    ++flushes;
  }

 public:
  static constexpr unsigned kIdxW = static_cast<unsigned>(std::bit_width(std::uint64_t{P_WqeSlots} - 1)) + 2;
};

/// Slots of each QP when the memory is shared out evenly; a power of two.
constexpr unsigned slots_log2() {
  unsigned log2 = 0;
  while ((2ULL << log2) * P_QpCount <= P_WqeSlots && log2 < 6) ++log2;
  return log2;
}
Config config(std::uint32_t q, std::uint32_t psn, unsigned pmtu, unsigned max_rd = 4) {
  Config c;
  c.qpn = q;
  c.sq_psn = psn & 0xFFFFFF;
  c.pmtu = pmtu;
  c.max_rd = max_rd;
  c.sq_log2 = slots_log2();
  c.sq_base = q << c.sq_log2;
  return c;
}
std::uint32_t some_length(Bench& b, std::uint32_t mtu) {
  switch (b.rng().below(8)) {
    case 0:
      return 0;
    case 1:
      return mtu * static_cast<std::uint32_t>(1 + b.rng().below(4));
    case 2:
      return mtu * static_cast<std::uint32_t>(1 + b.rng().below(4)) + 1;
    case 3:
      return mtu - 1;
    case 4:
      return mtu * 12 + static_cast<std::uint32_t>(b.rng().below(mtu));
    default:
      return 1 + static_cast<std::uint32_t>(b.rng().below(3 * mtu));
  }
}
Req some_request(Bench& b, std::uint32_t q, unsigned bad_per_1000 = 0) {
  const unsigned op = kOps[b.rng().below(8)];
  unsigned flags = static_cast<unsigned>(b.rng().below(4));
  if (b.rng().percent(15)) flags |= kFence;
  Req r = b.make(q, op, some_length(b, b.life(q).number == 0 ? 256 : b.life(q).mtu()), flags);
  if (b.rng().below(1000) < bad_per_1000) {
    switch (b.rng().below(4)) {
      case 0:
        r.op = 7 + static_cast<unsigned>(b.rng().below(2));
        break;
      case 1:
        r.op |= 16U << b.rng().below(4);
        break;
      case 2:
        r.flags |= 8U << b.rng().below(5);
        break;
      default:
        r.length = 0x80000001U + static_cast<std::uint32_t>(b.rng().below(100));
    }
  }
  return r;
}

}  // namespace

TEST_CASE("every operation at every length around the MTU, nothing lost: L73 P41 L21 P38 B03") {
  for (unsigned pmtu = 1; pmtu <= 5; ++pmtu) {
    Bench b(100 + pmtu);
    b.chances.timeout = 0;
    b.active = std::min<std::uint32_t>(P_QpCount, 8);
    const auto q = static_cast<std::uint32_t>(b.rng().below(b.active));
    b.setup(config(q, 0xFFFFFE, pmtu));
    const std::uint32_t mtu = 128U << pmtu;
    for (const unsigned op : kOps)
      for (const std::uint32_t length : {0U, 1U, mtu - 1, mtu, mtu + 1, 2 * mtu, 2 * mtu + 1, 5 * mtu, 7 * mtu + 3})
        b.post(b.make(q, op, length, 1 | (b.rng().percent(50) ? kSolicited : 0)));
    b.until([&] { return b.quiet(); }, 200'000, "all acknowledged");
    CHECK(b.slots == 72);
    CHECK(b.resent_count == 0);
    CHECK(b.jumps == 0);
    for (const unsigned op : kOps) CHECK(b.op_count[op] >= 9);
    CHECK(b.op_count[kRead] == 9);
  }
}

TEST_CASE("random requests on a perfect link never need a timeout: window, READ limit, fences, credits: L42 L24 P26") {
  for (unsigned round = 0; round < 4; ++round) {
    Bench b(200 + round);
    b.chances.timeout = 0;
    b.chances.advance = round < 2 ? 30 : 3;
    b.chances.limited = round % 2 == 0 ? 0 : 100;
    const std::uint32_t busy = std::min<std::uint32_t>(P_QpCount, 8);
    b.active = busy;
    b.cmd.stall_percent = round == 3 ? 40 : 0;
    for (std::uint32_t q = 0; q < busy; ++q) b.setup(config(q, 0xFFFFF0 + q, 1 + (q + round) % 5, 1 + q % 5));
    for (int i = 0; i < 600; ++i) b.post(some_request(b, static_cast<std::uint32_t>(b.rng().below(busy))));
    b.until([&] { return b.quiet(); }, 900'000, "all acknowledged without a timeout");
    CHECK(b.slots == 600);
    CHECK(b.resent_count == 0);
    CHECK(b.jumps == 0);
    CHECK(b.packets == b.commands);
    CHECK(b.fenced > 0);
    CHECK(b.read_waits + b.window_waits > 0);
    if (round == 1) CHECK(b.probes > 0);
    if (round % 2 != 0) CHECK(b.credit_waits > 0);
    for (std::uint32_t q = 0; q < busy; ++q) CHECK(b.life(q).reads_listed == b.life(q).reads_sent);
  }
}

TEST_CASE("random loss, rewinds into messages and READs, RNR waits, SQD: L3 L4 P07 P08 P10 L27") {
  std::uint64_t partial = 0;
  for (unsigned round = 0; round < 4; ++round) {
    Bench b(300 + round);
    b.chances.drop = 300;
    b.chances.nak = 30;
    b.chances.rnr = round % 2 == 0 ? 0 : 10;
    b.chances.limited = round < 2 ? 0 : 50;
    b.chances.sqd = round == 3 ? 2 : 0;
    b.chances.advance = 10;
    b.chances.timeout = 400;
    b.cmd.stall_percent = round == 2 ? 50 : 0;
    b.wqe.stall_percent = round == 1 ? 50 : 0;
    b.kick.stall_percent = round == 3 ? 50 : 0;
    const std::uint32_t busy = std::min<std::uint32_t>(P_QpCount, 8);
    b.active = busy;
    for (std::uint32_t q = 0; q < busy; ++q)
      b.setup(config(q, static_cast<std::uint32_t>(b.rng().next()), 1 + (q + round) % 5, 1 + q % 5));
    for (int i = 0; i < 700; ++i) b.post(some_request(b, static_cast<std::uint32_t>(b.rng().below(busy))));
    b.until([&] { return b.quiet(); }, 3'000'000, "all acknowledged");
    b.run(100);
    CHECK(b.slots == 700);
    CHECK(b.packets == b.commands);
    CHECK(b.resent_count == b.model_resent);
    CHECK(b.jumps > 20);
    partial += b.partial;
    for (std::uint32_t q = 0; q < busy; ++q) CHECK(b.life(q).reads_listed == b.life(q).reads_sent);
  }
  CHECK(partial > 0);
}

TEST_CASE("everything at once with set-ups, bad requests and errors in between: L30 P43") {
  for (unsigned round = 0; round < 3; ++round) {
    Bench b(400 + round);
    b.chances.drop = 200;
    b.chances.nak = 20;
    b.chances.rnr = 10;
    b.chances.limited = 50;
    b.chances.sqd = 2;
    b.chances.event = 2;
    b.chances.advance = 10;
    b.chances.timeout = 400;
    b.cmd.stall_percent = 30 * round;
    b.bad.stall_percent = 50;
    b.flush.stall_percent = 70;
    b.reject.stall_percent = 50;
    const std::uint32_t busy = std::min<std::uint32_t>(P_QpCount, 8);
    b.active = busy;
    const auto fresh = [&](std::uint32_t q) {
      Config c = config(q, static_cast<std::uint32_t>(b.rng().next()), 1 + static_cast<unsigned>(b.rng().below(5)),
                        static_cast<unsigned>(b.rng().below(7)));
      if (b.rng().percent(10)) c.state = kRtr;
      return c;
    };
    for (std::uint32_t q = 0; q < busy; ++q) b.setup(fresh(q));
    std::uint64_t longest = 0;
    for (unsigned i = 0; i < 150; ++i) {
      for (unsigned k = 0; k < 5; ++k) {
        Req r = some_request(b, static_cast<std::uint32_t>(b.rng().below(busy)), 30);
        if (b.rng().percent(2)) r.qpn = P_QpCount + static_cast<std::uint32_t>(b.rng().below(5));
        b.post(r);
      }
      b.run(b.rng().below(800));
      // A queue pair that died or does not run starts anew, and now and then a living one, at any moment.
      for (std::uint32_t q = 0; q < busy; ++q) {
        const unsigned s = b.life(q).state;
        if (((s == kErr || s == kRtr) && b.rng().percent(50)) || b.rng().percent(3)) {
          longest = std::max(longest, b.setup(fresh(q)));
        }
      }
    }
    CHECK(longest < 200);
    CHECK(b.bads > 0);
    CHECK(b.flushes > 0);
    CHECK(b.rejected > 0);
    // All that lives comes to its end.
    b.chances = {};
    b.chances.advance = 30;
    for (std::uint32_t q = 0; q < busy; ++q) {
      Config c = fresh(q);
      c.state = kRts;
      c.max_rd = 1 + q % 4;
      b.setup(c);
      b.post(b.make(q, kRead, 3000));
    }
    b.until([&] { return b.quiet(); }, 400'000, "all acknowledged");
    CHECK(b.packets == b.commands);
    CHECK(b.resent_count == b.model_resent);
  }
}

TEST_CASE("a request that meets a set-up is queued before or after it, or rejected") {
  Bench b(450);
  b.active = 1;
  b.chances.advance = 50;
  for (int i = 0; i < 600; ++i) {
    if (b.offered.empty()) {
      b.post(b.make(0, kWrite, 100));
      if (b.rng().percent(50)) b.post(b.make(0, kSend, 100));
    }
    b.run(b.rng().below(6));
    Config c = config(0, static_cast<std::uint32_t>(b.rng().next()), 1);
    if (b.rng().percent(50)) c.state = kRtr;
    b.setup(c);
  }
  b.run(1000);
  CHECK(b.offered.empty());
  CHECK(b.rejected > 50);
  CHECK(b.slots > 50);
  CHECK(b.packets == b.commands);
}

TEST_CASE("a set-up never waits for m_cmd") {
  Bench b(500);
  b.setup(config(0, 5, 1));
  b.cmd.stall_percent = 100;
  b.chances.timeout = 0;
  for (int i = 0; i < 8; ++i) b.post(b.make(0, kWrite, 256 * 40));
  b.run(500);
  CHECK(b.setup(config(P_QpCount - 1, 9, 2)) < 100);
  b.cmd.stall_percent = 0;
  b.run(200);
}

TEST_CASE("READ bounds: 2^22 packets go, more are refused; max_rd 0 refuses READs and atomics: L39") {
  Bench b(600);
  b.active = 1;
  b.chances.timeout = 0;
  b.setup(config(0, 0xC00000, 1, 1));
  b.post(b.make(0, kRead, 1U << 30));
  b.until([&] { return b.quiet(); }, 20'000, "a READ of 2^22 packets");
  b.post(b.make(0, kWrite, 1));
  b.post(b.make(0, kRead, (1U << 30) + 1));
  b.until([&] { return b.bads == 1; }, 20'000, "a READ that is too long");
  b.setup(config(0, 0xC00000, 2, 1));
  b.post(b.make(0, kRead, 1U << 31));
  b.until([&] { return b.quiet(); }, 20'000, "a READ of 2^31 bytes");
  for (const unsigned op : {kRead, kCmpSwap, kFetchAdd}) {
    b.setup(config(0, 1, 1, 0));
    b.post(b.make(0, kSend, 700));
    b.post(b.make(0, op, 8));
    const auto before = b.bads;
    b.until([&] { return b.bads == before + 1; }, 20'000, "a READ or atomic of a QP that may have none");
  }
}

TEST_CASE("a rewind at every PSN of a long READ asks for the rest: P08 L4") {
  Bench b(700);
  b.chances.advance = 0;
  b.chances.timeout = 0;
  for (unsigned pmtu = 1; pmtu <= 5; ++pmtu) {
    b.setup(config(0, 0xFFFFF0, pmtu, 1));
    b.post(b.make(0, kRead, 32 * (128U << pmtu) - 5));
    b.until([&] { return b.life(0).nxt == b.life(0).next && b.offered.empty() && b.life(0).next != b.life(0).una; },
            5000, "the READ");
    for (unsigned i = 1; i < 32; ++i) {
      const auto sent = b.commands;
      b.move_una(0, b.life(0).una + 1);
      b.rewind(0);
      b.until([&] { return b.commands == sent + 1; }, 500, "the rest");
      b.run(60);
      CHECK(b.commands == sent + 1);
    }
  }
  CHECK(b.partial == 5 * 31);
}

TEST_CASE("fences: a WRITE in front does not matter, a READ in front does, and its data: L42") {
  Bench b(800);
  if (P_WindowPkts < 4) return;
  b.active = 1;
  b.chances.advance = 0;
  b.chances.timeout = 0;
  b.setup(config(0, 7, 3, 4));
  b.post(b.make(0, kWrite, 10));
  b.post(b.make(0, kSend, 10, kFence));
  b.until([&] { return b.commands == 2; }, 500, "a fenced SEND behind a WRITE");
  b.post(b.make(0, kRead, 10));
  b.post(b.make(0, kSend, 10, kFence));
  b.run(300);
  CHECK(b.commands == 3);
  CHECK(b.fence_waits == 1);
  // Its response is accepted: the fence still waits for the data.
  b.chances.mem = 0;
  b.move_una(0, b.life(0).una + 3);
  b.told(0, false);
  b.run(300);
  CHECK(b.commands == 3);
  b.chances.mem = 100;
  b.until([&] { return b.commands == 4; }, 100, "the fenced SEND");
  CHECK(b.life(0).mem == 1);
}

TEST_CASE("throughput and latency") {
  struct Load {
    const char* name;
    unsigned op;
    std::uint32_t length, qps;
    unsigned most_per_100;  // cycles
  };
  const std::uint32_t many = std::min<std::uint32_t>(P_QpCount, 512);
  for (const Load load : {Load{"WRITE 64 B, one QP", kWrite, 64, 1, 240},
                          {"WRITE 64 B, all QPs", kWrite, 64, many, 240},
                          {"SEND 64 B, one QP", kSend, 64, 1, 240},
                          {"READ 64 B, one QP", kRead, 64, 1, 400},
                          {"READ 64 B, all QPs", kRead, 64, many, 320},
                          {"FetchAdd, one QP", kFetchAdd, 8, 1, 400},
                          {"WRITE 4 KB in packets of 256 B, one QP", kWrite, 4096, 1, 300}}) {
    if (P_QpCount < 512) break;
    Bench b(900);
    b.chances.timeout = 0;
    b.chances.ack_all = true;
    b.latency = 5;
    for (std::uint32_t q = 0; q < load.qps; ++q) {
      Config c = config(q, 3, 1, 16);
      if (load.qps == 1) c.sq_log2 = 8;
      b.setup(c);
    }
    b.active = load.qps;
    const std::uint64_t packets = std::max(1U, load.length / 256);
    const std::uint64_t count = 4000 / packets;
    // One first, alone: its latency.
    b.run(2000);
    b.post(b.make(0, load.op, 8));
    b.until([&] { return b.cmd_times.size() == 1; }, 1000, load.name);
    const auto latency = b.cmd_times[0] - b.taken_times[0];
    b.run(200);
    b.cmd_times.clear();
    // In SQD the requests of one queue pair wait in its ring, so its own speed shows, not that of posting.
    if (load.qps == 1) {
      b.set_state(0, kSqd);
      b.run(20);
    }
    for (std::uint64_t i = 0; i < count; ++i)
      b.post(b.make(static_cast<std::uint32_t>(i % load.qps), load.op, load.length));
    b.until([&] { return b.cmd_times.size() == count * packets; }, 60'000, load.name);
    const auto speed = [&](std::uint64_t from, std::uint64_t to) {
      return static_cast<double>(b.cmd_times[to] - b.cmd_times[from]) / static_cast<double>(to - from);
    };
    const double each = speed(count * packets / 4, count * packets - 1);
    std::printf("%-40s %.2f cycles a packet, %.2f from a full ring; latency %llu cycles\n", load.name, each,
                load.qps == 1 ? speed(0, 200) : 0.0, static_cast<unsigned long long>(latency));
    CHECK(latency <= (P_LowLatency != 0 ? 12 : 24));
    if (load.qps == 1) CHECK(speed(0, 200) * 100 <= load.most_per_100);
    CHECK(each * 100 <= load.most_per_100);
  }
}
