// aes_hash_key: the hash key H = AES(key, 0) of GCM and its powers, one key at a time.
//
// start_i for one cycle with key_i and long_i (held until done_o): done_o for one cycle, 15 +
// 129 * (Powers - 1) cycles later at most; then pow_o holds H, H^2 .. H^Powers, as polynomials, H in the
// lowest bits, until the next start or clear_i. clear_i, while none is computed: what is left of the key, H
// and its powers becomes zero, as after reset.
//
// KeyBits: 128, 256. Powers: 1..16.
`default_nettype none

module aes_hash_key #(
  parameter int KeyBits = 256,
  parameter int Powers = 5
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  start_i,
  input  logic                  clear_i,
  input  logic [KeyBits-1:0]    key_i,
  input  logic                  long_i,
  output logic                  done_o,
  output logic [Powers*128-1:0] pow_o
);

  if (KeyBits != 128 && KeyBits != 256) begin : gen_check_key
    $fatal(1, "aes_hash_key: KeyBits must be 128 or 256");
  end
  if (Powers < 1 || Powers > 16) begin : gen_check_powers
    $fatal(1, "aes_hash_key: Powers must be 1 to 16");
  end

  typedef enum logic [1:0] {
    Idle,
    Cipher,
    Power
  } state_t;

  state_t                state_q;
  logic                  long;
  logic [3:0]            round_q;  // 1 .. 10 or 14
  logic [127:0]          block_q;
  logic [127:0]          key_q;  // of the round
  logic [127:0]          older_q;
  logic [7:0]            rcon_q;
  logic [Powers*128-1:0] pow_q;
  logic [4:0]            powers_q;
  logic [6:0]            bit_q;
  logic [127:0]          factor_q;  // H * x^bit
  logic [127:0]          sum_q;
  logic [127:0]          first_power_q;  // H
  logic                  done_q;

  assign long = KeyBits == 256 && long_i;

  // ---- one round and one key step a cycle -------------------------------------------------------
  logic [127:0] block_d;
  logic         last;
  assign last = round_q == (long ? 4'd14 : 4'd10);
  aes_round #(
    .Kind(2)
  ) u_round (
    .block_i(block_q),
    .key_i(key_q),
    .last_i(last),
    .skip_i(1'b0),
    .block_o(block_d)
  );

  // key_q is round_q's key; the step makes the next one. AES-256 rotates for even keys only.
  logic         even;
  logic [127:0] base;
  logic [31:0]  word;
  logic [31:0]  sub;
  logic [31:0]  added;
  logic [127:0] key_d;
  logic         rotated;
  logic [127:0] from;
  assign even = round_q[0];  // the next key's number is even
  // At the start the first step is from the key itself.
  assign from = state_q == Idle ? key_i[127:0] : key_q;
  assign base = long ? older_q : from;
  assign rotated = !long || even;
  assign word = rotated ? {from[103:96], from[127:104]} : from[127:96];
  for (genvar b = 0; b < 4; b++) begin : gen_sub
    aes_sbox u_sbox (
      .x_i(word[8*b+:8]),
      .y_o(sub[8*b+:8])
    );
  end
  assign added = sub ^ {24'd0, !rotated ? 8'd0 : state_q == Idle ? 8'h01 : rcon_q};
  assign key_d[31:0] = base[31:0] ^ added;
  assign key_d[63:32] = base[63:32] ^ base[31:0] ^ added;
  assign key_d[95:64] = base[95:64] ^ base[63:32] ^ base[31:0] ^ added;
  assign key_d[127:96] = base[127:96] ^ base[95:64] ^ base[63:32] ^ base[31:0] ^ added;

  logic [127:0] newest;
  logic [127:0] product;
  assign newest = pow_q[128*(Powers-1)+:128];
  assign product = sum_q ^ (newest[bit_q] ? factor_q : '0);

  always_ff @(posedge clk) begin
    done_q <= 1'b0;
    if (rst || (clear_i && state_q == Idle)) begin
      state_q  <= Idle;
      block_q  <= '0;
      key_q    <= '0;
      older_q  <= '0;
      pow_q    <= '0;
      factor_q <= '0;
      sum_q    <= '0;
    end else begin
      case (state_q)
        Idle: begin
          if (start_i) begin
            state_q <= Cipher;
            round_q <= 4'd1;
            block_q <= key_i[127:0];  // AddRoundKey of the block of zeros
            key_q   <= long ? key_i[KeyBits-1-:128] : key_d;
            older_q <= key_i[127:0];
            rcon_q  <= long ? 8'h01 : 8'h02;
          end
        end
        Cipher: begin
          round_q <= round_q + 1'b1;
          block_q <= block_d;
          key_q   <= key_d;
          older_q <= key_q;
          if (rotated) rcon_q <= {rcon_q[6:0], 1'b0} ^ (rcon_q[7] ? 8'h1B : 8'h00);
          if (last) begin
            state_q  <= Power;
            powers_q <= 5'd1;
            bit_q    <= '0;
            sum_q    <= '0;
            factor_q <= aes_pkg::flip(block_d);
            // The newest power is on top; older ones move down.
            pow_q[128*(Powers-1)+:128] <= aes_pkg::flip(block_d);
          end
        end
        default: begin
          if (powers_q == 5'(Powers)) begin
            state_q <= Idle;
            done_q  <= 1'b1;
          end else begin
            bit_q    <= bit_q + 1'b1;
            sum_q    <= product;
            factor_q <= {factor_q[126:0], 1'b0} ^ {120'd0, factor_q[127] ? 8'h87 : 8'h00};
            if (bit_q == 7'd127) begin
              powers_q <= powers_q + 1'b1;
              sum_q    <= '0;
              factor_q <= first_power_q;
              for (int i = 0; i < Powers - 1; i++) pow_q[128*i+:128] <= pow_q[128*(i+1)+:128];
              pow_q[128*(Powers-1)+:128] <= product;
            end
          end
        end
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (rst || clear_i) first_power_q <= '0;
    else if (state_q == Cipher) first_power_q <= aes_pkg::flip(block_d);
  end

  assign done_o = done_q;
  assign pow_o = pow_q;

endmodule

`default_nettype wire
