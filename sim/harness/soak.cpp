#include "sim/harness/soak.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "sim/scenario/scenario.h"

namespace rocegen::sim {
namespace {

constexpr uint64_t kSourceBase = 0x0000'0001'0000'0000;
constexpr uint64_t kLandingBase = 0x0000'0002'0000'0000;
constexpr uint64_t kTargetBase = 0x0000'00A5'2000'0000;
constexpr uint64_t kCellBase = 0x0000'00C0'0000'0000;
constexpr uint64_t kReceiveBase = 0x0000'00D0'0000'0000;
constexpr uint16_t kPd = 0x51;
constexpr uint32_t kCell = 8;
constexpr uint64_t kQuietNs = 60'000;  // after which no frame of a torn QP is under way any more

uint64_t get_le64(const Bytes& b) {
  uint64_t v = 0;
  for (size_t i = 8; i-- > 0;) v = (v << 8) | b[i];
  return v;
}

Bytes le64(uint64_t v) {
  Bytes b(8);
  for (size_t i = 0; i < 8; ++i) b[i] = static_cast<uint8_t>(v >> (8 * i));
  return b;
}

/// A message under way, as its sender sees it.
struct Message {
  uint64_t id = 0;
  uint8_t op = kWrWrite;
  uint32_t length = 0;
  bool signaled = true;
  uint64_t landing = 0;  // READ and atomic: where the result must be
  Bytes result;          // and what; empty: not known (cell that others use, too)
};

/// The same as its receiver sees it.
struct Receive {
  uint8_t op = kWrSend;
  uint32_t length = 0;
  Bytes data;  // of a SEND
  uint32_t imm = 0;
  bool solicited = false;
};

/// One direction of one connection.
struct Flow {
  size_t from = 0;
  uint32_t q = 0;
  uint32_t qpn = 0;  // at the sender
  uint32_t mtu = 0;
  bool reads = true;  // may send READs and atomics
  uint64_t source = 0, target = 0, landing = 0, cell = 0;
  uint32_t target_key = 0, source_key = 0, cell_key = 0;
  Bytes source_data;
  Bytes shadow;  // what the target must hold
  uint64_t cell_value = 0;
  std::deque<Message> open;
  std::deque<Receive> receives;  // that the receiver must still see
  uint64_t posted = 0;
  uint64_t done = 0;
  uint64_t landed = 0;
  bool fence_next = false;
  bool unsignaled_last = false;
  MrConfig inv;  // region for the peer to invalidate
  bool may_inv = false;
  bool torn = false;   // being torn down: completions may be flushes
  bool reset = false;  // by RESET: what is outstanding may be missing
};

/// One receive ring.
struct Ring {
  size_t on = 0;
  bool shared = false;
  uint32_t number = 0;
  uint64_t base = 0;
  std::vector<uint32_t> free;   // buffers
  std::deque<uint64_t> posted;  // ids, in order
  Ps next = 0;                  // when entries are posted again
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
    r_.message = body();
    r_.ok = r_.message.empty();
    r_.messages = done_;
    r_.time = bench_->now();
    for (size_t i = 0; i < 2; ++i) {
      r_.frames += bench_->sent_count(i);
      r_.cycles += bench_->station(i).cycles();
      const Link& l = bench_->link(i);
      r_.lost += l.lost();
      r_.duplicated += l.duplicated();
      r_.reordered += l.reordered();
      r_.corrupted += l.corrupted();
    }
    return r_;
  }

 private:
  // ---- set-up -------------------------------------------------------------------------------------------------------

  std::string setup() {
    for (size_t i = 0; i < 2; ++i) bench_->station(i).configure(address(i));
    if (!bench_->settle_config()) return "a station does not answer on its registers";
    for (size_t i = 0; i < 2; ++i) {
      const StationInfo& info = bench_->station(i).info();
      if (info.qp_count < o_.qps)
        return fmt::format("station {} has {} QPs, {} are asked for", "ab"[i], info.qp_count, o_.qps);
      max_mtu_ = std::min(max_mtu_, info.max_mtu);
    }
    // As many receive entries as the ring memory has for each.
    for (size_t i = 0; i < 2; ++i) {
      const StationInfo& info = bench_->station(i).info();
      const bool rings = !o_.writes_only && info.rqe_slots >= 2 * o_.qps;
      receive_[i] = rings;
      shared_[i] = rings && info.srq_count > 0 && info.rqe_slots >= 4 * o_.qps;
    }
    regions();
    timeout_ = o_.timeout;
    if (timeout_ == 0) {
      const double round = static_cast<double>(o_.qps) * (max_mtu_ + 100.0) * 8 * 1000 / o_.gbps;
      for (timeout_ = 3; timeout_ < 20 && static_cast<double>(ack_timeout(timeout_)) < 4 * round; ++timeout_) {
      }
    }
    for (size_t i = 0; i < 2; ++i) {
      if (shared_[i]) {
        SrqConfig c;
        c.log2 = 4;
        bench_->station(i).setup_srq(c);
      }
    }
    flows_.resize(size_t{2} * o_.qps);
    for (uint32_t q = 0; q < o_.qps; ++q) qpn_b_.push_back(o_.qps - 1 - q);
    q_b_ = qpn_b_;
    for (uint32_t q = 0; q < o_.qps; ++q) connect(q);
    return bench_->settle_config() ? "" : "a station does not take its set-up";
  }

