// The reference endpoint as a station of the bench.
#pragma once

#include "sim/harness/station.h"
#include "sim/model/endpoint.h"

namespace rocegen::sim {

class ModelStation : public Station {
 public:
  /// `gbps`: rate at which it sends, larger than 0.
  ModelStation(std::string name, uint64_t memory_seed, double gbps, const EndpointConfig& config = default_config());

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
  void post(const Wqe& wqe) override { endpoint_.post(wqe); }
  bool config_done() const override { return true; }
  bool poll_cqe(Cqe& out) override { return endpoint_.poll_cqe(out); }
  bool poll_event(QpEvent& out) override { return endpoint_.poll_event(out); }
  void request_counters() override {}
  std::optional<uint64_t> counter(const std::string& name) const override { return endpoint_.counter(name); }
  std::vector<std::pair<std::string, uint64_t>> counters() const override;
  void pause(Ps now, bool on) override;
  void receive(Ps now, Bytes&& frame, bool bad) override;
  Ps next_time() const override;
  void advance(Ps now) override;

 private:
  StationInfo info_;
  Endpoint endpoint_;
  double gbps_;
  Ps line_free_ = 0;
  Ps now_ = 0;
  bool paused_ = false;
};

}  // namespace rocegen::sim
