// ack_queue: the answers that queue pairs owe, at most one a QP: the newest wins.
//
// s_ack is ready at least every second cycle (from ready_o on; every third when s_cfg was taken in
// the cycle before), whatever m_pkt does: an answer for a QP that already waits replaces the
// waiting one (cnt_ack_coalesced_o), any other enters its QP into a FIFO that has a place for every
// QP. The answer to a duplicate (dup 1) does not replace a waiting NAK: it is forgotten, since the
// NAK tells the peer more. An answer to a QPN beyond QpCount is ignored.
//
// s_cfg: a set-up of a QP, or its change to RESET, forgets the answer of it that waits
// (cnt_ack_stale_o); answers taken after it are kept. Always taken within two cycles, from ready_o
// on.
//
// m_pkt: one packet for each answer, QPs in the order in which they began to wait; takes and
// delivers one every two cycles together, or one a cycle when only one side is busy. Up to eight
// answers are in front of m_pkt already and are no longer replaced or forgotten: a newer one
// follows them, and tx_framer does not send those of a former life. Latency 12 cycles.
//
// busy_i: the line is full of data. Then answers are collected, so that they take little of it:
// they leave together at the latest HoldCycles after the first began to wait, or as soon as a NAK
// is among them. An idle line sends every answer at once.
//
// QpCount: queue pairs, 1..16384. HoldCycles: 0..65535; 0: busy_i has no effect.
// rocegen: comb none
`include "rocegen_assert.svh"
`default_nettype none

