// The compiled stage of an inspection against the classes that dpi_gen wrote by the definitions (DPI_VECTORS).
#include <array>
#include <fstream>
#include <sstream>

#include "Vdut.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;

namespace {

constexpr std::size_t kHeaderBits = 382;
constexpr std::size_t kUserBits = 392;
constexpr unsigned kQps = P_QpCount;
constexpr unsigned kIndex = P_Index;

enum Action : unsigned { Tag = 1, Count = 2, Tell = 4, Drop = 8, Refuse = 16 };

struct Judged {
  unsigned wanted = 0;   // class
  bool mine = false;     // its queue pair has the service
  bool dropped = false;  // by a service in front
  std::uint64_t opcode = 0, qpn = 0;
  Bytes data;
  Bytes user;  // before the stage
};

struct Vectors {
  unsigned classes = 0;
  unsigned latency = 0;
  std::vector<std::array<unsigned, 2>> actions;  // and tag
  std::vector<Judged> packets;
};

/// The verdict that a packet comes with, of a service in front.
struct Before {
  std::uint64_t drop = 0, tell = 0, refuse = 0, tag = 0;
};

const Vectors& vectors() {
  static const Vectors all = [] {
    Vectors v;
    std::ifstream file(DPI_VECTORS);
    file >> v.classes >> v.latency;
    v.actions.resize(v.classes);
    for (auto& [actions, tag] : v.actions) file >> actions >> tag;
    Rng rng(seed());
    unsigned wanted = 0;
    while (file >> wanted) {
      Judged p;
      p.wanted = wanted;
      unsigned mine = 0;
      std::uint64_t length = 0, psn = 0, pkey = 0, se = 0, ackreq = 0, ecn = 0, src = 0, dst = 0, rkey = 0, dma_len = 0,
                    imm = 0;
      std::string hex;
      file >> mine >> length >> p.opcode >> p.qpn >> psn >> pkey >> se >> ackreq >> ecn >> src >> dst >> rkey >>
          dma_len >> imm >> hex;
      p.mine = mine != 0;
      for (std::size_t i = 1; i + 1 < hex.size(); i += 2) {
        p.data.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
      }
      REQUIRE(p.data.size() == length);
      Before b;
      if (rng.percent(20)) b = {rng.below(2), rng.below(2), rng.below(2), rng.below(256)};
      p.dropped = b.drop != 0;
      const std::uint64_t others = rng.below(256) & ~(1U << kIndex);
      p.user = Record(kUserBits)
                   .put(others | (p.mine ? 1U << kIndex : 0U), 8)
                   .put(b.drop, 1)
                   .put(b.tell, 1)
                   .put(rng.below(65536), 16)
                   .put(length, 14)
                   .put(src, 32)
                   .put(dst, 32)
                   .put(ecn, 2)
                   .put(p.opcode, 8)
                   .put(se, 1)
                   .put(rng.below(2), 1)
                   .put(rng.below(4), 2)
                   .put(pkey, 16)
                   .put(rng.below(2), 1)
                   .put(rng.below(2), 1)
                   .put(p.qpn, 24)
                   .put(ackreq, 1)
                   .put(psn, 24)
                   .put(rng.next(), 64)
                   .put(rkey, 32)
                   .put(dma_len, 32)
                   .put(rng.below(256), 8)
                   .put(rng.below(1U << 24), 24)
                   .put(imm, 32)
                   .put(b.refuse, 1)
                   .put(b.tag, 8)
                   .put(rng.below(64), 6)
                   .value();
      v.packets.push_back(std::move(p));
    }
    REQUIRE(v.packets.size() > 500);
    return v;
  }();
  return all;
}

/// ACKs and atomics are left alone, and what is dropped already.
bool judged(const Judged& p) { return p.mine && !p.dropped && (p.opcode < 0x11 || p.opcode > 0x14); }

/// The user record behind the stage, when `allowed` actions may be done.
Bytes expected(const Judged& p, unsigned allowed) {
  Bytes user = p.user;
  if (!judged(p)) return user;
  const auto [actions, tag] = vectors().actions[p.wanted];
  const unsigned done = actions & allowed;
  const auto raise = [&](std::size_t lsb, std::uint64_t bits, std::size_t width) {
    set_field(user, lsb, width, get_field(user, lsb, width) | bits);
  };
  if ((done & Tag) != 0) raise(6, tag, 8);
  if ((done & Refuse) != 0) raise(14, 1, 1);
  if ((done & Tell) != 0) raise(kHeaderBits, 1, 1);
  if ((done & Drop) != 0) raise(kHeaderBits + 1, 1, 1);
  return user;
}

struct Bench {
  Sim<Vdut> sim;
  PacketSource source;
  PacketSink sink;
  std::array<std::uint64_t, 5> pulses = {};

