// sq_fetch: fetches a QP's cursor and its next work requests ahead of sq_segment.
//
// A turn (from sq_turn, which takes QPs from the work list on s_qp) becomes tokens on m_tok, in
// order: one Ctx token (m_tok_payload = sq_ctx_t), then up to Quantum Req tokens (sq_req_t) from
// the cursor on. m_tok_last marks the last token of the turn, m_tok_more on it that the ring holds
// more than was fetched. m_tok_fresh 0 on a Req token: its slot was taken again meanwhile (lap
// differs), the turn must end. cut_i: sq_segment ended turn cut_turn_i early; if it is still being
// fetched it ends with an End token. hold_i: no new QP is taken, the turn being fetched is cut.
// idle_o: no token is left anywhere.
//
// Throughput: a token a cycle, a turn every 2 cycles. Latency: 9 cycles from s_qp to the Req token.
//
// QpW: bits of a QPN. WqeSlots: slots in the request memory, 2..2^20. SlotW: bits of a slot number.
// IdxW: bits of a ring index, SlotW + 2. Quantum: most requests a turn, 1..64.
`include "rocegen_assert.svh"
`default_nettype none

module sq_fetch #(
  parameter int QpW = 4,
  parameter int WqeSlots = 256,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int Quantum = 8
) (
  input  logic                         clk,
  input  logic                         rst,
  input  logic                         hold_i,
  output logic                         idle_o,
  input  logic                         set_valid_i,
  input  roce_pkg::qp_cfg_t            set_i,
  input  logic                         state_we_i,
  input  logic [QpW-1:0]               state_qpn_i,
  input  roce_pkg::sq_state_t          state_i,
  input  logic                         cursor_we_i,
  input  logic [QpW-1:0]               cursor_qpn_i,
  input  roce_pkg::sq_cursor_t         cursor_i,
  input  logic                         head_we_i,
  input  logic [QpW-1:0]               head_qpn_i,
  input  logic [IdxW-1:0]              head_i,
  input  logic                         tail_we_i,
  input  logic [QpW-1:0]               tail_qpn_i,
  input  logic [IdxW-1:0]              tail_i,
  input  logic                         wqe_we_i,
  input  logic [SlotW-1:0]             wqe_slot_i,
  input  roce_pkg::sq_req_t            req_i,
  input  logic                         cut_i,
  input  logic [3:0]                   cut_turn_i,
  input  logic                         s_qp_tvalid,
  output logic                         s_qp_tready,
  input  logic [QpW-1:0]               s_qp_tdata,
  output logic                         m_tok_tvalid,
  input  logic                         m_tok_tready,
  output logic [1:0]                   m_tok_kind,
  output logic                         m_tok_last,
  output logic                         m_tok_more,
  output logic                         m_tok_fresh,
  output logic [roce_pkg::SqReqW-1:0]  m_tok_payload
);

  // Token kinds, as in sq_segment.
  localparam logic [1:0] TokCtx = 2'd0;
  localparam logic [1:0] TokReq = 2'd1;
  localparam logic [1:0] TokEnd = 2'd2;

  localparam int TokDepth = 8;
  localparam int TokW = 5 + roce_pkg::SqReqW;
  localparam int CreditW = $clog2(TokDepth + 1);

  // ---- turns ------------------------------------------------------------------------------------
  logic              turn_offered;
  logic              turn_ready;
  logic              turn_go;
  logic              turns_idle;
  roce_pkg::sq_ctx_t next_ctx;
  logic [IdxW-1:0]   next_idx;
  logic [6:0]        next_left;
  logic              next_more;
  logic [4:0]        next_log2;
  logic [SlotW-1:0]  next_base;

  sq_turn #(
    .QpW(QpW),
    .SlotW(SlotW),
    .IdxW(IdxW),
    .Quantum(Quantum)
  ) u_turn (
    .clk(clk),
    .rst(rst),
    .hold_i(hold_i),
    .idle_o(turns_idle),
    .set_valid_i(set_valid_i),
    .set_i(set_i),
    .state_we_i(state_we_i),
    .state_qpn_i(state_qpn_i),
    .state_i(state_i),
    .cursor_we_i(cursor_we_i),
    .cursor_qpn_i(cursor_qpn_i),
    .cursor_i(cursor_i),
    .head_we_i(head_we_i),
    .head_qpn_i(head_qpn_i),
    .head_i(head_i),
    .tail_we_i(tail_we_i),
    .tail_qpn_i(tail_qpn_i),
    .tail_i(tail_i),
    .s_qp_tvalid(s_qp_tvalid),
    .s_qp_tready(s_qp_tready),
    .s_qp_tdata(s_qp_tdata),
    .m_turn_tvalid(turn_offered),
    .m_turn_tready(turn_ready),
    .m_turn_ctx(next_ctx),
    .m_turn_idx(next_idx),
    .m_turn_left(next_left),
    .m_turn_more(next_more),
    .m_turn_log2(next_log2),
    .m_turn_base(next_base)
  );

  // ---- fetch: one token a cycle while sq_segment's queue has room -------------------------------
  logic              turn_valid_q;
  logic              turn_open_q;  // the Ctx token is out
  roce_pkg::sq_ctx_t turn_ctx_q;
  logic [IdxW-1:0]   turn_idx_q;
  logic [6:0]        turn_left_q;  // requests still to fetch
  logic              turn_more_q;
  logic [4:0]        turn_log2_q;
  logic [SlotW-1:0]  turn_base_q;
  logic [CreditW-1:0] credit_q;
  logic              issue;
  logic              issue_end;
  logic              issue_last;
  logic [IdxW-1:0]   slot_offset;

  assign issue      = turn_valid_q && credit_q != '0;
  assign issue_end  = turn_open_q && (hold_i || (cut_i && cut_turn_i == turn_ctx_q.turn));
  assign issue_last = issue_end || hold_i ||
      (turn_open_q ? turn_left_q == 7'd1 : turn_left_q == '0);
  assign turn_go    = turn_offered && turn_ready;
  assign turn_ready = !turn_valid_q || (issue && issue_last);

  always_ff @(posedge clk) begin
    if (rst) begin
      turn_valid_q <= 1'b0;
      turn_open_q  <= 1'b0;
      credit_q     <= CreditW'(TokDepth);
    end else begin
      if (turn_go) begin
        turn_valid_q <= 1'b1;
        turn_open_q  <= 1'b0;
      end else if (issue) begin
        turn_valid_q <= !issue_last;
        turn_open_q  <= 1'b1;
      end
      if (issue && !(m_tok_tvalid && m_tok_tready)) credit_q <= credit_q - 1'b1;
      else if (!issue && m_tok_tvalid && m_tok_tready) credit_q <= credit_q + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (turn_go) begin
      turn_ctx_q  <= next_ctx;
      turn_idx_q  <= next_idx;
      turn_left_q <= next_left;
      turn_more_q <= next_more;
      turn_log2_q <= next_log2;
      turn_base_q <= next_base;
    end else if (issue && turn_open_q) begin
      turn_idx_q  <= turn_idx_q + 1'b1;
      turn_left_q <= turn_left_q - 1'b1;
    end
  end

  assign slot_offset = turn_idx_q & ~({IdxW{1'b1}} << turn_log2_q);

  // ---- the request memory: three cycles from here to the token ----------------------------------
  logic              p0_valid_q;
  logic [1:0]        p0_kind_q;
  logic              p0_last_q;
  logic              p0_more_q;
  logic              p0_lap_q;
  logic [SlotW-1:0]  p0_slot_q;
  roce_pkg::sq_ctx_t p0_ctx_q;
  logic              p1_valid_q;
  logic [4:0]        p1_mark_q;
  roce_pkg::sq_ctx_t p1_ctx_q;
  logic              p2_valid_q;
  logic [4:0]        p2_mark_q;  // {kind, last, more, lap}
  roce_pkg::sq_ctx_t p2_ctx_q;
  roce_pkg::sq_req_t p2_req;
  logic [31:0]       turn_idx_bits;

  assign turn_idx_bits = 32'(turn_idx_q);

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
    p0_kind_q <= !turn_open_q ? TokCtx : issue_end ? TokEnd : TokReq;
    p0_last_q <= issue_last;
    p0_more_q <= turn_more_q;
    p0_lap_q  <= turn_idx_bits[turn_log2_q];
    p0_slot_q <= turn_base_q + slot_offset[SlotW-1:0];
    p0_ctx_q  <= turn_ctx_q;
    p1_mark_q <= {p0_kind_q, p0_last_q, p0_more_q, p0_lap_q};
    p1_ctx_q  <= p0_ctx_q;
    p2_mark_q <= p1_mark_q;
    p2_ctx_q  <= p1_ctx_q;
  end

  ram_sdp #(
    .Width(roce_pkg::SqReqW),
    .Depth(WqeSlots),
    .Latency(2),
    .Style(WqeSlots >= 4096 ? 2 : 0)
  ) u_requests (
    .clk(clk),
    .wr_en_i(wqe_we_i),
    .wr_addr_i(wqe_slot_i),
    .wr_data_i(req_i),
    .rd_en_i(1'b1),
    .rd_addr_i(p0_slot_q),
    .rd_data_o(p2_req)
  );

  logic               tok_ready;
  logic [TokW-1:0]    tok_in;
  logic [CreditW-1:0] unused_level;

  assign tok_in = {p2_mark_q[4:1], p2_req.lap == p2_mark_q[0],
      p2_mark_q[4:3] == TokCtx ? {{(roce_pkg::SqReqW - roce_pkg::SqCtxW){1'b0}}, p2_ctx_q} :
      p2_req};

  stream_fifo #(
    .Width(TokW),
    .Depth(TokDepth)
  ) u_tokens (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(p2_valid_q),
    .s_axis_tready(tok_ready),
    .s_axis_tdata(tok_in),
    .m_axis_tvalid(m_tok_tvalid),
    .m_axis_tready(m_tok_tready),
    .m_axis_tdata({m_tok_kind, m_tok_last, m_tok_more, m_tok_fresh, m_tok_payload}),
    .level_o(unused_level)
  );

  assign idle_o = turns_idle && !turn_valid_q &&
      credit_q == CreditW'(TokDepth);

  logic unused;
  assign unused = ^{slot_offset[IdxW-1:SlotW], tok_ready, unused_level};

  `ROCEGEN_ASSERT(token_never_lost, !p2_valid_q || tok_ready)

endmodule

`default_nettype wire
