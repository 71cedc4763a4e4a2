#include "sim/model/frame.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sim/model/pcap.h"
#include "sim/model/rng.h"

using namespace rocegen::sim;

namespace {

const std::string kCaptures = ROCEGEN_SOURCE_DIR "/tests/captures";
const std::string kVectors = ROCEGEN_SOURCE_DIR "/../shared/vectors/roce";

struct Named {
  std::string name;
  Bytes frame;
};

std::vector<Named> read_vectors(const std::string& path) {
  std::vector<Named> out;
  std::ifstream f(path);
  std::string line;
  while (std::getline(f, line)) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    REQUIRE(tab != std::string::npos);
    const auto b = from_hex(line.substr(tab + 1));
    REQUIRE(b);
    out.push_back({line.substr(0, tab), *b});
  }
  return out;
}

/// Bit by bit, as the standard writes it: nothing shared with the code under test.
uint32_t slow_crc(ByteView data) {
  uint32_t crc = 0xFFFFFFFFu;
  for (const uint8_t byte : data) {
    for (int i = 0; i < 8; ++i) {
      const bool bit = (((byte >> i) ^ crc) & 1) != 0;
      crc >>= 1;
      if (bit) crc ^= 0xEDB88320u;
    }
  }
  return ~crc;
}

Frame random_frame(Rng& rng) {
  static const uint8_t ops[] = {op::SendFirst,    op::SendLastImm, op::SendOnlyInv,  op::WriteFirst,  op::WriteMiddle,
                                op::WriteLast,    op::WriteOnly,   op::WriteOnlyImm, op::ReadRequest, op::ReadRespFirst,
                                op::ReadRespOnly, op::Ack,         op::AtomicAck,    op::CmpSwap};
  Frame f;
  f.dst_mac = rng.below(uint64_t{1} << 48);
  f.src_mac = rng.below(uint64_t{1} << 48);
  f.tos = static_cast<uint8_t>(rng.next());
  f.ip_id = static_cast<uint16_t>(rng.next());
  f.ttl = static_cast<uint8_t>(rng.next());
  f.src_ip = static_cast<uint32_t>(rng.next());
  f.dst_ip = static_cast<uint32_t>(rng.next());
  f.sport = static_cast<uint16_t>(rng.next());
  f.opcode = ops[rng.below(std::size(ops))];
  f.se = rng.chance(0.5);
  f.mig = rng.chance(0.5);
  f.pkey = static_cast<uint16_t>(rng.next());
  f.fecn = rng.chance(0.5);
  f.becn = rng.chance(0.5);
  f.dqpn = static_cast<uint32_t>(rng.below(1u << 24));
  f.ackreq = rng.chance(0.5);
  f.psn = static_cast<uint32_t>(rng.below(1u << 24));
  f.va = rng.next();
  f.rkey = static_cast<uint32_t>(rng.next());
  f.dma_len = static_cast<uint32_t>(rng.next());
  f.syndrome = static_cast<uint8_t>(rng.next());
  f.msn = static_cast<uint32_t>(rng.below(1u << 24));
  f.swap_add = rng.next();
  f.compare = rng.next();
  f.original = rng.next();
  f.imm = static_cast<uint32_t>(rng.next());
  f.inv_rkey = static_cast<uint32_t>(rng.next());
  if (opcode_layout(f.opcode).payload) {
    f.payload.resize(rng.below(70));
    for (auto& b : f.payload) b = static_cast<uint8_t>(rng.next());
  }
  return f;
}

}  // namespace

TEST_CASE("frame: what is built is what is parsed") {
  Rng rng(1);
  for (int n = 0; n < 2000; ++n) {
    const Frame f = random_frame(rng);
    const Bytes b = build(f);
    const Parsed p = parse(b);
    INFO(describe(b));
    REQUIRE(p.ok());
    const OpcodeLayout& l = opcode_layout(f.opcode);
    CHECK(b.size() ==
          kEthBytes + kIpBytes + kUdpBytes + kBthBytes + l.bytes() + (f.payload.size() + 3) / 4 * 4 + kIcrcBytes);
    CHECK(p.pad == (4 - f.payload.size() % 4) % 4);
    CHECK(p.frame.payload == f.payload);
    // Every field that the opcode carries comes back, by name.
    Parsed original;
    original.frame = f;
    for (const FieldInfo& field : frame_fields()) {
      const std::string_view name = field.name;
      const bool reth = name == "dma_len" || name == "va" || name == "rkey";
      if (field.get == nullptr || field.set == nullptr || name == "ip.len" || name == "udp.len" || name == "ip.csum" ||
          name == "pad" || name == "icrc" || name == "eth_pad") {
        continue;
      }
      if (name == "dma_len" && !l.reth) continue;
      if (reth && !l.reth && !l.atomic) continue;
      if ((name == "syndrome" || name == "msn") && !l.aeth) continue;
      if ((name == "swap_add" || name == "compare") && !l.atomic) continue;
      if (name == "original" && !l.atomic_ack) continue;
      if (name == "imm" && !l.imm) continue;
      if (name == "inv_rkey" && !l.ieth) continue;
      CHECK_MESSAGE(field.get(p) == field.get(original), name);
    }
  }
}

