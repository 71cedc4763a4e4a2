// Bench of rsp_engine against a model of what its queue pairs may and must send.
//
// The model knows no cycle of the engine. It takes note of every input at the moment at which it is taken and judges
// every command: is this packet due, are all its fields right, was nothing overtaken, is nothing forgotten?
#include <map>
#include <optional>
#include <tuple>

#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::uint32_t kQps = P_QpCount;
constexpr std::uint32_t kDepth = P_RdDepth;
constexpr std::uint32_t kMask = 0xFFFFFF;
constexpr std::size_t kCmdWidth = 369, kRdWidth = 269, kAckWidth = 106, kCfgWidth = 343, kMrWidth = 184, kEvtWidth = 62,
                      kResultWidth = 97;
constexpr std::uint64_t kLife = 0x2A;  // of every queue pair: the engine only hands it on
constexpr unsigned kReset = 0, kRts = 3, kErr = 6 - 1;
constexpr unsigned kCommandsInside = 16;  // decided on, on the way to m_cmd

bool older(std::uint32_t a, std::uint32_t b) { return ((a - b) & 0x800000) != 0; }

// ---- records --------------------------------------------------------------------------------------

enum Kind : unsigned { kRead, kAtomic, kReadDup, kAtomicDup };

struct RdReq {
  unsigned kind = kRead;
  std::uint32_t qpn = 0, idx = 0, psn = 0, last = 0, msn = 0;
  std::uint64_t va = 0;
  std::uint32_t rkey = 0, length = 0;
  unsigned pmtu = 1;
  std::uint32_t pd = 0;
  bool failed = false;  // s_rd_tuser

  /// With s_rd_tuser as one more bit above the record, see RdUser.
  Bytes pack() const {
    return Record(kRdWidth + 1)
        .put(failed, 1)
        .put(kind, 2)
        .put(qpn, 24)
        .put(idx & 0xFF, 8)
        .put(psn, 24)
        .put(last, 24)
        .put(msn, 24)
        .put(va, 64)
        .put(rkey, 32)
        .put(length, 32)
        .put(0x5A5A, 16)
        .put(pmtu, 3)
        .put(pd, 16)
        .value();
  }
  static RdReq unpack(const Bytes& beat) {
    Record r(beat, kRdWidth);
    RdReq q;
    q.kind = static_cast<unsigned>(r.get(2));
    q.qpn = static_cast<std::uint32_t>(r.get(24));
    q.idx = static_cast<std::uint32_t>(r.get(8));
    q.psn = static_cast<std::uint32_t>(r.get(24));
    q.last = static_cast<std::uint32_t>(r.get(24));
    q.msn = static_cast<std::uint32_t>(r.get(24));
    q.va = r.get(64);
    q.rkey = static_cast<std::uint32_t>(r.get(32));
    q.length = static_cast<std::uint32_t>(r.get(32));
    r.get(16);
    q.pmtu = static_cast<unsigned>(r.get(3));
    q.pd = static_cast<std::uint32_t>(r.get(16));
    return q;
  }
  std::uint32_t packets() const { return ((last - psn) & kMask) + 1; }
};

struct Answer {
  std::uint32_t qpn = 0;
  unsigned syndrome = 0x1F;
  std::uint32_t psn = 0, msn = 0, reads = 0;
  bool dup = false;

  Bytes pack() const {
    return Record(kAckWidth)
        .put(qpn, 24)
        .put(syndrome, 8)
        .put(psn, 24)
        .put(msn, 24)
        .put(dup, 1)
        .put(1, 1)
        .put(reads & 0xFF, 8)
        .put(0xA5A5, 16)
        .value();
  }
  static Answer unpack(const Bytes& beat) {
    Record r(beat, kAckWidth);
    Answer a;
    a.qpn = static_cast<std::uint32_t>(r.get(24));
    a.syndrome = static_cast<unsigned>(r.get(8));
    a.psn = static_cast<std::uint32_t>(r.get(24));
    a.msn = static_cast<std::uint32_t>(r.get(24));
    a.dup = r.get(1) != 0;
    r.get(1);
    a.reads = static_cast<std::uint32_t>(r.get(8));
    return a;
  }
  bool nak() const { return (syndrome & 0x60) != 0; }
};

struct Result {
  std::uint32_t qpn = 0, idx = 0;
  std::uint64_t value = 0;
  bool err = false;
  Bytes pack() const { return Record(kResultWidth).put(qpn, 24).put(idx & 0xFF, 8).put(value, 64).put(err, 1).value(); }
  static Result unpack(const Bytes& beat) {
    Record r(beat, kResultWidth);
    Result x;
    x.qpn = static_cast<std::uint32_t>(r.get(24));
    x.idx = static_cast<std::uint32_t>(r.get(8));
    x.value = r.get(64);
    x.err = r.get(1) != 0;
    return x;
  }
};

struct Config {
  bool setup = true;
  std::uint32_t qpn = 0;
  unsigned state = kRts, pmtu = 1;
  std::uint32_t pd = 0;
  Bytes pack(Rng& rng) const {
    Record r(kCfgWidth);
    r.put(setup, 1).put(qpn, 24).put(state, 3).put(pmtu, 3).put(rng.next(), 4).put(pd, 16);
    for (std::size_t rest = 343 - 51; rest > 0;) {
      const std::size_t take = std::min<std::size_t>(rest, 32);
      r.put(rng.next(), take);
      rest -= take;
    }
    return r.value();
  }
  static Config unpack(const Bytes& beat) {
    Record r(beat, kCfgWidth);
    Config c;
    c.setup = r.get(1) != 0;
    c.qpn = static_cast<std::uint32_t>(r.get(24));
    c.state = static_cast<unsigned>(r.get(3));
    c.pmtu = static_cast<unsigned>(r.get(3));
    r.get(4);
    c.pd = static_cast<std::uint32_t>(r.get(16));
    return c;
  }
};

struct Command {
  unsigned target = 0;
  std::uint64_t addr = 0;
  std::uint32_t qpn = 0;
  unsigned opcode = 0;
  std::uint32_t psn = 0, bytes = 0;
  std::uint64_t va = 0;
  unsigned syndrome = 0;
  std::uint32_t msn = 0;
  bool operator==(const Command&) const = default;

  static Command unpack(const Bytes& beat) {
    Record r(beat, kCmdWidth);
    Command c;
    c.target = static_cast<unsigned>(r.get(3));
    c.addr = r.get(64);
    REQUIRE(r.get(6) == kLife);
    c.qpn = static_cast<std::uint32_t>(r.get(24));
    c.opcode = static_cast<unsigned>(r.get(8));
    REQUIRE(r.get(2) == 0);  // se, ackreq
    c.psn = static_cast<std::uint32_t>(r.get(24));
    c.bytes = static_cast<std::uint32_t>(r.get(14));
    c.va = r.get(64);
    REQUIRE(r.get(64) == 0);  // rkey, dma_len
    c.syndrome = static_cast<unsigned>(r.get(8));
    c.msn = static_cast<std::uint32_t>(r.get(24));
    REQUIRE(r.get(64) == 0);  // imm, compare_lo
    return c;
  }
};

std::string text(const Command& c) {
  char line[160];
  std::snprintf(line, sizeof line, "qp %u op %02x psn %06x msn %06x syn %02x bytes %u addr %llx va %llx target %u",
                c.qpn, c.opcode, c.psn, c.msn, c.syndrome, c.bytes, static_cast<unsigned long long>(c.addr),
                static_cast<unsigned long long>(c.va), c.target);
  return line;
}

struct Region {
  bool valid = false;
  unsigned variant = 0, access = 0, target = 0;
  std::uint32_t pd = 0;
  std::uint64_t base = 0, length = 0;
  Bytes pack() const {
    return Record(kMrWidth)
        .put(0, 24)
        .put(valid, 1)
        .put(variant, 8)
        .put(access, 4)
        .put(target, 3)
        .put(pd, 16)
        .put(base, 64)
        .put(length, 64)
        .value();
  }
  /// The rule, in numbers that cannot overflow.
  bool allows(std::uint32_t rkey, std::uint32_t domain, std::uint64_t addr, std::uint32_t bytes) const {
    using Wide = unsigned __int128;
    return valid && variant == (rkey & 0xFF) && pd == domain && (access & 2) != 0 && addr >= base &&
           Wide{addr} + bytes <= Wide{base} + length;
  }
};

// ---- model of one QP's life -----------------------------------------------------------------------

struct Ask {  // what a duplicate asked for
  std::uint32_t first, last, tail;
};

struct Entry {
  RdReq req;
  std::vector<std::uint16_t> sent;     // times each packet was sent
  std::vector<std::uint16_t> allowed;  // and may be at most
  std::vector<bool> due;               // must be sent still
  std::vector<Ask> asks;
  std::uint32_t tail = 0;  // bytes of the last packet
  std::uint32_t next = 0;  // first packet never sent
};

struct Owed {
  Answer answer;
  std::size_t mark = 0;  // entries in front, come or not
  bool now = false;      // fatal, for a response in front of it
  bool late = false;     // came behind a request that it stands in front of
};

class Life {
 public:
  bool alive = false;
  bool over = false;  // its last packet was seen
  unsigned pmtu = 1;
  std::uint32_t pd = 0;
  std::deque<Entry> entries;
  std::size_t forgotten = 0;  // entries dropped from the front of the deque (model's memory only)
  std::map<std::size_t, Result> results;
  std::deque<Owed> owed;
  std::deque<Region> looks;  // regions as they were looked up, in order
  std::size_t front = 0;     // first entry not sent completely
  std::uint64_t hits = 0, falls = 0, outputs = 0;
  std::optional<std::uint32_t> last_psn;
  std::optional<std::pair<unsigned, std::uint32_t>> event;  // that is to come: cause, PSN

  std::uint32_t mtu() const { return 128U << pmtu; }
  std::size_t tail() const { return forgotten + entries.size(); }
  Entry& entry(std::size_t i) { return entries.at(i - forgotten); }

