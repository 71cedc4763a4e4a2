// ingress_close: the end of the attach point ingress: carries out the verdict of the services, and
// keeps the payload of what they let pass until the transport wants it.
//
// s_pkt: packets of ingress_open as the services leave them (svc_rx_t in tuser). Whatever their
// verdict says counts with tlast:
//   drop    the packet leaves nothing behind
//   refuse  of a request: goes on with the header, rx_responder answers NAK 0x63 in its turn. Of a
//           READ response or atomic acknowledge: its syndrome becomes one that cannot be right, so
//           sq_engine takes the QP to ERR (EvtBadResponse) when its turn comes. Of an ACK: nothing
//   tell    EvtService for its QP on m_evt
// A dropped packet is not refused, but tells. What is left shows as rx_frontend shows it: m_hdr in
// order (buf_addr is the one of this module's buffer), one command on s_fetch for each header but
// those of plain ACKs, the payload on m_pay.
//
// Handshake: s_pkt_tready comes from registers; a packet is begun when the buffer has room for two
// of the largest and both queues have room, so what is taken is never lost, and whoever is in front
// waits for the transport and for memory. Header 3 cycles behind the packet's last beat
// (LowLatency: 2), payload 2 cycles behind its command. A beat and a packet a cycle.
//
// DataW: bits a beat, 64..1024, a power of two. BufBeats: beats of payload kept, a power of two,
// three of MaxPayload or more. MaxPayload: bytes, 1..16383. HdrDepth: headers kept, >= 8.
// LowLatency: 1, a header goes round the empty queue.
//
// rocegen: comb s_fetch.tready<-m_pay.tready
// rocegen: record s_pkt.tuser roce_pkg::svc_rx_t
`include "rocegen_assert.svh"
`default_nettype none

