// sq_segment: cuts the requests of a QP's turn into packets.
//
// Takes a turn's context (s_ctx) and then its tokens (s_tok, the last one marked) from sq_fetch and
// puts out packets on put_*_o, at most one a cycle, only while put_room_i. A message is ONLY, or
// FIRST MIDDLE* LAST at the path MTU; the PSN alone says where in its message a packet lies, so a
// cursor that was moved resumes anywhere. A READ or atomic is one packet and takes the PSNs of all
// its responses; from inside, a READ asks for the rest. AckReq is set on the last packet of a
// message, on every AckInterval-th packet since the last one that had it, on the packet that closes
// the window and on a probe (below).
//
// A packet has to wait, and its QP is blocked, while
// - the window is closed (WindowPkts outstanding; a READ may start while it is open at all);
// - its request is bad and not everything in front of it is acknowledged;
// - it is a READ or atomic and as many are outstanding as the QP may have;
// - its request is fenced and a READ or atomic in front of it is outstanding;
// - the peer counts credits and there is none for its request: the first packet then waits until
//   nothing is outstanding, and goes alone, as a probe; the others wait until it is acknowledged.
//   (Of a request that began before credits were counted more may go: until all in front of it is
//   acknowledged and an answer to what was sent of it is asked for.)
//
// A turn ends, and done_valid_o names its QP for one cycle:
//   more 1: the quantum is used up (a packet costs 1 + its bytes/256), requests were left
//     unfetched, a slot turned out to be taken again, hold_i, or a fenced request waits for READ
//     data that is on its way to memory;
//   more 0: nothing is left to send, the QP may not send, it is blocked, or its next request is
//     bad or (SQD) new.
// When a QP gets blocked the mark is written; sq_ack kicks marked QPs. An acknowledgement between
// is not missed: sq_ack sees the mark from one cycle after done_valid_o on, and a QP that was not
// marked before is named on m_recheck RecheckCycles after that, for one more turn. A bad request
// whose predecessors are all acknowledged is reported on m_bad. The ring of a QP in ERR is given to
// sq_retire by m_flush.
//
// Owns the cursors: told on cursor_*_o in the cycle after each change, long before the packet is on
// the wire; rd_*_o tells a READ or atomic in the same cycle. set_valid_i (only while idle_o) starts
// a QP's cursor anew. hold_i: every turn ends at once with more 1, without waiting for anybody;
// idle_o: no turn is open, no report is pending.
//
// Throughput: a token or packet a cycle, 2 cycles for a READ or atomic; one cycle for a turn's
// context.
//
// Selective: a packet of a WRITE that a NAK asked for (s_ctx_skip) goes alone, with AckReq; the cursor
// then skips the packets of the message that were sent behind it (not one with immediate), but not
// when it is the message's first or last. cursor_wait_o, told with the cursor: no answer to that
// packet has come (s_ctx_wait: still); meanwhile the QP is marked, so that any answer gives it a turn.
//
// QpW: bits of a QPN. AckInterval: 1..256 packets. WindowPkts: 1..2^22 packets. Quantum: 1..64.
// RecheckCycles: 1..15. Selective: 0 or 1.
`include "rocegen_assert.svh"
`default_nettype none

