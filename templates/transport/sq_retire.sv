// sq_retire: completes the requests of a QP in order.
//
// Takes a QP from its work list (s_qp): every request at the head of the ring whose last packet is
// acknowledged, a READ or atomic when its data is in memory too, gets its completion on m_cqe
// (WcSuccess, only if it asked for one) and frees its slot. If the QP is in ERR, of the requests
// that are not acknowledged the one that holds PSN `fail` completes with the error's status (none
// where none is given), all others with WcFlushErr, always; a READ waits until none of the QP's
// data is on its way to memory any more, so a buffer is never written after its completion. A turn
// looks at 8 requests at most; done_valid_o names the QP when it is over, done_more_o 1 if there
// may be more.
//
// Owns the heads of the rings: told on head_*_o in the cycle after a request was completed, with
// the PSN behind it. set_valid_i (only while idle_o) starts a ring anew. hold_i: turns end at once,
// with more 1, whatever m_cqe does; idle_o: no turn is open. m_cqe may stall for any time: the
// requests stay in their rings. done_*_i is sq_read_done's broadcast.
//
// Throughput: a request a cycle, a turn of one request every 2 cycles. Latency: 11 cycles from s_qp
// to m_cqe.
//
// QpW: bits of a QPN. WqeSlots: slots in the request memory, 2..2^20. SlotW: bits of a slot number.
// IdxW: bits of a ring index, SlotW + 2. ReadW: bits of a number of READs, at least SlotW + 1.
`include "rocegen_assert.svh"
`default_nettype none

