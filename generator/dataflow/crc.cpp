#include "generator/dataflow/crc.h"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>
#include <vector>

namespace rocegen::dataflow {

namespace {

std::uint32_t step_bit(std::uint32_t state) { return (state >> 1) ^ ((state & 1U) != 0 ? kCrcPolynomial : 0); }

/// Inverse of step_bit: bit 31 of the polynomial is one, so bit 31 of the result tells what was shifted out.
std::uint32_t unstep_bit(std::uint32_t state) {
  const bool out = (state >> 31) != 0;
  return ((state ^ (out ? kCrcPolynomial : 0)) << 1) | (out ? 1U : 0U);
}

void want_width(int width, int max) {
  if (width < 8 || width > max || width % 8 != 0) {
    throw std::invalid_argument(fmt::format("data width {} is not a multiple of 8 from 8 to {}", width, max));
  }
}

/// Parity of the bits of `value` that each row of the matrix selects, as 32 one-bit nodes.
std::vector<NodeId> rows(Graph& graph, const CrcMatrix& matrix, NodeId value) {
  std::vector<NodeId> r;
  for (int i = 0; i < 32; ++i) r.push_back(graph.xor_reduce(value, BitVec(32, matrix.row(i))));
  return r;
}

constexpr int kZerosWidth = 8;

/// Level budget 0: without registers, clk and ce_i for the common port list only.
CompiledModule compile_pipeline(const Graph& graph, int level_budget) {
  Options options;
  if (level_budget == 0)
    options.combinational = true;
  else
    options.level_budget = level_budget;
  return compile(graph, options);
}

CompiledModule compile_combinational(const Graph& graph) {
  Options options;
  options.combinational = true;
  options.clock_ports = false;
  return compile(graph, options);
}

}  // namespace

std::uint32_t crc32_raw(std::uint32_t state, std::span<const std::uint8_t> bytes) {
  for (const auto byte : bytes) {
    state ^= byte;
    for (int i = 0; i < 8; ++i) state = step_bit(state);
  }
  return state;
}

CrcMatrix CrcMatrix::identity() {
  CrcMatrix m;
  for (std::size_t i = 0; i < 32; ++i) m.columns_[i] = 1U << i;
  return m;
}

CrcMatrix CrcMatrix::zeros(int bytes) {
  CrcMatrix step;
  for (std::size_t i = 0; i < 32; ++i) {
    std::uint32_t v = 1U << i;
    for (int k = 0; k < 8; ++k) v = bytes < 0 ? unstep_bit(v) : step_bit(v);
    step.columns_[i] = v;
  }
  CrcMatrix r = identity();
  for (auto n = static_cast<unsigned>(bytes < 0 ? -bytes : bytes); n != 0; n >>= 1) {
    if ((n & 1U) != 0) r = step * r;
    step = step * step;
  }
  return r;
}

std::uint32_t CrcMatrix::operator()(std::uint32_t state) const {
  std::uint32_t r = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    if ((state >> i & 1U) != 0) r ^= columns_[i];
  }
  return r;
}

CrcMatrix operator*(const CrcMatrix& a, const CrcMatrix& b) {
  CrcMatrix r;
  for (std::size_t i = 0; i < 32; ++i) r.columns_[i] = a(b.columns_[i]);
  return r;
}

std::uint32_t CrcMatrix::row(int bit) const {
  std::uint32_t r = 0;
  for (std::size_t i = 0; i < 32; ++i) r |= (columns_[i] >> bit & 1U) << i;
  return r;
}

