// Bench of rx_frontend: every frame sent must meet the fate that net_frame.h's judge names, in order, and good
// ones must come out with the right header record and payload.
#include <filesystem>
#include <map>

#include "Vdut.h"
#include "tests/rtl/net_frame.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBytes = P_DataW / 8;
constexpr std::size_t kCmdBits = 158;
constexpr std::uint64_t kMac = 0x02A1B2C3D4E5;
constexpr std::uint32_t kIp = 0x0A000102;

std::size_t beats_of(std::size_t bytes) { return (bytes + kBytes - 1) / kBytes; }

// Drives s_rx as a MAC does: no back-pressure, garbage beside valid, tuser meaningful with tlast only.
class MacSource : public Agent {
 public:
  struct Item {
    Bytes data;
    bool bad = false;
  };
  MacSource(Rng& rng, Vdut& dut, unsigned idle)
      : idle_percent(idle), rng_(&rng), dut_(&dut), p_(ROCEGEN_PACKET_PORTS(dut, s_rx, P_DataW, 1)) {
    p_.valid.set(0);
  }
  void drive() override {
    const bool offer = !queue.empty() && !rng_->percent(idle_percent);
    Bytes beat = rng_->bytes(kBytes);
    Bytes keep(kBytes / 8);
    bool last = rng_->below(2) != 0;
    bool user = rng_->below(2) != 0;
    taken_ = 0;
    if (offer) {
      const Item& item = queue.front();
      taken_ = std::min(kBytes, item.data.size() - at_);
      std::copy_n(item.data.begin() + static_cast<std::ptrdiff_t>(at_), taken_, beat.begin());
      for (std::size_t i = 0; i < taken_; ++i) set_field(keep, i, 1, 1);
      last = at_ + taken_ == item.data.size();
      if (last) user = item.bad;
    }
    p_.valid.set(offer ? 1 : 0);
    p_.data.set_value(beat);
    p_.keep.set_value(keep);
    p_.last.set(last ? 1 : 0);
    p_.user.set(user ? 1 : 0);
    offered_ = offer;
    last_ = last;
  }
  void sample() override {
    REQUIRE(p_.ready.get() == 1);
    if (!offered_) return;
    at_ += taken_;
    if (last_) {
      queue.pop_front();
      at_ = 0;
      ++frames;
    }
  }
  void on_reset() override {
    p_.valid.set(0);
    at_ = 0;
  }
  unsigned idle_percent;
  std::deque<Item> queue;
  std::uint64_t frames = 0;

 private:
  Rng* rng_;
  Vdut* dut_;
  PacketPorts p_;
  bool offered_ = false;
  bool last_ = false;
  std::size_t at_ = 0;
  std::size_t taken_ = 0;
};

// The order of the counters' events is the order of the frames.
class Watch : public Agent {
 public:
  explicit Watch(Vdut& dut) : d_(&dut) {}
  void drive() override {}
  void sample() override {
    const std::array<bool, 12> pulse = {d_->cnt_rx_bad_frame_o != 0,      d_->cnt_rx_not_ip_o != 0,
                                        d_->cnt_rx_not_mine_o != 0,       d_->cnt_rx_ip_header_o != 0,
                                        d_->cnt_rx_not_roce_o != 0,       d_->cnt_rx_length_o != 0,
                                        d_->cnt_rx_bad_icrc_o != 0,       d_->cnt_rx_bth_o != 0,
                                        d_->cnt_rx_oversize_o != 0,       d_->cnt_rx_no_buffer_o != 0,
                                        d_->cnt_rx_no_header_slot_o != 0, d_->cnt_rx_good_o != 0};
    const auto count = std::count(pulse.begin(), pulse.end(), true);
    REQUIRE_MESSAGE(count == (d_->cnt_rx_frames_o != 0 ? 1 : 0), "a frame needs exactly one counter");
    for (std::size_t i = 0; i < pulse.size(); ++i) {
      if (pulse[i]) fates.push_back(static_cast<Fate>(i));
    }
  }
  std::vector<Fate> fates;

