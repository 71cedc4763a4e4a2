#include "sim/bench/perf.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace rocegen::sim {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr uint16_t kPd = 0x77;
constexpr uint64_t kSource = 0x0000'0002'0000'0000;
constexpr uint64_t kTarget = 0x0000'0003'0000'0000;
constexpr uint64_t kSpace = 16u << 20;
// Preamble and start 8, FCS 4, gap 12.
constexpr uint64_t kFrameExtra = 24;
constexpr uint64_t kMinFrame = 60;
// Ethernet, IPv4, UDP, BTH and ICRC.
constexpr uint64_t kHeaders = 14 + 20 + 8 + 12 + 4;

uint64_t on_wire(uint64_t extension, uint64_t payload) {
  return std::max(kHeaders + extension + (payload + 3) / 4 * 4, kMinFrame) + kFrameExtra;
}

constexpr uint8_t kOps[] = {kWrWrite, kWrRead, kWrSend};  // of the part rate

std::string_view op_name(uint8_t op) {
  switch (op) {
    case kWrWrite:
      return "write";
    case kWrSend:
      return "send";
    case kWrRead:
      return "read";
    default:
      return "fetch_add";
  }
}

struct Query {
  uint8_t op = kWrWrite;
  uint32_t payload = 64;
  uint32_t qps = 1;
  bool both = false;
  double loss = 0;
  uint64_t delay_ns = 0;  // 0: the options'
  uint32_t mtu = 0;       // 0: the options'
  double warm_us = 0;     // 0: by the message
  double time_us = 0;
};

struct Answer {
  double us = 0;
  uint64_t messages = 0;
  double mps = 0, limit_mps = 0;    // millions a second and direction
  double gbps = 0, limit_gbps = 0;  // payload
  double fraction = 0;
  double jain = 1;
  uint64_t cycles = 0;
  uint64_t sent = 0, lost = 0;  // frames that carry data, in the measured time
  std::map<std::string, uint64_t> counters;
};

/// Two NICs with connections, each kept full of work.
class Rig {
 public:
  Rig(const PerfFactory& factory, const PerfOptions& o, const Query& q)
      : o_(o), q_(q), mtu_(q.mtu != 0 ? q.mtu : o.mtu) {
    NicOptions n;
    n.rx_gap = n.tx_stall = n.wqe_gap = n.rqe_gap = n.rqe_by_register = n.cqe_stall = n.axil_gap = 0;
    n.axi = {o.memory_cycles, o.memory_cycles, o.memory_cycles, o.memory_cycles, 512, 0, 0, 0, 0, 0};
    n.gbps = o.gbps;
    n.mac_buffer_ns = 200;
    n.max_mtu = o.mtu;
    n.max_qp_slots_log2 = 20;
    LinkConfig link;
    link.delay_ns = q.delay_ns != 0 ? q.delay_ns : o.delay_ns;
    link.loss = q.loss;
    LinkConfig back = link;
    link.seed = o.seed * 2 + 11;
    back.seed = o.seed * 2 + 12;
    bench_ = std::make_unique<Bench>(factory(0, n), factory(1, n), link, back);
    setup();
  }

  Bench& bench() { return *bench_; }
  Nic& nic(size_t i) { return static_cast<Nic&>(bench_->station(i)); }
  uint32_t mtu() const { return mtu_; }

  /// Posts one message from station `from` on QP q.
  void post(size_t from, uint32_t q) {
    Wqe w;
    w.qpn = q;
    w.opcode = q_.op;
    w.wr_id = next_id_++;
    w.length = q_.op == kWrFetchAdd ? 8 : q_.payload;
    const uint64_t room = (std::max<uint64_t>(w.length, 64) + 63) / 64 * 64;
    const uint64_t offset = room * q % (kSpace - room + 64) / 64 * 64;
    w.laddr = kSource + offset;
    w.raddr = kTarget + offset;
    w.rkey = key_;
    w.swap_add = 1;
    bench_->station(from).post(w);
  }
  void post_recv(size_t at, uint32_t q) {
    Rqe r;
    r.qpn = q;
    r.wr_id = next_id_++;
    r.length = q_.payload;
    const uint64_t room = (std::max<uint64_t>(q_.payload, 64) + 63) / 64 * 64;
    r.addr = kTarget + room * q % (kSpace - room + 64) / 64 * 64;
    bench_->station(at).post_recv(r);
  }

