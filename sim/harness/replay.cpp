#include "sim/harness/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "sim/model/endpoint.h"

namespace rocegen::sim {
namespace {

constexpr uint16_t kPd = 1;

bool plain_write(uint8_t o) {
  return o == op::WriteFirst || o == op::WriteMiddle || o == op::WriteLast || o == op::WriteOnly;
}

/// What the standard fixes of an answer.
struct Answer {
  uint8_t opcode;
  uint32_t dqpn, psn, msn;
  uint8_t syndrome;  // credits of an ACK taken away
  uint16_t pkey, ip_len, udp_len;
  uint8_t pad;
  bool se, ackreq;
  uint32_t src_ip, dst_ip;
  uint64_t src_mac, dst_mac;
  auto operator<=>(const Answer&) const = default;
};

Answer answer_of(const Parsed& p) {
  const Frame& f = p.frame;
  const auto syndrome = static_cast<uint8_t>((f.syndrome & 0x60) == 0 ? f.syndrome & 0xE0 : f.syndrome);
  return {f.opcode, f.dqpn, f.psn,    f.msn,    syndrome, f.pkey,    p.ip_len, p.udp_len,
          p.pad,    f.se,   f.ackreq, f.src_ip, f.dst_ip, f.src_mac, f.dst_mac};
}

struct ReplayQp {
  uint32_t qpn = 0;         // in the capture
  size_t cut = ~size_t{0};  // frame of the first request that is no plain WRITE: the QP's replay ends before it
  bool exists = true;       // the capture's responder answered it at least once
  QpConfig cfg;
  uint32_t max_payload = 0;
  uint32_t full_payload = 0;  // of FIRST and MIDDLE
  bool lossy = false;
  size_t latest = 0;  // frame of its latest request so far
  std::vector<size_t> requests;
  std::vector<size_t> answers;  // frames of the capture's responder
  std::set<uint32_t> refused;   // PSNs that drew a fatal NAK
  uint32_t acked = 0;           // highest PSN that it acknowledged
  bool any_ack = false;
  bool usable() const { return exists && !requests.empty(); }
};

class Replay {
 public:
  Replay(const PcapFile& capture, const std::function<std::unique_ptr<Station>(size_t)>& factory,
         const ReplayOptions& o)
      : capture_(capture), o_(o), factory_(factory), oracle_(oracle_memory_, {}) {}

  ReplayResult run() {
    r_.message = body();
    r_.ok = r_.message.empty();
    if (bench_) {
      r_.time = bench_->now();
      r_.cycles = bench_->station(0).cycles();
    }
    return r_;
  }

 private:
  std::string body() {
    for (const PcapFrame& f : capture_.frames) parsed_.push_back(parse(f.data));
    if (auto e = survey(); !e.empty()) return e;
    bench_ = std::make_unique<Bench>(factory_(0), nullptr);
    if (o_.pcap != nullptr) o_.pcap->begin_run();
    bench_->capture(o_.pcap);
    if (auto e = setup(); !e.empty()) return e;
    if (auto e = feed(); !e.empty()) return e;
    if (auto e = compare_answers(); !e.empty()) return e;
    if (auto e = compare_memory(); !e.empty()) return e;
    const auto broken = bench_->violations(true);
    return broken.empty() ? "" : broken.front();
  }

