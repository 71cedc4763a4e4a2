// rx_verdict: decides for each received frame whether it is good, or names the one reason to drop
// it.
//
// Takes what rx_parse and rx_ip_sum found, waits until the ICRC is known, and gives the verdict,
// with end_o, CrcLatency + 1 cycles after last_i. One frame a cycle. The first reason in the order
// of the ports wins: nothing that stands behind the ICRC is believed before the ICRC was right.
//
// BeatsW: bits of a payload's length in beats. CrcLatency: cycles of icrc_data, >= 0.
`default_nettype none

module rx_verdict #(
  parameter int BeatsW = 9,
  parameter int CrcLatency = 2
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              last_i,
  input  logic              bad_frame_i,
  input  logic              not_ip_i,
  input  logic              not_mine_i,
  input  logic              ip_header_i,
  input  logic              ip_sum_good_i,
  input  logic              not_roce_i,
  input  logic              length_i,
  input  logic              icrc_good_i,   // CrcLatency cycles later than the others
  input  logic              bth_i,
  input  logic              oversize_i,
  input  logic [13:0]       pay_i,
  input  logic [BeatsW-1:0] beats_i,
  output logic              end_o,
  output logic              good_o,        // valid with end_o
  output logic [13:0]       pay_o,
  output logic [BeatsW-1:0] beats_o,
  output logic              cnt_frames_o,
  output logic              cnt_bad_frame_o,
  output logic              cnt_not_ip_o,
  output logic              cnt_not_mine_o,
  output logic              cnt_ip_header_o,
  output logic              cnt_not_roce_o,
  output logic              cnt_length_o,
  output logic              cnt_bad_icrc_o,
  output logic              cnt_bth_o,
  output logic              cnt_oversize_o
);

  localparam int Reasons = 9;

  logic [CrcLatency:0] last;  // bit i: i cycles after last_i

  if (CrcLatency == 0) begin : gen_no_wait
    assign last = last_i;
  end else begin : gen_wait
    logic [CrcLatency-1:0] last_q;
    always_ff @(posedge clk) begin
      if (rst) last_q <= '0;
      else last_q <= last[CrcLatency-1:0];
    end
    assign last = {last_q, last_i};
  end

  logic [7:0]        early;
  logic [7:0]        known;
  logic [13:0]       pay;
  logic [BeatsW-1:0] beats;

  assign early = {oversize_i, bth_i, length_i, not_roce_i,
                  ip_header_i || !ip_sum_good_i, not_mine_i, not_ip_i, bad_frame_i};

  delay_line #(
    .Width(8 + 14 + BeatsW),
    .Stages(CrcLatency)
  ) u_wait (
    .clk(clk),
    .d_i({early, pay_i, beats_i}),
    .q_o({known, pay, beats})
  );

  logic [Reasons-1:0] fault;
  logic [Reasons-1:0] reason_q;
  logic               end_q;
  logic               good_q;

  assign fault = {known[7:6], !icrc_good_i, known[5:0]};

  always_ff @(posedge clk) begin
    if (rst) end_q <= 1'b0;
    else end_q <= last[CrcLatency];
  end

  logic [Reasons-1:0] reason;
  always_comb begin
    for (int i = 0; i < Reasons; i++) begin
      reason[i] = fault[i] && (fault & Reasons'((1 << i) - 1)) == '0;
    end
  end

  always_ff @(posedge clk) begin
    good_q   <= fault == '0;
    reason_q <= reason;
    pay_o    <= pay;
    beats_o  <= beats;
  end

  assign end_o = end_q;
  assign good_o = good_q;
  assign cnt_frames_o = end_q;
  assign {cnt_oversize_o, cnt_bth_o, cnt_bad_icrc_o, cnt_length_o,
          cnt_not_roce_o, cnt_ip_header_o, cnt_not_mine_o, cnt_not_ip_o, cnt_bad_frame_o} =
         end_q ? reason_q : '0;

endmodule

`default_nettype wire
