// The catalogue of this folder. Another folder does the same: codes.h declares `std::span<const spec::CodeInfo>
// codes()` in its namespace, codes.cpp defines the table, generator/cli/catalogue.cpp names it.
#include "generator/spec/codes.h"

#include <array>

namespace rocegen::spec {

namespace {

constexpr std::array kCodes = {
    // ---- files -------------------------------------------------------------------------------------
    CodeInfo{"E0101", "no such file",
             "A file that the command line names does not exist. A path that does not start with / is taken from the "
             "current folder.",
             "rocegen check specs/nic_10.json", "Correct the path, or list the folder to see what is there."},
    CodeInfo{"E0102", "a folder where a file is expected", "The path names a folder.", "rocegen check specs/",
             "Name the files: rocegen check specs/*.json"},
    CodeInfo{"E0103", "file cannot be read",
             "The file exists, but the system refuses to read it. The message carries the system's reason.",
             "chmod 000 nic.json; rocegen check nic.json", "Give yourself the right to read it, or copy it."},
    CodeInfo{"E0104", "file is empty", "The file holds nothing but space. A specification is one JSON object.",
             "touch nic.json; rocegen check nic.json", "Start with { \"name\": \"my_nic\" }"},
    CodeInfo{"E0105", "file is too large",
             "The file is larger than any specification can be, so that it is certainly another file. Reading stops "
             "there.",
             "rocegen check /dev/zero", "Name the specification."},
    CodeInfo{
        "E0106", "file is not UTF-8",
        "JSON is UTF-8 (RFC 8259 section 8.1). The file holds a byte sequence that is not, or starts with the mark "
        "of UTF-16. A byte order mark of UTF-8 is accepted.",
        "{ \"description\": \"f\\xFCr\" }", "Save the file as UTF-8."},
    CodeInfo{
        "E0107", "file cannot be written",
        "An output could not be written: its folder does not exist, a right is missing, or the disk is full. A file "
        "that was there before is still whole.",
        "rocegen schema -o /no/such/folder/schema.json", "Create the folder, or write somewhere else."},
    // ---- JSON --------------------------------------------------------------------------------------
    CodeInfo{"E0110", "unexpected text",
             "Something stands where JSON wants something else. The message says what was found and what was expected. "
             "Single quotes, keys without quotes, `=` for `:` and words such as True or NaN are the usual causes; "
             "reading goes on after those.",
             "{ name: 'my_nic' }", "{ \"name\": \"my_nic\" }"},
    CodeInfo{"E0111", "missing comma", "Two members of an object or a list follow each other without a comma.",
             "{ \"name\": \"my_nic\"\n  \"qp_count\": 16 }", "{ \"name\": \"my_nic\",\n  \"qp_count\": 16 }"},
    CodeInfo{"E0112", "trailing comma", "A comma stands behind the last member of an object or a list.",
             "{ \"name\": \"my_nic\", }", "{ \"name\": \"my_nic\" }"},
    CodeInfo{"E0113", "file ends early",
             "The text ends before the document does: a bracket or a string is still open. The note shows where it was "
             "opened.",
             "{ \"name\": \"my_nic\",", "Close what is open, or restore the file if it was cut."},
    CodeInfo{"E0114", "text after the document", "A JSON file holds one value; something follows it.",
             "{ \"name\": \"my_nic\" } }", "Remove what follows, or the bracket that closed the document too early."},
    CodeInfo{"E0115", "string does not end on its line",
             "A string must end on the line that it starts on; a line break inside of one is written \\n.",
             "{ \"name\": \"my_nic\n}", "{ \"name\": \"my_nic\" }"},
    CodeInfo{
        "E0116", "faulty character or escape in a string",
        "Known escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits, with both halves "
        "of a surrogate pair; control characters must be escaped (RFC 8259 section 7).",
        "{ \"description\": \"C:\\lab\" }", "{ \"description\": \"C:\\\\lab\" }"},
    CodeInfo{
        "E0117", "faulty number",
        "A JSON number is decimal: no leading zero or plus sign, digits on both sides of the point, no underscores, "
        "no unit, and small enough for a double.",
        "{ \"clock_mhz\": 250MHz }", "{ \"clock_mhz\": 250 }"},
    CodeInfo{"E0118", "comment", "JSON has no comments. Reading goes on after it.",
             "{ \"name\": \"my_nic\" // for the lab\n}", "{ \"name\": \"my_nic\", \"description\": \"for the lab\" }"},
    CodeInfo{"E0119", "nested too deeply",
             "Objects and lists are nested deeper than any specification needs; reading stops there.", "[[[[[[[[...",
             "Check whether it is the right file."},
    CodeInfo{"E0120", "duplicate key",
             "An object has the same key twice. Most readers silently take the last one, so that one of the two values "
             "would be ignored. Both places are shown.",
             "{ \"qp_count\": 16, \"qp_count\": 64 }", "{ \"qp_count\": 64 }"},
    // ---- the spec, key by key ------------------------------------------------------------------------
    CodeInfo{"E0201", "unknown key",
             "The specification has no such key at this place. Nothing is ever read and ignored, so that a slip of the "
             "pen cannot pass for a setting. The nearest key, or the group that has this one, is proposed.",
             "{ \"name\": \"my_nic\", \"qp_cont\": 16 }", "{ \"name\": \"my_nic\", \"qp_count\": 16 }"},
    CodeInfo{"E0202", "required key is missing", "A key that has no default is not given.", "{ \"qp_count\": 16 }",
             "{ \"name\": \"my_nic\", \"qp_count\": 16 }"},
    CodeInfo{"E0203", "wrong type",
             "The value has another JSON type than the key takes: a quoted number, a fraction for a whole number, a "
             "value for an object.",
             "{ \"qp_count\": \"16\" }", "{ \"qp_count\": 16 }"},
    CodeInfo{"E0204", "out of range", "The number is below the smallest or above the largest allowed value.",
             "{ \"qp_count\": 20000 }", "{ \"qp_count\": 16384 }"},
    CodeInfo{"E0205", "not an allowed value",
             "The key takes one of a list of values, or a power of two. The neighbouring allowed values are proposed.",
             "{ \"data_width\": 384 }", "{ \"data_width\": 512 }"},
    CodeInfo{
        "E0206", "text of another form",
        "The text must have a certain form: a name must work as a SystemVerilog identifier and a folder name, a part "
        "must look like a Xilinx part number with package and speed grade.",
        "{ \"name\": \"My NIC\" }", "{ \"name\": \"my_nic\" }"},
    CodeInfo{
        "E0207", "name is a keyword",
        "The top module takes the spec's name, and a keyword of SystemVerilog (IEEE 1800-2017 annex B) cannot name a "
        "module.",
        "{ \"name\": \"module\" }", "{ \"name\": \"module_nic\" }"},
    CodeInfo{"E0208", "name belongs to the library",
             "The top module takes the spec's name and its package that name with _pkg; the library has a module or a "
             "package of that name already.",
             "{ \"name\": \"stream_fifo\" }", "{ \"name\": \"stream_fifo_nic\" }"},
    CodeInfo{"E0209", "text is too long", "The text has more characters than the key takes.",
             "{ \"name\": \"a_name_of_more_than_forty_eight_characters_is_too_long\" }", "{ \"name\": \"shorter\" }"},
    CodeInfo{"E0210", "unknown service type",
             "An entry of `services` names no service type of this version of rocegen. docs/spec-reference.md lists "
             "them.",
             "{ \"services\": [ { \"type\": \"costum\" } ] }",
             "{ \"services\": [ { \"type\": \"custom\", \"module\": \"xor_mask\", \"files\": [\"xor_mask.sv\"], "
             "\"attach\": \"ingress\" } ] }"},
    // ---- the spec, several keys ----------------------------------------------------------------------
    CodeInfo{
        "E0211", "window is smaller than the ACK interval",
        "The requester stops when transport.window_packets are unacknowledged and asks for an acknowledgement every "
        "transport.ack_interval packets. With the window below the interval it would stop before it has asked, and "
        "every window would wait for a timeout.",
        "{ \"transport\": { \"ack_interval\": 64, \"window_packets\": 32 } }",
        "{ \"transport\": { \"ack_interval\": 16, \"window_packets\": 32 } }"},
    CodeInfo{
        "E0212", "buffer does not hold two frames",
        "A frame buffer must hold two of the largest frames (the MTU and 78 bytes of headers and ICRC, in whole beats "
        "of data_width): one that is filled while the other is emptied.",
        "{ \"mtu\": 4096, \"network\": { \"rx_buffer_kib\": 4 } }",
        "{ \"mtu\": 4096, \"network\": { \"rx_buffer_kib\": 16 } }"},
    CodeInfo{
        "E0213", "buffer has too many beats",
        "Buffers are addressed in beats of data_width with 16 bits, so that they have at most 65536 of them: 512 KiB "
        "at 64 bits, 8192 KiB at 1024 bits.",
        "{ \"data_width\": 64, \"network\": { \"rx_buffer_kib\": 1024 } }",
        "{ \"data_width\": 64, \"network\": { \"rx_buffer_kib\": 512 } }"},
    CodeInfo{"E0214", "name given twice",
             "The names of a list become names of ports, so that each must differ from the others.",
             "{ \"host\": { \"targets\": [\"host\", \"host\"] } }",
             "{ \"host\": { \"targets\": [\"host\", \"gpu\"] } }"},
    CodeInfo{
        "E0215", "order of services that cannot be",
        "The order of `services` is that in which received data passes them. At ingress a packet is looked at before "
        "it "
        "is accepted, at deliver its data is on the way to memory: what works at deliver cannot stand in front of what "
        "works at ingress. What is sent passes the services at egress in the reverse order.",
        "\"services\": [ { ..., \"attach\": \"deliver\" }, { ..., \"attach\": \"ingress\" } ]",
        "\"services\": [ { ..., \"attach\": \"ingress\" }, { ..., \"attach\": \"deliver\" } ]"},
    CodeInfo{
        "E0216", "service that can be there only once",
        "The type of the service has one set of keys or tables in the stack, so that `services` can have one entry "
        "of it.",
        "\"services\": [ { \"type\": \"aes\", ... }, { \"type\": \"aes\", ... } ]", "Remove one of the entries."},
    CodeInfo{
        "W0201", "fewer WQE slots than queue pairs",
        "Every queue pair that sends needs a ring of at least one WQE slot. With fewer slots than queue pairs some of "
        "them can only receive, which may be what you want.",
        "{ \"qp_count\": 1024, \"transport\": { \"wqe_slots\": 512 } }",
        "{ \"qp_count\": 1024, \"transport\": { \"wqe_slots\": 16384 } }"},
};

}  // namespace

std::span<const CodeInfo> codes() { return kCodes; }

}  // namespace rocegen::spec
