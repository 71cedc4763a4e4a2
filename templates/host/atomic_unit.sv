// atomic_unit: carries out CmpSwap and FetchAdd on host memory, several at a time.
//
// s_atomic carries atomic_req_t; m_result gives one atomic_res_t for each: the original value of
// the 8 bytes at addr. Memory holds numbers little-endian. An atomic occupies a slot from s_atomic
// until its result is taken. In the slot it waits (1) until written_i, the modular count of
// PayRequest packets that are in memory, has reached its tag, and (2) until all atomics at its
// address that came before it have left their slots; so there is one at a time at an address, in
// order of arrival. (Addresses are compared by a hash of 12 bits: two others wait for each other
// without need once in 4096.) Then it reads, and unless a comparison fails it writes: m_write
// carries the new 8 bytes (tuser rx_cmd_t with the atomic's kind, target and addr, and idx = the
// slot), for pay_route to hand to dma_write; done_i tells that the write of slot done_slot_i is in
// memory, done_err_i that memory refused it. Results of different addresses come in any order. An
// error of the read gives err and no write, one of the write gives err; addr beyond 2^AddrW, or a
// target not below Targets, gives err and no access. Low bits of addr (2:0) are ignored. There is
// no m_evt: who takes the result makes the event.
//
// s_cfg, from cfg_order.m_drain, is taken when no atomic of the QP's former life is left in here or
// on its way to here: Settle cycles after it came, sent_i is read, the modular count of atomics
// that the responder has handed on so far; when they have all come in, the slots that are taken
// then are remembered, and s_cfg is taken when they have been left, whatever came later. Software
// has taken the QP to RESET or ERR before its set-up.
//
// AXI4: AR and R only, single full-width beats at addr, one ID, at most Slots outstanding. R is
// taken whatever the other sides do (with several ports: at most one beat a cycle). Port t has bit
// t, or lane t, of each m_axi vector. Handshake: s_atomic_tready depends on registers only; it
// falls when all slots are taken. A stalled m_write or m_result holds back slots, nothing else.
// Latency: 6 cycles from s_atomic to m_axi_arvalid when nothing is in the way, 5 from m_axi_rvalid
// to m_write_tvalid or 8 to m_result_tvalid without a write, 3 from done_i to m_result_tvalid.
// Throughput: up to one a cycle, Slots in a round of memory latencies (read, and write response).
//
// DataW: bits of the data bus, 64..1024, a power of two. AddrW: bits of the AXI address, 20..64.
// Slots: atomics in flight, 2..32. Targets: AXI4 ports, 1..8. Settle: cycles, 1..1023;
// rx_responder's pipeline needs 13.
// rocegen: comb none
`include "rocegen_assert.svh"
`default_nettype none

