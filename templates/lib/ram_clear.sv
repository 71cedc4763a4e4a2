// ram_clear: ram_sdp that writes zero to every word after reset.
//
// Clearing takes Depth cycles from the end of reset; then ready_o rises and stays. Until then
// writes are ignored and reads return undefined words. Otherwise as ram_sdp: rd_data_o `Latency`
// cycles after rd_en_i, held; a read in the cycle of a write to the same address returns the old
// word.
//
// Width: bits a word, >= 1. Depth: words, >= 1, any number. Latency: 1 or 2. Style: as ram_sdp.
// ZeroData: 1, wr_data_i is zero from reset until ready_o, so that nothing stands in its way here.
`include "rocegen_assert.svh"
`default_nettype none

module ram_clear #(
  parameter int Width = 8,
  parameter int Depth = 16,
  parameter int Latency = 1,
  parameter int Style = 0,
  parameter bit ZeroData = 1'b0
) (
  input  logic                                          clk,
  input  logic                                          rst,
  input  logic                                          wr_en_i,
  input  logic [(Depth > 1 ? $clog2(Depth) : 1) - 1:0] wr_addr_i,
  input  logic [Width-1:0]                              wr_data_i,
  input  logic                                          rd_en_i,
  input  logic [(Depth > 1 ? $clog2(Depth) : 1) - 1:0] rd_addr_i,
  output logic [Width-1:0]                              rd_data_o,
  output logic                                          ready_o
);

  localparam int AddrW = Depth > 1 ? $clog2(Depth) : 1;

  logic             ready_q;
  logic [AddrW-1:0] clear_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      ready_q <= 1'b0;
      clear_q <= '0;
    end else if (!ready_q) begin
      ready_q <= clear_q == AddrW'(Depth - 1);
      clear_q <= clear_q + 1'b1;
    end
  end

  ram_sdp #(
    .Width(Width),
    .Depth(Depth),
    .Latency(Latency),
    .Style(Style)
  ) u_ram (
    .clk(clk),
    .wr_en_i(wr_en_i || !ready_q),
    .wr_addr_i(ready_q ? wr_addr_i : clear_q),
    .wr_data_i(ready_q || ZeroData ? wr_data_i : '0),
    .rd_en_i(rd_en_i),
    .rd_addr_i(rd_addr_i),
    .rd_data_o(rd_data_o)
  );

  assign ready_o = ready_q;

  `ROCEGEN_ASSERT(zero_until_ready, !ZeroData || ready_q || wr_data_i == '0)

endmodule

`default_nettype wire
