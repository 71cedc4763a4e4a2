// sq_turn: reads what is known of a QP whose turn it is and places its cursor.
//
// Takes a QP from the work list (s_qp), reads what its owners told (cursor, acknowledged position,
// head, tail, ring, MTU) and offers the turn on m_turn: its context and the requests to fetch, from
// ring index m_turn_idx on m_turn_left of them (at most Quantum; 0 when the QP may not send),
// m_turn_more when the ring holds more. The cursor is moved to the oldest unacknowledged packet
// (and the ring's head) when a rewind was ordered (generation differs) or when it lags behind;
// `skip` then says that the first requests may be acknowledged already. Reading head and una in one
// cycle is safe: a head is told after the una that it follows from.
//
// hold_i: no new QP is taken. idle_o: no QP is inside. Throughput: a turn every 2 cycles. Latency:
// 4.
//
// QpW: bits of a QPN, 1..14. SlotW: bits of a slot number, 1..20. IdxW: bits of a ring index, SlotW
// + 2. Quantum: most requests a turn, 1..64.
`default_nettype none

module sq_turn #(
  parameter int QpW = 4,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int Quantum = 8
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 hold_i,
  output logic                 idle_o,
  input  logic                 set_valid_i,
  input  roce_pkg::qp_cfg_t    set_i,
  input  logic                 state_we_i,
  input  logic [QpW-1:0]       state_qpn_i,
  input  roce_pkg::sq_state_t  state_i,
  input  logic                 cursor_we_i,
  input  logic [QpW-1:0]       cursor_qpn_i,
  input  roce_pkg::sq_cursor_t cursor_i,
  input  logic                 head_we_i,
  input  logic [QpW-1:0]       head_qpn_i,
  input  logic [IdxW-1:0]      head_i,
  input  logic                 tail_we_i,
  input  logic [QpW-1:0]       tail_qpn_i,
  input  logic [IdxW-1:0]      tail_i,
  input  logic                 s_qp_tvalid,
  output logic                 s_qp_tready,
  input  logic [QpW-1:0]       s_qp_tdata,
  output logic                 m_turn_tvalid,
  input  logic                 m_turn_tready,
  output roce_pkg::sq_ctx_t    m_turn_ctx,
  output logic [IdxW-1:0]      m_turn_idx,
  output logic [6:0]           m_turn_left,
  output logic                 m_turn_more,
  output logic [4:0]           m_turn_log2,
  output logic [SlotW-1:0]     m_turn_base
);

  if (Quantum < 1 || Quantum > 64) begin : gen_check_quantum
    $fatal(1, "sq_turn: Quantum must be in 1..64");
  end
  if (IdxW != SlotW + 2 || SlotW < 1 || SlotW > 20) begin : gen_check_index
    $fatal(1, "sq_turn: SlotW must be in 1..20 and IdxW must be SlotW + 2");
  end

  localparam int Rows = 1 << QpW;
  localparam int CursorRowW = IdxW + 62;

  // ---- take a QP, read its tables ---------------------------------------------------------------
  logic           read_q;
  logic [QpW-1:0] read_qpn_q;
  logic           got_valid_q;
  logic           got_go;
  logic           pop;

  assign s_qp_tready = !hold_i && !read_q && (!got_valid_q || got_go);
  assign pop = s_qp_tvalid && s_qp_tready;

  always_ff @(posedge clk) begin
    if (rst) begin
      read_q      <= 1'b0;
      got_valid_q <= 1'b0;
    end else begin
      read_q <= pop;
      if (read_q) got_valid_q <= 1'b1;
      else if (got_go) got_valid_q <= 1'b0;
    end
  end

  logic [8+SlotW-1:0]    static_read;
  logic [30:0]           state_read;
  logic [CursorRowW-1:0] cursor_read;
  logic [IdxW-1:0]       head_read;
  logic [IdxW-1:0]       tail_read;

  ram_sdp #(
    .Width(8 + SlotW),
    .Depth(Rows)
  ) u_static (
    .clk(clk),
    .wr_en_i(set_valid_i),
    .wr_addr_i(set_i.qpn[QpW-1:0]),
    .wr_data_i({set_i.pmtu, set_i.sq_log2, set_i.sq_base[SlotW-1:0]}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(static_read)
  );

  ram_sdp #(
    .Width(31),
    .Depth(Rows)
  ) u_state (
    .clk(clk),
    .wr_en_i(state_we_i),
    .wr_addr_i(state_qpn_i),
    .wr_data_i({state_i.state, state_i.una, state_i.gen}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(state_read)
  );

  ram_sdp #(
    .Width(CursorRowW),
    .Depth(Rows)
  ) u_cursor (
    .clk(clk),
    .wr_en_i(cursor_we_i),
    .wr_addr_i(cursor_qpn_i),
    .wr_data_i({cursor_i.idx[IdxW-1:0], cursor_i.psn, cursor_i.nxt, cursor_i.gen, cursor_i.since,
        cursor_i.blocked, cursor_i.skip}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(cursor_read)
  );

  ram_sdp #(
    .Width(IdxW),
    .Depth(Rows)
  ) u_head (
    .clk(clk),
    .wr_en_i(head_we_i),
    .wr_addr_i(head_qpn_i),
    .wr_data_i(head_i),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(head_read)
  );

  ram_sdp #(
    .Width(IdxW),
    .Depth(Rows)
  ) u_tail (
    .clk(clk),
    .wr_en_i(tail_we_i),
    .wr_addr_i(tail_qpn_i),
    .wr_data_i(tail_i),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(tail_read)
  );

  // ---- place the cursor -------------------------------------------------------------------------
  logic [QpW-1:0]       got_qpn_q;
  logic [8+SlotW-1:0]   got_ring_q;
  logic [2:0]           got_state_q;
  logic [23:0]          got_una_q;
  logic [3:0]           got_gen_q;
  logic [IdxW-1:0]      got_head_q;
  logic [IdxW-1:0]      got_tail_q;
  logic [IdxW-1:0]      got_idx_q;
  logic [23:0]          got_psn_q;
  logic [23:0]          got_nxt_q;
  logic [3:0]           got_done_q;  // last rewind carried out
  logic [7:0]           got_since_q;
  logic                 got_blocked_q;
  logic                 got_skip_q;
  logic [IdxW-1:0]      got_lag;
  logic                 got_move;

  always_ff @(posedge clk) begin
    if (pop) read_qpn_q <= s_qp_tdata;
    if (read_q) begin
      got_qpn_q  <= read_qpn_q;
      got_ring_q <= static_read;
      {got_state_q, got_una_q, got_gen_q} <= state_read;
      got_head_q <= head_read;
      got_tail_q <= tail_read;
      {got_idx_q, got_psn_q, got_nxt_q, got_done_q, got_since_q, got_blocked_q, got_skip_q} <=
          cursor_read;
    end
  end

  // Indices differ by at most the ring, a quarter of their circle: the sign is exact.
  assign got_lag  = got_idx_q - got_head_q;
  assign got_move = got_done_q != got_gen_q || got_lag[IdxW-1] ||
      roce_pkg::psn_lt(got_psn_q, got_una_q);

  logic              placed_q;  // the turn with its cursor placed
  logic              turn_go;
  roce_pkg::sq_ctx_t ctx_q;
  logic [IdxW-1:0]   ctx_idx_q;
  logic [IdxW-1:0]   ctx_tail_q;
  logic [4:0]        ctx_log2_q;
  logic [SlotW-1:0]  ctx_base_q;
  logic [3:0]        turn_q;

  assign got_go = got_valid_q && (!placed_q || turn_go);

  always_ff @(posedge clk) begin
    if (rst) begin
      placed_q <= 1'b0;
      turn_q   <= '0;
    end else begin
      if (got_go) placed_q <= 1'b1;
      else if (turn_go) placed_q <= 1'b0;
      if (got_go) turn_q <= turn_q + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (got_go) begin
      ctx_q.turn   <= turn_q;
      ctx_q.run    <= got_state_q == roce_pkg::QpRts || got_state_q == roce_pkg::QpSqd;
      ctx_q.failed <= got_state_q == roce_pkg::QpErr;
      ctx_q.drain  <= got_state_q == roce_pkg::QpSqd;
      ctx_q.qpn    <= 24'(got_qpn_q);
      ctx_q.pmtu   <= got_ring_q[SlotW+5 +: 3];
      ctx_q.una    <= got_una_q;
      ctx_q.used   <= '0;  // follows from una and psn
      ctx_q.cursor.idx     <= '0;  // ctx_idx_q
      ctx_q.cursor.psn     <= got_move ? got_una_q : got_psn_q;
      ctx_q.cursor.nxt     <= got_nxt_q;
      ctx_q.cursor.gen     <= got_gen_q;
      ctx_q.cursor.since   <= got_since_q;
      ctx_q.cursor.blocked <= got_blocked_q;
      ctx_q.cursor.skip    <= got_move || got_skip_q;
      ctx_idx_q  <= got_move ? got_head_q : got_idx_q;
      ctx_tail_q <= got_tail_q;
      ctx_log2_q <= got_ring_q[SlotW +: 5];
      ctx_base_q <= got_ring_q[SlotW-1:0];
    end
  end

  // ---- how much there is to fetch ---------------------------------------------------------------
  logic [IdxW-1:0] waiting;
  logic [31:0]     waiting_bits;
  logic            many;

  assign waiting      = ctx_tail_q - ctx_idx_q;
  assign waiting_bits = 32'(waiting);
  assign many         = waiting_bits > 32'(Quantum);

  always_comb begin
    m_turn_ctx            = ctx_q;
    m_turn_ctx.cursor.idx = 22'(ctx_idx_q);
    m_turn_ctx.used       = ctx_q.cursor.psn - ctx_q.una;
  end

  assign m_turn_tvalid = placed_q;
  assign turn_go       = placed_q && m_turn_tready;
  assign m_turn_idx    = ctx_idx_q;
  assign m_turn_left   = !ctx_q.run ? '0 : many ? 7'(Quantum) : waiting_bits[6:0];
  assign m_turn_more   = many;
  assign m_turn_log2   = ctx_log2_q;
  assign m_turn_base   = ctx_base_q;
  assign idle_o        = !read_q && !got_valid_q && !placed_q;

  logic unused;
  assign unused = ^{set_i, state_i, cursor_i, waiting_bits, ctx_q.used, ctx_q.cursor.idx};

endmodule

`default_nettype wire
