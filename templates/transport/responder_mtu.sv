// responder_mtu: compares a number of bytes with a path MTU code (1..5: 256..4096). Combinational.
//
// Codes beyond the five that exist count as 4096. Written bit by bit: the MTU is one bit of the
// number.
`default_nettype none

module responder_mtu (
  input  logic [2:0]  pmtu_i,
  input  logic [31:0] bytes_i,
  output logic        equal_o,
  output logic        above_o
);

  logic       high;  // 8192 or more
  logic       low;  // not a multiple of 256
  logic [4:0] blocks;  // of 256 bytes

  assign high   = bytes_i[31:13] != '0;
  assign low    = bytes_i[7:0] != '0;
  assign blocks = bytes_i[12:8];

  logic match;  // no block besides those of the MTU
  logic reach;  // at least the MTU
  logic beyond;  // at least one block more

  always_comb begin
    case (pmtu_i)
      3'd1: begin
        match  = blocks == 5'd1;
        reach  = blocks[0];
        beyond = blocks[4:1] != '0;
      end
      3'd2: begin
        match  = blocks == 5'd2;
        reach  = blocks[1];
        beyond = blocks[4:2] != '0 || (blocks[1] && blocks[0]);
      end
      3'd3: begin
        match  = blocks == 5'd4;
        reach  = blocks[2];
        beyond = blocks[4:3] != '0 || (blocks[2] && blocks[1:0] != '0);
      end
      3'd4: begin
        match  = blocks == 5'd8;
        reach  = blocks[3];
        beyond = blocks[4] || (blocks[3] && blocks[2:0] != '0);
      end
      default: begin
        match  = blocks == 5'd16;
        reach  = blocks[4];
        beyond = blocks[4] && blocks[3:0] != '0;
      end
    endcase
  end

  assign equal_o = !high && !low && match;
  assign above_o = high || beyond || (reach && low);

endmodule

`default_nettype wire
