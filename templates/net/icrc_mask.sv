// icrc_mask: one beat of a frame as the ICRC sees it.
//
// Combinational. The Ethernet header's bytes read as zero (the CRC starts at
// roce_pkg::IcrcSeedEth); the fields that the network may change read as ones: IPv4 ToS, TTL and
// header checksum, UDP checksum, BTH byte 4 (IBTA A17.3.3). All other bytes pass.
//
// DataW: bits a beat, 64..1024, a power of two. IdxW: bits of idx_i. idx_i: number of the beat in
// its frame; any value that stands for "later" must be above 46 / (DataW / 8).
`default_nettype none

module icrc_mask #(
  parameter int DataW = 512,
  parameter int IdxW = 4
) (
  input  logic [IdxW-1:0]  idx_i,
  input  logic [DataW-1:0] data_i,
  output logic [DataW-1:0] data_o
);

  localparam int Bytes = DataW / 8;
  localparam int EthBytes = 14;
  localparam int LastMasked = 46;

  // Byte numbers of a frame that count as 0xFF.
  function automatic logic is_ones(input int f);
    is_ones = f == 15 || f == 22 || f == 24 || f == 25 || f == 40 || f == 41 || f == LastMasked;
  endfunction

  for (genvar p = 0; p < Bytes; p++) begin : gen_lane
    always_comb begin
      data_o[8*p+:8] = data_i[8*p+:8];
      for (int b = 0; b <= LastMasked / Bytes; b++) begin
        if (idx_i == IdxW'(b)) begin
          if (b * Bytes + p < EthBytes) data_o[8*p+:8] = 8'h00;
          else if (is_ones(b * Bytes + p)) data_o[8*p+:8] = 8'hFF;
        end
      end
    end
  end

endmodule

`default_nettype wire