  // Finds the responder, its QPs and its regions.
  std::string survey() {
    responder_ = o_.responder_ip;
    for (size_t i = 0; i < parsed_.size(); ++i) {
      const Parsed& p = parsed_[i];
      if (!p.ok() || !opcode_layout(p.frame.opcode).known) continue;
      const bool request = opcode_layout(p.frame.opcode).request;
      if (responder_ == 0 && request) responder_ = p.frame.dst_ip;
      if (p.frame.dst_ip == responder_ && request) {
        add_request(i);
      } else if (p.frame.src_ip == responder_ && !request) {
        add_answer(i);
      }
    }
    if (qps_.empty()) return "the capture holds no request of a reliable connection";
    for (ReplayQp& q : qps_) {
      if (q.cut != ~size_t{0}) {
        r_.notes.push_back(fmt::format("QP {:#x}: replay ends before frame {}, {}", q.qpn, q.cut + 1,
                                       opcode_name(parsed_[q.cut].frame.opcode)));
      }
      q.exists = !q.answers.empty();
      if (q.requests.empty()) continue;
      if (!q.exists) {
        r_.notes.push_back(fmt::format("QP {:#x} drew no answer at all: taken as one that does not exist", q.qpn));
        continue;
      }
      QpConfig& c = q.cfg;
      const uint32_t payload = q.full_payload != 0 ? q.full_payload : q.max_payload;
      for (c.pmtu = 1; c.pmtu < 5 && mtu_bytes(c.pmtu) < payload; ++c.pmtu) {
      }
      // In order means: every request's PSN is the next one.
      uint32_t next = c.rq_psn;
      for (const size_t i : q.requests) {
        q.lossy = q.lossy || parsed_[i].frame.psn != next;
        next = psn_add(parsed_[i].frame.psn, 1);
      }
      r_.lossy = r_.lossy || q.lossy;
    }
    if (std::none_of(qps_.begin(), qps_.end(), [](const ReplayQp& q) { return q.usable(); })) {
      return "no QP of the capture begins with an RDMA WRITE that was answered";
    }
    return "";
  }

  ReplayQp* find(uint32_t qpn) {
    const auto it = std::find_if(qps_.begin(), qps_.end(), [&](const ReplayQp& q) { return q.qpn == qpn; });
    return it == qps_.end() ? nullptr : &*it;
  }

  void add_request(size_t i) {
    const Frame& f = parsed_[i].frame;
    ReplayQp* q = find(f.dqpn);
    if (q == nullptr) {
      qps_.emplace_back();
      q = &qps_.back();
      q->qpn = f.dqpn;
      q->cfg.qpn = f.dqpn;
      q->cfg.rq_psn = f.psn;
      q->cfg.dip = f.src_ip;
      q->cfg.dmac = f.src_mac;
      q->cfg.pkey = f.pkey;
      q->cfg.pd = kPd;
      q->cfg.timeout = 0;
      own_mac_ = f.dst_mac;
    }
    q->latest = i;
    if (q->cut != ~size_t{0}) return;
    if (!plain_write(f.opcode)) {
      q->cut = i;
      return;
    }
    q->requests.push_back(i);
    if (psn_lt(f.psn, q->cfg.rq_psn)) q->cfg.rq_psn = f.psn;
    const auto n = static_cast<uint32_t>(f.payload.size());
    q->max_payload = std::max(q->max_payload, n);
    if (f.opcode == op::WriteFirst || f.opcode == op::WriteMiddle) q->full_payload = std::max(q->full_payload, n);
  }

  // The QP that an answer belongs to: the one whose latest request is nearest before it and has that PSN in its range.
  void add_answer(size_t i) {
    const Frame& f = parsed_[i].frame;
    ReplayQp* best = nullptr;
    for (ReplayQp& q : qps_) {
      if (q.cfg.dip != f.dst_ip || (q.cfg.dqpn != 0 && q.cfg.dqpn != f.dqpn)) continue;
      if (psn_sub(f.psn, q.cfg.rq_psn) >= (1u << 22) && f.psn != psn_sub(q.cfg.rq_psn, 1)) continue;
      if (best == nullptr || q.latest > best->latest) best = &q;
    }
    if (best == nullptr || i > best->cut) return;
    best->cfg.dqpn = f.dqpn;
    best->cfg.sport = f.sport;
    best->answers.push_back(i);
    if (f.opcode != op::Ack) return;
    const bool nak = (f.syndrome & 0x60) == 0x60;
    if (nak && f.syndrome != kSynNakPsn) best->refused.insert(f.psn);
    const uint32_t upto = nak ? psn_sub(f.psn, 1) : f.psn;
    if (!best->any_ack || psn_lt(best->acked, upto)) best->acked = upto;
    best->any_ack = true;
  }

