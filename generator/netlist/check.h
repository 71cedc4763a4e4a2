// Checks of a module. Each fault names both ends and the line of the generator that asked for the connection.
#pragma once

#include "generator/netlist/ir.h"
#include "generator/netlist/library.h"

namespace rocegen::netlist {

// What holds at any time, after every pass: references do not dangle, slices are inside their pins, directions fit, pin
// widths fit, nothing is driven twice (E0320..E0324).
void check_structure(const Design& design, Diagnostics& diagnostics);

// Payloads of connected streams fit: the same fields, width and record of each; a packet goes to a packet. Widths of
// packet streams that a width adapter can reconcile are let pass if `adapters_to_come` (E0325..E0327).
void check_payloads(const Design& design, bool adapters_to_come, Diagnostics& diagnostics);

// Streams and pins connect one clock domain only (E0328, E0329).
void check_domains(const Design& design, Diagnostics& diagnostics);

// Every input is driven, every output read or deliberately left open, clocks are used (E0330..E0333).
void check_completeness(const Design& design, Diagnostics& diagnostics);

// Cycles of combinational valid/ready paths: E0334 when every module of the cycle says that it has the path, W0301 when
// some module of it says nothing.
void check_loops(const Design& design, Diagnostics& diagnostics);

// The pass `check`: all of the above, nothing to come.
void check_pass(Design& design, const Library& library, Diagnostics& diagnostics);

// True when source and sink differ in width only as width_up or width_down can reconcile.
[[nodiscard]] bool width_differs(const StreamConnection& connection, const Stream& source, const Stream& sink);

}  // namespace rocegen::netlist
