// qp_timer: the timers of every queue pair: local ACK timer, RNR wait, and the watch for SQD.
//
// Walks over all QPs without end, one a cycle, and compares what it sees with what it saw the last
// time. What it finds goes out on m_time (QPN, oldest unacknowledged PSN, generation, kind):
// - kind 0: packets are outstanding and the oldest unacknowledged PSN did not move for T = 4.096 us
//   * 2^timeout; once, then the timer starts anew. It starts when packets are outstanding, starts
//   anew when an acknowledgement made progress or when a rewind has been carried out, and stands
//   still while a rewind waits for the requester or the QP for the end of an RNR wait. timeout 0:
//   never. Stale acknowledgements move nothing and so do not matter.
// - kind 1: the QP has waited for the time that an RNR NAK told (told.rnr). Never too early.
// - kind 2: told.drain is set, the QP is in SQD, everything sent is acknowledged and retired
//   (retired_*_i: the PSN behind the last request that was retired). In every walk, until
//   told.drain falls.
//
// Detection: between T and T + TickCycles/4 + 1 cycles + two walks; an RNR wait, counted in
// quarters of 4.096 us, the same and up to a quarter more. A walk takes max(QpCount, 8) cycles and
// one more for each timeout that m_time holds back: at 250 MHz 2.05 us for 512 QPs, 65.5 us for
// 16384 (so codes of 5 and more then stay within 2 T; code 1, 8.2 us, is found within 150 us).
// tx_stalled_i freezes time: a paused link loses no packets.
//
// hold_i: the walk pauses; idle_o: nothing is on its way. set_valid_i (only while idle_o): the QP's
// code is taken, its timer stopped. ready_o: tables cleared, 2^QpW cycles after reset.
//
// QpCount: 1..16384, QpW: bits of a QPN below it. TickCycles: clock cycles in 4.096 us, 4..16384.
`include "rocegen_assert.svh"
`default_nettype none

