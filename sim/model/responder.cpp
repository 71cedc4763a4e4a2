// The responder half of the reference endpoint (protocol sheet sections 3, 4 and 6).
#include <algorithm>

#include "sim/model/endpoint.h"

namespace rocegen::sim {
namespace {

constexpr uint32_t kMaxMessage = 1u << 31;  // bytes, protocol sheet section 6
constexpr uint32_t kAtomicBytes = 8;

enum class Kind : uint8_t { Send, Write, Read, Atomic, Unsupported };

/// What a request opcode means to the responder.
struct Shape {
  Kind kind;
  bool starts;  // FIRST or ONLY
  bool ends;    // LAST or ONLY
  bool imm;
  bool inv;
};

Shape shape_of(uint8_t o) {
  switch (o) {
    case op::SendFirst:
      return {Kind::Send, true, false, false, false};
    case op::SendMiddle:
      return {Kind::Send, false, false, false, false};
    case op::SendLast:
      return {Kind::Send, false, true, false, false};
    case op::SendLastImm:
      return {Kind::Send, false, true, true, false};
    case op::SendLastInv:
      return {Kind::Send, false, true, false, true};
    case op::SendOnly:
      return {Kind::Send, true, true, false, false};
    case op::SendOnlyImm:
      return {Kind::Send, true, true, true, false};
    case op::SendOnlyInv:
      return {Kind::Send, true, true, false, true};
    case op::WriteFirst:
      return {Kind::Write, true, false, false, false};
    case op::WriteMiddle:
      return {Kind::Write, false, false, false, false};
    case op::WriteLast:
      return {Kind::Write, false, true, false, false};
    case op::WriteLastImm:
      return {Kind::Write, false, true, true, false};
    case op::WriteOnly:
      return {Kind::Write, true, true, false, false};
    case op::WriteOnlyImm:
      return {Kind::Write, true, true, true, false};
    case op::ReadRequest:
      return {Kind::Read, true, true, false, false};
    case op::CmpSwap:
    case op::FetchAdd:
      return {Kind::Atomic, true, true, false, false};
    default:
      return {Kind::Unsupported, true, true, false, false};
  }
}

uint32_t packets_of(uint32_t length, uint32_t mtu) { return length == 0 ? 1 : (length - 1) / mtu + 1; }

uint64_t get_le64(ByteView b) {
  uint64_t v = 0;
  for (size_t i = 8; i-- > 0;) v = (v << 8) | b[i];
  return v;
}

}  // namespace

void Endpoint::owe(Qp& qp, const Answer& a) {
  qp.answers.push_back(a);
  answer_turn_.push_back(qp.cfg.qpn);
}

void Endpoint::nak(Qp& qp, uint8_t syndrome, uint32_t psn) {
  owe(qp, {.syndrome = syndrome, .psn = psn, .msn = qp.msn});
  if (ack_kind(syndrome) == AckKind::Rnr) {
    count("rsp_rnr_naks");
    return;
  }
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
  const bool counts = qp.cfg.rq_on && !qp.cfg.srq;
  const uint8_t credits = counts ? credit_code(static_cast<uint32_t>(qp.rq.size())) : kSynAckNoLimit;
  owe(qp, {.syndrome = credits, .psn = psn, .msn = qp.msn});
  count("rsp_acks");
}

/// The region of a key if it is valid and in the QP's protection domain.
const MrConfig* Endpoint::region(const Qp& qp, uint32_t rkey) const {
  const auto it = mrs_.find(rkey >> 8);
  if (it == mrs_.end()) return nullptr;
  const MrConfig& mr = it->second;
  return mr.valid && mr.variant == (rkey & 0xFF) && mr.pd == qp.cfg.pd ? &mr : nullptr;
}

bool Endpoint::mr_ok(const Qp& qp, uint32_t rkey, uint64_t va, uint64_t length, uint8_t right) const {
  const MrConfig* const mr = region(qp, rkey);
  if (mr == nullptr || (mr->access & right) == 0) return false;
  // No sum here that could wrap: offset and length are compared with what is left of the region.
  if (va < mr->base) return false;
  const uint64_t offset = va - mr->base;
  return offset <= mr->length && length <= mr->length - offset;
}

void Endpoint::complete_receive(const Qp& qp, const Rqe& rqe, WcStatus status, uint8_t opcode, uint16_t flags,
                                uint32_t bytes, uint32_t imm) {
  Cqe c;
  c.status = status;
  c.opcode = opcode;
  c.flags = static_cast<uint16_t>(kCqeRecv | flags);
  c.qpn = qp.cfg.qpn;
  c.wr_id = rqe.wr_id;
  c.bytes = bytes;
  c.imm = imm;
  cqes_.push_back(c);
  count("rq_completions");
  if (status == WcStatus::FlushErr) count("rq_flushed");
}

void Endpoint::post_recv(const Rqe& rqe) {
  const auto reject = [&](WcStatus status) {
    Qp none;
    none.cfg.qpn = rqe.qpn;
    complete_receive(none, rqe, status, kWcRecv, 0, 0, 0);
    count("rq_rqes_rejected");
  };
  if (rqe.shared) {
    const auto it = srqs_.find(rqe.qpn);
    if (it == srqs_.end()) return reject(WcStatus::LocQpOpErr);
    it->second.push_back(rqe);
  } else {
    Qp* qp = find(rqe.qpn);
    if (qp == nullptr || qp->cfg.state == QpState::Reset || !qp->cfg.rq_on || qp->cfg.srq) {
      return reject(WcStatus::LocQpOpErr);
    }
    if (qp->cfg.state == QpState::Err) return reject(WcStatus::FlushErr);
    qp->rq.push_back(rqe);
  }
  count("rq_rqes");
}

/// The ring that the QP receives from, or null.
std::deque<Rqe>* Endpoint::ring(Qp& qp) {
  if (!qp.cfg.rq_on) return nullptr;
  if (!qp.cfg.srq) return &qp.rq;
  const auto it = srqs_.find(qp.cfg.srqn);
  return it == srqs_.end() ? nullptr : &it->second;
}

/// NAK, event, error state; the receive entry that the request holds ends with `taken`. A QP dies once: one whose READ
/// loses its region when another request has killed it already has said so.
void Endpoint::responder_error(Qp& qp, uint8_t syndrome, uint32_t psn, EventCause cause, WcStatus taken) {
  nak(qp, syndrome, psn);
  if (qp.cfg.state != QpState::Err) events_.push_back({cause, qp.cfg.qpn});
  if (qp.taken) {
    complete_receive(qp, *qp.taken, taken, kWcRecv, 0, 0, 0);
    qp.taken.reset();
  }
  enter_error(qp);
  flush(qp);
}

void Endpoint::respond(Qp& qp, const Parsed& p) {
  const Frame& f = p.frame;
  if (f.psn != qp.epsn) {
    if (psn_lt(f.psn, qp.epsn)) return duplicate(qp, f);
    // A gap: one NAK, then silence until ePSN comes.
    if (qp.nak_sent) {
      count("rsp_out_of_order");
    } else {
      qp.nak_sent = true;
      nak(qp, kSynNakPsn, qp.epsn);
    }
    return;
  }
  qp.nak_sent = false;
  const Shape s = shape_of(f.opcode);
  const auto invalid = [&] {
    responder_error(qp, kSynNakInvReq, f.psn, EventCause::NakInvReq, WcStatus::RemInvReqErr);
  };
  // Opcode out of sequence, or an operation that this QP has not enabled.
  const Message message = s.kind == Kind::Send ? Message::Send : Message::Write;
  if (s.starts ? qp.message != Message::None : qp.message != message) return invalid();
  const bool takes = (s.kind == Kind::Send && s.starts) || (s.kind == Kind::Write && s.imm);
  if (s.kind == Kind::Unsupported) return invalid();
  if (s.kind == Kind::Write && (qp.cfg.access & kAccWrite) == 0) return invalid();
  if (s.kind == Kind::Read) {
    return (qp.cfg.access & kAccRead) == 0 || qp.rd_open >= qp.cfg.max_dest_rd ? invalid() : accept_read(qp, f);
  }
  if (s.kind == Kind::Atomic) {
    return (qp.cfg.access & kAccAtomic) == 0 || qp.rd_open >= qp.cfg.max_dest_rd ? invalid() : accept_atomic(qp, f);
  }
  if (takes) {
    std::deque<Rqe>* const entries = ring(qp);
    if (entries == nullptr || entries->empty()) {
      qp.nak_sent = true;
      nak(qp, static_cast<uint8_t>(kSynRnr | (qp.cfg.min_rnr_timer & 31)), qp.epsn);
      return;
    }
    qp.taken = entries->front();
    entries->pop_front();
  }
  const uint32_t mtu = mtu_bytes(qp.cfg.pmtu);
  const auto n = static_cast<uint32_t>(f.payload.size());
  bool length_ok = p.pad == (4 - n % 4) % 4 && n <= mtu;
  if (!s.ends) length_ok = length_ok && n == mtu;
  if (s.ends && !s.starts) length_ok = length_ok && n > 0;
  if (s.kind == Kind::Write) {
    if (s.starts) {
      qp.va = f.va;
      qp.rkey = f.rkey;
      qp.remaining = qp.length = f.dma_len;
    }
    length_ok = length_ok && qp.length <= kMaxMessage && (s.ends ? n == qp.remaining : n < qp.remaining);
  }
  if (!length_ok) return invalid();
  if (s.kind == Kind::Send) {
    if (s.starts) {
      qp.va = qp.taken->addr;
      qp.remaining = qp.taken->length;
      qp.length = 0;
    }
    if (n > qp.remaining) {
      return responder_error(qp, kSynNakInvReq, f.psn, EventCause::LocalLen, WcStatus::LocLenErr);
    }
  } else if (qp.remaining != 0 && !mr_ok(qp, qp.rkey, qp.va, qp.remaining, kAccWrite)) {
    // What is left of the message must lie in the region; looked up again for every packet, so that a region which is
    // revoked within a message ends it.
    return responder_error(qp, kSynNakAccess, f.psn, EventCause::NakAccess, WcStatus::RemAccessErr);
  }
  if (n != 0) {
    if (memory_.write_fails(qp.va, n)) {
      count("dma_write_error");
      return responder_error(qp, kSynNakOp, f.psn, EventCause::WriteErr, WcStatus::LocProtErr);
    }
    memory_.device_write(qp.va, f.payload);
  }
  qp.va += n;
  qp.remaining -= n;
  if (s.kind == Kind::Send) qp.length += n;
  qp.message = s.ends ? Message::None : message;
  qp.epsn = psn_add(qp.epsn, 1);
  if (s.ends) qp.msn = (qp.msn + 1) & 0xFFFFFF;
  count("rsp_accepted");
  if (s.ends && (s.kind == Kind::Send || s.imm)) {
    finish_receive(qp, f, s.kind == Kind::Write);
    if (qp.cfg.state == QpState::Err) return;
  }
  if (f.ackreq) ack(qp, f.psn);
}

/// The message that took a receive entry is whole.
void Endpoint::finish_receive(Qp& qp, const Frame& f, bool write) {
  const OpcodeLayout& layout = opcode_layout(f.opcode);
  const Rqe rqe = *qp.taken;
  qp.taken.reset();
  uint16_t flags = f.se ? kCqeSolicited : uint16_t{0};
  uint32_t imm = 0;
  if (layout.imm) {
    flags |= kCqeWithImm;
    imm = f.imm;
  }
  if (layout.ieth) {
    const MrConfig* const mr = region(qp, f.inv_rkey);
    if (mr == nullptr || (mr->access & kAccInvalidate) == 0) {
      // No NAK: the peer finds out by its timeout (class J).
      count("rsp_bad_invalidates");
      complete_receive(qp, rqe, WcStatus::LocQpOpErr, kWcRecv, 0, 0, 0);
      events_.push_back({EventCause::Invalidate, qp.cfg.qpn});
      enter_error(qp);
      flush(qp);
      return;
    }
    count("rsp_invalidates");
    mrs_[mr->index].valid = false;
    flags |= kCqeWithInv;
    imm = f.inv_rkey;
  }
  complete_receive(qp, rqe, WcStatus::Success, write ? kWcRecvWriteImm : kWcRecv, flags, qp.length, imm);
}

void Endpoint::accept_read(Qp& qp, const Frame& f) {
  if (f.dma_len > kMaxMessage) return responder_error(qp, kSynNakInvReq, f.psn, EventCause::NakInvReq);
  if (f.dma_len != 0 && !mr_ok(qp, f.rkey, f.va, f.dma_len, kAccRead)) {
    return responder_error(qp, kSynNakAccess, f.psn, EventCause::NakAccess);
  }
  const uint32_t packets = packets_of(f.dma_len, mtu_bytes(qp.cfg.pmtu));
  qp.epsn = psn_add(qp.epsn, packets);
  qp.msn = (qp.msn + 1) & 0xFFFFFF;
  ++qp.rd_open;
  qp.resources.push_back({.first_psn = f.psn,
                          .last_psn = psn_add(f.psn, packets - 1),
                          .va = f.va,
                          .rkey = f.rkey,
                          .length = f.dma_len,
                          .msn = qp.msn});
  if (qp.resources.size() > qp.cfg.max_dest_rd) qp.resources.pop_front();
  owe(qp, {.kind = Answer::Kind::Read,
           .psn = f.psn,
           .msn = qp.msn,
           .va = f.va,
           .rkey = f.rkey,
           .left = f.dma_len,
           .packets = packets});
  count("rsp_accepted");
}

void Endpoint::accept_atomic(Qp& qp, const Frame& f) {
  if (f.va % kAtomicBytes != 0) return responder_error(qp, kSynNakInvReq, f.psn, EventCause::NakInvReq);
  if (!mr_ok(qp, f.rkey, f.va, kAtomicBytes, kAccAtomic)) {
    return responder_error(qp, kSynNakAccess, f.psn, EventCause::NakAccess);
  }
  if (memory_.read_fails(f.va, kAtomicBytes)) {
    count("dma_read_error");
    return responder_error(qp, kSynNakOp, f.psn, EventCause::ReadErr);
  }
  // Memory holds the value least significant byte first; on the wire it is big-endian.
  const uint64_t original = get_le64(memory_.read(f.va, kAtomicBytes));
  const bool store = f.opcode == op::FetchAdd || original == f.compare;
  if (store && memory_.write_fails(f.va, kAtomicBytes)) {
    count("dma_write_error");
    return responder_error(qp, kSynNakOp, f.psn, EventCause::WriteErr);
  }
  if (store) {
    const uint64_t value = f.opcode == op::FetchAdd ? original + f.swap_add : f.swap_add;
    Bytes b(kAtomicBytes);
    for (size_t i = 0; i < kAtomicBytes; ++i) b[i] = static_cast<uint8_t>(value >> (8 * i));
    memory_.device_write(f.va, b);
  }
  qp.epsn = psn_add(qp.epsn, 1);
  qp.msn = (qp.msn + 1) & 0xFFFFFF;
  ++qp.rd_open;
  qp.resources.push_back({.atomic = true,
                          .first_psn = f.psn,
                          .last_psn = f.psn,
                          .va = f.va,
                          .rkey = f.rkey,
                          .original = original,
                          .msn = qp.msn});
  if (qp.resources.size() > qp.cfg.max_dest_rd) qp.resources.pop_front();
  owe(qp, {.kind = Answer::Kind::Atomic, .psn = f.psn, .msn = qp.msn, .original = original});
  count("rsp_accepted");
}

/// PSN before ePSN: SEND and WRITE are acknowledged again, READs read again, atomics answered from what is remembered;
/// none touches the state of the message under way.
void Endpoint::duplicate(Qp& qp, const Frame& f) {
  const Shape s = shape_of(f.opcode);
  if (s.kind == Kind::Send || s.kind == Kind::Write) {
    count("rsp_duplicates");
    ack(qp, psn_sub(qp.epsn, 1));
    return;
  }
  if (s.kind == Kind::Unsupported) {
    count("rsp_drop_replay");  // it was never carried out
    return;
  }
  const auto it = std::find_if(qp.resources.rbegin(), qp.resources.rend(), [&](const Resource& r) {
    return r.atomic == (s.kind == Kind::Atomic) && psn_sub(f.psn, r.first_psn) <= psn_sub(r.last_psn, r.first_psn);
  });
  if (it == qp.resources.rend()) {
    count("rsp_drop_replay");
    return;
  }
  const Resource& r = *it;
  if (s.kind == Kind::Atomic) {
    count("rsp_replays");
    owe(qp, {.kind = Answer::Kind::Atomic, .psn = f.psn, .msn = r.msn, .original = r.original, .replay = true});
    return;
  }
  // Address range and PSNs within the original's, the same key, and that still good. No sum that could wrap.
  const uint64_t offset = f.va - r.va;
  const uint32_t packets = packets_of(f.dma_len, mtu_bytes(qp.cfg.pmtu));
  const bool inside =
      f.va >= r.va && offset <= r.length && f.dma_len <= r.length - offset && packets - 1 <= psn_sub(r.last_psn, f.psn);
  if (!inside || f.rkey != r.rkey || (f.dma_len != 0 && !mr_ok(qp, f.rkey, f.va, f.dma_len, kAccRead))) {
    count("rsp_drop_replay");
    return;
  }
  count("rsp_replays");
  owe(qp, {.kind = Answer::Kind::Read,
           .psn = f.psn,
           .msn = r.msn,
           .va = f.va,
           .rkey = f.rkey,
           .left = f.dma_len,
           .packets = packets,
           .replay = true});
}

/// The next packet that the QP owes; false if it turned out that there is none.
bool Endpoint::build_answer(Qp& qp, Bytes& out) {
  Answer& a = qp.answers.front();
  if (a.kind == Answer::Kind::Read) return build_read_response(qp, a, out);
  Frame f;
  fill_headers(qp, f);
  f.ip_id = ip_id_++;
  f.psn = a.psn;
  f.msn = a.msn;
  if (a.kind == Answer::Kind::Ack) {
    f.opcode = op::Ack;
    f.syndrome = a.syndrome;
  } else {
    f.opcode = op::AtomicAck;
    f.syndrome = kSynAckNoLimit;
    f.original = a.original;
    if (!a.replay) --qp.rd_open;
    count("rd_atomics");
  }
  qp.answers.pop_front();
  out = build(f);
  return true;
}

bool Endpoint::build_read_response(Qp& qp, Answer& a, Bytes& out) {
  Frame f;
  fill_headers(qp, f);
  f.ip_id = ip_id_++;
  f.psn = a.psn;
  f.msn = a.msn;
  const uint32_t n = std::min(a.left, mtu_bytes(qp.cfg.pmtu));
  // The region is looked up again for every packet; a NAK stands in the place of the response that cannot be given.
  const bool allowed = n == 0 || mr_ok(qp, a.rkey, a.va, n, kAccRead);
  if (!allowed || (n != 0 && memory_.read_fails(a.va, n))) {
    if (allowed) count("dma_read_error");
    const Answer failed = a;
    qp.answers.clear();
    std::erase(answer_turn_, qp.cfg.qpn);
    const uint32_t msn = qp.msn;
    qp.msn = failed.msn;
    responder_error(qp, allowed ? kSynNakOp : kSynNakAccess, failed.psn,
                    allowed ? EventCause::ReadErr : EventCause::NakAccess);
    qp.msn = msn;
    answer_turn_.pop_back();
    return build_answer(qp, out);
  }
  const bool last = a.packets == 1;
  f.opcode = a.begun ? (last ? op::ReadRespLast : op::ReadRespMiddle) : (last ? op::ReadRespOnly : op::ReadRespFirst);
  f.syndrome = kSynAckNoLimit;
  f.payload = memory_.read(a.va, n);
  count("rd_packets");
  a.begun = true;
  a.psn = psn_add(a.psn, 1);
  a.va += n;
  a.left -= n;
  --a.packets;
  if (last) {
    if (!a.replay) --qp.rd_open;
    qp.answers.pop_front();
  } else {
    answer_turn_.push_back(qp.cfg.qpn);
  }
  out = build(f);
  return true;
}

}  // namespace rocegen::sim
