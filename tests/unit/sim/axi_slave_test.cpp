#include "sim/model/axi_slave.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>

using namespace rocegen::sim;

namespace {

struct Burst {
  uint64_t addr;
  Bytes data;  // bytes that the burst carries, from addr on
};

/// A master that follows the rules unless told otherwise.
class Master {
 public:
  Master(AxiSlave& slave, size_t bus, uint64_t seed) : slave_(slave), bus_(bus), rng_(seed) {}

  std::deque<Burst> writes, reads;
  std::vector<Burst> read_back;
  std::vector<uint8_t> responses, read_responses;
  AxiOut out;
  bool wrong_last = false, stray_strobe = false, drop_valid = false;

  static size_t beats(uint64_t addr, size_t n, size_t bus) { return (addr % bus + n + bus - 1) / bus; }

  void cycle() {
    AxiIn in;
    slave_.drive(in);
    if (!out.awvalid && next_aw_ < writes.size() && rng_.chance(0.6)) {
      out.awvalid = true;
      out.awaddr = writes[next_aw_].addr;
      out.awlen = static_cast<uint8_t>(beats(out.awaddr, writes[next_aw_].data.size(), bus_) - 1);
      out.awsize = size();
      out.awburst = 1;
    }
    if (!out.wvalid && next_w_ < writes.size() && rng_.chance(0.7)) {
      const Burst& b = writes[next_w_];
      const uint64_t at = b.addr / bus_ * bus_ + beat_ * bus_;
      std::memset(out.wstrb, 0, sizeof out.wstrb);
      for (size_t i = 0; i < bus_; ++i) {
        const uint64_t k = at + i - b.addr;
        if (k < b.data.size()) {
          out.wdata[i] = b.data[k];
          out.wstrb[i / 8] = static_cast<uint8_t>(out.wstrb[i / 8] | 1u << (i % 8));
        } else {
          out.wdata[i] = 0xFF;
        }
      }
      if (stray_strobe) out.wstrb[0] |= 1;
      out.wlast = (beat_ + 1 == beats(b.addr, b.data.size(), bus_)) != wrong_last;
      out.wvalid = true;
    }
    if (!out.arvalid && next_ar_ < reads.size() && rng_.chance(0.6)) {
      out.arvalid = true;
      out.araddr = reads[next_ar_].addr;
      out.arlen = static_cast<uint8_t>(beats(out.araddr, reads[next_ar_].data.size(), bus_) - 1);
      out.arsize = size();
      out.arburst = 1;
    }
    out.bready = rng_.chance(0.5);
    out.rready = rng_.chance(0.5);
    slave_.sample(out);
    if (out.awvalid && in.awready) {
      out.awvalid = false;
      ++next_aw_;
    } else if (out.awvalid && drop_valid) {
      out.awvalid = false;
    }
    if (out.wvalid && in.wready) {
      out.wvalid = false;
      if (++beat_ == beats(writes[next_w_].addr, writes[next_w_].data.size(), bus_)) {
        beat_ = 0;
        ++next_w_;
      }
    }
    if (out.arvalid && in.arready) {
      out.arvalid = false;
      ++next_ar_;
    }
    if (in.bvalid && out.bready) responses.push_back(in.bresp);
    if (in.rvalid && out.rready) {
      const Burst& b = reads[read_back.size()];
      const uint64_t at = b.addr / bus_ * bus_ + r_beat_ * bus_;
      for (size_t i = 0; i < bus_; ++i) {
        const uint64_t k = at + i - b.addr;
        if (k < b.data.size()) got_.push_back(in.rdata[i]);
      }
      error_ = error_ || in.rresp != 0;
      ++r_beat_;
      CHECK(in.rlast == (r_beat_ == beats(b.addr, b.data.size(), bus_)));
      if (in.rlast) {
        read_back.push_back({b.addr, got_});
        read_responses.push_back(error_ ? 1 : 0);
        got_.clear();
        r_beat_ = 0;
        error_ = false;
      }
    }
  }

 private:
  uint8_t size() const {
    uint8_t s = 0;
    while ((size_t{1} << s) < bus_) ++s;
    return s;
  }
  AxiSlave& slave_;
  size_t bus_;
  Rng rng_;
  size_t next_aw_ = 0, next_w_ = 0, next_ar_ = 0, beat_ = 0, r_beat_ = 0;
  bool error_ = false;
  Bytes got_;
};

}  // namespace

