// Frames that a station must survive: random ones, mutated ones, and plausible ones that break a rule of the transport.
#pragma once

#include <string_view>
#include <vector>

#include "sim/model/frame.h"
#include "sim/model/rng.h"
#include "sim/model/types.h"

namespace rocegen::sim {

/// What is wrong with a frame, or what it is meant to provoke.
enum class FuzzKind : uint8_t {
  Good,       ///< a packet that the QP expects
  Noise,      ///< random bytes
  Headers,    ///< good Ethernet, IPv4 and UDP headers, ICRC right, random behind them
  BitFlip,    ///< bits flipped, ICRC as before
  Field,      ///< fields rewritten, checksums and ICRC right
  Length,     ///< payload, pad or DMA length that the opcode or the path MTU does not allow; ICRC right
  Truncated,  ///< cut, or bytes behind it
  Opcode,     ///< random opcode with the right PSN
  Order,      ///< an opcode out of sequence with the right PSN
  Access,     ///< wrong R_Key, address or length
  Response,   ///< READ response or atomic acknowledge
  Answer,     ///< ACK, NAK or RNR NAK
  Psn,        ///< a good packet with another PSN
  Duplicate,  ///< a frame that has been sent before
  Reflected,  ///< a frame of the station itself, addresses turned round
  ReadFlood,  ///< READs and atomics, one after the other
  SendFlood,  ///< SENDs, more than there are receive entries
  MacError,   ///< a good packet that the MAC marks as bad
  Stranger,   ///< good but for its source address or P_Key, or for a QP that does not exist
};
inline constexpr size_t kFuzzKinds = static_cast<size_t>(FuzzKind::Stranger) + 1;
/// "good", "noise", ...
std::string_view fuzz_kind_name(FuzzKind k);

struct FuzzFrame {
  FuzzKind kind = FuzzKind::Noise;
  bool bad = false;  ///< the MAC marks it
  Bytes bytes;
};

/// A QP of the station as an attacker sees it who knows its set-up and watches the wire.
struct FuzzTarget {
  QpConfig qp;
  // its responder
  uint32_t epsn = 0;
  enum class Message : uint8_t { None, Send, Write } message = Message::None;
  uint32_t left = 0;  ///< bytes that are missing from the message
  // its requester
  uint32_t una = 0;     ///< what it may still wait for
  uint32_t high = 0;    ///< one beyond the highest PSN it sent
  uint8_t read_op = 0;  ///< opcode of its last READ or atomic, 0: none yet
  uint32_t read_psn = 0;
  uint32_t read_length = 0;

  void start(const QpConfig& q);
  /// The station sent a frame of this QP, or its peer sent one to it.
  void watch_station(const Frame& f);
  void watch_peer(const Frame& f);
};

class FuzzFrames {
 public:
  FuzzFrames(const LocalAddress& station, const LocalAddress& peer, uint64_t seed)
      : station_(station), peer_(peer), rng_(seed) {}

  /// Regions for the QPs under attack, and regions of others.
  void set_regions(std::vector<MrConfig> usable, std::vector<MrConfig> forbidden) {
    usable_ = std::move(usable);
    forbidden_ = std::move(forbidden);
  }
  /// QPs that only frames may reach which must be turned down at once: Stranger, BitFlip and MacError aim at them, too.
  /// They must outlive this.
  void set_untouched(std::vector<const FuzzTarget*> untouched, uint32_t qp_count) {
    untouched_ = std::move(untouched);
    qp_count_ = qp_count;
  }
  /// A frame on the wire that Duplicate and Reflected may use again.
  void remember(ByteView frame, bool from_station);

  /// Next frames (one, or a few that belong together) for a QP.
  void make(FuzzTarget& t, std::vector<FuzzFrame>& out);

 private:
  Frame base(const QpConfig& q);
  Frame good(FuzzTarget& t);
  Frame start_message(FuzzTarget& t, uint8_t opcode);
  Frame broken_length(FuzzTarget& t);
  Frame broken_access(FuzzTarget& t);
  Frame response(const FuzzTarget& t);
  Frame answer(const FuzzTarget& t);
  Frame stranger(const FuzzTarget& t);
  FuzzTarget untouched_or(const FuzzTarget& t);
  Bytes field_mutation(const Frame& f);
  Bytes truncated(const Frame& f);
  Bytes random_bytes(size_t n);
  uint32_t near(uint32_t low, uint32_t high);
  const MrConfig& region(uint8_t right);
  uint32_t length(uint32_t mtu);

  LocalAddress station_, peer_;
  Rng rng_;
  std::vector<MrConfig> usable_, forbidden_;
  std::vector<const FuzzTarget*> untouched_;
  uint32_t qp_count_ = 1;
  std::vector<Bytes> to_station_, from_station_;  // rings
  size_t to_next_ = 0, from_next_ = 0;
};

/// Makes IPv4 length and checksum, UDP length and ICRC fit a frame that ends where the ICRC is to stand; it must hold
/// its Ethernet, IPv4 and UDP headers.
void seal(Bytes& frame);

}  // namespace rocegen::sim
