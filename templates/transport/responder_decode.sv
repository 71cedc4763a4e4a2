// responder_decode: what a request opcode means to the responder.
//
// Combinational. op_o.request is zero for every opcode that is not an RC request (responses,
// reserved codes, other transports); all else is then zero too. FLUSH and ATOMIC WRITE (IBTA 1.5)
// are requests of no kind, so nothing allows them: NAK 0x61 where they are in order.
//
// starts and ends tell the position in the message: FIRST starts, LAST ends, ONLY does both.
`default_nettype none

module responder_decode (
  input  logic [7:0]        opcode_i,
  output roce_pkg::rsp_op_t op_o
);

  logic is_send;
  logic is_write;
  logic is_read;
  logic is_atomic;
  logic first;
  logic last;
  logic only;

  always_comb begin
    is_send   = 1'b0;
    is_write  = 1'b0;
    is_read   = 1'b0;
    is_atomic = 1'b0;
    first     = 1'b0;
    last      = 1'b0;
    only      = 1'b0;
    op_o.imm  = 1'b0;
    op_o.inv  = 1'b0;
    case (opcode_i)
      roce_pkg::OpSendFirst: begin
        is_send = 1'b1;
        first   = 1'b1;
      end
      roce_pkg::OpSendMiddle: is_send = 1'b1;
      roce_pkg::OpSendLast: begin
        is_send = 1'b1;
        last    = 1'b1;
      end
      roce_pkg::OpSendLastImm: begin
        is_send  = 1'b1;
        last     = 1'b1;
        op_o.imm = 1'b1;
      end
      roce_pkg::OpSendLastInv: begin
        is_send  = 1'b1;
        last     = 1'b1;
        op_o.inv = 1'b1;
      end
      roce_pkg::OpSendOnly: begin
        is_send = 1'b1;
        only    = 1'b1;
      end
      roce_pkg::OpSendOnlyImm: begin
        is_send  = 1'b1;
        only     = 1'b1;
        op_o.imm = 1'b1;
      end
      roce_pkg::OpSendOnlyInv: begin
        is_send  = 1'b1;
        only     = 1'b1;
        op_o.inv = 1'b1;
      end
      roce_pkg::OpWriteFirst: begin
        is_write = 1'b1;
        first    = 1'b1;
      end
      roce_pkg::OpWriteMiddle: is_write = 1'b1;
      roce_pkg::OpWriteLast: begin
        is_write = 1'b1;
        last     = 1'b1;
      end
      roce_pkg::OpWriteLastImm: begin
        is_write = 1'b1;
        last     = 1'b1;
        op_o.imm = 1'b1;
      end
      roce_pkg::OpWriteOnly: begin
        is_write = 1'b1;
        only     = 1'b1;
      end
      roce_pkg::OpWriteOnlyImm: begin
        is_write = 1'b1;
        only     = 1'b1;
        op_o.imm = 1'b1;
      end
      roce_pkg::OpReadRequest: begin
        is_read = 1'b1;
        only    = 1'b1;
      end
      roce_pkg::OpCmpSwap, roce_pkg::OpFetchAdd: begin
        is_atomic = 1'b1;
        only      = 1'b1;
      end
      roce_pkg::OpFlush, roce_pkg::OpAtomicWrite: only = 1'b1;
      default: ;
    endcase
    op_o.request = is_send || is_write || is_read || is_atomic || only;
    op_o.send    = is_send;
    op_o.write   = is_write;
    op_o.read    = is_read;
    op_o.atomic  = is_atomic;
    op_o.add     = is_atomic && opcode_i == roce_pkg::OpFetchAdd;
    op_o.starts  = first || only;
    op_o.ends    = last || only;
  end

endmodule

`default_nettype wire
