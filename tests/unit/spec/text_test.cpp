#include "generator/spec/text.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace rocegen::spec;

TEST_CASE("utf-8 is decoded and encoded") {
  const struct {
    std::string text;
    char32_t code;
  } good[] = {{std::string("\0", 1), 0},
              {"a", 'a'},
              {"\x7F", 0x7F},
              {"\xC2\x80", 0x80},
              {"\xDF\xBF", 0x7FF},
              {"\xE0\xA0\x80", 0x800},
              {"\xED\x9F\xBF", 0xD7FF},
              {"\xEF\xBF\xBF", 0xFFFF},
              {"\xF0\x90\x80\x80", 0x10000},
              {"\xF4\x8F\xBF\xBF", 0x10FFFF}};
  for (const auto& each : good) {
    const Utf8Char c = decode_utf8(each.text, 0);
    CHECK(c.valid);
    CHECK(c.code == each.code);
    CHECK(c.length == each.text.size());
    std::string back;
    append_utf8(back, each.code);
    CHECK(back == each.text);
  }
  // Stray continuation, overlong forms, surrogates, beyond U+10FFFF, cut short, never-used bytes.
  for (const std::string bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC3(", "\xE2\x28\xA1"}) {
    const Utf8Char c = decode_utf8(bad, 0);
    CHECK_FALSE(c.valid);
    CHECK(c.length == 1);
  }
}

TEST_CASE("characters and columns are counted") {
  CHECK(count_characters("") == 0);
  CHECK(count_characters("h\xC3\xBC!") == 3);
  CHECK(count_characters("\xFF\xFE") == 2);
  CHECK(display_width("ab") == 2);
  CHECK(display_width("\xE4\xB8\xAD") == 2);  // one ideograph
  CHECK(display_width("e\xCC\x81") == 1);     // e with a combining accent
  CHECK(shorten("abcdef", 6) == "abcdef");
  CHECK(shorten("abcdefg", 6) == "abcdef...");
  CHECK(shorten("\xC3\xBC\xC3\xBC\xC3\xBC", 2) == "\xC3\xBC\xC3\xBC...");
}

TEST_CASE("nothing of the user's text reaches the terminal as a command") {
  CHECK(printable("a\033[31mb") == "a\\x1b[31mb");
  CHECK(printable("\xFF") == "\\xff");
  CHECK(printable("\xC2\x9B") == "\\u{9b}");        // C1 control: CSI
  CHECK(printable("\xE2\x80\xAE") == "\\u{202e}");  // right-to-left override
  CHECK(printable("gr\xC3\xBC\xC3\x9F") == "gr\xC3\xBC\xC3\x9F");
  CHECK(printable_line("a\tb") == "a b");
  CHECK(printable_line("\033x\xFF") == "\xEF\xBF\xBDx\xEF\xBF\xBD");
}

TEST_CASE("edit distance counts insertions, deletions, replacements and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("qp_cont", "qp_count") == 1);
  CHECK(edit_distance("nmae", "name") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest word is found only when it is near") {
  const std::vector<std::string> words = {"name", "qp_count", "mtu", "memory_regions"};
  CHECK(nearest("qp_cnt", words) == "qp_count");
  CHECK(nearest("QP_COUNT", words) == "qp_count");
  CHECK(nearest("memory_region", words) == "memory_regions");
  CHECK(nearest("colour", words).empty());
  CHECK(nearest("", words).empty());
  CHECK(nearest(std::string(100000, 'x'), words).empty());
  CHECK(nearest("x", {}).empty());
}
