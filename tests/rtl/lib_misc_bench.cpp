// stream_fork: each consumer gets every beat once. counter_bank: no pulse is lost, lag as documented.
// byte_rotate: every amount, frozen by ce.
#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

TEST_CASE("stream_fork gives every beat to every consumer once") {
  Sim<Vdut> sim(1);
  constexpr unsigned sizes[] = {1, 2, 3, 5};
  constexpr unsigned bases[] = {0, 1, 3, 6};
  std::vector<std::unique_ptr<StreamSource>> sources;
  std::vector<std::unique_ptr<StreamSink>> sinks;
  for (unsigned k = 0; k < 4; ++k) {
    sources.push_back(std::make_unique<StreamSource>(
        sim.rng(), Port(sim.dut.f_valid, k, 1), Port(sim.dut.f_ready, k, 1), Port(sim.dut.f_data, k * 16, 16), 20));
    sim.add(*sources[k]);
  }
  for (unsigned i = 0; i < 11; ++i) {
    sinks.push_back(std::make_unique<StreamSink>(sim.rng(), Port(sim.dut.o_valid, i, 1), Port(sim.dut.o_ready, i, 1),
                                                 Port(sim.dut.o_data, i * 16, 16), 10 * (i % 6)));
    sim.add(*sinks[i]);
  }
  sim.reset();
  std::vector<std::deque<Bytes>> sent(4);
  for (unsigned k = 0; k < 4; ++k)
    for (unsigned i = 0; i < 2000; ++i) {
      sent[k].push_back(sim.rng().bits(16));
      sources[k]->push(sent[k].back());
    }
  sim.run_until(
      [&] { return std::all_of(sinks.begin(), sinks.end(), [](auto& s) { return s->beats.size() == 2000; }); }, 40'000);
  sim.run(3);
  for (unsigned k = 0; k < 4; ++k)
    for (unsigned i = 0; i < sizes[k]; ++i) CHECK(sinks[bases[k] + i]->beats == sent[k]);
  // A consumer does not wait for the others: with all but one stalled it takes one beat, then the fork waits.
  for (unsigned i = 6; i < 11; ++i) sinks[i]->stall_percent = i == 8 ? 0 : 100;
  for (unsigned i = 0; i < 3; ++i) sources[3]->push(sim.rng().bits(16));
  sim.run(60);
  CHECK(sinks[8]->beats.size() == 2001);
  CHECK(sinks[7]->beats.size() == 2000);
}

TEST_CASE("counter_bank counts every pulse, at most max(N, 4) + 2 cycles late") {
  Sim<Vdut> sim(2);
  constexpr unsigned sizes[] = {1, 3, 8, 100};
  constexpr unsigned bases[] = {0, 1, 4, 12};
  Port pulse(sim.dut.pulse, 112);
  for (unsigned round = 0; round < 3; ++round) {
    pulse.set(0);
    sim.reset();
    std::vector<std::vector<std::uint64_t>> history(112, {0});  // true count after each cycle
    auto check_shown = [&](unsigned k, unsigned which, std::uint64_t shown) {
      if (which >= sizes[k]) {
        CHECK(shown == 0);
        return;
      }
      const auto& h = history[bases[k] + which];
      // sel was sampled one cycle ago: the count may lag from there.
      const std::size_t lag = std::max(sizes[k], 4U) + 2 + 1;
      const std::size_t oldest = h.size() > lag ? h.size() - 1 - lag : 0;
      CHECK(shown >= h[oldest]);
      CHECK(shown <= h.back());
    };
    const unsigned rates[] = {100, 50, 3};
    for (unsigned cycle = 0; cycle < 3000; ++cycle) {
      for (unsigned i = 0; i < 112; ++i) {
        const bool on = sim.rng().percent(i % 7 == 0 ? 100 : rates[round]);
        pulse.set_field_at(i, 1, on ? 1 : 0);
        history[i].push_back(history[i].back() + (on ? 1 : 0));
      }
      unsigned which[4];
      for (unsigned k = 0; k < 4; ++k) {
        which[k] = static_cast<unsigned>(
            sim.rng().below(std::uint64_t{1} << (sizes[k] > 1 ? std::bit_width(sizes[k] - 1U) : 1)));
        Port(sim.dut.sel, k * 7, 7).set(which[k]);
      }
      sim.step();
      for (unsigned k = 0; k < 4; ++k) check_shown(k, which[k], Port(sim.dut.count, k * 32, 32).get());
    }
    pulse.set(0);
    sim.run(110);
    for (unsigned k = 0; k < 4; ++k)
      for (unsigned i = 0; i < sizes[k]; ++i) {
        Port(sim.dut.sel, k * 7, 7).set(i);
        sim.step();
        CHECK(Port(sim.dut.count, k * 32, 32).get() == history[bases[k] + i].back());
      }
  }
}

TEST_CASE("byte_rotate: every amount at every size, one beat a cycle, frozen by ce") {
  Sim<Vdut> sim(3);
  constexpr unsigned sizes[] = {2, 8, 16, 64, 128};
  sim.reset();
  std::vector<std::deque<Bytes>> pipe(5);  // what stage s of rotator k holds, newest first
  for (unsigned cycle = 0; cycle < 3000; ++cycle) {
    const Bytes data = sim.rng().bytes(128);
    const unsigned amount = static_cast<unsigned>(cycle < 256 ? cycle % 128 : sim.rng().below(128));
    const bool ce = cycle < 128 || sim.rng().percent(70);
    Port(sim.dut.rotate_data, 1024).set_value(data);
    sim.dut.amount = static_cast<CData>(amount);
    sim.dut.ce = ce;
    sim.step();
    for (unsigned k = 0; k < 5; ++k) {
      if (ce) {
        Bytes want(sizes[k]);
        for (unsigned j = 0; j < sizes[k]; ++j) want[j] = data[(j + amount) % sizes[k]];
        pipe[k].push_front(want);
        if (pipe[k].size() > k + 1) pipe[k].pop_back();
      }
      if (pipe[k].size() == k + 1) CHECK(Port(sim.dut.rotated, k * 1024, sizes[k] * 8).value() == pipe[k].back());
    }
  }
}
