#include "generator/dataflow/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "generator/dataflow/rebuild.h"
#include "generator/dataflow/register_flow.h"

namespace rocegen::dataflow {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }
std::size_t at(NodeId id) { return static_cast<std::size_t>(id.index); }

/// Levels of a node whose arguments are registers.
int own_levels(const Graph& graph, const Operator& op, std::span<const NodeId> args, const Attributes& attrs) {
  if (&op == &ops::input() || &op == &ops::constant()) return 0;
  std::vector<Arrival> fresh;
  std::vector<int> widths;
  for (const auto a : args) {
    fresh.push_back(graph.constant_value(a) != nullptr ? kConstant : kRegister);
    widths.push_back(graph.width(a));
  }
  return op.arrival(fresh, widths, attrs).level;
}

/// Every operator that takes more than one level alone becomes a tree of smaller ones. An operator may expand into
/// others that are too deep themselves (a product into a wide adder): those follow in the next round.
Graph expand(const Graph& graph, int budget) {
  constexpr int kMaxRounds = 4;
  Graph r = graph;
  for (int round = 0; round < kMaxRounds; ++round) {
    r = rebuild(r, [&](Graph& to, NodeId, const Node& n, const std::vector<NodeId>& args) {
      if (own_levels(to, *n.op, args, n.attrs) <= 1) return to.apply(*n.op, args, n.attrs);
      return n.op->expand(to, args, n.attrs, budget);
    });
    bool fits = true;
    const auto live = r.live();
    for (int i = 0; i < r.size() && fits; ++i) {
      const Node& n = r.node({i});
      fits = !live[at(i)] || own_levels(r, *n.op, n.args, n.attrs) <= budget;
    }
    if (fits) break;
  }
  return r;
}

/// A schedule under construction.
class Scheduler {
 public:
  Scheduler(const Graph& graph, const Options& options, int budget)
      : graph_(graph),
        options_(options),
        budget_(budget),
        stage_(at(graph.size()), 0),
        arrival_(at(graph.size())),
        readers_(at(graph.size())),
        is_output_(at(graph.size()), false),
        live_(graph.live()) {
    for (int i = 0; i < graph.size(); ++i) {
      if (!live_[at(i)]) continue;
      for (const auto a : unique_args(i)) readers_[at(a)].push_back(i);
    }
    for (const auto& port : graph.outputs()) is_output_[at(port.node)] = true;
  }

  /// Earliest stages. False when a node does not fit into a stage of its own.
  bool place_early() {
    for (int i = 0; i < graph_.size(); ++i) {
      if (!live_[at(i)]) continue;
      int stage = 0;
      for (const auto a : graph_.node({i}).args) stage = std::max(stage, stage_[at(a)]);
      Arrival arrival = arrival_in(i, stage);
      if (!options_.combinational && arrival.level > budget_) arrival = arrival_in(i, ++stage);
      if (!options_.combinational && arrival.level > budget_) return false;
      stage_[at(i)] = stage;
      arrival_[at(i)] = arrival;
    }
    latency_ = 0;
    if (!options_.combinational) latency_ = 1 + *std::max_element(stage_.begin(), stage_.end());
    return true;
  }

  /// The stages with the fewest register bits at this latency: a minimum cut, to which the delays are added as far as a
  /// cut breaks them. False when that takes too much work; what is placed is of no use then.
  bool place_minimal() {
    constexpr int kMaxVariables = 60'000;
    constexpr int kMaxRounds = 100;
    if (latency_ < 2 || graph_.size() * latency_ > kMaxVariables) return false;
    const std::vector<int> earliest = stage_;
    RegisterFlow flow(graph_, earliest, latency_);
    for (int round = 0; round < kMaxRounds; ++round) {
      auto stages = flow.solve();
      if (!stages) return false;
      stage_ = std::move(*stages);
      if (!separate_late_nodes(flow, earliest)) return true;
    }
    return false;
  }

