#include <nlohmann/json.hpp>

#include "generator/outputs/outputs.h"

namespace rocegen::outputs {

using Json = nlohmann::ordered_json;

namespace {

Json to_json(const Field& field) {
  Json out = {{"name", field.name}, {"lsb", field.lsb}, {"width", field.width}, {"access", to_string(field.access)}};
  if (field.access == Access::rw || (field.access == Access::ro && field.source.empty())) out["reset"] = field.reset;
  if (!field.doc.empty()) out["doc"] = field.doc;
  return out;
}

Json to_json(const netlist::ParamValue& value) {
  if (value.is_number()) return value.number();
  return value.text();
}

}  // namespace

std::string write_manifest(const stack::Stack& stack, const std::vector<Source>& sources) {
  const netlist::Module& top = stack.design.top();
  Json out;
  out["format"] = 1;
  out["generator"] = {{"name", "rocegen"}, {"version", ROCEGEN_VERSION}};
  out["name"] = stack.spec.name;
  out["top"] = top.name;
  out["spec_sha256"] = stack.hash;
  out["spec"] = spec::to_json(stack.spec);
  out["part"] = stack.spec.target.part;

  Json& domains = out["clocks"] = Json::array();
  for (const netlist::Domain& domain : top.domains)
    domains.push_back({{"clock", domain.clock_port()}, {"reset", domain.reset_port()}, {"mhz", domain.mhz}});

  Json& files = out["sources"] = Json::array();
  for (const Source& source : sources)
    files.push_back({{"path", source.path}, {"module", source.module}, {"origin", source.origin}});

  Json& compiled = out["compiled"] = Json::array();
  for (const stack::WrittenModule& module : stack.written)
    if (module.name != "csr")
      compiled.push_back({{"module", module.name}, {"latency", module.latency}, {"levels", module.levels}});

  Json& instances = out["instances"] = Json::array();
  for (const netlist::Instance& instance : top.instances) {
    Json parameters = Json::object();
    for (const netlist::Param& param : instance.params) parameters[param.name] = to_json(param.value);
    Json item = {{"name", instance.name}, {"module", instance.interface.module}, {"parameters", parameters}};
    if (!instance.comment.empty()) item["comment"] = instance.comment;
    if (!instance.inserted_by.empty()) item["inserted_by"] = instance.inserted_by;
    instances.push_back(std::move(item));
  }

  Json& ports = out["ports"] = Json::array();
  for (const TopPort& port : list_ports(top)) {
    Json item = {{"name", port.name}, {"direction", port.direction}, {"width", port.width}};
    if (!port.domain.empty()) item["clock"] = port.domain;
    ports.push_back(std::move(item));
  }

  Json& registers = out["registers"] = Json::array();
  for (const Register& reg : stack.registers.registers) {
    Json fields = Json::array();
    for (const Field& field : reg.fields) fields.push_back(to_json(field));
    registers.push_back(
        {{"name", reg.name}, {"address", reg.address}, {"doc", reg.doc}, {"fields", std::move(fields)}});
  }
  Json& counters = out["counters"] = Json::array();
  for (const Counter& counter : stack.registers.counters)
    counters.push_back({{"name", counter.name}, {"address", counter.address}, {"instance", counter.instance}});
  return out.dump(2) + "\n";
}

}  // namespace rocegen::outputs
