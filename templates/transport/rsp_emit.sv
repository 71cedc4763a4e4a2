// rsp_emit: turns a packet that rsp_serve decided on into a command for dma_read.
//
// put_valid_i may come in every cycle in which room_o is high. A packet with bytes asks for its
// region (mr_req_o, mr_index_o; mr_entry_i belongs to the cycle two before in which mr_gnt_i was
// high with mr_req_o); the region must be valid, of the key's variant and the QP's protection
// domain, allow reading and hold all bytes. Else the packet becomes a NAK (remote access error) and
// the QP dies. It also dies with a packet that says so (kill). Of a dead QP no further packet
// leaves. m_evt names each QP that died of a fault of its own; packets wait while an event does.
//
// Owner of the bit that tells whether a QP lives, told on alive_*_o, which also clears it for all
// QPs after reset, and of the QP's life. set_valid_i, only while idle_o, changes both. idle_o: in
// the cycle before no packet was in front of the queue of commands or came; this does not depend on
// m_cmd.
//
// Latency: 9 cycles from put_valid_i to m_cmd with a grant at once; a packet a cycle. m_cmd may
// stall for any time: room_o falls when Depth packets are inside, none is lost.
//
// QpW: bits of a QPN, 1..14.
`include "rocegen_assert.svh"
`default_nettype none

