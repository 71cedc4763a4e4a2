// The course of a scenario: set-up, its steps, and what must hold at its end.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/scenario/runner.h"

namespace rocegen::sim {
namespace {

constexpr size_t kTrail = 12;  // frames shown before a difference

}  // namespace

Runner::Runner(const Scenario& s, const StationFactory& factory, const ScenarioOptions& options)
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

ScenarioResult Runner::run() {
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

Ps Runner::limit(const Json& j) { return bench_->now() + value(j, "within_ns", kDefaultWithinNs) * kNs; }

void Runner::settle() {
  if (!bench_->settle_config()) fail("a station does not answer on its registers");
}

/// Takes what the stations reported and checks the order of completions.
void Runner::collect() {
  for (size_t i = 0; i < bench_->size(); ++i) {
    Cqe c;
    while (bench_->station(i).poll_cqe(c)) {
      if (c.receive()) {
        collect_receive(i, c);
        continue;
      }
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

/// Receives of a QP's own ring complete in its order, those of a shared ring in any; each exactly once.
void Runner::collect_receive(size_t i, const Cqe& c) {
  received_[i].push_back(c);
  auto& own = receives_[i][{false, c.qpn}];
  if (!own.empty() && own.front() == c.wr_id) {
    own.pop_front();
    return;
  }
  for (auto& [ring, open] : receives_[i]) {
    if (!ring.first) continue;
    const auto at = std::find(open.begin(), open.end(), c.wr_id);
    if (at == open.end()) continue;
    open.erase(at);
    return;
  }
  fault_ = fmt::format("station {}: receive completion of id {} on QP {} ({}), but {}", "ab"[i], c.wr_id, c.qpn,
                       status_name(c.status),
                       own.empty() ? "no entry is outstanding there" : fmt::format("id {} is next", own.front()));
}

void Runner::check_fault() {
  if (!fault_.empty()) fail(fault_);
}

void Runner::needs() {
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
    check("rqe_slots", info.rqe_slots);
    check("srqs", info.srq_count);
    check("rd_depth", info.rd_depth);
    check("trailer", std::accumulate(info.trailers.begin(), info.trailers.end(), size_t{0}));
    if (n.contains("services")) {
      for (const Json& name : n["services"]) {
        if (std::find(info.services.begin(), info.services.end(), name.get<std::string>()) == info.services.end())
          throw Unsuitable{fmt::format("needs service {}, station {} has none", name.get<std::string>(), "ab"[i])};
      }
    }
    // The reference endpoint writes as it acknowledges.
    if (info.kind != "model" && n.contains("ack_after_write") && n["ack_after_write"] != info.ack_after_write) {
      throw Unsuitable{fmt::format("needs ack_after_write {}, station {} has {}", n["ack_after_write"].get<bool>(),
                                   "ab"[i], info.ack_after_write)};
    }
    // The reference endpoint goes back N, and may be the peer of any.
    const bool peer = info.kind == "model" && bench_->size() > 1;
    if (!peer && n.contains("recovery") && n["recovery"] != info.recovery) {
      throw Unsuitable{fmt::format("needs recovery {}, station {} has {}", n["recovery"].get<std::string>(), "ab"[i],
                                   info.recovery)};
    }
  }
}

void Runner::start() {
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

bool Runner::allowed(const char* what) const {
  const Json& d = scenario_.doc;
  if (!d.contains("allow")) return false;
  return std::find(d["allow"].begin(), d["allow"].end(), what) != d["allow"].end();
}

// What must hold at the end of every scenario.
void Runner::finish() {
  bench_->run_for(3000);
  collect();
  check_fault();
  for (size_t i = 0; i < bench_->size(); ++i) {
    if (cqe_at_[i] != cqes_[i].size() && !allowed("completions")) {
      const Cqe& c = cqes_[i][cqe_at_[i]];
      fail(fmt::format("end of scenario: station {} gave a completion that no step expects: id {} on QP {}, {}",
                       "ab"[i], c.wr_id, c.qpn, status_name(c.status)));
    }
    if (received_at_[i] != received_[i].size() && !allowed("completions")) {
      const Cqe& c = received_[i][received_at_[i]];
      fail(fmt::format("end of scenario: station {} gave a receive completion that no step expects: id {} on QP {}, {}",
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

void Runner::steps(const Json& list) {
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

void Runner::step(const std::string& kind, const Json& j) {
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
  if (kind == "shared_ring") return shared_ring(j);
  if (kind == "register") return reg(j);
  if (kind == "post") return post(j);
  if (kind == "recv") return recv(j);
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
  if (kind == "received") return received(j);
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

void Runner::repeat(const Json& j, const Json& body) {
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

std::vector<std::string> Runner::trail() const {
  std::vector<std::pair<Ps, std::string>> all;
  for (size_t i = 0; i < bench_->size(); ++i) {
    const auto& sent = bench_->sent(i);
    for (size_t k = sent.size() > kTrail ? sent.size() - kTrail : 0; k < sent.size(); ++k) {
      all.emplace_back(sent[k].time,
                       fmt::format("{:>9} ns {} #{}: {}", sent[k].time / kNs, "ab"[i], k + 1, describe(sent[k].frame)));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string> out;
  for (size_t k = all.size() > kTrail ? all.size() - kTrail : 0; k < all.size(); ++k) out.push_back(all[k].second);
  return out;
}

ScenarioResult run_scenario(const Scenario& s, const StationFactory& factory, const ScenarioOptions& options) {
  return Runner(s, factory, options).run();
}

}  // namespace rocegen::sim
