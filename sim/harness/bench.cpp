#include "sim/harness/bench.h"

#include <fmt/format.h>

#include <algorithm>

namespace rocegen::sim {
namespace {
constexpr size_t kMaxFaults = 16;
}

Bench::Bench(std::unique_ptr<Station> a, std::unique_ptr<Station> b, const LinkConfig& a_to_b, const LinkConfig& b_to_a)
    : stations_{std::move(a), std::move(b)}, links_{Link(a_to_b), Link(b_to_a)} {
  for (size_t i = 0; i < 2; ++i) {
    if (!stations_[i]) continue;
    stations_[i]->on_transmit([this, i](Ps now, Bytes&& frame) { sent_by(i, now, std::move(frame)); });
  }
}

void Bench::sent_by(size_t i, Ps now, Bytes&& frame) {
  ++count_[i];
  check_wire(i, now, frame);
  if (pcap_ != nullptr) pcap_->write(now, frame);
  if (stations_[1 - i]) links_[i].send(now, frame);
  if (keep_log_) sent_[i].push_back({now, std::move(frame)});
}

// What holds for every frame that a station may send.
void Bench::check_wire(size_t i, Ps now, ByteView frame) {
  const Station& s = *stations_[i];
  const Parsed p = parse(frame);
  const Frame& f = p.frame;
  const auto fault = [&](const std::string& what) {
    if (wire_faults_.size() < kMaxFaults) {
      wire_faults_.push_back(
          fmt::format("{} ns: frame {} of {}: {}: {}", now / kNs, count_[i], s.name(), what, describe(frame)));
    }
  };
  if (!p.ok()) {
    fault(fmt::format("is no good RoCE v2 frame ({})", fault_name(p.fault)));
    return;
  }
  const LocalAddress& a = s.address();
  const OpcodeLayout& layout = opcode_layout(f.opcode);
  if (!layout.known || layout.feth || f.opcode == op::AtomicWrite) fault("opcode is none that a NIC sends");
  if (f.src_mac != a.mac || f.src_ip != a.ip) fault("source is not the station's own address");
  if (f.ttl != a.ttl || f.tos != a.tos)
    fault(fmt::format("ttl {} tos {} instead of {} and {}", f.ttl, f.tos, a.ttl, a.tos));
  if ((f.ip_frag & 0xBFFF) != 0) fault("IP fragment field is set");
  // Ethernet asks for 60 bytes (without FCS): a shorter frame is padded.
  if (p.trailing != 0 && frame.size() > 60) fault("bytes behind the IP packet");
  if (!p.pad_zero) fault("pad bytes are not zero");
  if (p.pad != (4 - f.payload.size() % 4) % 4) fault(fmt::format("PadCnt {} for {} bytes", p.pad, f.payload.size()));
  if (f.tver != 0 || f.resv6 != 0 || f.resv7 != 0 || f.fecn || f.becn) fault("a reserved or congestion bit is set");
  if (!layout.payload && !f.payload.empty()) fault("payload behind an opcode that has none");
  if (f.udp_csum != 0) fault("UDP checksum is not 0");
  // A life is told by its addresses, and by its PSNs: they go forward from those of its set-up, never half a circle.
  bool peer = false;
  const QpConfig* life = nullptr;
  for (const auto* qps : {&s.qps(), &s.former_qps()}) {
    for (const auto& [qpn, q] : *qps) {
      if (q.dqpn != f.dqpn || q.dip != f.dst_ip || q.dmac != f.dst_mac || q.sport != f.sport || q.pkey != f.pkey)
        continue;
      peer = true;
      // The answer to a duplicate acknowledges what is in front of the expected PSN.
      const uint32_t first = layout.request ? q.sq_psn : psn_sub(q.rq_psn, 1);
      if (life == nullptr && !psn_lt(f.psn, first)) life = &q;
    }
  }
  if (!peer) {
    fault("no QP of the station has this peer (QPN, addresses, UDP source port, P_Key)");
    return;
  }
  if (life == nullptr) {
    fault("its PSN is none of the QP since it was set up with this peer");
    return;
  }
  // Services at egress lengthen packets that have payload or might have it.
  const size_t trailer = layout.payload ? s.info().trailer(*life) : 0;
  const size_t mtu = mtu_bytes(life->pmtu) + trailer;
  if (f.payload.size() > mtu)
    fault(fmt::format("payload {} is larger than the path MTU and trailers, {}", f.payload.size(), mtu));
  const bool full = f.opcode == op::WriteFirst || f.opcode == op::WriteMiddle || f.opcode == op::SendFirst ||
                    f.opcode == op::SendMiddle || f.opcode == op::ReadRespFirst || f.opcode == op::ReadRespMiddle;
  if (full && f.payload.size() != mtu)
    fault(fmt::format("payload {} is not the path MTU and trailers, {}", f.payload.size(), mtu));
  const bool rest = f.opcode == op::WriteLast || f.opcode == op::WriteLastImm || f.opcode == op::SendLast ||
                    f.opcode == op::SendLastImm || f.opcode == op::SendLastInv || f.opcode == op::ReadRespLast;
  if (rest && f.payload.size() <= trailer) fault("no payload in the last packet of a message");
  const bool only = f.opcode == op::WriteOnly || f.opcode == op::WriteOnlyImm;
  if (only && f.payload.size() != f.dma_len + trailer) fault("DMA length is not the payload");
  // Protocol sheet section 2: SE on the last packet of what takes a receive entry; AckReq is the requester's.
  const bool solicits = layout.imm || layout.ieth || f.opcode == op::SendLast || f.opcode == op::SendOnly;
  if (f.se && !solicits) fault("SE on a packet that cannot be solicited");
  if (f.ackreq && !layout.request) fault("AckReq on an answer");
  if (layout.aeth && f.opcode != op::Ack && ack_kind(f.syndrome) != AckKind::Ack)
    fault("a response whose AETH is no ACK");
  if (f.opcode == op::Ack && ack_kind(f.syndrome) == AckKind::Reserved) fault("a reserved syndrome");
}

void Bench::inject(size_t to, ByteView frame, bool bad) {
  if (pcap_ != nullptr) pcap_->write(now_, frame);
  stations_[to]->receive(now_, Bytes(frame.begin(), frame.end()), bad);
}

bool Bench::step() {
  Ps t = kNever;
  for (size_t i = 0; i < size(); ++i) t = std::min({t, stations_[i]->next_time(), links_[i].next_arrival()});
  if (t == kNever) return false;
  now_ = std::max(now_, t);
  for (size_t i = 0; i < size(); ++i) {
    if (links_[i].next_arrival() > now_) continue;
    Bytes frame;
    bool bad = false;
    while (links_[i].receive(now_, frame, bad)) stations_[1 - i]->receive(now_, std::move(frame), bad);
  }
  for (size_t i = 0; i < size(); ++i) {
    if (stations_[i]->next_time() <= now_) stations_[i]->advance(now_);
  }
  return true;
}

bool Bench::run_until(const std::function<bool()>& done, Ps limit) {
  while (!done()) {
    Ps t = kNever;
    for (size_t i = 0; i < size(); ++i) t = std::min({t, stations_[i]->next_time(), links_[i].next_arrival()});
    if (t > limit) {
      now_ = std::max(now_, limit);
      return done();
    }
    step();
  }
  return true;
}

void Bench::run_for(uint64_t ns) {
  run_until([] { return false; }, now_ + ns * kNs);
}

bool Bench::settle_config(uint64_t limit_ns) {
  return run_until([this] { return stations_[0]->config_done() && (!stations_[1] || stations_[1]->config_done()); },
                   now_ + limit_ns * kNs);
}

std::vector<std::string> Bench::violations(bool guards) const {
  std::vector<std::string> out = wire_faults_;
  for (size_t i = 0; i < size(); ++i) {
    for (const auto& v : stations_[i]->violations()) out.push_back(fmt::format("{}: {}", stations_[i]->name(), v));
    if (!guards) continue;
    for (const auto& v : static_cast<const Station&>(*stations_[i]).memory().check_guards()) {
      out.push_back(fmt::format("{}: {}", stations_[i]->name(), v));
    }
  }
  return out;
}

}  // namespace rocegen::sim
