// sq_fetch: fetches a QP's cursor and its next work requests ahead of sq_segment.
//
// A turn (from sq_turn, which takes QPs from the work list on s_qp) becomes a record on m_ctx and
// one to Quantum tokens on m_tok, in order, the last one marked `last`: the requests from the
// cursor on, or, when there is none to send, a `stop` token. sq_tok_t says what is worked out of a
// request on the way: whether it lies in front of the cursor (only the first ones of a turn can),
// how many packets are left of it, whether it is in want of a receive credit. fresh 0: its slot was
// taken again meanwhile (lap differs), the turn must end. cut_i: sq_segment ended turn cut_turn_i
// early; if it is still being fetched it ends with a stop token. hold_i: no new QP is taken, the
// turn being fetched is stopped (more 1). idle_o: no context and no token is left anywhere.
//
// Throughput: a token a cycle, a turn every 2 cycles. Latency from s_qp: 5 cycles to m_ctx, 10 to
// the first token (LowLatency: 3 and 6).
//
// QpW: bits of a QPN. WqeSlots: slots in the request memory, 2..2^20. SlotW: bits of a slot number.
// IdxW: bits of a ring index, SlotW + 2. WindowPkts: 1..2^22 packets. Quantum: most requests a
// turn, 1..64. RdDepth: most READs and atomics outstanding per QP, 1..128. Selective: 0 or 1.
// LowLatency: 1, without the registers around the request memory and with short ways round the
// queues.
`include "rocegen_assert.svh"
`default_nettype none

