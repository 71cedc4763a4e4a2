// The station as the responder of a capture.
#include "sim/harness/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <deque>
#include <set>
#include <unordered_set>

#include "sim/harness/replay_capture.h"
#include "sim/model/endpoint.h"

namespace rocegen::sim {
namespace {

constexpr uint16_t kPd = 1;
constexpr uint64_t kReceiveBase = 0x7A00'0000'0000;  // where SENDs go

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
  uint64_t original;
  Bytes payload;
  auto operator<=>(const Answer&) const = default;
};

/// `loose`: of a READ answered again it is open whether the answer starts with FIRST or goes on with MIDDLE, and which
/// MSN it carries.
Answer answer_of(const Parsed& p, bool loose) {
  const Frame& f = p.frame;
  Answer a{f.opcode,   f.dqpn,   f.psn,     f.msn,     static_cast<uint8_t>((f.syndrome & 0x60) == 0 ? 0 : f.syndrome),
           f.pkey,     p.ip_len, p.udp_len, p.pad,     f.se,
           f.ackreq,   f.src_ip, f.dst_ip,  f.src_mac, f.dst_mac,
           f.original, f.payload};
  if (!loose || f.opcode == op::Ack) return a;
  a.msn = 0;
  if (f.opcode == op::AtomicAck) return a;
  a.ip_len = a.udp_len = 0;
  if (f.opcode == op::ReadRespFirst) a.opcode = op::ReadRespMiddle;
  if (f.opcode == op::ReadRespOnly) a.opcode = op::ReadRespLast;
  return a;
}

/// A SEND, or a WRITE with immediate, as its receiver sees it.
struct Receive {
  uint32_t last_psn = 0;
  uint32_t bytes = 0;
  Bytes data;  // of a SEND
  bool has_imm = false, has_inv = false;
  uint32_t imm = 0;
};

/// How far a QP is whose station keeps what comes behind a gap; all counted from its first PSN.
struct Ahead {
  std::set<uint32_t> arrived;
  uint32_t whole = 0;                ///< requests that have arrived without a gap
  uint32_t acked = 0;                ///< requests that the station has acknowledged
  uint32_t reference = 0;            ///< those of the reference endpoint
  std::map<uint32_t, uint32_t> msn;  ///< requests acknowledged by it -> MSN
};

/// Time for an answer, and for the walk over 128 packets that were kept, at the slowest clock.
constexpr uint64_t kAheadSettleNs = 4'000;

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
  using Qp = CapturedQp;

  std::string body() {
    if (auto e = c_.survey(capture_, o_.responder_ip); !e.empty()) return e;
    r_.lossy = c_.lossy();
    for (const Qp& q : c_.qps()) {
      if (!q.exists) {
        r_.notes.push_back(fmt::format("QP {:#x} drew no answer at all: taken as one that does not exist", q.qpn));
      }
    }
    bench_ = std::make_unique<Bench>(factory_(0), nullptr);
    if (o_.pcap != nullptr) o_.pcap->begin_run();
    bench_->capture(o_.pcap);
    if (auto e = setup(); !e.empty()) return e;
    if (auto e = feed(); !e.empty()) return e;
    if (host_wrote_ != 0) {
      r_.notes.push_back(fmt::format("{} bytes were changed by the capture's host between requests", host_wrote_));
    }
    if (auto e = compare_answers(); !e.empty()) return e;
    if (auto e = compare_memory(); !e.empty()) return e;
    if (auto e = compare_receives(); !e.empty()) return e;
    const auto broken = bench_->violations(true);
    return broken.empty() ? "" : broken.front();
  }

  std::string setup() {
    Station& s = bench_->station(0);
    const LocalAddress a{c_.responder_mac(), c_.responder(), 64, 0};
    s.configure(a);
    oracle_.set_address(a);
    if (!bench_->settle_config()) return "the station does not answer on its registers";
    // QPs: as in the capture, or the next free number of the station.
    std::set<uint32_t> taken;
    for (const Qp& q : c_.qps()) {
      if (q.usable() && q.qpn < s.info().qp_count) taken.insert(q.qpn);
    }
    for (Qp& q : c_.qps()) {
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
      if (q.mtu() > s.info().max_mtu)
        return lacks(fmt::format("path MTU {} is beyond the station's {}", q.mtu(), s.info().max_mtu));
      q.cfg.state = QpState::Rts;
      q.cfg.pd = kPd;
      q.cfg.access = kAccWrite | kAccRead | kAccAtomic;
      q.cfg.max_dest_rd = static_cast<uint8_t>(std::min(16u, s.info().rd_depth));
      q.cfg.rq_on = true;
      for (const size_t i : q.answers) {
        if (is_rnr(c_.parsed(i).frame)) q.cfg.min_rnr_timer = c_.parsed(i).frame.syndrome & 31;
      }
      s.setup_qp(q.cfg);
      oracle_.setup_qp(q.cfg);
      survey_messages(q);
    }
    if (auto e = regions(); !e.empty()) return e;
    return bench_->settle_config() ? "" : "the station does not take its set-up";
  }

