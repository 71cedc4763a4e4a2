// rsp_turn: reads what is known of a QP whose turn it is.
//
// Takes a QP from the work list (s_qp), reads its set-up, cursor, tail and answer, all in the same
// cycle, and works out the turn: the answer that is due (`owed`: all entries in front of it are
// served, or it takes their place), and how many rows may be served (up to the answer that is not
// due yet, else up to the tail; at most Quantum). m_turn gives every turn (rsp_turn_t), m_rows
// those with rows to fetch: the turn's number, first entry and how many. A dead QP has nothing to
// do. An answer may stand behind entries that have not come yet: it asks for no turn, they do.
//
// hold_i: no new QP is taken. idle_o: every turn was taken from m_turn. Throughput: a turn a cycle.
// Latency: 6 cycles. Neither stream may fall more than one turn behind the other.
//
// QpW: bits of a QPN, 1..14. Quantum: rows a turn, 1..64.
`include "rocegen_assert.svh"
`default_nettype none

module rsp_turn #(
  parameter int QpW = 4,
  parameter int Quantum = 16
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  hold_i,
  output logic                  idle_o,
  input  logic                  set_valid_i,
  input  logic [QpW-1:0]        set_qpn_i,
  input  logic [2:0]            set_pmtu_i,
  input  logic [15:0]           set_pd_i,
  input  logic                  alive_we_i,
  input  logic [QpW-1:0]        alive_qpn_i,
  input  logic                  alive_i,
  input  logic                  tail_we_i,
  input  logic [QpW-1:0]        tail_qpn_i,
  input  logic [7:0]            tail_i,
  input  logic                  cursor_we_i,
  input  logic [QpW-1:0]        cursor_qpn_i,
  input  roce_pkg::rsp_cursor_t cursor_i,
  output logic                  peek_valid_o,
  input  logic                  peek_ready_i,
  output logic [QpW-1:0]        peek_qpn_o,
  input  logic                  waiting_i,
  input  roce_pkg::rsp_answer_t answer_i,
  input  logic                  s_qp_tvalid,
  output logic                  s_qp_tready,
  input  logic [QpW-1:0]        s_qp_tdata,
  output logic                  m_turn_tvalid,
  input  logic                  m_turn_tready,
  output logic [QpW-1:0]        m_turn_qpn,
  output roce_pkg::rsp_turn_t   m_turn_tdata,
  output logic                  m_rows_tvalid,
  input  logic                  m_rows_tready,
  output logic [QpW-1:0]        m_rows_qpn,
  output logic [3:0]            m_rows_turn,
  output logic [2:0]            m_rows_pmtu,
  output logic [7:0]            m_rows_idx,
  output logic [6:0]            m_rows_left
);

  if (Quantum < 1 || Quantum > 64) begin : gen_check_quantum
    $fatal(1, "rsp_turn: Quantum must be in 1..64");
  end

  localparam int Rows = 1 << QpW;
  localparam int Turns = 8;
  localparam int CreditW = $clog2(Turns + 1);

  // ---- take a QP; its tables show in cycle 2, its answer in cycle 3 -----------------------------
  logic                            pop;
  logic                            leave;
  logic [CreditW-1:0]              credit_q;
  logic [3:0]                      valid_q;
  logic [QpW-1:0]                  qpn1_q;
  logic [QpW-1:0]                  qpn2_q;
  logic [QpW-1:0]                  qpn3_q;
  logic [18:0]                     static_read;
  logic                            alive_read;
  logic [7:0]                      tail_read;
  logic [roce_pkg::RspCursorW-1:0] cursor_read;

  assign peek_valid_o = s_qp_tvalid && !hold_i && credit_q != '0;
  assign peek_qpn_o   = s_qp_tdata;
  assign pop          = peek_valid_o && peek_ready_i;
  assign s_qp_tready  = pop;
  assign leave        = m_turn_tvalid && m_turn_tready;
  assign idle_o       = credit_q == CreditW'(Turns);

  always_ff @(posedge clk) begin
    if (rst) begin
      valid_q  <= '0;
      credit_q <= CreditW'(Turns);
    end else begin
      valid_q <= {valid_q[2:0], pop};
      if (pop && !leave) credit_q <= credit_q - 1'b1;
      else if (leave && !pop) credit_q <= credit_q + 1'b1;
    end
  end

  ram_sdp #(
    .Width(19),
    .Depth(Rows),
    .Latency(2)
  ) u_static (
    .clk(clk),
    .wr_en_i(set_valid_i),
    .wr_addr_i(set_qpn_i),
    .wr_data_i({set_pmtu_i, set_pd_i}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(static_read)
  );

  // Written for every QP before rsp_emit, its owner, is ready.
  ram_sdp #(
    .Width(1),
    .Depth(Rows),
    .Latency(2)
  ) u_alive (
    .clk(clk),
    .wr_en_i(alive_we_i),
    .wr_addr_i(alive_qpn_i),
    .wr_data_i(alive_i),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(alive_read)
  );

  ram_sdp #(
    .Width(8),
    .Depth(Rows),
    .Latency(2)
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
    .Width(roce_pkg::RspCursorW),
    .Depth(Rows),
    .Latency(2)
  ) u_cursor (
    .clk(clk),
    .wr_en_i(cursor_we_i),
    .wr_addr_i(cursor_qpn_i),
    .wr_data_i(cursor_i),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(cursor_read)
  );

  // ---- 3: how far may it go? --------------------------------------------------------------------
  logic [18:0]           static3_q;
  logic                  alive3_q;
  logic [7:0]            tail3_q;
  roce_pkg::rsp_cursor_t cursor3_q;
  logic [7:0]            past_done;
  logic [7:0]            to_mark;  // modular
  logic [7:0]            to_tail;
  logic                  ahead;  // entries in front of the answer have never been served
  logic                  reached;
  logic                  here;  // all that is in front of the answer has come

  always_ff @(posedge clk) begin
    qpn1_q    <= s_qp_tdata;
    qpn2_q    <= qpn1_q;
    qpn3_q    <= qpn2_q;
    static3_q <= static_read;
    alive3_q  <= alive_read;
    tail3_q   <= tail_read;
    cursor3_q <= cursor_read;
  end

  // The mark may be ahead of the tail: requests come later than the answers behind them, since they
  // wait for the data in front of them. It is at most 128 ahead of `done` and less than 128 behind
  // it; the cursor is up to 128 behind `done` when a duplicate took it back, so that a mark ahead
  // of `done` may be as many as 256 ahead of it.
  assign past_done = answer_i.mark - cursor3_q.done;
  assign ahead     = past_done != '0 && (!past_done[7] || past_done[6:0] == '0);
  assign to_mark   = answer_i.mark - cursor3_q.cur;
  assign to_tail   = tail3_q - cursor3_q.cur;
  assign here      = !ahead || (to_mark != '0 && to_mark <= to_tail);
  assign reached   = answer_i.now ||
      (!ahead && (to_mark == '0 || (to_mark[7] && to_mark[6:0] != '0)));

  // ---- 4: the turn ------------------------------------------------------------------------------
  logic [QpW-1:0]        qpn4_q;
  logic [18:0]           static4_q;
  roce_pkg::rsp_cursor_t cursor4_q;
  logic [7:0]            left4_q;
  logic                  stop4_q;  // an answer waits that is due after this turn
  logic                  owed4_q;
  roce_pkg::rsp_answer_t answer4_q;
  logic [3:0]            turn_q;
  logic                  none;
  logic                  many;

  always_ff @(posedge clk) begin
    if (rst) turn_q <= '0;
    else if (valid_q[3]) turn_q <= turn_q + 1'b1;
  end

  always_ff @(posedge clk) begin
    qpn4_q    <= qpn3_q;
    static4_q <= static3_q;
    cursor4_q <= cursor3_q;
    answer4_q <= answer_i;
    owed4_q   <= alive3_q && waiting_i && reached;
    stop4_q   <= alive3_q && waiting_i && !reached && here;
    left4_q   <= !alive3_q || (waiting_i && answer_i.now) ? '0 :
        waiting_i && !reached && here ? to_mark : to_tail;
  end

  assign none = left4_q == '0;
  assign many = 32'(left4_q) > 32'(Quantum);

  roce_pkg::rsp_turn_t turn;
  logic                turn_ready;
  logic                rows_ready;
  logic [CreditW-1:0]  unused_turn_level;
  logic [CreditW-1:0]  unused_rows_level;

  always_comb begin
    turn.turn   = turn_q;
    turn.pmtu   = static4_q[18:16];
    turn.pd     = static4_q[15:0];
    turn.cursor = cursor4_q;
    turn.none   = none;
    turn.more   = many || stop4_q;
    turn.owed   = owed4_q;
    turn.answer = answer4_q;
  end

  stream_fifo #(
    .Width(QpW + roce_pkg::RspTurnW),
    .Depth(Turns)
  ) u_turns (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(valid_q[3]),
    .s_axis_tready(turn_ready),
    .s_axis_tdata({qpn4_q, turn}),
    .m_axis_tvalid(m_turn_tvalid),
    .m_axis_tready(m_turn_tready),
    .m_axis_tdata({m_turn_qpn, m_turn_tdata}),
    .level_o(unused_turn_level)
  );

  // One place more: a turn may have left m_turn while its rows are still here.
  stream_fifo #(
    .Width(QpW + 22),
    .Depth(Turns + 1)
  ) u_rows (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(valid_q[3] && !none),
    .s_axis_tready(rows_ready),
    .s_axis_tdata({qpn4_q, turn_q, static4_q[18:16], cursor4_q.cur,
        many ? 7'(Quantum) : left4_q[6:0]}),
    .m_axis_tvalid(m_rows_tvalid),
    .m_axis_tready(m_rows_tready),
    .m_axis_tdata({m_rows_qpn, m_rows_turn, m_rows_pmtu, m_rows_idx, m_rows_left}),
    .level_o(unused_rows_level)
  );

  logic unused;
  assign unused = ^{unused_turn_level, unused_rows_level, turn_ready, rows_ready};

  `ROCEGEN_ASSERT(turn_never_lost, !valid_q[3] || turn_ready)
  `ROCEGEN_ASSERT(rows_never_lost, !valid_q[3] || none || rows_ready)

endmodule

`default_nettype wire
