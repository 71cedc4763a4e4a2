// rq_control: everything that changes a receive ring's row but posting: set-ups, and the list of
// rings to be flushed.
//
// One operation at a time, each a look-up and a write of one row (look_row_o; row_i, head_i two
// cycles later; we_o, wr_row_o, wr_data_o): hold_o is high meanwhile, and low for four cycles
// between two operations so that posting goes on. In order of precedence:
//   s_cfg    set-up or RESET of a QP (other changes are taken without effect)
//   s_srq    set-up of a shared ring
//   s_mark   a QP died: its row enters the list unless it is there, if the mark's gen is the row's
//   flush    the ring at the front of the list, while flush_idle_i: unless a set-up or RESET came
//            meanwhile, flush_start_o lets rq_flush walk from flush_idx_o (the head first, then
//            where it stopped) to the tail; no entry left: the ring is in ERR and leaves the list
// So entries posted during a flush are flushed as well, in order. flush_stop_o: the ring that is
// flushed starts anew. A flush that would start while rx_responder has taken a set-up that is still
// on its way here (head_known_i low) is left out: the entries are about to vanish anyway. Each
// stream is taken within 30 cycles unless one before it in precedence never rests.
//
// QpCount: 1..16384. SrqCount: 0..4096. QpW, RowW: bits of a QPN and of a row number. RqeSlots:
// slots of all rings together, 2..2^20.
`include "rocegen_assert.svh"
`default_nettype none

