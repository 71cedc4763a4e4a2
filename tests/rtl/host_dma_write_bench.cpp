// dma_write against a memory: every alignment and tail, guard bytes, bursts, errors, refused addresses,
// order of completions, rates, latency.
#include "Vdut.h"
#include "tests/rtl/host_axi.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBytes = P_DataW / 8;
constexpr std::size_t kCmdBits = 158;
constexpr std::size_t kPorts = P_Targets;
constexpr std::uint64_t kEvtWriteErr = 4;

struct Event {
  std::uint64_t qpn, psn, rsp;
};

bool lies_inside(std::uint64_t address, std::size_t bytes, std::uint64_t target) {
  if (bytes == 0) return true;
  if (target >= kPorts) return false;
  const std::uint64_t last = address + bytes - 1;
  if (last < address) return false;
  return P_AddrW == 64 || (last >> (P_AddrW % 64)) == 0;
}

struct Fixture {
  Sim<Vdut> sim;
  PacketSource pay{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_pay, P_DataW, kCmdBits)};
  std::deque<AxiWriteSlave> axi;
  StreamSink done{sim.rng(), Port(sim.dut.m_done_tvalid, 1), Port(sim.dut.m_done_tready, 1),
                  Port(sim.dut.m_done_tdata, kCmdBits + 1)};
  StreamSink evt{sim.rng(), Port(sim.dut.m_evt_tvalid, 1), Port(sim.dut.m_evt_tready, 1),
                 Port(sim.dut.m_evt_tdata, 62)};

  struct Expected {
    Bytes done;
    std::uint64_t target;
    std::uint64_t bursts_before_done;  // write responses of that port that must have been given
  };
  std::deque<Expected> expected;
  std::deque<Event> expected_events;
  std::map<std::uint64_t, std::uint8_t> expected_memory[kPorts];
  std::uint64_t bursts[kPorts] = {};
  std::size_t checked = 0;

  explicit Fixture(std::uint64_t salt) : sim(salt) {
    sim.add(pay);
    for (std::size_t t = 0; t < kPorts; ++t) {
      auto& d = sim.dut;
      axi.emplace_back(
          sim.rng(),
          AxiWriteSlave::Pins{
              Port(d.m_axi_awvalid, t, 1), Port(d.m_axi_awready, t, 1), Port(d.m_axi_awaddr, t * P_AddrW, P_AddrW),
              Port(d.m_axi_awlen, 8 * t, 8), Port(d.m_axi_awsize, 3 * t, 3), Port(d.m_axi_awburst, 2 * t, 2),
              Port(d.m_axi_wvalid, t, 1), Port(d.m_axi_wready, t, 1), Port(d.m_axi_wdata, t * P_DataW, P_DataW),
              Port(d.m_axi_wstrb, t * P_DataW / 8, P_DataW / 8), Port(d.m_axi_wlast, t, 1), Port(d.m_axi_bvalid, t, 1),
              Port(d.m_axi_bready, t, 1), Port(d.m_axi_bresp, 2 * t, 2)});
      axi.back().max_outstanding = P_MaxWrites + 3;  // the slave's view: a burst is finished when its B is taken
      sim.add(axi.back());
    }
    sim.add(done);
    sim.add(evt);
    done.on_beat = [this](const Bytes& d) {
      REQUIRE(!expected.empty());
      CHECK(d == expected.front().done);
      if (expected.front().target < kPorts)
        CHECK(axi[expected.front().target].responses >= expected.front().bursts_before_done);
      expected.pop_front();
      ++checked;
    };
    evt.on_beat = [this](const Bytes& e) {
      REQUIRE(!expected_events.empty());
      CHECK(get_field(e, 49, 7) == kEvtWriteErr);
      CHECK(get_field(e, 48, 1) == expected_events.front().rsp);
      CHECK(get_field(e, 24, 24) == expected_events.front().psn);
      CHECK(get_field(e, 0, 24) == expected_events.front().qpn);
      expected_events.pop_front();
    };
    sim.reset();
  }

  /// Sets a knob of all memories.
  template <class T, class V>
  void set(T AxiWriteSlave::*knob, V value) {
    for (auto& a : axi) a.*knob = value;
  }

  void send(std::uint64_t address, std::size_t bytes) { send(address, bytes, sim.rng().below(kPorts)); }
  void send(std::uint64_t address, std::size_t bytes, std::uint64_t target) {
    const Event event{sim.rng().below(1 << 24), sim.rng().below(1 << 24), 0};
    const std::uint64_t kind = sim.rng().below(4);
    Bytes cmd = Record(kCmdBits)
                    .put(sim.rng().next(), 16)
                    .put(bytes, 14)
                    .put(sim.rng().next(), 1)
                    .put(sim.rng().next(), 1)
                    .put(kind, 2)
                    .put(sim.rng().next(), 1)
                    .put(sim.rng().next(), 8)
                    .put(target, 3)
                    .put(event.qpn, 24)
                    .put(event.psn, 24)
                    .put(address, 64)
                    .value();
    Bytes data = sim.rng().bytes(bytes);
    const bool inside = lies_inside(address, bytes, target);
    bool error = !inside;
    if (inside && bytes != 0) {
      for (std::size_t i = 0; i < bytes; ++i) expected_memory[target][address + i] = data[i];
      const std::uint64_t chunk = std::min<std::uint64_t>(4096, 256 * kBytes);
      bursts[target] += (address + bytes - 1) / chunk - address / chunk + 1;
      if (axi[target].error_at)
        for (std::uint64_t a = address & ~std::uint64_t{kBytes - 1}; a < address + bytes; a += kBytes)
          error = error || axi[target].error_at(a);
    }
    // Of an atomic (kinds 2 and 3) the atomic unit tells the error.
    if (error && kind < 2) expected_events.push_back({event.qpn, event.psn, kind});
    // {err, rx_cmd_t}: last, kind, idx, target, qpn and psn are given back.
    Bytes done(cmd.size());
    set_field(done, kCmdBits, 1, error ? 1 : 0);
    set_field(done, 126, 1, get_field(cmd, 126, 1));
    set_field(done, 124, 2, get_field(cmd, 124, 2));
    set_field(done, 64, 59, get_field(cmd, 64, 59));
    expected.push_back({done, target, target < kPorts ? bursts[target] : 0});
    pay.push(std::move(data), std::move(cmd));
  }

  void finish(std::uint64_t limit) {
    sim.run_until(
        [this] {
          std::size_t outstanding = 0;
          for (const auto& a : axi) outstanding += a.bursts - a.responses;
          REQUIRE_MESSAGE(outstanding <= P_MaxWrites + 3, "more writes outstanding than allowed, all ports together");
          return expected.empty() && expected_events.empty();
        },
        limit);
    sim.run(20);
    CHECK(pay.idle());
    CHECK(sim.dut.m_done_tvalid == 0);
    CHECK(sim.dut.m_axi_awvalid == 0);
    CHECK(sim.dut.m_axi_wvalid == 0);
    for (std::size_t t = 0; t < kPorts; ++t) {
      CHECK(axi[t].bursts == bursts[t]);
      CHECK(axi[t].responses == bursts[t]);
      // Exactly the bytes of the packets, each once: nothing between or beside them.
      CHECK(axi[t].memory.size() == expected_memory[t].size());
      std::size_t wrong = 0;
      for (const auto& [at, cell] : axi[t].memory) {
        const auto want = expected_memory[t].find(at);
        wrong += want == expected_memory[t].end() || want->second != cell.value || cell.times != 1 ? 1 : 0;
      }
      CHECK(wrong == 0);
      axi[t].memory.clear();
      expected_memory[t].clear();
    }
  }

  /// A fresh place for a packet whose address ends in `low` (0..4095); places never overlap.
  std::uint64_t address(std::uint64_t low) {
    place_ += 5 * 4096;
    return place_ | low;
  }

 private:
  std::uint64_t place_ = P_AddrW == 64 ? 0xFFFF'0000'0000'0000 : std::uint64_t{1} << (P_AddrW % 64 - 1);
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
    f.pay.stall_percent = round % 3 == 0 ? 0 : 30;
    f.done.stall_percent = round % 4 == 0 ? 0 : 20 * (round % 5);
    f.set(&AxiWriteSlave::aw_stall, round % 2 == 0 ? 0 : 40);
    f.set(&AxiWriteSlave::w_stall, round % 3 == 1 ? 40 : 0);
    f.set(&AxiWriteSlave::b_stall, round % 4 == 1 ? 50 : 0);
    f.set(&AxiWriteSlave::aw_after_data, round % 5 == 1);
    f.set(&AxiWriteSlave::w_after_aw, round % 5 == 2);
    f.set(&AxiWriteSlave::latency, static_cast<unsigned>(1 + f.sim.rng().below(60)));
    f.set(&AxiWriteSlave::jitter, round % 2 == 0 ? 0 : 20);
    for (unsigned i = 0; i < 1000 && at < pairs.size(); ++i, ++at) {
      f.send(f.address(f.sim.rng().below(4096 / kBytes) * kBytes + pairs[at].offset), pairs[at].tail);
      f.send(f.address(4096 - kBytes + pairs[at].offset), kBytes * f.sim.rng().between(1, 2) + pairs[at].tail);
    }
    f.finish(2'000'000);
  }
  CHECK(f.checked == 2 * pairs.size());
}

