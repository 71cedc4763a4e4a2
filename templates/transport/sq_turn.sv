// sq_turn: reads what is known of a QP whose turn it is and places its cursor.
//
// Takes a QP from the work list (s_qp), reads what its owners told (cursor, acknowledged position,
// head, tail, ring, MTU, READs) and offers the turn on m_turn, all of it from registers
// (LowLatency: from the registers in front of the placing, so a turn waits there): its context and
// the requests to fetch, from ring index m_turn_idx on m_turn_left of them (at most Quantum; 0 when
// the QP may not send), m_turn_more when the ring holds more. The cursor is moved to the oldest
// unacknowledged packet (and the ring's head, and the oldest unanswered READ) when a rewind was
// ordered (generation differs) or when it lags behind; the first requests may then be acknowledged
// already. Reading head and una in one cycle is safe: a head is told after the una that it follows
// from. A QP whose peer has no receive buffer (rnr) may not send.
//
// Selective: m_turn_skip says that a NAK ordered the rewind, so that sq_segment may send the lost
// packet alone and skip what it had sent of the message behind it: a peer that places such packets
// has them. cursor_wait_i, told with the cursor, says that it did; m_turn_wait that no answer has
// come since. An answer to just that packet says that the peer kept nothing (or that the next one
// is lost, too): the cursor goes back there, and the next PlainRewinds rewinds skip nothing.
//
// hold_i: no new QP is taken. idle_o: no QP is inside. Throughput: a turn every 2 cycles. Latency:
// 3 cycles (LowLatency: 2).
//
// QpW: bits of a QPN, 1..14. SlotW: bits of a slot number, 1..20. IdxW: bits of a ring index, SlotW
// + 2. WindowPkts: most packets outstanding, 1..2^22. Quantum: most requests a turn, 1..64.
// RdDepth: most READs and atomics outstanding, 1..128. Selective: 0 or 1. LowLatency: 1, without
// the last register.
`default_nettype none

module sq_turn #(
  parameter int QpW = 4,
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
  input  logic                 s_qp_tvalid,
  output logic                 s_qp_tready,
  input  logic [QpW-1:0]       s_qp_tdata,
  output logic                 m_turn_tvalid,
  input  logic                 m_turn_tready,
  output roce_pkg::sq_ctx_t    m_turn_ctx,
  output logic                 m_turn_skip,
  output logic                 m_turn_wait,
  output logic [23:0]          m_turn_una,
  output logic                 m_turn_limited,
  output logic [IdxW-1:0]      m_turn_lsn,
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
  // A READ of up to 2^22 packets may start while the window is open: together below half a circle.
  if (WindowPkts < 1 || WindowPkts > 4194304) begin : gen_check_window
    $fatal(1, "sq_turn: WindowPkts must be in 1..2^22");
  end
  if (RdDepth < 1 || RdDepth > 128) begin : gen_check_reads
    $fatal(1, "sq_turn: RdDepth must be in 1..128");
  end

  if (Selective < 0 || Selective > 1) begin : gen_check_selective
    $fatal(1, "sq_turn: Selective must be 0 or 1");
  end

  localparam int Rows = 1 << QpW;
  localparam int StaticW = roce_pkg::LifeW + 16 + SlotW;
  localparam int StateW = 41 + IdxW;
  localparam int CursorRowW = IdxW + 77;

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

  // Static: set up once.
  logic [7:0]       set_reads;
  logic [roce_pkg::LifeW-1:0] life_read;
  logic [2:0]       pmtu_read;
  logic [4:0]       log2_read;
  logic [SlotW-1:0] base_read;
  logic [7:0]       reads_read;  // READs and atomics allowed

  assign set_reads = set_i.max_rd > 8'(RdDepth) ? 8'(RdDepth) : set_i.max_rd;

  ram_sdp #(
    .Width(StaticW),
    .Depth(Rows)
  ) u_static (
    .clk(clk),
    .wr_en_i(set_valid_i),
    .wr_addr_i(set_i.qpn[QpW-1:0]),
    .wr_data_i({set_life_i, set_i.pmtu, set_i.sq_log2, set_i.sq_base[SlotW-1:0], set_reads}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o({life_read, pmtu_read, log2_read, base_read, reads_read})
  );

  logic [2:0]      state_read;
  logic [23:0]     una_read;
  logic [3:0]      gen_read;
  logic [7:0]      rdu_read;
  logic            rnr_read;
  logic            limited_read;
  logic [IdxW-1:0] lsn_read;

  ram_sdp #(
    .Width(StateW),
    .Depth(Rows)
  ) u_state (
    .clk(clk),
    .wr_en_i(state_we_i),
    .wr_addr_i(state_qpn_i),
    .wr_data_i({state_i.state, state_i.una, state_i.gen, state_i.rdu, state_i.rnr, state_i.limited,
        state_i.lsn[IdxW-1:0]}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o({state_read, una_read, gen_read, rdu_read, rnr_read, limited_read, lsn_read})
  );

  logic [IdxW-1:0] idx_read;
  logic [23:0]     psn_read;
  logic [23:0]     nxt_read;
  logic [3:0]      done_read;  // last rewind carried out
  logic [7:0]      since_read;
  logic            blocked_read;
  logic [7:0]      rd_read;
  logic [7:0]      rdnxt_read;

  ram_sdp #(
    .Width(CursorRowW),
    .Depth(Rows)
  ) u_cursor (
    .clk(clk),
    .wr_en_i(cursor_we_i),
    .wr_addr_i(cursor_qpn_i),
    .wr_data_i({cursor_i.idx[IdxW-1:0], cursor_i.psn, cursor_i.nxt, cursor_i.gen, cursor_i.since,
        cursor_i.blocked, cursor_i.rd, cursor_i.rdnxt}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o({idx_read, psn_read, nxt_read, done_read, since_read, blocked_read, rd_read,
        rdnxt_read})
  );

  logic [IdxW-1:0] head_read;
  logic [IdxW-1:0] tail_read;
  logic [7:0]      mem_read;

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

  ram_sdp #(
    .Width(8),
    .Depth(Rows)
  ) u_mem (
    .clk(clk),
    .wr_en_i(mem_we_i || set_valid_i),
    .wr_addr_i(set_valid_i ? set_i.qpn[QpW-1:0] : mem_qpn_i),
    .wr_data_i(set_valid_i ? '0 : mem_i),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(mem_read)
  );

  // ---- compare ----------------------------------------------------------------------------------
  // got_ctx_q holds what only passes through; everything is worked out for both places that the
  // cursor may have.
  roce_pkg::sq_ctx_t got_ctx_q;
  logic [23:0]       got_una_q;
  logic [7:0]        got_rdu_q;
  logic              got_limited_q;
  logic [IdxW-1:0]   got_lsn_q;
  logic [IdxW-1:0]   got_head_q;
  logic [IdxW-1:0]   got_idx_q;
  logic [4:0]        got_log2_q;
  logic [SlotW-1:0]  got_base_q;
  logic [23:0]       got_used_q;  // packets outstanding, negative: the cursor lags behind
  logic              got_rewind_q;
  logic              got_lag_q;
  logic [IdxW-1:0]   got_from_head_q;  // requests from the head on
  logic [IdxW-1:0]   got_from_idx_q;
  logic [IdxW-1:0]   lag;

  // Indices differ by at most the ring, a quarter of their circle: the sign is exact.
  assign lag = idx_read - head_read;

  always_ff @(posedge clk) begin
    if (pop) read_qpn_q <= s_qp_tdata;
    if (read_q) begin
      got_ctx_q.turn           <= '0;  // these follow from the others
      got_ctx_q.limit          <= '0;
      got_ctx_q.room           <= '0;
      got_ctx_q.run            <= (state_read == roce_pkg::QpRts ||
          state_read == roce_pkg::QpSqd) && !rnr_read;
      got_ctx_q.failed         <= state_read == roce_pkg::QpErr;
      got_ctx_q.drain          <= state_read == roce_pkg::QpSqd;
      got_ctx_q.life           <= life_read;
      got_ctx_q.qpn            <= 24'(read_qpn_q);
      got_ctx_q.pmtu           <= pmtu_read;
      got_ctx_q.rd_used        <= rd_read - rdu_read;
      got_ctx_q.rd_limit       <= reads_read;
      got_ctx_q.rd_late        <= rdu_read != mem_read;
      got_ctx_q.cursor.idx     <= '0;
      got_ctx_q.cursor.psn     <= psn_read;
      got_ctx_q.cursor.nxt     <= nxt_read;
      got_ctx_q.cursor.gen     <= gen_read;
      got_ctx_q.cursor.since   <= since_read;
      got_ctx_q.cursor.blocked <= blocked_read;
      got_ctx_q.cursor.rd      <= rd_read;
      got_ctx_q.cursor.rdnxt   <= rdnxt_read;
      got_una_q       <= una_read;
      got_rdu_q       <= rdu_read;
      got_limited_q   <= limited_read;
      got_lsn_q       <= lsn_read;
      got_head_q      <= head_read;
      got_idx_q       <= idx_read;
      got_log2_q      <= log2_read;
      got_base_q      <= base_read;
      got_used_q      <= psn_read - una_read;
      got_rewind_q    <= done_read != gen_read;
      got_lag_q       <= lag[IdxW-1];
      got_from_head_q <= tail_read - head_read;
      got_from_idx_q  <= tail_read - idx_read;
    end
  end

  // ---- place the cursor -------------------------------------------------------------------------
  localparam int PlacedW = roce_pkg::SqCtxW + 40 + 2 * IdxW + SlotW;

  logic               move;
  logic               turn_go;
  logic [3:0]         turn_q;
  logic [IdxW-1:0]    waiting;
  logic [31:0]        waiting_bits;
  logic               many;
  logic               back;  // what was skipped has to be sent
  logic               skip;
  logic               wait_on;  // no answer has come since the packet that went alone
  logic [IdxW-1:0]    idx;
  roce_pkg::sq_ctx_t  ctx;
  logic [PlacedW-1:0] placed;

  assign turn_go      = m_turn_tvalid && m_turn_tready;
  assign move         = got_rewind_q || got_lag_q || got_used_q[23] || back;
  assign idx          = move ? got_head_q : got_idx_q;
  assign waiting      = move ? got_from_head_q : got_from_idx_q;
  assign waiting_bits = 32'(waiting);
  assign many         = waiting_bits > 32'(Quantum);

  always_ff @(posedge clk) begin
    if (rst) turn_q <= '0;
    else if (got_go) turn_q <= turn_q + 1'b1;
  end

  // ---- what a peer that places packets behind a gap need not be sent again -------------------------
  if (Selective != 0) begin : gen_skip
    localparam logic [2:0] PlainRewinds = 3'd7;

    logic        nacked_read;
    logic        wait_read;
    logic [23:0] alone_read;  // PSN behind the packet that went alone
    logic [2:0]  plain_read;  // rewinds to come that skip nothing
    logic        got_nacked_q;
    logic        got_wait_q;
    logic        got_next_q;  // all that is acknowledged since is that packet
    logic        got_same_q;  // nothing is
    logic [2:0]  got_plain_q;
    logic        learn;
    logic [2:0]  plain;
    logic [23:0] apart;
    logic [23:0] carries;  // of una_read + 1 if that is alone_read

    assign apart   = una_read ^ alone_read;
    assign carries = {una_read[22:0] & apart[22:0], 1'b1};

    ram_sdp #(
      .Width(1),
      .Depth(Rows)
    ) u_nacked (
      .clk(clk),
      .wr_en_i(state_we_i),
      .wr_addr_i(state_qpn_i),
      .wr_data_i(state_nacked_i),
      .rd_en_i(1'b1),
      .rd_addr_i(s_qp_tdata),
      .rd_data_o(nacked_read)
    );

    ram_sdp #(
      .Width(1),
      .Depth(Rows)
    ) u_wait (
      .clk(clk),
      .wr_en_i(cursor_we_i),
      .wr_addr_i(cursor_qpn_i),
      .wr_data_i(cursor_wait_i),
      .rd_en_i(1'b1),
      .rd_addr_i(s_qp_tdata),
      .rd_data_o(wait_read)
    );

    assign back  = got_wait_q && got_next_q;
    assign skip  = got_rewind_q && got_nacked_q && !back && got_plain_q == '0;
    assign learn = got_go && (got_rewind_q || back);

    always_comb begin
      plain = got_plain_q;
      if (back) plain = PlainRewinds;
      else if (got_nacked_q && got_plain_q != '0) plain = got_plain_q - 1'b1;
    end

    ram_sdp #(
      .Width(27),
      .Depth(Rows)
    ) u_alone (
      .clk(clk),
      .wr_en_i(set_valid_i || learn),
      .wr_addr_i(set_valid_i ? set_i.qpn[QpW-1:0] : got_ctx_q.qpn[QpW-1:0]),
      .wr_data_i(set_valid_i ? '0 : {got_una_q + 24'd1, plain}),
      .rd_en_i(1'b1),
      .rd_addr_i(s_qp_tdata),
      .rd_data_o({alone_read, plain_read})
    );

    always_ff @(posedge clk) begin
      if (read_q) begin
        got_nacked_q <= nacked_read;
        got_wait_q   <= wait_read;
        got_next_q   <= apart == '0;
        got_same_q   <= apart == carries;
        got_plain_q  <= plain_read;
      end
    end

    assign wait_on = got_wait_q && got_same_q && !got_rewind_q;
  end else begin : gen_no_skip
    logic unused_skip;
    assign unused_skip = state_nacked_i || cursor_wait_i;
    assign back    = 1'b0;
    assign skip    = 1'b0;
    assign wait_on = 1'b0;
  end

  always_comb begin
    ctx            = got_ctx_q;
    ctx.turn       = turn_q;
    ctx.limit      = got_una_q + 24'(WindowPkts);
    ctx.room       = move ? 24'(WindowPkts) : 24'(WindowPkts) - got_used_q;
    ctx.cursor.idx = 22'(idx);
    if (move) begin
      ctx.rd_used    = '0;
      ctx.cursor.psn = got_una_q;
      ctx.cursor.rd  = got_rdu_q;
    end
  end

  assign placed = {ctx, got_una_q, got_limited_q, got_lsn_q, idx,
      !got_ctx_q.run ? 7'd0 : many ? 7'(Quantum) : waiting_bits[6:0], got_ctx_q.run && many,
      got_log2_q, got_base_q, skip, wait_on};

  if (LowLatency != 0) begin : gen_direct
    assign got_go        = turn_go;
    assign m_turn_tvalid = got_valid_q;
    assign {m_turn_ctx, m_turn_una, m_turn_limited, m_turn_lsn, m_turn_idx, m_turn_left,
        m_turn_more, m_turn_log2, m_turn_base, m_turn_skip, m_turn_wait} = placed;
    assign idle_o        = !read_q && !got_valid_q;
  end else begin : gen_placed
    logic               placed_valid_q;
    logic [PlacedW-1:0] placed_q;

    assign got_go = got_valid_q && (!placed_valid_q || turn_go);

    always_ff @(posedge clk) begin
      if (rst) placed_valid_q <= 1'b0;
      else if (got_go) placed_valid_q <= 1'b1;
      else if (turn_go) placed_valid_q <= 1'b0;
    end

    always_ff @(posedge clk) begin
      if (got_go) placed_q <= placed;
    end

    assign m_turn_tvalid = placed_valid_q;
    assign {m_turn_ctx, m_turn_una, m_turn_limited, m_turn_lsn, m_turn_idx, m_turn_left,
        m_turn_more, m_turn_log2, m_turn_base, m_turn_skip, m_turn_wait} = placed_q;
    assign idle_o        = !read_q && !got_valid_q && !placed_valid_q;
  end

  // Fields of the records that nobody needs here.
  logic unused;
  assign unused = ^{set_i, state_i, cursor_i, waiting_bits, lag, got_ctx_q.cursor.idx};

endmodule

`default_nettype wire
