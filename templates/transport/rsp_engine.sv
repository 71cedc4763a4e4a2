// rsp_engine: READ responses, atomic acknowledges, and the answers that stay in order with them.
//
// s_rd (rd_req_t, behind a write_gate): READs and atomics that the responder accepted, in order,
// idx 0 the QP's first, and duplicates of them; s_rd_tuser 1: data in front was not written. s_ack
// (ack_req_t): answers of QPs that use READs or atomics; they may come ahead of the requests in
// front of them, which wait for data: `reads` tells how many those are, and every one of them must
// come. s_result (atomic_res_t): the outcome of an atomic, in any order, also in front of its own
// s_rd. s_cfg (qp_cfg_t): setup 1 starts a QP anew; state RESET or ERR drops all that waits in it.
// m_cmd (tx_cmd_t): what is sent. m_evt (qp_evt_t, rsp 1): a QP died here. rd_done_*: how many
// READs and atomics of a QP are served, modular.
//
// Per QP a ring of RdDepth rows remembers the last ones, served or not; they are served in order, a
// quantum of packets a turn, then the next QP has its turn. Every packet's region is looked up
// (mr_req_o, mr_index_o; mr_entry_i two cycles after mr_gnt_i): a region revoked turns the packet
// into NAK 0x62 with event EvtNakAccess, and the rest of the QP is dropped. An atomic without
// result blocks its QP only; a result with err, or a request with s_rd_tuser, becomes NAK 0x63 with
// event EvtReadErr, and the rest of the QP is dropped. A duplicate
// READ is served again from memory, as far as it asks, when it lies in a remembered one; a
// duplicate atomic gets its stored value; any other duplicate is dropped. An answer leaves when all
// that was in front of it is served; of several that wait the newest leaves, but a duplicate's
// never replaces a NAK. A fatal NAK with the PSN of a response that is still to be sent or was sent
// already (dma_read could not read it) takes the place of the rest.
//
// Inputs: one operation every two cycles, whatever m_cmd does; a duplicate holds them and the
// serving for 22 cycles + its distance behind the newest entry, plus up to 20 in which turns end, a
// set-up for 5 + RdDepth; between duplicates 64 cycles belong to the serving. Output: a packet a
// cycle within a turn, a turn of one packet in two cycles, 17 cycles from a QP's turn to its next.
// Latency from s_rd to m_cmd: 27 cycles. After a set-up, up to 16 commands of the QP's former life
// may still leave; its records that arrive later are dropped only when their idx does not fit:
// whoever sets up a QP that was in use must see to it that none are on their way.
//
// QpCount: queue pairs, 1..16384. RdDepth: READs and atomics remembered a QP, a power of two,
// 1..128; the responder's limit (max_dest_rd) must not be above it. Quantum: packets a turn, 1..64.
// Exact: 1, a duplicate READ must also end where the original or one of its packets ends: each PSN is
// sent again with as many bytes as before.
// rocegen: comb none
`default_nettype none

module rsp_engine #(
  parameter int QpCount = 16,
  parameter int RdDepth = 16,
  parameter int Quantum = 16,
  parameter int Exact = 0
) (
  input  logic                  clk,
  input  logic                  rst,
  output logic                  ready_o,
  input  logic                  s_cfg_tvalid,
  output logic                  s_cfg_tready,
  input  roce_pkg::qp_cfg_t     s_cfg_tdata,
  input  logic [roce_pkg::LifeW-1:0] life_i,
  input  logic                  s_rd_tvalid,
  output logic                  s_rd_tready,
  input  roce_pkg::rd_req_t     s_rd_tdata,
  input  logic [0:0]            s_rd_tuser,
  input  logic                  s_ack_tvalid,
  output logic                  s_ack_tready,
  input  roce_pkg::ack_req_t    s_ack_tdata,
  input  logic                  s_result_tvalid,
  output logic                  s_result_tready,
  input  roce_pkg::atomic_res_t s_result_tdata,
  output logic                  m_cmd_tvalid,
  input  logic                  m_cmd_tready,
  output roce_pkg::tx_cmd_t     m_cmd_tdata,
  output logic                  m_evt_tvalid,
  input  logic                  m_evt_tready,
  output roce_pkg::qp_evt_t     m_evt_tdata,
  output logic                  rd_done_we_o,
  output logic [23:0]           rd_done_qpn_o,
  output logic [7:0]            rd_done_o,
  output logic                  mr_req_o,
  output logic [23:0]           mr_index_o,
  input  logic                  mr_gnt_i,
  input  roce_pkg::mr_cfg_t     mr_entry_i,
  output logic                  cnt_rd_requests_o,
  output logic                  cnt_rd_packets_o,
  output logic                  cnt_rd_atomics_o,
  output logic                  cnt_rd_answers_o,
  output logic                  cnt_rd_coalesced_o,
  output logic                  cnt_rd_duplicates_o,
  output logic                  cnt_rd_drop_duplicate_o,
  output logic                  cnt_rd_drop_dead_o,
  output logic                  cnt_rd_drop_order_o,
  output logic                  cnt_rd_revoked_o,
  output logic                  cnt_rd_failed_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp_count
    $fatal(1, "rsp_engine: QpCount must be in 1..16384");
  end
  if (RdDepth < 1 || RdDepth > 128 || (1 << $clog2(RdDepth)) != RdDepth) begin : gen_check_depth
    $fatal(1, "rsp_engine: RdDepth must be a power of two in 1..128");
  end
  if (Quantum < 1 || Quantum > 64) begin : gen_check_quantum
    $fatal(1, "rsp_engine: Quantum must be in 1..64");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int RowW = QpW + $clog2(RdDepth);

  logic                  hold;
  logic                  turn_idle;
  logic                  serve_idle;
  logic                  emit_idle;
  logic                  sched_ready;
  logic                  answers_ready;
  logic                  emit_ready;
  logic                  alive_we;
  logic [QpW-1:0]        alive_qpn;
  logic                  alive;
  logic                  cursor_we;
  logic [QpW-1:0]        cursor_qpn;
  roce_pkg::rsp_cursor_t cursor;
  logic [QpW-1:0]        op_qpn;
  logic                  set_alive_we;
  logic                  set_alive;
  logic                  set_static_we;
  logic                  set_cursor_we;
  roce_pkg::rsp_cursor_t set_cursor;
  logic                  tail_we;
  logic [7:0]            tail;
  logic                  owe_valid;
  logic                  owe_ready;
  logic                  owe_clear;
  roce_pkg::rsp_answer_t owe;
  logic                  peek_valid;
  logic                  peek_ready;
  logic [QpW-1:0]        peek_qpn;
  logic                  waiting;
  roce_pkg::rsp_answer_t answer;
  logic                  answered;
  logic [QpW-1:0]        answered_qpn;
  logic                  new_we;
  logic                  todo_we;
  logic                  todo_free;
  logic [RowW-1:0]       new_row;
  roce_pkg::rsp_entry_t  new_entry;
  roce_pkg::rsp_todo_t   new_todo;
  logic                  result_we;
  logic [66:0]           result;
  logic                  rows_done_we;
  logic [RowW-1:0]       rows_done_row;
  logic                  sort;
  logic [RowW-1:0]       sort_row;
  logic [RowW-1:0]       fetch_row;
  roce_pkg::rsp_entry_t  row_entry;
  roce_pkg::rsp_todo_t   row_todo;
  logic [66:0]           row_result;
  logic                  kick_tvalid;
  logic                  kick_tready;
  logic [QpW-1:0]        kick_tdata;
  logic                  done_valid;
  logic                  done_more;
  logic [QpW-1:0]        done_qpn;
  logic                  pop_tvalid;
  logic                  pop_tready;
  logic [QpW-1:0]        pop_tdata;
  logic                  turn_tvalid;
  logic                  turn_tready;
  logic [QpW-1:0]        turn_qpn;
  roce_pkg::rsp_turn_t   turn_tdata;
  logic                  rows_tvalid;
  logic                  rows_tready;
  logic [QpW-1:0]        rows_qpn;
  logic [3:0]            rows_turn;
  logic [2:0]            rows_pmtu;
  logic [7:0]            rows_idx;
  logic [6:0]            rows_left;
  logic                  row_tvalid;
  logic                  row_tready;
  logic                  row_end;
  logic                  row_last;
  roce_pkg::rsp_row_t    row_tdata;
  logic                  cut;
  logic [3:0]            cut_turn;
  logic                  put_room;
  logic                  put_valid;
  logic [QpW-1:0]        put_qpn;
  roce_pkg::rsp_put_t    put;
  logic                  rd_done_we;
  logic [QpW-1:0]        rd_done_qpn;
  logic [7:0]            rd_done;
  logic                  unused_kick_b;

  always_ff @(posedge clk) begin
    if (rst) begin
      ready_o      <= 1'b0;
      rd_done_we_o <= 1'b0;
    end else begin
      ready_o      <= sched_ready && answers_ready && emit_ready;
      rd_done_we_o <= rd_done_we;
    end
  end

  always_ff @(posedge clk) begin
    rd_done_qpn_o <= 24'(rd_done_qpn);
    rd_done_o     <= rd_done;
  end

  rsp_enter #(
    .QpCount(QpCount),
    .QpW(QpW),
    .RdDepth(RdDepth),
    .RowW(RowW),
    .Exact(Exact)
  ) u_enter (
    .clk(clk),
    .rst(rst),
    .ready_i(ready_o),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .s_rd_tvalid(s_rd_tvalid),
    .s_rd_tready(s_rd_tready),
    .s_rd_tdata(s_rd_tdata),
    .s_rd_tuser(s_rd_tuser[0]),
    .s_ack_tvalid(s_ack_tvalid),
    .s_ack_tready(s_ack_tready),
    .s_ack_tdata(s_ack_tdata),
    .s_result_tvalid(s_result_tvalid),
    .s_result_tready(s_result_tready),
    .s_result_tdata(s_result_tdata),
    .hold_o(hold),
    .serve_idle_i(turn_idle && serve_idle),
    .emit_idle_i(emit_idle),
    .alive_we_i(alive_we),
    .alive_qpn_i(alive_qpn),
    .alive_i(alive),
    .cursor_we_i(cursor_we),
    .cursor_qpn_i(cursor_qpn),
    .cursor_i(cursor),
    .op_qpn_o(op_qpn),
    .set_alive_we_o(set_alive_we),
    .set_alive_o(set_alive),
    .set_static_we_o(set_static_we),
    .set_cursor_we_o(set_cursor_we),
    .set_cursor_o(set_cursor),
    .tail_we_o(tail_we),
    .tail_o(tail),
    .put_valid_o(owe_valid),
    .put_ready_i(owe_ready),
    .put_clear_o(owe_clear),
    .put_o(owe),
    .new_we_o(new_we),
    .todo_we_o(todo_we),
    .todo_free_o(todo_free),
    .row_o(new_row),
    .entry_o(new_entry),
    .todo_o(new_todo),
    .result_we_o(result_we),
    .result_o(result),
    .sort_o(sort),
    .sort_row_o(sort_row),
    .sort_entry_i(row_entry),
    .sort_va_i(row_result[63:0]),
    .sort_todo_i(row_todo),
    .m_kick_tvalid(kick_tvalid),
    .m_kick_tready(kick_tready),
    .m_kick_tdata(kick_tdata),
    .cnt_rd_requests_o(cnt_rd_requests_o),
    .cnt_rd_duplicates_o(cnt_rd_duplicates_o),
    .cnt_rd_drop_duplicate_o(cnt_rd_drop_duplicate_o),
    .cnt_rd_drop_dead_o(cnt_rd_drop_dead_o),
    .cnt_rd_drop_order_o(cnt_rd_drop_order_o)
  );

  rsp_answers #(
    .QpW(QpW)
  ) u_answers (
    .clk(clk),
    .rst(rst),
    .ready_o(answers_ready),
    .put_valid_i(owe_valid),
    .put_ready_o(owe_ready),
    .put_clear_i(owe_clear),
    .put_dup_i(s_ack_tdata.dup),
    .put_qpn_i(op_qpn),
    .put_i(owe),
    .peek_valid_i(peek_valid),
    .peek_ready_o(peek_ready),
    .peek_qpn_i(peek_qpn),
    .done_valid_i(answered),
    .done_qpn_i(answered_qpn),
    .waiting_o(waiting),
    .answer_o(answer),
    .cnt_rd_coalesced_o(cnt_rd_coalesced_o)
  );

  rsp_rows #(
    .RowW(RowW)
  ) u_rows (
    .clk(clk),
    .rst(rst),
    .new_we_i(new_we),
    .todo_we_i(todo_we),
    .row_i(new_row),
    .entry_i(new_entry),
    .todo_i(new_todo),
    .done_we_i(rows_done_we),
    .done_row_i(rows_done_row),
    .result_we_i(result_we),
    .result_row_i(new_row),
    .result_i(result),
    .sort_i(sort),
    .sort_row_i(sort_row),
    .rd_row_i(fetch_row),
    .entry_o(row_entry),
    .todo_o(row_todo),
    .result_o(row_result)
  );

  sq_sched #(
    .QpW(QpW)
  ) u_sched (
    .clk(clk),
    .rst(rst),
    .ready_o(sched_ready),
    .s_kick_a_tvalid(kick_tvalid),
    .s_kick_a_tready(kick_tready),
    .s_kick_a_tdata(kick_tdata),
    .s_kick_b_tvalid(1'b0),
    .s_kick_b_tready(unused_kick_b),
    .s_kick_b_tdata('0),
    .done_valid_i(done_valid),
    .done_more_i(done_more),
    .done_qpn_i(done_qpn),
    .m_pop_tvalid(pop_tvalid),
    .m_pop_tready(pop_tready),
    .m_pop_tdata(pop_tdata)
  );

  rsp_turn #(
    .QpW(QpW),
    .Quantum(Quantum)
  ) u_turn (
    .clk(clk),
    .rst(rst),
    .hold_i(hold),
    .idle_o(turn_idle),
    .set_valid_i(set_static_we),
    .set_qpn_i(op_qpn),
    .set_pmtu_i(s_cfg_tdata.pmtu),
    .set_pd_i(s_cfg_tdata.pd),
    .alive_we_i(alive_we),
    .alive_qpn_i(alive_qpn),
    .alive_i(alive),
    .tail_we_i(tail_we),
    .tail_qpn_i(op_qpn),
    .tail_i(tail),
    .cursor_we_i(cursor_we),
    .cursor_qpn_i(cursor_qpn),
    .cursor_i(cursor),
    .peek_valid_o(peek_valid),
    .peek_ready_i(peek_ready),
    .peek_qpn_o(peek_qpn),
    .waiting_i(waiting),
    .answer_i(answer),
    .s_qp_tvalid(pop_tvalid),
    .s_qp_tready(pop_tready),
    .s_qp_tdata(pop_tdata),
    .m_turn_tvalid(turn_tvalid),
    .m_turn_tready(turn_tready),
    .m_turn_qpn(turn_qpn),
    .m_turn_tdata(turn_tdata),
    .m_rows_tvalid(rows_tvalid),
    .m_rows_tready(rows_tready),
    .m_rows_qpn(rows_qpn),
    .m_rows_turn(rows_turn),
    .m_rows_pmtu(rows_pmtu),
    .m_rows_idx(rows_idx),
    .m_rows_left(rows_left)
  );

  rsp_fetch #(
    .QpW(QpW),
    .RdDepth(RdDepth),
    .RowW(RowW)
  ) u_fetch (
    .clk(clk),
    .rst(rst),
    .hold_i(hold),
    .cut_i(cut),
    .cut_turn_i(cut_turn),
    .s_rows_tvalid(rows_tvalid),
    .s_rows_tready(rows_tready),
    .s_rows_qpn(rows_qpn),
    .s_rows_turn(rows_turn),
    .s_rows_pmtu(rows_pmtu),
    .s_rows_idx(rows_idx),
    .s_rows_left(rows_left),
    .rd_row_o(fetch_row),
    .entry_i(row_entry),
    .todo_i(row_todo),
    .result_i(row_result),
    .m_row_tvalid(row_tvalid),
    .m_row_tready(row_tready),
    .m_row_end(row_end),
    .m_row_last(row_last),
    .m_row_tdata(row_tdata)
  );

  rsp_serve #(
    .QpW(QpW),
    .RdDepth(RdDepth),
    .RowW(RowW),
    .Quantum(Quantum)
  ) u_serve (
    .clk(clk),
    .rst(rst),
    .hold_i(hold),
    .idle_o(serve_idle),
    .set_valid_i(set_cursor_we),
    .set_qpn_i(op_qpn),
    .set_cursor_i(set_cursor),
    .s_turn_tvalid(turn_tvalid),
    .s_turn_tready(turn_tready),
    .s_turn_qpn(turn_qpn),
    .s_turn_tdata(turn_tdata),
    .s_row_tvalid(row_tvalid),
    .s_row_tready(row_tready),
    .s_row_end(row_end),
    .s_row_last(row_last),
    .s_row_tdata(row_tdata),
    .cut_o(cut),
    .cut_turn_o(cut_turn),
    .cursor_we_o(cursor_we),
    .cursor_qpn_o(cursor_qpn),
    .cursor_o(cursor),
    .rd_done_we_o(rd_done_we),
    .rd_done_qpn_o(rd_done_qpn),
    .rd_done_o(rd_done),
    .rows_free_i(todo_free),
    .rows_done_we_o(rows_done_we),
    .rows_done_row_o(rows_done_row),
    .answered_o(answered),
    .answered_qpn_o(answered_qpn),
    .done_valid_o(done_valid),
    .done_more_o(done_more),
    .done_qpn_o(done_qpn),
    .put_room_i(put_room),
    .put_valid_o(put_valid),
    .put_qpn_o(put_qpn),
    .put_o(put),
    .cnt_rd_atomics_o(cnt_rd_atomics_o),
    .cnt_rd_answers_o(cnt_rd_answers_o),
    .cnt_rd_packets_o(cnt_rd_packets_o)
  );

  rsp_emit #(
    .QpW(QpW)
  ) u_emit (
    .clk(clk),
    .rst(rst),
    .ready_o(emit_ready),
    .idle_o(emit_idle),
    .set_valid_i(set_alive_we),
    .set_qpn_i(op_qpn),
    .set_alive_i(set_alive),
    .set_life_i(life_i),
    .alive_we_o(alive_we),
    .alive_qpn_o(alive_qpn),
    .alive_o(alive),
    .room_o(put_room),
    .put_valid_i(put_valid),
    .put_qpn_i(put_qpn),
    .put_i(put),
    .mr_req_o(mr_req_o),
    .mr_index_o(mr_index_o),
    .mr_gnt_i(mr_gnt_i),
    .mr_entry_i(mr_entry_i),
    .m_cmd_tvalid(m_cmd_tvalid),
    .m_cmd_tready(m_cmd_tready),
    .m_cmd_tdata(m_cmd_tdata),
    .m_evt_tvalid(m_evt_tvalid),
    .m_evt_tready(m_evt_tready),
    .m_evt_tdata(m_evt_tdata),
    .cnt_rd_revoked_o(cnt_rd_revoked_o),
    .cnt_rd_failed_o(cnt_rd_failed_o)
  );

  logic unused;
  assign unused = unused_kick_b;

endmodule

`default_nettype wire
