// width_up and width_down: bytes, ends and users of packets survive at every ratio; rate of the narrow side.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

struct Ratio {
  unsigned narrow, wide;
};
constexpr Ratio kRatios[] = {{8, 8}, {8, 16}, {8, 64}, {8, 128}, {16, 64}, {1, 3}, {4, 20}, {64, 128}};

struct Fixture {
  Sim<Vdut> sim;
  std::vector<std::unique_ptr<PacketSource>> sources;
  std::vector<std::unique_ptr<PacketSink>> sinks;
  std::vector<std::deque<Packet>> sent = std::vector<std::deque<Packet>>(16);

  explicit Fixture(std::uint64_t salt) : sim(salt) {
    auto& d = sim.dut;
    for (unsigned k = 0; k < 16; ++k) {
      const auto [narrow, wide] = kRatios[k % 8];
      const unsigned in = k < 8 ? narrow : wide;
      const unsigned out = k < 8 ? wide : narrow;
      sources.push_back(std::make_unique<PacketSource>(
          sim.rng(),
          PacketPorts{Port(d.s_valid, k, 1), Port(d.s_ready, k, 1), Port(d.s_data, k * 1024, in * 8),
                      Port(d.s_keep, k * 128, in), Port(d.s_last, k, 1), Port(d.s_user, k * P_UserW, P_UserW)}));
      sinks.push_back(std::make_unique<PacketSink>(
          sim.rng(),
          PacketPorts{Port(d.m_valid, k, 1), Port(d.m_ready, k, 1), Port(d.m_data, k * 1024, out * 8),
                      Port(d.m_keep, k * 128, out), Port(d.m_last, k, 1), Port(d.m_user, k * P_UserW, P_UserW)}));
      sim.add(*sources[k]);
      sim.add(*sinks[k]);
    }
    sim.reset();
  }
  void push(unsigned lane, std::size_t bytes) {
    sent[lane].push_back({sim.rng().bytes(bytes), sim.rng().bits(P_UserW)});
    sources[lane]->push(sent[lane].back());
  }
  bool all_received() const {
    for (unsigned k = 0; k < 16; ++k)
      if (sinks[k]->packets.size() != sent[k].size()) return false;
    return true;
  }
  void check() {
    for (unsigned k = 0; k < 16; ++k) {
      INFO("lane " << k);
      CHECK(sinks[k]->packets == sent[k]);
      sinks[k]->packets.clear();
      sent[k].clear();
    }
  }
};

}  // namespace

TEST_CASE("every length up to four wide beats, random stalls") {
  Fixture f(1);
  for (unsigned round = 0; round < 6; ++round) {
    for (unsigned k = 0; k < 16; ++k) {
      f.sources[k]->stall_percent = round == 0 ? 0 : static_cast<unsigned>(f.sim.rng().below(4) * 25);
      f.sinks[k]->stall_percent = round == 1 ? 0 : static_cast<unsigned>(f.sim.rng().below(4) * 25);
      for (unsigned bytes = 0; bytes <= 4 * kRatios[k % 8].wide; ++bytes) f.push(k, bytes);
    }
    f.sim.run_until([&] { return f.all_received(); }, 200'000);
    f.sim.run(3);
    f.check();
  }
}

TEST_CASE("the narrow side moves a beat in every cycle") {
  Fixture f(2);
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned i = 0; i < 1500; ++i) f.push(k, 1 + f.sim.rng().below(6 * kRatios[k % 8].narrow));
  f.sim.run(1000);
  for (unsigned k = 0; k < 16; ++k) {
    INFO("lane " << k);
    if (k < 8)
      CHECK(f.sources[k]->beats >= 998);
    else
      CHECK(f.sinks[k]->beats >= 998);
  }
}
