// done_split: hands the news that received data is in memory to those who wait for it.
//
// s_done is dma_write.m_done: {err, rx_cmd_t}, in order. PayRequest: a pulse wr_done_o with
// wr_err_o, wr_qpn_o and wr_psn_o, for the write_gates, and written_o counts one on (modular; for
// the atomic unit's write barrier). PayResponse: passes to m_done as it is, for the requester's
// completions. PayCmpSwap, PayFetchAdd (a write of the atomic unit): a pulse atomic_done_o with
// atomic_slot_o (the command's idx) and atomic_err_o. Handshake: s_done to m_done is combinational;
// only m_done can stall s_done. The pulses come from registers, one cycle later; written_o changes
// in the cycle of its pulse. One record a cycle.
// rocegen: comb s_done.tready<-m_done.tready, s_done.tready<-s_done.t*
// rocegen: comb m_done.tvalid<-s_done.t*
`include "rocegen_assert.svh"
`default_nettype none

module done_split (
  input  logic                      clk,
  input  logic                      rst,
  input  logic                      s_done_tvalid,
  output logic                      s_done_tready,
  input  logic [roce_pkg::RxCmdW:0] s_done_tdata,
  output logic                      m_done_tvalid,
  input  logic                      m_done_tready,
  output logic [roce_pkg::RxCmdW:0] m_done_tdata,
  output logic                      wr_done_o,
  output logic                      wr_err_o,
  output logic [23:0]               wr_qpn_o,
  output logic [23:0]               wr_psn_o,
  output logic [11:0]               written_o,
  output logic                      atomic_done_o,
  output logic [7:0]                atomic_slot_o,
  output logic                      atomic_err_o
);

  roce_pkg::rx_cmd_t cmd;
  logic              err;
  logic              is_response;
  logic              is_request;

  assign {err, cmd} = s_done_tdata;
  assign is_request = cmd.kind == roce_pkg::PayRequest;
  assign is_response = cmd.kind == roce_pkg::PayResponse;

  assign m_done_tvalid = s_done_tvalid && is_response;
  assign m_done_tdata = s_done_tdata;
  assign s_done_tready = m_done_tready || !is_response;

  always_ff @(posedge clk) begin
    if (rst) begin
      wr_done_o     <= 1'b0;
      atomic_done_o <= 1'b0;
      written_o     <= '0;
    end else begin
      wr_done_o     <= s_done_tvalid && is_request;
      atomic_done_o <= s_done_tvalid && cmd.kind[1];
      if (s_done_tvalid && is_request) written_o <= written_o + 12'd1;
    end
  end

  always_ff @(posedge clk) begin
    wr_err_o      <= err;
    wr_qpn_o      <= cmd.qpn;
    wr_psn_o      <= cmd.psn;
    atomic_err_o  <= err;
    atomic_slot_o <= cmd.idx;
  end

  // Most of a command concerns only the requester.
  logic unused_cmd;
  assign unused_cmd = ^cmd;

  `ROCEGEN_STREAM(done_contract, s_done_tvalid, s_done_tready, s_done_tdata)

endmodule

`default_nettype wire
