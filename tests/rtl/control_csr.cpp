// The CSR module against the register map that it was written from, and against docs/architecture.md: the addresses and
// fields that make up the set-up records are repeated here by hand, in the field order of roce_pkg.sv.
//
// Included by a file that control.cmake writes: it includes csr_map.h, and defines V_<number> for every number that the
// variant was made with.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "Vdut.h"
#include "tests/rtl/bench.h"
#include "tests/rtl/control_map.h"

using namespace rocegen::bench;

namespace {

constexpr unsigned kOkay = 0;
constexpr unsigned kSlverr = 2;

/// AXI4-Lite master: every channel has its own queue and its own stalls, so any order between them happens. Checks the
/// slave's side of the protocol.
class Master : public Agent {
 public:
  struct Read {
    unsigned resp;
    std::uint32_t data;
    std::uint64_t cycle;  // in which R was taken
  };
  struct Write {
    unsigned resp;
    std::uint64_t cycle;  // in which B was taken
  };
  struct Data {
    std::uint32_t data;
    unsigned strb;
  };

  Master(Rng& rng, Vdut& dut) : rng_(&rng), dut_(&dut) { on_reset(); }

  void drive() override {
    if (!aw_on_) {
      aw_on_ = !aw.empty() && !rng_->percent(aw_stall);
      dut_->s_axil_awvalid = aw_on_;
      dut_->s_axil_awaddr = static_cast<std::uint16_t>(aw_on_ ? aw.front() : rng_->next());
      dut_->s_axil_awprot = static_cast<std::uint8_t>(rng_->below(8));
    }
    if (!w_on_) {
      w_on_ = !w.empty() && !rng_->percent(w_stall);
      dut_->s_axil_wvalid = w_on_;
      dut_->s_axil_wdata = w_on_ ? w.front().data : static_cast<std::uint32_t>(rng_->next());
      dut_->s_axil_wstrb = static_cast<std::uint8_t>(w_on_ ? w.front().strb : rng_->below(16));
    }
    if (!ar_on_) {
      ar_on_ = !ar.empty() && !rng_->percent(ar_stall);
      dut_->s_axil_arvalid = ar_on_;
      dut_->s_axil_araddr = static_cast<std::uint16_t>(ar_on_ ? ar.front() : rng_->next());
      dut_->s_axil_arprot = static_cast<std::uint8_t>(rng_->below(8));
    }
    dut_->s_axil_bready = !rng_->percent(b_stall);
    dut_->s_axil_rready = !rng_->percent(r_stall);
  }

  void sample() override {
    ++cycle_;
    // Answers first: one in this cycle can only belong to a request of an earlier one.
    if (dut_->s_axil_bvalid) {
      REQUIRE_MESSAGE(std::min(aw_taken, w_taken) > writes.size(), "B without a whole write");
      if (b_held_) REQUIRE_MESSAGE(dut_->s_axil_bresp == b_resp_, "a stalled B changed");
      b_resp_ = dut_->s_axil_bresp;
      b_held_ = dut_->s_axil_bready == 0;
      if (!b_held_) writes.push_back({b_resp_, cycle_});
    } else {
      REQUIRE_MESSAGE(!b_held_, "a stalled B was withdrawn");
    }
    if (dut_->s_axil_rvalid) {
      REQUIRE_MESSAGE(ar_taken > reads.size(), "R without a read");
      if (r_held_) {
        REQUIRE_MESSAGE(dut_->s_axil_rresp == r_resp_, "the response of a stalled R changed");
        REQUIRE_MESSAGE(dut_->s_axil_rdata == r_data_, "the data of a stalled R changed");
      }
      r_resp_ = dut_->s_axil_rresp;
      r_data_ = dut_->s_axil_rdata;
      r_held_ = dut_->s_axil_rready == 0;
      if (!r_held_) reads.push_back({r_resp_, r_data_, cycle_});
    } else {
      REQUIRE_MESSAGE(!r_held_, "a stalled R was withdrawn");
    }
    if (aw_on_ && dut_->s_axil_awready) {
      aw.pop_front();
      aw_on_ = false;
      ++aw_taken;
    }
    if (w_on_ && dut_->s_axil_wready) {
      w.pop_front();
      w_on_ = false;
      ++w_taken;
    }
    if (ar_on_ && dut_->s_axil_arready) {
      ar.pop_front();
      ar_on_ = false;
      ++ar_taken;
      ar_cycle = cycle_;
    }
  }

  void on_reset() override {
    aw.clear();
    w.clear();
    ar.clear();
    writes.clear();
    reads.clear();
    aw_on_ = w_on_ = ar_on_ = b_held_ = r_held_ = false;
    aw_taken = w_taken = ar_taken = 0;
    dut_->s_axil_awvalid = dut_->s_axil_wvalid = dut_->s_axil_arvalid = 0;
    dut_->s_axil_bready = dut_->s_axil_rready = 0;
  }

  void stall(unsigned percent) { aw_stall = w_stall = ar_stall = b_stall = r_stall = percent; }

  unsigned aw_stall = 0, w_stall = 0, ar_stall = 0, b_stall = 0, r_stall = 0;
  std::deque<std::uint32_t> aw, ar;
  std::deque<Data> w;
  std::size_t aw_taken = 0, w_taken = 0, ar_taken = 0;
  std::uint64_t ar_cycle = 0;  // in which the last AR was taken
  std::vector<Write> writes;
  std::vector<Read> reads;
  std::uint64_t cycle() const { return cycle_; }

