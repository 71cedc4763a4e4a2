// tx_frame_buffer: holds frames until they are whole and sealed, then sends them without a bubble.
//
// Frame beats enter without back-pressure; space_o says that more may be started, with room for
// those on their way (a beat enters in the cycle after it was started). start_i announces a frame;
// credit_o says that another may be started: not more than SealDepth, and none while AheadBeats
// beats or more wait to be read, so that what comes later does not stand behind a whole buffer. An
// aborted frame (frame_abort_i with its last beat) is forgotten at once. seal_* brings the values
// of each other frame, in order, after its last beat.
// On the way out the ICRC goes behind the covered bytes and the checksum into bytes 24, 25; a frame
// of less than 60 bytes is padded to 60 with zeros. Latency 4 cycles from seal to first beat, 3
// with LowLatency. A beat a cycle, also between frames.
//
// DataW: bits a beat, 64..1024, a power of two. BufBeats: beats held, a power of two, >= 8; a frame
// may have BufBeats - 2. AheadBeats: 1..BufBeats; so that no gap follows, the longest frame and the
// cycles to its seal. BeatsW: bits of a frame's length in beats. SealDepth: frames in flight, >= 3.
// LowLatency: 1, a seal goes round the empty queue.
`include "rocegen_assert.svh"
`default_nettype none

