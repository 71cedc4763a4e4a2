// arb_grant: picks one of N requests, round robin or lowest index first.
//
// grant_o is one-hot among req_i (zero when nobody requests) in the same cycle. take_i says that
// the grant was used: in round robin the requester just served becomes the last in turn. Without
// take_i nothing changes, so that a requester that waits is served after at most N - 1 others.
//
// N: requesters, 1..64 (about 4 LUT levels at 16). Priority: 0 round robin, 1 lowest index first.
`default_nettype none

module arb_grant #(
  parameter int N = 4,
  parameter int Priority = 0
) (
  input  logic         clk,
  input  logic         rst,
  input  logic [N-1:0] req_i,
  input  logic         take_i,
  output logic [N-1:0] grant_o
);

  if (N < 1 || N > 64) begin : gen_check_n
    $fatal(1, "arb_grant: N must be 1..64");
  end
  if (Priority < 0 || Priority > 1) begin : gen_check_priority
    $fatal(1, "arb_grant: Priority must be 0 or 1");
  end

  // First requester from index 0 up.
  logic [N-1:0] any_first;
  always_comb begin
    for (int i = 0; i < N; i++) begin
      any_first[i] = req_i[i];
      for (int j = 0; j < i; j++) begin
        if (req_i[j]) any_first[i] = 1'b0;
      end
    end
  end

  if (Priority != 0 || N == 1) begin : gen_fixed
    logic unused_state;
    assign unused_state = ^{clk, rst, take_i};
    assign grant_o = any_first;
  end else begin : gen_round_robin
    // later_q[i]: index i is above the one served last.
    logic [N-1:0] later_q;
    logic [N-1:0] later_req;
    logic [N-1:0] later_first;

    assign later_req = req_i & later_q;
    always_comb begin
      for (int i = 0; i < N; i++) begin
        later_first[i] = later_req[i];
        for (int j = 0; j < i; j++) begin
          if (later_req[j]) later_first[i] = 1'b0;
        end
      end
    end

    assign grant_o = (later_req != '0) ? later_first : any_first;

    logic [N-1:0] above;
    always_comb begin
      for (int i = 0; i < N; i++) begin
        above[i] = 1'b0;
        for (int j = 0; j < i; j++) begin
          if (grant_o[j]) above[i] = 1'b1;
        end
      end
    end

    always_ff @(posedge clk) begin
      if (rst) later_q <= '0;
      else if (take_i) later_q <= above;
    end
  end

endmodule

`default_nettype wire
