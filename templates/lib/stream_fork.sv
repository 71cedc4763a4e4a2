// stream_fork: copies a stream to N consumers; a beat is taken when all of them have taken it.
//
// Handshake: each consumer takes the beat when it likes, once; s_axis_tready rises in the cycle in
// which the last one takes it. No output's valid waits for another's ready. s_axis_tready follows
// m_axis_tready and m_axis_tvalid follows s_axis_tvalid combinationally: latency 0, one beat a
// cycle. Holds no data, one bit a consumer.
//
// N: consumers, 1..64. Width: bits of payload, >= 1.
`include "rocegen_assert.svh"
`default_nettype none

module stream_fork #(
  parameter int N = 2,
  parameter int Width = 8
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               s_axis_tvalid,
  output logic               s_axis_tready,
  input  logic [Width-1:0]   s_axis_tdata,
  output logic [N-1:0]       m_axis_tvalid,
  input  logic [N-1:0]       m_axis_tready,
  output logic [N*Width-1:0] m_axis_tdata
);

  if (N < 1 || N > 64) begin : gen_check_n
    $fatal(1, "stream_fork: N must be 1..64");
  end
  if (Width < 1) begin : gen_check_width
    $fatal(1, "stream_fork: Width must be at least 1");
  end

  logic [N-1:0] taken_q;

  assign s_axis_tready = &(taken_q | m_axis_tready);
  assign m_axis_tvalid = {N{s_axis_tvalid}} & ~taken_q;
  assign m_axis_tdata = {N{s_axis_tdata}};

  always_ff @(posedge clk) begin
    if (rst) taken_q <= '0;
    else if (s_axis_tvalid) taken_q <= s_axis_tready ? '0 : taken_q | m_axis_tready;
  end

  `ROCEGEN_STREAM(in_contract, s_axis_tvalid, s_axis_tready, s_axis_tdata)

endmodule

`default_nettype wire
