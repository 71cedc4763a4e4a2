// Bench of rx_responder: every command, answer, event and counter against the model in responder_model.h.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <deque>
#include <map>

#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/responder_model.h"

using namespace rocegen::bench;

namespace {

constexpr std::uint32_t kQps = P_QpCount;
constexpr std::uint32_t kMrs = P_MrCount;

enum Op : std::uint8_t { kFirst = 0x06, kMiddle = 0x07, kLast = 0x08, kOnly = 0x0A };

/// The table of regions: answers mr_index_o two cycles later, as mr_table does.
class RegionTable : public Agent {
 public:
  RegionTable(Port index, Port entry) : index_(index), entry_(entry) {}
  Region lookup(std::uint32_t index) const {
    const auto at = regions.find(index);
    return index < kMrs && at != regions.end() ? at->second : Region{};
  }
  void drive() override { entry_.set_value(second_.pack()); }
  void sample() override {
    second_ = first_;
    // An index beyond the table shows the region that shares its low bits: the responder must not believe it.
    first_ = lookup(static_cast<std::uint32_t>(index_.get()) % kMrs);
    first_.index = 0;
  }
  std::map<std::uint32_t, Region> regions;

 private:
  Port index_, entry_;
  Region first_, second_;
};

/// Sees what the responder takes and, when its region is looked up, asks the model.
class Scoreboard : public Agent {
 public:
  struct Taken {
    std::uint64_t due;
    enum { kHeader, kSetup, kKill } kind;
    Bytes data;
  };
  Scoreboard(Vdut& dut, const RegionTable& table) : dut_(dut), table_(table) {}
  void drive() override {}
  void sample() override {
    ++now_;
    take(dut_.s_hdr_tvalid && dut_.s_hdr_tready, Taken::kHeader, Port(dut_.s_hdr_tdata, Header::kWidth));
    take(dut_.s_cfg_tvalid && dut_.s_cfg_tready, Taken::kSetup, Port(dut_.s_cfg_tdata, QpSetup::kWidth));
    take(dut_.s_err_tvalid && dut_.s_err_tready, Taken::kKill, Port(dut_.s_err_tdata, 24));
    // The index of a header shows five cycles after the header was taken; the table samples it at the end of that
    // cycle.
    while (!pending.empty() && pending.front().due <= now_) {
      judge(pending.front());
      pending.pop_front();
    }
    count("requests", dut_.cnt_rsp_requests_o);
    count("accepted", dut_.cnt_rsp_accepted_o);
    count("duplicates", dut_.cnt_rsp_duplicates_o);
    count("acks", dut_.cnt_rsp_acks_o);
    count("nak_psn", dut_.cnt_rsp_nak_psn_o);
    count("nak_inv_req", dut_.cnt_rsp_nak_inv_req_o);
    count("nak_access", dut_.cnt_rsp_nak_access_o);
    count("out_of_order", dut_.cnt_rsp_out_of_order_o);
    count("drop_replay", dut_.cnt_rsp_drop_replay_o);
    count("drop_opcode", dut_.cnt_rsp_drop_opcode_o);
    count("drop_qpn", dut_.cnt_rsp_drop_qpn_o);
    count("drop_state", dut_.cnt_rsp_drop_state_o);
    count("drop_addr", dut_.cnt_rsp_drop_addr_o);
    count("drop_pkey", dut_.cnt_rsp_drop_pkey_o);
    count("drop_dead", dut_.cnt_rsp_drop_dead_o);
  }
  void on_reset() override {
    pending.clear();
    commands.clear();
    answers.clear();
    events.clear();
    counters.clear();
    seen_answers.clear();
    seen_events.clear();
    model = ResponderModel(kQps);
    headers = 0;
  }
  void got_command(const Bytes& beat) {
    REQUIRE_MESSAGE(!commands.empty(), "a command for no header");
    const auto [want, text] = commands.front();
    commands.pop_front();
    const Command got = Command::unpack(beat);
    INFO(text, "seed ", seed());
    REQUIRE(got.buf_addr == want.buf_addr);
    REQUIRE(got.bytes == want.bytes);
    REQUIRE(got.forward == want.forward);
    REQUIRE(got.last == want.last);
    REQUIRE(got.qpn == want.qpn);
    REQUIRE(got.psn == want.psn);
    REQUIRE(got.addr == want.addr);
    ++commands_seen;
    last_command = got;
  }
  void got_answer(const Bytes& beat) {
    const Answer got = Answer::unpack(beat);
    INFO("answer qpn ", got.qpn, " syndrome ", int(got.syndrome), " psn ", got.psn, " msn ", got.msn, " seed ", seed());
    REQUIRE_MESSAGE(!answers.empty(), "an answer that nobody asked for");
    const auto [want, text] = answers.front();
    answers.pop_front();
    INFO(text);
    REQUIRE(got.qpn == want.qpn);
    REQUIRE(int(got.syndrome) == int(want.syndrome));
    REQUIRE(got.psn == want.psn);
    REQUIRE(got.msn == want.msn);
    REQUIRE(got.dup == want.dup);
    seen_answers.push_back(got);
  }
  void got_event(const Bytes& beat) {
    REQUIRE_MESSAGE(!events.empty(), "an event for nothing");
    REQUIRE(Event::unpack(beat) == events.front());
    seen_events.push_back(events.front());
    events.pop_front();
  }
  bool settled() const { return pending.empty() && commands.empty() && answers.empty() && events.empty(); }
  void check_counters() {
    std::map<std::string, std::uint64_t> want = model.counters();
    for (const auto& [name, value] : counters) {
      INFO("counter ", std::string(name), " seed ", seed());
      REQUIRE(value == want[name]);
    }
    for (const auto& [name, value] : want) {
      INFO("counter ", std::string(name), " seed ", seed());
      REQUIRE(value == counters[name]);
    }
  }

  ResponderModel model{kQps};
  std::deque<Taken> pending;
  std::deque<std::pair<Command, std::string>> commands;
  std::deque<std::pair<Answer, std::string>> answers;
  std::deque<Event> events;
  std::map<std::string, std::uint64_t> counters;
  std::vector<Answer> seen_answers;
  std::vector<Event> seen_events;
  Command last_command;
  std::uint64_t commands_seen = 0;
  std::uint64_t headers = 0;

