// Bench of rx_responder: every command, answer, event and counter against the model in responder_model.h.
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/responder_model.h"

using namespace rocegen::bench;

namespace {

constexpr std::uint32_t kQps = P_QpCount;
constexpr std::uint32_t kMrs = P_MrCount;
constexpr std::uint32_t kSrqs = P_SrqCount;
constexpr std::uint32_t kReadDepth = P_RdDepth;
constexpr bool kSelective = P_Selective != 0;

enum Op : std::uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImm = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImm = 0x05,
  kFirst = 0x06,
  kMiddle = 0x07,
  kLast = 0x08,
  kLastImm = 0x09,
  kOnly = 0x0A,
  kOnlyImm = 0x0B,
  kReadRequest = 0x0C,
  kCmpSwap = 0x13,
  kFetchAdd = 0x14,
  kSendLastInv = 0x16,
  kSendOnlyInv = 0x17
};

/// The table of regions: answers mr_index_o two cycles later, as mr_table does, and takes invalidations as late as the
/// responder allows.
class RegionTable : public Agent {
 public:
  explicit RegionTable(Vdut& dut) : dut_(dut), entry_(dut.mr_entry_i, Region::kWidth) {}
  Region lookup(std::uint32_t index) const {
    const auto at = regions.find(index);
    return index < kMrs && at != regions.end() ? at->second : Region{};
  }
  void drive() override { entry_.set_value(second_.pack()); }
  void sample() override {
    ++now_;
    while (!due_.empty() && due_.front().first <= now_) {
      regions[due_.front().second].valid = false;
      gone.erase(gone.find(due_.front().second));
      due_.pop_front();
    }
    second_ = first_;
    // Nobody asked: whatever the other user wants to know. An index beyond the table shows the region that shares its
    // low bits: the responder must not believe it.
    const auto index = static_cast<std::uint32_t>(dut_.mr_index_o);
    first_ = lookup((dut_.mr_req_o ? index : index + 1) % kMrs);
    first_.index = 0;
    if (dut_.inv_valid_o) {
      REQUIRE_MESSAGE(!expected.empty(), "an invalidation that nobody asked for");
      REQUIRE(dut_.inv_index_o == expected.front());
      due_.emplace_back(now_ + 3, expected.front());
      expected.pop_front();
    }
  }
  void on_reset() override {
    due_.clear();
    gone.clear();
    expected.clear();
  }
  std::map<std::uint32_t, Region> regions;
  std::multiset<std::uint32_t> gone;   ///< invalidated, but not yet in the table
  std::deque<std::uint32_t> expected;  ///< invalidations that the responder has still to tell

 private:
  Vdut& dut_;
  Port entry_;
  Region first_, second_;
  std::uint64_t now_ = 0;
  std::deque<std::pair<std::uint64_t, std::uint32_t>> due_;
};

/// The receive rings, as rq_engine keeps them: set-ups arrive some cycles before or after the responder takes them.
class RingTable : public Agent {
 public:
  explicit RingTable(Sim<Vdut>& sim)
      : sim_(sim), ring_(sim.dut.rq_ring_i, Ring::kWidth), slot_(sim.dut.rq_slot_i, Slot::kWidth) {}
  void drive() override {
    ring_.set_value(ring2_.pack());
    slot_.set_value(slot2_.pack());
    sim_.dut.rcq_room_i = sim_.rng().percent(no_room) ? 0 : 1;
  }
  void sample() override {
    ++now_;
    while (!due_.empty() && due_.front().when <= now_) {
      Ring& r = rings[due_.front().row];
      r = {static_cast<std::uint8_t>((r.gen + 1) & 15), due_.front().base, due_.front().log2, 0};
      heads[due_.front().row] = 0;
      --waiting[due_.front().row];
      due_.pop_front();
    }
    ring2_ = ring1_;
    slot2_ = slot1_;
    // A row that does not exist shows anything, one that was never set up an empty ring.
    const auto row = rings.find(sim_.dut.rq_row_o);
    Rng& rng = sim_.rng();
    ring1_ = row != rings.end() ? row->second
             : sim_.dut.rq_row_o < kQps + kSrqs
                 ? Ring{}
                 : Ring{static_cast<std::uint8_t>(rng.below(16)), static_cast<std::uint32_t>(rng.below(1 << 20)),
                        static_cast<std::uint8_t>(rng.below(32)), static_cast<std::uint32_t>(rng.below(1 << 22))};
    slot1_ = slot(sim_.dut.rq_slot_o);
    if (sim_.dut.head_we_o) heads[sim_.dut.head_row_o] = sim_.dut.head_o;
  }
  void on_reset() override {
    rings.clear();
    due_.clear();
    waiting.clear();
  }
  Slot slot(std::uint32_t number) const {
    const auto at = slots.find(number);
    return at != slots.end() ? at->second : Slot{};
  }
  /// A set-up of a ring goes to the responder now.
  void restart(std::uint32_t row, std::uint32_t base, std::uint8_t log2) {
    const std::uint64_t when = now_ + sim_.rng().below(slow ? 40 : 2);
    due_.push_back({std::max(when, due_.empty() ? 0 : due_.back().when), row, base, log2});
    ++waiting[row];
  }
  /// Entries that may still be posted into a ring.
  std::uint32_t free(std::uint32_t row) {
    const auto at = rings.find(row);
    if (at == rings.end() || waiting[row] != 0) return 0;
    return (1U << at->second.log2) - ((at->second.tail - heads[row]) & 0x3FFFFF);
  }
  bool post(std::uint32_t row, const Slot& entry) {
    if (free(row) == 0) return false;
    Ring& r = rings[row];
    slots[r.slot(r.tail)] = entry;
    r.tail = (r.tail + 1) & 0x3FFFFF;
    return true;
  }
  std::map<std::uint32_t, Ring> rings;
  std::map<std::uint32_t, Slot> slots;
  std::map<std::uint32_t, std::uint32_t> heads;  ///< as told by the responder
  std::map<std::uint32_t, int> waiting;
  unsigned no_room = 0;
  bool slow = false;  ///< set-ups may take long

 private:
  struct Due {
    std::uint64_t when;
    std::uint32_t row, base;
    std::uint8_t log2;
  };
  Sim<Vdut>& sim_;
  Port ring_, slot_;
  Ring ring1_, ring2_;
  Slot slot1_, slot2_;
  std::uint64_t now_ = 0;
  std::deque<Due> due_;
};

/// Sees what the responder takes and, when its region is looked up, asks the model.
class Scoreboard : public Agent {
 public:
  enum class Kind { kHeader, kSetup, kSrq, kKill };
  struct Taken {
    std::uint64_t at;  ///< cycle in which it was taken
    Kind kind;
    Bytes data;
    std::map<std::uint32_t, Ring> rings;  ///< two cycles later
    bool room = false;                    ///< four cycles later
  };
  Scoreboard(Sim<Vdut>& sim, RegionTable& table, RingTable& rings)
      : dut_(sim.dut), sim_(sim), table_(table), rings_(rings) {}

  /// rsp_engine tells how many READs and atomics it has finished: the more of them the slower, zero at once.
  void drive() override {
    dut_.rd_done_we_i = 0;
    dut_.rd_done_qpn_i = static_cast<std::uint32_t>(sim_.rng().below(1 << 24));
    dut_.rd_done_i = static_cast<std::uint8_t>(sim_.rng().next());
    if (told_running_ == 5 || open_reads.empty() || !sim_.rng().percent(finish_percent)) {
      told_running_ = 0;
      return;
    }
    const auto [qpn, setups] = open_reads.front();
    open_reads.pop_front();
    if (setups != setups_pushed[qpn]) return;
    ++told_running_;
    dut_.rd_done_we_i = 1;
    dut_.rd_done_qpn_i = qpn;
    dut_.rd_done_i = static_cast<std::uint8_t>(++finished_[{qpn, setups}]);
    done_due_.push_back({now_ + 2, qpn, dut_.rd_done_i});  // this cycle is now_ + 1
  }
  void sample() override {
    ++now_;
    take(dut_.s_hdr_tvalid && dut_.s_hdr_tready, Kind::kHeader, Port(dut_.s_hdr_tdata, Header::kWidth));
    take(dut_.s_cfg_tvalid && dut_.s_cfg_tready, Kind::kSetup, Port(dut_.s_cfg_tdata, QpSetup::kWidth));
    take(dut_.s_srq_tvalid && dut_.s_srq_tready, Kind::kSrq, Port(dut_.s_srq_tdata, SrqSetup::kWidth));
    take(dut_.s_err_tvalid && dut_.s_err_tready, Kind::kKill, Port(dut_.s_err_tdata, Event::kWidth));
    for (Taken& t : pending) {
      if (t.at + 2 == now_ && t.kind == Kind::kHeader) t.rings = rings_.rings;
      if (t.at + 4 == now_) t.room = dut_.rcq_room_i != 0;
    }
    for (const DoneDue& d : done_due_)
      if (d.when <= now_) done_[d.qpn] = d.count;
    std::erase_if(done_due_, [&](const DoneDue& d) { return d.when <= now_; });
    // The index of a header shows six cycles after the header was taken; the table samples it at the end of that cycle.
    // A change of a ring's head shows in that cycle, too.
    HeadChange seen{dut_.head_row_o, dut_.head_o, dut_.head_gen_o};
    bool told = dut_.head_we_o != 0;
    while (!pending.empty() && pending.front().at + 6 <= now_) {
      const Outcome o = judge(pending.front(), told ? std::optional(seen) : std::nullopt);
      INFO("slot kind ", int(pending.front().kind), " counts as ", o.counter, ", row ", seen.row, " head ", seen.head,
           ", seed ", seed());
      REQUIRE_MESSAGE(o.head.has_value() == told, "a change of a ring's head, or none");
      if (told) REQUIRE(*o.head == seen);
      told = false;
      given_.push_back({pending.front().at + 11, model.writes(), model.atomics()});
      pending.pop_front();
      if (!pending.empty()) REQUIRE(pending.front().at + 6 > now_);
    }
    REQUIRE_MESSAGE(!told, "a change of a ring's head for nothing");
    // Nothing is taken until ePSN has jumped, and no header was 13 cycles before that is looked at.
    if (model.walks_wait() && pending.empty() && now_ >= last_header_ + 13) {
      for (const Answer& a : model.walk()) answers.emplace_back(a, "jump");
    }
    while (!given_.empty() && given_.front().when <= now_) {
      writes_ = given_.front().writes;
      atomics_ = given_.front().atomics;
      given_.pop_front();
    }
    REQUIRE(dut_.writes_o == writes_);
    REQUIRE(dut_.atomics_o == atomics_);
    count("requests", dut_.cnt_rsp_requests_o);
    count("accepted", dut_.cnt_rsp_accepted_o);
    count("duplicates", dut_.cnt_rsp_duplicates_o);
    count("replays", dut_.cnt_rsp_replays_o);
    count("acks", dut_.cnt_rsp_acks_o);
    count("nak_psn", dut_.cnt_rsp_nak_psn_o);
    count("nak_inv_req", dut_.cnt_rsp_nak_inv_req_o);
    count("nak_access", dut_.cnt_rsp_nak_access_o);
    count("nak_op", dut_.cnt_rsp_nak_op_o);
    count("rnr_naks", dut_.cnt_rsp_rnr_naks_o);
    count("out_of_order", dut_.cnt_rsp_out_of_order_o);
    count("placed", dut_.cnt_rsp_placed_o);
    count("jumps", dut_.cnt_rsp_jumps_o);
    count("reads", dut_.cnt_rsp_reads_o);
    count("atomics", dut_.cnt_rsp_atomics_o);
    count("receives", dut_.cnt_rsp_receives_o);
    count("invalidates", dut_.cnt_rsp_invalidates_o);
    count("bad_invalidates", dut_.cnt_rsp_bad_invalidates_o);
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
    reads.clear();
    receives.clear();
    events.clear();
    counters.clear();
    seen_answers.clear();
    seen_reads.clear();
    seen_receives.clear();
    seen_events.clear();
    model = ResponderModel(kQps, kSrqs, kReadDepth, kSelective);
    given_.clear();
    writes_ = atomics_ = 0;
    headers = 0;
    dut_.rd_done_we_i = 0;
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
    REQUIRE(int(got.kind) == int(want.kind));
    REQUIRE(int(got.idx) == int(want.idx));
    REQUIRE(int(got.target) == int(want.target));
    REQUIRE(got.qpn == want.qpn);
    REQUIRE(got.psn == want.psn);
    REQUIRE(got.addr == want.addr);
    REQUIRE(got == want);
    ++commands_seen;
    last_command = got;
  }
  void got_answer(const Bytes& beat) {
    Answer got = Answer::unpack(beat);
    INFO("answer qpn ", got.qpn, " syndrome ", int(got.syndrome), " psn ", got.psn, " msn ", got.msn, " seed ", seed());
    REQUIRE_MESSAGE(!answers.empty(), "an answer that nobody asked for");
    const auto [want, text] = answers.front();
    answers.pop_front();
    INFO(text);
    REQUIRE(got.qpn == want.qpn);
    if (text == "jump" && want.syndrome == 0) {
      REQUIRE(got.syndrome < 0x20);
    } else {
      REQUIRE(int(got.syndrome) == int(want.syndrome));
    }
    REQUIRE(got.psn == want.psn);
    REQUIRE(got.msn == want.msn);
    REQUIRE(got.dup == want.dup);
    REQUIRE(got.ordered == want.ordered);
    REQUIRE(int(got.reads) == int(want.reads));
    REQUIRE(got.wtag == want.wtag);
    got.wtag = 0;  // the directed tests count neither writes nor READs
    got.reads = 0;
    seen_answers.push_back(got);
  }
  void got_read(const Bytes& beat) {
    ReadRequest got = ReadRequest::unpack(beat);
    INFO("read kind ", int(got.kind), " qpn ", got.qpn, " psn ", got.psn, " seed ", seed());
    REQUIRE_MESSAGE(!reads.empty(), "a READ that nobody asked for");
    const auto [want, setups] = reads.front();
    reads.pop_front();
    REQUIRE(int(got.kind) == int(want.kind));
    REQUIRE(got.qpn == want.qpn);
    REQUIRE(int(got.idx) == int(want.idx));
    REQUIRE(got.psn == want.psn);
    REQUIRE(got.last_psn == want.last_psn);
    REQUIRE(got.msn == want.msn);
    REQUIRE(got.length == want.length);
    REQUIRE(got == want);
    if (got.kind <= kAtomic && finish_percent > 0) open_reads.emplace_back(got.qpn, setups);
    seen_reads.push_back(got);
  }
  void got_receive(const Bytes& beat) {
    const Receive got = Receive::unpack(beat);
    INFO("receive qpn ", got.qpn, " flush ", got.flush, " status ", int(got.status), " wr_id ", got.wr_id, " seed ",
         seed());
    REQUIRE_MESSAGE(!receives.empty(), "a completion that nobody asked for");
    const auto [want, text] = receives.front();
    receives.pop_front();
    INFO(text);
    REQUIRE(got.flush == want.flush);
    REQUIRE(got.qpn == want.qpn);
    REQUIRE(got.wr_id == want.wr_id);
    REQUIRE(int(got.status) == int(want.status));
    REQUIRE(got.bytes == want.bytes);
    REQUIRE(got.imm == want.imm);
    REQUIRE(got.wtag == want.wtag);
    REQUIRE(got == want);
    seen_receives.push_back(got);
  }
  void got_event(const Bytes& beat) {
    REQUIRE_MESSAGE(!events.empty(), "an event for nothing");
    REQUIRE(Event::unpack(beat) == events.front());
    seen_events.push_back(events.front());
    events.pop_front();
  }
  bool settled() const {
    return !model.walks_wait() && pending.empty() && commands.empty() && answers.empty() && reads.empty() &&
           receives.empty() && events.empty() && table_.expected.empty();
  }
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
  std::uint8_t done(std::uint32_t qpn) { return done_[qpn]; }

