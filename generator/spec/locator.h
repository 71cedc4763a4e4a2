// Locator: a JSON reader (RFC 8259) that remembers where everything stands. It gives the value as
// nlohmann::ordered_json and maps every JSON pointer to line, column and length of its key and value, which
// nlohmann 3.11 cannot. It goes on after the slips that people make (a missing or trailing comma, a comment, single
// quotes), so that one run reports them all, and it finds duplicate keys, which nlohmann drops silently.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "generator/spec/diagnostic.h"

namespace rocegen::spec {

/// `pointer` with one more reference token, escaped as RFC 6901 says.
std::string child_pointer(std::string_view pointer, std::string_view key);

class Locator {
 public:
  /// Deepest nesting of objects and arrays that is read.
  static constexpr int kMaxDepth = 64;

  /// `file` is the name that diagnostics show. Nothing is read yet.
  Locator(std::string file, std::string text);

  /// Reads the text; faults are reported (E0104, E0106, E0110..E0120). Returns true if root() holds the whole document,
  /// be it after repairs (errors were reported then, see bad()); false if reading had to stop.
  bool parse(Diagnostics& diagnostics);

  /// The document. Of duplicate keys the first counts. Valid after parse() returned true.
  const nlohmann::ordered_json& root() const { return root_; }

  /// Place of a value: all of it if it stands on one line, else its first character. If there is no such value, the
  /// place of its nearest ancestor that there is; the pointer stays the asked one.
  Place value(std::string_view pointer) const;
  /// Place of an object member's key with its quotes; for array elements and the root the place of the value.
  Place key(std::string_view pointer) const;
  /// True if the document has a value at `pointer`.
  bool contains(std::string_view pointer) const;
  /// True if the value at `pointer` was faulty JSON: its content says nothing, and its fault is reported already.
  bool bad(std::string_view pointer) const;
  /// The value as it is written in the text, or empty.
  std::string_view source(std::string_view pointer) const;
  /// Place of `bytes` bytes (at least one character, never beyond the line) at byte `offset`.
  Place at(std::size_t offset, std::size_t bytes, std::string pointer = {}) const;

  const std::string& file() const { return file_; }

 private:
  friend class JsonReader;

  struct Entry {
    std::size_t key_begin = 0;  // key_end == key_begin: no key
    std::size_t key_end = 0;
    std::size_t value_begin = 0;
    std::size_t value_end = 0;
    bool bad = false;
  };

  const Entry* find(std::string_view pointer) const;

  std::string file_;
  std::string text_;
  std::vector<std::size_t> lines_;  // offset of the first byte of each line
  std::unordered_map<std::string, Entry> entries_;
  nlohmann::ordered_json root_;
};

}  // namespace rocegen::spec
