// RoCE v2 frames for the benches of templates/net: a builder, and a judge that says what rx_frontend must
// make of any sequence of bytes. Both are written from the protocol sheet, byte by byte, and share nothing
// with the RTL or with sim/model.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/rtl/bench.h"

namespace rocegen::bench {

/// CRC-32 of IEEE 802.3, reflected, bit by bit, without inversions.
inline std::uint32_t crc_bits(std::uint32_t state, const std::uint8_t* data, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    state ^= data[i];
    for (int b = 0; b < 8; ++b) state = (state >> 1) ^ ((state & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return state;
}

/// ICRC of `ip`, an IPv4 packet without options and without its ICRC field.
inline std::uint32_t icrc_of(Bytes ip) {
  for (const std::size_t masked : {1U, 8U, 10U, 11U, 26U, 27U, 32U}) {
    if (masked < ip.size()) ip[masked] = 0xFF;
  }
  const Bytes lrh(8, 0xFF);
  std::uint32_t state = crc_bits(0xFFFFFFFFU, lrh.data(), lrh.size());
  return ~crc_bits(state, ip.data(), ip.size());
}

/// One's complement sum of the 16-bit words of `size` bytes, folded.
inline std::uint32_t ones_sum(const std::uint8_t* data, std::size_t size) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < size; i += 2) {
    sum += static_cast<std::uint32_t>(data[i] << 8 | data[i + 1]);
    while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return sum;
}

inline void put_bytes(Bytes& to, std::uint64_t value, std::size_t count) {
  for (std::size_t i = count; i > 0; --i) to.push_back(static_cast<std::uint8_t>(value >> (8 * (i - 1))));
}
inline std::uint64_t get_bytes(const Bytes& from, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | from[at + i];
  return value;
}
inline void set_bytes(Bytes& in, std::size_t at, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) in[at + i] = static_cast<std::uint8_t>(value >> (8 * (count - 1 - i)));
}

/// What stands behind the BTH (protocol sheet, section 2). The operands of an atomic (16 bytes of its AtomicETH) and
/// its result (the AtomicAckETH) count as payload, as the records of templates/net have it.
struct Opcode {
  bool known = false;
  bool reth = false, aeth = false, atomic = false, imm = false;  // imm: ImmDt or IETH
  std::size_t unread = 0;                                        // bytes of headers that nobody looks at
  std::optional<std::size_t> fixed;                              // the only payload length allowed
  std::size_t ext() const {
    return (reth ? 16U : 0U) + (aeth ? 4U : 0U) + (atomic ? 12U : 0U) + (imm ? 4U : 0U) + unread;
  }
};

inline Opcode opcode_info(std::uint8_t code) {
  Opcode o;
  o.known = code <= 0x14 || code == 0x16 || code == 0x17 || code == 0x1C || code == 0x1D;
  if (!o.known) return o;
  o.reth = code == 0x06 || code == 0x0A || code == 0x0B || code == 0x0C;
  o.unread = code == 0x1C ? 20 : code == 0x1D ? 16 : 0;  // FETH and RETH of a FLUSH, RETH of an ATOMIC WRITE
  o.imm = code == 0x03 || code == 0x05 || code == 0x09 || code == 0x0B || code == 0x16 || code == 0x17;
  o.aeth = code == 0x0D || code == 0x0F || code == 0x10 || code == 0x11 || code == 0x12;
  o.atomic = code == 0x13 || code == 0x14;
  if (code == 0x0C || code == 0x11) o.fixed = 0;
  if (code == 0x12) o.fixed = 8;
  if (o.atomic) o.fixed = 16;
  return o;
}

struct NetFrame {
  std::uint64_t dst_mac = 0, src_mac = 0;
  std::uint16_t ether_type = 0x0800;
  std::uint8_t version_ihl = 0x45, tos = 0;
  std::uint16_t id = 0, frag = 0x4000;
  std::uint8_t ttl = 64, protocol = 17;
  std::uint32_t src_ip = 0, dst_ip = 0;
  std::uint16_t sport = 0xC000, dport = 4791, udp_csum = 0;
  std::uint8_t opcode = 0;
  bool se = false, mig = false;
  std::uint8_t tver = 0;
  std::uint16_t pkey = 0xFFFF;
  std::uint8_t byte4 = 0;  // FECN, BECN, resv6
  std::uint32_t dqpn = 0;
  bool ackreq = false;
  std::uint8_t resv7 = 0;
  std::uint32_t psn = 0;
  std::uint64_t va = 0;
  std::uint32_t rkey = 0, dma_len = 0, imm = 0, msn = 0;
  std::uint8_t syndrome = 0;
  Bytes payload;
  // Departures from a right frame; the ICRC covers them.
  std::optional<std::uint8_t> pad;        // pad bytes and PadCnt
  std::optional<std::uint8_t> pad_field;  // PadCnt alone
  std::optional<std::uint16_t> ip_len, udp_len;
  std::uint16_t csum_xor = 0;
  std::uint32_t icrc_xor = 0;
  std::size_t trailing = 0;  // bytes of Ethernet padding

