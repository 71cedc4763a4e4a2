#include "generator/netlist/crossing.h"

#include <fmt/format.h>

#include "generator/netlist/packed.h"

namespace rocegen::netlist {

void crossing_pass(Design& design, const Library& library, int depth, Diagnostics& diagnostics) {
  for (Module& module : design.modules) {
    for (std::size_t i = 0; i < module.stream_connections.size(); ++i) {
      const StreamConnection& c = module.stream_connections[i];
      const auto source = stream_at(module, c.source);
      const auto sink = stream_at(module, c.sink);
      if (!source || !sink || !source->domain || !sink->domain || *source->domain == *sink->domain) continue;
      const auto clock = [](const std::string& domain) {
        return domain.empty() ? std::string("clk") : "clk_" + domain;
      };
      Insertion insertion;
      insertion.name = stream_base_name(module, c.source) + "_cdc_i";
      insertion.module = "stream_cdc";
      insertion.params = {{"Depth", depth}};
      insertion.comment = fmt::format("{} to {}: {} -> {}", clock(*source->domain), clock(*sink->domain),
                                      module.describe(c.source), module.describe(c.sink));
      insertion.pass = "crossing";
      insertion.domains = {{"clk_s", *source->domain}, {"clk_m", *sink->domain}};
      if (insert_packed(module, i, library, std::move(insertion), diagnostics)) ++i;
    }
  }
}

}  // namespace rocegen::netlist
