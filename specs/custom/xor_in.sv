// xor_in: takes the mask of the peer's xor_out off the payload of received packets.
//
// Header record and verdict pass as they are. Handshake, latency: as xor_mask.
//
// DataW: bits a beat. Index: bit of the mask that means this service. Key: as xor_mask.
// rocegen: comb s_pkt.tready<-m_pkt.tready
`default_nettype none

module xor_in #(
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
  input  roce_pkg::svc_rx_t s_pkt_tuser,
  output logic                m_pkt_tvalid,
  input  logic                m_pkt_tready,
  output logic [DataW-1:0]    m_pkt_tdata,
  output logic [DataW/8-1:0]  m_pkt_tkeep,
  output logic                m_pkt_tlast,
  output roce_pkg::svc_rx_t m_pkt_tuser,
  output logic                cnt_packets_o
);

  logic mine;

  // Operands and results of atomics, which at the sender are header fields, were not masked.
  always_comb begin
    case (s_pkt_tuser.hdr.opcode)
      roce_pkg::OpCmpSwap, roce_pkg::OpFetchAdd, roce_pkg::OpAtomicAck: mine = 1'b0;
      default: mine = s_pkt_tuser.mask[Index];
    endcase
  end

  xor_mask #(
    .DataW(DataW),
    .UserW(roce_pkg::SvcRxW),
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
