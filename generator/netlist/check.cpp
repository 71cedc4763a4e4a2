#include "generator/netlist/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "generator/netlist/lookup.h"

namespace rocegen::netlist {

namespace {

class Checker {
 public:
  Checker(const Module& module, Diagnostics& diagnostics) : module_(module), diagnostics_(diagnostics) {}

  void structure() {
    instances();
    for (const StreamConnection& c : module_.stream_connections) stream_structure(c);
    for (const PinConnection& c : module_.pin_connections) pin_structure(c);
    for (const Net& net : module_.nets) net_structure(net);
    for (const Open& open : module_.opens) open_structure(open);
    driven_once();
  }

  void payloads(bool adapters_to_come) {
    for (const StreamConnection& c : module_.stream_connections) payload(c, adapters_to_come);
  }

  void domains() {
    for (const StreamConnection& c : module_.stream_connections) {
      const auto source = stream_at(module_, c.source);
      const auto sink = stream_at(module_, c.sink);
      if (!source || !sink || !source->domain || !sink->domain || *source->domain == *sink->domain) continue;
      fault("E0328", c.origin,
            fmt::format("{} is in clock domain {}, {} in {}", module_.describe(c.source), shown(*source->domain),
                        module_.describe(c.sink), shown(*sink->domain)))
          .help("a stream_cdc has to stand between them: run the pass `crossing`");
    }
    for (const PinConnection& c : module_.pin_connections) {
      if (!c.quasi_static.empty()) continue;
      const auto sink = pin_at(module_, c.sink);
      if (!sink || !sink->domain) continue;
      for (const std::string& domain : driver_domains(c.driver, 0)) {
        if (domain == *sink->domain) continue;
        fault("E0329", c.origin,
              fmt::format("{} is in clock domain {}, {} in {}", module_.describe(c.driver), shown(domain),
                          module_.describe(c.sink), shown(*sink->domain)))
            .help("put a synchroniser between them, or say why the signal does not change: {.quasi_static = \"...\"}");
      }
    }
  }

  void completeness() {
    streams_connected();
    pins_connected();
    domains_used();
  }

  void loops();

 private:
  spec::Diagnostic& fault(std::string_view code, const Origin& origin, std::string message) {
    spec::Diagnostic& d = diagnostics_.error(code, place_of(module_), std::move(message));
    if (!origin.text.empty()) d.note(fmt::format("connected by {}", origin.text));
    return d;
  }
  static std::string shown(const std::string& domain) { return domain.empty() ? "clk" : "clk_" + domain; }

  // ---- structure ----
  void instances() {
    std::set<std::string> names;
    for (const Instance& instance : module_.instances) {
      if (!names.insert(instance.name).second) {
        fault("E0320", instance.origin, fmt::format("two instances are called '{}'", instance.name));
      }
      for (const auto& [clock, domain] : instance.domains) {
        if (std::none_of(module_.domains.begin(), module_.domains.end(),
                         [&, d = domain](const Domain& x) { return x.name == d; })) {
          fault("E0320", instance.origin,
                fmt::format("'{}' is in clock domain '{}', which is not declared", instance.name, domain));
        }
      }
    }
  }

  void stream_structure(const StreamConnection& c) {
    const auto source = stream_at(module_, c.source);
    const auto sink = stream_at(module_, c.sink);
    for (const auto& [ref, end] : {std::pair(&c.source, &source), std::pair(&c.sink, &sink)}) {
      if (!end->has_value()) fault("E0320", c.origin, fmt::format("{} does not exist", module_.describe(*ref)));
    }
    if (!source || !sink) return;
    if (!source->gives)
      fault("E0321", c.origin, fmt::format("{} takes a stream but is used as a source", module_.describe(c.source)));
    if (sink->gives)
      fault("E0321", c.origin, fmt::format("{} gives a stream but is used as a sink", module_.describe(c.sink)));
    for (const FieldMap& one : c.map) {
      if (sink->stream.field(one.field) == nullptr) {
        fault("E0320", c.origin, fmt::format("{} has no field '{}'", module_.describe(c.sink), one.field));
      }
      for (const Piece& piece : one.pieces) {
        if (piece.field.empty()) continue;
        const Field* from = source->stream.field(piece.field);
        if (from == nullptr || piece.lsb < 0 || piece.width < 1 || piece.lsb + piece.width > from->width) {
          fault("E0320", c.origin,
                fmt::format("{} has no bits {}..{} of '{}'", module_.describe(c.source), piece.lsb,
                            piece.lsb + piece.width - 1, piece.field));
        }
      }
    }
  }

