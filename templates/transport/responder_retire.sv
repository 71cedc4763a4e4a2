// responder_retire: last stage of the responder: outcome, answer, command, records and event of a
// slot.
//
// Slots enter at least two cycles apart with valid_i (cycle 9); region_ok_i is of the cycle behind,
// everything else holds in valid_i's. The outputs leave two cycles after valid_i and are never
// stalled: whoever admits slots has made room; rcq_valid_o may come in the cycle behind as well (a
// kill). Each request gives exactly one fetch command and exactly one of the outcome pulses.
//
// Owner of the bit that tells whether a QP lives: set by a slot of a set-up, cleared by a kill and
// by a fatal request. Because it is looked at here, after everything else and in order, the request
// behind a fatal one is already dropped, and a QP that was never set up is dead. early_alive_o is
// the same bit for the QP early_qpn_i of the cycle before: of a slot that is not yet here it may be
// one too long.
//
// writes_o, atomics_o: fetch commands with forward 1 so far, of data and of operands, modular.
//
// mark_*: what the cell of a PSN becomes (Cell*): a packet was placed ahead of ePSN, or came in order.
//
// full_i: no more READs or atomics; rest_bad_i: the packet's length cannot be right for a WRITE's
// rest; over_i: longer than the receive buffer; upto_i: bytes of the message with this packet;
// gen_i: set-ups of a killed QP. revoked_i: the key was invalidated since the look-up.
//
// QpCount: queue pairs, 1..16384.
`default_nettype none

module responder_retire #(
  parameter int QpCount = 16
) (
  input  logic                clk,
  input  logic                rst,
  output logic                ready_o,
  input  logic                early_valid_i,
  // A QPN beyond the table is told apart elsewhere.
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic [23:0]         early_qpn_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                early_alive_o,
  input  logic                valid_i,
  input  roce_pkg::rsp_slot_t slot_i,
  input  roce_pkg::rsp_view_t view_i,
  input  logic [3:0]          gen_i,
  input  logic [4:0]          credits_i,
  input  logic                full_i,
  input  logic                rest_bad_i,
  input  logic                over_i,
  input  logic                revoked_i,
  input  logic [63:0]         addr_i,
  input  logic [2:0]          send_target_i,
  input  logic [2:0]          region_target_i,
  input  logic [31:0]         key_i,
  input  logic [31:0]         length_i,
  input  logic [31:0]         upto_i,
  input  logic [63:0]         wr_id_i,
  input  logic                region_ok_i,
  output logic                fetch_valid_o,
  output roce_pkg::rx_cmd_t   fetch_o,
  output logic                ack_valid_o,
  output roce_pkg::ack_req_t  ack_o,
  output logic                rd_valid_o,
  output roce_pkg::rd_req_t   rd_o,
  output logic                rcq_valid_o,
  output roce_pkg::rcq_t      rcq_o,
  output logic                evt_valid_o,
  output roce_pkg::qp_evt_t   evt_o,
  output logic [15:0]         writes_o,
  output logic [11:0]         atomics_o,
  output logic                inv_valid_o,
  output logic [23:0]         inv_index_o,
  output logic                mark_valid_o,
  output logic [23:0]         mark_qpn_o,
  output logic [6:0]          mark_psn_o,
  output logic [1:0]          mark_o,
  output logic                cnt_rsp_requests_o,
  output logic                cnt_rsp_accepted_o,
  output logic                cnt_rsp_duplicates_o,
  output logic                cnt_rsp_replays_o,
  output logic                cnt_rsp_acks_o,
  output logic                cnt_rsp_nak_psn_o,
  output logic                cnt_rsp_nak_inv_req_o,
  output logic                cnt_rsp_nak_access_o,
  output logic                cnt_rsp_nak_op_o,
  output logic                cnt_rsp_rnr_naks_o,
  output logic                cnt_rsp_out_of_order_o,
  output logic                cnt_rsp_placed_o,
  output logic                cnt_rsp_jumps_o,
  output logic                cnt_rsp_reads_o,
  output logic                cnt_rsp_atomics_o,
  output logic                cnt_rsp_receives_o,
  output logic                cnt_rsp_invalidates_o,
  output logic                cnt_rsp_bad_invalidates_o,
  output logic                cnt_rsp_drop_replay_o,
  output logic                cnt_rsp_drop_opcode_o,
  output logic                cnt_rsp_drop_qpn_o,
  output logic                cnt_rsp_drop_state_o,
  output logic                cnt_rsp_drop_addr_o,
  output logic                cnt_rsp_drop_pkey_o,
  output logic                cnt_rsp_drop_dead_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "responder_retire: QpCount must be in 1..16384");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;

  // ---- cycle 9 ----------------------------------------------------------------------------------
  logic in_order9;
  logic completes9;

  assign in_order9  = view_i.verdict[roce_pkg::RspInOrder];
  assign completes9 = (slot_i.op.send && slot_i.op.ends) || (slot_i.op.write && slot_i.op.imm);

  // ---- cycles 10 and 11 -------------------------------------------------------------------------
  logic                v10_q;
  // The READ limit has been looked at.
  /* verilator lint_off UNUSEDSIGNAL */
  roce_pkg::rsp_slot_t slot_q;
  roce_pkg::rsp_view_t view_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [3:0]          gen_q;
  logic [4:0]          credits_q;
  logic                invalid_q;  // 0x61, the buffer's length aside
  logic                over_q;
  logic                revoked_q;
  logic                key_needed_q;
  logic                completes_q;
  logic                data_q;  // SEND or WRITE
  logic                resource_q;  // READ or atomic
  logic                has_payload_q;
  logic [23:0]         msn_after_q;  // with this message counted
  logic [63:0]         addr_q;
  logic [2:0]          target_q;
  logic [31:0]         key_q;
  logic [31:0]         length_q;
  logic [31:0]         upto_q;
  logic [63:0]         wr_id_q;

  always_ff @(posedge clk) begin
    if (rst) v10_q <= 1'b0;
    else v10_q <= valid_i;
    if (valid_i) begin
      slot_q        <= slot_i;
      view_q        <= view_i;
      gen_q         <= gen_i;
      credits_q     <= credits_i;
      invalid_q     <= view_i.invalid || (slot_i.op.write && rest_bad_i) ||
          (in_order9 && full_i && (slot_i.op.read || slot_i.op.atomic));
      over_q        <= slot_i.op.send && over_i;
      revoked_q     <= revoked_i;
      key_needed_q  <= slot_i.op.atomic || ((slot_i.op.read || slot_i.op.write) &&
          length_i != 32'd0);
      completes_q   <= completes9;
      data_q        <= slot_i.op.send || slot_i.op.write;
      resource_q    <= slot_i.op.read || slot_i.op.atomic;
      has_payload_q <= slot_i.bytes != 14'd0;
      msn_after_q   <= view_i.msn + {23'd0, slot_i.op.ends};
      addr_q        <= addr_i;
      target_q      <= slot_i.op.send ? send_target_i : region_target_i;
      key_q         <= key_i;
      length_q      <= length_i;
      upto_q        <= upto_i;
      wr_id_q       <= wr_id_i;
    end
  end

  // ---- outcome ----------------------------------------------------------------------------------
  logic alive;
  logic key_bad;
  logic in_order;
  logic refused;  // 0x61
  logic no_access;  // 0x62
  logic bad_inv;
  logic declined;  // 0x63: by a service, when nothing else is wrong
  logic fatal;  // to a QP that lives
  logic accepted;
  logic duplicate;
  logic replay;
  logic nak_psn;
  logic rnr;
  logic nak_op;
  logic positive;
  logic received;
  logic failed;  // a receive queue entry goes back
  logic forward;
  logic placed;  // ahead of ePSN

  assign key_bad   = !region_ok_i || revoked_q;
  assign in_order  = alive && view_q.verdict[roce_pkg::RspInOrder];
  assign refused   = invalid_q || over_q;
  assign no_access = key_needed_q && key_bad;
  assign bad_inv   = slot_q.op.inv && key_bad;
  assign declined  = slot_q.refuse && !refused && !no_access && !bad_inv;
  assign fatal     = view_q.verdict[roce_pkg::RspInOrder] &&
      (refused || no_access || bad_inv || slot_q.refuse);
  assign accepted  = in_order && !refused && !no_access && !bad_inv && !slot_q.refuse;
  assign duplicate = alive && view_q.verdict[roce_pkg::RspDuplicate];
  assign replay    = alive && view_q.verdict[roce_pkg::RspReplay] && !invalid_q &&
      !(slot_q.op.read && no_access);
  assign nak_psn   = alive && view_q.verdict[roce_pkg::RspGap];
  assign rnr       = alive && view_q.verdict[roce_pkg::RspNotReady];
  assign nak_op    = alive && slot_q.kill && slot_q.kill_nak;
  assign placed    = alive && view_q.place && !refused && !no_access;
  assign positive  = duplicate || (accepted && data_q && slot_q.ackreq && !view_q.hold) ||
      (alive && view_q.jump && !nak_psn);
  assign received  = accepted && completes_q;
  assign forward   = (accepted || placed) && has_payload_q;
  assign failed    = alive ? (slot_q.kill && view_q.open) ||
      (fatal && (view_q.took || view_q.open)) : view_q.took;

  // A slot reads in its first cycle and writes in its second, the next one reads later than that.
  // To kill a dead QP again changes nothing.
  logic alive_write;
  logic early_ready;
  logic late_ready;

  assign alive_write = v10_q && slot_q.known && (slot_q.init || slot_q.kill || fatal);
  assign ready_o     = early_ready && late_ready;

  ram_clear #(
    .Width(1),
    .Depth(QpCount),
    .Latency(1)
  ) u_alive (
    .clk(clk),
    .rst(rst),
    .wr_en_i(alive_write),
    .wr_addr_i(slot_q.qpn[QpW-1:0]),
    .wr_data_i(slot_q.init),
    .rd_en_i(valid_i),
    .rd_addr_i(slot_i.qpn[QpW-1:0]),
    .rd_data_o(alive),
    .ready_o(late_ready)
  );

  ram_clear #(
    .Width(1),
    .Depth(QpCount),
    .Latency(1)
  ) u_early_alive (
    .clk(clk),
    .rst(rst),
    .wr_en_i(alive_write),
    .wr_addr_i(slot_q.qpn[QpW-1:0]),
    .wr_data_i(slot_q.init),
    .rd_en_i(early_valid_i),
    .rd_addr_i(early_qpn_i[QpW-1:0]),
    .rd_data_o(early_alive_o),
    .ready_o(early_ready)
  );

  // ---- outputs ----------------------------------------------------------------------------------
  logic [15:0] wtag_q;  // commands so far
  logic [15:0] wtag_next_q;  // one more
  logic [15:0] wtag;
  logic        counts;
  logic [11:0] atomics_q;  // commands with operands so far
  logic        flush_q;  // the mark follows the completion

  assign counts = forward && data_q;
  assign wtag   = counts ? wtag_next_q : wtag_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      fetch_valid_o             <= 1'b0;
      ack_valid_o               <= 1'b0;
      rd_valid_o                <= 1'b0;
      rcq_valid_o               <= 1'b0;
      evt_valid_o               <= 1'b0;
      inv_valid_o               <= 1'b0;
      flush_q                   <= 1'b0;
      mark_valid_o              <= 1'b0;
      wtag_q                    <= 16'd0;
      wtag_next_q               <= 16'd1;
      atomics_q                 <= 12'd0;
      cnt_rsp_requests_o        <= 1'b0;
      cnt_rsp_accepted_o        <= 1'b0;
      cnt_rsp_duplicates_o      <= 1'b0;
      cnt_rsp_replays_o         <= 1'b0;
      cnt_rsp_acks_o            <= 1'b0;
      cnt_rsp_nak_psn_o         <= 1'b0;
      cnt_rsp_nak_inv_req_o     <= 1'b0;
      cnt_rsp_nak_access_o      <= 1'b0;
      cnt_rsp_nak_op_o          <= 1'b0;
      cnt_rsp_rnr_naks_o        <= 1'b0;
      cnt_rsp_out_of_order_o    <= 1'b0;
      cnt_rsp_placed_o          <= 1'b0;
      cnt_rsp_jumps_o           <= 1'b0;
      cnt_rsp_reads_o           <= 1'b0;
      cnt_rsp_atomics_o         <= 1'b0;
      cnt_rsp_receives_o        <= 1'b0;
      cnt_rsp_invalidates_o     <= 1'b0;
      cnt_rsp_bad_invalidates_o <= 1'b0;
      cnt_rsp_drop_replay_o     <= 1'b0;
      cnt_rsp_drop_opcode_o     <= 1'b0;
      cnt_rsp_drop_qpn_o        <= 1'b0;
      cnt_rsp_drop_state_o      <= 1'b0;
      cnt_rsp_drop_addr_o       <= 1'b0;
      cnt_rsp_drop_pkey_o       <= 1'b0;
      cnt_rsp_drop_dead_o       <= 1'b0;
    end else begin
      fetch_valid_o             <= v10_q && slot_q.request;
      ack_valid_o               <= v10_q && (positive || nak_psn || rnr || nak_op ||
          (in_order && (refused || no_access || declined)));
      rd_valid_o                <= v10_q && ((accepted && resource_q) || replay);
      rcq_valid_o               <= flush_q || (v10_q && (received || failed ||
          slot_q.kill));
      evt_valid_o               <= v10_q && in_order && fatal;
      inv_valid_o               <= v10_q && accepted && slot_q.op.inv;
      flush_q                   <= v10_q && slot_q.kill && failed;
      mark_valid_o              <= v10_q && slot_q.known && (placed || view_q.unmark);
      if (v10_q && counts) begin
        wtag_q      <= wtag_next_q;
        wtag_next_q <= wtag_next_q + 16'd1;
      end
      atomics_q                 <= atomics_q + {11'd0, v10_q && forward && slot_q.op.atomic};
      cnt_rsp_requests_o        <= v10_q && slot_q.request;
      cnt_rsp_accepted_o        <= v10_q && accepted;
      cnt_rsp_duplicates_o      <= v10_q && duplicate;
      cnt_rsp_replays_o         <= v10_q && replay;
      cnt_rsp_acks_o            <= v10_q && positive;
      cnt_rsp_nak_psn_o         <= v10_q && nak_psn;
      cnt_rsp_nak_inv_req_o     <= v10_q && in_order && refused;
      cnt_rsp_nak_access_o      <= v10_q && in_order && !refused && no_access;
      cnt_rsp_nak_op_o          <= v10_q && (nak_op || (in_order && declined));
      cnt_rsp_rnr_naks_o        <= v10_q && rnr;
      cnt_rsp_out_of_order_o    <= v10_q && alive && view_q.verdict[roce_pkg::RspAhead];
      cnt_rsp_placed_o          <= v10_q && placed;
      cnt_rsp_jumps_o           <= v10_q && alive && view_q.jump;
      cnt_rsp_reads_o           <= v10_q && accepted && slot_q.op.read;
      cnt_rsp_atomics_o         <= v10_q && accepted && slot_q.op.atomic;
      cnt_rsp_receives_o        <= v10_q && received;
      cnt_rsp_invalidates_o     <= v10_q && accepted && slot_q.op.inv;
      cnt_rsp_bad_invalidates_o <= v10_q && in_order && !refused && bad_inv;
      cnt_rsp_drop_replay_o     <= v10_q && alive && (view_q.verdict[roce_pkg::RspNoReplay] ||
          (view_q.verdict[roce_pkg::RspReplay] && !replay));
      cnt_rsp_drop_opcode_o     <= v10_q && view_q.verdict[roce_pkg::RspOpcode];
      cnt_rsp_drop_qpn_o        <= v10_q && view_q.verdict[roce_pkg::RspQpn];
      cnt_rsp_drop_state_o      <= v10_q && view_q.verdict[roce_pkg::RspState];
      cnt_rsp_drop_addr_o       <= v10_q && view_q.verdict[roce_pkg::RspAddr];
      cnt_rsp_drop_pkey_o       <= v10_q && view_q.verdict[roce_pkg::RspPkey];
      cnt_rsp_drop_dead_o       <= v10_q && !alive && slot_q.request &&
          view_q.verdict[roce_pkg::RspPkey:roce_pkg::RspOpcode] == '0;
    end
  end

  assign writes_o  = wtag_q;
  assign atomics_o = atomics_q;

  logic [7:0] syndrome;
  logic [3:0] status;

  always_comb begin
    syndrome = {3'b000, credits_q};
    if (slot_q.kill) syndrome = roce_pkg::SynNakOp;
    if (view_q.verdict[roce_pkg::RspGap]) syndrome = roce_pkg::SynNakPsn;
    if (view_q.verdict[roce_pkg::RspNotReady]) syndrome = {roce_pkg::SynRnr, slot_q.rnr_timer};
    if (view_q.verdict[roce_pkg::RspInOrder]) begin
      if (refused) syndrome = roce_pkg::SynNakInvReq;
      else if (no_access) syndrome = roce_pkg::SynNakAccess;
      else if (slot_q.refuse) syndrome = roce_pkg::SynNakOp;
    end
    status = 4'(roce_pkg::WcSuccess);
    if (!alive || slot_q.kill) status = 4'(roce_pkg::WcFlushErr);
    else if (invalid_q) status = 4'(roce_pkg::WcRemInvReqErr);
    else if (over_q) status = 4'(roce_pkg::WcLocLenErr);
    else if (no_access) status = 4'(roce_pkg::WcRemAccessErr);
    else if (bad_inv || slot_q.refuse) status = 4'(roce_pkg::WcLocQpOpErr);
  end

  always_ff @(posedge clk) begin
    fetch_o.buf_addr <= slot_q.buf_addr;
    fetch_o.bytes    <= slot_q.bytes;
    fetch_o.forward  <= forward;
    fetch_o.last     <= slot_q.op.ends;
    fetch_o.kind     <= !slot_q.op.atomic ? roce_pkg::PayRequest :
        slot_q.op.add ? roce_pkg::PayFetchAdd : roce_pkg::PayCmpSwap;
    fetch_o.swap     <= 1'b0;
    fetch_o.idx      <= slot_q.op.atomic ? view_q.idx : {slot_q.op.starts, 7'(slot_q.life)};
    fetch_o.target   <= target_q;
    fetch_o.qpn      <= slot_q.qpn;
    fetch_o.psn      <= view_q.psn;
    fetch_o.addr     <= addr_q;

    ack_o.life     <= slot_q.life;
    ack_o.qpn      <= slot_q.qpn;
    ack_o.syndrome <= syndrome;
    ack_o.psn      <= view_q.psn - {23'd0, view_q.verdict[roce_pkg::RspDuplicate] ||
        (view_q.jump && !view_q.verdict[roce_pkg::RspGap])};
    ack_o.msn      <= accepted ? msn_after_q : view_q.msn;
    ack_o.dup      <= view_q.verdict[roce_pkg::RspDuplicate];
    ack_o.ordered  <= view_q.used;
    ack_o.reads    <= view_q.idx;
    ack_o.wtag     <= wtag;

    rd_o.kind     <= {view_q.verdict[roce_pkg::RspReplay], slot_q.op.atomic};
    rd_o.qpn      <= slot_q.qpn;
    rd_o.idx      <= view_q.idx;
    rd_o.psn      <= view_q.psn;
    rd_o.last_psn <= view_q.last_psn;
    rd_o.msn      <= accepted ? msn_after_q : view_q.msn;
    rd_o.va       <= addr_q;
    rd_o.rkey     <= key_q;
    rd_o.length   <= length_q;
    rd_o.wtag     <= wtag_q;
    rd_o.pmtu     <= slot_q.pmtu;
    rd_o.pd       <= slot_q.pd;

    if (v10_q) begin
      rcq_o.flush     <= slot_q.kill && !failed;
      rcq_o.wtag      <= wtag;
      rcq_o.qpn       <= slot_q.qpn;
      rcq_o.gen       <= gen_q;
      rcq_o.write_imm <= view_q.took && slot_q.op.write;
      rcq_o.status    <= status;
      rcq_o.flags     <= received ? {slot_q.se, slot_q.op.inv, slot_q.op.imm} : 3'd0;
      rcq_o.imm       <= slot_q.imm;
      rcq_o.bytes     <= upto_q;
      rcq_o.wr_id     <= wr_id_q;
      rcq_o.tag       <= received ? view_q.tag : '0;
    end else begin
      rcq_o.flush <= 1'b1;
    end

    evt_o.cause <= invalid_q ? roce_pkg::EvtNakInvReq : over_q ? roce_pkg::EvtLocalLen :
        no_access ? roce_pkg::EvtNakAccess :
        bad_inv ? roce_pkg::EvtInvalidate : roce_pkg::EvtRefused;
    evt_o.rsp   <= 1'b0;
    evt_o.psn   <= view_q.psn;
    evt_o.qpn   <= slot_q.qpn;
    evt_o.life  <= slot_q.life;

    inv_index_o <= key_q[31:8];

    mark_qpn_o <= slot_q.qpn;
    mark_psn_o <= view_q.place ? view_q.last_psn[6:0] : view_q.psn[6:0];
    mark_o     <= view_q.unmark ? roce_pkg::CellNone :
        slot_q.op.ends ? roce_pkg::CellLast : roce_pkg::CellMiddle;
  end

endmodule

`default_nettype wire
