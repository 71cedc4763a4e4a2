// The Verilated simulator of a variant, built once and kept by content.
#pragma once

#include <filesystem>
#include <optional>

#include "generator/cli/variant.h"
#include "generator/spec/diagnostic.h"

namespace rocegen::cli {

struct ModelOptions {
  bool trace = false;     ///< with FST tracing (slower)
  bool coverage = false;  ///< with line coverage
};

/// The simulator program of a variant. It is kept in ROCEGEN_CACHE (default: rocegen below XDG_CACHE_HOME or ~/.cache)
/// under a hash of everything that goes into it: sources, harness, options, version of Verilator. A build that fails or
/// is killed leaves nothing behind. Faults are diagnostics.
std::optional<std::filesystem::path> build_model(const Variant& variant, const ModelOptions& options,
                                                 spec::Diagnostics& diagnostics);

}  // namespace rocegen::cli