  /// Moves nodes to later stages as long as that saves register bits (or costs none).
  void place_late() {
    constexpr int kMaxSweeps = 16;
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool saved = false;
      for (int i = graph_.size(); i-- > 0;) {
        if (!movable(i)) continue;
        for (int gain = move_gain(i); gain >= 0 && try_move(i); gain = move_gain(i)) saved = saved || gain > 0;
      }
      if (!saved) break;
    }
  }

  Schedule result() && {
    Schedule r;
    r.latency = latency_;
    r.stage = std::move(stage_);
    r.graph = graph_;
    return r;
  }

  int latency() const { return latency_; }

  const std::vector<int>& stages() const { return stage_; }

 private:
  std::vector<NodeId> unique_args(int i) const {
    std::vector<NodeId> r = graph_.node({i}).args;
    std::sort(r.begin(), r.end());
    r.erase(std::unique(r.begin(), r.end()), r.end());
    return r;
  }

  Arrival arrival_in(int i, int stage) const {
    const Node& n = graph_.node({i});
    if (n.op == &ops::constant()) return kConstant;
    if (n.op == &ops::input()) return {options_.input_levels, 1};
    std::vector<Arrival> args;
    std::vector<int> widths;
    args.reserve(n.args.size());
    widths.reserve(n.args.size());
    for (const auto a : n.args) {
      const bool constant = graph_.constant_value(a) != nullptr;
      args.push_back(constant ? kConstant : stage_[at(a)] == stage ? arrival_[at(a)] : kRegister);
      widths.push_back(graph_.width(a));
    }
    return n.op->arrival(args, widths, n.attrs);
  }

  /// Computes all arrivals; where a node is too deep, demands a register on the path that makes it so. Every such path
  /// has one in the earliest schedule, so that there is always a solution. True if there was a demand.
  bool separate_late_nodes(RegisterFlow& flow, const std::vector<int>& earliest) {
    bool demanded = false;
    std::vector<bool> late(at(graph_.size()), false);  // or behind a late node in its stage
    for (int i = 0; i < graph_.size(); ++i) {
      if (!live_[at(i)]) continue;
      const auto& args = graph_.node({i}).args;
      late[at(i)] = std::any_of(args.begin(), args.end(),
                                [&](NodeId a) { return late[at(a)] && stage_[at(a)] == stage_[at(i)]; });
      arrival_[at(i)] = arrival_in(i, stage_[at(i)]);
      if (late[at(i)] || arrival_[at(i)].level <= budget_) continue;
      late[at(i)] = true;
      demanded = true;
      flow.separate(source_of_delay(i, earliest), i);
    }
    return demanded;
  }

  /// The nearest node on the critical path to node i from which that path alone is too long; if it is so only together
  /// with others, the first node of the path, or of all that it depends on, that stands earlier in the earliest
  /// schedule.
  int source_of_delay(int i, const std::vector<int>& earliest) const {
    std::vector<int> path{i};
    while (true) {
      int latest_arg = -1;
      for (const auto a : graph_.node({path.back()}).args) {
        if (stage_[at(a)] != stage_[at(i)] || graph_.constant_value(a) != nullptr) continue;
        if (latest_arg < 0 || later(arrival_[at(a)], arrival_[at(latest_arg)]) != arrival_[at(latest_arg)]) {
          latest_arg = a.index;
        }
      }
      if (latest_arg < 0) break;
      path.push_back(latest_arg);
      if (path_level(path) > budget_) return latest_arg;
    }
    for (std::size_t k = path.size(); k-- > 1;) {
      if (earliest[at(path[k])] < earliest[at(i)]) return path[k];
    }
    std::vector<int> cone{i};
    std::set<int> seen;
    for (std::size_t k = 0; k < cone.size(); ++k) {
      for (const auto a : graph_.node({cone[k]}).args) {
        if (stage_[at(a)] != stage_[at(i)] || !movable(a.index) || !seen.insert(a.index).second) continue;
        if (earliest[at(a)] < earliest[at(i)]) return a.index;
        cone.push_back(a.index);
      }
    }
    throw std::logic_error(fmt::format("graph '{}': the earliest schedule is too deep", graph_.name()));
  }

  /// Level of path[0] when the path's last node reads registers and so does everything else.
  int path_level(const std::vector<int>& path) const {
    Arrival arrival = kRegister;
    for (std::size_t k = path.size(); k-- > 0;) {
      const Node& n = graph_.node({path[k]});
      std::vector<Arrival> args;
      std::vector<int> widths;
      for (const auto a : n.args) {
        const bool on_path = k + 1 < path.size() && a.index == path[k + 1];
        args.push_back(graph_.constant_value(a) != nullptr ? kConstant : on_path ? arrival : kRegister);
        widths.push_back(graph_.width(a));
      }
      arrival = n.op == &ops::input() ? Arrival{options_.input_levels, 1} : n.op->arrival(args, widths, n.attrs);
    }
    return arrival.level;
  }

  bool movable(int i) const {
    const Node& n = graph_.node({i});
    return live_[at(i)] && n.op != &ops::input() && n.op != &ops::constant();
  }

  /// Latest stage that reads node i, as if reader `moved` were one stage later.
  int last_use(int i, int moved = -1) const {
    int last = is_output_[at(i)] ? latency_ : stage_[at(i)];
    for (const int r : readers_[at(i)]) last = std::max(last, stage_[at(r)] + (r == moved ? 1 : 0));
    return last;
  }

  /// Register bits that a move of node i by one stage saves; -1 when it may not move.
  int move_gain(int i) const {
    const int next = stage_[at(i)] + 1;
    if (next >= latency_) return -1;
    for (const int r : readers_[at(i)]) {
      if (stage_[at(r)] < next) return -1;
    }
    int gain = graph_.width({i});
    for (const auto a : unique_args(i)) {
      if (graph_.constant_value(a) != nullptr) continue;
      gain -= graph_.width(a) * (last_use(a.index, i) - last_use(a.index));
    }
    return gain < 0 ? -1 : gain;
  }

  bool try_move(int i) {
    std::vector<std::pair<int, Arrival>> undo;
    const int stage = ++stage_[at(i)];
    std::set<int> work{i};
    bool fits = true;
    while (!work.empty() && fits) {
      const int n = *work.begin();
      work.erase(work.begin());
      const Arrival arrival = arrival_in(n, stage);
      fits = arrival.level <= budget_;
      if (arrival == arrival_[at(n)] && n != i) continue;
      undo.emplace_back(n, arrival_[at(n)]);
      arrival_[at(n)] = arrival;
      for (const int r : readers_[at(n)]) {
        if (stage_[at(r)] == stage) work.insert(r);
      }
    }
    if (fits) return true;
    --stage_[at(i)];
    for (auto it = undo.rbegin(); it != undo.rend(); ++it) arrival_[at(it->first)] = it->second;
    return false;
  }

  const Graph& graph_;
  const Options& options_;
  int budget_;
  int latency_ = 0;
  std::vector<int> stage_;
  std::vector<Arrival> arrival_;
  std::vector<std::vector<int>> readers_;
  std::vector<bool> is_output_;
  std::vector<bool> live_;
};