  ResponderModel model{kQps, kSrqs, kReadDepth, kSelective};
  std::deque<Taken> pending;
  std::deque<std::pair<Command, std::string>> commands;
  std::deque<std::pair<Answer, std::string>> answers;
  std::deque<std::pair<ReadRequest, std::uint64_t>> reads;  ///< with the number of the QP's set-ups
  std::deque<std::pair<Receive, std::string>> receives;
  std::deque<Event> events;
  std::deque<std::pair<std::uint32_t, std::uint64_t>> open_reads;  ///< QPN, set-ups
  std::map<std::uint32_t, std::uint64_t> setups_pushed;
  std::map<std::string, std::uint64_t> counters;
  std::vector<Answer> seen_answers;
  std::vector<ReadRequest> seen_reads;
  std::vector<Receive> seen_receives;
  std::vector<Event> seen_events;
  Command last_command;
  std::uint64_t commands_seen = 0;
  std::uint64_t headers = 0;
  std::uint64_t dead_takes = 0;
  unsigned finish_percent = 0;  ///< READs and atomics are finished by themselves

 private:
  struct DoneDue {
    std::uint64_t when;
    std::uint32_t qpn;
    std::uint8_t count;
  };
  void take(bool now, Kind kind, const Port& data) {
    if (!now) return;
    pending.push_back({now_, kind, data.value(), {}, false});
    headers += kind == Kind::kHeader;
    if (kind == Kind::kHeader) last_header_ = now_;
  }
  Outcome judge(const Taken& t, std::optional<HeadChange> seen) {
    Outcome o;
    std::string text;
    std::uint32_t qpn = 0;
    if (t.kind == Kind::kSetup) {
      const QpSetup c = QpSetup::unpack(t.data);
      o = model.configure(c);
      if (c.setup && c.qpn < kQps) done_[c.qpn] = 0;
    } else if (t.kind == Kind::kSrq) {
      o = model.configure(SrqSetup::unpack(t.data));
    } else if (t.kind == Kind::kKill) {
      const Event e = Event::unpack(t.data);
      qpn = e.qpn;
      o = model.kill(e);
      died_[qpn] = t.at;
      text = "kill";
    } else {
      const Header h = Header::unpack(t.data);
      qpn = h.dqpn;
      Surroundings s;
      s.region = [&](std::uint32_t index) {
        Region m = table_.lookup(index);
        if (table_.gone.contains(index)) m.valid = false;
        return m;
      };
      s.ring = [&](std::uint32_t row) {
        const auto at = t.rings.find(row);
        return at != t.rings.end() ? at->second : Ring{};
      };
      s.slot = [&](std::uint32_t number) { return rings_.slot(number); };
      s.done = [&](std::uint32_t q) { return done_[q]; };
      s.room = t.room;
      const bool alive = qpn < kQps && model.qp(qpn).alive;
      // Only the three slots right behind the fatal one may not know yet.
      s.dead_takes = seen && !alive && died_.contains(qpn) && t.at <= died_[qpn] + 6;
      dead_takes += s.dead_takes;
      o = model.request(h, s);
      if (alive && !model.qp(qpn).alive) died_[qpn] = t.at;
      if (qpn < kQps && o.read) reads.emplace_back(*o.read, model.qp(qpn).setups);
      text = "opcode " + std::to_string(h.opcode) + " qpn " + std::to_string(h.dqpn) + " psn " + std::to_string(h.psn) +
             " bytes " + std::to_string(h.pay_bytes) + " dma_len " + std::to_string(h.dma_len) + " wants " + o.counter +
             " ";
      commands.emplace_back(o.fetch, text);
    }
    if (o.answer) answers.emplace_back(*o.answer, text);
    for (const Receive& r : o.receives) receives.emplace_back(r, text);
    if (o.event) events.push_back(*o.event);
    if (o.invalidated) {
      table_.gone.insert(*o.invalidated);
      table_.expected.push_back(*o.invalidated);
    }
    return o;
  }
  void count(const char* name, bool pulse) {
    if (pulse) ++counters[name];
  }

  Vdut& dut_;
  Sim<Vdut>& sim_;
  RegionTable& table_;
  RingTable& rings_;
  std::uint64_t now_ = 0;
  std::uint64_t last_header_ = 0;
  unsigned told_running_ = 0;
  std::map<std::uint32_t, std::uint8_t> done_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> finished_;
  std::map<std::uint32_t, std::uint64_t> died_;
  std::deque<DoneDue> done_due_;
  struct Given {
    std::uint64_t when;
    std::uint16_t writes, atomics;
  };
  std::deque<Given> given_;
  std::uint16_t writes_ = 0, atomics_ = 0;
};

