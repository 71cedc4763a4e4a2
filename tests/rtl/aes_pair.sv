// aes_pair: both directions of the AES service with their tables, as the stack joins them, for one bench.
`default_nettype none

module aes_pair #(
  parameter int DataW = 512,
  parameter int QpCount = 16,
  parameter int Index = 0,
  parameter int KeyBits = 256,
  parameter int Gcm = 1,
  parameter int RoundsPerStage = 2
) (
  input  logic                       clk,
  input  logic                       rst,
  output logic [2:0]                 ready_o,
  input  logic                       s_cfg_tvalid,
  output logic                       s_cfg_tready,
  input  roce_pkg::qp_cfg_t          s_cfg_tdata,
  input  logic [roce_pkg::LifeW-1:0] life_i,
  input  logic                       ctl_valid_i,
  input  logic                       ctl_write_i,
  input  logic [11:0]                ctl_addr_i,
  input  logic [31:0]                ctl_wdata_i,
  output logic                       ctl_ready_o,
  output logic [31:0]                ctl_rdata_o,
  input  logic                       tap_valid_i,
  input  roce_pkg::tx_pkt_t          tap_i,
  input  logic                       s_tx_tvalid,
  output logic                       s_tx_tready,
  input  logic [DataW-1:0]           s_tx_tdata,
  input  logic [DataW/8-1:0]         s_tx_tkeep,
  input  logic                       s_tx_tlast,
  input  roce_pkg::svc_tx_t          s_tx_tuser,
  output logic                       m_tx_tvalid,
  input  logic                       m_tx_tready,
  output logic [DataW-1:0]           m_tx_tdata,
  output logic [DataW/8-1:0]         m_tx_tkeep,
  output logic                       m_tx_tlast,
  output roce_pkg::svc_tx_t          m_tx_tuser,
  input  logic                       s_rx_tvalid,
  output logic                       s_rx_tready,
  input  logic [DataW-1:0]           s_rx_tdata,
  input  logic [DataW/8-1:0]         s_rx_tkeep,
  input  logic                       s_rx_tlast,
  input  roce_pkg::svc_rx_t          s_rx_tuser,
  output logic                       m_rx_tvalid,
  input  logic                       m_rx_tready,
  output logic [DataW-1:0]           m_rx_tdata,
  output logic [DataW/8-1:0]         m_rx_tkeep,
  output logic                       m_rx_tlast,
  output roce_pkg::svc_rx_t          m_rx_tuser,
  output logic [4:0]                 counts_o
);

  logic [(Gcm != 0 ? (DataW > 128 ? DataW : 128) + 128 : 1) + KeyBits +
      3 * (QpCount > 1 ? $clog2(QpCount) : 1) + 3 * aes_pkg::ExtW + 64 : 0] sent, received;

  aes_tables #(
    .DataW(DataW),
    .QpCount(QpCount),
    .KeyBits(KeyBits),
    .Gcm(Gcm)
  ) u_tables (
    .ready_o(ready_o[0]),
    .sent_o(sent),
    .received_o(received),
    .*
  );

  aes_egress #(
    .DataW(DataW),
    .QpCount(QpCount),
    .Index(Index),
    .KeyBits(KeyBits),
    .Gcm(Gcm),
    .RoundsPerStage(RoundsPerStage)
  ) u_egress (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o[1]),
    .s_pkt_tvalid(s_tx_tvalid),
    .s_pkt_tready(s_tx_tready),
    .s_pkt_tdata(s_tx_tdata),
    .s_pkt_tkeep(s_tx_tkeep),
    .s_pkt_tlast(s_tx_tlast),
    .s_pkt_tuser(s_tx_tuser),
    .m_pkt_tvalid(m_tx_tvalid),
    .m_pkt_tready(m_tx_tready),
    .m_pkt_tdata(m_tx_tdata),
    .m_pkt_tkeep(m_tx_tkeep),
    .m_pkt_tlast(m_tx_tlast),
    .m_pkt_tuser(m_tx_tuser),
    .tables_i(sent),
    .cnt_aes_sent_o(counts_o[0]),
    .cnt_aes_sent_no_key_o(counts_o[1])
  );

  aes_ingress #(
    .DataW(DataW),
    .QpCount(QpCount),
    .Index(Index),
    .KeyBits(KeyBits),
    .Gcm(Gcm),
    .RoundsPerStage(RoundsPerStage)
  ) u_ingress (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o[2]),
    .s_pkt_tvalid(s_rx_tvalid),
    .s_pkt_tready(s_rx_tready),
    .s_pkt_tdata(s_rx_tdata),
    .s_pkt_tkeep(s_rx_tkeep),
    .s_pkt_tlast(s_rx_tlast),
    .s_pkt_tuser(s_rx_tuser),
    .m_pkt_tvalid(m_rx_tvalid),
    .m_pkt_tready(m_rx_tready),
    .m_pkt_tdata(m_rx_tdata),
    .m_pkt_tkeep(m_rx_tkeep),
    .m_pkt_tlast(m_rx_tlast),
    .m_pkt_tuser(m_rx_tuser),
    .tables_i(received),
    .cnt_aes_received_o(counts_o[2]),
    .cnt_aes_received_no_key_o(counts_o[3]),
    .cnt_aes_wrong_tag_o(counts_o[4])
  );

endmodule

`default_nettype wire
