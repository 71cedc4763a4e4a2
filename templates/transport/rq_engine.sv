// rq_engine: the receive rings of the queue pairs and the shared receive rings, and the completions
// of receives.
//
// Rows of the ring table: row n < QpCount is the own ring of QP n, row QpCount + n the shared ring
// n. Tail and slots belong to this module, the head (entries consumed) of every ring to
// rx_responder, which tells each change on head_*_i, with its count of the ring's set-ups (before
// the completion of the entry leaves it; a set-up is a change, to zero), one a cycle. It reads
// rings and slots at any time: rq_ring_o belongs to the rq_row_i of two cycles before, rq_slot_o to
// the rq_slot_i of two cycles before, one of each a cycle; a row that does not exist reads as zero.
// The slot of entry number i is base + (i mod 2^log2).
//
// s_rqe, in order: an entry goes into the ring that it names. A full ring holds back the stream
// until an entry is consumed (cnt_rq_ring_full_o once). A QP in ERR: completes at once with
// WcFlushErr. QP in RESET or never set up, QP without a ring of its own, number beyond the table,
// opcode or unknown flags not 0: completes at once with WcLocQpOpErr.
//
// s_cfg: a set-up empties the QP's ring (it has one when rq_on, not srq, and the ring fits into the
// slots), a change to RESET closes it: entries in it vanish without completions. Other changes have
// no effect here: a change to ERR comes back as rx_responder's flush mark. s_srq sets up a shared
// ring, empty. Both are taken within 30 cycles from ready_o on, whatever the outputs do; every
// set-up counts the ring's gen up, by which rx_responder knows that both see the same ring.
//
// s_rcq (s_rcq_tuser: a write of that QP failed, a success becomes WcLocProtErr): completions go to
// m_cqe; a mark (flush) puts the QP into the list of rings to be flushed, if its gen is that of the
// ring. The list is worked off between completions: every entry from head to tail completes with
// WcFlushErr, in order, then the ring is in ERR. m_cqe may stall for ever: s_rcq and the
// completions of s_rqe then wait, nothing is lost.
//
// Throughput: an entry posted every 2 cycles, a completion every 2. Latency: slot and tail can be
// read the third cycle after the entry was taken; m_cqe 2 cycles after s_rcq was offered.
//
// QpCount: 1..16384. SrqCount: shared rings, 0..4096. RqeSlots: slots of all rings together,
// 2..2^20.
// rocegen: comb none
`include "rocegen_assert.svh"
`default_nettype none

