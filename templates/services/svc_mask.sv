// svc_mask: which services work on the packets of a queue pair.
//
// mask_o is the mask of QP rd_qpn_i one cycle after rd_en_i, held until the next; zero for a QPN
// beyond QpCount, and before ready_o (QpCount cycles after reset). Bit i belongs to entry i of the
// spec's services. s_cfg: a set-up (setup 1) writes the mask, anything else changes nothing; always
// ready. Zero after reset.
//
// QpCount: queue pairs, 1..16384. Services: entries of the spec's services, 1..8.
`default_nettype none

module svc_mask #(
  parameter int QpCount = 16,
  parameter int Services = 1
) (
  input  logic              clk,
  input  logic              rst,
  output logic              ready_o,
  input  logic              s_cfg_tvalid,
  output logic              s_cfg_tready,
  // The mask alone counts here.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::qp_cfg_t s_cfg_tdata,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic              rd_en_i,
  input  logic [23:0]       rd_qpn_i,
  output logic [7:0]        mask_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "svc_mask: QpCount must be in 1..16384");
  end
  if (Services < 1 || Services > 8) begin : gen_check_services
    $fatal(1, "svc_mask: Services must be in 1..8");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;

  logic                known_q;
  logic [Services-1:0] mask;

  ram_clear #(
    .Width(Services),
    .Depth(QpCount),
    .Latency(1)
  ) u_masks (
    .clk(clk),
    .rst(rst),
    .wr_en_i(s_cfg_tvalid && s_cfg_tdata.setup && s_cfg_tdata.qpn < 24'(QpCount)),
    .wr_addr_i(s_cfg_tdata.qpn[QpW-1:0]),
    .wr_data_i(s_cfg_tdata.services[Services-1:0]),
    .rd_en_i(rd_en_i),
    .rd_addr_i(rd_qpn_i[QpW-1:0]),
    .rd_data_o(mask),
    .ready_o(ready_o)
  );

  always_ff @(posedge clk) begin
    if (rd_en_i) known_q <= ready_o && rd_qpn_i < 24'(QpCount);
  end

  assign s_cfg_tready = 1'b1;
  assign mask_o       = known_q ? 8'(mask) : '0;

endmodule

`default_nettype wire
