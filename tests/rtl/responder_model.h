// Reference model of the responder, written from the protocol sheet (IBTA chapter 9 as in protocol.md sections 2 to 6),
// and the records of roce_pkg as plain structs. Sequential and unoptimised: a request is judged completely before the
// next one is looked at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/rtl/bench.h"

namespace rocegen::bench {

inline constexpr std::uint32_t kPsnMask = 0xFFFFFF;

// ---- records of roce_pkg --------------------------------------------------------------------------

struct Header {
  std::uint16_t buf_addr = 0;
  std::uint16_t pay_bytes = 0;
  std::uint32_t src_ip = 0, dst_ip = 0;
  std::uint8_t ecn = 0, opcode = 0;
  bool se = false, mig = false;
  std::uint8_t pad = 0;
  std::uint16_t pkey = 0;
  bool fecn = false, becn = false;
  std::uint32_t dqpn = 0;
  bool ackreq = false;
  std::uint32_t psn = 0;
  std::uint64_t va = 0;
  std::uint32_t rkey = 0, dma_len = 0;
  std::uint8_t syndrome = 0;
  std::uint32_t msn = 0, imm = 0;
  bool refuse = false;
  std::uint8_t tag = 0;
  std::uint8_t life = 0;

  static constexpr std::size_t kWidth = 382;
  bool operator==(const Header&) const = default;
  Bytes pack() const {
    return Record(kWidth)
        .put(buf_addr, 16)
        .put(pay_bytes, 14)
        .put(src_ip, 32)
        .put(dst_ip, 32)
        .put(ecn, 2)
        .put(opcode, 8)
        .put(se, 1)
        .put(mig, 1)
        .put(pad, 2)
        .put(pkey, 16)
        .put(fecn, 1)
        .put(becn, 1)
        .put(dqpn, 24)
        .put(ackreq, 1)
        .put(psn, 24)
        .put(va, 64)
        .put(rkey, 32)
        .put(dma_len, 32)
        .put(syndrome, 8)
        .put(msn, 24)
        .put(imm, 32)
        .put(refuse, 1)
        .put(tag, 8)
        .put(life, 6)
        .value();
  }
  static Header unpack(const Bytes& value) {
    Record r(value, kWidth);
    Header h;
    h.buf_addr = static_cast<std::uint16_t>(r.get(16));
    h.pay_bytes = static_cast<std::uint16_t>(r.get(14));
    h.src_ip = static_cast<std::uint32_t>(r.get(32));
    h.dst_ip = static_cast<std::uint32_t>(r.get(32));
    h.ecn = static_cast<std::uint8_t>(r.get(2));
    h.opcode = static_cast<std::uint8_t>(r.get(8));
    h.se = r.get(1) != 0;
    h.mig = r.get(1) != 0;
    h.pad = static_cast<std::uint8_t>(r.get(2));
    h.pkey = static_cast<std::uint16_t>(r.get(16));
    h.fecn = r.get(1) != 0;
    h.becn = r.get(1) != 0;
    h.dqpn = static_cast<std::uint32_t>(r.get(24));
    h.ackreq = r.get(1) != 0;
    h.psn = static_cast<std::uint32_t>(r.get(24));
    h.va = r.get(64);
    h.rkey = static_cast<std::uint32_t>(r.get(32));
    h.dma_len = static_cast<std::uint32_t>(r.get(32));
    h.syndrome = static_cast<std::uint8_t>(r.get(8));
    h.msn = static_cast<std::uint32_t>(r.get(24));
    h.imm = static_cast<std::uint32_t>(r.get(32));
    h.refuse = r.get(1) != 0;
    h.tag = static_cast<std::uint8_t>(r.get(8));
    h.life = static_cast<std::uint8_t>(r.get(6));
    return h;
  }
};

struct Command {
  std::uint16_t buf_addr = 0, bytes = 0;
  bool forward = false, last = false;
  std::uint8_t kind = 0;  ///< 0 data of a request, 2 CmpSwap, 3 FetchAdd
  bool swap = false;
  std::uint8_t idx = 0, target = 0;
  std::uint32_t qpn = 0, psn = 0;
  std::uint64_t addr = 0;

  static constexpr std::size_t kWidth = 158;
  bool operator==(const Command&) const = default;
  /// Of a command that forwards nothing only buf_addr and bytes have a meaning; the rest is returned as zero, as is
  /// the life in idx of data.
  static Command unpack(const Bytes& value) {
    Record r(value, kWidth);
    Command c;
    c.buf_addr = static_cast<std::uint16_t>(r.get(16));
    c.bytes = static_cast<std::uint16_t>(r.get(14));
    c.forward = r.get(1) != 0;
    if (!c.forward) return c;
    c.last = r.get(1) != 0;
    c.kind = static_cast<std::uint8_t>(r.get(2));
    c.swap = r.get(1) != 0;
    c.idx = static_cast<std::uint8_t>(r.get(8));
    if (c.kind < 2) c.idx &= 0x80;
    c.target = static_cast<std::uint8_t>(r.get(3));
    c.qpn = static_cast<std::uint32_t>(r.get(24));
    c.psn = static_cast<std::uint32_t>(r.get(24));
    c.addr = r.get(64);
    return c;
  }
};

struct Answer {
  std::uint32_t qpn = 0;
  std::uint8_t syndrome = 0;
  std::uint32_t psn = 0, msn = 0;
  bool dup = false, ordered = false;
  std::uint8_t reads = 0;
  std::uint16_t wtag = 0;

