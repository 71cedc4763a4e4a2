// What the harness, the reference endpoint and the driver of a generated NIC say to each other. Field names and
// numbers are those of roce_pkg (templates/net/roce_pkg.sv) and of libibverbs.
#pragma once

#include <cstdint>
#include <optional>
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
/// Of a region alone: the peer may invalidate its key.
inline constexpr uint8_t kAccInvalidate = 8;

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
  BadRespErr = 7,
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
  SqDrained = 8,     ///< no error: in SQD nothing is outstanding any more
  RnrExc = 9,        ///< requester: RNR retries used up
  BadResponse = 10,  ///< requester: an impossible response
  Invalidate = 11,   ///< responder: the peer invalidated what it must not
  LocalLen = 12,     ///< responder: a SEND longer than its receive buffer
  Service = 13,      ///< no error: a service has something to tell
  Refused = 14,      ///< responder: a service refused a request
};

/// Work request opcodes (enum ibv_wr_opcode) and WQE flags.
inline constexpr uint8_t kWrWrite = 0;
inline constexpr uint8_t kWrWriteImm = 1;
inline constexpr uint8_t kWrSend = 2;
inline constexpr uint8_t kWrSendImm = 3;
inline constexpr uint8_t kWrRead = 4;
inline constexpr uint8_t kWrCmpSwap = 5;
inline constexpr uint8_t kWrFetchAdd = 6;
inline constexpr uint8_t kWrSendInv = 9;
inline constexpr uint8_t kWqeSignaled = 1;
inline constexpr uint8_t kWqeSolicited = 2;
inline constexpr uint8_t kWqeFence = 4;

/// Completion opcodes (enum ibv_wc_opcode) and completion flags (roce_pkg::Cqe*).
inline constexpr uint8_t kWcSend = 0;
inline constexpr uint8_t kWcWrite = 1;
inline constexpr uint8_t kWcRead = 2;
inline constexpr uint8_t kWcCmpSwap = 3;
inline constexpr uint8_t kWcFetchAdd = 4;
inline constexpr uint8_t kWcRecv = 128;
inline constexpr uint8_t kWcRecvWriteImm = 129;
inline constexpr uint16_t kCqeRecv = 1;  ///< completion of a receive
inline constexpr uint16_t kCqeWithImm = 2;
inline constexpr uint16_t kCqeWithInv = 4;  ///< imm is the key that was invalidated
inline constexpr uint16_t kCqeSolicited = 8;

/// What kind of work an opcode means.
inline bool wr_is_atomic(uint8_t op) { return op == kWrCmpSwap || op == kWrFetchAdd; }
inline bool wr_is_read(uint8_t op) { return op == kWrRead || wr_is_atomic(op); }
inline bool wr_is_send(uint8_t op) { return op == kWrSend || op == kWrSendImm || op == kWrSendInv; }
/// Takes a receive queue entry of the peer.
inline bool wr_takes_rqe(uint8_t op) { return wr_is_send(op) || op == kWrWriteImm; }
inline bool wr_known(uint8_t op) { return op <= kWrFetchAdd || op == kWrSendInv; }
/// Completion opcode of a work request; the request's own number if it has none.
uint8_t wc_opcode(uint8_t wr_opcode);

/// AETH syndromes.
inline constexpr uint8_t kSynAckNoLimit = 0x1F;
inline constexpr uint8_t kSynRnr = 0x20;  ///< RNR NAK; the timer code is added
inline constexpr uint8_t kSynNakPsn = 0x60;
inline constexpr uint8_t kSynNakInvReq = 0x61;
inline constexpr uint8_t kSynNakAccess = 0x62;
inline constexpr uint8_t kSynNakOp = 0x63;
/// What a syndrome is of; those that no reliable connection has (0x40..0x5F, 0x64 and up) mean nothing.
enum class AckKind : uint8_t { Ack, Rnr, Nak, Reserved };
constexpr AckKind ack_kind(uint8_t syndrome) {
  return syndrome < kSynRnr                                ? AckKind::Ack
         : syndrome < kSynRnr + 32                         ? AckKind::Rnr
         : syndrome >= kSynNakPsn && syndrome <= kSynNakOp ? AckKind::Nak
                                                           : AckKind::Reserved;
}

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
  uint8_t sq_log2 = 31;     ///< send ring of 2^sq_log2 slots; 31: as many as the station gives
  uint8_t max_rd = 0;       ///< READs and atomics outstanding as requester; 0: none allowed
  uint8_t max_dest_rd = 0;  ///< the same as responder
  bool rq_on = false;       ///< it can receive: from a ring of its own, or with `srq` from a shared one
  bool srq = false;
  uint16_t srqn = 0;     ///< number of the shared ring
  uint8_t rq_log2 = 31;  ///< own receive ring of 2^rq_log2 slots; 31: as many as the station gives
  /// Bit i: entry i of the specification's services works on its packets. Nothing: as the station does it.
  std::optional<uint8_t> services;
};

/// Set-up of a shared receive ring; it starts empty.
struct SrqConfig {
  uint16_t srqn = 0;
  uint8_t log2 = 31;  ///< 2^log2 slots; 31: as many as the station gives
};

/// Set-up of one memory region; its key is {index, variant}.
struct MrConfig {
  uint32_t index = 0;
  bool valid = true;
  uint8_t variant = 0;
  uint8_t access = kAccWrite;
  uint8_t target = 0;  ///< AXI master that it lies behind
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
  uint8_t target = 0;  ///< AXI master that laddr belongs to
  uint64_t wr_id = 0;
  uint64_t laddr = 0;
  uint32_t length = 0;
  uint32_t lkey = 0;
  uint64_t raddr = 0;
  uint32_t rkey = 0;
  uint32_t imm = 0;  ///< immediate data, or the key to invalidate
  uint64_t swap_add = 0;
  uint64_t compare = 0;
};

/// A receive queue entry.
struct Rqe {
  uint32_t qpn = 0;  ///< QP, or number of the shared ring
  bool shared = false;
  uint8_t target = 0;  ///< AXI master that addr belongs to
  uint64_t wr_id = 0;
  uint64_t addr = 0;
  uint32_t length = 0;
  uint32_t lkey = 0;
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
  bool receive() const { return (flags & kCqeRecv) != 0; }
};

/// A QP hit a fatal error, or was drained.
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
/// How long an RNR NAK with timer code 0..31 asks the requester to wait, in picoseconds (protocol sheet section 4).
Ps rnr_delay(uint8_t code);
/// Receive queue entries that a credit code 0..30 announces (protocol sheet section 4); code 31 means no limit.
uint32_t credit_count(uint8_t code);
/// Largest credit code whose count is at most `entries`.
uint8_t credit_code(uint32_t entries);

}  // namespace rocegen::sim
