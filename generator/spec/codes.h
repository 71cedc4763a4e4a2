// The codes that this folder reports: E01xx (files and JSON), E02xx and W02xx (the spec).
#pragma once

#include <span>

#include "generator/spec/diagnostic.h"

namespace rocegen::spec {

/// The table of this folder, in the order of the codes.
std::span<const CodeInfo> codes();

}  // namespace rocegen::spec
