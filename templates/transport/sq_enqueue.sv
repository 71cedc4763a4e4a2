// sq_enqueue: gives an admitted work request its PSNs and writes it into its slot.
//
// put_valid_i (at most every second cycle, only while room_o): a request with the ring index, ring
// and path MTU that sq_post found. Number of PSNs = max(1, ceil(length / MTU)), of a READ as well;
// an atomic has one, and so has (never sent) a request that is marked bad. The slot is base +
// (index mod 2^log2), its lap bit is bit log2 of the index. Three cycles later the slot is written
// (wqe_we_o, req_o, cpl_o) and the ring's new tail is told (tail_*_o). m_kick asks for a turn of
// the QP, in that cycle at the earliest, and sq_sched opens it 4 cycles later. Owns the PSN after
// the last request of every ring. set_valid_i (only while idle_o): ring emptied, first PSN taken.
// m_kick may stall: room_o falls in time.
//
// LowLatency: the tail is told a cycle earlier, m_kick comes two cycles earlier; sq_sched takes
// three. Whoever sees the new tail reads the slot no sooner than two cycles after.
//
// QpW: bits of a QPN, 1..14. SlotW: bits of a slot number, 1..20. IdxW: bits of a ring index, SlotW
// + 2. LowLatency: see above.
`include "rocegen_assert.svh"
`default_nettype none

