// pre_join: joins pieces of 0 to Bytes bytes into full beats, packet by packet.
//
// s_piece carries s_piece_bytes bytes from byte 0 of tdata. m_pkt has the bytes of a packet's
// pieces: full beats, the last one as it comes; a packet without a byte is one beat with tkeep
// 0. A beat leaves when the next piece shows that it is full or that its packet is over, so that
// the last beat of a packet is never an empty one. Handshake: m_pkt comes from registers;
// s_piece_tready follows m_pkt_tready combinationally. One piece a cycle, whatever their
// lengths: it gives at most one beat. Latency RotateStages + 2 cycles from the piece that fills
// or ends a beat.
//
// DataW: bits a beat, 64..1024, a power of two. Unit: 1, 2 or 4, every s_piece_bytes is a
// multiple of it. RotateStages: registers in the rotator, 1..4.
// rocegen: comb s_piece.tready<-m_pkt.tready
`include "rocegen_assert.svh"
`default_nettype none

module pre_join #(
  parameter int DataW = 512,
  parameter int Unit = 4,
  parameter int RotateStages = 1
) (
  input  logic                       clk,
  input  logic                       rst,
  input  logic                       s_piece_tvalid,
  output logic                       s_piece_tready,
  input  logic [DataW-1:0]           s_piece_tdata,
  input  logic                       s_piece_tlast,
  input  logic [$clog2(DataW/8):0]   s_piece_bytes,
  output logic                       m_pkt_tvalid,
  input  logic                       m_pkt_tready,
  output logic [DataW-1:0]           m_pkt_tdata,
  output logic [DataW/8-1:0]         m_pkt_tkeep,
  output logic                       m_pkt_tlast
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "pre_join: DataW must be a power of two, 64..1024");
  end
  if (Unit != 1 && Unit != 2 && Unit != 4) begin : gen_check_unit
    $fatal(1, "pre_join: Unit must be 1, 2 or 4");
  end
  if (RotateStages < 1 || RotateStages > 4) begin : gen_check_rotate
    $fatal(1, "pre_join: RotateStages must be 1..4");
  end

  localparam int Bytes = DataW / 8;
  localparam int ByteW = $clog2(Bytes);
  localparam int UnitW = $clog2(Unit);

  // ---- what the piece does: the bytes kept so far decide ----
  logic             advance;
  logic [ByteW:0]   fill_q;  // bytes kept, 0..Bytes
  logic             done_q;  // their packet is over
  logic [ByteW:0]   base;  // bytes kept of the same packet
  logic [ByteW+1:0] total;
  logic             over;  // more than a beat
  logic             take;
  logic             emit;

  assign s_piece_tready = advance;
  assign take = s_piece_tvalid;
  assign base = done_q ? '0 : fill_q;
  assign total = (ByteW+2)'(base) + (ByteW+2)'(s_piece_bytes);
  assign over = total > (ByteW+2)'(Bytes);
  assign emit = done_q || (take && over);

  always_ff @(posedge clk) begin
    if (rst) begin
      fill_q <= '0;
      done_q <= 1'b0;
    end else if (advance) begin
      if (take) begin
        fill_q <= over ? (ByteW+1)'(total - (ByteW+2)'(Bytes)) : (ByteW+1)'(total);
        done_q <= s_piece_tlast;
      end else if (done_q) begin
        fill_q <= '0;
        done_q <= 1'b0;
      end
    end
  end

  // ---- the piece goes behind the bytes that are kept ----
  logic [ByteW-1:0] amount;
  logic [DataW-1:0] rotated;

  // The low bits are zero where all lengths are multiples of Unit: no multiplexers for them.
  assign amount = ByteW'(-(base >> UnitW) << UnitW);

  byte_rotate #(
    .Bytes(Bytes),
    .Stages(RotateStages)
  ) u_rotate (
    .clk(clk),
    .ce_i(advance),
    .data_i(s_piece_tdata),
    .amount_i(amount),
    .data_o(rotated)
  );

  // {emit, with the bytes kept alone, take, over, base, bytes of the beat that leaves}
  localparam int CtrlW = 4 + 2 * (ByteW + 1);
  logic [RotateStages*CtrlW-1:0] ctrl_q;
  logic [RotateStages-1:0]       valid_q;
  logic [CtrlW-1:0]              ctrl;
  logic                          end_emit;
  logic                          end_alone;
  logic                          end_take;
  logic                          end_over;
  logic [ByteW:0]                end_base;
  logic [ByteW:0]                end_bytes;

  assign ctrl = {emit, done_q, take, over, base, done_q ? fill_q : (ByteW+1)'(Bytes)};

  if (RotateStages == 1) begin : gen_one
    always_ff @(posedge clk) begin
      if (rst) valid_q <= '0;
      else if (advance) valid_q <= take || emit;
      if (advance) ctrl_q <= ctrl;
    end
  end else begin : gen_more
    always_ff @(posedge clk) begin
      if (rst) valid_q <= '0;
      else if (advance) valid_q <= {valid_q[RotateStages-2:0], take || emit};
      if (advance) ctrl_q <= {ctrl_q[(RotateStages-1)*CtrlW-1:0], ctrl};
    end
  end

  assign {end_emit, end_alone, end_take, end_over, end_base, end_bytes} =
      ctrl_q[(RotateStages-1)*CtrlW+:CtrlW];

  // ---- merge ----
  logic [DataW-1:0] kept_q;
  logic [DataW-1:0] merged;
  logic             out_valid_q;
  logic [DataW-1:0] out_data_q;
  logic [Bytes-1:0] out_keep_q;
  logic             out_last_q;

  always_comb begin
    for (int j = 0; j < Bytes; j++)
      merged[j*8+:8] = (ByteW+1)'(j) < end_base ? kept_q[j*8+:8] : rotated[j*8+:8];
  end

  assign advance = m_pkt_tready || !out_valid_q;

  always_ff @(posedge clk) begin
    if (rst) out_valid_q <= 1'b0;
    else if (advance) out_valid_q <= valid_q[RotateStages-1] && end_emit;
  end

  always_ff @(posedge clk) begin
    if (advance) begin
      if (valid_q[RotateStages-1] && end_take) kept_q <= !end_alone && end_over ? rotated : merged;
      out_data_q <= end_alone ? kept_q : merged;
      for (int j = 0; j < Bytes; j++) out_keep_q[j] <= (ByteW+1)'(j) < end_bytes;
      out_last_q <= end_alone;
    end
  end

  assign m_pkt_tvalid = out_valid_q;
  assign m_pkt_tdata = out_data_q;
  assign m_pkt_tkeep = out_keep_q;
  assign m_pkt_tlast = out_last_q;

  `ROCEGEN_STREAM(piece_contract, s_piece_tvalid, s_piece_tready,
                  {s_piece_tlast, s_piece_bytes, s_piece_tdata})
  `ROCEGEN_ASSERT(piece_length, !s_piece_tvalid || 32'(s_piece_bytes) <= Bytes)
  `ROCEGEN_ASSERT(piece_unit, !s_piece_tvalid || (32'(s_piece_bytes) % Unit) == 0)

endmodule

`default_nettype wire
