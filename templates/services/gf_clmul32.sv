// gf_clmul32: product of two polynomials over GF(2) of 32 coefficients, combinational.
//
// p_o[k] is the sum (XOR) of all a_i[i] & b_i[k-i]: three LUT levels.
`default_nettype none

module gf_clmul32 (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [62:0] p_o
);

  logic [31:0] turned;  // b_i, bit 31 first
  for (genvar i = 0; i < 32; i++) begin : gen_turn
    assign turned[i] = b_i[31-i];
  end

  // Flat sums: as a loop over shifted operands Yosys keeps a chain.
  for (genvar k = 0; k < 63; k++) begin : gen_bit
    if (k < 32) begin : gen_low
      assign p_o[k] = ^(a_i[k:0] & turned[31:31-k]);
    end else begin : gen_high
      assign p_o[k] = ^(a_i[31:k-31] & turned[62-k:0]);
    end
  end

endmodule

`default_nettype wire