module sq_enqueue #(
  parameter int QpW = 4,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int LowLatency = 0
) (
  input  logic              clk,
  input  logic              rst,
  output logic              room_o,
  output logic              idle_o,
  input  logic              put_valid_i,
  input  logic [QpW-1:0]    put_qpn_i,
  input  logic [IdxW-1:0]   put_idx_i,
  input  logic [2:0]        put_pmtu_i,
  input  logic [4:0]        put_log2_i,
  input  logic [SlotW-1:0]  put_base_i,
  input  roce_pkg::sq_req_t put_req_i,
  input  roce_pkg::sq_cpl_t put_cpl_i,
  input  logic              set_valid_i,
  input  logic [QpW-1:0]    set_qpn_i,
  input  logic [23:0]       set_psn_i,
  output logic              tail_we_o,
  output logic [QpW-1:0]    tail_qpn_o,
  output logic [IdxW-1:0]   tail_o,
  output logic              wqe_we_o,
  output logic [SlotW-1:0]  wqe_slot_o,
  output roce_pkg::sq_req_t req_o,
  output roce_pkg::sq_cpl_t cpl_o,
  output logic              m_kick_tvalid,
  input  logic              m_kick_tready,
  output logic [QpW-1:0]    m_kick_tdata
);

  if (IdxW != SlotW + 2 || SlotW < 1 || SlotW > 20) begin : gen_check_index
    $fatal(1, "sq_enqueue: SlotW must be in 1..20 and IdxW must be SlotW + 2");
  end

  localparam int Rows = 1 << QpW;
  localparam int KickDepth = 8;
  localparam int KickLevelW = $clog2(KickDepth + 1);

  // ---- number of packets, PSNs, slot ------------------------------------------------------------
  // Requests come two cycles apart at least, so the wide registers change every other stage only:
  // in_* in stages 1 and 2, out_* in stage 3.
  logic             v1_q;
  logic             v2_q;
  logic             v3_q;
  roce_pkg::sq_req_t in_req_q;
  roce_pkg::sq_cpl_t in_cpl_q;
  logic [QpW-1:0]   in_qpn_q;
  logic [IdxW-1:0]  in_idx_q;
  logic [2:0]       in_pmtu_q;
  logic [4:0]       in_log2_q;
  logic [SlotW-1:0] in_base_q;
  logic [23:0]      more_q;  // packets beyond the first
  logic [SlotW-1:0] slot_q;
  roce_pkg::sq_req_t out_req_q;
  roce_pkg::sq_cpl_t out_cpl_q;
  logic [QpW-1:0]   out_qpn_q;
  logic [IdxW-1:0]  out_idx_q;
  logic [23:0]      psn_q;
  logic [23:0]      psn_read;
  logic [23:0]      next_psn;
  logic             psn_fwd_q;
  logic [QpW-1:0]   psn_fwd_qpn_q;
  logic [23:0]      psn_fwd_psn_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      v1_q <= 1'b0;
      v2_q <= 1'b0;
      v3_q <= 1'b0;
    end else begin
      v1_q <= put_valid_i;
      v2_q <= v1_q;
      v3_q <= v2_q;
    end
  end

  always_ff @(posedge clk) begin
    if (put_valid_i) begin
      in_req_q  <= put_req_i;
      in_cpl_q  <= put_cpl_i;
      in_qpn_q  <= put_qpn_i;
      in_idx_q  <= put_idx_i;
      in_pmtu_q <= put_pmtu_i;
      in_log2_q <= put_log2_i;
      in_base_q <= put_base_i;
    end
  end

  // Stage 1: packets beyond the first = (length - 1) / MTU, none for length 0. Of an atomic length
  // is half an operand.
  logic [31:0]     last_byte;
  logic [23:0]     more;
  logic [IdxW-1:0] in_slot;
  logic            in_atomic;

  assign last_byte = in_req_q.length - 1'b1;
  assign in_atomic = in_req_q.op == roce_pkg::WrCmpSwap[3:0] ||
      in_req_q.op == roce_pkg::WrFetchAdd[3:0];

  always_comb begin
    case (in_pmtu_q)
      3'd1: more = last_byte[31:8];
      3'd2: more = {1'b0, last_byte[31:9]};
      3'd3: more = {2'b0, last_byte[31:10]};
      3'd4: more = {3'b0, last_byte[31:11]};
      default: more = {4'b0, last_byte[31:12]};
    endcase
    if (in_req_q.length == '0 || in_req_q.bad != roce_pkg::SqGood || in_atomic) more = '0;
  end

  assign in_slot = in_idx_q & ~({IdxW{1'b1}} << in_log2_q);

  always_ff @(posedge clk) begin
    if (v1_q) begin
      more_q <= more;
      slot_q <= in_base_q + in_slot[SlotW-1:0];
    end
  end

  // Stage 2: the PSN of the first packet.
  always_ff @(posedge clk) begin
    if (v2_q) begin
      out_req_q <= in_req_q;
      out_cpl_q <= in_cpl_q;
      out_qpn_q <= in_qpn_q;
      out_idx_q <= in_idx_q;
      psn_q     <= (psn_fwd_q && psn_fwd_qpn_q == in_qpn_q) ? psn_fwd_psn_q : psn_read;
    end
  end

  // Stage 3: write.
  assign next_psn = psn_q + more_q + 1'b1;

  always_ff @(posedge clk) begin
    if (rst || set_valid_i) psn_fwd_q <= 1'b0;
    else if (v3_q) psn_fwd_q <= 1'b1;
  end

  always_ff @(posedge clk) begin
    if (v3_q) begin
      psn_fwd_qpn_q <= out_qpn_q;
      psn_fwd_psn_q <= next_psn;
    end
  end

  ram_sdp #(
    .Width(24),
    .Depth(Rows)
  ) u_psn (
    .clk(clk),
    .wr_en_i(set_valid_i || v3_q),
    .wr_addr_i(set_valid_i ? set_qpn_i : out_qpn_q),
    .wr_data_i(set_valid_i ? set_psn_i : next_psn),
    .rd_en_i(1'b1),
    .rd_addr_i(in_qpn_q),
    .rd_data_o(psn_read)
  );

  always_comb begin
    req_o = out_req_q;
    cpl_o = out_cpl_q;
    req_o.first_psn = psn_q;
    req_o.last_psn = psn_q + more_q;
    cpl_o.last_psn = psn_q + more_q;
  end

  // Simulations start with random registers: no write before the first cycle of reset is over.
  assign wqe_we_o   = v3_q && !rst;
  assign wqe_slot_o = slot_q;
  assign tail_we_o  = set_valid_i || (LowLatency != 0 ? v2_q : v3_q);
  assign tail_qpn_o = set_valid_i ? set_qpn_i : LowLatency != 0 ? in_qpn_q : out_qpn_q;
  assign tail_o     = set_valid_i ? '0 : (LowLatency != 0 ? in_idx_q : out_idx_q) + 1'b1;
  assign idle_o     = !v1_q && !v2_q && !v3_q;

  // ---- kicks: at most two requests are between room_o and here ----------------------------------
  // A kick leaves two cycles after v1_q, when the tail is told; the list takes four more. With
  // LowLatency it leaves a cycle before the tail is told; the list takes three.
  logic                  kick;
  logic                  room_q;
  logic                  kick_ready;
  logic [KickLevelW-1:0] kick_level;

  assign kick = LowLatency != 0 ? put_valid_i : v1_q;

  stream_fifo #(
    .Width(QpW),
    .Depth(KickDepth),
    .Bypass(LowLatency)
  ) u_kick (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(kick),
    .s_axis_tready(kick_ready),
    .s_axis_tdata(LowLatency != 0 ? put_qpn_i : in_qpn_q),
    .m_axis_tvalid(m_kick_tvalid),
    .m_axis_tready(m_kick_tready),
    .m_axis_tdata(m_kick_tdata),
    .level_o(kick_level)
  );

  always_ff @(posedge clk) begin
    if (rst) room_q <= 1'b0;
    else room_q <= kick_level <= KickLevelW'(KickDepth - 4);
  end

  assign room_o = room_q;

  // The PSNs are put in at the end; the slot number needs only the low bits.
  logic unused;
  assign unused = ^{last_byte[7:0], in_slot[IdxW-1:SlotW], kick_ready, out_req_q.first_psn,
      out_req_q.last_psn, out_cpl_q.last_psn};

  `ROCEGEN_ASSERT(kick_never_lost, !kick || kick_ready)
  `ROCEGEN_ASSERT(put_spaced, !put_valid_i || !v1_q)
  `ROCEGEN_ASSERT(set_while_idle, !set_valid_i || (idle_o && !put_valid_i))

endmodule

`default_nettype wire
