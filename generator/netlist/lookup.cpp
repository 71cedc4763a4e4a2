#include "generator/netlist/lookup.h"

#include <fmt/format.h>

#include <algorithm>

namespace rocegen::netlist {

namespace {

bool valid_instance(const Module& module, int instance) {
  return instance >= 0 && static_cast<std::size_t>(instance) < module.instances.size();
}

const Instance& instance_at(const Module& module, int instance) {
  return module.instances[static_cast<std::size_t>(instance)];
}

}  // namespace

std::optional<StreamEnd> stream_at(const Module& module, const StreamRef& ref) {
  StreamEnd end;
  if (ref.instance == kTop) {
    const ModuleStream* port = module.port_stream(ref.stream);
    if (port == nullptr || ref.lane != kWholeStream) return std::nullopt;
    end.stream = port->as_stream();
    end.gives = port->role == Role::sink;
    end.domain = port->domain;
    return end;
  }
  if (!valid_instance(module, ref.instance)) return std::nullopt;
  const Instance& instance = instance_at(module, ref.instance);
  const Stream* stream = instance.interface.stream(ref.stream);
  if (stream == nullptr) return std::nullopt;
  if (stream->array ? ref.lane < 0 || ref.lane >= stream->lanes : ref.lane != kWholeStream) return std::nullopt;
  end.stream = *stream;
  end.gives = stream->role == Role::source;
  if (!stream->clock.empty()) end.domain = instance.domain_of_clock(stream->clock);
  return end;
}

std::optional<PinEnd> pin_at(const Module& module, const PinRef& ref) {
  PinEnd end;
  switch (ref.kind) {
    case PinRef::Kind::constant:
      end.width = ref.width;
      end.can_drive = true;
      return end;
    case PinRef::Kind::port: {
      const ModulePort* port = module.port(ref.name);
      if (port == nullptr) return std::nullopt;
      end.width = port->width;
      end.can_drive = port->direction == Direction::input;
      end.can_be_driven = !end.can_drive;
      end.domain = port->domain;
      return end;
    }
    case PinRef::Kind::net:
      for (const Net& net : module.nets) {
        if (net.name != ref.name) continue;
        end.width = net.width;
        end.can_drive = true;
        end.can_be_driven = net.reduce == Reduce::none;
        return end;
      }
      return std::nullopt;
    case PinRef::Kind::instance: {
      if (!valid_instance(module, ref.instance)) return std::nullopt;
      const Instance& instance = instance_at(module, ref.instance);
      const Port* port = instance.interface.port(ref.name);
      if (port == nullptr || !instance.interface.is_plain(ref.name)) return std::nullopt;
      end.width = port->width;
      end.can_drive = port->direction == Direction::output;
      end.can_be_driven = !end.can_drive;
      if (!port->clock.empty()) end.domain = instance.domain_of_clock(port->clock);
      return end;
    }
  }
  return std::nullopt;
}

PayloadMap effective_map(const StreamConnection& connection, const Stream& source, const Stream& sink) {
  if (!connection.map.empty()) return connection.map;
  PayloadMap map;
  for (const Field& field : sink.fields) {
    const Field* from = source.field(field.name);
    if (from != nullptr) map.push_back({field.name, {{field.name, 0, from->width, 0}}});
  }
  return map;
}

bool is_identity(const PayloadMap& map, const Stream& source) {
  return std::all_of(map.begin(), map.end(), [&](const FieldMap& one) {
    if (one.pieces.size() != 1) return false;
    const Piece& piece = one.pieces.front();
    const Field* from = source.field(one.field);
    return piece.field == one.field && piece.lsb == 0 && from != nullptr && piece.width == from->width;
  });
}

std::vector<std::string> parts_of(const PayloadMap& map, const Stream& source, const Stream& sink,
                                  std::string_view field) {
  struct Part {
    int lsb;
    int width;
    std::string name;
  };
  std::vector<Part> parts;
  for (const FieldMap& one : map) {
    for (const Piece& piece : one.pieces) {
      if (piece.field != field) continue;
      const Field* to = sink.field(one.field);
      if (one.pieces.size() != 1 || to == nullptr || to->width != piece.width) return {};
      parts.push_back({piece.lsb, piece.width, one.field});
    }
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.lsb > b.lsb; });
  const Field* from = source.field(field);
  int expected = from == nullptr ? 0 : from->width;
  std::vector<std::string> names;
  for (const Part& part : parts) {
    expected -= part.width;
    if (part.lsb != expected) return {};
    names.push_back(part.name);
  }
  if (expected != 0) return {};
  return names;
}

