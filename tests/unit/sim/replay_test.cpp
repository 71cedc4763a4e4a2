#include "sim/harness/replay.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "sim/harness/model_station.h"

using namespace rocegen::sim;

namespace {

const std::string kCaptures = ROCEGEN_SOURCE_DIR "/tests/captures";

PcapFile capture(const std::string& name) {
  PcapFile f;
  std::string error;
  REQUIRE_MESSAGE(read_pcap(kCaptures + "/" + name, f, error), error);
  return f;
}

std::unique_ptr<Station> model(size_t) { return std::make_unique<ModelStation>("a", 1, 100.0); }

/// A reference endpoint with fewer QPs and regions.
class Small : public ModelStation {
 public:
  Small(uint32_t qps, uint32_t mrs) : ModelStation("a", 1, 100.0) {
    small_ = ModelStation::info();
    small_.qp_count = qps;
    small_.mr_count = mrs;
  }
  const StationInfo& info() const override { return small_; }
  void setup_qp(const QpConfig& qp) override {
    CHECK(qp.qpn < small_.qp_count);
    ModelStation::setup_qp(qp);
  }
  void setup_mr(const MrConfig& mr) override {
    CHECK(mr.index < small_.mr_count);
    ModelStation::setup_mr(mr);
  }

 private:
  StationInfo small_;
};

/// A reference endpoint that says it keeps what comes behind a gap, and whose ACKs `change` may change.
class Ahead : public ModelStation {
 public:
  explicit Ahead(std::function<void(Bytes&, Frame&)> change) : ModelStation("a", 1, 100.0), change_(std::move(change)) {
    info_ahead_ = ModelStation::info();
    info_ahead_.recovery = "selective";
  }
  const StationInfo& info() const override { return info_ahead_; }
  void configure(const LocalAddress& a) override {
    ModelStation::configure(a);
    on_transmit([this, out = transmit_](Ps now, Bytes&& frame) {
      Parsed p = parse(frame);
      if (change_ && p.frame.opcode == op::Ack) change_(frame, p.frame);
      if (!frame.empty()) out(now, std::move(frame));
    });
  }

 private:
  std::function<void(Bytes&, Frame&)> change_;
  StationInfo info_ahead_;
};

}  // namespace

TEST_CASE("replay: the reference endpoint answers as Linux did in every committed capture") {
  size_t requests = 0, answers = 0, bytes = 0, files = 0;
  for (const auto& e : std::filesystem::directory_iterator(kCaptures)) {
    if (e.path().extension() != ".pcap") continue;
    const ReplayResult r = run_replay(capture(e.path().filename().string()), model);
    CHECK_MESSAGE(r.ok, e.path().filename().string() << ": " << r.message);
    const bool loss = e.path().filename().string().rfind("loss-", 0) == 0;
    if (loss) CHECK(r.lossy);
    requests += r.requests;
    answers += r.answers;
    bytes += r.bytes;
    ++files;
  }
  CHECK(files >= 12);
  CHECK(requests >= 480);
  CHECK(answers >= 120);
  CHECK(bytes >= 300000);
}

TEST_CASE("replay: the reference endpoint asks as Linux did in every committed capture without loss") {
  size_t requests = 0, files = 0, skipped = 0;
  for (const auto& e : std::filesystem::directory_iterator(kCaptures)) {
    if (e.path().extension() != ".pcap") continue;
    const ReplayResult r = run_replay_requester(capture(e.path().filename().string()), model);
    CHECK_MESSAGE((r.ok || r.skipped), e.path().filename().string() << ": " << r.message);
    if (r.skipped) CHECK(r.lossy);
    requests += r.requests;
    skipped += r.skipped ? 1 : 0;
    ++files;
  }
  CHECK(files - skipped >= 8);
  CHECK(requests >= 100);
}

