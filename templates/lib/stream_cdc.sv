// stream_cdc: FIFO between two unrelated clocks.
//
// Handshake: all outputs are registers or depend on registers of their own domain only. One beat a
// cycle of the slower clock when Depth >= 16. Latency: 1 cycle of clk_s, then 4 to 5 of clk_m.
// Holds Depth beats and one in the output register; when full, s_axis_tready falls and nothing is
// lost. Both resets must be active together, for 8 cycles of the slower clock or more; beats in
// flight are dropped by a reset.
// Constraints: set_max_delay -datapath_only (one period of the faster clock) and a bus skew on
// wr_gray_q -> u_sync_wr/first_q and rd_gray_q -> u_sync_rd/first_q; set_max_delay on mem ->
// data_q.
//
// Width: bits of payload, >= 1. Depth: beats, a power of two, 4..1024 (distributed RAM).
`include "rocegen_assert.svh"
`default_nettype none

module stream_cdc #(
  parameter int Width = 8,
  parameter int Depth = 16
) (
  input  logic             clk_s,
  input  logic             rst_s,
  input  logic             s_axis_tvalid,
  output logic             s_axis_tready,
  input  logic [Width-1:0] s_axis_tdata,
  input  logic             clk_m,
  input  logic             rst_m,
  output logic             m_axis_tvalid,
  input  logic             m_axis_tready,
  output logic [Width-1:0] m_axis_tdata
);

  if (Width < 1) begin : gen_check_width
    $fatal(1, "stream_cdc: Width must be at least 1");
  end
  if (Depth < 4 || Depth > 1024 || (1 << $clog2(Depth)) != Depth) begin : gen_check_depth
    $fatal(1, "stream_cdc: Depth must be a power of two, 4..1024");
  end

  localparam int AddrW = $clog2(Depth);
  localparam int PtrW = AddrW + 1;

  (* ram_style = "distributed" *) logic [Width-1:0] mem[Depth];

  // ---- clk_s: write side ----
  logic [PtrW-1:0] wr_ptr_q;
  logic [PtrW-1:0] wr_ptr_d;
  logic [PtrW-1:0] wr_gray_q;
  logic [PtrW-1:0] rd_gray_s;
  logic [PtrW-1:0] wr_gray_d;
  logic            ready_q;
  logic            push;

  assign push = s_axis_tvalid && ready_q;
  assign wr_ptr_d = push ? wr_ptr_q + 1'b1 : wr_ptr_q;
  assign wr_gray_d = wr_ptr_d ^ (wr_ptr_d >> 1);

  // Full: the Gray pointers differ in the two top bits only.
  always_ff @(posedge clk_s) begin
    if (rst_s) begin
      wr_ptr_q  <= '0;
      wr_gray_q <= '0;
      ready_q   <= 1'b0;
    end else begin
      wr_ptr_q  <= wr_ptr_d;
      wr_gray_q <= wr_gray_d;
      ready_q   <= wr_gray_d != (rd_gray_s ^ (PtrW'(3) << (PtrW - 2)));
    end
  end

  always_ff @(posedge clk_s) begin
    if (push) mem[wr_ptr_q[AddrW-1:0]] <= s_axis_tdata;
  end

  assign s_axis_tready = ready_q;

  // ---- clk_m: read side ----
  logic [PtrW-1:0]  rd_ptr_q;
  logic [PtrW-1:0]  rd_ptr_d;
  logic [PtrW-1:0]  rd_gray_q;
  logic [PtrW-1:0]  wr_gray_m;
  logic             valid_q;
  logic [Width-1:0] data_q;
  logic             read;

  assign read = (rd_gray_q != wr_gray_m) && (m_axis_tready || !valid_q);
  assign rd_ptr_d = read ? rd_ptr_q + 1'b1 : rd_ptr_q;

  always_ff @(posedge clk_m) begin
    if (rst_m) begin
      rd_ptr_q  <= '0;
      rd_gray_q <= '0;
      valid_q   <= 1'b0;
    end else begin
      rd_ptr_q  <= rd_ptr_d;
      rd_gray_q <= rd_ptr_d ^ (rd_ptr_d >> 1);
      if (read) valid_q <= 1'b1;
      else if (m_axis_tready) valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_m) begin
    if (read) data_q <= mem[rd_ptr_q[AddrW-1:0]];
  end

  assign m_axis_tvalid = valid_q;
  assign m_axis_tdata = data_q;

  // ---- crossings ----
  sync_bit #(
    .Width(PtrW),
    .Stages(2)
  ) u_sync_rd (
    .clk(clk_s),
    .async_i(rd_gray_q),
    .sync_o(rd_gray_s)
  );

  sync_bit #(
    .Width(PtrW),
    .Stages(2)
  ) u_sync_wr (
    .clk(clk_m),
    .async_i(wr_gray_q),
    .sync_o(wr_gray_m)
  );

  `ROCEGEN_STREAM_CLK(clk_s, rst_s, in_contract, s_axis_tvalid, s_axis_tready, s_axis_tdata)
  `ROCEGEN_STREAM_CLK(clk_m, rst_m, out_contract, m_axis_tvalid, m_axis_tready, m_axis_tdata)

endmodule

`default_nettype wire