  explicit Bench(std::uint64_t salt)
      : sim(salt),
        source(sim.rng(), {Port(sim.dut.s_pkt_tvalid, 1), Port(sim.dut.s_pkt_tready, 1),
                           Port(sim.dut.s_pkt_tdata, P_DataW), Port(sim.dut.s_pkt_tkeep, P_DataW / 8),
                           Port(sim.dut.s_pkt_tlast, 1), Port(sim.dut.s_pkt_tuser, kUserBits)}),
        sink(sim.rng(), {Port(sim.dut.m_pkt_tvalid, 1), Port(sim.dut.m_pkt_tready, 1),
                         Port(sim.dut.m_pkt_tdata, P_DataW), Port(sim.dut.m_pkt_tkeep, P_DataW / 8),
                         Port(sim.dut.m_pkt_tlast, 1), Port(sim.dut.m_pkt_tuser, kUserBits)}) {
    sink.loose_user = kUserBits;  // the verdict counts with the last beat
    sim.add(source);
    sim.add(sink);
    sim.dut.ctl_valid_i = 0;
    sim.reset();
    for (unsigned i = 0; i < 2 * kQps + 10 && sim.dut.ready_o == 0; ++i) step();
    REQUIRE(sim.dut.ready_o == 1);
  }

  void step() {
    sim.step();
    const std::array<unsigned, 5> now = {sim.dut.cnt_dut_judged_o, sim.dut.cnt_dut_tagged_o, sim.dut.cnt_dut_told_o,
                                         sim.dut.cnt_dut_dropped_o, sim.dut.cnt_dut_refused_o};
    for (std::size_t i = 0; i < now.size(); ++i) pulses[i] += now[i];
  }

  std::uint32_t access(bool write, unsigned address, std::uint32_t data = 0) {
    sim.dut.ctl_valid_i = 1;
    sim.dut.ctl_write_i = write ? 1 : 0;
    sim.dut.ctl_addr_i = address;
    sim.dut.ctl_wdata_i = data;
    for (unsigned i = 0; sim.dut.ctl_ready_o == 0; ++i) {
      REQUIRE(i < 8);
      step();
    }
    const std::uint32_t read = sim.dut.ctl_rdata_o;
    sim.dut.ctl_valid_i = 1;
    step();
    sim.dut.ctl_valid_i = 0;
    return read;
  }

  /// All packets through; `allowed` by queue pair.
  void run(const std::function<unsigned(std::uint64_t)>& allowed) {
    const std::size_t before = sink.packets.size();
    for (const Judged& p : vectors().packets) source.push(p.data, p.user);
    const std::size_t wanted = before + vectors().packets.size();
    for (std::uint64_t i = 0; sink.packets.size() < wanted; ++i) {
      REQUIRE_MESSAGE(i < 400000, "packets got stuck");
      step();
    }
    for (int i = 0; i < 5; ++i) step();
    for (std::size_t n = 0; n < vectors().packets.size(); ++n) {
      const Judged& p = vectors().packets[n];
      const Packet& found = sink.packets[before + n];
      INFO("packet " << n << ", opcode " << p.opcode << ", " << p.data.size() << " bytes, class " << p.wanted);
      REQUIRE(found.data == p.data);
      REQUIRE(found.user == expected(p, allowed(p.qpn)));
    }
  }

  std::uint64_t count(const std::function<bool(const Judged&)>& counts) const {
    return static_cast<std::uint64_t>(
        std::count_if(vectors().packets.begin(), vectors().packets.end(), [&](const Judged& p) { return counts(p); }));
  }
};

unsigned all_actions(std::uint64_t) { return 31; }

}  // namespace