  void request(const RdReq& q) {
    if (q.kind < kReadDup) {
      Entry e;
      e.req = q;
      e.sent.assign(q.packets(), 0);
      e.allowed.assign(q.packets(), 1);
      e.due.assign(q.packets(), true);
      e.tail = q.kind == kAtomic || q.length == 0 ? 0 : (q.length - 1) % mtu() + 1;
      entries.push_back(std::move(e));
      // Its row is another's now: a duplicate of that one which waits may be given up.
      if (tail() > kDepth && tail() - kDepth - 1 >= forgotten) {
        auto& due = entry(tail() - kDepth - 1).due;
        std::fill(due.begin(), due.end(), false);
      }
      return;
    }
    if (!fits(q)) return;
    ++hits;
    Entry& e = entry(*find(q));
    const std::uint32_t from = (q.psn - e.req.psn) & kMask, to = (q.last - e.req.psn) & kMask;
    const bool whole = q.last == e.req.last;
    for (std::uint32_t p = 0; p < e.sent.size(); ++p) {
      // A duplicate that does not ask for the rest may be joined with others to a range with no gap.
      if (!whole || (p >= from && p <= to)) ++e.allowed[p];
      if (p >= from && p <= to) e.due[p] = true;
    }
    e.asks.push_back({q.psn, q.last, q.kind == kAtomicDup || q.length == 0 ? 0 : (q.length - 1) % mtu() + 1});
  }
  /// The result of an atomic comes, perhaps ahead of it.
  void result(std::size_t at, const Result& x) {
    // Then its row is its own already: a duplicate of the one before it there may be given up.
    if (at >= tail() && at >= kDepth && at - kDepth >= forgotten && at - kDepth < tail()) {
      auto& due = entry(at - kDepth).due;
      std::fill(due.begin(), due.end(), false);
    }
    results[at] = x;
  }
  /// The remembered entry that a duplicate repeats a packet of.
  std::optional<std::size_t> find(const RdReq& q) {
    for (std::size_t k = 1; k <= kDepth && k <= tail(); ++k) {
      if (results.contains(tail() - k + kDepth)) continue;  // a result ahead of its request is in the row
      const Entry& e = entry(tail() - k);
      if ((e.req.kind == kAtomic) == (q.kind == kAtomicDup) && ((q.psn - e.req.psn) & kMask) < e.sent.size())
        return tail() - k;
    }
    return std::nullopt;
  }
  bool fits(const RdReq& q) {
    const auto at = find(q);
    if (!at) return false;
    if (q.kind == kAtomicDup) return true;
    const RdReq& o = entry(*at).req;
    if (q.length == 0 || o.length == 0) return q.length == o.length;
    const std::uint64_t offset = std::uint64_t{(q.psn - o.psn) & kMask} * mtu();
    if (P_Exact != 0 && offset + q.length < o.length && q.length % mtu() != 0) return false;
    return q.rkey == o.rkey && q.va == o.va + offset && offset + q.length <= o.length;
  }
  /// All that had to be sent was sent. `why` says what is missing.
  /// An answer comes. Its `reads` is nearest to the number of entries that have come.
  void answer(const Answer& a) {
    Owed o{a};
    const auto ahead = static_cast<std::int8_t>(a.reads - static_cast<std::uint32_t>(tail()) - 1) + 1;  // -127..128
    o.mark = static_cast<std::size_t>(static_cast<std::int64_t>(tail()) + ahead);
    const bool fatal = (a.syndrome & 0x60) == 0x60 && a.syndrome != 0x60;
    o.now = fatal && !entries.empty() && !older(entries.back().req.last, a.psn);
    o.late = o.mark < tail();
    owed.push_back(o);
  }
  bool finished(std::string& why) {
    for (std::size_t i = forgotten; i < tail(); ++i) {
      const Entry& e = entry(i);
      for (std::size_t p = 0; p < e.due.size(); ++p)
        if (e.due[p]) {
          why = "entry " + std::to_string(i) + " packet " + std::to_string(p) + " of " + std::to_string(e.due.size());
          for (const Ask& a : e.asks)
            why += " asked " + std::to_string((a.first - e.req.psn) & kMask) + ".." +
                   std::to_string((a.last - e.req.psn) & kMask);
          return false;
        }
    }
    for (const Owed& o : owed)
      if (!forgettable(o)) {
        why = "answer psn " + std::to_string(o.answer.psn);
        return false;
      }
    if (event) why = "event";
    return !event;
  }
  bool forgettable(const Owed& o) const { return o.answer.dup && nak_before_; }

  /// Judges a command. Returns the reason why it is wrong, or nothing.
  std::string judge(const Command& c) {
    ++outputs;
    if (over) return "a dead QP sends";
    if (c.opcode == 0x11 && c.syndrome == 0x62 && !is_owed(c)) return judge_revoked(c);
    if (c.opcode == 0x11 && c.syndrome == 0x63 && !is_owed(c)) return judge_failed(c);
    if (c.opcode == 0x11) return judge_answer(c);
    return judge_response(c);
  }

 private:
  bool nak_before_ = false;  // the last answer sent was a NAK: those of duplicates behind it may have been forgotten

  bool is_owed(const Command& c) const {
    return std::any_of(owed.begin(), owed.end(), [&](const Owed& o) {
      return o.answer.psn == c.psn && o.answer.syndrome == c.syndrome && o.answer.msn == c.msn;
    });
  }
  std::string judge_answer(const Command& c) {
    if (c.bytes != 0 || c.addr != 0 || c.va != 0 || c.target != 0) return "an answer with something else";
    std::size_t at = owed.size();
    for (std::size_t i = 0; i < owed.size(); ++i) {
      const Answer& a = owed[i].answer;
      if (a.psn == c.psn && a.syndrome == c.syndrome && a.msn == c.msn) at = i;
    }
    if (at == owed.size()) return "an answer that is not owed";
    for (std::size_t i = 0; i < at; ++i) {
      bool newer = false;
      for (std::size_t k = i + 1; k <= at; ++k) newer = newer || !owed[k].answer.dup;
      if (owed[i].answer.nak() && !newer) return "the answer to a duplicate replaced a NAK";
    }
    if (owed[at].now) {
      over = true;
    } else if (front < owed[at].mark) {
      return "an answer overtakes the responses in front of it";
    }
    nak_before_ = owed[at].answer.nak();
    owed.erase(owed.begin(), owed.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return "";
  }
  /// The entry and packet that a PSN stands for, newest entry first.
  std::optional<std::pair<std::size_t, std::uint32_t>> place(std::uint32_t psn) {
    for (std::size_t i = tail(); i-- > forgotten;) {
      const std::uint32_t p = (psn - entry(i).req.psn) & kMask;
      if (p < entry(i).sent.size()) return std::pair{i, p};
    }
    return std::nullopt;
  }
  std::string turn_comes(std::uint32_t psn) {
    const auto at = place(psn);
    if (!at) return "no request has this PSN";
    Entry& e = entry(at->first);
    const std::uint32_t p = at->second;
    if (e.sent[p] == 0) {
      if (at->first != front || p != e.next) return "a response overtakes others";
      if (!owed.empty() && owed.back().mark <= front && !owed.back().answer.dup && !owed.back().late)
        return "a response overtakes the answer in front of it";
    } else if (e.sent[p] >= e.allowed[p]) {
      return "a response is sent again, nobody asked";
    }
    if (last_psn && !older(*last_psn, psn)) ++falls;
    last_psn = psn;
    if (falls > hits) return "responses are not in PSN order";
    return "";
  }
  void send(std::uint32_t psn) {
    const auto at = place(psn);
    Entry& e = entry(at->first);
    const std::uint32_t p = at->second;
    ++e.sent[p];
    e.due[p] = false;
    if (e.next == p) {
      ++e.next;
      if (e.next == e.sent.size()) ++front;
    }
    // Far behind the ring's memory nothing can come back.
    while (forgotten + 2 * kDepth + 4 < front) {
      entries.pop_front();
      ++forgotten;
    }
  }
  std::string judge_response(const Command& c) {
    const auto at = place(c.psn);
    std::string why = turn_comes(c.psn);
    if (!why.empty()) return why;
    Entry& e = entry(at->first);
    if (c.msn != e.req.msn) return "wrong MSN";
    if (c.syndrome != 0x1F) return "wrong syndrome";
    // An atomic is carried out all the same, and its result may come later than the failure.
    if (e.req.failed && e.req.kind == kRead) return "a response although data in front of it failed";
    if (e.req.kind == kAtomic) {
      if (c.opcode != 0x12) return "wrong opcode for an atomic";
      if (!results.contains(at->first)) return "an atomic is answered without its result";
      if (results[at->first].err || c.va != results[at->first].value) return "wrong value";
      if (c.bytes != 0 || c.addr != 0 || c.target != 0) return "an atomic's answer with an address";
      send(c.psn);
      return "";
    }
    if (c.opcode < 0x0D || c.opcode > 0x10) return "wrong opcode for a READ";
    const bool first = c.opcode == 0x0D || c.opcode == 0x10, last = c.opcode == 0x0F || c.opcode == 0x10;
    bool may_first = c.psn == e.req.psn, may_last = c.psn == e.req.last && c.bytes == e.tail;
    for (const Ask& a : e.asks) {
      may_first = may_first || a.first == c.psn;
      may_last = may_last || (a.last == c.psn && a.tail == c.bytes);
    }
    if (first && !may_first) return "opens a response in the middle";
    if (!first && c.psn == e.req.psn) return "a response does not open";
    if (last && !may_last) return "ends a response too early, or with a wrong length";
    if (!last && (c.psn == e.req.last || c.bytes != mtu())) return "does not end, or is not full";
    if (c.va != 0) return "a READ response with a value";
    if (c.bytes == 0) {
      if (c.addr != 0 || c.target != 0) return "an address without bytes";
    } else {
      if (c.addr != e.req.va + std::uint64_t{at->second} * mtu()) return "wrong address";
      if (looks.empty()) return "the region was not looked up";
      if (!looks.front().allows(e.req.rkey, pd, c.addr, c.bytes)) return "the region does not allow it";
      if (looks.front().target != c.target) return "wrong target";
      looks.pop_front();
    }
    send(c.psn);
    return "";
  }
  std::string judge_revoked(const Command& c) {
    const auto at = place(c.psn);
    std::string why = turn_comes(c.psn);
    if (!why.empty()) return why;
    Entry& e = entry(at->first);
    if (e.req.kind == kAtomic || e.req.length == 0) return "refused without need of a region";
    if (c.msn != e.req.msn || c.bytes != 0 || c.addr != 0 || c.va != 0 || c.target != 0) return "wrong fields of a NAK";
    if (looks.empty()) return "refused without a look";
    const std::uint64_t addr = e.req.va + std::uint64_t{at->second} * mtu();
    const std::uint32_t bytes = c.psn == e.req.last ? e.tail : mtu();
    bool may = !looks.front().allows(e.req.rkey, pd, addr, bytes);
    for (const Ask& a : e.asks) may = may || (a.last == c.psn && !looks.front().allows(e.req.rkey, pd, addr, a.tail));
    if (!may) return "refused, but the region allows it";
    over = true;
    event = {2, c.psn};
    return "";
  }
  std::string judge_failed(const Command& c) {
    const auto at = place(c.psn);
    std::string why = turn_comes(c.psn);
    if (!why.empty()) return why;
    Entry& e = entry(at->first);
    const bool failed = e.req.kind == kAtomic && results.contains(at->first) && results[at->first].err;
    if (!failed && !e.req.failed) return "neither an atomic nor the data in front failed";
    if (c.psn != e.req.psn) return "a NAK not in place of the whole";
    if (c.msn != e.req.msn || c.bytes != 0 || c.addr != 0 || c.va != 0 || c.target != 0) return "wrong fields of a NAK";
    over = true;
    event = {3, c.psn};
    return "";
  }
};

/// The whole model: a life of each QP, and those before it, whose last commands may still be on their way.
class Model : public Agent {
 public:
  explicit Model(Sim<Vdut>& sim) : lives(kQps), former(kQps), rd_done(kQps, 0), events(kQps), sim_(sim) {}

