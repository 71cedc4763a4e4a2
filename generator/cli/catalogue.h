// The catalogue of all diagnostic codes: what the folders' tables hold together.
#pragma once

#include <span>
#include <string_view>

#include "generator/spec/diagnostic.h"

namespace rocegen::cli {

/// All codes, in the order of their numbers, errors before warnings.
std::span<const spec::CodeInfo> catalogue();

/// The entry of a code, letter case ignored, or null.
const spec::CodeInfo* find_code(std::string_view code);

}  // namespace rocegen::cli
