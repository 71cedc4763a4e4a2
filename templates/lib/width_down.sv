// width_down: cuts the beats of a packet stream into narrower beats.
//
// Byte 0 of the wide beat leaves first. Narrow beats whose tkeep would be zero are left out, except
// for an empty packet (one beat, tkeep zero), which stays one. tuser is constant over a packet.
// Handshake: outputs are registers; s_axis_tready follows m_axis_tready combinationally. One narrow
// beat a cycle, without a gap between wide beats. Latency 1 cycle.
//
// InBytes: bytes of a wide beat. OutBytes: bytes of a narrow beat, >= 1, divides InBytes.
// UserW: bits, >= 1.
`include "rocegen_assert.svh"
`default_nettype none

module width_down #(
  parameter int InBytes = 64,
  parameter int OutBytes = 8,
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

  if (OutBytes < 1 || InBytes < OutBytes || InBytes % OutBytes != 0) begin : gen_check_bytes
    $fatal(1, "width_down: InBytes must be a multiple of OutBytes");
  end
  if (UserW < 1) begin : gen_check_user
    $fatal(1, "width_down: UserW must be at least 1");
  end

  logic                 valid_q;
  logic                 last_q;
  logic [InBytes*8-1:0] data_q;  // shifts down; the narrow beat is at the bottom
  logic [InBytes-1:0]   keep_q;
  logic [UserW-1:0]     user_q;
  logic                 final_slice;

  if (InBytes == OutBytes) begin : gen_same
    assign final_slice = 1'b1;
  end else begin : gen_slices
    assign final_slice = !keep_q[OutBytes];
  end

  assign s_axis_tready = !valid_q || (m_axis_tready && final_slice);

  always_ff @(posedge clk) begin
    if (rst) valid_q <= 1'b0;
    else if (s_axis_tready) valid_q <= s_axis_tvalid;
  end

  always_ff @(posedge clk) begin
    if (s_axis_tready) begin
      data_q <= s_axis_tdata;
      keep_q <= s_axis_tkeep;
      last_q <= s_axis_tlast;
      user_q <= s_axis_tuser;
    end else if (m_axis_tready) begin
      data_q <= data_q >> (OutBytes * 8);
      keep_q <= keep_q >> OutBytes;
    end
  end

  assign m_axis_tvalid = valid_q;
  assign m_axis_tdata = data_q[OutBytes*8-1:0];
  assign m_axis_tkeep = keep_q[OutBytes-1:0];
  assign m_axis_tlast = last_q && final_slice;
  assign m_axis_tuser = user_q;

  `ROCEGEN_STREAM(in_contract, s_axis_tvalid, s_axis_tready,
                  {s_axis_tuser, s_axis_tlast, s_axis_tkeep, s_axis_tdata})
  `ROCEGEN_PACKET(in_packet, s_axis_tvalid, s_axis_tlast, s_axis_tkeep)

endmodule

`default_nettype wire
