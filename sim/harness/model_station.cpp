#include "sim/harness/model_station.h"

#include <algorithm>

namespace rocegen::sim {

ModelStation::ModelStation(std::string name, uint64_t memory_seed, double gbps, const EndpointConfig& config)
    : Station(std::move(name), memory_seed), endpoint_(memory_, config), gbps_(gbps) {
  info_.kind = "model";
}

void ModelStation::configure(const LocalAddress& a) {
  Station::configure(a);
  endpoint_.set_address(a);
}

void ModelStation::setup_qp(const QpConfig& qp) {
  Station::setup_qp(qp);
  endpoint_.setup_qp(qp);
}

std::vector<std::pair<std::string, uint64_t>> ModelStation::counters() const {
  return {endpoint_.counters().begin(), endpoint_.counters().end()};
}

void ModelStation::pause(Ps now, bool on) {
  paused_ = on;
  endpoint_.pause(now, on);
}

void ModelStation::receive(Ps now, Bytes&& frame, bool bad) {
  now_ = std::max(now_, now);
  endpoint_.receive(now, frame, bad);
}

Ps ModelStation::next_time() const {
  Ps t = endpoint_.next_timer();
  if (!paused_ && endpoint_.has_frame()) t = std::min(t, std::max(line_free_, now_));
  return t;
}

void ModelStation::advance(Ps now) {
  now_ = std::max(now_, now);
  endpoint_.tick(now);
  while (!paused_ && line_free_ <= now && endpoint_.has_frame()) {
    Bytes frame;
    if (!endpoint_.transmit(now, frame)) break;
    line_free_ = now + static_cast<Ps>(static_cast<double>((frame.size() + 24) * 8) * 1000.0 / gbps_);
    transmit_(now, std::move(frame));
  }
}

}  // namespace rocegen::sim
