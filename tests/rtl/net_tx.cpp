// Bench of tx_framer: every packet must leave as the frame that net_frame.h builds from its record, byte for byte,
// whole and without a bubble; packets with the error bit must not leave.
#include <map>

#include "Vdut.h"
#include "tests/rtl/net_frame.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBytes = P_DataW / 8;
constexpr std::size_t kPktBits = 302;
constexpr std::size_t kLifeBits = 6;
constexpr std::size_t kCfgBits = 343;

std::size_t beats_of(std::size_t bytes) { return (bytes + kBytes - 1) / kBytes; }

// The opcodes of the reliable connection.
constexpr std::uint8_t kOpcodes[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B,
                                     0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17};

// A packet with its record; err counts with the last beat, before it is noise.
struct Out {
  NetFrame frame;  // record's fields and payload
  std::uint32_t qpn = 0;
  std::uint32_t compare_lo = 0;
  std::uint64_t life = 0;
  bool err = false;

  // What the frame carries behind its headers: the record's fields where these are an atomic's operands or result.
  Bytes body() const {
    Bytes b = frame.payload;
    if (frame.opcode == 0x12) put_bytes(b, frame.va, 8);
    if (frame.opcode == 0x13 || frame.opcode == 0x14) {
      put_bytes(b, frame.dma_len, 4);
      put_bytes(b, frame.imm, 4);
      put_bytes(b, frame.syndrome, 1);
      put_bytes(b, frame.msn, 3);
      put_bytes(b, compare_lo, 4);
    }
    return b;
  }
  Bytes user(bool err_bit) const {
    return Record(kPktBits + 1)
        .put(err_bit ? 1 : 0, 1)
        .put(life, kLifeBits)
        .put(qpn, 24)
        .put(frame.opcode, 8)
        .put(frame.se ? 1 : 0, 1)
        .put(frame.ackreq ? 1 : 0, 1)
        .put(frame.psn, 24)
        .put(frame.payload.size(), 14)
        .put(frame.va, 64)
        .put(frame.rkey, 32)
        .put(frame.dma_len, 32)
        .put(frame.syndrome, 8)
        .put(frame.msn, 24)
        .put(frame.imm, 32)
        .put(compare_lo, 32)
        .value();
  }
};

class PktSource : public Agent {
 public:
  PktSource(Rng& rng, Vdut& dut, unsigned stall)
      : stall_percent(stall), rng_(&rng), p_(ROCEGEN_PACKET_PORTS(dut, s_pkt, P_DataW, kPktBits + 1)) {
    p_.valid.set(0);
  }
  void drive() override {
    if (offered_) return;
    offered_ = !queue.empty() && !rng_->percent(stall_percent);
    Bytes beat = rng_->bytes(kBytes);
    Bytes keep = rng_->bits(kBytes);
    Bytes user = rng_->bits(kPktBits + 1);
    last_ = rng_->below(2) != 0;
    if (offered_) {
      const Out& out = queue.front();
      count_ = std::min(kBytes, out.frame.payload.size() - at_);
      last_ = at_ + count_ == out.frame.payload.size();
      std::copy_n(out.frame.payload.begin() + static_cast<std::ptrdiff_t>(at_), count_, beat.begin());
      keep.assign(kBytes / 8, 0);
      for (std::size_t i = 0; i < count_; ++i) set_field(keep, i, 1, 1);
      user = out.user(last_ ? out.err : rng_->percent(50));
    }
    p_.valid.set(offered_ ? 1 : 0);
    p_.data.set_value(beat);
    p_.keep.set_value(keep);
    p_.last.set(last_ ? 1 : 0);
    p_.user.set_value(user);
  }
  void sample() override {
    if (!offered_ || p_.ready.get() == 0) return;
    offered_ = false;
    at_ += count_;
    if (last_) {
      queue.pop_front();
      at_ = 0;
      ++taken;
    }
  }
  void on_reset() override {
    p_.valid.set(0);
    offered_ = false;
    at_ = 0;
  }
  unsigned stall_percent;
  std::deque<Out> queue;
  std::uint64_t taken = 0;

 private:
  Rng* rng_;
  PacketPorts p_;
  bool offered_ = false;
  bool last_ = false;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
};

