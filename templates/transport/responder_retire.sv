// responder_retire: last stage of the responder: verdict, answer, command and event of each slot.
//
// Slots enter at least two cycles apart with valid_i; region_ok_i belongs to the slot of the cycle
// before. The outputs leave two cycles after valid_i and are never stalled: whoever admits slots
// has made room. Each request gives exactly one fetch command and exactly one of the outcome pulses
// (accepted, duplicates, nak_*, out_of_order, drop_*).
//
// Owner of the bit that tells whether a QP lives: set by a slot with init_i, cleared by any other
// that is no request, and by a fatal NAK. Because it is looked at here, after everything else and
// in order, the request behind a fatal one is already dropped, and a QP that was never set up is
// dead. psn_i is ePSN from before the slot: the PSN of a request in order, of a gap's NAK, and one
// more than that of a duplicate's ACK.
//
// QpCount: queue pairs, 1..16384.
`default_nettype none

module responder_retire #(
  parameter int QpCount = 16
) (
  input  logic               clk,
  input  logic               rst,
  output logic               ready_o,
  input  logic               valid_i,
  input  logic               init_i,
  input  logic               known_i,
  input  logic [9:0]         class_i,  // as responder_sequence
  input  logic               invalid_i,
  input  logic               key_needed_i,
  input  logic [23:0]        qpn_i,
  input  logic [23:0]        psn_i,
  input  logic [23:0]        msn_i,
  input  logic [15:0]        buf_addr_i,
  input  logic [13:0]        bytes_i,
  input  logic [63:0]        addr_i,
  input  logic               ackreq_i,
  input  logic               ends_i,
  input  logic               region_ok_i,
  output logic               fetch_valid_o,
  output roce_pkg::rx_cmd_t  fetch_o,
  output logic               ack_valid_o,
  output roce_pkg::ack_req_t ack_o,
  output logic               evt_valid_o,
  output roce_pkg::qp_evt_t  evt_o,
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

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  // One bit a QP: LUTs while they are few.
  localparam int BitStyle = QpCount > 256 ? 1 : 3;

  logic        v1_q;
  logic        init_q;
  logic        known_q;
  logic [9:0]  class_q;
  logic        invalid_q;
  logic        key_needed_q;
  logic [23:0] qpn_q;
  logic [23:0] psn_q;
  logic [23:0] msn_q;
  logic [15:0] buf_addr_q;
  logic [13:0] bytes_q;
  logic [63:0] addr_q;
  logic        ackreq_q;
  logic        ends_q;

  always_ff @(posedge clk) begin
    if (rst) v1_q <= 1'b0;
    else v1_q <= valid_i;
    if (valid_i) begin
      init_q       <= init_i;
      known_q      <= known_i;
      class_q      <= class_i;
      invalid_q    <= invalid_i;
      key_needed_q <= key_needed_i;
      qpn_q        <= qpn_i;
      psn_q        <= psn_i;
      msn_q        <= msn_i;
      buf_addr_q   <= buf_addr_i;
      bytes_q      <= bytes_i;
      addr_q       <= addr_i;
      ackreq_q     <= ackreq_i;
      ends_q       <= ends_i;
    end
  end

  // ---- verdict ----------------------------------------------------------------------------------
  logic alive;
  logic request;
  logic no_access;
  logic fatal;
  logic accepted;
  logic duplicate;
  logic nak_psn;
  logic nak_inv_req;
  logic nak_access;
  logic positive;

  assign request     = class_q != '0;
  assign no_access   = key_needed_q && !region_ok_i;
  assign fatal       = class_q[0] && (invalid_q || no_access);
  assign accepted    = alive && class_q[0] && !invalid_q && !no_access;
  assign nak_inv_req = alive && class_q[0] && invalid_q;
  assign nak_access  = alive && class_q[0] && !invalid_q && no_access;
  assign duplicate   = alive && class_q[1];
  assign nak_psn     = alive && class_q[2];
  assign positive    = duplicate || (accepted && ackreq_q);

  // A slot reads in its first cycle and writes in its second, the next one reads later than that.
  // To kill a dead QP again changes nothing.
  ram_clear #(
    .Width(1),
    .Depth(QpCount),
    .Latency(1),
    .Style(BitStyle)
  ) u_alive (
    .clk(clk),
    .rst(rst),
    .wr_en_i(v1_q && known_q && (!request || fatal)),
    .wr_addr_i(qpn_q[QpW-1:0]),
    .wr_data_i(init_q),
    .rd_en_i(valid_i),
    .rd_addr_i(qpn_i[QpW-1:0]),
    .rd_data_o(alive),
    .ready_o(ready_o)
  );

  // ---- outputs ----------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (rst) begin
      fetch_valid_o          <= 1'b0;
      ack_valid_o            <= 1'b0;
      evt_valid_o            <= 1'b0;
      cnt_rsp_requests_o     <= 1'b0;
      cnt_rsp_accepted_o     <= 1'b0;
      cnt_rsp_duplicates_o   <= 1'b0;
      cnt_rsp_acks_o         <= 1'b0;
      cnt_rsp_nak_psn_o      <= 1'b0;
      cnt_rsp_nak_inv_req_o  <= 1'b0;
      cnt_rsp_nak_access_o   <= 1'b0;
      cnt_rsp_out_of_order_o <= 1'b0;
      cnt_rsp_drop_replay_o  <= 1'b0;
      cnt_rsp_drop_opcode_o  <= 1'b0;
      cnt_rsp_drop_qpn_o     <= 1'b0;
      cnt_rsp_drop_state_o   <= 1'b0;
      cnt_rsp_drop_addr_o    <= 1'b0;
      cnt_rsp_drop_pkey_o    <= 1'b0;
      cnt_rsp_drop_dead_o    <= 1'b0;
    end else begin
      fetch_valid_o          <= v1_q && request;
      ack_valid_o            <= v1_q && (positive || nak_psn || nak_inv_req || nak_access);
      evt_valid_o            <= v1_q && (nak_inv_req || nak_access);
      cnt_rsp_requests_o     <= v1_q && request;
      cnt_rsp_accepted_o     <= v1_q && accepted;
      cnt_rsp_duplicates_o   <= v1_q && duplicate;
      cnt_rsp_acks_o         <= v1_q && positive;
      cnt_rsp_nak_psn_o      <= v1_q && nak_psn;
      cnt_rsp_nak_inv_req_o  <= v1_q && nak_inv_req;
      cnt_rsp_nak_access_o   <= v1_q && nak_access;
      cnt_rsp_out_of_order_o <= v1_q && alive && class_q[3];
      cnt_rsp_drop_replay_o  <= v1_q && alive && class_q[4];
      cnt_rsp_drop_opcode_o  <= v1_q && class_q[5];
      cnt_rsp_drop_qpn_o     <= v1_q && class_q[6];
      cnt_rsp_drop_state_o   <= v1_q && class_q[7];
      cnt_rsp_drop_addr_o    <= v1_q && class_q[8];
      cnt_rsp_drop_pkey_o    <= v1_q && class_q[9];
      cnt_rsp_drop_dead_o    <= v1_q && !alive && (class_q[4:0] != 5'd0);
    end
  end

  always_ff @(posedge clk) begin
    fetch_o.buf_addr <= buf_addr_q;
    fetch_o.bytes    <= bytes_q;
    fetch_o.forward  <= accepted && bytes_q != 14'd0;
    fetch_o.last     <= ends_q;
    fetch_o.qpn      <= qpn_q;
    fetch_o.psn      <= psn_q;
    fetch_o.addr     <= addr_q;
    ack_o.qpn        <= qpn_q;
    ack_o.psn        <= psn_q - {23'd0, class_q[1]};
    ack_o.msn        <= msn_q + {23'd0, accepted && ends_q};
    ack_o.dup        <= class_q[1];
    ack_o.syndrome   <= class_q[2] ? roce_pkg::SynNakPsn :
        !class_q[0] ? roce_pkg::SynAckNoLimit :
        invalid_q ? roce_pkg::SynNakInvReq :
        no_access ? roce_pkg::SynNakAccess : roce_pkg::SynAckNoLimit;
    evt_o.cause      <= invalid_q ? roce_pkg::EvtNakInvReq : roce_pkg::EvtNakAccess;
    evt_o.qpn        <= qpn_q;
  end

endmodule

`default_nettype wire
