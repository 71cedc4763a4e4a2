#include "generator/netlist/width.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/netlist/check.h"
#include "generator/netlist/lookup.h"

namespace rocegen::netlist {

namespace {

void adapt(Module& module, std::size_t index, const Library& library, Diagnostics& diagnostics) {
  const StreamConnection c = module.stream_connections[index];
  const auto source = stream_at(module, c.source);
  const auto sink = stream_at(module, c.sink);
  if (!source || !sink || !width_differs(c, source->stream, sink->stream)) return;
  const int from = source->stream.field("tdata")->width;
  const int to = sink->stream.field("tdata")->width;
  const bool up = to > from;
  if ((up ? to % from : from % to) != 0) {
    diagnostics.error("E0335", place_of(module), fmt::format("stream width {} cannot be adapted to {}", from, to))
        .note(
            fmt::format("{} -> {}, connected by {}", module.describe(c.source), module.describe(c.sink), c.origin.text))
        .help("use widths of which one is a multiple of the other");
    return;
  }
  const PayloadMap map = effective_map(c, source->stream, sink->stream);
  const auto whole_user = [&]() -> const Field* {  // the source's tuser, when the sink takes it as it is
    for (const FieldMap& one : map) {
      if (one.field == "tuser" && one.pieces.size() == 1 && one.pieces.front().field == "tuser")
        return source->stream.field("tuser");
    }
    return nullptr;
  };
  const Field* user = whole_user();
  const int user_width = user != nullptr ? user->width : 1;

  Insertion insertion;
  insertion.name = stream_base_name(module, c.source) + "_width_i";
  insertion.module = up ? "width_up" : "width_down";
  insertion.params = {{"InBytes", from / 8}, {"OutBytes", to / 8}, {"UserW", user_width}};
  insertion.comment =
      fmt::format("{} bits to {}: {} -> {}", from, to, module.describe(c.source), module.describe(c.sink));
  insertion.pass = "width";
  const auto domain =
      up ? (source->domain ? source->domain : sink->domain) : (sink->domain ? sink->domain : source->domain);
  insertion.domains = {{"clk", domain.value_or("")}};
  insertion.in_map = {
      {"tdata", {{"tdata", 0, from, 0}}}, {"tkeep", {{"tkeep", 0, from / 8, 0}}}, {"tlast", {{"tlast", 0, 1, 0}}}};
  insertion.in_map.push_back({"tuser", {user != nullptr ? Piece{"tuser", 0, user_width, 0} : Piece{"", 0, 1, 0}}});
  insertion.in_dropped = c.dropped;
  for (const Field& field : sink->stream.fields) {
    FieldMap one{field.name, {{field.name, 0, field.width, 0}}};
    if (field.name == "tuser" && user == nullptr) {  // constants, or a faulty map that the check has reported
      for (const FieldMap& given : map) {
        if (given.field == "tuser") one.pieces = given.pieces;
      }
    }
    insertion.out_map.push_back(std::move(one));
  }
  if (user == nullptr) insertion.out_dropped.push_back("tuser");
  if (!insert(module, index, library, std::move(insertion), diagnostics)) return;
  // The record that the packet carries is the same behind the adapter.
  if (user != nullptr) {
    for (Stream& stream : module.instances.back().interface.streams) {
      for (Field& field : stream.fields) {
        if (field.name == "tuser") field.record = user->record;
      }
    }
  }
}

}  // namespace

void width_pass(Design& design, const Library& library, Diagnostics& diagnostics) {
  for (Module& module : design.modules) {
    for (std::size_t i = 0; i < module.stream_connections.size(); ++i) adapt(module, i, library, diagnostics);
  }
}

}  // namespace rocegen::netlist