 private:
  void take(bool now, decltype(Taken::kind) kind, const Port& data) {
    if (!now) return;
    pending.push_back({now_ + 5, kind, data.value()});
    headers += kind == Taken::kHeader;
  }
  void judge(const Taken& t) {
    if (t.kind == Taken::kSetup) {
      model.configure(QpSetup::unpack(t.data));
    } else if (t.kind == Taken::kKill) {
      model.kill(static_cast<std::uint32_t>(get_field(t.data, 0, 24)));
    } else {
      const Header h = Header::unpack(t.data);
      const Outcome o = model.request(h, [&](std::uint32_t index) { return table_.lookup(index); });
      std::string text = "opcode " + std::to_string(h.opcode) + " qpn " + std::to_string(h.dqpn) + " psn " +
                         std::to_string(h.psn) + " bytes " + std::to_string(h.pay_bytes) + " dma_len " +
                         std::to_string(h.dma_len) + " wants " + o.counter + " ";
      commands.emplace_back(o.fetch, text);
      if (o.answer) answers.emplace_back(*o.answer, text);
      if (o.event) events.push_back(*o.event);
    }
  }
  void count(const char* name, bool pulse) {
    if (pulse) ++counters[name];
  }

  Vdut& dut_;
  const RegionTable& table_;
  std::uint64_t now_ = 0;
};

struct Bench {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        table(Port(sim.dut.mr_index_o, 24), Port(sim.dut.mr_entry_i, Region::kWidth)),
        score(sim.dut, table),
        hdr(sim.rng(), Port(sim.dut.s_hdr_tvalid, 1), Port(sim.dut.s_hdr_tready, 1),
            Port(sim.dut.s_hdr_tdata, Header::kWidth)),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, QpSetup::kWidth)),
        err(sim.rng(), Port(sim.dut.s_err_tvalid, 1), Port(sim.dut.s_err_tready, 1), Port(sim.dut.s_err_tdata, 24)),
        fetch(sim.rng(), Port(sim.dut.m_fetch_tvalid, 1), Port(sim.dut.m_fetch_tready, 1),
              Port(sim.dut.m_fetch_tdata, Command::kWidth)),
        ack(sim.rng(), Port(sim.dut.m_ack_tvalid, 1), Port(sim.dut.m_ack_tready, 1),
            Port(sim.dut.m_ack_tdata, Answer::kWidth)),
        evt(sim.rng(), Port(sim.dut.m_evt_tvalid, 1), Port(sim.dut.m_evt_tready, 1),
            Port(sim.dut.m_evt_tdata, Event::kWidth)) {
    for (Agent* a : {static_cast<Agent*>(&hdr), static_cast<Agent*>(&cfg), static_cast<Agent*>(&err),
                     static_cast<Agent*>(&fetch), static_cast<Agent*>(&ack), static_cast<Agent*>(&evt),
                     static_cast<Agent*>(&score), static_cast<Agent*>(&table)})
      sim.add(*a);
    fetch.on_beat = [this](const Bytes& b) { score.got_command(b); };
    ack.on_beat = [this](const Bytes& b) { score.got_answer(b); };
    evt.on_beat = [this](const Bytes& b) { score.got_event(b); };
    // Before the first edge in reset registers hold anything, and the RAMs' range assertion knows no reset.
    sim.context().assertOn(false);
    sim.reset();
    sim.context().assertOn(true);
    sim.run_until([this] { return sim.dut.ready_o != 0; }, kQps + 20);
  }
  void stalls(unsigned in, unsigned out) {
    hdr.stall_percent = cfg.stall_percent = err.stall_percent = in;
    fetch.stall_percent = ack.stall_percent = evt.stall_percent = out;
  }
  /// Everything offered is taken and all its effects are seen.
  void settle(std::uint64_t limit = 20'000) {
    sim.run_until([this] { return hdr.queue.empty() && cfg.queue.empty() && err.queue.empty() && score.settled(); },
                  limit);
    sim.run(20);
    score.check_counters();
  }
  void setup(const QpSetup& c) { cfg.push(c.pack(sim.rng())); }
  /// A working QP with peer 10.0.0.<qpn>.
  QpSetup working(std::uint32_t qpn, std::uint32_t psn, std::uint8_t pmtu = 1, std::uint16_t pd = 7) {
    QpSetup c;
    c.qpn = qpn;
    c.pmtu = pmtu;
    c.pd = pd;
    c.rq_psn = psn;
    c.dip = 0x0A000000U + qpn + 1;
    return c;
  }
  void region(Region m) { table.regions[m.index] = m; }
  Region plain(std::uint32_t index, std::uint64_t base, std::uint64_t length, std::uint16_t pd = 7) {
    Region m;
    m.index = index;
    m.valid = true;
    m.variant = 0x5A;
    m.pd = pd;
    m.base = base;
    m.length = length;
    return m;
  }
  /// A header for `c` with every field that the responder must not look at random.
  Header header(const QpSetup& c, std::uint8_t op, std::uint32_t psn, std::uint32_t bytes) {
    Header h;
    h.buf_addr = static_cast<std::uint16_t>(sim.rng().next());
    h.pay_bytes = static_cast<std::uint16_t>(bytes);
    h.src_ip = c.dip;
    h.dst_ip = static_cast<std::uint32_t>(sim.rng().next());
    h.ecn = static_cast<std::uint8_t>(sim.rng().below(4));
    h.opcode = op;
    h.se = sim.rng().percent(50);
    h.mig = sim.rng().percent(50);
    h.pad = static_cast<std::uint8_t>((4 - bytes % 4) % 4);
    h.pkey = c.pkey;
    h.fecn = sim.rng().percent(50);
    h.becn = sim.rng().percent(50);
    h.dqpn = c.qpn;
    h.ackreq = true;
    h.psn = psn & kPsnMask;
    return h;
  }
  void send(const Header& h) { hdr.push(h.pack()); }
  void write(const QpSetup& c, std::uint8_t op, std::uint32_t psn, std::uint32_t bytes, bool ackreq = true,
             std::uint64_t va = 0, std::uint32_t rkey = 0, std::uint32_t dma_len = 0) {
    Header h = header(c, op, psn, bytes);
    h.ackreq = ackreq;
    h.va = va;
    h.rkey = rkey;
    h.dma_len = dma_len;
    send(h);
  }
  /// Answers since the last call.
  std::vector<Answer> answers() {
    settle();
    return std::exchange(score.seen_answers, {});
  }

  Sim<Vdut> sim;
  RegionTable table;
  Scoreboard score;
  StreamSource hdr, cfg, err;
  StreamSink fetch, ack, evt;
};

std::vector<Answer> list(std::initializer_list<Answer> answers) { return answers; }

constexpr std::uint32_t kKey = 0x5A;  // region 0, variant 0x5A

}  // namespace

