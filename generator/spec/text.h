// Text helpers of the diagnostics: UTF-8, what is safe to show, and the nearest word.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace rocegen::spec {

/// One decoded character. `valid` is false for a byte that is not part of well-formed UTF-8 (RFC 3629: no overlong
/// forms, no surrogates, nothing beyond U+10FFFF); such a byte is a character of its own of length 1.
struct Utf8Char {
  char32_t code = 0;
  std::size_t length = 0;
  bool valid = false;
};

/// Decodes the character at byte `offset`, which must lie within `text`.
Utf8Char decode_utf8(std::string_view text, std::size_t offset);

/// Appends the UTF-8 form of a code point (at most U+10FFFF, no surrogate).
void append_utf8(std::string& out, char32_t code);

/// Number of characters in `text`; a byte that is not UTF-8 counts as one.
std::size_t count_characters(std::string_view text);

/// Text for a terminal: control characters, broken UTF-8 and characters that change the direction of text are written
/// as \xNN or \u{NN}.
std::string printable(std::string_view text);

/// Text of a source line for a terminal: the same, but each such character becomes one U+FFFD, and a tab becomes a
/// space, so that columns stay what they are.
std::string printable_line(std::string_view text);

/// Columns that printable_line(text) takes on a terminal: wide East Asian characters and emoji two, combining marks
/// none.
std::size_t display_width(std::string_view text);

/// At most `limit` characters of `text`, with "..." in place of the rest.
std::string shorten(std::string_view text, std::size_t limit);

/// Number of edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word` (letter case ignored; the first of several), or empty if none is near enough to be a
/// slip of the pen: at most a third of the word's length in edits, at least one.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace rocegen::spec
