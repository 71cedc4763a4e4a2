#include "generator/spec/diagnostic.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "generator/spec/locator.h"

using namespace rocegen::spec;

namespace {

Place place(std::string file, int line, int column, int length, std::string source) {
  Place p;
  p.file = std::move(file);
  p.line = line;
  p.column = column;
  p.length = length;
  p.source = std::move(source);
  p.source_column = column;
  return p;
}

}  // namespace

TEST_CASE("a diagnostic renders in the form of the house style") {
  Diagnostics diagnostics;
  diagnostics
      .error("E0301", place("specs/edge.json", 41, 19, 3, "    \"data_width\": 384,"),
             "stream width 384 cannot be adapted to 512")
      .label("not a power of two")
      .note("the host side is 512 bits wide", place("specs/edge.json", 18, 9, 1, ""))
      .note("a note without a place")
      .help("set \"data_width\" to 256 or 512");
  CHECK(render(diagnostics) ==
        "specs/edge.json:41:19: error[E0301]: stream width 384 cannot be adapted to 512\n"
        "   41 |     \"data_width\": 384,\n"
        "      |                   ^^^ not a power of two\n"
        "  note: the host side is 512 bits wide, from specs/edge.json:18:9\n"
        "  note: a note without a place\n"
        "  help: set \"data_width\" to 256 or 512\n");
}

TEST_CASE("places may be incomplete") {
  Diagnostics diagnostics;
  diagnostics.error("E0101", file_place("nic.json"), "no such file");
  CHECK(render(diagnostics) == "nic.json: error[E0101]: no such file\n");
  Diagnostics by_pointer;
  Place where;
  where.pointer = "/mtu";
  by_pointer.error("E0205", where, "m").label("stands nowhere");
  CHECK(render(by_pointer) == "/mtu: error[E0205]: m\n  note: stands nowhere\n");
  Diagnostics nowhere;
  nowhere.warning("W0301", {}, "m");
  CHECK(render(nowhere) == "warning[W0301]: m\n");
}

TEST_CASE("the caret stands under its characters, whatever they are") {
  const Locator locator("f", "\xE4\xB8\xAD\xE4\xB8\xAD\tx\xC3\xBC");  // two wide characters, tab, x, umlaut
  Diagnostics diagnostics;
  diagnostics.error("E0110", locator.at(7, 3), "m");
  CHECK(diagnostics.all()[0].place.column == 4);
  CHECK(diagnostics.all()[0].place.length == 2);
  CHECK(render(diagnostics) ==
        "f:1:4: error[E0110]: m\n"
        "    1 | \xE4\xB8\xAD\xE4\xB8\xAD x\xC3\xBC\n"
        "      |      ^^\n");
}

TEST_CASE("colour changes nothing but the escape sequences") {
  Diagnostics diagnostics;
  diagnostics.warning("W0201", place("f", 1, 1, 1, "x"), "m").label("l").note("n").help("h");
  const std::string plain = render(diagnostics);
  std::string coloured = render(diagnostics, true);
  CHECK(coloured != plain);
  for (std::size_t i = coloured.find('\033'); i != std::string::npos; i = coloured.find('\033')) {
    coloured.erase(i, coloured.find('m', i) - i + 1);
  }
  CHECK(coloured == plain);
}

TEST_CASE("no colour into a file, nor with NO_COLOR") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  CHECK_FALSE(wants_colour(file));
  std::fclose(file);
  setenv("NO_COLOR", "1", 1);
  CHECK_FALSE(wants_colour(stderr));
  unsetenv("NO_COLOR");
}

TEST_CASE("escape sequences in names and messages stay text") {
  Diagnostics diagnostics;
  diagnostics.error("E0201", file_place("a\033]0;b"), "key \033[2J").note("\x9B").help("\x7F");
  const std::string text = render(diagnostics);
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.find('\x9B') == std::string::npos);
  CHECK(text.find('\x7F') == std::string::npos);
}

TEST_CASE("the collector counts, appends and sorts") {
  Diagnostics a;
  a.error("E0301", place("f", 9, 1, 1, ""), "kept in front");
  a.error("E0302", place("f", 3, 5, 1, ""), "third");
  a.warning("W0301", place("f", 3, 1, 1, ""), "second");
  a.error("E0303", place("f", 1, 9, 1, ""), "first");
  a.sort_by_place(1);
  REQUIRE(a.all().size() == 4);
  CHECK(a.all()[0].code == "E0301");
  CHECK(a.all()[1].code == "E0303");
  CHECK(a.all()[2].code == "W0301");
  CHECK(a.all()[3].code == "E0302");
  CHECK(a.error_count() == 3);
  CHECK(a.warning_count() == 1);
  Diagnostics b;
  b.warning("W0302", {}, "only a warning");
  CHECK_FALSE(b.has_errors());
  b.append(a);
  b.append(b);
  CHECK(b.all().size() == 10);
  CHECK(b.has_errors());
  b.sort_by_place(99);
}