TEST_CASE("write first, middle, last: addresses, MSN, answers (L15)") {
  Bench b(1);
  const QpSetup c = b.working(0, 100);
  b.setup(c);
  b.region(b.plain(0, 0x1000, 0x10000));
  b.write(c, kFirst, 100, 256, true, 0x1234, kKey, 256 * 2 + 5);
  CHECK(b.answers() == list({{0, 0x1F, 100, 0, false}}));  // within a message: the old MSN
  b.write(c, kMiddle, 101, 256, false);
  CHECK(b.answers().empty());
  CHECK(b.score.last_command.addr == 0x1334);
  CHECK_FALSE(b.score.last_command.last);
  b.write(c, kLast, 102, 5);
  CHECK(b.answers() == list({{0, 0x1F, 102, 1, false}}));
  CHECK(b.score.last_command.addr == 0x1434);
  CHECK(b.score.last_command.last);
  b.write(c, kOnly, 103, 256, true, 0x1000, kKey, 256);
  CHECK(b.answers() == list({{0, 0x1F, 103, 2, false}}));
  CHECK(b.score.seen_events.empty());
}

TEST_CASE("two QPs interleaved keep their own PSN, MSN and address (L16)") {
  if (kQps < 2) return;
  Bench b(2);
  const QpSetup c = b.working(0, 100), d = b.working(1, 0xFFFFFF);
  b.setup(c);
  b.setup(d);
  b.region(b.plain(0, 0, 1 << 20));
  b.settle();
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint8_t op = i == 0 ? kFirst : i == 3 ? kLast : kMiddle;
    b.write(c, op, 100 + i, 256, op == kLast, 0x1000, kKey, 1024);
    b.write(d, op, 0xFFFFFF + i, 256, op == kLast, 0x8000, kKey, 1024);
  }
  CHECK(b.answers() == list({{0, 0x1F, 103, 1, false}, {1, 0x1F, 2, 1, false}}));
  CHECK(b.score.last_command.addr == 0x8300);
}

TEST_CASE("zero length: no look at the key (L48, P38)") {
  Bench b(3);
  const QpSetup c = b.working(0, 5);
  b.setup(c);
  b.write(c, kOnly, 5, 0, true, 0xFFFFFFFFFFFFFFFF, 0xDEADBEEF, 0);
  b.write(c, kOnly, 6, 0, true, 0, 0, 0);
  CHECK(b.answers() == list({{0, 0x1F, 5, 1, false}, {0, 0x1F, 6, 2, false}}));
  CHECK_FALSE(b.score.last_command.forward);
}

TEST_CASE("after a round trip of the PSN a packet ahead is not a duplicate (B01)") {
  Bench b(4);
  QpSetup c = b.working(0, 0x10);
  b.setup(c);
  b.settle();
  // Bring ePSN to 0x0C the short way: a set-up that starts 20 before the initial PSN of the story.
  c.rq_psn = 0xFFFFFC;
  b.setup(c);
  b.settle();
  for (std::uint32_t p = 0xFFFFFC; p != 0x100000C; ++p) b.write(c, kOnly, p, 0);
  b.answers();
  b.write(c, kOnly, 0x11, 0);
  CHECK(b.answers() == list({{0, 0x60, 0x0C, 16, false}}));
  b.write(c, kOnly, 0x0B, 0);
  CHECK(b.answers() == list({{0, 0x1F, 0x0B, 16, true}}));
}

TEST_CASE("duplicates right after set-up and half a circle away (B02)") {
  Bench b(5);
  const QpSetup c = b.working(0, 0x20);
  b.setup(c);
  b.settle();
  b.write(c, kOnly, 0x1F, 0, false);  // A = 0: answered all the same
  CHECK(b.answers() == list({{0, 0x1F, 0x1F, 0, true}}));
  b.write(c, kOnly, 0x20 - 0x800000, 0);  // distance exactly 2^23 is older
  CHECK(b.answers() == list({{0, 0x1F, 0x1F, 0, true}}));
  b.write(c, kOnly, 0x20 + 0x7FFFFF, 0);
  CHECK(b.answers() == list({{0, 0x60, 0x20, 0, false}}));
}

TEST_CASE("one NAK a gap, duplicates answered meanwhile, armed again by ePSN (P55)") {
  Bench b(6);
  const QpSetup c = b.working(0, 50);
  b.setup(c);
  b.settle();
  b.write(c, kOnly, 50, 0);
  for (unsigned i = 0; i < 11; ++i) b.write(c, kOnly, 52 + i, 0);
  b.write(c, kOnly, 50, 0);
  b.write(c, kOnly, 53, 0);
  b.write(c, kOnly, 51, 0);
  b.write(c, kOnly, 60, 0);
  b.write(c, kOnly, 61, 0);
  CHECK(b.answers() == list({{0, 0x1F, 50, 1, false},
                             {0, 0x60, 51, 1, false},
                             {0, 0x1F, 50, 1, true},
                             {0, 0x1F, 51, 2, false},
                             {0, 0x60, 52, 2, false}}));
  CHECK(b.score.counters["out_of_order"] == 12);
}

TEST_CASE("a duplicate inside a message leaves the message alone (P05)") {
  Bench b(7);
  const QpSetup c = b.working(0, 20);
  b.setup(c);
  b.region(b.plain(0, 0, 1 << 20));
  b.settle();
  b.write(c, kOnly, 20, 4, true, 0x40, kKey, 4);
  b.write(c, kFirst, 21, 256, true, 0x1000, kKey, 600);
  b.write(c, kOnly, 20, 4, true, 0x40, kKey, 4);
  b.write(c, kFirst, 21, 256, true, 0x9000, kKey, 600);
  b.write(c, kMiddle, 22, 256);
  b.write(c, kMiddle, 22, 256);
  b.write(c, kLast, 23, 88);
  CHECK(b.answers() == list({{0, 0x1F, 20, 1, false},
                             {0, 0x1F, 21, 1, false},
                             {0, 0x1F, 21, 1, true},
                             {0, 0x1F, 21, 1, true},
                             {0, 0x1F, 22, 1, false},
                             {0, 0x1F, 22, 1, true},
                             {0, 0x1F, 23, 2, false}}));
  CHECK(b.score.last_command.addr == 0x1200);
}

TEST_CASE("every SEND and WRITE opcode is acknowledged again as a duplicate (B10)") {
  Bench b(8);
  const QpSetup c = b.working(0, 20);
  b.setup(c);
  b.settle();
  for (unsigned op = 0; op < 256; ++op) {
    b.score.seen_answers.clear();
    Header h = b.header(c, static_cast<std::uint8_t>(op), 19, 0);
    h.ackreq = (op & 1) != 0;
    b.send(h);
    INFO("opcode ", op);
    const bool answered = op <= 0x0B || op == 0x16 || op == 0x17;
    CHECK(b.answers() == (answered ? list({{0, 0x1F, 19, 0, true}}) : list({})));
  }
  CHECK(b.score.counters["drop_replay"] == 5);
  CHECK(b.score.counters["drop_opcode"] == 256 - 14 - 5);
}

