// record_arb: merges N streams of single-beat records into one.
//
// Handshake: s_axis_tready depends on s_axis_tvalid and m_axis_tready combinationally; the outputs
// are registers, or with Registered 0 depend on the inputs likewise. A record that was offered
// stays offered. Latency 1 cycle (Registered 0: none), one record a cycle.
//
// N: inputs, 1..64 (shallow up to 16). Width: bits of a record, >= 1. Priority: 0 round robin (a
// waiting input is served after at most N - 1 records), 1 input 0 first. Registered: see above.
`include "rocegen_assert.svh"
`default_nettype none

module record_arb #(
  parameter int N = 2,
  parameter int Width = 8,
  parameter int Priority = 0,
  parameter int Registered = 1
) (
  input  logic               clk,
  input  logic               rst,
  input  logic [N-1:0]       s_axis_tvalid,
  output logic [N-1:0]       s_axis_tready,
  input  logic [N*Width-1:0] s_axis_tdata,
  output logic               m_axis_tvalid,
  input  logic               m_axis_tready,
  output logic [Width-1:0]   m_axis_tdata
);

  if (Width < 1) begin : gen_check_width
    $fatal(1, "record_arb: Width must be at least 1");
  end

  logic [N-1:0]     pick;
  logic [N-1:0]     grant;
  logic             take;  // the pick is used
  logic             load;
  logic             offer;
  logic [Width-1:0] record;

  assign offer = s_axis_tvalid != '0;

  arb_grant #(
    .N(N),
    .Priority(Priority)
  ) u_grant (
    .clk(clk),
    .rst(rst),
    .req_i(s_axis_tvalid),
    .take_i(take),
    .grant_o(pick)
  );

  assign s_axis_tready = grant & {N{load}};

  // A tree of multiplexers by the binary index of the grant: fewer LUTs than AND-OR.
  localparam int IndexW = N > 1 ? $clog2(N) : 1;
  logic [IndexW-1:0]            index;
  logic [(1<<IndexW)*Width-1:0] tree;
  always_comb begin
    index = '0;
    for (int i = 0; i < N; i++) index = index | ({IndexW{grant[i]}} & IndexW'(i));
  end
  always_comb begin
    // Leaves beyond N are never selected.
    for (int i = 0; i < (1 << IndexW); i++) begin
      tree[i*Width +: Width] = s_axis_tdata[(i < N ? i : 0)*Width +: Width];
    end
    for (int b = 0; b < IndexW; b++) begin
      for (int i = 0; i < (1 << (IndexW - 1 - b)); i++) begin
        tree[i*Width +: Width] = index[b] ? tree[(2*i+1)*Width +: Width] : tree[2*i*Width +: Width];
      end
    end
    record = tree[Width-1:0];
  end

  if (Registered != 0) begin : gen_registered
    logic             valid_q;
    logic [Width-1:0] record_q;

    assign grant = pick;
    assign load  = m_axis_tready || !valid_q;
    assign take  = load && offer;

    always_ff @(posedge clk) begin
      if (rst) valid_q <= 1'b0;
      else if (load) valid_q <= offer;
    end

    always_ff @(posedge clk) begin
      if (load) record_q <= record;
    end

    assign m_axis_tvalid = valid_q;
    assign m_axis_tdata  = record_q;
  end else begin : gen_direct
    logic         held_q;  // a record is offered and not taken yet
    logic [N-1:0] grant_q;

    assign grant = held_q ? grant_q : pick;
    assign load  = m_axis_tready;
    assign take  = offer && !held_q;

    always_ff @(posedge clk) begin
      if (rst) held_q <= 1'b0;
      else held_q <= offer && !m_axis_tready;
    end

    always_ff @(posedge clk) grant_q <= grant;

    assign m_axis_tvalid = offer;
    assign m_axis_tdata  = record;
  end

  for (genvar i = 0; i < N; i++) begin : gen_contract
    `ROCEGEN_STREAM(in_contract, s_axis_tvalid[i], s_axis_tready[i],
                    s_axis_tdata[i*Width +: Width])
  end

endmodule

`default_nettype wire