module ingress_close #(
  parameter int DataW = 512,
  parameter int BufBeats = 512,
  parameter int MaxPayload = 4096,
  parameter int HdrDepth = 32,
  parameter int LowLatency = 0
) (
  input  logic                        clk,
  input  logic                        rst,
  input  logic                        s_pkt_tvalid,
  output logic                        s_pkt_tready,
  input  logic [DataW-1:0]            s_pkt_tdata,
  input  logic [DataW/8-1:0]          s_pkt_tkeep,
  input  logic                        s_pkt_tlast,
  input  logic [roce_pkg::SvcRxW-1:0] s_pkt_tuser,
  output logic                        m_hdr_tvalid,
  input  logic                        m_hdr_tready,
  output roce_pkg::rx_hdr_t           m_hdr_tdata,
  input  logic                        s_fetch_tvalid,
  output logic                        s_fetch_tready,
  input  roce_pkg::rx_cmd_t           s_fetch_tdata,
  output logic                        m_pay_tvalid,
  input  logic                        m_pay_tready,
  output logic [DataW-1:0]            m_pay_tdata,
  output logic [DataW/8-1:0]          m_pay_tkeep,
  output logic                        m_pay_tlast,
  output roce_pkg::rx_cmd_t           m_pay_tuser,
  output logic                        m_evt_tvalid,
  input  logic                        m_evt_tready,
  output roce_pkg::qp_evt_t           m_evt_tdata,
  output logic                        cnt_svc_packets_o,  // every packet
  output logic                        cnt_svc_dropped_o,
  output logic                        cnt_svc_refused_o,
  output logic                        cnt_svc_told_o
);

  localparam int Bytes = DataW / 8;
  localparam int PosW = $clog2(Bytes);
  localparam int BeatsW = 15 - PosW;
  localparam int AddrW = $clog2(BufBeats);
  localparam int CountW = (AddrW + 1 > BeatsW ? AddrW + 1 : BeatsW) + 1;
  localparam int MaxBeats = (MaxPayload + Bytes - 1) / Bytes;
  localparam int EvtDepth = 8;

  if (BufBeats < 3 * MaxBeats) begin : gen_check_buffer
    $fatal(1, "ingress_close: BufBeats must hold three of MaxPayload");
  end
  if (HdrDepth < 8) begin : gen_check_depth
    $fatal(1, "ingress_close: HdrDepth must be at least 8");
  end

  // ---- may a packet begin? What is taken shows in these numbers three cycles later --------------
  logic [CountW-1:0]               free;
  logic [$clog2(HdrDepth+1)-1:0]   headers;
  logic [$clog2(EvtDepth+1)-1:0]   events;
  logic                            start_q;
  logic                            inside_q;

  assign s_pkt_tready = inside_q || start_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      start_q  <= 1'b0;
      inside_q <= 1'b0;
    end else begin
      start_q <= free >= CountW'(2 * MaxBeats + 2) &&
          32'(headers) <= HdrDepth - 4 && 32'(events) <= EvtDepth - 4;
      if (s_pkt_tvalid && s_pkt_tready) inside_q <= !s_pkt_tlast;
    end
  end

  // ---- the beat, a cycle later ------------------------------------------------------------------
  logic              valid_q;
  logic              full_q;  // it has bytes
  logic              last_q;
  logic [DataW-1:0]  data_q;
  // The mask has done its work.
  /* verilator lint_off UNUSEDSIGNAL */
  roce_pkg::svc_rx_t user_q;
  roce_pkg::svc_rx_t user;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [BeatsW-1:0] beats_q;
  logic [14:0]       bytes_up;

  assign user     = s_pkt_tuser;
  assign bytes_up = {1'b0, user.hdr.pay_bytes} + 15'(Bytes - 1);

  always_ff @(posedge clk) begin
    if (rst) valid_q <= 1'b0;
    else valid_q <= s_pkt_tvalid && s_pkt_tready;
    full_q  <= s_pkt_tkeep[0];
    last_q  <= s_pkt_tlast;
    data_q  <= s_pkt_tdata;
    user_q  <= s_pkt_tuser;
    beats_q <= bytes_up[14:PosW];
  end

  // ---- verdict ----------------------------------------------------------------------------------
  logic              ends;
  logic              response;
  logic              request;
  logic              refused;
  roce_pkg::rx_hdr_t hdr;

  assign ends     = valid_q && last_q;
  assign response = user_q.hdr.opcode == roce_pkg::OpAtomicAck ||
      (user_q.hdr.opcode >= roce_pkg::OpReadRespFirst &&
       user_q.hdr.opcode <= roce_pkg::OpReadRespOnly);
  assign request  = !response && user_q.hdr.opcode != roce_pkg::OpAck;
  assign refused  = user_q.hdr.refuse && !user_q.drop && (response || request);

  always_comb begin
    hdr        = user_q.hdr;
    hdr.refuse = user_q.hdr.refuse && request;
    if (user_q.hdr.refuse && response) hdr.syndrome = roce_pkg::SynNakOp;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_svc_packets_o <= 1'b0;
      cnt_svc_dropped_o <= 1'b0;
      cnt_svc_refused_o <= 1'b0;
      cnt_svc_told_o    <= 1'b0;
    end else begin
      cnt_svc_packets_o <= ends;
      cnt_svc_dropped_o <= ends && user_q.drop;
      cnt_svc_refused_o <= ends && refused;
      cnt_svc_told_o    <= ends && user_q.tell;
    end
  end

  // ---- buffer -----------------------------------------------------------------------------------
  logic              rd_en;
  logic [AddrW-1:0]  rd_addr;
  logic [DataW-1:0]  rd_data;
  logic              give_back;
  logic [BeatsW-1:0] give_back_beats;
  logic              kept;
  logic              lost_payload;
  logic              lost_header;

  rx_buffer #(
    .DataW(DataW),
    .BufBeats(BufBeats),
    .BeatsW(BeatsW),
    .HdrDepth(HdrDepth),
    .LowLatency(LowLatency),
    .Verdict(1)
  ) u_buffer (
    .clk(clk),
    .rst(rst),
    .write_i(valid_q && full_q),
    .data_i(data_q),
    .end_i(ends),
    .good_i(!user_q.drop),
    .beats_i(beats_q),
    .pay_i(user_q.hdr.pay_bytes),
    .hdr_i(hdr),
    .m_hdr_tvalid(m_hdr_tvalid),
    .m_hdr_tready(m_hdr_tready),
    .m_hdr_tdata(m_hdr_tdata),
    .rd_en_i(rd_en),
    .rd_addr_i(rd_addr),
    .rd_data_o(rd_data),
    .release_i(give_back),
    .release_beats_i(give_back_beats),
    .free_o(free),
    .level_o(headers),
    .cnt_good_o(kept),
    .cnt_no_buffer_o(lost_payload),
    .cnt_no_header_slot_o(lost_header)
  );

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

  // ---- events -----------------------------------------------------------------------------------
  logic [23:0] evt_qpn;
  logic        evt_ready;

  stream_fifo #(
    .Width(24),
    .Depth(EvtDepth),
    .Style(3)
  ) u_events (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(ends && user_q.tell),
    .s_axis_tready(evt_ready),
    .s_axis_tdata(user_q.hdr.dqpn),
    .m_axis_tvalid(m_evt_tvalid),
    .m_axis_tready(m_evt_tready),
    .m_axis_tdata(evt_qpn),
    .level_o(events)
  );

  always_comb begin
    m_evt_tdata       = '0;
    m_evt_tdata.cause = roce_pkg::EvtService;
    m_evt_tdata.qpn   = evt_qpn;
  end

  logic unused_bits;
  assign unused_bits = ^{bytes_up[PosW-1:0], kept, lost_payload, lost_header, evt_ready};

  `ROCEGEN_STREAM(pkt_contract, s_pkt_tvalid, s_pkt_tready,
                  {s_pkt_tuser, s_pkt_tlast, s_pkt_tkeep, s_pkt_tdata})
  `ROCEGEN_PACKET(pkt_packet, s_pkt_tvalid, s_pkt_tlast, s_pkt_tkeep)
  `ROCEGEN_ASSERT(nothing_lost, !lost_payload && !lost_header && (evt_ready || !ends || !user_q.tell))

endmodule

`default_nettype wire
