// pre_stage: preprocesses rows in received data on its way to memory (attach point deliver).
//
// tuser is svc_pay_t: {mask, rx_cmd_t}. Packets of kinds PayRequest and PayResponse whose mask
// has bit Index, and that are no result of an atomic, carry rows: pre_rows (compiled) gives the
// output of each beat, pre_join makes full beats of it, and the command gets the bytes and the
// address of the output (pre_span, compiled). Other packets pass as they are. A message begins
// with a row: the packet that begins one says so (first, bit 7 of the command's idx). How many
// words of the message came before is kept for every QP, for what it receives and for what its
// READs get; so packets of a message must come in order, all but the last of a multiple of the
// beat's bytes. What a message brings of a row that it does not complete is put out as far as
// the row's output is known; cnt_pre_partial_o counts such messages, cnt_pre_packet_o packets
// with rows.
//
// Handshake: as a stage (docs/services.md): packets one for one, in order, also those whose
// output is empty; streams cut by registers; waits for nobody but m_pkt. One beat a cycle, a
// packet a cycle. Latency SpanLatency + RowsLatency + RotateStages + 12 cycles from a packet's
// first beat, other packets the same but RowsLatency + RotateStages - 1 cycles less.
//
// DataW: bits a beat, 64..1024, a power of two. QpCount: 1..16384. Index: 0..7, the service's
// bit of the mask. RowsLatency, SpanLatency: of pre_rows and pre_span. Phases: positions in the
// row at which a beat can begin, PhaseStep: how many of them a beat goes on, modulo Phases,
// PhaseW: bits of their number. Unit: bytes that every column of the output is a multiple of.
// RotateStages: of pre_join.
// rocegen: comb none
`include "rocegen_assert.svh"
`default_nettype none

