// responder_region: may this key be used for that?
//
// Inputs are of one cycle; ok_o belongs to the inputs of two cycles before. A new check every
// cycle. ok_o: the region is valid, its key's variant, its protection domain and all rights in
// need_i fit, and, with range_i, [addr_i, addr_i + bytes_i) lies within it, bytes_i >= 1. The
// region must end at or below 2^64 and be at most 2^40 bytes long (mr_table keeps no other): then
// no sum overflows, and an address below the base shows as an offset beyond the length.
`default_nettype none

module responder_region (
  input  logic              clk,
  input  logic              in_table_i,  // the key's index is one of the table's
  input  logic [7:0]        variant_i,
  input  logic [15:0]       pd_i,
  input  logic [3:0]        need_i,  // Acc* bits
  input  logic              range_i,
  input  logic [63:0]       addr_i,
  input  logic [31:0]       bytes_i,
  // The index is the asker's own, the target too, of the length only 2^40.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::mr_cfg_t entry_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic              ok_o
);

  logic        attributes_q;
  logic        long_enough_q;
  logic        range_q;
  logic [63:0] offset_q;  // of the first byte within the region
  logic [40:0] limit_q;  // largest offset that leaves room for all bytes
  logic [41:0] limit_d;

  assign limit_d = {1'b0, entry_i.length[40:0]} - {10'd0, bytes_i};

  always_ff @(posedge clk) begin
    attributes_q <= in_table_i && entry_i.valid && entry_i.variant == variant_i &&
        entry_i.pd == pd_i && (need_i & ~entry_i.access) == '0;
    range_q       <= range_i;
    long_enough_q <= !limit_d[41];
    offset_q      <= addr_i - entry_i.base;
    limit_q       <= limit_d[40:0];
    ok_o <= attributes_q && (!range_q ||
        (long_enough_q && offset_q[63:41] == '0 && offset_q[40:0] <= limit_q));
  end

endmodule

`default_nettype wire
