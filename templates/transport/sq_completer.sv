// sq_completer: completes requests, a turn of one QP after the other.
//
// Composed of the work list of QPs that may have finished requests (sq_sched, kicked by s_kick_ack,
// s_kick_done and s_kick_flush), sq_retire, and the arbiter that merges the answers to rejected
// requests (s_reject) into m_cqe. Owns the heads of the rings (head_*_o). hold_i / idle_o /
// set_valid_i / done_*_i as in sq_retire.
//
// QpW: bits of a QPN. WqeSlots: slots in the request memory, 2..2^20. SlotW: bits of a slot number.
// IdxW: bits of a ring index, SlotW + 2. ReadW: bits of a number of READs, at least SlotW + 1.
`default_nettype none

module sq_completer #(
  parameter int QpW = 4,
  parameter int WqeSlots = 256,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int ReadW = 9
) (
  input  logic                clk,
  input  logic                rst,
  output logic                ready_o,
  input  logic                hold_i,
  output logic                idle_o,
  input  logic                set_valid_i,
  input  roce_pkg::qp_cfg_t   set_i,
  input  logic                state_we_i,
  input  logic [QpW-1:0]      state_qpn_i,
  input  roce_pkg::sq_state_t state_i,
  input  logic                tail_we_i,
  input  logic [QpW-1:0]      tail_qpn_i,
  input  logic [IdxW-1:0]     tail_i,
  input  logic                wqe_we_i,
  input  logic [SlotW-1:0]    wqe_slot_i,
  input  roce_pkg::sq_cpl_t   cpl_i,
  input  logic                done_we_i,
  input  logic [QpW-1:0]      done_qpn_i,
  input  logic [ReadW-1:0]    done_reads_i,
  input  logic [15:0]         done_rx_i,
  output logic                head_we_o,
  output logic [QpW-1:0]      head_qpn_o,
  output logic [IdxW-1:0]     head_o,
  output logic [23:0]         head_psn_o,
  input  logic                s_kick_ack_tvalid,
  output logic                s_kick_ack_tready,
  input  logic [QpW-1:0]      s_kick_ack_tdata,
  input  logic                s_kick_done_tvalid,
  output logic                s_kick_done_tready,
  input  logic [QpW-1:0]      s_kick_done_tdata,
  input  logic                s_kick_flush_tvalid,
  output logic                s_kick_flush_tready,
  input  logic [QpW-1:0]      s_kick_flush_tdata,
  input  logic                s_reject_tvalid,
  output logic                s_reject_tready,
  input  roce_pkg::cqe_t      s_reject_tdata,
  output logic                m_cqe_tvalid,
  input  logic                m_cqe_tready,
  output logic [255:0]        m_cqe_tdata,
  output logic                cnt_sq_cqes_o,
  output logic                cnt_sq_flushed_o
);

  logic           ret_done_valid;
  logic           ret_done_more;
  logic [QpW-1:0] ret_done_qpn;
  logic           ret_tvalid;
  logic           ret_tready;
  logic [QpW-1:0] ret_tdata;
  logic           kick_tvalid;
  logic           kick_tready;
  logic [QpW-1:0] kick_tdata;
  logic           cqe_tvalid;
  logic           cqe_tready;
  roce_pkg::cqe_t cqe_tdata;

  record_arb #(
    .N(2),
    .Width(QpW)
  ) u_kick (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid({s_kick_done_tvalid, s_kick_ack_tvalid}),
    .s_axis_tready({s_kick_done_tready, s_kick_ack_tready}),
    .s_axis_tdata({s_kick_done_tdata, s_kick_ack_tdata}),
    .m_axis_tvalid(kick_tvalid),
    .m_axis_tready(kick_tready),
    .m_axis_tdata(kick_tdata)
  );

  sq_sched #(
    .QpW(QpW)
  ) u_complete (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .s_kick_a_tvalid(kick_tvalid),
    .s_kick_a_tready(kick_tready),
    .s_kick_a_tdata(kick_tdata),
    .s_kick_b_tvalid(s_kick_flush_tvalid),
    .s_kick_b_tready(s_kick_flush_tready),
    .s_kick_b_tdata(s_kick_flush_tdata),
    .done_valid_i(ret_done_valid),
    .done_more_i(ret_done_more),
    .done_qpn_i(ret_done_qpn),
    .m_pop_tvalid(ret_tvalid),
    .m_pop_tready(ret_tready),
    .m_pop_tdata(ret_tdata)
  );

  sq_retire #(
    .QpW(QpW),
    .WqeSlots(WqeSlots),
    .SlotW(SlotW),
    .IdxW(IdxW),
    .ReadW(ReadW)
  ) u_retire (
    .clk(clk),
    .rst(rst),
    .hold_i(hold_i),
    .idle_o(idle_o),
    .set_valid_i(set_valid_i),
    .set_i(set_i),
    .state_we_i(state_we_i),
    .state_qpn_i(state_qpn_i),
    .state_i(state_i),
    .tail_we_i(tail_we_i),
    .tail_qpn_i(tail_qpn_i),
    .tail_i(tail_i),
    .wqe_we_i(wqe_we_i),
    .wqe_slot_i(wqe_slot_i),
    .cpl_i(cpl_i),
    .done_we_i(done_we_i),
    .done_qpn_i(done_qpn_i),
    .done_reads_i(done_reads_i),
    .done_rx_i(done_rx_i),
    .head_we_o(head_we_o),
    .head_qpn_o(head_qpn_o),
    .head_o(head_o),
    .head_psn_o(head_psn_o),
    .s_qp_tvalid(ret_tvalid),
    .s_qp_tready(ret_tready),
    .s_qp_tdata(ret_tdata),
    .done_valid_o(ret_done_valid),
    .done_more_o(ret_done_more),
    .done_qpn_o(ret_done_qpn),
    .m_cqe_tvalid(cqe_tvalid),
    .m_cqe_tready(cqe_tready),
    .m_cqe_tdata(cqe_tdata),
    .cnt_sq_cqes_o(cnt_sq_cqes_o),
    .cnt_sq_flushed_o(cnt_sq_flushed_o)
  );

  record_arb #(
    .N(2),
    .Width(roce_pkg::CqeW)
  ) u_cqe (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid({cqe_tvalid, s_reject_tvalid}),
    .s_axis_tready({cqe_tready, s_reject_tready}),
    .s_axis_tdata({cqe_tdata, s_reject_tdata}),
    .m_axis_tvalid(m_cqe_tvalid),
    .m_axis_tready(m_cqe_tready),
    .m_axis_tdata(m_cqe_tdata)
  );

endmodule

`default_nettype wire
