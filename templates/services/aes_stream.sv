// aes_stream: encrypts (Open 0) or decrypts (Open 1) packets, a beat a cycle, each under its own key and nonce.
//
// s_* -> m_*, packet by packet, in order; a packet whose active_i is low passes as it is. What belongs to the packet
// (active_i .. aad_i, s_pkt_tuser) stands from its first beat to its last. The key stream is made in a pipeline
// that never waits, from the look-up of the key on, while the packet's beats stand in delay lines beside it; what
// comes out goes into a FIFO that holds all that may be under way. So a packet waits for nothing but m_*.
//
// Nonce: salt (4 bytes), {QPN of the destination, response_i, extended PSN} (8 bytes, first the highest), counter of
// blocks (4 bytes) from 1, with Gcm from 2: SP 800-38A and RFC 3686, SP 800-38D.
// Gcm 0: keyless_o with the last beat: no key was in force (the packet is not to be used). Gcm 1: also the tag.
// Open 0 appends its 16 bytes to the packet; Open 1 has it beside the last beat (tag_i; short_i: there was none) and
// says forged_o with the last beat if it is wrong. Associated data: 32 bytes, aad_i, byte 0 in the lowest bits.
// Gcm takes a cycle more a packet than it has beats (two at 64 and 128 bit).
//
// bytes_i: bytes of the packet, trailer excluded, up to 4096. space_i: of the PSN (aes_refs).
// verdict_i, of VerdictW bits, goes with the last beat to verdict_o; s_pkt_tuser (UserW bits) stands with the packet.
// DataW: 64..1024, a power of two. Other parameters: aes_keys, aes_core.
`include "rocegen_assert.svh"
`default_nettype none

