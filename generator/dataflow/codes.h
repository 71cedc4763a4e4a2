// The codes that this folder reports: E04xx and W04xx (expression graphs).
#pragma once

#include <span>

#include "generator/spec/diagnostic.h"

namespace rocegen::dataflow {

/// The table of this folder, in the order of the codes.
std::span<const spec::CodeInfo> codes();

}  // namespace rocegen::dataflow
