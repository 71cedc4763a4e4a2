// Bench of ingress_open: headers and the payload that their commands bring come out as one packet each, in order, with
// the mask of their queue pair. The bench is rx_frontend: it gives payload when its command is taken, not before.
#include <map>

#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/responder_model.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBeat = P_DataW / 8;
constexpr std::size_t kCommandBits = 158;  // rx_cmd_t
constexpr std::size_t kSetupBits = 343;    // qp_cfg_t: setup and QPN on top, services at the bottom
constexpr std::size_t kUserBits = 392;     // svc_rx_t: mask, drop, tell, header
constexpr std::uint8_t kAck = 0x11;

struct Bench : Agent {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, kSetupBits)),
        hdr(sim.rng(), Port(sim.dut.s_hdr_tvalid, 1), Port(sim.dut.s_hdr_tready, 1),
            Port(sim.dut.s_hdr_tdata, Header::kWidth)),
        fetch(sim.rng(), Port(sim.dut.m_fetch_tvalid, 1), Port(sim.dut.m_fetch_tready, 1),
              Port(sim.dut.m_fetch_tdata, kCommandBits)),
        pay(sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_pay, P_DataW, kCommandBits)),
        out(sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, m_pkt, P_DataW, kUserBits)) {
    // This one first: it looks at what the others are about to take.
    for (Agent* a : {static_cast<Agent*>(this), static_cast<Agent*>(&cfg), static_cast<Agent*>(&hdr),
                     static_cast<Agent*>(&fetch), static_cast<Agent*>(&pay), static_cast<Agent*>(&out)})
      sim.add(*a);
    fetch.on_beat = [this](const Bytes& beat) {
      REQUIRE_MESSAGE(!commands.empty(), "a command without a header, seed " << seed());
      REQUIRE_MESSAGE(beat == commands.front().user, "command " << fetched << " differs, seed " << seed());
      pay.push(commands.front());
      commands.pop_front();
      fetch_cycle = sim.cycle();
      ++fetched;
    };
    out.on_packet = [this](const Packet& packet) {
      REQUIRE_MESSAGE(!want.empty(), "a packet without a header, seed " << seed());
      REQUIRE_MESSAGE(packet.user == want.front().user, "tuser of packet " << got << " differs, seed " << seed());
      REQUIRE_MESSAGE(packet.data == want.front().data, "payload of packet " << got << " differs, seed " << seed());
      want.pop_front();
      ++got;
    };
    reset();
  }

  void reset() {
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
  }
  void ready() {
    sim.run_until([&] { return sim.dut.ready_o != 0; }, P_QpCount + 4);
  }

  // Queues a header with its payload.
  void header(std::uint8_t opcode, std::uint32_t qpn, std::size_t bytes) {
    Header h = Header::unpack(sim.rng().bits(Header::kWidth));
    h.opcode = opcode;
    h.dqpn = qpn;
    h.pay_bytes = static_cast<std::uint16_t>(bytes);
    h.refuse = false;  // zero from rx_frontend
    h.tag = 0;
    h.life = 0;
    hdr.push(h.pack());
    coming.emplace_back(h, sim.rng().bytes(bytes));
  }
  // A header of any kind, `acks` of 100 plain ACKs.
  void any_header(unsigned acks) {
    Rng& rng = sim.rng();
    // Some QPNs beyond the table, also such as are like one of it in their low bits.
    std::uint32_t qpn = static_cast<std::uint32_t>(rng.below(P_QpCount));
    if (rng.percent(15)) qpn = static_cast<std::uint32_t>(P_QpCount + rng.below(0x1000000 - P_QpCount));
    if (rng.percent(10)) qpn |= 0x800000U;
    if (rng.percent(acks)) return header(kAck, qpn, 0);
    std::uint8_t opcode = static_cast<std::uint8_t>(rng.below(0x18));
    if (opcode == kAck) opcode = 0x04;
    std::size_t bytes = rng.below(5 * kBeat);
    if (rng.percent(20)) bytes = 0;
    if (rng.percent(20)) bytes = kBeat * (1 + rng.below(3));
    header(opcode, qpn, bytes);
  }
  void any_setup() {
    Rng& rng = sim.rng();
    Bytes record = rng.bits(kSetupBits);
    if (rng.percent(80)) set_field(record, kSetupBits - 1, 1, 1);
    std::uint64_t qpn = rng.below(P_QpCount);
    if (rng.percent(10)) qpn |= 0x800000U;
    set_field(record, kSetupBits - 25, 24, qpn);
    cfg.push(record);
  }

  void drive() override { sim.dut.life_i = static_cast<std::uint8_t>(sim.rng().below(64)); }
  void sample() override {
    Rng& rng = sim.rng();
    if (sim.dut.s_hdr_tvalid != 0 && sim.dut.s_hdr_tready != 0) {
      auto [h, data] = std::move(coming.front());
      coming.pop_front();
      if (sim.dut.ready_o != 0 && lives.contains(h.dqpn)) h.life = lives[h.dqpn];
      Bytes user = h.pack();
      user.resize((kUserBits + 7) / 8);
      set_field(user, kUserBits - 8, 8, sim.dut.ready_o != 0 && masks.contains(h.dqpn) ? masks[h.dqpn] : 0);
      want.push_back({data, user});
      if (h.opcode != kAck) {
        const Bytes command =
            Record(kCommandBits).put(h.buf_addr, 16).put(h.pay_bytes, 14).put(3, 2).put(0, 62).put(0, 64).value();
        commands.push_back({data, command});
      }
      taken_cycle = sim.cycle();
    }
    // A set-up in the cycle of a header counts from the next one on.
    if (sim.dut.s_cfg_tvalid != 0 && sim.dut.s_cfg_tready != 0) {
      const Bytes& record = cfg.queue.front();
      const auto qpn = static_cast<std::uint32_t>(get_field(record, kSetupBits - 25, 24));
      if (get_field(record, kSetupBits - 1, 1) != 0 && qpn < P_QpCount) {
        masks[qpn] = get_field(record, 0, 8) & ((1U << P_Services) - 1U);
        lives[qpn] = sim.dut.life_i;
      }
    }
    if (setups_percent != 0 && cfg.queue.empty() && rng.percent(setups_percent)) any_setup();
  }
  void on_reset() override {
    hdr.queue.clear();
    cfg.queue.clear();
    pay.queue.clear();
    coming.clear();
    want.clear();
    commands.clear();
    masks.clear();
    lives.clear();
  }
  bool done() const { return coming.empty() && want.empty() && commands.empty() && pay.idle(); }

  Sim<Vdut> sim;
  StreamSource cfg, hdr;
  StreamSink fetch;
  PacketSource pay;
  PacketSink out;
  unsigned setups_percent = 0;
  std::deque<std::pair<Header, Bytes>> coming;  // headers that are not taken yet
  std::deque<Packet> want;                      // packets of those that are
  std::deque<Packet> commands;                  // payload with its command, not fetched yet
  std::map<std::uint32_t, std::uint64_t> masks;
  std::map<std::uint32_t, std::uint8_t> lives;
  std::uint64_t got = 0, fetched = 0, taken_cycle = 0, fetch_cycle = 0;
};

}  // namespace

