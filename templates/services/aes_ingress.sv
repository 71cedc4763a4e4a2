// aes_ingress: the AES service on the way in: decrypts SEND, WRITE and READ responses of the queue pairs that have it.
//
// Ingress stage of docs/services.md: s_pkt_* -> m_pkt_*, tuser svc_rx_t. A packet without a key in force is dropped,
// with Gcm one whose tag is wrong too, which is also told (EvtService); each is counted. With Gcm the trailer of 16 bytes
// is taken off; a packet that is too short for one is dropped like one with a wrong tag.
// tables_i: writes to the key tables, of aes_tables. Latency and rate: aes_stream, with Gcm a cycle more.
//
// DataW: 64..1024. QpCount: 1..16384. Index: the service's bit in the mask. KeyBits: 128, 256. Gcm: 0 CTR, 1 GCM.
// RoundsPerStage: as in aes_core.
`include "rocegen_assert.svh"
`default_nettype none

module aes_ingress #(
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
  input  roce_pkg::svc_rx_t   s_pkt_tuser,
  output logic                m_pkt_tvalid,
  input  logic                m_pkt_tready,
  output logic [DataW-1:0]    m_pkt_tdata,
  output logic [DataW/8-1:0]  m_pkt_tkeep,
  output logic                m_pkt_tlast,
  output roce_pkg::svc_rx_t   m_pkt_tuser,
  input  logic [(Gcm != 0 ? (DataW > 128 ? DataW : 128) + 128 : 1) + KeyBits +
      3 * (QpCount > 1 ? $clog2(QpCount) : 1) + 3 * aes_pkg::ExtW + 64 : 0] tables_i,
  output logic                cnt_aes_received_o,
  output logic                cnt_aes_received_no_key_o,
  output logic                cnt_aes_wrong_tag_o
);

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int ExtW = aes_pkg::ExtW;
  localparam int KeyW = (Gcm != 0 ? (DataW > 128 ? DataW : 128) + 128 : 1) + KeyBits + 57;
  localparam int VerdictW = 11;  // {drop, tell, refuse, tag}: valid with the last beat

  logic             ref_we, key_we, key_slot;
  logic [QpW:0]     ref_addr;
  logic [ExtW-1:0]  reference;
  logic [1:0]       slot_we;
  logic [QpW-1:0]   slot_qpn, key_qpn;
  logic [2*ExtW+1:0] slot;
  logic [KeyW-1:0]  key;
  assign {ref_we, ref_addr, reference, slot_we, slot_qpn, slot, key_we, key_slot, key_qpn, key} = tables_i;

  logic              in_payload, in_active;
  roce_pkg::rx_hdr_t in_hdr;
  assign in_hdr = s_pkt_tuser.hdr;
  assign in_active = in_payload && s_pkt_tuser.mask[Index];
  logic unused_in_response;
  logic [255:0] unused_in_aad;
  aes_packet u_in (
    .opcode_i(in_hdr.opcode),
    .se_i(1'b0),
    .va_i('0),
    .rkey_i('0),
    .dma_len_i('0),
    .imm_i('0),
    .payload_o(in_payload),
    .response_o(unused_in_response),
    .aad_o(unused_in_aad)
  );

  // ---- without the trailer ----------------------------------------------------------------------
  logic                text_valid, text_ready, text_last;
  logic [DataW-1:0]    text_data;
  logic [DataW/8-1:0]  text_keep;
  roce_pkg::svc_rx_t   text_user;
  logic                text_active, text_short;
  logic [13:0]         text_bytes;
  logic [127:0]        tag;
  if (Gcm != 0) begin : gen_strip
    aes_strip #(
      .DataW(DataW),
      .UserW(roce_pkg::SvcRxW)
    ) u_strip (
      .clk(clk),
      .rst(rst),
      .s_pkt_tvalid(s_pkt_tvalid),
      .s_pkt_tready(s_pkt_tready),
      .s_pkt_tdata(s_pkt_tdata),
      .s_pkt_tkeep(s_pkt_tkeep),
      .s_pkt_tlast(s_pkt_tlast),
      .s_pkt_tuser(s_pkt_tuser),
      .s_active_i(in_active),
      .s_bytes_i(in_hdr.pay_bytes),
      .m_pkt_tvalid(text_valid),
      .m_pkt_tready(text_ready),
      .m_pkt_tdata(text_data),
      .m_pkt_tkeep(text_keep),
      .m_pkt_tlast(text_last),
      .m_pkt_tuser(text_user),
      .m_active_o(text_active),
      .m_bytes_o(text_bytes),
      .m_tag_o(tag),
      .m_short_o(text_short)
    );
  end else begin : gen_same
    assign text_valid = s_pkt_tvalid;
    assign s_pkt_tready = text_ready;
    assign text_data = s_pkt_tdata;
    assign text_keep = s_pkt_tkeep;
    assign text_last = s_pkt_tlast;
    assign text_user = s_pkt_tuser;
    assign text_active = in_active;
    assign text_bytes = in_hdr.pay_bytes;
    assign tag = '0;
    assign text_short = 1'b0;
  end

  // ---- decryption -------------------------------------------------------------------------------
  logic                unused_payload, response;
  logic [255:0]        aad;
  roce_pkg::rx_hdr_t   hdr;
  roce_pkg::svc_rx_t   user, out;
  logic [VerdictW-1:0] verdict;
  logic                out_active, keyless, forged;
  assign hdr = text_user.hdr;
  aes_packet u_packet (
    .opcode_i(hdr.opcode),
    .se_i(hdr.se),
    .va_i(hdr.va),
    .rkey_i(hdr.rkey),
    .dma_len_i(hdr.dma_len),
    .imm_i(hdr.imm),
    .payload_o(unused_payload),
    .response_o(response),
    .aad_o(aad)
  );
  always_comb begin
    user = text_user;
    user.hdr.pay_bytes = text_bytes;
  end

  aes_stream #(
    .DataW(DataW),
    .QpCount(QpCount),
    .KeyBits(KeyBits),
    .Gcm(Gcm),
    .Open(1),
    .RoundsPerStage(RoundsPerStage),
    .UserW(roce_pkg::SvcRxW),
    .VerdictW(VerdictW)
  ) u_stream (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .s_pkt_tvalid(text_valid),
    .s_pkt_tready(text_ready),
    .s_pkt_tdata(text_data),
    .s_pkt_tkeep(text_keep),
    .s_pkt_tlast(text_last),
    .s_pkt_tuser(user),
    .verdict_i({text_user.drop, text_user.tell, hdr.refuse, hdr.tag}),
    .active_i(text_active),
    .qpn_i(hdr.dqpn),
    .psn_i(hdr.psn),
    .response_i(response),
    .space_i(!response),
    .bytes_i(text_bytes),
    .aad_i(aad),
    .tag_i(tag),
    .short_i(text_short),
    .m_pkt_tvalid(m_pkt_tvalid),
    .m_pkt_tready(m_pkt_tready),
    .m_pkt_tdata(m_pkt_tdata),
    .m_pkt_tkeep(m_pkt_tkeep),
    .m_pkt_tlast(m_pkt_tlast),
    .m_pkt_tuser(out),
    .verdict_o(verdict),
    .active_o(out_active),
    .keyless_o(keyless),
    .forged_o(forged),
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
    m_pkt_tuser.drop = m_pkt_tlast && (verdict[10] || keyless || forged);
    m_pkt_tuser.tell = m_pkt_tlast && (verdict[9] || (forged && !keyless));
    m_pkt_tuser.hdr.refuse = m_pkt_tlast && verdict[8];
    m_pkt_tuser.hdr.tag = m_pkt_tlast ? verdict[7:0] : '0;
  end

  logic done;
  assign done = m_pkt_tvalid && m_pkt_tready && m_pkt_tlast && out_active;
  assign cnt_aes_received_o = done && !keyless && !forged;
  assign cnt_aes_received_no_key_o = done && keyless;
  assign cnt_aes_wrong_tag_o = done && forged && !keyless;

  logic unused;
  assign unused = ^{in_hdr, hdr};

  `ROCEGEN_STREAM(m_pkt_contract, m_pkt_tvalid, m_pkt_tready,
                  {m_pkt_tuser, m_pkt_tlast, m_pkt_tkeep, m_pkt_tdata})

endmodule

`default_nettype wire
