// The interpreter of scenarios.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>

#include "sim/model/rng.h"
#include "sim/scenario/expr.h"
#include "sim/scenario/scenario.h"

namespace rocegen::sim {

Bytes pattern_bytes(uint64_t seed, uint64_t offset, size_t n) {
  Bytes out(n);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t at = offset + i;
    out[i] = static_cast<uint8_t>(mix64(seed * 0x9E3779B97F4A7C15u + (at >> 3)) >> (8 * (at & 7)));
  }
  return out;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kDefaultWithinNs = 400'000;
constexpr size_t kTrail = 12;
constexpr uint64_t kMaxFill = 64u << 20;  // a larger region is not filled unless told

/// A difference between what the scenario says and what happened; ends the run.
struct Difference {
  std::string where;
  std::string message;
};
/// The stations are too small for the scenario.
struct Unsuitable {
  std::string message;
};

struct Constant {
  std::string_view name;
  uint64_t value;
};

constexpr Constant kConstants[] = {
    {"true", 1},
    {"false", 0},
    {"ACK_NO_LIMIT", kSynAckNoLimit},
    {"NAK_PSN", kSynNakPsn},
    {"NAK_INV_REQ", kSynNakInvReq},
    {"NAK_ACCESS", kSynNakAccess},
    {"NAK_OP", kSynNakOp},
    {"success", 0},
    {"loc_len_err", 1},
    {"loc_qp_op_err", 2},
    {"loc_prot_err", 4},
    {"flush_err", 5},
    {"rem_inv_req_err", 9},
    {"rem_access_err", 10},
    {"rem_op_err", 11},
    {"retry_exc_err", 12},
    {"nak_inv_req", 1},
    {"nak_access", 2},
    {"read_err", 3},
    {"write_err", 4},
    {"retry_exc", 5},
    {"peer_nak", 6},
    {"bad_wqe", 7},
    {"reset", 0},
    {"init", 1},
    {"rtr", 2},
    {"rts", 3},
    {"sqd", 4},
    {"err", 5},
};

struct Region {
  size_t on = 0;
  uint64_t base = 0;
  uint64_t length = 0;
  uint32_t key = 0;
  uint64_t number = 0;
};

struct Connection {
  QpConfig side[2];
};

struct Posted {
  uint64_t id;
  bool signaled;
};

class Runner {
 public:
  Runner(const Scenario& s, const StationFactory& factory, const ScenarioOptions& options)
      : scenario_(s), options_(options) {
    LinkConfig link;
    link.seed = options.seed * 1000;
    LinkConfig back = link;
    ++back.seed;
    bench_ = std::make_unique<Bench>(factory(0), s.stations == 2 ? factory(1) : nullptr, link, back);
    if (options.pcap != nullptr) options.pcap->begin_run();
    bench_->capture(options.pcap);
    address_[0] = {0x02000000000A, 0x0A000001, 64, 0};
    address_[1] = {0x02000000000B, 0x0A000002, 64, 0};
    lookup_ = [this](std::string_view n) { return name(n); };
  }

  ScenarioResult run() {
    ScenarioResult r;
    try {
      start();
      r.ok = true;
    } catch (const Difference& d) {
      r.where = d.where;
      r.message = d.message;
      for (const auto& [v, value] : loop_) r.message += fmt::format(" ({} = {})", v, value);
      r.trail = trail();
    } catch (const Json::exception& e) {
      r.where = broken_at_;
      r.message = fmt::format("a value is of the wrong type: {}", e.what());
    } catch (const Unsuitable& u) {
      r.skipped = true;
      r.message = u.message;
    }
    r.time = bench_->now();
    for (size_t i = 0; i < bench_->size(); ++i) {
      r.cycles += bench_->station(i).cycles();
      r.frames += bench_->sent_count(i);
    }
    return r;
  }

 private:
  // ---- values -------------------------------------------------------------------------------------------------------

  [[noreturn]] void fail(const std::string& message) const { throw Difference{where(), message}; }

  std::string where() const {
    std::string s;
    for (const auto& p : path_) s += "/" + p;
    return s.empty() ? "/" : s;
  }

  /// Enters a key or index for the JSON place of messages.
  class In {
   public:
    In(Runner& r, std::string key) : r_(r) { r_.path_.push_back(std::move(key)); }
    In(Runner& r, size_t index) : In(r, fmt::format("{}", index)) {}
    // An exception of the JSON library knows no place: the innermost one is kept for it.
    ~In() {
      if (std::uncaught_exceptions() > exceptions_ && r_.broken_at_.empty()) r_.broken_at_ = r_.where();
      r_.path_.pop_back();
    }
    In(const In&) = delete;
    In& operator=(const In&) = delete;

   private:
    Runner& r_;
    int exceptions_ = std::uncaught_exceptions();
  };

  std::optional<uint64_t> name(std::string_view n) {
    for (auto it = loop_.rbegin(); it != loop_.rend(); ++it) {
      if (it->first == n) return it->second;
    }
    if (const auto it = vars_.find(n); it != vars_.end()) return it->second;
    for (const Constant& c : kConstants) {
      if (c.name == n) return c.value;
    }
    if (const auto opcode = opcode_from_name(n)) return *opcode;
    if (n == "bus") {
      size_t widest = 0;
      for (size_t i = 0; i < bench_->size(); ++i) widest = std::max(widest, bench_->station(i).info().data_bytes);
      return widest;
    }
    if (n == "max_mtu") {
      uint32_t least = 4096;
      for (size_t i = 0; i < bench_->size(); ++i) least = std::min(least, bench_->station(i).info().max_mtu);
      return least;
    }
    const size_t dot = n.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view head = n.substr(0, dot);
    const std::string_view rest = n.substr(dot + 1);
    if (head == "a" || head == "b") {
      const size_t i = head == "b";
      if (rest == "mac") return address_[i].mac;
      if (rest == "ip") return address_[i].ip;
      if (rest.starts_with("last.") && i < bench_->size() && !bench_->sent(i).empty()) {
        const FieldInfo* field = find_field(rest.substr(5));
        if (field == nullptr || field->get == nullptr) return std::nullopt;
        return field->get(parse(bench_->sent(i).back().frame));
      }
      const size_t second = rest.find('.');
      const std::string region(rest.substr(0, second));
      const auto it = regions_.find(std::make_pair(i, region));
      if (it == regions_.end()) return std::nullopt;
      last_region_ = &it->second;
      if (second == std::string_view::npos) return it->second.base;
      const std::string_view what = rest.substr(second + 1);
      if (what == "key") return it->second.key;
      if (what == "length") return it->second.length;
      return std::nullopt;
    }
    const auto it = connections_.find(std::string(head));
    if (it == connections_.end()) return std::nullopt;
    if (rest == "mtu") return mtu_bytes(it->second.side[0].pmtu);
    const size_t second = rest.find('.');
    if (second == std::string_view::npos) return std::nullopt;
    const std::string_view station = rest.substr(0, second);
    const std::string_view what = rest.substr(second + 1);
    if (station != "a" && station != "b") return std::nullopt;
    const QpConfig& q = it->second.side[station == "b"];
    if (what == "qpn") return q.qpn;
    if (what == "psn") return q.sq_psn;
    if (what == "sport") return q.sport;
    if (what == "mtu") return mtu_bytes(q.pmtu);
    return std::nullopt;
  }

