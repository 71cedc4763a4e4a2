// Received payload, atomics and reads together on one memory (host_path.sv): a reference executes everything in order
// of arrival; results, memory, news and events must agree. The memory shows a write when its response is taken, not
// earlier, so an atomic that begins too early, or two at one address at a time, give wrong results.
#include <set>
#include <unordered_map>

#include "Vdut.h"
#include "tests/rtl/host_axi.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBytes = P_DataW / 8;
constexpr std::size_t kPorts = P_Targets;
constexpr std::size_t kCmdBits = 158;
constexpr std::size_t kPktBits = 302;
constexpr std::uint64_t kRequest = 0, kResponse = 1, kCmpSwap = 2, kFetchAdd = 3;
constexpr std::uint64_t kEvtWriteErr = 4;
constexpr unsigned kSettle = 64;
constexpr std::size_t kCfgBits = 343;
// Beats of these pages answer with an error.
constexpr std::uint64_t kBadRead = 0xE000, kBadWrite = 0xF000;

std::uint64_t place_of(std::uint64_t address) { return address & 0xF000; }

/// Host memory behind one port: a function of the address until written.
struct Memory {
  std::uint64_t salt = 0;
  std::unordered_map<std::uint64_t, std::uint8_t> bytes;
  std::uint8_t get(std::uint64_t at) const {
    const auto found = bytes.find(at);
    return found == bytes.end() ? memory_byte(at ^ salt) : found->second;
  }
  std::uint64_t number(std::uint64_t at) const {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{get(at + i)} << (8 * i);
    return value;
  }
  void put(std::uint64_t at, std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
};

struct Fixture {
  Sim<Vdut> sim;
  PacketSource pay{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_pay, P_DataW, kCmdBits)};
  StreamSource cmd{sim.rng(), Port(sim.dut.s_cmd_tvalid, 1), Port(sim.dut.s_cmd_tready, 1),
                   Port(sim.dut.s_cmd_tdata, 67 + kPktBits)};
  PacketSink pkt{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, m_pkt, P_DataW, kPktBits + 1)};
  StreamSink done{sim.rng(), Port(sim.dut.m_done_tvalid, 1), Port(sim.dut.m_done_tready, 1),
                  Port(sim.dut.m_done_tdata, kCmdBits + 1)};
  StreamSink result{sim.rng(), Port(sim.dut.m_result_tvalid, 1), Port(sim.dut.m_result_tready, 1),
                    Port(sim.dut.m_result_tdata, 97)};
  StreamSink evt{sim.rng(), Port(sim.dut.m_evt_tvalid, 1), Port(sim.dut.m_evt_tready, 1),
                 Port(sim.dut.m_evt_tdata, 56)};
  std::deque<AxiReadSlave> reads;
  std::deque<AxiWriteSlave> writes;
  std::vector<Memory> memory{kPorts}, reference{kPorts};

  /// The pulses for the write gates.
  struct News : Agent {
    explicit News(Vdut& d) : dut(d) {}
    void drive() override {}
    void sample() override {
      if (dut.wr_done_o == 0) return;
      REQUIRE(!expected.empty());
      CHECK(expected.front() == Done{dut.wr_err_o != 0, dut.wr_qpn_o, dut.wr_psn_o});
      expected.pop_front();
    }
    Vdut& dut;
    using Done = std::tuple<bool, std::uint64_t, std::uint64_t>;  // error, QPN, PSN
    std::deque<Done> expected;
  } news{sim.dut};

  struct Result {
    std::uint64_t value;
    bool err;
    std::pair<std::uint64_t, std::uint64_t> cell;  // port and address
  };
  std::map<std::uint64_t, Result> results;                                             // by {qpn, idx}
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::deque<std::uint64_t>> order;  // keys of an address, in order
  std::deque<Bytes> dones;
  struct Read {
    std::uint64_t address, target;
    std::size_t bytes;
  };
  std::deque<Read> packets;
  std::multiset<std::uint64_t> events;
  std::size_t overtaken = 0;  // results that came before an older one's
  std::uint64_t number = 0;

  /// Set-ups: taken when the results of all atomics of before are out, whatever came later.
  struct SetUps : Agent {
    explicit SetUps(Fixture& fixture) : f(fixture) {}
    void drive() override { f.sim.dut.sent_i = static_cast<std::uint16_t>((f.number - base) & 0xFFF); }
    void sample() override {
      if (f.sim.dut.s_cfg_tvalid == 0) return;
      if (age < kSettle + 1) due = f.number;
      const bool early = ++age <= kSettle + 1 || f.any_before(due);
      idle = early ? 0 : idle + 1;
      REQUIRE(idle < 8);
      if (f.sim.dut.s_cfg_tready == 0) return;
      REQUIRE_FALSE(early);
      ++taken;
      passed += f.results.size();
      age = idle = 0;
    }
    void on_reset() override {
      base = f.number;
      age = idle = 0;
    }
    Fixture& f;
    std::uint64_t base = 0, due = 0, taken = 0;
    std::uint64_t passed = 0;  // atomics that were under way when a set-up was taken
    unsigned age = 0, idle = 0;
  } setups{*this};
  StreamSource cfg{sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
                   Port(sim.dut.s_cfg_tdata, kCfgBits)};
  bool any_before(std::uint64_t due) const {
    for (const auto& [key, want] : results)
      if (key < due) return true;
    return false;
  }

  explicit Fixture(std::uint64_t salt) : sim(salt) {
    // In front of those that see results.
    sim.add(cfg);
    sim.add(setups);
    sim.add(pay);
    sim.add(cmd);
    for (std::size_t t = 0; t < kPorts; ++t) {
      auto& d = sim.dut;
      reads.emplace_back(
          sim.rng(), AxiReadSlave::Pins{Port(d.m_axi_arvalid, t, 1), Port(d.m_axi_arready, t, 1),
                                        Port(d.m_axi_araddr, t * P_AddrW, P_AddrW), Port(d.m_axi_arlen, 8 * t, 8),
                                        Port(d.m_axi_arsize, 3 * t, 3), Port(d.m_axi_arburst, 2 * t, 2),
                                        Port(d.m_axi_rvalid, t, 1), Port(d.m_axi_rready, t, 1),
                                        Port(d.m_axi_rdata, t * P_DataW, P_DataW), Port(d.m_axi_rresp, 2 * t, 2),
                                        Port(d.m_axi_rlast, t, 1), Port(d.m_axi_arid, t, 1), Port(d.m_axi_rid, t, 1)});
      writes.emplace_back(
          sim.rng(),
          AxiWriteSlave::Pins{
              Port(d.m_axi_awvalid, t, 1), Port(d.m_axi_awready, t, 1), Port(d.m_axi_awaddr, t * P_AddrW, P_AddrW),
              Port(d.m_axi_awlen, 8 * t, 8), Port(d.m_axi_awsize, 3 * t, 3), Port(d.m_axi_awburst, 2 * t, 2),
              Port(d.m_axi_wvalid, t, 1), Port(d.m_axi_wready, t, 1), Port(d.m_axi_wdata, t * P_DataW, P_DataW),
              Port(d.m_axi_wstrb, t * P_DataW / 8, P_DataW / 8), Port(d.m_axi_wlast, t, 1), Port(d.m_axi_bvalid, t, 1),
              Port(d.m_axi_bready, t, 1), Port(d.m_axi_bresp, 2 * t, 2)});
      memory[t].salt = reference[t].salt = t * 0x2222'2222'0000;
      reads[t].content = [this, t](std::uint64_t at) { return memory[t].get(at); };
      reads[t].error_at = [](std::uint64_t at) { return place_of(at) == kBadRead; };
      writes[t].error_at = [](std::uint64_t at) { return place_of(at) == kBadWrite; };
      writes[t].on_write = [this, t](std::uint64_t at, std::uint8_t value) { memory[t].bytes[at] = value; };
      sim.add(reads[t]);
      sim.add(writes[t]);
    }
    sim.add(pkt);
    sim.add(done);
    sim.add(result);
    sim.add(evt);
    sim.add(news);
    pkt.loose_user = 1;
    done.on_beat = [this](const Bytes& d) {
      REQUIRE(!dones.empty());
      CHECK(d == dones.front());
      dones.pop_front();
    };
    result.on_beat = [this](const Bytes& r) {
      const std::uint64_t key = get_field(r, 65, 32);
      const auto found = results.find(key);
      REQUIRE(found != results.end());
      const Result& want = found->second;
      CHECK((get_field(r, 0, 1) != 0) == want.err);
      if (!want.err) CHECK(get_field(r, 1, 64) == want.value);
      auto& line = order[want.cell];
      CHECK(line.front() == key);
      line.pop_front();
      overtaken += found != results.begin() ? 1 : 0;
      results.erase(found);
    };
    pkt.on_packet = [this](const Packet& p) {
      REQUIRE(!packets.empty());
      const Read want = packets.front();
      packets.pop_front();
      REQUIRE(p.data.size() == want.bytes);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < want.bytes; ++i)
        wrong += p.data[i] != reference[want.target].get(want.address + i) ? 1 : 0;
      CHECK(wrong == 0);
    };
    evt.on_beat = [this](const Bytes& e) {
      CHECK(get_field(e, 49, 7) == kEvtWriteErr);
      const auto found = events.find(get_field(e, 0, 49));
      REQUIRE(found != events.end());
      events.erase(found);
    };
    sim.reset();
  }

  static bool exists(std::uint64_t address, std::uint64_t target) {
    return target < kPorts && (P_AddrW == 64 || address >> (P_AddrW % 64) == 0);
  }

  Bytes command(std::uint64_t kind, std::size_t bytes, std::uint64_t idx, std::uint64_t target, std::uint64_t qpn,
                std::uint64_t psn, std::uint64_t address) {
    return Record(kCmdBits)
        .put(sim.rng().next(), 16)
        .put(bytes, 14)
        .put(1, 1)
        .put(sim.rng().next(), 1)
        .put(kind, 2)
        .put(0, 1)
        .put(idx, 8)
        .put(target, 3)
        .put(qpn, 24)
        .put(psn, 24)
        .put(address, 64)
        .value();
  }

  /// Data of a request or a response.
  void data(std::uint64_t kind, std::uint64_t target, std::uint64_t address, std::size_t bytes) {
    Bytes content = sim.rng().bytes(bytes);
    const bool err = bytes != 0 && (!exists(address, target) || place_of(address) == kBadWrite);
    if (!err)
      for (std::size_t i = 0; i < bytes; ++i) reference[target].bytes[address + i] = content[i];
    const std::uint64_t qpn = sim.rng().below(1 << 24);
    const std::uint64_t psn = sim.rng().below(1 << 24);
    Bytes cmd_record = command(kind, bytes, sim.rng().below(256), target, qpn, psn, address);
    if (kind == kRequest) {
      news.expected.emplace_back(err, qpn, psn);
    } else {
      Bytes told(cmd_record.size());
      set_field(told, 158, 1, err ? 1 : 0);
      set_field(told, 126, 1, get_field(cmd_record, 126, 1));
      set_field(told, 124, 2, kind);
      set_field(told, 64, 59, get_field(cmd_record, 64, 59));
      dones.push_back(told);
    }
    if (err) events.insert((kind == kResponse ? std::uint64_t{1} << 48 : 0) | psn << 24 | qpn);
    pay.push(std::move(content), std::move(cmd_record));
  }

  void atomic(std::uint64_t target, std::uint64_t address) {
    atomic(target, address, sim.rng().percent(50) ? kCmpSwap : kFetchAdd);
  }
  void atomic(std::uint64_t target, std::uint64_t address, std::uint64_t kind) {
    const std::uint64_t key = number++ & 0xFFFF'FFFF;  // {qpn, idx}
    Result want{0, true, {target, address}};
    std::uint64_t operand = sim.rng().percent(20) ? ~sim.rng().below(4) : sim.rng().next();
    std::uint64_t compare = sim.rng().next();
    if (exists(address, target) && place_of(address) != kBadRead) {
      Memory& m = reference[target];
      want.value = m.number(address);
      want.err = false;
      if (sim.rng().percent(60)) compare = want.value;
      if (sim.rng().percent(10)) compare = want.value ^ (std::uint64_t{1} << sim.rng().below(64));
      if (kind == kFetchAdd || compare == want.value) {
        if (place_of(address) == kBadWrite)
          want.err = true;
        else
          m.put(address, kind == kFetchAdd ? want.value + operand : operand);
      }
    }
    order[want.cell].push_back(key);
    results.emplace(key, want);
    Bytes operands(16);
    for (unsigned i = 0; i < 8; ++i) {
      operands[i] = static_cast<std::uint8_t>(operand >> (8 * (7 - i)));
      operands[8 + i] = static_cast<std::uint8_t>(compare >> (8 * (7 - i)));
    }
    pay.push(std::move(operands), command(kind, 16, key & 255, target, key >> 8, sim.rng().below(1 << 24), address));
  }

  /// Reads for packets; only where nothing is written.
  void read(std::uint64_t target, std::uint64_t address, std::size_t bytes) {
    Bytes record = sim.rng().bits(kPktBits);
    set_field(record, 224, 14, bytes);
    record.resize((67 + kPktBits + 7) / 8);
    set_field(record, kPktBits, 64, address);
    set_field(record, kPktBits + 64, 3, target);
    packets.push_back({address, target, bytes});
    cmd.push(std::move(record));
  }

  void finish(std::uint64_t limit) {
    sim.run_until(
        [this] {
          return results.empty() && dones.empty() && news.expected.empty() && packets.empty() && events.empty();
        },
        limit);
    sim.run(30);
    CHECK(pay.idle());
    CHECK(sim.dut.m_result_tvalid == 0);
    for (std::size_t t = 0; t < kPorts; ++t) {
      CHECK(writes[t].responses == writes[t].bursts);
      CHECK(reads[t].outstanding() == 0);
      std::size_t wrong = 0;
      for (const auto& [at, value] : reference[t].bytes) wrong += memory[t].get(at) != value ? 1 : 0;
      for (const auto& [at, value] : memory[t].bytes) wrong += reference[t].get(at) != value ? 1 : 0;
      CHECK(wrong == 0);
    }
  }

  template <class T, class V>
  void set_reads(T AxiReadSlave::*knob, V value) {
    for (auto& a : reads) a.*knob = value;
  }
  template <class T, class V>
  void set_writes(T AxiWriteSlave::*knob, V value) {
    for (auto& a : writes) a.*knob = value;
  }

  void random_memory() {
    Rng& rng = sim.rng();
    for (std::size_t t = 0; t < kPorts; ++t) {
      reads[t].latency = static_cast<unsigned>(rng.percent(30) ? 1 : rng.below(100));
      reads[t].jitter = static_cast<unsigned>(rng.percent(30) ? 0 : rng.below(50));
      reads[t].ar_stall = static_cast<unsigned>(rng.percent(40) ? 0 : rng.below(90));
      reads[t].r_stall = static_cast<unsigned>(rng.percent(40) ? 0 : rng.below(90));
      writes[t].latency = static_cast<unsigned>(rng.percent(30) ? 1 : rng.below(200));
      writes[t].jitter = static_cast<unsigned>(rng.percent(30) ? 0 : rng.below(50));
      writes[t].aw_stall = static_cast<unsigned>(rng.percent(40) ? 0 : rng.below(90));
      writes[t].w_stall = static_cast<unsigned>(rng.percent(40) ? 0 : rng.below(90));
      writes[t].b_stall = static_cast<unsigned>(rng.percent(40) ? 0 : rng.below(90));
    }
    pay.stall_percent = static_cast<unsigned>(rng.percent(50) ? 0 : rng.below(80));
    cmd.stall_percent = static_cast<unsigned>(rng.percent(50) ? 0 : rng.below(80));
    pkt.stall_percent = static_cast<unsigned>(rng.percent(50) ? 0 : rng.below(80));
    done.stall_percent = static_cast<unsigned>(rng.percent(50) ? 0 : rng.below(80));
    result.stall_percent = static_cast<unsigned>(rng.percent(50) ? 0 : rng.below(95));
    evt.stall_percent = static_cast<unsigned>(rng.percent(50) ? 0 : rng.below(95));
  }

  /// Another 64 KB of the address space.
  std::uint64_t page() {
    page_ += 0x10000;
    return page_;
  }

 private:
  std::uint64_t page_ = P_AddrW == 64 ? 0xFFFF'FF00'0000'0000 : std::uint64_t{1} << (P_AddrW % 64 - 1);
};

}  // namespace

