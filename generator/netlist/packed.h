// Insertion of cells that carry one flat payload: register slices and clock crossings.
#pragma once

#include "generator/netlist/lookup.h"

namespace rocegen::netlist {

// Puts `insertion` (name, module, params beside Width, comment, pass, domains) into a connection. The cell's tdata is
// {tuser, tlast, tkeep, tdata} of the source; dropped fields do not travel. False when there is nothing to carry or the
// cell cannot be made.
bool insert_packed(Module& module, std::size_t connection, const Library& library, Insertion insertion,
                   Diagnostics& diagnostics);

}  // namespace rocegen::netlist