  /// The station cannot take part.
  std::string lacks(std::string what) {
    r_.skipped = true;
    return what;
  }

  // Goes through a QP in the order of its PSNs: where each payload of a WRITE goes, what each receive must be, and what
  // the responses carried.
  void survey_messages(const Qp& q) {
    std::map<uint32_t, size_t> by_psn;  // distance from the first PSN -> frame
    for (const size_t i : q.requests) by_psn.emplace(psn_sub(c_.parsed(i).frame.psn, q.cfg.rq_psn), i);
    uint64_t va = 0;
    uint32_t bytes = 0;
    Bytes data;
    auto& receives = receives_[q.cfg.qpn];
    for (const auto& [distance, i] : by_psn) {
      const Frame& f = c_.parsed(i).frame;
      const OpcodeLayout& layout = opcode_layout(f.opcode);
      const bool send = f.opcode <= op::SendOnlyImm || layout.ieth;
      if (layout.reth) {
        va = f.va;
        bytes = f.dma_len;
      }
      if (f.opcode == op::SendFirst || (send && takes_rqe(f.opcode))) {
        data.clear();
        bytes = 0;
      }
      if (send) {
        data.insert(data.end(), f.payload.begin(), f.payload.end());
        bytes += static_cast<uint32_t>(f.payload.size());
        longest_ = std::max(longest_, bytes);
      } else if (layout.payload) {
        place_[i] = va;
        for (const size_t k : q.requests) {
          if (c_.parsed(k).frame.psn == f.psn) place_[k] = va;
        }
        va += f.payload.size();
      }
      const bool ends = f.opcode == op::SendLast || f.opcode == op::SendOnly || layout.imm || layout.ieth;
      if (ends) {
        receives.push_back(
            {f.psn, bytes, send ? data : Bytes{}, layout.imm, layout.ieth, layout.ieth ? f.inv_rkey : f.imm});
      }
    }
    for (const size_t i : q.answers) {
      const Frame& f = c_.parsed(i).frame;
      if (f.opcode == op::AtomicAck) original_[{q.qpn, f.psn}] = f.original;
      if (f.opcode >= op::ReadRespFirst && f.opcode <= op::ReadRespOnly) response_[{q.qpn, f.psn}] = i;
    }
  }

