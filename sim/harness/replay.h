// Replay of captures of another stack. The station takes the place of the responder, or of the requester, with the
// addresses, QPNs, PSNs and keys that the capture used; the test plays the other side, frame by frame.
#pragma once

#include "sim/harness/bench.h"

namespace rocegen::sim {

struct ReplayRegion {
  uint32_t rkey = 0;
  uint64_t base = 0;
  uint64_t length = 0;
};

struct ReplayOptions {
  uint32_t responder_ip = 0;          ///< of the capture; 0: destination of the first request
  std::vector<ReplayRegion> regions;  ///< regions that the capture does not show whole; by R_Key
  PcapWriter* pcap = nullptr;
};

struct ReplayResult {
  bool ok = false;
  bool skipped = false;            ///< the station is too small (path MTU, QPs, regions); `message` says what it lacks
  std::string message;             ///< first difference, both frames decoded
  std::vector<std::string> notes;  ///< QPs left out, keys and QPNs translated
  uint64_t requests = 0;           ///< frames injected, or sent as the requester
  uint64_t answers = 0;            ///< compared with the capture's, or injected
  uint64_t bytes = 0;              ///< of memory compared
  bool lossy = false;              ///< the capture lost, repeated or reordered frames
  Ps time = 0;
  uint64_t cycles = 0;
};

/// The station as the responder. A QP that was never answered is taken as one that does not exist: its frames must draw
/// no answer.
///
/// Set-up: PMTU from FIRST and MIDDLE packets, first PSN = the oldest of the QP, a region for each R_Key = the RETH and
/// AtomicETH ranges that the capture's responder did not refuse, with the contents that its READ responses and atomic
/// acknowledges show; receive entries as the messages need them, none where the capture shows an RNR NAK. A QPN or
/// region index beyond the station's is translated, and the frame's ICRC made right again.
///
/// Compared with the capture: opcode, destination QPN, PSN, syndrome (of an ACK the type alone, not the credits), MSN,
/// P_Key, lengths, PadCnt, addresses, payload, original value. Frame by frame; in a lossy QP, whose answers may
/// themselves have been lost or repeated on the way, every different answer of the capture must be among ours (of a
/// READ that is answered again the standard leaves open whether it starts with FIRST), and ours must be those of the
/// reference endpoint. Memory must hold what the acknowledged messages carried, and nothing else; receives complete
/// with the bytes and immediate data of their messages.
///
/// One difference is known: Linux answers a SEND that is too long for its buffer with NAK 0x63, the standard says 0x61.
ReplayResult run_replay(const PcapFile& capture, const std::function<std::unique_ptr<Station>(size_t)>& factory,
                        const ReplayOptions& options = {});

/// The station as the requester: it gets the work requests that make the capture's requests, and the capture's answers
/// to them. Its requests must be the capture's (opcode, destination QPN, PSN, SE, extended headers, payload, PadCnt,
/// P_Key, addresses, lengths; not AckReq), it must complete each as the answers say, and READ data and original values
/// must be in its memory. QPs with loss, whose course depends on timers, and such with requests that no requester
/// would send, are left out; skipped if none is left.
ReplayResult run_replay_requester(const PcapFile& capture,
                                  const std::function<std::unique_ptr<Station>(size_t)>& factory,
                                  const ReplayOptions& options = {});

}  // namespace rocegen::sim
