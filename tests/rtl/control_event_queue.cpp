// event_queue against a model that knows in every cycle how many events are held: order, losses, counters, latency.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kDepth = P_Depth;

/// Offers events in `rate` of 100 cycles and takes them in `drain` of 100; checks everything in every cycle.
class Queue : public Agent {
 public:
  Queue(Rng& rng, Vdut& dut) : rng_(&rng), dut_(&dut) {}
  void drive() override {
    offer_ = rng_->percent(rate);
    dut_->s_evt_tvalid = offer_;
    // qp_evt_t: cause[55:49] rsp psn[47:24] qpn[23:0]; cause and qpn are kept.
    const std::uint64_t record = rng_->next() & ((std::uint64_t{1} << 56) - 1);
    dut_->s_evt_tdata = record;
    event_ = record & (std::uint64_t{0x7F} << 49 | 0xFFFFFF);
    dut_->m_evt_tready = rng_->percent(drain);
  }
  void sample() override {
    ++cycle_;
    REQUIRE_MESSAGE(dut_->s_evt_tready == 1, "s_evt was stalled");
    const bool full = held_.size() == kDepth;
    REQUIRE(dut_->event_lost_o == (offer_ && full));
    REQUIRE(dut_->cnt_evt_lost_o == (offer_ && full));
    REQUIRE(dut_->cnt_evt_events_o == offer_);
    // An event shows as soon as its latency and the events before it allow.
    const bool due = !held_.empty() && cycle_ >= held_.front().cycle + (kDepth == 2 ? 1U : 2U);
    REQUIRE((dut_->m_evt_tvalid != 0) == due);
    if (due) {
      REQUIRE(dut_->m_evt_tdata == held_.front().event);
      if (dut_->m_evt_tready) {
        held_.pop_front();
        ++taken;
      }
    }
    if (offer_) {
      ++offered;
      if (full)
        ++lost;
      else
        held_.push_back({event_, cycle_});
    }
    most = std::max(most, held_.size());
  }
  void on_reset() override {
    held_.clear();
    dut_->s_evt_tvalid = 0;
    dut_->m_evt_tready = 0;
  }
  std::size_t held() const { return held_.size(); }
  unsigned rate = 0, drain = 0;
  std::size_t offered = 0, taken = 0, lost = 0, most = 0;

 private:
  struct Event {
    std::uint64_t event;
    std::uint64_t cycle;
  };
  Rng* rng_;
  Vdut* dut_;
  bool offer_ = false;
  std::uint64_t event_ = 0;
  std::deque<Event> held_;
  std::uint64_t cycle_ = 0;
};

struct Bench {
  explicit Bench(std::uint64_t salt) : sim(salt), queue(sim.rng(), sim.dut) {
    sim.add(queue);
    sim.reset();
    sim.step();  // the FIFO opens one cycle after reset
  }
  Sim<Vdut> sim;
  Queue queue;
};

}  // namespace

TEST_CASE("a queue that nobody reads keeps its first Depth events and counts the rest as lost") {
  Bench b(1);
  b.queue.rate = 100;
  b.sim.run(3 * kDepth + 7);
  CHECK(b.queue.held() == kDepth);
  CHECK(b.queue.lost == 2 * kDepth + 7);
  b.queue.rate = 0;
  b.queue.drain = 100;
  b.sim.run(kDepth + 3);
  CHECK(b.queue.taken == kDepth);
  CHECK(b.queue.held() == 0);
}

TEST_CASE("random traffic: order, losses and counters") {
  Bench b(2);
  for (int phase = 0; phase < 200; ++phase) {
    b.queue.rate = static_cast<unsigned>(b.sim.rng().below(101));
    b.queue.drain = static_cast<unsigned>(b.sim.rng().below(101));
    b.sim.run(100 + b.sim.rng().below(200));
  }
  b.queue.rate = 0;
  b.queue.drain = 100;
  b.sim.run(kDepth + 5);
  CHECK(b.queue.offered == b.queue.taken + b.queue.lost);
  CHECK(b.queue.lost > 1000);
  CHECK(b.queue.taken > 1000);
  CHECK(b.queue.most == kDepth);
}

TEST_CASE("as fast out as in: nothing is lost, one event a cycle") {
  Bench b(3);
  b.queue.rate = 100;
  b.queue.drain = 100;
  b.sim.run(1000);
  // Depth 2 has one event in and one out in every cycle; so have the deeper ones, with two in flight.
  CHECK(b.queue.lost == 0);
  CHECK(b.queue.taken >= 997);
}

TEST_CASE("a reset empties the queue") {
  Bench b(4);
  for (int round = 0; round < 20; ++round) {
    b.queue.rate = 100;
    b.queue.drain = 0;
    b.sim.run(1 + b.sim.rng().below(kDepth + 3));
    b.sim.reset(2);
    CHECK(b.sim.dut.m_evt_tvalid == 0);
    b.queue.rate = 0;
    b.sim.step();
    b.queue.rate = 60;
    b.queue.drain = 60;
    b.sim.run(50);
  }
}
