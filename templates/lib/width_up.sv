// width_up: packs the beats of a packet stream into wider beats.
//
// Byte 0 of the first beat becomes byte 0 of the wide beat; a wide beat leaves when it is full or
// the packet ends. tkeep of bytes that were not received is zero, their data undefined. tuser is
// constant over a packet. An empty packet (one beat, tkeep zero) stays one.
// Handshake: outputs are registers; s_axis_tready follows m_axis_tready combinationally. One narrow
// beat a cycle. Latency: 1 cycle after the narrow beat that completes the wide one.
//
// InBytes: bytes of a narrow beat, >= 1. OutBytes: a multiple of InBytes. UserW: bits, >= 1.
`include "rocegen_assert.svh"
`default_nettype none

module width_up #(
  parameter int InBytes = 8,
  parameter int OutBytes = 64,
  parameter int UserW = 1
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  s_axis_tvalid,
  output logic                  s_axis_tready,
  input  logic [InBytes*8-1:0]  s_axis_tdata,
  input  logic [InBytes-1:0]    s_axis_tkeep,
  input  logic                  s_axis_tlast,
  input  logic [UserW-1:0]      s_axis_tuser,
  output logic                  m_axis_tvalid,
  input  logic                  m_axis_tready,
  output logic [OutBytes*8-1:0] m_axis_tdata,
  output logic [OutBytes-1:0]   m_axis_tkeep,
  output logic                  m_axis_tlast,
  output logic [UserW-1:0]      m_axis_tuser
);

  if (InBytes < 1 || OutBytes < InBytes || OutBytes % InBytes != 0) begin : gen_check_bytes
    $fatal(1, "width_up: OutBytes must be a multiple of InBytes");
  end
  if (UserW < 1) begin : gen_check_user
    $fatal(1, "width_up: UserW must be at least 1");
  end

  localparam int Ratio = OutBytes / InBytes;

  logic                  valid_q;
  logic                  last_q;
  logic [Ratio-1:0]      slot_q;  // one-hot: where the next narrow beat goes
  logic [OutBytes*8-1:0] data_q;
  logic [OutBytes-1:0]   keep_q;
  logic [UserW-1:0]      user_q;
  logic                  take;
  logic                  complete;

  assign s_axis_tready = m_axis_tready || !valid_q;
  assign take = s_axis_tvalid && s_axis_tready;
  assign complete = s_axis_tlast || slot_q[Ratio-1];

  always_ff @(posedge clk) begin
    if (rst) valid_q <= 1'b0;
    else if (s_axis_tready) valid_q <= s_axis_tvalid && complete;
  end

  // Slots after the one that is written are cleared by the first beat of a wide beat.
  always_ff @(posedge clk) begin
    if (take) begin
      last_q <= s_axis_tlast;
      user_q <= s_axis_tuser;
      for (int i = 0; i < Ratio; i++) begin
        if (slot_q[i]) data_q[i*InBytes*8 +: InBytes*8] <= s_axis_tdata;
        if (slot_q[i]) keep_q[i*InBytes +: InBytes] <= s_axis_tkeep;
        else if (slot_q[0]) keep_q[i*InBytes +: InBytes] <= '0;
      end
    end
  end

  if (Ratio == 1) begin : gen_one
    assign slot_q = 1'b1;
  end else begin : gen_slots
    always_ff @(posedge clk) begin
      if (rst) slot_q <= Ratio'(1);
      else if (take) slot_q <= complete ? Ratio'(1) : {slot_q[Ratio-2:0], 1'b0};
    end
  end

  assign m_axis_tvalid = valid_q;
  assign m_axis_tdata = data_q;
  assign m_axis_tkeep = keep_q;
  assign m_axis_tlast = last_q;
  assign m_axis_tuser = user_q;

  `ROCEGEN_STREAM(in_contract, s_axis_tvalid, s_axis_tready,
                  {s_axis_tuser, s_axis_tlast, s_axis_tkeep, s_axis_tdata})
  `ROCEGEN_PACKET(in_packet, s_axis_tvalid, s_axis_tlast, s_axis_tkeep)

endmodule

`default_nettype wire
