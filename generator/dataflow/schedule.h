// The scheduler: cuts a graph into pipeline stages under a logic-level budget and balances the registers.
#pragma once

#include <vector>

#include "generator/dataflow/graph.h"

namespace rocegen::dataflow {

/// How a graph is compiled.
struct Options {
  /// LUT6 levels allowed between registers, 1 or more.
  int level_budget = 10;
  /// Latency 0: no registers, whatever the depth; level_budget is ignored.
  bool combinational = false;
  /// Ports `clk` and `ce_i` (elastic: `clk` and `rst`) exist. Must be true unless combinational.
  bool clock_ports = true;
  /// Valid and ready at both ends instead of ce_i: a stage stands still only when it is full and the next one stands.
  bool elastic = false;
  /// LUT6 levels that stand before the inputs and count against the first stage's budget; below level_budget.
  int input_levels = 0;
};

/// A graph whose every node has a stage. Stage s lies between register ranks s and s+1; the results are registered by
/// rank `latency`, so each path from an input to an output crosses exactly `latency` registers.
struct Schedule {
  Graph graph{"empty"};
  std::vector<int> stage;         ///< by node index; constants 0
  std::vector<int> last_use;      ///< latest stage that reads the node; `latency` for an output
  std::vector<Arrival> arrival;   ///< within the node's stage
  int latency = 0;                ///< register ranks; 0 when combinational
  std::vector<int> stage_levels;  ///< estimated LUT6 levels of each stage
  int register_bits = 0;

  /// Deepest stage.
  int levels() const;
};

/// Cuts `graph`. The fewest stages that keep the budget; among equal stage counts the one with the shallowest stages;
/// then the assignment to stages with the fewest register bits (RegisterFlow; for very large graphs only node by node).
/// Wide operators are split as far as the budget demands, and
/// what lands in one stage is written as one flat expression again. Throws std::invalid_argument on bad options.
Schedule schedule(const Graph& graph, const Options& options);

/// Checks what a schedule promises: arguments never later than their readers, every stage within `budget`, register
/// count right. Throws std::logic_error with the first breach.
void check_schedule(const Schedule& schedule, const Options& options);

/// LUT6 levels for the compiled modules of a variant.
///
/// The smaller of two limits. From pipeline_depth: 0 -> 24 (as few registers as possible; the clock is not looked at),
/// 1 -> 10, 2 -> 8, 3 -> 6, 4 -> 5, so that with one or two levels of glue around a compiled module no path exceeds
/// 10 levels at depth 2 and 7 at depth 4. From the clock: floor((period - 0.4 ns) / 0.45 ns), an illustrative delay of
/// a LUT6 with its net on UltraScale+ (estimate_delays in generator/cli/timing_library.h), never below 2. Throws
/// std::invalid_argument when pipeline_depth is not 0..4 or the clock is not positive.
int level_budget(int pipeline_depth, double clock_mhz);

}  // namespace rocegen::dataflow
