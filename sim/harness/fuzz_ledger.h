// What a station owes for the work that was posted to it: every completion answers an outstanding request or receive
// entry, exactly once, in the order of its queue; every event belongs to a QP in use.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "sim/model/types.h"

namespace rocegen::sim {

class Ledger {
 public:
  /// `station` is for messages.
  explicit Ledger(std::string station) : station_(std::move(station)) {}

  /// The QP starts anew; all that was posted to it before must have completed (settled()).
  void open(const QpConfig& qp, Ps now);
  /// The test moved the QP to Err: its completions may be errors, no event is owed.
  void kill(uint32_t qpn);
  /// From here on requests of the QP may end in no other way than flushed.
  void must_flush(uint32_t qpn) { qps_.at(qpn).send_failed = qps_.at(qpn).send_blamed = true; }
  /// The last request of a QP that waits must be signaled: only then can settled() tell that none was forgotten.
  void post(const Wqe& wqe, Ps now);
  void post(const Rqe& rqe);

  bool has(uint32_t qpn) const { return qps_.contains(qpn); }
  /// Takes a completion or an event of a QP that has(); what is wrong with it, or nothing.
  std::string take(const Cqe& cqe, Ps now);
  std::string take(const QpEvent& event);

  /// An event or a completion in error was seen, or the test moved it to Err.
  bool dead(uint32_t qpn) const;
  /// Dead, nothing outstanding, and told by an event if it died by itself.
  bool settled(uint32_t qpn) const;
  /// What settled() still waits for.
  std::string owed(uint32_t qpn) const;
  /// When the QP's requests last made progress; kNever if none waits.
  Ps waiting_since(uint32_t qpn) const;
  size_t sends(uint32_t qpn) const;
  /// Entries of the QP's own receive ring.
  size_t receives(uint32_t qpn) const;
  /// Entries of a shared receive ring.
  size_t shared(uint32_t srqn) const;

  uint64_t completions() const { return completions_; }
  uint64_t errors() const { return errors_; }
  uint64_t events() const { return events_; }

 private:
  struct Qp {
    std::deque<Wqe> sends;
    std::deque<Rqe> receives;
    bool uses_shared = false;
    uint32_t srqn = 0;
    bool killed = false;
    bool send_failed = false;  // a send completed in error: no success follows
    bool send_blamed = false;  // one has ended with more than flushed: only flushes follow
    bool receive_failed = false;
    uint32_t events = 0;
    Ps progress = 0;
  };
  std::string take_send(Qp& qp, const Cqe& c, Ps now);
  std::string take_receive(Qp& qp, const Cqe& c);
  std::string name(uint32_t qpn) const;

  std::string station_;
  std::map<uint32_t, Qp> qps_;
  std::map<uint32_t, std::deque<Rqe>> shared_;
  uint64_t completions_ = 0, errors_ = 0, events_ = 0;
};

}  // namespace rocegen::sim
