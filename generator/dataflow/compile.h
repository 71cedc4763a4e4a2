// The dataflow compiler: a graph becomes a SystemVerilog module of known latency.
#pragma once

#include <string>
#include <vector>

#include "generator/dataflow/graph.h"
#include "generator/dataflow/schedule.h"

namespace rocegen::dataflow {

/// What compile() makes.
struct CompiledModule {
  std::string name;
  std::string systemverilog;  ///< the whole file, `<name>.sv`
  int latency = 0;            ///< cycles with ce_i = 1 (elastic: without a stall) from operands to result; 0 when
                              ///< combinational
  int levels = 0;             ///< estimated LUT6 levels of the deepest stage
  std::vector<int> stage_levels;
  int register_bits = 0;  ///< of data
  int luts = 0;           ///< estimate
};

/// Schedules `graph`, checks the schedule and writes the module. Same graph and options, same bytes.
///
/// The module's ports are `clk` and `ce_i` (when options.clock_ports), the inputs, the outputs. It has no reset and no
/// valid: a result belongs to the operands that were there `latency` enabled cycles before; one set of operands enters
/// every enabled cycle. With options.elastic they are `clk`, `rst`, `s_tvalid`, `s_tready`, the inputs, `m_tvalid`,
/// `m_tready`, the outputs; results leave in order, one a cycle. Throws std::invalid_argument when a port has one of
/// those names.
CompiledModule compile(const Graph& graph, const Options& options);

/// The SystemVerilog text of a schedule.
std::string write_systemverilog(const Schedule& schedule, const Options& options);

}  // namespace rocegen::dataflow
