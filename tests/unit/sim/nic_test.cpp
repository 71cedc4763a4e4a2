// The driver and its checks against a scripted device: registers, queues and a MAC port, each with a fault to be found.
#include "sim/harness/nic.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "sim/harness/bench.h"

using namespace rocegen::sim;

namespace {

enum class Fault {
  None,
  Id,
  RxStall,
  TxChange,
  TxGap,
  TxKeep,
  TxEmpty,
  CqeChange,
  CqeUnknown,
  CqeTwice,
  AxilError,
  StrayB,
  RecvOrder,
  RecvUnknown
};

void put(uint8_t* p, uint64_t v, size_t n) {
  for (size_t i = 0; i < n; ++i) p[i] = static_cast<uint8_t>(v >> (8 * i));
}

/// Answers registers from a map, echoes every received frame, and completes every request in order.
class FakeDut : public Dut {
 public:
  explicit FakeDut(Fault fault) : fault_(fault) {
    info_.name = "fake";
    info_.data_bytes = 16;
    info_.mac_bytes = 16;
    regs[0x00] = fault == Fault::Id ? 1 : 0x45434F52;
    regs[0x14] = 128;
    regs[0x18] = 8;
    regs[0x1C] = 8;
    regs[0x20] = 32;
    regs[0x44] = 64;
    regs[0x48] = 2;
    regs[0x4C] = 8;
    regs[0x24] = 250000;
  }
  const DutInfo& info() const override { return info_; }
  bool open_trace(const std::string&, std::string& error) override {
    error = "no";
    return false;
  }
  void set_time(Ps settle, Ps edge) override {
    CHECK(settle < edge);
    CHECK(settle >= edge_);
    edge_ = edge;
  }
  bool failed() const override { return false; }

  void settle() override {
    ++settled_;
    regs[0x0C] = settled_ > 100 ? 1 : 0;  // ready after a while
    out.rx_ready = !(fault_ == Fault::RxStall && settled_ % 7 == 0 && in.rx_valid);
    out.axil_awready = !aw_ && !b_;
    out.axil_wready = !w_ && !b_;
    out.axil_arready = !r_;
    out.axil_bvalid = b_ || (fault_ == Fault::StrayB && settled_ == 400);
    out.axil_bresp = fault_ == Fault::AxilError ? 2 : 0;
    out.axil_rvalid = r_;
    out.axil_rdata = rdata_;
    out.wqe_ready = true;
    out.rqe_ready = settled_ % 3 != 0;
    out.cqe_valid = !cqes.empty();
    if (out.cqe_valid) std::memcpy(out.cqe, cqes.front().data(), 32);
    if (fault_ == Fault::CqeChange) out.cqe[20] = static_cast<uint8_t>(settled_);
    out.tx_valid = !tx_.empty() && !(fault_ == Fault::TxGap && at_ == 16);
    if (fault_ == Fault::TxGap && at_ == 16 && in.tx_ready) at_gap_ = true;
    if (out.tx_valid) {
      const Bytes& f = tx_.front();
      const size_t n = std::min<size_t>(16, f.size() - at_);
      std::memcpy(out.tx_data, &f[at_], n);
      if (fault_ == Fault::TxChange) out.tx_data[5] = static_cast<uint8_t>(settled_);
      uint32_t keep = (1u << n) - 1;
      if (fault_ == Fault::TxKeep) keep &= ~4u;
      if (fault_ == Fault::TxEmpty) keep = 0;
      put(out.tx_keep, keep, 2);
      out.tx_last = at_ + n == f.size();
    }
  }

