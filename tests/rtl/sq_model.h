// Host and peer of sq_engine: posts work requests, plays the responders of all QPs over a lossy link, and
// checks every packet, completion, error and event.
//
// Every request gets a number that its local and remote address carry in bits 62..33, so a packet or a
// completion tells whose it is, in any order and after any set-up. A queue pair has one Life for each
// set-up; what the engine still had in its output queues when a Life ended is checked against that Life.
//
// What an acknowledgement or response has to do is worked out here from the rules of protocol.md when the
// engine takes it; what the engine decides by itself and at times of its own (timeouts, retries used up,
// bad requests) is known only when an event or completion says so. Until then the model may believe in
// more progress than the engine made, never in less.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "tests/rtl/bench.h"
#include "tests/rtl/sq_rules.h"

namespace rocegen::bench::sq {

struct Wqe {
  std::uint64_t id = 0;
  std::uint32_t qpn = 0;
  std::uint64_t laddr = 0, raddr = 0;
  std::uint32_t rkey = 0, length = 0;
  unsigned opcode = 0, flags = 1;
  std::uint32_t imm = 0;
  std::uint64_t swap_add = 0, compare = 0;
  unsigned target = 0;
  // From here on the model's.
  unsigned bad = 0;        // status that it must fail with
  bool answered = false;   // READ, atomic: every response was accepted
  bool in_memory = false;  // and the data is there
  unsigned in_flight = 0;  // packets of it on their way to memory
  std::size_t life = 0;
  std::size_t number = 0;  // place in its Life
  std::uint32_t first = 0, last = 0;
  bool completed = false;

