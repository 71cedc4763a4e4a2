// Reference model of the responder, written from the protocol sheet (IBTA chapter 9 as in protocol.md sections 2 to 6),
// and the records of roce_pkg as plain structs. Sequential and unoptimised: a request is judged completely before the
// next one is looked at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
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

  static constexpr std::size_t kWidth = 367;
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
    return h;
  }
};

struct Command {
  std::uint16_t buf_addr = 0, bytes = 0;
  bool forward = false, last = false;
  std::uint32_t qpn = 0, psn = 0;
  std::uint64_t addr = 0;

  static constexpr std::size_t kWidth = 144;
  bool operator==(const Command&) const = default;
  /// Of a command that forwards nothing only buf_addr and bytes have a meaning; the rest is returned as zero.
  static Command unpack(const Bytes& value) {
    Record r(value, kWidth);
    Command c;
    c.buf_addr = static_cast<std::uint16_t>(r.get(16));
    c.bytes = static_cast<std::uint16_t>(r.get(14));
    c.forward = r.get(1) != 0;
    if (!c.forward) return c;
    c.last = r.get(1) != 0;
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
  bool dup = false;

  static constexpr std::size_t kWidth = 81;
  bool operator==(const Answer&) const = default;
  Bytes pack() const {
    return Record(kWidth).put(qpn, 24).put(syndrome, 8).put(psn, 24).put(msn, 24).put(dup, 1).value();
  }
  static Answer unpack(const Bytes& value) {
    Record r(value, kWidth);
    Answer a;
    a.qpn = static_cast<std::uint32_t>(r.get(24));
    a.syndrome = static_cast<std::uint8_t>(r.get(8));
    a.psn = static_cast<std::uint32_t>(r.get(24));
    a.msn = static_cast<std::uint32_t>(r.get(24));
    a.dup = r.get(1) != 0;
    return a;
  }
};

struct Event {
  std::uint8_t cause = 0;
  std::uint32_t qpn = 0;

  static constexpr std::size_t kWidth = 31;
  bool operator==(const Event&) const = default;
  static Event unpack(const Bytes& value) {
    Record r(value, kWidth);
    Event e;
    e.cause = static_cast<std::uint8_t>(r.get(7));
    e.qpn = static_cast<std::uint32_t>(r.get(24));
    return e;
  }
};

enum QpStateCode : std::uint8_t { kReset = 0, kInit = 1, kRtr = 2, kRts = 3, kSqd = 4, kErr = 5 };

struct QpSetup {
  bool setup = true;
  std::uint32_t qpn = 0;
  std::uint8_t state = kRts, pmtu = 3, access = 1;
  std::uint16_t pd = 0, pkey = 0xFFFF;
  std::uint32_t rq_psn = 0, dip = 0;

  static constexpr std::size_t kWidth = 276;
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
        .put(rng.next(), 24)
        .put(rng.next(), 24)
        .put(dip, 32)
        .put(rng.next(), 48)
        .put(rng.next(), 16)
        .put(rng.next(), 3)
        .put(rng.next(), 3)
        .put(rng.next(), 5)
        .put(rng.next(), 5)
        .put(rng.next(), 20)
        .put(rng.next(), 5)
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
    return c;
  }
};

struct Region {
  std::uint32_t index = 0;
  bool valid = false;
  std::uint8_t variant = 0, access = 1;
  std::uint16_t pd = 0;
  std::uint64_t base = 0, length = 0;

  static constexpr std::size_t kWidth = 181;
  bool operator==(const Region&) const = default;
  Bytes pack() const {
    return Record(kWidth)
        .put(index, 24)
        .put(valid, 1)
        .put(variant, 8)
        .put(access, 4)
        .put(pd, 16)
        .put(base, 64)
        .put(length, 64)
        .value();
  }
  static Region unpack(const Bytes& value) {
    Record r(value, kWidth);
    Region m;
    m.index = static_cast<std::uint32_t>(r.get(24));
    m.valid = r.get(1) != 0;
    m.variant = static_cast<std::uint8_t>(r.get(8));
    m.access = static_cast<std::uint8_t>(r.get(4));
    m.pd = static_cast<std::uint16_t>(r.get(16));
    m.base = r.get(64);
    m.length = r.get(64);
    return m;
  }
  std::uint32_t key() const { return (index << 8) | variant; }
};