module rsp_emit #(
  parameter int QpW = 4
) (
  input  logic               clk,
  input  logic               rst,
  output logic               ready_o,
  output logic               idle_o,
  input  logic               set_valid_i,
  input  logic [QpW-1:0]     set_qpn_i,
  input  logic               set_alive_i,
  input  logic [roce_pkg::LifeW-1:0] set_life_i,
  output logic               alive_we_o,
  output logic [QpW-1:0]     alive_qpn_o,
  output logic               alive_o,
  output logic               room_o,
  input  logic               put_valid_i,
  input  logic [QpW-1:0]     put_qpn_i,
  input  roce_pkg::rsp_put_t put_i,
  output logic               mr_req_o,
  output logic [23:0]        mr_index_o,
  input  logic               mr_gnt_i,
  // The index is the asker's own, of the rights only one is asked for, of the length only 2^40.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::mr_cfg_t  mr_entry_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic               m_cmd_tvalid,
  input  logic               m_cmd_tready,
  output roce_pkg::tx_cmd_t  m_cmd_tdata,
  output logic               m_evt_tvalid,
  input  logic               m_evt_tready,
  output roce_pkg::qp_evt_t  m_evt_tdata,
  output logic               cnt_rd_revoked_o,
  output logic               cnt_rd_failed_o
);

  localparam int Depth = 16;
  localparam int CreditW = $clog2(Depth + 1);
  localparam int Rows = 1 << QpW;
  localparam int LifeW = roce_pkg::LifeW;

  // ---- room: packets inside ---------------------------------------------------------------------
  logic               taken;
  logic               gone;  // a dead QP's packet
  logic               room_q;
  logic [CreditW-1:0] credit_q;
  logic [CreditW-1:0] credit_d;

  assign taken    = m_cmd_tvalid && m_cmd_tready;
  assign credit_d = credit_q + CreditW'(taken) + CreditW'(gone) - CreditW'(put_valid_i);

  always_ff @(posedge clk) begin
    if (rst) begin
      credit_q <= CreditW'(Depth);
      room_q   <= 1'b0;
    end else begin
      credit_q <= credit_d;
      room_q   <= credit_d != '0;
    end
  end

  assign room_o = room_q;

  // ---- packets that wait for their region -------------------------------------------------------
  logic               wait_ready;
  logic               wait_valid;
  logic               go;
  logic [CreditW-1:0] wait_level;
  logic [QpW-1:0]     qpn;
  roce_pkg::rsp_put_t put;
  logic               event_waits_q;

  stream_fifo #(
    .Width(QpW + roce_pkg::RspPutW),
    .Depth(Depth)
  ) u_wait (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(put_valid_i),
    .s_axis_tready(wait_ready),
    .s_axis_tdata({put_qpn_i, put_i}),
    .m_axis_tvalid(wait_valid),
    .m_axis_tready(go),
    .m_axis_tdata({qpn, put}),
    .level_o(wait_level)
  );

  assign mr_req_o   = wait_valid && put.look && !event_waits_q;
  assign mr_index_o = put.rkey[31:8];
  assign go         = wait_valid && !event_waits_q && (!put.look || mr_gnt_i);

  // ---- stages: 1 offset, 2 region's entry and low half of the address, 3 high half, offset in the
  // region, 4 is it inside, 5 verdict -------------------------------------------------------------
  typedef struct packed {  // what the stages pass on
    logic [QpW-1:0] qpn;
    logic [1:0]     kind;
    logic           look;
    logic           kill;
    logic           tell;
    logic           first;
    logic           last;
    logic [7:0]     syndrome;
    logic [23:0]    psn;
    logic [23:0]    msn;
    logic [12:0]    bytes;
  } packet_t;

  localparam int PacketW = QpW + 76;

  logic [5:1]  valid_q;
  packet_t     p1_q;
  packet_t     p2_q;
  packet_t     p3_q;
  packet_t     p4_q;
  packet_t     p5_q;
  logic [31:0] offset;
  logic [31:0] offset1_q;
  logic [63:0] va1_q;
  logic [7:0]  variant1_q;
  logic [15:0] pd1_q;
  logic [31:0] high2_q;
  logic        carry2_q;
  logic [31:0] low2_q;
  logic [7:0]  variant2_q;
  logic [15:0] pd2_q;
  logic [63:0] addr3_q;
  logic [63:0] base3_q;
  logic [41:0] limit2;
  logic [40:0] limit3_q;  // largest offset that leaves room for all bytes
  logic        fits3_q;
  logic [2:0]  target3_q;
  logic [63:0] addr4_q;
  logic [63:0] place4_q;  // of the first byte within the region
  logic [40:0] limit4_q;
  logic        fits4_q;
  logic [2:0]  target4_q;
  logic [63:0] addr5_q;
  logic [2:0]  target5_q;
  logic        inside5_q;

  always_comb begin
    case (put.pmtu)
      3'd1: offset = {put.number, 8'b0};
      3'd2: offset = {put.number[22:0], 9'b0};
      3'd3: offset = {put.number[21:0], 10'b0};
      3'd4: offset = {put.number[20:0], 11'b0};
      default: offset = {put.number[19:0], 12'b0};
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) valid_q <= '0;
    else valid_q <= {valid_q[4:1], go};
  end

  assign limit2 = {1'b0, mr_entry_i.length[40:0]} - 42'(p2_q.bytes);

  always_ff @(posedge clk) begin
    p1_q.qpn      <= qpn;
    p1_q.kind     <= put.kind;
    p1_q.look     <= put.look;
    p1_q.kill     <= put.kill;
    p1_q.tell     <= put.tell;
    p1_q.first    <= put.first;
    p1_q.last     <= put.last;
    p1_q.syndrome <= put.syndrome;
    p1_q.psn      <= put.psn;
    p1_q.msn      <= put.msn;
    p1_q.bytes    <= put.bytes;
    offset1_q     <= offset;
    va1_q         <= put.va;
    variant1_q    <= put.rkey[7:0];
    pd1_q         <= put.pd;

    p2_q       <= p1_q;
    high2_q    <= va1_q[63:32];
    {carry2_q, low2_q} <= {1'b0, va1_q[31:0]} + {1'b0, offset1_q};
    variant2_q <= variant1_q;
    pd2_q      <= pd1_q;

    p3_q      <= p2_q;
    addr3_q   <= {high2_q + 32'(carry2_q), low2_q};
    base3_q   <= mr_entry_i.base;
    limit3_q  <= limit2[40:0];
    fits3_q   <= mr_entry_i.valid && mr_entry_i.variant == variant2_q && mr_entry_i.pd == pd2_q &&
        mr_entry_i.access[roce_pkg::AccRead] && !limit2[41];
    target3_q <= mr_entry_i.target;

    p4_q      <= p3_q;
    addr4_q   <= addr3_q;
    place4_q  <= addr3_q - base3_q;
    limit4_q  <= limit3_q;
    fits4_q   <= fits3_q;
    target4_q <= target3_q;

    p5_q      <= p4_q;
    addr5_q   <= addr4_q;
    target5_q <= target4_q;
    inside5_q <= fits4_q && place4_q[63:41] == '0 && place4_q[40:0] <= limit4_q;
  end

  // ---- 5: verdict -------------------------------------------------------------------------------
  logic alive_read;
  logic died_q;  // the packet before was the last of this QP
  logic alive;
  logic revoked;
  logic dies;
  logic [LifeW-1:0] life;  // of the QP, whether it still lives or not

  assign alive   = alive_read && !died_q;
  assign revoked = p5_q.look && !inside5_q;
  assign dies    = valid_q[5] && alive && (p5_q.kill || revoked);
  assign gone    = valid_q[5] && !alive;

  always_ff @(posedge clk) begin
    if (rst) died_q <= 1'b0;
    else died_q <= (valid_q[5] && !alive || dies) && p5_q.qpn == p4_q.qpn;
  end

  // Cleared after reset, in all copies: a QP that was never set up is dead.
  logic           ready_q;
  logic [QpW-1:0] clear_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      ready_q <= 1'b0;
      clear_q <= '0;
    end else if (!ready_q) begin
      ready_q <= clear_q == '1;
      clear_q <= clear_q + 1'b1;
    end
  end

  assign ready_o     = ready_q;
  assign alive_we_o  = !ready_q || set_valid_i || dies;
  assign alive_qpn_o = !ready_q ? clear_q : set_valid_i ? set_qpn_i : p5_q.qpn;
  assign alive_o     = ready_q && set_valid_i && set_alive_i;

  ram_sdp #(
    .Width(1 + LifeW),
    .Depth(Rows)
  ) u_alive (
    .clk(clk),
    .wr_en_i(alive_we_o),
    .wr_addr_i(alive_qpn_o),
    .wr_data_i({alive_o, set_valid_i ? set_life_i : life}),
    .rd_en_i(1'b1),
    .rd_addr_i(p4_q.qpn),
    .rd_data_o({alive_read, life})
  );

  // ---- commands ---------------------------------------------------------------------------------
  logic [1:0]         out_kind;
  logic [7:0]         out_syndrome;
  logic [63:0]        out_addr;
  logic [12:0]        out_bytes;
  logic [2:0]         out_target;
  logic               queue_ready;
  logic [CreditW-1:0] unused_queue_level;
  logic [LifeW-1:0]   cmd_life;
  logic [QpW-1:0]     cmd_qpn;
  logic [1:0]         cmd_kind;
  logic [1:0]         cmd_place;
  logic [7:0]         cmd_syndrome;
  logic [23:0]        cmd_psn;
  logic [23:0]        cmd_msn;
  logic [12:0]        cmd_bytes;
  logic [2:0]         cmd_target;
  logic [63:0]        cmd_addr;

  always_comb begin
    out_kind     = revoked ? roce_pkg::RspAnswer : p5_q.kind;
    out_syndrome = revoked ? roce_pkg::SynNakAccess : p5_q.syndrome;
    out_bytes    = revoked ? '0 : p5_q.bytes;
    out_target   = p5_q.look && !revoked ? target5_q : '0;
    out_addr     = addr5_q;
  end

  stream_fifo #(
    .Width(LifeW + PacketW + 64),
    .Depth(Depth)
  ) u_queue (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(valid_q[5] && alive),
    .s_axis_tready(queue_ready),
    .s_axis_tdata({life, p5_q.qpn, out_kind, p5_q.first, p5_q.last, out_syndrome, p5_q.psn,
        p5_q.msn, out_bytes, out_target, out_addr}),
    .m_axis_tvalid(m_cmd_tvalid),
    .m_axis_tready(m_cmd_tready),
    .m_axis_tdata({cmd_life, cmd_qpn, cmd_kind, cmd_place, cmd_syndrome, cmd_psn, cmd_msn,
        cmd_bytes, cmd_target, cmd_addr}),
    .level_o(unused_queue_level)
  );

  // An address goes with bytes only, a value with an atomic's acknowledge only.
  always_comb begin
    m_cmd_tdata               = '0;
    m_cmd_tdata.target        = cmd_target;
    m_cmd_tdata.addr          = cmd_bytes == '0 ? '0 : cmd_addr;
    m_cmd_tdata.pkt.life      = cmd_life;
    m_cmd_tdata.pkt.qpn       = 24'(cmd_qpn);
    m_cmd_tdata.pkt.psn       = cmd_psn;
    m_cmd_tdata.pkt.pay_bytes = 14'(cmd_bytes);
    m_cmd_tdata.pkt.va        = cmd_kind == roce_pkg::RspAtomic ? cmd_addr : '0;
    m_cmd_tdata.pkt.syndrome  = cmd_syndrome;
    m_cmd_tdata.pkt.msn       = cmd_msn;
    case (cmd_kind)
      roce_pkg::RspAtomic: m_cmd_tdata.pkt.opcode = roce_pkg::OpAtomicAck;
      roce_pkg::RspAnswer: m_cmd_tdata.pkt.opcode = roce_pkg::OpAck;
      default: begin
        case (cmd_place)
          2'b11: m_cmd_tdata.pkt.opcode = roce_pkg::OpReadRespOnly;
          2'b10: m_cmd_tdata.pkt.opcode = roce_pkg::OpReadRespFirst;
          2'b01: m_cmd_tdata.pkt.opcode = roce_pkg::OpReadRespLast;
          default: m_cmd_tdata.pkt.opcode = roce_pkg::OpReadRespMiddle;
        endcase
      end
    endcase
  end

  // ---- events: at most those of the packets behind the region are added to one that waits -------
  logic               event_ready;
  logic [CreditW-1:0] event_level;
  logic               event_access;
  logic [23:0]        event_psn;
  logic [QpW-1:0]     event_qpn;
  logic [LifeW-1:0]   event_life;

  stream_fifo #(
    .Width(1 + 24 + QpW + LifeW),
    .Depth(Depth)
  ) u_events (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(dies && (revoked || p5_q.tell)),
    .s_axis_tready(event_ready),
    .s_axis_tdata({revoked, p5_q.psn, p5_q.qpn, life}),
    .m_axis_tvalid(m_evt_tvalid),
    .m_axis_tready(m_evt_tready),
    .m_axis_tdata({event_access, event_psn, event_qpn, event_life}),
    .level_o(event_level)
  );

  assign m_evt_tdata.cause = event_access ? roce_pkg::EvtNakAccess : roce_pkg::EvtReadErr;
  assign m_evt_tdata.rsp   = 1'b1;
  assign m_evt_tdata.psn   = event_psn;
  assign m_evt_tdata.qpn   = 24'(event_qpn);
  assign m_evt_tdata.life  = event_life;

  always_ff @(posedge clk) begin
    if (rst) begin
      event_waits_q    <= 1'b0;
      cnt_rd_revoked_o <= 1'b0;
      cnt_rd_failed_o  <= 1'b0;
    end else begin
      event_waits_q    <= event_level != '0;
      cnt_rd_revoked_o <= dies && revoked;
      cnt_rd_failed_o  <= dies && !revoked && p5_q.tell;
    end
  end

  // Of the cycle before: whoever looks must know that no packet comes.
  always_ff @(posedge clk) begin
    idle_o <= !put_valid_i && !wait_valid && wait_level == '0 && valid_q == '0;
  end

  logic unused;
  assign unused = ^{wait_ready, queue_ready, unused_queue_level, event_ready};

  `ROCEGEN_ASSERT(put_with_room, !put_valid_i || (room_q && wait_ready))
  `ROCEGEN_ASSERT(command_never_lost, !(valid_q[5] && alive) || queue_ready)
  `ROCEGEN_ASSERT(event_never_lost, !dies || event_ready)
  `ROCEGEN_ASSERT(set_while_idle, !set_valid_i || idle_o)

endmodule

`default_nettype wire
