// JSON netlist: the whole design as data, for other tools and for --dump-after.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "generator/netlist/ir.h"

namespace rocegen::netlist {

// The design as JSON; keys and arrays in a fixed order. Schema: see README.md of this folder.
[[nodiscard]] nlohmann::ordered_json to_json(const Design& design);
[[nodiscard]] nlohmann::ordered_json to_json(const Module& module);
// Indented by 2, with a line end.
[[nodiscard]] std::string write_json(const Design& design);

}  // namespace rocegen::netlist