  uint64_t value(const Json& j) {
    if (j.is_boolean()) return j.get<bool>() ? 1 : 0;
    if (j.is_number_unsigned()) return j.get<uint64_t>();
    if (j.is_number_integer()) return static_cast<uint64_t>(j.get<int64_t>());
    if (!j.is_string()) fail(fmt::format("'{}' is neither a number nor an expression", j.dump()));
    std::string error;
    const auto v = evaluate(j.get<std::string>(), lookup_, error);
    if (!v) fail(fmt::format("'{}': {}", j.get<std::string>(), error));
    return *v;
  }

  uint64_t value(const Json& j, const char* key, uint64_t otherwise) {
    if (!j.contains(key)) return otherwise;
    const In in(*this, key);
    return value(j[key]);
  }

  uint64_t need(const Json& j, const char* key) {
    const In in(*this, key);
    return value(j[key]);
  }

  double number(const Json& j, const char* key, double otherwise) {
    if (!j.contains(key)) return otherwise;
    const In in(*this, key);
    if (j[key].is_number()) return j[key].get<double>();
    return static_cast<double>(value(j[key]));
  }

  std::string text(const Json& j, const char* key, const std::string& otherwise) {
    if (!j.contains(key)) return otherwise;
    const In in(*this, key);
    if (!j[key].is_string()) fail("must be a string");
    return j[key].get<std::string>();
  }

  Bytes hex(const Json& j, const char* key) {
    const In in(*this, key);
    if (!j[key].is_string()) fail("must be a string of hex digits");
    const auto b = from_hex(j[key].get<std::string>());
    if (!b) fail("is no even number of hex digits");
    return *b;
  }

  size_t station_named(const std::string& s, bool real = true) {
    if (s != "a" && s != "b") fail(fmt::format("'{}' is no station, a or b", s));
    const size_t i = s == "b";
    if (real && i >= bench_->size()) fail("this scenario has no station b");
    return i;
  }

  size_t station(const Json& j, const char* key, bool real = true) {
    const In in(*this, key);
    if (!j[key].is_string()) fail("must be \"a\" or \"b\"");
    return station_named(j[key].get<std::string>(), real);
  }

  /// Station whose memory an address means: "on", or the prefix of the expression.
  size_t memory_of(const Json& j, const char* key) {
    if (j.contains("on")) return station(j, "on");
    return memory_of_expression(j, key);
  }

  size_t memory_of_expression(const Json& j, const char* key) {
    const In in(*this, key);
    if (j[key].is_string()) {
      const std::string s = j[key].get<std::string>();
      if (s.starts_with("a.")) return station_named("a");
      if (s.starts_with("b.")) return station_named("b");
    }
    fail("says no station: add \"on\", or start with \"a.\" or \"b.\"");
  }

  Memory& memory(size_t i) { return bench_->station(i).memory(); }

  const QpConfig& qp(const Json& j, size_t side) {
    const In in(*this, "qp");
    if (!j.contains("qp")) {
      if (connections_.size() == 1) return connections_.begin()->second.side[side];
      fail("\"qp\" is missing");
    }
    return connection(j["qp"]).side[side];
  }

  const Connection& connection(const Json& j) {
    if (!j.is_string()) fail("must be the name of a connection");
    const auto it = connections_.find(j.get<std::string>());
    if (it == connections_.end()) fail(fmt::format("no connection is named '{}'", j.get<std::string>()));
    return it->second;
  }

  /// Data as an object gives it: hex; or seed, byte or at (memory) with a length.
  Bytes data(const Json& j, uint64_t otherwise = 0) {
    if (j.contains("hex")) return hex(j, "hex");
    const size_t n = value(j, "length", otherwise);
    if (j.contains("byte")) return Bytes(n, static_cast<uint8_t>(need(j, "byte")));
    if (j.contains("at")) return memory(memory_of(j, "at")).read(need(j, "at"), n);
    return pattern_bytes(value(j, "seed", 0), value(j, "offset", 0), n);
  }

  // ---- time
  // -----------------------------------------------------------------------------------------------------------

  Ps limit(const Json& j) { return bench_->now() + value(j, "within_ns", kDefaultWithinNs) * kNs; }

  void settle() {
    if (!bench_->settle_config()) fail("a station does not answer on its registers");
  }

  /// Takes what the stations reported and checks the order of completions.
  void collect() {
    for (size_t i = 0; i < bench_->size(); ++i) {
      Cqe c;
      while (bench_->station(i).poll_cqe(c)) {
        auto& open = posted_[i][c.qpn];
        while (!open.empty() && open.front().id != c.wr_id && !open.front().signaled) open.pop_front();
        if (open.empty() || open.front().id != c.wr_id) {
          fault_ = fmt::format(
              "station {}: completion of id {} on QP {} ({}), but {}", "ab"[i], c.wr_id, c.qpn, status_name(c.status),
              open.empty() ? "nothing is outstanding there" : fmt::format("id {} is next", open.front().id));
        } else {
          open.pop_front();
        }
        cqes_[i].push_back(c);
      }
      QpEvent e;
      while (bench_->station(i).poll_event(e)) events_[i].push_back(e);
    }
  }

  void check_fault() {
    if (!fault_.empty()) fail(fault_);
  }

