// Bench of ingress_close: what the services let pass shows as rx_frontend would show it. The bench is the services in
// front, whose verdict counts with the last beat only, and the transport behind, which fetches or lets go.
#include <array>

#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/responder_model.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kBeat = P_DataW / 8;
constexpr std::size_t kCommandBits = 158;  // rx_cmd_t
constexpr std::size_t kUserBits = 392;     // svc_rx_t: mask, drop, tell, header
constexpr std::size_t kMaxBeats = (P_MaxPayload + kBeat - 1) / kBeat;
constexpr std::uint8_t kAck = 0x11, kWriteOnly = 0x0A;
constexpr unsigned kEvtService = 13;
constexpr unsigned kEvtDepth = 8;

bool is_response(std::uint8_t opcode) { return (opcode >= 0x0D && opcode <= 0x10) || opcode == 0x12; }

struct Verdict {
  bool drop = false, tell = false, refuse = false;
  std::uint8_t tag = 0;
};

struct Bench : Agent {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        in(sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_pkt, P_DataW, kUserBits)),
        hdr(sim.rng(), Port(sim.dut.m_hdr_tvalid, 1), Port(sim.dut.m_hdr_tready, 1),
            Port(sim.dut.m_hdr_tdata, Header::kWidth)),
        fetch(sim.rng(), Port(sim.dut.s_fetch_tvalid, 1), Port(sim.dut.s_fetch_tready, 1),
              Port(sim.dut.s_fetch_tdata, kCommandBits)),
        pay(sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, m_pay, P_DataW, kCommandBits)),
        evt(sim.rng(), Port(sim.dut.m_evt_tvalid, 1), Port(sim.dut.m_evt_tready, 1),
            Port(sim.dut.m_evt_tdata, Event::kWidth)),
        user(sim.dut.s_pkt_tuser, kUserBits) {
    // This one behind the source of packets, whose tuser it changes, and in front of the rest.
    for (Agent* a : {static_cast<Agent*>(&in), static_cast<Agent*>(this), static_cast<Agent*>(&hdr),
                     static_cast<Agent*>(&fetch), static_cast<Agent*>(&pay), static_cast<Agent*>(&evt)})
      sim.add(*a);
    hdr.on_beat = [this](const Bytes& beat) { got_header(Header::unpack(beat)); };
    pay.on_packet = [this](const Packet& packet) {
      REQUIRE_MESSAGE(!payload.empty(), "payload that nobody fetched, seed " << seed());
      REQUIRE_MESSAGE(packet == payload.front(), "payload " << payloads << ", seed " << seed());
      payload.pop_front();
      ++payloads;
    };
    evt.on_beat = [this](const Bytes& beat) {
      REQUIRE_MESSAGE(!events.empty(), "an event for nothing, seed " << seed());
      REQUIRE(beat == Record(Event::kWidth).put(0, 6).put(kEvtService, 7).put(0, 25).put(events.front(), 24).value());
      events.pop_front();
    };
    reset();
  }
  void reset() {
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
  }
  void packet(std::uint8_t opcode, std::size_t bytes, Verdict verdict = {}) {
    Header h = Header::unpack(sim.rng().bits(Header::kWidth));
    h.opcode = opcode;
    h.pay_bytes = static_cast<std::uint16_t>(bytes);
    h.refuse = verdict.refuse;
    h.tag = verdict.tag;
    Bytes record = h.pack();
    record.resize((kUserBits + 7) / 8);
    set_field(record, kUserBits - 10, 10,
              (sim.rng().below(256) << 2) | (unsigned{verdict.drop} << 1) | unsigned{verdict.tell});
    in.push(sim.rng().bytes(bytes), record);
  }
  void any_packet() {
    Rng& rng = sim.rng();
    auto opcode = static_cast<std::uint8_t>(rng.below(0x18));
    std::size_t bytes = rng.percent(20) ? 0 : 1 + rng.below(rng.percent(20) ? P_MaxPayload : 4 * kBeat);
    bytes = std::min<std::size_t>(bytes, P_MaxPayload);
    if (rng.percent(10)) bytes = P_MaxPayload;
    if (rng.percent(10)) bytes = 8;
    if (rng.percent(15)) opcode = kAck;
    if (opcode == kAck) bytes = 0;
    packet(opcode, bytes,
           {rng.percent(20), rng.percent(20), rng.percent(30), static_cast<std::uint8_t>(rng.below(256))});
  }

  void drive() override {
    if (!in.idle()) data = in.queue.front().data;  // the source forgets it in sample()
    // Whatever the verdict says before the last beat does not count.
    if (sim.dut.s_pkt_tvalid == 0 || sim.dut.s_pkt_tlast != 0) return;
    user.set_field_at(kUserBits - 10, 2, noise >> 9);
    user.set_field_at(6, 9, noise);  // above the life
  }
  void sample() override {
    if (inside) REQUIRE_MESSAGE(sim.dut.s_pkt_tready != 0, "a packet was begun without room, seed " << seed());
    if (sim.dut.s_pkt_tvalid != 0 && sim.dut.s_pkt_tready != 0) {
      inside = sim.dut.s_pkt_tlast == 0;
      noise = static_cast<std::uint32_t>(sim.rng().below(1 << 11));
      if (sim.dut.s_pkt_tlast != 0) {
        taken(Port(sim.dut.s_pkt_tuser, kUserBits).value());
        taken_cycle = sim.cycle();
      }
    }
    if (sim.dut.s_fetch_tvalid != 0 && sim.dut.s_fetch_tready != 0) fetch_cycle = sim.cycle();
    if (sim.dut.m_pay_tvalid != 0 && !pay_seen) pay_cycle = sim.cycle();
    pay_seen = sim.dut.m_pay_tvalid != 0;
    counters[0] += sim.dut.cnt_svc_packets_o;
    counters[1] += sim.dut.cnt_svc_dropped_o;
    counters[2] += sim.dut.cnt_svc_refused_o;
    counters[3] += sim.dut.cnt_svc_told_o;
  }
  /// A packet has gone in; its payload is kept until its header comes out.
  void taken(const Bytes& record) {
    Header h = Header::unpack(record);
    const bool drop = get_field(record, kUserBits - 9, 1) != 0, tell = get_field(record, kUserBits - 10, 1) != 0;
    ++wanted[0];
    wanted[1] += drop;
    wanted[2] += h.refuse && !drop && h.opcode != kAck;
    wanted[3] += tell;
    if (tell) events.push_back(h.dqpn);
    if (drop) return;
    if (h.refuse && is_response(h.opcode)) h.syndrome = 0x63;
    if (h.opcode == kAck || is_response(h.opcode)) h.refuse = false;
    headers.push_back({h, data});
  }
  void got_header(const Header& got) {
    REQUIRE_MESSAGE(!headers.empty(), "a header for nothing, seed " << seed());
    auto [want, bytes] = std::move(headers.front());
    headers.pop_front();
    want.buf_addr = got.buf_addr;
    REQUIRE_MESSAGE(got == want, "header " << headers_seen << " opcode " << int(want.opcode) << ", seed " << seed());
    header_cycle = sim.cycle();
    ++headers_seen;
    if (got.opcode == kAck) return;
    Rng& rng = sim.rng();
    const bool forward = rng.percent(80), swap = forward && bytes.size() == 8 && rng.percent(50);
    const Bytes command = Record(kCommandBits)
                              .put(got.buf_addr, 16)
                              .put(got.pay_bytes, 14)
                              .put(forward, 1)
                              .put(rng.below(8), 3)
                              .put(swap, 1)
                              .put(rng.next() >> 5, 59)
                              .put(rng.next(), 64)
                              .value();
    if (swap) std::ranges::reverse(bytes);
    if (forward) payload.push_back({bytes, command});
    fetch.push(command);
  }
  void on_reset() override {
    inside = false;
    in.queue.clear();
    fetch.queue.clear();
    headers.clear();
    payload.clear();
    events.clear();
    for (auto* counts : {&counters, &wanted}) counts->fill(0);
  }
  bool done() const { return in.idle() && headers.empty() && fetch.queue.empty() && payload.empty() && events.empty(); }
  void finish(std::uint64_t limit) {
    sim.run_until([&] { return done(); }, limit);
    sim.run(10);  // nothing comes behind
    CHECK(counters == wanted);
  }

  Sim<Vdut> sim;
  PacketSource in;
  StreamSink hdr;
  StreamSource fetch;
  PacketSink pay;
  StreamSink evt;
  Port user;
  std::uint32_t noise = 0;
  bool inside = false;                           // the model has begun a packet
  Bytes data;                                    // of the packet that is offered
  std::deque<std::pair<Header, Bytes>> headers;  // that have to come
  std::deque<Packet> payload;
  std::deque<std::uint32_t> events;
  std::array<std::uint64_t, 4> counters{}, wanted{};  // packets, dropped, refused, told
  std::uint64_t headers_seen = 0, payloads = 0;
  std::uint64_t taken_cycle = 0, header_cycle = 0, fetch_cycle = 0, pay_cycle = 0;
  bool pay_seen = false;
};

}  // namespace