/// Lifetimes, register count and levels of a graph whose stages are known.
void measure(Schedule& s, const Options& options) {
  const Graph& g = s.graph;
  const auto live = g.live();
  s.last_use = s.stage;
  s.stage_levels.assign(at(std::max(1, s.latency)), 0);
  auto& arrival = s.arrival;
  arrival.assign(at(g.size()), kConstant);
  for (int i = 0; i < g.size(); ++i) {
    if (!live[at(i)]) continue;
    const Node& n = g.node({i});
    std::vector<Arrival> args;
    std::vector<int> widths;
    for (const auto a : n.args) {
      const bool constant = g.constant_value(a) != nullptr;
      args.push_back(constant ? kConstant : s.stage[at(a)] == s.stage[at(i)] ? arrival[at(a)] : kRegister);
      widths.push_back(g.width(a));
      s.last_use[at(a)] = std::max(s.last_use[at(a)], s.stage[at(i)]);
    }
    arrival[at(i)] = n.op == &ops::input() ? Arrival{options.input_levels, 1} : n.op->arrival(args, widths, n.attrs);
    auto& levels = s.stage_levels[at(s.stage[at(i)])];
    levels = std::max(levels, arrival[at(i)].level);
  }
  for (const auto& port : g.outputs()) s.last_use[at(port.node)] = s.latency;
  s.register_bits = 0;
  for (int i = 0; i < g.size(); ++i) {
    if (live[at(i)] && g.constant_value({i}) == nullptr) {
      s.register_bits += g.width({i}) * (s.last_use[at(i)] - s.stage[at(i)]);
    }
  }
}

/// Merges the trees that `expand` made where they ended up within one stage, so that they are written flat.
class Fuser {
 public:
  Fuser(const Schedule& old, const Options& options) : old_(old), options_(options), reads_(at(old.graph.size()), 0) {
    const auto live = old.graph.live();
    for (int i = 0; i < old.graph.size(); ++i) {
      if (!live[at(i)]) continue;
      for (const auto a : old.graph.node({i}).args) ++reads_[at(a)];
    }
    for (const auto& port : old.graph.outputs()) reads_[at(port.node)] += 2;
  }

