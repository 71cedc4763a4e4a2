// responder_sequence: PSN and order of opcodes; owner of a QP's receive state.
//
// A slot's QPN comes with rd_valid_i (cycle 2; slots come two cycles apart or more and are never
// stalled), its PSN holds in cycles 3 and 4, all else in cycles 5 and 6, with valid_i in cycle 5.
//   2  state RAM is read, previous slot's QPN compared         4  PSN compared
//   5  decision; next state written, kept for forwarding; take_o, known at once
//   6  valid_o with all outputs, which hold for two cycles
// The read state is three cycles old when it is used, so the state that the previous slot left is
// forwarded when it was of the same QP; anything older is in the RAM already.
//
// State advances as if a request with the expected PSN were good in every respect that is not known
// yet. One that is not is fatal: the QP is dead from then on and its state counts no more until it
// is set up anew. That keeps everything slow (keys, READ limit, receive buffers) out of the state
// loop. Only the taking of a receive queue entry would outlive the QP, so take_o asks for alive_i
// too, which is zero from some slots behind the fatal one on; what those take is given back as
// flushed by responder_retire.
//
// A request that needs a receive queue entry, or room for its completion, and finds none leaves the
// state as it is; later ones are dropped silently until it comes again.
//
// va_o, key_o, length_o: the message's RETH of a WRITE, a READ's own, an atomic's; key_o of a SEND
// with invalidate is the key to invalidate. index_o is the number of PMTU sized packets before the
// packet in its message. view_o is from before the slot.
//
// QpCount: queue pairs, 1..16384.
`include "rocegen_assert.svh"
`default_nettype none

