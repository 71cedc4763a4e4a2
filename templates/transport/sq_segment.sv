// sq_segment: cuts the requests of a QP's turn into packets.
//
// Takes the tokens of sq_fetch (Ctx, then Req or End, the last one marked) and puts out packets on
// put_*_o, at most one a cycle, only while put_room_i. A message is ONLY, or FIRST MIDDLE* LAST at
// the path MTU; the PSN alone says where in its message a packet lies, so a cursor that was moved
// resumes anywhere. AckReq is set on the last packet of a message, on every AckInterval-th packet
// since the last one that had it, and on the packet that closes the window (WindowPkts
// outstanding).
//
// A turn ends, and done_valid_o names its QP for one cycle:
//   more 1: the quantum is used up (a packet costs 1 + its bytes/256), requests were left
//     unfetched, a slot turned out to be taken again, hold_i, or the QP got blocked just now
//     (below);
//   more 0: nothing is left to send, the QP may not send, it is blocked still, or its next request
//     is bad.
// Blocked: the window is closed, or a bad request waits for the ones before it. The first time, the
// mark is written and the QP takes another turn; sq_ack kicks marked QPs. An acknowledgement
// between is not missed: sq_ack sees the mark from one cycle after done_valid_o on, and what it
// started before is told by the fourth cycle after done_valid_o, when the next turn reads it at the
// earliest (sq_sched). A bad request whose predecessors are all acknowledged is reported on m_bad.
// The ring of a QP in ERR is given to sq_retire by m_flush.
//
// Owns the cursors: told on cursor_*_o in the cycle after each change, long before the packet is on
// the wire. set_valid_i (only while idle_o) starts a QP's cursor anew. hold_i: every turn ends at
// once with more 1, without waiting for anybody; idle_o: no turn is open, no report is pending.
//
// Throughput: a token or packet a cycle; two cycles for a turn with one single-packet request.
//
// QpW: bits of a QPN. AckInterval: 1..256 packets. WindowPkts: 1..2^23-1 packets. Quantum: 1..64.
`include "rocegen_assert.svh"
`default_nettype none