TEST_CASE("operations that are not enabled: NAK 0x61, one event, dead at once (L37)") {
  Bench b(9);
  std::uint64_t refused = 0;
  for (unsigned op = 0; op < 256; ++op) {
    if (op == kFirst || op == kOnly) continue;
    const QpSetup c = b.working(op % kQps, 77);
    b.setup(c);
    b.settle();
    b.score.seen_answers.clear();
    b.score.seen_events.clear();
    const auto counters = b.score.counters;
    b.send(b.header(c, static_cast<std::uint8_t>(op), 77, 0));
    b.send(b.header(c, kOnly, 78, 0));  // right behind
    b.settle();
    INFO("opcode ", op);
    if (ResponderModel::is_request(static_cast<std::uint8_t>(op))) {
      ++refused;
      CHECK(b.answers() == list({{c.qpn, 0x61, 77, 0, false}}));
      CHECK(b.score.seen_events == std::vector<Event>{{1, c.qpn}});
      CHECK(b.score.counters["drop_dead"] == refused);
    } else {
      CHECK(b.answers() == list({{c.qpn, 0x60, 77, 0, false}}));
    }
  }
  CHECK(refused == 19 - 2);
}

TEST_CASE("order of opcodes, lengths, pad: NAK 0x61 with the PSN of the offender (L46, L55)") {
  struct Packet {
    std::uint8_t op;
    std::uint32_t bytes;
    std::uint32_t dma_len;
    std::uint8_t pad = 0xFF;
  };
  struct Case {
    const char* name;
    std::vector<Packet> packets;  // the last one is refused
  };
  const std::vector<Case> cases = {
      {"middle without first", {{kMiddle, 512, 0}}},
      {"last without first", {{kLast, 12, 0}}},
      {"first inside", {{kFirst, 512, 2000}, {kFirst, 512, 2000}}},
      {"only inside", {{kFirst, 512, 2000}, {kOnly, 0, 0}}},
      {"middle after last", {{kFirst, 512, 513}, {kLast, 1, 0}, {kMiddle, 512, 0}}},
      {"first short", {{kFirst, 508, 2000}}},
      {"first long", {{kFirst, 516, 2000}}},
      {"first of 256", {{kFirst, 256, 2000}}},
      {"first of 1024", {{kFirst, 1024, 2000}}},
      {"first of 8704", {{kFirst, 8704, 20000}}},
      {"first with pad", {{kFirst, 512, 2000, 1}}},
      {"middle short", {{kFirst, 512, 2000}, {kMiddle, 511, 0}}},
      {"middle with pad", {{kFirst, 512, 2000}, {kMiddle, 512, 0, 2}}},
      {"last empty", {{kFirst, 512, 513}, {kLast, 0, 0}}},
      {"last above MTU", {{kFirst, 512, 1025}, {kLast, 513, 0}}},
      {"last one short", {{kFirst, 512, 1024}, {kLast, 511, 0}}},
      {"last one long", {{kFirst, 512, 1023}, {kLast, 512, 0}}},
      {"last bad pad", {{kFirst, 512, 513}, {kLast, 1, 0, 2}}},
      {"middle where last must be", {{kFirst, 512, 1024}, {kMiddle, 512, 0}}},
      {"middle beyond", {{kFirst, 512, 700}, {kMiddle, 512, 0}}},
      {"first alone has all", {{kFirst, 512, 512}}},
      {"first has more than all", {{kFirst, 512, 100}}},
      {"first of nothing", {{kFirst, 512, 0}}},
      {"only above MTU", {{kOnly, 513, 513}}},
      {"only of 4608", {{kOnly, 4608, 4608}}},
      {"only shorter than RETH", {{kOnly, 511, 512}}},
      {"only longer than RETH", {{kOnly, 512, 511}}},
      {"only empty, RETH not (B09)", {{kOnly, 0, 16}}},
      {"only RETH + 2^16", {{kOnly, 16, 65552}}},
      {"only bad pad", {{kOnly, 5, 5, 0}}},
      {"length 2^31 + 1", {{kFirst, 512, 0x80000001}}},
      {"length 2^32 - 1", {{kFirst, 512, 0xFFFFFFFF}}},
  };
  Bench b(10);
  b.region(b.plain(0, 0, 1ULL << 40));
  for (const Case& x : cases) {
    INFO(std::string(x.name));
    const std::uint32_t psn = static_cast<std::uint32_t>(b.sim.rng().next()) & kPsnMask;
    const QpSetup c = b.working(kQps - 1, psn, 2);
    b.setup(c);
    b.settle();
    b.score.seen_answers.clear();
    b.score.seen_events.clear();
    std::uint32_t at = psn, messages = 0;
    for (const Packet& p : x.packets) {
      Header h = b.header(c, p.op, at++, p.bytes);
      if (p.pad != 0xFF) h.pad = p.pad;
      h.dma_len = p.dma_len;
      h.rkey = kKey;
      h.ackreq = &p == &x.packets.back();
      b.send(h);
      messages += p.op == kLast && &p != &x.packets.back();
    }
    b.send(b.header(c, kOnly, at, 0));
    CHECK(b.answers() == list({{c.qpn, 0x61, (at - 1) & kPsnMask, messages, false}}));
    CHECK(b.score.seen_events == std::vector<Event>{{1, c.qpn}});
    CHECK_FALSE(b.score.last_command.forward);
  }
}

TEST_CASE("largest message: 2^31 bytes are allowed") {
  Bench b(11);
  const QpSetup c = b.working(0, 0, 5);
  b.setup(c);
  b.region(b.plain(0, 0x100000000, 0x80000000));
  b.settle();
  b.write(c, kFirst, 0, 4096, true, 0x100000000, kKey, 0x80000000);
  b.write(c, kMiddle, 1, 4096, true);
  CHECK(b.answers() == list({{0, 0x1F, 0, 0, false}, {0, 0x1F, 1, 0, false}}));
}

