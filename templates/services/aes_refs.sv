// aes_refs: where the PSNs of every queue pair stand, counted on beyond their 24 bits.
//
// Two spaces a queue pair: 0 the PSNs of its own requests, 1 those of its peer's. The reference of a space
// is the highest extended PSN of what this NIC sent in it: requests move space 0, responses and
// acknowledges space 1. Only what leaves moves a reference, and forward only: a stranger can have an old READ
// answered again, but the answer must not take the reference back, as what follows would be extended to
// PSNs that were used. It is enough: no packet in use is more than 2^22 in front of the highest one sent (sq_turn
// keeps requests within 2^22 packets of the oldest in use, with at most a READ of 2^22 behind them) and none
// more than 2^23 behind it (a responder takes nothing older for a duplicate, and answers nothing new before
// the duplicate). aes_pkg::older extends PSNs from 10 * 2^20 behind the reference to 6 * 2^20 in front of it, so
// both ends come to the right one, also of retransmissions and duplicates, also when a wrap lies between.
//
// s_set (a set-up) puts both references at epoch 0; packets of former lives count for nothing afterwards.
// It is taken within 32 cycles. tap_* tells the packets on their way out, one a cycle at most; what comes
// while 16 wait is not counted, which the next packet of the queue pair makes good.
//
// ref_we_o, ref_addr_o ({space, qpn}), ref_o: writes for the copies of whoever reads.
// QpCount: queue pairs, 1..16384.
`include "rocegen_assert.svh"
`default_nettype none

