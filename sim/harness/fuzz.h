// Frame fuzz: a station that carries live traffic gets frames that nobody should send - random, mutated, against the
// rules of the transport - and must come to no harm.
#pragma once

#include <functional>

#include "sim/harness/bench.h"

namespace rocegen::sim {

/// Forged frames by their number, from 0 on.
struct FrameRange {
  uint64_t first = 0;
  uint64_t end = 0;  ///< one behind the last
};

struct FuzzOptions {
  uint64_t frames = 100'000;      ///< frames that are forged
  uint32_t qps = 16;              ///< QPs under attack; fewer if the station has not so many
  uint64_t check_every = 2000;    ///< after so many frames: fresh connection, all memory
  uint32_t burst = 48;            ///< frames between two looks after the QPs that died
  double gbps = 100;              ///< line rate of the stations
  uint64_t stall_ns = 5'000'000;  ///< at 100 Gb/s: longer without progress is a hang
  uint64_t seed = 1;
  std::vector<FrameRange> drop;  ///< forged but not sent: the same seed without them
  /// Called now and then with frames sent and simulated time.
  std::function<void(uint64_t frames, Ps now)> progress;
  PcapWriter* pcap = nullptr;
};

struct FuzzResult {
  bool ok = false;
  std::string message;                                  ///< what went wrong, with the seed
  std::vector<std::string> trail;                       ///< last forged frames, oldest first
  std::vector<std::pair<std::string, uint64_t>> kinds;  ///< forged frames by kind
  uint64_t frames = 0;
  uint64_t bytes = 0;
  uint64_t withheld = 0;     ///< forged frames not sent: they could not be told from the untouched connections' own
  uint64_t answered = 0;     ///< frames that the station sent
  uint64_t completions = 0;  ///< of QPs under attack, at both stations
  uint64_t errors = 0;       ///< of those, not with success
  uint64_t events = 0;
  uint64_t recreated = 0;  ///< QPs that died and were set up anew
  uint64_t held = 0;       ///< QPs that a forged RNR NAK kept waiting, and that were set up anew
  uint64_t messages = 0;   ///< of the untouched connections, checked byte for byte
  uint64_t checks = 0;
  Ps time = 0;
  uint64_t cycles = 0;
};

/// Runs the station that the factory makes (number 0) against a reference endpoint. QPs under attack carry traffic of
/// all operations both ways while forged frames arrive for them; two untouched connections do, too. Throughout:
/// - every completion answers an outstanding request or receive entry, once, in the order of its queue; a QP that died
///   said so by an event and completed all that was posted to it; it is set up anew;
/// - the untouched connections lose nothing: all completions with success, all data right;
/// - after every `check_every` frames a connection that is set up afresh carries all operations;
/// - no byte outside of the regions changes, no rule of an interface is broken (Station::violations), every frame that
///   the station sends is well-formed, a region that was taken away is not written;
/// - at the end nothing is outstanding, and every entry of the shared receive ring can still be used.
FuzzResult run_fuzz(const std::function<std::unique_ptr<Station>(size_t)>& factory, const FuzzOptions& options);

/// Of a run that failed after `options.frames` frames: leaves out more and more of them as long as it still fails, one
/// way or another, in at most `runs` runs. Returns what to drop.
std::vector<FrameRange> shrink_fuzz(const std::function<std::unique_ptr<Station>(size_t)>& factory,
                                    const FuzzOptions& options, uint64_t runs);

}  // namespace rocegen::sim