TEST_CASE("regions: key, rights, PD, bounds, 2^32 and 2^40 bytes, 64-bit overflow (L64, B05)") {
  struct Case {
    const char* name;
    Region region;
    std::uint64_t va;
    std::uint32_t bytes;
    bool good;
    std::uint32_t key = kKey;
  };
  Bench b(12);
  const std::uint64_t top = ~std::uint64_t{0};
  const Region r = b.plain(0, 0x10000, 0x1000);
  Region no_right = r, no_pd = r, gone = r, read_only = r;
  no_right.access = 0;
  read_only.access = 0xE;
  no_pd.pd = 8;
  gone.valid = false;
  const std::vector<Case> cases = {
      {"all of the start", r, 0x10000, 256, true},
      {"one byte at the end", r, 0x10FFF, 1, true},
      {"one byte behind", r, 0x11000, 1, false},
      {"one byte before", r, 0xFFFF, 1, false},
      {"over the end", r, 0x10FFF, 2, false},
      {"over the start", r, 0xFFFF, 2, false},
      {"far below", r, 0, 4, false},
      {"high bit of the address", r, 0x8000000000010000, 4, false},
      {"2^41 above", r, 0x10000 + (1ULL << 41), 4, false},
      {"wrong variant", r, 0x10000, 4, false, kKey ^ 1},
      {"wrong variant, high bit", r, 0x10000, 4, false, kKey ^ 0x80},
      {"index of nobody", r, 0x10000, 4, false, kKey | (kMrs << 8)},
      {"index far outside", r, 0x10000, 4, false, kKey | 0x80000000},
      {"no write right", no_right, 0x10000, 4, false},
      {"every right but write", read_only, 0x10000, 4, false},
      {"other PD", no_pd, 0x10000, 4, false},
      {"not valid", gone, 0x10000, 4, false},
      {"empty region", b.plain(0, 0x10000, 0), 0x10000, 1, false},
      {"2^32 - 1 bytes, last", b.plain(0, 0x10000, 0xFFFFFFFF), 0xFFFFFFFFULL + 0x10000 - 256, 256, true},
      {"2^32 - 1 bytes, one too many", b.plain(0, 0x10000, 0xFFFFFFFF), 0x100000000 + 0x10000 - 256, 256, false},
      {"2^32 bytes, last", b.plain(0, 0x10000, 0x100000000), 0x100000000 + 0x10000 - 256, 256, true},
      {"2^32 bytes, one too many", b.plain(0, 0x10000, 0x100000000), 0x100000000 + 0x10000 - 255, 256, false},
      {"2^40 bytes, last", b.plain(0, 0x10000, 1ULL << 40), (1ULL << 40) + 0x10000 - 256, 256, true},
      {"2^40 bytes, one too many", b.plain(0, 0x10000, 1ULL << 40), (1ULL << 40) + 0x10000 - 255, 256, false},
      {"top of the address space", b.plain(0, top - 0xFFF, 0x1000), top - 0xFF, 256, true},
      {"over the top", b.plain(0, top - 0xFFF, 0x1000), top - 0xFE, 256, false},
      {"address zero after the top", b.plain(0, top - 0xFFF, 0x1000), 0, 4, false},
      {"over the top into a low region", b.plain(0, 0, 0x1000), top - 0xF, 64, false},
      {"the top, no region", r, top, 1, false},
  };
  std::uint32_t qpn = 0;
  for (const Case& x : cases) {
    INFO(std::string(x.name));
    qpn = (qpn + 1) % kQps;
    const QpSetup c = b.working(qpn, 9);
    b.setup(c);
    b.settle();
    b.region(x.region);
    b.score.seen_answers.clear();
    b.score.seen_events.clear();
    b.write(c, kOnly, 9, x.bytes, true, x.va, x.key, x.bytes);
    b.write(c, kOnly, 10, 0);
    if (x.good) {
      CHECK(b.answers() == list({{qpn, 0x1F, 9, 1, false}, {qpn, 0x1F, 10, 2, false}}));
    } else {
      CHECK(b.answers() == list({{qpn, 0x62, 9, 0, false}}));  // and nothing for the one behind
      CHECK(b.score.seen_events == std::vector<Event>{{2, qpn}});
    }
  }
}

TEST_CASE("the whole RETH range is checked at FIRST") {
  Bench b(13);
  b.region(b.plain(0, 0x1000, 0x1000));
  const QpSetup c = b.working(0, 0);
  b.setup(c);
  b.settle();
  b.write(c, kFirst, 0, 256, true, 0x1F00, kKey, 257);
  CHECK(b.answers() == list({{0, 0x62, 0, 0, false}}));
  CHECK_FALSE(b.score.last_command.forward);
}

TEST_CASE("a QP without the write right: NAK 0x61, whatever the region says") {
  Bench b(14);
  b.region(b.plain(0, 0x1000, 0x1000));
  QpSetup c = b.working(0, 0);
  c.access = 0xE;
  b.setup(c);
  b.settle();
  b.write(c, kOnly, 0, 4, true, 0x1000, kKey, 4);
  CHECK(b.answers() == list({{0, 0x61, 0, 0, false}}));
}

TEST_CASE("a region revoked within a message ends it (L33)") {
  for (const bool other_key : {false, true}) {
    Bench b(15);
    b.region(b.plain(0, 0x1000, 0x1000));
    const QpSetup c = b.working(0, 0);
    b.setup(c);
    b.settle();
    b.write(c, kFirst, 0, 256, true, 0x1000, kKey, 1024);
    b.write(c, kMiddle, 1, 256, true);
    b.settle();
    if (other_key)
      b.table.regions[0].variant ^= 2;
    else
      b.table.regions[0].valid = false;
    b.write(c, kMiddle, 2, 256, true);
    b.write(c, kLast, 3, 256, true);
    CHECK(b.answers() == list({{0, 0x1F, 0, 0, false}, {0, 0x1F, 1, 0, false}, {0, 0x62, 2, 0, false}}));
    CHECK(b.score.seen_events == std::vector<Event>{{2, 0}});
    CHECK(b.score.counters["drop_dead"] == 1);
  }
}

TEST_CASE("silent drops, each with its counter and nothing else") {
  Bench b(16);
  const QpSetup c = b.working(0, 3);
  b.setup(c);
  b.settle();
  Header h = b.header(c, kOnly, 3, 0);
  h.dqpn = kQps;
  b.send(h);
  h.dqpn = 0x800000;
  b.send(h);
  h.dqpn = 0xFFFFFF;
  b.send(h);
  CHECK(b.answers().empty());
  CHECK(b.score.counters["drop_qpn"] == 3);
  for (unsigned bit = 0; bit < 32; ++bit) {
    h = b.header(c, kOnly, 3, 0);
    h.src_ip ^= 1U << bit;
    b.send(h);
  }
  CHECK(b.answers().empty());
  CHECK(b.score.counters["drop_addr"] == 32);
  for (std::uint8_t state = 0; state < 8; ++state) {
    QpSetup d = c;
    d.setup = false;
    d.state = state;
    b.setup(d);
    b.settle();
    b.write(c, kOnly, 2, 0);
    CHECK(b.answers().size() == (state == kRtr || state == kRts || state == kSqd ? 1 : 0));
  }
  CHECK(b.score.counters["drop_state"] == 5);
}

