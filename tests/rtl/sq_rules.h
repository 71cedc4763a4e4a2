// Numbers of the standard that the benches of the requester go by, apart from those in roce_pkg: states, statuses,
// causes, timer and credit tables, distances of PSNs.
#pragma once

#include <array>
#include <cstdint>

namespace rocegen::bench::sq {

inline constexpr unsigned kReset = 0, kInit = 1, kRtr = 2, kRts = 3, kSqd = 4, kErr = 5;
inline constexpr unsigned kOk = 0, kLenErr = 1, kQpOpErr = 2, kProtErr = 4, kFlush = 5, kBadResp = 7, kInvReq = 9,
                          kAccess = 10, kRemOp = 11, kRetryExc = 12, kRnrExc = 13;
inline constexpr unsigned kEvtReadErr = 3, kEvtWriteErr = 4, kEvtRetryExc = 5, kEvtPeerNak = 6, kEvtBadWqe = 7,
                          kEvtSqDrained = 8, kEvtRnrExc = 9, kEvtBadResponse = 10;
inline constexpr unsigned kWrite = 0, kWriteImm = 1, kSend = 2, kSendImm = 3, kRead = 4, kCmpSwap = 5, kFetchAdd = 6,
                          kSendInv = 9;
inline constexpr unsigned kSignaled = 1, kSolicited = 2, kFence = 4;
/// Time that an RNR timer code tells, in units of 10 us (IBTA table 45).
inline constexpr std::array<unsigned, 32> kRnrTime = {
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
/// Receive requests that a credit code tells; code 31 has none.
inline constexpr std::array<unsigned, 31> kCredits = {
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
inline unsigned credit_code(unsigned available) {
  unsigned code = 0;
  while (code < 30 && kCredits[code + 1] <= available) ++code;
  return code;
}
inline constexpr std::uint32_t kPsnMask = 0xFFFFFF;

/// Distance from b to a on the PSN circle, -2^23 .. 2^23-1.
inline int psn_diff(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t d = (a - b) & kPsnMask;
  return d >= 0x800000 ? static_cast<int>(d) - 0x1000000 : static_cast<int>(d);
}
inline std::uint32_t psn_add(std::uint32_t a, std::uint32_t n) { return (a + n) & kPsnMask; }

}  // namespace rocegen::bench::sq
