// ack_split: parts the responder's answers: those that nothing stands in front of (m_now, to
// ack_queue) and those of queue pairs that use READ or atomics (m_behind, to rsp_engine, which
// keeps the order of responses).
//
// An answer passes combinationally, as it is, and waits for the one stream that it goes to. s_cfg,
// from cfg_order.m_drain, is taken when the answers of the QP's former life have passed: Settle
// cycles after it came, those not counted in which s_ack is held back. So long may the sender of
// s_ack take for what it holds. Software has taken the QP to RESET or ERR before its set-up.
//
// Settle: cycles, 1..1023; rx_responder's pipeline and queue need 13 + 32.
// rocegen: comb s_ack.tready<-s_ack.tdata, s_ack.tready<-m_now.tready
// rocegen: comb s_ack.tready<-m_behind.tready
// rocegen: comb m_now.tvalid<-s_ack.t*, m_behind.tvalid<-s_ack.t*
`include "rocegen_assert.svh"
`default_nettype none

module ack_split #(
  parameter int Settle = 64
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               s_cfg_tvalid,
  output logic               s_cfg_tready,
  // A set-up of any QP is waited for in the same way.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::qp_cfg_t  s_cfg_tdata,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic               s_ack_tvalid,
  output logic               s_ack_tready,
  input  roce_pkg::ack_req_t s_ack_tdata,
  output logic               m_now_tvalid,
  input  logic               m_now_tready,
  output roce_pkg::ack_req_t m_now_tdata,
  output logic               m_behind_tvalid,
  input  logic               m_behind_tready,
  output roce_pkg::ack_req_t m_behind_tdata
);

  if (Settle < 1 || Settle > 1023) begin : gen_check_settle
    $fatal(1, "ack_split: Settle must be in 1..1023");
  end

  localparam int CountW = $clog2(Settle + 1);

  logic [CountW-1:0] count_q;  // cycles that passed

  assign m_now_tvalid    = s_ack_tvalid && !s_ack_tdata.ordered;
  assign m_behind_tvalid = s_ack_tvalid && s_ack_tdata.ordered;
  assign s_ack_tready    = s_ack_tdata.ordered ? m_behind_tready : m_now_tready;
  assign m_now_tdata     = s_ack_tdata;
  assign m_behind_tdata  = s_ack_tdata;

  always_ff @(posedge clk) begin
    if (rst || !s_cfg_tvalid || s_cfg_tready) count_q <= '0;
    else if (!s_ack_tvalid || s_ack_tready) count_q <= count_q + 1'b1;
  end

  assign s_cfg_tready = count_q == CountW'(Settle);

  `ROCEGEN_STREAM(ack_contract, s_ack_tvalid, s_ack_tready, s_ack_tdata)
  `ROCEGEN_STREAM(cfg_contract, s_cfg_tvalid, s_cfg_tready, s_cfg_tdata)

endmodule

`default_nettype wire
