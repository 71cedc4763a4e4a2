// rsp_enter: takes in what comes for the QPs: set-ups, requests, answers, results.
//
// An operation every two cycles: one input is chosen and the QP's tables are read, then it is
// carried out and taken (tready). A set-up goes first, then results; requests and answers take
// turns. New requests become a row of the QP's ring and move its tail; answers go to rsp_answers,
// marked with the number of requests in front of them (`reads`), which may be ahead of the tail; a
// result goes to its row (idx), be the request there already or not: what was there before is then
// forgotten, as it shares the word with a READ's address. Each asks for a turn of the QP (m_kick).
// A request whose data in front failed (s_rd_tuser) becomes the row of a failed atomic; of an
// atomic its own result may still come, and counts when the row has not been served by then.
//
// Some need rsp_serve to stand still (hold_o until serve_idle_i): a duplicate (rsp_sort); a set-up
// or the end of a QP, which also waits for emit_idle_i; a new request, or a result ahead of its
// request, whose row may still have to be sent again for a duplicate, which is then given up. After
// each, a duplicate waits for 64 cycles, so that a flood of them does not keep rsp_serve from its
// work; the other inputs pass it meanwhile. A set-up clears the QP's rows, RdDepth cycles.
//
// Dropped: what is for a QP that is dead, about to die (a duplicate with s_rd_tuser) or beyond
// QpCount (cnt_rd_drop_dead_o); a new request whose idx is not the next one, or that finds RdDepth
// requests not served yet (cnt_rd_drop_order_o); a duplicate that fits no entry
// (cnt_rd_drop_duplicate_o).
//
// QpCount: queue pairs, 1..16384. QpW: bits of a QPN. RdDepth: rows a QP, a power of two, 1..128.
// RowW: bits of a row number. Exact: as in rsp_sort.
`include "rocegen_assert.svh"
`default_nettype none

