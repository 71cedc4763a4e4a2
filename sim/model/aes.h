// Encrypted payload on the wire, by OpenSSL: what a peer of a NIC with the service `aes` does between its endpoint and the
// cable. Written from docs/services-aes.md and from nothing else.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>

#include "sim/model/frame.h"
#include "sim/model/types.h"

namespace rocegen::sim {

/// A key of one direction of a queue pair.
struct AesKey {
  Bytes key;                   ///< 16 or 32 bytes
  Bytes salt;                  ///< 4 bytes
  uint32_t from_request = 0;   ///< first PSN of requests that it is for
  uint32_t from_response = 0;  ///< first PSN of READ responses that it is for
};

class AesWire {
 public:
  explicit AesWire(bool gcm) : gcm_(gcm) {}

  /// A set-up: no keys, extended PSNs from epoch 0. `encrypted`: the service works on this queue pair.
  void setup_qp(const QpConfig& qp, bool encrypted);
  /// The newer key of a direction.
  void set_key(uint32_t qpn, bool received, const AesKey& key);
  /// A frame of the endpoint as it goes onto the wire; empty: without a key nothing is sent.
  Bytes seal(Bytes frame);
  /// A frame off the wire as the endpoint may see it; empty: dropped.
  Bytes open(Bytes frame);
  /// Frames that open() dropped: without a key, with a wrong tag.
  uint64_t no_key() const { return no_key_; }
  uint64_t wrong_tag() const { return wrong_tag_; }

 private:
  /// A key with its first PSNs extended.
  struct Slot {
    AesKey key;
    std::array<uint64_t, 2> from{};  // requests, responses
  };
  struct Qp {
    bool on = false;
    uint32_t dqpn = 0;
    std::array<uint64_t, 2> last{};         // extended PSN sent last: own requests, the peer's
    std::array<std::deque<Slot>, 2> slots;  // sent, received; the newer one last
  };
  static uint64_t extend(uint64_t last, uint32_t psn);
  const Slot* in_force(const Qp& qp, bool received, bool response, uint64_t ext) const;
  Bytes apply(const Slot& slot, uint32_t destination, const Frame& f, bool response, uint64_t ext, bool opening,
              bool& good) const;

  bool gcm_;
  std::map<uint32_t, Qp> qps_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> local_;  // peer's address and QPN -> own QPN
  uint64_t no_key_ = 0, wrong_tag_ = 0;
};

}  // namespace rocegen::sim
