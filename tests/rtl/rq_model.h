// Records of roce_pkg that the benches of rq_engine, write_gate, ack_queue and mr_table pack and unpack.
#pragma once

#include <cstdint>

#include "tests/rtl/bench.h"

namespace rocegen::bench::rq {

inline constexpr std::uint32_t kQpnMask = 0xFFFFFF;
inline constexpr std::uint32_t kIdxMask = 0x3FFFFF;  ///< ring indices have 22 bits

enum State : unsigned { kReset = 0, kInit = 1, kRtr = 2, kRts = 3, kSqd = 4, kErr = 5 };
enum Status : unsigned { kSuccess = 0, kLenErr = 1, kQpOpErr = 2, kProtErr = 4, kFlushErr = 5 };

/// qp_cfg_t. Fields that only other modules use are filled at random: nobody here may look at them.
struct QpCfg {
  bool setup = true;
  std::uint32_t qpn = 0;
  unsigned state = kRts;
  bool rq_on = true, srq = false;
  std::uint32_t rq_base = 0;
  unsigned rq_log2 = 0;

  static constexpr std::size_t kWidth = 343;
  Bytes pack(Rng& rng) const {
    Bytes value = rng.bits(kWidth);
    set_field(value, 8, 5, rq_log2);
    set_field(value, 13, 20, rq_base);
    set_field(value, 49, 1, srq ? 1 : 0);
    set_field(value, 50, 1, rq_on ? 1 : 0);
    set_field(value, kWidth - 28, 3, state);
    set_field(value, kWidth - 25, 24, qpn);
    set_field(value, kWidth - 1, 1, setup ? 1 : 0);
    return value;
  }
};

/// srq_cfg_t
struct SrqCfg {
  std::uint32_t srqn = 0, base = 0;
  unsigned log2 = 0;

  static constexpr std::size_t kWidth = 41;
  Bytes pack() const { return Record(kWidth).put(srqn, 16).put(base, 20).put(log2, 5).value(); }
};

/// rq_slot_t
struct Slot {
  unsigned target = 0;
  std::uint64_t addr = 0;
  std::uint32_t length = 0;
  std::uint64_t wr_id = 0;

  static constexpr std::size_t kWidth = 163;
  bool operator==(const Slot&) const = default;
  static Slot unpack(const Bytes& value) {
    Record r(value, kWidth);
    Slot s;
    s.target = static_cast<unsigned>(r.get(3));
    s.addr = r.get(64);
    s.length = static_cast<std::uint32_t>(r.get(32));
    s.wr_id = r.get(64);
    return s;
  }
};

/// rqe_t: a slot for a ring. Key and reserved fields are random.
struct Rqe {
  std::uint32_t qpn = 0;
  unsigned flags = 0, opcode = 0;
  Slot slot;

  bool shared() const { return (flags & 1) != 0; }
  bool malformed() const { return opcode != 0 || (flags & 0xFE) != 0; }
  Bytes pack(Rng& rng) const {
    return Record(256)
        .put(rng.next(), 32)
        .put(slot.length, 32)
        .put(slot.addr, 64)
        .put(slot.wr_id, 64)
        .put(rng.next(), 8)
        .put(qpn, 24)
        .put(rng.next(), 13)
        .put(slot.target, 3)
        .put(flags, 8)
        .put(opcode, 8)
        .value();
  }
};

/// rq_ring_t
struct Ring {
  unsigned gen = 0;
  std::uint32_t base = 0;
  unsigned log2 = 0;
  std::uint32_t tail = 0;

  static constexpr std::size_t kWidth = 51;
  bool operator==(const Ring&) const = default;
  static Ring unpack(const Bytes& value) {
    Record r(value, kWidth);
    Ring g;
    g.gen = static_cast<unsigned>(r.get(4));
    g.base = static_cast<std::uint32_t>(r.get(20));
    g.log2 = static_cast<unsigned>(r.get(5));
    g.tail = static_cast<std::uint32_t>(r.get(22));
    return g;
  }
};

/// rcq_t
struct Rcq {
  bool flush = false;
  std::uint32_t wtag = 0, qpn = 0;
  unsigned gen = 0;
  bool write_imm = false;
  unsigned status = 0, flags = 0;
  std::uint32_t imm = 0, bytes = 0;
  std::uint64_t wr_id = 0;
  unsigned tag = 0;

