// aes_parts: the arithmetic of AES as gates and as functions, side by side, for one bench.
`default_nettype none

module aes_parts (
  input  logic         clk,
  input  logic         rst,
  input  logic [127:0] block_i,
  input  logic [127:0] key_i,
  input  logic         last_i,
  input  logic         skip_i,
  output logic [639:0] gates_o,
  output logic [639:0] functions_o,
  output logic [7:0]   sbox_o,
  output logic [7:0]   sbox_quarters_o,
  output logic [566:0] product_gates_o,
  output logic [566:0] product_functions_o,
  output logic [127:0] product_o
);

  for (genvar k = 0; k < 5; k++) begin : gen_kind
    aes_round #(
      .Kind(k),
      .Gates(1)
    ) u_gates (
      .block_o(gates_o[128*k+:128]),
      .*
    );
    aes_round #(
      .Kind(k),
      .Gates(0)
    ) u_functions (
      .block_o(functions_o[128*k+:128]),
      .*
    );
  end
  aes_sbox #(
    .Quarters(0)
  ) u_sbox (
    .x_i(block_i[7:0]),
    .y_o(sbox_o)
  );
  aes_sbox #(
    .Quarters(1)
  ) u_quarters (
    .x_i(block_i[7:0]),
    .y_o(sbox_quarters_o)
  );
  gf_product #(
    .Gates(1)
  ) u_product_gates (
    .a_i(aes_pkg::gf_words(block_i)),
    .b_i(aes_pkg::gf_words(key_i)),
    .p_o(product_gates_o)
  );
  gf_product #(
    .Gates(0)
  ) u_product_functions (
    .a_i(aes_pkg::gf_words(block_i)),
    .b_i(aes_pkg::gf_words(key_i)),
    .p_o(product_functions_o)
  );
  assign product_o = aes_pkg::gf_fold(product_gates_o);

  logic unused;
  assign unused = clk ^ rst;

endmodule

`default_nettype wire