TEST_CASE("P_Key: low 15 bits equal and not zero, at least one side a full member") {
  struct Case {
    std::uint16_t mine, theirs;
    bool good;
  };
  const std::vector<Case> cases = {
      {0xFFFF, 0xFFFF, true},  {0xFFFF, 0x7FFF, true},  {0x7FFF, 0xFFFF, true},  {0x7FFF, 0x7FFF, false},
      {0x8001, 0x0001, true},  {0x8001, 0x8001, true},  {0x0001, 0x0001, false}, {0x8000, 0x8000, false},
      {0x8000, 0x0000, false}, {0x8001, 0x8002, false}, {0x8001, 0xC001, false}, {0x0001, 0x8001, true},
  };
  Bench b(17);
  std::uint64_t bad = 0;
  for (const Case& x : cases) {
    QpSetup c = b.working(0, 3);
    c.pkey = x.mine;
    b.setup(c);
    b.settle();
    Header h = b.header(c, kOnly, 3, 0);
    h.pkey = x.theirs;
    b.send(h);
    CHECK(b.answers().size() == (x.good ? 1 : 0));
    bad += !x.good;
    CHECK(b.score.counters["drop_pkey"] == bad);
  }
}

TEST_CASE("set-up revives and starts anew; a state change does not; s_err kills") {
  Bench b(18);
  QpSetup c = b.working(kQps - 1, 40);
  b.setup(c);
  b.settle();
  b.write(c, kOnly, 40, 0);
  b.write(c, kOnly, 42, 0);  // gap reported
  b.settle();
  b.err.push(Record(24).put(c.qpn, 24).value());
  b.settle();
  b.write(c, kOnly, 41, 0);
  CHECK(b.answers() == list({{c.qpn, 0x1F, 40, 1, false}, {c.qpn, 0x60, 41, 1, false}}));
  CHECK(b.score.counters["drop_dead"] == 1);
  QpSetup d = c;
  d.setup = false;
  d.rq_psn = 41;
  d.dip = 1;
  b.setup(d);
  b.settle();
  b.write(c, kOnly, 41, 0);
  CHECK(b.answers().empty());
  CHECK(b.score.counters["drop_dead"] == 2);
  c.rq_psn = 10;
  b.setup(c);
  b.settle();
  b.write(c, kOnly, 12, 0);
  b.write(c, kOnly, 10, 0);
  CHECK(b.answers() == list({{c.qpn, 0x60, 10, 0, false}, {c.qpn, 0x1F, 10, 1, false}}));
  CHECK(b.score.seen_events.empty());
}

TEST_CASE("QPNs beyond the table: set-ups and kills are taken and touch nobody") {
  Bench b(19);
  for (std::uint32_t q = 0; q < std::min(kQps, 8U); ++q) b.setup(b.working(q, 4));
  b.settle();
  for (const std::uint32_t q : {kQps, kQps + 1, 2 * kQps, 0x800000U, 0xFFFFFFU}) {
    if (q < kQps) continue;
    QpSetup c = b.working(q, 9);
    b.setup(c);
    c.setup = false;
    c.state = kErr;
    b.setup(c);
    b.err.push(Record(24).put(q, 24).value());
  }
  b.settle();
  for (std::uint32_t q = 0; q < std::min(kQps, 8U); ++q) {
    b.write(b.working(q, 4), kOnly, 4, 0);
    CHECK(b.answers() == list({{q, 0x1F, 4, 1, false}}));
  }
  // Right in front of a header of the QP that shares its place.
  const std::uint32_t alias = std::bit_ceil(std::max(kQps, 2U));
  for (unsigned i = 0; i < 50; ++i) {
    QpSetup c = b.working(alias * (1 + i % 3), 9);
    b.setup(c);
    b.write(b.working(0, 4), kOnly, 5 + i, 0);
    b.err.push(Record(24).put(c.qpn, 24).value());
  }
  CHECK(b.answers().size() == 50);
}

TEST_CASE("a state without any set-up lets nothing in") {
  Bench b(20);
  QpSetup c = b.working(0, 0);
  c.setup = false;
  b.setup(c);
  b.sim.run(40);
  std::uint64_t commands = b.score.commands_seen;
  for (unsigned i = 0; i < 10; ++i) b.write(c, kOnly, i, 0);
  b.sim.run_until([&] { return b.score.commands_seen == commands + 10; }, 1000);
  CHECK(b.score.answers.empty());
  CHECK(b.score.counters["drop_addr"] + b.score.counters["drop_pkey"] + b.score.counters["drop_dead"] == 10);
}

TEST_CASE("one header every two cycles, from one QP and from many") {
  Bench b(21);
  const std::uint32_t many = std::min(kQps, 64U);
  for (std::uint32_t q = 0; q < many; ++q) b.setup(b.working(q, 0xFFFFF0));
  b.region(b.plain(0, 0, 1ULL << 32));
  b.settle();
  for (const std::uint32_t qps : {1U, many}) {
    constexpr std::uint32_t kCount = 512;
    std::vector<std::uint32_t> sent(many);
    for (std::uint32_t q = 0; q < many; ++q) sent[q] = (b.score.model.qp(q).epsn - 0xFFFFF0) & kPsnMask;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const QpSetup c = b.working(i % qps, 0xFFFFF0);
      const std::uint32_t n = sent[i % qps]++;
      const std::uint8_t op = n % 4 == 0 ? kFirst : n % 4 == 3 ? kLast : kMiddle;
      b.write(c, op, 0xFFFFF0 + n, 256, true, 0x1000, kKey, 1024);
    }
    const std::uint64_t start = b.sim.cycle(), before = b.score.commands_seen;
    b.sim.run_until([&] { return b.score.commands_seen == before + kCount; }, 3 * kCount + 100);
    CHECK(b.sim.cycle() - start <= 2 * kCount + 20);
    b.settle();
  }
  CHECK(b.score.counters["accepted"] == b.score.counters["requests"]);
}