  void rise(bool, bool) override {
    if (in.rst) return;
    if (in.axil_awvalid && out.axil_awready) aw_ = true;
    if (in.axil_wvalid && out.axil_wready) w_ = true;
    if (b_ && in.axil_bready) b_ = false;
    if (aw_ && w_) {
      regs[in.axil_awaddr] = in.axil_wdata;
      writes.emplace_back(in.axil_awaddr, in.axil_wdata);
      if (in.axil_awaddr == 0x1A0) {
        uint8_t rqe[32];
        for (uint16_t i = 0; i < 8; ++i) put(rqe + 4 * i, regs[static_cast<uint16_t>(0x180 + 4 * i)], 4);
        take_rqe(rqe);
        ++by_register;
        regs[0x1A0] = 0;
      }
      aw_ = w_ = false;
      b_ = true;
    }
    if (r_ && in.axil_rready) r_ = false;
    if (in.axil_arvalid && out.axil_arready) {
      r_ = true;
      rdata_ = regs[in.axil_araddr];
      if (in.axil_araddr == 0x40) {
        out.irq = false;
        regs[0x40] = 0;
      }
    }
    if (in.wqe_valid) {
      std::array<uint8_t, 32> c{};
      c[1] = in.wqe[0];
      std::memcpy(&c[4], in.wqe + 4, 3);
      std::memcpy(&c[8], in.wqe + 8, 8);
      if (fault_ == Fault::CqeUnknown) c[8] ^= 0x55;
      wqes.emplace_back();
      std::memcpy(wqes.back().data(), in.wqe, 64);
      cqes.push_back(c);
      if (fault_ == Fault::CqeTwice) cqes.push_back(c);
    }
    if (in.rqe_valid && out.rqe_ready) take_rqe(in.rqe);
    if (out.cqe_valid && in.cqe_ready) cqes.pop_front();
    if (out.tx_valid && in.tx_ready) {
      at_ += 16;
      if (out.tx_last) {
        tx_.pop_front();
        at_ = 0;
      }
    } else if (at_gap_) {
      at_ = 0;
      tx_.pop_front();
      at_gap_ = false;
    }
    if (in.rx_valid && out.rx_ready) {
      for (size_t i = 0; i < 16; ++i) {
        if (((in.rx_keep[i / 8] >> (i % 8)) & 1) != 0) rx_.push_back(in.rx_data[i]);
      }
      if (in.rx_last) {
        received.push_back(rx_);
        bad.push_back(in.rx_bad);
        if (rx_.size() > 16) tx_.push_back(rx_);
        rx_.clear();
      }
    }
  }

  /// Completes a receive at once, as if a message had come.
  void take_rqe(const uint8_t* rqe) {
    rqes.emplace_back();
    std::memcpy(rqes.back().data(), rqe, 32);
    std::array<uint8_t, 32> c{};
    c[1] = kWcRecv;
    c[2] = kCqeRecv;
    c[4] = rqe[1] != 0 ? 6 : rqe[4];  // QP 6 receives from the shared ring
    std::memcpy(&c[8], rqe + 8, 8);
    if (fault_ == Fault::RecvUnknown) c[8] ^= 0x55;
    if (fault_ == Fault::RecvOrder && rqes.size() % 2 == 1) {
      kept_ = c;
      return;
    }
    cqes.push_back(c);
    if (fault_ == Fault::RecvOrder) cqes.push_back(kept_);
  }

  std::map<uint16_t, uint32_t> regs;
  std::vector<std::array<uint8_t, 32>> rqes;
  size_t by_register = 0;
  std::vector<std::pair<uint16_t, uint32_t>> writes;
  std::vector<std::array<uint8_t, 64>> wqes;
  std::deque<std::array<uint8_t, 32>> cqes;
  std::vector<Bytes> received;
  std::vector<bool> bad;

 private:
  Fault fault_;
  std::array<uint8_t, 32> kept_{};
  Ps edge_ = 0;
  DutInfo info_;
  uint64_t settled_ = 0;
  bool aw_ = false, w_ = false, b_ = false, r_ = false, at_gap_ = false;
  uint32_t rdata_ = 0;
  std::deque<Bytes> tx_;
  size_t at_ = 0;
  Bytes rx_;
};

struct Rig {
  FakeDut* dut;
  Nic* nic;
  std::unique_ptr<Bench> bench;

  explicit Rig(Fault fault = Fault::None, NicOptions o = {}) {
    auto d = std::make_unique<FakeDut>(fault);
    dut = d.get();
    o.seed = 3;
    auto n = std::make_unique<Nic>("a", std::move(d), RegisterMap::standard(), o);
    nic = n.get();
    nic->configure({0x0123456789AB, 0x0A000001, 64, 5});
    bench = std::make_unique<Bench>(std::move(n), nullptr);
    REQUIRE(bench->settle_config());
  }
  std::string first() const {
    const auto v = nic->violations();
    return v.empty() ? "" : v.front().substr(v.front().find(": ") + 2);
  }
};

}  // namespace

