#include "generator/netlist/passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "generator/netlist/check.h"
#include "generator/netlist/crossing.h"
#include "generator/netlist/names.h"
#include "generator/netlist/pipeline.h"
#include "generator/netlist/prune.h"
#include "generator/netlist/types.h"
#include "generator/netlist/width.h"
#include "generator/netlist/write_json.h"
#include "generator/spec/text.h"

namespace rocegen::netlist {

void PassManager::add(std::string name, PassFunction function) {
  passes_.push_back({std::move(name), std::move(function)});
}

void PassManager::dump_after(std::string name, std::function<void(const std::string& json)> sink) {
  dumps_.push_back({std::move(name), std::move(sink)});
}

std::vector<std::string> PassManager::names() const {
  std::vector<std::string> result;
  for (const Pass& pass : passes_) result.push_back(pass.name);
  return result;
}

bool PassManager::run(Design& design, const Library& library, Diagnostics& diagnostics) const {
  const std::vector<std::string> known = names();
  const std::size_t before = diagnostics.error_count();
  for (const Dump& dump : dumps_) {
    if (std::find(known.begin(), known.end(), dump.name) != known.end()) continue;
    const std::string near = spec::nearest(dump.name, known);
    diagnostics.error("E0338", {}, fmt::format("there is no pass '{}'", dump.name))
        .help(near.empty() ? fmt::format("the passes are {}", fmt::join(known, ", "))
                           : fmt::format("did you mean '{}'?", near));
  }
  check_structure(design, diagnostics);
  if (diagnostics.error_count() > before) return false;
  for (const Pass& pass : passes_) {
    pass.function(design, library, diagnostics);
    const std::size_t own = diagnostics.error_count();
    if (own == before) {
      check_structure(design, diagnostics);
      if (diagnostics.error_count() > before) {
        diagnostics.error("E0339", {}, fmt::format("pass '{}' broke the netlist", pass.name))
            .note("this is a fault of the generator, not of the input");
      }
    }
    for (const Dump& dump : dumps_) {
      if (dump.name == pass.name) dump.sink(write_json(design));
    }
    if (diagnostics.error_count() > before) return false;
  }
  return true;
}

PassManager standard_passes(const PassOptions& options) {
  PassManager manager;
  manager.add("types", types_pass);
  manager.add("width", width_pass);
  manager.add("crossing", [depth = options.crossing_depth](Design& d, const Library& l, Diagnostics& diags) {
    crossing_pass(d, l, depth, diags);
  });
  manager.add("pipeline", [depth = options.pipeline_depth](Design& d, const Library& l, Diagnostics& diags) {
    pipeline_pass(d, l, depth, diags);
  });
  manager.add("names", names_pass);
  manager.add("check", check_pass);
  manager.add("prune", prune_pass);
  return manager;
}

}  // namespace rocegen::netlist
