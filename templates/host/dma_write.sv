// dma_write: writes received payload to host memory over AXI4, behind one port or several.
//
// s_pay carries packets aligned to byte 0 with rx_cmd_t in tuser: `bytes` (0..16383, as many as the
// packet has) bytes go to `addr` (any alignment) behind port `target`. Exactly the bytes of the
// packet are written (WSTRB). m_done gives {err, rx_cmd_t} for every packet, in order, after all
// its write responses; err: one of them was an error. Of the command last, kind, idx, target, qpn
// and psn come back, the rest is zero. A packet of 0 bytes writes nothing, whatever its addr and
// target. One that does not lie below 2^AddrW, or whose target is not below Targets,
// is taken and not written: m_done with err. An err of kinds PayRequest and PayResponse (rsp 1)
// also gives one m_evt (EvtWriteErr); the atomic unit reports those of atomics itself. When m_done
// or m_evt is stalled, packets wait; none is lost.
//
// AXI4: INCR bursts of full-width beats, AxADDR as unaligned as the packet, one ID, at most
// MaxWrites bursts (and packets) outstanding, of all ports together. m_axi_wvalid of a burst rises
// after its m_axi_awvalid, and does not wait for m_axi_awready. Bursts go out and responses are
// taken in order of the packets, also between ports: a slow port holds back the others. Port t has
// bit t, or lane t, of each m_axi vector; addresses and data are the same in all lanes. Latency: 3
// cycles from s_pay to m_axi_awvalid, 4 + RotateStages to m_axi_wvalid (LowLatency: 2 and 2 +
// RotateStages); 1 cycle from the last m_axi_bvalid to m_done_tvalid. Throughput: one W beat a
// cycle; a packet takes as many cycles as it has W beats. s_pay_tready depends on registers only
// (LowLatency: and on m_axi_awready). A packet every k cycles needs MaxWrites of (L + 8) / k at a
// memory latency of L cycles.
//
// DataW: bits, 64..1024, a power of two. AddrW: bits of the AXI address, 20..64. MaxWrites:
// 2..1024. RotateStages: registers in the rotator, 1..4. Targets: AXI4 ports, 1..8. LowLatency: 1,
// no register in front of the burst cutter, a beat goes round an empty queue and may begin with its
// AW.
// rocegen: comb none
`include "rocegen_assert.svh"
`default_nettype none

