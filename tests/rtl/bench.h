// Helpers of the Verilator benches: clocks, random stream sources and sinks, wide ports, seeds.
//
// A bench is one doctest program around one Verilated model `Vdut`:
//
//   #include "Vdut.h"
//   #include "tests/rtl/bench.h"
//   using namespace rocegen::bench;
//
//   TEST_CASE("beats come out in order") {
//     Sim<Vdut> sim;
//     StreamSource src(sim.rng(), Port(sim.dut.s_axis_tvalid, 1), Port(sim.dut.s_axis_tready, 1),
//                      Port(sim.dut.s_axis_tdata, P_Width));
//     StreamSink dst(...);
//     sim.add(src);  sim.add(dst);
//     sim.reset();
//     src.push(...);
//     sim.run_until([&] { return dst.beats.size() == 100; }, 10'000);
//   }
//
// Every cycle: all agents drive their pins, the model settles, all agents look at what is taken, the
// clock rises. A failed RTL assertion ends the test case. Random numbers come from ROCEGEN_SEED (a
// number, or "random"; 1 when unset), which every test case prints when it fails.
#pragma once

#include <doctest/doctest.h>
#include <verilated.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

static_assert(std::endian::native == std::endian::little, "Port reads model memory byte by byte");

namespace rocegen::bench {

/// A value of any width, least significant byte first.
using Bytes = std::vector<std::uint8_t>;

/// The seed of this run: environment variable ROCEGEN_SEED, 1 when unset, a fresh one when "random". Printed once.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("ROCEGEN_SEED");
    std::uint64_t number = 1;
    if (text != nullptr && std::string_view(text) == "random") {
      std::random_device device;
      number = (std::uint64_t{device()} << 32) | device();
    } else if (text != nullptr) {
      number = std::strtoull(text, nullptr, 0);
    }
    std::printf("ROCEGEN_SEED=%llu\n", static_cast<unsigned long long>(number));
    std::fflush(stdout);
    return number;
  }();
  return value;
}

/// Random numbers; the same seed gives the same sequence on every platform.
class Rng {
 public:
  explicit Rng(std::uint64_t start) : engine_(start) {}
  /// 64 random bits.
  std::uint64_t next() { return engine_(); }
  /// Uniform in [0, limit); limit >= 1. The bias of the modulus is below 2^-32 for the limits of a bench.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  /// Uniform in [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }
  /// True in `percent` of 100 calls.
  bool percent(unsigned percent) { return below(100) < percent; }
  /// `bits` random bits as a value.
  Bytes bits(std::size_t bits) {
    Bytes value((bits + 7) / 8);
    for (auto& byte : value) byte = static_cast<std::uint8_t>(next() >> 56);
    if (bits % 8 != 0) value.back() = static_cast<std::uint8_t>(value.back() & ((1U << (bits % 8)) - 1U));
    return value;
  }
  /// `count` random bytes.
  Bytes bytes(std::size_t count) { return bits(count * 8); }

 private:
  std::mt19937_64 engine_;
};

// ---- values as bit fields -------------------------------------------------------------------------

/// Reads `width` (0..64) bits from bit `lsb` of a value.
inline std::uint64_t get_field(const std::uint8_t* value, std::size_t lsb, std::size_t width) {
  std::uint64_t result = 0;
  for (std::size_t got = 0; got < width;) {
    const std::size_t bit = lsb + got;
    const std::size_t take = std::min(width - got, 8 - bit % 8);
    const std::uint64_t part = (value[bit / 8] >> (bit % 8)) & ((1U << take) - 1U);
    result |= part << got;
    got += take;
  }
  return result;
}

