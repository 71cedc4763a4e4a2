// aes_packet: what AES makes of a packet's headers, combinational.
//
// payload_o: SEND, WRITE or READ response, with or without payload: these are encrypted; atomics, READ requests
// and acknowledges are not. response_o: a READ response. aad_o: associated data of GCM, byte 0 lowest:
//   0 class (0 request, 1 READ response); 1 opcode of a request; 2 solicited event of a request; 3 zero;
//   4..11 VA, 12..15 R_Key, 16..19 DMA length of a RETH; 20..23 ImmDt or IETH; 24..31 zero; highest byte first,
//   zero where the opcode has no such header.
// All of it is the same in every retransmission. A READ response's opcode is not: one that is resumed begins with
// another; nor are AckReq, the AETH's syndrome and MSN. PSN and QPN are in the nonce.
`default_nettype none

module aes_packet (
  input  logic [7:0]   opcode_i,
  input  logic         se_i,
  input  logic [63:0]  va_i,
  input  logic [31:0]  rkey_i,
  input  logic [31:0]  dma_len_i,
  input  logic [31:0]  imm_i,
  output logic         payload_o,
  output logic         response_o,
  output logic [255:0] aad_o
);

  logic reth, imm;
  assign response_o = opcode_i >= roce_pkg::OpReadRespFirst && opcode_i <= roce_pkg::OpReadRespOnly;
  assign payload_o = response_o || opcode_i < roce_pkg::OpReadRequest ||
      opcode_i == roce_pkg::OpSendLastInv || opcode_i == roce_pkg::OpSendOnlyInv;
  assign reth = opcode_i == roce_pkg::OpWriteFirst || opcode_i == roce_pkg::OpWriteOnly ||
      opcode_i == roce_pkg::OpWriteOnlyImm;
  assign imm = opcode_i == roce_pkg::OpSendLastImm || opcode_i == roce_pkg::OpSendOnlyImm ||
      opcode_i == roce_pkg::OpWriteLastImm || opcode_i == roce_pkg::OpWriteOnlyImm ||
      opcode_i == roce_pkg::OpSendLastInv || opcode_i == roce_pkg::OpSendOnlyInv;

  logic [159:0] fields;  // in the order of the bytes, the first on top
  assign fields = {reth ? {va_i, rkey_i, dma_len_i} : 128'd0, imm ? imm_i : 32'd0};
  assign aad_o[7:0] = {7'd0, response_o};
  assign aad_o[15:8] = response_o ? 8'd0 : opcode_i;
  assign aad_o[31:16] = {15'd0, se_i && !response_o};
  for (genvar i = 0; i < 20; i++) begin : gen_field
    assign aad_o[32+8*i+:8] = fields[159-8*i-:8];
  end
  assign aad_o[255:192] = '0;

endmodule

`default_nettype wire
