// lib_rams: ram_sdp and ram_clear at several depths, latencies and styles, for lib_rams_bench.cpp.
`default_nettype none

module lib_rams #(
  parameter int Width = 37
) (
  input  logic                clk,
  input  logic                rst,
  input  logic [11:0]         wr_en,
  input  logic [12*8-1:0]     wr_addr,
  input  logic [12*Width-1:0] wr_data,
  input  logic [11:0]         rd_en,
  input  logic [12*8-1:0]     rd_addr,
  output logic [12*Width-1:0] rd_data,
  output logic [11:0]         ready
);

  logic unused;
  assign unused = ^{wr_addr, rd_addr};

  // Lanes 0..7 ram_sdp, 8..11 ram_clear; depths, latencies as the bench lists them.
  for (genvar k = 0; k < 12; k++) begin : gen_lane
    localparam int Depth = k == 0 || k == 8 ? 1 : k == 1 || k == 9 ? 2 : k == 2 ? 3 : k == 3 || k == 10 ? 5 : k == 4 ? 16
                           : k == 5 || k == 11 ? 100 : k == 6 ? 200 : 17;
    localparam int Latency = 1 + k % 2;
    localparam int Style = k % 4;
    localparam int AddrW = Depth > 1 ? $clog2(Depth) : 1;
    if (k < 8) begin : gen_sdp
      ram_sdp #(.Width(Width), .Depth(Depth), .Latency(Latency), .Style(Style)) u_lane (
        .clk(clk), .wr_en_i(wr_en[k]), .wr_addr_i(wr_addr[k*8 +: AddrW]), .wr_data_i(wr_data[k*Width +: Width]),
        .rd_en_i(rd_en[k]), .rd_addr_i(rd_addr[k*8 +: AddrW]), .rd_data_o(rd_data[k*Width +: Width])
      );
      assign ready[k] = 1'b1;
    end else begin : gen_clear
      ram_clear #(.Width(Width), .Depth(Depth), .Latency(Latency), .Style(Style)) u_lane (
        .clk(clk), .rst(rst),
        .wr_en_i(wr_en[k]), .wr_addr_i(wr_addr[k*8 +: AddrW]), .wr_data_i(wr_data[k*Width +: Width]),
        .rd_en_i(rd_en[k]), .rd_addr_i(rd_addr[k*8 +: AddrW]), .rd_data_o(rd_data[k*Width +: Width]),
        .ready_o(ready[k])
      );
    end
  end

endmodule

`default_nettype wire
