// ram_sdp: RAM with one write port and one read port on one clock, inferred by Vivado and Yosys.
//
// rd_data_o shows the word at rd_addr_i `Latency` cycles after rd_en_i and holds it until the next
// read arrives there. A read in the cycle of a write to the same address returns the old word.
// Contents are undefined until written; addresses of Depth or more are the caller's fault.
//
// Width: bits a word, >= 1. Depth: words, >= 1, any number. Latency: 1, or 2 (adds the RAM's output
// register). Style: 1 block RAM, 2 UltraRAM, 3 distributed, 0 by size: distributed when up to
// 1024 words would fill little more than half of an 18 Kb block RAM, UltraRAM when one of its
// columns is well used (4096 words or more of 40 bits or more, Latency 2), else the tool chooses.
// Of up to 512 words the last few bits, for which a block RAM more would be needed (it is 36 bits
// wide), are in LUTs, with style 0 and 1.
`default_nettype none

module ram_sdp #(
  parameter int Width = 8,
  parameter int Depth = 16,
  parameter int Latency = 1,
  parameter int Style = 0
) (
  input  logic                                          clk,
  input  logic                                          wr_en_i,
  input  logic [(Depth > 1 ? $clog2(Depth) : 1) - 1:0] wr_addr_i,
  input  logic [Width-1:0]                              wr_data_i,
  input  logic                                          rd_en_i,
  input  logic [(Depth > 1 ? $clog2(Depth) : 1) - 1:0] rd_addr_i,
  output logic [Width-1:0]                              rd_data_o
);

  if (Width < 1) begin : gen_check_width
    $fatal(1, "ram_sdp: Width must be at least 1");
  end
  if (Depth < 1) begin : gen_check_depth
    $fatal(1, "ram_sdp: Depth must be at least 1");
  end
  if (Latency < 1 || Latency > 2) begin : gen_check_latency
    $fatal(1, "ram_sdp: Latency must be 1 or 2");
  end
  if (Style < 0 || Style > 3) begin : gen_check_style
    $fatal(1, "ram_sdp: Style must be 0, 1, 2 or 3");
  end

  localparam bit Small = Depth <= 1024 && Depth * Width <= 10240;
  localparam bit Large = Depth >= 4096 && Width >= 40 && Latency == 2;
  localparam int Rest  = Width > 36 && Depth <= 512 ? Width % 36 : 0;
  localparam int Kind  = Style != 0 ? Style : Small ? 3 : Large ? 2 : 0;

  logic [Width-1:0] rd_q;

  // An attribute takes no parameter: one copy a style.
  if (Depth == 1) begin : gen_word
    logic [Width-1:0] word_q;
    logic             unused_addr;
    assign unused_addr = ^{wr_addr_i, rd_addr_i};
    always_ff @(posedge clk) begin
      if (wr_en_i) word_q <= wr_data_i;
      if (rd_en_i) rd_q <= word_q;
    end
  end else if (Kind <= 1 && Rest > 0 && Rest <= 9) begin : gen_split
    (* ram_style = "block" *)       logic [Width-Rest-1:0] mem[Depth];
    (* ram_style = "distributed" *) logic [Rest-1:0]       rest[Depth];
    always_ff @(posedge clk) begin
      if (wr_en_i) begin
        mem[wr_addr_i]  <= wr_data_i[Width-Rest-1:0];
        rest[wr_addr_i] <= wr_data_i[Width-1:Width-Rest];
      end
      if (rd_en_i) rd_q <= {rest[rd_addr_i], mem[rd_addr_i]};
    end
  end else if (Kind == 1) begin : gen_block
    (* ram_style = "block" *) logic [Width-1:0] mem[Depth];
    always_ff @(posedge clk) begin
      if (wr_en_i) mem[wr_addr_i] <= wr_data_i;
      if (rd_en_i) rd_q <= mem[rd_addr_i];
    end
  end else if (Kind == 2) begin : gen_ultra
    (* ram_style = "ultra" *) logic [Width-1:0] mem[Depth];
    always_ff @(posedge clk) begin
      if (wr_en_i) mem[wr_addr_i] <= wr_data_i;
      if (rd_en_i) rd_q <= mem[rd_addr_i];
    end
  end else if (Kind == 3) begin : gen_distributed
    (* ram_style = "distributed" *) logic [Width-1:0] mem[Depth];
    always_ff @(posedge clk) begin
      if (wr_en_i) mem[wr_addr_i] <= wr_data_i;
      if (rd_en_i) rd_q <= mem[rd_addr_i];
    end
  end else begin : gen_auto
    logic [Width-1:0] mem[Depth];
    always_ff @(posedge clk) begin
      if (wr_en_i) mem[wr_addr_i] <= wr_data_i;
      if (rd_en_i) rd_q <= mem[rd_addr_i];
    end
  end

  if (Latency == 2) begin : gen_out
    logic             en_q;
    logic [Width-1:0] out_q;
    always_ff @(posedge clk) begin
      en_q <= rd_en_i;
      if (en_q) out_q <= rd_q;
    end
    assign rd_data_o = out_q;
  end else begin : gen_no_out
    assign rd_data_o = rd_q;
  end

endmodule

`default_nettype wire
