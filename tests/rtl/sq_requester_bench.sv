// sq_requester_bench: sq_post and sq_requester wired as in sq_engine, for a bench that plays the
// rest of it. Every broadcast is a pin or some; the parameters are sq_engine's.
`default_nettype none

module sq_requester_bench #(
  parameter int QpCount = 16,
  parameter int WqeSlots = 256,
  parameter int AckInterval = 16,
  parameter int WindowPkts = 256,
  parameter int Quantum = 16,
  parameter int RdDepth = 16,
  parameter int LowLatency = 0
) (
  input  logic         clk,
  input  logic         rst,
  output logic         ready_o,
  input  logic         hold_i,
  output logic         idle_o,
  input  logic         s_wqe_tvalid,
  output logic         s_wqe_tready,
  input  logic [511:0] s_wqe_tdata,
  input  logic         set_valid_i,
  input  logic [342:0] set_i,
  input  logic [5:0]   set_life_i,
  input  logic         state_we_i,
  input  logic [13:0]  state_qpn_i,
  input  logic [2:0]   state_i,
  input  logic [23:0]  una_i,
  input  logic [3:0]   gen_i,
  input  logic [7:0]   rdu_i,
  input  logic         limited_i,
  input  logic [21:0]  lsn_i,
  input  logic         rnr_i,
  input  logic         head_we_i,
  input  logic [13:0]  head_qpn_i,
  input  logic [21:0]  head_i,
  input  logic         mem_we_i,
  input  logic [13:0]  mem_qpn_i,
  input  logic [7:0]   mem_i,
  output logic         tail_we_o,
  output logic [13:0]  tail_qpn_o,
  output logic [21:0]  tail_o,
  output logic         wqe_we_o,
  output logic [19:0]  wqe_slot_o,
  output logic [347:0] req_o,
  output logic [125:0] cpl_o,
  output logic         cursor_we_o,
  output logic [13:0]  cursor_qpn_o,
  output logic [98:0]  cursor_o,
  output logic         rd_we_o,
  output logic [13:0]  rd_qpn_o,
  output logic [7:0]   rd_num_o,
  output logic [147:0] rd_o,
  input  logic         s_kick_tvalid,
  output logic         s_kick_tready,
  input  logic [13:0]  s_kick_tdata,
  output logic         m_cmd_tvalid,
  input  logic         m_cmd_tready,
  output logic [368:0] m_cmd_tdata,
  output logic         m_bad_tvalid,
  input  logic         m_bad_tready,
  output logic [14:0]  m_bad_tdata,  // {length, qpn}
  output logic         m_flush_tvalid,
  input  logic         m_flush_tready,
  output logic [13:0]  m_flush_tdata,
  output logic         m_reject_tvalid,
  input  logic         m_reject_tready,
  output logic [255:0] m_reject_tdata,
  output logic         cnt_sq_wqes_o,
  output logic         cnt_sq_wqes_bad_o,
  output logic         cnt_sq_wqes_rejected_o,
  output logic         cnt_sq_ring_full_o,
  output logic         cnt_sq_packets_o,
  output logic         cnt_sq_retransmits_o,
  output logic         cnt_sq_window_closed_o,
  output logic         cnt_sq_credit_waits_o,
  output logic         cnt_sq_read_waits_o,
  output logic         cnt_sq_fence_waits_o
);

  localparam int QpW = QpCount > 2 ? $clog2(QpCount) : 1;
  localparam int SlotW = $clog2(WqeSlots);
  localparam int IdxW = SlotW + 2;

  logic                post_ready, send_ready, post_idle, send_idle;
  logic                kick_tvalid, kick_tready;
  logic [QpW-1:0]      kick_tdata, tail_qpn, cursor_qpn, rd_qpn, bad_qpn, flush_qpn;
  logic [IdxW-1:0]     tail;
  logic [SlotW-1:0]    wqe_slot;
  logic                bad_length;
  roce_pkg::sq_req_t   req;
  roce_pkg::qp_cfg_t   set;
  roce_pkg::sq_state_t state;

  assign ready_o       = post_ready && send_ready;
  assign idle_o        = post_idle && send_idle;
  assign set           = set_i;
  assign req_o         = req;
  assign tail_qpn_o    = 14'(tail_qpn);
  assign tail_o        = 22'(tail);
  assign wqe_slot_o    = 20'(wqe_slot);
  assign cursor_qpn_o  = 14'(cursor_qpn);
  assign rd_qpn_o      = 14'(rd_qpn);
  assign m_bad_tdata   = {bad_length, 14'(bad_qpn)};
  assign m_flush_tdata = 14'(flush_qpn);

  always_comb begin
    state         = '0;
    state.state   = state_i;
    state.una     = una_i;
    state.gen     = gen_i;
    state.rdu     = rdu_i;
    state.limited = limited_i;
    state.lsn     = lsn_i;
    state.rnr     = rnr_i;
  end

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
    .hold_i(hold_i),
    .idle_o(post_idle),
    .s_wqe_tvalid(s_wqe_tvalid),
    .s_wqe_tready(s_wqe_tready),
    .s_wqe_tdata(s_wqe_tdata),
    .set_valid_i(set_valid_i),
    .set_i(set),
    .state_we_i(state_we_i),
    .state_qpn_i(state_qpn_i[QpW-1:0]),
    .state_i(state.state),
    .head_we_i(head_we_i),
    .head_qpn_i(head_qpn_i[QpW-1:0]),
    .head_i(head_i[IdxW-1:0]),
    .tail_we_o(tail_we_o),
    .tail_qpn_o(tail_qpn),
    .tail_o(tail),
    .wqe_we_o(wqe_we_o),
    .wqe_slot_o(wqe_slot),
    .req_o(req),
    .cpl_o(cpl_o),
    .m_kick_tvalid(kick_tvalid),
    .m_kick_tready(kick_tready),
    .m_kick_tdata(kick_tdata),
    .m_reject_tvalid(m_reject_tvalid),
    .m_reject_tready(m_reject_tready),
    .m_reject_tdata(m_reject_tdata),
    .ready_o(post_ready),
    .cnt_sq_wqes_o(cnt_sq_wqes_o),
    .cnt_sq_wqes_bad_o(cnt_sq_wqes_bad_o),
    .cnt_sq_wqes_rejected_o(cnt_sq_wqes_rejected_o),
    .cnt_sq_ring_full_o(cnt_sq_ring_full_o)
  );

  logic skipped;  // never: the parameter Selective is 0

  sq_requester #(
    .QpW(QpW),
    .WqeSlots(WqeSlots),
    .SlotW(SlotW),
    .IdxW(IdxW),
    .AckInterval(AckInterval),
    .WindowPkts(WindowPkts),
    .Quantum(Quantum),
    .RdDepth(RdDepth),
    .LowLatency(LowLatency)
  ) u_requester (
    .clk(clk),
    .rst(rst),
    .ready_o(send_ready),
    .hold_i(hold_i),
    .idle_o(send_idle),
    .set_valid_i(set_valid_i),
    .set_i(set),
    .set_life_i(set_life_i),
    .state_we_i(state_we_i),
    .state_nacked_i(1'b0),
    .state_qpn_i(state_qpn_i[QpW-1:0]),
    .state_i(state),
    .head_we_i(head_we_i),
    .head_qpn_i(head_qpn_i[QpW-1:0]),
    .head_i(head_i[IdxW-1:0]),
    .mem_we_i(mem_we_i),
    .mem_qpn_i(mem_qpn_i[QpW-1:0]),
    .mem_i(mem_i),
    .tail_we_i(tail_we_o),
    .tail_qpn_i(tail_qpn),
    .tail_i(tail),
    .wqe_we_i(wqe_we_o),
    .wqe_slot_i(wqe_slot),
    .req_i(req),
    .cursor_we_o(cursor_we_o),
    .cursor_qpn_o(cursor_qpn),
    .cursor_o(cursor_o),
    .rd_we_o(rd_we_o),
    .rd_qpn_o(rd_qpn),
    .rd_num_o(rd_num_o),
    .rd_o(rd_o),
    .s_kick_post_tvalid(kick_tvalid),
    .s_kick_post_tready(kick_tready),
    .s_kick_post_tdata(kick_tdata),
    .s_kick_ack_tvalid(s_kick_tvalid),
    .s_kick_ack_tready(s_kick_tready),
    .s_kick_ack_tdata(s_kick_tdata[QpW-1:0]),
    .m_cmd_tvalid(m_cmd_tvalid),
    .m_cmd_tready(m_cmd_tready),
    .m_cmd_tdata(m_cmd_tdata),
    .m_bad_tvalid(m_bad_tvalid),
    .m_bad_tready(m_bad_tready),
    .m_bad_qpn(bad_qpn),
    .m_bad_length(bad_length),
    .m_flush_tvalid(m_flush_tvalid),
    .m_flush_tready(m_flush_tready),
    .m_flush_tdata(flush_qpn),
    .cnt_sq_packets_o(cnt_sq_packets_o),
    .cnt_sq_retransmits_o(cnt_sq_retransmits_o),
    .cnt_sq_skipped_o(skipped),
    .cnt_sq_window_closed_o(cnt_sq_window_closed_o),
    .cnt_sq_credit_waits_o(cnt_sq_credit_waits_o),
    .cnt_sq_read_waits_o(cnt_sq_read_waits_o),
    .cnt_sq_fence_waits_o(cnt_sq_fence_waits_o)
  );

  logic unused;
  assign unused = ^{skipped, state_qpn_i, head_qpn_i, head_i, mem_qpn_i, s_kick_tdata};

endmodule

`default_nettype wire