TEST_CASE("a slow output holds back headers only, and nothing is lost") {
  for (unsigned which = 0; which < 3; ++which) {
    Bench b(22 + which);
    b.region(b.plain(0, 0, 1ULL << 32));
    b.setup(b.working(0, 0));
    b.settle();
    StreamSink& slow = which == 0 ? b.fetch : which == 1 ? b.ack : b.evt;
    slow.stall_percent = 100;
    for (unsigned i = 0; i < 100; ++i) {
      // An event each needs a set-up each.
      if (which == 2) b.setup(b.working(0, i));
      if (which == 2) b.sim.run(10);
      b.write(b.working(0, 0), which == 2 ? kMiddle : kOnly, i, 0);
      if (which == 2) b.sim.run(20);
    }
    b.sim.run(300);
    const std::uint64_t taken = b.hdr.taken;
    INFO("output ", which);
    CHECK(taken >= 16);
    CHECK(taken <= 32);
    b.sim.run(300);
    CHECK(b.hdr.taken == taken);
    QpSetup other = b.working(kQps - 1, 0);  // a set-up still gets through
    other.setup = kQps > 1;
    b.setup(other);
    b.sim.run(20);
    CHECK(b.cfg.queue.empty());
    slow.stall_percent = 0;
    b.settle();
    CHECK(b.score.headers == 100);
  }
}

TEST_CASE("headers and set-ups take turns") {
  Bench b(26);
  b.setup(b.working(0, 0));
  b.settle();
  for (unsigned i = 0; i < 200; ++i) {
    b.write(b.working(0, 0), kOnly, i, 0);
    QpSetup c = b.working(kQps - 1, 0);
    c.setup = kQps > 1;
    b.setup(c);
  }
  b.sim.run_until([&] { return b.hdr.taken == 100; }, 4 * 100 + 20);
  CHECK(b.cfg.taken >= 99);
  CHECK(b.cfg.taken <= 103);
  b.sim.run(4 * 100 + 20);
  CHECK(b.hdr.queue.empty());
  CHECK(b.cfg.queue.empty());
  b.settle();
}

TEST_CASE("reset in the middle of traffic") {
  Bench b(27);
  b.region(b.plain(0, 0, 1ULL << 32));
  b.setup(b.working(0, 0));
  b.settle();
  for (unsigned i = 0; i < 60; ++i) b.write(b.working(0, 0), kOnly, i, 4, true, 0x100, kKey, 4);
  b.sim.run(51);
  b.hdr.queue.clear();
  b.sim.reset();
  b.sim.run_until([&] { return b.sim.dut.ready_o != 0; }, kQps + 20);
  b.write(b.working(0, 0), kOnly, 0, 0);
  CHECK(b.answers().empty());
  CHECK(b.score.counters["drop_state"] == 1);
  b.setup(b.working(0, 5));
  b.settle();
  b.write(b.working(0, 0), kOnly, 5, 0);
  CHECK(b.answers() == list({{0, 0x1F, 5, 1, false}}));
}

namespace {

/// A peer of one QP: writes messages of random length, loses, repeats, reorders and corrupts packets, goes back when
/// the responder (the model, that is) waits for an older one.
class Peer {
 public:
  Peer(Bench& bench, QpSetup setup) : b_(bench), c_(setup), next_(setup.rq_psn) {}

  QpSetup& setup() { return c_; }
  void restart(const QpSetup& c) {
    c_ = c;
    next_ = c.rq_psn;
    history_.clear();
    rest_ = 0;
    cursor_ = 0;
  }
  Header packet() {
    Rng& rng = b_.sim.rng();
    const ResponderModel::Qp& q = b_.score.model.qp(c_.qpn);
    // Back to what is expected, if it is still known.
    if (rng.percent(q.gap_reported ? 15 : 1)) {
      const std::uint32_t back = (next_ - q.epsn) & kPsnMask;
      if (back > 0 && back <= history_.size()) cursor_ = back;
    }
    if (rng.percent(4) && !history_.empty()) {
      const Header& old = history_[history_.size() - 1 - rng.below(history_.size())];
      return rng.percent(20) ? damage(old) : old;
    }
    Header h;
    if (cursor_ > 0) {
      h = history_[history_.size() - cursor_--];
    } else {
      if (rng.percent(1)) remember(fresh());  // lost
      h = fresh();
      remember(h);
    }
    return rng.percent(fault_percent) ? damage(h) : h;
  }
  unsigned fault_percent = 2;

 private:
  Header fresh() {
    Rng& rng = b_.sim.rng();
    const std::uint32_t mtu = ResponderModel::mtu(c_.pmtu);
    Header h;
    if (rest_ == 0) {
      const std::uint32_t index = static_cast<std::uint32_t>(rng.below(std::min(kMrs, 4U)));
      const Region m = b_.table.lookup(index);
      std::uint32_t length =
          rng.percent(15) ? 0 : static_cast<std::uint32_t>(rng.percent(30) ? mtu * rng.below(6) : rng.below(mtu * 5));
      length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, m.length));
      const std::uint64_t room = m.length - length;
      const std::uint64_t va = m.base + (rng.percent(30) ? room : rng.percent(30) || room == 0 ? 0 : rng.below(room));
      rest_ = length;
      const std::uint32_t bytes = std::min(mtu, length);
      h = b_.header(c_, length > mtu ? kFirst : kOnly, next_, bytes);
      h.va = length == 0 ? rng.next() : va;
      h.rkey = length == 0 ? static_cast<std::uint32_t>(rng.next()) : m.key();
      h.dma_len = length;
      rest_ -= bytes;
    } else {
      const std::uint32_t bytes = std::min(mtu, rest_);
      h = b_.header(c_, rest_ > mtu ? kMiddle : kLast, next_, bytes);
      rest_ -= bytes;
    }
    h.ackreq = rng.percent(40);
    next_ = (next_ + 1) & kPsnMask;
    return h;
  }
  void remember(const Header& h) {
    history_.push_back(h);
    if (history_.size() > 512) history_.pop_front();
  }
  Header damage(Header h) {
    Rng& rng = b_.sim.rng();
    static constexpr std::uint8_t kOps[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B,
                                            0x0C, 0x0D, 0x10, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x1C, 0x1D, 0x81};
    const auto one_bit = [&](unsigned bits) { return std::uint64_t{1} << rng.below(bits); };
    switch (rng.below(18)) {
      case 0:
        h.opcode = kOps[rng.below(sizeof kOps)];
        break;
      case 1:
        h.opcode = static_cast<std::uint8_t>(rng.percent(50) ? 0x06 : 0x0A);
        break;
      case 2:
        h.pad ^= static_cast<std::uint8_t>(1 + rng.below(3));
        break;
      case 3:
        h.pay_bytes = static_cast<std::uint16_t>((h.pay_bytes + rng.between(0, 8) - 4) & 0x3FFF);
        h.pad = static_cast<std::uint8_t>((4 - h.pay_bytes % 4) % 4);
        break;
      case 4:
        h.rkey ^= static_cast<std::uint32_t>(one_bit(32));
        break;
      case 5:
        h.va ^= one_bit(64);
        break;
      case 6:
        h.dma_len ^= static_cast<std::uint32_t>(one_bit(32));
        break;
      case 7:
        h.va -= 1;
        break;
      case 8:
        h.va += 1;
        break;
      case 9:
        h.dqpn ^= static_cast<std::uint32_t>(one_bit(24));
        break;
      case 10:
        h.src_ip ^= static_cast<std::uint32_t>(one_bit(32));
        break;
      case 11:
        h.pkey ^= static_cast<std::uint16_t>(one_bit(16));
        break;
      case 12:
        h.psn = (h.psn + static_cast<std::uint32_t>(rng.next())) & kPsnMask;
        break;
      case 13:
        h.psn = (h.psn + 0x800000 + static_cast<std::uint32_t>(rng.between(0, 4)) - 2) & kPsnMask;
        break;
      case 14:
        h.psn ^= static_cast<std::uint32_t>(one_bit(24));
        break;
      case 15:
        h.opcode = kOps[12 + rng.below(11)];
        break;
      case 16:
        h.ackreq = !h.ackreq;
        break;
      default:
        h.va = ~std::uint64_t{0} - rng.below(512);
        break;
    }
    return h;
  }

  Bench& b_;
  QpSetup c_;
  std::uint32_t next_;
  std::uint32_t rest_ = 0;
  std::deque<Header> history_;
  std::size_t cursor_ = 0;
};

