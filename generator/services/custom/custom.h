// The service type `custom`: a module of the user's own in the stream of an attach point.
#pragma once

#include "generator/services/service.h"

namespace rocegen::services {

const ServiceType& custom_type();

/// A port that a stage may have. Widths are those of the stack's streams.
struct ContractPort {
  std::string name;
  netlist::Direction direction = netlist::Direction::input;
  int width = 1;
  bool required = true;
  std::string group;  ///< optional ports that come together; empty: alone
};

/// What a stage at `point` may have beside clk and rst, in the order of a header.
std::vector<ContractPort> contract(Attach point, const spec::StackSpec& spec, const netlist::Library& library);

/// SystemVerilog of a stage that hands on what it gets: the start of a service. `name` is the module.
std::string skeleton(const std::string& name, Attach point);
/// A small specification that has it, in the same folder, and a scenario that runs it.
std::string skeleton_spec(const std::string& name, Attach point);
std::string skeleton_scenario(const std::string& name, Attach point);

}  // namespace rocegen::services
