// responder_ring: heads of all receive rings, the entry at a head, and the credits of an answer.
//
// Beside its head a ring has the number of its set-ups (modular, zero after reset): only with a
// ring_i that says the same do the two speak of the same ring.
//
// The row of a slot's ring comes with valid_i (cycle 2; slots come two cycles apart or more) and
// ring_i two cycles later, for that cycle only. In cycle 5 entry_o tells whether the ring holds an
// entry, and take_i takes it, reset_i sets the head to zero (write_i: either; entry_o and both are
// of one cycle). Rings are shared by QPs, so what the previous slot left is forwarded by row.
//   6, 7  slot_o: where the entry at the head (before it was taken) lies; gen_o: set-ups of the
//         ring; head_*: a change of the head, in cycle 6
//   8, 9  credits_o: AETH credit code of what is left in the ring, 0x1F without count_i (cycle 5)
//
// Rows: receive rings, 1..20480. A row beyond them reads as anything and must not be written.
`default_nettype none

module responder_ring #(
  parameter int Rows = 16
) (
  input  logic               clk,
  input  logic               rst,
  output logic               ready_o,
  input  logic               valid_i,
  input  logic [14:0]        row_i,
  input  roce_pkg::rq_ring_t ring_i,
  output logic               entry_o,
  input  logic               valid5_i,
  input  logic               take_i,
  input  logic               reset_i,
  input  logic               count_i,
  output logic [19:0]        slot_o,
  output logic               head_we_o,
  output logic [14:0]        head_row_o,
  output logic [21:0]        head_o,
  output logic [3:0]         gen_o,
  output logic [4:0]         credits_o
);

  if (Rows < 1 || Rows > 20480) begin : gen_check_rows
    $fatal(1, "responder_ring: Rows must be in 1..20480");
  end

  localparam int RowW = Rows > 1 ? $clog2(Rows) : 1;

  // ---- cycles 2 to 4 ----------------------------------------------------------------------------
  logic        v3_q;
  logic        v4_q;
  logic        same3_q;  // forward_q is this ring's head
  logic [14:0] row3_q;
  logic [25:0] stored;
  logic [25:0] forward_q;
  logic [21:0] head4;
  logic [3:0]  gen4;
  logic [19:0] mask4;

  always_ff @(posedge clk) begin
    if (rst) begin
      v3_q <= 1'b0;
      v4_q <= 1'b0;
    end else begin
      v3_q <= valid_i;
      v4_q <= v3_q;
    end
    if (valid_i) begin
      same3_q <= row_i == row3_q;
      row3_q  <= row_i;
    end
  end

  assign {gen4, head4} = same3_q ? forward_q : stored;

  always_comb begin
    for (int i = 0; i < 20; i++) mask4[i] = 5'(i) < ring_i.log2;
  end

  // ---- cycle 5 ----------------------------------------------------------------------------------
  logic [14:0] row5_q;
  logic [21:0] head5_q;
  logic [3:0]  gen5_q;
  logic        same_ring5_q;
  logic [21:0] tail5_q;
  logic [19:0] base5_q;
  logic [19:0] mask5_q;
  logic [25:0] next;
  logic        write;

  always_ff @(posedge clk) begin
    if (v4_q) begin
      row5_q       <= row3_q;
      head5_q      <= head4;
      gen5_q       <= gen4;
      tail5_q      <= ring_i.tail;
      base5_q      <= ring_i.base;
      mask5_q      <= mask4;
      entry_o      <= ring_i.tail != head4 && ring_i.gen == gen4;
      same_ring5_q <= ring_i.gen == gen4;
    end
  end

  assign next  = reset_i ? {gen5_q + 4'd1, 22'd0} :
      {gen5_q, head5_q + {21'd0, take_i}};
  assign write = valid5_i && (take_i || reset_i);

  ram_clear #(
    .Width(26),
    .Depth(Rows),
    .Latency(2),
    .Style(0)
  ) u_head (
    .clk(clk),
    .rst(rst),
    .wr_en_i(write),
    .wr_addr_i(row5_q[RowW-1:0]),
    .wr_data_i(next),
    .rd_en_i(valid_i),
    .rd_addr_i(row_i[RowW-1:0]),
    .rd_data_o(stored),
    .ready_o(ready_o)
  );

  // ---- cycles 6 and 7 ---------------------------------------------------------------------------
  logic        count6_q;
  logic        usable6_q;
  logic        usable7_q;
  logic [21:0] tail6_q;
  logic        count7_q;
  logic [21:0] level7_q;  // entries left
  logic [4:0]  code7;

  always_ff @(posedge clk) begin
    if (rst) head_we_o <= 1'b0;
    else head_we_o <= write;
    if (valid5_i) begin
      forward_q  <= next;
      head_row_o <= row5_q;
      slot_o     <= base5_q + (head5_q[19:0] & mask5_q);
      tail6_q    <= tail5_q;
      count6_q   <= count_i;
      usable6_q  <= same_ring5_q;
    end
    level7_q  <= tail6_q - forward_q[21:0];
    count7_q  <= count6_q;
    usable7_q <= usable6_q;
    credits_o <= code7;
  end

  assign {gen_o, head_o} = forward_q;

  // Codes 2, 3, 4, ... stand for 2, 3, 4, 6, 8, 12, ...: twice the exponent of the highest power of
  // two, plus one when the bit below it is set; 30 (32768) is the last.
  always_comb begin
    code7 = {4'd0, level7_q[0]};
    for (int i = 1; i < 15; i++) begin
      if (level7_q[i]) code7 = {4'(i), level7_q[i-1]};
    end
    if (level7_q[21:15] != '0) code7 = 5'd30;
    if (!usable7_q) code7 = 5'd0;
    if (!count7_q) code7 = 5'd31;
  end

endmodule

`default_nettype wire
