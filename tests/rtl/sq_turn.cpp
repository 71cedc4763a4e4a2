// Bench of sq_turn with Selective: what it makes of the answers to a packet that went alone. Everything else of sq_turn
// is seen through sq_engine and sq_requester.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr unsigned kIdxWidth = P_IdxW;

/// One QP whose head stands at ring index 0 and whose cursor at 1: a turn that begins at 0 went back.
struct Turns {
  Turns() : sim(1), rng(sim.rng()), turn(sim.dut.m_turn_tvalid, 1) {
    auto& dut = sim.dut;
    dut.hold_i = dut.set_valid_i = dut.state_we_i = dut.cursor_we_i = dut.head_we_i = dut.mem_we_i = 0;
    dut.tail_we_i = dut.s_qp_tvalid = 0;
    dut.m_turn_tready = 1;
    dut.state_qpn_i = dut.cursor_qpn_i = dut.head_qpn_i = dut.tail_qpn_i = dut.s_qp_tdata = kQp;
    sim.reset();
    // Only the QPN, the MTU, the ring and the READs are looked at.
    Bytes set = rng.bits(kSetWidth);
    set_field(set, kSetWidth - 25, 24, kQp);
    Port(dut.set_i, kSetWidth).set_value(set);
    dut.set_valid_i = 1;
    sim.step();
    dut.set_valid_i = 0;
    dut.head_i = 0;
    dut.tail_i = 8;
    dut.head_we_i = dut.tail_we_i = 1;
    sim.step();
    dut.head_we_i = dut.tail_we_i = 0;
  }
  /// sq_ack tells una and the number of rewinds.
  void state(std::uint32_t una, unsigned gen, bool nacked) {
    Port(sim.dut.state_i, kStateWidth)
        .set_value(Record(kStateWidth)
                       .put(kRts, 3)
                       .put(una, 24)
                       .put(gen, 4)
                       .put(0, 4 + 24 + 2)
                       .put(0, 8 + 1)
                       .put(0, 22 + 1)
                       .put(0, 5 + 1 + 16)
                       .value());
    sim.dut.state_nacked_i = nacked;
    sim.dut.state_we_i = 1;
    sim.step();
    sim.dut.state_we_i = 0;
  }
  /// sq_segment tells where the QP's turn ended, and whether it waits for the answer to a packet that went alone.
  void cursor(std::uint32_t psn, unsigned gen, bool wait) {
    Port(sim.dut.cursor_i, kCursorWidth)
        .set_value(Record(kCursorWidth).put(1, 22).put(psn, 24).put(psn, 24).put(gen, 4).put(0, 25).value());
    sim.dut.cursor_wait_i = wait;
    sim.dut.cursor_we_i = 1;
    sim.step();
    sim.dut.cursor_we_i = 0;
  }
  struct Turn {
    bool back, skip, wait;
    bool operator==(const Turn&) const = default;
  };
  Turn next() {
    sim.dut.s_qp_tvalid = 1;
    sim.run_until([&] { return sim.dut.s_qp_tready != 0; }, 10);
    sim.step();
    sim.dut.s_qp_tvalid = 0;
    sim.run_until([&] { return turn.get() != 0; }, 10);
    const Turn got{sim.dut.m_turn_idx == 0, sim.dut.m_turn_skip != 0, sim.dut.m_turn_wait != 0};
    sim.step();
    return got;
  }

  static constexpr unsigned kQp = 1;
  static constexpr unsigned kRts = 3;
  static constexpr std::size_t kSetWidth = 343, kStateWidth = 115, kCursorWidth = 99;
  Sim<Vdut> sim;
  Rng& rng;
  Port turn;
};

constexpr std::uint32_t kMask = 0xFFFFFF;
using Turn = Turns::Turn;

}  // namespace

TEST_CASE("a NAK's rewind may skip, another may not") {
  for (const bool nacked : {false, true}) {
    Turns t;
    t.state(100, 0, false);
    t.cursor(105, 0, false);
    CHECK(t.next() == Turn{false, false, false});
    t.state(101, 1, nacked);
    CHECK(t.next() == Turn{true, nacked, false});
  }
}

TEST_CASE("an answer to just the packet that went alone goes back, nothing and more do not, whatever the distance") {
  for (const std::uint32_t una : {100U, 0xFFU, 0xFFFFFFU, 0xFFFFFEU, 0x7FFFFFU}) {
    for (const std::uint32_t more :
         {0U, 1U, 2U, 3U, 255U, 256U, 257U, 258U, 512U, 513U, 0x8001U, 0x10001U, 0x200001U}) {
      Turns t;
      t.state(una, 0, false);
      t.cursor((una + 1) & kMask, 0, false);
      t.state(una, 1, true);
      REQUIRE(t.next() == Turn{true, true, false});
      // The packet at una alone; behind it far ahead.
      const std::uint32_t ahead = (una + 0x300000) & kMask;
      t.cursor(ahead, 1, true);
      INFO("una ", una, " acknowledged ", more);
      CHECK(t.next() == Turn{false, false, true});
      t.state((una + more) & kMask, 1, true);
      CHECK(t.next() == Turn{more == 1, false, more == 0});
      // A cursor that does not wait asks nothing.
      t.cursor(ahead, 1, false);
      CHECK(t.next() == Turn{false, false, false});
    }
  }
}

TEST_CASE("behind a peer that kept nothing seven rewinds skip nothing, then the next may again; a set-up forgets") {
  for (const bool setup : {false, true}) {
    Turns t;
    t.state(100, 0, false);
    t.cursor(110, 0, false);
    t.state(100, 1, true);
    REQUIRE(t.next() == Turn{true, true, false});
    t.cursor(110, 1, true);
    t.state(101, 1, true);
    REQUIRE(t.next() == Turn{true, false, false});
    if (setup) {
      t.sim.dut.set_valid_i = 1;
      t.sim.step();
      t.sim.dut.set_valid_i = 0;
    }
    for (unsigned gen = 2; gen < 2 + 8; ++gen) {
      t.cursor(110, gen - 1, false);
      t.state(101, gen, true);
      INFO("rewind ", gen);
      CHECK(t.next() == Turn{true, setup || gen == 9, false});
    }
  }
}
