#include "generator/netlist/write_json.h"

#include <fmt/format.h>

#include "generator/netlist/lookup.h"

namespace rocegen::netlist {

namespace {

using Json = nlohmann::ordered_json;

Json param_json(const ParamValue& value) {
  if (value.is_number()) return value.number();
  return value.text();
}

Json params_json(const Params& params) {
  Json json = Json::object();
  for (const Param& param : params) json[param.name] = param_json(param.value);
  return json;
}

Json fields_json(const std::vector<Field>& fields) {
  Json json = Json::array();
  for (const Field& field : fields) {
    Json one{{"name", field.name}, {"width", field.width}};
    if (!field.record.empty()) one["record"] = field.record;
    json.push_back(std::move(one));
  }
  return json;
}

const char* text(Direction direction) { return direction == Direction::input ? "input" : "output"; }

Json attributes_json(const std::vector<Attribute>& attributes) {
  Json json = Json::object();
  for (const Attribute& attribute : attributes) json[attribute.key] = attribute.value;
  return json;
}

Json ref_json(const Module& module, const StreamRef& ref) {
  Json json;
  if (ref.instance >= 0) json["instance"] = module.instances[static_cast<std::size_t>(ref.instance)].name;
  json["stream"] = ref.stream;
  if (ref.lane != kWholeStream) json["lane"] = ref.lane;
  return json;
}

Json ref_json(const Module& module, const PinRef& ref) {
  Json json;
  switch (ref.kind) {
    case PinRef::Kind::constant:
      return {{"constant", ref.value}, {"width", ref.width}};
    case PinRef::Kind::port:
      json["port"] = ref.name;
      break;
    case PinRef::Kind::net:
      json["net"] = ref.name;
      break;
    case PinRef::Kind::instance:
      json["instance"] = module.instances[static_cast<std::size_t>(ref.instance)].name;
      json["pin"] = ref.name;
      break;
  }
  json["lsb"] = ref.lsb;
  json["width"] = ref.width;
  return json;
}

Json map_json(const PayloadMap& map) {
  Json json = Json::object();
  for (const FieldMap& one : map) {
    Json pieces = Json::array();
    for (const Piece& piece : one.pieces) {
      if (piece.field.empty()) {
        pieces.push_back({{"constant", piece.value}, {"width", piece.width}});
      } else {
        pieces.push_back({{"field", piece.field}, {"lsb", piece.lsb}, {"width", piece.width}});
      }
    }
    json[one.field] = std::move(pieces);
  }
  return json;
}

Json instance_json(const Instance& instance) {
  Json json{{"name", instance.name},
            {"module", instance.interface.module},
            {"parameters", params_json(instance.interface.params)}};
  Json given = Json::array();
  for (const Param& param : instance.params) given.push_back(param.name);
  json["overridden"] = std::move(given);
  Json domains = Json::object();
  for (const auto& [clock, domain] : instance.domains) domains[clock] = domain.empty() ? "clk" : "clk_" + domain;
  json["clocks"] = std::move(domains);
  if (!instance.comment.empty()) json["comment"] = instance.comment;
  if (!instance.inserted_by.empty()) json["inserted_by"] = instance.inserted_by;
  Json pins = Json::array();
  for (const Port& port : instance.interface.ports) {
    if (!instance.interface.is_plain(port.name)) continue;
    Json pin{{"name", port.name}, {"direction", text(port.direction)}, {"width", port.width}};
    if (!port.record.empty()) pin["record"] = port.record;
    for (const auto& [name, wire] : instance.wires) {
      if (name == port.name) pin["wire"] = wire;
    }
    pins.push_back(std::move(pin));
  }
  json["pins"] = std::move(pins);
  Json streams = Json::array();
  for (const Stream& stream : instance.interface.streams) {
    Json one{{"name", stream.name}, {"role", stream.role == Role::sink ? "sink" : "source"}};
    if (stream.array) one["lanes"] = stream.lanes;
    if (!stream.has_ready) one["ready"] = false;
    one["packet"] = stream.is_packet();
    one["fields"] = fields_json(stream.fields);
    if (!stream.clock.empty()) one["clock"] = stream.clock;
    streams.push_back(std::move(one));
  }
  json["streams"] = std::move(streams);
  return json;
}

}  // namespace

Json to_json(const Module& module) {
  Json json;
  json["name"] = module.name;
  if (!module.comment.empty()) json["comment"] = module.comment;
  Json domains = Json::array();
  for (const Domain& domain : module.domains) {
    Json one{{"clock", domain.clock_port()}, {"reset", domain.reset_port()}};
    if (domain.mhz > 0) one["mhz"] = domain.mhz;
    domains.push_back(std::move(one));
  }
  json["domains"] = std::move(domains);
  Json ports = Json::array();
  for (const auto& [is_stream, number] : module.port_order) {
    Json one;
    if (is_stream) {
      const ModuleStream& stream = module.streams[static_cast<std::size_t>(number)];
      one = {{"stream", stream.name},
             {"role", stream.role == Role::sink ? "sink" : "source"},
             {"ready", stream.has_ready},
             {"fields", fields_json(stream.fields)},
             {"clock", stream.domain.empty() ? "clk" : "clk_" + stream.domain}};
      if (!stream.comment.empty()) one["comment"] = stream.comment;
      if (!stream.attributes.empty()) one["attributes"] = attributes_json(stream.attributes);
    } else {
      const ModulePort& port = module.ports[static_cast<std::size_t>(number)];
      one = {{"port", port.name},
             {"direction", text(port.direction)},
             {"width", port.width},
             {"clock", port.domain.empty() ? "clk" : "clk_" + port.domain}};
      if (!port.record.empty()) one["record"] = port.record;
      if (!port.comment.empty()) one["comment"] = port.comment;
      if (!port.attributes.empty()) one["attributes"] = attributes_json(port.attributes);
    }
    ports.push_back(std::move(one));
  }
  json["ports"] = std::move(ports);
  Json instances = Json::array();
  for (const Instance& instance : module.instances) instances.push_back(instance_json(instance));
  json["instances"] = std::move(instances);
  Json streams = Json::array();
  for (const StreamConnection& c : module.stream_connections) {
    Json one{{"source", ref_json(module, c.source)}, {"sink", ref_json(module, c.sink)}, {"weight", c.weight}};
    if (!c.name.empty()) one["wires"] = c.name;
    if (!c.map.empty()) one["map"] = map_json(c.map);
    if (!c.dropped.empty()) one["dropped"] = c.dropped;
    if (!c.comment.empty()) one["comment"] = c.comment;
    streams.push_back(std::move(one));
  }
  json["stream_connections"] = std::move(streams);
  Json pins = Json::array();
  for (const PinConnection& c : module.pin_connections) {
    Json one{{"driver", ref_json(module, c.driver)}, {"sink", ref_json(module, c.sink)}};
    if (!c.quasi_static.empty()) one["quasi_static"] = c.quasi_static;
    if (!c.comment.empty()) one["comment"] = c.comment;
    pins.push_back(std::move(one));
  }
  json["pin_connections"] = std::move(pins);
  Json nets = Json::array();
  for (const Net& net : module.nets) {
    Json one{{"name", net.name}, {"width", net.width}};
    if (net.reduce != Reduce::none) {
      one["reduce"] = net.reduce == Reduce::all ? "and" : "or";
      Json operands = Json::array();
      for (const PinRef& operand : net.operands) operands.push_back(ref_json(module, operand));
      one["operands"] = std::move(operands);
    }
    if (!net.comment.empty()) one["comment"] = net.comment;
    nets.push_back(std::move(one));
  }
  json["nets"] = std::move(nets);
  Json opens = Json::array();
  for (const Open& open : module.opens) {
    Json one = open.is_stream ? ref_json(module, open.stream) : ref_json(module, open.pin);
    one["reason"] = open.reason;
    opens.push_back(std::move(one));
  }
  json["left_open"] = std::move(opens);
  return json;
}

Json to_json(const Design& design) {
  Json json;
  json["format"] = "rocegen-netlist-1";
  json["top"] = design.modules.empty() ? "" : design.top().name;
  Json modules = Json::array();
  for (const Module& module : design.modules) modules.push_back(to_json(module));
  json["modules"] = std::move(modules);
  json["library_modules"] = design.library_modules;
  json["package_files"] = design.package_files;
  json["include_files"] = design.include_files;
  return json;
}

std::string write_json(const Design& design) {
  return to_json(design).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rocegen::netlist
