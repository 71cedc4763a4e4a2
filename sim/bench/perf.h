// Measurements of two generated NICs joined by a cable: message rate and goodput against the wire limit that follows
// from the frame format, latency stage by stage, fairness, goodput under loss. Deterministic: cycles, not seconds.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/harness/bench.h"
#include "sim/harness/nic.h"

namespace rocegen::sim {

/// One point of the part `rate`.
struct PerfPoint {
  uint8_t op = 0;        ///< WR opcode: WRITE, SEND or READ
  uint32_t payload = 0;  ///< bytes a message
  uint32_t qps = 1;
  bool both = false;  ///< the same load in both directions at once
};

/// Reads a point as OP:BYTES:QPS or OP:BYTES:QPS:both, OP one of write, send, read; nothing when it is not one.
std::optional<PerfPoint> parse_perf_point(const std::string& text);

/// One point of the part `loss`: WRITEs.
struct PerfLoss {
  double loss = 0;       ///< probability a frame, both ways
  uint32_t payload = 0;  ///< bytes a message
  uint32_t qps = 1;
  double round_us = 10;  ///< round trip: the cable, 1 us each way for NICs and memories
};

/// Reads a point as LOSS:BYTES:QPS:ROUND_US; nothing when it is not one.
std::optional<PerfLoss> parse_perf_loss(const std::string& text);

/// What the measurements need to know of the variant and of the surroundings.
struct PerfOptions {
  double clock_mhz = 250;        ///< of the datapath
  double gbps = 100;             ///< line rate of the Ethernet, both directions
  uint64_t delay_ns = 500;       ///< propagation of the cable, one way
  uint32_t memory_cycles = 250;  ///< from AR to the first R beat, and from the last W beat to B
  uint32_t mtu = 4096;           ///< largest path MTU of the variant
  uint32_t qp_count = 1;
  uint32_t wqe_slots = 1024;
  uint32_t rqe_slots = 1024;
  uint32_t read_depth = 16;
  uint32_t window_packets = 256;
  uint8_t services = 0;                ///< mask of the services that work on every queue pair
  uint32_t trailer = 0;                ///< bytes that they put behind the payload of a packet
  std::string recovery = "go_back_n";  ///< of the variant, for the report
  bool quick = false;                  ///< a few points only
  std::vector<std::string> only;       ///< names of parts: rate, latency, fairness, loss; empty: all
  std::vector<PerfPoint> points;       ///< of the part rate; empty: the standard ones
  std::vector<PerfLoss> losses;        ///< of the part loss; empty: the standard ones
  uint64_t seed = 1;
};

/// Makes station 0 or 1 with these options.
using PerfFactory = std::function<std::unique_ptr<Nic>(size_t which, const NicOptions& options)>;

/// Bytes on the wire of one message of `payload` bytes in each direction, with preamble, FCS and gap (24 bytes a frame,
/// frames of at least 64 bytes): {from the requester, from the responder}. `trailer`: bytes that services put behind
/// the payload of each packet of a SEND, a WRITE or READ responses. Acknowledgements of SEND and WRITE are left out:
/// they may be coalesced without bound.
struct WireBytes {
  uint64_t request = 0;
  uint64_t response = 0;
};
WireBytes wire_bytes(uint8_t wr_opcode, uint64_t payload, uint32_t mtu, uint32_t trailer = 0);

/// Messages a second that the wire lets through at most; `both`: the same load in both directions at once.
double wire_limit(uint8_t wr_opcode, uint64_t payload, uint32_t mtu, double gbps, bool both, uint32_t trailer = 0);

/// Runs the measurements; the report's parts are listed in docs/bench.md. `progress` gets a line for each point. Throws
/// std::runtime_error with a reason when a transfer fails.
nlohmann::ordered_json run_perf(const PerfFactory& factory, const PerfOptions& options,
                                const std::function<void(const std::string&)>& progress);

}  // namespace rocegen::sim
