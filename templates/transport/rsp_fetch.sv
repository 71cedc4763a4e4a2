// rsp_fetch: reads the rows of a QP's turn ahead of rsp_serve.
//
// A turn on s_rows becomes its rows on m_row (rsp_row_t), in order from its first entry on, at most
// one a cycle; m_row_last marks the last one. Each row says what has to be sent of it: what
// rsp_sort asked for, else all of it. An atomic's row shows its result when that is in. cut_i:
// rsp_serve ended turn cut_turn_i early; if it is still being fetched it ends with a token that
// m_row_end marks, and so it does with hold_i.
//
// Latency: 6 cycles from s_rows to m_row.
//
// QpW: bits of a QPN, 1..14. RdDepth: rows a QP, a power of two, 1..128. RowW: bits of a row
// number, QpW + log2(RdDepth).
`include "rocegen_assert.svh"
`default_nettype none

module rsp_fetch #(
  parameter int QpW = 4,
  parameter int RdDepth = 16,
  parameter int RowW = 8
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 hold_i,
  input  logic                 cut_i,
  input  logic [3:0]           cut_turn_i,
  input  logic                 s_rows_tvalid,
  output logic                 s_rows_tready,
  input  logic [QpW-1:0]       s_rows_qpn,
  input  logic [3:0]           s_rows_turn,
  input  logic [2:0]           s_rows_pmtu,
  input  logic [7:0]           s_rows_idx,
  input  logic [6:0]           s_rows_left,
  output logic [RowW-1:0]      rd_row_o,
  input  roce_pkg::rsp_entry_t entry_i,
  input  roce_pkg::rsp_todo_t  todo_i,
  input  logic [66:0]          result_i,
  output logic                 m_row_tvalid,
  input  logic                 m_row_tready,
  output logic                 m_row_end,
  output logic                 m_row_last,
  output roce_pkg::rsp_row_t   m_row_tdata
);

  localparam int Lap = $clog2(RdDepth);
  localparam int Rows = 8;  // in the queue and on the way to it
  localparam int CreditW = $clog2(Rows + 1);

  // ---- issue: one row a cycle while the queue has room ------------------------------------------
  logic               open_q;
  logic [QpW-1:0]     qpn_q;
  logic [3:0]         turn_q;
  logic [2:0]         pmtu_q;
  logic [7:0]         idx_q;
  logic [6:0]         left_q;
  logic               only_q;  // one row is left
  logic [CreditW-1:0] credit_q;
  logic               issue;
  logic               issue_end;
  logic               issue_last;
  logic               load;
  logic               leave;

  assign issue         = open_q && credit_q != '0;
  assign issue_end     = hold_i || (cut_i && cut_turn_i == turn_q);
  assign issue_last    = issue_end || only_q;
  assign s_rows_tready = !open_q || (issue && issue_last);
  assign load          = s_rows_tvalid && s_rows_tready;
  assign leave         = m_row_tvalid && m_row_tready;

  always_ff @(posedge clk) begin
    if (rst) begin
      open_q   <= 1'b0;
      credit_q <= CreditW'(Rows);
    end else begin
      if (load) open_q <= 1'b1;
      else if (issue && issue_last) open_q <= 1'b0;
      if (issue != leave) credit_q <= leave ? credit_q + 1'b1 : credit_q - 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (load) begin
      qpn_q  <= s_rows_qpn;
      turn_q <= s_rows_turn;
      pmtu_q <= s_rows_pmtu;
      idx_q  <= s_rows_idx;
      left_q <= s_rows_left;
      only_q <= s_rows_left == 7'd1;
    end else if (issue) begin
      idx_q  <= idx_q + 1'b1;
      left_q <= left_q - 1'b1;
      only_q <= left_q == 7'd2;
    end
  end

  // ---- read: row number, two cycles of memory, then what is to be sent of the row ---------------
  logic [3:0]         valid_q;
  logic [RowW-1:0]    row_q;
  logic [6:0]         mark0_q;  // {end, last, lap, pmtu}
  logic [6:0]         mark1_q;
  logic [6:0]         mark2_q;
  logic [1:0]         mark3_q;
  logic [7:0]         laps;
  logic [7:0]         slot;
  roce_pkg::rsp_row_t row;
  roce_pkg::rsp_row_t row3_q;

  assign laps     = idx_q >> Lap;
  assign slot     = idx_q & 8'(RdDepth - 1);
  assign rd_row_o = row_q;

  always_ff @(posedge clk) begin
    if (rst) valid_q <= '0;
    else valid_q <= {valid_q[2:0], issue};
  end

  always_ff @(posedge clk) begin
    row_q   <= (RowW'(qpn_q) << Lap) | RowW'(slot);
    mark0_q <= {1'b0, issue_end, issue_last, laps[0], pmtu_q};
    mark1_q <= mark0_q;
    mark2_q <= mark1_q;
    mark3_q <= mark2_q[5:4];
    row3_q  <= row;
  end

  always_comb begin
    row.atomic = entry_i.atomic;
    row.known  = result_i[66] && result_i[65] == mark2_q[3];
    row.failed = result_i[64];
    row.again  = todo_i.again;
    row.head   = !todo_i.again || todo_i.head;
    row.base   = entry_i.psn;
    row.msn    = entry_i.msn;
    row.va     = result_i[63:0];
    row.rkey   = entry_i.rkey;
    row.first  = todo_i.again ? todo_i.first : entry_i.psn;
    row.last   = todo_i.again ? todo_i.last : entry_i.last_psn;
    row.tail   = todo_i.again ? todo_i.tail :
        roce_pkg::last_bytes(entry_i.length, mark2_q[2:0]);
    row.zero   = entry_i.length == '0;
  end

  // ---- queue ------------------------------------------------------------------------------------
  logic               queue_ready;
  logic [CreditW-1:0] unused_level;

  stream_fifo #(
    .Width(2 + roce_pkg::RspRowW),
    .Depth(Rows)
  ) u_queue (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(valid_q[3]),
    .s_axis_tready(queue_ready),
    .s_axis_tdata({mark3_q, row3_q}),
    .m_axis_tvalid(m_row_tvalid),
    .m_axis_tready(m_row_tready),
    .m_axis_tdata({m_row_end, m_row_last, m_row_tdata}),
    .level_o(unused_level)
  );

  logic unused;
  assign unused = ^{laps, slot, mark2_q[6], todo_i.used, unused_level, queue_ready};

  `ROCEGEN_ASSERT(row_never_lost, !valid_q[3] || queue_ready)

endmodule

`default_nettype wire
