#include "generator/services/codes.h"

#include <array>

namespace rocegen::services {

namespace {

constexpr std::array kCodes = {
    // ---- dpi -----------------------------------------------------------------------------------------
    spec::CodeInfo{
        "E0531", "no source of a feature",
        "A feature of a model comes from header.*, payload.*, chunk.* or bytes.*; docs/services-dpi.md lists "
        "them. Statistics (bytes.*) are of packets, chunk.* of chunks, payload.* of packets.",
        "\"features\": [\"payload.u8\"]", "\"features\": [\"payload.u8[0]\"]"},
    spec::CodeInfo{"E0532", "features of the model and their sources do not match",
                   "Every feature that the model uses has one source, no wider than the feature. A list gives all of "
                   "them in order, an object the used ones by name.",
                   "\"features\": [\"payload.u8[0]\"] for a model of 3 features",
                   "\"features\": { \"src\": \"payload.u16be[0]\" }"},
    spec::CodeInfo{"E0533", "a source beyond the end",
                   "A source reads bytes that no payload (longer than the MTU), or no chunk, has.",
                   "\"features\": [\"chunk.u8[64]\"] with \"chunk_bytes\": 64", "Read less, or make the chunk larger."},
    spec::CodeInfo{
        "E0534", "classes and their actions",
        "A class is one of the model's, named once; a tag is a number that is not 0 and goes with the action "
        "tag; a packet that is dropped is not tagged or refused.",
        "{ \"class\": 1, \"actions\": [\"tag\"] }", "{ \"class\": 1, \"actions\": [\"tag\"], \"tag\": 1 }"},
    spec::CodeInfo{"E0535", "a setting that does not go with the model",
                   "Thresholds are for a model of one score, and go up; only trees have leaves to round.",
                   "\"thresholds\": [1, 0]", "\"thresholds\": [0, 1]"},
    spec::CodeInfo{"E0536", "an inspection of ciphertext",
                   "Received packets pass the services in the order of the list. An inspection in front of the service "
                   "that decrypts would judge noise.",
                   "\"services\": [{ \"type\": \"dpi\", ... }, { \"type\": \"aes\", ... }]", "Put aes first."},
    // ---- custom --------------------------------------------------------------------------------------
    spec::CodeInfo{"E0560", "file of a custom service cannot be used",
                   "A path of `files` names no file, or one that does not end in .sv or .v. Paths are relative to the "
                   "folder of the specification.",
                   "\"files\": [\"xor_mask.sv\"]", "\"files\": [\"custom/xor_mask.sv\"]"},
    spec::CodeInfo{
        "E0561", "parameter that the stack sets",
        "DataW (bits of the datapath), QpCount (queue pairs) and Index (the service's bit in a packet's mask) "
        "are set by the stack in every module that has them.",
        "\"parameters\": { \"DataW\": 512 }", "Remove it; the module only declares the parameter."},
    spec::CodeInfo{"E0562", "parameter that the module does not have",
                   "`parameters` names one that the header of the module does not declare.",
                   "\"parameters\": { \"Kee\": 90 }", "\"parameters\": { \"Key\": 90 }"},
    spec::CodeInfo{"E0563", "port of a stage is missing",
                   "A stage has clk, rst and the streams s_pkt and m_pkt with tvalid, tready, tdata, tkeep, tlast and "
                   "tuser. Optional ports that belong together (s_cfg_*, ctl_*) must be there all or not at all.",
                   "a module without m_pkt_tuser",
                   "Add the port; `rocegen new-service NAME --attach POINT` writes a header that has them all."},
    spec::CodeInfo{"E0564", "port has the wrong direction",
                   "What a stage takes (s_pkt_tvalid, payload) is an input, what it gives (s_pkt_tready, m_pkt_tvalid) "
                   "an output; ready goes the other way.",
                   "input logic s_pkt_tready", "output logic s_pkt_tready"},
    spec::CodeInfo{"E0565", "port has the wrong width",
                   "With the parameters that the stack gives it, a port of the module is not as wide as the stream of "
                   "its attach point.",
                   "input logic [511:0] s_pkt_tdata, in a stack of 256 bits", "input logic [DataW-1:0] s_pkt_tdata"},
    spec::CodeInfo{"E0566", "port that nobody would connect",
                   "The module has a port that is none of a stage's. Counters are outputs named cnt_<what>_o.",
                   "output logic led_o", "Remove it, or make it a parameter or a register of the service's window."},
    spec::CodeInfo{"E0567", "name that is taken",
                   "All files go into one folder and all modules into one library, so that file names and module names "
                   "differ from each other, from those of the library and from that of the stack.",
                   "\"files\": [\"a/stage.sv\", \"b/stage.sv\"]", "Rename one of them."},
    spec::CodeInfo{"E0568", "trailer that cannot be",
                   "A service at egress may append bytes to each packet, which its counterpart at ingress takes off: a "
                   "multiple of 4, so that the pad count in the header stays right. At deliver there is none.",
                   "\"trailer\": 6", "\"trailer\": 8"},
    spec::CodeInfo{"E0569", "module is not in the files",
                   "None of the service's files declares the module that `module` names.", "\"module\": \"xor_msk\"",
                   "\"module\": \"xor_mask\""},
    spec::CodeInfo{"E0570", "file of a new service is there already",
                   "`rocegen new-service` writes three files and never over one that exists.",
                   "rocegen new-service sieve, twice", "Remove the files, or choose another folder with -o."},
    spec::CodeInfo{"E0571", "specification without services",
                   "`rocegen bench --only services` compares a NIC with the same without services; this one has none.",
                   "rocegen bench specs/nic_100g.json --only services",
                   "rocegen bench specs/nic_100g_all.json --only services"},
};

}  // namespace

std::span<const spec::CodeInfo> codes() { return kCodes; }

}  // namespace rocegen::services