  static LocalAddress address(size_t i) {
    return i == 0 ? LocalAddress{0x02000000000A, 0x0A000001, 64, 0x02}
                  : LocalAddress{0x02000000000B, 0x0A000002, 64, 0x02};
  }

  // For each station: targets, sources and cells of all QPs; a region of its own for every QP if there are enough, one
  // for all if not. Then regions that the peer may invalidate.
  void regions() {
    for (size_t i = 0; i < 2; ++i) {
      Station& s = bench_->station(i);
      const uint32_t count = s.info().mr_count;
      own_region_[i] = count >= o_.qps + 4;
      uint32_t next = 0;
      const auto add = [&](uint64_t base, uint64_t length, uint8_t access) {
        MrConfig mr;
        // Indices are spread over the table when it is large enough for that.
        mr.index = count % 7 != 0 ? static_cast<uint32_t>(next * 7ull % count) : next;
        ++next;
        mr.variant = static_cast<uint8_t>(0x40 + next);
        mr.access = access;
        mr.pd = kPd;
        mr.base = base;
        mr.length = length;
        s.setup_mr(mr);
        return mr;
      };
      for (uint32_t q = 0; q < (own_region_[i] ? o_.qps : 1); ++q) {
        const uint64_t base = target(q);
        const uint64_t length = own_region_[i] ? window_ : target(o_.qps - 1) + window_ - base;
        key_[i].push_back(add(base, length, kAccWrite | kAccRead).key());
      }
      if (count >= next + 2) {
        source_key_[i] = add(kSourceBase, source_step() * o_.qps, kAccRead).key();
        cell_key_[i] = add(kCellBase, uint64_t{kCell} * (o_.qps + 1), kAccAtomic | kAccRead).key();
        remote_reads_[i] = !o_.writes_only;
      }
      while (receive_[i] && next < count && inv_[i].size() < o_.qps) {
        inv_[i].push_back(add(target(0), 1, kAccInvalidate));
      }
      for (uint32_t q = 0; q < o_.qps; ++q) {
        s.memory().add_region(target(q), window_);
        s.memory().add_region(landing(q), landing_bytes());
        s.memory().add_region(kCellBase + q * kCell, kCell);
      }
      s.memory().add_region(shared_cell(), kCell);
      shared_value_[i] = rng_.next();
      s.memory().write(shared_cell(), le64(shared_value_[i]));
    }
  }

  uint64_t source_step() const { return (window_ + 8191) / 4096 * 4096; }
  uint64_t source(uint32_t q) const { return kSourceBase + q * source_step(); }
  /// Windows do not touch: each begins at an odd offset of its own, with a guard between.
  uint64_t target(uint32_t q) const { return kTargetBase + q * (window_ + 333) + 5; }
  /// Slots for the results of READs and atomics, one more than messages may be outstanding.
  uint64_t landing(uint32_t q) const { return kLandingBase + q * (landing_bytes() + 77) + 1; }
  uint64_t landing_bytes() const { return (o_.depth + 1) * uint64_t{std::max(o_.max_length, kCell)}; }
  uint64_t shared_cell() const { return kCellBase + uint64_t{o_.qps} * kCell; }
  Flow& flow(uint32_t q, size_t from) { return flows_[size_t{2} * q + from]; }
  uint32_t qpn_of(uint32_t q, size_t i) const { return i == 0 ? q : qpn_b_[q]; }
  uint32_t q_of(uint32_t qpn, size_t i) const { return i == 0 ? qpn : q_b_[qpn]; }
  /// The ring that a QP of a station receives from.
  Ring& ring(uint32_t q, size_t i) { return rings_[{i, uses_shared(q, i), uses_shared(q, i) ? 0 : qpn_of(q, i)}]; }
  bool uses_shared(uint32_t q, size_t i) const { return shared_[i] && q % 4 == 3; }

