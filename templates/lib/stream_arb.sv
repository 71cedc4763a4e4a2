// stream_arb: merges N packet streams into one, a whole packet at a time.
//
// Handshake: the grant is chosen among the valid inputs, without a lost cycle between packets, and
// held to the beat with tlast. s_axis_tready depends on s_axis_tvalid and m_axis_tready
// combinationally; the outputs are registers. Latency 1 cycle, one beat a cycle. tuser goes with
// its beat.
//
// N: inputs, 1..64 (shallow up to 16). DataW: bits, a multiple of 8. UserW: bits, >= 1.
// Priority: 0 round robin (a waiting input is served after at most N - 1 packets), 1 input 0 first.
`include "rocegen_assert.svh"
`default_nettype none

module stream_arb #(
  parameter int N = 2,
  parameter int DataW = 64,
  parameter int UserW = 1,
  parameter int Priority = 0
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic [N-1:0]         s_axis_tvalid,
  output logic [N-1:0]         s_axis_tready,
  input  logic [N*DataW-1:0]   s_axis_tdata,
  input  logic [N*DataW/8-1:0] s_axis_tkeep,
  input  logic [N-1:0]         s_axis_tlast,
  input  logic [N*UserW-1:0]   s_axis_tuser,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic [DataW-1:0]     m_axis_tdata,
  output logic [DataW/8-1:0]   m_axis_tkeep,
  output logic                 m_axis_tlast,
  output logic [UserW-1:0]     m_axis_tuser
);

  if (DataW < 8 || DataW % 8 != 0) begin : gen_check_data
    $fatal(1, "stream_arb: DataW must be a multiple of 8");
  end
  if (UserW < 1) begin : gen_check_user
    $fatal(1, "stream_arb: UserW must be at least 1");
  end

  localparam int KeepW = DataW / 8;
  localparam int BeatW = DataW + KeepW + 1 + UserW;

  logic [N-1:0]     pick;
  logic [N-1:0]     sel;
  logic [N-1:0]     held_q;  // one-hot: the input that is inside a packet; zero between packets
  logic             locked_q;
  logic             load;
  logic             fire;
  logic [BeatW-1:0] beat;
  logic             valid_q;
  logic [BeatW-1:0] beat_q;

  arb_grant #(
    .N(N),
    .Priority(Priority)
  ) u_grant (
    .clk(clk),
    .rst(rst),
    .req_i(s_axis_tvalid),
    .take_i(fire && !locked_q),
    .grant_o(pick)
  );

  assign sel = locked_q ? held_q : pick;
  assign load = m_axis_tready || !valid_q;
  assign fire = load && ((sel & s_axis_tvalid) != '0);
  assign s_axis_tready = sel & {N{load}};

  // A tree of multiplexers by the binary index of sel: fewer LUTs than AND-OR.
  localparam int IndexW = N > 1 ? $clog2(N) : 1;
  logic [IndexW-1:0]           index;
  logic [(1<<IndexW)*BeatW-1:0] tree;
  always_comb begin
    index = '0;
    for (int i = 0; i < N; i++) index = index | ({IndexW{sel[i]}} & IndexW'(i));
  end
  always_comb begin
    // Leaves beyond N are never selected.
    for (int i = 0; i < (1 << IndexW); i++) begin
      tree[i*BeatW +: BeatW] = {
        s_axis_tuser[(i < N ? i : 0)*UserW +: UserW],
        s_axis_tlast[i < N ? i : 0],
        s_axis_tkeep[(i < N ? i : 0)*KeepW +: KeepW],
        s_axis_tdata[(i < N ? i : 0)*DataW +: DataW]
      };
    end
    for (int b = 0; b < IndexW; b++) begin
      for (int i = 0; i < (1 << (IndexW - 1 - b)); i++) begin
        tree[i*BeatW +: BeatW] =
            index[b] ? tree[(2*i+1)*BeatW +: BeatW] : tree[2*i*BeatW +: BeatW];
      end
    end
    beat = tree[BeatW-1:0];
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      locked_q <= 1'b0;
      held_q   <= '0;
      valid_q  <= 1'b0;
    end else begin
      if (fire) begin
        locked_q <= !beat[DataW+KeepW];
        held_q   <= sel;
      end
      if (load) valid_q <= fire;
    end
  end

  always_ff @(posedge clk) begin
    if (load) beat_q <= beat;
  end

  assign m_axis_tvalid = valid_q;
  assign {m_axis_tuser, m_axis_tlast, m_axis_tkeep, m_axis_tdata} = beat_q;

  `ROCEGEN_ASSERT(grant_onehot, (sel & (sel - 1'b1)) == '0)
  for (genvar i = 0; i < N; i++) begin : gen_contract
    `ROCEGEN_STREAM(in_contract, s_axis_tvalid[i], s_axis_tready[i],
                    {s_axis_tuser[i*UserW +: UserW], s_axis_tlast[i],
                     s_axis_tkeep[i*KeepW +: KeepW], s_axis_tdata[i*DataW +: DataW]})
    `ROCEGEN_PACKET(in_packet, s_axis_tvalid[i], s_axis_tlast[i], s_axis_tkeep[i*KeepW +: KeepW])
  end

endmodule

`default_nettype wire
