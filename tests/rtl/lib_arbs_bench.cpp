// stream_arb and record_arb with 1, 2, 3, 5 and 16 inputs: whole packets, order within an input, nothing
// lost, fairness, priority, rate.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr unsigned kArbs = 10;
constexpr unsigned kBytes = P_DataW / 8;
unsigned inputs_of(unsigned arb) {
  constexpr unsigned sizes[] = {1, 2, 3, 5, 16};
  return sizes[arb / 2];
}
unsigned base_of(unsigned arb) {
  constexpr unsigned bases[] = {0, 1, 3, 6, 11};
  return bases[arb / 2] + 27 * (arb % 2);
}

struct Fixture {
  Sim<Vdut> sim;
  std::vector<std::unique_ptr<PacketSource>> sources;
  std::vector<std::unique_ptr<PacketSink>> sinks;
  std::vector<std::unique_ptr<StreamSource>> record_sources;
  std::vector<std::unique_ptr<StreamSink>> record_sinks;
  std::vector<std::deque<Packet>> sent = std::vector<std::deque<Packet>>(54);
  std::vector<std::deque<Bytes>> records = std::vector<std::deque<Bytes>>(54);

  explicit Fixture(std::uint64_t salt) : sim(salt) {
    auto& d = sim.dut;
    for (unsigned i = 0; i < 54; ++i) {
      sources.push_back(std::make_unique<PacketSource>(
          sim.rng(),
          PacketPorts{Port(d.s_valid, i, 1), Port(d.s_ready, i, 1), Port(d.s_data, i * P_DataW, P_DataW),
                      Port(d.s_keep, i * kBytes, kBytes), Port(d.s_last, i, 1), Port(d.s_user, i * P_UserW, P_UserW)}));
      record_sources.push_back(std::make_unique<StreamSource>(sim.rng(), Port(d.r_valid, i, 1), Port(d.r_ready, i, 1),
                                                              Port(d.r_data, i * P_DataW, P_DataW)));
      sim.add(*sources[i]);
      sim.add(*record_sources[i]);
    }
    for (unsigned a = 0; a < kArbs; ++a) {
      sinks.push_back(std::make_unique<PacketSink>(
          sim.rng(),
          PacketPorts{Port(d.m_valid, a, 1), Port(d.m_ready, a, 1), Port(d.m_data, a * P_DataW, P_DataW),
                      Port(d.m_keep, a * kBytes, kBytes), Port(d.m_last, a, 1), Port(d.m_user, a * P_UserW, P_UserW)}));
      record_sinks.push_back(std::make_unique<StreamSink>(sim.rng(), Port(d.o_valid, a, 1), Port(d.o_ready, a, 1),
                                                          Port(d.o_data, a * P_DataW, P_DataW)));
      sim.add(*sinks[a]);
      sim.add(*record_sinks[a]);
    }
    sim.reset();
  }
  /// A packet's user and first byte name its input within the arbiter.
  void push(unsigned lane, unsigned input, std::size_t bytes) {
    Packet p{sim.rng().bytes(bytes), {static_cast<std::uint8_t>(input)}};
    if (bytes != 0) p.data[0] = static_cast<std::uint8_t>(input);
    sent[lane].push_back(p);
    sources[lane]->push(p);
    Bytes record = sim.rng().bits(P_DataW);
    record[0] = static_cast<std::uint8_t>(input);
    records[lane].push_back(record);
    record_sources[lane]->push(record);
  }
  /// Takes what came out apart by input and compares with what that input sent.
  void check() {
    for (unsigned a = 0; a < kArbs; ++a) {
      INFO("arbiter " << a);
      for (const Packet& p : sinks[a]->packets) {
        auto& queue = sent[base_of(a) + p.user[0]];
        REQUIRE(!queue.empty());
        CHECK(p == queue.front());
        queue.pop_front();
      }
      sinks[a]->packets.clear();
      for (const Bytes& r : record_sinks[a]->beats) {
        auto& queue = records[base_of(a) + r[0]];
        REQUIRE(!queue.empty());
        CHECK(r == queue.front());
        queue.pop_front();
      }
      record_sinks[a]->beats.clear();
    }
    for (unsigned i = 0; i < 54; ++i) {
      CHECK(sent[i].empty());
      CHECK(records[i].empty());
    }
  }
};

}  // namespace

