#include "sim/harness/cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "sim/bench/perf.h"
#include "sim/harness/fuzz.h"
#include "sim/harness/model_station.h"
#include "sim/harness/nic.h"
#include "sim/harness/replay.h"
#include "sim/harness/soak.h"
#include "sim/model/preprocess.h"
#include "sim/scenario/scenario.h"

namespace rocegen::sim {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr int kInputError = 1;
constexpr int kUsage = 2;
constexpr int kTestFailed = 4;

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Options {
  std::string manifest;
  uint64_t seed = 1;
  std::string pcap;
  std::string wave;
  std::string json;
  std::string keys;
  std::string pairs;
  std::string scenarios = "sim/scenarios";
  double stall = 1.0;
  int services = 0;
  double gbps = 0;
  bool quiet = false;
  // run
  std::vector<std::string> names;
  // replay
  std::vector<std::string> captures;
  std::vector<std::string> regions;
  std::string responder;
  std::string role = "both";
  // soak
  SoakOptions soak;
  double loss = 0.01, duplicate = 0.01, reorder = 0.01, corrupt = 0.01;
  // bench
  PerfOptions perf;
  std::vector<std::string> points;
  std::vector<std::string> losses;
  // fuzz
  FuzzOptions fuzz;
  std::vector<std::string> drop;
  uint64_t shrink = 0;
};

class Program {
 public:
  Program(const Options& o, const DutFactory& dut) : o_(o), dut_(dut) {}

  int start() {
    map_ = RegisterMap::standard();
    if (!o_.manifest.empty()) {
      std::ifstream f(o_.manifest, std::ios::binary);
      const Json m = f ? Json::parse(f, nullptr, false) : Json();
      if (!f || m.is_discarded()) return complain(fmt::format("{}: cannot be read as JSON", o_.manifest));
      std::string error;
      RegisterMap map;
      if (!RegisterMap::from_manifest(m, map, error)) return complain(fmt::format("{}: {}", o_.manifest, error));
      map_ = map;
      if (const auto clocks = m.find("clocks"); clocks != m.end() && clocks->is_array()) {
        for (const Json& c : *clocks) {
          if (c.is_object() && c.value("clock", "") == "clk_mac" && c.value("mhz", 0.0) > 0) {
            mac_period_ = static_cast<Ps>(1e6 / c.value("mhz", 0.0) + 0.5);
          }
        }
      }
      if (const auto mtu = m.find("spec"); mtu != m.end() && mtu->is_object()) {
        spec_ = *mtu;
        const auto v = mtu->find("mtu");
        if (v != mtu->end() && v->is_number_unsigned()) max_mtu_ = v->get<uint32_t>();
        // Nine tenths of what the MAC's port carries, so that gaps between beats do not add up to a queue.
        const auto net = mtu->find("network");
        if (net != mtu->end() && net->is_object())
          gbps_ = net->value("mac_width", 0.0) * net->value("mac_clock_mhz", 0.0) * 0.9e-3;
      }
    }
    if (o_.gbps > 0) gbps_ = o_.gbps;
    if (!o_.pcap.empty()) {
      writer_ = std::make_unique<PcapWriter>(o_.pcap);
      if (!writer_->ok()) return complain(fmt::format("{}: cannot be written", o_.pcap));
    }
    std::string text = o_.pairs;
    if (text.empty()) text = dut_ ? "dut-dut,dut-model,model-dut" : "model-model";
    for (size_t at = 0; at <= text.size();) {
      const size_t comma = std::min(text.find(',', at), text.size());
      const std::string one = text.substr(at, comma - at);
      const size_t dash = one.find('-');
      Pair p{one.substr(0, dash), dash == std::string::npos ? "" : one.substr(dash + 1)};
      for (const std::string& kind : {p.a, p.b}) {
        if (kind != "model" && (kind != "dut" || !dut_)) {
          fmt::print(stderr, "error: --pairs: '{}' is not a-b with {}\n", one, dut_ ? "dut and model" : "model alone");
          return kUsage;
        }
      }
      pairs_.push_back(p);
      at = comma + 1;
    }
    return 0;
  }

