// pass: a stage that changes nothing, with registers in both directions: what an attach point costs by itself.
//
// Handshake: valid, data and ready come from registers. A beat a cycle, latency 1.
//
// DataW: bits a beat. UserW: bits of tuser.
// rocegen: comb none
`default_nettype none

module pass #(
  parameter int DataW = 512,
  parameter int UserW = 386
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               s_pkt_tvalid,
  output logic               s_pkt_tready,
  input  logic [DataW-1:0]   s_pkt_tdata,
  input  logic [DataW/8-1:0] s_pkt_tkeep,
  input  logic               s_pkt_tlast,
  input  logic [UserW-1:0]   s_pkt_tuser,
  output logic               m_pkt_tvalid,
  input  logic               m_pkt_tready,
  output logic [DataW-1:0]   m_pkt_tdata,
  output logic [DataW/8-1:0] m_pkt_tkeep,
  output logic               m_pkt_tlast,
  output logic [UserW-1:0]   m_pkt_tuser
);

  stream_skid #(
    .Width(DataW + DataW / 8 + 1 + UserW)
  ) u_skid (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(s_pkt_tvalid),
    .s_axis_tready(s_pkt_tready),
    .s_axis_tdata({s_pkt_tdata, s_pkt_tkeep, s_pkt_tlast, s_pkt_tuser}),
    .m_axis_tvalid(m_pkt_tvalid),
    .m_axis_tready(m_pkt_tready),
    .m_axis_tdata({m_pkt_tdata, m_pkt_tkeep, m_pkt_tlast, m_pkt_tuser})
  );

endmodule

`default_nettype wire
