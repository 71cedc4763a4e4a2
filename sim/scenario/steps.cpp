// Steps that let something happen: work requests, receive entries, frames from the test, rules of the cable.
#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/runner.h"

namespace rocegen::sim {

void Runner::post(const Json& j) {
  const size_t i = station(j, "on");
  Wqe w;
  w.qpn = qp(j, i).qpn;
  w.opcode = work_opcode(j);
  const uint64_t length = wr_is_atomic(w.opcode) ? value(j, "length", 8) : need(j, "length");
  w.length = static_cast<uint32_t>(length);
  w.laddr = value(j, "local", 0);
  last_region_ = nullptr;
  w.raddr = value(j, "remote", 0);
  w.rkey = last_region_ != nullptr ? last_region_->key : 0;
  w.rkey = static_cast<uint32_t>(value(j, "rkey", w.rkey));
  w.lkey = static_cast<uint32_t>(value(j, "lkey", 0));
  w.target = static_cast<uint8_t>(value(j, "target", bench_->station(i).memory().target_of(w.laddr)));
  w.imm = static_cast<uint32_t>(value(j, "imm", value(j, "inv", 0)));
  w.swap_add = value(j, "add", value(j, "swap", 0));
  w.compare = value(j, "compare", 0);
  const bool signaled = value(j, "signaled", 1) != 0;
  w.flags = static_cast<uint8_t>((signaled ? kWqeSignaled : 0) | (value(j, "solicited", 0) != 0 ? kWqeSolicited : 0) |
                                 (value(j, "fence", 0) != 0 ? kWqeFence : 0) | value(j, "flags", 0));
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

void Runner::recv(const Json& j) {
  const size_t i = station(j, "on");
  Rqe r;
  r.shared = j.contains("srq");
  r.qpn = r.shared ? static_cast<uint32_t>(need(j, "srq")) : qp(j, i).qpn;
  r.addr = value(j, "local", 0);
  r.length = static_cast<uint32_t>(value(j, "length", 0));
  r.lkey = static_cast<uint32_t>(value(j, "lkey", 0));
  r.target = static_cast<uint8_t>(value(j, "target", bench_->station(i).memory().target_of(r.addr)));
  const uint64_t count = value(j, "count", 1);
  const uint64_t stride = value(j, "stride", 0);
  for (uint64_t k = 0; k < count; ++k) {
    r.wr_id = value(j, "id", next_id_) + (j.contains("id") ? k : 0);
    next_id_ = std::max(next_id_, r.wr_id) + 1;
    receives_[i][{r.shared, r.qpn}].push_back(r.wr_id);
    bench_->station(i).post_recv(r);
    r.addr += stride;
  }
  settle();
  bench_->run_for(100);  // until the device can use the entry
}

Bytes Runner::frame(const Json& j, size_t to, const Json& step_body) {
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

void Runner::inject(const Json& j) {
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

FieldMatch Runner::condition(const FieldInfo* field, const Json& v) {
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

std::vector<Runner::Condition> Runner::conditions(const Json& j) {
  std::vector<Condition> out;
  for (const auto& [key, v] : j.items()) {
    if (key == "payload" || key == "optional" || key == "count") continue;
    const In in(*this, key);
    out.push_back({key, condition(find_field(key), v)});
  }
  return out;
}

void Runner::rule(const Json& j) {
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

}  // namespace rocegen::sim
