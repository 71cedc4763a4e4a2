// sq_engine: the requester of every queue pair.
//
// Work requests (s_wqe) wait in the send rings of their QPs; packets leave as commands for dma_read
// (m_cmd), QP after QP, a quantum at a time; acknowledgements, READ responses and atomic results
// (s_ack), and timeouts move each QP's cursors; finished requests come back in order on m_cqe.
// Every response header on s_ack, whatever it is worth, gives one command on m_fetch, in order:
// with `forward`, and the place in memory, when it is the next one of the QP's oldest READ or
// atomic, without when its payload is only to be released. s_done {err, command} says that the data
// of such a command is in memory; only then does the request complete. Composed of: sq_post
// (rings), sq_requester (work list of QPs that may send, packets), sq_ack (acknowledged position,
// READs under way, errors, set-up), sq_read_done (data on its way to memory), sq_completer (work
// list of QPs that may have finished requests, completions), qp_timer (ACK and RNR timers). Each
// field of a QP has one owner; the others keep copies that the owner's broadcasts (*_we, *_qpn)
// write.
//
// s_wqe: in order; a request for a full ring waits and holds back those behind it. m_cqe may stall:
// requests then stay in their rings, nothing is lost, everything else goes on. m_cmd may stall.
// m_fetch may stall: it holds back s_ack only. s_cfg, s_evt and s_done are always taken in the end,
// whatever the outputs do (a set-up waits for m_err, and for the s_done of every command that
// m_fetch gave with `forward`; s_ack waits meanwhile). m_err names QPs that went to ERR, with the
// cause (for the responder), m_event the same (for the host), and there EvtSqDrained. An
// unsignalled success gives no completion; errors always do. s_evt EvtReadErr with rsp 0, and err
// on s_done: the request that holds the psn completes with WcLocProtErr, all others that are not
// acknowledged, also those before it, with WcFlushErr. EvtReadErr of a psn that is not outstanding
// (a repeat of what is acknowledged by now) and EvtWriteErr with rsp 1 (s_done says it) are taken
// and ignored; all other causes flush everything.
//
// Throughput: one request posted, one packet sent, one acknowledgement or response taken every 2
// cycles (READs and atomics of one packet of one QP: every 4), one request completed a cycle (every
// 2 when each is of another QP). Nothing is taken before ready_o (2^ceil(log2 QpCount) cycles after
// reset).
//
// QpCount: 1..16384. WqeSlots: ring slots of all QPs together, 2..2^20. TickCycles: clock cycles in
// 4.096 us, 4..16384. AckInterval: most packets between two AckReq, 1..256. WindowPkts: most
// packets outstanding per QP, 1..2^22. Quantum: what a QP may send in a turn, 1..64; a packet
// costs 1 + bytes/256. RdDepth: most READs and atomics of a QP under way, a power of two, 1..128.
// LowLatency: 1, from s_wqe to m_cmd in 12 cycles instead of 23, without registers that only timing
// wants. Services: 1, s_ack says of which life of its QP an answer is; others than the present one count as
// strangers'.
// rocegen: comb s_ack.tready<-s_evt.tvalid
`default_nettype none

module sq_engine #(
  parameter int QpCount = 16,
  parameter int WqeSlots = 256,
  parameter int TickCycles = 1024,
  parameter int AckInterval = 16,
  parameter int WindowPkts = 256,
  parameter int Quantum = 16,
  parameter int RdDepth = 16,
  parameter int Selective = 0,
  parameter int LowLatency = 0,
  parameter int Services = 0
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
  input  logic [roce_pkg::LifeW-1:0] life_i,
  input  logic               s_ack_tvalid,
  output logic               s_ack_tready,
  input  roce_pkg::rx_hdr_t  s_ack_tdata,
  input  logic               s_evt_tvalid,
  output logic               s_evt_tready,
  input  roce_pkg::qp_evt_t  s_evt_tdata,
  input  logic               s_done_tvalid,
  output logic               s_done_tready,
  input  logic [roce_pkg::RxCmdW:0] s_done_tdata,
  output logic               m_fetch_tvalid,
  input  logic               m_fetch_tready,
  output roce_pkg::rx_cmd_t  m_fetch_tdata,
  output logic               m_cmd_tvalid,
  input  logic               m_cmd_tready,
  output roce_pkg::tx_cmd_t  m_cmd_tdata,
  output logic               m_cqe_tvalid,
  input  logic               m_cqe_tready,
  output logic [255:0]       m_cqe_tdata,
  output logic               m_err_tvalid,
  input  logic               m_err_tready,
  output roce_pkg::qp_evt_t  m_err_tdata,
  output logic               m_event_tvalid,
  input  logic               m_event_tready,
  output roce_pkg::qp_evt_t  m_event_tdata,
  output logic               cnt_sq_wqes_o,
  output logic               cnt_sq_wqes_bad_o,
  output logic               cnt_sq_wqes_rejected_o,
  output logic               cnt_sq_ring_full_o,
  output logic               cnt_sq_packets_o,
  output logic               cnt_sq_retransmits_o,
  output logic               cnt_sq_skipped_o,
  output logic               cnt_sq_window_closed_o,
  output logic               cnt_sq_credit_waits_o,
  output logic               cnt_sq_read_waits_o,
  output logic               cnt_sq_fence_waits_o,
  output logic               cnt_sq_acks_o,
  output logic               cnt_sq_acks_stale_o,
  output logic               cnt_sq_acks_dropped_o,
  output logic               cnt_sq_naks_o,
  output logic               cnt_sq_naks_fatal_o,
  output logic               cnt_sq_naks_reserved_o,
  output logic               cnt_sq_naks_rnr_o,
  output logic               cnt_sq_implied_naks_o,
  output logic               cnt_sq_responses_o,
  output logic               cnt_sq_responses_stale_o,
  output logic               cnt_sq_responses_bad_o,
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
  localparam int ReadW = SlotW >= 8 ? SlotW + 1 : 8;  // numbers of READs and atomics

  // ---- broadcasts of the owners -----------------------------------------------------------------
  logic                 set_valid;  // s_cfg_tdata starts its QP anew
  logic                 state_we, state_nacked, cursor_we, head_we, tail_we, wqe_we, rd_we, done_we;
  logic [QpW-1:0]       state_qpn, cursor_qpn, head_qpn, tail_qpn, rd_qpn, done_qpn;
  roce_pkg::sq_state_t  state;
  roce_pkg::sq_cursor_t cursor;
  logic [IdxW-1:0]      head, tail;
  logic [23:0]          head_psn;
  logic [7:0]           rd_num;
  roce_pkg::sq_rd_t     rd;
  logic [ReadW-1:0]     done_reads;
  logic [15:0]          done_rx;
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
    .IdxW(IdxW),
    .LowLatency(LowLatency)
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
    .Quantum(Quantum),
    .RdDepth(RdDepth),
    .Selective(Selective),
    .LowLatency(LowLatency)
  ) u_requester (
    .clk(clk),
    .rst(rst),
    .ready_o(send_ready),
    .hold_i(hold),
    .idle_o(requester_idle),
    .set_valid_i(set_valid),
    .set_i(s_cfg_tdata),
    .set_life_i(life_i),
    .state_we_i(state_we),
    .state_nacked_i(state_nacked),
    .state_qpn_i(state_qpn),
    .state_i(state),
    .head_we_i(head_we),
    .head_qpn_i(head_qpn),
    .head_i(head),
    .mem_we_i(done_we),
    .mem_qpn_i(done_qpn),
    .mem_i(done_reads[7:0]),
    .tail_we_i(tail_we),
    .tail_qpn_i(tail_qpn),
    .tail_i(tail),
    .wqe_we_i(wqe_we),
    .wqe_slot_i(wqe_slot),
    .req_i(req),
    .cursor_we_o(cursor_we),
    .cursor_qpn_o(cursor_qpn),
    .cursor_o(cursor),
    .rd_we_o(rd_we),
    .rd_qpn_o(rd_qpn),
    .rd_num_o(rd_num),
    .rd_o(rd),
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
    .cnt_sq_skipped_o(cnt_sq_skipped_o),
    .cnt_sq_window_closed_o(cnt_sq_window_closed_o),
    .cnt_sq_credit_waits_o(cnt_sq_credit_waits_o),
    .cnt_sq_read_waits_o(cnt_sq_read_waits_o),
    .cnt_sq_fence_waits_o(cnt_sq_fence_waits_o)
  );

  // ---- acknowledgements, errors, set-up ---------------------------------------------------------
  logic           kick_ret_tvalid, kick_ret_tready;
  logic [QpW-1:0] kick_ret_tdata, time_qpn;
  logic           time_tvalid, time_tready;
  logic [23:0]    time_una;
  logic [3:0]     time_gen;
  logic [1:0]     time_kind;
  logic           sent, flight;  // response data on its way to memory
  logic           data_tvalid, data_tready;
  logic [QpW-1:0] data_qpn;
  logic [23:0]    data_psn;

  sq_ack #(
    .QpCount(QpCount),
    .QpW(QpW),
    .WqeSlots(WqeSlots),
    .RdDepth(RdDepth),
    .Services(Services)
  ) u_ack (
    .clk(clk),
    .rst(rst),
    .ready_o(ack_ready),
    .enable_i(ready_o),
    .hold_o(hold),
    .idle_i(post_idle && requester_idle && retire_idle && timer_idle),
    .flight_i(flight),
    .sent_o(sent),
    .set_valid_o(set_valid),
    .state_we_o(state_we),
    .state_qpn_o(state_qpn),
    .state_o(state),
    .state_nacked_o(state_nacked),
    .cursor_we_i(cursor_we),
    .cursor_qpn_i(cursor_qpn),
    .cursor_i(cursor),
    .rd_we_i(rd_we),
    .rd_qpn_i(rd_qpn),
    .rd_num_i(rd_num),
    .rd_i(rd),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .life_i(life_i),
    .s_ack_tvalid(s_ack_tvalid),
    .s_ack_tready(s_ack_tready),
    .s_ack_tdata(s_ack_tdata),
    .s_evt_tvalid(s_evt_tvalid),
    .s_evt_tready(s_evt_tready),
    .s_evt_tdata(s_evt_tdata),
    .s_data_tvalid(data_tvalid), .s_data_tready(data_tready),
    .s_data_qpn(data_qpn),
    .s_data_psn(data_psn),
    .s_bad_tvalid(bad_tvalid), .s_bad_tready(bad_tready),
    .s_bad_qpn(bad_qpn),
    .s_bad_length(bad_length),
    .s_time_tvalid(time_tvalid), .s_time_tready(time_tready),
    .s_time_qpn(time_qpn),
    .s_time_una(time_una),
    .s_time_gen(time_gen),
    .s_time_kind(time_kind),
    .m_fetch_tvalid(m_fetch_tvalid),
    .m_fetch_tready(m_fetch_tready),
    .m_fetch_tdata(m_fetch_tdata),
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
    .cnt_sq_implied_naks_o(cnt_sq_implied_naks_o),
    .cnt_sq_responses_o(cnt_sq_responses_o),
    .cnt_sq_responses_stale_o(cnt_sq_responses_stale_o),
    .cnt_sq_responses_bad_o(cnt_sq_responses_bad_o),
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
    .retired_we_i(head_we),
    .retired_qpn_i(head_qpn),
    .retired_psn_i(head_psn),
    .m_time_tvalid(time_tvalid), .m_time_tready(time_tready),
    .m_time_qpn(time_qpn),
    .m_time_una(time_una),
    .m_time_gen(time_gen),
    .m_time_kind(time_kind)
  );

  // ---- data of READs and atomics on its way to memory -------------------------------------------
  logic           done_kick_tvalid, done_kick_tready;
  logic [QpW-1:0] done_kick_tdata;

  sq_read_done #(
    .QpW(QpW),
    .ReadW(ReadW)
  ) u_read_done (
    .clk(clk),
    .rst(rst),
    .set_valid_i(set_valid),
    .set_qpn_i(s_cfg_tdata.qpn[QpW-1:0]),
    .state_we_i(state_we),
    .state_qpn_i(state_qpn),
    .state_i(state.state),
    .sent_i(sent),
    .pending_o(flight),
    .s_done_tvalid(s_done_tvalid),
    .s_done_tready(s_done_tready),
    .s_done_tdata(s_done_tdata),
    .done_we_o(done_we),
    .done_qpn_o(done_qpn),
    .done_reads_o(done_reads),
    .done_rx_o(done_rx),
    .m_data_tvalid(data_tvalid), .m_data_tready(data_tready),
    .m_data_qpn(data_qpn),
    .m_data_psn(data_psn),
    .m_kick_tvalid(done_kick_tvalid), .m_kick_tready(done_kick_tready),
    .m_kick_tdata(done_kick_tdata)
  );

  // ---- completions ------------------------------------------------------------------------------
  sq_completer #(
    .QpW(QpW),
    .WqeSlots(WqeSlots),
    .SlotW(SlotW),
    .IdxW(IdxW),
    .ReadW(ReadW)
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
    .done_we_i(done_we),
    .done_qpn_i(done_qpn),
    .done_reads_i(done_reads),
    .done_rx_i(done_rx),
    .head_we_o(head_we),
    .head_qpn_o(head_qpn),
    .head_o(head),
    .head_psn_o(head_psn),
    .s_kick_ack_tvalid(kick_ret_tvalid), .s_kick_ack_tready(kick_ret_tready),
    .s_kick_ack_tdata(kick_ret_tdata),
    .s_kick_done_tvalid(done_kick_tvalid), .s_kick_done_tready(done_kick_tready),
    .s_kick_done_tdata(done_kick_tdata),
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
