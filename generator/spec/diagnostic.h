// Diagnostics: what is wrong with the user's input, as data. They are collected and shown together; exceptions are for
// bugs. A diagnostic carries a stable code that `rocegen explain CODE` explains at length.
//
//   Diagnostics diags;
//   diags.error("E0301", place, "stream width 384 cannot be adapted to 512")
//       .label("not a power of two")
//       .note("the host side is 512 bits wide", other_place)
//       .help("set \"data_width\" to 256 or 512");
//   print(stderr, diags);
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rocegen::spec {

enum class Severity { error, warning };

/// Where something stands. Everything is optional: a place without a file renders as the program's own name, one
/// without a line as the whole file. `source` is the line's text (shortened around the place when the line is long),
/// so that rendering needs no file.
struct Place {
  std::string file;       ///< path as the user wrote it
  std::string pointer;    ///< JSON pointer (RFC 6901), or empty
  int line = 0;           ///< from 1; 0 = the file as a whole
  int column = 0;         ///< from 1, counted in characters (UTF-8 code points), not bytes
  int length = 0;         ///< characters that the caret underlines
  std::string source;     ///< text of the line, without its line end
  int source_column = 0;  ///< column of the place within `source`, from 1 (differs from `column` if shortened)

  bool operator==(const Place&) const = default;
};

/// A place that is a whole file.
Place file_place(std::string file);

/// "file:line:column", as far as known; empty if nothing is known.
std::string to_string(const Place& place);

/// A further remark, with a place of its own if it has one (rendered as ", from file:line:column").
struct Note {
  std::string message;
  Place place;
};

/// One fault or warning. Messages are lowercase, without a period at the end; `help` is phrased as an edit.
struct Diagnostic {
  std::string code;  ///< stable, "E0201" or "W0201"
  Severity severity = Severity::error;
  Place place;
  std::string message;
  std::string label_text;  ///< stands behind the caret
  std::vector<Note> notes;
  std::vector<std::string> helps;

  /// Sets the text behind the caret.
  Diagnostic& label(std::string text);
  /// Adds a remark.
  Diagnostic& note(std::string text, Place where = {});
  /// Adds a proposal, phrased as an edit.
  Diagnostic& help(std::string text);
};

/// Collects diagnostics in the order of their reporting.
class Diagnostics {
 public:
  /// Adds an error. The reference is valid until the next report: use it to chain label, note and help.
  Diagnostic& error(std::string_view code, Place place, std::string message);
  /// Adds a warning; warnings never make a run fail.
  Diagnostic& warning(std::string_view code, Place place, std::string message);
  /// Adds one that was made elsewhere.
  Diagnostic& report(Diagnostic diagnostic);
  /// Adds all of another collection.
  void append(const Diagnostics& other);
  /// Orders diagnostics from index `first` on by line and column; equal places keep their order.
  void sort_by_place(std::size_t first = 0);

  const std::vector<Diagnostic>& all() const { return items_; }
  bool empty() const { return items_.empty(); }
  std::size_t error_count() const;
  std::size_t warning_count() const;
  bool has_errors() const { return error_count() > 0; }

 private:
  std::vector<Diagnostic> items_;
};

/// The text of one diagnostic in the form of the house style, with a line end; ANSI colours if `colour`.
/// Control characters and broken UTF-8 from the user's input are made visible, never passed to the terminal.
std::string render(const Diagnostic& diagnostic, bool colour = false);
/// All of them, in order.
std::string render(const Diagnostics& diagnostics, bool colour = false);
/// True if `stream` is a terminal, NO_COLOR is unset or empty, and TERM is not "dumb".
bool wants_colour(std::FILE* stream);
/// Renders to `stream`, in colour if it wants colour.
void print(std::FILE* stream, const Diagnostics& diagnostics);

/// One entry of the catalogue of codes. Texts are whole sentences; `example` is what provokes the code (JSON or a
/// command line), `fix` says what to do about it.
struct CodeInfo {
  const char* code;
  const char* title;  ///< a few words, lowercase: the list of `rocegen explain`
  const char* explanation;
  const char* example;
  const char* fix;
};

// Every folder owns one range of codes and has one table of them, in <folder>/codes.h and codes.cpp:
//     namespace rocegen::netlist { std::span<const spec::CodeInfo> codes(); }
// and one line in generator/cli/catalogue.cpp puts it into the shared catalogue (see generator/spec/codes.cpp).
//   E01xx files and JSON, E02xx spec, E03xx netlist, E04xx dataflow and stack, E05xx outputs and tools,
//   E06xx simulation; W0xxx likewise.

}  // namespace rocegen::spec
