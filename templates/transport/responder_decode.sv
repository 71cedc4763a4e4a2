// responder_decode: what a request opcode means to the responder.
//
// Combinational. request_o is zero for every opcode that is not an RC request (responses, reserved
// codes, other transports); the other outputs are then zero too. write_o marks the operations that
// are carried out; the rest of the requests are refused as "operation not enabled". The optional
// requests FLUSH and ATOMIC WRITE (0x1C, 0x1D) are requests that nobody enables.
//
// starts_o and ends_o tell the position in the message: FIRST starts, LAST ends, ONLY does both.
// replay_ack_o marks requests whose duplicate is answered by an ACK (SEND, WRITE); a duplicate of
// any other needs a memory of what was answered.
`default_nettype none

module responder_decode (
  input  logic [7:0] opcode_i,
  output logic       request_o,
  output logic       write_o,
  output logic       starts_o,
  output logic       ends_o,
  output logic       replay_ack_o
);

  always_comb begin
    request_o    = 1'b0;
    write_o      = 1'b0;
    starts_o     = 1'b0;
    ends_o       = 1'b0;
    replay_ack_o = 1'b0;
    case (opcode_i)
      roce_pkg::OpWriteFirst: begin
        request_o    = 1'b1;
        write_o      = 1'b1;
        starts_o     = 1'b1;
        replay_ack_o = 1'b1;
      end
      roce_pkg::OpWriteMiddle: begin
        request_o    = 1'b1;
        write_o      = 1'b1;
        replay_ack_o = 1'b1;
      end
      roce_pkg::OpWriteLast: begin
        request_o    = 1'b1;
        write_o      = 1'b1;
        ends_o       = 1'b1;
        replay_ack_o = 1'b1;
      end
      roce_pkg::OpWriteOnly: begin
        request_o    = 1'b1;
        write_o      = 1'b1;
        starts_o     = 1'b1;
        ends_o       = 1'b1;
        replay_ack_o = 1'b1;
      end
      roce_pkg::OpSendFirst: begin
        request_o    = 1'b1;
        starts_o     = 1'b1;
        replay_ack_o = 1'b1;
      end
      roce_pkg::OpSendMiddle: begin
        request_o    = 1'b1;
        replay_ack_o = 1'b1;
      end
      roce_pkg::OpSendLast, roce_pkg::OpSendLastImm, roce_pkg::OpSendLastInv,
      roce_pkg::OpWriteLastImm: begin
        request_o    = 1'b1;
        ends_o       = 1'b1;
        replay_ack_o = 1'b1;
      end
      roce_pkg::OpSendOnly, roce_pkg::OpSendOnlyImm, roce_pkg::OpSendOnlyInv,
      roce_pkg::OpWriteOnlyImm: begin
        request_o    = 1'b1;
        starts_o     = 1'b1;
        ends_o       = 1'b1;
        replay_ack_o = 1'b1;
      end
      roce_pkg::OpReadRequest, roce_pkg::OpCmpSwap, roce_pkg::OpFetchAdd, 8'h1C, 8'h1D: begin
        request_o = 1'b1;
        starts_o  = 1'b1;
        ends_o    = 1'b1;
      end
      default: ;
    endcase
  end

endmodule

`default_nettype wire