  static constexpr std::size_t kWidth = 112;
  bool operator==(const Answer&) const = default;
  static Answer unpack(const Bytes& value) {
    Record r(value, kWidth);
    REQUIRE(r.get(6) == 0);  // life_i
    Answer a;
    a.qpn = static_cast<std::uint32_t>(r.get(24));
    a.syndrome = static_cast<std::uint8_t>(r.get(8));
    a.psn = static_cast<std::uint32_t>(r.get(24));
    a.msn = static_cast<std::uint32_t>(r.get(24));
    a.dup = r.get(1) != 0;
    a.ordered = r.get(1) != 0;
    a.reads = static_cast<std::uint8_t>(r.get(8));
    a.wtag = static_cast<std::uint16_t>(r.get(16));
    return a;
  }
};

enum ReadKind : std::uint8_t { kRead = 0, kAtomic = 1, kReadDup = 2, kAtomicDup = 3 };

/// A READ or atomic handed on.
struct ReadRequest {
  std::uint8_t kind = 0;
  std::uint32_t qpn = 0;
  std::uint8_t idx = 0;
  std::uint32_t psn = 0, last_psn = 0, msn = 0;
  std::uint64_t va = 0;
  std::uint32_t rkey = 0, length = 0;
  std::uint16_t wtag = 0;
  std::uint8_t pmtu = 0;
  std::uint16_t pd = 0;

  static constexpr std::size_t kWidth = 269;
  bool operator==(const ReadRequest&) const = default;
  /// idx and msn of a duplicate have no meaning and are returned as zero.
  static ReadRequest unpack(const Bytes& value) {
    Record r(value, kWidth);
    ReadRequest q;
    q.kind = static_cast<std::uint8_t>(r.get(2));
    q.qpn = static_cast<std::uint32_t>(r.get(24));
    q.idx = static_cast<std::uint8_t>(r.get(8));
    q.psn = static_cast<std::uint32_t>(r.get(24));
    q.last_psn = static_cast<std::uint32_t>(r.get(24));
    q.msn = static_cast<std::uint32_t>(r.get(24));
    q.va = r.get(64);
    q.rkey = static_cast<std::uint32_t>(r.get(32));
    q.length = static_cast<std::uint32_t>(r.get(32));
    q.wtag = static_cast<std::uint16_t>(r.get(16));
    q.pmtu = static_cast<std::uint8_t>(r.get(3));
    q.pd = static_cast<std::uint16_t>(r.get(16));
    if (q.kind >= kReadDup) q.idx = 0, q.msn = 0;
    return q;
  }
};

enum Status : std::uint8_t {
  kSuccess = 0,
  kLocLenErr = 1,
  kLocQpOpErr = 2,
  kFlushErr = 5,
  kRemInvReqErr = 9,
  kRemAccessErr = 10
};

/// The completion of a receive, or the mark behind the last one.
struct Receive {
  bool flush = false;
  std::uint16_t wtag = 0;
  std::uint32_t qpn = 0;
  std::uint8_t gen = 0;
  bool write_imm = false;
  std::uint8_t status = 0;
  bool solicited = false, with_inv = false, with_imm = false;
  std::uint32_t imm = 0, bytes = 0;
  std::uint64_t wr_id = 0;
  std::uint8_t tag = 0;

  static constexpr std::size_t kWidth = 189;
  bool operator==(const Receive&) const = default;
  /// What has no meaning (all but qpn and gen of a mark, gen of a completion, the result of one that failed) is
  /// returned as zero.
  static Receive unpack(const Bytes& value) {
    Record r(value, kWidth);
    Receive q;
    q.flush = r.get(1) != 0;
    q.wtag = static_cast<std::uint16_t>(r.get(16));
    q.qpn = static_cast<std::uint32_t>(r.get(24));
    q.gen = static_cast<std::uint8_t>(r.get(4));
    if (q.flush) return q;
    q.gen = 0;
    q.write_imm = r.get(1) != 0;
    q.status = static_cast<std::uint8_t>(r.get(4));
    q.solicited = r.get(1) != 0;
    q.with_inv = r.get(1) != 0;
    q.with_imm = r.get(1) != 0;
    q.imm = static_cast<std::uint32_t>(r.get(32));
    q.bytes = static_cast<std::uint32_t>(r.get(32));
    q.wr_id = r.get(64);
    q.tag = static_cast<std::uint8_t>(r.get(8));
    if (q.status != kSuccess) q.imm = 0, q.bytes = 0;
    if (!q.with_imm && !q.with_inv) q.imm = 0;
    return q;
  }
};

enum Cause : std::uint8_t {
  kEvtNakInvReq = 1,
  kEvtNakAccess = 2,
  kEvtReadErr = 3,
  kEvtWriteErr = 4,
  kEvtInvalidate = 11,
  kEvtLocalLen = 12
};

struct Event {
  std::uint8_t cause = 0;
  bool rsp = false;
  std::uint32_t psn = 0;
  std::uint32_t qpn = 0;
  std::uint8_t life = 0;