  /// Sets a connection up, the first time or anew, with fresh contents of its memory.
  void connect(uint32_t q) {
    QpConfig c[2];
    auto code = static_cast<uint8_t>(rng_.between(1, 5));
    while (mtu_bytes(code) > max_mtu_) --code;
    for (size_t i = 0; i < 2; ++i) {
      c[i].qpn = qpn_of(q, i);
      c[i].pmtu = code;
      c[i].pd = kPd;
      c[i].access = kAccWrite | kAccRead | kAccAtomic;
      c[i].sq_psn = first_psn(q, i);
      c[i].sport = static_cast<uint16_t>(0xC000 | rng_.below(0x4000));
      c[i].timeout = timeout_;
      c[i].retry_cnt = 7;
      c[i].rnr_retry = 7;
      c[i].min_rnr_timer = 1;
      c[i].max_dest_rd = static_cast<uint8_t>(rng_.between(1, std::min(16u, bench_->station(i).info().rd_depth)));
      c[i].rq_on = receive_[i];
      c[i].srq = uses_shared(q, i);
      c[i].srqn = 0;
    }
    for (size_t i = 0; i < 2; ++i) {
      c[i].max_rd = static_cast<uint8_t>(
          rng_.between(1, std::min<uint32_t>(c[1 - i].max_dest_rd, bench_->station(i).info().rd_depth)));
      c[i].dqpn = c[1 - i].qpn;
      c[i].rq_psn = c[1 - i].sq_psn;
      c[i].dip = address(1 - i).ip;
      c[i].dmac = address(1 - i).mac;
      bench_->station(i).setup_qp(c[i]);
      Flow f;
      f.from = i;
      f.q = q;
      f.qpn = c[i].qpn;
      f.mtu = mtu_bytes(code);
      f.reads = remote_reads_[1 - i];
      f.source = source(q);
      f.target = target(q);
      f.landing = landing(q);
      f.cell = kCellBase + q * kCell;
      f.target_key = key_[1 - i][own_region_[1 - i] ? q : 0];
      f.source_key = source_key_[1 - i];
      f.cell_key = cell_key_[1 - i];
      const uint64_t pattern = o_.seed * 100000 + r_.resets * 4 + q * 2 + i;
      f.source_data = pattern_bytes(pattern, 0, window_);
      f.shadow = pattern_bytes(pattern + 50000, 0, window_);
      f.cell_value = rng_.next();
      bench_->station(i).memory().write(f.source, f.source_data);
      bench_->station(1 - i).memory().write(f.target, f.shadow);
      bench_->station(1 - i).memory().write(f.cell, le64(f.cell_value));
      f.posted = flow(q, i).posted;
      f.done = flow(q, i).done;
      if (q < inv_[1 - i].size()) {
        f.inv = inv_[1 - i][q];
        f.may_inv = true;
        renew(f);
      }
      flow(q, i) = std::move(f);
      if (!receive_[i]) continue;
      const bool known = rings_.contains({i, c[i].srq, c[i].srq ? 0 : c[i].qpn});
      Ring& r = ring(q, i);
      if (known && c[i].srq) continue;
      r.on = i;
      r.shared = c[i].srq;
      r.number = c[i].srq ? 0 : c[i].qpn;
      r.base = kReceiveBase + (c[i].srq ? o_.qps : q) * kBuffers * buffer_bytes();
      r.free.clear();
      r.posted.clear();
      for (uint32_t b = 0; b < kBuffers; ++b) {
        r.free.push_back(b);
        bench_->station(i).memory().add_region(r.base + b * buffer_bytes() + b, std::max(o_.max_length, 1u));
      }
    }
  }

  /// Half of the sequence numbers wrap during the run. Those of the QPs' last lives, either way, are behind the new
  /// ones, where a circle has room for that: so what is left of them is told from what is new.
  uint32_t first_psn(uint32_t q, size_t i) {
    const auto behind = [&](size_t station, uint32_t QpConfig::*psn, uint32_t first) {
      const auto& qps = bench_->station(station).qps();
      const auto last = qps.find(qpn_of(q, station));
      return last == qps.end() || psn_lt(psn_add(last->second.*psn, 1u << 18), first);
    };
    uint32_t psn = 0;
    for (int tries = 0; tries < 100; ++tries) {
      psn = static_cast<uint32_t>(rng_.chance(0.5) ? 0xFFFFFF - rng_.below(200) : rng_.below(1u << 24));
      if (behind(i, &QpConfig::sq_psn, psn) && behind(1 - i, &QpConfig::rq_psn, psn)) break;
    }
    return psn;
  }

