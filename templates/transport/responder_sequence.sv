// responder_sequence: QP checks, PSN and opcode sequence; owner of a QP's receive state.
//
// A slot (request header, set-up, or any other event of a QP) enters with valid_i; slots come at
// least two cycles apart and are never stalled. With the entry in cycle 0:
//   0  state RAMs are read      1  header decoded, previous slot's QPN compared
//   2  addresses, P_Key, PSN compared          3  decision; next state written, kept for forwarding
//   4  valid_o with all outputs, which hold for two cycles
// The read state is two cycles old when it is used, so the state that the previous slot left is
// forwarded when it was of the same QP; anything older is in the RAM already.
//
// State advances as if a request with the expected PSN were in order in every other respect. One
// that is not is fatal: the QP is dead from then on and its state counts no more until it is set up
// anew. That keeps everything slow (lengths, keys) out of the state loop.
//
// cfg_valid_i writes at once what a set-up fixes or changes, for slots that enter later; init_i
// makes its slot start the state anew with ePSN = hdr_i.psn.
//
// class_o, one-hot for a request, else zero, the first reason that applies:
//   0 in order   1 duplicate to acknowledge   2 first after a gap   3 further after a gap
//   4 duplicate without an answer   5 opcode   6 QPN   7 QP state   8 source address   9 P_Key
// invalid_o: in order, but fatal (sequence of opcodes, right of the QP, payload against path MTU).
// What else holds for a packet in order: va_o, rkey_o, length_o are its message's RETH; index_o is
// the number of PMTU sized packets before it in its message; psn_o = ePSN and msn_o are from before
// it.
//
// QpCount: queue pairs, 1..16384.
`include "rocegen_assert.svh"
`default_nettype none