 private:
  Vdut* d_;
};

struct Bench {
  explicit Bench(std::uint64_t salt, unsigned idle = 0, unsigned stall = 0)
      : sim(salt),
        rng(sim.rng()),
        mac(rng, sim.dut, idle),
        watch(sim.dut),
        headers(rng, Port(sim.dut.m_hdr_tvalid, 1), Port(sim.dut.m_hdr_tready, 1),
                Port(sim.dut.m_hdr_tdata, Header::kBits), stall),
        commands(rng, Port(sim.dut.s_fetch_tvalid, 1), Port(sim.dut.s_fetch_tready, 1),
                 Port(sim.dut.s_fetch_tdata, kCmdBits), stall),
        payloads(rng, ROCEGEN_PACKET_PORTS(sim.dut, m_pay, P_DataW, kCmdBits), stall) {
    station(kMac, kIp);
    sim.add(mac);
    sim.add(watch);
    sim.add(headers);
    sim.add(commands);
    sim.add(payloads);
    headers.on_beat = [this](const Bytes& beat) { on_header(Header::from_record(beat)); };
    payloads.on_packet = [this](const Packet& packet) {
      REQUIRE(!due.empty());
      REQUIRE(packet.user == due.front().user);
      REQUIRE(packet.data == due.front().data);
      due.pop_front();
      ++delivered;
    };
    sim.reset();
  }

  void station(std::uint64_t own_mac, std::uint32_t own_ip) {
    local_mac = own_mac;
    local_ip = own_ip;
    Port(sim.dut.local_mac_i, 48).set(own_mac);
    Port(sim.dut.local_ip_i, 32).set(own_ip);
  }

  // Sends a frame; its fate is judged unless given.
  void send(Bytes frame, bool bad = false, std::optional<Fate> fate = {}) {
    const Fate f = fate.value_or(judge(frame, bad, local_mac, local_ip, P_MaxPayload));
    expected.push_back(f);
    if (f == Fate::good) good.push_back(frame);
    mac.queue.push_back({std::move(frame), bad});
  }

  void on_header(Header got) {
    // Under overload frames may be missing: skip to the one that is meant.
    if (lossy) {
      while (!good.empty() && Header::from_frame(good.front()).psn != got.psn) good.pop_front();
    }
    REQUIRE(!good.empty());
    Header want = Header::from_frame(good.front());
    want.buf_addr = got.buf_addr;
    REQUIRE(got == want);
    if (got.opcode != 0x11) {
      const bool forward = !rng.percent(forget_percent);
      const bool swap = (got.pay_bytes == 8 || !forward) && rng.percent(50);
      Bytes command = Record(kCmdBits)
                          .put(got.buf_addr, 16)
                          .put(got.pay_bytes, 14)
                          .put(forward ? 1 : 0, 1)
                          .put(rng.below(2), 1)
                          .put(rng.below(4), 2)
                          .put(swap ? 1 : 0, 1)
                          .put(rng.below(256), 8)
                          .put(rng.below(8), 3)
                          .put(got.dqpn, 24)
                          .put(got.psn, 24)
                          .put(rng.next(), 64)
                          .value();
      Bytes payload = payload_of(good.front());
      if (swap) std::reverse(payload.begin(), payload.end());
      if (forward) due.push_back({std::move(payload), command});
      if (fetch)
        commands.push(std::move(command));
      else
        held.push_back(std::move(command));
    }
    good.pop_front();
  }

  void let_fetch() {
    fetch = true;
    for (auto& c : held) commands.push(std::move(c));
    held.clear();
  }

  // All that was sent has met its fate and all payload came.
  bool idle() const {
    return mac.queue.empty() && watch.fates.size() >= expected.size() && good.empty() && due.empty() &&
           commands.queue.empty();
  }

