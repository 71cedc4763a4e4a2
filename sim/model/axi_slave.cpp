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

AxiSlave::AxiSlave(Memory& memory, size_t bus_bytes, const AxiTiming& timing, uint64_t seed)
    : memory_(memory), bus_(bus_bytes), timing_(timing), rng_(seed), read_(kBursts), aw_(kBursts), beat_(kBeats) {}

void AxiSlave::reset() {
  read_head_ = read_n_ = aw_head_ = aw_n_ = beat_head_ = beat_n_ = matched_ = match_burst_ = 0;
  r_active_ = b_active_ = held_aw_ = held_w_ = held_ar_ = false;
  last_read_ready_ = last_write_ready_ = 0;
}

void AxiSlave::violation(std::string text) {
  if (violations_.size() < kMaxViolations) violations_.push_back(fmt::format("axi cycle {}: {}", cycle_, text));
}

void AxiSlave::check_burst(const char* channel, uint64_t addr, uint8_t len, uint8_t size, uint8_t burst, uint8_t id) {
  const uint64_t first = addr & ~uint64_t{bus_ - 1};
  const uint64_t last = first + uint64_t{len} * bus_ + bus_ - 1;
  if ((first >> 12) != (last >> 12)) {
    violation(fmt::format("{} burst at {:#x} with {} beats crosses a 4 KB boundary", channel, addr, len + 1));
  }
  if ((size_t{1} << size) != bus_) {
    violation(fmt::format("{} burst at {:#x}: size {} is not the bus width {}", channel, addr, 1 << size, bus_));
  }
  if (burst != kIncr) violation(fmt::format("{} burst at {:#x}: type {} is not INCR", channel, addr, burst));
  if (id != 0) violation(fmt::format("{} burst at {:#x}: ID {} is not 0", channel, addr, id));
}

void AxiSlave::drive(AxiIn& in) {
  driven_.awready = aw_n_ < kBursts && !rng_.chance(timing_.aw_stall);
  driven_.wready = beat_n_ < kBeats && !rng_.chance(timing_.w_stall);
  driven_.arready = read_n_ < kBursts && !rng_.chance(timing_.ar_stall);
  if (!b_active_) {
    const Burst& b = aw_[aw_head_];
    b_active_ = aw_n_ != 0 && b.complete && cycle_ >= b.ready_at && !rng_.chance(timing_.b_stall);
    if (b_active_) {
      driven_.bresp = b.error ? kSlvErr : kOkay;
      finish_write();
    }
  }
  driven_.bvalid = b_active_;
  if (!r_active_) {
    Burst& b = read_[read_head_];
    r_active_ = read_n_ != 0 && cycle_ >= b.ready_at && !rng_.chance(timing_.r_stall);
    if (r_active_) {
      const uint64_t at = (b.addr & ~uint64_t{bus_ - 1}) + uint64_t{b.done} * bus_;
      // Bytes in front of an unaligned start are not part of the burst.
      const uint64_t from = std::max(at, b.addr);
      const bool bad = memory_.read_fails(from, at + bus_ - from);
      driven_.rresp = bad ? kSlvErr : kOkay;
      if (bad) {
        std::memset(driven_.rdata, 0xEE, bus_);
      } else {
        memory_.read(at, std::span<uint8_t>(driven_.rdata, bus_));
      }
      driven_.rlast = b.done + 1 == b.beats;
    }
  }
  driven_.rvalid = r_active_;
  in = driven_;
}

void AxiSlave::sample(const AxiOut& out) {
  // Held while stalled.
  if (held_aw_ && (!out.awvalid || out.awaddr != held_.awaddr || out.awlen != held_.awlen)) {
    violation(fmt::format("AW at {:#x} changed before awready", held_.awaddr));
  }
  if (held_ar_ && (!out.arvalid || out.araddr != held_.araddr || out.arlen != held_.arlen)) {
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
  }
  if (held_ar_) {
    held_.araddr = out.araddr;
    held_.arlen = out.arlen;
  }
  if (held_w_) {
    held_.wlast = out.wlast;
    std::memcpy(held_.wstrb, out.wstrb, bus_ / 8);
    std::memcpy(held_.wdata, out.wdata, bus_);
  }

  if (out.arvalid && driven_.arready) {
    check_burst("AR", out.araddr, out.arlen, out.arsize, out.arburst, out.arid);
    Burst& b = read_[(read_head_ + read_n_) % kBursts];
    b = Burst{};
    b.addr = out.araddr;
    b.beats = out.arlen + 1u;
    b.ready_at = std::max(last_read_ready_, cycle_ + rng_.between(timing_.read_min, timing_.read_max));
    last_read_ready_ = b.ready_at;
    ++read_n_;
    ++reads_;
  }
  if (driven_.rvalid && out.rready) {
    r_active_ = false;
    Burst& b = read_[read_head_];
    if (++b.done == b.beats) {
      read_head_ = (read_head_ + 1) % kBursts;
      --read_n_;
    }
  }
  if (driven_.bvalid && out.bready) {
    b_active_ = false;
    aw_head_ = (aw_head_ + 1) % kBursts;
    --aw_n_;
    --match_burst_;
  }
  if (out.awvalid && driven_.awready) {
    check_burst("AW", out.awaddr, out.awlen, out.awsize, out.awburst, out.awid);
    Burst& b = aw_[(aw_head_ + aw_n_) % kBursts];
    b = Burst{};
    b.addr = out.awaddr;
    b.beats = out.awlen + 1u;
    ++aw_n_;
    ++writes_;
  }
  if (out.wvalid && driven_.wready) {
    Beat& b = beat_[(beat_head_ + beat_n_) % kBeats];
    std::memcpy(b.data, out.wdata, bus_);
    std::memcpy(b.strb, out.wstrb, bus_ / 8);
    b.last = out.wlast;
    ++beat_n_;
  }
  match_writes();
  ++cycle_;
}

// Gives W beats to bursts in order; both may come first.
void AxiSlave::match_writes() {
  while (matched_ < beat_n_ && match_burst_ < aw_n_) {
    Burst& b = aw_[(aw_head_ + match_burst_) % kBursts];
    const Beat& w = beat_[(beat_head_ + matched_) % kBeats];
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
    ++matched_;
    if (++b.done == b.beats) {
      b.complete = true;
      const uint64_t first = b.addr & ~uint64_t{bus_ - 1};
      b.error = memory_.write_fails(b.addr, first + uint64_t{b.beats} * bus_ - b.addr);
      b.ready_at = std::max(last_write_ready_, cycle_ + rng_.between(timing_.write_min, timing_.write_max));
      last_write_ready_ = b.ready_at;
      ++match_burst_;
    }
  }
}

// Moves the oldest write burst into memory, or drops it if its range answers with an error.
void AxiSlave::finish_write() {
  const Burst& b = aw_[aw_head_];
  uint64_t at = b.addr & ~uint64_t{bus_ - 1};
  for (uint32_t i = 0; i < b.beats; ++i) {
    const Beat& w = beat_[beat_head_];
    if (!b.error) memory_.device_write(at, ByteView(w.data, bus_), w.strb);
    at += bus_;
    beat_head_ = (beat_head_ + 1) % kBeats;
    --beat_n_;
    --matched_;
  }
}

}  // namespace rocegen::sim
