// counter_bank: N event counters of 32 bits, kept in RAM.
//
// pulse_i[i] high for one cycle counts one event of counter i; every counter may count in every
// cycle. count_o shows counter sel_i one cycle later. A small accumulator in front of each counter
// is added to the RAM in turn, so a count is at most max(N, 4) + 2 cycles behind its pulse; none is
// ever lost. Counters start at zero after reset and wrap at 2^32. sel_i of N or more reads as zero.
//
// N: counters, 1..1024.
`default_nettype none

module counter_bank #(
  parameter int N = 8
) (
  input  logic                                 clk,
  input  logic                                 rst,
  input  logic [N-1:0]                         pulse_i,
  input  logic [(N > 1 ? $clog2(N) : 1) - 1:0] sel_i,
  output logic [31:0]                          count_o
);

  if (N < 1 || N > 1024) begin : gen_check_n
    $fatal(1, "counter_bank: N must be 1..1024");
  end

  localparam int SelW = N > 1 ? $clog2(N) : 1;
  localparam int Turns = N > 4 ? N : 4;  // the RAM needs two cycles from read to write
  localparam int TurnW = $clog2(Turns);
  localparam int AccW = $clog2(Turns + 1);  // a counter gathers at most Turns pulses

  logic [TurnW-1:0] turn_q;
  logic             first_q;  // first round after reset: the RAM holds nothing yet
  logic [Turns-1:0] mine_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      turn_q  <= '0;
      first_q <= 1'b1;
    end else if (turn_q == TurnW'(Turns - 1)) begin
      turn_q  <= '0;
      first_q <= 1'b0;
    end else begin
      turn_q <= turn_q + 1'b1;
    end
  end

  // One-hot turn, registered beside turn_q.
  always_ff @(posedge clk) begin
    if (rst) mine_q <= Turns'(1);
    else mine_q <= {mine_q[Turns-2:0], mine_q[Turns-1]};
  end

  logic [N*AccW-1:0] acc_q;
  logic [AccW-1:0]   acc_sel;
  always_ff @(posedge clk) begin
    for (int i = 0; i < N; i++) begin
      if (rst) acc_q[i*AccW +: AccW] <= '0;
      else if (mine_q[i]) acc_q[i*AccW +: AccW] <= AccW'(pulse_i[i]);
      else if (pulse_i[i]) acc_q[i*AccW +: AccW] <= acc_q[i*AccW +: AccW] + 1'b1;
    end
  end

  always_comb begin
    acc_sel = '0;
    for (int i = 0; i < N; i++) acc_sel = acc_sel | ({AccW{mine_q[i]}} & acc_q[i*AccW +: AccW]);
  end

  // Read, add, write back.
  logic             add_q;
  logic             add_first_q;
  logic [TurnW-1:0] add_turn_q;
  logic [AccW-1:0]  add_acc_q;
  logic [31:0]      add_old;
  logic [31:0]      add_new;

  always_ff @(posedge clk) begin
    if (rst) add_q <= 1'b0;
    else add_q <= 1'b1;
  end

  always_ff @(posedge clk) begin
    add_first_q <= first_q;
    add_turn_q  <= turn_q;
    add_acc_q   <= acc_sel;
  end

  assign add_new = (add_first_q ? 32'd0 : add_old) + 32'(add_acc_q);

  ram_sdp #(
    .Width(32),
    .Depth(Turns),
    .Latency(1)
  ) u_sum (
    .clk(clk),
    .wr_en_i(add_q),
    .wr_addr_i(add_turn_q),
    .wr_data_i(add_new),
    .rd_en_i(1'b1),
    .rd_addr_i(turn_q),
    .rd_data_o(add_old)
  );

  // A second copy answers the user; it is valid once the first round has been written.
  logic [31:0] shown;
  logic        zero_q;
  ram_sdp #(
    .Width(32),
    .Depth(Turns),
    .Latency(1)
  ) u_show (
    .clk(clk),
    .wr_en_i(add_q),
    .wr_addr_i(add_turn_q),
    .wr_data_i(add_new),
    .rd_en_i(1'b1),
    .rd_addr_i(TurnW'(sel_i)),
    .rd_data_o(shown)
  );

  logic beyond;
  if ((1 << SelW) == N) begin : gen_full_range
    assign beyond = 1'b0;
  end else begin : gen_beyond
    assign beyond = sel_i > SelW'(N - 1);
  end

  always_ff @(posedge clk) begin
    zero_q <= first_q || add_first_q || beyond;
  end

  assign count_o = zero_q ? 32'd0 : shown;

endmodule

`default_nettype wire
