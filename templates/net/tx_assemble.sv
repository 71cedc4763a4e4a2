// tx_assemble: puts payload behind headers, a frame beat a cycle.
//
// Handshake: takes the beats of tx_lookup (in_*); the headers must belong to the beat shown. Gives
// frame beats without back-pressure on the frame_* registers; a new one only starts when space_i, a
// new frame only when credit_i is also set. Pad bytes and the four bytes of the ICRC are zero. A
// frame takes as many cycles as it has beats; a frame whose packet ended with in_err_i carries
// frame_abort_o on its last.
//
// DataW: bits a beat, 64..1024, a power of two.
`include "rocegen_assert.svh"
`default_nettype none

module tx_assemble #(
  parameter int DataW = 512,
  localparam int Bytes = DataW / 8,
  localparam int WordW = $clog2(Bytes / 4),  // number of a four-byte word in a beat
  localparam int LeftW = 15 - WordW
) (
  input  logic             clk,
  input  logic             rst,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [DataW-1:0] in_data_i,   // bytes beyond the payload zero
  input  logic             in_last_i,
  input  logic             in_err_i,
  // Payload starts at byte 54, 58, 70, 74; an atomic's headers end at byte 82 and have none behind.
  input  logic [2:0]       in_off_i,
  input  logic [13:0]      in_words_i,  // IP total length in words of four bytes
  input  logic [8*82-1:0]  hdr_i,
  input  logic             space_i,
  input  logic             credit_i,
  output logic             start_o,     // a frame starts: its first beat is next on frame_*
  output logic             frame_valid_o,
  output logic             frame_first_o,
  output logic             frame_last_o,
  output logic             frame_abort_o,  // valid with frame_last_o
  output logic [LeftW-1:0] frame_beats_o,  // of the frame, less one
  output logic [WordW-1:0] frame_word_o,   // word of the last beat in which the frame ends
  output logic [DataW-1:0] frame_data_o,
  output logic [DataW-1:0] frame_icrc_o    // the same as the ICRC sees it
);

  localparam int HdrBytes = 82;
  localparam int HdrBeats = (HdrBytes + Bytes - 1) / Bytes;
  localparam int IdxW = $clog2(HdrBeats + 1);

  // Byte where the payload starts, for each value of in_off_i.
  function automatic int start_of(input int off);
    start_of = off == 0 ? 54 : off == 1 ? 58 : off == 2 ? 70 : off == 3 ? 74 : 82;
  endfunction

  logic             open_q;    // within a frame
  logic             header_q;  // the payload of this frame has not started
  logic             tail_q;    // the payload of this frame is placed
  logic [IdxW-1:0]  idx_q;     // number of the beat to make, counting to HdrBeats
  logic [LeftW-1:0] left_q;    // beats after it
  logic [1:0]       off_q;
  logic             err_q;
  logic [DataW-1:0] carry_q;   // payload beat before, zero when there is none

  // The IP packet starts at byte 14, so the frame ends two bytes into word words + 3.
  logic [14:0]      end_word;
  logic [1:0]       off;
  logic [LeftW-1:0] left;
  logic [7:0]       reached;   // this beat is not before the payload, for each value of in_off_i
  logic             place;     // this beat takes a beat of payload
  logic             go;
  logic             last;

  for (genvar o = 0; o < 8; o++) begin : gen_reached
    if (start_of(o) < Bytes) begin : gen_first
      assign reached[o] = 1'b1;
    end else begin : gen_later
      assign reached[o] = idx_q >= IdxW'(start_of(o) / Bytes);
    end
  end

  assign end_word = {1'b0, in_words_i} + 15'd3;
  assign off = header_q ? in_off_i[1:0] : off_q;
  assign left = open_q ? left_q : end_word[14:WordW];
  assign last = left == '0;
  assign place = header_q ? reached[in_off_i] : !tail_q;
  assign go = space_i && (open_q || credit_i) && (tail_q || in_valid_i);
  assign in_ready_o = go && place;
  assign start_o = go && !open_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      open_q   <= 1'b0;
      header_q <= 1'b1;
      tail_q   <= 1'b0;
      idx_q    <= '0;
    end else if (go) begin
      open_q   <= !last;
      header_q <= last || (header_q && !place);
      tail_q   <= !last && (tail_q || (place && in_last_i));
      if (last) idx_q <= '0;
      else if (idx_q != IdxW'(HdrBeats)) idx_q <= idx_q + 1'b1;
    end
  end

  // Zero outside of a payload is part of the control: it is reset too.
  always_ff @(posedge clk) begin
    if (rst || (go && (last || !place))) carry_q <= '0;
    else if (go) carry_q <= in_data_i;
  end

  always_ff @(posedge clk) begin
    if (go) begin
      left_q <= left - 1'b1;
      off_q  <= off;
      err_q  <= (place && in_last_i && in_err_i) || (open_q && err_q);
      if (!open_q) begin
        frame_beats_o <= end_word[14:WordW];
        frame_word_o  <= end_word[WordW-1:0];
      end
    end
  end

  // ---- the beat ---------------------------------------------------------------------------------
  logic [DataW-1:0] data;
  logic [DataW-1:0] icrc;

  for (genvar p = 0; p < Bytes; p++) begin : gen_lane
    logic [31:0] source;  // a byte for each value of off
    logic [3:0]  blank;   // ... which is zero when no payload is placed
    logic [7:0]  header;
    for (genvar o = 0; o < 4; o++) begin : gen_source
      localparam int Start = start_of(o) % Bytes;
      if (p < Start) begin : gen_carry
        assign source[8*o+:8] = carry_q[8*(p+Bytes-Start)+:8];
        assign blank[o] = 1'b0;
      end else begin : gen_in
        assign source[8*o+:8] = in_data_i[8*(p-Start)+:8];
        assign blank[o] = !place;
      end
    end
    always_comb begin
      header = '0;
      for (int b = 0; b < HdrBeats; b++) begin
        if (header_q && idx_q == IdxW'(b) && b * Bytes + p < HdrBytes) begin
          header = hdr_i[8*((b*Bytes+p)%HdrBytes)+:8];
        end
      end
    end
    assign data[8*p+:8] = (blank[off] ? 8'h00 : source[8*off+:8]) | header;
  end

  logic unused_carry;  // bytes that never cross into the next beat
  assign unused_carry = ^carry_q;

  icrc_mask #(
    .DataW(DataW),
    .IdxW(IdxW)
  ) u_mask (
    .idx_i(idx_q),
    .data_i(data),
    .data_o(icrc)
  );

  always_ff @(posedge clk) begin
    if (rst) frame_valid_o <= 1'b0;
    else frame_valid_o <= go;
  end

  always_ff @(posedge clk) begin
    frame_first_o <= !open_q;
    frame_last_o  <= last;
    frame_abort_o <= (place && in_last_i && in_err_i) || (open_q && err_q);
    frame_data_o  <= data;
    frame_icrc_o  <= icrc;
  end

  `ROCEGEN_ASSERT(frame_holds_payload, !(go && last) || tail_q || (place && in_last_i))

endmodule

`default_nettype wire
