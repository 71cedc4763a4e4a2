#include "sim/harness/soak.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "sim/scenario/scenario.h"

namespace rocegen::sim {
namespace {

constexpr uint64_t kSourceBase = 0x0000'0001'0000'0000;
constexpr uint64_t kTargetBase = 0x0000'00A5'2000'0000;
constexpr uint16_t kPd = 0x51;

/// One direction of one connection.
struct Flow {
  size_t from = 0;
  uint32_t qpn = 0;  // at the sender
  uint32_t mtu = 0;
  uint64_t source = 0;
  uint64_t target = 0;
  uint32_t rkey = 0;
  Bytes source_data;
  Bytes shadow;  // what the target must hold
  struct Message {
    uint64_t id;
    uint32_t length;
  };
  std::deque<Message> open;
  uint64_t posted = 0;
  uint64_t done = 0;
};

class Soak {
 public:
  Soak(const std::function<std::unique_ptr<Station>(size_t)>& factory, const SoakOptions& o)
      : o_(o), rng_(o.seed ^ 0x50AC), window_(std::max<uint64_t>(o.max_length * 2, 4096)) {
    LinkConfig ab = o.link;
    ab.seed = o.seed * 2 + 100;
    LinkConfig ba = o.link;
    ba.seed = o.seed * 2 + 101;
    bench_ = std::make_unique<Bench>(factory(0), factory(1), ab, ba);
    bench_->keep_log(false);
    if (o.pcap != nullptr) o.pcap->begin_run();
    bench_->capture(o.pcap);
  }

  SoakResult run() {
    SoakResult r;
    r.message = body();
    r.ok = r.message.empty();
    r.messages = done_;
    r.bytes = bytes_;
    r.time = bench_->now();
    for (size_t i = 0; i < 2; ++i) {
      r.frames += bench_->sent_count(i);
      r.cycles += bench_->station(i).cycles();
      const Link& l = bench_->link(i);
      r.lost += l.lost();
      r.duplicated += l.duplicated();
      r.reordered += l.reordered();
      r.corrupted += l.corrupted();
    }
    return r;
  }

