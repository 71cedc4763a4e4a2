#include "sim/model/endpoint.h"

#include <algorithm>

namespace rocegen::sim {
namespace {

constexpr size_t kMinFrame = 58;            // Ethernet, IPv4, UDP, BTH and ICRC
constexpr uint32_t kMaxMessage = 1u << 31;  // bytes, protocol sheet section 6

bool can_receive(QpState s) { return s == QpState::Rtr || s == QpState::Rts || s == QpState::Sqd; }
bool can_complete(QpState s) { return s == QpState::Rts || s == QpState::Sqd; }

/// Match iff the low 15 bits are equal and not zero and at least one side is a full member.
bool pkey_match(uint16_t a, uint16_t b) {
  return (a & 0x7FFF) != 0 && (a & 0x7FFF) == (b & 0x7FFF) && ((a | b) & 0x8000) != 0;
}

WcStatus bad_wqe(const Wqe& w) {
  if (w.opcode != kWrWrite) return WcStatus::LocQpOpErr;
  if (w.length > kMaxMessage) return WcStatus::LocLenErr;
  return WcStatus::Success;
}

}  // namespace

void Endpoint::count(std::string_view name) {
  const auto it = counters_.find(name);
  if (it != counters_.end()) {
    ++it->second;
  } else {
    counters_.emplace(std::string(name), 1);
  }
}

uint64_t Endpoint::counter(std::string_view name) const {
  const auto it = counters_.find(name);
  return it == counters_.end() ? 0 : it->second;
}

Endpoint::Qp* Endpoint::find(uint32_t qpn) {
  const auto it = qps_.find(qpn);
  return it == qps_.end() ? nullptr : &it->second;
}

void Endpoint::setup_qp(const QpConfig& cfg) {
  Qp qp;
  qp.cfg = cfg;
  qp.epsn = cfg.rq_psn;
  qp.next_psn = qp.una = qp.cursor = qp.high = cfg.sq_psn;
  qp.retries = cfg.retry_cnt;
  qps_[cfg.qpn] = std::move(qp);
  std::erase_if(answers_, [&](const Answer& a) { return a.qpn == cfg.qpn; });
}

void Endpoint::set_state(uint32_t qpn, QpState state) {
  Qp* qp = find(qpn);
  if (qp == nullptr) return;
  if (state == QpState::Err) {
    enter_error(*qp);
    flush(*qp);
  } else {
    qp->cfg.state = state;
  }
}

void Endpoint::setup_mr(const MrConfig& mr) { mrs_[mr.index] = mr; }

void Endpoint::post(const Wqe& wqe) {
  Qp* qp = find(wqe.qpn);
  if (qp == nullptr || qp->cfg.state < QpState::Rts) {
    // Cannot be queued: completed at once.
    Cqe c;
    c.status = WcStatus::LocQpOpErr;
    c.opcode = wqe.opcode;
    c.qpn = wqe.qpn;
    c.wr_id = wqe.wr_id;
    c.bytes = wqe.length;
    cqes_.push_back(c);
    count("sq_wqes_rejected");
    return;
  }
  count("sq_wqes");
  if (bad_wqe(wqe) != WcStatus::Success) count("sq_wqes_bad");
  Request r;
  r.wqe = wqe;
  r.first_psn = qp->next_psn;
  if (bad_wqe(wqe) != WcStatus::Success || (!qp->sq.empty() && qp->sq.back().packets == 0)) {
    r.packets = 0;  // cannot be executed, or stands behind such a one and will be flushed with it: takes no PSN
  } else {
    const uint32_t mtu = mtu_bytes(qp->cfg.pmtu);
    r.packets = wqe.length == 0 ? 1 : (wqe.length - 1) / mtu + 1;
  }
  qp->next_psn = psn_add(qp->next_psn, r.packets);
  qp->sq.push_back(r);
  if (qp->cfg.state == QpState::Err) {
    flush(*qp);
  } else if (qp->sq.size() == 1 && r.packets == 0) {
    requester_error(*qp, bad_wqe(wqe), 0, EventCause::BadWqe);
  }
}

bool Endpoint::poll_cqe(Cqe& out) {
  if (cqes_.empty()) return false;
  out = cqes_.front();
  cqes_.pop_front();
  return true;
}

bool Endpoint::poll_event(QpEvent& out) {
  if (events_.empty()) return false;
  out = events_.front();
  events_.pop_front();
  return true;
}

void Endpoint::receive(Ps now, ByteView frame, bool bad) {
  count("rx_frames");
  if (bad || frame.size() < kMinFrame) {
    count("rx_bad_frame");
    return;
  }
  const Parsed p = parse(frame);
  const Frame& f = p.frame;
  if (p.fault == FrameFault::EtherType) {
    count("rx_not_ip");
    return;
  }
  if (f.dst_mac != config_.address.mac || (p.fault != FrameFault::IpVersion && f.dst_ip != config_.address.ip)) {
    count("rx_not_mine");
    return;
  }
  switch (p.fault) {
    case FrameFault::IpVersion:
    case FrameFault::IpOptions:
    case FrameFault::IpChecksum:
    case FrameFault::Fragment:
      count("rx_ip_header");
      return;
    case FrameFault::NotUdp:
    case FrameFault::UdpPort:
      count("rx_not_roce");
      return;
    case FrameFault::IpLength:
    case FrameFault::UdpLength:
    case FrameFault::BthLength:
      count("rx_length");
      return;
    case FrameFault::Icrc:
      count("rx_bad_icrc");
      return;
    default:
      break;
  }
  const OpcodeLayout& layout = opcode_layout(f.opcode);
  if (!layout.payload && layout.known && (!f.payload.empty() || p.pad != 0)) {
    count("rx_length");
    return;
  }
  if (f.tver != 0 || !layout.known) {
    count("rx_bth");
    return;
  }
  if (!layout.request && f.opcode != op::Ack) {
    count("rx_unexpected_response");  // answers to requests that this endpoint never sends
    return;
  }
  count("rx_good");
  Qp* qp = find(f.dqpn);
  const auto drop = [&](std::string_view why) { count(layout.request ? why : "sq_acks_dropped"); };
  if (layout.request) count("rsp_requests");
  if (qp == nullptr) {
    drop("rsp_drop_qpn");
  } else if (!can_receive(qp->cfg.state)) {
    drop("rsp_drop_state");
  } else if (f.src_ip != qp->cfg.dip) {
    drop("rsp_drop_addr");
  } else if (!pkey_match(f.pkey, qp->cfg.pkey)) {
    drop("rsp_drop_pkey");
  } else if (layout.request) {
    respond(now, *qp, p);
  } else {
    take_answer(now, *qp, f);
  }
}

// ---- responder ------------------------------------------------------------------------------------------------------

void Endpoint::nak(Qp& qp, uint8_t syndrome, uint32_t psn) {
  answers_.push_back({qp.cfg.qpn, syndrome, psn, qp.msn});
  switch (syndrome) {
    case kSynNakPsn:
      count("rsp_nak_psn");
      break;
    case kSynNakInvReq:
      count("rsp_nak_inv_req");
      break;
    case kSynNakAccess:
      count("rsp_nak_access");
      break;
    default:
      count("rsp_nak_op");
      break;
  }
}

void Endpoint::ack(Qp& qp, uint32_t psn) {
  answers_.push_back({qp.cfg.qpn, kSynAckNoLimit, psn, qp.msn});
  count("rsp_acks");
}

bool Endpoint::mr_ok(const Qp& qp, uint32_t rkey, uint64_t va, uint64_t length, uint8_t right) const {
  const auto it = mrs_.find(rkey >> 8);
  if (it == mrs_.end()) return false;
  const MrConfig& mr = it->second;
  if (!mr.valid || mr.variant != (rkey & 0xFF) || mr.pd != qp.cfg.pd || (mr.access & right) == 0) return false;
  // No sum here that could wrap: offset and length are compared with what is left of the region.
  if (va < mr.base) return false;
  const uint64_t offset = va - mr.base;
  return offset <= mr.length && length <= mr.length - offset;
}

void Endpoint::responder_error(Ps /*now*/, Qp& qp, uint8_t syndrome, uint32_t psn, EventCause cause) {
  nak(qp, syndrome, psn);
  events_.push_back({cause, qp.cfg.qpn});
  enter_error(qp);
  flush(qp);
}

void Endpoint::respond(Ps now, Qp& qp, const Parsed& p) {
  const Frame& f = p.frame;
  const bool write = f.opcode >= op::WriteFirst && f.opcode <= op::WriteOnly && f.opcode != op::WriteLastImm;
  if (f.psn != qp.epsn) {
    if (!psn_lt(f.psn, qp.epsn)) {  // a gap: one NAK, then silence until ePSN comes
      if (qp.nak_sent) {
        count("rsp_out_of_order");
      } else {
        qp.nak_sent = true;
        nak(qp, kSynNakPsn, qp.epsn);
      }
      return;
    }
    // A duplicate WRITE (or SEND) is not executed but acknowledged again.
    if (f.opcode <= op::WriteOnlyImm || f.opcode == op::SendLastInv || f.opcode == op::SendOnlyInv) {
      count("rsp_duplicates");
      ack(qp, psn_sub(qp.epsn, 1));
    } else {
      count("rsp_drop_replay");
    }
    return;
  }
  qp.nak_sent = false;
  const bool first = f.opcode == op::WriteFirst;
  const bool middle = f.opcode == op::WriteMiddle;
  const bool last = f.opcode == op::WriteLast;
  const bool only = f.opcode == op::WriteOnly;
  const bool starts = first || only || (!middle && !last && !write);
  if (starts == qp.in_message || !write || (qp.cfg.access & kAccWrite) == 0) {
    // Opcode out of sequence, or an operation that this QP has not enabled.
    responder_error(now, qp, kSynNakInvReq, f.psn, EventCause::NakInvReq);
    return;
  }
  const uint32_t mtu = mtu_bytes(qp.cfg.pmtu);
  const auto n = static_cast<uint32_t>(f.payload.size());
  const uint8_t right_pad = static_cast<uint8_t>((4 - n % 4) % 4);
  if (first || only) {
    qp.va = f.va;
    qp.rkey = f.rkey;
    qp.remaining = f.dma_len;
  }
  bool length_ok = p.pad == right_pad && n <= mtu;
  if (first) length_ok = length_ok && n == mtu && f.dma_len > mtu && f.dma_len <= kMaxMessage;
  if (middle) length_ok = length_ok && n == mtu && qp.remaining > mtu;
  if (last) length_ok = length_ok && n > 0 && n == qp.remaining;
  if (only) length_ok = length_ok && n == f.dma_len;
  if (!length_ok) {
    responder_error(now, qp, kSynNakInvReq, f.psn, EventCause::NakInvReq);
    return;
  }
  // What is left of the message must lie in the region; looked up again for every packet, so that a region which is
  // revoked within a message ends it.
  if (qp.remaining != 0 && !mr_ok(qp, qp.rkey, qp.va, qp.remaining, kAccWrite)) {
    responder_error(now, qp, kSynNakAccess, f.psn, EventCause::NakAccess);
    return;
  }
  if (n != 0) {
    if (memory_.write_fails(qp.va, n)) {
      count("dma_write_error");
      responder_error(now, qp, kSynNakOp, f.psn, EventCause::WriteErr);
      return;
    }
    memory_.device_write(qp.va, f.payload);
  }
  qp.va += n;
  qp.remaining -= n;
  qp.in_message = first || middle;
  qp.epsn = psn_add(qp.epsn, 1);
  if (last || only) qp.msn = (qp.msn + 1) & 0xFFFFFF;
  count("rsp_accepted");
  if (f.ackreq) ack(qp, f.psn);
}

// ---- requester ------------------------------------------------------------------------------------------------------

void Endpoint::enter_error(Qp& qp) {
  qp.cfg.state = QpState::Err;
  qp.deadline = kNever;
}

void Endpoint::complete(Qp& qp, WcStatus status, uint32_t syndrome) {
  const Wqe& w = qp.sq.front().wqe;
  if (status != WcStatus::Success || (w.flags & kWqeSignaled) != 0) {
    Cqe c;
    c.status = status;
    c.opcode = w.opcode;
    c.qpn = qp.cfg.qpn;
    c.wr_id = w.wr_id;
    c.bytes = w.length;
    c.syndrome = syndrome;
    cqes_.push_back(c);
    count("sq_cqes");
    if (status == WcStatus::FlushErr) count("sq_flushed");
  }
  qp.sq.pop_front();
}

void Endpoint::flush(Qp& qp) {
  while (!qp.sq.empty()) complete(qp, WcStatus::FlushErr, 0);
  qp.una = qp.cursor = qp.high = qp.next_psn;
}

void Endpoint::requester_error(Qp& qp, WcStatus status, uint8_t syndrome, EventCause cause) {
  count("sq_errors");
  complete(qp, status, syndrome);
  events_.push_back({cause, qp.cfg.qpn});
  enter_error(qp);
  flush(qp);
}

/// Takes PSN `psn` and all before it as acknowledged; false if a request that cannot be executed came to the front.
bool Endpoint::acknowledge(Ps now, Qp& qp, uint32_t psn) {
  qp.una = psn_add(psn, 1);
  if (psn_lt(qp.cursor, qp.una)) qp.cursor = qp.una;
  qp.retries = qp.cfg.retry_cnt;
  qp.nak_retry = false;
  qp.deadline = qp.una != qp.high && qp.cfg.timeout != 0 ? now + ack_timeout(qp.cfg.timeout) : kNever;
  while (!qp.sq.empty() && qp.sq.front().packets != 0) {
    const Request& r = qp.sq.front();
    if (psn_lt(psn, psn_add(r.first_psn, r.packets - 1))) break;
    complete(qp, WcStatus::Success, 0);
  }
  if (!qp.sq.empty() && qp.sq.front().packets == 0) {
    requester_error(qp, bad_wqe(qp.sq.front().wqe), 0, EventCause::BadWqe);
    return false;
  }
  return true;
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

void Endpoint::take_answer(Ps now, Qp& qp, const Frame& f) {
  if (!can_complete(qp.cfg.state)) {
    count("sq_acks_dropped");
    return;
  }
  // Something must be unacknowledged at or before the PSN, and the PSN must have been sent.
  if (psn_sub(f.psn, qp.una) >= psn_sub(qp.high, qp.una)) {
    count("sq_acks_stale");
    return;
  }
  const unsigned type = (f.syndrome >> 5) & 3;
  if (type == 0) {
    count("sq_acks");
    acknowledge(now, qp, f.psn);
    return;
  }
  if (type != 3) {  // RNR belongs to operations that consume receive entries; 2 is reserved
    count(type == 1 ? "sq_naks_rnr" : "sq_naks_reserved");
    return;
  }
  count(f.syndrome == kSynNakPsn ? "sq_naks" : "sq_naks_fatal");
  // A NAK acknowledges every PSN before its own.
  if (f.psn != qp.una && !acknowledge(now, qp, psn_sub(f.psn, 1))) return;
  switch (f.syndrome) {
    case kSynNakPsn:
      if (qp.nak_retry) return;  // one retry until something is acknowledged or a timer fires
      if (retry(now, qp)) qp.nak_retry = true;
      return;
    case kSynNakInvReq:
      requester_error(qp, WcStatus::RemInvReqErr, f.syndrome, EventCause::PeerNak);
      return;
    case kSynNakAccess:
      requester_error(qp, WcStatus::RemAccessErr, f.syndrome, EventCause::PeerNak);
      return;
    default:
      requester_error(qp, WcStatus::RemOpErr, f.syndrome, EventCause::PeerNak);
      return;
  }
}

bool Endpoint::sendable(const Qp& qp) const {
  return qp.cfg.state == QpState::Rts && qp.cursor != qp.next_psn && psn_sub(qp.cursor, qp.una) < config_.window;
}

bool Endpoint::has_frame() const {
  if (!answers_.empty()) return true;
  return std::any_of(qps_.begin(), qps_.end(), [&](const auto& e) { return sendable(e.second); });
}

void Endpoint::fill_headers(const Qp& qp, Frame& f) const {
  f.dst_mac = qp.cfg.dmac;
  f.src_mac = config_.address.mac;
  f.src_ip = config_.address.ip;
  f.dst_ip = qp.cfg.dip;
  f.ttl = config_.address.ttl;
  f.tos = config_.address.tos;
  f.sport = qp.cfg.sport;
  f.dqpn = qp.cfg.dqpn;
  f.pkey = qp.cfg.pkey;
  f.mig = config_.mig;
}

bool Endpoint::build_request(Ps now, Qp& qp, Bytes& out) {
  const uint32_t psn = qp.cursor;
  const auto it = std::find_if(qp.sq.begin(), qp.sq.end(), [&](const Request& r) {
    return r.packets != 0 && psn_sub(psn, r.first_psn) < r.packets;
  });
  if (it == qp.sq.end()) return false;  // behind a request that cannot be executed
  const Request& r = *it;
  const uint32_t index = psn_sub(psn, r.first_psn);
  const uint32_t mtu = mtu_bytes(qp.cfg.pmtu);
  const uint32_t offset = index * mtu;
  const bool first = index == 0;
  const bool last = index + 1 == r.packets;
  Frame f;
  fill_headers(qp, f);
  f.ip_id = ip_id_++;
  f.opcode = first ? (last ? op::WriteOnly : op::WriteFirst) : (last ? op::WriteLast : op::WriteMiddle);
  f.psn = psn;
  f.va = r.wqe.raddr;
  f.rkey = r.wqe.rkey;
  f.dma_len = r.wqe.length;
  const uint32_t n = std::min(mtu, r.wqe.length - offset);
  if (n != 0 && memory_.read_fails(r.wqe.laddr + offset, n)) {
    count("dma_read_error");
    // Requests before this one are not acknowledged yet; the error belongs to this one, so those are flushed.
    while (&qp.sq.front() != &r) complete(qp, WcStatus::FlushErr, 0);
    requester_error(qp, WcStatus::LocProtErr, 0, EventCause::ReadErr);
    return false;
  }
  f.payload = memory_.read(r.wqe.laddr + offset, n);
  ++qp.since_ackreq;
  f.ackreq = last || qp.since_ackreq >= config_.ack_interval;
  if (f.ackreq) qp.since_ackreq = 0;
  if (psn != qp.high) count("sq_retransmits");
  qp.cursor = psn_add(psn, 1);
  if (psn_lt(qp.high, qp.cursor)) qp.high = qp.cursor;
  if (qp.deadline == kNever && qp.cfg.timeout != 0) qp.deadline = now + ack_timeout(qp.cfg.timeout);
  count("sq_packets");
  out = build(f);
  count("tx_frames");
  return true;
}

bool Endpoint::transmit(Ps now, Bytes& out) {
  while (!answers_.empty()) {
    const Answer a = answers_.front();
    answers_.pop_front();
    const Qp* qp = find(a.qpn);
    if (qp == nullptr) continue;
    Frame f;
    fill_headers(*qp, f);
    f.ip_id = ip_id_++;
    f.opcode = op::Ack;
    f.psn = a.psn;
    f.syndrome = a.syndrome;
    f.msn = a.msn;
    out = build(f);
    count("tx_frames");
    return true;
  }
  // Round robin: QPs after the last one served, then from the start.
  for (int pass = 0; pass < 2; ++pass) {
    for (auto it = pass == 0 ? qps_.upper_bound(turn_) : qps_.begin(); it != qps_.end(); ++it) {
      if (!sendable(it->second)) continue;
      turn_ = it->first;
      if (build_request(now, it->second, out)) return true;
    }
  }
  return false;
}

Ps Endpoint::next_timer() const {
  Ps t = kNever;
  if (paused_) return t;
  for (const auto& e : qps_) t = std::min(t, e.second.deadline);
  return t;
}

void Endpoint::tick(Ps now) {
  if (paused_) return;
  for (auto& e : qps_) {
    Qp& qp = e.second;
    if (qp.deadline > now) continue;
    qp.deadline = kNever;
    if (qp.cfg.state != QpState::Rts || qp.una == qp.high) continue;
    count("sq_timeouts");
    qp.nak_retry = false;
    retry(now, qp);
  }
}

void Endpoint::pause(Ps now, bool on) {
  if (on == paused_) return;
  if (on) {
    paused_at_ = now;
  } else {
    for (auto& e : qps_) {
      if (e.second.deadline != kNever) e.second.deadline += now - paused_at_;
    }
  }
  paused_ = on;
}

}  // namespace rocegen::sim
