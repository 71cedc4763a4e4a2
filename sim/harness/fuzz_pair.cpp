#include "sim/harness/fuzz_pair.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/scenario.h"

namespace rocegen::sim {
namespace {

constexpr uint64_t kBase = 0x0000'00B0'0000'0000;
constexpr uint64_t kPairBytes = 0x0010'0000;
constexpr uint64_t kSource = 0x1'0000;  // offsets within a pair's part
constexpr uint64_t kReceive = 0x2'0000;
constexpr uint64_t kRead = 0x8'0000;
constexpr uint64_t kWindowBytes = 12'345;
constexpr uint64_t kSourceBytes = 10'007;
constexpr uint64_t kSlotBytes = 0x8000;
constexpr uint32_t kMaxLength = 9'000;
constexpr uint32_t kReceives = 4;
constexpr uint64_t kCounterBytes = 8;  // at the window's start, for FetchAdd

Bytes le64(uint64_t v) {
  Bytes b(8);
  for (size_t i = 0; i < 8; ++i) b[i] = static_cast<uint8_t>(v >> (8 * i));
  return b;
}

}  // namespace

CheckedPair::CheckedPair(Bench& bench, const Options& options, uint64_t seed) : bench_(bench), o_(options), rng_(seed) {
  for (size_t i = 0; i < 2; ++i) {
    declare(i);
    half_[i].window = {.index = o_.region[i],
                       .access = kAccWrite | kAccRead | kAccAtomic,
                       .pd = o_.pd,
                       .base = base(i),
                       .length = kWindowBytes};
    half_[i].source = {.index = o_.region[i] + 1,
                       .access = kAccRead,
                       .pd = o_.pd,
                       .base = base(i) + kSource + 3,
                       .length = kSourceBytes};
  }
}

void CheckedPair::declare(size_t station) {
  Memory& memory = bench_.station(station).memory();
  memory.add_region(base(station), kWindowBytes);
  for (uint64_t k = 0; k < kReceives; ++k) memory.add_region(base(station) + kReceive + k * kSlotBytes, kMaxLength);
  for (uint64_t k = 0; k < o_.depth; ++k) memory.add_region(base(station) + kRead + k * kSlotBytes, kMaxLength);
}

uint64_t CheckedPair::base(size_t station) const { return kBase + (o_.number * 2 + station) * kPairBytes; }

std::string CheckedPair::name(size_t station) const {
  return fmt::format("untouched connection {}, station {}, QP {}", o_.number, bench_.station(station).name(),
                     o_.qpn[station]);
}

void CheckedPair::connect() {
  uint8_t code = static_cast<uint8_t>(rng_.between(1, 5));
  while (mtu_bytes(code) > o_.max_mtu) --code;
  for (size_t i = 0; i < 2; ++i) {
    Half& h = half_[i];
    QpConfig& q = h.qp;
    q.qpn = o_.qpn[i];
    q.pmtu = code;
    q.access = kAccWrite | kAccRead | kAccAtomic;
    q.pd = o_.pd;
    q.sq_psn = static_cast<uint32_t>(rng_.chance(0.5) ? 0xFFFFFF - rng_.below(30) : rng_.below(1u << 24));
    q.dqpn = o_.qpn[1 - i];
    q.dip = bench_.station(1 - i).address().ip;
    q.dmac = bench_.station(1 - i).address().mac;
    q.sport = static_cast<uint16_t>(0xE000 + o_.number);
    q.timeout = o_.timeout;
    const uint32_t reads = std::min(bench_.station(0).info().rd_depth, bench_.station(1).info().rd_depth);
    q.max_rd = q.max_dest_rd = static_cast<uint8_t>(std::min<uint32_t>(reads, 2));
    q.rq_on = true;
    q.rq_log2 = 2;
    q.sq_log2 = 3;
    h.window.variant = static_cast<uint8_t>(h.window.variant + 1);
    h.source.variant = static_cast<uint8_t>(h.source.variant + 7);
    h.sends.clear();
    h.receives.clear();
    h.due.clear();
    h.posted = 0;
  }
  closing_ = false;
  for (size_t i = 0; i < 2; ++i) {
    Half& h = half_[i];
    Station& s = bench_.station(i);
    h.qp.rq_psn = half_[1 - i].qp.sq_psn;
    const uint64_t seed = rng_.next() >> 1;
    h.source_data = pattern_bytes(seed, 0, kSourceBytes);
    h.shadow = pattern_bytes(seed + 1, 0, kWindowBytes);
    h.counter = rng_.next();
    const Bytes counter = le64(h.counter);
    std::copy(counter.begin(), counter.end(), h.shadow.begin());
    s.memory().write(h.source.base, h.source_data);
    s.memory().write(h.window.base, h.shadow);
    s.setup_mr(h.window);
    s.setup_mr(h.source);
    s.setup_qp(h.qp);
  }
}

void CheckedPair::supply() {
  for (size_t i = 0; i < 2; ++i) {
    for (uint64_t k = 0; k < kReceives; ++k) post_receive(i, k);
  }
}

void CheckedPair::post_receive(size_t station, uint64_t slot) {
  Rqe r;
  r.qpn = o_.qpn[station];
  r.wr_id = 0xB0'0000'0000'0000 + ++ids_ * 16 + slot;
  r.addr = base(station) + kReceive + slot * kSlotBytes;
  r.length = kMaxLength;
  half_[station].receives.push_back(r);
  bench_.station(station).post_recv(r);
}

bool CheckedPair::post() {
  const size_t from = turns_++ % 2;
  Half& h = half_[from];
  Half& peer = half_[1 - from];
  if (h.sends.size() >= o_.depth || peer.due.size() >= kReceives) return false;
  Sent sent;
  Wqe& w = sent.wqe;
  static constexpr uint8_t kOps[] = {kWrWrite, kWrWriteImm, kWrSend, kWrSendImm, kWrRead, kWrFetchAdd};
  w.opcode = h.posted < std::size(kOps) ? kOps[h.posted] : kOps[rng_.below(std::size(kOps))];
  w.qpn = h.qp.qpn;
  w.wr_id = 0xA0'0000'0000'0000 + ++ids_;
  const uint32_t mtu = mtu_bytes(h.qp.pmtu);
  const uint64_t kind = rng_.below(10);
  const uint64_t n = kind == 0 ? 0 : kind < 5 ? rng_.between(1, 80) : kind < 8 ? rng_.between(1, mtu) : mtu * 2 + kind;
  w.length = static_cast<uint32_t>(std::min<uint64_t>(n, kMaxLength));
  w.laddr = h.source.base + rng_.below(kSourceBytes - w.length + 1);
  w.imm = static_cast<uint32_t>(rng_.next());
  if (wr_is_read(w.opcode)) {
    w.laddr = base(from) + kRead + (h.posted % o_.depth) * kSlotBytes;
    w.raddr = peer.source.base + rng_.below(kSourceBytes - w.length + 1);
    w.rkey = peer.source.key();
    const auto at = peer.source_data.begin() + static_cast<std::ptrdiff_t>(w.raddr - peer.source.base);
    sent.expect.assign(at, at + w.length);
    if (w.opcode == kWrFetchAdd) {
      w.length = kCounterBytes;
      w.raddr = peer.window.base;
      w.rkey = peer.window.key();
      w.swap_add = rng_.next();
      sent.expect = le64(peer.counter);
      peer.counter += w.swap_add;
      const Bytes counter = le64(peer.counter);
      std::copy(counter.begin(), counter.end(), peer.shadow.begin());
    }
  } else {
    const Bytes data = bench_.station(from).memory().read(w.laddr, w.length);
    if (!wr_is_send(w.opcode)) {
      const uint64_t offset = kCounterBytes + rng_.below(kWindowBytes - kCounterBytes - w.length + 1);
      w.raddr = peer.window.base + offset;
      w.rkey = peer.window.key();
      std::copy(data.begin(), data.end(), peer.shadow.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    if (wr_takes_rqe(w.opcode)) {
      const bool write = w.opcode == kWrWriteImm;
      peer.due.push_back({write, write || w.opcode == kWrSendImm, w.imm, w.length, write ? Bytes{} : data});
    }
  }
  ++h.posted;
  h.sends.push_back(sent);
  bench_.station(from).post(w);
  return true;
}

void CheckedPair::close() {
  closing_ = true;
  for (size_t i = 0; i < 2; ++i) bench_.station(i).set_qp_state(o_.qpn[i], QpState::Err);
}

std::string CheckedPair::take(size_t station, const Cqe& c) {
  Half& h = half_[station];
  if (c.receive()) {
    if (h.receives.empty() || h.receives.front().wr_id != c.wr_id) {
      return fmt::format("{}: completion ({}) of receive entry {:#x}, but {} is next", name(station),
                         status_name(c.status), c.wr_id,
                         h.receives.empty() ? "none" : fmt::format("{:#x}", h.receives.front().wr_id));
    }
    const Rqe r = h.receives.front();
    h.receives.pop_front();
    if (closing_ && c.status == WcStatus::FlushErr) return "";
    if (h.due.empty() || c.status != WcStatus::Success) {
      return fmt::format("{}: receive entry {:#x} ended with {} of {} messages due", name(station), c.wr_id,
                         status_name(c.status), h.due.size());
    }
    const Due d = h.due.front();
    h.due.pop_front();
    const uint8_t opcode = d.write ? kWcRecvWriteImm : kWcRecv;
    const uint16_t flags = static_cast<uint16_t>(kCqeRecv | (d.with_imm ? kCqeWithImm : 0));
    if (c.opcode != opcode || c.flags != flags || c.bytes != d.length || (d.with_imm && c.imm != d.imm)) {
      return fmt::format("{}: receive says opcode {}, flags {:#x}, {} bytes, imm {:#x} instead of {}, {:#x}, {}, {:#x}",
                         name(station), c.opcode, c.flags, c.bytes, c.imm, opcode, flags, d.length, d.imm);
    }
    if (bench_.station(station).memory().read(r.addr, d.data.size()) != d.data) {
      return fmt::format("{}: the receive buffer does not hold the {} bytes sent", name(station), d.length);
    }
    if (!closing_) post_receive(station, c.wr_id % 16);
    return "";
  }
  if (h.sends.empty() || h.sends.front().wqe.wr_id != c.wr_id) {
    return fmt::format("{}: completion ({}) of request {:#x}, but {} is next", name(station), status_name(c.status),
                       c.wr_id, h.sends.empty() ? "none" : fmt::format("{:#x}", h.sends.front().wqe.wr_id));
  }
  const Sent s = h.sends.front();
  h.sends.pop_front();
  ++messages_;
  if (c.status != WcStatus::Success || c.opcode != wc_opcode(s.wqe.opcode)) {
    return fmt::format("{}: request {:#x} (opcode {}, {} bytes) ended with {}, opcode {}", name(station), c.wr_id,
                       s.wqe.opcode, s.wqe.length, status_name(c.status), c.opcode);
  }
  if (bench_.station(station).memory().read(s.wqe.laddr, s.expect.size()) != s.expect) {
    return fmt::format("{}: request {:#x} (opcode {}, {} bytes) brought wrong data", name(station), c.wr_id,
                       s.wqe.opcode, s.wqe.length);
  }
  return "";
}

bool CheckedPair::idle() const {
  return std::all_of(half_.begin(), half_.end(), [](const Half& h) { return h.sends.empty() && h.due.empty(); });
}

std::string CheckedPair::compare() const {
  for (size_t i = 0; i < 2; ++i) {
    const Bytes is = bench_.station(i).memory().read(half_[i].window.base, kWindowBytes);
    const Bytes& shadow = half_[i].shadow;
    if (is == shadow) continue;
    const auto at = static_cast<size_t>(std::mismatch(is.begin(), is.end(), shadow.begin()).first - is.begin());
    return fmt::format("{}: byte {} of the window is {:#04x} instead of {:#04x} after {} messages", name(i), at, is[at],
                       shadow[at], messages_);
  }
  return "";
}

std::string CheckedPair::waits() const {
  std::string s;
  for (size_t i = 0; i < 2; ++i) {
    const Half& h = half_[i];
    if (!h.sends.empty()) {
      const Wqe& w = h.sends.front().wqe;
      s += fmt::format("{}: request {:#x} (opcode {}, {} bytes) has no completion; ", name(i), w.wr_id, w.opcode,
                       w.length);
    }
    if (!h.due.empty()) s += fmt::format("{}: {} messages to receive have not come; ", name(i), h.due.size());
    if (closing_ && !h.receives.empty())
      s += fmt::format("{}: {} receive entries were not flushed; ", name(i), h.receives.size());
  }
  return s;
}

}  // namespace rocegen::sim
