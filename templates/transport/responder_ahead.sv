// responder_ahead: remembers the packets that were placed ahead of ePSN, and finds how far ePSN may
// jump when it arrives.
//
// A cell (Cell*) for each of 128 PSNs of each QP: mark_* writes it, eleven cycles after its header
// was taken (taken_i). Cells outside of what lies ahead of the QP's ePSN are CellNone once a walk
// with `clear` was through, so no cell is ever one of an earlier lap.
//
// walk_*, six cycles after taken_i, at most one every two cycles: forget all cells of a QP (clear),
// or look at `cells` of them from its new ePSN on. Up to eight wait; busy_o is high from
// walk_valid_i on until the last is done, and no header may be taken meanwhile. A walk starts when
// no header has been taken for 13 cycles (quiet_o), so the cells it sees are those of all packets in
// front. It clears cell after cell, up to the end of the message or the first that is not set, and
// looks for the next set one behind that. Then it offers on advance_*, from advance_psn_o on, {more
// are set 1, the first of them is so many behind the new ePSN 7, the message ends 1, packets 7}. A
// clear takes 128 cycles, a walk one for each cell and 3. busy_o follows walk_valid_i
// combinationally.
//
// QpCount: queue pairs, 1..16384.
`include "rocegen_assert.svh"
`default_nettype none

module responder_ahead #(
  parameter int QpCount = 16
) (
  input  logic                clk,
  input  logic                rst,
  input  logic                taken_i,
  output logic                quiet_o,
  output logic                busy_o,
  input  logic                walk_valid_i,
  input  roce_pkg::rsp_walk_t walk_i,
  input  logic                mark_valid_i,
  // A QPN beyond the table marks nothing.
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic [23:0]         mark_qpn_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [6:0]          mark_psn_i,
  input  logic [1:0]          mark_i,
  output logic                advance_valid_o,
  input  logic                advance_ready_i,
  output logic [23:0]         advance_qpn_o,
  output logic [23:0]         advance_psn_o,
  output logic [15:0]         advance_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "responder_ahead: QpCount must be in 1..16384");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int CellW = $clog2(QpCount * 128);

  localparam logic [1:0] StIdle = 2'd0;
  localparam logic [1:0] StClear = 2'd1;
  localparam logic [1:0] StWalk = 2'd2;
  localparam logic [1:0] StOffer = 2'd3;

  localparam logic [3:0] Quiet = 4'd13;

  logic                walk_ready;
  logic                job_valid;
  roce_pkg::rsp_walk_t job;
  logic [3:0]          level;
  logic [3:0]          since_q;  // cycles since a header was taken
  logic [1:0]          state_q;
  logic                start;
  // What it is for is known by the state.
  /* verilator lint_off UNUSEDSIGNAL */
  roce_pkg::rsp_walk_t job_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic                read_q;  // a cell was asked for, one cycle and two cycles ago
  logic                look_q;
  logic [6:0]          at_q;  // cell to read or to clear
  logic [6:0]          look_at_q;  // cell that is looked at
  logic [6:0]          rest_q;  // cells still to look at
  logic                open_q;  // all so far were set, and none was the message's last
  logic [6:0]          packets_q;
  logic                ends_q;
  logic [6:0]          gap_q;
  logic                more_q;
  logic [1:0]          found;
  logic                set;
  logic                pass;  // one packet further
  logic                clear;
  logic [CellW-1:0]    mark_cell;
  logic [CellW-1:0]    read_cell;
  logic [CellW-1:0]    clear_cell;

  stream_fifo #(
    .Width(roce_pkg::RspWalkW),
    .Depth(8),
    .Style(3)
  ) u_jobs (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(walk_valid_i),
    .s_axis_tready(walk_ready),
    .s_axis_tdata(walk_i),
    .m_axis_tvalid(job_valid),
    .m_axis_tready(start),
    .m_axis_tdata(job),
    .level_o(level)
  );

  assign quiet_o = since_q == Quiet;
  assign busy_o  = walk_valid_i || level != '0 || job_valid || state_q != StIdle;
  assign start   = state_q == StIdle && job_valid && since_q == Quiet;

  // The low bits: a single QP has no number.
  assign mark_cell  = CellW'({mark_qpn_i[QpW-1:0], mark_psn_i});
  assign read_cell  = CellW'({job_q.qpn[QpW-1:0], at_q});
  assign clear_cell = CellW'({job_q.qpn[QpW-1:0], state_q == StClear ? at_q : look_at_q});

  assign set   = found != roce_pkg::CellNone;
  assign pass  = state_q == StWalk && look_q && rest_q != '0 && open_q && set;
  assign clear = state_q == StClear || pass;

  always_ff @(posedge clk) begin
    if (rst) begin
      since_q <= '0;
      state_q <= StIdle;
      read_q  <= 1'b0;
      look_q  <= 1'b0;
    end else begin
      if (taken_i) since_q <= '0;
      else if (since_q != Quiet) since_q <= since_q + 1'b1;
      read_q <= state_q == StWalk;
      look_q <= state_q == StWalk && read_q;
      case (state_q)
        StIdle:  if (start) state_q <= job.clear ? StClear : StWalk;
        StClear: if (at_q == 7'd127) state_q <= StIdle;
        StWalk:  if (rest_q == '0 || (look_q && set && !open_q)) state_q <= StOffer;
        default: if (advance_ready_i) state_q <= StIdle;
      endcase
    end
    if (start) begin
      job_q     <= job;
      at_q      <= job.clear ? '0 : job.psn[6:0];
      look_at_q <= job.psn[6:0];
      rest_q    <= job.cells;
      open_q    <= 1'b1;
      packets_q <= '0;
      ends_q    <= 1'b0;
      gap_q     <= '0;
      more_q    <= 1'b0;
    end else begin
      at_q <= at_q + 1'b1;
      if (state_q == StWalk && look_q && rest_q != '0) begin
        look_at_q <= look_at_q + 1'b1;
        rest_q    <= rest_q - 1'b1;
        if (pass) begin
          packets_q <= packets_q + 1'b1;
          ends_q    <= found == roce_pkg::CellLast;
          open_q    <= found != roce_pkg::CellLast;
        end else begin
          open_q <= 1'b0;
          if (set) more_q <= 1'b1;
          else gap_q <= gap_q + 1'b1;
        end
      end
    end
  end

  ram_sdp #(
    .Width(2),
    .Depth(QpCount * 128),
    .Latency(2),
    .Style(0)
  ) u_cells (
    .clk(clk),
    .wr_en_i(mark_valid_i || clear),
    .wr_addr_i(mark_valid_i ? mark_cell : clear_cell),
    .wr_data_i(mark_valid_i ? mark_i : roce_pkg::CellNone),
    .rd_en_i(state_q == StWalk),
    .rd_addr_i(read_cell),
    .rd_data_o(found)
  );

  assign advance_valid_o = state_q == StOffer;
  assign advance_qpn_o   = job_q.qpn;
  assign advance_psn_o   = job_q.psn;
  assign advance_o       = {more_q, gap_q, ends_q, packets_q};

  `ROCEGEN_ASSERT(jobs_have_room, !walk_valid_i || walk_ready)
  `ROCEGEN_ASSERT(one_writer, !(mark_valid_i && clear))

endmodule

`default_nettype wire
