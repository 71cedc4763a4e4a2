#include "generator/netlist/packed.h"

#include <algorithm>
#include <map>

namespace rocegen::netlist {

bool insert_packed(Module& module, std::size_t index, const Library& library, Insertion insertion,
                   Diagnostics& diagnostics) {
  const StreamConnection& c = module.stream_connections[index];
  const auto source = stream_at(module, c.source);
  const auto sink = stream_at(module, c.sink);
  if (!source || !sink) return false;
  Stream carried = source->stream;
  std::erase_if(carried.fields, [&](const Field& f) {
    return std::find(c.dropped.begin(), c.dropped.end(), f.name) != c.dropped.end();
  });
  if (carried.fields.empty()) return false;
  std::map<std::string, int> offset;
  int width = 0;
  for (const Field& field : carried.fields) {
    offset[field.name] = width;
    width += field.width;
  }
  insertion.in_map = packing_map(carried);
  insertion.in_dropped = c.dropped;
  insertion.out_map = effective_map(c, source->stream, sink->stream);
  for (FieldMap& one : insertion.out_map) {
    for (Piece& piece : one.pieces) {
      if (piece.field.empty()) continue;
      piece.lsb += offset[piece.field];
      piece.field = "tdata";
    }
  }
  insertion.params.insert(insertion.params.begin(), {"Width", width});
  const std::string record = carried.fields.size() == 1 ? carried.fields.front().record : "";
  if (!insert(module, index, library, std::move(insertion), diagnostics)) return false;
  for (Stream& stream : module.instances.back().interface.streams) {
    for (Field& field : stream.fields) field.record = record;
  }
  return true;
}

}  // namespace rocegen::netlist
