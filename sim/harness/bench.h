// Two stations and the cable between them, or one station whose peer is the test itself. One clock in picoseconds,
// everything deterministic; frames are logged, checked against what the standard asks of every frame, and written to a
// capture.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "sim/harness/station.h"
#include "sim/model/link.h"
#include "sim/model/pcap.h"

namespace rocegen::sim {

struct SentFrame {
  Ps time = 0;
  Bytes frame;
};

class Bench {
 public:
  /// `b` may be null: then frames of `a` go nowhere but into the log.
  Bench(std::unique_ptr<Station> a, std::unique_ptr<Station> b, const LinkConfig& a_to_b = {},
        const LinkConfig& b_to_a = {});

  Ps now() const { return now_; }
  size_t size() const { return stations_[1] ? 2 : 1; }
  Station& station(size_t i) { return *stations_[i]; }
  const Station& station(size_t i) const { return *stations_[i]; }
  /// The cable that leaves station `from`.
  Link& link(size_t from) { return links_[from]; }
  /// Frames that a station sent, oldest first, before the cable did anything to them; empty with keep_log(false).
  const std::vector<SentFrame>& sent(size_t i) const { return sent_[i]; }
  /// Keep no frames in the log (long runs); they are counted, checked and captured all the same.
  void keep_log(bool on) { keep_log_ = on; }
  uint64_t sent_count(size_t i) const { return count_[i]; }

  /// Writes everything on the wire, as sent and as injected, to a capture.
  void capture(PcapWriter* writer) { pcap_ = writer; }

  /// A frame arrives at station `to` now, from the test.
  void inject(size_t to, ByteView frame, bool bad = false);
  /// Goes on to the next thing that happens; false if nothing ever will.
  bool step();
  /// Steps until `done()` or the time is up; true if done.
  bool run_until(const std::function<bool()>& done, Ps limit);
  /// Lets `ns` pass.
  void run_for(uint64_t ns);
  /// Steps until both stations have taken every set-up call; false if that takes more than `limit_ns`.
  bool settle_config(uint64_t limit_ns = 50'000'000);

  /// Faults of frames that stations sent: wrong ICRC, lengths, addresses, reserved bits.
  const std::vector<std::string>& wire_faults() const { return wire_faults_; }
  /// Everything that broke a rule: wire_faults and the stations' own; guards are compared when `guards`.
  std::vector<std::string> violations(bool guards) const;

 private:
  void sent_by(size_t i, Ps now, Bytes&& frame);
  void check_wire(size_t i, Ps now, ByteView frame);

  std::array<std::unique_ptr<Station>, 2> stations_;
  std::array<Link, 2> links_;
  std::array<std::vector<SentFrame>, 2> sent_;
  std::array<uint64_t, 2> count_{};
  std::vector<std::string> wire_faults_;
  PcapWriter* pcap_ = nullptr;
  Ps now_ = 0;
  bool keep_log_ = true;
};

}  // namespace rocegen::sim
