#include "generator/services/preprocess/stage.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace rocegen::preprocess {

netlist::Params stage_params(const Geometry& geometry, const RowModules& rows, int rotate_stages) {
  return {{"RowsLatency", rows.latency},   {"SpanLatency", rows.span_latency},
          {"Phases", geometry.phases},     {"PhaseStep", geometry.lanes / geometry.group % geometry.phases},
          {"PhaseW", geometry.phase_bits}, {"Unit", geometry.unit},
          {"RotateStages", rotate_stages}};
}

std::string bench_top(const netlist::Params& params, int data_width, int qp_count) {
  constexpr std::array<std::string_view, 14> kPins = {
      "s_pkt_tvalid", "s_pkt_tready", "s_pkt_tdata",      "s_pkt_tkeep",      "s_pkt_tlast",
      "s_pkt_tuser",  "m_pkt_tvalid", "m_pkt_tready",     "m_pkt_tdata",      "m_pkt_tkeep",
      "m_pkt_tlast",  "m_pkt_tuser",  "cnt_pre_packet_o", "cnt_pre_partial_o"};
  std::string ports = "  input  logic clk,\n  input  logic rst";
  std::string wires = "    .clk(clk),\n    .rst(rst)";
  for (const std::string_view pin : kPins) {
    const bool input = !pin.starts_with("cnt") && pin.starts_with("s_") != pin.ends_with("tready");
    std::string range;
    if (pin.ends_with("tdata")) range = fmt::format("[{}:0] ", data_width - 1);
    if (pin.ends_with("tkeep")) range = fmt::format("[{}:0] ", data_width / 8 - 1);
    if (pin.ends_with("tuser")) range = "[roce_pkg::RxCmdW+7:0] ";
    ports += fmt::format(",\n  {} logic {}{}", input ? "input " : "output", range, pin);
    wires += fmt::format(",\n    .{0}({0})", pin);
  }
  std::string values = fmt::format("    .DataW({}),\n    .QpCount({}),\n    .Index(2)", data_width, qp_count);
  for (const netlist::Param& p : params) values += fmt::format(",\n    .{}({})", p.name, p.value.number());
  return fmt::format(
      "// pre_bench: pre_stage alone.\nmodule pre_bench (\n{}\n);\n\n  pre_stage #(\n{}\n  ) u_stage (\n{}\n  "
      ");\n\nendmodule\n",
      ports, values, wires);
}

}  // namespace rocegen::preprocess
