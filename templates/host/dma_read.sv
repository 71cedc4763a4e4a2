// dma_read: fetches the payload of frames to send from host memory over AXI4, behind one port or
// several.
//
// s_cmd carries tx_cmd_t: read pkt.pay_bytes (0..16383) bytes at addr (any alignment) behind port
// `target`. m_pkt gives one packet a command, in order, also between ports: the bytes aligned to
// byte 0, tuser = {err, tx_pkt_t}. err is valid with tlast and set when any beat was answered with
// an error. A command of 0 bytes reads nothing, whatever its addr and target, and gives one beat
// with tkeep zero. A transfer that does not lie below 2^AddrW, or whose target is not below
// Targets, is not issued and gives one beat with tkeep zero and err set. Every packet with err also
// gives one m_evt: EvtReadErr with the packet's psn, rsp = the packet is a READ response. Packets
// wait when m_evt is stalled for long, no event is lost.
//
// AXI4: INCR bursts of full-width beats, AxADDR as unaligned as the command, one ID, at most
// MaxReads bursts and MaxReads commands outstanding, of all ports together. Space in the port's
// buffer is reserved before a burst is issued, so that R never waits (m_axi_rready is high from the
// second cycle after reset). Port t has bit t, or lane t, of each m_axi vector; AR's payload is the
// same in all lanes, and AR goes out in order between ports.
// Latency: 3 cycles from s_cmd to m_axi_arvalid; 3 + RotateStages from m_axi_rvalid to
// m_pkt_tvalid, one more when the first bytes span two beats (LowLatency: 2 and 2 + RotateStages).
// Throughput: one R beat a cycle; a
// command takes as many cycles as it has R beats, or one more than it has output beats when
// unaligned and longer than a beat. m_pkt_tready stops the rotator combinationally; s_cmd_tready
// depends on registers only. Full rate at a memory latency of L cycles needs BufBeats of L + 16 and
// a longest burst; a command every k cycles needs MaxReads of (L + 16) / k.
//
// DataW: bits, 64..1024, a power of two. AddrW: bits of the AXI address, 20..64. BufBeats: beats of
// a port's data buffer, at least a longest burst (MaxPayload at any address, at most 4096 bytes or
// 256 beats). MaxPayload: bytes that a command may ask for, 256 at least. MaxReads: 2..1024.
// RotateStages: registers in the rotator, 1..4. Targets: AXI4 ports, 1..8. LowLatency: 1, a burst
// is issued without a register in front, and a beat goes round an empty buffer.
// rocegen: comb none
`include "rocegen_assert.svh"
`default_nettype none

