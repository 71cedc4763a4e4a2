// A capture of another stack, sorted by queue pair: who asked what, and what was answered.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/harness/replay.h"
#include "sim/model/frame.h"
#include "sim/model/types.h"

namespace rocegen::sim {

/// One QP of the capture's responder.
struct CapturedQp {
  uint32_t qpn = 0;    ///< at the responder
  bool exists = true;  ///< it answered at least once
  QpConfig cfg;        ///< of the responder
  uint32_t max_payload = 0;
  uint32_t full_payload = 0;     ///< of FIRST and MIDDLE
  bool lossy = false;            ///< requests came repeated or out of order, without an RNR NAK that explains it
  size_t latest = 0;             ///< frame of its latest request so far
  std::vector<size_t> requests;  ///< frames
  std::vector<size_t> answers;
  std::set<uint32_t> refused;  ///< PSNs that drew a fatal NAK
  uint32_t acked = 0;          ///< highest PSN that was acknowledged
  bool any_ack = false;
  bool usable() const { return exists && !requests.empty(); }
  uint32_t mtu() const { return mtu_bytes(cfg.pmtu); }
};

/// The requests of one direction of a capture and their answers.
class Captured {
 public:
  /// `responder_ip` 0: destination of the first request. Empty, or what is wrong with the capture.
  std::string survey(const PcapFile& capture, uint32_t responder_ip);

  const Parsed& parsed(size_t frame) const { return parsed_[frame]; }
  size_t frames() const { return parsed_.size(); }
  std::vector<CapturedQp>& qps() { return qps_; }
  const std::vector<CapturedQp>& qps() const { return qps_; }
  /// The QP with that number at the responder, or null.
  CapturedQp* find(uint32_t qpn);
  uint32_t responder() const { return responder_; }
  uint64_t responder_mac() const { return responder_mac_; }
  uint32_t requester() const { return requester_; }
  uint64_t requester_mac() const { return requester_mac_; }
  bool lossy() const { return lossy_; }
  /// PSNs that a request uses.
  uint32_t psns(const CapturedQp& q, const Frame& f) const;

 private:
  void add_request(size_t i);
  void add_answer(size_t i);
  void judge(CapturedQp& q);

  std::vector<Parsed> parsed_;
  std::vector<CapturedQp> qps_;
  uint32_t responder_ = 0, requester_ = 0;
  uint64_t responder_mac_ = 0, requester_mac_ = 0;
  bool lossy_ = false;
};

/// Syndrome of an RNR NAK.
inline bool is_rnr(const Frame& f) { return f.opcode == op::Ack && ack_kind(f.syndrome) == AckKind::Rnr; }
inline bool is_fatal_nak(const Frame& f) {
  return f.opcode == op::Ack && ack_kind(f.syndrome) == AckKind::Nak && f.syndrome != kSynNakPsn;
}
/// A packet that takes a receive entry of the responder.
bool takes_rqe(uint8_t opcode);

}  // namespace rocegen::sim
