// svc_open: gives every packet of a stream the mask of its queue pair's services, at the attach
// points egress and deliver.
//
// m_pkt is s_pkt, a cycle later, with the mask in front of tuser. It is looked up with the first
// beat, so it is constant over the packet whatever is set up meanwhile. Handshake: outputs are
// registers; s_pkt_tready follows m_pkt_tready combinationally. One beat a cycle, latency 1.
// ready_o: the table of masks is cleared.
//
// DataW: bits a beat, 64..1024. UserW: bits of s_pkt_tuser. QpnLsb: where the QPN is in it. OffLsb:
// bit of it that is set in packets that no service sees, or -1. QpCount, Services: as svc_mask.
// rocegen: comb s_pkt.tready<-m_pkt.tready
`include "rocegen_assert.svh"
`default_nettype none

module svc_open #(
  parameter int DataW = 512,
  parameter int UserW = 303,
  parameter int QpnLsb = 272,
  parameter int OffLsb = -1,
  parameter int QpCount = 16,
  parameter int Services = 1
) (
  input  logic               clk,
  input  logic               rst,
  output logic               ready_o,
  input  logic               s_cfg_tvalid,
  output logic               s_cfg_tready,
  input  roce_pkg::qp_cfg_t  s_cfg_tdata,
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
  output logic [UserW+7:0]   m_pkt_tuser
);

  if (QpnLsb < 0 || QpnLsb + 24 > UserW || OffLsb >= UserW) begin : gen_check_places
    $fatal(1, "svc_open: QpnLsb and OffLsb must lie within UserW");
  end

  logic             load;
  logic             take;
  logic             inside_q;  // the next beat is not the first of its packet
  logic             off_q;
  logic [7:0]       mask;
  logic [UserW-1:0] user_q;

  assign load         = m_pkt_tready || !m_pkt_tvalid;
  assign take         = s_pkt_tvalid && load;
  assign s_pkt_tready = load;

  svc_mask #(
    .QpCount(QpCount),
    .Services(Services)
  ) u_mask (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .rd_en_i(take && !inside_q),
    .rd_qpn_i(s_pkt_tuser[QpnLsb+:24]),
    .mask_o(mask)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      m_pkt_tvalid <= 1'b0;
      inside_q     <= 1'b0;
    end else if (load) begin
      m_pkt_tvalid <= s_pkt_tvalid;
      if (s_pkt_tvalid) inside_q <= !s_pkt_tlast;
    end
    if (load) begin
      m_pkt_tdata <= s_pkt_tdata;
      m_pkt_tkeep <= s_pkt_tkeep;
      m_pkt_tlast <= s_pkt_tlast;
      user_q      <= s_pkt_tuser;
    end
  end

  if (OffLsb >= 0) begin : gen_off
    always_ff @(posedge clk) begin
      if (load) off_q <= s_pkt_tuser[OffLsb];
    end
  end else begin : gen_all
    assign off_q = 1'b0;
  end

  assign m_pkt_tuser = {off_q ? 8'd0 : mask, user_q};

  `ROCEGEN_STREAM(pkt_contract, s_pkt_tvalid, s_pkt_tready,
                  {s_pkt_tuser, s_pkt_tlast, s_pkt_tkeep, s_pkt_tdata})
  `ROCEGEN_PACKET(pkt_packet, s_pkt_tvalid && s_pkt_tready, s_pkt_tlast, s_pkt_tkeep)

endmodule

`default_nettype wire
