// The codes that this folder reports: E03xx and W03xx.
#pragma once

#include <span>

#include "generator/spec/diagnostic.h"

namespace rocegen::netlist {

/// The table of this folder, in the order of the codes.
std::span<const spec::CodeInfo> codes();

}  // namespace rocegen::netlist
