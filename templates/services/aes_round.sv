// aes_round: one round of AES on one block (FIPS 197, section 5.1), combinational.
//
// SubBytes, ShiftRows, MixColumns but in the last round, AddRoundKey. Byte i of block and key (in the
// order of FIPS 197, in0 first) is in bits [8*i+:8]. Four LUT levels.
//
// Kind: 0 a round with MixColumns; 1 a last round; 2 last_i tells; 3 as 0, with skip_i the block passes
// unchanged; 4 as 1, with skip_i the block passes unchanged. Gates: 0 the same by functions, which simulate
// faster.
`default_nettype none

`ifdef VERILATOR
`define AES_ROUND_GATES 0
`else
`define AES_ROUND_GATES 1
`endif

module aes_round #(
  parameter int Kind = 0,
  parameter int Gates = `AES_ROUND_GATES
) (
  input  logic [127:0] block_i,
  input  logic [127:0] key_i,
  input  logic         last_i,
  input  logic         skip_i,
  output logic [127:0] block_o
);

  if (Kind < 0 || Kind > 4) begin : gen_check
    $fatal(1, "aes_round: Kind must be 0 to 4");
  end

  logic [127:0] shifted;  // by SubBytes and ShiftRows
  logic [127:0] mixed;  // and MixColumns
  if (Gates == 0) begin : gen_function
    for (genvar c = 0; c < 4; c++) begin : gen_column
      logic [31:0] bytes;  // row r comes from column c + r
      assign bytes = {block_i[8*((4*c+15)%16)+:8], block_i[8*((4*c+10)%16)+:8],
          block_i[8*((4*c+5)%16)+:8], block_i[32*c+:8]};
      assign shifted[32*c+:32] = Kind == 0 || Kind == 3 ? '0 : aes_pkg::column(bytes, 1'b0);
      assign mixed[32*c+:32] = Kind == 1 || Kind == 4 ? '0 : aes_pkg::column(bytes, 1'b1);
    end
  end else begin : gen_gates
    logic [127:0] sub;
    logic [127:0] twice;  // 2 * byte in GF(2^8)
    for (genvar i = 0; i < 16; i++) begin : gen_byte
      // Row r = i % 4 turns left by r columns.
      localparam int From = (i + 4 * (i % 4)) % 16;
      // The other bytes of the same column.
      localparam int B = (i / 4) * 4 + (i + 1) % 4;
      localparam int C = (i / 4) * 4 + (i + 2) % 4;
      localparam int D = (i / 4) * 4 + (i + 3) % 4;
      aes_sbox u_sbox (
        .x_i(block_i[8*i+:8]),
        .y_o(sub[8*i+:8])
      );
      assign shifted[8*i+:8] = sub[8*From+:8];
      assign twice[8*i+:8] = {shifted[8*i+:7], 1'b0} ^ {3'b000, {2{shifted[8*i+7]}}, 1'b0,
          {2{shifted[8*i+7]}}};
      // 2a + 3b + c + d
      assign mixed[8*i+:8] = twice[8*i+:8] ^ twice[8*B+:8] ^ shifted[8*B+:8] ^ shifted[8*C+:8] ^
          shifted[8*D+:8];
    end
  end

  if (Kind == 0) begin : gen_mix
    logic unused;
    assign unused = last_i ^ skip_i ^ (^shifted);
    assign block_o = mixed ^ key_i;
  end else if (Kind == 1) begin : gen_last
    logic unused;
    assign unused = last_i ^ skip_i ^ (^mixed);
    assign block_o = shifted ^ key_i;
  end else if (Kind == 2) begin : gen_either
    logic unused;
    assign unused = skip_i;
    assign block_o = (last_i ? shifted : mixed) ^ key_i;
  end else if (Kind == 3) begin : gen_mix_skip
    logic unused;
    assign unused = last_i ^ (^shifted);
    assign block_o = skip_i ? block_i : mixed ^ key_i;
  end else begin : gen_last_skip
    logic unused;
    assign unused = last_i ^ (^mixed);
    assign block_o = skip_i ? block_i : shifted ^ key_i;
  end

endmodule

`undef AES_ROUND_GATES
`default_nettype wire
