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

void ModelStation::encrypt(std::shared_ptr<const AesService> service, uint8_t serve) {
  info_.services = {service->name};
  info_.trailers = {service->gcm ? kAesTag : 0};
  info_.serve = serve;
  wire_.emplace(service->gcm);
  info_.aes = std::move(service);
}

void ModelStation::setup_qp(const QpConfig& qp) {
  Station::setup_qp(qp);
  endpoint_.setup_qp(qp);
  if (!wire_) return;
  const bool on = (info_.services_of(qp) & info_.aes->bit) != 0;
  wire_->setup_qp(qp, on);
  for (const bool received : {true, false})
    if (on) wire_->set_key(qp.qpn, received, agreed_key(address_, qp, received, info_.aes->key_bytes));
}

std::optional<uint64_t> ModelStation::counter(const std::string& name) const {
  if (wire_) {
    const AesWire::Counts& c = wire_->counts();
    const std::pair<const char*, uint64_t> all[] = {{"_sent", c.sent},
                                                    {"_sent_no_key", c.sent_no_key},
                                                    {"_received", c.received},
                                                    {"_received_no_key", c.received_no_key},
                                                    {"_wrong_tag", c.wrong_tag}};
    for (const auto& [what, count] : all)
      if (name == info_.aes->name + what) return count;
  }
  return endpoint_.counter(name);
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
  if (wire_ && !bad) {
    frame = wire_->open(std::move(frame));
    if (frame.empty()) return;
  }
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
    if (wire_) frame = wire_->seal(std::move(frame));
    if (!frame.empty()) transmit_(now, std::move(frame));
  }
}

}  // namespace rocegen::sim
