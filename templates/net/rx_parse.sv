// rx_parse: looks at the headers of received frames as their beats pass, and finds what is wrong.
//
// Takes one beat every cycle. Two groups of outputs, both with fixed latency:
//   a_*  one cycle after the input beat: the beat itself and where the ICRC ends in it
//   d_*  three cycles later: what is known of the frame so far. With d_last_o it is final, whatever
//        the frame holds: no length is used before it was checked. Beats of a frame that are later
//        than its BTH see the right d_off_o.
// Checks of the IPv4 header checksum and the ICRC are done beside this module.
//
// DataW: bits a beat, 64..1024, a power of two. MaxPayload: bytes, 1..16383; more is d_oversize_o.
`default_nettype none

module rx_parse #(
  parameter int DataW = 512,
  parameter int MaxPayload = 4096,
  // A beat's number counts to HdrBeats, behind all headers, and stays.
  localparam int Bytes = DataW / 8,
  localparam int PosW = $clog2(Bytes),
  localparam int HdrBeats = (74 + Bytes - 1) / Bytes,
  localparam int IdxW = $clog2(HdrBeats + 1),
  localparam int BeatsW = 15 - PosW
) (
  input  logic              clk,
  input  logic              rst,
  input  logic [47:0]       local_mac_i,
  input  logic [31:0]       local_ip_i,
  input  logic              rx_valid_i,
  input  logic [DataW-1:0]  rx_data_i,
  input  logic [Bytes-1:0]  rx_keep_i,
  input  logic              rx_last_i,
  input  logic              rx_bad_i,        // with rx_last_i: the MAC found the frame bad
  output logic [IdxW-1:0]   rx_idx_o,        // number of the input beat in its frame
  output logic              a_valid_o,
  output logic              a_first_o,
  output logic              a_last_o,
  output logic [IdxW-1:0]   a_idx_o,
  output logic [DataW-1:0]  a_data_o,
  output logic              a_end_o,         // the beat holds the last byte of the ICRC ...
  output logic [PosW-1:0]   a_pos_o,         // ... which is this byte of it
  output logic              a_past_o,        // the beat lies behind the ICRC
  output logic              d_last_o,        // a frame ends; the rest is final
  output logic              d_bad_frame_o,   // marked by the MAC, or shorter than the headers
  output logic              d_not_ip_o,
  output logic              d_not_mine_o,    // MAC or IP address is not the local one
  output logic              d_ip_header_o,   // version, options or a fragment
  output logic              d_not_roce_o,    // protocol or UDP port
  output logic              d_length_o,      // lengths contradict each other or the frame
  output logic              d_bth_o,         // BTH version or opcode
  output logic              d_oversize_o,
  output logic [2:0]        d_off_o,         // where the payload starts: see rx_strip
  output logic [13:0]       d_pay_o,         // payload bytes, pad excluded
  output logic [BeatsW-1:0] d_beats_o        // payload beats
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_width
    $fatal(1, "rx_parse: DataW must be 64, 128, 256, 512 or 1024");
  end
  if (MaxPayload < 1 || MaxPayload > 16383) begin : gen_check_payload
    $fatal(1, "rx_parse: MaxPayload must be 1 to 16383");
  end

  // ---- stage a: beat, checks of single bytes, fields --------------------------------------------
  localparam int CheckedBytes = 44;  // up to BTH byte 1
  localparam int IpLenBeat = 16 / Bytes;
  localparam int UdpLenBeat = 38 / Bytes;
  localparam int BthBeat = 42 / Bytes;

  logic [IdxW-1:0] idx_q;
  logic            first;

  always_ff @(posedge clk) begin
    if (rst) begin
      idx_q <= '0;
    end else if (rx_valid_i) begin
      if (rx_last_i) idx_q <= '0;
      else if (idx_q != IdxW'(HdrBeats)) idx_q <= idx_q + 1'b1;
    end
  end

  assign first = idx_q == '0;
  assign rx_idx_o = idx_q;

  logic [8*CheckedBytes-1:0] want;  // expected header, byte f in [8f+7:8f]
  logic [8*CheckedBytes-1:0] care;  // which of its bits matter
  logic [CheckedBytes-1:0]   differs;

  always_comb begin
    want = '0;
    care = '0;
    for (int i = 0; i < 6; i++) begin
      want[8*i+:8] = local_mac_i[8*(5-i)+:8];
      care[8*i+:8] = 8'hFF;
    end
    want[8*12+:8] = roce_pkg::EtherTypeIpv4[15:8];
    care[8*12+:8] = 8'hFF;
    want[8*13+:8] = roce_pkg::EtherTypeIpv4[7:0];
    care[8*13+:8] = 8'hFF;
    want[8*14+:8] = 8'h45;  // version 4, five words: no options
    care[8*14+:8] = 8'hFF;
    care[8*20+:8] = 8'h3F;  // more fragments, offset
    care[8*21+:8] = 8'hFF;
    want[8*23+:8] = roce_pkg::IpProtoUdp;
    care[8*23+:8] = 8'hFF;
    for (int i = 0; i < 4; i++) begin
      want[8*(30+i)+:8] = local_ip_i[8*(3-i)+:8];
      care[8*(30+i)+:8] = 8'hFF;
    end
    want[8*36+:8] = roce_pkg::UdpPortRoce[15:8];
    care[8*36+:8] = 8'hFF;
    want[8*37+:8] = roce_pkg::UdpPortRoce[7:0];
    care[8*37+:8] = 8'hFF;
    care[8*43+:8] = 8'h0F;  // transport header version 0
  end

  for (genvar f = 0; f < CheckedBytes; f++) begin : gen_byte
    assign differs[f] = idx_q == IdxW'(f / Bytes) &&
      ((rx_data_i[8*(f%Bytes)+:8] ^ want[8*f+:8]) & care[8*f+:8]) != 8'h00;
  end

  // Bytes that tkeep names: bit j of a thermometer's length is the parity of every 2^j-th bit.
  logic [PosW:0] count;
  for (genvar j = 0; j <= PosW; j++) begin : gen_count
    logic [(Bytes>>j)-1:0] every;
    for (genvar i = 0; i < (Bytes >> j); i++) begin : gen_bit
      assign every[i] = rx_keep_i[((i+1)<<j)-1];
    end
    assign count[j] = ^every;
  end

  // Number of the last ICRC byte (length + 13), counted from the beat that holds the IP length.
  localparam logic [16:0] LastByteOffset = 17'(13 - IpLenBeat * Bytes);
  logic [15:0] ip_len;
  logic [16:0] last_byte;
  assign ip_len = {rx_data_i[8*(16%Bytes)+:8], rx_data_i[8*(17%Bytes)+:8]};
  assign last_byte = {1'b0, ip_len} + LastByteOffset;

  logic               a_valid_q;
  logic               a_first_q;
  logic               a_last_q;
  logic               a_bad_q;
  logic [IdxW-1:0]    a_idx_q;
  logic [DataW-1:0]   a_data_q;
  logic [PosW:0]      a_count_q;
  logic               a_not_ip_q;
  logic               a_not_mine_q;
  logic               a_ip_header_q;
  logic               a_not_roce_q;
  logic               a_tver_q;
  logic [15:0]        a_ip_len_q;
  logic [15:0]        a_udp_len_q;
  logic [7:0]         a_opcode_q;
  logic [1:0]         a_pad_q;
  logic [16-PosW:0]   a_left_q;  // beats to the one that holds the last ICRC byte
  logic [PosW-1:0]    a_pos_q;
  logic               a_past_q;
  logic               a_end;

  always_ff @(posedge clk) begin
    if (rst) a_valid_q <= 1'b0;
    else a_valid_q <= rx_valid_i;
  end

  always_ff @(posedge clk) begin
    a_data_q  <= rx_data_i;
    a_first_q <= first;
    a_last_q  <= rx_last_i;
    a_bad_q   <= rx_bad_i;
    a_idx_q   <= idx_q;
    a_count_q <= count;
    if (rx_valid_i) begin
      a_not_ip_q    <= (|differs[13:12]) || (!first && a_not_ip_q);
      a_not_mine_q  <= (|{differs[33:30], differs[5:0]}) || (!first && a_not_mine_q);
      a_ip_header_q <= (|{differs[21:20], differs[14]}) || (!first && a_ip_header_q);
      a_not_roce_q  <= (|{differs[37:36], differs[23]}) || (!first && a_not_roce_q);
      a_tver_q      <= differs[43] || (!first && a_tver_q);
      if (idx_q == IdxW'(IpLenBeat)) a_ip_len_q <= ip_len;
      if (idx_q == IdxW'(UdpLenBeat)) begin
        a_udp_len_q <= {rx_data_i[8*(38%Bytes)+:8], rx_data_i[8*(39%Bytes)+:8]};
      end
      if (idx_q == IdxW'(BthBeat)) begin
        a_opcode_q <= rx_data_i[8*(42%Bytes)+:8];
        a_pad_q    <= rx_data_i[8*(43%Bytes)+4+:2];
      end
      // Where the ICRC ends. Before the IP length is known no beat is its last.
      a_past_q <= !first && (a_past_q || a_end);
      if (idx_q == IdxW'(IpLenBeat)) begin
        a_left_q <= last_byte[16:PosW];
        a_pos_q  <= last_byte[PosW-1:0];
      end else if (first) begin
        a_left_q <= '1;
      end else begin
        a_left_q <= a_left_q - 1'b1;
      end
    end
  end

  assign a_end = a_left_q == '0 && !a_past_q;

  assign a_valid_o = a_valid_q;
  assign a_first_o = a_first_q;
  assign a_last_o = a_last_q;
  assign a_idx_o = a_idx_q;
  assign a_data_o = a_data_q;
  assign a_end_o = a_end;
  assign a_pos_o = a_pos_q;
  assign a_past_o = a_past_q;

  // The bytes checked but not grouped above are constant zero.
  logic unused_differs;
  assign unused_differs = ^{differs[42:38], differs[35:34], differs[29:24], differs[22],
                            differs[19:15], differs[11:6]};

  // ---- stage b: what the opcode means -----------------------------------------------------------
  // 58 = Ethernet, IPv4, UDP, BTH and ICRC.
  localparam int MinBytes = 58;
  localparam int MinBeat = (MinBytes - 1) / Bytes;
  localparam logic [PosW:0] MinCount = (PosW + 1)'(MinBytes - MinBeat * Bytes);

  // Words of extension headers; the operands of an atomic and its result count as payload.
  logic [2:0] ext;
  logic       known;      // a reliable connection's opcode
  logic       fixed;      // payload of no byte or those of ...
  logic       fixed8;     // ... an atomic's result
  logic       fixed16;    // ... an atomic's operands

  always_comb begin
    ext      = 3'd0;
    known    = 1'b1;
    fixed    = 1'b0;
    fixed8   = 1'b0;
    fixed16  = 1'b0;
    case (a_opcode_q)
      roce_pkg::OpSendFirst, roce_pkg::OpSendMiddle, roce_pkg::OpSendLast, roce_pkg::OpSendOnly,
      roce_pkg::OpWriteMiddle, roce_pkg::OpWriteLast, roce_pkg::OpReadRespMiddle: ext = 3'd0;
      roce_pkg::OpSendLastImm, roce_pkg::OpSendOnlyImm, roce_pkg::OpWriteLastImm,
      roce_pkg::OpSendLastInv, roce_pkg::OpSendOnlyInv, roce_pkg::OpReadRespFirst,
      roce_pkg::OpReadRespLast, roce_pkg::OpReadRespOnly: ext = 3'd1;
      // What the responder refuses may have any payload: it is not looked at.
      roce_pkg::OpWriteFirst, roce_pkg::OpWriteOnly, roce_pkg::OpAtomicWrite: ext = 3'd4;
      roce_pkg::OpWriteOnlyImm, roce_pkg::OpFlush: ext = 3'd5;
      roce_pkg::OpReadRequest: begin
        ext   = 3'd4;
        fixed = 1'b1;
      end
      roce_pkg::OpAck: begin
        ext   = 3'd1;
        fixed = 1'b1;
      end
      roce_pkg::OpAtomicAck: begin
        ext    = 3'd1;
        fixed  = 1'b1;
        fixed8 = 1'b1;
      end
      roce_pkg::OpCmpSwap, roce_pkg::OpFetchAdd: begin
        ext     = 3'd3;
        fixed   = 1'b1;
        fixed16 = 1'b1;
      end
      default: known = 1'b0;
    endcase
  end

  logic        b_last_q;
  logic        b_bad_frame_q;
  logic        b_short_q;  // the IP packet is longer than the frame
  logic [3:0]  b_address_q;
  logic        b_bth_q;
  logic [2:0]  b_fixed_q;
  logic [2:0]  b_ext_q;
  logic [1:0]  b_pad_q;
  logic [16:0] b_room_q;  // IP length less what every packet has; negative in bit 16
  logic [15:0] b_udp_want_q;
  logic [15:0] b_udp_len_q;

  always_ff @(posedge clk) begin
    if (rst) b_last_q <= 1'b0;
    else b_last_q <= a_valid_q && a_last_q;
  end

  always_ff @(posedge clk) begin
    b_bad_frame_q <= a_bad_q || !(a_idx_q > IdxW'(MinBeat) ||
      (a_idx_q == IdxW'(MinBeat) && a_count_q >= MinCount));
    b_short_q     <= !(a_past_q || (a_end && {1'b0, a_pos_q} < a_count_q));
    b_address_q   <= {a_not_ip_q, a_not_mine_q, a_ip_header_q, a_not_roce_q};
    b_bth_q       <= a_tver_q || !known;
    b_fixed_q     <= {fixed, fixed16, fixed8};
    b_ext_q       <= ext;
    b_pad_q       <= a_pad_q;
    b_room_q      <= {1'b0, a_ip_len_q} - 17'd44;
    b_udp_want_q  <= a_ip_len_q - 16'd20;
    b_udp_len_q   <= a_udp_len_q;
  end

  // ---- stage c: payload -------------------------------------------------------------------------
  logic        c_last_q;
  logic        c_bad_frame_q;
  logic        c_lengths_q;
  logic        c_fixed_q;
  logic [1:0]  c_fixed_pay_q;  // {16 bytes, 8 bytes}
  logic [3:0]  c_address_q;
  logic        c_bth_q;
  logic        c_padded_q;
  logic [2:0]  c_off_q;
  logic [16:0] c_pay_q;  // negative in bit 16

  always_ff @(posedge clk) begin
    if (rst) c_last_q <= 1'b0;
    else c_last_q <= b_last_q;
  end

  always_ff @(posedge clk) begin
    c_bad_frame_q <= b_bad_frame_q;
    c_lengths_q   <= b_short_q || b_room_q[16] || b_udp_want_q != b_udp_len_q;
    {c_fixed_q, c_fixed_pay_q} <= b_fixed_q;
    c_address_q   <= b_address_q;
    c_bth_q       <= b_bth_q;
    c_padded_q    <= b_pad_q != 2'd0;
    c_off_q       <= {b_ext_q[1], b_ext_q[2], b_ext_q[0]};  // 0, 1, 4, 5 words; 3 words
    c_pay_q       <= b_room_q - {12'd0, b_ext_q, b_pad_q};
  end

  // ---- stage d ----------------------------------------------------------------------------------
  logic [14:0] pay_up;
  assign pay_up = {1'b0, c_pay_q[13:0]} + 15'(Bytes - 1);

  always_ff @(posedge clk) begin
    if (rst) d_last_o <= 1'b0;
    else d_last_o <= c_last_q;
  end

  always_ff @(posedge clk) begin
    d_bad_frame_o <= c_bad_frame_q;
    {d_not_ip_o, d_not_mine_o, d_ip_header_o, d_not_roce_o} <= c_address_q;
    d_length_o    <= c_lengths_q || c_pay_q[16] ||
      (c_fixed_q && (c_padded_q || c_pay_q != {12'd0, c_fixed_pay_q, 3'd0}));
    d_bth_o       <= c_bth_q;
    d_oversize_o  <= c_pay_q[15:0] > 16'(MaxPayload);
    d_off_o       <= c_off_q;
    d_pay_o       <= c_pay_q[13:0];
    d_beats_o     <= pay_up[14:PosW];
  end

  logic unused_pay_up;
  assign unused_pay_up = ^pay_up[PosW-1:0];

endmodule

`default_nettype wire