TEST_CASE("replay: captures of every operation, if they are there") {
  // Too large for the repository; beside the project in the laboratory.
  const std::filesystem::path shared = std::filesystem::path(ROCEGEN_SOURCE_DIR) / "../shared/captures";
  if (!std::filesystem::exists(shared)) return;
  for (const auto& e : std::filesystem::directory_iterator(shared)) {
    if (e.path().extension() != ".pcap") continue;
    PcapFile f;
    std::string error;
    REQUIRE_MESSAGE(read_pcap(e.path().string(), f, error), error);
    CAPTURE(e.path().filename().string());
    const ReplayResult r = run_replay(f, model);
    CHECK_MESSAGE(r.ok, r.message);
    const ReplayResult q = run_replay_requester(f, model);
    CHECK_MESSAGE((q.ok || (q.skipped && q.lossy)), q.message);
  }
}

TEST_CASE("replay: a requester that departs from the capture is found") {
  // Another path MTU, key or length makes other requests.
  const PcapFile good = capture("rc-mtu512-write.pcap");
  const auto changed = [&](const char* field, uint64_t flip, uint8_t opcode) {
    PcapFile f = good;
    bool done = false;
    for (PcapFrame& x : f.frames) {
      const Parsed p = parse(x.data);
      if (done || !p.ok() || p.frame.opcode != opcode) continue;
      done = true;
      REQUIRE(rewrite(x.data, {{find_field(field), find_field(field)->get(p) ^ flip}}));
    }
    REQUIRE(done);
    return run_replay_requester(f, model);
  };
  CHECK(run_replay_requester(good, model).ok);
  CHECK_FALSE(changed("pkey", 1, op::WriteLast).ok);
  CHECK_FALSE(changed("se", 1, op::WriteOnly).ok);
  CHECK_FALSE(changed("syndrome", 0x60 ^ 0x1F, op::Ack).ok);
}

TEST_CASE("replay: a capture whose answers were changed does not match") {
  const PcapFile good = capture("rc-mtu512-write.pcap");
  for (const char* const field : {"psn", "msn", "syndrome", "pkey", "dqpn"}) {
    PcapFile f = good;
    for (PcapFrame& x : f.frames) {
      const Parsed p = parse(x.data);
      if (!p.ok() || p.frame.opcode != op::Ack || p.frame.msn != 5) continue;
      uint64_t v = find_field(field)->get(p) ^ 1;
      if (std::string(field) == "syndrome") v = kSynNakPsn;
      REQUIRE(rewrite(x.data, {{find_field(field), v}}));
    }
    const ReplayResult r = run_replay(f, model);
    CHECK_MESSAGE(!r.ok, field);
  }
  // Credits, ToS and the UDP source port are not fixed by the standard.
  PcapFile f = good;
  for (PcapFrame& x : f.frames) {
    const Parsed p = parse(x.data);
    if (p.ok() && p.frame.opcode == op::Ack)
      REQUIRE(rewrite(x.data, {{find_field("syndrome"), 5}, {find_field("ip.tos"), 9}, {find_field("mig"), 1}}));
  }
  CHECK(run_replay(f, model).ok);
}

TEST_CASE("replay: an answer that is missing, or one too many, is found") {
  const PcapFile good = capture("rc-mtu512-write.pcap");
  std::vector<size_t> acks;
  for (size_t i = 0; i < good.frames.size(); ++i) {
    if (parse(good.frames[i].data).frame.opcode == op::Ack) acks.push_back(i);
  }
  REQUIRE(acks.size() == 8);
  PcapFile f = good;
  f.frames.erase(f.frames.begin() + static_cast<std::ptrdiff_t>(acks[3]));
  CHECK_FALSE(run_replay(f, model).ok);
  f = good;
  f.frames.insert(f.frames.begin() + static_cast<std::ptrdiff_t>(acks[3]), good.frames[acks[3]]);
  CHECK_FALSE(run_replay(f, model).ok);
}

