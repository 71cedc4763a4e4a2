#include "generator/dataflow/evaluate.h"

#include <fmt/format.h>

#include <stdexcept>

namespace rocegen::dataflow {

std::vector<BitVec> evaluate(const Graph& graph, std::span<const BitVec> inputs) {
  if (inputs.size() != graph.inputs().size()) {
    throw std::invalid_argument(fmt::format("graph '{}' has {} inputs, {} values were given", graph.name(),
                                            graph.inputs().size(), inputs.size()));
  }
  std::vector<BitVec> values(static_cast<std::size_t>(graph.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = graph.inputs()[i];
    if (inputs[i].width() != graph.width(port.node)) {
      throw std::invalid_argument(fmt::format("input '{}' is {} bits wide, the value {}", port.name,
                                              graph.width(port.node), inputs[i].width()));
    }
    values[static_cast<std::size_t>(port.node.index)] = inputs[i];
  }
  const auto live = graph.live();
  std::vector<BitVec> args;
  for (int i = 0; i < graph.size(); ++i) {
    const Node& n = graph.node({i});
    if (!live[static_cast<std::size_t>(i)] || n.op == &ops::input()) continue;
    args.clear();
    for (const auto a : n.args) args.push_back(values[static_cast<std::size_t>(a.index)]);
    values[static_cast<std::size_t>(i)] = n.op->evaluate(args, n.attrs);
  }
  std::vector<BitVec> outputs;
  for (const auto& port : graph.outputs()) outputs.push_back(values[static_cast<std::size_t>(port.node.index)]);
  return outputs;
}

std::map<std::string, BitVec> evaluate(const Graph& graph, const std::map<std::string, BitVec>& inputs) {
  std::vector<BitVec> in;
  for (const auto& port : graph.inputs()) {
    const auto it = inputs.find(port.name);
    if (it == inputs.end()) throw std::invalid_argument(fmt::format("input '{}' has no value", port.name));
    in.push_back(it->second);
  }
  const auto out = evaluate(graph, in);
  std::map<std::string, BitVec> r;
  for (std::size_t i = 0; i < out.size(); ++i) r.emplace(graph.outputs()[i].name, out[i]);
  return r;
}

}  // namespace rocegen::dataflow
