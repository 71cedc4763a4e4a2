// Reads a graph from a JSON file, see docs/dataflow.md. Faults are diagnostics E0401 to E0409 with their place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/dataflow/compile.h"
#include "generator/dataflow/typed.h"
#include "generator/spec/diagnostic.h"

namespace rocegen::dataflow {

struct GraphFile {
  Graph graph{"graph"};
  Options options;
  std::vector<Type> input_types;   ///< in the order of graph.inputs()
  std::vector<Type> output_types;  ///< in the order of graph.outputs()
};

/// The graph of `text`; `file` is the name that diagnostics show. Nothing when there were errors.
std::optional<GraphFile> read_graph(std::string file, std::string text, spec::Diagnostics& diagnostics);

/// The operators of the format as a Markdown table, for docs/dataflow.md.
std::string operator_table();

}  // namespace rocegen::dataflow
