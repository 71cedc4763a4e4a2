// Steps that look: frames, completions, events, memory, counters.
#include <fmt/format.h>

#include <algorithm>

#include "sim/model/preprocess.h"
#include "sim/scenario/runner.h"

namespace rocegen::sim {

std::string Runner::wanted(const FieldMatch& m) {
  const auto show = [&](uint64_t v) {
    if (m.field->name == "opcode") return opcode_name(static_cast<uint8_t>(v));
    if (m.field->name == "ip.src" || m.field->name == "ip.dst") return ip_text(static_cast<uint32_t>(v));
    if (m.field->name == "eth.src" || m.field->name == "eth.dst") return mac_text(v);
    return fmt::format("{:#x}", v);
  };
  switch (m.kind) {
    case FieldMatch::Kind::Equal:
      return show(m.values[0]);
    case FieldMatch::Kind::NotEqual:
      return "not " + show(m.values[0]);
    case FieldMatch::Kind::Range:
      return show(m.values[0]) + ".." + show(m.values[1]);
    case FieldMatch::Kind::OneOf: {
      std::string s;
      for (const uint64_t v : m.values) s += (s.empty() ? "one of " : ", ") + show(v);
      return s;
    }
  }
  return "?";
}

/// The first field of `spec` that a frame does not meet.
std::optional<Runner::Mismatch> Runner::mismatch(const Json& spec, ByteView bytes) {
  const Parsed p = parse(bytes);
  for (const Condition& c : conditions(spec)) {
    if (c.match(p)) continue;
    FieldMatch actual;
    actual.field = c.match.field;
    actual.values = {c.match.field->get(p)};
    return Mismatch{c.key, fmt::format("expected {}, is {}", wanted(c.match), wanted(actual))};
  }
  if (spec.contains("payload")) {
    const In in(*this, "payload");
    const Bytes want = data(spec["payload"]);
    const Bytes& is = p.frame.payload;
    const size_t n = std::min(want.size(), is.size());
    const auto at = static_cast<size_t>(
        std::mismatch(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(n), is.begin()).first - want.begin());
    if (at != n) return Mismatch{"payload", fmt::format("byte {}: expected {:#04x}, is {:#04x}", at, want[at], is[at])};
    if (want.size() != is.size())
      return Mismatch{"payload", fmt::format("expected {} bytes, are {}", want.size(), is.size())};
  }
  return std::nullopt;
}

std::string Runner::brief(const Json& spec) {
  std::string s = spec.dump();
  if (s.size() > 160) s = s.substr(0, 157) + "...";
  return s;
}

bool Runner::wait_for_frame(size_t i, Ps until) {
  return bench_->run_until([&] { return bench_->sent(i).size() > frame_at_[i]; }, until);
}

void Runner::expect(const Json& j) {
  const size_t i = station(j, "from");
  const std::string others = text(j, "others", "fail");
  const std::string order = text(j, "order", "exact");
  if (others != "fail" && others != "ignore") fail("\"others\" must be \"fail\" or \"ignore\"");
  if (order != "exact" && order != "any") fail("\"order\" must be \"exact\" or \"any\"");
  const Ps until = limit(j);
  const In in(*this, "frames");
  // One entry for every frame expected.
  std::vector<size_t> want;
  for (size_t k = 0; k < j["frames"].size(); ++k) {
    const In at(*this, k);
    want.insert(want.end(), value(j["frames"][k], "count", 1), k);
  }
  const auto optional = [&](size_t k) { return value(j["frames"][k], "optional", 0) != 0; };
  size_t next = 0;
  while (next < want.size()) {
    const bool only_optional = std::all_of(want.begin() + static_cast<std::ptrdiff_t>(next), want.end(), optional);
    // Optional frames are taken if they come soon, but not waited for without need.
    if (!wait_for_frame(i, only_optional ? std::min(until, bench_->now() + 2000 * kNs) : until)) {
      if (only_optional) return;
      const size_t k = *std::find_if(want.begin() + static_cast<std::ptrdiff_t>(next), want.end(),
                                     [&](size_t w) { return !optional(w); });
      const In at(*this, k);
      fail(fmt::format("station {} did not send {} within {} ns", "ab"[i], brief(j["frames"][k]),
                       value(j, "within_ns", kDefaultWithinNs)));
    }
    const Bytes& got = bench_->sent(i)[frame_at_[i]].frame;
    if (order == "any") {
      size_t hit = next;
      while (hit < want.size() && match_at(j["frames"], want[hit], got)) ++hit;
      if (hit < want.size()) {
        std::swap(want[hit], want[next]);
        ++next;
        ++frame_at_[i];
        continue;
      }
      if (others == "fail")
        fail(fmt::format("station {} sent a frame that none of the expected ones fits: {}", "ab"[i], describe(got)));
      ++frame_at_[i];
      continue;
    }
    const auto m = match_at(j["frames"], want[next], got);
    if (!m) {
      ++next;
      ++frame_at_[i];
    } else if (optional(want[next])) {
      ++next;
    } else if (others == "ignore") {
      ++frame_at_[i];
    } else {
      const In at(*this, want[next]);
      const In field(*this, m->key);
      fail(fmt::format("{}\n    frame {} of station {}: {}", m->text, frame_at_[i] + 1, "ab"[i], describe(got)));
    }
  }
}

std::optional<Runner::Mismatch> Runner::match_at(const Json& frames, size_t k, ByteView got) {
  const In at(*this, k);
  return mismatch(frames[k], got);
}

/// Lets the device take the frames that arrived, and a microsecond pass.
void Runner::drain(size_t i) {
  if (!bench_->station(i).receiving()) return;
  bench_->run_until([&] { return !bench_->station(i).receiving(); }, bench_->now() + 10'000'000 * kNs);
  bench_->run_for(1000);
}

void Runner::quiet(const Json& j) {
  const size_t i = station(j, "from");
  const uint64_t ns = need(j, "for_ns");
  drain(i);
  if (wait_for_frame(i, bench_->now() + ns * kNs)) {
    fail(fmt::format("expected no frame for {} ns, station {} sent at {} ns: {}", ns, "ab"[i],
                     bench_ -> sent(i)[frame_at_[i]].time / kNs, describe(bench_->sent(i)[frame_at_[i]].frame)));
  }
}

void Runner::complete(const Json& j) {
  const size_t i = station(j, "on");
  size_t open = 0;
  for (const auto& e : posted_[i]) {
    open += static_cast<size_t>(
        std::count_if(e.second.begin(), e.second.end(), [](const Posted& p) { return p.signaled; }));
  }
  completions(j, i, cqes_[i], cqe_at_[i], open, &Runner::cqe_mismatch);
}

void Runner::received(const Json& j) {
  const size_t i = station(j, "on");
  size_t open = 0;
  for (const auto& e : receives_[i]) open += e.second.size();
  completions(j, i, received_[i], received_at_[i], open, &Runner::receive_mismatch);
}

std::string Runner::shown(const Cqe& c) {
  std::string s =
      fmt::format("id {} on QP {}, {}, opcode {}, {} bytes", c.wr_id, c.qpn, status_name(c.status), c.opcode, c.bytes);
  if (c.syndrome != 0) s += fmt::format(", syndrome {:#04x}", c.syndrome);
  if ((c.flags & kCqeWithImm) != 0) s += fmt::format(", imm {:#x}", c.imm);
  if ((c.flags & kCqeWithInv) != 0) s += fmt::format(", invalidated {:#x}", c.imm);
  if ((c.flags & kCqeSolicited) != 0) s += ", solicited";
  if (c.flags >> 8 != 0) s += fmt::format(", tag {:#04x}", c.flags >> 8);
  return s;
}

/// The next completions of one kind: `list` from `next` on; `open`: outstanding and not yet in the list.
void Runner::completions(const Json& j, size_t i, const std::vector<Cqe>& list, size_t& next, size_t open,
                         CqeMismatch differs) {
  const Ps until = limit(j);
  const auto wait = [&](size_t n) {
    return bench_->run_until(
        [&] {
          collect();
          return list.size() - next >= n || !fault_.empty();
        },
        until);
  };
  const auto late = [&](size_t n) {
    check_fault();
    fail(fmt::format("station {}: {} of {} completions within {} ns", "ab"[i], list.size() - next, n,
                     value(j, "within_ns", kDefaultWithinNs)));
  };
  if (j.contains("none")) {
    collect();
    check_fault();
    if (next == list.size()) return;
    fail("expected no completion, one came: " + shown(list[next]));
  }
  if (!j.contains("entries")) {
    const uint64_t n = j.contains("count") ? need(j, "count") : list.size() - next + open;
    const auto status = static_cast<WcStatus>(value(j, "status", 0));
    if (!wait(n)) late(n);
    check_fault();
    for (uint64_t k = 0; k < n; ++k, ++next) {
      const Cqe& c = list[next];
      if (c.status == status) continue;
      fail(fmt::format("expected {}, the completion is {}", status_name(status), shown(c)));
    }
    return;
  }
  const In in(*this, "entries");
  const Json& entries = j["entries"];
  const bool any = text(j, "order", "exact") == "any";
  if (!wait(entries.size())) late(entries.size());
  check_fault();
  std::vector<size_t> left(entries.size());
  for (size_t k = 0; k < left.size(); ++k) left[k] = k;
  while (!left.empty()) {
    const Cqe& c = list[next];
    size_t pick = 0;
    std::string why;
    for (pick = 0; pick < left.size(); ++pick) {
      const In at(*this, left[pick]);
      why = (this->*differs)(entries[left[pick]], c, i);
      if (why.empty() || !any) break;
    }
    if (!why.empty() || pick == left.size()) {
      const In at(*this, left[any ? 0 : pick]);
      fail(fmt::format("{}\n    completion: {}", any ? "no entry fits" : why, shown(c)));
    }
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
    ++next;
  }
}

/// What both kinds of completions have.
std::string Runner::common_mismatch(const Json& e, const Cqe& c, size_t i) {
  if (e.contains("id") && need(e, "id") != c.wr_id) return fmt::format("expected id {}", need(e, "id"));
  if (e.contains("qp") && connection(e["qp"]).side[i].qpn != c.qpn)
    return fmt::format("expected QP {}", connection(e["qp"]).side[i].qpn);
  const auto status = static_cast<WcStatus>(value(e, "status", 0));
  if (status != c.status) return fmt::format("expected {}", status_name(status));
  if (e.contains("op") && need(e, "op") != c.opcode) return fmt::format("expected opcode {}", need(e, "op"));
  if (e.contains("bytes") && need(e, "bytes") != c.bytes) return fmt::format("expected {} bytes", need(e, "bytes"));
  return "";
}

std::string Runner::cqe_mismatch(const Json& e, const Cqe& c, size_t i) {
  if (auto why = common_mismatch(e, c, i); !why.empty()) return why;
  if (e.contains("syndrome") && need(e, "syndrome") != c.syndrome)
    return fmt::format("expected syndrome {:#04x}", need(e, "syndrome"));
  return "";
}

/// Of a good completion all is compared: what an entry does not mention must not be there.
std::string Runner::receive_mismatch(const Json& e, const Cqe& c, size_t i) {
  if (auto why = common_mismatch(e, c, i); !why.empty()) return why;
  if (c.status != WcStatus::Success) return "";
  const auto flag = [&](const char* key, uint16_t bit, bool want) -> std::string {
    if (((c.flags & bit) != 0) == want) return "";
    return fmt::format("expected {}\"{}\"", want ? "" : "no ", key);
  };
  if (auto why = flag("imm", kCqeWithImm, e.contains("imm")); !why.empty()) return why;
  if (auto why = flag("inv", kCqeWithInv, e.contains("inv")); !why.empty()) return why;
  if (auto why = flag("solicited", kCqeSolicited, value(e, "solicited", 0) != 0); !why.empty()) return why;
  if (value(e, "tag", 0) != c.flags >> 8) return fmt::format("expected tag {:#04x}", value(e, "tag", 0));
  for (const char* const key : {"imm", "inv"}) {
    if (e.contains(key) && need(e, key) != c.imm) return fmt::format("expected {} {:#x}", key, need(e, key));
  }
  return "";
}

void Runner::events(const Json& j) {
  const size_t i = station(j, "on");
  const Json& list = j["list"];
  const bool got = bench_->run_until(
      [&] {
        collect();
        return events_[i].size() - event_at_[i] >= list.size();
      },
      limit(j));
  if (!got) fail(fmt::format("station {}: {} of {} events", "ab"[i], events_[i].size() - event_at_[i], list.size()));
  const In in(*this, "list");
  for (size_t k = 0; k < list.size(); ++k) {
    const In at(*this, k);
    const QpEvent& e = events_[i][event_at_[i]++];
    const FieldMatch cause = condition(nullptr, list[k]["cause"]);
    const uint32_t qpn = qp(list[k], i).qpn;
    if (!cause(static_cast<uint64_t>(e.cause)) || e.qpn != qpn) {
      const std::string wanted =
          list[k]["cause"].is_object() ? list[k]["cause"].dump() : cause_name(static_cast<EventCause>(cause.values[0]));
      fail(fmt::format("expected {} on QP {}, is {} on QP {}", wanted, qpn, cause_name(e.cause), e.qpn));
    }
  }
}

void Runner::compare(const Json& j) {
  const size_t i = memory_of(j, "at");
  last_region_ = nullptr;
  const uint64_t at = need(j, "at");
  const Region* const region = last_region_;
  uint64_t n = value(j, "length", 0);
  Bytes want;
  const RowModel* rows = nullptr;  // what is there is their output, in which a logarithm may be an ulp off
  Bytes message;
  if (j.contains("rows")) {
    rows = bench_->station(i).info().rows.get();
    if (rows == nullptr) fail("\"rows\" needs a station that preprocesses");
    message = memory(memory_of_expression(j, "rows")).read(need(j, "rows"), n);
    want = rows->run(message);
  } else if (j.contains("equals")) {
    want = memory(memory_of_expression(j, "equals")).read(need(j, "equals"), n);
  } else if (j.contains("unchanged")) {
    if (region == nullptr) fail("\"unchanged\" needs an address within a region");
    const auto s = std::find_if(regions_.begin(), regions_.end(), [&](const auto& e) { return &e.second == region; });
    const Bytes& all = snapshot_[s->first];
    if (!j.contains("length")) n = region->length - (at - region->base);
    if (at - region->base + n > all.size()) fail("\"unchanged\" reaches beyond the filled part of the region");
    want.assign(all.begin() + static_cast<std::ptrdiff_t>(at - region->base),
                all.begin() + static_cast<std::ptrdiff_t>(at - region->base + n));
  } else {
    want = fill_data(j);
  }
  Bytes is;
  // The data may still be on its way through the bus when the completion has come.
  const auto same = [&] {
    is = memory(i).read(at, want.size());
    size_t where = 0;
    return rows != nullptr ? rows->accepts(message, is, &where) : is == want;
  };
  const Ps until = bench_->now() + value(j, "within_ns", 20'000) * kNs;
  Ps next = 0;
  const bool good = bench_->run_until(
      [&] {
        if (bench_->now() < next) return false;
        next = bench_->now() + 100 * kNs;
        return same();
      },
      until);
  if (good || same()) return;
  const auto diff = static_cast<size_t>(std::mismatch(want.begin(), want.end(), is.begin()).first - want.begin());
  size_t bad = 0;
  for (size_t k = 0; k < want.size(); ++k) bad += want[k] != is[k];
  fail(fmt::format("memory of {} at {:#x} (byte {} of {}): expected {:#04x}, is {:#04x}; {} bytes differ", "ab"[i],
                   at + diff, diff, want.size(), want[diff], is[diff], bad));
}

void Runner::counters(const Json& j) {
  const size_t i = station(j, "on");
  Station& s = bench_->station(i);
  drain(i);
  s.request_counters();
  settle();
  if (j.contains("values")) {
    const In in(*this, "values");
    for (const auto& [names, v] : j["values"].items()) {
      const In at(*this, names);
      // "x|y": the sum of those that the station has.
      uint64_t sum = 0;
      bool known = false;
      for (size_t from = 0; from <= names.size();) {
        const size_t bar = std::min(names.find('|', from), names.size());
        const std::string one = names.substr(from, bar - from);
        if (const auto c = s.counter(one)) {
          const auto b = counter_base_[i].find(one);
          sum += *c - (b == counter_base_[i].end() ? 0 : b->second);
          known = true;
        }
        from = bar + 1;
      }
      if (!known) {
        std::string all;
        for (const auto& c : s.counters()) all += " " + c.first;
        fail(fmt::format("station {} has no such counter; it has:{}", "ab"[i], all));
      }
      const uint64_t low = v.is_object() ? value(v, "min", 0) : value(v);
      const uint64_t high = v.is_object() ? value(v, "max", ~uint64_t{0}) : low;
      if (sum < low || sum > high) {
        fail(low == high ? fmt::format("expected {}, is {}", low, sum)
                         : fmt::format("expected at least {}{}, is {}", low,
                                       high == ~uint64_t{0} ? "" : fmt::format(" and at most {}", high), sum));
      }
    }
  }
  if (value(j, "mark", 0) != 0) {
    for (const auto& [n, v] : s.counters()) counter_base_[i][n] = v;
  }
}

}  // namespace rocegen::sim
