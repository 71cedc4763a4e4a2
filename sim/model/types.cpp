#include "sim/model/types.h"

#include <fmt/format.h>

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
  }
  return fmt::format("{}", static_cast<unsigned>(c));
}

}  // namespace rocegen::sim
