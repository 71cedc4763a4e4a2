// tx_header: writes the headers of a frame.
//
// Combinational. hdr_o holds byte f of the frame in [8f+7:8f]: Ethernet, IPv4 (no options,
// identification 0 with DF: RFC 6864 4.1), UDP without checksum, BTH and the opcode's extension
// headers; bytes behind its headers are zero, and so is the IPv4 checksum, which is filled in
// later.
//
// MigReq: the BTH's M bit.
`default_nettype none

module tx_header #(
  parameter bit MigReq = 1'b1
) (
  input  logic [47:0]       local_mac_i,
  input  logic [31:0]       local_ip_i,
  input  logic [7:0]        ttl_i,
  input  logic [7:0]        tos_i,
  input  roce_pkg::tx_pkt_t pkt_i,
  input  logic [5:0]        ext_i,        // extension headers, see below
  input  logic [13:0]       words_i,      // IP total length in words of four bytes
  input  logic [47:0]       dmac_i,
  input  logic [31:0]       dip_i,
  input  logic [23:0]       dqpn_i,
  input  logic [15:0]       sport_i,
  input  logic [15:0]       pkey_i,
  output logic [8*82-1:0]   hdr_o
);

  // The extension headers, as tx_lookup found them.
  logic address;     // RETH or AtomicETH: both begin with virtual address and key
  logic atomic;      // AtomicETH
  logic atomic_ack;  // AETH and AtomicAckETH
  logic aeth;        // AETH with or without AtomicAckETH
  logic imm_near;    // ImmDt or IETH right behind the BTH
  logic imm_far;     // ImmDt behind the RETH
  assign {address, atomic, atomic_ack, aeth, imm_near, imm_far} = ext_i;

  logic [13:0] udp_words;
  logic [1:0]  pad;
  logic [31:0] ext0;  // words of the extension headers
  logic [31:0] ext1;
  logic [31:0] ext2;
  logic [31:0] ext3;
  logic [31:0] ext4;
  logic [31:0] ext5;
  logic [31:0] ext6;
  assign udp_words = words_i - 14'd5;
  assign pad = 2'd0 - pkt_i.pay_bytes[1:0];
  assign ext0 = (address ? pkt_i.va[63:32] : '0) |
                (aeth ? {pkt_i.syndrome, pkt_i.msn} : '0) |
                (imm_near ? pkt_i.imm : '0);
  assign ext1 = (address ? pkt_i.va[31:0] : '0) | (atomic_ack ? pkt_i.va[63:32] : '0);
  assign ext2 = (address ? pkt_i.rkey : '0) | (atomic_ack ? pkt_i.va[31:0] : '0);
  assign ext3 = address ? pkt_i.dma_len : '0;
  assign ext4 = atomic || imm_far ? pkt_i.imm : '0;
  assign ext5 = atomic ? {pkt_i.syndrome, pkt_i.msn} : '0;
  assign ext6 = atomic ? pkt_i.compare_lo : '0;

  // The frame's first byte first.
  logic [8*82-1:0] wire_order;
  assign wire_order = {
    dmac_i, local_mac_i, roce_pkg::EtherTypeIpv4,
    8'h45, tos_i, words_i, 2'b00, 16'h0000, 16'h4000, ttl_i, roce_pkg::IpProtoUdp, 16'h0000,
    local_ip_i, dip_i,
    sport_i, roce_pkg::UdpPortRoce, udp_words, 2'b00, 16'h0000,
    pkt_i.opcode, pkt_i.se, MigReq, pad, 4'd0, pkey_i, 8'h00, dqpn_i, pkt_i.ackreq, 7'd0, pkt_i.psn,
    ext0, ext1, ext2, ext3, ext4, ext5, ext6
  };

  for (genvar f = 0; f < 82; f++) begin : gen_byte
    assign hdr_o[8*f+:8] = wire_order[8*(81-f)+:8];
  end

  logic unused_qpn;
  assign unused_qpn = ^{pkt_i.life, pkt_i.qpn, pkt_i.pay_bytes[13:2]};

endmodule

`default_nettype wire