TEST_CASE("every packet leaves with the verdict of its class, under stalls at both ends") {
  Bench b(1);
  for (const auto& [in, out] : {std::pair{0U, 0U}, {30U, 0U}, {0U, 60U}, {40U, 40U}}) {
    b.source.stall_percent = in;
    b.sink.stall_percent = out;
    b.run(all_actions);
  }
  CHECK(b.pulses[0] == 4 * b.count(judged));
  for (std::size_t i = 1; i < 5; ++i) {
    const unsigned action = std::array{0U, 1U, 4U, 8U, 16U}[i];
    const auto does = [&](const Judged& p) { return judged(p) && (vectors().actions[p.wanted][0] & action) != 0; };
    CHECK(b.pulses[i] == 4 * b.count(does));
  }
}

TEST_CASE("a beat and a packet a cycle, with the latency that is told") {
  Bench b(2);
  std::vector<std::uint64_t> ends_in;
  std::vector<std::uint64_t> ends_out;
  std::uint64_t beats = 0;
  for (const Judged& p : vectors().packets) {
    b.source.push(p.data, p.user);
    beats += p.data.empty() ? 1 : (p.data.size() + P_DataW / 8 - 1) / (P_DataW / 8);
  }
  for (std::uint64_t cycle = 0; b.sink.packets.size() < vectors().packets.size(); ++cycle) {
    const std::uint64_t taken = b.source.taken;
    const std::size_t given = b.sink.packets.size();
    b.step();
    if (b.source.taken != taken) ends_in.push_back(cycle);
    if (b.sink.packets.size() != given) ends_out.push_back(cycle);
    REQUIRE(cycle < 2 * beats + 1000);
  }
  CHECK(ends_in.back() + 1 == beats);  // never stalled
  for (std::size_t n = 0; n < ends_in.size(); ++n) REQUIRE(ends_out[n] == ends_in[n] + vectors().latency);
}

TEST_CASE("actions by queue pair, switched off for all, and counted by class") {
  Bench b(3);
  CHECK(b.access(false, 0x008) == 31);
  CHECK(b.access(false, 0x004) == 31);
  std::vector<unsigned> allowed(kQps);
  for (unsigned qp = 0; qp < kQps; ++qp) {
    allowed[qp] = static_cast<unsigned>(b.sim.rng().below(32));
    b.access(true, 0x000, qp);
    CHECK(b.access(false, 0x000) == qp);
    b.access(true, 0x004, allowed[qp] | 0xFFE0);
    CHECK(b.access(false, 0x004) == allowed[qp]);
  }
  b.access(true, 0x000, kQps);  // none of them
  b.access(true, 0x004, 0);
  CHECK(b.access(false, 0x004) == 0);
  for (unsigned qp = 0; qp < kQps; ++qp) {
    b.access(true, 0x000, qp);
    CHECK(b.access(false, 0x004) == allowed[qp]);
  }
  b.source.stall_percent = 10;
  b.sink.stall_percent = 10;
  b.run([&](std::uint64_t qp) { return allowed.at(qp); });
  const auto counted = [&](unsigned number, unsigned enabled) {
    return b.count([&](const Judged& p) {
      return judged(p) && p.wanted == number &&
             (vectors().actions[number][0] & allowed.at(p.qpn) & enabled & Count) != 0;
    });
  };
  for (unsigned c = 0; c < vectors().classes; ++c) CHECK(b.access(false, 0x040 + 4 * c) == counted(c, 31));
  b.access(true, 0x008, Tell | Drop);
  CHECK(b.access(false, 0x008) == (Tell | Drop));
  b.run([&](std::uint64_t qp) { return allowed.at(qp) & (Tell | Drop); });
  for (unsigned c = 0; c < vectors().classes; ++c) CHECK(b.access(false, 0x040 + 4 * c) == counted(c, 31));
  b.access(true, 0x040, 5);
  CHECK(b.access(false, 0x040) == counted(0, 31));  // not to be written
  CHECK(b.access(false, 0x100) == 0);
  b.sim.reset();  // all as at first
  while (b.sim.dut.ready_o == 0) b.step();
  CHECK(b.access(false, 0x004) == 31);
  CHECK(b.access(false, 0x008) == 31);
  CHECK(b.access(false, 0x040) == 0);
  b.run(all_actions);
}
