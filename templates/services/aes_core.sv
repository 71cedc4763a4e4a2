// aes_core: AES encryption of Lanes blocks a cycle under one key, which may be another one every cycle.
//
// No handshake, no enable, no reset: cipher_o belongs to block_i, key_i and long_i of Latency cycles ago,
// Latency = 1 + ceil(rounds / RoundsPerStage), rounds = 10 or 14 for KeyBits 128 or 256. The key is
// expanded on the way, a step a round beside the lanes and one stage ahead of them. Byte i of a block
// or key is in bits [8*i+:8]; lane j is in block_i[128*j+:128].
//
// Lanes: 1..16. KeyBits: 128; 256, then long_i 0 means AES-128 with key_i[127:0], in the same latency.
// RoundsPerStage: rounds between registers, 1..14; each is four LUT levels.
`default_nettype none

module aes_core #(
  parameter int Lanes = 4,
  parameter int KeyBits = 256,
  parameter int RoundsPerStage = 2
) (
  input  logic                 clk,
  input  logic [KeyBits-1:0]   key_i,
  input  logic                 long_i,
  input  logic [Lanes*128-1:0] block_i,
  output logic [Lanes*128-1:0] cipher_o
);

  if (Lanes < 1 || Lanes > 16) begin : gen_check_lanes
    $fatal(1, "aes_core: Lanes must be 1 to 16");
  end
  if (KeyBits != 128 && KeyBits != 256) begin : gen_check_key
    $fatal(1, "aes_core: KeyBits must be 128 or 256");
  end
  if (RoundsPerStage < 1 || RoundsPerStage > 14) begin : gen_check_stage
    $fatal(1, "aes_core: RoundsPerStage must be 1 to 14");
  end

  localparam int Rounds = KeyBits == 256 ? 14 : 10;
  localparam bit Both = KeyBits == 256;

  // Round constant of key words 4 * r (FIPS 197, section 5.2): x^(r-1) in GF(2^8).
  function automatic logic [7:0] rcon(input int r);
    rcon = 8'h01;
    for (int i = 1; i < r; i++) rcon = {rcon[6:0], 1'b0} ^ (rcon[7] ? 8'h1B : 8'h00);
  endfunction

  logic [127:0]         first_key;  // of round 0: the key itself
  logic [Lanes*128-1:0] first_q;
  assign first_key = key_i[127:0];
  always_ff @(posedge clk) first_q <= block_i ^ {Lanes{first_key}};

  for (genvar r = 1; r <= Rounds; r++) begin : gen_round
    localparam bit Ends = r % RoundsPerStage == 0;  // a register stands behind the round
    localparam bit LongOnly = r > 10;  // AES-128 has no such round
    localparam bit Even = r % 2 == 0;

    // ---- the key of this round, made in the cycle before the round's ----------------------------
    logic [127:0] key;  // of the round before
    logic [127:0] older;  // of the one before that
    logic         long;
    if (r == 1) begin : gen_first_key
      assign key = first_key;
      assign older = '0;
      assign long = long_i;
    end else begin : gen_next_key
      assign key = gen_round[r-1].key_on;
      assign older = gen_round[r-1].older_on;
      assign long = gen_round[r-1].long_on;
    end

    // AES-256 goes on from the key before the last, every second time without rotation and constant.
    logic         from_older;
    logic [127:0] base;
    logic [31:0]  word;
    logic [31:0]  sub;
    logic [31:0]  added;
    logic [127:0] made;
    logic [127:0] round_key_d;
    assign from_older = Both && r != 1 && (LongOnly || long);
    assign base = from_older ? older : key;
    assign word = from_older && !Even ? key[127:96] : {key[103:96], key[127:104]};
    for (genvar b = 0; b < 4; b++) begin : gen_sub
      aes_sbox u_sbox (
        .x_i(word[8*b+:8]),
        .y_o(sub[8*b+:8])
      );
    end
    assign added = sub ^ {24'd0, !from_older ? rcon(r) : Even ? rcon(r / 2) : 8'd0};
    assign made[31:0] = base[31:0] ^ added;
    assign made[63:32] = base[63:32] ^ base[31:0] ^ added;
    assign made[95:64] = base[95:64] ^ base[63:32] ^ base[31:0] ^ added;
    assign made[127:96] = base[127:96] ^ base[95:64] ^ base[63:32] ^ base[31:0] ^ added;
    // The first step of AES-256 makes nothing: its second key is given.
    assign round_key_d = Both && r == 1 && long ? key_i[KeyBits-1-:128] : made;

    logic [127:0] round_key_q;
    logic         round_long_q;
    always_ff @(posedge clk) begin
      round_key_q  <= round_key_d;
      round_long_q <= long;
    end

    // What the next step goes on from: within a stage the wires, behind it the registers.
    logic [127:0] key_on;
    logic [127:0] older_on;
    logic         long_on;
    if (Ends) begin : gen_key_register
      logic [127:0] older_q;
      always_ff @(posedge clk) older_q <= key;
      assign key_on = round_key_q;
      assign older_on = older_q;
      assign long_on = round_long_q;
    end else begin : gen_key_wire
      assign key_on = round_key_d;
      assign older_on = key;
      assign long_on = long;
    end

    // ---- the lanes ------------------------------------------------------------------------------
    localparam int Kind = !Both ? (r == 10 ? 1 : 0) : r < 10 ? 0 : r == 10 ? 2 : r < 14 ? 3 : 4;
    logic [Lanes*128-1:0] state;
    logic [Lanes*128-1:0] done;
    logic [Lanes*128-1:0] state_on;
    if (r == 1) begin : gen_first_state
      assign state = first_q;
    end else begin : gen_next_state
      assign state = gen_round[r-1].state_on;
    end
    for (genvar j = 0; j < Lanes; j++) begin : gen_lane
      aes_round #(
        .Kind(Kind)
      ) u_round (
        .block_i(state[128*j+:128]),
        .key_i(round_key_q),
        .last_i(!round_long_q),
        .skip_i(!round_long_q),
        .block_o(done[128*j+:128])
      );
    end
    if (Ends || r == Rounds) begin : gen_state_register
      logic [Lanes*128-1:0] state_q;
      always_ff @(posedge clk) state_q <= done;
      assign state_on = state_q;
    end else begin : gen_state_wire
      assign state_on = done;
    end
    if (r == Rounds) begin : gen_end
      logic unused;
      assign unused = ^{key_on, older_on, long_on};
    end
  end

  assign cipher_o = gen_round[Rounds].state_on;

endmodule

`default_nettype wire
