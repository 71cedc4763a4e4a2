// rq_complete: makes the completions of receives out of three sources, by turns.
//
// s_done: completions of entries (s_done_tdata with flush 0; s_done_tuser: data of the QP could not
// be written, a success becomes WcLocProtErr). s_flush: entry of a dead QP's ring. s_reject: entry
// that no ring takes (reject_flush_i: because its QP is in ERR). Ready does not depend on valid; it
// comes, at the earliest, in the second cycle of an offered record. m_cqe: one every 2 cycles.
// cnt_rq_completions_o: one of s_done left, cnt_rq_flushed_o: one with WcFlushErr of the other two.
`include "rocegen_assert.svh"
`default_nettype none

module rq_complete (
  input  logic           clk,
  input  logic           rst,
  input  logic           s_done_tvalid,
  output logic           s_done_tready,
  input  roce_pkg::rcq_t s_done_tdata,
  input  logic           s_done_tuser,
  input  logic           s_flush_tvalid,
  output logic           s_flush_tready,
  input  logic [23:0]    flush_qpn_i,
  input  logic [63:0]    flush_wr_id_i,
  input  logic           s_reject_tvalid,
  output logic           s_reject_tready,
  input  logic           reject_flush_i,
  input  logic [23:0]    reject_qpn_i,
  input  logic [63:0]    reject_wr_id_i,
  output logic           m_cqe_tvalid,
  input  logic           m_cqe_tready,
  output logic [255:0]   m_cqe_tdata,
  output logic           cnt_rq_completions_o,
  output logic           cnt_rq_flushed_o
);

  // ---- choice: a cycle ahead, so that no ready comes straight from a valid or another ready -----
  logic       valid_q;
  logic [2:0] turn_q;  // who goes next: done, flush, reject
  logic [2:0] last_q;  // who went last
  logic [2:0] ask;
  logic [2:0] turn_d;
  logic       load;

  assign load = turn_q != '0 && !valid_q;
  assign ask  = {s_done_tvalid, s_flush_tvalid, s_reject_tvalid};

  always_comb begin
    // Behind the one that went last, round.
    case (last_q)
      3'b100: turn_d = ask[1] ? 3'b010 : ask[0] ? 3'b001 : ask & 3'b100;
      3'b010: turn_d = ask[0] ? 3'b001 : ask[2] ? 3'b100 : ask & 3'b010;
      default: turn_d = ask[2] ? 3'b100 : ask[1] ? 3'b010 : ask & 3'b001;
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      valid_q <= 1'b0;
      turn_q  <= '0;
      last_q  <= 3'b001;
    end else begin
      if (load) valid_q <= 1'b1;
      else if (m_cqe_tready) valid_q <= 1'b0;
      if (load) turn_q <= '0;
      else if (turn_q == '0) turn_q <= turn_d;
      if (load) last_q <= turn_q;
    end
  end

  assign {s_done_tready, s_flush_tready, s_reject_tready} = load ? turn_q : '0;

  // ---- the completion ---------------------------------------------------------------------------
  logic        write_imm_q;
  logic [2:0]  flags_q;
  logic [3:0]  status_q;
  logic [23:0] qpn_q;
  logic [31:0] imm_q;
  logic [31:0] bytes_q;
  logic [63:0] wr_id_q;
  logic [7:0]  tag_q;
  logic        flushed;
  logic [3:0]  done_status;

  assign flushed     = turn_q[1] || reject_flush_i;
  assign done_status = (s_done_tuser && s_done_tdata.status == 4'(roce_pkg::WcSuccess)) ?
      4'(roce_pkg::WcLocProtErr) : s_done_tdata.status;

  always_ff @(posedge clk) begin
    if (load) begin
      write_imm_q <= turn_q[2] && s_done_tdata.write_imm;
      flags_q     <= turn_q[2] ? s_done_tdata.flags : '0;
      imm_q       <= turn_q[2] ? s_done_tdata.imm : '0;
      bytes_q     <= turn_q[2] ? s_done_tdata.bytes : '0;
      tag_q       <= turn_q[2] ? s_done_tdata.tag : '0;
      status_q    <= turn_q[2] ? done_status :
          flushed ? 4'(roce_pkg::WcFlushErr) : 4'(roce_pkg::WcLocQpOpErr);
      qpn_q       <= turn_q[2] ? s_done_tdata.qpn : turn_q[1] ? flush_qpn_i : reject_qpn_i;
      wr_id_q     <= turn_q[2] ? s_done_tdata.wr_id : turn_q[1] ? flush_wr_id_i : reject_wr_id_i;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_rq_completions_o <= 1'b0;
      cnt_rq_flushed_o     <= 1'b0;
    end else begin
      cnt_rq_completions_o <= load && turn_q[2];
      cnt_rq_flushed_o     <= load && !turn_q[2] && flushed;
    end
  end

  roce_pkg::cqe_t cqe;

  always_comb begin
    cqe            = '0;
    cqe.imm        = imm_q;
    cqe.bytes      = bytes_q;
    cqe.wr_id      = wr_id_q;
    cqe.qpn        = qpn_q;
    cqe.flags[3:1] = flags_q;
    cqe.flags[15:8] = tag_q;
    cqe.opcode     = write_imm_q ? roce_pkg::WcOpRecvWriteImm : roce_pkg::WcOpRecv;
    cqe.status     = 8'(status_q);
    cqe.flags[roce_pkg::CqeRecv] = 1'b1;
  end

  assign m_cqe_tvalid = valid_q;
  assign m_cqe_tdata  = cqe;

  // What was needed in front of here.
  logic unused;
  assign unused = ^{s_done_tdata.flush, s_done_tdata.wtag, s_done_tdata.gen};

  `ROCEGEN_STREAM(flush_contract, s_flush_tvalid, s_flush_tready, {flush_qpn_i, flush_wr_id_i})
  `ROCEGEN_STREAM(reject_contract, s_reject_tvalid, s_reject_tready,
                  {reject_flush_i, reject_qpn_i, reject_wr_id_i})

endmodule

`default_nettype wire
