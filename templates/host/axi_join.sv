// axi_join: lets dma_read and atomic_unit share the read channels of AXI4 masters.
//
// Bursts of s_dma carry ID 0, the single beats of s_atomic ID 1; each side keeps its own order.
// Addresses go in turn when both wait. Every port (bit, or lane, t of each vector) is joined by
// itself.
// Handshake: AR latency 1 cycle, m_axi_ar* from registers, s_*_arready depends on both arvalids and
// m_axi_arready; R is routed by m_axi_rid without a register. One AR and one R beat a cycle. Holds
// no data and needs no count of what is outstanding: any number.
//
// DataW: bits, 64..1024, a power of two. AddrW: bits, 20..64. Targets: AXI4 ports, 1..8.
`include "rocegen_assert.svh"
`default_nettype none

module axi_join #(
  parameter int DataW = 512,
  parameter int AddrW = 64,
  parameter int Targets = 1
) (
  input  logic                     clk,
  input  logic                     rst,
  input  logic [Targets-1:0]       s_dma_arvalid,
  output logic [Targets-1:0]       s_dma_arready,
  input  logic [Targets*AddrW-1:0] s_dma_araddr,
  input  logic [Targets*8-1:0]     s_dma_arlen,
  output logic [Targets-1:0]       s_dma_rvalid,
  input  logic [Targets-1:0]       s_dma_rready,
  output logic [Targets*DataW-1:0] s_dma_rdata,
  output logic [Targets*2-1:0]     s_dma_rresp,
  output logic [Targets-1:0]       s_dma_rlast,
  input  logic [Targets-1:0]       s_atomic_arvalid,
  output logic [Targets-1:0]       s_atomic_arready,
  input  logic [Targets*AddrW-1:0] s_atomic_araddr,
  output logic [Targets-1:0]       s_atomic_rvalid,
  input  logic [Targets-1:0]       s_atomic_rready,
  output logic [Targets*DataW-1:0] s_atomic_rdata,
  output logic [Targets*2-1:0]     s_atomic_rresp,
  output logic [Targets-1:0]       m_axi_arvalid,
  input  logic [Targets-1:0]       m_axi_arready,
  output logic [Targets-1:0]       m_axi_arid,
  output logic [Targets*AddrW-1:0] m_axi_araddr,
  output logic [Targets*8-1:0]     m_axi_arlen,
  output logic [Targets*3-1:0]     m_axi_arsize,
  output logic [Targets*2-1:0]     m_axi_arburst,
  output logic [Targets*4-1:0]     m_axi_arcache,
  output logic [Targets*3-1:0]     m_axi_arprot,
  input  logic [Targets-1:0]       m_axi_rvalid,
  output logic [Targets-1:0]       m_axi_rready,
  input  logic [Targets-1:0]       m_axi_rid,
  input  logic [Targets*DataW-1:0] m_axi_rdata,
  input  logic [Targets*2-1:0]     m_axi_rresp,
  input  logic [Targets-1:0]       m_axi_rlast
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "axi_join: DataW must be a power of two, 64..1024");
  end
  if (AddrW < 20 || AddrW > 64) begin : gen_check_addr
    $fatal(1, "axi_join: AddrW must be 20..64");
  end
  if (Targets < 1 || Targets > 8) begin : gen_check_targets
    $fatal(1, "axi_join: Targets must be 1..8");
  end

  localparam int ArW = 1 + AddrW + 8;

  for (genvar t = 0; t < Targets; t++) begin : gen_port
    record_arb #(
      .N(2),
      .Width(ArW),
      .Priority(0)
    ) u_ar (
      .clk(clk),
      .rst(rst),
      .s_axis_tvalid({s_atomic_arvalid[t], s_dma_arvalid[t]}),
      .s_axis_tready({s_atomic_arready[t], s_dma_arready[t]}),
      .s_axis_tdata({1'b1, s_atomic_araddr[t*AddrW +: AddrW], 8'd0,
                     1'b0, s_dma_araddr[t*AddrW +: AddrW], s_dma_arlen[t*8 +: 8]}),
      .m_axis_tvalid(m_axi_arvalid[t]),
      .m_axis_tready(m_axi_arready[t]),
      .m_axis_tdata({m_axi_arid[t], m_axi_araddr[t*AddrW +: AddrW], m_axi_arlen[t*8 +: 8]})
    );
    `ROCEGEN_ASSERT(atomic_is_single, !(m_axi_rvalid[t] && m_axi_rid[t]) || m_axi_rlast[t])
  end

  assign m_axi_arsize = {Targets{3'($clog2(DataW / 8))}};
  assign m_axi_arburst = {Targets{2'b01}};  // INCR
  assign m_axi_arcache = {Targets{4'b0011}};  // normal, bufferable
  assign m_axi_arprot = '0;

  assign s_dma_rvalid = m_axi_rvalid & ~m_axi_rid;
  assign s_dma_rdata = m_axi_rdata;
  assign s_dma_rresp = m_axi_rresp;
  assign s_dma_rlast = m_axi_rlast;
  assign s_atomic_rvalid = m_axi_rvalid & m_axi_rid;
  assign s_atomic_rdata = m_axi_rdata;
  assign s_atomic_rresp = m_axi_rresp;
  assign m_axi_rready = (m_axi_rid & s_atomic_rready) | (~m_axi_rid & s_dma_rready);

endmodule

`default_nettype wire
