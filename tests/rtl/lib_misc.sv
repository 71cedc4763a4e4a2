// lib_misc: stream_fork, counter_bank and byte_rotate at several sizes, for lib_misc_bench.cpp.
`default_nettype none

module lib_misc (
  input  logic           clk,
  input  logic           rst,
  input  logic [3:0]     f_valid,  // forks of 1, 2, 3, 5
  output logic [3:0]     f_ready,
  input  logic [4*16-1:0] f_data,
  output logic [10:0]    o_valid,
  input  logic [10:0]    o_ready,
  output logic [11*16-1:0] o_data,
  input  logic [1+3+8+100-1:0] pulse,  // counter banks of 1, 3, 8, 100
  input  logic [4*7-1:0] sel,
  output logic [4*32-1:0] count,
  input  logic           ce,
  input  logic [128*8-1:0] rotate_data,  // rotators of 2, 8, 16, 64, 128 bytes
  input  logic [6:0]     amount,
  output logic [5*1024-1:0] rotated
);

  for (genvar k = 0; k < 4; k++) begin : gen_fork
    localparam int N = k == 0 ? 1 : k == 1 ? 2 : k == 2 ? 3 : 5;
    localparam int Base = k == 0 ? 0 : k == 1 ? 1 : k == 2 ? 3 : 6;
    stream_fork #(.N(N), .Width(16)) u_fork (
      .clk(clk), .rst(rst),
      .s_axis_tvalid(f_valid[k]), .s_axis_tready(f_ready[k]), .s_axis_tdata(f_data[k*16 +: 16]),
      .m_axis_tvalid(o_valid[Base +: N]), .m_axis_tready(o_ready[Base +: N]),
      .m_axis_tdata(o_data[Base*16 +: N*16])
    );
  end

  logic unused;
  assign unused = ^sel;
  for (genvar k = 0; k < 4; k++) begin : gen_bank
    localparam int N = k == 0 ? 1 : k == 1 ? 3 : k == 2 ? 8 : 100;
    localparam int Base = k == 0 ? 0 : k == 1 ? 1 : k == 2 ? 4 : 12;
    counter_bank #(.N(N)) u_bank (
      .clk(clk), .rst(rst), .pulse_i(pulse[Base +: N]),
      .sel_i(sel[k*7 +: (N > 1 ? $clog2(N) : 1)]), .count_o(count[k*32 +: 32])
    );
  end

  for (genvar k = 0; k < 5; k++) begin : gen_rotate
    localparam int Bytes = k == 0 ? 2 : k == 1 ? 8 : k == 2 ? 16 : k == 3 ? 64 : 128;
    byte_rotate #(.Bytes(Bytes), .Stages(k + 1)) u_rotate (
      .clk(clk), .ce_i(ce), .data_i(rotate_data[Bytes*8-1:0]), .amount_i(amount[$clog2(Bytes)-1:0]),
      .data_o(rotated[k*1024 +: Bytes*8])
    );
    if (Bytes < 128) begin : gen_rest
      assign rotated[k*1024 + 1023 : k*1024 + Bytes*8] = '0;
    end
  end

endmodule

`default_nettype wire
