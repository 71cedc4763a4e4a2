#include "sim/harness/fuzz.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "sim/harness/fuzz_frames.h"
#include "sim/harness/fuzz_ledger.h"
#include "sim/harness/model_station.h"

using namespace rocegen::sim;

namespace {

std::unique_ptr<Station> model(size_t which) { return std::make_unique<ModelStation>("a", which + 1, 100.0); }

FuzzOptions options(uint64_t seed, uint64_t frames = 3000) {
  FuzzOptions o;
  o.frames = frames;
  o.check_every = 500;
  o.seed = seed;
  return o;
}

/// A reference endpoint with one fault.
class Broken : public ModelStation {
 public:
  enum class Fault : uint8_t {
    WritesOutside,     // one byte beyond a region
    KeepsRevoked,      // regions stay usable
    NoProtection,      // protection domains are not compared
    NoSourceCheck,     // anybody may send
    NoPkeyCheck,       // of any partition
    NoIcrcCheck,       // corrupted frames are taken
    NoMacCheck,        // frames that the MAC marked are taken
    CompletesTwice,    // the same completion again
    LosesCompletion,   // one completion is missing
    SwapsCompletions,  // two of one QP change places
    CompletesUnasked,  // a completion that belongs to nothing
    LosesEvent,        // QPs die in silence
    EventUnasked,      // a QP that lives says it died
    LosesShared,       // an entry of the shared ring
    Deaf,              // frames are not looked at any more
    Stuck,             // frames are not taken any more
    Mute,              // nothing is sent any more
    SendsCorrupt,      // a frame with a wrong ICRC
  };
  Broken(Fault fault, uint64_t after) : ModelStation("a", 1, 100.0), fault_(fault), after_(after) {}

  void setup_mr(const MrConfig& mr) override {
    MrConfig m = mr;
    if (fault_ == Fault::KeepsRevoked) m.valid = true;
    if (fault_ == Fault::NoProtection) m.pd = 0;
    ModelStation::setup_mr(m);
  }
  void setup_qp(const QpConfig& qp) override {
    QpConfig q = qp;
    if (fault_ == Fault::NoProtection) q.pd = 0;
    ModelStation::setup_qp(q);
  }
  void post_recv(const Rqe& r) override {
    if (fault_ == Fault::LosesShared && r.shared && due()) return;
    ModelStation::post_recv(r);
  }
  void receive(Ps now, Bytes&& frame, bool bad) override {
    if ((fault_ == Fault::Deaf || fault_ == Fault::Stuck) && ++seen_ > after_) return;
    const Parsed p = parse(frame);
    if (fault_ == Fault::WritesOutside && p.ok() && p.frame.opcode == op::WriteOnly && due()) {
      memory_.device_write(0x1234'5678'9ABC, Bytes{1});
    }
    if (fault_ == Fault::NoMacCheck) bad = false;
    if (fault_ == Fault::NoIcrcCheck && p.fault == FrameFault::Icrc && p.has_headers) {
      frame.resize(frame.size() - p.trailing - kIcrcBytes);
      seal(frame);
    }
    if (p.ok() && fault_ == Fault::NoSourceCheck) rewrite(frame, {{find_field("ip.src"), 0x0A000002}});
    if (p.ok() && fault_ == Fault::NoPkeyCheck && qps_.contains(p.frame.dqpn)) {
      rewrite(frame, {{find_field("pkey"), qps_.at(p.frame.dqpn).pkey}});
    }
    ModelStation::receive(now, std::move(frame), bad);
  }
  bool receiving() const override { return fault_ == Fault::Stuck && seen_ > after_; }
  void advance(Ps now) override {
    if (fault_ == Fault::Mute && ++seen_ == after_) pause(now, true);
    if (fault_ == Fault::SendsCorrupt && seen_ == 0) {
      seen_ = 1;
      transmit_ = [this, onward = std::move(transmit_)](Ps t, Bytes&& frame) {
        if (++seen_ == after_) frame.back() ^= 1;
        onward(t, std::move(frame));
      };
    }
    ModelStation::advance(now);
  }
  bool poll_cqe(Cqe& out) override {
    if (again_) {
      out = *again_;
      again_.reset();
      return true;
    }
    if (fault_ == Fault::CompletesUnasked && due()) {
      out = Cqe{};
      out.qpn = info().qp_count - 1;
      out.wr_id = 0x1234;
      return true;
    }
    if (!ModelStation::poll_cqe(out)) return false;
    if (fault_ == Fault::CompletesTwice && due()) again_ = out;
    if (fault_ == Fault::LosesCompletion && due()) return ModelStation::poll_cqe(out);
    if (fault_ == Fault::SwapsCompletions && ++seen_ > after_) {
      Cqe next;
      if (ModelStation::poll_cqe(next)) {
        again_ = out;
        out = next;
      }
    }
    return true;
  }
  bool poll_event(QpEvent& out) override {
    if (fault_ == Fault::EventUnasked && due()) {
      out = {EventCause::PeerNak, info().qp_count - 1};
      return true;
    }
    if (!ModelStation::poll_event(out)) return false;
    return fault_ != Fault::LosesEvent || ++seen_ < after_;
  }