// ---- the model ------------------------------------------------------------------------------------

/// What one request causes.
struct Outcome {
  Command fetch;
  std::optional<Answer> answer;
  std::optional<Event> event;
  std::string counter;  ///< of the one reason or result
};

class ResponderModel {
 public:
  explicit ResponderModel(std::uint32_t qp_count) : qp_count_(qp_count) {}

  struct Qp {
    std::uint8_t state = kReset;
    bool alive = false;  ///< set up, and no fatal error since
    QpSetup fixed;
    std::uint32_t epsn = 0, msn = 0;
    bool gap_reported = false;
    bool in_write = false;  ///< between FIRST and LAST of a WRITE
    std::uint64_t va = 0, done = 0;
    std::uint32_t rkey = 0, total = 0;
  };

  Qp& qp(std::uint32_t qpn) { return qps_[qpn]; }
  const std::map<std::string, std::uint64_t>& counters() const { return counters_; }

  void configure(const QpSetup& c) {
    if (c.qpn >= qp_count_) return;
    Qp& q = qps_[c.qpn];
    if (c.setup) {
      q = Qp{};
      q.fixed = c;
      q.epsn = c.rq_psn;
      q.alive = true;
    }
    q.state = c.state;
  }

  void kill(std::uint32_t qpn) {
    if (qpn < qp_count_) qps_[qpn].alive = false;
  }

  /// `lookup(index)` gives the region as the table holds it. Why a QP is dropped that got a state but was never set up
  /// is left open by the responder (nothing to compare its addresses with); the model says drop_addr or drop_dead.
  template <class Lookup>
  Outcome request(const Header& h, Lookup lookup) {
    Outcome o = judge(h, lookup);
    o.fetch.buf_addr = h.buf_addr;
    o.fetch.bytes = h.pay_bytes;
    ++counters_["requests"];
    ++counters_[o.counter];
    if (o.answer && o.answer->syndrome == 0x1F) ++counters_["acks"];
    return o;
  }

  static bool is_request(std::uint8_t op) {
    return op <= 0x0C || op == 0x13 || op == 0x14 || op == 0x16 || op == 0x17 || op == 0x1C || op == 0x1D;
  }
  static bool is_send_or_write(std::uint8_t op) { return op <= 0x0B || op == 0x16 || op == 0x17; }
  static std::uint32_t mtu(std::uint8_t code) { return code >= 1 && code <= 5 ? 128U << code : 4096U; }

 private:
  template <class Lookup>
  Outcome judge(const Header& h, Lookup lookup) {
    if (!is_request(h.opcode)) return drop("drop_opcode");
    if (h.dqpn >= qp_count_) return drop("drop_qpn");
    Qp& q = qps_[h.dqpn];
    if (q.state != kRtr && q.state != kRts && q.state != kSqd) return drop("drop_state");
    if (h.src_ip != q.fixed.dip) return drop("drop_addr");
    const unsigned a = h.pkey & 0x7FFFU, b = q.fixed.pkey & 0x7FFFU;
    if (a != b || a == 0 || ((h.pkey | q.fixed.pkey) & 0x8000U) == 0) return drop("drop_pkey");
    if (!q.alive) return drop("drop_dead");

    const std::uint32_t ahead = (h.psn - q.epsn) & kPsnMask;
    if (ahead >= 0x800000) {  // duplicate
      if (!is_send_or_write(h.opcode)) return drop("drop_replay");
      Outcome o = drop("duplicates");
      o.answer = Answer{h.dqpn, 0x1F, (q.epsn - 1) & kPsnMask, q.msn, true};
      return o;
    }
    if (ahead > 0) {
      if (q.gap_reported) return drop("out_of_order");
      q.gap_reported = true;
      Outcome o = drop("nak_psn");
      o.answer = Answer{h.dqpn, 0x60, q.epsn, q.msn, false};
      return o;
    }
    return in_order(h, q, lookup);
  }

