// dma_read against a memory: every alignment and tail, bursts, errors, refused addresses, rates, latency.
#include "Vdut.h"
#include "tests/rtl/host_axi.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBytes = P_DataW / 8;
constexpr std::size_t kPktBits = 302;
constexpr std::size_t kPorts = P_Targets;
constexpr std::uint64_t kEvtReadErr = 3;

struct Event {
  std::uint64_t qpn, psn, rsp, life;
};

struct Command {
  std::uint64_t address;
  std::size_t bytes;
  std::uint64_t target;
  Event event;  // if it fails
  Bytes pkt;
};

bool lies_inside(const Command& c) {
  if (c.bytes == 0) return true;
  if (c.target >= kPorts) return false;
  const std::uint64_t last = c.address + c.bytes - 1;
  if (last < c.address) return false;
  return P_AddrW == 64 || (last >> (P_AddrW % 64)) == 0;
}

struct Fixture {
  Sim<Vdut> sim;
  StreamSource cmd{sim.rng(), Port(sim.dut.s_cmd_tvalid, 1), Port(sim.dut.s_cmd_tready, 1),
                   Port(sim.dut.s_cmd_tdata, 3 + 64 + kPktBits)};
  std::deque<AxiReadSlave> axi;
  PacketSink pkt{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, m_pkt, P_DataW, kPktBits + 1)};
  StreamSink evt{sim.rng(), Port(sim.dut.m_evt_tvalid, 1), Port(sim.dut.m_evt_tready, 1),
                 Port(sim.dut.m_evt_tdata, 62)};
  std::deque<Command> expected;
  std::deque<Event> expected_events;
  std::size_t checked = 0;

  explicit Fixture(std::uint64_t salt) : sim(salt) {
    pkt.loose_user = 1;
    sim.add(cmd);
    for (std::size_t t = 0; t < kPorts; ++t) {
      auto& d = sim.dut;
      axi.emplace_back(sim.rng(),
                       AxiReadSlave::Pins{Port(d.m_axi_arvalid, t, 1), Port(d.m_axi_arready, t, 1),
                                          Port(d.m_axi_araddr, t * P_AddrW, P_AddrW), Port(d.m_axi_arlen, 8 * t, 8),
                                          Port(d.m_axi_arsize, 3 * t, 3), Port(d.m_axi_arburst, 2 * t, 2),
                                          Port(d.m_axi_rvalid, t, 1), Port(d.m_axi_rready, t, 1),
                                          Port(d.m_axi_rdata, t * P_DataW, P_DataW), Port(d.m_axi_rresp, 2 * t, 2),
                                          Port(d.m_axi_rlast, t, 1)});
      axi.back().max_outstanding = P_MaxReads;
      axi.back().salt = t * 0x1111'1111'1000;
      sim.add(axi.back());
    }
    sim.add(pkt);
    sim.add(evt);
    pkt.on_packet = [this](const Packet& p) { check(p); };
    evt.on_beat = [this](const Bytes& e) {
      REQUIRE(!expected_events.empty());
      CHECK(get_field(e, 56, 6) == expected_events.front().life);
      CHECK(get_field(e, 49, 7) == kEvtReadErr);
      CHECK(get_field(e, 48, 1) == expected_events.front().rsp);
      CHECK(get_field(e, 24, 24) == expected_events.front().psn);
      CHECK(get_field(e, 0, 24) == expected_events.front().qpn);
      expected_events.pop_front();
    };
    sim.reset();
  }

  /// Sets a knob of all memories.
  template <class T, class V>
  void set(T AxiReadSlave::*knob, V value) {
    for (auto& a : axi) a.*knob = value;
  }
  /// A count of all memories together.
  template <class T>
  T sum(T AxiReadSlave::*count) const {
    T total = 0;
    for (const auto& a : axi) total += a.*count;
    return total;
  }

  bool bus_error(const Command& c) const {
    if (!axi[0].error_at || c.bytes == 0) return false;
    for (std::uint64_t a = c.address & ~std::uint64_t{kBytes - 1}; a < c.address + c.bytes; a += kBytes)
      if (axi[0].error_at(a)) return true;
    return false;
  }

  void check(const Packet& p) {
    REQUIRE(!expected.empty());
    const Command c = expected.front();
    expected.pop_front();
    ++checked;
    const bool inside = lies_inside(c);
    const bool error = !inside || bus_error(c);
    INFO("addr " << c.address << " bytes " << c.bytes);
    Bytes user = p.user;
    CHECK(get_field(user, kPktBits, 1) == (error ? 1 : 0));
    set_field(user, kPktBits, 1, 0);
    CHECK(user == c.pkt);
    REQUIRE(p.data.size() == (inside ? c.bytes : 0));
    if (error) return;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < p.data.size(); ++i)
      wrong += p.data[i] != memory_byte((c.address + i) ^ axi[c.target].salt) ? 1 : 0;
    CHECK(wrong == 0);
  }

  void send(std::uint64_t address, std::size_t bytes) { send(address, bytes, sim.rng().below(kPorts)); }
  void send(std::uint64_t address, std::size_t bytes, std::uint64_t target) {
    Command c{address, bytes, target, {}, sim.rng().bits(kPktBits)};
    // tx_pkt_t: qpn[295:272] opcode[271:264] se ackreq psn[261:238] pay_bytes[237:224] ...
    set_field(c.pkt, 224, 14, bytes);
    if (sim.rng().percent(50)) set_field(c.pkt, 264, 8, sim.rng().below(0x15));
    const std::uint64_t opcode = get_field(c.pkt, 264, 8);
    c.event = {get_field(c.pkt, 272, 24), get_field(c.pkt, 238, 24), opcode >= 0x0D && opcode <= 0x10 ? 1U : 0U,
               get_field(c.pkt, 296, 6)};
    Bytes record = c.pkt;
    record.resize((3 + 64 + kPktBits + 7) / 8);
    set_field(record, kPktBits, 64, address);
    set_field(record, kPktBits + 64, 3, target);
    cmd.push(std::move(record));
    if (!lies_inside(c) || bus_error(c)) expected_events.push_back(c.event);
    expected.push_back(std::move(c));
  }

  void finish(std::uint64_t limit) {
    sim.run_until(
        [this] {
          std::size_t outstanding = 0;
          for (const auto& a : axi) outstanding += a.outstanding();
          REQUIRE_MESSAGE(outstanding <= P_MaxReads, "more reads outstanding than allowed, all ports together");
          return expected.empty() && expected_events.empty();
        },
        limit);
    sim.run(20);
    CHECK(cmd.queue.empty());
    CHECK(sim.dut.m_pkt_tvalid == 0);
    CHECK(sim.dut.m_axi_arvalid == 0);
  }

  /// A random address whose low bits are `low`, well inside the address space, page number random.
  std::uint64_t address(std::uint64_t low, std::uint64_t span = 4096) {
    const std::uint64_t mask = P_AddrW == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (P_AddrW % 64)) - 1;
    return ((sim.rng().next() & mask >> 1) & ~(span - 1)) | low;
  }
};

}  // namespace

