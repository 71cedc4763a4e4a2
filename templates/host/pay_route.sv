// pay_route: sorts received payload into data for memory and operands of atomics, and lets the
// atomic unit's writes into the stream of data.
//
// s_pay carries packets with rx_cmd_t in tuser. Kinds PayRequest and PayResponse pass to m_pay, as
// they are. The 16 bytes of kinds PayCmpSwap and PayFetchAdd (first the swap or add operand, then
// the compare operand, big-endian) become one atomic_req_t on m_atomic, with the numbers in it;
// its tag is the number of PayRequest packets that went before it. While an atomic waits on
// m_atomic nothing of s_pay passes it. s_write carries writes of 8 bytes (tuser rx_cmd_t); each
// becomes a packet of one beat on m_pay, between packets of s_pay and before them, also while an
// atomic waits. Handshake: m_pay and m_atomic come from registers, latency 1 cycle, one beat a
// cycle; s_pay_tready and s_write_tready follow m_pay_tready combinationally. An atomic takes one
// cycle of s_pay beside its beats.
//
// DataW: bits, 64..1024, a power of two.
// rocegen: comb s_pay.tready<-m_pay.tready, s_pay.tready<-s_write.tvalid
// rocegen: comb s_pay.tready<-s_pay.t*
// rocegen: comb s_write.tready<-m_pay.tready, s_write.tready<-s_write.tvalid
`include "rocegen_assert.svh"
`default_nettype none

module pay_route #(
  parameter int DataW = 512
) (
  input  logic                            clk,
  input  logic                            rst,
  input  logic                            s_pay_tvalid,
  output logic                            s_pay_tready,
  input  logic [DataW-1:0]                s_pay_tdata,
  input  logic [DataW/8-1:0]              s_pay_tkeep,
  input  logic                            s_pay_tlast,
  input  logic [roce_pkg::RxCmdW-1:0]     s_pay_tuser,
  input  logic                            s_write_tvalid,
  output logic                            s_write_tready,
  input  logic [63:0]                     s_write_tdata,
  input  logic [roce_pkg::RxCmdW-1:0]     s_write_tuser,
  output logic                            m_pay_tvalid,
  input  logic                            m_pay_tready,
  output logic [DataW-1:0]                m_pay_tdata,
  output logic [DataW/8-1:0]              m_pay_tkeep,
  output logic                            m_pay_tlast,
  output logic [roce_pkg::RxCmdW-1:0]     m_pay_tuser,
  output logic                            m_atomic_tvalid,
  input  logic                            m_atomic_tready,
  output logic [roce_pkg::AtomicReqW-1:0] m_atomic_tdata
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "pay_route: DataW must be a power of two, 64..1024");
  end

  roce_pkg::rx_cmd_t cmd;
  logic              for_unit;  // the beat at s_pay belongs to an atomic
  logic              offer;  // s_pay has a beat for m_pay
  logic              inside_q;  // a packet of s_pay has begun on m_pay
  logic              pick_write;
  logic              out_load;
  logic              out_valid_q;
  logic              atomic_q;
  logic              load;
  logic [11:0]       tag_q;

  assign cmd = s_pay_tuser;
  assign for_unit = cmd.kind[1];
  assign offer = s_pay_tvalid && !for_unit && !atomic_q;
  assign pick_write = s_write_tvalid && !inside_q;
  assign out_load = m_pay_tready || !out_valid_q;

  assign s_write_tready = out_load && pick_write;
  assign s_pay_tready = !atomic_q && (for_unit || (out_load && !pick_write));

  always_ff @(posedge clk) begin
    if (rst) begin
      out_valid_q <= 1'b0;
      inside_q    <= 1'b0;
      tag_q       <= '0;
    end else if (out_load) begin
      out_valid_q <= pick_write || offer;
      if (offer && !pick_write) begin
        inside_q <= !s_pay_tlast;
        if (s_pay_tlast && (cmd.kind == roce_pkg::PayRequest)) tag_q <= tag_q + 12'd1;
      end
    end
  end

  // Beyond 8 bytes of a write tkeep is zero: no multiplexer is needed there.
  always_ff @(posedge clk) begin
    if (out_load) begin
      m_pay_tdata <= s_pay_tdata;
      if (pick_write) m_pay_tdata[63:0] <= s_write_tdata;
      m_pay_tkeep <= pick_write ? (DataW/8)'(255) : s_pay_tkeep;
      m_pay_tlast <= pick_write || s_pay_tlast;
      m_pay_tuser <= pick_write ? s_write_tuser : s_pay_tuser;
    end
  end

  assign m_pay_tvalid = out_valid_q;

  // ---- operands ----
  logic [127:0]          wire_bytes;  // byte 0 of the operands in the low byte
  logic [63:0]           swap_add;
  logic [63:0]           compare;
  roce_pkg::atomic_req_t request_q;

  if (DataW == 64) begin : gen_two_beats
    logic [63:0] first_q;
    always_ff @(posedge clk) begin
      if (s_pay_tvalid && s_pay_tready && !s_pay_tlast) first_q <= s_pay_tdata;
    end
    assign wire_bytes = {s_pay_tdata, first_q};
  end else begin : gen_one_beat
    assign wire_bytes = s_pay_tdata[127:0];
  end

  always_comb begin
    for (int i = 0; i < 8; i++) begin
      swap_add[(7-i)*8 +: 8] = wire_bytes[i*8 +: 8];
      compare[(7-i)*8 +: 8] = wire_bytes[(8+i)*8 +: 8];
    end
  end

  assign load = s_pay_tvalid && for_unit && s_pay_tlast && !atomic_q;

  always_ff @(posedge clk) begin
    if (rst) atomic_q <= 1'b0;
    else if (load) atomic_q <= 1'b1;
    else if (m_atomic_tready) atomic_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (load) begin
      request_q.add      <= cmd.kind == roce_pkg::PayFetchAdd;
      request_q.qpn      <= cmd.qpn;
      request_q.idx      <= cmd.idx;
      request_q.tag      <= tag_q;
      request_q.target   <= cmd.target;
      request_q.addr     <= cmd.addr;
      request_q.swap_add <= swap_add;
      request_q.compare  <= compare;
    end
  end

  assign m_atomic_tvalid = atomic_q;
  assign m_atomic_tdata = request_q;

  // The rest of the command of an atomic concerns nobody.
  logic unused_cmd;
  assign unused_cmd = ^cmd;

  `ROCEGEN_STREAM(pay_contract, s_pay_tvalid, s_pay_tready,
                  {s_pay_tuser, s_pay_tlast, s_pay_tkeep, s_pay_tdata})
  `ROCEGEN_STREAM(write_contract, s_write_tvalid, s_write_tready, {s_write_tuser, s_write_tdata})
  `ROCEGEN_ASSERT(operands_are_16_bytes, !(s_pay_tvalid && for_unit) || (cmd.bytes == 14'd16))

endmodule

`default_nettype wire