TEST_CASE("axi slave: random bursts at every width, order and data") {
  for (const size_t bus : {8u, 16u, 32u, 64u, 128u}) {
    Memory m(bus);
    m.add_region(0, 1u << 20);
    AxiSlave slave(m, bus, {}, bus);
    Master master(slave, bus, bus + 1);
    Rng rng(bus);
    Memory want(bus);
    for (int n = 0; n < 200; ++n) {
      const uint64_t page = rng.below(64) * 4096;
      const uint64_t offset = rng.below(4096);
      const size_t most = std::min<size_t>(4096 - offset, 255 * bus);
      Bytes b(rng.between(1, most));
      for (auto& x : b) x = static_cast<uint8_t>(rng.next());
      want.write(page + offset, b);
      master.writes.push_back({page + offset, b});
    }
    for (int k = 0; k < 400000 && master.responses.size() < 200; ++k) master.cycle();
    REQUIRE(master.responses.size() == 200);
    for (const uint8_t r : master.responses) CHECK(r == 0);
    CHECK(m.read(0, 64 * 4096) == want.read(0, 64 * 4096));
    for (const Burst& b : master.writes) master.reads.push_back({b.addr, Bytes(b.data.size())});
    for (int k = 0; k < 400000 && master.read_back.size() < 200; ++k) master.cycle();
    REQUIRE(master.read_back.size() == 200);
    for (const Burst& b : master.read_back) CHECK(b.data == want.read(b.addr, b.data.size()));
    CHECK(slave.violations().empty());
    CHECK(slave.idle());
    CHECK(m.violations().empty());
  }
}

TEST_CASE("axi slave: a write reaches memory with its response, not before") {
  Memory m;
  m.add_region(0, 4096);
  AxiTiming slow;
  slow.write_min = slow.write_max = 50;
  AxiSlave slave(m, 8, slow, 1);
  Master master(slave, 8, 2);
  m.write(0, Bytes(8, 0));
  master.writes.push_back({0, Bytes(8, 0x77)});
  bool early = false;
  for (int k = 0; k < 300 && master.responses.empty(); ++k) {
    master.cycle();
    early = early || (k < 45 && m.read8(0) == 0x77);
  }
  CHECK_FALSE(early);
  CHECK(m.read8(0) == 0x77);
}

TEST_CASE("axi slave: error ranges answer with SLVERR and keep memory as it was") {
  Memory m;
  m.add_region(0, 4096);
  m.write(0, Bytes(4096, 0));
  m.add_error({0x100, 0x40}, true, true);
  AxiSlave slave(m, 8, {}, 1);
  Master master(slave, 8, 2);
  master.writes = {{0x80, Bytes(16, 1)}, {0x120, Bytes(16, 2)}, {0x200, Bytes(16, 3)}};
  master.reads = {{0x80, Bytes(16)}, {0x138, Bytes(16)}, {0x200, Bytes(16)}};
  for (int k = 0; k < 2000; ++k) master.cycle();
  REQUIRE(master.responses.size() == 3);
  CHECK(master.responses[0] == 0);
  CHECK(master.responses[1] == 2);
  CHECK(master.responses[2] == 0);
  CHECK(m.read(0x120, 16) == Bytes(16, 0));
  CHECK(m.read(0x200, 16) == Bytes(16, 3));
  REQUIRE(master.read_responses.size() == 3);
  CHECK(master.read_responses == std::vector<uint8_t>{0, 1, 0});
}

TEST_CASE("axi slave: each broken rule is named") {
  const auto first = [](const std::function<void(Master&)>& edit, Burst b, AxiTiming t = {}) {
    Memory m;
    m.add_region(0, 1u << 20);
    AxiSlave slave(m, 8, t, 1);
    Master master(slave, 8, 3);
    edit(master);
    master.writes.push_back(std::move(b));
    for (int k = 0; k < 3000; ++k) master.cycle();
    return slave.violations().empty() ? std::string() : slave.violations().front();
  };
  const auto none = [](Master&) {};
  CHECK(first(none, {0xFF8, Bytes(8, 1)}).empty());
  CHECK(first(none, {0xFF8, Bytes(9, 1)}).find("crosses a 4 KB boundary") != std::string::npos);
  CHECK(first([](Master& x) { x.wrong_last = true; }, {0, Bytes(32, 1)}).find("wlast") != std::string::npos);
  CHECK(first([](Master& x) { x.stray_strobe = true; }, {3, Bytes(4, 1)}).find("strobe of byte lane 0") !=
        std::string::npos);
  AxiTiming stalling;
  stalling.aw_stall = 0.8;
  CHECK(first([](Master& x) { x.drop_valid = true; }, {0, Bytes(8, 1)}, stalling).find("AW at 0x0 changed") !=
        std::string::npos);
}