TEST_CASE("whole packets, in order within an input, nothing lost") {
  Fixture f(1);
  for (unsigned round = 0; round < 20; ++round) {
    std::size_t total = 0;
    for (unsigned a = 0; a < kArbs; ++a) {
      f.sinks[a]->stall_percent = f.sim.rng().percent(50) ? 0 : 40;
      f.record_sinks[a]->stall_percent = f.sim.rng().percent(50) ? 0 : 40;
      for (unsigned i = 0; i < inputs_of(a); ++i) {
        const unsigned lane = base_of(a) + i;
        f.sources[lane]->stall_percent = static_cast<unsigned>(f.sim.rng().below(3) * 40);
        f.record_sources[lane]->stall_percent = static_cast<unsigned>(f.sim.rng().below(3) * 40);
        const auto count = f.sim.rng().below(30);
        for (unsigned n = 0; n < count; ++n, ++total) f.push(lane, i, f.sim.rng().below(20));
      }
    }
    f.sim.run_until(
        [&] {
          std::size_t out = 0, out_records = 0;
          for (unsigned a = 0; a < kArbs; ++a) {
            out += f.sinks[a]->packets.size();
            out_records += f.record_sinks[a]->beats.size();
          }
          return out == total && out_records == total;
        },
        50'000);
    f.sim.run(3);
    f.check();
  }
}

TEST_CASE("round robin serves all equally, priority serves input 0 first, no cycle is lost") {
  Fixture f(2);
  for (unsigned a = 0; a < kArbs; ++a)
    for (unsigned i = 0; i < inputs_of(a); ++i)
      for (unsigned n = 0; n < 200; ++n) f.push(base_of(a) + i, i, 1 + f.sim.rng().below(3));  // one beat each
  f.sim.run(200 + P_Registered);
  for (unsigned a = 0; a < kArbs; ++a) {
    INFO("arbiter " << a << " with " << inputs_of(a) << " inputs");
    CHECK(f.sinks[a]->packets.size() >= 199);
    CHECK(f.record_sinks[a]->beats.size() >= 199);
    std::vector<unsigned> served(16, 0), served_records(16, 0);
    for (const Packet& p : f.sinks[a]->packets) ++served[p.user[0]];
    for (const Bytes& r : f.record_sinks[a]->beats) ++served_records[r[0]];
    for (unsigned i = 0; i < inputs_of(a); ++i) {
      if (a % 2 == 1) {
        CHECK((i == 0 ? served[i] >= 199 : served[i] == 0));
        CHECK((i == 0 ? served_records[i] >= 199 : served_records[i] == 0));
      } else {
        CHECK(served[i] >= 199 / inputs_of(a));
        CHECK(served[i] <= 200 / inputs_of(a) + 1);
        CHECK(served_records[i] >= 199 / inputs_of(a));
        CHECK(served_records[i] <= 200 / inputs_of(a) + 1);
      }
    }
  }
}

TEST_CASE("a waiting input is served after at most N - 1 others, whatever they do") {
  Fixture f(3);
  // Everybody but input N - 1 floods; that one sends a packet now and then.
  std::vector<unsigned> gap(kArbs, 0), worst(kArbs, 0);
  for (unsigned a = 0; a < kArbs; a += 2) {
    const unsigned n = inputs_of(a);
    for (unsigned i = 0; i + 1 < n; ++i) {
      f.sources[base_of(a) + i]->stall_percent = 30;
      for (unsigned k = 0; k < 3000; ++k) f.push(base_of(a) + i, i, 1 + f.sim.rng().below(12));
    }
    f.sources[base_of(a) + n - 1]->stall_percent = 0;
    for (unsigned k = 0; k < 3000; ++k) f.push(base_of(a) + n - 1, n - 1, 1 + f.sim.rng().below(12));
    f.sinks[a]->on_packet = [&, a, n](const Packet& p) {
      gap[a] = p.user[0] == n - 1 ? 0 : gap[a] + 1;
      worst[a] = std::max(worst[a], gap[a]);
    };
  }
  f.sim.run(3000);
  for (unsigned a = 0; a < kArbs; a += 2) {
    INFO("arbiter " << a);
    CHECK(worst[a] <= inputs_of(a) - 1);
  }
}
