// rx_buffer: frame buffer of the receiver. Payload beats go in as they come; at the end of its
// frame a payload is kept or forgotten, and the frame's header record enters the header queue in
// the same event.
//
// Handshake: write_i stores a beat of the current frame, end_i ends the frame (it may come with its
// last write). With good_i the frame is committed if its beats fit and the header queue has room;
// otherwise it leaves nothing behind. A frame counts as fitting by the space at its first write.
// Header records come out in order; a frame of no beats takes no space. Reads: rd_data_o one cycle
// after rd_en_i, held. Space comes back in order by release_i; it may be written again from the
// next cycle on. Full: the frame is dropped whole and cnt_no_buffer_o or cnt_no_header_slot_o
// pulses.
//
// free_o: beats not committed; level_o: header records held.
//
// DataW: bits a beat. BufBeats: beats of payload held, a power of two, 2..65536. BeatsW: bits of a
// length in beats. HdrDepth: header records held, >= 2. LowLatency: 1, a header goes round the
// empty queue. Verdict: 1 keeps what services said (refuse, tag); 0, it reads as zero.
`include "rocegen_assert.svh"
`default_nettype none

module rx_buffer #(
  parameter int DataW = 512,
  parameter int BufBeats = 512,
  parameter int BeatsW = 9,
  parameter int HdrDepth = 32,
  parameter int LowLatency = 0,
  parameter int Verdict = 0,
  localparam int AddrW = $clog2(BufBeats),
  localparam int CountW = (AddrW + 1 > BeatsW ? AddrW + 1 : BeatsW) + 1
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              write_i,
  input  logic [DataW-1:0]  data_i,
  input  logic              end_i,
  input  logic              good_i,
  input  logic [BeatsW-1:0] beats_i,
  input  logic [13:0]       pay_i,
  input  roce_pkg::rx_hdr_t hdr_i,      // buf_addr and pay_bytes ignored
  output logic              m_hdr_tvalid,
  input  logic              m_hdr_tready,
  output roce_pkg::rx_hdr_t m_hdr_tdata,
  input  logic              rd_en_i,
  input  logic [AddrW-1:0]  rd_addr_i,
  output logic [DataW-1:0]  rd_data_o,
  input  logic              release_i,
  input  logic [BeatsW-1:0] release_beats_i,
  output logic [CountW-1:0] free_o,
  output logic [$clog2(HdrDepth+1)-1:0] level_o,
  output logic              cnt_good_o,
  output logic              cnt_no_buffer_o,
  output logic              cnt_no_header_slot_o
);

  if (BufBeats < 2 || BufBeats > 65536 || (1 << AddrW) != BufBeats) begin : gen_check_beats
    $fatal(1, "rx_buffer: BufBeats must be a power of two, 2 to 65536");
  end
  if (HdrDepth < 2) begin : gen_check_depth
    $fatal(1, "rx_buffer: HdrDepth must be at least 2");
  end

  logic [AddrW-1:0]  start_q;  // where the current frame begins
  logic [AddrW-1:0]  at_q;     // next write
  logic              fresh_q;  // nothing of the current frame is written
  logic [CountW-1:0] free_q;   // beats not committed
  logic [CountW-1:0] space_q;  // free_q at the frame's first write
  logic [CountW-1:0] left_q;   // of that, not yet written
  logic [CountW-1:0] space;
  logic [CountW-1:0] left;
  logic              write;
  logic              fits;
  logic              commit;
  logic              slot;
  logic [CountW-1:0] returned;
  logic [AddrW-1:0]  next_start;

  assign space = fresh_q ? free_q : space_q;
  assign left = fresh_q ? free_q : left_q;
  assign write = write_i && left != '0;
  assign fits = CountW'(beats_i) <= space;
  assign commit = end_i && good_i && fits && slot;
  assign returned = release_i ? CountW'(release_beats_i) : '0;
  assign next_start = start_q + AddrW'(beats_i);

  always_ff @(posedge clk) begin
    if (rst) begin
      start_q <= '0;
      at_q    <= '0;
      fresh_q <= 1'b1;
      free_q  <= CountW'(BufBeats);
    end else begin
      if (end_i) begin
        start_q <= commit ? next_start : start_q;
        at_q    <= commit ? next_start : start_q;
        fresh_q <= 1'b1;
      end else if (write_i) begin
        if (write) at_q <= at_q + 1'b1;
        fresh_q <= 1'b0;
      end
      free_q <= commit ? free_q + returned - CountW'(beats_i) : free_q + returned;
    end
  end

  always_ff @(posedge clk) begin
    if (fresh_q) space_q <= free_q;
    left_q <= write ? left - 1'b1 : left;
  end

  ram_sdp #(
    .Width(DataW),
    .Depth(BufBeats),
    .Latency(1),
    .Style(1)
  ) u_ram (
    .clk(clk),
    .wr_en_i(write),
    .wr_addr_i(at_q),
    .wr_data_i(data_i),
    .rd_en_i(rd_en_i),
    .rd_addr_i(rd_addr_i),
    .rd_data_o(rd_data_o)
  );

  roce_pkg::rx_hdr_t hdr;
  // The services' bits come last in the record.
  localparam int SkipW = Verdict != 0 ? 0 : 9 + roce_pkg::LifeW;
  localparam int HdrW = roce_pkg::RxHdrW - SkipW;
  logic [roce_pkg::RxHdrW-1:0] hdr_in;
  logic [HdrW-1:0]             hdr_out;

  always_comb begin
    hdr = hdr_i;
    hdr.buf_addr = 16'(start_q);
    hdr.pay_bytes = pay_i;
  end
  assign hdr_in = hdr;

  if (Verdict != 0) begin : gen_verdict
    assign m_hdr_tdata = hdr_out;
  end else begin : gen_plain
    logic unused_verdict;
    assign unused_verdict = ^hdr_in[SkipW-1:0];
    assign m_hdr_tdata = {hdr_out, SkipW'(0)};
  end

  stream_fifo #(
    .Width(HdrW),
    .Depth(HdrDepth),
    .Style(0),
    .Bypass(LowLatency)
  ) u_headers (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(commit),
    .s_axis_tready(slot),
    .s_axis_tdata(hdr_in[roce_pkg::RxHdrW-1:SkipW]),
    .m_axis_tvalid(m_hdr_tvalid),
    .m_axis_tready(m_hdr_tready),
    .m_axis_tdata(hdr_out),
    .level_o(level_o)
  );

  assign free_o = free_q;
  assign cnt_good_o = commit;
  assign cnt_no_buffer_o = end_i && good_i && !fits;
  assign cnt_no_header_slot_o = end_i && good_i && fits && !slot;

  `ROCEGEN_ASSERT(free_bound, free_q <= CountW'(BufBeats))

endmodule

`default_nettype wire
