// The RoCE v2 invariant CRC (ICRC) as dataflow graphs, for any data width.
//
// CRC-32 of IEEE 802.3 in its reflected form (0xEDB88320), as InfiniBand uses it for the ICRC (IBTA 1.5, 7.8.1; Linux
// drivers/infiniband/sw/rxe/rxe_icrc.c). Everything here is the raw register: no initial value, no final inversion.
// Bit 0 of byte 0 enters first; byte 0 of a beat is bits 7:0.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "generator/dataflow/compile.h"
#include "generator/dataflow/graph.h"

namespace rocegen::dataflow {

inline constexpr std::uint32_t kCrcPolynomial = 0xEDB88320U;
/// Register after the eight 0xFF bytes that stand in for the LRH, from a register of all ones (roce_pkg::IcrcInit).
inline constexpr std::uint32_t kIcrcInit = 0xDEBB20E3U;
/// kIcrcInit taken back over the 14 bytes of an Ethernet header fed as zero (roce_pkg::IcrcSeedEth).
inline constexpr std::uint32_t kIcrcSeedEth = 0xAE0BACAEU;
/// Register after a good frame including its ICRC field (roce_pkg::IcrcResidue); what any CRC-32 with final inversion
/// and least significant byte first leaves.
inline constexpr std::uint32_t kIcrcResidue = 0xDEBB20E3U;

/// The raw register after `bytes`, bit by bit: the definition that everything else is tested against.
std::uint32_t crc32_raw(std::uint32_t state, std::span<const std::uint8_t> bytes);

/// A linear map of 32-bit registers over GF(2).
class CrcMatrix {
 public:
  static CrcMatrix identity();
  /// Register after `bytes` zero bytes; negative: the register that many zero bytes earlier.
  static CrcMatrix zeros(int bytes);

  std::uint32_t operator()(std::uint32_t state) const;
  /// First `b`, then `a`.
  friend CrcMatrix operator*(const CrcMatrix& a, const CrcMatrix& b);
  friend bool operator==(const CrcMatrix&, const CrcMatrix&) = default;

  /// Which bits of the argument bit `bit` of the result is the parity of.
  std::uint32_t row(int bit) const;

 private:
  std::array<std::uint32_t, 32> columns_{};  // image of each single bit
};

/// `icrc_data`: data_i[width-1:0] -> crc_o[31:0], the register after one beat from a zero register. `width` is a
/// multiple of 8 from 8 to 4096; else std::invalid_argument.
Graph icrc_data_graph(int width);
/// `icrc_step`: state_i, crc_i -> state_o: state_i advanced by width/8 bytes of zero, xor crc_i.
Graph icrc_step_graph(int width);
/// `icrc_rewind`: state_i, zeros_i[7:0] -> state_o: state_i before zeros_i zero bytes, 0..width/8+3.
/// `width` up to 2016.
Graph icrc_rewind_graph(int width);
/// `icrc_residue`: zeros_i[7:0] -> state_o: kIcrcResidue after zeros_i zero bytes, 0..width/8-1. `width` up to 2048.
Graph icrc_residue_graph(int width);

/// The graphs above as modules. `level_budget` as in Options; a pipelined module ends in a register, so its latency is
/// at least 1. Budget 0: combinational, with the ports of a pipeline.
CompiledModule compile_icrc_data(int width, int level_budget);
CompiledModule compile_icrc_step(int width);
CompiledModule compile_icrc_rewind(int width, int level_budget);
CompiledModule compile_icrc_residue(int width);

}  // namespace rocegen::dataflow