Graph icrc_data_graph(int width) {
  want_width(width, kMaxWidth);
  Graph g("icrc_data",
          fmt::format("raw CRC-32 (reflected 0xEDB88320) of one {}-bit beat from a zero register, byte 0 = "
                      "data_i[7:0] first.",
                      width));
  const NodeId data = g.input("data_i", width, "one beat.");
  std::vector<BitVec> masks(32, BitVec(width));
  const CrcMatrix byte = CrcMatrix::zeros(1);
  // A byte that enters last stands alone; each byte after it advances its contribution by one zero byte.
  std::array<std::uint32_t, 8> image{};
  for (std::size_t bit = 0; bit < 8; ++bit) image[bit] = byte(1U << bit);
  for (int lo = width - 8; lo >= 0; lo -= 8) {
    for (std::size_t bit = 0; bit < 8; ++bit) {
      for (std::size_t out = 0; out < 32; ++out) {
        if ((image[bit] >> out & 1U) != 0) masks[out].set_bit(lo + static_cast<int>(bit), true);
      }
      image[bit] = byte(image[bit]);
    }
  }
  std::vector<NodeId> bits;
  for (int i = 0; i < 32; ++i) {
    bits.push_back(g.xor_reduce(data, masks[static_cast<std::size_t>(i)]));
    if (g.node(bits.back()).op == &ops::xor_reduce()) g.label(bits.back(), fmt::format("crc_bit{}", i));
  }
  const NodeId crc = g.from_bits(bits);
  g.label(crc, "crc");
  g.output("crc_o", crc, "the register after the beat.");
  return g;
}

Graph icrc_step_graph(int width) {
  want_width(width, kMaxWidth);
  Graph g("icrc_step", fmt::format("ICRC register after one more {}-bit beat.", width));
  const NodeId state = g.input("state_i", 32, "register before the beat.");
  const NodeId crc = g.input("crc_i", 32, "icrc_data of the beat.");
  const NodeId advanced = g.from_bits(rows(g, CrcMatrix::zeros(width / 8), state));
  g.label(advanced, "advanced");
  g.output("state_o", g.xor_(advanced, crc), fmt::format("state_i advanced by {} zero bytes, xor crc_i.", width / 8));
  return g;
}

Graph icrc_rewind_graph(int width) {
  const int max_zeros = width / 8 + 3;
  want_width(width, ((1 << kZerosWidth) - 1 - 3) * 8);
  Graph g("icrc_rewind",
          fmt::format("ICRC register before the last zeros_i bytes, which were zero; 0 to {}.", max_zeros));
  const NodeId state_in = g.input("state_i", 32, "register after the zero bytes.");
  const NodeId zeros = g.input("zeros_i", kZerosWidth, fmt::format("0 to {}.", max_zeros));
  NodeId state = state_in;
  const int digits = std::bit_width(static_cast<unsigned>(max_zeros));
  for (int digit = 0; digit < digits; ++digit) {
    // Conditional step as state ^ (take & change), so that xor absorbs the choice; change = (inverse - 1) state.
    const CrcMatrix inverse = CrcMatrix::zeros(-(1 << digit));
    const NodeId take = g.bit(zeros, digit);
    std::vector<NodeId> change;
    for (int i = 0; i < 32; ++i) {
      const std::uint32_t mask = inverse.row(i) ^ (1U << i);
      change.push_back(g.xor_reduce(state, BitVec(32, mask)));
    }
    state = g.xor_(state, g.and_(g.replicate(take, 32), g.from_bits(change)));
    g.label(state, fmt::format("back{}", 1 << digit));
  }
  g.output("state_o", state, "register before them.");
  return g;
}

Graph icrc_residue_graph(int width) {
  want_width(width, (1 << kZerosWidth) * 8);
  const int bytes = width / 8;
  Graph g("icrc_residue",
          fmt::format("ICRC register of a good frame after zeros_i further zero bytes, 0 to {}.", bytes - 1));
  const NodeId zeros = g.input("zeros_i", kZerosWidth, fmt::format("0 to {}.", bytes - 1));
  const int index_bits = std::max(1, log2_ceil(bytes));
  std::vector<BitVec> entries;
  const CrcMatrix byte = CrcMatrix::zeros(1);
  std::uint32_t state = kIcrcResidue;
  for (int i = 0; i < 1 << index_bits; ++i) {
    entries.emplace_back(32, state);
    state = byte(state);
  }
  g.output("state_o", g.table(g.slice(zeros, index_bits - 1, 0), entries), "the register that proves the frame good.");
  return g;
}

CompiledModule compile_icrc_data(int width, int level_budget) {
  return compile_pipeline(icrc_data_graph(width), level_budget);
}

CompiledModule compile_icrc_step(int width) { return compile_combinational(icrc_step_graph(width)); }

CompiledModule compile_icrc_rewind(int width, int level_budget) {
  return compile_pipeline(icrc_rewind_graph(width), level_budget);
}

CompiledModule compile_icrc_residue(int width) { return compile_combinational(icrc_residue_graph(width)); }

}  // namespace rocegen::dataflow