 private:
  Rng* rng_;
  Vdut* dut_;
  bool aw_on_ = false, w_on_ = false, ar_on_ = false, b_held_ = false, r_held_ = false;
  unsigned b_resp_ = 0, r_resp_ = 0;
  std::uint32_t r_data_ = 0;
  std::uint64_t cycle_ = 0;
};

/// Takes set-up records after random waits, checks that they are held, and notes how many writes were answered before.
class SetupSink : public Agent {
 public:
  SetupSink(Rng& rng, Port valid, Port ready, Port data, Master& master)
      : rng_(&rng), valid_(valid), ready_(ready), data_(data), master_(&master) {
    ready_.set(0);
  }
  void drive() override { ready_.set(closed || rng_->percent(stall) ? 0 : 1); }
  void sample() override {
    const bool valid = valid_.get() != 0;
    if (held_) {
      REQUIRE_MESSAGE(valid, "a stalled set-up was withdrawn");
      REQUIRE_MESSAGE(data_.value() == value_, "a stalled set-up changed");
    }
    held_ = valid && ready_.get() == 0;
    if (!valid) return;
    value_ = data_.value();
    if (!held_) {
      records.push_back(value_);
      answered.push_back(master_->writes.size());
    }
  }
  void on_reset() override {
    held_ = false;
    ready_.set(0);
    records.clear();
    answered.clear();
  }
  unsigned stall = 0;
  bool closed = false;
  std::vector<Bytes> records;
  std::vector<std::size_t> answered;  // writes answered when the record was taken

 private:
  Rng* rng_;
  Port valid_, ready_, data_;
  Master* master_;
  bool held_ = false;
  Bytes value_;
};

/// The counter bank: shows counter sel_i one cycle later, zero beyond the last one.
class Bank : public Agent {
 public:
  explicit Bank(Vdut& dut) : dut_(&dut) {}
  void drive() override { dut_->counter_i = next_; }
  void sample() override { next_ = dut_->counter_sel_o < values.size() ? values[dut_->counter_sel_o] : 0; }
  std::vector<std::uint32_t> values;

 private:
  Vdut* dut_;
  std::uint32_t next_ = 0;
};

/// The queue of events in front of the module, with random waits before each; remembers every pop.
class Events : public Agent {
 public:
  Events(Rng& rng, Vdut& dut) : rng_(&rng), dut_(&dut) {}
  void drive() override {
    if (!on_) on_ = !queue.empty() && !rng_->percent(stall);
    dut_->s_event_tvalid = on_;
    // {cause, rsp, psn, qpn}: the register shows cause and qpn only.
    const std::uint64_t word = on_ ? queue.front() : rng_->next() & 0x7FFFFFFFU;
    dut_->s_event_tdata = (word >> 24) << 49 | (rng_->next() & 0x1FFFFFFU) << 24 | (word & 0xFFFFFFU);
    dut_->event_lost_i = lose;
    dut_->ready_i = ready;
    lose = false;
  }
  void sample() override {
    const bool enabled = irq_enable;
    REQUIRE_MESSAGE(dut_->irq_o == (enabled && on_), "irq_o is not irq_enable and an event that waits");
    if (!on_ || dut_->s_event_tready == 0) return;
    popped.push_back(queue.front());
    queue.pop_front();
    on_ = false;
  }
  void on_reset() override {
    queue.clear();
    popped.clear();
    on_ = lose = false;
    irq_enable = false;
    dut_->s_event_tvalid = 0;
    dut_->event_lost_i = 0;
  }
  unsigned stall = 0;
  bool lose = false;  // pulse event_lost_i in the next cycle
  bool ready = true;
  bool irq_enable = false;
  std::deque<std::uint32_t> queue;
  std::vector<std::uint32_t> popped;

 private:
  Rng* rng_;
  Vdut* dut_;
  bool on_ = false;
};

const CsrRegister& find(const std::string& name) {
  for (const CsrRegister& reg : csr_map.registers)
    if (reg.name == name) return reg;
  FAIL("the map lacks " << name);
  return csr_map.registers.front();
}

std::uint32_t strobe_mask(unsigned strb) {
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (strb >> i & 1U) mask |= 0xFFU << (8 * i);
  return mask;
}

/// Registers as software should see them.
class Model {
 public:
  Model() { reset(); }
  void reset() {
    value_.clear();
    for (const CsrRegister& reg : csr_map.registers)
      for (const CsrField& f : reg.fields)
        if (!f.pin && (f.access == "ro" || f.access == "rw")) value_[reg.address] |= f.reset << f.lsb;
  }
  void write(std::uint32_t address, std::uint32_t data, unsigned strb) {
    const std::uint32_t mask = strobe_mask(strb) & writable(address);
    if (mask != 0) value_[address] = (value_[address] & ~mask) | (data & mask);
  }
  std::uint32_t read(std::uint32_t address) const {
    const auto at = value_.find(address);
    return at == value_.end() ? 0 : at->second;
  }
  static std::uint32_t writable(std::uint32_t address) {
    std::uint32_t mask = 0;
    for (const CsrRegister& reg : csr_map.registers)
      if (reg.address == address)
        for (const CsrField& f : reg.fields)
          if (f.access == "rw") mask |= f.mask();
    return mask;
  }

 private:
  std::map<std::uint32_t, std::uint32_t> value_;
};

struct Bench {
  explicit Bench(std::uint64_t salt)
      : sim(salt),
        rng(sim.rng()),
        master(rng, sim.dut),
        qp(rng, Port(sim.dut.m_qp_tvalid, 1), Port(sim.dut.m_qp_tready, 1), Port(sim.dut.m_qp_tdata, 343), master),
        mr(rng, Port(sim.dut.m_mr_tvalid, 1), Port(sim.dut.m_mr_tready, 1), Port(sim.dut.m_mr_tdata, 184), master),
        srq(rng, Port(sim.dut.m_srq_tvalid, 1), Port(sim.dut.m_srq_tready, 1), Port(sim.dut.m_srq_tdata, 41), master),
        rqe(rng, Port(sim.dut.m_rqe_tvalid, 1), Port(sim.dut.m_rqe_tready, 1), Port(sim.dut.m_rqe_tdata, 256), master),
        bank(sim.dut),
        events(rng, sim.dut) {
    for (Agent* a : std::initializer_list<Agent*>{&master, &qp, &mr, &srq, &rqe, &bank, &events}) sim.add(*a);
    bank.values.resize(csr_map.counters.size());
    for (auto& v : bank.values) v = static_cast<std::uint32_t>(rng.next());
    sim.reset();
  }

