// icrc_check: finds whether the ICRC of received frames is right.
//
// Takes one beat every cycle, as rx_parse describes it. good_o is valid CrcLatency + 3 cycles after
// the input beat for the frame so far: with any beat from the one that holds the end of the ICRC
// on, so with the frame's last beat it is final. The CRC runs over the ICRC field too and must then
// have its fixed residue; what follows the ICRC (Ethernet padding) is fed as zero, and the residue
// moved on by it.
//
// DataW: bits a beat, 64..1024, a power of two. IdxW, PosW: bits of idx_i (see icrc_mask) and of
// pos_i. CrcLatency: cycles of icrc_data, >= 0.
`default_nettype none

module icrc_check #(
  parameter int DataW = 512,
  parameter int IdxW = 4,
  parameter int PosW = 6,
  parameter int CrcLatency = 2
) (
  input  logic             clk,
  input  logic             rst,
  input  logic             valid_i,
  input  logic             first_i,
  input  logic [IdxW-1:0]  idx_i,
  input  logic [DataW-1:0] data_i,
  input  logic             end_i,   // byte pos_i of this beat is the last of the ICRC
  input  logic [PosW-1:0]  pos_i,
  input  logic             past_i,  // the beat lies behind the ICRC
  output logic             good_o
);

  localparam int Bytes = DataW / 8;

  logic [DataW-1:0] masked;
  logic [DataW-1:0] m_data_q;
  logic             m_end_q;
  logic             m_first_q;
  logic [PosW-1:0]  m_zeros_q;

  icrc_mask #(
    .DataW(DataW),
    .IdxW(IdxW)
  ) u_mask (
    .idx_i(idx_i),
    .data_i(data_i),
    .data_o(masked)
  );

  logic [Bytes-1:0] behind;  // bytes behind the ICRC
  assign behind = past_i ? '1 : end_i ? ({Bytes{1'b1}} << pos_i) << 1 : '0;

  for (genvar p = 0; p < Bytes; p++) begin : gen_lane
    always_ff @(posedge clk) begin
      if (behind[p]) m_data_q[8*p+:8] <= 8'h00;
      else m_data_q[8*p+:8] <= masked[8*p+:8];
    end
  end

  always_ff @(posedge clk) begin
    m_end_q   <= end_i;
    m_first_q <= first_i;
    m_zeros_q <= ~pos_i;  // Bytes - 1 - pos
  end

  logic [31:0] crc;

  icrc_data u_crc (
    .clk(clk),
    .ce_i(1'b1),
    .data_i(m_data_q),
    .crc_o(crc)
  );

  // The beat's valid bit and marks, beside its CRC.
  logic [CrcLatency:0] valid_q;
  logic                crc_end;
  logic                crc_first;
  logic [PosW-1:0]     crc_zeros;

  always_ff @(posedge clk) begin
    if (rst) valid_q <= '0;
    else valid_q <= (CrcLatency + 1)'({valid_q, valid_i});
  end

  delay_line #(
    .Width(PosW + 2),
    .Stages(CrcLatency)
  ) u_marks (
    .clk(clk),
    .d_i({m_end_q, m_first_q, m_zeros_q}),
    .q_o({crc_end, crc_first, crc_zeros})
  );

  logic [31:0] state_q;
  logic [31:0] state_d;
  logic [31:0] residue;
  logic [31:0] residue_q;
  logic        s_valid_q;
  logic        s_end_q;
  logic        s_first_q;
  logic        good_q;

  icrc_step u_step (
    .state_i(crc_first ? roce_pkg::IcrcSeedEth : state_q),
    .crc_i(crc),
    .state_o(state_d)
  );

  icrc_residue u_residue (
    .zeros_i(8'(crc_zeros)),
    .state_o(residue)
  );

  always_ff @(posedge clk) begin
    if (rst) s_valid_q <= 1'b0;
    else s_valid_q <= valid_q[CrcLatency];
  end

  always_ff @(posedge clk) begin
    if (valid_q[CrcLatency]) state_q <= state_d;
    residue_q <= residue;
    s_end_q   <= crc_end;
    s_first_q <= crc_first;
    if (s_valid_q) good_q <= (s_end_q && state_q == residue_q) || (!s_first_q && good_q);
  end

  assign good_o = good_q;

endmodule

`default_nettype wire