TEST_CASE("nic: comes up, learns the constants, writes the registers as documented") {
  Rig r;
  CHECK(r.nic->ready());
  CHECK(r.nic->info().qp_count == 8);
  CHECK(r.nic->info().wqe_slots == 32);
  CHECK(r.nic->clock_period() == 4000);
  CHECK(r.dut->regs[0x30] == 0x456789AB);
  CHECK(r.dut->regs[0x34] == 0x0123);
  CHECK(r.dut->regs[0x38] == 0x0A000001);
  CHECK(r.dut->regs[0x3C] == 0x0540);
  QpConfig q;
  q.qpn = 5;
  q.state = QpState::Rts;
  q.pmtu = 2;
  q.access = 5;
  q.pd = 0x1234;
  q.pkey = 0x8001;
  q.rq_psn = 0x111111;
  q.sq_psn = 0x222222;
  q.dqpn = 0x333333;
  q.dip = 0x0A000002;
  q.dmac = 0xA0B1C2D3E4F5;
  q.sport = 0xC123;
  q.retry_cnt = 6;
  q.rnr_retry = 5;
  q.timeout = 17;
  q.min_rnr_timer = 9;
  q.max_rd = 3;
  q.max_dest_rd = 5;
  q.rq_on = true;
  r.nic->setup_qp(q);
  r.nic->setup_qp([&] {
    QpConfig other = q;
    other.qpn = 6;
    other.sq_log2 = 3;
    other.srq = true;
    other.srqn = 0x1234;
    return other;
  }());
  MrConfig m;
  m.index = 3;
  m.variant = 0xAB;
  m.access = 11;
  m.target = 5;
  m.pd = 0x77;
  m.base = 0x1122334455667788;
  m.length = 0x99AABBCCDD;
  r.nic->setup_mr(m);
  r.nic->setup_srq({1, 4});
  REQUIRE(r.bench->settle_config());
  const auto& w = r.dut->writes;
  const auto find = [&](uint16_t address, size_t nth = 0) {
    for (const auto& e : w) {
      if (e.first == address && nth-- == 0) return e.second;
    }
    FAIL("no write to " << address);
    return 0u;
  };
  const auto at = [&](uint16_t a) {
    return std::find_if(w.begin(), w.end(), [&](const auto& e) { return e.first == a; }) - w.begin();
  };
  CHECK(find(0x100) == 5);
  CHECK(find(0x104) == (2u | 5u << 4 | 17u << 8 | 6u << 16 | 5u << 20 | 9u << 24));
  CHECK(find(0x108) == 0x12348001);
  CHECK(find(0x10C) == 0x111111);
  CHECK(find(0x110) == 0x222222);
  CHECK(find(0x114) == 0x333333);
  CHECK(find(0x118) == 0x0A000002);
  CHECK(find(0x11C) == 0xC2D3E4F5);
  CHECK(find(0x120) == 0xC123A0B1);
  CHECK(find(0x124) == (0u | 2u << 24));  // 32 slots over 8 QPs: 4 each
  CHECK(find(0x124, 1) == (4u | 3u << 24));
  CHECK(find(0x128) == 0x103);
  CHECK(find(0x140) == 3);
  CHECK(find(0x12C) == 0x503);
  CHECK(find(0x130) == (0u | 3u << 24));  // 64 slots over 8 QPs
  CHECK(find(0x134) == 1);
  CHECK(find(0x134, 1) == (3u | 0x1234u << 16));
  CHECK(find(0x160) == 1);
  CHECK(find(0x164) == (8u | 4u << 24));
  CHECK(at(0x168) > at(0x164));
  CHECK(at(0x128) > at(0x134));
  CHECK(find(0x144) == (0xABu | 11u << 8 | 1u << 12 | 5u << 13 | 0x77u << 16));
  CHECK(find(0x148) == 0x55667788);
  CHECK(find(0x14C) == 0x11223344);
  CHECK(find(0x150) == 0xAABBCCDD);
  CHECK(find(0x154) == 0x99);
  // The command comes after its fields.
  CHECK(at(0x128) > at(0x124));
  CHECK(at(0x158) > at(0x154));
  CHECK(r.first().empty());
}

