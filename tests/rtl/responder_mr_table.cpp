// Bench of mr_table: every look-up of every cycle, by either user, against a plain table.
#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/rq_model.h"

using namespace rocegen::bench;
using rocegen::bench::rq::Region;

namespace {

constexpr std::uint32_t kMrs = P_MrCount;

/// Looks up an index in most cycles, as one user or the other, invalidates regions, and compares what comes two cycles
/// later.
class Reader : public Agent {
 public:
  Reader(Vdut& dut, Rng& rng) : dut_(dut), rng_(rng), regions_(kMrs) {}
  void drive() override {
    dut_.req_i = rng_.percent(first_user) ? 1 : 0;
    dut_.req2_i = rng_.percent(70) ? 1 : 0;
    dut_.index_i = index();
    dut_.index2_i = index();
    dut_.inv_valid_i = rng_.percent(invalidate) ? 1 : 0;
    dut_.inv_index_i = index();
  }
  void sample() override {
    const bool granted = dut_.req2_i != 0 && dut_.req_i == 0;
    REQUIRE((dut_.gnt2_o != 0) == granted);
    if (second_) {
      const Region got = Region::unpack(Port(dut_.entry_o, Region::kWidth).value());
      INFO("seed ", seed(), " index ", asked2_);
      REQUIRE(got.valid == want2_.valid);
      if (want2_.valid) {
        REQUIRE(got.index == 0);
        REQUIRE(int(got.variant) == int(want2_.variant));
        REQUIRE(int(got.access) == int(want2_.access));
        REQUIRE(int(got.target) == int(want2_.target));
        REQUIRE(got.pd == want2_.pd);
        REQUIRE(got.base == want2_.base);
        REQUIRE(got.length == want2_.length);
        ++valid_seen;
      }
    }
    want2_ = want1_;
    asked2_ = asked1_;
    second_ = first_;
    asked1_ = granted ? dut_.index2_i : dut_.index_i;
    want1_ = asked1_ < kMrs ? regions_[asked1_] : Region{};
    first_ = granted || dut_.req_i != 0;
    (granted ? second_user_asked : first_user_asked) += first_ ? 1 : 0;
    if (dut_.s_cfg_tvalid && dut_.s_cfg_tready) {
      Region m = Region::unpack(Port(dut_.s_cfg_tdata, Region::kWidth).value());
      const auto end = static_cast<unsigned __int128>(m.base) + m.length;
      if (m.length > (1ULL << 40) || end > (static_cast<unsigned __int128>(1) << 64)) m.valid = false;
      if (m.index < kMrs) regions_[m.index] = m;
      REQUIRE_FALSE(invalidating_);
      taken_.push_back(now_);
    }
    // In force one cycle later.
    if (invalidating_ && regions_[invalid_].valid) {
      regions_[invalid_].valid = false;
      ++invalidated;
    }
    invalidating_ = dut_.inv_valid_i != 0 && dut_.inv_index_i < kMrs;
    invalid_ = dut_.inv_index_i;
    ++now_;
  }
  void on_reset() override {
    regions_.assign(kMrs, Region{});
    first_ = second_ = invalidating_ = false;
  }
  std::uint64_t valid_seen = 0, first_user_asked = 0, second_user_asked = 0, invalidated = 0;
  unsigned first_user = 50;  ///< the first user asks in so many of 100 cycles
  unsigned invalidate = 0;
  std::vector<std::uint64_t> taken_;
  std::uint32_t hot = 1;

 private:
  std::uint32_t index() {
    switch (rng_.below(8)) {
      case 0:
        return kMrs + static_cast<std::uint32_t>(rng_.below(4));
      case 1:
        return static_cast<std::uint32_t>(rng_.next()) & rq::kQpnMask;
      case 2:
        return static_cast<std::uint32_t>(rng_.below(kMrs)) | 1U << rng_.below(24);
      case 3:
        return static_cast<std::uint32_t>(rng_.below(kMrs));
      default:
        return static_cast<std::uint32_t>(rng_.below(hot));
    }
  }
  Vdut& dut_;
  Rng& rng_;
  std::vector<Region> regions_;
  Region want1_, want2_;
  std::uint32_t asked1_ = 0, asked2_ = 0;
  bool first_ = false, second_ = false;
  bool invalidating_ = false;
  std::uint32_t invalid_ = 0;
  std::uint64_t now_ = 0;
};

struct Bench {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, Region::kWidth)),
        reader(sim.dut, sim.rng()) {
    sim.add(cfg);
    sim.add(reader);
    // Before the first edge in reset registers hold anything, and the RAMs' range assertion knows no reset.
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
  }
  void set(Region m) { cfg.push(m.pack()); }
  Sim<Vdut> sim;
  StreamSource cfg;
  Reader reader;
};

}  // namespace

