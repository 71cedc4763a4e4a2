// Pass `types`: record tags travel through modules that hand payload on unchanged (FIFOs, arbiters, forks, adapters;
// see `rocegen: passes` in library.h) and to the ports of the module; then the payloads of connected streams are
// compared.
#pragma once

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

void types_pass(Design& design, const Library& library, Diagnostics& diagnostics);

}  // namespace rocegen::netlist