  template <class Lookup>
  Outcome in_order(const Header& h, Qp& q, Lookup lookup) {
    const std::uint32_t pmtu = mtu(q.fixed.pmtu);
    const bool first = h.opcode == 0x06, middle = h.opcode == 0x07, last = h.opcode == 0x08, only = h.opcode == 0x0A;
    if (!first && !middle && !last && !only) return refuse(h, q, 0x61);
    if ((q.fixed.access & 1) == 0) return refuse(h, q, 0x61);
    // Sequence of opcodes.
    if ((middle || last) && !q.in_write) return refuse(h, q, 0x61);
    if ((first || only) && q.in_write) return refuse(h, q, 0x61);
    // Lengths.
    if (h.pad != ((4 - h.pay_bytes % 4) % 4)) return refuse(h, q, 0x61);
    if ((first || middle) && (h.pay_bytes != pmtu || h.pad != 0)) return refuse(h, q, 0x61);
    if (last && (h.pay_bytes < 1 || h.pay_bytes > pmtu)) return refuse(h, q, 0x61);
    if (only && h.pay_bytes > pmtu) return refuse(h, q, 0x61);
    const std::uint32_t total = first || only ? h.dma_len : q.total;
    const std::uint64_t done = first || only ? 0 : q.done;
    const std::uint64_t va = first || only ? h.va : q.va;
    const std::uint32_t rkey = first || only ? h.rkey : q.rkey;
    if (total > 0x80000000U) return refuse(h, q, 0x61);
    if ((last || only) && done + h.pay_bytes != total) return refuse(h, q, 0x61);
    if ((first || middle) && done + h.pay_bytes >= total) return refuse(h, q, 0x61);  // nothing left for a LAST
    // Key.
    if (total > 0) {
      const Region m = lookup(rkey >> 8);
      const auto begin = static_cast<unsigned __int128>(va) + done;
      const auto end = static_cast<unsigned __int128>(va) + total;
      if (!m.valid || m.variant != (rkey & 0xFF) || m.pd != q.fixed.pd || (m.access & 1) == 0)
        return refuse(h, q, 0x62);
      if (begin < m.base || end > static_cast<unsigned __int128>(m.base) + m.length) return refuse(h, q, 0x62);
      if (end > (static_cast<unsigned __int128>(1) << 64)) return refuse(h, q, 0x62);
    }
    // Carried out.
    Outcome o = drop("accepted");
    if (h.pay_bytes > 0) {
      o.fetch.forward = true;
      o.fetch.last = last || only;
      o.fetch.qpn = h.dqpn;
      o.fetch.psn = h.psn;
      o.fetch.addr = va + done;
    }
    q.in_write = first || middle;
    q.va = va;
    q.rkey = rkey;
    q.total = total;
    q.done = done + h.pay_bytes;
    q.epsn = (q.epsn + 1) & kPsnMask;
    q.gap_reported = false;
    if (last || only) q.msn = (q.msn + 1) & kPsnMask;
    if (h.ackreq) o.answer = Answer{h.dqpn, 0x1F, h.psn, q.msn, false};
    return o;
  }

  Outcome refuse(const Header& h, Qp& q, std::uint8_t syndrome) {
    q.alive = false;
    Outcome o = drop(syndrome == 0x61 ? "nak_inv_req" : "nak_access");
    o.answer = Answer{h.dqpn, syndrome, h.psn, q.msn, false};
    o.event = Event{static_cast<std::uint8_t>(syndrome == 0x61 ? 1 : 2), h.dqpn};
    return o;
  }

  static Outcome drop(const char* counter) {
    Outcome o;
    o.counter = counter;
    return o;
  }

  std::uint32_t qp_count_;
  std::map<std::uint32_t, Qp> qps_;
  std::map<std::string, std::uint64_t> counters_;
};

}  // namespace rocegen::bench