  /// Keeps `depth` messages of every QP under way until the time is up or `enough` says so.
  void run(uint32_t depth, Ps until, const std::function<void(size_t, const Cqe&)>& done) {
    if (!filled_) {
      prepare();
      for (uint32_t d = 0; d < depth; ++d)
        for (size_t s = 0; s < (q_.both ? 2u : 1u); ++s)
          for (uint32_t q = 0; q < q_.qps; ++q) post(s, q);
      filled_ = true;
    }
    bench_->run_until(
        [&] {
          for (size_t s = 0; s < 2; ++s) {
            Cqe c;
            while (bench_->station(s).poll_cqe(c)) {
              if (c.status != WcStatus::Success)
                throw std::runtime_error(fmt::format("{} of {} bytes: QP {} of station {} completed with {}",
                                                     op_name(q_.op), q_.payload, c.qpn, "ab"[s],
                                                     status_name(c.status)));
              if (c.receive()) {
                post_recv(s, c.qpn);
                continue;
              }
              done(s, c);
              post(s, c.qpn);
            }
          }
          return false;
        },
        until);
    for (const std::string& v : bench_->violations(false)) throw std::runtime_error(v);
  }

  /// Receive rings are full before the first SEND, and every entry that completes is posted again.
  void prepare() {
    if (q_.op != kWrSend) return;
    const uint32_t slots = 1u << log2_of(o_.rqe_slots / q_.qps);
    for (uint32_t d = 0; d < slots; ++d)
      for (size_t s = q_.both ? 0 : 1; s < 2; ++s)
        for (uint32_t q = 0; q < q_.qps; ++q) post_recv(s, q);
    if (!bench_->settle_config()) throw std::runtime_error("the receive rings do not take their entries");
  }

 private:
  void setup() {
    const LocalAddress address[2] = {{0x02000000000A, 0x0A000001, 64, 0x02}, {0x02000000000B, 0x0A000002, 64, 0x02}};
    for (size_t i = 0; i < 2; ++i) bench_->station(i).configure(address[i]);
    if (!bench_->settle_config()) throw std::runtime_error("a NIC does not answer on its registers");
    for (size_t i = 0; i < 2; ++i) {
      Station& s = bench_->station(i);
      MrConfig mr;
      mr.index = 0;
      mr.variant = 0x5A;
      mr.pd = kPd;
      mr.access = kAccWrite | kAccRead | kAccAtomic;
      mr.base = kTarget;
      mr.length = kSpace;
      key_ = mr.key();
      s.setup_mr(mr);
      s.memory().add_region(kTarget, kSpace);
      s.memory().add_region(kSource, kSpace);
    }
    for (uint32_t q = 0; q < q_.qps; ++q) {
      for (size_t i = 0; i < 2; ++i) {
        QpConfig c;
        c.qpn = q;
        c.dqpn = q;
        c.pmtu = mtu_code(mtu_);
        c.pd = kPd;
        c.access = kAccWrite | kAccRead | kAccAtomic;
        c.sq_psn = 0xFFFF00;
        c.rq_psn = 0xFFFF00;
        c.timeout = timeout();
        c.min_rnr_timer = 1;
        c.max_rd = static_cast<uint8_t>(o_.read_depth);
        c.max_dest_rd = static_cast<uint8_t>(o_.read_depth);
        c.services = o_.services;
        c.rq_on = q_.op == kWrSend;
        c.sq_log2 = log2_of(o_.wqe_slots / q_.qps);
        c.rq_log2 = log2_of(o_.rqe_slots / q_.qps);
        c.dip = address[1 - i].ip;
        c.dmac = address[1 - i].mac;
        bench_->station(i).setup_qp(c);
      }
    }
    if (!bench_->settle_config()) throw std::runtime_error("a set-up does not end");
  }
  // The first code whose time is beyond what a full round of all QPs can take.
  uint8_t timeout() const {
    const double round_ns = 4.0 * static_cast<double>(q_.delay_ns != 0 ? q_.delay_ns : o_.delay_ns) +
                            8.0 * o_.memory_cycles * 1000 / o_.clock_mhz +
                            static_cast<double>(q_.loss > 0 ? 64 : 1024) * 4178 * 8 / o_.gbps;
    uint8_t code = 1;
    while (code < 20 && static_cast<double>(ack_timeout(code)) / kNs < round_ns) ++code;
    return code;
  }
  static uint8_t log2_of(uint32_t n) {
    uint8_t l = 0;
    while ((2u << l) <= n) ++l;
    return l;
  }

