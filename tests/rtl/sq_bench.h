// What the benches of sq_engine share: the engine with the model around it, set-ups, waiting.
#pragma once

#include "Vdut.h"
#include "tests/rtl/sq_model.h"

namespace rocegen::bench::sq {

using Engine = Bench<Vdut>;

inline constexpr std::uint64_t kQuarter = (P_TickCycles + 3) / 4;
inline constexpr std::uint64_t kWalk = P_QpCount > 8 ? P_QpCount : 8;

/// Slots of each QP when the memory is shared out evenly; a power of two.
constexpr unsigned slots_log2() {
  unsigned log2 = 0;
  while ((2ULL << log2) * P_QpCount <= P_WqeSlots && log2 < 6) ++log2;
  return log2;
}

inline Config config(std::uint32_t qpn, std::uint32_t psn, unsigned pmtu = 3, unsigned timeout = 0) {
  Config c;
  c.qpn = qpn;
  c.sq_psn = psn;
  c.pmtu = pmtu;
  c.timeout = timeout;
  c.sq_log2 = slots_log2();
  c.sq_base = qpn << c.sq_log2;
  c.dip = 0x0A000001 + qpn;
  return c;
}

/// The smallest timeout code whose T is at least this many cycles.
inline unsigned code_for(std::uint64_t cycles) {
  unsigned code = 1;
  while ((std::uint64_t{P_TickCycles} << code) < cycles) ++code;
  return code;
}

inline std::uint32_t mtu_of(unsigned pmtu) { return 128U << pmtu; }
inline std::uint32_t any_qpn(Engine& e) { return static_cast<std::uint32_t>(e.rng().below(P_QpCount)); }
inline std::uint64_t ring() { return 1ULL << slots_log2(); }

/// Waits until the QP has sent `count` packets in all.
inline void sent(Engine& e, std::uint32_t q, std::uint64_t count, std::uint64_t limit = 20'000) {
  e.until([&] { return e.life(q).sent >= count; }, limit, "packets sent");
}
/// Waits until all is done and nothing comes any more.
inline void settle(Engine& e, std::uint64_t limit = 200'000) {
  e.until([&] { return e.quiet(); }, limit, "all requests complete");
  e.run(100);
}

}  // namespace rocegen::bench::sq

using namespace rocegen::bench;
using namespace rocegen::bench::sq;