  int run() {
    std::vector<std::string> paths;
    for (const std::string& n : o_.names) {
      if (n == "all") {
        const auto all = listed();
        if (all.empty()) return complain(fmt::format("{}: holds no scenarios", o_.scenarios));
        paths.insert(paths.end(), all.begin(), all.end());
        continue;
      }
      paths.push_back(n.ends_with(".json") ? n : fmt::format("{}/{}.json", o_.scenarios, n));
      if (!std::filesystem::exists(paths.back())) {
        return complain(fmt::format("no scenario '{}' in {}; `list` shows them", n, o_.scenarios));
      }
    }
    std::vector<Scenario> scenarios;
    std::vector<std::string> errors;
    for (const std::string& p : paths) {
      Scenario s;
      if (load_scenario(p, s, errors)) scenarios.push_back(std::move(s));
    }
    for (const auto& e : errors) fmt::print(stderr, "{}\n", e);
    if (!errors.empty()) return kInputError;
    for (const Scenario& s : scenarios) {
      std::vector<std::string> done;
      for (const Pair& p : pairs_) {
        const std::string label = s.stations == 2 ? p.a + "-" + p.b : p.a;
        if (std::find(done.begin(), done.end(), label) != done.end()) continue;
        done.push_back(label);
        const auto t0 = Clock::now();
        ScenarioOptions so;
        so.seed = o_.seed;
        so.pcap = writer_.get();
        progress(fmt::format("{} {}", s.name, label));
        const ScenarioResult r = run_scenario(s, factory(p), so);
        Json j;
        j["kind"] = "scenario";
        j["name"] = s.name;
        j["stations"] = label;
        j["covers"] = s.covers;
        j["frames"] = r.frames;
        finish(fmt::format("{:<28} {:<11}", s.name, label), r.ok, r.skipped, r.message, r.time, r.cycles, t0, j);
        if (!r.ok && !r.skipped) {
          fmt::print("    at {}{}\n    {}\n", s.path, r.where.empty() ? "" : " " + r.where, r.message);
          if (!r.trail.empty()) fmt::print("    last frames:\n");
          for (const auto& t : r.trail) fmt::print("      {}\n", t);
        }
      }
    }
    return summary();
  }

  int replay() {
    ReplayOptions ro;
    ro.pcap = writer_.get();
    if (!o_.responder.empty()) {
      const auto ip = ip_from_text(o_.responder);
      if (!ip) {
        fmt::print(stderr, "error: --responder: '{}' is no IPv4 address\n", o_.responder);
        return kUsage;
      }
      ro.responder_ip = *ip;
    }
    for (const std::string& text : o_.regions) {
      ReplayRegion r;
      auto part = [&, at = size_t{0}](uint64_t& v) mutable {
        const size_t end = std::min(text.find(':', at), text.size());
        const std::string one = text.substr(std::min(at, text.size()), end - std::min(at, end));
        char* rest = nullptr;
        v = std::strtoull(one.c_str(), &rest, 0);
        at = end + 1;
        return !one.empty() && *rest == '\0';
      };
      uint64_t key = 0;
      if (!part(key) || !part(r.base) || !part(r.length)) {
        fmt::print(stderr, "error: --region: '{}' is not RKEY:BASE:LENGTH\n", text);
        return kUsage;
      }
      r.rkey = static_cast<uint32_t>(key);
      ro.regions.push_back(r);
    }
    const Pair pair = pairs_.front();
    for (const std::string& path : o_.captures) {
      PcapFile capture;
      std::string error;
      if (!read_pcap(path, capture, error)) {
        fmt::print(stderr, "{}\n", error);
        return kInputError;
      }
      for (const bool requester : {false, true}) {
        if (o_.role == (requester ? "responder" : "requester")) continue;
        const auto t0 = Clock::now();
        const std::string name = std::filesystem::path(path).filename().string();
        const std::string role = requester ? "requester" : "responder";
        progress(name + " " + role);
        const ReplayResult r =
            requester ? run_replay_requester(capture, factory(pair), ro) : run_replay(capture, factory(pair), ro);
        Json j;
        j["kind"] = "replay";
        j["name"] = name;
        j["stations"] = pair.a;
        j["role"] = role;
        j["requests"] = r.requests;
        j["answers"] = r.answers;
        j["bytes"] = r.bytes;
        j["lossy"] = r.lossy;
        j["notes"] = r.notes;
        finish(fmt::format("{:<32} {:<9} {:<6}", name, role, pair.a), r.ok, r.skipped, r.message, r.time, r.cycles, t0,
               j);
        for (const auto& n : r.notes) fmt::print("    note: {}\n", n);
        if (r.ok) {
          fmt::print("    {} requests and {} answers as captured{}, {} bytes of memory equal\n", r.requests, r.answers,
                     r.lossy ? " (lossy capture)" : "", r.bytes);
        } else if (!r.skipped) {
          fmt::print("    {}\n", r.message);
        }
      }
    }
    return summary();
  }

