// sq_setup: takes set-ups and state changes of queue pairs through sq_ack, one at a time.
//
// A record on s_cfg waits until go_o has been answered by take_i (sq_ack changes the QP then, with
// state_o) and WorkCycles more, so that every table holds the new values, before it is taken. A
// set-up and a change to RESET also raise hold_o, from the start to the end, and wait until quiet_i
// says that nothing of any QP is on its way. A change to SQD raises it too, but waits for idle_i
// only, no turn of any QP: so none of before sends afterwards. A set-up whose ring does not fit
// into the request memory, or with an unknown state, gets state_o = RESET. Records with QPN >=
// QpCount are taken and ignored; nothing is taken before ready_i.
//
// QpCount: 1..16384. WqeSlots: slots in the request memory, 2..2^20.
`default_nettype none

module sq_setup #(
  parameter int QpCount = 16,
  parameter int WqeSlots = 256
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              ready_i,
  input  logic              quiet_i,
  input  logic              idle_i,
  input  logic              s_cfg_tvalid,
  output logic              s_cfg_tready,
  input  roce_pkg::qp_cfg_t s_cfg_tdata,
  output logic              hold_o,
  output logic              go_o,
  input  logic              take_i,
  output logic [2:0]        state_o
);

  localparam int WorkCycles = 12;

  typedef enum logic [1:0] {
    CfgIdle,
    CfgWait,
    CfgWork,
    CfgDone
  } cfg_t;

  cfg_t        cfg_q;
  cfg_t        cfg_d;
  logic        anew_q;
  logic        drain_q;
  logic        fits_q;
  logic [3:0]  count_q;
  logic [31:0] ring_end_q;

  always_comb begin
    cfg_d = cfg_q;
    case (cfg_q)
      CfgIdle: begin
        if (s_cfg_tvalid && ready_i) cfg_d = s_cfg_tdata.qpn < 24'(QpCount) ? CfgWait : CfgDone;
      end
      CfgWait: if (take_i) cfg_d = CfgWork;
      CfgWork: if (count_q == 4'(WorkCycles - 1)) cfg_d = CfgDone;
      default: cfg_d = CfgIdle;
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) cfg_q <= CfgIdle;
    else cfg_q <= cfg_d;
  end

  // The record is held while it is offered: these follow it before state_o counts (take_i comes in
  // CfgWait at the earliest, sq_ack uses state_o four cycles later).
  always_ff @(posedge clk) begin
    anew_q  <= s_cfg_tdata.setup || s_cfg_tdata.state == roce_pkg::QpReset;
    drain_q <= s_cfg_tdata.state == roce_pkg::QpSqd;
    count_q <= cfg_q == CfgWork ? count_q + 1'b1 : '0;
    fits_q  <= s_cfg_tdata.sq_log2 <= 5'd20 && ring_end_q <= 32'(WqeSlots);
    ring_end_q <= 32'(s_cfg_tdata.sq_base) + (32'd1 << s_cfg_tdata.sq_log2);
  end

  always_comb begin
    state_o = s_cfg_tdata.state;
    if (s_cfg_tdata.state > roce_pkg::QpErr || (s_cfg_tdata.setup && !fits_q)) begin
      state_o = roce_pkg::QpReset;
    end
  end

  assign s_cfg_tready = cfg_q == CfgDone;
  assign hold_o       = (cfg_q == CfgWait || cfg_q == CfgWork) && (anew_q || drain_q);
  assign go_o         = cfg_q == CfgWait && (anew_q ? quiet_i : idle_i || !drain_q);

  logic unused;
  assign unused = ^s_cfg_tdata;

endmodule

`default_nettype wire