  std::string setup() {
    Station& s = bench_->station(0);
    const LocalAddress a{own_mac_, responder_, 64, 0};
    s.configure(a);
    oracle_.set_address(a);
    if (!bench_->settle_config()) return "the station does not answer on its registers";
    // QPs: as in the capture, or the next free number of the station.
    std::set<uint32_t> taken;
    for (const ReplayQp& q : qps_) {
      if (q.usable() && q.qpn < s.info().qp_count) taken.insert(q.qpn);
    }
    for (ReplayQp& q : qps_) {
      if (!q.usable()) continue;
      if (q.qpn >= s.info().qp_count) {
        uint32_t free = 0;
        while (taken.contains(free)) ++free;
        if (free >= s.info().qp_count)
          return lacks(fmt::format("the station has {} QPs, the capture uses more", s.info().qp_count));
        taken.insert(free);
        q.cfg.qpn = free;
        r_.notes.push_back(
            fmt::format("QP {:#x} translated to {:#x}: the station has {}", q.qpn, free, s.info().qp_count));
      }
      if (mtu_bytes(q.cfg.pmtu) > s.info().max_mtu)
        return lacks(fmt::format("path MTU {} is beyond the station's {}", mtu_bytes(q.cfg.pmtu), s.info().max_mtu));
      q.cfg.state = QpState::Rts;
      s.setup_qp(q.cfg);
      oracle_.setup_qp(q.cfg);
    }
    if (auto e = regions(); !e.empty()) return e;
    return bench_->settle_config() ? "" : "the station does not take its set-up";
  }

  /// The station cannot take part.
  std::string lacks(std::string what) {
    r_.skipped = true;
    return what;
  }

  std::string regions() {
    Station& s = bench_->station(0);
    std::vector<ReplayRegion> regions = o_.regions;
    const size_t given = regions.size();
    for (const ReplayQp& q : qps_) {
      if (!q.usable()) continue;
      for (const size_t i : q.requests) {
        const Frame& f = parsed_[i].frame;
        if (!opcode_layout(f.opcode).reth || f.dma_len == 0 || q.refused.contains(f.psn)) continue;
        auto it = std::find_if(regions.begin(), regions.end(), [&](const ReplayRegion& r) { return r.rkey == f.rkey; });
        if (it == regions.end()) {
          regions.push_back({f.rkey, f.va, f.dma_len});
        } else if (static_cast<size_t>(it - regions.begin()) >= given) {
          const uint64_t end = std::max(it->base + it->length, f.va + f.dma_len);
          it->base = std::min(it->base, f.va);
          it->length = end - it->base;
        }
      }
    }
    std::set<uint32_t> taken;
    for (const ReplayRegion& r : regions) {
      if ((r.rkey >> 8) < s.info().mr_count) taken.insert(r.rkey >> 8);
    }
    for (const ReplayRegion& r : regions) {
      MrConfig mr;
      mr.index = r.rkey >> 8;
      mr.variant = static_cast<uint8_t>(r.rkey);
      mr.pd = kPd;
      mr.base = r.base;
      mr.length = r.length;
      if (mr.index >= s.info().mr_count) {
        uint32_t free = 0;
        while (taken.contains(free)) ++free;
        if (free >= s.info().mr_count)
          return lacks(fmt::format("the station has {} regions, the capture uses more", s.info().mr_count));
        taken.insert(free);
        mr.index = free;
        r_.notes.push_back(fmt::format("R_Key {:#x} translated to {:#x}: the station has {} regions", r.rkey, mr.key(),
                                       s.info().mr_count));
      }
      key_[r.rkey] = mr.key();
      s.setup_mr(mr);
      oracle_.setup_mr(mr);
      s.memory().add_region(r.base, r.length);
      oracle_memory_.add_region(r.base, r.length);
      regions_.push_back(r);
    }
    return "";
  }

