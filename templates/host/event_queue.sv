// event_queue: events of queue pairs until software reads them; loses rather than waits.
//
// s_evt is always taken (tready 1): an event that finds the queue full is dropped and event_lost_o
// pulses, so that a host that never reads events can't hold up the datapath. Full means that Depth
// events are held, also in a cycle that takes one off. Cause and QPN are kept; the rest of m_evt
// reads as zero. m_evt is a normal stream; an event shows there two cycles after it came (one cycle
// when Depth is 2). cnt_evt_events_o counts kept and lost events.
//
// Depth: events kept, 2..4096.
// rocegen: comb *_o<-s_evt.tvalid
`default_nettype none

module event_queue #(
  parameter int Depth = 64
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              s_evt_tvalid,
  output logic              s_evt_tready,
  input  roce_pkg::qp_evt_t s_evt_tdata,
  output logic              m_evt_tvalid,
  input  logic              m_evt_tready,
  output roce_pkg::qp_evt_t m_evt_tdata,
  output logic              event_lost_o,
  output logic              cnt_evt_events_o,
  output logic              cnt_evt_lost_o
);
  if (Depth < 2 || Depth > 4096) begin : gen_check_depth
    $fatal(1, "event_queue: Depth must be 2..4096");
  end

  logic                          fifo_ready;
  logic [6:0]                    cause;
  logic [23:0]                   qpn;
  logic [$clog2(Depth + 1)-1:0]  level;

  stream_fifo #(
    .Width(31),
    .Depth(Depth),
    .Style(0)
  ) u_fifo (
    .clk,
    .rst,
    .s_axis_tvalid(s_evt_tvalid & fifo_ready),  // never offers what it may not keep offering
    .s_axis_tready(fifo_ready),
    .s_axis_tdata ({s_evt_tdata.cause, s_evt_tdata.qpn}),
    .m_axis_tvalid(m_evt_tvalid),
    .m_axis_tready(m_evt_tready),
    .m_axis_tdata ({cause, qpn}),
    .level_o      (level)
  );

  assign s_evt_tready = 1'b1;
  assign m_evt_tdata = {roce_pkg::LifeW'(0), cause, 1'b0, 24'd0, qpn};
  assign event_lost_o = s_evt_tvalid & ~fifo_ready;
  assign cnt_evt_events_o = s_evt_tvalid;
  assign cnt_evt_lost_o = event_lost_o;

  // How full the queue is concerns nobody here.
  logic unused;
  assign unused = ^{level, s_evt_tdata.life, s_evt_tdata.rsp, s_evt_tdata.psn};

endmodule
`default_nettype wire