  // ---- set-up
  // ---------------------------------------------------------------------------------------------------------

  void needs() {
    if (!scenario_.doc.contains("needs")) return;
    const Json& n = scenario_.doc["needs"];
    for (size_t i = 0; i < bench_->size(); ++i) {
      const StationInfo& info = bench_->station(i).info();
      const auto check = [&](const char* key, uint64_t have) {
        if (n.contains(key) && n[key].get<uint64_t>() > have) {
          throw Unsuitable{fmt::format("needs {} {}, station {} has {}", n[key].get<uint64_t>(), key, "ab"[i], have)};
        }
      };
      check("qps", info.qp_count);
      check("mrs", info.mr_count);
      check("mtu", info.max_mtu);
    }
  }

  void start() {
    for (size_t i = 0; i < bench_->size(); ++i) bench_->station(i).configure(address_[i]);
    settle();
    needs();
    const Json& d = scenario_.doc;
    if (d.contains("link")) {
      const In in(*this, "link");
      link(d["link"]);
    }
    if (d.contains("set")) set(d["set"]);
    if (d.contains("connect")) {
      const In in(*this, "connect");
      for (size_t i = 0; i < d["connect"].size(); ++i) {
        const In at(*this, i);
        connect(d["connect"][i]);
      }
    }
    if (d.contains("regions")) {
      const In in(*this, "regions");
      for (size_t i = 0; i < d["regions"].size(); ++i) {
        const In at(*this, i);
        region(d["regions"][i]);
      }
    }
    settle();
    {
      const In in(*this, "steps");
      steps(d["steps"]);
    }
    finish();
  }

  bool allowed(const char* what) const {
    const Json& d = scenario_.doc;
    if (!d.contains("allow")) return false;
    return std::find(d["allow"].begin(), d["allow"].end(), what) != d["allow"].end();
  }

  // What must hold at the end of every scenario.
  void finish() {
    bench_->run_for(3000);
    collect();
    check_fault();
    for (size_t i = 0; i < bench_->size(); ++i) {
      if (cqe_at_[i] != cqes_[i].size() && !allowed("completions")) {
        const Cqe& c = cqes_[i][cqe_at_[i]];
        fail(fmt::format("end of scenario: station {} gave a completion that no step expects: id {} on QP {}, {}",
                         "ab"[i], c.wr_id, c.qpn, status_name(c.status)));
      }
      if (event_at_[i] != events_[i].size() && !allowed("events")) {
        const QpEvent& e = events_[i][event_at_[i]];
        fail(fmt::format("end of scenario: station {} reported an event that no step expects: {} on QP {}", "ab"[i],
                         cause_name(e.cause), e.qpn));
      }
      if (allowed("unfinished")) continue;
      for (const auto& [qpn, open] : posted_[i]) {
        for (const Posted& p : open) {
          if (p.signaled)
            fail(fmt::format("end of scenario: station {}: id {} on QP {} has no completion", "ab"[i], p.id, qpn));
        }
      }
    }
    for (const auto& [from, index, place] : rules_) {
      const LinkRule& r = bench_->link(from).rule(index);
      if (r.hits < std::max<uint64_t>(1, r.count)) {
        throw Difference{place, fmt::format("rule hit {} frames instead of {}; {} frames matched", r.hits,
                                            std::max<uint64_t>(1, r.count), r.seen)};
      }
    }
    const auto broken = bench_->violations(true);
    if (!broken.empty()) {
      std::string all;
      for (const auto& v : broken) all += (all.empty() ? "" : "\n    ") + v;
      fail("end of scenario: " + all);
    }
  }

  void set(const Json& j) {
    for (const auto& [key, v] : j.items()) {
      const In in(*this, key);
      vars_[key] = value(v);
    }
  }

  void link(const Json& j) {
    for (size_t from = 0; from < 2; ++from) {
      if (j.contains("from") && station(j, "from", false) != from) continue;
      LinkConfig c = bench_->link(from).config();
      c.gbps = number(j, "gbps", c.gbps);
      c.delay_ns = value(j, "delay_ns", c.delay_ns);
      c.loss = number(j, "loss", c.loss);
      c.duplicate = number(j, "duplicate", c.duplicate);
      c.reorder = number(j, "reorder", c.reorder);
      c.reorder_ns = value(j, "reorder_ns", c.reorder_ns);
      c.corrupt = number(j, "corrupt", c.corrupt);
      c.seed = j.contains("seed") ? need(j, "seed") * 2 + from : c.seed;
      bench_->link(from).set_config(c);
    }
  }

  uint8_t access(const Json& j) {
    if (!j.is_array()) return static_cast<uint8_t>(value(j));
    uint8_t a = 0;
    for (const auto& e : j) {
      if (e == "write") {
        a |= kAccWrite;
      } else if (e == "read") {
        a |= kAccRead;
      } else if (e == "atomic") {
        a |= kAccAtomic;
      } else {
        fail(fmt::format("'{}' is no access right: write, read, atomic", e.dump()));
      }
    }
    return a;
  }

  void qp_fields(const Json& j, QpConfig& q) {
    if (j.contains("mtu")) {
      const In in(*this, "mtu");
      q.pmtu = mtu_code(value(j["mtu"]));
      if (q.pmtu == 0) fail("is no path MTU: 256, 512, 1024, 2048, 4096");
    }
    q.timeout = static_cast<uint8_t>(value(j, "timeout", q.timeout));
    q.retry_cnt = static_cast<uint8_t>(value(j, "retry_cnt", q.retry_cnt));
    q.rnr_retry = static_cast<uint8_t>(value(j, "rnr_retry", q.rnr_retry));
    q.min_rnr_timer = static_cast<uint8_t>(value(j, "min_rnr_timer", q.min_rnr_timer));
    q.pkey = static_cast<uint16_t>(value(j, "pkey", q.pkey));
    q.pd = static_cast<uint16_t>(value(j, "pd", q.pd));
    q.sport = static_cast<uint16_t>(value(j, "sport", q.sport));
    q.sq_log2 = static_cast<uint8_t>(value(j, "sq_log2", q.sq_log2));
    q.state = static_cast<QpState>(value(j, "state", static_cast<uint64_t>(q.state)));
    if (j.contains("access")) {
      const In in(*this, "access");
      q.access = access(j["access"]);
    }
  }

