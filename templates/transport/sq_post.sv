// sq_post: takes work requests and puts them into the send rings of their queue pairs (by
// sq_enqueue).
//
// s_wqe, in order: a request of a QP in RTS, SQD or ERR gets the next slot of the QP's ring, then
// m_kick asks for a turn of the QP. When the ring is full the stream waits until the QP has
// completed a request. A request that cannot be queued (QPN >= QpCount, QP never set up or in
// RESET, INIT, RTR) is answered at once on m_reject: a completion with WcLocQpOpErr. A request that
// cannot be executed is queued with a mark. SqBadOp: unknown opcode or flag; READ or atomic of a QP
// that may have none outstanding (max_rd 0). SqBadLen: length above 2^31; a READ of more than 2^22
// packets. The length of an atomic is not looked at: it is 8. Completions carry the WcOp* of the
// opcode (WcOpSend of an unknown one). The solicited flag counts only where a receive completes.
//
// Owns the tail of every ring; tells it on tail_*_o in the cycle in which the slot is written
// (wqe_*_o, req_o, cpl_o). set_valid_i (with hold_i high and idle_o high): takes the QP's ring and
// MTU, empties the ring. hold_i: takes nothing from the lookup on; idle_o: nothing is on its way
// into a ring.
//
// Throughput: a request every 2 cycles, from one QP or many. Latency: slot written 6 cycles after
// the request was taken. m_kick and m_reject may stall; they hold back s_wqe, never hold_i's
// idle_o.
//
// QpCount: 1..16384, QpW: bits of a QPN below it. SlotW: bits of a slot number, 1..20. IdxW: bits
// of a ring index, SlotW + 2.
`include "rocegen_assert.svh"
`default_nettype none

