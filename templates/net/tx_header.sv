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
  input  logic [13:0]       words_i,      // IP total length in words of four bytes
  input  logic [47:0]       dmac_i,
  input  logic [31:0]       dip_i,
  input  logic [23:0]       dqpn_i,
  input  logic [15:0]       sport_i,
  input  logic [15:0]       pkey_i,
  output logic [8*74-1:0]   hdr_o
);

  logic reth;
  logic aeth;
  logic imm_near;  // ImmDt or IETH right behind the BTH
  logic imm_far;   // ImmDt behind the RETH

  always_comb begin
    reth     = 1'b0;
    aeth     = 1'b0;
    imm_near = 1'b0;
    imm_far  = 1'b0;
    case (pkt_i.opcode)
      roce_pkg::OpWriteFirst, roce_pkg::OpWriteOnly, roce_pkg::OpReadRequest: reth = 1'b1;
      roce_pkg::OpWriteOnlyImm: begin
        reth    = 1'b1;
        imm_far = 1'b1;
      end
      roce_pkg::OpReadRespFirst, roce_pkg::OpReadRespLast, roce_pkg::OpReadRespOnly,
      roce_pkg::OpAck: aeth = 1'b1;
      roce_pkg::OpSendLastImm, roce_pkg::OpSendOnlyImm, roce_pkg::OpWriteLastImm,
      roce_pkg::OpSendLastInv, roce_pkg::OpSendOnlyInv: imm_near = 1'b1;
      default: ;
    endcase
  end

  logic [13:0] udp_words;
  logic [1:0]  pad;
  logic [31:0] first_word;  // of the extension headers
  assign udp_words = words_i - 14'd5;
  assign pad = 2'd0 - pkt_i.pay_bytes[1:0];
  assign first_word = (reth ? pkt_i.va[63:32] : '0) |
                      (aeth ? {pkt_i.syndrome, pkt_i.msn} : '0) |
                      (imm_near ? pkt_i.imm : '0);

  // The frame's first byte first.
  logic [8*74-1:0] wire_order;
  assign wire_order = {
    dmac_i, local_mac_i, roce_pkg::EtherTypeIpv4,
    8'h45, tos_i, words_i, 2'b00, 16'h0000, 16'h4000, ttl_i, roce_pkg::IpProtoUdp, 16'h0000,
    local_ip_i, dip_i,
    sport_i, roce_pkg::UdpPortRoce, udp_words, 2'b00, 16'h0000,
    pkt_i.opcode, pkt_i.se, MigReq, pad, 4'd0, pkey_i, 8'h00, dqpn_i, pkt_i.ackreq, 7'd0, pkt_i.psn,
    first_word, reth ? {pkt_i.va[31:0], pkt_i.rkey, pkt_i.dma_len} : 96'd0,
    imm_far ? pkt_i.imm : 32'd0
  };

  for (genvar f = 0; f < 74; f++) begin : gen_byte
    assign hdr_o[8*f+:8] = wire_order[8*(73-f)+:8];
  end

  logic unused_qpn;
  assign unused_qpn = ^{pkt_i.qpn, pkt_i.pay_bytes[13:2]};

endmodule

`default_nettype wire