TEST_CASE("any packets and verdicts under any stalls") {
  constexpr unsigned kStalls[] = {0, 30, 60, 95};
  std::array<std::uint64_t, 4> total{};
  for (unsigned round = 0; round < 30; ++round) {
    Bench b(100 + round);
    Rng& rng = b.sim.rng();
    b.in.stall_percent = kStalls[rng.below(3)];
    b.hdr.stall_percent = kStalls[rng.below(4)];
    b.fetch.stall_percent = kStalls[rng.below(4)];
    b.pay.stall_percent = kStalls[rng.below(3)];
    b.evt.stall_percent = kStalls[rng.below(4)];
    for (unsigned i = 0; i < 200; ++i) b.any_packet();
    b.finish(100'000);
    for (unsigned i = 0; i < 4; ++i) total[i] += b.counters[i];
  }
  for (const std::uint64_t count : total) CHECK(count > 500);
}

TEST_CASE("each verdict on each kind of packet") {
  Bench b(1);
  for (unsigned opcode = 0; opcode < 0x18; ++opcode)
    for (unsigned verdict = 0; verdict < 8; ++verdict)
      b.packet(static_cast<std::uint8_t>(opcode), opcode == kAck ? 0 : 1 + verdict,
               {(verdict & 1) != 0, (verdict & 2) != 0, (verdict & 4) != 0, static_cast<std::uint8_t>(opcode)});
  b.finish(5000);
  CHECK(b.counters == std::array<std::uint64_t, 4>{192, 96, 46, 96});
}

TEST_CASE("a slow output holds the input back between packets, and nothing is lost") {
  enum { kHeaders, kCommands, kPayload, kEvents };
  for (unsigned which = 0; which < 4; ++which) {
    Bench b(10 + which);
    INFO("output ", which);
    (which == kHeaders    ? b.hdr.stall_percent
     : which == kCommands ? b.fetch.stall_percent
     : which == kPayload  ? b.pay.stall_percent
                          : b.evt.stall_percent) = 100;
    const std::size_t bytes = which == kHeaders || which == kEvents ? 1 : P_MaxPayload;
    for (unsigned i = 0; i < 200; ++i) b.packet(kWriteOnly, bytes, {false, which == kEvents, false, 0});
    b.sim.run(200 + P_BufBeats * 2);
    const std::uint64_t packets = b.in.taken;
    if (which == kHeaders) {
      CHECK(packets <= P_HdrDepth);
      CHECK(packets >= P_HdrDepth - 4);
    } else if (which == kEvents) {
      CHECK(packets <= kEvtDepth);
      CHECK(packets >= kEvtDepth - 4);
    } else {
      CHECK(packets * kMaxBeats <= P_BufBeats);
      // Room for two of the largest is enough to begin; one begins before the last one's beats are counted.
      CHECK(packets >= (P_BufBeats - 2 * kMaxBeats - 2) / kMaxBeats + 2);
    }
    CHECK(b.sim.dut.s_pkt_tready == 0);
    b.sim.run(100);
    CHECK(b.in.taken == packets);
    b.hdr.stall_percent = b.fetch.stall_percent = b.pay.stall_percent = b.evt.stall_percent = 0;
    b.finish(200 * (kMaxBeats + 20));
  }
}

TEST_CASE("what is dropped leaves nothing behind: it needs no room for long") {
  Bench b(20);
  b.hdr.stall_percent = b.fetch.stall_percent = 100;
  for (unsigned i = 0; i < 4 * P_BufBeats / kMaxBeats; ++i) b.packet(kWriteOnly, P_MaxPayload, {true, false, true, 1});
  b.sim.run_until([&] { return b.in.idle(); }, 8 * P_BufBeats + 100);
  CHECK(b.sim.dut.m_hdr_tvalid == 0);
  b.hdr.stall_percent = b.fetch.stall_percent = 0;
  b.packet(kWriteOnly, P_MaxPayload);
  b.finish(2 * kMaxBeats + 100);
  CHECK(b.headers_seen == 1);
}

TEST_CASE("latency: header behind the last beat, payload behind its command; a beat and a packet a cycle") {
  Bench b(30);
  for (const std::size_t bytes : {std::size_t{1}, 3 * kBeat}) {
    // Until one is forwarded.
    const std::uint64_t before = b.payloads;
    while (b.payloads == before) {
      b.packet(kWriteOnly, bytes);
      b.finish(100);
      CHECK(b.header_cycle == b.taken_cycle + (P_LowLatency ? 2 : 3));
    }
    CHECK(b.pay_cycle == b.fetch_cycle + 2);
  }
  for (const std::size_t beats : {1, 3}) {
    constexpr unsigned kCount = 300;
    const auto start = b.sim.cycle();
    for (unsigned i = 0; i < kCount; ++i) b.packet(kWriteOnly, beats * kBeat);
    b.sim.run_until([&] { return b.in.idle(); }, 3000);
    CHECK(b.sim.cycle() - start <= kCount * beats + 8);
    b.finish(100);
  }
}

TEST_CASE("a reset forgets what is under way") {
  Bench b(40);
  b.hdr.stall_percent = b.evt.stall_percent = b.pay.stall_percent = 90;
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned i = 0; i < 30; ++i) b.any_packet();
    b.sim.run(60);
    b.reset();
    CHECK(b.sim.dut.m_hdr_tvalid == 0);
    CHECK(b.sim.dut.m_evt_tvalid == 0);
    CHECK(b.sim.dut.m_pay_tvalid == 0);
  }
  b.hdr.stall_percent = b.evt.stall_percent = b.pay.stall_percent = 0;
  for (unsigned i = 0; i < 30; ++i) b.any_packet();
  b.finish(5000);
}