  unsigned write(std::uint32_t address, std::uint32_t data, unsigned strb = 15) {
    const std::size_t before = master.writes.size();
    // Either half may come first, by any time.
    const std::uint64_t lead = rng.percent(30) ? rng.below(10) : 0;
    const bool address_first = rng.percent(50);
    if (address_first)
      master.aw.push_back(address);
    else
      master.w.push_back({data, strb});
    sim.run(lead);
    CHECK(master.writes.size() == before);
    if (address_first)
      master.w.push_back({data, strb});
    else
      master.aw.push_back(address);
    sim.run_until([&] { return master.writes.size() == before + 1; }, 3000);
    return master.writes.back().resp;
  }
  Master::Read read(std::uint32_t address) {
    const std::size_t before = master.reads.size();
    master.ar.push_back(address);
    sim.run_until([&] { return master.reads.size() == before + 1; }, 1000);
    return master.reads.back();
  }
  /// The value of a register that is no pin and no queue.
  void check_value(std::uint32_t address) {
    const Master::Read got = read(address);
    CAPTURE(address);
    CHECK(got.resp == kOkay);
    CHECK(got.data == model.read(address));
  }
  /// Every register reads as the model says. STATUS and EVENT: without lost events, without events.
  void check_all() {
    for (const CsrRegister& reg : csr_map.registers) {
      CAPTURE(reg.name);
      const Master::Read got = read(reg.address);
      CHECK(got.resp == kOkay);
      if (reg.name == "STATUS")
        CHECK(got.data == (events.ready ? 1U : 0U));
      else if (reg.name == "EVENT")
        CHECK((got.data >> 31) == 0U);
      else
        CHECK(got.data == model.read(reg.address));
    }
    check_pins();
  }
  void check_pins() {
    const std::uint64_t mac = std::uint64_t{model.read(0x034) & 0xFFFF} << 32 | model.read(0x030);
    CHECK(Port(sim.dut.local_mac_o, 48).get() == mac);
    CHECK(sim.dut.local_ip_o == model.read(0x038));
    CHECK(sim.dut.ttl_o == (model.read(0x03C) & 0xFF));
    CHECK(sim.dut.tos_o == (model.read(0x03C) >> 8 & 0xFF));
  }

  Sim<Vdut> sim;
  Rng& rng;
  Master master;
  SetupSink qp;
  SetupSink mr;
  SetupSink srq;
  SetupSink rqe;
  Bank bank;
  Events events;
  Model model;
};

/// A stall rate, or none in half of the cases.
unsigned some_stall(Rng& rng) { return rng.percent(50) ? 0 : static_cast<unsigned>(rng.between(10, 90)); }

void shuffle_stalls(Bench& b) {
  b.master.aw_stall = some_stall(b.rng);
  b.master.w_stall = some_stall(b.rng);
  b.master.ar_stall = some_stall(b.rng);
  b.master.b_stall = some_stall(b.rng);
  b.master.r_stall = some_stall(b.rng);
  b.qp.stall = some_stall(b.rng);
  b.mr.stall = some_stall(b.rng);
  b.srq.stall = some_stall(b.rng);
  b.rqe.stall = some_stall(b.rng);
}

// Set-up records, packed here from the registers of docs/architecture.md in the field order of roce_pkg.sv.
std::uint64_t bits(std::uint32_t word, unsigned high, unsigned low) {
  return (std::uint64_t{word} >> low) & ((std::uint64_t{1} << (high - low + 1)) - 1);
}

Bytes qp_record(const Model& m, std::uint32_t command) {
  const std::uint32_t attr = m.read(0x104);
  const std::uint32_t prot = m.read(0x108);
  const std::uint32_t mac_hi = m.read(0x120);
  const std::uint32_t ring = m.read(0x124);
  const std::uint32_t limits = m.read(0x12C);
  const std::uint32_t rq_ring = m.read(0x130);
  const std::uint32_t rq_attr = m.read(0x134);
  return Record(343)
      .put(bits(command, 8, 8), 1)                         // setup
      .put(bits(m.read(0x100), 23, 0), 24)                 // qpn
      .put(bits(command, 2, 0), 3)                         // state
      .put(bits(attr, 2, 0), 3)                            // pmtu
      .put(bits(attr, 7, 4), 4)                            // access
      .put(bits(prot, 31, 16), 16)                         // pd
      .put(bits(prot, 15, 0), 16)                          // pkey
      .put(bits(m.read(0x10C), 23, 0), 24)                 // rq_psn
      .put(bits(m.read(0x110), 23, 0), 24)                 // sq_psn
      .put(bits(m.read(0x114), 23, 0), 24)                 // dqpn
      .put(m.read(0x118), 32)                              // dip
      .put(bits(mac_hi, 15, 0) << 32 | m.read(0x11C), 48)  // dmac
      .put(bits(mac_hi, 31, 16), 16)                       // sport
      .put(bits(attr, 18, 16), 3)                          // retry_cnt
      .put(bits(attr, 22, 20), 3)                          // rnr_retry
      .put(bits(attr, 12, 8), 5)                           // timeout
      .put(bits(attr, 28, 24), 5)                          // min_rnr_timer
      .put(bits(ring, 19, 0), 20)                          // sq_base
      .put(bits(ring, 28, 24), 5)                          // sq_log2
      .put(bits(limits, 7, 0), 8)                          // max_rd
      .put(bits(limits, 15, 8), 8)                         // max_dest_rd
      .put(bits(rq_attr, 0, 0), 1)                         // rq_on
      .put(bits(rq_attr, 1, 1), 1)                         // srq
      .put(bits(rq_attr, 31, 16), 16)                      // srqn
      .put(bits(rq_ring, 19, 0), 20)                       // rq_base
      .put(bits(rq_ring, 28, 24), 5)                       // rq_log2
      .put(0, 8)                                           // services: without any there is no register
      .value();
}

Bytes mr_record(const Model& m) {
  const std::uint32_t attr = m.read(0x144);
  return Record(184)
      .put(bits(m.read(0x140), 23, 0), 24)                          // index
      .put(bits(attr, 12, 12), 1)                                   // valid
      .put(bits(attr, 7, 0), 8)                                     // variant
      .put(bits(attr, 11, 8), 4)                                    // access
      .put(bits(attr, 15, 13), 3)                                   // target
      .put(bits(attr, 31, 16), 16)                                  // pd
      .put(std::uint64_t{m.read(0x14C)} << 32 | m.read(0x148), 64)  // base
      .put(std::uint64_t{m.read(0x154)} << 32 | m.read(0x150), 64)  // length
      .value();
}

constexpr std::uint32_t kQpCommand = 0x128;
constexpr std::uint32_t kMrCommand = 0x158;
constexpr std::uint32_t kSrqCommand = 0x168;
constexpr std::uint32_t kRqeWord = 0x180;
constexpr std::uint32_t kRqeCommand = 0x1A0;

Bytes srq_record(const Model& m) {
  return Record(41)
      .put(bits(m.read(0x160), 15, 0), 16)  // srqn
      .put(bits(m.read(0x164), 19, 0), 20)  // base
      .put(bits(m.read(0x164), 28, 24), 5)  // log2
      .value();
}

Bytes rqe_record(const Model& m) {
  Record record(256);
  for (std::uint32_t word = 8; word-- > 0;) record.put(m.read(kRqeWord + 4 * word), 32);
  return record.value();
}

bool is_command(std::uint32_t address) {
  return address == kQpCommand || address == kMrCommand || address == kSrqCommand;
}
/// A write does something else than to keep a value.
bool acts(const CsrRegister& reg) { return reg.command || reg.address == kRqeCommand; }

}  // namespace

