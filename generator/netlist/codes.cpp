#include "generator/netlist/codes.h"

#include <array>

namespace rocegen::netlist {

namespace {

using spec::CodeInfo;

constexpr std::array kCodes = {
    // ---- library: headers of SystemVerilog modules -------------------------------------------------
    CodeInfo{"E0300", "template cannot be read",
             "The folder of the SystemVerilog templates, or a file in it, cannot be read.",
             "rocegen gen nic.json, without templates/",
             "Run rocegen from its own checkout, or name the folder of the templates."},
    CodeInfo{
        "E0301", "header not understood",
        "The header of a module or package is not what the generator reads: ANSI ports, at most one packed dimension, "
        "no "
        "interfaces, no type parameters, no macros. That is the subset which Verilator, Yosys and Vivado all take.",
        "module m (a, b); input a; output b;", "module m (input logic a, output logic b);"},
    CodeInfo{"E0302", "module or package declared twice", "Two files declare a module or package of the same name.",
             "module stream_fifo in templates/lib and in a service", "Rename one of them."},
    CodeInfo{"E0303", "structured comment not understood",
             "A comment that starts with `rocegen:` tells the generator what a header cannot say. Its verb is not "
             "known, or it names a "
             "stream, field or clock that the module does not have.",
             "// rocegen: comb s_a.ready<-m_b.ready", "// rocegen: comb s_a.tready<-m_b.tready"},
    CodeInfo{"E0304", "unknown module or type", "No file of the library declares this module, or no package this type.",
             "top.instance(\"x_i\", \"stream_fifos\")", "Correct the name, or add the file to templates/."},
    CodeInfo{"E0305", "unknown parameter",
             "An instance sets a parameter that its module does not have, or sets one twice.", "{{\"Widht\", 8}}",
             "{{\"Width\", 8}}"},
    CodeInfo{"E0306", "no usable value",
             "A parameter, or the width of a port, has no value that the generator can compute: an unknown name, a "
             "division by zero, a "
             "range that is not [N:0] with N >= 0, or a parameter without a default that is not given.",
             "input logic [W-1:0] a, with W = 0",
             "Give the parameter a value for which every port is at least one bit wide."},
    CodeInfo{"E0307", "parameter out of range", "The value does not fit into the declared width of the parameter.",
             "parameter bit Priority, given 2", "Give a value that fits."},
    CodeInfo{"E0308", "stream malformed",
             "Ports that are named like a stream are not one: tvalid is missing, a direction is wrong, tkeep has not "
             "one bit a byte of "
             "tdata, or the lanes of an array do not divide its payload.",
             "input s_a_tvalid, input s_a_tready",
             "s_* streams take tvalid and payload and give tready; m_* streams the other way."},
    CodeInfo{"E0309", "port belongs to no clock",
             "A module of several clocks has a stream or pin, and nothing says to which of them it belongs.",
             "clk_a, clk_b, s_x_tvalid", "// rocegen: clock s_x clk_a"},
    // ---- building ------------------------------------------------------------------------------------
    CodeInfo{"E0310", "no such stream, pin, port or clock",
             "The architecture names something that the module does not have.", "rx.stream(\"m_header\")",
             "rx.stream(\"m_hdr\")"},
    CodeInfo{"E0311", "name is taken", "An instance, port or net has the name of another one.",
             "two instances called rx_i", "Rename one."},
    CodeInfo{"E0312", "clock domain not declared",
             "An instance is put into a clock domain that the module does not have.",
             "instance(..., \"mac\") without domain(\"mac\")", "Declare the domain first."},
    CodeInfo{"E0313", "wrong direction", "A stream or pin that takes is used as a source, or one that gives as a sink.",
             "connect(fifo.stream(\"s_axis\"), ...)", "Swap the two ends."},
    CodeInfo{"E0314", "arrays of different size",
             "An array of streams is connected as a whole to something of another number of streams.",
             "connect(fork.stream(\"m_axis\"), fifo.stream(\"s_axis\"))",
             "connect(fork.stream(\"m_axis\", 0), fifo.stream(\"s_axis\"))"},
    CodeInfo{"E0315", "payload cannot be made",
             "A map names fields or bits that a stream does not have, or a record cannot become a packet.",
             "{.map = {{\"tuser\", {{\"tdata\", 0, 999}}}}}", "Use bits that the source has."},
    CodeInfo{"E0316", "constant does not fit", "A pin is tied to a value that needs more bits than it has.",
             "tie(pin of 4 bits, 16)", "Use a value that fits."},
    // ---- checks --------------------------------------------------------------------------------------
    CodeInfo{"E0320", "dangling reference",
             "A connection names an instance, stream, pin, net or bit that does not exist.",
             "a pass that removed an instance and left its connections", "A fault of the generator: report it."},
    CodeInfo{"E0321", "wrong direction in the netlist", "A connection drives an output or reads an input.",
             "a faulty pass", "A fault of the generator: report it."},
    CodeInfo{"E0322", "pins of different width", "A pin connection joins different numbers of bits.",
             "a[7:0] to b[3:0]", "Connect a slice: pin(\"a_o\", 0, 4)."},
    CodeInfo{"E0323", "driven twice", "Two connections drive one stream, or one bit of a pin.",
             "two connects to fifo.s_axis", "Put a stream_arb or a record_arb in front, or remove one."},
    CodeInfo{"E0324", "stream read twice",
             "A stream goes to two readers, but its handshake is one. Pins may have many readers.",
             "two connects from fifo.m_axis", "Put a stream_fork between them."},
    CodeInfo{"E0325", "fields do not match",
             "The sink has a payload field that the source does not give, or the source gives one that the sink does "
             "not read. Losing "
             "tuser or tlast silently is how a record comes apart from its data, so it must be said.",
             "a packet stream into a record stream", "{.drop = {\"tuser\"}} or {.zero = {\"tuser\"}}"},
    CodeInfo{"E0326", "field of different width",
             "A payload field has different widths at the two ends, and no adapter can be put between them: only "
             "packet streams with "
             "tkeep are adapted.",
             "tdata 345 into tdata 303", "Connect streams of the same record, or map the bits with .map."},
    CodeInfo{"E0327", "different record", "Two streams of equal width carry different records.",
             "rx_cmd_t into tx_cmd_t", "Connect the right streams; convert the record in a module."},
    CodeInfo{"E0328", "stream between clock domains",
             "A connection crosses clock domains after the pass that puts crossings in.", "a custom pass order",
             "Run the pass `crossing`."},
    CodeInfo{"E0329", "pin between clock domains",
             "A plain pin goes from one clock domain to another. Only a synchroniser makes that safe, or the knowledge "
             "that the signal "
             "does not change while it is used.",
             "connect_pin(csr.local_ip_o, mac.local_ip_i)",
             "Put a sync_bit between them, or give .quasi_static a reason."},
    CodeInfo{"E0330", "stream not driven", "Nothing drives a stream that takes.", "an instance that was forgotten",
             "Connect it, or leave_open."},
    CodeInfo{"E0331", "stream not read", "Nobody reads a stream that gives: its module would stall for ever.",
             "an instance that was forgotten",
             "Connect it, or leave_open (which accepts every beat and throws it away)."},
    CodeInfo{"E0332", "pin not driven", "Bits of an input pin, an output port or a net are not driven.",
             "an input without a connection", "Connect it, or tie it to a constant."},
    CodeInfo{"E0333", "pin not read",
             "Bits of an output pin, an input port or a net are not read, or a clock domain has no instance.",
             "an output without a connection", "Connect it, or say with leave_open why it is not."},
    CodeInfo{"E0334", "combinational loop",
             "Valid or ready depends on itself without a register, by what the headers of the modules say.",
             "two stream_fork and a stream_arb in a ring",
             "Put a stream_skid into one of the connections of the cycle."},
    CodeInfo{"E0335", "width cannot be adapted",
             "Packet streams are adapted only where one width is a multiple of the other.", "512 bits into 384",
             "Use widths of which one is a multiple of the other."},
    CodeInfo{"E0336", "illegal name",
             "A name is no SystemVerilog identifier, is a keyword, or is one that Vivado refuses.",
             "\"name\": \"module\"", "Use letters, digits and underscores, starting with a letter."},
    CodeInfo{"E0337", "name used twice",
             "Two things of one module, or two modules, would have the same name in the output.",
             "a spec called stream_fifo", "Rename one of them."},
    CodeInfo{"E0338", "no such pass", "--dump-after names a pass that does not exist.", "--dump-after pipelin",
             "--dump-after pipeline"},
    CodeInfo{"E0339", "a pass broke the netlist", "After a pass, an invariant of the netlist does not hold.",
             "none: it is a bug", "Report it with the specification."},
    CodeInfo{"E0340", "Graphviz is not installed",
             "The block diagram is laid out by Graphviz's dot, which was not found.", "rocegen gen without dot",
             "Install the package graphviz."},
    CodeInfo{"E0341", "Graphviz failed",
             "Graphviz's dot was started but did not draw the diagram; its message is shown.", "a full disk",
             "Repeat the command that is shown."},
    // ---- warnings ------------------------------------------------------------------------------------
    CodeInfo{"W0301", "a combinational loop cannot be excluded",
             "Streams form a cycle through modules whose header does not say which combinational paths they have.",
             "a module without `rocegen: comb`", "Add the comment: // rocegen: comb none, or the paths that it has."},
};

}  // namespace

std::span<const spec::CodeInfo> codes() { return kCodes; }

}  // namespace rocegen::netlist
