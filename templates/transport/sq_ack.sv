// sq_ack: the acknowledged position and the state of every queue pair's send side.
//
// Takes everything that changes them, one at a time, in this precedence: s_cfg (set-up and state),
// s_evt (fatal errors found elsewhere), bad_* (a request that cannot be executed), s_time (ACK
// timer), and s_ack (ACK and NAK headers; anything else is dropped and counted). sq_ack_rules says
// what each does; the new state is told to all on state_*_o, a QP with something to send or to
// retire is kicked, a QP that went to ERR is named on m_err (to the responder) and, with the cause,
// on m_event.
//
// Set-up and RESET: hold_o stops the requester, the poster, the retirer and the timer; when idle_i
// says that they hold nothing, the set-up is done in one step (set_valid_o: all start the QP anew),
// then they go on. s_cfg is taken when it is in force. A set-up whose ring does not fit into the
// request memory leaves the QP in RESET. QPNs >= QpCount are taken and ignored.
//
// Never waits: s_evt and s_time are taken whatever m_err and m_event do (a list holds every QP), so
// no circle of waiting can close. s_ack waits for the kick queues only, which always drain. While a
// set-up waits, m_err finishes what it offers, so that no error of the old life reaches the new
// one.
//
// Throughput: one of these every 2 cycles, from one QP or many. Latency: 3 cycles to state_*_o.
// ready_o: tables cleared, 2^QpW cycles after reset. Nothing is taken before enable_i.
//
// QpCount: 1..16384, QpW: bits of a QPN below it. WqeSlots: slots in the request memory, 2..2^20.
`default_nettype none

module sq_ack #(
  parameter int QpCount = 16,
  parameter int QpW = 4,
  parameter int WqeSlots = 256
) (
  input  logic                 clk,
  input  logic                 rst,
  output logic                 ready_o,
  input  logic                 enable_i,
  output logic                 hold_o,
  input  logic                 idle_i,
  output logic                 set_valid_o,
  output logic                 state_we_o,
  output logic [QpW-1:0]       state_qpn_o,
  output roce_pkg::sq_state_t  state_o,
  input  logic                 cursor_we_i,
  input  logic [QpW-1:0]       cursor_qpn_i,
  input  roce_pkg::sq_cursor_t cursor_i,
  input  logic                 s_cfg_tvalid,
  output logic                 s_cfg_tready,
  input  roce_pkg::qp_cfg_t    s_cfg_tdata,
  input  logic                 s_ack_tvalid,
  output logic                 s_ack_tready,
  input  roce_pkg::rx_hdr_t    s_ack_tdata,
  input  logic                 s_evt_tvalid,
  output logic                 s_evt_tready,
  input  roce_pkg::qp_evt_t    s_evt_tdata,
  input  logic                 s_bad_tvalid,
  output logic                 s_bad_tready,
  input  logic [QpW-1:0]       s_bad_qpn,
  input  logic                 s_bad_length,
  input  logic                 s_time_tvalid,
  output logic                 s_time_tready,
  input  logic [QpW-1:0]       s_time_qpn,
  input  logic [23:0]          s_time_una,
  input  logic [3:0]           s_time_gen,
  output logic                 m_kick_req_tvalid,
  input  logic                 m_kick_req_tready,
  output logic [QpW-1:0]       m_kick_req_tdata,
  output logic                 m_kick_ret_tvalid,
  input  logic                 m_kick_ret_tready,
  output logic [QpW-1:0]       m_kick_ret_tdata,
  output logic                 m_err_tvalid,
  input  logic                 m_err_tready,
  output logic [23:0]          m_err_tdata,
  output logic                 m_event_tvalid,
  input  logic                 m_event_tready,
  output roce_pkg::qp_evt_t    m_event_tdata,
  output logic                 cnt_sq_acks_o,
  output logic                 cnt_sq_acks_stale_o,
  output logic                 cnt_sq_acks_dropped_o,
  output logic                 cnt_sq_naks_o,
  output logic                 cnt_sq_naks_fatal_o,
  output logic                 cnt_sq_naks_reserved_o,
  output logic                 cnt_sq_naks_rnr_o,
  output logic                 cnt_sq_timeouts_o,
  output logic                 cnt_sq_rewinds_o,
  output logic                 cnt_sq_errors_o
);

  localparam int Rows = 1 << QpW;

  // ---- set-up -----------------------------------------------------------------------------------
  logic       cfg_go, cfg_take, quiet;
  logic [2:0] cfg_state;

  assign quiet = idle_i && !s_bad_tvalid && !s_time_tvalid && !m_err_tvalid && !telling;

  sq_setup #(
    .QpCount(QpCount),
    .WqeSlots(WqeSlots)
  ) u_setup (
    .clk(clk),
    .rst(rst),
    .ready_i(enable_i),
    .quiet_i(quiet),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .hold_o(hold_o),
    .go_o(cfg_go),
    .take_i(cfg_take),
    .state_o(cfg_state)
  );

  // ---- choose: every second cycle ---------------------------------------------------------------
  logic             phase_q;
  logic             room;
  logic             choose;
  logic             telling;  // SqOpTell is on its way
  logic             list_valid;
  logic [QpW-1:0]   list_qpn;
  logic             tell_go;
  logic [2:0]       op;
  logic [QpW-1:0]   op_qpn;
  logic [23:0]      op_psn;
  logic [7:0]       op_arg;

  assign choose        = !phase_q && enable_i && room;
  assign tell_go       = list_valid && !hold_o && !telling && !m_err_tvalid && !m_event_tvalid;

  sq_choose #(
    .QpCount(QpCount),
    .QpW(QpW)
  ) u_choose (
    .go_i(choose),
    .cfg_go_i(cfg_go),
    .cfg_take_o(cfg_take),
    .cfg_qpn_i(s_cfg_tdata.qpn[QpW-1:0]),
    .s_evt_tvalid(s_evt_tvalid),
    .s_evt_tready(s_evt_tready),
    .s_evt_tdata(s_evt_tdata),
    .s_bad_tvalid(s_bad_tvalid),
    .s_bad_tready(s_bad_tready),
    .s_bad_qpn(s_bad_qpn),
    .s_bad_length(s_bad_length),
    .s_time_tvalid(s_time_tvalid),
    .s_time_tready(s_time_tready),
    .s_time_qpn(s_time_qpn),
    .s_time_una(s_time_una),
    .s_time_gen(s_time_gen),
    .tell_go_i(tell_go),
    .tell_qpn_i(list_qpn),
    .s_ack_tvalid(s_ack_tvalid),
    .s_ack_tready(s_ack_tready),
    .s_ack_qpn(s_ack_tdata.dqpn[QpW-1:0]),
    .s_ack_psn(s_ack_tdata.psn),
    .s_ack_syndrome(s_ack_tdata.syndrome),
    .op_o(op),
    .op_qpn_o(op_qpn),
    .op_psn_o(op_psn),
    .op_arg_o(op_arg)
  );

  // ---- read -------------------------------------------------------------------------------------
  logic [2:0]     read_op_q;
  logic [QpW-1:0] read_qpn_q;
  logic [23:0]    read_psn_q;
  logic [7:0]     read_arg_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      phase_q   <= 1'b0;
      read_op_q <= roce_pkg::SqOpNone;
    end else begin
      phase_q   <= !phase_q;
      read_op_q <= op;
    end
  end

  always_ff @(posedge clk) begin
    read_qpn_q <= op_qpn;
    read_psn_q <= op_psn;
    read_arg_q <= op_arg;
  end

  roce_pkg::sq_row_t row_read;
  roce_pkg::sq_row_t row_d;
  logic              row_write;
  logic [2:0]        rule_op_q;
  logic [QpW-1:0]    rule_qpn_q;

  ram_clear #(
    .Width(roce_pkg::SqRowW),
    .Depth(Rows)
  ) u_row (
    .clk(clk),
    .rst(rst),
    .wr_en_i(row_write),
    .wr_addr_i(rule_qpn_q),
    .wr_data_i(row_d),
    .rd_en_i(1'b1),
    .rd_addr_i(op_qpn),
    .rd_data_o(row_read),
    .ready_o(ready_o)
  );

  // ---- decide and write -------------------------------------------------------------------------
  // The row that was written last is still on its way into the RAM when the next one is read.
  roce_pkg::sq_row_t fwd_row_q;
  logic [QpW-1:0]    fwd_qpn_q;
  logic              fwd_valid_q;
  roce_pkg::sq_row_t row_q;
  logic [23:0]       rule_psn_q;
  logic [23:0]       rule_psn_next_q;
  logic [7:0]        rule_arg_q;
  logic [3:0]        rule_kind_q;
  logic              header_ok;
  logic [23:0]       nxt;
  logic              blocked;
  logic [2:0]        retry_cnt;
  logic              timer_off;

  sq_peer #(
    .QpCount(QpCount),
    .QpW(QpW)
  ) u_peer (
    .clk(clk),
    .set_valid_i(set_valid_o),
    .set_i(s_cfg_tdata),
    .cursor_we_i(cursor_we_i),
    .cursor_qpn_i(cursor_qpn_i),
    .cursor_i(cursor_i),
    .qpn_i(op_qpn),
    .hdr_i(s_ack_tdata),
    .header_ok_o(header_ok),
    .nxt_o(nxt),
    .blocked_o(blocked),
    .retry_cnt_o(retry_cnt),
    .timer_off_o(timer_off)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      rule_op_q   <= roce_pkg::SqOpNone;
      fwd_valid_q <= 1'b0;
    end else begin
      rule_op_q <= read_op_q;
      if (row_write) fwd_valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (row_write) begin
      fwd_row_q <= row_d;
      fwd_qpn_q <= rule_qpn_q;
    end
    row_q           <= (fwd_valid_q && fwd_qpn_q == read_qpn_q) ? fwd_row_q : row_read;
    rule_qpn_q      <= read_qpn_q;
    rule_psn_q      <= read_psn_q;
    rule_psn_next_q <= read_psn_q + 1'b1;
    rule_arg_q      <= read_arg_q;
    rule_kind_q     <= {read_arg_q[7:2] == 6'b011000 && read_arg_q[1:0] != 2'b00,
        read_arg_q == roce_pkg::SynNakPsn, read_arg_q[7:5] == 3'b001, read_arg_q[7:5] == 3'b000};
  end

  logic       kick_requester, kick_retire, list, tell;
  logic [9:0] count;
  logic [9:0] count_q;

  sq_ack_rules u_rules (
    .op_i(rule_op_q),
    .psn_i(rule_psn_q),
    .psn_next_i(rule_psn_next_q),
    .arg_i(rule_arg_q),
    .kind_i(rule_kind_q),
    .header_ok_i(header_ok),
    .nxt_i(nxt),
    .blocked_i(blocked),
    .retry_cnt_i(retry_cnt),
    .timer_off_i(timer_off),
    .setup_i(s_cfg_tdata.setup),
    .setup_state_i(cfg_state),
    .setup_psn_i(s_cfg_tdata.sq_psn),
    .row_i(row_q),
    .row_o(row_d),
    .write_o(row_write),
    .kick_requester_o(kick_requester),
    .kick_retire_o(kick_retire),
    .list_o(list),
    .tell_o(tell),
    .count_o(count)
  );

  // ---- tell -------------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (rst) begin
      state_we_o  <= 1'b0;
      set_valid_o <= 1'b0;
    end else begin
      state_we_o  <= row_write;
      set_valid_o <= rule_op_q == roce_pkg::SqOpConfig && s_cfg_tdata.setup;
    end
  end

  always_ff @(posedge clk) begin
    state_qpn_o <= rule_qpn_q;
    state_o     <= row_d.told;
  end

  assign telling = read_op_q == roce_pkg::SqOpTell || rule_op_q == roce_pkg::SqOpTell;

  sq_tell #(
    .QpW(QpW)
  ) u_tell (
    .clk(clk),
    .rst(rst),
    .room_o(room),
    .qpn_i(rule_qpn_q),
    .kick_requester_i(kick_requester),
    .kick_retire_i(kick_retire),
    .list_i(list),
    .tell_i(tell),
    .cause_i(row_q.cause),
    .m_next_tvalid(list_valid),
    .m_next_tready(op == roce_pkg::SqOpTell),
    .m_next_tdata(list_qpn),
    .m_kick_req_tvalid(m_kick_req_tvalid),
    .m_kick_req_tready(m_kick_req_tready),
    .m_kick_req_tdata(m_kick_req_tdata),
    .m_kick_ret_tvalid(m_kick_ret_tvalid),
    .m_kick_ret_tready(m_kick_ret_tready),
    .m_kick_ret_tdata(m_kick_ret_tdata),
    .m_err_tvalid(m_err_tvalid),
    .m_err_tready(m_err_tready),
    .m_err_tdata(m_err_tdata),
    .m_event_tvalid(m_event_tvalid),
    .m_event_tready(m_event_tready),
    .m_event_tdata(m_event_tdata)
  );

  always_ff @(posedge clk) begin
    if (rst) count_q <= '0;
    else count_q <= count;
  end

  assign {cnt_sq_errors_o, cnt_sq_rewinds_o, cnt_sq_timeouts_o, cnt_sq_naks_rnr_o,
      cnt_sq_naks_reserved_o, cnt_sq_naks_fatal_o, cnt_sq_naks_o, cnt_sq_acks_dropped_o,
      cnt_sq_acks_stale_o, cnt_sq_acks_o} = count_q;

endmodule

`default_nettype wire