struct Bench {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        table(sim.dut),
        rings(sim),
        score(sim, table, rings),
        hdr(sim.rng(), Port(sim.dut.s_hdr_tvalid, 1), Port(sim.dut.s_hdr_tready, 1),
            Port(sim.dut.s_hdr_tdata, Header::kWidth)),
        cfg(sim.rng(), Port(sim.dut.s_cfg_tvalid, 1), Port(sim.dut.s_cfg_tready, 1),
            Port(sim.dut.s_cfg_tdata, QpSetup::kWidth)),
        srq(sim.rng(), Port(sim.dut.s_srq_tvalid, 1), Port(sim.dut.s_srq_tready, 1),
            Port(sim.dut.s_srq_tdata, SrqSetup::kWidth)),
        err(sim.rng(), Port(sim.dut.s_err_tvalid, 1), Port(sim.dut.s_err_tready, 1),
            Port(sim.dut.s_err_tdata, Event::kWidth)),
        fetch(sim.rng(), Port(sim.dut.m_fetch_tvalid, 1), Port(sim.dut.m_fetch_tready, 1),
              Port(sim.dut.m_fetch_tdata, Command::kWidth)),
        ack(sim.rng(), Port(sim.dut.m_ack_tvalid, 1), Port(sim.dut.m_ack_tready, 1),
            Port(sim.dut.m_ack_tdata, Answer::kWidth)),
        rd(sim.rng(), Port(sim.dut.m_rd_tvalid, 1), Port(sim.dut.m_rd_tready, 1),
           Port(sim.dut.m_rd_tdata, ReadRequest::kWidth)),
        rcq(sim.rng(), Port(sim.dut.m_rcq_tvalid, 1), Port(sim.dut.m_rcq_tready, 1),
            Port(sim.dut.m_rcq_tdata, Receive::kWidth)),
        evt(sim.rng(), Port(sim.dut.m_evt_tvalid, 1), Port(sim.dut.m_evt_tready, 1),
            Port(sim.dut.m_evt_tdata, Event::kWidth)) {
    // The tables sample before the scoreboard looks at them.
    for (Agent* a : {static_cast<Agent*>(&hdr), static_cast<Agent*>(&cfg), static_cast<Agent*>(&srq),
                     static_cast<Agent*>(&err), static_cast<Agent*>(&fetch), static_cast<Agent*>(&ack),
                     static_cast<Agent*>(&rd), static_cast<Agent*>(&rcq), static_cast<Agent*>(&evt),
                     static_cast<Agent*>(&table), static_cast<Agent*>(&rings), static_cast<Agent*>(&score)})
      sim.add(*a);
    fetch.on_beat = [this](const Bytes& b) { score.got_command(b); };
    ack.on_beat = [this](const Bytes& b) { score.got_answer(b); };
    rd.on_beat = [this](const Bytes& b) { score.got_read(b); };
    rcq.on_beat = [this](const Bytes& b) { score.got_receive(b); };
    evt.on_beat = [this](const Bytes& b) { score.got_event(b); };
    // Before the first edge in reset registers hold anything, and the RAMs' range assertion knows no reset.
    sim.context().assertOn(false);
    sim.dut.life_i = 0;
    sim.reset();
    sim.context().assertOn(true);
    sim.run_until([this] { return sim.dut.ready_o != 0; }, kQps + kSrqs + 20);
  }
  void stalls(unsigned in, unsigned out) {
    hdr.stall_percent = cfg.stall_percent = srq.stall_percent = err.stall_percent = in;
    fetch.stall_percent = ack.stall_percent = rd.stall_percent = rcq.stall_percent = evt.stall_percent = out;
  }
  /// Everything offered is taken and all its effects are seen.
  void settle(std::uint64_t limit = 20'000) {
    sim.run_until(
        [this] {
          return hdr.queue.empty() && cfg.queue.empty() && srq.queue.empty() && err.queue.empty() && score.settled();
        },
        limit);
    sim.run(kSelective ? 170 : 20);  // behind a set-up cells are cleared
    score.check_counters();
  }
  void setup(const QpSetup& c) {
    cfg.push(c.pack(sim.rng()));
    if (!c.setup || c.qpn >= kQps) return;
    ++score.setups_pushed[c.qpn];
    rings.restart(c.qpn, c.rq_base, c.rq_log2);
  }
  void setup(const SrqSetup& c) {
    srq.push(c.pack());
    if (c.srqn < kSrqs) rings.restart(kQps + c.srqn, c.base, c.log2);
  }
  void kill(std::uint32_t qpn, std::uint8_t cause = 5, bool rsp = false, std::uint32_t psn = 0) {
    err.push(Event{cause, rsp, psn, qpn}.pack());
  }
  /// A working QP with peer 10.0.0.<qpn>, without a receive ring.
  QpSetup working(std::uint32_t qpn, std::uint32_t psn, std::uint8_t pmtu = 1, std::uint16_t pd = 7) {
    QpSetup c;
    c.qpn = qpn;
    c.pmtu = pmtu;
    c.pd = pd;
    c.rq_psn = psn;
    c.dip = 0x0A000000U + qpn + 1;
    return c;
  }
  /// The same with a ring of eight entries.
  QpSetup receiving(std::uint32_t qpn, std::uint32_t psn, std::uint8_t pmtu = 1) {
    QpSetup c = working(qpn, psn, pmtu);
    c.rq_on = true;
    c.rq_base = 8 * qpn;
    c.rq_log2 = 3;
    return c;
  }
  /// Posts an entry of its own target, and with the wr_id as address, shifted, into a ring that has room.
  void post(std::uint32_t row, std::uint64_t wr_id, std::uint32_t length) {
    sim.run_until([&] { return rings.free(row) > 0; }, 200);
    REQUIRE(rings.post(row, {static_cast<std::uint8_t>(wr_id & 7), wr_id << 16, length, wr_id}));
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
    m.target = 3;
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
             std::uint64_t va = 0, std::uint32_t rkey = 0, std::uint32_t dma_len = 0, std::uint32_t imm = 0) {
    Header h = header(c, op, psn, bytes);
    h.ackreq = ackreq;
    h.va = va;
    h.rkey = rkey;
    h.dma_len = dma_len;
    h.imm = imm;
    send(h);
  }
  /// Answers since the last call.
  std::vector<Answer> answers() {
    settle();
    return std::exchange(score.seen_answers, {});
  }
  /// READs and atomics handed on since the last call.
  std::vector<ReadRequest> reads() {
    settle();
    return std::exchange(score.seen_reads, {});
  }
  /// Completions since the last call.
  std::vector<Receive> receives() {
    settle();
    return std::exchange(score.seen_receives, {});
  }

