// What `rocegen compile` does with a graph, for other commands that have one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "generator/dataflow/graph_file.h"

namespace rocegen::cli {

struct GraphJob {
  dataflow::GraphFile file;
  std::string output;                   ///< folder of the module; out/<name> if empty
  bool check = false;                   ///< run the module in Verilator
  int vectors = 2000;                   ///< of the check
  bool prove = false;                   ///< prove that the passes keep every value
  bool synth = false;                   ///< synthesise with Yosys
  std::string reference = "evaluator";  ///< whom the check compares with, for the report
  /// The outputs that the check expects, and its operands; by default those of the evaluator, and random ones.
  std::function<std::vector<dataflow::BitVec>(const std::vector<dataflow::BitVec>&)> expected;
  std::function<std::vector<dataflow::BitVec>(int)> operands;
};

/// Compiles the graph, writes its module, runs what is asked for, and reports. The exit code of the command.
int run_graph_job(const GraphJob& job, spec::Diagnostics& diagnostics);

}  // namespace rocegen::cli
