// cfg_order: keeps the lives of a queue pair apart: a set-up reaches the owners of the QP's state
// only when nothing of its former life is on its way to them any more.
//
// Records of s_cfg (qp_cfg_t) go on one at a time. A set-up (setup 1) goes to m_drain first, forked
// to all who hold back or carry what the responder has begun (write_gate, ack_split, atomic_unit):
// each takes it when that has left; and to services that erase what belongs to a life. Settle cycles later, when the last of it has come to rest, it
// goes to m_cfg, forked to the owners. A change to RESET goes to m_cfg first, then to m_drain:
// answered RESET, no data of a request of the QP is written to memory any more. Any other change
// goes to m_cfg only. s_cfg is taken when the last of them has taken the record, so that what is
// answered is in force.
//
// For this, the QP must have stopped before its set-up: software takes a QP that was in use to
// RESET or ERR by a record of its own, also one that went to ERR by itself (its kill may still be
// on its way to the responder). Who is on m_drain must not need another record of s_cfg to go on,
// nor the consumer of completions: memory and the engines behind it alone.
//
// Some of what a QP leaves behind waits for the MAC or for its turn instead: packets on their way
// out, errors. These carry the number of their life. life_o is the number that m_cfg's record
// belongs to: set-ups of the QP so far, modular, this one included. It holds with m_cfg_tvalid.
//
// Handshake: valid and ready come from registers; m_drain_tdata and m_cfg_tdata are s_cfg_tdata.
// Latency 1 cycle; a record without a drain takes 3 cycles. Nothing is taken before
// ready_o (QpCount cycles after reset).
//
// QpCount: queue pairs, 1..16384; the life of QPNs beyond means nothing. Settle: cycles between
// m_drain and m_cfg, 1..1023.
// rocegen: comb none
`include "rocegen_assert.svh"
`default_nettype none

module cfg_order #(
  parameter int QpCount = 16,
  parameter int Settle = 64
) (
  input  logic              clk,
  input  logic              rst,
  output logic              ready_o,
  input  logic              s_cfg_tvalid,
  output logic              s_cfg_tready,
  input  roce_pkg::qp_cfg_t s_cfg_tdata,
  output logic              m_drain_tvalid,
  input  logic              m_drain_tready,
  output roce_pkg::qp_cfg_t m_drain_tdata,
  output logic              m_cfg_tvalid,
  input  logic              m_cfg_tready,
  output roce_pkg::qp_cfg_t m_cfg_tdata,
  output logic [roce_pkg::LifeW-1:0] life_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "cfg_order: QpCount must be in 1..16384");
  end

  if (Settle < 1 || Settle > 1023) begin : gen_check_settle
    $fatal(1, "cfg_order: Settle must be in 1..1023");
  end

  localparam int CountW = $clog2(Settle + 1);

  typedef enum logic [2:0] {
    StepIdle,
    StepDrain,
    StepSettle,
    StepCfg,
    StepDone
  } step_t;

  step_t             step_q;
  step_t             step_d;
  logic [CountW-1:0] count_q;  // cycles of StepSettle so far

  always_comb begin
    step_d = step_q;
    case (step_q)
      StepIdle: if (s_cfg_tvalid && ready_o) step_d = s_cfg_tdata.setup ? StepDrain : StepCfg;
      StepDrain: if (m_drain_tready) step_d = s_cfg_tdata.setup ? StepSettle : StepDone;
      StepSettle: if (count_q == CountW'(Settle - 1)) step_d = StepCfg;
      StepCfg: begin
        if (m_cfg_tready) begin
          step_d = !s_cfg_tdata.setup && s_cfg_tdata.state == roce_pkg::QpReset ? StepDrain
                                                                                : StepDone;
        end
      end
      default: step_d = StepIdle;
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) step_q <= StepIdle;
    else step_q <= step_d;
    if (step_q != StepSettle) count_q <= '0;
    else count_q <= count_q + 1'b1;
  end

  // ---- lives: the QP's number is read in StepIdle -----------------------------------------------
  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;

  logic [roce_pkg::LifeW-1:0] life;  // before the record

  ram_clear #(
    .Width(roce_pkg::LifeW),
    .Depth(QpCount)
  ) u_lives (
    .clk(clk),
    .rst(rst),
    .wr_en_i(step_q == StepDone && s_cfg_tdata.setup && s_cfg_tdata.qpn < 24'(QpCount)),
    .wr_addr_i(s_cfg_tdata.qpn[QpW-1:0]),
    .wr_data_i(life_o),
    .rd_en_i(step_q == StepIdle),
    .rd_addr_i(s_cfg_tdata.qpn[QpW-1:0]),
    .rd_data_o(life),
    .ready_o(ready_o)
  );

  assign life_o = s_cfg_tdata.setup ? life + 1'b1 : life;

  assign m_drain_tvalid = step_q == StepDrain;
  assign m_cfg_tvalid   = step_q == StepCfg;
  assign s_cfg_tready   = step_q == StepDone;
  assign m_drain_tdata  = s_cfg_tdata;
  assign m_cfg_tdata    = s_cfg_tdata;

  `ROCEGEN_STREAM(cfg_contract, s_cfg_tvalid, s_cfg_tready, s_cfg_tdata)
  `ROCEGEN_ASSERT(cfg_waits, s_cfg_tvalid || step_q == StepIdle)

endmodule

`default_nettype wire