  // Reports; true when the reference is sound.
  bool pin_sound(const PinRef& ref, bool drives, const Origin& origin) {
    const auto end = pin_at(module_, ref);
    if (!end) {
      fault("E0320", origin, fmt::format("{} does not exist", module_.describe(ref)));
      return false;
    }
    if (drives ? !end->can_drive : !end->can_be_driven) {
      fault("E0321", origin,
            fmt::format("{} cannot {}", module_.describe(ref), drives ? "drive anything" : "be driven"));
      return false;
    }
    if (ref.kind != PinRef::Kind::constant && (ref.lsb < 0 || ref.width < 1 || ref.lsb + ref.width > end->width)) {
      fault("E0320", origin, fmt::format("{} is outside its {} bits", module_.describe(ref), end->width));
      return false;
    }
    return true;
  }

  void pin_structure(const PinConnection& c) {
    const bool driver = pin_sound(c.driver, true, c.origin);
    const bool sink = pin_sound(c.sink, false, c.origin);
    if (driver && sink && c.driver.width != c.sink.width) {
      fault("E0322", c.origin,
            fmt::format("{} is {} bits wide, {} is {}", module_.describe(c.driver), c.driver.width,
                        module_.describe(c.sink), c.sink.width));
    }
  }

  void net_structure(const Net& net) {
    if (net.width < 1) fault("E0320", net.origin, fmt::format("net '{}' is {} bits wide", net.name, net.width));
    for (const PinRef& operand : net.operands) pin_sound(operand, true, net.origin);
    if (net.reduce != Reduce::none && net.operands.empty()) {
      fault("E0320", net.origin, fmt::format("net '{}' reduces nothing", net.name));
    }
  }

  void open_structure(const Open& open) {
    if (!open.is_stream) {
      pin_sound(open.pin, true, open.origin);
    } else if (!stream_at(module_, open.stream)) {
      fault("E0320", open.origin, fmt::format("{} does not exist", module_.describe(open.stream)));
    }
  }

  void driven_once() {
    std::map<std::tuple<int, std::string, int>, const StreamConnection*> ends;
    for (const StreamConnection& c : module_.stream_connections) {
      for (const StreamRef* ref : {&c.source, &c.sink}) {
        const auto [it, fresh] = ends.emplace(std::tuple(ref->instance, ref->stream, ref->lane), &c);
        if (fresh) continue;
        const bool drives = ref == &c.source;
        spec::Diagnostic& d = fault(drives ? "E0324" : "E0323", c.origin,
                                    fmt::format("{} is {} twice", module_.describe(*ref), drives ? "read" : "driven"));
        d.note(fmt::format("first {} {}, connected by {}", drives ? "by" : "from",
                           module_.describe(drives ? it->second->sink : it->second->source), it->second->origin.text));
        if (drives) d.help("put a stream_fork between them");
      }
    }
    for (const Open& open : module_.opens) {
      if (!open.is_stream) continue;
      const auto it = ends.find(std::tuple(open.stream.instance, open.stream.stream, open.stream.lane));
      if (it != ends.end()) {
        fault("E0324", open.origin, fmt::format("{} is left open and connected", module_.describe(open.stream)))
            .note(fmt::format("connected by {}", it->second->origin.text));
      }
    }
    std::map<std::tuple<int, int, std::string>, std::vector<const PinConnection*>> pins;
    for (const PinConnection& c : module_.pin_connections) {
      auto& others = pins[{static_cast<int>(c.sink.kind), c.sink.instance, c.sink.name}];
      for (const PinConnection* other : others) {
        if (c.sink.lsb < other->sink.lsb + other->sink.width && other->sink.lsb < c.sink.lsb + c.sink.width) {
          fault("E0323", c.origin, fmt::format("{} is driven twice", module_.describe(c.sink)))
              .note(fmt::format("first from {}, connected by {}", module_.describe(other->driver), other->origin.text));
          break;
        }
      }
      others.push_back(&c);
    }
  }

