// Pass `pipeline`: register slices on stream connections, from pipeline_depth and the weight of each connection.
//
// A connection has a weight: 0 never cut (a path whose latency is part of a contract), 1 a wire between neighbours, 2 a
// long wire (across the die, or wide payload between far blocks). The depth buys register sets:
//
//   sets = 0                      for depth 0 or weight 0
//   sets = depth - 1              for weight 1
//   sets = 2 * depth - 1          for weight 2
//
// Two sets make a stream_skid (cuts valid, payload and ready), an odd one a stream_reg at the source (cuts valid and
// payload):
//
//   depth     0    1      2            3                4
//   weight 1  -    -      reg          skid             reg, skid
//   weight 2  -    reg    reg, skid    reg, 2 skids     reg, 3 skids
//
// A weight-2 connection thus has `depth` slices; each slice is one cycle of latency and none of throughput. Streams
// that cannot wait (no tready) and streams without payload are not cut.
#pragma once

#include <vector>

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

enum class Slice { reg, skid };

// The slices of a connection, source first. depth 0..4, weight 0..2 (more counts as 2).
[[nodiscard]] std::vector<Slice> slices(int depth, int weight);

void pipeline_pass(Design& design, const Library& library, int depth, Diagnostics& diagnostics);

}  // namespace rocegen::netlist
