// Random soak: two stations, many QPs in both directions, all operations mixed, random lengths, addresses and MTUs over
// a bad cable, receive entries that come late, QPs that are torn down in the middle of their work and set up anew.
#pragma once

#include <functional>

#include "sim/harness/bench.h"

namespace rocegen::sim {

struct SoakOptions {
  uint32_t qps = 16;               ///< connections; each carries messages both ways
  uint64_t messages = 10000;       ///< over all QPs and both directions
  uint32_t max_length = 16384;     ///< bytes
  uint32_t depth = 4;              ///< messages outstanding a QP and direction
  uint8_t timeout = 0;             ///< local ACK timeout code; 0: from `gbps`, four rounds of all QPs' largest frames
  double gbps = 100;               ///< line rate of the stations
  uint64_t check_every = 1000;     ///< drain and compare all memory after so many messages
  double resets = 0.1;             ///< share of the QPs that are set up anew at each comparison
  double abrupt = 0.3;             ///< share of the comparisons behind which they are not even flushed (see below)
  bool writes_only = false;        ///< nothing but WRITE
  uint64_t stall_ns = 60'000'000;  ///< fail if no completion comes for so long
  LinkConfig link;                 ///< both directions, with seeds of their own
  uint64_t seed = 1;
  /// Called now and then with messages done and simulated time.
  std::function<void(uint64_t done, Ps now)> progress;
  PcapWriter* pcap = nullptr;
};

struct SoakResult {
  bool ok = false;
  std::string message;      ///< first difference
  uint64_t messages = 0;    ///< completed
  uint64_t bytes = 0;       ///< payload of those
  uint64_t by_op[10] = {};  ///< messages by work request opcode
  uint64_t receives = 0;    ///< completed
  uint64_t resets = 0;      ///< QPs set up anew
  uint64_t torn = 0;        ///< of those, in the middle of their work
  uint64_t abrupt = 0;      ///< of those, by RESET alone and with another peer at once
  uint64_t frames = 0;
  uint64_t lost = 0, duplicated = 0, reordered = 0, corrupted = 0;
  Ps time = 0;
  uint64_t cycles = 0;
};

/// Every message must complete with success, once and in order of its QP; every byte of every target must be what the
/// messages of its QP wrote in order; nothing else may have been touched. READs bring what is at their source, also
/// what a WRITE in front of them wrote; atomics return the values that the order of their QP makes, and a cell that all
/// QPs of a station add to holds the sum; receives complete in order with the data, length, immediate data or
/// invalidated key of their messages. Of a QP that is torn down, everything outstanding completes, as it did or
/// flushed. One that is torn down abruptly goes to RESET in the middle of its work, and as soon as that is answered it
/// is set up with another QP of the peer: while frames of its former life are still on the cable and in the NICs, and
/// none of them may count for, or be sent to, the new peer.
SoakResult run_soak(const std::function<std::unique_ptr<Station>(size_t)>& factory, const SoakOptions& options);

}  // namespace rocegen::sim
