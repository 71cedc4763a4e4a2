// svc_close: the end of the attach points egress and deliver: takes the mask off again.
//
// m_pkt is s_pkt without the mask in front of tuser: wires, no latency.
//
// DataW: bits a beat, 64..1024. UserW: bits of m_pkt_tuser.
// rocegen: comb m_pkt.tvalid<-s_pkt.tvalid, s_pkt.tready<-m_pkt.tready
`default_nettype none

module svc_close #(
  parameter int DataW = 512,
  parameter int UserW = 303
) (
  // A stream belongs to a clock, also where nothing is clocked.
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic               clk,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic               s_pkt_tvalid,
  output logic               s_pkt_tready,
  input  logic [DataW-1:0]   s_pkt_tdata,
  input  logic [DataW/8-1:0] s_pkt_tkeep,
  input  logic               s_pkt_tlast,
  input  logic [UserW+7:0]   s_pkt_tuser,
  output logic               m_pkt_tvalid,
  input  logic               m_pkt_tready,
  output logic [DataW-1:0]   m_pkt_tdata,
  output logic [DataW/8-1:0] m_pkt_tkeep,
  output logic               m_pkt_tlast,
  output logic [UserW-1:0]   m_pkt_tuser
);

  assign m_pkt_tvalid = s_pkt_tvalid;
  assign s_pkt_tready = m_pkt_tready;
  assign m_pkt_tdata  = s_pkt_tdata;
  assign m_pkt_tkeep  = s_pkt_tkeep;
  assign m_pkt_tlast  = s_pkt_tlast;
  assign m_pkt_tuser  = s_pkt_tuser[UserW-1:0];

  logic unused_mask;
  assign unused_mask = ^s_pkt_tuser[UserW+:8];

endmodule

`default_nettype wire