TEST_CASE("random: atomics, data in front of them, other data, reads; errors of all kinds") {
  Fixture f(1);
  Rng& rng = f.sim.rng();
  for (unsigned round = 0; round < 24; ++round) {
    f.random_memory();
    // A few hot places, and many others in the same beats and elsewhere.
    const std::uint64_t page = f.page();
    const std::uint64_t spread = rng.percent(30) ? 2 : rng.percent(50) ? 16 : 512;
    std::vector<char> fresh(512, 1);
    for (unsigned i = 0; i < 250; ++i) {
      const unsigned what = static_cast<unsigned>(rng.below(100));
      const std::uint64_t target = rng.below(kPorts);
      if (what < 45) {
        const std::uint64_t cell = rng.below(spread);
        fresh[cell] = 0;
        f.atomic(cell % kPorts, page + 8 * cell);
      } else if (what < 60) {
        // Request data in front of atomics: where none has been yet.
        const std::uint64_t cell = rng.below(spread);
        if (fresh[cell] != 0 && fresh[(cell + 1) % 512] != 0)
          f.data(kRequest, cell % kPorts, page + 8 * cell + rng.below(8), rng.below(8) + 1);
        fresh[cell] = 0;
        if (rng.percent(70)) f.atomic(cell % kPorts, page + 8 * cell);
        fresh[(cell + 1) % 512] = 0;  // the data may have run into it
      } else if (what < 64) {
        f.atomic(target, page + kBadRead + 8 * rng.below(4));
      } else if (what < 68) {
        f.atomic(target, page + kBadWrite + 8 * rng.below(4));
      } else if (what < 70) {
        f.atomic(kPorts + rng.below(8 - kPorts + (kPorts == 8 ? 1 : 0)), page + 8);
      } else if (what < 72 && P_AddrW < 64) {
        f.atomic(target, (std::uint64_t{1} << rng.between(P_AddrW % 64, 63)) | 8);
      } else if (what < 74) {
        f.data(rng.below(2), target, page + kBadWrite + 0x800, rng.below(200));
      } else if (what < 90) {
        f.data(rng.below(2), target, f.page() + 0x2000 + rng.below(4096), rng.below(rng.percent(10) ? 4096 : 200));
      } else {
        f.read(target, f.page() + rng.below(4096), rng.below(rng.percent(10) ? 4096 : 200));
      }
    }
    f.finish(400'000);
  }
  CHECK(f.overtaken > 100);  // atomics do not wait for those at other addresses
}

TEST_CASE("one address: every atomic sees the one before it") {
  Fixture f(2);
  f.set_reads(&AxiReadSlave::latency, 10);
  f.set_writes(&AxiWriteSlave::latency, 25);
  const std::uint64_t page = f.page();
  for (unsigned i = 0; i < 300; ++i) f.atomic(0, page + 0x18);
  f.finish(100'000);
}

TEST_CASE("the write barrier: data in front is in memory before the atomic reads, however slow") {
  Fixture f(3);
  f.set_reads(&AxiReadSlave::latency, 1);
  for (const unsigned latency : {1U, 30U, 700U}) {
    f.set_writes(&AxiWriteSlave::latency, latency);
    for (unsigned i = 0; i < 60; ++i) {
      const std::uint64_t page = f.page();
      f.data(kRequest, i % kPorts, page, 24);
      f.atomic(i % kPorts, page + 8);
      if (i % 3 == 0) f.data(kRequest, 0, page + 0x100, 0);
    }
    f.finish(200'000);
  }
}

TEST_CASE("more than 4096 request packets between atomics: the barrier's count wraps") {
  Fixture f(4);
  f.set_writes(&AxiWriteSlave::latency, 40);
  for (unsigned round = 0; round < 3; ++round) {
    const std::uint64_t page = f.page();
    for (unsigned i = 0; i < 4097; ++i) f.data(kRequest, 0, page + 0x1000, i % 2);
    f.data(kRequest, 0, page, 8);
    f.atomic(0, page);
  }
  f.finish(200'000);
}

TEST_CASE("a set-up waits for the atomics in front of it, wherever they are, and for no later one") {
  Fixture f(10);
  Rng& rng = f.sim.rng();
  const std::uint64_t page = f.page();
  // None.
  f.cfg.push(rng.bits(kCfgBits));
  f.sim.run_until([&f] { return f.setups.taken == 1; }, kSettle + 10);
  // Behind data that memory does not take for long; then one with a result that nobody takes.
  f.set_writes(&AxiWriteSlave::aw_stall, 100U);
  for (unsigned i = 0; i < 100; ++i) f.data(kRequest, 0, page + 0x1000, 100);
  f.atomic(0, page);
  f.cfg.push(rng.bits(kCfgBits));
  f.sim.run(3000);
  CHECK(f.setups.taken == 1);
  f.set_writes(&AxiWriteSlave::aw_stall, 0U);
  f.result.stall_percent = 100;
  f.sim.run(3000);
  CHECK(f.setups.taken == 1);
  f.result.stall_percent = 0;
  f.sim.run(10);
  CHECK(f.setups.taken == 2);
  // Among many others. More than 4096 of them: the count wraps.
  for (unsigned round = 0; round < 40; ++round) {
    f.random_memory();
    for (auto& r : f.reads) r.latency = static_cast<unsigned>(rng.below(30));
    for (auto& w : f.writes) w.latency = static_cast<unsigned>(rng.below(30));
    const std::uint64_t spread = rng.percent(30) ? 1 : 64;
    for (unsigned i = 0; i < 250; ++i) {
      while (f.pay.queue.size() < 3) {
        if (rng.percent(30))
          f.data(rng.below(2), 0, f.page() + 0x2000, rng.below(200));
        else
          f.atomic(0, page + 8 * rng.below(spread));
      }
      if (f.cfg.queue.empty() && rng.percent(20)) f.cfg.push(rng.bits(kCfgBits));
      f.sim.run(20);
    }
    f.finish(200'000);
    f.sim.run_until([&f] { return f.cfg.queue.empty(); }, kSettle + 20);
  }
  CHECK(f.number > 4200);
  CHECK(f.setups.taken > 100);
  CHECK(f.setups.passed > 20);  // later atomics were under way and did not matter
}

TEST_CASE("a stalled transmitter does not hold atomics, stalled results hold nothing but atomics' slots") {
  Fixture f(5);
  f.set_reads(&AxiReadSlave::latency, 20);
  f.pkt.stall_percent = 100;
  const std::uint64_t page = f.page();
  for (unsigned i = 0; i < 40; ++i) f.read(0, f.page(), 4096);
  f.sim.run(3000);
  for (unsigned i = 0; i < 40; ++i) f.atomic(i % kPorts, page + 8 * i);
  f.sim.run_until([&f] { return f.results.empty(); }, 20'000);
  CHECK(!f.packets.empty());
  // Nobody takes results: the slots fill, and data that comes before the atomic without a slot passes.
  f.result.stall_percent = 100;
  for (unsigned i = 0; i < P_Slots; ++i) f.atomic(0, page + 0x400 + 8 * i);
  for (unsigned i = 0; i < 20; ++i) f.data(kRequest, 0, f.page(), 100);
  f.atomic(0, page);
  f.data(kRequest, 0, f.page(), 100);
  f.sim.run(3000);
  CHECK(f.results.size() == P_Slots + 1);
  CHECK(f.news.expected.size() == 1);
  f.result.stall_percent = 0;
  f.pkt.stall_percent = 0;
  f.finish(200'000);
}

TEST_CASE("rate: Slots atomics in a round of memory latencies; those at one address one by one") {
  Fixture f(6);
  f.set_reads(&AxiReadSlave::latency, 250);
  f.set_writes(&AxiWriteSlave::latency, 250);
  const std::uint64_t page = f.page();
  const unsigned count = 40 * P_Slots;
  for (unsigned i = 0; i < count; ++i) f.atomic(0, page + 8 * i, kFetchAdd);
  auto start = f.sim.cycle();
  f.finish(200'000);
  const double far = double(f.sim.cycle() - start - 30) / count;
  std::size_t peak = 0;
  for (const auto& r : f.reads) peak = std::max(peak, r.peak_outstanding);
  CHECK(peak == P_Slots);
  start = f.sim.cycle();
  for (unsigned i = 0; i < 20; ++i) f.atomic(0, page, kFetchAdd);
  f.finish(200'000);
  const double near = double(f.sim.cycle() - start - 30) / 20;
  MESSAGE("Slots " << P_Slots << ": " << far << " cycles for each atomic, " << near << " at one address");
  CHECK(far * P_Slots < 500 + 50);
  CHECK(near < 500 + 50);
}

TEST_CASE("rate: data passes without a gap, a packet of one beat each cycle") {
  Fixture f(7);
  f.set_writes(&AxiWriteSlave::latency, 20);
  const unsigned count = 1000;
  const std::uint64_t page = f.page();
  for (unsigned i = 0; i < count; ++i) f.data(i % 2, 0, page, kBytes);
  const auto start = f.sim.cycle();
  f.finish(200'000);
  const double per_packet = double(f.sim.cycle() - start - 70) / count;
  CHECK(per_packet < 1.02);
}

TEST_CASE("latency as documented") {
  Fixture f(8);
  f.set_reads(&AxiReadSlave::latency, 10);
  f.set_writes(&AxiWriteSlave::latency, 10);
  f.sim.run(5);
  f.atomic(0, f.page(), kFetchAdd);
  std::uint64_t taken = 0;
  std::uint64_t answered = 0;
  while (!f.results.empty()) {
    f.sim.step();
    if (taken == 0 && f.pay.taken == 1) taken = f.reads[0].now() - 1;  // the cycle that was just sampled
    answered = f.reads[0].now() - 1;
    REQUIRE(f.sim.cycle() < 1000);
  }
  // pay_route 1, atomic_unit 6, axi_join 1.
  CHECK(f.reads[0].first_ar_valid - taken == 1 + 6 + 1);
  // atomic_unit 5, pay_route 1, dma_write 3 (to AW).
  CHECK(f.writes[0].first_aw_valid - f.reads[0].first_r_valid == 5 + 1 + 3);
  // dma_write 1, done_split 1, atomic_unit 3.
  CHECK(answered - f.writes[0].last_b_taken == 1 + 1 + 3);
  f.finish(100);
}

TEST_CASE("reset in the middle leaves a clean path") {
  Fixture f(9);
  for (unsigned round = 0; round < 5; ++round) {
    const std::uint64_t page = f.page();
    for (unsigned i = 0; i < 30; ++i) f.atomic(i % kPorts, page + 8 * f.sim.rng().below(8));
    f.sim.run(30 + f.sim.rng().below(100));
    f.pay.queue.clear();
    f.results.clear();
    f.order.clear();
    f.sim.reset();
    // Reset is for the whole device; the memory starts anew beside it.
    for (std::size_t t = 0; t < kPorts; ++t) f.reference[t].bytes = f.memory[t].bytes;
    const std::uint64_t other = f.page();
    f.data(kRequest, 0, other, 64);
    for (unsigned i = 0; i < 30; ++i) f.atomic(0, other + 8 * f.sim.rng().below(8));
    f.sim.run_until([&f] { return f.results.empty() && f.news.expected.empty(); }, 20'000);
  }
}
