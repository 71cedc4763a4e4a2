// Register map of a generated NIC: names to addresses, from its manifest or, without one, as docs/architecture.md says.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/model/bytes.h"

namespace rocegen::sim {

struct CounterInfo {
  std::string name;
  uint16_t address = 0;
};

struct RegisterMap {
  std::map<std::string, uint16_t, std::less<>> registers;
  std::vector<CounterInfo> counters;

  /// The map of docs/architecture.md; no counters.
  static RegisterMap standard();
  /// Takes "registers" and "counters" (arrays of {"name", "address"}, numbers or "0x..." strings) from a manifest, at
  /// its top level or within "register_map". Names that the driver needs and the manifest lacks are an error.
  static bool from_manifest(const nlohmann::ordered_json& manifest, RegisterMap& out, std::string& error);

  /// Address of a register that from_manifest() made sure of.
  uint16_t at(std::string_view name) const { return registers.find(name)->second; }
};

}  // namespace rocegen::sim
