// AXI4 memory behind the generated NIC's master port, driven cycle by cycle: random latency and back-pressure, error
// responses by address range, and a protocol checker.
//
// One ID, so answers leave in the order of their addresses. A write reaches memory when its response leaves, not
// earlier: a device that reports data as stored before it has the response is found out.
// Checked: VALID and payload held until READY, INCR bursts of full-width beats that stay within 4 KB, WLAST where the
// burst ends, no strobe outside of the burst's bytes, IDs zero (IHI 0022E A3.2, A3.4).
#pragma once

#include <string>

#include "sim/model/memory.h"
#include "sim/model/rng.h"

namespace rocegen::sim {

inline constexpr size_t kMaxBusBytes = 128;

/// Outputs of the master, sampled before a clock edge.
struct AxiOut {
  bool awvalid = false;
  bool wvalid = false;
  bool bready = false;
  bool arvalid = false;
  bool rready = false;
  bool wlast = false;
  uint8_t awid = 0, awlen = 0, awsize = 0, awburst = 0;
  uint8_t arid = 0, arlen = 0, arsize = 0, arburst = 0;
  uint64_t awaddr = 0, araddr = 0;
  uint8_t wdata[kMaxBusBytes] = {};
  uint8_t wstrb[kMaxBusBytes / 8] = {};
};

/// Inputs of the master, driven before a clock edge.
struct AxiIn {
  bool awready = false;
  bool wready = false;
  bool bvalid = false;
  bool arready = false;
  bool rvalid = false;
  bool rlast = false;
  uint8_t bid = 0, bresp = 0, rid = 0, rresp = 0;
  uint8_t rdata[kMaxBusBytes] = {};
};

struct AxiTiming {
  uint32_t read_min = 10;  ///< cycles from AR to the first R beat
  uint32_t read_max = 40;
  uint32_t write_min = 4;  ///< cycles from the last W beat to B
  uint32_t write_max = 20;
  double aw_stall = 0.1;  ///< probability that a ready or valid is withheld for a cycle
  double w_stall = 0.1;
  double b_stall = 0.1;
  double ar_stall = 0.1;
  double r_stall = 0.1;
};

class AxiSlave {
 public:
  /// `bus_bytes`: data width in bytes, a power of two up to 128.
  AxiSlave(Memory& memory, size_t bus_bytes, const AxiTiming& timing, uint64_t seed);

  /// Sets the master's inputs for the cycle that ends with the next edge.
  void drive(AxiIn& in);
  /// Takes the outputs that the master shows in that cycle; the handshakes happen here.
  void sample(const AxiOut& out);
  /// Forgets all bursts (the device was reset).
  void reset();

  const std::vector<std::string>& violations() const { return violations_; }
  uint64_t reads() const { return reads_; }
  uint64_t writes() const { return writes_; }
  /// No burst is under way.
  bool idle() const { return read_n_ == 0 && aw_n_ == 0 && beat_n_ == 0; }

 private:
  struct Burst {
    uint64_t addr = 0;
    uint32_t beats = 0;  // total
    uint32_t done = 0;   // R beats sent, or W beats taken
    uint64_t ready_at = 0;
    bool complete = false;
    bool error = false;
  };
  struct Beat {
    uint8_t data[kMaxBusBytes];
    uint8_t strb[kMaxBusBytes / 8];
    bool last;
  };
  static constexpr size_t kBursts = 64;   // outstanding bursts accepted in each direction
  static constexpr size_t kBeats = 8192;  // W beats waiting for their response
  static constexpr size_t kMaxViolations = 16;

  void violation(std::string text);
  void check_burst(const char* channel, uint64_t addr, uint8_t len, uint8_t size, uint8_t burst, uint8_t id);
  void match_writes();
  void finish_write();

  Memory& memory_;
  size_t bus_;
  AxiTiming timing_;
  Rng rng_;
  uint64_t cycle_ = 0;
  AxiIn driven_;
  AxiOut held_;
  bool held_aw_ = false, held_w_ = false, held_ar_ = false;

  // Rings: bursts in order; W beats in order, shared by all write bursts.
  std::vector<Burst> read_;
  size_t read_head_ = 0, read_n_ = 0;
  std::vector<Burst> aw_;
  size_t aw_head_ = 0, aw_n_ = 0;
  std::vector<Beat> beat_;
  size_t beat_head_ = 0, beat_n_ = 0;
  size_t matched_ = 0;      // beats of beat_ that belong to known bursts
  size_t match_burst_ = 0;  // offset from aw_head_ of the burst that takes the next beat
  bool r_active_ = false;   // rvalid is up and must be held
  bool b_active_ = false;
  uint64_t last_read_ready_ = 0, last_write_ready_ = 0;
  uint64_t reads_ = 0, writes_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace rocegen::sim
