// stream_skid: register slice that cuts valid, data and ready of a stream.
//
// Handshake: s_axis_tready, m_axis_tvalid and m_axis_tdata come straight from registers.
// Latency 1 cycle, one beat a cycle. Holds two beats; when both are taken, s_axis_tready falls.
// s_axis_tready is low in reset and in the first cycle after it.
//
// Width: bits of payload, >= 1.
`include "rocegen_assert.svh"
`default_nettype none

module stream_skid #(
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
    $fatal(1, "stream_skid: Width must be at least 1");
  end

  logic             ready_q;
  logic             valid_q;
  logic [Width-1:0] data_q;
  logic [Width-1:0] skid_q;

  // The skid register holds a beat exactly when the output does and the input is closed.
  logic skid_full;
  logic advance;
  assign skid_full = valid_q && !ready_q;
  assign advance = m_axis_tready || !valid_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      ready_q <= 1'b0;
      valid_q <= 1'b0;
    end else if (advance) begin
      ready_q <= 1'b1;
      valid_q <= skid_full || (s_axis_tvalid && ready_q);
    end else if (s_axis_tvalid) begin
      ready_q <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (ready_q) skid_q <= s_axis_tdata;
    if (advance) data_q <= skid_full ? skid_q : s_axis_tdata;
  end

  assign s_axis_tready = ready_q;
  assign m_axis_tvalid = valid_q;
  assign m_axis_tdata = data_q;

  `ROCEGEN_STREAM(in_contract, s_axis_tvalid, s_axis_tready, s_axis_tdata)

endmodule

`default_nettype wire