  // ---- payload ----
  void payload(const StreamConnection& c, bool adapters_to_come) {
    const auto source = stream_at(module_, c.source);
    const auto sink = stream_at(module_, c.sink);
    if (!source || !sink) return;
    const Stream& from = source->stream;
    const Stream& to = sink->stream;
    const std::string ends = fmt::format("{} ({}) and {} ({})", module_.describe(c.source), from.describe(),
                                         module_.describe(c.sink), to.describe());
    if (!from.has_ready && to.has_ready) {
      fault("E0325", c.origin,
            fmt::format("{} cannot wait but {} may make it", module_.describe(c.source), module_.describe(c.sink)));
    }
    if (adapters_to_come && width_differs(c, from, to)) {
      records(c, from, to);
      return;
    }
    const PayloadMap map = effective_map(c, from, to);
    for (const Field& field : to.fields) {
      const auto one = std::find_if(map.begin(), map.end(), [&](const FieldMap& f) { return f.field == field.name; });
      if (one == map.end()) {
        fault("E0325", c.origin,
              fmt::format("{} has no '{}' for {}", module_.describe(c.source), field.name, module_.describe(c.sink)))
            .note(ends)
            .help(fmt::format("tie it to zero with .zero = {{\"{}\"}}, or say what it is with .map", field.name));
        continue;
      }
      int width = 0;
      for (const Piece& piece : one->pieces)
        width += piece.field.empty() && piece.width == 0 ? field.width : piece.width;
      if (width != field.width) {
        fault("E0326", c.origin,
              fmt::format("{} is {} bits wide, {} of {} is {}", field.name, width, field.name, module_.describe(c.sink),
                          field.width))
            .note(ends);
      }
    }
    for (const Field& field : from.fields) {
      if (std::find(c.dropped.begin(), c.dropped.end(), field.name) != c.dropped.end()) continue;
      std::vector<bool> read(static_cast<std::size_t>(field.width), false);
      for (const FieldMap& one : map) {
        for (const Piece& piece : one.pieces) {
          if (piece.field != field.name) continue;
          for (int bit = std::max(0, piece.lsb); bit < std::min(field.width, piece.lsb + piece.width); ++bit) {
            read[static_cast<std::size_t>(bit)] = true;
          }
        }
      }
      const auto unread = std::count(read.begin(), read.end(), false);
      if (unread == 0) continue;
      fault("E0325", c.origin,
            unread == field.width ? fmt::format("'{}' of {} is not read by {}", field.name, module_.describe(c.source),
                                                module_.describe(c.sink))
                                  : fmt::format("{} of {} bits of '{}' of {} are not read by {}", unread, field.width,
                                                field.name, module_.describe(c.source), module_.describe(c.sink)))
          .note(ends)
          .help(fmt::format("if that is meant, say so with .drop = {{\"{}\"}}", field.name));
    }
    records(c, from, to);
  }

  // Whole fields that are handed on must be the same record.
  void records(const StreamConnection& c, const Stream& from, const Stream& to) {
    for (const FieldMap& one : effective_map(c, from, to)) {
      const Field* field = to.field(one.field);
      if (one.pieces.size() != 1 || field == nullptr || field->record.empty()) continue;
      const Field* source_field = from.field(one.pieces.front().field);
      if (source_field == nullptr || source_field->record.empty() || source_field->width != one.pieces.front().width)
        continue;
      if (source_field->record == field->record) continue;
      fault("E0327", c.origin,
            fmt::format("{} of {} is {}, {} takes {}", source_field->name, module_.describe(c.source),
                        source_field->record, module_.describe(c.sink), field->record));
    }
  }

  // ---- domains ----
  std::set<std::string> driver_domains(const PinRef& ref, int depth) const {
    std::set<std::string> result;
    if (ref.kind != PinRef::Kind::net) {
      const auto end = pin_at(module_, ref);
      if (end && end->domain) result.insert(*end->domain);
      return result;
    }
    if (depth > 32) return result;
    for (const Net& net : module_.nets) {
      if (net.name != ref.name) continue;
      for (const PinRef& operand : net.operands) result.merge(driver_domains(operand, depth + 1));
    }
    for (const PinConnection& c : module_.pin_connections) {
      if (c.sink.kind == PinRef::Kind::net && c.sink.name == ref.name && c.quasi_static.empty()) {
        result.merge(driver_domains(c.driver, depth + 1));
      }
    }
    return result;
  }

