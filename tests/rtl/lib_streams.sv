// lib_streams: one lane for each single-stream cell and depth, for lib_streams_bench.cpp.
`default_nettype none

module lib_streams #(
  parameter int Width = 40
) (
  input  logic               clk,
  input  logic               rst,
  input  logic [12:0]        s_valid,
  output logic [12:0]        s_ready,
  input  logic [13*Width-1:0] s_data,
  output logic [12:0]        m_valid,
  input  logic [12:0]        m_ready,
  output logic [13*Width-1:0] m_data,
  output logic [13*8-1:0]     level
);

  for (genvar k = 0; k < 13; k++) begin : gen_lane
    if (k == 0) begin : gen_skid
      stream_skid #(.Width(Width)) u_lane (
        .clk(clk), .rst(rst),
        .s_axis_tvalid(s_valid[k]), .s_axis_tready(s_ready[k]), .s_axis_tdata(s_data[k*Width +: Width]),
        .m_axis_tvalid(m_valid[k]), .m_axis_tready(m_ready[k]), .m_axis_tdata(m_data[k*Width +: Width])
      );
      assign level[k*8 +: 8] = '0;
    end else if (k == 1) begin : gen_reg
      stream_reg #(.Width(Width)) u_lane (
        .clk(clk), .rst(rst),
        .s_axis_tvalid(s_valid[k]), .s_axis_tready(s_ready[k]), .s_axis_tdata(s_data[k*Width +: Width]),
        .m_axis_tvalid(m_valid[k]), .m_axis_tready(m_ready[k]), .m_axis_tdata(m_data[k*Width +: Width])
      );
      assign level[k*8 +: 8] = '0;
    end else begin : gen_fifo
      // Depths and styles as lib_streams_bench.cpp lists them.
      localparam int Depth = k == 2 ? 2 : k == 3 ? 3 : k == 4 ? 4 : k == 5 ? 5 : k == 6 ? 16 : k == 7 ? 100 : k == 8 ? 7 :
          k == 9 ? 3 : k == 10 ? 5 : k == 11 ? 16 : 100;
      localparam int Style = k == 8 ? 2 : k == 6 || k == 11 ? 1 : 0;
      stream_fifo #(.Width(Width), .Depth(Depth), .Style(Style), .Bypass(k >= 9 ? 1 : 0)) u_lane (
        .clk(clk), .rst(rst),
        .s_axis_tvalid(s_valid[k]), .s_axis_tready(s_ready[k]), .s_axis_tdata(s_data[k*Width +: Width]),
        .m_axis_tvalid(m_valid[k]), .m_axis_tready(m_ready[k]), .m_axis_tdata(m_data[k*Width +: Width]),
        .level_o(level[k*8 +: $clog2(Depth+1)])
      );
      assign level[k*8+7 : k*8+$clog2(Depth+1)] = '0;
    end
  end

endmodule

`default_nettype wire