module sq_segment #(
  parameter int QpW = 4,
  parameter int AckInterval = 16,
  parameter int WindowPkts = 256,
  parameter int Quantum = 8
) (
  input  logic                         clk,
  input  logic                         rst,
  input  logic                         hold_i,
  output logic                         idle_o,
  input  logic                         set_valid_i,
  input  logic [QpW-1:0]               set_qpn_i,
  input  logic [23:0]                  set_psn_i,
  input  logic                         s_tok_tvalid,
  output logic                         s_tok_tready,
  input  logic [1:0]                   s_tok_kind,
  input  logic                         s_tok_last,
  input  logic                         s_tok_more,
  input  logic                         s_tok_fresh,
  input  logic [roce_pkg::SqReqW-1:0]  s_tok_payload,
  output logic                         cut_o,
  output logic [3:0]                   cut_turn_o,
  output logic                         cursor_we_o,
  output logic [QpW-1:0]               cursor_qpn_o,
  output roce_pkg::sq_cursor_t         cursor_o,
  output logic                         done_valid_o,
  output logic                         done_more_o,
  output logic [QpW-1:0]               done_qpn_o,
  input  logic                         put_room_i,
  output logic                         put_valid_o,
  output logic [QpW-1:0]               put_qpn_o,
  output logic [23:0]                  put_psn_o,
  output logic                         put_first_o,
  output logic                         put_last_o,
  output logic                         put_ackreq_o,
  output logic [2:0]                   put_pmtu_o,
  output roce_pkg::sq_req_t            put_req_o,
  output logic                         m_bad_tvalid,
  input  logic                         m_bad_tready,
  output logic [QpW-1:0]               m_bad_qpn,
  output logic                         m_bad_length,
  output logic                         m_flush_tvalid,
  input  logic                         m_flush_tready,
  output logic [QpW-1:0]               m_flush_tdata,
  output logic                         cnt_sq_packets_o,
  output logic                         cnt_sq_retransmits_o,
  output logic                         cnt_sq_window_closed_o
);

  if (AckInterval < 1 || AckInterval > 256) begin : gen_check_interval
    $fatal(1, "sq_segment: AckInterval must be in 1..256");
  end
  if (WindowPkts < 1 || WindowPkts > 8388607) begin : gen_check_window
    $fatal(1, "sq_segment: WindowPkts must be in 1..2^23-1");
  end
  if (Quantum < 1 || Quantum > 64) begin : gen_check_quantum
    $fatal(1, "sq_segment: Quantum must be in 1..64");
  end

  // Token kinds, as in sq_fetch.
  localparam logic [1:0] TokCtx = 2'd0;
  localparam logic [1:0] TokReq = 2'd1;

  typedef enum logic [2:0] {
    StIdle,  // the next token opens a turn
    StCompare,  // is the request acknowledged already?
    StSkip,  // it is: pass over
    StRun,
    StDrop  // the turn is over, its tokens are not
  } state_t;

  state_t            state_q;
  state_t            state_d;
  roce_pkg::sq_ctx_t ctx_q;
  roce_pkg::sq_ctx_t ctx_d;
  roce_pkg::sq_ctx_t tok_ctx;
  roce_pkg::sq_req_t req;
  logic              past_q;  // the request's last packet is older than the cursor
  logic [7:0]        spent_q;  // of the quantum
  logic [7:0]        spent_d;
  logic [7:0]        spent;
  logic [7:0]        spent_many;
  logic [7:0]        spent_only;
  logic              used_up;
  logic              write_q;  // the cursor changed
  logic              write_d;
  logic              done_q;
  logic              done_d;
  logic              more_q;
  logic              more_d;
  logic              bad_valid_q;
  logic              flush_valid_q;
  logic              bad_report;
  logic              flush_report;
  logic              send;
  logic              block;
  logic              pop;

  assign tok_ctx = s_tok_payload[roce_pkg::SqCtxW-1:0];
  assign req     = s_tok_payload;

  // ---- the packet that is next ------------------------------------------------------------------
  logic        first, last;
  logic        again;  // sent before
  logic        closed, closing, due;
  logic [4:0]  blocks;  // of 256 bytes, what the quantum pays
  logic [23:0] psn_next;

  assign first   = ctx_q.cursor.psn == req.first_psn;
  assign last    = ctx_q.cursor.psn == req.last_psn;
  assign again   = ctx_q.cursor.psn != ctx_q.cursor.nxt;
  assign closed  = ctx_q.used == 24'(WindowPkts);
  assign closing = ctx_q.used == 24'(WindowPkts - 1);
  assign psn_next = ctx_q.cursor.psn + 1'b1;
  assign due     = ctx_q.cursor.since == 8'(AckInterval - 1);

  always_comb begin
    case (ctx_q.pmtu)
      3'd1: blocks = 5'd1;
      3'd2: blocks = 5'd2;
      3'd3: blocks = 5'd4;
      3'd4: blocks = 5'd8;
      default: blocks = 5'd16;
    endcase
    // A message of one packet pays for its own length. Both sums are made beside first and last.
    spent_many = spent_q + 8'(blocks) + 1'b1;
    spent_only = spent_q + 8'(req.length[12:8]) + 1'b1;
    spent      = first && last ? spent_only : spent_many;
    used_up    = first && last ? spent_only >= 8'(Quantum) : spent_many >= 8'(Quantum);
  end

  always_comb begin
    state_d      = state_q;
    ctx_d        = ctx_q;
    spent_d      = spent_q;
    write_d      = 1'b0;
    done_d       = 1'b0;
    more_d       = 1'b0;
    bad_report   = 1'b0;
    flush_report = 1'b0;
    send         = 1'b0;
    block        = 1'b0;
    pop          = 1'b0;
    case (state_q)
      StIdle: begin
        if (s_tok_tvalid && !(tok_ctx.failed && flush_valid_q && !hold_i)) begin
          pop          = 1'b1;
          ctx_d        = tok_ctx;
          spent_d      = '0;
          flush_report = tok_ctx.failed && !hold_i;
          if (hold_i || s_tok_last) begin
            done_d  = 1'b1;
            more_d  = hold_i;
            write_d = tok_ctx.run && !hold_i;
            state_d = s_tok_last ? StIdle : StDrop;
          end else begin
            state_d = tok_ctx.cursor.skip ? StCompare : StRun;
          end
        end
      end
      StCompare: begin
        if (s_tok_tvalid) state_d = StSkip;
      end
      StSkip: begin
        if (s_tok_kind == TokReq && s_tok_fresh && past_q && !hold_i) begin
          pop              = 1'b1;
          ctx_d.cursor.idx = ctx_q.cursor.idx + 1'b1;
          state_d          = s_tok_last ? StIdle : StCompare;
          write_d          = s_tok_last;
          done_d           = s_tok_last;
          more_d           = s_tok_more;
        end else begin
          ctx_d.cursor.skip = !(s_tok_kind == TokReq && s_tok_fresh && !hold_i);
          state_d           = StRun;
        end
      end
      StRun: begin
        if (s_tok_tvalid) begin
          if (hold_i || s_tok_kind != TokReq || !s_tok_fresh) begin
            done_d = 1'b1;
            more_d = 1'b1;
          end else if (closed || (req.bad != roce_pkg::SqGood && ctx_q.used != '0)) begin
            done_d = 1'b1;
            more_d = !ctx_q.cursor.blocked;
            block  = 1'b1;
          end else if (req.bad != roce_pkg::SqGood) begin
            done_d     = !bad_valid_q;
            bad_report = !bad_valid_q;
          end else if (ctx_q.drain && !again && first) begin
            done_d = 1'b1;
          end else if (put_room_i) begin
            send = 1'b1;
            if (last && s_tok_last) begin
              done_d = 1'b1;
              more_d = s_tok_more;
            end else if (used_up) begin
              done_d = 1'b1;
              more_d = 1'b1;
            end
          end
          // What is left of the turn is dropped, one token a cycle.
          pop     = send ? last : (done_d && s_tok_last);
          write_d = send || done_d;
          if (done_d) state_d = pop && s_tok_last ? StIdle : StDrop;
          if (block) ctx_d.cursor.blocked = 1'b1;
          if (send) begin
            ctx_d.cursor.psn     = psn_next;
            ctx_d.cursor.nxt     = again ? ctx_q.cursor.nxt : psn_next;
            ctx_d.cursor.since   = put_ackreq_o ? '0 : ctx_q.cursor.since + 1'b1;
            ctx_d.cursor.blocked = 1'b0;
            ctx_d.used           = ctx_q.used + 1'b1;
            spent_d              = spent;
            if (last) ctx_d.cursor.idx = ctx_q.cursor.idx + 1'b1;
          end
        end
      end
      default: begin
        pop = s_tok_tvalid;
        if (s_tok_tvalid && s_tok_last) state_d = StIdle;
      end
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q       <= StIdle;
      write_q       <= 1'b0;
      done_q        <= 1'b0;
      bad_valid_q   <= 1'b0;
      flush_valid_q <= 1'b0;
    end else begin
      state_q <= state_d;
      write_q <= write_d;
      done_q  <= done_d;
      if (bad_report) bad_valid_q <= 1'b1;
      else if (m_bad_tready) bad_valid_q <= 1'b0;
      if (flush_report) flush_valid_q <= 1'b1;
      else if (m_flush_tready) flush_valid_q <= 1'b0;
    end
  end

  logic [QpW-1:0] bad_qpn_q, flush_qpn_q;
  logic           bad_length_q;

  always_ff @(posedge clk) begin
    ctx_q   <= ctx_d;
    spent_q <= spent_d;
    more_q  <= more_d;
    past_q  <= roce_pkg::psn_lt(req.last_psn, ctx_q.cursor.psn);
    if (bad_report) begin
      bad_qpn_q    <= ctx_q.qpn[QpW-1:0];
      bad_length_q <= req.bad == roce_pkg::SqBadLen;
    end
    if (flush_report) flush_qpn_q <= tok_ctx.qpn[QpW-1:0];
  end

  assign s_tok_tready = pop;
  assign cut_o        = state_q == StDrop;
  assign cut_turn_o   = ctx_q.turn;
  assign idle_o       = state_q == StIdle && !write_q && !done_q && !bad_valid_q;

  // ---- what the others are told -----------------------------------------------------------------
  assign done_valid_o = done_q;
  assign done_more_o  = more_q;
  assign done_qpn_o   = ctx_q.qpn[QpW-1:0];

  assign cursor_we_o  = write_q || set_valid_i;
  assign cursor_qpn_o = set_valid_i ? set_qpn_i : ctx_q.qpn[QpW-1:0];

  always_comb begin
    cursor_o = ctx_q.cursor;
    if (set_valid_i) begin
      cursor_o     = '0;
      cursor_o.psn = set_psn_i;
      cursor_o.nxt = set_psn_i;
    end
  end

  assign put_valid_o    = send;
  assign put_qpn_o      = ctx_q.qpn[QpW-1:0];
  assign put_psn_o      = ctx_q.cursor.psn;
  assign put_first_o    = first;
  assign put_last_o     = last;
  assign put_ackreq_o   = last || due || closing;
  assign put_pmtu_o     = ctx_q.pmtu;
  assign put_req_o      = req;
  assign m_bad_tvalid   = bad_valid_q;
  assign m_bad_qpn      = bad_qpn_q;
  assign m_bad_length   = bad_length_q;
  assign m_flush_tvalid = flush_valid_q;
  assign m_flush_tdata  = flush_qpn_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_sq_packets_o       <= 1'b0;
      cnt_sq_retransmits_o   <= 1'b0;
      cnt_sq_window_closed_o <= 1'b0;
    end else begin
      cnt_sq_packets_o       <= send;
      cnt_sq_retransmits_o   <= send && again;
      cnt_sq_window_closed_o <= block && closed && !ctx_q.cursor.blocked;
    end
  end

  logic unused;
  assign unused = ^{ctx_q.qpn, ctx_q.una, ctx_q.run, ctx_q.failed};

  `ROCEGEN_ASSERT(turn_starts_with_ctx,
      !(state_q == StIdle && s_tok_tvalid) || s_tok_kind == TokCtx)
  `ROCEGEN_ASSERT(in_request, !send || !roce_pkg::psn_lt(ctx_q.cursor.psn, req.first_psn))
  `ROCEGEN_ASSERT(window_kept, !send || ctx_q.used < 24'(WindowPkts))
  `ROCEGEN_ASSERT(set_while_idle, !set_valid_i || (idle_o && hold_i))

endmodule

`default_nettype wire
