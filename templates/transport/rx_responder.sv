// rx_responder: the responder of all queue pairs: checks requests, answers, hands on their data.
//
// Takes request headers (good frames only), set-ups and QPs that the send side gave up, in one
// order. For each header exactly one m_fetch command leaves, in the order of the headers, with
// forward 1 only when its payload goes to memory (fields other than buf_addr and bytes count only
// then); at most one answer on m_ack; one event on m_evt when a request was fatal. RDMA WRITE is
// carried out; SEND, READ, atomics and immediate data are refused as not enabled (NAK 0x61, the QP
// dies).
//
// Outcome of a request, the first that applies, each with its counter: drop_opcode (not a request),
// drop_qpn, drop_state (QP not in RTR, RTS, SQD), drop_addr (source is not the QP's peer),
// drop_pkey, drop_dead (fatal error before, or never set up); by PSN: duplicates (acknowledged
// again, whatever its A bit), drop_replay (duplicate of a request that keeps no answer), nak_psn
// (first after a gap), out_of_order (further ones after a gap: silent); in order: nak_inv_req,
// nak_access, accepted.
//
// Handshake: a slot (header, set-up or kill) is taken every two cycles, from one QP or from many;
// the pipeline behind never stalls, instead a header waits until all three output queues have room.
// So a slow m_fetch, m_ack or m_evt holds back s_hdr, and only that. Set-ups and headers take
// turns. A header's outputs appear 12 cycles after it was taken when nothing waits in front of
// them. Nothing is taken before ready_o (tables cleared, QpCount cycles after reset).
//
// s_cfg: setup 1 takes every field, starts the receive side anew (ePSN = rq_psn, MSN 0) and revives
// a dead QP; setup 0 takes only `state`. Both are in force for every header taken later. A QPN
// beyond QpCount is taken and ignored, on s_err too.
//
// Region look-up: mr_index_o -> mr_entry_i two cycles later (mr_table). Every packet looks, so a
// region that is revoked within a message ends the message.
//
// Stages: responder_sequence (state of the QP, PSN), region look-up and responder_region, and
// responder_retire (verdict, outputs). Another operation is added by its row in responder_decode,
// its number of PSNs and its own `kind` in responder_sequence, and its checks behind that.
//
// rocegen: comb none
//
// QpCount: queue pairs, 1..16384. MrCount: memory regions, 1..2^24.
`include "rocegen_assert.svh"
`default_nettype none