TEST_CASE("the map has the registers of the architecture at their addresses, with the variant's constants") {
  const std::map<std::string, std::uint32_t> expected = {
      {"ID", 0x000},          {"VERSION", 0x004},      {"SPEC_HASH", 0x008},      {"STATUS", 0x00C},
      {"CTRL", 0x010},        {"DATA_WIDTH", 0x014},   {"QP_COUNT", 0x018},       {"MR_COUNT", 0x01C},
      {"WQE_SLOTS", 0x020},   {"CLOCK_KHZ", 0x024},    {"LOCAL_MAC_LO", 0x030},   {"LOCAL_MAC_HI", 0x034},
      {"LOCAL_IP", 0x038},    {"IP_CONFIG", 0x03C},    {"EVENT", 0x040},          {"QP_NUM", 0x100},
      {"QP_ATTR", 0x104},     {"QP_PROT", 0x108},      {"QP_RQ_PSN", 0x10C},      {"QP_SQ_PSN", 0x110},
      {"QP_DEST_QPN", 0x114}, {"QP_DEST_IP", 0x118},   {"QP_DEST_MAC_LO", 0x11C}, {"QP_DEST_MAC_HI", 0x120},
      {"QP_SQ_RING", 0x124},  {"QP_COMMAND", 0x128},   {"MR_INDEX", 0x140},       {"MR_ATTR", 0x144},
      {"MR_BASE_LO", 0x148},  {"MR_BASE_HI", 0x14C},   {"MR_LEN_LO", 0x150},      {"MR_LEN_HI", 0x154},
      {"MR_COMMAND", 0x158},  {"RQE_SLOTS", 0x044},    {"SRQ_COUNT", 0x048},      {"READ_DEPTH", 0x04C},
      {"TARGETS", 0x050},     {"QP_RD_LIMITS", 0x12C}, {"QP_RQ_RING", 0x130},     {"QP_RQ_ATTR", 0x134},
      {"SRQ_NUM", 0x160},     {"SRQ_RING", 0x164},     {"SRQ_COMMAND", 0x168},    {"RQE_WORD0", 0x180},
      {"RQE_WORD1", 0x184},   {"RQE_WORD2", 0x188},    {"RQE_WORD3", 0x18C},      {"RQE_WORD4", 0x190},
      {"RQE_WORD5", 0x194},   {"RQE_WORD6", 0x198},    {"RQE_WORD7", 0x19C},      {"RQE_COMMAND", 0x1A0}};
  std::map<std::string, std::uint32_t> got;
  for (const CsrRegister& reg : csr_map.registers) {
    got[reg.name] = reg.address;
    CHECK(reg.command == is_command(reg.address));
  }
  CHECK(got == expected);
  REQUIRE(csr_map.counters.size() == V_COUNTERS);
  for (std::size_t i = 0; i < csr_map.counters.size(); ++i) CHECK(csr_map.counters[i] == 0x400 + 4 * i);

  Bench b(1);
  CHECK(b.read(0x000).data == 0x45434F52U);
  CHECK(b.read(0x008).data == V_SPEC_HASH);
  CHECK(b.read(0x014).data == V_DATA_WIDTH);
  CHECK(b.read(0x018).data == V_QPS);
  CHECK(b.read(0x01C).data == V_MRS);
  CHECK(b.read(0x020).data == V_SLOTS);
  CHECK(b.read(0x024).data == V_CLOCK_KHZ);
  CHECK(b.read(0x03C).data == (V_TOS << 8 | V_TTL));
  // Attributes that a driver may leave alone: pmtu 1024, retries 7, RNR code 12, default P_Key, dynamic port range.
  CHECK(b.read(0x104).data == 0x0C770003U);
  CHECK(b.read(0x108).data == 0x0000FFFFU);
  CHECK(b.read(0x120).data == 0xC0000000U);
}

TEST_CASE("every register reads as its reset value after reset, also after it was written") {
  Bench b(2);
  b.check_all();
  for (const CsrRegister& reg : csr_map.registers)
    if (!acts(reg)) CHECK(b.write(reg.address, static_cast<std::uint32_t>(b.rng.next())) == kOkay);
  b.sim.reset();
  b.model.reset();
  b.check_all();
  b.events.ready = false;
  b.check_all();
}