module qp_timer #(
  parameter int QpCount = 16,
  parameter int QpW = 4,
  parameter int TickCycles = 1024
) (
  input  logic                 clk,
  input  logic                 rst,
  output logic                 ready_o,
  input  logic                 tx_stalled_i,
  input  logic                 hold_i,
  output logic                 idle_o,
  input  logic                 set_valid_i,
  input  logic [QpW-1:0]       set_qpn_i,
  input  logic [4:0]           set_timeout_i,
  input  logic                 state_we_i,
  input  logic [QpW-1:0]       state_qpn_i,
  input  roce_pkg::sq_state_t  state_i,
  input  logic                 cursor_we_i,
  input  logic [QpW-1:0]       cursor_qpn_i,
  input  roce_pkg::sq_cursor_t cursor_i,
  input  logic                 retired_we_i,
  input  logic [QpW-1:0]       retired_qpn_i,
  input  logic [23:0]          retired_psn_i,
  output logic                 m_time_tvalid,
  input  logic                 m_time_tready,
  output logic [QpW-1:0]       m_time_qpn,
  output logic [23:0]          m_time_una,
  output logic [3:0]           m_time_gen,
  output logic [1:0]           m_time_kind
);

  if (TickCycles < 4 || TickCycles > 16384) begin : gen_check_tick
    $fatal(1, "qp_timer: TickCycles must be in 4..16384");
  end

  localparam int Rows = 1 << QpW;
  localparam int QuarterCycles = (TickCycles + 3) / 4;
  localparam int QuarterW = $clog2(QuarterCycles + 1);
  // Time in quarters of a tick; T is 2^(timeout+2) of them, 2^33 at most. Two more bits than that
  // make the sign of a difference exact, as no timer is looked at later than a walk after its end.
  localparam int TimeW = 36;
  // A QP may come again only when its row has been written.
  localparam int WalkRows = QpCount > 8 ? QpCount : 8;
  localparam int WalkW = $clog2(WalkRows);

  // ---- time -------------------------------------------------------------------------------------
  logic [QuarterW-1:0] quarter_q;
  logic [TimeW-1:0]    now_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      quarter_q <= '0;
      now_q     <= '0;
    end else if (!tx_stalled_i) begin
      if (quarter_q == QuarterW'(QuarterCycles - 1)) begin
        quarter_q <= '0;
        now_q     <= now_q + 1'b1;
      end else begin
        quarter_q <= quarter_q + 1'b1;
      end
    end
  end

  // ---- walk -------------------------------------------------------------------------------------
  logic             step;  // the pipeline moves
  logic             walk;
  logic [WalkW-1:0] row_q;
  logic [QpW-1:0]   row_qpn;

  assign walk = ready_o && !hold_i;

  always_ff @(posedge clk) begin
    if (rst) row_q <= '0;
    else if (step && walk) row_q <= row_q == WalkW'(WalkRows - 1) ? '0 : row_q + 1'b1;
  end

  assign row_qpn = row_q[QpW-1:0];

  typedef struct packed {
    logic             armed;
    logic             rnr;  // for an RNR wait
    logic [23:0]      una;
    logic [3:0]       gen;
    logic [TimeW-1:0] deadline;
  } timer_t;

  logic           read_valid_q;
  logic [QpW-1:0] read_qpn_q;
  logic [37:0]    state_read;
  logic [27:0]    cursor_read;
  logic [4:0]     code_read;
  logic [23:0]    retired_read;
  timer_t         timer_read;
  timer_t         timer_d;
  logic           write;
  logic [QpW-1:0] write_qpn;

  ram_clear #(
    .Width(38),
    .Depth(Rows)
  ) u_state (
    .clk(clk),
    .rst(rst),
    .wr_en_i(state_we_i),
    .wr_addr_i(state_qpn_i),
    .wr_data_i({state_i.state, state_i.una, state_i.gen, state_i.rnr, state_i.rnr_code,
        state_i.drain}),
    .rd_en_i(step),
    .rd_addr_i(row_qpn),
    .rd_data_o(state_read),
    .ready_o(ready_o)
  );

  ram_sdp #(
    .Width(28),
    .Depth(Rows)
  ) u_cursor (
    .clk(clk),
    .wr_en_i(cursor_we_i),
    .wr_addr_i(cursor_qpn_i),
    .wr_data_i({cursor_i.nxt, cursor_i.gen}),
    .rd_en_i(step),
    .rd_addr_i(row_qpn),
    .rd_data_o(cursor_read)
  );

  ram_sdp #(
    .Width(5),
    .Depth(Rows)
  ) u_code (
    .clk(clk),
    .wr_en_i(set_valid_i),
    .wr_addr_i(set_qpn_i),
    .wr_data_i(set_timeout_i),
    .rd_en_i(step),
    .rd_addr_i(row_qpn),
    .rd_data_o(code_read)
  );

  ram_sdp #(
    .Width(24),
    .Depth(Rows)
  ) u_retired (
    .clk(clk),
    .wr_en_i(retired_we_i),
    .wr_addr_i(retired_qpn_i),
    .wr_data_i(retired_psn_i),
    .rd_en_i(step),
    .rd_addr_i(row_qpn),
    .rd_data_o(retired_read)
  );

  ram_sdp #(
    .Width(30 + TimeW),
    .Depth(Rows)
  ) u_timer (
    .clk(clk),
    .wr_en_i(set_valid_i || (write && step)),
    .wr_addr_i(set_valid_i ? set_qpn_i : write_qpn),
    .wr_data_i(set_valid_i ? '0 : timer_d),
    .rd_en_i(step),
    .rd_addr_i(row_qpn),
    .rd_data_o(timer_read)
  );

  // ---- compare ----------------------------------------------------------------------------------
  logic             got_valid_q;
  logic [QpW-1:0]   got_qpn_q;
  logic [2:0]       got_state_q;
  logic [23:0]      got_una_q;
  logic [3:0]       got_gen_q;
  logic             got_rnr_q;
  logic [4:0]       got_rnr_code_q;
  logic             got_drain_q;
  logic [23:0]      got_retired_q;
  logic [23:0]      got_nxt_q;
  logic [3:0]       got_done_q;
  logic [4:0]       got_code_q;
  timer_t           got_timer_q;
  logic             dec_valid_q;
  logic [QpW-1:0]   dec_qpn_q;
  logic [23:0]      dec_una_q;
  logic [3:0]       dec_gen_q;
  logic             dec_rnr_q;
  logic             dec_drained_q;
  logic             dec_running_q;  // the timer counts
  logic             dec_same_q;  // as the last time
  logic             dec_over_q;
  logic [TimeW-1:0] dec_old_q;
  logic [TimeW-3:0] dec_length_q;
  logic [TimeW-1:0] left;
  logic             live;
  logic             settled;  // no rewind waits for the requester
  logic             all_acked;
  logic [19:0]      rnr_quarters;

  assign left      = now_q - got_timer_q.deadline;
  assign live      = got_state_q == roce_pkg::QpRts || got_state_q == roce_pkg::QpSqd;
  assign settled   = got_gen_q == got_done_q;
  assign all_acked = got_una_q == got_nxt_q;

  // RNR timer codes (IBTA table 45) in quarters of 4.096 us, rounded up: 10 us are 9.765625.
  always_comb begin
    case (got_rnr_code_q)
      5'd0: rnr_quarters = 20'd640000;  // 655.36 ms
      5'd1: rnr_quarters = 20'd10;  // 0.01 ms
      5'd2: rnr_quarters = 20'd20;  // 0.02 ms
      5'd3: rnr_quarters = 20'd30;  // 0.03 ms
      5'd4: rnr_quarters = 20'd40;  // 0.04 ms
      5'd5: rnr_quarters = 20'd59;  // 0.06 ms
      5'd6: rnr_quarters = 20'd79;  // 0.08 ms
      5'd7: rnr_quarters = 20'd118;  // 0.12 ms
      5'd8: rnr_quarters = 20'd157;  // 0.16 ms
      5'd9: rnr_quarters = 20'd235;  // 0.24 ms
      5'd10: rnr_quarters = 20'd313;  // 0.32 ms
      5'd11: rnr_quarters = 20'd469;  // 0.48 ms
      5'd12: rnr_quarters = 20'd625;  // 0.64 ms
      5'd13: rnr_quarters = 20'd938;  // 0.96 ms
      5'd14: rnr_quarters = 20'd1250;  // 1.28 ms
      5'd15: rnr_quarters = 20'd1875;  // 1.92 ms
      5'd16: rnr_quarters = 20'd2500;  // 2.56 ms
      5'd17: rnr_quarters = 20'd3750;  // 3.84 ms
      5'd18: rnr_quarters = 20'd5000;  // 5.12 ms
      5'd19: rnr_quarters = 20'd7500;  // 7.68 ms
      5'd20: rnr_quarters = 20'd10000;  // 10.24 ms
      5'd21: rnr_quarters = 20'd15000;  // 15.36 ms
      5'd22: rnr_quarters = 20'd20000;  // 20.48 ms
      5'd23: rnr_quarters = 20'd30000;  // 30.72 ms
      5'd24: rnr_quarters = 20'd40000;  // 40.96 ms
      5'd25: rnr_quarters = 20'd60000;  // 61.44 ms
      5'd26: rnr_quarters = 20'd80000;  // 81.92 ms
      5'd27: rnr_quarters = 20'd120000;  // 122.88 ms
      5'd28: rnr_quarters = 20'd160000;  // 163.84 ms
      5'd29: rnr_quarters = 20'd240000;  // 245.76 ms
      5'd30: rnr_quarters = 20'd320000;  // 327.68 ms
      default: rnr_quarters = 20'd480000;  // 491.52 ms
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      read_valid_q <= 1'b0;
      got_valid_q  <= 1'b0;
      dec_valid_q  <= 1'b0;
    end else if (step) begin
      read_valid_q <= walk && 32'(row_q) < 32'(QpCount);
      got_valid_q  <= read_valid_q;
      dec_valid_q  <= got_valid_q;
    end
  end

  always_ff @(posedge clk) begin
    if (step) begin
      read_qpn_q  <= row_qpn;
      got_qpn_q   <= read_qpn_q;
      {got_state_q, got_una_q, got_gen_q, got_rnr_q, got_rnr_code_q, got_drain_q} <= state_read;
      got_retired_q <= retired_read;
      {got_nxt_q, got_done_q} <= cursor_read;
      got_code_q  <= code_read;
      got_timer_q <= timer_read;
      dec_qpn_q     <= got_qpn_q;
      dec_una_q     <= got_una_q;
      dec_gen_q     <= got_gen_q;
      dec_rnr_q     <= got_rnr_q;
      dec_drained_q <= got_drain_q && got_state_q == roce_pkg::QpSqd && all_acked &&
          got_retired_q == got_una_q;
      dec_running_q <= live && (got_rnr_q || (!all_acked && settled && got_code_q != '0));
      dec_same_q    <= got_timer_q.armed && got_timer_q.una == got_una_q &&
          got_timer_q.gen == got_gen_q && got_timer_q.rnr == got_rnr_q;
      dec_over_q    <= !left[TimeW-1];
      dec_old_q     <= got_timer_q.deadline;
      dec_length_q  <= got_rnr_q ? (TimeW-2)'(rnr_quarters) : (TimeW-2)'(4) << got_code_q;
    end
  end

  // ---- decide -----------------------------------------------------------------------------------
  logic fire;

  assign write     = dec_valid_q;
  assign write_qpn = dec_qpn_q;
  assign fire      = dec_valid_q && dec_running_q && dec_same_q && dec_over_q;

  always_comb begin
    timer_d.armed    = dec_running_q && !fire;
    timer_d.rnr      = dec_rnr_q;
    timer_d.una      = dec_una_q;
    timer_d.gen      = dec_gen_q;
    // One quarter more than T: the present one has begun already.
    timer_d.deadline = dec_same_q ? dec_old_q : now_q + TimeW'(dec_length_q) + 1'b1;
  end

  // Its ready is a register: whoever takes from it decides late.
  stream_skid #(
    .Width(QpW + 30)
  ) u_time (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(fire || (dec_valid_q && dec_drained_q)),
    .s_axis_tready(step),
    .s_axis_tdata({dec_qpn_q, dec_una_q, dec_gen_q, dec_drained_q, dec_rnr_q}),
    .m_axis_tvalid(m_time_tvalid),
    .m_axis_tready(m_time_tready),
    .m_axis_tdata({m_time_qpn, m_time_una, m_time_gen, m_time_kind})
  );

  assign idle_o = !read_valid_q && !got_valid_q && !dec_valid_q && !m_time_tvalid;

  logic unused;
  assign unused = ^{state_i, cursor_i, row_q};

  `ROCEGEN_ASSERT(set_while_idle, !set_valid_i || (idle_o && hold_i))

endmodule

`default_nettype wire
