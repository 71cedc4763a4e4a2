// lib_arbs: stream_arb and record_arb with 1, 2, 3, 5 and 16 inputs, both priorities, for
// lib_arbs_bench.cpp. Input i of the arbiter whose first input is at base uses lane base + i.
`default_nettype none

module lib_arbs #(
  parameter int DataW = 32,
  parameter int UserW = 5,
  parameter int Registered = 1
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic [53:0]           s_valid,
  output logic [53:0]           s_ready,
  input  logic [54*DataW-1:0]   s_data,
  input  logic [54*DataW/8-1:0] s_keep,
  input  logic [53:0]           s_last,
  input  logic [54*UserW-1:0]   s_user,
  output logic [9:0]            m_valid,
  input  logic [9:0]            m_ready,
  output logic [10*DataW-1:0]   m_data,
  output logic [10*DataW/8-1:0] m_keep,
  output logic [9:0]            m_last,
  output logic [10*UserW-1:0]   m_user,
  input  logic [53:0]           r_valid,
  output logic [53:0]           r_ready,
  input  logic [54*DataW-1:0]   r_data,
  output logic [9:0]            o_valid,
  input  logic [9:0]            o_ready,
  output logic [10*DataW-1:0]   o_data
);

  localparam int K = DataW / 8;
  for (genvar a = 0; a < 10; a++) begin : gen_arb
    localparam int Size = a / 2;
    localparam int N = Size == 0 ? 1 : Size == 1 ? 2 : Size == 2 ? 3 : Size == 3 ? 5 : 16;
    localparam int Half = Size == 0 ? 0 : Size == 1 ? 1 : Size == 2 ? 3 : Size == 3 ? 6 : 11;
    localparam int Base = Half + 27 * (a % 2);
    stream_arb #(.N(N), .DataW(DataW), .UserW(UserW), .Priority(a % 2)) u_stream (
      .clk(clk), .rst(rst),
      .s_axis_tvalid(s_valid[Base +: N]), .s_axis_tready(s_ready[Base +: N]),
      .s_axis_tdata(s_data[Base*DataW +: N*DataW]), .s_axis_tkeep(s_keep[Base*K +: N*K]),
      .s_axis_tlast(s_last[Base +: N]), .s_axis_tuser(s_user[Base*UserW +: N*UserW]),
      .m_axis_tvalid(m_valid[a]), .m_axis_tready(m_ready[a]), .m_axis_tdata(m_data[a*DataW +: DataW]),
      .m_axis_tkeep(m_keep[a*K +: K]), .m_axis_tlast(m_last[a]), .m_axis_tuser(m_user[a*UserW +: UserW])
    );
    record_arb #(.N(N), .Width(DataW), .Priority(a % 2),
      .Registered(Registered)) u_record (
      .clk(clk), .rst(rst),
      .s_axis_tvalid(r_valid[Base +: N]), .s_axis_tready(r_ready[Base +: N]),
      .s_axis_tdata(r_data[Base*DataW +: N*DataW]),
      .m_axis_tvalid(o_valid[a]), .m_axis_tready(o_ready[a]), .m_axis_tdata(o_data[a*DataW +: DataW])
    );
  end

endmodule

`default_nettype wire