TEST_CASE("read-write fields keep what is written, byte by byte; nothing else changes") {
  Bench b(3);
  for (const CsrRegister& reg : csr_map.registers) {
    if (acts(reg)) continue;
    CAPTURE(reg.name);
    for (unsigned strb = 0; strb < 16; ++strb) {
      shuffle_stalls(b);
      for (int round = 0; round < 3; ++round) {
        const auto data = round == 0 ? ~b.model.read(reg.address) : static_cast<std::uint32_t>(b.rng.next());
        CAPTURE(strb);
        CHECK(b.write(reg.address, data, strb) == kOkay);
        b.model.write(reg.address, data, strb);
        if (reg.name == "CTRL") b.events.irq_enable = (b.model.read(reg.address) & 1U) != 0;
        if (reg.name != "STATUS" && reg.name != "EVENT") b.check_value(reg.address);
      }
    }
    b.master.stall(0);
    b.check_all();
  }
  // All ones and all zeros: the fields and no other bits.
  for (const std::uint32_t data : {~0U, 0U}) {
    for (const CsrRegister& reg : csr_map.registers) {
      if (acts(reg)) continue;
      CHECK(b.write(reg.address, data) == kOkay);
      b.model.write(reg.address, data, 15);
    }
    b.events.irq_enable = data != 0;
    b.check_all();
  }
  CHECK(b.qp.records.empty());
  CHECK(b.mr.records.empty());
}

TEST_CASE("each of the low two address bits is ignored") {
  Bench b(4);
  for (const CsrRegister& reg : csr_map.registers) {
    if (acts(reg) || reg.name == "STATUS" || reg.name == "EVENT" || reg.name == "CTRL") continue;
    for (std::uint32_t low = 1; low < 4; ++low) {
      const auto data = static_cast<std::uint32_t>(b.rng.next());
      CHECK(b.write(reg.address + low, data) == kOkay);
      b.model.write(reg.address, data, 15);
      const Master::Read got = b.read(reg.address + (low ^ 3U));
      CHECK(got.resp == kOkay);
      CHECK(got.data == b.model.read(reg.address));
    }
  }
}

TEST_CASE("an address without register answers SLVERR, reads as zero and changes nothing") {
  Bench b(5);
  std::set<std::uint32_t> readable;
  std::set<std::uint32_t> writable;
  for (const CsrRegister& reg : csr_map.registers) {
    readable.insert(reg.address);
    writable.insert(reg.address);
    if (acts(reg)) continue;
    const auto data = static_cast<std::uint32_t>(b.rng.next());
    CHECK(b.write(reg.address, data) == kOkay);
    b.model.write(reg.address, data, 15);
  }
  b.events.irq_enable = (b.model.read(0x010) & 1U) != 0;
  readable.insert(csr_map.counters.begin(), csr_map.counters.end());
  for (auto& v : b.bank.values) v |= 1;  // a stray read of one can't pass for zero
  // A bank that shows something at every index.
  b.bank.values.resize(1024, 0xFFFFFFFFU);
  std::size_t bad = 0;
  for (std::uint32_t address = 0; address < 0x10000; address += 4) {
    if (!readable.contains(address)) {
      const Master::Read got = b.read(address);
      bad += got.resp != kSlverr || got.data != 0;
    }
    if (!writable.contains(address)) {
      // Ones with byte 0: what would commit, if this were a command.
      bad += b.write(address, static_cast<std::uint32_t>(b.rng.next()) | 0x103U) != kSlverr;
    }
  }
  CHECK(bad == 0);
  CHECK(b.qp.records.empty());
  CHECK(b.mr.records.empty());
  b.check_all();
}

TEST_CASE("a command is answered after its set-up was taken, and the record has every field") {
  Bench b(6);
  for (int round = 0; round < 300; ++round) {
    shuffle_stalls(b);
    const bool qp = b.rng.percent(50);
    SetupSink& sink = qp ? b.qp : b.mr;
    SetupSink& other = qp ? b.mr : b.qp;
    const std::uint32_t first = qp ? 0x100 : 0x140;
    const std::uint32_t end = qp ? kQpCommand : kMrCommand;
    for (std::uint32_t address = first; address < (qp ? 0x138 : kMrCommand); address += 4) {
      if (address == kQpCommand) continue;
      if (b.rng.percent(30)) continue;
      auto data = static_cast<std::uint32_t>(b.rng.next());
      if (b.rng.percent(10)) data = b.rng.percent(50) ? ~0U : 0;
      b.write(address, data);
      b.model.write(address, data, 15);
    }
    const auto command = static_cast<std::uint32_t>(b.rng.next());
    const bool wait = b.rng.percent(50);
    sink.closed = wait;
    const std::size_t taken = sink.records.size();
    const std::size_t untouched = other.records.size();
    const std::size_t writes = b.master.writes.size();
    if (wait) {
      // Nothing is answered before the set-up was taken; reads go on meanwhile and see it wait.
      b.master.aw.push_back(end);
      b.master.w.push_back({command, 15});
      b.sim.run_until([&] { return (qp ? b.sim.dut.m_qp_tvalid : b.sim.dut.m_mr_tvalid) != 0; }, 1000);
      CHECK(b.read(0x00C).data == 3U);
      b.sim.run(b.rng.below(40));
      CHECK(b.master.writes.size() == writes);
      CHECK(sink.records.size() == taken);
      sink.closed = false;
      b.sim.run_until([&] { return b.master.writes.size() == writes + 1; }, 1000);
      CHECK(b.master.writes.back().resp == kOkay);
    } else {
      CHECK(b.write(end, command) == kOkay);
    }
    REQUIRE(sink.records.size() == taken + 1);
    CHECK(sink.answered.back() == writes);
    CHECK(other.records.size() == untouched);
    CHECK(sink.records.back() == (qp ? qp_record(b.model, command) : mr_record(b.model)));
    CHECK(b.read(0x00C).data == 1U);
    b.check_value(kQpCommand);  // zero, whatever was written
    b.check_value(kMrCommand);
  }
  b.check_all();
}

