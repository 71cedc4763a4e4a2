// Pass `crossing`: a connection between two clock domains gets a stream_cdc.
#pragma once

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

// `depth`: words that a crossing holds, a power of two.
void crossing_pass(Design& design, const Library& library, int depth, Diagnostics& diagnostics);

}  // namespace rocegen::netlist
