// The codes that outputs and tools report: E05xx.
#pragma once

#include <span>

#include "generator/spec/diagnostic.h"

namespace rocegen::outputs {

/// The table of this folder, in the order of the codes.
std::span<const spec::CodeInfo> codes();

}  // namespace rocegen::outputs
