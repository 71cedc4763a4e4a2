// Block diagram of a module as Graphviz dot, and as SVG by Graphviz itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

struct DiagramOptions {
  bool fold_slices = true;  // register slices become a mark on the edge instead of boxes
  bool pins = true;         // draw bundles of plain pins between instances as thin grey edges
};

// The diagram: one box an instance, one arrow a stream (width and record), clock domains as clusters.
[[nodiscard]] std::string write_dot(const Module& module, const DiagramOptions& options = {});

// Runs Graphviz's `dot -Tsvg` on a text. A missing tool is a diagnostic that names its package; so is a failure, with
// the tool's own message. `program`: the tool to call.
[[nodiscard]] std::optional<std::string> dot_to_svg(const std::string& dot, Diagnostics& diagnostics,
                                                    const std::string& program = "dot");

}  // namespace rocegen::netlist
