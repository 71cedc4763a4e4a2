// AXI4 slaves for the DMA benches: memory with latency, back-pressure and error injection, which checks
// every rule of the protocol that the masters must keep.
#pragma once

#include <map>

#include "tests/rtl/bench.h"

namespace rocegen::bench {

/// What host memory holds before anything is written: a function of the address, so that any address
/// of the 64-bit space can be read without storing it.
inline std::uint8_t memory_byte(std::uint64_t address) {
  std::uint64_t x = address * 0x9E3779B97F4A7C15ULL;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint8_t>(x >> 56);
}

/// Rules of one AR or AW beat: full-width INCR burst, within 4 KB.
inline void check_burst(std::uint64_t address, std::uint64_t len, std::uint64_t size, std::uint64_t burst,
                        std::uint64_t bytes) {
  REQUIRE_MESSAGE((std::uint64_t{1} << size) == bytes, "AxSIZE is not the bus width");
  REQUIRE_MESSAGE(burst == 1, "AxBURST is not INCR");
  const std::uint64_t end = (address & ~(bytes - 1)) + (len + 1) * bytes - 1;
  REQUIRE_MESSAGE((address >> 12) == (end >> 12), "a burst crosses a 4 KB boundary");
}

/// A valid/payload pair of the master that must be held while its ready is low.
class Held {
 public:
  void check(bool valid, bool ready, const Bytes& payload, const char* what) {
    if (held_) {
      REQUIRE_MESSAGE(valid, what << " was withdrawn");
      REQUIRE_MESSAGE(payload == payload_, what << " changed while it waited");
    }
    held_ = valid && !ready;
    if (held_) payload_ = payload;
  }
  void reset() { held_ = false; }

 private:
  bool held_ = false;
  Bytes payload_;
};

/// AR and R. With the pins arid and rid: the answers to ID 0 and ID 1 come in any order, beat by beat; those of one ID
/// in order. RREADY must be high for ID 0 (the DMA engine has reserved room), and may be low for ID 1.
class AxiReadSlave : public Agent {
 public:
  struct Pins {
    Port arvalid, arready, araddr, arlen, arsize, arburst, rvalid, rready, rdata, rresp, rlast;
    Port arid{}, rid{};
  };
  AxiReadSlave(Rng& rng, Pins pins) : rng_(&rng), p_(pins) {
    p_.arready.set(0);
    p_.rvalid.set(0);
  }
  unsigned ar_stall = 0;
  unsigned r_stall = 0;
  unsigned latency = 1;                           ///< cycles from the AR handshake to the first R beat
  unsigned jitter = 0;                            ///< up to so many more
  std::size_t max_outstanding = ~std::size_t{0};  ///< more is a failure
  std::size_t peak_outstanding = 0;
  std::uint64_t bursts = 0;
  std::uint64_t r_beats = 0;
  std::uint64_t first_ar_valid = 0;  ///< cycle in which ARVALID was first seen
  std::uint64_t first_r_valid = 0;
  std::uint64_t salt = 0;  ///< the memory holds memory_byte(address ^ salt)
  /// What the memory holds, instead.
  std::function<std::uint8_t(std::uint64_t)> content;
  /// Whether the beat that holds this (beat-aligned) address answers with an error.
  std::function<bool(std::uint64_t)> error_at;

