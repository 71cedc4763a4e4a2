// byte_rotate_level: one level of byte_rotate: a 4:1 multiplexer, one LUT6 a bit.
//
// data_o[j] = data_i[(j + Unit * amount_i) mod Bytes], combinational. A module of its own so that
// synthesis by modules keeps the level: mapped together with the next it takes a LUT a bit more.
//
// Bytes: a power of two, 2..256. Unit: bytes a step, a power of two. AmountW: bits of the amount, 1
// or 2.
`default_nettype none

module byte_rotate_level #(
  parameter int Bytes = 64,
  parameter int Unit = 1,
  parameter int AmountW = 2
) (
  input  logic [Bytes*8-1:0] data_i,
  input  logic [AmountW-1:0] amount_i,
  output logic [Bytes*8-1:0] data_o
);

  if (AmountW < 1 || AmountW > 2) begin : gen_check_amount
    $fatal(1, "byte_rotate_level: AmountW must be 1 or 2");
  end
  if (Unit < 1 || (Unit << AmountW) > Bytes) begin : gen_check_unit
    $fatal(1, "byte_rotate_level: Unit must be a power of two, 1..Bytes/2^AmountW");
  end

  always_comb begin
    data_o = data_i;
    for (int b = 0; b < AmountW; b++) begin
      if (amount_i[b]) begin
        data_o = (data_o >> (8 * Unit << b)) | (data_o << (8 * (Bytes - (Unit << b))));
      end
    end
  end

endmodule

`default_nettype wire
