// rsp_answers: the answers that queue pairs owe behind their READ responses, at most one a QP.
//
// put: an answer comes; the newest wins, but that to a duplicate (put_dup_i) does not replace a NAK
// that waits: it is forgotten. put_clear_i: the QP owes nothing any more. peek: what does the QP
// owe? Three cycles later waiting_o and answer_o say it. done: the answer of the last peek is sent;
// one that came after that peek still waits. One operation a cycle: done is never refused, peek is
// refused by done and put.
//
// QpW: bits of a QPN, 1..14.
`default_nettype none

module rsp_answers #(
  parameter int QpW = 4
) (
  input  logic                  clk,
  input  logic                  rst,
  output logic                  ready_o,
  input  logic                  put_valid_i,
  output logic                  put_ready_o,
  input  logic                  put_clear_i,
  input  logic                  put_dup_i,
  input  logic [QpW-1:0]        put_qpn_i,
  input  roce_pkg::rsp_answer_t put_i,
  input  logic                  peek_valid_i,
  output logic                  peek_ready_o,
  input  logic [QpW-1:0]        peek_qpn_i,
  input  logic                  done_valid_i,
  input  logic [QpW-1:0]        done_qpn_i,
  output logic                  waiting_o,
  output roce_pkg::rsp_answer_t answer_o,
  output logic                  cnt_rd_coalesced_o
);

  localparam int Rows = 1 << QpW;

  // ---- 0: choice, flags are read ----------------------------------------------------------------
  logic           put;
  logic           peek;
  logic [QpW-1:0] op_qpn;

  assign put_ready_o  = ready_o && !done_valid_i;
  assign peek_ready_o = put_ready_o && !put_valid_i;
  assign put          = put_ready_o && put_valid_i;
  assign peek         = peek_ready_o && peek_valid_i;
  assign op_qpn       = done_valid_i ? done_qpn_i : put_valid_i ? put_qpn_i : peek_qpn_i;

  // ---- 1: flags are changed ---------------------------------------------------------------------
  logic                  put1_q;
  logic                  clear1_q;
  logic                  dup1_q;
  logic                  peek1_q;
  logic                  done1_q;
  logic [QpW-1:0]        qpn1_q;
  roce_pkg::rsp_answer_t answer1_q;
  logic                  fwd_q;
  logic [2:0]            fwd_flags_q;
  logic [2:0]            flags_read;
  logic [2:0]            flags;  // {fresh: came after the last peek, nak, waiting}
  logic [2:0]            flags_d;
  logic                  keep;
  logic                  change1;

  assign change1 = put1_q || peek1_q || done1_q;
  assign flags   = fwd_q ? fwd_flags_q : flags_read;
  assign keep    = dup1_q && flags[1:0] == 2'b11;

  always_comb begin
    flags_d = flags;
    if (done1_q) flags_d[0] = flags[0] && flags[2];
    else if (peek1_q) flags_d[2] = 1'b0;
    else if (clear1_q) flags_d = '0;
    else if (!keep) flags_d = {1'b1, answer1_q.syndrome[6:5] != '0, 1'b1};
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      put1_q  <= 1'b0;
      peek1_q <= 1'b0;
      done1_q <= 1'b0;
    end else begin
      put1_q  <= put;
      peek1_q <= peek;
      done1_q <= done_valid_i;
    end
  end

  always_ff @(posedge clk) begin
    clear1_q    <= put_clear_i;
    dup1_q      <= put_dup_i;
    qpn1_q      <= op_qpn;
    answer1_q   <= put_i;
    fwd_q       <= change1 && qpn1_q == op_qpn;
    fwd_flags_q <= flags_d;
  end

  ram_clear #(
    .Width(3),
    .Depth(Rows)
  ) u_flags (
    .clk(clk),
    .rst(rst),
    .wr_en_i(change1),
    .wr_addr_i(qpn1_q),
    .wr_data_i(flags_d),
    .rd_en_i(1'b1),
    .rd_addr_i(op_qpn),
    .rd_data_o(flags_read),
    .ready_o(ready_o)
  );

  // ---- 2: answer is written or read -------------------------------------------------------------
  logic                            store2_q;
  logic                            waiting2_q;
  logic                            waiting3_q;
  logic [QpW-1:0]                  qpn2_q;
  roce_pkg::rsp_answer_t           answer2_q;
  logic [roce_pkg::RspAnswerW-1:0] answer_read;

  always_ff @(posedge clk) begin
    if (rst) begin
      store2_q           <= 1'b0;
      cnt_rd_coalesced_o <= 1'b0;
    end else begin
      store2_q           <= put1_q && !clear1_q && !keep;
      cnt_rd_coalesced_o <= put1_q && !clear1_q && flags[0];
    end
    waiting2_q <= flags[0];
    waiting3_q <= waiting2_q;
    qpn2_q     <= qpn1_q;
    answer2_q  <= answer1_q;
  end

  ram_sdp #(
    .Width(roce_pkg::RspAnswerW),
    .Depth(Rows)
  ) u_answers (
    .clk(clk),
    .wr_en_i(store2_q),
    .wr_addr_i(qpn2_q),
    .wr_data_i(answer2_q),
    .rd_en_i(1'b1),
    .rd_addr_i(qpn2_q),
    .rd_data_o(answer_read)
  );

  assign waiting_o = waiting3_q;
  assign answer_o  = answer_read;

endmodule

`default_nettype wire
