// The delay model: how deep a value is in LUT6 logic, bit-exact enough to cut pipelines by.
#pragma once

#include <span>
#include <vector>

#include "generator/dataflow/bitvec.h"

namespace rocegen::dataflow {

/// When the worst bit of a value is ready: after `level` LUT6 levels, the last of which has `inputs` of its six inputs
/// in use, so that a following small function may still fit into the same LUT. {0, 1} is a register or a port, {0, 0} a
/// constant.
struct Arrival {
  int level = 0;
  int inputs = 1;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

constexpr Arrival kRegister{0, 1};
constexpr Arrival kConstant{0, 0};

/// The later of two values.
Arrival later(Arrival a, Arrival b);
/// The latest of all; kConstant when empty.
Arrival latest(std::span<const Arrival> args);

/// A function of few values that fits into one LUT6 when their cones together have at most six inputs, else takes a
/// further level; more than six values take a tree of levels.
Arrival lut_arrival(std::span<const Arrival> args);

/// An associative function (and, or, xor) of any number of values, built as the shallowest tree of LUT6.
Arrival tree_arrival(std::span<const Arrival> args);

/// An associative function of two values, each in a cone that nothing else reads.
Arrival pair_arrival(Arrival a, Arrival b);

/// How an associative reduction (parity, or, and) of selected bits is written, and what it costs.
///
/// Yosys maps a flat `^(x & mask)` as a binary tree over the positions of its operand, unselected ones included, and
/// ABC keeps that shape. So a flat form fills its LUTs badly: 24 taps of 24 positions take two levels, 25 take three
/// (measured). Up to six flat parts, each over a window, that are joined explicitly use the last level's LUT fully.
struct ReductionPlan {
  std::vector<BitVec> parts;  ///< masks of the flat parts, disjoint, lowest window first
  Arrival arrival;
};

/// The shallowest plan for bits that arrive alike; one part only unless `split`. The mask is not zero.
ReductionPlan plan_reduction(Arrival bit, const BitVec& mask, bool split);

/// ceil(log2(n)), 0 for n <= 1.
int log2_ceil(int n);

}  // namespace rocegen::dataflow
