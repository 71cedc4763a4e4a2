// aes_egress: the AES service on the way out: encrypts SEND, WRITE and READ responses of the queue pairs that have it.
//
// Egress stage of docs/services.md: s_pkt_* -> m_pkt_*, tuser svc_tx_t. A packet without a key in force gets err, so
// that it is not sent, and a count. With Gcm a packet grows by a trailer of 16 bytes, one without payload too.
// tables_i: writes to the key tables, of aes_tables. Latency and rate: aes_stream.
//
// DataW: 64..1024. QpCount: 1..16384. Index: the service's bit in the mask. KeyBits: 128, 256. Gcm: 0 CTR, 1 GCM.
// RoundsPerStage: as in aes_core.
`include "rocegen_assert.svh"
`default_nettype none

module aes_egress #(
  parameter int DataW = 512,
  parameter int QpCount = 16,
  parameter int Index = 0,
  parameter int KeyBits = 256,
  parameter int Gcm = 1,
  parameter int RoundsPerStage = 2
) (
  input  logic                clk,
  input  logic                rst,
  output logic                ready_o,
  input  logic                s_pkt_tvalid,
  output logic                s_pkt_tready,
  input  logic [DataW-1:0]    s_pkt_tdata,
  input  logic [DataW/8-1:0]  s_pkt_tkeep,
  input  logic                s_pkt_tlast,
  input  roce_pkg::svc_tx_t   s_pkt_tuser,
  output logic                m_pkt_tvalid,
  input  logic                m_pkt_tready,
  output logic [DataW-1:0]    m_pkt_tdata,
  output logic [DataW/8-1:0]  m_pkt_tkeep,
  output logic                m_pkt_tlast,
  output roce_pkg::svc_tx_t   m_pkt_tuser,
  input  logic [(Gcm != 0 ? (DataW > 128 ? DataW : 128) + 128 : 1) + KeyBits +
      3 * (QpCount > 1 ? $clog2(QpCount) : 1) + 3 * aes_pkg::ExtW + 64 : 0] tables_i,
  output logic                cnt_aes_sent_o,
  output logic                cnt_aes_sent_no_key_o
);

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int ExtW = aes_pkg::ExtW;
  localparam int KeyW = (Gcm != 0 ? (DataW > 128 ? DataW : 128) + 128 : 1) + KeyBits + 57;

  logic             ref_we, key_we, key_slot;
  logic [QpW:0]     ref_addr;
  logic [ExtW-1:0]  reference;
  logic [1:0]       slot_we;
  logic [QpW-1:0]   slot_qpn, key_qpn;
  logic [2*ExtW+1:0] slot;
  logic [KeyW-1:0]  key;
  assign {ref_we, ref_addr, reference, slot_we, slot_qpn, slot, key_we, key_slot, key_qpn, key} = tables_i;

  logic              payload, response, active;
  logic [255:0]      aad;
  roce_pkg::tx_pkt_t pkt;
  assign pkt = s_pkt_tuser.pkt;
  aes_packet u_packet (
    .opcode_i(pkt.opcode),
    .se_i(pkt.se),
    .va_i(pkt.va),
    .rkey_i(pkt.rkey),
    .dma_len_i(pkt.dma_len),
    .imm_i(pkt.imm),
    .payload_o(payload),
    .response_o(response),
    .aad_o(aad)
  );
  assign active = payload && s_pkt_tuser.mask[Index];

  // err comes with the last beat, the rest of the record with the first.
  roce_pkg::svc_tx_t user, out;
  logic              out_active, keyless, failed, unused_forged;
  always_comb begin
    user = s_pkt_tuser;
    user.err = 1'b0;
    if (Gcm != 0 && active) user.pkt.pay_bytes = pkt.pay_bytes + 14'd16;
  end

  aes_stream #(
    .DataW(DataW),
    .QpCount(QpCount),
    .KeyBits(KeyBits),
    .Gcm(Gcm),
    .Open(0),
    .RoundsPerStage(RoundsPerStage),
    .UserW(roce_pkg::SvcTxW),
    .VerdictW(1)
  ) u_stream (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .s_pkt_tvalid(s_pkt_tvalid),
    .s_pkt_tready(s_pkt_tready),
    .s_pkt_tdata(s_pkt_tdata),
    .s_pkt_tkeep(s_pkt_tkeep),
    .s_pkt_tlast(s_pkt_tlast),
    .s_pkt_tuser(user),
    .verdict_i(s_pkt_tuser.err),
    .active_i(active),
    .qpn_i(pkt.qpn),
    .psn_i(pkt.psn),
    .response_i(response),
    .space_i(response),
    .bytes_i(pkt.pay_bytes),
    .aad_i(aad),
    .tag_i('0),
    .short_i(1'b0),
    .m_pkt_tvalid(m_pkt_tvalid),
    .m_pkt_tready(m_pkt_tready),
    .m_pkt_tdata(m_pkt_tdata),
    .m_pkt_tkeep(m_pkt_tkeep),
    .m_pkt_tlast(m_pkt_tlast),
    .m_pkt_tuser(out),
    .verdict_o(failed),
    .active_o(out_active),
    .keyless_o(keyless),
    .forged_o(unused_forged),
    .ref_we_i(ref_we),
    .ref_addr_i(ref_addr),
    .ref_i(reference),
    .slot_we_i(slot_we),
    .slot_qpn_i(slot_qpn),
    .slot_i(slot),
    .key_we_i(key_we),
    .key_slot_i(key_slot),
    .key_qpn_i(key_qpn),
    .key_i(key)
  );
  always_comb begin
    m_pkt_tuser = out;
    m_pkt_tuser.err = m_pkt_tlast && (failed || keyless);
  end

  logic done;
  assign done = m_pkt_tvalid && m_pkt_tready && m_pkt_tlast && out_active;
  assign cnt_aes_sent_o = done && !keyless && !failed;
  assign cnt_aes_sent_no_key_o = done && keyless;

  logic unused;
  assign unused = ^pkt;

  `ROCEGEN_STREAM(m_pkt_contract, m_pkt_tvalid, m_pkt_tready,
                  {m_pkt_tuser, m_pkt_tlast, m_pkt_tkeep, m_pkt_tdata})

endmodule

`default_nettype wire
