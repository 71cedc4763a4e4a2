// write_gate: holds records back until the request data in front of them is in memory.
//
// Records enter on s_rec and leave on m_rec in order, each when as many write commands have been
// done as its tag says: done_valid_i pulses once for each, up to once a cycle, in the order of the
// commands (done_qpn_i: of the write, done_err_i: memory refused it). Counter and tags are modular,
// so fewer than 2^15 commands may be under way. m_rec_tuser says that a write of the record's QP
// has failed since the QP's last set-up. s_rec waits only when the FIFO is full; room_o falls Slack
// records earlier, for a sender that can't be stopped at once.
//
// s_cfg, from cfg_order.m_drain, is taken when nothing of the QP's former life is left in here or
// on its way to here. Settle cycles pass first, those not counted in which s_rec is held back: so
// long may the sender of s_rec take for what it holds. Then the records in here are counted, and
// sent_i, the modular count of write commands so far, is read; s_cfg is taken when these records
// have left and these writes are done, whatever came later, up to 7 cycles after that (one with
// done_err_i not counted). A set-up also clears the QP's failure then. With Drain 0 it waits for
// the writes only: for a consumer of m_rec that may stall for ever and tells former lives apart by
// itself. Software has taken the QP to RESET or ERR before its set-up. QPNs beyond QpCount never
// fail.
//
// Throughput: a record a cycle. Latency: 4 cycles for a record whose data is in memory, 3 cycles
// from the last done_valid_i.
//
// QpCount: 1..16384. Width: bits of a record; TagLsb, QpnLsb: where its 16-bit tag and 24-bit QPN
// lie; of rcq_t by default. Depth: records held in the FIFO, 4..65536; three more stand behind it.
// Slack: 1..Depth-1. DropErr: what happens to a record of a QP with a failed write: 0 it leaves
// with m_rec_tuser 1, 1 it is dropped, 2 it is dropped unless the AETH syndrome at SynLsb is a
// fatal NAK's (0x61..0x7F), which with PsnLsb leaves as 0x63. PsnLsb, -1: none: where the record's
// PSN lies, and with PsnCount 2 the next 24 bits above are another (its last one). Of a QP with a
// failed write a PSN that is not in front of the first such one (done_psn_i) becomes that: no
// answer goes beyond what failed, which would acknowledge it. The latency from the last
// done_valid_i is then a cycle more.
// Drain: 0, 1.
// Settle: cycles, 1..1023; rx_responder's pipeline and queues need 13 + 32.
// rocegen: comb none
`include "rocegen_assert.svh"
`default_nettype none

