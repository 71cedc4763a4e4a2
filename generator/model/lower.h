// A model becomes an expression graph of the dataflow compiler.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/dataflow/graph.h"
#include "generator/model/model.h"

namespace rocegen::model {

/// A feature as a node of the graph: an unsigned number, and a node of one bit that says that it is missing.
struct Operand {
  dataflow::NodeId value;
  std::optional<dataflow::NodeId> missing;  ///< none: it never is
};

/// Bits of a class number.
int class_bits(const Model& model);

/// The class that `model` decides for. `features` are all of the model's; those it does not use are not looked at.
/// Forests are in fixed point already (fix_point).
dataflow::NodeId lower(dataflow::Graph& graph, const Model& model, std::span<const Operand> features);

/// The model alone as a module: port x_i holds the used features, the first in the low bits, bits[i] wide each; port
/// missing_i, if `missing`, a bit for each of them; port class_o.
dataflow::Graph model_graph(const Model& model, std::string name, std::span<const int> bits, bool missing);

}  // namespace rocegen::model
