// byte_rotate: rotates a beat towards byte 0 by a number of bytes, in a pipeline.
//
// data_o[j] = data_i[(j + amount_i) mod Bytes], Stages enabled cycles later; one beat a cycle. ce_i
// low freezes the pipeline. To rotate away from byte 0 by n, give Bytes - n. A logarithmic network:
// a 4:1 multiplexer (one LUT6 a bit) for each two bits of the amount, 1536 LUT6 at 64 bytes.
//
// Bytes: a power of two, 2..256. Stages: registers, 1..8, spread evenly over the network.
`default_nettype none

module byte_rotate #(
  parameter int Bytes = 64,
  parameter int Stages = 2
) (
  input  logic                     clk,
  input  logic                     ce_i,
  input  logic [Bytes*8-1:0]       data_i,
  input  logic [$clog2(Bytes)-1:0] amount_i,
  output logic [Bytes*8-1:0]       data_o
);

  if (Bytes < 2 || Bytes > 256 || (1 << $clog2(Bytes)) != Bytes) begin : gen_check_bytes
    $fatal(1, "byte_rotate: Bytes must be a power of two, 2..256");
  end
  if (Stages < 1 || Stages > 8) begin : gen_check_stages
    $fatal(1, "byte_rotate: Stages must be 1..8");
  end

  localparam int W = Bytes * 8;
  localparam int AmountW = $clog2(Bytes);
  localparam int Levels = (AmountW + 1) / 2;

  logic [Stages*W-1:0]       data_q;
  logic [Stages*AmountW-1:0] amount_q;

  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    logic [W-1:0]       in_data;
    logic [AmountW-1:0] in_amount;
    logic [W-1:0]       out_data;

    if (s == 0) begin : gen_first
      assign in_data = data_i;
      assign in_amount = amount_i;
    end else begin : gen_next
      assign in_data = data_q[(s-1)*W +: W];
      assign in_amount = amount_q[(s-1)*AmountW +: AmountW];
    end

    localparam int FirstLevel = s * Levels / Stages;
    localparam int EndLevel = (s + 1) * Levels / Stages;
    logic [(EndLevel-FirstLevel+1)*W-1:0] between;  // in front of each level and behind the last
    assign between[W-1:0] = in_data;
    assign out_data = between[(EndLevel-FirstLevel)*W+:W];

    for (genvar l = FirstLevel; l < EndLevel; l++) begin : gen_level
      localparam int LevelW = AmountW - 2 * l < 2 ? 1 : 2;

      byte_rotate_level #(
        .Bytes(Bytes),
        .Unit(1 << (2 * l)),
        .AmountW(LevelW)
      ) u_level (
        .data_i(between[(l-FirstLevel)*W+:W]),
        .amount_i(in_amount[2*l+:LevelW]),
        .data_o(between[(l-FirstLevel+1)*W+:W])
      );
    end

    always_ff @(posedge clk) begin
      if (ce_i) data_q[s*W +: W] <= out_data;
      if (ce_i) amount_q[s*AmountW +: AmountW] <= in_amount;
    end
  end

  // The bits of the amount that are used up are carried along for regularity; synthesis drops them.
  logic unused_amount;
  assign unused_amount = ^amount_q;

  assign data_o = data_q[(Stages-1)*W +: W];

endmodule

`default_nettype wire