  static constexpr std::size_t kWidth = 62;
  bool operator==(const Event&) const = default;
  Bytes pack() const { return Record(kWidth).put(life, 6).put(cause, 7).put(rsp, 1).put(psn, 24).put(qpn, 24).value(); }
  static Event unpack(const Bytes& value) {
    Record r(value, kWidth);
    Event e;
    e.life = static_cast<std::uint8_t>(r.get(6));
    e.cause = static_cast<std::uint8_t>(r.get(7));
    e.rsp = r.get(1) != 0;
    e.psn = static_cast<std::uint32_t>(r.get(24));
    e.qpn = static_cast<std::uint32_t>(r.get(24));
    return e;
  }
};

enum QpStateCode : std::uint8_t { kReset = 0, kInit = 1, kRtr = 2, kRts = 3, kSqd = 4, kErr = 5 };
enum Access : std::uint8_t { kAccWrite = 1, kAccRead = 2, kAccAtomic = 4, kAccInvalidate = 8 };

struct QpSetup {
  bool setup = true;
  std::uint32_t qpn = 0;
  std::uint8_t state = kRts, pmtu = 3, access = 7;
  std::uint16_t pd = 0, pkey = 0xFFFF;
  std::uint32_t rq_psn = 0, dip = 0;
  std::uint8_t min_rnr_timer = 0, max_dest_rd = 4;
  bool rq_on = false, srq = false;
  std::uint16_t srqn = 0;
  std::uint32_t rq_base = 0;
  std::uint8_t rq_log2 = 0;

  static constexpr std::size_t kWidth = 343;
  /// Fields of the send side are filled from `rng`: the responder must not look at them.
  Bytes pack(Rng& rng) const {
    return Record(kWidth)
        .put(setup, 1)
        .put(qpn, 24)
        .put(state, 3)
        .put(pmtu, 3)
        .put(access, 4)
        .put(pd, 16)
        .put(pkey, 16)
        .put(rq_psn, 24)
        .put(rng.next(), 24)  // sq_psn
        .put(rng.next(), 24)  // dqpn
        .put(dip, 32)
        .put(rng.next(), 48)  // dmac
        .put(rng.next(), 16)  // sport
        .put(rng.next(), 3)   // retry_cnt
        .put(rng.next(), 3)   // rnr_retry
        .put(rng.next(), 5)   // timeout
        .put(min_rnr_timer, 5)
        .put(rng.next(), 20)  // sq_base
        .put(rng.next(), 5)   // sq_log2
        .put(rng.next(), 8)   // max_rd
        .put(max_dest_rd, 8)
        .put(rq_on, 1)
        .put(srq, 1)
        .put(srqn, 16)
        .put(rq_base, 20)
        .put(rq_log2, 5)
        .put(rng.next(), 8)  // services
        .value();
  }
  static QpSetup unpack(const Bytes& value) {
    Record r(value, kWidth);
    QpSetup c;
    c.setup = r.get(1) != 0;
    c.qpn = static_cast<std::uint32_t>(r.get(24));
    c.state = static_cast<std::uint8_t>(r.get(3));
    c.pmtu = static_cast<std::uint8_t>(r.get(3));
    c.access = static_cast<std::uint8_t>(r.get(4));
    c.pd = static_cast<std::uint16_t>(r.get(16));
    c.pkey = static_cast<std::uint16_t>(r.get(16));
    c.rq_psn = static_cast<std::uint32_t>(r.get(24));
    r.get(48);
    c.dip = static_cast<std::uint32_t>(r.get(32));
    r.get(64);
    r.get(11);
    c.min_rnr_timer = static_cast<std::uint8_t>(r.get(5));
    r.get(33);
    c.max_dest_rd = static_cast<std::uint8_t>(r.get(8));
    c.rq_on = r.get(1) != 0;
    c.srq = r.get(1) != 0;
    c.srqn = static_cast<std::uint16_t>(r.get(16));
    c.rq_base = static_cast<std::uint32_t>(r.get(20));
    c.rq_log2 = static_cast<std::uint8_t>(r.get(5));
    return c;
  }
};

struct SrqSetup {
  std::uint16_t srqn = 0;
  std::uint32_t base = 0;
  std::uint8_t log2 = 0;

  static constexpr std::size_t kWidth = 41;
  Bytes pack() const { return Record(kWidth).put(srqn, 16).put(base, 20).put(log2, 5).value(); }
  static SrqSetup unpack(const Bytes& value) {
    Record r(value, kWidth);
    SrqSetup c;
    c.srqn = static_cast<std::uint16_t>(r.get(16));
    c.base = static_cast<std::uint32_t>(r.get(20));
    c.log2 = static_cast<std::uint8_t>(r.get(5));
    return c;
  }
};

struct Region {
  std::uint32_t index = 0;
  bool valid = false;
  std::uint8_t variant = 0, access = 7, target = 0;
  std::uint16_t pd = 0;
  std::uint64_t base = 0, length = 0;

  static constexpr std::size_t kWidth = 184;
  bool operator==(const Region&) const = default;
  Bytes pack() const {
    return Record(kWidth)
        .put(index, 24)
        .put(valid, 1)
        .put(variant, 8)
        .put(access, 4)
        .put(target, 3)
        .put(pd, 16)
        .put(base, 64)
        .put(length, 64)
        .value();
  }
  std::uint32_t key() const { return (index << 8) | variant; }
};

/// A receive ring as rq_engine shows it.
struct Ring {
  std::uint8_t gen = 0;
  std::uint32_t base = 0;
  std::uint8_t log2 = 0;
  std::uint32_t tail = 0;