module aes_stream #(
  parameter int DataW = 512,
  parameter int QpCount = 16,
  parameter int KeyBits = 256,
  parameter int Gcm = 1,
  parameter int Open = 0,
  parameter int RoundsPerStage = 2,
  parameter int UserW = 8,
  parameter int VerdictW = 1
) (
  input  logic                     clk,
  input  logic                     rst,
  output logic                     ready_o,
  input  logic                     s_pkt_tvalid,
  output logic                     s_pkt_tready,
  input  logic [DataW-1:0]         s_pkt_tdata,
  input  logic [DataW/8-1:0]       s_pkt_tkeep,
  input  logic                     s_pkt_tlast,
  input  logic [UserW-1:0]         s_pkt_tuser,
  input  logic [VerdictW-1:0]      verdict_i,
  input  logic                     active_i,
  input  logic [23:0]              qpn_i,
  input  logic [23:0]              psn_i,
  input  logic                     response_i,
  input  logic                     space_i,
  input  logic [13:0]              bytes_i,
  input  logic [255:0]             aad_i,
  input  logic [127:0]             tag_i,
  input  logic                     short_i,
  output logic                     m_pkt_tvalid,
  input  logic                     m_pkt_tready,
  output logic [DataW-1:0]         m_pkt_tdata,
  output logic [DataW/8-1:0]       m_pkt_tkeep,
  output logic                     m_pkt_tlast,
  output logic [UserW-1:0]         m_pkt_tuser,
  output logic [VerdictW-1:0]      verdict_o,
  output logic                     active_o,
  output logic                     keyless_o,
  output logic                     forged_o,
  input  logic                     ref_we_i,
  input  logic [(QpCount > 1 ? $clog2(QpCount) : 1):0] ref_addr_i,
  input  logic [aes_pkg::ExtW-1:0] ref_i,
  input  logic [1:0]               slot_we_i,
  input  logic [(QpCount > 1 ? $clog2(QpCount) : 1)-1:0] slot_qpn_i,
  input  logic [2*aes_pkg::ExtW+1:0] slot_i,
  input  logic                     key_we_i,
  input  logic                     key_slot_i,
  input  logic [(QpCount > 1 ? $clog2(QpCount) : 1)-1:0] key_qpn_i,
  input  logic [(Gcm != 0 ? (DataW > 128 ? DataW : 128) + 128 : 1) + KeyBits + 56 : 0] key_i
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "aes_stream: DataW must be a power of two, 64..1024");
  end
  if (Gcm < 0 || Gcm > 1 || Open < 0 || Open > 1) begin : gen_check_mode
    $fatal(1, "aes_stream: Gcm and Open must be 0 or 1");
  end

  localparam int Bytes = DataW / 8;
  localparam int ByteW = $clog2(Bytes);
  localparam int Lanes = DataW > 128 ? DataW / 128 : 1;
  localparam int CipherW = Lanes * 128;
  localparam int PowW = Gcm != 0 ? CipherW + 128 : 1;
  localparam int Heads = Gcm == 0 ? 0 : Lanes > 1 ? 1 : 2;  // cycles of a packet's own, before its beats
  localparam int Rounds = KeyBits == 256 ? 14 : 10;

  // Stages of the pipeline, numbered from the register behind s_*.
  localparam int AtKey = aes_pkg::LookupLatency;  // the key stands
  localparam int AtCipher = AtKey + 1 + (Rounds + RoundsPerStage - 1) / RoundsPerStage;
  localparam int AtText = AtCipher + 1;  // encrypted or decrypted
  localparam int AtTag = AtText + 5;
  localparam int AtOut = Gcm == 0 ? AtText : Open != 0 ? AtTag + 1 : AtTag + 2;
  localparam int Depth = 64;  // beats and packets that may wait for m_*
  localparam int OutW = DataW + Bytes + 4;

  // ---- admission --------------------------------------------------------------------------------
  logic       room_q;
  logic [1:0] heads_q;  // cycles of this packet's own that have been given
  logic       beat;
  logic       head;
  logic       open_q;
  logic [$clog2(Depth+1)-1:0] level;
  assign head = s_pkt_tvalid && room_q && heads_q != 2'(Heads);
  assign s_pkt_tready = room_q && heads_q == 2'(Heads);
  assign beat = s_pkt_tvalid && s_pkt_tready;
  always_ff @(posedge clk) begin
    if (rst) begin
      room_q  <= 1'b0;
      heads_q <= '0;
      open_q  <= 1'b0;
    end else begin
      room_q <= 32'(level) + AtOut + 6 <= Depth;
      if (head) heads_q <= heads_q + 1'b1;
      else if (beat && s_pkt_tlast) heads_q <= '0;
      if (beat) open_q <= !s_pkt_tlast;
    end
  end

  // ---- 0 ----------------------------------------------------------------------------------------
  typedef struct packed {
    logic        beat;
    logic        head;  // first cycle of the packet's own
    logic        head2;  // second
    logic        last;
    logic        active;
    logic        response;
    logic [9:0]  count;  // number of the beat
    logic [13:0] bytes;
  } slot_t;
  localparam int SlotW = 30;
  slot_t            slot0_q;
  logic             look0_q;
  logic [23:0]      qpn0_q, psn0_q;
  logic             space0_q;
  logic [DataW-1:0] data0_q;
  logic [Bytes-1:0] keep0_q;
  logic [255:0]     aad0_q;
  always_ff @(posedge clk) begin
    slot0_q.active   <= active_i;
    slot0_q.response <= response_i;
    slot0_q.bytes    <= bytes_i;
    slot0_q.last     <= s_pkt_tlast;
    slot0_q.count    <= open_q ? slot0_q.count + {9'd0, slot0_q.beat} : '0;
    qpn0_q           <= qpn_i;
    psn0_q           <= psn_i;
    space0_q         <= space_i;
    data0_q          <= s_pkt_tdata;
    keep0_q          <= s_pkt_tkeep;
    aad0_q           <= aad_i;
    if (rst) begin
      slot0_q.beat  <= 1'b0;
      slot0_q.head  <= 1'b0;
      slot0_q.head2 <= 1'b0;
      look0_q       <= 1'b0;
    end else begin
      slot0_q.beat  <= beat;
      slot0_q.head  <= head && heads_q == '0;
      slot0_q.head2 <= head && heads_q != '0;
      look0_q       <= Gcm != 0 ? head && heads_q == '0 : beat && !open_q;
    end
  end

  // Slots go through resettable registers, the rest through delay lines.
  logic [(AtTag+1)*SlotW-1:0] slots_q;  // stages 1..
  always_ff @(posedge clk) begin
    slots_q <= {slots_q[AtTag*SlotW-1:0], slot0_q};
    if (rst) slots_q <= '0;
  end
  slot_t slot_key, slot_cipher, slot_text, slot_tag, slot_seal;
  assign slot_key = slots_q[(AtKey-1)*SlotW+:SlotW];
  assign slot_cipher = slots_q[(AtCipher-1)*SlotW+:SlotW];
  assign slot_text = slots_q[(AtText-1)*SlotW+:SlotW];
  assign slot_tag = slots_q[(AtTag-1)*SlotW+:SlotW];
  assign slot_seal = slots_q[AtTag*SlotW+:SlotW];

  logic [DataW-1:0] data;  // at AtCipher
  logic [Bytes-1:0] keep;
  delay_line #(
    .Width(DataW + Bytes),
    .Stages(AtCipher)
  ) u_data (
    .clk(clk),
    .d_i({keep0_q, data0_q}),
    .q_o({keep, data})
  );

  // ---- the key ----------------------------------------------------------------------------------
  logic                     ok;
  logic [aes_pkg::NonceW-1:0] ext;
  logic                     long;
  logic [31:0]              salt;
  logic [23:0]              dst;
  logic [KeyBits-1:0]       key;
  logic [PowW-1:0]          powers;
  aes_keys #(
    .QpCount(QpCount),
    .KeyBits(KeyBits),
    .PowW(PowW)
  ) u_keys (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .look_i(look0_q),
    .look_qpn_i(qpn0_q),
    .look_psn_i(psn0_q),
    .look_space_i(space0_q),
    .ok_o(ok),
    .ext_o(ext),
    .long_o(long),
    .salt_o(salt),
    .dst_o(dst),
    .key_o(key),
    .pow_o(powers),
    .ref_we_i(ref_we_i),
    .ref_addr_i(ref_addr_i),
    .ref_i(ref_i),
    .slot_we_i(slot_we_i),
    .slot_qpn_i(slot_qpn_i),
    .slot_i(slot_i),
    .key_we_i(key_we_i),
    .key_slot_i(key_slot_i),
    .key_qpn_i(key_qpn_i),
    .key_i(key_i)
  );

  // ---- the key stream ---------------------------------------------------------------------------
  // Counters of a packet's blocks, a stage ahead of the key.
  localparam logic [10:0] First = Gcm != 0 ? 11'd2 : 11'd1;
  slot_t              slot_count;
  logic [Lanes*11-1:0] counter_q;
  assign slot_count = slots_q[(AtKey-2)*SlotW+:SlotW];
  for (genvar j = 0; j < Lanes; j++) begin : gen_counter
    logic [10:0] number;
    assign number = DataW == 64 ? {2'b00, slot_count.count[9:1]} : 11'(slot_count.count) * 11'(Lanes) +
        11'(j);
    always_ff @(posedge clk) counter_q[11*j+:11] <= slot_count.head ? 11'd1 : number + First;
  end

  logic [95:0]        nonce;  // byte 0 lowest
  logic [63:0]        number;
  logic [CipherW-1:0] blocks;
  logic [CipherW-1:0] stream;
  assign number = {dst, slot_key.response, ext};
  assign nonce[31:0] = salt;
  for (genvar i = 0; i < 8; i++) begin : gen_nonce
    assign nonce[32+8*i+:8] = number[63-8*i-:8];
  end
  for (genvar j = 0; j < Lanes; j++) begin : gen_block
    assign blocks[128*j+:128] = {counter_q[11*j+:8], 5'd0, counter_q[11*j+8+:3], 16'd0, nonce};
  end
  aes_core #(
    .Lanes(Lanes),
    .KeyBits(KeyBits),
    .RoundsPerStage(RoundsPerStage)
  ) u_core (
    .clk(clk),
    .key_i(key),
    .long_i(long),
    .block_i(blocks),
    .cipher_o(stream)
  );

  logic ok_text;  // at AtText
  delay_line #(
    .Width(1),
    .Stages(AtText - AtKey)
  ) u_ok (
    .clk(clk),
    .d_i(ok),
    .q_o(ok_text)
  );

  // ---- text -------------------------------------------------------------------------------------
  logic [DataW-1:0] pad;
  logic [DataW-1:0] mask;
  logic [DataW-1:0] text_d, text_q;
  logic [Bytes-1:0] keep_q;
  for (genvar i = 0; i < Bytes; i++) begin : gen_mask
    assign mask[8*i+:8] = {8{keep[i]}};
  end
  if (DataW == 64) begin : gen_half
    assign pad = slot_cipher.count[0] ? stream[127:64] : stream[63:0];
  end else begin : gen_whole
    assign pad = stream;
  end
  assign text_d = (data ^ (slot_cipher.active ? pad : '0)) & mask;
  always_ff @(posedge clk) begin
    text_q <= text_d;
    keep_q <= keep;
  end

  logic                     push;
  logic [OutW-1:0]          push_data;
  logic                     unused_tag;
  if (Gcm == 0) begin : gen_ctr
    assign push = slot_text.beat;
    assign push_data = {text_q, keep_q, slot_text.last, slot_text.active,
        slot_text.active && !ok_text, 1'b0};
    assign unused_tag = ^{powers, tag_i, short_i, aad0_q, slot_tag};
  end else begin : gen_gcm
    // ---- hash -----------------------------------------------------------------------------------
    logic [255:0]       aad;  // at AtCipher
    logic [PowW-1:0]    powers_text;  // at AtText
    logic [CipherW-1:0] hashed_d, hashed_q;
    logic [DataW-1:0]   cipher_text;
    logic               hash_valid_d, hash_valid_q;
    logic [3:0]         blocks_d, blocks_q;
    logic [ByteW-1:0]   rest;  // bytes in a last beat that is not full
    delay_line #(
      .Width(256),
      .Stages(AtCipher)
    ) u_aad (
      .clk(clk),
      .d_i(aad0_q),
      .q_o(aad)
    );
    delay_line #(
      .Width(PowW),
      .Stages(AtText - AtKey)
    ) u_powers (
      .clk(clk),
      .d_i(powers),
      .q_o(powers_text)
    );
    assign cipher_text = Open != 0 ? data & mask : text_d;
    assign rest = slot_cipher.bytes[ByteW-1:0];
    if (DataW == 64) begin : gen_pair
      logic [63:0] before_q;
      always_ff @(posedge clk) if (slot_cipher.beat) before_q <= cipher_text;
      assign hashed_d = slot_cipher.head ? aad[127:0] : slot_cipher.head2 ? aad[255:128] :
          slot_cipher.count[0] ? {cipher_text, before_q} : {64'd0, cipher_text};
      assign hash_valid_d = slot_cipher.head || slot_cipher.head2 ||
          (slot_cipher.beat && (slot_cipher.count[0] || slot_cipher.last));
      assign blocks_d = {3'd0, slot_cipher.bytes != '0};
      logic unused_rest;
      assign unused_rest = ^rest;
    end else if (DataW == 128) begin : gen_one
      assign hashed_d = slot_cipher.head ? aad[127:0] : slot_cipher.head2 ? aad[255:128] : cipher_text;
      assign hash_valid_d = slot_cipher.head || slot_cipher.head2 || slot_cipher.beat;
      assign blocks_d = {3'd0, slot_cipher.bytes != '0};
      logic unused_rest;
      assign unused_rest = ^rest;
    end else begin : gen_many
      // Associated data in the last two lanes: no powers of its own.
      assign hashed_d = slot_cipher.head ? {aad, {(CipherW-256){1'b0}}} : cipher_text;
      assign hash_valid_d = slot_cipher.head || slot_cipher.beat;
      assign blocks_d = slot_cipher.bytes == '0 ? 4'd0 : rest == '0 ? 4'(Lanes) :
          4'((32'(rest) + 15) / 16);
      logic unused_head2;
      assign unused_head2 = slot_cipher.head2;
    end
    always_ff @(posedge clk) begin
      hashed_q     <= hashed_d;
      hash_valid_q <= hash_valid_d;
      blocks_q     <= blocks_d;
    end

    logic [127:0] hash;
    aes_ghash #(
      .Lanes(Lanes)
    ) u_hash (
      .clk(clk),
      .valid_i(hash_valid_q),
      .first_i(slot_text.head),
      .last_i(slot_text.beat && slot_text.last),
      .blocks_i(blocks_q),
      .bytes_i(slot_text.bytes[12:0]),
      .data_i(hashed_q),
      .pow_i(powers_text),
      .hash_o(hash)
    );

    // The block of counter 1 of each packet; it hides the hash.
    logic [127:0]     hide_q;
    logic [127:0]     hide;
    logic [127:0]     tag_q;
    logic [DataW-1:0] text;  // at AtTag
    logic [Bytes-1:0] text_keep;
    logic             ok_tag;
    always_ff @(posedge clk) if (slot_cipher.head) hide_q <= stream[127:0];
    delay_line #(
      .Width(128),
      .Stages(AtTag - AtText - 1)
    ) u_hide (
      .clk(clk),
      .d_i(hide_q),
      .q_o(hide)
    );
    always_ff @(posedge clk) tag_q <= hash ^ hide;
    delay_line #(
      .Width(DataW + Bytes + 1),
      .Stages(AtTag - AtText)
    ) u_text (
      .clk(clk),
      .d_i({ok_text, keep_q, text_q}),
      .q_o({ok_tag, text_keep, text})
    );

    if (Open != 0) begin : gen_open
      // ---- the tag that came --------------------------------------------------------------------
      logic         expect_valid, expect_short;
      logic [127:0] expect_tag;
      logic         tags_ready;
      logic [$clog2(Depth+1)-1:0] unused_level;
      stream_fifo #(
        .Width(129),
        .Depth(Depth)
      ) u_tags (
        .clk(clk),
        .rst(rst),
        .s_axis_tvalid(beat && s_pkt_tlast),
        .s_axis_tready(tags_ready),
        .s_axis_tdata({short_i, tag_i}),
        .m_axis_tvalid(expect_valid),
        .m_axis_tready(slot_tag.beat && slot_tag.last),
        .m_axis_tdata({expect_short, expect_tag}),
        .level_o(unused_level)
      );
      `ROCEGEN_ASSERT(tag_has_room, tags_ready || !(beat && s_pkt_tlast))
      `ROCEGEN_ASSERT(tag_has_come, expect_valid || !(slot_tag.beat && slot_tag.last))
      logic            push_q;
      logic [OutW-1:0] push_data_q;
      always_ff @(posedge clk) begin
        push_data_q <= {text, text_keep, slot_tag.last, slot_tag.active,
            slot_tag.active && !ok_tag, slot_tag.active && (expect_short || expect_tag != tag_q)};
        push_q <= !rst && slot_tag.beat;
      end
      assign push = push_q;
      assign push_data = push_data_q;
      assign unused_tag = ^{slot_tag.bytes, slot_tag.head, slot_tag.head2, slot_tag.response,
          slot_tag.count};
    end else begin : gen_seal
      // ---- the tag goes behind the text ---------------------------------------------------------
      localparam int Chunks = Bytes >= 16 ? 1 : 2;
      localparam int ExtraW = 2;
      logic [Chunks*DataW-1:0] turned;  // at AtTag + 1: byte j of the tag is at (rest + j) mod Bytes
      logic [ByteW-1:0]        rest_tag;
      assign rest_tag = slot_tag.bytes[ByteW-1:0];
      for (genvar c = 0; c < Chunks; c++) begin : gen_turn
        logic [DataW-1:0] wide;
        if (Chunks == 1) begin : gen_wide
          assign wide = {{(DataW > 128 ? DataW - 128 : 0){1'b0}}, tag_q};
        end else begin : gen_part
          assign wide = tag_q[DataW*c+:DataW];
        end
        byte_rotate #(
          .Bytes(Bytes),
          .Stages(1)
        ) u_turn (
          .clk(clk),
          .ce_i(1'b1),
          .data_i(wide),
          .amount_i(ByteW'(Bytes) - rest_tag),
          .data_o(turned[DataW*c+:DataW])
        );
      end
      logic [DataW-1:0]  last_text_q;
      logic [Bytes-1:0]  last_keep_q;
      logic              last_ok_q;
      logic [ByteW:0]    end_q;  // bytes of text in a last beat
      always_ff @(posedge clk) begin
        last_text_q <= text;
        last_keep_q <= text_keep;
        last_ok_q   <= ok_tag;
        end_q       <= slot_tag.bytes != '0 && rest_tag == '0 ? (ByteW+1)'(Bytes) : {1'b0, rest_tag};
      end

      // Beats of the trailer alone; they take the place of what is no beat, the next packet's heads.
      logic              seal;
      logic [ExtraW-1:0] extra;  // behind the last beat of text
      logic [ExtraW-1:0] extra_q, number_q;
      logic [Chunks*DataW-1:0] turned_q;
      logic [Bytes-1:0]  tail_keep_q;  // bytes in front of the trailer's begin
      logic [ByteW:0]    tail_end_q;
      logic              tail_ok_q;
      logic [8:0]        total;
      logic [8:0]        left;  // bytes of this beat, of text and trailer, and of those behind it
      logic [DataW-1:0]  front_mask, beat_d;
      logic [DataW-1:0]  front, behind;
      logic              out_beat;
      logic              out_last;
      assign seal = slot_seal.beat && slot_seal.last && slot_seal.active;
      assign total = 9'(end_q) + 9'd16;
      assign extra = total > 9'(2 * Bytes) ? 2'd2 : total > 9'(Bytes) ? 2'd1 : 2'd0;
      always_ff @(posedge clk) begin
        if (rst) extra_q <= '0;
        else if (seal) extra_q <= extra;
        else if (extra_q != '0) extra_q <= extra_q - 1'b1;
        number_q <= seal ? 2'd1 : number_q + 1'b1;
        if (seal) begin
          turned_q    <= turned;
          tail_keep_q <= last_keep_q;
          tail_end_q  <= end_q;
          tail_ok_q   <= last_ok_q;
        end
      end
      `ROCEGEN_ASSERT(trailer_has_room, extra_q == '0 || !slot_seal.beat)
      for (genvar i = 0; i < Bytes; i++) begin : gen_front
        assign front_mask[8*i+:8] = {8{seal ? last_keep_q[i] : tail_keep_q[i]}};
      end
      // In front of the place where the trailer begins: the text, then what did not fit into the beat before.
      if (Chunks == 1) begin : gen_beat
        assign front = turned_q;
        assign behind = seal ? turned : '0;
      end else begin : gen_beats
        assign front = number_q == 2'd1 ? turned_q[DataW-1:0] : turned_q[DataW+:DataW];
        assign behind = seal ? turned[DataW-1:0] : number_q == 2'd1 ? turned_q[DataW+:DataW] : '0;
      end
      assign beat_d = (front_mask & (seal ? last_text_q : front)) | (~front_mask & behind);
      assign left = seal ? total : 9'(tail_end_q) + 9'd16 - (number_q == 2'd2 ? 9'(2 * Bytes) : 9'(Bytes));
      assign out_beat = slot_seal.beat || extra_q != '0;
      assign out_last = slot_seal.beat ? slot_seal.last && !(seal && extra != '0) : extra_q == 2'd1;

      logic             push_q;
      logic [DataW-1:0] out_q;
      logic [Bytes-1:0] out_keep_d, out_keep_q;
      logic             out_last_q, out_active_q, out_keyless_q;
      for (genvar i = 0; i < Bytes; i++) begin : gen_keep
        assign out_keep_d[i] = slot_seal.beat && !seal ? last_keep_q[i] : left > 9'(i);
      end
      always_ff @(posedge clk) begin
        push_q        <= !rst && out_beat;
        out_q         <= slot_seal.beat && !seal ? last_text_q : beat_d;
        out_keep_q    <= out_keep_d;
        out_last_q    <= out_last;
        out_active_q  <= slot_seal.beat ? slot_seal.active : 1'b1;
        out_keyless_q <= slot_seal.beat ? slot_seal.active && !last_ok_q : !tail_ok_q;
      end
      assign push = push_q;
      assign push_data = {out_q, out_keep_q, out_last_q, out_active_q, out_keyless_q, 1'b0};
      assign unused_tag = ^{slot_tag, tag_i, short_i};
    end
  end

  // ---- out --------------------------------------------------------------------------------------
  logic out_ready, user_ready, verdict_ready;
  logic out_valid, user_valid, verdict_valid;
  logic last;
  logic [$clog2(Depth+1)-1:0] unused_users, unused_verdicts;
  stream_fifo #(
    .Width(OutW),
    .Depth(Depth)
  ) u_out (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(push),
    .s_axis_tready(out_ready),
    .s_axis_tdata(push_data),
    .m_axis_tvalid(out_valid),
    .m_axis_tready(m_pkt_tready),
    .m_axis_tdata({m_pkt_tdata, m_pkt_tkeep, last, active_o, keyless_o, forged_o}),
    .level_o(level)
  );
  stream_fifo #(
    .Width(UserW),
    .Depth(Depth)
  ) u_users (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(beat && !open_q),
    .s_axis_tready(user_ready),
    .s_axis_tdata(s_pkt_tuser),
    .m_axis_tvalid(user_valid),
    .m_axis_tready(out_valid && m_pkt_tready && last),
    .m_axis_tdata(m_pkt_tuser),
    .level_o(unused_users)
  );
  stream_fifo #(
    .Width(VerdictW),
    .Depth(Depth)
  ) u_verdicts (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(beat && s_pkt_tlast),
    .s_axis_tready(verdict_ready),
    .s_axis_tdata(verdict_i),
    .m_axis_tvalid(verdict_valid),
    .m_axis_tready(out_valid && m_pkt_tready && last),
    .m_axis_tdata(verdict_o),
    .level_o(unused_verdicts)
  );
  assign m_pkt_tvalid = out_valid;
  assign m_pkt_tlast = last;

  `ROCEGEN_ASSERT(beat_has_room, out_ready || !push)
  `ROCEGEN_ASSERT(user_has_room, user_ready || !(beat && !open_q))
  `ROCEGEN_ASSERT(user_has_come, user_valid || !out_valid)
  `ROCEGEN_ASSERT(verdict_has_room, verdict_ready || !(beat && s_pkt_tlast))
  `ROCEGEN_ASSERT(verdict_has_come, verdict_valid || !(out_valid && last))
  `ROCEGEN_STREAM(in_contract, s_pkt_tvalid, s_pkt_tready,
                  {s_pkt_tuser, s_pkt_tlast, s_pkt_tkeep, s_pkt_tdata})
  `ROCEGEN_STREAM(about_contract, s_pkt_tvalid, s_pkt_tready,
                  {active_i, qpn_i, psn_i, response_i, space_i, bytes_i, aad_i})

  logic unused;
  assign unused = ^{unused_tag, slot_count, slot_key, slot_cipher, slot_text, slot_seal};

endmodule

`default_nettype wire
