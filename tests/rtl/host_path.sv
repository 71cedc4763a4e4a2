// host_path: everything between the frame buffer and host memory, wired as the generated top does
// it. Payload and operands in, write news out (pay_route, dma_write, done_split); packets to send
// (dma_read); atomics (atomic_unit); both readers share each master (axi_join).
`default_nettype none

module host_path #(
  parameter int DataW = 512,
  parameter int AddrW = 64,
  parameter int BufBeats = 512,
  parameter int Slots = 8,
  parameter int Targets = 1
) (
  input  logic                            clk,
  input  logic                            rst,
  input  logic                            s_pay_tvalid,
  output logic                            s_pay_tready,
  input  logic [DataW-1:0]                s_pay_tdata,
  input  logic [DataW/8-1:0]              s_pay_tkeep,
  input  logic                            s_pay_tlast,
  input  logic [roce_pkg::RxCmdW-1:0]     s_pay_tuser,
  input  logic                            s_cfg_tvalid,
  output logic                            s_cfg_tready,
  input  logic [roce_pkg::QpCfgW-1:0]     s_cfg_tdata,
  input  logic [11:0]                     sent_i,
  input  logic                            s_cmd_tvalid,
  output logic                            s_cmd_tready,
  input  logic [roce_pkg::TxCmdW-1:0]     s_cmd_tdata,
  output logic                            m_pkt_tvalid,
  input  logic                            m_pkt_tready,
  output logic [DataW-1:0]                m_pkt_tdata,
  output logic [DataW/8-1:0]              m_pkt_tkeep,
  output logic                            m_pkt_tlast,
  output logic [roce_pkg::TxPktW:0]       m_pkt_tuser,
  output logic                            m_done_tvalid,
  input  logic                            m_done_tready,
  output logic [roce_pkg::RxCmdW:0]       m_done_tdata,
  output logic                            m_result_tvalid,
  input  logic                            m_result_tready,
  output logic [roce_pkg::AtomicResW-1:0] m_result_tdata,
  output logic                            m_evt_tvalid,
  input  logic                            m_evt_tready,
  output logic [roce_pkg::QpEvtW-1:0]     m_evt_tdata,
  output logic                            wr_done_o,
  output logic                            wr_err_o,
  output logic [23:0]                     wr_qpn_o,
  output logic [23:0]                     wr_psn_o,
  output logic [Targets-1:0]              m_axi_awvalid,
  input  logic [Targets-1:0]              m_axi_awready,
  output logic [Targets-1:0]              m_axi_awid,
  output logic [Targets*AddrW-1:0]        m_axi_awaddr,
  output logic [Targets*8-1:0]            m_axi_awlen,
  output logic [Targets*3-1:0]            m_axi_awsize,
  output logic [Targets*2-1:0]            m_axi_awburst,
  output logic [Targets*4-1:0]            m_axi_awcache,
  output logic [Targets*3-1:0]            m_axi_awprot,
  output logic [Targets-1:0]              m_axi_wvalid,
  input  logic [Targets-1:0]              m_axi_wready,
  output logic [Targets*DataW-1:0]        m_axi_wdata,
  output logic [Targets*DataW/8-1:0]      m_axi_wstrb,
  output logic [Targets-1:0]              m_axi_wlast,
  input  logic [Targets-1:0]              m_axi_bvalid,
  output logic [Targets-1:0]              m_axi_bready,
  input  logic [Targets-1:0]              m_axi_bid,
  input  logic [Targets*2-1:0]            m_axi_bresp,
  output logic [Targets-1:0]              m_axi_arvalid,
  input  logic [Targets-1:0]              m_axi_arready,
  output logic [Targets-1:0]              m_axi_arid,
  output logic [Targets*AddrW-1:0]        m_axi_araddr,
  output logic [Targets*8-1:0]            m_axi_arlen,
  output logic [Targets*3-1:0]            m_axi_arsize,
  output logic [Targets*2-1:0]            m_axi_arburst,
  output logic [Targets*4-1:0]            m_axi_arcache,
  output logic [Targets*3-1:0]            m_axi_arprot,
  input  logic [Targets-1:0]              m_axi_rvalid,
  output logic [Targets-1:0]              m_axi_rready,
  input  logic [Targets-1:0]              m_axi_rid,
  input  logic [Targets*DataW-1:0]        m_axi_rdata,
  input  logic [Targets*2-1:0]            m_axi_rresp,
  input  logic [Targets-1:0]              m_axi_rlast
);

  logic                            pay_valid;
  logic                            pay_ready;
  logic [DataW-1:0]                pay_data;
  logic [DataW/8-1:0]              pay_keep;
  logic                            pay_last;
  logic [roce_pkg::RxCmdW-1:0]     pay_cmd;
  logic                            write_valid;
  logic                            write_ready;
  logic [63:0]                     write_data;
  logic [roce_pkg::RxCmdW-1:0]     write_cmd;
  logic                            atomic_valid;
  logic                            atomic_ready;
  logic [roce_pkg::AtomicReqW-1:0] atomic_req;
  logic                            done_valid;
  logic                            done_ready;
  logic [roce_pkg::RxCmdW:0]       done_record;
  logic [11:0]                     written;
  logic                            atomic_done;
  logic [7:0]                      atomic_slot;
  logic                            atomic_err;
  logic [1:0]                      evt_valid;
  logic [1:0]                      evt_ready;
  logic [2*roce_pkg::QpEvtW-1:0]   evt_record;

  pay_route #(.DataW(DataW)) u_route (
    .clk(clk), .rst(rst),
    .s_pay_tvalid(s_pay_tvalid), .s_pay_tready(s_pay_tready), .s_pay_tdata(s_pay_tdata),
    .s_pay_tkeep(s_pay_tkeep), .s_pay_tlast(s_pay_tlast), .s_pay_tuser(s_pay_tuser),
    .s_write_tvalid(write_valid), .s_write_tready(write_ready), .s_write_tdata(write_data),
    .s_write_tuser(write_cmd),
    .m_pay_tvalid(pay_valid), .m_pay_tready(pay_ready), .m_pay_tdata(pay_data),
    .m_pay_tkeep(pay_keep), .m_pay_tlast(pay_last), .m_pay_tuser(pay_cmd),
    .m_atomic_tvalid(atomic_valid), .m_atomic_tready(atomic_ready), .m_atomic_tdata(atomic_req)
  );

  dma_write #(.DataW(DataW), .AddrW(AddrW), .MaxWrites(128), .Targets(Targets)) u_write (
    .clk(clk), .rst(rst),
    .s_pay_tvalid(pay_valid), .s_pay_tready(pay_ready), .s_pay_tdata(pay_data),
    .s_pay_tkeep(pay_keep), .s_pay_tlast(pay_last), .s_pay_tuser(pay_cmd),
    .m_axi_awvalid(m_axi_awvalid), .m_axi_awready(m_axi_awready), .m_axi_awid(m_axi_awid),
    .m_axi_awaddr(m_axi_awaddr), .m_axi_awlen(m_axi_awlen), .m_axi_awsize(m_axi_awsize),
    .m_axi_awburst(m_axi_awburst), .m_axi_awcache(m_axi_awcache), .m_axi_awprot(m_axi_awprot),
    .m_axi_wvalid(m_axi_wvalid), .m_axi_wready(m_axi_wready), .m_axi_wdata(m_axi_wdata),
    .m_axi_wstrb(m_axi_wstrb), .m_axi_wlast(m_axi_wlast),
    .m_axi_bvalid(m_axi_bvalid), .m_axi_bready(m_axi_bready), .m_axi_bid(m_axi_bid),
    .m_axi_bresp(m_axi_bresp),
    .m_done_tvalid(done_valid), .m_done_tready(done_ready), .m_done_tdata(done_record),
    .m_evt_tvalid(evt_valid[0]), .m_evt_tready(evt_ready[0]),
    .m_evt_tdata(evt_record[0 +: roce_pkg::QpEvtW])
  );

  done_split u_split (
    .clk(clk), .rst(rst),
    .s_done_tvalid(done_valid), .s_done_tready(done_ready), .s_done_tdata(done_record),
    .m_done_tvalid(m_done_tvalid), .m_done_tready(m_done_tready), .m_done_tdata(m_done_tdata),
    .wr_done_o(wr_done_o), .wr_err_o(wr_err_o), .wr_qpn_o(wr_qpn_o), .wr_psn_o(wr_psn_o),
    .written_o(written),
    .atomic_done_o(atomic_done), .atomic_slot_o(atomic_slot), .atomic_err_o(atomic_err)
  );

  logic [Targets-1:0]       unit_arvalid;
  logic [Targets-1:0]       unit_arready;
  logic [Targets*AddrW-1:0] unit_araddr;
  logic [Targets-1:0]       unit_rvalid;
  logic [Targets-1:0]       unit_rready;
  logic [Targets*DataW-1:0] unit_rdata;
  logic [Targets*2-1:0]     unit_rresp;

  atomic_unit #(.DataW(DataW), .AddrW(AddrW), .Slots(Slots), .Targets(Targets)) u_atomic (
    .clk(clk), .rst(rst),
    .s_atomic_tvalid(atomic_valid), .s_atomic_tready(atomic_ready), .s_atomic_tdata(atomic_req),
    .written_i(written), .s_cfg_tvalid(s_cfg_tvalid), .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata), .sent_i(sent_i),
    .m_axi_arvalid(unit_arvalid), .m_axi_arready(unit_arready), .m_axi_araddr(unit_araddr),
    .m_axi_rvalid(unit_rvalid), .m_axi_rready(unit_rready), .m_axi_rdata(unit_rdata),
    .m_axi_rresp(unit_rresp),
    .m_write_tvalid(write_valid), .m_write_tready(write_ready), .m_write_tdata(write_data),
    .m_write_tuser(write_cmd),
    .done_i(atomic_done), .done_slot_i(atomic_slot), .done_err_i(atomic_err),
    .m_result_tvalid(m_result_tvalid), .m_result_tready(m_result_tready),
    .m_result_tdata(m_result_tdata)
  );

  logic [Targets-1:0]       dma_arvalid;
  logic [Targets-1:0]       dma_arready;
  logic [Targets*AddrW-1:0] dma_araddr;
  logic [Targets*8-1:0]     dma_arlen;
  logic [Targets-1:0]       dma_rvalid;
  logic [Targets-1:0]       dma_rready;
  logic [Targets*DataW-1:0] dma_rdata;
  logic [Targets*2-1:0]     dma_rresp;
  logic [Targets-1:0]       dma_rlast;
  logic [Targets*10-1:0]    unused_dma_ar;
  logic [Targets*3-1:0]     unused_dma_prot;

  dma_read #(.DataW(DataW), .AddrW(AddrW), .BufBeats(BufBeats), .Targets(Targets)) u_read (
    .clk(clk), .rst(rst),
    .s_cmd_tvalid(s_cmd_tvalid), .s_cmd_tready(s_cmd_tready), .s_cmd_tdata(s_cmd_tdata),
    .m_axi_arvalid(dma_arvalid), .m_axi_arready(dma_arready),
    .m_axi_arid(unused_dma_ar[0 +: Targets]),
    .m_axi_araddr(dma_araddr), .m_axi_arlen(dma_arlen),
    .m_axi_arsize(unused_dma_ar[Targets +: 3*Targets]),
    .m_axi_arburst(unused_dma_ar[4*Targets +: 2*Targets]),
    .m_axi_arcache(unused_dma_ar[6*Targets +: 4*Targets]), .m_axi_arprot(unused_dma_prot),
    .m_axi_rvalid(dma_rvalid), .m_axi_rready(dma_rready), .m_axi_rid('0),
    .m_axi_rdata(dma_rdata), .m_axi_rresp(dma_rresp), .m_axi_rlast(dma_rlast),
    .m_pkt_tvalid(m_pkt_tvalid), .m_pkt_tready(m_pkt_tready), .m_pkt_tdata(m_pkt_tdata),
    .m_pkt_tkeep(m_pkt_tkeep), .m_pkt_tlast(m_pkt_tlast), .m_pkt_tuser(m_pkt_tuser),
    .m_evt_tvalid(evt_valid[1]), .m_evt_tready(evt_ready[1]),
    .m_evt_tdata(evt_record[roce_pkg::QpEvtW +: roce_pkg::QpEvtW])
  );

  axi_join #(.DataW(DataW), .AddrW(AddrW), .Targets(Targets)) u_join (
    .clk(clk), .rst(rst),
    .s_dma_arvalid(dma_arvalid), .s_dma_arready(dma_arready), .s_dma_araddr(dma_araddr),
    .s_dma_arlen(dma_arlen), .s_dma_rvalid(dma_rvalid), .s_dma_rready(dma_rready),
    .s_dma_rdata(dma_rdata), .s_dma_rresp(dma_rresp), .s_dma_rlast(dma_rlast),
    .s_atomic_arvalid(unit_arvalid), .s_atomic_arready(unit_arready), .s_atomic_araddr(unit_araddr),
    .s_atomic_rvalid(unit_rvalid), .s_atomic_rready(unit_rready), .s_atomic_rdata(unit_rdata),
    .s_atomic_rresp(unit_rresp),
    .m_axi_arvalid(m_axi_arvalid), .m_axi_arready(m_axi_arready), .m_axi_arid(m_axi_arid),
    .m_axi_araddr(m_axi_araddr), .m_axi_arlen(m_axi_arlen), .m_axi_arsize(m_axi_arsize),
    .m_axi_arburst(m_axi_arburst), .m_axi_arcache(m_axi_arcache), .m_axi_arprot(m_axi_arprot),
    .m_axi_rvalid(m_axi_rvalid), .m_axi_rready(m_axi_rready), .m_axi_rid(m_axi_rid),
    .m_axi_rdata(m_axi_rdata), .m_axi_rresp(m_axi_rresp), .m_axi_rlast(m_axi_rlast)
  );

  record_arb #(.N(2), .Width(roce_pkg::QpEvtW)) u_events (
    .clk(clk), .rst(rst),
    .s_axis_tvalid(evt_valid), .s_axis_tready(evt_ready), .s_axis_tdata(evt_record),
    .m_axis_tvalid(m_evt_tvalid), .m_axis_tready(m_evt_tready), .m_axis_tdata(m_evt_tdata)
  );

  logic unused;
  assign unused = ^{unused_dma_ar, unused_dma_prot};

endmodule

`default_nettype wire
