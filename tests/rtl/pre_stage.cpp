// pre_stage with its compiled modules, against sim/model/preprocess: messages of many queue pairs and both kinds,
// their packets interleaved, with stalls; packets that are not for it between them.
#include <fstream>
#include <map>

#include "Vdut.h"
#include "sim/model/preprocess.h"
#include "tests/rtl/bench.h"
using namespace rocegen::bench;
using rocegen::sim::RowModel;

namespace {

constexpr std::size_t kUserW = 166;
constexpr std::size_t kBytes = P_DataW / 8;

struct Cmd {
  std::uint64_t mask = 0, buf_addr = 0, bytes = 0, forward = 1, last = 0, kind = 0, swap = 0, idx = 0, target = 0,
                qpn = 0, psn = 0, addr = 0;
  Bytes pack() const {
    return Record(kUserW)
        .put(mask, 8)
        .put(buf_addr, 16)
        .put(bytes, 14)
        .put(forward, 1)
        .put(last, 1)
        .put(kind, 2)
        .put(swap, 1)
        .put(idx, 8)
        .put(target, 3)
        .put(qpn, 24)
        .put(psn, 24)
        .put(addr, 64)
        .value();
  }
};

/// A message under way, and what came out of it.
struct Message {
  std::size_t left = 0;
  std::uint64_t base = 0;
  std::size_t done = 0;
  Bytes in, out;
};

struct Expected {
  Cmd cmd;
  bool on = false;
  Bytes data;  // of a packet that passes
  std::shared_ptr<Message> message;
  bool partial = false;
};

class Traffic {
 public:
  explicit Traffic(Rng& rng) : rng_(rng) {
    std::ifstream file(PRE_LAYOUT);
    model_ = std::make_unique<RowModel>(nlohmann::ordered_json::parse(file));
  }
  const RowModel& model() const { return *model_; }

  /// The next packet, and what must come of it.
  Packet next(bool rows_only, std::size_t most_bytes) {
    Expected e;
    Cmd& c = e.cmd;
    c.qpn = rng_.below(P_QpCount);
    c.buf_addr = rng_.below(1 << 16);
    c.target = rng_.below(8);
    c.psn = rng_.below(1 << 24);
    c.idx = rng_.below(64);
    if (!rows_only && rng_.percent(30)) {
      // Not ours: another mask, an atomic's result.
      c.kind = rng_.below(2);
      c.mask = rng_.below(256) & ~std::uint64_t{4};
      if (rng_.percent(30)) c.kind = 1, c.swap = 1, c.mask |= 4;
      c.idx |= rng_.below(2) << 7;
      c.last = rng_.below(2);
      c.addr = rng_.next();
      e.data = rng_.bytes(c.swap != 0 ? 8 : rng_.percent(10) ? 0 : rng_.between(1, 4 * kBytes));
      c.bytes = e.data.size();
    } else {
      e.on = true;
      c.kind = rng_.below(2);
      c.mask = rng_.below(256) | 4;
      auto& slot = open_[c.qpn * 2 + c.kind];
      // A message that nobody ends is one of a queue pair that was set up anew.
      if (!slot || slot->left == 0 || rng_.percent(2)) {
        if (slot) finish(*slot);
        slot = std::make_shared<Message>();
        slot->left = rng_.percent(10) ? rng_.below(5) : rng_.between(1, most_bytes);
        if (rng_.percent(70)) slot->left = slot->left / 4 * 4;
        slot->base = (rng_.next() >> 8) + rng_.below(8);
        c.idx |= 0x80;
      }
      Message& m = *slot;
      const std::size_t mtu = 256U << (c.qpn % 5);
      const std::size_t size = std::min(m.left, mtu);
      e.message = slot;
      Bytes data;
      for (std::size_t i = 0; i < size; ++i) {
        if (i % 4 == 0) word_ = word();
        data.push_back(static_cast<std::uint8_t>(word_ >> (8 * (i % 4))));
      }
      c.bytes = size;
      c.addr = m.base + m.in.size();
      m.in.insert(m.in.end(), data.begin(), data.end());
      m.left -= size;
      c.last = m.left == 0 ? 1 : 0;
      e.partial = c.last != 0 && m.in.size() % (4 * model_->columns().size()) != 0;
      partials += e.partial ? 1 : 0;
      e.data = data;
      if (m.left == 0) {
        ++messages;
        slot.reset();
      }
    }
    Packet packet{e.data, c.pack()};
    expected_.push_back(std::move(e));
    return packet;
  }