module dma_read #(
  parameter int DataW = 512,
  parameter int AddrW = 64,
  parameter int BufBeats = 512,
  parameter int MaxPayload = 4096,
  parameter int MaxReads = 192,
  parameter int RotateStages = 2,
  parameter int Targets = 1,
  parameter int LowLatency = 0
) (
  input  logic                        clk,
  input  logic                        rst,
  input  logic                        s_cmd_tvalid,
  output logic                        s_cmd_tready,
  input  logic [roce_pkg::TxCmdW-1:0] s_cmd_tdata,
  output logic [Targets-1:0]          m_axi_arvalid,
  input  logic [Targets-1:0]          m_axi_arready,
  output logic [Targets-1:0]          m_axi_arid,
  output logic [Targets*AddrW-1:0]    m_axi_araddr,
  output logic [Targets*8-1:0]        m_axi_arlen,
  output logic [Targets*3-1:0]        m_axi_arsize,
  output logic [Targets*2-1:0]        m_axi_arburst,
  output logic [Targets*4-1:0]        m_axi_arcache,
  output logic [Targets*3-1:0]        m_axi_arprot,
  input  logic [Targets-1:0]          m_axi_rvalid,
  output logic [Targets-1:0]          m_axi_rready,
  input  logic [Targets-1:0]          m_axi_rid,
  input  logic [Targets*DataW-1:0]    m_axi_rdata,
  input  logic [Targets*2-1:0]        m_axi_rresp,
  input  logic [Targets-1:0]          m_axi_rlast,
  output logic                        m_pkt_tvalid,
  input  logic                        m_pkt_tready,
  output logic [DataW-1:0]            m_pkt_tdata,
  output logic [DataW/8-1:0]          m_pkt_tkeep,
  output logic                        m_pkt_tlast,
  output logic [roce_pkg::TxPktW:0]   m_pkt_tuser,
  output logic                        m_evt_tvalid,
  input  logic                        m_evt_tready,
  output logic [roce_pkg::QpEvtW-1:0] m_evt_tdata
);

  localparam int Bytes = DataW / 8;
  localparam int ByteW = $clog2(Bytes);
  // A burst ends at its payload, at 256 beats and at 4 KiB of address.
  localparam int PayloadBeats = (MaxPayload - 2) / Bytes + 2;
  localparam int PageBeats = DataW >= 128 ? 4096 / Bytes : 256;
  localparam int BurstBeats = PayloadBeats < PageBeats ? PayloadBeats : PageBeats;
  localparam int PortW = Targets > 1 ? $clog2(Targets) : 1;  // bits of a port's number

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "dma_read: DataW must be a power of two, 64..1024");
  end
  if (AddrW < 20 || AddrW > 64) begin : gen_check_addr
    $fatal(1, "dma_read: AddrW must be 20..64");
  end
  if (BufBeats < BurstBeats) begin : gen_check_buf
    $fatal(1, "dma_read: BufBeats must hold a longest burst");
  end
  if (MaxReads < 2 || MaxReads > 1024) begin : gen_check_reads
    $fatal(1, "dma_read: MaxReads must be 2..1024");
  end
  if (RotateStages < 1 || RotateStages > 4) begin : gen_check_rotate
    $fatal(1, "dma_read: RotateStages must be 1..4");
  end
  if (Targets < 1 || Targets > 8) begin : gen_check_targets
    $fatal(1, "dma_read: Targets must be 1..8");
  end

  // ---- command: how many beats come in and go out ----
  localparam int OutW = 14 - ByteW;  // bits of a number of output beats, minus one

  roce_pkg::tx_cmd_t cmd;
  logic [ByteW-1:0]  cmd_offset;
  logic [13:0]       cmd_bytes_m1;
  logic [14:0]       cmd_span_m1;  // last byte, counted from the start of the first input beat
  logic [14:0]       cmd_low_end;  // last byte, counted from the last 16 KB boundary
  logic [2:0]        cmd_target;
  logic              cmd_beyond;
  logic              cmd_bad;
  logic              cmd_none;
  logic              cmd_shifted;
  logic              cmd_flush;

  assign cmd = s_cmd_tdata;
  assign cmd_target = cmd.target;
  assign cmd_offset = cmd.addr[ByteW-1:0];
  assign cmd_bytes_m1 = cmd.pkt.pay_bytes - 14'd1;
  assign cmd_span_m1 = 15'(cmd_bytes_m1) + 15'(cmd_offset);
  assign cmd_low_end = 15'(cmd.addr[13:0]) + 15'(cmd_bytes_m1);
  if (AddrW < 64) begin : gen_upper
    assign cmd_beyond = cmd.addr[63:AddrW] != '0;
  end else begin : gen_no_upper
    assign cmd_beyond = 1'b0;
  end
  assign cmd_bad = (cmd.pkt.pay_bytes != '0) &&
                   (cmd_beyond || (cmd_low_end[14] && (&cmd.addr[AddrW-1:14])) ||
                    (4'(cmd_target) >= 4'(Targets)));
  assign cmd_none = cmd_bad || (cmd.pkt.pay_bytes == '0);
  // Output beat k joins input beats k and k + 1; the first input beat alone gives nothing.
  assign cmd_shifted = !cmd_none && (cmd_offset != '0) && (cmd_span_m1[14:ByteW] != '0);
  // The last output beat needs no further input beat.
  assign cmd_flush = cmd_shifted && (cmd_span_m1[ByteW] == cmd_bytes_m1[ByteW]);

  logic cmd_low_end_unused;
  assign cmd_low_end_unused = ^cmd_low_end[13:0];

  localparam int HeadW = 4 + PortW + ByteW + 14 + roce_pkg::TxPktW;
  logic             head_s_ready;
  logic             head_valid;
  logic             head_ready;
  logic [HeadW-1:0] head_record;
  logic             req_ready;

  assign s_cmd_tready = head_s_ready && req_ready;

  logic [$clog2(MaxReads+1)-1:0] unused_head_level;
  stream_fifo #(
    .Width(HeadW),
    .Depth(MaxReads),
    .Style(0)
  ) u_heads (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(s_cmd_tvalid && req_ready),
    .s_axis_tready(head_s_ready),
    .s_axis_tdata({cmd_bad, cmd_none, cmd_shifted, cmd_flush, cmd_target[PortW-1:0], cmd_offset,
                   cmd_bytes_m1, cmd.pkt}),
    .m_axis_tvalid(head_valid),
    .m_axis_tready(head_ready),
    .m_axis_tdata(head_record),
    .level_o(unused_head_level)
  );

  // ---- bursts, issued when the buffer has room for all their beats ----
  localparam int RoomW = $clog2(BufBeats + 1);
  localparam int ReadsW = $clog2(MaxReads + 1);

  logic              burst_valid;
  logic              burst_ready;
  logic [AddrW-1:0]  burst_addr;
  logic [7:0]        burst_len;
  logic              burst_final;
  logic              burst_none;
  logic [PortW-1:0]  burst_port;
  logic              issue_valid;
  logic [PortW-1:0]  issue_port;
  logic [AddrW-1:0]  issue_addr;
  logic [7:0]        issue_len;
  logic              issue;
  logic              ar_ready;
  logic [Targets*RoomW-1:0] room_q;
  logic [RoomW-1:0]  issue_room;
  logic [ReadsW-1:0] reads_q;
  logic [Targets-1:0] burst_ends;
  logic [Targets-1:0] issue_to;
  logic [Targets-1:0] buf_pop;

  axi_burst #(
    .DataW(DataW),
    .AddrW(AddrW),
    .UserW(PortW)
  ) u_burst (
    .clk(clk),
    .rst(rst),
    .s_req_tvalid(s_cmd_tvalid && head_s_ready && !cmd_none),
    .s_req_tready(req_ready),
    .s_req_addr_i(cmd.addr[AddrW-1:0]),
    .s_req_beats_m1_i(cmd_span_m1[14:ByteW]),
    .s_req_none_i(1'b0),
    .s_req_user_i(cmd_target[PortW-1:0]),
    .m_burst_tvalid(burst_valid),
    .m_burst_tready(burst_ready),
    .m_burst_addr_o(burst_addr),
    .m_burst_len_o(burst_len),
    .m_burst_final_o(burst_final),
    .m_burst_none_o(burst_none),
    .m_burst_user_o(burst_port)
  );

  logic unused_burst;
  assign unused_burst = ^{burst_final, burst_none};

  // Room is a long way to the commands: between them stands a register.
  if (LowLatency != 0) begin : gen_issue_direct
    assign issue_valid = burst_valid;
    assign burst_ready = issue;
    assign {issue_port, issue_addr, issue_len} = {burst_port, burst_addr, burst_len};
  end else begin : gen_issue
    stream_skid #(
      .Width(PortW + AddrW + 8)
    ) u_issue (
      .clk(clk),
      .rst(rst),
      .s_axis_tvalid(burst_valid),
      .s_axis_tready(burst_ready),
      .s_axis_tdata({burst_port, burst_addr, burst_len}),
      .m_axis_tvalid(issue_valid),
      .m_axis_tready(issue),
      .m_axis_tdata({issue_port, issue_addr, issue_len})
    );
  end

  assign issue = issue_valid && ar_ready && (issue_room > RoomW'(issue_len)) &&
                 (reads_q != ReadsW'(MaxReads));
  assign burst_ends = m_axi_rvalid & m_axi_rready & m_axi_rlast;

  always_ff @(posedge clk) begin
    if (rst) begin
      room_q        <= {Targets{RoomW'(BufBeats)}};
      reads_q       <= '0;
    end else begin
      for (int t = 0; t < Targets; t++) begin
        room_q[t*RoomW +: RoomW] <= room_q[t*RoomW +: RoomW] + RoomW'(buf_pop[t]) -
                                    (issue_to[t] ? RoomW'(issue_len) + 1'b1 : RoomW'(0));
      end
      reads_q <= reads_q + ReadsW'(issue) - ReadsW'(4'($countones(burst_ends)));
    end
  end

  logic             ar_valid;
  logic             ar_taken;
  logic [PortW-1:0] ar_port;
  logic [AddrW-1:0] ar_addr;
  logic [7:0]       ar_len;
  stream_skid #(
    .Width(PortW + AddrW + 8)
  ) u_ar (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(issue),
    .s_axis_tready(ar_ready),
    .s_axis_tdata({issue_port, issue_addr, issue_len}),
    .m_axis_tvalid(ar_valid),
    .m_axis_tready(ar_taken),
    .m_axis_tdata({ar_port, ar_addr, ar_len})
  );

  if (Targets == 1) begin : gen_one_port
    logic unused_port;
    assign unused_port = ^{issue_port, ar_port, head_port};
    assign issue_room = room_q;
    assign issue_to = issue;
    assign m_axi_arvalid = ar_valid;
    assign ar_taken = m_axi_arready;
    assign head_to = 1'b1;
  end else begin : gen_ports
    logic [(1<<PortW)*RoomW-1:0] rooms;  // ports beyond Targets are never named
    assign rooms = ((1<<PortW)*RoomW)'(room_q);
    assign issue_room = rooms[RoomW*issue_port +: RoomW];
    assign issue_to = Targets'(issue) << issue_port;
    assign m_axi_arvalid = Targets'(ar_valid) << ar_port;
    assign ar_taken = (m_axi_arvalid & m_axi_arready) != '0;
    assign head_to = Targets'(1) << head_port;
  end

  assign m_axi_araddr = {Targets{ar_addr}};
  assign m_axi_arlen = {Targets{ar_len}};
  assign m_axi_arid = '0;
  assign m_axi_arsize = {Targets{3'(ByteW)}};
  assign m_axi_arburst = {Targets{2'b01}};  // INCR
  assign m_axi_arcache = {Targets{4'b0011}};  // normal, bufferable
  assign m_axi_arprot = '0;

  // ---- data buffers ----
  logic [Targets-1:0]           bufs_valid;
  logic [Targets*(DataW+1)-1:0] bufs_word;
  logic [Targets-1:0]           head_to;  // one-hot: the buffer that the head's beats come from
  logic                         buf_valid;
  logic                         buf_err;
  logic [DataW-1:0]             buf_data;
  logic                         take;

  for (genvar t = 0; t < Targets; t++) begin : gen_buffer
    logic [RoomW-1:0] unused_level;
    stream_fifo #(
      .Width(DataW + 1),
      .Depth(BufBeats),
      .Style(0),
      .Bypass(LowLatency)
    ) u_buffer (
      .clk(clk),
      .rst(rst),
      .s_axis_tvalid(m_axi_rvalid[t]),
      .s_axis_tready(m_axi_rready[t]),
      .s_axis_tdata({m_axi_rresp[2*t+1], m_axi_rdata[t*DataW +: DataW]}),
      .m_axis_tvalid(bufs_valid[t]),
      .m_axis_tready(buf_pop[t]),
      .m_axis_tdata(bufs_word[t*(DataW+1) +: DataW+1]),
      .level_o(unused_level)
    );
    `ROCEGEN_ASSERT(buffer_never_full, !m_axi_rvalid[t] || m_axi_rready[t])
    `ROCEGEN_ASSERT(room_bound, 32'(room_q[t*RoomW +: RoomW]) <= BufBeats)
  end

  assign buf_valid = (bufs_valid & head_to) != '0;
  assign buf_pop = {Targets{take}} & head_to;
  always_comb begin
    {buf_err, buf_data} = bufs_word[DataW:0];
    for (int t = 1; t < Targets; t++) begin
      if (head_to[t]) {buf_err, buf_data} = bufs_word[t*(DataW+1) +: DataW+1];
    end
  end

  logic unused_r;
  assign unused_r = ^{m_axi_rid, m_axi_rresp};

  // ---- steps: one input beat, or a flush, enters the rotator ----
  logic              head_bad;
  logic              head_none;
  logic              head_shifted;
  logic              head_flush;
  logic [PortW-1:0]  head_port;
  logic [ByteW-1:0]  head_offset;
  logic [13:0]       head_bytes_m1;
  roce_pkg::tx_pkt_t head_pkt;
  assign {head_bad, head_none, head_shifted, head_flush, head_port, head_offset, head_bytes_m1,
          head_pkt} = head_record;

  logic            first_q;  // next step is the first of its packet
  logic [OutW-1:0] left_q;  // output beats still to come, minus one
  logic            err_q;
  logic [OutW-1:0] left;
  logic            emit;
  logic            last;
  logic            no_beat;
  logic            step_err;
  logic            advance;
  logic            step;
  logic            evt_ready;

  assign left = first_q ? head_bytes_m1[13:ByteW] : left_q;
  assign emit = !(first_q && head_shifted);
  assign last = emit && ((left == '0) || head_none);
  assign no_beat = head_none || (head_flush && last);
  assign step = head_valid && advance && (no_beat || buf_valid) && (!last || evt_ready);
  assign step_err = (!first_q && err_q) || head_bad || (!no_beat && buf_err);
  assign head_ready = step && last;
  assign take = step && !no_beat;

  always_ff @(posedge clk) begin
    if (rst) first_q <= 1'b1;
    else if (step) first_q <= last;
  end

  always_ff @(posedge clk) begin
    if (step) begin
      err_q  <= step_err;
      left_q <= emit ? left - 1'b1 : left;
    end
  end

  logic              head_rsp;
  roce_pkg::qp_evt_t evt;
  assign head_rsp = (head_pkt.opcode == roce_pkg::OpReadRespFirst) ||
                    (head_pkt.opcode == roce_pkg::OpReadRespMiddle) ||
                    (head_pkt.opcode == roce_pkg::OpReadRespLast) ||
                    (head_pkt.opcode == roce_pkg::OpReadRespOnly);
  assign evt = {head_pkt.life, roce_pkg::EvtReadErr, head_rsp, head_pkt.psn, head_pkt.qpn};

  logic [3-1:0] unused_evt_level;
  stream_fifo #(
    .Width(roce_pkg::QpEvtW),
    .Depth(4),
    .Style(3)
  ) u_events (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(step && last && step_err),
    .s_axis_tready(evt_ready),
    .s_axis_tdata(evt),
    .m_axis_tvalid(m_evt_tvalid),
    .m_axis_tready(m_evt_tready),
    .m_axis_tdata(m_evt_tdata),
    .level_o(unused_evt_level)
  );

  // Bytes of an output beat that come from the earlier input beat.
  logic [Bytes-1:0] step_old;
  always_comb begin
    for (int j = 0; j < Bytes; j++) begin
      step_old[j] = head_shifted && (head_offset <= ByteW'(Bytes - 1 - j));
    end
  end

  // ---- rotator, and its control beside it ----
  localparam int CtrlW = 4 + ByteW + Bytes + roce_pkg::TxPktW;
  logic [RotateStages-1:0]       pipe_valid_q;
  logic [RotateStages*CtrlW-1:0] pipe_ctrl_q;
  logic [CtrlW-1:0]              step_ctrl;
  logic [DataW-1:0]              rotated;

  byte_rotate #(
    .Bytes(Bytes),
    .Stages(RotateStages)
  ) u_rotate (
    .clk(clk),
    .ce_i(advance),
    .data_i(buf_data),
    .amount_i(head_offset),
    .data_o(rotated)
  );

  assign step_ctrl = {emit, last, last && step_err, head_none, head_bytes_m1[ByteW-1:0], step_old,
                      head_pkt};

  if (RotateStages == 1) begin : gen_pipe_one
    always_ff @(posedge clk) begin
      if (rst) pipe_valid_q <= '0;
      else if (advance) pipe_valid_q <= step;
      if (advance) pipe_ctrl_q <= step_ctrl;
    end
  end else begin : gen_pipe_more
    always_ff @(posedge clk) begin
      if (rst) pipe_valid_q <= '0;
      else if (advance) pipe_valid_q <= {pipe_valid_q[RotateStages-2:0], step};
      if (advance) pipe_ctrl_q <= {pipe_ctrl_q[(RotateStages-1)*CtrlW-1:0], step_ctrl};
    end
  end

  // ---- merge with the earlier beat ----
  logic                        end_valid;
  logic                        end_emit;
  logic                        end_last;
  logic                        end_err;
  logic                        end_none;
  logic [ByteW-1:0]            end_tail_m1;
  logic [Bytes-1:0]            end_old;
  logic [roce_pkg::TxPktW-1:0] end_pkt;
  logic [DataW-1:0]            merged;
  logic [Bytes-1:0]            end_keep;
  logic [DataW-1:0]            old_q;
  logic                        out_valid_q;

  assign end_valid = pipe_valid_q[RotateStages-1];
  assign {end_emit, end_last, end_err, end_none, end_tail_m1, end_old, end_pkt} =
         pipe_ctrl_q[(RotateStages-1)*CtrlW +: CtrlW];

  always_comb begin
    for (int j = 0; j < Bytes; j++) begin
      merged[j*8 +: 8] = end_old[j] ? old_q[j*8 +: 8] : rotated[j*8 +: 8];
      end_keep[j] = !end_last || (!end_none && (ByteW'(j) <= end_tail_m1));
    end
  end

  assign advance = m_pkt_tready || !out_valid_q;

  always_ff @(posedge clk) begin
    if (rst) out_valid_q <= 1'b0;
    else if (advance) out_valid_q <= end_valid && end_emit;
  end

  always_ff @(posedge clk) begin
    if (advance && end_valid) old_q <= rotated;
    if (advance) begin
      m_pkt_tdata <= merged;
      m_pkt_tkeep <= end_keep;
      m_pkt_tlast <= end_last;
      m_pkt_tuser <= {end_err, end_pkt};
    end
  end

  assign m_pkt_tvalid = out_valid_q;

  `ROCEGEN_STREAM(cmd_contract, s_cmd_tvalid, s_cmd_tready, s_cmd_tdata)
  `ROCEGEN_ASSERT(reads_bound, 32'(reads_q) <= MaxReads)

endmodule

`default_nettype wire
