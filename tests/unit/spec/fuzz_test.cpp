// Damaged JSON: whatever the text, reading ends, says where the fault is, and agrees with nlohmann about what is JSON.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "generator/spec/codes.h"
#include "generator/spec/locator.h"
#include "generator/spec/spec.h"
#include "generator/spec/text.h"
#include "tests/unit/spec/brief.h"

using namespace rocegen::spec;
using namespace rocegen::spec::test;

namespace {

const std::string kSource = ROCEGEN_SOURCE_DIR;

std::uint32_t seed() {
  const char* given = std::getenv("ROCEGEN_SEED");
  return given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : 20240607U;
}

void examine(const std::string& text) {
  // nlohmann is the second opinion. It has no limit of nesting and silently takes duplicate keys.
  Diagnostics diagnostics;
  Locator locator("f", text);
  const bool parsed = locator.parse(diagnostics);
  bool syntax_error = false;
  for (const Diagnostic& d : diagnostics.all()) syntax_error = syntax_error || (d.code != "E0119" && d.code != "E0120");
  const bool too_deep = std::any_of(diagnostics.all().begin(), diagnostics.all().end(),
                                    [](const Diagnostic& d) { return d.code == "E0119"; });
  const bool json = nlohmann::ordered_json::accept(text);
  if (!too_deep) CHECK_MESSAGE(json == !syntax_error, printable(text));
  if (diagnostics.empty()) {
    REQUIRE(parsed);
    CHECK_MESSAGE(locator.root() == nlohmann::ordered_json::parse(text), printable(text));
  }

  Diagnostics all;
  const auto spec = read_spec_text("f", text, all);
  CHECK(spec.has_value() == !all.has_errors());
  const std::size_t lines = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  static const std::set<std::string> known = [] {
    std::set<std::string> set;
    for (const CodeInfo& info : codes()) set.insert(info.code);
    return set;
  }();
  for (const Diagnostic& d : all.all()) {
    CHECK(known.count(d.code) == 1);
    CHECK(static_cast<std::size_t>(d.place.line) <= lines);
    CHECK((d.place.line == 0) == (d.code == "E0104" || (d.code == "E0106" && d.place.column == 0)));
    if (d.place.line > 0) {
      CHECK(d.place.column >= 1);
      CHECK(d.place.length >= 1);
      CHECK(static_cast<std::size_t>(d.place.source_column) <= count_characters(d.place.source) + 1);
    }
  }
  // The rendered text is clean UTF-8 without control characters.
  const std::string rendered = render(all);
  for (std::size_t i = 0; i < rendered.size();) {
    const Utf8Char c = decode_utf8(rendered, i);
    if (!c.valid || (c.code < 0x20 && c.code != '\n') || c.code == 0x7F) FAIL("unclean: " << printable(rendered));
    i += c.length;
  }
}

}  // namespace

TEST_CASE("a spec cut anywhere is refused with a place") {
  const std::string text = slurp(kSource + "/specs/nic_200g.json");
  REQUIRE(text.size() > 100);
  const std::size_t end = text.find_last_of('}');
  for (std::size_t i = 0; i <= text.size(); ++i) {
    examine(text.substr(0, i));
    Diagnostics diagnostics;
    CHECK(read_spec_text("f", text.substr(0, i), diagnostics).has_value() == (i > end));
  }
}

TEST_CASE("randomly damaged specs") {
  const std::uint32_t start = seed();
  CAPTURE(start);
  std::mt19937 random(start);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::vector<std::string> texts = {
      slurp(kSource + "/specs/nic_200g.json"),
      R"({"name": "n", "description": "\u00fc\ud83d\ude00 \\ \" ü", "services": [{"type": "aes"}, [[]], {}], "mtu": 1e3})",
      "[[[{}]], [1, -0.5e-3, true, null, \"\"], {\"a\": {\"a\": {\"a\": 0}}}]"};
  const std::vector<std::string> pieces = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           ",",
                                           ":",
                                           "\"",
                                           "'",
                                           "\\",
                                           "\\u",
                                           "\\ud800",
                                           "//",
                                           "/*",
                                           "*/",
                                           "#",
                                           "\n",
                                           "\r",
                                           "\t",
                                           "null",
                                           "true",
                                           "NaN",
                                           "-",
                                           "0",
                                           "1e999",
                                           "01",
                                           ".",
                                           "e",
                                           "\xFF",
                                           "\xC3",
                                           "\xEF\xBB\xBF",
                                           "\xE2\x80\xAE",
                                           "\033[2J",
                                           std::string(1, '\0'),
                                           "\"name\"",
                                           "\"transport\":{",
                                           "=",
                                           " ",
                                           "\"mtu\": 1,"};
  for (int round = 0; round < 6000; ++round) {
    std::string text = texts[below(texts.size())];
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
      const std::size_t at = below(text.size() + 1);
      switch (below(5)) {
        case 0:
          text.insert(at, pieces[below(pieces.size())]);
          break;
        case 1:
          text.erase(at, 1 + below(4));
          break;
        case 2:
          if (at < text.size()) text[at] = static_cast<char>(random());
          break;
        case 3:
          text.resize(at);
          break;
        default:
          text.insert(at, text.substr(below(text.size() + 1), below(40)));
          break;
      }
    }
    examine(text);
  }
}

TEST_CASE("random pieces of JSON") {
  const std::uint32_t start = seed() + 1;
  CAPTURE(start);
  std::mt19937 random(start);
  const std::vector<std::string> pieces = {"{", "}", "[",  "]",    ",",   ":", "\"a\"",
                                           "1", " ", "\n", "true", "'b'", "c", "\"name\":"};
  for (int round = 0; round < 6000; ++round) {
    std::string text;
    for (std::size_t n = random() % 14; n > 0; --n) text += pieces[random() % pieces.size()];
    examine(text);
  }
}