TEST_CASE("frame: the ICRC equals a bit-serial one over a masked copy") {
  Rng rng(2);
  for (int n = 0; n < 300; ++n) {
    const Bytes b = build(random_frame(rng));
    Bytes m(8 + b.size() - 18, 0xFF);
    std::copy(b.begin() + 14, b.end() - 4, m.begin() + 8);
    // Offsets within {8 ones, IP 20, UDP 8, BTH}: ToS, TTL, header checksum, UDP checksum, BTH byte 4.
    for (const size_t i : {8 + 1, 8 + 8, 8 + 10, 8 + 11, 8 + 20 + 6, 8 + 20 + 7, 8 + 28 + 4}) m[i] = 0xFF;
    const uint32_t crc = slow_crc(m);
    CHECK(b[b.size() - 4] == (crc & 255));
    CHECK(b[b.size() - 3] == ((crc >> 8) & 255));
    CHECK(b[b.size() - 2] == ((crc >> 16) & 255));
    CHECK(b[b.size() - 1] == crc >> 24);
  }
}

TEST_CASE("frame: a known packet, byte for byte") {
  // READ request that soft-RoCE sent (PcapPlusPlus test data, public domain).
  const Bytes wire = *from_hex(
      "000c29ae1ca4000c2989a2e508004500003cbe10400040118a4bc0a83881c0a83883df9412b7002800000c00ffff000000118054cb630000"
      "7fee260fb000000002b80001000008c6154a");
  const Parsed p = parse(wire);
  REQUIRE(p.ok());
  CHECK(p.frame.opcode == op::ReadRequest);
  CHECK(p.frame.dqpn == 0x11);
  CHECK(p.frame.psn == 0x54CB63);
  CHECK(p.frame.va == 0x7FEE260FB000);
  CHECK(p.frame.rkey == 0x2B8);
  CHECK(p.frame.dma_len == 0x10000);
  CHECK(p.icrc == 0x4A15C608);
  CHECK(build(p.frame) == wire);
}

TEST_CASE("frame: any flipped bit under the ICRC is found, masked ones are not") {
  Rng rng(3);
  const Frame f = [&] {
    Frame x = random_frame(rng);
    x.opcode = op::WriteOnly;
    x.payload = Bytes(13, 0x5A);
    return x;
  }();
  const Bytes good = build(f);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes b = good;
    b[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    const Parsed p = parse(b);
    const size_t byte = bit / 8;
    // Not under the ICRC: MAC addresses, UDP checksum, BTH byte 4. Everything else must give some fault.
    const bool masked = byte < 12 || byte == 40 || byte == 41 || byte == 46;
    CHECK_MESSAGE(p.ok() == masked, bit);
  }
}

TEST_CASE("frame: cut and broken frames never parse as good, whatever their length") {
  Rng rng(4);
  for (int n = 0; n < 300; ++n) {
    const Bytes good = build(random_frame(rng));
    for (size_t len = 0; len < good.size(); ++len) CHECK_FALSE(parse(ByteView(good).first(len)).ok());
    Bytes noise(rng.below(200));
    for (auto& b : noise) b = static_cast<uint8_t>(rng.next());
    CHECK_FALSE(parse(noise).ok());
    describe(noise);
  }
}

TEST_CASE("frame: each fault has its name") {
  Frame f;
  f.opcode = op::WriteOnly;
  f.payload = Bytes(8, 1);
  const auto fault = [&](const BuildOptions& o, const std::function<void(Frame&)>& edit = {}) {
    Frame g = f;
    if (edit) edit(g);
    return parse(build(g, o)).fault;
  };
  BuildOptions o;
  CHECK(fault({}) == FrameFault::None);
  CHECK(fault({}, [](Frame& g) { g.ether_type = 0x86DD; }) == FrameFault::EtherType);
  o.vlan = 5;
  CHECK(fault(o) == FrameFault::EtherType);
  o = {};
  o.ip_options = Bytes(4, 1);
  CHECK(fault(o) == FrameFault::IpOptions);
  o = {};
  o.ip_csum = 0;
  CHECK(fault(o) == FrameFault::IpChecksum);
  CHECK(fault({}, [](Frame& g) { g.ip_frag = 0x2000; }) == FrameFault::Fragment);
  CHECK(fault({}, [](Frame& g) { g.ip_proto = 6; }) == FrameFault::NotUdp);
  CHECK(fault({}, [](Frame& g) { g.dport = 4790; }) == FrameFault::UdpPort);
  o = {};
  o.ip_len = 5000;
  CHECK(fault(o) == FrameFault::IpLength);
  o = {};
  o.udp_len = 40;
  CHECK(fault(o) == FrameFault::UdpLength);
  o = {};
  o.udp_payload = 15;
  CHECK(fault(o) == FrameFault::BthLength);
  o = {};
  o.udp_payload = 31;  // BTH, RETH and ICRC need 32
  CHECK(fault(o) == FrameFault::BthLength);
  o = {};
  o.icrc_xor = 1;
  CHECK(fault(o) == FrameFault::Icrc);
  o = {};
  o.eth_pad = 7;
  CHECK(fault(o) == FrameFault::None);
  CHECK(parse(build(f, o)).trailing == 7);
}

