// AXI4 memory behind the generated NIC's master port, driven cycle by cycle: random latency and back-pressure, error
// responses by address range, and a protocol checker.
//
// Two IDs: answers of one ID leave in the order of their addresses, those of different IDs in any order, read data beat
// by beat (IHI 0022E A5.3). Write data comes in the order of the addresses. A write reaches memory when its response
// leaves, not earlier: a device that reports data as stored before it has the response is found out.
// Checked: VALID and payload held until READY, INCR bursts of full-width beats that stay within 4 KB, WLAST where the
// burst ends, no strobe in front of the burst's bytes, IDs 0 or 1 (IHI 0022E A3.2, A3.4).
#pragma once

#include <array>
#include <deque>
#include <string>
#include <vector>

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
  uint32_t outstanding = 64;  ///< bursts accepted in each direction and ID
  double aw_stall = 0.1;      ///< probability that a ready or valid is withheld for a cycle
  double w_stall = 0.1;
  double b_stall = 0.1;
  double ar_stall = 0.1;
  double r_stall = 0.1;
};

class AxiSlave {
 public:
  /// `bus_bytes`: data width in bytes, a power of two up to 128. `target`: number of the master that this is; bursts at
  /// addresses that lie behind another one are violations.
  AxiSlave(Memory& memory, size_t bus_bytes, const AxiTiming& timing, uint64_t seed, uint8_t target = 0);

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
  bool idle() const { return pending(read_) == 0 && pending(write_) == 0 && early_.empty(); }

 private:
  struct Beat {
    uint8_t data[kMaxBusBytes];
    uint8_t strb[kMaxBusBytes / 8];
    bool last;
  };
  struct Burst {
    uint64_t addr = 0;
    uint32_t beats = 0;  // total
    uint32_t done = 0;   // R beats sent, or W beats taken
    uint64_t ready_at = 0;
    bool error = false;
    std::vector<Beat> data;  // of a write
  };
  /// Bursts of one ID, oldest first; the slots keep their buffers.
  struct Queue {
    std::vector<Burst> slot;
    size_t head = 0, n = 0;
    size_t filled = 0;  // of a write queue: bursts from the head whose data is complete
    uint64_t last_ready = 0;
    Burst& at(size_t i) { return slot[(head + i) % slot.size()]; }
    const Burst& at(size_t i) const { return slot[(head + i) % slot.size()]; }
    Burst& push() { return at(n++); }
    void pop() {
      head = (head + 1) % slot.size();
      --n;
    }
  };
  static constexpr size_t kIds = 2;
  static constexpr size_t kBeats = 8192;  // W beats that may come before their address
  static constexpr size_t kMaxViolations = 16;

  static size_t pending(const std::array<Queue, kIds>& q) { return q[0].n + q[1].n; }
  void violation(std::string text);
  void check_burst(const char* channel, uint64_t addr, uint8_t len, uint8_t size, uint8_t burst, uint8_t id);
  /// An ID whose oldest burst may answer now, either one if both may; kIds if none.
  size_t pick(const std::array<Queue, kIds>& q, bool write);
  void match_writes();
  void finish_write(const Burst& b);

  Memory& memory_;
  uint8_t target_;
  size_t bus_;
  AxiTiming timing_;
  Rng rng_;
  uint64_t cycle_ = 0;
  AxiIn driven_;
  AxiOut held_;
  bool held_aw_ = false, held_w_ = false, held_ar_ = false;
  std::array<Queue, kIds> read_;
  std::array<Queue, kIds> write_;
  std::deque<uint8_t> data_order_;  // IDs of write bursts that wait for data, in the order of their addresses
  std::deque<Beat> early_;          // W beats that no burst has taken yet
  size_t r_id_ = kIds;              // rvalid is up for this ID and must be held
  size_t b_id_ = kIds;
  uint64_t reads_ = 0, writes_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace rocegen::sim
