// Reference RC endpoint: requester and responder, written from the protocol sheet and from nothing else.
//
// Complete for RDMA WRITE. SEND, READ, atomics and WRITE with immediate are answered with NAK "invalid request" as by a
// QP that has them not enabled; their duplicates, and responses to requests that it cannot send, are ignored.
//
// It is driven from outside: receive() takes a frame, transmit() gives the next one when the line is free, tick() fires
// timers that are due, next_timer() tells when that is.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "sim/model/frame.h"
#include "sim/model/memory.h"
#include "sim/model/types.h"

namespace rocegen::sim {

struct EndpointConfig {
  LocalAddress address;
  uint32_t window = 1u << 20;  ///< packets in flight a QP at most, less than 2^23
  uint32_t ack_interval = 64;  ///< AckReq at least on every so many packets
  bool mig = false;            ///< MigReq of frames sent
};

class Endpoint {
 public:
  Endpoint(Memory& memory, const EndpointConfig& config) : memory_(memory), config_(config) {}

  void set_address(const LocalAddress& a) { config_.address = a; }
  const EndpointConfig& config() const { return config_; }

  /// Every field is taken and all dynamic state starts anew.
  void setup_qp(const QpConfig& qp);
  /// Moves a QP to another state; Err flushes its send queue.
  void set_state(uint32_t qpn, QpState state);
  void setup_mr(const MrConfig& mr);
  /// Appends a request to its QP's send queue. A QP in Err completes it as flushed; one below Rts, or none at all, with
  /// LocQpOpErr.
  void post(const Wqe& wqe);
  bool poll_cqe(Cqe& out);
  bool poll_event(QpEvent& out);

  /// Takes one frame; `bad`: the MAC marked it.
  void receive(Ps now, ByteView frame, bool bad);
  /// Whether transmit() would give a frame.
  bool has_frame() const;
  /// The next frame to send: answers first, then requests, packet by packet round robin over the QPs.
  bool transmit(Ps now, Bytes& out);
  /// When the earliest timer runs out; kNever if none runs.
  Ps next_timer() const;
  /// Lets timers that are due at `now` fire.
  void tick(Ps now);
  /// Pause: the line takes nothing; timers stand still from `now` until it ends.
  void pause(Ps now, bool on);

  /// Named counters, called as those of the generated NIC that count the same; what was never counted is 0.
  uint64_t counter(std::string_view name) const;
  const std::map<std::string, uint64_t, std::less<>>& counters() const { return counters_; }

 private:
  struct Request {
    Wqe wqe;
    uint32_t first_psn = 0;
    uint32_t packets = 1;
  };
  struct Qp {
    QpConfig cfg;
    // responder
    uint32_t epsn = 0;
    uint32_t msn = 0;
    bool nak_sent = false;
    bool in_message = false;
    uint64_t va = 0;    // where the next payload goes
    uint32_t rkey = 0;  // of the message
    uint32_t remaining = 0;
    // requester
    std::deque<Request> sq;  // oldest unacknowledged first
    uint32_t next_psn = 0;   // for the next request posted
    uint32_t una = 0;        // oldest unacknowledged PSN
    uint32_t cursor = 0;     // next PSN to send
    uint32_t high = 0;       // one beyond the highest PSN ever sent
    uint32_t since_ackreq = 0;
    uint8_t retries = 0;
    bool nak_retry = false;  // a NAK started a retry and nothing was acknowledged since
    Ps deadline = kNever;
  };
  struct Answer {
    uint32_t qpn;
    uint8_t syndrome;
    uint32_t psn;
    uint32_t msn;
  };

  void count(std::string_view name);
  Qp* find(uint32_t qpn);
  void respond(Ps now, Qp& qp, const Parsed& p);
  void nak(Qp& qp, uint8_t syndrome, uint32_t psn);
  void ack(Qp& qp, uint32_t psn);
  bool mr_ok(const Qp& qp, uint32_t rkey, uint64_t va, uint64_t length, uint8_t right) const;
  void responder_error(Ps now, Qp& qp, uint8_t syndrome, uint32_t psn, EventCause cause);
  void take_answer(Ps now, Qp& qp, const Frame& f);
  bool acknowledge(Ps now, Qp& qp, uint32_t psn);
  bool retry(Ps now, Qp& qp);
  void requester_error(Qp& qp, WcStatus status, uint8_t syndrome, EventCause cause);
  void complete(Qp& qp, WcStatus status, uint32_t syndrome);
  void flush(Qp& qp);
  bool sendable(const Qp& qp) const;
  void enter_error(Qp& qp);
  bool build_request(Ps now, Qp& qp, Bytes& out);
  void fill_headers(const Qp& qp, Frame& f) const;

  Memory& memory_;
  EndpointConfig config_;
  std::map<uint32_t, Qp> qps_;
  std::map<uint32_t, MrConfig> mrs_;
  std::deque<Answer> answers_;
  std::deque<Cqe> cqes_;
  std::deque<QpEvent> events_;
  uint32_t turn_ = 0;  // QPN after which the round robin goes on
  uint16_t ip_id_ = 1;
  bool paused_ = false;
  Ps paused_at_ = 0;
  std::map<std::string, uint64_t, std::less<>> counters_;
};

}  // namespace rocegen::sim