TEST_CASE("every alignment with every tail, short and long") {
  Fixture f(1);
  struct Pair {
    std::size_t offset, tail;
  };
  std::vector<Pair> pairs;
  for (std::size_t offset = 0; offset < kBytes; ++offset)
    for (std::size_t tail = 0; tail < kBytes; ++tail) pairs.push_back({offset, tail});
  for (std::size_t i = pairs.size(); i > 1; --i) std::swap(pairs[i - 1], pairs[f.sim.rng().below(i)]);
  std::size_t at = 0;
  for (unsigned round = 0; at < pairs.size(); ++round) {
    f.cmd.stall_percent = round % 3 == 0 ? 0 : 30;
    f.pkt.stall_percent = round % 4 == 0 ? 0 : 15 * (round % 5);
    f.set(&AxiReadSlave::ar_stall, round % 2 == 0 ? 0 : 40);
    f.set(&AxiReadSlave::r_stall, round % 3 == 1 ? 40 : 0);
    f.set(&AxiReadSlave::latency, static_cast<unsigned>(1 + f.sim.rng().below(60)));
    f.set(&AxiReadSlave::jitter, round % 2 == 0 ? 0 : 20);
    for (unsigned i = 0; i < 1500 && at < pairs.size(); ++i, ++at) {
      // The same pair within a beat or two, and after some full beats, at a place that may cross 4 KB.
      const std::uint64_t low = f.sim.rng().below(4096 / kBytes) * kBytes + pairs[at].offset;
      f.send(f.address(low), pairs[at].tail);
      f.send(f.address(4096 - kBytes + pairs[at].offset), kBytes * f.sim.rng().between(1, 3) + pairs[at].tail);
    }
    f.finish(2'000'000);
  }
  CHECK(f.checked == 2 * pairs.size());
}

