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
#include "sim/model/aes.h"

namespace rocegen::sim {

struct NicOptions {
  AxiTiming axi;
  uint64_t seed = 1;
  double rx_gap = 0.05;    ///< probability of a cycle without a beat while a frame arrives
  double tx_stall = 0.05;  ///< probability of a cycle in which the MAC takes nothing
  double wqe_gap = 0.1;
  double rqe_gap = 0.1;
  double rqe_by_register = 0.05;  ///< probability that a receive entry is posted through the registers
  double cqe_stall = 0.2;
  double axil_gap = 0.2;  ///< probability of a cycle of delay before each register access
  Ps mac_period = 0;      ///< of clk_mac, picoseconds; 0: that of the core clock and a little more
  double gbps = 0;        ///< line rate of the MAC: it takes the next frame when the line is free again; 0: no limit
  uint64_t mac_buffer_ns = 0;  ///< with `gbps`: the MAC takes a frame when what waits in it lasts no longer than this
  uint32_t max_mtu = 4096;
  std::string recovery = "go_back_n";     ///< transport.recovery of the NIC's specification
  bool ack_after_write = false;           ///< host.ack_after_write of the NIC's specification
  std::vector<std::string> services;      ///< names of the services of the NIC's specification
  std::vector<size_t> trailers;           ///< bytes that each of them appends to a packet
  std::shared_ptr<const RowModel> rows;   ///< its preprocess service; null: it has none
  std::shared_ptr<const AesService> aes;  ///< its aes service: a QP that it works on gets keys at set-up; null: none
  std::function<void(const AesKey&, const QpConfig&)> on_key;  ///< hears of each key that is sent under
  uint8_t serve = 0;                                           ///< services of a QP that asks for none in particular
  uint32_t max_qp_slots_log2 = 6;  ///< ring of a QP that asks for no particular size: at most 2^this slots
};

/// When something happened at the pins, for latencies: the edge of the handshake; 0: not yet.
struct NicProbe {
  Ps wqe = 0;           ///< last WQE taken
  Ps ar_first = 0;      ///< first read address of payload
  Ps r_first = 0;       ///< first read data
  Ps tx_first = 0;      ///< first beat of a frame out
  Ps tx_last = 0;       ///< last beat of the first frame out
  Ps rx_first = 0;      ///< first beat of the first frame in
  Ps rx_first_end = 0;  ///< its last beat
  Ps rx_last_end = 0;   ///< last beat of the latest frame in
  Ps aw_first = 0;      ///< first write address
  Ps w_last = 0;        ///< latest write beat
  Ps cqe_last = 0;      ///< latest completion
};

class Nic : public Station {
 public:
  Nic(std::string name, std::unique_ptr<Dut> dut, RegisterMap map, const NicOptions& options);

  const StationInfo& info() const override { return info_; }
  void configure(const LocalAddress& a) override;
  void setup_qp(const QpConfig& qp) override;
  void set_qp_state(uint32_t qpn, QpState state) override;
  void setup_mr(const MrConfig& mr) override;
  void setup_srq(const SrqConfig& srq) override;
  bool poke(const std::string& name, uint32_t words, uint32_t value) override;
  bool peek(const std::string& name, uint32_t words, std::function<void(uint32_t)> done) override;
  void post(const Wqe& wqe) override;
  void post_recv(const Rqe& rqe) override;
  bool config_done() const override { return ready_ && axil_.empty() && !axil_busy_ && receives_posted(); }
  bool poll_cqe(Cqe& out) override;
  bool poll_event(QpEvent& out) override;
  void request_counters() override;
  std::optional<uint64_t> counter(const std::string& name) const override;
  std::vector<std::pair<std::string, uint64_t>> counters() const override;
  void pause(Ps now, bool on) override;
  void receive(Ps now, Bytes&& frame, bool bad) override;
  bool receiving() const override { return !rx_.empty(); }
  bool accessing_memory() const override;
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
  const NicProbe& probe() const { return probe_; }
  void clear_probe() { probe_ = {}; }

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
  /// A ring in the NIC's memory, as the driver sees it.
  template <typename Entry>
  struct Ring {
    uint32_t base = 0;
    uint8_t log2 = 0;
    std::deque<uint64_t> outstanding;  // wr_ids of entries in the ring, oldest first
    std::deque<Entry> waiting;         // posted, the ring had no room
    bool full() const { return outstanding.size() >= (size_t{1} << log2); }
  };
  using SendRing = Ring<Wqe>;
  using RecvRing = Ring<Rqe>;
  using RecvKey = std::pair<bool, uint32_t>;  // shared, number of the QP or of the shared ring
  /// Cuts ring memory: owners keep their part over set-ups.
  template <typename Key>
  struct Slots {
    std::map<Key, std::pair<uint32_t, uint8_t>> part;  // base, log2
    uint32_t used = 0;
  };

  void core_drive();
  void core_sample(Ps now);
  void mac_drive(Ps now);
  void mac_sample(Ps now);
  void axil_drive();
  void axil_sample();
  void boot();
  void violation(std::string text);
  template <typename Key>
  std::pair<uint32_t, uint8_t> cut(Slots<Key>& slots, const Key& key, uint8_t asked, uint32_t total, uint32_t owners);
  /// The first keys of a QP that has been set up.
  void write_keys(const QpConfig& qp);
  void next_wqe();
  void next_rqe();
  void write_rqe(const uint8_t* entry);
  void take_receive(const Cqe& c);
  /// No receive entry waits that its ring has room for.
  bool receives_posted() const;
  void take_cqe(Ps now);

  std::unique_ptr<Dut> dut_;
  RegisterMap map_;
  NicOptions options_;
  StationInfo info_;
  Rng rng_;
  std::vector<std::unique_ptr<AxiSlave>> axi_;  // one a target
  NicProbe probe_;
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

  // WQE, RQE, CQE, events
  std::map<uint32_t, SendRing> rings_;
  Slots<uint32_t> send_slots_;
  std::deque<uint32_t> wqe_turn_;  // QPNs with waiting requests
  bool wqe_held_ = false;
  std::map<RecvKey, RecvRing> recv_rings_;
  Slots<RecvKey> recv_slots_;
  std::deque<RecvKey> rqe_turn_;  // rings with waiting entries
  bool rqe_held_ = false;
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