 private:
  std::string setup() {
    const LocalAddress address[2] = {{0x02000000000A, 0x0A000001, 64, 0x02}, {0x02000000000B, 0x0A000002, 64, 0x02}};
    for (size_t i = 0; i < 2; ++i) bench_->station(i).configure(address[i]);
    if (!bench_->settle_config()) return "a station does not answer on its registers";
    uint32_t max_mtu = 4096;
    for (size_t i = 0; i < 2; ++i) {
      const StationInfo& info = bench_->station(i).info();
      if (info.qp_count < o_.qps)
        return fmt::format("station {} has {} QPs, {} are asked for", "ab"[i], info.qp_count, o_.qps);
      max_mtu = std::min(max_mtu, info.max_mtu);
    }
    for (size_t i = 0; i < 2; ++i) {
      // A region of its own for every QP if there are enough, else one for all.
      Station& s = bench_->station(i);
      own_region_[i] = s.info().mr_count >= o_.qps;
      for (uint32_t q = 0; q < (own_region_[i] ? o_.qps : 1); ++q) {
        MrConfig mr;
        mr.index = own_region_[i] ? (q * 7 + 3) % s.info().mr_count : 0;
        if (own_region_[i] && s.info().mr_count % 7 == 0) mr.index = q;
        mr.variant = static_cast<uint8_t>(0x40 + q);
        mr.pd = kPd;
        mr.base = own_region_[i] ? target(q) : target(0);
        mr.length = own_region_[i] ? window_ : target(o_.qps - 1) + window_ - target(0);
        key_[i].push_back(mr.key());
        s.setup_mr(mr);
      }
      for (uint32_t q = 0; q < o_.qps; ++q) s.memory().add_region(target(q), window_);
    }
    uint8_t timeout = o_.timeout;
    if (timeout == 0) {
      const double round = static_cast<double>(o_.qps) * (max_mtu + 100.0) * 8 * 1000 / o_.gbps;
      for (timeout = 3; timeout < 20 && static_cast<double>(ack_timeout(timeout)) < 4 * round; ++timeout) {
      }
    }
    for (uint32_t q = 0; q < o_.qps; ++q) {
      QpConfig c[2];
      uint8_t code = static_cast<uint8_t>(rng_.between(1, 5));
      while (mtu_bytes(code) > max_mtu) --code;
      for (size_t i = 0; i < 2; ++i) {
        c[i].qpn = i == 0 ? q : o_.qps - 1 - q;
        c[i].pmtu = code;
        c[i].pd = kPd;
        // Half of the sequence numbers wrap during the run.
        c[i].sq_psn = static_cast<uint32_t>(rng_.chance(0.5) ? 0xFFFFFF - rng_.below(200) : rng_.below(1u << 24));
        c[i].sport = static_cast<uint16_t>(0xC000 | rng_.below(0x4000));
        c[i].timeout = timeout;
        c[i].retry_cnt = 7;
      }
      for (size_t i = 0; i < 2; ++i) {
        c[i].dqpn = c[1 - i].qpn;
        c[i].rq_psn = c[1 - i].sq_psn;
        c[i].dip = address[1 - i].ip;
        c[i].dmac = address[1 - i].mac;
        bench_->station(i).setup_qp(c[i]);
        Flow f;
        f.from = i;
        f.qpn = c[i].qpn;
        f.mtu = mtu_bytes(code);
        f.source = kSourceBase + (static_cast<uint64_t>(q) << 24);
        f.target = target(q);
        f.rkey = key_[1 - i][own_region_[1 - i] ? q : 0];
        f.source_data = pattern_bytes(o_.seed * 1000 + q * 2 + i, 0, window_);
        f.shadow = pattern_bytes(o_.seed * 1000 + 500 + q * 2 + i, 0, window_);
        bench_->station(i).memory().write(f.source, f.source_data);
        bench_->station(1 - i).memory().write(f.target, f.shadow);
        flow_of_[i][f.qpn] = flows_.size();
        flows_.push_back(std::move(f));
      }
    }
    if (!bench_->settle_config()) return "a station does not take its set-up";
    return "";
  }

  /// Windows do not touch: each begins at an odd offset of its own, with a guard between.
  uint64_t target(uint32_t q) const { return kTargetBase + q * (window_ + 333) + 5; }

  uint32_t length(const Flow& f) {
    const uint64_t kind = rng_.below(100);
    uint64_t n = 0;
    if (kind < 5) {
      n = 0;
    } else if (kind < 40) {
      n = rng_.between(1, 80);
    } else if (kind < 65) {
      n = f.mtu * rng_.between(1, 3) + rng_.between(0, 4);
      n -= std::min<uint64_t>(n, 2);
    } else if (kind < 90) {
      n = rng_.between(1, uint64_t{f.mtu} * 4);
    } else {
      n = rng_.between(1, o_.max_length);
    }
    return static_cast<uint32_t>(std::min<uint64_t>(n, o_.max_length));
  }

  void post(Flow& f) {
    Wqe w;
    w.qpn = f.qpn;
    w.wr_id = (static_cast<uint64_t>(f.from + 1) << 48) | (static_cast<uint64_t>(f.qpn) << 32) | f.posted;
    w.length = length(f);
    const uint64_t from = rng_.below(window_ - w.length + 1);
    const uint64_t to = rng_.below(window_ - w.length + 1);
    w.laddr = f.source + from;
    w.raddr = f.target + to;
    w.rkey = f.rkey;
    std::copy_n(f.source_data.begin() + static_cast<std::ptrdiff_t>(from), w.length,
                f.shadow.begin() + static_cast<std::ptrdiff_t>(to));
    f.open.push_back({w.wr_id, w.length});
    ++f.posted;
    ++posted_;
    bench_->station(f.from).post(w);
  }

