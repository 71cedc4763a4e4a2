// sq_requester: sends the requests of all QPs, a turn of one QP after the other.
//
// Composed of the work list of QPs that may send (sq_sched, kicked by s_kick_post, s_kick_ack and
// by itself), sq_fetch (turn, cursor, requests), sq_segment (packets) and sq_emit (commands). Each
// says what it does. Owns the cursors (cursor_*_o), keeps copies of what the other owners
// broadcast. hold_i / idle_o / set_valid_i as in sq_segment and sq_fetch: with hold_i all turns
// end, without waiting for m_cmd.
//
// rd_we_o: READ or atomic number rd_num_o of QP rd_qpn_o is being sent (or sent again: the same
// content), one cycle after it was decided and long before it is on the wire. mem_*_i tells how
// many READs and atomics of a QP, modular, have their data in memory (write responses seen); it
// starts at 0 with set_valid_i. A fenced request waits for that too: what it sends may be what the
// READ brought.
//
// What sq_ack owes: a kick on s_kick_ack for a QP whose `blocked` mark is set when una, rdu,
// limited or lsn change, and for every QP when gen or state change and when rnr ends. What it
// decided without the mark (cursor_*_o came later) it tells on state_*_i within RecheckCycles
// cycles of reading it.
//
// Throughput: a packet a cycle within a turn, READs and atomics one every 2 cycles; a turn costs a
// cycle of its own, 14 when no other QP has anything to send. Latency: 18 cycles from a kick to
// m_cmd (LowLatency: 10).
//
// QpW: bits of a QPN. WqeSlots: slots in the request memory, 2..2^20. SlotW: bits of a slot number.
// IdxW: bits of a ring index, SlotW + 2. AckInterval, WindowPkts, Quantum: as in sq_segment.
// RdDepth: most READs and atomics outstanding per QP, 1..128. LowLatency: 1, in as few cycles as
// possible; for timing that does not need the registers.
`default_nettype none

module sq_requester #(
  parameter int QpW = 4,
  parameter int WqeSlots = 256,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int AckInterval = 16,
  parameter int WindowPkts = 256,
  parameter int Quantum = 16,
  parameter int RdDepth = 16,
  parameter int Selective = 0,
  parameter int LowLatency = 0
) (
  input  logic                 clk,
  input  logic                 rst,
  output logic                 ready_o,
  input  logic                 hold_i,
  output logic                 idle_o,
  input  logic                 set_valid_i,
  input  roce_pkg::qp_cfg_t    set_i,
  input  logic [roce_pkg::LifeW-1:0] set_life_i,
  input  logic                 state_we_i,
  input  logic                 state_nacked_i,
  input  logic [QpW-1:0]       state_qpn_i,
  input  roce_pkg::sq_state_t  state_i,
  input  logic                 head_we_i,
  input  logic [QpW-1:0]       head_qpn_i,
  input  logic [IdxW-1:0]      head_i,
  input  logic                 mem_we_i,
  input  logic [QpW-1:0]       mem_qpn_i,
  input  logic [7:0]           mem_i,
  input  logic                 tail_we_i,
  input  logic [QpW-1:0]       tail_qpn_i,
  input  logic [IdxW-1:0]      tail_i,
  input  logic                 wqe_we_i,
  input  logic [SlotW-1:0]     wqe_slot_i,
  input  roce_pkg::sq_req_t    req_i,
  output logic                 cursor_we_o,
  output logic [QpW-1:0]       cursor_qpn_o,
  output roce_pkg::sq_cursor_t cursor_o,
  output logic                 rd_we_o,
  output logic [QpW-1:0]       rd_qpn_o,
  output logic [7:0]           rd_num_o,
  output roce_pkg::sq_rd_t     rd_o,
  input  logic                 s_kick_post_tvalid,
  output logic                 s_kick_post_tready,
  input  logic [QpW-1:0]       s_kick_post_tdata,
  input  logic                 s_kick_ack_tvalid,
  output logic                 s_kick_ack_tready,
  input  logic [QpW-1:0]       s_kick_ack_tdata,
  output logic                 m_cmd_tvalid,
  input  logic                 m_cmd_tready,
  output roce_pkg::tx_cmd_t    m_cmd_tdata,
  output logic                 m_bad_tvalid,
  input  logic                 m_bad_tready,
  output logic [QpW-1:0]       m_bad_qpn,
  output logic                 m_bad_length,
  output logic                 m_flush_tvalid,
  input  logic                 m_flush_tready,
  output logic [QpW-1:0]       m_flush_tdata,
  output logic                 cnt_sq_packets_o,
  output logic                 cnt_sq_retransmits_o,
  output logic                 cnt_sq_skipped_o,
  output logic                 cnt_sq_window_closed_o,
  output logic                 cnt_sq_credit_waits_o,
  output logic                 cnt_sq_read_waits_o,
  output logic                 cnt_sq_fence_waits_o
);

  localparam int RecheckCycles = 12;

  logic fetch_idle;
  logic segment_idle;

  assign idle_o = fetch_idle && segment_idle;

  logic              send_done_valid;
  logic              send_done_more;
  logic [QpW-1:0]    send_done_qpn;
  logic              send_tvalid;
  logic              send_tready;
  logic [QpW-1:0]    send_tdata;
  logic              recheck_tvalid;
  logic              recheck_tready;
  logic [QpW-1:0]    recheck_tdata;
  logic              kick_tready;
  logic              ctx_tvalid;
  logic              ctx_tready;
  roce_pkg::sq_ctx_t ctx_tdata;
  logic              ctx_skip;
  logic              ctx_wait;
  logic              cursor_wait;
  logic              tok_tvalid;
  logic              tok_tready;
  roce_pkg::sq_tok_t tok_tdata;
  logic              cut;
  logic [3:0]        cut_turn;
  logic              put_room;
  logic              put_valid;
  logic [roce_pkg::LifeW-1:0] put_life;
  logic [QpW-1:0]    put_qpn;
  logic [23:0]       put_psn;
  logic              put_first;
  logic              put_last;
  logic              put_ackreq;
  logic [2:0]        put_pmtu;
  roce_pkg::sq_req_t put_req;

  // ---- work list: sq_ack's kicks wait while a QP that got blocked is kicked once more -----------
  assign recheck_tready    = kick_tready;
  assign s_kick_ack_tready = kick_tready && !recheck_tvalid;

  sq_sched #(
    .QpW(QpW),
    .LowLatency(LowLatency)
  ) u_send (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .s_kick_a_tvalid(s_kick_post_tvalid),
    .s_kick_a_tready(s_kick_post_tready),
    .s_kick_a_tdata(s_kick_post_tdata),
    .s_kick_b_tvalid(s_kick_ack_tvalid || recheck_tvalid),
    .s_kick_b_tready(kick_tready),
    .s_kick_b_tdata(recheck_tvalid ? recheck_tdata : s_kick_ack_tdata),
    .done_valid_i(send_done_valid),
    .done_more_i(send_done_more),
    .done_qpn_i(send_done_qpn),
    .m_pop_tvalid(send_tvalid),
    .m_pop_tready(send_tready),
    .m_pop_tdata(send_tdata)
  );

  sq_fetch #(
    .QpW(QpW),
    .WqeSlots(WqeSlots),
    .SlotW(SlotW),
    .IdxW(IdxW),
    .WindowPkts(WindowPkts),
    .Quantum(Quantum),
    .RdDepth(RdDepth),
    .Selective(Selective),
    .LowLatency(LowLatency)
  ) u_fetch (
    .clk(clk),
    .rst(rst),
    .hold_i(hold_i),
    .idle_o(fetch_idle),
    .set_valid_i(set_valid_i),
    .set_i(set_i),
    .set_life_i(set_life_i),
    .state_we_i(state_we_i),
    .state_nacked_i(state_nacked_i),
    .state_qpn_i(state_qpn_i),
    .state_i(state_i),
    .cursor_we_i(cursor_we_o),
    .cursor_qpn_i(cursor_qpn_o),
    .cursor_i(cursor_o),
    .cursor_wait_i(cursor_wait),
    .head_we_i(head_we_i),
    .head_qpn_i(head_qpn_i),
    .head_i(head_i),
    .mem_we_i(mem_we_i),
    .mem_qpn_i(mem_qpn_i),
    .mem_i(mem_i),
    .tail_we_i(tail_we_i),
    .tail_qpn_i(tail_qpn_i),
    .tail_i(tail_i),
    .wqe_we_i(wqe_we_i),
    .wqe_slot_i(wqe_slot_i),
    .req_i(req_i),
    .cut_i(cut),
    .cut_turn_i(cut_turn),
    .s_qp_tvalid(send_tvalid),
    .s_qp_tready(send_tready),
    .s_qp_tdata(send_tdata),
    .m_ctx_tvalid(ctx_tvalid),
    .m_ctx_tready(ctx_tready),
    .m_ctx_tdata(ctx_tdata),
    .m_ctx_skip(ctx_skip),
    .m_ctx_wait(ctx_wait),
    .m_tok_tvalid(tok_tvalid),
    .m_tok_tready(tok_tready),
    .m_tok_tdata(tok_tdata)
  );

  sq_segment #(
    .QpW(QpW),
    .AckInterval(AckInterval),
    .WindowPkts(WindowPkts),
    .Quantum(Quantum),
    .RecheckCycles(RecheckCycles),
    .Selective(Selective)
  ) u_segment (
    .clk(clk),
    .rst(rst),
    .hold_i(hold_i),
    .idle_o(segment_idle),
    .set_valid_i(set_valid_i),
    .set_qpn_i(set_i.qpn[QpW-1:0]),
    .set_psn_i(set_i.sq_psn),
    .s_ctx_tvalid(ctx_tvalid),
    .s_ctx_tready(ctx_tready),
    .s_ctx_tdata(ctx_tdata),
    .s_ctx_skip(ctx_skip),
    .s_ctx_wait(ctx_wait),
    .s_tok_tvalid(tok_tvalid),
    .s_tok_tready(tok_tready),
    .s_tok_tdata(tok_tdata),
    .cut_o(cut),
    .cut_turn_o(cut_turn),
    .cursor_we_o(cursor_we_o),
    .cursor_qpn_o(cursor_qpn_o),
    .cursor_o(cursor_o),
    .cursor_wait_o(cursor_wait),
    .rd_we_o(rd_we_o),
    .rd_qpn_o(rd_qpn_o),
    .rd_num_o(rd_num_o),
    .rd_o(rd_o),
    .done_valid_o(send_done_valid),
    .done_more_o(send_done_more),
    .done_qpn_o(send_done_qpn),
    .m_recheck_tvalid(recheck_tvalid),
    .m_recheck_tready(recheck_tready),
    .m_recheck_tdata(recheck_tdata),
    .put_room_i(put_room),
    .put_valid_o(put_valid),
    .put_life_o(put_life),
    .put_qpn_o(put_qpn),
    .put_psn_o(put_psn),
    .put_first_o(put_first),
    .put_last_o(put_last),
    .put_ackreq_o(put_ackreq),
    .put_pmtu_o(put_pmtu),
    .put_req_o(put_req),
    .m_bad_tvalid(m_bad_tvalid),
    .m_bad_tready(m_bad_tready),
    .m_bad_qpn(m_bad_qpn),
    .m_bad_length(m_bad_length),
    .m_flush_tvalid(m_flush_tvalid),
    .m_flush_tready(m_flush_tready),
    .m_flush_tdata(m_flush_tdata),
    .cnt_sq_packets_o(cnt_sq_packets_o),
    .cnt_sq_retransmits_o(cnt_sq_retransmits_o),
    .cnt_sq_skipped_o(cnt_sq_skipped_o),
    .cnt_sq_window_closed_o(cnt_sq_window_closed_o),
    .cnt_sq_credit_waits_o(cnt_sq_credit_waits_o),
    .cnt_sq_read_waits_o(cnt_sq_read_waits_o),
    .cnt_sq_fence_waits_o(cnt_sq_fence_waits_o)
  );

  sq_emit #(
    .QpW(QpW),
    .LowLatency(LowLatency)
  ) u_emit (
    .clk(clk),
    .rst(rst),
    .room_o(put_room),
    .put_valid_i(put_valid),
    .put_life_i(put_life),
    .put_qpn_i(put_qpn),
    .put_psn_i(put_psn),
    .put_first_i(put_first),
    .put_last_i(put_last),
    .put_ackreq_i(put_ackreq),
    .put_pmtu_i(put_pmtu),
    .put_req_i(put_req),
    .m_cmd_tvalid(m_cmd_tvalid),
    .m_cmd_tready(m_cmd_tready),
    .m_cmd_tdata(m_cmd_tdata)
  );

endmodule

`default_nettype wire
