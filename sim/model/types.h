// What the harness, the reference endpoint and the driver of a generated NIC say to each other. Field names and
// numbers are those of roce_pkg (templates/net/roce_pkg.sv) and of libibverbs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/model/bytes.h"

namespace rocegen::sim {

/// QP states (IBTA 10.3.1).
enum class QpState : uint8_t { Reset = 0, Init = 1, Rtr = 2, Rts = 3, Sqd = 4, Err = 5 };

/// Access right bits of a QP and of a memory region.
inline constexpr uint8_t kAccWrite = 1;
inline constexpr uint8_t kAccRead = 2;
inline constexpr uint8_t kAccAtomic = 4;

/// Completion status (enum ibv_wc_status).
enum class WcStatus : uint8_t {
  Success = 0,
  LocLenErr = 1,
  LocQpOpErr = 2,
  LocProtErr = 4,
  FlushErr = 5,
  RemInvReqErr = 9,
  RemAccessErr = 10,
  RemOpErr = 11,
  RetryExcErr = 12,
  RnrRetryExcErr = 13,
};

/// Causes of an asynchronous QP event (roce_pkg::Evt*).
enum class EventCause : uint8_t {
  NakInvReq = 1,
  NakAccess = 2,
  ReadErr = 3,
  WriteErr = 4,
  RetryExc = 5,
  PeerNak = 6,
  BadWqe = 7,
};

/// Work request opcodes (enum ibv_wr_opcode) and WQE flags.
inline constexpr uint8_t kWrWrite = 0;
inline constexpr uint8_t kWqeSignaled = 1;
inline constexpr uint8_t kWqeSolicited = 2;
inline constexpr uint8_t kWqeFence = 4;

/// AETH syndromes.
inline constexpr uint8_t kSynAckNoLimit = 0x1F;
inline constexpr uint8_t kSynNakPsn = 0x60;
inline constexpr uint8_t kSynNakInvReq = 0x61;
inline constexpr uint8_t kSynNakAccess = 0x62;
inline constexpr uint8_t kSynNakOp = 0x63;

/// 24-bit sequence arithmetic: a is before b on the PSN circle; a distance of exactly 2^23 counts as before.
inline bool psn_lt(uint32_t a, uint32_t b) { return (((a - b) >> 23) & 1u) != 0; }
/// PSN `a` moved on by `n`, modulo 2^24.
inline uint32_t psn_add(uint32_t a, uint32_t n) { return (a + n) & 0xFFFFFFu; }
/// Distance from `b` forward to `a`, modulo 2^24.
inline uint32_t psn_sub(uint32_t a, uint32_t b) { return (a - b) & 0xFFFFFFu; }

/// Payload bytes of a path MTU code 1..5 (256..4096).
inline uint32_t mtu_bytes(uint8_t code) { return 128u << code; }
/// Code of a path MTU in bytes; 0 if there is none.
inline uint8_t mtu_code(uint64_t bytes) {
  for (uint8_t c = 1; c <= 5; ++c) {
    if (mtu_bytes(c) == bytes) return c;
  }
  return 0;
}

/// A station's own addresses.
struct LocalAddress {
  uint64_t mac = 0;  ///< first byte on the wire in [47:40]
  uint32_t ip = 0;   ///< first byte in [31:24]
  uint8_t ttl = 64;
  uint8_t tos = 0;
};

/// Set-up of one queue pair: everything that the register map takes.
struct QpConfig {
  uint32_t qpn = 0;
  QpState state = QpState::Rts;
  uint8_t pmtu = 3;  ///< code, 3 = 1024 bytes
  uint8_t access = kAccWrite;
  uint16_t pd = 0;
  uint16_t pkey = 0xFFFF;
  uint32_t rq_psn = 0;
  uint32_t sq_psn = 0;
  uint32_t dqpn = 0;
  uint32_t dip = 0;
  uint64_t dmac = 0;
  uint16_t sport = 0xC000;
  uint8_t retry_cnt = 7;
  uint8_t rnr_retry = 7;
  uint8_t timeout = 3;  ///< 4.096 us * 2^timeout; 0 = never
  uint8_t min_rnr_timer = 1;
  uint8_t sq_log2 = 31;  ///< send ring of 2^sq_log2 slots; 31: as many as the station gives
};

/// Set-up of one memory region; its key is {index, variant}.
struct MrConfig {
  uint32_t index = 0;
  bool valid = true;
  uint8_t variant = 0;
  uint8_t access = kAccWrite;
  uint16_t pd = 0;
  uint64_t base = 0;
  uint64_t length = 0;
  uint32_t key() const { return (index << 8) | variant; }
};

/// A work queue entry.
struct Wqe {
  uint32_t qpn = 0;
  uint8_t opcode = kWrWrite;
  uint8_t flags = kWqeSignaled;
  uint64_t wr_id = 0;
  uint64_t laddr = 0;
  uint32_t length = 0;
  uint32_t lkey = 0;
  uint64_t raddr = 0;
  uint32_t rkey = 0;
  uint32_t imm = 0;
  uint64_t swap_add = 0;
  uint64_t compare = 0;
};

/// A completion.
struct Cqe {
  WcStatus status = WcStatus::Success;
  uint8_t opcode = 0;
  uint16_t flags = 0;
  uint32_t qpn = 0;
  uint64_t wr_id = 0;
  uint32_t bytes = 0;
  uint32_t imm = 0;
  uint32_t syndrome = 0;
  Ps time = 0;  ///< when the harness took it
};

/// A QP hit a fatal error.
struct QpEvent {
  EventCause cause = EventCause::BadWqe;
  uint32_t qpn = 0;
};

/// "success", "loc_len_err", ... ; the number in decimal if there is no name.
std::string status_name(WcStatus s);
/// "nak_inv_req", "nak_access", ... ; the number in decimal if there is no name.
std::string cause_name(EventCause c);
/// Local ACK timeout of a timeout code (1..31) in picoseconds: 4.096 us * 2^code.
inline Ps ack_timeout(uint8_t code) { return (Ps{4096} * kNs) << code; }

}  // namespace rocegen::sim
