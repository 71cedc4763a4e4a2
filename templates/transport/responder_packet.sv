// responder_packet: what can be said of a slot without the state of its QP.
//
// A slot enters with valid_i (cycle 1; slots come two cycles apart or more); hdr_i and the slot's
// other inputs hold for two cycles, fixed_i and receives_i are its QP's in the cycle behind
// valid_i. Then:
//   qpn_o and psn_o hold in cycles 3 and 4, all others in cycles 5 and 6
//
// drop_o, one-hot or zero: why a request is dropped before its PSN is looked at (RspOpcode to
// RspPkey, minus RspOpcode). shape_bad_o: pad, payload, length or alignment cannot be right.
// allowed_o: the operation exists and the QP has the right to it. takes_o: a receive queue entry is
// needed; completes_o: one is completed. next_psn_o follows the request's last PSN, last_psn_o; of
// a set-up it is hdr_i.psn, of an advance hdr_i.psn + hdr_i.imm[6:0]. length_o is 8 of an atomic.
//
// QpCount: queue pairs, 1..16384. Services: 1, a request of another life than the QP's (its services were those
// of then) counts as one from a wrong address.
`default_nettype none

module responder_packet #(
  parameter int QpCount = 16,
  parameter int Services = 0
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 valid_i,
  input  logic                 request_i,
  input  logic                 init_i,
  input  logic                 kill_i,
  input  logic                 kill_nak_i,
  input  logic                 kill_psn_i,
  input  logic                 advance_i,
  // A header has fields of responses.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::rx_hdr_t    hdr_i,
  // The ring is looked after elsewhere.
  input  roce_pkg::rsp_fixed_t fixed_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                 receives_i,
  output logic [23:0]          qpn_o,
  output logic [23:0]          psn_o,
  output roce_pkg::rsp_slot_t  slot_o,
  output logic [4:0]           drop_o,
  output logic                 shape_bad_o,
  output logic                 allowed_o,
  output logic                 takes_o,
  output logic                 completes_o,
  output logic                 ring_on_o,
  output logic                 ring_own_o,
  output logic                 own_psn_o,  // a kill that names a PSN
  output logic [23:0]          hdr_psn_o,
  output logic [23:0]          next_psn_o,
  output logic [23:0]          last_psn_o,
  output logic [63:0]          va_o,
  output logic [31:0]          rkey_o,
  output logic [31:0]          length_o
);

  // ---- cycles 1 and 2 ---------------------------------------------------------------------------
  logic              v2_q;
  logic              v3_q;
  logic              v4_q;
  roce_pkg::rsp_op_t op1;
  roce_pkg::rsp_op_t op2_q;
  logic              pad_ok2_q;
  logic              empty2_q;
  logic              operands2_q;  // 16 bytes
  logic              aligned2_q;
  logic              too_long2_q;  // above 2^31
  logic              known2_q;
  logic [23:0]       span2_q;  // of a READ: (length - 1) / 256
  logic [1:0]        minus_bytes;
  logic [23:0]       blocks;

  responder_decode u_decode (
    .opcode_i(hdr_i.opcode),
    .op_o(op1)
  );

  assign minus_bytes = 2'd0 - hdr_i.pay_bytes[1:0];
  assign blocks      = hdr_i.dma_len[31:8] - {23'd0, hdr_i.dma_len[7:0] == 8'd0};

  always_ff @(posedge clk) begin
    if (rst) begin
      v2_q <= 1'b0;
      v3_q <= 1'b0;
      v4_q <= 1'b0;
    end else begin
      v2_q <= valid_i;
      v3_q <= v2_q;
      v4_q <= v3_q;
    end
    op2_q       <= request_i ? op1 : '0;
    pad_ok2_q   <= hdr_i.pad == minus_bytes;
    empty2_q    <= hdr_i.pay_bytes == 14'd0;
    operands2_q <= hdr_i.pay_bytes == 14'd16;
    aligned2_q  <= hdr_i.va[2:0] == 3'd0;
    too_long2_q <= hdr_i.dma_len[31] && hdr_i.dma_len[30:0] != 31'd0;
    known2_q    <= hdr_i.dqpn < 24'(QpCount);
    span2_q     <= request_i && op1.read && hdr_i.dma_len != 32'd0 ? blocks : '0;
  end

  // ---- cycle 2: with what the set-up fixed ------------------------------------------------------
  logic        mtu_equal;
  logic        mtu_above;
  logic [23:0] span;  // PSNs of the request, minus one
  logic        address_ok;
  logic        pkey_ok;

  responder_mtu u_mtu (
    .pmtu_i(fixed_i.pmtu),
    .bytes_i({18'd0, hdr_i.pay_bytes}),
    .equal_o(mtu_equal),
    .above_o(mtu_above)
  );

  always_comb begin
    case (fixed_i.pmtu)
      3'd1:    span = span2_q;
      3'd2:    span = {1'b0, span2_q[23:1]};
      3'd3:    span = {2'b0, span2_q[23:2]};
      3'd4:    span = {3'b0, span2_q[23:3]};
      default: span = {4'b0, span2_q[23:4]};
    endcase
  end

  assign address_ok = hdr_i.src_ip == fixed_i.dip && (Services == 0 || hdr_i.life == fixed_i.life);
  assign pkey_ok = hdr_i.pkey[14:0] == fixed_i.pkey[14:0] && hdr_i.pkey[14:0] != 15'd0 &&
      (hdr_i.pkey[15] || fixed_i.pkey[15]);

  // ---- cycles 3 and 4 ---------------------------------------------------------------------------
  roce_pkg::rsp_slot_t slot3_q;
  logic                pad_ok3_q;
  logic                empty3_q;
  logic                operands3_q;
  logic                aligned3_q;
  logic                too_long3_q;
  logic                mtu_equal3_q;
  logic                mtu_above3_q;
  logic                address_ok3_q;
  logic                pkey_ok3_q;
  logic                receives3_q;
  logic                own_psn3_q;
  logic                ring_on3_q;
  logic                ring_own3_q;
  logic                write_ok3_q;
  logic                read_ok3_q;
  logic                atomic_ok3_q;
  logic [23:0]         psn3_q;
  logic [23:0]         span3_q;
  logic [63:0]         va3_q;
  logic [31:0]         rkey3_q;
  logic [31:0]         length3_q;

  always_ff @(posedge clk) begin
    if (v2_q) begin
      slot3_q.request   <= request_i;
      slot3_q.init      <= init_i;
      slot3_q.kill      <= kill_i && known2_q;
      slot3_q.kill_nak  <= kill_nak_i && receives_i;
      slot3_q.advance   <= advance_i && receives_i;
      slot3_q.known     <= known2_q && (request_i || init_i || kill_i || (advance_i && receives_i));
      slot3_q.op        <= op2_q;
      slot3_q.ackreq    <= hdr_i.ackreq;
      slot3_q.se        <= hdr_i.se;
      slot3_q.pmtu      <= fixed_i.pmtu;
      slot3_q.rnr_timer <= fixed_i.rnr_timer;
      slot3_q.max_rd    <= fixed_i.max_rd;
      slot3_q.pd        <= fixed_i.pd;
      slot3_q.life      <= fixed_i.life;
      slot3_q.qpn       <= hdr_i.dqpn;
      slot3_q.buf_addr  <= hdr_i.buf_addr;
      slot3_q.bytes     <= hdr_i.pay_bytes;
      slot3_q.imm       <= hdr_i.imm;
      slot3_q.refuse    <= request_i && hdr_i.refuse;
      slot3_q.tag       <= hdr_i.tag;
      pad_ok3_q         <= pad_ok2_q;
      empty3_q          <= empty2_q;
      operands3_q       <= operands2_q;
      aligned3_q        <= aligned2_q;
      too_long3_q       <= too_long2_q;
      mtu_equal3_q      <= mtu_equal;
      mtu_above3_q      <= mtu_above;
      address_ok3_q     <= address_ok;
      pkey_ok3_q        <= pkey_ok;
      receives3_q       <= receives_i;
      own_psn3_q        <= kill_psn_i;
      ring_on3_q        <= fixed_i.ring_on;
      ring_own3_q       <= fixed_i.ring_own;
      write_ok3_q       <= fixed_i.write_ok;
      read_ok3_q        <= fixed_i.read_ok;
      atomic_ok3_q      <= fixed_i.atomic_ok;
      psn3_q            <= hdr_i.psn;
      span3_q           <= advance_i ? {17'd0, hdr_i.imm[6:0]} : span;
      va3_q             <= hdr_i.va;
      rkey3_q           <= hdr_i.rkey;
      length3_q         <= op2_q.atomic ? 32'd8 : hdr_i.dma_len;
    end
  end

  assign qpn_o = slot3_q.qpn;
  assign psn_o = psn3_q;

  // ---- cycles 4 to 6 ----------------------------------------------------------------------------
  logic [4:0] drop_d;
  logic       shape_bad_d;
  logic       allowed_d;

  always_comb begin
    drop_d = '0;
    if (slot3_q.request) begin
      if (!slot3_q.op.request) drop_d[0] = 1'b1;
      else if (!slot3_q.known) drop_d[1] = 1'b1;
      else if (!receives3_q) drop_d[2] = 1'b1;
      else if (!address_ok3_q) drop_d[3] = 1'b1;
      else if (!pkey_ok3_q) drop_d[4] = 1'b1;
    end
  end

  always_comb begin
    if (slot3_q.op.atomic) shape_bad_d = !operands3_q || !aligned3_q || !pad_ok3_q;
    else if (slot3_q.op.read) shape_bad_d = !empty3_q || too_long3_q || !pad_ok3_q;
    else
      shape_bad_d = !pad_ok3_q || (slot3_q.op.ends ? mtu_above3_q : !mtu_equal3_q) ||
          (slot3_q.op.ends && !slot3_q.op.starts && empty3_q) ||
          (slot3_q.op.write && slot3_q.op.starts && too_long3_q);
  end

  assign allowed_d = slot3_q.op.send || (slot3_q.op.write && write_ok3_q) ||
      (slot3_q.op.read && read_ok3_q) || (slot3_q.op.atomic && atomic_ok3_q);

  always_ff @(posedge clk) begin
    if (v4_q) begin
      slot_o      <= slot3_q;
      drop_o      <= drop_d;
      shape_bad_o <= shape_bad_d;
      allowed_o   <= allowed_d;
      takes_o     <= (slot3_q.op.send && slot3_q.op.starts) || (slot3_q.op.write && slot3_q.op.imm);
      completes_o <= (slot3_q.op.send && slot3_q.op.ends) || (slot3_q.op.write && slot3_q.op.imm);
      ring_on_o   <= ring_on3_q;
      ring_own_o  <= ring_on3_q && ring_own3_q;
      own_psn_o   <= own_psn3_q;
      hdr_psn_o   <= psn3_q;
      next_psn_o  <= psn3_q + span3_q + {23'd0, slot3_q.request};
      last_psn_o  <= psn3_q + span3_q;
      va_o        <= va3_q;
      rkey_o      <= rkey3_q;
      length_o    <= length3_q;
    end
  end

endmodule

`default_nettype wire
