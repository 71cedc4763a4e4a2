#include "sim/harness/fuzz.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/harness/fuzz_frames.h"
#include "sim/harness/fuzz_ledger.h"
#include "sim/harness/fuzz_pair.h"
#include "sim/harness/model_station.h"
#include "sim/scenario/scenario.h"

namespace rocegen::sim {
namespace {

constexpr uint64_t kRegionBase = 0x0000'00C0'0000'0000;
constexpr uint64_t kQpBase = 0x0000'00D0'0000'0000;  // receive and READ buffers
constexpr uint64_t kQpBytes = 0x10'0000;
constexpr uint64_t kSharedBase = 0x0000'00E0'0000'0000;
constexpr uint64_t kSlotBytes = 0x8000;
constexpr uint64_t kReadArea = 0x8'0000;
constexpr uint64_t kReadBytes = 0x4000;
constexpr uint32_t kReceives = 4;  // entries of a QP, and sends outstanding
constexpr uint32_t kSharedReceives = 8;
constexpr uint32_t kReceiveLengths[] = {12'000, 0, 12'000, 256, 5000, 12'000, 700, 4096};
constexpr uint16_t kPd = 0x77;
constexpr uint32_t kPairs = 2;  // untouched connections; one more is set up at every check
constexpr size_t kTrail = 24;
constexpr uint64_t kTxBytes = 0x1'4000;  // frames that may wait to be sent
constexpr uint64_t kQuietNs = 2500;      // frames and completions under way have arrived

enum Region : uint32_t { kOpen, kReadOnly, kRevoked, kEmpty, kRegions };

/// The reference endpoint at the other end, with everything it sends and receives shown.
class Peer : public ModelStation {
 public:
  using Watch = std::function<void(ByteView frame, const Frame& fields, bool from_peer)>;
  Peer(uint64_t seed, double gbps) : ModelStation("peer", seed, gbps) {}

  void receive(Ps now, Bytes&& frame, bool bad) override {
    if (const Parsed p = parse(frame); p.ok() && watch_) watch_(frame, p.frame, false);
    ModelStation::receive(now, std::move(frame), bad);
  }
  /// Once the bench has taken over what the station sends.
  void watch(Watch w) {
    watch_ = std::move(w);
    transmit_ = [this, onward = std::move(transmit_)](Ps now, Bytes&& frame) {
      if (const Parsed p = parse(frame); p.ok()) watch_(frame, p.frame, true);
      onward(now, std::move(frame));
    };
  }

 private:
  Watch watch_;
};

/// One QP under attack, with its peer.
struct Victim {
  FuzzTarget target;
  std::array<uint32_t, 2> qpn = {};
  uint8_t pmtu = 1;
  bool posts[2] = {false, false};  // the station, the peer: sends requests in this life
  bool receives = false;           // gets receive entries in this life
  Ps held_until = 0;               // a forged RNR NAK excuses that nothing moves
};

class Fuzz {
 public:
  Fuzz(const std::function<std::unique_ptr<Station>(size_t)>& factory, const FuzzOptions& o)
      : o_(o),
        rng_(o.seed ^ 0xF022),
        frames_(kAddress[0], kAddress[1], o.seed ^ 0xF0F0),
        ledger_{Ledger("a"), Ledger("peer")},
        patience_(static_cast<Ps>(static_cast<double>(o.stall_ns * kNs) * std::max(1.0, 100 / o.gbps))) {
    auto peer = std::make_unique<Peer>(o.seed * 31 + 7, o.gbps);
    Peer* const p = peer.get();
    LinkConfig link;
    link.delay_ns = 300;
    link.gbps = 0;
    bench_ = std::make_unique<Bench>(factory(0), std::move(peer), link, link);
    bench_->keep_log(false);
    if (o.pcap != nullptr) o.pcap->begin_run();
    bench_->capture(o.pcap);
    p->watch([this](ByteView bytes, const Frame& f, bool from_peer) { watched(bytes, f, from_peer); });
  }

  FuzzResult run() {
    const std::string wrong = body();
    FuzzResult& r = result_;
    r.ok = wrong.empty();
    if (!r.ok) r.message = fmt::format("seed {}, after {} frames: {}", o_.seed, r.frames, wrong);
    for (const auto& [at, f] : trail_) {
      const ByteView head = ByteView(f.bytes).first(std::min<size_t>(f.bytes.size(), 96));
      r.trail.push_back(fmt::format("{} ns, {}{}, {} bytes: {}: {}{}", at / kNs, fuzz_kind_name(f.kind),
                                    f.bad ? ", marked bad" : "", f.bytes.size(), describe(f.bytes), to_hex(head),
                                    head.size() < f.bytes.size() ? "..." : ""));
    }
    for (size_t k = 0; k < kFuzzKinds; ++k) {
      r.kinds.emplace_back(fuzz_kind_name(static_cast<FuzzKind>(k)), count_[k]);
    }
    for (const Ledger& l : ledger_) {
      r.completions += l.completions();
      r.errors += l.errors();
      r.events += l.events();
    }
    for (const auto& p : pairs_) r.messages += p->messages();
    r.answered = bench_->sent_count(0);
    r.time = bench_->now();
    r.cycles = bench_->station(0).cycles();
    return r;
  }

 private:
  static constexpr LocalAddress kAddress[2] = {{0x02000000000A, 0x0A000001, 64, 0x02},
                                               {0x02000000000B, 0x0A000002, 64, 0x02}};

  Station& station(size_t i) { return bench_->station(i); }

  // ---- set-up -------------------------------------------------------------------------------------------------------

  std::string setup() {
    for (size_t i = 0; i < 2; ++i) station(i).configure(kAddress[i]);
    if (!bench_->settle_config()) return "the station does not answer on its registers";
    info_ = station(0).info();
    if (info_.qp_count < kPairs + 2) return fmt::format("{} QPs, but {} are needed", info_.qp_count, kPairs + 2);
    if (info_.mr_count < (kPairs + 1) * CheckedPair::kRegions + kRegions) {
      return fmt::format("{} memory regions are too few", info_.mr_count);
    }
    const uint32_t qps = std::min(o_.qps, info_.qp_count - kPairs - 1);
    // Messages of all QPs may stand before one of an untouched connection, sixteen packets of each.
    const double wait = 2.0 * (qps + 3) * 16 * (info_.max_mtu + 100.0) * 8 * 1000 / o_.gbps;
    uint8_t timeout = 3;
    while (timeout < 20 && static_cast<double>(ack_timeout(timeout)) < wait) ++timeout;
    for (uint32_t n = 0; n <= kPairs; ++n) {
      CheckedPair::Options p;
      p.number = n;
      p.qpn = {n, 0x100 + n};
      p.region = {kRegions + n * CheckedPair::kRegions, kRegions + n * CheckedPair::kRegions};
      p.timeout = timeout;
      p.max_mtu = info_.max_mtu;
      pairs_.push_back(std::make_unique<CheckedPair>(*bench_, p, o_.seed * 7 + n));
    }
    for (size_t i = 0; i < 2; ++i) {
      for (uint32_t n = 0; n < kRegions; ++n) {
        MrConfig& mr = region_[i][n];
        mr.index = n;
        mr.pd = kPd;
        mr.variant = static_cast<uint8_t>(0x11 * n + i);
        mr.base = kRegionBase + n * 0x10'0000 + 5;
        mr.length = n == kOpen ? 24'571 : n == kReadOnly ? 16'007 : n == kRevoked ? 9'001 : 0;
        mr.access = n == kReadOnly ? kAccRead : kAccWrite | kAccRead | kAccAtomic | kAccInvalidate;
      }
      station(i).memory().write(region_[i][kReadOnly].base, pattern_bytes(o_.seed + i, 0, 16'007));
    }
    has_shared_ = info_.srq_count != 0;
    if (has_shared_) {
      for (size_t i = 0; i < 2; ++i) station(i).setup_srq({.srqn = 0, .log2 = 3});
    }
    victims_.resize(qps);
    for (uint32_t v = 0; v < qps; ++v) {
      victims_[v].qpn = {info_.qp_count - 1 - v, 0x1000 + v * 37};
      by_qpn_[victims_[v].qpn[0]] = v;
      by_peer_qpn_[victims_[v].qpn[1]] = v;
    }
    std::vector<const FuzzTarget*> untouched;
    for (uint32_t n = 0; n < kPairs; ++n) {
      pairs_[n]->connect();
      untouched_[n].start(pairs_[n]->config(0));
      untouched.push_back(&untouched_[n]);
    }
    frames_.set_untouched(std::move(untouched), info_.qp_count);
    change_regions();
    for (uint32_t v = 0; v < qps; ++v) {
      choose_mtu(victims_[v]);
      set_up(victims_[v]);
    }
    if (!bench_->settle_config()) return "the station does not take its set-up";
    for (uint32_t n = 0; n < kPairs; ++n) pairs_[n]->supply();
    for (Victim& v : victims_) feed(v);
    return "";
  }

  /// What the station may write: the same on both sides.
  void declare_regions(size_t i) {
    Memory& m = station(i).memory();
    for (uint32_t n : {uint32_t{kOpen}, uint32_t{kRevoked}}) {
      if (region_[i][n].valid) m.add_region(region_[i][n].base, region_[i][n].length);
    }
    for (size_t v = 0; v < victims_.size(); ++v) {
      for (uint64_t k = 0; k < kReceives; ++k) m.add_region(receive_at(v, k), receive_length(v, k));
      m.add_region(kQpBase + v * kQpBytes + kReadArea, kReadBytes);
    }
    for (uint64_t k = 0; k < kSharedReceives; ++k) m.add_region(kSharedBase + k * kSlotBytes, shared_length(k));
    for (const auto& p : pairs_) p->declare(i);
  }

  /// Keys change, so that one of an earlier time must not work; one region comes and goes.
  void change_regions() {
    for (size_t i = 0; i < 2; ++i) {
      MrConfig& revoked = region_[i][kRevoked];
      const bool was = revoked.valid;
      revoked.valid = changes_ % 2 == 0;
      for (uint32_t n = 0; n < kRegions; ++n) renew(i, n);
      closing_[i] = was && !revoked.valid;
      if (closing_[i]) continue;  // shut_regions() follows
      station(i).memory().clear_regions();
      declare_regions(i);
    }
    ++changes_;
    publish_regions();
  }

  void renew(size_t i, uint32_t n) {
    MrConfig& mr = region_[i][n];
    mr.variant = static_cast<uint8_t>(mr.variant + 1);
    station(i).setup_mr(mr);
  }

  /// Regions that the peer invalidated come back with another key.
  void restore_regions() {
    if (invalidated_.empty()) return;
    for (const auto& [i, key] : invalidated_) {
      const uint32_t n = key >> 8;
      if (n < kRegions && region_[i][n].key() == key) renew(i, n);
    }
    invalidated_.clear();
    publish_regions();
  }

  void publish_regions() {
    std::vector<MrConfig> usable, forbidden;
    for (const MrConfig& mr : region_[0]) (mr.valid ? usable : forbidden).push_back(mr);
    for (size_t n = 0; n < kPairs; ++n) forbidden.push_back(pairs_[n]->window(0));
    frames_.set_regions(std::move(usable), std::move(forbidden));
  }

  /// Once packets that were let in earlier have been written.
  void shut_regions() {
    for (size_t i = 0; i < 2; ++i) {
      if (!closing_[i]) continue;
      closing_[i] = false;
      Memory& m = station(i).memory();
      const MrConfig& mr = region_[i][kRevoked];
      m.write(mr.base, m.read(mr.base, mr.length));
      m.clear_regions();
      declare_regions(i);
    }
  }

  uint64_t receive_at(size_t v, uint64_t slot) const { return kQpBase + v * kQpBytes + slot * kSlotBytes + 7; }
  static uint32_t receive_length(size_t v, uint64_t slot) {
    return kReceiveLengths[(v * 3 + slot) % std::size(kReceiveLengths)];
  }
  static uint32_t shared_length(uint64_t slot) { return kReceiveLengths[(slot + 2) % std::size(kReceiveLengths)]; }

  void choose_mtu(Victim& v) {
    v.pmtu = static_cast<uint8_t>(rng_.chance(0.7) ? rng_.between(1, 3) : rng_.between(1, 5));
    while (mtu_bytes(v.pmtu) > info_.max_mtu) --v.pmtu;
  }

  /// A new life of a QP on both sides, with other attributes.
  void set_up(Victim& v) {
    QpConfig c[2];
    const bool shared = has_shared_ && rng_.chance(0.3);
    v.receives = rng_.chance(0.85);
    const bool silent = rng_.chance(0.25);  // the peer answers nothing: only forged frames do
    v.posts[0] = rng_.chance(0.8);
    v.posts[1] = !silent && rng_.chance(0.5);
    v.held_until = 0;
    const auto reads = static_cast<uint8_t>(std::min(info_.rd_depth, 8u));
    for (size_t i = 0; i < 2; ++i) {
      QpConfig& q = c[i];
      q.qpn = v.qpn[i];
      q.pmtu = v.pmtu;
      q.pd = kPd;
      q.access = rng_.chance(0.85) ? kAccWrite | kAccRead | kAccAtomic : static_cast<uint8_t>(rng_.below(8));
      q.pkey = static_cast<uint16_t>(v.qpn[0] % 3 == 0 ? 0xFFFF : 0x8000 + v.qpn[0]);
      q.sq_psn = static_cast<uint32_t>(rng_.chance(0.4) ? 0xFFFFFF - rng_.below(40) : rng_.below(1u << 24));
      q.sport = static_cast<uint16_t>(0xC000 + v.qpn[0]);
      q.timeout = static_cast<uint8_t>(rng_.between(1, 3));
      q.retry_cnt = static_cast<uint8_t>(rng_.between(0, 2));
      q.rnr_retry = static_cast<uint8_t>(rng_.between(0, 2));
      q.min_rnr_timer = static_cast<uint8_t>(rng_.between(1, 3));
      q.max_rd = rng_.chance(0.9) ? static_cast<uint8_t>(rng_.between(1, reads)) : 0;
      q.max_dest_rd = rng_.chance(0.95) ? static_cast<uint8_t>(rng_.between(1, reads)) : 0;
      q.rq_on = v.receives || rng_.chance(0.5);
      q.srq = shared && i == 0 && q.rq_on;
      q.sq_log2 = 2;
      q.rq_log2 = 2;
    }
    if (rng_.chance(0.05)) c[0].state = rng_.chance(0.5) ? QpState::Rtr : QpState::Init;
    if (c[0].state != QpState::Rts) v.posts[0] = false;
    if (silent) c[1].state = QpState::Init;
    for (size_t i = 0; i < 2; ++i) {
      c[i].dqpn = c[1 - i].qpn;
      c[i].rq_psn = c[1 - i].sq_psn;
      c[i].dip = kAddress[1 - i].ip;
      c[i].dmac = kAddress[1 - i].mac;
      if (lives_ != 0 && rng_.chance(0.3)) station(i).set_qp_state(c[i].qpn, QpState::Reset);
      station(i).setup_qp(c[i]);
      ledger_[i].open(c[i], bench_->now());
    }
    v.target.start(c[0]);
  }

  /// Keeps a live QP supplied: receive entries, and requests that wait.
  void feed(Victim& v) {
    const auto index = static_cast<size_t>(&v - victims_.data());
    for (size_t i = 0; i < 2; ++i) {
      const QpConfig& q = i == 0 ? v.target.qp : station(1).qps().at(v.qpn[1]);
      if (ledger_[i].dead(q.qpn)) continue;
      if (v.receives && q.rq_on && !q.srq && ledger_[i].receives(q.qpn) == 0) {
        for (uint64_t k = 0; k < kReceives; ++k) {
          Rqe r;
          r.qpn = q.qpn;
          r.wr_id = id(i, 2);
          r.addr = receive_at(index, k);
          r.length = receive_length(index, k);
          ledger_[i].post(r);
          station(i).post_recv(r);
        }
      }
      if (q.srq && ledger_[i].shared(0) == 0) feed_shared(i);
      if (v.posts[i] && ledger_[i].sends(q.qpn) == 0) post(i, index, q);
    }
  }

  void feed_shared(size_t i) {
    for (uint64_t k = 0; k < kSharedReceives; ++k) {
      Rqe r;
      r.shared = true;
      r.wr_id = id(i, 3);
      r.addr = kSharedBase + k * kSlotBytes;
      r.length = shared_length(k);
      ledger_[i].post(r);
      station(i).post_recv(r);
    }
  }

  /// A few requests, the last one signaled.
  void post(size_t i, size_t index, const QpConfig& q) {
    const uint64_t n = rng_.between(1, kReceives);
    const MrConfig* const there = region_[1 - i].data();
    for (uint64_t k = 0; k < n; ++k) {
      Wqe w;
      w.qpn = q.qpn;
      static constexpr uint8_t kOps[] = {kWrWrite, kWrWriteImm, kWrSend,     kWrSendImm, kWrRead,
                                         kWrRead,  kWrCmpSwap,  kWrFetchAdd, kWrSendInv};
      w.opcode = kOps[rng_.below(std::size(kOps) - (rng_.chance(0.9) ? 1 : 0))];
      if (wr_is_read(w.opcode) && q.max_rd == 0) w.opcode = kWrWrite;
      w.flags = k + 1 == n || rng_.chance(0.5) ? kWqeSignaled : uint8_t{0};
      if (rng_.chance(0.2)) w.flags |= kWqeFence;
      if (rng_.chance(0.2)) w.flags |= kWqeSolicited;
      w.wr_id = id(i, 1);
      w.length = static_cast<uint32_t>(rng_.below(rng_.chance(0.6) ? 300 : 4000));
      w.laddr = region_[i][kReadOnly].base + rng_.below(16'007 - w.length);
      const bool good = rng_.chance(0.97);
      const MrConfig& mr = there[w.opcode == kWrRead && rng_.chance(0.5) ? kReadOnly : kOpen];
      w.rkey = mr.key() ^ (good ? 0u : 1u);
      w.raddr = mr.base + rng_.below(mr.length - w.length);
      w.imm = w.opcode == kWrSendInv ? there[rng_.chance(0.5) ? kOpen : kRevoked].key()
                                     : static_cast<uint32_t>(rng_.next());
      w.swap_add = rng_.next();
      w.compare = rng_.next();
      if (wr_is_read(w.opcode)) w.laddr = kQpBase + index * kQpBytes + kReadArea + rng_.below(kReadBytes - 4000);
      if (wr_is_atomic(w.opcode)) {
        w.length = 8;
        w.raddr = (w.raddr + 7) & ~uint64_t{7};
      }
      ledger_[i].post(w, bench_->now());
      station(i).post(w);
    }
  }

  uint64_t id(size_t i, uint64_t what) { return (what * 16 + i) << 48 | ++ids_; }

  // ---- what happens -------------------------------------------------------------------------------------------------

  void watched(ByteView bytes, const Frame& f, bool from_peer) {
    if (f.dst_ip != kAddress[from_peer ? 0 : 1].ip) return;
    frames_.remember(bytes, !from_peer);
    const auto& map = from_peer ? by_qpn_ : by_peer_qpn_;
    const auto it = map.find(f.dqpn);
    FuzzTarget* t = it != map.end() ? &victims_[it->second].target : nullptr;
    for (uint32_t n = 0; n < kPairs && t == nullptr; ++n) {
      if (pairs_[n]->owns(from_peer ? 0 : 1, f.dqpn)) t = &untouched_[n];
    }
    if (t == nullptr) return;
    from_peer ? t->watch_peer(f) : t->watch_station(f);
  }

  /// Takes completions and events; false once something was wrong.
  bool collect() {
    for (size_t i = 0; i < 2 && wrong_.empty(); ++i) {
      Cqe c;
      while (wrong_.empty() && station(i).poll_cqe(c)) {
        const auto p = std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& x) { return x->owns(i, c.qpn); });
        if (p != pairs_.end()) {
          wrong_ = (*p)->take(i, c);
        } else if (ledger_[i].has(c.qpn)) {
          wrong_ = ledger_[i].take(c, bench_->now());
          if (c.receive() && (c.flags & kCqeWithInv) != 0) invalidated_.emplace_back(i, c.imm);
        } else {
          wrong_ = fmt::format("station {}: completion ({}) on QP {}, which is not in use", station(i).name(),
                               status_name(c.status), c.qpn);
        }
      }
      QpEvent e;
      while (wrong_.empty() && station(i).poll_event(e)) {
        wrong_ = ledger_[i].has(e.qpn) ? ledger_[i].take(e)
                                       : fmt::format("station {}: event {} on QP {}, which was not attacked",
                                                     station(i).name(), cause_name(e.cause), e.qpn);
      }
    }
    return wrong_.empty();
  }

  /// Runs until `done()`; false if something went wrong or it takes longer than `limit`.
  bool run_until(const std::function<bool()>& done, Ps limit) {
    const Ps end = bench_->now() + limit;
    bool reached = false;
    bench_->run_until([&] { return !collect() || (reached = done()); }, end);
    return wrong_.empty() && reached;
  }

  void run_for(uint64_t ns) {
    run_until([] { return false; }, ns * kNs);
  }

  /// Until everything acknowledged or let in so far has reached memory. How long that takes depends on the width of the
  /// bus and on what waits in front: no fixed time will do, the station must have left its memory alone for a while.
  void let_land() {
    Ps since = bench_->now();
    run_until(
        [&] {
          if (station(0).accessing_memory()) since = bench_->now();
          return bench_->now() >= since + kQuietNs * kNs;
        },
        patience_);
  }

  /// Memory of all checked connections; the first difference, or nothing.
  std::string compare() const {
    for (const auto& p : pairs_) {
      if (auto e = p->compare(); !e.empty()) return e;
    }
    return "";
  }

  /// True for a frame that an untouched connection would take as its own.
  bool passes_as_untouched(const FuzzFrame& f, const Parsed& p) const {
    if (f.bad || !p.ok() || !opcode_layout(p.frame.opcode).known || p.frame.dst_ip != kAddress[0].ip ||
        p.frame.src_ip != kAddress[1].ip)
      return false;
    const auto it = std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& x) { return x->owns(0, p.frame.dqpn); });
    if (it == pairs_.end()) return false;
    // A real frame that comes again does no harm, unless the QP has been set up anew since.
    if (f.kind == FuzzKind::Duplicate && it->get() != pairs_.back().get()) return false;
    return (p.frame.pkey & 0x7FFF) == 0x7FFF && p.frame.tver == 0 && p.frame.dst_mac == kAddress[0].mac;
  }

  void inject(const FuzzFrame& f) {
    const Parsed p = parse(f.bytes);
    if (passes_as_untouched(f, p)) {
      ++result_.withheld;
      return;
    }
    // An RNR NAK may keep a QP waiting for as long as its code says.
    if (p.ok() && p.frame.opcode == op::Ack && ack_kind(p.frame.syndrome) == AckKind::Rnr) {
      const auto it = by_qpn_.find(p.frame.dqpn);
      if (it != by_qpn_.end()) {
        Ps& until = victims_[it->second].held_until;
        until = std::max(until, bench_->now() + 2 * rnr_delay(p.frame.syndrome & 31));
      }
    }
    ++count_[static_cast<size_t>(f.kind)];
    if (dropped(result_.frames++)) return;
    result_.bytes += f.bytes.size();
    if (trail_.size() >= kTrail) trail_.pop_front();
    trail_.push_back({bench_->now(), f});
    bench_->inject(0, f.bytes, f.bad);
  }

  /// The frame of that number is left out of this run.
  bool dropped(uint64_t number) const {
    return std::any_of(o_.drop.begin(), o_.drop.end(),
                       [&](const FrameRange& r) { return number >= r.first && number < r.end; });
  }

  bool drained() {
    return run_until([&] { return !station(0).receiving(); }, patience_);
  }

  bool enough_live() const {
    size_t live = 0;
    for (const Victim& v : victims_) live += ledger_[0].dead(v.qpn[0]) ? 0 : 1;
    return live * 4 >= victims_.size() && live != 0;
  }

  /// A QP to attack: mostly one that lives.
  Victim& choose() {
    size_t n = rng_.below(victims_.size());
    for (int tries = 0; tries < 4 && ledger_[0].dead(victims_[n].qpn[0]) && rng_.chance(0.9); ++tries) {
      n = rng_.below(victims_.size());
    }
    return victims_[n];
  }

  /// Frames for QPs while everything else goes on: mostly back to back over all of them, else with gaps.
  std::string burst() {
    const uint64_t goal = std::min(o_.frames, result_.frames + o_.burst);
    const bool dense = rng_.chance(0.7);
    std::vector<FuzzFrame> frames;
    while (result_.frames < goal && wrong_.empty() && enough_live()) {
      Victim& v = choose();
      for (uint64_t n = rng_.between(1, 5); n > 0; --n) {
        if (!collect() || (ledger_[0].dead(v.qpn[0]) && rng_.chance(0.7))) break;
        frames.clear();
        frames_.make(v.target, frames);
        for (const FuzzFrame& f : frames) inject(f);
        if (!dense && rng_.chance(0.3)) run_for(rng_.below(600));
      }
      for (uint32_t n = 0; n < kPairs; ++n) {
        if (rng_.chance(0.3)) pairs_[n]->post();
      }
      if (dense && rng_.chance(0.8)) continue;
      if (!dense) run_for(rng_.below(300));
      if (wrong_.empty() && !drained()) return complaint("frames are not taken any more");
    }
    return drained() ? wrong_ : complaint("frames are not taken any more");
  }

  /// Looks after the QPs: those that died must have told and completed everything, and live again.
  std::string look_after() {
    if (!collect()) return wrong_;
    std::vector<Victim*> dead;
    for (Victim& v : victims_) {
      const bool died = ledger_[0].dead(v.qpn[0]) || ledger_[1].dead(v.qpn[1]);
      bool held = false;
      for (size_t i = 0; i < 2 && !died; ++i) {
        const Ps since = ledger_[i].waiting_since(v.qpn[i]);
        const Ps now = bench_->now();
        if (since == kNever || now < since + 300'000 * kNs) continue;
        if (i == 0 && v.held_until > since) {
          held = true;
        } else if (now > since + patience_) {
          return fmt::format("no progress for {} us: {}", (now - since) / (1000 * kNs), ledger_[i].owed(v.qpn[i]));
        }
      }
      if (held) ++result_.held;
      if (died) ++result_.recreated;
      // One that receives nothing never dies.
      const bool idle = v.target.qp.state == QpState::Init;
      if (died || held || rng_.chance(idle ? 0.3 : 0.01)) dead.push_back(&v);
    }
    if (auto e = bury(dead); !e.empty()) return e;
    restore_regions();
    if (!dead.empty() && rng_.chance(0.2)) {
      // Frames that the QPs sent before may still wait behind those of others: they hold to the MTU of their time.
      run_for(kQuietNs + static_cast<uint64_t>(static_cast<double>(kTxBytes) * 8 / o_.gbps));
      for (Victim* v : dead) choose_mtu(*v);
    }
    for (Victim* v : dead) set_up(*v);
    lives_ += dead.size();
    if (!bench_->settle_config()) return "set-up calls are not taken any more";
    if (!collect()) return wrong_;
    for (Victim& v : victims_) feed(v);
    return "";
  }

  using Ends = std::vector<std::pair<size_t, uint32_t>>;  // station, QPN

  std::string settle(const Ends& ends) {
    for (const auto& [i, qpn] : ends) {
      const Ledger& l = ledger_[i];
      if (!run_until([&l, q = qpn] { return l.settled(q); }, patience_)) return complaint(l.owed(qpn));
    }
    return "";
  }

  /// Waits until QPs that died by themselves have told so, moves all of them to Err, and waits for what they owe.
  std::string bury(const std::vector<Victim*>& ended) {
    Ends all, died;
    for (const Victim* v : ended) {
      for (size_t i = 0; i < 2; ++i) {
        all.emplace_back(i, v->qpn[i]);
        if (ledger_[i].dead(v->qpn[i])) died.emplace_back(i, v->qpn[i]);
      }
    }
    if (auto e = settle(died); !e.empty()) return e;
    // One that says it died must not carry anything any more.
    for (const auto& [i, qpn] : died) {
      Wqe w;
      w.qpn = qpn;
      w.opcode = kWrSend;
      w.wr_id = id(i, 4);
      ledger_[i].must_flush(qpn);
      ledger_[i].post(w, bench_->now());
      station(i).post(w);
    }
    if (auto e = settle(died); !e.empty()) return e;
    for (const auto& [i, qpn] : all) {
      ledger_[i].kill(qpn);
      station(i).set_qp_state(qpn, QpState::Err);
    }
    if (!bench_->settle_config()) return "state changes are not taken any more";
    if (auto e = settle(all); !e.empty()) return e;
    if (!all.empty()) run_for(kQuietNs);
    return wrong_;
  }

  std::string complaint(const std::string& text) const { return wrong_.empty() ? text : wrong_; }

  /// A connection that is set up now carries everything, and the untouched ones have lost nothing.
  std::string check() {
    ++result_.checks;
    for (size_t n = 0; n < kPairs; ++n) {
      if (!run_until([&] { return pairs_[n]->idle(); }, 4 * patience_)) return complaint(pairs_[n]->waits());
    }
    CheckedPair& fresh = *pairs_[kPairs];
    fresh.connect();
    if (!bench_->settle_config()) return "the set-up of a fresh connection is not taken";
    fresh.supply();
    for (uint32_t posted = 0; posted < 16;) {
      if (!run_until([&] { return fresh.post(); }, 4 * patience_)) return complaint(fresh.waits());
      ++posted;
    }
    if (!run_until([&] { return fresh.idle(); }, 4 * patience_)) return complaint(fresh.waits());
    // An ACK may be faster than the data on its way to memory, unless the station promises that it waits.
    if (info_.ack_after_write) {
      if (auto e = compare(); !e.empty()) return e;
    }
    if (const auto broken = bench_->violations(true); !broken.empty()) return broken.front();
    change_regions();
    if (!bench_->settle_config()) return "the set-up of regions is not taken";
    let_land();
    if (!wrong_.empty()) return wrong_;
    if (auto e = compare(); !e.empty()) return e;
    shut_regions();
    fresh.close();
    if (!run_until([&] { return fresh.closed(); }, patience_)) return complaint(fresh.waits());
    return "";
  }

  /// Everything ends: all QPs give back what was posted, and the shared ring is used up to its last entry.
  std::string finish() {
    std::vector<Victim*> all;
    for (Victim& v : victims_) all.push_back(&v);
    if (auto e = bury(all); !e.empty()) return e;
    if (ledger_[0].shared(0) != 0) {
      Victim& v = victims_.front();
      QpConfig c[2];
      for (size_t i = 0; i < 2; ++i) {
        c[i].qpn = v.qpn[i];
        c[i].dqpn = v.qpn[1 - i];
        c[i].dip = kAddress[1 - i].ip;
        c[i].dmac = kAddress[1 - i].mac;
        c[i].timeout = 10;
        c[i].rnr_retry = 2;
        c[i].pd = kPd;
        c[i].sq_log2 = 2;
        c[i].rq_log2 = 2;
        c[i].sport = static_cast<uint16_t>(0xC000 + v.qpn[0]);
      }
      c[0].rq_on = c[0].srq = true;
      for (size_t i = 0; i < 2; ++i) {
        station(i).setup_qp(c[i]);
        ledger_[i].open(c[i], bench_->now());
      }
      v.target.start(c[0]);
      if (!bench_->settle_config()) return "set-up calls are not taken any more";
      const size_t left = ledger_[0].shared(0);
      for (size_t k = 0; k < left; ++k) {
        Wqe w;
        w.qpn = v.qpn[1];
        w.opcode = kWrSend;
        w.wr_id = id(1, 1);
        ledger_[1].post(w, bench_->now());
        station(1).post(w);
      }
      if (!run_until([&] { return ledger_[0].shared(0) == 0 && ledger_[1].sends(v.qpn[1]) == 0; }, 4 * patience_) ||
          ledger_[1].dead(v.qpn[1])) {
        return complaint(
            fmt::format("{} of the {} entries left in the shared receive ring are lost", ledger_[0].shared(0), left));
      }
      if (auto e = bury({&v}); !e.empty()) return e;
    }
    for (size_t n = 0; n < kPairs; ++n) {
      pairs_[n]->close();
      if (!run_until([&] { return pairs_[n]->closed(); }, patience_)) return complaint(pairs_[n]->waits());
    }
    let_land();
    if (!wrong_.empty()) return wrong_;
    if (const auto broken = bench_->violations(true); !broken.empty()) return broken.front();
    return "";
  }

  std::string body() {
    if (auto e = setup(); !e.empty()) return e;
    uint64_t next_check = o_.check_every;
    uint64_t next_report = 0;
    while (result_.frames < o_.frames) {
      if (auto e = burst(); !e.empty()) return e;
      if (auto e = look_after(); !e.empty()) return e;
      if (const auto broken = bench_->violations(false); !broken.empty()) return broken.front();
      if (o_.progress && result_.frames >= next_report) {
        o_.progress(result_.frames, bench_->now());
        next_report = result_.frames + std::max<uint64_t>(1, o_.frames / 200);
      }
      if (result_.frames < next_check && result_.frames < o_.frames) continue;
      if (auto e = check(); !e.empty()) return e;
      next_check = result_.frames + o_.check_every;
    }
    return finish();
  }

  const FuzzOptions& o_;
  Rng rng_;
  FuzzFrames frames_;
  std::array<Ledger, 2> ledger_;
  Ps patience_;
  std::unique_ptr<Bench> bench_;
  StationInfo info_;
  bool has_shared_ = false;
  std::vector<std::unique_ptr<CheckedPair>> pairs_;  // the last one is set up at every check
  std::array<FuzzTarget, kPairs> untouched_;
  std::vector<Victim> victims_;
  std::map<uint32_t, size_t> by_qpn_, by_peer_qpn_;
  std::array<std::array<MrConfig, kRegions>, 2> region_{};
  uint64_t changes_ = 0;
  std::array<bool, 2> closing_{};
  std::vector<std::pair<size_t, uint32_t>> invalidated_;  // station, key
  uint64_t lives_ = 0;
  uint64_t ids_ = 0;
  std::string wrong_;
  std::array<uint64_t, kFuzzKinds> count_{};
  std::deque<std::pair<Ps, FuzzFrame>> trail_;
  FuzzResult result_;
};

}  // namespace

FuzzResult run_fuzz(const std::function<std::unique_ptr<Station>(size_t)>& factory, const FuzzOptions& options) {
  return Fuzz(factory, options).run();
}

}  // namespace rocegen::sim
