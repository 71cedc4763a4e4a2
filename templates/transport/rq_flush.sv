// rq_flush: walks a receive ring and gives the wr_id of each of its entries.
//
// start_i (only while idle_o): from entry idx_i up to, but without, entry end_i of the ring at
// base_i, log2_i. m_wr_id: one record an entry, in order, up to one a cycle, the first 3 cycles
// after start_i. idle_o: all have left; idx_o: where the walk ended. stop_i: ends the walk early;
// one more record may leave. Keeps the wr_id of every slot (slot_we_i).
//
// RqeSlots: 2..2^20. SlotW: bits of a slot number.
`include "rocegen_assert.svh"
`default_nettype none

module rq_flush #(
  parameter int RqeSlots = 256,
  parameter int SlotW = 8
) (
  input  logic             clk,
  input  logic             rst,
  input  logic             slot_we_i,
  input  logic [SlotW-1:0] slot_addr_i,
  input  logic [63:0]      slot_wr_id_i,
  input  logic             start_i,
  input  logic             stop_i,
  input  logic [21:0]      idx_i,
  input  logic [21:0]      end_i,
  input  logic [SlotW-1:0] base_i,
  input  logic [4:0]       log2_i,
  output logic             idle_o,
  output logic [21:0]      idx_o,
  output logic             m_wr_id_tvalid,
  input  logic             m_wr_id_tready,
  output logic [63:0]      m_wr_id_tdata
);

  if (SlotW != $clog2(RqeSlots)) begin : gen_check_slot
    $fatal(1, "rq_flush: SlotW must be the width of a slot number");
  end

  logic             walk_q;
  logic [21:0]      idx_q;
  logic [21:0]      end_q;
  logic [SlotW-1:0] base_q;
  logic [4:0]       log2_q;
  logic             slot_valid_q;
  logic [SlotW-1:0] slot_q;
  logic             valid_q;
  logic             left;
  logic             move;
  logic [21:0]      offset;

  assign left = idx_q != end_q;
  assign move = !valid_q || m_wr_id_tready;

  always_comb begin
    for (int i = 0; i < 22; i++) offset[i] = idx_q[i] && 5'(i) < log2_q;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      walk_q       <= 1'b0;
      slot_valid_q <= 1'b0;
      valid_q      <= 1'b0;
    end else begin
      if (start_i) walk_q <= 1'b1;
      else if (stop_i || !left) walk_q <= 1'b0;
      if (stop_i) slot_valid_q <= 1'b0;
      else if (move) slot_valid_q <= walk_q && left;
      if (move) valid_q <= slot_valid_q;
    end
  end

  always_ff @(posedge clk) begin
    if (start_i) begin
      idx_q  <= idx_i;
      end_q  <= end_i;
      base_q <= base_i;
      log2_q <= log2_i;
    end else if (walk_q && left && move) begin
      idx_q <= idx_q + 1'b1;
    end
    if (move) slot_q <= base_q + offset[SlotW-1:0];
  end

  ram_sdp #(
    .Width(64),
    .Depth(RqeSlots),
    .Latency(1),
    .Style(RqeSlots >= 4096 ? 2 : 0)
  ) u_wr_id (
    .clk(clk),
    .wr_en_i(slot_we_i),
    .wr_addr_i(slot_addr_i),
    .wr_data_i(slot_wr_id_i),
    .rd_en_i(move),
    .rd_addr_i(slot_q),
    .rd_data_o(m_wr_id_tdata)
  );

  assign idle_o         = !walk_q && !slot_valid_q && !valid_q;
  assign idx_o          = idx_q;
  assign m_wr_id_tvalid = valid_q;

  // The slot number needs only the low bits.
  logic unused;
  assign unused = ^offset;

  `ROCEGEN_ASSERT(start_while_idle, !start_i || idle_o)

endmodule

`default_nettype wire
