// atomic_pick: chooses among the slots of atomic_unit that want something, in turn.
//
// pick_o names, one-hot, the slot of req_i that is chosen now; it must not ask again for the same.
// Its number is on m_slot one cycle later, in the order of the choices. A choice is made only
// while there is room for a number: nothing from m_slot_tready reaches pick_o in the same cycle.
//
// A slot a cycle. Slots: 2..32.
`default_nettype none

module atomic_pick #(
  parameter int Slots = 8
) (
  input  logic                     clk,
  input  logic                     rst,
  input  logic [Slots-1:0]         req_i,
  output logic [Slots-1:0]         pick_o,
  output logic                     m_slot_tvalid,
  input  logic                     m_slot_tready,
  output logic [$clog2(Slots)-1:0] m_slot_tdata
);

  localparam int SlotW = $clog2(Slots);

  logic             room;
  logic [Slots-1:0] grant;
  logic [SlotW-1:0] index;

  arb_grant #(
    .N(Slots),
    .Priority(0)
  ) u_grant (
    .clk(clk),
    .rst(rst),
    .req_i(req_i),
    .take_i(room),
    .grant_o(grant)
  );

  assign pick_o = grant & {Slots{room}};

  always_comb begin
    index = '0;
    for (int s = 0; s < Slots; s++) begin
      if (grant[s]) index = index | SlotW'(s);
    end
  end

  stream_skid #(
    .Width(SlotW)
  ) u_slot (
    .clk(clk),
    .rst(rst),
    .s_axis_tvalid(room && (req_i != '0)),  // the choice may change while there is no room
    .s_axis_tready(room),
    .s_axis_tdata(index),
    .m_axis_tvalid(m_slot_tvalid),
    .m_axis_tready(m_slot_tready),
    .m_axis_tdata(m_slot_tdata)
  );

endmodule

`default_nettype wire
