// mr_table: the memory regions, as set up by the host, looked up by index.
//
// Look-up: one a cycle, by two users. entry_o belongs to the index of two cycles before: index_i
// when req_i was high, else index2_i. gnt2_o: req2_i is high and gets its look-up now, two cycles
// before its entry; req_i has precedence and needs no grant. An index beyond MrCount, and
// everything before ready_o, reads as not valid. The index within entry_o reads as zero.
//
// Set-up: s_cfg takes a region every two cycles, from ready_o on; look-ups after the cycle in which
// it is taken see it. An index beyond MrCount is taken and ignored. A region of more than 2^40
// bytes, or one that goes on beyond address 2^64, is stored as not valid: whoever uses an entry may
// add offsets to its base without a thought of overflow.
//
// Invalidation: inv_valid_i marks the region inv_index_i as not valid, for look-ups from the second
// cycle after it on; one a cycle, an index beyond MrCount is ignored. A set-up that is taken later
// wins over it.
//
// MrCount: regions, 1..65536. From 1024 on a part of the table is UltraRAM, from 2048 on all of it.
// rocegen: comb none
`include "rocegen_assert.svh"
`default_nettype none

module mr_table #(
  parameter int MrCount = 16
) (
  input  logic              clk,
  input  logic              rst,
  output logic              ready_o,
  input  logic              s_cfg_tvalid,
  output logic              s_cfg_tready,
  input  roce_pkg::mr_cfg_t s_cfg_tdata,
  input  logic              req_i,
  input  logic [23:0]       index_i,
  input  logic              req2_i,
  input  logic [23:0]       index2_i,
  output logic              gnt2_o,
  output roce_pkg::mr_cfg_t entry_o,
  input  logic              inv_valid_i,
  input  logic [23:0]       inv_index_i
);

  if (MrCount < 1 || MrCount > 65536) begin : gen_check_mr_count
    $fatal(1, "mr_table: MrCount must be in 1..65536");
  end

  localparam int MrW = MrCount > 1 ? $clog2(MrCount) : 1;
  localparam int LengthW = 41;
  localparam int RestW = 8 + 4 + 3 + 16 + LengthW;  // an entry without its base: a word of UltraRAM
  localparam int Block = MrCount > 64 ? 1 : 0;  // style of a table that is no UltraRAM

  // ---- set-up: one cycle to add, one to write, more while invalidations write ------------------
  logic            added_q;
  logic            known_q;
  logic            too_long_q;
  logic [64:0]     end_q;
  logic            fits;
  logic            take;
  logic            inv_q;
  logic [MrW-1:0]  inv_index_q;

  assign take = added_q && !inv_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      added_q <= 1'b0;
      inv_q   <= 1'b0;
    end else begin
      added_q <= ready_o && s_cfg_tvalid && !take;
      inv_q   <= inv_valid_i && inv_index_i < 24'(MrCount);
    end
    inv_index_q <= inv_index_i[MrW-1:0];
    known_q     <= s_cfg_tdata.index < 24'(MrCount);
    too_long_q  <= s_cfg_tdata.length[63:41] != '0 ||
        (s_cfg_tdata.length[40] && s_cfg_tdata.length[39:0] != '0);
    end_q       <= {1'b0, s_cfg_tdata.base} + {1'b0, s_cfg_tdata.length};
  end

  assign fits         = !too_long_q && (!end_q[64] || end_q[63:0] == '0);
  assign s_cfg_tready = take;

  // ---- table ------------------------------------------------------------------------------------
  logic              valid;
  logic [RestW-1:0]  rest;
  logic [63:0]       base;
  logic [23:0]       index;
  logic              in_table1_q;
  logic              in_table2_q;

  assign gnt2_o = req2_i && !req_i;
  assign index  = req_i ? index_i : index2_i;

  ram_clear #(
    .Width(1),
    .Depth(MrCount),
    .Latency(2)
  ) u_valid (
    .clk(clk),
    .rst(rst),
    .wr_en_i(inv_q || (take && known_q)),
    .wr_addr_i(inv_q ? inv_index_q : s_cfg_tdata.index[MrW-1:0]),
    .wr_data_i(!inv_q && s_cfg_tdata.valid && fits),
    .rd_en_i(1'b1),
    .rd_addr_i(index[MrW-1:0]),
    .rd_data_o(valid),
    .ready_o(ready_o)
  );

  ram_sdp #(
    .Width(RestW),
    .Depth(MrCount),
    .Latency(2),
    .Style(MrCount >= 1024 ? 2 : Block)
  ) u_rest (
    .clk(clk),
    .wr_en_i(take && known_q),
    .wr_addr_i(s_cfg_tdata.index[MrW-1:0]),
    .wr_data_i({s_cfg_tdata.variant, s_cfg_tdata.access, s_cfg_tdata.target, s_cfg_tdata.pd,
        s_cfg_tdata.length[LengthW-1:0]}),
    .rd_en_i(1'b1),
    .rd_addr_i(index[MrW-1:0]),
    .rd_data_o(rest)
  );

  ram_sdp #(
    .Width(64),
    .Depth(MrCount),
    .Latency(2),
    .Style(MrCount >= 2048 ? 2 : Block)
  ) u_base (
    .clk(clk),
    .wr_en_i(take && known_q),
    .wr_addr_i(s_cfg_tdata.index[MrW-1:0]),
    .wr_data_i(s_cfg_tdata.base),
    .rd_en_i(1'b1),
    .rd_addr_i(index[MrW-1:0]),
    .rd_data_o(base)
  );

  always_ff @(posedge clk) begin
    in_table1_q <= ready_o && index < 24'(MrCount);
    in_table2_q <= in_table1_q;
  end

  assign entry_o = {24'd0, valid && in_table2_q, rest[RestW-1:LengthW], base,
      {(64 - LengthW){1'b0}}, rest[LengthW-1:0]};

  `ROCEGEN_STREAM(cfg_contract, s_cfg_tvalid, s_cfg_tready, s_cfg_tdata)

endmodule

`default_nettype wire
