#include "sim/harness/fuzz_ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace rocegen::sim {
namespace {

/// Ways in which a request may end that was good when it was posted; memory answers without errors.
bool send_status(WcStatus s) {
  switch (s) {
    case WcStatus::Success:
    case WcStatus::FlushErr:
    case WcStatus::RemInvReqErr:
    case WcStatus::RemAccessErr:
    case WcStatus::RemOpErr:
    case WcStatus::RetryExcErr:
    case WcStatus::RnrRetryExcErr:
    case WcStatus::BadRespErr:
      return true;
    default:
      return false;
  }
}

bool receive_status(WcStatus s) {
  switch (s) {
    case WcStatus::Success:
    case WcStatus::FlushErr:
    case WcStatus::LocLenErr:
    case WcStatus::LocQpOpErr:
    case WcStatus::RemInvReqErr:
    case WcStatus::RemAccessErr:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string Ledger::name(uint32_t qpn) const { return fmt::format("station {}, QP {}", station_, qpn); }

void Ledger::open(const QpConfig& qp, Ps now) {
  Qp fresh;
  fresh.uses_shared = qp.rq_on && qp.srq;
  fresh.srqn = qp.srqn;
  fresh.progress = now;
  qps_[qp.qpn] = std::move(fresh);
}

void Ledger::kill(uint32_t qpn) { qps_.at(qpn).killed = true; }

void Ledger::post(const Wqe& wqe, Ps now) {
  Qp& qp = qps_.at(wqe.qpn);
  if (qp.sends.empty()) qp.progress = now;
  qp.sends.push_back(wqe);
}

void Ledger::post(const Rqe& rqe) {
  if (rqe.shared) {
    shared_[rqe.qpn].push_back(rqe);
  } else {
    qps_.at(rqe.qpn).receives.push_back(rqe);
  }
}

std::string Ledger::take(const Cqe& c, Ps now) {
  ++completions_;
  if (c.status != WcStatus::Success) ++errors_;
  Qp& qp = qps_.at(c.qpn);
  return c.receive() ? take_receive(qp, c) : take_send(qp, c, now);
}

std::string Ledger::take_send(Qp& qp, const Cqe& c, Ps now) {
  const auto at = std::find_if(qp.sends.begin(), qp.sends.end(), [&](const Wqe& w) { return w.wr_id == c.wr_id; });
  if (at == qp.sends.end()) {
    return fmt::format("{}: completion ({}) of request {:#x}, which is not outstanding", name(c.qpn),
                       status_name(c.status), c.wr_id);
  }
  const bool good = c.status == WcStatus::Success;
  for (auto w = qp.sends.begin(); w != at; ++w) {
    // Only a success without a completion of its own may have been passed over.
    if ((w->flags & kWqeSignaled) != 0 || qp.send_failed) {
      return fmt::format("{}: completion ({}) of request {:#x}, but {:#x} before it has had none", name(c.qpn),
                         status_name(c.status), c.wr_id, w->wr_id);
    }
  }
  const Wqe w = *at;
  qp.sends.erase(qp.sends.begin(), at + 1);
  qp.progress = now;
  // One request is to blame for the QP's death; those before it that were not acknowledged may be flushed, too.
  const bool flushed = c.status == WcStatus::FlushErr;
  if (!send_status(c.status) || (qp.send_failed && good) || (qp.send_blamed && !flushed)) {
    return fmt::format("{}: request {:#x} ended with {}{}", name(c.qpn), c.wr_id, status_name(c.status),
                       qp.send_failed ? " after one that failed" : "");
  }
  if (!good) {
    qp.send_failed = true;
    qp.send_blamed = qp.send_blamed || !flushed;
    return "";
  }
  if ((w.flags & kWqeSignaled) == 0) {
    return fmt::format("{}: success of request {:#x}, which was not signaled", name(c.qpn), c.wr_id);
  }
  const uint32_t bytes = wr_is_atomic(w.opcode) ? 8 : w.length;
  if (c.opcode != wc_opcode(w.opcode) || c.bytes != bytes || c.flags != 0) {
    return fmt::format("{}: success of request {:#x} says opcode {}, {} bytes, flags {:#x} instead of {}, {}, 0",
                       name(c.qpn), c.wr_id, c.opcode, c.bytes, c.flags, wc_opcode(w.opcode), bytes);
  }
  return "";
}

std::string Ledger::take_receive(Qp& qp, const Cqe& c) {
  std::deque<Rqe>& ring = qp.uses_shared ? shared_[qp.srqn] : qp.receives;
  // Several QPs take from a shared ring: their completions come in any order between them.
  const auto at = std::find_if(ring.begin(), ring.end(), [&](const Rqe& r) { return r.wr_id == c.wr_id; });
  if (at == ring.end() || (!qp.uses_shared && at != ring.begin())) {
    return fmt::format("{}: completion ({}) of receive entry {:#x}, {}", name(c.qpn), status_name(c.status), c.wr_id,
                       at == ring.end() ? "which is not outstanding"
                                        : fmt::format("but {:#x} before it has had none", ring.front().wr_id));
  }
  const Rqe r = *at;
  ring.erase(at);
  if (!receive_status(c.status) || (qp.receive_failed && c.status != WcStatus::FlushErr)) {
    return fmt::format("{}: receive entry {:#x} ended with {}{}", name(c.qpn), c.wr_id, status_name(c.status),
                       qp.receive_failed ? " after one that failed" : "");
  }
  if (c.status != WcStatus::Success) {
    qp.receive_failed = true;
    return "";
  }
  const bool write = c.opcode == kWcRecvWriteImm;
  const bool imm = (c.flags & kCqeWithImm) != 0;
  const bool inv = (c.flags & kCqeWithInv) != 0;
  if ((!write && c.opcode != kWcRecv) || (write && !imm) || (imm && inv) || (write && inv) ||
      (!write && c.bytes > r.length)) {
    return fmt::format("{}: success of receive entry {:#x} ({} bytes) says opcode {}, {} bytes, flags {:#x}",
                       name(c.qpn), c.wr_id, r.length, c.opcode, c.bytes, c.flags);
  }
  return "";
}

std::string Ledger::take(const QpEvent& e) {
  ++events_;
  Qp& qp = qps_.at(e.qpn);
  if (e.cause == EventCause::SqDrained || e.cause == EventCause::BadWqe || e.cause == EventCause::ReadErr ||
      e.cause == EventCause::WriteErr || e.cause < EventCause::NakInvReq || e.cause > EventCause::LocalLen) {
    return fmt::format("{}: event {}, for which there was no reason", name(e.qpn), cause_name(e.cause));
  }
  if (++qp.events > 1)
    return fmt::format("{}: event {} of a QP that has died already", name(e.qpn), cause_name(e.cause));
  return "";
}

bool Ledger::dead(uint32_t qpn) const {
  const Qp& qp = qps_.at(qpn);
  return qp.killed || qp.events != 0 || qp.send_failed || qp.receive_failed;
}

bool Ledger::settled(uint32_t qpn) const {
  const Qp& qp = qps_.at(qpn);
  return qp.sends.empty() && qp.receives.empty() && (qp.killed || qp.events != 0);
}

std::string Ledger::owed(uint32_t qpn) const {
  const Qp& qp = qps_.at(qpn);
  std::string s;
  if (!qp.sends.empty()) s += fmt::format(" {} requests from {:#x} on;", qp.sends.size(), qp.sends.front().wr_id);
  if (!qp.receives.empty())
    s += fmt::format(" {} receive entries from {:#x} on;", qp.receives.size(), qp.receives.front().wr_id);
  if (!qp.killed && qp.events == 0) s += " an event;";
  return name(qpn) + " owes" + (s.empty() ? " nothing" : s);
}

Ps Ledger::waiting_since(uint32_t qpn) const {
  const Qp& qp = qps_.at(qpn);
  return qp.sends.empty() ? kNever : qp.progress;
}

size_t Ledger::sends(uint32_t qpn) const { return qps_.at(qpn).sends.size(); }

size_t Ledger::receives(uint32_t qpn) const { return qps_.at(qpn).receives.size(); }

size_t Ledger::shared(uint32_t srqn) const {
  const auto it = shared_.find(srqn);
  return it == shared_.end() ? 0 : it->second.size();
}

}  // namespace rocegen::sim
