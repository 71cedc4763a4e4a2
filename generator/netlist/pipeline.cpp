#include "generator/netlist/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/netlist/packed.h"

namespace rocegen::netlist {

std::vector<Slice> slices(int depth, int weight) {
  if (depth <= 0 || weight <= 0) return {};
  const int sets = weight == 1 ? depth - 1 : 2 * depth - 1;
  std::vector<Slice> result;
  if (sets % 2 == 1) result.push_back(Slice::reg);
  result.insert(result.end(), static_cast<std::size_t>(sets / 2), Slice::skid);
  return result;
}

void pipeline_pass(Design& design, const Library& library, int depth, Diagnostics& diagnostics) {
  for (Module& module : design.modules) {
    for (std::size_t i = 0; i < module.stream_connections.size(); ++i) {
      const StreamConnection c = module.stream_connections[i];
      const auto source = stream_at(module, c.source);
      const auto sink = stream_at(module, c.sink);
      if (!source || !sink || !source->stream.has_ready || !sink->stream.has_ready) continue;
      const std::vector<Slice> wanted = slices(depth, c.weight);
      const std::string base = stream_base_name(module, c.source);
      const std::string domain = source->domain ? *source->domain : sink->domain.value_or("");
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        Insertion insertion;
        insertion.name = fmt::format("{}_slice{}_i", base, k);
        insertion.module = wanted[k] == Slice::reg ? "stream_reg" : "stream_skid";
        insertion.comment =
            fmt::format("pipeline_depth {}, weight {}: slice {} of {} in {} -> {}", depth, std::min(c.weight, 2), k + 1,
                        wanted.size(), module.describe(c.source), module.describe(c.sink));
        insertion.pass = "pipeline";
        insertion.domains = {{"clk", domain}};
        if (!insert_packed(module, i, library, std::move(insertion), diagnostics)) break;
        ++i;
      }
    }
  }
}

}  // namespace rocegen::netlist
