// rocegen_assert.svh: assertion macros that every tool of the flow takes.
//
// Three branches, chosen by the tools' own macros:
//   FORMAL     Yosys: clocked immediate assertions (0.23 has no `else` and no concurrent ones)
//   VERILATOR  labelled clocked assertions, active with --assert, silent in lint
//   otherwise  empty: Vivado and plain synthesis see nothing
//
// The plain macros use the clock `clk` and the reset `rst` of the module they stand in; the _CLK
// macros name both. Expressions are sampled at the rising edge and ignored while the reset is high.
//
//   ROCEGEN_ASSERT(Name, Expr)                  Expr holds in every cycle
//   ROCEGEN_STREAM(Name, Valid, Ready, Payload) an offered beat stays, unchanged, until it is taken
//   ROCEGEN_PACKET(Name, Valid, Last, Keep)     keep is contiguous; full before the last beat
`ifndef ROCEGEN_ASSERT_SVH
`define ROCEGEN_ASSERT_SVH

`ifdef FORMAL

// $past registers start at zero, so the first cycle claims nothing.
`define ROCEGEN_ASSERT_CLK(Clk, Rst, Name, Expr) \
  always @(posedge Clk) begin \
    if (!(Rst)) assert (Expr); \
  end

`define ROCEGEN_STREAM_CLK(Clk, Rst, Name, Valid, Ready, Payload) \
  always @(posedge Clk) begin \
    if (!(Rst) && $past((Valid) && !(Ready) && !(Rst))) begin \
      assert (Valid); \
      assert ((Payload) == $past(Payload)); \
    end \
  end

`elsif VERILATOR

// Clocked, not concurrent: Verilator 5.006 writes C++ that does not compile when concurrent
// assertions sample a signal of more than 1280 bits (its issue 4057).
`define ROCEGEN_ASSERT_CLK(Clk, Rst, Name, Expr) \
  always_ff @(posedge Clk) begin \
    if (!(Rst)) begin \
      Name : assert (Expr) else $error(`"Name`"); \
    end \
  end

`define ROCEGEN_STREAM_CLK(Clk, Rst, Name, Valid, Ready, Payload) \
  logic Name``_held_q; \
  logic [$bits(Payload)-1:0] Name``_payload_q; \
  always_ff @(posedge Clk) begin \
    Name``_held_q <= (Valid) && !(Ready) && !(Rst); \
    Name``_payload_q <= (Payload); \
    if (!(Rst) && Name``_held_q) begin \
      Name : assert ((Valid) && (Name``_payload_q == (Payload))) \
        else $error("a stalled beat was withdrawn or changed"); \
    end \
  end

`else

`define ROCEGEN_ASSERT_CLK(Clk, Rst, Name, Expr)
`define ROCEGEN_STREAM_CLK(Clk, Rst, Name, Valid, Ready, Payload)

`endif

`define ROCEGEN_PACKET_CLK(Clk, Rst, Name, Valid, Last, Keep) \
  `ROCEGEN_ASSERT_CLK(Clk, Rst, Name, \
    !(Valid) || ((((Keep) & ((Keep) + 1'b1)) == '0) && ((Last) || (&(Keep)))))

`define ROCEGEN_ASSERT(Name, Expr) `ROCEGEN_ASSERT_CLK(clk, rst, Name, Expr)
`define ROCEGEN_STREAM(Name, Valid, Ready, Payload) \
  `ROCEGEN_STREAM_CLK(clk, rst, Name, Valid, Ready, Payload)
`define ROCEGEN_PACKET(Name, Valid, Last, Keep) \
  `ROCEGEN_PACKET_CLK(clk, rst, Name, Valid, Last, Keep)

`endif
