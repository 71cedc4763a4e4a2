// xor_out: masks the payload of packets on their way out.
//
// Header record and verdict pass as they are. Handshake, latency: as xor_mask.
//
// DataW: bits a beat. Index: bit of the mask that means this service. Key: as xor_mask.
// rocegen: comb s_pkt.tready<-m_pkt.tready
`default_nettype none

module xor_out #(
  parameter int DataW = 512,
  parameter int Index = 0,
  parameter int Key = 90
) (
  input  logic                clk,
  input  logic                rst,
  input  logic                s_pkt_tvalid,
  output logic                s_pkt_tready,
  input  logic [DataW-1:0]    s_pkt_tdata,
  input  logic [DataW/8-1:0]  s_pkt_tkeep,
  input  logic                s_pkt_tlast,
  input  roce_pkg::svc_tx_t s_pkt_tuser,
  output logic                m_pkt_tvalid,
  input  logic                m_pkt_tready,
  output logic [DataW-1:0]    m_pkt_tdata,
  output logic [DataW/8-1:0]  m_pkt_tkeep,
  output logic                m_pkt_tlast,
  output roce_pkg::svc_tx_t m_pkt_tuser,
  output logic                cnt_packets_o
);

  logic mine;

  assign mine = s_pkt_tuser.mask[Index];

  xor_mask #(
    .DataW(DataW),
    .UserW(roce_pkg::SvcTxW),
    .Key(Key)
  ) u_mask (
    .clk(clk),
    .rst(rst),
    .mine_i(mine),
    .s_pkt_tvalid(s_pkt_tvalid),
    .s_pkt_tready(s_pkt_tready),
    .s_pkt_tdata(s_pkt_tdata),
    .s_pkt_tkeep(s_pkt_tkeep),
    .s_pkt_tlast(s_pkt_tlast),
    .s_pkt_tuser(s_pkt_tuser),
    .m_pkt_tvalid(m_pkt_tvalid),
    .m_pkt_tready(m_pkt_tready),
    .m_pkt_tdata(m_pkt_tdata),
    .m_pkt_tkeep(m_pkt_tkeep),
    .m_pkt_tlast(m_pkt_tlast),
    .m_pkt_tuser(m_pkt_tuser),
    .cnt_packets_o(cnt_packets_o)
  );

endmodule

`default_nettype wire
