// rsp_rows: memory of the READs and atomics of all QPs, a ring of rows a QP.
//
// Three parts of each row: the entry, what of it has to be sent (todo) and an atomic's result or a
// READ's address.
// new_we_i writes the entry and with it todo_i, todo_we_i todo_i alone; the result has a port of
// its own. done_we_i, only where todo_busy_i and both writes are low, takes back `again` of a row.
// A row read shows two cycles later: rd_row_i, or sort_row_i while sort_i.
//
// RowW: bits of a row number.
`include "rocegen_assert.svh"
`default_nettype none

module rsp_rows #(
  parameter int RowW = 8
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 new_we_i,
  input  logic                 todo_we_i,
  input  logic [RowW-1:0]      row_i,
  input  roce_pkg::rsp_entry_t entry_i,
  input  roce_pkg::rsp_todo_t  todo_i,
  input  logic                 done_we_i,
  input  logic [RowW-1:0]      done_row_i,
  input  logic                 result_we_i,
  input  logic [RowW-1:0]      result_row_i,
  input  logic [66:0]          result_i,
  input  logic                 sort_i,
  input  logic [RowW-1:0]      sort_row_i,
  input  logic [RowW-1:0]      rd_row_i,
  output roce_pkg::rsp_entry_t entry_o,
  output roce_pkg::rsp_todo_t  todo_o,
  output logic [66:0]          result_o
);

  localparam int Rows = 1 << RowW;

  logic [RowW-1:0]                row;
  roce_pkg::rsp_todo_t            none_left;
  logic [roce_pkg::RspEntryW-1:0] entry_read;
  logic [roce_pkg::RspTodoW-1:0]  todo_read;

  assign row = sort_i ? sort_row_i : rd_row_i;

  always_comb begin
    none_left      = '0;
    none_left.used = 1'b1;
  end

  ram_sdp #(
    .Width(roce_pkg::RspEntryW),
    .Depth(Rows),
    .Latency(2)
  ) u_entry (
    .clk(clk),
    .wr_en_i(new_we_i),
    .wr_addr_i(row_i),
    .wr_data_i(entry_i),
    .rd_en_i(1'b1),
    .rd_addr_i(row),
    .rd_data_o(entry_read)
  );

  ram_sdp #(
    .Width(roce_pkg::RspTodoW),
    .Depth(Rows),
    .Latency(2)
  ) u_todo (
    .clk(clk),
    .wr_en_i(new_we_i || todo_we_i || done_we_i),
    .wr_addr_i(done_we_i ? done_row_i : row_i),
    .wr_data_i(done_we_i ? none_left : todo_i),
    .rd_en_i(1'b1),
    .rd_addr_i(row),
    .rd_data_o(todo_read)
  );

  ram_sdp #(
    .Width(67),
    .Depth(Rows),
    .Latency(2)
  ) u_result (
    .clk(clk),
    .wr_en_i(result_we_i),
    .wr_addr_i(result_row_i),
    .wr_data_i(result_i),
    .rd_en_i(1'b1),
    .rd_addr_i(row),
    .rd_data_o(result_o)
  );

  assign entry_o = entry_read;
  assign todo_o  = todo_read;

  `ROCEGEN_ASSERT(one_writer, !(done_we_i && (new_we_i || todo_we_i)))

endmodule

`default_nettype wire
