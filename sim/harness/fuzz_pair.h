// A connection between two stations that carries every operation both ways and knows what each must give: completions
// in order and all with success, every byte of memory. The fuzz runs such connections beside the QPs that it abuses.
#pragma once

#include <deque>
#include <string>

#include "sim/harness/bench.h"

namespace rocegen::sim {

class CheckedPair {
 public:
  static constexpr uint32_t kRegions = 2;  ///< memory regions of each station that a pair takes
  struct Options {
    uint32_t number = 0;                  ///< places in memory and regions follow from it
    std::array<uint32_t, 2> qpn = {};     ///< on each station
    std::array<uint32_t, 2> region = {};  ///< first region index on each station
    uint16_t pd = 0x51;
    uint8_t timeout = 3;
    uint32_t max_mtu = 4096;
    uint32_t depth = 2;  ///< messages outstanding each way
  };

  CheckedPair(Bench& bench, const Options& options, uint64_t seed);

  /// Sets the QPs and regions up anew on both stations, with fresh PSNs and all memory filled.
  void connect();
  /// Posts the receive entries; once the stations have taken the set-up.
  void supply();
  /// Posts one message in a random direction if that has room; true if it did.
  bool post();
  /// Moves both QPs to Err: what was posted for receiving comes back flushed.
  void close();

  bool owns(size_t station, uint32_t qpn) const { return o_.qpn[station] == qpn; }
  /// Takes a completion of the pair; what is wrong with it, or nothing.
  std::string take(size_t station, const Cqe& cqe);
  /// Every message has completed at both ends.
  bool idle() const;
  /// After close(): every receive entry came back.
  bool closed() const { return half_[0].receives.empty() && half_[1].receives.empty(); }
  /// Compares all memory that the pair wrote; the first difference, or nothing.
  std::string compare() const;
  /// What is outstanding.
  std::string waits() const;
  uint64_t messages() const { return messages_; }

  /// Set-up of the QP on a station.
  const QpConfig& config(size_t station) const { return half_[station].qp; }
  /// Region on a station that the other end writes to.
  const MrConfig& window(size_t station) const { return half_[station].window; }
  /// Tells the station's memory what the pair lets the device write.
  void declare(size_t station);

 private:
  struct Sent {
    Wqe wqe;
    Bytes expect;  // of a READ or atomic: what must be at laddr
  };
  struct Due {
    bool write = false;  // WRITE with immediate
    bool with_imm = false;
    uint32_t imm = 0;
    uint32_t length = 0;
    Bytes data;
  };
  /// One station's end.
  struct Half {
    QpConfig qp;
    MrConfig window, source;
    std::deque<Sent> sends;
    std::deque<Rqe> receives;
    std::deque<Due> due;  // what the other end sent
    Bytes source_data;
    Bytes shadow;  // what the window must hold
    uint64_t counter = 0;
    uint64_t posted = 0;
  };
  uint64_t base(size_t station) const;
  void post_receive(size_t station, uint64_t slot);
  std::string name(size_t station) const;

  Bench& bench_;
  Options o_;
  Rng rng_;
  std::array<Half, 2> half_;
  uint64_t ids_ = 0;
  uint64_t messages_ = 0;
  uint32_t turns_ = 0;
  bool closing_ = false;
};

}  // namespace rocegen::sim