TEST_CASE("frame: UDP checksum as RFC 768 has it") {
  Frame f;
  f.opcode = op::WriteOnly;
  f.src_ip = 0x0A000001;
  f.dst_ip = 0x0A000002;
  for (size_t n = 0; n < 20; ++n) {
    f.payload = Bytes(n, static_cast<uint8_t>(n * 37));
    BuildOptions o;
    o.udp_checksum = true;
    const Bytes b = build(f, o);
    REQUIRE(parse(b).ok());
    uint32_t sum = 17 + static_cast<uint32_t>(b.size() - 34);
    for (size_t i = 26; i + 1 < b.size(); i += 2)
      sum += static_cast<uint32_t>(b[i] << 8 | b[i + 1]);  // from the IP addresses on
    while ((sum >> 16) != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    CHECK(sum == 0xFFFF);
  }
}

TEST_CASE("frame: every ICRC of the committed captures is right") {
  size_t frames = 0;
  size_t bad = 0;
  for (const auto& e : std::filesystem::directory_iterator(kCaptures)) {
    if (e.path().extension() != ".pcap") continue;
    PcapFile file;
    std::string error;
    REQUIRE_MESSAGE(read_pcap(e.path().string(), file, error), error);
    for (const PcapFrame& f : file.frames) {
      const Parsed p = parse(f.data);
      if (!p.has_bth) continue;
      ++frames;
      bad += p.fault == FrameFault::Icrc;
      CHECK(p.pad_zero);
      // Taken apart and put together again, a good frame of known kind is the same.
      if (p.ok() && opcode_layout(p.frame.opcode).known) CHECK(build(p.frame) == f.data);
    }
  }
  CHECK(frames > 900);
  CHECK(bad == 1);  // host-interop holds one on purpose
}

TEST_CASE("frame: published vectors" * doctest::skip(!std::filesystem::exists(kVectors))) {
  size_t good = 0;
  for (const Named& v : read_vectors(kVectors + "/packets_icrc_good.txt")) {
    const Parsed p = parse(v.frame);
    if (!p.has_bth) continue;  // IPv6 and RoCE v1
    CHECK_MESSAGE(p.icrc == p.icrc_right, v.name);
    ++good;
  }
  CHECK(good >= 8);
  size_t bad = 0;
  for (const Named& v : read_vectors(kVectors + "/packets_icrc_bad.txt")) {
    const Parsed p = parse(v.frame);
    if (!p.has_bth) continue;
    CHECK_MESSAGE(p.icrc != p.icrc_right, v.name);
    ++bad;
  }
  CHECK(bad >= 5);
}

TEST_CASE("bytes: hex, addresses") {
  CHECK(to_hex(Bytes{0x00, 0xAB, 0x10}) == "00ab10");
  CHECK(*from_hex("00 AB:10\n") == Bytes{0x00, 0xAB, 0x10});
  CHECK_FALSE(from_hex("0"));
  CHECK_FALSE(from_hex("0g"));
  CHECK_FALSE(from_hex("0 0"));
  CHECK(*ip_from_text("10.0.0.255") == 0x0A0000FF);
  CHECK_FALSE(ip_from_text("10.0.0.256"));
  CHECK_FALSE(ip_from_text("10.0.0"));
  CHECK_FALSE(ip_from_text("10.0.0.1.2"));
  CHECK(*mac_from_text("02:00:00:00:00:0a") == 0x02000000000A);
  CHECK_FALSE(mac_from_text("02:00:00:00:00:0"));
  CHECK(ip_text(0x0A000001) == "10.0.0.1");
  CHECK(mac_text(0x02000000000A) == "02:00:00:00:00:0a");
  CHECK(*opcode_from_name(opcode_name(op::WriteOnly)) == op::WriteOnly);
}
