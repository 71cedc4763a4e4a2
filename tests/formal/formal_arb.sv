// formal_arb: an arbiter loses, doubles and reorders nothing of any input, keeps packets whole, is fair.
//
// tuser (a field of the record) names the input, so that the output can be taken apart. One input `lane`
// is chosen for good at the start, and one of its beats, chosen at will, is followed.
//
// Records: 0 stream_arb, 1 record_arb, 2 record_arb without a register, where a record leaves as it
// enters. N: 2..4. Priority: 0, 1.
// Reach: 1 claims that nothing followed ever arrives, which must be refuted: the proofs are not empty.
`include "rocegen_assert.svh"
`default_nettype none

module formal_arb #(
  parameter int Records = 0,
  parameter int N = 3,
  parameter int Priority = 0,
  parameter int Reach = 0
) (
  input logic           clk,
  input logic [N-1:0]   want,
  input logic [2*N-1:0] fresh,
  input logic [N-1:0]   fresh_last,
  input logic [1:0]     lane_i,
  input logic           pick,
  input logic           m_ready
);

  logic       started = 1'b0;
  logic       rst;
  logic [1:0] lane = '0;
  assign rst = !started;
  always_ff @(posedge clk) begin
    started <= 1'b1;
    if (!started) lane <= (lane_i < 2'(N - 1)) ? lane_i : 2'(N - 1);
  end

  logic [N-1:0]   held_q = '0;
  logic [2*N-1:0] held_data_q;
  logic [N-1:0]   held_last_q;
  logic [N-1:0]   s_valid;
  logic [N-1:0]   s_ready;
  logic [2*N-1:0] s_data;
  logic [N-1:0]   s_last;
  logic [8*N-1:0] s_bytes;
  logic [2*N-1:0] s_user;
  for (genvar i = 0; i < N; i++) begin : gen_source
    assign s_valid[i] = started && (held_q[i] || want[i]);
    assign s_data[2*i +: 2] = held_q[i] ? held_data_q[2*i +: 2] : fresh[2*i +: 2];
    assign s_last[i] = (Records != 0) || (held_q[i] ? held_last_q[i] : fresh_last[i]);
    assign s_user[2*i +: 2] = 2'(i);
    assign s_bytes[8*i +: 8] = {6'd0, s_data[2*i +: 2]};
  end
  always_ff @(posedge clk) begin
    held_q <= s_valid & ~s_ready;
    held_data_q <= s_data;
    held_last_q <= s_last;
  end

  logic       m_valid;
  logic [7:0] m_bytes;
  logic       m_keep;
  logic       m_last;
  logic [1:0] m_user;
  if (Records == 0) begin : gen_stream
    stream_arb #(.N(N), .DataW(8), .UserW(2), .Priority(Priority)) u_dut (
      .clk(clk), .rst(rst), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_bytes),
      .s_axis_tkeep({N{1'b1}}), .s_axis_tlast(s_last), .s_axis_tuser(s_user), .m_axis_tvalid(m_valid),
      .m_axis_tready(m_ready), .m_axis_tdata(m_bytes), .m_axis_tkeep(m_keep), .m_axis_tlast(m_last),
      .m_axis_tuser(m_user)
    );
  end else begin : gen_record
    logic [10*N-1:0] records;
    for (genvar i = 0; i < N; i++) begin : gen_pack
      assign records[10*i +: 10] = {s_user[2*i +: 2], s_bytes[8*i +: 8]};
    end
    record_arb #(.N(N), .Width(10), .Priority(Priority), .Registered(Records == 1 ? 1 : 0)) u_dut (
      .clk(clk), .rst(rst), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(records),
      .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .m_axis_tdata({m_user, m_bytes})
    );
    assign m_last = 1'b1;
    assign m_keep = 1'b1;
  end

  // ---- what goes in and out of the chosen lane ----
  logic [N-1:0] taken;
  logic         enters;
  logic         leaves;
  logic         last_in;
  logic [1:0]   data_in;
  logic [1:0]   inside = '0;  // of the lane
  logic [1:0]   total = '0;  // of all
  assign taken = s_valid & s_ready;
  assign enters = taken[lane];
  assign leaves = started && m_valid && m_ready && (m_user == lane);
  assign last_in = s_last[lane];
  assign data_in = s_data[2*lane +: 2];
  always_ff @(posedge clk) begin
    inside <= inside + 2'(enters) - 2'(leaves);
    total <= total + 2'(taken != '0) - 2'(started && m_valid && m_ready);
  end

  logic       follow = 1'b0;
  logic       done = 1'b0;
  logic [1:0] ahead;
  logic [1:0] data;
  logic       last;
  always_ff @(posedge clk) begin
    if (enters && pick && !follow && !done) begin
      follow <= 1'b1;
      ahead <= inside - 2'(leaves);
      data <= data_in;
      last <= last_in;
    end else if (follow && leaves) begin
      ahead <= ahead - 1'b1;
      if (ahead == '0) begin
        follow <= 1'b0;
        done <= 1'b1;
      end
    end
  end

  // ---- packets at the output, and at the inputs ----
  logic       open = 1'b0;  // the last beat that left did not end its packet
  logic [1:0] open_user;
  logic       busy = 1'b0;  // the last beat that entered did not end its packet
  logic [1:0] busy_lane;
  logic [1:0] now_lane;
  always_comb begin
    now_lane = '0;
    for (int i = 0; i < N; i++) if (taken[i]) now_lane = 2'(i);
  end
  always_ff @(posedge clk) begin
    if (started && m_valid && m_ready) begin
      open <= !m_last;
      open_user <= m_user;
    end
    if (taken != '0) begin
      busy <= !s_last[now_lane];
      busy_lane <= now_lane;
    end
  end

  // ---- fairness: packets of others that begin while the lane waits ----
  logic [2:0] others = '0;
  always_ff @(posedge clk) begin
    if (!s_valid[lane] || enters) others <= '0;
    else if ((taken != '0) && !busy) others <= others + 1'b1;
  end

  always @(posedge clk) begin
    if (started && Reach != 0) assert (!done);
    if (started) begin
      assert ((taken & (taken - 1'b1)) == '0);
      if (m_valid) assert ((m_user < 2'(N - 1)) || (m_user == 2'(N - 1)));
      if (Records == 2) begin
        assert (m_valid == (s_valid != '0));
        assert ((taken != '0) == (m_valid && m_ready));
        if (m_valid && (m_user == lane)) assert (s_valid[lane] && (enters == m_ready) && (m_bytes == {6'd0, data_in}));
        else assert (!enters);
      end else begin
        assert (total <= 2'd1);
        assert (m_valid == (total != '0));
        if (m_valid && (m_user == lane)) assert (inside != '0);
        if (m_valid && (m_user != lane)) assert (inside == '0);
        if (follow) assert (inside > ahead);
        if (follow && (ahead == '0) && m_valid && (m_user == lane)) begin
          assert (m_bytes == {6'd0, data});
          assert (m_last == last);
          assert (m_keep);
        end
      end
      if (open && m_valid) assert (m_user == open_user);
      // Progress: room and a valid input that may go mean that one goes.
      if ((m_ready || (!m_valid && Records != 2)) && !busy && (s_valid != '0)) assert (taken != '0);
      if ((m_ready || !m_valid) && busy && s_valid[busy_lane]) assert (taken[busy_lane]);
      if (Priority == 0) assert (others <= 3'(N - 1));
      // A record offered and held may have been chosen before lane 0 came.
      if (Priority == 1 && Records != 2 && (taken != '0) && !busy && s_valid[0]) assert (taken[0]);
    end
  end

  `ROCEGEN_STREAM(out_contract, m_valid, m_ready, {m_user, m_last, m_keep, m_bytes})

endmodule

`default_nettype wire