module write_gate #(
  parameter int QpCount = 16,
  parameter int Width = roce_pkg::RcqW,
  parameter int TagLsb = Width - 17,
  parameter int QpnLsb = TagLsb - 24,
  parameter int SynLsb = 0,
  parameter int PsnLsb = -1,
  parameter int PsnCount = 1,
  parameter int Depth = 64,
  parameter int Slack = 16,
  parameter int DropErr = 0,
  parameter int Drain = 1,
  parameter int Settle = 64
) (
  input  logic              clk,
  input  logic              rst,
  output logic              ready_o,
  input  logic              s_rec_tvalid,
  output logic              s_rec_tready,
  input  logic [Width-1:0]  s_rec_tdata,
  output logic              m_rec_tvalid,
  input  logic              m_rec_tready,
  output logic [Width-1:0]  m_rec_tdata,
  output logic [0:0]        m_rec_tuser,
  input  logic              s_cfg_tvalid,
  output logic              s_cfg_tready,
  input  roce_pkg::qp_cfg_t s_cfg_tdata,
  input  logic              done_valid_i,
  input  logic              done_err_i,
  input  logic [23:0]       done_qpn_i,
  input  logic [23:0]       done_psn_i,
  input  logic [15:0]       sent_i,
  output logic              room_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "write_gate: QpCount must be in 1..16384");
  end
  if (TagLsb < 0 || TagLsb + 16 > Width) begin : gen_check_tag
    $fatal(1, "write_gate: the 16-bit tag must lie within the record");
  end
  if (QpnLsb < 0 || QpnLsb + 24 > Width) begin : gen_check_qpn
    $fatal(1, "write_gate: the 24-bit QPN must lie within the record");
  end
  if (SynLsb < 0 || SynLsb + 8 > Width) begin : gen_check_syndrome
    $fatal(1, "write_gate: the 8-bit syndrome must lie within the record");
  end
  if (PsnCount < 1 || PsnCount > 2 || PsnLsb < -1 ||
      PsnLsb + 24 * PsnCount > Width) begin : gen_check_psn
    $fatal(1, "write_gate: PsnCount must be 1 or 2, and the PSNs must lie within the record");
  end
  if (Depth < 4 || Depth > 65536) begin : gen_check_depth
    $fatal(1, "write_gate: Depth must be in 4..65536");
  end
  if (Slack < 1 || Slack >= Depth) begin : gen_check_slack
    $fatal(1, "write_gate: Slack must be in 1..Depth-1");
  end
  if (DropErr < 0 || DropErr > 2) begin : gen_check_drop
    $fatal(1, "write_gate: DropErr must be 0, 1 or 2");
  end
  if (Drain < 0 || Drain > 1) begin : gen_check_drain
    $fatal(1, "write_gate: Drain must be 0 or 1");
  end
  if (Settle < 1 || Settle > 1023) begin : gen_check_settle
    $fatal(1, "write_gate: Settle must be in 1..1023");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int LevelW = $clog2(Depth + 1);

  // ---- what waits -------------------------------------------------------------------------------
  logic              head_valid;
  logic              head_take;  // by the stage behind
  logic              move;  // of the stages behind
  logic [Width-1:0]  head;
  logic [LevelW-1:0] level;
  logic              room_q;

  stream_fifo #(
    .Width(Width),
    .Depth(Depth),
    .Style(0)
  ) u_fifo (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(s_rec_tvalid),
    .s_axis_tready(s_rec_tready),
    .s_axis_tdata(s_rec_tdata),
    .m_axis_tvalid(head_valid),
    .m_axis_tready(head_take),
    .m_axis_tdata(head),
    .level_o(level)
  );

  always_ff @(posedge clk) begin
    if (rst) room_q <= 1'b0;
    else room_q <= level < LevelW'(Depth - Slack);
  end

  assign room_o = room_q;

  // ---- what is done -----------------------------------------------------------------------------
  logic        done_valid;
  logic        done_err;
  logic [23:0] done_qpn;
  logic [15:0] done_q;  // writes done, modular
  logic [15:0] ahead;  // of the head's tag
  logic        open;

  always_ff @(posedge clk) begin
    if (rst) done_q <= '0;
    else if (done_valid) done_q <= done_q + 1'b1;
  end

  assign ahead = done_q - head[TagLsb +: 16];
  assign open  = !ahead[15];

  // ---- set-ups ----------------------------------------------------------------------------------
  typedef enum logic [1:0] {
    CfgIdle,
    CfgSettle,
    CfgDrain,
    CfgClear
  } cfg_t;

  localparam int CountW = $clog2(Settle + 1);

  cfg_t              cfg_q;
  cfg_t              cfg_d;
  logic              clear_q;  // the QP's failure goes
  logic [QpW-1:0]    clear_qp_q;
  logic [CountW-1:0] count_q;  // cycles of CfgSettle so far
  logic              settled;
  logic [15:0]       target_q;  // writes that have to be done
  logic [15:0]       behind;  // of them
  logic              written_q;
  logic              drained;
  logic              fail;
  logic              clear;

  assign settled = count_q == CountW'(Settle - 1) && (Drain == 0 || !s_rec_tvalid || s_rec_tready);

  always_comb begin
    cfg_d = cfg_q;
    case (cfg_q)
      CfgIdle: if (s_cfg_tvalid && ready_o) cfg_d = CfgSettle;
      CfgSettle: if (settled) cfg_d = CfgDrain;
      CfgDrain: if (written_q && drained) cfg_d = CfgClear;
      default: if (!fail) cfg_d = CfgIdle;
    endcase
  end

  assign behind = done_q - target_q;

  always_ff @(posedge clk) begin
    if (rst) cfg_q <= CfgIdle;
    else cfg_q <= cfg_d;
    if (cfg_q != CfgSettle) count_q <= '0;
    else if (!settled && (Drain == 0 || !s_rec_tvalid || s_rec_tready)) count_q <= count_q + 1'b1;
    if (cfg_q == CfgSettle) target_q <= sent_i;
    written_q  <= cfg_q == CfgDrain && !behind[15];
    clear_q    <= s_cfg_tdata.setup && s_cfg_tdata.qpn < 24'(QpCount);
    clear_qp_q <= s_cfg_tdata.qpn[QpW-1:0];
  end

  assign clear        = cfg_q == CfgClear && clear_q;
  assign s_cfg_tready = cfg_q == CfgClear && !fail;

  // The records that were in the FIFO, then the two stages behind it.
  if (Drain != 0) begin : gen_drain
    logic [LevelW-1:0] left_q;  // of them in the FIFO
    logic [1:0]        moves_q;  // of the stages since

    always_ff @(posedge clk) begin
      if (cfg_q != CfgDrain) begin
        left_q  <= head_take ? level - 1'b1 : level;
        moves_q <= 2'd0;
      end else if (left_q != '0) begin
        if (head_take) left_q <= left_q - 1'b1;
      end else if (move && !moves_q[1]) begin
        moves_q <= moves_q + 1'b1;
      end
    end

    assign drained = moves_q[1];
  end else begin : gen_no_drain
    assign drained = 1'b1;
  end

  // ---- QPs with a failed write ------------------------------------------------------------------
  logic failed_read;

  logic failed_ready;
  logic first_ready;

  assign fail    = done_valid && done_err && done_qpn < 24'(QpCount);
  assign ready_o = failed_ready && first_ready;

  ram_clear #(
    .Width(1),
    .Depth(QpCount),
    .Latency(1)
  ) u_failed (
    .clk(clk),
    .rst(rst),
    .wr_en_i(fail || clear),
    .wr_addr_i(fail ? done_qpn[QpW-1:0] : clear_qp_q),
    .wr_data_i(fail),
    .rd_en_i(head_take),
    .rd_addr_i(head[QpnLsb +: QpW]),
    .rd_data_o(failed_read),
    .ready_o(failed_ready)
  );

  // ---- the record and its QP's failure, then the output -----------------------------------------
  logic             look_q;
  logic             known_q;
  logic [Width-1:0] rec_q;
  logic             valid_q;
  logic             failed_q;
  logic [Width-1:0] out_q;
  logic             failed;
  logic             drop;

  // PSNs of a record and of a failure: the earlier one, of the record and as it leaves.
  logic [Width-1:0] rec;

  if (PsnLsb >= 0) begin : gen_psn
    logic           done_valid_q;
    logic           done_err_q;
    logic [23:0]    done_qpn_q;
    logic [23:0]    done_psn_q;
    logic           seen_read;  // the QP has failed before
    logic           last_we_q;  // what the look-up does not show: written in the cycle before
    logic           last_fail_q;
    logic [QpW-1:0] last_qp_q;
    logic           seen;
    logic [23:0]    failed_psn;

    always_ff @(posedge clk) begin
      if (rst) begin
        done_valid_q <= 1'b0;
        last_we_q    <= 1'b0;
      end else begin
        done_valid_q <= done_valid_i;
        last_we_q    <= fail || clear;
      end
      done_err_q  <= done_err_i;
      done_qpn_q  <= done_qpn_i;
      done_psn_q  <= done_psn_i;
      last_fail_q <= fail;
      last_qp_q   <= fail ? done_qpn_q[QpW-1:0] : clear_qp_q;
    end

    assign done_valid = done_valid_q;
    assign done_err   = done_err_q;
    assign done_qpn   = done_qpn_q;
    assign seen       = last_we_q && last_qp_q == done_qpn_q[QpW-1:0] ? last_fail_q : seen_read;

    ram_clear #(
      .Width(1),
      .Depth(QpCount),
      .Latency(1)
    ) u_seen (
      .clk(clk),
      .rst(rst),
      .wr_en_i(fail || clear),
      .wr_addr_i(fail ? done_qpn_q[QpW-1:0] : clear_qp_q),
      .wr_data_i(fail),
      .rd_en_i(1'b1),
      .rd_addr_i(done_qpn_i[QpW-1:0]),
      .rd_data_o(seen_read),
      .ready_o(first_ready)
    );

    ram_sdp #(
      .Width(24),
      .Depth(QpCount)
    ) u_psn (
      .clk(clk),
      .wr_en_i(fail && !seen),
      .wr_addr_i(done_qpn_q[QpW-1:0]),
      .wr_data_i(done_psn_q),
      .rd_en_i(head_take),
      .rd_addr_i(head[QpnLsb +: QpW]),
      .rd_data_o(failed_psn)
    );

    always_comb begin
      rec = rec_q;
      if (failed) begin
        for (int i = 0; i < PsnCount; i++) begin
          if (!roce_pkg::psn_lt(rec_q[PsnLsb + 24 * i +: 24], failed_psn)) begin
            rec[PsnLsb + 24 * i +: 24] = failed_psn;
          end
        end
        if (DropErr == 2) rec[SynLsb +: 8] = roce_pkg::SynNakOp;
      end
    end
  end else begin : gen_no_psn
    assign first_ready = 1'b1;
    assign done_valid  = done_valid_i;
    assign done_err    = done_err_i;
    assign done_qpn    = done_qpn_i;
    assign rec         = rec_q;

    logic unused_psn;
    assign unused_psn = ^done_psn_i;
  end

  assign move      = !valid_q || m_rec_tready;
  assign head_take = head_valid && open && ready_o && (!look_q || move);
  assign failed    = failed_read && known_q;

  if (DropErr == 0) begin : gen_keep
    assign drop = 1'b0;
  end else if (DropErr == 1) begin : gen_drop
    assign drop = failed;
  end else begin : gen_drop_answer
    assign drop = failed && (rec_q[SynLsb+5 +: 2] != 2'b11 || rec_q[SynLsb +: 5] == '0);
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      look_q  <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      if (head_take) look_q <= 1'b1;
      else if (move) look_q <= 1'b0;
      if (move) valid_q <= look_q && !drop;
    end
  end

  always_ff @(posedge clk) begin
    if (head_take) begin
      rec_q   <= head;
      known_q <= head[QpnLsb +: 24] < 24'(QpCount);
    end
    if (move) begin
      out_q    <= rec;
      failed_q <= failed;
    end
  end

  assign m_rec_tvalid = valid_q;
  assign m_rec_tdata  = out_q;
  assign m_rec_tuser  = failed_q;

  // Of a set-up only the QP counts, of a difference the sign.
  logic unused;
  assign unused = ^{s_cfg_tdata, ahead[14:0], behind[14:0]};

  `ROCEGEN_STREAM(rec_contract, s_rec_tvalid, s_rec_tready, s_rec_tdata)
  `ROCEGEN_STREAM(cfg_contract, s_cfg_tvalid, s_cfg_tready, s_cfg_tdata)

endmodule

`default_nettype wire
