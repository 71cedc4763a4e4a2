#include "sim/harness/soak.h"

#include <doctest/doctest.h>

#include "sim/harness/model_station.h"

using namespace rocegen::sim;

namespace {

std::unique_ptr<Station> model(size_t which) {
  return std::make_unique<ModelStation>(which == 0 ? "a" : "b", which + 1, 100.0);
}

SoakOptions options(uint64_t seed) {
  SoakOptions o;
  o.messages = 600;
  o.check_every = 200;
  o.seed = seed;
  o.link.loss = 0.02;
  o.link.duplicate = 0.02;
  o.link.reorder = 0.02;
  o.link.corrupt = 0.02;
  return o;
}

/// Writes one byte of one accepted payload elsewhere.
class Leaky : public ModelStation {
 public:
  explicit Leaky(size_t which, bool inside) : ModelStation(which == 0 ? "a" : "b", which + 1, 100.0), inside_(inside) {}
  void receive(Ps now, Bytes&& frame, bool bad) override {
    const Parsed p = parse(frame);
    ModelStation::receive(now, std::move(frame), bad);
    if (p.ok() && p.frame.opcode == op::WriteOnly && p.frame.payload.size() > 20 && ++seen_ == 25) {
      const uint64_t at = p.frame.va + (inside_ ? 3 : uint64_t{1} << 40);
      memory_.device_write(at, Bytes{static_cast<uint8_t>(memory_.read8(at) ^ 1)});
    }
  }

 private:
  bool inside_;
  int seen_ = 0;
};

}  // namespace

TEST_CASE("soak: two reference endpoints over a bad cable") {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const SoakResult r = run_soak(model, options(seed));
    CHECK_MESSAGE(r.ok, "seed " << seed << ": " << r.message);
    CHECK(r.messages >= 600);
    for (const uint8_t op :
         {kWrWrite, kWrWriteImm, kWrSend, kWrSendImm, kWrRead, kWrCmpSwap, kWrFetchAdd, kWrSendInv}) {
      CAPTURE(op);
      CHECK(r.by_op[op] > 5);
    }
    CHECK(r.receives > 50);
    CHECK(r.lost > 10);
    CHECK(r.duplicated > 10);
    CHECK(r.reordered > 10);
    CHECK(r.corrupted > 10);
    CHECK(r.bytes > 300000);
  }
}

TEST_CASE("soak: QPs are torn down in the middle of their work and set up anew") {
  SoakOptions o = options(4);
  o.messages = 2000;
  o.resets = 0.5;
  const SoakResult r = run_soak(model, o);
  CHECK_MESSAGE(r.ok, r.message);
  CHECK(r.resets > 20);
  CHECK(r.torn > 10);
}

TEST_CASE("soak: WRITEs alone") {
  SoakOptions o = options(5);
  o.writes_only = true;
  const SoakResult r = run_soak(model, o);
  CHECK_MESSAGE(r.ok, r.message);
  CHECK(r.by_op[kWrWrite] == r.messages);
  CHECK(r.receives == 0);
}

TEST_CASE("soak: the same seed gives the same run") {
  const SoakResult a = run_soak(model, options(9));
  const SoakResult b = run_soak(model, options(9));
  CHECK(a.time == b.time);
  CHECK(a.frames == b.frames);
  CHECK(a.bytes == b.bytes);
}

namespace {

/// Spoils one answer of one kind on its way out.
class Spoiler : public ModelStation {
 public:
  Spoiler(size_t which, std::function<bool(Frame&)> edit)
      : ModelStation(which == 0 ? "a" : "b", which + 1, 100.0), edit_(std::move(edit)) {}
  void advance(Ps now) override {
    if (!hooked_) {
      hooked_ = true;
      transmit_ = [this, next = std::move(transmit_)](Ps t, Bytes&& b) {
        Parsed p = parse(b);
        if (!done_ && p.ok() && edit_(p.frame) && ++seen_ == 10) {
          done_ = true;
          next(t, build(p.frame));
        } else {
          next(t, std::move(b));
        }
      };
    }
    ModelStation::advance(now);
  }

 private:
  std::function<bool(Frame&)> edit_;
  bool hooked_ = false;
  bool done_ = false;
  int seen_ = 0;
};

}  // namespace

TEST_CASE("soak: a wrong response, a wrong value, a wrong word of immediate data are found") {
  const auto found = [](std::function<bool(Frame&)> edit) {
    SoakOptions o = options(6);
    o.link = LinkConfig{};
    return run_soak([&](size_t i) -> std::unique_ptr<Station> { return std::make_unique<Spoiler>(i, edit); }, o)
        .message;
  };
  const std::string read = found([](Frame& f) {
    if (f.opcode < op::ReadRespFirst || f.opcode > op::ReadRespOnly || f.payload.empty()) return false;
    f.payload.back() ^= 1;
    return true;
  });
  CHECK_MESSAGE(read.find("its result is wrong when it completes") != std::string::npos, read);
  const std::string value = found([](Frame& f) {
    f.original ^= 1;
    return f.opcode == op::AtomicAck;
  });
  CHECK_MESSAGE((value.empty() || value.find("its result is wrong when it completes") != std::string::npos), value);
  const std::string imm = found([](Frame& f) {
    f.imm ^= 1;
    return opcode_layout(f.opcode).imm;
  });
  CHECK_MESSAGE(imm.find("imm 0x") != std::string::npos, imm);
  const std::string add = found([](Frame& f) {
    f.swap_add ^= 1;
    return f.opcode == op::FetchAdd;
  });
  CHECK_MESSAGE((add.find("exactly once") != std::string::npos || add.find("cell of all QPs") != std::string::npos ||
                 add.find("its result is wrong") != std::string::npos),
                add);
  const std::string send = found([](Frame& f) {
    if ((f.opcode > op::SendOnlyImm) || f.payload.empty()) return false;
    f.payload.front() ^= 1;
    return true;
  });
  CHECK_MESSAGE(send.find("are not in its buffer") != std::string::npos, send);
}

TEST_CASE("soak: one wrong byte anywhere is found") {
  for (const bool inside : {false, true}) {
    const SoakResult r =
        run_soak([&](size_t i) -> std::unique_ptr<Station> { return std::make_unique<Leaky>(i, inside); }, options(2));
    CHECK_FALSE(r.ok);
    CHECK(r.message.find(inside ? "target of QP" : "outside of every region") != std::string::npos);
  }
}

TEST_CASE("soak: a dead cable is reported, not waited for") {
  SoakOptions o = options(1);
  o.link.loss = 1.0;
  o.stall_ns = 200'000;
  const SoakResult r = run_soak(model, o);
  CHECK_FALSE(r.ok);
  CHECK((r.message.find("no completion for 200 us") == 0 || r.message.find("event retry_exc") != std::string::npos));
}
