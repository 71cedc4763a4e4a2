// stream_reg: register slice that cuts valid and data of a stream, but not ready.
//
// Handshake: m_axis_tvalid and m_axis_tdata come from registers; s_axis_tready follows
// m_axis_tready combinationally. Latency 1 cycle, one beat a cycle. Holds one beat.
//
// Width: bits of payload, >= 1.
`include "rocegen_assert.svh"
`default_nettype none

module stream_reg #(
  parameter int Width = 8
) (
  input  logic             clk,
  input  logic             rst,
  input  logic             s_axis_tvalid,
  output logic             s_axis_tready,
  input  logic [Width-1:0] s_axis_tdata,
  output logic             m_axis_tvalid,
  input  logic             m_axis_tready,
  output logic [Width-1:0] m_axis_tdata
);

  if (Width < 1) begin : gen_check
    $fatal(1, "stream_reg: Width must be at least 1");
  end

  logic             valid_q;
  logic [Width-1:0] data_q;

  assign s_axis_tready = m_axis_tready || !valid_q;

  always_ff @(posedge clk) begin
    if (rst) valid_q <= 1'b0;
    else if (s_axis_tready) valid_q <= s_axis_tvalid;
  end

  always_ff @(posedge clk) begin
    if (s_axis_tready) data_q <= s_axis_tdata;
  end

  assign m_axis_tvalid = valid_q;
  assign m_axis_tdata = data_q;

  `ROCEGEN_STREAM(in_contract, s_axis_tvalid, s_axis_tready, s_axis_tdata)

endmodule

`default_nettype wire
