// ram_sdp and ram_clear against an array: latency, hold, old word on collision, clearing.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr unsigned kLanes = 12;
constexpr unsigned kDepths[kLanes] = {1, 2, 3, 5, 16, 100, 200, 17, 1, 2, 5, 100};

/// What the RAM of one lane should show.
struct Model {
  std::vector<Bytes> words;  // empty: not known
  Bytes first, second;       // read register, output register; empty: not known
  bool first_enabled = false;
};

struct Fixture {
  Sim<Vdut> sim;
  std::vector<Model> models = std::vector<Model>(kLanes);
  std::vector<unsigned> clear_left = std::vector<unsigned>(kLanes);
  unsigned compared = 0;
  unsigned collisions = 0;

  explicit Fixture(std::uint64_t salt) : sim(salt) {
    for (unsigned k = 0; k < kLanes; ++k) models[k].words.resize(kDepths[k]);
    restart();
  }
  void restart() {
    sim.dut.wr_en = 0;
    sim.dut.rd_en = 0;
    sim.reset();
    for (unsigned k = 8; k < kLanes; ++k) clear_left[k] = kDepths[k];
  }
  void cycle(unsigned write_percent, unsigned read_percent) {
    auto& d = sim.dut;
    auto& rng = sim.rng();
    struct Access {
      bool wr, rd;
      std::uint64_t wa, ra;
      Bytes data;
    };
    std::vector<Access> accesses;
    for (unsigned k = 0; k < kLanes; ++k) {
      const bool same = rng.percent(40);
      Access a{rng.percent(write_percent), rng.percent(read_percent), rng.below(kDepths[k]), 0, rng.bits(P_Width)};
      a.ra = same ? a.wa : rng.below(kDepths[k]);
      Port(d.wr_en, k, 1).set(a.wr ? 1 : 0);
      Port(d.rd_en, k, 1).set(a.rd ? 1 : 0);
      Port(d.wr_addr, k * 8, 8).set(a.wa);
      Port(d.rd_addr, k * 8, 8).set(a.ra);
      Port(d.wr_data, k * P_Width, P_Width).set_value(a.data);
      accesses.push_back(std::move(a));
    }
    sim.step();
    for (unsigned k = 0; k < kLanes; ++k) {
      const Access& a = accesses[k];
      Model& m = models[k];
      if (m.first_enabled) m.second = m.first;
      m.first_enabled = a.rd;
      if (a.rd) {
        m.first = m.words[a.ra];
        if (a.wr && a.wa == a.ra && !m.first.empty()) ++collisions;
      }
      if (clear_left[k] != 0) {
        m.words[kDepths[k] - clear_left[k]] = Bytes((P_Width + 7) / 8);
        --clear_left[k];
      } else if (a.wr) {
        m.words[a.wa] = a.data;
      }
      INFO("lane " << k);
      CHECK(Port(d.ready, k, 1).get() == (clear_left[k] == 0 ? 1 : 0));
      const Bytes& shown = k % 2 == 0 ? m.first : m.second;
      if (!shown.empty()) {
        CHECK(Port(d.rd_data, k * P_Width, P_Width).value() == shown);
        ++compared;
      }
    }
  }
};

}  // namespace

TEST_CASE("reads show the right word at the right time and hold it") {
  Fixture f(1);
  for (unsigned i = 0; i < 4000; ++i) f.cycle(50, 50);
  for (unsigned i = 0; i < 1000; ++i) f.cycle(90, 100);
  for (unsigned i = 0; i < 300; ++i) f.cycle(0, 100);
  CHECK(f.compared > 50'000);
  CHECK(f.collisions > 1000);
}

TEST_CASE("ram_clear clears again after each reset and ignores writes until then") {
  Fixture f(2);
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned i = 0; i < 300; ++i) f.cycle(70, 60);
    f.restart();
    // The clearing counter starts anew: what was written before is gone.
    for (unsigned k = 8; k < kLanes; ++k)
      for (auto& w : f.models[k].words) w.clear();
    for (unsigned i = 0; i < 110; ++i) f.cycle(70, 60);
    for (unsigned i = 0; i < 200; ++i) f.cycle(0, 100);
  }
}