  void check(const Packet& packet) {
    REQUIRE(!expected_.empty());
    Expected e = std::move(expected_.front());
    expected_.pop_front();
    if (!e.on) {
      REQUIRE(packet.data == e.data);
      REQUIRE(packet.user == e.cmd.pack());
      return;
    }
    ++packets;
    Message& m = *e.message;
    const std::size_t before = model_->length(m.done);
    m.done += e.data.size();
    const std::size_t after = model_->length(m.done);
    Cmd c = e.cmd;
    c.addr = m.base + before;
    c.bytes = after - before;
    REQUIRE(packet.data.size() == after - before);
    REQUIRE(packet.user == c.pack());
    m.out.insert(m.out.end(), packet.data.begin(), packet.data.end());
    if (e.cmd.last != 0) finish(m);
  }

  bool done() const { return expected_.empty(); }
  std::uint64_t packets = 0, partials = 0, messages = 0;

 private:
  void finish(const Message& m) const {
    std::size_t where = 0;
    const bool right = model_->accepts(std::span(m.in).first(m.done), m.out, &where);
    CAPTURE(where);
    REQUIRE(right);
  }

  std::uint32_t word() {
    switch (rng_.below(5)) {
      case 0:
        return 0x80000000;
      case 1:
        return static_cast<std::uint32_t>(0 - rng_.below(4));
      default:
        return static_cast<std::uint32_t>(rng_.next() >> (32 + rng_.below(32)));
    }
  }

  Rng& rng_;
  std::unique_ptr<RowModel> model_;
  std::map<std::uint64_t, std::shared_ptr<Message>> open_;
  std::deque<Expected> expected_;
  std::uint32_t word_ = 0;
};

struct Bench {
  Sim<Vdut> sim;
  PacketSource source{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_pkt, P_DataW, kUserW)};
  PacketSink sink{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, m_pkt, P_DataW, kUserW)};
  Traffic traffic{sim.rng()};
  std::uint64_t counted = 0, partial = 0;
  struct Counters : Agent {
    explicit Counters(Bench& b) : b_(b) {}
    void drive() override {}
    void sample() override {
      b_.counted += b_.sim.dut.cnt_pre_packet_o;
      b_.partial += b_.sim.dut.cnt_pre_partial_o;
    }
    Bench& b_;
  } counters{*this};

  explicit Bench(std::uint64_t salt) : sim(salt) {
    sim.add(source);
    sim.add(sink);
    sim.add(counters);
    sink.on_packet = [this](const Packet& packet) { traffic.check(packet); };
    sim.reset();
  }
};

}  // namespace

TEST_CASE("messages of many queue pairs, interleaved, with stalls") {
  for (const unsigned stall : {0U, 30U, 80U}) {
    Bench b(stall);
    b.source.stall_percent = stall == 30 ? 60 : stall / 2;
    b.sink.stall_percent = stall;
    for (int i = 0; i < 400; ++i) b.source.push(b.traffic.next(false, i % 3 == 0 ? 200 : 6000));
    b.sim.run_until([&] { return b.traffic.done(); }, 400'000);
    CHECK(b.traffic.packets > 200);
    CHECK(b.counted == b.traffic.packets);
    CHECK(b.partial == b.traffic.partials);
    CHECK(b.traffic.messages > 20);
  }
}

TEST_CASE("one beat a cycle, a packet a cycle") {
  for (const std::size_t most : {kBytes, std::size_t{20000}}) {
    Bench b(most);
    for (int i = 0; i < 300; ++i) b.source.push(b.traffic.next(most == kBytes || i % 2 == 0, most));
    std::uint64_t beats = 0;
    for (const Packet& p : b.source.queue) beats += std::max<std::size_t>(1, (p.data.size() + kBytes - 1) / kBytes);
    std::uint64_t cycles = 0;
    b.sim.run_until([&] { return ++cycles, b.source.idle(); }, 100'000);
    // All but the time until the first one leaves: the input never waits.
    CHECK(cycles <= beats + 4);
    b.sim.run_until([&] { return b.traffic.done(); }, 1000);
  }
}
