// dpi_chunks: cuts a packet's payload into chunks of a fixed size for a model that judges chunks.
//
// Takes a beat in every cycle (valid_i, no handshake). A cycle later chunk_valid_o has a bit for each
// chunk that the beat completed, the earliest in lane 0 and in the low bits of chunk_o (its first byte
// in bits 7:0), and end_o says that the beat was its packet's last. A chunk at the end of a packet that
// is not full is left out.
//
// DataW: bits a beat, 64..1024. ChunkW: bits of a chunk, 64..1024; both powers of two.
`default_nettype none

module dpi_chunks #(
  parameter int DataW = 512,
  parameter int ChunkW = 512,
  // Lanes: chunks a beat (not to be set).
  parameter int Lanes = DataW > ChunkW ? DataW / ChunkW : 1
) (
  input  logic                     clk,
  input  logic                     rst,
  input  logic                     valid_i,
  input  logic                     last_i,
  input  logic [DataW-1:0]         data_i,
  input  logic [DataW/8-1:0]       keep_i,
  output logic                     end_o,
  output logic [Lanes-1:0]         chunk_valid_o,
  output logic [Lanes*ChunkW-1:0]  chunk_o
);

  if (DataW < 64 || DataW > 1024 || (1 << $clog2(DataW)) != DataW) begin : gen_check_data
    $fatal(1, "dpi_chunks: DataW must be a power of two in 64..1024");
  end
  if (ChunkW < 64 || ChunkW > 1024 || (1 << $clog2(ChunkW)) != ChunkW) begin : gen_check_chunk
    $fatal(1, "dpi_chunks: ChunkW must be a power of two in 64..1024");
  end

  always_ff @(posedge clk) begin
    if (rst) end_o <= 1'b0;
    else end_o <= valid_i && last_i;
  end

  if (ChunkW > DataW) begin : gen_gather
    localparam int Beats = ChunkW / DataW;
    localparam int CountW = $clog2(Beats);
    logic [CountW-1:0] count_q;
    logic              full;

    // Keep is contiguous: its top bit says that the beat is full.
    assign full = keep_i[DataW/8-1];

    always_ff @(posedge clk) begin
      if (rst) begin
        count_q       <= '0;
        chunk_valid_o <= 1'b0;
      end else begin
        chunk_valid_o <= valid_i && full && count_q == CountW'(Beats - 1);
        if (valid_i) count_q <= last_i ? '0 : count_q + 1'b1;
      end
      if (valid_i) chunk_o <= {data_i, chunk_o[ChunkW-1:DataW]};
    end
    logic unused_keep;
    assign unused_keep = ^keep_i[DataW/8-2:0];
  end else begin : gen_cut
    logic [Lanes-1:0] full;

    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      assign full[i] = keep_i[(i+1)*(ChunkW/8)-1];
    end

    always_ff @(posedge clk) begin
      if (rst) chunk_valid_o <= '0;
      else chunk_valid_o <= valid_i ? full : '0;
      chunk_o <= data_i;
    end
    logic unused_keep;
    assign unused_keep = ^keep_i;
  end

endmodule

`default_nettype wire
