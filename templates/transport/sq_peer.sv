// sq_peer: what sq_ack has to know of a QP besides its own row: is a header from the QP's peer, how
// far has the requester come, how often may it try.
//
// qpn_i and hdr_i in one cycle give the outputs two cycles later. header_ok_o: the header is an
// acknowledgement with a QPN below QpCount, its source is the QP's peer, and its P_Key matches
// (equal in the low 15 bits, not zero, at least one side a full member). No handshake, one look-up
// a cycle. set_valid_i takes the QP's peer, P_Key and retry count; cursor_*_i are the requester's
// broadcasts.
//
// QpCount: 1..16384, QpW: bits of a QPN below it.
`default_nettype none

module sq_peer #(
  parameter int QpCount = 16,
  parameter int QpW = 4
) (
  input  logic                 clk,
  input  logic                 set_valid_i,
  input  roce_pkg::qp_cfg_t    set_i,
  input  logic                 cursor_we_i,
  input  logic [QpW-1:0]       cursor_qpn_i,
  input  roce_pkg::sq_cursor_t cursor_i,
  input  logic [QpW-1:0]       qpn_i,
  input  roce_pkg::rx_hdr_t    hdr_i,
  output logic                 header_ok_o,
  output logic [23:0]          nxt_o,
  output logic                 blocked_o,
  output logic [2:0]           retry_cnt_o,
  output logic                 timer_off_o
);

  localparam int Rows = 1 << QpW;

  logic [24:0] cursor_read;
  logic [31:0] peer_ip;
  logic [15:0] peer_pkey;
  logic [2:0]  retry_cnt;
  logic        timer_off;
  logic [31:0] ip_q;
  logic [15:0] pkey_q;
  logic        known_q;
  logic        ip_ok;
  logic        pkey_ok;

  ram_sdp #(
    .Width(25),
    .Depth(Rows)
  ) u_cursor (
    .clk(clk),
    .wr_en_i(cursor_we_i),
    .wr_addr_i(cursor_qpn_i),
    .wr_data_i({cursor_i.nxt, cursor_i.blocked}),
    .rd_en_i(1'b1),
    .rd_addr_i(qpn_i),
    .rd_data_o(cursor_read)
  );

  ram_sdp #(
    .Width(52),
    .Depth(Rows)
  ) u_peer (
    .clk(clk),
    .wr_en_i(set_valid_i),
    .wr_addr_i(set_i.qpn[QpW-1:0]),
    .wr_data_i({set_i.dip, set_i.pkey, set_i.retry_cnt, set_i.timeout == '0}),
    .rd_en_i(1'b1),
    .rd_addr_i(qpn_i),
    .rd_data_o({peer_ip, peer_pkey, retry_cnt, timer_off})
  );

  assign ip_ok   = ip_q == peer_ip;
  assign pkey_ok = pkey_q[14:0] == peer_pkey[14:0] && pkey_q[14:0] != '0 &&
      (pkey_q[15] || peer_pkey[15]);

  always_ff @(posedge clk) begin
    ip_q        <= hdr_i.src_ip;
    pkey_q      <= hdr_i.pkey;
    known_q     <= hdr_i.opcode == roce_pkg::OpAck && hdr_i.dqpn < 24'(QpCount);
    header_ok_o <= known_q && ip_ok && pkey_ok;
    {nxt_o, blocked_o} <= cursor_read;
    retry_cnt_o <= retry_cnt;
    timer_off_o <= timer_off;
  end

  // Fields of the records that only others need.
  logic unused;
  assign unused = ^{set_i, cursor_i, hdr_i};

endmodule

`default_nettype wire
