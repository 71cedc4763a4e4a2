// rx_dispatch: parts received headers into requests and acknowledgements.
//
// ACK and NAK (opcode 0x11) go to m_rsp through a FIFO; one that finds it full is dropped and
// counted, which the protocol repairs, so a slow requester never holds back the receiver.
// Everything else goes straight to m_req and waits for it: every header there may own payload in
// the frame buffer, so the responder has to see it (and drops what is no request). One header a
// cycle; m_req has no latency, m_rsp 2 cycles. An ACK behind a waiting request waits with it.
//
// On m_rsp the fields that an ACK does not have read as zero: buf_addr, pay_bytes, va, rkey,
// dma_len, imm.
//
// RspDepth: ACKs that wait, 2..1024.
// rocegen: comb s_hdr.tready<-s_hdr.t*, s_hdr.tready<-m_req.tready, m_req.tvalid<-s_hdr.t*
`include "rocegen_assert.svh"
`default_nettype none

module rx_dispatch #(
  parameter int RspDepth = 32
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              s_hdr_tvalid,
  output logic              s_hdr_tready,
  input  roce_pkg::rx_hdr_t s_hdr_tdata,
  output logic              m_req_tvalid,
  input  logic              m_req_tready,
  output roce_pkg::rx_hdr_t m_req_tdata,
  output logic              m_rsp_tvalid,
  input  logic              m_rsp_tready,
  output roce_pkg::rx_hdr_t m_rsp_tdata,
  output logic              cnt_rsp_overflow_o
);

  if (RspDepth < 2 || RspDepth > 1024) begin : gen_check_rsp_depth
    $fatal(1, "rx_dispatch: RspDepth must be in 2..1024");
  end

  // What an ACK has, without its opcode.
  typedef struct packed {
    logic [31:0] src_ip;
    logic [31:0] dst_ip;
    logic [1:0]  ecn;
    logic        se;
    logic        mig;
    logic [1:0]  pad;
    logic [15:0] pkey;
    logic        fecn;
    logic        becn;
    logic [23:0] dqpn;
    logic        ackreq;
    logic [23:0] psn;
    logic [7:0]  syndrome;
    logic [23:0] msn;
  } ack_t;
  localparam int AckW = 169;

  logic            is_ack;
  logic            rsp_ready;
  logic [AckW-1:0] rsp_data;
  ack_t            ack_in;
  ack_t            ack_out;

  assign is_ack       = s_hdr_tdata.opcode == roce_pkg::OpAck;
  assign s_hdr_tready = is_ack || m_req_tready;
  assign m_req_tvalid = s_hdr_tvalid && !is_ack;
  assign m_req_tdata  = s_hdr_tdata;

  always_ff @(posedge clk) begin
    if (rst) cnt_rsp_overflow_o <= 1'b0;
    else cnt_rsp_overflow_o <= s_hdr_tvalid && is_ack && !rsp_ready;
  end

  assign ack_in.src_ip   = s_hdr_tdata.src_ip;
  assign ack_in.dst_ip   = s_hdr_tdata.dst_ip;
  assign ack_in.ecn      = s_hdr_tdata.ecn;
  assign ack_in.se       = s_hdr_tdata.se;
  assign ack_in.mig      = s_hdr_tdata.mig;
  assign ack_in.pad      = s_hdr_tdata.pad;
  assign ack_in.pkey     = s_hdr_tdata.pkey;
  assign ack_in.fecn     = s_hdr_tdata.fecn;
  assign ack_in.becn     = s_hdr_tdata.becn;
  assign ack_in.dqpn     = s_hdr_tdata.dqpn;
  assign ack_in.ackreq   = s_hdr_tdata.ackreq;
  assign ack_in.psn      = s_hdr_tdata.psn;
  assign ack_in.syndrome = s_hdr_tdata.syndrome;
  assign ack_in.msn      = s_hdr_tdata.msn;

  logic offer;
  assign offer = s_hdr_tvalid && is_ack && rsp_ready;

  // Full is known one beat ahead: nothing is offered that the FIFO would make wait.
  /* verilator lint_off PINCONNECTEMPTY */
  stream_fifo #(
    .Width(AckW),
    .Depth(RspDepth),
    .Style(0)
  ) u_fifo (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(offer),
    .s_axis_tready(rsp_ready),
    .s_axis_tdata(ack_in),
    .m_axis_tvalid(m_rsp_tvalid),
    .m_axis_tready(m_rsp_tready),
    .m_axis_tdata(rsp_data),
    .level_o()  // nobody asks
  );
  /* verilator lint_on PINCONNECTEMPTY */

  assign ack_out = rsp_data;

  always_comb begin
    m_rsp_tdata          = '0;
    m_rsp_tdata.opcode   = roce_pkg::OpAck;
    m_rsp_tdata.src_ip   = ack_out.src_ip;
    m_rsp_tdata.dst_ip   = ack_out.dst_ip;
    m_rsp_tdata.ecn      = ack_out.ecn;
    m_rsp_tdata.se       = ack_out.se;
    m_rsp_tdata.mig      = ack_out.mig;
    m_rsp_tdata.pad      = ack_out.pad;
    m_rsp_tdata.pkey     = ack_out.pkey;
    m_rsp_tdata.fecn     = ack_out.fecn;
    m_rsp_tdata.becn     = ack_out.becn;
    m_rsp_tdata.dqpn     = ack_out.dqpn;
    m_rsp_tdata.ackreq   = ack_out.ackreq;
    m_rsp_tdata.psn      = ack_out.psn;
    m_rsp_tdata.syndrome = ack_out.syndrome;
    m_rsp_tdata.msn      = ack_out.msn;
  end

  `ROCEGEN_STREAM(hdr_contract, s_hdr_tvalid, s_hdr_tready, s_hdr_tdata)

endmodule

`default_nettype wire
