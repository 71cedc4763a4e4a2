// lib_widths: width_up and width_down at several ratios, for lib_widths_bench.cpp. Lane k is Narrow to
// Wide bytes as the bench lists them; every lane's ports are 128 bytes wide.
`default_nettype none

module lib_widths #(
  parameter int UserW = 9
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic [15:0]          s_valid,
  output logic [15:0]          s_ready,
  input  logic [16*1024-1:0]   s_data,
  input  logic [16*128-1:0]    s_keep,
  input  logic [15:0]          s_last,
  input  logic [16*UserW-1:0]  s_user,
  output logic [15:0]          m_valid,
  input  logic [15:0]          m_ready,
  output logic [16*1024-1:0]   m_data,
  output logic [16*128-1:0]    m_keep,
  output logic [15:0]          m_last,
  output logic [16*UserW-1:0]  m_user
);

  logic unused;
  assign unused = ^{s_data, s_keep};

  for (genvar k = 0; k < 16; k++) begin : gen_lane
    localparam int R = k % 8;
    localparam int Narrow = R == 0 ? 8 : R == 1 ? 8 : R == 2 ? 8 : R == 3 ? 8 : R == 4 ? 16 : R == 5 ? 1 : R == 6 ? 4 : 64;
    localparam int Wide = R == 0 ? 8 : R == 1 ? 16 : R == 2 ? 64 : R == 3 ? 128 : R == 4 ? 64 : R == 5 ? 3 : R == 6 ? 20 : 128;
    localparam int In = k < 8 ? Narrow : Wide;
    localparam int Out = k < 8 ? Wide : Narrow;
    if (k < 8) begin : gen_up
      width_up #(.InBytes(In), .OutBytes(Out), .UserW(UserW)) u_lane (
        .clk(clk), .rst(rst),
        .s_axis_tvalid(s_valid[k]), .s_axis_tready(s_ready[k]), .s_axis_tdata(s_data[k*1024 +: In*8]),
        .s_axis_tkeep(s_keep[k*128 +: In]), .s_axis_tlast(s_last[k]), .s_axis_tuser(s_user[k*UserW +: UserW]),
        .m_axis_tvalid(m_valid[k]), .m_axis_tready(m_ready[k]), .m_axis_tdata(m_data[k*1024 +: Out*8]),
        .m_axis_tkeep(m_keep[k*128 +: Out]), .m_axis_tlast(m_last[k]), .m_axis_tuser(m_user[k*UserW +: UserW])
      );
    end else begin : gen_down
      width_down #(.InBytes(In), .OutBytes(Out), .UserW(UserW)) u_lane (
        .clk(clk), .rst(rst),
        .s_axis_tvalid(s_valid[k]), .s_axis_tready(s_ready[k]), .s_axis_tdata(s_data[k*1024 +: In*8]),
        .s_axis_tkeep(s_keep[k*128 +: In]), .s_axis_tlast(s_last[k]), .s_axis_tuser(s_user[k*UserW +: UserW]),
        .m_axis_tvalid(m_valid[k]), .m_axis_tready(m_ready[k]), .m_axis_tdata(m_data[k*1024 +: Out*8]),
        .m_axis_tkeep(m_keep[k*128 +: Out]), .m_axis_tlast(m_last[k]), .m_axis_tuser(m_user[k*UserW +: UserW])
      );
    end
    if (Out < 128) begin : gen_rest
      assign m_data[k*1024 + 1023 : k*1024 + Out*8] = '0;
      assign m_keep[k*128 + 127 : k*128 + Out] = '0;
    end
  end

endmodule

`default_nettype wire
