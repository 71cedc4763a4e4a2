// The IPv4 header checksum as a dataflow graph.
#pragma once

#include <cstdint>
#include <span>

#include "generator/dataflow/compile.h"
#include "generator/dataflow/graph.h"

namespace rocegen::dataflow {

/// Internet checksum (RFC 1071) of an even number of bytes: the complement of the one's complement sum of the 16-bit
/// words, first byte high. The straightforward definition, folding as often as carries appear.
std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes);

/// `ipv4_checksum`: header_i[159:0] (byte 0 in bits 7:0) -> csum_o[15:0], the bytes 10 and 11 of the header: [7:0] is
/// byte 10. The checksum field must be zero to make a header; with the field in place a good header gives zero.
Graph ipv4_checksum_graph();
CompiledModule compile_ipv4_checksum(int level_budget);

}  // namespace rocegen::dataflow