/// Writes the low `width` (0..64) bits of `bits` to bit `lsb` of a value.
inline void set_field(std::uint8_t* value, std::size_t lsb, std::size_t width, std::uint64_t bits) {
  for (std::size_t done = 0; done < width;) {
    const std::size_t bit = lsb + done;
    const std::size_t take = std::min(width - done, 8 - bit % 8);
    const unsigned mask = ((1U << take) - 1U) << (bit % 8);
    const unsigned part = static_cast<unsigned>(bits >> done) << (bit % 8);
    value[bit / 8] = static_cast<std::uint8_t>((value[bit / 8] & ~mask) | (part & mask));
    done += take;
  }
}

inline std::uint64_t get_field(const Bytes& value, std::size_t lsb, std::size_t width) {
  return get_field(value.data(), lsb, width);
}
inline void set_field(Bytes& value, std::size_t lsb, std::size_t width, std::uint64_t bits) {
  set_field(value.data(), lsb, width, bits);
}

/// Builds and reads a packed record most significant field first, in the order of roce_pkg.sv:
///   Bytes cmd = Record(144).put(buf_addr, 16).put(bytes, 14)....value();
class Record {
 public:
  /// An all-zero record of `width` bits, with the cursor at its top.
  explicit Record(std::size_t width) : value_((width + 7) / 8), cursor_(width) {}
  /// A record to read from, with the cursor at the top of its `width` bits.
  Record(Bytes value, std::size_t width) : value_(std::move(value)), cursor_(width) {}
  /// Writes the next field of `width` (0..64) bits.
  Record& put(std::uint64_t bits, std::size_t width) {
    REQUIRE(width <= cursor_);
    cursor_ -= width;
    set_field(value_, cursor_, width, bits);
    return *this;
  }
  /// Reads the next field of `width` (0..64) bits.
  std::uint64_t get(std::size_t width) {
    REQUIRE(width <= cursor_);
    cursor_ -= width;
    return get_field(value_, cursor_, width);
  }
  /// The record; all of its fields must have been written.
  const Bytes& value() const {
    REQUIRE(cursor_ == 0);
    return value_;
  }

 private:
  Bytes value_;
  std::size_t cursor_;
};

// ---- pins of the model ----------------------------------------------------------------------------

/// Some bits of a top-level pin of the model, of any width: Port(dut.tdata, 512), or one slice of a
/// pin that holds several: Port(dut.tdata, lane * 64, 64).
class Port {
 public:
  Port() = default;
  template <class Signal>
  Port(Signal& signal, std::size_t width) : Port(signal, 0, width) {}
  template <class Signal>
  Port(Signal& signal, std::size_t lsb, std::size_t width)
      : memory_(reinterpret_cast<std::uint8_t*>(&signal)), lsb_(lsb), width_(width) {
    REQUIRE_MESSAGE((lsb + width + 7) / 8 <= sizeof(Signal), "a Port is wider than its pin");
  }
  /// Width in bits.
  std::size_t width() const { return width_; }
  /// True when the Port names a pin.
  explicit operator bool() const { return memory_ != nullptr; }
  /// The low 64 bits.
  std::uint64_t get() const { return get_field(memory_, lsb_, std::min<std::size_t>(width_, 64)); }
  /// Sets the low 64 bits, the rest to zero.
  void set(std::uint64_t bits) {
    set_field(memory_, lsb_, std::min<std::size_t>(width_, 64), bits);
    for (std::size_t at = 64; at < width_; at += 64)
      set_field(memory_, lsb_ + at, std::min<std::size_t>(width_ - at, 64), 0);
  }
  /// The whole value, (width + 7) / 8 bytes.
  Bytes value() const {
    Bytes result((width_ + 7) / 8);
    if (lsb_ % 8 == 0 && width_ % 8 == 0) {
      std::memcpy(result.data(), memory_ + lsb_ / 8, width_ / 8);
    } else {
      for (std::size_t at = 0; at < width_; at += 8)
        result[at / 8] =
            static_cast<std::uint8_t>(get_field(memory_, lsb_ + at, std::min<std::size_t>(8, width_ - at)));
    }
    return result;
  }
  /// Sets the whole value; missing bytes are zero, bits beyond the width are ignored.
  void set_value(const Bytes& value) {
    if (lsb_ % 8 == 0 && width_ % 8 == 0 && value.size() >= width_ / 8) {
      std::memcpy(memory_ + lsb_ / 8, value.data(), width_ / 8);
    } else {
      for (std::size_t at = 0; at < width_; at += 8)
        set_field(memory_, lsb_ + at, std::min<std::size_t>(8, width_ - at), at / 8 < value.size() ? value[at / 8] : 0);
    }
  }
  /// Reads or writes `width` bits at bit `lsb` of the pin's value.
  std::uint64_t field(std::size_t lsb, std::size_t width) const { return get_field(memory_, lsb_ + lsb, width); }
  void set_field_at(std::size_t lsb, std::size_t width, std::uint64_t bits) {
    set_field(memory_, lsb_ + lsb, width, bits);
  }

