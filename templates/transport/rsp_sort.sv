// rsp_sort: puts a duplicate of a READ or atomic among what a QP has to send.
//
// start_i, while rsp_serve is idle and stays so: search the QP's rows, the newest first, for the
// entry that the duplicate (req_i) repeats. One of its packets must have the duplicate's PSN; a
// READ must ask, with the same key, for bytes of the original in their place, with Exact also end where
// the original or one of its packets ends, so that no packet has fewer bytes than before: then rows and cursor
// are changed so that [psn, last_psn] is sent again, from the original's memory, in PSN order with
// the rest. What still had to be sent of that row is joined: the hull of both. What a row that was
// begun still lacks is saved when the cursor goes back past it. done_o: finished, with hit_o 1, or
// nothing was changed. All inputs must stay until done_o.
//
// Latency: 18 cycles for a hit in the newest row, one more for each row behind it; RdDepth + 5 for
// a miss.
//
// QpW: bits of a QPN, 1..14. RdDepth: rows a QP, a power of two, 1..128. RowW: bits of a row
// number. Exact: 0, 1.
`default_nettype none

module rsp_sort #(
  parameter int QpW = 4,
  parameter int RdDepth = 16,
  parameter int RowW = 8,
  parameter int Exact = 0
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  start_i,
  input  logic [QpW-1:0]        qpn_i,
  // Neither record is used whole: what a response takes from the entry is not compared.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::rd_req_t     req_i,
  input  logic [7:0]            tail_i,
  input  roce_pkg::rsp_cursor_t cursor_i,
  output logic [RowW-1:0]       row_o,
  input  roce_pkg::rsp_entry_t  entry_i,
  input  logic [63:0]           va_i,  // of a READ's row
  /* verilator lint_on UNUSEDSIGNAL */
  input  roce_pkg::rsp_todo_t   todo_i,
  output logic                  todo_we_o,
  output logic [RowW-1:0]       todo_row_o,
  output roce_pkg::rsp_todo_t   todo_o,
  output logic                  cursor_we_o,
  output roce_pkg::rsp_cursor_t cursor_o,
  output logic                  done_o,
  output logic                  hit_o
);

  if (Exact < 0 || Exact > 1) begin : gen_check_exact
    $fatal(1, "rsp_sort: Exact must be 0 or 1");
  end

  localparam int Lap = $clog2(RdDepth);

  typedef enum logic [3:0] {
    StIdle,
    StSearch,  // a row a cycle, answers three cycles later
    StCurrent,  // read the row that the cursor is at
    StFound,  // and the one that was found
    StPlace,  // where in the original does the duplicate begin?
    StLow,
    StHigh,
    StFit,
    StWrite,  // the row's new todo
    StSave,  // what the row at the cursor still lacks
    StMiss
  } state_t;

  state_t     state_q;
  logic [1:0] wait_q;  // cycles of the memory
  logic       wait_over;

  assign wait_over = wait_q == 2'd3;

  // ---- search -----------------------------------------------------------------------------------
  logic [7:0] back_q;  // row asked for: entries behind the tail
  logic [7:0] back1_q;
  logic [7:0] back2_q;
  logic [7:0] back3_q;
  logic [3:1] asked_q;
  logic       match_q;
  logic       found;
  logic       missed;
  logic       over_q;  // all rows are asked for
  logic       atomic;

  assign atomic = req_i.kind[0];
  assign found  = asked_q[3] && match_q;
  assign missed = over_q && asked_q == '0;

  always_ff @(posedge clk) begin
    if (rst) asked_q <= '0;
    else asked_q <= state_q == StSearch && !found ? {asked_q[2:1], !over_q} : '0;
    back1_q <= back_q;
    back2_q <= back1_q;
    back3_q <= back2_q;
    match_q <= todo_i.used && entry_i.atomic == atomic &&
        !roce_pkg::psn_lt(req_i.psn, entry_i.psn) &&
        !roce_pkg::psn_lt(entry_i.last_psn, req_i.psn);
  end

  // ---- distances behind the tail: larger is older -----------------------------------------------
  logic [7:0] hit_q;
  logic [7:0] cur_q;
  logic [7:0] done_q;
  logic       older_q;  // than the cursor: it goes back
  logic       same_q;
  logic       fresh_q;  // was not served before
  logic [7:0] idx;
  logic [7:0] slot;

  always_ff @(posedge clk) begin
    if (found) hit_q <= back3_q;
    cur_q   <= tail_i - cursor_i.cur;
    done_q  <= tail_i - cursor_i.done;
    older_q <= hit_q > cur_q;
    same_q  <= hit_q == cur_q;
    fresh_q <= hit_q <= done_q;
  end

  always_comb begin
    case (state_q)
      StSearch: idx = tail_i - back_q;
      StCurrent, StSave: idx = cursor_i.cur;
      default: idx = tail_i - hit_q;
    endcase
  end

  assign slot  = idx & 8'(RdDepth - 1);
  assign row_o = (RowW'(qpn_i) << Lap) | RowW'(slot);

  // ---- what is left of a row, when its cursor is not looked at ----------------------------------
  logic [23:0] left_last;
  logic [12:0] left_tail;
  logic [12:0] full_tail;

  assign full_tail = roce_pkg::last_bytes(entry_i.length, req_i.pmtu);
  assign left_last = todo_i.again ? todo_i.last : entry_i.last_psn;
  assign left_tail = todo_i.again ? todo_i.tail : full_tail;

  // ---- does the duplicate lie in the original? --------------------------------------------------
  logic [23:0] save_last_q;
  logic [12:0] save_tail_q;
  logic        some_q;  // the row has something to send
  logic        head_q;
  logic [23:0] first_q;
  logic [23:0] last_q;
  logic [12:0] tail_q;
  logic [12:0] dup_tail_q;
  logic [23:0] number_q;
  logic [31:0] offset_q;
  logic [32:0] end_q;
  logic        carry_q;
  logic [31:0] low_q;
  logic [31:0] low2_q;
  logic [31:0] high_q;
  logic        zero_q;
  logic        key_q;
  logic        short_q;
  logic        end_ok_q;  // every packet is as long as in the original
  logic        fits_q;
  logic        before_q;  // the duplicate begins at or before what is left
  logic        beyond_q;  // it ends behind it
  logic        tie_q;
  logic        longer_q;
  logic [31:0] offset;
  logic [23:0] dup_last;
  logic        full_last;  // the last packet has a whole path MTU

  assign dup_last = atomic ? req_i.psn : req_i.last_psn;

  always_comb begin
    case (req_i.pmtu)
      3'd1: offset = {number_q, 8'b0};
      3'd2: offset = {number_q[22:0], 9'b0};
      3'd3: offset = {number_q[21:0], 10'b0};
      3'd4: offset = {number_q[20:0], 11'b0};
      default: offset = {number_q[19:0], 12'b0};
    endcase
    case (req_i.pmtu)
      3'd1: full_last = req_i.length[7:0] == '0;
      3'd2: full_last = req_i.length[8:0] == '0;
      3'd3: full_last = req_i.length[9:0] == '0;
      3'd4: full_last = req_i.length[10:0] == '0;
      default: full_last = req_i.length[11:0] == '0;
    endcase
  end

  // The entry stays on the memory's output from StFound on.
  always_ff @(posedge clk) begin
    if (state_q == StCurrent) begin
      save_last_q <= left_last;
      save_tail_q <= left_tail;
    end
    if (state_q == StFound) begin
      some_q  <= todo_i.again || fresh_q;
      head_q  <= (!todo_i.again || todo_i.head) && !(same_q && cursor_i.mid);
      first_q <= same_q && cursor_i.mid ? cursor_i.psn : todo_i.again ? todo_i.first : entry_i.psn;
      last_q  <= left_last;
      tail_q  <= left_tail;
    end
    dup_tail_q <= atomic ? '0 : roce_pkg::last_bytes(req_i.length, req_i.pmtu);
    number_q   <= req_i.psn - entry_i.psn;
    offset_q   <= offset;
    end_q      <= {1'b0, offset_q} + {1'b0, req_i.length};
    {carry_q, low_q} <= {1'b0, va_i[31:0]} + {1'b0, offset_q};
    low2_q     <= low_q;
    high_q     <= va_i[63:32] + 32'(carry_q);
    key_q      <= req_i.rkey == entry_i.rkey;
    short_q    <= end_q <= {1'b0, entry_i.length};
    end_ok_q   <= Exact == 0 || full_last || end_q == {1'b0, entry_i.length};
    zero_q     <= req_i.length == '0;
    fits_q     <= atomic || (zero_q && entry_i.length == '0) ||
        (!zero_q && key_q && short_q && end_ok_q && low2_q == req_i.va[31:0] && high_q == req_i.va[63:32]);
    before_q   <= !roce_pkg::psn_lt(first_q, req_i.psn);
    beyond_q   <= roce_pkg::psn_lt(last_q, dup_last);
    tie_q      <= last_q == dup_last;
    longer_q   <= tail_q < dup_tail_q;
  end

  // ---- steps ------------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= StIdle;
    end else begin
      case (state_q)
        StIdle: if (start_i) state_q <= StSearch;
        StSearch: begin
          if (found) state_q <= StCurrent;
          else if (missed) state_q <= StMiss;
        end
        StCurrent: if (wait_over) state_q <= StFound;
        StFound: if (wait_over) state_q <= StPlace;
        StPlace: state_q <= StLow;
        StLow: state_q <= StHigh;
        StHigh: state_q <= StFit;
        StFit: state_q <= fits_q ? StWrite : StMiss;
        StWrite: state_q <= StSave;
        default: state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk) begin
    wait_q <= (state_q == StCurrent || state_q == StFound) && !wait_over ? wait_q + 1'b1 : '0;
    if (state_q == StIdle) begin
      back_q <= 8'd1;
      over_q <= 1'b0;
    end else if (state_q == StSearch) begin
      back_q <= back_q + 1'b1;
      if (back_q == 8'(RdDepth)) over_q <= 1'b1;
    end
  end

  // ---- changes ----------------------------------------------------------------------------------
  always_comb begin
    todo_o.used  = 1'b1;
    todo_o.again = 1'b1;
    if (state_q == StSave) begin
      todo_o.head  = 1'b0;
      todo_o.first = cursor_i.psn;
      todo_o.last  = save_last_q;
      todo_o.tail  = save_tail_q;
    end else begin
      todo_o.head  = !some_q || before_q || head_q;
      todo_o.first = !some_q || before_q ? req_i.psn : first_q;
      todo_o.last  = !some_q || beyond_q ? dup_last : last_q;
      todo_o.tail  = !some_q || beyond_q || (tie_q && longer_q) ? dup_tail_q : tail_q;
    end
    cursor_o      = cursor_i;
    cursor_o.mid  = cursor_i.mid && !older_q && !same_q;
    if (older_q) cursor_o.cur = tail_i - hit_q;
  end

  assign todo_we_o   = state_q == StWrite || (state_q == StSave && older_q && cursor_i.mid);
  assign todo_row_o  = row_o;
  assign cursor_we_o = state_q == StSave;
  assign done_o      = state_q == StSave || state_q == StMiss;
  assign hit_o       = state_q == StSave;

  logic unused;
  assign unused = ^slot;

endmodule

`default_nettype wire
