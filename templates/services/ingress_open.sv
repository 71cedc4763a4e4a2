// ingress_open: makes packets of what rx_frontend gives, for the services at the attach point
// ingress: the header record, the mask of its queue pair's services and the payload travel as one.
//
// Each header of s_hdr becomes one packet on m_pkt, in order, with svc_rx_t in tuser (drop, tell,
// refuse and tag zero): the payload aligned to byte 0, or one empty beat when there is none. With the
// mask goes the QP's life (life_i: the one that a set-up on s_cfg begins; 0 before the first and beyond
// QpCount): a packet whose mask was that of a former life is dropped by the transport. For
// each header but those of plain ACKs (0x11) a command on m_fetch brings the payload on s_pay, as
// rx_frontend wants it; so its frame buffer is free again as soon as the services have taken the
// packet. s_pay carries that command in tuser. s_cfg, ready_o: as svc_mask.
//
// Handshake: m_pkt_tvalid follows s_pay_tvalid combinationally, s_pay_tready m_pkt_tready. A header
// and a beat a cycle; m_fetch a cycle behind its header.
//
// DataW: bits a beat, 64..1024, a power of two. QpCount, Services: as svc_mask. Depth: headers on
// their way from command to payload, >= 4.
// rocegen: comb m_pkt.tvalid<-s_pay.tvalid, s_pay.tready<-m_pkt.tready
// rocegen: comb s_hdr.tready<-m_fetch.tready
// rocegen: record m_pkt.tuser roce_pkg::svc_rx_t
`include "rocegen_assert.svh"
`default_nettype none

