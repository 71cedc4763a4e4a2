// dpi_gate: holds packets until the verdict of an inspection is there, and does what it says.
//
// s_pkt: received packets (svc_rx_t in tuser). Each beat that is taken shows on look_* a cycle later
// and goes into a FIFO; the inspector answers every packet with one class (class_valid_i), in order,
// after a time of its own choosing that is the same for all. m_pkt is s_pkt, in order: a packet's
// last beat waits for its class and carries the verdict, ORed to what was there. Packets that are not
// of this service (mask bit Index is 0; ACKs, atomics), or that a service in front drops, pass whatever
// their class is.
//
// Actions of a class: bit 0 tag the completion with Tags of the class, 1 count, 2 tell (EvtService),
// 3 drop, 4 refuse. An action is done if the class has it in Actions, register ENABLE has it, and the
// queue pair has it (register ACTIONS of the QP that register QP names; all after reset).
//
// Handshake: s_pkt_tready comes from a register and falls only when m_pkt stalls, if Depth holds the
// beats of the inspector's latency and 6 more. A beat and a packet a cycle. Window ctl_*: answered two
// cycles after ctl_valid_i. ready_o: the table of actions is cleared (QpCount cycles).
//
// DataW: bits a beat, 64..1024. QpCount: 1..16384. Index: the service's bit of the mask. Classes:
// 2..16, ClassW bits number them. Depth: beats held, >= 8. Actions, Tags: by class, class 0 in the low
// bits.
// rocegen: comb none
// rocegen: record s_pkt.tuser roce_pkg::svc_rx_t
// rocegen: record m_pkt.tuser roce_pkg::svc_rx_t
`include "rocegen_assert.svh"
`default_nettype none