  // ---- completeness ----
  void streams_connected() {
    std::set<std::tuple<int, std::string, int>> used;
    for (const StreamConnection& c : module_.stream_connections) {
      used.emplace(c.source.instance, c.source.stream, c.source.lane);
      used.emplace(c.sink.instance, c.sink.stream, c.sink.lane);
    }
    for (const Open& open : module_.opens) {
      if (open.is_stream) used.emplace(open.stream.instance, open.stream.stream, open.stream.lane);
    }
    const auto check = [&](const StreamRef& ref, bool gives, const Origin& origin) {
      if (used.contains(std::tuple(ref.instance, ref.stream, ref.lane))) return;
      spec::Diagnostic& d =
          diagnostics_.error(gives ? "E0331" : "E0330", place_of(module_),
                             fmt::format("stream {} is not {}", module_.describe(ref), gives ? "read" : "driven"));
      if (!origin.text.empty()) d.note(fmt::format("instance made by {}", origin.text));
      d.help("connect it, or say with leave_open why it is not");
    };
    for (std::size_t i = 0; i < module_.instances.size(); ++i) {
      for (const Stream& stream : module_.instances[i].interface.streams) {
        for (int lane = 0; lane < stream.lanes; ++lane) {
          check({static_cast<int>(i), stream.name, stream.array ? lane : kWholeStream}, stream.role == Role::source,
                module_.instances[i].origin);
        }
      }
    }
    for (const ModuleStream& stream : module_.streams)
      check({kTop, stream.name, kWholeStream}, stream.role == Role::sink, {});
  }

