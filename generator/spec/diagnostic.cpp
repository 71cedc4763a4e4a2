#include "generator/spec/diagnostic.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "generator/spec/text.h"

namespace rocegen::spec {

namespace {

constexpr std::string_view kReset = "\033[0m";
constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kRed = "\033[1;31m";
constexpr std::string_view kYellow = "\033[1;33m";
constexpr std::string_view kBlue = "\033[1;34m";
constexpr std::string_view kCyan = "\033[1;36m";
constexpr std::string_view kGreen = "\033[1;32m";

std::string paint(bool colour, std::string_view code, std::string_view text) {
  return colour ? fmt::format("{}{}{}", code, text, kReset) : std::string(text);
}

// Bytes of the first `characters` characters of `text`, or all of it.
std::size_t prefix_bytes(std::string_view text, std::size_t characters) {
  std::size_t i = 0;
  for (; i < text.size() && characters > 0; --characters) i += decode_utf8(text, i).length;
  return i;
}

// The source line and the caret line below it.
void render_source(std::string& out, const Diagnostic& d, bool colour) {
  const Place& place = d.place;
  const std::string_view source = place.source;
  const std::size_t column = static_cast<std::size_t>(std::max(place.source_column, 1));
  const std::size_t begin = prefix_bytes(source, column - 1);
  const std::size_t length = prefix_bytes(source.substr(begin), static_cast<std::size_t>(std::max(place.length, 1)));
  const std::string before = printable_line(source.substr(0, begin));
  const std::string under = printable_line(source.substr(begin, length));
  const std::string pad(display_width(before), ' ');
  std::string caret(std::max<std::size_t>(1, display_width(under)), '^');
  if (!d.label_text.empty()) caret += " " + printable(d.label_text);
  const std::string_view tint = d.severity == Severity::error ? kRed : kYellow;
  fmt::format_to(std::back_inserter(out), "{} {}\n", paint(colour, kBlue, fmt::format("{:>5} |", place.line)),
                 printable_line(source));
  fmt::format_to(std::back_inserter(out), "{} {}{}\n", paint(colour, kBlue, "      |"), pad,
                 paint(colour, tint, caret));
}

}  // namespace

Place file_place(std::string file) {
  Place place;
  place.file = std::move(file);
  return place;
}

std::string to_string(const Place& place) {
  std::string text = place.file.empty() ? place.pointer : place.file;
  if (place.line > 0) {
    text += fmt::format(":{}", place.line);
    if (place.column > 0) text += fmt::format(":{}", place.column);
  }
  return text;
}

Diagnostic& Diagnostic::label(std::string text) {
  label_text = std::move(text);
  return *this;
}

Diagnostic& Diagnostic::note(std::string text, Place where) {
  notes.push_back({std::move(text), std::move(where)});
  return *this;
}

Diagnostic& Diagnostic::help(std::string text) {
  helps.push_back(std::move(text));
  return *this;
}

Diagnostic& Diagnostics::error(std::string_view code, Place place, std::string message) {
  Diagnostic d;
  d.code = code;
  d.severity = Severity::error;
  d.place = std::move(place);
  d.message = std::move(message);
  return report(std::move(d));
}

Diagnostic& Diagnostics::warning(std::string_view code, Place place, std::string message) {
  Diagnostic& d = error(code, std::move(place), std::move(message));
  d.severity = Severity::warning;
  return d;
}

Diagnostic& Diagnostics::report(Diagnostic diagnostic) {
  items_.push_back(std::move(diagnostic));
  return items_.back();
}

void Diagnostics::append(const Diagnostics& other) {
  // By index: `other` may be this very collection.
  const std::size_t count = other.items_.size();
  items_.reserve(items_.size() + count);
  for (std::size_t i = 0; i < count; ++i) items_.push_back(other.items_[i]);
}

void Diagnostics::sort_by_place(std::size_t first) {
  if (first >= items_.size()) return;
  std::stable_sort(items_.begin() + static_cast<std::ptrdiff_t>(first), items_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
                   });
}

std::size_t Diagnostics::error_count() const {
  return static_cast<std::size_t>(
      std::count_if(items_.begin(), items_.end(), [](const Diagnostic& d) { return d.severity == Severity::error; }));
}

std::size_t Diagnostics::warning_count() const { return items_.size() - error_count(); }

std::string render(const Diagnostic& d, bool colour) {
  std::string out;
  const std::string where = printable(to_string(d.place));
  const bool error = d.severity == Severity::error;
  if (!where.empty()) out += paint(colour, kBold, where + ":") + " ";
  out += paint(colour, error ? kRed : kYellow, fmt::format("{}[{}]", error ? "error" : "warning", d.code));
  out += paint(colour, kBold, ": " + printable(d.message)) + "\n";
  if (d.place.line > 0) {
    render_source(out, d, colour);
  } else if (!d.label_text.empty()) {
    fmt::format_to(std::back_inserter(out), "  {} {}\n", paint(colour, kCyan, "note:"), printable(d.label_text));
  }
  for (const Note& note : d.notes) {
    const std::string from = printable(to_string(note.place));
    fmt::format_to(std::back_inserter(out), "  {} {}{}\n", paint(colour, kCyan, "note:"), printable(note.message),
                   from.empty() ? "" : ", from " + from);
  }
  for (const std::string& help : d.helps) {
    fmt::format_to(std::back_inserter(out), "  {} {}\n", paint(colour, kGreen, "help:"), printable(help));
  }
  return out;
}

std::string render(const Diagnostics& diagnostics, bool colour) {
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += render(d, colour);
  return out;
}

bool wants_colour(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return isatty(fileno(stream)) == 1;
}

void print(std::FILE* stream, const Diagnostics& diagnostics) {
  const std::string text = render(diagnostics, wants_colour(stream));
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace rocegen::spec
