// rx_frontend: from Ethernet frames to checked header records and aligned payload.
//
// Takes one beat every cycle for ever (s_rx_tready is 1). Ethernet II, IPv4 without options, UDP to
// port 4791, BTH and the extension headers of the reliable connection's opcodes are taken apart;
// addresses, all lengths, IPv4 checksum and ICRC are checked. A good frame's payload waits in the
// frame buffer, its record comes out of m_hdr, in order. Everything else is dropped whole with one
// pulse of the counter that names the first reason found, in the order of the ports below. The UDP
// checksum is not looked at. Ethernet padding behind the IP packet is ignored. An atomic's operands
// (16 bytes) and its result (8 bytes) are payload.
//
// Each header but an ACK's (opcode 0x11) is answered by exactly one command on s_fetch, in order,
// with the header's buf_addr and its pay_bytes as `bytes`: it gives the payload (`forward`, its
// first 8 bytes reversed with `swap`) or forgets it, and frees the space.
//
// Latency: header record CrcLatency + 7 cycles after the frame's last beat (LowLatency: + 6);
// payload 2 cycles after its command. Throughput: a frame a cycle, a payload beat a cycle. Full
// buffer or header queue: the frame is dropped whole; the next that fits is taken.
//
// DataW: bits a beat, 64, 128, 256, 512 or 1024. BufBeats: beats of payload buffered, a power of
// two that holds at least one MaxPayload. MaxPayload: bytes, 1..16383. CrcLatency: cycles of the
// compiled icrc_data, >= 0. HdrDepth: headers buffered, >= 2. LowLatency: 1, a header goes round
// the empty queue.
//
// rocegen: comb s_fetch.tready<-m_pay.tready
`include "rocegen_assert.svh"
`default_nettype none

