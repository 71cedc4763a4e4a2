// The passes of the compiler: each makes a graph with the same ports and values, cheaper to build. Common
// subexpressions, constants and dead nodes go away whenever a graph is copied (Graph::apply, rebuild).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "generator/dataflow/graph.h"

namespace rocegen::dataflow {

/// What is known of every live node, by node index; full of an unread one.
std::vector<Range> analyse_ranges(const Graph& graph);

/// Drops what no output needs; shares and folds again.
Graph fold(const Graph& graph);

/// Computes every value in as few bits as its range and its readers need; decides comparisons and selections whose
/// outcome is known.
Graph narrow(const Graph& graph);

/// Quotients and remainders by constants become products; powers of two are shifts and masks already.
Graph reduce_strength(const Graph& graph);

/// Trees of sums, differences, products and population counts become columns of bits, carry-save compressed by 6:3 and
/// 3:2 counters, and one adder. Constant factors enter as canonical signed digits, variable products as partial
/// products (Baugh and Wooley), signed terms with their sign bit inverted and a correction in one shared constant.
Graph save_carries(const Graph& graph);

/// Chains of and, or, xor become one node of many arguments; chains of minima and maxima become balanced trees.
Graph balance(const Graph& graph);

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&);
};

/// The passes in the order in which optimise() runs them; some run twice.
std::span<const Pass> passes();

/// All passes.
Graph optimise(const Graph& graph);

/// LUTs of a graph, the sum of what its operators tell, about.
int estimate_luts(const Graph& graph);

}  // namespace rocegen::dataflow
