// aes_tables: what the two directions of the AES service share: registers, set-ups, references of PSNs.
//
// Owner of what the key tables of aes_egress and aes_ingress hold; tells them by sent_o and received_o, each
// {reference write, slot write, key write} as their tables_i takes it. Registers: aes_control. tap_*: every packet
// that leaves (aes_refs). s_cfg_*: set-ups of queue pairs, life_i with it.
//
// DataW: 64..1024. QpCount: 1..16384. KeyBits: 128, 256. Gcm: 0 CTR, 1 GCM.
`default_nettype none

module aes_tables #(
  parameter int DataW = 512,
  parameter int QpCount = 16,
  parameter int KeyBits = 256,
  parameter int Gcm = 1
) (
  input  logic                       clk,
  input  logic                       rst,
  output logic                       ready_o,
  input  logic                       s_cfg_tvalid,
  output logic                       s_cfg_tready,
  input  roce_pkg::qp_cfg_t          s_cfg_tdata,
  input  logic [roce_pkg::LifeW-1:0] life_i,
  input  logic                       ctl_valid_i,
  input  logic                       ctl_write_i,
  input  logic [11:0]                ctl_addr_i,
  input  logic [31:0]                ctl_wdata_i,
  output logic                       ctl_ready_o,
  output logic [31:0]                ctl_rdata_o,
  input  logic                       tap_valid_i,
  input  roce_pkg::tx_pkt_t          tap_i,
  output logic [(Gcm != 0 ? (DataW > 128 ? DataW : 128) + 128 : 1) + KeyBits +
      3 * (QpCount > 1 ? $clog2(QpCount) : 1) + 3 * aes_pkg::ExtW + 64 : 0] sent_o,
  output logic [(Gcm != 0 ? (DataW > 128 ? DataW : 128) + 128 : 1) + KeyBits +
      3 * (QpCount > 1 ? $clog2(QpCount) : 1) + 3 * aes_pkg::ExtW + 64 : 0] received_o
);

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int ExtW = aes_pkg::ExtW;
  localparam int Powers = (DataW > 128 ? DataW / 128 : 1) + 1;
  localparam int KeyW = (Gcm != 0 ? 128 * Powers : 1) + KeyBits + 57;

  logic                       set_valid, set_ready;
  logic [23:0]                set_qpn, set_sq_psn, set_rq_psn;
  logic [roce_pkg::LifeW-1:0] set_life;
  logic                       ref_we;
  logic [QpW:0]               ref_addr;
  logic [ExtW-1:0]            reference;
  logic [3:0]                 slot_we;
  logic [QpW-1:0]             slot_qpn, key_qpn;
  logic [2*ExtW+1:0]          slot;
  logic [1:0]                 key_we;
  logic                       key_slot;
  logic [KeyW-1:0]            key;

  aes_control #(
    .QpCount(QpCount),
    .KeyBits(KeyBits),
    .Gcm(Gcm),
    .Powers(Powers)
  ) u_control (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .life_i(life_i),
    .ctl_valid_i(ctl_valid_i),
    .ctl_write_i(ctl_write_i),
    .ctl_addr_i(ctl_addr_i),
    .ctl_wdata_i(ctl_wdata_i),
    .ctl_ready_o(ctl_ready_o),
    .ctl_rdata_o(ctl_rdata_o),
    .set_valid_o(set_valid),
    .set_ready_i(set_ready),
    .set_qpn_o(set_qpn),
    .set_sq_psn_o(set_sq_psn),
    .set_rq_psn_o(set_rq_psn),
    .set_life_o(set_life),
    .ref_we_i(ref_we),
    .ref_addr_i(ref_addr),
    .ref_i(reference),
    .slot_we_o(slot_we),
    .slot_qpn_o(slot_qpn),
    .slot_o(slot),
    .key_we_o(key_we),
    .key_slot_o(key_slot),
    .key_qpn_o(key_qpn),
    .key_o(key)
  );

  logic unused;
  assign unused = ^tap_i;
  aes_refs #(
    .QpCount(QpCount)
  ) u_refs (
    .clk(clk),
    .rst(rst),
    .s_set_tvalid(set_valid),
    .s_set_tready(set_ready),
    .set_qpn_i(set_qpn),
    .set_sq_psn_i(set_sq_psn),
    .set_rq_psn_i(set_rq_psn),
    .set_life_i(set_life),
    .tap_valid_i(tap_valid_i),
    .tap_qpn_i(tap_i.qpn),
    .tap_psn_i(tap_i.psn),
    .tap_opcode_i(tap_i.opcode),
    .tap_life_i(tap_i.life),
    .ref_we_o(ref_we),
    .ref_addr_o(ref_addr),
    .ref_o(reference)
  );

  assign sent_o = {ref_we, ref_addr, reference, slot_we[1:0], slot_qpn, slot, key_we[0], key_slot, key_qpn, key};
  assign received_o = {ref_we, ref_addr, reference, slot_we[3:2], slot_qpn, slot, key_we[1], key_slot, key_qpn,
      key};

endmodule

`default_nettype wire