  void finish(std::uint64_t limit = 400'000) {
    sim.run_until([&] { return idle(); }, limit);
    sim.run(30);
    compare();
    REQUIRE(headers.beats.size() == static_cast<std::size_t>(std::count(expected.begin(), expected.end(), Fate::good)));
  }
  void compare() {
    REQUIRE(watch.fates.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE_MESSAGE(watch.fates[i] == expected[i], "frame " << i << ": " << fate_name(watch.fates[i]) << ", expected "
                                                              << fate_name(expected[i]) << ", ROCEGEN_SEED=" << seed());
    }
  }

  // Waits until what is under way leaves room for a frame: for tests that want no drop for lack of space.
  void make_room(std::size_t payload) {
    sim.run_until(
        [&] {
          std::size_t used = beats_of(payload);
          for (const auto& f : good) used += beats_of(f.size());
          for (const auto& p : due) used += beats_of(p.data.size()) + 1;
          return (used + 4 < P_BufBeats || (good.empty() && due.empty())) && good.size() + 4 < P_HdrDepth &&
                 mac.queue.size() < 4 && commands.queue.size() < 4;
        },
        100'000);
  }

  NetFrame random_frame(std::uint8_t opcode, std::size_t payload) {
    NetFrame f;
    f.dst_mac = local_mac;
    f.src_mac = rng.next() & 0xFFFFFFFFFFFF;
    f.tos = static_cast<std::uint8_t>(rng.next());
    f.id = static_cast<std::uint16_t>(rng.next());
    f.frag = rng.percent(50) ? 0x4000 : 0x0000;
    f.ttl = static_cast<std::uint8_t>(rng.next());
    f.src_ip = static_cast<std::uint32_t>(rng.next());
    f.dst_ip = local_ip;
    f.sport = static_cast<std::uint16_t>(rng.next());
    f.udp_csum = rng.percent(50) ? static_cast<std::uint16_t>(rng.next()) : 0;
    f.opcode = opcode;
    f.se = rng.percent(50);
    f.mig = rng.percent(50);
    f.pkey = static_cast<std::uint16_t>(rng.next());
    f.byte4 = static_cast<std::uint8_t>(rng.next());
    f.dqpn = static_cast<std::uint32_t>(rng.below(1 << 24));
    f.ackreq = rng.percent(50);
    f.resv7 = static_cast<std::uint8_t>(rng.below(128));
    f.psn = next_psn++ & 0xFFFFFF;
    f.va = rng.next();
    f.rkey = static_cast<std::uint32_t>(rng.next());
    f.dma_len = static_cast<std::uint32_t>(rng.next());
    f.imm = static_cast<std::uint32_t>(rng.next());
    f.msn = static_cast<std::uint32_t>(rng.below(1 << 24));
    f.syndrome = static_cast<std::uint8_t>(rng.next());
    f.payload = rng.bytes(opcode_info(opcode).fixed.value_or(payload));
    return f;
  }
  std::uint8_t random_opcode() {
    static constexpr std::uint8_t codes[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
                                             0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11,
                                             0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x0A, 0x07};
    return codes[rng.below(std::size(codes))];
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
        return rng.percent(10) ? rng.below(P_MaxPayload + 1) : rng.below(700);
    }
  }

  Sim<Vdut> sim;
  Rng& rng;
  MacSource mac;
  Watch watch;
  StreamSink headers;
  StreamSource commands;
  PacketSink payloads;
  std::uint64_t local_mac = 0;
  std::uint32_t local_ip = 0;
  std::vector<Fate> expected;
  std::deque<Bytes> good;  // sent, header not yet seen
  std::deque<Packet> due;  // payload to come
  std::deque<Bytes> held;
  std::uint64_t delivered = 0;
  std::uint32_t next_psn = 0xFFFF00;
  unsigned forget_percent = 10;
  bool fetch = true;
  bool lossy = false;
};