TEST_CASE("any headers and payload under any stalls and set-ups") {
  constexpr unsigned kStalls[] = {0, 30, 60, 90};
  for (unsigned round = 0; round < 40; ++round) {
    Bench b(100 + round);
    b.ready();
    Rng& rng = b.sim.rng();
    b.hdr.stall_percent = kStalls[rng.below(4)];
    b.fetch.stall_percent = kStalls[rng.below(4)];
    b.pay.stall_percent = kStalls[rng.below(4)];
    b.out.stall_percent = kStalls[rng.below(4)];
    b.setups_percent = round % 4 == 0 ? 0 : 50;
    for (unsigned i = 0; i < 2 * P_QpCount && i < 64; ++i) b.any_setup();
    const unsigned acks = static_cast<unsigned>(rng.below(4)) * 25;
    for (unsigned i = 0; i < 200; ++i) b.any_header(acks);
    b.sim.run_until([&] { return b.done(); }, 40'000);
    CHECK(b.got == 200);
    b.sim.run(20);  // nothing comes behind
  }
}

TEST_CASE("the beat of a stalled ACK stays while payload comes behind it") {
  Bench b(1);
  b.ready();
  for (unsigned i = 0; i < 20; ++i) {
    b.out.stall_percent = 100;
    b.header(kAck, 0, 0);
    b.header(0x04, 0, 3 * kBeat);
    b.sim.run_until([&] { return b.sim.dut.m_pkt_tvalid != 0; }, 20);
    const Bytes before = Port(b.sim.dut.m_pkt_tdata, P_DataW).value();
    b.sim.run_until([&] { return b.sim.dut.s_pay_tvalid != 0; }, 20);
    b.sim.run(5);
    CHECK(Port(b.sim.dut.m_pkt_tdata, P_DataW).value() == before);
    CHECK(b.sim.dut.s_pay_tready == 0);
    b.out.stall_percent = 0;
    b.sim.run_until([&] { return b.done(); }, 40);
  }
}

TEST_CASE("a header and a beat a cycle, a command a cycle behind its header") {
  for (unsigned pattern = 0; pattern < 4; ++pattern) {
    Bench b(10 + pattern);
    b.ready();
    constexpr unsigned kCount = 300;
    std::uint64_t beats = 0;
    for (unsigned i = 0; i < kCount; ++i) {
      const bool ack = pattern == 0 || (pattern == 2 && i % 2 == 0);
      const std::size_t bytes = pattern == 3 ? 3 * kBeat : kBeat;
      b.header(ack ? kAck : 0x0A, 0, ack ? 0 : bytes);
      beats += ack ? 1 : bytes / kBeat;
    }
    const auto start = b.sim.cycle();
    b.sim.run_until([&] { return b.got == kCount; }, 2000);
    CHECK(b.sim.cycle() - start <= beats + 8);
    if (pattern == 0) {
      CHECK(b.fetched == 0);
    } else if (pattern != 3) {
      CHECK(b.fetch_cycle == b.taken_cycle + 1);  // of the last header, which is no ACK and finds room
    }
  }
}

TEST_CASE("Depth headers wait for their payload, and another one for room") {
  Bench b(20);
  b.ready();
  b.pay.stall_percent = 100;
  for (unsigned i = 0; i < P_Depth + 10; ++i) b.header(0x04, 0, 1 + i);
  b.sim.run(P_Depth + 40);
  CHECK(b.fetched == P_Depth);
  CHECK(b.hdr.taken == P_Depth + 1);
  CHECK(b.got == 0);
  b.pay.stall_percent = 0;
  b.sim.run_until([&] { return b.done(); }, 2000);
  CHECK(b.got == P_Depth + 10);
}

TEST_CASE("without a place for its command a header waits, and so do those behind it") {
  Bench b(21);
  b.ready();
  b.fetch.stall_percent = 100;
  b.header(kAck, 0, 0);
  b.header(0x04, 0, 8);
  b.header(kAck, 0, 0);
  b.sim.run(50);
  CHECK(b.hdr.taken == 2);
  CHECK(b.got == 1);
  b.fetch.stall_percent = 0;
  b.sim.run_until([&] { return b.done(); }, 100);
  CHECK(b.got == 3);
}

TEST_CASE("masks are zero until set up, and after a reset; it forgets what is under way") {
  Bench b(30);
  for (unsigned i = 0; i < 20; ++i) b.any_header(50);  // taken before ready_o
  b.sim.run_until([&] { return b.done(); }, 2000);
  b.ready();
  for (unsigned i = 0; i < 4 * P_QpCount && i < 64; ++i) b.any_setup();
  b.sim.run_until([&] { return b.cfg.queue.empty(); }, 200);
  for (unsigned i = 0; i < 5; ++i) b.any_header(0);
  b.sim.run_until([&] { return b.done(); }, 2000);
  b.out.stall_percent = 90;
  for (unsigned i = 0; i < 60; ++i) b.any_header(40);
  b.sim.run_until([&] { return b.got > 40; }, 4000);
  b.reset();
  b.sim.run(10);
  CHECK(b.sim.dut.m_pkt_tvalid == 0);
  CHECK(b.sim.dut.m_fetch_tvalid == 0);
  b.out.stall_percent = 0;
  b.ready();
  for (unsigned i = 0; i < 60; ++i) b.any_header(40);
  b.sim.run_until([&] { return b.done(); }, 4000);
}