module rx_frontend #(
  parameter int DataW = 512,
  parameter int BufBeats = 512,
  parameter int MaxPayload = 4096,
  parameter int CrcLatency = 2,
  parameter int HdrDepth = 32,
  parameter int LowLatency = 0
) (
  input  logic                clk,
  input  logic                rst,
  input  logic [47:0]         local_mac_i,
  input  logic [31:0]         local_ip_i,
  input  logic                s_rx_tvalid,
  output logic                s_rx_tready,
  input  logic [DataW-1:0]    s_rx_tdata,
  input  logic [DataW/8-1:0]  s_rx_tkeep,
  input  logic                s_rx_tlast,
  input  logic [0:0]          s_rx_tuser,
  output logic                m_hdr_tvalid,
  input  logic                m_hdr_tready,
  output roce_pkg::rx_hdr_t   m_hdr_tdata,
  input  logic                s_fetch_tvalid,
  output logic                s_fetch_tready,
  input  roce_pkg::rx_cmd_t   s_fetch_tdata,
  output logic                m_pay_tvalid,
  input  logic                m_pay_tready,
  output logic [DataW-1:0]    m_pay_tdata,
  output logic [DataW/8-1:0]  m_pay_tkeep,
  output logic                m_pay_tlast,
  output roce_pkg::rx_cmd_t   m_pay_tuser,
  output logic                cnt_rx_frames_o,  // every frame
  output logic                cnt_rx_good_o,  // its header went on
  output logic                cnt_rx_bad_frame_o,  // marked by the MAC or shorter than 58 bytes
  output logic                cnt_rx_not_ip_o,  // EtherType is not IPv4
  output logic                cnt_rx_not_mine_o,  // MAC or IP address is not the local one
  output logic                cnt_rx_ip_header_o,  // version, options, fragment or checksum
  output logic                cnt_rx_not_roce_o,  // protocol or UDP port
  output logic                cnt_rx_length_o,  // lengths contradict each other
  output logic                cnt_rx_bad_icrc_o,
  output logic                cnt_rx_bth_o,  // transport version or opcode
  output logic                cnt_rx_oversize_o,  // payload above MaxPayload
  output logic                cnt_rx_no_buffer_o,
  output logic                cnt_rx_no_header_slot_o
);

  localparam int Bytes = DataW / 8;
  localparam int PosW = $clog2(Bytes);
  localparam int HdrBeats = (74 + Bytes - 1) / Bytes;
  localparam int IdxW = $clog2(HdrBeats + 1);
  localparam int BeatsW = 15 - PosW;
  localparam int AddrW = $clog2(BufBeats);

  if (BufBeats * Bytes < MaxPayload) begin : gen_check_buffer
    $fatal(1, "rx_frontend: BufBeats must hold one MaxPayload");
  end

  assign s_rx_tready = 1'b1;

  logic [IdxW-1:0]   rx_idx;
  logic              a_valid;
  logic              a_first;
  logic              a_last;
  logic [IdxW-1:0]   a_idx;
  logic [DataW-1:0]  a_data;
  logic              a_end;
  logic [PosW-1:0]   a_pos;
  logic              a_past;
  logic              d_last;
  logic              d_bad_frame;
  logic              d_not_ip;
  logic              d_not_mine;
  logic              d_ip_header;
  logic              d_not_roce;
  logic              d_length;
  logic              d_bth;
  logic              d_oversize;
  logic [2:0]        d_off;
  logic [13:0]       d_pay;
  logic [BeatsW-1:0] d_beats;
  logic              d_ip_sum_good;

  rx_parse #(
    .DataW(DataW),
    .MaxPayload(MaxPayload)
  ) u_parse (
    .clk(clk),
    .rst(rst),
    .local_mac_i(local_mac_i),
    .local_ip_i(local_ip_i),
    .rx_valid_i(s_rx_tvalid),
    .rx_data_i(s_rx_tdata),
    .rx_keep_i(s_rx_tkeep),
    .rx_last_i(s_rx_tlast),
    .rx_bad_i(s_rx_tuser[0]),
    .rx_idx_o(rx_idx),
    .a_valid_o(a_valid),
    .a_first_o(a_first),
    .a_last_o(a_last),
    .a_idx_o(a_idx),
    .a_data_o(a_data),
    .a_end_o(a_end),
    .a_pos_o(a_pos),
    .a_past_o(a_past),
    .d_last_o(d_last),
    .d_bad_frame_o(d_bad_frame),
    .d_not_ip_o(d_not_ip),
    .d_not_mine_o(d_not_mine),
    .d_ip_header_o(d_ip_header),
    .d_not_roce_o(d_not_roce),
    .d_length_o(d_length),
    .d_bth_o(d_bth),
    .d_oversize_o(d_oversize),
    .d_off_o(d_off),
    .d_pay_o(d_pay),
    .d_beats_o(d_beats)
  );

  rx_ip_sum #(
    .DataW(DataW),
    .IdxW(IdxW)
  ) u_ip_sum (
    .clk(clk),
    .rst(rst),
    .rx_valid_i(s_rx_tvalid),
    .rx_idx_i(rx_idx),
    .rx_data_i(s_rx_tdata),
    .good_o(d_ip_sum_good)
  );

  logic icrc_good;

  icrc_check #(
    .DataW(DataW),
    .IdxW(IdxW),
    .PosW(PosW),
    .CrcLatency(CrcLatency)
  ) u_icrc (
    .clk(clk),
    .rst(rst),
    .valid_i(a_valid),
    .first_i(a_first),
    .idx_i(a_idx),
    .data_i(a_data),
    .end_i(a_end),
    .pos_i(a_pos),
    .past_i(a_past),
    .good_o(icrc_good)
  );

  logic              v_end;
  logic              v_good;
  logic [13:0]       v_pay;
  logic [BeatsW-1:0] v_beats;

  rx_verdict #(
    .BeatsW(BeatsW),
    .CrcLatency(CrcLatency)
  ) u_verdict (
    .clk(clk),
    .rst(rst),
    .last_i(d_last),
    .bad_frame_i(d_bad_frame),
    .not_ip_i(d_not_ip),
    .not_mine_i(d_not_mine),
    .ip_header_i(d_ip_header),
    .ip_sum_good_i(d_ip_sum_good),
    .not_roce_i(d_not_roce),
    .length_i(d_length),
    .icrc_good_i(icrc_good),
    .bth_i(d_bth),
    .oversize_i(d_oversize),
    .pay_i(d_pay),
    .beats_i(d_beats),
    .end_o(v_end),
    .good_o(v_good),
    .pay_o(v_pay),
    .beats_o(v_beats),
    .cnt_frames_o(cnt_rx_frames_o),
    .cnt_bad_frame_o(cnt_rx_bad_frame_o),
    .cnt_not_ip_o(cnt_rx_not_ip_o),
    .cnt_not_mine_o(cnt_rx_not_mine_o),
    .cnt_ip_header_o(cnt_rx_ip_header_o),
    .cnt_not_roce_o(cnt_rx_not_roce_o),
    .cnt_length_o(cnt_rx_length_o),
    .cnt_bad_icrc_o(cnt_rx_bad_icrc_o),
    .cnt_bth_o(cnt_rx_bth_o),
    .cnt_oversize_o(cnt_rx_oversize_o)
  );

  // The beats wait so that a frame's last one meets its verdict in the buffer.
  logic [2:0]        off;
  logic              now_valid;
  logic [IdxW-1:0]   now_idx;
  logic [DataW-1:0]  now_data;
  logic              write;
  logic [DataW-1:0]  write_data;
  roce_pkg::rx_hdr_t hdr;

  delay_line #(
    .Width(3),
    .Stages(CrcLatency)
  ) u_off (
    .clk(clk),
    .d_i(d_off),
    .q_o(off)
  );

  rx_strip #(
    .DataW(DataW),
    .IdxW(IdxW),
    .Delay(CrcLatency + 3)
  ) u_strip (
    .clk(clk),
    .rst(rst),
    .valid_i(a_valid),
    .last_i(a_last),
    .idx_i(a_idx),
    .data_i(a_data),
    .off_i(off),
    .now_valid_o(now_valid),
    .now_idx_o(now_idx),
    .now_data_o(now_data),
    .write_o(write),
    .data_o(write_data)
  );

  rx_header #(
    .DataW(DataW),
    .IdxW(IdxW)
  ) u_header (
    .clk(clk),
    .valid_i(now_valid),
    .idx_i(now_idx),
    .data_i(now_data),
    .hdr_o(hdr)
  );

  logic              rd_en;
  logic [AddrW-1:0]  rd_addr;
  logic [DataW-1:0]  rd_data;
  logic              give_back;
  logic [BeatsW-1:0] give_back_beats;

  /* verilator lint_off PINCONNECTEMPTY */
  rx_buffer #(
    .DataW(DataW),
    .BufBeats(BufBeats),
    .BeatsW(BeatsW),
    .HdrDepth(HdrDepth),
    .LowLatency(LowLatency)
  ) u_buffer (
    .clk(clk),
    .rst(rst),
    .write_i(write),
    .data_i(write_data),
    .end_i(v_end),
    .good_i(v_good),
    .beats_i(v_beats),
    .pay_i(v_pay),
    .hdr_i(hdr),
    .m_hdr_tvalid(m_hdr_tvalid),
    .m_hdr_tready(m_hdr_tready),
    .m_hdr_tdata(m_hdr_tdata),
    .rd_en_i(rd_en),
    .rd_addr_i(rd_addr),
    .rd_data_o(rd_data),
    .release_i(give_back),
    .release_beats_i(give_back_beats),
    .free_o(),  // what does not fit is dropped: nobody asks before
    .level_o(),
    .cnt_good_o(cnt_rx_good_o),
    .cnt_no_buffer_o(cnt_rx_no_buffer_o),
    .cnt_no_header_slot_o(cnt_rx_no_header_slot_o)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  rx_fetch #(
    .DataW(DataW),
    .AddrW(AddrW),
    .BeatsW(BeatsW)
  ) u_fetch (
    .clk(clk),
    .rst(rst),
    .s_cmd_tvalid(s_fetch_tvalid),
    .s_cmd_tready(s_fetch_tready),
    .s_cmd_tdata(s_fetch_tdata),
    .rd_en_o(rd_en),
    .rd_addr_o(rd_addr),
    .rd_data_i(rd_data),
    .release_o(give_back),
    .release_beats_o(give_back_beats),
    .m_pay_tvalid(m_pay_tvalid),
    .m_pay_tready(m_pay_tready),
    .m_pay_tdata(m_pay_tdata),
    .m_pay_tkeep(m_pay_tkeep),
    .m_pay_tlast(m_pay_tlast),
    .m_pay_tuser(m_pay_tuser)
  );

  `ROCEGEN_PACKET(rx_packet, s_rx_tvalid, s_rx_tlast, s_rx_tkeep)

endmodule

`default_nettype wire
