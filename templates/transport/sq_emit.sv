// sq_emit: turns a packet that sq_segment decided on into a command for dma_read.
//
// put_valid_i may come in every cycle in which room_o is high; the command is on m_cmd 7 cycles
// later. The packet's place in its message, psn - first_psn, gives its byte offset; FIRST and ONLY
// carry the RETH with the whole length, the others zeros. m_cmd may stall for any time: room_o
// falls when CmdDepth packets are inside, none is lost.
//
// QpW: bits of a QPN, 1..14.
`include "rocegen_assert.svh"
`default_nettype none

module sq_emit #(
  parameter int QpW = 4
) (
  input  logic              clk,
  input  logic              rst,
  output logic              room_o,
  input  logic              put_valid_i,
  input  logic [QpW-1:0]    put_qpn_i,
  input  logic [23:0]       put_psn_i,
  input  logic              put_first_i,
  input  logic              put_last_i,
  input  logic              put_ackreq_i,
  input  logic [2:0]        put_pmtu_i,
  input  roce_pkg::sq_req_t put_req_i,
  output logic              m_cmd_tvalid,
  input  logic              m_cmd_tready,
  output roce_pkg::tx_cmd_t m_cmd_tdata
);

  localparam int CmdDepth = 16;
  localparam int CreditW = $clog2(CmdDepth + 1);

  // ---- room: packets on the way and in the queue ------------------------------------------------
  logic               taken;
  logic               room_q;
  logic [CreditW-1:0] credit_q;
  logic [CreditW-1:0] credit_d;

  assign taken = m_cmd_tvalid && m_cmd_tready;

  always_comb begin
    credit_d = credit_q;
    if (put_valid_i && !taken) credit_d = credit_q - 1'b1;
    else if (!put_valid_i && taken) credit_d = credit_q + 1'b1;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      credit_q <= CreditW'(CmdDepth);
      room_q   <= 1'b0;
    end else begin
      credit_q <= credit_d;
      room_q   <= credit_d != '0;
    end
  end

  assign room_o = room_q;

  // ---- stages: packet number, offset and length, low half of the address, high half -------------
  typedef struct packed {  // what the stages pass on
    logic [QpW-1:0] qpn;
    logic           first;
    logic           last;
    logic           ackreq;
    logic [23:0]    psn;
    logic [63:0]    raddr;
    logic [31:0]    rkey;
    logic [31:0]    length;
  } packet_t;

  logic [4:0]  valid_q;
  packet_t     p0_q;
  packet_t     p1_q;
  packet_t     p2_q;
  packet_t     p3_q;
  packet_t     p4_q;
  logic [63:0] base0_q;
  logic [63:0] base1_q;
  logic [63:0] base2_q;
  logic [31:0] high3_q;
  logic [2:0]  pmtu0_q;
  logic [2:0]  pmtu1_q;
  logic [23:0] first_psn_q;
  logic [23:0] number_q;  // packet within its message
  logic [31:0] offset_q;
  logic [31:0] low3_q;
  logic        carry_q;
  logic [63:0] addr_q;
  logic [12:0] bytes2_q;
  logic [12:0] bytes3_q;
  logic [12:0] bytes4_q;
  logic [31:0] offset;
  logic [12:0] mtu;
  logic [12:0] rest;  // bytes of a last packet

  always_ff @(posedge clk) begin
    if (rst) valid_q <= '0;
    else valid_q <= {valid_q[3:0], put_valid_i};
  end

  always_comb begin
    case (pmtu1_q)
      3'd1: mtu = 13'd256;
      3'd2: mtu = 13'd512;
      3'd3: mtu = 13'd1024;
      3'd4: mtu = 13'd2048;
      default: mtu = 13'd4096;
    endcase
    case (pmtu1_q)
      3'd1: offset = {number_q, 8'b0};
      3'd2: offset = {number_q[22:0], 9'b0};
      3'd3: offset = {number_q[21:0], 10'b0};
      3'd4: offset = {number_q[20:0], 11'b0};
      default: offset = {number_q[19:0], 12'b0};
    endcase
    rest = p1_q.length[12:0] & (mtu - 1'b1);
    if (rest == '0 && p1_q.length != '0) rest = mtu;
  end

  always_ff @(posedge clk) begin
    p0_q.qpn    <= put_qpn_i;
    p0_q.first  <= put_first_i;
    p0_q.last   <= put_last_i;
    p0_q.ackreq <= put_ackreq_i;
    p0_q.psn    <= put_psn_i;
    p0_q.raddr  <= put_req_i.raddr;
    p0_q.rkey   <= put_req_i.rkey;
    p0_q.length <= put_req_i.length;
    base0_q     <= put_req_i.laddr;
    pmtu0_q     <= put_pmtu_i;
    first_psn_q <= put_req_i.first_psn;

    p1_q     <= p0_q;
    base1_q  <= base0_q;
    pmtu1_q  <= pmtu0_q;
    number_q <= p0_q.psn - first_psn_q;

    p2_q     <= p1_q;
    base2_q  <= base1_q;
    offset_q <= offset;
    bytes2_q <= p1_q.last ? rest : mtu;

    p3_q     <= p2_q;
    high3_q  <= base2_q[63:32];
    bytes3_q <= bytes2_q;
    {carry_q, low3_q} <= {1'b0, base2_q[31:0]} + {1'b0, offset_q};

    p4_q     <= p3_q;
    addr_q   <= {high3_q + 32'(carry_q), low3_q};
    bytes4_q <= bytes3_q;
    if (!p3_q.first) begin
      p4_q.raddr  <= '0;
      p4_q.rkey   <= '0;
      p4_q.length <= '0;
    end
  end

  // ---- queue ------------------------------------------------------------------------------------
  localparam int QueueW = QpW + 155 + 77;

  logic               queue_ready;
  logic [CreditW-1:0] unused_level;
  packet_t            out;
  logic [63:0]        out_addr;
  logic [12:0]        out_bytes;

  stream_fifo #(
    .Width(QueueW),
    .Depth(CmdDepth)
  ) u_queue (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(valid_q[4]),
    .s_axis_tready(queue_ready),
    .s_axis_tdata({p4_q, addr_q, bytes4_q}),
    .m_axis_tvalid(m_cmd_tvalid),
    .m_axis_tready(m_cmd_tready),
    .m_axis_tdata({out, out_addr, out_bytes}),
    .level_o(unused_level)
  );

  always_comb begin
    m_cmd_tdata               = '0;
    m_cmd_tdata.addr          = out_addr;
    m_cmd_tdata.pkt.qpn       = 24'(out.qpn);
    m_cmd_tdata.pkt.ackreq    = out.ackreq;
    m_cmd_tdata.pkt.psn       = out.psn;
    m_cmd_tdata.pkt.pay_bytes = 14'(out_bytes);
    m_cmd_tdata.pkt.va        = out.raddr;
    m_cmd_tdata.pkt.rkey      = out.rkey;
    m_cmd_tdata.pkt.dma_len   = out.length;
    case ({out.first, out.last})
      2'b11: m_cmd_tdata.pkt.opcode = roce_pkg::OpWriteOnly;
      2'b10: m_cmd_tdata.pkt.opcode = roce_pkg::OpWriteFirst;
      2'b01: m_cmd_tdata.pkt.opcode = roce_pkg::OpWriteLast;
      default: m_cmd_tdata.pkt.opcode = roce_pkg::OpWriteMiddle;
    endcase
  end

  logic unused;
  assign unused = ^{put_req_i.lap, put_req_i.bad, put_req_i.last_psn, queue_ready, unused_level};

  `ROCEGEN_ASSERT(packet_never_lost, !valid_q[4] || queue_ready)
  `ROCEGEN_ASSERT(put_with_room, !put_valid_i || room_q)

endmodule

`default_nettype wire