  uint64_t buffer_bytes() const { return (o_.max_length + 511) / 256 * 256; }

  /// A region that was invalidated gets a new key.
  void renew(Flow& f) {
    ++f.inv.variant;
    bench_->station(1 - f.from).setup_mr(f.inv);
  }

  // ---- work ---------------------------------------------------------------------------------------------------------

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

  uint8_t operation(const Flow& f) {
    const bool receives = receive_[1 - f.from];
    while (true) {
      static constexpr uint8_t kOps[] = {kWrWrite,   kWrWrite,    kWrWrite,    kWrWriteImm, kWrSend,
                                         kWrSend,    kWrSendImm,  kWrRead,     kWrRead,     kWrRead,
                                         kWrCmpSwap, kWrFetchAdd, kWrFetchAdd, kWrSendInv};
      const uint8_t op = kOps[rng_.below(std::size(kOps))];
      if (wr_takes_rqe(op) && !receives) continue;
      if (wr_is_read(op) && !f.reads) continue;
      if (op == kWrSendInv && !f.may_inv) continue;
      return op;
    }
  }

  void post(Flow& f, bool exclusive = false) {
    Wqe w;
    Message m;
    Receive r;
    w.qpn = f.qpn;
    w.opcode = m.op = r.op = operation(f);
    w.wr_id = m.id = (static_cast<uint64_t>(f.from + 1) << 48) | (static_cast<uint64_t>(f.qpn) << 32) | f.posted;
    w.length = m.length = r.length = wr_is_atomic(w.opcode) ? kCell : length(f);
    w.imm = r.imm = static_cast<uint32_t>(rng_.next());
    const uint64_t from = rng_.below(window_ - w.length + 1);
    const uint64_t to = rng_.below(window_ - w.length + 1);
    w.laddr = f.source + from;
    w.raddr = f.target + to;
    w.rkey = f.target_key;
    const auto part = [&](const Bytes& b, uint64_t at) {
      return Bytes(b.begin() + static_cast<std::ptrdiff_t>(at), b.begin() + static_cast<std::ptrdiff_t>(at + w.length));
    };
    bool fence = f.fence_next || rng_.chance(0.05);
    f.fence_next = false;
    if (wr_is_read(w.opcode)) {
      w.laddr = m.landing = f.landing + (f.landed++ % (o_.depth + 1)) * std::max(o_.max_length, kCell);
    }
    switch (w.opcode) {
      case kWrWrite:
      case kWrWriteImm:
        std::copy_n(f.source_data.begin() + static_cast<std::ptrdiff_t>(from), w.length,
                    f.shadow.begin() + static_cast<std::ptrdiff_t>(to));
        break;
      case kWrRead:
        if (rng_.chance(0.3)) {
          // What WRITEs in front of it brought. What comes behind must not overtake it: that takes a fence.
          m.result = part(f.shadow, to);
          f.fence_next = true;
        } else {
          w.raddr = flow(f.q, 1 - f.from).source + from;
          w.rkey = f.source_key;
          m.result = part(flow(f.q, 1 - f.from).source_data, from);
        }
        break;
      case kWrCmpSwap:
      case kWrFetchAdd:
        w.rkey = f.cell_key;
        w.swap_add = rng_.next();
        if (w.opcode == kWrFetchAdd && !exclusive && rng_.chance(0.5)) {
          w.raddr = shared_cell();
          shared_value_[1 - f.from] += w.swap_add;
          break;
        }
        w.raddr = f.cell;
        m.result = le64(f.cell_value);
        w.compare = rng_.chance(0.6) ? f.cell_value : rng_.next();
        if (w.opcode == kWrFetchAdd) {
          f.cell_value += w.swap_add;
        } else if (w.compare == f.cell_value) {
          f.cell_value = w.swap_add;
        }
        break;
      default:
        r.data = part(f.source_data, from);
        if (w.opcode == kWrSendInv) {
          w.imm = r.imm = f.inv.key();
          f.may_inv = false;
        }
        break;
    }
    r.solicited = wr_takes_rqe(w.opcode) && rng_.chance(0.2);
    m.signaled = f.unsignaled_last || rng_.chance(0.8);
    f.unsignaled_last = !m.signaled;
    w.flags = static_cast<uint8_t>((m.signaled ? kWqeSignaled : 0) | (r.solicited ? kWqeSolicited : 0) |
                                   (fence ? kWqeFence : 0));
    if (wr_takes_rqe(w.opcode)) f.receives.push_back(std::move(r));
    f.open.push_back(std::move(m));
    ++f.posted;
    ++posted_;
    bench_->station(f.from).post(w);
  }

