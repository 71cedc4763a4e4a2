#include "sim/model/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rocegen::sim {
namespace {

struct OpcodeRow {
  uint8_t opcode;
  const char* name;
};

constexpr OpcodeRow kOpcodes[] = {
    {op::SendFirst, "SEND_FIRST"},
    {op::SendMiddle, "SEND_MIDDLE"},
    {op::SendLast, "SEND_LAST"},
    {op::SendLastImm, "SEND_LAST_IMM"},
    {op::SendOnly, "SEND_ONLY"},
    {op::SendOnlyImm, "SEND_ONLY_IMM"},
    {op::WriteFirst, "WRITE_FIRST"},
    {op::WriteMiddle, "WRITE_MIDDLE"},
    {op::WriteLast, "WRITE_LAST"},
    {op::WriteLastImm, "WRITE_LAST_IMM"},
    {op::WriteOnly, "WRITE_ONLY"},
    {op::WriteOnlyImm, "WRITE_ONLY_IMM"},
    {op::ReadRequest, "READ_REQUEST"},
    {op::ReadRespFirst, "READ_RESP_FIRST"},
    {op::ReadRespMiddle, "READ_RESP_MIDDLE"},
    {op::ReadRespLast, "READ_RESP_LAST"},
    {op::ReadRespOnly, "READ_RESP_ONLY"},
    {op::Ack, "ACK"},
    {op::AtomicAck, "ATOMIC_ACK"},
    {op::CmpSwap, "CMP_SWAP"},
    {op::FetchAdd, "FETCH_ADD"},
    {op::SendLastInv, "SEND_LAST_INV"},
    {op::SendOnlyInv, "SEND_ONLY_INV"},
    {op::Flush, "FLUSH"},
    {op::AtomicWrite, "ATOMIC_WRITE"},
    {0x81, "CNP"},
};

std::array<OpcodeLayout, 256> make_layouts() {
  std::array<OpcodeLayout, 256> t{};
  for (const OpcodeRow& r : kOpcodes) {
    if (r.opcode >= 0x20) continue;
    OpcodeLayout& l = t[r.opcode];
    l.known = true;
    l.reth = r.opcode == op::WriteFirst || r.opcode == op::WriteOnly || r.opcode == op::WriteOnlyImm ||
             r.opcode == op::ReadRequest || r.opcode == op::Flush || r.opcode == op::AtomicWrite;
    l.feth = r.opcode == op::Flush;
    l.aeth = r.opcode == op::ReadRespFirst || r.opcode == op::ReadRespLast || r.opcode == op::ReadRespOnly ||
             r.opcode == op::Ack || r.opcode == op::AtomicAck;
    l.atomic = r.opcode == op::CmpSwap || r.opcode == op::FetchAdd;
    l.atomic_ack = r.opcode == op::AtomicAck;
    l.imm = r.opcode == op::SendLastImm || r.opcode == op::SendOnlyImm || r.opcode == op::WriteLastImm ||
            r.opcode == op::WriteOnlyImm;
    l.ieth = r.opcode == op::SendLastInv || r.opcode == op::SendOnlyInv;
    l.request = r.opcode <= op::ReadRequest || r.opcode >= op::CmpSwap;
    l.payload = r.opcode != op::ReadRequest && r.opcode != op::Ack && r.opcode != op::AtomicAck && !l.atomic;
  }
  return t;
}

// Slicing by eight (Intel, 2006): table k holds the CRC of a byte followed by k zero bytes.
std::array<std::array<uint32_t, 256>, 8> make_crc_tables() {
  std::array<std::array<uint32_t, 256>, 8> t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int b = 0; b < 8; ++b) c = (c >> 1) ^ ((c & 1u) != 0 ? 0xEDB88320u : 0u);
    t[0][i] = c;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t i = 0; i < 256; ++i) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 255];
  }
  return t;
}

const std::array<std::array<uint32_t, 256>, 8> kCrc = make_crc_tables();
const std::array<OpcodeLayout, 256> kLayouts = make_layouts();