  /// Frame i of the capture as the station shall see it.
  Bytes translated(size_t i) {
    Bytes b = capture_.frames[i].data;
    const Parsed& p = parsed_[i];
    if (!p.ok()) return b;
    std::vector<std::pair<const FieldInfo*, uint64_t>> set;
    const ReplayQp* q = find(p.frame.dqpn);
    if (q == nullptr) return b;
    if (q->cfg.qpn != q->qpn) set.emplace_back(find_field("dqpn"), q->cfg.qpn);
    if (opcode_layout(p.frame.opcode).reth) {
      const auto k = key_.find(p.frame.rkey);
      if (k != key_.end() && k->second != p.frame.rkey) set.emplace_back(find_field("rkey"), k->second);
    }
    if (!set.empty()) rewrite(b, set);
    return b;
  }

  std::string feed() {
    for (size_t i = 0; i < capture_.frames.size(); ++i) {
      const Parsed& p = parsed_[i];
      if (p.frame.src_ip == responder_ || p.frame.src_mac == own_mac_) continue;
      const ReplayQp* const q = p.ok() ? find(p.frame.dqpn) : nullptr;
      if (q != nullptr) {
        // Frames of its own requester role (answers to it) and what comes after the cut are left out.
        if (!opcode_layout(p.frame.opcode).request || i >= q->cut) continue;
        if (q->exists && q->requests.empty()) continue;
      } else if (p.ok() && opcode_layout(p.frame.opcode).known) {
        continue;
      }
      const Bytes b = translated(i);
      bench_->inject(0, b);
      ++r_.requests;
      oracle_.receive(bench_->now(), b, false);
      Bytes answer;
      while (oracle_.transmit(bench_->now(), answer)) {
        const size_t n = expected_.size();
        expected_.push_back(parse(answer));
        owner_.push_back(q);
        if (!bench_->run_until([&] { return bench_->sent(0).size() > n; }, bench_->now() + 200'000 * kNs)) {
          return fmt::format("no answer to frame {} of the capture: {}", i + 1, describe(b));
        }
        const Bytes& got = bench_->sent(0)[n].frame;
        const Parsed is = parse(got);
        if (answer_of(is) != answer_of(expected_[n])) {
          return fmt::format(
              "answer to frame {} of the capture differs from the reference endpoint's\n    sent     {}\n    expected "
              "{}",
              i + 1, describe(got), describe(answer));
        }
      }
    }
    bench_->run_for(20'000);
    if (bench_->sent(0).size() != expected_.size()) {
      return fmt::format("an answer that nothing asked for: {}", describe(bench_->sent(0)[expected_.size()].frame));
    }
    return "";
  }

  std::string compare_answers() {
    for (const ReplayQp& q : qps_) {
      if (!q.usable()) continue;
      std::vector<size_t> ours;
      for (size_t k = 0; k < bench_->sent(0).size(); ++k) {
        if (owner_[k] == &q) ours.push_back(k);
      }
      const auto ours_at = [&](size_t k) { return answer_of(parse(bench_->sent(0)[ours[k]].frame)); };
      if (!q.lossy) {
        for (size_t k = 0; k < std::max(ours.size(), q.answers.size()); ++k) {
          if (k >= ours.size())
            return fmt::format("QP {:#x}: frame {} of the capture is an answer that we did not give: {}", q.qpn,
                               q.answers[k] + 1, describe(capture_.frames[q.answers[k]].data));
          if (k >= q.answers.size()) {
            if (q.cut != ~size_t{0}) break;  // the capture's own may stand behind the cut
            return fmt::format("QP {:#x}: we gave an answer that the capture does not show: {}", q.qpn,
                               describe(bench_->sent(0)[ours[k]].frame));
          }
          if (ours_at(k) != answer_of(parsed_[q.answers[k]])) {
            return fmt::format(
                "QP {:#x}: answer {} differs from frame {} of the capture\n    sent     {}\n    captured {}", q.qpn,
                k + 1, q.answers[k] + 1, describe(bench_->sent(0)[ours[k]].frame),
                describe(capture_.frames[q.answers[k]].data));
          }
          ++r_.answers;
        }
        continue;
      }
      std::set<Answer> have;
      for (size_t k = 0; k < ours.size(); ++k) have.insert(ours_at(k));
      for (const size_t i : q.answers) {
        if (!have.contains(answer_of(parsed_[i]))) {
          return fmt::format("QP {:#x}: we never gave the answer in frame {} of the capture: {}", q.qpn, i + 1,
                             describe(capture_.frames[i].data));
        }
        ++r_.answers;
      }
    }
    return "";
  }

  // What the acknowledged messages of the capture carried, put together here and compared byte for byte.
  std::string compare_memory() {
    Memory want;
    std::vector<std::pair<uint64_t, uint64_t>> parts;
    for (const ReplayQp& q : qps_) {
      if (!q.usable() || !q.any_ack) continue;
      std::map<uint32_t, size_t> by_psn;  // distance from the first PSN -> frame
      for (const size_t i : q.requests) by_psn.emplace(psn_sub(parsed_[i].frame.psn, q.cfg.rq_psn), i);
      uint64_t va = 0;
      bool refused = false;
      for (const auto& [distance, i] : by_psn) {
        const Frame& f = parsed_[i].frame;
        if (psn_lt(q.acked, f.psn)) break;
        if (opcode_layout(f.opcode).reth) {
          va = f.va;
          refused = q.refused.contains(f.psn);
        }
        if (refused || f.payload.empty()) continue;
        want.write(va, f.payload);
        parts.emplace_back(va, f.payload.size());
        va += f.payload.size();
      }
    }
    for (const auto& [at, n] : parts) {
      const Bytes is = bench_->station(0).memory().read(at, n);
      const Bytes must = want.read(at, n);
      r_.bytes += n;
      if (is == must) continue;
      const auto k = static_cast<size_t>(std::mismatch(is.begin(), is.end(), must.begin()).first - is.begin());
      return fmt::format("memory at {:#x} is {:#04x}, the capture carried {:#04x}", at + k, is[k], must[k]);
    }
    // The rest of the regions must be untouched, or hold what the reference endpoint wrote (messages not acknowledged).
    for (const ReplayRegion& region : regions_) {
      const uint64_t n = std::min<uint64_t>(region.length, 64u << 20);
      const Bytes is = bench_->station(0).memory().read(region.base, n);
      for (uint64_t k = 0; k < n; ++k) {
        const uint64_t at = region.base + k;
        const uint8_t ref = oracle_memory_.read8(at);
        const uint8_t must = ref == oracle_memory_.background(at) ? bench_->station(0).memory().background(at) : ref;
        if (is[k] != must && is[k] != ref)
          return fmt::format("memory at {:#x} is {:#04x}, the reference endpoint has {:#04x}", at, is[k], ref);
      }
    }
    return "";
  }

  const PcapFile& capture_;
  const ReplayOptions& o_;
  const std::function<std::unique_ptr<Station>(size_t)>& factory_;
  std::vector<Parsed> parsed_;
  std::vector<ReplayQp> qps_;
  std::map<uint32_t, uint32_t> key_;
  std::vector<ReplayRegion> regions_;
  uint32_t responder_ = 0;
  uint64_t own_mac_ = 0;
  Memory oracle_memory_;
  Endpoint oracle_;
  std::vector<Parsed> expected_;        // the reference endpoint's answer to each of ours
  std::vector<const ReplayQp*> owner_;  // and the QP that it belongs to
  std::unique_ptr<Bench> bench_;
  ReplayResult r_;
};

}  // namespace

ReplayResult run_replay(const PcapFile& capture, const std::function<std::unique_ptr<Station>(size_t)>& factory,
                        const ReplayOptions& options) {
  return Replay(capture, factory, options).run();
}

}  // namespace rocegen::sim