  /// A signaled message behind one that was not, so that it ends.
  void push_out(Flow& f) {
    if (f.open.empty() || f.open.back().signaled) return;
    Wqe w;
    w.qpn = f.qpn;
    Message m;
    w.wr_id = m.id = (static_cast<uint64_t>(f.from + 1) << 48) | (static_cast<uint64_t>(f.qpn) << 32) | f.posted;
    w.laddr = f.source;
    w.raddr = f.target;
    f.open.push_back(m);
    f.unsignaled_last = false;
    ++f.posted;
    ++posted_;
    bench_->station(f.from).post(w);
  }

  void post_receives() {
    for (auto& [key, r] : rings_) {
      if (r.next > bench_->now()) continue;
      // Now and then late, so that senders meet an empty ring.
      r.next = bench_->now() + rng_.between(1, 12'000) * kNs;
      for (uint64_t n = rng_.between(1, 4); n > 0 && !r.free.empty(); --n) {
        const size_t pick = rng_.below(r.free.size());
        const uint32_t b = r.free[pick];
        r.free.erase(r.free.begin() + static_cast<std::ptrdiff_t>(pick));
        Rqe e;
        e.qpn = r.number;
        e.shared = r.shared;
        e.wr_id = (uint64_t{1} << 60) | (static_cast<uint64_t>(r.shared) << 56) |
                  (static_cast<uint64_t>(r.number) << 32) | (rqe_number_++ << 8) | b;
        e.addr = r.base + b * buffer_bytes() + b;
        e.length = std::max(o_.max_length, 1u);
        r.posted.push_back(e.wr_id);
        bench_->station(r.on).post_recv(e);
      }
    }
  }

  // ---- completions --------------------------------------------------------------------------------------------------

  std::string collect() {
    for (size_t i = 0; i < 2; ++i) {
      Cqe c;
      while (bench_->station(i).poll_cqe(c)) {
        ++completions_;
        if (c.qpn >= o_.qps) return fmt::format("station {}: completion on QP {}, which is not in use", "ab"[i], c.qpn);
        const std::string e = c.receive() ? received(i, c) : completed(i, c);
        if (!e.empty()) return fmt::format("station {}, QP {}: {}", "ab"[i], c.qpn, e);
        last_done_ = bench_->now();
      }
      QpEvent e;
      while (bench_->station(i).poll_event(e)) {
        if (e.qpn < o_.qps && flow(q_of(e.qpn, i), i).torn) continue;
        return fmt::format("station {}: event {} on QP {}", "ab"[i], cause_name(e.cause), e.qpn);
      }
    }
    return "";
  }

  std::string completed(size_t i, const Cqe& c) {
    Flow& f = flow(q_of(c.qpn, i), i);
    const bool good = c.status == WcStatus::Success;
    if (!good && !f.torn) {
      return fmt::format("message {} of {} bytes, opcode {}, ended with {}", f.done,
                         f.open.empty() ? 0 : f.open.front().length, f.open.empty() ? 0 : f.open.front().op,
                         status_name(c.status));
    }
    // Unsignaled ones in front of it are done.
    while (!f.open.empty() && f.open.front().id != c.wr_id && (!f.open.front().signaled || f.reset)) retire(f);
    if (f.open.empty() || f.open.front().id != c.wr_id) {
      return fmt::format("completion of {:#x}, but {} is next", c.wr_id,
                         f.open.empty() ? "none" : fmt::format("{:#x}", f.open.front().id));
    }
    const Message& m = f.open.front();
    if (good) {
      if (c.opcode != wc_opcode(m.op) || c.bytes != m.length) {
        return fmt::format("message {} completed with opcode {} and {} bytes instead of {} and {}", f.done, c.opcode,
                           c.bytes, wc_opcode(m.op), m.length);
      }
      if (!m.result.empty() && bench_->station(i).memory().read(m.landing, m.result.size()) != m.result) {
        return fmt::format("message {}, opcode {}, {} bytes: its result is wrong when it completes", f.done, m.op,
                           m.length);
      }
    }
    retire(f);
    return "";
  }

  void retire(Flow& f) {
    ++r_.by_op[f.open.front().op % 10];
    r_.bytes += f.open.front().length;
    f.open.pop_front();
    ++f.done;
    ++done_;
  }

  std::string received(size_t i, const Cqe& c) {
    const uint32_t q = q_of(c.qpn, i);
    Ring& ring_of = ring(q, i);
    Flow& f = flow(q, 1 - i);  // whose messages it receives
    const auto at = std::find(ring_of.posted.begin(), ring_of.posted.end(), c.wr_id);
    if (at == ring_of.posted.end() || (!ring_of.shared && at != ring_of.posted.begin())) {
      return fmt::format("receive completion of {:#x}, which is not {}", c.wr_id,
                         ring_of.shared ? "outstanding" : "the next");
    }
    ring_of.posted.erase(at);
    const auto buffer = static_cast<uint32_t>(c.wr_id & 0xFF);
    ring_of.free.push_back(buffer);
    if (c.status != WcStatus::Success) {
      if (f.torn && c.status == WcStatus::FlushErr) return "";
      return fmt::format("a receive ended with {}", status_name(c.status));
    }
    if (f.receives.empty()) return "a receive that no message asked for";
    const Receive r = std::move(f.receives.front());
    f.receives.pop_front();
    ++r_.receives;
    const auto flags =
        static_cast<uint16_t>(kCqeRecv | (r.op == kWrSendImm || r.op == kWrWriteImm ? kCqeWithImm : 0) |
                              (r.op == kWrSendInv ? kCqeWithInv : 0) | (r.solicited ? kCqeSolicited : 0));
    const uint8_t opcode = r.op == kWrWriteImm ? kWcRecvWriteImm : kWcRecv;
    if (c.flags != flags || c.opcode != opcode || c.bytes != r.length ||
        ((flags & (kCqeWithImm | kCqeWithInv)) != 0 && c.imm != r.imm)) {
      return fmt::format("receive of opcode {}, {} bytes, flags {:#x}, imm {:#x} instead of {}, {}, {:#x}, {:#x}",
                         c.opcode, c.bytes, c.flags, c.imm, opcode, r.length, flags, r.imm);
    }
    if (bench_->station(i).memory().read(ring_of.base + buffer * buffer_bytes() + buffer, r.data.size()) != r.data) {
      return fmt::format("the {} bytes of a SEND are not in its buffer when the receive completes", r.length);
    }
    if (r.op == kWrSendInv) {
      // No WRITE through the old key can be under way: it never had that right. Set it up anew.
      renew(f);
      f.may_inv = true;
    }
    return "";
  }

  std::string compare() {
    for (const Flow& f : flows_) {
      const Station& peer = bench_->station(1 - f.from);
      const Bytes is = peer.memory().read(f.target, window_);
      if (is != f.shadow) {
        const auto at = static_cast<size_t>(std::mismatch(is.begin(), is.end(), f.shadow.begin()).first - is.begin());
        return fmt::format(
            "station {}, target of QP {} of station {}: byte {} is {:#04x} instead of {:#04x} after {} messages",
            "ba"[f.from], f.qpn, "ab"[f.from], at, is[at], f.shadow[at], f.done);
      }
      const uint64_t cell = get_le64(peer.memory().read(f.cell, kCell));
      if (cell != f.cell_value) {
        return fmt::format(
            "station {}, cell of QP {} of station {}: {:#x} instead of {:#x}: an atomic was not executed "
            "exactly once",
            "ba"[f.from], f.qpn, "ab"[f.from], cell, f.cell_value);
      }
      if (!f.receives.empty()) {
        return fmt::format("station {}, QP {}: {} receives have not completed", "ba"[f.from], f.qpn, f.receives.size());
      }
    }
    for (size_t i = 0; i < 2; ++i) {
      const uint64_t sum = get_le64(bench_->station(i).memory().read(shared_cell(), kCell));
      if (sum != shared_value_[i])
        return fmt::format("station {}: the cell of all QPs holds {:#x} instead of {:#x}", "ab"[i], sum,
                           shared_value_[i]);
    }
    return "";
  }

  std::string stuck() const {
    std::string s = fmt::format("no completion for {} us; messages waited for:", o_.stall_ns / 1000);
    size_t shown = 0;
    for (const Flow& f : flows_) {
      if (f.open.empty()) continue;
      if (++shown > 8) return s + " ...";
      s += fmt::format(" {}:QP {} message {} (opcode {}, {} bytes, MTU {});", "ab"[f.from], f.qpn, f.done,
                       f.open.front().op, f.open.front().length, f.mtu);
    }
    return s;
  }

  // ---- the course ---------------------------------------------------------------------------------------------------

  /// Runs until `until()`; receive entries are posted and completions taken meanwhile.
  std::string drive(const std::function<bool()>& until) {
    std::string error;
    const auto work = [&] {
      error = collect();
      if (!error.empty() || bench_->now() > last_done_ + o_.stall_ns * kNs) return true;
      post_receives();
      if (o_.progress && done_ >= next_report_) {
        o_.progress(done_, bench_->now());
        next_report_ = done_ + std::max<uint64_t>(1, o_.messages / 200);
      }
      return until();
    };
    // In short turns: receive entries become due with time alone.
    while (!bench_->run_until(work, bench_->now() + 2000 * kNs)) {
    }
    if (!error.empty()) return error;
    return until() ? "" : stuck();
  }

  bool idle() const {
    return std::all_of(flows_.begin(), flows_.end(), [](const Flow& f) { return f.open.empty(); });
  }

  // All messages end; then memory is compared. What the last acknowledgement covers may still be on its way.
  std::string drain() {
    for (Flow& f : flows_) push_out(f);
    if (auto e = drive([&] { return idle(); }); !e.empty()) return e;
    std::string different;
    const Ps limit = bench_->now() + 50'000 * kNs;
    do {
      bench_->run_for(1000);
      if (auto e = collect(); !e.empty()) return e;
      different = compare();
    } while (!different.empty() && bench_->now() < limit);
    return different;
  }

  // Some connections are torn down, at rest or in the middle of their work, and set up anew.
  std::string reset_some() {
    std::vector<uint32_t> chosen;
    for (uint32_t q = 0; q < o_.qps; ++q) {
      if (rng_.chance(o_.resets)) chosen.push_back(q);
    }
    if (chosen.empty()) return "";
    const bool torn = rng_.chance(0.7);
    if (torn) {
      for (const uint32_t q : chosen) {
        for (size_t i = 0; i < 2; ++i) {
          Flow& f = flow(q, i);
          f.torn = true;
          for (uint32_t n = 0; n < o_.depth; ++n) post(f, /*exclusive=*/true);
        }
      }
      const Ps when = bench_->now() + rng_.between(10, 15'000) * kNs;
      last_done_ = bench_->now();
      if (auto e = drive([&] { return bench_->now() >= when; }); !e.empty()) return e;
    }
    for (const uint32_t q : chosen) {
      for (size_t i = 0; i < 2; ++i) {
        flow(q, i).torn = true;
        bench_->station(i).set_qp_state(qpn_of(q, i), QpState::Err);
      }
    }
    last_done_ = bench_->now();
    // Every request and every entry of a ring of its own ends.
    const auto flushed = [&] {
      for (const uint32_t q : chosen) {
        for (size_t i = 0; i < 2; ++i) {
          const Flow& f = flow(q, i);
          // What is unsignaled and was done before the error gives no completion.
          if (std::any_of(f.open.begin(), f.open.end(), [](const Message& m) { return m.signaled; })) return false;
          if (receive_[i] && !uses_shared(q, i) && !ring(q, i).posted.empty()) return false;
        }
      }
      return true;
    };
    for (const uint32_t q : chosen) {
      for (size_t i = 0; i < 2; ++i) {
        if (receive_[i] && !uses_shared(q, i)) ring(q, i).next = kNever;  // nothing more meanwhile
      }
    }
    if (auto e = drive(flushed); !e.empty()) return e + " (of a QP in error)";
    const Ps quiet = bench_->now() + kQuietNs * kNs;
    last_done_ = bench_->now();
    if (auto e = drive([&] { return bench_->now() >= quiet; }); !e.empty()) return e;
    for (const uint32_t q : chosen) {
      for (size_t i = 0; i < 2; ++i) {
        Flow& f = flow(q, i);
        while (!f.open.empty()) retire(f);
        if (rng_.chance(0.5)) bench_->station(i).set_qp_state(qpn_of(q, i), QpState::Reset);
      }
    }
    for (const uint32_t q : chosen) {
      ++r_.resets;
      if (torn) ++r_.torn;
      connect(q);
      for (size_t i = 0; i < 2; ++i) {
        if (receive_[i]) ring(q, i).next = 0;
      }
    }
    if (!bench_->settle_config()) return "a station does not take its set-up";
    last_done_ = bench_->now();
    return "";
  }

  // Some connections go to RESET at work and are set up with other partners as soon as that is answered.
  std::string recreate_some() {
    std::vector<uint32_t> chosen;
    for (uint32_t q = 0; q < o_.qps; ++q) {
      // An entry of a shared ring that a SEND under way has taken goes down with its QP.
      if (!uses_shared(q, 0) && !uses_shared(q, 1) && rng_.chance(o_.resets)) chosen.push_back(q);
    }
    if (chosen.empty()) return "";
    for (const uint32_t q : chosen) {
      for (size_t i = 0; i < 2; ++i) {
        flow(q, i).torn = true;
        for (uint32_t n = 0; n < o_.depth; ++n) post(flow(q, i), /*exclusive=*/true);
      }
    }
    const Ps when = bench_->now() + rng_.between(10, 15'000) * kNs;
    last_done_ = bench_->now();
    if (auto e = drive([&] { return bench_->now() >= when; }); !e.empty()) return e;
    for (const uint32_t q : chosen) {
      for (size_t i = 0; i < 2; ++i) {
        if (receive_[i]) ring(q, i).next = kNever;
      }
    }
    if (!bench_->settle_config()) return "receive entries are not taken";
    if (auto e = collect(); !e.empty()) return e;
    for (const uint32_t q : chosen) {
      for (size_t i = 0; i < 2; ++i) {
        flow(q, i).reset = true;
        bench_->station(i).set_qp_state(qpn_of(q, i), QpState::Reset);
      }
    }
    if (!bench_->settle_config()) return "a station does not answer RESET";
    // Completions of before are still in their queue.
    for (uint64_t before = ~completions_; before != completions_;) {
      before = completions_;
      bench_->run_for(300);
      if (auto e = collect(); !e.empty()) return e;
    }
    for (const uint32_t q : chosen) {
      for (size_t i = 0; i < 2; ++i) {
        while (!flow(q, i).open.empty()) retire(flow(q, i));
      }
    }
    const uint32_t first = qpn_b_[chosen.front()];
    for (size_t n = 0; n + 1 < chosen.size(); ++n) qpn_b_[chosen[n]] = qpn_b_[chosen[n + 1]];
    qpn_b_[chosen.back()] = first;
    for (const uint32_t q : chosen) q_b_[qpn_b_[q]] = q;
    for (const uint32_t q : chosen) {
      ++r_.resets;
      ++r_.torn;
      ++r_.abrupt;
      connect(q);
      for (size_t i = 0; i < 2; ++i) {
        if (receive_[i]) ring(q, i).next = 0;
      }
    }
    if (!bench_->settle_config()) return "a station does not take its set-up";
    last_done_ = bench_->now();
    return "";
  }

  std::string body() {
    if (auto e = setup(); !e.empty()) return e;
    last_done_ = bench_->now();
    while (done_ < o_.messages) {
      const uint64_t goal = std::min(o_.messages, posted_ + o_.check_every);
      const auto work = [&] {
        // Any QP may get the next message, so that they drift apart.
        for (int tries = 0; posted_ < goal && tries < 4; ++tries) {
          Flow& f = flows_[rng_.below(flows_.size())];
          if (f.open.size() < o_.depth) post(f);
        }
        return posted_ >= goal;
      };
      // What nobody pushes out would keep its place for ever.
      const auto keep_moving = [&] {
        const bool all = work();
        if (!all &&
            std::all_of(flows_.begin(), flows_.end(), [&](const Flow& f) { return f.open.size() >= o_.depth; })) {
          for (Flow& f : flows_) push_out(f);
        }
        return all;
      };
      if (auto e = drive(keep_moving); !e.empty()) return e;
      if (auto e = drain(); !e.empty()) return e;
      if (const auto broken = bench_->violations(done_ >= o_.messages); !broken.empty()) return broken.front();
      if (done_ < o_.messages) {
        const bool abrupt = o_.abrupt > 0 && rng_.chance(o_.abrupt);
        if (auto e = abrupt ? recreate_some() : reset_some(); !e.empty()) return e;
      }
    }
    return "";
  }

  static constexpr uint32_t kBuffers = 8;  // of a receive ring

  const SoakOptions& o_;
  Rng rng_;
  uint64_t window_;
  uint32_t max_mtu_ = 4096;
  uint8_t timeout_ = 0;
  std::unique_ptr<Bench> bench_;
  std::vector<Flow> flows_;
  std::map<std::tuple<size_t, bool, uint32_t>, Ring> rings_;
  std::vector<uint32_t> key_[2];
  std::vector<MrConfig> inv_[2];
  uint32_t source_key_[2] = {0, 0}, cell_key_[2] = {0, 0};
  bool own_region_[2] = {true, true};
  bool remote_reads_[2] = {false, false};
  bool receive_[2] = {false, false};
  bool shared_[2] = {false, false};
  uint64_t shared_value_[2] = {0, 0};
  std::vector<uint32_t> qpn_b_, q_b_;  // of a connection its QPN at station b, and the other way
  uint64_t rqe_number_ = 0;
  uint64_t completions_ = 0;  // seen
  uint64_t posted_ = 0, done_ = 0, next_report_ = 0;
  Ps last_done_ = 0;
  SoakResult r_;
};

}  // namespace

SoakResult run_soak(const std::function<std::unique_ptr<Station>(size_t)>& factory, const SoakOptions& options) {
  return Soak(factory, options).run();
}

}  // namespace rocegen::sim
