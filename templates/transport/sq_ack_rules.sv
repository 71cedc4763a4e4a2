// sq_ack_rules: what an event does to the send side of a queue pair. Combinational.
//
// row_i -> row_o for the event op_i with its PSN and argument (kind_i: of the syndrome, {fatal NAK,
// sequence NAK, RNR NAK, ACK}); nxt_i is the highest PSN sent plus one, blocked_i the requester's
// mark. The rules (IBTA 9.7.5, 9.9):
// - ACK n completes up to n; a NAK of PSN n completes up to n - 1. Only PSNs in [oldest
//   unacknowledged, highest sent] count; others are stale and change nothing.
// - Sequence NAK and timeout move the requester back (generation + 1). A NAK does so once until
//   there is progress or a timeout. Each costs one of retry_cnt retries, which come back with
//   progress; when none is left the QP fails with WcRetryExcErr.
// - An RNR NAK, which no WRITE can provoke, acknowledges and leaves the rest to the ACK timer;
//   where the timer is off it counts as a sequence NAK.
// - NAK 0x61..0x63, foreign errors and bad requests put the QP into ERR. status is what the oldest
//   request that is not acknowledged completes with, 0 = flushed like the rest.
// - Configuration: setup starts anew; without it RESET can be left by nothing, ERR by RESET only.
`default_nettype none

module sq_ack_rules (
  input  logic [2:0]          op_i,
  input  logic [23:0]         psn_i,
  input  logic [23:0]         psn_next_i,
  input  logic [7:0]          arg_i,
  input  logic [3:0]          kind_i,
  input  logic                header_ok_i,
  input  logic [23:0]         nxt_i,
  input  logic                blocked_i,
  input  logic [2:0]          retry_cnt_i,
  input  logic                timer_off_i,
  input  logic                setup_i,
  input  logic [2:0]          setup_state_i,
  input  logic [23:0]         setup_psn_i,
  input  roce_pkg::sq_row_t   row_i,
  output roce_pkg::sq_row_t   row_o,
  output logic                write_o,
  output logic                kick_requester_o,
  output logic                kick_retire_o,
  output logic                list_o,
  output logic                tell_o,
  output logic [9:0]          count_o  // see the end
);

  // ---- what kind of acknowledgement -------------------------------------------------------------
  logic live;
  logic in_window;
  logic is_ack;
  logic is_rnr;
  logic is_nak;
  logic is_fatal;
  logic valid;  // a header that counts
  logic progress;
  logic timed_out;
  logic want_rewind;
  logic exhausted;

  assign live      = row_i.told.state == roce_pkg::QpRts || row_i.told.state == roce_pkg::QpSqd;
  assign in_window = !roce_pkg::psn_lt(psn_i, row_i.told.una) && roce_pkg::psn_lt(psn_i, nxt_i);
  assign {is_fatal, is_nak, is_rnr, is_ack} = kind_i;
  assign valid     = op_i == roce_pkg::SqOpAck && header_ok_i && live && in_window &&
      (is_ack || is_rnr || is_nak || is_fatal);
  assign progress  = valid && (is_ack || psn_i != row_i.told.una);
  assign timed_out = op_i == roce_pkg::SqOpTimeout && live && psn_i == row_i.told.una &&
      arg_i[3:0] == row_i.told.gen && nxt_i != row_i.told.una;

  assign want_rewind = timed_out || (valid && (is_nak || (is_rnr && timer_off_i)) &&
      (progress || !row_i.nacked));
  assign exhausted = progress ? retry_cnt_i == '0 : row_i.used == retry_cnt_i;

  // ---- errors -----------------------------------------------------------------------------------
  logic       fail;
  logic [3:0] fail_status;
  logic [6:0] fail_cause;

  always_comb begin
    fail        = 1'b0;
    fail_status = '0;
    fail_cause  = '0;
    case (op_i)
      roce_pkg::SqOpAck, roce_pkg::SqOpTimeout: begin
        if (is_fatal && op_i == roce_pkg::SqOpAck) begin
          fail       = valid;
          fail_cause = roce_pkg::EvtPeerNak;
          case (arg_i[1:0])
            2'd1: fail_status = roce_pkg::WcRemInvReqErr[3:0];
            2'd2: fail_status = roce_pkg::WcRemAccessErr[3:0];
            default: fail_status = roce_pkg::WcRemOpErr[3:0];
          endcase
        end else begin
          fail        = want_rewind && exhausted;
          fail_cause  = roce_pkg::EvtRetryExc;
          fail_status = roce_pkg::WcRetryExcErr[3:0];
        end
      end
      roce_pkg::SqOpEvent: begin
        fail       = row_i.told.state != roce_pkg::QpReset && row_i.told.state != roce_pkg::QpErr;
        fail_cause = arg_i[6:0];
        if (arg_i[6:0] == roce_pkg::EvtReadErr) fail_status = roce_pkg::WcLocProtErr[3:0];
      end
      roce_pkg::SqOpBad: begin
        fail        = live;
        fail_cause  = roce_pkg::EvtBadWqe;
        fail_status = arg_i[0] ? roce_pkg::WcLocLenErr[3:0] : roce_pkg::WcLocQpOpErr[3:0];
      end
      default: fail = 1'b0;
    endcase
  end

  // ---- the QP afterwards ------------------------------------------------------------------------
  always_comb begin
    row_o            = row_i;
    write_o          = op_i != roce_pkg::SqOpNone;
    kick_requester_o = 1'b0;
    kick_retire_o    = 1'b0;
    list_o           = 1'b0;
    tell_o           = 1'b0;
    if (valid) row_o.told.una = is_ack ? psn_next_i : psn_i;
    if (progress) begin
      row_o.used       = '0;
      row_o.nacked     = 1'b0;
      kick_requester_o = blocked_i;
      kick_retire_o    = 1'b1;
    end
    if (want_rewind && !exhausted) begin
      row_o.told.gen   = row_i.told.gen + 1'b1;
      row_o.used       = progress ? 3'd1 : row_i.used + 1'b1;
      row_o.nacked     = !timed_out;
      kick_requester_o = 1'b1;
    end
    if (fail) begin
      row_o.told.state  = roce_pkg::QpErr;
      row_o.told.status = fail_status;
      row_o.told.nak    = op_i == roce_pkg::SqOpAck && is_fatal ? arg_i[1:0] : 2'b00;
      row_o.cause       = fail_cause;
      row_o.tell        = 1'b1;
      row_o.listed      = 1'b1;
      list_o            = !row_i.listed;
      kick_retire_o     = 1'b1;
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
        row_o.told.state = setup_state_i;
        row_o.told.una   = setup_psn_i;
        row_o.listed     = row_i.listed;
      end else if (row_i.told.state != roce_pkg::QpReset) begin
        if (setup_state_i == roce_pkg::QpReset) begin
          row_o.told.state = roce_pkg::QpReset;
          row_o.tell       = 1'b0;
        end else if (row_i.told.state != roce_pkg::QpErr) begin
          row_o.told.state  = setup_state_i;
          row_o.told.status = '0;
          row_o.told.nak    = '0;
        end
      end
    end
  end

  // ---- counters ---------------------------------------------------------------------------------
  logic known;

  logic unused;

  assign unused = arg_i[7];
  assign known = is_ack || is_rnr || is_nak || is_fatal;
  assign count_o[0] = valid && is_ack;  // acks
  assign count_o[1] = op_i == roce_pkg::SqOpAck && header_ok_i && live && known &&
      !in_window;  // stale
  assign count_o[2] = op_i == roce_pkg::SqOpAck && !(header_ok_i && live);  // dropped
  assign count_o[3] = valid && is_nak;
  assign count_o[4] = valid && is_fatal;
  assign count_o[5] = op_i == roce_pkg::SqOpAck && header_ok_i && live && !known;  // reserved
  assign count_o[6] = valid && is_rnr;
  assign count_o[7] = timed_out;
  assign count_o[8] = want_rewind && !exhausted;
  assign count_o[9] = fail;

endmodule

`default_nettype wire