module sq_segment #(
  parameter int QpW = 4,
  parameter int AckInterval = 16,
  parameter int WindowPkts = 256,
  parameter int Quantum = 8,
  parameter int RecheckCycles = 12,
  parameter int Selective = 0
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 hold_i,
  output logic                 idle_o,
  input  logic                 set_valid_i,
  input  logic [QpW-1:0]       set_qpn_i,
  input  logic [23:0]          set_psn_i,
  input  logic                 s_ctx_tvalid,
  output logic                 s_ctx_tready,
  input  roce_pkg::sq_ctx_t    s_ctx_tdata,
  input  logic                 s_ctx_skip,
  input  logic                 s_ctx_wait,
  input  logic                 s_tok_tvalid,
  output logic                 s_tok_tready,
  input  roce_pkg::sq_tok_t    s_tok_tdata,
  output logic                 cut_o,
  output logic [3:0]           cut_turn_o,
  output logic                 cursor_we_o,
  output logic [QpW-1:0]       cursor_qpn_o,
  output roce_pkg::sq_cursor_t cursor_o,
  output logic                 cursor_wait_o,
  output logic                 rd_we_o,
  output logic [QpW-1:0]       rd_qpn_o,
  output logic [7:0]           rd_num_o,
  output roce_pkg::sq_rd_t     rd_o,
  output logic                 done_valid_o,
  output logic                 done_more_o,
  output logic [QpW-1:0]       done_qpn_o,
  output logic                 m_recheck_tvalid,
  input  logic                 m_recheck_tready,
  output logic [QpW-1:0]       m_recheck_tdata,
  input  logic                 put_room_i,
  output logic                 put_valid_o,
  output logic [roce_pkg::LifeW-1:0] put_life_o,
  output logic [QpW-1:0]       put_qpn_o,
  output logic [23:0]          put_psn_o,
  output logic                 put_first_o,
  output logic                 put_last_o,
  output logic                 put_ackreq_o,
  output logic [2:0]           put_pmtu_o,
  output roce_pkg::sq_req_t    put_req_o,
  output logic                 m_bad_tvalid,
  input  logic                 m_bad_tready,
  output logic [QpW-1:0]       m_bad_qpn,
  output logic                 m_bad_length,
  output logic                 m_flush_tvalid,
  input  logic                 m_flush_tready,
  output logic [QpW-1:0]       m_flush_tdata,
  output logic                 cnt_sq_packets_o,
  output logic                 cnt_sq_retransmits_o,
  output logic                 cnt_sq_skipped_o,
  output logic                 cnt_sq_window_closed_o,
  output logic                 cnt_sq_credit_waits_o,
  output logic                 cnt_sq_read_waits_o,
  output logic                 cnt_sq_fence_waits_o
);

  if (AckInterval < 1 || AckInterval > 256) begin : gen_check_interval
    $fatal(1, "sq_segment: AckInterval must be in 1..256");
  end
  if (WindowPkts < 1 || WindowPkts > 4194304) begin : gen_check_window
    $fatal(1, "sq_segment: WindowPkts must be in 1..2^22");
  end
  if (Quantum < 1 || Quantum > 64) begin : gen_check_quantum
    $fatal(1, "sq_segment: Quantum must be in 1..64");
  end
  if (RecheckCycles < 1 || RecheckCycles > 15) begin : gen_check_recheck
    $fatal(1, "sq_segment: RecheckCycles must be in 1..15");
  end
  if (Selective < 0 || Selective > 1) begin : gen_check_selective
    $fatal(1, "sq_segment: Selective must be 0 or 1");
  end

  typedef enum logic [1:0] {
    StIdle,  // waits for a context
    StRun,
    StCount,  // a READ or atomic went out, or packets are skipped: work out where the cursor is now
    StDrop  // the turn is over, its tokens are not
  } state_t;

  state_t            state_q;
  state_t            state_d;
  roce_pkg::sq_ctx_t ctx_q;
  roce_pkg::sq_ctx_t ctx_d;
  roce_pkg::sq_tok_t tok;
  logic              load;
  logic [23:0]       psn_next_q;  // cursor.psn + 1
  logic              again_q;  // the next packet was sent before
  logic              rd_some_q;  // READs or atomics outstanding
  logic              rd_full_q;  // none may go
  logic              closed_q;  // room for no packet
  logic              closing_q;  // for one
  logic              alone_q;  // nothing is outstanding
  logic              due_q;  // AckReq is
  logic              asked_q;  // nothing was sent since the last AckReq
  logic              inside_q;  // the first packet of the token has gone in this turn
  logic              last_q;  // inside: one packet is left
  logic [23:0]       left_q;  // inside: packets behind the next one
  logic [7:0]        budget_q;  // of the quantum; never 0 when a packet is next
  logic [7:0]        budget;
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
  logic              recheck;
  logic              recheck_ready;
  logic              pop;

  assign tok = s_tok_tdata;

  // ---- the packet that is next ------------------------------------------------------------------
  logic        first, last, read;
  logic        bad, probe;
  logic        wait_credit, wait_read, wait_fence, must_wait;
  logic        used_up;
  logic        ends;  // the turn is over at this token whatever it asks for
  logic        no_new;  // SQD: the next request may not begin
  logic        late;  // fenced: data of a READ in front is on its way
  logic        stops;  // the turn ends without a packet of this token
  logic        spent;  // the turn ends with this packet
  logic        alone_now;  // the packet is sent again alone
  logic [23:0] left;
  logic [23:0] room_now;
  logic [23:0] psn_next;
  logic        again_next;

  assign first   = !inside_q && !tok.begun;
  assign last    = inside_q ? last_q : tok.only;
  assign left    = inside_q ? left_q : tok.left;
  assign read    = tok.req.op == roce_pkg::WrRead[3:0] || tok.req.op == roce_pkg::WrCmpSwap[3:0] ||
      tok.req.op == roce_pkg::WrFetchAdd[3:0];
  assign bad     = tok.req.bad != roce_pkg::SqGood;
  assign probe   = tok.starved && (first || tok.at_una);

  // at_una: nothing in front of the request is outstanding, and none of it is acknowledged. Credits
  // may be counted from now on only: what was sent of it must have asked for an answer.
  assign wait_credit = tok.starved &&
      (first ? !tok.at_una : tok.at_una && asked_q);
  assign wait_read   = read && rd_full_q;
  assign wait_fence  = tok.req.fence && first && rd_some_q;
  assign must_wait   = bad ? !alone_q : closed_q || wait_credit || wait_read || wait_fence;

  assign room_now   = ctx_q.limit - ctx_q.cursor.psn;
  assign psn_next   = read ? tok.req.last_psn + 1'b1 : psn_next_q;
  assign again_next = again_q && psn_next_q != ctx_q.cursor.nxt;
  assign budget     = budget_q - 8'(tok.cost);
  assign used_up    = budget_q <= 8'(tok.cost);

  // What the token leads to, side by side, as sq_fetch waits for it.
  assign ends   = hold_i || tok.stop || !tok.fresh;
  assign no_new = ctx_q.drain && !again_q && first;
  assign late   = tok.req.fence && first && ctx_q.rd_late;
  assign block  = state_q == StRun && s_tok_tvalid && !ends && !tok.past && !no_new && must_wait &&
      (recheck_ready || ctx_q.cursor.blocked);
  assign send   = state_q == StRun && s_tok_tvalid && !ends && !tok.past && !no_new && !must_wait &&
      !bad && !late && put_room_i;
  assign spent  = (last && tok.last) || (used_up && !alone_now);

  always_comb begin
    stops = ends;
    if (!ends && !tok.past) begin
      if (no_new) stops = 1'b1;
      else if (must_wait) stops = recheck_ready || ctx_q.cursor.blocked;
      else if (bad) stops = !bad_valid_q;
      else stops = late;
    end
  end

  always_comb begin
    state_d      = state_q;
    ctx_d        = ctx_q;
    load         = 1'b0;
    write_d      = 1'b0;
    done_d       = 1'b0;
    more_d       = 1'b0;
    bad_report   = 1'b0;
    flush_report = 1'b0;
    pop          = 1'b0;
    case (state_q)
      StIdle: begin
        if (s_ctx_tvalid && !(s_ctx_tdata.failed && flush_valid_q && !hold_i)) begin
          load         = 1'b1;
          ctx_d        = s_ctx_tdata;
          flush_report = s_ctx_tdata.failed && !hold_i;
          state_d      = StRun;
        end
      end
      StRun: begin
        if (s_tok_tvalid) begin
          done_d     = stops || (send && spent) || (!ends && tok.past && tok.last);
          bad_report = !ends && !tok.past && !no_new && !must_wait && bad && !bad_valid_q;
          pop        = (!ends && tok.past) || (send && last) ||
              (tok.last && (stops || (send && spent)));
          if (ends) more_d = hold_i || !tok.stop || tok.more;
          else if (tok.past) more_d = tok.more;
          else if (send) more_d = !(last && tok.last) || tok.more;
          else more_d = !must_wait && !bad && late && !no_new;
          if (!ends && tok.past) ctx_d.cursor.idx = ctx_q.cursor.idx + 1'b1;
          if (block) ctx_d.cursor.blocked = 1'b1;
          if (send) state_d = read || alone_now ? StCount : StRun;
          // What is left of the turn is dropped, one token a cycle.
          if (done_d) begin
            write_d = ctx_q.run;
            state_d = tok.last ? StIdle : StDrop;
          end
          if (send) begin
            write_d              = 1'b1;
            ctx_d.cursor.psn     = psn_next;
            ctx_d.cursor.nxt     = again_q ? ctx_q.cursor.nxt : psn_next;
            ctx_d.cursor.since   = put_ackreq_o ? '0 : ctx_q.cursor.since + 1'b1;
            ctx_d.cursor.blocked = wait_q;
            ctx_d.room           = ctx_q.room - 1'b1;
            if (last) ctx_d.cursor.idx = ctx_q.cursor.idx + 1'b1;
            if (read) begin
              ctx_d.cursor.rd = ctx_q.cursor.rd + 1'b1;
              ctx_d.rd_used   = ctx_q.rd_used + 1'b1;
              if (!again_q) ctx_d.cursor.rdnxt = ctx_q.cursor.rd + 1'b1;
            end
          end
        end
      end
      StCount: begin
        if (skip_add) ctx_d.cursor.psn = ctx_q.cursor.psn + skip_packets;
        if (skip_end) begin
          write_d              = 1'b1;
          ctx_d.cursor.blocked = wait_q;
          if (skip_message) begin
            pop              = 1'b1;
            done_d           = tok.last;
            more_d           = tok.more;
            ctx_d.cursor.idx = ctx_q.cursor.idx + 1'b1;
          end
        end
        ctx_d.room = room_now;
        if (done_d) state_d = StIdle;
        else if (!skipping) state_d = StRun;
      end
      default: begin
        pop = s_tok_tvalid;
        if (s_tok_tvalid && tok.last) state_d = StIdle;
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

  // What the decisions look at is worked out one packet ahead; after a READ in StCount.
  logic [QpW-1:0] bad_qpn_q, flush_qpn_q;
  logic           bad_length_q;

  always_ff @(posedge clk) begin
    ctx_q  <= ctx_d;
    more_q <= more_d;
    if (load) begin
      psn_next_q <= s_ctx_tdata.cursor.psn + 1'b1;
      again_q    <= s_ctx_tdata.cursor.psn != s_ctx_tdata.cursor.nxt;
      rd_some_q  <= s_ctx_tdata.rd_used != '0;
      rd_full_q  <= s_ctx_tdata.rd_used >= s_ctx_tdata.rd_limit;
      closed_q   <= s_ctx_tdata.room[23] || s_ctx_tdata.room == '0;
      closing_q  <= s_ctx_tdata.room == 24'd1;
      alone_q    <= s_ctx_tdata.room == 24'(WindowPkts);
      due_q      <= s_ctx_tdata.cursor.since == 8'(AckInterval - 1);
      asked_q    <= s_ctx_tdata.cursor.since == '0;
      budget_q   <= 8'(Quantum);
      inside_q   <= 1'b0;
    end else if (send) begin
      psn_next_q <= psn_next_q + 1'b1;
      again_q    <= again_next;
      closed_q   <= closing_q;
      closing_q  <= ctx_q.room == 24'd2;
      alone_q    <= ctx_q.room == 24'(WindowPkts + 1);
      due_q      <= put_ackreq_o ? AckInterval == 1 : ctx_q.cursor.since == 8'(AckInterval - 2);
      asked_q    <= put_ackreq_o;
      budget_q   <= budget;
      inside_q   <= !last;
    end else if (state_q == StCount) begin
      psn_next_q <= ctx_q.cursor.psn + 1'b1;
      again_q    <= ctx_q.cursor.psn != ctx_q.cursor.nxt;
      rd_some_q  <= rd_some_q || !skipping;
      rd_full_q  <= ctx_q.rd_used >= ctx_q.rd_limit;
      closed_q   <= room_now[23] || room_now == '0;
      closing_q  <= room_now == 24'd1;
      alone_q    <= room_now == 24'(WindowPkts);
      if (skip_message) inside_q <= 1'b0;
    end
    if (send) begin
      last_q <= left == 24'd1;
      left_q <= left - 1'b1;
    end else if (skip_add) begin
      left_q <= left_q - skip_packets;
    end else if (skip_end) begin
      last_q <= left_q == '0;
    end
    if (bad_report) begin
      bad_qpn_q    <= ctx_q.qpn[QpW-1:0];
      bad_length_q <= tok.req.bad == roce_pkg::SqBadLen;
    end
    if (flush_report) flush_qpn_q <= s_ctx_tdata.qpn[QpW-1:0];
  end

  assign s_ctx_tready = load;
  assign s_tok_tready = pop;
  assign cut_o        = state_q == StDrop;
  assign cut_turn_o   = ctx_q.turn;
  assign idle_o       = state_q == StIdle && !write_q && !done_q && !bad_valid_q;

  // ---- packets that the peer may have placed ------------------------------------------------------
  logic        wait_q;  // the packet that went alone is not answered
  logic        skipping;  // StCount goes on
  logic        skip_add;
  logic        skip_end;
  logic        skip_message;  // with skip_end: to the end of the message
  logic [23:0] skip_packets;

  if (Selective != 0) begin : gen_skip
    // Steps of StCount behind a packet that went alone: what was sent behind it, what the message
    // has; which is less; choose; add; what is left.
    logic [2:0]  step_q;
    logic        may_q;  // the turn's first packet may go alone
    logic        imm_q;
    logic        less_q;
    logic        end_q;
    logic [23:0] sent_q;
    logic [23:0] rest_q;
    logic [23:0] packets_q;
    logic [23:0] owed_q;  // packets still to count

    assign alone_now    = may_q && again_q && !first && !last &&
        (tok.req.op == roce_pkg::WrWrite[3:0] || tok.req.op == roce_pkg::WrWriteImm[3:0]);
    assign skipping     = step_q != '0;
    assign skip_add     = step_q == 3'd4;
    assign skip_end     = step_q == 3'd5;
    assign skip_message = skip_end && end_q;
    assign skip_packets = packets_q;

    always_ff @(posedge clk) begin
      if (rst) begin
        step_q           <= '0;
        owed_q           <= '0;
        cnt_sq_skipped_o <= 1'b0;
      end else begin
        if (send && alone_now) step_q <= 3'd1;
        else if (skip_end) step_q <= '0;
        else if (skipping) step_q <= step_q + 1'b1;
        owed_q           <= owed_q + (skip_end ? packets_q : '0) - {23'd0, owed_q != '0};
        cnt_sq_skipped_o <= owed_q != '0;
      end
      if (load) begin
        may_q  <= s_ctx_skip;
        wait_q <= s_ctx_wait;
      end else begin
        if (send) may_q <= 1'b0;
        if (skip_add && packets_q != '0) wait_q <= 1'b1;
      end
      if (send) imm_q <= tok.req.op != roce_pkg::WrWrite[3:0];
      sent_q    <= ctx_q.cursor.nxt - ctx_q.cursor.psn;
      rest_q    <= left_q + {23'd0, !imm_q};
      less_q    <= sent_q < rest_q;
      packets_q <= less_q ? sent_q : rest_q;
      end_q     <= !less_q && !imm_q;
    end

    assign cursor_wait_o = wait_q && !set_valid_i;
  end else begin : gen_no_skip
    logic unused_skip;
    assign unused_skip      = s_ctx_skip || s_ctx_wait;
    assign alone_now        = 1'b0;
    assign wait_q           = 1'b0;
    assign skipping         = 1'b0;
    assign skip_add         = 1'b0;
    assign skip_end         = 1'b0;
    assign skip_message     = 1'b0;
    assign skip_packets     = '0;
    assign cursor_wait_o    = 1'b0;
    assign cnt_sq_skipped_o = 1'b0;
  end

  // ---- QPs that got blocked take one more turn, RecheckCycles later -----------------------------
  localparam int RecheckDepth = 8;

  logic [3:0]                        now_q;
  logic                              first_tvalid;
  logic [3:0]                        first_time;
  logic                              ripe_q;
  logic [3:0]                        age;
  logic [$clog2(RecheckDepth+1)-1:0] unused_level;

  assign recheck          = block && !ctx_q.cursor.blocked;
  assign age              = now_q - first_time;
  assign m_recheck_tvalid = ripe_q;

  stream_fifo #(
    .Width(4 + QpW),
    .Depth(RecheckDepth)
  ) u_recheck (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(recheck),
    .s_axis_tready(recheck_ready),
    .s_axis_tdata({now_q, ctx_q.qpn[QpW-1:0]}),
    .m_axis_tvalid(first_tvalid),
    .m_axis_tready(m_recheck_tready && ripe_q),
    .m_axis_tdata({first_time, m_recheck_tdata}),
    .level_o(unused_level)
  );

  // One that waits behind others may take a round of the clock more.
  always_ff @(posedge clk) begin
    if (rst) begin
      now_q  <= '0;
      ripe_q <= 1'b0;
    end else begin
      now_q  <= now_q + 1'b1;
      ripe_q <= ripe_q ? !m_recheck_tready : first_tvalid && age >= 4'(RecheckCycles - 1);
    end
  end

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

  always_ff @(posedge clk) begin
    if (rst) rd_we_o <= 1'b0;
    else rd_we_o <= send && read;
  end

  always_ff @(posedge clk) begin
    rd_qpn_o       <= ctx_q.qpn[QpW-1:0];
    rd_num_o       <= ctx_q.cursor.rd;
    rd_o.atomic    <= tok.req.op != roce_pkg::WrRead[3:0];
    rd_o.target    <= tok.req.target;
    rd_o.laddr     <= tok.req.laddr;
    rd_o.length    <= tok.req.op == roce_pkg::WrRead[3:0] ? tok.req.length : 32'd8;
    rd_o.first_psn <= tok.req.first_psn;
    rd_o.last_psn  <= tok.req.last_psn;
  end

  assign put_valid_o    = send;
  assign put_life_o     = ctx_q.life;
  assign put_qpn_o      = ctx_q.qpn[QpW-1:0];
  assign put_psn_o      = ctx_q.cursor.psn;
  assign put_first_o    = first;
  assign put_last_o     = last;
  assign put_ackreq_o   = last || due_q || closing_q || probe || alone_now;
  assign put_pmtu_o     = ctx_q.pmtu;
  assign put_req_o      = tok.req;
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
      cnt_sq_credit_waits_o  <= 1'b0;
      cnt_sq_read_waits_o    <= 1'b0;
      cnt_sq_fence_waits_o   <= 1'b0;
    end else begin
      cnt_sq_packets_o       <= send;
      cnt_sq_retransmits_o   <= send && again_q;
      cnt_sq_window_closed_o <= recheck && !bad && closed_q;
      cnt_sq_credit_waits_o  <= recheck && !bad && wait_credit;
      cnt_sq_read_waits_o    <= recheck && !bad && wait_read;
      cnt_sq_fence_waits_o   <= recheck && !bad && wait_fence;
    end
  end

  logic unused;
  assign unused = ^{ctx_q.qpn, unused_level};

  `ROCEGEN_ASSERT(in_request, !send || !roce_pkg::psn_lt(ctx_q.cursor.psn, tok.req.first_psn))
  `ROCEGEN_ASSERT(not_behind, !send || tok.req.last_psn - ctx_q.cursor.psn == left)
  // Not only what is sent is decided by these.
  `ROCEGEN_ASSERT(again_is_true,
      state_q != StRun || again_q == (ctx_q.cursor.psn != ctx_q.cursor.nxt))
  `ROCEGEN_ASSERT(room_is_true,
      state_q != StRun || ctx_q.limit - ctx_q.cursor.psn == ctx_q.room)
  `ROCEGEN_ASSERT(flags_are_true, state_q != StRun ||
      (closed_q == (ctx_q.room[23] || ctx_q.room == '0) &&
      closing_q == (ctx_q.room == 24'd1) && alone_q == (ctx_q.room == 24'(WindowPkts)) &&
      due_q == (ctx_q.cursor.since == 8'(AckInterval - 1)) &&
      asked_q == (ctx_q.cursor.since == '0) &&
      rd_full_q == (ctx_q.rd_used >= ctx_q.rd_limit) && psn_next_q == ctx_q.cursor.psn + 24'd1))
  `ROCEGEN_ASSERT(reads_kept, !(send && read) || ctx_q.rd_used < ctx_q.rd_limit)
  `ROCEGEN_ASSERT(set_while_idle, !set_valid_i || (idle_o && hold_i))

endmodule

`default_nettype wire
