// Reading and writing files with diagnostics: E0101..E0107.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "generator/spec/diagnostic.h"

namespace rocegen::spec {

/// Largest JSON text that is read: 1 MiB is far above any spec.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20U;

/// The whole file `path` ("-" is the standard input). A missing, unreadable or too large file and a directory are
/// diagnostics. Pipes and devices are read, up to the limit.
std::optional<std::string> read_text_file(const std::string& path, Diagnostics& diagnostics,
                                          std::size_t max_bytes = kMaxTextBytes);

/// Writes `text` to `path`. A regular file is replaced by a complete one or stays as it was: the text goes into a
/// temporary file beside it, which is renamed; its permissions stay. What is not a regular file (/dev/stdout, a pipe)
/// is written directly. Failures (no such folder, no permission, full disk) are diagnostics; returns false then.
bool write_text_file(const std::string& path, std::string_view text, Diagnostics& diagnostics);

/// Writes `text` to the standard output and flushes it; a failure (full disk, closed output) is a diagnostic.
bool write_stdout(std::string_view text, Diagnostics& diagnostics);

}  // namespace rocegen::spec