module ingress_open #(
  parameter int DataW = 512,
  parameter int QpCount = 16,
  parameter int Services = 1,
  parameter int Depth = 16
) (
  input  logic                        clk,
  input  logic                        rst,
  output logic                        ready_o,
  input  logic                        s_cfg_tvalid,
  output logic                        s_cfg_tready,
  input  roce_pkg::qp_cfg_t           s_cfg_tdata,
  input  logic [roce_pkg::LifeW-1:0]  life_i,
  input  logic                        s_hdr_tvalid,
  output logic                        s_hdr_tready,
  input  roce_pkg::rx_hdr_t           s_hdr_tdata,
  output logic                        m_fetch_tvalid,
  input  logic                        m_fetch_tready,
  output roce_pkg::rx_cmd_t           m_fetch_tdata,
  input  logic                        s_pay_tvalid,
  output logic                        s_pay_tready,
  input  logic [DataW-1:0]            s_pay_tdata,
  input  logic [DataW/8-1:0]          s_pay_tkeep,
  input  logic                        s_pay_tlast,
  input  roce_pkg::rx_cmd_t           s_pay_tuser,
  output logic                        m_pkt_tvalid,
  input  logic                        m_pkt_tready,
  output logic [DataW-1:0]            m_pkt_tdata,
  output logic [DataW/8-1:0]          m_pkt_tkeep,
  output logic                        m_pkt_tlast,
  output logic [roce_pkg::SvcRxW-1:0] m_pkt_tuser
);

  if (Depth < 4) begin : gen_check_depth
    $fatal(1, "ingress_open: Depth must be at least 4");
  end

  // ---- header and mask; the command -------------------------------------------------------------
  logic              valid_q;
  logic              ack_q;  // no payload to fetch
  roce_pkg::rx_hdr_t hdr_q;
  logic [7:0]        mask;
  logic              take;
  logic              go;  // the header enters the queue
  logic              room;
  logic              masks_ready, lives_ready;

  assign go           = valid_q && room && (ack_q || m_fetch_tready);
  assign s_hdr_tready = !valid_q || go;
  assign take         = s_hdr_tvalid && s_hdr_tready;

  always_ff @(posedge clk) begin
    if (rst) valid_q <= 1'b0;
    else if (s_hdr_tready) valid_q <= s_hdr_tvalid;
    if (take) begin
      ack_q <= s_hdr_tdata.opcode == roce_pkg::OpAck;
      hdr_q <= s_hdr_tdata;
    end
  end

  svc_mask #(
    .QpCount(QpCount),
    .Services(Services)
  ) u_mask (
    .clk(clk),
    .rst(rst),
    .ready_o(masks_ready),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .rd_en_i(take),
    .rd_qpn_i(s_hdr_tdata.dqpn),
    .mask_o(mask)
  );

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int LifeW = roce_pkg::LifeW;
  logic             known_q;
  logic [LifeW-1:0] life;

  ram_clear #(
    .Width(LifeW),
    .Depth(QpCount),
    .Latency(1)
  ) u_lives (
    .clk(clk),
    .rst(rst),
    .wr_en_i(s_cfg_tvalid && s_cfg_tdata.setup && s_cfg_tdata.qpn < 24'(QpCount)),
    .wr_addr_i(s_cfg_tdata.qpn[QpW-1:0]),
    .wr_data_i(life_i),
    .rd_en_i(take),
    .rd_addr_i(s_hdr_tdata.dqpn[QpW-1:0]),
    .rd_data_o(life),
    .ready_o(lives_ready)
  );

  always_ff @(posedge clk) begin
    if (take) known_q <= ready_o && s_hdr_tdata.dqpn < 24'(QpCount);
  end
  assign ready_o = masks_ready && lives_ready;

  assign m_fetch_tvalid = valid_q && !ack_q && room;

  always_comb begin
    m_fetch_tdata          = '0;
    m_fetch_tdata.buf_addr = hdr_q.buf_addr;
    m_fetch_tdata.bytes    = hdr_q.pay_bytes;
    m_fetch_tdata.forward  = 1'b1;
    m_fetch_tdata.last     = 1'b1;
  end

  // ---- headers that wait for their payload ------------------------------------------------------
  localparam int VerdictW = 9;  // refuse and tag are zero here; behind them the life
  localparam int HdrW = roce_pkg::RxHdrW - VerdictW - LifeW;
  localparam int WaitW = HdrW + LifeW + 9;

  logic [roce_pkg::RxHdrW-1:0] hdr;
  logic                        out_valid;
  logic                        out_ack;
  logic [7:0]                  out_mask;
  logic [HdrW-1:0]             out_bits;
  logic [LifeW-1:0]            out_life;
  roce_pkg::rx_hdr_t           out_hdr;
  logic                        out_take;

  assign hdr = hdr_q;

  /* verilator lint_off PINCONNECTEMPTY */
  stream_fifo #(
    .Width(WaitW),
    .Depth(Depth),
    .Style(3)
  ) u_wait (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(go),
    .s_axis_tready(room),
    .s_axis_tdata({ack_q, mask, known_q ? life : LifeW'(0), hdr[roce_pkg::RxHdrW-1:VerdictW+LifeW]}),
    .m_axis_tvalid(out_valid),
    .m_axis_tready(out_take),
    .m_axis_tdata({out_ack, out_mask, out_life, out_bits}),
    .level_o()  // nobody asks
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // ---- the packet -------------------------------------------------------------------------------
  // The beat of an ACK stands by itself: what comes on s_pay meanwhile belongs to a later header.
  assign out_hdr      = {out_bits, VerdictW'(0), out_life};
  assign m_pkt_tvalid = out_valid && (out_ack || s_pay_tvalid);
  assign s_pay_tready = out_valid && !out_ack && m_pkt_tready;
  assign out_take     = m_pkt_tvalid && m_pkt_tready && m_pkt_tlast;
  assign m_pkt_tdata  = out_ack ? '0 : s_pay_tdata;
  assign m_pkt_tkeep  = out_ack ? '0 : s_pay_tkeep;
  assign m_pkt_tlast  = out_ack || s_pay_tlast;
  assign m_pkt_tuser  = {out_mask, 2'b00, out_hdr};

  // The command comes back with the payload, to be checked; what rx_frontend leaves zero.
  logic unused_bits;
  assign unused_bits = ^{s_pay_tuser, hdr[VerdictW+LifeW-1:0]};

  `ROCEGEN_STREAM(hdr_contract, s_hdr_tvalid, s_hdr_tready, s_hdr_tdata)
  `ROCEGEN_STREAM(fetch_contract, m_fetch_tvalid, m_fetch_tready, m_fetch_tdata)
  `ROCEGEN_STREAM(pay_contract, s_pay_tvalid, s_pay_tready,
                  {s_pay_tuser, s_pay_tlast, s_pay_tkeep, s_pay_tdata})
  `ROCEGEN_STREAM(pkt_contract, m_pkt_tvalid, m_pkt_tready,
                  {m_pkt_tuser, m_pkt_tlast, m_pkt_tkeep, m_pkt_tdata})
  `ROCEGEN_PACKET(pkt_packet, m_pkt_tvalid, m_pkt_tlast, m_pkt_tkeep)
  // Headers and payload stay in step by their order alone.
  `ROCEGEN_ASSERT(pay_of_header, !(s_pay_tvalid && out_valid && !out_ack) ||
                  (s_pay_tuser.buf_addr == out_hdr.buf_addr &&
                   s_pay_tuser.bytes == out_hdr.pay_bytes))

endmodule

`default_nettype wire