TEST_CASE("axi: answers of two IDs come in the order of each, and in any order between them") {
  constexpr size_t kBus = 16;
  Memory memory(1);
  memory.add_region(0, 1u << 20);
  AxiTiming timing;
  AxiSlave slave(memory, kBus, timing, 5);
  Rng rng(7);
  AxiOut out;
  std::deque<std::pair<uint8_t, uint64_t>> reads[2], writes[2];
  uint64_t sent = 0, overtaken = 0;
  std::deque<uint8_t> order;
  size_t taken = 0;
  while (taken < 400) {
    AxiIn in;
    slave.drive(in);
    if (!out.arvalid && sent < 400) {
      out.arvalid = true;
      out.arid = rng.chance(0.5) ? 1 : 0;
      out.araddr = sent * 64;
      out.arlen = static_cast<uint8_t>(rng.below(4));
      out.arsize = 4;
      out.arburst = 1;
    }
    out.rready = rng.chance(0.7);
    slave.sample(out);
    if (out.arvalid && in.arready) {
      reads[out.arid].emplace_back(out.arlen, out.araddr);
      order.push_back(out.arid);
      out.arvalid = false;
      ++sent;
    }
    if (in.rvalid && out.rready) {
      REQUIRE(in.rid < 2);
      REQUIRE(!reads[in.rid].empty());
      auto& [left, at] = reads[in.rid].front();
      CHECK(Bytes(in.rdata, in.rdata + kBus) == memory.read(at, kBus));
      CHECK(in.rlast == (left == 0));
      if (in.rid != order.front()) ++overtaken;
      at += kBus;
      if (left-- == 0) {
        order.erase(std::find(order.begin(), order.end(), in.rid));
        reads[in.rid].pop_front();
        ++taken;
      }
    }
  }
  CHECK(slave.violations().empty());
  CHECK(overtaken > 20);
  CHECK(slave.idle());
  out.arvalid = true;
  out.arid = 2;
  for (int i = 0; i < 50; ++i) {
    AxiIn in;
    slave.drive(in);
    slave.sample(out);
    if (in.arready) break;
  }
  REQUIRE(!slave.violations().empty());
  CHECK(slave.violations().front().find("ID 2 is neither 0 nor 1") != std::string::npos);
}

TEST_CASE("axi: write data goes to the bursts of two IDs in the order of their addresses") {
  constexpr size_t kBus = 8;
  Memory memory(1);
  memory.add_region(0, 1u << 20);
  AxiSlave slave(memory, kBus, {}, 9);
  Rng rng(3);
  AxiOut out;
  uint64_t aw = 0, w = 0, b = 0;
  const auto id = [](uint64_t n) { return static_cast<uint8_t>((n * 7 / 3) & 1); };
  while (b < 300) {
    AxiIn in;
    slave.drive(in);
    out.awvalid = aw < 300;
    out.awid = id(aw);
    out.awaddr = aw * 8;
    out.awlen = 0;
    out.awsize = 3;
    out.awburst = 1;
    out.wvalid = w < 300;
    out.wlast = true;
    for (size_t i = 0; i < 8; ++i) out.wdata[i] = static_cast<uint8_t>(w * 3 + i);
    out.wstrb[0] = 0xFF;
    out.bready = rng.chance(0.6);
    slave.sample(out);
    if (out.awvalid && in.awready) ++aw;
    if (out.wvalid && in.wready) ++w;
    if (in.bvalid && out.bready) ++b;
  }
  CHECK(slave.violations().empty());
  for (uint64_t n = 0; n < 300; ++n) CHECK(memory.read8(n * 8 + 5) == static_cast<uint8_t>(n * 3 + 5));
}
