// rx_responder: the responder of all queue pairs: checks requests, answers, hands on their data.
//
// Takes request headers (good frames only), set-ups of QPs and of shared receive rings, and QPs
// that the send side gave up (kills), in one order. For each header exactly one m_fetch command
// leaves, in the order of the headers, with forward 1 only when its payload goes to memory or to
// the atomic unit (fields other than buf_addr and bytes count only then); at most one answer on
// m_ack; at most one READ or atomic on m_rd; one event on m_evt when a request was fatal. Every
// receive queue entry that is taken gives exactly one completion on m_rcq, and every kill of a QP
// within QpCount and of its life one record with `flush`, behind the completions of that QP.
//
// Outcome of a request, the first that applies, each with its counter: drop_opcode (not a request),
// drop_qpn, drop_state (QP not in RTR, RTS, SQD), drop_addr (source is not the QP's peer),
// drop_pkey, drop_dead (fatal error before, or never set up); by PSN: duplicates (SEND or WRITE,
// acknowledged again, whatever its A bit), replays (READ or atomic, handed on as Rd*Dup),
// drop_replay (duplicate that nothing can answer, of a READ also one whose region is not right),
// nak_psn (first after a gap), out_of_order (further ones after a gap or an RNR NAK: silent); in
// order: rnr_naks (no receive queue entry, or rcq_room_i low at a packet that takes or completes
// one), nak_inv_req, nak_access, bad_invalidates (SEND with a key that may not be invalidated: no
// NAK), accepted. Beside these: acks, nak_op (NAK 0x63 of a kill), reads, atomics, receives
// (completed well), invalidates.
//
// In order: opcodes in sequence and enabled, else 0x61; then a receive queue entry, else RNR NAK;
// then shape (pad, lengths, alignment), READ limit, length of the receive buffer, else 0x61; then
// the region, else 0x62. A request that dies with a receive queue entry completes it with
// WcRemInvReqErr, WcLocLenErr (longer than the buffer), WcRemAccessErr or WcLocQpOpErr (bad
// invalidate); one that a kill interrupts, and one that was taken just behind the fatal packet,
// with WcFlushErr. Then only qpn, wr_id, status and write_imm count.
//
// A kill (s_err) of a QP that lives answers NAK 0x63 when its cause is EvtWriteErr, at ePSN, as the
// ACK of the packet may have left (a write_gate behind it gives it the packet's PSN). One with the
// cause EvtReadErr and rsp answers it at its own PSN; others are silent. The QP is dead until its
// set-up. One whose `life` is not that of the QP's last set-up (life_i), or for a QP never set up,
// ends nothing. A change to ERR by s_cfg stops requests; the kill that ends the QP's receives comes
// on s_err as well.
//
// Handshake: a slot (header, set-up or kill) is taken every two cycles, from one QP or from many;
// the pipeline behind never stalls, instead a header waits until all output queues have room, and a
// kill until m_ack and m_rcq have and rcq_room_i is high: what it completes may not take the room
// that headers need. So a slow output holds back s_hdr and s_err, never s_cfg.
// Headers and the rest take turns; after a set-up of a QP nothing is taken for six
// cycles more. A header's outputs appear 13 cycles after it was taken when nothing waits in front
// of them. With LowLatency a header is taken a cycle earlier, and its command needs a cycle less.
// Nothing is taken before ready_o (tables cleared, QpCount + SrqCount cycles after reset).
//
// s_cfg: setup 1 takes every field, starts the receive side anew (ePSN = rq_psn, MSN 0, no READ,
// head of its own ring 0) and revives a dead QP; setup 0 takes only `state`. Both are in force
// for every header taken later. s_srq sets the head of a shared ring to 0. A QPN beyond QpCount or
// a ring beyond SrqCount is taken and ignored; a QP that names such a ring has none.
//
// Look-ups, each answered two cycles later: mr_index_o -> mr_entry_i, asked in cycles with mr_req_o
// only (mr_table; every packet looks, so a region that is revoked within a message ends the
// message); rq_row_o -> rq_ring_i (rows as head_row_o; any row may be asked for); rq_slot_o ->
// rq_slot_i. A ring's tail may count an entry only when its slot can be read; a ring whose `gen` is
// not the number of its set-ups taken here (modular) has no entries.
//
// head_we_o: the head of ring head_row_o (a QP's own: its number, shared ring n: QpCount + n) is
// head_o from now on (entries taken since its set-up number head_gen_o, modular; a set-up tells its
// head 0). inv_valid_o: region inv_index_o is to be marked invalid; look-ups three cycles later
// must see that. rd_done_we_i: the QP has finished rd_done_i READs and atomics since its set-up
// (modular); never in six cycles running.
//
// wtag of the records counts commands with forward 1 and kind PayRequest, the slot's own included.
// writes_o and atomics_o (modular) count the commands of data and of operands that m_fetch has
// given or still holds: 13 cycles after a set-up, a change of state or a kill was taken they hold
// all of the QP's former life.
//
// Stages: responder_packet (cycles 1 to 4 of a slot: opcode, shape, addresses), responder_sequence
// (4, 5: PSN, order, verdict), responder_ring (2 to 7: heads, credits), responder_buffer (6 to 9:
// the receive buffer of the SEND under way), responder_region (6 to 10), responder_retire (9 to 11:
// outputs). responder_setup keeps what a set-up fixes.
//
// rocegen: comb s_*.tready<-s_*.tvalid, s_*.tready<-s_cfg.tdata
//
// QpCount: queue pairs, 1..16384. MrCount: memory regions, 1..2^24. SrqCount: shared receive rings,
// 0..4096. RdDepth: READs and atomics outstanding of a QP at most, whatever its set-up allows,
// 1..128. Selective: 1 places packets ahead of ePSN. LowLatency: 1, s_*_tready follows the inputs'
// valid combinationally. Services: 1, packets may come with a verdict of services, and with the
// life of their QP that it is of: those of another one count as from a wrong address.
//
// A request that services refuse (s_hdr.refuse) and that is in order and right in every other
// respect is fatal: NAK 0x63 (counted as nak_op), EvtRefused, a receive completes with
// WcLocQpOpErr. The tags of a message's packets are ORed into its completion.
//
// With Selective, a packet of the WRITE under way that comes ahead of ePSN (without immediate,
// within 119 PSNs; shape, length and region right) goes to memory although it counts as nak_psn or
// out_of_order, and is remembered (responder_ahead; `placed`). Nothing else is: the bytes of
// another message may be those of the one that is not complete yet. When the gap closes ePSN jumps
// over what has been placed (`jumps`), with one answer for it and all of that: an ACK, or the next
// gap's NAK. Nothing is taken meanwhile (27 cycles, and one a PSN up to the last one placed), once
// a gap. A set-up waits until no header has been taken for 13 cycles, and holds up what follows for
// 140.
`include "rocegen_assert.svh"
`default_nettype none