  Schedule run() {
    result_.latency = old_.latency;
    result_.graph = rebuild(old_.graph, [this](Graph& to, NodeId id, const Node& n, const std::vector<NodeId>& args) {
      const int stage = old_.stage[at(id)];
      adopt(to, stage);
      NodeId made = merged(to, id, n, args);
      if (made.index < 0) made = to.apply(*n.op, args, n.attrs);
      adopt(to, stage);
      result_.stage[at(made)] = std::min(result_.stage[at(made)], stage);
      private_[at(made)] = reads_[at(id)] == 1;
      return made;
    });
    adopt(result_.graph, 0);
    measure(result_, options_);
    return std::move(result_);
  }

 private:
  struct Family {
    const Operator* nary;
    const Operator* reduce;
  };

  /// Gives nodes that have come into being a stage.
  void adopt(const Graph& to, int stage) {
    for (int i = static_cast<int>(result_.stage.size()); i < to.size(); ++i) {
      result_.stage.push_back(to.node({i}).args.empty() ? 0 : stage);
      private_.push_back(false);
    }
  }

  /// `n` with the arguments that nobody else reads taken apart: nested operators are flattened, masked reductions of
  /// one value become one mask. No node where that does not apply or would be deeper.
  NodeId merged(Graph& to, NodeId id, const Node& n, const std::vector<NodeId>& args) {
    constexpr std::size_t kMaxArgs = 6;  // what one LUT6 joins, whatever the arrival order
    const std::array families = {Family{&ops::xor_n(), &ops::xor_reduce()}, Family{&ops::or_n(), &ops::or_reduce()},
                                 Family{&ops::and_n(), &ops::and_reduce()}};
    const auto family =
        std::find_if(families.begin(), families.end(), [&n](const Family& f) { return f.nary == n.op; });
    if (family == families.end()) return {};
    const int stage = old_.stage[at(id)];
    const auto own = [&](NodeId a) { return private_[at(a)] && result_.stage[at(a)] == stage; };
    std::vector<NodeId> rest;
    std::map<NodeId, BitVec> masks;
    for (const auto a : args) {
      const bool nested = own(a) && to.node(a).op == family->nary;
      for (const auto part : nested ? std::vector<NodeId>(to.node(a).args) : std::vector<NodeId>{a}) {
        const Node& leaf = to.node(part);
        BitVec mask;
        if (own(part) && leaf.op == family->reduce) mask = leaf.attrs.bits;
        if (own(part) && leaf.op == &ops::slice() && leaf.width == 1) {
          mask = BitVec(to.width(leaf.args[0]));
          mask.set_bit(leaf.attrs.numbers[0], true);
        }
        if (mask.width() == 0) {
          rest.push_back(part);
          continue;
        }
        const auto [it, fresh] = masks.try_emplace(leaf.args[0], mask);
        if (!fresh) it->second = n.op == &ops::xor_n() ? it->second ^ mask : it->second | mask;
      }
    }
    if (masks.empty() || rest.size() + masks.size() > kMaxArgs) return {};
    // The delay of the merged form, before it is made.
    std::vector<Arrival> arrivals;
    for (const auto a : rest) arrivals.push_back(arrival_of(to, a, stage));
    for (const auto& [value, mask] : masks) {
      arrivals.push_back(
          family->reduce->arrival(std::array{arrival_of(to, value, stage)}, std::array{to.width(value)}, {{}, mask}));
    }
    const Arrival whole = arrivals.size() == 1 ? arrivals[0] : tree_arrival(arrivals);
    if (later(whole, old_.arrival[at(id)]) != old_.arrival[at(id)]) return {};
    for (const auto& [value, mask] : masks) rest.push_back(to.apply(*family->reduce, std::array{value}, {{}, mask}));
    return to.apply(*n.op, rest);
  }

  /// Arrival of a node of the new graph, computed on demand: stages of what is already there never change upwards.
  Arrival arrival_of(const Graph& to, NodeId id, int stage) {
    const Node& n = to.node(id);
    if (n.op == &ops::constant()) return kConstant;
    if (result_.stage[at(id)] != stage) return kRegister;
    if (n.op == &ops::input()) return {options_.input_levels, 1};
    const auto known = arrivals_.find(id);
    if (known != arrivals_.end()) return known->second;
    std::vector<Arrival> args;
    std::vector<int> widths;
    for (const auto a : n.args) {
      args.push_back(arrival_of(to, a, stage));
      widths.push_back(to.width(a));
    }
    return arrivals_[id] = n.op->arrival(args, widths, n.attrs);
  }

  const Schedule& old_;
  const Options& options_;
  std::vector<int> reads_;  // of the old graph
  Schedule result_;
  std::vector<bool> private_;  // of the new graph: one reader only, which may take the node apart
  std::map<NodeId, Arrival> arrivals_;
};

}  // namespace