module rq_control #(
  parameter int QpCount = 16,
  parameter int SrqCount = 0,
  parameter int QpW = 4,
  parameter int RowW = 4,
  parameter int RqeSlots = 256
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               enable_i,
  output logic               hold_o,
  input  logic               s_cfg_tvalid,
  output logic               s_cfg_tready,
  input  roce_pkg::qp_cfg_t  s_cfg_tdata,
  input  logic               s_srq_tvalid,
  output logic               s_srq_tready,
  input  roce_pkg::srq_cfg_t s_srq_tdata,
  input  logic               s_mark_tvalid,
  output logic               s_mark_tready,
  input  logic [23:0]        mark_qpn_i,
  input  logic [3:0]         mark_gen_i,
  output logic [RowW-1:0]    look_row_o,
  input  roce_pkg::rq_row_t  row_i,
  input  logic               head_known_i,
  input  logic [21:0]        head_i,
  output logic               we_o,
  output logic [RowW-1:0]    wr_row_o,
  output roce_pkg::rq_row_t  wr_data_o,
  input  logic               flush_idle_i,
  input  logic [21:0]        flush_idx_i,
  output logic               flush_start_o,
  output logic               flush_stop_o,
  output logic [21:0]        flush_idx_o,
  output logic [QpW-1:0]     flush_qpn_o
);

  localparam int QueueDepth = QpCount < 4 ? 4 : QpCount;

  typedef enum logic [2:0] {
    CtlIdle,
    CtlLook,  // the row number is at the table
    CtlRead,
    CtlAct,  // row_i, head_i are there
    CtlRest
  } ctl_t;

  typedef enum logic [1:0] {
    OpCfg,
    OpSrq,
    OpMark,
    OpFlush
  } op_t;

  // ---- choice -----------------------------------------------------------------------------------
  ctl_t            ctl_q;
  ctl_t            ctl_d;
  op_t             op_q;
  logic [1:0]      rest_q;
  logic [RowW-1:0] row_q;
  logic            known_q;  // the row exists
  logic [19:0]     base_q;  // of a set-up's ring
  logic [4:0]      log2_q;
  logic [20:0]     size;  // of that ring
  logic            sane;
  logic [21:0]     end_q;
  logic            fits_q;
  logic            queue_valid;
  logic [QpW-1:0]  queue_qp;
  logic            flush_ask;
  logic            act;

  logic            srq_known;

  if (SrqCount == 0) begin : gen_no_srq
    assign srq_known = 1'b0;
  end else begin : gen_srq
    assign srq_known = s_srq_tdata.srqn < 16'(SrqCount);
  end

  assign flush_ask = queue_valid && flush_idle_i;

  always_comb begin
    ctl_d = ctl_q;
    case (ctl_q)
      CtlIdle: begin
        if (enable_i && (s_cfg_tvalid || s_srq_tvalid || s_mark_tvalid || flush_ask)) begin
          ctl_d = CtlLook;
        end
      end
      CtlLook: ctl_d = CtlRead;
      CtlRead: ctl_d = CtlAct;
      CtlAct: ctl_d = CtlRest;
      default: if (rest_q == 2'd2) ctl_d = CtlIdle;
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) ctl_q <= CtlIdle;
    else ctl_q <= ctl_d;
    rest_q <= ctl_q == CtlRest ? rest_q + 1'b1 : '0;
  end

  always_ff @(posedge clk) begin
    if (ctl_q == CtlIdle) begin
      if (s_cfg_tvalid) begin
        op_q    <= OpCfg;
        row_q   <= RowW'(s_cfg_tdata.qpn);
        known_q <= s_cfg_tdata.qpn < 24'(QpCount);
        base_q  <= s_cfg_tdata.rq_base;
        log2_q  <= s_cfg_tdata.rq_log2;
      end else if (s_srq_tvalid) begin
        op_q    <= OpSrq;
        row_q   <= RowW'(s_srq_tdata.srqn) + RowW'(QpCount);
        known_q <= srq_known;
        base_q  <= s_srq_tdata.base;
        log2_q  <= s_srq_tdata.log2;
      end else if (s_mark_tvalid) begin
        op_q    <= OpMark;
        row_q   <= RowW'(mark_qpn_i);
        known_q <= mark_qpn_i < 24'(QpCount);
      end else begin
        op_q    <= OpFlush;
        row_q   <= RowW'(queue_qp);
        known_q <= 1'b1;
      end
    end
    // The end of the ring in two steps, ready when the row is.
    end_q  <= 22'(base_q) + 22'(size);
    fits_q <= sane && end_q <= 22'(RqeSlots);
  end

  always_comb begin
    size = '0;
    sane = log2_q <= 5'd20;
    for (int i = 0; i < 21; i++) size[i] = log2_q == 5'(i);
  end

  assign act        = ctl_q == CtlAct;
  assign hold_o     = ctl_q == CtlLook || ctl_q == CtlRead || ctl_q == CtlAct;
  assign look_row_o = row_q;

  assign s_cfg_tready  = act && op_q == OpCfg;
  assign s_srq_tready  = act && op_q == OpSrq;
  assign s_mark_tready = act && op_q == OpMark;

  // ---- change of the row ------------------------------------------------------------------------
  logic        fresh_q;  // the flush of the ring at the front starts at its head
  logic [21:0] flush_idx;
  logic        flush_left;  // entries to flush
  logic        flush_off;  // not any more
  logic        enter;  // the row enters the list
  logic        pop;
  logic        restart;
  logic [1:0]  cfg_mode;
  logic        write;

  always_comb begin
    cfg_mode = roce_pkg::RqOpen;
    if (s_cfg_tdata.state == roce_pkg::QpErr) cfg_mode = roce_pkg::RqFlushed;
    if (s_cfg_tdata.state == roce_pkg::QpReset || s_cfg_tdata.state > roce_pkg::QpErr ||
        !s_cfg_tdata.rq_on || s_cfg_tdata.srq || !fits_q) begin
      cfg_mode = roce_pkg::RqClosed;
    end
  end

  assign flush_idx  = fresh_q ? head_i : flush_idx_i;
  assign flush_left = flush_idx != row_i.tail;
  assign flush_off  = !row_i.wanted || (fresh_q && !head_known_i);

  always_comb begin
    wr_data_o     = row_i;
    write         = 1'b0;
    enter         = 1'b0;
    pop           = 1'b0;
    restart       = 1'b0;
    flush_start_o = 1'b0;
    case (op_q)
      OpCfg: begin
        write            = known_q && (s_cfg_tdata.setup || s_cfg_tdata.state == roce_pkg::QpReset);
        restart          = write;
        wr_data_o.wanted = 1'b0;
        wr_data_o.mode   = roce_pkg::RqClosed;
        if (s_cfg_tdata.setup) begin
          wr_data_o.mode = cfg_mode;
          wr_data_o.gen  = row_i.gen + 1'b1;
          wr_data_o.base = base_q;
          wr_data_o.log2 = log2_q;
          wr_data_o.tail = '0;
        end
      end
      OpSrq: begin
        write          = known_q;
        wr_data_o.mode = fits_q ? roce_pkg::RqOpen : roce_pkg::RqClosed;
        wr_data_o.gen  = row_i.gen + 1'b1;
        wr_data_o.base = base_q;
        wr_data_o.log2 = log2_q;
        wr_data_o.tail = '0;
      end
      OpMark: begin
        write            = known_q && row_i.mode == roce_pkg::RqOpen && row_i.gen == mark_gen_i;
        enter            = write && !row_i.queued;
        wr_data_o.queued = 1'b1;
        wr_data_o.wanted = 1'b1;
      end
      default: begin
        flush_start_o    = !flush_off && flush_left;
        pop              = !flush_start_o;
        write            = pop;
        wr_data_o.queued = 1'b0;
        wr_data_o.wanted = 1'b0;
        if (!flush_off) wr_data_o.mode = roce_pkg::RqFlushed;
      end
    endcase
    if (!act) begin
      write         = 1'b0;
      enter         = 1'b0;
      pop           = 1'b0;
      restart       = 1'b0;
      flush_start_o = 1'b0;
    end
  end

  assign we_o         = write;
  assign wr_row_o     = row_q;
  assign flush_idx_o  = flush_idx;
  assign flush_qpn_o  = queue_qp;
  assign flush_stop_o = restart && row_q[QpW-1:0] == queue_qp;

  always_ff @(posedge clk) begin
    if (rst || pop || flush_stop_o) fresh_q <= 1'b1;
    else if (flush_start_o) fresh_q <= 1'b0;
  end

  // ---- list of rings to be flushed: each stands in it at most once ------------------------------
  logic queue_ready;

  /* verilator lint_off PINCONNECTEMPTY */
  stream_fifo #(
    .Width(QpW),
    .Depth(QueueDepth)
  ) u_queue (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(enter),
    .s_axis_tready(queue_ready),
    .s_axis_tdata(row_q[QpW-1:0]),
    .m_axis_tvalid(queue_valid),
    .m_axis_tready(pop),
    .m_axis_tdata(queue_qp),
    .level_o()  // nobody asks
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // A set-up holds much that only others need.
  logic unused;
  assign unused = ^{s_cfg_tdata, queue_ready};

  `ROCEGEN_ASSERT(queue_has_room, !enter || queue_ready)
  `ROCEGEN_ASSERT(pop_finds_one, !pop || (queue_valid && flush_idle_i))
  `ROCEGEN_STREAM(cfg_contract, s_cfg_tvalid, s_cfg_tready, s_cfg_tdata)
  `ROCEGEN_STREAM(srq_contract, s_srq_tvalid, s_srq_tready, s_srq_tdata)
  `ROCEGEN_STREAM(mark_contract, s_mark_tvalid, s_mark_tready, {mark_qpn_i, mark_gen_i})

endmodule

`default_nettype wire
