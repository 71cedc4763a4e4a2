// tx_tap: tells services which packets leave.
//
// s_pkt_* -> m_pkt_* (of tx_share, {err, tx_pkt_t}), combinational. tap_valid_o pulses a cycle behind the last beat
// of each packet without err, with its record in tap_o.
//
// DataW: bits of the datapath.
// rocegen: comb s_pkt.tready<-m_pkt.tready, m_pkt.t*<-s_pkt.t*
`default_nettype none

module tx_tap #(
  parameter int DataW = 512
) (
  input  logic                       clk,
  input  logic                       rst,
  input  logic                       s_pkt_tvalid,
  output logic                       s_pkt_tready,
  input  logic [DataW-1:0]           s_pkt_tdata,
  input  logic [DataW/8-1:0]         s_pkt_tkeep,
  input  logic                       s_pkt_tlast,
  input  logic [roce_pkg::TxPktW:0]  s_pkt_tuser,
  output logic                       m_pkt_tvalid,
  input  logic                       m_pkt_tready,
  output logic [DataW-1:0]           m_pkt_tdata,
  output logic [DataW/8-1:0]         m_pkt_tkeep,
  output logic                       m_pkt_tlast,
  output logic [roce_pkg::TxPktW:0]  m_pkt_tuser,
  output logic                       tap_valid_o,
  output roce_pkg::tx_pkt_t          tap_o
);

  assign m_pkt_tvalid = s_pkt_tvalid;
  assign s_pkt_tready = m_pkt_tready;
  assign m_pkt_tdata = s_pkt_tdata;
  assign m_pkt_tkeep = s_pkt_tkeep;
  assign m_pkt_tlast = s_pkt_tlast;
  assign m_pkt_tuser = s_pkt_tuser;

  logic              valid_q;
  roce_pkg::tx_pkt_t pkt_q;
  always_ff @(posedge clk) begin
    pkt_q <= s_pkt_tuser[roce_pkg::TxPktW-1:0];
    valid_q <= !rst && s_pkt_tvalid && m_pkt_tready && s_pkt_tlast && !s_pkt_tuser[roce_pkg::TxPktW];
  end
  assign tap_valid_o = valid_q;
  assign tap_o = pkt_q;

endmodule

`default_nettype wire
