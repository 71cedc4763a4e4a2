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
// the request was taken (LowLatency: 5). m_kick and m_reject may stall; they hold back s_wqe, never
// hold_i's idle_o.
//
// QpCount: 1..16384, QpW: bits of a QPN below it. SlotW: bits of a slot number, 1..20. IdxW: bits
// of a ring index, SlotW + 2. LowLatency: 1, without the register behind the tables.
`include "rocegen_assert.svh"
`default_nettype none

module sq_post #(
  parameter int QpCount = 16,
  parameter int QpW = 4,
  parameter int SlotW = 8,
  parameter int IdxW = 10,
  parameter int LowLatency = 0
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
  logic             found;  // all that follows belongs to wqe_q
  logic             waiting_q;  // wqe_q found its ring full
  logic [2:0]       qp_state;
  logic [IdxW-1:0]  head;
  logic [IdxW-1:0]  tail;
  logic             reads;  // READs and atomics are allowed
  logic [2:0]       pmtu;
  logic [4:0]       log2;
  logic [SlotW-1:0] base;
  logic [IdxW-1:0]  ring;  // places of the ring
  logic [IdxW-1:0]  mask;  // bits of an index that tell full from empty

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

  assign decide = wqe_valid_q && found && !hold_i;
  assign accept = decide && queueable && !full && room;
  assign reject = decide && !queueable && !reject_valid_q;
  // A request that is decided on makes room for the next, which is looked up in the same cycle (if
  // the two would not come too close for sq_enqueue); one that could not be is looked up again in
  // the cycle after.
  assign s_wqe_tready = enable_i && !hold_i &&
      (!wqe_valid_q || (LowLatency == 0 && (accept || reject)));
  assign load = s_wqe_tvalid && s_wqe_tready;
  assign look_again = wqe_valid_q && !read_q && (LowLatency != 0 || !found);
  assign look_qpn = look_again ? wqe_q.qpn[QpW-1:0] : s_wqe_tdata.qpn[QpW-1:0];

  always_ff @(posedge clk) begin
    if (rst) begin
      wqe_valid_q <= 1'b0;
      read_q      <= 1'b0;
      waiting_q   <= 1'b0;
    end else begin
      if (load) wqe_valid_q <= 1'b1;
      else if (accept || reject) wqe_valid_q <= 1'b0;
      // What was read before a set-up may be old: hold_i makes it be read again.
      read_q  <= load || (look_again && !hold_i);
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
  logic [IdxW-1:0]    ring_read;
  logic [IdxW-1:0]    mask_read;
  logic [QpW-1:0]     set_qpn;
  logic               tail_fwd_q;  // the tail written last, for a lookup that came too early
  logic [QpW-1:0]     tail_fwd_qpn_q;
  logic [IdxW-1:0]    tail_fwd_idx_q;
  logic [IdxW-1:0]    tail_now;

  assign set_qpn = set_i.qpn[QpW-1:0];

  always_ff @(posedge clk) begin
    if (rst || set_valid_i) tail_fwd_q <= 1'b0;
    else if (accept) tail_fwd_q <= 1'b1;
  end

  always_ff @(posedge clk) begin
    if (accept) begin
      tail_fwd_qpn_q <= wqe_q.qpn[QpW-1:0];
      tail_fwd_idx_q <= tail + 1'b1;
    end
  end

  // A ring fits into the memory: its size has SlotW + 1 bits at most.
  assign ring_read = IdxW'(32'd1 << static_read[SlotW +: 5]);
  assign mask_read = IdxW'((32'd2 << static_read[SlotW +: 5]) - 1'b1);

  assign tail_now =
      (tail_fwd_q && tail_fwd_qpn_q == wqe_q.qpn[QpW-1:0]) ? tail_fwd_idx_q : tail_read;

  if (LowLatency != 0) begin : gen_found_direct
    assign found    = read_q;
    assign qp_state = state_read;
    assign head     = head_read;
    assign tail     = tail_now;
    assign {reads, pmtu, log2, base} = static_read;
    assign ring     = ring_read;
    assign mask     = mask_read;
  end else begin : gen_found
    logic             found_q;
    logic [2:0]       state_q;
    logic [IdxW-1:0]  head_q;
    logic [IdxW-1:0]  tail_q;
    logic [8+SlotW:0] static_q;
    logic [IdxW-1:0]  ring_q;
    logic [IdxW-1:0]  mask_q;

    always_ff @(posedge clk) begin
      if (rst) found_q <= 1'b0;
      else found_q <= read_q && !hold_i;
    end

    always_ff @(posedge clk) begin
      if (read_q) begin
        state_q  <= state_read;
        head_q   <= head_read;
        tail_q   <= tail_now;
        static_q <= static_read;
        ring_q   <= ring_read;
        mask_q   <= mask_read;
      end
    end

    assign found    = found_q;
    assign qp_state = state_q;
    assign head     = head_q;
    assign tail     = tail_q;
    assign {reads, pmtu, log2, base} = static_q;
    assign ring     = ring_q;
    assign mask     = mask_q;
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
    .wr_data_i(set_valid_i ? '0 : tail + 1'b1),
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
  localparam int AskedW = 11;
  logic [AskedW-1:0] asked, asked_now;
  logic              known, is_read, is_atomic, is_cmp_swap, receive;
  logic [3:0]        wc_op;
  logic              above31;  // above 2^31
  logic              above30;  // above 2^30

  assign writes    = wqe_q.opcode == roce_pkg::WrWrite || wqe_q.opcode == roce_pkg::WrWriteImm;
  assign sends     = wqe_q.opcode == roce_pkg::WrSend || wqe_q.opcode == roce_pkg::WrSendImm ||
      wqe_q.opcode == roce_pkg::WrSendInv;
  assign read_op   = wqe_q.opcode == roce_pkg::WrRead;
  assign cmp_swap  = wqe_q.opcode == roce_pkg::WrCmpSwap;
  assign fetch_add = wqe_q.opcode == roce_pkg::WrFetchAdd;

  assign asked = {
    (writes || sends || read_op || cmp_swap || fetch_add) && wqe_q.flags[7:3] == '0,
    read_op,
    cmp_swap || fetch_add,
    cmp_swap,
    sends || wqe_q.opcode == roce_pkg::WrWriteImm,
    writes ? roce_pkg::WcOpWrite[3:0] : read_op ? roce_pkg::WcOpRead[3:0] :
        cmp_swap ? roce_pkg::WcOpCmpSwap[3:0] : fetch_add ? roce_pkg::WcOpFetchAdd[3:0] :
        roce_pkg::WcOpSend[3:0],
    wqe_q.length[31] && wqe_q.length[30:0] != '0,
    wqe_q.length[31] || (wqe_q.length[30] && wqe_q.length[29:0] != '0)
  };

  if (LowLatency != 0) begin : gen_asked_direct
    assign asked_now = asked;
  end else begin : gen_asked
    logic [AskedW-1:0] asked_q;
    always_ff @(posedge clk) asked_q <= asked;
    assign asked_now = asked_q;
  end

  assign {known, is_read, is_atomic, is_cmp_swap, receive, wc_op, above31, above30} = asked_now;

  // ---- decide -----------------------------------------------------------------------------------
  logic [31:0] tail_bits;
  logic [1:0]  bad;

  assign queueable = wqe_q.qpn < 24'(QpCount) && (qp_state == roce_pkg::QpRts ||
      qp_state == roce_pkg::QpSqd || qp_state == roce_pkg::QpErr);
  // Never more than 2^log2 requests are in a ring, so it is full when head and tail differ in just
  // the bit above the slot number.
  assign tail_bits = 32'(tail);
  assign full      = ((tail ^ head) & mask) == ring;

  always_comb begin
    bad = roce_pkg::SqGood;
    if (!is_atomic && (above31 || (is_read && pmtu == 3'd1 && above30))) bad = roce_pkg::SqBadLen;
    if (!known || ((is_read || is_atomic) && !reads)) bad = roce_pkg::SqBadOp;
  end

  // ---- hand over --------------------------------------------------------------------------------
  roce_pkg::sq_req_t put_req;
  roce_pkg::sq_cpl_t put_cpl;

  always_comb begin
    put_req        = '0;
    put_req.lap    = tail_bits[log2];
    put_req.bad    = bad;
    put_req.op     = wqe_q.opcode[3:0];
    put_req.fence  = wqe_q.flags[roce_pkg::WqeFence];
    put_req.se     = wqe_q.flags[roce_pkg::WqeSolicited] && receive;
    put_req.target = wqe_q.target;
    put_req.laddr  = wqe_q.laddr;
    put_req.raddr  = wqe_q.raddr;
    put_req.rkey   = wqe_q.rkey;
    put_req.length = wqe_q.length;
    put_req.imm    = wqe_q.imm;
    if (is_atomic) {put_req.length, put_req.imm} = wqe_q.swap_add;
    if (is_cmp_swap) put_req.compare = wqe_q.compare;
    put_cpl          = '0;
    put_cpl.signaled = wqe_q.flags[roce_pkg::WqeSignaled];
    put_cpl.read     = is_read || is_atomic;
    put_cpl.opcode   = wc_op;
    put_cpl.length   = is_atomic ? 32'd8 : wqe_q.length;
    put_cpl.wr_id    = wqe_q.wr_id;
  end

  sq_enqueue #(
    .QpW(QpW),
    .SlotW(SlotW),
    .IdxW(IdxW),
    .LowLatency(LowLatency)
  ) u_enqueue (
    .clk(clk),
    .rst(rst),
    .room_o(room),
    .idle_o(idle_o),
    .put_valid_i(accept),
    .put_qpn_i(wqe_q.qpn[QpW-1:0]),
    .put_idx_i(tail),
    .put_pmtu_i(pmtu),
    .put_log2_i(log2),
    .put_base_i(base),
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
      reject_opcode_q <= 8'(wc_op);
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
