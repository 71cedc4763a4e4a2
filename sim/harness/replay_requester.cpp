// The station as the requester of a capture.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "sim/harness/replay.h"
#include "sim/harness/replay_capture.h"

namespace rocegen::sim {
namespace {

constexpr uint64_t kLocalBase = 0x3C00'0000'0000;  // memory of the work requests
constexpr uint64_t kLocalStep = 1u << 22;
constexpr uint8_t kEndless = 7;

/// A message of the capture and the work request that makes it.
struct Message {
  Wqe wqe;
  size_t first_frame = 0;
  uint32_t first_psn = 0;
  uint32_t packets = 1;
  Bytes data;  // sent
  uint32_t last_psn() const { return psn_add(first_psn, packets - 1); }
};

struct Flow {
  CapturedQp* q = nullptr;
  uint32_t qpn = 0;           // of the station
  uint32_t captured_qpn = 0;  // of the capture's requester
  std::vector<Message> messages;
  size_t posted = 0;
};

class Replay {
 public:
  Replay(const PcapFile& capture, const std::function<std::unique_ptr<Station>(size_t)>& factory,
         const ReplayOptions& o)
      : capture_(capture), o_(o), factory_(factory) {}

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
  std::string lacks(std::string what) {
    r_.skipped = true;
    return what;
  }

  std::string body() {
    if (auto e = c_.survey(capture_, o_.responder_ip); !e.empty()) return e;
    r_.lossy = c_.lossy();
    for (CapturedQp& q : c_.qps()) {
      if (!q.usable()) continue;
      Flow f;
      f.q = &q;
      f.captured_qpn = q.cfg.dqpn;
      const std::string why = q.lossy ? "has loss" : messages(f);
      if (why.empty()) {
        flows_.push_back(std::move(f));
      } else {
        r_.notes.push_back(fmt::format("QP {:#x} left out: {}", q.qpn, why));
      }
    }
    if (flows_.empty()) return lacks("no QP of the capture can be asked for again");
    bench_ = std::make_unique<Bench>(factory_(0), nullptr);
    if (o_.pcap != nullptr) o_.pcap->begin_run();
    bench_->capture(o_.pcap);
    if (auto e = setup(); !e.empty()) return e;
    if (auto e = play(); !e.empty()) return e;
    if (auto e = compare_requests(); !e.empty()) return e;
    if (auto e = compare_completions(); !e.empty()) return e;
    const auto broken = bench_->violations(true);
    return broken.empty() ? "" : broken.front();
  }

  /// Puts the packets of a QP together to work requests; says what no requester would send.
  std::string messages(Flow& flow) {
    CapturedQp& q = *flow.q;
    bool inside = false;
    uint32_t next = q.cfg.rq_psn;
    for (const size_t i : q.requests) {
      const Frame& f = c_.parsed(i).frame;
      if (psn_lt(f.psn, next)) continue;  // sent again after an RNR NAK
      next = psn_add(f.psn, c_.psns(q, f));
      const OpcodeLayout& layout = opcode_layout(f.opcode);
      const bool starts = layout.reth || layout.atomic || f.opcode == op::SendFirst || f.opcode == op::SendOnly ||
                          f.opcode == op::SendOnlyImm || f.opcode == op::SendOnlyInv;
      const bool more = f.opcode == op::SendFirst || f.opcode == op::SendMiddle || f.opcode == op::WriteFirst ||
                        f.opcode == op::WriteMiddle;
      if (starts == inside) return fmt::format("frame {} is out of sequence", i + 1);
      if (more && f.payload.size() != q.mtu()) return fmt::format("frame {} is no full packet", i + 1);
      if (starts) {
        Message m;
        m.first_frame = i;
        m.first_psn = f.psn;
        m.packets = 0;
        m.wqe.raddr = f.va;
        m.wqe.rkey = f.rkey;
        m.wqe.swap_add = f.swap_add;
        m.wqe.compare = f.compare;
        m.wqe.length = f.dma_len;
        flow.messages.push_back(m);
      }
      Message& m = flow.messages.back();
      m.packets += c_.psns(q, f);
      m.data.insert(m.data.end(), f.payload.begin(), f.payload.end());
      inside = more;
      if (more) continue;
      const bool send = f.opcode <= op::SendOnlyImm || layout.ieth;
      if (f.opcode == op::ReadRequest) {
        m.wqe.opcode = kWrRead;
      } else if (layout.atomic) {
        m.wqe.opcode = f.opcode == op::CmpSwap ? kWrCmpSwap : kWrFetchAdd;
      } else if (send) {
        m.wqe.opcode = layout.imm ? kWrSendImm : layout.ieth ? kWrSendInv : kWrSend;
        m.wqe.length = static_cast<uint32_t>(m.data.size());
      } else {
        m.wqe.opcode = layout.imm ? kWrWriteImm : kWrWrite;
        if (m.wqe.length != m.data.size()) return fmt::format("frame {} has not the length of its message", i + 1);
      }
      m.wqe.imm = layout.ieth ? f.inv_rkey : f.imm;
      m.wqe.flags = static_cast<uint8_t>(kWqeSignaled | (f.se ? kWqeSolicited : 0));
      if (m.wqe.length > kLocalStep) return "a message is too long";
    }
    return inside ? "the capture ends within a message" : "";
  }

