// stream_skid, stream_reg and stream_fifo at depths 2, 3, 4, 5, 7, 16, 100, with and without bypass: order, loss,
// level, rate, latency.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

struct Cell {
  const char* name;
  unsigned depth;  // beats it holds
  unsigned latency;
  bool has_level;
};
constexpr Cell kCells[] = {{"skid", 2, 1, false},       {"reg", 1, 1, false},       {"fifo 2", 2, 1, true},
                           {"fifo 3", 3, 2, true},      {"fifo 4", 4, 2, true},     {"fifo 5", 5, 2, true},
                           {"fifo 16", 16, 2, true},    {"fifo 100", 100, 2, true}, {"fifo 7", 7, 2, true},
                           {"bypass 3", 3, 1, true},    {"bypass 5", 5, 1, true},   {"bypass 16", 16, 1, true},
                           {"bypass 100", 100, 1, true}};
constexpr unsigned kLanes = 13;

struct Fixture {
  Sim<Vdut> sim;
  std::vector<std::unique_ptr<StreamSource>> sources;
  std::vector<std::unique_ptr<StreamSink>> sinks;
  std::vector<std::deque<Bytes>> sent = std::vector<std::deque<Bytes>>(kLanes);

  explicit Fixture(std::uint64_t salt) : sim(salt) {
    for (unsigned k = 0; k < kLanes; ++k) {
      sources.push_back(std::make_unique<StreamSource>(sim.rng(), Port(sim.dut.s_valid, k, 1),
                                                       Port(sim.dut.s_ready, k, 1),
                                                       Port(sim.dut.s_data, k * P_Width, P_Width)));
      sinks.push_back(std::make_unique<StreamSink>(sim.rng(), Port(sim.dut.m_valid, k, 1), Port(sim.dut.m_ready, k, 1),
                                                   Port(sim.dut.m_data, k * P_Width, P_Width)));
      sim.add(*sources[k]);
      sim.add(*sinks[k]);
    }
    sim.reset();
  }
  void push(unsigned count) {
    for (unsigned k = 0; k < kLanes; ++k)
      for (unsigned i = 0; i < count; ++i) {
        sent[k].push_back(sim.rng().bits(P_Width));
        sources[k]->push(sent[k].back());
      }
  }
  void check_received() {
    for (unsigned k = 0; k < kLanes; ++k) {
      INFO(kCells[k].name);
      CHECK(sinks[k]->beats == sent[k]);
      sinks[k]->beats.clear();
      sent[k].clear();
    }
  }
  bool all_received() const {
    for (unsigned k = 0; k < kLanes; ++k)
      if (sinks[k]->beats.size() != sent[k].size()) return false;
    return true;
  }
};

}  // namespace

TEST_CASE("order and completeness under random stalls") {
  Fixture f(1);
  for (unsigned round = 0; round < 40; ++round) {
    for (unsigned k = 0; k < kLanes; ++k) {
      const unsigned stalls[] = {0, 10, 50, 90};
      f.sources[k]->stall_percent = stalls[f.sim.rng().below(4)];
      f.sinks[k]->stall_percent = stalls[f.sim.rng().below(4)];
    }
    f.push(300);
    f.sim.run_until([&] { return f.all_received(); }, 20'000);
    f.sim.run(3);
    f.check_received();
  }
}

TEST_CASE("holds its depth and no more, level counts") {
  Fixture f(2);
  for (unsigned k = 0; k < kLanes; ++k) f.sinks[k]->stall_percent = 100;
  f.push(120);
  for (unsigned cycle = 0; cycle < 130; ++cycle) {
    f.sim.step();
    for (unsigned k = 0; k < kLanes; ++k)
      if (kCells[k].has_level) CHECK(Port(f.sim.dut.level, k * 8, 8).get() == f.sources[k]->taken);
  }
  for (unsigned k = 0; k < kLanes; ++k) {
    INFO(kCells[k].name);
    CHECK(f.sources[k]->taken == kCells[k].depth);
    CHECK(Port(f.sim.dut.s_ready, k, 1).get() == 0);
  }
  for (unsigned k = 0; k < kLanes; ++k) f.sinks[k]->stall_percent = 60;
  while (!f.all_received()) {
    f.sim.step();
    for (unsigned k = 0; k < kLanes; ++k)
      if (kCells[k].has_level)
        CHECK(Port(f.sim.dut.level, k * 8, 8).get() == f.sources[k]->taken - f.sinks[k]->beats.size());
    REQUIRE(f.sim.cycle() < 5000);
  }
  f.check_received();
}

TEST_CASE("one beat a cycle, after a stall too; latency as documented") {
  Fixture f(3);
  f.sim.run(3);
  f.push(200);
  std::vector<std::uint64_t> first(kLanes, 0);
  const auto start = f.sim.cycle();
  for (unsigned cycle = 1; cycle <= 202; ++cycle) {
    f.sim.step();
    for (unsigned k = 0; k < kLanes; ++k)
      if (first[k] == 0 && !f.sinks[k]->beats.empty()) first[k] = f.sim.cycle() - start;
  }
  for (unsigned k = 0; k < kLanes; ++k) {
    INFO(kCells[k].name);
    CHECK(first[k] == kCells[k].latency + 1);
    CHECK(f.sinks[k]->beats.size() == std::min(200U, 202 - kCells[k].latency));
  }
  f.sim.run(5);
  f.check_received();
  // Fill up, then open: beats leave in every cycle while they come in every cycle.
  for (unsigned k = 0; k < kLanes; ++k) f.sinks[k]->stall_percent = 100;
  f.push(400);
  f.sim.run(150);
  for (unsigned k = 0; k < kLanes; ++k) f.sinks[k]->stall_percent = 0;
  f.sim.run(200);
  for (unsigned k = 0; k < kLanes; ++k) {
    INFO(kCells[k].name);
    CHECK(f.sinks[k]->beats.size() == 200);
  }
  f.sim.run(250);
  f.check_received();
}

TEST_CASE("reset empties") {
  Fixture f(4);
  for (unsigned k = 0; k < kLanes; ++k) f.sinks[k]->stall_percent = 100;
  f.push(50);
  f.sim.run(60);
  for (unsigned k = 0; k < kLanes; ++k) {
    f.sources[k]->queue.clear();
    f.sent[k].clear();
    f.sinks[k]->stall_percent = 0;
  }
  f.sim.reset();
  CHECK(f.sim.dut.m_valid == 0);
  f.push(50);
  f.sim.run(120);
  f.check_received();
}