Region random_region(Bench& b, std::uint32_t index) {
  Rng& rng = b.sim.rng();
  static constexpr std::uint64_t kLengths[] = {
      0x100, 0x1000, 0x4321, 0x100000, 0xFFFFFFFF, 0x100000000, std::uint64_t{1} << 40};
  Region m = b.plain(index, 0, kLengths[rng.below(7)], static_cast<std::uint16_t>(rng.percent(5) ? 8 : 7));
  m.variant = static_cast<std::uint8_t>(rng.next());
  m.valid = !rng.percent(5);
  m.access = static_cast<std::uint8_t>(rng.percent(5) ? 0xE : 1 | rng.below(16));
  m.base = rng.percent(20) ? std::uint64_t{0} - m.length : rng.percent(20) ? 0 : rng.next() >> 1;
  return m;
}

QpSetup random_setup(Bench& b, std::uint32_t qpn) {
  Rng& rng = b.sim.rng();
  static constexpr std::uint8_t kCodes[] = {1, 1, 1, 2, 2, 3, 4, 5, 0, 6, 7};
  QpSetup c = b.working(qpn,
                        rng.percent(50) ? 0xFFFFFF - static_cast<std::uint32_t>(rng.below(40))
                                        : static_cast<std::uint32_t>(rng.next() & kPsnMask),
                        kCodes[rng.below(sizeof kCodes)]);
  c.access = static_cast<std::uint8_t>(rng.percent(4) ? 0xE : 1 | rng.below(16));
  c.state = static_cast<std::uint8_t>(rng.percent(10) ? rng.below(8) : 3);
  c.dip = static_cast<std::uint32_t>(rng.next());
  c.pkey = static_cast<std::uint16_t>(rng.next() | 0x8001);
  return c;
}

}  // namespace

TEST_CASE("random traffic with every fault, against the model") {
  std::map<std::string, std::uint64_t> total;
  std::uint64_t forwarded = 0;
  constexpr unsigned kStalls[][2] = {{0, 0}, {0, 50}, {50, 0}, {30, 30}, {0, 85}};
  for (unsigned round = 0; round < 5; ++round) {
    Bench b(100 + round);
    Rng& rng = b.sim.rng();
    for (std::uint32_t i = 0; i < std::min(kMrs, 4U); ++i) b.region(random_region(b, i));
    // A few QPs share most of the traffic, so that many packets of one QP are under way together.
    std::vector<Peer> peers;
    const std::uint32_t count = std::min<std::uint32_t>(kQps, round == 0 ? 1 : round == 1 ? 3 : 16);
    for (std::uint32_t i = 0; i < count; ++i) {
      const QpSetup c = random_setup(b, count == kQps ? i : static_cast<std::uint32_t>(i * (kQps / count)));
      peers.emplace_back(b, c);
      peers.back().fault_percent = round == 2 ? 15 : 2;
      b.setup(c);
    }
    b.settle();
    b.stalls(kStalls[round][0], kStalls[round][1]);
    const auto sent_before = b.score.commands_seen;
    for (unsigned cycle = 0; cycle < 40'000; ++cycle) {
      if (b.hdr.queue.size() < 3) b.send(peers[rng.percent(60) ? 0 : rng.below(count)].packet());
      if (rng.below(100) == 0) {
        Peer& p = peers[rng.below(count)];
        const bool dead = !b.score.model.qp(p.setup().qpn).alive;
        if (dead || rng.percent(10)) {
          p.restart(random_setup(b, p.setup().qpn));
          b.setup(p.setup());
        } else if (rng.percent(20)) {
          b.err.push(Record(24).put(p.setup().qpn, 24).value());
        } else if (rng.percent(50)) {
          QpSetup c = p.setup();
          c.setup = false;
          c.state = static_cast<std::uint8_t>(rng.percent(70) ? 3 : rng.below(8));
          c.dip = c.rq_psn = 0;
          b.setup(c);
        }
      }
      // Dead QPs are revived soon, in the middle of everything.
      if (rng.below(20) == 0) {
        Peer& p = peers[rng.below(count)];
        const ResponderModel::Qp& q = b.score.model.qp(p.setup().qpn);
        const bool receives = q.state == kRtr || q.state == kRts || q.state == kSqd;
        if ((!q.alive || !receives) && b.cfg.queue.empty()) {
          p.restart(random_setup(b, p.setup().qpn));
          b.setup(p.setup());
        }
      }
      if (rng.below(1500) == 0) {
        const auto index = static_cast<std::uint32_t>(rng.below(std::min(kMrs, 4U)));
        b.region(random_region(b, index));
      }
      b.sim.step();
      forwarded += b.score.last_command.forward;
    }
    b.stalls(0, 0);
    b.settle();
    CHECK(b.score.commands_seen - sent_before == b.score.headers);
    for (const auto& [name, value] : b.score.counters) total[name] += value;
  }
  // The traffic must have met everything.
  for (const char* name :
       {"accepted", "duplicates", "acks", "nak_psn", "nak_inv_req", "nak_access", "out_of_order", "drop_replay",
        "drop_opcode", "drop_qpn", "drop_state", "drop_addr", "drop_pkey", "drop_dead"}) {
    INFO(std::string(name));
    CHECK(total[name] > 0);
  }
  CHECK(total["accepted"] > total["requests"] / 4);
  for (const auto& [name, value] : total) MESSAGE(name << " " << value);
}
