// The codes that this folder reports: E0520 to E0530 (model files).
#pragma once

#include <span>

#include "generator/spec/diagnostic.h"

namespace rocegen::model {

/// The table of this folder, in the order of the codes.
std::span<const spec::CodeInfo> codes();

}  // namespace rocegen::model
