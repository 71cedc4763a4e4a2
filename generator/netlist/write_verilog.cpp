#include "generator/netlist/write_verilog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "generator/netlist/lookup.h"

namespace rocegen::netlist {

namespace {

constexpr std::size_t kColumns = 100;

// A part of an expression: bits of a wire, or a constant.
struct Part {
  std::string wire;  // empty: constant
  int wire_width = 1;
  int lsb = 0;
  int width = 1;
  std::uint64_t value = 0;
};
using Parts = std::vector<Part>;  // most significant first

std::string constant_text(int width, std::uint64_t value) {
  if (width <= 4 || value == 0) return fmt::format("{}'d{}", width, value);
  return fmt::format("{}'h{:x}", width, value);
}

std::string text_of(const Part& part) {
  if (part.wire.empty()) return constant_text(part.width, part.value);
  if (part.width == part.wire_width) return part.wire;
  if (part.width == 1) return fmt::format("{}[{}]", part.wire, part.lsb);
  return fmt::format("{}[{}:{}]", part.wire, part.lsb + part.width - 1, part.lsb);
}

// Neighbouring bits of one wire, and neighbouring zeros, become one part.
Parts merged(const Parts& parts) {
  Parts result;
  for (const Part& part : parts) {
    if (!result.empty()) {
      Part& last = result.back();
      if (!part.wire.empty() && part.wire == last.wire && part.lsb + part.width == last.lsb) {
        last.lsb = part.lsb;
        last.width += part.width;
        continue;
      }
      if (part.wire.empty() && last.wire.empty() && last.width + part.width <= 64) {
        last.value = (part.width < 64 ? last.value << part.width : 0) | part.value;
        last.width += part.width;
        continue;
      }
      if (part.wire.empty() && last.wire.empty() && part.value == 0 && last.value == 0) {
        last.width += part.width;
        continue;
      }
    }
    result.push_back(part);
  }
  return result;
}

// The expression; long ones one part a line, indented by `indent`.
std::string text_of(const Parts& given, std::size_t indent, std::size_t used) {
  const Parts parts = merged(given);
  if (parts.size() == 1) return text_of(parts.front());
  std::vector<std::string> texts;
  for (const Part& part : parts) texts.push_back(text_of(part));
  const std::string line = fmt::format("{{{}}}", fmt::join(texts, ", "));
  if (used + line.size() + 2 <= kColumns) return line;
  const std::string pad(indent + 2, ' ');
  return fmt::format("{{\n{}{}\n{}}}", pad, fmt::join(texts, ",\n" + pad), std::string(indent, ' '));
}

std::string range_text(int width, bool ranged) { return width > 1 || ranged ? fmt::format("[{}:0]", width - 1) : ""; }

// Lines "prefix [range] name" with ranges and names aligned.
struct Declaration {
  std::string prefix, range, name, comment;
  std::vector<std::string> above;  // lines in front
};

void print_declarations(std::string& out, const std::vector<Declaration>& declarations, std::string_view separator,
                        bool separator_after_last) {
  std::size_t prefix = 0;
  std::size_t range = 0;
  for (const Declaration& d : declarations) {
    prefix = std::max(prefix, d.prefix.size());
    range = std::max(range, d.range.size());
  }
  for (std::size_t i = 0; i < declarations.size(); ++i) {
    const Declaration& d = declarations[i];
    for (const std::string& line : d.above) out += fmt::format("  {}\n", line);
    out += fmt::format("  {:<{}} ", d.prefix, prefix);
    if (range > 0) out += fmt::format("{:<{}} ", d.range, range);
    out += d.name;
    if (separator_after_last || i + 1 < declarations.size()) out += separator;
    if (!d.comment.empty()) out += fmt::format("  // {}", d.comment);
    out += '\n';
  }
}

void print_comment(std::string& out, const std::string& text, std::string_view indent) {
  std::size_t from = 0;
  while (from <= text.size() && !text.empty()) {
    std::size_t end = text.find('\n', from);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(from, end - from);
    // Wrap at the column limit.
    const std::size_t limit = kColumns - indent.size() - 3;
    while (line.size() > limit) {
      std::size_t cut = line.rfind(' ', limit);
      if (cut == std::string::npos || cut == 0) break;
      out += fmt::format("{}// {}\n", indent, line.substr(0, cut));
      line.erase(0, cut + 1);
    }
    out += line.empty() ? fmt::format("{}//\n", indent) : fmt::format("{}// {}\n", indent, line);
    from = end + 1;
  }
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

class Writer {
 public:
  explicit Writer(const Module& module) : module_(module) {}

  std::string run() {
    index();
    header();
    ports();
    wires();
    nets();
    for (std::size_t i = 0; i < module_.instances.size(); ++i) instance(static_cast<int>(i));
    port_assignments();
    open_ports();
    unused();
    out_ += "\nendmodule\n\n`default_nettype wire\n";
    return std::move(out_);
  }

 private:
  // What is known of a connection, computed once.
  struct Link {
    const StreamConnection* connection = nullptr;
    Stream source, sink;
    Bundle bundle = Bundle::own;
    PayloadMap map;
  };
  using EndKey = std::tuple<int, std::string, int>;
  static EndKey key(const StreamRef& ref) { return {ref.instance, ref.stream, ref.lane}; }

  void index() {
    for (const StreamConnection& c : module_.stream_connections) {
      const auto source = stream_at(module_, c.source);
      const auto sink = stream_at(module_, c.sink);
      if (!source || !sink) continue;
      Link link;
      link.connection = &c;
      link.source = source->stream;
      link.sink = sink->stream;
      link.bundle = bundle_of(module_, c);
      link.map = effective_map(c, link.source, link.sink);
      links_.push_back(std::move(link));
    }
    for (const Link& link : links_) {
      by_end_[key(link.connection->source)] = &link;
      by_end_[key(link.connection->sink)] = &link;
    }
    for (const Open& open : module_.opens) {
      if (open.is_stream) opens_[key(open.stream)] = &open;
    }
    for (const PinConnection& c : module_.pin_connections) drivers_[pin_key(c.sink)].push_back(&c);
  }
  using PinKey = std::tuple<int, int, std::string>;
  static PinKey pin_key(const PinRef& ref) { return {static_cast<int>(ref.kind), ref.instance, ref.name}; }

  void header() {
    const std::string text = module_.comment.empty() ? "a module assembled by rocegen." : module_.comment;
    const std::string title = module_.name + ": ";
    print_comment(out_, text.rfind(title, 0) == 0 ? text : title + text, "");
    if (text.find("Written by rocegen") == std::string::npos) {
      out_ += "//\n// Written by rocegen: change the specification, not this file.\n";
    }
    out_ += "`default_nettype none\n\n";
  }

  [[nodiscard]] bool domain_used(const Domain& domain) const {
    const auto in_it = [&](const auto& item) { return item.domain == domain.name; };
    return std::any_of(module_.instances.begin(), module_.instances.end(),
                       [&](const Instance& instance) {
                         return std::any_of(instance.domains.begin(), instance.domains.end(),
                                            [&](const auto& d) { return d.second == domain.name; }) ||
                                (instance.domains.empty() && !instance.interface.resets.empty() && domain.name.empty());
                       }) ||
           (!domain.name.empty() && (std::any_of(module_.streams.begin(), module_.streams.end(), in_it) ||
                                     std::any_of(module_.ports.begin(), module_.ports.end(), in_it)));
  }

  static std::vector<std::string> above(const std::string& comment, const std::vector<Attribute>& attributes) {
    std::vector<std::string> lines;
    if (!comment.empty()) {
      std::string text;
      print_comment(text, comment, "");
      std::size_t from = 0;
      for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', from)) {
        lines.push_back(text.substr(from, end - from));
        from = end + 1;
      }
    }
    for (const Attribute& attribute : attributes) {
      lines.push_back(fmt::format("(* {} = \"{}\" *)", attribute.key, escaped(attribute.value)));
    }
    return lines;
  }

  void ports() {
    std::vector<Declaration> list;
    for (const Domain& domain : module_.domains) {
      if (!domain_used(domain)) continue;
      std::string comment = domain.comment;
      if (domain.mhz > 0) comment += fmt::format("{}{:g} MHz", comment.empty() ? "" : ", ", domain.mhz);
      list.push_back({"input  logic", "", domain.clock_port(), comment, above("", domain.clock_attributes)});
      list.push_back({"input  logic", "", domain.reset_port(), "", above("", domain.reset_attributes)});
    }
    // The pins of one bus share a comment: it stands above the first.
    std::string last_comment;
    for (const auto& [is_stream, number] : module_.port_order) {
      if (!is_stream) {
        const ModulePort& port = module_.ports[static_cast<std::size_t>(number)];
        list.push_back({port.direction == Direction::input ? "input  logic" : "output logic",
                        range_text(port.width, port.ranged), port.name, port.record,
                        above(port.comment == last_comment ? "" : port.comment, port.attributes)});
        last_comment = port.comment;
        continue;
      }
      last_comment.clear();
      const ModuleStream& stream = module_.streams[static_cast<std::size_t>(number)];
      const bool in = stream.role == Role::sink;
      const std::string forward = in ? "input  logic" : "output logic";
      const std::string backward = in ? "output logic" : "input  logic";
      list.push_back({forward, "", stream.name + "_tvalid", "", above(stream.comment, stream.attributes)});
      if (stream.has_ready) list.push_back({backward, "", stream.name + "_tready", "", {}});
      for (const Field& field : stream.fields) {
        list.push_back({forward,
                        range_text(field.width, field.name != "tlast"),
                        stream.name + "_" + field.name,
                        field.record,
                        {}});
      }
    }
    out_ += fmt::format("module {} (\n", module_.name);
    print_declarations(out_, list, ",", false);
    out_ += ");\n";
  }

  // ---- wires ----
  void wires() {
    for (const Link& link : links_) {
      if (link.bundle != Bundle::own && link.bundle != Bundle::own_sink) continue;
      const StreamConnection& c = *link.connection;
      const Stream& shape = link.bundle == Bundle::own_sink ? link.sink : link.source;
      std::string comment = fmt::format("{} -> {}", module_.describe(c.source), module_.describe(c.sink));
      if (!c.comment.empty()) comment += ": " + c.comment;
      out_ += '\n';
      print_comment(out_, comment, "  ");
      std::vector<Declaration> list{{"logic", "", c.name + "_tvalid", "", {}}};
      if (link.source.has_ready) list.push_back({"logic", "", c.name + "_tready", "", {}});
      for (const Field& field : shape.fields) {
        const Field* typed = link.source.field(field.name);
        const std::string& record = !field.record.empty() || typed == nullptr ? field.record : typed->record;
        list.push_back(
            {"logic", range_text(field.width, field.name != "tlast"), c.name + "_" + field.name, record, {}});
      }
      print_declarations(out_, list, ";", true);
    }
    for (const Open& open : module_.opens) {
      if (!open.is_stream || open.stream.instance == kTop) continue;
      const auto end = stream_at(module_, open.stream);
      if (!end) continue;
      out_ += '\n';
      print_comment(out_, fmt::format("{} is left open: {}", module_.describe(open.stream), open.reason), "  ");
      std::vector<Declaration> list;
      if (end->gives) {
        list.push_back({"logic", "", open.name + "_tvalid", "", {}});
        for (const Field& field : end->stream.fields) {
          list.push_back(
              {"logic", range_text(field.width, field.name != "tlast"), open.name + "_" + field.name, "", {}});
          unread(open.name + "_" + field.name, open.reason);
        }
        unread(open.name + "_tvalid", open.reason);
      } else if (end->stream.has_ready) {
        list.push_back({"logic", "", open.name + "_tready", "", {}});
        unread(open.name + "_tready", open.reason);
      }
      print_declarations(out_, list, ";", true);
    }
    std::vector<Declaration> list;
    for (const Instance& instance : module_.instances) {
      for (const auto& [pin, wire] : instance.wires) {
        if (module_.port(wire) != nullptr || is_net(wire)) continue;
        const Port* port = instance.interface.port(pin);
        if (port == nullptr) continue;
        list.push_back({"logic", range_text(port->width, false), wire, port->record, {}});
      }
    }
    if (!list.empty()) {
      out_ += "\n  // Single signals.\n";
      print_declarations(out_, list, ";", true);
    }
  }

  [[nodiscard]] bool is_net(const std::string& name) const {
    return std::any_of(module_.nets.begin(), module_.nets.end(), [&](const Net& n) { return n.name == name; });
  }
  // True when the wire of some output pin has this name: then it needs no assignment.
  [[nodiscard]] bool is_wire_of_pin(const std::string& name) const {
    return std::any_of(module_.instances.begin(), module_.instances.end(), [&](const Instance& instance) {
      return std::any_of(instance.wires.begin(), instance.wires.end(), [&](const auto& w) { return w.second == name; });
    });
  }

  [[nodiscard]] Part part_of(const PinRef& ref) const {
    Part part;
    part.lsb = ref.lsb;
    part.width = ref.width;
    part.value = ref.value;
    if (ref.kind == PinRef::Kind::constant) return part;
    const auto end = pin_at(module_, ref);
    part.wire_width = end ? end->width : ref.width;
    part.wire = ref.name;
    if (ref.kind == PinRef::Kind::instance && ref.instance >= 0) {
      for (const auto& [pin, wire] : module_.instances[static_cast<std::size_t>(ref.instance)].wires) {
        if (pin == ref.name) part.wire = wire;
      }
    }
    return part;
  }

  // Everything that drives a pin, most significant first; undriven bits are zero.
  [[nodiscard]] Parts parts_driving(const PinRef& sink, int width) const {
    std::vector<const PinConnection*> list;
    const auto found = drivers_.find(pin_key(sink));
    if (found != drivers_.end()) list = found->second;
    std::stable_sort(list.begin(), list.end(),
                     [](const PinConnection* a, const PinConnection* b) { return a->sink.lsb > b->sink.lsb; });
    Parts parts;
    int next = width;
    for (const PinConnection* c : list) {
      const int top = c->sink.lsb + c->sink.width;
      if (top < next) parts.push_back({"", 1, 0, next - top, 0});
      parts.push_back(part_of(c->driver));
      next = c->sink.lsb;
    }
    if (next > 0) parts.push_back({"", 1, 0, next, 0});
    return parts;
  }

  void assign(const std::string& target, const Parts& parts) {
    const std::string start = fmt::format("  assign {} = ", target);
    out_ += fmt::format("{}{};\n", start, text_of(parts, 2, start.size()));
  }

  void nets() {
    if (module_.nets.empty()) return;
    out_ += '\n';
    std::vector<Declaration> list;
    for (const Net& net : module_.nets)
      list.push_back({"logic", range_text(net.width, false), net.name, net.comment, {}});
    print_declarations(out_, list, ";", true);
    for (const Net& net : module_.nets) {
      if (net.reduce != Reduce::none) {
        Parts parts;
        for (const PinRef& operand : net.operands) parts.push_back(part_of(operand));
        const std::string start = fmt::format("  assign {} = {}", net.name, net.reduce == Reduce::all ? '&' : '|');
        out_ += fmt::format("{}{};\n", start, text_of(parts, 2, start.size()));
      } else if (!is_wire_of_pin(net.name)) {
        assign(net.name, parts_driving({PinRef::Kind::net, kTop, net.name, 0, 0, 0}, net.width));
      }
    }
  }

  // ---- instances ----
  static std::string param_text(const Interface& interface, const Param& param) {
    if (!param.value.is_number()) return param.value.text();
    int width = 0;
    for (const auto& [name, bits] : interface.param_widths) {
      if (name == param.name) width = bits;
    }
    if (width == 0 || param.value.number() < 0) return std::to_string(param.value.number());
    return constant_text(width, static_cast<std::uint64_t>(param.value.number()));
  }

  // The expression for one payload field of the source's port.
  [[nodiscard]] Parts source_field(const Link& link, const Field& field) const {
    const std::string& name = link.connection->name;
    Parts parts;
    if (link.bundle == Bundle::own_sink || link.bundle == Bundle::sink_port_unpacked) {
      for (const std::string& part : parts_of(link.map, link.source, link.sink, field.name)) {
        const int width = link.sink.field(part)->width;
        parts.push_back({name + "_" + part, width, 0, width, 0});
      }
    } else {
      parts.push_back({name + "_" + field.name, field.width, 0, field.width, 0});
    }
    return parts;
  }
  // The expression for one payload field of the sink.
  [[nodiscard]] Parts sink_field(const Link& link, const Field& field) const {
    const std::string& name = link.connection->name;
    Parts parts;
    if (link.bundle == Bundle::own_sink) {
      parts.push_back({name + "_" + field.name, field.width, 0, field.width, 0});
      return parts;
    }
    for (const FieldMap& one : link.map) {
      if (one.field != field.name) continue;
      for (const Piece& piece : one.pieces) {
        if (piece.field.empty()) {
          parts.push_back({"", 1, 0, piece.width == 0 ? field.width : piece.width, piece.value});
          continue;
        }
        const Field* from = link.source.field(piece.field);
        parts.push_back(
            {name + "_" + piece.field, from == nullptr ? piece.width : from->width, piece.lsb, piece.width, 0});
      }
    }
    if (parts.empty()) parts.push_back({"", 1, 0, field.width, 0});
    return parts;
  }

  // One lane of a port of a stream.
  Parts stream_port(const StreamRef& ref, const Stream& stream, const std::string& suffix) {
    const auto wire = [](const std::string& name) { return Parts{{name, 1, 0, 1, 0}}; };
    const auto bit = [](std::uint64_t value) { return Parts{{"", 1, 0, 1, value}}; };
    const bool gives = stream.role == Role::source;
    const auto open = opens_.find(key(ref));
    const Field* field = stream.field(suffix);
    if (open != opens_.end()) {
      const std::string& name = open->second->name;
      if (suffix == "tready") return gives ? bit(1) : wire(name + "_tready");
      if (!gives) return {{"", 1, 0, field == nullptr ? 1 : field->width, 0}};
      const int width = field == nullptr ? 1 : field->width;
      return {{name + "_" + suffix, width, 0, width, 0}};
    }
    const auto found = by_end_.find(key(ref));
    if (found == by_end_.end()) return {{"", 1, 0, field == nullptr ? 1 : field->width, 0}};
    const Link& link = *found->second;
    const std::string& name = link.connection->name;
    if (suffix == "tvalid") return wire(name + "_tvalid");
    if (suffix == "tready") return gives && !link.sink.has_ready ? bit(1) : wire(name + "_tready");
    return gives ? source_field(link, *field) : sink_field(link, *field);
  }

  void instance(int number) {
    const Instance& instance = module_.instances[static_cast<std::size_t>(number)];
    const Interface& interface = instance.interface;
    out_ += '\n';
    if (!instance.comment.empty()) print_comment(out_, instance.comment, "  ");
    // Parameters in the order of the header.
    std::vector<std::pair<std::string, std::string>> params;
    for (const std::string& name : interface.overridable) {
      for (const Param& given : instance.params) {
        if (given.name == name) params.emplace_back(name, param_text(interface, given));
      }
    }
    if (params.empty()) {
      out_ += fmt::format("  {} {} (\n", interface.module, instance.name);
    } else {
      out_ += fmt::format("  {} #(\n", interface.module);
      print_named(params);
      out_ += fmt::format("  ) {} (\n", instance.name);
    }
    std::size_t longest = 0;
    for (const Port& port : interface.ports) longest = std::max(longest, port.name.size());
    std::vector<std::pair<std::string, std::string>> ports;
    for (const Port& port : interface.ports) {
      const std::size_t used = 4 + 1 + longest + 1;
      ports.emplace_back(port.name, text_of(port_expression(number, instance, port), 4, used));
    }
    print_named(ports);
    out_ += "  );\n";
  }

  void print_named(const std::vector<std::pair<std::string, std::string>>& list) {
    std::size_t longest = 0;
    for (const auto& [name, value] : list) longest = std::max(longest, name.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      out_ +=
          fmt::format("    .{:<{}}({}){}\n", list[i].first, longest, list[i].second, i + 1 < list.size() ? "," : "");
    }
  }

  Parts port_expression(int number, const Instance& instance, const Port& port) {
    const auto wire = [](const std::string& name) { return Parts{{name, 1, 0, 1, 0}}; };
    const Interface& interface = instance.interface;
    const auto domain = [&](const std::string& clock) {
      for (const Domain& d : module_.domains) {
        if (d.name == instance.domain_of_clock(clock)) return d;
      }
      return Domain{};
    };
    if (std::find(interface.clocks.begin(), interface.clocks.end(), port.name) != interface.clocks.end()) {
      return wire(domain(port.name).clock_port());
    }
    if (std::find(interface.resets.begin(), interface.resets.end(), port.name) != interface.resets.end()) {
      return wire(domain(clock_of_reset(port.name)).reset_port());
    }
    for (const Stream& stream : interface.streams) {
      if (port.name.size() <= stream.name.size() + 1 || port.name.rfind(stream.name + "_", 0) != 0) continue;
      const std::string suffix = port.name.substr(stream.name.size() + 1);
      if (suffix != "tvalid" && suffix != "tready" && stream.field(suffix) == nullptr) continue;
      Parts parts;
      for (int lane = stream.lanes - 1; lane >= 0; --lane) {
        const Parts one = stream_port({number, stream.name, stream.array ? lane : kWholeStream}, stream, suffix);
        parts.insert(parts.end(), one.begin(), one.end());
      }
      return parts;
    }
    const PinRef ref{PinRef::Kind::instance, number, port.name, 0, port.width, 0};
    if (port.direction == Direction::input) return parts_driving(ref, port.width);
    return {part_of(ref)};
  }

  // ---- what remains ----
  void port_assignments() {
    std::string before = std::move(out_);
    out_.clear();
    for (const Link& link : links_) {
      const StreamConnection& c = *link.connection;
      if (c.source.instance == kTop && link.source.has_ready && !link.sink.has_ready) {
        assign(c.source.stream + "_tready", {{"", 1, 0, 1, 1}});
      }
      if (c.sink.instance != kTop || link.bundle == Bundle::sink_port || link.bundle == Bundle::sink_port_unpacked)
        continue;
      assign(c.sink.stream + "_tvalid", {{c.name + "_tvalid", 1, 0, 1, 0}});
      if (link.source.has_ready && link.sink.has_ready)
        assign(c.name + "_tready", {{c.sink.stream + "_tready", 1, 0, 1, 0}});
      for (const Field& field : link.sink.fields) assign(c.sink.stream + "_" + field.name, sink_field(link, field));
    }
    for (const ModulePort& port : module_.ports) {
      if (port.direction != Direction::output || is_wire_of_pin(port.name)) continue;
      assign(port.name, parts_driving({PinRef::Kind::port, kTop, port.name, 0, port.width, 0}, port.width));
    }
    if (!out_.empty()) before += "\n";
    out_ = before + out_;
  }

  // Stream ports that the module itself leaves open.
  void open_ports() {
    for (const Open& open : module_.opens) {
      if (!open.is_stream || open.stream.instance != kTop) continue;
      const auto end = stream_at(module_, open.stream);
      if (!end) continue;
      out_ += '\n';
      print_comment(out_, fmt::format("{} is left open: {}", module_.describe(open.stream), open.reason), "  ");
      if (end->gives) {
        if (end->stream.has_ready) assign(open.name + "_tready", {{"", 1, 0, 1, 1}});
        unread(open.name + "_tvalid", open.reason);
        for (const Field& field : end->stream.fields) unread(open.name + "_" + field.name, open.reason);
      } else {
        assign(open.name + "_tvalid", {{"", 1, 0, 1, 0}});
        for (const Field& field : end->stream.fields)
          assign(open.name + "_" + field.name, {{"", 1, 0, field.width, 0}});
        if (end->stream.has_ready) unread(open.name + "_tready", open.reason);
      }
    }
  }

  void unread(const std::string& expression, const std::string& reason) { unread_.emplace_back(expression, reason); }

  // Lint must know what is unread on purpose.
  void unused() {
    for (const Link& link : links_) {
      if (link.bundle == Bundle::own_sink || link.bundle == Bundle::sink_port_unpacked) continue;
      const StreamConnection& c = *link.connection;
      if (c.sink.instance == kTop && c.source.instance == kTop && !link.sink.has_ready && link.source.has_ready)
        continue;
      for (const Field& field : link.source.fields) {
        std::vector<bool> read(static_cast<std::size_t>(field.width), false);
        for (const FieldMap& one : link.map) {
          for (const Piece& piece : one.pieces) {
            if (piece.field != field.name) continue;
            for (int bit = piece.lsb; bit < std::min(field.width, piece.lsb + piece.width); ++bit)
              read[static_cast<std::size_t>(bit)] = true;
          }
        }
        unread_bits(c.name + "_" + field.name, read,
                    "dropped between " + module_.describe(c.source) + " and " + module_.describe(c.sink));
      }
    }
    std::map<std::string, std::pair<std::vector<bool>, std::string>> opened;  // wire -> bits, reason
    std::vector<std::string> order;
    for (const Open& open : module_.opens) {
      if (open.is_stream) continue;
      const Part part = part_of(open.pin);
      auto [it, fresh] = opened.try_emplace(
          part.wire, std::vector<bool>(static_cast<std::size_t>(part.wire_width), true), open.reason);
      if (fresh) order.push_back(part.wire);
      for (int bit = part.lsb; bit < part.lsb + part.width; ++bit)
        it->second.first[static_cast<std::size_t>(bit)] = false;
    }
    for (const std::string& wire : order) unread_bits(wire, opened[wire].first, opened[wire].second);
    for (const Domain& domain : module_.domains) {
      if (!domain_used(domain)) continue;
      bool clock = false;
      bool reset = false;
      for (const Instance& instance : module_.instances) {
        for (const auto& [port, name] : instance.domains) clock = clock || name == domain.name;
        for (const std::string& port : instance.interface.resets) {
          reset = reset || instance.domain_of_clock(clock_of_reset(port)) == domain.name;
        }
      }
      if (!clock) unread(domain.clock_port(), "nothing here has a clock");
      if (!reset) unread(domain.reset_port(), "nothing here has a reset");
    }
    if (unread_.empty()) return;
    std::size_t longest = 0;
    for (const auto& [expression, reason] : unread_) longest = std::max(longest, expression.size());
    out_ += "\n  // Not read, on purpose.\n  logic unused_ok;\n  assign unused_ok = &{\n    1'b0,\n";
    for (std::size_t i = 0; i < unread_.size(); ++i) {
      const bool last = i + 1 == unread_.size();
      const std::string item = unread_[i].first + (last ? "" : ",");
      std::string line = fmt::format("    {}", item);
      if (!unread_[i].second.empty()) line = fmt::format("    {:<{}}  // {}", item, longest + 1, unread_[i].second);
      out_ += line + "\n";
    }
    out_ += "  };\n";
  }
  void unread_bits(const std::string& wire, const std::vector<bool>& read, const std::string& reason) {
    for (std::size_t i = 0; i < read.size();) {
      if (read[i]) {
        ++i;
        continue;
      }
      std::size_t j = i;
      while (j + 1 < read.size() && !read[j + 1]) ++j;
      unread(text_of(Part{wire, static_cast<int>(read.size()), static_cast<int>(i), static_cast<int>(j - i + 1), 0}),
             reason);
      i = j + 1;
    }
  }

  const Module& module_;
  std::string out_;
  std::vector<Link> links_;
  std::map<EndKey, const Link*> by_end_;
  std::map<EndKey, const Open*> opens_;
  std::map<PinKey, std::vector<const PinConnection*>> drivers_;
  std::vector<std::pair<std::string, std::string>> unread_;
};

}  // namespace

std::string write_verilog(const Module& module) { return Writer(module).run(); }

}  // namespace rocegen::netlist