  void connect(const Json& j) {
    const std::string n = text(j, "name", "");
    const bool fresh = !connections_.contains(n);
    const uint64_t index = fresh ? connections_.size() : connection_index_[n];
    connection_index_[n] = index;
    Connection c;
    for (size_t i = 0; i < 2; ++i) {
      QpConfig& q = c.side[i];
      const uint32_t count = i < bench_->size() ? bench_->station(i).info().qp_count : 1u << 24;
      q.qpn = static_cast<uint32_t>((index + (i == 0 ? 2 : 9)) % count);
      q.sq_psn = static_cast<uint32_t>((i == 0 ? 0x100000 : 0x7A0000) + index * 0x1000) & 0xFFFFFF;
      q.sport = static_cast<uint16_t>(0xC000 + index * 16 + i);
      q.pd = 7;
      qp_fields(j, q);
      const char* const side = i == 0 ? "a" : "b";
      if (!j.contains(side)) continue;
      const In in(*this, side);
      qp_fields(j[side], q);
      q.qpn = static_cast<uint32_t>(value(j[side], "qpn", q.qpn));
      q.sq_psn = static_cast<uint32_t>(value(j[side], "psn", q.sq_psn));
    }
    for (size_t i = 0; i < 2; ++i) {
      QpConfig& q = c.side[i];
      const QpConfig& peer = c.side[1 - i];
      const char* const side = i == 0 ? "a" : "b";
      q.dqpn = peer.qpn;
      q.rq_psn = peer.sq_psn;
      q.dip = address_[1 - i].ip;
      q.dmac = address_[1 - i].mac;
      if (j.contains(side)) {
        const In in(*this, side);
        q.dqpn = static_cast<uint32_t>(value(j[side], "peer_qpn", q.dqpn));
        q.rq_psn = static_cast<uint32_t>(value(j[side], "rq_psn", q.rq_psn));
      }
      if (i >= bench_->size()) continue;
      const StationInfo& info = bench_->station(i).info();
      if (q.qpn >= info.qp_count)
        throw Unsuitable{fmt::format("needs QP {}, station {} has {}", q.qpn, side, info.qp_count)};
      if (mtu_bytes(q.pmtu) > info.max_mtu)
        throw Unsuitable{fmt::format("needs path MTU {}, station {} has {}", mtu_bytes(q.pmtu), side, info.max_mtu)};
      if (((q.sq_psn | q.rq_psn | q.dqpn) >> 24) != 0) fail("a PSN or QPN does not fit into 24 bits");
      bench_->station(i).setup_qp(q);
      posted_[i][q.qpn].clear();
    }
    connections_[n] = c;
    settle();
  }

  void region(const Json& j) {
    const std::string n = text(j, "name", "");
    const size_t i = station(j, "on");
    const auto key = std::make_pair(i, n);
    Region r;
    r.number = regions_.contains(key) ? regions_[key].number : ++region_count_;
    r.on = i;
    r.length = need(j, "length");
    r.base = value(j, "base", 0x10000000 + (r.number << 24));
    MrConfig mr;
    const bool is_mr = value(j, "mr", 1) != 0;
    mr.index = static_cast<uint32_t>(value(j, "index", r.number % std::max(1u, bench_->station(i).info().mr_count)));
    mr.variant = static_cast<uint8_t>(value(j, "variant", 0x11 * r.number));
    mr.pd = static_cast<uint16_t>(value(j, "pd", 7));
    mr.valid = value(j, "valid", 1) != 0;
    mr.base = r.base;
    mr.length = r.length;
    if (j.contains("access")) {
      const In in(*this, "access");
      mr.access = access(j["access"]);
    }
    if (is_mr) {
      const StationInfo& info = bench_->station(i).info();
      if (mr.index >= info.mr_count)
        throw Unsuitable{fmt::format("needs region {}, station {} has {}", mr.index, "ab"[i], info.mr_count)};
      r.key = mr.key();
      bench_->station(i).setup_mr(mr);
    }
    const bool writable = value(j, "writable", is_mr && mr.valid && (mr.access & kAccWrite) != 0) != 0;
    // Regions may be as large as the address space; only what is small gets contents and a snapshot.
    if (!j.contains("fill") || j["fill"] != false) {
      const In in(*this, "fill");
      Bytes b;
      if (!j.contains("fill") || j["fill"].is_boolean()) {
        if (r.length <= kMaxFill) b = pattern_bytes(r.number, 0, r.length);
      } else {
        b = data(j["fill"], std::min(r.length, kMaxFill));
      }
      memory(i).write(r.base, b);
      snapshot_[key] = std::move(b);
    }
    if (writable) memory(i).add_region(r.base, r.length);
    regions_[key] = r;
    settle();
  }

  // ---- steps
  // ------------------------------------------------------------------------------------------------------------

  void steps(const Json& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      const In in(*this, i);
      for (const auto& [kind, body] : list[i].items()) {
        if (kind == "note" || kind == "steps") continue;
        const In at(*this, kind);
        if (kind == "repeat") {
          repeat(body, list[i]["steps"]);
        } else {
          step(kind, body);
        }
        collect();
        check_fault();
      }
    }
  }

  void step(const std::string& kind, const Json& j) {
    if (kind == "connect") return connect(j);
    if (kind == "region") return region(j);
    if (kind == "state") {
      const size_t i = station(j, "on");
      bench_->station(i).set_qp_state(qp(j, i).qpn, static_cast<QpState>(need(j, "state")));
      return settle();
    }
    if (kind == "fill") {
      memory(memory_of(j, "at")).write(need(j, "at"), fill_data(j));
      return;
    }
    if (kind == "post") return post(j);
    if (kind == "inject") return inject(j);
    if (kind == "rule") return rule(j);
    if (kind == "link") return link(j);
    if (kind == "expect") return expect(j);
    if (kind == "ignore") {
      const size_t i = station(j, "from");
      frame_at_[i] = bench_->sent(i).size();
      return;
    }
    if (kind == "quiet") return quiet(j);
    if (kind == "complete") return complete(j);
    if (kind == "events") return events(j);
    if (kind == "memory") return compare(j);
    if (kind == "counters") return counters(j);
    if (kind == "wait") return bench_->run_for(need(j, "ns"));
    if (kind == "pause") return bench_->station(station(j, "on")).pause(bench_->now(), need(j, "state") != 0);
    if (kind == "axi_error") return axi_error(j);
    if (kind == "address") {
      const size_t i = station(j, "on");
      address_[i].ttl = static_cast<uint8_t>(value(j, "ttl", address_[i].ttl));
      address_[i].tos = static_cast<uint8_t>(value(j, "tos", address_[i].tos));
      bench_->station(i).configure(address_[i]);
      return settle();
    }
    if (kind == "set") return set(j);
    fail("unknown kind of step");
  }

