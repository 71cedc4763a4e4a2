#include "generator/dataflow/register_flow.h"

#include <algorithm>

namespace rocegen::dataflow {

namespace {
std::size_t at(int index) { return static_cast<std::size_t>(index); }
}  // namespace

int FlowNetwork::add_node() {
  out_.emplace_back();
  return static_cast<int>(out_.size()) - 1;
}

void FlowNetwork::add_edge(int from, int to, std::int64_t capacity) {
  if (from == to) return;
  out_[at(from)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, capacity});
  out_[at(to)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

bool FlowNetwork::find_levels(int source, int sink) {
  level_.assign(out_.size(), -1);
  std::vector<int> queue{source};
  level_[at(source)] = 0;
  for (std::size_t i = 0; i < queue.size() && level_[at(sink)] < 0; ++i) {
    visits_ += static_cast<std::int64_t>(out_[at(queue[i])].size());
    for (const int e : out_[at(queue[i])]) {
      const Edge& edge = edges_[at(e)];
      if (edge.free == 0 || level_[at(edge.to)] >= 0) continue;
      level_[at(edge.to)] = level_[at(queue[i])] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[at(sink)] >= 0;
}

std::int64_t FlowNetwork::augment(int source, int sink) {
  std::int64_t total = 0;
  std::vector<int> path;  // edges from the source to `node`
  int node = source;
  while (true) {
    if (node == sink) {
      std::int64_t amount = kUnlimited;
      for (const int e : path) amount = std::min(amount, edges_[at(e)].free);
      std::size_t keep = path.size();
      for (std::size_t i = path.size(); i-- > 0;) {
        edges_[at(path[i])].free -= amount;
        edges_[at(path[i] ^ 1)].free += amount;
        if (edges_[at(path[i])].free == 0) keep = i;
      }
      total += amount;
      path.resize(keep);
      node = path.empty() ? source : edges_[at(path.back())].to;
      continue;
    }
    auto& next = next_[at(node)];
    const auto& out = out_[at(node)];
    ++visits_;
    while (next < out.size()) {
      const Edge& edge = edges_[at(out[next])];
      if (edge.free > 0 && level_[at(edge.to)] == level_[at(node)] + 1) break;
      ++next;
    }
    if (next < out.size()) {
      path.push_back(out[next]);
      node = edges_[at(out[next])].to;
    } else if (path.empty()) {
      return total;
    } else {  // a dead end
      const int e = path.back();
      path.pop_back();
      node = edges_[at(e ^ 1)].to;
      ++next_[at(node)];
    }
  }
}

bool FlowNetwork::run(int source, int sink, std::int64_t max_visits) {
  while (find_levels(source, sink)) {
    if (visits_ > max_visits) return false;
    next_.assign(out_.size(), 0);
    flow_ += augment(source, sink);
  }
  return true;
}

std::vector<bool> FlowNetwork::sink_side(int sink) const {
  std::vector<bool> reaches(out_.size(), false);
  std::vector<int> queue{sink};
  reaches[at(sink)] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const int e : out_[at(queue[i])]) {  // the pair of e leads to this node
      const int from = edges_[at(e)].to;
      if (edges_[at(e ^ 1)].free == 0 || reaches[at(from)]) continue;
      reaches[at(from)] = true;
      queue.push_back(from);
    }
  }
  return reaches;
}

RegisterFlow::RegisterFlow(const Graph& graph, const std::vector<int>& earliest, int latency)
    : nodes_(graph.size()), latency_(latency), before_(at(std::max(1, latency)), std::vector<int>(at(graph.size()))) {
  network_.add_node();  // kSource
  network_.add_node();  // kSink
  const auto live = graph.live();
  std::vector<std::vector<int>> readers(at(nodes_));
  for (int v = 0; v < nodes_; ++v) {
    if (!live[at(v)]) continue;
    for (const auto a : graph.node({v}).args) readers[at(a.index)].push_back(v);
  }
  std::vector<bool> is_output(at(nodes_), false);
  for (const auto& port : graph.outputs()) is_output[at(port.node.index)] = true;
  const auto costs = [&](int v) { return live[at(v)] && graph.constant_value({v}) == nullptr; };
  for (int rank = 1; rank < latency; ++rank) {
    auto& id = before_[at(rank)];
    for (int v = 0; v < nodes_; ++v) {
      const bool leaf = !costs(v) || graph.node({v}).args.empty();
      id[at(v)] = leaf ? kSource : earliest[at(v)] >= rank ? kSink : network_.add_node();
    }
    for (int v = 0; v < nodes_; ++v) {
      if (!costs(v) || id[at(v)] == kSink) continue;
      for (const auto a : graph.node({v}).args) network_.add_edge(id[at(v)], id[at(a.index)], FlowNetwork::kUnlimited);
      if (rank > 1 && before(v, rank - 1) != kSink) {
        network_.add_edge(before(v, rank - 1), id[at(v)], FlowNetwork::kUnlimited);
      }
      const bool always = is_output[at(v)] || std::any_of(readers[at(v)].begin(), readers[at(v)].end(),
                                                          [&](int r) { return id[at(r)] == kSink; });
      if (always) {
        network_.add_edge(id[at(v)], kSink, graph.width({v}));
      } else if (!readers[at(v)].empty()) {
        const int read = network_.add_node();
        network_.add_edge(id[at(v)], read, graph.width({v}));
        for (const int r : readers[at(v)]) network_.add_edge(read, id[at(r)], FlowNetwork::kUnlimited);
      }
    }
  }
}

void RegisterFlow::separate(int u, int v) {
  if (latency_ < 2) return;
  network_.add_edge(before(v, 1), kSink, FlowNetwork::kUnlimited);
  network_.add_edge(kSource, before(u, latency_ - 1), FlowNetwork::kUnlimited);
  for (int rank = 1; rank + 1 < latency_; ++rank) {
    if (before(v, rank + 1) != kSink) {
      network_.add_edge(before(v, rank + 1), before(u, rank), FlowNetwork::kUnlimited);
    }
  }
}

std::optional<std::vector<int>> RegisterFlow::solve() {
  constexpr std::int64_t kMaxVisits = 20'000'000;
  if (!network_.run(kSource, kSink, kMaxVisits)) return std::nullopt;
  const auto behind = network_.sink_side(kSink);
  std::vector<int> stage(at(nodes_), 0);
  for (int rank = 1; rank < latency_; ++rank) {
    for (int v = 0; v < nodes_; ++v) stage[at(v)] += behind[at(before(v, rank))] ? 1 : 0;
  }
  return stage;
}

}  // namespace rocegen::dataflow
