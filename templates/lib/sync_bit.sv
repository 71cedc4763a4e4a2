// sync_bit: brings slow or Gray-coded bits from another clock domain into `clk`.
//
// Every bit passes Stages flip-flops on its own: a vector must change in at most one bit at a time
// (Gray code), and its source must be a register. Latency Stages cycles, and up to one more by
// chance.
// Constraint: false path or a maximum delay to the flip-flops named first_q; all carry ASYNC_REG.
//
// Width: bits, >= 1. Stages: flip-flops, 2..8.
`default_nettype none

module sync_bit #(
  parameter int Width = 1,
  parameter int Stages = 2
) (
  input  logic             clk,
  input  logic [Width-1:0] async_i,
  output logic [Width-1:0] sync_o
);

  if (Width < 1) begin : gen_check_width
    $fatal(1, "sync_bit: Width must be at least 1");
  end
  if (Stages < 2 || Stages > 8) begin : gen_check_stages
    $fatal(1, "sync_bit: Stages must be 2..8");
  end

  (* ASYNC_REG = "TRUE", SHREG_EXTRACT = "NO" *) logic [Width-1:0] first_q;
  (* ASYNC_REG = "TRUE", SHREG_EXTRACT = "NO" *) logic [(Stages-1)*Width-1:0] rest_q;

  if (Stages == 2) begin : gen_two
    always_ff @(posedge clk) begin
      first_q <= async_i;
      rest_q  <= first_q;
    end
  end else begin : gen_more
    always_ff @(posedge clk) begin
      first_q <= async_i;
      rest_q  <= {rest_q[(Stages-2)*Width-1:0], first_q};
    end
  end

  assign sync_o = rest_q[(Stages-2)*Width +: Width];

endmodule

`default_nettype wire