module responder_sequence #(
  parameter int QpCount = 16
) (
  input  logic              clk,
  input  logic              rst,
  output logic              ready_o,
  input  logic              cfg_valid_i,
  // A set-up has fields of the send side, a header some of responses.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::qp_cfg_t cfg_i,
  input  logic              valid_i,
  input  logic              request_i,
  input  logic              init_i,
  input  roce_pkg::rx_hdr_t hdr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic              valid_o,
  output logic [9:0]        class_o,
  output logic              invalid_o,
  output logic              init_o,
  output logic              known_o,  // QPN within QpCount
  output logic [23:0]       qpn_o,
  output logic [23:0]       psn_o,
  output logic [23:0]       msn_o,
  output logic [15:0]       buf_addr_o,
  output logic [13:0]       bytes_o,
  output logic              ackreq_o,
  output logic              ends_o,
  output logic [2:0]        pmtu_o,
  output logic [15:0]       pd_o,
  output logic [63:0]       va_o,
  output logic [31:0]       rkey_o,
  output logic [31:0]       length_o,
  output logic [22:0]       index_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "responder_sequence: QpCount must be in 1..16384");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  // One bit a QP: LUTs while they are few.
  localparam int BitStyle = QpCount > 256 ? 1 : 3;

  // Kind of message that a QP is inside of.
  localparam logic [1:0] KindNone = 2'd0;
  localparam logic [1:0] KindWrite = 2'd1;

  typedef struct packed {
    logic [1:0]  kind;
    logic        nak_sent;  // gap reported, silent until ePSN arrives
    logic [23:0] epsn;
    logic [23:0] msn;
    logic [22:0] index;  // number of the latest packet within its message
    logic [63:0] va;
    logic [31:0] rkey;
    logic [31:0] length;
  } state_t;
  localparam int StateW = 202;

  typedef struct packed {
    logic        write_ok;
    logic [2:0]  pmtu;
    logic [15:0] pd;
    logic [15:0] pkey;
    logic [31:0] dip;
  } fixed_t;
  localparam int FixedW = 68;

  // ---- what a set-up fixes ----------------------------------------------------------------------
  fixed_t             cfg_fixed;
  logic               cfg_known;
  logic               cfg_receives;
  logic               receives;  // valid in cycles 2 and 3, as fixed and stored are
  logic               enable_ready;
  logic [FixedW-1:0]  fixed_data;
  fixed_t             fixed;
  logic [StateW-1:0]  stored_data;
  state_t             stored;

  assign cfg_fixed.write_ok = cfg_i.access[roce_pkg::AccWrite];
  assign cfg_fixed.pmtu     = cfg_i.pmtu;
  assign cfg_fixed.pd       = cfg_i.pd;
  assign cfg_fixed.pkey     = cfg_i.pkey;
  assign cfg_fixed.dip      = cfg_i.dip;

  assign cfg_known = cfg_i.qpn < 24'(QpCount);
  assign cfg_receives = cfg_i.state == roce_pkg::QpRtr || cfg_i.state == roce_pkg::QpRts ||
      cfg_i.state == roce_pkg::QpSqd;

  ram_clear #(
    .Width(1),
    .Depth(QpCount),
    .Latency(2),
    .Style(BitStyle)
  ) u_enable (
    .clk(clk),
    .rst(rst),
    .wr_en_i(cfg_valid_i && cfg_known),
    .wr_addr_i(cfg_i.qpn[QpW-1:0]),
    .wr_data_i(cfg_receives),
    .rd_en_i(valid_i),
    .rd_addr_i(hdr_i.dqpn[QpW-1:0]),
    .rd_data_o(receives),
    .ready_o(enable_ready)
  );

  ram_sdp #(
    .Width(FixedW),
    .Depth(QpCount),
    .Latency(2),
    .Style(0)
  ) u_fixed (
    .clk(clk),
    .wr_en_i(cfg_valid_i && cfg_known && cfg_i.setup),
    .wr_addr_i(cfg_i.qpn[QpW-1:0]),
    .wr_data_i(cfg_fixed),
    .rd_en_i(valid_i),
    .rd_addr_i(hdr_i.dqpn[QpW-1:0]),
    .rd_data_o(fixed_data)
  );

  assign fixed   = fixed_data;
  assign ready_o = enable_ready;

  // ---- cycles 0 and 1: the header as it came ----------------------------------------------------
  logic        v1_q;
  logic        v2_q;
  logic        v3_q;
  logic        v4_q;
  logic        h_request;
  logic        h_write;
  logic        h_starts;
  logic        h_ends;
  logic        h_replay_ack;

  responder_decode u_decode (
    .opcode_i(hdr_i.opcode),
    .request_o(h_request),
    .write_o(h_write),
    .starts_o(h_starts),
    .ends_o(h_ends),
    .replay_ack_o(h_replay_ack)
  );

  // ---- cycles 2 and 3 ---------------------------------------------------------------------------
  logic        live_q;  // a slot has been here before
  logic        same_qp_q;  // forward_q holds this QP's state
  logic        request_q;
  logic        init_q;
  logic        known_q;
  logic        is_request_q;
  logic        write_q;
  logic        starts_q;
  logic        ends_q;
  logic        replay_ack_q;
  logic        pad_ok_q;
  logic        too_long_q;  // RETH length above 2^31
  logic [23:0] qpn_q;
  logic [23:0] psn_q;
  logic [23:0] next_psn_q;
  logic [31:0] src_ip_q;
  logic [15:0] pkey_q;
  logic [15:0] buf_addr_q;
  logic [13:0] bytes_q;
  logic        ackreq_q;
  logic [63:0] va_q;
  logic [31:0] rkey_q;
  logic [31:0] length_q;
  logic [1:0]  minus_bytes;

  assign minus_bytes = 2'd0 - hdr_i.pay_bytes[1:0];

  always_ff @(posedge clk) begin
    if (rst) begin
      v1_q   <= 1'b0;
      v2_q   <= 1'b0;
      v3_q   <= 1'b0;
      v4_q   <= 1'b0;
      live_q <= 1'b0;
    end else begin
      v1_q <= valid_i;
      v2_q <= v1_q;
      v3_q <= v2_q;
      v4_q <= v3_q;
      if (v1_q) live_q <= 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (v1_q) begin
      same_qp_q    <= live_q && hdr_i.dqpn == qpn_q;
      request_q    <= request_i;
      init_q       <= init_i;
      known_q      <= hdr_i.dqpn < 24'(QpCount);
      is_request_q <= h_request;
      write_q      <= h_write;
      starts_q     <= h_starts;
      ends_q       <= h_ends;
      replay_ack_q <= h_replay_ack;
      pad_ok_q     <= hdr_i.pad == minus_bytes;
      too_long_q   <= hdr_i.dma_len[31] && (hdr_i.dma_len[30:0] != 31'd0);
      qpn_q        <= hdr_i.dqpn;
      psn_q        <= hdr_i.psn;
      next_psn_q   <= init_i ? hdr_i.psn : hdr_i.psn + 24'd1;
      src_ip_q     <= hdr_i.src_ip;
      pkey_q       <= hdr_i.pkey;
      buf_addr_q   <= hdr_i.buf_addr;
      bytes_q      <= hdr_i.pay_bytes;
      ackreq_q     <= hdr_i.ackreq;
      va_q         <= hdr_i.va;
      rkey_q       <= hdr_i.rkey;
      length_q     <= hdr_i.dma_len;
    end
  end

  state_t      forward_q;
  state_t      state;
  logic        psn_equal_q;
  logic        psn_older_q;
  logic        address_ok_q;
  logic        pkey_ok_q;

  assign stored = stored_data;
  assign state  = same_qp_q ? forward_q : stored;

  always_ff @(posedge clk) begin
    if (v2_q) begin
      psn_equal_q  <= psn_q == state.epsn;
      psn_older_q  <= roce_pkg::psn_lt(psn_q, state.epsn);
      address_ok_q <= src_ip_q == fixed.dip;
      pkey_ok_q    <= pkey_q[14:0] == fixed.pkey[14:0] && pkey_q[14:0] != 15'd0 &&
          (pkey_q[15] || fixed.pkey[15]);
    end
  end

  // ---- cycle 3: the decision --------------------------------------------------------------------
  logic        mtu_equal;
  logic        mtu_above;
  logic        accept;  // in order, as far as the state is concerned
  logic        begin_message;
  logic        gap;
  logic        sequence_bad;
  logic        invalid;
  logic [9:0]  class_d;
  state_t      next;

  responder_mtu u_mtu (
    .pmtu_i(fixed.pmtu),
    .bytes_i({18'd0, bytes_q}),
    .equal_o(mtu_equal),
    .above_o(mtu_above)
  );

  always_comb begin
    class_d = '0;
    if (request_q) begin
      if (!is_request_q) class_d[5] = 1'b1;
      else if (!known_q) class_d[6] = 1'b1;
      else if (!receives) class_d[7] = 1'b1;
      else if (!address_ok_q) class_d[8] = 1'b1;
      else if (!pkey_ok_q) class_d[9] = 1'b1;
      else if (psn_equal_q) class_d[0] = 1'b1;
      else if (psn_older_q) begin
        if (replay_ack_q) class_d[1] = 1'b1;
        else class_d[4] = 1'b1;
      end else if (!state.nak_sent) class_d[2] = 1'b1;
      else class_d[3] = 1'b1;
    end
  end

  assign accept        = class_d[0];
  assign gap           = class_d[2];
  assign begin_message = accept && starts_q;

  assign sequence_bad = starts_q ? state.kind != KindNone : state.kind != KindWrite;
  assign invalid = !write_q || !fixed.write_ok || sequence_bad || !pad_ok_q ||
      (starts_q && too_long_q) || (ends_q ? mtu_above : !mtu_equal);

  always_comb begin
    next = state;
    if (accept || init_q) begin
      next.epsn     = next_psn_q;
      next.nak_sent = 1'b0;
      next.kind     = ends_q || init_q ? KindNone : KindWrite;
    end else if (gap) begin
      next.nak_sent = 1'b1;
    end
    if (init_q) next.msn = '0;
    else if (accept && ends_q) next.msn = state.msn + 24'd1;
    if (begin_message) next.index = '0;
    else if (accept) next.index = state.index + 23'd1;
    if (begin_message) begin
      next.va     = va_q;
      next.rkey   = rkey_q;
      next.length = length_q;
    end
  end

  ram_sdp #(
    .Width(StateW),
    .Depth(QpCount),
    .Latency(2),
    .Style(0)
  ) u_state (
    .clk(clk),
    .wr_en_i(v3_q && known_q),
    .wr_addr_i(qpn_q[QpW-1:0]),
    .wr_data_i(next),
    .rd_en_i(valid_i),
    .rd_addr_i(hdr_i.dqpn[QpW-1:0]),
    .rd_data_o(stored_data)
  );

  // ---- cycles 4 and 5 ---------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (v3_q) begin
      forward_q  <= next;
      class_o    <= class_d;
      invalid_o  <= invalid;
      init_o     <= init_q;
      known_o    <= known_q;
      qpn_o      <= qpn_q;
      psn_o      <= state.epsn;
      msn_o      <= state.msn;
      buf_addr_o <= buf_addr_q;
      bytes_o    <= bytes_q;
      ackreq_o   <= ackreq_q;
      ends_o     <= ends_q;
      pmtu_o     <= fixed.pmtu;
      pd_o       <= fixed.pd;
    end
  end

  assign valid_o  = v4_q;
  assign va_o     = forward_q.va;
  assign rkey_o   = forward_q.rkey;
  assign length_o = forward_q.length;
  assign index_o  = forward_q.index;

  `ROCEGEN_ASSERT(slots_apart, !(valid_i && v1_q))

endmodule

`default_nettype wire
