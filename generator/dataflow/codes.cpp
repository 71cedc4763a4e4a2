#include "generator/dataflow/codes.h"

#include <array>

namespace rocegen::dataflow {

namespace {

constexpr std::array kCodes = {
    spec::CodeInfo{"E0401", "wrong shape of a graph file",
                   "A graph is an object with \"name\", \"inputs\" and \"outputs\", and, if wanted, \"description\", "
                   "\"values\" and \"pipeline\". A key is missing, unknown, or holds another kind of value than it "
                   "should. docs/dataflow.md describes the format.",
                   "{ \"name\": \"g\", \"input\": {} }", "{ \"name\": \"g\", \"inputs\": {}, \"outputs\": {} }"},
    spec::CodeInfo{"E0402", "not a type",
                   "Types are u1 to u4096 for unsigned numbers and s1 to s4096 for two's complement numbers.",
                   "\"inputs\": { \"x\": \"int8\" }", "\"inputs\": { \"x\": \"s8\" }"},
    spec::CodeInfo{"E0403", "a name that cannot be used",
                   "Names of inputs, values and outputs become names of ports and signals: letters, digits and _, "
                   "starting with a letter, no keyword of SystemVerilog, not ending in _q (registers do). Inputs and "
                   "values share one space of names; a name is defined once.",
                   "\"values\": { \"2x\": [\"shl\", \"x\", 1] }", "\"values\": { \"x2\": [\"shl\", \"x\", 1] }"},
    spec::CodeInfo{"E0404", "unknown operator",
                   "The first element of a list is the operator. docs/dataflow.md lists all of them.",
                   "[\"plus\", \"a\", \"b\"]", "[\"add\", \"a\", \"b\"]"},
    spec::CodeInfo{"E0405", "wrong number of arguments",
                   "Every operator takes a certain number of arguments; some take any number from one or two on.",
                   "[\"sub\", \"a\"]", "[\"sub\", \"a\", \"b\"], or [\"neg\", \"a\"]"},
    spec::CodeInfo{"E0406", "unknown name",
                   "An expression names an input or a value that there is not, or not yet: values are computed in the "
                   "order in which they stand.",
                   "\"values\": { \"y\": [\"add\", \"z\", 1], \"z\": [\"mul\", \"x\", 3] }",
                   "Correct the name, or move the value up."},
    spec::CodeInfo{"E0407", "an argument that the operator does not take",
                   "The operator cannot work on these types or numbers: a constant outside of its type, bits beyond a "
                   "value, a condition that is not u1, a divisor that is not a positive constant, a result wider than "
                   "4096 bits. The message says which.",
                   "[\"select\", \"x\", 1, 2] with x of type u8", "[\"select\", [\"any\", \"x\"], 1, 2]"},
    spec::CodeInfo{"E0408", "a graph without outputs", "Nothing would be computed.", "\"outputs\": {}",
                   "\"outputs\": { \"y\": \"sum\" }"},
    spec::CodeInfo{"E0409", "wrong pipeline",
                   "\"pipeline\" says how the graph becomes a module: \"interface\" (clock_enable, elastic, "
                   "combinational), and either \"depth\" (0 to 4, as pipeline_depth of a specification) with "
                   "\"clock_mhz\", or \"levels\", the LUT levels allowed between registers.",
                   "\"pipeline\": { \"levels\": 8, \"depth\": 2 }", "\"pipeline\": { \"levels\": 8 }"},
    spec::CodeInfo{"E0410", "the module differs from the graph",
                   "`rocegen compile --check` ran the module in Verilator and found other values than the evaluator "
                   "has, or `--prove` found operands for which the passes change the result. Either is a bug in "
                   "rocegen (or in the simulator).",
                   "rocegen compile graph.json --check", "Report it, with the graph."},
    spec::CodeInfo{"W0401", "an input or value that nothing reads",
                   "It costs nothing, but it is likely a slip. An unread input stays a port.",
                   "\"values\": { \"unused\": [\"add\", \"a\", 1] }", "Remove it, or use it."},
};

}  // namespace

std::span<const spec::CodeInfo> codes() { return kCodes; }

}  // namespace rocegen::dataflow
