// Byte strings and big-endian fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rocegen::sim {

using Bytes = std::vector<uint8_t>;
using ByteView = std::span<const uint8_t>;

/// Simulation time in picoseconds.
using Ps = uint64_t;
inline constexpr Ps kNever = ~Ps{0};
inline constexpr Ps kNs = 1000;

/// Big-endian unsigned value of `n` (1..8) bytes at `p`.
inline uint64_t get_be(const uint8_t* p, size_t n) {
  uint64_t v = 0;
  for (size_t i = 0; i < n; ++i) v = (v << 8) | p[i];
  return v;
}

/// Writes the low `n` (1..8) bytes of `v` at `p`, most significant first.
inline void put_be(uint8_t* p, size_t n, uint64_t v) {
  for (size_t i = 0; i < n; ++i) p[i] = static_cast<uint8_t>(v >> (8 * (n - 1 - i)));
}

/// Appends the low `n` bytes of `v`, most significant first.
inline void append_be(Bytes& out, size_t n, uint64_t v) {
  for (size_t i = 0; i < n; ++i) out.push_back(static_cast<uint8_t>(v >> (8 * (n - 1 - i))));
}

/// Two lower-case hex digits a byte, no separators.
std::string to_hex(ByteView data);

/// Hex digits, with blanks, tabs, line ends, ':' and '_' between bytes allowed; nothing if a digit is missing or wrong.
std::optional<Bytes> from_hex(std::string_view text);

/// Dotted quad of an IPv4 address whose first byte is in [31:24].
std::string ip_text(uint32_t ip);

/// Six colon-separated hex bytes of a MAC address whose first byte is in [47:40].
std::string mac_text(uint64_t mac);

/// Reads "10.0.0.1"; nothing if the text is no dotted quad.
std::optional<uint32_t> ip_from_text(std::string_view text);

/// Reads "02:00:00:00:00:0a"; nothing if the text is no MAC address.
std::optional<uint64_t> mac_from_text(std::string_view text);

}  // namespace rocegen::sim
