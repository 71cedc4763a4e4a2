// Bench of svc_open: packets come out as they went in, a cycle later, with the mask of their queue pair in front of
// tuser.
#include <map>

#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBeat = P_DataW / 8;
constexpr std::size_t kUserBits = P_UserW;
constexpr std::size_t kSetupBits = 343;  // qp_cfg_t: setup and QPN on top, services at the bottom
constexpr int kOff = P_OffLsb;

struct Bench : Agent {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, kSetupBits)),
        in(sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_pkt, P_DataW, kUserBits)),
        out(sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, m_pkt, P_DataW, kUserBits + 8)) {
    for (Agent* a :
         {static_cast<Agent*>(this), static_cast<Agent*>(&cfg), static_cast<Agent*>(&in), static_cast<Agent*>(&out)})
      sim.add(*a);
    out.on_packet = [this](const Packet& packet) {
      REQUIRE_MESSAGE(!want.empty(), "a packet from nowhere, seed " << seed());
      REQUIRE_MESSAGE(packet.data == want.front().data, "packet " << got << ", seed " << seed());
      REQUIRE_MESSAGE(packet.user == want.front().user, "tuser of packet " << got << ", seed " << seed());
      masked += get_field(packet.user, kUserBits, 8) != 0;
      want.pop_front();
      ++got;
    };
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
    sim.run_until([&] { return sim.dut.ready_o != 0; }, P_QpCount + 4);
  }
  void packet(std::uint32_t qpn, std::size_t bytes, bool off = false) {
    Bytes user = sim.rng().bits(kUserBits);
    set_field(user, P_QpnLsb, 24, qpn);
    if (kOff >= 0) set_field(user, static_cast<std::size_t>(kOff), 1, off);
    in.push(sim.rng().bytes(bytes), user);
  }
  void setup(std::uint32_t qpn, unsigned mask, bool fresh = true) {
    Bytes record = sim.rng().bits(kSetupBits);
    set_field(record, kSetupBits - 1, 1, fresh);
    set_field(record, kSetupBits - 25, 24, qpn);
    set_field(record, 0, 8, mask);
    cfg.push(record);
  }
  std::uint32_t any_qpn() {
    const auto qpn = static_cast<std::uint32_t>(sim.rng().below(P_QpCount));
    return sim.rng().percent(10) ? qpn | 0x800000U : qpn;
  }

  void drive() override {}
  /// The mask counts that is in force when the first beat is taken.
  void sample() override {
    if (sim.dut.s_pkt_tvalid != 0 && sim.dut.s_pkt_tready != 0) {
      if (first) {
        const Packet& packet = in.queue.front();
        const auto qpn = static_cast<std::uint32_t>(get_field(packet.user, P_QpnLsb, 24));
        const bool off = kOff >= 0 && get_field(packet.user, static_cast<std::size_t>(std::max(kOff, 0)), 1) != 0;
        Bytes user = packet.user;
        user.resize((kUserBits + 8 + 7) / 8);
        set_field(user, kUserBits, 8, off || !masks.contains(qpn) ? 0 : masks[qpn]);
        want.push_back({packet.data, user});
      }
      first = sim.dut.s_pkt_tlast != 0;
    }
    if (sim.dut.s_cfg_tvalid != 0 && sim.dut.s_cfg_tready != 0) {
      const Bytes& record = cfg.queue.front();
      const auto qpn = static_cast<std::uint32_t>(get_field(record, kSetupBits - 25, 24));
      if (get_field(record, kSetupBits - 1, 1) != 0 && qpn < P_QpCount)
        masks[qpn] = static_cast<unsigned>(get_field(record, 0, 8) & ((1U << P_Services) - 1U));
    }
    if (setups_percent != 0 && cfg.queue.empty() && sim.rng().percent(setups_percent))
      setup(any_qpn(), static_cast<unsigned>(sim.rng().below(256)), sim.rng().percent(80));
  }
  bool done() const { return in.idle() && want.empty(); }

  Sim<Vdut> sim;
  StreamSource cfg;
  PacketSource in;
  PacketSink out;
  unsigned setups_percent = 0;
  bool first = true;
  std::deque<Packet> want;
  std::map<std::uint32_t, unsigned> masks;
  std::uint64_t got = 0, masked = 0;
};

}  // namespace

TEST_CASE("any packets under any stalls and set-ups, of long ones the mask of their first beat") {
  constexpr unsigned kStalls[] = {0, 30, 60, 90};
  std::uint64_t masked = 0;
  for (unsigned round = 0; round < 20; ++round) {
    Bench b(100 + round);
    Rng& rng = b.sim.rng();
    b.in.stall_percent = kStalls[rng.below(4)];
    b.out.stall_percent = kStalls[rng.below(4)];
    b.setups_percent = 80;
    for (unsigned i = 0; i < 200; ++i)
      b.packet(b.any_qpn(), rng.percent(20) ? 0 : rng.below(6 * kBeat) + 1, rng.percent(30));
    b.sim.run_until([&] { return b.done(); }, 40'000);
    CHECK(b.got == 200);
    b.sim.run(20);
    masked += b.masked;
  }
  CHECK(masked > 500);
}

TEST_CASE("a beat a cycle, a cycle later; a stalled output holds the input back in the same cycle") {
  Bench b(1);
  b.setup(0, 1);
  b.sim.run_until([&] { return b.cfg.queue.empty(); }, 10);
  b.packet(0, 1);
  b.sim.run_until([&] { return b.in.idle(); }, 10);
  CHECK(b.sim.dut.m_pkt_tvalid == 1);  // the cycle behind
  b.sim.run_until([&] { return b.done(); }, 4);
  for (unsigned i = 0; i < 100; ++i) b.packet(0, 3 * kBeat);
  const auto start = b.sim.cycle();
  b.sim.run_until([&] { return b.done(); }, 400);
  CHECK(b.sim.cycle() - start <= 300 + 2);
  b.out.stall_percent = 100;
  b.packet(0, 8 * kBeat);
  b.sim.run(10);
  CHECK(b.sim.dut.s_pkt_tready == 0);
  b.sim.dut.m_pkt_tready = 1;
  b.sim.dut.eval();
  CHECK(b.sim.dut.s_pkt_tready == 1);
}

TEST_CASE("packets that no service sees have no mask, whatever their queue pair's") {
  Bench b(2);
  for (std::uint32_t qpn = 0; qpn < P_QpCount; ++qpn) b.setup(qpn, 0xFF);
  b.sim.run_until([&] { return b.cfg.queue.empty(); }, 2 * P_QpCount + 10);
  for (unsigned i = 0; i < 100; ++i) b.packet(i % P_QpCount, 1 + i, i % 2 == 1);
  b.sim.run_until([&] { return b.done(); }, 2000);
  CHECK(b.masked == (kOff >= 0 ? 50 : 100));
}