  static constexpr std::size_t kWidth = 189;
  bool operator==(const Rcq&) const = default;
  Bytes pack() const {
    return Record(kWidth)
        .put(flush ? 1 : 0, 1)
        .put(wtag, 16)
        .put(qpn, 24)
        .put(gen, 4)
        .put(write_imm ? 1 : 0, 1)
        .put(status, 4)
        .put(flags, 3)
        .put(imm, 32)
        .put(bytes, 32)
        .put(wr_id, 64)
        .put(tag, 8)
        .value();
  }
};

/// cqe_t
struct Cqe {
  std::uint32_t syndrome = 0, imm = 0, bytes = 0;
  std::uint64_t wr_id = 0;
  std::uint32_t qpn = 0, flags = 0;
  unsigned opcode = 0, status = 0;

  bool operator==(const Cqe&) const = default;
  static Cqe unpack(const Bytes& value) {
    Record r(value, 256);
    Cqe c;
    REQUIRE(r.get(32) == 0);
    c.syndrome = static_cast<std::uint32_t>(r.get(32));
    c.imm = static_cast<std::uint32_t>(r.get(32));
    c.bytes = static_cast<std::uint32_t>(r.get(32));
    c.wr_id = r.get(64);
    REQUIRE(r.get(8) == 0);
    c.qpn = static_cast<std::uint32_t>(r.get(24));
    c.flags = static_cast<std::uint32_t>(r.get(16));
    c.opcode = static_cast<unsigned>(r.get(8));
    c.status = static_cast<unsigned>(r.get(8));
    return c;
  }
};

/// ack_req_t
struct Answer {
  std::uint32_t qpn = 0;
  std::uint8_t syndrome = 0;
  std::uint32_t psn = 0, msn = 0;
  bool dup = false;
  bool ordered = false;
  std::uint32_t reads = 0, wtag = 0;

  static constexpr std::size_t kWidth = 112;
  bool operator==(const Answer&) const = default;
  /// Any number; here one that follows from the rest.
  std::uint64_t life() const { return (qpn * 7 + psn) % 64; }
  Bytes pack() const {
    return Record(kWidth)
        .put(life(), 6)
        .put(qpn, 24)
        .put(syndrome, 8)
        .put(psn, 24)
        .put(msn, 24)
        .put(dup ? 1 : 0, 1)
        .put(ordered ? 1 : 0, 1)
        .put(reads, 8)
        .put(wtag, 16)
        .value();
  }
  static Answer unpack(const Bytes& value) {
    Record r(value, kWidth);
    Answer a;
    r.get(6);
    a.qpn = static_cast<std::uint32_t>(r.get(24));
    a.syndrome = static_cast<std::uint8_t>(r.get(8));
    a.psn = static_cast<std::uint32_t>(r.get(24));
    a.msn = static_cast<std::uint32_t>(r.get(24));
    a.dup = r.get(1) != 0;
    a.ordered = r.get(1) != 0;
    a.reads = static_cast<std::uint32_t>(r.get(8));
    a.wtag = static_cast<std::uint32_t>(r.get(16));
    return a;
  }
};

/// mr_cfg_t
struct Region {
  std::uint32_t index = 0;
  bool valid = false;
  std::uint8_t variant = 0, access = 0, target = 0;
  std::uint16_t pd = 0;
  std::uint64_t base = 0, length = 0;

  static constexpr std::size_t kWidth = 184;
  bool operator==(const Region&) const = default;
  Bytes pack() const {
    return Record(kWidth)
        .put(index, 24)
        .put(valid ? 1 : 0, 1)
        .put(variant, 8)
        .put(access, 4)
        .put(target, 3)
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
    m.target = static_cast<std::uint8_t>(r.get(3));
    m.pd = static_cast<std::uint16_t>(r.get(16));
    m.base = r.get(64);
    m.length = r.get(64);
    return m;
  }
};

}  // namespace rocegen::bench::rq
