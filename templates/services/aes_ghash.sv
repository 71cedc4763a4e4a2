// aes_ghash: GHASH (SP 800-38D, section 6.4) over packets, Lanes blocks a cycle.
//
// No handshake: a beat every cycle in which valid_i is high. A packet's beats come in order, with first_i and
// last_i; beats before the last are full, a last one holds blocks_i (0..Lanes) blocks in its first lanes, and
// zero in the others. Behind the last block the hash takes the length block of 256 bits of associated
// data (which is part of the beats) and 8 * bytes_i bits of text. hash_o is the packet's hash
// 4 cycles after its last beat. first_i and last_i may come together.
//
// A beat adds its blocks, times powers of H, to the sum so far times a power; a last beat's powers are
// those that count the length block too: so the one product that waits for itself is one a cycle.
//
// pow_i: H, H^2 .. H^(Lanes+1) as polynomials, H in the lowest bits, held over the packet. Blocks and hash
// in the byte order of aes_pkg. Lanes: 1..8.
`default_nettype none

module aes_ghash #(
  parameter int Lanes = 4
) (
  input  logic                     clk,
  input  logic                     valid_i,
  input  logic                     first_i,
  input  logic                     last_i,
  input  logic [3:0]               blocks_i,
  input  logic [12:0]              bytes_i,
  input  logic [Lanes*128-1:0]     data_i,
  input  logic [Lanes*128+127:0]   pow_i,
  output logic [127:0]             hash_o
);

  if (Lanes < 1 || Lanes > 8) begin : gen_check
    $fatal(1, "aes_ghash: Lanes must be 1 to 8");
  end

  // ---- 1: each lane's block and power -----------------------------------------------------------
  logic [Lanes*128-1:0] x1_q;
  logic [Lanes*128-1:0] h1_q;
  logic [127:0]         one1_q;  // H
  logic [12:0]          bytes1_q;
  logic                 valid1_q, first1_q, last1_q;
  for (genvar j = 0; j < Lanes; j++) begin : gen_lane
    logic [127:0] power;
    if (j == 0) begin : gen_zero
      always_comb begin
        power = pow_i[128*(Lanes-1)+:128];
        if (last_i) begin
          power = pow_i[127:0];
          for (int k = 1; k <= Lanes; k++) if (blocks_i == 4'(k)) power = pow_i[128*k+:128];
        end
      end
    end else begin : gen_more
      // Lanes without a block hold zero: their power does not count.
      always_comb begin
        power = pow_i[128*(Lanes-1-j)+:128];
        if (last_i) begin
          for (int k = j + 1; k <= Lanes; k++) if (blocks_i == 4'(k)) power = pow_i[128*(k-j)+:128];
        end
      end
    end
    always_ff @(posedge clk) begin
      x1_q[128*j+:128] <= aes_pkg::flip(data_i[128*j+:128]);
      h1_q[128*j+:128] <= power;
    end
  end
  always_ff @(posedge clk) begin
    one1_q   <= pow_i[127:0];
    bytes1_q <= bytes_i;
    valid1_q <= valid_i;
    first1_q <= first_i;
    last1_q  <= last_i;
  end

  // ---- 2: word products of all lanes but lane 0, and of the length block ------------------------
  logic [566:0] sum2_d, sum2_q;
  logic [127:0] length2_q;
  logic [127:0] x2_q, h2_q;
  logic         valid2_q, first2_q;
  if (Lanes > 1) begin : gen_products
    logic [(Lanes-1)*567-1:0] product;
    for (genvar j = 1; j < Lanes; j++) begin : gen_product
      gf_product u_product (
        .a_i(aes_pkg::gf_words(x1_q[128*j+:128])),
        .b_i(aes_pkg::gf_words(h1_q[128*j+:128])),
        .p_o(product[567*(j-1)+:567])
      );
    end
    always_comb begin
      sum2_d = '0;
      for (int j = 0; j < Lanes - 1; j++) sum2_d = sum2_d ^ product[567*j+:567];
    end
  end else begin : gen_none
    assign sum2_d = '0;
  end
  // Bit 8 of the first half is coefficient 55; bit 3 + i of the second is coefficient 124 - i.
  logic [254:0] length_product;
  always_comb begin
    length_product = {72'd0, one1_q, 55'd0};
    for (int i = 0; i < 13; i++) begin
      length_product = length_product ^ ({127'd0, bytes1_q[i] ? one1_q : 128'd0} << (124 - i));
    end
  end
  always_ff @(posedge clk) begin
    sum2_q    <= sum2_d;
    length2_q <= last1_q ? aes_pkg::gf_reduce(length_product) : '0;
    x2_q      <= x1_q[127:0];
    h2_q      <= h1_q[127:0];
    valid2_q  <= valid1_q;
    first2_q  <= first1_q;
  end

  // ---- 3: their sum; the words of lane 0 --------------------------------------------------------
  logic [127:0] sum3_q;
  logic [287:0] x3_q, h3_q;
  logic         valid3_q, first3_q;
  always_ff @(posedge clk) begin
    sum3_q   <= aes_pkg::gf_fold(sum2_q) ^ length2_q;
    x3_q     <= aes_pkg::gf_words(x2_q);
    h3_q     <= aes_pkg::gf_words(h2_q);
    valid3_q <= valid2_q;
    first3_q <= first2_q;
  end

  // ---- 4: the sum so far, with lane 0 -----------------------------------------------------------
  logic [127:0] hash_q;
  logic [566:0] turn;
  gf_product u_turn (
    .a_i(aes_pkg::gf_words(first3_q ? '0 : hash_q) ^ x3_q),
    .b_i(h3_q),
    .p_o(turn)
  );
  always_ff @(posedge clk) begin
    if (valid3_q) hash_q <= aes_pkg::gf_fold(turn) ^ sum3_q;
  end
  assign hash_o = aes_pkg::flip(hash_q);

endmodule

`default_nettype wire
