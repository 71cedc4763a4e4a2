// Reference RC endpoint: requester and responder of every operation of a reliable connection, written from the protocol
// sheet and from nothing else.
//
// SEND, SEND with immediate and with invalidate, WRITE, WRITE with immediate, READ, CmpSwap, FetchAdd; receive rings of
// a QP or shared, RNR, credits, responder resources with replay, fence, partial retry of READs.
//
// It is driven from outside: receive() takes a frame, transmit() gives the next one when the line is free, tick() fires
// timers that are due, next_timer() tells when that is.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "sim/model/frame.h"
#include "sim/model/memory.h"
#include "sim/model/types.h"

namespace rocegen::sim {

struct EndpointConfig {
  LocalAddress address;
  uint32_t window = 1u << 20;  ///< packets in flight a QP at most, less than 2^23; a READ may reach beyond it
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
  /// Moves a QP to another state; Err flushes its queues, Sqd finishes what was begun and tells when that is done.
  void set_state(uint32_t qpn, QpState state);
  void setup_mr(const MrConfig& mr);
  /// The shared receive ring starts empty.
  void setup_srq(const SrqConfig& srq);
  /// Appends a request to its QP's send queue. A QP in Err completes it as flushed; one below Rts, or none at all, with
  /// LocQpOpErr.
  void post(const Wqe& wqe);
  /// Appends an entry to a receive ring. A QP in Err completes it as flushed; one in Reset, without a ring of its own,
  /// or none at all, and a shared ring that was not set up, with LocQpOpErr.
  void post_recv(const Rqe& rqe);
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
  /// Pause: the line takes nothing; ACK timers stand still from `now` until it ends.
  void pause(Ps now, bool on);

  /// Named counters, called as those of the generated NIC that count the same; what was never counted is 0.
  uint64_t counter(std::string_view name) const;
  const std::map<std::string, uint64_t, std::less<>>& counters() const { return counters_; }

 private:
  struct Request {
    Wqe wqe;
    uint32_t first_psn = 0;
    uint32_t packets = 1;  // PSNs; 0: cannot be executed, or stands behind such a one
    uint32_t number = 0;   // among the QP's requests, modulo 2^24: the peer's MSN before it
  };
  /// What a responder remembers of a READ or atomic.
  struct Resource {
    bool atomic = false;
    uint32_t first_psn = 0;
    uint32_t last_psn = 0;
    uint64_t va = 0;
    uint32_t rkey = 0;
    uint32_t length = 0;
    uint64_t original = 0;
    uint32_t msn = 0;
  };
  /// Something that the responder owes, in the order of its QP.
  struct Answer {
    enum class Kind : uint8_t { Ack, Read, Atomic } kind = Kind::Ack;
    uint8_t syndrome = 0;
    uint32_t psn = 0;
    uint32_t msn = 0;
    uint64_t original = 0;
    // READ: what is left
    uint64_t va = 0;
    uint32_t rkey = 0;
    uint32_t left = 0;
    uint32_t packets = 0;
    bool begun = false;
    bool replay = false;
  };
  enum class Message : uint8_t { None, Send, Write };
  struct Qp {
    QpConfig cfg;
    // responder
    uint32_t epsn = 0;
    uint32_t msn = 0;
    bool nak_sent = false;  // gap or RNR: silent until ePSN comes
    Message message = Message::None;
    uint64_t va = 0;         // where the next payload goes
    uint32_t rkey = 0;       // of the message
    uint32_t remaining = 0;  // of a WRITE: bytes left; of a SEND: room left in its buffer
    uint32_t length = 0;     // of a WRITE: all; of a SEND: received
    std::deque<Rqe> rq;
    std::optional<Rqe> taken;  // by the SEND under way
    std::deque<Resource> resources;
    uint32_t rd_open = 0;  // READs and atomics accepted, not answered whole
    std::deque<Answer> answers;
    // requester
    std::deque<Request> sq;  // oldest unacknowledged first
    uint32_t posted = 0;     // requests, modulo 2^24
    uint32_t next_psn = 0;   // for the next request posted
    uint32_t una = 0;        // oldest unacknowledged PSN
    uint32_t cursor = 0;     // next PSN to send
    uint32_t high = 0;       // one beyond the highest PSN ever sent
    uint32_t since_ackreq = 0;
    uint8_t retries = 0;
    uint8_t rnr_retries = 0;
    bool nak_retry = false;  // a NAK started a retry and nothing was acknowledged since
    bool limited = false;    // the peer counts credits:
    bool no_limit = false;   // it told once that it does not
    uint32_t lsn = 0;        // then requests with a lower number may take a receive entry
    Ps deadline = kNever;
    Ps rnr_until = kNever;  // not kNever: waits for the peer's receive queue
    bool draining = false;
    uint32_t drain_end = 0;
  };