  void drive() override {
    p_.arready.set(rng_->percent(ar_stall) ? 0 : 1);
    if (r_offered_) return;
    r_id_ = rng_->below(2);
    if (!due(r_id_)) r_id_ ^= 1;
    r_offered_ = due(r_id_) && !rng_->percent(r_stall);
    p_.rvalid.set(r_offered_ ? 1 : 0);
    const std::size_t bytes = p_.rdata.width() / 8;
    Bytes beat = rng_->bytes(bytes);
    std::uint64_t resp = rng_->below(4);
    std::uint64_t last = rng_->below(2);
    if (r_offered_) {
      const Burst& burst = queue_[r_id_].front();
      const std::uint64_t base = burst.address & ~std::uint64_t{bytes - 1};
      const bool error = error_at && error_at(base);
      for (std::size_t i = 0; i < bytes; ++i)
        if (!error && base + i >= burst.address) beat[i] = content ? content(base + i) : memory_byte((base + i) ^ salt);
      resp = error ? 2 + rng_->below(2) : 0;
      last = burst.left == 1 ? 1 : 0;
      if (first_r_valid == 0) first_r_valid = now_;
    }
    p_.rdata.set_value(beat);
    p_.rresp.set(resp);
    p_.rlast.set(last);
    if (p_.rid) p_.rid.set(r_id_);
  }
  void sample() override {
    const std::size_t bytes = p_.rdata.width() / 8;
    const bool arvalid = p_.arvalid.get() != 0;
    const bool arready = p_.arready.get() != 0;
    Bytes payload = p_.araddr.value();
    payload.push_back(static_cast<std::uint8_t>(p_.arlen.get()));
    ar_held_.check(arvalid, arready, payload, "AR");
    if (arvalid && first_ar_valid == 0) first_ar_valid = now_;
    if (r_offered_) REQUIRE_MESSAGE((p_.rready.get() != 0 || r_id_ == 1), "RREADY is low while data comes");
    if (r_offered_ && p_.rready.get() != 0) {
      ++r_beats;
      r_offered_ = false;
      Burst& burst = queue_[r_id_].front();
      burst.address = (burst.address & ~std::uint64_t{bytes - 1}) + bytes;
      if (--burst.left == 0) queue_[r_id_].pop_front();
    }
    if (arvalid && arready) {
      check_burst(p_.araddr.get(), p_.arlen.get(), p_.arsize.get(), p_.arburst.get(), bytes);
      auto& queue = queue_[p_.arid ? p_.arid.get() : 0];
      std::uint64_t ready_at = now_ + latency + (jitter != 0 ? rng_->below(jitter + 1) : 0);
      if (!queue.empty()) ready_at = std::max(ready_at, queue.back().ready_at);
      queue.push_back({p_.araddr.get(), p_.arlen.get() + 1, ready_at});
      ++bursts;
      peak_outstanding = std::max(peak_outstanding, outstanding());
      REQUIRE_MESSAGE(outstanding() <= max_outstanding, "more reads outstanding than allowed");
    }
    ++now_;
  }
  void on_reset() override {
    for (auto& queue : queue_) queue.clear();
    r_offered_ = false;
    p_.rvalid.set(0);
    p_.arready.set(0);
    ar_held_.reset();
  }
  std::uint64_t now() const { return now_; }
  /// Bursts whose data has not all been taken.
  std::size_t outstanding() const { return queue_[0].size() + queue_[1].size(); }

 private:
  struct Burst {
    std::uint64_t address;
    std::uint64_t left;
    std::uint64_t ready_at;
  };
  bool due(std::size_t id) const { return !queue_[id].empty() && queue_[id].front().ready_at <= now_; }
  Rng* rng_;
  Pins p_;
  std::deque<Burst> queue_[2];
  std::size_t r_id_ = 0;
  bool r_offered_ = false;
  std::uint64_t now_ = 1;
  Held ar_held_;
};

/// AW, W and B. Keeps every byte that was written, and how often.
class AxiWriteSlave : public Agent {
 public:
  struct Pins {
    Port awvalid, awready, awaddr, awlen, awsize, awburst, wvalid, wready, wdata, wstrb, wlast, bvalid, bready, bresp;
  };
  struct Written {
    std::uint8_t value = 0;
    unsigned times = 0;
  };
  AxiWriteSlave(Rng& rng, Pins pins) : rng_(&rng), p_(pins) {
    p_.awready.set(0);
    p_.wready.set(0);
    p_.bvalid.set(0);
  }
  unsigned aw_stall = 0;
  unsigned w_stall = 0;
  unsigned b_stall = 0;
  unsigned latency = 1;  ///< cycles from the last W beat to B
  unsigned jitter = 0;
  bool aw_after_data = false;  ///< AWREADY waits for WVALID, as AXI allows a slave to
  bool w_after_aw = false;     ///< WREADY waits for the AW handshake, as AXI allows a slave to
  std::size_t max_outstanding = ~std::size_t{0};
  std::size_t peak_outstanding = 0;
  std::uint64_t bursts = 0;
  std::uint64_t w_beats = 0;
  std::uint64_t first_aw_valid = 0;
  std::uint64_t first_w_valid = 0;
  std::uint64_t last_b_taken = 0;
  std::map<std::uint64_t, Written> memory;
  /// Told of every byte when its write response is taken, not earlier; nothing of a burst that is answered with an
  /// error.
  std::function<void(std::uint64_t, std::uint8_t)> on_write;
  /// Whether the burst that holds this (beat-aligned) address answers with an error.
  std::function<bool(std::uint64_t)> error_at;
  /// The responses that have been given, in order of their bursts.
  std::uint64_t responses = 0;