  /// Like data(), but "at" is the target.
  Bytes fill_data(const Json& j) {
    if (j.contains("hex")) return hex(j, "hex");
    const size_t n = value(j, "length", 0);
    if (j.contains("byte")) return Bytes(n, static_cast<uint8_t>(need(j, "byte")));
    return pattern_bytes(value(j, "seed", 0), value(j, "offset", 0), n);
  }

  void repeat(const Json& j, const Json& body) {
    std::vector<uint64_t> values;
    if (j.contains("in")) {
      const In in(*this, "in");
      for (const auto& v : j["in"]) values.push_back(value(v));
    } else {
      const uint64_t from = need(j, "from");
      const uint64_t to = need(j, "to");
      const uint64_t by = value(j, "by", 1);
      if (by == 0) fail("\"by\" is 0");
      for (uint64_t v = from; v <= to; v += by) values.push_back(v);
    }
    const uint64_t max = value(j, "max", ~uint64_t{0});
    std::erase_if(values, [&](uint64_t v) { return v > max; });
    loop_.emplace_back(text(j, "var", ""), 0);
    path_.pop_back();
    path_.emplace_back("steps");
    for (const uint64_t v : values) {
      loop_.back().second = v;
      steps(body);
    }
    loop_.pop_back();
  }

  void post(const Json& j) {
    const size_t i = station(j, "on");
    Wqe w;
    w.qpn = qp(j, i).qpn;
    const std::string opcode = text(j, "op", "write");
    if (opcode == "write") {
      w.opcode = kWrWrite;
    } else {
      const In in(*this, "op");
      w.opcode = static_cast<uint8_t>(value(j["op"]));
    }
    const uint64_t length = need(j, "length");
    w.length = static_cast<uint32_t>(length);
    w.laddr = value(j, "local", 0);
    last_region_ = nullptr;
    w.raddr = value(j, "remote", 0);
    w.rkey = last_region_ != nullptr ? last_region_->key : 0;
    w.rkey = static_cast<uint32_t>(value(j, "rkey", w.rkey));
    w.lkey = static_cast<uint32_t>(value(j, "lkey", 0));
    const bool signaled = value(j, "signaled", 1) != 0;
    w.flags = static_cast<uint8_t>((signaled ? kWqeSignaled : 0) | value(j, "flags", 0));
    const uint64_t count = value(j, "count", 1);
    const uint64_t stride = value(j, "stride", 0);
    for (uint64_t k = 0; k < count; ++k) {
      w.wr_id = value(j, "id", next_id_) + (j.contains("id") ? k : 0);
      next_id_ = std::max(next_id_, w.wr_id) + 1;
      posted_[i][w.qpn].push_back({w.wr_id, signaled});
      bench_->station(i).post(w);
      w.laddr += stride;
      w.raddr += stride;
    }
  }

  Bytes frame(const Json& j, size_t to, const Json& step_body) {
    Frame f;
    BuildOptions opt;
    f.dst_mac = address_[to].mac;
    f.src_mac = address_[1 - to].mac;
    f.dst_ip = address_[to].ip;
    f.src_ip = address_[1 - to].ip;
    if (step_body.contains("qp") || connections_.size() == 1) {
      const QpConfig& sender = qp(step_body, 1 - to);
      f.dqpn = sender.dqpn;
      f.pkey = sender.pkey;
      f.sport = sender.sport;
    } else if (!j.contains("dqpn")) {
      fail("several connections exist: \"qp\" is missing");
    }
    last_region_ = nullptr;
    if (j.contains("payload")) {
      const In in(*this, "payload");
      f.payload = data(j["payload"]);
    }
    f.dma_len = static_cast<uint32_t>(f.payload.size());
    for (const auto& [key, v] : j.items()) {
      if (key == "payload") continue;
      const In in(*this, key);
      last_region_ = nullptr;
      const uint64_t x = value(v);
      if (key == "va" && last_region_ != nullptr && !j.contains("rkey")) f.rkey = last_region_->key;
      const FieldInfo* field = find_field(key);
      if (field->bits < 64 && (x >> field->bits) != 0)
        fail(fmt::format("{:#x} does not fit into {} bits", x, field->bits));
      field->set(f, opt, x);
    }
    return build(f, opt);
  }

  void inject(const Json& j) {
    const size_t to = station(j, "to");
    const bool bad = value(j, "bad", 0) != 0;
    const uint64_t gap = value(j, "gap_ns", 0);
    const auto put = [&](const Bytes& b) {
      bench_->inject(to, b, bad);
      if (gap != 0) bench_->run_for(gap);
    };
    if (j.contains("hex")) put(hex(j, "hex"));
    if (j.contains("frame")) {
      const In in(*this, "frame");
      put(frame(j["frame"], to, j));
    }
    if (!j.contains("frames")) return;
    const In in(*this, "frames");
    for (size_t k = 0; k < j["frames"].size(); ++k) {
      const In at(*this, k);
      put(frame(j["frames"][k], to, j));
    }
  }

  // ---- conditions on frames
  // ---------------------------------------------------------------------------------------------

  struct Condition {
    std::string key;
    FieldMatch match;
  };

  FieldMatch condition(const FieldInfo* field, const Json& v) {
    FieldMatch m;
    m.field = field;
    if (!v.is_object()) {
      m.values = {value(v)};
      return m;
    }
    if (v.contains("not")) {
      m.kind = FieldMatch::Kind::NotEqual;
      m.values = {value(v["not"])};
    } else if (v.contains("any") && v["any"].is_array()) {
      m.kind = FieldMatch::Kind::OneOf;
      for (const auto& e : v["any"]) m.values.push_back(value(e));
    } else if (v.contains("min") || v.contains("max")) {
      m.kind = FieldMatch::Kind::Range;
      m.values = {value(v, "min", 0), value(v, "max", ~uint64_t{0})};
    } else {
      fail("is no condition: a value, or an object with \"not\", \"any\", \"min\" or \"max\"");
    }
    return m;
  }