  static constexpr std::size_t kWidth = 51;
  Bytes pack() const { return Record(kWidth).put(gen, 4).put(base, 20).put(log2, 5).put(tail, 22).value(); }
  std::uint32_t slot(std::uint32_t number) const { return (base + number % (1U << log2)) & 0xFFFFF; }
};

/// A receive queue entry.
struct Slot {
  std::uint8_t target = 0;
  std::uint64_t addr = 0;
  std::uint32_t length = 0;
  std::uint64_t wr_id = 0;

  static constexpr std::size_t kWidth = 163;
  Bytes pack() const { return Record(kWidth).put(target, 3).put(addr, 64).put(length, 32).put(wr_id, 64).value(); }
};

// ---- the model ------------------------------------------------------------------------------------

/// A receive ring's head as the responder tells it.
struct HeadChange {
  std::uint32_t row = 0, head = 0;
  std::uint8_t gen = 0;
  bool operator==(const HeadChange&) const = default;
};

/// What one request, set-up or kill causes.
struct Outcome {
  Command fetch;
  std::optional<Answer> answer;
  std::optional<ReadRequest> read;
  std::vector<Receive> receives;
  std::optional<Event> event;
  std::optional<std::uint32_t> invalidated;  ///< index of a region
  std::optional<HeadChange> head;
  std::string counter;  ///< of the one reason or result
};

/// What a slot sees of the world around the responder.
struct Surroundings {
  std::function<Region(std::uint32_t)> region;      ///< by index
  std::function<Ring(std::uint32_t)> ring;          ///< by row
  std::function<Slot(std::uint32_t)> slot;          ///< by number
  std::function<std::uint8_t(std::uint32_t)> done;  ///< READs and atomics finished of a QP
  bool room = true;                                 ///< for completions of receives
  bool dead_takes = false;                          ///< see ResponderModel::request
};

class ResponderModel {
 public:
  ResponderModel(std::uint32_t qp_count, std::uint32_t srq_count, std::uint32_t read_depth, bool selective)
      : qp_count_(qp_count), srq_count_(srq_count), read_depth_(read_depth), selective_(selective) {}

  enum class Inside : std::uint8_t { kNothing, kSend, kWrite };
  struct Qp {
    std::uint8_t state = kReset;
    bool alive = false;  ///< set up, and no fatal error since
    QpSetup fixed;
    std::uint32_t epsn = 0, msn = 0;
    bool silent = false;  ///< gap or RNR reported
    Inside inside = Inside::kNothing;
    std::uint64_t va = 0, done = 0;
    std::uint32_t rkey = 0, total = 0;
    Slot buffer;
    std::uint32_t reads = 0;  ///< READs and atomics accepted
    std::uint64_t setups = 0;
    // Selective: what was placed ahead of ePSN (PSN -> it was the message's last). `ahead`, `low` and `top` (modulo
    // 256) count what may have been: it turns out later which packets are at fault.
    std::map<std::uint32_t, bool> placed;
    bool ahead = false;
    bool held = false;    ///< ePSN waits for its jump
    bool missed = false;  ///< something came behind a gap meanwhile
    std::uint32_t low = 0, top = 0;
    bool more() const { return ahead && ((top - epsn) & 0xFF) - 1 < 127; }
  };

  Qp& qp(std::uint32_t qpn) { return qps_[qpn]; }
  const std::map<std::string, std::uint64_t>& counters() const { return counters_; }
  std::uint16_t writes() const { return writes_; }
  std::uint16_t atomics() const { return atomics_ & 0xFFF; }
  std::uint32_t head(std::uint32_t row) { return heads_[row].number; }
  std::uint8_t gen(std::uint32_t row) { return heads_[row].gen; }

  bool has_ring(const QpSetup& c) const { return c.rq_on && (!c.srq || c.srqn < srq_count_); }
  std::uint32_t row(const QpSetup& c) const { return c.srq ? qp_count_ + c.srqn : c.qpn; }

  Outcome configure(const QpSetup& c) {
    Outcome o;
    if (c.qpn >= qp_count_) return o;
    Qp& q = qps_[c.qpn];
    if (c.setup) {
      const std::uint64_t setups = q.setups + 1;
      q = Qp{};
      q.fixed = c;
      q.epsn = c.rq_psn;
      q.alive = true;
      q.setups = setups;
      o.head = restart(c.qpn);
    }
    q.state = c.state;
    return o;
  }
  Outcome configure(const SrqSetup& c) {
    Outcome o;
    if (c.srqn < srq_count_) o.head = restart(qp_count_ + c.srqn);
    return o;
  }

