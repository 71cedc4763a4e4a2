// Host and peer of sq_engine: posts work requests, plays the responders of all QPs over a lossy link, and
// checks every packet, completion, error and event.
//
// Every request gets a number that its local and remote address carry in bits 62..33, so a packet or a
// completion tells whose it is, in any order and after any set-up. A queue pair has one Life for each
// set-up; what the engine still had in its output queues when a Life ended is checked against that Life.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "tests/rtl/bench.h"

namespace rocegen::bench::sq {

inline constexpr unsigned kReset = 0, kInit = 1, kRtr = 2, kRts = 3, kSqd = 4, kErr = 5;
inline constexpr unsigned kOk = 0, kLenErr = 1, kQpOpErr = 2, kProtErr = 4, kFlush = 5, kInvReq = 9, kAccess = 10,
                          kRemOp = 11, kRetryExc = 12;
inline constexpr unsigned kEvtReadErr = 3, kEvtRetryExc = 5, kEvtPeerNak = 6, kEvtBadWqe = 7;
inline constexpr std::uint32_t kPsnMask = 0xFFFFFF;

/// Distance from b to a on the PSN circle, -2^23 .. 2^23-1.
inline int psn_diff(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t d = (a - b) & kPsnMask;
  return d >= 0x800000 ? static_cast<int>(d) - 0x1000000 : static_cast<int>(d);
}
inline std::uint32_t psn_add(std::uint32_t a, std::uint32_t n) { return (a + n) & kPsnMask; }

struct Wqe {
  std::uint64_t id = 0;
  std::uint32_t qpn = 0;
  std::uint64_t laddr = 0, raddr = 0;
  std::uint32_t rkey = 0, length = 0;
  unsigned opcode = 0, flags = 1;
  bool bad() const { return opcode != 0 || (flags & 0xF8U) != 0 || length > 0x80000000U; }
  unsigned bad_status() const { return (opcode != 0 || (flags & 0xF8U) != 0) ? kQpOpErr : kLenErr; }
  // From here on the model's.
  std::size_t life = 0;
  std::size_t number = 0;  // place in its Life
  std::uint32_t first = 0, last = 0;
  bool completed = false;
};

struct Config {
  std::uint32_t qpn = 0;
  bool setup = true;
  unsigned state = kRts, pmtu = 1, retry_cnt = 7, timeout = 4;
  std::uint32_t sq_psn = 0, dip = 0x0A000001, sq_base = 0;
  unsigned sq_log2 = 2;
  unsigned pkey = 0xFFFF;
};

struct Command {
  std::uint64_t addr = 0;
  std::uint32_t qpn = 0, psn = 0, bytes = 0, rkey = 0, dma_len = 0;
  unsigned opcode = 0;
  bool ackreq = false;
  std::uint64_t va = 0;
};

struct Ack {
  std::uint32_t qpn = 0, psn = 0, msn = 0;
  unsigned syndrome = 0x1F;
  std::uint32_t src_ip = 0x0A000001;
  unsigned pkey = 0xFFFF, opcode = 0x11;
};

struct Cqe {
  std::uint64_t wr_id = 0;
  std::uint32_t qpn = 0, bytes = 0, syndrome = 0;
  unsigned status = 0, opcode = 0;
};

/// What happened to a queue pair between two set-ups.
struct Life {
  Config cfg;
  unsigned state = kReset;
  std::vector<std::uint64_t> wqes;  // ids, in ring order
  std::uint32_t next_psn = 0;       // of the next request posted
  // requester as seen from outside
  std::uint32_t una = 0;
  std::uint32_t nxt = 0;
  std::optional<std::uint32_t> last_sent;
  std::set<std::uint32_t> una_history;  // where a cursor may have been moved to
  std::uint64_t jumps_back = 0;
  std::uint64_t sent = 0, resent = 0;
  unsigned since = 0;  // packets since AckReq
  // completions
  std::size_t next_complete = 0;
  bool failed = false;  // by something that happened at a known time
  unsigned fail_status = 0;
  unsigned fail_syndrome = 0;
  bool flushing = false;         // an error completion was seen
  std::vector<unsigned> causes;  // events expected, in order; 0: any
  std::size_t events = 0, errs = 0;
  std::set<unsigned> told;  // causes of the events that came
  // the peer
  std::uint32_t epsn = 0, msn = 0;
  std::uint64_t peer_time = 0, ack_time = 0;  // of the newest arrival
  bool nak_sent = false;
  bool peer_dead = false;
  std::uint64_t in_message = 0;  // bytes of the open message that arrived
};

/// Chances in percent, delays in cycles.
struct Link {
  unsigned drop = 0, ack_drop = 0, ack_double = 0;
  unsigned delay_min = 20, delay_max = 20;
  unsigned fatal_per_10000 = 0;
  bool answer = true;    // the peer acknowledges
  bool reorder = false;  // delays change the order
};

template <class Dut>
class Bench {
 public:
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        wqe(sim.rng(), Port(sim.dut.s_wqe_tvalid, 1), Port(sim.dut.s_wqe_tready, 1), Port(sim.dut.s_wqe_tdata, 512)),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1), Port(sim.dut.s_cfg_tdata, 276)),
        ack(sim.rng(), Port(sim.dut.s_ack_tvalid, 1), Port(sim.dut.s_ack_tready, 1), Port(sim.dut.s_ack_tdata, 367)),
        evt(sim.rng(), Port(sim.dut.s_evt_tvalid, 1), Port(sim.dut.s_evt_tready, 1), Port(sim.dut.s_evt_tdata, 31)),
        cmd(sim.rng(), Port(sim.dut.m_cmd_tvalid, 1), Port(sim.dut.m_cmd_tready, 1), Port(sim.dut.m_cmd_tdata, 328)),
        cqe(sim.rng(), Port(sim.dut.m_cqe_tvalid, 1), Port(sim.dut.m_cqe_tready, 1), Port(sim.dut.m_cqe_tdata, 256)),
        err(sim.rng(), Port(sim.dut.m_err_tvalid, 1), Port(sim.dut.m_err_tready, 1), Port(sim.dut.m_err_tdata, 24)),
        event(sim.rng(), Port(sim.dut.m_event_tvalid, 1), Port(sim.dut.m_event_tready, 1),
              Port(sim.dut.m_event_tdata, 31)),
        lives(P_QpCount) {
    for (Agent* a :
         {static_cast<Agent*>(&wqe), static_cast<Agent*>(&cfg), static_cast<Agent*>(&ack), static_cast<Agent*>(&evt),
          static_cast<Agent*>(&cmd), static_cast<Agent*>(&cqe), static_cast<Agent*>(&err), static_cast<Agent*>(&event)})
      sim.add(*a);
    for (auto& l : lives) l.emplace_back();
    cmd.on_beat = [this](const Bytes& b) { on_command(b); };
    cqe.on_beat = [this](const Bytes& b) { on_cqe(b); };
    err.on_beat = [this](const Bytes& b) { on_err(b); };
    event.on_beat = [this](const Bytes& b) { on_event(b); };
    sim.dut.tx_stalled_i = 0;
    sim.reset();
    sim.run_until([this] { return sim.dut.ready_o != 0; }, 40'000);
  }

  // ---- doing --------------------------------------------------------------------------------------

  void step() {
    deliver_due();
    sim.step();
    after_edge();
    cmd.beats.clear();
    cqe.beats.clear();
    err.beats.clear();
    event.beats.clear();
  }
  void run(std::uint64_t cycles) {
    for (std::uint64_t i = 0; i < cycles; ++i) step();
  }
  template <class Done>
  void until(Done done, std::uint64_t limit, const char* what = "") {
    for (std::uint64_t i = 0; i < limit; ++i) {
      if (done()) return;
      step();
    }
    if (!done()) FAIL("not done after " << limit << " cycles: " << what << ", ROCEGEN_SEED=" << seed());
  }
  std::uint64_t now() const { return sim.cycle(); }
  Rng& rng() { return sim.rng(); }
  Life& life(std::uint32_t qpn) { return lives[qpn].back(); }

  /// Offers a set-up and waits until it is in force. The acknowledgements of that QP wait meanwhile: a state is in
  /// force a few cycles before the set-up is taken, so the model could not tell which were in time.
  void setup(const Config& c, std::uint64_t limit = 5000) {
    held_qpn_ = c.qpn;
    until(
        [&] {
          return std::none_of(ack_order.begin(), ack_order.end(), [&](const Ack& a) { return a.qpn == c.qpn; }) &&
                 evt_order.empty();
        },
        limit, "acknowledgements before a set-up");
    cfg.push(Record(276)
                 .put(c.setup, 1)
                 .put(c.qpn, 24)
                 .put(c.state, 3)
                 .put(c.pmtu, 3)
                 .put(0, 4)
                 .put(0x1234, 16)
                 .put(c.pkey, 16)
                 .put(0, 24)
                 .put(c.sq_psn, 24)
                 .put(c.qpn ^ 0x55, 24)
                 .put(c.dip, 32)
                 .put(0, 48)
                 .put(0, 16)
                 .put(c.retry_cnt, 3)
                 .put(0, 3)
                 .put(c.timeout, 5)
                 .put(0, 5)
                 .put(c.sq_base, 20)
                 .put(c.sq_log2, 5)
                 .value());
    pending_cfg = c;
    until([this] { return !pending_cfg; }, limit, "set-up");
    held_qpn_.reset();
  }
  void set_state(std::uint32_t qpn, unsigned state) {
    Config c = life(qpn).cfg;
    c.qpn = qpn;
    c.setup = false;
    c.state = state;
    setup(c);
  }

  /// Numbers a request and offers it. Returns its id.
  std::uint64_t post(Wqe w) {
    w.id = ++last_id;
    w.laddr |= w.id << 33;
    w.raddr |= w.id << 33;
    const std::uint64_t wr_id = w.id * 0x9E3779B97F4A7C15ULL;
    ids[wr_id] = w.id;
    wqe.push(Record(512)
                 .put(0x1111, 64)
                 .put(0x2222, 64)
                 .put(0x33, 32)
                 .put(w.rkey, 32)
                 .put(w.raddr, 64)
                 .put(0x44, 32)
                 .put(w.length, 32)
                 .put(w.laddr, 64)
                 .put(wr_id, 64)
                 .put(0xEE, 8)
                 .put(w.qpn, 24)
                 .put(0xDDDD, 16)
                 .put(w.flags, 8)
                 .put(w.opcode, 8)
                 .value());
    requests[w.id] = w;
    wqe_order.push_back(w.id);
    return w.id;
  }
  std::uint64_t post(std::uint32_t qpn, std::uint32_t length, unsigned flags = 1) {
    Wqe w;
    w.qpn = qpn;
    w.length = length;
    w.flags = flags;
    w.laddr = rng().below(1ULL << 32);
    w.raddr = rng().below(1ULL << 32);
    w.rkey = static_cast<std::uint32_t>(rng().next());
    return post(w);
  }

  void send_ack(const Ack& a) {
    ack.push(Record(367)
                 .put(0, 16)
                 .put(0, 14)
                 .put(a.src_ip, 32)
                 .put(0x0A000099, 32)
                 .put(0, 2)
                 .put(a.opcode, 8)
                 .put(0, 1)
                 .put(0, 1)
                 .put(0, 2)
                 .put(a.pkey, 16)
                 .put(0, 1)
                 .put(0, 1)
                 .put(a.qpn, 24)
                 .put(0, 1)
                 .put(a.psn, 24)
                 .put(0, 64)
                 .put(0, 32)
                 .put(0, 32)
                 .put(a.syndrome, 8)
                 .put(a.msn, 24)
                 .put(0, 32)
                 .value());
    ack_order.push_back(a);
  }
  void send_ack(std::uint32_t qpn, std::uint32_t psn, unsigned syndrome = 0x1F) {
    Ack a;
    a.qpn = qpn;
    a.psn = psn;
    a.syndrome = syndrome;
    a.src_ip = life(qpn).cfg.dip;
    a.pkey = life(qpn).cfg.pkey;
    send_ack(a);
  }
  void send_event(std::uint32_t qpn, unsigned cause) {
    evt.push(Record(31).put(cause, 7).put(qpn, 24).value());
    evt_order.push_back({qpn, cause});
  }

  // ---- looking --------------------------------------------------------------------------------------

  /// All requests of the QP's present life that must complete have done so.
  bool all_complete(std::uint32_t qpn) {
    const Life& l = life(qpn);
    for (std::size_t i = l.next_complete; i < l.wqes.size(); ++i) {
      const Wqe& w = requests.at(l.wqes[i]);
      if ((w.flags & 1U) != 0 || l.failed || l.flushing || !acked(l, w)) return false;
    }
    return true;
  }
  bool posted_all() const { return wqe_order.empty() && rejects.empty(); }
  bool quiet() {
    if (!posted_all()) return false;
    for (std::uint32_t q = 0; q < P_QpCount; ++q)
      if (!all_complete(q)) return false;
    return true;
  }
  bool acked(const Life& l, const Wqe& w) const { return psn_diff(w.last, l.una) < 0; }

  // ---- state of the model, open to the tests ----------------------------------------------------------

  Sim<Dut> sim;
  StreamSource wqe, cfg, ack, evt;
  StreamSink cmd, cqe, err, event;
  Link link;
  std::vector<std::vector<Life>> lives;
  std::map<std::uint64_t, Wqe> requests;
  std::map<std::uint64_t, std::uint64_t> ids;
  std::uint64_t last_id = 0;
  std::deque<std::uint64_t> wqe_order;  // offered, not yet counted by the engine
  std::deque<std::uint64_t> rejects;    // must be answered at once
  std::deque<Ack> ack_order;
  std::deque<std::pair<std::uint32_t, unsigned>> evt_order;
  std::optional<Config> pending_cfg;
  std::vector<Command> log;  // every command, when keep_log
  bool keep_log = false;
  std::vector<Cqe> cqe_log;
  std::vector<std::pair<std::uint32_t, unsigned>> event_log;
  std::vector<std::uint64_t> command_times;
  std::uint64_t commands = 0, cqes = 0, errors = 0;
  std::uint64_t count_wqes = 0, count_rejected = 0, count_packets = 0, count_resent = 0, count_stale = 0,
                count_dropped = 0, count_naks = 0, count_timeouts = 0, count_rewinds = 0, count_errors = 0,
                count_closed = 0, count_full = 0, count_bad = 0, count_acks = 0, count_fatal = 0, count_reserved = 0,
                count_rnr = 0, count_cqes = 0, count_flushed = 0;

 private:
  struct Delivery {
    std::uint32_t qpn;
    std::size_t life;
    bool to_peer;
    Command command;
    Ack ack;
  };
  std::multimap<std::uint64_t, Delivery> in_flight_;
  std::optional<std::uint32_t> held_qpn_;

  void after_edge() {
    auto& d = sim.dut;
    const bool queued = d.cnt_sq_wqes_o != 0;
    const bool rejected = d.cnt_sq_wqes_rejected_o != 0;
    count_wqes += d.cnt_sq_wqes_o;
    count_rejected += d.cnt_sq_wqes_rejected_o;
    count_bad += d.cnt_sq_wqes_bad_o;
    count_packets += d.cnt_sq_packets_o;
    count_resent += d.cnt_sq_retransmits_o;
    count_acks += d.cnt_sq_acks_o;
    count_stale += d.cnt_sq_acks_stale_o;
    count_dropped += d.cnt_sq_acks_dropped_o;
    count_naks += d.cnt_sq_naks_o;
    count_fatal += d.cnt_sq_naks_fatal_o;
    count_reserved += d.cnt_sq_naks_reserved_o;
    count_rnr += d.cnt_sq_naks_rnr_o;
    count_timeouts += d.cnt_sq_timeouts_o;
    count_rewinds += d.cnt_sq_rewinds_o;
    count_errors += d.cnt_sq_errors_o;
    count_closed += d.cnt_sq_window_closed_o;
    count_full += d.cnt_sq_ring_full_o;
    count_cqes += d.cnt_sq_cqes_o;
    count_flushed += d.cnt_sq_flushed_o;
    if (pending_cfg && cfg.taken != cfg_seen_) {
      cfg_seen_ = cfg.taken;
      take_cfg(*pending_cfg);
      pending_cfg.reset();
    }
    if (queued || rejected) admitted(rejected);
    const std::uint64_t acks_taken = ack.taken;
    for (; ack_seen_ < acks_taken; ++ack_seen_) {
      take_ack(ack_order.front());
      ack_order.pop_front();
    }
    for (; evt_seen_ < evt.taken; ++evt_seen_) {
      take_event(evt_order.front().first, evt_order.front().second);
      evt_order.pop_front();
    }
  }
  std::uint64_t ack_seen_ = 0, evt_seen_ = 0, cfg_seen_ = 0;

  void admitted(bool rejected) {
    REQUIRE_MESSAGE(!wqe_order.empty(), "the engine counted a request that was not posted");
    Wqe& w = requests.at(wqe_order.front());
    wqe_order.pop_front();
    const bool queueable =
        w.qpn < P_QpCount && (life(w.qpn).state == kRts || life(w.qpn).state == kSqd || life(w.qpn).state == kErr);
    REQUIRE_MESSAGE(rejected == !queueable,
                    "request " << w.id << " of QP " << w.qpn << (rejected ? " rejected" : " queued"));
    if (rejected) {
      // The completion may have come out already.
      rejects.push_back(w.id);
      return;
    }
    Life& l = life(w.qpn);
    const std::uint32_t mtu = 128U << l.cfg.pmtu;
    const std::uint64_t packets = w.bad() ? 1 : std::max<std::uint64_t>(1, (std::uint64_t{w.length} + mtu - 1) / mtu);
    w.life = lives[w.qpn].size() - 1;
    w.number = l.wqes.size();
    w.first = l.next_psn;
    w.last = psn_add(l.next_psn, static_cast<std::uint32_t>(packets - 1));
    l.next_psn = psn_add(w.last, 1);
    l.wqes.push_back(w.id);
    REQUIRE_MESSAGE(l.wqes.size() - completed_floor(l) <= (std::size_t{1} << l.cfg.sq_log2),
                    "QP " << w.qpn << ": more requests in the ring than it has slots");
  }
  /// Requests that may have left the ring: those acknowledged, or everything after an error.
  std::size_t completed_floor(Life& l) {
    std::size_t n = l.next_complete;
    if (l.failed || l.flushing || l.state == kErr || may_exhaust(l)) return l.wqes.size();
    while (n < l.wqes.size() && acked(l, requests.at(l.wqes[n])) && !requests.at(l.wqes[n]).bad()) ++n;
    if (n < l.wqes.size() && requests.at(l.wqes[n]).bad()) return l.wqes.size();
    return n;
  }
  static bool may_exhaust(const Life& l) { return l.cfg.retry_cnt < 7; }

  void take_cfg(const Config& c) {
    if (c.qpn >= P_QpCount) return;
    Life& old = life(c.qpn);
    if (c.setup) {
      const bool fits = c.sq_log2 <= 20 && std::uint64_t{c.sq_base} + (1ULL << c.sq_log2) <= P_WqeSlots;
      Life fresh;
      fresh.cfg = c;
      fresh.state = fits && c.state <= kErr ? c.state : kReset;
      fresh.next_psn = fresh.una = fresh.nxt = fresh.epsn = c.sq_psn;
      fresh.una_history.insert(c.sq_psn);
      lives[c.qpn].push_back(fresh);
    } else if (old.state != kReset && c.state <= kErr) {
      if (c.state == kReset)
        old.state = kReset;
      else if (old.state != kErr && !old.failed) {
        old.state = c.state;
        if (c.state == kErr) {
          old.failed = true;
          old.fail_status = kFlush;
        }
      }
    }
  }

  void take_event(std::uint32_t qpn, unsigned cause) {
    if (qpn >= P_QpCount) return;
    Life& l = life(qpn);
    if (l.state == kReset || l.state == kErr) return;
    fail(l, cause == kEvtReadErr ? kProtErr : kFlush, 0, cause);
  }
  static void fail(Life& l, unsigned status, unsigned syndrome, unsigned cause) {
    l.failed = true;
    l.state = kErr;
    l.fail_status = status;
    l.fail_syndrome = syndrome;
    l.causes.push_back(cause);
  }

  void take_ack(const Ack& a) {
    if (a.qpn >= P_QpCount || a.opcode != 0x11) return;
    Life& l = life(a.qpn);
    const bool pkey_ok =
        (a.pkey & 0x7FFF) == (l.cfg.pkey & 0x7FFF) && (a.pkey & 0x7FFF) != 0 && ((a.pkey | l.cfg.pkey) & 0x8000) != 0;
    if ((l.state != kRts && l.state != kSqd) || a.src_ip != l.cfg.dip || !pkey_ok) return;
    const bool is_ack = (a.syndrome & 0xE0U) == 0;
    const bool is_rnr = (a.syndrome & 0xE0U) == 0x20;
    const bool is_nak = a.syndrome >= 0x60 && a.syndrome <= 0x63;
    if (!is_ack && !is_rnr && !is_nak) return;
    if (psn_diff(a.psn, l.una) < 0 || psn_diff(a.psn, l.nxt) >= 0) return;
    l.una = is_ack ? psn_add(a.psn, 1) : a.psn;
    l.una_history.insert(l.una);
    if (is_nak && a.syndrome != 0x60) {
      const unsigned status = a.syndrome == 0x61 ? kInvReq : a.syndrome == 0x62 ? kAccess : kRemOp;
      fail(l, status, a.syndrome, kEvtPeerNak);
    }
  }

  void on_command(const Bytes& b) {
    Record r(b, 328);
    Command c;
    c.addr = r.get(64);
    c.qpn = static_cast<std::uint32_t>(r.get(24));
    c.opcode = static_cast<unsigned>(r.get(8));
    REQUIRE(r.get(1) == 0);
    c.ackreq = r.get(1) != 0;
    c.psn = static_cast<std::uint32_t>(r.get(24));
    c.bytes = static_cast<std::uint32_t>(r.get(14));
    c.va = r.get(64);
    c.rkey = static_cast<std::uint32_t>(r.get(32));
    c.dma_len = static_cast<std::uint32_t>(r.get(32));
    REQUIRE(r.get(8) == 0);
    REQUIRE(r.get(24) == 0);
    REQUIRE(r.get(32) == 0);
    ++commands;
    command_times.push_back(now());
    if (keep_log) log.push_back(c);
    const auto found = requests.find(c.addr >> 33);
    REQUIRE_MESSAGE(found != requests.end(),
                    "a packet of no request: QP " << c.qpn << " psn " << c.psn << " addr " << c.addr);
    const Wqe& w = found->second;
    REQUIRE(w.qpn == c.qpn);
    REQUIRE_MESSAGE(!w.bad(), "a packet of a request that cannot be executed");
    Life& l = lives[c.qpn].at(w.life);
    const std::uint32_t mtu = 128U << l.cfg.pmtu;
    const auto k = (c.psn - w.first) & kPsnMask;
    REQUIRE_MESSAGE(psn_diff(c.psn, w.first) >= 0, "psn " << c.psn << " before its request's " << w.first);
    REQUIRE_MESSAGE(k <= ((w.last - w.first) & kPsnMask), "psn " << c.psn << " behind its request's " << w.last);
    const bool first = c.psn == w.first;
    const bool last = c.psn == w.last;
    REQUIRE(c.opcode == (first ? (last ? 0x0AU : 0x06U) : (last ? 0x08U : 0x07U)));
    REQUIRE(c.addr == w.laddr + std::uint64_t{k} * mtu);
    REQUIRE(c.bytes == (last ? w.length - static_cast<std::uint64_t>(k) * mtu : mtu));
    REQUIRE(c.va == (first ? w.raddr : 0));
    REQUIRE(c.rkey == (first ? w.rkey : 0));
    REQUIRE(c.dma_len == (first ? w.length : 0));
    // Order: the next PSN, or wherever an acknowledgement put the cursor.
    const bool fresh = c.psn == l.nxt;
    REQUIRE_MESSAGE(psn_diff(c.psn, l.nxt) <= 0, "QP " << c.qpn << " jumped over PSN " << l.nxt << " to " << c.psn);
    const std::uint32_t expected = l.last_sent ? psn_add(*l.last_sent, 1) : l.cfg.sq_psn;
    if (c.psn != expected) {
      REQUIRE_MESSAGE(l.una_history.count(c.psn) == 1,
                      "QP " << c.qpn << " went to PSN " << c.psn << " without a cause");
      if (psn_diff(c.psn, expected) < 0) ++l.jumps_back;
    }
    REQUIRE_MESSAGE(psn_diff(c.psn, l.una) < static_cast<int>(P_WindowPkts), "QP " << c.qpn << " overran its window");
    ++l.since;
    if (last || l.since >= P_AckInterval) REQUIRE_MESSAGE(c.ackreq, "no AckReq on psn " << c.psn);
    if (c.ackreq) l.since = 0;
    l.last_sent = c.psn;
    ++l.sent;
    if (fresh)
      l.nxt = psn_add(l.nxt, 1);
    else
      ++l.resent;
    if (w.life + 1 != lives[c.qpn].size()) return;  // of an old life: lost on the way
    if (rng().percent(link.drop)) return;
    in_flight_.emplace(arrival(l.peer_time), Delivery{c.qpn, w.life, true, c, {}});
  }

  /// When something that leaves now arrives; `newest` is when the one before does.
  std::uint64_t arrival(std::uint64_t& newest) {
    const std::uint64_t time = now() + rng().between(link.delay_min, link.delay_max);
    if (link.reorder) return time;
    newest = std::max(newest, time);
    return newest;
  }
  void deliver_due() {
    while (!in_flight_.empty() && in_flight_.begin()->first <= now()) {
      Delivery d = std::move(in_flight_.begin()->second);
      in_flight_.erase(in_flight_.begin());
      if (d.life + 1 != lives[d.qpn].size()) continue;
      if (d.to_peer)
        peer(d);
      else if (held_qpn_ == d.qpn)
        in_flight_.emplace(now() + 10, std::move(d));
      else
        send_ack(d.ack);
    }
  }
  void answer(const Delivery& d, unsigned syndrome, std::uint32_t psn) {
    if (!link.answer || rng().percent(link.ack_drop)) return;
    Delivery a = d;
    a.to_peer = false;
    Life& l = lives[d.qpn][d.life];
    a.ack.qpn = d.qpn;
    a.ack.psn = psn;
    a.ack.msn = l.msn;
    a.ack.syndrome = syndrome;
    a.ack.src_ip = l.cfg.dip;
    a.ack.pkey = l.cfg.pkey;
    const unsigned copies = rng().percent(link.ack_double) ? 2 : 1;
    for (unsigned i = 0; i < copies; ++i) in_flight_.emplace(arrival(l.ack_time), a);
  }
  void peer(const Delivery& d) {
    Life& l = lives[d.qpn][d.life];
    if (l.peer_dead) return;
    const Command& c = d.command;
    const int ahead = psn_diff(c.psn, l.epsn);
    if (ahead < 0) {
      answer(d, 0x1F, psn_add(l.epsn, kPsnMask));
      return;
    }
    if (ahead > 0) {
      if (!l.nak_sent) answer(d, 0x60, l.epsn);
      l.nak_sent = true;
      return;
    }
    if (rng().below(10'000) < link.fatal_per_10000) {
      l.peer_dead = true;
      const unsigned syndrome = 0x61 + static_cast<unsigned>(rng().below(3));
      for (int i = 0; i < 3; ++i) answer(d, syndrome, l.epsn);
      return;
    }
    // The stream must be one that a responder accepts: opcodes in order, lengths that add up.
    const Wqe& w = requests.at(c.addr >> 33);
    const bool starts = c.opcode == 0x06 || c.opcode == 0x0A;
    REQUIRE(starts == (l.in_message == 0));
    l.in_message += c.bytes + (c.bytes == 0 ? 1 : 0);
    l.nak_sent = false;
    l.epsn = psn_add(l.epsn, 1);
    if (c.opcode == 0x08 || c.opcode == 0x0A) {
      REQUIRE(l.in_message == std::max<std::uint64_t>(1, w.length));
      l.in_message = 0;
      l.msn = psn_add(l.msn, 1);
    }
    if (c.ackreq) answer(d, 0x1F, c.psn);
  }

  void on_cqe(const Bytes& b) {
    Record r(b, 256);
    Cqe c;
    REQUIRE(r.get(32) == 0);
    c.syndrome = static_cast<std::uint32_t>(r.get(32));
    REQUIRE(r.get(32) == 0);
    c.bytes = static_cast<std::uint32_t>(r.get(32));
    c.wr_id = r.get(64);
    REQUIRE(r.get(8) == 0);
    c.qpn = static_cast<std::uint32_t>(r.get(24));
    REQUIRE(r.get(16) == 0);
    c.opcode = static_cast<unsigned>(r.get(8));
    c.status = static_cast<unsigned>(r.get(8));
    ++cqes;
    if (c.status != kOk) ++errors;
    cqe_log.push_back(c);
    const auto found = ids.find(c.wr_id);
    REQUIRE_MESSAGE(found != ids.end(), "a completion of no request");
    Wqe& w = requests.at(found->second);
    REQUIRE(w.qpn == c.qpn);
    REQUIRE(w.opcode == c.opcode);
    REQUIRE_MESSAGE(!w.completed, "request " << w.id << " completed twice");
    w.completed = true;
    if (!rejects.empty() && rejects.front() == w.id) {
      rejects.pop_front();
      REQUIRE(c.status == kQpOpErr);
      REQUIRE(c.bytes == 0);
      return;
    }
    REQUIRE_MESSAGE(w.qpn < P_QpCount, "a rejected request completed out of order");
    Life& l = lives[w.qpn].at(w.life);
    REQUIRE(w.number < l.wqes.size());
    REQUIRE(l.wqes[w.number] == w.id);
    for (; l.next_complete < w.number; ++l.next_complete) {
      const Wqe& skipped = requests.at(l.wqes[l.next_complete]);
      REQUIRE_MESSAGE((skipped.flags & 1U) == 0,
                      "QP " << w.qpn << ": request " << w.id << " completed before " << skipped.id);
      REQUIRE_MESSAGE(!l.flushing, "an unsignalled request was not flushed");
      REQUIRE_MESSAGE(acked(l, skipped), "QP " << w.qpn << " passed over a request without its ACK");
    }
    REQUIRE(w.number == l.next_complete);
    ++l.next_complete;
    if (c.status == kOk) {
      REQUIRE_MESSAGE(!l.flushing, "success behind an error");
      REQUIRE_MESSAGE((w.flags & 1U) != 0, "completion that nobody asked for");
      REQUIRE_MESSAGE(acked(l, w), "QP " << w.qpn << " completed request " << w.id << " without its ACK");
      REQUIRE(!w.bad());
      REQUIRE(c.bytes == w.length);
      REQUIRE(c.syndrome == 0);
      return;
    }
    REQUIRE(c.bytes == 0);
    if (l.flushing) {
      REQUIRE_MESSAGE(c.status == kFlush, "status " << c.status << " behind an error");
      REQUIRE(c.syndrome == 0);
      return;
    }
    l.flushing = true;
    // The engine may have failed the QP itself just before something else did.
    const bool by_itself = l.told.count(kEvtRetryExc) + l.told.count(kEvtBadWqe) > 0;
    if (l.failed && !by_itself) {
      REQUIRE_MESSAGE(!acked(l, w), "QP " << w.qpn << ": acknowledged request " << w.id << " failed");
      REQUIRE_MESSAGE(c.status == l.fail_status, "status " << c.status << " instead of " << l.fail_status);
      REQUIRE(c.syndrome == l.fail_syndrome);
    } else if (w.bad()) {
      REQUIRE_MESSAGE(c.status == w.bad_status(), "status " << c.status << " of a bad request");
      REQUIRE(l.una == w.first);
      l.state = kErr;
      l.causes.push_back(kEvtBadWqe);
    } else {
      REQUIRE_MESSAGE(c.status == kRetryExc, "QP " << w.qpn << ": status " << c.status << " without a cause");
      l.state = kErr;
      l.causes.push_back(kEvtRetryExc);
    }
  }

  void on_err(const Bytes& b) {
    const auto qpn = static_cast<std::uint32_t>(get_field(b, 0, 24));
    REQUIRE(qpn < P_QpCount);
    ++life(qpn).errs;
  }
  void on_event(const Bytes& b) {
    const auto qpn = static_cast<std::uint32_t>(get_field(b, 0, 24));
    const auto cause = static_cast<unsigned>(get_field(b, 24, 7));
    REQUIRE(qpn < P_QpCount);
    event_log.emplace_back(qpn, cause);
    ++life(qpn).events;
    life(qpn).told.insert(cause);
    REQUIRE(cause != 0);
    if (cause == kEvtRetryExc || cause == kEvtBadWqe) life(qpn).state = kErr;
  }
};

}  // namespace rocegen::bench::sq