TEST_CASE("every payload length behind every header length") {
  Bench b(1);
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n <= 2 * kBytes; ++n) lengths.push_back(n);
  for (const std::size_t mtu : {256U, 512U, 1024U, 2048U, 4096U}) {
    for (const int d : {-2, -1, 0, 1, 2}) {
      if (mtu + static_cast<std::size_t>(d) <= P_MaxPayload) lengths.push_back(mtu + static_cast<std::size_t>(d));
    }
  }
  for (const auto n : lengths) {
    for (const std::uint8_t opcode : {0x04, 0x05, 0x0A, 0x0B, 0x0E, 0x10}) {
      b.make_room(n);
      b.send(b.random_frame(opcode, n).build());
    }
  }
  b.finish();
  CHECK(std::count(b.expected.begin(), b.expected.end(), Fate::good) == static_cast<std::ptrdiff_t>(b.expected.size()));
}

TEST_CASE("every opcode") {
  Bench b(2, 20, 20);
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      b.make_room(80);
      b.send(b.random_frame(static_cast<std::uint8_t>(opcode), round == 0 ? 0 : b.rng.below(80)).build());
    }
  }
  b.finish();
  // 23 opcodes of the reliable connection, and two that the responder refuses.
  CHECK(std::count(b.expected.begin(), b.expected.end(), Fate::good) == 2 * 25);
  CHECK(std::count(b.expected.begin(), b.expected.end(), Fate::bth) == 2 * (256 - 25));
}

TEST_CASE("frames back to back, with idle cycles and with stalls") {
  for (const unsigned idle : {0U, 5U, 60U}) {
    for (const unsigned stall : {0U, 30U}) {
      Bench b(3 + idle + 7 * stall, idle, stall);
      for (unsigned i = 0; i < 500; ++i) {
        const auto n = b.random_length();
        b.make_room(n);
        NetFrame f = b.random_frame(b.random_opcode(), n);
        if (b.rng.percent(20)) f.trailing = b.rng.below(47);
        b.send(f.build(&b.rng));
      }
      b.finish();
    }
  }
}

