// Copying a graph node by node: what every pass does.
#pragma once

#include <string>
#include <vector>

#include "generator/dataflow/graph.h"

namespace rocegen::dataflow {

/// Copies the live part of `from`, one node at a time, through `build(to, id, node, args)`, which returns the node of
/// `to` that takes the place of `id`, of the same width; `args` are the places of its arguments. Ports, names and
/// documentation stay.
template <typename Build>
Graph rebuild(const Graph& from, Build build) {
  const auto at = [](NodeId id) { return static_cast<std::size_t>(id.index); };
  Graph to(from.name(), from.description());
  std::vector<NodeId> map(static_cast<std::size_t>(from.size()));
  const auto live = from.live();
  for (const auto& port : from.inputs()) map[at(port.node)] = to.input(port.name, from.width(port.node), port.doc);
  std::vector<NodeId> args;
  for (int i = 0; i < from.size(); ++i) {
    const NodeId id{i};
    const Node& n = from.node(id);
    if (!live[at(id)] || n.op == &ops::input()) continue;
    args.clear();
    for (const auto a : n.args) args.push_back(map[at(a)]);
    const NodeId made = n.op == &ops::constant() ? to.constant(n.attrs.bits) : build(to, id, n, args);
    map[at(id)] = made;
    if (!from.label(id).empty()) to.label(made, std::string(from.label(id)));
  }
  for (const auto& port : from.outputs()) to.output(port.name, map[at(port.node)], port.doc);
  return to;
}

}  // namespace rocegen::dataflow