  bool is_atomic() const { return opcode == kCmpSwap || opcode == kFetchAdd; }
  bool is_rd() const { return opcode == kRead || is_atomic(); }
  bool is_send() const { return opcode == kSend || opcode == kSendImm || opcode == kSendInv; }
  bool takes_rqe() const { return is_send() || opcode == kWriteImm; }
  bool known() const { return opcode <= kFetchAdd || opcode == kSendInv; }
  std::uint32_t bytes() const { return is_atomic() ? 8 : length; }
  unsigned wc_opcode() const {
    if (opcode == kWrite || opcode == kWriteImm) return 1;
    return opcode == kRead ? 2 : opcode == kCmpSwap ? 3 : opcode == kFetchAdd ? 4 : 0;
  }
  unsigned bad_status(unsigned max_rd, unsigned pmtu) const {
    if (!known() || (flags & 0xF8U) != 0 || (is_rd() && max_rd == 0)) return kQpOpErr;
    if (is_atomic()) return 0;
    return length > 0x80000000U || (opcode == kRead && pmtu == 1 && length > 0x40000000U) ? kLenErr : 0;
  }
};

struct Config {
  std::uint32_t qpn = 0;
  bool setup = true;
  unsigned state = kRts, pmtu = 1, retry_cnt = 7, timeout = 4;
  std::uint32_t sq_psn = 0, dip = 0x0A000001, sq_base = 0;
  unsigned sq_log2 = 2;
  unsigned pkey = 0xFFFF;
  unsigned rnr_retry = 7, max_rd = 4;
};

struct Command {
  std::uint64_t addr = 0;
  std::uint32_t qpn = 0, psn = 0, bytes = 0, rkey = 0, dma_len = 0, imm = 0;
  unsigned opcode = 0, target = 0;
  bool ackreq = false, se = false;
  std::uint64_t va = 0, compare = 0;
  std::uint64_t id = 0;  // of its request
};

struct Ack {
  std::uint32_t qpn = 0, psn = 0, msn = 0;
  unsigned syndrome = 0x1F;
  std::uint32_t src_ip = 0x0A000001;
  unsigned pkey = 0xFFFF, opcode = 0x11;
  std::uint32_t bytes = 0, buf = 0;
  std::optional<unsigned> life;  ///< that its services were of; the present one when not given
  bool response() const { return (opcode >= 0x0D && opcode <= 0x10) || opcode == 0x12; }
};

/// What the engine must say about a response's payload.
struct Fetch {
  std::uint32_t buf = 0, bytes = 0, qpn = 0, psn = 0;
  bool forward = false, last = false, swap = false, first = false;
  unsigned target = 0;
  std::uint64_t addr = 0;
  std::uint64_t id = 0;
  std::size_t life = 0;
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
  std::uint32_t opened = 0;  // where una was at most: lost data takes it back, what was sent before may still come
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
  std::uint32_t fail_psn = 0;
  bool named = false;            // the status of the failure was seen
  bool data_error = false;       // data did not reach the memory: the engine learns of it a little later
  bool suspect = false;          // the engine must have failed it by itself: an event has to say so
  bool flushing = false;         // an error completion was seen
  std::vector<unsigned> causes;  // events expected, in order; 0: any
  std::size_t events = 0, errs = 0;
  std::size_t ended = 0;    // changes to ERR that the responder has not been told
  std::set<unsigned> told;  // causes of the events that came
  // the peer
  std::uint32_t epsn = 0, msn = 0;
  std::uint64_t peer_time = 0, ack_time = 0;  // of the newest arrival
  bool nak_sent = false;
  bool peer_dead = false;
  std::uint64_t in_message = 0;  // bytes of the open message that arrived
  unsigned receives = 0;         // receive requests that it has, when it counts credits
  // READs and atomics, flow control
  std::deque<std::uint64_t> reads;  // ids, not answered completely
  bool limited = false, unlimited = false;
  std::uint32_t lsn = 0;
  std::uint64_t rnr_until = 0;
  std::uint64_t rnr_taken = 0;
  unsigned drains = 0;  // EvtSqDrained expected
};

/// Chances in percent, delays in cycles.
struct Link {
  unsigned drop = 0, ack_drop = 0, ack_double = 0;
  unsigned delay_min = 20, delay_max = 20;
  unsigned fatal_per_10000 = 0;
  bool answer = true;    // the peer acknowledges
  bool reorder = false;  // delays change the order
  unsigned rnr = 0;      // percent of the requests that find no receive request
  unsigned rnr_code = 1;
  bool credits = false;                                // the peer counts them
  unsigned write_delay_min = 5, write_delay_max = 40;  // of data on its way to memory
  unsigned write_err_per_10000 = 0;
  bool write = true;  // data arrives
};

template <class Dut>
class Bench {
 public:
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        wqe(sim.rng(), Port(sim.dut.s_wqe_tvalid, 1), Port(sim.dut.s_wqe_tready, 1), Port(sim.dut.s_wqe_tdata, 512)),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1), Port(sim.dut.s_cfg_tdata, 343)),
        ack(sim.rng(), Port(sim.dut.s_ack_tvalid, 1), Port(sim.dut.s_ack_tready, 1), Port(sim.dut.s_ack_tdata, 382)),
        evt(sim.rng(), Port(sim.dut.s_evt_tvalid, 1), Port(sim.dut.s_evt_tready, 1), Port(sim.dut.s_evt_tdata, 62)),
        done(sim.rng(), Port(sim.dut.s_done_tvalid, 1), Port(sim.dut.s_done_tready, 1),
             Port(sim.dut.s_done_tdata, 159)),
        cmd(sim.rng(), Port(sim.dut.m_cmd_tvalid, 1), Port(sim.dut.m_cmd_tready, 1), Port(sim.dut.m_cmd_tdata, 369)),
        cqe(sim.rng(), Port(sim.dut.m_cqe_tvalid, 1), Port(sim.dut.m_cqe_tready, 1), Port(sim.dut.m_cqe_tdata, 256)),
        fetch(sim.rng(), Port(sim.dut.m_fetch_tvalid, 1), Port(sim.dut.m_fetch_tready, 1),
              Port(sim.dut.m_fetch_tdata, 158)),
        err(sim.rng(), Port(sim.dut.m_err_tvalid, 1), Port(sim.dut.m_err_tready, 1), Port(sim.dut.m_err_tdata, 62)),
        event(sim.rng(), Port(sim.dut.m_event_tvalid, 1), Port(sim.dut.m_event_tready, 1),
              Port(sim.dut.m_event_tdata, 56)),
        lives(P_QpCount) {
    for (Agent* a :
         {static_cast<Agent*>(&wqe), static_cast<Agent*>(&cfg), static_cast<Agent*>(&ack), static_cast<Agent*>(&evt),
          static_cast<Agent*>(&done), static_cast<Agent*>(&cmd), static_cast<Agent*>(&cqe), static_cast<Agent*>(&fetch),
          static_cast<Agent*>(&err), static_cast<Agent*>(&event)})
      sim.add(*a);
    for (auto& l : lives) l.emplace_back();
    cmd.on_beat = [this](const Bytes& b) { on_command(b); };
    cqe.on_beat = [this](const Bytes& b) { on_cqe(b); };
    fetch.on_beat = [this](const Bytes& b) { on_fetch(b); };
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
    fetch.beats.clear();
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
    if (c.qpn < P_QpCount) sim.dut.life_i = (c.setup ? lives[c.qpn].size() : lives[c.qpn].size() - 1) % 64;
    cfg.push(Record(343)
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
                 .put(c.rnr_retry, 3)
                 .put(c.timeout, 5)
                 .put(0x15, 5)
                 .put(c.sq_base, 20)
                 .put(c.sq_log2, 5)
                 .put(c.max_rd, 8)
                 .put(0xA5, 8)
                 .put(1, 1)
                 .put(0, 1)
                 .put(0x77, 16)
                 .put(0x12345, 20)
                 .put(7, 5)
                 .put(0x5A, 8)
                 .value());
    pending_cfg = c;
    until([this] { return !pending_cfg; }, limit, "set-up");
    held_qpn_.reset();
    for (const Delivery& d : held_)
      if (d.life + 1 == lives[d.qpn].size()) send_ack(d.ack);
    held_.clear();
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
                 .put(w.compare, 64)
                 .put(w.swap_add, 64)
                 .put(w.imm, 32)
                 .put(w.rkey, 32)
                 .put(w.raddr, 64)
                 .put(0x44, 32)
                 .put(w.length, 32)
                 .put(w.laddr, 64)
                 .put(wr_id, 64)
                 .put(0xEE, 8)
                 .put(w.qpn, 24)
                 .put(0x1DDD, 13)
                 .put(w.target, 3)
                 .put(w.flags, 8)
                 .put(w.opcode, 8)
                 .value());
    requests[w.id] = w;
    wqe_order.push_back(w.id);
    return w.id;
  }
  std::uint64_t post(std::uint32_t qpn, std::uint32_t length, unsigned flags = 1, unsigned opcode = kWrite) {
    Wqe w = any(qpn, opcode);
    w.length = length;
    w.flags = flags;
    return post(w);
  }
  /// A request with random contents.
  Wqe any(std::uint32_t qpn, unsigned opcode) {
    Wqe w;
    w.qpn = qpn;
    w.opcode = opcode;
    w.imm = static_cast<std::uint32_t>(rng().next());
    w.swap_add = rng().next();
    w.compare = rng().next();
    w.target = static_cast<unsigned>(rng().below(8));
    w.laddr = rng().below(1ULL << 32);
    w.raddr = rng().below(1ULL << 32);
    w.rkey = static_cast<std::uint32_t>(rng().next());
    return w;
  }

  unsigned present_life(std::uint32_t qpn) {
    return qpn < P_QpCount && !lives[qpn].empty() ? static_cast<unsigned>((lives[qpn].size() - 1) % 64) : 0;
  }
  void send_ack(Ack a) {
    a.buf = static_cast<std::uint32_t>(rng().below(0x10000));
    if (!a.life) a.life = present_life(a.qpn);
    ack.push(Record(382)
                 .put(a.buf, 16)
                 .put(a.bytes, 14)
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
                 .put(0, 9)
                 .put(*a.life, 6)
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
  /// A READ response or atomic result that looks as if the QP's peer had sent it.
  void send_response(std::uint32_t qpn, std::uint32_t psn, unsigned opcode, std::uint32_t bytes,
                     unsigned syndrome = 0x1F) {
    Ack a;
    a.qpn = qpn;
    a.psn = psn;
    a.opcode = opcode;
    a.bytes = bytes;
    a.syndrome = opcode == 0x0E ? 0 : syndrome;
    a.src_ip = life(qpn).cfg.dip;
    a.pkey = life(qpn).cfg.pkey;
    send_ack(a);
  }
  /// Responses from..to (counted from 0) of request id, as one answer: FIRST MIDDLE* LAST or ONLY.
  void send_read(std::uint64_t id, std::uint32_t from, std::uint32_t to) {
    const Wqe& w = requests.at(id);
    const std::uint32_t mtu = 128U << life(w.qpn).cfg.pmtu;
    const std::uint32_t last = (w.last - w.first) & kPsnMask;
    for (std::uint32_t i = from; i <= to; ++i) {
      const bool starts = i == from, ends = i == last;
      const unsigned opcode = starts ? (ends ? 0x10U : 0x0DU) : ends ? 0x0FU : 0x0EU;
      send_response(w.qpn, psn_add(w.first, i), opcode, ends ? w.length - i * mtu : mtu);
    }
  }
  void send_event(std::uint32_t qpn, unsigned cause, std::uint32_t psn = 0, bool rsp = false) {
    const std::uint64_t number = qpn < P_QpCount ? lives[qpn].size() - 1 : 0;
    evt.push(Record(62).put(number % 64, 6).put(cause, 7).put(rsp, 1).put(psn, 24).put(qpn, 24).value());
    evt_order.push_back({qpn, cause, psn, rsp});
  }

  /// An error of the QP's life before this one: it must change nothing.
  void send_former_event(std::uint32_t qpn, unsigned cause, std::uint32_t psn = 0, bool rsp = false) {
    const std::uint64_t number = lives[qpn].size() - 2;
    evt.push(Record(62).put(number % 64, 6).put(cause, 7).put(rsp, 1).put(psn, 24).put(qpn, 24).value());
    evt_order.push_back({P_QpCount, cause, psn, rsp});
  }

  // ---- looking --------------------------------------------------------------------------------------

  /// All requests of the QP's present life that must complete have done so.
  bool all_complete(std::uint32_t qpn) {
    const Life& l = life(qpn);
    for (std::size_t i = l.next_complete; i < l.wqes.size(); ++i) {
      const Wqe& w = requests.at(l.wqes[i]);
      if ((w.flags & 1U) != 0 || l.failed || l.flushing || !acked(l, w) || (w.is_rd() && !w.in_memory)) return false;
    }
    return true;
  }
  bool nothing_to_memory() const { return fetch_order.empty() && to_memory.empty() && done_order.empty(); }
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
  StreamSource wqe, cfg, ack, evt, done;
  StreamSink cmd, cqe, fetch, err, event;
  Link link;
  std::vector<std::vector<Life>> lives;
  std::map<std::uint64_t, Wqe> requests;
  std::map<std::uint64_t, std::uint64_t> ids;
  std::uint64_t last_id = 0;
  std::deque<std::uint64_t> wqe_order;  // offered, not yet counted by the engine
  std::deque<std::uint64_t> rejects;    // must be answered at once
  std::deque<Ack> ack_order;
  struct Event {
    std::uint32_t qpn;
    unsigned cause;
    std::uint32_t psn;
    bool rsp;
  };
  std::deque<Event> evt_order;
  std::deque<Fetch> fetch_order;                          // must come on m_fetch
  std::deque<std::pair<std::uint64_t, Fetch>> to_memory;  // with the time of arrival
  std::deque<std::pair<Fetch, bool>> done_order;          // offered on s_done; error
  std::set<std::uint64_t> write_errors;                   // requests whose data is refused
  bool strict_rnr = false;                                // no packet leaves again before an RNR wait is over
  std::uint64_t fetched = 0, forwarded = 0;
  std::vector<std::uint64_t> fetch_times;
  std::optional<Config> pending_cfg;
  std::vector<Command> log;  // every command, when keep_log
  bool keep_log = false;
  std::vector<Cqe> cqe_log;
  std::vector<std::pair<std::uint32_t, unsigned>> event_log;
  std::vector<std::uint32_t> event_psns;
  std::vector<std::uint64_t> command_times;
  std::uint64_t commands = 0, cqes = 0, errors = 0;
  std::uint64_t count_wqes = 0, count_rejected = 0, count_packets = 0, count_resent = 0, count_stale = 0,
                count_dropped = 0, count_naks = 0, count_timeouts = 0, count_rewinds = 0, count_errors = 0,
                count_closed = 0, count_full = 0, count_bad = 0, count_acks = 0, count_fatal = 0, count_reserved = 0,
                count_rnr = 0, count_cqes = 0, count_flushed = 0, count_implied = 0, count_responses = 0,
                count_responses_stale = 0, count_responses_bad = 0, count_credit_waits = 0, count_read_waits = 0,
                count_fence_waits = 0;

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
  std::vector<Delivery> held_;  // answers of that QP, in order

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
    count_implied += d.cnt_sq_implied_naks_o;
    count_responses += d.cnt_sq_responses_o;
    count_responses_stale += d.cnt_sq_responses_stale_o;
    count_responses_bad += d.cnt_sq_responses_bad_o;
    count_credit_waits += d.cnt_sq_credit_waits_o;
    count_read_waits += d.cnt_sq_read_waits_o;
    count_fence_waits += d.cnt_sq_fence_waits_o;
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
      take_event(evt_order.front());
      evt_order.pop_front();
    }
    for (; done_seen_ < done.taken; ++done_seen_) {
      take_done(done_order.front().first, done_order.front().second);
      done_order.pop_front();
    }
  }
  std::uint64_t ack_seen_ = 0, evt_seen_ = 0, cfg_seen_ = 0, done_seen_ = 0;

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
    w.bad = w.bad_status(l.cfg.max_rd, l.cfg.pmtu);
    const std::uint64_t packets =
        w.bad != 0 || w.is_atomic() ? 1 : std::max<std::uint64_t>(1, (std::uint64_t{w.length} + mtu - 1) / mtu);
    if (w.is_rd() && w.bad == 0) l.reads.push_back(w.id);
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
    while (n < l.wqes.size() && acked(l, requests.at(l.wqes[n])) && requests.at(l.wqes[n]).bad == 0) ++n;
    if (n < l.wqes.size() && requests.at(l.wqes[n]).bad != 0) return l.wqes.size();
    return n;
  }
  static bool may_exhaust(const Life& l) { return l.cfg.retry_cnt < 7 || l.cfg.rnr_retry < 7; }

  void take_cfg(const Config& c) {
    if (c.qpn >= P_QpCount) return;
    Life& old = life(c.qpn);
    if (c.setup) {
      const bool fits = c.sq_log2 <= 20 && std::uint64_t{c.sq_base} + (1ULL << c.sq_log2) <= P_WqeSlots;
      Life fresh;
      fresh.cfg = c;
      fresh.state = fits && c.state <= kErr ? c.state : kReset;
      fresh.next_psn = fresh.una = fresh.opened = fresh.nxt = fresh.epsn = c.sq_psn;
      fresh.una_history.insert(c.sq_psn);
      if (fresh.state == kSqd) fresh.drains = 1;
      fresh.receives = 2;
      lives[c.qpn].push_back(fresh);
    } else if (old.state != kReset && c.state <= kErr) {
      if (c.state == kReset)
        old.state = kReset;
      else if (old.state != kErr && !old.failed) {
        old.state = c.state;
        if (c.state == kSqd) ++old.drains;
        if (c.state == kErr) {
          old.failed = true;
          old.fail_status = kFlush;
          ++old.ended;
        }
      }
    }
  }

  void take_event(const Event& e) {
    if (e.qpn >= P_QpCount || (e.cause == kEvtWriteErr && e.rsp)) return;
    Life& l = life(e.qpn);
    if (l.state == kReset || l.state == kErr) return;
    if (e.cause == kEvtReadErr && !e.rsp) {
      // A packet that is acknowledged by now did no harm when it could not be sent again.
      const bool outstanding = psn_diff(e.psn, l.una) >= 0 && psn_diff(e.psn, l.nxt) < 0;
      if ((l.state == kRts || l.state == kSqd) && outstanding) fail(l, kProtErr, 0, e.cause, e.psn);
      return;
    }
    fail(l, kFlush, 0, e.cause, e.psn);
  }
  static void fail(Life& l, unsigned status, unsigned syndrome, unsigned cause, std::uint32_t psn) {
    l.failed = true;
    l.state = kErr;
    l.fail_status = status;
    l.fail_syndrome = syndrome;
    l.fail_psn = psn;
    l.causes.push_back(cause);
  }

  /// The oldest READ or atomic that was sent and is not answered completely.
  Wqe* open_read(Life& l) {
    if (l.reads.empty()) return nullptr;
    Wqe& w = requests.at(l.reads.front());
    return psn_diff(w.first, l.nxt) < 0 ? &w : nullptr;
  }
  void progress(Life& l, std::uint32_t una) {
    if (una != l.una) l.rnr_until = 0;
    l.una = una;
    if (psn_diff(una, l.opened) > 0) l.opened = una;
    l.una_history.insert(una);
  }

  void take_ack(const Ack& a) {
    if (!a.response()) {
      if (a.opcode == 0x11 && of_peer(a)) acknowledge(a);
      return;
    }
    Fetch f;
    f.buf = a.buf;
    f.bytes = a.bytes;
    f.qpn = a.qpn;
    f.psn = a.psn;
    if (of_peer(a)) respond(a, f);
    fetch_order.push_back(f);
  }
  bool of_peer(const Ack& a) {
    if (a.qpn >= P_QpCount) return false;
    const Life& l = life(a.qpn);
    const bool pkey_ok =
        (a.pkey & 0x7FFF) == (l.cfg.pkey & 0x7FFF) && (a.pkey & 0x7FFF) != 0 && ((a.pkey | l.cfg.pkey) & 0x8000) != 0;
    const bool life_ok = P_Services == 0 || a.life == present_life(a.qpn);
    return (l.state == kRts || l.state == kSqd) && a.src_ip == l.cfg.dip && pkey_ok && life_ok &&
           psn_diff(a.psn, l.una) >= 0 && psn_diff(a.psn, l.nxt) < 0;
  }

  void acknowledge(const Ack& a) {
    Life& l = life(a.qpn);
    const bool is_ack = (a.syndrome & 0xE0U) == 0;
    const bool is_rnr = (a.syndrome & 0xE0U) == 0x20;
    const bool is_nak = a.syndrome >= 0x60 && a.syndrome <= 0x63;
    if (!is_ack && !is_rnr && !is_nak) return;
    std::uint32_t una = is_ack ? psn_add(a.psn, 1) : a.psn;
    if (const Wqe* read = open_read(l)) {  // nothing but its responses completes a READ
      const std::uint32_t limit = psn_diff(l.una, read->first) > 0 ? l.una : read->first;
      if (psn_diff(una, limit) > 0) una = limit;
    }
    progress(l, una);
    if (is_ack) {
      const unsigned code = a.syndrome & 0x1FU;
      if (code == 0x1F) {
        l.unlimited = true;
        l.limited = false;
      } else if (!l.unlimited) {
        const std::uint32_t lsn = a.msn + kCredits[code];
        if (!l.limited || lsn > l.lsn) l.lsn = lsn;
        l.limited = true;
      }
    }
    if (is_rnr && now() >= l.rnr_until) {  // a second one during the wait changes nothing
      l.rnr_taken = now();
      l.rnr_until = now() + rnr_cycles(a.syndrome & 0x1FU);
    }
    if (is_nak && a.syndrome != 0x60) {
      const unsigned status = a.syndrome == 0x61 ? kInvReq : a.syndrome == 0x62 ? kAccess : kRemOp;
      fail(l, status, a.syndrome, kEvtPeerNak, a.psn);
    }
  }

 public:
  /// Least cycles that an RNR timer code means.
  static std::uint64_t rnr_cycles(unsigned code) {
    return (std::uint64_t{kRnrTime[code]} * 10'000 * P_TickCycles + 4095) / 4096;
  }

 private:
  void respond(const Ack& a, Fetch& f) {
    Life& l = life(a.qpn);
    Wqe* read = open_read(l);
    if (read == nullptr) return;
    const std::uint32_t next = psn_diff(l.una, read->first) > 0 ? l.una : read->first;
    if (psn_diff(a.psn, next) < 0) return;
    progress(l, next);
    if (a.psn != next) return;  // one is missing
    const std::uint32_t mtu = 128U << l.cfg.pmtu;
    const std::uint32_t k = (a.psn - read->first) & kPsnMask;
    const bool last = a.psn == read->last;
    bool right = (a.syndrome & 0xE0U) == 0 && a.bytes == (last ? read->bytes() - k * mtu : mtu);
    if (read->is_atomic())
      right = right && a.opcode == 0x12;
    else if (k == 0)
      right = right && a.opcode == (last ? 0x10U : 0x0DU);
    else
      right = right && (last ? a.opcode == 0x0F || a.opcode == 0x10 : a.opcode == 0x0D || a.opcode == 0x0E);
    if (!right) {
      fail(l, kBadResp, 0, kEvtBadResponse, a.psn);
      return;
    }
    progress(l, psn_add(a.psn, 1));
    f.forward = true;
    f.last = last;
    f.swap = read->is_atomic();
    f.target = read->target;
    f.addr = read->laddr + std::uint64_t{k} * mtu;
    f.first = k == 0;
    f.id = read->id;
    f.life = read->life;
    if (last) {
      read->answered = true;
      l.reads.pop_front();
    }
  }

  void on_fetch(const Bytes& b) {
    Record r(b, 158);
    Fetch c;
    c.buf = static_cast<std::uint32_t>(r.get(16));
    c.bytes = static_cast<std::uint32_t>(r.get(14));
    c.forward = r.get(1) != 0;
    c.last = r.get(1) != 0;
    REQUIRE(r.get(2) == 1);
    c.swap = r.get(1) != 0;
    const std::uint64_t idx = r.get(8);
    REQUIRE((idx & 0x7F) == 0);
    c.first = idx != 0;
    c.target = static_cast<unsigned>(r.get(3));
    c.qpn = static_cast<std::uint32_t>(r.get(24));
    c.psn = static_cast<std::uint32_t>(r.get(24));
    c.addr = r.get(64);
    ++fetched;
    fetch_times.push_back(now());
    REQUIRE_MESSAGE(!fetch_order.empty(), "a command for no response");
    const Fetch f = fetch_order.front();
    fetch_order.pop_front();
    REQUIRE(c.buf == f.buf);
    REQUIRE(c.bytes == f.bytes);
    if (c.forward && f.forward) REQUIRE(c.first == f.first);
    if (c.forward != f.forward) {
      // The engine may have failed the QP by itself just before; data errors reach it later.
      REQUIRE(f.qpn < P_QpCount);
      Life& l = life(f.qpn);
      if (c.forward) {
        REQUIRE_MESSAGE(l.data_error, "QP " << f.qpn << ": response " << f.psn << " accepted");
        Wqe& w = requests.at(c.addr >> 33);
        ++w.in_flight;
        Fetch late = c;
        late.id = w.id;
        late.life = w.life;
        carry(late);
      } else {
        l.suspect = true;
        l.state = kErr;
      }
      return;
    }
    if (!f.forward) return;
    ++forwarded;
    REQUIRE(c.last == f.last);
    REQUIRE(c.swap == f.swap);
    REQUIRE(c.target == f.target);
    REQUIRE(c.qpn == f.qpn);
    REQUIRE(c.psn == f.psn);
    REQUIRE(c.addr == f.addr);
    ++requests.at(f.id).in_flight;
    carry(f);
  }
  void carry(const Fetch& f) {
    const std::uint64_t newest = to_memory.empty() ? 0 : to_memory.back().first;
    to_memory.emplace_back(std::max(newest, now() + rng().between(link.write_delay_min, link.write_delay_max)), f);
  }

  void take_done(const Fetch& f, bool failed) {
    Wqe& w = requests.at(f.id);
    REQUIRE(f.life + 1 == lives[f.qpn].size());  // a set-up waits for it
    Life& l = life(f.qpn);
    --w.in_flight;
    if (!failed) {
      if (f.last) w.in_memory = true;
      return;
    }
    l.data_error = true;
    const bool older = psn_diff(f.psn, l.una) < 0;
    if (l.state == kErr) {
      if (older && !l.flushing) {
        l.una = f.psn;
        l.fail_status = kProtErr;
        l.fail_syndrome = 0;
        l.fail_psn = f.psn;
      }
    } else {
      l.una = f.psn;
      fail(l, kProtErr, 0, kEvtWriteErr, f.psn);
    }
  }

  void on_command(const Bytes& b) {
    Record r(b, 369);
    Command c;
    c.target = static_cast<unsigned>(r.get(3));
    c.addr = r.get(64);
    const auto number = r.get(6);
    c.qpn = static_cast<std::uint32_t>(r.get(24));
    c.opcode = static_cast<unsigned>(r.get(8));
    c.se = r.get(1) != 0;
    c.ackreq = r.get(1) != 0;
    c.psn = static_cast<std::uint32_t>(r.get(24));
    c.bytes = static_cast<std::uint32_t>(r.get(14));
    c.va = r.get(64);
    c.rkey = static_cast<std::uint32_t>(r.get(32));
    c.dma_len = static_cast<std::uint32_t>(r.get(32));
    c.compare = r.get(32) << 32;  // syndrome, msn
    c.imm = static_cast<std::uint32_t>(r.get(32));
    c.compare |= r.get(32);
    ++commands;
    command_times.push_back(now());
    const bool rd = c.opcode == 0x0C || c.opcode == 0x13 || c.opcode == 0x14;
    c.id = (rd ? c.va : c.addr) >> 33;
    if (keep_log) log.push_back(c);
    const auto found = requests.find(c.id);
    REQUIRE_MESSAGE(found != requests.end(),
                    "a packet of no request: QP " << c.qpn << " psn " << c.psn << " addr " << c.addr);
    const Wqe& w = found->second;
    REQUIRE(w.qpn == c.qpn);
    REQUIRE_MESSAGE(number == w.life % 64, "a packet of another life's number");
    REQUIRE_MESSAGE(w.bad == 0, "a packet of a request that cannot be executed");
    Life& l = lives[c.qpn].at(w.life);
    const std::uint32_t mtu = 128U << l.cfg.pmtu;
    const auto k = (c.psn - w.first) & kPsnMask;
    REQUIRE_MESSAGE(psn_diff(c.psn, w.first) >= 0, "psn " << c.psn << " before its request's " << w.first);
    REQUIRE_MESSAGE(k <= ((w.last - w.first) & kPsnMask), "psn " << c.psn << " behind its request's " << w.last);
    const bool first = c.psn == w.first;
    const bool last = c.psn == w.last || rd;
    const std::uint32_t next = rd ? psn_add(w.last, 1) : psn_add(c.psn, 1);
    REQUIRE_MESSAGE(c.opcode == opcode_of(w, first, last), "opcode " << c.opcode << " for request kind " << w.opcode);
    REQUIRE(c.se == (last && w.takes_rqe() && (w.flags & kSolicited) != 0));
    if (w.is_atomic()) {
      REQUIRE(c.bytes == 0);
      REQUIRE(c.va == w.raddr);
      REQUIRE(c.rkey == w.rkey);
      REQUIRE(((std::uint64_t{c.dma_len} << 32) | c.imm) == w.swap_add);
      REQUIRE(c.compare == (w.opcode == kCmpSwap ? w.compare : 0));
    } else if (rd) {
      REQUIRE(c.bytes == 0);
      REQUIRE(c.va == w.raddr + std::uint64_t{k} * mtu);
      REQUIRE(c.rkey == w.rkey);
      REQUIRE(c.dma_len == w.length - static_cast<std::uint64_t>(k) * mtu);
      REQUIRE(c.imm == 0);
      REQUIRE(c.compare == 0);
    } else {
      REQUIRE(c.target == w.target);
      REQUIRE(c.addr == w.laddr + std::uint64_t{k} * mtu);
      REQUIRE(c.bytes == (last ? w.length - static_cast<std::uint64_t>(k) * mtu : mtu));
      const bool reth = first && !w.is_send();
      REQUIRE(c.va == (reth ? w.raddr : 0));
      REQUIRE(c.rkey == (reth ? w.rkey : 0));
      REQUIRE(c.dma_len == (reth ? w.length : 0));
      const bool imm = last && (w.opcode == kWriteImm || w.opcode == kSendImm || w.opcode == kSendInv);
      REQUIRE(c.imm == (imm ? w.imm : 0));
      REQUIRE(c.compare == 0);
    }
    check_reads(l, w, rd && !w.answered);
    // Order: the next PSN, or wherever an acknowledgement put the cursor.
    const bool fresh = c.psn == l.nxt;
    REQUIRE_MESSAGE(psn_diff(c.psn, l.nxt) <= 0, "QP " << c.qpn << " jumped over PSN " << l.nxt << " to " << c.psn);
    const std::uint32_t expected = l.last_sent ? psn_add(*l.last_sent, 1) : l.cfg.sq_psn;
    if (c.psn != expected) {
      REQUIRE_MESSAGE(l.una_history.count(c.psn) == 1,
                      "QP " << c.qpn << " went to PSN " << c.psn << " without a cause");
      if (psn_diff(c.psn, expected) < 0) ++l.jumps_back;
      if (strict_rnr) REQUIRE_MESSAGE(now() >= l.rnr_until, "QP " << c.qpn << " resends before its RNR wait is over");
    }
    REQUIRE_MESSAGE(psn_diff(c.psn, l.opened) < static_cast<int>(P_WindowPkts),
                    "QP " << c.qpn << " overran its window");
    ++l.since;
    if (last || l.since >= P_AckInterval) REQUIRE_MESSAGE(c.ackreq, "no AckReq on psn " << c.psn);
    if (c.ackreq) l.since = 0;
    l.last_sent = psn_add(next, kPsnMask);
    ++l.sent;
    if (fresh)
      l.nxt = next;
    else
      ++l.resent;
    if (w.life + 1 != lives[c.qpn].size()) return;  // of an old life: lost on the way
    if (rng().percent(link.drop)) return;
    in_flight_.emplace(arrival(l.peer_time), Delivery{c.qpn, w.life, true, c, {}});
  }

  static unsigned opcode_of(const Wqe& w, bool first, bool last) {
    if (w.opcode == kRead) return 0x0C;
    if (w.opcode == kCmpSwap) return 0x13;
    if (w.opcode == kFetchAdd) return 0x14;
    const bool write = w.opcode == kWrite || w.opcode == kWriteImm;
    const bool imm = w.opcode == kWriteImm || w.opcode == kSendImm;
    if (!last) return (write ? 0x06U : 0x00U) + (first ? 0 : 1);
    if (w.opcode == kSendInv) return first ? 0x17 : 0x16;
    return (write ? 0x06U : 0x00U) + (first ? 4U : 2U) + (imm ? 1 : 0);
  }
  /// Never more READs and atomics outstanding than allowed; a fenced request waits for those in front of it.
  void check_reads(const Life& l, const Wqe& w, bool rd) {
    unsigned open = rd ? 1 : 0;
    for (const std::uint64_t id : l.reads) {
      const Wqe& read = requests.at(id);
      if (read.number >= w.number) break;
      ++open;
      REQUIRE_MESSAGE((w.flags & kFence) == 0, "a fenced request left before READ " << read.id << " was answered");
    }
    if (rd) REQUIRE(open <= std::min<unsigned>(l.cfg.max_rd, P_RdDepth));
    if ((w.flags & kFence) != 0)
      for (std::size_t i = l.next_complete; i < w.number; ++i) {
        const Wqe& read = requests.at(l.wqes[i]);
        REQUIRE_MESSAGE((!read.is_rd() || read.in_memory || l.failed), "a fenced request left before READ data came");
      }
  }

  /// When something that leaves now arrives; `newest` is when the one before does.
  std::uint64_t arrival(std::uint64_t& newest) {
    const std::uint64_t time = now() + rng().between(link.delay_min, link.delay_max);
    if (link.reorder) return time;
    newest = std::max(newest, time);
    return newest;
  }
  void deliver_due() {
    while (link.write && !to_memory.empty() && to_memory.front().first <= now()) {
      const Fetch f = to_memory.front().second;
      to_memory.pop_front();
      const bool failed = write_errors.count(f.id) != 0 || rng().below(10'000) < link.write_err_per_10000;
      done.push(Record(159)
                    .put(failed, 1)
                    .put(f.buf, 16)
                    .put(f.bytes, 14)
                    .put(1, 1)
                    .put(f.last, 1)
                    .put(1, 2)
                    .put(f.swap, 1)
                    .put(0, 8)
                    .put(f.target, 3)
                    .put(f.qpn, 24)
                    .put(f.psn, 24)
                    .put(f.addr, 64)
                    .value());
      done_order.emplace_back(f, failed);
    }
    while (!in_flight_.empty() && in_flight_.begin()->first <= now()) {
      Delivery d = std::move(in_flight_.begin()->second);
      in_flight_.erase(in_flight_.begin());
      if (d.life + 1 != lives[d.qpn].size()) continue;
      if (d.to_peer)
        peer(d);
      else if (held_qpn_ == d.qpn)
        held_.push_back(std::move(d));
      else
        send_ack(d.ack);
    }
  }
  void answer(const Delivery& d, unsigned syndrome, std::uint32_t psn) { reply(d, 0x11, 0, syndrome, psn); }
  void reply(const Delivery& d, unsigned opcode, std::uint32_t bytes, unsigned syndrome, std::uint32_t psn) {
    if (!link.answer || rng().percent(link.ack_drop)) return;
    Delivery a = d;
    a.to_peer = false;
    Life& l = lives[d.qpn][d.life];
    a.ack.qpn = d.qpn;
    a.ack.psn = psn;
    a.ack.msn = l.msn;
    a.ack.opcode = opcode;
    a.ack.bytes = bytes;
    a.ack.syndrome = syndrome;
    a.ack.src_ip = l.cfg.dip;
    a.ack.pkey = l.cfg.pkey;
    const unsigned copies = rng().percent(link.ack_double) ? 2 : 1;
    for (unsigned i = 0; i < copies; ++i) in_flight_.emplace(arrival(l.ack_time), a);
  }
  unsigned ack_syndrome(const Life& l) const { return link.credits ? credit_code(l.receives) : 0x1FU; }
  /// The responses to a READ, or the result of an atomic, from this PSN on.
  void serve(const Delivery& d) {
    const Wqe& w = requests.at(d.command.id);
    if (w.is_atomic()) {
      reply(d, 0x12, 8, 0x1F, d.command.psn);
      return;
    }
    const std::uint32_t mtu = 128U << lives[d.qpn][d.life].cfg.pmtu;
    const std::uint32_t length = d.command.dma_len;
    const std::uint32_t n = std::max(1U, (length + mtu - 1) / mtu);
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool first = i == 0, last = i + 1 == n;
      const unsigned opcode = first ? (last ? 0x10U : 0x0DU) : last ? 0x0FU : 0x0EU;
      reply(d, opcode, last ? length - i * mtu : mtu, opcode == 0x0E ? 0 : 0x1F, psn_add(d.command.psn, i));
    }
  }
  void peer(const Delivery& d) {
    Life& l = lives[d.qpn][d.life];
    if (l.peer_dead) return;
    const Command& c = d.command;
    const Wqe& w = requests.at(c.id);
    const int ahead = psn_diff(c.psn, l.epsn);
    if (ahead < 0) {
      if (w.is_rd())
        serve(d);
      else
        answer(d, ack_syndrome(l), psn_add(l.epsn, kPsnMask));
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
    if (w.is_rd()) {
      REQUIRE(l.in_message == 0);
      REQUIRE(c.psn == w.first);
      l.nak_sent = false;
      l.epsn = psn_add(w.last, 1);
      l.msn = psn_add(l.msn, 1);
      serve(d);
      return;
    }
    // The stream must be one that a responder accepts: opcodes in order, lengths that add up.
    const bool starts = c.psn == w.first;
    const bool ends = c.psn == w.last;
    if (w.is_send() ? starts : ends && w.takes_rqe()) {
      if (link.credits && rng().percent(30)) l.receives += static_cast<unsigned>(rng().below(3));
      if (rng().percent(link.rnr) || (link.credits && l.receives == 0)) {
        answer(d, 0x20 | link.rnr_code, l.epsn);
        l.nak_sent = true;  // and is silent until that packet comes again
        if (link.credits) ++l.receives;
        return;
      }
      if (link.credits) --l.receives;
    }
    REQUIRE(starts == (l.in_message == 0));
    l.in_message += c.bytes + (c.bytes == 0 ? 1 : 0);
    l.nak_sent = false;
    l.epsn = psn_add(l.epsn, 1);
    if (ends) {
      REQUIRE(l.in_message == std::max<std::uint64_t>(1, w.length));
      l.in_message = 0;
      l.msn = psn_add(l.msn, 1);
    }
    if (c.ackreq) answer(d, ack_syndrome(l), c.psn);
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
    REQUIRE_MESSAGE(!w.completed, "request " << w.id << " completed twice");
    w.completed = true;
    if (!rejects.empty() && rejects.front() == w.id) {
      rejects.pop_front();
      REQUIRE(c.opcode == reject_opcode(w));
      REQUIRE(c.status == kQpOpErr);
      REQUIRE(c.bytes == 0);
      return;
    }
    REQUIRE_MESSAGE(w.qpn < P_QpCount, "a rejected request completed out of order");
    Life& l = lives[w.qpn].at(w.life);
    REQUIRE(c.opcode == w.wc_opcode());
    REQUIRE(w.number < l.wqes.size());
    REQUIRE(l.wqes[w.number] == w.id);
    for (; l.next_complete < w.number; ++l.next_complete) {
      const Wqe& skipped = requests.at(l.wqes[l.next_complete]);
      REQUIRE_MESSAGE((skipped.flags & 1U) == 0,
                      "QP " << w.qpn << ": request " << w.id << " completed before " << skipped.id);
      REQUIRE_MESSAGE(!l.flushing, "an unsignalled request was not flushed");
      REQUIRE_MESSAGE(acked(l, skipped), "QP " << w.qpn << " passed over a request without its ACK");
      REQUIRE_MESSAGE((!skipped.is_rd() || skipped.in_memory), "passed over a READ whose data is not in memory");
    }
    REQUIRE(w.number == l.next_complete);
    ++l.next_complete;
    if (c.status == kOk) {
      REQUIRE_MESSAGE(!l.flushing, "success behind an error");
      REQUIRE_MESSAGE((w.flags & 1U) != 0, "completion that nobody asked for");
      REQUIRE_MESSAGE(acked(l, w), "QP " << w.qpn << " completed request " << w.id << " without its ACK");
      REQUIRE(w.bad == 0);
      REQUIRE(c.bytes == w.bytes());
      REQUIRE(c.syndrome == 0);
      if (w.is_rd()) {
        REQUIRE_MESSAGE(w.answered, "READ " << w.id << " completed without its data");
        REQUIRE_MESSAGE(w.in_memory, "READ " << w.id << " completed before its data was in memory");
      }
      return;
    }
    REQUIRE(c.bytes == 0);
    REQUIRE_MESSAGE(w.in_flight == 0, "READ " << w.id << " completed with data on its way to memory");
    const bool first = !l.flushing;
    l.flushing = true;
    if (l.named) {
      REQUIRE_MESSAGE(c.status == kFlush, "status " << c.status << " behind an error");
      REQUIRE(c.syndrome == 0);
      return;
    }
    // The engine may have failed the QP itself just before something else did.
    const bool by_itself =
        l.suspect || l.told.count(kEvtRetryExc) + l.told.count(kEvtRnrExc) + l.told.count(kEvtBadWqe) > 0;
    if (l.failed && !by_itself && l.fail_status == kFlush) {
      // PSNs of those behind the first may be 2^23 and more ahead.
      if (first) REQUIRE_MESSAGE(!acked(l, w), "QP " << w.qpn << ": acknowledged request " << w.id << " failed");
      REQUIRE_MESSAGE(c.status == kFlush, "status " << c.status << " for a flushed request");
      REQUIRE(c.syndrome == 0);
    } else if (l.failed && !by_itself) {
      REQUIRE_MESSAGE(!acked(l, w), "QP " << w.qpn << ": acknowledged request " << w.id << " failed");
      const bool holds = psn_diff(l.fail_psn, w.first) >= 0 && psn_diff(l.fail_psn, w.last) <= 0;
      if (holds) {
        REQUIRE_MESSAGE(c.status == l.fail_status, "status " << c.status << " instead of " << l.fail_status);
        REQUIRE(c.syndrome == l.fail_syndrome);
        l.named = true;
      } else {
        REQUIRE_MESSAGE(c.status == kFlush, "status " << c.status << " for a request that did not fail");
        REQUIRE(c.syndrome == 0);
      }
    } else if (first && w.bad != 0) {
      REQUIRE_MESSAGE(c.status == w.bad, "status " << c.status << " of a bad request");
      if (!by_itself) REQUIRE(l.una == w.first);
      l.state = kErr;
      l.named = true;
      l.causes.push_back(kEvtBadWqe);
    } else if (first && c.status == kProtErr && l.data_error) {  // data got lost after the engine's own error
      REQUIRE(psn_diff(l.fail_psn, w.first) >= 0);
      REQUIRE(psn_diff(l.fail_psn, w.last) <= 0);
      l.named = true;
    } else if (first && c.status == kRnrExc) {
      REQUIRE(l.rnr_taken != 0);
      REQUIRE((c.syndrome & 0xE0U) == 0x20);
      l.state = kErr;
      l.named = true;
      l.causes.push_back(kEvtRnrExc);
    } else if (first) {
      REQUIRE_MESSAGE(c.status == kRetryExc, "QP " << w.qpn << ": status " << c.status << " without a cause");
      l.state = kErr;
      l.named = true;
      l.causes.push_back(kEvtRetryExc);
    } else {
      REQUIRE(c.status == kFlush);
    }
  }
  /// A rejected request was not looked at: the engine answers with what it can tell.
  static unsigned reject_opcode(const Wqe& w) { return w.wc_opcode(); }

  void on_err(const Bytes& b) {
    const auto qpn = static_cast<std::uint32_t>(get_field(b, 0, 24));
    const auto cause = static_cast<unsigned>(get_field(b, 49, 7));
    REQUIRE(qpn < P_QpCount);
    REQUIRE(cause != kEvtSqDrained);
    REQUIRE(get_field(b, 56, 6) == (lives[qpn].size() - 1) % 64);
    if (cause == 0) {
      REQUIRE(life(qpn).ended > 0);  // software took it to ERR
      --life(qpn).ended;
      return;
    }
    ++life(qpn).errs;
  }
  void on_event(const Bytes& b) {
    const auto qpn = static_cast<std::uint32_t>(get_field(b, 0, 24));
    const auto psn = static_cast<std::uint32_t>(get_field(b, 24, 24));
    const bool rsp = get_field(b, 48, 1) != 0;
    const auto cause = static_cast<unsigned>(get_field(b, 49, 7));
    REQUIRE(qpn < P_QpCount);
    event_log.emplace_back(qpn, cause);
    event_psns.push_back(psn);
    Life& l = life(qpn);
    REQUIRE(cause != 0);
    if (cause == kEvtSqDrained) {
      REQUIRE_MESSAGE(l.drains > 0, "QP " << qpn << " drained again");
      // An event that had to wait may come when the QP runs again.
      if (--l.drains > 0 || l.state != kSqd) return;
      REQUIRE(l.una == l.nxt);
      for (const std::uint64_t id : l.wqes) {
        const Wqe& w = requests.at(id);
        if (w.is_rd() && acked(l, w)) REQUIRE_MESSAGE(w.in_memory, "drained before READ data was in memory");
      }
      return;
    }
    ++l.events;
    l.told.insert(cause);
    REQUIRE(rsp == (cause == kEvtWriteErr && l.data_error));
    if (cause == kEvtRetryExc || cause == kEvtRnrExc || cause == kEvtBadWqe) l.state = kErr;
  }
};

}  // namespace rocegen::bench::sq
