// Where the features of an inspection come from: bits, bytes and words of the payload, header fields, statistics over
// the bytes of a packet. docs/services-dpi.md lists the words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/model/model.h"

namespace rocegen::services {

struct Source {
  enum class Kind {
    header,    ///< field `field` of the header record
    word,      ///< `size` bytes at `offset` of the payload (or chunk)
    bit,       ///< bit `offset` of it: bit 7 - offset % 8 of byte offset / 8
    sum,       ///< of all bytes of the packet
    least,     ///< smallest byte
    greatest,  ///< greatest byte
    count      ///< bytes in low..high
  };
  Kind kind = Kind::header;
  std::size_t field = 0;
  int offset = 0;
  int size = 1;
  bool big_endian = false;
  int low = 0;
  int high = 0;

  /// Bits of its values, in packets of up to `max_payload` bytes.
  int bits(int max_payload) const;
  /// One past the last byte of the payload that a word or bit reads.
  int end() const { return kind == Kind::bit ? offset / 8 + 1 : offset + size; }
  bool payload() const { return kind == Kind::word || kind == Kind::bit; }
  bool statistics() const { return kind != Kind::header && !payload(); }
};

/// A header field that a source can name.
struct HeaderField {
  std::string_view word;    ///< "psn"
  std::string_view member;  ///< of rx_hdr_t
  int bits;
  enum class Present { always, reth, imm } present;
  std::string_view doc;
};
std::span<const HeaderField> header_fields();

/// Whether packets of an opcode have the field.
bool has_field(HeaderField::Present present, std::uint8_t opcode);

/// The sources that a text names, several for a range; of a chunk if `chunk` ("chunk.u8[0]"), else of a packet
/// ("payload.u8[0]"). Or nothing, and `fault` says why.
std::optional<std::vector<Source>> parse_sources(std::string_view text, bool chunk, std::string& fault);

/// A packet as inspections see it.
struct PacketView {
  std::vector<std::uint64_t> header;  ///< by header_fields()
  std::uint8_t opcode = 0;
  std::span<const std::uint8_t> payload;  ///< or one chunk of it
};

/// The value of a source in a packet, or missing: the definition, for tests.
std::optional<std::uint64_t> value_of(const Source& source, const PacketView& packet);

}  // namespace rocegen::services