  /// ePSN has come and the packet behind it may have been placed: how far does it jump? Nothing else is taken between
  /// the last header and that. What an ACK says of credits is left open (0).
  bool walks_wait() const { return !walks_.empty(); }
  std::vector<Answer> walk() {
    std::vector<Answer> answers;
    for (const Walk& w : std::exchange(walks_, {})) {
      Qp& q = qps_[w.qpn];
      std::uint32_t packets = 0;
      bool end = false;
      for (; !end && packets < w.cells; ++packets) {
        const auto cell = q.placed.find((w.psn + packets) & kPsnMask);
        if (cell == q.placed.end()) break;
        end = cell->second;
        q.placed.erase(cell);
      }
      if (!receives(q) || q.epsn != w.psn) continue;
      q.epsn = (q.epsn + packets) & kPsnMask;
      q.msn = (q.msn + end) & kPsnMask;
      q.done += std::uint64_t{packets} * mtu(q.fixed.pmtu);
      if (end) q.inside = Inside::kNothing;
      q.ahead = false;
      for (std::uint32_t k = packets; k < w.cells && !q.ahead; ++k) {
        q.low = (w.psn + k) & kPsnMask;
        q.ahead = q.placed.contains(q.low);
      }
      q.silent = q.ahead || q.missed;
      q.held = q.missed = false;
      jumped_ += packets;
      if (!q.alive) continue;
      answers.push_back(answer(w.qpn, q, q.silent ? 0x60 : 0, q.silent ? q.epsn : q.epsn - 1));
      ++counters_[q.silent ? "nak_psn" : "acks"];
      ++counters_["jumps"];
    }
    return answers;
  }
  std::uint64_t jumped() const { return jumped_; }  ///< packets
  std::uint64_t placed() const { return placed_; }

  Outcome kill(const Event& e) {
    Outcome o;
    if (e.qpn >= qp_count_ || e.life != 0) return o;
    Qp& q = qps_[e.qpn];
    if (q.alive) {
      const bool read_failed = e.cause == kEvtReadErr && e.rsp;
      if ((read_failed || e.cause == kEvtWriteErr) && receives(q)) {
        o.answer = answer(e.qpn, q, 0x63, read_failed ? e.psn : q.epsn);
        ++counters_["nak_op"];
      }
      if (q.inside == Inside::kSend) o.receives.push_back(failure(e.qpn, q.buffer, kFlushErr, false));
    }
    Receive mark;
    mark.flush = true;
    mark.qpn = e.qpn;
    mark.gen = heads_[e.qpn].gen;
    mark.wtag = writes_;
    o.receives.push_back(mark);
    q.alive = false;
    return o;
  }

  /// Why a QP is dropped that got a state but was never set up is left open by the responder (nothing to compare its
  /// addresses with); the model says drop_addr or drop_dead. Left open, too, is whether a packet just behind the fatal
  /// one takes a receive queue entry, which then comes back flushed: `dead_takes` tells.
  Outcome request(const Header& h, const Surroundings& s) {
    Outcome o = judge(h, s);
    o.fetch.buf_addr = h.buf_addr;
    o.fetch.bytes = h.pay_bytes;
    ++counters_["requests"];
    ++counters_[o.counter];
    if (o.answer && (o.answer->syndrome & 0xE0) == 0) ++counters_["acks"];
    if (o.read && o.read->kind == kRead) ++counters_["reads"];
    if (o.read && o.read->kind == kAtomic) ++counters_["atomics"];
    if (o.invalidated) ++counters_["invalidates"];
    for (const Receive& r : o.receives)
      if (r.status == kSuccess) ++counters_["receives"];
    return o;
  }

  /// An opcode in the terms of the sheet.
  struct Op {
    enum { kNone, kSend, kWrite, kRead, kAtomic, kRefused } what = kNone;
    bool first = false, last = false;  ///< ONLY is both
    bool imm = false, inv = false;
  };
  static Op decode(std::uint8_t code) {
    static const std::map<std::uint8_t, Op> kTable = {
        {0x00, {Op::kSend, true, false}},
        {0x01, {Op::kSend, false, false}},
        {0x02, {Op::kSend, false, true}},
        {0x03, {Op::kSend, false, true, true}},
        {0x04, {Op::kSend, true, true}},
        {0x05, {Op::kSend, true, true, true}},
        {0x06, {Op::kWrite, true, false}},
        {0x07, {Op::kWrite, false, false}},
        {0x08, {Op::kWrite, false, true}},
        {0x09, {Op::kWrite, false, true, true}},
        {0x0A, {Op::kWrite, true, true}},
        {0x0B, {Op::kWrite, true, true, true}},
        {0x0C, {Op::kRead, true, true}},
        {0x13, {Op::kAtomic, true, true}},
        {0x14, {Op::kAtomic, true, true}},
        {0x16, {Op::kSend, false, true, false, true}},
        {0x17, {Op::kSend, true, true, false, true}},
        {0x1C, {Op::kRefused, true, true}},
        {0x1D, {Op::kRefused, true, true}},
    };
    const auto at = kTable.find(code);
    return at == kTable.end() ? Op{} : at->second;
  }
  static bool is_request(std::uint8_t code) { return decode(code).what != Op::kNone; }
  static std::uint32_t mtu(std::uint8_t code) { return code >= 1 && code <= 5 ? 128U << code : 4096U; }
  /// PSNs of a request.
  static std::uint32_t span(const Header& h, std::uint8_t pmtu) {
    if (decode(h.opcode).what != Op::kRead || h.dma_len == 0) return 1;
    return static_cast<std::uint32_t>((std::uint64_t{h.dma_len} + mtu(pmtu) - 1) / mtu(pmtu));
  }

 private:
  struct Head {
    std::uint32_t number = 0;
    std::uint8_t gen = 0;
  };

  static bool receives(const Qp& q) { return q.state == kRtr || q.state == kRts || q.state == kSqd; }

  HeadChange restart(std::uint32_t row) {
    Head& h = heads_[row];
    h.number = 0;
    h.gen = (h.gen + 1) & 15;
    return {row, 0, h.gen};
  }