TEST_CASE("nothing is valid from reset on; nothing is taken before ready") {
  Bench b(1);
  Region m;
  m.valid = true;
  m.length = 1;
  b.set(m);
  bool early = false;
  for (std::uint32_t i = 0; i < kMrs + 4 && b.sim.dut.ready_o == 0; ++i) {
    b.sim.step();
    early = early || b.cfg.taken > 0;
  }
  CHECK(b.sim.dut.ready_o == 1);
  CHECK_FALSE(early);
  b.sim.run(kMrs + 100);
  CHECK(b.cfg.taken == 1);
}

TEST_CASE("length and end of a region: 2^40 bytes, the top of the address space (L64)") {
  Bench b(2);
  b.sim.run_until([&] { return b.sim.dut.ready_o != 0; }, kMrs + 10);
  const std::uint64_t top = ~std::uint64_t{0};
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> regions = {{0, 0},
                                                                        {0, 1},
                                                                        {0, 1ULL << 32},
                                                                        {0, (1ULL << 32) - 1},
                                                                        {0, 1ULL << 40},
                                                                        {0, (1ULL << 40) + 1},
                                                                        {0, 1ULL << 41},
                                                                        {0, 1ULL << 63},
                                                                        {0, top},
                                                                        {top, 1},
                                                                        {top, 2},
                                                                        {top, 0},
                                                                        {top - 0xFFF, 0x1000},
                                                                        {top - 0xFFF, 0x1001},
                                                                        {top, top},
                                                                        {top - (1ULL << 40) + 1, 1ULL << 40},
                                                                        {top - (1ULL << 40) + 2, 1ULL << 40}};
  for (const auto& [base, length] : regions) {
    Region m;
    m.valid = true;
    m.base = base;
    m.length = length;
    b.set(m);
    b.sim.run(30);
  }
  CHECK(b.cfg.queue.empty());
}

TEST_CASE("random set-ups under look-ups in every cycle") {
  for (unsigned round = 0; round < 4; ++round) {
    Bench b(3 + round);
    Rng& rng = b.sim.rng();
    b.sim.run_until([&] { return b.sim.dut.ready_o != 0; }, kMrs + 10);
    b.reader.hot = static_cast<std::uint32_t>(std::min<std::uint64_t>(kMrs, 1 + rng.below(8)));
    b.cfg.stall_percent = round == 0 ? 0 : 60;
    b.reader.invalidate = round == 0 ? 0 : 10 * round;
    b.reader.first_user = round == 3 ? 0 : 50;
    b.reader.first_user_asked = b.reader.second_user_asked = 0;
    for (unsigned i = 0; i < 10'000; ++i) {
      if (b.cfg.queue.size() < 2) {
        Region m = Region::unpack(rng.bits(Region::kWidth));
        m.valid = rng.percent(80);
        m.index = static_cast<std::uint32_t>(rng.percent(70)   ? rng.below(b.reader.hot)
                                             : rng.percent(80) ? rng.below(kMrs)
                                                               : kMrs + rng.below(9));
        if (rng.percent(70)) m.length &= (1ULL << rng.below(41)) - 1;
        if (rng.percent(10)) m.base = std::uint64_t{0} - m.length;
        b.set(m);
      }
      b.sim.step();
    }
    CHECK(b.reader.valid_seen > 1000);
    // Two cycles a set-up; while nothing is invalidated.
    if (round == 0) CHECK(b.cfg.taken >= 4990);
    if (round != 0) CHECK(b.reader.invalidated > 50);
    if (round == 3) CHECK(b.reader.first_user_asked == 0);
    if (round != 3) CHECK(b.reader.first_user_asked > 4000);
    CHECK(b.reader.second_user_asked > 2000);
  }
}