module rx_responder #(
  parameter int QpCount = 16,
  parameter int MrCount = 16,
  parameter int SrqCount = 0,
  parameter int RdDepth = 16,
  parameter int Selective = 0,
  parameter int LowLatency = 0,
  parameter int Services = 0
) (
  input  logic               clk,
  input  logic               rst,
  output logic               ready_o,
  input  logic               s_hdr_tvalid,
  output logic               s_hdr_tready,
  input  roce_pkg::rx_hdr_t  s_hdr_tdata,
  input  logic               s_cfg_tvalid,
  output logic               s_cfg_tready,
  input  roce_pkg::qp_cfg_t  s_cfg_tdata,
  input  logic [roce_pkg::LifeW-1:0] life_i,
  input  logic               s_srq_tvalid,
  output logic               s_srq_tready,
  // Where the ring lies is rq_engine's.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::srq_cfg_t s_srq_tdata,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic               s_err_tvalid,
  output logic               s_err_tready,
  input  roce_pkg::qp_evt_t  s_err_tdata,
  output logic               m_fetch_tvalid,
  input  logic               m_fetch_tready,
  output roce_pkg::rx_cmd_t  m_fetch_tdata,
  output logic               m_ack_tvalid,
  input  logic               m_ack_tready,
  output roce_pkg::ack_req_t m_ack_tdata,
  output logic               m_rd_tvalid,
  input  logic               m_rd_tready,
  output roce_pkg::rd_req_t  m_rd_tdata,
  output logic               m_rcq_tvalid,
  input  logic               m_rcq_tready,
  output roce_pkg::rcq_t     m_rcq_tdata,
  output logic               m_evt_tvalid,
  input  logic               m_evt_tready,
  output roce_pkg::qp_evt_t  m_evt_tdata,
  output logic               mr_req_o,
  output logic [23:0]        mr_index_o,
  input  roce_pkg::mr_cfg_t  mr_entry_i,
  output logic [15:0]        writes_o,
  output logic [11:0]        atomics_o,
  output logic               inv_valid_o,
  output logic [23:0]        inv_index_o,
  output logic [23:0]        rq_row_o,
  input  roce_pkg::rq_ring_t rq_ring_i,
  output logic [19:0]        rq_slot_o,
  input  roce_pkg::rq_slot_t rq_slot_i,
  output logic               head_we_o,
  output logic [23:0]        head_row_o,
  output logic [3:0]         head_gen_o,
  output logic [21:0]        head_o,
  input  logic               rcq_room_i,
  input  logic               rd_done_we_i,
  input  logic [23:0]        rd_done_qpn_i,
  input  logic [7:0]         rd_done_i,
  output logic               cnt_rsp_requests_o,
  output logic               cnt_rsp_accepted_o,
  output logic               cnt_rsp_duplicates_o,
  output logic               cnt_rsp_replays_o,
  output logic               cnt_rsp_acks_o,
  output logic               cnt_rsp_nak_psn_o,
  output logic               cnt_rsp_nak_inv_req_o,
  output logic               cnt_rsp_nak_access_o,
  output logic               cnt_rsp_nak_op_o,
  output logic               cnt_rsp_rnr_naks_o,
  output logic               cnt_rsp_out_of_order_o,
  output logic               cnt_rsp_placed_o,
  output logic               cnt_rsp_jumps_o,
  output logic               cnt_rsp_reads_o,
  output logic               cnt_rsp_atomics_o,
  output logic               cnt_rsp_receives_o,
  output logic               cnt_rsp_invalidates_o,
  output logic               cnt_rsp_bad_invalidates_o,
  output logic               cnt_rsp_drop_replay_o,
  output logic               cnt_rsp_drop_opcode_o,
  output logic               cnt_rsp_drop_qpn_o,
  output logic               cnt_rsp_drop_state_o,
  output logic               cnt_rsp_drop_addr_o,
  output logic               cnt_rsp_drop_pkey_o,
  output logic               cnt_rsp_drop_dead_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "rx_responder: QpCount must be in 1..16384");
  end
  if (MrCount < 1 || MrCount > 16777216) begin : gen_check_mr_count
    $fatal(1, "rx_responder: MrCount must be in 1..2^24");
  end
  if (SrqCount < 0 || SrqCount > 4096) begin : gen_check_srq_count
    $fatal(1, "rx_responder: SrqCount must be in 0..4096");
  end
  if (RdDepth < 1 || RdDepth > 128) begin : gen_check_rd_depth
    $fatal(1, "rx_responder: RdDepth must be in 1..128");
  end
  if (Selective < 0 || Selective > 1) begin : gen_check_selective
    $fatal(1, "rx_responder: Selective must be 0 or 1");
  end
  if (Services < 0 || Services > 1) begin : gen_check_services
    $fatal(1, "rx_responder: Services must be 0 or 1");
  end

  localparam int MrW = MrCount > 1 ? $clog2(MrCount) : 1;
  localparam int Rows = QpCount + SrqCount;
  // Slots are taken while an output queue holds fewer than half of this; at most eight are on the
  // way, with two records each.
  localparam int QueueDepth = 32;
  localparam int LevelW = $clog2(QueueDepth + 1);
  localparam logic [LevelW-1:0] Half = LevelW'(QueueDepth / 2);

  // ---- admission: one cycle to choose, one to take (LowLatency: the same) -----------------------
  // Behind a set-up waits whatever could look whether the QP lives before the set-up has come to
  // that.
  localparam logic [2:0] SetupPause = 3'd6;

  logic              setup_ready;
  logic              ring_ready;
  logic              retire_ready;
  logic              ready_q;
  logic              room_q;
  logic              kill_room_q;
  logic              header_turn_q;
  logic              take_hdr;
  logic              take_cfg;
  logic              take_srq;
  logic              take_err;
  logic [2:0]        pause_q;
  logic [3:0]        choice;
  logic              taking;
  logic              busy;  // slots come two cycles apart
  logic              choose;
  logic              want_hdr;
  logic              want_cfg;
  logic              want_err;
  logic              choose_hdr;
  logic [LevelW-1:0] fetch_level;
  logic [LevelW-1:0] ack_level;
  logic [LevelW-1:0] rd_level;
  logic [LevelW-1:0] rcq_level;
  logic [LevelW-1:0] evt_level;

  // Packets placed ahead of ePSN: while they are looked through, nothing else is taken.
  logic              ahead_busy;
  logic              ahead_quiet;  // no header has been taken for long
  logic              want_advance;
  logic              take_advance_q;
  logic [23:0]       advance_qpn;
  logic [23:0]       advance_psn;
  logic [15:0]       advance;
  logic              setup_waits;

  assign taking      = take_hdr || take_cfg || take_srq || take_err || take_advance_q;
  assign choose      = ready_q && !busy && pause_q == '0 && !ahead_busy;
  assign setup_waits = s_cfg_tvalid && s_cfg_tdata.setup && !ahead_quiet;
  assign want_hdr    = s_hdr_tvalid && room_q && (header_turn_q || !setup_waits);
  assign want_cfg    = s_cfg_tvalid && !setup_waits;
  assign want_err   = s_err_tvalid && kill_room_q;
  assign choose_hdr = want_hdr && (header_turn_q || !(want_cfg || s_srq_tvalid || want_err));

  always_ff @(posedge clk) begin
    if (rst) begin
      ready_q       <= 1'b0;
      room_q        <= 1'b0;
      kill_room_q   <= 1'b0;
      header_turn_q <= 1'b0;
      take_advance_q <= 1'b0;
      pause_q        <= '0;
    end else begin
      ready_q     <= setup_ready && ring_ready && retire_ready;
      room_q      <= fetch_level < Half && ack_level < Half && rd_level < Half &&
          rcq_level < Half && evt_level < Half;
      kill_room_q <= ack_level < Half && rcq_level < Half && rcq_room_i;
      // Its answer has the place that the slot which asked for it left free.
      take_advance_q <= ready_q && !taking && pause_q == '0 && want_advance;
      if (take_hdr) header_turn_q <= 1'b0;
      else if (taking && !take_advance_q) header_turn_q <= 1'b1;
      if (take_cfg && s_cfg_tdata.setup) pause_q <= SetupPause;
      else if (pause_q != '0) pause_q <= pause_q - 1'b1;
    end
  end

  // {header, set-up, shared ring, kill}
  assign choice = {4{choose}} & (choose_hdr ? 4'b1000 : want_cfg ? 4'b0100 :
      s_srq_tvalid ? 4'b0010 : {3'b000, want_err});

  if (LowLatency != 0) begin : gen_take_direct
    logic taken_q;
    always_ff @(posedge clk) begin
      if (rst) taken_q <= 1'b0;
      else taken_q <= taking;
    end
    assign busy = taken_q || take_advance_q;
    assign {take_hdr, take_cfg, take_srq, take_err} = choice;
  end else begin : gen_take
    logic [3:0] choice_q;
    always_ff @(posedge clk) begin
      if (rst) choice_q <= '0;
      else choice_q <= choice;
    end
    assign busy = taking;
    assign {take_hdr, take_cfg, take_srq, take_err} = choice_q;
  end

  assign ready_o      = ready_q;
  assign s_hdr_tready = take_hdr;
  assign s_cfg_tready = take_cfg;
  assign s_srq_tready = take_srq;
  assign s_err_tready = take_err;

  // ---- cycle 0: taken; cycles 1 and 2 -----------------------------------------------------------
  // A change of state alone needs no slot, the set-up's table has it at once.
  logic                 v1_q;
  logic                 v2_q;
  logic                 v3_q;
  logic                 v4_q;
  logic                 v5_q;
  logic                 request1_q;
  logic                 init1_q;
  logic                 srq1_q;
  logic                 srq_known0;
  logic                 srq_known1_q;
  logic                 kill1_q;
  logic [roce_pkg::LifeW-1:0] kill_life1_q;
  logic                 kill_nak1_q;
  logic                 kill_psn1_q;
  logic                 advance1_q;
  roce_pkg::rx_hdr_t    hdr_q;  // of a set-up or kill only dqpn and psn count
  logic                 receives2;
  roce_pkg::rsp_fixed_t fixed2;
  logic [14:0]          row2;
  logic                 read_failed;
  logic                 write_failed;

  if (SrqCount > 0) begin : gen_srq
    assign srq_known0 = {1'b0, s_srq_tdata.srqn} < 17'(SrqCount);
  end else begin : gen_no_srq
    assign srq_known0 = 1'b0;
  end

  assign write_failed = s_err_tdata.cause == roce_pkg::EvtWriteErr;
  assign read_failed = s_err_tdata.cause == roce_pkg::EvtReadErr && s_err_tdata.rsp;

  always_ff @(posedge clk) begin
    if (rst) begin
      v1_q <= 1'b0;
      v2_q <= 1'b0;
      v3_q <= 1'b0;
      v4_q <= 1'b0;
      v5_q <= 1'b0;
    end else begin
      v1_q <= take_hdr || (take_cfg && s_cfg_tdata.setup) || take_srq || take_err ||
          take_advance_q;
      v2_q <= v1_q;
      v3_q <= v2_q;
      v4_q <= v3_q;
      v5_q <= v4_q;
    end
    if (taking) begin
      request1_q   <= take_hdr;
      init1_q      <= take_cfg;
      srq1_q       <= take_srq;
      srq_known1_q <= srq_known0;
      kill1_q      <= take_err;
      kill_life1_q <= s_err_tdata.life;
      kill_nak1_q  <= take_err && (write_failed || read_failed);
      kill_psn1_q  <= take_err && read_failed;
      advance1_q   <= take_advance_q;
      hdr_q        <= s_hdr_tdata;
      if (take_cfg) begin
        hdr_q.dqpn <= s_cfg_tdata.qpn;
        hdr_q.psn  <= s_cfg_tdata.rq_psn;
      end
      if (take_srq) hdr_q.dqpn <= {8'd0, s_srq_tdata.srqn} + 24'(QpCount);
      if (take_err) begin
        hdr_q.dqpn <= s_err_tdata.qpn;
        hdr_q.psn  <= s_err_tdata.psn;
      end
      if (take_advance_q) begin
        hdr_q.dqpn <= advance_qpn;
        hdr_q.psn  <= advance_psn;
        hdr_q.imm  <= {16'd0, advance};
      end
    end
  end

  responder_setup #(
    .QpCount(QpCount),
    .SrqCount(SrqCount),
    .RdDepth(RdDepth)
  ) u_setup (
    .clk(clk),
    .rst(rst),
    .ready_o(setup_ready),
    .cfg_valid_i(take_cfg),
    .cfg_i(s_cfg_tdata),
    .cfg_life_i(life_i),
    .rd_valid_i(take_hdr || take_err || take_advance_q),
    .rd_qpn_i(take_err ? s_err_tdata.qpn : take_advance_q ? advance_qpn : s_hdr_tdata.dqpn),
    .receives_o(receives2),
    .fixed_o(fixed2)
  );

  assign row2     = !request1_q && !advance1_q ? hdr_q.dqpn[14:0] : fixed2.row;
  assign rq_row_o = {9'd0, row2};

  // ---- cycles 1 to 6: the packet by itself ------------------------------------------------------
  logic [23:0]         qpn3;
  logic [23:0]         psn3;
  roce_pkg::rsp_slot_t slot5;
  logic [4:0]          drop5;
  logic                shape_bad5;
  logic                allowed5;
  logic                takes5;
  logic                completes5;
  logic                ring_on5;
  logic                ring_own5;
  logic                own_psn5;
  logic [23:0]         hdr_psn5;
  logic [23:0]         next_psn5;
  logic [23:0]         last_psn5;
  logic [63:0]         va5;
  logic [31:0]         rkey5;
  logic [31:0]         length5;
  logic                reset3_q;  // of a ring's head
  logic                reset5_q;
  logic                room5_q;
  logic                entry5;
  logic                alive5;
  logic                take5;

  responder_packet #(
    .QpCount(QpCount),
    .Services(Services)
  ) u_packet (
    .clk(clk),
    .rst(rst),
    .valid_i(v1_q),
    .request_i(request1_q),
    .init_i(init1_q),
    .kill_i(kill1_q && kill_life1_q == fixed2.life),
    .kill_nak_i(kill_nak1_q),
    .kill_psn_i(kill_psn1_q),
    .advance_i(advance1_q),
    .hdr_i(hdr_q),
    .fixed_i(fixed2),
    .receives_i(receives2),
    .qpn_o(qpn3),
    .psn_o(psn3),
    .slot_o(slot5),
    .drop_o(drop5),
    .shape_bad_o(shape_bad5),
    .allowed_o(allowed5),
    .takes_o(takes5),
    .completes_o(completes5),
    .ring_on_o(ring_on5),
    .ring_own_o(ring_own5),
    .own_psn_o(own_psn5),
    .hdr_psn_o(hdr_psn5),
    .next_psn_o(next_psn5),
    .last_psn_o(last_psn5),
    .va_o(va5),
    .rkey_o(rkey5),
    .length_o(length5)
  );

  always_ff @(posedge clk) begin
    if (v2_q) begin
      reset3_q <= (init1_q && hdr_q.dqpn < 24'(QpCount)) || (srq1_q && srq_known1_q);
    end
    if (v4_q) begin
      reset5_q <= reset3_q;
      room5_q  <= rcq_room_i;
    end
  end

  // ---- cycles 2 to 9: receive rings -------------------------------------------------------------
  logic [14:0] head_row;
  logic [3:0]  gen6;
  logic [4:0]  credits8;  // in 8 and 9

  responder_ring #(
    .Rows(Rows)
  ) u_ring (
    .clk(clk),
    .rst(rst),
    .ready_o(ring_ready),
    .valid_i(v2_q),
    .row_i(row2),
    .ring_i(rq_ring_i),
    .entry_o(entry5),
    .valid5_i(v5_q),
    .take_i(take5),
    .reset_i(reset5_q),
    .count_i(ring_own5),
    .slot_o(rq_slot_o),
    .head_we_o(head_we_o),
    .head_row_o(head_row),
    .head_o(head_o),
    .gen_o(gen6),
    .credits_o(credits8)
  );

  assign head_row_o = {9'd0, head_row};
  assign head_gen_o = gen6;

  // ---- cycles 2 to 7: state of the QP -----------------------------------------------------------
  logic                v6;
  logic                lookup6;
  roce_pkg::rsp_slot_t slot6;
  roce_pkg::rsp_view_t view6;
  logic [63:0]         va6;
  logic [31:0]         key6;
  logic [31:0]         length6;
  logic [31:0]         offset6;
  logic                walk_valid6;
  roce_pkg::rsp_walk_t walk6;

  responder_sequence #(
    .QpCount(QpCount),
    .Selective(Selective),
    .Services(Services)
  ) u_sequence (
    .clk(clk),
    .rst(rst),
    .rd_valid_i(v2_q),
    .rd_qpn_i(hdr_q.dqpn),
    .psn_i(psn3),
    .valid_i(v5_q),
    .slot_i(slot5),
    .drop_i(drop5),
    .shape_bad_i(shape_bad5),
    .allowed_i(allowed5),
    .takes_i(takes5),
    .completes_i(completes5),
    .own_psn_i(own_psn5),
    .hdr_psn_i(hdr_psn5),
    .next_psn_i(next_psn5),
    .last_psn_i(last_psn5),
    .va_i(va5),
    .rkey_i(rkey5),
    .length_i(length5),
    .entry_i(entry5 && ring_on5),
    .room_i(room5_q),
    .alive_i(alive5),
    .take_o(take5),
    .valid_o(v6),
    .lookup_o(lookup6),
    .slot_o(slot6),
    .view_o(view6),
    .va_o(va6),
    .key_o(key6),
    .length_o(length6),
    .offset_o(offset6),
    .walk_valid_o(walk_valid6),
    .walk_o(walk6)
  );

  assign mr_req_o   = v6 && lookup6;
  assign mr_index_o = key6[31:8];

  // ---- cycles 6 and 7: where in its message the packet stands -----------------------------------
  logic        v7_q;
  logic        v8_q;
  logic        v9_q;
  logic [31:0] offset7_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      v7_q <= 1'b0;
      v8_q <= 1'b0;
      v9_q <= 1'b0;
    end else begin
      v7_q <= v6;
      v8_q <= v7_q;
      v9_q <= v8_q;
    end
    offset7_q <= offset6;
  end

  // ---- cycles 8 and 9: region, rest of the message, receive buffer ------------------------------
  roce_pkg::rsp_slot_t slot8_q;
  roce_pkg::rsp_view_t view8_q;
  logic [3:0]          gen8_q;
  logic                in_table8_q;
  logic [3:0]          need8_q;
  logic [63:0]         va8_q;
  logic [31:0]         key8_q;
  logic [31:0]         length8_q;
  logic [31:0]         offset8_q;
  logic [31:0]         rest8_q;  // bytes of the message from the packet on
  logic                past8_q;  // the message ends before it
  logic                rest_above_mtu;
  logic                unused_equal;
  logic                rest_bad9;
  logic                region_ok10;
  logic [2:0]          target9_q;
  logic [31:0]         upto9;
  logic                over9;
  logic                full9;
  // Its length has been looked at.
  /* verilator lint_off UNUSEDSIGNAL */
  roce_pkg::rq_slot_t  buffer9;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [63:0]         addr9;

  always_ff @(posedge clk) begin
    if (v7_q) begin
      slot8_q     <= slot6;
      view8_q     <= view6;
      gen8_q      <= gen6;
      in_table8_q <= {1'b0, key6[31:8]} < 25'(MrCount);
      need8_q[roce_pkg::AccWrite]      <= slot6.op.write;
      need8_q[roce_pkg::AccRead]       <= slot6.op.read;
      need8_q[roce_pkg::AccAtomic]     <= slot6.op.atomic;
      need8_q[roce_pkg::AccInvalidate] <= slot6.op.inv;
      va8_q       <= va6;
      key8_q      <= key6;
      length8_q   <= length6;
      offset8_q   <= offset7_q;
      rest8_q     <= length6 - offset7_q;
      past8_q     <= Selective != 0 && view6.place && offset7_q >= length6;
    end
    target9_q <= mr_entry_i.target;
  end

  // The last packet holds the rest; any other holds PMTU bytes (checked before) and leaves at least
  // one, so that an empty LAST cannot be right.
  responder_mtu u_mtu (
    .pmtu_i(slot8_q.pmtu),
    .bytes_i(rest8_q),
    .equal_o(unused_equal),
    .above_o(rest_above_mtu)
  );

  assign rest_bad9 = past8_q ||
      (slot8_q.op.ends ? rest8_q != {18'd0, slot8_q.bytes} : !rest_above_mtu);

  responder_region u_region (
    .clk(clk),
    .in_table_i(in_table8_q),
    .variant_i(key8_q[7:0]),
    .pd_i(slot8_q.pd),
    .need_i(need8_q),
    .range_i(!slot8_q.op.inv),
    .addr_i(va8_q),
    .bytes_i(length8_q),
    .entry_i(mr_entry_i),
    .ok_o(region_ok10)
  );

  responder_buffer #(
    .QpCount(QpCount)
  ) u_buffer (
    .clk(clk),
    .rst(rst),
    .valid_i(v6),
    .qpn_i(slot6.qpn),
    .known_i(slot6.known),
    .entry_i(rq_slot_i),
    .take_i(view8_q.took),
    .offset_i(offset8_q),
    .bytes_i(slot8_q.bytes),
    .upto_o(upto9),
    .over_o(over9),
    .buffer_o(buffer9)
  );

  assign addr9 = (slot8_q.op.send ? buffer9.addr : va8_q) + {32'd0, offset8_q};

  responder_reads #(
    .QpCount(QpCount)
  ) u_reads (
    .clk(clk),
    .rst(rst),
    .setup_i(v6 && slot6.init && slot6.known),
    .done_we_i(rd_done_we_i),
    .done_qpn_i(rd_done_qpn_i),
    .done_i(rd_done_i),
    .valid_i(v6),
    .qpn_i(slot6.qpn),
    .idx_i(view8_q.idx),
    .max_i(slot8_q.max_rd),
    .full_o(full9)
  );

  // ---- regions invalidated just now: the slots behind have looked already -----------------------
  logic revoked9;

  responder_recent #(
    .IndexW(MrW)
  ) u_recent (
    .clk(clk),
    .rst(rst),
    .valid_i(inv_valid_o),
    .index_i(inv_index_o[MrW-1:0]),
    .ask_i(key8_q[MrW+7:8]),
    .hit_o(revoked9)
  );

  // ---- cycles 9 and 10, outputs in 11 -----------------------------------------------------------
  logic               fetch_valid;
  logic               fetch_ready;
  roce_pkg::rx_cmd_t  fetch;
  logic               ack_valid;
  logic               ack_ready;
  roce_pkg::ack_req_t ack;
  logic               rd_valid;
  logic               rd_ready;
  roce_pkg::rd_req_t  rd;
  logic               rcq_valid;
  logic               rcq_ready;
  roce_pkg::rcq_t     rcq;
  logic               evt_valid;
  logic               evt_ready;
  logic               mark_valid;
  logic [23:0]        mark_qpn;
  logic [6:0]         mark_psn;
  logic [1:0]         mark;
  roce_pkg::qp_evt_t  evt;

  responder_retire #(
    .QpCount(QpCount)
  ) u_retire (
    .clk(clk),
    .rst(rst),
    .ready_o(retire_ready),
    .early_valid_i(v4_q),
    .early_qpn_i(qpn3),
    .early_alive_o(alive5),
    .valid_i(v9_q),
    .slot_i(slot8_q),
    .view_i(view8_q),
    .gen_i(gen8_q),
    .credits_i(credits8),
    .full_i(full9),
    .rest_bad_i(rest_bad9),
    .over_i(over9),
    .revoked_i(revoked9),
    .addr_i(addr9),
    .send_target_i(buffer9.target),
    .region_target_i(target9_q),
    .key_i(key8_q),
    .length_i(length8_q),
    .upto_i(upto9),
    .wr_id_i(buffer9.wr_id),
    .region_ok_i(region_ok10),
    .fetch_valid_o(fetch_valid),
    .fetch_o(fetch),
    .ack_valid_o(ack_valid),
    .ack_o(ack),
    .rd_valid_o(rd_valid),
    .rd_o(rd),
    .rcq_valid_o(rcq_valid),
    .rcq_o(rcq),
    .evt_valid_o(evt_valid),
    .evt_o(evt),
    .writes_o(writes_o),
    .atomics_o(atomics_o),
    .inv_valid_o(inv_valid_o),
    .inv_index_o(inv_index_o),
    .mark_valid_o(mark_valid),
    .mark_qpn_o(mark_qpn),
    .mark_psn_o(mark_psn),
    .mark_o(mark),
    .cnt_rsp_requests_o(cnt_rsp_requests_o),
    .cnt_rsp_accepted_o(cnt_rsp_accepted_o),
    .cnt_rsp_duplicates_o(cnt_rsp_duplicates_o),
    .cnt_rsp_replays_o(cnt_rsp_replays_o),
    .cnt_rsp_acks_o(cnt_rsp_acks_o),
    .cnt_rsp_nak_psn_o(cnt_rsp_nak_psn_o),
    .cnt_rsp_nak_inv_req_o(cnt_rsp_nak_inv_req_o),
    .cnt_rsp_nak_access_o(cnt_rsp_nak_access_o),
    .cnt_rsp_nak_op_o(cnt_rsp_nak_op_o),
    .cnt_rsp_rnr_naks_o(cnt_rsp_rnr_naks_o),
    .cnt_rsp_out_of_order_o(cnt_rsp_out_of_order_o),
    .cnt_rsp_placed_o(cnt_rsp_placed_o),
    .cnt_rsp_jumps_o(cnt_rsp_jumps_o),
    .cnt_rsp_reads_o(cnt_rsp_reads_o),
    .cnt_rsp_atomics_o(cnt_rsp_atomics_o),
    .cnt_rsp_receives_o(cnt_rsp_receives_o),
    .cnt_rsp_invalidates_o(cnt_rsp_invalidates_o),
    .cnt_rsp_bad_invalidates_o(cnt_rsp_bad_invalidates_o),
    .cnt_rsp_drop_replay_o(cnt_rsp_drop_replay_o),
    .cnt_rsp_drop_opcode_o(cnt_rsp_drop_opcode_o),
    .cnt_rsp_drop_qpn_o(cnt_rsp_drop_qpn_o),
    .cnt_rsp_drop_state_o(cnt_rsp_drop_state_o),
    .cnt_rsp_drop_addr_o(cnt_rsp_drop_addr_o),
    .cnt_rsp_drop_pkey_o(cnt_rsp_drop_pkey_o),
    .cnt_rsp_drop_dead_o(cnt_rsp_drop_dead_o)
  );

  // ---- packets placed ahead of ePSN -------------------------------------------------------------
  if (Selective != 0) begin : gen_ahead
    responder_ahead #(
      .QpCount(QpCount)
    ) u_ahead (
      .clk(clk),
      .rst(rst),
      .taken_i(take_hdr),
      .quiet_o(ahead_quiet),
      .busy_o(ahead_busy),
      .walk_valid_i(walk_valid6),
      .walk_i(walk6),
      .mark_valid_i(mark_valid),
      .mark_qpn_i(mark_qpn),
      .mark_psn_i(mark_psn),
      .mark_i(mark),
      .advance_valid_o(want_advance),
      .advance_ready_i(take_advance_q),
      .advance_qpn_o(advance_qpn),
      .advance_psn_o(advance_psn),
      .advance_o(advance)
    );
  end else begin : gen_plain
    logic unused_ahead;
    assign unused_ahead = ^{walk_valid6, walk6, mark_valid, mark_qpn, mark_psn, mark};
    assign ahead_quiet  = 1'b1;
    assign ahead_busy   = 1'b0;
    assign want_advance = 1'b0;
    assign advance_qpn  = '0;
    assign advance_psn  = '0;
    assign advance      = '0;
  end

  // ---- output queues ----------------------------------------------------------------------------
  stream_fifo #(
    .Width(roce_pkg::RxCmdW),
    .Depth(QueueDepth),
    .Style(3),
    .Bypass(LowLatency)
  ) u_fetch_fifo (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(fetch_valid),
    .s_axis_tready(fetch_ready),
    .s_axis_tdata(fetch),
    .m_axis_tvalid(m_fetch_tvalid),
    .m_axis_tready(m_fetch_tready),
    .m_axis_tdata(m_fetch_tdata),
    .level_o(fetch_level)
  );

  stream_fifo #(
    .Width(roce_pkg::AckReqW),
    .Depth(QueueDepth),
    .Style(3)
  ) u_ack_fifo (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(ack_valid),
    .s_axis_tready(ack_ready),
    .s_axis_tdata(ack),
    .m_axis_tvalid(m_ack_tvalid),
    .m_axis_tready(m_ack_tready),
    .m_axis_tdata(m_ack_tdata),
    .level_o(ack_level)
  );

  stream_fifo #(
    .Width(roce_pkg::RdReqW),
    .Depth(QueueDepth),
    .Style(3)
  ) u_rd_fifo (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(rd_valid),
    .s_axis_tready(rd_ready),
    .s_axis_tdata(rd),
    .m_axis_tvalid(m_rd_tvalid),
    .m_axis_tready(m_rd_tready),
    .m_axis_tdata(m_rd_tdata),
    .level_o(rd_level)
  );

  // The tag comes last in the record; without services nobody keeps it.
  localparam int RcqSkipW = Services != 0 ? 0 : 8;
  localparam int RcqKeptW = roce_pkg::RcqW - RcqSkipW;
  logic [roce_pkg::RcqW-1:0] rcq_in;
  logic [RcqKeptW-1:0]       rcq_out;

  assign rcq_in = rcq;

  if (Services != 0) begin : gen_tagged
    assign m_rcq_tdata = rcq_out;
  end else begin : gen_untagged
    logic unused_tag;
    assign unused_tag  = ^rcq_in[RcqSkipW-1:0];
    assign m_rcq_tdata = {rcq_out, RcqSkipW'(0)};
  end

  stream_fifo #(
    .Width(RcqKeptW),
    .Depth(QueueDepth),
    .Style(3)
  ) u_rcq_fifo (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(rcq_valid),
    .s_axis_tready(rcq_ready),
    .s_axis_tdata(rcq_in[roce_pkg::RcqW-1:RcqSkipW]),
    .m_axis_tvalid(m_rcq_tvalid),
    .m_axis_tready(m_rcq_tready),
    .m_axis_tdata(rcq_out),
    .level_o(rcq_level)
  );

  stream_fifo #(
    .Width(roce_pkg::QpEvtW),
    .Depth(QueueDepth),
    .Style(3)
  ) u_evt_fifo (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(evt_valid),
    .s_axis_tready(evt_ready),
    .s_axis_tdata(evt),
    .m_axis_tvalid(m_evt_tvalid),
    .m_axis_tready(m_evt_tready),
    .m_axis_tdata(m_evt_tdata),
    .level_o(evt_level)
  );

  `ROCEGEN_ASSERT(fetch_has_room, !fetch_valid || fetch_ready)
  `ROCEGEN_ASSERT(ack_has_room, !ack_valid || ack_ready)
  `ROCEGEN_ASSERT(rd_has_room, !rd_valid || rd_ready)
  `ROCEGEN_ASSERT(rcq_has_room, !rcq_valid || rcq_ready)
  `ROCEGEN_ASSERT(evt_has_room, !evt_valid || evt_ready)

  `ROCEGEN_STREAM(hdr_contract, s_hdr_tvalid, s_hdr_tready, s_hdr_tdata)
  `ROCEGEN_STREAM(cfg_contract, s_cfg_tvalid, s_cfg_tready, s_cfg_tdata)
  `ROCEGEN_STREAM(srq_contract, s_srq_tvalid, s_srq_tready, s_srq_tdata)
  `ROCEGEN_STREAM(err_contract, s_err_tvalid, s_err_tready, s_err_tdata)

endmodule

`default_nettype wire