TEST_CASE("long commands: every size class up to 16383 bytes, bursts within 4 KB and 256 beats") {
  Fixture f(2);
  f.set(&AxiReadSlave::latency, 20);
  std::size_t commands = 0;
  for (unsigned round = 0; round < 4; ++round) {
    f.pkt.stall_percent = round == 1 ? 30 : 0;
    f.set(&AxiReadSlave::r_stall, round == 2 ? 30 : 0);
    f.set(&AxiReadSlave::ar_stall, round == 3 ? 60 : 0);
    for (const std::size_t bytes : {16383U, 16382U, 8192U, 4097U, 4096U, 4095U, 2049U, 2048U, 2047U, 1024U, 1U, 0U}) {
      for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{kBytes - 1},
                                      std::uint64_t{2048}, std::uint64_t{4095}, f.sim.rng().below(4096)}) {
        f.send(f.address(low), bytes);
        ++commands;
      }
    }
    for (unsigned i = 0; i < 40; ++i, ++commands) f.send(f.address(f.sim.rng().below(4096)), f.sim.rng().below(16384));
    f.finish(1'000'000);
  }
  CHECK(f.checked == commands);
}

TEST_CASE("empty commands among others keep the order and read nothing") {
  Fixture f(3);
  for (unsigned i = 0; i < 600; ++i)
    f.send(f.address(f.sim.rng().below(4096)), f.sim.rng().percent(50) ? 0 : f.sim.rng().below(200));
  f.pkt.stall_percent = 20;
  f.finish(100'000);
  const auto bursts = f.sum(&AxiReadSlave::bursts);
  for (unsigned i = 0; i < 50; ++i) f.send(f.sim.rng().next(), 0);
  f.finish(10'000);
  CHECK(f.sum(&AxiReadSlave::bursts) == bursts);
}

TEST_CASE("a bus error marks exactly the packets it touches and is reported once each") {
  Fixture f(4);
  f.set(&AxiReadSlave::error_at, [](std::uint64_t beat) { return memory_byte(beat ^ 0x5555) < 16; });
  for (unsigned round = 0; round < 3; ++round) {
    f.evt.stall_percent = round == 0 ? 0 : 97;
    f.pkt.stall_percent = round == 2 ? 50 : 0;
    for (unsigned i = 0; i < 500; ++i)
      f.send(f.address(f.sim.rng().below(4096)), f.sim.rng().below(f.sim.rng().percent(10) ? 5000 : 300));
    CHECK(!f.expected_events.empty());
    f.finish(400'000);
  }
}

TEST_CASE("a transfer beyond the address space is refused, reported and does not disturb its neighbours") {
  Fixture f(5);
  const std::uint64_t top =
      P_AddrW == 64 ? 0 : std::uint64_t{1} << (P_AddrW % 64);  // first address that does not exist
  for (unsigned round = 0; round < 3; ++round) {
    f.send(f.address(100), 300);
    f.send(top - 64, 64);  // the last bytes that exist
    f.send(top - 64, 65);
    f.send(top - 1, 1);
    f.send(top - 1, 2);
    f.send(top - 16383, 16383);
    f.send(top - 16382, 16383);
    f.send(top - 16384, 16383);
    f.send(top - 1, 16383);
    f.send(top - 1, 0);
    for (unsigned bit = P_AddrW; bit < 64; ++bit) f.send((std::uint64_t{1} << bit) + 4000, 200);
    for (std::uint64_t target = 0; target < 8; ++target) {
      f.send(f.address(2000), 1, target);
      f.send(f.address(4000), 700, target);
      f.send(f.address(4000), 0, target);
    }
    f.send(f.address(4095), 300);
    f.evt.stall_percent = round == 1 ? 95 : 0;
    f.finish(100'000);
  }
}

TEST_CASE("the buffer and the count of outstanding reads bound what is issued") {
  Fixture f(6);
  f.set(&AxiReadSlave::latency, 3000);
  for (unsigned i = 0; i < 2 * P_MaxReads; ++i) f.send(f.address(0), kBytes, 0);
  f.sim.run(2500);
  CHECK(f.sum(&AxiReadSlave::bursts) == std::min<std::uint64_t>(P_MaxReads, P_BufBeats));
  f.finish(20'000);
  CHECK(f.axi[0].peak_outstanding == std::min<std::uint64_t>(P_MaxReads, P_BufBeats));
  // Nobody takes packets: the reads that were issued all come home, and no more are issued.
  f.set(&AxiReadSlave::latency, 5);
  f.pkt.stall_percent = 100;
  const auto before = f.sum(&AxiReadSlave::r_beats);
  for (unsigned i = 0; i < 40; ++i) f.send(f.address(0), 16383, 0);
  f.sim.run(5 * P_BufBeats + 1000);
  const auto stored = f.sum(&AxiReadSlave::r_beats) - before;
  CHECK(stored <= P_BufBeats + 4);
  CHECK(stored + 4096 / kBytes + 4 >= P_BufBeats);
  f.pkt.stall_percent = 0;
  f.finish(400'000);
}

TEST_CASE("rate: short commands with 250 cycles of latency") {
  Fixture f(7);
  f.set(&AxiReadSlave::latency, 250);
  const unsigned count = 2000;
  // As the responder sees them: 64 bytes, any alignment.
  for (unsigned i = 0; i < count; ++i) f.send(f.address(f.sim.rng().below(4096)), 64);
  const auto start = f.sim.cycle();
  f.finish(1'000'000);
  const double per_command = double(f.sim.cycle() - start - 250) / count;
  MESSAGE("DataW " << P_DataW << ", MaxReads " << P_MaxReads << ": " << per_command
                   << " cycles for each command of 64 bytes");
  // A beat more than the payload needs, plus those that cross 4 KB.
  const double ideal = double((64 + kBytes - 1) / kBytes) + 1.0;
  if (P_MaxReads * ideal >= 270 && P_BufBeats >= 350) CHECK(per_command < ideal + 0.1);
}

TEST_CASE("rate: 4096-byte commands at any alignment keep the bus busy") {
  Fixture f(8);
  f.set(&AxiReadSlave::latency, 250);
  const unsigned count = 100;
  for (unsigned i = 0; i < count; ++i) f.send(f.address(f.sim.rng().below(4096)), 4096);
  const auto start = f.sim.cycle();
  f.finish(400'000);
  const double per_command = double(f.sim.cycle() - start - 280) / count;
  MESSAGE("DataW " << P_DataW << ": " << per_command << " cycles for each command of 4096 bytes");
  if (P_MaxReads >= 32 && P_BufBeats >= 280 + 4096 / kBytes) CHECK(per_command < 4096.0 / kBytes + 1.1);
}

TEST_CASE("latency as documented") {
  Fixture f(9);
  f.set(&AxiReadSlave::latency, 10);
  f.sim.run(5);
  // Address aligned, one beat.
  f.send(f.address(0), kBytes, 0);
  std::uint64_t taken = 0;
  std::uint64_t shown = 0;
  while (shown == 0) {
    f.sim.step();
    if (taken == 0 && f.cmd.taken == 1) taken = f.axi[0].now() - 1;  // the cycle that was just sampled
    if (shown == 0 && f.pkt.packets.size() == 1) shown = f.axi[0].now() - 1;
    REQUIRE(f.sim.cycle() < 1000);
  }
  CHECK(f.axi[0].first_ar_valid - taken == (P_LowLatency ? 2 : 3));
  CHECK(shown - f.axi[0].first_r_valid == (P_LowLatency ? 2 : 3) + P_RotateStages);
  f.finish(100);
}

TEST_CASE("reset in the middle leaves a clean module") {
  Fixture f(10);
  f.set(&AxiReadSlave::latency, 30);
  for (unsigned i = 0; i < 50; ++i) f.send(f.address(f.sim.rng().below(4096)), f.sim.rng().below(2000));
  f.sim.run(120);
  f.cmd.queue.clear();
  f.expected.clear();
  f.expected_events.clear();
  f.sim.reset();
  for (unsigned i = 0; i < 100; ++i) f.send(f.address(f.sim.rng().below(4096)), f.sim.rng().below(2000));
  f.finish(100'000);
}

TEST_CASE("packets of slow and fast ports come out in the order of their commands") {
  Fixture f(11);
  for (unsigned round = 0; round < 4; ++round) {
    for (auto& a : f.axi) {
      a.latency = static_cast<unsigned>(f.sim.rng().percent(50) ? 1 : f.sim.rng().between(20, 400));
      a.ar_stall = static_cast<unsigned>(f.sim.rng().below(80));
      a.r_stall = static_cast<unsigned>(f.sim.rng().below(80));
    }
    f.pkt.stall_percent = round % 2 == 0 ? 0 : 30;
    for (unsigned i = 0; i < 400; ++i)
      f.send(f.address(f.sim.rng().below(4096)), f.sim.rng().below(f.sim.rng().percent(20) ? 9000 : 200),
             f.sim.rng().percent(3) ? f.sim.rng().below(8) : f.sim.rng().below(kPorts));
    f.finish(600'000);
  }
  for (const auto& a : f.axi) CHECK(a.bursts > 100);
}
