// stall_watch: tells when the MAC has stopped taking frames (pause, PFC, link down).
//
// The stream passes through unchanged, without a register and without a cycle of latency. stalled_o
// rises in the cycle after a beat has waited for Cycles cycles and falls in the cycle after a beat was
// taken; the ACK timers stand still meanwhile, so that a paused link burns no retries.
// cnt_tx_stalls_o pulses once for each stall, in the cycle before stalled_o rises. held_o: a beat
// waited in the cycle before, as it does now and then while the line is full.
//
// DataW: 64..1024 bits, a power of two. Cycles: 2..65535.
// rocegen: comb m_tx.t*<-s_tx.t*, s_tx.tready<-m_tx.tready
// rocegen: comb cnt_*<-s_tx.tvalid, cnt_*<-m_tx.tready
`default_nettype none

module stall_watch #(
  parameter int DataW  = 512,
  parameter int Cycles = 256
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               s_tx_tvalid,
  output logic               s_tx_tready,
  input  logic [DataW-1:0]   s_tx_tdata,
  input  logic [DataW/8-1:0] s_tx_tkeep,
  input  logic               s_tx_tlast,
  output logic               m_tx_tvalid,
  input  logic               m_tx_tready,
  output logic [DataW-1:0]   m_tx_tdata,
  output logic [DataW/8-1:0] m_tx_tkeep,
  output logic               m_tx_tlast,
  output logic               stalled_o,
  output logic               held_o,
  output logic               cnt_tx_stalls_o
);
  if (DataW < 64 || DataW > 1024 || (DataW & (DataW - 1)) != 0) begin : gen_check_data_w
    $fatal(1, "stall_watch: DataW must be 64, 128, 256, 512 or 1024");
  end
  if (Cycles < 2 || Cycles > 65535) begin : gen_check_cycles
    $fatal(1, "stall_watch: Cycles must be 2..65535");
  end

  logic [15:0] wait_q;
  logic        stalled_q;

  assign m_tx_tvalid = s_tx_tvalid;
  assign s_tx_tready = m_tx_tready;
  assign m_tx_tdata = s_tx_tdata;
  assign m_tx_tkeep = s_tx_tkeep;
  assign m_tx_tlast = s_tx_tlast;
  assign stalled_o = stalled_q;
  assign cnt_tx_stalls_o = s_tx_tvalid && !m_tx_tready && !stalled_q && (wait_q == 16'(Cycles - 1));

  always_ff @(posedge clk) begin
    if (rst) held_o <= 1'b0;
    else held_o <= s_tx_tvalid && !m_tx_tready;
  end

  always_ff @(posedge clk) begin
    if (s_tx_tvalid && !m_tx_tready) begin
      if (wait_q == 16'(Cycles - 1)) stalled_q <= 1'b1;
      else wait_q <= wait_q + 16'd1;
    end else begin
      wait_q <= '0;
      stalled_q <= 1'b0;
    end
    if (rst) begin
      wait_q <= '0;
      stalled_q <= 1'b0;
    end
  end

endmodule
`default_nettype wire
