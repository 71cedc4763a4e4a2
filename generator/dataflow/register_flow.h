// The fewest pipeline registers: an exact minimum cut.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "generator/dataflow/graph.h"

namespace rocegen::dataflow {

/// Maximum flow by Dinic's algorithm. Edges may be added after a run: the flow stays and is augmented.
class FlowNetwork {
 public:
  static constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

  int add_node();
  void add_edge(int from, int to, std::int64_t capacity);
  /// Augments the flow to its maximum. False, with the flow smaller than that, when all runs together have looked at
  /// `max_visits` edges.
  bool run(int source, int sink, std::int64_t max_visits);
  std::int64_t flow() const { return flow_; }
  /// After run(): by node, whether it can still reach the sink; all others are the source's side of the minimum cut
  /// that lies nearest to the sink.
  std::vector<bool> sink_side(int sink) const;

 private:
  struct Edge {
    int to;
    std::int64_t free;
  };
  bool find_levels(int source, int sink);
  std::int64_t augment(int source, int sink);

  std::vector<std::vector<int>> out_;  // edges by node; edge e and e ^ 1 are a pair
  std::vector<Edge> edges_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
  std::int64_t flow_ = 0;
  std::int64_t visits_ = 0;  // of edges
};

/// Assigns the nodes of a graph to `latency` stages with the fewest register bits under "not before stage e" and "at
/// least one stage between" constraints.
///
/// Every register rank r cuts the graph into the nodes before it and those behind; a value that has a reader behind the
/// rank costs its width. The variables "node v stands before rank r" of all ranks make one network, in which the
/// constraints are edges without limit: arguments before readers, before rank r is before rank r + 1, and with a stage
/// between u and v, "v before rank r + 1" implies "u before rank r". Its minimum cut is the optimum (Leiserson and
/// Saxe, Retiming Synchronous Circuitry, 1991, as a cut instead of a linear program). Among optima the earliest stages
/// are taken.
class RegisterFlow {
 public:
  RegisterFlow(const Graph& graph, const std::vector<int>& earliest, int latency);
  /// Node v at least one stage behind node u.
  void separate(int u, int v);
  /// Stages by node index; nothing when the network is too large for the work that is worth it (a count of steps, so
  /// that the result does not depend on the machine).
  std::optional<std::vector<int>> solve();

 private:
  static constexpr int kSource = 0;
  static constexpr int kSink = 1;
  /// The network's node for "v before rank".
  int before(int v, int rank) const { return before_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(v)]; }

  int nodes_;
  int latency_;
  FlowNetwork network_;
  std::vector<std::vector<int>> before_;  // [rank][node], ranks 1 to latency - 1
};

}  // namespace rocegen::dataflow