 private:
  std::uint8_t* memory_ = nullptr;
  std::size_t lsb_ = 0;
  std::size_t width_ = 0;
};

// ---- the simulation -------------------------------------------------------------------------------

/// Something that drives and watches pins of one clock domain.
class Agent {
 public:
  Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  virtual ~Agent() = default;
  /// Sets the inputs of the model for the coming rising edge.
  virtual void drive() = 0;
  /// Looks at the settled pins just before the rising edge.
  virtual void sample() = 0;
  /// Returns to the idle state: called while the model is in reset.
  virtual void on_reset() {}
};

/// The model with its clocks. One clock `clk` and reset `rst` unless other domains are given.
template <class Dut>
class Sim {
 public:
  struct Domain {
    Port clk;
    Port rst;
    std::uint64_t period;    // in any unit common to all domains
    std::uint64_t next = 0;  // time of the next rising edge
    std::uint64_t cycles = 0;
    std::vector<Agent*> agents;
  };

  /// `salt` tells the random sequences of test cases of one seed apart.
  explicit Sim(std::uint64_t salt = 0)
      : context_(make_context()), rng_(seed() * 0x9E3779B97F4A7C15ULL + salt), dut(context_.get()) {
    if constexpr (requires {
                    dut.clk;
                    dut.rst;
                  })
      add_domain(dut.clk, dut.rst, 2);
  }
  Sim(const Sim&) = delete;
  Sim& operator=(const Sim&) = delete;
  ~Sim() { dut.final(); }

  /// Adds a clock with its reset; returns its index. Domain 0 is `clk`, `rst` where the model has them.
  template <class Pin>
  std::size_t add_domain(Pin& clk, Pin& rst, std::uint64_t period, std::uint64_t phase = 0) {
    domains_.push_back({Port(clk, 1), Port(rst, 1), period, phase, 0, {}});
    return domains_.size() - 1;
  }
  /// Changes a clock's period from its next edge on.
  void set_period(std::size_t domain, std::uint64_t period) { domains_[domain].period = period; }

  void add(Agent& agent, std::size_t domain = 0) { domains_[domain].agents.push_back(&agent); }

  /// Holds all resets for `cycles` cycles of every clock.
  void reset(unsigned cycles = 10) {
    for (auto& d : domains_) {
      d.rst.set(1);
      for (auto* a : d.agents) a->on_reset();
    }
    in_reset_ = true;
    for (unsigned i = 0; i < cycles; ++i) {
      std::vector<std::uint64_t> target;
      for (auto& d : domains_) target.push_back(d.cycles + 1);
      while (true) {
        bool done = true;
        for (std::size_t k = 0; k < domains_.size(); ++k) done = done && domains_[k].cycles >= target[k];
        if (done) break;
        edge();
      }
    }
    in_reset_ = false;
    for (auto& d : domains_) d.rst.set(0);
  }

