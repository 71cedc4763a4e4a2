// dpi_packet: what a model wants to know of a whole packet, from what is found in each of its beats.
//
// beat_i numbers the beats of a packet for the module that looks at one beat (saturating at the
// greatest); what it finds comes back Latency cycles later: numbers that add up over the packet
// (sum_i), smallest and greatest bytes (min_i, max_i), and bytes of certain beats, zero in all others
// (seen_i). valid_o is one pulse a packet, Latency + 1 cycles behind its last beat, with the results
// and the header fields user_i of that beat. A beat and a packet a cycle, no handshake.
//
// Sums, SumW: numbers that add up and their width. SeenW, UserW, BeatW: bits, all >= 1. Latency: of the
// module that looks at a beat, >= 0.
`default_nettype none

module dpi_packet #(
  parameter int Sums = 1,
  parameter int SumW = 20,
  parameter int SeenW = 1,
  parameter int UserW = 1,
  parameter int BeatW = 1,
  parameter int Latency = 1
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 valid_i,
  input  logic                 last_i,
  input  logic [UserW-1:0]     user_i,
  output logic [BeatW-1:0]     beat_o,
  input  logic [Sums*SumW-1:0] sum_i,
  input  logic [7:0]           min_i,
  input  logic [7:0]           max_i,
  input  logic [SeenW-1:0]     seen_i,
  output logic                 valid_o,
  output logic [Sums*SumW-1:0] sum_o,
  output logic [7:0]           min_o,
  output logic [7:0]           max_o,
  output logic [SeenW-1:0]     seen_o,
  output logic [UserW-1:0]     user_o
);

  if (Sums < 1 || SumW < 1 || SeenW < 1 || UserW < 1 || BeatW < 1 || Latency < 0) begin : gen_check
    $fatal(1, "dpi_packet: widths must be at least 1, Latency at least 0");
  end

  // ---- number of the beat ------------------------------------------------------------------------
  logic [BeatW-1:0] beat_q;

  assign beat_o = beat_q;

  always_ff @(posedge clk) begin
    if (rst) beat_q <= '0;
    else if (valid_i) beat_q <= last_i ? '0 : &beat_q ? beat_q : beat_q + 1'b1;
  end

  // ---- valid and last beside the module that looks at the beat ----------------------------------
  logic             valid;
  logic             last;
  logic [UserW-1:0] user;

  if (Latency == 0) begin : gen_now
    assign {valid, last, user} = {valid_i, last_i, user_i};
  end else begin : gen_later
    logic [Latency-1:0] valid_q;
    if (Latency == 1) begin : gen_one
      always_ff @(posedge clk) valid_q <= rst ? '0 : valid_i;
    end else begin : gen_many
      always_ff @(posedge clk) valid_q <= rst ? '0 : {valid_q[Latency-2:0], valid_i};
    end
    assign valid = valid_q[Latency-1];
    delay_line #(
      .Width(1 + UserW),
      .Stages(Latency)
    ) u_user (
      .clk(clk),
      .d_i({last_i, user_i}),
      .q_o({last, user})
    );
  end

  // ---- the packet so far -------------------------------------------------------------------------
  logic fresh_q;  // the next beat is a packet's first

  always_ff @(posedge clk) begin
    if (rst) begin
      fresh_q <= 1'b1;
      valid_o <= 1'b0;
    end else begin
      valid_o <= valid && last;
      if (valid) fresh_q <= last;
    end
    if (valid) begin
      for (int i = 0; i < Sums; i++) begin
        sum_o[i*SumW+:SumW] <= (fresh_q ? '0 : sum_o[i*SumW+:SumW]) + sum_i[i*SumW+:SumW];
      end
      min_o  <= fresh_q || min_i < min_o ? min_i : min_o;
      max_o  <= fresh_q || max_i > max_o ? max_i : max_o;
      seen_o <= (fresh_q ? '0 : seen_o) | seen_i;
      user_o <= user;
    end
  end

endmodule

`default_nettype wire