TEST_CASE("long packets: every size class up to 16383 bytes, bursts within 4 KB and 256 beats") {
  Fixture f(2);
  f.set(&AxiWriteSlave::latency, 20);
  std::size_t packets = 0;
  for (unsigned round = 0; round < 4; ++round) {
    f.pay.stall_percent = round == 1 ? 30 : 0;
    f.set(&AxiWriteSlave::w_stall, round == 2 ? 30 : 0);
    f.set(&AxiWriteSlave::aw_stall, round == 3 ? 90 : 0);
    f.set(&AxiWriteSlave::w_after_aw, round == 3);
    for (const std::size_t bytes : {16383U, 16382U, 8192U, 4097U, 4096U, 4095U, 2049U, 2048U, 2047U, 1024U, 1U, 0U}) {
      for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{kBytes - 1},
                                      std::uint64_t{2048}, std::uint64_t{4095}, f.sim.rng().below(4096)}) {
        f.send(f.address(low), bytes);
        ++packets;
      }
    }
    f.finish(1'000'000);
  }
  CHECK(f.checked == packets);
}

TEST_CASE("packets side by side in memory do not touch each other") {
  Fixture f(3);
  f.set(&AxiWriteSlave::w_stall, 10);
  std::uint64_t at = f.address(17);
  for (unsigned i = 0; i < 500; ++i) {
    const std::size_t bytes = f.sim.rng().below(f.sim.rng().percent(10) ? 3000 : 150);
    f.send(at, bytes);
    at += bytes;
  }
  f.finish(100'000);
}

TEST_CASE("empty packets complete in order and write nothing") {
  Fixture f(4);
  f.set(&AxiWriteSlave::latency, 40);
  f.done.stall_percent = 30;
  for (unsigned i = 0; i < 600; ++i)
    f.send(f.address(f.sim.rng().below(4096)), f.sim.rng().percent(50) ? 0 : f.sim.rng().below(200));
  f.finish(100'000);
  for (unsigned i = 0; i < 200; ++i) f.send(f.sim.rng().next(), 0);
  f.finish(10'000);
}

TEST_CASE("a bus error is reported once for each packet it touches") {
  Fixture f(5);
  f.set(&AxiWriteSlave::error_at, [](std::uint64_t beat) { return memory_byte(beat ^ 0x5555) < 16; });
  for (unsigned round = 0; round < 3; ++round) {
    f.evt.stall_percent = round == 0 ? 0 : 95;
    f.done.stall_percent = round == 2 ? 90 : 0;
    for (unsigned i = 0; i < 400; ++i) {
      // A burst with a bad beat fails whole, so a packet fails when any of its beats is bad.
      f.send(f.address(f.sim.rng().below(4096)), f.sim.rng().below(f.sim.rng().percent(10) ? 9000 : 300));
    }
    CHECK(!f.expected_events.empty());
    f.finish(400'000);
  }
}

TEST_CASE("a packet beyond the address space is not written, is reported, and keeps the order") {
  Fixture f(6);
  const std::uint64_t top =
      P_AddrW == 64 ? 0 : std::uint64_t{1} << (P_AddrW % 64);  // first address that does not exist
  for (unsigned round = 0; round < 3; ++round) {
    f.send(f.address(100), 300);
    f.send(top - 64, 64);  // the last bytes that exist
    f.send(top - 64, 65);
    f.send(top - 1, 2);
    f.send(top - 20000, 16383);
    f.send(top - 16382, 16383);
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

TEST_CASE("the number of outstanding writes is bounded and reached") {
  Fixture f(7);
  f.set(&AxiWriteSlave::latency, 2000);
  for (unsigned i = 0; i < 3 * P_MaxWrites; ++i) f.send(f.address(5), kBytes, 0);
  f.sim.run(1500);
  CHECK(f.axi[0].bursts == P_MaxWrites);
  f.finish(20'000);
  CHECK(f.axi[0].peak_outstanding <= P_MaxWrites + 1);
  // A stalled consumer of completions stops everything, and nothing is lost.
  f.set(&AxiWriteSlave::latency, 1);
  f.done.stall_percent = 100;
  for (unsigned i = 0; i < 3 * P_MaxWrites; ++i) f.send(f.address(5), 100, 0);
  f.sim.run(1000);
  CHECK(f.expected.size() == 3 * P_MaxWrites);
  f.done.stall_percent = 0;
  f.finish(20'000);
}

TEST_CASE("rate: short unaligned packets back to back") {
  Fixture f(8);
  const unsigned latency = P_MaxWrites >= 128 ? 250 : 20;
  f.set(&AxiWriteSlave::latency, latency);
  const unsigned count = 2000;
  for (unsigned i = 0; i < count; ++i) f.send(f.address(f.sim.rng().below(4096)), 64);
  const auto start = f.sim.cycle();
  f.finish(200'000);
  const double per_packet = double(f.sim.cycle() - start - 30 - latency) / count;
  MESSAGE("DataW " << P_DataW << ", MaxWrites " << P_MaxWrites << ": " << per_packet
                   << " cycles for each packet of 64 bytes");
  if (P_MaxWrites >= 32) CHECK(per_packet < double((64 + kBytes - 1) / kBytes) + 1.1);
}

TEST_CASE("rate: 4096-byte packets at any alignment keep the bus busy") {
  Fixture f(9);
  f.set(&AxiWriteSlave::latency, 50);
  const unsigned count = 100;
  for (unsigned i = 0; i < count; ++i) f.send(f.address(f.sim.rng().below(4096)), 4096);
  const auto start = f.sim.cycle();
  f.finish(400'000);
  const double per_packet = double(f.sim.cycle() - start - 80) / count;
  MESSAGE("DataW " << P_DataW << ": " << per_packet << " cycles for each packet of 4096 bytes");
  if (P_MaxWrites >= 8) CHECK(per_packet < 4096.0 / kBytes + 1.1);
}

TEST_CASE("latency as documented") {
  Fixture f(10);
  f.sim.run(5);
  f.send(f.address(3), 1, 0);
  std::uint64_t taken = 0;
  std::uint64_t finished = 0;
  while (finished == 0) {
    f.sim.step();
    if (taken == 0 && f.pay.taken == 1) taken = f.axi[0].now() - 1;  // the cycle that was just sampled
    if (f.checked == 1) finished = f.axi[0].now() - 1;
    REQUIRE(f.sim.cycle() < 1000);
  }
  CHECK(f.axi[0].first_aw_valid - taken == (P_LowLatency ? 2 : 3));
  CHECK(f.axi[0].first_w_valid - taken == (P_LowLatency ? 2 : 4) + P_RotateStages);
  CHECK(finished - f.axi[0].last_b_taken == 1);
  f.finish(100);
}

TEST_CASE("reset in the middle leaves a clean module") {
  Sim<Vdut> sim(11);
  // Only the stream is driven, so that the memory needs no reset of its own.
  PacketSource pay(sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_pay, P_DataW, kCmdBits));
  sim.add(pay);
  sim.reset();
  for (unsigned i = 0; i < 10; ++i)
    pay.push(sim.rng().bytes(500), Record(kCmdBits).put(0, 16).put(500, 14).put(0, 64).put(4090, 64).value());
  sim.dut.m_axi_awready = (1 << kPorts) - 1;
  sim.dut.m_axi_wready = 0;
  sim.dut.m_axi_bvalid = 0;
  sim.dut.m_done_tready = 0;
  sim.dut.m_evt_tready = 0;
  sim.run(50);
  CHECK(sim.dut.m_axi_wvalid == 1);
  pay.queue.clear();
  sim.reset();
  sim.run(20);
  CHECK(sim.dut.m_axi_awvalid == 0);
  CHECK(sim.dut.m_axi_wvalid == 0);
  CHECK(sim.dut.m_done_tvalid == 0);
  CHECK(sim.dut.s_pay_tready == 1);
}

TEST_CASE("packets to slow and fast ports complete in order") {
  Fixture f(12);
  for (unsigned round = 0; round < 5; ++round) {
    for (auto& a : f.axi) {
      a.latency = static_cast<unsigned>(f.sim.rng().percent(50) ? 1 : f.sim.rng().between(20, 400));
      a.aw_stall = static_cast<unsigned>(f.sim.rng().below(80));
      a.w_stall = static_cast<unsigned>(f.sim.rng().below(80));
      a.b_stall = static_cast<unsigned>(f.sim.rng().below(80));
      a.aw_after_data = f.sim.rng().percent(30);
      a.w_after_aw = !a.aw_after_data && f.sim.rng().percent(30);
    }
    f.pay.stall_percent = round % 2 == 0 ? 0 : 30;
    for (unsigned i = 0; i < 400; ++i)
      f.send(f.address(f.sim.rng().below(4096)), f.sim.rng().below(f.sim.rng().percent(20) ? 5000 : 200),
             f.sim.rng().percent(3) ? f.sim.rng().below(8) : f.sim.rng().below(kPorts));
    f.finish(600'000);
  }
  for (const auto& a : f.axi) CHECK(a.bursts > 100);
}