  void count(std::string_view name);
  Qp* find(uint32_t qpn);
  const Qp* find(uint32_t qpn) const;
  void fill_headers(const Qp& qp, Frame& f) const;
  void enter_error(Qp& qp);
  void flush(Qp& qp);

  // responder.cpp
  void respond(Qp& qp, const Parsed& p);
  void duplicate(Qp& qp, const Frame& f);
  void accept_read(Qp& qp, const Frame& f);
  void accept_atomic(Qp& qp, const Frame& f);
  void finish_receive(Qp& qp, const Frame& f, bool write);
  std::deque<Rqe>* ring(Qp& qp);
  void owe(Qp& qp, const Answer& a);
  void nak(Qp& qp, uint8_t syndrome, uint32_t psn);
  void ack(Qp& qp, uint32_t psn);
  const MrConfig* region(const Qp& qp, uint32_t rkey) const;
  bool mr_ok(const Qp& qp, uint32_t rkey, uint64_t va, uint64_t length, uint8_t right) const;
  void responder_error(Qp& qp, uint8_t syndrome, uint32_t psn, EventCause cause, WcStatus taken = WcStatus::FlushErr);
  void complete_receive(const Qp& qp, const Rqe& rqe, WcStatus status, uint8_t opcode, uint16_t flags, uint32_t bytes,
                        uint32_t imm);
  bool build_answer(Qp& qp, Bytes& out);
  bool build_read_response(Qp& qp, Answer& a, Bytes& out);

  // requester.cpp
  WcStatus bad_wqe(const Qp& qp, const Wqe& w) const;
  void take_answer(Ps now, Qp& qp, const Frame& f);
  void take_nak(Ps now, Qp& qp, const Frame& f);
  void take_response(Ps now, Qp& qp, const Frame& f);
  const Request* open_read(const Qp& qp) const;
  bool acknowledge(Ps now, Qp& qp, uint32_t psn);
  bool acknowledge_before(Ps now, Qp& qp, uint32_t psn);
  void implied_nak(Ps now, Qp& qp);
  void progress(Ps now, Qp& qp);
  bool retry(Ps now, Qp& qp);
  void requester_error(Qp& qp, WcStatus status, uint8_t syndrome, EventCause cause);
  void complete(Qp& qp, WcStatus status, uint32_t syndrome);
  void take_credits(Qp& qp, uint8_t syndrome, uint32_t msn);
  void check_drained(Qp& qp);
  const Request* at_cursor(const Qp& qp, size_t* reads_before) const;
  bool sendable(const Qp& qp) const;
  bool build_request(Ps now, Qp& qp, Bytes& out);

  Memory& memory_;
  EndpointConfig config_;
  std::map<uint32_t, Qp> qps_;
  std::map<uint32_t, MrConfig> mrs_;
  std::map<uint32_t, std::deque<Rqe>> srqs_;
  std::deque<uint32_t> answer_turn_;  // QPNs, one for each packet that is owed (of a READ: for its next packet)
  std::deque<Cqe> cqes_;
  std::deque<QpEvent> events_;
  uint32_t turn_ = 0;  // QPN after which the round robin goes on
  uint16_t ip_id_ = 1;
  bool paused_ = false;
  Ps paused_at_ = 0;
  std::map<std::string, uint64_t, std::less<>> counters_;
};

}  // namespace rocegen::sim
