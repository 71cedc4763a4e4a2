// sq_ack: the acknowledged position and the state of every queue pair's send side.
//
// Takes everything that changes them, one at a time, in this precedence: s_cfg (set-up and state),
// s_evt (fatal errors found elsewhere), s_data (data of a response that did not reach the memory),
// s_bad (a request that cannot be executed), s_time (ACK and RNR timers, SQD reached), and s_ack
// (ACKs, NAKs, READ responses, atomic results). sq_ack_rules says what each does; the new state is
// told to all on state_*_o, a QP with something to send or to retire is kicked, a QP that went to
// ERR is named on m_err (to the responder) and m_event with the cause; EvtSqDrained on m_event,
// unless the QP goes to ERR or RESET before it was told.
// Every READ response and atomic result, wherever it comes from, gives one command on m_fetch.
//
// Set-up and RESET: hold_o stops the requester, the poster, the retirer and the timer, and s_ack;
// when idle_i says that they hold nothing and no data is on its way to memory (flight_i), the
// set-up is done in one step (set_valid_o: all start the QP anew), then they go on. A change to SQD
// holds them, too, until idle_i: so no turn that began before it sends anything after it. s_cfg is
// taken when it is in force. A set-up whose ring does not fit into the request memory leaves the QP
// in RESET. QPNs >= QpCount are taken and ignored.
//
// Never waits: s_evt, s_data and s_time are taken whatever m_err, m_event and m_fetch do (a list
// holds every QP), so no circle of waiting can close. s_ack waits for m_fetch and for the kick
// queues, which always drain. An error that comes, or that m_err still offers, when its QP lives
// anew says by its `life` that it is of a former one.
//
// Throughput: one of these every 2 cycles, from one QP or many; one of s_ack takes 2 cycles more
// when the response before it, of the same QP, closes a READ or atomic but is not accepted. Latency:
// 6 cycles to state_*_o, 10 to m_fetch. ready_o: tables cleared, 2^QpW cycles after reset. Nothing
// is taken before enable_i.
//
// QpCount: 1..16384, QpW: bits of a QPN below it. WqeSlots: slots in the request memory, 2..2^20.
// RdDepth: READs and atomics of a QP under way, a power of two, 1..128. Services: 1, an answer of another life
// than the QP's counts as a stranger's.
`include "rocegen_assert.svh"
`default_nettype none

