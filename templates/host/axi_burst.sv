// axi_burst: cuts a transfer into AXI4 INCR bursts that cross no 4 KB boundary and have at most 256
// beats.
//
// A request names the byte address of its first byte (any alignment) and the number of data-bus
// beats that it touches. Each burst goes out as one beat of m_burst with its byte address, AxLEN
// and whether it is the request's last; a request with `none` set gives one burst beat with `none`
// set. user goes along. Bursts after the first start at a boundary.
// Handshake: valid and payload of m_burst depend on registers only; s_req_tready follows
// m_burst_tready combinationally. Latency 1 cycle, one burst a cycle, no gap between requests.
//
// DataW: bits of the data bus, 64..1024, a power of two. AddrW: bits, 20..64. UserW: bits, >= 1.
`default_nettype none

module axi_burst #(
  parameter int DataW = 512,
  parameter int AddrW = 64,
  parameter int UserW = 1
) (
  input  logic                          clk,
  input  logic                          rst,
  input  logic                          s_req_tvalid,
  output logic                          s_req_tready,
  input  logic [AddrW-1:0]              s_req_addr_i,
  input  logic [14-$clog2(DataW/8):0]   s_req_beats_m1_i,
  input  logic                          s_req_none_i,
  input  logic [UserW-1:0]              s_req_user_i,
  output logic                          m_burst_tvalid,
  input  logic                          m_burst_tready,
  output logic [AddrW-1:0]              m_burst_addr_o,
  output logic [7:0]                    m_burst_len_o,
  output logic                          m_burst_final_o,
  output logic                          m_burst_none_o,
  output logic [UserW-1:0]              m_burst_user_o
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "axi_burst: DataW must be a power of two, 64..1024");
  end
  if (AddrW < 20 || AddrW > 64) begin : gen_check_addr
    $fatal(1, "axi_burst: AddrW must be 20..64");
  end
  if (UserW < 1) begin : gen_check_user
    $fatal(1, "axi_burst: UserW must be at least 1");
  end

  localparam int ByteW = $clog2(DataW / 8);
  localparam int ChunkW = DataW >= 128 ? 12 : 8 + ByteW;  // 4 KB, or 256 beats of 8 bytes
  localparam int IndexW = ChunkW - ByteW;
  localparam int BeatsW = 15 - ByteW;

  logic              valid_q;
  logic [AddrW-1:0]  addr_q;
  logic [BeatsW-1:0] left_q;  // beats still to issue, minus one
  logic              none_q;
  logic [UserW-1:0]  user_q;

  // Beats up to the boundary, minus one.
  logic [IndexW-1:0] to_end;
  logic              fits;
  assign to_end = ~addr_q[ByteW +: IndexW];
  assign fits = left_q <= BeatsW'(to_end);

  assign s_req_tready = !valid_q || (m_burst_tready && m_burst_final_o);

  always_ff @(posedge clk) begin
    if (rst) valid_q <= 1'b0;
    else if (s_req_tready) valid_q <= s_req_tvalid;
  end

  always_ff @(posedge clk) begin
    if (s_req_tready) begin
      addr_q <= s_req_addr_i;
      left_q <= s_req_beats_m1_i;
      none_q <= s_req_none_i;
      user_q <= s_req_user_i;
    end else if (m_burst_tready) begin
      addr_q <= {addr_q[AddrW-1:ChunkW] + 1'b1, ChunkW'(0)};
      left_q <= left_q - BeatsW'(to_end) - 1'b1;
    end
  end

  assign m_burst_tvalid = valid_q;
  assign m_burst_addr_o = addr_q;
  assign m_burst_len_o = fits ? 8'(left_q) : 8'(to_end);
  assign m_burst_final_o = fits || none_q;
  assign m_burst_none_o = none_q;
  assign m_burst_user_o = user_q;

endmodule

`default_nettype wire
