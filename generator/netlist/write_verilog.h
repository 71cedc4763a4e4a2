// SystemVerilog writer: prints a finished module; it decides nothing.
#pragma once

#include <string>

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

// The text of one module: header comment, ports, wires, instances with named ports, one connection a line. The module
// must have passed the standard passes; a module that has not may print but not compile.
[[nodiscard]] std::string write_verilog(const Module& module);

}  // namespace rocegen::netlist
