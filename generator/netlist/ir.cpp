#include "generator/netlist/ir.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator/netlist/lookup.h"
#include "generator/spec/text.h"

namespace rocegen::netlist {

namespace {

Origin origin_of(const std::source_location& where) {
  std::string file = where.file_name();
  const std::size_t at = file.rfind("generator/");
  const std::size_t tests = file.rfind("tests/");
  if (at != std::string::npos) {
    file.erase(0, at);
  } else if (tests != std::string::npos) {
    file.erase(0, tests);
  }
  return {fmt::format("{}:{}", file, where.line())};
}

template <typename Range>
std::vector<std::string> names_of(const Range& range) {
  std::vector<std::string> names;
  for (const auto& item : range) names.push_back(item.name);
  return names;
}

}  // namespace

PinRef PinRef::slice(int from, int bits) const {
  PinRef part = *this;
  part.lsb = lsb + from;
  part.width = bits;
  if (kind == Kind::constant) {
    part.lsb = 0;
    part.value = from >= 64 ? 0 : value >> from;
    if (bits < 64) part.value &= (std::uint64_t{1} << bits) - 1;
  }
  return part;
}

PinRef constant(int width, std::uint64_t value) {
  PinRef ref;
  ref.kind = PinRef::Kind::constant;
  ref.width = width;
  ref.value = width < 64 ? value & ((std::uint64_t{1} << width) - 1) : value;
  return ref;
}

PayloadMap record_as_packet(int record_width, int tuser_width) {
  PayloadMap map;
  map.push_back({"tdata", {{"", 0, 0, 0}}});
  map.push_back({"tkeep", {{"", 0, 0, 0}}});
  map.push_back({"tlast", {{"", 0, 1, 1}}});
  FieldMap user{"tuser", {}};
  if (tuser_width > record_width) user.pieces.push_back({"", 0, tuser_width - record_width, 0});
  user.pieces.push_back({"tdata", 0, record_width, 0});
  map.push_back(std::move(user));
  return map;
}

Stream ModuleStream::as_stream() const {
  Stream stream;
  stream.name = name;
  stream.role = role;
  stream.has_ready = has_ready;
  stream.fields = fields;
  return stream;
}

std::string Instance::domain_of_clock(std::string_view clock) const {
  for (const auto& [port, domain] : domains) {
    if (port == clock) return domain;
  }
  return "";
}

const ModuleStream* Module::port_stream(std::string_view wanted) const {
  for (const ModuleStream& s : streams) {
    if (s.name == wanted) return &s;
  }
  return nullptr;
}

const ModulePort* Module::port(std::string_view wanted) const {
  for (const ModulePort& p : ports) {
    if (p.name == wanted) return &p;
  }
  return nullptr;
}

int Module::find_instance(std::string_view wanted) const {
  for (std::size_t i = 0; i < instances.size(); ++i) {
    if (instances[i].name == wanted) return static_cast<int>(i);
  }
  return -1;
}

std::string Module::describe(const StreamRef& ref) const {
  std::string text;
  if (ref.instance == kTop) {
    text = fmt::format("port {}", ref.stream);
  } else if (ref.instance >= 0 && static_cast<std::size_t>(ref.instance) < instances.size()) {
    text = fmt::format("{}.{}", instances[static_cast<std::size_t>(ref.instance)].name, ref.stream);
  } else {
    text = fmt::format("?.{}", ref.stream);
  }
  if (ref.lane != kWholeStream) text += fmt::format("[{}]", ref.lane);
  return text;
}

std::string Module::describe(const PinRef& ref) const {
  std::string text;
  switch (ref.kind) {
    case PinRef::Kind::constant:
      return fmt::format("{}'h{:x}", ref.width, ref.value);
    case PinRef::Kind::port:
      text = fmt::format("port {}", ref.name);
      break;
    case PinRef::Kind::net:
      text = fmt::format("net {}", ref.name);
      break;
    case PinRef::Kind::instance:
      if (ref.instance >= 0 && static_cast<std::size_t>(ref.instance) < instances.size()) {
        text = fmt::format("{}.{}", instances[static_cast<std::size_t>(ref.instance)].name, ref.name);
      } else {
        text = fmt::format("?.{}", ref.name);
      }
      break;
  }
  const std::optional<PinEnd> end = pin_at(*this, ref);
  if (end && ref.lsb == 0 && ref.width == end->width) return text;  // the whole pin
  if (ref.width == 1) {
    text += fmt::format("[{}]", ref.lsb);
  } else if (ref.width > 1) {
    text += fmt::format("[{}:{}]", ref.lsb + ref.width - 1, ref.lsb);
  }
  return text;
}

Design single(Module module) {
  Design design;
  design.modules.push_back(std::move(module));
  return design;
}

// ---- builder ------------------------------------------------------------------------------------------------------

Builder::Builder(const Library& library, std::string name, Diagnostics& diagnostics, Where where)
    : library_(&library), diagnostics_(&diagnostics) {
  module_.name = std::move(name);
  module_.origin = origin_of(where);
  module_.domains.push_back({});
}

spec::Diagnostic& Builder::fault(std::string_view code, std::string message, const Origin& origin) {
  Place place;
  place.file = fmt::format("module {}", module_.name);
  spec::Diagnostic& d = diagnostics_->error(code, place, std::move(message));
  d.note(fmt::format("asked for by {}", origin.text));
  return d;
}

void Builder::comment(std::string text) { module_.comment = std::move(text); }

void Builder::domain(const std::string& name, double mhz, std::string comment) {
  for (Domain& d : module_.domains) {
    if (d.name == name) {
      if (mhz > 0) d.mhz = mhz;
      if (!comment.empty()) d.comment = std::move(comment);
      return;
    }
  }
  module_.domains.push_back({name, mhz, std::move(comment), {}, {}});
}

bool Builder::name_is_free(const std::string& name, std::string_view what, const Origin& origin) {
  const auto same = [&](const auto& item) { return item.name == name; };
  const bool taken = std::any_of(module_.instances.begin(), module_.instances.end(), same) ||
                     std::any_of(module_.ports.begin(), module_.ports.end(), same) ||
                     std::any_of(module_.streams.begin(), module_.streams.end(), same) ||
                     std::any_of(module_.nets.begin(), module_.nets.end(), same);
  if (taken) fault("E0311", fmt::format("the name '{}' of {} is taken", name, what), origin);
  return !taken;
}

void Builder::domain_attributes(const std::string& name, std::vector<Attribute> clock, std::vector<Attribute> reset) {
  for (Domain& domain : module_.domains) {
    if (domain.name != name) continue;
    domain.clock_attributes = std::move(clock);
    domain.reset_attributes = std::move(reset);
    return;
  }
}

InstanceHandle Builder::instance(std::string name, std::string_view module, Params params, std::string comment,
                                 const std::string& domain, Where where) {
  const Origin origin = origin_of(where);
  if (!name_is_free(name, "an instance", origin)) return InstanceHandle(kBroken);
  if (std::none_of(module_.domains.begin(), module_.domains.end(), [&](const Domain& d) { return d.name == domain; })) {
    fault("E0312", fmt::format("clock domain '{}' of '{}' is not declared", domain, name), origin);
    return InstanceHandle(kBroken);
  }
  Place at;
  at.file = fmt::format("{}.{}, {}", module_.name, name, origin.text);
  std::optional<Interface> interface = library_->elaborate(module, params, *diagnostics_, at);
  if (!interface) return InstanceHandle(kBroken);
  Instance instance;
  instance.name = std::move(name);
  instance.params = std::move(params);
  instance.comment = std::move(comment);
  instance.origin = origin;
  for (const std::string& clock : interface->clocks) instance.domains.emplace_back(clock, domain);
  instance.interface = std::move(*interface);
  module_.instances.push_back(std::move(instance));
  return InstanceHandle(static_cast<int>(module_.instances.size()) - 1);
}

void Builder::clock(InstanceHandle handle, const std::string& clock_port, const std::string& domain, Where where) {
  if (handle.index() < 0) return;
  const Origin origin = origin_of(where);
  Instance& instance = module_.instances[static_cast<std::size_t>(handle.index())];
  if (std::none_of(module_.domains.begin(), module_.domains.end(), [&](const Domain& d) { return d.name == domain; })) {
    fault("E0312", fmt::format("clock domain '{}' of '{}' is not declared", domain, instance.name), origin);
    return;
  }
  for (auto& [port, current] : instance.domains) {
    if (port == clock_port) {
      current = domain;
      return;
    }
  }
  fault("E0310", fmt::format("'{}' has no clock '{}'", instance.name, clock_port), origin);
}

std::optional<Stream> Builder::resolve(StreamRef& ref, bool drives, const Origin& origin) {
  Stream stream;
  bool gives = false;
  if (ref.instance == kTop) {
    const ModuleStream* port = module_.port_stream(ref.stream);
    if (port == nullptr) {
      fault("E0310", fmt::format("there is no stream port '{}'", ref.stream), origin);
      return std::nullopt;
    }
    stream = port->as_stream();
    gives = stream.role == Role::sink;  // what the module takes from outside, it gives inside
  } else {
    if (ref.instance < 0 || static_cast<std::size_t>(ref.instance) >= module_.instances.size()) return std::nullopt;
    const Instance& instance = module_.instances[static_cast<std::size_t>(ref.instance)];
    const Stream* found = instance.interface.stream(ref.stream);
    if (found == nullptr) {
      spec::Diagnostic& d = fault(
          "E0310", fmt::format("'{}' ({}) has no stream '{}'", instance.name, instance.interface.module, ref.stream),
          origin);
      const std::vector<std::string> names = names_of(instance.interface.streams);
      d.help(names.empty() ? "it has no streams" : fmt::format("it has {}", fmt::join(names, ", ")));
      return std::nullopt;
    }
    stream = *found;
    gives = stream.role == Role::source;
  }
  if (gives != drives) {
    fault("E0313",
          fmt::format("{} {}, it cannot {}", module_.describe(ref), gives ? "gives" : "takes",
                      drives ? "be the source of a connection" : "be the sink of a connection"),
          origin);
    return std::nullopt;
  }
  if (ref.lane != kWholeStream && (ref.lane < 0 || ref.lane >= stream.lanes)) {
    fault("E0310", fmt::format("{} has {} streams", module_.describe(ref), stream.lanes), origin);
    return std::nullopt;
  }
  if (!stream.array) ref.lane = kWholeStream;
  return stream;
}

void Builder::connect(const StreamRef& source_ref, const StreamRef& sink_ref, ConnectOptions options, Where where) {
  const Origin origin = origin_of(where);
  StreamRef source = source_ref;
  StreamRef sink = sink_ref;
  const std::optional<Stream> from = resolve(source, true, origin);
  const std::optional<Stream> to = resolve(sink, false, origin);
  if (!from || !to) return;
  const bool all_from = from->array && source.lane == kWholeStream;
  const bool all_to = to->array && sink.lane == kWholeStream;
  if (all_from || all_to) {
    const int from_count = all_from ? from->lanes : 1;
    const int to_count = all_to ? to->lanes : 1;
    if (from_count != to_count) {
      fault("E0314",
            fmt::format("{} is {} streams, {} is {}", module_.describe(source), from_count, module_.describe(sink),
                        to_count),
            origin)
          .help("connect the streams of an array one by one: stream(\"m_axis\", 0)");
      return;
    }
    for (int lane = 0; lane < from_count; ++lane) {
      if (all_from) source.lane = lane;
      if (all_to) sink.lane = lane;
      connect(source, sink, options, where);
    }
    return;
  }
  StreamConnection connection;
  connection.source = source;
  connection.sink = sink;
  connection.weight = options.weight;
  connection.comment = std::move(options.comment);
  connection.origin = origin;
  connection.map = std::move(options.map);
  connection.dropped = std::move(options.drop);
  if (connection.map.empty() && options.as_packet) {
    const Field* record = from->field("tdata");
    const Field* user = to->field("tuser");
    if (record == nullptr || user == nullptr || from->fields.size() != 1 || !to->is_packet() ||
        user->width < record->width) {
      fault("E0315",
            fmt::format("{} ({}) cannot be a packet without payload for {} ({})", module_.describe(source),
                        from->describe(), module_.describe(sink), to->describe()),
            origin)
          .help("as_packet takes a record (tdata only) into a packet stream whose tuser is as wide or wider");
      return;
    }
    connection.map = record_as_packet(record->width, user->width);
    std::erase_if(connection.map, [&](const FieldMap& f) { return to->field(f.field) == nullptr; });
  } else if (connection.map.empty() && (!options.zero.empty() || !options.drop.empty())) {
    for (const Field& field : to->fields) {
      FieldMap one{field.name, {}};
      const bool zero = std::find(options.zero.begin(), options.zero.end(), field.name) != options.zero.end();
      one.pieces.push_back(zero ? Piece{"", 0, field.width, 0} : Piece{field.name, 0, 0, 0});
      connection.map.push_back(std::move(one));
    }
  }
  // Widths of "the whole field" become explicit, so that nobody later needs to guess.
  for (FieldMap& one : connection.map) {
    const Field* field = to->field(one.field);
    if (field == nullptr) {
      fault("E0315", fmt::format("{} has no field '{}'", module_.describe(sink), one.field), origin);
      return;
    }
    for (Piece& piece : one.pieces) {
      const Field* part = piece.field.empty() ? field : from->field(piece.field);
      if (part == nullptr) {
        fault("E0315", fmt::format("{} has no field '{}'", module_.describe(source), piece.field), origin)
            .help(fmt::format("it has {}; name the field in .zero to tie it to zero", from->describe()));
        return;
      }
      if (piece.width == 0) piece.width = part->width - piece.lsb;
      if (piece.field.empty()) continue;
      if (piece.lsb < 0 || piece.width < 1 || piece.lsb + piece.width > part->width) {
        fault("E0315",
              fmt::format("bits {}..{} are not in {} of {}", piece.lsb, piece.lsb + piece.width - 1, piece.field,
                          module_.describe(source)),
              origin);
        return;
      }
    }
  }
  module_.stream_connections.push_back(std::move(connection));
}

void Builder::expose_stream(const StreamRef& ref_given, const std::string& port_name, ExposeOptions options,
                            Where where) {
  const Origin origin = origin_of(where);
  StreamRef ref = ref_given;
  if (ref.instance == kBroken) return;
  if (ref.instance < 0 || static_cast<std::size_t>(ref.instance) >= module_.instances.size()) {
    fault("E0310", fmt::format("{} is a port already", module_.describe(ref)), origin);
    return;
  }
  const Instance& instance = module_.instances[static_cast<std::size_t>(ref.instance)];
  const Stream* found = instance.interface.stream(ref.stream);
  const bool gives = found != nullptr && found->role == Role::source;
  const std::optional<Stream> stream = resolve(ref, gives, origin);
  if (!stream) return;
  if (stream->array && ref.lane == kWholeStream) {
    fault("E0314", fmt::format("{} is {} streams; expose one of them", module_.describe(ref), stream->lanes), origin);
    return;
  }
  if (!name_is_free(port_name, "a stream port", origin)) return;
  ModuleStream port;
  port.name = port_name;
  port.role = stream->role;
  port.has_ready = stream->has_ready;
  port.fields = stream->fields;
  if (options.data_width > 0) {
    if (stream->field("tkeep") == nullptr || options.data_width % 8 != 0) {
      fault("E0315",
            fmt::format("{} ({}) cannot be a port of {} bits", module_.describe(ref), stream->describe(),
                        options.data_width),
            origin)
          .help("only packet streams with tkeep have another width outside, and it is a multiple of 8 bits");
      return;
    }
    for (Field& field : port.fields) {
      if (field.name == "tdata") field.width = options.data_width;
      if (field.name == "tkeep") field.width = options.data_width / 8;
    }
  }
  port.domain = options.domain == "=" ? instance.domain_of_clock(stream->clock) : options.domain;
  port.comment = options.comment;
  port.attributes = options.attributes;
  module_.port_order.emplace_back(true, static_cast<int>(module_.streams.size()));
  module_.streams.push_back(std::move(port));
  const StreamRef outside{kTop, port_name, kWholeStream};
  ConnectOptions connect_options;
  connect_options.weight = options.weight;
  connect_options.map = options.map;
  if (gives) {
    connect(ref, outside, connect_options, where);
  } else {
    connect(outside, ref, connect_options, where);
  }
}

int Builder::resolve(PinRef& ref, bool drives, const Origin& origin) {
  int whole = 0;
  bool gives = true;
  switch (ref.kind) {
    case PinRef::Kind::constant:
      whole = ref.width;
      break;
    case PinRef::Kind::net: {
      const auto net =
          std::find_if(module_.nets.begin(), module_.nets.end(), [&](const Net& n) { return n.name == ref.name; });
      if (net == module_.nets.end()) {
        fault("E0310", fmt::format("there is no net '{}'", ref.name), origin);
        return 0;
      }
      whole = net->width;
      gives = drives;  // either way
      if (!drives && net->reduce != Reduce::none) {
        fault("E0313", fmt::format("net {} is a reduction, it cannot be driven", ref.name), origin);
        return 0;
      }
      break;
    }
    case PinRef::Kind::port: {
      const ModulePort* port = module_.port(ref.name);
      if (port == nullptr) {
        fault("E0310", fmt::format("there is no port '{}'", ref.name), origin);
        return 0;
      }
      whole = port->width;
      gives = port->direction == Direction::input;
      break;
    }
    case PinRef::Kind::instance: {
      if (ref.instance < 0 || static_cast<std::size_t>(ref.instance) >= module_.instances.size()) return 0;
      const Instance& instance = module_.instances[static_cast<std::size_t>(ref.instance)];
      const Port* port = instance.interface.port(ref.name);
      if (port == nullptr) {
        std::vector<std::string> names;
        for (const Port& p : instance.interface.ports) {
          if (instance.interface.is_plain(p.name)) names.push_back(p.name);
        }
        spec::Diagnostic& d = fault(
            "E0310", fmt::format("'{}' ({}) has no port '{}'", instance.name, instance.interface.module, ref.name),
            origin);
        const std::string near = spec::nearest(ref.name, names);
        if (!near.empty()) {
          d.help(fmt::format("did you mean '{}'?", near));
        } else {
          d.help(names.empty() ? "it has no plain ports" : fmt::format("it has {}", fmt::join(names, ", ")));
        }
        return 0;
      }
      if (!instance.interface.is_plain(ref.name)) {
        fault("E0310",
              fmt::format("{} is not a plain pin: it is a clock, a reset or part of a stream", module_.describe(ref)),
              origin);
        return 0;
      }
      whole = port->width;
      gives = port->direction == Direction::output;
      break;
    }
  }
  if (gives != drives) {
    fault("E0313",
          fmt::format("{} is {}, it cannot {}", module_.describe(ref), gives ? "driven from its own side" : "an input",
                      drives ? "drive anything" : "be driven"),
          origin);
    return 0;
  }
  if (ref.width == 0) ref.width = whole - ref.lsb;
  if (ref.lsb < 0 || ref.width < 1 || ref.lsb + ref.width > whole) {
    fault("E0310",
          fmt::format("{} is {} bits wide; bits {}..{} are not in it", module_.describe(ref), whole, ref.lsb,
                      ref.lsb + ref.width - 1),
          origin);
    return 0;
  }
  return ref.width;
}

void Builder::connect_pin(const PinRef& driver_given, const PinRef& sink_given, PinOptions options, Where where) {
  const Origin origin = origin_of(where);
  PinRef driver = driver_given;
  PinRef sink = sink_given;
  const int from = resolve(driver, true, origin);
  const int to = resolve(sink, false, origin);
  if (from == 0 || to == 0) return;
  module_.pin_connections.push_back(
      {driver, sink, std::move(options.quasi_static), std::move(options.comment), origin});
}

void Builder::tie(const PinRef& sink_given, std::uint64_t value, std::string comment, Where where) {
  const Origin origin = origin_of(where);
  PinRef sink = sink_given;
  const int width = resolve(sink, false, origin);
  if (width == 0) return;
  if (width < 64 && (value >> width) != 0) {
    fault("E0316", fmt::format("{} does not fit into {}, {} bits wide", value, module_.describe(sink), width), origin);
    return;
  }
  module_.pin_connections.push_back({constant(width, value), sink, "", std::move(comment), origin});
}

std::string Builder::domain_of(const PinRef& ref) const {
  if (ref.kind != PinRef::Kind::instance || ref.instance < 0) return "";
  const Instance& instance = module_.instances[static_cast<std::size_t>(ref.instance)];
  const Port* port = instance.interface.port(ref.name);
  return port == nullptr ? "" : instance.domain_of_clock(port->clock);
}

void Builder::expose_pin(const PinRef& pin_given, const std::string& port_name, ExposeOptions options, Where where) {
  const Origin origin = origin_of(where);
  PinRef pin = pin_given;
  if (pin.kind == PinRef::Kind::instance && pin.instance == kBroken) return;
  bool gives = pin.kind == PinRef::Kind::net;
  const Port* port = nullptr;
  if (pin.kind == PinRef::Kind::instance && pin.instance >= 0) {
    port = module_.instances[static_cast<std::size_t>(pin.instance)].interface.port(pin.name);
    gives = port != nullptr && port->direction == Direction::output;
  }
  const int width = resolve(pin, gives, origin);
  if (width == 0) return;
  if (options.domain == "=") options.domain = domain_of(pin);
  const PinRef outside =
      gives ? output_port(port_name, width, options, where) : input_port(port_name, width, options, where);
  if (outside.name.empty()) return;
  ModulePort& made = module_.ports.back();
  if (port != nullptr && width == port->width) {
    made.ranged = port->ranged;
    made.record = port->record;
  }
  if (gives) {
    connect_pin(pin, outside, {}, where);
  } else {
    connect_pin(outside, pin, {}, where);
  }
}

void Builder::expose_pins(InstanceHandle instance, std::string_view prefix, ExposeOptions options, Where where) {
  expose_pins(instance, prefix, std::string(prefix), std::move(options), where);
}

void Builder::expose_pins(InstanceHandle handle, std::string_view prefix, const std::string& rename,
                          ExposeOptions options, Where where) {
  if (handle.index() < 0) return;
  const Interface interface = module_.instances[static_cast<std::size_t>(handle.index())].interface;
  bool any = false;
  for (const Port& port : interface.ports) {
    if (!interface.is_plain(port.name) || port.name.rfind(prefix, 0) != 0) continue;
    expose_pin(handle.pin(port.name), rename + port.name.substr(prefix.size()), options, where);
    any = true;
  }
  if (!any) {
    fault("E0310",
          fmt::format("'{}' has no plain port '{}*'", module_.instances[static_cast<std::size_t>(handle.index())].name,
                      prefix),
          origin_of(where));
  }
}

PinRef Builder::input_port(const std::string& name, int width, ExposeOptions options, Where where) {
  if (!name_is_free(name, "a port", origin_of(where))) return {};
  if (options.domain == "=") options.domain = "";
  module_.port_order.emplace_back(false, static_cast<int>(module_.ports.size()));
  module_.ports.push_back(
      {name, Direction::input, width, width > 1, "", options.domain, options.comment, options.attributes});
  return port(name);
}

PinRef Builder::output_port(const std::string& name, int width, ExposeOptions options, Where where) {
  const PinRef ref = input_port(name, width, std::move(options), where);
  if (!ref.name.empty()) module_.ports.back().direction = Direction::output;
  return ref;
}

PinRef Builder::port(std::string name) const { return {PinRef::Kind::port, kTop, std::move(name), 0, 0, 0}; }

StreamRef Builder::port_stream(std::string name) const { return {kTop, std::move(name), kWholeStream}; }

PinRef Builder::net(const std::string& name, int width, std::string comment, Where where) {
  const PinRef ref{PinRef::Kind::net, kTop, name, 0, 0, 0};
  if (!name_is_free(name, "a net", origin_of(where))) return ref;
  module_.nets.push_back({name, width, Reduce::none, {}, std::move(comment), origin_of(where)});
  return ref;
}

PinRef Builder::reduce(const std::string& name, Reduce how, std::vector<PinRef> operands, std::string comment,
                       Where where) {
  const Origin origin = origin_of(where);
  const PinRef ref{PinRef::Kind::net, kTop, name, 0, 0, 0};
  if (!name_is_free(name, "a net", origin)) return ref;
  Net net{name, 1, how, {}, std::move(comment), origin};
  for (PinRef& operand : operands) {
    if (resolve(operand, true, origin) > 0) net.operands.push_back(operand);
  }
  module_.nets.push_back(std::move(net));
  return ref;
}

void Builder::leave_open(const PinRef& pin_given, std::string reason, Where where) {
  const Origin origin = origin_of(where);
  PinRef pin = pin_given;
  if (resolve(pin, true, origin) == 0) return;
  Open open;
  open.pin = pin;
  open.reason = std::move(reason);
  open.origin = origin;
  module_.opens.push_back(std::move(open));
}

void Builder::leave_open(const StreamRef& stream_given, std::string reason, Where where) {
  const Origin origin = origin_of(where);
  StreamRef ref = stream_given;
  bool gives = false;
  if (ref.instance >= 0 && static_cast<std::size_t>(ref.instance) < module_.instances.size()) {
    const Stream* found = module_.instances[static_cast<std::size_t>(ref.instance)].interface.stream(ref.stream);
    gives = found != nullptr && found->role == Role::source;
  }
  const std::optional<Stream> stream = resolve(ref, gives, origin);
  if (!stream) return;
  const int lanes = stream->array && ref.lane == kWholeStream ? stream->lanes : 1;
  for (int lane = 0; lane < lanes; ++lane) {
    Open open;
    open.is_stream = true;
    open.stream = ref;
    if (stream->array && ref.lane == kWholeStream) open.stream.lane = lane;
    open.reason = reason;
    open.origin = origin;
    module_.opens.push_back(std::move(open));
  }
}

void Builder::set_record(const StreamRef& ref, std::string_view field, std::string_view record) {
  std::vector<Field>* fields = nullptr;
  if (ref.instance >= 0 && static_cast<std::size_t>(ref.instance) < module_.instances.size()) {
    Stream* stream = module_.instances[static_cast<std::size_t>(ref.instance)].interface.stream(ref.stream);
    if (stream != nullptr) fields = &stream->fields;
  } else if (ref.instance == kTop) {
    for (ModuleStream& stream : module_.streams) {
      if (stream.name == ref.stream) fields = &stream.fields;
    }
  } else {
    return;
  }
  if (fields != nullptr) {
    for (Field& f : *fields) {
      if (f.name == field) {
        f.record = record;
        return;
      }
    }
  }
  fault("E0310", fmt::format("{} has no field '{}'", module_.describe(ref), field), module_.origin);
}

namespace {

std::vector<PinMatch> matching_pins(const Module& module, std::string_view prefix, Direction direction) {
  std::vector<PinMatch> matches;
  for (std::size_t i = 0; i < module.instances.size(); ++i) {
    const Instance& instance = module.instances[i];
    for (const Port& port : instance.interface.ports) {
      if (port.direction != direction || port.name.rfind(prefix, 0) != 0 || !instance.interface.is_plain(port.name))
        continue;
      matches.push_back({InstanceHandle(static_cast<int>(i)).pin(port.name), instance.name, instance.interface.module,
                         port.name, port.width});
    }
  }
  return matches;
}

}  // namespace

std::vector<PinMatch> Builder::output_pins(std::string_view prefix) const {
  return matching_pins(module_, prefix, Direction::output);
}

std::vector<PinMatch> Builder::input_pins(std::string_view prefix) const {
  return matching_pins(module_, prefix, Direction::input);
}

int Builder::width(const PinRef& pin) const {
  if (pin.width > 0) return pin.width;
  switch (pin.kind) {
    case PinRef::Kind::constant:
      return pin.width;
    case PinRef::Kind::port: {
      const ModulePort* p = module_.port(pin.name);
      return p == nullptr ? 0 : p->width - pin.lsb;
    }
    case PinRef::Kind::net:
      for (const Net& n : module_.nets) {
        if (n.name == pin.name) return n.width - pin.lsb;
      }
      return 0;
    case PinRef::Kind::instance: {
      if (pin.instance < 0 || static_cast<std::size_t>(pin.instance) >= module_.instances.size()) return 0;
      const Port* p = module_.instances[static_cast<std::size_t>(pin.instance)].interface.port(pin.name);
      return p == nullptr ? 0 : p->width - pin.lsb;
    }
  }
  return 0;
}

const Interface& Builder::interface(InstanceHandle instance) const {
  static const Interface kNone;
  if (instance.index() < 0) return kNone;
  return module_.instances[static_cast<std::size_t>(instance.index())].interface;
}

Module Builder::take() { return std::move(module_); }

}  // namespace rocegen::netlist
