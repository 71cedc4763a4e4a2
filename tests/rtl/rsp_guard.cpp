// Bench of rsp_guard: packets pass as they are; after a response with an error the QP's responses carry it too, until
// the QP starts anew.
#include <optional>

#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kPktBits = 302, kCfgWidth = 343;
constexpr std::size_t kBytes = P_DataW / 8;

bool is_response(std::uint64_t opcode) { return (opcode >= 0x0D && opcode <= 0x10) || opcode == 0x12; }

struct Bench : Agent {
  explicit Bench(std::uint64_t salt) : sim(salt) {
    for (Agent* a : {static_cast<Agent*>(&in), static_cast<Agent*>(&out), static_cast<Agent*>(this)}) sim.add(*a);
    out.loose_user = 1;
    out.on_packet = [this](const Packet& p) {
      REQUIRE(!sent.empty());
      CHECK(p.data == sent.front().data);
      Bytes user = sent.front().user;
      set_field(user, kPktBits, 1, get_field(p.user, kPktBits, 1));  // checked in sample()
      CHECK(p.user == user);
      sent.pop_front();
    };
    sim.dut.s_cfg_tvalid = 0;
    sim.reset();
  }
  void drive() override {
    const bool random = anew_percent != 0 && sim.rng().percent(anew_percent);
    sim.dut.s_cfg_tvalid = random || !configs.empty() ? 1 : 0;
    Bytes record = sim.rng().bits(kCfgWidth);
    const auto [setup, state, qpn] = !configs.empty() ? configs.front() : some_config();
    set_field(record, kCfgWidth - 1, 1, setup);
    set_field(record, kCfgWidth - 28, 3, state);
    set_field(record, kCfgWidth - 25, 24, qpn);
    Port(sim.dut.s_cfg_tdata, kCfgWidth).set_value(record);
    if (!configs.empty()) configs.pop_front();
  }
  void sample() override {
    auto& d = sim.dut;
    INFO("seed ", seed(), " packet ", packets);
    REQUIRE(d.s_cfg_tready == 1);
    REQUIRE((d.cnt_rd_suppressed_o != 0) == suppressed_);
    suppressed_ = false;
    const Bytes cfg = Port(d.s_cfg_tdata, kCfgWidth).value();
    const std::uint64_t cfg_qpn = get_field(cfg, kCfgWidth - 25, 24);
    const bool anew =
        d.s_cfg_tvalid != 0 && (get_field(cfg, kCfgWidth - 1, 1) != 0 || get_field(cfg, kCfgWidth - 28, 3) == 0);
    std::optional<std::uint64_t> fresh;
    REQUIRE(d.m_pkt_tvalid == d.s_pkt_tvalid);
    if (d.s_pkt_tvalid != 0) {
      const Bytes user = Port(d.s_pkt_tuser, kPktBits + 1).value();
      const std::uint64_t qpn = get_field(user, 272, 24);
      const std::uint64_t life_of_qp = get_field(user, 272, 30);  // {life, qpn}
      const bool response = is_response(get_field(user, 264, 8));
      const bool error = get_field(user, kPktBits, 1) != 0;
      const bool known = std::find(marked.begin(), marked.end(), life_of_qp) != marked.end();
      // What is offered stays as it is, whatever happens meanwhile.
      if (!offered_) offered_ = error || (response && known);
      const bool out_err = get_field(Port(d.m_pkt_tuser, kPktBits + 1).value(), kPktBits, 1) != 0;
      if (d.s_pkt_tlast != 0) REQUIRE_MESSAGE(out_err == *offered_, "wrong mark");
      if (d.s_pkt_tready != 0) {
        if (d.s_pkt_tlast != 0) {
          ++packets;
          added += out_err && !error ? 1 : 0;
          suppressed_ = response && known;
          if (response && error && !known && !(anew && cfg_qpn == qpn)) fresh = life_of_qp;
        }
        offered_.reset();
      }
    }
    if (anew) {
      for (std::uint64_t& m : marked)
        if (m != kNone && m % (1 << 24) == cfg_qpn) m = kNone;
    }
    // The places are taken in turns, whatever they hold.
    if (fresh) {
      marked.push_back(*fresh);
      marked.pop_front();
    }
  }
  void on_reset() override {
    marked.assign(P_Entries, kNone);
    offered_.reset();
    suppressed_ = false;
  }
  std::tuple<unsigned, unsigned, std::uint64_t> some_config() {
    return {sim.rng().percent(30) ? 1U : 0U, static_cast<unsigned>(sim.rng().below(6)), some_qpn()};
  }
  /// QPNs that differ in one bit, high ones too.
  std::uint64_t some_qpn() {
    return sim.rng().percent(70) ? sim.rng().below(qps) : std::uint64_t{1} << sim.rng().below(24);
  }
  void push(std::uint64_t qpn, std::uint64_t opcode, bool error) {
    Packet p{sim.rng().bytes(sim.rng().percent(30) ? 1 : sim.rng().below(3 * kBytes) + 1),
             sim.rng().bits(kPktBits + 1)};
    set_field(p.user, 272, 24, qpn);
    set_field(p.user, 296, 6, sim.rng().percent(other_life_percent) ? 33 : 1);
    set_field(p.user, 264, 8, opcode);
    set_field(p.user, kPktBits, 1, error ? 1 : 0);
    sent.push_back(p);
    in.push(p);
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  Sim<Vdut> sim;
  PacketSource in{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_pkt, P_DataW, kPktBits + 1)};
  PacketSink out{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, m_pkt, P_DataW, kPktBits + 1)};
  std::deque<Packet> sent;
  std::deque<std::uint64_t> marked = std::deque<std::uint64_t>(P_Entries, kNone);
  std::deque<std::tuple<unsigned, unsigned, std::uint64_t>> configs;
  std::uint64_t packets = 0, added = 0, qps = 6;
  unsigned anew_percent = 0, other_life_percent = 0;

 private:
  std::optional<bool> offered_;
  bool suppressed_ = false;
};

}  // namespace