TEST_CASE("nic: work requests fill no more than their ring, completions come back") {
  Rig r;
  QpConfig q;
  q.qpn = 1;
  q.sq_log2 = 1;
  r.nic->setup_qp(q);
  REQUIRE(r.bench->settle_config());
  Wqe w;
  w.qpn = 1;
  w.opcode = 0;
  w.flags = 3;
  w.laddr = 0x0807060504030201;
  w.length = 0x0C0B0A09;
  w.lkey = 0x100F0E0D;
  w.raddr = 0x1817161514131211;
  w.rkey = 0x1C1B1A19;
  w.imm = 0x201F1E1D;
  w.swap_add = 0x2827262524232221;
  w.compare = 0x302F2E2D2C2B2A29;
  for (uint64_t i = 0; i < 10; ++i) {
    w.wr_id = 0xABCD0000 + i;
    r.nic->post(w);
  }
  std::vector<uint64_t> ids;
  size_t most = 0;
  r.bench->run_until(
      [&] {
        Cqe c;
        most = std::max(most, r.dut->wqes.size() - ids.size());
        while (r.nic->poll_cqe(c)) ids.push_back(c.wr_id);
        return ids.size() == 10;
      },
      r.bench->now() + 100'000 * kNs);
  REQUIRE(ids.size() == 10);
  for (uint64_t i = 0; i < 10; ++i) CHECK(ids[i] == 0xABCD0000 + i);
  CHECK(most <= 3);  // two in the ring, one whose completion was just taken
  const auto& p = r.dut->wqes[9];
  CHECK(p[0] == 0);
  CHECK(p[1] == 3);
  CHECK(p[4] == 1);
  CHECK(p[8] == 9);
  for (size_t i = 0; i < 0x30; ++i) CHECK(p[16 + i] == i + 1);
  CHECK(r.first().empty());
}

TEST_CASE("nic: receive entries, by the stream and by registers, fill no more than their ring") {
  NicOptions o;
  o.rqe_by_register = 0.3;
  Rig r(Fault::None, o);
  QpConfig q;
  q.qpn = 5;
  q.rq_on = true;
  q.rq_log2 = 2;
  r.nic->setup_qp(q);
  q.qpn = 6;
  q.srq = true;
  r.nic->setup_qp(q);
  r.nic->setup_srq({0, 2});
  REQUIRE(r.bench->settle_config());
  Rqe e;
  e.addr = 0x0807060504030201;
  e.length = 0x0C0B0A09;
  e.lkey = 0x100F0E0D;
  e.target = 6;
  for (uint64_t i = 0; i < 60; ++i) {
    e.shared = i % 2 != 0;
    e.qpn = e.shared ? 0 : 5;
    e.wr_id = 1000 + i;
    r.nic->post_recv(e);
  }
  std::vector<uint64_t> ids;
  r.bench->run_until(
      [&] {
        Cqe c;
        while (r.nic->poll_cqe(c)) {
          CHECK(c.receive());
          CHECK(c.qpn == (c.wr_id % 2 != 0 ? 6 : 5));
          ids.push_back(c.wr_id);
        }
        return ids.size() == 60;
      },
      r.bench->now() + 400'000 * kNs);
  REQUIRE(ids.size() == 60);
  CHECK(r.dut->by_register > 3);
  CHECK(r.dut->by_register < 50);
  const auto& p = r.dut->rqes[0];
  CHECK(p[0] == 0);
  CHECK(p[1] == 0);
  CHECK(p[2] == 6);
  CHECK(p[4] == 5);
  CHECK(p[8] == (1000 & 255));
  for (size_t i = 0; i < 16; ++i) CHECK(p[16 + i] == i + 1);
  CHECK(r.first().empty());
}

TEST_CASE("nic: frames of every length arrive and leave as they are, bad ones are marked") {
  Rig r;
  std::vector<Bytes> want;
  for (size_t n = 1; n <= 100; ++n) {
    Bytes b(n);
    for (size_t i = 0; i < n; ++i) b[i] = static_cast<uint8_t>(n * 7 + i);
    r.bench->inject(0, b, n % 3 == 0);
    want.push_back(std::move(b));
  }
  r.bench->run_for(50000);
  CHECK(r.dut->received == want);
  for (size_t n = 1; n <= 100; ++n) CHECK(r.dut->bad[n - 1] == (n % 3 == 0));
  REQUIRE(r.bench->sent(0).size() == 84);
  for (size_t k = 0; k < 84; ++k) CHECK(r.bench->sent(0)[k].frame == want[16 + k]);
  CHECK(r.first().empty());
  // None of these is a frame that a NIC may send.
  CHECK(r.bench->wire_faults().size() == 16);
}

TEST_CASE("nic: the MAC keeps to its line rate and to a pause") {
  NicOptions o;
  o.gbps = 8;
  Rig r(Fault::None, o);
  for (int i = 0; i < 20; ++i) r.bench->inject(0, Bytes(476, 1));
  const Ps t0 = r.bench->now();
  r.bench->run_until([&] { return r.bench->sent(0).size() == 20; }, t0 + 100'000 * kNs);
  const Ps gap = (r.bench->sent(0)[19].time - r.bench->sent(0)[1].time) / 18;
  CHECK(gap >= 500 * kNs);  // 500 bytes at 8 Gb/s
  CHECK(gap < 520 * kNs);
  r.nic->pause(r.bench->now(), true);
  r.bench->inject(0, Bytes(100, 1));
  r.bench->run_for(5000);
  CHECK(r.bench->sent(0).size() == 20);
  r.nic->pause(r.bench->now(), false);
  r.bench->run_for(5000);
  CHECK(r.bench->sent(0).size() == 21);
}

TEST_CASE("nic: an event is read when the interrupt asks for it") {
  Rig r;
  r.dut->regs[0x40] = 0x80000000u | 2u << 24 | 0x1234;
  r.dut->out.irq = true;
  r.bench->run_for(2000);
  QpEvent e;
  REQUIRE(r.nic->poll_event(e));
  CHECK(e.cause == EventCause::NakAccess);
  CHECK(e.qpn == 0x1234);
  CHECK_FALSE(r.nic->poll_event(e));
}

TEST_CASE("nic: each broken rule is found") {
  const auto found = [](Fault f) {
    NicOptions o;
    o.tx_stall = 0.5;
    o.cqe_stall = 0.7;
    Rig r(f, o);
    QpConfig q;
    q.qpn = 1;
    q.rq_on = true;
    r.nic->setup_qp(q);
    r.bench->settle_config();
    for (int i = 0; i < 6; ++i) {
      Rqe e;
      e.qpn = 1;
      e.wr_id = 100 + static_cast<uint64_t>(i);
      if (f == Fault::RecvOrder || f == Fault::RecvUnknown || f == Fault::None) r.nic->post_recv(e);
      Wqe w;
      w.qpn = 1;
      w.wr_id = static_cast<uint64_t>(i);
      r.nic->post(w);
      r.bench->inject(0, Bytes(70, 9));
    }
    r.bench->run_for(5000);
    return r.first();
  };
  CHECK(found(Fault::None).empty());
  CHECK(found(Fault::Id) == "register ID is 0x00000001, not 0x45434f52");
  CHECK(found(Fault::RxStall).find("s_axis_rx_tready is low") == 0);
  CHECK(found(Fault::TxChange) == "m_axis_tx changed while it was stalled");
  CHECK(found(Fault::TxGap) == "gap inside a frame on m_axis_tx");
  CHECK(found(Fault::TxKeep).find("m_axis_tx_tkeep is not contiguous") == 0);
  CHECK(found(Fault::TxEmpty).find("m_axis_tx_tkeep is not contiguous") == 0);
  CHECK(found(Fault::CqeChange) == "m_axis_cqe changed while it was stalled");
  CHECK(found(Fault::CqeUnknown).find("which is not outstanding") != std::string::npos);
  CHECK(found(Fault::CqeTwice).find("which is not outstanding") != std::string::npos);
  CHECK(found(Fault::RecvOrder).find("receive completion of wr_id 101 on QP 1, but 100 is next") == 0);
  CHECK(found(Fault::RecvUnknown).find("receive completion of wr_id") == 0);
  CHECK(found(Fault::AxilError).find("response 2") != std::string::npos);
  CHECK(found(Fault::StrayB) == "AXI4-Lite B without a write");
}
