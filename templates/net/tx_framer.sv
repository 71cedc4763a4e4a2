// tx_framer: turns packet records with their payload into Ethernet frames.
//
// Handshake: a packet on s_pkt carries its record on every beat and at least pay_bytes of payload,
// or one empty beat; the error bit counts with its last beat and means that the packet is not sent.
// Frames leave on m_tx whole and sealed: tvalid stays up within a frame. The peer's addresses, QPN,
// P_Key and source port come from the set-up of the record's QP on s_cfg, which is always ready and
// must precede. A packet whose `life` is not the one of that set-up (life_i) is not sent either.
// The address pins are static. Extension headers follow the opcode (RETH, AETH, ImmDt, IETH,
// AtomicETH, AtomicAckETH); atomics and their acknowledges have pay_bytes 0. Frames are at least 60
// bytes long.
//
// Latency: 2 cycles to the frame's first beat in the buffer; CrcLatency + RewindLatency + 5 cycles
// (or CsumLatency + 4) from its last one there to its first on m_tx, one less with LowLatency.
// Throughput: a frame beat a cycle, at least one cycle a frame; a frame longer than all before it
// may leave a gap in front, as it leaves when it is whole. Full: s_pkt_tready falls; a packet that
// is under way waits for frames to leave, never for other packets.
//
// DataW: bits a beat, 64, 128, 256, 512 or 1024. QpCount: QPs, 1..16384. BufBeats: frame beats
// buffered, a power of two that holds a frame of MaxPayload bytes and four beats. MaxPayload: bytes
// of the longest payload, trailers of services included. CrcLatency, RewindLatency, CsumLatency:
// cycles of the compiled icrc_data, icrc_rewind, ipv4_checksum, >= 0. MigReq: the BTH's M bit. LowLatency: 1, what is known of a frame goes round the empty queue.
//
// rocegen: comb none
// rocegen: record s_pkt.tuser tx_pkt_err
`include "rocegen_assert.svh"
`default_nettype none