  Sim<Vdut> sim;
  RegionTable table;
  RingTable rings;
  Scoreboard score;
  StreamSource hdr, cfg, srq, err;
  StreamSink fetch, ack, rd, rcq, evt;
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

TEST_CASE("of the WRITE under way what comes ahead of ePSN is placed, up to 119 PSNs, also over the wrap (L19)") {
  if (!kSelective) return;
  for (const std::uint32_t psn : {0x50U, 0xFFFFFAU, 0xFFFF90U}) {
    Bench b(60);
    const QpSetup c = b.working(0, psn);
    b.setup(c);
    b.region(b.plain(0, 0x1000, 0x100000));
    const auto middle = [&](std::uint32_t k, bool ackreq = false) { b.write(c, kMiddle, psn + k, 256, ackreq); };
    const auto at = [&](std::uint32_t k) { return (psn + k) & kPsnMask; };
    b.write(c, kFirst, psn, 256, false, 0x2003, kKey, 256 * 300 + 7);
    for (unsigned k = 2; k < 140; ++k) middle(k);
    CHECK(b.answers() == list({{0, 0x60, at(1), 0, false}}));
    CHECK(b.score.model.placed() == 119);
    middle(1);
    CHECK(b.answers() == list({{0, 0x1F, at(120), 0, false}}));
    // Three gaps: each jump names the next. Two packets are lost in the second.
    for (const unsigned k : {122, 124, 127, 129, 130}) middle(k);
    CHECK(b.answers() == list({{0, 0x60, at(121), 0, false}}));
    middle(121);
    CHECK(b.answers() == list({{0, 0x60, at(123), 0, false}}));
    middle(123);
    middle(130);
    CHECK(b.answers() == list({{0, 0x60, at(125), 0, false}}));
    middle(125, true);  // nothing behind it yet
    middle(126);
    CHECK(b.answers() == list({{0, 0x1F, at(125), 0, false}, {0, 0x60, at(128), 0, false}}));
    middle(128);
    CHECK(b.answers() == list({{0, 0x1F, at(130), 0, false}}));
    // Nothing of the lap before counts, nor what is beyond the end of the message.
    for (unsigned k = 131; k < 298; ++k) middle(k);
    b.write(c, kLast, psn + 300, 7);
    middle(299);
    middle(301);
    CHECK(b.answers() == list({{0, 0x60, at(298), 0, false}}));
    middle(298);
    CHECK(b.answers() == list({{0, 0x1F, at(300), 1, false}}));
    // 304 comes while the jump is under way: it is dropped, and the jump's answer asks for it.
    b.write(c, kFirst, psn + 301, 256, false, 0x2003, kKey, 256 * 4);
    middle(303);
    CHECK(b.answers() == list({{0, 0x60, at(302), 1, false}}));
    middle(302);
    b.write(c, kOnly, psn + 306, 8, true, 0x1000, kKey, 8);
    CHECK(b.answers() == list({{0, 0x60, at(304), 1, false}}));
    b.write(c, kLast, psn + 304, 256);
    CHECK(b.answers() == list({{0, 0x1F, at(304), 2, false}}));
  }
}

TEST_CASE("no message but the WRITE under way is placed; a set-up forgets what was (L19)") {
  if (!kSelective) return;
  Bench b(61);
  QpSetup c = b.working(0, 10);
  c.max_dest_rd = 1;
  c.access = 7;
  b.region(b.plain(0, 0x1000, 0x100000));
  b.setup(c);
  // Between messages nothing is.
  b.write(c, kOnly, 11, 8, true, 0x1000, kKey, 8);
  b.write(c, kFirst, 12, 256, false, 0x3000, kKey, 1000);
  b.write(c, kMiddle, 13, 256, false);
  b.settle();
  CHECK(b.score.model.placed() == 0);
  b.write(c, kOnly, 10, 8, true, 0x1000, kKey, 8);
  CHECK(b.answers() == list({{0, 0x60, 10, 0, false}, {0, 0x1F, 10, 1, false}}));
  // Of the next message nothing, even when only the last packet of this one is missing.
  b.write(c, kFirst, 11, 256, false, 0x3000, kKey, 300);
  b.write(c, kOnly, 13, 8, true, 0x1000, kKey, 8);
  b.write(c, kFirst, 14, 256, false, 0x4000, kKey, 1000);
  b.write(c, kMiddle, 15, 256, false);
  b.settle();
  CHECK(b.score.model.placed() == 0);
  b.write(c, kLast, 12, 44);
  CHECK(b.answers() == list({{0, 0x60, 12, 1, false}, {0, 0x1F, 12, 2, false}}));
  // Lengths that do not fit: not placed, fatal in their turn only.
  b.write(c, kFirst, 13, 256, false, 0x3000, kKey, 1000);
  b.write(c, kLast, 15, 256, false);
  b.write(c, kMiddle, 16, 256, false);
  b.write(c, kLast, 16, 231, false);
  b.write(c, kMiddle, 15, 255, false);
  b.settle();
  CHECK(b.score.model.placed() == 0);
  b.write(c, kLast, 16, 232, false);
  b.settle();
  CHECK(b.score.model.placed() == 1);
  b.answers();
  b.setup(c);
  b.write(c, kFirst, 10, 256, false, 0x3000, kKey, 10000);
  for (unsigned k = 11; k < 16; ++k) b.write(c, kMiddle, k, 256, k == 15);
  CHECK(b.answers() == list({{0, 0x1F, 15, 0, false}}));
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
  CHECK(b.score.counters["drop_replay"] == 4);  // atomics without operands, FLUSH, ATOMIC WRITE
  CHECK(b.score.counters["replays"] == 1);      // READ of nothing
  CHECK(b.score.counters["drop_opcode"] == 256 - 14 - 5);
}

TEST_CASE("operations that are not enabled: NAK 0x61, one event, dead at once (L37)") {
  Bench b(9);
  std::uint64_t refused = 0, not_ready = 0;
  for (unsigned op = 0; op < 256; ++op) {
    QpSetup c = b.working(op % kQps, 77);
    c.access = 0;
    c.min_rnr_timer = 9;
    b.setup(c);
    b.settle();
    b.score.seen_answers.clear();
    b.score.seen_events.clear();
    b.send(b.header(c, static_cast<std::uint8_t>(op), 77, 0));
    b.send(b.header(c, kOnly, 78, 0));  // right behind
    b.settle();
    INFO("opcode ", op);
    const auto what = ResponderModel::decode(static_cast<std::uint8_t>(op));
    if (what.what == what.kSend && what.first) {  // is enabled, but there is no ring
      ++not_ready;
      CHECK(b.answers() == list({{c.qpn, 0x29, 77, 0, false}}));
      CHECK(b.score.seen_events.empty());
    } else if (what.what != what.kNone) {
      ++refused;
      CHECK(b.answers() == list({{c.qpn, 0x61, 77, 0, false}}));
      CHECK(b.score.seen_events == std::vector<Event>{{kEvtNakInvReq, false, 77, c.qpn}});
      CHECK(b.score.counters["drop_dead"] == refused);
    } else {
      CHECK(b.answers() == list({{c.qpn, 0x60, 77, 0, false}}));
    }
  }
  CHECK(not_ready == 4);
  CHECK(refused == 19 - 4);
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
    CHECK(b.score.seen_events == std::vector<Event>{{kEvtNakInvReq, false, (at - 1) & kPsnMask, c.qpn}});
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

TEST_CASE("packets ahead of the last of 2^23 packets lie behind the message, not at its begin (--long)") {
  const char* const all = std::getenv("ROCEGEN_LONG");
  if (!kSelective || kQps != 1 || all == nullptr || std::string_view(all) != "ON") return;
  Bench b(12);
  const QpSetup c = b.working(0, 0, 1);
  b.setup(c);
  b.region(b.plain(0, 0x100000000, 0x80000000));
  b.settle();
  b.write(c, kFirst, 0, 256, false, 0x100000000, kKey, 0x80000000);
  constexpr std::uint32_t kPackets = 1U << 23;
  for (std::uint32_t k = 1; k < kPackets - 2; ++k) {
    b.write(c, kMiddle, k, 256);
    if (k % 1024 == 0) b.sim.run_until([&] { return b.hdr.queue.size() < 64; }, 10'000);
  }
  b.settle();
  b.answers();
  const unsigned placed = b.score.model.placed();
  b.write(c, kLast, kPackets - 1, 256);
  b.write(c, kMiddle, kPackets, 256);
  b.write(c, kMiddle, kPackets + 1, 256);
  CHECK(b.answers() == list({{0, 0x60, kPackets - 2, 0, false}}));
  CHECK(b.score.model.placed() == placed + 1);
  b.write(c, kMiddle, kPackets - 2, 256);
  CHECK(b.answers() == list({{0, 0x1F, kPackets - 1, 1, false}}));
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
      CHECK(b.score.seen_events == std::vector<Event>{{kEvtNakAccess, false, 9, qpn}});
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
    CHECK(b.score.seen_events == std::vector<Event>{{kEvtNakAccess, false, 2, 0}});
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
#if P_Services
  for (std::uint8_t life = 1; life < 64; ++life) {  // judged by the services of another life of the queue pair
    h = b.header(c, kOnly, 3, 0);
    h.life = life;
    b.send(h);
  }
  CHECK(b.answers().empty());
  CHECK(b.score.counters["drop_addr"] == 32 + 63);
#endif
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
  b.kill(c.qpn);
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
    b.kill(q);
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
    b.kill(c.qpn);
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
  enum { kFetchOut, kAckOut, kEvtOut, kReadOut, kReceiveOut };
  for (unsigned which = 0; which < 5; ++which) {
    Bench b(22 + which);
    b.region(b.plain(0, 0, 1ULL << 32));
    QpSetup c = b.working(0, 0);
    c.max_dest_rd = static_cast<std::uint8_t>(kReadDepth);
    c.rq_on = true;
    c.rq_log2 = 7;
    b.setup(c);
    b.settle();
    if (which == kReceiveOut)
      for (unsigned i = 0; i < 100; ++i) b.post(0, i, 64);
    b.score.finish_percent = 100;
    StreamSink* const sinks[] = {&b.fetch, &b.ack, &b.evt, &b.rd, &b.rcq};
    StreamSink& slow = *sinks[which];
    slow.stall_percent = 100;
    for (unsigned i = 0; i < 100; ++i) {
      // An event each needs a set-up each; so does a READ when few may be under way.
      const bool fresh = which == kEvtOut || which == kReadOut;
      c.rq_psn = i;
      if (fresh) b.setup(c);
      if (fresh) b.sim.run(kSelective ? 200 : 10);
      b.write(c,
              which == kEvtOut       ? kMiddle
              : which == kReadOut    ? kReadRequest
              : which == kReceiveOut ? kSendOnly
                                     : kOnly,
              i, 0);
      if (fresh) b.sim.run(20);
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
    b.sim.run(kSelective ? 200 : 20);
    CHECK(b.cfg.queue.empty());
    b.kill(kQps);  // a kill does, unless its own outputs are full
    b.sim.run(20);
    CHECK(b.err.queue.empty() == (which != kAckOut && which != kReceiveOut));
    QpSetup end = b.working(kQps, 0);  // a change to ERR does not
    end.setup = false;
    end.state = kErr;
    b.setup(end);
    b.sim.run(20);
    CHECK(b.cfg.queue.empty());
    slow.stall_percent = 0;
    b.settle();
    CHECK(b.score.headers == 100);
  }
}

TEST_CASE("headers and set-ups take turns; a set-up costs eight cycles, a change of state two") {
  if (kSelective) return;
  for (const bool setup : {false, true}) {
    if (setup && kQps == 1) continue;
    Bench b(26);
    b.setup(b.working(0, 0));
    b.settle();
    const std::uint64_t before = b.cfg.taken;
    for (unsigned i = 0; i < 200; ++i) {
      b.write(b.working(0, 0), kOnly, i, 0);
      QpSetup c = b.working(kQps - 1, 0);
      c.setup = setup;
      b.setup(c);
    }
    const unsigned pair = setup ? 10 : 4;
    b.sim.run_until([&] { return b.hdr.taken == 100; }, pair * 100 + 20);
    CHECK(b.cfg.taken - before >= 99);
    CHECK(b.cfg.taken - before <= 103);
    b.sim.run(pair * 100 + 20);
    CHECK(b.hdr.queue.empty());
    CHECK(b.cfg.queue.empty());
    b.settle();
  }
}

TEST_CASE("SEND: addresses from the receive queue entry, completion with its bytes") {
  Bench b(30);
  const QpSetup c = b.receiving(kQps - 1, 100);
  b.setup(c);
  b.post(c.qpn, 0x21, 600);
  b.post(c.qpn, 0x22, 0);
  b.settle();
  b.write(c, kSendFirst, 100, 256);
  CHECK(b.answers() == list({{c.qpn, 1, 100, 0, false}}));  // one entry is left
  CHECK(b.score.last_command.addr == 0x210000);
  CHECK(int(b.score.last_command.target) == 1);
  CHECK(b.receives().empty());
  b.write(c, kSendMiddle, 101, 256, false);
  b.settle();
  CHECK(b.score.last_command.addr == 0x210100);
  Header h = b.header(c, kSendLastImm, 102, 88);
  h.imm = 0x01020304;
  h.se = true;
  b.send(h);
  CHECK(b.answers() == list({{c.qpn, 1, 102, 1, false}}));
  CHECK(b.score.last_command.addr == 0x210200);
  CHECK(b.score.last_command.last);
  h = b.header(c, kSendOnly, 103, 0);  // nothing into nothing
  h.se = false;
  h.imm = 0xDEAD;
  b.send(h);
  CHECK(b.answers() == list({{c.qpn, 0, 103, 2, false}}));
  CHECK_FALSE(b.score.last_command.forward);
  const std::vector<Receive> want = {
      {false, 3, c.qpn, 0, false, kSuccess, true, false, true, 0x01020304, 600, 0x21},
      {false, 3, c.qpn, 0, false, kSuccess, false, false, false, 0, 0, 0x22},
  };
  CHECK(b.receives() == want);
  CHECK(b.score.counters["receives"] == 2);
}

TEST_CASE("WRITE with immediate takes its entry at the packet with the immediate") {
  Bench b(31);
  const QpSetup c = b.receiving(0, 0xFFFFFE);
  b.setup(c);
  b.region(b.plain(0, 0x1000, 0x10000));
  b.settle();
  b.write(c, kFirst, 0xFFFFFE, 256, true, 0x1000, kKey, 300);
  b.write(c, kLastImm, 0xFFFFFF, 44, true, 0, 0, 0, 77);  // nothing posted yet
  b.write(c, kOnly, 0, 0);
  CHECK(b.answers() == list({{0, 0, 0xFFFFFE, 0, false}, {0, 0x20, 0xFFFFFF, 0, false}}));
  CHECK(b.score.counters["out_of_order"] == 1);
  b.post(0, 5, 0);  // its buffer is not used
  b.write(c, kLastImm, 0xFFFFFF, 44, true, 0, 0, 0, 77);
  b.write(c, kOnly, 0, 0);
  CHECK(b.answers() == list({{0, 0, 0xFFFFFF, 1, false}, {0, 0, 0, 2, false}}));
  b.post(0, 6, 0);
  b.write(c, kOnlyImm, 1, 0, false, 0xFFFFFFFFFFFFFFFF, 0xDEADBEEF, 0, 78);  // no look at the key
  const std::vector<Receive> got = b.receives();
  REQUIRE(got.size() == 2);
  CHECK(got[0].write_imm);
  CHECK(got[0].imm == 77);
  CHECK(got[0].bytes == 300);
  CHECK(got[0].wr_id == 5);
  CHECK(got[0].wtag == 2);
  CHECK(got[1].write_imm);
  CHECK(got[1].imm == 78);
  CHECK(got[1].bytes == 0);
}

TEST_CASE("no receive queue entry: RNR NAK with the QP's timer, silence, every arrival of ePSN asks again (P10)") {
  Bench b(32);
  for (std::uint8_t timer = 0; timer < 32; ++timer) {
    QpSetup c = b.receiving(0, 10);
    c.min_rnr_timer = timer;
    b.setup(c);
    b.settle();
    b.write(c, kOnly, 10, 0);
    for (unsigned i = 0; i < 3; ++i) {
      b.write(c, kSendOnly, 11, 8);
      b.write(c, kSendOnly, 12, 8);  // in the same burst
      b.write(c, kReadRequest, 13, 0);
    }
    b.write(c, kSendOnly, 10, 8);  // duplicates are answered meanwhile
    const std::uint8_t rnr = static_cast<std::uint8_t>(0x20 + timer);
    CHECK(b.answers() == list({{0, 0, 10, 1, false},
                               {0, rnr, 11, 1, false},
                               {0, rnr, 11, 1, false},
                               {0, rnr, 11, 1, false},
                               {0, 0, 10, 1, true}}));
    b.post(0, 1, 8);
    b.write(c, kSendOnly, 11, 8);
    b.write(c, kSendOnly, 13, 8);  // a gap is reported again
    CHECK(b.answers() == list({{0, 0, 11, 2, false}, {0, 0x60, 12, 2, false}}));
  }
  CHECK(b.score.counters["rnr_naks"] == 32 * 3);
  CHECK(b.score.counters["out_of_order"] == 32 * 6);
  CHECK(b.score.counters["receives"] == 32);
  CHECK(b.score.seen_events.empty());
}

TEST_CASE("no room for completions: as if nothing were posted, also at the end of a SEND") {
  Bench b(33);
  const QpSetup c = b.receiving(0, 0);
  b.setup(c);
  b.region(b.plain(0, 0, 1 << 20));
  for (unsigned i = 0; i < 4; ++i) b.post(0, i, 1000);
  b.settle();
  b.write(c, kSendFirst, 0, 256);
  b.settle();
  b.rings.no_room = 100;
  b.write(c, kSendMiddle, 1, 256);  // needs none
  b.write(c, kSendLast, 2, 256);
  CHECK(b.answers() == list({{0, 3, 0, 0, false}, {0, 3, 1, 0, false}, {0, 0x20, 2, 0, false}}));
  b.rings.no_room = 0;
  b.write(c, kSendLast, 2, 256);
  b.settle();
  b.rings.no_room = 100;
  b.write(c, kSendFirst, 3, 256);
  b.write(c, kOnly, 3, 0);
  b.write(c, kOnlyImm, 4, 0);
  CHECK(b.answers() ==
        list({{0, 3, 2, 1, false}, {0, 0x20, 3, 1, false}, {0, 3, 3, 2, false}, {0, 0x20, 4, 2, false}}));
  CHECK(b.receives().size() == 1);
}

TEST_CASE("kills wait while there is no room for completions; packets that need none go on, and jumps") {
  Bench b(331);
  const unsigned dying = std::min(100U, kQps - 1);
  const QpSetup c = b.working(0, 0);
  b.setup(c);
  for (unsigned q = 1; q <= dying; ++q) b.setup(b.receiving(q, 0));
  b.region(b.plain(0, 0, 1 << 20));
  b.settle();
  b.rings.no_room = 100;
  b.rcq.stall_percent = 100;
  b.sim.run(10);
  for (unsigned q = 1; q <= dying; ++q) b.kill(q);
  b.kill(kQps);
  b.sim.run(4 * dying + 200);
  CHECK(b.err.queue.size() == dying + 1);
  b.write(c, kFirst, 0, 256, false, 0, kKey, 256 * 3);
  if (kSelective) b.write(c, kLast, 2, 256, true);
  if (kSelective) b.sim.run(200);
  b.write(c, kMiddle, 1, 256);
  if (!kSelective) b.write(c, kLast, 2, 256, true);
  b.sim.run(400);
  CHECK(b.hdr.queue.empty());
  REQUIRE(!b.score.seen_answers.empty());
  CHECK(b.score.seen_answers.back().psn == 2);
  QpSetup more = b.working(0, 7);
  b.setup(more);
  b.sim.run(kSelective ? 200 : 20);
  CHECK(b.cfg.queue.empty());
  CHECK(b.err.queue.size() == dying + 1);
  b.rings.no_room = 0;
  b.rcq.stall_percent = 0;
  b.settle();
  CHECK(b.err.queue.empty());
  CHECK(b.receives().size() == dying);
}

TEST_CASE("a jump of ePSN waits for no output, so nor does what comes on s_cfg (L19)") {
  if (!kSelective) return;
  unsigned jumps = 0;
  for (unsigned in_front = 8; in_front < 32; ++in_front) {
    Bench b(61);
    const QpSetup c = b.working(0, 0x10);
    b.setup(c);
    b.region(b.plain(0, 0x1000, 0x100000));
    b.write(c, kFirst, 0x10, 256, false, 0x2000, kKey, 256 * 20);
    for (unsigned k = 2; k < 6; ++k) b.write(c, kMiddle, 0x10 + k, 256, false);
    CHECK(b.answers() == list({{0, 0x60, 0x11, 0, false}}));
    b.ack.stall_percent = 100;
    for (unsigned i = 0; i < in_front; ++i) b.write(c, kMiddle, 0x10, 256);  // acknowledged again
    b.write(c, kMiddle, 0x11, 256, false);
    b.sim.run(200);
    QpSetup other = b.working(kQps, 0);
    for (const bool setup : {false, true}) {
      other.setup = setup;
      b.setup(other);
    }
    b.sim.run(200);
    INFO("acknowledged in front of it: ", in_front);
    CHECK(b.cfg.queue.empty());
    jumps += b.hdr.queue.empty() && in_front >= 16;
    b.ack.stall_percent = 0;
    CHECK(b.answers().size() == in_front + 1);
    CHECK(b.score.model.qp(0).epsn == 0x16);
  }
  CHECK(jumps > 0);
}

TEST_CASE("a SEND longer than its buffer: NAK 0x61, the entry completes with a length error (P37)") {
  struct Case {
    std::uint32_t buffer;
    std::vector<std::uint32_t> packets;
    bool good;
  };
  const std::vector<Case> cases = {
      {0, {0}, true},
      {0, {1}, false},
      {7, {7}, true},
      {7, {8}, false},
      {256, {256}, true},
      {255, {256}, false},
      {512, {256, 256}, true},
      {511, {256, 256}, false},
      {256, {256, 1}, false},
      {600, {256, 256, 88}, true},
      {600, {256, 256, 89}, false},
      {511, {256, 256, 1}, false},
      {0xFFFFFFFF, {256, 256, 1}, true},
  };
  Bench b(34);
  for (const Case& x : cases) {
    const QpSetup c = b.receiving(0, 50);
    b.setup(c);
    b.post(0, 9, x.buffer);
    b.settle();
    b.score.seen_events.clear();
    for (std::size_t i = 0; i < x.packets.size(); ++i) {
      const bool first = i == 0, last = i + 1 == x.packets.size();
      b.write(c,
              first && last ? kSendOnly
              : first       ? kSendFirst
              : last        ? kSendLast
                            : kSendMiddle,
              50 + static_cast<std::uint32_t>(i), x.packets[i], last);
    }
    INFO("buffer ", x.buffer, " packets ", x.packets.size());
    const auto got = b.receives();
    REQUIRE(got.size() == 1);
    CHECK(int(got[0].status) == (x.good ? kSuccess : kLocLenErr));
    CHECK(got[0].wr_id == 9);
    const auto answers = b.answers();
    if (x.good) {
      REQUIRE(answers.size() == 1);
      CHECK(int(answers[0].syndrome) == 0);
    } else {
      REQUIRE(answers.size() == 1);
      CHECK(int(answers[0].syndrome) == 0x61);
      REQUIRE(b.score.seen_events.size() == 1);
      CHECK(int(b.score.seen_events[0].cause) == kEvtLocalLen);
    }
  }
}

TEST_CASE("whatever ends a SEND badly gives its entry back, once") {
  struct Case {
    const char* name;
    std::uint8_t op;
    std::uint32_t bytes;
    std::uint8_t status;
  };
  const std::vector<Case> cases = {
      {"another SEND", kSendOnly, 4, kRemInvReqErr},
      {"a first one", kSendFirst, 256, kRemInvReqErr},
      {"a WRITE", kOnly, 0, kRemInvReqErr},
      {"a WRITE with immediate", kOnlyImm, 0, kRemInvReqErr},
      {"the middle of a WRITE", kMiddle, 256, kRemInvReqErr},
      {"a READ", kReadRequest, 0, kRemInvReqErr},
      {"an atomic", kFetchAdd, 16, kRemInvReqErr},
      {"a short middle", kSendMiddle, 255, kRemInvReqErr},
      {"an empty last", kSendLast, 0, kRemInvReqErr},
      {"too long a last", kSendLast, 257, kRemInvReqErr},
      {"a bad key", kSendLastInv, 4, kLocQpOpErr},
  };
  Bench b(35);
  for (const Case& x : cases) {
    INFO(std::string(x.name));
    const QpSetup c = b.receiving(0, 5);
    b.setup(c);
    b.post(0, 1, 1000);
    b.post(0, 2, 1000);
    b.settle();
    b.score.seen_events.clear();
    b.write(c, kSendFirst, 5, 256, false);
    b.write(c, x.op, 6, x.bytes);
    b.settle();
    b.write(c, kSendOnly, 7, 4);  // dead: takes nothing
    b.kill(0);
    b.kill(0);
    const auto got = b.receives();
    REQUIRE(got.size() == 3);
    CHECK(int(got[0].status) == x.status);
    CHECK(got[0].wr_id == 1);
    CHECK_FALSE(got[0].write_imm);
    CHECK(got[1].flush);
    CHECK(got[1].gen == b.score.model.gen(0));
    CHECK(got[2].flush);
    CHECK(b.score.model.head(0) == 1);
    CHECK(b.answers().size() == (x.status == kLocQpOpErr ? 0 : 1));
    REQUIRE(b.score.seen_events.size() == 1);
    CHECK(int(b.score.seen_events[0].cause) == (x.status == kLocQpOpErr ? kEvtInvalidate : kEvtNakInvReq));
  }
}

TEST_CASE("a WRITE with immediate and a bad key gives its entry back") {
  Bench b(36);
  const QpSetup c = b.receiving(0, 5);
  b.setup(c);
  b.post(0, 1, 1000);
  b.settle();
  b.write(c, kOnlyImm, 5, 4, true, 0, 0x1234, 4);
  const auto got = b.receives();
  REQUIRE(got.size() == 1);
  CHECK(int(got[0].status) == kRemAccessErr);
  CHECK(got[0].write_imm);
  CHECK(b.answers() == list({{0, 0x62, 5, 0, false}}));
}

TEST_CASE("SEND with invalidate: good, bad, and the key is gone for the packet right behind") {
  struct Case {
    const char* name;
    std::uint8_t access;
    std::uint16_t pd;
    bool valid;
    std::uint32_t key;
    bool good;
  };
  const std::vector<Case> cases = {
      {"good", 0xF, 7, true, kKey, true},
      {"only that right", 0x8, 7, true, kKey, true},
      {"no such right", 0x7, 7, true, kKey, false},
      {"other PD", 0xF, 8, true, kKey, false},
      {"not valid", 0xF, 7, false, kKey, false},
      {"variant", 0xF, 7, true, kKey ^ 4, false},
      {"beyond the table", 0xF, 7, true, kKey | (kMrs << 8), false},
  };
  Bench b(37);
  for (const Case& x : cases) {
    for (unsigned gap = 0; gap < 4; ++gap) {
      INFO(std::string(x.name), " gap ", gap);
      const QpSetup c = b.receiving(0, 5);
      b.setup(c);
      Region m = b.plain(0, 0, 0x1000, x.pd);
      m.access = x.access;
      m.valid = x.valid;
      b.region(m);
      b.post(0, 1, 16);
      b.post(0, 2, 16);
      b.settle();
      b.score.seen_events.clear();
      Header h = b.header(c, kSendOnlyInv, 5, 12);
      h.imm = x.key;
      b.send(h);
      for (unsigned i = 0; i < gap; ++i) b.write(c, kOnly, 6 + i, 0, false);
      b.write(c, kOnly, 6 + gap, 4, true, 0, kKey, 4);
      b.write(c, kSendOnly, 7 + gap, 4);
      const auto got = b.receives();
      const auto answers = b.answers();
      REQUIRE(got.size() >= 1);
      CHECK(got[0].wr_id == 1);
      if (x.good) {
        CHECK(int(got[0].status) == kSuccess);
        CHECK(got[0].with_inv);
        CHECK(got[0].imm == kKey);
        REQUIRE(answers.size() == 2);
        CHECK(int(answers[1].syndrome) == 0x62);
        CHECK_FALSE(b.table.regions[0].valid);
      } else {
        CHECK(int(got[0].status) == kLocQpOpErr);
        CHECK(answers.empty());
        REQUIRE(b.score.seen_events.size() == 1);
        CHECK(int(b.score.seen_events[0].cause) == kEvtInvalidate);
        CHECK(b.table.regions[0].valid == x.valid);
      }
    }
  }
  CHECK(b.score.counters["invalidates"] == 8);
  CHECK(b.score.counters["bad_invalidates"] == 20);
}

TEST_CASE("many keys invalidated in a row, and again") {
  if (kMrs < 4) return;
  Bench b(38);
  const QpSetup c = b.receiving(0, 0);
  b.setup(c);
  for (std::uint32_t i = 0; i < 3; ++i) {
    Region m = b.plain(i, 0, 0x1000);
    m.access = 0xF;
    b.region(m);
  }
  for (unsigned i = 0; i < 6; ++i) b.post(0, i, 16);
  b.settle();
  for (std::uint32_t i = 0; i < 4; ++i) {
    Header h = b.header(c, kSendOnlyInv, i, 0);
    h.imm = ((i == 3 ? 1 : i) << 8) | 0x5A;
    b.send(h);
  }
  const auto got = b.receives();
  REQUIRE(got.size() == 4);
  for (unsigned i = 0; i < 4; ++i) CHECK(int(got[i].status) == (i < 3 ? kSuccess : kLocQpOpErr));
}

TEST_CASE("credits: the largest code that does not promise too much; none without a ring of its own") {
  Bench b(39);
  QpSetup c = b.working(0, 0);
  c.rq_on = true;
  c.rq_log2 = 17;
  b.setup(c);
  b.settle();
  const std::vector<std::pair<std::uint32_t, std::uint8_t>> table = {
      {0, 0},      {1, 1},        {2, 2},        {3, 3},       {4, 4},      {5, 4},      {6, 5},      {7, 5},
      {8, 6},      {11, 6},       {12, 7},       {15, 7},      {16, 8},     {24, 9},     {31, 9},     {32, 10},
      {48, 11},    {64, 12},      {96, 13},      {127, 13},    {128, 14},   {192, 15},   {255, 15},   {256, 16},
      {384, 17},   {512, 18},     {768, 19},     {1024, 20},   {1536, 21},  {2048, 22},  {3072, 23},  {4096, 24},
      {6144, 25},  {8192, 26},    {12288, 27},   {16384, 28},  {24575, 28}, {24576, 29}, {32767, 29}, {32768, 30},
      {40000, 30}, {0x10000, 30}, {0x1FFFF, 30}, {0x20000, 30}};
  std::uint32_t psn = 0;
  for (const auto& [level, code] : table) {
    b.rings.rings[0].tail = level;
    b.write(c, kOnly, psn, 0);
    INFO("level ", level);
    CHECK(b.answers() == list({{0, code, psn, psn + 1, false}}));
    ++psn;
  }
  b.rings.rings[0].tail = 4;
  b.write(c, kSendOnly, psn, 0);  // what is left when the packet has taken its own
  CHECK(b.answers() == list({{0, 3, psn, psn + 1, false}}));
}

TEST_CASE("a shared ring: QPs take entries in turn, nobody promises credits, ring numbers are checked") {
  if (kQps < 2) return;
  Bench b(40);
  std::vector<QpSetup> qps;
  for (std::uint32_t q = 0; q < 2; ++q) {
    QpSetup c = b.working(q, 0);
    c.rq_on = c.srq = true;
    c.srqn = static_cast<std::uint16_t>(kSrqs == 0 ? 0 : kSrqs - 1);
    b.setup(c);
    qps.push_back(c);
  }
  b.setup(SrqSetup{static_cast<std::uint16_t>(kSrqs), 0, 4});
  b.setup(SrqSetup{0xFFFF, 0, 4});
  if (kSrqs == 0) {
    b.settle();
    b.write(qps[0], kSendOnly, 0, 4);
    CHECK(b.answers() == list({{0, 0x20, 0, 0, false}}));
    return;
  }
  b.setup(SrqSetup{qps[0].srqn, 100, 2});
  b.settle();
  const std::uint32_t row = kQps + kSrqs - 1;
  for (unsigned i = 0; i < 3; ++i) b.post(row, i, 300);
  b.write(qps[0], kSendFirst, 0, 256, false);
  b.write(qps[1], kSendOnly, 0, 256);
  b.write(qps[0], kSendLast, 1, 44);
  b.write(qps[1], kSendOnly, 1, 256);
  b.write(qps[0], kSendOnly, 2, 44);  // the ring is empty
  b.write(qps[1], kSendOnly, 2, 44);
  CHECK(b.answers() == list({{1, 0x1F, 0, 1, false},
                             {0, 0x1F, 1, 1, false},
                             {1, 0x1F, 1, 2, false},
                             {0, 0x20, 2, 1, false},
                             {1, 0x20, 2, 2, false}}));
  const auto got = b.receives();
  REQUIRE(got.size() == 3);
  CHECK(got[0].wr_id == 1);
  CHECK(got[1].wr_id == 0);
  CHECK(got[2].wr_id == 2);
  // The last entry goes to the first that comes, the other starves.
  b.post(row, 7, 300);
  b.write(qps[1], kSendOnly, 2, 44);
  b.write(qps[0], kSendOnly, 2, 44);
  CHECK(b.answers() == list({{1, 0x1F, 2, 3, false}, {0, 0x20, 2, 1, false}}));
  // The ring starts anew while QPs live on.
  b.setup(SrqSetup{qps[0].srqn, 200, 1});
  b.settle();
  b.write(qps[0], kSendOnly, 2, 44);
  b.settle();
  b.post(row, 8, 300);
  b.write(qps[0], kSendOnly, 2, 44);
  CHECK(b.answers() == list({{0, 0x20, 2, 1, false}, {0, 0x1F, 2, 2, false}}));
}

TEST_CASE("a ring that one side has not set up yet has no entries") {
  Bench b(41);
  QpSetup c = b.receiving(0, 0);
  b.setup(c);
  b.post(0, 1, 16);
  b.settle();
  ++b.rings.rings[0].gen;
  b.write(c, kSendOnly, 0, 4);
  CHECK(b.answers() == list({{0, 0x20, 0, 0, false}}));
  b.write(c, kOnly, 0, 0);
  CHECK(b.answers() == list({{0, 0, 0, 1, false}}));
  --b.rings.rings[0].gen;
  b.write(c, kSendOnly, 1, 4);
  CHECK(b.answers() == list({{0, 0, 1, 2, false}}));
}

TEST_CASE("kills: what they answer, what becomes of a SEND under way") {
  struct Case {
    std::uint8_t cause;
    bool rsp;
    std::optional<std::uint32_t> psn;  // of the NAK
  };
  const std::vector<Case> cases = {
      {kEvtWriteErr, false, 0x101},
      {kEvtWriteErr, true, 0x101},
      {kEvtReadErr, true, 0x77},
      {kEvtReadErr, false, {}},
      {kEvtNakInvReq, false, {}},
      {5, true, {}},
      {6, false, {}},
      {0, true, {}},
  };
  Bench b(42);
  for (const Case& x : cases) {
    const QpSetup c = b.receiving(kQps - 1, 0x100);
    b.setup(c);
    b.post(c.qpn, 3, 1000);
    b.settle();
    b.write(c, kSendFirst, 0x100, 256, false);
    b.kill(c.qpn, x.cause, x.rsp, 0x77);
    b.kill(c.qpn, x.cause, x.rsp, 0x78);  // dead already
    b.kill(kQps, x.cause, x.rsp, 0x79);
    b.settle();
    b.write(c, kSendLast, 0x101, 4);
    INFO("cause ", int(x.cause));
    if (x.psn)
      CHECK(b.answers() == list({{c.qpn, 0x63, *x.psn, 0, false}}));
    else
      CHECK(b.answers().empty());
    const auto got = b.receives();
    REQUIRE(got.size() == 3);
    CHECK(int(got[0].status) == kFlushErr);
    CHECK(got[0].wr_id == 3);
    CHECK(got[0].wtag == static_cast<std::uint16_t>(&x - cases.data() + 1));
    CHECK(got[1].flush);
    CHECK(got[2].flush);
  }
  CHECK(b.score.counters["nak_op"] == 3);
  CHECK(b.score.seen_events.empty());
  // A change of state is no kill: the one to ERR has its own on s_err, silent, as the QP receives no more.
  for (const std::uint8_t state : {kErr, kReset, kSqd}) {
    QpSetup d = b.receiving(kQps - 1, 0x100);
    b.setup(d);
    b.post(d.qpn, 3, 1000);
    b.settle();
    b.write(d, kSendFirst, 0x100, 256, false);
    b.settle();
    d.setup = false;
    d.state = state;
    b.setup(d);
    b.settle();
    CHECK(b.receives().empty());
    b.kill(kQps - 1, 0);
    b.settle();
    const auto got = b.receives();
    REQUIRE(got.size() == 2);
    CHECK(int(got[0].status) == kFlushErr);
    CHECK(got[1].flush);
    CHECK(got[1].gen == b.score.model.gen(kQps - 1));
    CHECK(b.answers().empty());
  }
  // A kill of another life does nothing.
  QpSetup anew = b.receiving(0, 0x100);
  b.setup(anew);
  b.settle();
  Event former{kEvtWriteErr, false, 0x100, 0};
  former.life = 1;
  b.err.push(former.pack());
  b.settle();
  CHECK(b.answers().empty());
  CHECK(b.receives().empty());
  b.post(0, 3, 1000);
  b.settle();
  b.write(anew, kSendOnly, 0x100, 4, true);
  b.settle();
  CHECK(b.answers().size() == 1);
  CHECK(b.receives().size() == 1);
  // A QP that does not receive keeps silent, whatever the cause.
  QpSetup c = b.working(0, 0);
  b.setup(c);
  c.setup = false;
  c.state = kErr;
  b.setup(c);
  b.settle();
  b.kill(0, kEvtWriteErr);
  CHECK(b.answers().empty());
}

TEST_CASE("READ: PSNs, MSN, number, rights, keys, lengths (L48)") {
  Bench b(43);
  const std::uint8_t depth = static_cast<std::uint8_t>(kReadDepth);
  b.region(b.plain(0, 0x1000, 0x100000000));
  struct Case {
    std::uint8_t pmtu;
    std::uint32_t length, span;
  };
  const std::vector<Case> good = {{1, 0, 1},
                                  {1, 1, 1},
                                  {1, 255, 1},
                                  {1, 256, 1},
                                  {1, 257, 2},
                                  {1, 512, 2},
                                  {2, 513, 2},
                                  {3, 1024, 1},
                                  {3, 1025, 2},
                                  {4, 2048 * 9, 9},
                                  {5, 4096 * 3 + 1, 4},
                                  {5, 4096, 1},
                                  {5, 0x80000000, 0x80000},
                                  {1, 0x80000000, 0x800000},
                                  {1, 0x7FFFFFFF, 0x800000},
                                  {7, 5000, 2}};
  for (const Case& x : good) {
    QpSetup c = b.working(0, 0xFFFFFF, x.pmtu);
    c.max_dest_rd = 1;
    c.access = kAccRead;
    b.setup(c);
    b.settle();
    Header h = b.header(c, kReadRequest, 0xFFFFFF, 0);
    h.va = x.length == 0 ? ~std::uint64_t{0} : 0x1000;
    h.rkey = x.length == 0 ? 0xDEADBEEF : kKey;
    h.dma_len = x.length;
    b.send(h);
    const auto got = b.reads();
    INFO("length ", x.length, " pmtu ", int(x.pmtu));
    REQUIRE(got.size() == 1);
    CHECK(int(got[0].kind) == kRead);
    CHECK(int(got[0].idx) == 0);
    CHECK(got[0].psn == 0xFFFFFF);
    CHECK(got[0].last_psn == ((0xFFFFFF + x.span - 1) & kPsnMask));
    CHECK(got[0].msn == 1);
    CHECK(got[0].length == x.length);
    CHECK(b.answers().empty());
    if (x.span == 0x800000) continue;  // half the circle
    b.write(c, kOnly, 0xFFFFFF + x.span + 1, 0);
    CHECK(b.answers() == list({{0, 0x60, (0xFFFFFF + x.span) & kPsnMask, 1, false, true}}));
  }
  struct Bad {
    const char* name;
    std::uint8_t access;
    std::uint8_t max;
    std::uint32_t length, bytes, key;
    std::uint8_t syndrome;
  };
  const std::vector<Bad> bad = {
      {"no right of the QP", 0xD, depth, 4, 0, kKey, 0x61},
      {"depth 0 (L39)", 0xF, 0, 4, 0, kKey, 0x61},
      {"above 2^31", 0xF, depth, 0x80000001, 0, kKey, 0x61},
      {"a payload", 0xF, depth, 4, 4, kKey, 0x61},
      {"a key", 0xF, depth, 4, 0, kKey ^ 1, 0x62},
      {"beyond the region", 0xF, depth, 0x80000000, 0, kKey, 0x62},
  };
  for (const Bad& x : bad) {
    QpSetup c = b.working(0, 3);
    c.access = x.access;
    c.max_dest_rd = x.max;
    b.setup(c);
    b.settle();
    Header h = b.header(c, kReadRequest, 3, x.bytes);
    h.va = x.length == 0x80000000 ? 0x80001001 : 0x1000;
    h.rkey = x.key;
    h.dma_len = x.length;
    b.send(h);
    INFO(std::string(x.name));
    CHECK(b.answers() == list({{0, x.syndrome, 3, 0, false}}));
    CHECK(b.reads().empty());
  }
  Region m = b.plain(0, 0, 0x1000);
  m.access = 0xD;
  b.region(m);
  QpSetup c = b.working(0, 3);
  b.setup(c);
  b.settle();
  b.write(c, kReadRequest, 3, 0, true, 0, kKey, 4);
  CHECK(b.answers() == list({{0, 0x62, 3, 0, false}}));
}

TEST_CASE("READs under way: as many as the set-up and the memory for them allow, atomics count (L24)") {
  for (const unsigned limit : {1U, 2U, 5U, 200U}) {
    Bench b(44);
    b.region(b.plain(0, 0, 1 << 20));
    QpSetup c = b.working(kQps - 1, 0);
    c.max_dest_rd = static_cast<std::uint8_t>(limit);
    b.setup(c);
    b.settle();
    const std::uint32_t room = std::min(limit, kReadDepth);
    std::uint32_t psn = 0;
    const auto ask = [&] {
      if (psn % 3 == 2)
        b.write(c, psn % 2 ? kCmpSwap : kFetchAdd, psn, 16, true, 0x40, kKey);
      else
        b.write(c, kReadRequest, psn, 0, true, 0, kKey, 4);
      ++psn;
    };
    // Round the number's circle, always full.
    b.score.finish_percent = 30;
    for (unsigned i = 0; i < 300; ++i) {
      b.sim.run_until(
          [&] {
            return b.score.pending.empty() && b.hdr.queue.empty() &&
                   static_cast<std::uint8_t>(psn - b.score.done(c.qpn)) < room;
          },
          2000);
      ask();
    }
    CHECK(b.answers().empty());
    b.sim.run_until([&] { return b.score.open_reads.empty(); }, 2000);
    b.sim.run(5);
    const auto got = b.reads();
    REQUIRE(got.size() == 300);
    for (unsigned i = 0; i < 300; ++i) CHECK(int(got[i].idx) == int(i & 255));
    b.score.finish_percent = 0;
    for (unsigned i = 0; i < room; ++i) ask();
    b.write(c, kReadRequest, psn - 1, 0, true, 0, kKey, 4);  // a duplicate needs no room
    ask();
    b.write(c, kOnly, psn, 0);
    CHECK(b.answers() == list({{c.qpn, 0x61, psn - 1, psn - 1, false, true}}));
    CHECK(b.reads().size() == room + 1);
  }
}

TEST_CASE("duplicates of READs and atomics go to the memory of answers, if they can be right (L28, L34, P05)") {
  Bench b(45);
  Region m = b.plain(0, 0x1000, 0x10000);
  b.region(m);
  Region top = b.plain(0, ~std::uint64_t{0} - 0xFFF, 0x1000);
  QpSetup c = b.working(0, 20);
  b.setup(c);
  b.settle();
  b.score.finish_percent = 100;
  b.write(c, kReadRequest, 20, 0, true, 0x1000, kKey, 700);  // 20, 21, 22
  b.settle();
  b.write(c, kCmpSwap, 23, 16, true, 0x1000, kKey);
  b.write(c, kFirst, 24, 256, true, 0x2000, kKey, 600);
  b.settle();
  CHECK(b.reads().size() == 2);
  b.answers();
  b.write(c, kReadRequest, 20, 0, true, 0x1000, kKey, 700);
  b.write(c, kReadRequest, 21, 0, true, 0x1100, kKey, 444);
  b.write(c, kReadRequest, 22, 0, true, 0x1200, kKey, 0);
  b.write(c, kCmpSwap, 23, 16, true, 0x1000, kKey);
  b.write(c, kFirst, 24, 256, true, 0x2000, kKey, 600);
  b.write(c, kMiddle, 25, 256);
  b.write(c, kLast, 26, 88);
  CHECK(b.answers() ==
        list({{0, 0x1F, 24, 2, true, true}, {0, 0x1F, 25, 2, false, true}, {0, 0x1F, 26, 3, false, true}}));
  CHECK(b.score.last_command.addr == 0x2200);  // the WRITE went on as if nothing had been
  auto got = b.reads();
  REQUIRE(got.size() == 4);
  CHECK(got[0].last_psn == 22);
  CHECK(int(got[0].kind) == kReadDup);
  CHECK(got[1].psn == 21);
  CHECK(got[1].last_psn == 22);
  CHECK(got[1].va == 0x1100);
  CHECK(got[2].last_psn == 22);
  CHECK(int(got[3].kind) == kAtomicDup);
  CHECK(got[3].psn == 23);
  CHECK(b.score.counters["replays"] == 4);
  // Cannot be right: silent.
  b.write(c, kReadRequest, 20, 0, true, 0x1000, kKey ^ 1, 700);
  b.write(c, kReadRequest, 20, 0, true, 0x10FFF, kKey, 2);
  b.write(c, kReadRequest, 20, 0, true, 0x1000, kKey, 0x80000001);
  b.write(c, kReadRequest, 20, 4, true, 0x1000, kKey, 4);
  b.write(c, kCmpSwap, 23, 16, true, 0x1004, kKey);
  b.write(c, kFetchAdd, 23, 12, true, 0x1000, kKey);
  b.settle();
  b.region(top);
  b.write(c, kReadRequest, 20, 0, true, 0xFFFFFFFFFFFFFC00, kKey, 0x401);
  CHECK(b.reads().empty());
  b.write(c, kReadRequest, 20, 0, true, 0xFFFFFFFFFFFFFC00, kKey, 0x400);  // is for the memory of READs to refuse
  CHECK(b.reads().size() == 1);
  CHECK(b.answers().empty());
  CHECK(b.score.counters["drop_replay"] == 7);
  CHECK(b.score.seen_events.empty());
}

TEST_CASE("atomics: alignment, operands, rights; the operands travel as payload (L40)") {
  struct Case {
    const char* name;
    std::uint8_t op;
    std::uint64_t va;
    std::uint32_t bytes;
    std::uint8_t qp_access, access;
    std::uint8_t syndrome;
  };
  std::vector<Case> cases = {
      {"compare", kCmpSwap, 0x1000, 16, 7, 7, 0},
      {"add, the last eight", kFetchAdd, 0x1FF8, 16, 4, 4, 0},
      {"one beyond", kFetchAdd, 0x2000, 16, 7, 7, 0x62},
      {"no operands", kCmpSwap, 0x1000, 0, 7, 7, 0x61},
      {"half the operands", kCmpSwap, 0x1000, 8, 7, 7, 0x61},
      {"too many", kCmpSwap, 0x1000, 20, 7, 7, 0x61},
      {"no right of the QP", kCmpSwap, 0x1000, 16, 3, 7, 0x61},
      {"no right of the region", kCmpSwap, 0x1000, 16, 7, 3, 0x62},
  };
  for (std::uint64_t i = 1; i < 8; ++i) cases.push_back({"not aligned", kCmpSwap, 0x1000 + i, 16, 7, 7, 0x61});
  Bench b(46);
  for (const Case& x : cases) {
    INFO(std::string(x.name), " ", x.va);
    Region m = b.plain(0, 0x1000, 0x1000);
    m.access = x.access;
    b.region(m);
    QpSetup c = b.working(0, 20);
    c.access = x.qp_access;
    b.setup(c);
    b.settle();
    b.write(c, x.op, 20, x.bytes, true, x.va, kKey);
    const auto got = b.reads();
    if (x.syndrome == 0) {
      REQUIRE(got.size() == 1);
      CHECK(int(got[0].kind) == kAtomic);
      CHECK(got[0].length == 8);
      CHECK(got[0].psn == got[0].last_psn);
      CHECK(got[0].msn == 1);
      CHECK(b.answers().empty());
      CHECK(b.score.last_command.forward);
      CHECK(int(b.score.last_command.kind) == (x.op == kCmpSwap ? 2 : 3));
      CHECK(b.score.last_command.addr == x.va);
      CHECK(int(b.score.last_command.target) == 3);
      CHECK(b.score.last_command.bytes == 16);
    } else {
      CHECK(got.empty());
      CHECK(b.answers() == list({{0, x.syndrome, 20, 0, false}}));
      CHECK_FALSE(b.score.last_command.forward);
    }
  }
}

TEST_CASE("behind the first READ every answer is marked to stay in order") {
  Bench b(47);
  QpSetup c = b.working(0, 0);
  b.setup(c);
  b.settle();
  b.write(c, kOnly, 0, 0);
  b.write(c, kReadRequest, 1, 0);
  b.write(c, kOnly, 2, 0);
  b.write(c, kOnly, 0, 0);
  b.write(c, kOnly, 5, 0);
  b.settle();
  b.kill(0, kEvtReadErr, true, 1);
  CHECK(b.answers() == list({{0, 0x1F, 0, 1, false, false},
                             {0, 0x1F, 2, 3, false, true},
                             {0, 0x1F, 2, 3, true, true},
                             {0, 0x60, 3, 3, false, true},
                             {0, 0x63, 1, 3, false, true}}));
  b.setup(c);
  b.settle();
  b.write(c, kOnly, 0, 0);
  CHECK(b.answers() == list({{0, 0x1F, 0, 1, false, false}}));
}

TEST_CASE("entries taken just behind a fatal packet come back flushed, and no more than three are") {
  for (const std::uint8_t log2 : {3, 1}) {
    Bench b(48);
    QpSetup c = b.receiving(0, 0);
    c.rq_log2 = log2;
    b.setup(c);
    for (unsigned i = 0; i < 1U << log2; ++i) b.post(0, i, 16);
    b.settle();
    b.write(c, kOnly, 0, 4, true, 0, 0x77, 4);
    for (unsigned i = 1; i < 20; ++i) b.write(c, i % 2 ? kSendOnly : kOnlyImm, i, 0);
    CHECK(b.answers() == list({{0, 0x62, 0, 0, false}}));
    const auto got = b.receives();
    CHECK(got.size() == std::min(3U, 1U << log2));
    CHECK(b.score.dead_takes == got.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK(int(got[i].status) == kFlushErr);
      CHECK(got[i].wr_id == i);
      CHECK(got[i].write_imm == (i % 2 == 1));
    }
    CHECK(b.score.counters["drop_dead"] == 19);
  }
}

TEST_CASE("a SEND right behind its set-up") {
  Bench b(49);
  b.setup(b.working(0, 0));  // a kill has a life to end
  b.settle();
  for (unsigned i = 0; i < 10; ++i) {
    QpSetup c = b.working(0, i);
    c.rq_on = c.srq = kSrqs > 0;
    if (kSrqs > 0) {
      b.setup(SrqSetup{0, 4, 1});
      b.post(kQps, i, 16);
    }
    b.kill(0);
    b.settle();
    b.setup(c);
    b.sim.run_until([&] { return b.cfg.queue.empty(); }, 20);
    b.write(c, kSendOnly, i, 4);
    CHECK(b.answers() ==
          list({{0, static_cast<std::uint8_t>(kSrqs > 0 ? 0x1F : 0x20), i, kSrqs > 0 ? 1U : 0U, false}}));
  }
}

TEST_CASE("SENDs, READs and atomics at a slot every two cycles") {
  Bench b(50);
  const std::uint32_t many = std::min(kQps, 32U);
  b.region(b.plain(0, 0, 1ULL << 32));
  b.score.finish_percent = 100;
  for (const std::uint8_t op : {kSendOnly, kReadRequest, kCmpSwap}) {
    std::vector<std::uint32_t> psn(many);
    for (std::uint32_t q = 0; q < many; ++q) {
      QpSetup c = b.working(q, 0);
      c.max_dest_rd = 200;
      c.rq_on = true;
      c.rq_base = 4096 * q;
      c.rq_log2 = 12;
      b.setup(c);
    }
    b.settle();
    b.sim.run(50);
    const std::uint32_t count = op == kSendOnly ? 256 : std::min(256U, kReadDepth * many);
    if (op == kSendOnly)
      for (std::uint32_t i = 0; i < count; ++i) b.post(i % many, i, 64);
    const std::uint64_t start = b.sim.cycle(), before = b.score.commands_seen;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t q = i % many;
      b.write(b.working(q, 0), op, psn[q]++, op == kSendOnly ? 64 : op == kCmpSwap ? 16 : 0, true, 0x1000, kKey, 64);
    }
    b.sim.run_until([&] { return b.score.commands_seen == before + count; }, 3 * count + 100);
    CHECK(b.sim.cycle() - start <= 2 * count + 20);
    b.settle();
  }
  CHECK(b.score.counters["accepted"] == b.score.counters["requests"]);
}

TEST_CASE("thirteen cycles from the header to the command, twelve with LowLatency") {
  Bench b(51);
  QpSetup c = b.working(0, 0);
  b.setup(c);
  b.settle();
  b.write(c, kOnly, 0, 0);
  b.sim.run_until([&] { return b.hdr.taken == 1; }, 20);
  std::uint64_t start = b.sim.cycle();
  b.sim.run_until([&] { return b.score.commands_seen == 1; }, 20);
  CHECK(b.sim.cycle() - start == (P_LowLatency != 0 ? 12 : 13));
}

namespace {

/// A peer of one QP: does everything, with random lengths, loses, repeats, reorders and corrupts packets, goes back
/// when the responder (the model, that is) waits for an older one.
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
    if (rng.percent(q.silent ? 25 : 1)) {
      for (std::size_t back = 1; back <= history_.size(); ++back)
        if (history_[history_.size() - back].psn == q.epsn) {
          cursor_ = back;
          break;
        }
    }
    if (rng.percent(4) && !history_.empty()) {
      Header old = history_[history_.size() - 1 - rng.below(std::min<std::size_t>(history_.size(), 40))];
      if (old.opcode == kReadRequest && old.dma_len > 0 && rng.percent(60)) {  // only what is missing
        const std::uint32_t mtu = ResponderModel::mtu(c_.pmtu);
        const std::uint32_t skip = static_cast<std::uint32_t>(rng.below((old.dma_len + mtu - 1) / mtu));
        old.va += std::uint64_t{skip} * mtu;
        old.dma_len -= skip * mtu;
        old.psn = (old.psn + skip) & kPsnMask;
      }
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
    const std::uint32_t at = next_;
    if (rest_ == 0) {
      const ResponderModel::Qp& q = b_.score.model.qp(c_.qpn);
      const std::uint32_t index = static_cast<std::uint32_t>(rng.below(std::min(kMrs, 4U)));
      const Region m = b_.table.lookup(index);
      std::uint32_t length =
          rng.percent(15) ? 0 : static_cast<std::uint32_t>(rng.percent(30) ? mtu * rng.below(6) : rng.below(mtu * 5));
      length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, m.length));
      const std::uint64_t room = m.length - length;
      std::uint64_t va = m.base + (rng.percent(30) ? room : rng.percent(30) || room == 0 ? 0 : rng.below(room));
      // Those that are not judged yet count, too; now and then there is one too many.
      const std::uint32_t open = static_cast<std::uint8_t>(q.reads - b_.score.done(c_.qpn)) + 5;
      const bool may_read = open < std::min<std::uint32_t>(c_.max_dest_rd, kReadDepth) || rng.percent(2);
      const unsigned what = static_cast<unsigned>(rng.below(may_read ? 10 : 7));
      if (what == 9) {
        va = std::min(va & ~std::uint64_t{7}, m.base + m.length - 8) & ~std::uint64_t{7};
        h = b_.header(c_, rng.percent(50) ? kCmpSwap : kFetchAdd, at, 16);
        h.va = va;
        h.rkey = m.key();
      } else {
        h = b_.header(c_, kReadRequest, at, 0);
        h.va = length == 0 ? rng.next() : va;
        h.rkey = length == 0 ? static_cast<std::uint32_t>(rng.next()) : m.key();
        h.dma_len = length;
        if (what < 7) {
          send_ = what < 3;
          length_ = rest_ = length;
          extra_ = rng.percent(60) ? 0U : send_ && rng.percent(15) ? 2U : 1U;
          const std::uint32_t bytes = std::min(mtu, length);
          const Header reth = h;
          h = b_.header(c_, code(true, length <= mtu), at, bytes);
          if (!send_) {
            h.va = reth.va;
            h.rkey = reth.rkey;
            h.dma_len = reth.dma_len;
          }
          rest_ -= bytes;
          if (rest_ == 0) finish(h);
        }
      }
    } else {
      const std::uint32_t bytes = std::min(mtu, rest_);
      h = b_.header(c_, code(false, rest_ <= mtu), at, bytes);
      rest_ -= bytes;
      if (rest_ == 0) finish(h);
    }
    h.ackreq = rng.percent(40);
    next_ = (next_ + ResponderModel::span(h, c_.pmtu)) & kPsnMask;
    return h;
  }
  std::uint8_t code(bool first, bool last) const {
    static constexpr std::uint8_t kSend[2][3] = {{kSendLast, kSendLastImm, kSendLastInv},
                                                 {kSendOnly, kSendOnlyImm, kSendOnlyInv}};
    static constexpr std::uint8_t kWrite[2][2] = {{kLast, kLastImm}, {kOnly, kOnlyImm}};
    if (last) return send_ ? kSend[first][extra_] : kWrite[first][extra_];
    return first ? (send_ ? kSendFirst : kFirst) : send_ ? kSendMiddle : kMiddle;
  }
  void finish(Header& h) {
    Rng& rng = b_.sim.rng();
    if (extra_ == 1) h.imm = static_cast<std::uint32_t>(rng.next());
    if (extra_ == 2) h.imm = b_.table.lookup(static_cast<std::uint32_t>(rng.below(std::min(kMrs, 4U)))).key();
  }
  void remember(const Header& h) {
    history_.push_back(h);
    if (history_.size() > 256) history_.pop_front();
    if (cursor_ > history_.size()) cursor_ = history_.size();
  }
  Header damage(Header h) {
    Rng& rng = b_.sim.rng();
    static constexpr std::uint8_t kOps[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B,
                                            0x0C, 0x0D, 0x10, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x1C, 0x1D, 0x81};
    const auto one_bit = [&](unsigned bits) { return std::uint64_t{1} << rng.below(bits); };
    switch (rng.below(19)) {
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
      case 17:
        h.imm ^= static_cast<std::uint32_t>(one_bit(32));
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
  std::uint32_t rest_ = 0, length_ = 0;
  bool send_ = false;
  unsigned extra_ = 0;  ///< 1 immediate, 2 invalidate
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
  m.access = static_cast<std::uint8_t>(rng.percent(5) ? 0xE : rng.percent(20) ? rng.below(16) : 7 | rng.below(16));
  m.target = static_cast<std::uint8_t>(rng.below(8));
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
  c.access = static_cast<std::uint8_t>(rng.percent(4) ? 0xE : rng.percent(5) ? rng.below(16) : 7);
  c.min_rnr_timer = static_cast<std::uint8_t>(rng.below(32));
  c.max_dest_rd = static_cast<std::uint8_t>(rng.percent(60) ? 255 : rng.below(20));
  c.rq_on = rng.percent(95);
  c.srq = kSrqs > 0 && rng.percent(40);
  c.srqn = static_cast<std::uint16_t>(kSrqs == 0 || rng.percent(2) ? rng.below(65536) : rng.below(std::min(kSrqs, 2U)));
  c.rq_base = static_cast<std::uint32_t>(rng.percent(10) ? 0xFFFFFC : 64 * qpn) & 0xFFFFF;
  c.rq_log2 = static_cast<std::uint8_t>(rng.below(6));
  c.state = static_cast<std::uint8_t>(rng.percent(10) ? rng.below(8) : 3);
  c.dip = static_cast<std::uint32_t>(rng.next());
  c.pkey = static_cast<std::uint16_t>(rng.next() | 0x8001);
  return c;
}

}  // namespace

TEST_CASE("random traffic with every fault, against the model") {
  std::map<std::string, std::uint64_t> total;
  std::map<unsigned, std::uint64_t> statuses;
  std::uint64_t forwarded = 0, dead_takes = 0, placed = 0, jumped = 0;
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
    for (std::uint32_t i = 0; i < std::min(kSrqs, 2U); ++i)
      b.setup(SrqSetup{static_cast<std::uint16_t>(i), 0x40000 + 64 * i, 5});
    b.settle();
    b.stalls(kStalls[round][0], kStalls[round][1]);
    b.score.finish_percent = round == 4 ? 5 : 40;
    b.rings.slow = round % 2 == 1;
    b.rings.no_room = round == 3 ? 10 : 1;
    std::uint64_t wr_id = 0;
    const auto sent_before = b.score.commands_seen;
    for (unsigned cycle = 0; cycle < 60'000; ++cycle) {
      if (b.hdr.queue.size() < 3) b.send(peers[rng.percent(60) ? 0 : rng.below(count)].packet());
      if (rng.below(100) == 0) {
        Peer& p = peers[rng.below(count)];
        const bool dead = !b.score.model.qp(p.setup().qpn).alive;
        if (dead || rng.percent(10)) {
          p.restart(random_setup(b, p.setup().qpn));
          b.setup(p.setup());
        } else if (rng.percent(20)) {
          static constexpr std::uint8_t kCauses[] = {kEvtReadErr, kEvtWriteErr, kEvtReadErr, 5, 6, 0};
          b.kill(rng.percent(5) ? kQps : p.setup().qpn, kCauses[rng.below(6)], rng.percent(50),
                 static_cast<std::uint32_t>(rng.next() & kPsnMask));
        } else if (rng.percent(50)) {
          QpSetup c = p.setup();
          c.setup = false;
          c.state = static_cast<std::uint8_t>(rng.percent(70) ? 3 : rng.below(8));
          c.dip = c.rq_psn = 0;
          b.setup(c);
        }
      }
      // Entries of receive rings: mostly large enough, sometimes none for a while.
      if (rng.percent(40) && (cycle / 2000) % 8 != 7) {
        const std::uint32_t row = rng.percent(40) && kSrqs > 0
                                      ? kQps + static_cast<std::uint32_t>(rng.below(std::min(kSrqs, 2U)))
                                      : peers[rng.percent(60) ? 0 : rng.below(count)].setup().qpn;
        b.rings.post(row, {static_cast<std::uint8_t>(rng.below(8)), rng.next(),
                           static_cast<std::uint32_t>(rng.percent(95) ? 1 << 16 : rng.below(4000)), ++wr_id});
      }
      if (rng.below(3000) == 0 && kSrqs > 0)
        b.setup(SrqSetup{static_cast<std::uint16_t>(rng.below(std::min(kSrqs + 1, 3U))),
                         static_cast<std::uint32_t>(rng.below(1 << 20)), static_cast<std::uint8_t>(rng.below(6))});
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
      // Regions change, and come back soon when they were invalidated.
      const auto looked = static_cast<std::uint32_t>(rng.below(std::min(kMrs, 4U)));
      if (!b.table.lookup(looked).valid && rng.below(50) == 0) b.region(random_region(b, looked));
      if (rng.below(1500) == 0) {
        const auto index = static_cast<std::uint32_t>(rng.below(std::min(kMrs, 4U)));
        b.region(random_region(b, index));
      }
      b.sim.step();
      forwarded += b.score.last_command.forward;
    }
    b.stalls(0, 0);
    b.settle();
    dead_takes += b.score.dead_takes;
    placed += b.score.model.placed();
    jumped += b.score.model.jumped();
    for (const Receive& r : b.score.seen_receives) ++statuses[r.flush ? 255 : r.status];
    CHECK(b.score.commands_seen - sent_before == b.score.headers);
    for (const auto& [name, value] : b.score.counters) total[name] += value;
  }
  // The traffic must have met everything.
  for (const char* name : {"accepted",   "duplicates",  "replays",         "acks",         "nak_psn",     "nak_inv_req",
                           "nak_access", "nak_op",      "rnr_naks",        "out_of_order", "reads",       "atomics",
                           "receives",   "invalidates", "bad_invalidates", "drop_replay",  "drop_opcode", "drop_qpn",
                           "drop_state", "drop_addr",   "drop_pkey",       "drop_dead"}) {
    INFO(std::string(name));
    CHECK(total[name] > 0);
  }
  for (const unsigned status : {0U, 1U, 2U, 5U, 9U, 10U, 255U}) {
    INFO("status ", status);
    CHECK(statuses[status] > 0);
  }
  CHECK(dead_takes > 0);
  CHECK((placed > 0) == kSelective);
  CHECK((jumped > 0) == kSelective);
  MESSAGE("placed " << placed << ", jumped over " << jumped);
  CHECK(total["accepted"] > total["requests"] / 6);
  for (const auto& [name, value] : total) MESSAGE(name << " " << value);
  for (const auto& [status, value] : statuses) MESSAGE("status " << status << " " << value);
  MESSAGE("taken by the dead " << dead_takes);
}
