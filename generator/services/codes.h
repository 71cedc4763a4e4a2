// The codes that services report: E056x custom; each other type adds its own range.
#pragma once

#include <span>

#include "generator/spec/diagnostic.h"

namespace rocegen::services {

/// The table of this folder, in the order of the codes.
std::span<const spec::CodeInfo> codes();

}  // namespace rocegen::services
