// Bench of tx_share: the three streams come through whole and in order, answers first, requests and data in turns;
// busy_o and request_left_o to the cycle.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBytes = P_DataW / 8, kUser = 303, kOpcode = 264;
enum Stream { kAnswer, kRequest, kData };

struct Bench : Agent {
  explicit Bench(std::uint64_t salt) : sim(salt) {
    for (Agent* a : {static_cast<Agent*>(&source[kAnswer]), static_cast<Agent*>(&source[kRequest]),
                     static_cast<Agent*>(&source[kData]), static_cast<Agent*>(&out), static_cast<Agent*>(this)})
      sim.add(*a);
    out.on_packet = [this](const Packet& p) {
      const auto from = static_cast<Stream>(get_field(p.user, 0, 2));
      INFO("seed ", seed(), " stream ", from);
      REQUIRE(from <= kData);
      auto& queue = want[from];
      REQUIRE(!queue.empty());
      CHECK(p == queue.front());
      queue.pop_front();
      order.push_back(from);
    };
    sim.reset();
  }
  void drive() override { sim.dut.line_full_i = full_percent != 0 && sim.rng().percent(full_percent) ? 1 : 0; }
  void sample() override {
    auto& d = sim.dut;
    INFO("seed ", seed(), " cycle ", now_);
    // Held back in one of the last Linger cycles, or a full line in one of the last FullLinger.
    REQUIRE((d.busy_o != 0) ==
            ((held_ != 0 && now_ - held_ <= P_Linger) || (full_ != 0 && now_ - full_ <= P_FullLinger)));
    REQUIRE((d.request_left_o != 0) == left_);
    const bool valid[3] = {d.s_answer_tvalid != 0, d.s_request_tvalid != 0, d.s_data_tvalid != 0};
    const bool ready[3] = {d.s_answer_tready != 0, d.s_request_tready != 0, d.s_data_tready != 0};
    const bool last[3] = {d.s_answer_tlast != 0, d.s_request_tlast != 0, d.s_data_tlast != 0};
    int taken = -1;
    for (int i = 0; i < 3; ++i) {
      if (!valid[i] || !ready[i]) continue;
      REQUIRE(taken == -1);
      taken = i;
    }
    // An answer that is there when a packet may begin begins.
    if (taken > kAnswer && !inside_) REQUIRE(!valid[kAnswer]);
    if (taken >= 0) inside_ = !last[taken];
    const std::uint64_t opcode = get_field(Port(d.s_data_tuser, kUser).value(), kOpcode, 8);
    left_ = taken == kData && last[kData] && (opcode < 0x0D || opcode > 0x12);
    if ((valid[kData] && !ready[kData]) || (valid[kRequest] && !ready[kRequest])) held_ = now_;
    if (d.line_full_i != 0) full_ = now_;
    busy += d.busy_o != 0 ? 1 : 0;
    ++now_;
  }
  void on_reset() override {
    held_ = full_ = 0;
    now_ = 1;
    inside_ = left_ = false;
  }
  void push(Stream to) {
    Packet p{{}, sim.rng().bits(kUser)};
    if (to == kData) p.data = sim.rng().bytes(sim.rng().below(5 * kBytes) + 1);
    set_field(p.user, 0, 2, to);
    if (sim.rng().percent(80)) set_field(p.user, kOpcode, 8, sim.rng().below(0x15));
    want[to].push_back(p);
    source[to].push(p);
  }
  bool empty() const { return want[0].empty() && want[1].empty() && want[2].empty(); }

  Sim<Vdut> sim;
  PacketSource source[3] = {{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_answer, P_DataW, kUser)},
                            {sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_request, P_DataW, kUser)},
                            {sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_data, P_DataW, kUser)}};
  PacketSink out{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, m_axis, P_DataW, kUser)};
  std::deque<Packet> want[3];
  std::vector<Stream> order;
  std::uint64_t busy = 0;
  unsigned full_percent = 0;

 private:
  std::uint64_t now_ = 1, held_ = 0, full_ = 0;
  bool inside_ = false, left_ = false;
};

}  // namespace

TEST_CASE("random: order, precedence, the line's fill") {
  for (unsigned round = 0; round < 16; ++round) {
    Bench b(1 + round);
    b.source[kAnswer].stall_percent = round % 2 != 0 ? 95 : 20;
    b.source[kData].stall_percent = round / 2 % 2 != 0 ? 80 : 0;
    b.source[kRequest].stall_percent = round / 4 % 2 != 0 ? 90 : 10;
    b.out.stall_percent = round / 8 != 0 ? 50 : 0;
    b.full_percent = round % 3 * 2;
    for (unsigned i = 0; i < 600; ++i) b.push(static_cast<Stream>(b.sim.rng().below(3)));
    b.sim.run_until([&] { return b.empty(); }, 200'000);
  }
}

TEST_CASE("requests and data take turns, packet by packet") {
  Bench b(30);
  for (unsigned i = 0; i < 300; ++i) b.push(i % 2 != 0 ? kData : kRequest);
  b.sim.run_until([&] { return b.empty(); }, 5000);
  for (std::size_t i = 1; i < b.order.size(); ++i) CHECK(b.order[i] != b.order[i - 1]);
}

TEST_CASE("data alone never makes the line busy; a stalled line does, and for Linger cycles after") {
  Bench b(20);
  for (unsigned i = 0; i < 200; ++i) b.push(kData);
  b.sim.run(1500);
  CHECK(b.empty());
  CHECK(b.busy == 0);
  b.out.stall_percent = 100;
  for (unsigned i = 0; i < 3; ++i) b.push(kData);
  b.sim.run(100);
  CHECK(b.sim.dut.busy_o == 1);
  b.out.stall_percent = 0;
  b.sim.run(P_Linger + 30);
  CHECK(b.empty());
  CHECK(b.sim.dut.busy_o == 0);
  CHECK(b.busy >= P_Linger);
}
