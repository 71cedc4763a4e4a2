#include <algorithm>

#include "sim/harness/fuzz.h"

namespace rocegen::sim {
namespace {

/// `drop` and the range, in order and without overlap.
std::vector<FrameRange> joined(std::vector<FrameRange> drop, FrameRange more) {
  drop.push_back(more);
  std::sort(drop.begin(), drop.end(), [](const FrameRange& a, const FrameRange& b) { return a.first < b.first; });
  std::vector<FrameRange> out;
  for (const FrameRange& r : drop) {
    if (!out.empty() && r.first <= out.back().end) {
      out.back().end = std::max(out.back().end, r.end);
    } else {
      out.push_back(r);
    }
  }
  return out;
}

bool covers(const std::vector<FrameRange>& drop, FrameRange r) {
  return std::any_of(drop.begin(), drop.end(),
                     [&](const FrameRange& d) { return d.first <= r.first && r.end <= d.end; });
}

}  // namespace

std::vector<FrameRange> shrink_fuzz(const std::function<std::unique_ptr<Station>(size_t)>& factory,
                                    const FuzzOptions& options, uint64_t runs) {
  FuzzOptions o = options;
  o.pcap = nullptr;
  o.progress = {};
  const auto fails = [&](const std::vector<FrameRange>& drop) {
    --runs;
    o.drop = drop;
    return !run_fuzz(factory, o).ok;
  };
  // Halves first, single frames last; of equal parts the early ones, which are the least likely to matter.
  std::vector<FrameRange> drop = options.drop;
  for (uint64_t part = (o.frames + 1) / 2; part != 0; part /= 2) {
    for (uint64_t first = 0; first < o.frames && runs != 0; first += part) {
      const FrameRange r{first, std::min(first + part, o.frames)};
      if (covers(drop, r)) continue;
      if (auto more = joined(drop, r); fails(more)) drop = std::move(more);
    }
  }
  return drop;
}

}  // namespace rocegen::sim