module rx_responder #(
  parameter int QpCount = 16,
  parameter int MrCount = 16
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
  input  logic               s_err_tvalid,
  output logic               s_err_tready,
  input  logic [23:0]        s_err_tdata,
  output logic               m_fetch_tvalid,
  input  logic               m_fetch_tready,
  output roce_pkg::rx_cmd_t  m_fetch_tdata,
  output logic               m_ack_tvalid,
  input  logic               m_ack_tready,
  output roce_pkg::ack_req_t m_ack_tdata,
  output logic               m_evt_tvalid,
  input  logic               m_evt_tready,
  output roce_pkg::qp_evt_t  m_evt_tdata,
  output logic [23:0]        mr_index_o,
  input  roce_pkg::mr_cfg_t  mr_entry_i,
  output logic               cnt_rsp_requests_o,
  output logic               cnt_rsp_accepted_o,
  output logic               cnt_rsp_duplicates_o,
  output logic               cnt_rsp_acks_o,
  output logic               cnt_rsp_nak_psn_o,
  output logic               cnt_rsp_nak_inv_req_o,
  output logic               cnt_rsp_nak_access_o,
  output logic               cnt_rsp_out_of_order_o,
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

  // Headers are taken while an output queue holds fewer than half of this; at most six are on the
  // way.
  localparam int QueueDepth = 32;
  localparam int LevelW = $clog2(QueueDepth + 1);
  localparam int FetchW = 144;
  localparam int AckW = 81;
  localparam int EvtW = 31;

  // ---- admission: one cycle to choose, one to take ----------------------------------------------
  logic              sequence_ready;
  logic              retire_ready;
  logic              ready_q;
  logic              room_q;
  logic              header_turn_q;
  logic              take_hdr_q;
  logic              take_cfg_q;
  logic              take_err_q;
  logic              choose;
  logic              want_hdr;
  logic              choose_hdr;
  logic [LevelW-1:0] fetch_level;
  logic [LevelW-1:0] ack_level;
  logic [LevelW-1:0] evt_level;

  assign choose     = ready_q && !take_hdr_q && !take_cfg_q && !take_err_q;
  assign want_hdr   = s_hdr_tvalid && room_q;
  assign choose_hdr = want_hdr && (header_turn_q || !(s_cfg_tvalid || s_err_tvalid));

  always_ff @(posedge clk) begin
    if (rst) begin
      ready_q       <= 1'b0;
      room_q        <= 1'b0;
      header_turn_q <= 1'b0;
      take_hdr_q    <= 1'b0;
      take_cfg_q    <= 1'b0;
      take_err_q    <= 1'b0;
    end else begin
      ready_q <= sequence_ready && retire_ready;
      room_q <= fetch_level < LevelW'(QueueDepth / 2) && ack_level < LevelW'(QueueDepth / 2) &&
          evt_level < LevelW'(QueueDepth / 2);
      take_hdr_q <= choose && choose_hdr;
      take_cfg_q <= choose && !choose_hdr && s_cfg_tvalid;
      take_err_q <= choose && !choose_hdr && !s_cfg_tvalid && s_err_tvalid;
      if (take_hdr_q) header_turn_q <= 1'b0;
      else if (take_cfg_q || take_err_q) header_turn_q <= 1'b1;
    end
  end

  assign ready_o      = ready_q;
  assign s_hdr_tready = take_hdr_q;
  assign s_cfg_tready = take_cfg_q;
  assign s_err_tready = take_err_q;

  // ---- cycles 0 and 1 ---------------------------------------------------------------------------
  // A state change needs no slot: the sequence stage's table has it at once.
  logic    v0_q;
  logic    request0_q;
  logic    init0_q;
  roce_pkg::rx_hdr_t hdr_q;  // of a set-up or kill only dqpn and psn count

  always_ff @(posedge clk) begin
    if (rst) v0_q <= 1'b0;
    else v0_q <= take_hdr_q || (take_cfg_q && s_cfg_tdata.setup) || take_err_q;
    if (take_hdr_q || take_cfg_q || take_err_q) begin
      request0_q <= take_hdr_q;
      init0_q    <= take_cfg_q;
      hdr_q      <= s_hdr_tdata;
      if (take_cfg_q) begin
        hdr_q.dqpn <= s_cfg_tdata.qpn;
        hdr_q.psn  <= s_cfg_tdata.rq_psn;
      end
      if (take_err_q) hdr_q.dqpn <= s_err_tdata;
    end
  end

  // ---- cycles 0 to 3, outputs in 4 and 5 --------------------------------------------------------
  logic        v4;
  logic [9:0]  class4;
  logic        invalid4;
  logic        init4;
  logic        known4;
  logic [23:0] qpn4;
  logic [23:0] psn4;
  logic [23:0] msn4;
  logic [15:0] buf_addr4;
  logic [13:0] bytes4;
  logic        ackreq4;
  logic        ends4;
  logic [2:0]  pmtu4;
  logic [15:0] pd4;
  logic [63:0] va4;
  logic [31:0] rkey4;
  logic [31:0] length4;
  logic [22:0] index4;

  responder_sequence #(
    .QpCount(QpCount)
  ) u_sequence (
    .clk(clk),
    .rst(rst),
    .ready_o(sequence_ready),
    .cfg_valid_i(take_cfg_q),
    .cfg_i(s_cfg_tdata),
    .valid_i(v0_q),
    .request_i(request0_q),
    .init_i(init0_q),
    .hdr_i(hdr_q),
    .valid_o(v4),
    .class_o(class4),
    .invalid_o(invalid4),
    .init_o(init4),
    .known_o(known4),
    .qpn_o(qpn4),
    .psn_o(psn4),
    .msn_o(msn4),
    .buf_addr_o(buf_addr4),
    .bytes_o(bytes4),
    .ackreq_o(ackreq4),
    .ends_o(ends4),
    .pmtu_o(pmtu4),
    .pd_o(pd4),
    .va_o(va4),
    .rkey_o(rkey4),
    .length_o(length4),
    .index_o(index4)
  );

  assign mr_index_o = rkey4[31:8];

  // ---- cycles 4 and 5: where in its message the packet stands -----------------------------------
  logic        v5_q;
  logic        v6_q;
  logic        v7_q;
  logic [31:0] offset4;
  logic [31:0] offset5_q;

  // An offset beyond 32 bits belongs to a message that failed long before.
  always_comb begin
    case (pmtu4)
      3'd1:    offset4 = {1'b0, index4, 8'd0};
      3'd2:    offset4 = {index4, 9'd0};
      3'd3:    offset4 = {index4[21:0], 10'd0};
      3'd4:    offset4 = {index4[20:0], 11'd0};
      default: offset4 = {index4[19:0], 12'd0};
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      v5_q <= 1'b0;
      v6_q <= 1'b0;
      v7_q <= 1'b0;
    end else begin
      v5_q <= v4;
      v6_q <= v5_q;
      v7_q <= v6_q;
    end
    offset5_q <= offset4;
  end

  // ---- cycles 6 and 7: region and rest of the message -------------------------------------------
  logic [9:0]  class6_q;
  logic        invalid6_q;
  logic        init6_q;
  logic        known6_q;
  logic        key_needed6_q;
  logic        in_table6_q;
  logic [23:0] qpn6_q;
  logic [23:0] psn6_q;
  logic [23:0] msn6_q;
  logic [15:0] buf_addr6_q;
  logic [13:0] bytes6_q;
  logic        ackreq6_q;
  logic        ends6_q;
  logic [2:0]  pmtu6_q;
  logic [15:0] pd6_q;
  logic [7:0]  variant6_q;
  logic [63:0] addr6_q;  // of the packet's first byte
  logic [31:0] rest6_q;  // bytes of the message from there on
  logic        rest_above_mtu;
  logic        unused_equal;
  logic        rest_bad;
  logic        invalid7_q;
  logic        region_ok8;

  always_ff @(posedge clk) begin
    if (v5_q) begin
      class6_q      <= class4;
      invalid6_q    <= invalid4;
      init6_q       <= init4;
      known6_q      <= known4;
      key_needed6_q <= length4 != 32'd0;
      in_table6_q   <= {1'b0, rkey4[31:8]} < 25'(MrCount);
      qpn6_q        <= qpn4;
      psn6_q        <= psn4;
      msn6_q        <= msn4;
      buf_addr6_q   <= buf_addr4;
      bytes6_q      <= bytes4;
      ackreq6_q     <= ackreq4;
      ends6_q       <= ends4;
      pmtu6_q       <= pmtu4;
      pd6_q         <= pd4;
      variant6_q    <= rkey4[7:0];
      addr6_q       <= va4 + {32'd0, offset5_q};
      rest6_q       <= length4 - offset5_q;
    end
  end

  // The last packet holds the rest; any other holds PMTU bytes (checked before) and leaves at least
  // one, so that an empty LAST cannot be right.
  responder_mtu u_mtu (
    .pmtu_i(pmtu6_q),
    .bytes_i(rest6_q),
    .equal_o(unused_equal),
    .above_o(rest_above_mtu)
  );

  assign rest_bad = ends6_q ? rest6_q != {18'd0, bytes6_q} : !rest_above_mtu;

  always_ff @(posedge clk) invalid7_q <= invalid6_q || rest_bad;

  responder_region u_region (
    .clk(clk),
    .in_table_i(in_table6_q),
    .variant_i(variant6_q),
    .pd_i(pd6_q),
    .addr_i(addr6_q),
    .bytes_i(rest6_q),
    .entry_i(mr_entry_i),
    .ok_o(region_ok8)
  );

  // ---- cycles 7 and 8, outputs in 9 -------------------------------------------------------------
  logic               fetch_valid;
  logic               fetch_ready;
  roce_pkg::rx_cmd_t  fetch;
  logic               ack_valid;
  logic               ack_ready;
  roce_pkg::ack_req_t ack;
  logic               evt_valid;
  logic               evt_ready;
  roce_pkg::qp_evt_t  evt;

  responder_retire #(
    .QpCount(QpCount)
  ) u_retire (
    .clk(clk),
    .rst(rst),
    .ready_o(retire_ready),
    .valid_i(v7_q),
    .init_i(init6_q),
    .known_i(known6_q),
    .class_i(class6_q),
    .invalid_i(invalid7_q),
    .key_needed_i(key_needed6_q),
    .qpn_i(qpn6_q),
    .psn_i(psn6_q),
    .msn_i(msn6_q),
    .buf_addr_i(buf_addr6_q),
    .bytes_i(bytes6_q),
    .addr_i(addr6_q),
    .ackreq_i(ackreq6_q),
    .ends_i(ends6_q),
    .region_ok_i(region_ok8),
    .fetch_valid_o(fetch_valid),
    .fetch_o(fetch),
    .ack_valid_o(ack_valid),
    .ack_o(ack),
    .evt_valid_o(evt_valid),
    .evt_o(evt),
    .cnt_rsp_requests_o(cnt_rsp_requests_o),
    .cnt_rsp_accepted_o(cnt_rsp_accepted_o),
    .cnt_rsp_duplicates_o(cnt_rsp_duplicates_o),
    .cnt_rsp_acks_o(cnt_rsp_acks_o),
    .cnt_rsp_nak_psn_o(cnt_rsp_nak_psn_o),
    .cnt_rsp_nak_inv_req_o(cnt_rsp_nak_inv_req_o),
    .cnt_rsp_nak_access_o(cnt_rsp_nak_access_o),
    .cnt_rsp_out_of_order_o(cnt_rsp_out_of_order_o),
    .cnt_rsp_drop_replay_o(cnt_rsp_drop_replay_o),
    .cnt_rsp_drop_opcode_o(cnt_rsp_drop_opcode_o),
    .cnt_rsp_drop_qpn_o(cnt_rsp_drop_qpn_o),
    .cnt_rsp_drop_state_o(cnt_rsp_drop_state_o),
    .cnt_rsp_drop_addr_o(cnt_rsp_drop_addr_o),
    .cnt_rsp_drop_pkey_o(cnt_rsp_drop_pkey_o),
    .cnt_rsp_drop_dead_o(cnt_rsp_drop_dead_o)
  );

  // ---- output queues ----------------------------------------------------------------------------
  stream_fifo #(
    .Width(FetchW),
    .Depth(QueueDepth),
    .Style(3)
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
    .Width(AckW),
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
    .Width(EvtW),
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
  `ROCEGEN_ASSERT(evt_has_room, !evt_valid || evt_ready)

  `ROCEGEN_STREAM(hdr_contract, s_hdr_tvalid, s_hdr_tready, s_hdr_tdata)
  `ROCEGEN_STREAM(cfg_contract, s_cfg_tvalid, s_cfg_tready, s_cfg_tdata)
  `ROCEGEN_STREAM(err_contract, s_err_tvalid, s_err_tready, s_err_tdata)

endmodule

`default_nettype wire
