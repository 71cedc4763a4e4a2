#include "generator/netlist/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "generator/netlist/lookup.h"
#include "generator/spec/keywords.h"

namespace rocegen::netlist {

namespace {

class Namer {
 public:
  Namer(Module& module, Diagnostics& diagnostics) : module_(module), diagnostics_(diagnostics) {}

  void run() {
    legal(module_.name, "module");
    taken_.insert("unused_ok");
    for (const Domain& domain : module_.domains) {
      given(domain.clock_port(), "clock port");
      given(domain.reset_port(), "reset port");
    }
    for (const ModuleStream& stream : module_.streams) {
      if (!legal(stream.name, "stream port")) continue;
      for (const std::string& wire : wires_of(stream.name, stream.fields, stream.has_ready)) given(wire, "port");
    }
    for (const ModulePort& port : module_.ports) given(port.name, "port");
    for (const Net& net : module_.nets) given(net.name, "net");
    for (const Instance& instance : module_.instances) {
      if (instance.inserted_by.empty()) given(instance.name, "instance");
    }
    for (Instance& instance : module_.instances) {
      if (!instance.inserted_by.empty()) instance.name = fresh(instance.name, {""});
    }
    for (StreamConnection& c : module_.stream_connections) name_connection(c);
    for (Open& open : module_.opens) name_open(open);
    for (std::size_t i = 0; i < module_.instances.size(); ++i) name_pins(static_cast<int>(i));
  }

 private:
  static std::vector<std::string> wires_of(const std::string& name, const std::vector<Field>& fields, bool has_ready) {
    std::vector<std::string> names{name + "_tvalid"};
    if (has_ready) names.push_back(name + "_tready");
    for (const Field& field : fields) names.push_back(name + "_" + field.name);
    return names;
  }

  bool legal(const std::string& name, std::string_view what) {
    const std::string fault = fault_of_name(name);
    if (!fault.empty()) {
      diagnostics_.error("E0336", place_of(module_),
                         fmt::format("'{}' cannot be the name of a {}: it {}", name, what, fault));
    }
    return fault.empty();
  }

  void given(const std::string& name, std::string_view what) {
    legal(name, what);
    if (!taken_.insert(name).second) {
      diagnostics_.error("E0337", place_of(module_), fmt::format("the name '{}' of a {} is taken", name, what));
    }
  }

  // The first of base, base_2, base_3, ... for which every base + suffix is free; takes them.
  std::string fresh(const std::string& base, const std::vector<std::string>& suffixes) {
    for (int number = 1;; ++number) {
      std::string name = number == 1 ? base : fmt::format("{}_{}", base, number);
      const bool free = std::all_of(suffixes.begin(), suffixes.end(), [&](const std::string& s) {
        return !taken_.contains(name + s) && fault_of_name(name + s).empty();
      });
      if (!free && number < 100000) continue;
      for (const std::string& s : suffixes) taken_.insert(name + s);
      return name;
    }
  }

  static std::vector<std::string> stream_suffixes(const Stream& stream) {
    std::vector<std::string> suffixes{"_tvalid", "_tready"};
    for (const Field& field : stream.fields) suffixes.push_back("_" + field.name);
    return suffixes;
  }

  void name_connection(StreamConnection& c) {
    const auto source = stream_at(module_, c.source);
    const auto sink = stream_at(module_, c.sink);
    if (!source || !sink) return;
    switch (bundle_of(module_, c)) {
      case Bundle::source_port:
        c.name = c.source.stream;
        break;
      case Bundle::sink_port:
      case Bundle::sink_port_unpacked:
        c.name = c.sink.stream;
        break;
      case Bundle::own:
        c.name = fresh(stream_base_name(module_, c.source), stream_suffixes(source->stream));
        break;
      case Bundle::own_sink:
        c.name = fresh(stream_base_name(module_, c.source), stream_suffixes(sink->stream));
        break;
    }
  }

  void name_open(Open& open) {
    if (!open.is_stream) return;
    if (open.stream.instance == kTop) {
      open.name = open.stream.stream;
      return;
    }
    const auto end = stream_at(module_, open.stream);
    if (end) open.name = fresh(stream_base_name(module_, open.stream), stream_suffixes(end->stream));
  }

  // The wire of each plain output pin: the port or net that takes the whole pin, or one of its own.
  void name_pins(int index) {
    Instance& instance = module_.instances[static_cast<std::size_t>(index)];
    instance.wires.clear();
    for (const Port& port : instance.interface.ports) {
      if (port.direction != Direction::output || !instance.interface.is_plain(port.name)) continue;
      std::string wire;
      for (const PinConnection& c : module_.pin_connections) {
        if (c.driver.kind != PinRef::Kind::instance || c.driver.instance != index || c.driver.name != port.name)
          continue;
        if (c.sink.kind != PinRef::Kind::port && c.sink.kind != PinRef::Kind::net) continue;
        const auto sink = pin_at(module_, c.sink);
        if (!sink || c.driver.width != port.width || c.sink.width != sink->width || !lent_.insert(c.sink.name).second)
          continue;
        wire = c.sink.name;
        break;
      }
      if (wire.empty()) wire = fresh(pin_base_name(module_, index, port.name), {""});
      instance.wires.emplace_back(port.name, wire);
    }
  }

  Module& module_;
  Diagnostics& diagnostics_;
  std::set<std::string> taken_;
  std::set<std::string> lent_;  // ports and nets that are the wire of a pin
};

}  // namespace

std::string fault_of_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > 128) return "is longer than 128 characters";
  if (name.front() == '_') return "starts with an underscore";
  if (std::isalpha(static_cast<unsigned char>(name.front())) == 0) return "does not start with a letter";
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return fmt::format("contains '{}'", c);
  }
  if (spec::is_keyword(name)) return "is a keyword of SystemVerilog";
  return "";
}

void names_pass(Design& design, const Library& library, Diagnostics& diagnostics) {
  std::set<std::string> modules;
  for (Module& module : design.modules) {
    Namer(module, diagnostics).run();
    const ModuleDecl* other = library.find(module.name);
    if (!modules.insert(module.name).second || (other != nullptr && !other->generated)) {
      spec::Diagnostic& d =
          diagnostics.error("E0337", place_of(module), fmt::format("there is another module called '{}'", module.name));
      if (other != nullptr) d.note("in the library", other->place);
    }
  }
}

}  // namespace rocegen::netlist