  const PerfOptions& o_;
  const Query q_;
  const uint32_t mtu_;
  std::unique_ptr<Bench> bench_;
  uint32_t key_ = 0;
  uint64_t next_id_ = 1;
  bool filled_ = false;
};

double us(Ps t) { return static_cast<double>(t) / (1000.0 * kNs); }

class Perf {
 public:
  Perf(const PerfFactory& factory, const PerfOptions& o, const std::function<void(const std::string&)>& progress)
      : factory_(factory), o_(o), progress_(progress) {}

  Json run() {
    const auto t0 = Clock::now();
    Json j;
    j["clock_mhz"] = o_.clock_mhz;
    j["gbps"] = o_.gbps;
    j["mtu"] = o_.mtu;
    j["qp_count"] = o_.qp_count;
    j["read_depth"] = o_.read_depth;
    j["memory_cycles"] = o_.memory_cycles;
    j["delay_ns"] = o_.delay_ns;
    j["recovery"] = o_.recovery;
    j["seed"] = o_.seed;
    if (wants("rate")) j["rate"] = rates();
    if (wants("latency")) j["latency"] = latency();
    if (wants("fairness")) j["fairness"] = fairness();
    if (wants("loss")) j["loss"] = losses();
    const double seconds = std::chrono::duration<double>(Clock::now() - t0).count();
    j["simulated_cycles"] = cycles_;
    j["simulated_cycles_per_second"] = std::floor(static_cast<double>(cycles_) / std::max(seconds, 1e-9));
    return j;
  }

 private:
  bool wants(const std::string& part) const {
    return o_.only.empty() || std::find(o_.only.begin(), o_.only.end(), part) != o_.only.end();
  }

  Answer measure(const Query& q) {
    Rig rig(factory_, o_, q);
    Answer a;
    const double limit = wire_limit(q.op, q.payload, rig.mtu(), o_.gbps, q.both, o_.trailer);
    a.limit_mps = limit / 1e6;
    a.limit_gbps = limit * q.payload * 8e-9;
    // Messages under way: what the longest round carries at the limit, twice, and what waits for collected
    // acknowledgements, as far as the rings go.
    const double round_us = 2e-3 * static_cast<double>(q.delay_ns != 0 ? q.delay_ns : o_.delay_ns) +
                            4.0 * o_.memory_cycles / o_.clock_mhz + 4;
    uint32_t depth = static_cast<uint32_t>(2 * a.limit_mps * round_us / q.qps) + 16;
    const uint32_t slots = q.op == kWrSend ? std::min(o_.wqe_slots, o_.rqe_slots) : o_.wqe_slots;
    depth = std::min(depth, std::max(1u, slots / q.qps));
    const double message_us = 1 / a.limit_mps;
    const double round_all_us = message_us * q.qps;
    const double warm = q.warm_us != 0 ? q.warm_us : 2 * round_us + std::min(2 * round_all_us, 60.0);
    const double time =
        q.time_us != 0 ? q.time_us : std::max(o_.quick ? 25.0 : 50.0, std::min(6 * round_all_us, 120.0));
    const uint64_t count0 = rig.nic(0).cycles();
    rig.bench().keep_log(false);
    rig.run(depth, rig.bench().now() + static_cast<Ps>(warm * 1000) * kNs, [](size_t, const Cqe&) {});
    rig.bench().keep_log(true);
    const Ps from = rig.bench().now();
    const Link& link = rig.bench().link(q.op == kWrRead ? 1 : 0);
    const uint64_t sent0 = link.sent();
    const uint64_t lost0 = link.lost();
    std::vector<uint64_t> per_qp(q.qps);
    Ps first = 0, last = 0;
    uint64_t completed = 0;
    rig.run(depth, from + static_cast<Ps>(time * 1000) * kNs, [&](size_t s, const Cqe& c) {
      if (s != 0) return;
      ++per_qp[c.qpn];
      if (completed == 0) first = c.time;
      last = c.time;
      ++completed;
    });
    const Ps end = rig.bench().now();
    a.sent = link.sent() - sent0;
    a.lost = link.lost() - lost0;
    a.messages = completed;
    for (size_t i = 0; i < 2; ++i) rig.nic(i).request_counters();
    rig.bench().settle_config();
    for (const char* name : {"sq_retransmits", "sq_skipped", "sq_timeouts", "rsp_nak_psn", "rsp_placed", "rx_no_buffer",
                             "rx_no_header_slot", "sq_naks_rnr"})
      for (size_t i = 0; i < 2; ++i) a.counters[name] += rig.nic(i).counter(name).value_or(0);
    if (q.loss > 0 || a.counters["sq_retransmits"] != 0) {
      // What completed, from the first completion to the last.
      a.us = us(last - first);
      if (a.us > 0) a.mps = static_cast<double>(completed - 1) / a.us;
      a.gbps = a.mps * 1e-3 * q.payload * 8;
    } else {
      // Nothing is sent twice: payload on the wire, which no collecting of acknowledgements blurs. Of two directions
      // the slower one.
      const size_t sender = q.op == kWrRead ? 1 : 0;
      a.gbps = goodput(rig, sender, q.op, from, end, a.us);
      if (q.both) a.gbps = std::min(a.gbps, goodput(rig, 1 - sender, q.op, from, end, a.us));
      a.mps = a.gbps / (q.payload * 8e-3);
    }
    a.fraction = a.limit_mps > 0 ? a.mps / a.limit_mps : 0;
    double sum = 0, squares = 0;
    for (const uint64_t n : per_qp) {
      sum += static_cast<double>(n);
      squares += static_cast<double>(n) * static_cast<double>(n);
    }
    if (squares > 0) a.jain = sum * sum / (q.qps * squares);
    a.cycles = rig.nic(0).cycles() - count0;
    cycles_ += 2 * rig.nic(0).cycles();
    return a;
  }

