#include "generator/dataflow/arrival.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace rocegen::dataflow {

namespace {

constexpr int kLutInputs = 6;
using Counts = std::array<int, kLutInputs + 1>;  // how many unfinished LUTs have that many inputs in use

/// Packs unfinished LUTs into as few as first-fit decreasing finds. Returns the number of bins; `fill` is the size of
/// the first.
int pack(Counts counts, int& fill) {
  int bins = 0;
  fill = 0;
  for (int size = kLutInputs; size > 0; --size) {
    while (counts[static_cast<std::size_t>(size)] > 0) {
      --counts[static_cast<std::size_t>(size)];
      int used = size;
      for (int add = std::min(size, kLutInputs - used); add > 0; add = std::min(add, kLutInputs - used)) {
        if (counts[static_cast<std::size_t>(add)] == 0) {
          --add;
          continue;
        }
        --counts[static_cast<std::size_t>(add)];
        used += add;
      }
      if (bins == 0) fill = used;
      ++bins;
    }
  }
  return bins;
}

}  // namespace

Arrival later(Arrival a, Arrival b) {
  if (a.level != b.level) return a.level > b.level ? a : b;
  return a.inputs >= b.inputs ? a : b;
}

Arrival latest(std::span<const Arrival> args) {
  Arrival r = kConstant;
  for (const auto& a : args) r = later(r, a);
  return r;
}

Arrival lut_arrival(std::span<const Arrival> args) {
  int level = 0;
  int count = 0;
  for (const auto& a : args) {
    level = std::max(level, a.level);
    count += a.inputs > 0 ? 1 : 0;
  }
  if (count == 0) return kConstant;
  int inputs = 0;
  for (const auto& a : args) inputs += a.level == level ? a.inputs : std::min(a.inputs, 1);
  if (level > 0 && inputs <= kLutInputs) return {level, inputs};
  // Every argument is finished at `level`; beyond six, multiplexer-like trees of four inputs a level.
  int levels = 1;
  while (count > kLutInputs) {
    count = (count + 3) / 4;
    ++levels;
  }
  return {level + levels, count};
}

Arrival tree_arrival(std::span<const Arrival> args) {
  std::map<int, Counts> pending;
  for (const auto& a : args) {
    if (a.inputs > 0) ++pending[a.level][static_cast<std::size_t>(std::min(a.inputs, kLutInputs))];
  }
  while (!pending.empty()) {
    const auto [level, counts] = *pending.begin();
    pending.erase(pending.begin());
    int bins = 0;
    int fill = 1;
    if (level == 0) {
      for (const int n : counts) bins += n;
    } else {
      bins = pack(counts, fill);
    }
    if (bins == 1 && pending.empty()) return {level, fill};
    // A finished signal is a LUT of the next level with one input in use.
    pending[level + 1][1] += bins;
  }
  return kConstant;
}

Arrival pair_arrival(Arrival a, Arrival b) {
  if (a.inputs == 0) return b;
  if (b.inputs == 0) return a;
  const Arrival high = a.level >= b.level ? a : b;
  const Arrival low = a.level >= b.level ? b : a;
  const int inputs = high.inputs + (low.level == high.level ? low.inputs : 1);
  if (high.level > 0 && inputs <= kLutInputs) return {high.level, inputs};
  return {high.level + 1, 2};
}

namespace {

/// Flat reduction of the window [lo, hi]: neighbours are joined pair by pair, round by round.
Arrival flat_arrival(Arrival bit, const BitVec& mask, int lo, int hi) {
  std::vector<Arrival> level;
  for (int i = lo; i <= hi; ++i) level.push_back(mask.bit(i) ? bit : kConstant);
  while (level.size() > 1) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      level[n++] = i + 1 < level.size() ? pair_arrival(level[i], level[i + 1]) : level[i];
    }
    level.resize(n);
  }
  return level[0];
}

BitVec window(const BitVec& mask, int lo, int hi) {
  BitVec r(mask.width());
  r.insert(lo, mask.slice(hi, lo));
  return r;
}

}  // namespace

ReductionPlan plan_reduction(Arrival bit, const BitVec& mask, bool split) {
  const int first = mask.lowest_one();
  const int last = mask.highest_one();
  ReductionPlan flat{{mask}, flat_arrival(bit, mask, first, last)};
  if (!split || flat.arrival.level <= bit.level + 1) return flat;
  std::vector<int> taps;
  for (int i = first; i <= last; ++i) {
    if (mask.bit(i)) taps.push_back(i);
  }
  // Windows as large as the level of a part permits, from the low end.
  std::size_t most = kLutInputs;
  for (int level = bit.level + 1; level < flat.arrival.level; ++level, most *= 4) {
    ReductionPlan plan;
    std::vector<Arrival> arrivals;
    for (std::size_t begin = 0; begin < taps.size() && plan.parts.size() <= kLutInputs;) {
      std::size_t count = std::min(most, taps.size() - begin);
      Arrival arrival = flat_arrival(bit, mask, taps[begin], taps[begin + count - 1]);
      while (arrival.level > level) {
        count -= std::max<std::size_t>(1, count / 16);
        arrival = flat_arrival(bit, mask, taps[begin], taps[begin + count - 1]);
      }
      plan.parts.push_back(window(mask, taps[begin], taps[begin + count - 1]));
      arrivals.push_back(arrival);
      begin += count;
    }
    if (plan.parts.size() > kLutInputs) continue;
    plan.arrival = tree_arrival(arrivals);
    if (plan.arrival.level <= flat.arrival.level) {
      const bool better = plan.arrival.level < flat.arrival.level || plan.arrival.inputs < flat.arrival.inputs;
      return better ? plan : flat;
    }
  }
  return flat;
}

int log2_ceil(int n) { return n <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<unsigned>(n) - 1)); }

}  // namespace rocegen::dataflow
