// A layout becomes modules: the operators of every lane, the packing of their results, and the arithmetic of positions
// and lengths.
//
// A beat has data_width / 32 lanes. With R words a row and g = gcd(lanes, R), a beat begins at a multiple of g within
// the row: there are R / g phases, and lane l sees the R / g columns that leave the remainder l mod g. So lanes of
// equal remainder are the same module, which gets the number of its column, and lanes whose columns have the same
// operators are, too. In a lane, columns whose operators differ in numbers only share the hardware: the numbers come
// out of a table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/dataflow/compile.h"
#include "generator/services/preprocess/layout.h"

namespace rocegen::preprocess {

/// Words of one beat against words of one row.
struct Geometry {
  int lanes = 1;
  int row = 1;     ///< words
  int group = 1;   ///< gcd of both
  int phases = 1;  ///< row / group
  int phase_bits = 1;
  int unit = 4;  ///< bytes that every column of the output is a multiple of: 1, 2, 4

  Geometry(const Layout& layout, int data_width);
};

/// Bits of a number of words of a message.
inline constexpr int kWordsBits = 30;

/// The operators of the columns that lanes of remainder `remainder` see: word_i, slot_i (which column, 0..phases-1;
/// there is none if it is always the same) -> word_o, the bytes of the output at the bottom.
dataflow::Graph lane_graph(const Layout& layout, const Geometry& geometry, int remainder, std::string name);
/// What the operators of one column make of a word (32 bits), at the bottom of 32 bits: word_i -> word_o.
dataflow::Graph column_graph(const Column& column);
/// Puts the results of a beat together: lanes_i (32 bits each), phase_i, words_i (words of the beat that are there) ->
/// data_o, bytes_o (bytes of output, from byte 0).
dataflow::Graph pack_graph(const Layout& layout, const Geometry& geometry);
/// Where a packet stands: words_i (words of the message in front of it), bytes_i (its bytes), addr_i -> phase_o,
/// addr_o, bytes_o (of its output), inside_o (it ends within a row).
dataflow::Graph span_graph(const Layout& layout, const Geometry& geometry);
/// Layout::length: bytes_i -> bytes_o.
dataflow::Graph length_graph(const Layout& layout);

/// The modules of a layout: pre_lane_*, pre_pack, pre_rows (lanes and pack together), pre_span, pre_length.
struct RowModules {
  std::vector<dataflow::CompiledModule> modules;
  int latency = 0;         ///< of pre_rows: cycles from data_i to data_o
  int length_latency = 0;  ///< of pre_length
  int span_latency = 0;    ///< of pre_span
  /// What a lane of each remainder is: an index into `modules`, or -1 where nothing of it is left.
  std::vector<int> lane_module;
};
RowModules compile_rows(const Layout& layout, int data_width, int level_budget);

/// Runs rows through the graphs: the words of a message (whole rows or not) become the bytes of its output.
std::vector<std::uint8_t> evaluate_rows(const Layout& layout, std::span<const std::uint32_t> words);

}  // namespace rocegen::preprocess
