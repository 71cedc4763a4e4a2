// formal_order: a single-stream cell loses, doubles, reorders and invents nothing, and never gets stuck.
//
// The environment keeps the stream contract by construction and is free otherwise. One beat, chosen at
// will by `pick`, is followed: when it enters, `ahead` beats are inside, so it must be the next but
// `ahead` to leave, unchanged. As any beat may be chosen, this holds for all.
//
// Kind: 0 stream_skid, 1 stream_reg, 2 stream_fifo. Depth, Bypass: of the FIFO. Held: beats that
// the cell holds.
// Reach: 1 claims that nothing followed ever arrives, which must be refuted: the proofs are not empty.
`include "rocegen_assert.svh"
`default_nettype none

module formal_order #(
  parameter int Kind = 0,
  parameter int Depth = 2,
  parameter int Bypass = 0,
  parameter int Held = 2,
  parameter int Reach = 0
) (
  input logic       clk,
  input logic       want,
  input logic [1:0] fresh,
  input logic       pick,
  input logic       m_ready
);

  logic started = 1'b0;
  logic rst;
  assign rst = !started;
  always_ff @(posedge clk) started <= 1'b1;

  // A source that holds what it offers.
  logic       held_q = 1'b0;
  logic [1:0] held_data_q;
  logic       s_valid;
  logic       s_ready;
  logic [1:0] s_data;
  logic       m_valid;
  logic [1:0] m_data;
  assign s_valid = started && (held_q || want);
  assign s_data = held_q ? held_data_q : fresh;
  always_ff @(posedge clk) begin
    held_q <= s_valid && !s_ready;
    held_data_q <= s_data;
  end

  logic [7:0] level;
  if (Kind == 0) begin : gen_skid
    stream_skid #(.Width(2)) u_dut (
      .clk(clk), .rst(rst), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_data),
      .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .m_axis_tdata(m_data)
    );
    assign level = '0;
  end else if (Kind == 1) begin : gen_reg
    stream_reg #(.Width(2)) u_dut (
      .clk(clk), .rst(rst), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_data),
      .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .m_axis_tdata(m_data)
    );
    assign level = '0;
  end else begin : gen_fifo
    logic [$clog2(Depth+1)-1:0] fifo_level;
    stream_fifo #(.Width(2), .Depth(Depth), .Style(3), .Bypass(Bypass)) u_dut (
      .clk(clk), .rst(rst), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_data),
      .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .m_axis_tdata(m_data), .level_o(fifo_level)
    );
    assign level = 8'(fifo_level);
  end

  logic       enters;
  logic       leaves;
  logic [3:0] inside = '0;
  logic       entered_q = 1'b0;
  logic       ran_q = 1'b0;  // a cycle without reset has passed
  assign enters = started && s_valid && s_ready;
  assign leaves = started && m_valid && m_ready;
  always_ff @(posedge clk) begin
    inside <= inside + 4'(enters) - 4'(leaves);
    entered_q <= enters;
    ran_q <= started;
  end

  logic       follow = 1'b0;
  logic       done = 1'b0;
  logic [3:0] ahead;
  logic [1:0] data;
  always_ff @(posedge clk) begin
    if (enters && pick && !follow && !done) begin
      follow <= 1'b1;
      ahead <= inside - 4'(leaves);
      data <= s_data;
    end else if (follow && leaves) begin
      ahead <= ahead - 1'b1;
      if (ahead == '0) begin
        follow <= 1'b0;
        done <= 1'b1;
      end
    end
  end

  always @(posedge clk) begin
    if (started && Reach != 0) assert (!done);
    if (started) begin
      assert (inside <= 4'(Held));
      if (m_valid) assert (inside != '0);
      if (follow && (ahead == '0) && m_valid) assert (m_data == data);
      if (follow) assert (inside > ahead);
      // Progress: what is inside shows at once, or a cycle later in a FIFO without bypass.
      if (Kind == 2 && Depth > 2 && Bypass == 0) assert (m_valid || (inside == 4'(entered_q)));
      else assert (m_valid || (inside == '0));
      // Room is offered.
      if (ran_q && Kind != 1 && inside < 4'(Held)) assert (s_ready);
      if (Kind == 1) assert (s_ready == (m_ready || (inside == '0)));
      if (Kind == 2) assert (level == 8'(inside));
    end
  end

  `ROCEGEN_STREAM(out_contract, m_valid, m_ready, m_data)

endmodule

`default_nettype wire
