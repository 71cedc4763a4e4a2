// Pins of one generated NIC, independent of its widths. The adapter of a Verilated model (sim/dut/dut_adapter.cpp)
// implements this; everything else in sim/ is compiled once.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/model/axi_slave.h"
#include "sim/model/bytes.h"

namespace rocegen::sim {

/// AXI4 masters that a NIC may have at most.
inline constexpr size_t kMaxTargets = 8;

/// Pins that the harness drives. Widths beyond the variant's are ignored.
struct DutIn {
  bool rst = true;
  bool rst_mac = true;
  bool rx_valid = false;
  bool rx_last = false;
  bool rx_bad = false;  ///< s_axis_rx_tuser[0]
  uint8_t rx_data[kMaxBusBytes] = {};
  uint8_t rx_keep[kMaxBusBytes / 8] = {};
  bool tx_ready = false;
  AxiIn axi[kMaxTargets];
  bool axil_awvalid = false;
  bool axil_wvalid = false;
  bool axil_bready = false;
  bool axil_arvalid = false;
  bool axil_rready = false;
  uint16_t axil_awaddr = 0;
  uint32_t axil_wdata = 0;
  uint16_t axil_araddr = 0;
  bool wqe_valid = false;
  uint8_t wqe[64] = {};
  bool rqe_valid = false;
  uint8_t rqe[32] = {};
  bool cqe_ready = false;
};

/// Pins that the NIC drives.
struct DutOut {
  bool rx_ready = false;
  bool tx_valid = false;
  bool tx_last = false;
  uint8_t tx_data[kMaxBusBytes] = {};
  uint8_t tx_keep[kMaxBusBytes / 8] = {};
  AxiOut axi[kMaxTargets];
  bool axil_awready = false;
  bool axil_wready = false;
  bool axil_bvalid = false;
  bool axil_arready = false;
  bool axil_rvalid = false;
  uint8_t axil_bresp = 0;
  uint8_t axil_rresp = 0;
  uint32_t axil_rdata = 0;
  bool wqe_ready = false;
  bool rqe_ready = false;
  bool cqe_valid = false;
  uint8_t cqe[32] = {};
  bool irq = false;
};

struct DutInfo {
  std::string name;       ///< of the top module
  size_t data_bytes = 8;  ///< of m_axi
  size_t mac_bytes = 8;   ///< of s_axis_rx and m_axis_tx
  bool has_mac_clk = false;
  size_t targets = 1;  ///< AXI4 masters
};

/// One instance. The order in each cycle: fill `in`, settle(), read `out`, rise().
class Dut {
 public:
  virtual ~Dut() = default;
  virtual const DutInfo& info() const = 0;
  /// Clocks low; evaluates with `in` and fills `out`.
  virtual void settle() = 0;
  /// Rising edge of the core clock, the MAC clock or both.
  virtual void rise(bool clk, bool clk_mac) = 0;
  /// Starts a waveform file (FST); false, with a reason, if the model was built without or the file cannot be written.
  virtual bool open_trace(const std::string& path, std::string& error) = 0;
  /// Times, for messages and waveforms, of the next settle() and of the rise() after it.
  virtual void set_time(Ps settle, Ps edge) = 0;
  /// An assertion of the RTL failed (its text went to stdout).
  virtual bool failed() const = 0;

  DutIn in;
  DutOut out;
};

/// Makes an instance; the name tells it from others in messages of the model.
using DutFactory = std::function<std::unique_ptr<Dut>(const std::string& name)>;

}  // namespace rocegen::sim
