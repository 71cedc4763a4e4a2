// The requester half of the reference endpoint (protocol sheet sections 3 to 5).
#include <algorithm>

#include "sim/model/endpoint.h"

namespace rocegen::sim {
namespace {

constexpr uint32_t kMaxMessage = 1u << 31;      // bytes, protocol sheet section 6
constexpr uint32_t kMaxReadPackets = 1u << 22;  // half of what may be outstanding
constexpr uint8_t kEndless = 7;                 // rnr_retry

bool can_complete(QpState s) { return s == QpState::Rts || s == QpState::Sqd; }

uint32_t packets_of(uint32_t length, uint32_t mtu) { return length == 0 ? 1 : (length - 1) / mtu + 1; }

/// Opcode of one packet of a work request.
uint8_t packet_opcode(uint8_t wr, bool first, bool last) {
  switch (wr) {
    case kWrRead:
      return op::ReadRequest;
    case kWrCmpSwap:
      return op::CmpSwap;
    case kWrFetchAdd:
      return op::FetchAdd;
    default:
      break;
  }
  const bool send = wr_is_send(wr);
  if (!last) {
    return send ? (first ? op::SendFirst : op::SendMiddle) : (first ? op::WriteFirst : op::WriteMiddle);
  }
  switch (wr) {
    case kWrSendImm:
      return first ? op::SendOnlyImm : op::SendLastImm;
    case kWrSendInv:
      return first ? op::SendOnlyInv : op::SendLastInv;
    case kWrWriteImm:
      return first ? op::WriteOnlyImm : op::WriteLastImm;
    case kWrSend:
      return first ? op::SendOnly : op::SendLast;
    default:
      return first ? op::WriteOnly : op::WriteLast;
  }
}

}  // namespace

/// Success if the request can be carried out.
WcStatus Endpoint::bad_wqe(const Qp& qp, const Wqe& w) const {
  if (!wr_known(w.opcode)) return WcStatus::LocQpOpErr;
  if (wr_is_read(w.opcode) && qp.cfg.max_rd == 0) return WcStatus::LocQpOpErr;
  if (wr_is_atomic(w.opcode)) return WcStatus::Success;
  if (w.length > kMaxMessage) return WcStatus::LocLenErr;
  if (w.opcode == kWrRead && packets_of(w.length, mtu_bytes(qp.cfg.pmtu)) > kMaxReadPackets) return WcStatus::LocLenErr;
  return WcStatus::Success;
}

void Endpoint::post(const Wqe& wqe) {
  Qp* qp = find(wqe.qpn);
  if (qp == nullptr || qp->cfg.state < QpState::Rts) {
    // Cannot be queued: completed at once.
    Cqe c;
    c.status = WcStatus::LocQpOpErr;
    c.opcode = wc_opcode(wqe.opcode);
    c.qpn = wqe.qpn;
    c.wr_id = wqe.wr_id;
    c.bytes = wqe.length;
    cqes_.push_back(c);
    count("sq_wqes_rejected");
    return;
  }
  count("sq_wqes");
  const WcStatus bad = bad_wqe(*qp, wqe);
  if (bad != WcStatus::Success) count("sq_wqes_bad");
  Request r;
  r.wqe = wqe;
  r.first_psn = qp->next_psn;
  r.number = qp->posted;
  qp->posted = (qp->posted + 1) & 0xFFFFFF;
  if (bad != WcStatus::Success || (!qp->sq.empty() && qp->sq.back().packets == 0)) {
    r.packets = 0;  // cannot be executed, or stands behind such a one and will be flushed with it: takes no PSN
  } else {
    r.packets = wr_is_atomic(wqe.opcode) ? 1 : packets_of(wqe.length, mtu_bytes(qp->cfg.pmtu));
  }
  qp->next_psn = psn_add(qp->next_psn, r.packets);
  qp->sq.push_back(r);
  if (qp->cfg.state == QpState::Err) {
    flush(*qp);
  } else if (qp->sq.size() == 1 && r.packets == 0) {
    requester_error(*qp, bad, 0, EventCause::BadWqe);
  }
}

void Endpoint::complete(Qp& qp, WcStatus status, uint32_t syndrome) {
  const Wqe& w = qp.sq.front().wqe;
  if (status != WcStatus::Success || (w.flags & kWqeSignaled) != 0) {
    Cqe c;
    c.status = status;
    c.opcode = wc_opcode(w.opcode);
    c.qpn = qp.cfg.qpn;
    c.wr_id = w.wr_id;
    c.bytes = wr_is_atomic(w.opcode) ? 8 : w.length;
    c.syndrome = syndrome;
    cqes_.push_back(c);
    count("sq_cqes");
    if (status == WcStatus::FlushErr) count("sq_flushed");
  }
  qp.sq.pop_front();
}

void Endpoint::requester_error(Qp& qp, WcStatus status, uint8_t syndrome, EventCause cause) {
  count("sq_errors");
  complete(qp, status, syndrome);
  events_.push_back({cause, qp.cfg.qpn});
  enter_error(qp);
  flush(qp);
}

/// Something was acknowledged: the retries are reloaded and the timer runs anew.
void Endpoint::progress(Ps now, Qp& qp) {
  if (psn_lt(qp.cursor, qp.una)) qp.cursor = qp.una;
  qp.retries = qp.cfg.retry_cnt;
  qp.rnr_retries = qp.cfg.rnr_retry;
  qp.nak_retry = false;
  qp.rnr_until = kNever;
  qp.deadline = qp.una != qp.high && qp.cfg.timeout != 0 ? now + ack_timeout(qp.cfg.timeout) : kNever;
}

/// Takes PSN `psn` and all before it as done; false if a request that cannot be executed came to the front.
bool Endpoint::acknowledge(Ps now, Qp& qp, uint32_t psn) {
  qp.una = psn_add(psn, 1);
  progress(now, qp);
  while (!qp.sq.empty() && qp.sq.front().packets != 0) {
    const Request& r = qp.sq.front();
    if (psn_lt(psn, psn_add(r.first_psn, r.packets - 1))) break;
    complete(qp, WcStatus::Success, 0);
  }
  if (!qp.sq.empty() && qp.sq.front().packets == 0) {
    requester_error(qp, bad_wqe(qp, qp.sq.front().wqe), 0, EventCause::BadWqe);
    return false;
  }
  check_drained(qp);
  return true;
}

/// The oldest READ or atomic whose responses have not all come; finished ones have left the queue.
const Endpoint::Request* Endpoint::open_read(const Qp& qp) const {
  for (const Request& r : qp.sq) {
    if (r.packets == 0) return nullptr;
    if (wr_is_read(r.wqe.opcode)) return &r;
  }
  return nullptr;
}

/// Acknowledges what stands before `psn`; false as acknowledge().
bool Endpoint::acknowledge_before(Ps now, Qp& qp, uint32_t psn) {
  return psn == qp.una || acknowledge(now, qp, psn_sub(psn, 1));
}

/// Goes back to the oldest unacknowledged PSN; false if the retries are used up and the QP has failed.
bool Endpoint::retry(Ps now, Qp& qp) {
  if (qp.retries == 0) {
    requester_error(qp, WcStatus::RetryExcErr, 0, EventCause::RetryExc);
    return false;
  }
  --qp.retries;
  count("sq_rewinds");
  qp.cursor = qp.una;
  qp.since_ackreq = 0;
  if (qp.cfg.timeout != 0) qp.deadline = now + ack_timeout(qp.cfg.timeout);
  return true;
}

/// Responses were lost: one retry until there is progress or a timer fires.
void Endpoint::implied_nak(Ps now, Qp& qp) {
  count("sq_implied_naks");
  if (qp.nak_retry || qp.rnr_until != kNever) return;
  if (retry(now, qp)) qp.nak_retry = true;
}

/// End-to-end credits of an ACK (IBTA 9.7.7.2): the limit only ever moves forward, and goes for good with code 31.
void Endpoint::take_credits(Qp& qp, uint8_t syndrome, uint32_t msn) {
  const uint8_t code = syndrome & 31;
  if (code == 31) {
    qp.limited = false;
    qp.no_limit = true;
  }
  if (qp.no_limit) return;
  const uint32_t lsn = psn_add(msn, credit_count(code));
  if (!qp.limited || psn_lt(qp.lsn, lsn)) qp.lsn = lsn;
  qp.limited = true;
}

void Endpoint::check_drained(Qp& qp) {
  if (!qp.draining || qp.una != qp.drain_end) return;
  qp.draining = false;
  events_.push_back({EventCause::SqDrained, qp.cfg.qpn});
}

void Endpoint::take_answer(Ps now, Qp& qp, const Frame& f) {
  if (!can_complete(qp.cfg.state)) {
    count("sq_acks_dropped");
    return;
  }
  const AckKind kind = ack_kind(f.syndrome);
  if (f.opcode == op::Ack && kind == AckKind::Reserved) {
    count("sq_naks_reserved");
    return;
  }
  // Something must be unacknowledged at or before the PSN, and the PSN must have been sent.
  if (psn_sub(f.psn, qp.una) >= psn_sub(qp.high, qp.una)) {
    count(f.opcode == op::Ack ? "sq_acks_stale" : "sq_responses_stale");
    return;
  }
  if (f.opcode != op::Ack) return take_response(now, qp, f);
  if (kind != AckKind::Ack) return take_nak(now, qp, f);
  count("sq_acks");
  take_credits(qp, f.syndrome, f.msn);
  const Request* const read = open_read(qp);
  const bool inside = read != nullptr && psn_sub(qp.una, read->first_psn) < read->packets;
  const uint32_t reach = read == nullptr ? 0 : inside ? qp.una : read->first_psn;
  if (read == nullptr || psn_sub(f.psn, qp.una) < psn_sub(reach, qp.una)) {
    acknowledge(now, qp, f.psn);
    return;
  }
  // It lies beyond a READ whose responses have not all come: those were lost, and nothing behind them is done.
  if (acknowledge_before(now, qp, reach)) implied_nak(now, qp);
}

void Endpoint::take_nak(Ps now, Qp& qp, const Frame& f) {
  const bool rnr = ack_kind(f.syndrome) == AckKind::Rnr;
  count(rnr ? "sq_naks_rnr" : f.syndrome == kSynNakPsn ? "sq_naks" : "sq_naks_fatal");
  if (rnr && qp.rnr_until != kNever) return;  // waits already
  // A NAK acknowledges every PSN before its own, up to a READ that is not answered.
  uint32_t upto = f.psn;
  if (const Request* const read = open_read(qp)) {
    const uint32_t reach = psn_sub(qp.una, read->first_psn) < read->packets ? qp.una : read->first_psn;
    if (psn_sub(reach, qp.una) < psn_sub(upto, qp.una)) upto = reach;
  }
  if (!acknowledge_before(now, qp, upto)) return;
  if (rnr) {
    if (qp.rnr_retries == 0) {
      requester_error(qp, WcStatus::RnrRetryExcErr, f.syndrome, EventCause::RnrExc);
      return;
    }
    if (qp.cfg.rnr_retry != kEndless) --qp.rnr_retries;
    count("sq_rewinds");
    qp.cursor = qp.una;
    qp.since_ackreq = 0;
    qp.deadline = kNever;
    qp.rnr_until = now + rnr_delay(f.syndrome & 31);
    return;
  }
  switch (f.syndrome) {
    case kSynNakPsn:
      if (qp.nak_retry) return;  // one retry until something is acknowledged or a timer fires
      if (retry(now, qp)) qp.nak_retry = true;
      return;
    case kSynNakInvReq:
      return requester_error(qp, WcStatus::RemInvReqErr, f.syndrome, EventCause::PeerNak);
    case kSynNakAccess:
      return requester_error(qp, WcStatus::RemAccessErr, f.syndrome, EventCause::PeerNak);
    default:
      return requester_error(qp, WcStatus::RemOpErr, f.syndrome, EventCause::PeerNak);
  }
}

/// READ response or atomic acknowledge.
void Endpoint::take_response(Ps now, Qp& qp, const Frame& f) {
  count("sq_responses");
  const Request* const read = open_read(qp);
  if (read == nullptr) {
    count("sq_responses_stale");  // its PSN is that of a SEND or WRITE, which this does not answer
    return;
  }
  const bool inside = psn_sub(qp.una, read->first_psn) < read->packets;
  const uint32_t expected = inside ? qp.una : read->first_psn;
  const uint32_t ahead = psn_sub(f.psn, qp.una);
  if (ahead < psn_sub(expected, qp.una)) {
    count("sq_responses_stale");
    return;
  }
  if (ahead > psn_sub(expected, qp.una)) {
    if (acknowledge_before(now, qp, expected)) implied_nak(now, qp);
    return;
  }
  // The one that is waited for. All before it is done.
  const uint32_t index = psn_sub(f.psn, read->first_psn);
  const bool last = index + 1 == read->packets;
  const uint32_t mtu = mtu_bytes(qp.cfg.pmtu);
  const bool atomic = wr_is_atomic(read->wqe.opcode);
  Bytes data;
  bool good = ack_kind(f.syndrome) == AckKind::Ack;
  if (f.opcode == op::ReadRespMiddle) good = true;  // has no AETH
  if (atomic) {
    good = good && f.opcode == op::AtomicAck;
    for (unsigned i = 0; i < 8; ++i) data.push_back(static_cast<uint8_t>(f.original >> (8 * i)));
  } else {
    data = f.payload;
    const uint32_t want = last ? read->wqe.length - index * mtu : mtu;
    // The remainder of a READ that was asked for again may start with FIRST or ONLY, or go on as the original did.
    const bool starts = f.opcode == op::ReadRespFirst || f.opcode == op::ReadRespOnly;
    const bool ends = f.opcode == op::ReadRespLast || f.opcode == op::ReadRespOnly;
    good = good && f.opcode != op::AtomicAck && data.size() == want && ends == last && (index != 0 || starts);
  }
  if (!acknowledge_before(now, qp, expected)) return;
  if (!good) {
    count("sq_responses_bad");
    return requester_error(qp, WcStatus::BadRespErr, 0, EventCause::BadResponse);
  }
  const uint64_t at = read->wqe.laddr + (atomic ? 0 : uint64_t{index} * mtu);
  if (!data.empty()) {
    if (memory_.write_fails(at, data.size())) {
      count("dma_write_error");
      return requester_error(qp, WcStatus::LocProtErr, 0, EventCause::WriteErr);
    }
    memory_.device_write(at, data);
  }
  acknowledge(now, qp, f.psn);
}

/// The request that holds the cursor, null if there is none to send; and how many READs and atomics stand before it.
const Endpoint::Request* Endpoint::at_cursor(const Qp& qp, size_t* reads_before) const {
  size_t reads = 0;
  for (const Request& r : qp.sq) {
    if (r.packets == 0) return nullptr;
    if (psn_sub(qp.cursor, r.first_psn) < r.packets) {
      *reads_before = reads;
      return &r;
    }
    if (wr_is_read(r.wqe.opcode)) ++reads;
  }
  return nullptr;
}

bool Endpoint::sendable(const Qp& qp) const {
  if (qp.cfg.state != QpState::Rts && qp.cfg.state != QpState::Sqd) return false;
  const uint32_t end = qp.cfg.state == QpState::Sqd ? qp.drain_end : qp.next_psn;
  if (qp.cursor == end || qp.rnr_until != kNever || psn_sub(qp.cursor, qp.una) >= config_.window) return false;
  size_t reads = 0;
  const Request* const r = at_cursor(qp, &reads);
  if (r == nullptr) return false;
  if (wr_is_read(r->wqe.opcode) && reads >= qp.cfg.max_rd) return false;
  if (qp.cursor != r->first_psn) return true;
  // A fence waits for READs and atomics only.
  if ((r->wqe.flags & kWqeFence) != 0 && reads != 0) return false;
  // Without credit one request may go all the same when nothing else is outstanding.
  return !qp.limited || !wr_takes_rqe(r->wqe.opcode) || psn_lt(r->number, qp.lsn) || qp.cursor == qp.una;
}

bool Endpoint::build_request(Ps now, Qp& qp, Bytes& out) {
  const uint32_t psn = qp.cursor;
  size_t reads = 0;
  const Request& r = *at_cursor(qp, &reads);
  const Wqe& w = r.wqe;
  const uint32_t index = psn_sub(psn, r.first_psn);
  const uint32_t mtu = mtu_bytes(qp.cfg.pmtu);
  const uint32_t offset = index * mtu;
  const bool read = wr_is_read(w.opcode);
  const bool first = index == 0;
  const bool last = read || index + 1 == r.packets;
  Frame f;
  fill_headers(qp, f);
  f.ip_id = ip_id_++;
  f.opcode = packet_opcode(w.opcode, first, last);
  f.psn = psn;
  f.va = w.raddr + (w.opcode == kWrRead ? offset : 0);
  f.rkey = w.rkey;
  f.dma_len = w.opcode == kWrRead ? w.length - offset : w.length;
  f.swap_add = w.swap_add;
  f.compare = w.compare;
  f.imm = f.inv_rkey = w.imm;
  f.se = last && (w.flags & kWqeSolicited) != 0 && wr_takes_rqe(w.opcode);
  if (!read) {
    const uint32_t n = std::min(mtu, w.length - offset);
    if (n != 0 && memory_.read_fails(w.laddr + offset, n)) {
      count("dma_read_error");
      // Requests before this one are not acknowledged yet; the error belongs to this one, so those are flushed.
      while (&qp.sq.front() != &r) complete(qp, WcStatus::FlushErr, 0);
      requester_error(qp, WcStatus::LocProtErr, 0, EventCause::ReadErr);
      return false;
    }
    f.payload = memory_.read(w.laddr + offset, n);
  }
  ++qp.since_ackreq;
  f.ackreq = last || qp.since_ackreq >= config_.ack_interval;
  if (f.ackreq) qp.since_ackreq = 0;
  if (psn_lt(psn, qp.high)) count("sq_retransmits");
  qp.cursor = read ? psn_add(r.first_psn, r.packets) : psn_add(psn, 1);
  if (psn_lt(qp.high, qp.cursor)) qp.high = qp.cursor;
  if (qp.deadline == kNever && qp.cfg.timeout != 0) qp.deadline = now + ack_timeout(qp.cfg.timeout);
  count("sq_packets");
  out = build(f);
  return true;
}

}  // namespace rocegen::sim
