// The Verilated model that this program was linked with.
#pragma once

#include "sim/harness/dut.h"

namespace rocegen::sim {

/// A fresh instance, with a context of its own.
std::unique_ptr<Dut> make_dut(const std::string& name);

}  // namespace rocegen::sim
