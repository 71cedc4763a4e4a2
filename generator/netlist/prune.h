// Pass `prune`: of the library, what the design needs and nothing else.
#pragma once

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

// Fills library_modules (instantiated before instantiating), package_files and include_files of the design.
void prune_pass(Design& design, const Library& library, Diagnostics& diagnostics);

}  // namespace rocegen::netlist
