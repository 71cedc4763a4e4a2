// sq_read: the READs and atomics under way, and what a PSN means beside the oldest one of its QP.
//
// Keeps the list of every QP's READs and atomics: number n stands in row n mod RdDepth; rd_*_i, the
// requester's broadcast, writes it no later than the cursor that counts it. look_qpn_i and
// look_rdu_i name the oldest one that is not answered; two cycles later, with the QP's row and the
// operation's PSN on the *_i inputs, everything is compared and registered:
//   in_window_o: una <= psn < nxt. older_o: psn < una. oldest_o: psn == una. sent_o: nxt != una.
//   open_o: there is an unanswered READ or atomic. The expected PSN, limit_o, is the first of the
//   oldest one, or una when a part of its responses has come; moves_o: una < limit. before_o: psn <
//   limit; expected_o: psn == limit.
//   fits_o: a response of this kind and length is right at this PSN (closing and opening opcodes,
//   bytes, syndrome). Inside a READ both FIRST and MIDDLE fit (ONLY and LAST at its end): which is
//   right depends on where the peer saw it start, which a resent request changes.
//   closes_o: psn is its last. atomic_o, target_o, laddr_o, number_o: where its bytes go (packet
//   number_o of the data at laddr_o).
// When in doubt (nothing is under way) the row means nothing and open_o is 0. No handshake: one
// look-up a cycle.
//
// QpW: bits of a QPN, 1..14. RdDepth: rows a QP, a power of two, 1..128.
`default_nettype none

module sq_read #(
  parameter int QpW = 4,
  parameter int RdDepth = 16
) (
  input  logic              clk,
  input  logic              rd_we_i,
  input  logic [QpW-1:0]    rd_qpn_i,
  input  logic [7:0]        rd_num_i,
  input  roce_pkg::sq_rd_t  rd_i,
  input  logic [QpW-1:0]    look_qpn_i,
  input  logic [7:0]        look_rdu_i,
  input  logic [7:0]        rdu_i,
  input  logic [23:0]       una_i,
  input  logic [23:0]       nxt_i,
  input  logic [7:0]        rdnxt_i,
  input  logic [2:0]        pmtu_i,
  input  logic [23:0]       psn_i,
  input  logic [7:0]        opcode_i,
  input  logic [13:0]       bytes_i,
  input  logic [2:0]        ack_type_i,  // AETH syndrome [7:5]
  output logic              in_window_o,
  output logic              older_o,
  output logic              oldest_o,
  output logic              sent_o,
  output logic              open_o,
  output logic [23:0]       limit_o,
  output logic              moves_o,
  output logic              before_o,
  output logic              expected_o,
  output logic              fits_o,
  output logic              closes_o,
  output logic              atomic_o,
  output logic [2:0]        target_o,
  output logic [63:0]       laddr_o,
  output logic [23:0]       number_o
);

  if (RdDepth < 1 || RdDepth > 128 || (RdDepth & (RdDepth - 1)) != 0) begin : gen_check_depth
    $fatal(1, "sq_read: RdDepth must be a power of two in 1..128");
  end

  localparam int RowW = $clog2(RdDepth);
  localparam int AddrW = QpW + RowW;
  localparam int Rows = 1 << AddrW;

  // Of the length only what the bytes of the last response hang on.
  typedef struct packed {
    logic        atomic;
    logic [2:0]  target;
    logic [63:0] laddr;
    logic        some;  // length is not 0
    logic [12:0] rest;  // low bits of the length
    logic [23:0] first_psn;
    logic [23:0] last_psn;
  } row_t;

  localparam int ListW = 130;

  logic [AddrW-1:0] wr_addr;
  logic [AddrW-1:0] rd_addr;
  row_t             put;
  row_t             row;

  always_comb begin
    put.atomic    = rd_i.atomic;
    put.target    = rd_i.target;
    put.laddr     = rd_i.laddr;
    put.some      = rd_i.length != '0;
    put.rest      = rd_i.length[12:0];
    put.first_psn = rd_i.first_psn;
    put.last_psn  = rd_i.last_psn;
  end

  if (RdDepth == 1) begin : gen_one
    logic unused_num;
    assign unused_num = ^{rd_num_i, look_rdu_i};
    assign wr_addr = rd_qpn_i;
    assign rd_addr = look_qpn_i;
  end else begin : gen_many
    logic unused_num;
    assign unused_num = ^{rd_num_i, look_rdu_i};
    assign wr_addr = {rd_qpn_i, rd_num_i[RowW-1:0]};
    assign rd_addr = {look_qpn_i, look_rdu_i[RowW-1:0]};
  end

  ram_sdp #(
    .Width(ListW),
    .Depth(Rows),
    .Latency(2),
    .Style(Rows >= 4096 ? 2 : 0)
  ) u_list (
    .clk(clk),
    .wr_en_i(rd_we_i),
    .wr_addr_i(wr_addr),
    .wr_data_i(put),
    .rd_en_i(1'b1),
    .rd_addr_i(rd_addr),
    .rd_data_o(row)
  );

  // ---- compare ----------------------------------------------------------------------------------
  logic        begun;  // a part of the READ's responses has come
  logic        older;
  logic        oldest;
  logic        at_first;
  logic        closes;
  logic [23:0] number;
  logic [12:0] mtu;
  logic [12:0] mask;  // mtu - 1
  logic [12:0] rest;  // bytes of its last response beyond whole ones
  logic        full;  // bytes_i is mtu
  logic        right;  // bytes_i is what the response must have
  logic        starting;
  logic        closing;

  assign begun   = !roce_pkg::psn_lt(una_i, row.first_psn);
  assign older    = roce_pkg::psn_lt(psn_i, una_i);
  assign oldest   = psn_i == una_i;
  assign number   = psn_i - row.first_psn;
  assign at_first = psn_i == row.first_psn;
  assign closes   = psn_i == row.last_psn;
  assign starting = opcode_i == roce_pkg::OpReadRespFirst || opcode_i == roce_pkg::OpReadRespOnly ||
      opcode_i == roce_pkg::OpAtomicAck;
  assign closing  = opcode_i == roce_pkg::OpReadRespLast || opcode_i == roce_pkg::OpReadRespOnly ||
      opcode_i == roce_pkg::OpAtomicAck;

  always_comb begin
    case (pmtu_i)
      3'd1: mask = 13'd255;
      3'd2: mask = 13'd511;
      3'd3: mask = 13'd1023;
      3'd4: mask = 13'd2047;
      default: mask = 13'd4095;
    endcase
    case (pmtu_i)
      3'd1: mtu = 13'd256;
      3'd2: mtu = 13'd512;
      3'd3: mtu = 13'd1024;
      3'd4: mtu = 13'd2048;
      default: mtu = 13'd4096;
    endcase
    rest = row.rest & mask;
    full = bytes_i == {1'b0, mtu};
    if (!closes) right = full;
    else if (row.atomic) right = bytes_i == 14'd8;
    else if (rest == '0 && row.some) right = full;
    else right = bytes_i == {1'b0, rest};
  end

  always_ff @(posedge clk) begin
    in_window_o <= !older && roce_pkg::psn_lt(psn_i, nxt_i);
    older_o     <= older;
    oldest_o    <= oldest;
    sent_o      <= nxt_i != una_i;
    open_o      <= rdnxt_i != rdu_i;
    limit_o     <= begun ? una_i : row.first_psn;
    moves_o     <= !begun;
    before_o    <= begun ? older : number[23];
    expected_o  <= begun ? oldest : at_first;
    fits_o      <= row.atomic == (opcode_i == roce_pkg::OpAtomicAck) && closing == closes &&
        (starting || !at_first) && right && ack_type_i == '0;
    closes_o    <= closes;
    atomic_o    <= row.atomic;
    target_o    <= row.target;
    laddr_o     <= row.laddr;
    number_o    <= number;
  end

endmodule

`default_nettype wire
