// One direction of a cable: rate, delay, random loss, duplication, reordering and corruption from a seed, and rules for
// particular frames ("lose the second WRITE_MIDDLE of that QP").
#pragma once

#include <functional>
#include <queue>
#include <string>

#include "sim/model/frame.h"
#include "sim/model/rng.h"

namespace rocegen::sim {

struct LinkConfig {
  double gbps = 0;          ///< line rate; 0 = frames take no time. A frame takes 24 bytes more (preamble, FCS, gap)
  uint64_t delay_ns = 500;  ///< propagation
  double loss = 0;          ///< probability a frame
  double duplicate = 0;
  double reorder = 0;  ///< probability that a frame is held back by 1..reorder_ns
  uint64_t reorder_ns = 2000;
  double corrupt = 0;  ///< probability of 1 to 3 flipped bits; half of them as the MAC sees it: marked bad
  uint64_t seed = 1;
};

/// Condition on one field of a frame.
struct FieldMatch {
  const FieldInfo* field = nullptr;
  enum class Kind : uint8_t { Equal, NotEqual, Range, OneOf } kind = Kind::Equal;
  std::vector<uint64_t> values;  ///< Equal, NotEqual: one; Range: min, max; OneOf: any number
  bool operator()(uint64_t value) const;
  bool operator()(const Parsed& p) const;  ///< needs a field
};

/// Whether a parsed frame meets all conditions.
bool matches(const std::vector<FieldMatch>& conditions, const Parsed& p);

/// What to do with the n-th frame that meets the conditions.
struct LinkRule {
  enum class Action : uint8_t { Lose, Duplicate, Delay, Corrupt, MarkBad, Change } action = Action::Lose;
  std::vector<FieldMatch> match;
  uint64_t nth = 1;                  ///< first matching frame that is hit, from 1
  uint64_t count = 1;                ///< number of matching frames hit from there; 0 = all
  uint64_t copies = 1;               ///< Duplicate: further copies
  uint64_t delay_ns = 0;             ///< Delay: additional; Duplicate: of the copies
  std::optional<uint64_t> flip_bit;  ///< Corrupt: bit of the frame; random beyond the Ethernet header without it
  std::vector<std::pair<const FieldInfo*, uint64_t>> set;  ///< Change: fields to rewrite; checksums and ICRC follow
  uint64_t seen = 0;                                       ///< matching frames so far
  uint64_t hits = 0;                                       ///< frames hit so far
};

class Link {
 public:
  explicit Link(const LinkConfig& config = {}) : config_(config), rng_(config.seed) {}

  /// Puts a frame on the cable at `now`; times of successive calls never decrease.
  void send(Ps now, ByteView frame);
  /// When the next frame arrives; kNever if none is under way.
  Ps next_arrival() const { return flying_.empty() ? kNever : flying_.front().at; }
  /// Takes the frame that arrives at or before `now`.
  bool receive(Ps now, Bytes& frame, bool& bad);

  /// Adds a rule; its index tells rule(). Rules see frames in the order of sending; the first that hits decides.
  size_t add_rule(LinkRule rule);
  const LinkRule& rule(size_t index) const { return rules_[index]; }
  void clear_rules() { rules_.clear(); }
  void set_config(const LinkConfig& config) {
    config_ = config;
    rng_ = Rng(config.seed);
  }
  const LinkConfig& config() const { return config_; }

  uint64_t sent() const { return sent_; }
  uint64_t lost() const { return lost_; }
  uint64_t duplicated() const { return duplicated_; }
  uint64_t reordered() const { return reordered_; }
  uint64_t corrupted() const { return corrupted_; }

 private:
  struct Flight {
    Ps at;
    uint64_t number;
    bool bad;
    Bytes frame;
    bool operator<(const Flight& o) const { return at != o.at ? at > o.at : number > o.number; }
  };
  void launch(Ps at, ByteView frame, bool bad);

  LinkConfig config_;
  Rng rng_;
  std::vector<LinkRule> rules_;
  std::vector<Flight> flying_;  // heap, earliest first
  Ps line_free_ = 0;
  uint64_t number_ = 0;
  uint64_t sent_ = 0, lost_ = 0, duplicated_ = 0, reordered_ = 0, corrupted_ = 0;
};

/// Rewrites fields of a frame and makes checksums and ICRC right again; false if the frame is no RoCE v2 frame.
bool rewrite(Bytes& frame, const std::vector<std::pair<const FieldInfo*, uint64_t>>& set);

}  // namespace rocegen::sim
