// Bench of tx_share: both streams come through whole and in order, answers first; busy_o to the cycle.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBytes = P_DataW / 8, kUser = P_UserW;

struct Bench : Agent {
  explicit Bench(std::uint64_t salt) : sim(salt) {
    for (Agent* a : {static_cast<Agent*>(&answer), static_cast<Agent*>(&data), static_cast<Agent*>(&out),
                     static_cast<Agent*>(this)})
      sim.add(*a);
    out.on_packet = [this](const Packet& p) {
      const bool first = get_field(p.user, 0, 1) != 0;
      auto& queue = first ? answers : datas;
      INFO("seed ", seed(), first ? " answer" : " data");
      REQUIRE(!queue.empty());
      CHECK(p == queue.front());
      queue.pop_front();
    };
    sim.reset();
  }
  void drive() override {}
  void sample() override {
    auto& d = sim.dut;
    INFO("seed ", seed(), " cycle ", now_);
    // Held back in one of the last Linger cycles.
    REQUIRE((d.busy_o != 0) == (held_ != 0 && now_ - held_ <= P_Linger));
    const bool a = d.s_answer_tvalid != 0 && d.s_answer_tready != 0;
    const bool b = d.s_data_tvalid != 0 && d.s_data_tready != 0;
    REQUIRE_FALSE((a && b));
    // An answer that is there when a packet may begin begins.
    if (b && !inside_) REQUIRE(d.s_answer_tvalid == 0);
    if (a || b) inside_ = (a ? d.s_answer_tlast : d.s_data_tlast) == 0;
    if (d.s_data_tvalid != 0 && d.s_data_tready == 0) held_ = now_;
    busy += d.busy_o != 0 ? 1 : 0;
    ++now_;
  }
  void on_reset() override {
    held_ = 0;
    now_ = 1;
    inside_ = false;
  }
  void push(bool first) {
    Packet p{{}, sim.rng().bits(kUser)};
    if (!first) p.data = sim.rng().bytes(sim.rng().below(5 * kBytes) + 1);
    set_field(p.user, 0, 1, first ? 1 : 0);
    (first ? answers : datas).push_back(p);
    (first ? answer : data).push(p);
  }

  Sim<Vdut> sim;
  PacketSource answer{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_answer, P_DataW, kUser)};
  PacketSource data{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_data, P_DataW, kUser)};
  PacketSink out{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, m_axis, P_DataW, kUser)};
  std::deque<Packet> answers, datas;
  std::uint64_t busy = 0;

 private:
  std::uint64_t now_ = 1, held_ = 0;
  bool inside_ = false;
};

}  // namespace

TEST_CASE("random: order, precedence, the line's fill") {
  for (unsigned round = 0; round < 8; ++round) {
    Bench b(1 + round);
    b.answer.stall_percent = round % 2 != 0 ? 95 : 20;
    b.data.stall_percent = round / 2 % 2 != 0 ? 80 : 0;
    b.out.stall_percent = round / 4 != 0 ? 50 : 0;
    for (unsigned i = 0; i < 600; ++i) b.push(b.sim.rng().percent(40));
    b.sim.run_until([&] { return b.answers.empty() && b.datas.empty(); }, 200'000);
  }
}

TEST_CASE("data alone never makes the line busy; a stalled line does, and for Linger cycles after") {
  Bench b(20);
  for (unsigned i = 0; i < 200; ++i) b.push(false);
  b.sim.run(1500);
  CHECK(b.datas.empty());
  CHECK(b.busy == 0);
  b.out.stall_percent = 100;
  for (unsigned i = 0; i < 3; ++i) b.push(false);
  b.sim.run(100);
  CHECK(b.sim.dut.busy_o == 1);
  b.out.stall_percent = 0;
  b.sim.run(P_Linger + 30);
  CHECK(b.datas.empty());
  CHECK(b.sim.dut.busy_o == 0);
  CHECK(b.busy >= P_Linger);
}
