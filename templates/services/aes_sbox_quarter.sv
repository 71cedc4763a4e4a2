// aes_sbox_quarter: 64 entries of the S-box of AES, combinational: 8 LUT6, one level.
//
// A module of its own, so that a synthesis that keeps the hierarchy finds these LUTs.
//
// Quarter: bits 7:6 of the index, 0..3.
`default_nettype none

module aes_sbox_quarter #(
  parameter int Quarter = 0
) (
  input  logic [5:0] x_i,
  output logic [7:0] y_o
);

  if (Quarter < 0 || Quarter > 3) begin : gen_check
    $fatal(1, "aes_sbox_quarter: Quarter must be 0 to 3");
  end

  localparam logic [2047:0] SBox = aes_pkg::SBox;
  localparam logic [511:0] Part = SBox[512*Quarter+:512];

  assign y_o = Part[{x_i, 3'b000}+:8];

endmodule

`default_nettype wire