TEST_CASE("a shared ring's set-up has every field") {
  Bench b(16);
  for (int round = 0; round < 60; ++round) {
    shuffle_stalls(b);
    for (const std::uint32_t address : {0x160U, 0x164U}) {
      const auto data = static_cast<std::uint32_t>(b.rng.next());
      CHECK(b.write(address, data) == kOkay);
      b.model.write(address, data, 15);
    }
    const unsigned strb = b.rng.percent(70) ? 15 : static_cast<unsigned>(b.rng.below(16));
    const std::size_t taken = b.srq.records.size();
    const std::size_t writes = b.master.writes.size();
    CHECK(b.write(kSrqCommand, static_cast<std::uint32_t>(b.rng.next()), strb) == kOkay);
    REQUIRE(b.srq.records.size() == taken + (strb & 1U));
    if ((strb & 1U) != 0) {
      CHECK(b.srq.records.back() == srq_record(b.model));
      CHECK(b.srq.answered.back() == writes);
    }
  }
  CHECK(b.qp.records.empty());
  CHECK(b.mr.records.empty());
  CHECK(b.rqe.records.empty());
}

TEST_CASE("a receive entry is posted once; while it waits its registers are locked, the bus is not") {
  Bench b(17);
  for (int round = 0; round < 60; ++round) {
    shuffle_stalls(b);
    b.rqe.closed = b.rng.percent(60);
    for (std::uint32_t word = 0; word < 8; ++word) {
      if (b.rng.percent(20)) continue;
      const auto data = static_cast<std::uint32_t>(b.rng.next());
      const auto strb = static_cast<unsigned>(b.rng.below(16));
      CHECK(b.write(kRqeWord + 4 * word, data, strb) == kOkay);
      b.model.write(kRqeWord + 4 * word, data, strb);
    }
    const std::size_t taken = b.rqe.records.size();
    CHECK(b.write(kRqeCommand, ~0U, 14) == kOkay);  // without byte 0
    CHECK(b.write(kRqeCommand, static_cast<std::uint32_t>(b.rng.next())) == kOkay);
    if (b.rqe.closed) {
      // Another write, of the words or of the command, is refused and changes nothing; others go on.
      CHECK(b.read(kRqeCommand).data == 1U);
      for (std::uint32_t word = 0; word <= 8; ++word)
        if (b.rng.percent(40)) CHECK(b.write(kRqeWord + 4 * word, static_cast<std::uint32_t>(b.rng.next())) == kSlverr);
      CHECK(b.write(0x118, 7) == kOkay);
      b.model.write(0x118, 7, 15);
      CHECK(b.rqe.records.size() == taken);
      b.rqe.closed = false;
    }
    b.sim.run_until([&] { return b.rqe.records.size() == taken + 1; }, 1000);
    CHECK(b.rqe.records.back() == rqe_record(b.model));
    b.sim.run(2);
    CHECK(b.read(kRqeCommand).data == 0U);
    for (std::uint32_t word = 0; word < 8; ++word) b.check_value(kRqeWord + 4 * word);
  }
  CHECK(b.rqe.records.size() == 60);
  CHECK(b.qp.records.empty());
}

TEST_CASE("a command commits only with byte 0; bytes without strobe count as zero") {
  Bench b(7);
  for (const std::uint32_t address : {kQpCommand, kMrCommand}) {
    SetupSink& sink = address == kQpCommand ? b.qp : b.mr;
    for (unsigned strb = 0; strb < 16; ++strb) {
      const std::size_t taken = sink.records.size();
      CHECK(b.write(address, ~0U, strb) == kOkay);
      REQUIRE(sink.records.size() == taken + (strb & 1U));
      if ((strb & 1U) != 0)
        CHECK(sink.records.back() ==
              (address == kQpCommand ? qp_record(b.model, strobe_mask(strb)) : mr_record(b.model)));
    }
  }
  CHECK(b.qp.records.size() == 8);
  CHECK(b.mr.records.size() == 8);
}

TEST_CASE("writes and reads in flight on all channels at once, any order, any stalls") {
  Bench b(8);
  for (int round = 0; round < 40; ++round) {
    shuffle_stalls(b);
    // Reads during the writes: constants, whose value no write may disturb, and unmapped addresses.
    std::vector<std::uint32_t> addresses, read_addresses;
    std::vector<Bytes> qp_records, mr_records;
    const std::size_t writes = b.master.writes.size();
    const std::size_t reads = b.master.reads.size();
    b.qp.records.clear();
    b.mr.records.clear();
    for (int i = 0; i < 60; ++i) {
      std::uint32_t address = csr_map.registers[b.rng.below(csr_map.registers.size())].address;
      if (address >= kRqeWord) address = kMrCommand;  // locked while an entry waits
      if (address == 0x010) address = kQpCommand;     // CTRL moves irq_o while the bench does not know when
      if (b.rng.percent(10)) address = 0x200 + 4 * static_cast<std::uint32_t>(b.rng.below(100));
      const auto data = static_cast<std::uint32_t>(b.rng.next());
      const auto strb = static_cast<unsigned>(b.rng.below(16));
      b.master.aw.push_back(address);
      b.master.w.push_back({data, strb});
      addresses.push_back(address);
      b.model.write(address, data, strb);
      if (address == kQpCommand && (strb & 1U) != 0) qp_records.push_back(qp_record(b.model, data & strobe_mask(strb)));
      if (address == kMrCommand && (strb & 1U) != 0) mr_records.push_back(mr_record(b.model));
      const std::array<std::uint32_t, 5> quiet = {0x000, 0x014, 0x018, 0x0FC, 0x3FC};
      read_addresses.push_back(quiet[b.rng.below(quiet.size())]);
      b.master.ar.push_back(read_addresses.back());
    }
    b.sim.run_until([&] { return b.master.writes.size() == writes + 60 && b.master.reads.size() == reads + 60; },
                    20000);
    for (std::size_t i = 0; i < 60; ++i) {
      CHECK(b.master.writes[writes + i].resp == (addresses[i] >= 0x200 ? kSlverr : kOkay));
      const bool mapped = read_addresses[i] < 0x040;
      CHECK(b.master.reads[reads + i].resp == (mapped ? kOkay : kSlverr));
      CHECK(b.master.reads[reads + i].data == b.model.read(read_addresses[i]));
    }
    CHECK(b.qp.records == qp_records);
    CHECK(b.mr.records == mr_records);
  }
  b.master.stall(0);
  b.check_all();
}