module sq_post #(
  parameter int QpCount = 16,
  parameter int QpW = 4,
  parameter int SlotW = 8,
  parameter int IdxW = 10
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  enable_i,
  input  logic                  hold_i,
  output logic                  idle_o,
  input  logic                  s_wqe_tvalid,
  output logic                  s_wqe_tready,
  input  roce_pkg::wqe_t        s_wqe_tdata,
  input  logic                  set_valid_i,
  input  roce_pkg::qp_cfg_t     set_i,
  input  logic                  state_we_i,
  input  logic [QpW-1:0]        state_qpn_i,
  input  logic [2:0]            state_i,
  input  logic                  head_we_i,
  input  logic [QpW-1:0]        head_qpn_i,
  input  logic [IdxW-1:0]       head_i,
  output logic                  tail_we_o,
  output logic [QpW-1:0]        tail_qpn_o,
  output logic [IdxW-1:0]       tail_o,
  output logic                  wqe_we_o,
  output logic [SlotW-1:0]      wqe_slot_o,
  output roce_pkg::sq_req_t     req_o,
  output roce_pkg::sq_cpl_t     cpl_o,
  output logic                  m_kick_tvalid,
  input  logic                  m_kick_tready,
  output logic [QpW-1:0]        m_kick_tdata,
  output logic                  m_reject_tvalid,
  input  logic                  m_reject_tready,
  output roce_pkg::cqe_t        m_reject_tdata,
  output logic                  ready_o,
  output logic                  cnt_sq_wqes_o,
  output logic                  cnt_sq_wqes_bad_o,
  output logic                  cnt_sq_wqes_rejected_o,
  output logic                  cnt_sq_ring_full_o
);

  if (IdxW != SlotW + 2 || SlotW < 1 || SlotW > 20) begin : gen_check_index
    $fatal(1, "sq_post: SlotW must be in 1..20 and IdxW must be SlotW + 2");
  end

  localparam int Rows = 1 << QpW;

  // ---- lookup: everything that is known of the request's QP -------------------------------------
  roce_pkg::wqe_t   wqe_q;  // the request that is looked up
  logic             wqe_valid_q;
  logic             read_q;  // the tables' outputs belong to wqe_q
  logic             found_q;  // the registers below belong to wqe_q
  logic             waiting_q;  // wqe_q found its ring full
  logic [2:0]       state_q;
  logic [IdxW-1:0]  head_q;
  logic [IdxW-1:0]  tail_q;
  logic             reads_q;  // READs and atomics are allowed
  logic [2:0]       pmtu_q;
  logic [4:0]       log2_q;
  logic [SlotW-1:0] base_q;

  logic             load;
  logic             decide;
  logic             queueable;
  logic             full;
  logic             accept;
  logic             reject;
  logic             room;
  logic             reject_valid_q;
  logic             look_again;
  logic [QpW-1:0]   look_qpn;

  assign decide = wqe_valid_q && found_q && !hold_i;
  assign accept = decide && queueable && !full && room;
  assign reject = decide && !queueable && !reject_valid_q;
  assign s_wqe_tready = enable_i && !hold_i && (!wqe_valid_q || accept || reject);
  assign load = s_wqe_tvalid && s_wqe_tready;
  // A request that is decided on makes room for the next, which is looked up in the same cycle; one
  // that could not be is looked up again in the cycle after.
  assign look_again = wqe_valid_q && !read_q && !found_q;
  assign look_qpn = look_again ? wqe_q.qpn[QpW-1:0] : s_wqe_tdata.qpn[QpW-1:0];

  always_ff @(posedge clk) begin
    if (rst) begin
      wqe_valid_q <= 1'b0;
      read_q      <= 1'b0;
      found_q     <= 1'b0;
      waiting_q   <= 1'b0;
    end else begin
      if (load) wqe_valid_q <= 1'b1;
      else if (accept || reject) wqe_valid_q <= 1'b0;
      // What was read before a set-up may be old: hold_i makes it be read again.
      read_q  <= load || (look_again && !hold_i);
      found_q <= read_q && !hold_i;
      if (accept || reject) waiting_q <= 1'b0;
      else if (decide && queueable && full) waiting_q <= 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (load) wqe_q <= s_wqe_tdata;
  end

  logic [2:0]         state_read;
  logic [IdxW-1:0]    head_read;
  logic [IdxW-1:0]    tail_read;
  logic [8+SlotW:0]   static_read;
  logic [QpW-1:0]     set_qpn;
  logic               tail_fwd_q;  // the tail written last, for a lookup that came too early
  logic [QpW-1:0]     tail_fwd_qpn_q;
  logic [IdxW-1:0]    tail_fwd_idx_q;

  assign set_qpn = set_i.qpn[QpW-1:0];

  always_ff @(posedge clk) begin
    if (rst || set_valid_i) tail_fwd_q <= 1'b0;
    else if (accept) tail_fwd_q <= 1'b1;
  end

  always_ff @(posedge clk) begin
    if (accept) begin
      tail_fwd_qpn_q <= wqe_q.qpn[QpW-1:0];
      tail_fwd_idx_q <= tail_q + 1'b1;
    end
    if (read_q) begin
      state_q <= state_read;
      head_q  <= head_read;
      tail_q  <= (tail_fwd_q && tail_fwd_qpn_q == wqe_q.qpn[QpW-1:0]) ? tail_fwd_idx_q : tail_read;
      {reads_q, pmtu_q, log2_q, base_q} <= static_read;
    end
  end

  ram_clear #(
    .Width(3),
    .Depth(Rows)
  ) u_state (
    .clk(clk),
    .rst(rst),
    .wr_en_i(state_we_i),
    .wr_addr_i(state_qpn_i),
    .wr_data_i(state_i),
    .rd_en_i(1'b1),
    .rd_addr_i(look_qpn),
    .rd_data_o(state_read),
    .ready_o(ready_o)
  );

  ram_sdp #(
    .Width(IdxW),
    .Depth(Rows)
  ) u_head (
    .clk(clk),
    .wr_en_i(head_we_i),
    .wr_addr_i(head_qpn_i),
    .wr_data_i(head_i),
    .rd_en_i(1'b1),
    .rd_addr_i(look_qpn),
    .rd_data_o(head_read)
  );

  ram_sdp #(
    .Width(IdxW),
    .Depth(Rows)
  ) u_tail (
    .clk(clk),
    .wr_en_i(set_valid_i || accept),
    .wr_addr_i(set_valid_i ? set_qpn : wqe_q.qpn[QpW-1:0]),
    .wr_data_i(set_valid_i ? '0 : tail_q + 1'b1),
    .rd_en_i(1'b1),
    .rd_addr_i(look_qpn),
    .rd_data_o(tail_read)
  );

  ram_sdp #(
    .Width(9 + SlotW),
    .Depth(Rows)
  ) u_static (
    .clk(clk),
    .wr_en_i(set_valid_i),
    .wr_addr_i(set_qpn),
    .wr_data_i({set_i.max_rd != '0, set_i.pmtu, set_i.sq_log2, set_i.sq_base[SlotW-1:0]}),
    .rd_en_i(1'b1),
    .rd_addr_i(look_qpn),
    .rd_data_o(static_read)
  );

  // ---- what is asked for: worked out during the lookup ------------------------------------------
  logic       writes, sends, cmp_swap, fetch_add, read_op;
  logic       known_q, read_op_q, atomic_q, cmp_swap_q, receive_q;
  logic [3:0] wc_op_q;
  logic       long_q;  // above 2^31
  logic       half_q;  // above 2^30

  assign writes    = wqe_q.opcode == roce_pkg::WrWrite || wqe_q.opcode == roce_pkg::WrWriteImm;
  assign sends     = wqe_q.opcode == roce_pkg::WrSend || wqe_q.opcode == roce_pkg::WrSendImm ||
      wqe_q.opcode == roce_pkg::WrSendInv;
  assign read_op   = wqe_q.opcode == roce_pkg::WrRead;
  assign cmp_swap  = wqe_q.opcode == roce_pkg::WrCmpSwap;
  assign fetch_add = wqe_q.opcode == roce_pkg::WrFetchAdd;

  always_ff @(posedge clk) begin
    known_q    <= (writes || sends || read_op || cmp_swap || fetch_add) &&
        wqe_q.flags[7:3] == '0;
    read_op_q  <= read_op;
    atomic_q   <= cmp_swap || fetch_add;
    cmp_swap_q <= cmp_swap;
    receive_q  <= sends || wqe_q.opcode == roce_pkg::WrWriteImm;
    wc_op_q    <= writes ? roce_pkg::WcOpWrite[3:0] : read_op ? roce_pkg::WcOpRead[3:0] :
        cmp_swap ? roce_pkg::WcOpCmpSwap[3:0] : fetch_add ? roce_pkg::WcOpFetchAdd[3:0] :
        roce_pkg::WcOpSend[3:0];
    long_q     <= wqe_q.length[31] && wqe_q.length[30:0] != '0;
    half_q     <= wqe_q.length[31] || (wqe_q.length[30] && wqe_q.length[29:0] != '0);
  end

  // ---- decide -----------------------------------------------------------------------------------
  logic [31:0] tail_bits;
  logic [31:0] differ;
  logic [31:0] ring;
  logic [1:0]  bad;

  assign queueable = wqe_q.qpn < 24'(QpCount) && (state_q == roce_pkg::QpRts ||
      state_q == roce_pkg::QpSqd || state_q == roce_pkg::QpErr);
  // Never more than 2^log2 requests are in a ring, so it is full when head and tail differ in just
  // the bit above the slot number.
  assign tail_bits = 32'(tail_q);
  assign differ    = 32'(tail_q) ^ 32'(head_q);
  assign ring      = 32'd1 << log2_q;
  assign full      = (differ & (ring | (ring - 1'b1))) == ring;

  always_comb begin
    bad = roce_pkg::SqGood;
    if (!atomic_q && (long_q || (read_op_q && pmtu_q == 3'd1 && half_q))) bad = roce_pkg::SqBadLen;
    if (!known_q || ((read_op_q || atomic_q) && !reads_q)) bad = roce_pkg::SqBadOp;
  end

  // ---- hand over --------------------------------------------------------------------------------
  roce_pkg::sq_req_t put_req;
  roce_pkg::sq_cpl_t put_cpl;

  always_comb begin
    put_req        = '0;
    put_req.lap    = tail_bits[log2_q];
    put_req.bad    = bad;
    put_req.op     = wqe_q.opcode[3:0];
    put_req.fence  = wqe_q.flags[roce_pkg::WqeFence];
    put_req.se     = wqe_q.flags[roce_pkg::WqeSolicited] && receive_q;
    put_req.target = wqe_q.target;
    put_req.laddr  = wqe_q.laddr;
    put_req.raddr  = wqe_q.raddr;
    put_req.rkey   = wqe_q.rkey;
    put_req.length = wqe_q.length;
    put_req.imm    = wqe_q.imm;
    if (atomic_q) {put_req.length, put_req.imm} = wqe_q.swap_add;
    if (cmp_swap_q) put_req.compare = wqe_q.compare;
    put_cpl          = '0;
    put_cpl.signaled = wqe_q.flags[roce_pkg::WqeSignaled];
    put_cpl.read     = read_op_q || atomic_q;
    put_cpl.opcode   = wc_op_q;
    put_cpl.length   = atomic_q ? 32'd8 : wqe_q.length;
    put_cpl.wr_id    = wqe_q.wr_id;
  end

  sq_enqueue #(
    .QpW(QpW),
    .SlotW(SlotW),
    .IdxW(IdxW)
  ) u_enqueue (
    .clk(clk),
    .rst(rst),
    .room_o(room),
    .idle_o(idle_o),
    .put_valid_i(accept),
    .put_qpn_i(wqe_q.qpn[QpW-1:0]),
    .put_idx_i(tail_q),
    .put_pmtu_i(pmtu_q),
    .put_log2_i(log2_q),
    .put_base_i(base_q),
    .put_req_i(put_req),
    .put_cpl_i(put_cpl),
    .set_valid_i(set_valid_i),
    .set_qpn_i(set_qpn),
    .set_psn_i(set_i.sq_psn),
    .tail_we_o(tail_we_o),
    .tail_qpn_o(tail_qpn_o),
    .tail_o(tail_o),
    .wqe_we_o(wqe_we_o),
    .wqe_slot_o(wqe_slot_o),
    .req_o(req_o),
    .cpl_o(cpl_o),
    .m_kick_tvalid(m_kick_tvalid),
    .m_kick_tready(m_kick_tready),
    .m_kick_tdata(m_kick_tdata)
  );

  // ---- answers to requests that no ring takes ---------------------------------------------------
  logic [23:0] reject_qpn_q;
  logic [7:0]  reject_opcode_q;
  logic [63:0] reject_wr_id_q;

  always_ff @(posedge clk) begin
    if (rst) reject_valid_q <= 1'b0;
    else if (reject) reject_valid_q <= 1'b1;
    else if (m_reject_tready) reject_valid_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (reject) begin
      reject_qpn_q    <= wqe_q.qpn;
      reject_opcode_q <= 8'(wc_op_q);
      reject_wr_id_q  <= wqe_q.wr_id;
    end
  end

  assign m_reject_tvalid = reject_valid_q;

  always_comb begin
    m_reject_tdata        = '0;
    m_reject_tdata.wr_id  = reject_wr_id_q;
    m_reject_tdata.qpn    = reject_qpn_q;
    m_reject_tdata.opcode = reject_opcode_q;
    m_reject_tdata.status = roce_pkg::WcLocQpOpErr;
  end

  // ---- counters ---------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_sq_wqes_o          <= 1'b0;
      cnt_sq_wqes_bad_o      <= 1'b0;
      cnt_sq_wqes_rejected_o <= 1'b0;
      cnt_sq_ring_full_o     <= 1'b0;
    end else begin
      cnt_sq_wqes_o          <= accept;
      cnt_sq_wqes_bad_o      <= accept && bad != roce_pkg::SqGood;
      cnt_sq_wqes_rejected_o <= reject;
      cnt_sq_ring_full_o     <= decide && queueable && full && !waiting_q;
    end
  end

  // Fields of the records that nobody needs here.
  logic unused;
  assign unused = ^{wqe_q, set_i};

  `ROCEGEN_ASSERT(set_while_idle, !set_valid_i || (idle_o && hold_i))

endmodule

`default_nettype wire
