// rq_post: puts receive queue entries into their rings.
//
// s_rqe, in order: the entry's row is looked up (look_row_o; row_i and head_i two cycles later).
// Open ring with room: the slot is written (slot_*_o) and the row with its new tail (we_o,
// wr_row_o, wr_data_o). Full: looked up again until there is room, cnt_rq_ring_full_o once. No open
// ring, or an entry that is malformed (opcode or flags[7:1] not 0): m_reject, a completion with
// WcFlushErr when the ring is that of a QP in ERR, else with WcLocQpOpErr.
//
// hold_i: nothing is written and nothing taken, from its first cycle on; what was looked up before
// or meanwhile is looked up again.
//
// Throughput: an entry every 2 cycles, from one ring or many; one that is rejected takes 5.
// Latency: slot and row are written in the second cycle after the entry was taken.
//
// QpCount: 1..16384. SrqCount: 0..4096. RowW: bits of a row number. SlotW: bits of a slot number,
// 1..20.
`include "rocegen_assert.svh"
`default_nettype none

module rq_post #(
  parameter int QpCount = 16,
  parameter int SrqCount = 0,
  parameter int RowW = 4,
  parameter int SlotW = 8
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               enable_i,
  input  logic               hold_i,
  input  logic               s_rqe_tvalid,
  output logic               s_rqe_tready,
  input  roce_pkg::rqe_t     s_rqe_tdata,
  output logic [RowW-1:0]    look_row_o,
  input  roce_pkg::rq_row_t  row_i,
  input  logic [21:0]        head_i,
  output logic               we_o,
  output logic [RowW-1:0]    wr_row_o,
  output roce_pkg::rq_row_t  wr_data_o,
  output logic [SlotW-1:0]   slot_addr_o,
  output roce_pkg::rq_slot_t slot_o,
  output logic               m_reject_tvalid,
  input  logic               m_reject_tready,
  output logic               reject_flush_o,
  output logic [23:0]        reject_qpn_o,
  output logic [63:0]        reject_wr_id_o,
  output logic               cnt_rq_rqes_o,
  output logic               cnt_rq_rqes_rejected_o,
  output logic               cnt_rq_ring_full_o
);

  if (SlotW < 1 || SlotW > 20) begin : gen_check_slot
    $fatal(1, "rq_post: SlotW must be in 1..20");
  end

  // ---- the entry that is looked up --------------------------------------------------------------
  logic               valid_q;
  logic               read_q;  // its row arrives from the table
  logic               found_q;  // row_i and head_i belong to it
  logic               full_seen_q;
  logic               reject_q;
  logic               reject_flush_q;
  logic [RowW-1:0]    row_q;
  logic               good_q;  // the row exists and the entry is well-formed
  logic [23:0]        qpn_q;
  roce_pkg::rq_slot_t slot_q;

  logic               load;
  logic               decide;
  logic               queueable;
  logic               full;
  logic               accept;
  logic               leave;
  logic               shared;
  logic [RowW-1:0]    in_row;
  logic               in_good;

  assign shared  = s_rqe_tdata.flags[0];
  assign in_row  = s_rqe_tdata.qpn[RowW-1:0] + (shared ? RowW'(QpCount) : '0);
  assign in_good = s_rqe_tdata.qpn < (shared ? 24'(SrqCount) : 24'(QpCount)) &&
      s_rqe_tdata.opcode == '0 && s_rqe_tdata.flags[7:1] == '0;

  assign decide    = valid_q && found_q && !reject_q && !hold_i;
  assign queueable = good_q && row_i.mode == roce_pkg::RqOpen;
  assign accept    = decide && queueable && !full;
  assign leave     = accept || (reject_q && m_reject_tready);

  assign s_rqe_tready = enable_i && !hold_i && (!valid_q || leave);
  assign load         = s_rqe_tvalid && s_rqe_tready;
  assign look_row_o   = (valid_q && !leave) ? row_q : in_row;

  always_ff @(posedge clk) begin
    if (rst) begin
      valid_q     <= 1'b0;
      read_q      <= 1'b0;
      found_q     <= 1'b0;
      full_seen_q <= 1'b0;
      reject_q    <= 1'b0;
    end else begin
      if (load) valid_q <= 1'b1;
      else if (leave) valid_q <= 1'b0;
      // Not decided in the one cycle in which it was possible: looked up again.
      read_q  <= !hold_i && (load || (valid_q && !read_q && !leave));
      found_q <= read_q && !hold_i && !leave;
      if (leave) full_seen_q <= 1'b0;
      else if (decide && queueable && full) full_seen_q <= 1'b1;
      if (decide && !queueable) reject_q <= 1'b1;
      else if (m_reject_tready) reject_q <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (load) begin
      row_q         <= in_row;
      good_q        <= in_good;
      qpn_q         <= s_rqe_tdata.qpn;
      slot_q.target <= s_rqe_tdata.target;
      slot_q.addr   <= s_rqe_tdata.addr;
      slot_q.length <= s_rqe_tdata.length;
      slot_q.wr_id  <= s_rqe_tdata.wr_id;
    end
    if (decide) reject_flush_q <= good_q && row_i.mode == roce_pkg::RqFlushed;
  end

  // ---- room -------------------------------------------------------------------------------------
  // Between head and tail are never more than 2^log2 entries; that many are when the indices differ
  // in bit log2 and in none below it.
  logic [21:0] differ;
  logic [21:0] in_slot;  // bits of an index that count within the ring
  logic [21:0] full_bit;
  logic [21:0] offset;

  always_comb begin
    differ = row_i.tail ^ head_i;
    for (int i = 0; i < 22; i++) begin
      in_slot[i]  = 5'(i) < row_i.log2;
      full_bit[i] = (in_slot[i] && differ[i]) || (5'(i) == row_i.log2 && !differ[i]);
    end
    full   = full_bit == '0;
    offset = row_i.tail & in_slot;
  end

  // ---- writes -----------------------------------------------------------------------------------
  assign we_o        = accept;
  assign wr_row_o    = row_q;
  assign slot_addr_o = row_i.base[SlotW-1:0] + offset[SlotW-1:0];
  assign slot_o      = slot_q;

  always_comb begin
    wr_data_o      = row_i;
    wr_data_o.tail = row_i.tail + 1'b1;
  end

  assign m_reject_tvalid = reject_q;
  assign reject_flush_o  = reject_flush_q;
  assign reject_qpn_o    = qpn_q;
  assign reject_wr_id_o  = slot_q.wr_id;

  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_rq_rqes_o          <= 1'b0;
      cnt_rq_rqes_rejected_o <= 1'b0;
      cnt_rq_ring_full_o     <= 1'b0;
    end else begin
      cnt_rq_rqes_o          <= accept;
      cnt_rq_rqes_rejected_o <= reject_q && m_reject_tready && !reject_flush_q;
      cnt_rq_ring_full_o     <= decide && queueable && full && !full_seen_q;
    end
  end

  // The key and reserved fields of an entry; the slot number needs only the low bits.
  logic unused;
  assign unused = ^{s_rqe_tdata, row_i.base, offset};

  `ROCEGEN_STREAM(rqe_contract, s_rqe_tvalid, s_rqe_tready, s_rqe_tdata)

endmodule

`default_nettype wire