  /// Gb/s of payload that a station sent from `from` to `end`. A frame's time is that of its end, so the interval
  /// between two frames carries the later one: exact also for long messages. `interval`: us between the first and the
  /// last.
  double goodput(Rig& rig, size_t sender, uint8_t op, Ps from, Ps end, double& interval) const {
    uint64_t bytes = 0;
    Ps first = 0, last = 0;
    for (const SentFrame& f : rig.bench().sent(sender)) {
      uint64_t payload = 0;
      if (f.time < from || f.time > end || !data_payload(f.frame, op, payload)) continue;
      if (first == 0)
        first = f.time;
      else
        bytes += payload;
      last = f.time;
    }
    interval = us(last - first);
    return interval > 0 ? static_cast<double>(bytes) * 8e-3 / interval : 0;
  }

  /// Payload bytes of a frame that carries data of such a request; false for any other frame.
  bool data_payload(const Bytes& f, uint8_t op, uint64_t& out) const {
    if (f.size() < kHeaders) return false;
    const uint8_t opcode = f[42];
    uint64_t extension = 0;
    if (op == kWrRead) {
      if (opcode < 0x0D || opcode > 0x10) return false;
      extension = opcode == 0x0E ? 0 : 4;
    } else {
      if (opcode > 0x0B) return false;
      extension = opcode == 0x06 || opcode == 0x0A ? 16 : 0;
    }
    const uint64_t ip = static_cast<uint64_t>(f[16]) << 8 | f[17];
    out = ip - (20 + 8 + 12 + 4) - extension - (f[43] >> 4 & 3u) - o_.trailer;
    return true;
  }

  Json point(const Query& q) {
    const Answer a = measure(q);
    Json j;
    j["op"] = op_name(q.op);
    j["payload"] = q.payload;
    j["qps"] = q.qps;
    j["both"] = q.both;
    j["mps"] = a.mps;
    j["gbps"] = a.gbps;
    j["limit_mps"] = a.limit_mps;
    j["limit_gbps"] = a.limit_gbps;
    j["fraction"] = a.fraction;
    j["jain"] = a.jain;
    j["messages"] = a.messages;
    j["us"] = a.us;
    j["counters"] = a.counters;
    j["cycles"] = a.cycles;
    std::string notes;
    for (const auto& [name, count] : a.counters)
      if (count != 0) notes += fmt::format("  {} {}", name, count);
    const std::string jain = q.time_us != 0 && q.qps > 1 ? fmt::format("  Jain {:.4f}", a.jain) : "";
    progress_(fmt::format(
        "{:<10} {:>8} B  {:>5} QPs {:<5} {:>9.3f} M/s {:>8.3f} Gb/s  {:>6.2f} % of the wire limit{}{}", op_name(q.op),
        q.payload, q.qps, q.both ? "both" : "", a.mps, a.gbps, 100 * a.fraction, jain, notes));
    return j;
  }

