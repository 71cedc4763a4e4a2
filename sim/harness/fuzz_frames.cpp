#include "sim/harness/fuzz_frames.h"

#include <algorithm>
#include <array>

namespace rocegen::sim {
namespace {

constexpr size_t kRemembered = 128;
constexpr size_t kHeaders = kEthBytes + kIpBytes + kUdpBytes;
constexpr uint32_t kMaxMessage = 1u << 31;

struct KindRow {
  std::string_view name;
  uint32_t weight;
};
// Good packets are many: they bring QPs into the middle of messages, where most rules are.
constexpr std::array<KindRow, kFuzzKinds> kKinds = {{
    {"good", 30},      {"noise", 3},      {"headers", 3},   {"bit_flip", 6},  {"field", 8},
    {"length", 5},     {"truncated", 4},  {"opcode", 3},    {"order", 3},     {"access", 6},
    {"response", 6},   {"answer", 8},     {"psn", 6},       {"duplicate", 6}, {"reflected", 2},
    {"read_flood", 2}, {"send_flood", 2}, {"mac_error", 3}, {"stranger", 4},
}};

constexpr uint8_t kOpcodes[] = {
    op::SendFirst,   op::SendMiddle,    op::SendLast,       op::SendLastImm,  op::SendOnly,     op::SendOnlyImm,
    op::WriteFirst,  op::WriteMiddle,   op::WriteLast,      op::WriteLastImm, op::WriteOnly,    op::WriteOnlyImm,
    op::ReadRequest, op::ReadRespFirst, op::ReadRespMiddle, op::ReadRespLast, op::ReadRespOnly, op::Ack,
    op::AtomicAck,   op::CmpSwap,       op::FetchAdd,       op::SendLastInv,  op::SendOnlyInv};

uint32_t packets_of(uint32_t length, uint32_t mtu) { return length == 0 ? 1 : (length - 1) / mtu + 1; }

bool is_read_response(uint8_t o) { return o >= op::ReadRespFirst && o <= op::ReadRespOnly; }

}  // namespace

std::string_view fuzz_kind_name(FuzzKind k) { return kKinds[static_cast<size_t>(k)].name; }

void seal(Bytes& b) {
  const size_t ip = b.size() - kEthBytes + kIcrcBytes;
  put_be(&b[kEthBytes + 2], 2, ip);
  put_be(&b[kEthBytes + kIpBytes + 4], 2, ip - kIpBytes);
  put_be(&b[kEthBytes + 10], 2, ipv4_checksum(ByteView(b).subspan(kEthBytes, kIpBytes)));
  const uint32_t crc = icrc_ipv4(ByteView(b).subspan(kEthBytes));
  for (unsigned i = 0; i < kIcrcBytes; ++i) b.push_back(static_cast<uint8_t>(crc >> (8 * i)));
}

void FuzzTarget::start(const QpConfig& q) {
  *this = FuzzTarget{};
  qp = q;
  epsn = q.rq_psn;
  una = high = q.sq_psn;
}

void FuzzTarget::watch_station(const Frame& f) {
  const OpcodeLayout& layout = opcode_layout(f.opcode);
  if (layout.request) {
    uint32_t n = 1;
    if (f.opcode == op::ReadRequest || layout.atomic) {
      read_op = f.opcode;
      read_psn = f.psn;
      read_length = layout.atomic ? 8 : f.dma_len;
      n = layout.atomic ? 1 : packets_of(f.dma_len, mtu_bytes(qp.pmtu));
    }
    const uint32_t end = psn_add(f.psn, n);
    if (psn_lt(high, end)) high = end;
    return;
  }
  if (f.opcode != op::Ack) return;
  // A NAK tells the ePSN itself, an ACK at least how far it is.
  const AckKind kind = ack_kind(f.syndrome);
  if (f.syndrome == kSynNakPsn || kind == AckKind::Rnr) {
    epsn = f.psn;
  } else if (kind == AckKind::Ack && psn_lt(epsn, psn_add(f.psn, 1))) {
    epsn = psn_add(f.psn, 1);
  }
}

void FuzzTarget::watch_peer(const Frame& f) {
  const OpcodeLayout& layout = opcode_layout(f.opcode);
  if (!layout.request) {
    if (ack_kind(f.syndrome) == AckKind::Ack && psn_lt(una, psn_add(f.psn, 1))) una = psn_add(f.psn, 1);
    return;
  }
  if (f.psn != epsn) return;
  epsn = psn_add(epsn, f.opcode == op::ReadRequest ? packets_of(f.dma_len, mtu_bytes(qp.pmtu)) : 1);
  const auto sent = static_cast<uint32_t>(f.payload.size());
  switch (f.opcode) {
    case op::SendFirst:
      message = Message::Send;
      break;
    case op::WriteFirst:
      message = Message::Write;
      left = f.dma_len - sent;
      break;
    case op::WriteMiddle:
      left -= std::min(left, sent);
      break;
    case op::SendMiddle:
      break;
    default:
      message = Message::None;
      break;
  }
}

void FuzzFrames::remember(ByteView frame, bool from_station) {
  std::vector<Bytes>& ring = from_station ? from_station_ : to_station_;
  size_t& next = from_station ? from_next_ : to_next_;
  if (ring.size() < kRemembered) {
    ring.emplace_back(frame.begin(), frame.end());
    return;
  }
  ring[next].assign(frame.begin(), frame.end());
  next = (next + 1) % kRemembered;
}

Bytes FuzzFrames::random_bytes(size_t n) {
  Bytes b(n);
  for (auto& x : b) x = static_cast<uint8_t>(rng_.next());
  return b;
}

Frame FuzzFrames::base(const QpConfig& q) {
  Frame f;
  f.dst_mac = station_.mac;
  f.src_mac = peer_.mac;
  f.src_ip = peer_.ip;
  f.dst_ip = station_.ip;
  f.ttl = static_cast<uint8_t>(rng_.between(1, 255));
  f.tos = static_cast<uint8_t>(rng_.next());
  f.ip_id = static_cast<uint16_t>(rng_.next());
  f.sport = static_cast<uint16_t>(0xC000 | rng_.below(0x4000));
  f.pkey = static_cast<uint16_t>(q.pkey | 0x8000);
  f.mig = rng_.chance(0.5);
  f.dqpn = q.qpn;
  f.ackreq = rng_.chance(0.5);
  return f;
}

uint32_t FuzzFrames::length(uint32_t mtu) {
  switch (rng_.below(8)) {
    case 0:
      return 0;
    case 1:
      return static_cast<uint32_t>(rng_.between(1, 8));
    case 2:
    case 3:
      return static_cast<uint32_t>(rng_.between(1, mtu));
    case 4:
      return mtu * static_cast<uint32_t>(rng_.between(1, 3));
    case 5:
      return mtu + static_cast<uint32_t>(rng_.between(1, 5));
    default:
      return static_cast<uint32_t>(rng_.between(1, uint64_t{mtu} * 3));
  }
}

/// One with that right; any if none has it.
const MrConfig& FuzzFrames::region(uint8_t right) {
  const size_t n = usable_.size();
  const size_t from = rng_.below(n);
  for (size_t i = 0; i < n; ++i) {
    const MrConfig& r = usable_[(from + i) % n];
    if (r.valid && (r.access & right) != 0) return r;
  }
  return usable_[from];
}

/// First packet of a message with that opcode (FIRST, ONLY, READ or atomic); PSN and message follow in the target.
Frame FuzzFrames::start_message(FuzzTarget& t, uint8_t opcode) {
  const uint32_t mtu = mtu_bytes(t.qp.pmtu);
  const OpcodeLayout& layout = opcode_layout(opcode);
  Frame f = base(t.qp);
  f.opcode = opcode;
  f.psn = t.epsn;
  f.imm = static_cast<uint32_t>(rng_.next());
  f.inv_rkey = rng_.chance(0.9) ? region(kAccInvalidate).key() : static_cast<uint32_t>(rng_.next());
  f.swap_add = rng_.next();
  f.compare = rng_.next();
  const uint8_t right = opcode == op::ReadRequest ? kAccRead : layout.atomic ? kAccAtomic : kAccWrite;
  const MrConfig& r = region(right);
  uint32_t n = length(mtu);
  const bool first = opcode == op::SendFirst || opcode == op::WriteFirst;
  if (first) n = std::max(n, mtu + 1);
  const bool only = !first && layout.payload;
  if (only) n = std::min(n, mtu);
  if (layout.reth || layout.atomic) {
    n = static_cast<uint32_t>(std::min<uint64_t>(n, std::max<uint64_t>(r.length, 1)));
    const uint64_t bytes = layout.atomic ? 8 : n;
    f.va = r.base + (r.length > bytes ? rng_.below(r.length - bytes + 1) : 0);
    if (layout.atomic) f.va = (f.va + 7) & ~uint64_t{7};
    f.rkey = r.key();
    f.dma_len = n;
    // Often a message that does not fit another packet.
    if (first && n <= mtu) f.dma_len = n = mtu + 1;
  }
  if (layout.payload) f.payload = random_bytes(first ? mtu : n);
  t.epsn = psn_add(t.epsn, opcode == op::ReadRequest ? packets_of(n, mtu) : 1);
  if (first) {
    t.message = opcode == op::SendFirst ? FuzzTarget::Message::Send : FuzzTarget::Message::Write;
    t.left = n - mtu;
  }
  return f;
}

Frame FuzzFrames::good(FuzzTarget& t) {
  const uint32_t mtu = mtu_bytes(t.qp.pmtu);
  if (t.message != FuzzTarget::Message::None) {
    const bool send = t.message == FuzzTarget::Message::Send;
    Frame f = base(t.qp);
    f.psn = t.epsn;
    f.imm = static_cast<uint32_t>(rng_.next());
    f.inv_rkey = region(kAccInvalidate).key();
    const bool last = t.left <= mtu;
    static constexpr uint8_t kSendEnds[] = {op::SendLast, op::SendLastImm, op::SendLastInv};
    static constexpr uint8_t kWriteEnds[] = {op::WriteLast, op::WriteLastImm};
    f.opcode = !last  ? (send ? op::SendMiddle : op::WriteMiddle)
               : send ? kSendEnds[rng_.below(std::size(kSendEnds))]
                      : kWriteEnds[rng_.below(std::size(kWriteEnds))];
    f.se = last && send && rng_.chance(0.5);
    f.payload = random_bytes(std::max(1u, std::min(t.left, mtu)));
    t.left -= std::min(t.left, mtu);
    if (last) t.message = FuzzTarget::Message::None;
    t.epsn = psn_add(t.epsn, 1);
    return f;
  }
  static constexpr uint8_t kStarts[] = {
      op::WriteOnly, op::WriteOnly,   op::WriteFirst,  op::WriteFirst,  op::WriteOnlyImm, op::SendOnly, op::SendOnly,
      op::SendFirst, op::SendOnlyImm, op::SendOnlyInv, op::ReadRequest, op::ReadRequest,  op::CmpSwap,  op::FetchAdd};
  return start_message(t, kStarts[rng_.below(std::size(kStarts))]);
}

Frame FuzzFrames::broken_length(FuzzTarget& t) {
  const uint32_t mtu = mtu_bytes(t.qp.pmtu);
  FuzzTarget copy = t;
  Frame f = good(copy);
  const OpcodeLayout& layout = opcode_layout(f.opcode);
  switch (rng_.below(5)) {
    case 0:
      f.payload = random_bytes(rng_.below(mtu + 64));
      break;
    case 1:
      f.payload = random_bytes(mtu + 1 + rng_.below(rng_.chance(0.2) ? 9000 : 70));
      break;
    case 2:
      f.payload.clear();
      break;
    case 3:
      if (layout.reth) {
        static constexpr uint32_t kLengths[] = {0, 1, kMaxMessage, kMaxMessage + 1, 0xFFFFFFFF};
        f.dma_len = kLengths[rng_.below(std::size(kLengths))];
      } else {
        f.payload.push_back(1);
      }
      break;
    default:
      f.dma_len = static_cast<uint32_t>(f.payload.size() + rng_.between(0, 2) - 1);
      if (!layout.payload) f.payload = random_bytes(rng_.between(1, 40));
      break;
  }
  return f;
}

Frame FuzzFrames::broken_access(FuzzTarget& t) {
  static constexpr uint8_t kStarts[] = {op::WriteOnly, op::WriteFirst, op::WriteOnlyImm, op::ReadRequest,
                                        op::CmpSwap,   op::FetchAdd,   op::SendOnlyInv};
  FuzzTarget copy = t;
  copy.message = FuzzTarget::Message::None;
  Frame f = start_message(copy, kStarts[rng_.below(std::size(kStarts))]);
  const bool foreign = rng_.chance(0.5) && !forbidden_.empty();
  const MrConfig r = foreign ? forbidden_[rng_.below(forbidden_.size())] : usable_[rng_.below(usable_.size())];
  f.rkey = f.inv_rkey = r.key();
  if (foreign && r.length > f.dma_len) f.va = r.base + rng_.below(r.length - f.dma_len);
  // Of a region that is not for this QP nothing else need be wrong.
  switch (rng_.below(foreign ? 16 : 8)) {
    case 0:
      f.rkey ^= 1u << rng_.below(32);
      f.inv_rkey = f.rkey;
      break;
    case 1:
      f.va = r.base - rng_.between(1, 16);
      break;
    case 2:
      f.va = r.base + r.length - f.dma_len + rng_.between(1, 16);
      break;
    case 3:
      f.va = ~uint64_t{0} - rng_.below(16);
      break;
    case 4:
      f.va = rng_.next();
      break;
    case 5:
      f.va ^= uint64_t{1} << rng_.below(64);
      break;
    case 6:
      if (opcode_layout(f.opcode).atomic) f.va |= rng_.between(1, 7);
      f.dma_len = static_cast<uint32_t>(r.length + rng_.below(2));
      break;
    default:
      break;  // the key alone, or not even that
  }
  return f;
}

/// A PSN within [low - 2, high + 2], now and then any.
uint32_t FuzzFrames::near(uint32_t low, uint32_t high) {
  if (rng_.chance(0.1)) return static_cast<uint32_t>(rng_.below(1u << 24));
  return psn_add(low, static_cast<uint32_t>(rng_.below(std::min(psn_sub(high, low), 64u) + 5)) - 2) & 0xFFFFFF;
}

Frame FuzzFrames::response(const FuzzTarget& t) {
  const uint32_t mtu = mtu_bytes(t.qp.pmtu);
  Frame f = base(t.qp);
  f.ackreq = rng_.chance(0.05);
  static constexpr uint8_t kResponses[] = {op::ReadRespFirst, op::ReadRespMiddle, op::ReadRespLast, op::ReadRespOnly,
                                           op::AtomicAck};
  f.opcode = kResponses[rng_.below(std::size(kResponses))];
  f.syndrome = rng_.chance(0.9) ? kSynAckNoLimit : static_cast<uint8_t>(rng_.next());
  f.msn = static_cast<uint32_t>(rng_.below(64));
  f.original = rng_.next();
  f.psn = near(t.una, t.high);
  uint32_t want = length(mtu);
  if (t.read_op != 0 && rng_.chance(0.7)) {
    // Such as an outstanding request may wait for.
    const uint32_t n = t.read_op == op::ReadRequest ? packets_of(t.read_length, mtu) : 1;
    const auto i = static_cast<uint32_t>(rng_.below(n));
    f.psn = psn_add(t.read_psn, i);
    want = i + 1 == n ? t.read_length - i * mtu : mtu;
    if (rng_.chance(0.8)) {
      f.opcode = t.read_op != op::ReadRequest ? op::AtomicAck
                 : n == 1                     ? op::ReadRespOnly
                 : i == 0                     ? op::ReadRespFirst
                 : i + 1 == n                 ? op::ReadRespLast
                                              : op::ReadRespMiddle;
    }
    if (rng_.chance(0.2)) want += static_cast<uint32_t>(rng_.between(1, 3));
  }
  if (is_read_response(f.opcode)) f.payload = random_bytes(std::min(want, mtu + 8));
  return f;
}

Frame FuzzFrames::answer(const FuzzTarget& t) {
  Frame f = base(t.qp);
  f.ackreq = rng_.chance(0.05);
  f.opcode = op::Ack;
  f.psn = near(t.una, t.high);
  f.msn = rng_.chance(0.7) ? static_cast<uint32_t>(rng_.below(32)) : static_cast<uint32_t>(rng_.below(1u << 24));
  switch (rng_.below(8)) {
    case 0:
      f.syndrome = static_cast<uint8_t>(rng_.next());
      break;
    case 1:
      f.syndrome = kSynNakPsn;
      break;
    case 2:
      f.syndrome = static_cast<uint8_t>(kSynNakPsn + rng_.below(rng_.chance(0.5) ? 5 : 32));
      break;
    case 3:
    case 4:  // short waits mostly
      f.syndrome = static_cast<uint8_t>(kSynRnr + (rng_.chance(0.9) ? rng_.between(1, 4) : rng_.below(32)));
      break;
    case 5:
      f.syndrome = static_cast<uint8_t>(rng_.below(32));
      break;
    default:
      f.syndrome = kSynAckNoLimit;
      break;
  }
  return f;
}

/// Half of the time a QP that is not to be touched.
FuzzTarget FuzzFrames::untouched_or(const FuzzTarget& t) {
  return untouched_.empty() || rng_.chance(0.5) ? t : *untouched_[rng_.below(untouched_.size())];
}

Frame FuzzFrames::stranger(const FuzzTarget& t) {
  FuzzTarget copy = untouched_or(t);
  Frame f = rng_.chance(0.3) ? answer(copy) : good(copy);
  switch (rng_.below(5)) {
    case 0:
      f.src_ip ^= 1u << rng_.below(32);
      break;
    case 1:
      f.pkey ^= static_cast<uint16_t>(1u << rng_.below(15));
      break;
    case 2:
      f.dst_mac ^= uint64_t{1} << rng_.below(48);
      break;
    case 3:
      f.dst_ip ^= 1u << rng_.below(32);
      break;
    default:  // no such QP
      f.dqpn = static_cast<uint32_t>(rng_.chance(0.5) ? qp_count_ + rng_.below(64) : rng_.between(qp_count_, 0xFFFFFF));
      break;
  }
  return f;
}

Bytes FuzzFrames::field_mutation(const Frame& f) {
  BuildOptions opt;
  Frame g = f;
  const Parsed now = parse(build(f));
  const auto fields = frame_fields();
  for (uint64_t n = rng_.between(1, 3); n > 0; --n) {
    const FieldInfo& field = fields[rng_.below(fields.size())];
    if (field.set == nullptr) continue;
    const uint64_t mask = field.bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << field.bits) - 1;
    const uint64_t is = field.get != nullptr ? field.get(now) : 0;
    uint64_t v = rng_.next();
    switch (rng_.below(5)) {
      case 0:
        v = is + 1;
        break;
      case 1:
        v = is - 1;
        break;
      case 2:
        v = is ^ (uint64_t{1} << rng_.below(field.bits));
        break;
      case 3:
        v = rng_.chance(0.5) ? 0 : ~uint64_t{0};
        break;
      default:
        break;
    }
    v &= mask;
    if (field.name == "eth_pad") v %= 200;
    field.set(g, opt, v);
  }
  return build(g, opt);
}