module tx_frame_buffer #(
  parameter int DataW = 512,
  parameter int BufBeats = 256,
  parameter int AheadBeats = 129,
  parameter int WordW = 4,
  parameter int BeatsW = 11,
  parameter int SealDepth = 32,
  parameter int LowLatency = 0,
  localparam int Bytes = DataW / 8
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              start_i,
  output logic              space_o,
  output logic              credit_o,
  input  logic              frame_valid_i,
  input  logic              frame_last_i,
  input  logic              frame_abort_i,
  input  logic [DataW-1:0]  frame_data_i,
  input  logic              seal_valid_i,
  input  logic [31:0]       seal_icrc_i,
  input  logic [15:0]       seal_csum_i,
  input  logic [BeatsW-1:0] seal_beats_i,  // less one
  input  logic [WordW-1:0]  seal_word_i,   // the frame ends behind the second byte of this word
  output logic              m_tx_tvalid,
  input  logic              m_tx_tready,
  output logic [DataW-1:0]  m_tx_tdata,
  output logic [Bytes-1:0]  m_tx_tkeep,
  output logic              m_tx_tlast
);

  localparam int AddrW = $clog2(BufBeats);
  localparam int Words = Bytes / 4;
  localparam int CreditW = $clog2(SealDepth + 1);

  if (BufBeats < 8 || (1 << AddrW) != BufBeats) begin : gen_check_beats
    $fatal(1, "tx_frame_buffer: BufBeats must be a power of two of at least 8");
  end
  if (AheadBeats < 1 || AheadBeats > BufBeats) begin : gen_check_ahead
    $fatal(1, "tx_frame_buffer: AheadBeats must be in 1..BufBeats");
  end
  if (SealDepth < 3) begin : gen_check_depth
    $fatal(1, "tx_frame_buffer: SealDepth must be at least 3");
  end

  // ---- writing ----------------------------------------------------------------------------------
  // Pointers have one bit more than addresses, so that full and empty differ.
  logic [AddrW:0]     wr_q;
  logic [AddrW:0]     wr_next;
  logic [AddrW:0]     begin_q;  // where the frame being written begins
  logic [AddrW:0]     rd_q;
  logic [AddrW:0]     used;
  logic               space_q;
  logic               ahead_q;  // enough waits
  logic [CreditW-1:0] frames_q;  // started, neither aborted nor sent
  logic               forget;
  logic               pop;

  assign wr_next = wr_q + 1'b1;
  assign used = wr_q - rd_q;
  assign forget = frame_valid_i && frame_last_i && frame_abort_i;

  always_ff @(posedge clk) begin
    if (rst) begin
      wr_q    <= '0;
      begin_q <= '0;
      space_q <= 1'b1;
      ahead_q <= 1'b0;
    end else begin
      // Lacking may be the beat written last, the one being written and the one that is started.
      space_q <= used < (AddrW + 1)'(BufBeats - 2);
      ahead_q <= used >= (AddrW + 1)'(AheadBeats);
      if (frame_valid_i) begin
        wr_q <= forget ? begin_q : wr_next;
        if (frame_last_i && !frame_abort_i) begin_q <= wr_next;
      end
    end
  end

  assign space_o = space_q;

  always_ff @(posedge clk) begin
    if (rst) frames_q <= '0;
    else frames_q <= frames_q + CreditW'(start_i) - CreditW'(pop) - CreditW'(forget);
  end

  assign credit_o = frames_q != CreditW'(SealDepth) && !ahead_q;

  // ---- what is known of each frame --------------------------------------------------------------
  localparam int SealW = 32 + 16 + BeatsW + WordW;
  logic              seal_valid;
  logic              seal_ready;
  logic [31:0]       seal_icrc;
  logic [15:0]       seal_csum;
  logic [BeatsW-1:0] seal_beats;
  logic [WordW-1:0]  seal_word;
  logic              queue_ready;

  logic [$clog2(SealDepth+1)-1:0] unused_level;

  stream_fifo #(
    .Width(SealW),
    .Depth(SealDepth),
    .Style(0),
    .Bypass(LowLatency)
  ) u_seals (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(seal_valid_i),
    .s_axis_tready(queue_ready),
    .s_axis_tdata({seal_icrc_i, seal_csum_i, seal_beats_i, seal_word_i}),
    .m_axis_tvalid(seal_valid),
    .m_axis_tready(seal_ready),
    .m_axis_tdata({seal_icrc, seal_csum, seal_beats, seal_word}),
    .level_o(unused_level)
  );

  // ---- reading ----------------------------------------------------------------------------------
  // The frame in work is the first in the queue, to its last beat.
  localparam int CsumBeat = 24 / Bytes;
  localparam int CsumIdxW = $clog2(CsumBeat + 2);
  logic                first_q;  // its first beat is next
  logic [BeatsW-1:0]   left_q;   // beats behind the next one, if that is not the first
  logic [BeatsW-1:0]   left;
  logic                last;
  logic [CsumIdxW-1:0] idx_q;    // number of the beat, counting to CsumBeat + 1
  logic                issue;

  // The beat that was read.
  logic             read_valid_q;
  logic             read_last_q;
  logic             read_split_q;  // the next beat starts with the second half of the ICRC
  logic             read_csum_q;
  logic             read_short_q;
  logic [WordW-1:0] read_word_q;
  logic [31:0]      read_icrc_q;
  logic [15:0]      read_csum_value_q;
  logic [DataW-1:0] read_data;
  logic             read_free;
  logic             out_free;

  assign left = first_q ? seal_beats : left_q;
  assign last = left == '0;
  assign issue = seal_valid && read_free;
  assign pop = issue && last;
  assign seal_ready = read_free && last;

  always_ff @(posedge clk) begin
    if (rst) begin
      first_q <= 1'b1;
      rd_q    <= '0;
      idx_q   <= '0;
    end else if (issue) begin
      first_q <= last;
      rd_q    <= rd_q + 1'b1;
      if (last) idx_q <= '0;
      else if (idx_q != CsumIdxW'(CsumBeat + 1)) idx_q <= idx_q + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (issue) left_q <= left - 1'b1;
  end

  ram_sdp #(
    .Width(DataW),
    .Depth(BufBeats),
    .Latency(1),
    .Style(1)
  ) u_ram (
    .clk(clk),
    .wr_en_i(frame_valid_i),
    .wr_addr_i(wr_q[AddrW-1:0]),
    .wr_data_i(frame_data_i),
    .rd_en_i(issue),
    .rd_addr_i(rd_q[AddrW-1:0]),
    .rd_data_o(read_data)
  );

  assign read_free = !read_valid_q || out_free;

  always_ff @(posedge clk) begin
    if (rst) read_valid_q <= 1'b0;
    else if (read_free) read_valid_q <= issue;
  end

  always_ff @(posedge clk) begin
    if (issue) begin
      read_last_q       <= last;
      read_split_q      <= left == BeatsW'(1) && seal_word == '0;
      read_csum_q       <= idx_q == CsumIdxW'(CsumBeat);
      // 58 bytes end in word 14.
      read_short_q      <= seal_beats == BeatsW'(14 / Words) && seal_word == WordW'(14 % Words);
      read_word_q       <= seal_word;
      read_icrc_q       <= seal_icrc;
      read_csum_value_q <= seal_csum;
    end
  end

  // The ICRC starts with the upper half of one word and ends with the lower half of the next.
  logic [DataW-1:0] sealed;
  logic [Bytes-1:0] keep;
  logic [Words-1:0] below;  // words before the one in which the frame ends
  logic [Words-1:0] ends;   // the word in which the frame ends, in its last beat

  assign below = ~({Words{1'b1}} << read_word_q);

  for (genvar w = 0; w < Words; w++) begin : gen_word
    logic        start_here;
    logic [15:0] low;
    assign ends[w] = read_last_q && read_word_q == WordW'(w);
    if (w == Words - 1) begin : gen_split
      assign start_here = read_split_q;
    end else begin : gen_inside
      assign start_here = ends[w+1];
    end
    if (w == 6 % Words) begin : gen_csum
      assign low = (ends[w] ? read_icrc_q[31:16] : 16'd0) |
                   (read_csum_q ? read_csum_value_q : 16'd0);
    end else begin : gen_plain
      assign low = ends[w] ? read_icrc_q[31:16] : 16'd0;
    end
    assign sealed[32*w+:16] = read_data[32*w+:16] | low;
    assign sealed[32*w+16+:16] = read_data[32*w+16+:16] | (start_here ? read_icrc_q[15:0] : 16'd0);
    assign keep[4*w+:2] = {2{!read_last_q || below[w] || ends[w]}};
    assign keep[4*w+2+:2] = {2{!read_last_q || below[w] || (ends[w] && read_short_q)}};
  end

  assign out_free = !m_tx_tvalid || m_tx_tready;

  always_ff @(posedge clk) begin
    if (rst) m_tx_tvalid <= 1'b0;
    else if (out_free) m_tx_tvalid <= read_valid_q;
  end

  always_ff @(posedge clk) begin
    if (out_free) begin
      m_tx_tdata <= sealed;
      m_tx_tkeep <= keep;
      m_tx_tlast <= read_last_q;
    end
  end

  `ROCEGEN_ASSERT(beats_bound, (wr_q - rd_q) <= (AddrW + 1)'(BufBeats))
  `ROCEGEN_ASSERT(seal_has_room, !seal_valid_i || queue_ready)
  `ROCEGEN_STREAM(tx_contract, m_tx_tvalid, m_tx_tready, {m_tx_tdata, m_tx_tkeep, m_tx_tlast})

endmodule

`default_nettype wire