  int soak() {
    for (const Pair& p : pairs_) {
      SoakOptions so = o_.soak;
      so.seed = o_.seed;
      so.pcap = writer_.get();
      so.link.loss = o_.loss;
      so.link.duplicate = o_.duplicate;
      so.link.reorder = o_.reorder;
      so.link.corrupt = o_.corrupt;
      if (gbps_ > 0) so.gbps = gbps_;
      const auto t0 = Clock::now();
      const std::string label = p.a + "-" + p.b;
      so.progress = [&](uint64_t done, Ps now) {
        const double s = seconds_since(t0);
        const double left =
            done == 0 ? 0
                      : s / static_cast<double>(done) * static_cast<double>(so.messages - std::min(done, so.messages));
        progress(fmt::format("soak {}: {} of {} messages, {} us simulated, {:.0f} s, {:.0f} s left", label, done,
                             so.messages, now / (1000 * kNs), s, left));
      };
      const SoakResult r = run_soak(factory(p), so);
      Json j;
      j["kind"] = "soak";
      j["name"] = "soak";
      j["stations"] = label;
      j["qps"] = so.qps;
      j["messages"] = r.messages;
      j["bytes"] = r.bytes;
      j["frames"] = r.frames;
      j["receives"] = r.receives;
      j["resets"] = r.resets;
      j["torn"] = r.torn;
      j["abrupt"] = r.abrupt;
      j["lost"] = r.lost;
      j["duplicated"] = r.duplicated;
      j["reordered"] = r.reordered;
      j["corrupted"] = r.corrupted;
      static constexpr std::pair<uint8_t, const char*> kOps[] = {
          {kWrWrite, "WRITE"},      {kWrWriteImm, "WRITE imm"}, {kWrSend, "SEND"},       {kWrSendImm, "SEND imm"},
          {kWrSendInv, "SEND inv"}, {kWrRead, "READ"},          {kWrCmpSwap, "CmpSwap"}, {kWrFetchAdd, "FetchAdd"}};
      std::string ops;
      for (const auto& [op, name] : kOps) {
        j["by_op"][name] = r.by_op[op];
        ops += fmt::format("{}{} {}", ops.empty() ? "" : ", ", r.by_op[op], name);
      }
      finish(fmt::format("{:<28} {:<11}", "soak", label), r.ok, false, r.message, r.time, r.cycles, t0, j);
      fmt::print("    {}; {} receives; {} QPs set up anew, {} of them torn down at work, {} abruptly\n", ops,
                 r.receives, r.resets, r.torn, r.abrupt);
      fmt::print("    {} messages, {} bytes, {} frames; {} lost, {} repeated, {} held back, {} corrupted\n", r.messages,
                 r.bytes, r.frames, r.lost, r.duplicated, r.reordered, r.corrupted);
      if (!r.ok) fmt::print("    seed {}: {}\n", o_.seed, r.message);
    }
    return summary();
  }