  void drive() override {}
  void sample() override {
    Vdut& d = sim_.dut;
    counts.requests += d.cnt_rd_requests_o;
    counts.packets += d.cnt_rd_packets_o;
    counts.atomics += d.cnt_rd_atomics_o;
    counts.answers += d.cnt_rd_answers_o;
    counts.coalesced += d.cnt_rd_coalesced_o;
    counts.duplicates += d.cnt_rd_duplicates_o;
    counts.drop_duplicate += d.cnt_rd_drop_duplicate_o;
    counts.drop_dead += d.cnt_rd_drop_dead_o;
    counts.drop_order += d.cnt_rd_drop_order_o;
    counts.revoked += d.cnt_rd_revoked_o;
    counts.failed += d.cnt_rd_failed_o;
    if (d.s_cfg_tvalid && d.s_cfg_tready) take(Config::unpack(Port(d.s_cfg_tdata, kCfgWidth).value()));
    if (d.s_rd_tvalid && d.s_rd_tready) {
      RdReq q = RdReq::unpack(Port(d.s_rd_tdata, kRdWidth).value());
      q.failed = d.s_rd_tuser != 0;
      take(q);
    }
    if (d.s_ack_tvalid && d.s_ack_tready) take(Answer::unpack(Port(d.s_ack_tdata, kAckWidth).value()));
    if (d.s_result_tvalid && d.s_result_tready) take(Result::unpack(Port(d.s_result_tdata, kResultWidth).value()));
    told_ = d.rd_done_we_o ? told_ + 1 : 0;
    REQUIRE_MESSAGE(told_ < 3, "rd_done is told in three cycles running");
    if (d.rd_done_we_o) {
      REQUIRE(d.rd_done_qpn_o < kQps);
      rd_done[d.rd_done_qpn_o] = d.rd_done_o;
    }
    if (d.m_evt_tvalid && d.m_evt_tready) {
      Record r(Port(d.m_evt_tdata, kEvtWidth).value(), kEvtWidth);
      REQUIRE(r.get(6) == kLife);
      const auto cause = static_cast<unsigned>(r.get(7));
      REQUIRE(r.get(1) == 1);
      const auto psn = static_cast<std::uint32_t>(r.get(24));
      const auto qpn = static_cast<std::uint32_t>(r.get(24));
      REQUIRE(qpn < kQps);
      events[qpn].push_back({cause, psn});
    }
    if (d.m_cmd_tvalid && d.m_cmd_tready) {
      const Command c = Command::unpack(Port(d.m_cmd_tdata, kCmdWidth).value());
      seen.push_back(c);
      if (seen.size() > 100'000) seen.pop_front();
      ++commands;
      judge(c);
    }
  }

  void looked(std::uint32_t qpn, const Region& region) { lives[qpn].looks.push_back(region); }

  /// Events that came and events that had to come agree; call when nothing moves any more.
  void settle_events() {
    for (std::uint32_t q = 0; q < kQps; ++q) {
      Life& life = lives[q];
      if (life.event) {
        INFO("qp ", q, " seed ", seed());
        REQUIRE_MESSAGE(!events[q].empty(), "an event is missing");
        REQUIRE(events[q].front() == *life.event);
        events[q].pop_front();
        life.event.reset();
      }
      // What is left belongs to commands of a former life that a set-up overtook.
      events[q].clear();
    }
  }
  void check_finished() {
    settle_events();
    for (std::uint32_t q = 0; q < kQps; ++q) {
      Life& life = lives[q];
      if (!life.alive || life.over) continue;
      std::string why;
      INFO("qp ", q, " seed ", seed(), " cycle ", sim_.cycle());
      const bool finished = life.finished(why);
      REQUIRE_MESSAGE(finished, "not everything was sent: ", why);
      REQUIRE(rd_done[q] == (life.tail() & 0xFF));
    }
  }

  struct Counts {
    std::uint64_t requests = 0, packets = 0, atomics = 0, answers = 0, coalesced = 0, duplicates = 0,
                  drop_duplicate = 0, drop_dead = 0, drop_order = 0, revoked = 0, failed = 0;
  } counts;
  std::vector<Life> lives;
  std::vector<std::deque<Life>> former;  // the oldest first
  std::vector<std::uint32_t> rd_done;
  std::vector<std::deque<std::pair<unsigned, std::uint32_t>>> events;
  std::deque<Command> seen;
  std::uint64_t commands = 0, hits = 0, misses = 0, new_requests = 0, taken_rd = 0, overtakes = 0;

 private:
  void take(const Config& c) {
    const bool ends = c.state == kReset || c.state == kErr;
    if (c.qpn >= kQps || (!c.setup && !ends)) return;
    if (lives[c.qpn].alive) {
      former[c.qpn].push_back(std::exchange(lives[c.qpn], Life{}));
      former[c.qpn].back().outputs = 0;
      if (former[c.qpn].size() > kCommandsInside) former[c.qpn].pop_front();
    }
    lives[c.qpn] = Life{};
    lives[c.qpn].alive = c.setup && !ends;
    lives[c.qpn].pmtu = c.pmtu;
    lives[c.qpn].pd = c.pd;
  }
  void take(const RdReq& q) {
    ++taken_rd;
    if (q.qpn >= kQps || !lives[q.qpn].alive) return;
    Life& life = lives[q.qpn];
    if (q.kind < kReadDup) {
      if (q.idx != (life.tail() & 0xFF)) return;
      ++new_requests;
    } else {
      if (q.failed) return;
      ++(life.fits(q) ? hits : misses);
    }
    life.request(q);
  }
  void take(const Answer& a) {
    if (a.qpn >= kQps || !lives[a.qpn].alive) return;
    Life& life = lives[a.qpn];
    life.answer(a);
    overtakes += life.owed.back().mark > life.tail();
  }
  void take(const Result& x) {
    if (x.qpn >= kQps || !lives[x.qpn].alive) return;
    // The number nearest to those accepted: it may be ahead of its request.
    Life& life = lives[x.qpn];
    const std::size_t base = life.tail() + 128 < 256 ? 0 : life.tail() - 128;
    life.result(base + ((x.idx - base) & 0xFF), x);
  }
  void judge(const Command& c) {
    INFO(text(c), " cycle ", sim_.cycle(), " seed ", seed());
    REQUIRE(c.qpn < kQps);
    Life& life = lives[c.qpn];
    // What was decided before a set-up may still come, in order; it has PSNs of its own.
    std::deque<Life>& olds = former[c.qpn];
    for (std::size_t i = 0; i < olds.size(); ++i) {
      if (olds[i].over || olds[i].outputs >= kCommandsInside) continue;
      Life copy = olds[i];
      if (!copy.judge(c).empty()) continue;
      olds[i] = std::move(copy);
      olds.erase(olds.begin(), olds.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    olds.clear();
    REQUIRE_MESSAGE(life.alive, "a dead QP sends");
    const std::string why = life.judge(c);
    REQUIRE_MESSAGE(why.empty(), why);
  }
  Sim<Vdut>& sim_;
  unsigned told_ = 0;
};

/// The region table's second port: grants when the responder leaves it a cycle, answers two cycles later.
class Regions : public Agent {
 public:
  Regions(Sim<Vdut>& sim, Model& model) : table(2 * kQps), sim_(sim), model_(model) {}
  void drive() override {
    offer_ = !sim_.rng().percent(busy_percent);
    // The grant follows the request in the same cycle.
    sim_.dut.mr_gnt_i = offer_;
    Port entry(sim_.dut.mr_entry_i, kMrWidth);
    entry.set_value(pipe_[1] ? pipe_[1]->pack() : sim_.rng().bits(kMrWidth));
  }
  void sample() override {
    pipe_[1] = std::exchange(pipe_[0], std::nullopt);
    if (sim_.dut.mr_req_o && offer_) {
      const std::uint32_t index = sim_.dut.mr_index_o;
      const Region region = index < table.size() ? table[index] : Region{};
      if (index < table.size()) model_.looked(index / 2, region);
      pipe_[0] = region;
      ++looks;
    }
  }
  void on_reset() override { pipe_[0] = pipe_[1] = std::nullopt; }
  unsigned busy_percent = 0;
  std::uint64_t looks = 0;
  std::vector<Region> table;  // two for each QP

 private:
  Sim<Vdut>& sim_;
  Model& model_;
  bool offer_ = false;
  std::optional<Region> pipe_[2];
};

/// s_rd_tuser, beside the beats of s_rd.
class RdUser : public Agent {
 public:
  RdUser(Sim<Vdut>& sim, const StreamSource& rd) : sim_(sim), rd_(rd) {}
  void drive() override {
    const bool offered = sim_.dut.s_rd_tvalid != 0;
    sim_.dut.s_rd_tuser = offered ? get_field(rd_.queue.front(), kRdWidth, 1) != 0 : sim_.rng().percent(50);
  }
  void sample() override {}

 private:
  Sim<Vdut>& sim_;
  const StreamSource& rd_;
};

// ---- bench ----------------------------------------------------------------------------------------

struct Qp {  // what the stimulus knows of a QP
  bool up = false;
  unsigned pmtu = 1;
  std::uint32_t pd = 0, psn = 0, msn = 0, idx = 0;
  std::deque<RdReq> recent;  // the newest last, at most kDepth
};

struct Bench {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        model(sim),
        regions(sim, model),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, kCfgWidth)),
        rd(sim.rng(), Port(sim.dut.s_rd_tvalid, 1), Port(sim.dut.s_rd_tready, 1), Port(sim.dut.s_rd_tdata, kRdWidth)),
        rd_user(sim, rd),
        ack(sim.rng(), Port(sim.dut.s_ack_tvalid, 1), Port(sim.dut.s_ack_tready, 1),
            Port(sim.dut.s_ack_tdata, kAckWidth)),
        result(sim.rng(), Port(sim.dut.s_result_tvalid, 1), Port(sim.dut.s_result_tready, 1),
               Port(sim.dut.s_result_tdata, kResultWidth)),
        cmd(sim.rng(), Port(sim.dut.m_cmd_tvalid, 1), Port(sim.dut.m_cmd_tready, 1),
            Port(sim.dut.m_cmd_tdata, kCmdWidth)),
        evt(sim.rng(), Port(sim.dut.m_evt_tvalid, 1), Port(sim.dut.m_evt_tready, 1),
            Port(sim.dut.m_evt_tdata, kEvtWidth)),
        qps(kQps) {
    for (Agent* a : {static_cast<Agent*>(&regions), static_cast<Agent*>(&cfg), static_cast<Agent*>(&rd),
                     static_cast<Agent*>(&rd_user), static_cast<Agent*>(&ack), static_cast<Agent*>(&result),
                     static_cast<Agent*>(&cmd), static_cast<Agent*>(&evt), static_cast<Agent*>(&model)})
      sim.add(*a);
    sim.dut.life_i = kLife;
    // Before the first edge in reset registers hold anything.
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
    sim.run_until([this] { return sim.dut.ready_o != 0; }, 2 * kQps + 50);
  }
  Rng& rng() { return sim.rng(); }

  /// A region that all addresses of a QP's requests lie in; key index 2 * qpn.
  void open_region(std::uint32_t q, std::uint64_t base = 0x1000'0000, std::uint64_t length = std::uint64_t{1} << 40) {
    regions.table[2 * q] = {true, q & 0xFF, 2, q & 7, qps[q].pd, base, length};
    regions.table[2 * q + 1] = {true, (q + 7) & 0xFF, 15, (q + 3) & 7, qps[q].pd, base / 2, length};
  }
  std::uint32_t key(std::uint32_t q) const { return (2 * q) << 8 | (q & 0xFF); }
  void setup(std::uint32_t q, unsigned pmtu = 1, unsigned state = kRts) {
    Config c;
    c.qpn = q;
    c.state = state;
    c.pmtu = pmtu;
    c.pd = static_cast<std::uint32_t>(rng().below(0x10000));
    cfg.push(c.pack(rng()));
    qps[q] = {};
    qps[q].up = state != kReset && state != kErr;
    qps[q].pmtu = pmtu;
    qps[q].pd = c.pd;
    qps[q].psn = static_cast<std::uint32_t>(rng().below(1U << 24));
    qps[q].msn = static_cast<std::uint32_t>(rng().below(1U << 24));
    open_region(q);
  }
  void state(std::uint32_t q, unsigned s) {
    Config c;
    c.setup = false;
    c.qpn = q;
    c.state = s;
    cfg.push(c.pack(rng()));
  }
  RdReq make(std::uint32_t q, unsigned kind, std::uint64_t va, std::uint32_t length) {
    Qp& p = qps[q];
    const std::uint64_t mtu = 128U << p.pmtu;
    RdReq r;
    r.kind = kind;
    r.qpn = q;
    r.idx = p.idx++;
    r.psn = p.psn;
    const std::uint64_t packets = kind == kAtomic || length == 0 ? 1 : (length + mtu - 1) / mtu;
    r.last = static_cast<std::uint32_t>(p.psn + packets - 1) & kMask;
    r.msn = p.msn = (p.msn + 1) & kMask;
    r.va = va;
    r.rkey = key(q);
    r.length = length;
    r.pmtu = p.pmtu;
    r.pd = p.pd;
    p.psn = (r.last + 1) & kMask;
    p.recent.push_back(r);
    if (p.recent.size() > kDepth) p.recent.pop_front();
    return r;
  }
  RdReq read(std::uint32_t q, std::uint64_t va, std::uint32_t length, bool failed = false) {
    RdReq r = make(q, kRead, va, length);
    r.failed = failed;
    rd.push(r.pack());
    return r;
  }
  RdReq atomic(std::uint32_t q, bool failed = false) {
    RdReq r = make(q, kAtomic, 0x1000'0000 + 8 * rng().below(1000), 0);
    r.failed = failed;
    rd.push(r.pack());
    return r;
  }
  /// A duplicate of r from its packet `from` on, asking for `length` bytes (all that is left when not given).
  RdReq repeat(RdReq r, std::uint32_t from = 0, std::optional<std::uint32_t> length = {}) {
    const std::uint32_t mtu = 128U << r.pmtu;
    r.kind += 2;
    if (r.kind == kReadDup) {
      r.length = length ? *length : r.length - from * mtu;
      r.psn = (r.psn + from) & kMask;
      r.va += std::uint64_t{from} * mtu;
      r.last = r.length == 0 ? r.psn : (r.psn + (r.length - 1) / mtu) & kMask;
    }
    r.idx = 0xEE;  // has no meaning
    return r;
  }
  /// An answer behind all requests made so far, also those that are still to come to the engine.
  void answer(std::uint32_t q, unsigned syndrome, std::uint32_t psn, bool dup = false) {
    ack.push(Answer{q, syndrome, psn, qps[q].msn, qps[q].idx, dup}.pack());
  }
  /// The same with an MSN that no other has: the model can tell it from all others.
  void marked_answer(std::uint32_t q, unsigned syndrome, std::uint32_t psn, bool dup = false) {
    ack.push(Answer{q, syndrome, psn, ++marks & kMask, qps[q].idx, dup}.pack());
  }
  void give(const RdReq& r, std::uint64_t value, bool err = false) {
    result.push(Result{r.qpn, r.idx, value, err}.pack());
  }
  bool idle() const { return cfg.queue.empty() && rd.queue.empty() && ack.queue.empty() && result.queue.empty(); }
  /// Until everything is taken and nothing comes any more.
  void settle(std::uint64_t limit = 400'000) {
    sim.run_until([this] { return idle(); }, limit);
    std::uint64_t before = ~std::uint64_t{0};
    for (std::uint64_t i = 0; before != model.commands; ++i) {
      REQUIRE_MESSAGE(i < limit / 400, "does not come to rest");
      before = model.commands;
      sim.run(400);
    }
  }
  std::vector<Command> take() {
    settle();
    std::vector<Command> all(model.seen.begin(), model.seen.end());
    model.seen.clear();
    return all;
  }
  void stalls(unsigned in, unsigned out, unsigned grant) {
    for (StreamSource* s : {&rd, &ack, &result, &cfg}) s->stall_percent = in;
    cmd.stall_percent = out;
    evt.stall_percent = out;
    regions.busy_percent = grant;
  }

  Sim<Vdut> sim;
  Model model;
  Regions regions;
  StreamSource cfg, rd;
  RdUser rd_user;
  StreamSource ack, result;
  StreamSink cmd, evt;
  std::vector<Qp> qps;
  std::uint32_t marks = 0;
};

Command response(const RdReq& r, unsigned opcode, std::uint32_t packet, std::uint32_t bytes, unsigned target) {
  Command c;
  c.qpn = r.qpn;
  c.opcode = opcode;
  c.psn = (r.psn + packet) & kMask;
  c.bytes = bytes;
  c.addr = bytes == 0 ? 0 : r.va + std::uint64_t{packet} * (128U << r.pmtu);
  c.target = bytes == 0 ? 0 : target;
  c.syndrome = 0x1F;
  c.msn = r.msn;
  return c;
}
Command ack_of(std::uint32_t q, unsigned syndrome, std::uint32_t psn, std::uint32_t msn) {
  Command c;
  c.qpn = q;
  c.opcode = 0x11;
  c.syndrome = syndrome;
  c.psn = psn;
  c.msn = msn;
  return c;
}
Command atomic_ack(const RdReq& r, std::uint64_t value) {
  Command c;
  c.qpn = r.qpn;
  c.opcode = 0x12;
  c.psn = r.psn;
  c.syndrome = 0x1F;
  c.msn = r.msn;
  c.va = value;
  return c;
}

void same(const std::vector<Command>& got, const std::vector<Command>& want) {
  for (std::size_t i = 0; i < std::max(got.size(), want.size()); ++i) {
    INFO("command ", i);
    if (i < got.size()) INFO("got  ", text(got[i]));
    REQUIRE_MESSAGE(i < got.size(), "missing: ", text(want[i]));
    REQUIRE_MESSAGE(i < want.size(), "too many: ", text(got[i]));
    REQUIRE_MESSAGE(got[i] == want[i], "got ", text(got[i]), "\nwant ", text(want[i]));
  }
}

constexpr std::uint32_t kLast = kQps - 1;

}  // namespace

TEST_CASE("READs of all lengths: segments, addresses, PSNs across the wrap, every path MTU") {
  Bench b(1);
  for (unsigned pmtu = 1; pmtu <= 5; ++pmtu) {
    const std::uint32_t mtu = 128U << pmtu;
    b.setup(kLast, pmtu);
    b.qps[kLast].psn = 0xFFFFFA;
    for (std::uint32_t length : {0U, 1U, mtu - 1, mtu, mtu + 1, 2 * mtu, 5 * mtu - 3, 17 * mtu}) {
      INFO("pmtu ", pmtu, " length ", length);
      const RdReq r = b.read(kLast, 0x1000'0000 + b.rng().below(1 << 20), length);
      std::vector<Command> want;
      const std::uint32_t n = length == 0 ? 1 : (length + mtu - 1) / mtu;
      for (std::uint32_t i = 0; i < n; ++i) {
        const unsigned op = n == 1 ? 0x10 : i == 0 ? 0x0D : i + 1 == n ? 0x0F : 0x0E;
        want.push_back(response(r, op, i, i + 1 == n ? length - i * mtu : mtu, kLast & 7));
      }
      same(b.take(), want);
    }
    b.model.check_finished();
  }
  // A zero-length READ needs no region, not even an address that exists.
  const RdReq r = b.make(kLast, kRead, ~std::uint64_t{0}, 0);
  RdReq bad = r;
  bad.rkey = 0xFFFFFFFF;
  b.rd.push(bad.pack());
  same(b.take(), {response(r, 0x10, 0, 0, 0)});
}

TEST_CASE("duplicates: whole, from the middle, a part, again and again; what does not fit is dropped") {
  Bench b(2);
  b.setup(kLast, 1);
  const unsigned target = kLast & 7;
  const RdReq r = b.read(kLast, 0x2000'0001, 5 * 256 + 7);
  (void)b.take();
  for (int round = 0; round < 2; ++round) {
    b.rd.push(b.repeat(r).pack());
    same(b.take(),
         {response(r, 0x0D, 0, 256, target), response(r, 0x0E, 1, 256, target), response(r, 0x0E, 2, 256, target),
          response(r, 0x0E, 3, 256, target), response(r, 0x0E, 4, 256, target), response(r, 0x0F, 5, 7, target)});
    b.rd.push(b.repeat(r, 3).pack());
    same(b.take(),
         {response(r, 0x0D, 3, 256, target), response(r, 0x0E, 4, 256, target), response(r, 0x0F, 5, 7, target)});
    b.rd.push(b.repeat(r, 5).pack());
    same(b.take(), {response(r, 0x10, 5, 7, target)});
    b.rd.push(b.repeat(r, 1, 300).pack());
    if (P_Exact == 0)
      same(b.take(), {response(r, 0x0D, 1, 256, target), response(r, 0x0F, 2, 44, target)});
    else
      same(b.take(), {});  // its packet 2 had 256 bytes before
    b.rd.push(b.repeat(r, 1, 512).pack());
    same(b.take(), {response(r, 0x0D, 1, 256, target), response(r, 0x0F, 2, 256, target)});
    b.rd.push(b.repeat(r, 5, 6).pack());
    if (P_Exact == 0)
      same(b.take(), {response(r, 0x10, 5, 6, target)});
    else
      same(b.take(), {});
  }
  const auto hits = b.model.counts.duplicates;
  CHECK(hits == (P_Exact == 0 ? 12 : 8));
  const auto dropped = b.model.counts.drop_duplicate;
  CHECK(dropped == (P_Exact == 0 ? 0 : 4));
  // What does not fit: key, address in front, behind, on the other side of 2^64, length, PSN, kind.
  std::vector<RdReq> bad(9, b.repeat(r));
  bad[0].rkey ^= 1;
  bad[1].va -= 1;
  bad[2].va += 256;
  bad[3].va = 0xFFFFFFFFFFFFFC00;  // L34
  bad[3].length = 0x400;
  bad[4].length += 1;
  bad[5].psn = (r.last + 1) & kMask;
  bad[5].last = bad[5].psn;
  bad[6].psn = (r.psn - 1) & kMask;
  bad[7].kind = kAtomicDup;
  bad[8].length = 0;
  bad[8].last = bad[8].psn;
  for (const RdReq& q : bad) b.rd.push(q.pack());
  same(b.take(), {});
  CHECK(b.model.counts.drop_duplicate == dropped + bad.size());
  CHECK(b.model.counts.duplicates == hits);
  // An atomic: the stored value, however often.
  const RdReq a = b.atomic(kLast);
  b.give(a, 0x0123456789ABCDEF);
  same(b.take(), {atomic_ack(a, 0x0123456789ABCDEF)});
  for (int round = 0; round < 2; ++round) {
    b.rd.push(b.repeat(a).pack());
    same(b.take(), {atomic_ack(a, 0x0123456789ABCDEF)});
  }
  // Forgotten once RdDepth others came.
  for (unsigned i = 0; i < kDepth; ++i) {
    b.read(kLast, 0x2000'0000, 8);
    if (i % 8 == 7 || kDepth == 1) (void)b.take();
  }
  (void)b.take();
  b.rd.push(b.repeat(a).pack());
  b.rd.push(b.repeat(r).pack());
  same(b.take(), {});
  CHECK(b.model.counts.drop_duplicate == dropped + bad.size() + 2);
  b.model.check_finished();
}

TEST_CASE("duplicates among requests that wait are served in PSN order, each packet once more at most") {
  if (kDepth < 4) return;
  Bench b(3);
  b.setup(0, 1);
  const RdReq r0 = b.read(0, 0x2000'0000, 700), r1 = b.read(0, 0x3000'0000, 300);
  (void)b.take();
  // One READ is begun and stands, since m_cmd stalls; an atomic waits behind it. Meanwhile all are asked for again.
  b.cmd.stall_percent = 100;
  const RdReq f = b.read(0, 0x4000'0000, 20 * 256), a = b.atomic(0);
  b.sim.run(100);
  for (int i = 0; i < 2; ++i) b.rd.push(b.repeat(a).pack());  // not served yet: changes nothing
  b.rd.push(b.repeat(r1, 1).pack());
  b.rd.push(b.repeat(r1).pack());
  b.rd.push(b.repeat(r0, 1).pack());
  b.rd.push(b.repeat(r0, 2).pack());
  b.sim.run_until([&] { return b.idle(); }, 2000);
  b.cmd.stall_percent = 0;
  std::vector<Command> want;
  for (std::uint32_t i = 0; i < 20; ++i) {
    if (i == 16)  // so many were inside
      want.insert(want.end(), {response(r0, 0x0D, 1, 256, 0), response(r0, 0x0F, 2, 188, 0),
                               response(r1, 0x0D, 0, 256, 0), response(r1, 0x0F, 1, 44, 0)});
    want.push_back(response(f, i == 0 ? 0x0D : i == 19 ? 0x0F : 0x0E, i, 256, 0));
  }
  same(b.take(), want);
  // A READ that was begun is asked for itself: in front of, at and behind the place where it stands.
  for (const std::uint32_t from : {3U, 16U, 18U}) {
    b.give(a, 77);
    (void)b.take();
    b.setup(0, 1);
    b.settle();
    b.model.seen.clear();
    b.cmd.stall_percent = 100;
    const RdReq g = b.read(0, 0x4000'0000, 20 * 256);
    b.sim.run(100);
    b.rd.push(b.repeat(g, from).pack());
    b.sim.run_until([&] { return b.idle(); }, 2000);
    b.cmd.stall_percent = 0;
    want.clear();
    for (std::uint32_t i = 0; i < 16; ++i) want.push_back(response(g, i == 0 ? 0x0D : 0x0E, i, 256, 0));
    for (std::uint32_t i = std::min(from, 16U); i < 20; ++i)
      want.push_back(response(g, i == from && from <= 16 ? 0x0D : i == 19 ? 0x0F : 0x0E, i, 256, 0));
    same(b.take(), want);
  }
  b.model.check_finished();
}

TEST_CASE("a READ that was begun goes on in the middle after a duplicate of an earlier one") {
  if (kDepth < 4) return;
  Bench b(4);
  b.setup(0, 1);
  const RdReq r0 = b.read(0, 0x2000'0000, 100);
  (void)b.take();
  // 60 packets: m_cmd stalls when about 20 of them are decided on.
  b.cmd.stall_percent = 100;
  const RdReq r1 = b.read(0, 0x3000'0000, 60 * 256);
  b.sim.run(150);
  b.rd.push(b.repeat(r0).pack());
  b.sim.run(150);
  b.cmd.stall_percent = 0;
  const std::vector<Command> got = b.take();
  std::vector<Command> want;
  for (std::uint32_t i = 0; i < 60; ++i) want.push_back(response(r1, i == 0 ? 0x0D : i == 59 ? 0x0F : 0x0E, i, 256, 0));
  // 16 were inside.
  want.insert(want.begin() + 16, response(r0, 0x10, 0, 100, 0));
  same(got, want);
  b.model.check_finished();
}

TEST_CASE("atomics block their QP until the result is in, results in any order, also ahead of the request") {
  Bench b(5);
  b.setup(0);
  b.setup(kLast);
  if (kDepth >= 2) {
    const RdReq a0 = b.atomic(0), a1 = b.atomic(0);
    same(b.take(), {});
    b.give(a1, 1);
    same(b.take(), {});
    if (kQps > 1) {  // no QP waits for another
      const RdReq other = b.read(kLast, 0x2000'0000, 5);
      same(b.take(), {response(other, 0x10, 0, 5, kLast & 7)});
    }
    b.give(a0, 0);
    same(b.take(), {atomic_ack(a0, 0), atomic_ack(a1, 1)});
  }
  // Every number twice around: a result of the last lap is not taken for one of this lap.
  for (unsigned i = 0; i < 520; ++i) {
    const RdReq a = b.make(0, kAtomic, 0, 0);
    if (i % 3 == 0) b.give(a, 1000 + i);
    if (i % 3 == 0) b.sim.run_until([&] { return b.idle(); }, 100);
    b.rd.push(a.pack());
    if (i % 3 != 0) {
      b.sim.run_until([&] { return b.idle(); }, 100);
      b.sim.run(60);
      REQUIRE(b.model.seen.empty());
      b.give(a, 1000 + i);
    }
    b.sim.run_until([&] { return !b.model.seen.empty(); }, 200);
    REQUIRE(b.model.seen.back() == atomic_ack(a, 1000 + i));
    b.model.seen.clear();
    if (i % 7 == 0) {  // between them READs, so that a row changes its kind
      const RdReq r = b.read(0, 0x2000'0000, 0);
      same(b.take(), {response(r, 0x10, 0, 0, 0)});
    }
  }
  b.model.check_finished();
}

TEST_CASE("an atomic that failed is a NAK, an event, and the end of the QP") {
  Bench b(6);
  b.setup(kLast);
  const RdReq a = b.atomic(kLast);
  if (kDepth > 1) b.read(kLast, 0x2000'0000, 2000);
  b.answer(kLast, 0x1F, b.qps[kLast].psn);
  b.give(a, 0, true);
  same(b.take(), {ack_of(kLast, 0x63, a.psn, a.msn)});
  CHECK(b.model.counts.failed == 1);
  b.model.check_finished();
  // Nothing more, whatever comes.
  const auto drops = b.model.counts.drop_dead;
  b.answer(kLast, 0x1F, 5);
  b.rd.push(b.repeat(a).pack());
  b.give(a, 1);
  same(b.take(), {});
  CHECK(b.model.counts.drop_dead == drops + 3);
  // Until it is set up anew.
  b.setup(kLast);
  const RdReq r = b.read(kLast, 0x2000'0000, 2);
  same(b.take(), {response(r, 0x10, 0, 2, kLast & 7)});
}

TEST_CASE("a region revoked in the middle: NAK in place of the response, event, the rest is dropped (L33)") {
  Bench b(7);
  for (unsigned how = 0; how < 6; ++how) {
    INFO("how ", how);
    b.setup(kLast, 1);
    b.settle();
    b.model.seen.clear();
    b.stalls(0, 50, 0);
    const RdReq r = b.read(kLast, 0x2000'0000, 64 * 256);
    b.sim.run_until([&] { return b.model.seen.size() >= 5; }, 2000);
    Region& region = b.regions.table[2 * kLast];
    switch (how) {
      case 0:
        region.valid = false;
        break;
      case 1:
        region.variant ^= 0x80;
        break;
      case 2:
        region.pd ^= 1;
        break;
      case 3:
        region.access = 0xD;
        break;
      case 4:
        region.length = 0x2000'0000 + 64 * 256 - 1 - region.base;
        break;
      default:
        region.base = 0x2000'0000 + 63 * 256 + 1;
        break;
    }
    b.stalls(0, 0, 0);
    const std::vector<Command> got = b.take();
    REQUIRE(got.size() >= 6);
    const auto n = static_cast<std::uint32_t>(got.size() - 1);
    if (how == 4) REQUIRE(n == 63);  // the last byte only
    if (how < 4) REQUIRE(n < 40);
    REQUIRE(got.back() == ack_of(kLast, 0x62, (r.psn + n) & kMask, r.msn));
    b.model.check_finished();
    CHECK(b.model.counts.revoked == how + 1);
  }
  // Region limits to the byte.
  b.setup(kLast, 5);
  b.settle();
  b.model.seen.clear();
  Region& region = b.regions.table[2 * kLast];
  region.base = 0xFFFF'FFFF'FFFF'0000;
  region.length = 0x10000;
  b.read(kLast, 0xFFFF'FFFF'FFFF'0000, 0x10000);
  CHECK(b.take().size() == 16);
  b.read(kLast, 0xFFFF'FFFF'FFFE'FFFF, 1);
  CHECK(b.take().back().syndrome == 0x62);
  b.model.check_finished();
}

TEST_CASE("answers leave behind the responses in front of them; the newest wins, no duplicate's replaces a NAK") {
  Bench b(8);
  b.setup(kLast);
  const std::uint32_t q = kLast;
  const auto msn = [&] { return b.qps[q].msn; };
  b.answer(q, 0x1F, 5);
  same(b.take(), {ack_of(q, 0x1F, 5, msn())});
  const RdReq a = b.atomic(q);
  b.sim.run_until([&] { return b.idle(); }, 100);
  b.answer(q, 0x1F, 6);
  b.answer(q, 0x1F, 7);
  same(b.take(), {});
  b.answer(q, 0x60, 8);
  b.answer(q, 0x1F, 4, true);
  b.answer(q, 0x1F, 3, true);
  same(b.take(), {});
  b.give(a, 3);
  same(b.take(), {atomic_ack(a, 3), ack_of(q, 0x60, 8, msn())});
  CHECK(b.model.counts.coalesced == 4);
  // An RNR NAK is one too; what is no duplicate replaces it.
  const RdReq c = b.atomic(q);
  b.sim.run_until([&] { return b.idle(); }, 100);
  b.answer(q, 0x2C, 9);
  b.answer(q, 0x1F, 8, true);
  same(b.take(), {});
  b.give(c, 4);
  same(b.take(), {atomic_ack(c, 4), ack_of(q, 0x2C, 9, msn())});
  const RdReq d = b.atomic(q);
  b.sim.run_until([&] { return b.idle(); }, 100);
  b.answer(q, 0x60, 9);
  b.answer(q, 0x1F, 10);
  b.sim.run_until([&] { return b.idle(); }, 100);
  // What comes behind the answer stays behind it.
  if (kDepth > 1) {
    const RdReq r = b.read(q, 0x2000'0000, 1);
    b.sim.run(50);
    const std::uint32_t m = msn() - 1;
    b.give(d, 5);
    same(b.take(), {atomic_ack(d, 5), ack_of(q, 0x1F, 10, m), response(r, 0x10, 0, 1, q & 7)});
  } else {
    b.give(d, 5);
    same(b.take(), {atomic_ack(d, 5), ack_of(q, 0x1F, 10, msn())});
  }
  b.model.check_finished();
}

TEST_CASE("a fatal NAK for a response that could not be read takes the place of the rest; any other waits") {
  Bench b(9);
  b.setup(0, 1);
  const RdReq r = b.read(0, 0x2000'0000, 5000 * 256);
  b.sim.run_until([&] { return b.model.seen.size() == 30; }, 2000);
  b.answer(0, 0x63, (r.psn + 3) & kMask);
  const std::vector<Command> got = b.take();
  CHECK(got.size() < 120);
  CHECK(got.back() == ack_of(0, 0x63, (r.psn + 3) & kMask, r.msn));
  b.read(0, 0x2000'0000, 5);
  same(b.take(), {});
  b.setup(0, 1);
  const RdReq s = b.read(0, 0x2000'0000, 100 * 256);
  b.sim.run_until([&] { return b.model.seen.size() == 30; }, 2000);
  b.answer(0, 0x63, b.qps[0].psn);
  const std::vector<Command> all = b.take();
  CHECK(all.size() == 101);
  CHECK(all.back() == ack_of(0, 0x63, b.qps[0].psn, s.msn));
  b.model.check_finished();
  if (kDepth == 1) return;
  // The same with a request that has not come yet: the place of a response is here, a request refused is not.
  for (const unsigned syndrome : {0x61U, 0x62U, 0x63U}) {
    for (const bool mine : {true, false}) {
      b.setup(0, 1);
      b.settle();
      b.model.seen.clear();
      const RdReq long_one = b.read(0, 0x2000'0000, 300 * 256);
      b.sim.run_until([&] { return b.model.seen.size() == 30; }, 2000);
      const RdReq late = b.make(0, kRead, 0x2000'0000, 700);
      const std::uint32_t psn = mine ? (long_one.psn + 3) & kMask : b.qps[0].psn;
      b.answer(0, syndrome, psn);
      std::vector<Command> out = b.take();
      CHECK((mine ? out.size() < 120 : out.size() == 300));
      if (!mine) CHECK(out.back().opcode == 0x0F);
      b.rd.push(late.pack());
      for (const Command& c : b.take()) out.push_back(c);
      CHECK((mine ? out.size() < 120 : out.size() == 304));
      CHECK(out.back() == ack_of(0, syndrome, psn, late.msn));
    }
  }
}

TEST_CASE("answers come ahead of the requests in front of them, and leave behind their responses") {
  Bench b(16);
  b.setup(kLast, 1);
  const unsigned target = kLast & 7;
  // Once around the numbers and more, up to a whole ring ahead.
  std::uint32_t psn = 0;
  for (unsigned round = 0; b.qps[kLast].idx < 600; ++round) {
    std::vector<RdReq> later;
    const unsigned n = round % 3 == 0 ? 1 : round % 3 == 1 ? std::min(kDepth, 3U) : kDepth;
    for (unsigned i = 0; i < n; ++i) later.push_back(b.make(kLast, kRead, 0x2000'0000, 1 + 256 * (i % 3)));
    b.answer(kLast, 0x1F, ++psn);
    b.answer(kLast, round % 2 == 0 ? 0x1F : 0x60, ++psn);  // the newest wins here, too
    b.sim.run_until([&] { return b.idle(); }, 300);
    b.sim.run(60);
    REQUIRE(b.model.seen.empty());
    for (unsigned i = 0; i < n; ++i) {
      const RdReq& r = later[i];
      std::vector<Command> want;
      const std::uint32_t packets = r.packets();
      for (std::uint32_t p = 0; p < packets; ++p)
        want.push_back(response(r,
                                packets == 1       ? 0x10
                                : p == 0           ? 0x0D
                                : p + 1 == packets ? 0x0F
                                                   : 0x0E,
                                p, p + 1 == packets ? 1 : 256, target));
      if (i + 1 == n) want.push_back(ack_of(kLast, round % 2 == 0 ? 0x1F : 0x60, psn, b.qps[kLast].msn));
      b.rd.push(r.pack());
      if (i % 16 < 2 || i + 1 == n) {
        b.sim.run_until([&] { return b.model.seen.size() >= want.size(); }, 300);
        b.sim.run(5);
        same({b.model.seen.begin(), b.model.seen.end()}, want);
      } else {  // no answer slips in between two
        b.sim.run_until([&] { return b.model.seen.size() >= want.size(); }, 300);
      }
      b.model.seen.clear();
    }
  }
  CHECK(b.model.overtakes >= 20);
  // An answer that stands behind some that are here and some that are not; others go on meanwhile.
  if (kDepth > 1) {
    const RdReq a = b.atomic(kLast);
    b.sim.run_until([&] { return b.idle(); }, 100);
    const RdReq r = b.make(kLast, kRead, 0x2000'0000, 5);
    b.answer(kLast, 0x1F, 77);
    same(b.take(), {});
    b.give(a, 9);
    same(b.take(), {atomic_ack(a, 9)});
    if (kQps > 1) {
      b.setup(0, 1);
      const RdReq other = b.read(0, 0x2000'0000, 5);
      same(b.take(), {response(other, 0x10, 0, 5, 0)});
    }
    b.rd.push(r.pack());
    same(b.take(), {response(r, 0x10, 0, 5, target), ack_of(kLast, 0x1F, 77, r.msn)});
  }
  b.model.check_finished();
  // A set-up forgets one that still waits for its request.
  (void)b.make(kLast, kRead, 0x2000'0000, 5);
  b.answer(kLast, 0x61, b.qps[kLast].psn);
  same(b.take(), {});
  b.setup(kLast, 1);
  const RdReq r = b.read(kLast, 0x2000'0000, 6);
  same(b.take(), {response(r, 0x10, 0, 6, target)});
  b.answer(kLast, 0x1F, 79);
  same(b.take(), {ack_of(kLast, 0x1F, 79, r.msn)});
  b.model.check_finished();
}

TEST_CASE("an answer a whole ring ahead while a duplicate has taken the cursor a whole ring back") {
  Bench b(17);
  b.setup(0, 1);
  std::vector<RdReq> ring;
  for (unsigned i = 0; i < kDepth; ++i) {
    ring.push_back(b.read(0, 0x2000'0000, i == 0 ? 100 * 256 : 8));
    b.settle();
  }
  b.model.seen.clear();
  b.cmd.stall_percent = 100;
  b.rd.push(b.repeat(ring[0]).pack());
  b.sim.run_until([&] { return b.idle(); }, 1000);
  std::vector<RdReq> later;
  for (unsigned i = 0; i < kDepth; ++i) later.push_back(b.make(0, kRead, 0x2000'0000, 8));
  b.answer(0, 0x1F, 5);
  b.sim.run_until([&] { return b.idle(); }, 100);
  b.sim.run(50);
  b.cmd.stall_percent = 0;
  CHECK(b.take().size() == 100);  // the duplicate alone
  b.model.seen.clear();
  for (const RdReq& r : later) b.rd.push(r.pack());
  const std::vector<Command> got = b.take();
  REQUIRE(got.size() == kDepth + 1);
  CHECK(got.back() == ack_of(0, 0x1F, 5, later.back().msn));
  b.model.check_finished();
}

TEST_CASE("data in front of a request failed: NAK 0x63 in its place, an event, and the end of the QP") {
  Bench b(18);
  for (const bool atomic : {false, true}) {
    for (const bool answer_first : {false, true}) {
      b.setup(kLast, 1);
      b.settle();
      b.model.seen.clear();
      std::vector<Command> want;
      if (kDepth > 1) {
        const RdReq r = b.read(kLast, 0x2000'0000, 3);
        want.push_back(response(r, 0x10, 0, 3, kLast & 7));
      }
      RdReq f = b.make(kLast, atomic ? kAtomic : kRead, 0x2000'0000, atomic ? 0 : 1000);
      f.failed = true;
      // What the responder says to the failure itself: it must not be kept waiting for ever by the request.
      if (answer_first) b.answer(kLast, 0x63, b.qps[kLast].psn);
      b.sim.run(50);
      b.rd.push(f.pack());
      if (!answer_first) b.answer(kLast, 0x63, b.qps[kLast].psn);
      want.push_back(ack_of(kLast, 0x63, f.psn, f.msn));
      same(b.take(), want);
      b.model.check_finished();
      const auto drops = b.model.counts.drop_dead;
      b.answer(kLast, 0x1F, 5);
      b.rd.push(b.repeat(f).pack());
      if (atomic) b.give(f, 1);
      same(b.take(), {});
      CHECK(b.model.counts.drop_dead == drops + (atomic ? 3 : 2));
    }
  }
  CHECK(b.model.counts.failed == 4);
  // A duplicate is dropped, the QP's end comes by itself.
  b.setup(kLast, 1);
  const RdReq r = b.read(kLast, 0x2000'0000, 3);
  b.settle();
  b.model.seen.clear();
  RdReq d = b.repeat(r);
  d.failed = true;
  const auto drops = b.model.counts.drop_dead;
  b.rd.push(d.pack());
  same(b.take(), {});
  CHECK(b.model.counts.drop_dead == drops + 1);
  b.answer(kLast, 0x63, b.qps[kLast].psn);
  same(b.take(), {ack_of(kLast, 0x63, b.qps[kLast].psn, r.msn)});
}

TEST_CASE("RESET and ERR drop what waits; only a set-up revives; a set-up in the middle starts anew") {
  Bench b(10);
  for (unsigned s : {kReset, kErr}) {
    b.setup(kLast);
    b.settle();
    b.read(kLast, 0x2000'0000, 5000 * 256);
    b.answer(kLast, 0x1F, 1);
    b.sim.run(150);
    b.state(kLast, s);
    b.sim.run_until([&] { return b.idle(); }, 300);
    b.sim.run(50);
    b.model.seen.clear();
    b.state(kLast, kRts);  // does not revive
    b.read(kLast, 0x2000'0000, 5);
    b.answer(kLast, 0x1F, 1);
    same(b.take(), {});
  }
  b.setup(kLast, 1, kErr);
  b.rd.push(RdReq{.qpn = kLast}.pack());
  same(b.take(), {});
  // Neither does anything reach a QP that does not exist, or was never set up.
  if (kQps > 1) b.rd.push(RdReq{}.pack());
  b.rd.push(RdReq{.qpn = kQps}.pack());
  b.rd.push(RdReq{.qpn = 0xFFFFFF}.pack());
  b.ack.push(Answer{.qpn = kQps}.pack());
  b.result.push(Result{.qpn = kQps}.pack());
  b.cfg.push(Config{.qpn = kQps}.pack(b.rng()));
  b.cfg.push(Config{.qpn = 0xFFFFFF}.pack(b.rng()));
  same(b.take(), {});
  for (unsigned i = 0; i < 20; ++i) {
    b.setup(kLast, 1 + i % 5);
    b.sim.run_until([&] { return b.idle(); }, 1000);
    const RdReq a = b.make(kLast, kAtomic, 0, 0);
    b.give(a, i, false);  // of the former life's number 0: must not be there in the next one
    b.answer(kLast, 0x60, b.qps[kLast].psn);
    b.sim.run(b.rng().below(60));
    b.sim.run_until([&] { return b.idle(); }, 1000);
    b.model.seen.clear();
    b.setup(kLast, 1 + i % 5);
    b.sim.run_until([&] { return b.idle(); }, 1000);
    const RdReq c = b.atomic(kLast);
    b.sim.run(100);
    b.model.seen.clear();
    b.sim.run(100);
    REQUIRE(b.model.seen.empty());
    b.give(c, 100 + i);
    same(b.take(), {atomic_ack(c, 100 + i)});
    b.model.check_finished();
  }
}

TEST_CASE("a request out of order or beyond the ring is dropped, and a duplicate's row can be taken again") {
  Bench b(11);
  b.setup(0, 1);
  RdReq wrong = b.make(0, kRead, 0x2000'0000, 5);
  wrong.idx = 1;
  b.rd.push(wrong.pack());
  same(b.take(), {});
  CHECK(b.model.counts.drop_order == 1);
  b.setup(0, 1);
  // The ring is full of atomics without results: one more is dropped.
  std::vector<RdReq> ring;
  for (unsigned i = 0; i < kDepth; ++i) ring.push_back(b.atomic(0));
  same(b.take(), {});
  Qp kept = b.qps[0];
  RdReq extra = b.make(0, kRead, 0x2000'0000, 5);
  b.qps[0] = kept;
  // The model has no limit of its own: keep it out.
  const std::size_t before = b.model.lives[0].entries.size();
  b.rd.push(extra.pack());
  b.sim.run_until([&] { return b.idle(); }, 100);
  b.sim.run(2);
  b.model.lives[0].entries.resize(before);
  CHECK(b.model.counts.drop_order == 2);
  for (unsigned i = kDepth; i-- > 0;) b.give(ring[i], i);
  CHECK(b.take().size() == kDepth);
  b.model.check_finished();
  // All are asked for again, and while m_cmd stalls new requests come: older duplicates are given up, nothing hangs.
  std::vector<RdReq> reads;
  for (unsigned i = 0; i < kDepth; ++i) {
    reads.push_back(b.read(0, 0x2000'0000, 30 * 256));
    b.settle();
  }
  b.model.seen.clear();
  b.cmd.stall_percent = 100;
  for (const RdReq& r : reads) b.rd.push(b.repeat(r).pack());
  b.sim.run_until([&] { return b.idle(); }, 100'000);
  const RdReq n = b.read(0, 0x2000'0000, 9);
  b.sim.run_until([&] { return b.idle(); }, 1000);
  b.cmd.stall_percent = 0;
  const std::vector<Command> got = b.take();
  CHECK(got.size() >= 1);
  CHECK(got.back() == response(n, 0x10, 0, 9, 0));
  CHECK(b.model.rd_done[0] == (b.qps[0].idx & 0xFF));
}

TEST_CASE("random traffic of all kinds") {
  struct Shape {
    unsigned in, out, grant, trouble, late;  // late: stalls of the requests alone, which their answers overtake
  };
  for (const Shape& s : {Shape{0, 0, 0, 0, 0}, Shape{10, 30, 50, 2, 50}, Shape{70, 5, 10, 5, 95}, Shape{0, 80, 0, 1, 0},
                         Shape{20, 20, 80, 10, 90}, Shape{0, 10, 0, 0, 97}}) {
    Bench b(100 + s.in + s.out + s.late);
    INFO("stalls ", s.in, " ", s.out, " ", s.grant, " trouble ", s.trouble, " late ", s.late);
    b.stalls(s.in, s.out, s.grant);
    b.rd.stall_percent = std::max(s.in, s.late);
    Rng& rng = b.rng();
    const auto active = static_cast<std::uint32_t>(std::min<std::uint64_t>(kQps, 24));
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < active; ++i)
      list.push_back(static_cast<std::uint32_t>(active == kQps ? i : rng.below(kQps)));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const std::uint32_t q : list) b.setup(q, static_cast<unsigned>(rng.between(1, 5)));
    b.sim.run_until([&] { return b.idle(); }, 100'000);
    struct Late {
      std::uint64_t at;
      Result result;
    };
    std::vector<Late> late;
    std::uint64_t atomics = 0, expected_atomics = 0;
    for (unsigned step = 0; step < 3000; ++step) {
      const std::uint32_t q = list[rng.below(list.size())];
      Qp& p = b.qps[q];
      Life& life = b.model.lives[q];
      const std::uint64_t dice = rng.below(1000);
      const std::uint32_t mtu = 128U << p.pmtu;
      const bool gone = life.over;
      if (dice < 10 * s.trouble) {
        // Trouble, or the way out of it. Everything for the QP is taken first: its lives must not mix.
        if (dice % 4 == 0) b.regions.table[2 * q].valid = false;
        if (dice % 4 == 1) b.state(q, rng.below(2) != 0 ? kReset : kErr);
        if (dice % 4 >= 2) {
          b.sim.run_until([&] { return b.rd.queue.empty() && b.ack.queue.empty() && b.result.queue.empty(); }, 400'000);
          std::erase_if(late, [&](const Late& l) { return l.result.qpn == q; });
          b.setup(q, static_cast<unsigned>(rng.between(1, 5)));
          b.sim.run_until([&] { return b.cfg.queue.empty(); }, 100'000);
          b.sim.run(200);
          b.model.settle_events();
        }
      } else if (dice < 550) {
        const std::uint32_t open = (p.idx - b.model.rd_done[q]) & 0xFF;
        if (open < kDepth && !gone && life.alive) {
          if (rng.percent(25)) {
            const RdReq a = b.atomic(q, rng.below(1000) < s.trouble);
            ++atomics;
            late.push_back(
                {b.sim.cycle() + rng.below(200), {q, a.idx & 0xFF, rng.next(), rng.below(1000) < s.trouble}});
          } else {
            static constexpr std::uint32_t kSizes[] = {0, 1, 63, 64, 65, 200};
            std::uint32_t length = kSizes[rng.below(6)];
            if (rng.percent(40)) length = static_cast<std::uint32_t>(rng.below(4) * mtu + rng.below(3) + 1);
            if (rng.percent(3)) length = static_cast<std::uint32_t>(rng.below(40) * mtu + rng.below(mtu));
            b.read(q, 0x1000'0000 + rng.below(1 << 30), length, rng.below(1000) < s.trouble);
          }
        }
      } else if (dice < 700) {
        if (!p.recent.empty() && !gone) {
          const RdReq r = p.recent[rng.below(p.recent.size())];
          const std::uint32_t from =
              r.kind == kAtomic ? 0 : static_cast<std::uint32_t>(rng.percent(50) ? 0 : rng.below(r.packets()));
          RdReq d = b.repeat(r, from);
          if (d.kind == kReadDup && d.length > 1 && rng.percent(15))
            d = b.repeat(r, from, static_cast<std::uint32_t>(rng.between(1, d.length)));
          if (rng.percent(10)) d.rkey ^= 1U << rng.below(32);
          if (rng.percent(5)) d.va ^= std::uint64_t{1} << rng.below(64);
          if (rng.percent(5)) {
            d.psn = (d.psn + 0x400000) & kMask;
            d.last = (d.last + 0x400000) & kMask;
          }
          b.rd.push(d.pack());
        }
      } else if (dice < 980) {
        const std::uint32_t kind = static_cast<std::uint32_t>(rng.below(10));
        if (kind < 6) p.psn = (p.psn + 1) & kMask;  // a WRITE
        const std::uint32_t psn = (p.psn - 1) & kMask;
        if (kind < 7)
          b.marked_answer(q, 0x1F, psn);
        else if (kind == 7)
          b.marked_answer(q, 0x60, p.psn);
        else if (kind == 8)
          b.marked_answer(q, static_cast<unsigned>(0x20 + rng.below(32)), p.psn);
        else
          b.marked_answer(q, 0x1F, psn, true);
      } else {
        b.sim.run(rng.below(300));
      }
      for (std::size_t i = 0; i < late.size();) {
        if (late[i].at <= b.sim.cycle()) {
          b.result.push(late[i].result.pack());
          late.erase(late.begin() + static_cast<std::ptrdiff_t>(i));
          ++expected_atomics;
        } else {
          ++i;
        }
      }
      b.sim.run(rng.below(12));
      while (b.rd.queue.size() > 20 || b.ack.queue.size() > 20) b.sim.run(10);
    }
    for (const Late& l : late) b.result.push(l.result.pack());
    b.stalls(0, 0, 0);
    b.settle();
    b.model.check_finished();
    const auto& c = b.model.counts;
    CHECK(c.requests + c.duplicates + c.drop_duplicate <= b.model.taken_rd);
    if (s.trouble == 0) {
      CHECK(c.requests == b.model.new_requests);
      CHECK(c.duplicates == b.model.hits);
      CHECK(c.drop_duplicate == b.model.misses);
      CHECK(c.drop_dead == 0);
      CHECK(b.model.commands == c.packets + c.atomics + c.answers);
    }
    CHECK(c.drop_order == 0);
    if (s.late >= 90) CHECK(b.model.overtakes > 20);
    std::printf(
        "  random: %llu commands, %llu requests, %llu duplicates (%llu dropped), %llu answers (%llu coalesced), "
        "%llu revoked, %llu failed, %llu answers ahead of requests\n",
        static_cast<unsigned long long>(b.model.commands), static_cast<unsigned long long>(c.requests),
        static_cast<unsigned long long>(c.duplicates), static_cast<unsigned long long>(c.drop_duplicate),
        static_cast<unsigned long long>(c.answers), static_cast<unsigned long long>(c.coalesced),
        static_cast<unsigned long long>(c.revoked), static_cast<unsigned long long>(c.failed),
        static_cast<unsigned long long>(b.model.overtakes));
  }
}

TEST_CASE("nothing that comes waits for m_cmd, and no event is lost while m_evt stalls") {
  Bench b(12);
  const std::uint32_t n = std::min<std::uint32_t>(kQps, 64);
  for (std::uint32_t q = 0; q < n; ++q) b.setup(q, 1);
  b.settle();
  b.cmd.stall_percent = 100;
  b.evt.stall_percent = 100;
  for (std::uint32_t q = 0; q < n; ++q) {
    b.regions.table[2 * q].valid = q % 3 != 0;
    b.read(q, 0x2000'0000, 1000 * 256);
    for (int i = 0; i < 4; ++i) b.marked_answer(q, 0x1F, b.qps[q].psn);
  }
  b.sim.run_until([&] { return b.idle(); }, 20 * n + 200);
  b.setup(n - 1, 2);  // nor does a set-up
  b.evt.stall_percent = 0;
  b.sim.run_until([&] { return b.idle(); }, 600);
  b.cmd.stall_percent = 0;
  b.settle();
  b.model.settle_events();
  CHECK(b.model.counts.revoked >= (n + 2) / 3 - 1);
}

TEST_CASE("a READ of 2^31 bytes, to its end") {
  if (kQps != 1 || kDepth != 16) return;  // half a million packets: once is enough
  Bench b(13);
  b.setup(0, 5);
  b.regions.table[0].base = 0x7FFF'0000'0000;
  const RdReq r = b.read(0, 0x7FFF'FFFF'F001, 0x8000'0000);
  b.settle(3'000'000);
  CHECK(b.model.counts.packets == 0x80000);
  CHECK(b.model.seen.back() == response(r, 0x0F, 0x7FFFF, 4096, 0));
  b.model.seen.clear();
  b.rd.push(b.repeat(r, 0x7FFFE).pack());
  same(b.take(), {response(r, 0x0D, 0x7FFFE, 4096, 0), response(r, 0x0F, 0x7FFFF, 4096, 0)});
  b.model.check_finished();
}

TEST_CASE("a flood of duplicates leaves the serving its time; how long one duplicate and one set-up take") {
  Bench b(15);
  b.setup(0, 1);
  b.settle();
  const auto cycles = [&](StreamSource& source) {
    const auto start = b.sim.cycle();
    b.sim.run_until([&] { return source.queue.empty(); }, 2000);
    return b.sim.cycle() - start;
  };
  std::vector<RdReq> all;
  for (unsigned i = 0; i < kDepth; ++i) {
    all.push_back(b.read(0, 0x2000'0000, 64));
    b.settle();
  }
  b.rd.push(b.repeat(all.back()).pack());
  const auto newest = cycles(b.rd);
  b.settle();
  b.rd.push(b.repeat(all.front()).pack());
  const auto oldest = cycles(b.rd);
  b.settle();
  b.setup(kLast, 1);
  const auto again = cycles(b.cfg);
  std::printf("  idle: duplicate of the newest %llu cycles, of the oldest %llu, set-up %llu\n",
              static_cast<unsigned long long>(newest), static_cast<unsigned long long>(oldest),
              static_cast<unsigned long long>(again));
  CHECK(newest <= 30);
  CHECK(oldest <= 30 + kDepth);
  CHECK(again <= 10 + kDepth);
  if (kQps == 1) return;
  // One QP asks again and again, another has a long READ.
  b.settle();
  b.setup(1, 1);
  b.settle();
  const auto before = b.model.commands;
  for (unsigned i = 0; i < 100; ++i) b.rd.push(b.repeat(all[i % kDepth]).pack());
  b.rd.queue.push_front(b.make(1, kRead, 0x2000'0000, 100'000 * 256).pack());
  const auto start = b.sim.cycle();
  b.sim.run_until([&] { return b.rd.queue.empty(); }, 100 * (150 + kDepth));
  const double share = static_cast<double>(b.model.commands - before) / static_cast<double>(b.sim.cycle() - start);
  std::printf("  under a flood of duplicates %.2f packets a cycle\n", share);
  CHECK(share > (P_Quantum >= 16 ? 0.15 : 0.03));
}

TEST_CASE("throughput: cycles for a READ of 64 bytes, for a packet, for an answer; latency") {
  Bench b(14);
  for (const std::uint32_t n : {1U, kQps}) {
    for (std::uint32_t q = 0; q < n; ++q) b.setup(q, 1);
    b.settle();
    // A request alone.
    b.read(0, 0x2000'0000, 64);
    const auto t0 = b.sim.cycle();
    const auto c0 = b.model.commands;
    b.sim.run_until([&] { return b.model.commands != c0; }, 200);
    const auto latency = b.sim.cycle() - t0 - 1;
    b.settle();
    // As many as the ring lets.
    const auto start = b.sim.cycle();
    const auto first = b.model.commands;
    constexpr unsigned kMany = 2000;
    unsigned posted = 0;
    std::uint32_t q = 0;
    while (b.model.commands - first < kMany) {
      for (unsigned tries = 0; tries < n && posted < kMany && b.rd.queue.size() < 4; ++tries, q = (q + 1) % n) {
        if (((b.qps[q].idx - b.model.rd_done[q]) & 0xFF) >= kDepth) continue;
        b.read(q, 0x2000'0000, 64);
        ++posted;
      }
      b.sim.step();
      REQUIRE(b.sim.cycle() - start < 200'000);
    }
    const double small = static_cast<double>(b.sim.cycle() - start) / kMany;
    b.settle();
    const auto start2 = b.sim.cycle();
    const auto first2 = b.model.commands;
    for (std::uint32_t k = 0; k < n; ++k) b.read(k, 0x2000'0000, 256 * (4096 / n));
    b.sim.run_until([&] { return b.model.commands - first2 >= (4096 / n) * n; }, 120'000);
    const double packet = static_cast<double>(b.sim.cycle() - start2) / 4096;
    b.settle();
    const auto start3 = b.sim.cycle();
    const auto first3 = b.model.commands;
    for (unsigned i = 0; i < kMany; ++i) b.marked_answer(i % n, 0x1F, b.qps[i % n].psn);
    b.sim.run_until([&] { return b.ack.queue.empty(); }, 60'000);
    const double put = static_cast<double>(b.sim.cycle() - start3) / kMany;
    b.settle();
    std::printf(
        "  %u QPs: latency %llu, %.2f cycles a READ of 64 bytes, %.2f a packet, %.2f an answer taken, "
        "%llu of %u sent\n",
        n, static_cast<unsigned long long>(latency), small, packet, put,
        static_cast<unsigned long long>(b.model.commands - first3), kMany);
    b.model.check_finished();
    CHECK(latency <= 30);
    if (kDepth >= 16 && P_Quantum >= 16) {
      CHECK(small <= 3.0);
      CHECK(packet <= (n == 1 ? 2.6 : 1.6));
    }
    CHECK(put <= 2.6);
    if (n == kQps) break;
  }
}
