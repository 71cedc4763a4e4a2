// rsp_serve: cuts a QP's turn into packets.
//
// Takes a turn (s_turn) and its rows (s_row) and decides on packets: first the answer that is due,
// then row by row the responses: put_*_o, at most one a cycle, only while put_room_i. A turn ends,
// and done_valid_o names its QP for one cycle:
//   more 1: Quantum packets are sent, rows were left out of the turn, an answer waits that was not
//     due yet, or hold_i;
//   more 0: nothing is left, the next row is an atomic without result (whoever brings it kicks the
//     QP), or the QP is dead.
// hold_i ends every turn without waiting for anybody; idle_o: no turn is open. What was kicked or
// came in since the turn was read is not in it: the work list notes the kick.
//
// Owns the cursors, told on cursor_*_o in the cycle after each change. set_valid_i (only while
// idle_o) replaces one. rows_done_we_o, only when rows_free_i, tells that what was asked for again
// of a row is sent. rd_done_*_o: entries of a QP served at least once; told after each
// change, but of changes in a row only every second and the last: never in three cycles running.
//
// Throughput: a packet a cycle; two cycles for a turn of one packet.
//
// QpW: bits of a QPN, 1..14. RdDepth: rows a QP, a power of two, 1..128. RowW: bits of a row
// number. Quantum: packets a turn, 1..64.
`include "rocegen_assert.svh"
`default_nettype none

