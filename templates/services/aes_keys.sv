// aes_keys: for one direction, which key a packet has, and its extended PSN.
//
// A look-up (look_i with the packet's queue pair, PSN and space) may come every cycle; its answer, of the
// extended PSN what the nonce has, stands at the outputs aes_pkg::LookupLatency cycles later and stays until the next one. Of the two slots of a queue
// pair the newer is in force from its first PSN of that space on, for 2^38 packets; before it the older one,
// until 2^20 packets after the change have been sent. ok_o 0: none is.
//
// Writes (ref_*, slot_*, key_*) come from aes_refs and aes_control: a slot is invalid from 16 cycles before its
// key is written until behind it. slot_i: {valid, turn, first PSN of space 1, of space 0}; the newer slot is
// turn of slot 0 XOR turn of slot 1. After reset all slots become invalid and all keys zero (ready_o).
//
// QpCount: queue pairs, 1..16384. KeyBits: 128, 256. PowW: bits of the powers of H, 1 without.
`default_nettype none

module aes_keys #(
  parameter int QpCount = 16,
  parameter int KeyBits = 256,
  parameter int PowW = 640
) (
  input  logic                              clk,
  input  logic                              rst,
  output logic                              ready_o,
  input  logic                              look_i,
  input  logic [23:0]                       look_qpn_i,
  input  logic [23:0]                       look_psn_i,
  input  logic                              look_space_i,
  output logic                              ok_o,
  output logic [aes_pkg::NonceW-1:0]        ext_o,
  output logic                              long_o,
  output logic [31:0]                       salt_o,
  output logic [23:0]                       dst_o,
  output logic [KeyBits-1:0]                key_o,
  output logic [PowW-1:0]                   pow_o,
  input  logic                              ref_we_i,
  input  logic [(QpCount > 1 ? $clog2(QpCount) : 1):0] ref_addr_i,
  input  logic [aes_pkg::ExtW-1:0]          ref_i,
  input  logic [1:0]                        slot_we_i,
  input  logic [(QpCount > 1 ? $clog2(QpCount) : 1)-1:0] slot_qpn_i,
  input  logic [2*aes_pkg::ExtW+1:0]        slot_i,
  input  logic                              key_we_i,
  input  logic                              key_slot_i,
  input  logic [(QpCount > 1 ? $clog2(QpCount) : 1)-1:0] key_qpn_i,
  input  logic [PowW+KeyBits+56:0]          key_i
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp
    $fatal(1, "aes_keys: QpCount must be in 1..16384");
  end
  if (KeyBits != 128 && KeyBits != 256) begin : gen_check_key
    $fatal(1, "aes_keys: KeyBits must be 128 or 256");
  end
  if (PowW < 1) begin : gen_check_pow
    $fatal(1, "aes_keys: PowW must be at least 1");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int ExtW = aes_pkg::ExtW;
  localparam int SlotW = 2 * ExtW + 2;
  localparam int KeyW = PowW + KeyBits + 57;

  // ---- 0..2: reference and slots ----------------------------------------------------------------
  logic [ExtW-1:0]    reference;
  logic [2*SlotW-1:0] slot;
  logic [2:0]         cleared;
  ram_sdp #(
    .Width(ExtW),
    .Depth(2 << QpW),
    .Latency(2)
  ) u_refs (
    .clk(clk),
    .wr_en_i(ref_we_i),
    .wr_addr_i(ref_addr_i),
    .wr_data_i(ref_i),
    .rd_en_i(look_i),
    .rd_addr_i({look_space_i, look_qpn_i[QpW-1:0]}),
    .rd_data_o(reference)
  );
  for (genvar s = 0; s < 2; s++) begin : gen_slot
    ram_clear #(
      .Width(SlotW),
      .Depth(1 << QpW),
      .Latency(2)
    ) u_slots (
      .clk(clk),
      .rst(rst),
      .wr_en_i(slot_we_i[s]),
      .wr_addr_i(slot_qpn_i),
      .wr_data_i(slot_i),
      .rd_en_i(look_i),
      .rd_addr_i(look_qpn_i[QpW-1:0]),
      .rd_data_o(slot[SlotW*s+:SlotW]),
      .ready_o(cleared[s])
    );
  end

  logic [5:1]     look_q;
  logic [QpW-1:0] qpn1_q, qpn2_q, qpn3_q, qpn4_q, qpn5_q;
  logic [23:0]    psn1_q, psn2_q;
  logic           space1_q, space2_q;
  logic           known1_q, known2_q;
  always_ff @(posedge clk) begin
    if (rst) look_q <= '0;
    else look_q <= {look_q[4:1], look_i};
    qpn1_q   <= look_qpn_i[QpW-1:0];
    psn1_q   <= look_psn_i;
    space1_q <= look_space_i;
    known1_q <= {8'd0, look_qpn_i} < 32'(QpCount);
    qpn2_q   <= qpn1_q;
    psn2_q   <= psn1_q;
    space2_q <= space1_q;
    known2_q <= known1_q;
  end

  // ---- 3: distance from the reference; 4: extended PSN ------------------------------------------
  logic            newer;
  logic [SlotW-1:0] new_slot, old_slot;
  assign newer = slot[ExtW*2] ^ slot[SlotW+ExtW*2];
  assign new_slot = newer ? slot[2*SlotW-1:SlotW] : slot[SlotW-1:0];
  assign old_slot = newer ? slot[SlotW-1:0] : slot[2*SlotW-1:SlotW];

  logic [23:0]     step3_q;
  logic [ExtW-1:0] ref3_q;
  logic [ExtW-1:0] new3_q, old3_q;  // first PSNs
  logic            newer3_q, new_valid3_q, old_valid3_q;
  logic [ExtW-1:0] ext4_q, new4_q, old4_q;
  logic            newer4_q, new_valid4_q, old_valid4_q;
  logic [ExtW-1:0] age3;
  assign age3 = ref3_q - new3_q;
  always_ff @(posedge clk) begin
    qpn3_q       <= qpn2_q;
    step3_q      <= psn2_q - reference[23:0];
    ref3_q       <= reference;
    new3_q       <= space2_q ? new_slot[ExtW+:ExtW] : new_slot[ExtW-1:0];
    old3_q       <= space2_q ? old_slot[ExtW+:ExtW] : old_slot[ExtW-1:0];
    newer3_q     <= newer;
    new_valid3_q <= new_slot[SlotW-1] && known2_q;
    old_valid3_q <= old_slot[SlotW-1] && known2_q;
    qpn4_q       <= qpn3_q;
    ext4_q       <= ref3_q + {{(ExtW-24){aes_pkg::older(step3_q)}}, step3_q};
    new4_q       <= new3_q;
    old4_q       <= old3_q;
    newer4_q     <= newer3_q;
    new_valid4_q <= new_valid3_q;
    // 2^20 or more packets are behind the change, which is not in front.
    old_valid4_q <= old_valid3_q &&
        !(new_valid3_q && !age3[ExtW-1] && age3[ExtW-2:aes_pkg::KeyLinger] != '0);
  end

  // ---- 5: the slot in force; 5..7: its key ------------------------------------------------------
  logic [aes_pkg::NonceW-1:0] ext5_q, ext6_q, ext7_q;
  logic            in_new5_q, in_old5_q, newer5_q;
  logic            ok6_q, ok7_q;
  logic [ExtW-1:0] past_new, past_old;
  assign past_new = ext4_q - new4_q;
  assign past_old = ext4_q - old4_q;
  logic look6_q;
  always_ff @(posedge clk) begin
    look6_q   <= look_q[5];
    qpn5_q    <= qpn4_q;
    ext5_q    <= ext4_q[aes_pkg::NonceW-1:0];
    in_new5_q <= new_valid4_q && past_new[ExtW-1:aes_pkg::KeyLife] == '0;
    in_old5_q <= old_valid4_q && past_old[ExtW-1:aes_pkg::KeyLife] == '0;
    newer5_q  <= newer4_q;
    ext6_q    <= ext5_q;
    ok6_q     <= in_new5_q || in_old5_q;
    if (look6_q) begin
      ext7_q <= ext6_q;
      ok7_q  <= ok6_q;
    end
  end

  logic [KeyW-1:0] key;
  ram_clear #(
    .Width(KeyW),
    .Depth(2 << QpW),
    .Latency(2)
  ) u_keys (
    .clk(clk),
    .rst(rst),
    .wr_en_i(key_we_i),
    .wr_addr_i({key_slot_i, key_qpn_i}),
    .wr_data_i(key_i),
    .rd_en_i(look_q[5]),
    .rd_addr_i({in_new5_q ? newer5_q : !newer5_q, qpn5_q}),
    .rd_data_o(key),
    .ready_o(cleared[2])
  );

  assign ready_o = &cleared;
  assign ok_o = ok7_q;
  assign ext_o = ext7_q;
  assign {pow_o, key_o, dst_o, salt_o, long_o} = key;

  logic unused;
  assign unused = ^{new_slot[2*ExtW], old_slot[2*ExtW], age3[aes_pkg::KeyLinger-1:0],
      past_new[aes_pkg::KeyLife-1:0], past_old[aes_pkg::KeyLife-1:0]};

endmodule

`default_nettype wire