  int fuzz() {
    std::vector<FrameRange> drop;
    for (const std::string& text : o_.drop) {
      FrameRange r;
      if (!range_of(text, r)) {
        fmt::print(stderr, "error: --drop: '{}' is not N or FIRST-LAST\n", text);
        return kUsage;
      }
      drop.push_back(r);
    }
    std::vector<std::string> done;
    for (const Pair& p : pairs_) {
      // Station a is under attack, the reference endpoint is its peer.
      if (std::find(done.begin(), done.end(), p.a) != done.end()) continue;
      done.push_back(p.a);
      FuzzOptions fo = o_.fuzz;
      fo.seed = o_.seed;
      fo.drop = drop;
      fo.pcap = writer_.get();
      if (gbps_ > 0) fo.gbps = gbps_;
      const auto t0 = Clock::now();
      fo.progress = [&](uint64_t frames, Ps now) {
        progress(fmt::format("fuzz {}: {} of {} frames, {} us simulated, {:.0f} s", p.a, frames, fo.frames,
                             now / (1000 * kNs), seconds_since(t0)));
      };
      FuzzResult r = run_fuzz(factory({p.a, "model"}), fo);
      if (!r.ok && o_.shrink != 0) {
        fo.frames = r.frames;
        fo.drop = shrink_fuzz(factory({p.a, "model"}), fo, o_.shrink);
        r = run_fuzz(factory({p.a, "model"}), fo);  // once more, into the capture
      }
      Json j;
      j["kind"] = "fuzz";
      j["name"] = "fuzz";
      j["stations"] = p.a;
      j["frames"] = r.frames;
      j["answered"] = r.answered;
      j["completions"] = r.completions;
      j["errors"] = r.errors;
      j["events"] = r.events;
      j["recreated"] = r.recreated;
      for (const auto& [kind, count] : r.kinds) j["kinds"][kind] = count;
      finish(fmt::format("{:<28} {:<11}", "fuzz", p.a), r.ok, false, r.message, r.time, r.cycles, t0, j);
      fmt::print(
          "    {} frames forged, {} answered; {} completions, {} of them errors; {} QPs died and were set up anew; {} "
          "messages beside them right\n",
          r.frames, r.answered, r.completions, r.errors, r.recreated, r.messages);
      if (!r.ok) {
        std::string again;
        for (const FrameRange& d : fo.drop)
          again += fmt::format("{}{}-{}", again.empty() ? "" : ",", d.first, d.end - 1);
        fmt::print("    {}\n    again: fuzz --seed {} --frames {} --qps {}{}{}\n    last frames:\n", r.message, o_.seed,
                   std::max(r.frames, uint64_t{1}), fo.qps, again.empty() ? "" : " --drop ", again);
        for (const auto& t : r.trail) fmt::print("      {}\n", t);
      }
    }
    return summary();
  }

