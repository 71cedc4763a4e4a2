// delay_line: shows a vector again after a fixed number of cycles.
//
// No handshake, no enable, no reset: q_o is d_i of `Stages` cycles ago. Without a reset the stages
// map to shift-register LUTs. The caller delays valid bits by resettable registers of its own.
//
// Width: bits, >= 1. Stages: cycles, >= 0 (0 is a wire).
`default_nettype none

module delay_line #(
  parameter int Width = 8,
  parameter int Stages = 1
) (
  input  logic             clk,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);

  if (Width < 1) begin : gen_check_width
    $fatal(1, "delay_line: Width must be at least 1");
  end
  if (Stages < 0) begin : gen_check_stages
    $fatal(1, "delay_line: Stages must not be negative");
  end

  if (Stages == 0) begin : gen_wire
    logic unused_clk;
    assign unused_clk = clk;
    assign q_o = d_i;
  end else if (Stages == 1) begin : gen_one
    logic [Width-1:0] data_q;
    always_ff @(posedge clk) data_q <= d_i;
    assign q_o = data_q;
  end else begin : gen_many
    logic [Stages*Width-1:0] data_q;
    always_ff @(posedge clk) data_q <= {data_q[(Stages-1)*Width-1:0], d_i};
    assign q_o = data_q[(Stages-1)*Width+:Width];
  end

endmodule

`default_nettype wire
