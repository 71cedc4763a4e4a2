// responder_reads: how many READs and atomics of a QP are under way.
//
// done_we_i tells the number finished (modular). setup_i sets it to zero, in the first of the next
// six cycles in which done_we_i is low: one must be, and valid_i must not come before. valid_i with
// qpn_i asks; full_o is of three cycles later, for idx_i (number accepted before) and max_i, which
// hold in that cycle and the one before it: no more may be accepted.
//
// QpCount: queue pairs, 1..16384.
`include "rocegen_assert.svh"
`default_nettype none

module responder_reads #(
  parameter int QpCount = 16
) (
  input  logic        clk,
  input  logic        rst,
  input  logic        setup_i,
  input  logic        done_we_i,
  input  logic [23:0] done_qpn_i,
  input  logic [7:0]  done_i,
  input  logic        valid_i,
  // A QPN beyond the table is told apart elsewhere.
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic [23:0] qpn_i,  // of setup_i, too
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [7:0]  idx_i,
  input  logic [7:0]  max_i,
  output logic        full_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "responder_reads: QpCount must be in 1..16384");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;

  logic           waits_q;
  logic [QpW-1:0] qpn_q;
  logic [7:0]     done;
  logic [7:0]     open_q;

  always_ff @(posedge clk) begin
    if (rst) waits_q <= 1'b0;
    else waits_q <= setup_i || (waits_q && done_we_i);
    if (setup_i) qpn_q <= qpn_i[QpW-1:0];
    open_q <= idx_i - done;
  end

  ram_sdp #(
    .Width(8),
    .Depth(QpCount),
    .Latency(2),
    .Style(0)
  ) u_done (
    .clk(clk),
    .wr_en_i(done_we_i ? done_qpn_i < 24'(QpCount) : waits_q),
    .wr_addr_i(done_we_i ? done_qpn_i[QpW-1:0] : qpn_q),
    .wr_data_i(done_we_i ? done_i : '0),
    .rd_en_i(valid_i),
    .rd_addr_i(qpn_i[QpW-1:0]),
    .rd_data_o(done)
  );

  assign full_o = open_q >= max_i;

  `ROCEGEN_ASSERT(setup_done, !(valid_i && waits_q))

endmodule

`default_nettype wire
