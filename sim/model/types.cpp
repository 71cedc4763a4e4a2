#include "sim/model/types.h"

#include <fmt/format.h>

#include <array>

namespace rocegen::sim {

std::string status_name(WcStatus s) {
  switch (s) {
    case WcStatus::Success:
      return "success";
    case WcStatus::LocLenErr:
      return "loc_len_err";
    case WcStatus::LocQpOpErr:
      return "loc_qp_op_err";
    case WcStatus::LocProtErr:
      return "loc_prot_err";
    case WcStatus::FlushErr:
      return "flush_err";
    case WcStatus::RemInvReqErr:
      return "rem_inv_req_err";
    case WcStatus::RemAccessErr:
      return "rem_access_err";
    case WcStatus::RemOpErr:
      return "rem_op_err";
    case WcStatus::RetryExcErr:
      return "retry_exc_err";
    case WcStatus::RnrRetryExcErr:
      return "rnr_retry_exc_err";
    case WcStatus::BadRespErr:
      return "bad_resp_err";
  }
  return fmt::format("{}", static_cast<unsigned>(s));
}

std::string cause_name(EventCause c) {
  switch (c) {
    case EventCause::NakInvReq:
      return "nak_inv_req";
    case EventCause::NakAccess:
      return "nak_access";
    case EventCause::ReadErr:
      return "read_err";
    case EventCause::WriteErr:
      return "write_err";
    case EventCause::RetryExc:
      return "retry_exc";
    case EventCause::PeerNak:
      return "peer_nak";
    case EventCause::BadWqe:
      return "bad_wqe";
    case EventCause::SqDrained:
      return "sq_drained";
    case EventCause::RnrExc:
      return "rnr_exc";
    case EventCause::BadResponse:
      return "bad_response";
    case EventCause::Invalidate:
      return "invalidate";
    case EventCause::LocalLen:
      return "local_len";
    case EventCause::Service:
      return "service";
    case EventCause::Refused:
      return "refused";
  }
  return fmt::format("{}", static_cast<unsigned>(c));
}

uint8_t wc_opcode(uint8_t wr_opcode) {
  switch (wr_opcode) {
    case kWrWrite:
    case kWrWriteImm:
      return kWcWrite;
    case kWrSend:
    case kWrSendImm:
    case kWrSendInv:
      return kWcSend;
    case kWrRead:
      return kWcRead;
    case kWrCmpSwap:
      return kWcCmpSwap;
    case kWrFetchAdd:
      return kWcFetchAdd;
    default:
      return wr_opcode;
  }
}

Ps rnr_delay(uint8_t code) {
  // In units of 10 us; code 0 is the longest.
  static constexpr std::array<uint32_t, 32> kDelay = {
      65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
      256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return Ps{kDelay[code & 31]} * 10'000 * kNs;
}

namespace {
// 0, 1, 2, 3, 4, 6, 8, 12, ...: powers of two and one and a half times them.
constexpr std::array<uint32_t, 31> kCredits = {0,    1,    2,    3,    4,    6,     8,     12,    16,   24,   32,
                                               48,   64,   96,   128,  192,  256,   384,   512,   768,  1024, 1536,
                                               2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
}  // namespace

uint32_t credit_count(uint8_t code) { return kCredits[code < 30 ? code : 30]; }

uint8_t credit_code(uint32_t entries) {
  uint8_t code = 0;
  while (code < 30 && kCredits[code + 1u] <= entries) ++code;
  return code;
}

}  // namespace rocegen::sim
