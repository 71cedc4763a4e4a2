// stream_cdc between unrelated clocks, sync_bit, sync_reset.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

struct Fixture {
  Sim<Vdut> sim;
  std::vector<std::unique_ptr<StreamSource>> sources;
  std::vector<std::unique_ptr<StreamSink>> sinks;
  std::vector<std::deque<Bytes>> sent = std::vector<std::deque<Bytes>>(2);

  Fixture(std::uint64_t salt, std::uint64_t period_s, std::uint64_t period_m, std::uint64_t phase) : sim(salt) {
    const auto source_domain = sim.add_domain(sim.dut.clk_s, sim.dut.rst_s, period_s);
    const auto sink_domain = sim.add_domain(sim.dut.clk_m, sim.dut.rst_m, period_m, phase);
    for (unsigned k = 0; k < 2; ++k) {
      sources.push_back(std::make_unique<StreamSource>(sim.rng(), Port(sim.dut.s_valid, k, 1),
                                                       Port(sim.dut.s_ready, k, 1),
                                                       Port(sim.dut.s_data, k * P_Width, P_Width)));
      sinks.push_back(std::make_unique<StreamSink>(sim.rng(), Port(sim.dut.m_valid, k, 1), Port(sim.dut.m_ready, k, 1),
                                                   Port(sim.dut.m_data, k * P_Width, P_Width)));
      sim.add(*sources[k], source_domain);
      sim.add(*sinks[k], sink_domain);
    }
    sim.reset(12);
  }
  void push(unsigned count) {
    for (unsigned k = 0; k < 2; ++k)
      for (unsigned i = 0; i < count; ++i) {
        sent[k].push_back(sim.rng().bits(P_Width));
        sources[k]->push(sent[k].back());
      }
  }
  bool all_received() const {
    return sinks[0]->beats.size() == sent[0].size() && sinks[1]->beats.size() == sent[1].size();
  }
  void finish(std::uint64_t limit) {
    sim.run_until([this] { return all_received(); }, limit);
    sim.run(10);
    for (unsigned k = 0; k < 2; ++k) {
      CHECK(sinks[k]->beats == sent[k]);
      sinks[k]->beats.clear();
      sent[k].clear();
    }
  }
};

struct Clocks {
  std::uint64_t s, m, phase;
};
constexpr Clocks kClocks[] = {{100, 100, 0}, {100, 100, 50}, {100, 101, 3}, {101, 100, 99},
                              {100, 310, 7}, {640, 100, 11}, {100, 156, 1}};

}  // namespace

TEST_CASE("order and completeness between unrelated clocks") {
  std::uint64_t salt = 1;
  for (const auto& c : kClocks) {
    CAPTURE(c.s);
    CAPTURE(c.m);
    Fixture f(salt++, c.s, c.m, c.phase);
    for (unsigned round = 0; round < 12; ++round) {
      for (unsigned k = 0; k < 2; ++k) {
        const unsigned stalls[] = {0, 20, 60, 90};
        f.sources[k]->stall_percent = stalls[f.sim.rng().below(4)];
        f.sinks[k]->stall_percent = stalls[f.sim.rng().below(4)];
      }
      f.push(400);
      f.finish(60'000);
    }
  }
}

TEST_CASE("a stopped reader fills it to its depth and loses nothing") {
  for (const auto& c : kClocks) {
    Fixture f(20, c.s, c.m, c.phase);
    for (auto& s : f.sinks) s->stall_percent = 100;
    f.push(40);
    f.sim.run(400);
    CHECK(f.sources[0]->taken == 4 + 1);
    CHECK(f.sources[1]->taken == 16 + 1);
    for (auto& s : f.sinks) s->stall_percent = 0;
    f.finish(2000);
  }
}

TEST_CASE("depth 16 runs at the rate of the slower clock") {
  for (const auto& c : kClocks) {
    CAPTURE(c.s);
    CAPTURE(c.m);
    Fixture f(30, c.s, c.m, c.phase);
    f.push(2000);
    f.sim.run(100);
    const auto before = f.sinks[1]->beats.size();
    const auto cycles_s = f.sim.cycle(0);
    const auto cycles_m = f.sim.cycle(1);
    f.sim.run(1000);
    const auto moved = f.sinks[1]->beats.size() - before;
    CHECK(moved + 3 >= std::min<std::uint64_t>({f.sim.cycle(0) - cycles_s, f.sim.cycle(1) - cycles_m, 1800}));
  }
}

TEST_CASE("random jitter of both clocks") {
  Fixture f(40, 1000, 1000, 0);
  for (unsigned k = 0; k < 2; ++k) {
    f.sources[k]->stall_percent = 30;
    f.sinks[k]->stall_percent = 30;
  }
  f.push(5000);
  for (unsigned i = 0; i < 2000; ++i) {
    f.sim.set_period(0, f.sim.rng().between(300, 1700));
    f.sim.set_period(1, f.sim.rng().between(300, 1700));
    f.sim.run(4);
  }
  f.sim.set_period(0, 1000);
  f.sim.set_period(1, 1000);
  f.finish(20'000);
}

TEST_CASE("reset of both sides empties it") {
  Fixture f(50, 100, 170, 3);
  for (auto& s : f.sinks) s->stall_percent = 100;
  f.push(10);
  f.sim.run(50);
  for (unsigned k = 0; k < 2; ++k) {
    f.sources[k]->queue.clear();
    f.sent[k].clear();
    f.sinks[k]->stall_percent = 0;
  }
  f.sim.reset(12);
  f.sim.run(30);
  CHECK(f.sinks[0]->beats.empty());
  CHECK(f.sinks[1]->beats.empty());
  f.push(100);
  f.finish(2000);
}

TEST_CASE("sync_bit takes its stages, sync_reset rises at once and falls after four edges") {
  Fixture f(60, 100, 100, 0);
  auto& d = f.sim.dut;
  d.bit_i = 0;
  d.reset_i = 0;
  f.sim.run(10);
  CHECK(d.bit2_o == 0);
  d.bit_i = 1;
  f.sim.run(1);
  CHECK(d.bit2_o == 0);
  f.sim.run(1);
  CHECK(d.bit2_o == 1);
  CHECK(d.bit5_o == 0);
  f.sim.run(2);
  CHECK(d.bit5_o == 0);
  f.sim.run(1);
  CHECK(d.bit5_o == 1);
  CHECK(d.reset_o == 0);
  d.reset_i = 1;
  d.eval();
  CHECK(d.reset_o == 1);
  d.reset_i = 0;
  d.eval();
  CHECK(d.reset_o == 1);
  f.sim.run(3);
  CHECK(d.reset_o == 1);
  f.sim.run(1);
  CHECK(d.reset_o == 0);
}