  /// The frame; trailing bytes come from `rng` when given, else they are zero.
  Bytes build(Rng* rng = nullptr) const {
    const Opcode o = opcode_info(opcode);
    const std::uint8_t pads = pad.value_or(static_cast<std::uint8_t>((4 - payload.size() % 4) % 4));
    const std::size_t length = 20 + 8 + 12 + o.ext() + payload.size() + pads + 4;
    Bytes b;
    put_bytes(b, dst_mac, 6);
    put_bytes(b, src_mac, 6);
    put_bytes(b, ether_type, 2);
    put_bytes(b, version_ihl, 1);
    put_bytes(b, tos, 1);
    put_bytes(b, ip_len.value_or(static_cast<std::uint16_t>(length)), 2);
    put_bytes(b, id, 2);
    put_bytes(b, frag, 2);
    put_bytes(b, ttl, 1);
    put_bytes(b, protocol, 1);
    put_bytes(b, 0, 2);
    put_bytes(b, src_ip, 4);
    put_bytes(b, dst_ip, 4);
    put_bytes(b, sport, 2);
    put_bytes(b, dport, 2);
    put_bytes(b, udp_len.value_or(static_cast<std::uint16_t>(length - 20)), 2);
    put_bytes(b, udp_csum, 2);
    put_bytes(b, opcode, 1);
    put_bytes(b, (se ? 0x80U : 0U) | (mig ? 0x40U : 0U) | (pad_field.value_or(pads) & 3U) << 4 | (tver & 15U), 1);
    put_bytes(b, pkey, 2);
    put_bytes(b, byte4, 1);
    put_bytes(b, dqpn, 3);
    put_bytes(b, (ackreq ? 0x80U : 0U) | (resv7 & 0x7FU), 1);
    put_bytes(b, psn, 3);
    for (std::size_t i = 0; i < o.unread; ++i) put_bytes(b, (va >> (i % 8)) & 0xFFU, 1);
    if (o.reth) {
      put_bytes(b, va, 8);
      put_bytes(b, rkey, 4);
      put_bytes(b, dma_len, 4);
    }
    if (o.aeth) {
      put_bytes(b, syndrome, 1);
      put_bytes(b, msn, 3);
    }
    if (o.atomic) {
      put_bytes(b, va, 8);
      put_bytes(b, rkey, 4);
    }
    if (o.imm) put_bytes(b, imm, 4);
    b.insert(b.end(), payload.begin(), payload.end());
    b.insert(b.end(), pads, 0);
    set_bytes(b, 24, (~ones_sum(&b[14], 20) & 0xFFFFU) ^ csum_xor, 2);
    const std::uint32_t crc = icrc_of(Bytes(b.begin() + 14, b.end())) ^ icrc_xor;
    for (int i = 0; i < 4; ++i) b.push_back(static_cast<std::uint8_t>(crc >> (8 * i)));
    for (std::size_t i = 0; i < trailing; ++i) b.push_back(rng != nullptr ? static_cast<std::uint8_t>(rng->next()) : 0);
    return b;
  }
};

/// What rx_frontend can make of a frame, in the order in which it looks.
enum class Fate : std::uint8_t {
  bad_frame,
  not_ip,
  not_mine,
  ip_header,
  not_roce,
  length,
  bad_icrc,
  bth,
  oversize,
  no_buffer,
  no_header_slot,
  good
};
inline const char* fate_name(Fate fate) {
  static constexpr std::array<const char*, 12> names = {"bad_frame", "not_ip",    "not_mine",       "ip_header",
                                                        "not_roce",  "length",    "bad_icrc",       "bth",
                                                        "oversize",  "no_buffer", "no_header_slot", "good"};
  return names[static_cast<std::size_t>(fate)];
}

/// What a frame is for the station `mac`, `ip`, space and header slots given. `bad`: the MAC marked it.
inline Fate judge(const Bytes& f, bool bad, std::uint64_t mac, std::uint32_t ip, std::size_t max_payload) {
  if (bad || f.size() < 58) return Fate::bad_frame;
  if (get_bytes(f, 12, 2) != 0x0800) return Fate::not_ip;
  if (get_bytes(f, 0, 6) != mac || get_bytes(f, 30, 4) != ip) return Fate::not_mine;
  if (f[14] != 0x45 || (get_bytes(f, 20, 2) & 0x3FFF) != 0 || ones_sum(&f[14], 20) != 0xFFFF) return Fate::ip_header;
  if (f[23] != 17 || get_bytes(f, 36, 2) != 4791) return Fate::not_roce;
  const std::size_t ip_len = get_bytes(f, 16, 2);
  const Opcode o = opcode_info(f[42]);
  const std::size_t pad = (f[43] >> 4) & 3U;
  const std::size_t around = 20 + 8 + 12 + o.ext() + pad + 4;
  if (14 + ip_len > f.size() || ip_len < around) return Fate::length;
  if (get_bytes(f, 38, 2) + 20 != ip_len) return Fate::length;
  const std::size_t payload = ip_len - around;
  if (o.fixed && (payload != *o.fixed || pad != 0)) return Fate::length;
  const std::size_t end = 14 + ip_len - 4;
  const std::uint32_t crc = icrc_of(Bytes(f.begin() + 14, f.begin() + static_cast<std::ptrdiff_t>(end)));
  for (std::size_t i = 0; i < 4; ++i) {
    if (f[end + i] != static_cast<std::uint8_t>(crc >> (8 * i))) return Fate::bad_icrc;
  }
  if ((f[43] & 15U) != 0 || !o.known) return Fate::bth;
  if (payload > max_payload) return Fate::oversize;
  return Fate::good;
}

/// The fields of roce_pkg::rx_hdr_t, read from a frame that judge() finds good.
struct Header {
  std::uint64_t buf_addr = 0, pay_bytes = 0, src_ip = 0, dst_ip = 0, ecn = 0, opcode = 0, se = 0, mig = 0, pad = 0,
                pkey = 0, fecn = 0, becn = 0, dqpn = 0, ackreq = 0, psn = 0, va = 0, rkey = 0, dma_len = 0,
                syndrome = 0, msn = 0, imm = 0, refuse = 0, tag = 0, life = 0;
  static constexpr std::size_t kBits = 382;
  bool operator==(const Header&) const = default;