  /// Goes through the next rising edge (of all clocks that rise at that time).
  void edge() {
    std::uint64_t now = ~std::uint64_t{0};
    for (auto& d : domains_) now = std::min(now, d.next);
    for (auto& d : domains_) {
      if (d.next == now && !in_reset_)
        for (auto* a : d.agents) a->drive();
    }
    dut.eval();
    for (auto& d : domains_) {
      if (d.next == now && !in_reset_)
        for (auto* a : d.agents) a->sample();
    }
    for (auto& d : domains_)
      if (d.next == now) d.clk.set(1);
    context_->timeInc(1);
    dut.eval();
    for (auto& d : domains_) {
      if (d.next != now) continue;
      d.clk.set(0);
      d.next += d.period;
      ++d.cycles;
    }
    context_->timeInc(1);
    dut.eval();
    if (context_->gotError()) {
      FAIL("an assertion of the RTL failed in cycle " << cycle() << ", ROCEGEN_SEED=" << seed());
    }
  }

  /// One cycle of domain 0.
  void step() {
    const auto target = domains_[0].cycles + 1;
    while (domains_[0].cycles < target) edge();
  }
  void run(std::uint64_t cycles) {
    for (std::uint64_t i = 0; i < cycles; ++i) step();
  }
  /// Steps until `done()`; the test case fails after `limit` cycles.
  void run_until(const std::function<bool()>& done, std::uint64_t limit) {
    for (std::uint64_t i = 0; i < limit; ++i) {
      if (done()) return;
      step();
    }
    if (!done()) FAIL("not done after " << limit << " cycles, ROCEGEN_SEED=" << seed());
  }
  /// Cycles of a domain since the start.
  std::uint64_t cycle(std::size_t domain = 0) const { return domains_[domain].cycles; }
  Rng& rng() { return rng_; }
  VerilatedContext& context() { return *context_; }

 private:
  static std::unique_ptr<VerilatedContext> make_context() {
    auto context = std::make_unique<VerilatedContext>();
    context->fatalOnError(false);
    context->randReset(2);
    context->randSeed(static_cast<int>(seed() % 0x7FFFFFFEU) + 1);
    return context;
  }

  std::unique_ptr<VerilatedContext> context_;
  Rng rng_;
  std::vector<Domain> domains_;
  bool in_reset_ = false;

 public:
  Dut dut;  ///< the model; its pins are members
};

// ---- streams of single beats ----------------------------------------------------------------------

/// Offers queued beats; waits before a new beat in `stall` of 100 cycles. Holds an offered beat.
class StreamSource : public Agent {
 public:
  StreamSource(Rng& rng, Port valid, Port ready, Port data, unsigned stall = 0)
      : stall_percent(stall), rng_(&rng), valid_(valid), ready_(ready), data_(data) {
    valid_.set(0);
  }
  void push(Bytes beat) { queue.push_back(std::move(beat)); }
  void drive() override {
    if (offered_) return;
    offered_ = !queue.empty() && !rng_->percent(stall_percent);
    valid_.set(offered_ ? 1 : 0);
    // Garbage beside an idle valid: nobody may look at it.
    data_.set_value(offered_ ? queue.front() : rng_->bits(data_.width()));
  }
  void sample() override {
    if (!offered_ || ready_.get() == 0) return;
    queue.pop_front();
    offered_ = false;
    ++taken;
  }
  void on_reset() override {
    offered_ = false;
    valid_.set(0);
  }
  unsigned stall_percent;
  std::deque<Bytes> queue;
  std::uint64_t taken = 0;

 private:
  Rng* rng_;
  Port valid_, ready_, data_;
  bool offered_ = false;
};

