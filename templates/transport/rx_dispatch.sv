// rx_dispatch: parts received headers into requests and answers.
//
// Answers (ACK and NAK, READ responses, atomic acknowledges: opcodes 0x0D to 0x12) go to m_rsp
// through a FIFO. An ACK or NAK (0x11) that finds it full is dropped and counted, which the
// protocol repairs; the others own space in the frame buffer, so they wait. Everything else goes
// straight to m_req and waits for it: the responder has to see it (and drops what is no request).
// m_order tells the order of the headers that own buffer space, one bit each: 0 went to m_req, 1 to
// m_rsp. One header a cycle; latency: m_req none, m_rsp 2 cycles, m_order 1. A header behind one
// that waits waits with it.
//
// On m_rsp the fields that no answer has read as zero: va, rkey, dma_len, imm.
//
// RspDepth: answers that wait, 2..1024. Services: 1, headers carry a life.
// rocegen: comb s_hdr.tready<-s_hdr.t*, s_hdr.tready<-m_req.tready, m_req.tvalid<-s_hdr.t*
`include "rocegen_assert.svh"
`default_nettype none

module rx_dispatch #(
  parameter int RspDepth = 32,
  parameter int Services = 0
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
  output logic              m_order_tvalid,
  input  logic              m_order_tready,
  output logic [0:0]        m_order_tdata,      // 0 request, 1 answer
  output logic              cnt_rsp_overflow_o  // an ACK or NAK was dropped
);

  if (RspDepth < 2 || RspDepth > 1024) begin : gen_check_rsp_depth
    $fatal(1, "rx_dispatch: RspDepth must be in 2..1024");
  end

  // What an answer has.
  typedef struct packed {
    logic [15:0] buf_addr;
    logic [13:0] pay_bytes;
    logic [31:0] src_ip;
    logic [31:0] dst_ip;
    logic [1:0]  ecn;
    logic [7:0]  opcode;
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
    logic [roce_pkg::LifeW-1:0] life;
  } rsp_t;
  localparam int SkipW = Services != 0 ? 0 : roce_pkg::LifeW;
  localparam int RspW = 207 + roce_pkg::LifeW - SkipW;

  logic            is_ack;
  logic            is_rsp;      // owns buffer space
  logic            is_req;
  logic            rsp_ready;
  logic            order_ready;
  logic            rsp_offer;
  logic            order_offer;
  logic [RspW-1:0] rsp_data;
  logic [RspW+SkipW-1:0] rsp_bits;
  rsp_t            rsp_in;
  rsp_t            rsp_out;

  always_comb begin
    is_ack = 1'b0;
    is_rsp = 1'b0;
    case (s_hdr_tdata.opcode)
      roce_pkg::OpAck: is_ack = 1'b1;
      roce_pkg::OpReadRespFirst, roce_pkg::OpReadRespMiddle, roce_pkg::OpReadRespLast,
      roce_pkg::OpReadRespOnly, roce_pkg::OpAtomicAck: is_rsp = 1'b1;
      default: ;
    endcase
  end

  // Both FIFOs tell full from a register: what is offered to them is taken.
  assign is_req       = !is_ack && !is_rsp;
  assign s_hdr_tready = is_ack || (order_ready && (is_rsp ? rsp_ready : m_req_tready));
  assign m_req_tvalid = s_hdr_tvalid && is_req && order_ready;
  assign m_req_tdata  = s_hdr_tdata;
  assign rsp_offer    = s_hdr_tvalid && rsp_ready && (is_ack || (is_rsp && order_ready));
  assign order_offer  = s_hdr_tvalid && s_hdr_tready && !is_ack;

  always_ff @(posedge clk) begin
    if (rst) cnt_rsp_overflow_o <= 1'b0;
    else cnt_rsp_overflow_o <= s_hdr_tvalid && is_ack && !rsp_ready;
  end

  assign rsp_in.buf_addr  = s_hdr_tdata.buf_addr;
  assign rsp_in.pay_bytes = s_hdr_tdata.pay_bytes;
  assign rsp_in.src_ip    = s_hdr_tdata.src_ip;
  assign rsp_in.dst_ip    = s_hdr_tdata.dst_ip;
  assign rsp_in.ecn       = s_hdr_tdata.ecn;
  assign rsp_in.opcode    = s_hdr_tdata.opcode;
  assign rsp_in.se        = s_hdr_tdata.se;
  assign rsp_in.mig       = s_hdr_tdata.mig;
  assign rsp_in.pad       = s_hdr_tdata.pad;
  assign rsp_in.pkey      = s_hdr_tdata.pkey;
  assign rsp_in.fecn      = s_hdr_tdata.fecn;
  assign rsp_in.becn      = s_hdr_tdata.becn;
  assign rsp_in.dqpn      = s_hdr_tdata.dqpn;
  assign rsp_in.ackreq    = s_hdr_tdata.ackreq;
  assign rsp_in.psn       = s_hdr_tdata.psn;
  assign rsp_in.syndrome  = s_hdr_tdata.syndrome;
  assign rsp_in.msn       = s_hdr_tdata.msn;
  assign rsp_in.life      = s_hdr_tdata.life;
  assign rsp_bits         = rsp_in;

  /* verilator lint_off PINCONNECTEMPTY */
  stream_fifo #(
    .Width(RspW),
    .Depth(RspDepth),
    .Style(0)
  ) u_fifo (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(rsp_offer),
    .s_axis_tready(rsp_ready),
    .s_axis_tdata(rsp_bits[RspW+SkipW-1:SkipW]),
    .m_axis_tvalid(m_rsp_tvalid),
    .m_axis_tready(m_rsp_tready),
    .m_axis_tdata(rsp_data),
    .level_o()  // nobody asks
  );
  /* verilator lint_on PINCONNECTEMPTY */

  stream_skid #(
    .Width(1)
  ) u_order (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(order_offer),
    .s_axis_tready(order_ready),
    .s_axis_tdata(is_rsp),
    .m_axis_tvalid(m_order_tvalid),
    .m_axis_tready(m_order_tready),
    .m_axis_tdata(m_order_tdata)
  );

  if (Services != 0) begin : gen_life
    assign rsp_out = rsp_data;
  end else begin : gen_no_life
    logic unused_life;
    assign unused_life = ^rsp_bits[SkipW-1:0];
    assign rsp_out = {rsp_data, SkipW'(0)};
  end

  always_comb begin
    m_rsp_tdata           = '0;
    m_rsp_tdata.buf_addr  = rsp_out.buf_addr;
    m_rsp_tdata.pay_bytes = rsp_out.pay_bytes;
    m_rsp_tdata.src_ip    = rsp_out.src_ip;
    m_rsp_tdata.dst_ip    = rsp_out.dst_ip;
    m_rsp_tdata.ecn       = rsp_out.ecn;
    m_rsp_tdata.opcode    = rsp_out.opcode;
    m_rsp_tdata.se        = rsp_out.se;
    m_rsp_tdata.mig       = rsp_out.mig;
    m_rsp_tdata.pad       = rsp_out.pad;
    m_rsp_tdata.pkey      = rsp_out.pkey;
    m_rsp_tdata.fecn      = rsp_out.fecn;
    m_rsp_tdata.becn      = rsp_out.becn;
    m_rsp_tdata.dqpn      = rsp_out.dqpn;
    m_rsp_tdata.ackreq    = rsp_out.ackreq;
    m_rsp_tdata.psn       = rsp_out.psn;
    m_rsp_tdata.syndrome  = rsp_out.syndrome;
    m_rsp_tdata.msn       = rsp_out.msn;
    m_rsp_tdata.life      = rsp_out.life;
  end

  `ROCEGEN_STREAM(hdr_contract, s_hdr_tvalid, s_hdr_tready, s_hdr_tdata)

endmodule

`default_nettype wire
