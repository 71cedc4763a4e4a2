// rq_rings: the table of receive rings: one row and one head each.
//
// Look-up: row_o, head_o belong to the look_row_i of two cycles before. Writes of that cycle and of
// those before it are in them, but for a row written in that very cycle only the tail is. Write:
// we_i, wr_row_i, wr_data_i, from ready_o on. Every row is zero after reset: closed, no set-ups,
// empty.
//
// Heads are written by rx_responder (head_*_i, one a cycle; a row beyond the table is ignored),
// each with the count of set-ups that it was told in. head_known_o: that count is the row's; else
// one of the two has taken a set-up that the other has not, and head_o is zero, where a set-up puts
// it.
//
// rx_responder's look-up: rq_ring_o belongs to the rq_row_i of two cycles before, with the writes
// before that cycle; a row beyond the table reads as zero.
//
// Rows: 1..20480. RowW: bits of a row number, 1..15.
`include "rocegen_assert.svh"
`default_nettype none

module rq_rings #(
  parameter int Rows = 16,
  parameter int RowW = 4
) (
  input  logic               clk,
  input  logic               rst,
  output logic               ready_o,
  input  logic [RowW-1:0]    look_row_i,
  output roce_pkg::rq_row_t  row_o,
  output logic               head_known_o,
  output logic [21:0]        head_o,
  input  logic               we_i,
  input  logic [RowW-1:0]    wr_row_i,
  input  roce_pkg::rq_row_t  wr_data_i,
  input  logic               head_we_i,
  input  logic [23:0]        head_row_i,
  input  logic [3:0]         head_gen_i,
  input  logic [21:0]        head_i,
  input  logic [23:0]        rq_row_i,
  output roce_pkg::rq_ring_t rq_ring_o
);

  if (Rows < 1 || Rows > 20480) begin : gen_check_rows
    $fatal(1, "rq_rings: Rows must be in 1..20480");
  end
  if (RowW != (Rows > 1 ? $clog2(Rows) : 1)) begin : gen_check_row_width
    $fatal(1, "rq_rings: RowW must be the width of a row number");
  end

  localparam int RingW = roce_pkg::RqRingW;

  // ---- rows: one write port, first used to clear ------------------------------------------------
  logic                        ready_q;
  logic [RowW-1:0]             clear_q;
  logic                        row_we;
  logic [RowW-1:0]             row_addr;
  logic [roce_pkg::RqRowW-1:0] row_data;
  logic [roce_pkg::RqRowW-1:0] row_read;
  logic [RingW-1:0]            ring_read;

  always_ff @(posedge clk) begin
    if (rst) begin
      ready_q <= 1'b0;
      clear_q <= '0;
    end else if (!ready_q) begin
      ready_q <= clear_q == RowW'(Rows - 1);
      clear_q <= clear_q + 1'b1;
    end
  end

  assign ready_o  = ready_q;
  assign row_we   = we_i || !ready_q;
  assign row_addr = ready_q ? wr_row_i : clear_q;
  assign row_data = ready_q ? wr_data_i : '0;

  ram_sdp #(
    .Width(roce_pkg::RqRowW),
    .Depth(Rows)
  ) u_rows (
    .clk(clk),
    .wr_en_i(row_we),
    .wr_addr_i(row_addr),
    .wr_data_i(row_data),
    .rd_en_i(1'b1),
    .rd_addr_i(look_row_i),
    .rd_data_o(row_read)
  );

  // What the responder needs of a row is its low part.
  ram_sdp #(
    .Width(RingW),
    .Depth(Rows)
  ) u_ring (
    .clk(clk),
    .wr_en_i(row_we),
    .wr_addr_i(row_addr),
    .wr_data_i(row_data[RingW-1:0]),
    .rd_en_i(1'b1),
    .rd_addr_i(rq_row_i[RowW-1:0]),
    .rd_data_o(ring_read)
  );

  // ---- heads ------------------------------------------------------------------------------------
  localparam int HeadW = 4 + 22;

  logic             head_we_q;
  logic [RowW-1:0]  head_row_q;
  logic [HeadW-1:0] head_q;
  logic [HeadW-1:0] head_read;

  always_ff @(posedge clk) begin
    if (rst) head_we_q <= 1'b0;
    else head_we_q <= head_we_i && head_row_i < 24'(Rows);
    head_row_q <= head_row_i[RowW-1:0];
    head_q     <= {head_gen_i, head_i};
  end

  ram_sdp #(
    .Width(HeadW),
    .Depth(Rows)
  ) u_heads (
    .clk(clk),
    .wr_en_i(head_we_q || !ready_q),
    .wr_addr_i(ready_q ? head_row_q : clear_q),
    .wr_data_i(ready_q ? head_q : '0),
    .rd_en_i(1'b1),
    .rd_addr_i(look_row_i),
    .rd_data_o(head_read)
  );

  // ---- look-ups ---------------------------------------------------------------------------------
  logic                        we_q;
  logic [RowW-1:0]             wr_row_q;
  logic [21:0]                 wr_tail_q;
  logic [RowW-1:0]             look_row_q;
  roce_pkg::rq_row_t           look_row;
  logic [roce_pkg::RqRowW-1:0] row_q;
  logic                        head_known;
  logic                        head_known_q;
  logic [21:0]                 look_head_q;
  logic                        known_q;
  logic [RingW-1:0]            ring_q;

  // Of both the count of set-ups is the one that was read: a write of the cycle gives but the tail.
  assign look_row   = row_read;
  assign head_known = head_read[HeadW-1:22] == look_row.gen;

  always_ff @(posedge clk) begin
    we_q         <= we_i;
    wr_row_q     <= wr_row_i;
    wr_tail_q    <= wr_data_i.tail;
    look_row_q   <= look_row_i;
    row_q        <= row_read;
    if (we_q && wr_row_q == look_row_q) row_q[21:0] <= wr_tail_q;
    head_known_q <= head_known;
    look_head_q  <= head_known ? head_read[21:0] : '0;
    known_q      <= rq_row_i < 24'(Rows);
    ring_q       <= known_q ? ring_read : '0;
  end

  assign row_o        = row_q;
  assign head_known_o = head_known_q;
  assign head_o       = look_head_q;
  assign rq_ring_o    = ring_q;

  // Of the row as it was read only the count of set-ups is looked at.
  logic unused;
  assign unused = ^look_row;

  `ROCEGEN_ASSERT(write_when_ready, !we_i || ready_q)

endmodule

`default_nettype wire
