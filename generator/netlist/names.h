// Pass `names`: every identifier of the output is legal, unique and stable.
//
// Names that a person gave (module, ports, instances, nets) are taken as they are or refused: an illegal one is E0336,
// one that is used twice E0337. Names that the generator makes (wires, inserted instances) come from what they hang on,
// so that a change elsewhere in the design does not change them; where they would collide they get _2, _3, ...
#pragma once

#include <string>
#include <string_view>

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

// Why a name cannot be an identifier ("is a keyword of SystemVerilog"), or empty. Legal: a letter, then letters, digits
// and underscores, no keyword, at most 128 characters; no leading underscore, no two underscores in a row at the end.
[[nodiscard]] std::string fault_of_name(std::string_view name);

void names_pass(Design& design, const Library& library, Diagnostics& diagnostics);

}  // namespace rocegen::netlist