TEST_CASE(
    "replay: a station that keeps what comes behind a gap may be further than go-back-N, not beyond what arrived") {
  const auto run = [](const char* name, std::function<void(Bytes&, Frame&)> change) {
    return run_replay(capture(name), [&](size_t) { return std::make_unique<Ahead>(change); });
  };
  const auto set = [](Bytes& b, const char* field, uint64_t value) {
    REQUIRE(rewrite(b, {{find_field(field), value}}));
  };
  for (const char* const name : {"loss-loss2-write.pcap", "loss-loss10-write.pcap", "loss-reorder-write.pcap"}) {
    const ReplayResult r = run(name, {});
    CHECK_MESSAGE(r.ok, name << ": " << r.message);
  }
  const char* const loss = "loss-loss10-write.pcap";
  const auto nak = [](const Frame& f) { return ack_kind(f.syndrome) == AckKind::Nak; };
  // One packet further than what arrived; a packet too few; a NAK for what is acknowledged; another MSN; no answers.
  CHECK_FALSE(run(loss, [&](Bytes& b, Frame& f) { set(b, "psn", psn_add(f.psn, 1)); }).ok);
  CHECK_FALSE(run(loss, [&](Bytes& b, Frame& f) {
                if (!nak(f)) set(b, "psn", psn_sub(f.psn, 1));
              }).ok);
  CHECK_FALSE(run(loss, [&, n = 0](Bytes& b, Frame& f) mutable {
                if (nak(f) && ++n == 2) set(b, "psn", psn_sub(f.psn, 20));
              }).ok);
  CHECK_FALSE(run(loss, [&](Bytes& b, Frame& f) {
                if (!nak(f)) set(b, "msn", f.msn + 1);
              }).ok);
  CHECK_FALSE(run(loss, [](Bytes& b, Frame&) { b.clear(); }).ok);
}

TEST_CASE("replay: QPNs and keys that the station lacks are translated") {
  for (const char* const name : {"rc-mtu1024-write.pcap", "loss-dup-write.pcap", "host-interop.pcap"}) {
    const PcapFile c = capture(name);
    const ReplayResult r =
        run_replay(c, [](size_t) -> std::unique_ptr<Station> { return std::make_unique<Small>(9, 2); });
    CHECK_MESSAGE(r.ok, name << ": " << r.message);
    CHECK(std::any_of(r.notes.begin(), r.notes.end(),
                      [](const std::string& n) { return n.find("translated") != std::string::npos; }));
  }
  const ReplayResult r = run_replay_requester(
      capture("host-interop.pcap"), [](size_t) -> std::unique_ptr<Station> { return std::make_unique<Small>(9, 2); });
  CHECK_MESSAGE(r.ok, r.message);
}

TEST_CASE("replay: a station that is too small skips the capture") {
  const auto skipped = [](uint32_t qps, uint32_t mrs) {
    const ReplayResult r = run_replay(capture("host-interop.pcap"), [&](size_t) -> std::unique_ptr<Station> {
      return std::make_unique<Small>(qps, mrs);
    });
    CHECK_FALSE(r.ok);
    CHECK(r.skipped);
    return r.message;
  };
  CHECK(skipped(2, 8) == "the station has 2 QPs, the capture uses more");
  CHECK(skipped(16, 0) == "the station has 0 regions, the capture uses more");
}

TEST_CASE("replay: a region given by hand, and a capture without WRITEs") {
  ReplayOptions o;
  o.regions = {{0x218, 0x10000000, 1u << 20}};
  CHECK(run_replay(capture("rc-errors.pcap"), model, o).ok);
  // With a longer region the out-of-bounds WRITE would be taken: not what Linux did.
  o.regions[0].length = 2u << 20;
  CHECK_FALSE(run_replay(capture("rc-errors.pcap"), model, o).ok);
  PcapFile none;
  CHECK(run_replay(none, model).message == "the capture holds no request of a reliable connection");
}
