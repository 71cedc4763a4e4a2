// sync_reset: turns a reset from anywhere into a synchronous reset of `clk`.
//
// rst_o rises at once with async_rst_i, even without a running clock, and falls Stages rising edges
// after it: released synchronously, at least Stages cycles long. The one place of the stack with an
// asynchronous set; downstream logic uses rst_o as an ordinary synchronous reset.
// Constraint: false path from async_rst_i; the flip-flops are named stage_q and carry ASYNC_REG.
//
// Stages: flip-flops, 2..16.
`default_nettype none

module sync_reset #(
  parameter int Stages = 4
) (
  input  logic clk,
  input  logic async_rst_i,
  output logic rst_o
);

  if (Stages < 2 || Stages > 16) begin : gen_check_stages
    $fatal(1, "sync_reset: Stages must be 2..16");
  end

  (* ASYNC_REG = "TRUE", SHREG_EXTRACT = "NO" *) logic [Stages-1:0] stage_q;

  always_ff @(posedge clk or posedge async_rst_i) begin
    if (async_rst_i) stage_q <= '1;
    else stage_q <= {stage_q[Stages-2:0], 1'b0};
  end

  assign rst_o = stage_q[Stages-1];

endmodule

`default_nettype wire
