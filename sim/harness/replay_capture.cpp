#include "sim/harness/replay_capture.h"

#include <algorithm>

namespace rocegen::sim {

bool takes_rqe(uint8_t o) {
  return o == op::SendFirst || o == op::SendOnly || o == op::SendOnlyImm || o == op::SendOnlyInv ||
         o == op::WriteLastImm || o == op::WriteOnlyImm;
}

std::string Captured::survey(const PcapFile& capture, uint32_t responder_ip) {
  responder_ = responder_ip;
  for (const PcapFrame& f : capture.frames) parsed_.push_back(parse(f.data));
  for (size_t i = 0; i < parsed_.size(); ++i) {
    const Parsed& p = parsed_[i];
    if (!p.ok() || !opcode_layout(p.frame.opcode).known) continue;
    const bool request = opcode_layout(p.frame.opcode).request;
    if (responder_ == 0 && request) responder_ = p.frame.dst_ip;
    if (p.frame.dst_ip == responder_ && request) {
      add_request(i);
    } else if (p.frame.src_ip == responder_ && !request) {
      add_answer(i);
    }
  }
  if (qps_.empty()) return "the capture holds no request of a reliable connection";
  for (CapturedQp& q : qps_) {
    q.exists = !q.answers.empty();
    if (q.usable()) judge(q);
    lossy_ = lossy_ || q.lossy;
  }
  if (std::none_of(qps_.begin(), qps_.end(), [](const CapturedQp& q) { return q.usable(); })) {
    return "no request of the capture was answered";
  }
  return "";
}

CapturedQp* Captured::find(uint32_t qpn) {
  const auto it = std::find_if(qps_.begin(), qps_.end(), [&](const CapturedQp& q) { return q.qpn == qpn; });
  return it == qps_.end() ? nullptr : &*it;
}

uint32_t Captured::psns(const CapturedQp& q, const Frame& f) const {
  if (f.opcode != op::ReadRequest || f.dma_len == 0) return 1;
  return (f.dma_len - 1) / q.mtu() + 1;
}

void Captured::add_request(size_t i) {
  const Frame& f = parsed_[i].frame;
  CapturedQp* q = find(f.dqpn);
  if (q == nullptr) {
    qps_.emplace_back();
    q = &qps_.back();
    q->qpn = f.dqpn;
    q->cfg.qpn = f.dqpn;
    q->cfg.rq_psn = f.psn;
    q->cfg.dip = f.src_ip;
    q->cfg.dmac = f.src_mac;
    q->cfg.pkey = f.pkey;
    q->cfg.timeout = 0;
    responder_mac_ = f.dst_mac;
    requester_ = f.src_ip;
    requester_mac_ = f.src_mac;
  }
  q->latest = i;
  q->requests.push_back(i);
  if (psn_lt(f.psn, q->cfg.rq_psn)) q->cfg.rq_psn = f.psn;
  const auto n = static_cast<uint32_t>(f.payload.size());
  q->max_payload = std::max(q->max_payload, n);
  if (f.opcode == op::WriteFirst || f.opcode == op::WriteMiddle || f.opcode == op::SendFirst ||
      f.opcode == op::SendMiddle) {
    q->full_payload = std::max(q->full_payload, n);
  }
}

// The QP that an answer belongs to: the one whose latest request is nearest before it and has that PSN in its range.
void Captured::add_answer(size_t i) {
  const Frame& f = parsed_[i].frame;
  CapturedQp* best = nullptr;
  for (CapturedQp& q : qps_) {
    if (q.cfg.dip != f.dst_ip || (q.cfg.dqpn != 0 && q.cfg.dqpn != f.dqpn)) continue;
    if (psn_sub(f.psn, q.cfg.rq_psn) >= (1u << 22) && f.psn != psn_sub(q.cfg.rq_psn, 1)) continue;
    if (best == nullptr || q.latest > best->latest) best = &q;
  }
  if (best == nullptr) return;
  best->cfg.dqpn = f.dqpn;
  best->cfg.sport = f.sport;
  best->answers.push_back(i);
  const auto n = static_cast<uint32_t>(f.payload.size());
  best->max_payload = std::max(best->max_payload, n);
  if (f.opcode == op::ReadRespFirst || f.opcode == op::ReadRespMiddle) {
    best->full_payload = std::max(best->full_payload, n);
  }
  if (is_fatal_nak(f)) best->refused.insert(f.psn);
  const bool refuses = f.opcode == op::Ack && (f.syndrome & 0xE0) != 0;
  const uint32_t upto = refuses ? psn_sub(f.psn, 1) : f.psn;
  if (!best->any_ack || psn_lt(best->acked, upto)) best->acked = upto;
  best->any_ack = true;
}

void Captured::judge(CapturedQp& q) {
  const uint32_t payload = q.full_payload != 0 ? q.full_payload : q.max_payload;
  for (q.cfg.pmtu = 1; q.cfg.pmtu < 5 && mtu_bytes(q.cfg.pmtu) < payload; ++q.cfg.pmtu) {
  }
  // In order means: every request's PSN is the next one, or that of an RNR NAK which came since.
  uint32_t next = q.cfg.rq_psn;
  size_t answer = 0;
  for (const size_t i : q.requests) {
    const Frame& f = parsed_[i].frame;
    for (; answer < q.answers.size() && q.answers[answer] < i; ++answer) {
      const Frame& a = parsed_[q.answers[answer]].frame;
      if (is_rnr(a)) next = a.psn;
    }
    q.lossy = q.lossy || f.psn != next;
    next = psn_add(f.psn, psns(q, f));
  }
}

}  // namespace rocegen::sim