// Checks that a frame, once begun, is never interrupted by the sender, and counts.
class Watch : public Agent {
 public:
  explicit Watch(Vdut& dut) : d_(&dut) {}
  void drive() override {}
  void sample() override {
    const bool valid = d_->m_tx_tvalid != 0;
    REQUIRE_MESSAGE((valid || !inside_), "a bubble inside a frame");
    if (valid && d_->m_tx_tready != 0) inside_ = d_->m_tx_tlast == 0;
    frames += d_->cnt_tx_frames_o;
    aborted += d_->cnt_tx_aborted_o;
    stale += d_->cnt_tx_stale_o;
  }
  std::uint64_t frames = 0;
  std::uint64_t aborted = 0;
  std::uint64_t stale = 0;

 private:
  Vdut* d_;
  bool inside_ = false;
};

struct Conn {
  std::uint64_t dmac = 0;
  std::uint32_t dip = 0, dqpn = 0;
  std::uint16_t sport = 0, pkey = 0;
  std::uint64_t life = 0;
};

struct Bench {
  explicit Bench(std::uint64_t salt, unsigned in_stall = 0, unsigned out_stall = 0)
      : sim(salt),
        rng(sim.rng()),
        packets(rng, sim.dut, in_stall),
        config(rng, Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1), Port(sim.dut.s_cfg_tdata, kCfgBits)),
        out(rng, ports(sim.dut), out_stall),
        watch(sim.dut) {
    own_mac = rng.next() & 0xFFFFFFFFFFFF;
    own_ip = static_cast<std::uint32_t>(rng.next());
    ttl = static_cast<std::uint8_t>(rng.next());
    tos = static_cast<std::uint8_t>(rng.next());
    set_pins();
    sim.add(packets);
    sim.add(config);
    sim.add(out);
    sim.add(watch);
    out.on_packet = [this](const Packet& p) {
      REQUIRE(!due.empty());
      if (p.data != due.front()) {
        std::size_t at = 0;
        while (at < p.data.size() && at < due.front().size() && p.data[at] == due.front()[at]) ++at;
        FAIL("frame " << seen << " of " << due.front().size() << " bytes (got " << p.data.size() << ") differs at byte "
                      << at << ", ROCEGEN_SEED=" << seed());
      }
      due.pop_front();
      ++seen;
    };
    Port(sim.dut.life_i, kLifeBits).set(life);
    sim.reset();
    for (std::uint32_t qpn = 0; qpn < P_QpCount; ++qpn) set_up(qpn);
    sim.run_until([&] { return config.queue.empty(); }, 100'000);
  }
  static PacketPorts ports(Vdut& dut) {
    return {Port(dut.m_tx_tvalid, 1),     Port(dut.m_tx_tready, 1), Port(dut.m_tx_tdata, P_DataW),
            Port(dut.m_tx_tkeep, kBytes), Port(dut.m_tx_tlast, 1),  {}};
  }
  void set_pins() {
    Port(sim.dut.local_mac_i, 48).set(own_mac);
    Port(sim.dut.local_ip_i, 32).set(own_ip);
    Port(sim.dut.ttl_i, 8).set(ttl);
    Port(sim.dut.tos_i, 8).set(tos);
  }

  // The life that set-ups begin from now on.
  void set_life(std::uint64_t number) {
    sim.run_until([&] { return config.queue.empty(); }, 100'000);
    sim.run(2);
    life = number;
    Port(sim.dut.life_i, kLifeBits).set(life);
  }

  // Posts a set-up; without `setup` or for a QP that does not exist it must change nothing.
  void set_up(std::uint32_t qpn, bool setup = true) {
    Conn c;
    c.dmac = rng.next() & 0xFFFFFFFFFFFF;
    c.dip = static_cast<std::uint32_t>(rng.next());
    c.dqpn = static_cast<std::uint32_t>(rng.below(1 << 24));
    c.sport = static_cast<std::uint16_t>(rng.next());
    c.pkey = static_cast<std::uint16_t>(rng.next());
    c.life = life;
    config.push(Record(kCfgBits)
                    .put(setup ? 1 : 0, 1)
                    .put(qpn, 24)
                    .put(rng.below(8), 3)
                    .put(rng.below(8), 3)
                    .put(rng.below(16), 4)
                    .put(rng.below(65536), 16)
                    .put(c.pkey, 16)
                    .put(rng.below(1 << 24), 24)
                    .put(rng.below(1 << 24), 24)
                    .put(c.dqpn, 24)
                    .put(c.dip, 32)
                    .put(c.dmac, 48)
                    .put(c.sport, 16)
                    .put(rng.below(8), 3)
                    .put(rng.below(8), 3)
                    .put(rng.below(32), 5)
                    .put(rng.below(32), 5)
                    .put(rng.below(1 << 20), 20)
                    .put(rng.below(32), 5)
                    .put(rng.below(256), 8)
                    .put(rng.below(256), 8)
                    .put(rng.below(2), 1)
                    .put(rng.below(2), 1)
                    .put(rng.below(1 << 16), 16)
                    .put(rng.below(1 << 20), 20)
                    .put(rng.below(32), 5)
                    .put(rng.below(256), 8)
                    .value());
    if (setup && qpn < P_QpCount) conns[qpn] = c;
  }

  Out random_packet(std::uint8_t opcode, std::size_t payload) {
    Out o;
    o.qpn = static_cast<std::uint32_t>(rng.below(P_QpCount));
    o.life = conns.at(o.qpn).life;
    NetFrame& f = o.frame;
    f.opcode = opcode;
    f.se = rng.percent(50);
    f.ackreq = rng.percent(50);
    f.psn = static_cast<std::uint32_t>(rng.below(1 << 24));
    f.va = rng.next();
    f.rkey = static_cast<std::uint32_t>(rng.next());
    f.dma_len = static_cast<std::uint32_t>(rng.next());
    f.syndrome = static_cast<std::uint8_t>(rng.next());
    f.msn = static_cast<std::uint32_t>(rng.below(1 << 24));
    f.imm = static_cast<std::uint32_t>(rng.next());
    o.compare_lo = static_cast<std::uint32_t>(rng.next());
    if (!opcode_info(opcode).fixed) f.payload = rng.bytes(payload);
    return o;
  }

  void send(Out o) {
    const Conn& c = conns.at(o.qpn);
    if (o.life != c.life) ++stale;
    if (!o.err && o.life == c.life) {
      NetFrame f = o.frame;
      f.payload = o.body();
      f.dst_mac = c.dmac;
      f.src_mac = own_mac;
      f.tos = tos;
      f.ttl = ttl;
      f.src_ip = own_ip;
      f.dst_ip = c.dip;
      f.sport = c.sport;
      f.mig = true;
      f.pkey = c.pkey;
      f.dqpn = c.dqpn;
      Bytes frame = f.build();
      if (frame.size() < 60) frame.resize(60);
      due.push_back(std::move(frame));
    } else {
      ++errors;
    }
    packets.queue.push_back(std::move(o));
  }

  void finish(std::uint64_t limit = 400'000) {
    sim.run_until([&] { return packets.queue.empty() && due.empty(); }, limit);
    sim.run(60);
    REQUIRE(due.empty());
    REQUIRE(watch.frames == seen);
    REQUIRE(watch.aborted == errors);
    REQUIRE(watch.stale == stale);
  }
  void settle() {
    sim.run_until([&] { return packets.queue.size() < 20; }, 100'000);
  }

  std::size_t random_length() {
    switch (rng.below(4)) {
      case 0:
        return rng.below(8);
      case 1:
        return rng.below(2 * kBytes + 1);
      case 2:
        return rng.below(300);
      default:
        return rng.percent(10) ? rng.below(4097) : rng.below(700);
    }
  }

  Sim<Vdut> sim;
  Rng& rng;
  PktSource packets;
  StreamSource config;
  PacketSink out;
  Watch watch;
  std::uint64_t own_mac = 0;
  std::uint32_t own_ip = 0;
  std::uint8_t ttl = 0, tos = 0;
  std::map<std::uint32_t, Conn> conns;
  std::deque<Bytes> due;
  std::uint64_t seen = 0;
  std::uint64_t errors = 0;
  std::uint64_t stale = 0;
  std::uint64_t life = 0;
};

TEST_CASE("a packet of a former life is not sent, whatever its length and opcode") {
  Bench b(50, 20, 20);
  for (unsigned round = 1; round < 100; ++round) {
    b.set_life(b.rng.below(1 << kLifeBits));
    for (unsigned i = 0; i < 3; ++i) b.set_up(static_cast<std::uint32_t>(b.rng.below(P_QpCount)), b.rng.percent(80));
    b.sim.run_until([&] { return b.config.queue.empty(); }, 1000);
    b.sim.run(2);
    for (unsigned i = 0; i < 10; ++i) {
      Out o = b.random_packet(kOpcodes[b.rng.below(std::size(kOpcodes))], b.random_length());
      if (b.rng.percent(40)) o.life = (o.life + 1 + b.rng.below((1 << kLifeBits) - 1)) % (1 << kLifeBits);
      o.err = b.rng.percent(10);
      b.send(std::move(o));
    }
    b.sim.run_until([&] { return b.packets.queue.empty(); }, 10'000);
    b.sim.run(4);
  }
  b.finish();
  CHECK(b.stale > 100);
}

TEST_CASE("every payload length behind every header length") {
  Bench b(1);
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n <= 2 * kBytes + 8; ++n) lengths.push_back(n);
  for (const std::size_t mtu : {256U, 512U, 1024U, 2048U, 4096U}) {
    for (std::size_t n = mtu - 5; n <= std::min<std::size_t>(mtu + 2, 4096); ++n) lengths.push_back(n);
  }
  for (const auto n : lengths) {
    for (const std::uint8_t opcode : {0x04, 0x05, 0x0A, 0x0B}) b.send(b.random_packet(opcode, n));
    b.settle();
  }
  b.finish();
}

TEST_CASE("every opcode") {
  Bench b(2, 30, 30);
  for (unsigned round = 0; round < 4; ++round) {
    for (const auto opcode : kOpcodes) b.send(b.random_packet(opcode, round == 0 ? 0 : b.rng.below(200)));
  }
  b.finish();
}

TEST_CASE("stalls on either side, and packets with errors") {
  for (const unsigned in_stall : {0U, 50U}) {
    for (const unsigned out_stall : {0U, 50U}) {
      for (const unsigned errors : {0U, 30U}) {
        Bench b(3 + in_stall + 7 * out_stall + 1000 * errors, in_stall, out_stall);
        for (unsigned i = 0; i < 250; ++i) {
          Out o = b.random_packet(kOpcodes[b.rng.below(std::size(kOpcodes))], b.random_length());
          o.err = b.rng.percent(errors);
          b.send(std::move(o));
          b.settle();
        }
        b.finish();
      }
    }
  }
}

// Bytes of the frame that a record makes.
std::size_t frame_bytes(std::uint8_t opcode, std::size_t payload) {
  const Opcode o = opcode_info(opcode);
  return std::max<std::size_t>(60, 54 + o.ext() + (o.fixed.value_or(payload) + 3) / 4 * 4 + 4);
}

TEST_CASE("frames leave at the rate of the bus") {
  struct Case {
    std::uint8_t opcode;
    std::size_t payload;
  };
  for (const Case c :
       {Case{0x0A, 64}, Case{0x11, 0}, Case{0x0C, 0}, Case{0x12, 0}, Case{0x13, 0}, Case{0x14, 0}, Case{0x10, 64},
        Case{0x04, 0}, Case{0x07, 256}, Case{0x07, 4096}, Case{0x06, 1024}, Case{0x0A, 1}}) {
    Bench b(4);
    constexpr std::size_t kFrames = 100;
    const std::size_t beats = beats_of(frame_bytes(c.opcode, c.payload));
    for (std::size_t i = 0; i < kFrames; ++i) b.send(b.random_packet(c.opcode, c.payload));
    b.sim.run_until([&] { return b.seen == 10; }, 20'000);
    const auto start = b.sim.cycle();
    b.sim.run_until([&] { return b.seen == kFrames; }, 100'000);
    CHECK(b.sim.cycle() - start <= (kFrames - 10) * beats + 1);
    b.finish();
  }
}

// A frame leaves when it is whole, so one that is longer than all before it may leave a gap. The longest come first.
TEST_CASE("a mixture of small frames leaves without a bubble") {
  Bench b(9);
  constexpr std::size_t kFrames = 400;
  std::size_t beats = 0;
  for (std::size_t i = 0; i < kFrames; ++i) {
    static constexpr std::uint8_t codes[] = {0x0A, 0x11, 0x0C, 0x13, 0x12, 0x10, 0x04};
    const std::uint8_t opcode = i < 12 ? std::uint8_t{0x0A} : codes[b.rng.below(std::size(codes))];
    const std::size_t payload = i < 12 ? 64 : b.rng.below(65);
    b.send(b.random_packet(opcode, payload));
    if (i >= 10) beats += beats_of(frame_bytes(opcode, payload));
  }
  b.sim.run_until([&] { return b.seen == 10; }, 20'000);
  const auto start = b.sim.cycle();
  b.sim.run_until([&] { return b.seen == kFrames; }, 100'000);
  CHECK(b.sim.cycle() - start <= beats + 1);
  b.finish();
}

TEST_CASE("a packet with an error leaves nothing behind") {
  Bench b(5);
  b.out.stall_percent = 100;
  // More than the buffer holds, while nothing can leave.
  for (unsigned i = 0; i < 50; ++i) {
    Out o = b.random_packet(0x07, 4096 - b.rng.below(3));
    o.err = true;
    b.send(std::move(o));
  }
  for (unsigned i = 0; i < 100; ++i) {
    Out o = b.random_packet(0x11, 0);
    o.err = true;
    b.send(std::move(o));
  }
  b.sim.run_until([&] { return b.watch.aborted == 150; }, 100'000);
  b.send(b.random_packet(0x07, 4096));
  b.sim.run_until([&] { return b.packets.queue.empty(); }, 10'000);
  b.out.stall_percent = 0;
  b.finish();
}

TEST_CASE("a stalled MAC stops the input and loses nothing") {
  for (const std::size_t payload : {0U, 70U, 4096U}) {
    Bench b(6 + payload);
    b.out.stall_percent = 100;
    for (unsigned i = 0; i < 400; ++i) b.send(b.random_packet(payload == 0 ? 0x11 : 0x0A, payload));
    b.sim.run(20'000);
    const auto taken = b.packets.taken;
    b.sim.run(100);
    CHECK(b.packets.taken == taken);
    CHECK(taken < 400);
    CHECK(taken > 0);
    b.out.stall_percent = 0;
    b.finish();
  }
}

TEST_CASE("set-up decides where a packet goes") {
  Bench b(7);
  for (unsigned round = 0; round < 40; ++round) {
    const auto qpn = static_cast<std::uint32_t>(b.rng.below(P_QpCount));
    b.set_up(qpn);
    b.set_up(static_cast<std::uint32_t>(b.rng.below(P_QpCount)), false);
    b.set_up(P_QpCount + static_cast<std::uint32_t>(b.rng.below(1000)));
    b.set_up(static_cast<std::uint32_t>(qpn + (1U << b.rng.between(15, 23))));
    b.sim.run_until([&] { return b.config.queue.empty(); }, 1000);
    for (unsigned i = 0; i < 5; ++i) {
      Out o = b.random_packet(0x0A, b.rng.below(100));
      o.qpn = i == 0 ? qpn : o.qpn;
      b.send(std::move(o));
    }
    b.finish();
  }
}

TEST_CASE("IPv4 checksums with many carries, and the local fields") {
  Bench b(8);
  for (unsigned i = 0; i < 60; ++i) {
    b.own_mac = b.rng.next() & 0xFFFFFFFFFFFF;
    b.own_ip = b.rng.percent(50) ? 0xFFFFFFFFU - static_cast<std::uint32_t>(b.rng.below(3))
                                 : static_cast<std::uint32_t>(b.rng.next());
    b.tos = b.rng.percent(50) ? 0xFF : static_cast<std::uint8_t>(b.rng.next());
    b.ttl = b.rng.percent(50) ? 0xFF : static_cast<std::uint8_t>(b.rng.next());
    b.set_pins();
    for (unsigned k = 0; k < 5; ++k) b.send(b.random_packet(0x0B, b.rng.below(4097)));
    b.finish();
  }
}

}  // namespace
