// RoCE v2 frames: built and taken apart field by field (protocol sheet sections 1, 2 and 4). Frames carry no FCS.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/model/bytes.h"

namespace rocegen::sim {

/// BTH opcodes of a reliable connection (roce_pkg::Op*).
namespace op {
inline constexpr uint8_t SendFirst = 0x00;
inline constexpr uint8_t SendMiddle = 0x01;
inline constexpr uint8_t SendLast = 0x02;
inline constexpr uint8_t SendLastImm = 0x03;
inline constexpr uint8_t SendOnly = 0x04;
inline constexpr uint8_t SendOnlyImm = 0x05;
inline constexpr uint8_t WriteFirst = 0x06;
inline constexpr uint8_t WriteMiddle = 0x07;
inline constexpr uint8_t WriteLast = 0x08;
inline constexpr uint8_t WriteLastImm = 0x09;
inline constexpr uint8_t WriteOnly = 0x0A;
inline constexpr uint8_t WriteOnlyImm = 0x0B;
inline constexpr uint8_t ReadRequest = 0x0C;
inline constexpr uint8_t ReadRespFirst = 0x0D;
inline constexpr uint8_t ReadRespMiddle = 0x0E;
inline constexpr uint8_t ReadRespLast = 0x0F;
inline constexpr uint8_t ReadRespOnly = 0x10;
inline constexpr uint8_t Ack = 0x11;
inline constexpr uint8_t AtomicAck = 0x12;
inline constexpr uint8_t CmpSwap = 0x13;
inline constexpr uint8_t FetchAdd = 0x14;
inline constexpr uint8_t SendLastInv = 0x16;
inline constexpr uint8_t SendOnlyInv = 0x17;
inline constexpr uint8_t Flush = 0x1C;  // IBTA 1.5, optional
inline constexpr uint8_t AtomicWrite = 0x1D;
}  // namespace op

/// Which extension headers follow the BTH, in the order of the wire.
struct OpcodeLayout {
  bool known = false;  ///< one of the RC opcodes above
  bool feth = false;   ///< of a FLUSH; built as zeros, not read
  bool reth = false;
  bool aeth = false;
  bool atomic = false;
  bool atomic_ack = false;
  bool imm = false;
  bool ieth = false;
  bool request = false;  ///< travels from requester to responder
  bool payload = false;  ///< may carry payload
  size_t bytes() const {
    return (feth ? 4u : 0u) + (reth ? 16u : 0u) + (aeth ? 4u : 0u) + (atomic ? 28u : 0u) + (atomic_ack ? 8u : 0u) +
           (imm ? 4u : 0u) + (ieth ? 4u : 0u);
  }
};

/// Layout of an opcode; `known` false and no extension headers for one outside RC.
const OpcodeLayout& opcode_layout(uint8_t opcode);
/// "WRITE_ONLY", "ACK", ...; "0x1c" for an opcode without a name.
std::string opcode_name(uint8_t opcode);
/// Opcode of a name as opcode_name gives it; nothing if there is none.
std::optional<uint8_t> opcode_from_name(std::string_view name);

inline constexpr uint16_t kUdpPortRoce = 4791;
inline constexpr size_t kEthBytes = 14;
inline constexpr size_t kIpBytes = 20;
inline constexpr size_t kUdpBytes = 8;
inline constexpr size_t kBthBytes = 12;
inline constexpr size_t kIcrcBytes = 4;

/// The fields of one RoCE v2 over IPv4 frame. Lengths, checksums, PadCnt and ICRC are worked out by build().
struct Frame {
  uint64_t dst_mac = 0;
  uint64_t src_mac = 0;
  uint16_t ether_type = 0x0800;
  uint8_t tos = 0;
  uint16_t ip_id = 0;
  uint16_t ip_frag = 0x4000;  ///< flags[15:13], offset[12:0]; DF set
  uint8_t ttl = 64;
  uint8_t ip_proto = 17;
  uint32_t src_ip = 0;
  uint32_t dst_ip = 0;
  uint16_t sport = 0xC000;
  uint16_t dport = kUdpPortRoce;
  uint16_t udp_csum = 0;
  uint8_t opcode = 0;
  bool se = false;
  bool mig = false;
  uint8_t tver = 0;
  uint16_t pkey = 0xFFFF;
  bool fecn = false;
  bool becn = false;
  uint8_t resv6 = 0;
  uint32_t dqpn = 0;
  bool ackreq = false;
  uint8_t resv7 = 0;
  uint32_t psn = 0;
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint32_t dma_len = 0;
  uint8_t syndrome = 0;
  uint32_t msn = 0;
  uint64_t swap_add = 0;
  uint64_t compare = 0;
  uint64_t original = 0;  ///< AtomicAckETH
  uint32_t imm = 0;
  uint32_t inv_rkey = 0;
  Bytes payload;  ///< pad excluded
};

/// How build() departs from a correct frame.
struct BuildOptions {
  std::optional<uint16_t> ip_len;
  std::optional<uint16_t> udp_len;
  std::optional<uint16_t> ip_csum;
  std::optional<uint8_t> pad;           ///< PadCnt field and number of pad bytes
  std::optional<uint8_t> pad_field;     ///< PadCnt field alone; the number of pad bytes stays right
  std::optional<uint32_t> icrc;         ///< value instead of the right one
  uint32_t icrc_xor = 0;                ///< flips bits of the right ICRC
  std::optional<uint64_t> flip_bit;     ///< bit of the finished frame, 0 = bit 0 of byte 0
  std::optional<uint64_t> udp_payload;  ///< cut the UDP payload to this many bytes; IP and UDP lengths follow
  std::optional<uint64_t> cut;          ///< cut the frame to this many bytes; IP and UDP lengths stay
  uint64_t eth_pad = 0;                 ///< zero bytes behind the IP packet
  std::optional<uint16_t> vlan;         ///< 802.1Q tag control information
  bool udp_checksum = false;            ///< the right UDP checksum instead of Frame::udp_csum
  Bytes ip_options;                     ///< multiple of 4, at most 40 bytes
};

/// The frame's bytes. PadCnt = (-payload) mod 4, pad bytes zero, IPv4 checksum and ICRC right unless `opt` says other.
Bytes build(const Frame& f, const BuildOptions& opt = {});

/// Why a frame is no usable RoCE v2 frame; in the order in which a receiver looks.
enum class FrameFault : uint8_t {
  None,
  Runt,       ///< shorter than its headers
  EtherType,  ///< not IPv4
  IpVersion,  ///< version is not 4
  IpOptions,  ///< IHL is not 5
  IpChecksum,
  Fragment,  ///< MF set or offset not 0
  NotUdp,
  IpLength,   ///< IP length beyond the frame or too short
  UdpPort,    ///< not 4791
  UdpLength,  ///< disagrees with the IP length
  BthLength,  ///< no room for BTH, extension headers, pad and ICRC
  Icrc,
};
/// "runt", "ether_type", ...
std::string_view fault_name(FrameFault f);

/// A frame taken apart. Fields beyond the fault's place are zero.
struct Parsed {
  FrameFault fault = FrameFault::None;
  Frame frame;
  bool has_bth = false;      ///< BTH fields are valid
  bool has_headers = false;  ///< extension headers and payload are valid
  uint8_t pad = 0;           ///< PadCnt field
  bool pad_zero = true;      ///< all pad bytes are zero
  uint16_t ip_len = 0;
  uint16_t udp_len = 0;
  uint16_t ip_csum = 0;
  uint32_t icrc = 0;  ///< as in the frame, first byte on the wire in [7:0]
  uint32_t icrc_right = 0;
  size_t trailing = 0;  ///< bytes behind the IP packet
  bool ok() const { return fault == FrameFault::None; }
};

/// Takes a frame apart; every length is checked before it is used. An unknown opcode has no extension headers.
Parsed parse(ByteView frame);

/// CRC-32 (reflected 0xEDB88320) of `data` on top of the raw register `state` (no inversion at either end).
uint32_t crc32_raw(uint32_t state, ByteView data);

/// ICRC over an IPv4 packet without its ICRC field: `packet` starts at the IP header (protocol sheet section 1).
/// The value's least significant byte goes first on the wire.
uint32_t icrc_ipv4(ByteView packet);

/// IPv4 header checksum; the checksum field itself is taken as zero.
uint16_t ipv4_checksum(ByteView header);

/// A field that scenarios name.
struct FieldInfo {
  std::string_view name;
  unsigned bits;
  std::string_view about;
  uint64_t (*get)(const Parsed&);                ///< null: can only be written
  void (*set)(Frame&, BuildOptions&, uint64_t);  ///< null: can only be read
};

/// Every field, in the order of the wire.
std::span<const FieldInfo> frame_fields();
/// The field with that name or null.
const FieldInfo* find_field(std::string_view name);

/// One line: addresses, opcode, QPN, PSN and whatever the opcode carries; for other frames what they are.
std::string describe(ByteView frame);

}  // namespace rocegen::sim
