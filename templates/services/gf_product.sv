// gf_product: the nine word products of two elements of GF(2^128), combinational.
//
// a_i, b_i: aes_pkg::gf_words of the elements; aes_pkg::gf_fold of p_o is their product. Sums of p_o of
// several products may be folded at once.
//
// Gates: 0 the same by a function, which simulates faster.
`default_nettype none

`ifdef VERILATOR
`define GF_PRODUCT_GATES 0
`else
`define GF_PRODUCT_GATES 1
`endif

module gf_product #(
  parameter int Gates = `GF_PRODUCT_GATES
) (
  input  logic [287:0] a_i,
  input  logic [287:0] b_i,
  output logic [566:0] p_o
);

  for (genvar i = 0; i < 9; i++) begin : gen_word
    if (Gates == 0) begin : gen_function
      assign p_o[63*i+:63] = aes_pkg::gf_clmul(a_i[32*i+:32], b_i[32*i+:32]);
    end else begin : gen_gates
      gf_clmul32 u_clmul (
        .a_i(a_i[32*i+:32]),
        .b_i(b_i[32*i+:32]),
        .p_o(p_o[63*i+:63])
      );
    end
  end

endmodule

`undef GF_PRODUCT_GATES
`default_nettype wire