module responder_sequence #(
  parameter int QpCount = 16
) (
  input  logic                clk,
  input  logic                rst,
  input  logic                rd_valid_i,
  input  logic [23:0]         rd_qpn_i,
  input  logic [23:0]         psn_i,
  input  logic                valid_i,
  input  roce_pkg::rsp_slot_t slot_i,
  input  logic [4:0]          drop_i,
  input  logic                shape_bad_i,
  input  logic                allowed_i,
  input  logic                takes_i,
  input  logic                completes_i,
  input  logic                own_psn_i,
  input  logic [23:0]         hdr_psn_i,
  input  logic [23:0]         next_psn_i,
  input  logic [23:0]         last_psn_i,
  input  logic [63:0]         va_i,
  input  logic [31:0]         rkey_i,
  input  logic [31:0]         length_i,
  input  logic                entry_i,  // a receive queue entry is there
  input  logic                room_i,  // its completion finds room
  input  logic                alive_i,
  output logic                take_o,
  output logic                valid_o,
  output logic                lookup_o,  // the region of key_o is wanted
  output roce_pkg::rsp_slot_t slot_o,
  output roce_pkg::rsp_view_t view_o,
  output logic [63:0]         va_o,
  output logic [31:0]         key_o,
  output logic [31:0]         length_o,
  output logic [22:0]         index_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "responder_sequence: QpCount must be in 1..16384");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;

  // Kind of message that a QP is inside of.
  localparam logic [1:0] KindNone = 2'd0;
  localparam logic [1:0] KindWrite = 2'd1;
  localparam logic [1:0] KindSend = 2'd2;

  typedef struct packed {
    logic [1:0]  kind;
    logic        silent;  // gap or RNR reported: nothing more until ePSN arrives
    logic        used;  // READ or atomic accepted
    logic [7:0]  idx;  // how many
    logic [23:0] epsn;
    logic [23:0] msn;
    logic [22:0] index;  // number of the latest packet within its message
    logic [63:0] va;
    logic [31:0] rkey;
    logic [31:0] length;
  } state_t;
  localparam int StateW = 211;

  // ---- cycles 2 to 4 ----------------------------------------------------------------------------
  logic              rd_valid3_q;
  logic              rd_valid4_q;
  logic              same_qp3_q;  // forward_q holds this QP's state
  logic              same_qp5_q;
  logic              psn_equal5_q;
  logic              psn_older5_q;
  logic [StateW-1:0] stored_data;
  state_t            stored;
  state_t            forward_q;
  state_t            state;
  logic [23:0]       epsn4;
  logic [23:0]       last_qpn_q;

  assign stored = stored_data;
  assign epsn4  = same_qp3_q ? forward_q.epsn : stored.epsn;

  always_ff @(posedge clk) begin
    if (rst) begin
      rd_valid3_q <= 1'b0;
      rd_valid4_q <= 1'b0;
    end else begin
      rd_valid3_q <= rd_valid_i;
      rd_valid4_q <= rd_valid3_q;
    end
  end

  always_ff @(posedge clk) begin
    if (rd_valid_i) begin
      same_qp3_q <= rd_qpn_i == last_qpn_q;
      last_qpn_q <= rd_qpn_i;
    end
    if (rd_valid4_q) begin
      same_qp5_q   <= same_qp3_q;
      psn_equal5_q <= psn_i == epsn4;
      psn_older5_q <= roce_pkg::psn_lt(psn_i, epsn4);
    end
  end

  // ---- cycle 5: the decision --------------------------------------------------------------------
  logic [11:0] verdict;
  logic        in_play;
  logic        in_order;
  logic        out_of_sequence;
  logic        refused;  // in order, but fatal whatever comes
  logic        not_ready;
  logic        accept;  // as far as the state is concerned
  logic        begin_message;
  logic        resource;  // READ or atomic
  state_t      next;

  assign state           = same_qp5_q ? forward_q : stored;
  assign resource        = slot_i.op.read || slot_i.op.atomic;
  assign in_play         = slot_i.request && drop_i == '0;
  assign out_of_sequence = slot_i.op.starts ? state.kind != KindNone :
      state.kind != (slot_i.op.send ? KindSend : KindWrite);
  assign refused         = out_of_sequence || !allowed_i;
  assign not_ready       = !refused && ((takes_i && !entry_i) ||
      ((takes_i || completes_i) && !room_i));
  assign in_order        = in_play && psn_equal5_q;
  assign accept          = in_order && !not_ready;
  assign begin_message   = accept && slot_i.op.starts;
  assign take_o          = accept && !refused && takes_i && alive_i;

  always_comb begin
    verdict = '0;
    verdict[roce_pkg::RspPkey:roce_pkg::RspOpcode] = drop_i;
    if (in_play) begin
      if (psn_equal5_q) begin
        verdict[roce_pkg::RspInOrder]  = !not_ready;
        verdict[roce_pkg::RspNotReady] = not_ready;
      end else if (psn_older5_q) begin
        verdict[roce_pkg::RspDuplicate] = slot_i.op.send || slot_i.op.write;
        verdict[roce_pkg::RspReplay]    = resource;
        verdict[roce_pkg::RspNoReplay]  = !slot_i.op.send && !slot_i.op.write && !resource;
      end else begin
        verdict[roce_pkg::RspGap]   = !state.silent;
        verdict[roce_pkg::RspAhead] = state.silent;
      end
    end
  end

  always_comb begin
    next = state;
    if (accept || slot_i.init) begin
      next.epsn   = next_psn_i;
      next.silent = 1'b0;
      next.kind   = slot_i.init || slot_i.op.ends ? KindNone :
          slot_i.op.send ? KindSend : KindWrite;
    end else if (in_play && !psn_older5_q) begin
      next.silent = 1'b1;
    end
    if (slot_i.init) begin
      next.msn  = '0;
      next.idx  = '0;
      next.used = 1'b0;
    end else if (accept) begin
      if (slot_i.op.ends) next.msn = state.msn + 24'd1;
      if (resource) begin
        next.idx  = state.idx + 8'd1;
        next.used = 1'b1;
      end
    end
    if (begin_message) begin
      next.index  = '0;
      next.va     = va_i;
      next.rkey   = rkey_i;
      next.length = length_i;
    end else if (accept) begin
      next.index = state.index + 23'd1;
    end
  end

  ram_sdp #(
    .Width(StateW),
    .Depth(QpCount),
    .Latency(2),
    .Style(QpCount >= 1024 ? 2 : 0)
  ) u_state (
    .clk(clk),
    .wr_en_i(valid_i && slot_i.known),
    .wr_addr_i(slot_i.qpn[QpW-1:0]),
    .wr_data_i(next),
    .rd_en_i(rd_valid_i),
    .rd_addr_i(rd_qpn_i[QpW-1:0]),
    .rd_data_o(stored_data)
  );

  // ---- cycles 6 and 7 ---------------------------------------------------------------------------
  logic valid6_q;

  always_ff @(posedge clk) begin
    if (rst) valid6_q <= 1'b0;
    else valid6_q <= valid_i;
    if (valid_i) begin
      forward_q       <= next;
      slot_o          <= slot_i;
      view_o.verdict  <= verdict;
      view_o.invalid  <= shape_bad_i || !allowed_i || (psn_equal5_q && out_of_sequence);
      view_o.took     <= take_o;
      view_o.open     <= state.kind == KindSend;
      view_o.used     <= state.used;
      view_o.idx      <= state.idx;
      view_o.psn      <= own_psn_i || (slot_i.request && !psn_equal5_q && resource && psn_older5_q)
          ? hdr_psn_i : state.epsn;
      view_o.last_psn <= last_psn_i;
      view_o.msn      <= state.msn;
      lookup_o        <= slot_i.op.write || resource || slot_i.op.inv;
      va_o            <= slot_i.op.starts ? va_i : state.va;
      key_o           <= slot_i.op.inv ? slot_i.imm : slot_i.op.starts ? rkey_i : state.rkey;
      length_o        <= slot_i.op.starts ? length_i : state.length;
      index_o         <= slot_i.op.starts ? '0 : state.index + 23'd1;
    end
  end

  assign valid_o = valid6_q;

  `ROCEGEN_ASSERT(slots_apart, !(rd_valid_i && rd_valid3_q))

endmodule

`default_nettype wire
