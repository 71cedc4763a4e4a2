// The evaluator: the bit-exact reference of what a compiled graph computes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "generator/dataflow/graph.h"

namespace rocegen::dataflow {

/// Values of all outputs in the order of Graph::outputs(). `inputs` are in the order of Graph::inputs(). Throws
/// std::invalid_argument when their number or widths differ from the graph's.
std::vector<BitVec> evaluate(const Graph& graph, std::span<const BitVec> inputs);

/// The same by names; every input must be given.
std::map<std::string, BitVec> evaluate(const Graph& graph, const std::map<std::string, BitVec>& inputs);

}  // namespace rocegen::dataflow
