// aes_strip: takes the 16-byte trailer off the packets that have one (s_active_i).
//
// s_*: packets whose record says how many bytes they have, trailer included; m_*: the same without it, the
// trailer beside the last beat. The last beat waits for the whole trailer. Packets that are not active pass
// with tag 0. One with fewer than 16 bytes loses all of them and leaves as an empty one with m_short_o.
// Latency 1 cycle; a beat a cycle; a beat that holds nothing but trailer takes a cycle and gives none.
//
// DataW: 64..1024, a power of two. UserW: bits of a record that passes unchanged.
`include "rocegen_assert.svh"
`default_nettype none

module aes_strip #(
  parameter int DataW = 512,
  parameter int UserW = 8
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               s_pkt_tvalid,
  output logic               s_pkt_tready,
  input  logic [DataW-1:0]   s_pkt_tdata,
  input  logic [DataW/8-1:0] s_pkt_tkeep,
  input  logic               s_pkt_tlast,
  input  logic [UserW-1:0]   s_pkt_tuser,
  input  logic               s_active_i,
  input  logic [13:0]        s_bytes_i,
  output logic               m_pkt_tvalid,
  input  logic               m_pkt_tready,
  output logic [DataW-1:0]   m_pkt_tdata,
  output logic [DataW/8-1:0] m_pkt_tkeep,
  output logic               m_pkt_tlast,
  output logic [UserW-1:0]   m_pkt_tuser,
  output logic               m_active_o,
  output logic [13:0]        m_bytes_o,
  output logic [127:0]       m_tag_o,
  output logic               m_short_o
);

  localparam int Bytes = DataW / 8;
  localparam int ByteW = $clog2(Bytes);

  // Bytes of text still to come, from this beat on; the beat in which they end holds the last of the text.
  logic        open_q;  // not the packet's first beat
  logic        tail_q;  // the text has ended
  logic [13:0] left_q;
  logic [13:0] whole;  // text of the packet
  logic [13:0] left;
  logic        short;
  logic        ends;  // the text ends in this beat
  logic        take;
  assign short = s_active_i && s_bytes_i < 14'd16;
  assign whole = !s_active_i ? s_bytes_i : short ? '0 : s_bytes_i - 14'd16;
  assign left = open_q ? left_q : whole;
  assign ends = !tail_q && (s_active_i ? left <= 14'(Bytes) : s_pkt_tlast);

  // ---- the beat that waits; more of its trailer may come in the meantime ------------------------
  logic               full_q;
  logic               done_q;  // may leave
  logic [DataW-1:0]   data_q;
  logic [Bytes-1:0]   keep_q;
  logic               last_q;
  logic [UserW-1:0]   user_q;
  logic               active_q;
  logic [13:0]        bytes_q;
  logic               short_q;
  logic [127:0]       tag_q;

  assign take = s_pkt_tvalid && s_pkt_tready;
  assign s_pkt_tready = !full_q || !done_q || m_pkt_tready;

  always_ff @(posedge clk) begin
    if (rst) begin
      open_q <= 1'b0;
      tail_q <= 1'b0;
      full_q <= 1'b0;
    end else begin
      if (take) begin
        open_q <= !s_pkt_tlast;
        tail_q <= !s_pkt_tlast && (tail_q || ends);
      end
      full_q <= (full_q && !(m_pkt_tvalid && m_pkt_tready)) || take;
    end
  end

  logic [Bytes-1:0] text;  // bytes of the beat that are text
  logic [ByteW-1:0] offset;  // of the trailer in the beat where the text ends
  for (genvar i = 0; i < Bytes; i++) begin : gen_text
    assign text[i] = left > 14'(i);
  end
  assign offset = whole[ByteW-1:0];

  // ---- trailer: byte j is byte (offset + j) mod Bytes of this beat or of the next ---------------
  logic [DataW-1:0]   turned;
  logic [127:0]       bytes_here;
  logic [15:0]        here;  // which bytes of the trailer this beat holds
  logic [4:0]         first_q;  // bytes of the trailer that have come
  logic [4:0]         first;
  logic [ByteW:0]     room;
  localparam int Levels = (ByteW + 1) / 2;
  logic [(Levels+1)*DataW-1:0] level;
  assign level[DataW-1:0] = s_pkt_tdata;
  for (genvar l = 0; l < Levels; l++) begin : gen_level
    localparam int LevelW = ByteW - 2 * l < 2 ? 1 : 2;
    byte_rotate_level #(
      .Bytes(Bytes),
      .Unit(1 << (2 * l)),
      .AmountW(LevelW)
    ) u_level (
      .data_i(level[l*DataW+:DataW]),
      .amount_i(offset[2*l+:LevelW]),
      .data_o(level[(l+1)*DataW+:DataW])
    );
  end
  assign turned = level[Levels*DataW+:DataW];
  logic unused;
  assign unused = ^turned;
  // A last beat of text that is full holds nothing of the trailer; an empty text leaves room for a beat of it.
  assign room = tail_q ? (ByteW+1)'(Bytes) : (left == 14'(Bytes)) ? '0 : (ByteW+1)'(Bytes) -
      {1'b0, offset};
  assign first = tail_q ? first_q : '0;
  for (genvar j = 0; j < 16; j++) begin : gen_tag
    assign bytes_here[8*j+:8] = turned[8*(j%Bytes)+:8];
    assign here[j] = 5'(j) >= first && 12'(j) < 12'(first) + 12'(room);
  end

  always_ff @(posedge clk) begin
    if (take) begin
      left_q  <= left - 14'(Bytes);
      first_q <= 12'(first) + 12'(room) > 12'd16 ? 5'd16 : first + 5'(room);
      for (int j = 0; j < 16; j++) if (here[j]) tag_q[8*j+:8] <= bytes_here[8*j+:8];
      done_q <= s_pkt_tlast || !(s_active_i && (ends || tail_q));
      if (!tail_q) begin
        data_q   <= s_pkt_tdata;
        keep_q   <= s_active_i ? text : s_pkt_tkeep;
        last_q   <= ends;
        user_q   <= s_pkt_tuser;
        active_q <= s_active_i;
        bytes_q  <= whole;
        short_q  <= short;
      end
    end
  end

  assign m_pkt_tvalid = full_q && done_q;
  assign m_pkt_tdata = data_q;
  assign m_pkt_tkeep = keep_q;
  assign m_pkt_tlast = last_q;
  assign m_pkt_tuser = user_q;
  assign m_active_o = active_q;
  assign m_bytes_o = bytes_q;
  assign m_tag_o = tag_q;
  assign m_short_o = short_q;

  `ROCEGEN_STREAM(in_contract, s_pkt_tvalid, s_pkt_tready,
                  {s_pkt_tuser, s_pkt_tlast, s_pkt_tkeep, s_pkt_tdata, s_active_i, s_bytes_i})

endmodule

`default_nettype wire