module dpi_gate #(
  parameter int                    DataW = 512,
  parameter int                    QpCount = 16,
  parameter int                    Index = 0,
  parameter int                    Classes = 2,
  parameter int                    ClassW = 1,
  parameter int                    Depth = 32,
  parameter logic [5*Classes-1:0]  Actions = '0,
  parameter logic [8*Classes-1:0]  Tags = '0
) (
  input  logic                        clk,
  input  logic                        rst,
  output logic                        ready_o,
  input  logic                        s_pkt_tvalid,
  output logic                        s_pkt_tready,
  input  logic [DataW-1:0]            s_pkt_tdata,
  input  logic [DataW/8-1:0]          s_pkt_tkeep,
  input  logic                        s_pkt_tlast,
  input  logic [roce_pkg::SvcRxW-1:0] s_pkt_tuser,
  output logic                        m_pkt_tvalid,
  input  logic                        m_pkt_tready,
  output logic [DataW-1:0]            m_pkt_tdata,
  output logic [DataW/8-1:0]          m_pkt_tkeep,
  output logic                        m_pkt_tlast,
  output logic [roce_pkg::SvcRxW-1:0] m_pkt_tuser,
  output logic                        look_valid_o,
  output logic                        look_first_o,
  output logic                        look_last_o,
  output logic [DataW-1:0]            look_data_o,
  output logic [DataW/8-1:0]          look_keep_o,
  output logic [roce_pkg::SvcRxW-1:0] look_user_o,
  input  logic                        class_valid_i,
  input  logic [ClassW-1:0]           class_i,
  input  logic                        ctl_valid_i,
  input  logic                        ctl_write_i,
  input  logic [11:0]                 ctl_addr_i,
  input  logic [31:0]                 ctl_wdata_i,
  output logic                        ctl_ready_o,
  output logic [31:0]                 ctl_rdata_o,
  output logic                        cnt_judged_o,   // packets that were judged
  output logic                        cnt_tagged_o,
  output logic                        cnt_told_o,
  output logic                        cnt_dropped_o,
  output logic                        cnt_refused_o
);

  if (Classes < 2 || Classes > 16 || (1 << ClassW) < Classes) begin : gen_check_classes
    $fatal(1, "dpi_gate: Classes must be in 2..16 and ClassW number them");
  end
  if (Depth < 8) begin : gen_check_depth
    $fatal(1, "dpi_gate: Depth must be at least 8");
  end
  if (Index < 0 || Index > 7) begin : gen_check_index
    $fatal(1, "dpi_gate: Index must be in 0..7");
  end

  localparam int Bytes = DataW / 8;
  localparam int BeatW = DataW + Bytes + 1 + roce_pkg::SvcRxW;
  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int ActionW = 5;

  // Register window, by word address.
  localparam logic [9:0] RegQp = 10'h000;
  localparam logic [9:0] RegActions = 10'h001;
  localparam logic [9:0] RegEnable = 10'h002;
  localparam logic [9:0] RegClasses = 10'h010;

  // ---- taken beats: to the inspector, and into the FIFO -----------------------------------------
  logic              take;
  logic              inside_q;
  /* verilator lint_off UNUSEDSIGNAL */
  roce_pkg::svc_rx_t user;
  /* verilator lint_on UNUSEDSIGNAL */

  assign user = s_pkt_tuser;
  assign take = s_pkt_tvalid && s_pkt_tready;

  always_ff @(posedge clk) begin
    if (rst) begin
      look_valid_o <= 1'b0;
      inside_q     <= 1'b0;
    end else begin
      look_valid_o <= take;
      if (take) inside_q <= !s_pkt_tlast;
    end
    look_first_o <= !inside_q;
    look_last_o  <= s_pkt_tlast;
    look_data_o  <= s_pkt_tdata;
    look_keep_o  <= s_pkt_tkeep;
    look_user_o  <= s_pkt_tuser;
  end

  logic                        out_valid;
  logic                        out_take;
  logic                        out_last;
  logic [roce_pkg::SvcRxW-1:0] out_user;
  logic [$clog2(Depth+1)-1:0]  level;

  stream_fifo #(
    .Width(BeatW),
    .Depth(Depth)
  ) u_beats (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(s_pkt_tvalid),
    .s_axis_tready(s_pkt_tready),
    .s_axis_tdata({s_pkt_tuser, s_pkt_tlast, s_pkt_tkeep, s_pkt_tdata}),
    .m_axis_tvalid(out_valid),
    .m_axis_tready(out_take),
    .m_axis_tdata({out_user, out_last, m_pkt_tkeep, m_pkt_tdata}),
    .level_o(level)
  );

  // ---- what the queue pair allows ---------------------------------------------------------------
  // Actions of a QP are kept inverted, so that all are allowed in a cleared table.
  logic               set_valid_q;
  logic [QpW-1:0]     set_qp_q;
  logic [ActionW-1:0] set_value_q;
  logic [ActionW-1:0] barred;
  logic [ActionW-1:0] own_barred;
  logic [ActionW-1:0] enable_q;
  logic               mine_q;
  logic               ends_q;
  logic               ready;
  logic               own_ready;

  ram_clear #(
    .Width(ActionW),
    .Depth(QpCount)
  ) u_actions (
    .clk(clk),
    .rst(rst),
    .wr_en_i(set_valid_q),
    .wr_addr_i(set_qp_q),
    .wr_data_i(set_value_q),
    .rd_en_i(take && s_pkt_tlast),
    .rd_addr_i(user.hdr.dqpn[QpW-1:0]),
    .rd_data_o(barred),
    .ready_o(ready)
  );

  always_ff @(posedge clk) begin
    if (rst) ends_q <= 1'b0;
    else ends_q <= take && s_pkt_tlast;
    case (user.hdr.opcode)
      roce_pkg::OpAck, roce_pkg::OpAtomicAck, roce_pkg::OpCmpSwap, roce_pkg::OpFetchAdd:
      mine_q <= 1'b0;
      default: mine_q <= user.mask[Index];
    endcase
  end

  logic               right_room;
  logic               right_valid;
  logic               mine;
  logic [ActionW-1:0] allowed;
  logic               class_room;
  logic               class_valid;
  logic [ClassW-1:0]  class_out;
  logic               end_take;

  /* verilator lint_off PINCONNECTEMPTY */
  stream_fifo #(
    .Width(1 + ActionW),
    .Depth(Depth + 2)
  ) u_rights (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(ends_q),
    .s_axis_tready(right_room),
    .s_axis_tdata({mine_q, enable_q & ~barred}),
    .m_axis_tvalid(right_valid),
    .m_axis_tready(end_take),
    .m_axis_tdata({mine, allowed}),
    .level_o()  // nobody asks
  );

  stream_fifo #(
    .Width(ClassW),
    .Depth(Depth + 2)
  ) u_classes (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(class_valid_i),
    .s_axis_tready(class_room),
    .s_axis_tdata(class_i),
    .m_axis_tvalid(class_valid),
    .m_axis_tready(end_take),
    .m_axis_tdata(class_out),
    .level_o()  // nobody asks
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // ---- the verdict ------------------------------------------------------------------------------
  logic [ActionW-1:0] action;
  logic [7:0]         tag;
  roce_pkg::svc_rx_t  told;
  roce_pkg::svc_rx_t  verdict;
  logic               judged;  // the last beat of a packet that is judged

  assign m_pkt_tvalid = out_valid && (!out_last || (right_valid && class_valid));
  assign out_take     = m_pkt_tvalid && m_pkt_tready;
  assign end_take     = out_take && out_last;
  assign m_pkt_tlast  = out_last;
  assign told         = out_user;
  assign judged       = mine && out_last && !told.drop;

  always_comb begin
    action = '0;
    tag    = '0;
    for (int c = 0; c < Classes; c++) begin
      if (class_out == ClassW'(c)) begin
        action = action | Actions[c*ActionW+:ActionW];
        tag    = tag | Tags[c*8+:8];
      end
    end
    action = judged ? action & allowed : '0;
  end

  always_comb begin
    verdict            = told;
    verdict.tell       = verdict.tell || action[2];
    verdict.drop       = verdict.drop || action[3];
    verdict.hdr.refuse = verdict.hdr.refuse || action[4];
    if (action[0]) verdict.hdr.tag = verdict.hdr.tag | tag;
  end

  assign m_pkt_tuser = verdict;

  logic [Classes-1:0] count_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_judged_o  <= 1'b0;
      cnt_tagged_o  <= 1'b0;
      cnt_told_o    <= 1'b0;
      cnt_dropped_o <= 1'b0;
      cnt_refused_o <= 1'b0;
      count_q       <= '0;
    end else begin
      cnt_judged_o  <= end_take && judged;
      cnt_tagged_o  <= end_take && action[0];
      cnt_told_o    <= end_take && action[2];
      cnt_dropped_o <= end_take && action[3];
      cnt_refused_o <= end_take && action[4];
      for (int c = 0; c < Classes; c++) begin
        count_q[c] <= end_take && action[1] && class_out == ClassW'(c);
      end
    end
  end

  // ---- register window --------------------------------------------------------------------------
  logic [32*Classes-1:0] counts_q;
  logic [QpW-1:0]        qp_q;
  logic                  known_q;  // QP is one of the QpCount
  logic                  seen_q;
  logic                  ask;
  logic [9:0]            word;

  assign word = ctl_addr_i[11:2];
  assign ask  = ctl_valid_i && !seen_q && !ctl_ready_o;

  ram_clear #(
    .Width(ActionW),
    .Depth(QpCount)
  ) u_own_actions (
    .clk(clk),
    .rst(rst),
    .wr_en_i(set_valid_q),
    .wr_addr_i(set_qp_q),
    .wr_data_i(set_value_q),
    .rd_en_i(ask),
    .rd_addr_i(qp_q),
    .rd_data_o(own_barred),
    .ready_o(own_ready)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      set_valid_q <= 1'b0;
      seen_q      <= 1'b0;
      ctl_ready_o <= 1'b0;
      enable_q    <= '1;
      qp_q        <= '0;
      known_q     <= 1'b1;
    end else begin
      seen_q      <= ask;
      ctl_ready_o <= seen_q;
      set_valid_q <= ask && ctl_write_i && word == RegActions && known_q;
      if (ask && ctl_write_i && word == RegQp) begin
        qp_q    <= ctl_wdata_i[QpW-1:0];
        known_q <= ctl_wdata_i < 32'(QpCount);
      end
      if (ask && ctl_write_i && word == RegEnable) enable_q <= ctl_wdata_i[ActionW-1:0];
    end
    set_qp_q    <= qp_q;
    set_value_q <= ~ctl_wdata_i[ActionW-1:0];
    for (int c = 0; c < Classes; c++) begin
      if (rst) counts_q[c*32+:32] <= '0;
      else if (count_q[c]) counts_q[c*32+:32] <= counts_q[c*32+:32] + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    ctl_rdata_o <= '0;
    if (word == RegQp) ctl_rdata_o <= 32'(qp_q);
    if (word == RegActions && known_q) ctl_rdata_o <= 32'(ActionW'(~own_barred));
    if (word == RegEnable) ctl_rdata_o <= 32'(enable_q);
    for (int c = 0; c < Classes; c++) begin
      if (word == RegClasses + 10'(c)) ctl_rdata_o <= counts_q[c*32+:32];
    end
  end

  assign ready_o = ready && own_ready;

  logic unused_bits;
  assign unused_bits = ^{level, right_room, class_room, ctl_addr_i[1:0]};

  `ROCEGEN_STREAM(s_pkt_contract, s_pkt_tvalid, s_pkt_tready,
                  {s_pkt_tuser, s_pkt_tlast, s_pkt_tkeep, s_pkt_tdata})
  `ROCEGEN_STREAM(m_pkt_contract, m_pkt_tvalid, m_pkt_tready,
                  {m_pkt_tuser, m_pkt_tlast, m_pkt_tkeep, m_pkt_tdata})
  `ROCEGEN_PACKET(s_pkt_packet, s_pkt_tvalid, s_pkt_tlast, s_pkt_tkeep)
  `ROCEGEN_ASSERT(no_class_lost, (class_room || !class_valid_i) && (right_room || !ends_q))

endmodule

`default_nettype wire
