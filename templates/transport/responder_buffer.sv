// responder_buffer: the receive buffer of the SEND that a QP is within.
//
// A slot's QPN comes with valid_i (cycle 6; slots come two cycles apart or more); qpn_i holds in
// cycles 6 and 7, entry_i (the receive queue entry that it took) is of cycle 8, take_i and offset_i
// and bytes_i hold in cycles 8 and 9. Outputs belong to cycle 9:
//   upto_o   bytes of the message up to the packet's end
//   over_o   the buffer is shorter than that
//   buffer_o what the message uses: the entry taken now, or by an earlier packet of the QP
// Without an open SEND buffer_o is anything.
//
// QpCount: queue pairs, 1..16384.
`default_nettype none

module responder_buffer #(
  parameter int QpCount = 16
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               valid_i,
  input  logic [23:0]        qpn_i,
  input  logic               known_i,  // cycles 6 and 7
  input  roce_pkg::rq_slot_t entry_i,
  input  logic               take_i,
  input  logic [31:0]        offset_i,
  input  logic [13:0]        bytes_i,
  output logic [31:0]        upto_o,
  output logic               over_o,
  output roce_pkg::rq_slot_t buffer_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "responder_buffer: QpCount must be in 1..16384");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;

  logic                          v7_q;
  logic                          v8_q;
  logic                          v9_q;
  logic                          same8_q;  // buffer_q belongs to this QP
  logic                          known8_q;
  logic [23:0]                   qpn8_q;
  logic [roce_pkg::RqSlotW-1:0]  stored;
  logic [roce_pkg::RqSlotW-1:0]  buffer_q;
  logic [32:0]                   upto_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      v7_q <= 1'b0;
      v8_q <= 1'b0;
      v9_q <= 1'b0;
    end else begin
      v7_q <= valid_i;
      v8_q <= v7_q;
      v9_q <= v8_q;
    end
    if (v7_q) begin
      same8_q  <= qpn_i == qpn8_q;
      qpn8_q   <= qpn_i;
      known8_q <= known_i;
    end
    if (v8_q) buffer_q <= take_i ? entry_i : same8_q ? buffer_q : stored;
    upto_q <= {1'b0, offset_i} + {19'd0, bytes_i};
  end

  ram_sdp #(
    .Width(roce_pkg::RqSlotW),
    .Depth(QpCount),
    .Latency(2),
    .Style(0)
  ) u_buffer (
    .clk(clk),
    .wr_en_i(v9_q && take_i && known8_q),
    .wr_addr_i(qpn8_q[QpW-1:0]),
    .wr_data_i(buffer_q),
    .rd_en_i(valid_i),
    .rd_addr_i(qpn_i[QpW-1:0]),
    .rd_data_o(stored)
  );

  assign buffer_o = buffer_q;
  assign upto_o   = upto_q[31:0];
  assign over_o   = upto_q > {1'b0, buffer_o.length};

endmodule

`default_nettype wire
