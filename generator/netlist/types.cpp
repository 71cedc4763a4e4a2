#include "generator/netlist/types.h"

#include "generator/netlist/check.h"
#include "generator/netlist/lookup.h"

namespace rocegen::netlist {

namespace {

std::vector<Field>* fields_of(Module& module, const StreamRef& ref) {
  if (ref.instance == kTop) {
    for (ModuleStream& stream : module.streams) {
      if (stream.name == ref.stream) return &stream.fields;
    }
    return nullptr;
  }
  Stream* stream = module.instances[static_cast<std::size_t>(ref.instance)].interface.stream(ref.stream);
  return stream == nullptr ? nullptr : &stream->fields;
}

// Gives `to` the tags that it lacks; true when something changed.
bool spread(const std::vector<Field>& from, std::vector<Field>& to) {
  bool changed = false;
  for (Field& field : to) {
    for (const Field& other : from) {
      if (field.name != other.name || field.width != other.width || !field.record.empty() || other.record.empty())
        continue;
      field.record = other.record;
      changed = true;
    }
  }
  return changed;
}

bool spread_forward(Module& module) {
  bool changed = false;
  for (const StreamConnection& c : module.stream_connections) {
    if (!c.map.empty()) continue;
    std::vector<Field>* from = fields_of(module, c.source);
    std::vector<Field>* to = fields_of(module, c.sink);
    if (from != nullptr && to != nullptr) changed = spread(*from, *to) || changed;
  }
  for (Instance& instance : module.instances) {
    for (const auto& [in, out] : instance.interface.passes) {
      const Stream* from = instance.interface.stream(in);
      Stream* to = instance.interface.stream(out);
      if (from != nullptr && to != nullptr) changed = spread(from->fields, to->fields) || changed;
    }
  }
  return changed;
}

// From readers to drivers: documents ports and FIFOs whose other side is known. After spread_forward, so that it cannot
// hide that two different records meet.
bool spread_backward(Module& module) {
  bool changed = false;
  for (const StreamConnection& c : module.stream_connections) {
    if (!c.map.empty()) continue;
    std::vector<Field>* from = fields_of(module, c.source);
    std::vector<Field>* to = fields_of(module, c.sink);
    if (from != nullptr && to != nullptr) changed = spread(*to, *from) || changed;
  }
  for (Instance& instance : module.instances) {
    for (const auto& [in, out] : instance.interface.passes) {
      Stream* from = instance.interface.stream(in);
      const Stream* to = instance.interface.stream(out);
      if (from != nullptr && to != nullptr) changed = spread(to->fields, from->fields) || changed;
    }
  }
  return changed;
}

}  // namespace

void types_pass(Design& design, const Library& /*library*/, Diagnostics& diagnostics) {
  for (Module& module : design.modules) {
    while (spread_forward(module)) {
    }
    while (spread_backward(module)) {
    }
  }
  check_payloads(design, true, diagnostics);
}

}  // namespace rocegen::netlist