module tx_framer #(
  parameter int DataW = 512,
  parameter int QpCount = 512,
  parameter int BufBeats = 256,
  parameter int MaxPayload = 4096,
  parameter int CrcLatency = 2,
  parameter int RewindLatency = 2,
  parameter int CsumLatency = 2,
  parameter bit MigReq = 1'b1,
  parameter int LowLatency = 0
) (
  input  logic               clk,
  input  logic               rst,
  input  logic [47:0]        local_mac_i,
  input  logic [31:0]        local_ip_i,
  input  logic [7:0]         ttl_i,
  input  logic [7:0]         tos_i,
  input  logic               s_cfg_tvalid,
  output logic               s_cfg_tready,
  input  roce_pkg::qp_cfg_t  s_cfg_tdata,
  input  logic [roce_pkg::LifeW-1:0] life_i,
  input  logic               s_pkt_tvalid,
  output logic               s_pkt_tready,
  input  logic [DataW-1:0]   s_pkt_tdata,
  input  logic [DataW/8-1:0] s_pkt_tkeep,
  input  logic               s_pkt_tlast,
  input  logic [roce_pkg::TxPktW:0] s_pkt_tuser,  // {err, tx_pkt_t}
  output logic               m_tx_tvalid,
  input  logic               m_tx_tready,
  output logic [DataW-1:0]   m_tx_tdata,
  output logic [DataW/8-1:0] m_tx_tkeep,
  output logic               m_tx_tlast,
  output logic               cnt_tx_frames_o,  // left
  output logic               cnt_tx_aborted_o,  // packets not sent
  output logic               cnt_tx_stale_o  // of these, of a former life
);

  localparam int Bytes = DataW / 8;
  localparam int WordW = $clog2(Bytes / 4);
  localparam int BeatsW = 15 - WordW;
  localparam int SealDepth = 32;
  // Frames that wait to leave: the longest one, and what covers the time to a seal.
  localparam int LongestBeats = (MaxPayload + 78 + Bytes - 1) / Bytes;
  localparam int AheadBeats = LongestBeats + 64 < BufBeats ? LongestBeats + 64 : BufBeats;

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_width
    $fatal(1, "tx_framer: DataW must be 64, 128, 256, 512 or 1024");
  end
  if (BufBeats < LongestBeats + 4) begin : gen_check_beats
    $fatal(1, "tx_framer: BufBeats must hold a frame of MaxPayload bytes and four beats");
  end

  logic              x_valid;
  logic              x_ready;
  logic [DataW-1:0]  x_data;
  logic              x_last;
  logic              x_err;
  logic              x_stale;
  roce_pkg::tx_pkt_t x_pkt;
  logic [2:0]        x_off;
  logic [5:0]        x_ext;
  logic [13:0]       x_words;
  logic [47:0]       x_dmac;
  logic [31:0]       x_dip;
  logic [23:0]       x_dqpn;
  logic [15:0]       x_sport;
  logic [15:0]       x_pkey;

  tx_lookup #(
    .DataW(DataW),
    .QpCount(QpCount)
  ) u_lookup (
    .clk(clk),
    .rst(rst),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .life_i(life_i),
    .s_pkt_tvalid(s_pkt_tvalid),
    .s_pkt_tready(s_pkt_tready),
    .s_pkt_tdata(s_pkt_tdata),
    .s_pkt_tkeep(s_pkt_tkeep),
    .s_pkt_tlast(s_pkt_tlast),
    .s_pkt_tuser(s_pkt_tuser),
    .m_valid_o(x_valid),
    .m_ready_i(x_ready),
    .m_data_o(x_data),
    .m_last_o(x_last),
    .m_err_o(x_err),
    .m_stale_o(x_stale),
    .m_pkt_o(x_pkt),
    .m_off_o(x_off),
    .m_ext_o(x_ext),
    .m_words_o(x_words),
    .m_dmac_o(x_dmac),
    .m_dip_o(x_dip),
    .m_dqpn_o(x_dqpn),
    .m_sport_o(x_sport),
    .m_pkey_o(x_pkey)
  );

  logic [8*82-1:0] hdr;

  tx_header #(
    .MigReq(MigReq)
  ) u_header (
    .local_mac_i(local_mac_i),
    .local_ip_i(local_ip_i),
    .ttl_i(ttl_i),
    .tos_i(tos_i),
    .pkt_i(x_pkt),
    .ext_i(x_ext),
    .words_i(x_words),
    .dmac_i(x_dmac),
    .dip_i(x_dip),
    .dqpn_i(x_dqpn),
    .sport_i(x_sport),
    .pkey_i(x_pkey),
    .hdr_o(hdr)
  );

  logic              space;
  logic              credit;
  logic              start;
  logic              frame_valid;
  logic              frame_first;
  logic              frame_last;
  logic              frame_abort;
  logic [BeatsW-1:0] frame_beats;
  logic [WordW-1:0]  frame_word;
  logic [DataW-1:0]  frame_data;
  logic [DataW-1:0]  frame_icrc;

  tx_assemble #(
    .DataW(DataW)
  ) u_assemble (
    .clk(clk),
    .rst(rst),
    .in_valid_i(x_valid),
    .in_ready_o(x_ready),
    .in_data_i(x_data),
    .in_last_i(x_last),
    .in_err_i(x_err),
    .in_off_i(x_off),
    .in_words_i(x_words),
    .hdr_i(hdr),
    .space_i(space),
    .credit_i(credit),
    .start_o(start),
    .frame_valid_o(frame_valid),
    .frame_first_o(frame_first),
    .frame_last_o(frame_last),
    .frame_abort_o(frame_abort),
    .frame_beats_o(frame_beats),
    .frame_word_o(frame_word),
    .frame_data_o(frame_data),
    .frame_icrc_o(frame_icrc)
  );

  logic              seal_valid;
  logic [31:0]       seal_icrc;
  logic [15:0]       seal_csum;
  logic [BeatsW-1:0] seal_beats;
  logic [WordW-1:0]  seal_word;

  tx_seal #(
    .DataW(DataW),
    .WordW(WordW),
    .InfoW(BeatsW + WordW),
    .CrcLatency(CrcLatency),
    .RewindLatency(RewindLatency),
    .CsumLatency(CsumLatency)
  ) u_seal (
    .clk(clk),
    .rst(rst),
    .start_i(start),
    .ip_header_i(hdr[8*14+:160]),
    .frame_valid_i(frame_valid),
    .frame_first_i(frame_first),
    .frame_last_i(frame_last),
    .frame_abort_i(frame_abort),
    .frame_word_i(frame_word),
    .frame_info_i({frame_beats, frame_word}),
    .frame_icrc_i(frame_icrc),
    .seal_valid_o(seal_valid),
    .seal_icrc_o(seal_icrc),
    .seal_csum_o(seal_csum),
    .seal_info_o({seal_beats, seal_word})
  );

  tx_frame_buffer #(
    .DataW(DataW),
    .BufBeats(BufBeats),
    .AheadBeats(AheadBeats),
    .WordW(WordW),
    .BeatsW(BeatsW),
    .SealDepth(SealDepth),
    .LowLatency(LowLatency)
  ) u_buffer (
    .clk(clk),
    .rst(rst),
    .start_i(start),
    .space_o(space),
    .credit_o(credit),
    .frame_valid_i(frame_valid),
    .frame_last_i(frame_last),
    .frame_abort_i(frame_abort),
    .frame_data_i(frame_data),
    .seal_valid_i(seal_valid),
    .seal_icrc_i(seal_icrc),
    .seal_csum_i(seal_csum),
    .seal_beats_i(seal_beats),
    .seal_word_i(seal_word),
    .m_tx_tvalid(m_tx_tvalid),
    .m_tx_tready(m_tx_tready),
    .m_tx_tdata(m_tx_tdata),
    .m_tx_tkeep(m_tx_tkeep),
    .m_tx_tlast(m_tx_tlast)
  );

  assign cnt_tx_frames_o = m_tx_tvalid && m_tx_tready && m_tx_tlast;
  assign cnt_tx_aborted_o = frame_valid && frame_last && frame_abort;
  assign cnt_tx_stale_o = x_valid && x_ready && x_last && x_stale;

  `ROCEGEN_STREAM(pkt_contract, s_pkt_tvalid, s_pkt_tready,
                  {s_pkt_tdata, s_pkt_tkeep, s_pkt_tlast, s_pkt_tuser})
  `ROCEGEN_PACKET(pkt_keep, s_pkt_tvalid, s_pkt_tlast,
                  s_pkt_tkeep | {(DataW/8){s_pkt_tlast && s_pkt_tkeep == '0}})

endmodule

`default_nettype wire