  std::string regions() {
    Station& s = bench_->station(0);
    std::vector<ReplayRegion> regions = o_.regions;
    const size_t given = regions.size();
    for (const Qp& q : c_.qps()) {
      if (!q.usable()) continue;
      for (const size_t i : q.requests) {
        const Frame& f = c_.parsed(i).frame;
        const OpcodeLayout& layout = opcode_layout(f.opcode);
        const uint32_t n = layout.atomic ? 8 : f.dma_len;
        if ((!layout.reth && !layout.atomic) || n == 0 || q.refused.contains(f.psn)) continue;
        auto it = std::find_if(regions.begin(), regions.end(), [&](const ReplayRegion& r) { return r.rkey == f.rkey; });
        if (it == regions.end()) {
          regions.push_back({f.rkey, f.va, n});
        } else if (static_cast<size_t>(it - regions.begin()) >= given) {
          const uint64_t end = std::max(it->base + it->length, f.va + n);
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
      mr.access = kAccWrite | kAccRead | kAccAtomic;
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
    const Parsed& p = c_.parsed(i);
    if (!p.ok()) return b;
    std::vector<std::pair<const FieldInfo*, uint64_t>> set;
    const Qp* q = c_.find(p.frame.dqpn);
    if (q == nullptr) return b;
    if (q->cfg.qpn != q->qpn) set.emplace_back(find_field("dqpn"), q->cfg.qpn);
    const OpcodeLayout& layout = opcode_layout(p.frame.opcode);
    if (layout.reth || layout.atomic) {
      const auto k = key_.find(p.frame.rkey);
      if (k != key_.end() && k->second != p.frame.rkey) set.emplace_back(find_field("rkey"), k->second);
    }
    if (!set.empty()) rewrite(b, set);
    return b;
  }

  void fill(uint64_t at, ByteView data) {
    bench_->station(0).memory().write(at, data);
    oracle_memory_.write(at, data);
  }

  // Memory that a request reads and that no request of the capture has written holds what the answer shows; the same
  // noise for both if there is none.
  void prepare(const Qp& q, size_t i) {
    const Frame& f = c_.parsed(i).frame;
    const OpcodeLayout& layout = opcode_layout(f.opcode);
    const bool read = f.opcode == op::ReadRequest;
    if (const auto at = place_.find(i); at != place_.end()) {
      for (uint64_t k = 0; k < f.payload.size(); ++k) {
        known_.insert(at->second + k);
        written_.insert(at->second + k);
      }
    }
    if (!read && !layout.atomic) return;
    const uint32_t n = layout.atomic ? 8 : f.dma_len;
    const auto region =
        std::find_if(regions_.begin(), regions_.end(), [&](const ReplayRegion& r) { return r.rkey == f.rkey; });
    if (region == regions_.end() || f.va < region->base || f.va + n > region->base + region->length) return;
    for (uint32_t k = 0; k < n; ++k) {
      const bool known = !known_.insert(f.va + k).second;
      // What a WRITE brought must be read back; other memory the program beside the responder may have changed since.
      if (known && (q.lossy || written_.contains(f.va + k))) continue;
      uint8_t value = known ? oracle_memory_.read8(f.va + k) : 0x5A;
      if (layout.atomic) {
        const auto o = original_.find({q.qpn, f.psn});
        if (o != original_.end()) value = static_cast<uint8_t>(o->second >> (8 * k));
      } else {
        const auto a = response_.find({q.qpn, psn_add(f.psn, k / q.mtu())});
        if (a != response_.end()) {
          const Bytes& payload = c_.parsed(a->second).frame.payload;
          if (k % q.mtu() < payload.size()) value = payload[k % q.mtu()];
        }
      }
      if (known && value == oracle_memory_.read8(f.va + k)) continue;
      if (known) ++host_wrote_;
      fill(f.va + k, Bytes{value});
    }
    if (layout.atomic) atomics_.insert(f.va);
  }

  // A receive entry for the message that begins here, unless the capture shows that there was none.
  void post_receive(Qp& q, size_t i) {
    const Frame& f = c_.parsed(i).frame;
    if (!takes_rqe(f.opcode) || posted_.contains({q.qpn, f.psn})) return;
    const auto next = std::find_if(q.answers.begin(), q.answers.end(), [&](size_t k) { return k > i; });
    if (next != q.answers.end() && is_rnr(c_.parsed(*next).frame) && c_.parsed(*next).frame.psn == f.psn) return;
    posted_.insert({q.qpn, f.psn});
    Rqe r;
    r.qpn = q.cfg.qpn;
    r.wr_id = buffers_.size();
    r.addr = kReceiveBase + buffers_.size() * ((longest_ + 4096) / 4096 * 4096) + 3;
    r.length = longest_;
    if (q.refused.contains(f.psn)) r.length = f.payload.empty() ? 0 : static_cast<uint32_t>(f.payload.size() - 1);
    buffers_.push_back(r.addr);
    bench_->station(0).memory().add_region(r.addr, r.length);
    oracle_memory_.add_region(r.addr, r.length);
    bench_->station(0).post_recv(r);
    oracle_.post_recv(r);
    bench_->run_for(500);
    bench_->settle_config();
    bench_->run_for(200);
  }

  std::string feed() {
    for (size_t i = 0; i < capture_.frames.size(); ++i) {
      const Parsed& p = c_.parsed(i);
      if (p.frame.src_ip == c_.responder() || p.frame.src_mac == c_.responder_mac()) continue;
      Qp* const q = p.ok() ? c_.find(p.frame.dqpn) : nullptr;
      if (q != nullptr) {
        // Frames of its own requester role (answers to it) are left out.
        if (!opcode_layout(p.frame.opcode).request) continue;
        if (q->exists) {
          prepare(*q, i);
          post_receive(*q, i);
        }
      } else if (p.ok() && opcode_layout(p.frame.opcode).known) {
        continue;
      }
      const Bytes b = translated(i);
      bench_->inject(0, b);
      ++r_.requests;
      oracle_.receive(bench_->now(), b, false);
      if (keeps_ahead(q)) {
        if (auto e = answers_ahead(*q, i); !e.empty()) return e;
        continue;
      }
      Bytes answer;
      while (oracle_.transmit(bench_->now(), answer)) {
        const size_t n = owner_.size();
        const Parsed expected = parse(answer);
        owner_.push_back(q);
        if (!bench_->run_until([&] { return bench_->sent(0).size() > n; }, bench_->now() + 200'000 * kNs)) {
          return fmt::format("no answer to frame {} of the capture: {}", i + 1, describe(b));
        }
        const Bytes& got = bench_->sent(0)[n].frame;
        const bool loose = q != nullptr && q->lossy;
        if (answer_of(parse(got), loose) != answer_of(expected, loose)) {
          return fmt::format(
              "answer to frame {} of the capture differs from the reference endpoint's\n    sent     {}\n    expected "
              "{}",
              i + 1, describe(got), describe(answer));
        }
      }
    }
    bench_->run_for(20'000);
    if (bench_->sent(0).size() != owner_.size()) {
      return fmt::format("an answer that nothing asked for: {}", describe(bench_->sent(0)[owner_.size()].frame));
    }
    for (const auto& [qpn, p] : ahead_) {
      if (p.acked != p.reference) {
        return fmt::format("QP {:#x}: {} requests acknowledged at the end, the reference endpoint has {}", qpn, p.acked,
                           p.reference);
      }
    }
    return "";
  }

  /// Whether the station may be further than the reference endpoint, which knows go-back-N alone: it keeps what comes
  /// behind a gap.
  bool keeps_ahead(const Qp* q) const {
    return q != nullptr && q->lossy && q->exists && bench_->station(0).info().recovery == "selective";
  }

  /// Frame i has arrived at a station that keeps what comes behind a gap. Its ACKs must be at least as far as the
  /// reference endpoint's, no further than what has arrived without a gap, and count the same messages; a NAK asks for
  /// a packet between the two. All other answers must be the reference endpoint's.
  std::string answers_ahead(Qp& q, size_t i) {
    Ahead& p = ahead_[q.qpn];
    const Frame& f = c_.parsed(i).frame;
    for (uint32_t k = 0; k < c_.psns(q, f); ++k) p.arrived.insert(psn_sub(psn_add(f.psn, k), q.cfg.rq_psn));
    while (p.arrived.contains(p.whole)) ++p.whole;
    bench_->run_for(kAheadSettleNs);
    std::vector<Answer> must, is;
    Bytes answer;
    while (oracle_.transmit(bench_->now(), answer)) {
      const Parsed a = parse(answer);
      if (a.frame.opcode != op::Ack || is_rnr(a.frame) || is_fatal_nak(a.frame)) {
        must.push_back(answer_of(a, true));
      } else if (ack_kind(a.frame.syndrome) == AckKind::Ack) {
        const uint32_t done = psn_sub(a.frame.psn, q.cfg.rq_psn) + 1;
        p.reference = std::max(p.reference, done);
        p.msn[done] = a.frame.msn;
      }
    }
    for (; owner_.size() < bench_->sent(0).size(); owner_.push_back(&q)) {
      const Bytes& got = bench_->sent(0)[owner_.size()].frame;
      const auto wrong = [&](std::string_view why) {
        return fmt::format("answer to frame {} of the capture {}: {}", i + 1, why, describe(got));
      };
      const Parsed a = parse(got);
      if (a.frame.opcode != op::Ack || is_rnr(a.frame) || is_fatal_nak(a.frame)) {
        is.push_back(answer_of(a, true));
        continue;
      }
      const bool ack = ack_kind(a.frame.syndrome) == AckKind::Ack;
      const uint32_t done = psn_sub(a.frame.psn, q.cfg.rq_psn) + (ack ? 1 : 0);
      if (done > p.whole) return wrong("goes beyond what has arrived");
      if (!ack && done < p.reference) return wrong("asks for what is acknowledged");
      if (!ack) continue;
      if (done < p.acked) return wrong("takes an earlier one back");
      p.acked = done;
      if (const auto m = p.msn.find(done); m != p.msn.end() && m->second != a.frame.msn)
        return wrong("has another MSN");
    }
    if (is != must) return fmt::format("answers to frame {} of the capture differ from the reference's", i + 1);
    if (p.acked < p.reference) {
      return fmt::format("frame {} of the capture: {} requests acknowledged, by the reference endpoint {}", i + 1,
                         p.acked, p.reference);
    }
    return "";
  }

  /// Whether the capture's answer is Linux's NAK 0x63 for a SEND that is too long, and ours is what the standard asks
  /// for.
  bool known_difference(const Qp& q, const Answer& ours, Answer captured) {
    if (captured.opcode != op::Ack || captured.syndrome != kSynNakOp || !posted_.contains({q.qpn, captured.psn})) {
      return false;
    }
    captured.syndrome = kSynNakInvReq;
    if (ours != captured) return false;
    r_.notes.push_back(
        fmt::format("QP {:#x}: Linux answers a SEND that is too long with NAK 0x63, we with 0x61", q.qpn));
    return true;
  }

  std::string compare_answers() {
    for (const Qp& q : c_.qps()) {
      if (!q.usable()) continue;
      std::vector<size_t> ours;
      for (size_t k = 0; k < bench_->sent(0).size(); ++k) {
        if (owner_[k] == &q) ours.push_back(k);
      }
      const auto ours_at = [&](size_t k) { return answer_of(parse(bench_->sent(0)[ours[k]].frame), q.lossy); };
      if (!q.lossy) {
        for (size_t k = 0; k < std::max(ours.size(), q.answers.size()); ++k) {
          if (k >= ours.size())
            return fmt::format("QP {:#x}: frame {} of the capture is an answer that we did not give: {}", q.qpn,
                               q.answers[k] + 1, describe(capture_.frames[q.answers[k]].data));
          if (k >= q.answers.size()) {
            return fmt::format("QP {:#x}: we gave an answer that the capture does not show: {}", q.qpn,
                               describe(bench_->sent(0)[ours[k]].frame));
          }
          const Answer captured = answer_of(c_.parsed(q.answers[k]), false);
          if (ours_at(k) != captured && !known_difference(q, ours_at(k), captured)) {
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
        const Frame& f = c_.parsed(i).frame;
        // Go-back-N's course of ACKs and NAKs is not that of such a station; answers_ahead() has judged its own.
        if (keeps_ahead(&q) && f.opcode == op::Ack && !is_rnr(f) && !is_fatal_nak(f)) continue;
        if (!have.contains(answer_of(c_.parsed(i), true))) {
          return fmt::format("QP {:#x}: we never gave the answer in frame {} of the capture: {}", q.qpn, i + 1,
                             describe(capture_.frames[i].data));
        }
        ++r_.answers;
      }
    }
    return "";
  }

  /// Whether a station that keeps what comes behind a gap may hold `value` at `at`: a packet of a WRITE that nobody
  /// acknowledged carried it, so many path MTUs behind the message's first.
  bool kept_ahead(uint64_t at, uint8_t value) const {
    for (const Qp& q : c_.qps()) {
      if (!q.usable() || !keeps_ahead(&q)) continue;
      std::map<uint32_t, uint64_t> start;  // PSN of a FIRST, from the QP's first -> its address
      for (const size_t i : q.requests) {
        const Frame& f = c_.parsed(i).frame;
        const uint32_t psn = psn_sub(f.psn, q.cfg.rq_psn);
        if (opcode_layout(f.opcode).reth) start[psn] = f.va;
        const auto first = start.upper_bound(psn);
        if (f.payload.empty() || first == start.begin()) continue;
        const auto& [first_psn, va] = *std::prev(first);
        const uint64_t offset = at - va - uint64_t{psn - first_psn} * q.mtu();
        if (offset < f.payload.size() && f.payload[offset] == value) return true;
      }
    }
    return false;
  }

  // What the acknowledged WRITEs of the capture carried, put together here and compared byte for byte.
  std::string compare_memory() {
    Memory want;
    std::vector<std::pair<uint64_t, uint64_t>> parts;
    for (const Qp& q : c_.qps()) {
      if (!q.usable() || !q.any_ack) continue;
      std::map<uint32_t, size_t> by_psn;  // distance from the first PSN -> frame
      for (const size_t i : q.requests) by_psn.emplace(psn_sub(c_.parsed(i).frame.psn, q.cfg.rq_psn), i);
      bool refused = false;
      for (const auto& [distance, i] : by_psn) {
        const Frame& f = c_.parsed(i).frame;
        if (psn_lt(q.acked, f.psn)) break;
        if (opcode_layout(f.opcode).reth) refused = q.refused.contains(f.psn);
        const auto at = place_.find(i);
        if (refused || f.payload.empty() || at == place_.end()) continue;
        want.write(at->second, f.payload);
        parts.emplace_back(at->second, f.payload.size());
      }
    }
    for (const auto& [at, n] : parts) {
      const Bytes is = bench_->station(0).memory().read(at, n);
      const Bytes must = want.read(at, n);
      r_.bytes += n;
      if (is == must) continue;
      const auto k = static_cast<size_t>(std::mismatch(is.begin(), is.end(), must.begin()).first - is.begin());
      if (atomics_.contains((at + k) & ~uint64_t{7})) continue;
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
        if (is[k] != must && is[k] != ref && !kept_ahead(at, is[k]))
          return fmt::format("memory at {:#x} is {:#04x}, the reference endpoint has {:#04x}", at, is[k], ref);
      }
    }
    return "";
  }

  // Receives complete in the order of their QP, with what the acknowledged messages carried.
  std::string compare_receives() {
    std::map<uint32_t, std::vector<Cqe>> got;
    Cqe c;
    while (bench_->station(0).poll_cqe(c)) {
      if (!c.receive()) return fmt::format("a completion that nobody asked for: wr_id {} on QP {:#x}", c.wr_id, c.qpn);
      if (c.status == WcStatus::Success) got[c.qpn].push_back(c);
    }
    for (const Qp& q : c_.qps()) {
      if (!q.usable()) continue;
      size_t k = 0;
      const auto& list = got[q.cfg.qpn];
      for (const Receive& m : receives_[q.cfg.qpn]) {
        if (!q.any_ack || psn_lt(q.acked, m.last_psn) || q.refused.contains(m.last_psn)) break;
        if (k >= list.size()) {
          return fmt::format("QP {:#x}: {} receives completed, message {} was acknowledged in the capture", q.qpn,
                             list.size(), k + 1);
        }
        const Cqe& is = list[k];
        const uint16_t flags = static_cast<uint16_t>((m.has_imm ? kCqeWithImm : 0) | (m.has_inv ? kCqeWithInv : 0));
        if (is.bytes != m.bytes || (is.flags & (kCqeWithImm | kCqeWithInv)) != flags ||
            (flags != 0 && is.imm != m.imm)) {
          return fmt::format("QP {:#x}: receive {} has {} bytes, immediate {:#x}; the capture's {} and {:#x}", q.qpn,
                             k + 1, is.bytes, is.imm, m.bytes, m.imm);
        }
        if (bench_->station(0).memory().read(buffers_[is.wr_id], m.data.size()) != m.data) {
          return fmt::format("QP {:#x}: the data of receive {} is not the capture's", q.qpn, k + 1);
        }
        r_.bytes += m.data.size();
        ++k;
      }
    }
    return "";
  }

  const PcapFile& capture_;
  const ReplayOptions& o_;
  const std::function<std::unique_ptr<Station>(size_t)>& factory_;
  Captured c_;
  std::map<uint32_t, uint32_t> key_;
  std::vector<ReplayRegion> regions_;
  std::map<size_t, uint64_t> place_;                            // frame of a WRITE -> address of its payload
  std::map<uint32_t, std::vector<Receive>> receives_;           // by the station's QPN
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> original_;  // QPN, PSN -> original value
  std::map<std::pair<uint32_t, uint32_t>, size_t> response_;    // QPN, PSN -> frame
  std::unordered_set<uint64_t> known_;                          // bytes that are written or filled
  std::unordered_set<uint64_t> written_;                        // by a WRITE
  uint64_t host_wrote_ = 0;
  std::set<uint64_t> atomics_;
  std::set<std::pair<uint32_t, uint32_t>> posted_;  // QPN, PSN with a receive entry
  std::vector<uint64_t> buffers_;
  uint32_t longest_ = 64;
  Memory oracle_memory_;
  Endpoint oracle_;
  std::vector<const CapturedQp*> owner_;  // the QP that each of our answers belongs to
  std::map<uint32_t, Ahead> ahead_;       // by the capture's QPN
  std::unique_ptr<Bench> bench_;
  ReplayResult r_;
};

}  // namespace

ReplayResult run_replay(const PcapFile& capture, const std::function<std::unique_ptr<Station>(size_t)>& factory,
                        const ReplayOptions& options) {
  return Replay(capture, factory, options).run();
}

}  // namespace rocegen::sim
