// Encrypted payload on the wire, by OpenSSL: what a peer of a NIC with the service `aes` does between its endpoint and
// the cable. Written from docs/services-aes.md and from nothing else.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/model/frame.h"
#include "sim/model/types.h"

namespace rocegen::sim {

inline constexpr size_t kAesTag = 16;  ///< bytes behind the payload in GCM

/// The service as a specification has it.
struct AesService {
  AesService(const nlohmann::ordered_json& entry, size_t place);
  std::string name;
  uint8_t bit = 0;  ///< of the mask of a QP's services
  bool gcm = false;
  size_t key_bytes = 32;  ///< of the longest key
};

/// A key of one direction of a queue pair.
struct AesKey {
  Bytes key;                   ///< 16 or 32 bytes
  Bytes salt;                  ///< 4 bytes
  uint32_t from_request = 0;   ///< first PSN of requests that it is for
  uint32_t from_response = 0;  ///< first PSN of READ responses that it is for
};

/// The key that the drivers of both ends agree on for a queue pair's direction: it follows from addresses, QPNs and
/// first PSNs, so each end finds it by itself, and differs from that of the other direction. Of `longest` bytes, or 16.
AesKey agreed_key(const LocalAddress& local, const QpConfig& qp, bool received, size_t longest);

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
  /// What was done and dropped, by the names of the NIC's counters.
  struct Counts {
    uint64_t sent = 0, sent_no_key = 0, received = 0, received_no_key = 0, wrong_tag = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  /// A key with its first PSNs extended.
  struct Slot {
    AesKey key;
    std::array<uint64_t, 2> from{};  // requests, responses
  };
  struct Qp {
    bool on = false;
    uint32_t dqpn = 0;
    std::array<uint64_t, 2> highest{};      // extended PSN sent: own requests, the peer's
    std::array<std::deque<Slot>, 2> slots;  // sent, received; the newer one last
  };
  static uint64_t extend(uint64_t highest, uint32_t psn);
  static const Slot* in_force(const Qp& qp, bool received, bool response, uint64_t ext);
  Bytes apply(const Slot& slot, uint32_t destination, const Frame& f, bool response, uint64_t ext, bool opening,
              bool& good) const;

  bool gcm_;
  std::map<uint32_t, Qp> qps_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> local_;  // peer's address and QPN -> own QPN
  Counts counts_;
};

}  // namespace rocegen::sim
