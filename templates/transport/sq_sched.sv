// sq_sched: work list of queue pairs: a FIFO in which each QP stands at most once.
//
// kick(qp), on either kick stream, asks for one turn of the QP. A QP that is in no turn and not in
// the list is put at its tail; for any other the wish is noted and it is put there again when its
// turn is over, so no kick is lost and none is doubled. m_pop hands out the QP at the head, whose
// turn lasts until done_valid_i names it; with done_more_i it goes to the tail again. One turn of a
// QP at a time.
//
// Handshake: one kick or one end of turn a cycle. An end of turn has precedence and is never
// refused (at most one a cycle); the two kick streams take turns. Nothing waits for m_pop: the list
// holds every QP. A kick is on m_pop 3 cycles later when the list is empty, after done_valid_i a QP
// is on m_pop again 4 cycles later at the earliest (LowLatency: 2 and 3; by then what its turn
// changed must be in the tables). Kicks are refused until ready_o (flags cleared, 2^QpW cycles
// after reset).
//
// QpW: bits of a QPN, 1..14. LowLatency: 1, see above.
`include "rocegen_assert.svh"
`default_nettype none

module sq_sched #(
  parameter int QpW = 4,
  parameter int LowLatency = 0
) (
  input  logic           clk,
  input  logic           rst,
  output logic           ready_o,
  input  logic           s_kick_a_tvalid,
  output logic           s_kick_a_tready,
  input  logic [QpW-1:0] s_kick_a_tdata,
  input  logic           s_kick_b_tvalid,
  output logic           s_kick_b_tready,
  input  logic [QpW-1:0] s_kick_b_tdata,
  input  logic           done_valid_i,
  input  logic           done_more_i,
  input  logic [QpW-1:0] done_qpn_i,
  output logic           m_pop_tvalid,
  input  logic           m_pop_tready,
  output logic [QpW-1:0] m_pop_tdata
);

  if (QpW < 1 || QpW > 14) begin : gen_check_qp_width
    $fatal(1, "sq_sched: QpW must be in 1..14");
  end

  localparam int Rows = 1 << QpW;
  localparam int ListDepth = Rows < 4 ? 4 : Rows;
  localparam int LevelW = $clog2(ListDepth + 1);

  // ---- choose: an end of turn, else a kick ------------------------------------------------------
  logic           done_valid_q;
  logic           done_more_q;
  logic [QpW-1:0] done_qpn_q;
  logic           b_first_q;
  logic           take_a;
  logic           take_b;
  logic           op_valid;
  logic [QpW-1:0] op_qpn;

  assign take_a   = ready_o && !done_valid_q && s_kick_a_tvalid && !(b_first_q && s_kick_b_tvalid);
  assign take_b   = ready_o && !done_valid_q && s_kick_b_tvalid && !take_a;
  assign op_valid = done_valid_q || take_a || take_b;
  assign op_qpn   = done_valid_q ? done_qpn_q : take_a ? s_kick_a_tdata : s_kick_b_tdata;

  assign s_kick_a_tready = take_a;
  assign s_kick_b_tready = take_b;

  always_ff @(posedge clk) begin
    if (rst) begin
      done_valid_q <= 1'b0;
      b_first_q    <= 1'b0;
    end else begin
      done_valid_q <= done_valid_i;
      if (take_a) b_first_q <= 1'b1;
      else if (take_b) b_first_q <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    done_more_q <= done_more_i;
    done_qpn_q  <= done_qpn_i;
  end

  // ---- change the flags: read in one cycle, written in the next ---------------------------------
  // listed: in the list or in its turn. again: kicked since it was put into the list.
  logic           mod_valid_q;
  logic           mod_done_q;
  logic           mod_more_q;
  logic [QpW-1:0] mod_qpn_q;
  logic           fwd_q;
  logic [1:0]     fwd_flags_q;
  logic [1:0]     flags_read;
  logic [1:0]     flags;  // {again, listed}
  logic [1:0]     flags_d;
  logic           push;

  always_ff @(posedge clk) begin
    if (rst) mod_valid_q <= 1'b0;
    else mod_valid_q <= op_valid;
  end

  always_ff @(posedge clk) begin
    mod_done_q  <= done_valid_q;
    mod_more_q  <= done_more_q;
    mod_qpn_q   <= op_qpn;
    fwd_q       <= mod_valid_q && mod_qpn_q == op_qpn;
    fwd_flags_q <= flags_d;
  end

  assign flags = fwd_q ? fwd_flags_q : flags_read;

  always_comb begin
    if (mod_done_q) begin
      push    = mod_more_q || flags[1];
      flags_d = {1'b0, push};
    end else begin
      push    = !flags[0];
      flags_d = {flags[0], 1'b1};
    end
  end

  ram_clear #(
    .Width(2),
    .Depth(Rows)
  ) u_flags (
    .clk(clk),
    .rst(rst),
    .wr_en_i(mod_valid_q),
    .wr_addr_i(mod_qpn_q),
    .wr_data_i(flags_d),
    .rd_en_i(1'b1),
    .rd_addr_i(op_qpn),
    .rd_data_o(flags_read),
    .ready_o(ready_o)
  );

  // ---- the list ---------------------------------------------------------------------------------
  // At least 4 deep: a shallower FIFO is faster than promised above.
  logic              list_ready;
  logic [LevelW-1:0] unused_level;

  stream_fifo #(
    .Width(QpW),
    .Depth(ListDepth),
    .Bypass(LowLatency)
  ) u_list (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(mod_valid_q && push),
    .s_axis_tready(list_ready),
    .s_axis_tdata(mod_qpn_q),
    .m_axis_tvalid(m_pop_tvalid),
    .m_axis_tready(m_pop_tready),
    .m_axis_tdata(m_pop_tdata),
    .level_o(unused_level)
  );

  logic unused;
  assign unused = ^{unused_level, list_ready};

  `ROCEGEN_ASSERT(list_never_full, !(mod_valid_q && push) || list_ready)
  for (genvar i = 1; i <= (LowLatency != 0 ? 2 : 3); i++) begin : gen_pause
    `ROCEGEN_ASSERT(pause_kept, !m_pop_tvalid || !$past(done_valid_i, i) ||
        $past(done_qpn_i, i) != m_pop_tdata || $past(rst, i))
  end
  `ROCEGEN_ASSERT(done_is_listed, !(mod_valid_q && mod_done_q) || flags[0])

endmodule

`default_nettype wire
