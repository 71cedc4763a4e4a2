// sq_requester: sends the requests of all QPs, a turn of one QP after the other.
//
// Composed of the work list of QPs that may send (sq_sched, kicked by s_kick_post and s_kick_ack),
// sq_fetch (turn, cursor, requests), sq_segment (packets) and sq_emit (commands). Each says what it
// does. Owns the cursors (cursor_*_o), keeps copies of what the other owners broadcast. hold_i /
// idle_o / set_valid_i as in sq_segment and sq_fetch: with hold_i all turns end, without waiting
// for m_cmd.
//
// QpW: bits of a QPN. WqeSlots: slots in the request memory, 2..2^20. SlotW: bits of a slot number.
// IdxW: bits of a ring index, SlotW + 2. AckInterval, WindowPkts, Quantum: as in sq_segment.
`default_nettype none

module sq_requester #(
  parameter int QpW = 4,
  parameter int WqeSlots = 256,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int AckInterval = 16,
  parameter int WindowPkts = 256,
  parameter int Quantum = 16
) (
  input  logic                 clk,
  input  logic                 rst,
  output logic                 ready_o,
  input  logic                 hold_i,
  output logic                 idle_o,
  input  logic                 set_valid_i,
  input  roce_pkg::qp_cfg_t    set_i,
  input  logic                 state_we_i,
  input  logic [QpW-1:0]       state_qpn_i,
  input  roce_pkg::sq_state_t  state_i,
  input  logic                 head_we_i,
  input  logic [QpW-1:0]       head_qpn_i,
  input  logic [IdxW-1:0]      head_i,
  input  logic                 tail_we_i,
  input  logic [QpW-1:0]       tail_qpn_i,
  input  logic [IdxW-1:0]      tail_i,
  input  logic                 wqe_we_i,
  input  logic [SlotW-1:0]     wqe_slot_i,
  input  roce_pkg::sq_req_t    req_i,
  output logic                 cursor_we_o,
  output logic [QpW-1:0]       cursor_qpn_o,
  output roce_pkg::sq_cursor_t cursor_o,
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
  output logic                 cnt_sq_window_closed_o
);

  logic fetch_idle;
  logic segment_idle;

  assign idle_o = fetch_idle && segment_idle;

  logic                        send_done_valid;
  logic                        send_done_more;
  logic [QpW-1:0]              send_done_qpn;
  logic                        send_tvalid;
  logic                        send_tready;
  logic [QpW-1:0]              send_tdata;
  logic                        tok_tvalid;
  logic                        tok_tready;
  logic [1:0]                  tok_kind;
  logic                        tok_last;
  logic                        tok_more;
  logic                        tok_fresh;
  logic [roce_pkg::SqReqW-1:0] tok_payload;
  logic                        cut;
  logic [3:0]                  cut_turn;
  logic                        put_room;
  logic                        put_valid;
  logic [QpW-1:0]              put_qpn;
  logic [23:0]                 put_psn;
  logic                        put_first;
  logic                        put_last;
  logic                        put_ackreq;
  logic [2:0]                  put_pmtu;
  roce_pkg::sq_req_t           put_req;

  sq_sched #(
    .QpW(QpW)
  ) u_send (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .s_kick_a_tvalid(s_kick_post_tvalid),
    .s_kick_a_tready(s_kick_post_tready),
    .s_kick_a_tdata(s_kick_post_tdata),
    .s_kick_b_tvalid(s_kick_ack_tvalid),
    .s_kick_b_tready(s_kick_ack_tready),
    .s_kick_b_tdata(s_kick_ack_tdata),
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
    .Quantum(Quantum)
  ) u_fetch (
    .clk(clk),
    .rst(rst),
    .hold_i(hold_i),
    .idle_o(fetch_idle),
    .set_valid_i(set_valid_i),
    .set_i(set_i),
    .state_we_i(state_we_i),
    .state_qpn_i(state_qpn_i),
    .state_i(state_i),
    .cursor_we_i(cursor_we_o),
    .cursor_qpn_i(cursor_qpn_o),
    .cursor_i(cursor_o),
    .head_we_i(head_we_i),
    .head_qpn_i(head_qpn_i),
    .head_i(head_i),
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
    .m_tok_tvalid(tok_tvalid),
    .m_tok_tready(tok_tready),
    .m_tok_kind(tok_kind),
    .m_tok_last(tok_last),
    .m_tok_more(tok_more),
    .m_tok_fresh(tok_fresh),
    .m_tok_payload(tok_payload)
  );

  sq_segment #(
    .QpW(QpW),
    .AckInterval(AckInterval),
    .WindowPkts(WindowPkts),
    .Quantum(Quantum)
  ) u_segment (
    .clk(clk),
    .rst(rst),
    .hold_i(hold_i),
    .idle_o(segment_idle),
    .set_valid_i(set_valid_i),
    .set_qpn_i(set_i.qpn[QpW-1:0]),
    .set_psn_i(set_i.sq_psn),
    .s_tok_tvalid(tok_tvalid),
    .s_tok_tready(tok_tready),
    .s_tok_kind(tok_kind),
    .s_tok_last(tok_last),
    .s_tok_more(tok_more),
    .s_tok_fresh(tok_fresh),
    .s_tok_payload(tok_payload),
    .cut_o(cut),
    .cut_turn_o(cut_turn),
    .cursor_we_o(cursor_we_o),
    .cursor_qpn_o(cursor_qpn_o),
    .cursor_o(cursor_o),
    .done_valid_o(send_done_valid),
    .done_more_o(send_done_more),
    .done_qpn_o(send_done_qpn),
    .put_room_i(put_room),
    .put_valid_o(put_valid),
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
    .cnt_sq_window_closed_o(cnt_sq_window_closed_o)
  );

  sq_emit #(
    .QpW(QpW)
  ) u_emit (
    .clk(clk),
    .rst(rst),
    .room_o(put_room),
    .put_valid_i(put_valid),
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