  std::string setup() {
    Station& s = bench_->station(0);
    s.configure({c_.requester_mac(), c_.requester(), 64, 0});
    if (!bench_->settle_config()) return "the station does not answer on its registers";
    if (flows_.size() > s.info().qp_count) {
      return lacks(fmt::format("the station has {} QPs, the capture uses more", s.info().qp_count));
    }
    std::set<uint32_t> taken;
    for (const Flow& f : flows_) {
      if (f.captured_qpn < s.info().qp_count) taken.insert(f.captured_qpn);
    }
    uint64_t number = 0;
    std::set<uint32_t> used;
    for (Flow& f : flows_) {
      f.qpn = f.captured_qpn;
      // A capture may show one QPN in several connections after each other.
      if (f.qpn >= s.info().qp_count || !used.insert(f.qpn).second) {
        for (f.qpn = 0; taken.contains(f.qpn);) ++f.qpn;
        taken.insert(f.qpn);
        r_.notes.push_back(
            fmt::format("QP {:#x} translated to {:#x}: the station has {}", f.captured_qpn, f.qpn, s.info().qp_count));
        used.insert(f.qpn);
      }
      if (f.q->mtu() > s.info().max_mtu)
        return lacks(fmt::format("path MTU {} is beyond the station's {}", f.q->mtu(), s.info().max_mtu));
      QpConfig c;
      c.qpn = f.qpn;
      c.pmtu = f.q->cfg.pmtu;
      c.pkey = f.q->cfg.pkey;
      c.sq_psn = f.q->cfg.rq_psn;
      c.dqpn = f.q->qpn;
      c.dip = c_.responder();
      c.dmac = c_.responder_mac();
      c.timeout = 0;
      c.max_rd = static_cast<uint8_t>(std::min(16u, s.info().rd_depth));
      c.rnr_retry = rnr_retries(f);
      s.setup_qp(c);
      for (Message& m : f.messages) {
        m.wqe.qpn = f.qpn;
        m.wqe.wr_id = number;
        m.wqe.laddr = kLocalBase + number * kLocalStep + 5;
        ++number;
        if (wr_is_read(m.wqe.opcode)) {
          s.memory().add_region(m.wqe.laddr, wr_is_atomic(m.wqe.opcode) ? 8 : m.wqe.length);
        } else {
          s.memory().write(m.wqe.laddr, m.data);
        }
      }
    }
    return bench_->settle_config() ? "" : "the station does not take its set-up";
  }

  /// As often as the capture's requester tried again before it gave up; endless if it did not give up.
  uint8_t rnr_retries(const Flow& f) const {
    const Frame& last = c_.parsed(f.q->answers.back()).frame;
    if (!is_rnr(last)) return kEndless;
    const auto n = std::count_if(f.q->answers.begin(), f.q->answers.end(),
                                 [&](size_t i) { return c_.parsed(i).frame.psn == last.psn; });
    return static_cast<uint8_t>(std::min<std::ptrdiff_t>(n - 1, kEndless));
  }

