// rx_ip_sum: checks the IPv4 header checksum of received frames.
//
// Takes one beat every cycle. good_o is valid four cycles after the input beat for the frame so
// far, so with the frame's last beat it is final; the header must have five words (others are
// dropped anyway). The ten half-words are added modulo 0xFFFF with carry-save adders whose top
// carry comes back in at the bottom: no carry is ever lost (RFC 1071), and no carry chain is
// needed.
//
// DataW: bits a beat, 64..1024, a power of two. IdxW: bits of rx_idx_i, the input beat's number in
// its frame; any value that stands for "later" must be above 33 / (DataW / 8).
`default_nettype none

module rx_ip_sum #(
  parameter int DataW = 512,
  parameter int IdxW = 4
) (
  input  logic             clk,
  input  logic             rst,
  input  logic             rx_valid_i,
  input  logic [IdxW-1:0]  rx_idx_i,
  input  logic [DataW-1:0] rx_data_i,
  output logic             good_o
);

  localparam int Words = 10;
  localparam int Lanes = DataW / 16;
  localparam int FirstWord = 7;  // byte 14

  // Half the result of a carry-save adder: sum in [15:0], carry, turned round, in [31:16].
  function automatic logic [31:0] add3(input logic [15:0] a, input logic [15:0] b,
                                       input logic [15:0] c);
    logic [15:0] carry;
    carry = (a & b) | (a & c) | (b & c);
    add3 = {carry[14:0], carry[15], a ^ b ^ c};
  endfunction

  // Header half-words of this beat, the others zero. Half-word w of the header always comes in lane
  // (FirstWord + w) % Lanes, so at narrow widths a slot serves several.
  logic [16*Words-1:0] term;

  for (genvar s = 0; s < Words; s++) begin : gen_slot
    if (s < Lanes) begin : gen_used
      logic take;
      always_comb begin
        take = 1'b0;
        for (int w = s; w < Words; w += Lanes) begin
          if (rx_idx_i == IdxW'((FirstWord + w) / Lanes)) take = 1'b1;
        end
      end
      assign term[16*s+:16] = take ? rx_data_i[16*((FirstWord+s)%Lanes)+:16] : 16'd0;
    end else begin : gen_unused
      assign term[16*s+:16] = 16'd0;
    end
  end

  logic [2:0]   valid_q;
  logic [2:0]   first_q;
  logic [111:0] a_q;  // seven numbers
  logic [63:0]  b_q;  // four
  logic [31:0]  c_q;  // two
  logic [31:0]  sum_q;  // two, for the frame so far
  logic [63:0]  b_mid;
  logic [31:0]  c_mid;
  logic [31:0]  sum_mid;

  assign b_mid = {add3(a_q[15:0], a_q[31:16], a_q[47:32]),
                  add3(a_q[63:48], a_q[79:64], a_q[95:80])};
  assign c_mid = add3(b_q[15:0], b_q[31:16], b_q[47:32]);
  assign sum_mid = add3(c_q[15:0], c_q[31:16], sum_q[15:0]);

  always_ff @(posedge clk) begin
    if (rst) valid_q <= '0;
    else valid_q <= {valid_q[1:0], rx_valid_i};
  end

  always_ff @(posedge clk) begin
    first_q <= {first_q[1:0], rx_idx_i == '0};
    a_q     <= {term[16*9+:16],
                add3(term[16*6+:16], term[16*7+:16], term[16*8+:16]),
                add3(term[16*3+:16], term[16*4+:16], term[16*5+:16]),
                add3(term[16*0+:16], term[16*1+:16], term[16*2+:16])};
    b_q     <= {a_q[111:96], b_mid[15:0], add3(b_mid[63:48], b_mid[47:32], b_mid[31:16])};
    c_q     <= add3(c_mid[31:16], c_mid[15:0], b_q[63:48]);
    if (valid_q[2]) begin
      if (first_q[2]) sum_q <= c_q;
      else sum_q <= add3(sum_mid[31:16], sum_mid[15:0], sum_q[31:16]);
    end
  end

  // The sum of a good header is a multiple of 0xFFFF. It is not zero, for version 4 is in it, and
  // not twice that, for then all half-words would be 0xFFFF.
  assign good_o = sum_q[15:0] == ~sum_q[31:16];

  logic unused_data;  // the rest of the beat
  assign unused_data = ^rx_data_i;

endmodule

`default_nettype wire