  /// Reads the record as the RTL packs it.
  static Header from_record(const Bytes& record) {
    Record r(record, kBits);
    Header h;
    for (auto [field, width] : std::initializer_list<std::pair<std::uint64_t*, std::size_t>>{
             {&h.buf_addr, 16}, {&h.pay_bytes, 14}, {&h.src_ip, 32}, {&h.dst_ip, 32}, {&h.ecn, 2},   {&h.opcode, 8},
             {&h.se, 1},        {&h.mig, 1},        {&h.pad, 2},     {&h.pkey, 16},   {&h.fecn, 1},  {&h.becn, 1},
             {&h.dqpn, 24},     {&h.ackreq, 1},     {&h.psn, 24},    {&h.va, 64},     {&h.rkey, 32}, {&h.dma_len, 32},
             {&h.syndrome, 8},  {&h.msn, 24},       {&h.imm, 32},    {&h.refuse, 1},  {&h.tag, 8},   {&h.life, 6}}) {
      *field = r.get(width);
    }
    return h;
  }
  /// The record of a good frame; buf_addr is 0.
  static Header from_frame(const Bytes& f) {
    const Opcode o = opcode_info(f[42]);
    Header h;
    h.src_ip = get_bytes(f, 26, 4);
    h.dst_ip = get_bytes(f, 30, 4);
    h.ecn = f[15] & 3U;
    h.opcode = f[42];
    h.se = f[43] >> 7;
    h.mig = (f[43] >> 6) & 1U;
    h.pad = (f[43] >> 4) & 3U;
    h.pkey = get_bytes(f, 44, 2);
    h.fecn = f[46] >> 7;
    h.becn = (f[46] >> 6) & 1U;
    h.dqpn = get_bytes(f, 47, 3);
    h.ackreq = f[50] >> 7;
    h.psn = get_bytes(f, 51, 3);
    h.pay_bytes = get_bytes(f, 16, 2) - 44 - o.ext() - h.pad;
    if (o.reth || o.atomic) {
      h.va = get_bytes(f, 54, 8);
      h.rkey = get_bytes(f, 62, 4);
    }
    if (o.reth) h.dma_len = get_bytes(f, 66, 4);
    if (o.aeth) {
      h.syndrome = f[54];
      h.msn = get_bytes(f, 55, 3);
    }
    if (o.imm) h.imm = get_bytes(f, o.reth ? 70 : 54, 4);
    return h;
  }
};

/// Payload of a good frame, pad excluded.
inline Bytes payload_of(const Bytes& f) {
  const auto start = static_cast<std::ptrdiff_t>(54 + opcode_info(f[42]).ext());
  return {f.begin() + start, f.begin() + start + static_cast<std::ptrdiff_t>(Header::from_frame(f).pay_bytes)};
}

/// The Ethernet frames of a classic pcap file that were captured whole; nothing when there is no such file.
inline std::vector<Bytes> read_frames(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const Bytes b((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<Bytes> frames;
  if (b.size() < 24) return frames;
  const bool swapped = b[0] == 0xA1;
  const auto word = [&](std::size_t at) {
    std::uint32_t v = 0;
    for (std::size_t i = 0; i < 4; ++i) v |= static_cast<std::uint32_t>(b[at + (swapped ? 3 - i : i)]) << (8 * i);
    return v;
  };
  if ((word(20) & 0xFFFF) != 1) return frames;
  for (std::size_t at = 24; at + 16 <= b.size();) {
    const std::size_t captured = word(at + 8);
    const std::size_t length = word(at + 12);
    at += 16;
    if (at + captured > b.size()) break;
    if (captured == length) {
      frames.emplace_back(b.begin() + static_cast<std::ptrdiff_t>(at),
                          b.begin() + static_cast<std::ptrdiff_t>(at + captured));
    }
    at += captured;
  }
  return frames;
}

}  // namespace rocegen::bench