TEST_CASE("an answered write is seen by the next read; latencies are as the header says") {
  Bench b(9);
  for (int i = 0; i < 50; ++i) {
    const auto data = static_cast<std::uint32_t>(b.rng.next());
    b.master.aw.push_back(0x118);
    b.master.w.push_back({data, 15});
    const std::size_t before = b.master.writes.size();
    b.sim.run_until([&] { return b.master.aw_taken > before; }, 10);
    const std::uint64_t taken = b.master.cycle();
    b.sim.run_until([&] { return b.master.writes.size() > before; }, 10);
    CHECK(b.master.writes.back().cycle == taken + 2);
    const Master::Read got = b.read(0x118);
    CHECK(got.data == data);
    CHECK(got.cycle == b.master.ar_cycle + 3);
  }
}

TEST_CASE("a read of EVENT takes one event, no other read takes any") {
  Bench b(10);
  std::vector<std::uint32_t> sent, got;
  std::size_t event_reads = 0;
  for (int round = 0; round < 600; ++round) {
    shuffle_stalls(b);
    b.events.stall = some_stall(b.rng);
    if (b.rng.percent(40)) {
      const auto event = static_cast<std::uint32_t>(b.rng.next()) & 0x7FFFFFFFU;
      sent.push_back(event);
      b.events.queue.push_back(event);
    }
    if (b.rng.percent(50)) {
      const std::size_t popped = b.events.popped.size();
      b.master.r_stall = b.rng.percent(50) ? 90 : 0;  // a stalled R must not pop again
      const Master::Read r = b.read(b.rng.percent(50) ? 0x040 : 0x040 + static_cast<std::uint32_t>(b.rng.below(4)));
      ++event_reads;
      CHECK(r.resp == kOkay);
      // The record {cause[6:0], qpn[23:0]} lies in the register as it is.
      if ((r.data >> 31) != 0) got.push_back(r.data & 0x7FFFFFFFU);
      REQUIRE(b.events.popped.size() == popped + (r.data >> 31));
      REQUIRE(b.events.popped == got);
    } else {
      const std::size_t popped = b.events.popped.size();
      const std::uint32_t address = static_cast<std::uint32_t>(b.rng.below(0x4000)) * 4;
      if (address != 0x040) b.read(address);
      b.read(0x140);
      b.read(0x03C);
      // Writing EVENT takes nothing either.
      if (b.rng.percent(30)) CHECK(b.write(0x040, ~0U) == kOkay);
      CHECK(b.events.popped.size() == popped);
    }
  }
  b.events.stall = 0;
  b.sim.step();
  while (!b.events.queue.empty()) got.push_back(b.read(0x040).data & 0x7FFFFFFFU);
  CHECK(got == sent);
  CHECK((b.read(0x040).data >> 31) == 0U);
  CHECK(event_reads > 200);
  CHECK(sent.size() > 150);
}

TEST_CASE("irq_o follows the queue when enabled, and STATUS shows that an event waits") {
  Bench b(11);
  // Events checks irq_o in every cycle.
  b.events.queue.push_back(0x12345678);
  b.sim.run(5);
  CHECK(b.read(0x00C).data == 5U);
  CHECK(b.sim.dut.irq_o == 0);
  b.events.queue.push_back(0x01020304);
  b.master.aw.push_back(0x010);
  b.master.w.push_back({1, 1});
  // The enable is in force in the cycle of the answer.
  b.sim.run_until([&] { return b.master.aw_taken == 1 && b.master.w_taken == 1; }, 10);
  b.sim.step();
  b.events.irq_enable = true;
  b.sim.step();
  CHECK(b.master.writes.size() == 1);
  CHECK(b.sim.dut.irq_o == 1);
  CHECK(b.read(0x040).data == (0x12345678U | 0x80000000U));
  b.sim.step();
  CHECK(b.sim.dut.irq_o == 1);
  CHECK(b.read(0x00C).data == 5U);
  CHECK(b.read(0x040).data == (0x01020304U | 0x80000000U));
  CHECK(b.sim.dut.irq_o == 0);  // in the cycle after R, without one more
  CHECK(b.read(0x00C).data == 1U);
}

TEST_CASE("events_lost stays until it is cleared, and a loss in the cycle of the clearing wins") {
  Bench b(12);
  CHECK((b.read(0x00C).data & 8U) == 0U);
  for (int round = 0; round < 20; ++round) {
    b.events.lose = true;
    b.sim.step();
    for (int i = 0; i < 3; ++i) CHECK((b.read(0x00C).data & 8U) != 0U);
    CHECK(b.write(0x010, 0, 15) == kOkay);    // not this bit
    CHECK(b.write(0x010, ~0U, 14) == kOkay);  // not this byte
    CHECK((b.read(0x00C).data & 8U) != 0U);
    CHECK(b.write(0x010, 2, 15) == kOkay);
    CHECK((b.read(0x00C).data & 8U) == 0U);
    CHECK(b.read(0x010).data == 0U);
  }
  // One loss in each of the cycles around the clearing: seen, unless it came before the clearing took effect.
  std::vector<bool> seen;
  for (unsigned delay = 0; delay < 8; ++delay) {
    b.master.aw.push_back(0x010);
    b.master.w.push_back({2, 15});
    const std::size_t before = b.master.writes.size();
    for (unsigned i = 0; i < 10; ++i) {
      b.events.lose = i == delay;
      b.sim.step();
    }
    CHECK(b.master.writes.size() == before + 1);
    seen.push_back((b.read(0x00C).data & 8U) != 0U);
    b.write(0x010, 2, 15);
  }
  // Taken in cycle 0, executed in 1, answered in 2: lost_q is cleared at the end of 2, and a loss in 2 is kept.
  CHECK(seen == std::vector<bool>{false, false, true, true, true, true, true, true});
}