module pre_stage #(
  parameter int DataW = 512,
  parameter int QpCount = 64,
  parameter int Index = 0,
  parameter int RowsLatency = 1,
  parameter int SpanLatency = 1,
  parameter int Phases = 1,
  parameter int PhaseStep = 0,
  parameter int PhaseW = 1,
  parameter int Unit = 4,
  parameter int RotateStages = 1
) (
  input  logic                        clk,
  input  logic                        rst,
  input  logic                        s_pkt_tvalid,
  output logic                        s_pkt_tready,
  input  logic [DataW-1:0]            s_pkt_tdata,
  input  logic [DataW/8-1:0]          s_pkt_tkeep,
  input  logic                        s_pkt_tlast,
  input  logic [roce_pkg::RxCmdW+7:0] s_pkt_tuser,
  output logic                        m_pkt_tvalid,
  input  logic                        m_pkt_tready,
  output logic [DataW-1:0]            m_pkt_tdata,
  output logic [DataW/8-1:0]          m_pkt_tkeep,
  output logic                        m_pkt_tlast,
  output logic [roce_pkg::RxCmdW+7:0] m_pkt_tuser,
  output logic                        cnt_pre_packet_o,
  output logic                        cnt_pre_partial_o
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "pre_stage: DataW must be a power of two, 64..1024");
  end
  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qps
    $fatal(1, "pre_stage: QpCount must be 1..16384");
  end
  if (Index < 0 || Index > 7) begin : gen_check_index
    $fatal(1, "pre_stage: Index must be 0..7");
  end
  if (Phases < 1 || PhaseStep < 0 || PhaseStep >= Phases || Phases > (1 << PhaseW))
  begin : gen_check_phases
    $fatal(1, "pre_stage: PhaseStep must be below Phases, and Phases fit into PhaseW bits");
  end

  localparam int Bytes = DataW / 8;
  localparam int ByteW = $clog2(Bytes);
  localparam int UserW = roce_pkg::RxCmdW + 8;
  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int WordsW = 30;  // words of a message
  localparam int Ahead = SpanLatency + 8;  // beats that wait for pre_span
  localparam int Room = RowsLatency + 16;  // beats in pre_rows and behind it

  // Nobody asks how full the queues are.
  logic [$clog2(Ahead+1)-1:0] wait_level;
  logic [$clog2(Ahead+1)-1:0] head_level;
  logic [$clog2(Room+1)-1:0]  piece_level;
  logic [$clog2(Room+1)-1:0]  raw_level;
  logic [$clog2(Room+9)-1:0]  out_level;

  // ---- input: is it for us, and how many bytes does the beat have ----
  logic              in_valid;
  logic              in_ready;
  logic [DataW-1:0]  in_data;
  logic              in_last;
  logic [UserW-1:0]  in_user;
  roce_pkg::rx_cmd_t in_cmd;
  logic [7:0]        in_mask;
  logic              in_on;
  logic              in_first_q;
  logic [ByteW:0]    in_bytes;

  stream_skid #(
    .Width(DataW + 1 + UserW)
  ) u_in (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(s_pkt_tvalid),
    .s_axis_tready(s_pkt_tready),
    .s_axis_tdata({s_pkt_tdata, s_pkt_tlast, s_pkt_tuser}),
    .m_axis_tvalid(in_valid),
    .m_axis_tready(in_ready),
    .m_axis_tdata({in_data, in_last, in_user})
  );

  assign {in_mask, in_cmd} = in_user;
  assign in_on = in_mask[Index] && !in_cmd.kind[1] && !in_cmd.swap;
  // The command says how long the packet is; so the keep bits need not travel.
  always_comb begin
    in_bytes = (ByteW+1)'(Bytes);
    if (in_last && ((in_cmd.bytes[ByteW-1:0] != '0) || (in_cmd.bytes == '0)))
      in_bytes = {1'b0, in_cmd.bytes[ByteW-1:0]};
  end

  always_ff @(posedge clk) begin
    if (rst) in_first_q <= 1'b1;
    else if (in_valid && in_ready) in_first_q <= in_last;
  end

  // ---- words of the message in front of the packet ----
  logic              at_valid_q;
  logic [DataW-1:0]  at_data_q;
  logic              at_last_q;
  logic [ByteW:0]    at_bytes_q;
  logic              at_first_q;
  logic              at_on_q;
  logic [UserW-1:0]  at_user_q;
  roce_pkg::rx_cmd_t at_cmd;
  logic              at_go;
  logic              at_write;
  logic [QpW:0]      at_row;
  logic [QpW:0]      last_row_q;  // written in the cycle in which the RAM was read
  logic              last_write_q;
  logic [WordsW-1:0] last_words_q;
  logic [WordsW-1:0] ram_words;
  logic [WordsW-1:0] words;
  logic [WordsW-1:0] words_after;

  assign in_ready = at_go || !at_valid_q;
  assign at_cmd = at_user_q[roce_pkg::RxCmdW-1:0];
  assign at_row = {at_cmd.qpn[QpW-1:0], at_cmd.kind[0]};
  assign words = at_cmd.idx[7] ? '0 :
      last_write_q && (last_row_q == at_row) ? last_words_q : ram_words;
  assign words_after = words + WordsW'(at_cmd.bytes[13:2]);
  assign at_write = at_valid_q && at_go && at_first_q && at_on_q;

  ram_sdp #(
    .Width(WordsW),
    .Depth(2 << QpW),
    .Latency(1)
  ) u_words (
    .clk(clk),
    .wr_en_i(at_write),
    .wr_addr_i(at_row),
    .wr_data_i(words_after),
    .rd_en_i(in_ready),
    .rd_addr_i({in_cmd.qpn[QpW-1:0], in_cmd.kind[0]}),
    .rd_data_o(ram_words)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      at_valid_q   <= 1'b0;
      last_write_q <= 1'b0;
    end else if (in_ready) begin
      at_valid_q   <= in_valid;
      last_write_q <= at_write;
    end
  end

  always_ff @(posedge clk) begin
    if (in_ready) begin
      at_data_q    <= in_data;
      at_last_q    <= in_last;
      at_bytes_q   <= in_bytes;
      at_first_q   <= in_first_q;
      at_on_q      <= in_on;
      at_user_q    <= in_user;
      last_row_q   <= at_row;
      last_words_q <= words_after;
    end
  end

  // ---- beats wait until it is known where their packet stands ----
  logic             wait_in_ready;
  logic             head_in_ready;
  logic             span_in_ready;
  logic             at_head;
  logic             wait_valid;
  logic             wait_ready;
  logic [DataW-1:0] wait_data;
  logic             wait_last;
  logic [ByteW:0]   wait_bytes;
  logic             head_valid;
  logic             head_ready;
  logic             head_on;
  logic [UserW-1:0] head_user;
  logic             span_valid;
  logic             span_ready;
  logic [PhaseW-1:0] span_phase;
  logic [63:0]      span_addr;
  logic [13:0]      span_bytes;
  logic             span_inside;

  assign at_go = wait_in_ready && (!at_first_q || (head_in_ready && (!at_on_q || span_in_ready)));
  assign at_head = at_valid_q && at_go && at_first_q;

  stream_fifo #(
    .Width(DataW + 1 + ByteW + 1),
    .Depth(Ahead)
  ) u_wait (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(at_valid_q && at_go),
    .s_axis_tready(wait_in_ready),
    .s_axis_tdata({at_data_q, at_last_q, at_bytes_q}),
    .m_axis_tvalid(wait_valid),
    .m_axis_tready(wait_ready),
    .m_axis_tdata({wait_data, wait_last, wait_bytes}),
    .level_o(wait_level)
  );

  stream_fifo #(
    .Width(1 + UserW),
    .Depth(Ahead)
  ) u_head (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(at_head),
    .s_axis_tready(head_in_ready),
    .s_axis_tdata({at_on_q, at_user_q}),
    .m_axis_tvalid(head_valid),
    .m_axis_tready(head_ready),
    .m_axis_tdata({head_on, head_user}),
    .level_o(head_level)
  );

  pre_span u_span (
    .clk(clk),
    .rst(rst),
    .s_tvalid(at_head && at_on_q),
    .s_tready(span_in_ready),
    .words_i(words),
    .bytes_i(at_cmd.bytes),
    .addr_i(at_cmd.addr),
    .m_tvalid(span_valid),
    .m_tready(span_ready),
    .phase_o(span_phase),
    .addr_o(span_addr),
    .bytes_o(span_bytes),
    .inside_o(span_inside)
  );

  // ---- start of a beat ----
  logic              first_q;
  logic              on_q;
  logic              on;
  logic [PhaseW-1:0] phase_q;
  logic [PhaseW-1:0] phase;
  logic [PhaseW-1:0] phase_next;
  logic              go;
  logic              start;
  logic              begins;
  logic              room_q;
  logic              out_in_ready;
  logic [UserW-1:0]  out_in_user;
  roce_pkg::rx_cmd_t head_cmd;
  roce_pkg::rx_cmd_t out_cmd;

  assign on = first_q ? head_on : on_q;
  assign phase = first_q ? span_phase : phase_q;
  assign go = room_q && (!first_q || (head_valid && (!head_on || span_valid) && out_in_ready));
  assign start = wait_valid && go;
  assign begins = start && first_q;
  assign wait_ready = go;
  assign head_ready = begins;
  assign span_ready = begins && head_on;

  if (PhaseStep == 0) begin : gen_one_phase
    assign phase_next = phase;
  end else begin : gen_phases
    assign phase_next = phase >= PhaseW'(Phases - PhaseStep) ? phase - PhaseW'(Phases - PhaseStep)
                                                              : phase + PhaseW'(PhaseStep);
  end

  assign head_cmd = head_user[roce_pkg::RxCmdW-1:0];
  always_comb begin
    out_cmd = head_cmd;
    if (head_on) begin
      out_cmd.addr  = span_addr;
      out_cmd.bytes = span_bytes;
    end
    out_in_user = {head_user[UserW-1-:8], out_cmd};
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      first_q           <= 1'b1;
      cnt_pre_packet_o  <= 1'b0;
      cnt_pre_partial_o <= 1'b0;
    end else begin
      if (start) first_q <= wait_last;
      cnt_pre_packet_o  <= begins && head_on;
      cnt_pre_partial_o <= begins && head_on && head_cmd.last && span_inside;
    end
  end

  always_ff @(posedge clk) begin
    if (start) begin
      on_q    <= on;
      phase_q <= phase_next;
    end
  end

  // ---- the operators: no stalls, so every beat has its place behind them before it starts ----
  localparam int RoomW = $clog2(Room + 1);
  logic [RoomW-1:0]       used_q;
  logic [RoomW-1:0]       used_d;
  logic                   leave_piece;
  logic                   leave_raw;
  logic [RowsLatency-1:0] rows_valid_q;
  logic [RowsLatency-1:0] rows_last_q;
  logic [DataW-1:0]       rows_data;
  logic [ByteW:0]         rows_bytes;

  assign used_d = used_q + RoomW'(start) - RoomW'(leave_piece) - RoomW'(leave_raw);

  always_ff @(posedge clk) begin
    if (rst) begin
      used_q <= '0;
      room_q <= 1'b0;
    end else begin
      used_q <= used_d;
      room_q <= used_d < RoomW'(Room);
    end
  end

  pre_rows u_rows (
    .clk(clk),
    .data_i(wait_data),
    .phase_i(phase),
    .words_i(wait_bytes[ByteW:2]),
    .data_o(rows_data),
    .bytes_o(rows_bytes)
  );

  if (RowsLatency == 1) begin : gen_one_stage
    always_ff @(posedge clk) begin
      if (rst) rows_valid_q <= '0;
      else rows_valid_q <= start && on;
      rows_last_q <= wait_last;
    end
  end else begin : gen_stages
    always_ff @(posedge clk) begin
      if (rst) rows_valid_q <= '0;
      else rows_valid_q <= {rows_valid_q[RowsLatency-2:0], start && on};
      rows_last_q <= {rows_last_q[RowsLatency-2:0], wait_last};
    end
  end

  // ---- behind them: pieces, and beats that pass ----
  logic             piece_in_ready;
  logic             piece_valid;
  logic             piece_ready;
  logic [DataW-1:0] piece_data;
  logic             piece_last;
  logic [ByteW:0]   piece_bytes;
  logic             raw_in_ready;
  logic             raw_valid;
  logic             raw_ready;
  logic [DataW-1:0] raw_data;
  logic             raw_last;
  logic [ByteW:0]   raw_bytes;

  stream_fifo #(
    .Width(DataW + 1 + ByteW + 1),
    .Depth(Room)
  ) u_pieces (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(rows_valid_q[RowsLatency-1]),
    .s_axis_tready(piece_in_ready),
    .s_axis_tdata({rows_data, rows_last_q[RowsLatency-1], rows_bytes}),
    .m_axis_tvalid(piece_valid),
    .m_axis_tready(piece_ready),
    .m_axis_tdata({piece_data, piece_last, piece_bytes}),
    .level_o(piece_level)
  );

  stream_fifo #(
    .Width(DataW + 1 + ByteW + 1),
    .Depth(Room)
  ) u_raw (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(start && !on),
    .s_axis_tready(raw_in_ready),
    .s_axis_tdata({wait_data, wait_last, wait_bytes}),
    .m_axis_tvalid(raw_valid),
    .m_axis_tready(raw_ready),
    .m_axis_tdata({raw_data, raw_last, raw_bytes}),
    .level_o(raw_level)
  );

  assign leave_piece = piece_valid && piece_ready;
  assign leave_raw = raw_valid && raw_ready;

  logic             join_valid;
  logic             join_ready;
  logic [DataW-1:0] join_data;
  logic [Bytes-1:0] join_keep;
  logic             join_last;

  pre_join #(
    .DataW(DataW),
    .Unit(Unit),
    .RotateStages(RotateStages)
  ) u_join (
    .clk(clk),
    .rst(rst),
    .s_piece_tvalid(piece_valid),
    .s_piece_tready(piece_ready),
    .s_piece_tdata(piece_data),
    .s_piece_tlast(piece_last),
    .s_piece_bytes(piece_bytes),
    .m_pkt_tvalid(join_valid),
    .m_pkt_tready(join_ready),
    .m_pkt_tdata(join_data),
    .m_pkt_tkeep(join_keep),
    .m_pkt_tlast(join_last)
  );

  // ---- output: packets in the order in which they came ----
  logic             out_valid;
  logic             out_on;
  logic [UserW-1:0] out_user;
  logic             end_valid;
  logic             end_ready;
  logic [DataW-1:0] end_data;
  logic [Bytes-1:0] end_keep;
  logic             end_last;

  stream_fifo #(
    .Width(1 + UserW),
    .Depth(Room + 8)
  ) u_out (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(begins),
    .s_axis_tready(out_in_ready),
    .s_axis_tdata({head_on, out_in_user}),
    .m_axis_tvalid(out_valid),
    .m_axis_tready(end_valid && end_ready && end_last),
    .m_axis_tdata({out_on, out_user}),
    .level_o(out_level)
  );

  assign join_ready = out_valid && out_on && end_ready;
  assign raw_ready = out_valid && !out_on && end_ready;
  assign end_valid = out_valid && (out_on ? join_valid : raw_valid);
  assign end_data = out_on ? join_data : raw_data;
  assign end_last = out_on ? join_last : raw_last;
  always_comb begin
    for (int j = 0; j < Bytes; j++) end_keep[j] = out_on ? join_keep[j] : (ByteW+1)'(j) < raw_bytes;
  end

  stream_skid #(
    .Width(DataW + Bytes + 1 + UserW)
  ) u_end (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(end_valid),
    .s_axis_tready(end_ready),
    .s_axis_tdata({end_data, end_keep, end_last, out_user}),
    .m_axis_tvalid(m_pkt_tvalid),
    .m_axis_tready(m_pkt_tready),
    .m_axis_tdata({m_pkt_tdata, m_pkt_tkeep, m_pkt_tlast, m_pkt_tuser})
  );

  // Of the input the command says how long it is.
  logic unused;
  assign unused = ^{wait_level, head_level, piece_level, raw_level, out_level, s_pkt_tkeep,
                    piece_in_ready, raw_in_ready, in_cmd, at_cmd, head_cmd};

  `ROCEGEN_STREAM(pkt_contract, s_pkt_tvalid, s_pkt_tready,
                  {s_pkt_tuser, s_pkt_tlast, s_pkt_tkeep, s_pkt_tdata})
  `ROCEGEN_PACKET(pkt_packet, s_pkt_tvalid, s_pkt_tlast, s_pkt_tkeep)
  `ROCEGEN_ASSERT(pkt_length, !(s_pkt_tvalid && s_pkt_tlast) ||
                  (ByteW'($countones(s_pkt_tkeep)) == s_pkt_tuser[128+:ByteW]))
  `ROCEGEN_ASSERT(piece_never_lost, !rows_valid_q[RowsLatency-1] || piece_in_ready)
  `ROCEGEN_ASSERT(raw_never_lost, !(start && !on) || raw_in_ready)

endmodule

`default_nettype wire
