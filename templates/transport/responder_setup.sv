// responder_setup: what a set-up fixes for the responder of each QP, and whether the QP receives.
//
// cfg_valid_i writes at once: setup 1 every field, setup 0 only the state. rd_valid_i reads:
// fixed_o and receives_o belong to the rd_qpn_i of two cycles before and stay until the next read
// arrives; a read in the cycle of a write shows what was before. Whether fixed_o was ever written
// is the caller's to know. receives_o is zero until the first set-up. Nothing is written before
// ready_o.
//
// fixed_o.row numbers the QP's receive ring: its own QPN, or QpCount + srqn; max_rd is at most
// RdDepth.
//
// QpCount: queue pairs, 1..16384. SrqCount: shared receive rings, 0..4096. RdDepth: 1..128.
`default_nettype none

module responder_setup #(
  parameter int QpCount = 16,
  parameter int SrqCount = 0,
  parameter int RdDepth = 16
) (
  input  logic                 clk,
  input  logic                 rst,
  output logic                 ready_o,
  input  logic                 cfg_valid_i,
  // A set-up has fields of the send side.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::qp_cfg_t    cfg_i,
  input  logic [roce_pkg::LifeW-1:0] cfg_life_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                 rd_valid_i,
  input  logic [23:0]          rd_qpn_i,
  output logic                 receives_o,
  output roce_pkg::rsp_fixed_t fixed_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "responder_setup: QpCount must be in 1..16384");
  end
  if (SrqCount < 0 || SrqCount > 4096) begin : gen_check_srq_count
    $fatal(1, "responder_setup: SrqCount must be in 0..4096");
  end
  if (RdDepth < 1 || RdDepth > 128) begin : gen_check_rd_depth
    $fatal(1, "responder_setup: RdDepth must be in 1..128");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;

  roce_pkg::rsp_fixed_t             cfg_fixed;
  logic [roce_pkg::RspFixedW-1:0]   fixed_data;
  logic                             cfg_known;
  logic                             cfg_receives;
  logic                             srq_known;
  logic                             unused_qpn;

  assign cfg_known = cfg_i.qpn < 24'(QpCount);
  assign cfg_receives = cfg_i.state == roce_pkg::QpRtr || cfg_i.state == roce_pkg::QpRts ||
      cfg_i.state == roce_pkg::QpSqd;

  if (SrqCount > 0) begin : gen_srq
    assign srq_known     = {1'b0, cfg_i.srqn} < 17'(SrqCount);
    assign cfg_fixed.row = cfg_i.srq ? cfg_i.srqn[14:0] + 15'(QpCount) : cfg_i.qpn[14:0];
  end else begin : gen_no_srq
    assign srq_known     = 1'b0;
    assign cfg_fixed.row = cfg_i.qpn[14:0];
  end

  assign cfg_fixed.life      = cfg_life_i;
  assign cfg_fixed.write_ok  = cfg_i.access[roce_pkg::AccWrite];
  assign cfg_fixed.read_ok   = cfg_i.access[roce_pkg::AccRead];
  assign cfg_fixed.atomic_ok = cfg_i.access[roce_pkg::AccAtomic];
  assign cfg_fixed.ring_on   = cfg_i.rq_on && (!cfg_i.srq || srq_known);
  assign cfg_fixed.ring_own  = !cfg_i.srq;
  assign cfg_fixed.pmtu      = cfg_i.pmtu;
  assign cfg_fixed.rnr_timer = cfg_i.min_rnr_timer;
  assign cfg_fixed.max_rd    = cfg_i.max_dest_rd > 8'(RdDepth) ? 8'(RdDepth) : cfg_i.max_dest_rd;
  assign cfg_fixed.pd        = cfg_i.pd;
  assign cfg_fixed.pkey      = cfg_i.pkey;
  assign cfg_fixed.dip       = cfg_i.dip;

  ram_clear #(
    .Width(1),
    .Depth(QpCount),
    .Latency(2)
  ) u_receives (
    .clk(clk),
    .rst(rst),
    .wr_en_i(cfg_valid_i && cfg_known),
    .wr_addr_i(cfg_i.qpn[QpW-1:0]),
    .wr_data_i(cfg_receives),
    .rd_en_i(rd_valid_i),
    .rd_addr_i(rd_qpn_i[QpW-1:0]),
    .rd_data_o(receives_o),
    .ready_o(ready_o)
  );

  ram_sdp #(
    .Width(roce_pkg::RspFixedW),
    .Depth(QpCount),
    .Latency(2),
    .Style(0)
  ) u_fixed (
    .clk(clk),
    .wr_en_i(cfg_valid_i && cfg_known && cfg_i.setup),
    .wr_addr_i(cfg_i.qpn[QpW-1:0]),
    .wr_data_i(cfg_fixed),
    .rd_en_i(rd_valid_i),
    .rd_addr_i(rd_qpn_i[QpW-1:0]),
    .rd_data_o(fixed_data)
  );

  assign fixed_o    = fixed_data;
  assign unused_qpn = ^rd_qpn_i[23:QpW];

endmodule

`default_nettype wire
