// lib_cdc: stream_cdc with depths 4 and 16, and the synchronisers, for lib_cdc_bench.cpp.
`default_nettype none

module lib_cdc #(
  parameter int Width = 40
) (
  input  logic             clk_s,
  input  logic             rst_s,
  input  logic             clk_m,
  input  logic             rst_m,
  input  logic [1:0]       s_valid,
  output logic [1:0]       s_ready,
  input  logic [2*Width-1:0] s_data,
  output logic [1:0]       m_valid,
  input  logic [1:0]       m_ready,
  output logic [2*Width-1:0] m_data,
  input  logic             bit_i,
  output logic             bit2_o,
  output logic             bit5_o,
  input  logic             reset_i,
  output logic             reset_o
);

  for (genvar k = 0; k < 2; k++) begin : gen_lane
    stream_cdc #(.Width(Width), .Depth(k == 0 ? 4 : 16)) u_cdc (
      .clk_s(clk_s), .rst_s(rst_s),
      .s_axis_tvalid(s_valid[k]), .s_axis_tready(s_ready[k]), .s_axis_tdata(s_data[k*Width +: Width]),
      .clk_m(clk_m), .rst_m(rst_m),
      .m_axis_tvalid(m_valid[k]), .m_axis_tready(m_ready[k]), .m_axis_tdata(m_data[k*Width +: Width])
    );
  end

  sync_bit #(.Width(1), .Stages(2)) u_bit2 (.clk(clk_m), .async_i(bit_i), .sync_o(bit2_o));
  sync_bit #(.Width(1), .Stages(5)) u_bit5 (.clk(clk_m), .async_i(bit_i), .sync_o(bit5_o));
  sync_reset #(.Stages(4)) u_reset (.clk(clk_m), .async_rst_i(reset_i), .rst_o(reset_o));

endmodule

`default_nettype wire
