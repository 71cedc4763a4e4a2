// sq_engine: the requester of every queue pair.
//
// Work requests (s_wqe) wait in the send rings of their QPs; packets leave as commands for dma_read
// (m_cmd), QP after QP, a quantum at a time; acknowledgements (s_ack) and timeouts move each QP's
// cursors; finished requests come back in order on m_cqe. Composed of: sq_post (rings),
// sq_requester (work list of QPs that may send, packets), sq_ack (acknowledged position, errors,
// set-up), sq_completer (work list of QPs that may have finished requests, completions), qp_timer
// (ACK timers). Each field of a QP has one owner; the others keep copies that the owner's
// broadcasts (*_we, *_qpn) write.
//
// s_wqe: in order; a request for a full ring waits and holds back those behind it. m_cqe may stall:
// requests then stay in their rings, nothing is lost, everything else goes on. m_cmd may stall.
// s_cfg and s_evt are always taken in the end, whatever the outputs do (m_err excepted for a
// set-up, see sq_ack). s_ack is taken every second cycle. m_err names QPs that went to ERR (for the
// responder), m_event the same with the cause (for the host). An unsignalled success gives no
// completion; errors always do. s_evt EvtReadErr (payload could not be read): the oldest request
// that is not acknowledged completes with WcLocProtErr, as the event tells no PSN; the other
// foreign causes flush everything.
//
// Throughput: one request posted, one packet sent, one acknowledgement taken every 2 cycles, one
// request completed a cycle (every 2 when each is of another QP). Nothing is taken before ready_o
// (2^ceil(log2 QpCount) cycles after reset).
//
// QpCount: 1..16384. WqeSlots: ring slots of all QPs together, 2..2^20. TickCycles: clock cycles in
// 4.096 us, 4..16384. AckInterval: most packets between two AckReq, 1..256. WindowPkts: most
// packets outstanding per QP, 1..2^23-1. Quantum: what a QP may send in a turn, 1..64; a packet
// costs 1 + bytes/256. rocegen: comb s_ack.tready<-s_evt.tvalid
`default_nettype none

module sq_engine #(
  parameter int QpCount = 16,
  parameter int WqeSlots = 256,
  parameter int TickCycles = 1024,
  parameter int AckInterval = 16,
  parameter int WindowPkts = 256,
  parameter int Quantum = 16
) (
  input  logic               clk,
  input  logic               rst,
  output logic               ready_o,
  input  logic               tx_stalled_i,
  input  logic               s_wqe_tvalid,
  output logic               s_wqe_tready,
  input  logic [511:0]       s_wqe_tdata,
  input  logic               s_cfg_tvalid,
  output logic               s_cfg_tready,
  input  roce_pkg::qp_cfg_t  s_cfg_tdata,
  input  logic               s_ack_tvalid,
  output logic               s_ack_tready,
  input  roce_pkg::rx_hdr_t  s_ack_tdata,
  input  logic               s_evt_tvalid,
  output logic               s_evt_tready,
  input  roce_pkg::qp_evt_t  s_evt_tdata,
  output logic               m_cmd_tvalid,
  input  logic               m_cmd_tready,
  output roce_pkg::tx_cmd_t  m_cmd_tdata,
  output logic               m_cqe_tvalid,
  input  logic               m_cqe_tready,
  output logic [255:0]       m_cqe_tdata,
  output logic               m_err_tvalid,
  input  logic               m_err_tready,
  output logic [23:0]        m_err_tdata,
  output logic               m_event_tvalid,
  input  logic               m_event_tready,
  output roce_pkg::qp_evt_t  m_event_tdata,
  output logic               cnt_sq_wqes_o,
  output logic               cnt_sq_wqes_bad_o,
  output logic               cnt_sq_wqes_rejected_o,
  output logic               cnt_sq_ring_full_o,
  output logic               cnt_sq_packets_o,
  output logic               cnt_sq_retransmits_o,
  output logic               cnt_sq_window_closed_o,
  output logic               cnt_sq_acks_o,
  output logic               cnt_sq_acks_stale_o,
  output logic               cnt_sq_acks_dropped_o,
  output logic               cnt_sq_naks_o,
  output logic               cnt_sq_naks_fatal_o,
  output logic               cnt_sq_naks_reserved_o,
  output logic               cnt_sq_naks_rnr_o,
  output logic               cnt_sq_timeouts_o,
  output logic               cnt_sq_rewinds_o,
  output logic               cnt_sq_errors_o,
  output logic               cnt_sq_cqes_o,
  output logic               cnt_sq_flushed_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "sq_engine: QpCount must be in 1..16384");
  end
  if (WqeSlots < 2 || WqeSlots > 1048576) begin : gen_check_slots
    $fatal(1, "sq_engine: WqeSlots must be in 2..2^20");
  end

  localparam int QpW = QpCount > 2 ? $clog2(QpCount) : 1;
  localparam int SlotW = $clog2(WqeSlots);
  localparam int IdxW = SlotW + 2;

  // ---- broadcasts of the owners -----------------------------------------------------------------
  logic                 set_valid;  // s_cfg_tdata starts its QP anew
  logic                 state_we, cursor_we, head_we, tail_we, wqe_we;
  logic [QpW-1:0]       state_qpn, cursor_qpn, head_qpn, tail_qpn;
  roce_pkg::sq_state_t  state;
  roce_pkg::sq_cursor_t cursor;
  logic [IdxW-1:0]      head, tail;
  logic [SlotW-1:0]     wqe_slot;
  roce_pkg::sq_req_t    req;
  roce_pkg::sq_cpl_t    cpl;

  logic hold;
  logic post_idle, requester_idle, retire_idle, timer_idle;
  logic send_ready, complete_ready, post_ready, ack_ready, timer_ready;

  assign ready_o = send_ready && complete_ready && post_ready && ack_ready && timer_ready;

  // ---- rings ------------------------------------------------------------------------------------
  logic           post_kick_tvalid, post_kick_tready;
  logic [QpW-1:0] post_kick_tdata;
  logic           reject_tvalid, reject_tready;
  roce_pkg::cqe_t reject_tdata;

  sq_post #(
    .QpCount(QpCount),
    .QpW(QpW),
    .SlotW(SlotW),
    .IdxW(IdxW)
  ) u_post (
    .clk(clk),
    .rst(rst),
    .enable_i(ready_o),
    .hold_i(hold),
    .idle_o(post_idle),
    .s_wqe_tvalid(s_wqe_tvalid),
    .s_wqe_tready(s_wqe_tready),
    .s_wqe_tdata(s_wqe_tdata),
    .set_valid_i(set_valid),
    .set_i(s_cfg_tdata),
    .state_we_i(state_we),
    .state_qpn_i(state_qpn),
    .state_i(state.state),
    .head_we_i(head_we),
    .head_qpn_i(head_qpn),
    .head_i(head),
    .tail_we_o(tail_we),
    .tail_qpn_o(tail_qpn),
    .tail_o(tail),
    .wqe_we_o(wqe_we),
    .wqe_slot_o(wqe_slot),
    .req_o(req),
    .cpl_o(cpl),
    .m_kick_tvalid(post_kick_tvalid), .m_kick_tready(post_kick_tready),
    .m_kick_tdata(post_kick_tdata),
    .m_reject_tvalid(reject_tvalid), .m_reject_tready(reject_tready),
    .m_reject_tdata(reject_tdata),
    .ready_o(post_ready),
    .cnt_sq_wqes_o(cnt_sq_wqes_o),
    .cnt_sq_wqes_bad_o(cnt_sq_wqes_bad_o),
    .cnt_sq_wqes_rejected_o(cnt_sq_wqes_rejected_o),
    .cnt_sq_ring_full_o(cnt_sq_ring_full_o)
  );

  // ---- requester --------------------------------------------------------------------------------
  logic           kick_req_tvalid, kick_req_tready;
  logic [QpW-1:0] kick_req_tdata, bad_qpn, flush_tdata;
  logic           bad_tvalid, bad_tready, bad_length;
  logic           flush_tvalid, flush_tready;

  sq_requester #(
    .QpW(QpW),
    .WqeSlots(WqeSlots),
    .SlotW(SlotW),
    .IdxW(IdxW),
    .AckInterval(AckInterval),
    .WindowPkts(WindowPkts),
    .Quantum(Quantum)
  ) u_requester (
    .clk(clk),
    .rst(rst),
    .ready_o(send_ready),
    .hold_i(hold),
    .idle_o(requester_idle),
    .set_valid_i(set_valid),
    .set_i(s_cfg_tdata),
    .state_we_i(state_we),
    .state_qpn_i(state_qpn),
    .state_i(state),
    .head_we_i(head_we),
    .head_qpn_i(head_qpn),
    .head_i(head),
    .tail_we_i(tail_we),
    .tail_qpn_i(tail_qpn),
    .tail_i(tail),
    .wqe_we_i(wqe_we),
    .wqe_slot_i(wqe_slot),
    .req_i(req),
    .cursor_we_o(cursor_we),
    .cursor_qpn_o(cursor_qpn),
    .cursor_o(cursor),
    .s_kick_post_tvalid(post_kick_tvalid), .s_kick_post_tready(post_kick_tready),
    .s_kick_post_tdata(post_kick_tdata),
    .s_kick_ack_tvalid(kick_req_tvalid), .s_kick_ack_tready(kick_req_tready),
    .s_kick_ack_tdata(kick_req_tdata),
    .m_cmd_tvalid(m_cmd_tvalid),
    .m_cmd_tready(m_cmd_tready),
    .m_cmd_tdata(m_cmd_tdata),
    .m_bad_tvalid(bad_tvalid), .m_bad_tready(bad_tready),
    .m_bad_qpn(bad_qpn),
    .m_bad_length(bad_length),
    .m_flush_tvalid(flush_tvalid), .m_flush_tready(flush_tready),
    .m_flush_tdata(flush_tdata),
    .cnt_sq_packets_o(cnt_sq_packets_o),
    .cnt_sq_retransmits_o(cnt_sq_retransmits_o),
    .cnt_sq_window_closed_o(cnt_sq_window_closed_o)
  );

  // ---- acknowledgements, errors, set-up ---------------------------------------------------------
  logic           kick_ret_tvalid, kick_ret_tready;
  logic [QpW-1:0] kick_ret_tdata, time_qpn;
  logic           time_tvalid, time_tready;
  logic [23:0]    time_una;
  logic [3:0]     time_gen;

  sq_ack #(
    .QpCount(QpCount),
    .QpW(QpW),
    .WqeSlots(WqeSlots)
  ) u_ack (
    .clk(clk),
    .rst(rst),
    .ready_o(ack_ready),
    .enable_i(ready_o),
    .hold_o(hold),
    .idle_i(post_idle && requester_idle && retire_idle && timer_idle),
    .set_valid_o(set_valid),
    .state_we_o(state_we),
    .state_qpn_o(state_qpn),
    .state_o(state),
    .cursor_we_i(cursor_we),
    .cursor_qpn_i(cursor_qpn),
    .cursor_i(cursor),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .s_ack_tvalid(s_ack_tvalid),
    .s_ack_tready(s_ack_tready),
    .s_ack_tdata(s_ack_tdata),
    .s_evt_tvalid(s_evt_tvalid),
    .s_evt_tready(s_evt_tready),
    .s_evt_tdata(s_evt_tdata),
    .s_bad_tvalid(bad_tvalid), .s_bad_tready(bad_tready),
    .s_bad_qpn(bad_qpn),
    .s_bad_length(bad_length),
    .s_time_tvalid(time_tvalid), .s_time_tready(time_tready),
    .s_time_qpn(time_qpn),
    .s_time_una(time_una),
    .s_time_gen(time_gen),
    .m_kick_req_tvalid(kick_req_tvalid), .m_kick_req_tready(kick_req_tready),
    .m_kick_req_tdata(kick_req_tdata),
    .m_kick_ret_tvalid(kick_ret_tvalid), .m_kick_ret_tready(kick_ret_tready),
    .m_kick_ret_tdata(kick_ret_tdata),
    .m_err_tvalid(m_err_tvalid),
    .m_err_tready(m_err_tready),
    .m_err_tdata(m_err_tdata),
    .m_event_tvalid(m_event_tvalid),
    .m_event_tready(m_event_tready),
    .m_event_tdata(m_event_tdata),
    .cnt_sq_acks_o(cnt_sq_acks_o),
    .cnt_sq_acks_stale_o(cnt_sq_acks_stale_o),
    .cnt_sq_acks_dropped_o(cnt_sq_acks_dropped_o),
    .cnt_sq_naks_o(cnt_sq_naks_o),
    .cnt_sq_naks_fatal_o(cnt_sq_naks_fatal_o),
    .cnt_sq_naks_reserved_o(cnt_sq_naks_reserved_o),
    .cnt_sq_naks_rnr_o(cnt_sq_naks_rnr_o),
    .cnt_sq_timeouts_o(cnt_sq_timeouts_o),
    .cnt_sq_rewinds_o(cnt_sq_rewinds_o),
    .cnt_sq_errors_o(cnt_sq_errors_o)
  );

  qp_timer #(
    .QpCount(QpCount),
    .QpW(QpW),
    .TickCycles(TickCycles)
  ) u_timer (
    .clk(clk),
    .rst(rst),
    .ready_o(timer_ready),
    .tx_stalled_i(tx_stalled_i),
    .hold_i(hold),
    .idle_o(timer_idle),
    .set_valid_i(set_valid),
    .set_qpn_i(s_cfg_tdata.qpn[QpW-1:0]),
    .set_timeout_i(s_cfg_tdata.timeout),
    .state_we_i(state_we),
    .state_qpn_i(state_qpn),
    .state_i(state),
    .cursor_we_i(cursor_we),
    .cursor_qpn_i(cursor_qpn),
    .cursor_i(cursor),
    .m_time_tvalid(time_tvalid), .m_time_tready(time_tready),
    .m_time_qpn(time_qpn),
    .m_time_una(time_una),
    .m_time_gen(time_gen)
  );

  // ---- completions ------------------------------------------------------------------------------
  sq_completer #(
    .QpW(QpW),
    .WqeSlots(WqeSlots),
    .SlotW(SlotW),
    .IdxW(IdxW)
  ) u_completer (
    .clk(clk),
    .rst(rst),
    .ready_o(complete_ready),
    .hold_i(hold),
    .idle_o(retire_idle),
    .set_valid_i(set_valid),
    .set_i(s_cfg_tdata),
    .state_we_i(state_we),
    .state_qpn_i(state_qpn),
    .state_i(state),
    .tail_we_i(tail_we),
    .tail_qpn_i(tail_qpn),
    .tail_i(tail),
    .wqe_we_i(wqe_we),
    .wqe_slot_i(wqe_slot),
    .cpl_i(cpl),
    .head_we_o(head_we),
    .head_qpn_o(head_qpn),
    .head_o(head),
    .s_kick_ack_tvalid(kick_ret_tvalid), .s_kick_ack_tready(kick_ret_tready),
    .s_kick_ack_tdata(kick_ret_tdata),
    .s_kick_flush_tvalid(flush_tvalid), .s_kick_flush_tready(flush_tready),
    .s_kick_flush_tdata(flush_tdata),
    .s_reject_tvalid(reject_tvalid), .s_reject_tready(reject_tready),
    .s_reject_tdata(reject_tdata),
    .m_cqe_tvalid(m_cqe_tvalid),
    .m_cqe_tready(m_cqe_tready),
    .m_cqe_tdata(m_cqe_tdata),
    .cnt_sq_cqes_o(cnt_sq_cqes_o),
    .cnt_sq_flushed_o(cnt_sq_flushed_o)
  );

endmodule

`default_nettype wire