module sq_fetch #(
  parameter int QpW = 4,
  parameter int WqeSlots = 256,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int WindowPkts = 256,
  parameter int Quantum = 8,
  parameter int RdDepth = 16,
  parameter int Selective = 0,
  parameter int LowLatency = 0
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 hold_i,
  output logic                 idle_o,
  input  logic                 set_valid_i,
  input  roce_pkg::qp_cfg_t    set_i,
  input  logic [roce_pkg::LifeW-1:0] set_life_i,
  input  logic                 state_we_i,
  input  logic                 state_nacked_i,
  input  logic [QpW-1:0]       state_qpn_i,
  input  roce_pkg::sq_state_t  state_i,
  input  logic                 cursor_we_i,
  input  logic [QpW-1:0]       cursor_qpn_i,
  input  roce_pkg::sq_cursor_t cursor_i,
  input  logic                 cursor_wait_i,
  input  logic                 head_we_i,
  input  logic [QpW-1:0]       head_qpn_i,
  input  logic [IdxW-1:0]      head_i,
  input  logic                 mem_we_i,
  input  logic [QpW-1:0]       mem_qpn_i,
  input  logic [7:0]           mem_i,
  input  logic                 tail_we_i,
  input  logic [QpW-1:0]       tail_qpn_i,
  input  logic [IdxW-1:0]      tail_i,
  input  logic                 wqe_we_i,
  input  logic [SlotW-1:0]     wqe_slot_i,
  input  roce_pkg::sq_req_t    req_i,
  input  logic                 cut_i,
  input  logic [3:0]           cut_turn_i,
  input  logic                 s_qp_tvalid,
  output logic                 s_qp_tready,
  input  logic [QpW-1:0]       s_qp_tdata,
  output logic                 m_ctx_tvalid,
  input  logic                 m_ctx_tready,
  output roce_pkg::sq_ctx_t    m_ctx_tdata,
  output logic                 m_ctx_skip,
  output logic                 m_ctx_wait,
  output logic                 m_tok_tvalid,
  input  logic                 m_tok_tready,
  output roce_pkg::sq_tok_t    m_tok_tdata
);

  localparam int TokDepth = 8;
  localparam int CreditW = $clog2(TokDepth + 1);

  // ---- turns ------------------------------------------------------------------------------------
  logic              turn_offered;
  logic              turn_ready;
  logic              turn_go;
  logic              turns_idle;
  roce_pkg::sq_ctx_t next_ctx;
  logic              next_skip;
  logic              next_wait;
  logic [23:0]       next_una;
  logic              next_limited;
  logic [IdxW-1:0]   next_lsn;
  logic [IdxW-1:0]   next_idx;
  logic [6:0]        next_left;
  logic              next_more;
  logic [4:0]        next_log2;
  logic [SlotW-1:0]  next_base;

  sq_turn #(
    .QpW(QpW),
    .SlotW(SlotW),
    .IdxW(IdxW),
    .WindowPkts(WindowPkts),
    .Quantum(Quantum),
    .RdDepth(RdDepth),
    .Selective(Selective),
    .LowLatency(LowLatency)
  ) u_turn (
    .clk(clk),
    .rst(rst),
    .hold_i(hold_i),
    .idle_o(turns_idle),
    .set_valid_i(set_valid_i),
    .set_i(set_i),
    .set_life_i(set_life_i),
    .state_we_i(state_we_i),
    .state_nacked_i(state_nacked_i),
    .state_qpn_i(state_qpn_i),
    .state_i(state_i),
    .cursor_we_i(cursor_we_i),
    .cursor_qpn_i(cursor_qpn_i),
    .cursor_i(cursor_i),
    .cursor_wait_i(cursor_wait_i),
    .head_we_i(head_we_i),
    .head_qpn_i(head_qpn_i),
    .head_i(head_i),
    .mem_we_i(mem_we_i),
    .mem_qpn_i(mem_qpn_i),
    .mem_i(mem_i),
    .tail_we_i(tail_we_i),
    .tail_qpn_i(tail_qpn_i),
    .tail_i(tail_i),
    .s_qp_tvalid(s_qp_tvalid),
    .s_qp_tready(s_qp_tready),
    .s_qp_tdata(s_qp_tdata),
    .m_turn_tvalid(turn_offered),
    .m_turn_tready(turn_ready),
    .m_turn_ctx(next_ctx),
    .m_turn_skip(next_skip),
    .m_turn_wait(next_wait),
    .m_turn_una(next_una),
    .m_turn_limited(next_limited),
    .m_turn_lsn(next_lsn),
    .m_turn_idx(next_idx),
    .m_turn_left(next_left),
    .m_turn_more(next_more),
    .m_turn_log2(next_log2),
    .m_turn_base(next_base)
  );

  // ---- contexts: one for every turn whose tokens are on the way ---------------------------------
  logic               ctx_ready;
  logic [CreditW-1:0] ctx_level;

  stream_fifo #(
    .Width(roce_pkg::SqCtxW),
    .Depth(TokDepth),
    .Bypass(LowLatency)
  ) u_contexts (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(turn_go),
    .s_axis_tready(ctx_ready),
    .s_axis_tdata(next_ctx),
    .m_axis_tvalid(m_ctx_tvalid),
    .m_axis_tready(m_ctx_tready),
    .m_axis_tdata(m_ctx_tdata),
    .level_o(ctx_level)
  );

  if (Selective != 0) begin : gen_skips
    logic               skip_valid;
    logic               skip_ready;
    logic [CreditW-1:0] skip_level;

    stream_fifo #(
      .Width(2),
      .Depth(TokDepth),
      .Bypass(LowLatency)
    ) u_skips (
      .clk(clk),
      .rst(rst),
      .s_axis_tvalid(turn_go),
      .s_axis_tready(skip_ready),
      .s_axis_tdata({next_skip, next_wait}),
      .m_axis_tvalid(skip_valid),
      .m_axis_tready(m_ctx_tready),
      .m_axis_tdata({m_ctx_skip, m_ctx_wait}),
      .level_o(skip_level)
    );

    `ROCEGEN_ASSERT(same_level, skip_level == ctx_level && skip_valid == m_ctx_tvalid)
    `ROCEGEN_ASSERT(same_room, skip_ready == ctx_ready)
  end else begin : gen_no_skips
    logic unused_skip;
    assign unused_skip = next_skip || next_wait;
    assign m_ctx_skip  = 1'b0;
    assign m_ctx_wait  = 1'b0;
  end

  // ---- fetch: one token a cycle while sq_segment's queue has room -------------------------------
  logic               turn_valid_q;
  logic [3:0]         turn_number_q;
  logic [23:0]        turn_psn_q;
  logic [23:0]        turn_una_q;
  logic [2:0]         turn_pmtu_q;
  logic               turn_limited_q;
  logic [IdxW-1:0]    turn_lsn_q;
  logic [IdxW-1:0]    turn_idx_q;
  logic [6:0]         turn_left_q;  // requests still to fetch
  logic               turn_more_q;
  logic [4:0]         turn_log2_q;
  logic [SlotW-1:0]   turn_base_q;
  logic [CreditW-1:0] credit_q;
  logic               credit_some_q;
  logic               taken;
  logic               issue;
  logic               issue_stop;
  logic               issue_last;
  logic [IdxW-1:0]    slot_offset;

  assign taken      = m_tok_tvalid && m_tok_tready;
  assign issue      = turn_valid_q && credit_some_q;
  assign issue_stop = hold_i || turn_left_q == '0 || (cut_i && cut_turn_i == turn_number_q);
  assign issue_last = issue_stop || turn_left_q == 7'd1;
  assign turn_ready = ctx_ready && (!turn_valid_q || (issue && issue_last));
  assign turn_go    = turn_offered && turn_ready;

  logic [CreditW-1:0] credit_kept;  // if none is taken, which comes late

  assign credit_kept = issue ? credit_q - 1'b1 : credit_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      turn_valid_q  <= 1'b0;
      credit_q      <= CreditW'(TokDepth);
      credit_some_q <= 1'b1;
    end else begin
      if (turn_go) turn_valid_q <= 1'b1;
      else if (issue && issue_last) turn_valid_q <= 1'b0;
      credit_q      <= taken ? (issue ? credit_q : credit_q + 1'b1) : credit_kept;
      credit_some_q <= taken || (credit_q != '0 && !(issue && credit_q == CreditW'(1)));
    end
  end

  always_ff @(posedge clk) begin
    if (turn_go) begin
      turn_number_q  <= next_ctx.turn;
      turn_psn_q     <= next_ctx.cursor.psn;
      turn_una_q     <= next_una;
      turn_pmtu_q    <= next_ctx.pmtu;
      turn_limited_q <= next_limited;
      turn_lsn_q     <= next_lsn;
      turn_idx_q     <= next_idx;
      turn_left_q    <= next_left;
      turn_more_q    <= next_more;
      turn_log2_q    <= next_log2;
      turn_base_q    <= next_base;
    end else if (issue) begin
      turn_idx_q  <= turn_idx_q + 1'b1;
      turn_left_q <= turn_left_q - 1'b1;
    end
  end

  assign slot_offset = turn_idx_q & ~({IdxW{1'b1}} << turn_log2_q);

  // ---- the request memory: three cycles (LowLatency: one) from here to its output ---------------
  typedef struct packed {
    logic        stop;
    logic        last;
    logic        more;
    logic        lap;
    logic        no_credit;
    logic [2:0]  pmtu;
    logic [23:0] psn;
    logic [23:0] una;
  } mark_t;

  localparam int MarkW = 56;

  logic              p2_valid_q;
  mark_t             mark;
  mark_t             p2_mark_q;
  logic [SlotW-1:0]  slot;
  logic [SlotW-1:0]  read_slot;
  logic [IdxW-1:0]   beyond;  // ring index - limit; not negative: no credit
  roce_pkg::sq_req_t p2_req;
  logic [31:0]       turn_idx_bits;

  assign turn_idx_bits = 32'(turn_idx_q);
  assign slot          = turn_base_q + slot_offset[SlotW-1:0];
  assign beyond        = turn_idx_q - turn_lsn_q;

  always_comb begin
    mark.stop      = issue_stop;
    mark.last      = issue_last;
    mark.more      = turn_more_q || hold_i;
    mark.lap       = turn_idx_bits[turn_log2_q];
    mark.no_credit = turn_limited_q && !beyond[IdxW-1];
    mark.pmtu      = turn_pmtu_q;
    mark.psn       = turn_psn_q;
    mark.una       = turn_una_q;
  end

  if (LowLatency != 0) begin : gen_direct
    assign read_slot = slot;

    always_ff @(posedge clk) begin
      if (rst) p2_valid_q <= 1'b0;
      else p2_valid_q <= issue;
    end

    always_ff @(posedge clk) p2_mark_q <= mark;
  end else begin : gen_stages
    logic             p0_valid_q;
    logic             p1_valid_q;
    logic [MarkW-1:0] p0_mark_q;
    logic [MarkW-1:0] p1_mark_q;
    logic [SlotW-1:0] p0_slot_q;

    assign read_slot = p0_slot_q;

    always_ff @(posedge clk) begin
      if (rst) begin
        p0_valid_q <= 1'b0;
        p1_valid_q <= 1'b0;
        p2_valid_q <= 1'b0;
      end else begin
        p0_valid_q <= issue;
        p1_valid_q <= p0_valid_q;
        p2_valid_q <= p1_valid_q;
      end
    end

    always_ff @(posedge clk) begin
      p0_mark_q <= mark;
      p0_slot_q <= slot;
      p1_mark_q <= p0_mark_q;
      p2_mark_q <= p1_mark_q;
    end
  end

  ram_sdp #(
    .Width(roce_pkg::SqReqW),
    .Depth(WqeSlots),
    .Latency(LowLatency != 0 ? 1 : 2),
    .Style(WqeSlots >= 4096 ? 2 : 0)
  ) u_requests (
    .clk(clk),
    .wr_en_i(wqe_we_i),
    .wr_addr_i(wqe_slot_i),
    .wr_data_i(req_i),
    .rd_en_i(1'b1),
    .rd_addr_i(read_slot),
    .rd_data_o(p2_req)
  );

  // ---- where the request lies -------------------------------------------------------------------
  logic              p3_valid_q;
  mark_t             p3_mark_q;
  roce_pkg::sq_req_t p3_req_q;
  logic              p3_fresh_q;
  logic [23:0]       p3_ahead_q;  // its last PSN - the cursor's
  logic [23:0]       p3_span_q;  // packets behind its first
  logic              p3_begun_q;  // the cursor is not at its first packet
  logic              p3_final_q;  // the cursor is at its last packet
  logic              p3_single_q;
  logic              p3_at_una_q;
  logic              p3_short_q;  // READ or atomic: a request without payload
  logic              p3_receive_q;  // takes a receive buffer of the peer
  logic              p2_short;
  logic              p2_receive;

  assign p2_short   = p2_req.op == roce_pkg::WrRead[3:0] ||
      p2_req.op == roce_pkg::WrCmpSwap[3:0] || p2_req.op == roce_pkg::WrFetchAdd[3:0];
  assign p2_receive = !p2_short && p2_req.op != roce_pkg::WrWrite[3:0];

  always_ff @(posedge clk) begin
    if (rst) p3_valid_q <= 1'b0;
    else p3_valid_q <= p2_valid_q;
  end

  always_ff @(posedge clk) begin
    p3_mark_q    <= p2_mark_q;
    p3_req_q     <= p2_req;
    p3_fresh_q   <= p2_req.lap == p2_mark_q.lap;
    p3_ahead_q   <= p2_req.last_psn - p2_mark_q.psn;
    p3_span_q    <= p2_req.last_psn - p2_req.first_psn;
    p3_begun_q   <= p2_req.first_psn != p2_mark_q.psn;
    p3_final_q   <= p2_req.last_psn == p2_mark_q.psn;
    p3_single_q  <= p2_req.last_psn == p2_req.first_psn;
    p3_at_una_q  <= p2_req.first_psn == p2_mark_q.una;
    p3_short_q   <= p2_short;
    p3_receive_q <= p2_receive;
  end

  // Requests in front of the cursor come first, then the one that it stands in. Behind that one
  // distances to the cursor mean nothing: they may be more than half a circle.
  logic              found_q;
  logic              past;
  logic              begun;
  logic              only;
  logic [4:0]        blocks;  // of 256 bytes
  roce_pkg::sq_tok_t tok;

  assign past  = !found_q && p3_ahead_q[23];
  assign begun = !found_q && p3_begun_q;
  assign only  = begun ? p3_final_q : p3_single_q;

  always_ff @(posedge clk) begin
    if (rst) found_q <= 1'b0;
    else if (p3_valid_q) found_q <= !p3_mark_q.last && (found_q || !p3_ahead_q[23]);
  end

  always_comb begin
    case (p3_mark_q.pmtu)
      3'd1: blocks = 5'd1;
      3'd2: blocks = 5'd2;
      3'd3: blocks = 5'd4;
      3'd4: blocks = 5'd8;
      default: blocks = 5'd16;
    endcase
    // A message of one packet pays for its own length.
    if (!begun && p3_single_q) blocks = p3_req_q.length[12:8];
    if (p3_short_q) blocks = '0;
  end

  always_comb begin
    tok.stop    = p3_mark_q.stop;
    tok.last    = p3_mark_q.last;
    tok.more    = p3_mark_q.more;
    tok.fresh   = p3_fresh_q;
    tok.past    = past;
    tok.begun   = begun;
    tok.only    = only || p3_short_q;
    tok.starved = p3_mark_q.no_credit && p3_receive_q;
    tok.at_una  = p3_at_una_q;
    tok.cost    = blocks + 1'b1;
    tok.left    = begun ? p3_ahead_q : p3_span_q;
    tok.req     = p3_req_q;
  end

  logic               tok_ready;
  logic [CreditW-1:0] unused_level;

  stream_fifo #(
    .Width(roce_pkg::SqTokW),
    .Depth(TokDepth),
    .Bypass(LowLatency)
  ) u_tokens (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(p3_valid_q),
    .s_axis_tready(tok_ready),
    .s_axis_tdata(tok),
    .m_axis_tvalid(m_tok_tvalid),
    .m_axis_tready(m_tok_tready),
    .m_axis_tdata(m_tok_tdata),
    .level_o(unused_level)
  );

  assign idle_o = turns_idle && !turn_valid_q && ctx_level == '0 && credit_q == CreditW'(TokDepth);

  // Marks that are not looked at that far down; the slot number needs only the low bits.
  logic unused;
  assign unused = ^{slot_offset[IdxW-1:SlotW], tok_ready, unused_level,
      p3_mark_q.lap, p3_mark_q.psn, p3_mark_q.una};

  `ROCEGEN_ASSERT(token_never_lost, !p3_valid_q || tok_ready)

endmodule

`default_nettype wire
