// sq_peer: what sq_ack has to know of a QP besides its own row: is a header from the QP's peer, how
// far has the requester come, how often may it try.
//
// Three look-ups, each when sq_ack is there with an operation: look_i takes look_qpn_i; one cycle
// later, with check_qpn_i, hdr_* (the header's source and P_Key) and step_i, the fixed part is
// compared and registered (known_i: the header is one for a QPN below QpCount; header_ok_o: it is
// from the QP's peer, and its P_Key matches: equal in the low 15 bits, not zero, at least one side
// a full member), and the cursor of check_qpn_i is looked up: nxt_o and rdnxt_o two cycles later.
// blocked_o is the requester's mark of mark_qpn_i, two cycles later. set_valid_i takes what set-up
// says of the QP; cursor_*_i are the requester's broadcasts.
//
// QpW: bits of a QPN, 1..14.
`default_nettype none

module sq_peer #(
  parameter int QpW = 4
) (
  input  logic                 clk,
  input  logic                 set_valid_i,
  input  roce_pkg::qp_cfg_t    set_i,
  input  logic                 cursor_we_i,
  input  logic [QpW-1:0]       cursor_qpn_i,
  input  roce_pkg::sq_cursor_t cursor_i,
  input  logic                 look_i,
  input  logic [QpW-1:0]       look_qpn_i,
  input  logic                 step_i,
  input  logic [QpW-1:0]       check_qpn_i,
  input  logic                 known_i,
  input  logic [31:0]          hdr_ip_i,
  input  logic [15:0]          hdr_pkey_i,
  output logic                 header_ok_o,
  output logic [2:0]           pmtu_o,
  output logic [2:0]           retry_cnt_o,
  output logic [2:0]           rnr_retry_o,
  output logic [23:0]          nxt_o,
  output logic [7:0]           rdnxt_o,
  input  logic [QpW-1:0]       mark_qpn_i,
  output logic                 blocked_o
);

  localparam int Rows = 1 << QpW;

  logic [31:0] peer_ip;
  logic [15:0] peer_pkey;
  logic [2:0]  pmtu;
  logic [2:0]  retry_cnt;
  logic [2:0]  rnr_retry;
  logic        ip_ok;
  logic        pkey_ok;
  logic [31:0] cursor_read;
  logic        blocked;

  ram_sdp #(
    .Width(57),
    .Depth(Rows)
  ) u_peer (
    .clk(clk),
    .wr_en_i(set_valid_i),
    .wr_addr_i(set_i.qpn[QpW-1:0]),
    .wr_data_i({set_i.dip, set_i.pkey, set_i.pmtu, set_i.retry_cnt, set_i.rnr_retry}),
    .rd_en_i(look_i),
    .rd_addr_i(look_qpn_i),
    .rd_data_o({peer_ip, peer_pkey, pmtu, retry_cnt, rnr_retry})
  );

  ram_sdp #(
    .Width(32),
    .Depth(Rows)
  ) u_cursor (
    .clk(clk),
    .wr_en_i(cursor_we_i),
    .wr_addr_i(cursor_qpn_i),
    .wr_data_i({cursor_i.nxt, cursor_i.rdnxt}),
    .rd_en_i(1'b1),
    .rd_addr_i(check_qpn_i),
    .rd_data_o(cursor_read)
  );

  ram_sdp #(
    .Width(1),
    .Depth(Rows)
  ) u_blocked (
    .clk(clk),
    .wr_en_i(cursor_we_i),
    .wr_addr_i(cursor_qpn_i),
    .wr_data_i(cursor_i.blocked),
    .rd_en_i(1'b1),
    .rd_addr_i(mark_qpn_i),
    .rd_data_o(blocked)
  );

  assign ip_ok   = hdr_ip_i == peer_ip;
  assign pkey_ok = hdr_pkey_i[14:0] == peer_pkey[14:0] && hdr_pkey_i[14:0] != '0 &&
      (hdr_pkey_i[15] || peer_pkey[15]);

  always_ff @(posedge clk) begin
    if (step_i) begin
      header_ok_o <= known_i && ip_ok && pkey_ok;
      pmtu_o      <= pmtu;
      retry_cnt_o <= retry_cnt;
      rnr_retry_o <= rnr_retry;
    end
    {nxt_o, rdnxt_o} <= cursor_read;
    blocked_o <= blocked;
  end

  // Fields of the records that only others need.
  logic unused;
  assign unused = ^{set_i, cursor_i};

endmodule

`default_nettype wire
