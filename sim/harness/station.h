// One end of the link as a test sees it: a generated NIC with its driver and memory (Nic), or the reference endpoint
// (ModelStation). Set-up calls take effect later; run the bench until config_done().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "sim/model/memory.h"
#include "sim/model/types.h"

namespace rocegen::sim {

class RowModel;
struct AesService;

struct StationInfo {
  std::string kind;        ///< "dut" or "model"
  size_t data_bytes = 64;  ///< datapath width
  uint32_t qp_count = 64;
  uint32_t mr_count = 64;
  uint32_t wqe_slots = 4096;
  uint32_t rqe_slots = 4096;
  uint32_t srq_count = 16;             ///< shared receive rings
  uint32_t rd_depth = 16;              ///< READs and atomics outstanding a QP, either way
  uint32_t targets = 8;                ///< memories, each behind an AXI master of its own
  uint32_t max_mtu = 4096;             ///< largest path MTU it takes
  std::string recovery = "go_back_n";  ///< transport.recovery of its specification
  bool ack_after_write = false;        ///< host.ack_after_write of its specification
  bool counters_by_register = false;
  std::vector<std::string> services;      ///< names of the entries of its specification's services
  std::vector<size_t> trailers;           ///< bytes that each of them puts behind the payload of a packet that it sends
  uint8_t serve = 0;                      ///< mask of those that work for a QP that asks for none in particular
  std::shared_ptr<const RowModel> rows;   ///< its preprocess service; null: it has none
  std::shared_ptr<const AesService> aes;  ///< its aes service; null: it has none

  /// Mask of the services that work on a QP's packets.
  uint8_t services_of(const QpConfig& qp) const { return qp.services.value_or(serve); }
  /// Bytes behind the payload of a packet of the QP that services at egress see.
  size_t trailer(const QpConfig& qp) const {
    size_t bytes = 0;
    for (size_t i = 0; i < trailers.size(); ++i) bytes += ((services_of(qp) >> i) & 1) != 0 ? trailers[i] : 0;
    return bytes;
  }
};

class Station {
 public:
  using Transmit = std::function<void(Ps now, Bytes&& frame)>;

  Station(std::string name, uint64_t memory_seed) : name_(std::move(name)), memory_(memory_seed) {}
  virtual ~Station() = default;
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  const std::string& name() const { return name_; }
  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }
  const LocalAddress& address() const { return address_; }
  /// Last set-up of every QP, by QPN.
  const std::map<uint32_t, QpConfig>& qps() const { return qps_; }
  /// The set-up before that one: frames of that life may still be on their way out.
  const std::map<uint32_t, QpConfig>& former_qps() const { return former_qps_; }
  virtual const StationInfo& info() const = 0;

  virtual void configure(const LocalAddress& a) { address_ = a; }
  virtual void setup_qp(const QpConfig& qp) {
    if (const auto last = qps_.find(qp.qpn); last != qps_.end()) former_qps_[qp.qpn] = last->second;
    qps_[qp.qpn] = qp;
  }
  virtual void set_qp_state(uint32_t qpn, QpState state) = 0;
  virtual void setup_mr(const MrConfig& mr) = 0;
  /// A shared receive ring starts empty.
  virtual void setup_srq(const SrqConfig& srq) = 0;
  /// Writes a register by its name, `words` words behind its first; false: there is none of this name.
  virtual bool poke(const std::string& /*name*/, uint32_t /*words*/, uint32_t /*value*/) { return false; }
  /// Reads one likewise; `done` gets the word when config_done() holds.
  virtual bool peek(const std::string& /*name*/, uint32_t /*words*/, std::function<void(uint32_t)> /*done*/) {
    return false;
  }
  virtual void post(const Wqe& wqe) = 0;
  virtual void post_recv(const Rqe& rqe) = 0;
  /// Every set-up request and counter reading so far is done, every receive entry that has room is posted.
  virtual bool config_done() const = 0;
  virtual bool poll_cqe(Cqe& out) = 0;
  virtual bool poll_event(QpEvent& out) = 0;
  /// Reads all counters; counter() gives them once config_done().
  virtual void request_counters() = 0;
  /// Value of a named counter at the last request_counters(); nothing if the station has none of that name.
  virtual std::optional<uint64_t> counter(const std::string& name) const = 0;
  /// Names and values of all counters at the last request_counters().
  virtual std::vector<std::pair<std::string, uint64_t>> counters() const = 0;
  /// Holds transmission (the MAC's pause) or lets it go on.
  virtual void pause(Ps now, bool on) = 0;

  /// A frame arrives from the link.
  virtual void receive(Ps now, Bytes&& frame, bool bad) = 0;
  /// Frames that arrived wait to be taken by the device.
  virtual bool receiving() const { return false; }
  /// The device reads or writes its memory: bursts wait for their answers.
  virtual bool accessing_memory() const { return false; }
  /// When advance() has something to do next.
  virtual Ps next_time() const = 0;
  /// Does everything that is due at `now`.
  virtual void advance(Ps now) = 0;
  /// Cycles simulated.
  virtual uint64_t cycles() const { return 0; }

  void on_transmit(Transmit t) { transmit_ = std::move(t); }
  /// Rules that the device broke: protocol of its interfaces, memory outside of the regions, assertions.
  virtual std::vector<std::string> violations() const { return memory_.violations(); }

 protected:
  std::string name_;
  Memory memory_;
  LocalAddress address_;
  std::map<uint32_t, QpConfig> qps_, former_qps_;
  Transmit transmit_;
};

}  // namespace rocegen::sim
