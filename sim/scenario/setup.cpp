// Steps that set up: connections, regions, receive rings, the cable.
#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/runner.h"

namespace rocegen::sim {
namespace {

constexpr uint64_t kMaxFill = 64u << 20;  // a larger region is not filled unless told

}  // namespace

void Runner::set(const Json& j) {
  for (const auto& [key, v] : j.items()) {
    const In in(*this, key);
    vars_[key] = value(v);
  }
}

void Runner::link(const Json& j) {
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

void Runner::qp_fields(const Json& j, QpConfig& q) {
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
  q.rq_log2 = static_cast<uint8_t>(value(j, "rq_log2", q.rq_log2));
  q.max_rd = static_cast<uint8_t>(value(j, "max_rd", q.max_rd));
  q.max_dest_rd = static_cast<uint8_t>(value(j, "max_dest_rd", q.max_dest_rd));
  if (j.contains("rq")) {
    q.rq_on = need(j, "rq") != 0;
    q.srq = false;
  }
  if (j.contains("srq")) {
    q.rq_on = q.srq = true;
    q.srqn = static_cast<uint16_t>(need(j, "srq"));
  }
  if (j.contains("access")) {
    const In in(*this, "access");
    q.access = access(j["access"]);
  }
}

void Runner::services(const Json& j, size_t station, QpConfig& q) {
  if (!j.contains("services") || station >= bench_->size()) return;
  const In in(*this, "services");
  const std::vector<std::string>& known = bench_->station(station).info().services;
  uint8_t mask = 0;
  for (const Json& name : j["services"]) {
    const auto it = std::find(known.begin(), known.end(), name.get<std::string>());
    if (it == known.end())
      throw Unsuitable{fmt::format("needs service {}, station {} has none", name.get<std::string>(), "ab"[station])};
    mask = static_cast<uint8_t>(mask | 1u << (it - known.begin()));
  }
  q.services = mask;
}

void Runner::connect(const Json& j) {
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
    q.rq_log2 = 4;
    q.max_rd = q.max_dest_rd = 4;
    if (i < bench_->size()) {
      q.max_rd = q.max_dest_rd = static_cast<uint8_t>(std::min(4u, bench_->station(i).info().rd_depth));
    }
    qp_fields(j, q);
    services(j, i, q);
    const char* const side = i == 0 ? "a" : "b";
    if (!j.contains(side)) continue;
    const In in(*this, side);
    qp_fields(j[side], q);
    services(j[side], i, q);
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
    if (std::max(q.max_rd, q.max_dest_rd) > info.rd_depth) {
      throw Unsuitable{fmt::format("needs {} READs outstanding, station {} has {}", std::max(q.max_rd, q.max_dest_rd),
                                   side, info.rd_depth)};
    }
    if (q.srq && q.srqn >= info.srq_count) {
      throw Unsuitable{fmt::format("needs shared ring {}, station {} has {}", q.srqn, side, info.srq_count)};
    }
    if (((q.sq_psn | q.rq_psn | q.dqpn) >> 24) != 0) fail("a PSN or QPN does not fit into 24 bits");
    bench_->station(i).setup_qp(q);
    posted_[i][q.qpn].clear();
    receives_[i][{false, q.qpn}].clear();
  }
  connections_[n] = c;
  settle();
}

void Runner::shared_ring(const Json& j) {
  const size_t i = station(j, "on");
  SrqConfig c;
  c.srqn = static_cast<uint16_t>(value(j, "number", 0));
  c.log2 = static_cast<uint8_t>(value(j, "log2", c.log2));
  const StationInfo& info = bench_->station(i).info();
  if (c.srqn >= info.srq_count) {
    throw Unsuitable{fmt::format("needs shared ring {}, station {} has {}", c.srqn, "ab"[i], info.srq_count)};
  }
  bench_->station(i).setup_srq(c);
  receives_[i][{true, c.srqn}].clear();
  settle();
}

/// Writes `value`, reads for `equals`; both: in this order.
void Runner::reg(const Json& j) {
  const size_t i = station(j, "on");
  const std::string n = text(j, "name", "");
  const auto word = static_cast<uint32_t>(value(j, "word", 0));
  bool known = true;
  if (j.contains("value")) known = bench_->station(i).poke(n, word, static_cast<uint32_t>(need(j, "value")));
  settle();
  if (j.contains("equals")) {
    uint32_t got = 0;
    known = known && bench_->station(i).peek(n, word, [&got](uint32_t v) { got = v; });
    settle();
    if (known && got != need(j, "equals"))
      fail(fmt::format("register {} of station {} is {:#x}, expected {:#x}", n, "ab"[i], got, need(j, "equals")));
  }
  if (!known) fail(fmt::format("station {} has no register {}", "ab"[i], n));
}

void Runner::region(const Json& j) {
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
  mr.target = static_cast<uint8_t>(value(j, "target", 0));
  mr.base = r.base;
  mr.length = r.length;
  if (mr.target >= bench_->station(i).info().targets)
    throw Unsuitable{
        fmt::format("needs target {}, station {} has {}", mr.target, "ab"[i], bench_ -> station(i).info().targets)};
  if (mr.target != 0) bench_->station(i).memory().set_target(r.base, r.length, mr.target);
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
  const bool writable = value(j, "writable", is_mr && mr.valid && (mr.access & (kAccWrite | kAccAtomic)) != 0) != 0;
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

void Runner::axi_error(const Json& j) {
  if (value(j, "clear", 0) != 0) {
    for (size_t i = 0; i < bench_->size(); ++i) memory(i).clear_errors();
    return;
  }
  if (!j.contains("at")) fail("needs \"at\" or \"clear\"");
  memory(memory_of(j, "at"))
      .add_error({need(j, "at"), value(j, "length", 1)}, value(j, "reads", 0) != 0, value(j, "writes", 0) != 0);
}

}  // namespace rocegen::sim