  void drive() override {
    p_.awready.set(
        !rng_->percent(aw_stall) && !(aw_after_data && w_done_bursts_ <= aw_taken_ && p_.wvalid.get() == 0) ? 1 : 0);
    p_.wready.set(!rng_->percent(w_stall) && !(w_after_aw && aw_taken_ <= w_done_bursts_) ? 1 : 0);
    if (b_offered_) return;
    b_offered_ = !answers_.empty() && answers_.front().ready_at <= now_ && !rng_->percent(b_stall);
    p_.bvalid.set(b_offered_ ? 1 : 0);
    p_.bresp.set(b_offered_ ? (answers_.front().error ? 2 + rng_->below(2) : 0) : rng_->below(4));
  }
  void sample() override {
    const std::size_t bytes = p_.wdata.width() / 8;
    const bool awvalid = p_.awvalid.get() != 0;
    const bool awready = p_.awready.get() != 0;
    const bool wvalid = p_.wvalid.get() != 0;
    const bool wready = p_.wready.get() != 0;
    Bytes aw = p_.awaddr.value();
    aw.push_back(static_cast<std::uint8_t>(p_.awlen.get()));
    aw_held_.check(awvalid, awready, aw, "AW");
    Bytes w = p_.wdata.value();
    const Bytes strb = p_.wstrb.value();
    w.insert(w.end(), strb.begin(), strb.end());
    w.push_back(static_cast<std::uint8_t>(p_.wlast.get()));
    w_held_.check(wvalid, wready, w, "W");
    if (awvalid && first_aw_valid == 0) first_aw_valid = now_;
    if (wvalid && first_w_valid == 0) first_w_valid = now_;
    // W of burst n may show only when AW n shows or has been taken.
    if (wvalid) {
      REQUIRE_MESSAGE(aw_taken_ + (awvalid ? 1 : 0) > w_done_bursts_, "W comes before its AW");
    }
    if (b_offered_ && p_.bready.get() != 0) {
      if (on_write && !answers_.front().error)
        for (const auto& [at, value] : answers_.front().bytes) on_write(at, value);
      answers_.pop_front();
      b_offered_ = false;
      ++responses;
      last_b_taken = now_;
    }
    if (awvalid && awready) {
      check_burst(p_.awaddr.get(), p_.awlen.get(), p_.awsize.get(), p_.awburst.get(), bytes);
      open_.push_back({p_.awaddr.get(), p_.awlen.get() + 1});
      ++aw_taken_;
      ++bursts;
      const std::size_t outstanding = bursts - responses;
      peak_outstanding = std::max(peak_outstanding, outstanding);
      REQUIRE_MESSAGE(outstanding <= max_outstanding, "more writes outstanding than allowed");
    }
    if (wvalid && wready) {
      ++w_beats;
      beats_.push_back({p_.wdata.value(), strb, p_.wlast.get() != 0});
      if (beats_.back().last) ++w_done_bursts_;
    }
    while (!open_.empty() && !beats_.empty()) apply(bytes);
    ++now_;
  }
  void on_reset() override {
    open_.clear();
    beats_.clear();
    answers_.clear();
    aw_taken_ = w_done_bursts_ = 0;
    responses = bursts;  // nothing is outstanding
    b_offered_ = false;
    p_.bvalid.set(0);
    p_.awready.set(0);
    p_.wready.set(0);
    aw_held_.reset();
    w_held_.reset();
  }
  std::uint64_t now() const { return now_; }

 private:
  struct Burst {
    std::uint64_t address;
    std::uint64_t left;
    bool error = false;
    std::vector<std::pair<std::uint64_t, std::uint8_t>> bytes{};
  };
  struct Beat {
    Bytes data;
    Bytes strb;
    bool last;
  };
  struct Answer {
    bool error;
    std::uint64_t ready_at;
    std::vector<std::pair<std::uint64_t, std::uint8_t>> bytes;
  };
  void apply(std::size_t bytes) {
    Burst& burst = open_.front();
    const Beat& beat = beats_.front();
    const std::uint64_t base = burst.address & ~std::uint64_t{bytes - 1};
    REQUIRE_MESSAGE(beat.last == (burst.left == 1), "WLAST is not on the last beat of its burst");
    bool any = false;
    for (std::size_t i = 0; i < bytes; ++i) {
      if (get_field(beat.strb, i, 1) == 0) continue;
      any = true;
      REQUIRE_MESSAGE(base + i >= burst.address, "WSTRB below the start address");
      Written& cell = memory[base + i];
      cell.value = beat.data[i];
      ++cell.times;
      if (on_write) burst.bytes.emplace_back(base + i, beat.data[i]);
    }
    REQUIRE_MESSAGE(any, "a W beat writes nothing");
    if (error_at && error_at(base)) burst.error = true;
    burst.address = base + bytes;
    if (--burst.left == 0) {
      std::uint64_t ready_at = now_ + latency + (jitter != 0 ? rng_->below(jitter + 1) : 0);
      if (!answers_.empty()) ready_at = std::max(ready_at, answers_.back().ready_at);
      answers_.push_back({burst.error, ready_at, std::move(burst.bytes)});
      open_.pop_front();
    }
    beats_.pop_front();
  }
  Rng* rng_;
  Pins p_;
  std::deque<Burst> open_;
  std::deque<Beat> beats_;
  std::deque<Answer> answers_;
  std::uint64_t aw_taken_ = 0;
  std::uint64_t w_done_bursts_ = 0;
  bool b_offered_ = false;
  std::uint64_t now_ = 1;
  Held aw_held_, w_held_;
};

}  // namespace rocegen::bench