 private:
  bool due() { return ++seen_ == after_; }
  Fault fault_;
  uint64_t after_;
  uint64_t seen_ = 0;
  std::optional<Cqe> again_;
};

/// A reference endpoint that answers a WRITE of one packet before its data is in memory.
class Late : public ModelStation {
 public:
  struct Kind {
    uint64_t ns = 0;        // until the data is there
    bool says = true;       // accessing_memory() tells of it
    bool promises = false;  // that it answers afterwards
  };
  explicit Late(const Kind& kind) : ModelStation("a", 1, 100.0), kind_(kind), info_(ModelStation::info()) {
    info_.ack_after_write = kind.promises;
  }
  const StationInfo& info() const override { return info_; }
  bool accessing_memory() const override { return kind_.says && !landing_.empty(); }
  void receive(Ps now, Bytes&& frame, bool bad) override {
    const Parsed p = parse(frame);
    const uint64_t at = p.frame.va;
    const size_t n = p.ok() && p.frame.opcode == op::WriteOnly ? p.frame.payload.size() : 0;
    const Bytes before = memory_.read(at, n);
    ModelStation::receive(now, std::move(frame), bad);
    Bytes after = memory_.read(at, n);
    if (after == before) return;
    memory_.device_write(at, before);
    landing_.push_back({now + kind_.ns * kNs, at, std::move(after)});
  }
  Ps next_time() const override {
    const Ps t = ModelStation::next_time();
    return landing_.empty() ? t : std::min(t, landing_.front().when);
  }
  void advance(Ps now) override {
    for (; !landing_.empty() && landing_.front().when <= now; landing_.pop_front()) {
      memory_.device_write(landing_.front().at, landing_.front().data);
    }
    ModelStation::advance(now);
  }

 private:
  struct Landing {
    Ps when;
    uint64_t at;
    Bytes data;
  };
  Kind kind_;
  StationInfo info_;
  std::deque<Landing> landing_;
};

}  // namespace

TEST_CASE("fuzz: the reference endpoint comes to no harm") {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    FuzzOptions o = options(seed);
    if (seed == 3) o.qps = 1;  // dead half of the time
    if (seed == 4) o.qps = 60;
    const uint64_t some = o.qps == 1 ? 10 : 50;
    const FuzzResult r = run_fuzz(model, o);
    CHECK_MESSAGE(r.ok, r.message);
    CHECK(r.frames >= 3000);
    CHECK(r.kinds.size() == kFuzzKinds);
    uint64_t sum = 0;
    for (const auto& [name, count] : r.kinds) {
      CHECK_MESSAGE(count > 5, name);
      sum += count;
    }
    CHECK(sum == r.frames);
    CHECK(r.checks >= 5);
    CHECK(r.answered > 500);
    CHECK(r.completions > r.errors + some);
    CHECK(r.errors > some);
    CHECK(r.events > some);
    CHECK(r.recreated > some);
    CHECK(r.messages > 200);
    CHECK(r.withheld < r.frames / 10);
  }
}

