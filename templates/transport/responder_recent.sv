// responder_recent: regions that were invalidated so lately that a look-up may not have shown it.
//
// An invalidation (valid_i, at most every second cycle) is remembered for five cycles more. hit_o,
// combinational: region ask_i is among those, or is the one of this cycle.
//
// IndexW: bits of a region's index, 1..24.
`default_nettype none

module responder_recent #(
  parameter int IndexW = 4
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              valid_i,
  input  logic [IndexW-1:0] index_i,
  input  logic [IndexW-1:0] ask_i,
  output logic              hit_o
);

  if (IndexW < 1 || IndexW > 24) begin : gen_check_index_w
    $fatal(1, "responder_recent: IndexW must be in 1..24");
  end

  // No more come within five cycles.
  localparam int Count = 3;
  localparam logic [2:0] Age = 3'd6;

  logic [IndexW*Count-1:0] index_q;
  logic [3*Count-1:0]      age_q;  // cycles left
  logic [3*Count-1:0]      age_d;

  assign age_d = valid_i ? {age_q[3*(Count-1)-1:0], Age} : age_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      age_q <= '0;
    end else begin
      for (int i = 0; i < Count; i++) begin
        if (age_d[3*i+:3] == 3'd0) age_q[3*i+:3] <= 3'd0;
        else age_q[3*i+:3] <= age_d[3*i+:3] - 3'd1;
      end
    end
    if (valid_i) index_q <= {index_q[IndexW*(Count-1)-1:0], index_i};
  end

  always_comb begin
    hit_o = valid_i && index_i == ask_i;
    for (int i = 0; i < Count; i++) begin
      if (age_q[3*i+:3] != 3'd0 && index_q[IndexW*i+:IndexW] == ask_i) hit_o = 1'b1;
    end
  end

endmodule

`default_nettype wire
