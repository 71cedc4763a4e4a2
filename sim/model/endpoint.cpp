// The endpoint's set-up, its receive path up to the QP, and the order in which it sends. The two halves of a QP are in
// responder.cpp and requester.cpp.
#include "sim/model/endpoint.h"

#include <algorithm>

namespace rocegen::sim {
namespace {

constexpr size_t kMinFrame = 58;  // Ethernet, IPv4, UDP, BTH and ICRC

bool can_receive(QpState s) { return s == QpState::Rtr || s == QpState::Rts || s == QpState::Sqd; }

/// Match iff the low 15 bits are equal and not zero and at least one side is a full member.
bool pkey_match(uint16_t a, uint16_t b) {
  return (a & 0x7FFF) != 0 && (a & 0x7FFF) == (b & 0x7FFF) && ((a | b) & 0x8000) != 0;
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

const Endpoint::Qp* Endpoint::find(uint32_t qpn) const {
  const auto it = qps_.find(qpn);
  return it == qps_.end() ? nullptr : &it->second;
}

void Endpoint::setup_qp(const QpConfig& cfg) {
  Qp qp;
  qp.cfg = cfg;
  qp.epsn = cfg.rq_psn;
  qp.next_psn = qp.una = qp.cursor = qp.high = cfg.sq_psn;
  qp.retries = cfg.retry_cnt;
  qp.rnr_retries = cfg.rnr_retry;
  qps_[cfg.qpn] = std::move(qp);
  std::erase(answer_turn_, cfg.qpn);
}

void Endpoint::set_state(uint32_t qpn, QpState state) {
  Qp* qp = find(qpn);
  if (qp == nullptr) return;
  if (state == QpState::Err || state == QpState::Reset) {
    qp->answers.clear();
    std::erase(answer_turn_, qpn);
  }
  if (state == QpState::Reset) {
    qp->rq.clear();
    qp->taken.reset();
    qp->sq.clear();
  }
  if (state == QpState::Err) {
    enter_error(*qp);
    flush(*qp);
    return;
  }
  qp->cfg.state = state;
  qp->draining = state == QpState::Sqd;
  if (!qp->draining) return;
  // What was begun is finished: up to the end of the message that holds the next new PSN.
  qp->drain_end = qp->high;
  for (const Request& r : qp->sq) {
    const uint32_t into = psn_sub(qp->high, r.first_psn);
    if (into > 0 && into < r.packets) qp->drain_end = psn_add(r.first_psn, r.packets);
  }
  check_drained(*qp);
}

void Endpoint::setup_mr(const MrConfig& mr) { mrs_[mr.index] = mr; }

void Endpoint::setup_srq(const SrqConfig& srq) { srqs_[srq.srqn].clear(); }

void Endpoint::enter_error(Qp& qp) {
  qp.cfg.state = QpState::Err;
  qp.deadline = kNever;
  qp.rnr_until = kNever;
  qp.draining = false;
}

void Endpoint::flush(Qp& qp) {
  while (!qp.sq.empty()) complete(qp, WcStatus::FlushErr, 0);
  qp.una = qp.cursor = qp.high = qp.next_psn;
  if (qp.taken) {
    complete_receive(qp, *qp.taken, WcStatus::FlushErr, kWcRecv, 0, 0, 0);
    qp.taken.reset();
  }
  for (const Rqe& r : qp.rq) complete_receive(qp, r, WcStatus::FlushErr, kWcRecv, 0, 0, 0);
  qp.rq.clear();
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
    respond(*qp, p);
  } else {
    take_answer(now, *qp, f);
  }
}

bool Endpoint::has_frame() const {
  if (!answer_turn_.empty()) return true;
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

bool Endpoint::transmit(Ps now, Bytes& out) {
  while (!answer_turn_.empty()) {
    const uint32_t qpn = answer_turn_.front();
    answer_turn_.pop_front();
    Qp* qp = find(qpn);
    if (qp != nullptr && !qp->answers.empty() && build_answer(*qp, out)) {
      count("tx_frames");
      return true;
    }
  }
  // Round robin: QPs after the last one served, then from the start.
  for (int pass = 0; pass < 2; ++pass) {
    for (auto it = pass == 0 ? qps_.upper_bound(turn_) : qps_.begin(); it != qps_.end(); ++it) {
      if (!sendable(it->second)) continue;
      turn_ = it->first;
      if (build_request(now, it->second, out)) {
        count("tx_frames");
        return true;
      }
    }
  }
  return false;
}

Ps Endpoint::next_timer() const {
  Ps t = kNever;
  if (paused_) return t;
  for (const auto& e : qps_) t = std::min({t, e.second.deadline, e.second.rnr_until});
  return t;
}

void Endpoint::tick(Ps now) {
  if (paused_) return;
  for (auto& e : qps_) {
    Qp& qp = e.second;
    if (qp.rnr_until <= now) {
      qp.rnr_until = kNever;  // the cursor stands on the refused request already
      count("sq_rnr_waits");
    }
    if (qp.deadline > now) continue;
    qp.deadline = kNever;
    if ((qp.cfg.state != QpState::Rts && qp.cfg.state != QpState::Sqd) || qp.una == qp.high) continue;
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
