// tx_seal: works out the ICRC and the IPv4 checksum of frames as their beats pass.
//
// Takes a frame beat every cycle, its ICRC bytes and all behind them zero. A frame's values are on
// seal_* with seal_valid_o, a fixed time after its last beat (Wait cycles; see below). A frame
// marked frame_abort_i gives nothing. ip_header_i is sampled with start_i, one cycle before the
// frame's first beat.
//
// DataW: bits a beat, 64..1024, a power of two. CrcLatency, RewindLatency, CsumLatency: cycles of
// the compiled icrc_data, icrc_rewind and ipv4_checksum, >= 0. InfoW: bits carried beside a frame,
// >= 1.
`default_nettype none

module tx_seal #(
  parameter int DataW = 512,
  parameter int WordW = 4,
  parameter int InfoW = 8,
  parameter int CrcLatency = 2,
  parameter int RewindLatency = 2,
  parameter int CsumLatency = 2
) (
  input  logic             clk,
  input  logic             rst,
  input  logic             start_i,
  input  logic [159:0]     ip_header_i,   // checksum field zero
  input  logic             frame_valid_i,
  input  logic             frame_first_i,
  input  logic             frame_last_i,
  input  logic             frame_abort_i,
  input  logic [WordW-1:0] frame_word_i,  // the ICRC ends behind the second byte of this word
  input  logic [InfoW-1:0] frame_info_i,
  input  logic [DataW-1:0] frame_icrc_i,  // the beat as the ICRC sees it
  output logic             seal_valid_o,
  output logic [31:0]      seal_icrc_o,   // first byte on the wire in [7:0]
  output logic [15:0]      seal_csum_o,   // first byte on the wire in [7:0]
  output logic [InfoW-1:0] seal_info_o
);

  localparam int Bytes = DataW / 8;
  // Both values are ready Wait cycles after the last beat. The checksum starts a cycle earlier and
  // needs one more, to be held.
  localparam int CrcWait = CrcLatency + 1 + RewindLatency;
  localparam int Wait = CrcWait > CsumLatency ? CrcWait : CsumLatency;

  // ---- CRC state --------------------------------------------------------------------------------
  logic [31:0]         crc;
  logic [CrcLatency:0] valid;  // bit i: i cycles after the beat
  logic                crc_first;
  logic [31:0]         state_q;
  logic [31:0]         state_d;

  icrc_data u_crc (
    .clk(clk),
    .ce_i(1'b1),
    .data_i(frame_icrc_i),
    .crc_o(crc)
  );

  delay_line #(
    .Width(1),
    .Stages(CrcLatency)
  ) u_first (
    .clk(clk),
    .d_i(frame_first_i),
    .q_o(crc_first)
  );

  icrc_step u_step (
    .state_i(crc_first ? roce_pkg::IcrcSeedEth : state_q),
    .crc_i(crc),
    .state_o(state_d)
  );

  if (CrcLatency == 0) begin : gen_no_wait
    assign valid = frame_valid_i;
  end else begin : gen_wait
    logic [CrcLatency-1:0] valid_q;
    always_ff @(posedge clk) begin
      if (rst) valid_q <= '0;
      else valid_q <= valid[CrcLatency-1:0];
    end
    assign valid = {valid_q, frame_valid_i};
  end

  always_ff @(posedge clk) begin
    if (valid[CrcLatency]) state_q <= state_d;
  end

  // ---- back over what follows the covered bytes -------------------------------------------------
  // The last beat ends Bytes - 4 * word + 2 zero bytes behind the last byte covered.
  // That is 2 modulo 4; the constant bits trim the compiled module.
  localparam int ZeroWordsW = WordW + 1;
  logic [ZeroWordsW-1:0] zero_words;
  logic [ZeroWordsW-1:0] zero_words_now;
  logic [31:0] state_end;
  logic [31:0] icrc;

  assign zero_words = ZeroWordsW'(Bytes / 4) - {1'b0, frame_word_i};

  delay_line #(
    .Width(ZeroWordsW),
    .Stages(CrcLatency + 1)
  ) u_zeros (
    .clk(clk),
    .d_i(zero_words),
    .q_o(zero_words_now)
  );

  icrc_rewind u_rewind (
    .clk(clk),
    .ce_i(1'b1),
    .state_i(state_q),
    .zeros_i(8'({zero_words_now, 2'b10})),
    .state_o(state_end)
  );

  delay_line #(
    .Width(32),
    .Stages(Wait - CrcWait)
  ) u_icrc (
    .clk(clk),
    .d_i(~state_end),
    .q_o(icrc)
  );

  // ---- IPv4 checksum ----------------------------------------------------------------------------
  // The header is sampled with start_i; its checksum is held from Wait cycles after the first beat.
  logic [15:0]     csum;
  logic [15:0]     csum_now;
  logic [15:0]     csum_q;
  logic [Wait-1:0] start_q;

  ipv4_checksum u_csum (
    .clk(clk),
    .ce_i(1'b1),
    .header_i(ip_header_i),
    .csum_o(csum)
  );

  delay_line #(
    .Width(16),
    .Stages(Wait - CsumLatency)
  ) u_csum_wait (
    .clk(clk),
    .d_i(csum),
    .q_o(csum_now)
  );

  always_ff @(posedge clk) begin
    if (rst) start_q <= '0;
    else start_q <= Wait'({start_q, start_i});
  end

  always_ff @(posedge clk) begin
    if (start_q[Wait-1]) csum_q <= csum_now;
  end

  // ---- the frame's end --------------------------------------------------------------------------
  logic [Wait-1:0] end_q;

  always_ff @(posedge clk) begin
    if (rst) end_q <= '0;
    else end_q <= Wait'({end_q, frame_valid_i && frame_last_i && !frame_abort_i});
  end

  delay_line #(
    .Width(InfoW),
    .Stages(Wait)
  ) u_info (
    .clk(clk),
    .d_i(frame_info_i),
    .q_o(seal_info_o)
  );

  assign seal_valid_o = end_q[Wait-1];
  assign seal_icrc_o = icrc;
  assign seal_csum_o = csum_q;

endmodule

`default_nettype wire