  // Work requests are posted, and answers arrive, in the order of the capture; an answer when the station has sent the
  // request that it answers.
  std::string play() {
    for (size_t i = 0; i < c_.frames(); ++i) {
      for (Flow& f : flows_) {
        if (f.posted < f.messages.size() && f.messages[f.posted].first_frame == i) {
          bench_->station(0).post(f.messages[f.posted++].wqe);
        }
        if (!std::binary_search(f.q->answers.begin(), f.q->answers.end(), i)) continue;
        const Frame& a = c_.parsed(i).frame;
        const uint64_t before =
            static_cast<uint64_t>(std::count_if(f.q->requests.begin(), f.q->requests.end(), [&](size_t k) {
              const Frame& r = c_.parsed(k).frame;
              return k < i && !psn_lt(a.psn, r.psn);
            }));
        if (!bench_->run_until([&] { return sent_upto(f, a.psn) >= before; }, bench_->now() + limit_ns() * kNs)) {
          return fmt::format("QP {:#x}: {} of {} requests were sent before the answer in frame {}: {}", f.q->qpn,
                             sent_upto(f, a.psn), before, i + 1, describe(capture_.frames[i].data));
        }
        Bytes b = capture_.frames[i].data;
        if (f.qpn != f.captured_qpn) rewrite(b, {{find_field("dqpn"), f.qpn}});
        bench_->inject(0, b);
        ++r_.answers;
      }
    }
    bench_->run_for(50'000);
    return "";
  }

  /// Requests of a QP up to a PSN that the station has sent.
  uint64_t sent_upto(const Flow& f, uint32_t psn) {
    for (; looked_ < bench_->sent(0).size(); ++looked_) {
      const Parsed p = parse(bench_->sent(0)[looked_].frame);
      sent_[p.frame.dqpn].push_back(p);
    }
    const auto& list = sent_[f.q->qpn];
    return static_cast<uint64_t>(
        std::count_if(list.begin(), list.end(), [&](const Parsed& p) { return !psn_lt(psn, p.frame.psn); }));
  }

  std::string compare_requests() {
    for (const Flow& f : flows_) {
      sent_upto(f, 0);
      const auto& ours = sent_[f.q->qpn];
      for (size_t k = 0; k < std::max(ours.size(), f.q->requests.size()); ++k) {
        if (k >= ours.size()) {
          return fmt::format("QP {:#x}: we did not send frame {} of the capture: {}", f.q->qpn, f.q->requests[k] + 1,
                             describe(capture_.frames[f.q->requests[k]].data));
        }
        if (k >= f.q->requests.size()) {
          return fmt::format("QP {:#x}: we sent what the capture does not show: {} psn {:#x}", f.q->qpn,
                             opcode_name(ours[k].frame.opcode), ours[k].frame.psn);
        }
        const Parsed& must = c_.parsed(f.q->requests[k]);
        if (const std::string field = different(ours[k], must); !field.empty()) {
          return fmt::format("QP {:#x}: {} of request {} is not that of frame {} of the capture: {}", f.q->qpn, field,
                             k + 1, f.q->requests[k] + 1, describe(capture_.frames[f.q->requests[k]].data));
        }
        ++r_.requests;
        r_.bytes += must.frame.payload.size();
      }
    }
    return "";
  }

  /// The first field that the standard fixes of a request and in which two differ; empty if there is none.
  static std::string different(const Parsed& a, const Parsed& b) {
    for (const char* const name : {"opcode", "dqpn",    "psn",      "se",      "pad",     "pkey",      "va",
                                   "rkey",   "dma_len", "swap_add", "compare", "imm",     "inv_rkey",  "ip.src",
                                   "ip.dst", "eth.src", "eth.dst",  "ip.len",  "udp.len", "udp.dport", "tver"}) {
      const FieldInfo* const field = find_field(name);
      if (field->get(a) != field->get(b)) return name;
    }
    return a.frame.payload == b.frame.payload ? "" : "payload";
  }

  /// How the capture's answers end a message; nothing if they do not.
  std::optional<WcStatus> outcome(const Flow& f, const Message& m) const {
    const uint32_t last = m.last_psn();
    for (size_t k = 0; k < f.q->answers.size(); ++k) {
      const Frame& a = c_.parsed(f.q->answers[k]).frame;
      const bool mine = psn_sub(a.psn, m.first_psn) < m.packets;
      if (is_fatal_nak(a)) {
        if (mine) {
          return a.syndrome == kSynNakInvReq   ? WcStatus::RemInvReqErr
                 : a.syndrome == kSynNakAccess ? WcStatus::RemAccessErr
                                               : WcStatus::RemOpErr;
        }
        if (psn_lt(a.psn, m.first_psn)) return WcStatus::FlushErr;
      }
      if (is_rnr(a) && mine && k + 1 == f.q->answers.size()) return WcStatus::RnrRetryExcErr;
      const bool refuses = a.opcode == op::Ack && (a.syndrome & 0xE0) != 0;
      const uint32_t upto = refuses ? psn_sub(a.psn, 1) : a.psn;
      if (!psn_lt(upto, last)) return WcStatus::Success;
    }
    return std::nullopt;
  }

  /// How long a frame may take to come. The longest wait that an RNR NAK asks for is 0.66 s, which takes too long to
  /// simulate cycle by cycle: no capture of ours has more than 10 ms.
  uint64_t limit_ns() const { return bench_->station(0).info().kind == "dut" ? 20'000'000 : 2'000'000'000; }

  std::string compare_completions() {
    std::map<uint32_t, std::deque<Cqe>> got;
    Cqe c;
    while (bench_->station(0).poll_cqe(c)) got[c.qpn].push_back(c);
    for (const Flow& f : flows_) {
      auto& list = got[f.qpn];
      for (const Message& m : f.messages) {
        const auto must = outcome(f, m);
        if (!must) continue;
        if (list.empty()) return fmt::format("QP {:#x}: no completion of request {}", f.q->qpn, m.wqe.wr_id);
        const Cqe is = list.front();
        list.pop_front();
        const uint32_t bytes = wr_is_atomic(m.wqe.opcode) ? 8 : m.wqe.length;
        if (is.wr_id != m.wqe.wr_id || is.status != *must || is.opcode != wc_opcode(m.wqe.opcode) ||
            (*must == WcStatus::Success && is.bytes != bytes)) {
          return fmt::format("QP {:#x}: request {} completed as {} {} opcode {} with {} bytes instead of {} with {}",
                             f.q->qpn, m.wqe.wr_id, is.wr_id, status_name(is.status), is.opcode, is.bytes,
                             status_name(*must), bytes);
        }
        if (*must != WcStatus::Success || !wr_is_read(m.wqe.opcode)) continue;
        const Bytes want = returned(f, m);
        if (bench_->station(0).memory().read(m.wqe.laddr, want.size()) != want) {
          return fmt::format("QP {:#x}: what request {} brought is not what the capture shows", f.q->qpn, m.wqe.wr_id);
        }
        r_.bytes += want.size();
      }
      if (!list.empty()) {
        return fmt::format("QP {:#x}: a completion too many: {} {}", f.q->qpn, list.front().wr_id,
                           status_name(list.front().status));
      }
    }
    return "";
  }

  /// Data that the capture's responses carry for a READ or atomic.
  Bytes returned(const Flow& f, const Message& m) const {
    Bytes b(wr_is_atomic(m.wqe.opcode) ? 8 : m.wqe.length);
    for (const size_t i : f.q->answers) {
      const Frame& a = c_.parsed(i).frame;
      const uint32_t index = psn_sub(a.psn, m.first_psn);
      if (index >= m.packets || a.opcode == op::Ack) continue;
      if (a.opcode == op::AtomicAck) {
        for (unsigned k = 0; k < 8; ++k) b[k] = static_cast<uint8_t>(a.original >> (8 * k));
      } else {
        std::copy(a.payload.begin(), a.payload.end(), b.begin() + static_cast<std::ptrdiff_t>(index * f.q->mtu()));
      }
    }
    return b;
  }

  const PcapFile& capture_;
  const ReplayOptions& o_;
  const std::function<std::unique_ptr<Station>(size_t)>& factory_;
  Captured c_;
  std::vector<Flow> flows_;
  std::map<uint32_t, std::vector<Parsed>> sent_;  // by destination QPN
  size_t looked_ = 0;
  std::unique_ptr<Bench> bench_;
  ReplayResult r_;
};

}  // namespace

ReplayResult run_replay_requester(const PcapFile& capture,
                                  const std::function<std::unique_ptr<Station>(size_t)>& factory,
                                  const ReplayOptions& options) {
  return Replay(capture, factory, options).run();
}

}  // namespace rocegen::sim
