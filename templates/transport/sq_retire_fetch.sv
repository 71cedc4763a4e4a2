// sq_retire_fetch: reads what sq_retire has to know of a QP and its oldest requests.
//
// Takes a QP from the work list (s_qp) and puts out its turn as tokens on tok_*_o: an opening token
// (tok_request_o 0), then one for each request to look at, from the head on: at most TurnMax, not
// more than packets were acknowledged (unless the QP is in ERR). tok_last_o marks the last token of
// a turn, tok_full_o a turn that reached TurnMax. QP, its state and `flushing` come with every
// token, as do tok_reads_o, how many READs and atomics behind the retired ones have their data in
// memory (at most TurnMax), and tok_quiet_o, that no data is on its way there. Tokens never wait:
// each request takes a credit beforehand, which credit_a_i and credit_b_i give back. hold_i: no QP
// is taken and the turn ends with a token that has tok_cut_o, credit or not. idle_o: no token is
// left here. own_*_i is what sq_retire keeps of a QP: {head, first PSN of the request at the head,
// READs and atomics retired, flushing, named}.
//
// Throughput: a token a cycle, a turn every 2 cycles. Latency: 8 cycles from s_qp to the first
// request.
//
// QpW: bits of a QPN. WqeSlots: slots in the request memory, 2..2^20. SlotW: bits of a slot number.
// IdxW: bits of a ring index, SlotW + 2. ReadW: bits of a number of READs, at least SlotW + 1.
// TurnMax: 1..8. Credits: 1..64.
`default_nettype none

module sq_retire_fetch #(
  parameter int QpW = 4,
  parameter int WqeSlots = 256,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int ReadW = 9,
  parameter int TurnMax = 8,
  parameter int Credits = 16
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
  input  logic                own_we_i,
  input  logic [QpW-1:0]      own_qpn_i,
  input  logic [IdxW-1:0]     own_head_i,
  input  logic [23:0]         own_psn_i,
  input  logic [ReadW-1:0]    own_reads_i,
  input  logic                own_flushing_i,
  input  logic                own_named_i,
  input  logic                credit_a_i,
  input  logic                credit_b_i,
  input  logic                s_qp_tvalid,
  output logic                s_qp_tready,
  input  logic [QpW-1:0]      s_qp_tdata,
  output logic                tok_valid_o,
  output logic                tok_request_o,
  output logic                tok_cut_o,
  output logic                tok_last_o,
  output logic                tok_full_o,
  output logic                tok_flushing_o,
  output logic                tok_named_o,
  output logic [3:0]          tok_reads_o,
  output logic [ReadW-1:0]    tok_retired_o,
  output logic                tok_quiet_o,
  output logic [QpW-1:0]      tok_qpn_o,
  output logic [IdxW-1:0]     tok_idx_o,
  output roce_pkg::sq_state_t tok_state_o,
  output roce_pkg::sq_cpl_t   tok_cpl_o
);

  if (IdxW != SlotW + 2 || SlotW < 1 || SlotW > 20) begin : gen_check_index
    $fatal(1, "sq_retire_fetch: SlotW must be in 1..20 and IdxW must be SlotW + 2");
  end
  if (TurnMax < 1 || TurnMax > 8) begin : gen_check_turn
    $fatal(1, "sq_retire_fetch: TurnMax must be in 1..8");
  end

  localparam int Rows = 1 << QpW;
  localparam int OwnW = IdxW + 26 + ReadW;
  localparam int CreditW = $clog2(Credits + 1);

  // ---- take a QP, read its tables ---------------------------------------------------------------
  logic           read_q;
  logic [QpW-1:0] read_qpn_q;
  logic           got_valid_q;
  logic           got_go;
  logic           pop;

  assign s_qp_tready = !hold_i && !read_q && (!got_valid_q || got_go);
  assign pop = s_qp_tvalid && s_qp_tready;

  always_ff @(posedge clk) begin
    if (rst) begin
      read_q      <= 1'b0;
      got_valid_q <= 1'b0;
    end else begin
      read_q <= pop;
      if (read_q) got_valid_q <= 1'b1;
      else if (got_go) got_valid_q <= 1'b0;
    end
  end

  logic [SlotW+4:0]    ring_read;
  roce_pkg::sq_state_t state_read;
  logic [OwnW-1:0]     own_read;
  logic [IdxW-1:0]     tail_read;
  logic [ReadW+15:0]   done_read;

  ram_sdp #(
    .Width(5 + SlotW),
    .Depth(Rows)
  ) u_ring (
    .clk(clk),
    .wr_en_i(set_valid_i),
    .wr_addr_i(set_i.qpn[QpW-1:0]),
    .wr_data_i({set_i.sq_log2, set_i.sq_base[SlotW-1:0]}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(ring_read)
  );

  ram_sdp #(
    .Width(roce_pkg::SqStateW),
    .Depth(Rows)
  ) u_state (
    .clk(clk),
    .wr_en_i(state_we_i),
    .wr_addr_i(state_qpn_i),
    .wr_data_i(state_i),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(state_read)
  );

  ram_sdp #(
    .Width(OwnW),
    .Depth(Rows)
  ) u_own (
    .clk(clk),
    .wr_en_i(own_we_i),
    .wr_addr_i(own_qpn_i),
    .wr_data_i({own_head_i, own_psn_i, own_reads_i, own_flushing_i, own_named_i}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(own_read)
  );

  ram_sdp #(
    .Width(IdxW),
    .Depth(Rows)
  ) u_tail (
    .clk(clk),
    .wr_en_i(tail_we_i),
    .wr_addr_i(tail_qpn_i),
    .wr_data_i(tail_i),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(tail_read)
  );

  ram_sdp #(
    .Width(ReadW + 16),
    .Depth(Rows)
  ) u_done (
    .clk(clk),
    .wr_en_i(done_we_i),
    .wr_addr_i(done_qpn_i),
    .wr_data_i({done_reads_i, done_rx_i}),
    .rd_en_i(1'b1),
    .rd_addr_i(s_qp_tdata),
    .rd_data_o(done_read)
  );

  logic [QpW-1:0]      got_qpn_q;
  logic [SlotW+4:0]    got_ring_q;
  roce_pkg::sq_state_t got_state_q;
  logic [IdxW-1:0]     got_head_q;
  logic [23:0]         got_head_psn_q;
  logic                got_flushing_q;
  logic                got_named_q;
  logic [ReadW-1:0]    got_retired_q;
  logic [ReadW-1:0]    got_reads_q;  // in memory
  logic [15:0]         got_rx_q;
  logic [IdxW-1:0]     got_tail_q;

  always_ff @(posedge clk) begin
    if (pop) read_qpn_q <= s_qp_tdata;
    if (read_q) begin
      got_qpn_q   <= read_qpn_q;
      got_ring_q  <= ring_read;
      got_state_q <= state_read;
      got_tail_q  <= tail_read;
      {got_head_q, got_head_psn_q, got_retired_q, got_flushing_q, got_named_q} <= own_read;
      {got_reads_q, got_rx_q} <= done_read;
    end
  end

  // ---- how many requests to look at: not more than packets were acknowledged --------------------
  logic                dif_valid_q;
  logic                dif_go;
  logic [QpW-1:0]      dif_qpn_q;
  logic [SlotW+4:0]    dif_ring_q;
  roce_pkg::sq_state_t dif_state_q;
  logic [IdxW-1:0]     dif_head_q;
  logic                dif_flushing_q;
  logic                dif_named_q;
  logic [ReadW-1:0]    dif_retired_q;
  logic [ReadW-1:0]    dif_reads_q;
  logic                dif_quiet_q;
  logic [IdxW-1:0]     dif_waiting_q;
  logic [23:0]         dif_acked_q;

  assign got_go = got_valid_q && (!dif_valid_q || dif_go);

  always_ff @(posedge clk) begin
    if (rst) dif_valid_q <= 1'b0;
    else if (got_go) dif_valid_q <= 1'b1;
    else if (dif_go) dif_valid_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (got_go) begin
      dif_qpn_q      <= got_qpn_q;
      dif_ring_q     <= got_ring_q;
      dif_state_q    <= got_state_q;
      dif_head_q     <= got_head_q;
      dif_flushing_q <= got_flushing_q;
      dif_named_q    <= got_named_q;
      dif_retired_q  <= got_retired_q;
      dif_reads_q    <= got_reads_q - got_retired_q;
      dif_quiet_q    <= got_rx_q == got_state_q.rx;
      dif_waiting_q  <= got_tail_q - got_head_q;
      dif_acked_q    <= got_state_q.una - got_head_psn_q;
    end
  end

  logic [31:0] waiting;
  logic [3:0]  look_ring;
  logic [3:0]  look_acked;
  logic [3:0]  look;
  logic        failed;
  logic        live;

  assign waiting    = 32'(dif_waiting_q);
  assign look_ring  = waiting >= 32'(TurnMax) ? 4'(TurnMax) : waiting[3:0];
  assign look_acked = dif_acked_q >= 24'(TurnMax) ? 4'(TurnMax) : dif_acked_q[3:0];
  assign failed     = dif_state_q.state == roce_pkg::QpErr;
  assign live       = failed || dif_state_q.state == roce_pkg::QpRts ||
      dif_state_q.state == roce_pkg::QpSqd;

  always_comb begin
    look = (failed || look_ring < look_acked) ? look_ring : look_acked;
    if (!live) look = '0;
  end

  // ---- fetch: an opening token, then the requests -----------------------------------------------
  logic                turn_valid_q;
  logic                turn_open_q;
  logic [QpW-1:0]      turn_qpn_q;
  logic [SlotW+4:0]    turn_ring_q;
  roce_pkg::sq_state_t turn_state_q;
  logic                turn_flushing_q;
  logic                turn_named_q;
  logic [3:0]          turn_reads_q;
  logic [ReadW-1:0]    turn_retired_q;
  logic                turn_quiet_q;
  logic [IdxW-1:0]     turn_idx_q;
  logic [3:0]          turn_left_q;
  logic                turn_full_q;
  logic [CreditW-1:0]  credit_q;
  logic [CreditW-1:0]  credit_d;
  logic                issue;
  logic                issue_cut;
  logic                issue_last;
  logic [IdxW-1:0]     offset;

  assign issue_cut  = hold_i;
  assign issue      = turn_valid_q && (!turn_open_q || issue_cut || credit_q != '0);
  assign issue_last = issue_cut || (turn_open_q ? turn_left_q == 4'd1 : turn_left_q == '0);
  assign dif_go     = dif_valid_q && (!turn_valid_q || (issue && issue_last));

  assign credit_d = credit_q - CreditW'(issue && turn_open_q && !issue_cut) + CreditW'(credit_a_i) +
      CreditW'(credit_b_i);

  always_ff @(posedge clk) begin
    if (rst) begin
      turn_valid_q <= 1'b0;
      turn_open_q  <= 1'b0;
      credit_q     <= CreditW'(Credits);
    end else begin
      if (dif_go) begin
        turn_valid_q <= 1'b1;
        turn_open_q  <= 1'b0;
      end else if (issue) begin
        turn_valid_q <= !issue_last;
        turn_open_q  <= 1'b1;
      end
      credit_q <= credit_d;
    end
  end

  always_ff @(posedge clk) begin
    if (dif_go) begin
      turn_qpn_q      <= dif_qpn_q;
      turn_ring_q     <= dif_ring_q;
      turn_state_q    <= dif_state_q;
      turn_flushing_q <= dif_flushing_q;
      turn_named_q    <= dif_named_q;
      turn_reads_q    <= dif_reads_q >= ReadW'(TurnMax) ? 4'(TurnMax) : dif_reads_q[3:0];
      turn_retired_q  <= dif_retired_q;
      turn_quiet_q    <= dif_quiet_q;
      turn_idx_q      <= dif_head_q;
      turn_left_q     <= look;
      turn_full_q     <= look == 4'(TurnMax);
    end else if (issue && turn_open_q) begin
      turn_idx_q  <= turn_idx_q + 1'b1;
      turn_left_q <= turn_left_q - 1'b1;
    end
  end

  assign offset = turn_idx_q & ~({IdxW{1'b1}} << turn_ring_q[SlotW+4:SlotW]);

  // ---- the request memory: three cycles ---------------------------------------------------------
  localparam int MarkW = 11 + ReadW + QpW + IdxW + roce_pkg::SqStateW;

  logic             p0_valid_q;
  logic             p1_valid_q;
  logic             p2_valid_q;
  logic [MarkW-1:0] p0_q;
  logic [MarkW-1:0] p1_q;
  logic [MarkW-1:0] p2_q;
  logic [SlotW-1:0] p0_slot_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      p0_valid_q <= 1'b0;
      p1_valid_q <= 1'b0;
      p2_valid_q <= 1'b0;
    end else begin
      p0_valid_q <= issue;
      p1_valid_q <= p0_valid_q;
      p2_valid_q <= p1_valid_q;
    end
  end

  always_ff @(posedge clk) begin
    p0_q <= {turn_open_q && !issue_cut, issue_cut, issue_last, turn_full_q, turn_flushing_q,
        turn_named_q, turn_reads_q, turn_retired_q, turn_quiet_q, turn_qpn_q, turn_idx_q,
        turn_state_q};
    p0_slot_q <= turn_ring_q[SlotW-1:0] + offset[SlotW-1:0];
    p1_q <= p0_q;
    p2_q <= p1_q;
  end

  ram_sdp #(
    .Width(roce_pkg::SqCplW),
    .Depth(WqeSlots),
    .Latency(2),
    .Style(WqeSlots >= 4096 ? 2 : 0)
  ) u_requests (
    .clk(clk),
    .wr_en_i(wqe_we_i),
    .wr_addr_i(wqe_slot_i),
    .wr_data_i(cpl_i),
    .rd_en_i(1'b1),
    .rd_addr_i(p0_slot_q),
    .rd_data_o(tok_cpl_o)
  );

  assign tok_valid_o = p2_valid_q;
  assign {tok_request_o, tok_cut_o, tok_last_o, tok_full_o, tok_flushing_o, tok_named_o,
      tok_reads_o, tok_retired_o, tok_quiet_o, tok_qpn_o, tok_idx_o, tok_state_o} = p2_q;
  assign idle_o = !read_q && !got_valid_q && !dif_valid_q && !turn_valid_q && !p0_valid_q &&
      !p1_valid_q && !p2_valid_q;

  logic unused;
  assign unused = ^{set_i, offset[IdxW-1:SlotW]};

endmodule

`default_nettype wire