TEST_CASE("random packets, errors and set-ups") {
  for (unsigned round = 0; round < 8; ++round) {
    Bench b(1 + round);
    Rng& rng = b.sim.rng();
    b.in.stall_percent = round % 2 != 0 ? 30 : 0;
    b.out.stall_percent = round / 2 % 2 != 0 ? 60 : 0;
    b.anew_percent = round / 4 != 0 ? 30 : 2;
    b.other_life_percent = 10;
    b.qps = rng.percent(50) ? 3 : 2 * P_Entries + 1;
    for (unsigned i = 0; i < 4000; ++i)
      b.push(b.some_qpn(), rng.percent(80) ? 0x0D + rng.below(6) : rng.below(256), rng.percent(12));
    b.sim.run_until([&] { return b.sent.empty(); }, 200'000);
    CHECK(b.added > 20);
  }
}

TEST_CASE("only a set-up or RESET of the QP ends it; the NAK passes") {
  Bench b(20);
  const auto goes = [&](std::uint64_t qpn, std::uint64_t opcode) {
    const std::uint64_t before = b.added;
    b.push(qpn, opcode, false);
    b.sim.run(12);
    CHECK(b.sent.empty());
    return b.added == before;
  };
  b.push(5, 0x0E, true);
  b.sim.run(12);
  CHECK_FALSE(goes(5, 0x0F));
  CHECK_FALSE(goes(5, 0x12));
  CHECK(goes(5, 0x11));
  CHECK(goes(5, 0x0C));
  CHECK(goes(5, 0x0A));
  CHECK(goes(4, 0x0D));
  CHECK(goes(5 + 0x100000, 0x0D));
  b.configs = {{0U, 5U, 5U}, {0U, 3U, 5U}, {1U, 3U, 4U}, {0U, 0U, 7U}};
  b.sim.run(8);
  CHECK_FALSE(goes(5, 0x10));
  b.configs = {{0U, 0U, 5U}};
  b.sim.run(8);
  CHECK(goes(5, 0x10));
  b.push(5, 0x12, true);
  b.sim.run(12);
  CHECK_FALSE(goes(5, 0x10));
  b.configs = {{1U, 3U, 5U}};
  b.sim.run(8);
  CHECK(goes(5, 0x10));
  // A request that could not be read marks nothing.
  b.push(5, 0x0A, true);
  b.sim.run(12);
  CHECK(goes(5, 0x10));
}