int Schedule::levels() const { return *std::max_element(stage_levels.begin(), stage_levels.end()); }

Schedule schedule(const Graph& graph, const Options& options) {
  if (graph.outputs().empty()) throw std::invalid_argument(fmt::format("graph '{}' has no output", graph.name()));
  if (options.level_budget < 1) throw std::invalid_argument("the level budget must be at least 1");
  if (options.input_levels < 0 || (!options.combinational && options.input_levels >= options.level_budget)) {
    throw std::invalid_argument("input_levels must be below the level budget");
  }
  if (!options.clock_ports && !options.combinational) {
    throw std::invalid_argument(fmt::format("graph '{}': a pipeline needs its clock ports", graph.name()));
  }

  const auto copy = [](Graph& to, NodeId, const Node& n, const std::vector<NodeId>& args) {
    return to.apply(*n.op, args, n.attrs);
  };
  const Graph flat = rebuild(graph, copy);
  Scheduler whole(flat, options, options.level_budget);
  if (whole.place_early() && whole.latency() <= 1) {
    Schedule r = std::move(whole).result();
    measure(r, options);
    return r;
  }

  const auto fits = [&](int budget, const Graph& expanded) {
    Scheduler s(expanded, options, budget);
    return s.place_early() ? s.latency() : 0;
  };
  int budget = options.level_budget;
  Graph expanded = expand(graph, budget);
  const int latency = fits(budget, expanded);
  if (latency == 0) {
    throw std::logic_error(fmt::format("graph '{}' cannot be cut at {} levels", graph.name(), budget));
  }
  while (budget > std::max(1, options.input_levels + 1)) {
    Graph candidate = expand(graph, budget - 1);
    if (fits(budget - 1, candidate) != latency) break;
    expanded = std::move(candidate);
    --budget;
  }
  Scheduler s(expanded, options, budget);
  s.place_early();
  Scheduler minimal = s;
  s.place_late();
  Schedule r = std::move(s).result();
  measure(r, options);
  if (minimal.place_minimal()) {
    Schedule fewest = std::move(minimal).result();
    measure(fewest, options);
    if (fewest.register_bits < r.register_bits) r = std::move(fewest);
  }
  Schedule fused = Fuser(r, options).run();
  const bool better = fused.levels() <= std::max(r.levels(), budget) && fused.register_bits <= r.register_bits;
  return better ? fused : r;
}

void check_schedule(const Schedule& s, const Options& options) {
  const Graph& g = s.graph;
  const auto live = g.live();
  if (options.combinational != (s.latency == 0)) throw std::logic_error("latency 0 means combinational");
  for (int i = 0; i < g.size(); ++i) {
    if (!live[at(i)]) continue;
    const int stage = s.stage[at(i)];
    if (stage < 0 || stage > std::max(0, s.latency - 1)) {
      throw std::logic_error(fmt::format("node {} in stage {} of {}", i, stage, s.latency));
    }
    if (g.node({i}).args.empty() && stage != 0) throw std::logic_error(fmt::format("leaf {} in stage {}", i, stage));
    for (const auto a : g.node({i}).args) {
      if (s.stage[at(a)] > stage) throw std::logic_error(fmt::format("node {} reads the later node {}", i, a.index));
    }
  }
  Schedule again = s;
  measure(again, options);
  if (again.register_bits != s.register_bits || again.stage_levels != s.stage_levels || again.last_use != s.last_use) {
    throw std::logic_error("recorded figures differ from the graph");
  }
  if (!options.combinational && s.levels() > options.level_budget) {
    throw std::logic_error(fmt::format("{} levels in a stage, allowed are {}", s.levels(), options.level_budget));
  }
}

int level_budget(int pipeline_depth, double clock_mhz) {
  constexpr std::array kDepthLevels = {24, 10, 8, 6, 5};
  if (pipeline_depth < 0 || pipeline_depth > 4) {
    throw std::invalid_argument(fmt::format("pipeline_depth {} is not 0 to 4", pipeline_depth));
  }
  if (!(clock_mhz > 0)) throw std::invalid_argument("the clock must be positive");
  const int by_depth = kDepthLevels[at(pipeline_depth)];
  if (pipeline_depth == 0) return by_depth;
  const double by_clock = std::floor((1000.0 / clock_mhz - 0.4) / 0.45);
  return std::min(by_depth, static_cast<int>(std::clamp(by_clock, 2.0, 64.0)));
}

}  // namespace rocegen::dataflow
