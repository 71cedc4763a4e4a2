// cmd_bypass: requests without payload (READs, atomics, empty SENDs and WRITEs) go around dma_read,
// where they would wait behind the payload of READ responses; the order of all requests stays.
//
// s_cmd (tx_cmd_t of sq_engine) goes on to m_cmd, the way through dma_read, or, when it has no
// payload and no request is on that way, to m_pkt (tx_pkt_t), the way around. request_left_i pulses
// for every request at the end of the way through. A request goes through only when the one before
// it has left m_pkt; so nobody overtakes. Other commands share the way through with m_cmd.
//
// Handshake: s_cmd_tready and m_cmd_tvalid depend on s_cmd_tvalid, s_cmd_tdata and m_cmd_tready
// combinationally, m_cmd_tdata is s_cmd_tdata; m_pkt comes from registers, and m_pkt_tready ends
// there: the ready of the whole way to the MAC is long. Latency: none to m_cmd, 1 cycle to m_pkt. A
// request a cycle goes through, one every two cycles around. At most 2047 requests may be on the way
// through.
//
// EmptyThrough: 1, empty SENDs and WRITEs always go through dma_read: a service at egress appends
// something to them.
// rocegen: comb s_cmd.tready<-s_cmd.t*, s_cmd.tready<-m_cmd.tready
// rocegen: comb m_cmd.t*<-s_cmd.t*
`include "rocegen_assert.svh"
`default_nettype none

module cmd_bypass #(
  parameter int EmptyThrough = 0
) (
  input  logic                        clk,
  input  logic                        rst,
  input  logic                        s_cmd_tvalid,
  output logic                        s_cmd_tready,
  input  logic [roce_pkg::TxCmdW-1:0] s_cmd_tdata,
  output logic                        m_cmd_tvalid,
  input  logic                        m_cmd_tready,
  output logic [roce_pkg::TxCmdW-1:0] m_cmd_tdata,
  output logic                        m_pkt_tvalid,
  input  logic                        m_pkt_tready,
  output logic [roce_pkg::TxPktW-1:0] m_pkt_tdata,
  input  logic                        request_left_i
);

  localparam int CountW = 11;

  roce_pkg::tx_cmd_t cmd;
  logic [CountW-1:0] through_q;  // requests on the way through dma_read
  logic              clear_q;  // none
  logic              offered_q;  // s_cmd was offered to m_cmd and stays there
  logic              message;  // SEND or WRITE
  logic              around;
  logic              enter;
  logic [CountW-1:0] through_d;

  assign cmd = s_cmd_tdata;
  assign message = cmd.pkt.opcode < roce_pkg::OpReadRequest ||
      cmd.pkt.opcode == roce_pkg::OpSendLastInv || cmd.pkt.opcode == roce_pkg::OpSendOnlyInv;
  assign around = cmd.pkt.pay_bytes == '0 && clear_q && !offered_q &&
      (EmptyThrough == 0 || !message);
  assign enter = m_cmd_tvalid && m_cmd_tready;

  assign m_cmd_tvalid = s_cmd_tvalid && !around && !m_pkt_tvalid;
  assign m_cmd_tdata = s_cmd_tdata;
  assign s_cmd_tready = !m_pkt_tvalid && (around || m_cmd_tready);

  always_comb begin
    through_d = through_q;
    if (enter && !request_left_i) through_d = through_q + 1'b1;
    else if (!enter && request_left_i) through_d = through_q - 1'b1;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      through_q    <= '0;
      clear_q      <= 1'b1;
      offered_q    <= 1'b0;
      m_pkt_tvalid <= 1'b0;
    end else begin
      through_q <= through_d;
      clear_q   <= through_d == '0;
      offered_q <= m_cmd_tvalid && !m_cmd_tready;
      m_pkt_tvalid <= m_pkt_tvalid ? !m_pkt_tready : s_cmd_tvalid && around;
    end
  end

  always_ff @(posedge clk) begin
    if (!m_pkt_tvalid) m_pkt_tdata <= cmd.pkt;
  end

  // Where the payload lies is of no use to a packet.
  logic unused;
  assign unused = ^cmd;

  `ROCEGEN_ASSERT(through_bound, through_q != '1 || !enter)
  `ROCEGEN_ASSERT(left_was_there, !request_left_i || through_q != '0)
  `ROCEGEN_STREAM(through_contract, m_cmd_tvalid, m_cmd_tready, m_cmd_tdata)
  `ROCEGEN_STREAM(cmd_contract, s_cmd_tvalid, s_cmd_tready, s_cmd_tdata)

endmodule

`default_nettype wire
