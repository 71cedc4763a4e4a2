// rx_strip: takes the headers off received frames, so that the payload starts at byte 0 of a beat.
//
// Takes one beat every cycle; no back-pressure. Waits Delay + 1 cycles for the frame's verdict,
// then gives the aligned beats: beat k of a frame's payload comes with the k-th write_o, the last
// one at the latest with the verdict (one cycle after now_last). Beats beyond the payload may
// follow in the same frame (they hold pad, ICRC or padding); the receiver takes as many as it
// needs. Headers end at byte 54, 58, 70 or 74, so a lane has at most four sources; an atomic's end
// at byte 66, which only the first 16 lanes have to know.
//
// DataW: bits a beat, 64..1024, a power of two. IdxW: bits of idx_i, which must count to the beat
// that holds byte 74. Delay: cycles from the input to now_*, >= 1.
`default_nettype none

module rx_strip #(
  parameter int DataW = 512,
  parameter int IdxW = 4,
  parameter int Delay = 5
) (
  input  logic             clk,
  input  logic             rst,
  input  logic             valid_i,
  input  logic             last_i,
  input  logic [IdxW-1:0]  idx_i,
  input  logic [DataW-1:0] data_i,
  // Payload starts at byte 54, 58, 70, 74, an atomic's at 66. Delay cycles later than the others.
  input  logic [2:0]       off_i,
  output logic             now_valid_o, // the input beats, Delay cycles later
  output logic [IdxW-1:0]  now_idx_o,
  output logic [DataW-1:0] now_data_o,
  output logic             write_o,
  output logic [DataW-1:0] data_o
);

  localparam int Bytes = DataW / 8;

  if (Delay < 1) begin : gen_check_delay
    $fatal(1, "rx_strip: Delay must be at least 1");
  end

  // Byte where the payload starts, for each value of off_i.
  function automatic int start_of(input int off);
    start_of = off == 0 ? 54 : off == 1 ? 58 : off == 2 ? 70 : off == 3 ? 74 : 66;
  endfunction

  // ---- the wait ---------------------------------------------------------------------------------
  logic [Delay-1:0] valid_q;
  logic             now_last;

  always_ff @(posedge clk) begin
    if (rst) valid_q <= '0;
    else valid_q <= Delay'({valid_q, valid_i});
  end

  delay_line #(
    .Width(1 + IdxW + DataW),
    .Stages(Delay)
  ) u_wait (
    .clk(clk),
    .d_i({last_i, idx_i, data_i}),
    .q_o({now_last, now_idx_o, now_data_o})
  );

  assign now_valid_o = valid_q[Delay-1];

  // ---- the beat before --------------------------------------------------------------------------
  logic             prev_valid_q;
  logic             prev_last_q;
  logic             prev_pay_q;  // payload starts in this beat, or started before it
  logic [2:0]       prev_off_q;
  logic [DataW-1:0] prev_data_q;
  logic [7:0]       reached;  // the input beat is not before the payload, for each value of off_i

  for (genvar o = 0; o < 8; o++) begin : gen_reached
    if (start_of(o) < Bytes) begin : gen_first
      assign reached[o] = 1'b1;
    end else begin : gen_later
      assign reached[o] = now_idx_o >= IdxW'(start_of(o) / Bytes);
    end
  end

  always_ff @(posedge clk) begin
    if (rst) prev_valid_q <= 1'b0;
    else if (now_valid_o || prev_last_q) prev_valid_q <= now_valid_o;
  end

  always_ff @(posedge clk) begin
    if (rst) prev_last_q <= 1'b0;
    else if (now_valid_o || prev_last_q) prev_last_q <= now_valid_o && now_last;
  end

  always_ff @(posedge clk) begin
    if (now_valid_o) begin
      prev_pay_q  <= reached[off_i];
      prev_off_q  <= off_i;
      prev_data_q <= now_data_o;
    end
  end

  assign write_o = prev_valid_q && prev_pay_q && (now_valid_o || prev_last_q);

  for (genvar p = 0; p < Bytes; p++) begin : gen_lane
    logic [39:0] source;  // a byte for each value of off_i
    logic [7:0]  other;   // of no atomic
    for (genvar o = 0; o < 5; o++) begin : gen_source
      localparam int At = start_of(o) % Bytes + p;
      if (At < Bytes) begin : gen_prev
        assign source[8*o+:8] = prev_data_q[8*At+:8];
      end else begin : gen_now
        assign source[8*o+:8] = now_data_o[8*(At-Bytes)+:8];
      end
    end
    assign other = prev_off_q[1] ? (prev_off_q[0] ? source[31:24] : source[23:16])
                                 : (prev_off_q[0] ? source[15:8] : source[7:0]);
    assign data_o[8*p+:8] = p < 16 && prev_off_q[2] ? source[39:32] : other;
  end

  logic unused_front;  // bytes that are always header
  assign unused_front = ^prev_data_q;

endmodule

`default_nettype wire