TEST_CASE("every counter is read from its own place in the bank, with the bank's latency") {
  Bench b(13);
  std::vector<std::size_t> order;
  for (int i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < csr_map.counters.size(); ++k) order.push_back(k);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[b.rng.below(i)]);
  for (const std::size_t k : order) {
    if (b.rng.percent(10)) shuffle_stalls(b);
    const Master::Read got = b.read(csr_map.counters[k]);
    CAPTURE(k);
    CHECK(got.resp == kOkay);
    CHECK(got.data == b.bank.values[k]);
    if (b.rng.percent(20)) b.check_value(0x000);
    // A counter is nothing to write to.
    if (b.rng.percent(10)) CHECK(b.write(csr_map.counters[k], ~0U) == kSlverr);
  }
  const auto beyond = static_cast<std::uint32_t>(0x400 + 4 * csr_map.counters.size());
  CHECK(b.read(beyond).resp == kSlverr);
  CHECK(b.read(0x3FC).resp == kSlverr);
}

TEST_CASE("a reset in the middle of anything leaves nothing behind") {
  Bench b(14);
  for (int round = 0; round < 60; ++round) {
    b.master.stall(static_cast<unsigned>(b.rng.below(60)));
    b.qp.closed = b.mr.closed = b.srq.closed = b.rqe.closed = b.rng.percent(50);
    for (int i = 0; i < 4; ++i) {
      const std::array<std::uint32_t, 6> some = {kQpCommand, kMrCommand, kSrqCommand, kRqeCommand, 0x118, 0x200};
      b.master.aw.push_back(some[b.rng.below(some.size())]);
      b.master.w.push_back({static_cast<std::uint32_t>(b.rng.next()), 15});
      b.master.ar.push_back(some[b.rng.below(some.size())]);
    }
    b.events.lose = b.rng.percent(50);
    b.sim.run(b.rng.below(25));
    b.sim.reset(1 + static_cast<unsigned>(b.rng.below(3)));
    b.model.reset();
    CHECK(b.sim.dut.s_axil_bvalid == 0);
    CHECK(b.sim.dut.s_axil_rvalid == 0);
    CHECK(b.sim.dut.m_qp_tvalid == 0);
    CHECK(b.sim.dut.m_mr_tvalid == 0);
    CHECK(b.sim.dut.m_srq_tvalid == 0);
    CHECK(b.sim.dut.m_rqe_tvalid == 0);
    b.qp.closed = b.mr.closed = b.srq.closed = b.rqe.closed = false;
    b.sim.run(20);
    CHECK(b.master.writes.empty());
    CHECK(b.master.reads.empty());
    CHECK(b.qp.records.empty());
    CHECK(b.mr.records.empty());
    CHECK(b.read(0x118).data == 0U);
    CHECK(b.read(0x00C).data == 1U);
    CHECK(b.write(0x118, 5) == kOkay);
    CHECK(b.read(0x118).data == 5U);
  }
}

TEST_CASE("no output but irq_o depends on an input without a register between") {
  Bench b(15);
  auto& d = b.sim.dut;
  const auto outputs = [&] {
    return std::vector<Bytes>{
        Port(d.s_axil_awready, 1).value(), Port(d.s_axil_wready, 1).value(),  Port(d.s_axil_bvalid, 1).value(),
        Port(d.s_axil_bresp, 2).value(),   Port(d.s_axil_arready, 1).value(), Port(d.s_axil_rvalid, 1).value(),
        Port(d.s_axil_rresp, 2).value(),   Port(d.s_axil_rdata, 32).value(),  Port(d.m_qp_tvalid, 1).value(),
        Port(d.m_qp_tdata, 343).value(),   Port(d.m_mr_tvalid, 1).value(),    Port(d.m_mr_tdata, 184).value(),
        Port(d.s_event_tready, 1).value(), Port(d.counter_sel_o, 8).value(),  Port(d.local_ip_o, 32).value()};
  };
  for (int round = 0; round < 400; ++round) {
    if (b.rng.percent(30)) {
      b.master.aw.push_back(csr_map.registers[b.rng.below(csr_map.registers.size())].address & ~0x10U);
      b.master.w.push_back({static_cast<std::uint32_t>(b.rng.next()), static_cast<unsigned>(b.rng.below(16))});
      b.master.ar.push_back(static_cast<std::uint32_t>(b.rng.below(0x60)) * 4);
    }
    shuffle_stalls(b);
    b.sim.run(1 + b.rng.below(4));
    const std::vector<Bytes> before = outputs();
    const std::array<std::uint8_t, 9> pins = {d.s_axil_awvalid, d.s_axil_wvalid,  d.s_axil_bready,
                                              d.s_axil_arvalid, d.s_axil_rready,  d.m_qp_tready,
                                              d.m_mr_tready,    d.s_event_tvalid, d.ready_i};
    const auto put = [&](const std::array<std::uint8_t, 9>& v) {
      d.s_axil_awvalid = v[0];
      d.s_axil_wvalid = v[1];
      d.s_axil_bready = v[2];
      d.s_axil_arvalid = v[3];
      d.s_axil_rready = v[4];
      d.m_qp_tready = v[5];
      d.m_mr_tready = v[6];
      d.s_event_tvalid = v[7];
      d.ready_i = v[8];
    };
    const std::uint16_t awaddr = d.s_axil_awaddr;
    const std::uint16_t araddr = d.s_axil_araddr;
    const std::uint32_t wdata = d.s_axil_wdata;
    for (int i = 0; i < 4; ++i) {
      std::array<std::uint8_t, 9> other{};
      for (auto& v : other) v = static_cast<std::uint8_t>(b.rng.below(2));
      put(other);
      d.s_axil_awaddr = static_cast<std::uint16_t>(b.rng.next());
      d.s_axil_araddr = static_cast<std::uint16_t>(b.rng.next());
      d.s_axil_wdata = static_cast<std::uint32_t>(b.rng.next());
      d.eval();
      CHECK(outputs() == before);
    }
    put(pins);
    d.s_axil_awaddr = awaddr;
    d.s_axil_araddr = araddr;
    d.s_axil_wdata = wdata;
    d.eval();
  }
}
