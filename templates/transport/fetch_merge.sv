// fetch_merge: puts the commands of responder and requester for received payload back into the
// order of the headers.
//
// Handshake: s_order brings one bit for each header that owns frame-buffer space, in their order:
// 0, its command comes on s_req; 1, on s_rsp. Each bit lets one command through to m_fetch; a
// command waits for its bit, and the other stream waits with it. Latency 1 cycle (LowLatency: none,
// m_fetch follows its inputs combinationally), a command a cycle. Full: s_order_tready falls after
// Depth bits without their command.
//
// Depth: headers on their way from rx_dispatch to their command, 2..1024. LowLatency: 1, see above.
// rocegen: comb m_fetch.tvalid<-s_req.tvalid, m_fetch.tvalid<-s_rsp.tvalid
// rocegen: comb s_req.tready<-m_fetch.tready, s_rsp.tready<-m_fetch.tready
`include "rocegen_assert.svh"
`default_nettype none

module fetch_merge #(
  parameter int Depth = 64,
  parameter int LowLatency = 0
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              s_order_tvalid,
  output logic              s_order_tready,
  input  logic [0:0]        s_order_tdata,
  input  logic              s_req_tvalid,
  output logic              s_req_tready,
  input  roce_pkg::rx_cmd_t s_req_tdata,
  input  logic              s_rsp_tvalid,
  output logic              s_rsp_tready,
  input  roce_pkg::rx_cmd_t s_rsp_tdata,
  output logic              m_fetch_tvalid,
  input  logic              m_fetch_tready,
  output roce_pkg::rx_cmd_t m_fetch_tdata
);

  if (Depth < 2 || Depth > 1024) begin : gen_check_depth
    $fatal(1, "fetch_merge: Depth must be in 2..1024");
  end

  localparam int CmdW = roce_pkg::RxCmdW;

  logic            order_valid;
  logic            order;
  logic            take;
  logic            cmd_valid;
  logic            cmd_ready;
  logic [CmdW-1:0] cmd;
  logic [CmdW-1:0] out;

  /* verilator lint_off PINCONNECTEMPTY */
  stream_fifo #(
    .Width(1),
    .Depth(Depth),
    .Style(3)
  ) u_order (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(s_order_tvalid),
    .s_axis_tready(s_order_tready),
    .s_axis_tdata(s_order_tdata),
    .m_axis_tvalid(order_valid),
    .m_axis_tready(take),
    .m_axis_tdata(order),
    .level_o()  // nobody asks
  );
  /* verilator lint_on PINCONNECTEMPTY */

  assign cmd_valid    = order_valid && (order ? s_rsp_tvalid : s_req_tvalid);
  assign take         = cmd_valid && cmd_ready;
  assign s_req_tready = order_valid && !order && cmd_ready;
  assign s_rsp_tready = order_valid && order && cmd_ready;
  assign cmd          = order ? s_rsp_tdata : s_req_tdata;

  if (LowLatency != 0) begin : gen_direct
    assign m_fetch_tvalid = cmd_valid;
    assign cmd_ready      = m_fetch_tready;
    assign out            = cmd;
  end else begin : gen_out
    stream_skid #(
      .Width(CmdW)
    ) u_out (
      .clk(clk),
      .rst(rst),
      .s_axis_tvalid(cmd_valid),
      .s_axis_tready(cmd_ready),
      .s_axis_tdata(cmd),
      .m_axis_tvalid(m_fetch_tvalid),
      .m_axis_tready(m_fetch_tready),
      .m_axis_tdata(out)
    );
  end

  assign m_fetch_tdata = out;

  `ROCEGEN_STREAM(req_contract, s_req_tvalid, s_req_tready, s_req_tdata)
  `ROCEGEN_STREAM(rsp_contract, s_rsp_tvalid, s_rsp_tready, s_rsp_tdata)
  `ROCEGEN_STREAM(fetch_contract, m_fetch_tvalid, m_fetch_tready, m_fetch_tdata)

endmodule

`default_nettype wire