TEST_CASE("small frames at the full rate of the bus") {
  struct Case {
    std::uint8_t opcode;
    std::size_t payload;
  };
  constexpr unsigned kFrames = 300;
  for (const Case c : {Case{0x11, 0}, Case{0x0C, 0}, Case{0x12, 8}, Case{0x13, 16}, Case{0x0A, 64}, Case{0x10, 64},
                       Case{0x04, 1}, Case{0x07, 64}}) {
    Bench b(4);
    b.forget_percent = 0;
    for (unsigned i = 0; i < kFrames; ++i) b.send(b.random_frame(c.opcode, c.payload).build());
    const std::size_t beats = beats_of(b.mac.queue.back().data.size());
    const auto start = b.sim.cycle();
    // The last header comes a fixed time after the last beat, its payload after it.
    b.sim.run_until([&] { return b.headers.beats.size() == kFrames && b.due.empty() && b.commands.queue.empty(); },
                    100'000);
    CHECK(b.sim.cycle() - start <= kFrames * beats + beats_of(c.payload) + P_CrcLatency + 12);
    b.finish();
    CHECK(std::count(b.watch.fates.begin(), b.watch.fates.end(), Fate::good) == kFrames);
  }
}

TEST_CASE("atomics: operands, results and reversed bytes") {
  for (const unsigned stall : {0U, 40U}) {
    Bench b(13 + stall, stall / 4, stall);
    for (unsigned i = 0; i < 400; ++i) {
      static constexpr std::uint8_t codes[] = {0x12, 0x13, 0x14, 0x12, 0x10, 0x0A};
      const std::uint8_t opcode = codes[b.rng.below(std::size(codes))];
      b.make_room(16);
      b.send(b.random_frame(opcode, b.rng.between(7, 9)).build(), false, Fate::good);
    }
    b.finish();
    CHECK(b.delivered > 300);
  }
}

TEST_CASE("each reason to drop") {
  Bench b(5, 10);
  const auto good = [&] { return b.random_frame(0x0A, b.rng.between(1, 200)); };
  const auto drop = [&](NetFrame f, Fate fate, bool bad = false) {
    b.make_room(300);
    // The judge is checked here too.
    Bytes frame = f.build();
    REQUIRE_MESSAGE(judge(frame, bad, kMac, kIp, P_MaxPayload) == fate, fate_name(fate));
    b.send(std::move(frame), bad, fate);
    b.send(good().build());
  };
  NetFrame f;
  drop(good(), Fate::bad_frame, true);
  for (std::size_t size = 1; size < 58; ++size) {
    b.make_room(0);
    Bytes frame = b.random_frame(0x11, 0).build();
    frame.resize(size);
    b.send(std::move(frame), false, Fate::bad_frame);
  }
  for (const std::uint16_t type : {0x0806, 0x86DD, 0x8100, 0x8915, 0x0801, 0x0900, 0x0000}) {
    f = good(), f.ether_type = type, drop(f, Fate::not_ip);
  }
  for (unsigned bit = 0; bit < 48; ++bit) f = good(), f.dst_mac ^= 1ULL << bit, drop(f, Fate::not_mine);
  for (unsigned bit = 0; bit < 32; ++bit) f = good(), f.dst_ip ^= 1U << bit, drop(f, Fate::not_mine);
  f = good(), f.dst_mac = 0xFFFFFFFFFFFF, drop(f, Fate::not_mine);
  for (const std::uint8_t v : {0x46, 0x44, 0x55, 0x65, 0x4F, 0x00})
    f = good(), f.version_ihl = v, drop(f, Fate::ip_header);
  for (unsigned bit = 0; bit < 14; ++bit)
    f = good(), f.frag = static_cast<std::uint16_t>(1U << bit), drop(f, Fate::ip_header);
  for (unsigned bit = 0; bit < 16; ++bit)
    f = good(), f.csum_xor = static_cast<std::uint16_t>(1U << bit), drop(f, Fate::ip_header);
  for (const std::uint8_t p : {1, 6, 16, 18, 25, 0x91}) f = good(), f.protocol = p, drop(f, Fate::not_roce);
  for (unsigned bit = 0; bit < 16; ++bit)
    f = good(), f.dport = static_cast<std::uint16_t>(4791U ^ (1U << bit)), drop(f, Fate::not_roce);
  f = good(), f.sport = 4791, f.dport = 4790, drop(f, Fate::not_roce);
  // Lengths: every IP length from 0 to beyond the frame, UDP following or not.
  for (unsigned n = 0; n < 300; ++n) {
    f = b.random_frame(0x0A, 100);
    const unsigned right = 20 + 8 + 12 + 16 + 100 + 4;
    if (n == right) continue;
    f.ip_len = static_cast<std::uint16_t>(n);
    f.udp_len = static_cast<std::uint16_t>(n - 20);
    b.make_room(300);
    b.send(f.build(), false, n < 20 + 8 + 12 + 16 + 4 || n > right ? Fate::length : Fate::bad_icrc);
  }
  for (const std::uint16_t n : {0xFFFF, 0xFFEC, 0x8000, 0x7FFF, 0x4000})
    f = good(), f.ip_len = n, f.udp_len = static_cast<std::uint16_t>(n - 20), drop(f, Fate::length);
  for (unsigned bit = 0; bit < 16; ++bit) {
    f = b.random_frame(0x0A, 100), f.udp_len = static_cast<std::uint16_t>(140U ^ (1U << bit)), drop(f, Fate::length);
  }
  // PadCnt larger than what stands there; with nothing there (payload underflow, L43).
  for (const std::uint8_t opcode : {0x04, 0x05, 0x0A, 0x0B}) {
    for (std::uint8_t n = 0; n < 3; ++n) {
      for (std::uint8_t pad = static_cast<std::uint8_t>(n + 1); pad < 4; ++pad) {
        f = b.random_frame(opcode, n), f.pad = 0, f.pad_field = pad, drop(f, Fate::length);
      }
    }
  }
  // UDP payload of 0..15 bytes (L45), in a frame that Ethernet padded to 60 bytes.
  for (std::uint16_t n = 0; n < 16; ++n) {
    f = b.random_frame(0x04, 0), f.ip_len = static_cast<std::uint16_t>(28 + n),
    f.udp_len = static_cast<std::uint16_t>(8 + n), f.trailing = 2;
    drop(f, Fate::length);
  }
  // Opcodes with a fixed payload that have another, down to less than their headers, or a pad.
  for (const std::uint8_t opcode : {0x0C, 0x11, 0x12, 0x13, 0x14}) {
    const std::size_t right = opcode == 0x12 ? 8 : opcode >= 0x13 ? 16 : 0;
    for (std::size_t n = 0; n <= 40; ++n) {
      if (n == right) continue;
      f = b.random_frame(opcode, 0), f.payload = b.rng.bytes(n), drop(f, Fate::length);
    }
    for (const std::size_t n : {264U, 520U, 1040U}) {
      f = b.random_frame(opcode, 0), f.payload = b.rng.bytes(n), drop(f, Fate::length);
    }
    for (std::uint8_t pad = 1; pad < 4; ++pad) {
      f = b.random_frame(opcode, 0), f.pad = pad, drop(f, Fate::length);
      f = b.random_frame(opcode, 0), f.pad = 0, f.pad_field = pad, drop(f, Fate::length);
    }
    const unsigned end = 20 + 8 + 12 + static_cast<unsigned>(opcode_info(opcode).ext() + right) + 4;
    for (unsigned n = 20; n < end; ++n) {
      f = b.random_frame(opcode, 0), f.ip_len = static_cast<std::uint16_t>(n),
      f.udp_len = static_cast<std::uint16_t>(n - 20), drop(f, Fate::length);
    }
  }
  for (unsigned bit = 0; bit < 32; ++bit) f = good(), f.icrc_xor = 1U << bit, drop(f, Fate::bad_icrc);
  // Every bit that the ICRC covers and that no other check looks at.
  for (std::size_t at = 0; at < 74 + 37; ++at) {
    const bool masked = at < 14 || at == 15 || at == 22 || at == 24 || at == 25 || at == 40 || at == 41 || at == 46;
    const bool checked = at < 14 || (at >= 14 && at < 34) || (at >= 36 && at < 40) || at == 42 || at == 43;
    if (masked || checked) continue;
    Bytes frame = b.random_frame(0x0A, 41).build();
    frame[at] = static_cast<std::uint8_t>(frame[at] ^ (1U << b.rng.below(8)));
    b.make_room(300);
    b.send(std::move(frame), false, Fate::bad_icrc);
  }
  for (std::uint8_t v = 1; v < 16; ++v) f = good(), f.tver = v, drop(f, Fate::bth);
  for (const std::uint8_t opcode : {0x15, 0x18, 0x1B, 0x1E, 0x1F, 0x20, 0x2A, 0x64, 0x80, 0x81, 0xFF}) {
    f = b.random_frame(opcode, 16), drop(f, Fate::bth);
  }
  for (const std::size_t over : {1U, 2U, 4U, 100U, 9000U}) {
    f = b.random_frame(0x07, P_MaxPayload + over), drop(f, Fate::oversize);
  }
  // The first reason counts.
  f = good(), f.tver = 1, f.icrc_xor = 1, drop(f, Fate::bad_icrc);
  f = good(), f.dst_ip ^= 1, f.csum_xor = 1, drop(f, Fate::not_mine);
  f = good(), f.protocol = 6, f.csum_xor = 1, drop(f, Fate::ip_header);
  f = good(), f.icrc_xor = 1, drop(f, Fate::bad_frame, true);
  b.finish();
}

TEST_CASE("Ethernet padding is not payload") {
  Bench b(6, 10, 10);
  for (std::size_t trailing = 0; trailing <= 46; ++trailing) {
    for (const std::uint8_t opcode : {0x04, 0x0A, 0x11}) {
      NetFrame f = b.random_frame(opcode, b.rng.below(2 * kBytes));
      f.trailing = trailing;
      b.make_room(300);
      b.send(f.build(&b.rng), false, Fate::good);
    }
  }
  // More than a beat of it, at every place where the ICRC can end.
  for (std::size_t n = 0; n < 4 * kBytes && n < 300; n += 4) {
    NetFrame f = b.random_frame(0x0A, n);
    f.trailing = b.rng.between(1, 3 * kBytes);
    b.make_room(700);
    b.send(f.build(&b.rng), false, Fate::good);
  }
  b.finish();
}

TEST_CASE("IPv4 checksums with many carries") {
  Bench b(7);
  b.station(0xFFFFFFFFFFFE, 0xFFFFFFFE);
  for (unsigned i = 0; i < 300; ++i) {
    NetFrame f = b.random_frame(0x04, b.rng.below(20));
    f.id = 0xFFFF;
    f.src_ip = 0xFFFFFFFFU - static_cast<std::uint32_t>(b.rng.below(4));
    f.tos = 0xFF;
    f.ttl = 0xFF;
    f.frag = 0xC000;
    if (i % 3 == 1) f.csum_xor = static_cast<std::uint16_t>(1U << b.rng.below(16));
    if (i % 3 == 2) {
      // An ID that brings the sum to all ones: the checksum field is 0x0000 then, or 0xFFFF, its other zero.
      f.id = 0;
      Bytes frame = f.build();
      f.id = static_cast<std::uint16_t>(get_bytes(frame, 24, 2));
      f.csum_xor = b.rng.percent(50) ? 0xFFFF : 0;
    }
    b.make_room(100);
    b.send(f.build(), false, i % 3 == 1 ? Fate::ip_header : Fate::good);
  }
  b.finish();
}

TEST_CASE("random damage") {
  Bench b(8, 5, 20);
  for (unsigned i = 0; i < 1500; ++i) {
    NetFrame f = b.random_frame(b.rng.percent(95) ? b.random_opcode() : static_cast<std::uint8_t>(b.rng.next()),
                                b.rng.below(260));
    f.trailing = b.rng.percent(50) ? 0 : b.rng.below(60);
    if (b.rng.percent(20)) f.pad = static_cast<std::uint8_t>(b.rng.below(4));
    if (b.rng.percent(10)) f.pad_field = static_cast<std::uint8_t>(b.rng.below(4));
    if (b.rng.percent(10)) f.ip_len = static_cast<std::uint16_t>(b.rng.below(400));
    if (b.rng.percent(10)) f.udp_len = static_cast<std::uint16_t>(b.rng.below(400));
    Bytes frame = f.build(&b.rng);
    if (b.rng.percent(40)) {
      const auto at = b.rng.below(frame.size());
      frame[at] = static_cast<std::uint8_t>(frame[at] ^ (1U << b.rng.below(8)));
    }
    if (b.rng.percent(10)) frame.resize(b.rng.between(1, frame.size()));
    b.make_room(400);
    b.send(std::move(frame), b.rng.percent(5));
  }
  b.finish();
}

TEST_CASE("a full buffer drops whole frames and the next that fits is taken") {
  Bench b(9);
  b.fetch = false;
  b.forget_percent = 30;
  std::size_t used = 0;
  unsigned dropped = 0;
  for (unsigned i = 0; i < 4; ++i) {
    // Fill to the last beat, with frames that do not fit in between. Header slots are drained all the while.
    while (used < P_BufBeats) {
      const std::size_t n = b.rng.percent(20) ? P_MaxPayload - b.rng.below(8) : b.rng.between(1, P_MaxPayload / 2);
      const std::size_t beats = beats_of(n);
      const std::size_t take =
          P_BufBeats - used < 4 && beats > P_BufBeats - used && b.rng.percent(50) ? (P_BufBeats - used) * kBytes : n;
      const bool fits = beats_of(take) <= P_BufBeats - used;
      b.send(b.random_frame(0x07, take).build(), false, fits ? Fate::good : Fate::no_buffer);
      if (fits)
        used += beats_of(take);
      else
        ++dropped;
      // Frames without payload take no space.
      if (b.rng.percent(30)) b.send(b.random_frame(b.rng.percent(50) ? 0x11 : 0x0A, 0).build(), false, Fate::good);
      b.sim.run_until([&] { return b.mac.queue.empty() && b.good.empty(); }, 100'000);
    }
    b.send(b.random_frame(0x08, 1).build(), false, Fate::no_buffer);
    b.sim.run(50 + 1000 / kBytes);
    b.let_fetch();
    b.sim.run_until([&] { return b.idle(); }, 100'000);
    b.fetch = false;
    used = 0;
  }
  CHECK(dropped > 0);
  b.finish();
}

TEST_CASE("a full header queue drops frames") {
  Bench b(10);
  b.headers.stall_percent = 100;
  for (unsigned i = 0; i < P_HdrDepth + 5; ++i) {
    b.send(b.random_frame(i % 2 == 0 ? 0x11 : 0x0A, 1 + i % 3).build(), false,
           i < P_HdrDepth ? Fate::good : Fate::no_header_slot);
  }
  b.sim.run_until([&] { return b.watch.fates.size() == b.expected.size(); }, 10'000);
  b.compare();
  b.headers.stall_percent = 0;
  b.sim.run_until([&] { return b.idle(); }, 10'000);
  for (unsigned i = 0; i < 20; ++i) b.make_room(100), b.send(b.random_frame(0x0A, i).build(), false, Fate::good);
  b.finish();
}

TEST_CASE("overload: what is taken is whole, what is not is counted") {
  Bench b(11, 0, 75);
  b.lossy = true;
  constexpr unsigned kFrames = 1500;
  for (unsigned i = 0; i < kFrames; ++i) {
    b.send(b.random_frame(b.random_opcode(), b.random_length()).build(), b.rng.percent(3));
  }
  b.sim.run_until([&] { return b.watch.fates.size() == kFrames; }, 1'000'000);
  b.sim.run_until([&] { return b.due.empty() && b.commands.queue.empty(); }, 100'000);
  b.sim.run(3000);
  CHECK(b.due.empty());
  std::map<Fate, unsigned> count;
  for (std::size_t i = 0; i < kFrames; ++i) {
    ++count[b.watch.fates[i]];
    const bool lost = b.watch.fates[i] == Fate::no_buffer || b.watch.fates[i] == Fate::no_header_slot;
    if (!lost || b.expected[i] != Fate::good) REQUIRE(b.watch.fates[i] == b.expected[i]);
  }
  CHECK(count[Fate::good] == b.headers.beats.size());
  CHECK(count[Fate::good] > 100);
  CHECK(count[Fate::no_buffer] + count[Fate::no_header_slot] > 50);
}

TEST_CASE("frames of real stacks") {
  unsigned files = 0;
  unsigned frames = 0;
  unsigned good = 0;
  for (const std::string folder :
       {std::string(ROCEGEN_SOURCE_DIR) + "/tests/captures", std::string(ROCEGEN_SOURCE_DIR) + "/../shared/captures",
        std::string(ROCEGEN_SOURCE_DIR) + "/../shared/vectors/roce"}) {
    std::error_code error;
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".pcap") names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    for (const auto& name : names) {
      auto list = read_frames(name);
      if (list.empty()) continue;
      ++files;
      if (list.size() > 150) list.resize(150);
      Bench b(12);
      for (auto& frame : list) {
        if (frame.size() < 58) continue;
        b.station(get_bytes(frame, 0, 6), static_cast<std::uint32_t>(get_bytes(frame, 30, 4)));
        b.send(frame);
        ++frames;
        if (b.expected.back() == Fate::good) ++good;
        b.sim.run_until([&] { return b.idle(); }, 2'000);
      }
      b.finish();
    }
  }
  MESSAGE(files << " captures, " << frames << " frames, " << good << " good for us");
  if (files == 0)
    MESSAGE("no captures here: skipped");
  else
    CHECK(good > 0);
}

}  // namespace
