// sq_choose: picks the next thing that happens to a QP in sq_ack. Combinational.
//
// Precedence: configuration (cfg_go_i), foreign error, data that did not reach the memory, bad
// request, timer, telling (tell_go_i), s_ack (only with ack_go_i). With go_i the chosen one is
// taken (its ready, cfg_take_o, or op_o = SqOpTell for the list); without it op_o is SqOpNone.
// Foreign errors that change nothing (QPN >= QpCount; EvtWriteErr of a response, which s_data
// tells) are taken and give SqOpNone. QPN, PSN and argument count only with the operation; the PSN
// and syndrome of s_ack are passed on with SqOpAck and SqOpRsp.
//
// QpCount: 1..16384, QpW: bits of a QPN below it.
`default_nettype none

module sq_choose #(
  parameter int QpCount = 16,
  parameter int QpW = 4
) (
  input  logic              go_i,
  input  logic              cfg_go_i,
  output logic              cfg_take_o,
  input  logic [QpW-1:0]    cfg_qpn_i,
  input  logic              s_evt_tvalid,
  output logic              s_evt_tready,
  input  roce_pkg::qp_evt_t s_evt_tdata,
  input  logic              s_data_tvalid,
  output logic              s_data_tready,
  input  logic [QpW-1:0]    s_data_qpn,
  input  logic [23:0]       s_data_psn,
  input  logic              s_bad_tvalid,
  output logic              s_bad_tready,
  input  logic [QpW-1:0]    s_bad_qpn,
  input  logic              s_bad_length,
  input  logic              s_time_tvalid,
  output logic              s_time_tready,
  input  logic [QpW-1:0]    s_time_qpn,
  input  logic [23:0]       s_time_una,
  input  logic [3:0]        s_time_gen,
  input  logic [1:0]        s_time_kind,
  input  logic              tell_go_i,
  output logic              tell_take_o,
  input  logic [QpW-1:0]    tell_qpn_i,
  input  logic              ack_go_i,
  input  logic              s_ack_tvalid,
  output logic              s_ack_tready,
  input  logic [QpW-1:0]    s_ack_qpn,
  input  logic [23:0]       s_ack_psn,
  input  logic [7:0]        s_ack_syndrome,
  input  logic              s_ack_response,  // else ACK or NAK
  input  logic [roce_pkg::LifeW-1:0] s_ack_life,
  output logic [3:0]        op_o,
  output logic [QpW-1:0]    op_qpn_o,
  output logic [23:0]       op_psn_o,
  output logic [7:0]        op_arg_o,
  output logic [roce_pkg::LifeW-1:0] op_life_o  // of a foreign error, an answer
);

  assign cfg_take_o    = go_i && cfg_go_i;
  assign s_evt_tready  = go_i && !cfg_go_i;
  assign s_data_tready = s_evt_tready && !s_evt_tvalid;
  assign s_bad_tready  = s_data_tready && !s_data_tvalid;
  assign s_time_tready = s_bad_tready && !s_bad_tvalid;
  assign s_ack_tready  = s_time_tready && !s_time_tvalid && !tell_go_i && ack_go_i;

  assign tell_take_o   = s_time_tready && !s_time_tvalid && tell_go_i;

  logic known;

  assign op_life_o = s_evt_tvalid ? s_evt_tdata.life : s_ack_life;

  always_comb begin
    op_o     = roce_pkg::SqOpNone;
    op_qpn_o = s_ack_qpn;
    op_psn_o = s_ack_psn;
    op_arg_o = s_ack_syndrome;
    known    = 1'b1;
    if (cfg_go_i) begin
      op_o     = roce_pkg::SqOpConfig;
      op_qpn_o = cfg_qpn_i;
    end else if (s_evt_tvalid) begin
      op_o     = roce_pkg::SqOpEvent;
      op_qpn_o = s_evt_tdata.qpn[QpW-1:0];
      op_psn_o = s_evt_tdata.psn;
      op_arg_o = {s_evt_tdata.rsp, s_evt_tdata.cause};
      known    = s_evt_tdata.qpn < 24'(QpCount) &&
          !(s_evt_tdata.rsp && s_evt_tdata.cause == roce_pkg::EvtWriteErr);
    end else if (s_data_tvalid) begin
      op_o     = roce_pkg::SqOpData;
      op_qpn_o = s_data_qpn;
      op_psn_o = s_data_psn;
    end else if (s_bad_tvalid) begin
      op_o     = roce_pkg::SqOpBad;
      op_qpn_o = s_bad_qpn;
      op_arg_o = 8'(s_bad_length);
    end else if (s_time_tvalid) begin
      op_o     = s_time_kind[1] ? roce_pkg::SqOpDrain :
          s_time_kind[0] ? roce_pkg::SqOpRnrEnd : roce_pkg::SqOpTimeout;
      op_qpn_o = s_time_qpn;
      op_psn_o = s_time_una;
      op_arg_o = 8'(s_time_gen);
    end else if (tell_go_i) begin
      op_o     = roce_pkg::SqOpTell;
      op_qpn_o = tell_qpn_i;
    end else if (s_ack_tvalid && ack_go_i) begin
      op_o     = s_ack_response ? roce_pkg::SqOpRsp : roce_pkg::SqOpAck;
    end
    if (!go_i || !known) op_o = roce_pkg::SqOpNone;
  end

endmodule

`default_nettype wire