module rsp_serve #(
  parameter int QpW = 4,
  parameter int RdDepth = 16,
  parameter int RowW = 8,
  parameter int Quantum = 16
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  hold_i,
  output logic                  idle_o,
  input  logic                  set_valid_i,
  input  logic [QpW-1:0]        set_qpn_i,
  input  roce_pkg::rsp_cursor_t set_cursor_i,
  input  logic                  s_turn_tvalid,
  output logic                  s_turn_tready,
  input  logic [QpW-1:0]        s_turn_qpn,
  input  roce_pkg::rsp_turn_t   s_turn_tdata,
  input  logic                  s_row_tvalid,
  output logic                  s_row_tready,
  input  logic                  s_row_end,
  input  logic                  s_row_last,
  input  roce_pkg::rsp_row_t    s_row_tdata,
  output logic                  cut_o,
  output logic [3:0]            cut_turn_o,
  output logic                  cursor_we_o,
  output logic [QpW-1:0]        cursor_qpn_o,
  output roce_pkg::rsp_cursor_t cursor_o,
  output logic                  rd_done_we_o,
  output logic [QpW-1:0]        rd_done_qpn_o,
  output logic [7:0]            rd_done_o,
  input  logic                  rows_free_i,
  output logic                  rows_done_we_o,
  output logic [RowW-1:0]       rows_done_row_o,
  output logic                  answered_o,
  output logic [QpW-1:0]        answered_qpn_o,
  output logic                  done_valid_o,
  output logic                  done_more_o,
  output logic [QpW-1:0]        done_qpn_o,
  input  logic                  put_room_i,
  output logic                  put_valid_o,
  output logic [QpW-1:0]        put_qpn_o,
  output roce_pkg::rsp_put_t    put_o,
  output logic                  cnt_rd_atomics_o,
  output logic                  cnt_rd_answers_o,
  output logic                  cnt_rd_packets_o
);

  localparam int Lap = $clog2(RdDepth);

  typedef enum logic [1:0] {
    StIdle,  // the next turn
    StAnswer,  // its answer comes first
    StRows,
    StDrop  // the turn is over, its rows are not
  } state_t;

  state_t              state_q;
  state_t              state_d;
  logic [QpW-1:0]      qpn_q;
  roce_pkg::rsp_turn_t turn_q;
  roce_pkg::rsp_cursor_t cursor_q;
  roce_pkg::rsp_cursor_t cursor_d;
  logic                behind_q;  // cur is not at done: served before
  logic [6:0]          spent_q;  // packets of the quantum
  logic [6:0]          spent_d;
  logic                used_up_q;  // one packet is left of it
  logic                write_q;
  logic                write_d;
  logic                count_q;  // done changed
  logic                told_q;
  logic                count_d;
  logic                done_q;
  logic                done_d;
  logic                more_q;
  logic                more_d;

  logic load;
  logic pop;
  logic answer;
  logic send;
  logic next;  // on to the next entry

  // ---- the row ----------------------------------------------------------------------------------
  logic [23:0] psn;
  logic        last;  // packet of its row
  logic        wanted;
  logic        blocked;
  logic        able;

  assign psn     = cursor_q.mid ? cursor_q.psn : s_row_tdata.first;
  assign last    = psn == s_row_tdata.last;
  assign wanted  = s_row_tdata.again || !behind_q;
  assign blocked = s_row_tdata.atomic && !s_row_tdata.known;
  assign able    = put_room_i && (!s_row_tdata.again || rows_free_i);

  // ---- what to do -------------------------------------------------------------------------------
  always_comb begin
    state_d = state_q;
    load    = 1'b0;
    pop     = 1'b0;
    answer  = 1'b0;
    send    = 1'b0;
    next    = 1'b0;
    done_d  = 1'b0;
    more_d  = turn_q.more;
    case (state_q)
      StIdle: begin
        load = s_turn_tvalid;
        if (s_turn_tvalid) state_d = s_turn_tdata.owed || s_turn_tdata.none ? StAnswer : StRows;
      end
      StAnswer: begin
        answer = !hold_i && turn_q.owed && put_room_i;
        if (hold_i) more_d = 1'b1;
        done_d = hold_i || (turn_q.none && (answer || !turn_q.owed));
        if (done_d) state_d = turn_q.none ? StIdle : StDrop;
        else if (answer) state_d = StRows;
      end
      StRows: begin
        if (s_row_tvalid) begin
          if (s_row_end || hold_i) begin
            done_d = 1'b1;
            more_d = 1'b1;
            pop    = s_row_last;
          end else if (!wanted) begin
            next   = 1'b1;
            pop    = 1'b1;
            done_d = s_row_last;
          end else if (blocked) begin
            done_d = 1'b1;
            more_d = 1'b0;
            pop    = s_row_last;
          end else if (able) begin
            send = 1'b1;
            next = last;
            if (last && s_row_last) begin
              done_d = 1'b1;
              pop    = 1'b1;
            end else begin
              done_d = used_up_q;
              more_d = 1'b1;
              pop    = last || (used_up_q && s_row_last);
            end
          end
          // What is left of the turn is dropped, one row a cycle.
          if (done_d) state_d = pop && s_row_last ? StIdle : StDrop;
        end
      end
      default: begin
        pop = s_row_tvalid;
        if (s_row_tvalid && s_row_last) state_d = StIdle;
      end
    endcase
  end

  always_comb begin
    cursor_d = cursor_q;
    count_d  = next && !behind_q;
    spent_d  = spent_q;
    write_d  = send || next;
    if (load) begin
      cursor_d = s_turn_tdata.cursor;
      spent_d  = '0;
    end else begin
      if (next) cursor_d.cur = cursor_q.cur + 1'b1;
      if (count_d) cursor_d.done = cursor_q.done + 1'b1;
      if (send) begin
        cursor_d.psn = psn + 1'b1;
        spent_d      = spent_q + 1'b1;
      end
      if (send || next) cursor_d.mid = !next;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q    <= StIdle;
      told_q     <= 1'b0;
      write_q    <= 1'b0;
      count_q    <= 1'b0;
      done_q     <= 1'b0;
      answered_o <= 1'b0;
    end else begin
      state_q    <= state_d;
      told_q     <= rd_done_we_o;
      write_q    <= write_d;
      count_q    <= count_d;
      done_q     <= done_d;
      answered_o <= answer;
    end
  end

  always_ff @(posedge clk) begin
    if (load) begin
      qpn_q  <= s_turn_qpn;
      turn_q <= s_turn_tdata;
    end
    cursor_q       <= cursor_d;
    behind_q       <= cursor_d.cur != cursor_d.done;
    spent_q        <= spent_d;
    used_up_q      <= spent_d == 7'(Quantum - 1);
    more_q         <= more_d;
    answered_qpn_o <= qpn_q;
  end

  assign s_turn_tready = load;
  assign s_row_tready  = pop;
  assign cut_o         = state_q == StDrop;
  assign cut_turn_o    = turn_q.turn;
  assign idle_o        = state_q == StIdle && !write_q && !done_q;

  // ---- the packet -------------------------------------------------------------------------------
  logic [12:0] mtu;

  always_comb begin
    case (turn_q.pmtu)
      3'd1: mtu = 13'd256;
      3'd2: mtu = 13'd512;
      3'd3: mtu = 13'd1024;
      3'd4: mtu = 13'd2048;
      default: mtu = 13'd4096;
    endcase
  end

  always_comb begin
    put_o.pmtu   = turn_q.pmtu;
    put_o.pd     = turn_q.pd;
    put_o.va     = s_row_tdata.va;
    put_o.rkey   = s_row_tdata.rkey;
    put_o.first  = !cursor_q.mid && s_row_tdata.head;
    put_o.last   = last;
    put_o.number = psn - s_row_tdata.base;
    if (state_q == StAnswer) begin
      put_o.kind     = roce_pkg::RspAnswer;
      put_o.look     = 1'b0;
      put_o.kill     = turn_q.answer.now;
      put_o.tell     = 1'b0;
      put_o.syndrome = turn_q.answer.syndrome;
      put_o.psn      = turn_q.answer.psn;
      put_o.msn      = turn_q.answer.msn;
      put_o.bytes    = '0;
    end else if (s_row_tdata.atomic) begin
      put_o.kind     = s_row_tdata.failed ? roce_pkg::RspAnswer : roce_pkg::RspAtomic;
      put_o.look     = 1'b0;
      put_o.kill     = s_row_tdata.failed;
      put_o.tell     = s_row_tdata.failed;
      put_o.syndrome = s_row_tdata.failed ? roce_pkg::SynNakOp : roce_pkg::SynAckNoLimit;
      put_o.psn      = psn;
      put_o.msn      = s_row_tdata.msn;
      put_o.bytes    = '0;
    end else begin
      put_o.kind     = roce_pkg::RspRead;
      put_o.look     = !s_row_tdata.zero;
      put_o.kill     = 1'b0;
      put_o.tell     = 1'b0;
      put_o.syndrome = roce_pkg::SynAckNoLimit;
      put_o.psn      = psn;
      put_o.msn      = s_row_tdata.msn;
      put_o.bytes    = last ? s_row_tdata.tail : mtu;
    end
  end

  assign put_valid_o = send || answer;
  assign put_qpn_o   = qpn_q;

  // ---- what the others are told -----------------------------------------------------------------
  logic [7:0] slot;

  assign done_valid_o    = done_q;
  assign done_more_o     = more_q;
  assign done_qpn_o      = qpn_q;
  assign cursor_we_o     = write_q || set_valid_i;
  assign cursor_qpn_o    = set_valid_i ? set_qpn_i : qpn_q;
  assign cursor_o        = set_valid_i ? set_cursor_i : cursor_q;
  assign rd_done_we_o    = (count_q && (!count_d || !told_q)) || set_valid_i;
  assign rd_done_qpn_o   = cursor_qpn_o;
  assign rd_done_o       = cursor_o.done;
  assign rows_done_we_o  = send && last && s_row_tdata.again;
  assign slot            = cursor_q.cur & 8'(RdDepth - 1);
  assign rows_done_row_o = (RowW'(qpn_q) << Lap) | RowW'(slot);

  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_rd_atomics_o <= 1'b0;
      cnt_rd_answers_o <= 1'b0;
      cnt_rd_packets_o <= 1'b0;
    end else begin
      cnt_rd_atomics_o <= send && s_row_tdata.atomic;
      cnt_rd_answers_o <= answer;
      cnt_rd_packets_o <= send && !s_row_tdata.atomic;
    end
  end

  logic unused;
  assign unused = ^{turn_q.cursor, slot};

  `ROCEGEN_ASSERT(set_while_idle, !set_valid_i || (idle_o && hold_i))
  `ROCEGEN_ASSERT(put_with_room, !put_valid_o || put_room_i)

endmodule

`default_nettype wire
