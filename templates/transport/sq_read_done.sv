// sq_read_done: the data of READs and atomics on its way to memory.
//
// sent_i: a response was accepted, its command (with forward) goes to m_fetch. s_done {err,
// command} comes back for each when its data is in memory, in order. Tells on done_*_o, for every
// QP: the READs and atomics that are in memory completely (done_reads_o, counted by the command's
// `last`) and the packets that have come back (done_rx_o), modular, 0 after set-up. pending_o: a
// command has not come back yet. Kicks the completer (m_kick) when a READ is complete, or anything
// came back for a QP in ERR.
//
// err: s_data tells sq_ack, and the packet counts, as do those behind it, 8 cycles after that was
// taken, when the QP is in ERR everywhere. So a READ whose data was lost never looks complete while
// the QP still runs.
//
// s_done is taken every second cycle, and always in the end: the kick queue drains by itself and
// sq_ack takes s_data whatever its own outputs do. set_valid_i (only while !pending_o).
//
// QpW: bits of a QPN, 1..14. ReadW: bits of done_reads_o, more than the ring of a QP has requests.
`include "rocegen_assert.svh"
`default_nettype none

module sq_read_done #(
  parameter int QpW = 4,
  parameter int ReadW = 9
) (
  input  logic                     clk,
  input  logic                     rst,
  input  logic                     set_valid_i,
  input  logic [QpW-1:0]           set_qpn_i,
  input  logic                     state_we_i,
  input  logic [QpW-1:0]           state_qpn_i,
  input  logic [2:0]               state_i,
  input  logic                     sent_i,
  output logic                     pending_o,
  input  logic                     s_done_tvalid,
  output logic                     s_done_tready,
  input  logic [roce_pkg::RxCmdW:0] s_done_tdata,
  output logic                     done_we_o,
  output logic [QpW-1:0]           done_qpn_o,
  output logic [ReadW-1:0]         done_reads_o,
  output logic [15:0]              done_rx_o,
  output logic                     m_data_tvalid,
  input  logic                     m_data_tready,
  output logic [QpW-1:0]           m_data_qpn,
  output logic [23:0]              m_data_psn,
  output logic                     m_kick_tvalid,
  input  logic                     m_kick_tready,
  output logic [QpW-1:0]           m_kick_tdata
);

  localparam int Rows = 1 << QpW;
  localparam int KickDepth = 4;
  localparam int KickLevelW = $clog2(KickDepth + 1);
  localparam int SettleCycles = 8;

  typedef enum logic [1:0] {
    StIdle,
    StData,  // sq_ack has to know of the error first
    StSettle,
    StCount
  } state_t;

  state_t            state_q;
  state_t            state_d;
  roce_pkg::rx_cmd_t cmd;
  logic              err;
  logic [QpW-1:0]    qpn_q;
  logic [23:0]       psn_q;
  logic              last_q;
  logic              err_q;
  logic [2:0]        settle_q;
  logic              room_q;
  logic              take;
  logic              count;
  logic [16:0]       flight_q;  // commands that have not come back
  logic [ReadW-1:0]  reads_read;
  logic [15:0]       rx_read;
  logic              failed_read;

  assign {err, cmd} = s_done_tdata;
  assign s_done_tready = state_q == StIdle && room_q;
  assign take  = s_done_tvalid && s_done_tready;
  assign count = state_q == StCount;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle: if (take) state_d = err ? StData : StCount;
      StData: if (m_data_tready) state_d = StSettle;
      StSettle: if (settle_q == 3'(SettleCycles - 1)) state_d = StCount;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q  <= StIdle;
      flight_q <= '0;
    end else begin
      state_q <= state_d;
      if (sent_i && !count) flight_q <= flight_q + 1'b1;
      else if (count && !sent_i) flight_q <= flight_q - 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (take) begin
      qpn_q  <= cmd.qpn[QpW-1:0];
      psn_q  <= cmd.psn;
      last_q <= cmd.last;
      err_q  <= err;
    end
    settle_q <= state_q == StSettle ? settle_q + 1'b1 : '0;
  end

  ram_sdp #(
    .Width(ReadW + 16),
    .Depth(Rows)
  ) u_done (
    .clk(clk),
    .wr_en_i(done_we_o),
    .wr_addr_i(done_qpn_o),
    .wr_data_i({done_reads_o, done_rx_o}),
    .rd_en_i(take),
    .rd_addr_i(cmd.qpn[QpW-1:0]),
    .rd_data_o({reads_read, rx_read})
  );

  ram_sdp #(
    .Width(1),
    .Depth(Rows)
  ) u_failed (
    .clk(clk),
    .wr_en_i(state_we_i),
    .wr_addr_i(state_qpn_i),
    .wr_data_i(state_i == roce_pkg::QpErr),
    .rd_en_i(take),
    .rd_addr_i(cmd.qpn[QpW-1:0]),
    .rd_data_o(failed_read)
  );

  assign done_we_o    = count || set_valid_i;
  assign done_qpn_o   = set_valid_i ? set_qpn_i : qpn_q;
  assign done_reads_o = set_valid_i ? '0 : reads_read + ReadW'(last_q);
  assign done_rx_o    = set_valid_i ? '0 : rx_read + 1'b1;

  assign m_data_tvalid = state_q == StData;
  assign m_data_qpn    = qpn_q;
  assign m_data_psn    = psn_q;
  assign pending_o     = flight_q != '0;

  // ---- kicks: at most two are between room_q and here -------------------------------------------
  logic                  kick;
  logic                  kick_ready;
  logic [KickLevelW-1:0] kick_level;

  assign kick = count && (last_q || failed_read || err_q);

  stream_fifo #(
    .Width(QpW),
    .Depth(KickDepth)
  ) u_kick (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(kick),
    .s_axis_tready(kick_ready),
    .s_axis_tdata(qpn_q),
    .m_axis_tvalid(m_kick_tvalid),
    .m_axis_tready(m_kick_tready),
    .m_axis_tdata(m_kick_tdata),
    .level_o(kick_level)
  );

  always_ff @(posedge clk) begin
    if (rst) room_q <= 1'b0;
    else room_q <= kick_level <= KickLevelW'(KickDepth - 2);
  end

  logic unused;
  assign unused = ^{cmd, kick_ready};

  `ROCEGEN_ASSERT(kick_never_lost, !kick || kick_ready)
  `ROCEGEN_ASSERT(only_what_was_sent, !take || pending_o)
  `ROCEGEN_ASSERT(set_while_nothing_pends, !set_valid_i || !pending_o)

endmodule

`default_nettype wire
