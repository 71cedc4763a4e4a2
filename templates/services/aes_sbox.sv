// aes_sbox: the S-box of AES (FIPS 197, section 5.1.1), combinational.
//
// y_o = S(x_i). In synthesis four quarters of 64 entries, each 8 LUT6 by itself, and a 4:1 multiplexer:
// 40 LUT6 in two levels. (Yosys 0.23 for UltraScale+: 50 when the table is one `case`, 58 in five levels
// for the 128 gates of Boyar and Peralta.)
//
// Quarters: 1 as said; 0 one look-up, which simulates faster.
`default_nettype none

`ifdef VERILATOR
`define AES_SBOX_QUARTERS 0
`else
`define AES_SBOX_QUARTERS 1
`endif

module aes_sbox #(
  parameter int Quarters = `AES_SBOX_QUARTERS
) (
  input  logic [7:0] x_i,
  output logic [7:0] y_o
);

  if (Quarters != 0) begin : gen_quarters
    logic [31:0] part;
    for (genvar q = 0; q < 4; q++) begin : gen_quarter
      aes_sbox_quarter #(
        .Quarter(q)
      ) u_quarter (
        .x_i(x_i[5:0]),
        .y_o(part[8*q+:8])
      );
    end
    assign y_o = x_i[7] ? (x_i[6] ? part[31:24] : part[23:16]) : x_i[6] ? part[15:8] : part[7:0];
  end else begin : gen_table
    assign y_o = aes_pkg::SBox[{x_i, 3'b000}+:8];
  end

endmodule

`undef AES_SBOX_QUARTERS
`default_nettype wire