module rq_engine #(
  parameter int QpCount = 16,
  parameter int SrqCount = 0,
  parameter int RqeSlots = 256
) (
  input  logic               clk,
  input  logic               rst,
  output logic               ready_o,
  input  logic               s_rqe_tvalid,
  output logic               s_rqe_tready,
  input  logic [255:0]       s_rqe_tdata,
  input  logic               s_cfg_tvalid,
  output logic               s_cfg_tready,
  input  roce_pkg::qp_cfg_t  s_cfg_tdata,
  input  logic               s_srq_tvalid,
  output logic               s_srq_tready,
  input  roce_pkg::srq_cfg_t s_srq_tdata,
  input  logic               s_rcq_tvalid,
  output logic               s_rcq_tready,
  input  roce_pkg::rcq_t     s_rcq_tdata,
  input  logic [0:0]         s_rcq_tuser,
  output logic               m_cqe_tvalid,
  input  logic               m_cqe_tready,
  output logic [255:0]       m_cqe_tdata,
  input  logic [23:0]        rq_row_i,
  output roce_pkg::rq_ring_t rq_ring_o,
  input  logic [19:0]        rq_slot_i,
  output roce_pkg::rq_slot_t rq_slot_o,
  input  logic               head_we_i,
  input  logic [23:0]        head_row_i,
  input  logic [3:0]         head_gen_i,
  input  logic [21:0]        head_i,
  output logic               cnt_rq_rqes_o,
  output logic               cnt_rq_rqes_rejected_o,
  output logic               cnt_rq_ring_full_o,
  output logic               cnt_rq_completions_o,
  output logic               cnt_rq_flushed_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "rq_engine: QpCount must be in 1..16384");
  end
  if (SrqCount < 0 || SrqCount > 4096) begin : gen_check_srq_count
    $fatal(1, "rq_engine: SrqCount must be in 0..4096");
  end
  if (RqeSlots < 2 || RqeSlots > 1048576) begin : gen_check_slots
    $fatal(1, "rq_engine: RqeSlots must be in 2..2^20");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int Rows = QpCount + SrqCount;
  localparam int RowW = Rows > 1 ? $clog2(Rows) : 1;
  localparam int SlotW = $clog2(RqeSlots);

  // ---- table of rings, used by post and control by turns ----------------------------------------
  logic              hold;
  logic [RowW-1:0]   post_look_row;
  logic              post_we;
  logic [RowW-1:0]   post_row;
  roce_pkg::rq_row_t post_data;
  logic [RowW-1:0]   control_look_row;
  logic              control_we;
  logic [RowW-1:0]   control_row;
  roce_pkg::rq_row_t control_data;
  roce_pkg::rq_row_t row;
  logic [21:0]       head;
  logic              head_known;

  rq_rings #(
    .Rows(Rows),
    .RowW(RowW)
  ) u_rings (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .look_row_i(hold ? control_look_row : post_look_row),
    .row_o(row),
    .head_known_o(head_known),
    .head_o(head),
    .we_i(post_we || control_we),
    .wr_row_i(hold ? control_row : post_row),
    .wr_data_i(hold ? control_data : post_data),
    .head_we_i(head_we_i),
    .head_row_i(head_row_i),
    .head_gen_i(head_gen_i),
    .head_i(head_i),
    .rq_row_i(rq_row_i),
    .rq_ring_o(rq_ring_o)
  );

  // ---- entries ----------------------------------------------------------------------------------
  logic [SlotW-1:0]   slot_addr;
  roce_pkg::rq_slot_t slot;
  logic               reject_valid;
  logic               reject_ready;
  logic               reject_flush;
  logic [23:0]        reject_qpn;
  logic [63:0]        reject_wr_id;

  rq_post #(
    .QpCount(QpCount),
    .SrqCount(SrqCount),
    .RowW(RowW),
    .SlotW(SlotW)
  ) u_post (
    .clk(clk),
    .rst(rst),
    .enable_i(ready_o),
    .hold_i(hold),
    .s_rqe_tvalid(s_rqe_tvalid),
    .s_rqe_tready(s_rqe_tready),
    .s_rqe_tdata(s_rqe_tdata),
    .look_row_o(post_look_row),
    .row_i(row),
    .head_i(head),
    .we_o(post_we),
    .wr_row_o(post_row),
    .wr_data_o(post_data),
    .slot_addr_o(slot_addr),
    .slot_o(slot),
    .m_reject_tvalid(reject_valid),
    .m_reject_tready(reject_ready),
    .reject_flush_o(reject_flush),
    .reject_qpn_o(reject_qpn),
    .reject_wr_id_o(reject_wr_id),
    .cnt_rq_rqes_o(cnt_rq_rqes_o),
    .cnt_rq_rqes_rejected_o(cnt_rq_rqes_rejected_o),
    .cnt_rq_ring_full_o(cnt_rq_ring_full_o)
  );

  ram_sdp #(
    .Width(roce_pkg::RqSlotW),
    .Depth(RqeSlots),
    .Latency(2),
    .Style(RqeSlots >= 4096 ? 2 : 0)
  ) u_slots (
    .clk(clk),
    .wr_en_i(post_we),
    .wr_addr_i(slot_addr),
    .wr_data_i(slot),
    .rd_en_i(1'b1),
    .rd_addr_i(rq_slot_i[SlotW-1:0]),
    .rd_data_o(rq_slot_o)
  );

  // ---- set-ups and flushes ----------------------------------------------------------------------
  logic           mark_ready;
  logic           flush_idle;
  logic           flush_start;
  logic           flush_stop;
  logic [21:0]    flush_from;
  logic [21:0]    flush_idx;
  logic [QpW-1:0] flush_qpn;
  logic           flush_valid;
  logic           flush_ready;
  logic [63:0]    flush_wr_id;

  rq_control #(
    .QpCount(QpCount),
    .SrqCount(SrqCount),
    .QpW(QpW),
    .RowW(RowW),
    .RqeSlots(RqeSlots)
  ) u_control (
    .clk(clk),
    .rst(rst),
    .enable_i(ready_o),
    .hold_o(hold),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .s_srq_tvalid(s_srq_tvalid),
    .s_srq_tready(s_srq_tready),
    .s_srq_tdata(s_srq_tdata),
    .s_mark_tvalid(s_rcq_tvalid && s_rcq_tdata.flush),
    .s_mark_tready(mark_ready),
    .mark_qpn_i(s_rcq_tdata.qpn),
    .mark_gen_i(s_rcq_tdata.gen),
    .look_row_o(control_look_row),
    .row_i(row),
    .head_known_i(head_known),
    .head_i(head),
    .we_o(control_we),
    .wr_row_o(control_row),
    .wr_data_o(control_data),
    .flush_idle_i(flush_idle),
    .flush_idx_i(flush_idx),
    .flush_start_o(flush_start),
    .flush_stop_o(flush_stop),
    .flush_idx_o(flush_from),
    .flush_qpn_o(flush_qpn)
  );

  rq_flush #(
    .RqeSlots(RqeSlots),
    .SlotW(SlotW)
  ) u_flush (
    .clk(clk),
    .rst(rst),
    .slot_we_i(post_we),
    .slot_addr_i(slot_addr),
    .slot_wr_id_i(slot.wr_id),
    .start_i(flush_start),
    .stop_i(flush_stop),
    .idx_i(flush_from),
    .end_i(row.tail),
    .base_i(row.base[SlotW-1:0]),
    .log2_i(row.log2),
    .idle_o(flush_idle),
    .idx_o(flush_idx),
    .m_wr_id_tvalid(flush_valid),
    .m_wr_id_tready(flush_ready),
    .m_wr_id_tdata(flush_wr_id)
  );

  // ---- completions ------------------------------------------------------------------------------
  logic done_ready;

  rq_complete u_complete (
    .clk(clk),
    .rst(rst),
    .s_done_tvalid(s_rcq_tvalid && !s_rcq_tdata.flush),
    .s_done_tready(done_ready),
    .s_done_tdata(s_rcq_tdata),
    .s_done_tuser(s_rcq_tuser[0]),
    .s_flush_tvalid(flush_valid),
    .s_flush_tready(flush_ready),
    .flush_qpn_i(24'(flush_qpn)),
    .flush_wr_id_i(flush_wr_id),
    .s_reject_tvalid(reject_valid),
    .s_reject_tready(reject_ready),
    .reject_flush_i(reject_flush),
    .reject_qpn_i(reject_qpn),
    .reject_wr_id_i(reject_wr_id),
    .m_cqe_tvalid(m_cqe_tvalid),
    .m_cqe_tready(m_cqe_tready),
    .m_cqe_tdata(m_cqe_tdata),
    .cnt_rq_completions_o(cnt_rq_completions_o),
    .cnt_rq_flushed_o(cnt_rq_flushed_o)
  );

  // A record is a mark or a completion for as long as it is offered: only one of the two answers.
  assign s_rcq_tready = mark_ready || done_ready;

  // The slot number needs only the low bits.
  logic unused;
  assign unused = ^{rq_slot_i, row.base};

  `ROCEGEN_ASSERT(one_writer, !(post_we && (control_we || hold)))
  `ROCEGEN_ASSERT(one_reader, !(mark_ready && done_ready))
  `ROCEGEN_STREAM(rcq_contract, s_rcq_tvalid, s_rcq_tready, {s_rcq_tuser, s_rcq_tdata})

endmodule

`default_nettype wire
