#include "sim/model/axi_slave.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace rocegen::sim {
namespace {
constexpr uint8_t kIncr = 1;
constexpr uint8_t kOkay = 0;
constexpr uint8_t kSlvErr = 2;
}  // namespace

AxiSlave::AxiSlave(Memory& memory, size_t bus_bytes, const AxiTiming& timing, uint64_t seed, uint8_t target)
    : memory_(memory), target_(target), bus_(bus_bytes), timing_(timing), rng_(seed) {
  for (auto& q : read_) q.slot.resize(timing_.outstanding);
  for (auto& q : write_) q.slot.resize(timing_.outstanding);
}

void AxiSlave::reset() {
  for (auto* queues : {&read_, &write_}) {
    for (Queue& q : *queues) q.head = q.n = q.filled = q.last_ready = 0;
  }
  data_order_.clear();
  early_.clear();
  r_id_ = b_id_ = kIds;
  held_aw_ = held_w_ = held_ar_ = false;
}

void AxiSlave::violation(std::string text) {
  if (violations_.size() < kMaxViolations) violations_.push_back(fmt::format("axi cycle {}: {}", cycle_, text));
}

void AxiSlave::check_burst(const char* channel, uint64_t addr, uint8_t len, uint8_t size, uint8_t burst, uint8_t id) {
  if (memory_.target_of(addr) != target_) {
    violation(fmt::format("{} at {:#x} on the port of target {}, the address lies behind target {}", channel, addr,
                          target_, memory_.target_of(addr)));
  }
  const uint64_t first = addr & ~uint64_t{bus_ - 1};
  const uint64_t last = first + uint64_t{len} * bus_ + bus_ - 1;
  if ((first >> 12) != (last >> 12)) {
    violation(fmt::format("{} burst at {:#x} with {} beats crosses a 4 KB boundary", channel, addr, len + 1));
  }
  if ((size_t{1} << size) != bus_) {
    violation(fmt::format("{} burst at {:#x}: size {} is not the bus width {}", channel, addr, 1 << size, bus_));
  }
  if (burst != kIncr) violation(fmt::format("{} burst at {:#x}: type {} is not INCR", channel, addr, burst));
  if (id >= kIds) violation(fmt::format("{} burst at {:#x}: ID {} is neither 0 nor 1", channel, addr, id));
}

size_t AxiSlave::pick(const std::array<Queue, kIds>& q, bool write) {
  bool may[kIds];
  for (size_t id = 0; id < kIds; ++id) {
    may[id] = q[id].n != 0 && (!write || q[id].filled != 0) && cycle_ >= q[id].at(0).ready_at;
  }
  if (may[0] && may[1]) return rng_.below(2);
  return may[0] ? 0 : may[1] ? 1 : kIds;
}

void AxiSlave::drive(AxiIn& in) {
  driven_.awready = pending(write_) < timing_.outstanding && !rng_.chance(timing_.aw_stall);
  driven_.wready = early_.size() < kBeats && !rng_.chance(timing_.w_stall);
  driven_.arready = pending(read_) < timing_.outstanding && !rng_.chance(timing_.ar_stall);
  if (b_id_ == kIds) {
    const size_t id = pick(write_, true);
    if (id != kIds && !rng_.chance(timing_.b_stall)) {
      b_id_ = id;
      const Burst& b = write_[id].at(0);
      driven_.bresp = b.error ? kSlvErr : kOkay;
      driven_.bid = static_cast<uint8_t>(id);
      finish_write(b);
    }
  }
  driven_.bvalid = b_id_ != kIds;
  if (r_id_ == kIds) {
    const size_t id = pick(read_, false);
    if (id != kIds && !rng_.chance(timing_.r_stall)) {
      r_id_ = id;
      const Burst& b = read_[id].at(0);
      const uint64_t at = (b.addr & ~uint64_t{bus_ - 1}) + uint64_t{b.done} * bus_;
      // Bytes in front of an unaligned start are not part of the burst.
      const uint64_t from = std::max(at, b.addr);
      const bool bad = memory_.read_fails(from, at + bus_ - from);
      driven_.rresp = bad ? kSlvErr : kOkay;
      driven_.rid = static_cast<uint8_t>(id);
      if (bad) {
        std::memset(driven_.rdata, 0xEE, bus_);
      } else {
        memory_.read(at, std::span<uint8_t>(driven_.rdata, bus_));
      }
      driven_.rlast = b.done + 1 == b.beats;
    }
  }
  driven_.rvalid = r_id_ != kIds;
  in = driven_;
}

