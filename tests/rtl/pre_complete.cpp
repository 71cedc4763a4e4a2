// pre_complete with its compiled pre_length, against sim/model/preprocess.
#include <fstream>
#include <vector>

#include "Vdut.h"
#include "sim/model/preprocess.h"
#include "tests/rtl/bench.h"
using namespace rocegen::bench;

namespace {

constexpr std::size_t kCfgW = 343;  // qp_cfg_t: setup and QPN on top, services at the bottom

Bytes completion(std::uint64_t status, std::uint64_t opcode, std::uint64_t qpn, std::uint64_t bytes, Rng& rng) {
  Bytes out = rng.bytes(32);
  set_field(out, 0, 8, status);
  set_field(out, 8, 8, opcode);
  set_field(out, 32, 24, qpn);
  set_field(out, 128, 32, bytes);
  return out;
}

}  // namespace

TEST_CASE("bytes of completions of data that was preprocessed") {
  std::ifstream file(PRE_LAYOUT);
  const rocegen::sim::RowModel model(nlohmann::ordered_json::parse(file));
  for (const unsigned stall : {0U, 60U}) {
    Sim<Vdut> sim(stall);
    Rng& rng = sim.rng();
    StreamSource cfg(rng, Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
                     Port(sim.dut.s_cfg_tdata, kCfgW));
    StreamSource in(rng, Port(sim.dut.s_cqe_tvalid, 1), Port(sim.dut.s_cqe_tready, 1), Port(sim.dut.s_cqe_tdata, 256),
                    stall);
    StreamSink out(rng, Port(sim.dut.m_cqe_tvalid, 1), Port(sim.dut.m_cqe_tready, 1), Port(sim.dut.m_cqe_tdata, 256),
                   stall);
    sim.add(cfg);
    sim.add(in);
    sim.add(out);
    sim.reset();
    sim.run_until([&] { return sim.dut.ready_o != 0; }, 1000);
    std::vector<bool> on;
    for (std::uint64_t qpn = 0; qpn < P_QpCount; ++qpn) {
      on.push_back(rng.percent(70));
      Bytes record = rng.bits(kCfgW);
      set_field(record, kCfgW - 1, 1, 1);
      set_field(record, kCfgW - 25, 24, qpn);
      set_field(record, 0, 8, (rng.below(256) & ~std::uint64_t{4}) | (on.back() ? 4 : 0));
      cfg.push(record);
    }
    sim.run_until([&] { return cfg.queue.empty(); }, 1000);
    sim.run(4);
    std::vector<Bytes> expected;
    constexpr std::uint64_t kOpcodes[] = {0, 1, 2, 3, 4, 128, 129};
    for (int i = 0; i < 600; ++i) {
      const std::uint64_t qpn = rng.below(P_QpCount);
      const std::uint64_t opcode = kOpcodes[rng.below(7)];
      const std::uint64_t status = rng.percent(80) ? 0 : 1 + rng.below(13);
      const std::uint64_t bytes = rng.percent(80) ? rng.below(5000) : rng.below(200'000);
      Bytes cqe = completion(status, opcode, qpn, bytes, rng);
      in.push(cqe);
      if (on[qpn] && status == 0 && (opcode == 2 || opcode >= 128)) set_field(cqe, 128, 32, model.length(bytes));
      expected.push_back(cqe);
    }
    std::uint64_t cycles = 0;
    sim.run_until([&] { return ++cycles, out.beats.size() == expected.size(); }, 10'000);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(out.beats[i] == expected[i]);
    if (stall == 0) CHECK(cycles < expected.size() + 40);
  }
}