  std::vector<Condition> conditions(const Json& j) {
    std::vector<Condition> out;
    for (const auto& [key, v] : j.items()) {
      if (key == "payload" || key == "optional" || key == "count") continue;
      const In in(*this, key);
      out.push_back({key, condition(find_field(key), v)});
    }
    return out;
  }

  static std::string wanted(const FieldMatch& m) {
    const auto show = [&](uint64_t v) {
      if (m.field->name == "opcode") return opcode_name(static_cast<uint8_t>(v));
      if (m.field->name == "ip.src" || m.field->name == "ip.dst") return ip_text(static_cast<uint32_t>(v));
      if (m.field->name == "eth.src" || m.field->name == "eth.dst") return mac_text(v);
      return fmt::format("{:#x}", v);
    };
    switch (m.kind) {
      case FieldMatch::Kind::Equal:
        return show(m.values[0]);
      case FieldMatch::Kind::NotEqual:
        return "not " + show(m.values[0]);
      case FieldMatch::Kind::Range:
        return show(m.values[0]) + ".." + show(m.values[1]);
      case FieldMatch::Kind::OneOf: {
        std::string s;
        for (const uint64_t v : m.values) s += (s.empty() ? "one of " : ", ") + show(v);
        return s;
      }
    }
    return "?";
  }

  struct Mismatch {
    std::string key;
    std::string text;
  };

  /// The first field of `spec` that a frame does not meet.
  std::optional<Mismatch> mismatch(const Json& spec, ByteView bytes) {
    const Parsed p = parse(bytes);
    for (const Condition& c : conditions(spec)) {
      if (c.match(p)) continue;
      FieldMatch actual;
      actual.field = c.match.field;
      actual.values = {c.match.field->get(p)};
      return Mismatch{c.key, fmt::format("expected {}, is {}", wanted(c.match), wanted(actual))};
    }
    if (spec.contains("payload")) {
      const In in(*this, "payload");
      const Bytes want = data(spec["payload"]);
      const Bytes& is = p.frame.payload;
      const size_t n = std::min(want.size(), is.size());
      const auto at = static_cast<size_t>(
          std::mismatch(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(n), is.begin()).first - want.begin());
      if (at != n)
        return Mismatch{"payload", fmt::format("byte {}: expected {:#04x}, is {:#04x}", at, want[at], is[at])};
      if (want.size() != is.size())
        return Mismatch{"payload", fmt::format("expected {} bytes, are {}", want.size(), is.size())};
    }
    return std::nullopt;
  }

  static std::string brief(const Json& spec) {
    std::string s = spec.dump();
    if (s.size() > 160) s = s.substr(0, 157) + "...";
    return s;
  }

  bool wait_for_frame(size_t i, Ps until) {
    return bench_->run_until([&] { return bench_->sent(i).size() > frame_at_[i]; }, until);
  }

  void expect(const Json& j) {
    const size_t i = station(j, "from");
    const std::string others = text(j, "others", "fail");
    const std::string order = text(j, "order", "exact");
    if (others != "fail" && others != "ignore") fail("\"others\" must be \"fail\" or \"ignore\"");
    if (order != "exact" && order != "any") fail("\"order\" must be \"exact\" or \"any\"");
    const Ps until = limit(j);
    const In in(*this, "frames");
    // One entry for every frame expected.
    std::vector<size_t> want;
    for (size_t k = 0; k < j["frames"].size(); ++k) {
      const In at(*this, k);
      want.insert(want.end(), value(j["frames"][k], "count", 1), k);
    }
    const auto optional = [&](size_t k) { return value(j["frames"][k], "optional", 0) != 0; };
    size_t next = 0;
    while (next < want.size()) {
      const bool only_optional = std::all_of(want.begin() + static_cast<std::ptrdiff_t>(next), want.end(), optional);
      // Optional frames are taken if they come soon, but not waited for without need.
      if (!wait_for_frame(i, only_optional ? std::min(until, bench_->now() + 2000 * kNs) : until)) {
        if (only_optional) return;
        const size_t k = *std::find_if(want.begin() + static_cast<std::ptrdiff_t>(next), want.end(),
                                       [&](size_t w) { return !optional(w); });
        const In at(*this, k);
        fail(fmt::format("station {} did not send {} within {} ns", "ab"[i], brief(j["frames"][k]),
                         value(j, "within_ns", kDefaultWithinNs)));
      }
      const Bytes& got = bench_->sent(i)[frame_at_[i]].frame;
      if (order == "any") {
        size_t hit = next;
        while (hit < want.size() && match_at(j["frames"], want[hit], got)) ++hit;
        if (hit < want.size()) {
          std::swap(want[hit], want[next]);
          ++next;
          ++frame_at_[i];
          continue;
        }
        if (others == "fail")
          fail(fmt::format("station {} sent a frame that none of the expected ones fits: {}", "ab"[i], describe(got)));
        ++frame_at_[i];
        continue;
      }
      const auto m = match_at(j["frames"], want[next], got);
      if (!m) {
        ++next;
        ++frame_at_[i];
      } else if (optional(want[next])) {
        ++next;
      } else if (others == "ignore") {
        ++frame_at_[i];
      } else {
        const In at(*this, want[next]);
        const In field(*this, m->key);
        fail(fmt::format("{}\n    frame {} of station {}: {}", m->text, frame_at_[i] + 1, "ab"[i], describe(got)));
      }
    }
  }

  std::optional<Mismatch> match_at(const Json& frames, size_t k, ByteView got) {
    const In at(*this, k);
    return mismatch(frames[k], got);
  }

  /// Lets the device take the frames that arrived, and a microsecond pass.
  void drain(size_t i) {
    if (!bench_->station(i).receiving()) return;
    bench_->run_until([&] { return !bench_->station(i).receiving(); }, bench_->now() + 10'000'000 * kNs);
    bench_->run_for(1000);
  }

  void quiet(const Json& j) {
    const size_t i = station(j, "from");
    const uint64_t ns = need(j, "for_ns");
    drain(i);
    if (wait_for_frame(i, bench_->now() + ns * kNs)) {
      fail(fmt::format("expected no frame for {} ns, station {} sent at {} ns: {}", ns, "ab"[i],
                       bench_ -> sent(i)[frame_at_[i]].time / kNs, describe(bench_->sent(i)[frame_at_[i]].frame)));
    }
  }