void AxiSlave::sample(const AxiOut& out) {
  // Held while stalled.
  if (held_aw_ && (!out.awvalid || out.awaddr != held_.awaddr || out.awlen != held_.awlen || out.awid != held_.awid)) {
    violation(fmt::format("AW at {:#x} changed before awready", held_.awaddr));
  }
  if (held_ar_ && (!out.arvalid || out.araddr != held_.araddr || out.arlen != held_.arlen || out.arid != held_.arid)) {
    violation(fmt::format("AR at {:#x} changed before arready", held_.araddr));
  }
  if (held_w_ && (!out.wvalid || out.wlast != held_.wlast || std::memcmp(out.wstrb, held_.wstrb, bus_ / 8) != 0 ||
                  std::memcmp(out.wdata, held_.wdata, bus_) != 0)) {
    violation("W beat changed before wready");
  }
  held_aw_ = out.awvalid && !driven_.awready;
  held_ar_ = out.arvalid && !driven_.arready;
  held_w_ = out.wvalid && !driven_.wready;
  if (held_aw_) {
    held_.awaddr = out.awaddr;
    held_.awlen = out.awlen;
    held_.awid = out.awid;
  }
  if (held_ar_) {
    held_.araddr = out.araddr;
    held_.arlen = out.arlen;
    held_.arid = out.arid;
  }
  if (held_w_) {
    held_.wlast = out.wlast;
    std::memcpy(held_.wstrb, out.wstrb, bus_ / 8);
    std::memcpy(held_.wdata, out.wdata, bus_);
  }

  if (out.arvalid && driven_.arready) {
    check_burst("AR", out.araddr, out.arlen, out.arsize, out.arburst, out.arid);
    Queue& q = read_[out.arid % kIds];
    Burst& b = q.push();
    b.addr = out.araddr;
    b.beats = out.arlen + 1u;
    b.done = 0;
    b.ready_at = std::max(q.last_ready, cycle_ + rng_.between(timing_.read_min, timing_.read_max));
    q.last_ready = b.ready_at;
    ++reads_;
  }
  if (driven_.rvalid && out.rready) {
    Queue& q = read_[r_id_];
    r_id_ = kIds;
    if (++q.at(0).done == q.at(0).beats) q.pop();
  }
  if (driven_.bvalid && out.bready) {
    Queue& q = write_[b_id_];
    b_id_ = kIds;
    q.pop();
    --q.filled;
  }
  if (out.awvalid && driven_.awready) {
    check_burst("AW", out.awaddr, out.awlen, out.awsize, out.awburst, out.awid);
    Burst& b = write_[out.awid % kIds].push();
    b.addr = out.awaddr;
    b.beats = out.awlen + 1u;
    b.done = 0;
    b.data.clear();
    data_order_.push_back(static_cast<uint8_t>(out.awid % kIds));
    ++writes_;
  }
  if (out.wvalid && driven_.wready) {
    Beat& b = early_.emplace_back();
    std::memcpy(b.data, out.wdata, bus_);
    std::memcpy(b.strb, out.wstrb, std::max<size_t>(1, bus_ / 8));
    b.last = out.wlast;
  }
  match_writes();
  ++cycle_;
}

// Gives W beats to bursts in order; both may come first.
void AxiSlave::match_writes() {
  while (!early_.empty() && !data_order_.empty()) {
    Queue& q = write_[data_order_.front()];
    Burst& b = q.at(q.filled);
    const Beat& w = early_.front();
    const bool ends = b.done + 1 == b.beats;
    if (w.last != ends) {
      violation(fmt::format("wlast {} on beat {} of {} of the burst at {:#x}", w.last, b.done + 1, b.beats, b.addr));
    }
    if (b.done == 0) {
      const size_t skip = b.addr & (bus_ - 1);
      for (size_t i = 0; i < skip; ++i) {
        if (((w.strb[i / 8] >> (i % 8)) & 1) != 0) {
          violation(fmt::format("strobe of byte lane {} in front of the burst's start {:#x}", i, b.addr));
          break;
        }
      }
    }
    b.data.push_back(w);
    early_.pop_front();
    if (++b.done == b.beats) {
      const uint64_t first = b.addr & ~uint64_t{bus_ - 1};
      b.error = memory_.write_fails(b.addr, first + uint64_t{b.beats} * bus_ - b.addr);
      b.ready_at = std::max(q.last_ready, cycle_ + rng_.between(timing_.write_min, timing_.write_max));
      q.last_ready = b.ready_at;
      ++q.filled;
      data_order_.pop_front();
    }
  }
}

// Moves a write burst into memory, or drops it if its range answers with an error.
void AxiSlave::finish_write(const Burst& b) {
  if (b.error) return;
  uint64_t at = b.addr & ~uint64_t{bus_ - 1};
  for (const Beat& w : b.data) {
    memory_.device_write(at, ByteView(w.data, bus_), w.strb);
    at += bus_;
  }
}

}  // namespace rocegen::sim