  std::string collect() {
    for (size_t i = 0; i < 2; ++i) {
      Cqe c;
      while (bench_->station(i).poll_cqe(c)) {
        const auto it = flow_of_[i].find(c.qpn);
        if (it == flow_of_[i].end())
          return fmt::format("station {}: completion on QP {}, which is not in use", "ab"[i], c.qpn);
        Flow& f = flows_[it->second];
        if (f.open.empty() || f.open.front().id != c.wr_id) {
          return fmt::format("station {}, QP {}: completion of {:#x}, but {} is next", "ab"[i], c.qpn, c.wr_id,
                             f.open.empty() ? "none" : fmt::format("{:#x}", f.open.front().id));
        }
        if (c.status != WcStatus::Success) {
          return fmt::format("station {}, QP {}: message {} of {} bytes ended with {}", "ab"[i], c.qpn, f.done,
                             f.open.front().length, status_name(c.status));
        }
        bytes_ += f.open.front().length;
        f.open.pop_front();
        ++f.done;
        ++done_;
        last_done_ = bench_->now();
      }
      QpEvent e;
      if (bench_->station(i).poll_event(e))
        return fmt::format("station {}: event {} on QP {}", "ab"[i], cause_name(e.cause), e.qpn);
    }
    return "";
  }

  std::string compare() {
    for (const Flow& f : flows_) {
      const Bytes is = bench_->station(1 - f.from).memory().read(f.target, window_);
      if (is == f.shadow) continue;
      const auto at = static_cast<size_t>(std::mismatch(is.begin(), is.end(), f.shadow.begin()).first - is.begin());
      return fmt::format(
          "station {}, target of QP {} of station {}: byte {} is {:#04x} instead of {:#04x} after {} messages",
          "ba"[f.from], f.qpn, "ab"[f.from], at, is[at], f.shadow[at], f.done);
    }
    return "";
  }

  std::string stuck() const {
    std::string s = fmt::format("no completion for {} us; messages waited for:", o_.stall_ns / 1000);
    size_t shown = 0;
    for (const Flow& f : flows_) {
      if (f.open.empty()) continue;
      if (++shown > 8) return s + " ...";
      s += fmt::format(" {}:QP {} message {} ({} bytes, MTU {});", "ab"[f.from], f.qpn, f.done, f.open.front().length,
                       f.mtu);
    }
    return s;
  }

  std::string body() {
    if (auto e = setup(); !e.empty()) return e;
    last_done_ = bench_->now();
    while (done_ < o_.messages) {
      const uint64_t goal = std::min(o_.messages, done_ + o_.check_every);
      std::string error;
      const auto work = [&] {
        error = collect();
        if (!error.empty() || bench_->now() > last_done_ + o_.stall_ns * kNs) return true;
        // Any QP may get the next message, so that they drift apart.
        for (int tries = 0; posted_ < goal && tries < 4; ++tries) {
          Flow& f = flows_[rng_.below(flows_.size())];
          if (f.open.size() < o_.depth) post(f);
        }
        if (o_.progress && done_ >= next_report_) {
          o_.progress(done_, bench_->now());
          next_report_ = done_ + std::max<uint64_t>(1, o_.messages / 200);
        }
        return done_ == goal;
      };
      if (!bench_->run_until(work, kNever - 1)) return "the simulation ran out of things to do";
      if (!error.empty()) return error;
      if (done_ != goal) return stuck();
      // What the last acknowledgement covers may still be on its way to memory.
      std::string different;
      const Ps limit = bench_->now() + 50'000 * kNs;
      do {
        bench_->run_for(1000);
        different = compare();
      } while (!different.empty() && bench_->now() < limit);
      if (!different.empty()) return different;
      if (auto e = collect(); !e.empty()) return e;
      if (const auto broken = bench_->violations(done_ == o_.messages); !broken.empty()) return broken.front();
    }
    return "";
  }

  const SoakOptions& o_;
  Rng rng_;
  uint64_t window_;
  std::unique_ptr<Bench> bench_;
  std::vector<Flow> flows_;
  std::map<uint32_t, size_t> flow_of_[2];
  std::vector<uint32_t> key_[2];
  bool own_region_[2] = {true, true};
  uint64_t posted_ = 0, done_ = 0, bytes_ = 0, next_report_ = 0;
  Ps last_done_ = 0;
};

}  // namespace

SoakResult run_soak(const std::function<std::unique_ptr<Station>(size_t)>& factory, const SoakOptions& options) {
  return Soak(factory, options).run();
}

}  // namespace rocegen::sim
