// sq_emit: turns a packet that sq_segment decided on into a command for dma_read.
//
// put_valid_i may come in every cycle in which room_o is high; the command is on m_cmd 5 cycles
// later (LowLatency: 2). The packet's place in its message, psn - first_psn, gives its byte offset:
// of the payload in host memory, or, of a READ that is asked for again from inside, of the rest
// that it asks for. FIRST and ONLY of a WRITE carry the RETH with the whole length; immediate data
// or the key to invalidate goes with LAST and ONLY; fields that an opcode does not have are zero.
// m_cmd may stall for any time: room_o falls when CmdDepth packets are inside, none is lost, and
// when two of 512 bytes or more are: what has been decided on early is sent in vain when a rewind
// comes.
//
// QpW: bits of a QPN, 1..14. LowLatency: 1, the address is added up in one cycle, and short ways
// lead round the queues.
`include "rocegen_assert.svh"
`default_nettype none

module sq_emit #(
  parameter int QpW = 4,
  parameter int LowLatency = 0
) (
  input  logic              clk,
  input  logic              rst,
  output logic              room_o,
  input  logic              put_valid_i,
  input  logic [roce_pkg::LifeW-1:0] put_life_i,
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

  // ---- room: packets on the way and in the queues -----------------------------------------------
  // A long packet counts as such in the cycle after its put_valid_i, so three may be inside.
  logic               taken;
  logic               valid0_q;
  logic [12:0]        bytes0_q;
  logic [12:0]        out_bytes;
  logic [1:0]         long_q;
  logic [1:0]         long_now;
  logic [1:0]         long_left;  // without the command at the output
  logic [1:0]         long_d;
  logic               room_q;
  logic [CreditW-1:0] credit_q;
  logic [CreditW-1:0] credit_d;

  assign taken = m_cmd_tvalid && m_cmd_tready;

  always_comb begin
    credit_d = credit_q;
    if (put_valid_i && !taken) credit_d = credit_q - 1'b1;
    else if (!put_valid_i && taken) credit_d = credit_q + 1'b1;
    long_d = taken ? long_left : long_now;
  end

  assign long_now  = long_q + 2'(valid0_q && bytes0_q[12:9] != '0);
  assign long_left = long_now - 2'(out_bytes[12:9] != '0);

  always_ff @(posedge clk) begin
    if (rst) begin
      credit_q <= CreditW'(CmdDepth);
      long_q   <= '0;
      room_q   <= 1'b0;
    end else begin
      credit_q <= credit_d;
      long_q   <= long_d;
      // Whether the command is taken is known last.
      room_q   <= taken ? !long_left[1] :
          credit_q != '0 && !(put_valid_i && credit_q == CreditW'(1)) && !long_now[1];
    end
  end

  assign room_o = room_q;

  // ---- what kind of packet ----------------------------------------------------------------------
  logic       is_read, is_atomic, is_write, has_imm, has_key;
  logic [7:0] opcode;

  assign is_read   = put_req_i.op == roce_pkg::WrRead[3:0];
  assign is_atomic = put_req_i.op == roce_pkg::WrCmpSwap[3:0] ||
      put_req_i.op == roce_pkg::WrFetchAdd[3:0];
  assign is_write  = put_req_i.op == roce_pkg::WrWrite[3:0] ||
      put_req_i.op == roce_pkg::WrWriteImm[3:0];
  assign has_imm   = put_req_i.op == roce_pkg::WrWriteImm[3:0] ||
      put_req_i.op == roce_pkg::WrSendImm[3:0];
  assign has_key   = put_req_i.op == roce_pkg::WrSendInv[3:0];

  always_comb begin
    case ({put_first_i, put_last_i})
      2'b11: opcode = is_write ? roce_pkg::OpWriteOnly : roce_pkg::OpSendOnly;
      2'b10: opcode = is_write ? roce_pkg::OpWriteFirst : roce_pkg::OpSendFirst;
      2'b01: opcode = is_write ? roce_pkg::OpWriteLast : roce_pkg::OpSendLast;
      default: opcode = is_write ? roce_pkg::OpWriteMiddle : roce_pkg::OpSendMiddle;
    endcase
    // The opcode with immediate data is the next one; with invalidate it is SEND's + 0x14 or 0x13.
    if (put_last_i && has_imm) opcode[0] = 1'b1;
    if (put_last_i && has_key) begin
      opcode = put_first_i ? roce_pkg::OpSendOnlyInv : roce_pkg::OpSendLastInv;
    end
    if (is_read) opcode = roce_pkg::OpReadRequest;
    if (is_atomic) begin
      opcode = put_req_i.op == roce_pkg::WrCmpSwap[3:0] ? roce_pkg::OpCmpSwap :
          roce_pkg::OpFetchAdd;
    end
  end

  // ---- where in its message ---------------------------------------------------------------------
  logic [23:0] number;
  logic [31:0] offset;
  logic [12:0] mtu;
  logic [12:0] rest;  // bytes of a last packet

  assign number = put_psn_i - put_req_i.first_psn;
  assign rest   = roce_pkg::last_bytes(put_req_i.length, put_pmtu_i);

  always_comb begin
    case (put_pmtu_i)
      3'd1: mtu = 13'd256;
      3'd2: mtu = 13'd512;
      3'd3: mtu = 13'd1024;
      3'd4: mtu = 13'd2048;
      default: mtu = 13'd4096;
    endcase
    case (put_pmtu_i)
      3'd1: offset = {number, 8'b0};
      3'd2: offset = {number[22:0], 9'b0};
      3'd3: offset = {number[21:0], 10'b0};
      3'd4: offset = {number[20:0], 11'b0};
      default: offset = {number[19:0], 12'b0};
    endcase
  end

  // ---- stages: low half of the address, high half (LowLatency: both at once) --------------------
  typedef struct packed {  // what waits for them
    logic [roce_pkg::LifeW-1:0] life;
    logic [QpW-1:0] qpn;
    logic [7:0]     opcode;
    logic           read;
    logic           se;
    logic           ackreq;
    logic [23:0]    psn;
    logic [2:0]     target;
    logic [63:0]    raddr;
    logic [31:0]    rkey;
    logic [31:0]    imm;
    logic [63:0]    compare;
  } packet_t;

  packet_t     p0_q;
  logic [63:0] base0_q;
  logic [31:0] offset0_q;
  logic [31:0] length0_q;
  logic [31:0] length0;
  logic        sum_valid;
  logic [63:0] sum_addr;
  logic [31:0] sum_length;
  logic [12:0] sum_bytes;

  always_ff @(posedge clk) begin
    if (rst) valid0_q <= 1'b0;
    else valid0_q <= put_valid_i;
  end

  always_ff @(posedge clk) begin
    p0_q.life    <= put_life_i;
    p0_q.qpn     <= put_qpn_i;
    p0_q.opcode  <= opcode;
    p0_q.read    <= is_read || is_atomic;
    p0_q.se      <= put_req_i.se && put_last_i;
    p0_q.ackreq  <= put_ackreq_i;
    p0_q.psn     <= put_psn_i;
    p0_q.target  <= is_read || is_atomic ? '0 : put_req_i.target;
    p0_q.raddr   <= put_req_i.raddr;
    p0_q.rkey    <= put_req_i.rkey;
    p0_q.imm     <= put_req_i.imm;
    p0_q.compare <= put_req_i.compare;
    if (!(is_read || is_atomic || (is_write && put_first_i))) begin
      p0_q.raddr <= '0;
      p0_q.rkey  <= '0;
    end
    if (!(is_atomic || (put_last_i && (has_imm || has_key)))) p0_q.imm <= '0;
    base0_q   <= is_read || is_atomic ? put_req_i.raddr : put_req_i.laddr;
    offset0_q <= offset;
    // Of an atomic this is half an operand.
    length0_q <= is_read || is_atomic || (is_write && put_first_i) ? put_req_i.length : '0;
    bytes0_q  <= is_read || is_atomic ? '0 : put_last_i ? rest : mtu;
  end

  assign length0 = length0_q - (p0_q.read ? offset0_q : '0);

  if (LowLatency != 0) begin : gen_sum
    assign sum_valid  = valid0_q;
    assign sum_addr   = base0_q + 64'(offset0_q);
    assign sum_length = length0;
    assign sum_bytes  = bytes0_q;
  end else begin : gen_stages
    logic        valid1_q;
    logic [31:0] high1_q;
    logic [31:0] low1_q;
    logic        carry1_q;
    logic [31:0] length1_q;
    logic [12:0] bytes1_q;
    logic        valid2_q;
    logic [63:0] addr2_q;
    logic [31:0] length2_q;
    logic [12:0] bytes2_q;

    always_ff @(posedge clk) begin
      if (rst) begin
        valid1_q <= 1'b0;
        valid2_q <= 1'b0;
      end else begin
        valid1_q <= valid0_q;
        valid2_q <= valid1_q;
      end
    end

    always_ff @(posedge clk) begin
      high1_q   <= base0_q[63:32];
      {carry1_q, low1_q} <= {1'b0, base0_q[31:0]} + {1'b0, offset0_q};
      length1_q <= length0;
      bytes1_q  <= bytes0_q;
      addr2_q   <= {high1_q + 32'(carry1_q), low1_q};
      length2_q <= length1_q;
      bytes2_q  <= bytes1_q;
    end

    assign sum_valid  = valid2_q;
    assign sum_addr   = addr2_q;
    assign sum_length = length2_q;
    assign sum_bytes  = bytes2_q;
  end

  // ---- queues: what waits goes in at once, the rest completes it --------------------------------
  localparam int PacketW = roce_pkg::LifeW + QpW + 230;

  logic               packet_ready;
  logic               rest_ready;
  logic               packet_valid;
  logic [CreditW-1:0] packet_level;
  logic [CreditW-1:0] rest_level;
  packet_t            out;
  logic [63:0]        out_addr;
  logic [31:0]        out_length;

  stream_fifo #(
    .Width(PacketW),
    .Depth(CmdDepth),
    .Bypass(LowLatency)
  ) u_packets (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(valid0_q),
    .s_axis_tready(packet_ready),
    .s_axis_tdata(p0_q),
    .m_axis_tvalid(packet_valid),
    .m_axis_tready(taken),
    .m_axis_tdata(out),
    .level_o(packet_level)
  );

  stream_fifo #(
    .Width(109),
    .Depth(CmdDepth),
    .Bypass(LowLatency)
  ) u_rest (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(sum_valid),
    .s_axis_tready(rest_ready),
    .s_axis_tdata({sum_addr, sum_length, sum_bytes}),
    .m_axis_tvalid(m_cmd_tvalid),
    .m_axis_tready(m_cmd_tready),
    .m_axis_tdata({out_addr, out_length, out_bytes}),
    .level_o(rest_level)
  );

  // Of a READ the sum is the remote address.
  always_comb begin
    m_cmd_tdata                = '0;
    m_cmd_tdata.target         = out.target;
    m_cmd_tdata.addr           = out.read ? '0 : out_addr;
    m_cmd_tdata.pkt.life       = out.life;
    m_cmd_tdata.pkt.qpn        = 24'(out.qpn);
    m_cmd_tdata.pkt.opcode     = out.opcode;
    m_cmd_tdata.pkt.se         = out.se;
    m_cmd_tdata.pkt.ackreq     = out.ackreq;
    m_cmd_tdata.pkt.psn        = out.psn;
    m_cmd_tdata.pkt.pay_bytes  = 14'(out_bytes);
    m_cmd_tdata.pkt.va         = out.read ? out_addr : out.raddr;
    m_cmd_tdata.pkt.rkey       = out.rkey;
    m_cmd_tdata.pkt.dma_len    = out_length;
    m_cmd_tdata.pkt.imm        = out.imm;
    {m_cmd_tdata.pkt.syndrome, m_cmd_tdata.pkt.msn, m_cmd_tdata.pkt.compare_lo} = out.compare;
  end

  logic unused;
  assign unused = ^{put_req_i.lap, put_req_i.bad, put_req_i.fence, put_req_i.last_psn, packet_ready,
      rest_ready, packet_level, rest_level};

  `ROCEGEN_ASSERT(packet_never_lost, (!valid0_q || packet_ready) && (!sum_valid || rest_ready))
  `ROCEGEN_ASSERT(long_bound, long_q != 2'd3 || !valid0_q || bytes0_q[12:9] == '0)
  `ROCEGEN_ASSERT(long_counted, !taken || out_bytes[12:9] == '0 || long_now != '0)
  `ROCEGEN_ASSERT(packet_is_first, !m_cmd_tvalid || packet_valid)
  `ROCEGEN_ASSERT(put_with_room, !put_valid_i || room_q)

endmodule

`default_nettype wire