module sq_retire #(
  parameter int QpW = 4,
  parameter int WqeSlots = 256,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int ReadW = 9
) (
  input  logic                clk,
  input  logic                rst,
  input  logic                hold_i,
  output logic                idle_o,
  input  logic                set_valid_i,
  input  roce_pkg::qp_cfg_t   set_i,
  input  logic                state_we_i,
  input  logic [QpW-1:0]      state_qpn_i,
  input  roce_pkg::sq_state_t state_i,
  input  logic                tail_we_i,
  input  logic [QpW-1:0]      tail_qpn_i,
  input  logic [IdxW-1:0]     tail_i,
  input  logic                wqe_we_i,
  input  logic [SlotW-1:0]    wqe_slot_i,
  input  roce_pkg::sq_cpl_t   cpl_i,
  input  logic                done_we_i,
  input  logic [QpW-1:0]      done_qpn_i,
  input  logic [ReadW-1:0]    done_reads_i,
  input  logic [15:0]         done_rx_i,
  output logic                head_we_o,
  output logic [QpW-1:0]      head_qpn_o,
  output logic [IdxW-1:0]     head_o,
  output logic [23:0]         head_psn_o,
  input  logic                s_qp_tvalid,
  output logic                s_qp_tready,
  input  logic [QpW-1:0]      s_qp_tdata,
  output logic                done_valid_o,
  output logic                done_more_o,
  output logic [QpW-1:0]      done_qpn_o,
  output logic                m_cqe_tvalid,
  input  logic                m_cqe_tready,
  output roce_pkg::cqe_t      m_cqe_tdata,
  output logic                cnt_sq_cqes_o,
  output logic                cnt_sq_flushed_o
);

  localparam int QueueDepth = 16;
  localparam int CreditW = $clog2(QueueDepth + 1);

  // ---- the turn's requests ----------------------------------------------------------------------
  logic                fetch_idle;
  logic                tok_valid;
  logic                tok_request;
  logic                tok_cut;
  logic                tok_last;
  logic                tok_full;
  logic                tok_flushing;
  logic                tok_named;
  logic [3:0]          tok_reads;
  logic [ReadW-1:0]    tok_retired;
  logic                tok_quiet;
  logic [QpW-1:0]      tok_qpn;
  logic [IdxW-1:0]     tok_idx;
  roce_pkg::sq_state_t tok_state;
  roce_pkg::sq_cpl_t   cpl;

  // ---- decide -----------------------------------------------------------------------------------
  // The QP and its state come with every token: an opening token only starts the two marks anew.
  logic       spared_q;  // a request that was looked at gave no completion
  logic       taken;
  logic       flushing_q;  // of the turn: a request has failed
  logic       named_q;  // and the error's status was given
  logic [3:0] reads_q;  // READs and atomics that may complete
  logic [ReadW-1:0] retired_q;
  logic       stopped_q;  // the turn met a request that has to wait
  logic       flushing;
  logic       named;
  logic       stopped;
  logic       acked;
  logic       in_memory;
  logic       failed;
  logic       success;
  logic       complete;
  logic       report;
  logic [7:0] status;
  logic             own_we;
  logic [QpW-1:0]   own_qpn;
  logic [IdxW-1:0]  own_head;
  logic [23:0]      own_psn;
  logic [ReadW-1:0] own_reads;
  logic             own_flushing;
  logic             own_named;

  assign taken = m_cqe_tvalid && m_cqe_tready;

  sq_retire_fetch #(
    .QpW(QpW),
    .WqeSlots(WqeSlots),
    .SlotW(SlotW),
    .IdxW(IdxW),
    .ReadW(ReadW),
    .TurnMax(8),
    .Credits(QueueDepth)
  ) u_fetch (
    .clk(clk),
    .rst(rst),
    .hold_i(hold_i),
    .idle_o(fetch_idle),
    .set_valid_i(set_valid_i),
    .set_i(set_i),
    .state_we_i(state_we_i),
    .state_qpn_i(state_qpn_i),
    .state_i(state_i),
    .tail_we_i(tail_we_i),
    .tail_qpn_i(tail_qpn_i),
    .tail_i(tail_i),
    .wqe_we_i(wqe_we_i),
    .wqe_slot_i(wqe_slot_i),
    .cpl_i(cpl_i),
    .done_we_i(done_we_i),
    .done_qpn_i(done_qpn_i),
    .done_reads_i(done_reads_i),
    .done_rx_i(done_rx_i),
    .own_we_i(own_we),
    .own_qpn_i(own_qpn),
    .own_head_i(own_head),
    .own_psn_i(own_psn),
    .own_reads_i(own_reads),
    .own_flushing_i(own_flushing),
    .own_named_i(own_named),
    .credit_a_i(taken),
    .credit_b_i(spared_q),
    .s_qp_tvalid(s_qp_tvalid),
    .s_qp_tready(s_qp_tready),
    .s_qp_tdata(s_qp_tdata),
    .tok_valid_o(tok_valid),
    .tok_request_o(tok_request),
    .tok_cut_o(tok_cut),
    .tok_last_o(tok_last),
    .tok_full_o(tok_full),
    .tok_flushing_o(tok_flushing),
    .tok_named_o(tok_named),
    .tok_reads_o(tok_reads),
    .tok_retired_o(tok_retired),
    .tok_quiet_o(tok_quiet),
    .tok_qpn_o(tok_qpn),
    .tok_idx_o(tok_idx),
    .tok_state_o(tok_state),
    .tok_cpl_o(cpl)
  );

  assign failed    = tok_state.state == roce_pkg::QpErr;
  // PSNs say nothing about requests behind the first that failed: they may be 2^23 and more ahead.
  assign acked     = !flushing_q && roce_pkg::psn_lt(cpl.last_psn, tok_state.una);
  assign in_memory = reads_q != '0;
  assign success   = acked && (!cpl.read || in_memory);
  assign complete  = tok_valid && tok_request && !stopped_q &&
      (success || (failed && !acked && (!cpl.read || tok_quiet)));
  assign report    = complete && (!acked || cpl.signaled);
  assign stopped   = tok_request && (stopped_q || !complete);
  assign flushing  = tok_request ? flushing_q || (complete && !acked) : tok_flushing;
  assign named     = tok_request ?
      named_q || (complete && !acked && status != roce_pkg::WcFlushErr) : tok_named;

  always_comb begin
    status = roce_pkg::WcFlushErr;
    if (acked) status = roce_pkg::WcSuccess;
    else if (!named_q && tok_state.status != '0 &&
        !roce_pkg::psn_lt(cpl.last_psn, tok_state.fail)) begin
      status = 8'(tok_state.status);
    end
  end

  always_ff @(posedge clk) begin
    if (tok_valid) begin
      flushing_q <= flushing;
      named_q    <= named;
      stopped_q  <= stopped;
      if (!tok_request) begin
        reads_q   <= tok_reads;
        retired_q <= tok_retired;
      end else if (complete && acked && cpl.read) begin
        reads_q   <= reads_q - 1'b1;
        retired_q <= retired_q + 1'b1;
      end
    end
  end

  always_comb begin
    own_we       = complete;
    own_qpn      = tok_qpn;
    own_head     = tok_idx + 1'b1;
    own_psn      = cpl.last_psn + 1'b1;
    own_reads    = retired_q + ReadW'(acked && cpl.read);
    own_flushing = flushing;
    own_named    = named;
    if (set_valid_i) begin
      own_we       = 1'b1;
      own_qpn      = set_i.qpn[QpW-1:0];
      own_head     = '0;
      own_psn      = set_i.sq_psn;
      own_reads    = '0;
      own_flushing = 1'b0;
      own_named    = 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      spared_q         <= 1'b0;
      head_we_o        <= 1'b0;
      done_valid_o     <= 1'b0;
      cnt_sq_cqes_o    <= 1'b0;
      cnt_sq_flushed_o <= 1'b0;
    end else begin
      spared_q         <= tok_valid && tok_request && !report;
      head_we_o        <= own_we;
      done_valid_o     <= tok_valid && tok_last;
      cnt_sq_cqes_o    <= report;
      cnt_sq_flushed_o <= report && status == roce_pkg::WcFlushErr;
    end
  end

  always_ff @(posedge clk) begin
    head_qpn_o  <= own_qpn;
    head_o      <= own_head;
    head_psn_o  <= own_psn;
    done_qpn_o  <= tok_qpn;
    done_more_o <= tok_cut || (tok_full && !stopped);
  end

  // ---- queue of completions ---------------------------------------------------------------------
  localparam int QueueW = QpW + 4 + 4 + 32 + 64 + 7;

  logic               queue_ready;
  logic [CreditW-1:0] unused_level;
  logic [QpW-1:0]     out_qpn;
  logic [3:0]         out_status;
  logic [3:0]         out_opcode;
  logic [31:0]        out_bytes;
  logic [63:0]        out_wr_id;
  logic [6:0]         out_syndrome;
  logic [6:0]         syndrome;

  logic              report_q;
  logic [QueueW-1:0] report_data_q;

  always_comb begin
    syndrome = '0;
    if (!acked && status != roce_pkg::WcFlushErr) begin
      if (status == roce_pkg::WcRnrRetryExcErr) begin
        syndrome = {roce_pkg::SynRnr[1:0], tok_state.rnr_code};
      end else if (tok_state.nak != 2'b00) begin
        syndrome = {5'b11000, tok_state.nak};
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) report_q <= 1'b0;
    else report_q <= report;
  end

  always_ff @(posedge clk) begin
    report_data_q <= {tok_qpn, status[3:0], cpl.opcode, acked ? cpl.length : 32'd0, cpl.wr_id,
        syndrome};
  end

  stream_fifo #(
    .Width(QueueW),
    .Depth(QueueDepth)
  ) u_queue (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(report_q),
    .s_axis_tready(queue_ready),
    .s_axis_tdata(report_data_q),
    .m_axis_tvalid(m_cqe_tvalid),
    .m_axis_tready(m_cqe_tready),
    .m_axis_tdata({out_qpn, out_status, out_opcode, out_bytes, out_wr_id, out_syndrome}),
    .level_o(unused_level)
  );

  always_comb begin
    m_cqe_tdata        = '0;
    m_cqe_tdata.wr_id  = out_wr_id;
    m_cqe_tdata.qpn    = 24'(out_qpn);
    m_cqe_tdata.bytes  = out_bytes;
    m_cqe_tdata.opcode = 8'(out_opcode);
    m_cqe_tdata.status = 8'(out_status);
    m_cqe_tdata.syndrome = 32'(out_syndrome);
  end

  assign idle_o = fetch_idle && !done_valid_o && !head_we_o;

  logic unused;
  assign unused = ^{set_i, tok_state, queue_ready, unused_level};

  `ROCEGEN_ASSERT(completion_never_lost, !report_q || queue_ready)
  `ROCEGEN_ASSERT(set_while_idle, !set_valid_i || (idle_o && hold_i))

endmodule

`default_nettype wire