bool is_unpacking(const PayloadMap& map, const Stream& source, const Stream& sink) {
  if (source.fields.empty() || map.size() != sink.fields.size()) return false;
  for (const FieldMap& one : map) {
    if (one.pieces.size() != 1 || one.pieces.front().field.empty()) return false;
  }
  return std::all_of(source.fields.begin(), source.fields.end(),
                     [&](const Field& field) { return !parts_of(map, source, sink, field.name).empty(); });
}

Bundle bundle_of(const Module& module, const StreamConnection& connection) {
  const std::optional<StreamEnd> source = stream_at(module, connection.source);
  const std::optional<StreamEnd> sink = stream_at(module, connection.sink);
  if (connection.source.instance == kTop || !source || !sink) return Bundle::source_port;
  const PayloadMap map = effective_map(connection, source->stream, sink->stream);
  const bool plain = is_identity(map, source->stream);
  const bool unpacking = !plain && is_unpacking(map, source->stream, sink->stream);
  if (connection.sink.instance == kTop && connection.dropped.empty() &&
      source->stream.has_ready == sink->stream.has_ready) {
    if (plain) return Bundle::sink_port;
    if (unpacking) return Bundle::sink_port_unpacked;
  }
  return unpacking ? Bundle::own_sink : Bundle::own;
}

std::string base_name(std::string_view instance) {
  if (instance.size() > 2 && instance.ends_with("_i")) instance.remove_suffix(2);
  if (instance.size() > 2 && instance.starts_with("u_")) instance.remove_prefix(2);
  return std::string(instance);
}

std::string stream_base_name(const Module& module, const StreamRef& ref) {
  std::string text = ref.stream;
  if (valid_instance(module, ref.instance)) {
    // A cell with one stream in and one out calls them "axis": the instance's name says it all.
    text = base_name(instance_at(module, ref.instance).name);
    if (ref.stream.substr(2) != "axis") text += "_" + ref.stream.substr(2);
  }
  if (ref.lane != kWholeStream) text += fmt::format("_{}", ref.lane);
  return text;
}

std::string pin_base_name(const Module& module, int instance, std::string_view pin) {
  if (pin.ends_with("_o")) pin.remove_suffix(2);
  if (!valid_instance(module, instance)) return std::string(pin);
  return fmt::format("{}_{}", base_name(instance_at(module, instance).name), pin);
}

std::string clock_of_reset(std::string_view reset) { return "clk" + std::string(reset.substr(3)); }

Place place_of(const Module& module) {
  Place place;
  place.file = "module " + module.name;
  return place;
}

bool insert(Module& module, std::size_t index, const Library& library, Insertion insertion, Diagnostics& diagnostics) {
  Place at = place_of(module);
  at.file += fmt::format(", pass {}", insertion.pass);
  std::optional<Interface> interface = library.elaborate(insertion.module, insertion.params, diagnostics, at);
  if (!interface) return false;
  StreamConnection& before = module.stream_connections[index];
  Instance instance;
  instance.name = std::move(insertion.name);
  instance.params = std::move(insertion.params);
  instance.domains = std::move(insertion.domains);
  instance.comment = std::move(insertion.comment);
  instance.inserted_by = std::move(insertion.pass);
  instance.origin = before.origin;
  instance.interface = std::move(*interface);
  const int number = static_cast<int>(module.instances.size());

  StreamConnection after = before;  // instance -> sink
  after.source = {number, "m_axis", kWholeStream};
  after.map = std::move(insertion.out_map);
  after.dropped = std::move(insertion.out_dropped);
  after.name.clear();
  before.sink = {number, "s_axis", kWholeStream};
  before.map = std::move(insertion.in_map);
  before.dropped = std::move(insertion.in_dropped);
  before.weight = 0;  // what was inserted ends in registers: the second half is the wire to cut
  module.instances.push_back(std::move(instance));
  module.stream_connections.insert(module.stream_connections.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                                   std::move(after));
  return true;
}

PayloadMap packing_map(const Stream& stream) {
  FieldMap data{"tdata", {}};
  for (auto field = stream.fields.rbegin(); field != stream.fields.rend(); ++field) {
    data.pieces.push_back({field->name, 0, field->width, 0});
  }
  return {data};
}

PayloadMap unpacking_map(const Stream& stream) {
  PayloadMap map;
  int lsb = 0;
  for (const Field& field : stream.fields) {
    map.push_back({field.name, {{"tdata", lsb, field.width, 0}}});
    lsb += field.width;
  }
  return map;
}

}  // namespace rocegen::netlist