  void rule(const Json& j) {
    const size_t from = station(j, "from", false);
    LinkRule r;
    const std::string action = text(j, "action", "");
    if (action == "lose") {
      r.action = LinkRule::Action::Lose;
    } else if (action == "duplicate") {
      r.action = LinkRule::Action::Duplicate;
    } else if (action == "delay") {
      r.action = LinkRule::Action::Delay;
    } else if (action == "corrupt") {
      r.action = LinkRule::Action::Corrupt;
    } else if (action == "mark_bad") {
      r.action = LinkRule::Action::MarkBad;
    } else if (action == "change") {
      r.action = LinkRule::Action::Change;
    } else {
      fail(fmt::format("'{}' is no action: lose, duplicate, delay, corrupt, mark_bad, change", action));
    }
    if (j.contains("match")) {
      const In in(*this, "match");
      for (Condition& c : conditions(j["match"])) r.match.push_back(std::move(c.match));
    }
    if (j.contains("set")) {
      const In in(*this, "set");
      for (const auto& [key, v] : j["set"].items()) r.set.emplace_back(find_field(key), value(v));
    }
    r.nth = value(j, "nth", 1);
    r.count = value(j, "count", 1);
    r.copies = value(j, "copies", 1);
    r.delay_ns = value(j, "delay_ns", 0);
    if (j.contains("flip_bit")) r.flip_bit = need(j, "flip_bit");
    const bool optional = value(j, "optional", 0) != 0;
    const size_t index = bench_->link(from).add_rule(std::move(r));
    if (!optional) rules_.emplace_back(from, index, where());
  }

  // ---- completions, events, memory, counters
  // ------------------------------------------------------------------------------

  void complete(const Json& j) {
    const size_t i = station(j, "on");
    const Ps until = limit(j);
    const auto wait = [&](size_t n) {
      return bench_->run_until(
          [&] {
            collect();
            return cqes_[i].size() - cqe_at_[i] >= n || !fault_.empty();
          },
          until);
    };
    const auto late = [&](size_t n) {
      check_fault();
      fail(fmt::format("station {}: {} of {} completions within {} ns", "ab"[i], cqes_[i].size() - cqe_at_[i], n,
                       value(j, "within_ns", kDefaultWithinNs)));
    };
    if (j.contains("none")) {
      collect();
      check_fault();
      if (cqe_at_[i] == cqes_[i].size()) return;
      const Cqe& c = cqes_[i][cqe_at_[i]];
      fail(fmt::format("expected no completion, id {} on QP {} came: {}", c.wr_id, c.qpn, status_name(c.status)));
    }
    if (!j.contains("entries")) {
      uint64_t n = 0;
      if (j.contains("count")) {
        n = need(j, "count");
      } else {
        n = cqes_[i].size() - cqe_at_[i];
        for (const auto& e : posted_[i]) {
          n += static_cast<uint64_t>(
              std::count_if(e.second.begin(), e.second.end(), [](const Posted& p) { return p.signaled; }));
        }
      }
      const auto status = static_cast<WcStatus>(value(j, "status", 0));
      if (!wait(n)) late(n);
      check_fault();
      for (uint64_t k = 0; k < n; ++k) {
        const Cqe& c = cqes_[i][cqe_at_[i]];
        if (c.status != status) {
          fail(fmt::format("completion of id {} on QP {}: expected {}, is {}, syndrome {:#04x}", c.wr_id, c.qpn,
                           status_name(status), status_name(c.status), c.syndrome));
        }
        ++cqe_at_[i];
      }
      return;
    }
    const In in(*this, "entries");
    const Json& entries = j["entries"];
    const bool any = text(j, "order", "exact") == "any";
    if (!wait(entries.size())) late(entries.size());
    check_fault();
    std::vector<size_t> left(entries.size());
    for (size_t k = 0; k < left.size(); ++k) left[k] = k;
    while (!left.empty()) {
      const Cqe& c = cqes_[i][cqe_at_[i]];
      size_t pick = 0;
      std::string why;
      for (pick = 0; pick < left.size(); ++pick) {
        const In at(*this, left[pick]);
        why = cqe_mismatch(entries[left[pick]], c, i);
        if (why.empty() || !any) break;
      }
      if (!why.empty() || pick == left.size()) {
        const In at(*this, left[any ? 0 : pick]);
        fail(fmt::format("{}\n    completion: id {} on QP {}, {}, syndrome {:#04x}", any ? "no entry fits" : why,
                         c.wr_id, c.qpn, status_name(c.status), c.syndrome));
      }
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
      ++cqe_at_[i];
    }
  }

  std::string cqe_mismatch(const Json& e, const Cqe& c, size_t i) {
    if (e.contains("id") && need(e, "id") != c.wr_id) return fmt::format("expected id {}", need(e, "id"));
    if (e.contains("qp") && connection(e["qp"]).side[i].qpn != c.qpn)
      return fmt::format("expected QP {}", connection(e["qp"]).side[i].qpn);
    const auto status = static_cast<WcStatus>(value(e, "status", 0));
    if (status != c.status) return fmt::format("expected {}", status_name(status));
    if (e.contains("syndrome") && need(e, "syndrome") != c.syndrome)
      return fmt::format("expected syndrome {:#04x}", need(e, "syndrome"));
    return "";
  }

  void events(const Json& j) {
    const size_t i = station(j, "on");
    const Json& list = j["list"];
    const bool got = bench_->run_until(
        [&] {
          collect();
          return events_[i].size() - event_at_[i] >= list.size();
        },
        limit(j));
    if (!got) fail(fmt::format("station {}: {} of {} events", "ab"[i], events_[i].size() - event_at_[i], list.size()));
    const In in(*this, "list");
    for (size_t k = 0; k < list.size(); ++k) {
      const In at(*this, k);
      const QpEvent& e = events_[i][event_at_[i]++];
      const auto cause = static_cast<EventCause>(need(list[k], "cause"));
      const uint32_t qpn = qp(list[k], i).qpn;
      if (e.cause != cause || e.qpn != qpn) {
        fail(fmt::format("expected {} on QP {}, is {} on QP {}", cause_name(cause), qpn, cause_name(e.cause), e.qpn));
      }
    }
  }

