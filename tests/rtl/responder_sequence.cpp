// Bench of responder_sequence by itself: what rx_responder's bench cannot reach in reasonable time, the offsets at the
// end of the largest message. ePSN gets there by the slots that jump over what was placed.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kSlotWidth = 151;  // rsp_slot_t

enum class Kind { kSetup, kFirst, kMiddle, kJump };

struct Slots {
  Slots() {
    auto& dut = sim.dut;
    dut.rd_valid_i = dut.valid_i = 0;
    dut.drop_i = 0;
    dut.shape_bad_i = dut.takes_i = dut.completes_i = dut.own_psn_i = 0;
    sim.reset();
  }
  /// A slot for QP 0, in PSN order when `psn` is ePSN; `jump`: packets that a jump passes.
  void slot(Kind kind, std::uint32_t psn, std::uint32_t jump = 0) {
    auto& dut = sim.dut;
    const bool request = kind == Kind::kFirst || kind == Kind::kMiddle;
    const std::uint32_t next = (psn + (kind == Kind::kJump ? jump : request ? 1 : 0)) & 0xFFFFFF;
    Port slot(dut.slot_i, kSlotWidth);
    slot.set_value(Record(kSlotWidth)
                       .put(request, 1)
                       .put(kind == Kind::kSetup, 1)
                       .put(0, 2)
                       .put(kind == Kind::kJump, 1)
                       .put(1, 1)  // known
                       .put(request, 1)
                       .put(0, 1)
                       .put(request, 1)  // a WRITE
                       .put(0, 3)
                       .put(kind == Kind::kFirst, 1)
                       .put(0, 3)
                       .put(0, 2)
                       .put(pmtu, 3)
                       .put(0, 5 + 8 + 16 + 6)
                       .put(0, 24 + 16)
                       .put(128U << pmtu, 14)
                       .put(jump, 32)
                       .put(0, 9)
                       .value());
    dut.rd_qpn_i = 0;
    dut.psn_i = dut.hdr_psn_i = dut.last_psn_i = psn;
    dut.next_psn_i = next;
    dut.allowed_i = dut.room_i = dut.alive_i = 1;
    dut.length_i = 0x80000000;
    // Cycles 2 to 6 of the slot.
    for (unsigned cycle = 2; cycle < 6; ++cycle) {
      dut.rd_valid_i = cycle == 2;
      dut.valid_i = cycle == 5;
      sim.step();
    }
    dut.valid_i = 0;
  }
  /// Starts a message at PSN 0 and brings ePSN to `psn`.
  void reach(std::uint32_t psn) {
    slot(Kind::kSetup, 0);
    slot(Kind::kFirst, 0);
    for (std::uint32_t at = 1; at < psn;) {
      const std::uint32_t jump = std::min(psn - at, 127U);
      slot(Kind::kJump, at, jump);
      at += jump;
    }
  }
  std::uint64_t pmtu = 1;
  Sim<Vdut> sim;
};

constexpr std::size_t kViewWidth = 108;  // rsp_view_t
constexpr std::size_t kPlace = 91;

}  // namespace

TEST_CASE("offsets at the end of a WRITE of 2^31 bytes, in order and ahead, behind its end, too") {
  for (std::uint64_t pmtu = 1; pmtu <= 5; ++pmtu) {
    Slots s;
    s.pmtu = pmtu;
    const std::uint64_t bytes = 128ULL << pmtu;
    const auto packets = static_cast<std::uint32_t>(0x80000000 / bytes);
    const std::uint32_t epsn = packets - 50;
    s.reach(epsn);
    Port view(s.sim.dut.view_o, kViewWidth);
    for (const std::uint32_t ahead : {0U, 1U, 49U, 50U, 51U, 119U}) {
      s.slot(Kind::kMiddle, epsn + ahead);
      INFO("pmtu ", pmtu, " ahead ", ahead);
      CHECK(view.field(kPlace, 1) == (ahead > 0));
      CHECK(s.sim.dut.offset_o == (epsn + ahead) * bytes);
      if (ahead == 0) {  // ePSN has moved on
        s.slot(Kind::kSetup, 0);
        s.reach(epsn);
      }
    }
  }
}
