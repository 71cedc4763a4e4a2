#include "generator/outputs/codes.h"

#include <array>

namespace rocegen::outputs {

namespace {

constexpr std::array<spec::CodeInfo, 7> kCodes = {{
    {"E0501", "the output folder is not ours",
     "The folder named with -o (or out/<name>) holds files, but no manifest.json: rocegen did not write it, so rocegen "
     "does not replace it.",
     "rocegen gen specs/nic_10g.json -o ~/papers", "Choose another folder, or remove this one yourself."},
    {"E0502", "a file or folder cannot be written",
     "The system refused to write: no permission, no space, or a file where a folder should be. The old output is as "
     "it was.",
     "rocegen gen specs/nic_10g.json -o /proc/nic", "Free some space, or choose another folder with -o."},
    {"E0503", "a library file cannot be read",
     "A module of templates/ was there when the headers were read, but could not be copied into the output.",
     "chmod 000 templates/lib/ram_sdp.sv", "Restore the file; git status shows what changed in your clone."},
    {"E0504", "the library is not found",
     "rocegen needs its folder templates/ (and sim/ for simulations). It looks beside the program and above it, or "
     "where ROCEGEN_HOME says.",
     "cp build/rocegen /usr/local/bin && rocegen gen specs/nic_10g.json",
     "Set ROCEGEN_HOME to the folder of your clone."},
    {"E0510", "a program is not installed",
     "The command calls another program that is not on PATH. The message names the Debian package that has it.",
     "rocegen lint specs/nic_10g.json", "Install the package; ./run and ./check install all of them."},
    {"E0511", "a tool failed",
     "A tool that rocegen called ended with an error. The notes are the last lines that it wrote; the whole log is in "
     "the file named first.",
     "rocegen lint specs/nic_10g.json", "Read the log; the help line is the command to run the tool again by hand."},
    {"E0512", "the simulation library is missing",
     "rocegen sim links the Verilated model with librocegen_sim.a, which is built together with rocegen and lies "
     "beside it.",
     "cp build/rocegen /usr/local/bin && rocegen sim specs/nic_10g.json",
     "Run rocegen from its build folder, or build the project first."},
}};

}  // namespace

std::span<const spec::CodeInfo> codes() { return kCodes; }

}  // namespace rocegen::outputs