module rsp_enter #(
  parameter int QpCount = 16,
  parameter int QpW = 4,
  parameter int RdDepth = 16,
  parameter int RowW = 8,
  parameter int Exact = 0
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  ready_i,
  input  logic                  s_cfg_tvalid,
  output logic                  s_cfg_tready,
  // Fields of the requester and of the receive side are not for this module.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::qp_cfg_t     s_cfg_tdata,
  input  logic                  s_rd_tvalid,
  output logic                  s_rd_tready,
  input  roce_pkg::rd_req_t     s_rd_tdata,
  input  logic                  s_rd_tuser,
  input  logic                  s_ack_tvalid,
  output logic                  s_ack_tready,
  input  roce_pkg::ack_req_t    s_ack_tdata,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                  s_result_tvalid,
  output logic                  s_result_tready,
  input  roce_pkg::atomic_res_t s_result_tdata,
  output logic                  hold_o,
  input  logic                  serve_idle_i,
  input  logic                  emit_idle_i,
  input  logic                  alive_we_i,
  input  logic [QpW-1:0]        alive_qpn_i,
  input  logic                  alive_i,
  input  logic                  cursor_we_i,
  input  logic [QpW-1:0]        cursor_qpn_i,
  input  roce_pkg::rsp_cursor_t cursor_i,
  output logic [QpW-1:0]        op_qpn_o,  // of all that follows
  output logic                  set_alive_we_o,
  output logic                  set_alive_o,
  output logic                  set_static_we_o,
  output logic                  set_cursor_we_o,
  output roce_pkg::rsp_cursor_t set_cursor_o,
  output logic                  tail_we_o,
  output logic [7:0]            tail_o,
  output logic                  put_valid_o,
  input  logic                  put_ready_i,
  output logic                  put_clear_o,
  output roce_pkg::rsp_answer_t put_o,
  output logic                  new_we_o,
  output logic                  todo_we_o,
  output logic                  todo_free_o,
  output logic [RowW-1:0]       row_o,
  output roce_pkg::rsp_entry_t  entry_o,
  output roce_pkg::rsp_todo_t   todo_o,
  output logic                  result_we_o,
  output logic [66:0]           result_o,
  output logic                  sort_o,
  output logic [RowW-1:0]       sort_row_o,
  input  roce_pkg::rsp_entry_t  sort_entry_i,
  input  logic [63:0]           sort_va_i,
  input  roce_pkg::rsp_todo_t   sort_todo_i,
  output logic                  m_kick_tvalid,
  input  logic                  m_kick_tready,
  output logic [QpW-1:0]        m_kick_tdata,
  output logic                  cnt_rd_requests_o,
  output logic                  cnt_rd_duplicates_o,
  output logic                  cnt_rd_drop_duplicate_o,
  output logic                  cnt_rd_drop_dead_o,
  output logic                  cnt_rd_drop_order_o
);

  localparam int Rows = 1 << QpW;
  localparam int Lap = $clog2(RdDepth);

  typedef enum logic [2:0] {
    StChoose,  // the QP's tables are read
    StDo,  // they show: most operations end here
    StHold,  // rsp_serve ends its turns
    StRead,  // the tables are read again
    StLook,  // and compared
    StChange,
    StWalk,  // the rows of a QP set up are cleared
    StSort
  } state_t;

  localparam logic [1:0] OpCfg = 2'd0;
  localparam logic [1:0] OpResult = 2'd1;
  localparam logic [1:0] OpAck = 2'd2;
  localparam logic [1:0] OpRd = 2'd3;

  // ---- choose -----------------------------------------------------------------------------------
  state_t         state_q;
  state_t         state_d;
  logic           rd_first_q;
  logic           any;
  logic [1:0]     op;
  logic [1:0]     op_q;
  logic [1:0]     op_now;
  logic [23:0]    qpn_long;
  logic [QpW-1:0] qpn;
  logic [QpW-1:0] qpn_q;  // qpn, from StDo on
  logic           known_q;
  logic [7:0]     idx_q;
  logic           dup_q;
  logic           failed_q;  // data in front of the request
  logic           starts_q;  // the set-up starts a QP anew
  logic           ends_q;  // state RESET or ERR: its end

  assign any = ready_i && (s_cfg_tvalid || s_result_tvalid || s_ack_tvalid || s_rd_tvalid);

  always_comb begin
    if (s_cfg_tvalid) op = OpCfg;
    else if (s_result_tvalid) op = OpResult;
    else if (s_rd_tvalid && (rd_first_q || !s_ack_tvalid)) op = OpRd;
    else op = OpAck;
  end

  assign op_now = state_q == StChoose ? op : op_q;

  always_comb begin
    case (op_now)
      OpCfg: qpn_long = s_cfg_tdata.qpn;
      OpResult: qpn_long = s_result_tdata.qpn;
      OpAck: qpn_long = s_ack_tdata.qpn;
      default: qpn_long = s_rd_tdata.qpn;
    endcase
  end

  assign qpn = qpn_long[QpW-1:0];

  always_ff @(posedge clk) begin
    if (state_q == StChoose) begin
      op_q     <= op;
      qpn_q    <= qpn;
      known_q  <= qpn_long < 24'(QpCount);
      // What decides whether an input is taken: tready hangs on no input of this cycle.
      idx_q    <= op == OpResult ? s_result_tdata.idx : s_rd_tdata.idx;
      dup_q    <= s_rd_tdata.kind[1];
      failed_q <= s_rd_tuser;
      starts_q <= s_cfg_tdata.setup;
      ends_q   <= s_cfg_tdata.state == roce_pkg::QpReset || s_cfg_tdata.state == roce_pkg::QpErr;
    end
    if (rst) rd_first_q <= 1'b0;
    else if (state_q == StDo) rd_first_q <= op_q != OpRd;
  end

  // ---- tables: whether the QP lives, its cursor (copies), its tail ------------------------------
  logic                            alive;
  logic [roce_pkg::RspCursorW-1:0] cursor_read;
  roce_pkg::rsp_cursor_t           cursor;
  logic [32:0]                     tail_read;
  logic                            tail_any;  // the QP has had an entry
  logic [7:0]                      tail;
  logic [23:0]                     tail_psn;  // last PSN of the newest entry
  logic                            tail_we;
  logic [32:0]                     tail_d;

  ram_sdp #(
    .Width(1),
    .Depth(Rows)
  ) u_alive (
    .clk(clk),
    .wr_en_i(alive_we_i),
    .wr_addr_i(alive_qpn_i),
    .wr_data_i(alive_i),
    .rd_en_i(1'b1),
    .rd_addr_i(qpn),
    .rd_data_o(alive)
  );

  ram_sdp #(
    .Width(roce_pkg::RspCursorW),
    .Depth(Rows)
  ) u_cursor (
    .clk(clk),
    .wr_en_i(cursor_we_i),
    .wr_addr_i(cursor_qpn_i),
    .wr_data_i(cursor_i),
    .rd_en_i(1'b1),
    .rd_addr_i(qpn),
    .rd_data_o(cursor_read)
  );

  ram_sdp #(
    .Width(33),
    .Depth(Rows)
  ) u_tail (
    .clk(clk),
    .wr_en_i(tail_we),
    .wr_addr_i(qpn_q),
    .wr_data_i(tail_d),
    .rd_en_i(1'b1),
    .rd_addr_i(qpn),
    .rd_data_o(tail_read)
  );

  assign cursor = cursor_read;
  assign {tail_any, tail, tail_psn} = tail_read;

  // ---- duplicates -------------------------------------------------------------------------------
  logic                  sort_done;
  logic                  sort_hit;
  logic                  sort_todo_we;
  logic [RowW-1:0]       sort_todo_row;
  roce_pkg::rsp_todo_t   sort_todo;
  logic                  sort_cursor_we;
  roce_pkg::rsp_cursor_t sort_cursor;
  logic                  sort_start;
  roce_pkg::rsp_cursor_t sort_from_q;

  rsp_sort #(
    .QpW(QpW),
    .RdDepth(RdDepth),
    .RowW(RowW),
    .Exact(Exact)
  ) u_sort (
    .clk(clk),
    .rst(rst),
    .start_i(sort_start),
    .qpn_i(qpn_q),
    .req_i(s_rd_tdata),
    .tail_i(tail),
    .cursor_i(sort_from_q),
    .row_o(sort_row_o),
    .entry_i(sort_entry_i),
    .va_i(sort_va_i),
    .todo_i(sort_todo_i),
    .todo_we_o(sort_todo_we),
    .todo_row_o(sort_todo_row),
    .todo_o(sort_todo),
    .cursor_we_o(sort_cursor_we),
    .cursor_o(sort_cursor),
    .done_o(sort_done),
    .hit_o(sort_hit)
  );

  // ---- what to do -------------------------------------------------------------------------------
  logic       kick_free;  // of two places
  logic       live;
  logic       in_order;
  logic       full;
  logic       behind;
  logic [7:0] from_tail;  // modular
  logic [7:0] from_cur;
  logic       early;  // a result ahead of its request
  logic       reused;  // its row may still have to be sent again
  logic       behind_q;
  logic       full_q;
  logic       lap_q;  // the result's row is the one at the cursor, a round later
  logic       result_go;
  logic       over;  // the operation is over
  logic       kick;
  logic       accept;  // a new request
  logic       drop_dead;
  logic       drop_order;
  logic       squeeze;
  logic       setup;
  logic [7:0] walk_q;
  logic [5:0] pause_q;  // cycles since rsp_serve stood still
  logic       pause_over_q;
  logic       walk_last;

  assign live      = known_q && alive;
  assign in_order  = idx_q == tail;
  // Between cursor and tail are never more than RdDepth entries.
  assign full      = ((tail ^ cursor.cur) & 8'(2 * RdDepth - 1)) == 8'(RdDepth);
  assign behind    = cursor.cur != cursor.done;
  assign from_tail = idx_q - tail;
  assign from_cur  = idx_q - cursor.cur;
  assign early     = !from_tail[7];
  assign reused    = early && behind && from_cur >= 8'(RdDepth);
  assign walk_last = walk_q == 8'(RdDepth - 1);

  always_comb begin
    state_d    = state_q;
    over       = 1'b0;
    kick       = 1'b0;
    accept     = 1'b0;
    drop_dead  = 1'b0;
    drop_order = 1'b0;
    squeeze    = 1'b0;
    setup      = 1'b0;
    sort_start = 1'b0;
    case (state_q)
      StChoose: if (any) state_d = StDo;
      StDo: begin
        if (op_q == OpCfg) begin
          if (known_q && (starts_q || ends_q)) state_d = StHold;
          else over = 1'b1;
        end else if (!live || (op_q == OpRd && dup_q && failed_q)) begin
          over      = 1'b1;
          drop_dead = 1'b1;
        end else if (op_q == OpRd && dup_q) begin
          state_d = pause_over_q ? StHold : StChoose;
        end else if (op_q == OpResult && reused) begin
          state_d = StHold;
        end else if (op_q == OpRd && (!in_order || full)) begin
          if (in_order && behind) state_d = StHold;
          else {over, drop_order} = 2'b11;
        end else if (kick_free) begin
          over   = op_q != OpAck || put_ready_i;
          kick   = over;
          accept = op_q == OpRd;
        end
        if (over) state_d = StChoose;
      end
      StHold: begin
        if (serve_idle_i && !m_kick_tvalid && (op_q != OpCfg || emit_idle_i)) state_d = StRead;
      end
      StRead: state_d = StLook;
      StLook: state_d = StChange;
      StChange: begin
        case (op_q)
          OpCfg: begin
            setup   = starts_q;
            over    = !starts_q;
            state_d = starts_q ? StWalk : StChoose;
          end
          OpResult: begin
            squeeze = behind_q && lap_q;  // what is sent again is in the row
            over    = 1'b1;
            kick    = 1'b1;
            state_d = StChoose;
          end
          default: begin
            squeeze    = !dup_q && full_q && behind_q;  // it may have been served meanwhile
            sort_start = dup_q;
            state_d    = dup_q ? StSort : StChoose;
          end
        endcase
      end
      StWalk: begin
        over = walk_last;
        if (walk_last) state_d = StChoose;
      end
      default: begin
        if (sort_done) begin
          over    = 1'b1;
          kick    = sort_hit;
          state_d = StChoose;
        end
      end
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q     <= StChoose;
      hold_o      <= 1'b0;
      todo_free_o <= 1'b1;
    end else begin
      state_q     <= state_d;
      hold_o      <= state_d != StChoose && state_d != StDo;
      todo_free_o <= state_d != StDo;
    end
  end

  // Of the tables that were read again.
  always_ff @(posedge clk) begin
    behind_q <= behind;
    full_q   <= full;
    lap_q    <= from_cur == 8'(RdDepth);
  end

  always_ff @(posedge clk) begin
    walk_q <= state_q == StWalk ? walk_q + 1'b1 : '0;
    if (hold_o) pause_q <= '0;
    else if (!pause_over_q) pause_q <= pause_q + 1'b1;
    pause_over_q <= !hold_o && (pause_over_q || pause_q == '1);
    // The duplicate's own change of the cursor must not come back to rsp_sort.
    if (state_q == StChange) sort_from_q <= cursor;
  end

  stream_skid #(
    .Width(QpW)
  ) u_kick (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(kick),
    .s_axis_tready(kick_free),
    .s_axis_tdata(qpn_q),
    .m_axis_tvalid(m_kick_tvalid),
    .m_axis_tready(m_kick_tready),
    .m_axis_tdata(m_kick_tdata)
  );

  assign sort_o          = state_q == StSort;
  assign s_cfg_tready    = over && op_q == OpCfg;
  assign s_result_tready = over && op_q == OpResult;
  assign s_ack_tready    = over && op_q == OpAck;
  assign s_rd_tready     = over && op_q == OpRd;

  // ---- changes ----------------------------------------------------------------------------------
  logic       fatal;
  logic       atomic;
  logic [7:0] row_idx;
  logic [7:0] result_lap;  // of the ring, modular

  assign op_qpn_o        = qpn_q;
  assign set_alive_we_o  = state_q == StChange && op_q == OpCfg;
  assign set_alive_o     = starts_q && !ends_q;
  assign set_static_we_o = setup;
  assign set_cursor_we_o = setup || squeeze || sort_cursor_we;

  always_comb begin
    set_cursor_o = sort_cursor;
    if (state_q == StChange) begin
      set_cursor_o = '0;
      if (!setup) begin
        set_cursor_o.cur  = cursor.cur + 1'b1;
        set_cursor_o.done = cursor.done;
      end
    end
  end

  assign tail_we   = accept || setup;
  assign tail_d    = setup ? '0 : {1'b1, tail + 1'b1, s_rd_tdata.last_psn};
  assign tail_we_o = tail_we;
  assign tail_o    = tail_d[31:24];

  assign fatal       = s_ack_tdata.syndrome[6:5] == 2'b11 && s_ack_tdata.syndrome[4:0] != '0;
  assign put_valid_o = setup || (state_q == StDo && op_q == OpAck && live && kick_free);
  assign put_clear_o = setup;

  always_comb begin
    put_o.now      = fatal && tail_any && !roce_pkg::psn_lt(tail_psn, s_ack_tdata.psn);
    put_o.mark     = s_ack_tdata.reads;
    put_o.syndrome = s_ack_tdata.syndrome;
    put_o.psn      = s_ack_tdata.psn;
    put_o.msn      = s_ack_tdata.msn;
  end

  // The same as kick of a result.
  assign result_go   = op_q == OpResult && (state_q == StChange ||
      (state_q == StDo && live && !reused && kick_free));
  assign new_we_o    = accept;
  assign todo_we_o   = sort_todo_we || state_q == StWalk || (result_go && early);
  assign atomic      = s_rd_tdata.kind[0] || failed_q;
  assign result_we_o = state_q == StWalk || (accept && (!s_rd_tdata.kind[0] || failed_q)) ||
      result_go;
  assign result_lap  = (op_q == OpResult ? s_result_tdata.idx : s_rd_tdata.idx) >> Lap;

  always_comb begin
    result_o = '0;
    if (op_q == OpResult) begin
      result_o = {1'b1, result_lap[0], s_result_tdata.err, s_result_tdata.value};
    end else if (op_q == OpRd && failed_q) begin
      result_o = {1'b1, result_lap[0], 1'b1, 64'd0};
    end else if (op_q == OpRd) begin
      result_o[63:0] = s_rd_tdata.va;
    end
  end

  always_comb begin
    case (op_q)
      OpCfg: row_idx = walk_q;
      OpResult: row_idx = s_result_tdata.idx;
      default: row_idx = s_rd_tdata.idx;
    endcase
    row_idx = row_idx & 8'(RdDepth - 1);
    row_o   = sort_todo_we ? sort_todo_row : (RowW'(qpn_q) << Lap) | RowW'(row_idx);
  end

  always_comb begin
    entry_o.atomic   = atomic;
    entry_o.psn      = s_rd_tdata.psn;
    entry_o.last_psn = atomic ? s_rd_tdata.psn : s_rd_tdata.last_psn;
    entry_o.msn      = s_rd_tdata.msn;
    entry_o.rkey     = s_rd_tdata.rkey;
    entry_o.length   = s_rd_tdata.length;
    todo_o           = '0;
    todo_o.used      = accept;
    if (sort_todo_we) todo_o = sort_todo;
  end

  logic unused;
  assign unused = ^{result_lap, from_tail[6:0]};

  // ---- counters ---------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_rd_requests_o       <= 1'b0;
      cnt_rd_duplicates_o     <= 1'b0;
      cnt_rd_drop_duplicate_o <= 1'b0;
      cnt_rd_drop_dead_o      <= 1'b0;
      cnt_rd_drop_order_o     <= 1'b0;
    end else begin
      cnt_rd_requests_o       <= accept;
      cnt_rd_duplicates_o     <= state_q == StSort && kick;
      cnt_rd_drop_duplicate_o <= state_q == StSort && over && !kick;
      cnt_rd_drop_dead_o      <= drop_dead;
      cnt_rd_drop_order_o     <= drop_order;
    end
  end

  `ROCEGEN_ASSERT(forget_at_once, !setup || put_ready_i)
  `ROCEGEN_ASSERT(kick_has_room, !kick || kick_free)

endmodule

`default_nettype wire
