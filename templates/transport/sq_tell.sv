// sq_tell: carries sq_ack's decisions to the others: kicks, errors, events.
//
// A kick (to the requester's or the retirer's work list) waits in a queue of its own; room_o tells
// sq_ack in time to start nothing that might kick. list_i puts a QP with a fresh error into a list,
// which holds every QP once; sq_ack takes it from there (next_*), looks whether there is still
// something to tell, and answers tell_i: then m_err and m_event offer it (EvtSqDrained, which is no
// error, only m_event; EvtNone, which is no event, only m_err). So errors never wait in sq_ack for
// those two. m_err_tvalid and m_event_tvalid must be low when tell_i comes.
//
// QpW: bits of a QPN, 1..14.
`include "rocegen_assert.svh"
`default_nettype none

module sq_tell #(
  parameter int QpW = 4
) (
  input  logic              clk,
  input  logic              rst,
  output logic              room_o,
  input  logic [QpW-1:0]    qpn_i,
  input  logic              kick_requester_i,
  input  logic              kick_retire_i,
  input  logic              list_i,
  input  logic              tell_i,
  input  logic [6:0]        cause_i,
  input  logic              rsp_i,
  input  logic [23:0]       psn_i,
  input  logic [roce_pkg::LifeW-1:0] life_i,
  output logic              m_next_tvalid,
  input  logic              m_next_tready,
  output logic [QpW-1:0]    m_next_tdata,
  output logic              m_kick_req_tvalid,
  input  logic              m_kick_req_tready,
  output logic [QpW-1:0]    m_kick_req_tdata,
  output logic              m_kick_ret_tvalid,
  input  logic              m_kick_ret_tready,
  output logic [QpW-1:0]    m_kick_ret_tdata,
  output logic              m_err_tvalid,
  input  logic              m_err_tready,
  output roce_pkg::qp_evt_t m_err_tdata,
  output logic              m_event_tvalid,
  input  logic              m_event_tready,
  output roce_pkg::qp_evt_t m_event_tdata
);

  localparam int Rows = 1 << QpW;
  localparam int KickDepth = 8;
  localparam int KickLevelW = $clog2(KickDepth + 1);
  localparam int ListLevelW = $clog2(Rows + 1);

  always_ff @(posedge clk) begin
    if (rst) begin
      m_err_tvalid   <= 1'b0;
      m_event_tvalid <= 1'b0;
    end else begin
      if (tell_i) m_err_tvalid <= cause_i != roce_pkg::EvtSqDrained;
      else if (m_err_tready) m_err_tvalid <= 1'b0;
      if (tell_i) m_event_tvalid <= cause_i != roce_pkg::EvtNone;
      else if (m_event_tready) m_event_tvalid <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (tell_i) begin
      m_event_tdata.cause <= cause_i;
      m_event_tdata.rsp   <= rsp_i;
      m_event_tdata.psn   <= psn_i;
      m_event_tdata.life  <= life_i;
      m_event_tdata.qpn   <= 24'(qpn_i);
    end
  end

  // Neither is offered anew before both are taken: one register holds it for both.
  assign m_err_tdata = m_event_tdata;

  // ---- queues -----------------------------------------------------------------------------------
  logic           kick_requester_q;
  logic           kick_retire_q;
  logic           list_q;
  logic [QpW-1:0] qpn_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      kick_requester_q <= 1'b0;
      kick_retire_q    <= 1'b0;
      list_q           <= 1'b0;
    end else begin
      kick_requester_q <= kick_requester_i;
      kick_retire_q    <= kick_retire_i;
      list_q           <= list_i;
    end
  end

  always_ff @(posedge clk) begin
    qpn_q <= qpn_i;
  end

  logic                  room_q;
  logic                  list_ready;
  logic                  req_ready;
  logic                  ret_ready;
  logic [ListLevelW-1:0] unused_level;
  logic [KickLevelW-1:0] req_level;
  logic [KickLevelW-1:0] ret_level;

  stream_fifo #(
    .Width(QpW),
    .Depth(Rows)
  ) u_list (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(list_q),
    .s_axis_tready(list_ready),
    .s_axis_tdata(qpn_q),
    .m_axis_tvalid(m_next_tvalid),
    .m_axis_tready(m_next_tready),
    .m_axis_tdata(m_next_tdata),
    .level_o(unused_level)
  );

  stream_fifo #(
    .Width(QpW),
    .Depth(KickDepth)
  ) u_kick_req (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(kick_requester_q),
    .s_axis_tready(req_ready),
    .s_axis_tdata(qpn_q),
    .m_axis_tvalid(m_kick_req_tvalid),
    .m_axis_tready(m_kick_req_tready),
    .m_axis_tdata(m_kick_req_tdata),
    .level_o(req_level)
  );

  stream_fifo #(
    .Width(QpW),
    .Depth(KickDepth)
  ) u_kick_ret (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(kick_retire_q),
    .s_axis_tready(ret_ready),
    .s_axis_tdata(qpn_q),
    .m_axis_tvalid(m_kick_ret_tvalid),
    .m_axis_tready(m_kick_ret_tready),
    .m_axis_tdata(m_kick_ret_tdata),
    .level_o(ret_level)
  );

  // At most three are between here and what level_o counts.
  always_ff @(posedge clk) begin
    if (rst) room_q <= 1'b0;
    else begin
      room_q <= req_level <= KickLevelW'(KickDepth - 4) &&
          ret_level <= KickLevelW'(KickDepth - 4);
    end
  end

  assign room_o = room_q;

  logic unused;
  assign unused = ^{list_ready, req_ready, ret_ready, unused_level};

  `ROCEGEN_ASSERT(kicks_never_lost,
      (!kick_requester_q || req_ready) && (!kick_retire_q || ret_ready))
  `ROCEGEN_ASSERT(list_never_full, !list_q || list_ready)
  `ROCEGEN_ASSERT(told_one_by_one, !tell_i || (!m_err_tvalid && !m_event_tvalid))

endmodule

`default_nettype wire