module aes_refs #(
  parameter int QpCount = 16
) (
  input  logic                              clk,
  input  logic                              rst,
  input  logic                              s_set_tvalid,
  output logic                              s_set_tready,
  input  logic [23:0]                       set_qpn_i,
  input  logic [23:0]                       set_sq_psn_i,
  input  logic [23:0]                       set_rq_psn_i,
  input  logic [roce_pkg::LifeW-1:0]        set_life_i,
  input  logic                              tap_valid_i,
  input  logic [23:0]                       tap_qpn_i,
  input  logic [23:0]                       tap_psn_i,
  input  logic [7:0]                        tap_opcode_i,
  input  logic [roce_pkg::LifeW-1:0]        tap_life_i,
  output logic                              ref_we_o,
  output logic [(QpCount > 1 ? $clog2(QpCount) : 1):0] ref_addr_o,
  output logic [aes_pkg::ExtW-1:0]          ref_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check
    $fatal(1, "aes_refs: QpCount must be in 1..16384");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int ExtW = aes_pkg::ExtW;
  localparam int LifeW = roce_pkg::LifeW;
  localparam int TapW = 1 + QpW + 24 + LifeW;

  // ---- packets wait while a set-up is written ---------------------------------------------------
  logic            in_range;
  logic            response;
  logic            tap_ready;
  logic            wait_valid;
  logic            wait_ready;
  logic [TapW-1:0] wait_data;
  logic [4:0]      unused_level;
  assign in_range = {8'd0, tap_qpn_i} < 32'(QpCount);
  assign response = tap_opcode_i >= roce_pkg::OpReadRespFirst && tap_opcode_i <= roce_pkg::OpAtomicAck;
  stream_fifo #(
    .Width(TapW),
    .Depth(16)
  ) u_wait (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(tap_valid_i && in_range && tap_ready),
    .s_axis_tready(tap_ready),
    .s_axis_tdata({response, tap_qpn_i[QpW-1:0], tap_psn_i, tap_life_i}),
    .m_axis_tvalid(wait_valid),
    .m_axis_tready(wait_ready),
    .m_axis_tdata(wait_data),
    .level_o(unused_level)
  );

  // ---- read, extend, write what is in front of the reference and of what is about to be written --
  logic [4:0]            settle_q;  // cycles of the set-up under way
  logic [4:1]            valid_q;
  logic [7:5]            written_q;  // the packets that were in valid_q[4]
  logic [QpW:0]          addr1_q, addr2_q, addr3_q, addr4_q, addr5_q;
  logic [23:0]           psn1_q, psn2_q, psn3_q, psn4_q, psn5_q;
  logic [LifeW-1:0]      life1_q, life2_q, life3_q, life4_q, life5_q;
  logic [4:1]            same2_q;  // the packet so many places ahead is of this space and life
  logic [4:1]            older2_q;  // this one's PSN is older
  logic [4:1]            older3_q;  // both
  logic [LifeW+ExtW-1:0] row;
  logic [ExtW-1:0]       ref3_q;
  logic [23:0]           step3_q;
  logic [ExtW-1:0]       ref4_q;
  logic                  set_write;
  logic                  set_space;
  logic                  we_d;
  logic [QpW:0]          we_addr_d;
  logic [LifeW+ExtW-1:0] we_data_d;

  assign wait_ready = settle_q == '0 && !s_set_tvalid;

  ram_sdp #(
    .Width(LifeW + ExtW),
    .Depth(2 << QpW),
    .Latency(2)
  ) u_refs (
    .clk(clk),
    .wr_en_i(we_d),
    .wr_addr_i(we_addr_d),
    .wr_data_i(we_data_d),
    .rd_en_i(wait_valid && wait_ready),
    .rd_addr_i(wait_data[TapW-1-:QpW+1]),
    .rd_data_o(row)
  );

  always_ff @(posedge clk) begin
    addr1_q <= wait_data[TapW-1-:QpW+1];
    psn1_q  <= wait_data[LifeW+:24];
    life1_q <= wait_data[LifeW-1:0];
    addr2_q <= addr1_q;
    psn2_q  <= psn1_q;
    life2_q <= life1_q;
    addr3_q <= addr2_q;
    life3_q <= life2_q;
    ref3_q  <= row[ExtW-1:0];
    step3_q <= psn2_q - row[23:0];
    addr4_q <= addr3_q;
    life4_q <= life3_q;
    ref4_q  <= ref3_q + {{(ExtW-24){aes_pkg::older(step3_q)}}, step3_q};
    psn3_q  <= psn2_q;
    psn4_q  <= psn3_q;
    psn5_q  <= psn4_q;
    addr5_q <= addr4_q;
    life5_q <= life4_q;
    // The row does not have yet what the four packets ahead write.
    same2_q <= {addr5_q == addr1_q && life5_q == life1_q, addr4_q == addr1_q && life4_q == life1_q,
        addr3_q == addr1_q && life3_q == life1_q, addr2_q == addr1_q && life2_q == life1_q};
    older2_q <= {aes_pkg::older(psn1_q - psn5_q), aes_pkg::older(psn1_q - psn4_q),
        aes_pkg::older(psn1_q - psn3_q), aes_pkg::older(psn1_q - psn2_q)};
    older3_q <= same2_q & older2_q;
    if (rst) begin
      valid_q   <= '0;
      written_q <= '0;
    end else begin
      valid_q[1] <= wait_valid && wait_ready;
      valid_q[2] <= valid_q[1];
      valid_q[3] <= valid_q[2] && row[ExtW+:LifeW] == life2_q;
      valid_q[4] <= valid_q[3] && !aes_pkg::older(step3_q) && (older3_q & {written_q, valid_q[4]}) == '0;
      written_q  <= {written_q[6:5], we_d};
    end
  end

  // A set-up waits until the pipeline is empty, and writes two rows.
  always_ff @(posedge clk) begin
    if (rst) settle_q <= '0;
    else if (s_set_tready) settle_q <= '0;
    else if (s_set_tvalid) settle_q <= settle_q + 1'b1;
  end
  assign set_write = settle_q == 5'd8 || settle_q == 5'd9;
  assign set_space = settle_q[0];
  assign s_set_tready = settle_q == 5'd9;

  assign we_d = set_write ? {8'd0, set_qpn_i} < 32'(QpCount) : valid_q[4];
  assign we_addr_d = set_write ? {set_space, set_qpn_i[QpW-1:0]} : addr4_q;
  assign we_data_d = set_write ?
      {set_life_i, {(ExtW-24){1'b0}}, set_space ? set_rq_psn_i : set_sq_psn_i} : {life4_q, ref4_q};

  logic [QpW:0]    out_addr_q;
  logic [ExtW-1:0] out_q;
  always_ff @(posedge clk) begin
    out_addr_q <= we_addr_d;
    out_q      <= we_data_d[ExtW-1:0];
  end
  assign ref_we_o = written_q[5];
  assign ref_addr_o = out_addr_q;
  assign ref_o = out_q;

endmodule

`default_nettype wire