  int bench() {
    if (!dut_ || o_.manifest.empty()) return complain("bench: needs a generated NIC and its --manifest");
    PerfOptions po = o_.perf;
    po.gbps = gbps_;
    po.mtu = max_mtu_;
    for (const std::string& text : o_.points) {
      const auto point = parse_perf_point(text);
      if (!point) return complain(fmt::format("bench: '{}' is no point: OP:BYTES:QPS[:both]", text));
      po.points.push_back(*point);
    }
    for (const std::string& text : o_.losses) {
      const auto point = parse_perf_loss(text);
      if (!point) return complain(fmt::format("bench: '{}' is no point: LOSS:BYTES:QPS:ROUND_US", text));
      po.losses.push_back(*point);
    }
    po.seed = o_.seed;
    po.qp_count = spec_.value("qp_count", 1u);
    po.clock_mhz = spec_.value("clock_mhz", 250.0);
    if (const auto t = spec_.find("transport"); t != spec_.end() && t->is_object()) {
      po.wqe_slots = t->value("wqe_slots", po.wqe_slots);
      po.rqe_slots = t->value("rqe_slots", po.rqe_slots);
      po.read_depth = t->value("read_depth", po.read_depth);
      po.window_packets = t->value("window_packets", po.window_packets);
      po.recovery = t->value("recovery", po.recovery);
    }
    NicOptions served;
    add_services(served);
    for (size_t i = 0; i < served.services.size(); ++i) {
      po.services = static_cast<uint8_t>(po.services | 1u << i);
      po.trailer += static_cast<uint32_t>(served.trailers[i]);
    }
    const PerfFactory make = [this](size_t which, const NicOptions& options) {
      NicOptions n = options;
      add_services(n);
      n.seed = o_.seed * 1009 + which * 17 + 1;
      n.mac_period = mac_period_;
      const std::string name = which == 0 ? "a" : "b";
      return std::make_unique<Nic>(name, dut_(name), map_, n);
    };
    Json report;
    try {
      report = run_perf(make, po, [](const std::string& line) {
        fmt::print("{}\n", line);
        std::fflush(stdout);
      });
    } catch (const std::runtime_error& e) {
      fmt::print(stderr, "error: bench: {}\n", e.what());
      return kTestFailed;
    }
    if (o_.json.empty()) return 0;
    std::ofstream f(o_.json, std::ios::binary);
    f << report.dump(2) << '\n';
    f.flush();
    return f ? 0 : complain(fmt::format("{}: cannot be written", o_.json));
  }

  int list() {
    std::vector<std::string> errors;
    for (const std::string& p : listed()) {
      Scenario s;
      if (!load_scenario(p, s, errors)) continue;
      std::string covers;
      for (const auto& c : s.covers) covers += (covers.empty() ? "" : " ") + c;
      fmt::print("{:<28} {} {}{}\n", s.name, s.stations, s.about, covers.empty() ? "" : fmt::format(" [{}]", covers));
    }
    for (const auto& e : errors) fmt::print(stderr, "{}\n", e);
    return errors.empty() ? 0 : kInputError;
  }

 private:
  struct Pair {
    std::string a, b;
  };

  /// "7" or "7-12", both included.
  static bool range_of(const std::string& text, FrameRange& r) {
    const char* const end = text.data() + text.size();
    auto at = std::from_chars(text.data(), end, r.first);
    r.end = r.first;
    if (at.ec == std::errc() && at.ptr != end && *at.ptr == '-') at = std::from_chars(at.ptr + 1, end, r.end);
    const bool good = at.ec == std::errc() && at.ptr == end && r.end >= r.first;
    ++r.end;
    return good;
  }

  static int complain(const std::string& text) {
    fmt::print(stderr, "error: {}\n", text);
    return kInputError;
  }

  /// What the driver of a NIC must know of the specification's services.
  void add_services(NicOptions& n) const {
    if (const auto s = spec_.find("services"); s != spec_.end() && s->is_array()) {
      for (const Json& entry : *s) {
        const std::string type = entry.value("type", "");
        if (type == "aes") n.aes = std::make_shared<AesService>(entry, n.services.size());
        if (type == "preprocess") n.rows = std::make_shared<RowModel>(entry);
        n.services.push_back(entry.value("name", ""));
        n.trailers.push_back(type == "aes" ? (n.aes->gcm ? kAesTag : 0) : entry.value("trailer", size_t{0}));
      }
    }
  }