module atomic_unit #(
  parameter int DataW = 512,
  parameter int AddrW = 64,
  parameter int Slots = 8,
  parameter int Targets = 1,
  parameter int Settle = 64
) (
  input  logic                            clk,
  input  logic                            rst,
  input  logic                            s_atomic_tvalid,
  output logic                            s_atomic_tready,
  input  logic [roce_pkg::AtomicReqW-1:0] s_atomic_tdata,
  input  logic [11:0]                     written_i,
  input  logic                            s_cfg_tvalid,
  output logic                            s_cfg_tready,
  // A set-up of any QP is waited for in the same way.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::qp_cfg_t               s_cfg_tdata,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [11:0]                     sent_i,
  output logic [Targets-1:0]              m_axi_arvalid,
  input  logic [Targets-1:0]              m_axi_arready,
  output logic [Targets*AddrW-1:0]        m_axi_araddr,
  input  logic [Targets-1:0]              m_axi_rvalid,
  output logic [Targets-1:0]              m_axi_rready,
  input  logic [Targets*DataW-1:0]        m_axi_rdata,
  input  logic [Targets*2-1:0]            m_axi_rresp,
  output logic                            m_write_tvalid,
  input  logic                            m_write_tready,
  output logic [63:0]                     m_write_tdata,
  output logic [roce_pkg::RxCmdW-1:0]     m_write_tuser,
  input  logic                            done_i,
  input  logic [7:0]                      done_slot_i,
  input  logic                            done_err_i,
  output logic                            m_result_tvalid,
  input  logic                            m_result_tready,
  output logic [roce_pkg::AtomicResW-1:0] m_result_tdata
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "atomic_unit: DataW must be a power of two, 64..1024");
  end
  if (AddrW < 20 || AddrW > 64) begin : gen_check_addr
    $fatal(1, "atomic_unit: AddrW must be 20..64");
  end
  if (Slots < 2 || Slots > 32) begin : gen_check_slots
    $fatal(1, "atomic_unit: Slots must be 2..32");
  end
  if (Targets < 1 || Targets > 8) begin : gen_check_targets
    $fatal(1, "atomic_unit: Targets must be 1..8");
  end
  if (Settle < 1 || Settle > 1023) begin : gen_check_settle
    $fatal(1, "atomic_unit: Settle must be 1..1023");
  end

  localparam int SlotW = $clog2(Slots);
  localparam int PortW = Targets > 1 ? $clog2(Targets) : 1;
  localparam int ByteW = $clog2(DataW / 8);
  localparam int LaneW = ByteW > 3 ? ByteW - 3 : 1;  // which 8 bytes of a beat
  localparam int HashW = 12;
  localparam int BarrierDepth = Slots < 3 ? 3 : Slots;

  // ---- slots ----
  logic [Slots-1:0]       busy_q;  // taken
  logic [Slots-1:0]       open_q;  // the data in front of it is in memory
  logic [Slots-1:0]       ready_q;  // open, and nobody at its address came before
  logic [Slots-1:0]       issued_q;
  logic [Slots-1:0]       got_q;  // has its original value
  logic [Slots-1:0]       finished_q;
  logic [Slots-1:0]       err_q;
  logic [Slots*Slots-1:0] wait_q;  // bit s*Slots + j: slot s waits for slot j
  logic [Slots*HashW-1:0] hash_q;

  logic [Slots-1:0]       enter_to;  // one-hot, or zero
  logic [Slots-1:0]       opened;
  logic [Slots-1:0]       issue_pick;
  logic [Slots-1:0]       refused;
  logic [Slots-1:0]       arrived;
  logic [Slots-1:0]       arrived_err;
  logic [Slots-1:0]       compute_pick;
  logic [Slots-1:0]       unwritten;
  logic [Slots-1:0]       written;
  logic [Slots-1:0]       result_pick;
  logic [Slots-1:0]       leave;

  // ---- entry ----
  roce_pkg::atomic_req_t req;
  logic [63:0]           req_addr;
  logic [2:0]            req_target;
  logic                  req_bad;
  logic [HashW-1:0]      req_hash;
  logic                  enter;
  logic                  barrier_room;
  logic [Slots-1:0]      free_first;
  logic [SlotW-1:0]      enter_slot;
  logic [Slots-1:0]      same_hash;

  assign req = s_atomic_tdata;
  assign req_addr = req.addr;
  assign req_target = req.target;
  assign s_atomic_tready = !(&busy_q) && barrier_room;  // which is low only right after reset
  assign enter = s_atomic_tvalid && s_atomic_tready;

  if (AddrW < 64) begin : gen_upper
    assign req_bad = (req_addr[63:AddrW] != '0) || (4'(req_target) >= 4'(Targets));
  end else begin : gen_no_upper
    assign req_bad = 4'(req_target) >= 4'(Targets);
  end

  always_comb begin
    req_hash = '0;
    for (int b = 3; b < AddrW; b++) begin
      req_hash[(b-3)%HashW] = req_hash[(b-3)%HashW] ^ req_addr[b];
    end
  end

  arb_grant #(
    .N(Slots),
    .Priority(1)
  ) u_free (
    .clk(clk),
    .rst(rst),
    .req_i(~busy_q),
    .take_i(1'b0),
    .grant_o(free_first)
  );
  assign enter_to = free_first & {Slots{enter}};

  always_comb begin
    enter_slot = '0;
    for (int s = 0; s < Slots; s++) begin
      if (free_first[s]) enter_slot = enter_slot | SlotW'(s);
      same_hash[s] = hash_q[s*HashW +: HashW] == req_hash;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      busy_q     <= '0;
      open_q     <= '0;
      ready_q    <= '0;
      issued_q   <= '0;
      got_q      <= '0;
      finished_q <= '0;
    end else begin
      busy_q     <= (busy_q | enter_to) & ~leave;
      open_q     <= (open_q | opened) & ~enter_to;
      issued_q   <= (issued_q | issue_pick) & ~enter_to;
      got_q      <= (got_q | arrived) & ~compute_pick;
      finished_q <= (finished_q | refused | unwritten | written) & ~result_pick;
      for (int s = 0; s < Slots; s++) begin
        ready_q[s] <= open_q[s] && (wait_q[s*Slots +: Slots] == '0) && !enter_to[s];
      end
    end
  end

  always_ff @(posedge clk) begin
    for (int s = 0; s < Slots; s++) begin
      if (enter_to[s]) hash_q[s*HashW +: HashW] <= req_hash;
      if (enter_to[s]) wait_q[s*Slots +: Slots] <= busy_q & same_hash & ~leave;
      else wait_q[s*Slots +: Slots] <= wait_q[s*Slots +: Slots] & ~leave;
    end
    err_q <= (err_q | refused | arrived_err | (written & {Slots{done_err_i}})) & ~enter_to;
  end

  // ---- write barrier: tags grow in order of arrival, so one comparison will do ----
  logic             barrier_valid;
  logic             barrier_open;
  logic [SlotW-1:0] barrier_slot;
  logic [11:0]      barrier_tag;

  logic [$clog2(BarrierDepth+1)-1:0] unused_barrier_level;
  stream_fifo #(
    .Width(SlotW + 12),
    .Depth(BarrierDepth),
    .Style(3)
  ) u_barrier (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(enter),
    .s_axis_tready(barrier_room),
    .s_axis_tdata({enter_slot, req.tag}),
    .m_axis_tvalid(barrier_valid),
    .m_axis_tready(barrier_open),
    .m_axis_tdata({barrier_slot, barrier_tag}),
    .level_o(unused_barrier_level)
  );
  assign barrier_open = ((written_i - barrier_tag) & 12'h800) == '0;  // not negative
  assign opened = Slots'(barrier_valid && barrier_open) << barrier_slot;

  // ---- issue: one slot a cycle reads its address, then memory ----
  localparam int IssueW = 1 + PortW + AddrW - 3;
  logic              issue_valid_q;
  logic              issue_next;
  logic              issue_bad;
  logic [SlotW-1:0]  issue_slot_q;
  logic              issue_any;
  logic [SlotW-1:0]  issue_index;
  logic [PortW-1:0]  issue_port;
  logic [AddrW-4:0]  issue_addr;
  logic [Targets-1:0] issue_to;  // one-hot

  atomic_pick #(
    .Slots(Slots)
  ) u_issue (
    .clk(clk),
    .rst(rst),
    .req_i(ready_q & ~issued_q),
    .pick_o(issue_pick),
    .m_slot_tvalid(issue_any),
    .m_slot_tready(issue_next),
    .m_slot_tdata(issue_index)
  );

  ram_sdp #(
    .Width(IssueW),
    .Depth(Slots),
    .Latency(1),
    .Style(3)
  ) u_issue_ram (
    .clk(clk),
    .wr_en_i(enter),
    .wr_addr_i(enter_slot),
    .wr_data_i({req_bad, req_target[PortW-1:0], req_addr[AddrW-1:3]}),
    .rd_en_i(issue_next),
    .rd_addr_i(issue_index),
    .rd_data_o({issue_bad, issue_port, issue_addr})
  );

  always_ff @(posedge clk) begin
    if (rst) issue_valid_q <= 1'b0;
    else if (issue_next) issue_valid_q <= issue_any;
    if (issue_next) issue_slot_q <= issue_index;
  end

  if (Targets == 1) begin : gen_one_port
    logic unused_port;
    assign unused_port = ^issue_port;
    assign issue_to = 1'b1;
  end else begin : gen_ports
    assign issue_to = Targets'(1) << issue_port;
  end

  assign m_axi_arvalid = issue_to & {Targets{issue_valid_q && !issue_bad}};
  assign m_axi_araddr = {Targets{{issue_addr, 3'b000}}};
  assign issue_next = !issue_valid_q || issue_bad || ((m_axi_arready & issue_to) != '0);
  assign refused = Slots'(issue_valid_q && issue_bad) << issue_slot_q;

  // ---- answers: each port's come in the order of its addresses ----
  logic [Targets-1:0]               order_valid;
  logic [Targets*(SlotW+LaneW)-1:0] order_record;
  logic [Targets-1:0]               order_pop;
  logic [LaneW-1:0]                 issue_lane;

  if (ByteW > 3) begin : gen_lanes
    assign issue_lane = issue_addr[LaneW-1:0];
  end else begin : gen_one_lane
    assign issue_lane = 1'b0;
  end

  logic [Targets-1:0] order_room;
  for (genvar t = 0; t < Targets; t++) begin : gen_order
    logic [$clog2(BarrierDepth+1)-1:0] unused_level;
    stream_fifo #(
      .Width(SlotW + LaneW),
      .Depth(BarrierDepth),
      .Style(3)
    ) u_order (
      .clk(clk),
      .rst(rst),
      .s_axis_tvalid(m_axi_arvalid[t] && m_axi_arready[t]),
      .s_axis_tready(order_room[t]),
      .s_axis_tdata({issue_slot_q, issue_lane}),
      .m_axis_tvalid(order_valid[t]),
      .m_axis_tready(order_pop[t]),
      .m_axis_tdata(order_record[t*(SlotW+LaneW) +: SlotW+LaneW]),
      .level_o(unused_level)
    );
    `ROCEGEN_ASSERT(order_has_room, !(m_axi_arvalid[t] && m_axi_arready[t]) || order_room[t])
  end

  arb_grant #(
    .N(Targets),
    .Priority(0)
  ) u_answer (
    .clk(clk),
    .rst(rst),
    .req_i(m_axi_rvalid & order_valid),
    .take_i(1'b1),
    .grant_o(order_pop)
  );
  assign m_axi_rready = order_pop;

  logic [SlotW-1:0] answer_slot;
  logic [LaneW-1:0] answer_lane;
  logic [DataW-1:0] answer_beat;
  logic [63:0]      answer_value;
  logic             answer_err;
  logic             value_valid_q;
  logic             value_err_q;
  logic [SlotW-1:0] value_slot_q;
  logic [63:0]      value_q;

  always_comb begin
    {answer_slot, answer_lane} = order_record[SlotW+LaneW-1:0];
    answer_beat = m_axi_rdata[DataW-1:0];
    answer_err = m_axi_rresp[1];
    for (int t = 1; t < Targets; t++) begin
      if (order_pop[t]) begin
        {answer_slot, answer_lane} = order_record[t*(SlotW+LaneW) +: SlotW+LaneW];
        answer_beat = m_axi_rdata[t*DataW +: DataW];
        answer_err = m_axi_rresp[2*t+1];
      end
    end
  end
  if (ByteW > 3) begin : gen_lane
    assign answer_value = answer_beat[64*answer_lane +: 64];
  end else begin : gen_no_lane
    logic unused_lane;
    assign unused_lane = ^answer_lane;
    assign answer_value = answer_beat;
  end

  always_ff @(posedge clk) begin
    if (rst) value_valid_q <= 1'b0;
    else value_valid_q <= order_pop != '0;
    value_err_q  <= answer_err;
    value_slot_q <= answer_slot;
    value_q      <= answer_value;
  end
  assign arrived = Slots'(value_valid_q) << value_slot_q;
  assign arrived_err = Slots'(value_valid_q && value_err_q) << value_slot_q;

  logic unused_resp;
  assign unused_resp = ^m_axi_rresp;

  // ---- compute: read the slot, compare and add, write ----
  localparam int OperandsW = 1 + 3 + AddrW - 3 + 128;
  logic             compute_valid_q;
  logic             compute_next;
  logic [SlotW-1:0] compute_slot_q;
  logic             compute_any;
  logic [SlotW-1:0] compute_index;
  logic             compute_err;
  logic             compute_add;
  logic [2:0]       compute_target;
  logic [AddrW-4:0] compute_addr;
  logic [63:0]      compute_operand;
  logic [63:0]      compute_compare;
  logic [63:0]      compute_value;

  atomic_pick #(
    .Slots(Slots)
  ) u_compute (
    .clk(clk),
    .rst(rst),
    .req_i(got_q),
    .pick_o(compute_pick),
    .m_slot_tvalid(compute_any),
    .m_slot_tready(compute_next),
    .m_slot_tdata(compute_index)
  );

  ram_sdp #(
    .Width(OperandsW),
    .Depth(Slots),
    .Latency(1),
    .Style(3)
  ) u_operands (
    .clk(clk),
    .wr_en_i(enter),
    .wr_addr_i(enter_slot),
    .wr_data_i({req.add, req_target, req_addr[AddrW-1:3], req.swap_add, req.compare}),
    .rd_en_i(compute_next),
    .rd_addr_i(compute_index),
    .rd_data_o({compute_add, compute_target, compute_addr, compute_operand, compute_compare})
  );

  ram_sdp #(
    .Width(65),
    .Depth(Slots),
    .Latency(1),
    .Style(3)
  ) u_values (
    .clk(clk),
    .wr_en_i(value_valid_q),
    .wr_addr_i(value_slot_q),
    .wr_data_i({value_err_q, value_q}),
    .rd_en_i(compute_next),
    .rd_addr_i(compute_index),
    .rd_data_o({compute_err, compute_value})
  );

  logic             write_valid_q;
  logic             write_need_q;
  logic             write_add_q;
  logic [SlotW-1:0] write_slot_q;
  logic [2:0]       write_target_q;
  logic [AddrW-4:0] write_addr_q;
  logic [63:0]      write_value_q;

  assign compute_next = !write_valid_q || !write_need_q || m_write_tready;

  always_ff @(posedge clk) begin
    if (rst) begin
      compute_valid_q <= 1'b0;
      write_valid_q   <= 1'b0;
    end else if (compute_next) begin
      compute_valid_q <= compute_any;
      write_valid_q   <= compute_valid_q;
    end
    if (compute_next) begin
      compute_slot_q <= compute_index;
      write_slot_q   <= compute_slot_q;
      write_need_q   <= !compute_err && (compute_add || (compute_value == compute_compare));
      write_add_q    <= compute_add;
      write_target_q <= compute_target;
      write_addr_q   <= compute_addr;
      write_value_q  <= compute_add ? compute_value + compute_operand : compute_operand;
    end
  end

  roce_pkg::rx_cmd_t write_cmd;
  always_comb begin
    write_cmd = '0;
    write_cmd.bytes = 14'd8;
    write_cmd.forward = 1'b1;
    write_cmd.last = 1'b1;
    write_cmd.kind = write_add_q ? roce_pkg::PayFetchAdd : roce_pkg::PayCmpSwap;
    write_cmd.idx = 8'(write_slot_q);
    write_cmd.target = write_target_q;
    write_cmd.addr = 64'({write_addr_q, 3'b000});
  end

  assign m_write_tvalid = write_valid_q && write_need_q;
  assign m_write_tdata = write_value_q;
  assign m_write_tuser = write_cmd;
  assign unwritten = Slots'(write_valid_q && !write_need_q) << write_slot_q;
  assign written = Slots'(done_i) << done_slot_i[SlotW-1:0];

  logic unused_slot;
  assign unused_slot = ^done_slot_i;

  // ---- results ----
  logic             result_valid_q;
  logic             result_next;
  logic             result_err_q;
  logic [SlotW-1:0] result_slot_q;
  logic             result_any;
  logic [SlotW-1:0] result_index;
  logic [31:0]      result_who;
  logic [63:0]      result_value;

  atomic_pick #(
    .Slots(Slots)
  ) u_result (
    .clk(clk),
    .rst(rst),
    .req_i(finished_q),
    .pick_o(result_pick),
    .m_slot_tvalid(result_any),
    .m_slot_tready(result_next),
    .m_slot_tdata(result_index)
  );

  ram_sdp #(
    .Width(32),
    .Depth(Slots),
    .Latency(1),
    .Style(3)
  ) u_who (
    .clk(clk),
    .wr_en_i(enter),
    .wr_addr_i(enter_slot),
    .wr_data_i({req.qpn, req.idx}),
    .rd_en_i(result_next),
    .rd_addr_i(result_index),
    .rd_data_o(result_who)
  );

  ram_sdp #(
    .Width(64),
    .Depth(Slots),
    .Latency(1),
    .Style(3)
  ) u_originals (
    .clk(clk),
    .wr_en_i(value_valid_q),
    .wr_addr_i(value_slot_q),
    .wr_data_i(value_q),
    .rd_en_i(result_next),
    .rd_addr_i(result_index),
    .rd_data_o(result_value)
  );

  assign result_next = !result_valid_q || m_result_tready;

  always_ff @(posedge clk) begin
    if (rst) result_valid_q <= 1'b0;
    else if (result_next) result_valid_q <= result_any;
    if (result_next) begin
      result_slot_q <= result_index;
      result_err_q  <= err_q[result_index];
    end
  end

  assign m_result_tvalid = result_valid_q;
  assign m_result_tdata = {result_who, result_value, result_err_q};
  assign leave = Slots'(result_valid_q && m_result_tready) << result_slot_q;

  // ---- set-ups ----
  typedef enum logic [1:0] {
    CfgIdle,
    CfgSettle,
    CfgArrive,
    CfgLeave
  } cfg_t;

  localparam int CountW = $clog2(Settle + 1);

  cfg_t              cfg_q;
  cfg_t              cfg_d;
  logic [CountW-1:0] count_q;  // cycles of CfgSettle so far
  logic [11:0]       entered_q;  // atomics so far, modular
  logic [11:0]       target_q;  // those that have to come in
  logic [11:0]       behind;  // of them
  logic              here_q;  // they are in
  logic [Slots-1:0]  old_q;  // slots that have to be left

  always_comb begin
    cfg_d = cfg_q;
    case (cfg_q)
      CfgIdle: if (s_cfg_tvalid) cfg_d = CfgSettle;
      CfgSettle: if (count_q == CountW'(Settle - 1)) cfg_d = CfgArrive;
      CfgArrive: if (here_q) cfg_d = CfgLeave;
      default: if (old_q == '0) cfg_d = CfgIdle;
    endcase
  end

  assign behind = entered_q - target_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      cfg_q     <= CfgIdle;
      entered_q <= '0;
    end else begin
      cfg_q     <= cfg_d;
      entered_q <= entered_q + 12'(enter);
    end
    if (cfg_q != CfgSettle) count_q <= '0;
    else count_q <= count_q + 1'b1;
    if (cfg_q == CfgSettle) target_q <= sent_i;
    here_q <= cfg_q == CfgArrive && !behind[11];
    old_q  <= (cfg_q == CfgLeave ? old_q : busy_q) & ~leave;
  end

  assign s_cfg_tready = cfg_q == CfgLeave && old_q == '0;

  logic unused_behind;
  assign unused_behind = ^behind[10:0];

  `ROCEGEN_STREAM(cfg_contract, s_cfg_tvalid, s_cfg_tready, s_cfg_tdata)
  `ROCEGEN_STREAM(atomic_contract, s_atomic_tvalid, s_atomic_tready, s_atomic_tdata)
  `ROCEGEN_ASSERT(done_was_written, !done_i || ((busy_q & issued_q & ~got_q & written) != '0))
  for (genvar s = 0; s < Slots; s++) begin : gen_alone
    for (genvar j = 0; j < s; j++) begin : gen_pair
      `ROCEGEN_ASSERT(one_at_an_address, !(busy_q[s] && ready_q[s] && busy_q[j] && ready_q[j]) ||
                      (hash_q[s*HashW +: HashW] != hash_q[j*HashW +: HashW]))
    end
  end

endmodule

`default_nettype wire
