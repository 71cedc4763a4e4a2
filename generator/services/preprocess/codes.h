// The codes that this folder reports: E0540 to E0553 (layouts of rows).
#pragma once

#include <span>

#include "generator/spec/diagnostic.h"

namespace rocegen::preprocess {

/// The table of this folder, in the order of the codes.
std::span<const spec::CodeInfo> codes();

}  // namespace rocegen::preprocess
