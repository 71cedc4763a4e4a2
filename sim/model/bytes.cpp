#include "sim/model/bytes.h"

#include <fmt/format.h>

namespace rocegen::sim {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(ByteView data) {
  static const char* const digits = "0123456789abcdef";
  std::string s;
  s.reserve(data.size() * 2);
  for (const uint8_t b : data) {
    s.push_back(digits[b >> 4]);
    s.push_back(digits[b & 15]);
  }
  return s;
}

std::optional<Bytes> from_hex(std::string_view text) {
  Bytes out;
  int high = -1;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ':' || c == '_') {
      if (high >= 0) return std::nullopt;
      continue;
    }
    const int d = hex_digit(c);
    if (d < 0) return std::nullopt;
    if (high < 0) {
      high = d;
    } else {
      out.push_back(static_cast<uint8_t>(high * 16 + d));
      high = -1;
    }
  }
  if (high >= 0) return std::nullopt;
  return out;
}

std::string ip_text(uint32_t ip) {
  return fmt::format("{}.{}.{}.{}", ip >> 24, (ip >> 16) & 255, (ip >> 8) & 255, ip & 255);
}

std::string mac_text(uint64_t mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", (mac >> 40) & 255, (mac >> 32) & 255,
                     (mac >> 24) & 255, (mac >> 16) & 255, (mac >> 8) & 255, mac & 255);
}

std::optional<uint32_t> ip_from_text(std::string_view text) {
  uint32_t ip = 0;
  int parts = 0;
  size_t i = 0;
  while (parts < 4) {
    uint32_t v = 0;
    size_t digits = 0;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9' && digits < 4) {
      v = v * 10 + static_cast<uint32_t>(text[i] - '0');
      ++i;
      ++digits;
    }
    if (digits == 0 || v > 255) return std::nullopt;
    ip = (ip << 8) | v;
    ++parts;
    if (parts < 4) {
      if (i >= text.size() || text[i] != '.') return std::nullopt;
      ++i;
    }
  }
  if (i != text.size()) return std::nullopt;
  return ip;
}

std::optional<uint64_t> mac_from_text(std::string_view text) {
  if (text.size() != 17) return std::nullopt;
  uint64_t mac = 0;
  for (size_t i = 0; i < 6; ++i) {
    const int h = hex_digit(text[3 * i]);
    const int l = hex_digit(text[3 * i + 1]);
    if (h < 0 || l < 0 || (i < 5 && text[3 * i + 2] != ':')) return std::nullopt;
    mac = (mac << 8) | static_cast<uint64_t>(h * 16 + l);
  }
  return mac;
}

}  // namespace rocegen::sim