uint32_t le32(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16 |
         static_cast<uint32_t>(p[3]) << 24;
}

uint16_t fold(uint32_t sum) {
  while ((sum >> 16) != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

uint32_t sum_words(ByteView data) {
  uint32_t sum = 0;
  for (size_t i = 0; i < data.size(); ++i) sum += static_cast<uint32_t>(data[i]) << (i % 2 == 0 ? 8 : 0);
  return sum;
}

/// RFC 768: over the pseudo header, the UDP header with checksum 0, and the data; 0 is sent as all ones.
uint16_t udp_checksum(const Frame& f, ByteView udp) {
  uint32_t sum = sum_words(udp.first(6)) + sum_words(udp.subspan(kUdpBytes)) + 17u + static_cast<uint32_t>(udp.size());
  for (const uint32_t ip : {f.src_ip, f.dst_ip}) sum += (ip >> 16) + (ip & 0xFFFF);
  const uint16_t c = fold(sum);
  return c == 0 ? 0xFFFF : c;
}

uint16_t u16(uint64_t v) { return static_cast<uint16_t>(v); }
uint32_t u32(uint64_t v) { return static_cast<uint32_t>(v); }
uint8_t u8(uint64_t v) { return static_cast<uint8_t>(v); }

}  // namespace

const OpcodeLayout& opcode_layout(uint8_t opcode) { return kLayouts[opcode]; }

std::string opcode_name(uint8_t opcode) {
  for (const OpcodeRow& r : kOpcodes) {
    if (r.opcode == opcode) return r.name;
  }
  return fmt::format("{:#04x}", opcode);
}

std::optional<uint8_t> opcode_from_name(std::string_view name) {
  for (const OpcodeRow& r : kOpcodes) {
    if (name == r.name) return r.opcode;
  }
  return std::nullopt;
}

uint32_t crc32_raw(uint32_t state, ByteView data) {
  const uint8_t* p = data.data();
  size_t n = data.size();
  while (n >= 8) {
    const uint32_t a = state ^ le32(p);
    const uint32_t b = le32(p + 4);
    state = kCrc[7][a & 255] ^ kCrc[6][(a >> 8) & 255] ^ kCrc[5][(a >> 16) & 255] ^ kCrc[4][a >> 24] ^
            kCrc[3][b & 255] ^ kCrc[2][(b >> 8) & 255] ^ kCrc[1][(b >> 16) & 255] ^ kCrc[0][b >> 24];
    p += 8;
    n -= 8;
  }
  while (n-- > 0) state = (state >> 8) ^ kCrc[0][(state ^ *p++) & 255];
  return state;
}

uint32_t icrc_ipv4(ByteView packet) {
  // Eight bytes of ones in front stand in for the LRH.
  static constexpr uint8_t ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
  uint32_t crc = crc32_raw(0xFFFFFFFFu, ones);
  // Masked copy of everything up to and including the BTH: ToS, TTL, header checksum, UDP checksum, BTH byte 4.
  uint8_t head[60 + 8 + 12];
  const size_t ihl = packet.empty() ? 20 : std::max<size_t>(20, (packet[0] & 15u) * 4u);
  const size_t n = std::min(packet.size(), ihl + kUdpBytes + kBthBytes);
  std::copy_n(packet.begin(), n, head);
  const auto mask = [&](size_t i) {
    if (i < n) head[i] = 0xFF;
  };
  mask(1);
  mask(8);
  mask(10);
  mask(11);
  mask(ihl + 6);
  mask(ihl + 7);
  mask(ihl + 8 + 4);
  crc = crc32_raw(crc, ByteView(head, n));
  return ~crc32_raw(crc, packet.subspan(n));
}

uint16_t ipv4_checksum(ByteView header) {
  uint32_t sum = 0;
  for (size_t i = 0; i + 1 < header.size(); i += 2) {
    if (i != 10) sum += static_cast<uint32_t>(header[i] << 8 | header[i + 1]);
  }
  return fold(sum);
}

Bytes build(const Frame& f, const BuildOptions& opt) {
  const OpcodeLayout& layout = opcode_layout(f.opcode);
  const uint8_t pad = opt.pad.value_or(u8((4 - f.payload.size() % 4) % 4));
  Bytes b;
  b.reserve(kEthBytes + kIpBytes + kUdpBytes + kBthBytes + layout.bytes() + f.payload.size() + pad + kIcrcBytes + 8 +
            opt.eth_pad + opt.ip_options.size());
  append_be(b, 6, f.dst_mac);
  append_be(b, 6, f.src_mac);
  if (opt.vlan) {
    append_be(b, 2, 0x8100);
    append_be(b, 2, *opt.vlan);
  }
  append_be(b, 2, f.ether_type);
  const size_t ip = b.size();
  const size_t ihl = kIpBytes + opt.ip_options.size();
  append_be(b, 1, 0x40 | (ihl / 4));
  append_be(b, 1, f.tos);
  append_be(b, 2, 0);  // length: below
  append_be(b, 2, f.ip_id);
  append_be(b, 2, f.ip_frag);
  append_be(b, 1, f.ttl);
  append_be(b, 1, f.ip_proto);
  append_be(b, 2, 0);  // checksum: below
  append_be(b, 4, f.src_ip);
  append_be(b, 4, f.dst_ip);
  b.insert(b.end(), opt.ip_options.begin(), opt.ip_options.end());
  const size_t udp = b.size();
  append_be(b, 2, f.sport);
  append_be(b, 2, f.dport);
  append_be(b, 2, 0);  // length: below
  append_be(b, 2, f.udp_csum);
  append_be(b, 1, f.opcode);
  append_be(b, 1,
            (f.se ? 0x80u : 0u) | (f.mig ? 0x40u : 0u) | ((opt.pad_field.value_or(pad) & 3u) << 4) | (f.tver & 15u));
  append_be(b, 2, f.pkey);
  append_be(b, 1, (f.fecn ? 0x80u : 0u) | (f.becn ? 0x40u : 0u) | (f.resv6 & 63u));
  append_be(b, 3, f.dqpn);
  append_be(b, 1, (f.ackreq ? 0x80u : 0u) | (f.resv7 & 127u));
  append_be(b, 3, f.psn);
  if (layout.feth) append_be(b, 4, 0);
  if (layout.reth) {
    append_be(b, 8, f.va);
    append_be(b, 4, f.rkey);
    append_be(b, 4, f.dma_len);
  }
  if (layout.aeth) {
    append_be(b, 1, f.syndrome);
    append_be(b, 3, f.msn);
  }
  if (layout.atomic) {
    append_be(b, 8, f.va);
    append_be(b, 4, f.rkey);
    append_be(b, 8, f.swap_add);
    append_be(b, 8, f.compare);
  }
  if (layout.atomic_ack) append_be(b, 8, f.original);
  if (layout.imm) append_be(b, 4, f.imm);
  if (layout.ieth) append_be(b, 4, f.inv_rkey);
  b.insert(b.end(), f.payload.begin(), f.payload.end());
  b.insert(b.end(), pad, 0);
  const size_t udp_payload = b.size() - udp - kUdpBytes + kIcrcBytes;
  const size_t kept = opt.udp_payload ? std::min<size_t>(udp_payload, *opt.udp_payload) : udp_payload;
  put_be(&b[ip + 2], 2, opt.ip_len.value_or(u16(ihl + kUdpBytes + kept)));
  put_be(&b[udp + 4], 2, opt.udp_len.value_or(u16(kUdpBytes + kept)));
  put_be(&b[ip + 10], 2, opt.ip_csum.value_or(ipv4_checksum(ByteView(b).subspan(ip, ihl))));
  const uint32_t crc = opt.icrc.value_or(icrc_ipv4(ByteView(b).subspan(ip))) ^ opt.icrc_xor;
  for (int i = 0; i < 4; ++i) b.push_back(u8(crc >> (8 * i)));
  b.resize(udp + kUdpBytes + kept);
  if (opt.udp_checksum) put_be(&b[udp + 6], 2, udp_checksum(f, ByteView(b).subspan(udp)));  // the ICRC masks it
  b.insert(b.end(), opt.eth_pad, 0);
  if (opt.flip_bit && *opt.flip_bit / 8 < b.size()) b[*opt.flip_bit / 8] ^= u8(1u << (*opt.flip_bit % 8));
  if (opt.cut && *opt.cut < b.size()) b.resize(*opt.cut);
  return b;
}

std::string_view fault_name(FrameFault f) {
  switch (f) {
    case FrameFault::None:
      return "none";
    case FrameFault::Runt:
      return "runt";
    case FrameFault::EtherType:
      return "ether_type";
    case FrameFault::IpVersion:
      return "ip_version";
    case FrameFault::IpOptions:
      return "ip_options";
    case FrameFault::IpChecksum:
      return "ip_checksum";
    case FrameFault::Fragment:
      return "fragment";
    case FrameFault::NotUdp:
      return "not_udp";
    case FrameFault::IpLength:
      return "ip_length";
    case FrameFault::UdpPort:
      return "udp_port";
    case FrameFault::UdpLength:
      return "udp_length";
    case FrameFault::BthLength:
      return "bth_length";
    case FrameFault::Icrc:
      return "icrc";
  }
  return "?";
}

Parsed parse(ByteView b) {
  Parsed p;
  Frame& f = p.frame;
  const auto fail = [&](FrameFault why) {
    if (p.fault == FrameFault::None) p.fault = why;
    return p;
  };
  if (b.size() < kEthBytes) return fail(FrameFault::Runt);
  f.dst_mac = get_be(&b[0], 6);
  f.src_mac = get_be(&b[6], 6);
  f.ether_type = u16(get_be(&b[12], 2));
  if (f.ether_type != 0x0800) return fail(FrameFault::EtherType);
  if (b.size() < kEthBytes + kIpBytes) return fail(FrameFault::Runt);
  const ByteView ip = b.subspan(kEthBytes);
  if ((ip[0] >> 4) != 4) return fail(FrameFault::IpVersion);
  f.tos = ip[1];
  p.ip_len = u16(get_be(&ip[2], 2));
  f.ip_id = u16(get_be(&ip[4], 2));
  f.ip_frag = u16(get_be(&ip[6], 2));
  f.ttl = ip[8];
  f.ip_proto = ip[9];
  p.ip_csum = u16(get_be(&ip[10], 2));
  f.src_ip = u32(get_be(&ip[12], 4));
  f.dst_ip = u32(get_be(&ip[16], 4));
  if ((ip[0] & 15) != 5) return fail(FrameFault::IpOptions);
  if (p.ip_csum != ipv4_checksum(ip.first(kIpBytes))) return fail(FrameFault::IpChecksum);
  if ((f.ip_frag & 0x3FFF) != 0) return fail(FrameFault::Fragment);
  if (f.ip_proto != 17) return fail(FrameFault::NotUdp);
  if (p.ip_len > ip.size() || p.ip_len < kIpBytes + kUdpBytes) return fail(FrameFault::IpLength);
  p.trailing = ip.size() - p.ip_len;
  const ByteView packet = ip.first(p.ip_len);
  const ByteView udp = packet.subspan(kIpBytes);
  f.sport = u16(get_be(&udp[0], 2));
  f.dport = u16(get_be(&udp[2], 2));
  p.udp_len = u16(get_be(&udp[4], 2));
  f.udp_csum = u16(get_be(&udp[6], 2));
  if (f.dport != kUdpPortRoce) return fail(FrameFault::UdpPort);
  if (p.udp_len != udp.size()) return fail(FrameFault::UdpLength);
  const ByteView bth = udp.subspan(kUdpBytes);
  if (bth.size() < kBthBytes + kIcrcBytes) return fail(FrameFault::BthLength);
  p.has_bth = true;
  f.opcode = bth[0];
  f.se = (bth[1] & 0x80) != 0;
  f.mig = (bth[1] & 0x40) != 0;
  p.pad = (bth[1] >> 4) & 3;
  f.tver = bth[1] & 15;
  f.pkey = u16(get_be(&bth[2], 2));
  f.fecn = (bth[4] & 0x80) != 0;
  f.becn = (bth[4] & 0x40) != 0;
  f.resv6 = bth[4] & 63;
  f.dqpn = u32(get_be(&bth[5], 3));
  f.ackreq = (bth[8] & 0x80) != 0;
  f.resv7 = bth[8] & 127;
  f.psn = u32(get_be(&bth[9], 3));
  const uint8_t* tail = &bth[bth.size() - kIcrcBytes];
  p.icrc = le32(tail);
  p.icrc_right = icrc_ipv4(packet.first(packet.size() - kIcrcBytes));
  const OpcodeLayout& layout = opcode_layout(f.opcode);
  if (bth.size() < kBthBytes + layout.bytes() + p.pad + kIcrcBytes) return fail(FrameFault::BthLength);
  p.has_headers = true;
  const uint8_t* x = &bth[kBthBytes] + (layout.feth ? 4 : 0);
  if (layout.reth) {
    f.va = get_be(x, 8);
    f.rkey = u32(get_be(x + 8, 4));
    f.dma_len = u32(get_be(x + 12, 4));
    x += 16;
  }
  if (layout.aeth) {
    f.syndrome = x[0];
    f.msn = u32(get_be(x + 1, 3));
    x += 4;
  }
  if (layout.atomic) {
    f.va = get_be(x, 8);
    f.rkey = u32(get_be(x + 8, 4));
    f.swap_add = get_be(x + 12, 8);
    f.compare = get_be(x + 20, 8);
    x += 28;
  }
  if (layout.atomic_ack) {
    f.original = get_be(x, 8);
    x += 8;
  }
  if (layout.imm) {
    f.imm = u32(get_be(x, 4));
    x += 4;
  }
  if (layout.ieth) {
    f.inv_rkey = u32(get_be(x, 4));
    x += 4;
  }
  const uint8_t* end = tail - p.pad;
  f.payload.assign(x, end);
  for (const uint8_t* q = end; q != tail; ++q) p.pad_zero = p.pad_zero && *q == 0;
  if (p.icrc != p.icrc_right) return fail(FrameFault::Icrc);
  return p;
}

namespace {

#define FRAME_FIELD(name, bits, member, about)                                                     \
  FieldInfo {                                                                                      \
    name, bits, about, [](const Parsed& p) -> uint64_t { return p.frame.member; },                 \
        [](Frame& f, BuildOptions&, uint64_t v) { f.member = static_cast<decltype(f.member)>(v); } \
  }
#define FRAME_FLAG(name, member, about)                                                   \
  FieldInfo {                                                                             \
    name, 1, about, [](const Parsed& p) -> uint64_t { return p.frame.member ? 1u : 0u; }, \
        [](Frame& f, BuildOptions&, uint64_t v) { f.member = v != 0; }                    \
  }

constexpr auto kNoGet = static_cast<uint64_t (*)(const Parsed&)>(nullptr);
constexpr auto kNoSet = static_cast<void (*)(Frame&, BuildOptions&, uint64_t)>(nullptr);

const FieldInfo kFields[] = {
    FRAME_FIELD("eth.dst", 48, dst_mac, "destination MAC address"),
    FRAME_FIELD("eth.src", 48, src_mac, "source MAC address"),
    {"eth.vlan", 16, "802.1Q tag control information; adds the tag", kNoGet,
     [](Frame&, BuildOptions& o, uint64_t v) { o.vlan = u16(v); }},
    FRAME_FIELD("eth.type", 16, ether_type, "EtherType"),
    FRAME_FIELD("ip.tos", 8, tos, "whole ToS byte: DSCP and ECN"),
    {"ip.len", 16, "total length", [](const Parsed& p) -> uint64_t { return p.ip_len; },
     [](Frame&, BuildOptions& o, uint64_t v) { o.ip_len = u16(v); }},
    FRAME_FIELD("ip.id", 16, ip_id, "identification"),
    FRAME_FIELD("ip.frag", 16, ip_frag, "flags [15:13] and fragment offset [12:0]"),
    FRAME_FIELD("ip.ttl", 8, ttl, "time to live"),
    FRAME_FIELD("ip.proto", 8, ip_proto, "protocol"),
    {"ip.csum", 16, "header checksum", [](const Parsed& p) -> uint64_t { return p.ip_csum; },
     [](Frame&, BuildOptions& o, uint64_t v) { o.ip_csum = u16(v); }},
    FRAME_FIELD("ip.src", 32, src_ip, "source address"),
    FRAME_FIELD("ip.dst", 32, dst_ip, "destination address"),
    {"ip.options", 8, "adds that many 32-bit words of options (no-operation)", kNoGet,
     [](Frame&, BuildOptions& o, uint64_t v) { o.ip_options.assign(std::min<uint64_t>(v, 10) * 4, 1); }},
    FRAME_FIELD("udp.sport", 16, sport, "source port"),
    FRAME_FIELD("udp.dport", 16, dport, "destination port"),
    {"udp.len", 16, "UDP length", [](const Parsed& p) -> uint64_t { return p.udp_len; },
     [](Frame&, BuildOptions& o, uint64_t v) { o.udp_len = u16(v); }},
    FRAME_FIELD("udp.csum", 16, udp_csum, "UDP checksum"),
    {"udp.csum_right", 1, "1: the right UDP checksum", kNoGet,
     [](Frame&, BuildOptions& o, uint64_t v) { o.udp_checksum = v != 0; }},
    FRAME_FIELD("opcode", 8, opcode, "BTH opcode"),
    FRAME_FLAG("se", se, "solicited event"),
    FRAME_FLAG("mig", mig, "MigReq"),
    {"pad", 2, "PadCnt; written: field and number of pad bytes", [](const Parsed& p) -> uint64_t { return p.pad; },
     [](Frame&, BuildOptions& o, uint64_t v) { o.pad = u8(v & 3); }},
    {"pad_field", 2, "PadCnt alone, the pad bytes stay right", kNoGet,
     [](Frame&, BuildOptions& o, uint64_t v) { o.pad_field = u8(v & 3); }},
    FRAME_FIELD("tver", 4, tver, "transport header version"),
    FRAME_FIELD("pkey", 16, pkey, "partition key"),
    FRAME_FLAG("fecn", fecn, "FECN"),
    FRAME_FLAG("becn", becn, "BECN"),
    FRAME_FIELD("resv6", 6, resv6, "reserved bits of BTH byte 4"),
    FRAME_FIELD("dqpn", 24, dqpn, "destination QPN"),
    FRAME_FLAG("ackreq", ackreq, "AckReq"),
    FRAME_FIELD("resv7", 7, resv7, "reserved bits of BTH byte 8"),
    FRAME_FIELD("psn", 24, psn, "packet sequence number"),
    FRAME_FIELD("va", 64, va, "RETH or AtomicETH virtual address"),
    FRAME_FIELD("rkey", 32, rkey, "RETH or AtomicETH R_Key"),
    FRAME_FIELD("dma_len", 32, dma_len, "RETH DMA length"),
    FRAME_FIELD("syndrome", 8, syndrome, "AETH syndrome"),
    FRAME_FIELD("msn", 24, msn, "AETH message sequence number"),
    FRAME_FIELD("swap_add", 64, swap_add, "AtomicETH swap or add value"),
    FRAME_FIELD("compare", 64, compare, "AtomicETH compare value"),
    FRAME_FIELD("original", 64, original, "AtomicAckETH original value"),
    FRAME_FIELD("imm", 32, imm, "immediate data"),
    FRAME_FIELD("inv_rkey", 32, inv_rkey, "IETH R_Key"),
    {"bytes", 16, "payload bytes, pad excluded", [](const Parsed& p) -> uint64_t { return p.frame.payload.size(); },
     kNoSet},
    {"icrc", 32, "ICRC, first byte on the wire in [7:0]", [](const Parsed& p) -> uint64_t { return p.icrc; },
     [](Frame&, BuildOptions& o, uint64_t v) { o.icrc = u32(v); }},
    {"icrc_xor", 32, "flips bits of the right ICRC", kNoGet,
     [](Frame&, BuildOptions& o, uint64_t v) { o.icrc_xor = u32(v); }},
    {"flip_bit", 32, "flips one bit of the finished frame: 8 * byte + bit", kNoGet,
     [](Frame&, BuildOptions& o, uint64_t v) { o.flip_bit = v; }},
    {"udp_payload", 16, "cuts the UDP payload to that many bytes; IP and UDP lengths follow", kNoGet,
     [](Frame&, BuildOptions& o, uint64_t v) { o.udp_payload = v; }},
    {"cut", 16, "cuts the frame to that many bytes; its lengths stay", kNoGet,
     [](Frame&, BuildOptions& o, uint64_t v) { o.cut = v; }},
    {"eth_pad", 16, "zero bytes behind the IP packet", [](const Parsed& p) -> uint64_t { return p.trailing; },
     [](Frame&, BuildOptions& o, uint64_t v) { o.eth_pad = v; }},
};

#undef FRAME_FIELD
#undef FRAME_FLAG

}  // namespace

std::span<const FieldInfo> frame_fields() { return kFields; }

const FieldInfo* find_field(std::string_view name) {
  for (const FieldInfo& f : kFields) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

std::string describe(ByteView frame) {
  const Parsed p = parse(frame);
  const Frame& f = p.frame;
  if (frame.size() < kEthBytes) return fmt::format("{} bytes, no Ethernet header", frame.size());
  if (f.ether_type != 0x0800) {
    return fmt::format("{} > {} EtherType {:#06x}, {} bytes", mac_text(f.src_mac), mac_text(f.dst_mac), f.ether_type,
                       frame.size());
  }
  if (!p.has_bth) {
    return fmt::format("{} > {} IPv4, {} bytes, {}", ip_text(f.src_ip), ip_text(f.dst_ip), frame.size(),
                       fault_name(p.fault));
  }
  std::string s = fmt::format("{} > {} {} dqpn {:#x} psn {:#x}", ip_text(f.src_ip), ip_text(f.dst_ip),
                              opcode_name(f.opcode), f.dqpn, f.psn);
  const OpcodeLayout& l = opcode_layout(f.opcode);
  if (f.ackreq) s += " ackreq";
  if (f.se) s += " se";
  if (p.has_headers) {
    if (l.reth) s += fmt::format(" va {:#x} rkey {:#x} len {}", f.va, f.rkey, f.dma_len);
    if (l.atomic)
      s += fmt::format(" va {:#x} rkey {:#x} swap_add {:#x} compare {:#x}", f.va, f.rkey, f.swap_add, f.compare);
    if (l.aeth) s += fmt::format(" syndrome {:#04x} msn {}", f.syndrome, f.msn);
    if (l.atomic_ack) s += fmt::format(" original {:#x}", f.original);
    if (l.imm) s += fmt::format(" imm {:#x}", f.imm);
    if (l.ieth) s += fmt::format(" inv_rkey {:#x}", f.inv_rkey);
    if (l.payload) s += fmt::format(" payload {}", f.payload.size());
  }
  if (f.pkey != 0xFFFF) s += fmt::format(" pkey {:#06x}", f.pkey);
  if (p.trailing != 0) s += fmt::format(" trailing {}", p.trailing);
  if (p.fault != FrameFault::None) s += fmt::format(" [{}]", fault_name(p.fault));
  return s;
}

}  // namespace rocegen::sim