/// Collects beats; not ready in `stall` of 100 cycles. Checks that an offered beat is held.
class StreamSink : public Agent {
 public:
  StreamSink(Rng& rng, Port valid, Port ready, Port data, unsigned stall = 0)
      : stall_percent(stall), rng_(&rng), valid_(valid), ready_(ready), data_(data) {
    ready_.set(0);
  }
  void drive() override { ready_.set(rng_->percent(stall_percent) ? 0 : 1); }
  void sample() override {
    const bool valid = valid_.get() != 0;
    if (held_) {
      REQUIRE_MESSAGE(valid, "a stalled beat was withdrawn");
      REQUIRE_MESSAGE(data_.value() == held_value_, "a stalled beat changed");
    }
    held_ = false;
    if (!valid) return;
    if (ready_.get() != 0) {
      beats.push_back(data_.value());
      if (on_beat) on_beat(beats.back());
    } else {
      held_ = true;
      held_value_ = data_.value();
    }
  }
  void on_reset() override {
    held_ = false;
    ready_.set(0);
  }
  unsigned stall_percent;
  std::deque<Bytes> beats;
  std::function<void(const Bytes&)> on_beat;

 private:
  Rng* rng_;
  Port valid_, ready_, data_;
  bool held_ = false;
  Bytes held_value_;
};

// ---- packet streams -------------------------------------------------------------------------------

/// The pins of a packet stream. `keep` and `user` may be left out.
struct PacketPorts {
  Port valid, ready, data, keep, last, user;
};

struct Packet {
  Bytes data;
  Bytes user;
  bool operator==(const Packet&) const = default;
};

/// Offers queued packets beat by beat; waits before a new beat in `stall` of 100 cycles.
class PacketSource : public Agent {
 public:
  PacketSource(Rng& rng, PacketPorts ports, unsigned stall = 0) : stall_percent(stall), rng_(&rng), p_(ports) {
    p_.valid.set(0);
  }
  void push(Packet packet) { queue.push_back(std::move(packet)); }
  void push(Bytes data, Bytes user = {}) { queue.push_back({std::move(data), std::move(user)}); }
  /// Nothing queued and nothing offered.
  bool idle() const { return queue.empty(); }
  void drive() override {
    if (offered_) return;
    const std::size_t width = p_.data.width() / 8;
    offered_ = !queue.empty() && !rng_->percent(stall_percent);
    p_.valid.set(offered_ ? 1 : 0);
    Bytes beat = rng_->bytes(width);  // bytes without keep are garbage
    Bytes keep((width + 7) / 8);
    if (offered_) {
      const Packet& packet = queue.front();
      count_ = std::min(width, packet.data.size() - at_);
      std::copy_n(packet.data.begin() + static_cast<std::ptrdiff_t>(at_), count_, beat.begin());
      for (std::size_t i = 0; i < count_; ++i) set_field(keep, i, 1, 1);
      p_.last.set(at_ + count_ == packet.data.size() ? 1 : 0);
      if (p_.user) p_.user.set_value(packet.user);
    } else {
      keep = rng_->bits(width);
      p_.last.set(rng_->below(2));
      if (p_.user) p_.user.set_value(rng_->bits(p_.user.width()));
    }
    p_.data.set_value(beat);
    if (p_.keep) p_.keep.set_value(keep);
  }
  void sample() override {
    if (!offered_ || p_.ready.get() == 0) return;
    offered_ = false;
    ++beats;
    at_ += count_;
    if (at_ == queue.front().data.size()) {
      queue.pop_front();
      at_ = 0;
      ++taken;
    }
  }
  void on_reset() override {
    offered_ = false;
    at_ = 0;
    p_.valid.set(0);
  }
  unsigned stall_percent;
  std::deque<Packet> queue;
  std::uint64_t taken = 0;  ///< whole packets taken by the model
  std::uint64_t beats = 0;

 private:
  Rng* rng_;
  PacketPorts p_;
  bool offered_ = false;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
};

