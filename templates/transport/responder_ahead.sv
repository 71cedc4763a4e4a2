// responder_ahead: remembers the packets that were placed ahead of ePSN, and finds how far ePSN may
// jump when it arrives.
//
// A cell of two bits (Cell*) for each of 128 PSNs of each QP: mark_* writes it, eleven cycles after
// its header was taken (taken_i). Cells outside of what lies ahead of the QP's ePSN are CellNone
// once a walk with `clear` was through, so no cell is ever one of an earlier lap.
//
// walk_*, six cycles after taken_i, at most one every two cycles: forget all cells of a QP (clear),
// or look from its new ePSN on. Up to eight wait; busy_o is high from walk_valid_i on until the last
// is done, and no header may be taken meanwhile. A walk starts when no header has been taken for 13
// cycles (quiet_o), so the cells it sees are those of all packets in front. It takes the cells one
// by one while they continue the message that the QP is within, clears them, and ends at the first
// that is not set or does not fit (that one is cleared too: its packet has to come again, in order,
// to be refused). Then it offers {messages that end 8, packets 8} on advance_*, zero or not, from
// advance_psn_o on. A clear takes 128 cycles, a walk three for each cell.
//
// rocegen: comb busy_o<-walk_valid_i
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

  localparam logic [2:0] StIdle = 3'd0;
  localparam logic [2:0] StClear = 3'd1;
  localparam logic [2:0] StRead = 3'd2;
  localparam logic [2:0] StWait = 3'd3;
  localparam logic [2:0] StLook = 3'd4;
  localparam logic [2:0] StOffer = 3'd5;

  localparam logic [3:0] Quiet = 4'd13;

  logic                walk_ready;
  logic                job_valid;
  roce_pkg::rsp_walk_t job;
  logic [3:0]          level;
  logic [3:0]          since_q;  // cycles since a header was taken
  logic [2:0]          state_q;
  logic                start;
  // What it is for is known by the state.
  /* verilator lint_off UNUSEDSIGNAL */
  roce_pkg::rsp_walk_t job_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [6:0]          at_q;  // cell
  logic [7:0]          packets_q;
  logic [7:0]          ends_q;
  logic [1:0]          found;
  logic                fits;
  logic                clear;
  logic [CellW-1:0]    mark_cell;
  logic [CellW-1:0]    walk_cell;

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

  always_comb begin
    case (job_q.kind)
      roce_pkg::KindNone:  fits = found == roce_pkg::CellOnly;
      roce_pkg::KindWrite: fits = found == roce_pkg::CellMiddle || found == roce_pkg::CellLast;
      default:             fits = 1'b0;
    endcase
  end

  // The low bits: a single QP has no number.
  assign mark_cell = CellW'({mark_qpn_i[QpW-1:0], mark_psn_i});
  assign walk_cell = CellW'({job_q.qpn[QpW-1:0], at_q});

  assign clear = state_q == StClear || (state_q == StLook && found != roce_pkg::CellNone);

  always_ff @(posedge clk) begin
    if (rst) begin
      since_q <= '0;
      state_q <= StIdle;
    end else begin
      if (taken_i) since_q <= '0;
      else if (since_q != Quiet) since_q <= since_q + 1'b1;
      case (state_q)
        StIdle:  if (start) state_q <= job.clear ? StClear : StRead;
        StClear: if (at_q == 7'd127) state_q <= StIdle;
        StRead:  state_q <= StWait;
        StWait:  state_q <= StLook;
        StLook:  state_q <= fits ? StRead : StOffer;
        default: if (advance_ready_i) state_q <= StIdle;
      endcase
    end
    if (start) begin
      job_q     <= job;
      at_q      <= job.clear ? '0 : job.psn[6:0];
      packets_q <= '0;
      ends_q    <= '0;
    end else if (state_q == StClear) begin
      at_q <= at_q + 1'b1;
    end else if (state_q == StLook && fits) begin
      at_q      <= at_q + 1'b1;
      packets_q <= packets_q + 1'b1;
      ends_q    <= ends_q + {7'd0, found != roce_pkg::CellMiddle};
      if (found != roce_pkg::CellMiddle) job_q.kind <= roce_pkg::KindNone;
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
    .wr_addr_i(mark_valid_i ? mark_cell : walk_cell),
    .wr_data_i(mark_valid_i ? mark_i : roce_pkg::CellNone),
    .rd_en_i(state_q == StRead),
    .rd_addr_i(walk_cell),
    .rd_data_o(found)
  );

  assign advance_valid_o = state_q == StOffer;
  assign advance_qpn_o   = job_q.qpn;
  assign advance_psn_o   = job_q.psn;
  assign advance_o       = {ends_q, packets_q};

  `ROCEGEN_ASSERT(jobs_have_room, !walk_valid_i || walk_ready)
  `ROCEGEN_ASSERT(one_writer, !(mark_valid_i && clear))

endmodule

`default_nettype wire
