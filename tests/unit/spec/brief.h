// Diagnostics in a form that tests compare: code and place, never prose.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "generator/spec/diagnostic.h"

namespace rocegen::spec::test {

using Lines = std::vector<std::string>;

/// "code line:column+length pointer" of every diagnostic.
inline Lines brief(const Diagnostics& diagnostics) {
  Lines out;
  for (const Diagnostic& d : diagnostics.all()) {
    out.push_back(fmt::format("{} {}:{}+{} {}", d.code, d.place.line, d.place.column, d.place.length, d.place.pointer));
  }
  return out;
}

/// The whole file, byte by byte.
inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A folder of its own for a test, removed in the end.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rocegen_test_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& text) const {
    const std::string full = (path / name).string();
    std::ofstream(full, std::ios::binary) << text;
    return full;
  }
  std::filesystem::path path;
};

}  // namespace rocegen::spec::test

template <>
struct doctest::StringMaker<std::vector<std::string>> {
  static String convert(const std::vector<std::string>& lines) {
    return fmt::format("{{{}}}", fmt::join(lines, ", ")).c_str();
  }
};
