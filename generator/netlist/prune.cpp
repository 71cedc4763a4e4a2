#include "generator/netlist/prune.h"

#include <algorithm>

namespace rocegen::netlist {

void prune_pass(Design& design, const Library& library, Diagnostics& /*diagnostics*/) {
  std::vector<std::string> used;
  for (const Module& module : design.modules) {
    for (const Instance& instance : module.instances) used.push_back(instance.interface.module);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  design.library_modules = library.closure(used);
  const auto own = [&](const std::string& name) {
    return std::any_of(design.modules.begin(), design.modules.end(), [&](const Module& m) { return m.name == name; });
  };
  std::erase_if(design.library_modules, own);
  design.package_files = library.package_files(design.library_modules);
  design.include_files = library.include_files(design.library_modules);
}

}  // namespace rocegen::netlist
