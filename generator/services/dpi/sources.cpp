#include "generator/services/dpi/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <regex>

#include "generator/spec/text.h"

namespace rocegen::services {

namespace {

using Present = HeaderField::Present;

constexpr std::array kFields = {
    HeaderField{"length", "pay_bytes", 14, Present::always, "bytes of payload"},
    HeaderField{"opcode", "opcode", 8, Present::always, "BTH opcode"},
    HeaderField{"qpn", "dqpn", 24, Present::always, "number of the local queue pair"},
    HeaderField{"psn", "psn", 24, Present::always, "packet sequence number"},
    HeaderField{"pkey", "pkey", 16, Present::always, "partition key"},
    HeaderField{"solicited", "se", 1, Present::always, "solicited event"},
    HeaderField{"ackreq", "ackreq", 1, Present::always, "an acknowledge is asked for"},
    HeaderField{"ecn", "ecn", 2, Present::always, "ECN of the IPv4 header"},
    HeaderField{"src_ip", "src_ip", 32, Present::always, "IPv4 source address"},
    HeaderField{"dst_ip", "dst_ip", 32, Present::always, "IPv4 destination address"},
    HeaderField{"rkey", "rkey", 32, Present::reth, "key of the memory region (packets with RETH)"},
    HeaderField{"dma_len", "dma_len", 32, Present::reth, "length of the message (packets with RETH)"},
    HeaderField{"imm", "imm", 32, Present::imm, "immediate data or invalidated key (packets that have it)"},
};

// Largest offset that is read: the largest MTU.
constexpr int kMaxBytes = 4096;

}  // namespace

std::span<const HeaderField> header_fields() { return kFields; }

bool has_field(HeaderField::Present present, std::uint8_t opcode) {
  // IBTA table 38 (RC): RETH in the first packet of a WRITE and in READ requests, ImmDt or IETH in the last of some.
  switch (present) {
    case Present::always:
      return true;
    case Present::reth:
      return opcode == 0x06 || opcode == 0x0A || opcode == 0x0B || opcode == 0x0C;
    case Present::imm:
      return opcode == 0x03 || opcode == 0x05 || opcode == 0x09 || opcode == 0x0B || opcode == 0x16 || opcode == 0x17;
  }
  return false;
}

int Source::bits(int max_payload) const {
  switch (kind) {
    case Kind::header:
      return kFields[field].bits;
    case Kind::word:
      return 8 * size;
    case Kind::bit:
      return 1;
    case Kind::sum:
      return std::max(20, static_cast<int>(std::bit_width(255U * static_cast<unsigned>(max_payload))));
    case Kind::least:
    case Kind::greatest:
      return 8;
    case Kind::count:
      return 13;
  }
  return 0;
}

std::optional<std::vector<Source>> parse_sources(std::string_view text, bool chunk, std::string& fault) {
  static const std::regex word(
      R"((payload|chunk)\.(bit|u8|u16be|u16le|u24be|u24le|u32be|u32le)\[(\d{1,5})(?:\.\.(\d{1,5}))?\])");
  static const std::regex count(R"(bytes\.count\[(0x[0-9a-fA-F]{1,2}|\d{1,3})(?:\.\.(0x[0-9a-fA-F]{1,2}|\d{1,3}))?\])");
  const std::string s(text);
  std::smatch m;
  Source source;
  if (std::regex_match(s, m, word)) {
    if ((m[1] == "chunk") != chunk) {
      fault = chunk ? "a model that judges chunks reads chunk.*" : "a model that judges packets reads payload.*";
      return std::nullopt;
    }
    const std::string kind = m[2];
    const int first = std::stoi(m[3]);
    const int last = m[4].matched ? std::stoi(m[4]) : first;
    source.kind = kind == "bit" ? Source::Kind::bit : Source::Kind::word;
    source.size = source.kind == Source::Kind::bit ? 1 : std::stoi(kind.substr(1)) / 8;
    source.big_endian = kind.ends_with("be");
    std::vector<Source> all;
    for (source.offset = first; source.offset <= last; source.offset += source.size) all.push_back(source);
    if (all.empty() || (last - first) % source.size != 0) {
      fault = "a range goes up, in steps of its words, to the offset of the last";
      return std::nullopt;
    }
    if (all.back().end() > kMaxBytes) {
      fault = fmt::format("offsets end at byte {}", kMaxBytes - 1);
      return std::nullopt;
    }
    return all;
  }
  if (text.starts_with("bytes.") && chunk) {
    fault = "statistics are of whole packets; chunks are judged one by one";
    return std::nullopt;
  }
  if (std::regex_match(s, m, count)) {
    source.kind = Source::Kind::count;
    source.low = std::stoi(m[1], nullptr, 0);
    source.high = m[2].matched ? std::stoi(m[2], nullptr, 0) : source.low;
    if (source.low > source.high || source.high > 255) {
      fault = "a range of byte values goes up, to 255 at most";
      return std::nullopt;
    }
    return std::vector{source};
  }
  if (s == "bytes.sum" || s == "bytes.min" || s == "bytes.max") {
    source.kind = s == "bytes.sum"   ? Source::Kind::sum
                  : s == "bytes.min" ? Source::Kind::least
                                     : Source::Kind::greatest;
    return std::vector{source};
  }
  std::vector<std::string> words = {"payload.u8[0]", "chunk.u8[0]", "bytes.sum",
                                    "bytes.min",     "bytes.max",   "bytes.count[0]"};
  for (const HeaderField& field : kFields) {
    if (s == fmt::format("header.{}", field.word)) {
      source.field = static_cast<std::size_t>(&field - kFields.data());
      return std::vector{source};
    }
    words.push_back(fmt::format("header.{}", field.word));
  }
  const std::string near = spec::nearest(s, words);
  fault = near.empty() ? "there is no such source" : fmt::format("did you mean \"{}\"?", near);
  return std::nullopt;
}

std::optional<std::uint64_t> value_of(const Source& source, const PacketView& packet) {
  const auto& bytes = packet.payload;
  switch (source.kind) {
    case Source::Kind::header: {
      const HeaderField& field = kFields[source.field];
      if (!has_field(field.present, packet.opcode)) return std::nullopt;
      return packet.header[source.field];
    }
    case Source::Kind::word: {
      if (static_cast<std::size_t>(source.end()) > bytes.size()) return std::nullopt;
      std::uint64_t value = 0;
      for (int i = 0; i < source.size; ++i) {
        const int at = source.offset + (source.big_endian ? i : source.size - 1 - i);
        value = value << 8U | bytes[static_cast<std::size_t>(at)];
      }
      return value;
    }
    case Source::Kind::bit:
      if (static_cast<std::size_t>(source.end()) > bytes.size()) return std::nullopt;
      return bytes[static_cast<std::size_t>(source.offset) / 8] >> (7 - source.offset % 8) & 1;
    case Source::Kind::sum: {
      std::uint64_t sum = 0;
      for (const std::uint8_t byte : bytes) sum += byte;
      return sum;
    }
    case Source::Kind::least:
      if (bytes.empty()) return std::nullopt;
      return *std::min_element(bytes.begin(), bytes.end());
    case Source::Kind::greatest:
      if (bytes.empty()) return std::nullopt;
      return *std::max_element(bytes.begin(), bytes.end());
    case Source::Kind::count:
      return static_cast<std::uint64_t>(std::count_if(
          bytes.begin(), bytes.end(), [&](std::uint8_t byte) { return byte >= source.low && byte <= source.high; }));
  }
  return std::nullopt;
}

}  // namespace rocegen::services