  Json rates() {
    Json out = Json::array();
    if (!o_.points.empty()) {
      for (const PerfPoint& p : o_.points) {
        Query q;
        q.op = p.op;
        q.payload = p.payload;
        q.qps = std::min(p.qps, o_.qp_count);
        q.both = p.both;
        out.push_back(point(q));
      }
      return out;
    }
    std::vector<uint32_t> payloads = {1, 64, 256, 1024, 4096, 65536, 1u << 20};
    if (o_.quick) payloads = {64, 4096};
    std::vector<uint32_t> qps = {1};
    if (o_.qp_count >= 32 && !o_.quick) qps.push_back(32);
    if (o_.qp_count > 1) qps.push_back(o_.qp_count);
    for (const uint8_t op : kOps) {
      for (const uint32_t payload : payloads)
        for (const uint32_t n : qps) {
          Query q;
          q.op = op;
          q.payload = payload;
          q.qps = n;
          out.push_back(point(q));
        }
      Query q;
      q.op = op;
      q.payload = 4096;
      q.both = true;
      out.push_back(point(q));
    }
    return out;
  }

  Json latency() {
    Json out = Json::array();
    std::vector<uint32_t> payloads = {1, 64, 256, 1024, 4096};
    if (o_.quick) payloads = {64};
    for (const uint8_t op : {kWrWrite, kWrRead, kWrSend, kWrFetchAdd}) {
      for (const uint32_t payload : payloads) {
        if (op == kWrFetchAdd && payload != payloads.front()) continue;
        if (payload > o_.mtu) continue;
        Query q;
        q.op = op;
        q.payload = op == kWrFetchAdd ? 8 : payload;
        Rig rig(factory_, o_, q);
        rig.bench().keep_log(false);
        rig.prepare();
        rig.bench().run_for(2000);
        Nic& a = rig.nic(0);
        Nic& b = rig.nic(1);
        a.clear_probe();
        b.clear_probe();
        rig.post(0, 0);
        Cqe c;
        bool done = false;
        rig.bench().run_until([&] { return done = done || rig.bench().station(0).poll_cqe(c); },
                              rig.bench().now() + Ps{200'000} * kNs);
        if (!done || c.status != WcStatus::Success)
          throw std::runtime_error(fmt::format("{} of {} bytes does not complete", op_name(op), q.payload));
        rig.bench().run_for(2000);
        cycles_ += 2 * a.cycles();
        const NicProbe& pa = a.probe();
        const NicProbe& pb = b.probe();
        const double period = 1000.0 / o_.clock_mhz * static_cast<double>(kNs);
        const auto cycles = [&](Ps from, Ps to) {
          return from == 0 || to == 0 ? Json() : Json(std::llround(static_cast<double>(to - from) / period));
        };
        Json j;
        j["op"] = op_name(op);
        j["payload"] = q.payload;
        j["wqe_to_read"] = cycles(pa.wqe, pa.ar_first);
        j["wqe_to_first_beat_out"] = cycles(pa.wqe, pa.tx_first);
        j["last_beat_in_to_first_write"] = cycles(pb.rx_first_end, pb.aw_first);
        j["last_beat_in_to_last_write_beat"] = cycles(pb.rx_first_end, pb.w_last);
        j["last_beat_in_to_answer_out"] = cycles(pb.rx_first_end, pb.tx_first);
        j["answer_in_to_cqe"] = cycles(pa.rx_last_end, pa.cqe_last);
        j["wqe_to_cqe"] = cycles(pa.wqe, pa.cqe_last);
        if (op == kWrWrite || op == kWrSend) {
          // From the WQE at A to the last write beat at B, without the memory's latency at A and the time on the cable.
          const Ps total = pb.w_last - pa.wqe;
          const Ps memory = pa.r_first - pa.ar_first;
          const Ps cable = pb.rx_first - pa.tx_last;
          j["one_way_own"] = cycles(1, 1 + total - memory - cable);
        }
        progress_(
            fmt::format("latency {} {} B: {} cycles from WQE to CQE", op_name(op), q.payload, j["wqe_to_cqe"].dump()));
        out.push_back(std::move(j));
      }
    }
    return out;
  }

  Json fairness() {
    Json out = Json::array();
    // Long enough that a message more or less does not matter: some 40 of each QP, or as many as 3 ms hold.
    for (const uint32_t payload : {64u, 4096u}) {
      for (const uint8_t op : kOps) {
        if (o_.quick && (payload != 64 || op == kWrSend)) continue;
        Query q;
        q.op = op;
        q.payload = payload;
        q.qps = o_.qp_count;
        q.time_us =
            std::min(3000.0, 40.0 * q.qps / (wire_limit(q.op, payload, o_.mtu, o_.gbps, false, o_.trailer) * 1e-6));
        out.push_back(point(q));
      }
    }
    return out;
  }

  Json losses() {
    Json out = Json::array();
    std::vector<PerfLoss> points = o_.losses;
    if (points.empty()) {
      std::vector<double> loss = {0, 1e-4, 1e-3, 0.01, 0.05};
      // Queue pairs, bytes, round trip in us.
      std::vector<PerfLoss> loads = {
          {0, 4096, 16, 10}, {0, 1 << 16, 16, 10}, {0, 1 << 18, 1, 10}, {0, 1 << 18, 1, 100}};
      if (o_.quick) {
        loss = {0, 0.01};
        loads = {{0, 4096, 16, 10}, {0, 1 << 18, 1, 10}};
      }
      for (const PerfLoss& load : loads)
        for (const double p : loss) points.push_back({p, load.payload, load.qps, load.round_us});
    }
    for (const PerfLoss& load : points) {
      const double p = load.loss;
      Query q;
      q.payload = load.payload;
      q.qps = std::min(load.qps, o_.qp_count);
      q.loss = p;
      // The cable, and what the NICs and memories take.
      q.delay_ns = static_cast<uint64_t>(std::max(load.round_us * 500, 1'010.0)) - 1'000;
      q.warm_us = std::max(100.0, 3 * load.round_us);
      q.time_us = std::max(o_.quick ? 300.0 : 2000.0, 60 * load.round_us);
      const Answer a = measure(q);
      // The losses that really fell: of a few hundred the number scatters too much to be taken as the expected one.
      const double fell = a.sent != 0 ? static_cast<double>(a.lost) / static_cast<double>(a.sent) : 0;
      // Go back N in theory: the queue pair's next packet shows a loss, and a round later its NAK is here; what the
      // queue pair has sent from the lost packet on goes again. Selective: only the lost packet, except when it is a
      // message's first, of which the peer has to know before it places others. Neither is faster than the windows.
      const double packet_us =
          static_cast<double>(on_wire(0, std::min(q.payload, o_.mtu) + o_.trailer)) * 8e-3 / o_.gbps;
      const double window = o_.window_packets;
      const double again = std::min(1 + load.round_us / packet_us / q.qps, window);
      const double packets = std::max(1.0, static_cast<double>(q.payload) / o_.mtu);
      const double windows_gbps = q.qps * window * std::min(q.payload, o_.mtu) * 8e-3 / load.round_us;
      const auto theory = [&](double repeated) {
        return std::min(a.limit_gbps, windows_gbps) * (1 - fell) / (1 - fell + fell * repeated);
      };
      const double go_back_n = theory(again);
      const double selective = theory(1 + (again - 1) / packets);
      Json j;
      j["recovery"] = o_.recovery;
      j["loss"] = p;
      j["qps"] = q.qps;
      j["payload"] = q.payload;
      j["round_us"] = load.round_us;
      j["gbps"] = a.gbps;
      j["limit_gbps"] = a.limit_gbps;
      j["go_back_n_theory_gbps"] = go_back_n;
      j["selective_theory_gbps"] = selective;
      j["theory_gbps"] = o_.recovery == "selective" ? selective : go_back_n;
      j["messages"] = a.messages;
      j["sent"] = a.sent;
      j["lost"] = a.lost;
      for (const auto& [name, value] : a.counters) j[name] = value;
      progress_(
          fmt::format("loss {:<7} {:>3} QPs {:>7} B {:>3} us {:>8.3f} Gb/s; in theory go-back-N {:.3f}, selective "
                      "{:.3f}; {} of {} lost, "
                      "{} sent again, {} timeouts",
                      p, q.qps, q.payload, load.round_us, a.gbps, go_back_n, selective, a.lost, a.sent,
                      a.counters.at("sq_retransmits"), a.counters.at("sq_timeouts")));
      out.push_back(std::move(j));
    }
    return out;
  }

  const PerfFactory& factory_;
  const PerfOptions& o_;
  const std::function<void(const std::string&)>& progress_;
  uint64_t cycles_ = 0;
};

}  // namespace

namespace {

std::vector<std::string> split_at_colons(const std::string& text) {
  std::vector<std::string> part(1);
  for (const char c : text) {
    if (c == ':')
      part.emplace_back();
    else
      part.back() += c;
  }
  return part;
}

/// The whole text is one number.
template <class T>
bool read_number(const std::string& text, T& out) {
  const char* end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, out);
  return fault == std::errc() && stop == end;
}

bool read_size(const std::string& text, uint32_t& out) {
  return read_number(text, out) && out != 0 && out <= kSpace / 2;
}

}  // namespace

std::optional<PerfPoint> parse_perf_point(const std::string& text) {
  const std::vector<std::string> part = split_at_colons(text);
  if (part.size() < 3 || part.size() > 4 || (part.size() == 4 && part[3] != "both")) return std::nullopt;
  PerfPoint p;
  const auto op = std::find_if(std::begin(kOps), std::end(kOps), [&](uint8_t o) { return op_name(o) == part[0]; });
  if (op == std::end(kOps)) return std::nullopt;
  p.op = *op;
  if (!read_size(part[1], p.payload) || !read_size(part[2], p.qps)) return std::nullopt;
  p.both = part.size() == 4;
  return p;
}

std::optional<PerfLoss> parse_perf_loss(const std::string& text) {
  const std::vector<std::string> part = split_at_colons(text);
  if (part.size() != 4) return std::nullopt;
  PerfLoss p;
  if (!read_number(part[0], p.loss) || !(p.loss >= 0 && p.loss < 0.5)) return std::nullopt;
  if (!read_size(part[1], p.payload) || !read_size(part[2], p.qps)) return std::nullopt;
  if (!read_number(part[3], p.round_us) || !(p.round_us >= 3 && p.round_us <= 10'000)) return std::nullopt;
  return p;
}

WireBytes wire_bytes(uint8_t op, uint64_t payload, uint32_t mtu, uint32_t trailer) {
  WireBytes w;
  const uint64_t packets = std::max<uint64_t>(1, (payload + mtu - 1) / mtu);
  const auto each = [&](uint64_t first, uint64_t middle, uint64_t last) {
    const uint64_t rest = payload - (packets - 1) * mtu + trailer;
    if (packets == 1) return on_wire(first, rest);
    return on_wire(first, mtu + trailer) + (packets - 2) * on_wire(middle, mtu + trailer) + on_wire(last, rest);
  };
  if (op == kWrRead) {
    w.request = on_wire(16, 0);
    w.response = each(4, 0, 4);
  } else if (op == kWrCmpSwap || op == kWrFetchAdd) {
    w.request = on_wire(28, 0);
    w.response = on_wire(12, 0);
  } else {
    const uint64_t first = op == kWrWrite || op == kWrWriteImm ? 16 : 0;
    w.request = each(first, 0, 0);
  }
  return w;
}

double wire_limit(uint8_t op, uint64_t payload, uint32_t mtu, double gbps, bool both, uint32_t trailer) {
  const WireBytes w = wire_bytes(op, payload, mtu, trailer);
  const uint64_t busiest = both ? w.request + w.response : std::max(w.request, w.response);
  return gbps * 1e9 / 8 / static_cast<double>(busiest);
}

Json run_perf(const PerfFactory& factory, const PerfOptions& options,
              const std::function<void(const std::string&)>& progress) {
  return Perf(factory, options, progress).run();
}

}  // namespace rocegen::sim