module ack_queue #(
  parameter int QpCount = 16,
  parameter int HoldCycles = 0
) (
  input  logic               clk,
  input  logic               rst,
  output logic               ready_o,
  input  logic               busy_i,
  input  logic               s_ack_tvalid,
  output logic               s_ack_tready,
  input  roce_pkg::ack_req_t s_ack_tdata,
  input  logic               s_cfg_tvalid,
  output logic               s_cfg_tready,
  input  roce_pkg::qp_cfg_t  s_cfg_tdata,
  output logic               m_pkt_tvalid,
  input  logic               m_pkt_tready,
  output roce_pkg::tx_pkt_t  m_pkt_tdata,
  output logic               cnt_ack_coalesced_o,
  output logic               cnt_ack_stale_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "ack_queue: QpCount must be in 1..16384");
  end

  if (HoldCycles < 0 || HoldCycles > 65535) begin : gen_check_hold
    $fatal(1, "ack_queue: HoldCycles must be in 0..65535");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int QueueDepth = QpCount < 4 ? 4 : QpCount;
  localparam int LifeW = roce_pkg::LifeW;
  localparam int AnswerW = 8 + 24 + 24 + LifeW;  // syndrome, PSN, MSN, life
  localparam int OutDepth = 8;
  localparam int CreditW = $clog2(OutDepth + 1);

  // Every cycle holds one operation, a put (an answer comes), a get (a QP's answer leaves) or a
  // drop (a QP starts anew); they pass the stages in order, so what each finds is what the one
  // before left.
  // 0 flags are read   1 QPNs compared with the two operations ahead   2 flags decided, written
  // 3 answer written or read, QP queued   5 answer read arrives

  // ---- 0: choice --------------------------------------------------------------------------------
  logic               get_turn_q;
  logic               want_get;
  logic               put;
  logic               get;
  logic               put_known;
  logic               queue_valid;
  logic [QpW-1:0]     queue_qp;
  logic [CreditW-1:0] credit_q;
  logic               out_pop;
  logic               nothing3_q;  // the QP that was got has nothing to send
  logic               hold;  // collect
  logic               drop_q;
  logic [QpW-1:0]     drop_qp_q;
  logic [QpW-1:0]     op_qp;

  assign want_get     = ready_o && queue_valid && credit_q != '0 && !drop_q &&
      !hold;
  assign s_ack_tready = ready_o && !drop_q && !(get_turn_q && want_get);
  assign s_cfg_tready = ready_o && !drop_q;
  assign put          = s_ack_tvalid && s_ack_tready;
  assign get          = want_get && !put;
  assign put_known    = s_ack_tdata.qpn < 24'(QpCount);
  assign op_qp        = drop_q ? drop_qp_q : get ? queue_qp : s_ack_tdata.qpn[QpW-1:0];

  always_ff @(posedge clk) begin
    if (rst) begin
      get_turn_q <= 1'b0;
      drop_q     <= 1'b0;
      credit_q   <= CreditW'(OutDepth);
    end else begin
      get_turn_q <= put;
      drop_q     <= s_cfg_tvalid && s_cfg_tready && s_cfg_tdata.qpn < 24'(QpCount) &&
          (s_cfg_tdata.setup || s_cfg_tdata.state == roce_pkg::QpReset);
      // A get takes a place of the FIFO; it comes back when the answer leaves or if there is none.
      credit_q   <= credit_q - CreditW'(get) + CreditW'(out_pop) + CreditW'(nothing3_q);
    end
    drop_qp_q <= s_cfg_tdata.qpn[QpW-1:0];
  end

  // ---- 1 and 2: what waits of the QP ------------------------------------------------------------
  localparam logic [1:0] Nothing = 2'b00;
  localparam logic [1:0] Answer = 2'b01;
  localparam logic [1:0] Stale = 2'b10;  // forgotten; the QP still stands in the queue
  localparam logic [1:0] Nak = 2'b11;

  logic               put1_q;
  logic               get1_q;
  logic               drop1_q;
  logic [QpW-1:0]     qp1_q;
  logic [AnswerW-1:0] answer1_q;
  logic               dup1_q;
  logic               put2_q;
  logic               get2_q;
  logic               drop2_q;
  logic [QpW-1:0]     qp2_q;
  logic [AnswerW-1:0] answer2_q;
  logic               dup2_q;
  logic               nak2_q;
  logic               same_as3_q;
  logic               same_as4_q;
  logic               op3_q;
  logic [QpW-1:0]     qp3_q;
  logic [1:0]         flags3_q;
  logic [1:0]         flags4_q;
  logic [1:0]         flags_read;
  logic [1:0]         flags;
  logic [1:0]         flags_d;
  logic               op2;
  logic               waiting;
  logic               queued;
  logic               keep;  // the answer that waits stays

  always_ff @(posedge clk) begin
    if (rst) begin
      put1_q  <= 1'b0;
      get1_q  <= 1'b0;
      drop1_q <= 1'b0;
      put2_q  <= 1'b0;
      get2_q  <= 1'b0;
      drop2_q <= 1'b0;
    end else begin
      put1_q  <= put && put_known;
      get1_q  <= get;
      drop1_q <= drop_q;
      put2_q  <= put1_q;
      get2_q  <= get1_q;
      drop2_q <= drop1_q;
    end
    qp1_q      <= op_qp;
    answer1_q  <= {s_ack_tdata.syndrome, s_ack_tdata.psn, s_ack_tdata.msn, s_ack_tdata.life};
    dup1_q     <= s_ack_tdata.dup;
    qp2_q      <= qp1_q;
    answer2_q  <= answer1_q;
    dup2_q     <= dup1_q;
    nak2_q     <= answer1_q[AnswerW-2-:2] == 2'd3;
    same_as3_q <= op2 && qp1_q == qp2_q;
    same_as4_q <= op3_q && qp1_q == qp3_q;
  end

  assign flags   = same_as3_q ? flags3_q : same_as4_q ? flags4_q : flags_read;
  assign op2     = put2_q || get2_q || drop2_q;
  assign waiting = flags[0];
  assign queued  = flags != Nothing;
  assign keep    = flags == Nak && dup2_q;

  always_comb begin
    flags_d = Nothing;
    if (drop2_q && queued) flags_d = Stale;
    if (put2_q) flags_d = (nak2_q || keep) ? Nak : Answer;
  end

  ram_clear #(
    .Width(2),
    .Depth(QpCount),
    .Latency(2)
  ) u_flags (
    .clk(clk),
    .rst(rst),
    .wr_en_i(op2),
    .wr_addr_i(qp2_q),
    .wr_data_i(flags_d),
    .rd_en_i(1'b1),
    .rd_addr_i(op_qp),
    .rd_data_o(flags_read),
    .ready_o(ready_o)
  );

  // ---- 3: answers and queue ---------------------------------------------------------------------
  logic               store3_q;
  logic               enter3_q;
  logic               get3_q;
  logic [AnswerW-1:0] answer3_q;
  logic               get4_q;
  logic               get5_q;
  logic [QpW-1:0]     qp4_q;
  logic [QpW-1:0]     qp5_q;
  logic [AnswerW-1:0] answer5;
  logic               queue_ready;

  always_ff @(posedge clk) begin
    if (rst) begin
      op3_q               <= 1'b0;
      store3_q            <= 1'b0;
      enter3_q            <= 1'b0;
      get3_q              <= 1'b0;
      get4_q              <= 1'b0;
      get5_q              <= 1'b0;
      nothing3_q          <= 1'b0;
      cnt_ack_coalesced_o <= 1'b0;
      cnt_ack_stale_o     <= 1'b0;
    end else begin
      op3_q               <= op2;
      store3_q            <= put2_q && !keep;
      enter3_q            <= put2_q && !queued;
      get3_q              <= get2_q && waiting;
      nothing3_q          <= get2_q && !waiting;
      get4_q              <= get3_q;
      get5_q              <= get4_q;
      cnt_ack_coalesced_o <= put2_q && waiting;
      cnt_ack_stale_o     <= drop2_q && waiting;
    end
    qp3_q     <= qp2_q;
    qp4_q     <= qp3_q;
    qp5_q     <= qp4_q;
    answer3_q <= answer2_q;
    flags3_q  <= flags_d;
    flags4_q  <= flags3_q;
  end

  ram_sdp #(
    .Width(AnswerW),
    .Depth(QpCount),
    .Latency(2),
    .Style(0)
  ) u_answers (
    .clk(clk),
    .wr_en_i(store3_q),
    .wr_addr_i(qp3_q),
    .wr_data_i(answer3_q),
    .rd_en_i(get3_q),
    .rd_addr_i(qp3_q),
    .rd_data_o(answer5)
  );

  localparam int LevelW = $clog2(QueueDepth + 1);
  logic [LevelW-1:0] queue_level;

  stream_fifo #(
    .Width(QpW),
    .Depth(QueueDepth),
    .Style(0)
  ) u_queue (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(enter3_q),
    .s_axis_tready(queue_ready),
    .s_axis_tdata(qp3_q),
    .m_axis_tvalid(queue_valid),
    .m_axis_tready(get),
    .m_axis_tdata(queue_qp),
    .level_o(queue_level)
  );

  // ---- collecting while the line is full --------------------------------------------------------
  if (HoldCycles == 0) begin : gen_no_hold
    logic unused_hold;
    assign hold = 1'b0;
    assign unused_hold = ^{busy_i, queue_level};
  end else begin : gen_hold
    localparam int WaitW = $clog2(HoldCycles + 1);
    logic [WaitW-1:0]  wait_q;
    logic [LevelW-1:0] left_q;  // of the answers that leave together
    logic              urgent_q;
    logic [3:0]        nak_q;
    logic              busy_q;

    always_ff @(posedge clk) begin
      if (rst) begin
        wait_q   <= '0;
        left_q   <= '0;
        urgent_q <= 1'b0;
        nak_q    <= '0;
        busy_q   <= 1'b0;
      end else begin
        busy_q <= busy_i;
        // Not before the NAK's QP counts in queue_level.
        nak_q <= {nak_q[2:0], put2_q && nak2_q};
        if (nak_q[3]) urgent_q <= 1'b1;
        else if (left_q == '0) urgent_q <= 1'b0;
        if (left_q != '0) begin
          wait_q <= '0;
          if (get) left_q <= left_q - 1'b1;
        end else if (queue_valid) begin
          if (wait_q == WaitW'(HoldCycles) || urgent_q) left_q <= queue_level;
          else wait_q <= wait_q + 1'b1;
        end else begin
          wait_q <= '0;
        end
      end
    end

    assign hold = busy_q && left_q == '0;
  end

  /* verilator lint_off PINCONNECTEMPTY */
  // ---- output -----------------------------------------------------------------------------------
  logic                   out_ready;
  logic [QpW+AnswerW-1:0] out_data;

  stream_fifo #(
    .Width(QpW + AnswerW),
    .Depth(OutDepth),
    .Style(3)
  ) u_out (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(get5_q),
    .s_axis_tready(out_ready),
    .s_axis_tdata({qp5_q, answer5}),
    .m_axis_tvalid(m_pkt_tvalid),
    .m_axis_tready(m_pkt_tready),
    .m_axis_tdata(out_data),
    .level_o()  // credits know
  );
  /* verilator lint_on PINCONNECTEMPTY */

  assign out_pop = m_pkt_tvalid && m_pkt_tready;

  always_comb begin
    m_pkt_tdata          = '0;
    m_pkt_tdata.qpn      = 24'(out_data[QpW+AnswerW-1:AnswerW]);
    m_pkt_tdata.opcode   = roce_pkg::OpAck;
    m_pkt_tdata.syndrome = out_data[AnswerW-1-:8];
    m_pkt_tdata.psn      = out_data[24+LifeW+:24];
    m_pkt_tdata.msn      = out_data[LifeW+:24];
    m_pkt_tdata.life     = out_data[LifeW-1:0];
  end

  `ROCEGEN_ASSERT(queue_has_room, !enter3_q || queue_ready)
  `ROCEGEN_ASSERT(out_has_room, !get5_q || out_ready)
  // No answer is told its number of writes here, and of a set-up only the QP counts.
  logic unused;
  assign unused = ^{s_ack_tdata, s_cfg_tdata};

  `ROCEGEN_ASSERT(get_finds_queued, !get2_q || queued)
  `ROCEGEN_STREAM(cfg_contract, s_cfg_tvalid, s_cfg_tready, s_cfg_tdata)
  `ROCEGEN_STREAM(ack_contract, s_ack_tvalid, s_ack_tready, s_ack_tdata)

endmodule

`default_nettype wire
