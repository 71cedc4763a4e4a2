// Command line of the simulator: run, replay, soak, list.
#pragma once

#include "sim/harness/dut.h"

namespace rocegen::sim {

/// Exit code: 0 all passed, 1 an input file is wrong, 2 usage, 4 a test failed. `factory` empty: the reference endpoint
/// takes both ends.
int run_cli(int argc, char** argv, const DutFactory& factory);

}  // namespace rocegen::sim
