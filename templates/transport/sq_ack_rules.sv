// sq_ack_rules: what an event does to the send side of a queue pair. Combinational.
//
// row_i -> row_o for the event op_i with its PSN and argument. kind_i: of the syndrome, {fatal NAK,
// sequence NAK, RNR NAK, ACK}; in_window_i .. closes_i: what sq_read found about the PSN and the
// QP's oldest READ or atomic; blocked_i: the requester's mark. Of the row alone: live_i (RTS or SQD),
// life_ok_i (the event is of its life), timeout_i, rnr_end_i (the timer is of its generation and counts
// now), retry_more_i, rnr_more_i (a retry is left), retry_once_i, rnr_once_i (one is when all have come
// back). The rules (IBTA 9.7.5, 9.9):
// - ACK n completes up to n; a NAK of PSN n completes up to n - 1. Only PSNs in [oldest
//   unacknowledged, highest sent] count; others are stale and change nothing. None completes a READ
//   or atomic: with one open they complete up to it at most, and an ACK or response beyond its next
//   PSN is an implied NAK of that.
// - The next response of the oldest READ or atomic, and only that, is accepted; it completes
//   everything before it, too. With the wrong opcode or length for its PSN it is an impossible one:
//   WcBadRespErr.
// - Sequence NAK, implied NAK and timeout move the requester back (generation + 1). A NAK does so
//   once until there is progress or a timeout. Each costs one of retry_cnt retries, which come back
//   with progress; when none is left the QP fails with WcRetryExcErr.
// - An RNR NAK moves the requester back too, and rnr holds it until the RNR timer has ended or
//   there is progress. It costs one of rnr_retry (7: endless); WcRnrRetryExcErr. No other NAK
//   counts meanwhile, nor a second RNR NAK.
// - Credits come from ACKs (opcode 0x11) only, forward only; after one without limit there is none
//   for good.
// - NAK 0x61..0x63, foreign errors (of the QP's own life) and bad requests put the QP into
//   ERR. The request that holds PSN
//   `fail` completes with `status`, the others that are not acknowledged with WcFlushErr. Data that
//   did not reach the memory takes una back to its PSN, also in ERR.
// - SQD: SqOpDrain comes when the timer's walk finds nothing outstanding and everything retired; it
//   gives EvtSqDrained, once for every change to SQD; an error, ERR or RESET that comes before it is
//   told takes its place.
// - Configuration: setup starts anew; without it RESET can be left by nothing, ERR by RESET only. A
//   change to ERR is told like an error (EvtNone), for the responder.
`default_nettype none

module sq_ack_rules (
  input  logic [3:0]          op_i,
  input  logic [23:0]         psn_i,
  input  logic [23:0]         psn_next_i,
  input  logic [7:0]          arg_i,
  input  logic [3:0]          kind_i,
  input  logic                header_ok_i,
  input  logic                in_window_i,
  input  logic                older_i,
  input  logic                oldest_i,
  input  logic                sent_i,
  input  logic                open_i,
  input  logic [23:0]         limit_i,
  input  logic                moves_i,
  input  logic                before_i,
  input  logic                expected_i,
  input  logic                fits_i,
  input  logic                closes_i,
  input  logic [21:0]         lsn_i,  // that this ACK grants
  input  logic                lsn_newer_i,
  input  logic                blocked_i,
  input  logic                live_i,
  input  logic                timeout_i,
  input  logic                rnr_end_i,
  input  logic                life_ok_i,
  input  logic                retry_once_i,
  input  logic                retry_more_i,
  input  logic                rnr_once_i,
  input  logic                rnr_more_i,
  input  logic                setup_i,
  input  logic [2:0]          setup_state_i,
  input  logic [23:0]         setup_psn_i,
  input  logic [roce_pkg::LifeW-1:0] setup_life_i,
  input  roce_pkg::sq_row_t   row_i,
  output roce_pkg::sq_row_t   row_o,
  output logic                write_o,
  output logic                kick_requester_o,
  output logic                kick_retire_o,
  output logic                list_o,
  output logic                tell_o,
  output logic                accept_o,  // the response's data goes to memory
  output logic [13:0]         count_o  // see the end
);

  // ---- what kind of acknowledgement -------------------------------------------------------------
  logic heard;  // a header of the peer for a QP that is alive
  logic is_ack;
  logic is_rnr;
  logic is_nak;
  logic is_fatal;
  logic known;
  logic ack;  // an acknowledgement that counts
  logic rsp;  // a response that counts
  logic clamped;  // it lies at or beyond the next PSN of an open READ or atomic
  logic accept;
  logic impossible;
  logic implied;
  logic progress;
  logic timed_out;
  logic want_rewind;
  logic exhausted;
  logic rnr_starts;
  logic rnr_exhausted;
  logic rnr_ends;
  logic drained;

  assign heard   = header_ok_i && live_i;
  assign {is_fatal, is_nak, is_rnr, is_ack} = kind_i;
  assign known   = is_ack || is_rnr || is_nak || is_fatal;
  assign ack     = op_i == roce_pkg::SqOpAck && heard && in_window_i && known;
  assign clamped = open_i && !before_i;
  assign rsp     = op_i == roce_pkg::SqOpRsp && heard && in_window_i && clamped;
  assign accept  = rsp && expected_i && fits_i;
  assign impossible = rsp && expected_i && !fits_i;
  assign implied = (ack && is_ack && clamped) || (rsp && !expected_i);

  always_comb begin
    progress = accept;
    if (ack) progress = clamped ? moves_i : is_ack || !oldest_i;
    else if (rsp && !expected_i) progress = moves_i;
  end

  assign timed_out = timeout_i && oldest_i && sent_i;
  assign want_rewind = timed_out || (((ack && is_nak) || implied) &&
      (progress || !(row_i.nacked || row_i.told.rnr)));
  assign exhausted = progress ? !retry_once_i : !retry_more_i;

  assign rnr_starts    = ack && is_rnr && (progress || !row_i.told.rnr);
  assign rnr_exhausted = progress ? !rnr_once_i : !rnr_more_i;
  assign rnr_ends = rnr_end_i;
  assign drained  = op_i == roce_pkg::SqOpDrain && row_i.told.state == roce_pkg::QpSqd &&
      row_i.told.drain && oldest_i && !sent_i;

  // ---- errors -----------------------------------------------------------------------------------
  logic       fail;
  logic       lost;  // data that did not reach the memory
  logic [3:0] fail_status;
  logic [6:0] fail_cause;
  logic       fail_here;  // it belongs to psn_i, else to the oldest PSN

  always_comb begin
    fail        = 1'b0;
    lost        = 1'b0;
    fail_status = '0;
    fail_cause  = '0;
    fail_here   = 1'b1;
    case (op_i)
      roce_pkg::SqOpAck, roce_pkg::SqOpRsp, roce_pkg::SqOpTimeout: begin
        if (is_fatal && op_i == roce_pkg::SqOpAck) begin
          fail       = ack;
          fail_cause = roce_pkg::EvtPeerNak;
          case (arg_i[1:0])
            2'd1: fail_status = roce_pkg::WcRemInvReqErr[3:0];
            2'd2: fail_status = roce_pkg::WcRemAccessErr[3:0];
            default: fail_status = roce_pkg::WcRemOpErr[3:0];
          endcase
        end else if (is_rnr && op_i == roce_pkg::SqOpAck) begin
          fail        = rnr_starts && rnr_exhausted;
          fail_cause  = roce_pkg::EvtRnrExc;
          fail_status = roce_pkg::WcRnrRetryExcErr[3:0];
          fail_here   = 1'b0;
        end else if (impossible) begin
          fail        = 1'b1;
          fail_cause  = roce_pkg::EvtBadResponse;
          fail_status = roce_pkg::WcBadRespErr[3:0];
        end else begin
          fail        = want_rewind && exhausted;
          fail_cause  = roce_pkg::EvtRetryExc;
          fail_status = roce_pkg::WcRetryExcErr[3:0];
          fail_here   = 1'b0;
        end
      end
      roce_pkg::SqOpEvent: begin
        fail       = life_ok_i && row_i.told.state != roce_pkg::QpReset &&
            row_i.told.state != roce_pkg::QpErr;
        fail_cause = arg_i[6:0];
        if (arg_i == {1'b0, roce_pkg::EvtReadErr}) begin
          fail        = life_ok_i && live_i && in_window_i;
          fail_status = roce_pkg::WcLocProtErr[3:0];
        end
      end
      roce_pkg::SqOpData: begin
        fail        = live_i;
        lost        = live_i || (row_i.told.state == roce_pkg::QpErr && older_i);
        fail_cause  = roce_pkg::EvtWriteErr;
        fail_status = roce_pkg::WcLocProtErr[3:0];
      end
      roce_pkg::SqOpBad: begin
        fail        = live_i;
        fail_cause  = roce_pkg::EvtBadWqe;
        fail_status = arg_i[0] ? roce_pkg::WcLocLenErr[3:0] : roce_pkg::WcLocQpOpErr[3:0];
        fail_here   = 1'b0;
      end
      default: fail = 1'b0;
    endcase
  end

  // ---- the QP afterwards ------------------------------------------------------------------------
  logic [23:0] una;

  always_comb begin
    una = row_i.told.una;
    if (accept || (ack && is_ack && !clamped)) una = psn_next_i;
    else if ((ack && !clamped) || (lost && older_i)) una = psn_i;
    else if (ack || rsp) una = limit_i;
  end

  always_comb begin
    row_o            = row_i;
    write_o          = op_i != roce_pkg::SqOpNone;
    kick_requester_o = 1'b0;
    kick_retire_o    = 1'b0;
    list_o           = 1'b0;
    tell_o           = 1'b0;
    row_o.told.una   = una;
    if (progress) begin
      row_o.used       = '0;
      row_o.nacked     = 1'b0;
      row_o.rnr_used   = '0;
      row_o.told.rnr   = 1'b0;
      kick_requester_o = blocked_i || row_i.told.rnr;
      kick_retire_o    = !accept || moves_i;  // the READ itself waits for its data
    end
    if (accept) begin
      row_o.told.rx  = row_i.told.rx + 1'b1;
      row_o.told.rdu = row_i.told.rdu + 8'(closes_i);
    end
    if (ack && is_ack) begin
      if (arg_i[4:0] == 5'h1F) begin
        row_o.unlimited    = 1'b1;
        row_o.told.limited = 1'b0;
        kick_requester_o   = kick_requester_o || blocked_i;
      end else if (!row_i.unlimited && (lsn_newer_i || !row_i.told.limited)) begin
        row_o.told.limited = 1'b1;
        row_o.told.lsn     = lsn_i;
        kick_requester_o   = kick_requester_o || blocked_i;
      end
    end
    if (want_rewind && !exhausted) begin
      row_o.told.gen   = row_i.told.gen + 1'b1;
      row_o.used       = progress ? 3'd1 : row_i.used + 1'b1;
      row_o.nacked     = !timed_out;
      kick_requester_o = 1'b1;
    end
    if (rnr_starts && !rnr_exhausted) begin
      row_o.told.gen      = row_i.told.gen + 1'b1;
      row_o.told.rnr      = 1'b1;
      row_o.told.rnr_code = arg_i[4:0];
      row_o.rnr_used      = progress ? 3'd1 : row_i.rnr_used + 1'b1;
      row_o.nacked        = 1'b0;
    end
    if (rnr_ends) begin
      row_o.told.rnr   = 1'b0;
      kick_requester_o = 1'b1;
    end
    if (fail || lost) begin
      row_o.told.status = fail_status;
      row_o.told.fail   = fail_here ? psn_i : una;
      row_o.told.nak    = op_i == roce_pkg::SqOpAck && is_fatal ? arg_i[1:0] : 2'b00;
      kick_retire_o     = 1'b1;
    end
    if (fail) begin
      row_o.told.state    = roce_pkg::QpErr;
      row_o.told.rnr_code = arg_i[4:0];
      row_o.cause         = fail_cause;
      row_o.rsp           = (op_i == roce_pkg::SqOpEvent && arg_i[7]) ||
          op_i == roce_pkg::SqOpData;
      row_o.tell          = 1'b1;
    end
    if (drained) begin
      row_o.told.drain = 1'b0;
      row_o.told.fail  = row_i.told.una;
      row_o.cause      = roce_pkg::EvtSqDrained;
      row_o.rsp        = 1'b0;
      row_o.tell       = 1'b1;
    end
    if (fail || drained) begin
      row_o.listed = 1'b1;
      list_o       = !row_i.listed;
    end
    if (op_i == roce_pkg::SqOpTell) begin
      row_o.tell   = 1'b0;
      row_o.listed = 1'b0;
      tell_o       = row_i.tell;
    end
    if (op_i == roce_pkg::SqOpConfig) begin
      kick_requester_o = 1'b1;
      kick_retire_o    = 1'b1;
      if (setup_i) begin
        row_o            = '0;
        row_o.life       = setup_life_i;
        row_o.told.state = setup_state_i;
        row_o.told.una   = setup_psn_i;
        row_o.told.drain = setup_state_i == roce_pkg::QpSqd;
        row_o.listed     = row_i.listed;
      end else if (row_i.told.state != roce_pkg::QpReset) begin
        if (setup_state_i == roce_pkg::QpReset) begin
          row_o.told.state = roce_pkg::QpReset;
          row_o.tell       = 1'b0;
        end else if (row_i.told.state != roce_pkg::QpErr) begin
          row_o.told.state  = setup_state_i;
          row_o.told.status = '0;
          row_o.told.nak    = '0;
          row_o.told.drain  = setup_state_i == roce_pkg::QpSqd;
          if (setup_state_i == roce_pkg::QpErr) begin
            row_o.cause  = roce_pkg::EvtNone;
            row_o.rsp    = 1'b0;
            row_o.tell   = 1'b1;
            row_o.listed = 1'b1;
            list_o       = !row_i.listed;
          end
        end
      end
    end
  end

  assign accept_o = accept;

  // ---- counters ---------------------------------------------------------------------------------
  assign count_o[0]  = ack && is_ack;  // acks
  assign count_o[1]  = op_i == roce_pkg::SqOpAck && heard && known && !in_window_i;  // stale
  assign count_o[2]  = op_i == roce_pkg::SqOpAck && !heard;  // dropped
  assign count_o[3]  = ack && is_nak;
  assign count_o[4]  = ack && is_fatal;
  assign count_o[5]  = op_i == roce_pkg::SqOpAck && heard && !known;  // reserved
  assign count_o[6]  = ack && is_rnr;
  assign count_o[7]  = implied;
  assign count_o[8]  = accept;  // responses
  assign count_o[9]  = op_i == roce_pkg::SqOpRsp && !rsp;  // stale ones, also of strangers
  assign count_o[10] = impossible;
  assign count_o[11] = timed_out;
  assign count_o[12] = (want_rewind && !exhausted) || (rnr_starts && !rnr_exhausted);
  assign count_o[13] = fail;

endmodule

`default_nettype wire
