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
// with invalidate is the key to invalidate. offset_o is the number of bytes before the packet in its
// message, all packets before it taken to have PMTU bytes; of WRITEs it is exact also for a packet
// placed behind the end of 2^31 bytes. view_o is from before the slot.
//
// With Selective, packets of the WRITE under way that come ahead of ePSN (without immediate, up to
// 119 PSNs ahead) have view_o.place: their bytes are no other packet's. They are in order later by a
// slot with `advance`, which moves ePSN over them when its PSN is ePSN (else it changes nothing).
// When the packet in front of the first of them arrives it asks for that slot by walk_valid_o; the
// QP is silent and unanswered until the slot comes. If more was seen ahead, that slot's answer is
// the NAK. walk_valid_o with clear (set-up) says that all that was placed is to be forgotten.
//
// view_o.tag: what services said of the message's packets up to the slot, ORed; zero without
// Services. A packet counts when it is accepted or placed, whatever becomes of it behind here.
//
// QpCount: queue pairs, 1..16384. Selective: 0 or 1. Services: 1, packets have tags.
`include "rocegen_assert.svh"
`default_nettype none

module responder_sequence #(
  parameter int QpCount = 16,
  parameter int Selective = 0,
  parameter int Services = 0
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
  output logic [31:0]         offset_o,
  output logic                walk_valid_o,  // with valid_o
  output roce_pkg::rsp_walk_t walk_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "responder_sequence: QpCount must be in 1..16384");
  end

  if (Selective < 0 || Selective > 1) begin : gen_check_selective
    $fatal(1, "responder_sequence: Selective must be 0 or 1");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;

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
  logic        walk;
  logic        forget;
  logic        jump;  // an advance that counts
  logic        place;
  logic        again;  // and with it the next gap is reported
  logic [6:0]  cells;  // that may be set, from the next PSN on
  logic        ahead;  // packets ahead of ePSN may have been placed
  logic [6:0]  skip;  // packets between ePSN and this one
  state_t      next;

  assign state           = same_qp5_q ? forward_q : stored;
  assign resource        = slot_i.op.read || slot_i.op.atomic;
  assign in_play         = slot_i.request && drop_i == '0;
  assign out_of_sequence = slot_i.op.starts ? state.kind != roce_pkg::KindNone :
      state.kind != (slot_i.op.send ? roce_pkg::KindSend : roce_pkg::KindWrite);
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
    if (again) verdict[roce_pkg::RspGap] = 1'b1;
  end

  always_comb begin
    next = state;
    if (accept || slot_i.init) begin
      next.epsn   = next_psn_i;
      next.silent = walk;
      next.kind   = slot_i.init || slot_i.op.ends ? roce_pkg::KindNone :
          slot_i.op.send ? roce_pkg::KindSend : roce_pkg::KindWrite;
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
    if (jump) begin
      next.epsn   = next_psn_i;
      next.silent = again;
      next.msn    = state.msn + {23'd0, slot_i.imm[7]};
      next.index  = state.index + {16'd0, slot_i.imm[6:0]};
      if (slot_i.imm[7]) next.kind = roce_pkg::KindNone;
    end
  end

  // ---- packets ahead of ePSN --------------------------------------------------------------------
  if (Selective != 0) begin : gen_ahead
    localparam int AheadW = 19;

    logic [23:0]       distance4;
    logic              near5_q;
    logic [6:0]        distance5_q;
    logic [AheadW-1:0] stored_ahead;
    logic [AheadW-1:0] ahead_q;  // forwarded
    logic              held;  // a walk was asked for and has not come back
    logic              missed;  // a gap was seen meanwhile
    logic              any;  // packets may have been placed, the first at low, none from top on
    logic [7:0]        low;  // low bits of PSNs
    logic [7:0]        top;
    logic              held_next;
    logic              missed_next;
    logic              any_next;
    logic [7:0]        low_next;
    logic [7:0]        top_next;
    logic [7:0]        to_low;  // from ePSN
    logic [7:0]        to_top;
    logic [7:0]        left;  // to top, from the next one
    logic              more;  // something may be placed behind the next one

    assign distance4 = psn_i - epsn4;

    always_ff @(posedge clk) begin
      if (rd_valid4_q) begin
        near5_q     <= distance4[23:7] == '0;
        distance5_q <= distance4[6:0];
      end
      if (valid_i) ahead_q <= {held_next, missed_next, any_next, low_next, top_next};
    end

    assign {held, missed, any, low, top} = same_qp5_q ? ahead_q : stored_ahead;

    assign ahead = any;
    assign jump  = slot_i.advance && psn_equal5_q;
    // A walk may start some PSNs too early: their cells must not be in use again. One that is under
    // way does not know of anything placed since.
    assign place = in_play && !psn_equal5_q && near5_q && distance5_q[6:3] != 4'hF && allowed_i &&
        !shape_bad_i && !slot_i.refuse && slot_i.op.write && !slot_i.op.imm && !slot_i.op.starts &&
        state.kind == roce_pkg::KindWrite && !held;
    assign skip   = distance5_q;
    assign to_low = low - state.epsn[7:0];
    assign to_top = top - state.epsn[7:0];
    assign left   = top - next_psn_i[7:0];
    assign more   = any && left != '0 && !left[7];
    assign forget = slot_i.init;
    // Held: what the walk under way finds counts from an ePSN that is not any more.
    assign walk   = accept && !resource && (held || (more && low == next_psn_i[7:0]));
    assign again  = jump && (slot_i.imm[15] || missed);
    assign cells  = more ? left[6:0] : '0;

    always_comb begin
      held_next   = held;
      missed_next = missed;
      any_next    = any;
      low_next    = low;
      top_next    = top;
      if (forget) begin
        held_next   = 1'b0;
        missed_next = 1'b0;
        any_next    = 1'b0;
      end else if (accept) begin
        held_next   = walk;
        missed_next = missed && walk;
        any_next    = more;
      end else if (jump) begin
        held_next   = 1'b0;
        missed_next = 1'b0;
        any_next    = slot_i.imm[15];
        low_next    = next_psn_i[7:0] + {1'b0, slot_i.imm[14:8]};
      end else if (in_play && !psn_older5_q && !psn_equal5_q) begin
        missed_next = held;
        if (place) begin
          any_next = 1'b1;
          if (!any || {1'b0, distance5_q} < to_low) low_next = last_psn_i[7:0];
          if (!any || {1'b0, distance5_q} >= to_top) top_next = next_psn_i[7:0];
        end
      end
    end

    ram_sdp #(
      .Width(AheadW),
      .Depth(QpCount),
      .Latency(2),
      .Style(0)
    ) u_ahead (
      .clk(clk),
      .wr_en_i(valid_i && slot_i.known),
      .wr_addr_i(slot_i.qpn[QpW-1:0]),
      .wr_data_i({held_next, missed_next, any_next, low_next, top_next}),
      .rd_en_i(rd_valid_i),
      .rd_addr_i(rd_qpn_i[QpW-1:0]),
      .rd_data_o(stored_ahead)
    );
  end else begin : gen_plain
    assign jump   = 1'b0;
    assign again  = 1'b0;
    assign cells  = '0;
    assign place  = 1'b0;
    assign ahead  = 1'b0;
    assign skip   = '0;
    assign forget = 1'b0;
    assign walk   = 1'b0;
  end

  // ---- tags of services -------------------------------------------------------------------------
  logic [7:0] tag;  // of the QP's message, with this packet

  if (Services != 0) begin : gen_tag
    logic [7:0] stored_tag;
    logic [7:0] tag_q;  // forwarded
    logic [7:0] held_tag;

    assign held_tag = same_qp5_q ? tag_q : stored_tag;
    assign tag    = accept || place ? (slot_i.op.starts ? '0 : held_tag) | slot_i.tag : held_tag;

    always_ff @(posedge clk) begin
      if (valid_i) tag_q <= tag;
    end

    ram_sdp #(
      .Width(8),
      .Depth(QpCount),
      .Latency(2),
      .Style(0)
    ) u_tag (
      .clk(clk),
      .wr_en_i(valid_i && slot_i.known),
      .wr_addr_i(slot_i.qpn[QpW-1:0]),
      .wr_data_i(tag),
      .rd_en_i(rd_valid_i),
      .rd_addr_i(rd_qpn_i[QpW-1:0]),
      .rd_data_o(stored_tag)
    );
  end else begin : gen_no_tag
    logic unused_tag;
    assign unused_tag = ^slot_i.tag;
    assign tag = '0;
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
  logic        valid6_q;
  logic [23:0] index6_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      valid6_q     <= 1'b0;
      walk_valid_o <= 1'b0;
    end else begin
      valid6_q     <= valid_i;
      walk_valid_o <= valid_i && slot_i.known && (walk || forget);
    end
    if (valid_i) begin
      forward_q       <= next;
      slot_o          <= slot_i;
      view_o.verdict  <= verdict;
      view_o.invalid  <= shape_bad_i || !allowed_i || (psn_equal5_q && out_of_sequence);
      view_o.took     <= take_o;
      view_o.open     <= state.kind == roce_pkg::KindSend;
      view_o.used     <= state.used;
      view_o.idx      <= state.idx;
      view_o.psn      <= own_psn_i || (slot_i.request && !psn_equal5_q && resource && psn_older5_q)
          ? hdr_psn_i : jump ? next_psn_i : state.epsn;
      view_o.last_psn <= last_psn_i;
      view_o.msn      <= jump ? next.msn : state.msn;
      view_o.place    <= place;
      view_o.unmark   <= accept && ahead;
      view_o.hold     <= walk;
      view_o.jump     <= jump;
      view_o.tag      <= tag;
      walk_o.clear    <= forget;
      walk_o.qpn      <= slot_i.qpn;
      walk_o.psn      <= next_psn_i;
      walk_o.cells    <= cells;
      lookup_o        <= slot_i.op.write || resource || slot_i.op.inv;
      va_o            <= slot_i.op.starts ? va_i : state.va;
      key_o           <= slot_i.op.inv ? slot_i.imm : slot_i.op.starts ? rkey_i : state.rkey;
      length_o        <= slot_i.op.starts ? length_i : state.length;
      // 2^23 packets of 256 bytes, and what comes ahead behind the last of them.
      index6_q        <= slot_i.op.starts ? '0 : {1'b0, state.index} + {17'd0, skip} + 24'd1;
    end
  end

  assign valid_o = valid6_q;

  // A SEND's offset beyond 32 bits belongs to a message that failed long before.
  always_comb begin
    case (slot_o.pmtu)
      3'd1:    offset_o = {index6_q, 8'd0};
      3'd2:    offset_o = {index6_q[22:0], 9'd0};
      3'd3:    offset_o = {index6_q[21:0], 10'd0};
      3'd4:    offset_o = {index6_q[20:0], 11'd0};
      default: offset_o = {index6_q[19:0], 12'd0};
    endcase
  end

  `ROCEGEN_ASSERT(slots_apart, !(rd_valid_i && rd_valid3_q))

endmodule

`default_nettype wire