  /// Entries in the QP's ring.
  std::uint32_t level(const Qp& q, const Surroundings& s) {
    if (!has_ring(q.fixed)) return 0;
    const Ring ring = s.ring(row(q.fixed));
    const Head& h = heads_[row(q.fixed)];
    return ring.gen == h.gen ? (ring.tail - h.number) & 0x3FFFFF : 0;
  }

  /// Takes the entry at the head of the QP's ring.
  Slot take(const Qp& q, const Surroundings& s, Outcome& o) {
    Head& h = heads_[row(q.fixed)];
    const Slot slot = s.slot(s.ring(row(q.fixed)).slot(h.number));
    h.number = (h.number + 1) & 0x3FFFFF;
    o.head = HeadChange{row(q.fixed), h.number, h.gen};
    return slot;
  }

  std::uint8_t credits(const Qp& q, const Surroundings& s) {
    static constexpr std::uint32_t kCounts[] = {0,    1,    2,    3,    4,    6,     8,     12,    16,   24,   32,
                                                48,   64,   96,   128,  192,  256,   384,   512,   768,  1024, 1536,
                                                2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
    if (!has_ring(q.fixed) || q.fixed.srq) return 31;
    const std::uint32_t left = level(q, s);
    std::uint8_t code = 0;
    for (std::uint8_t i = 0; i < 31; ++i)
      if (kCounts[i] <= left) code = i;
    return code;
  }

  Answer answer(std::uint32_t qpn, const Qp& q, std::uint8_t syndrome, std::uint32_t psn) const {
    return {qpn, syndrome, psn & kPsnMask, q.msn, false, q.reads > 0, static_cast<std::uint8_t>(q.reads), writes_};
  }

  Receive failure(std::uint32_t qpn, const Slot& slot, std::uint8_t status, bool write_imm) const {
    Receive r;
    r.wtag = writes_;
    r.qpn = qpn;
    r.status = status;
    r.write_imm = write_imm;
    r.wr_id = slot.wr_id;
    return r;
  }

  Outcome judge(const Header& h, const Surroundings& s) {
    const Op op = decode(h.opcode);
    if (op.what == Op::kNone) return drop("drop_opcode");
    if (h.dqpn >= qp_count_) return drop("drop_qpn");
    Qp& q = qps_[h.dqpn];
    if (!receives(q)) return drop("drop_state");
    // All set-ups are of life 0 here.
    if (h.src_ip != q.fixed.dip || h.life != 0) return drop("drop_addr");
    const unsigned a = h.pkey & 0x7FFFU, b = q.fixed.pkey & 0x7FFFU;
    if (a != b || a == 0 || ((h.pkey | q.fixed.pkey) & 0x8000U) == 0) return drop("drop_pkey");
    if (!q.alive) {
      Outcome o = drop("drop_dead");
      if (s.dead_takes) {
        REQUIRE((op.what == Op::kSend || op.what == Op::kWrite));
        REQUIRE(level(q, s) > 0);
        o.receives.push_back(failure(h.dqpn, take(q, s, o), kFlushErr, op.what == Op::kWrite));
      }
      return o;
    }

    const std::uint32_t ahead = (h.psn - q.epsn) & kPsnMask;
    if (ahead >= 0x800000) return duplicate(h, q, op, s);
    if (ahead > 0) {
      Outcome o = drop(q.silent ? "out_of_order" : "nak_psn");
      q.missed = q.held;
      if (selective_ && !q.held) place(h, q, op, s, ahead, o);
      if (!q.silent) o.answer = answer(h.dqpn, q, 0x60, q.epsn);
      q.silent = true;
      return o;
    }
    Outcome o = in_order(h, q, op, s);
    if (o.counter == "accepted" && selective_) {
      q.placed.erase(h.psn);
      q.ahead = q.more();
      const bool resource = op.what != Op::kSend && op.what != Op::kWrite;
      const bool walks = !resource && (q.held || (q.ahead && ((q.low ^ q.epsn) & 0xFF) == 0));
      if (walks) {
        walks_.push_back({h.dqpn, q.epsn, q.ahead ? (q.top - q.epsn) & 0x7F : 0});
        o.answer.reset();  // the jump answers
      }
      q.silent = q.held = walks;
      q.missed = q.missed && walks;
    }
    return o;
  }

  /// A packet ahead of ePSN goes to memory if it is of the WRITE under way, without immediate.
  void place(const Header& h, Qp& q, const Op& op, const Surroundings& s, std::uint32_t ahead, Outcome& o) {
    if (ahead >= 120 || op.what != Op::kWrite || op.imm || op.first || q.inside != Inside::kWrite) return;
    if (!enabled(q, op) || !shape_ok(h, q, op)) return;
    if (!q.ahead || ahead < ((q.low - q.epsn) & 0xFF)) q.low = h.psn;
    if (!q.ahead || ahead >= ((q.top - q.epsn) & 0xFF)) q.top = (h.psn + 1) & kPsnMask;
    q.ahead = true;
    const std::uint64_t done = q.done + std::uint64_t{ahead} * mtu(q.fixed.pmtu);
    const std::uint64_t upto = done + h.pay_bytes;
    if (op.last ? upto != q.total : upto >= q.total) return;
    const Region m = s.region(q.rkey >> 8);
    if (!key_ok(m, q.rkey, q, kAccWrite) || !inside(m, q.va, q.total)) return;
    q.placed[h.psn] = op.last;
    ++placed_;
    ++counters_["placed"];
    o.fetch.forward = true;
    o.fetch.last = op.last;
    o.fetch.target = m.target;
    o.fetch.qpn = h.dqpn;
    o.fetch.psn = q.epsn;
    o.fetch.addr = q.va + done;
    ++writes_;
  }

  /// Pad, payload and alignment of the opcode.
  static bool shape_ok(const Header& h, const Qp& q, const Op& op) {
    const std::uint32_t pmtu = mtu(q.fixed.pmtu);
    if (h.pad != (4 - h.pay_bytes % 4) % 4) return false;
    switch (op.what) {
      case Op::kRead:
        return h.pay_bytes == 0 && h.dma_len <= 0x80000000U;
      case Op::kAtomic:
        return h.pay_bytes == 16 && h.va % 8 == 0;
      case Op::kWrite:
        if (op.first && h.dma_len > 0x80000000U) return false;
        break;
      default:
        break;
    }
    if (!op.last) return h.pay_bytes == pmtu;
    if (!op.first && h.pay_bytes == 0) return false;
    return h.pay_bytes <= pmtu;
  }

  static bool enabled(const Qp& q, const Op& op) {
    switch (op.what) {
      case Op::kSend:
        return true;
      case Op::kWrite:
        return (q.fixed.access & kAccWrite) != 0;
      case Op::kRead:
        return (q.fixed.access & kAccRead) != 0;
      case Op::kAtomic:
        return (q.fixed.access & kAccAtomic) != 0;
      default:
        return false;
    }
  }

  static bool key_ok(const Region& m, std::uint32_t key, const Qp& q, std::uint8_t right) {
    return m.valid && m.variant == (key & 0xFF) && m.pd == q.fixed.pd && (m.access & right) == right;
  }
  static bool inside(const Region& m, std::uint64_t va, std::uint32_t length) {
    const auto end = static_cast<unsigned __int128>(va) + length;
    return va >= m.base && end <= static_cast<unsigned __int128>(m.base) + m.length &&
           end <= static_cast<unsigned __int128>(1) << 64;
  }

  Outcome duplicate(const Header& h, const Qp& q, const Op& op, const Surroundings& s) {
    if (op.what == Op::kSend || op.what == Op::kWrite) {
      Outcome o = drop("duplicates");
      o.answer = answer(h.dqpn, q, credits(q, s), q.epsn - 1);
      o.answer->dup = true;
      return o;
    }
    if (!enabled(q, op) || !shape_ok(h, q, op)) return drop("drop_replay");
    if (op.what == Op::kRead && h.dma_len > 0) {
      const Region m = s.region(h.rkey >> 8);
      if (!key_ok(m, h.rkey, q, kAccRead) || !inside(m, h.va, h.dma_len)) return drop("drop_replay");
    }
    Outcome o = drop("replays");
    o.read = read_request(h, q, op);
    o.read->kind = op.what == Op::kRead ? kReadDup : kAtomicDup;
    o.read->idx = 0;
    o.read->msn = 0;
    return o;
  }

  ReadRequest read_request(const Header& h, const Qp& q, const Op& op) const {
    ReadRequest r;
    r.kind = op.what == Op::kRead ? kRead : kAtomic;
    r.qpn = h.dqpn;
    r.idx = static_cast<std::uint8_t>(q.reads);
    r.psn = h.psn;
    r.last_psn = (h.psn + span(h, q.fixed.pmtu) - 1) & kPsnMask;
    r.msn = (q.msn + 1) & kPsnMask;
    r.va = h.va;
    r.rkey = h.rkey;
    r.length = op.what == Op::kRead ? h.dma_len : 8;
    r.wtag = writes_;
    r.pmtu = q.fixed.pmtu;
    r.pd = q.fixed.pd;
    return r;
  }

  Outcome in_order(const Header& h, Qp& q, const Op& op, const Surroundings& s) {
    // Order of opcodes, rights.
    const Inside needed = op.first ? Inside::kNothing : op.what == Op::kSend ? Inside::kSend : Inside::kWrite;
    if (q.inside != needed || !enabled(q, op)) return refuse(h, q, kEvtNakInvReq, {}, false);

    // Receive queue entry, and room for its completion.
    const bool takes = op.what == Op::kSend ? op.first : op.what == Op::kWrite && op.imm;
    const bool completes = op.what == Op::kSend ? op.last : op.what == Op::kWrite && op.imm;
    if ((takes && (level(q, s) == 0 || !s.room)) || (completes && !s.room)) {
      q.silent = true;
      Outcome o = drop("rnr_naks");
      o.answer = answer(h.dqpn, q, static_cast<std::uint8_t>(0x20 | q.fixed.min_rnr_timer), h.psn);
      return o;
    }
    Outcome taken;
    Slot entry = q.buffer;
    if (takes) entry = take(q, s, taken);
    const bool write_imm = op.what == Op::kWrite && op.imm;
    const auto bad = [&](std::uint8_t cause) {
      Outcome o = refuse(h, q, cause, takes ? std::optional(entry) : std::nullopt, write_imm);
      o.head = taken.head;
      return o;
    };

    // Lengths.
    if (!shape_ok(h, q, op)) return bad(kEvtNakInvReq);
    const std::uint64_t done = op.first ? 0 : q.done;
    const std::uint64_t upto = done + h.pay_bytes;
    std::uint64_t va = op.first ? h.va : q.va;
    const std::uint32_t rkey = op.first ? h.rkey : q.rkey;
    const std::uint32_t total = op.first ? h.dma_len : q.total;
    std::uint8_t target = entry.target;
    if (op.what == Op::kWrite && (op.last ? upto != total : upto >= total)) return bad(kEvtNakInvReq);
    if (op.what == Op::kRead || op.what == Op::kAtomic) {
      const std::uint8_t open = static_cast<std::uint8_t>(q.reads - s.done(h.dqpn));
      if (open >= std::min<std::uint32_t>(q.fixed.max_dest_rd, read_depth_)) return bad(kEvtNakInvReq);
    }
    if (op.what == Op::kSend && upto > entry.length) return bad(kEvtLocalLen);

    // Keys: the message's whole range, whatever packet it is.
    if (op.what == Op::kWrite || op.what == Op::kRead || op.what == Op::kAtomic) {
      const Region m = s.region(rkey >> 8);
      const std::uint8_t right = op.what == Op::kWrite ? kAccWrite : op.what == Op::kRead ? kAccRead : kAccAtomic;
      const std::uint32_t range = op.what == Op::kAtomic ? 8 : total;
      if (range > 0 && (!key_ok(m, rkey, q, right) || !inside(m, va, range))) return bad(kEvtNakAccess);
      target = m.target;
    }
    if (op.inv) {
      const Region m = s.region(h.imm >> 8);
      if (!key_ok(m, h.imm, q, kAccInvalidate)) return bad(kEvtInvalidate);
    }

    // Carried out.
    Outcome o = drop("accepted");
    o.head = taken.head;
    if (op.what == Op::kSend) va = entry.addr;
    if (h.pay_bytes > 0) {
      o.fetch.forward = true;
      o.fetch.last = op.last;
      o.fetch.kind = op.what != Op::kAtomic ? 0 : h.opcode == 0x13 ? 2 : 3;
      o.fetch.idx = op.what == Op::kAtomic ? static_cast<std::uint8_t>(q.reads) : op.first ? 0x80 : 0;
      o.fetch.target = target;
      o.fetch.qpn = h.dqpn;
      o.fetch.psn = h.psn;
      o.fetch.addr = va + done;
      ++(op.what == Op::kAtomic ? atomics_ : writes_);
    }
    if (op.what == Op::kRead || op.what == Op::kAtomic) {
      o.read = read_request(h, q, op);
      ++q.reads;
    }
    q.inside = op.last ? Inside::kNothing : op.what == Op::kSend ? Inside::kSend : Inside::kWrite;
    q.va = va;
    q.rkey = rkey;
    q.total = total;
    q.done = upto;
    q.buffer = entry;
    q.epsn = (q.epsn + span(h, q.fixed.pmtu)) & kPsnMask;
    q.silent = false;
    if (op.last) q.msn = (q.msn + 1) & kPsnMask;
    if (completes) {
      Receive r;
      r.wtag = writes_;
      r.qpn = h.dqpn;
      r.write_imm = write_imm;
      r.solicited = h.se;
      r.with_imm = op.imm;
      r.with_inv = op.inv;
      r.imm = op.imm || op.inv ? h.imm : 0;
      r.bytes = static_cast<std::uint32_t>(upto);
      r.wr_id = entry.wr_id;
      o.receives.push_back(r);
    }
    if (op.inv) o.invalidated = h.imm >> 8;
    if (h.ackreq && (op.what == Op::kSend || op.what == Op::kWrite)) o.answer = answer(h.dqpn, q, credits(q, s), h.psn);
    return o;
  }

  /// The QP dies; the receive queue entry taken now, or by the SEND that it was within, comes back.
  Outcome refuse(const Header& h, Qp& q, std::uint8_t cause, std::optional<Slot> taken, bool write_imm) {
    q.alive = false;
    const bool access = cause == kEvtNakAccess, invalidate = cause == kEvtInvalidate;
    Outcome o = drop(access ? "nak_access" : invalidate ? "bad_invalidates" : "nak_inv_req");
    if (!invalidate) o.answer = answer(h.dqpn, q, access ? 0x62 : 0x61, h.psn);
    o.event = Event{cause, false, h.psn, h.dqpn};
    if (!taken && q.inside == Inside::kSend) taken = q.buffer;
    if (taken) {
      const std::uint8_t status = access                  ? kRemAccessErr
                                  : invalidate            ? kLocQpOpErr
                                  : cause == kEvtLocalLen ? kLocLenErr
                                                          : kRemInvReqErr;
      o.receives.push_back(failure(h.dqpn, *taken, status, write_imm));
    }
    return o;
  }

  static Outcome drop(const char* counter) {
    Outcome o;
    o.counter = counter;
    return o;
  }

  struct Walk {
    std::uint32_t qpn, psn, cells;
  };
  std::uint32_t qp_count_, srq_count_, read_depth_;
  bool selective_;
  std::vector<Walk> walks_;
  std::uint64_t jumped_ = 0, placed_ = 0;
  std::uint16_t writes_ = 0;   ///< commands for the data of requests so far
  std::uint16_t atomics_ = 0;  ///< and for the operands of atomics
  std::map<std::uint32_t, Qp> qps_;
  std::map<std::uint32_t, Head> heads_;
  std::map<std::string, std::uint64_t> counters_;
};

}  // namespace rocegen::bench
