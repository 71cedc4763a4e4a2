#include "sim/model/link.h"

#include <algorithm>

namespace rocegen::sim {

bool FieldMatch::operator()(const Parsed& p) const { return (*this)(field->get(p)); }

bool FieldMatch::operator()(uint64_t v) const {
  switch (kind) {
    case Kind::Equal:
      return v == values[0];
    case Kind::NotEqual:
      return v != values[0];
    case Kind::Range:
      return v >= values[0] && v <= values[1];
    case Kind::OneOf:
      return std::find(values.begin(), values.end(), v) != values.end();
  }
  return false;
}

bool matches(const std::vector<FieldMatch>& conditions, const Parsed& p) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const FieldMatch& m) { return m(p); });
}

bool rewrite(Bytes& frame, const std::vector<std::pair<const FieldInfo*, uint64_t>>& set) {
  Parsed p = parse(frame);
  if (!p.has_headers) return false;
  BuildOptions opt;
  opt.eth_pad = p.trailing;
  for (const auto& [field, value] : set) {
    if (field->set != nullptr) field->set(p.frame, opt, value);
  }
  frame = build(p.frame, opt);
  return true;
}

size_t Link::add_rule(LinkRule rule) {
  rules_.push_back(std::move(rule));
  return rules_.size() - 1;
}

void Link::launch(Ps at, ByteView frame, bool bad) {
  flying_.push_back({at, number_++, bad, Bytes(frame.begin(), frame.end())});
  std::push_heap(flying_.begin(), flying_.end());
}

void Link::send(Ps now, ByteView frame) {
  ++sent_;
  Ps out = now;
  if (config_.gbps > 0) {
    // One bit takes 1000 / gbps picoseconds.
    const double bits = static_cast<double>((frame.size() + 24) * 8);
    line_free_ = std::max(line_free_, now) + static_cast<Ps>(bits * 1000.0 / config_.gbps);
    out = line_free_;
  }
  Ps at = out + config_.delay_ns * kNs;
  bool bad = false;
  Bytes changed;
  ByteView data = frame;
  const auto editable = [&]() -> Bytes& {
    if (changed.empty()) changed.assign(frame.begin(), frame.end());
    return changed;
  };
  uint64_t copies = 0;
  Ps copy_delay = 0;
  if (!rules_.empty()) {
    const Parsed p = parse(frame);
    const LinkRule* hit = nullptr;
    for (LinkRule& r : rules_) {
      if (!matches(r.match, p)) continue;
      ++r.seen;
      if (hit != nullptr || r.seen < r.nth || (r.count != 0 && r.seen >= r.nth + r.count)) continue;
      ++r.hits;
      hit = &r;
    }
    if (hit != nullptr) {
      switch (hit->action) {
        case LinkRule::Action::Lose:
          ++lost_;
          return;
        case LinkRule::Action::Duplicate:
          copies = hit->copies;
          copy_delay = hit->delay_ns * kNs;
          duplicated_ += copies;
          break;
        case LinkRule::Action::Delay:
          at += hit->delay_ns * kNs;
          break;
        case LinkRule::Action::Corrupt: {
          const uint64_t bits = frame.size() * 8;
          const uint64_t bit = hit->flip_bit ? *hit->flip_bit : rng_.between(kEthBytes * 8, bits - 1);
          if (bit < bits) editable()[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
          ++corrupted_;
          break;
        }
        case LinkRule::Action::MarkBad:
          bad = true;
          break;
        case LinkRule::Action::Change:
          rewrite(editable(), hit->set);
          break;
      }
      data = changed.empty() ? frame : ByteView(changed);
    }
  }
  if (rng_.chance(config_.loss)) {
    ++lost_;
    return;
  }
  if (rng_.chance(config_.corrupt)) {
    Bytes& b = editable();
    const uint64_t flips = rng_.between(1, 3);
    for (uint64_t i = 0; i < flips; ++i) {
      const uint64_t bit = rng_.below(b.size() * 8);
      b[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    }
    bad = bad || rng_.chance(0.5);
    data = b;
    ++corrupted_;
  }
  if (rng_.chance(config_.reorder)) {
    at += rng_.between(1, std::max<uint64_t>(1, config_.reorder_ns)) * kNs;
    ++reordered_;
  }
  if (rng_.chance(config_.duplicate)) {
    ++copies;
    ++duplicated_;
    copy_delay = rng_.below(config_.reorder_ns + 1) * kNs;
  }
  launch(at, data, bad);
  for (uint64_t i = 0; i < copies; ++i) launch(at + copy_delay, data, bad);
}

bool Link::receive(Ps now, Bytes& frame, bool& bad) {
  if (flying_.empty() || flying_.front().at > now) return false;
  std::pop_heap(flying_.begin(), flying_.end());
  frame = std::move(flying_.back().frame);
  bad = flying_.back().bad;
  flying_.pop_back();
  return true;
}

}  // namespace rocegen::sim
