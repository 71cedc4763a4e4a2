// A generated NIC on the bench: the pins of a Dut, its host memory behind AXI4, a MAC on each side of the wire, and a
// driver that speaks its registers, work and completion queues.
//
// Also a checker: every stream must hold its payload while stalled, frames must leave without a gap inside, tkeep must
// be contiguous, rx must never stall.
#pragma once

#include <deque>
#include <functional>

#include "sim/harness/dut.h"
#include "sim/harness/registers.h"
#include "sim/harness/station.h"

namespace rocegen::sim {

struct NicOptions {
  AxiTiming axi;
  uint64_t seed = 1;
  double rx_gap = 0.05;    ///< probability of a cycle without a beat while a frame arrives
  double tx_stall = 0.05;  ///< probability of a cycle in which the MAC takes nothing
  double wqe_gap = 0.1;
  double cqe_stall = 0.2;
  double axil_gap = 0.2;  ///< probability of a cycle of delay before each register access
  Ps mac_period = 0;      ///< of clk_mac, picoseconds; 0: that of the core clock and a little more
  double gbps = 0;        ///< line rate of the MAC: it takes the next frame when the line is free again; 0: no limit
  uint32_t max_mtu = 4096;
  uint32_t max_qp_slots_log2 = 6;  ///< send ring of a QP that asks for no particular size: at most 2^this slots
};

class Nic : public Station {
 public:
  Nic(std::string name, std::unique_ptr<Dut> dut, RegisterMap map, const NicOptions& options);

  const StationInfo& info() const override { return info_; }
  void configure(const LocalAddress& a) override;
  void setup_qp(const QpConfig& qp) override;
  void set_qp_state(uint32_t qpn, QpState state) override;
  void setup_mr(const MrConfig& mr) override;
  void post(const Wqe& wqe) override;
  bool config_done() const override { return ready_ && axil_.empty() && !axil_busy_; }
  bool poll_cqe(Cqe& out) override;
  bool poll_event(QpEvent& out) override;
  void request_counters() override;
  std::optional<uint64_t> counter(const std::string& name) const override;
  std::vector<std::pair<std::string, uint64_t>> counters() const override;
  void pause(Ps now, bool on) override;
  void receive(Ps now, Bytes&& frame, bool bad) override;
  bool receiving() const override { return !rx_.empty(); }
  Ps next_time() const override;
  void advance(Ps now) override;
  uint64_t cycles() const override { return cycles_; }
  std::vector<std::string> violations() const override;

  /// The NIC has come out of reset and answered with its constants; set-up calls before that wait.
  bool ready() const { return ready_; }
  /// Queues a register write or read; `done` gets the data (0 for a write). Errors of the bus are violations.
  void write_register(uint16_t address, uint32_t value, std::function<void()> done = {});
  void read_register(uint16_t address, std::function<void(uint32_t)> done);
  const RegisterMap& map() const { return map_; }
  Dut& dut() { return *dut_; }
  Ps clock_period() const { return period_; }

 private:
  struct AxilOp {
    bool write;
    uint16_t address;
    uint32_t data;
    std::function<void(uint32_t)> done;
  };
  struct Arriving {
    Bytes frame;
    bool bad;
  };
  struct Ring {
    uint32_t base = 0;
    uint8_t log2 = 0;
    std::deque<uint64_t> outstanding;  // wr_ids of requests in the ring, oldest first
    std::deque<Wqe> waiting;           // posted, the ring had no room
  };

  void core_drive();
  void core_sample(Ps now);
  void mac_drive(Ps now);
  void mac_sample(Ps now);
  void axil_drive();
  void axil_sample();
  void boot();
  void violation(std::string text);
  void next_wqe();
  void take_cqe(Ps now);

  std::unique_ptr<Dut> dut_;
  RegisterMap map_;
  NicOptions options_;
  StationInfo info_;
  Rng rng_;
  AxiSlave axi_;
  Ps period_ = 4000;
  Ps mac_period_ = 4000;
  Ps next_core_ = 4000;
  Ps next_mac_ = 4000;
  Ps last_edge_ = 0;
  uint64_t cycles_ = 0;
  uint64_t edges_ = 0;
  bool ready_ = false;
  bool booted_ = false;

  // AXI4-Lite master
  std::deque<AxilOp> axil_;
  AxilOp op_{};
  bool axil_busy_ = false;
  bool aw_done_ = false, w_done_ = false, ar_done_ = false;

  // RX
  std::deque<Arriving> rx_;
  size_t rx_at_ = 0;
  bool rx_held_ = false;
  // TX
  Bytes tx_frame_;
  Ps tx_start_ = 0;  // of the frame under way
  Ps tx_free_ = 0;   // when the line takes the next frame
  bool tx_inside_ = false;
  bool tx_held_ = false;
  bool tx_held_last_ = false;
  uint8_t tx_held_data_[kMaxBusBytes] = {};
  uint8_t tx_held_keep_[kMaxBusBytes / 8] = {};
  bool paused_ = false;

  // WQE, CQE, events
  std::map<uint32_t, Ring> rings_;
  std::map<uint32_t, std::pair<uint32_t, uint8_t>> ring_space_;  // QPN -> base, log2; kept over set-ups
  uint32_t slots_used_ = 0;
  std::deque<uint32_t> wqe_turn_;  // QPNs with waiting requests
  bool wqe_held_ = false;
  bool cqe_held_ = false;
  uint8_t cqe_held_data_[32] = {};
  std::deque<Cqe> cqes_;
  std::deque<QpEvent> events_;
  bool event_read_ = false;
  std::map<std::string, uint64_t> counter_values_;
  std::vector<std::string> violations_;
  std::vector<std::function<void()>> deferred_;  // set-up calls that came before ready
};

}  // namespace rocegen::sim
