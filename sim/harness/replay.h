// Replay of captures: the station takes the place of the responder in a capture of another stack. It gets the
// addresses, QPNs, PSNs and keys that the capture used, the requester's frames in order, and must answer as that
// responder did.
#pragma once

#include "sim/harness/bench.h"

namespace rocegen::sim {

struct ReplayRegion {
  uint32_t rkey = 0;
  uint64_t base = 0;
  uint64_t length = 0;
};

struct ReplayOptions {
  uint32_t responder_ip = 0;          ///< 0: destination of the first request
  std::vector<ReplayRegion> regions;  ///< regions that the capture does not show whole; by R_Key
  PcapWriter* pcap = nullptr;
};

struct ReplayResult {
  bool ok = false;
  bool skipped = false;            ///< the station is too small (path MTU, QPs, regions); `message` says what it lacks
  std::string message;             ///< first difference, both frames decoded
  std::vector<std::string> notes;  ///< QPs cut short, keys and QPNs translated
  uint64_t requests = 0;           ///< frames injected
  uint64_t answers = 0;            ///< compared with the capture's
  uint64_t bytes = 0;              ///< of memory compared
  bool lossy = false;              ///< the capture lost, repeated or reordered frames
  Ps time = 0;
  uint64_t cycles = 0;
};

/// Replays every QP of the capture up to its first request that is no plain RDMA WRITE. A QP that was never answered is
/// taken as one that does not exist: its frames must draw no answer.
///
/// Set-up: PMTU from FIRST and MIDDLE packets, first PSN = the oldest of the QP, a region for each R_Key = the RETH
/// ranges that the capture's responder did not refuse. A QPN or region index beyond the station's is translated, and
/// the frame's ICRC made right again.
///
/// Compared with the capture: opcode, destination QPN, PSN, syndrome (of an ACK the type alone, not the credits), MSN,
/// P_Key, lengths, PadCnt, addresses. Frame by frame; in a lossy capture, whose answers may themselves have been lost
/// or repeated on the way, every different answer of the capture must be among ours, and ours must be those of the
/// reference endpoint. Memory must hold what the acknowledged messages carried, and nothing else.
ReplayResult run_replay(const PcapFile& capture, const std::function<std::unique_ptr<Station>(size_t)>& factory,
                        const ReplayOptions& options = {});

}  // namespace rocegen::sim
