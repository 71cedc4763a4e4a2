// stream_fifo: first-word fall-through FIFO with registered outputs.
//
// Handshake: m_axis_tvalid and m_axis_tdata come from registers (the RAM's own read register) and
// s_axis_tready from a register. One beat a cycle in and out at the same time. Latency 2 cycles (1
// cycle when Depth is 2, or with Bypass). Holds exactly Depth beats; when full, s_axis_tready falls
// and nothing is lost. level_o counts the beats held, the one at the output included.
//
// Width: bits of payload, >= 1. Depth: beats, >= 2, any number. Style: 0 auto (distributed up to 64
// deep, above by size as in ram_sdp), 1 block RAM, 2 UltraRAM, 3 distributed. Bypass: 1, a beat
// that would wait for nobody goes round the RAM, into a register with a multiplexer behind it.
`include "rocegen_assert.svh"
`default_nettype none

module stream_fifo #(
  parameter int Width = 8,
  parameter int Depth = 16,
  parameter int Style = 0,
  parameter int Bypass = 0
) (
  input  logic                       clk,
  input  logic                       rst,
  input  logic                       s_axis_tvalid,
  output logic                       s_axis_tready,
  input  logic [Width-1:0]           s_axis_tdata,
  output logic                       m_axis_tvalid,
  input  logic                       m_axis_tready,
  output logic [Width-1:0]           m_axis_tdata,
  output logic [$clog2(Depth+1)-1:0] level_o
);

  if (Width < 1) begin : gen_check_width
    $fatal(1, "stream_fifo: Width must be at least 1");
  end
  if (Depth < 2) begin : gen_check_depth
    $fatal(1, "stream_fifo: Depth must be at least 2");
  end
  if (Style < 0 || Style > 3) begin : gen_check_style
    $fatal(1, "stream_fifo: Style must be 0, 1, 2 or 3");
  end

  localparam int LevelW = $clog2(Depth + 1);

  logic              push;
  logic              pop;
  logic [LevelW-1:0] level_q;

  assign push = s_axis_tvalid && s_axis_tready;
  assign pop = m_axis_tvalid && m_axis_tready;

  always_ff @(posedge clk) begin
    if (rst) level_q <= '0;
    else if (push != pop) level_q <= pop ? level_q - 1'b1 : level_q + 1'b1;
  end

  assign level_o = level_q;

  if (Depth == 2) begin : gen_skid
    stream_skid #(
      .Width(Width)
    ) u_skid (
      .clk(clk),
      .rst(rst),
      .s_axis_tvalid(s_axis_tvalid),
      .s_axis_tready(s_axis_tready),
      .s_axis_tdata(s_axis_tdata),
      .m_axis_tvalid(m_axis_tvalid),
      .m_axis_tready(m_axis_tready),
      .m_axis_tdata(m_axis_tdata)
    );
  end else begin : gen_ram
    localparam int AddrW = $clog2(Depth);
    localparam logic [AddrW-1:0] LastAddr = AddrW'(Depth - 1);
    localparam int RamStyle = Style == 0 && Depth <= 64 ? 3 : Style;

    logic             ready_q;
    logic             valid_q;
    logic [AddrW-1:0] wr_ptr_q;
    logic [AddrW-1:0] rd_ptr_q;
    logic             store;  // a beat goes into the RAM
    logic             pass;  // a beat goes round it
    logic             read;
    logic             out_free;
    logic [Width-1:0] ram_data;
    logic             full_d;

    // In this form the handshakes, which often come late, pass one LUT.
    assign full_d = level_q == LevelW'(Depth) ? !pop :
        level_q == LevelW'(Depth - 1) && push && !pop;

    // While beats stay in the RAM one is in the output register, so the RAM never holds all
    // Depth beats and equal pointers mean empty.
    assign out_free = m_axis_tready || !valid_q;
    assign read = (wr_ptr_q != rd_ptr_q) && out_free;
    assign pass = Bypass != 0 && push && (wr_ptr_q == rd_ptr_q) && out_free;
    assign store = push && !pass;

    always_ff @(posedge clk) begin
      if (rst) begin
        ready_q  <= 1'b0;
        valid_q  <= 1'b0;
        wr_ptr_q <= '0;
        rd_ptr_q <= '0;
      end else begin
        ready_q <= !full_d;
        valid_q <= wr_ptr_q != rd_ptr_q || pass || (valid_q && !m_axis_tready);
        if (store) wr_ptr_q <= wr_ptr_q == LastAddr ? '0 : wr_ptr_q + 1'b1;
        if (read) rd_ptr_q <= rd_ptr_q == LastAddr ? '0 : rd_ptr_q + 1'b1;
      end
    end

    ram_sdp #(
      .Width(Width),
      .Depth(Depth),
      .Latency(1),
      .Style(RamStyle)
    ) u_ram (
      .clk(clk),
      .wr_en_i(store),
      .wr_addr_i(wr_ptr_q),
      .wr_data_i(s_axis_tdata),
      .rd_en_i(read),
      .rd_addr_i(rd_ptr_q),
      .rd_data_o(ram_data)
    );

    if (Bypass != 0) begin : gen_bypass
      logic             passed_q;  // the beat at the output went round the RAM
      logic [Width-1:0] beat_q;
      always_ff @(posedge clk) begin
        if (out_free) begin
          passed_q <= pass;
          beat_q   <= s_axis_tdata;
        end
      end
      assign m_axis_tdata = passed_q ? beat_q : ram_data;
    end else begin : gen_no_bypass
      assign m_axis_tdata = ram_data;
    end

    assign s_axis_tready = ready_q;
    assign m_axis_tvalid = valid_q;
  end

  `ROCEGEN_STREAM(in_contract, s_axis_tvalid, s_axis_tready, s_axis_tdata)
  `ROCEGEN_ASSERT(level_bound, 32'(level_q) <= Depth)

endmodule

`default_nettype wire
