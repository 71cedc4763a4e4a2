// Pass `width`: a connection of packet streams of different tdata width gets a width_up or a width_down.
//
// The adapter stands where the narrow side's clock is, so that a crossing carries the wide beats: in the source's
// domain for width_up, in the sink's for width_down. Widths must be multiples of one another (E0335).
#pragma once

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

void width_pass(Design& design, const Library& library, Diagnostics& diagnostics);

}  // namespace rocegen::netlist