  // Bits as text: "[3], [7:5]"; empty when there are none.
  static std::string missing_bits(const std::vector<bool>& there) {
    if (std::find(there.begin(), there.end(), true) == there.end() && there.size() > 1) {
      return fmt::format("[{}:0]", there.size() - 1);
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < there.size();) {
      if (there[i]) {
        ++i;
        continue;
      }
      std::size_t j = i;
      while (j + 1 < there.size() && !there[j + 1]) ++j;
      parts.push_back(i == j ? fmt::format("[{}]", i) : fmt::format("[{}:{}]", j, i));
      i = j + 1;
    }
    if (there.size() == 1 && !parts.empty()) return " ";
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  void pins_connected() {
    using Key = std::tuple<int, int, std::string>;
    std::map<Key, std::vector<bool>> driven;
    std::map<Key, std::vector<bool>> read;
    const auto mark = [&](std::map<Key, std::vector<bool>>& bits, const PinRef& ref) {
      const auto end = pin_at(module_, ref);
      if (!end || ref.kind == PinRef::Kind::constant) return;
      auto& list = bits[{static_cast<int>(ref.kind), ref.instance, ref.name}];
      list.resize(static_cast<std::size_t>(end->width), false);
      for (int bit = ref.lsb; bit < std::min(end->width, ref.lsb + ref.width); ++bit)
        list[static_cast<std::size_t>(bit)] = true;
    };
    for (const PinConnection& c : module_.pin_connections) {
      mark(read, c.driver);
      mark(driven, c.sink);
    }
    for (const Net& net : module_.nets) {
      for (const PinRef& operand : net.operands) mark(read, operand);
    }
    for (const Open& open : module_.opens) {
      if (!open.is_stream) mark(read, open.pin);
    }
    const auto check = [&](const PinRef& ref, int width, bool must_be_driven, const Origin& origin) {
      auto& bits = (must_be_driven ? driven : read)[{static_cast<int>(ref.kind), ref.instance, ref.name}];
      bits.resize(static_cast<std::size_t>(width), false);
      std::string missing = missing_bits(bits);
      if (missing.empty()) return;
      if (missing == " ") missing.clear();
      spec::Diagnostic& d = diagnostics_.error(
          must_be_driven ? "E0332" : "E0333", place_of(module_),
          fmt::format("{}{} is not {}", module_.describe(ref), missing, must_be_driven ? "driven" : "read"));
      if (!origin.text.empty()) d.note(fmt::format("made by {}", origin.text));
      d.help(must_be_driven ? "connect it, or tie it to a constant"
                            : "connect it, or say with leave_open why it is not");
    };
    for (std::size_t i = 0; i < module_.instances.size(); ++i) {
      const Instance& instance = module_.instances[i];
      for (const Port& port : instance.interface.ports) {
        if (!instance.interface.is_plain(port.name)) continue;
        check(InstanceHandle(static_cast<int>(i)).pin(port.name), port.width, port.direction == Direction::input,
              instance.origin);
      }
    }
    for (const ModulePort& port : module_.ports) {
      check({PinRef::Kind::port, kTop, port.name, 0, 0, 0}, port.width, port.direction == Direction::output, {});
    }
    for (const Net& net : module_.nets) {
      const PinRef ref{PinRef::Kind::net, kTop, net.name, 0, 0, 0};
      if (net.reduce == Reduce::none) check(ref, net.width, true, net.origin);
      check(ref, net.width, false, net.origin);
    }
  }

  void domains_used() {
    for (const Domain& domain : module_.domains) {
      if (domain.name.empty()) continue;
      const bool used = std::any_of(module_.instances.begin(), module_.instances.end(), [&](const Instance& instance) {
        return std::any_of(instance.domains.begin(), instance.domains.end(),
                           [&](const auto& d) { return d.second == domain.name; });
      });
      if (!used) {
        diagnostics_.error("E0333", place_of(module_), fmt::format("clock domain '{}' has no instance", domain.name));
      }
    }
  }

  const Module& module_;
  Diagnostics& diagnostics_;
};

// ---- combinational loops ------------------------------------------------------------------------------------------

struct Edge {
  int to;
  bool known;
};

// Strongly connected components of more than one node or with an edge to itself, each sorted, in order of least node.
std::vector<std::vector<int>> cycles_of(const std::vector<std::vector<Edge>>& graph, bool known_only) {
  const std::size_t count = graph.size();
  std::vector<int> index(count, -1);
  std::vector<int> low(count, 0);
  std::vector<bool> on_stack(count, false);
  std::vector<int> stack;
  std::vector<std::vector<int>> result;
  int next = 0;
  // Tarjan, iterative: (node, next edge).
  for (std::size_t start = 0; start < count; ++start) {
    if (index[start] >= 0) continue;
    std::vector<std::pair<int, std::size_t>> work{{static_cast<int>(start), 0}};
    while (!work.empty()) {
      const int node = work.back().first;
      const auto n = static_cast<std::size_t>(node);
      if (work.back().second == 0) {
        index[n] = low[n] = next++;
        stack.push_back(node);
        on_stack[n] = true;
      }
      bool descended = false;
      while (work.back().second < graph[n].size()) {
        const Edge& edge = graph[n][work.back().second++];
        if (known_only && !edge.known) continue;
        const auto t = static_cast<std::size_t>(edge.to);
        if (index[t] < 0) {
          work.emplace_back(edge.to, 0);
          descended = true;
          break;
        }
        if (on_stack[t]) low[n] = std::min(low[n], index[t]);
      }
      if (descended) continue;
      if (low[n] == index[n]) {
        std::vector<int> component;
        int member = -1;
        do {
          member = stack.back();
          stack.pop_back();
          on_stack[static_cast<std::size_t>(member)] = false;
          component.push_back(member);
        } while (member != node);
        const bool self = std::any_of(graph[n].begin(), graph[n].end(),
                                      [&](const Edge& e) { return e.to == node && (e.known || !known_only); });
        if (component.size() > 1 || self) {
          std::sort(component.begin(), component.end());
          result.push_back(std::move(component));
        }
      }
      work.pop_back();
      if (!work.empty()) {
        const auto parent = static_cast<std::size_t>(work.back().first);
        low[parent] = std::min(low[parent], low[n]);
      }
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

// A shortest cycle through the first node of a component.
std::vector<int> one_cycle(const std::vector<std::vector<Edge>>& graph, const std::vector<int>& component,
                           bool known_only) {
  const int start = component.front();
  std::map<int, int> parent;
  std::vector<int> queue{start};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Edge& edge : graph[static_cast<std::size_t>(queue[i])]) {
      if (known_only && !edge.known) continue;
      if (!std::binary_search(component.begin(), component.end(), edge.to)) continue;
      if (edge.to == start) {
        std::vector<int> path;
        for (int node = queue[i]; node != start; node = parent[node]) path.push_back(node);
        path.push_back(start);
        std::reverse(path.begin(), path.end());
        return path;
      }
      if (parent.emplace(edge.to, queue[i]).second) queue.push_back(edge.to);
    }
  }
  return component;
}

void Checker::loops() {
  // Nodes: a signal of an instance, the lanes of an array taken together.
  std::vector<std::pair<int, std::string>> nodes;
  std::map<std::pair<int, std::string>, int> numbers;
  std::vector<std::vector<Edge>> graph;
  const auto node = [&](int instance, const std::string& signal) {
    const auto [it, fresh] = numbers.emplace(std::pair(instance, signal), static_cast<int>(nodes.size()));
    if (fresh) {
      nodes.emplace_back(instance, signal);
      graph.emplace_back();
    }
    return it->second;
  };
  // Signals as (instance, name); numbered from before to, so that the order does not depend on the compiler.
  const auto edge = [&](int from_instance, const std::string& from, int to_instance, const std::string& to,
                        bool known) {
    const int source = node(from_instance, from);
    const int target = node(to_instance, to);
    graph[static_cast<std::size_t>(source)].push_back({target, known});
  };

  for (std::size_t i = 0; i < module_.instances.size(); ++i) {
    const Interface& interface = module_.instances[i].interface;
    const int at = static_cast<int>(i);
    // Everything that comes in and goes out: tvalid stands for the payload too.
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    for (const Stream& stream : interface.streams) {
      const bool sink = stream.role == Role::sink;
      (sink ? inputs : outputs).push_back(stream.name + ".tvalid");
      if (stream.has_ready) (sink ? outputs : inputs).push_back(stream.name + ".tready");
    }
    if (!interface.comb) {
      for (const Stream& in : interface.streams) {
        for (const Stream& out : interface.streams) {
          if (in.role == Role::sink && out.role == Role::source) {
            edge(at, in.name + ".tvalid", at, out.name + ".tvalid", false);
            if (in.has_ready && out.has_ready) edge(at, out.name + ".tready", at, in.name + ".tready", false);
          }
          if (in.role == Role::sink && out.role == Role::sink && out.has_ready) {
            edge(at, in.name + ".tvalid", at, out.name + ".tready", false);
          }
        }
      }
      continue;
    }
    for (const Port& port : interface.ports) {
      if (interface.is_plain(port.name)) (port.direction == Direction::input ? inputs : outputs).push_back(port.name);
    }
    for (const CombPath& path : *interface.comb) {
      const auto normal = [](std::string text) {
        for (const std::string_view field : {".tdata", ".tkeep", ".tlast", ".tuser"}) {
          if (text.ends_with(field)) return text.substr(0, text.size() - field.size()) + ".tvalid";
        }
        return text;
      };
      bool any = false;
      for (const std::string& from : inputs) {
        if (!glob_match(normal(path.from), from)) continue;
        for (const std::string& to : outputs) {
          if (!glob_match(normal(path.to), to)) continue;
          edge(at, from, at, to, true);
          any = true;
        }
      }
      if (!any) {
        diagnostics_.error("E0303", interface.place,
                           fmt::format("'rocegen: comb {}<-{}' names no output and input of '{}'", path.to, path.from,
                                       interface.module));
      }
    }
  }
  for (const StreamConnection& c : module_.stream_connections) {
    if (c.source.instance == kTop || c.sink.instance == kTop) continue;
    edge(c.source.instance, c.source.stream + ".tvalid", c.sink.instance, c.sink.stream + ".tvalid", true);
    edge(c.sink.instance, c.sink.stream + ".tready", c.source.instance, c.source.stream + ".tready", true);
  }
  const auto owner = [](const PinRef& ref) { return ref.kind == PinRef::Kind::net ? kTop : ref.instance; };
  const auto is_signal = [](const PinRef& ref) {
    return ref.kind == PinRef::Kind::net || (ref.kind == PinRef::Kind::instance && ref.instance >= 0);
  };
  for (const PinConnection& c : module_.pin_connections) {
    if (is_signal(c.driver) && is_signal(c.sink))
      edge(owner(c.driver), c.driver.name, owner(c.sink), c.sink.name, true);
  }
  for (const Net& net : module_.nets) {
    for (const PinRef& operand : net.operands) {
      if (is_signal(operand)) edge(owner(operand), operand.name, kTop, net.name, true);
    }
  }

  const auto name = [&](int n) {
    const auto& [instance, signal] = nodes[static_cast<std::size_t>(n)];
    return instance == kTop ? "net " + signal
                            : fmt::format("{}.{}", module_.instances[static_cast<std::size_t>(instance)].name, signal);
  };
  const auto path_text = [&](const std::vector<int>& cycle) {
    std::string text;
    for (const int n : cycle) text += name(n) + " -> ";
    return text + name(cycle.front());
  };
  const auto certain = cycles_of(graph, true);
  for (const std::vector<int>& component : certain) {
    const std::vector<int> cycle = one_cycle(graph, component, true);
    diagnostics_.error("E0334", place_of(module_), "combinational loop of valid or ready without a register")
        .note(path_text(cycle))
        .help("put a stream_skid into one of these connections");
  }
  for (const std::vector<int>& component : cycles_of(graph, false)) {
    const bool reported = std::any_of(certain.begin(), certain.end(), [&](const std::vector<int>& c) {
      return std::binary_search(component.begin(), component.end(), c.front());
    });
    if (reported) continue;
    std::set<std::string> silent;
    for (const int n : component) {
      const int instance = nodes[static_cast<std::size_t>(n)].first;
      if (instance == kTop) continue;
      const Interface& interface = module_.instances[static_cast<std::size_t>(instance)].interface;
      if (!interface.comb) silent.insert(interface.module);
    }
    diagnostics_.warning("W0301", place_of(module_), "a combinational loop of valid or ready cannot be excluded")
        .note(path_text(one_cycle(graph, component, false)))
        .help(fmt::format("add the comment `// rocegen: comb ...` to {}", fmt::join(silent, ", ")));
  }
}

}  // namespace

bool width_differs(const StreamConnection& connection, const Stream& source, const Stream& sink) {
  const Field* from = source.field("tdata");
  const Field* to = sink.field("tdata");
  if (from == nullptr || to == nullptr || from->width == to->width) return false;
  for (const Stream* stream : {&source, &sink}) {
    if (stream->field("tkeep") == nullptr || stream->field("tlast") == nullptr) return false;
  }
  const PayloadMap map = effective_map(connection, source, sink);
  for (const std::string_view field : {"tdata", "tkeep", "tlast"}) {
    const auto one = std::find_if(map.begin(), map.end(), [&](const FieldMap& f) { return f.field == field; });
    if (one == map.end() || one->pieces.size() != 1) return false;
    const Piece& piece = one->pieces.front();
    if (piece.field != field || piece.lsb != 0 || piece.width != source.field(field)->width) return false;
  }
  return true;
}

void check_structure(const Design& design, Diagnostics& diagnostics) {
  for (const Module& module : design.modules) Checker(module, diagnostics).structure();
}

void check_payloads(const Design& design, bool adapters_to_come, Diagnostics& diagnostics) {
  for (const Module& module : design.modules) Checker(module, diagnostics).payloads(adapters_to_come);
}

void check_domains(const Design& design, Diagnostics& diagnostics) {
  for (const Module& module : design.modules) Checker(module, diagnostics).domains();
}

void check_completeness(const Design& design, Diagnostics& diagnostics) {
  for (const Module& module : design.modules) Checker(module, diagnostics).completeness();
}

void check_loops(const Design& design, Diagnostics& diagnostics) {
  for (const Module& module : design.modules) Checker(module, diagnostics).loops();
}

void check_pass(Design& design, const Library& /*library*/, Diagnostics& diagnostics) {
  check_payloads(design, false, diagnostics);
  check_domains(design, diagnostics);
  check_completeness(design, diagnostics);
  check_loops(design, diagnostics);
}

}  // namespace rocegen::netlist
