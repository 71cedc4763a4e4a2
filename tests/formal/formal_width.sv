// formal_width: width_up and width_down keep every byte, its order, its packet's end and user.
//
// The environment keeps the contract of packet streams (an empty beat only as a packet of its own). Two
// things are followed, each chosen at will: a byte of a beat, and the end of a packet.
//
// InBytes, OutBytes: of the adapter; it widens when OutBytes > InBytes.
// Reach: 1 claims that nothing followed ever arrives, which must be refuted: the proofs are not empty.
`include "rocegen_assert.svh"
`default_nettype none

module formal_width #(
  parameter int InBytes = 1,
  parameter int OutBytes = 3,
  parameter int Reach = 0
) (
  input logic               clk,
  input logic               want,
  input logic [InBytes-1:0] fresh,  // one free bit a byte
  input logic               fresh_last,
  input logic [2:0]         fresh_count,
  input logic               fresh_user,
  input logic               pick_byte,
  input logic [2:0]         pick_index,
  input logic               pick_end,
  input logic               m_ready
);

  logic started = 1'b0;
  logic rst;
  assign rst = !started;
  always_ff @(posedge clk) started <= 1'b1;

  // ---- source ----
  logic               held_q = 1'b0;
  logic [InBytes-1:0] held_bits_q;
  logic               held_last_q;
  logic [2:0]         held_count_q;
  logic               first_q = 1'b1;
  logic               user_q;
  logic               s_valid;
  logic               s_ready;
  logic [InBytes-1:0] bits;
  logic               s_last;
  logic [2:0]         count;  // bytes of the beat
  logic               s_user;
  logic [InBytes*8-1:0] s_data;
  logic [InBytes-1:0] s_keep;
  assign s_valid = started && (held_q || want);
  assign bits = held_q ? held_bits_q : fresh;
  assign s_last = held_q ? held_last_q : fresh_last;
  assign s_user = (held_q || !first_q) ? user_q : fresh_user;
  always_comb begin
    count = held_q ? held_count_q : fresh_count;
    if (!held_q) begin
      if (!fresh_last || (fresh_count > 3'(InBytes))) count = 3'(InBytes);
      else if ((fresh_count == '0) && !first_q) count = 3'd1;
    end
    for (int i = 0; i < InBytes; i++) begin
      s_keep[i] = 3'(i) < count;
      s_data[8*i +: 8] = {7'd0, bits[i]};
    end
  end
  always_ff @(posedge clk) begin
    held_q <= s_valid && !s_ready;
    held_bits_q <= bits;
    held_last_q <= s_last;
    held_count_q <= count;
    user_q <= s_user;
    if (s_valid && s_ready) first_q <= s_last;
  end

  logic                  m_valid;
  logic [OutBytes*8-1:0] m_data;
  logic [OutBytes-1:0]   m_keep;
  logic                  m_last;
  logic                  m_user;
  if (OutBytes > InBytes) begin : gen_up
    width_up #(.InBytes(InBytes), .OutBytes(OutBytes), .UserW(1)) u_dut (
      .clk(clk), .rst(rst), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_data),
      .s_axis_tkeep(s_keep), .s_axis_tlast(s_last), .s_axis_tuser(s_user), .m_axis_tvalid(m_valid),
      .m_axis_tready(m_ready), .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tlast(m_last),
      .m_axis_tuser(m_user)
    );
  end else begin : gen_down
    width_down #(.InBytes(InBytes), .OutBytes(OutBytes), .UserW(1)) u_dut (
      .clk(clk), .rst(rst), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_data),
      .s_axis_tkeep(s_keep), .s_axis_tlast(s_last), .s_axis_tuser(s_user), .m_axis_tvalid(m_valid),
      .m_axis_tready(m_ready), .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tlast(m_last),
      .m_axis_tuser(m_user)
    );
  end

  logic [2:0] out_count;
  logic       enters;
  logic       leaves;
  always_comb begin
    out_count = '0;
    for (int i = 0; i < OutBytes; i++) out_count = out_count + 3'(m_keep[i]);
  end
  assign enters = s_valid && s_ready;
  assign leaves = started && m_valid && m_ready;

  logic [3:0] bytes_in = '0;  // bytes inside
  logic [1:0] ends_in = '0;  // packet ends inside
  logic [3:0] bytes_rest;
  logic [1:0] ends_rest;
  assign bytes_rest = bytes_in - (leaves ? 4'(out_count) : 4'd0);
  assign ends_rest = ends_in - 2'(leaves && m_last);
  always_ff @(posedge clk) begin
    bytes_in <= bytes_rest + (enters ? 4'(count) : 4'd0);
    ends_in <= ends_rest + 2'(enters && s_last);
  end

  // ---- a byte ----
  logic       byte_on = 1'b0;
  logic       byte_done = 1'b0;
  logic [3:0] byte_ahead;
  logic       byte_bit;
  logic       byte_user;
  logic       byte_ends;  // last byte of its packet
  logic       byte_here;
  logic       shown_bit;
  assign byte_here = byte_on && m_valid && (byte_ahead < 4'(out_count));
  always_comb begin
    shown_bit = 1'b0;
    for (int i = 0; i < OutBytes; i++) if (byte_ahead == 4'(i)) shown_bit = m_data[8*i];
  end
  always_ff @(posedge clk) begin
    if (enters && pick_byte && (pick_index < count) && !byte_on && !byte_done) begin
      byte_on <= 1'b1;
      byte_ahead <= bytes_rest + 4'(pick_index);
      byte_user <= s_user;
      byte_ends <= s_last && (pick_index == count - 1'b1);
      byte_bit <= 1'b0;
      for (int i = 0; i < InBytes; i++) if (pick_index == 3'(i)) byte_bit <= bits[i];
    end else if (byte_on && leaves) begin
      byte_ahead <= byte_ahead - 4'(out_count);
      if (byte_here) begin
        byte_on <= 1'b0;
        byte_done <= 1'b1;
      end
    end
  end

  // ---- the end of a packet ----
  logic       end_on = 1'b0;
  logic       end_done = 1'b0;
  logic [3:0] end_bytes;  // bytes up to the end
  logic [1:0] end_ahead;  // other ends before it
  logic       end_user;
  always_ff @(posedge clk) begin
    if (enters && s_last && pick_end && !end_on && !end_done) begin
      end_on <= 1'b1;
      end_bytes <= bytes_rest + 4'(count);
      end_ahead <= ends_rest;
      end_user <= s_user;
    end else if (end_on && leaves) begin
      end_bytes <= end_bytes - 4'(out_count);
      if (m_last) end_ahead <= end_ahead - 1'b1;
      if (m_last && (end_ahead == '0)) begin
        end_on <= 1'b0;
        end_done <= 1'b1;
      end
    end
  end

  always @(posedge clk) begin
    if (started && Reach != 0) assert (!(byte_done && end_done));
    if (started) begin
      assert (bytes_in <= 4'(InBytes > OutBytes ? InBytes : OutBytes));
      assert (ends_in <= 2'd1);
      // Nothing is invented.
      if (m_valid) assert (4'(out_count) <= bytes_in);
      if (m_valid && m_last) assert (ends_in != '0);
      // A byte.
      if (byte_on) assert (byte_ahead < bytes_in);
      if (byte_here) begin
        assert (shown_bit == byte_bit);
        assert (m_user == byte_user);
        assert (byte_ends == (m_last && (byte_ahead == 4'(out_count) - 1'b1)));
      end
      // An end.
      if (end_on) assert (ends_in > end_ahead);
      if (end_on && m_valid && (end_ahead == '0)) begin
        assert (4'(out_count) <= end_bytes);
        assert (m_last == (4'(out_count) == end_bytes));
        assert (m_user == end_user);
      end
      // Progress.
      if (ends_in != '0 || bytes_in >= 4'(OutBytes)) assert (m_valid);
      if (!m_valid) assert (s_ready);
      if (m_valid && m_ready && (bytes_rest == '0)) assert (s_ready);
    end
  end

  `ROCEGEN_STREAM(out_contract, m_valid, m_ready, {m_user, m_last, m_keep, m_data})
  `ROCEGEN_PACKET(out_packet, m_valid, m_last, m_keep)

endmodule

`default_nettype wire
