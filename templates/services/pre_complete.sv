// pre_complete: completions tell how many bytes the output of preprocessed data has.
//
// In a successful completion of a receive (SEND, WRITE with immediate data) or of a READ, of a
// queue pair whose mask has bit Index, `bytes` becomes what pre_length (compiled) makes of it;
// everything else passes as it is. s_cfg: set-ups of queue pairs, for their masks; always ready.
// Handshake: streams cut by registers at both ends of pre_length; one completion a cycle.
// Latency LengthLatency + 2 cycles, but 4 at least. ready_o: the table of masks is cleared.
//
// QpCount: queue pairs, 1..16384. Services: entries of the spec's services, 1..8. Index: which
// of them. LengthLatency: of pre_length.
// rocegen: comb s_cqe.tready<-m_cqe.tready
`include "rocegen_assert.svh"
`default_nettype none

module pre_complete #(
  parameter int QpCount = 64,
  parameter int Services = 1,
  parameter int Index = 0,
  parameter int LengthLatency = 1
) (
  input  logic              clk,
  input  logic              rst,
  output logic              ready_o,
  input  logic              s_cfg_tvalid,
  output logic              s_cfg_tready,
  input  roce_pkg::qp_cfg_t s_cfg_tdata,
  input  logic              s_cqe_tvalid,
  output logic              s_cqe_tready,
  input  logic [255:0]      s_cqe_tdata,
  output logic              m_cqe_tvalid,
  input  logic              m_cqe_tready,
  output logic [255:0]      m_cqe_tdata
);

  if (Index < 0 || Index >= Services) begin : gen_check_index
    $fatal(1, "pre_complete: Index must be below Services");
  end

  localparam int Ahead = LengthLatency + 4;

  roce_pkg::cqe_t         s_cqe;
  logic                   load;
  logic                   valid_q;
  roce_pkg::cqe_t         cqe_q;
  logic                   carries_q;  // a completion of received data
  logic [7:0]             mask;
  logic                   go;
  logic                   wait_ready;
  logic                   length_ready;
  logic                   wait_valid;
  logic                   use_length;
  roce_pkg::cqe_t         wait_cqe;
  roce_pkg::cqe_t         out;
  logic                   length_valid;
  logic [31:0]            length;
  logic                   take;
  logic [$clog2(Ahead+1)-1:0] level;

  assign s_cqe = s_cqe_tdata;
  assign s_cqe_tready = load;
  assign load = go || !valid_q;
  assign go = wait_ready && length_ready;

  svc_mask #(
    .QpCount(QpCount),
    .Services(Services)
  ) u_mask (
    .clk(clk),
    .rst(rst),
    .ready_o(ready_o),
    .s_cfg_tvalid(s_cfg_tvalid),
    .s_cfg_tready(s_cfg_tready),
    .s_cfg_tdata(s_cfg_tdata),
    .rd_en_i(load),
    .rd_qpn_i(s_cqe.qpn),
    .mask_o(mask)
  );

  always_ff @(posedge clk) begin
    if (rst) valid_q <= 1'b0;
    else if (load) valid_q <= s_cqe_tvalid;
  end

  always_ff @(posedge clk) begin
    if (load) begin
      cqe_q     <= s_cqe;
      carries_q <= s_cqe.status == roce_pkg::WcSuccess &&
          (s_cqe.opcode == roce_pkg::WcOpRecv || s_cqe.opcode == roce_pkg::WcOpRecvWriteImm ||
           s_cqe.opcode == roce_pkg::WcOpRead);
    end
  end

  stream_fifo #(
    .Width(257),
    .Depth(Ahead)
  ) u_wait (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(valid_q && length_ready),
    .s_axis_tready(wait_ready),
    .s_axis_tdata({carries_q && mask[Index], cqe_q}),
    .m_axis_tvalid(wait_valid),
    .m_axis_tready(take),
    .m_axis_tdata({use_length, wait_cqe}),
    .level_o(level)
  );

  pre_length u_length (
    .clk(clk),
    .rst(rst),
    .s_tvalid(valid_q && wait_ready),
    .s_tready(length_ready),
    .bytes_i(cqe_q.bytes),
    .m_tvalid(length_valid),
    .m_tready(take),
    .bytes_o(length)
  );

  assign m_cqe_tvalid = wait_valid && length_valid;
  assign take = m_cqe_tvalid && m_cqe_tready;

  always_comb begin
    out = wait_cqe;
    if (use_length) out.bytes = length;
  end
  assign m_cqe_tdata = out;

  logic unused;
  assign unused = ^{level, mask};

  `ROCEGEN_STREAM(cqe_contract, s_cqe_tvalid, s_cqe_tready, s_cqe_tdata)
  `ROCEGEN_STREAM(out_contract, m_cqe_tvalid, m_cqe_tready, m_cqe_tdata)

endmodule

`default_nettype wire