/// Collects packets; not ready in `stall` of 100 cycles. Checks that beats are held (bytes without keep too), that keep
/// is contiguous and full but in the last beat, that only an empty packet has an empty beat, and that user is constant
/// over a packet (all but the top `loose_user` bits, which are taken from the last beat).
class PacketSink : public Agent {
 public:
  PacketSink(Rng& rng, PacketPorts ports, unsigned stall = 0) : stall_percent(stall), rng_(&rng), p_(ports) {
    p_.ready.set(0);
  }
  void drive() override { p_.ready.set(rng_->percent(stall_percent) ? 0 : 1); }
  void sample() override {
    const bool valid = p_.valid.get() != 0;
    if (!valid) REQUIRE_MESSAGE(!held_, "a stalled beat was withdrawn");
    if (!valid) return;
    Bytes data = p_.data.value();
    Bytes keep = p_.keep ? p_.keep.value() : Bytes((data.size() + 7) / 8, 0xFF);
    Bytes user = p_.user ? p_.user.value() : Bytes{};
    const bool last = p_.last.get() != 0;
    if (held_) {
      REQUIRE_MESSAGE(data == held_data_, "the data of a stalled beat changed");
      REQUIRE_MESSAGE(keep == held_keep_, "tkeep of a stalled beat changed");
      REQUIRE_MESSAGE(last == held_last_, "tlast of a stalled beat changed");
      REQUIRE_MESSAGE(user == held_user_, "tuser of a stalled beat changed");
    }
    held_ = p_.ready.get() == 0;
    if (held_) {
      held_data_ = data;
      held_keep_ = keep;
      held_last_ = last;
      held_user_ = user;
    }
    std::size_t count = 0;
    while (count < data.size() && get_field(keep, count, 1) != 0) ++count;
    for (std::size_t i = count; i < data.size(); ++i) {
      REQUIRE_MESSAGE(get_field(keep, i, 1) == 0, "tkeep is not contiguous");
    }
    data.resize(count);
    if (held_) return;
    ++beats;
    REQUIRE_MESSAGE((last || count == p_.data.width() / 8), "tkeep is not full before the last beat");
    if (!first_) REQUIRE_MESSAGE(count > 0, "an empty beat ends a packet that has bytes");
    if (!first_ && p_.user) {
      for (std::size_t at = 0; at + loose_user < p_.user.width(); at += 8) {
        const auto width = std::min<std::size_t>(8, p_.user.width() - loose_user - at);
        REQUIRE_MESSAGE(get_field(user, at, width) == get_field(open_.user, at, width),
                        "tuser changed inside a packet");
      }
    }
    first_ = last;
    open_.data.insert(open_.data.end(), data.begin(), data.end());
    open_.user = std::move(user);
    if (last) {
      packets.push_back(std::move(open_));
      open_ = {};
      if (on_packet) on_packet(packets.back());
    }
  }
  void on_reset() override {
    held_ = false;
    first_ = true;
    open_ = {};
    p_.ready.set(0);
  }
  unsigned stall_percent;
  std::size_t loose_user = 0;
  std::deque<Packet> packets;
  std::uint64_t beats = 0;
  std::function<void(const Packet&)> on_packet;

 private:
  Rng* rng_;
  PacketPorts p_;
  bool held_ = false;
  bool held_last_ = false;
  Bytes held_data_;
  Bytes held_keep_;
  Bytes held_user_;
  bool first_ = true;
  Packet open_;
};

}  // namespace rocegen::bench

/// PacketPorts of the pins <prefix>_tvalid... of a model: ROCEGEN_PACKET_PORTS(sim.dut, s_axis, 512, 8).
#define ROCEGEN_PACKET_PORTS(Dut, Prefix, DataBits, UserBits)                                                      \
  rocegen::bench::PacketPorts {                                                                                    \
    rocegen::bench::Port((Dut).Prefix##_tvalid, 1), rocegen::bench::Port((Dut).Prefix##_tready, 1),                \
        rocegen::bench::Port((Dut).Prefix##_tdata, DataBits),                                                      \
        rocegen::bench::Port((Dut).Prefix##_tkeep, (DataBits) / 8), rocegen::bench::Port((Dut).Prefix##_tlast, 1), \
        rocegen::bench::Port((Dut).Prefix##_tuser, UserBits)                                                       \
  }