  std::vector<std::string> listed() const {
    std::vector<std::string> out;
    std::error_code ec;
    for (const auto& e : std::filesystem::directory_iterator(o_.scenarios, ec)) {
      if (e.path().extension() == ".json") out.push_back(e.path().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  std::function<std::unique_ptr<Station>(size_t)> factory(const Pair& p) {
    return [this, p](size_t which) -> std::unique_ptr<Station> {
      const std::string name = which == 0 ? "a" : "b";
      const uint64_t seed = o_.seed * 1009 + which * 17 + 1;
      if ((which == 0 ? p.a : p.b) == "model") {
        auto model = std::make_unique<ModelStation>(name, seed, gbps_ > 0 ? gbps_ : 100.0);
        model->offer_qps(o_.soak.qps);
        if (const auto s = spec_.find("services");
            s != spec_.end() && s->size() == 1 && s->at(0).value("type", "") == "aes")
          model->encrypt(std::make_shared<AesService>(s->at(0), 0), static_cast<uint8_t>(o_.services));
        return model;
      }
      NicOptions n;
      n.seed = seed;
      n.max_mtu = max_mtu_;
      n.gbps = gbps_;
      if (const auto t = spec_.find("transport"); t != spec_.end() && t->is_object())
        n.recovery = t->value("recovery", n.recovery);
      if (const auto h = spec_.find("host"); h != spec_.end() && h->is_object())
        n.ack_after_write = h->value("ack_after_write", n.ack_after_write);
      add_services(n);
      if (!o_.keys.empty() && n.aes) mode_ = n.aes->gcm ? "gcm" : "ctr";
      if (!o_.keys.empty())
        n.on_key = [this](const AesKey& key, const QpConfig& qp) { keys_.push_back(as_json(key, qp)); };
      n.serve = static_cast<uint8_t>(o_.services);
      n.mac_period = mac_period_;
      n.rx_gap *= o_.stall;
      n.tx_stall *= o_.stall;
      n.wqe_gap *= o_.stall;
      n.rqe_gap *= o_.stall;
      n.cqe_stall *= o_.stall;
      n.axil_gap *= o_.stall;
      n.axi.aw_stall *= o_.stall;
      n.axi.w_stall *= o_.stall;
      n.axi.b_stall *= o_.stall;
      n.axi.ar_stall *= o_.stall;
      n.axi.r_stall *= o_.stall;
      auto dut = dut_(name);
      if (!o_.wave.empty()) {
        std::string path = o_.wave;
        if (which == 1) path += ".b.fst";
        std::string error;
        if (!dut->open_trace(path, error)) fmt::print(stderr, "warning: --wave: {}\n", error);
      }
      return std::make_unique<Nic>(name, std::move(dut), map_, n);
    };
  }

  // On a terminal a line that is overwritten; else a plain line every ten seconds.
  void progress(const std::string& text) {
    if (o_.quiet) return;
    if (isatty(STDERR_FILENO) != 0) {
      fmt::print(stderr, "\r\033[K{}", text);
      std::fflush(stderr);
      dirty_ = true;
    } else if (seconds_since(last_progress_) >= 10) {
      fmt::print(stderr, "{}\n", text);
      last_progress_ = Clock::now();
    }
  }

  void finish(const std::string& what, bool ok, bool skipped, const std::string& message, Ps time, uint64_t cycles,
              Clock::time_point t0, Json j) {
    if (dirty_) fmt::print(stderr, "\r\033[K");
    dirty_ = false;
    const double s = seconds_since(t0);
    const char* const verdict = ok ? "ok" : skipped ? "skipped" : "FAIL";
    fmt::print("{} {:<7} {:>8} ns {:>9} cycles {:>7.2f} s{}\n", what, verdict, time / kNs, cycles, s,
               skipped ? "  " + message : "");
    std::fflush(stdout);
    j["result"] = skipped ? "skipped" : ok ? "ok" : "fail";
    if (!ok) j["message"] = message;
    j["time_ns"] = time / kNs;
    j["cycles"] = cycles;
    j["seed"] = o_.seed;
    report_.push_back(std::move(j));
    (skipped ? skipped_ : ok ? passed_ : failed_) += 1;
  }

  /// As tests/aes_pcap_check.py reads it.
  static Json as_json(const AesKey& key, const QpConfig& qp) {
    const auto hex = [](const Bytes& bytes) {
      std::string text;
      for (const uint8_t b : bytes) text += fmt::format("{:02x}", b);
      return text;
    };
    Json j;
    j["dst_ip"] = fmt::format("{}.{}.{}.{}", qp.dip >> 24, qp.dip >> 16 & 255, qp.dip >> 8 & 255, qp.dip & 255);
    j["qpn"] = qp.dqpn;
    j["key"] = hex(key.key);
    j["salt"] = hex(key.salt);
    j["psn"]["request"] = key.from_request;
    j["psn"]["response"] = key.from_response;
    return j;
  }

  int summary() {
    if (!o_.keys.empty()) {
      std::ofstream f(o_.keys, std::ios::binary);
      Json j;
      j["mode"] = mode_;
      j["keys"] = keys_;
      f << j.dump(2) << '\n';
      if (!f) return complain(fmt::format("{}: cannot be written", o_.keys));
    }
    fmt::print("{} passed, {} failed, {} skipped\n", passed_, failed_, skipped_);
    if (!o_.json.empty()) {
      Json j;
      j["passed"] = passed_;
      j["failed"] = failed_;
      j["skipped"] = skipped_;
      j["results"] = report_;
      std::ofstream f(o_.json, std::ios::binary);
      f << j.dump(2) << '\n';
      if (!f) return complain(fmt::format("{}: cannot be written", o_.json));
    }
    if (writer_ && !writer_->ok()) return complain(fmt::format("{}: cannot be written", o_.pcap));
    return failed_ == 0 ? 0 : kTestFailed;
  }

  const Options& o_;
  const DutFactory& dut_;
  RegisterMap map_;
  Json spec_ = Json::object();  // of the manifest
  uint32_t max_mtu_ = 4096;
  double gbps_ = 0;
  Ps mac_period_ = 0;
  std::vector<Pair> pairs_;
  std::unique_ptr<PcapWriter> writer_;
  Json report_ = Json::array();
  Json keys_ = Json::array();
  std::string mode_;
  size_t passed_ = 0, failed_ = 0, skipped_ = 0;
  bool dirty_ = false;
  Clock::time_point last_progress_ = Clock::now();
};

}  // namespace

int run_cli(int argc, char** argv, const DutFactory& factory) {
  Options o;
  CLI::App app{"Simulates a generated RoCE v2 NIC: scenarios, replay of captures, random soak"};
  app.require_subcommand(1);
  app.add_option("--manifest", o.manifest, "manifest.json of the variant: register map and counters");
  app.add_option("--seed", o.seed, "seed of everything random")->capture_default_str();
  app.add_option("--pcap", o.pcap, "write all frames to this capture (nanosecond pcap)");
  app.add_option("--wave", o.wave, "write waveforms of station a (FST); station b into FILE.b.fst");
  app.add_option("--json", o.json, "write a report");
  app.add_option("--keys", o.keys, "write the keys that the service aes was given to this JSON file");
  app.add_option("--pairs", o.pairs, "who takes station a and b, e.g. dut-dut,dut-model; default: all with a dut");
  app.add_option("--scenarios", o.scenarios, "folder of the scenarios")->capture_default_str();
  app.add_option("--gbps", o.gbps, "line rate; 0 = nine tenths of what the MAC's port carries")->capture_default_str();
  app.add_option("--services", o.services, "mask of the services of a QP whose scenario names none; bit i: entry i")
      ->capture_default_str()
      ->check(CLI::Range(0, 255));
  app.add_option("--stall", o.stall, "factor on the probability of stalls at every interface; 0 = none")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 4.0));
  app.add_flag("--quiet", o.quiet, "no progress");
  CLI::App* run = app.add_subcommand("run", "run scenarios: names, files, or all");
  run->add_option("scenario", o.names)->required();
  CLI::App* replay = app.add_subcommand("replay", "put the NIC into the place of one side of a capture");
  replay->add_option("capture", o.captures)->required();
  replay->add_option("--region", o.regions, "RKEY:BASE:LENGTH of a region that the capture does not show whole");
  replay->add_option("--responder", o.responder,
                     "IPv4 address of the capture's responder; default: destination of the first request");
  replay->add_option("--role", o.role, "side whose place the NIC takes: responder, requester, both")
      ->capture_default_str()
      ->check(CLI::IsMember({"responder", "requester", "both"}));
  CLI::App* soak = app.add_subcommand("soak", "random messages both ways over a bad cable");
  soak->add_option("--qps", o.soak.qps, "connections")->capture_default_str()->check(CLI::Range(1, 16384));
  soak->add_option("--messages", o.soak.messages, "in all")->capture_default_str();
  soak->add_option("--max-length", o.soak.max_length, "bytes")->capture_default_str()->check(CLI::Range(1, 1 << 24));
  soak->add_option("--depth", o.soak.depth, "outstanding messages of a QP")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  soak->add_option("--timeout", o.soak.timeout, "local ACK timeout code; 0 = by the line rate")
      ->capture_default_str()
      ->check(CLI::Range(0, 31));
  soak->add_option("--resets", o.soak.resets, "share of the QPs set up anew at each comparison")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  soak->add_option("--abrupt", o.soak.abrupt, "share of the comparisons behind which that is done abruptly")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  soak->add_option("--check-every", o.soak.check_every, "messages between comparisons")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  soak->add_flag("--writes-only", o.soak.writes_only, "nothing but WRITE");
  soak->add_option("--loss", o.loss, "probability a frame")->capture_default_str();
  soak->add_option("--duplicate", o.duplicate)->capture_default_str();
  soak->add_option("--reorder", o.reorder)->capture_default_str();
  soak->add_option("--corrupt", o.corrupt)->capture_default_str();
  soak->add_option("--delay", o.soak.link.delay_ns, "ns")->capture_default_str();
  CLI::App* bench = app.add_subcommand("bench", "measure message rate, goodput, latency, fairness, goodput under loss");
  bench->add_option("--memory-cycles", o.perf.memory_cycles, "latency of memory")->capture_default_str();
  bench->add_option("--delay", o.perf.delay_ns, "propagation of the cable in ns, one way")->capture_default_str();
  bench->add_flag("--quick", o.perf.quick, "a few points only");
  bench->add_option("--only", o.perf.only, "rate, latency, fairness, loss")
      ->check(CLI::IsMember({"rate", "latency", "fairness", "loss"}));
  bench->add_option("--point", o.points, "measure the rate at OP:BYTES:QPS[:both] instead of the standard points");
  bench->add_option("--loss-point", o.losses,
                    "measure goodput at LOSS:BYTES:QPS:ROUND_US instead of the standard points");
  CLI::App* fuzz = app.add_subcommand("fuzz", "forged frames for the NIC while it works");
  fuzz->add_option("--frames", o.fuzz.frames, "forged frames")->capture_default_str();
  fuzz->add_option("--qps", o.fuzz.qps, "connections under attack")->capture_default_str()->check(CLI::Range(1, 4096));
  fuzz->add_option("--drop", o.drop, "forged frames that are not sent: N or FIRST-LAST, ...")->delimiter(',');
  fuzz->add_option("--shrink", o.shrink, "when it fails: looks for fewer frames that do, in so many runs");
  CLI::App* list = app.add_subcommand("list", "list the scenarios");
  // Common options may also stand behind the subcommand.
  for (CLI::App* s : {run, replay, soak, bench, fuzz, list}) s->fallthrough();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : kUsage;
  }
  Program p(o, factory);
  if (const int code = p.start(); code != 0) return code;
  if (run->parsed()) return p.run();
  if (replay->parsed()) return p.replay();
  if (soak->parsed()) return p.soak();
  if (bench->parsed()) return p.bench();
  if (fuzz->parsed()) return p.fuzz();
  return p.list();
}

}  // namespace rocegen::sim
