// rx_header: collects the header fields of received frames into a record.
//
// Takes one beat every cycle. hdr_o is valid in the cycle after a frame's last beat, for one cycle;
// buf_addr and pay_bytes are filled in by others and zero here.
//
// DataW: bits a beat, 64..1024, a power of two. IdxW: bits of idx_i, which must count to the beat
// that holds byte 73.
`default_nettype none

module rx_header #(
  parameter int DataW = 512,
  parameter int IdxW = 4
) (
  input  logic              clk,
  input  logic              valid_i,
  input  logic [IdxW-1:0]   idx_i,
  input  logic [DataW-1:0]  data_i,
  output roce_pkg::rx_hdr_t hdr_o
);

  localparam int Bytes = DataW / 8;
  localparam int HdrBytes = 74;

  logic [8*HdrBytes-1:0] frame;  // its byte f in [8f+7:8f]

  for (genvar f = 0; f < HdrBytes; f++) begin : gen_byte
    if (f == 15 || (f >= 26 && f < 34) || f >= 42) begin : gen_kept
      logic [7:0] kept_q;
      always_ff @(posedge clk) begin
        if (valid_i && idx_i == IdxW'(f / Bytes)) kept_q <= data_i[8*(f%Bytes)+:8];
      end
      assign frame[8*f+:8] = kept_q;
    end else begin : gen_not_kept
      assign frame[8*f+:8] = 8'h00;
    end
  end

  logic [7:0] opcode;
  logic       address;   // RETH, or the front of an AtomicETH: virtual address and key
  logic       reth;
  logic       aeth;
  logic       imm_near;  // ImmDt or IETH right behind the BTH
  logic       imm_far;   // ImmDt behind the RETH

  // Big-endian words of the header.
  logic [63:0] word54;
  logic [31:0] word62;
  logic [31:0] word66;
  logic [31:0] word70;

  always_comb begin
    for (int i = 0; i < 8; i++) word54[8*(7-i)+:8] = frame[8*(54+i)+:8];
    for (int i = 0; i < 4; i++) begin
      word62[8*(3-i)+:8] = frame[8*(62+i)+:8];
      word66[8*(3-i)+:8] = frame[8*(66+i)+:8];
      word70[8*(3-i)+:8] = frame[8*(70+i)+:8];
    end
  end

  assign opcode = frame[8*42+:8];

  always_comb begin
    address  = 1'b0;
    reth     = 1'b0;
    aeth     = 1'b0;
    imm_near = 1'b0;
    imm_far  = 1'b0;
    case (opcode)
      roce_pkg::OpWriteFirst, roce_pkg::OpWriteOnly, roce_pkg::OpReadRequest: begin
        address = 1'b1;
        reth    = 1'b1;
      end
      roce_pkg::OpCmpSwap, roce_pkg::OpFetchAdd: address = 1'b1;
      roce_pkg::OpWriteOnlyImm: begin
        address = 1'b1;
        reth    = 1'b1;
        imm_far = 1'b1;
      end
      roce_pkg::OpReadRespFirst, roce_pkg::OpReadRespLast, roce_pkg::OpReadRespOnly,
      roce_pkg::OpAck, roce_pkg::OpAtomicAck: aeth = 1'b1;
      roce_pkg::OpSendLastImm, roce_pkg::OpSendOnlyImm, roce_pkg::OpWriteLastImm,
      roce_pkg::OpSendLastInv, roce_pkg::OpSendOnlyInv: imm_near = 1'b1;
      default: ;
    endcase
  end

  always_comb begin
    hdr_o.buf_addr  = '0;
    hdr_o.pay_bytes = '0;
    hdr_o.src_ip    = {frame[8*26+:8], frame[8*27+:8], frame[8*28+:8], frame[8*29+:8]};
    hdr_o.dst_ip    = {frame[8*30+:8], frame[8*31+:8], frame[8*32+:8], frame[8*33+:8]};
    hdr_o.ecn       = frame[8*15+:2];
    hdr_o.opcode    = opcode;
    hdr_o.se        = frame[8*43+7];
    hdr_o.mig       = frame[8*43+6];
    hdr_o.pad       = frame[8*43+4+:2];
    hdr_o.pkey      = {frame[8*44+:8], frame[8*45+:8]};
    hdr_o.fecn      = frame[8*46+7];
    hdr_o.becn      = frame[8*46+6];
    hdr_o.dqpn      = {frame[8*47+:8], frame[8*48+:8], frame[8*49+:8]};
    hdr_o.ackreq    = frame[8*50+7];
    hdr_o.psn       = {frame[8*51+:8], frame[8*52+:8], frame[8*53+:8]};
    hdr_o.va        = address ? word54 : '0;
    hdr_o.rkey      = address ? word62 : '0;
    hdr_o.dma_len   = reth ? word66 : '0;
    hdr_o.syndrome  = aeth ? word54[63:56] : '0;
    hdr_o.msn       = aeth ? word54[55:32] : '0;
    hdr_o.imm       = (imm_near ? word54[63:32] : '0) | (imm_far ? word70 : '0);
    hdr_o.refuse    = 1'b0;
    hdr_o.tag       = '0;
    hdr_o.life      = '0;
  end

  // Reserved bits, payload.
  logic unused_bits;
  assign unused_bits = ^{data_i, frame[8*42-1:0], frame[8*43+:4], frame[8*46+:6], frame[8*50+:7]};

endmodule

`default_nettype wire