module sq_ack #(
  parameter int QpCount = 16,
  parameter int QpW = 4,
  parameter int WqeSlots = 256,
  parameter int RdDepth = 16,
  parameter int Services = 0
) (
  input  logic                 clk,
  input  logic                 rst,
  output logic                 ready_o,
  input  logic                 enable_i,
  output logic                 hold_o,
  input  logic                 idle_i,
  input  logic                 flight_i,
  output logic                 sent_o,
  output logic                 set_valid_o,
  output logic                 state_we_o,
  output logic [QpW-1:0]       state_qpn_o,
  output roce_pkg::sq_state_t  state_o,
  output logic                 state_nacked_o,  // with state_o: the latest rewind was a NAK's
  input  logic                 cursor_we_i,
  input  logic [QpW-1:0]       cursor_qpn_i,
  input  roce_pkg::sq_cursor_t cursor_i,
  input  logic                 rd_we_i,
  input  logic [QpW-1:0]       rd_qpn_i,
  input  logic [7:0]           rd_num_i,
  input  roce_pkg::sq_rd_t     rd_i,
  input  logic                 s_cfg_tvalid,
  output logic                 s_cfg_tready,
  input  roce_pkg::qp_cfg_t    s_cfg_tdata,
  input  logic [roce_pkg::LifeW-1:0] life_i,
  input  logic                 s_ack_tvalid,
  output logic                 s_ack_tready,
  input  roce_pkg::rx_hdr_t    s_ack_tdata,
  input  logic                 s_evt_tvalid,
  output logic                 s_evt_tready,
  input  roce_pkg::qp_evt_t    s_evt_tdata,
  input  logic                 s_data_tvalid,
  output logic                 s_data_tready,
  input  logic [QpW-1:0]       s_data_qpn,
  input  logic [23:0]          s_data_psn,
  input  logic                 s_bad_tvalid,
  output logic                 s_bad_tready,
  input  logic [QpW-1:0]       s_bad_qpn,
  input  logic                 s_bad_length,
  input  logic                 s_time_tvalid,
  output logic                 s_time_tready,
  input  logic [QpW-1:0]       s_time_qpn,
  input  logic [23:0]          s_time_una,
  input  logic [3:0]           s_time_gen,
  input  logic [1:0]           s_time_kind,
  output logic                 m_fetch_tvalid,
  input  logic                 m_fetch_tready,
  output roce_pkg::rx_cmd_t    m_fetch_tdata,
  output logic                 m_kick_req_tvalid,
  input  logic                 m_kick_req_tready,
  output logic [QpW-1:0]       m_kick_req_tdata,
  output logic                 m_kick_ret_tvalid,
  input  logic                 m_kick_ret_tready,
  output logic [QpW-1:0]       m_kick_ret_tdata,
  output logic                 m_err_tvalid,
  input  logic                 m_err_tready,
  output roce_pkg::qp_evt_t    m_err_tdata,
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
  output logic                 cnt_sq_implied_naks_o,
  output logic                 cnt_sq_responses_o,
  output logic                 cnt_sq_responses_stale_o,
  output logic                 cnt_sq_responses_bad_o,
  output logic                 cnt_sq_timeouts_o,
  output logic                 cnt_sq_rewinds_o,
  output logic                 cnt_sq_errors_o
);

  localparam int Rows = 1 << QpW;
  // Credits beyond the ring mean nothing: code 2n grants 2^n.
  localparam int SlotW = $clog2(WqeSlots);
  localparam logic [4:0] MostCredits = SlotW >= 15 ? 5'd30 : 5'(2 * SlotW);

  // An operation on its way. Operations are chosen in even cycles (phase_q 0); each stage holds one
  // for two cycles and passes it on at the end of the second.
  typedef struct packed {
    logic [3:0]     op;
    logic [QpW-1:0] qpn;
    logic [23:0]    psn;
    logic [7:0]     arg;
  } op_t;
  // What only s_ack has.
  typedef struct packed {
    logic [15:0] buf_addr;
    logic [13:0] bytes;
    logic [7:0]  opcode;
  } rsp_t;

  // ---- set-up -----------------------------------------------------------------------------------
  logic       cfg_go, cfg_take, idle_q, quiet_q, telling, responding;
  logic       telling_q;  // in front of a choice the same as telling
  logic [2:0] cfg_state;

  // What is idle and held stays so, and no operation was chosen in the cycle before a choice.
  always_ff @(posedge clk) begin
    idle_q  <= idle_i && hold_o;
    quiet_q <= idle_i && hold_o && !flight_i && !responding && !s_bad_tvalid && !s_time_tvalid &&
        !telling;
    telling_q <= in_q.op == roce_pkg::SqOpTell || mid_q.op == roce_pkg::SqOpTell;
  end

  sq_setup #(
    .QpCount(QpCount),
    .WqeSlots(WqeSlots)
  ) u_setup (
    .clk(clk),
    .rst(rst),
    .ready_i(enable_i),
    .quiet_i(quiet_q),
    .idle_i(idle_q),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .hold_o(hold_o),
    .go_o(cfg_go),
    .take_i(cfg_take),
    .state_o(cfg_state)
  );

  // ---- choose: every second cycle ---------------------------------------------------------------
  logic           phase_q;
  logic           guess_q;  // the response in front is going to close its READ: look behind that
  logic           mid_guess_q;  // so it was looked up
  logic           again_q;  // wrong: the operation stays, to be looked up again
  logic           accept;  // the response that is decided
  logic           closes;  // and ends its READ
  logic           step;
  logic           move;  // of the stages
  logic           room, fetch_room;
  logic           choose;
  logic           list_valid;
  logic [QpW-1:0] list_qpn;
  logic           tell_go;
  logic           tell_take;
  logic           is_response;
  op_t            op;
  op_t            in_q;
  op_t            mid_q;
  op_t            rule_q;
  logic [roce_pkg::LifeW-1:0] op_life, in_life_q, mid_life_q;  // of a foreign error, an answer
  rsp_t           in_rsp_q;
  rsp_t           mid_rsp_q;
  logic [31:0]    in_ip_q;
  logic [15:0]    in_pkey_q;
  logic [21:0]    in_msn_q;
  logic           in_known_q;

  assign step    = !phase_q;
  assign move    = step && !again_q;
  assign choose  = move && enable_i && room;
  assign tell_go = list_valid && !hold_o && !telling_q && !m_err_tvalid && !m_event_tvalid;
  assign telling = in_q.op == roce_pkg::SqOpTell || mid_q.op == roce_pkg::SqOpTell ||
      rule_q.op == roce_pkg::SqOpTell;
  assign responding = in_q.op == roce_pkg::SqOpRsp || mid_q.op == roce_pkg::SqOpRsp ||
      rule_q.op == roce_pkg::SqOpRsp;
  assign is_response = s_ack_tdata.opcode != roce_pkg::OpAck &&
      s_ack_tdata.opcode >= roce_pkg::OpReadRespFirst &&
      s_ack_tdata.opcode <= roce_pkg::OpAtomicAck;

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
    .s_data_tvalid(s_data_tvalid),
    .s_data_tready(s_data_tready),
    .s_data_qpn(s_data_qpn),
    .s_data_psn(s_data_psn),
    .s_bad_tvalid(s_bad_tvalid),
    .s_bad_tready(s_bad_tready),
    .s_bad_qpn(s_bad_qpn),
    .s_bad_length(s_bad_length),
    .s_time_tvalid(s_time_tvalid),
    .s_time_tready(s_time_tready),
    .s_time_qpn(s_time_qpn),
    .s_time_una(s_time_una),
    .s_time_gen(s_time_gen),
    .s_time_kind(s_time_kind),
    .tell_go_i(tell_go),
    .tell_take_o(tell_take),
    .tell_qpn_i(list_qpn),
    .ack_go_i(fetch_room && !hold_o),
    .s_ack_tvalid(s_ack_tvalid),
    .s_ack_tready(s_ack_tready),
    .s_ack_qpn(s_ack_tdata.dqpn[QpW-1:0]),
    .s_ack_psn(s_ack_tdata.psn),
    .s_ack_syndrome(s_ack_tdata.syndrome),
    .s_ack_response(is_response),
    .s_ack_life(s_ack_tdata.life),
    .op_o(op.op),
    .op_qpn_o(op.qpn),
    .op_psn_o(op.psn),
    .op_arg_o(op.arg),
    .op_life_o(op_life)
  );

  // ---- stages -----------------------------------------------------------------------------------
  // in: the row comes from its RAM, the header is checked, the READ list is looked up with it.
  // mid: the list's answer comes, everything is compared. rule: decided and written, in its first
  // cycle. The row that was written last is not in what the RAM gave to the two behind it: it is
  // put in here (match_*). The list is looked up before the operation in front is decided: a
  // response that closes a READ is taken to be accepted.
  roce_pkg::sq_row_t row_read;
  roce_pkg::sq_row_t in_row;
  roce_pkg::sq_row_t mid_row;
  roce_pkg::sq_row_t mid_row_q;
  roce_pkg::sq_row_t rule_row_q;
  roce_pkg::sq_row_t row_d;
  roce_pkg::sq_row_t last_row_q;
  logic              match_in_q;
  logic              match_mid_q;
  logic              row_write;
  logic              stayed_q;  // nothing moved at the last step

  ram_clear #(
    .Width(roce_pkg::SqRowW),
    .Depth(Rows),
    .ZeroData(1'b1)
  ) u_row (
    .clk(clk),
    .rst(rst),
    .wr_en_i(row_write),
    .wr_addr_i(rule_q.qpn),
    .wr_data_i(row_d),
    .rd_en_i(choose),
    .rd_addr_i(op.qpn),
    .rd_data_o(row_read),
    .ready_o(ready_o)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      phase_q   <= 1'b0;
      again_q   <= 1'b0;
      in_q.op   <= roce_pkg::SqOpNone;
      mid_q.op  <= roce_pkg::SqOpNone;
      rule_q.op <= roce_pkg::SqOpNone;
    end else begin
      phase_q   <= !phase_q;
      again_q   <= phase_q && mid_guess_q && !(accept && closes);
      rule_q.op <= move ? mid_q.op : roce_pkg::SqOpNone;
      if (move) begin
        mid_q.op <= in_q.op;
        in_q.op  <= op.op;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (choose) begin
      in_q.qpn          <= op.qpn;
      in_q.psn          <= op.psn;
      in_q.arg          <= op.arg;
      in_life_q         <= op_life;
      in_rsp_q.buf_addr <= s_ack_tdata.buf_addr;
      in_rsp_q.bytes    <= s_ack_tdata.pay_bytes;
      in_rsp_q.opcode   <= s_ack_tdata.opcode;
      in_ip_q           <= s_ack_tdata.src_ip;
      in_pkey_q         <= s_ack_tdata.pkey;
      in_msn_q          <= s_ack_tdata.msn[21:0];
      in_known_q        <= s_ack_tdata.dqpn < 24'(QpCount) &&
          (is_response || s_ack_tdata.opcode == roce_pkg::OpAck);
    end
    // A response that closes a READ moves the QP's place in the list when it is decided.
    guess_q <= mid_q.op == roce_pkg::SqOpRsp && mid_q.qpn == in_q.qpn &&
        (mid_rsp_q.opcode == roce_pkg::OpReadRespLast ||
        mid_rsp_q.opcode == roce_pkg::OpReadRespOnly ||
        mid_rsp_q.opcode == roce_pkg::OpAtomicAck) &&
        (in_q.op == roce_pkg::SqOpRsp || in_q.op == roce_pkg::SqOpAck);
    if (step) mid_guess_q <= guess_q && !again_q;
    // What stays after again_q keeps its matches: nothing is written meanwhile.
    if (phase_q) begin
      match_in_q  <= row_write ? rule_q.qpn == in_q.qpn : match_in_q && stayed_q;
      match_mid_q <= row_write ? rule_q.qpn == mid_q.qpn : match_mid_q && stayed_q;
    end
    if (step) stayed_q <= again_q;
    if (row_write) last_row_q <= row_d;
    if (move) begin
      mid_q.qpn  <= in_q.qpn;
      mid_q.psn  <= in_q.psn;
      mid_q.arg  <= in_q.arg;
      mid_life_q <= in_life_q;
      mid_rsp_q  <= in_rsp_q;
      mid_row_q  <= in_row;
      rule_q.qpn <= mid_q.qpn;
      rule_q.psn <= mid_q.psn;
      rule_q.arg <= mid_q.arg;
      rule_row_q <= mid_row;
    end
    // So row_d is zero while the rows are cleared.
    if (rst || !ready_o) rule_row_q <= '0;
  end

  assign in_row  = match_in_q ? last_row_q : row_read;
  assign mid_row = match_mid_q ? last_row_q : mid_row_q;

  // ---- credits that an ACK grants ---------------------------------------------------------------
  logic [4:0]  code;
  logic [16:0] credits;
  logic [21:0] mid_lsn_q;
  logic [21:0] lsn_step;
  logic [21:0] rule_lsn_q;
  logic        rule_lsn_newer_q;

  assign code     = in_q.arg[4:0] > MostCredits ? MostCredits : in_q.arg[4:0];
  assign lsn_step = mid_lsn_q - mid_row.told.lsn;

  always_comb begin  // 0, 1, 2, 3, 4, 6, 8, 12, 16, ..
    credits = (code[0] ? 17'd3 : 17'd2) << code[4:1] >> 1;
    if (code == 5'd0) credits = '0;
  end

  // ---- what is known of the peer and of its oldest READ -----------------------------------------
  logic        mid_header_ok;
  logic [2:0]  mid_pmtu, mid_retry_cnt, mid_rnr_retry;
  logic [23:0] mid_nxt;
  logic [7:0]  mid_rdnxt;
  logic        rule_blocked;
  logic        in_window, older, oldest, sent, open, moves, early, expected, fits, atomic;
  logic [23:0] limit, number;
  logic [63:0] laddr;
  logic [2:0]  target;
  logic [7:0]  look_rdu;
  logic [QpW-1:0] look_qpn;

  assign look_qpn = again_q ? mid_q.qpn : in_q.qpn;
  assign look_rdu = again_q ? mid_row.told.rdu : in_row.told.rdu + 8'(guess_q);

  sq_peer #(
    .QpW(QpW)
  ) u_peer (
    .clk(clk),
    .set_valid_i(set_valid_o),
    .set_i(s_cfg_tdata),
    .cursor_we_i(cursor_we_i),
    .cursor_qpn_i(cursor_qpn_i),
    .cursor_i(cursor_i),
    .look_i(choose),
    .look_qpn_i(op.qpn),
    .step_i(move),
    .check_qpn_i(look_qpn),
    .known_i(in_known_q),
    .hdr_ip_i(in_ip_q),
    .hdr_pkey_i(in_pkey_q),
    .header_ok_o(mid_header_ok),
    .pmtu_o(mid_pmtu),
    .retry_cnt_o(mid_retry_cnt),
    .rnr_retry_o(mid_rnr_retry),
    .nxt_o(mid_nxt),
    .rdnxt_o(mid_rdnxt),
    .mark_qpn_i(mid_q.qpn),
    .blocked_o(rule_blocked)
  );

  sq_read #(
    .QpW(QpW),
    .RdDepth(RdDepth)
  ) u_read (
    .clk(clk),
    .rd_we_i(rd_we_i),
    .rd_qpn_i(rd_qpn_i),
    .rd_num_i(rd_num_i),
    .rd_i(rd_i),
    .look_qpn_i(look_qpn),
    .look_rdu_i(look_rdu),
    .rdu_i(mid_row.told.rdu),
    .una_i(mid_row.told.una),
    .nxt_i(mid_nxt),
    .rdnxt_i(mid_rdnxt),
    .pmtu_i(mid_pmtu),
    .psn_i(mid_q.psn),
    .opcode_i(mid_rsp_q.opcode),
    .bytes_i(mid_rsp_q.bytes),
    .ack_type_i(mid_q.arg[7:5]),
    .in_window_o(in_window),
    .older_o(older),
    .oldest_o(oldest),
    .sent_o(sent),
    .open_o(open),
    .limit_o(limit),
    .moves_o(moves),
    .before_o(early),
    .expected_o(expected),
    .fits_o(fits),
    .closes_o(closes),
    .atomic_o(atomic),
    .target_o(target),
    .laddr_o(laddr),
    .number_o(number)
  );

  // ---- decide and write -------------------------------------------------------------------------
  logic [23:0] rule_psn_next_q;
  logic [3:0]  rule_kind_q;
  logic        rule_header_ok_q;
  logic [2:0]  rule_pmtu_q;
  logic [15:0] rule_buf_q;
  logic [13:0] rule_bytes_q;
  logic        mid_live, mid_gen;
  logic        rule_live_q, rule_life_q, rule_timeout_q, rule_rnr_end_q;
  logic        rule_once_q, rule_more_q, rule_rnr_once_q, rule_rnr_more_q;
  logic [2:0]  rule_state_q;

  assign mid_live = mid_row.told.state == roce_pkg::QpRts ||
      mid_row.told.state == roce_pkg::QpSqd;
  assign mid_gen  = mid_q.arg[3:0] == mid_row.told.gen;

  always_ff @(posedge clk) begin
    if (rst) begin
      rule_timeout_q <= 1'b0;
      rule_rnr_end_q <= 1'b0;
    end else begin
      rule_timeout_q <= move && mid_q.op == roce_pkg::SqOpTimeout && mid_live && mid_gen &&
          !mid_row.told.rnr;
      rule_rnr_end_q <= move && mid_q.op == roce_pkg::SqOpRnrEnd && mid_gen &&
          mid_row.told.rnr;
    end
  end

  always_ff @(posedge clk) begin
    if (move) begin
      mid_lsn_q        <= in_msn_q + 22'(credits);
      rule_lsn_q       <= mid_lsn_q;
      rule_lsn_newer_q <= lsn_step != '0 && !lsn_step[21];
      rule_psn_next_q  <= mid_q.psn + 1'b1;
      rule_kind_q      <= {mid_q.arg[7:2] == 6'b011000 && mid_q.arg[1:0] != 2'b00,
          mid_q.arg == roce_pkg::SynNakPsn, mid_q.arg[7:5] == roce_pkg::SynRnr,
          mid_q.arg[7:5] == 3'b000};
      rule_header_ok_q <= mid_header_ok && (Services == 0 || mid_life_q == mid_row.life);
      rule_pmtu_q      <= mid_pmtu;
      // What the rules ask of the row alone.
      rule_live_q      <= mid_live;
      rule_life_q      <= mid_life_q == mid_row.life;
      rule_once_q      <= mid_retry_cnt != '0;
      rule_more_q      <= mid_retry_cnt != mid_row.used;
      rule_rnr_once_q  <= mid_rnr_retry != '0;
      rule_rnr_more_q  <= mid_rnr_retry == 3'd7 || mid_rnr_retry != mid_row.rnr_used;
      rule_state_q     <= cfg_state;
      rule_buf_q       <= mid_rsp_q.buf_addr;
      rule_bytes_q     <= mid_rsp_q.bytes;
    end
  end

  logic        kick_requester, kick_retire, list, tell;
  logic [13:0] count;
  logic [13:0] count_q;

  sq_ack_rules u_rules (
    .op_i(rule_q.op),
    .psn_i(rule_q.psn),
    .psn_next_i(rule_psn_next_q),
    .arg_i(rule_q.arg),
    .kind_i(rule_kind_q),
    .header_ok_i(rule_header_ok_q),
    .in_window_i(in_window),
    .older_i(older),
    .oldest_i(oldest),
    .sent_i(sent),
    .open_i(open),
    .limit_i(limit),
    .moves_i(moves),
    .before_i(early),
    .expected_i(expected),
    .fits_i(fits),
    .closes_i(closes),
    .lsn_i(rule_lsn_q),
    .lsn_newer_i(rule_lsn_newer_q),
    .blocked_i(rule_blocked),
    .live_i(rule_live_q),
    .timeout_i(rule_timeout_q),
    .rnr_end_i(rule_rnr_end_q),
    .life_ok_i(rule_life_q),
    .retry_once_i(rule_once_q),
    .retry_more_i(rule_more_q),
    .rnr_once_i(rule_rnr_once_q),
    .rnr_more_i(rule_rnr_more_q),
    .setup_i(s_cfg_tdata.setup),
    .setup_state_i(rule_state_q),
    .setup_psn_i(s_cfg_tdata.sq_psn),
    .setup_life_i(life_i),
    .row_i(rule_row_q),
    .row_o(row_d),
    .write_o(row_write),
    .kick_requester_o(kick_requester),
    .kick_retire_o(kick_retire),
    .list_o(list),
    .tell_o(tell),
    .accept_o(accept),
    .count_o(count)
  );

  assign sent_o = accept;

  sq_read_fetch #(
    .QpW(QpW)
  ) u_fetch (
    .clk(clk),
    .rst(rst),
    .room_o(fetch_room),
    .put_valid_i(rule_q.op == roce_pkg::SqOpRsp),
    .put_forward_i(accept),
    .put_qpn_i(rule_q.qpn),
    .put_psn_i(rule_q.psn),
    .put_buf_i(rule_buf_q),
    .put_bytes_i(rule_bytes_q),
    .put_last_i(closes),
    .put_atomic_i(atomic),
    .put_target_i(target),
    .put_laddr_i(laddr),
    .put_number_i(number),
    .put_pmtu_i(rule_pmtu_q),
    .m_fetch_tvalid(m_fetch_tvalid),
    .m_fetch_tready(m_fetch_tready),
    .m_fetch_tdata(m_fetch_tdata)
  );

  // ---- tell -------------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (rst) begin
      state_we_o  <= 1'b0;
      set_valid_o <= 1'b0;
    end else begin
      state_we_o  <= row_write;
      set_valid_o <= rule_q.op == roce_pkg::SqOpConfig && s_cfg_tdata.setup;
    end
  end

  always_ff @(posedge clk) begin
    state_qpn_o <= rule_q.qpn;
    state_o     <= row_d.told;
    state_nacked_o <= row_d.nacked;
  end

  sq_tell #(
    .QpW(QpW)
  ) u_tell (
    .clk(clk),
    .rst(rst),
    .room_o(room),
    .qpn_i(rule_q.qpn),
    .kick_requester_i(kick_requester),
    .kick_retire_i(kick_retire),
    .list_i(list),
    .tell_i(tell),
    .cause_i(rule_row_q.cause),
    .rsp_i(rule_row_q.rsp),
    .psn_i(rule_row_q.told.fail),
    .life_i(rule_row_q.life),
    .m_next_tvalid(list_valid),
    .m_next_tready(tell_take),
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

  assign {cnt_sq_errors_o, cnt_sq_rewinds_o, cnt_sq_timeouts_o, cnt_sq_responses_bad_o,
      cnt_sq_responses_stale_o, cnt_sq_responses_o, cnt_sq_implied_naks_o, cnt_sq_naks_rnr_o,
      cnt_sq_naks_reserved_o, cnt_sq_naks_fatal_o, cnt_sq_naks_o, cnt_sq_acks_dropped_o,
      cnt_sq_acks_stale_o, cnt_sq_acks_o} = count_q;

  // Fields of the header that no answer needs.
  logic unused;
  assign unused = ^s_ack_tdata;

  `ROCEGEN_ASSERT(row_written_in_odd_cycles, !row_write || phase_q)

endmodule

`default_nettype wire