  void compare(const Json& j) {
    const size_t i = memory_of(j, "at");
    last_region_ = nullptr;
    const uint64_t at = need(j, "at");
    const Region* const region = last_region_;
    uint64_t n = value(j, "length", 0);
    Bytes want;
    if (j.contains("equals")) {
      want = memory(memory_of_expression(j, "equals")).read(need(j, "equals"), n);
    } else if (j.contains("unchanged")) {
      if (region == nullptr) fail("\"unchanged\" needs an address within a region");
      const auto s = std::find_if(regions_.begin(), regions_.end(), [&](const auto& e) { return &e.second == region; });
      const Bytes& all = snapshot_[s->first];
      if (!j.contains("length")) n = region->length - (at - region->base);
      if (at - region->base + n > all.size()) fail("\"unchanged\" reaches beyond the filled part of the region");
      want.assign(all.begin() + static_cast<std::ptrdiff_t>(at - region->base),
                  all.begin() + static_cast<std::ptrdiff_t>(at - region->base + n));
    } else {
      want = fill_data(j);
    }
    Bytes is;
    // The data may still be on its way through the bus when the completion has come.
    const auto same = [&] {
      is = memory(i).read(at, want.size());
      return is == want;
    };
    const Ps until = bench_->now() + value(j, "within_ns", 20'000) * kNs;
    Ps next = 0;
    const bool good = bench_->run_until(
        [&] {
          if (bench_->now() < next) return false;
          next = bench_->now() + 100 * kNs;
          return same();
        },
        until);
    if (good || same()) return;
    const auto diff = static_cast<size_t>(std::mismatch(want.begin(), want.end(), is.begin()).first - want.begin());
    size_t bad = 0;
    for (size_t k = 0; k < want.size(); ++k) bad += want[k] != is[k];
    fail(fmt::format("memory of {} at {:#x} (byte {} of {}): expected {:#04x}, is {:#04x}; {} bytes differ", "ab"[i],
                     at + diff, diff, want.size(), want[diff], is[diff], bad));
  }

  void counters(const Json& j) {
    const size_t i = station(j, "on");
    Station& s = bench_->station(i);
    drain(i);
    s.request_counters();
    settle();
    if (j.contains("values")) {
      const In in(*this, "values");
      for (const auto& [names, v] : j["values"].items()) {
        const In at(*this, names);
        // "x|y": the sum of those that the station has.
        uint64_t sum = 0;
        bool known = false;
        for (size_t from = 0; from <= names.size();) {
          const size_t bar = std::min(names.find('|', from), names.size());
          const std::string one = names.substr(from, bar - from);
          if (const auto c = s.counter(one)) {
            const auto b = counter_base_[i].find(one);
            sum += *c - (b == counter_base_[i].end() ? 0 : b->second);
            known = true;
          }
          from = bar + 1;
        }
        if (!known) {
          std::string all;
          for (const auto& c : s.counters()) all += " " + c.first;
          fail(fmt::format("station {} has no such counter; it has:{}", "ab"[i], all));
        }
        const uint64_t low = v.is_object() ? value(v, "min", 0) : value(v);
        const uint64_t high = v.is_object() ? value(v, "max", ~uint64_t{0}) : low;
        if (sum < low || sum > high) {
          fail(low == high ? fmt::format("expected {}, is {}", low, sum)
                           : fmt::format("expected at least {}{}, is {}", low,
                                         high == ~uint64_t{0} ? "" : fmt::format(" and at most {}", high), sum));
        }
      }
    }
    if (value(j, "mark", 0) != 0) {
      for (const auto& [n, v] : s.counters()) counter_base_[i][n] = v;
    }
  }

  void axi_error(const Json& j) {
    if (value(j, "clear", 0) != 0) {
      for (size_t i = 0; i < bench_->size(); ++i) memory(i).clear_errors();
      return;
    }
    if (!j.contains("at")) fail("needs \"at\" or \"clear\"");
    memory(memory_of(j, "at"))
        .add_error({need(j, "at"), value(j, "length", 1)}, value(j, "reads", 0) != 0, value(j, "writes", 0) != 0);
  }

  std::vector<std::string> trail() const {
    std::vector<std::pair<Ps, std::string>> all;
    for (size_t i = 0; i < bench_->size(); ++i) {
      const auto& sent = bench_->sent(i);
      for (size_t k = sent.size() > kTrail ? sent.size() - kTrail : 0; k < sent.size(); ++k) {
        all.emplace_back(sent[k].time, fmt::format("{:>9} ns {} #{}: {}", sent[k].time / kNs, "ab"[i], k + 1,
                                                   describe(sent[k].frame)));
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<std::string> out;
    for (size_t k = all.size() > kTrail ? all.size() - kTrail : 0; k < all.size(); ++k) out.push_back(all[k].second);
    return out;
  }

  const Scenario& scenario_;
  ScenarioOptions options_;
  std::unique_ptr<Bench> bench_;
  LocalAddress address_[2];
  std::vector<std::string> path_;
  std::vector<std::pair<std::string, uint64_t>> loop_;
  std::map<std::string, uint64_t, std::less<>> vars_;
  std::map<std::pair<size_t, std::string>, Region> regions_;
  std::map<std::pair<size_t, std::string>, Bytes> snapshot_;
  std::map<std::string, Connection> connections_;
  std::map<std::string, uint64_t> connection_index_;
  uint64_t region_count_ = 0;
  const Region* last_region_ = nullptr;
  NameLookup lookup_;
  uint64_t next_id_ = 1;
  std::map<uint32_t, std::deque<Posted>> posted_[2];
  std::vector<Cqe> cqes_[2];
  std::vector<QpEvent> events_[2];
  size_t cqe_at_[2] = {0, 0};
  size_t event_at_[2] = {0, 0};
  size_t frame_at_[2] = {0, 0};
  std::map<std::string, uint64_t> counter_base_[2];
  std::vector<std::tuple<size_t, size_t, std::string>> rules_;
  std::string fault_;
  std::string broken_at_;  // place of an exception of the JSON library
};

}  // namespace

ScenarioResult run_scenario(const Scenario& s, const StationFactory& factory, const ScenarioOptions& options) {
  return Runner(s, factory, options).run();
}

}  // namespace rocegen::sim