TEST_CASE("fuzz: the same seed gives the same run, another one another") {
  const FuzzResult a = run_fuzz(model, options(9));
  const FuzzResult b = run_fuzz(model, options(9));
  const FuzzResult c = run_fuzz(model, options(10));
  CHECK(a.time == b.time);
  CHECK(a.bytes == b.bytes);
  CHECK(a.kinds == b.kinds);
  CHECK(a.trail == b.trail);
  CHECK(a.bytes != c.bytes);
}

TEST_CASE("fuzz: every fault of a station is found") {
  using F = Broken::Fault;
  struct Row {
    F fault;
    uint64_t after;
    std::vector<std::string> says;  // one of them
  };
  const std::vector<Row> rows = {
      {F::WritesOutside, 20, {"outside of every region"}},
      {F::KeepsRevoked, 0, {"outside of every region"}},
      {F::NoProtection, 0, {"of the window is", "untouched connection"}},
      {F::NoSourceCheck, 0, {"untouched", "not attacked"}},
      {F::NoPkeyCheck, 0, {"untouched", "not attacked"}},
      {F::NoIcrcCheck, 0, {"untouched", "not attacked"}},
      {F::NoMacCheck, 0, {"untouched", "not attacked"}},
      {F::CompletesTwice, 300, {"is not outstanding", "but none is next", "is next"}},
      {F::LosesCompletion, 300, {"has had none", "is next", "owes", "has no completion"}},
      {F::SwapsCompletions, 300, {"has had none", "is next", "not outstanding", "after one that failed"}},
      {F::CompletesUnasked, 300, {"not outstanding"}},
      {F::LosesEvent, 40, {"owes an event"}},
      {F::EventUnasked, 3000, {"owes", "after one that failed", "has died already"}},
      {F::LosesShared, 30, {"shared receive ring are lost", "has had none"}},
      {F::Deaf, 500, {"owes", "has no completion", "ended with retry_exc_err"}},
      {F::Stuck, 500, {"frames are not taken"}},
      {F::Mute, 2000, {"owes", "has no completion", "ended with retry_exc_err"}},
      {F::SendsCorrupt, 700, {"is no good RoCE v2 frame (icrc)"}},
  };
  for (const Row& row : rows) {
    FuzzOptions o = options(5, 12'000);
    o.stall_ns = 500'000;
    const FuzzResult r =
        run_fuzz([&](size_t) -> std::unique_ptr<Station> { return std::make_unique<Broken>(row.fault, row.after); }, o);
    const auto number = static_cast<int>(row.fault);
    CHECK_MESSAGE(!r.ok, "fault " << number << " was not found");
    CHECK_MESSAGE(r.message.find("seed 5, after ") == 0, r.message);
    CHECK_MESSAGE(std::any_of(row.says.begin(), row.says.end(),
                              [&](const std::string& s) { return r.message.find(s) != std::string::npos; }),
                  "fault " << number << ": " << r.message);
    CHECK_FALSE(r.trail.empty());
  }
}

TEST_CASE("fuzz: data may land after its ACK, not after memory is at rest, and not if the ACK promises it") {
  const auto run = [](const Late::Kind& kind) {
    return run_fuzz([&](size_t) -> std::unique_ptr<Station> { return std::make_unique<Late>(kind); }, options(5));
  };
  const FuzzResult late = run({.ns = 6000});
  CHECK_MESSAGE(late.ok, late.message);
  for (const Late::Kind& kind : {Late::Kind{.ns = 6000, .says = false}, Late::Kind{.ns = 6000, .promises = true}}) {
    const FuzzResult r = run(kind);
    CHECK_FALSE(r.ok);
    CHECK_MESSAGE(r.message.find("of the window is") != std::string::npos, r.message);
  }
}

TEST_CASE("fuzz: a failing run shrinks to the frames that matter") {
  const auto keeps = [](size_t) -> std::unique_ptr<Station> {
    return std::make_unique<Broken>(Broken::Fault::KeepsRevoked, 0);
  };
  FuzzOptions o = options(5, 12'000);
  const FuzzResult whole = run_fuzz(keeps, o);
  REQUIRE_FALSE(whole.ok);
  o.frames = whole.frames;
  o.drop = shrink_fuzz(keeps, o, 60);
  uint64_t dropped = 0;
  for (const FrameRange& r : o.drop) {
    CHECK(r.first >= dropped);
    dropped += r.end - r.first;
  }
  CHECK(dropped > o.frames / 2);
  CHECK(dropped < o.frames);
  const FuzzResult r = run_fuzz(keeps, o);
  CHECK_FALSE(r.ok);
  CHECK(r.bytes < whole.bytes / 2);
  o.drop = {{0, o.frames}};  // without any it is no fault
  CHECK(run_fuzz(keeps, o).ok);
}

TEST_CASE("fuzz: a station that is too small says so") {
  class Small : public ModelStation {
   public:
    Small() : ModelStation("a", 1, 100.0) { small_.qp_count = 3; }
    const StationInfo& info() const override { return small_; }

   private:
    StationInfo small_;
  };
  const FuzzResult r =
      run_fuzz([](size_t) -> std::unique_ptr<Station> { return std::make_unique<Small>(); }, options(1));
  CHECK_FALSE(r.ok);
  CHECK(r.message.find("3 QPs, but 4 are needed") != std::string::npos);
}

TEST_CASE("fuzz: seal makes lengths, checksum and ICRC right") {
  Frame f;
  f.dst_ip = 0x0A000001;
  f.opcode = op::SendOnly;
  f.payload = Bytes(40, 7);
  const Bytes whole = build(f);
  Bytes b = whole;
  b.resize(b.size() - kIcrcBytes);
  put_be(&b[16], 2, 0);  // IP length
  put_be(&b[38], 2, 9);  // UDP length
  seal(b);
  CHECK(b == whole);
  b.resize(kEthBytes + kIpBytes + kUdpBytes + kBthBytes + 3);
  seal(b);
  CHECK(parse(b).ok());
  CHECK(parse(b).frame.payload.size() == 3);
}

TEST_CASE("ledger: completions in order, each once") {
  QpConfig q;
  q.qpn = 5;
  const auto wqe = [](uint64_t id, bool signaled) {
    Wqe w;
    w.qpn = 5;
    w.wr_id = id;
    w.length = 10;
    w.flags = signaled ? kWqeSignaled : uint8_t{0};
    return w;
  };
  const auto cqe = [](uint64_t id, WcStatus status) {
    Cqe c;
    c.qpn = 5;
    c.wr_id = id;
    c.status = status;
    c.opcode = kWcWrite;
    c.bytes = 10;
    return c;
  };
  Ledger l("a");
  const auto start = [&] {
    l = Ledger("a");
    l.open(q, 0);
    l.post(wqe(1, false), 100);
    l.post(wqe(2, true), 110);
    l.post(wqe(3, true), 120);
  };
  start();
  CHECK(l.waiting_since(5) == 100);
  CHECK(l.take(cqe(2, WcStatus::Success), 500).empty());
  CHECK(l.waiting_since(5) == 500);
  CHECK(l.take(cqe(2, WcStatus::Success), 500).find("not outstanding") != std::string::npos);
  CHECK(l.take(cqe(3, WcStatus::RetryExcErr), 510).empty());
  CHECK(l.dead(5));
  CHECK_FALSE(l.settled(5));
  CHECK(l.owed(5) == "station a, QP 5 owes an event;");
  CHECK(l.take(QpEvent{EventCause::RetryExc, 5}).empty());
  CHECK(l.settled(5));
  CHECK(l.take(QpEvent{EventCause::PeerNak, 5}).find("died already") != std::string::npos);
  CHECK(l.waiting_since(5) == kNever);
  start();
  CHECK(l.take(cqe(3, WcStatus::Success), 1).find("0x2 before it has had none") != std::string::npos);
  start();
  CHECK(l.take(cqe(1, WcStatus::Success), 1).find("not signaled") != std::string::npos);
  start();  // after an error everything flushes, nothing is passed over
  CHECK(l.take(cqe(1, WcStatus::RemOpErr), 1).empty());
  CHECK(l.take(cqe(3, WcStatus::FlushErr), 1).find("0x2 before it") != std::string::npos);
  start();
  CHECK(l.take(cqe(1, WcStatus::FlushErr), 1).empty());
  CHECK(l.take(cqe(2, WcStatus::Success), 1).find("after one that failed") != std::string::npos);
  start();  // one request is to blame, wherever it stands
  CHECK(l.take(cqe(1, WcStatus::FlushErr), 1).empty());
  CHECK(l.take(cqe(2, WcStatus::RemOpErr), 1).empty());
  CHECK(l.take(cqe(3, WcStatus::RemOpErr), 1).find("after one that failed") != std::string::npos);
  start();
  CHECK(l.take(cqe(2, WcStatus::LocProtErr), 1).find("ended with loc_prot_err") != std::string::npos);
  start();
  Cqe odd = cqe(2, WcStatus::Success);
  odd.bytes = 9;
  CHECK(l.take(odd, 1).find("9 bytes") != std::string::npos);
  CHECK(l.take(QpEvent{EventCause::SqDrained, 5}).find("no reason") != std::string::npos);
}

TEST_CASE("ledger: receive entries of a QP in order, of a shared ring in any") {
  Ledger l("a");
  QpConfig q;
  q.qpn = 1;
  q.rq_on = true;
  l.open(q, 0);
  QpConfig s;
  s.qpn = 2;
  s.rq_on = s.srq = true;
  s.srqn = 4;
  l.open(s, 0);
  for (uint64_t id = 1; id <= 3; ++id) {
    Rqe r;
    r.qpn = 1;
    r.wr_id = id;
    r.length = 100;
    l.post(r);
    r.qpn = 4;
    r.shared = true;
    r.wr_id = id + 10;
    l.post(r);
  }
  const auto take = [&](uint32_t qpn, uint64_t id, WcStatus status, uint32_t bytes, uint8_t opcode = kWcRecv,
                        uint16_t flags = 0) {
    Cqe c;
    c.qpn = qpn;
    c.wr_id = id;
    c.status = status;
    c.bytes = bytes;
    c.opcode = opcode;
    c.flags = static_cast<uint16_t>(kCqeRecv | flags);
    return l.take(c, 0);
  };
  CHECK(take(1, 2, WcStatus::Success, 1).find("0x1 before it has had none") != std::string::npos);
  CHECK(take(1, 11, WcStatus::Success, 1).find("not outstanding") != std::string::npos);
  CHECK(take(2, 13, WcStatus::Success, 100).empty());
  CHECK(take(2, 13, WcStatus::Success, 100).find("not outstanding") != std::string::npos);
  CHECK(take(2, 11, WcStatus::Success, 1'000'000, kWcRecvWriteImm, kCqeWithImm).empty());
  CHECK(l.shared(4) == 1);
  CHECK(l.receives(1) == 3);
  CHECK(take(1, 1, WcStatus::Success, 101).find("(100 bytes)") != std::string::npos);
  CHECK(take(1, 2, WcStatus::Success, 3, kWcRecvWriteImm).find("opcode 129") != std::string::npos);
  CHECK(take(1, 3, WcStatus::RetryExcErr, 3).find("retry_exc_err") != std::string::npos);
  CHECK(take(2, 12, WcStatus::LocLenErr, 0).empty());
  CHECK(l.dead(2));
}