Bytes FuzzFrames::truncated(const Frame& f) {
  Bytes b = build(f);
  switch (rng_.below(4)) {
    case 0:  // the wire lost its end
      b.resize(rng_.between(1, b.size() - 1));
      return b;
    case 1: {  // bytes behind the packet: Ethernet padding may be anything
      const Bytes more = random_bytes(rng_.between(1, 100));
      b.insert(b.end(), more.begin(), more.end());
      return b;
    }
    case 2:  // cut by somebody who made all lengths, checksums and the ICRC right again
      b.resize(kHeaders + rng_.below(b.size() - kHeaders - kIcrcBytes));
      seal(b);
      return b;
    default: {
      b.resize(b.size() - kIcrcBytes);
      const Bytes more = random_bytes(rng_.between(1, 20));
      b.insert(b.end(), more.begin(), more.end());
      seal(b);
      return b;
    }
  }
}

void FuzzFrames::make(FuzzTarget& t, std::vector<FuzzFrame>& out) {
  uint32_t total = 0;
  for (const KindRow& k : kKinds) total += k.weight;
  auto pick = static_cast<uint32_t>(rng_.below(total));
  size_t row = 0;
  while (pick >= kKinds[row].weight) pick -= kKinds[row++].weight;
  auto kind = static_cast<FuzzKind>(row);
  if ((kind == FuzzKind::Duplicate && to_station_.empty()) || (kind == FuzzKind::Reflected && from_station_.empty())) {
    kind = FuzzKind::Good;
  }
  const auto put = [&](Bytes b, bool bad = false) { out.push_back({kind, bad, std::move(b)}); };
  // Frames that are turned down leave the state of the QP alone.
  FuzzTarget copy = t;
  switch (kind) {
    case FuzzKind::Good:
      return put(build(good(t)));
    case FuzzKind::Noise: {
      Bytes b = random_bytes(rng_.between(1, rng_.chance(0.05) ? 10'000 : 300));
      if (b.size() >= 6 && rng_.chance(0.7)) put_be(b.data(), 6, station_.mac);
      if (b.size() >= 15 && rng_.chance(0.5)) {
        put_be(&b[12], 2, 0x0800);
        b[14] = 0x45;
      }
      return put(std::move(b));
    }
    case FuzzKind::Headers: {
      Frame f = base(t.qp);
      Bytes b = build(f);
      b.resize(kHeaders);
      Bytes more = random_bytes(rng_.below(rng_.chance(0.2) ? 5000 : 120));
      if (more.size() >= 12 && rng_.chance(0.7)) {
        more[1] &= 0xF0;
        put_be(&more[2], 2, f.pkey);
        put_be(&more[5], 3, t.qp.qpn);
        if (rng_.chance(0.5)) put_be(&more[9], 3, t.epsn);
        if (rng_.chance(0.5)) more[0] &= 0x1F;
      }
      b.insert(b.end(), more.begin(), more.end());
      seal(b);
      return put(std::move(b));
    }
    case FuzzKind::BitFlip: {
      FuzzTarget to = untouched_or(t);
      Bytes b = build(rng_.chance(0.2) ? answer(to) : good(to));
      // Beyond three flipped bits a CRC-32 may let a frame pass by accident, but one in four billion.
      for (uint64_t n = rng_.between(1, rng_.chance(0.8) ? 3 : 12); n > 0; --n) {
        const uint64_t bit = rng_.below(b.size() * 8);
        b[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
      }
      return put(std::move(b));
    }
    case FuzzKind::Field:
      return put(field_mutation(rng_.chance(0.2) ? answer(t) : rng_.chance(0.2) ? response(t) : good(copy)));
    case FuzzKind::Length:
      return put(build(broken_length(t)));
    case FuzzKind::Truncated:
      return put(truncated(rng_.chance(0.2) ? answer(t) : good(copy)));
    case FuzzKind::Opcode: {
      Frame f = good(copy);
      f.opcode = static_cast<uint8_t>(rng_.next());
      return put(build(f));
    }
    case FuzzKind::Order: {
      Frame f = good(copy);
      f.opcode = kOpcodes[rng_.below(std::size(kOpcodes))];
      const uint32_t mtu = mtu_bytes(t.qp.pmtu);
      const bool full = f.opcode == op::SendFirst || f.opcode == op::SendMiddle || f.opcode == op::WriteFirst ||
                        f.opcode == op::WriteMiddle || f.opcode == op::ReadRespFirst || f.opcode == op::ReadRespMiddle;
      f.payload.clear();
      if (opcode_layout(f.opcode).payload) f.payload = random_bytes(full ? mtu : rng_.between(1, mtu));
      if (f.opcode == op::WriteOnly || f.opcode == op::WriteOnlyImm)
        f.dma_len = static_cast<uint32_t>(f.payload.size());
      if (f.rkey == 0) {
        const MrConfig& r = region(kAccWrite);
        f.rkey = r.key();
        f.va = r.base;
      }
      return put(build(f));
    }
    case FuzzKind::Access:
      return put(build(broken_access(t)));
    case FuzzKind::Response:
      return put(build(response(t)));
    case FuzzKind::Answer:
      return put(build(answer(t)));
    case FuzzKind::Psn: {
      Frame f = good(copy);
      const uint64_t which = rng_.below(4);
      f.psn = which == 0   ? static_cast<uint32_t>(rng_.next() & 0xFFFFFF)
              : which == 1 ? psn_add(t.epsn, 0x800000 + static_cast<uint32_t>(rng_.below(3)) - 1)
              : which == 2 ? psn_add(t.epsn, static_cast<uint32_t>(rng_.between(1, 20)))
                           : psn_sub(t.epsn, static_cast<uint32_t>(rng_.between(1, 20)));
      return put(build(f));
    }
    case FuzzKind::Duplicate: {
      // A stretch of what was sent before, in its order.
      const size_t from = rng_.below(to_station_.size());
      const uint64_t n = rng_.between(1, 4);
      for (uint64_t i = 0; i < n; ++i) put(to_station_[(from + i) % to_station_.size()]);
      return;
    }
    case FuzzKind::Reflected: {
      Bytes b = from_station_[rng_.below(from_station_.size())];
      const Parsed p = parse(b);
      if (!p.ok() || rng_.chance(0.3)) return put(std::move(b));
      Frame f = p.frame;
      std::swap(f.src_mac, f.dst_mac);
      std::swap(f.src_ip, f.dst_ip);
      f.dqpn = t.qp.qpn;
      f.pkey = static_cast<uint16_t>(t.qp.pkey | 0x8000);
      if (rng_.chance(0.5)) f.psn = opcode_layout(f.opcode).request ? t.epsn : near(t.una, t.high);
      return put(build(f));
    }
    case FuzzKind::ReadFlood: {
      t.message = FuzzTarget::Message::None;
      const uint64_t n = rng_.between(2, uint64_t{2} * t.qp.max_dest_rd + 3);
      static constexpr uint8_t kReads[] = {op::ReadRequest, op::ReadRequest, op::CmpSwap, op::FetchAdd};
      for (uint64_t i = 0; i < n; ++i) {
        put(build(start_message(t, kReads[rng_.below(std::size(kReads))])));
        if (rng_.chance(0.3)) put(out.back().bytes);  // and once more
      }
      return;
    }
    case FuzzKind::SendFlood: {
      static constexpr uint8_t kSends[] = {op::SendOnly, op::SendOnly, op::SendOnlyImm, op::WriteOnlyImm,
                                           op::SendFirst};
      for (uint64_t n = rng_.between(3, 8); n > 0; --n) {
        put(build(t.message == FuzzTarget::Message::None ? start_message(t, kSends[rng_.below(std::size(kSends))])
                                                         : good(t)));
      }
      return;
    }
    case FuzzKind::MacError: {
      FuzzTarget to = untouched_or(t);
      return put(build(rng_.chance(0.2) ? answer(to) : good(to)), true);
    }
    case FuzzKind::Stranger:
      return put(build(stranger(t)));
  }
}

}  // namespace rocegen::sim
