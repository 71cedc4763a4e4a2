// The reference endpoint as a station of the bench.
#pragma once

#include <algorithm>

#include "sim/harness/station.h"
#include "sim/model/aes.h"
#include "sim/model/endpoint.h"

namespace rocegen::sim {

class ModelStation : public Station {
 public:
  /// `gbps`: rate at which it sends, larger than 0.
  ModelStation(std::string name, uint64_t memory_seed, double gbps, const EndpointConfig& config = default_config());
  /// Has at least so many QPs, and a region for each.
  void offer_qps(uint32_t n) {
    info_.qp_count = std::max(info_.qp_count, n);
    info_.mr_count = std::max(info_.mr_count, 4 * n);
  }

  /// Encrypts and decrypts between endpoint and cable, as a NIC with this service alone; `serve`: mask of the services
  /// of a QP that asks for none in particular.
  void encrypt(std::shared_ptr<const AesService> service, uint8_t serve);

  /// A window of 256 packets, so that tests see it close.
  static EndpointConfig default_config() {
    EndpointConfig c;
    c.window = 256;
    c.ack_interval = 16;
    return c;
  }

  const StationInfo& info() const override { return info_; }
  void configure(const LocalAddress& a) override;
  void setup_qp(const QpConfig& qp) override;
  void set_qp_state(uint32_t qpn, QpState state) override { endpoint_.set_state(qpn, state); }
  void setup_mr(const MrConfig& mr) override { endpoint_.setup_mr(mr); }
  void setup_srq(const SrqConfig& srq) override { endpoint_.setup_srq(srq); }
  void post(const Wqe& wqe) override { endpoint_.post(wqe); }
  void post_recv(const Rqe& rqe) override { endpoint_.post_recv(rqe); }
  bool config_done() const override { return true; }
  bool poll_cqe(Cqe& out) override { return endpoint_.poll_cqe(out); }
  bool poll_event(QpEvent& out) override { return endpoint_.poll_event(out); }
  void request_counters() override {}
  std::optional<uint64_t> counter(const std::string& name) const override;
  std::vector<std::pair<std::string, uint64_t>> counters() const override;
  void pause(Ps now, bool on) override;
  void receive(Ps now, Bytes&& frame, bool bad) override;
  Ps next_time() const override;
  void advance(Ps now) override;

 private:
  StationInfo info_;
  Endpoint endpoint_;
  std::optional<AesWire> wire_;
  double gbps_;
  Ps line_free_ = 0;
  Ps now_ = 0;
  bool paused_ = false;
};

}  // namespace rocegen::sim
