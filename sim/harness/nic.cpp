#include "sim/harness/nic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

namespace rocegen::sim {
namespace {

constexpr uint32_t kIdValue = 0x45434F52;
constexpr size_t kMaxViolations = 16;
constexpr uint64_t kResetCycles = 16;

void put_le(uint8_t* p, size_t n, uint64_t v) {
  for (size_t i = 0; i < n; ++i) p[i] = static_cast<uint8_t>(v >> (8 * i));
}

uint64_t get_le(const uint8_t* p, size_t n) {
  uint64_t v = 0;
  for (size_t i = n; i-- > 0;) v = (v << 8) | p[i];
  return v;
}

/// roce_pkg::wqe_t.
void pack_wqe(const Wqe& w, uint8_t* out) {
  std::memset(out, 0, 64);
  out[0] = w.opcode;
  out[1] = w.flags;
  out[2] = w.target & 7;
  put_le(out + 4, 3, w.qpn);
  put_le(out + 8, 8, w.wr_id);
  put_le(out + 16, 8, w.laddr);
  put_le(out + 24, 4, w.length);
  put_le(out + 28, 4, w.lkey);
  put_le(out + 32, 8, w.raddr);
  put_le(out + 40, 4, w.rkey);
  put_le(out + 44, 4, w.imm);
  put_le(out + 48, 8, w.swap_add);
  put_le(out + 56, 8, w.compare);
}

/// roce_pkg::rqe_t.
void pack_rqe(const Rqe& r, uint8_t* out) {
  std::memset(out, 0, 32);
  out[1] = r.shared ? 1 : 0;
  out[2] = r.target & 7;
  put_le(out + 4, 3, r.qpn);
  put_le(out + 8, 8, r.wr_id);
  put_le(out + 16, 8, r.addr);
  put_le(out + 24, 4, r.length);
  put_le(out + 28, 4, r.lkey);
}

/// roce_pkg::cqe_t.
Cqe unpack_cqe(const uint8_t* in) {
  Cqe c;
  c.status = static_cast<WcStatus>(in[0]);
  c.opcode = in[1];
  c.flags = static_cast<uint16_t>(get_le(in + 2, 2));
  c.qpn = static_cast<uint32_t>(get_le(in + 4, 3));
  c.wr_id = get_le(in + 8, 8);
  c.bytes = static_cast<uint32_t>(get_le(in + 16, 4));
  c.imm = static_cast<uint32_t>(get_le(in + 20, 4));
  c.syndrome = static_cast<uint32_t>(get_le(in + 24, 4));
  return c;
}

}  // namespace

Nic::Nic(std::string name, std::unique_ptr<Dut> dut, RegisterMap map, const NicOptions& options)
    : Station(std::move(name), options.seed),
      dut_(std::move(dut)),
      map_(std::move(map)),
      options_(options),
      rng_(options.seed * 2 + 1) {
  for (size_t t = 0; t < dut_->info().targets; ++t)
    axi_.push_back(std::make_unique<AxiSlave>(memory_, dut_->info().data_bytes, options.axi,
                                              options.seed * 2 + 2 + 64 * t, static_cast<uint8_t>(t)));
  info_.targets = static_cast<uint32_t>(dut_->info().targets);
  info_.kind = "dut";
  info_.data_bytes = dut_->info().data_bytes;
  info_.max_mtu = options.max_mtu;
  info_.recovery = options.recovery;
  info_.ack_after_write = options.ack_after_write;
  info_.services = options.services;
  info_.trailers = options.trailers;
  info_.serve = options.serve;
  info_.rows = options.rows;
  info_.aes = options.aes;
  info_.counters_by_register = true;
  mac_period_ = options.mac_period != 0 ? options.mac_period : period_;
}

void Nic::violation(std::string text) {
  if (violations_.size() < kMaxViolations) violations_.push_back(fmt::format("cycle {}: {}", cycles_, text));
}

std::vector<std::string> Nic::violations() const {
  std::vector<std::string> all = violations_;
  for (const auto& slave : axi_)
    for (const auto& v : slave->violations()) all.push_back(v);
  for (const auto& v : memory_.violations()) all.push_back(v);
  if (dut_->failed()) all.push_back("an assertion of the RTL failed; its text is on stdout");
  return all;
}

bool Nic::accessing_memory() const {
  return std::any_of(axi_.begin(), axi_.end(), [](const auto& slave) { return !slave->idle(); });
}

// ---- registers ------------------------------------------------------------------------------------------------------

void Nic::write_register(uint16_t address, uint32_t value, std::function<void()> done) {
  axil_.push_back({true, address, value, [d = std::move(done)](uint32_t) {
                     if (d) d();
                   }});
}

void Nic::read_register(uint16_t address, std::function<void(uint32_t)> done) {
  axil_.push_back({false, address, 0, std::move(done)});
}

bool Nic::poke(const std::string& name, uint32_t words, uint32_t value) {
  const auto it = map_.registers.find(name);
  if (it == map_.registers.end()) return false;
  write_register(static_cast<uint16_t>(it->second + 4 * words), value);
  return true;
}

bool Nic::peek(const std::string& name, uint32_t words, std::function<void(uint32_t)> done) {
  const auto it = map_.registers.find(name);
  if (it == map_.registers.end()) return false;
  read_register(static_cast<uint16_t>(it->second + 4 * words), std::move(done));
  return true;
}

// After reset: identify, learn the constants, wait until the tables are clear, then do what was asked meanwhile.
void Nic::boot() {
  booted_ = true;
  read_register(map_.at("ID"), [this](uint32_t v) {
    if (v != kIdValue) violation(fmt::format("register ID is {:#010x}, not {:#010x}", v, kIdValue));
  });
  read_register(map_.at("DATA_WIDTH"), [this](uint32_t v) {
    if (v != info_.data_bytes * 8)
      violation(fmt::format("register DATA_WIDTH is {}, the bus has {}", v, info_.data_bytes * 8));
  });
  read_register(map_.at("QP_COUNT"), [this](uint32_t v) { info_.qp_count = v; });
  read_register(map_.at("MR_COUNT"), [this](uint32_t v) { info_.mr_count = v; });
  read_register(map_.at("WQE_SLOTS"), [this](uint32_t v) { info_.wqe_slots = v; });
  read_register(map_.at("RQE_SLOTS"), [this](uint32_t v) { info_.rqe_slots = v; });
  read_register(map_.at("SRQ_COUNT"), [this](uint32_t v) { info_.srq_count = v; });
  read_register(map_.at("READ_DEPTH"), [this](uint32_t v) { info_.rd_depth = v; });
  read_register(map_.at("CLOCK_KHZ"), [this](uint32_t v) {
    if (v == 0) {
      violation("register CLOCK_KHZ is 0");
      return;
    }
    period_ = (1'000'000'000 + v / 2) / v;
    if (!dut_->info().has_mac_clk) {
      mac_period_ = period_;
    } else if (options_.mac_period == 0) {
      mac_period_ = period_ + period_ / 37 + 1;
    }
  });
  const auto poll = [this](auto&& self) -> void {
    read_register(map_.at("STATUS"), [this, self](uint32_t v) {
      if ((v & 1) == 0) {
        self(self);
        return;
      }
      ready_ = true;
      write_register(map_.at("CTRL"), 1);
      for (const auto& f : deferred_) f();
      deferred_.clear();
    });
  };
  poll(poll);
}

void Nic::configure(const LocalAddress& a) {
  Station::configure(a);
  if (!ready_) {
    deferred_.push_back([this, a] { configure(a); });
    return;
  }
  write_register(map_.at("LOCAL_MAC_LO"), static_cast<uint32_t>(a.mac));
  write_register(map_.at("LOCAL_MAC_HI"), static_cast<uint32_t>(a.mac >> 32));
  write_register(map_.at("LOCAL_IP"), a.ip);
  write_register(map_.at("IP_CONFIG"), static_cast<uint32_t>(a.ttl | a.tos << 8));
}

void Nic::setup_qp(const QpConfig& qp) {
  Station::setup_qp(qp);
  if (!ready_) {
    deferred_.push_back([this, qp] { setup_qp(qp); });
    return;
  }
  if (qp.qpn >= info_.qp_count) violation(fmt::format("test sets up QP {} of {}", qp.qpn, info_.qp_count));
  SendRing& ring = rings_[qp.qpn];
  ring = SendRing{};
  std::tie(ring.base, ring.log2) = cut(send_slots_, qp.qpn, qp.sq_log2, info_.wqe_slots, info_.qp_count);
  RecvRing& receive = recv_rings_[{false, qp.qpn}];
  receive = RecvRing{};
  if (qp.rq_on && !qp.srq) {
    std::tie(receive.base, receive.log2) =
        cut(recv_slots_, RecvKey{false, qp.qpn}, qp.rq_log2, info_.rqe_slots, info_.qp_count);
  }
  write_register(map_.at("QP_NUM"), qp.qpn);
  write_register(map_.at("QP_ATTR"),
                 static_cast<uint32_t>(qp.pmtu) | static_cast<uint32_t>(qp.access) << 4 |
                     static_cast<uint32_t>(qp.timeout) << 8 | static_cast<uint32_t>(qp.retry_cnt) << 16 |
                     static_cast<uint32_t>(qp.rnr_retry) << 20 | static_cast<uint32_t>(qp.min_rnr_timer) << 24);
  write_register(map_.at("QP_PROT"), static_cast<uint32_t>(qp.pkey) | static_cast<uint32_t>(qp.pd) << 16);
  write_register(map_.at("QP_RQ_PSN"), qp.rq_psn);
  write_register(map_.at("QP_SQ_PSN"), qp.sq_psn);
  write_register(map_.at("QP_DEST_QPN"), qp.dqpn);
  write_register(map_.at("QP_DEST_IP"), qp.dip);
  write_register(map_.at("QP_DEST_MAC_LO"), static_cast<uint32_t>(qp.dmac));
  write_register(map_.at("QP_DEST_MAC_HI"), static_cast<uint32_t>(qp.dmac >> 32) | static_cast<uint32_t>(qp.sport)
                                                                                       << 16);
  write_register(map_.at("QP_SQ_RING"), ring.base | static_cast<uint32_t>(ring.log2) << 24);
  write_register(map_.at("QP_RD_LIMITS"), qp.max_rd | static_cast<uint32_t>(qp.max_dest_rd) << 8);
  write_register(map_.at("QP_RQ_RING"), receive.base | static_cast<uint32_t>(receive.log2) << 24);
  write_register(map_.at("QP_RQ_ATTR"),
                 (qp.rq_on ? 1u : 0u) | (qp.srq ? 2u : 0u) | static_cast<uint32_t>(qp.srqn) << 16);
  if (!options_.services.empty()) {
    write_register(map_.at("QP_SERVICES"), info_.services_of(qp));
  }
  write_register(map_.at("QP_COMMAND"), static_cast<uint32_t>(qp.state) | 0x100u);
  if (options_.aes && qp.state != QpState::Reset && (info_.services_of(qp) & options_.aes->bit) != 0) write_keys(qp);
}

void Nic::write_keys(const QpConfig& qp) {
  std::string prefix = options_.aes->name + "_";
  for (char& c : prefix) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto window = [&](const std::string& name, uint32_t value) {
    if (!poke(prefix + name, 0, value)) violation(fmt::format("there is no register {}{}", prefix, name));
  };
  // Received first: the peer may send as soon as it has its own.
  for (const bool received : {true, false}) {
    const AesKey key = agreed_key(address_, qp, received, options_.aes->key_bytes);
    window("QPN", qp.qpn);
    window("SALT", static_cast<uint32_t>(get_le(key.salt.data(), 4)));
    window("FROM_REQUEST", key.from_request);
    window("FROM_RESPONSE", key.from_response);
    for (size_t i = 0; i < key.key.size(); i += 4)
      window(fmt::format("KEY_{}", i / 4), static_cast<uint32_t>(get_le(&key.key[i], 4)));
    window("COMMAND", (received ? 1u : 0u) | (key.key.size() == 32 ? 2u : 0u));
    peek(prefix + "STATUS", 0, [this, qpn = qp.qpn, received](uint32_t status) {
      const uint32_t result = (status >> 16) & 0xF;
      const uint32_t valid = (status >> (received ? 8 : 0)) & 3;
      if (result != 0) violation(fmt::format("a key of QP {} is refused: {}", qpn, result));
      if (std::popcount(valid) != 1) violation(fmt::format("the first key of QP {} has slots {}", qpn, valid));
    });
    if (!received && options_.on_key) options_.on_key(key, qp);
  }
}

/// The owner's part of a ring memory of `total` slots: what it has, or a new one of 2^asked slots (31: its share).
template <typename Key>
std::pair<uint32_t, uint8_t> Nic::cut(Slots<Key>& slots, const Key& key, uint8_t asked, uint32_t total,
                                      uint32_t owners) {
  const auto it = slots.part.find(key);
  if (it != slots.part.end()) return it->second;
  const uint32_t share = std::max(1u, total / std::max(1u, owners));
  auto log2 = static_cast<uint8_t>(
      std::min<uint32_t>(options_.max_qp_slots_log2, static_cast<uint32_t>(std::bit_width(share)) - 1));
  if (asked < 31) log2 = asked;
  while (log2 > 0 && slots.used + (1u << log2) > total) --log2;
  const auto part = std::make_pair(slots.used, log2);
  slots.part.emplace(key, part);
  slots.used += 1u << log2;
  if (slots.used > total) violation(fmt::format("{} ring slots are not enough for this test", total));
  return part;
}

void Nic::setup_srq(const SrqConfig& srq) {
  if (!ready_) {
    deferred_.push_back([this, srq] { setup_srq(srq); });
    return;
  }
  if (srq.srqn >= info_.srq_count) {
    violation(fmt::format("test sets up shared ring {} of {}", srq.srqn, info_.srq_count));
  }
  RecvRing& ring = recv_rings_[{true, srq.srqn}];
  ring = RecvRing{};
  std::tie(ring.base, ring.log2) =
      cut(recv_slots_, RecvKey{true, srq.srqn}, srq.log2, info_.rqe_slots, info_.qp_count + info_.srq_count);
  write_register(map_.at("SRQ_NUM"), srq.srqn);
  write_register(map_.at("SRQ_RING"), ring.base | static_cast<uint32_t>(ring.log2) << 24);
  write_register(map_.at("SRQ_COMMAND"), 1);
}

void Nic::set_qp_state(uint32_t qpn, QpState state) {
  if (!ready_) {
    deferred_.push_back([this, qpn, state] { set_qp_state(qpn, state); });
    return;
  }
  write_register(map_.at("QP_NUM"), qpn);
  write_register(map_.at("QP_COMMAND"), static_cast<uint32_t>(state));
}

void Nic::setup_mr(const MrConfig& mr) {
  if (!ready_) {
    deferred_.push_back([this, mr] { setup_mr(mr); });
    return;
  }
  if (mr.index >= info_.mr_count) violation(fmt::format("test sets up region {} of {}", mr.index, info_.mr_count));
  write_register(map_.at("MR_INDEX"), mr.index);
  write_register(map_.at("MR_ATTR"), static_cast<uint32_t>(mr.variant) | static_cast<uint32_t>(mr.access) << 8 |
                                         (mr.valid ? 1u << 12 : 0u) | static_cast<uint32_t>(mr.target & 7) << 13 |
                                         static_cast<uint32_t>(mr.pd) << 16);
  write_register(map_.at("MR_BASE_LO"), static_cast<uint32_t>(mr.base));
  write_register(map_.at("MR_BASE_HI"), static_cast<uint32_t>(mr.base >> 32));
  write_register(map_.at("MR_LEN_LO"), static_cast<uint32_t>(mr.length));
  write_register(map_.at("MR_LEN_HI"), static_cast<uint32_t>(mr.length >> 32));
  write_register(map_.at("MR_COMMAND"), 1);
}

void Nic::request_counters() {
  for (const CounterInfo& c : map_.counters) {
    read_register(c.address, [this, name = c.name](uint32_t v) { counter_values_[name] = v; });
  }
}

std::optional<uint64_t> Nic::counter(const std::string& name) const {
  const auto it = counter_values_.find(name);
  if (it == counter_values_.end()) return std::nullopt;
  return it->second;
}

std::vector<std::pair<std::string, uint64_t>> Nic::counters() const {
  std::vector<std::pair<std::string, uint64_t>> out;
  for (const CounterInfo& c : map_.counters) {
    const auto it = counter_values_.find(c.name);
    if (it != counter_values_.end()) out.emplace_back(c.name, it->second);
  }
  return out;
}

void Nic::axil_drive() {
  DutIn& in = dut_->in;
  if (!axil_busy_ && !axil_.empty() && !rng_.chance(options_.axil_gap)) {
    op_ = std::move(axil_.front());
    axil_.pop_front();
    axil_busy_ = true;
    aw_done_ = w_done_ = ar_done_ = false;
  }
  const bool writing = axil_busy_ && op_.write;
  const bool reading = axil_busy_ && !op_.write;
  // Address and data of a write may come in any order; once valid they stay.
  in.axil_awvalid = writing && !aw_done_ && (in.axil_awvalid || !rng_.chance(options_.axil_gap));
  in.axil_wvalid = writing && !w_done_ && (in.axil_wvalid || !rng_.chance(options_.axil_gap));
  in.axil_arvalid = reading && !ar_done_;
  in.axil_awaddr = op_.address;
  in.axil_araddr = op_.address;
  in.axil_wdata = op_.data;
  in.axil_bready = writing && aw_done_ && w_done_ && !rng_.chance(options_.axil_gap);
  in.axil_rready = reading && ar_done_ && !rng_.chance(options_.axil_gap);
}

void Nic::axil_sample() {
  const DutIn& in = dut_->in;
  const DutOut& out = dut_->out;
  if (in.axil_awvalid && out.axil_awready) aw_done_ = true;
  if (in.axil_wvalid && out.axil_wready) w_done_ = true;
  if (in.axil_arvalid && out.axil_arready) ar_done_ = true;
  if (out.axil_bvalid && !(axil_busy_ && op_.write)) violation("AXI4-Lite B without a write");
  if (out.axil_rvalid && !(axil_busy_ && !op_.write)) violation("AXI4-Lite R without a read");
  const bool b = out.axil_bvalid && in.axil_bready;
  const bool r = out.axil_rvalid && in.axil_rready;
  if (!b && !r) return;
  if (b && out.axil_bresp != 0)
    violation(fmt::format("register write {:#x}: response {}", op_.address, out.axil_bresp));
  if (r && out.axil_rresp != 0) violation(fmt::format("register read {:#x}: response {}", op_.address, out.axil_rresp));
  axil_busy_ = false;
  const auto done = std::move(op_.done);
  if (done) done(r ? out.axil_rdata : 0);
}

// ---- work and completion queues
// ---------------------------------------------------------------------------------------

void Nic::post(const Wqe& wqe) {
  SendRing& ring = rings_[wqe.qpn];
  if (ring.waiting.empty()) wqe_turn_.push_back(wqe.qpn);
  ring.waiting.push_back(wqe);
}

/// Offers the next request whose ring has room, round robin over the QPs.
void Nic::next_wqe() {
  for (size_t i = wqe_turn_.size(); i > 0; --i) {
    const uint32_t qpn = wqe_turn_.front();
    wqe_turn_.pop_front();
    SendRing& ring = rings_[qpn];
    if (ring.waiting.empty()) continue;
    if (ring.full()) {
      wqe_turn_.push_back(qpn);
      continue;
    }
    pack_wqe(ring.waiting.front(), dut_->in.wqe);
    ring.outstanding.push_back(ring.waiting.front().wr_id);
    ring.waiting.pop_front();
    if (!ring.waiting.empty()) wqe_turn_.push_back(qpn);
    dut_->in.wqe_valid = true;
    wqe_held_ = true;
    return;
  }
}

void Nic::post_recv(const Rqe& rqe) {
  const RecvKey key{rqe.shared, rqe.qpn};
  RecvRing& ring = recv_rings_[key];
  if (ring.waiting.empty()) rqe_turn_.push_back(key);
  ring.waiting.push_back(rqe);
}

/// The same for receive entries.
void Nic::next_rqe() {
  for (size_t i = rqe_turn_.size(); i > 0; --i) {
    const RecvKey key = rqe_turn_.front();
    rqe_turn_.pop_front();
    RecvRing& ring = recv_rings_[key];
    if (ring.waiting.empty()) continue;
    if (ring.full()) {
      rqe_turn_.push_back(key);
      continue;
    }
    uint8_t entry[32];
    pack_rqe(ring.waiting.front(), entry);
    ring.outstanding.push_back(ring.waiting.front().wr_id);
    ring.waiting.pop_front();
    if (!ring.waiting.empty()) rqe_turn_.push_back(key);
    rqe_held_ = true;
    if (axil_.empty() && rng_.chance(options_.rqe_by_register)) {
      write_rqe(entry);
      return;
    }
    std::memcpy(dut_->in.rqe, entry, sizeof entry);
    dut_->in.rqe_valid = true;
    return;
  }
}

bool Nic::receives_posted() const {
  return !rqe_held_ && std::none_of(rqe_turn_.begin(), rqe_turn_.end(), [&](const RecvKey& key) {
    const auto it = recv_rings_.find(key);
    return it != recv_rings_.end() && !it->second.waiting.empty() && !it->second.full();
  });
}

/// Posts an entry through the registers; the stream waits meanwhile, for the order within a ring.
void Nic::write_rqe(const uint8_t* entry) {
  for (unsigned i = 0; i < 8; ++i) {
    write_register(map_.at(fmt::format("RQE_WORD{}", i)), static_cast<uint32_t>(get_le(entry + 4 * i, 4)));
  }
  write_register(map_.at("RQE_COMMAND"), 0);
  const auto poll = [this](auto&& self) -> void {
    read_register(map_.at("RQE_COMMAND"), [this, self](uint32_t v) {
      if ((v & 1) == 0) {
        rqe_held_ = false;
      } else {
        self(self);
      }
    });
  };
  poll(poll);
}

/// Receives of a QP's own ring complete in order and every one of them; those of a shared ring in any order.
void Nic::take_receive(const Cqe& c) {
  RecvRing& own = recv_rings_[{false, c.qpn}];
  if (!own.outstanding.empty() && own.outstanding.front() == c.wr_id) {
    own.outstanding.pop_front();
    return;
  }
  for (auto& [key, ring] : recv_rings_) {
    if (!key.first) continue;
    const auto at = std::find(ring.outstanding.begin(), ring.outstanding.end(), c.wr_id);
    if (at == ring.outstanding.end()) continue;
    ring.outstanding.erase(at);
    return;
  }
  violation(fmt::format(
      "receive completion of wr_id {} on QP {}, but {}", c.wr_id, c.qpn,
      own.outstanding.empty() ? "no entry of it is outstanding" : fmt::format("{} is next", own.outstanding.front())));
}

void Nic::take_cqe(Ps now) {
  Cqe c = unpack_cqe(dut_->out.cqe);
  c.time = now;
  if (c.receive()) {
    take_receive(c);
    cqes_.push_back(c);
    return;
  }
  // Completions of a QP come in order: this one retires every request before it, which must have been unsignaled.
  const auto it = rings_.find(c.qpn);
  if (it == rings_.end()) {
    violation(fmt::format("completion for QP {}, which was never set up", c.qpn));
  } else {
    auto& o = it->second.outstanding;
    const auto at = std::find(o.begin(), o.end(), c.wr_id);
    if (at == o.end()) {
      violation(fmt::format("completion of wr_id {} on QP {}, which is not outstanding", c.wr_id, c.qpn));
    } else {
      o.erase(o.begin(), at + 1);
    }
  }
  cqes_.push_back(c);
}

bool Nic::poll_cqe(Cqe& out) {
  if (cqes_.empty()) return false;
  out = cqes_.front();
  cqes_.pop_front();
  return true;
}

bool Nic::poll_event(QpEvent& out) {
  if (events_.empty()) return false;
  out = events_.front();
  events_.pop_front();
  return true;
}

// ---- wire -----------------------------------------------------------------------------------------------------------

void Nic::pause(Ps /*now*/, bool on) { paused_ = on; }

void Nic::receive(Ps /*now*/, Bytes&& frame, bool bad) {
  if (!frame.empty()) rx_.push_back({std::move(frame), bad});
}

void Nic::mac_drive(Ps now) {
  DutIn& in = dut_->in;
  const size_t width = dut_->info().mac_bytes;
  if (!rx_held_) {
    in.rx_valid = !rx_.empty() && ready_ && !rng_.chance(options_.rx_gap);
    if (in.rx_valid) {
      const Arriving& a = rx_.front();
      const size_t n = std::min(width, a.frame.size() - rx_at_);
      std::memcpy(in.rx_data, &a.frame[rx_at_], n);
      // Bytes beyond the frame are noise: tkeep alone says what counts.
      for (size_t i = n; i < width; ++i) in.rx_data[i] = static_cast<uint8_t>(0xA5 + i);
      std::memset(in.rx_keep, 0, sizeof in.rx_keep);
      for (size_t i = 0; i < n; ++i) in.rx_keep[i / 8] = static_cast<uint8_t>(in.rx_keep[i / 8] | 1u << (i % 8));
      in.rx_last = rx_at_ + n == a.frame.size();
      in.rx_bad = in.rx_last && a.bad;
      rx_held_ = true;
    }
  }
  in.tx_ready =
      !paused_ && (tx_inside_ || now + Ps{options_.mac_buffer_ns} * kNs >= tx_free_) && !rng_.chance(options_.tx_stall);
}

void Nic::mac_sample(Ps now) {
  const DutIn& in = dut_->in;
  const DutOut& out = dut_->out;
  const size_t width = dut_->info().mac_bytes;
  if (in.rx_valid) {
    if (!out.rx_ready) {
      violation("s_axis_rx_tready is low while a frame arrives: a MAC cannot wait");
    } else {
      if (rx_at_ == 0 && probe_.rx_first == 0) probe_.rx_first = now;
      if (in.rx_last) {
        if (probe_.rx_first_end == 0) probe_.rx_first_end = now;
        probe_.rx_last_end = now;
      }
      rx_at_ += width;
      rx_held_ = false;
      if (in.rx_last) {
        rx_.pop_front();
        rx_at_ = 0;
      }
    }
  }
  const size_t keep_bytes = std::max<size_t>(1, width / 8);
  if (tx_held_ &&
      (!out.tx_valid || out.tx_last != tx_held_last_ || std::memcmp(out.tx_data, tx_held_data_, width) != 0 ||
       std::memcmp(out.tx_keep, tx_held_keep_, keep_bytes) != 0)) {
    violation("m_axis_tx changed while it was stalled");
  }
  tx_held_ = out.tx_valid && !in.tx_ready;
  if (tx_held_) {
    tx_held_last_ = out.tx_last;
    std::memcpy(tx_held_data_, out.tx_data, width);
    std::memcpy(tx_held_keep_, out.tx_keep, keep_bytes);
  }
  if (tx_inside_ && !out.tx_valid && !dut_->info().has_mac_clk) violation("gap inside a frame on m_axis_tx");
  if (!out.tx_valid || !in.tx_ready) return;
  size_t n = 0;
  while (n < width && ((out.tx_keep[n / 8] >> (n % 8)) & 1) != 0) ++n;
  bool clean = n > 0 && (out.tx_last || n == width);
  for (size_t i = n; i < width; ++i) clean = clean && ((out.tx_keep[i / 8] >> (i % 8)) & 1) == 0;
  if (!clean) violation("m_axis_tx_tkeep is not contiguous from byte 0, empty, or not full before the last beat");
  if (!tx_inside_) tx_start_ = now;
  if (probe_.tx_first == 0) probe_.tx_first = now;
  if (probe_.tx_last == 0 && out.tx_last) probe_.tx_last = now;
  tx_frame_.insert(tx_frame_.end(), out.tx_data, out.tx_data + n);
  tx_inside_ = !out.tx_last;
  if (out.tx_last) {
    if (options_.gbps > 0) {
      // Preamble, FCS and gap take 24 bytes more; one bit takes 1000 / gbps picoseconds.
      const Ps line = static_cast<Ps>(static_cast<double>((tx_frame_.size() + 24) * 8) * 1000.0 / options_.gbps);
      tx_free_ = std::max(tx_start_, tx_free_) + line;
    }
    // With a buffer the frame leaves the MAC when the line has sent it.
    transmit_(options_.mac_buffer_ns > 0 ? std::max(now, tx_free_) : now, std::move(tx_frame_));
    tx_frame_ = Bytes();
    tx_frame_.reserve(4200);
  }
}

// ---- clocks
// -----------------------------------------------------------------------------------------------------------

void Nic::core_drive() {
  DutIn& in = dut_->in;
  in.rst = edges_ < kResetCycles;
  in.rst_mac = in.rst;
  if (in.rst) return;
  if (!booted_) boot();
  axil_drive();
  for (size_t t = 0; t < axi_.size(); ++t) axi_[t]->drive(in.axi[t]);
  if (!wqe_held_) {
    in.wqe_valid = false;
    if (!wqe_turn_.empty() && ready_ && !rng_.chance(options_.wqe_gap)) next_wqe();
  }
  if (!rqe_held_) {
    in.rqe_valid = false;
    if (!rqe_turn_.empty() && ready_ && !rng_.chance(options_.rqe_gap)) next_rqe();
  }
  in.cqe_ready = !rng_.chance(options_.cqe_stall);
}

void Nic::core_sample(Ps now) {
  const DutIn& in = dut_->in;
  const DutOut& out = dut_->out;
  if (in.rst) return;
  axil_sample();
  for (size_t t = 0; t < axi_.size(); ++t) {
    const AxiOut& o = out.axi[t];
    const AxiIn& a = in.axi[t];
    axi_[t]->sample(o);
    if (o.arvalid && a.arready && probe_.ar_first == 0) probe_.ar_first = now;
    if (a.rvalid && o.rready && probe_.r_first == 0) probe_.r_first = now;
    if (o.awvalid && a.awready && probe_.aw_first == 0) probe_.aw_first = now;
    if (o.wvalid && a.wready) probe_.w_last = now;
  }
  if (in.wqe_valid && out.wqe_ready) probe_.wqe = now;
  if (in.wqe_valid && out.wqe_ready) wqe_held_ = false;
  if (in.rqe_valid && out.rqe_ready) rqe_held_ = false;
  if (cqe_held_ && (!out.cqe_valid || std::memcmp(out.cqe, cqe_held_data_, sizeof cqe_held_data_) != 0)) {
    violation("m_axis_cqe changed while it was stalled");
  }
  cqe_held_ = out.cqe_valid && !in.cqe_ready;
  if (cqe_held_) std::memcpy(cqe_held_data_, out.cqe, sizeof cqe_held_data_);
  if (out.cqe_valid && in.cqe_ready) {
    probe_.cqe_last = now;
    take_cqe(now);
  }
  if (out.irq && ready_ && !event_read_) {
    event_read_ = true;
    read_register(map_.at("EVENT"), [this](uint32_t v) {
      event_read_ = false;
      if ((v >> 31) != 0) events_.push_back({static_cast<EventCause>((v >> 24) & 0x7F), v & 0xFFFFFF});
    });
  }
}

Ps Nic::next_time() const { return dut_->info().has_mac_clk ? std::min(next_core_, next_mac_) : next_core_; }

void Nic::advance(Ps now) {
  const bool two = dut_->info().has_mac_clk;
  while (true) {
    const Ps t = next_time();
    if (t > now) return;
    const bool core = next_core_ == t;
    const bool mac = two ? next_mac_ == t : core;
    if (core) core_drive();
    if (mac && !dut_->in.rst) mac_drive(t);
    // Halfway from the last edge: with one clock a duty cycle of one half.
    dut_->set_time((last_edge_ + t) / 2, t);
    last_edge_ = t;
    dut_->settle();
    if (core) core_sample(t);
    if (mac && !dut_->in.rst_mac) mac_sample(t);
    dut_->rise(core, mac);
    if (core) {
      ++cycles_;
      ++edges_;
      next_core_ = t + period_;
    }
    if (two && mac) next_mac_ = t + mac_period_;
  }
}

}  // namespace rocegen::sim
