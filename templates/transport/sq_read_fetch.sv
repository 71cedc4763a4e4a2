// sq_read_fetch: the command for each response's payload.
//
// put_valid_i with a response that sq_ack judged, at most every second cycle and only while room_o
// (a response may come up to 8 cycles after room_o fell): its command is on m_fetch 5 cycles later,
// in order. put_forward_i 1: packet put_number_i of the data at put_laddr_i goes to memory; an
// atomic's result is turned around, as memory is little-endian. 0: its buffer space is only
// released. m_fetch may stall: room_o falls, none is lost.
//
// QpW: bits of a QPN, 1..14.
`include "rocegen_assert.svh"
`default_nettype none

module sq_read_fetch #(
  parameter int QpW = 4
) (
  input  logic              clk,
  input  logic              rst,
  output logic              room_o,
  input  logic              put_valid_i,
  input  logic              put_forward_i,
  input  logic [QpW-1:0]    put_qpn_i,
  input  logic [23:0]       put_psn_i,
  input  logic [15:0]       put_buf_i,
  input  logic [13:0]       put_bytes_i,
  input  logic              put_last_i,
  input  logic              put_atomic_i,
  input  logic [2:0]        put_target_i,
  input  logic [63:0]       put_laddr_i,
  input  logic [23:0]       put_number_i,
  input  logic [2:0]        put_pmtu_i,
  output logic              m_fetch_tvalid,
  input  logic              m_fetch_tready,
  output roce_pkg::rx_cmd_t m_fetch_tdata
);

  localparam int Depth = 16;
  localparam int LevelW = $clog2(Depth + 1);

  typedef struct packed {
    logic           first;
    logic           forward;
    logic           last;
    logic           atomic;
    logic [2:0]     target;
    logic [QpW-1:0] qpn;
    logic [23:0]    psn;
    logic [15:0]    buf_addr;
    logic [13:0]    bytes;
  } put_t;

  localparam int PutW = 61 + QpW;

  // ---- offset, low half of the address, high half -----------------------------------------------
  // Every second cycle at most, so the wide registers need not move in between.
  logic [31:0] offset;
  logic        v1_q;
  logic        v2_q;
  put_t        in_q;
  logic [31:0] offset_q;
  logic [63:0] laddr_q;
  put_t        out_q;
  logic [31:0] high_q;
  logic [31:0] low_q;
  logic        carry_q;

  always_comb begin
    case (put_pmtu_i)
      3'd1: offset = {put_number_i, 8'b0};
      3'd2: offset = {put_number_i[22:0], 9'b0};
      3'd3: offset = {put_number_i[21:0], 10'b0};
      3'd4: offset = {put_number_i[20:0], 11'b0};
      default: offset = {put_number_i[19:0], 12'b0};
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      v1_q <= 1'b0;
      v2_q <= 1'b0;
    end else begin
      v1_q <= put_valid_i;
      v2_q <= v1_q;
    end
  end

  always_ff @(posedge clk) begin
    if (put_valid_i) begin
      in_q     <= {put_forward_i && put_number_i == '0, put_forward_i, put_forward_i && put_last_i, put_forward_i && put_atomic_i,
          put_target_i, put_qpn_i, put_psn_i, put_buf_i, put_bytes_i};
      laddr_q  <= put_laddr_i;
      offset_q <= offset;
    end
    if (v1_q) begin
      out_q  <= in_q;
      high_q <= laddr_q[63:32];
      {carry_q, low_q} <= {1'b0, laddr_q[31:0]} + {1'b0, offset_q};
    end
  end

  // ---- queue ------------------------------------------------------------------------------------
  logic              queue_ready;
  logic              room_q;
  logic [LevelW-1:0] level;
  put_t              out;
  logic [63:0]       out_addr;
  logic [31:0]       high;

  assign high = high_q + 32'(carry_q);

  stream_fifo #(
    .Width(PutW + 64),
    .Depth(Depth)
  ) u_queue (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(v2_q),
    .s_axis_tready(queue_ready),
    .s_axis_tdata({out_q, high, low_q}),
    .m_axis_tvalid(m_fetch_tvalid),
    .m_axis_tready(m_fetch_tready),
    .m_axis_tdata({out, out_addr}),
    .level_o(level)
  );

  always_ff @(posedge clk) begin
    if (rst) room_q <= 1'b0;
    else room_q <= level <= LevelW'(Depth / 2);
  end

  always_comb begin
    m_fetch_tdata          = '0;
    m_fetch_tdata.buf_addr = out.buf_addr;
    m_fetch_tdata.bytes    = out.bytes;
    m_fetch_tdata.forward  = out.forward;
    m_fetch_tdata.last     = out.last;
    m_fetch_tdata.kind     = roce_pkg::PayResponse;
    m_fetch_tdata.swap     = out.atomic;
    m_fetch_tdata.idx      = {out.first, 7'd0};
    m_fetch_tdata.target   = out.target;
    m_fetch_tdata.qpn      = 24'(out.qpn);
    m_fetch_tdata.psn      = out.psn;
    m_fetch_tdata.addr     = out_addr;
  end

  assign room_o = room_q;

  logic unused;
  assign unused = queue_ready;

  `ROCEGEN_ASSERT(command_never_lost, !v2_q || queue_ready)
  `ROCEGEN_ASSERT(put_spaced, !put_valid_i || !v1_q)

endmodule

`default_nettype wire