module dma_write #(
  parameter int DataW = 512,
  parameter int AddrW = 64,
  parameter int MaxWrites = 128,
  parameter int RotateStages = 2,
  parameter int Targets = 1,
  parameter int LowLatency = 0
) (
  input  logic                        clk,
  input  logic                        rst,
  input  logic                        s_pay_tvalid,
  output logic                        s_pay_tready,
  input  logic [DataW-1:0]            s_pay_tdata,
  input  logic [DataW/8-1:0]          s_pay_tkeep,
  input  logic                        s_pay_tlast,
  input  logic [roce_pkg::RxCmdW-1:0] s_pay_tuser,
  output logic [Targets-1:0]          m_axi_awvalid,
  input  logic [Targets-1:0]         m_axi_awready,
  output logic [Targets-1:0]          m_axi_awid,
  output logic [Targets*AddrW-1:0]    m_axi_awaddr,
  output logic [Targets*8-1:0]        m_axi_awlen,
  output logic [Targets*3-1:0]        m_axi_awsize,
  output logic [Targets*2-1:0]        m_axi_awburst,
  output logic [Targets*4-1:0]        m_axi_awcache,
  output logic [Targets*3-1:0]        m_axi_awprot,
  output logic [Targets-1:0]          m_axi_wvalid,
  input  logic [Targets-1:0]         m_axi_wready,
  output logic [Targets*DataW-1:0]    m_axi_wdata,
  output logic [Targets*DataW/8-1:0]  m_axi_wstrb,
  output logic [Targets-1:0]          m_axi_wlast,
  input  logic [Targets-1:0]         m_axi_bvalid,
  output logic [Targets-1:0]          m_axi_bready,
  input  logic [Targets-1:0]         m_axi_bid,
  input  logic [Targets*2-1:0]        m_axi_bresp,
  output logic                        m_done_tvalid,
  input  logic                        m_done_tready,
  output logic [roce_pkg::RxCmdW:0]   m_done_tdata,
  output logic                        m_evt_tvalid,
  input  logic                        m_evt_tready,
  output logic [roce_pkg::QpEvtW-1:0] m_evt_tdata
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "dma_write: DataW must be a power of two, 64..1024");
  end
  if (AddrW < 20 || AddrW > 64) begin : gen_check_addr
    $fatal(1, "dma_write: AddrW must be 20..64");
  end
  if (MaxWrites < 2 || MaxWrites > 1024) begin : gen_check_writes
    $fatal(1, "dma_write: MaxWrites must be 2..1024");
  end
  if (RotateStages < 1 || RotateStages > 4) begin : gen_check_rotate
    $fatal(1, "dma_write: RotateStages must be 1..4");
  end
  if (Targets < 1 || Targets > 8) begin : gen_check_targets
    $fatal(1, "dma_write: Targets must be 1..8");
  end

  localparam int Bytes = DataW / 8;
  localparam int ByteW = $clog2(Bytes);
  localparam int ChunkW = DataW >= 128 ? 12 : 8 + ByteW;  // bursts end at this boundary
  localparam int IndexW = ChunkW - ByteW;
  localparam int BeatsW = 15 - ByteW;
  localparam int WhoW = 62;  // what m_done gives back of a command
  localparam int PortW = Targets > 1 ? $clog2(Targets) : 1;  // bits of a port's number

  // ---- packet: what its first beat tells ----
  roce_pkg::rx_cmd_t cmd;
  logic [ByteW-1:0]  cmd_offset;
  logic [13:0]       cmd_bytes_m1;
  logic [14:0]       cmd_span_m1;  // last byte, counted from the start of the first W beat
  logic [14:0]       cmd_low_end;  // last byte, counted from the last 16 KB boundary
  logic [2:0]        cmd_target;
  logic              cmd_beyond;
  logic              cmd_bad;
  logic              cmd_none;
  logic              cmd_extra;

  assign cmd = s_pay_tuser;
  assign cmd_target = cmd.target;
  assign cmd_offset = cmd.addr[ByteW-1:0];
  assign cmd_bytes_m1 = cmd.bytes - 14'd1;
  assign cmd_span_m1 = 15'(cmd_bytes_m1) + 15'(cmd_offset);
  assign cmd_low_end = 15'(cmd.addr[13:0]) + 15'(cmd_bytes_m1);
  if (AddrW < 64) begin : gen_upper
    assign cmd_beyond = cmd.addr[63:AddrW] != '0;
  end else begin : gen_no_upper
    assign cmd_beyond = 1'b0;
  end
  assign cmd_bad = (cmd.bytes != '0) &&
                   (cmd_beyond || (cmd_low_end[14] && (&cmd.addr[AddrW-1:14])) ||
                    (4'(cmd_target) >= 4'(Targets)));
  assign cmd_none = cmd_bad || (cmd.bytes == '0);
  // One W beat more than the packet has beats.
  assign cmd_extra = !cmd_none && (cmd_span_m1[ByteW] != cmd_bytes_m1[ByteW]);

  // The rest of the command was for those in front.
  logic unused_cmd;
  assign unused_cmd = ^{cmd_low_end[13:0], cmd};

  // ---- input: the command to the burst cutter, the beat to the rotator; taken when both are ----
  logic first_q;  // next beat is the first of its packet
  logic sent_q;  // its command has gone ahead
  logic req_valid;
  logic req_ready;
  logic beat_ready;
  logic take;

  assign req_valid = s_pay_tvalid && first_q && !sent_q;
  assign s_pay_tready = beat_ready && (!first_q || sent_q || req_ready);
  assign take = s_pay_tvalid && s_pay_tready;

  always_ff @(posedge clk) begin
    if (rst) begin
      first_q <= 1'b1;
      sent_q  <= 1'b0;
    end else if (take) begin
      first_q <= s_pay_tlast;
      sent_q  <= 1'b0;
    end else if (req_valid && req_ready) begin
      sent_q <= 1'b1;
    end
  end

  localparam int ReqW = BeatsW + 2 + WhoW + AddrW;
  logic              cut_valid;
  logic              cut_ready;
  logic [BeatsW-1:0] cut_beats_m1;
  logic              cut_bad;
  logic              cut_none;
  logic [WhoW-1:0]   cut_who;
  logic [AddrW-1:0]  cut_addr;

  logic [ReqW-1:0]   req;

  assign req = {cmd_span_m1[14:ByteW], cmd_bad, cmd_none, cmd.target, cmd.last, cmd.kind, cmd.idx,
                cmd.qpn, cmd.psn, cmd.addr[AddrW-1:0]};

  if (LowLatency != 0) begin : gen_req_direct
    assign cut_valid = req_valid;
    assign req_ready = cut_ready;
    assign {cut_beats_m1, cut_bad, cut_none, cut_who, cut_addr} = req;
  end else begin : gen_req
    stream_skid #(
      .Width(ReqW)
    ) u_req (
      .clk(clk),
      .rst(rst),
      .s_axis_tvalid(req_valid),
      .s_axis_tready(req_ready),
      .s_axis_tdata(req),
      .m_axis_tvalid(cut_valid),
      .m_axis_tready(cut_ready),
      .m_axis_tdata({cut_beats_m1, cut_bad, cut_none, cut_who, cut_addr})
    );
  end

  // ---- bursts: each enters AW and the queue of those that wait for B ----
  logic                        burst_valid;
  logic                        burst_ready;
  logic [AddrW-1:0]            burst_addr;
  logic [7:0]                  burst_len;
  logic                        burst_final;
  logic                        burst_none;
  logic                        burst_bad;
  logic [WhoW-1:0]             burst_who;
  logic [2:0]                  burst_target;
  logic                        wait_ready;
  logic                        aw_free;
  logic                        aw_load;
  logic [Targets-1:0]          aw_to;  // the port, when aw_load
  logic [Targets-1:0]          aw_valid_q;  // at most one
  logic [AddrW-1:0]            aw_addr_q;
  logic [7:0]                  aw_len_q;

  axi_burst #(
    .DataW(DataW),
    .AddrW(AddrW),
    .UserW(1 + WhoW)
  ) u_burst (
    .clk(clk),
    .rst(rst),
    .s_req_tvalid(cut_valid),
    .s_req_tready(cut_ready),
    .s_req_addr_i(cut_addr),
    .s_req_beats_m1_i(cut_beats_m1),
    .s_req_none_i(cut_none),
    .s_req_user_i({cut_bad, cut_who}),
    .m_burst_tvalid(burst_valid),
    .m_burst_tready(burst_ready),
    .m_burst_addr_o(burst_addr),
    .m_burst_len_o(burst_len),
    .m_burst_final_o(burst_final),
    .m_burst_none_o(burst_none),
    .m_burst_user_o({burst_bad, burst_who})
  );

  assign burst_target = burst_who[WhoW-1 -: 3];
  assign aw_free = (aw_valid_q & ~m_axi_awready) == '0;
  assign burst_ready = wait_ready && (aw_free || burst_none);
  assign aw_load = burst_valid && wait_ready && aw_free && !burst_none;

  always_ff @(posedge clk) begin
    if (rst) aw_valid_q <= '0;
    else if (aw_free) aw_valid_q <= aw_to;
  end

  always_ff @(posedge clk) begin
    if (aw_free) begin
      aw_addr_q <= burst_addr;
      aw_len_q  <= burst_len;
    end
  end

  assign m_axi_awvalid = aw_valid_q;
  assign m_axi_awaddr = {Targets{aw_addr_q}};
  assign m_axi_awlen = {Targets{aw_len_q}};
  assign m_axi_awid = '0;
  assign m_axi_awsize = {Targets{3'(ByteW)}};
  assign m_axi_awburst = {Targets{2'b01}};  // INCR
  assign m_axi_awcache = {Targets{4'b0011}};  // normal, bufferable
  assign m_axi_awprot = '0;

  // ---- write responses ----
  logic                        wait_valid;
  logic                        wait_final;
  logic                        wait_none;
  logic                        wait_bad;
  logic [Targets-1:0]          wait_port;  // one-hot
  logic                        answered;
  logic                        refused;
  roce_pkg::rx_cmd_t           wait_cmd;
  logic [2:0]                  wait_target;
  logic                        wait_last;
  logic [1:0]                  wait_kind;
  logic [7:0]                  wait_idx;
  logic [23:0]                 wait_qpn;
  logic [23:0]                 wait_psn;
  logic                        done_ready;
  logic                        evt_ready;
  logic                        collect;
  logic                        failed;
  logic                        failed_q;
  roce_pkg::qp_evt_t           evt;

  logic [$clog2(MaxWrites+1)-1:0] unused_wait_level;
  stream_fifo #(
    .Width(3 + WhoW),
    .Depth(MaxWrites),
    .Style(0)
  ) u_wait (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(burst_valid && (aw_free || burst_none)),
    .s_axis_tready(wait_ready),
    .s_axis_tdata({burst_final, burst_none, burst_bad, burst_who}),
    .m_axis_tvalid(wait_valid),
    .m_axis_tready(collect),
    .m_axis_tdata({wait_final, wait_none, wait_bad, wait_target, wait_last, wait_kind, wait_idx,
                   wait_qpn, wait_psn}),
    .level_o(unused_wait_level)
  );

  always_comb begin
    wait_cmd = '0;
    wait_cmd.last = wait_last;
    wait_cmd.kind = wait_kind;
    wait_cmd.idx = wait_idx;
    wait_cmd.target = wait_target;
    wait_cmd.qpn = wait_qpn;
    wait_cmd.psn = wait_psn;
  end

  if (Targets == 1) begin : gen_one_port
    logic unused_target;
    assign unused_target = ^{burst_target, wait_target};
    assign aw_to = aw_load;
    assign wait_port = 1'b1;
  end else begin : gen_ports
    assign aw_to = Targets'(aw_load) << burst_target;
    assign wait_port = Targets'(1) << wait_target;
  end

  always_comb begin
    answered = 1'b0;
    refused = 1'b0;
    for (int t = 0; t < Targets; t++) begin
      answered = answered || (wait_port[t] && m_axi_bvalid[t]);
      refused = refused || (wait_port[t] && m_axi_bresp[2*t+1]);
    end
  end

  assign m_axi_bready = {Targets{wait_valid && !wait_none && done_ready && evt_ready}} & wait_port;
  assign collect = wait_valid && done_ready && evt_ready && (wait_none || answered);
  assign failed = failed_q || wait_bad || (!wait_none && refused);
  assign evt = {wait_idx[roce_pkg::LifeW-1:0], roce_pkg::EvtWriteErr,
                wait_kind == roce_pkg::PayResponse, wait_psn, wait_qpn};

  always_ff @(posedge clk) begin
    if (rst) failed_q <= 1'b0;
    else if (collect) failed_q <= failed && !wait_final;
  end

  logic unused_b;
  assign unused_b = ^{m_axi_bid, m_axi_bresp};

  stream_skid #(
    .Width(1 + roce_pkg::RxCmdW)
  ) u_done (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(collect && wait_final),
    .s_axis_tready(done_ready),
    .s_axis_tdata({failed, wait_cmd}),
    .m_axis_tvalid(m_done_tvalid),
    .m_axis_tready(m_done_tready),
    .m_axis_tdata(m_done_tdata)
  );

  stream_skid #(
    .Width(roce_pkg::QpEvtW)
  ) u_evt (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(collect && wait_final && failed && !wait_kind[1]),
    .s_axis_tready(evt_ready),
    .s_axis_tdata(evt),
    .m_axis_tvalid(m_evt_tvalid),
    .m_axis_tready(m_evt_tready),
    .m_axis_tdata(m_evt_tdata)
  );

  // ---- beats: each step is a W beat, or drops a beat of a packet that is not written ----
  // A step needs its burst's AW, three cycles after the beat: the FIFO hides them. With LowLatency
  // it may come in the cycle in which AW is loaded.
  localparam int BeatW = DataW + 4 + PortW + 2 * ByteW + IndexW;
  logic              beat_valid;
  logic [DataW-1:0]  beat_data;
  logic              beat_first;
  logic              beat_last;
  logic              beat_write;
  logic              beat_extra;
  logic [ByteW-1:0]  beat_offset;
  logic [ByteW-1:0]  beat_end;  // last byte lane of the last W beat
  logic [IndexW-1:0] beat_index;  // place of the first W beat between two boundaries
  logic [PortW-1:0]  beat_port;
  logic              beat_done;

  logic [4:0] unused_beat_level;
  stream_fifo #(
    .Width(BeatW),
    .Depth(16),
    .Style(3),
    .Bypass(LowLatency)
  ) u_beats (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(s_pay_tvalid && (!first_q || sent_q || req_ready)),
    .s_axis_tready(beat_ready),
    .s_axis_tdata({first_q, s_pay_tlast, !cmd_none, cmd_extra, cmd_target[PortW-1:0], cmd_offset,
                   cmd_span_m1[ByteW-1:0], cmd.addr[ByteW +: IndexW], s_pay_tdata}),
    .m_axis_tvalid(beat_valid),
    .m_axis_tready(beat_done),
    .m_axis_tdata({beat_first, beat_last, beat_write, beat_extra, beat_port, beat_offset,
                   beat_end, beat_index, beat_data}),
    .level_o(unused_beat_level)
  );

  localparam int CreditW = $clog2(MaxWrites + 2);
  logic               tail_q;  // the step after the packet's last beat
  logic [IndexW-1:0]  index_q;
  logic [IndexW-1:0]  index;
  logic [CreditW-1:0] credit_q;  // bursts that AW has shown and W has not begun
  logic               first;
  logic               last;
  logic               begins;
  logic               step;
  logic               advance;

  assign first = beat_first && !tail_q;
  assign last = tail_q || (beat_last && !beat_extra);
  assign index = first ? beat_index : index_q;
  assign begins = beat_write && (first || (index_q == '0));
  assign step = beat_valid && advance &&
                (!begins || (credit_q != '0) || (LowLatency != 0 && aw_load));
  assign beat_done = step && (!beat_last || last);

  always_ff @(posedge clk) begin
    if (rst) begin
      tail_q   <= 1'b0;
      credit_q <= '0;
    end else begin
      if (step) tail_q <= beat_last && !last;
      credit_q <= credit_q + CreditW'(aw_load) - CreditW'(step && begins);
    end
  end

  always_ff @(posedge clk) begin
    if (step) index_q <= index + 1'b1;
  end

  // Byte lanes from the packet's beat; those below come from the beat before it.
  logic [Bytes-1:0] step_new;
  logic [Bytes-1:0] step_strb;
  always_comb begin
    for (int j = 0; j < Bytes; j++) begin
      step_new[j] = ByteW'(j) >= beat_offset;
      step_strb[j] = (!first || step_new[j]) && (!last || (ByteW'(j) <= beat_end));
    end
  end

  // ---- rotator, and its control beside it ----
  localparam int CtrlW = 1 + PortW + 2 * Bytes;
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
    .data_i(beat_data),
    .amount_i(-beat_offset),
    .data_o(rotated)
  );

  assign step_ctrl = {last || (&index), beat_port, step_strb, step_new};

  if (RotateStages == 1) begin : gen_pipe_one
    always_ff @(posedge clk) begin
      if (rst) pipe_valid_q <= '0;
      else if (advance) pipe_valid_q <= step && beat_write;
      if (advance) pipe_ctrl_q <= step_ctrl;
    end
  end else begin : gen_pipe_more
    always_ff @(posedge clk) begin
      if (rst) pipe_valid_q <= '0;
      else if (advance) pipe_valid_q <= {pipe_valid_q[RotateStages-2:0], step && beat_write};
      if (advance) pipe_ctrl_q <= {pipe_ctrl_q[(RotateStages-1)*CtrlW-1:0], step_ctrl};
    end
  end

  // ---- merge with the earlier beat ----
  logic             end_last;
  logic [PortW-1:0] end_port;
  logic [Bytes-1:0] end_strb;
  logic [Bytes-1:0] end_new;
  logic [DataW-1:0] merged;
  logic [DataW-1:0] old_q;
  logic [DataW-1:0] w_data_q;
  logic [Bytes-1:0] w_strb_q;
  logic             w_last_q;
  logic [Targets-1:0] w_valid_q;  // at most one

  assign {end_last, end_port, end_strb, end_new} = pipe_ctrl_q[(RotateStages-1)*CtrlW +: CtrlW];

  always_comb begin
    for (int j = 0; j < Bytes; j++) begin
      merged[j*8 +: 8] = end_new[j] ? rotated[j*8 +: 8] : old_q[j*8 +: 8];
    end
  end

  assign advance = (w_valid_q & ~m_axi_wready) == '0;

  if (Targets == 1) begin : gen_w_one
    logic unused_port;
    assign unused_port = ^end_port;
    always_ff @(posedge clk) begin
      if (rst) w_valid_q <= 1'b0;
      else if (advance) w_valid_q <= pipe_valid_q[RotateStages-1];
    end
  end else begin : gen_w_more
    always_ff @(posedge clk) begin
      if (rst) w_valid_q <= '0;
      else if (advance) w_valid_q <= Targets'(pipe_valid_q[RotateStages-1]) << end_port;
    end
  end

  always_ff @(posedge clk) begin
    if (advance && pipe_valid_q[RotateStages-1]) old_q <= rotated;
    if (advance) begin
      w_data_q <= merged;
      w_strb_q <= end_strb;
      w_last_q <= end_last;
    end
  end

  assign m_axi_wvalid = w_valid_q;
  assign m_axi_wdata = {Targets{w_data_q}};
  assign m_axi_wstrb = {Targets{w_strb_q}};
  assign m_axi_wlast = {Targets{w_last_q}};

  `ROCEGEN_STREAM(pay_contract, s_pay_tvalid, s_pay_tready,
                  {s_pay_tuser, s_pay_tlast, s_pay_tkeep, s_pay_tdata})
  `ROCEGEN_PACKET(pay_packet, s_pay_tvalid, s_pay_tlast, s_pay_tkeep)
  `ROCEGEN_ASSERT(pay_length, !(s_pay_tvalid && s_pay_tlast) ||
                  (ByteW'($countones(s_pay_tkeep)) == cmd.bytes[ByteW-1:0]))
  `ROCEGEN_ASSERT(credit_bound, 32'(credit_q) <= MaxWrites)

endmodule

`default_nettype wire
