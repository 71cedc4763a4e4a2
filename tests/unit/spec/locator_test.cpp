#include "generator/spec/locator.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/unit/spec/brief.h"

using namespace rocegen::spec;
using namespace rocegen::spec::test;

namespace {

Lines faults(const std::string& text) {
  Diagnostics diagnostics;
  Locator locator("f", text);
  locator.parse(diagnostics);
  return brief(diagnostics);
}

std::string position(const Place& p) { return fmt::format("{}:{}+{}", p.line, p.column, p.length); }

}  // namespace

TEST_CASE("values and keys are located") {
  Diagnostics diagnostics;
  Locator locator("nic.json",
                  "{\n"
                  "  \"name\": \"x\",\r\n"
                  "  \"a/b~c\" : { \"\": [1, -2.5e3, [true], null],\n"
                  "    \"\\u00fcml\": {} }\n"
                  "}\n");
  REQUIRE(locator.parse(diagnostics));
  REQUIRE(diagnostics.empty());
  CHECK(locator.root().dump() == R"({"name":"x","a/b~c":{"":[1,-2500.0,[true],null],"üml":{}}})");
  CHECK(position(locator.value("")) == "1:1+1");
  CHECK(position(locator.value("/name")) == "2:11+3");
  CHECK(position(locator.key("/name")) == "2:3+6");
  CHECK(position(locator.key("/a~1b~0c")) == "3:3+7");
  CHECK(position(locator.value("/a~1b~0c")) == "3:13+1");  // more than one line: its bracket
  CHECK(position(locator.value("/a~1b~0c/")) == "3:19+25");
  CHECK(position(locator.value("/a~1b~0c//1")) == "3:23+6");
  CHECK(position(locator.key("/a~1b~0c//1")) == "3:23+6");  // an element has no key
  CHECK(position(locator.value("/a~1b~0c//2/0")) == "3:32+4");
  CHECK(position(locator.key("/a~1b~0c/\xC3\xBCml")) == "4:5+10");
  CHECK(locator.source("/a~1b~0c//1") == "-2.5e3");
  CHECK(locator.value("/name").source == "  \"name\": \"x\",");  // without the carriage return
  CHECK(locator.value("/name").file == "nic.json");
  CHECK(locator.contains("/a~1b~0c//3"));
  CHECK_FALSE(locator.contains("/a~1b~0c//4"));
  // What is not there is located at its nearest ancestor.
  CHECK(position(locator.value("/a~1b~0c//4/x/y")) == "3:19+1");
  CHECK(locator.value("/a~1b~0c//4/x/y").pointer == "/a~1b~0c//4/x/y");
}

TEST_CASE("columns count characters, not bytes") {
  Diagnostics diagnostics;
  Locator locator("f", "\xEF\xBB\xBF{\"\xC3\xBC\xF0\x9F\x98\x80\": 7}");  // with a byte order mark
  REQUIRE(locator.parse(diagnostics));
  CHECK(position(locator.key("/\xC3\xBC\xF0\x9F\x98\x80")) == "1:2+4");
  CHECK(position(locator.value("/\xC3\xBC\xF0\x9F\x98\x80")) == "1:8+1");
  CHECK(locator.value("").source == "{\"\xC3\xBC\xF0\x9F\x98\x80\": 7}");
}

TEST_CASE("strings are decoded") {
  Diagnostics diagnostics;
  Locator locator("f", R"(["\"\\\/\b\f\n\r\t", "\u0041\u20AC\ud83d\uDE00", "\u0000"])");
  REQUIRE(locator.parse(diagnostics));
  REQUIRE(diagnostics.empty());
  CHECK(locator.root()[0] == "\"\\/\b\f\n\r\t");
  CHECK(locator.root()[1] == "A\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(locator.root()[2] == std::string(1, '\0'));
}

TEST_CASE("numbers keep their kind") {
  Diagnostics diagnostics;
  Locator locator("f", "[0, -0, 18446744073709551615, -9223372036854775808, 18446744073709551616, 1e2, 1E-400]");
  REQUIRE(locator.parse(diagnostics));
  REQUIRE(diagnostics.empty());
  CHECK(locator.root()[2].is_number_unsigned());
  CHECK(locator.root()[3].is_number_integer());
  CHECK(locator.root()[4].is_number_float());
  CHECK(locator.root()[5] == 100.0);
}

TEST_CASE("an empty file has no place") {
  for (const std::string text : {"", " \n\t\r\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n"}) {
    CAPTURE(text);
    CHECK(faults(text) == Lines{"E0104 0:0+0 "});
  }
}

TEST_CASE("text that is not UTF-8") {
  CHECK(faults("\xFF\xFE{") == Lines{"E0106 0:0+0 "});
  CHECK(faults("\xFE\xFF{") == Lines{"E0106 0:0+0 "});
  CHECK(faults("{\"a\": \"x\xFCy\"}") == Lines{"E0106 1:9+1 /a"});
  CHECK(faults("{\"a\": \"\xC3\", \"b\": \"\xC3\"}") == Lines{"E0106 1:8+1 /a"});  // once is enough
  CHECK(faults("{\xFF}") == Lines{"E0110 1:2+1 "});
}

TEST_CASE("what stands where something else should") {
  CHECK(faults("?") == Lines{"E0110 1:1+1 "});
  CHECK(faults("{\"a\": }") == Lines{"E0110 1:7+1 /a"});
  CHECK(faults("{\"a\" 1}") == Lines{"E0110 1:6+1 /a"});
  CHECK(faults("{\"a\": 1]") == Lines{"E0110 1:8+1 "});
  CHECK(faults("[1}") == Lines{"E0110 1:3+1 "});
  CHECK(faults("{1: 2}") == Lines{"E0110 1:2+1 "});
  CHECK(faults("{\"a\":1,,\"b\":2}") == Lines{"E0110 1:8+1 "});
  CHECK(faults("[,]") == Lines{"E0110 1:2+1 /0"});
  CHECK(faults("{\"a\": 1 ? 2}") == Lines{"E0110 1:9+1 "});
  CHECK(faults("{\"a\": \xC3\xBC}") == Lines{"E0110 1:7+1 /a"});
}

TEST_CASE("reading goes on after the usual slips, and all are reported") {
  Diagnostics diagnostics;
  Locator locator("f",
                  "{ name: 'my_nic',\n"
                  "  \"a\": True # remark\n"
                  "  \"b\" = 2,\n"
                  "  \"c\": [1 2, NaN,],\n"
                  "  'd': None,  // again\n"
                  "  \"e\": 0x10,\n"
                  "}\n"
                  "}\n");
  REQUIRE(locator.parse(diagnostics));
  CHECK(brief(diagnostics) == Lines{"E0110 1:3+4 ", "E0110 1:9+8 /name", "E0110 2:8+4 /a", "E0118 2:13+8 ",
                                    "E0111 2:12+1 ", "E0110 3:7+1 /b", "E0111 4:10+1 /c", "E0110 4:14+3 /c/2",
                                    "E0112 4:17+1 /c", "E0110 5:3+3 ", "E0110 5:8+4 /d", "E0117 6:8+4 /e",
                                    "E0112 6:12+1 ", "E0114 8:1+1 "});
  CHECK(locator.root()["name"] == "my_nic");
  CHECK(locator.root()["b"] == 2);
  CHECK(locator.root()["c"][1] == 2);
  CHECK_FALSE(locator.bad("/name"));
  CHECK_FALSE(locator.bad("/b"));
  CHECK(locator.bad("/a"));
  CHECK(locator.bad("/c/2"));
  CHECK(locator.bad("/d"));
  CHECK(locator.bad("/e"));
  CHECK_FALSE(locator.bad("/f"));
}

TEST_CASE("a block comment is skipped, an open one ends the file") {
  CHECK(faults("{ /* x\n y */ \"a\": 1 }") == Lines{"E0118 1:3+4 "});
  CHECK(faults("{ /* x") == Lines{"E0118 1:3+4 ", "E0113 1:7+1 "});
  CHECK(faults("// only\n") == Lines{"E0118 1:1+7 ", "E0104 0:0+0 "});
}

TEST_CASE("a truncated file is reported behind its last character, with what is open") {
  const struct {
    std::string text;
    Lines expected;
    std::string opened;
  } cases[] = {{"{", {"E0113 1:2+1 "}, "1:1"},
               {"[", {"E0113 1:2+1 "}, "1:1"},
               {"{ \"a\"", {"E0113 1:6+1 /a"}, ""},
               {"{ \"a\": 1", {"E0113 1:9+1 "}, "1:1"},
               {"{ \"a\": 1,\n\n", {"E0113 1:10+1 "}, "1:1"},
               {"{\n \"a\": [1,\n2", {"E0113 3:2+1 /a"}, "2:7"},
               {"{\n \"a\": [1,", {"E0113 2:10+1 /a"}, "2:7"}};
  for (const auto& c : cases) {
    CAPTURE(c.text);
    Diagnostics diagnostics;
    Locator locator("f", c.text);
    CHECK_FALSE(locator.parse(diagnostics));
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(brief(diagnostics) == c.expected);
    if (c.opened.empty()) continue;
    REQUIRE(diagnostics.all()[0].notes.size() == 1);
    const Place& open = diagnostics.all()[0].notes[0].place;
    CHECK(fmt::format("{}:{}", open.line, open.column) == c.opened);
  }
  CHECK(faults("{ \"a\": ") == Lines{"E0113 1:7+1 /a"});
  CHECK(faults("{ \"a\": \"xy") == Lines{"E0113 1:8+3 /a"});
  CHECK(faults("\"") == Lines{"E0113 1:1+1 "});
  CHECK(faults("\"\\") == Lines{"E0116 1:2+1 ", "E0113 1:1+2 "});
  CHECK(faults("\"\\u12") == Lines{"E0116 1:2+2 ", "E0113 1:1+5 "});
}

TEST_CASE("strings end on their line") {
  CHECK(faults("{\"a\": \"x,\n\"b\": 1}") == Lines{"E0115 1:7+3 /a"});
  CHECK(faults("{\"a\": \"x\\\n\"}") == Lines{"E0116 1:9+1 /a", "E0115 1:7+3 /a"});
}

TEST_CASE("escapes and control characters") {
  CHECK(faults(R"(["C:\lab"])") == Lines{"E0116 1:5+2 /0"});
  CHECK(faults(R"(["\u12G4"])") == Lines{"E0116 1:3+2 /0"});
  CHECK(faults(R"(["\u+123"])") == Lines{"E0116 1:3+2 /0"});
  CHECK(faults(R"(["\ud800"])") == Lines{"E0116 1:3+6 /0"});
  CHECK(faults(R"(["\ud800\u0041"])") == Lines{"E0116 1:3+6 /0"});
  CHECK(faults(R"(["\udc00"])") == Lines{"E0116 1:3+6 /0"});
  CHECK(faults("[\"a\tb\"]") == Lines{"E0116 1:4+1 /0"});
  CHECK(faults(std::string("[\"a\0b\"]", 7)) == Lines{"E0116 1:4+1 /0"});
  CHECK(faults("[\"\\\xC3\xBC\"]") == Lines{"E0116 1:3+2 /0"});
}

TEST_CASE("numbers that JSON does not know") {
  for (const std::string number : {"01", "-01", "+1", ".5", "1.", "-", "1e", "1e+", "1_000", "0x10", "250MHz", "1.2.3",
                                   "--1", "1e400", "-1e999", "1-2"}) {
    CAPTURE(number);
    CHECK(faults("[ " + number + ", 2 ]") == Lines{fmt::format("E0117 1:3+{} /0", number.size())});
  }
}

TEST_CASE("duplicate keys show both places, wherever they are and however they are written") {
  Diagnostics diagnostics;
  Locator locator("f",
                  "{ \"a\": 1,\n"
                  "  \"b\": { \"x\": 1, \"x\": 2 },\n"
                  "  \"\\u0061\": { \"b\": 3, \"b\": 4 },\n"
                  "  \"b\": { \"x\": 5 },\n"
                  "  \"c\": [ { \"x\": 1 }, { \"x\": 1 } ] }");
  REQUIRE(locator.parse(diagnostics));
  CHECK(brief(diagnostics) == Lines{"E0120 2:18+3 /b/x", "E0120 3:3+8 /a", "E0120 3:23+3 /a/b", "E0120 4:3+3 /b"});
  REQUIRE(diagnostics.all()[1].notes.size() == 1);
  CHECK(position(diagnostics.all()[1].notes[0].place) == "1:3+3");
  CHECK(position(diagnostics.all()[0].notes.at(0).place) == "2:10+3");
  CHECK(locator.root()["a"] == 1);  // the first counts
  CHECK(locator.root()["b"]["x"] == 1);
  CHECK(locator.root().size() == 3);
  CHECK(position(locator.value("/b/x")) == "2:15+1");
}

TEST_CASE("nesting is limited, and no depth of text overflows the stack") {
  const auto nested = [](int depth) { return std::string(static_cast<std::size_t>(depth), '['); };
  const std::string deepest = nested(Locator::kMaxDepth) + std::string(Locator::kMaxDepth, ']');
  CHECK(faults(deepest).empty());
  CHECK(faults(nested(Locator::kMaxDepth + 1)) == Lines{fmt::format("E0119 1:{}+1 {}", Locator::kMaxDepth + 1, [] {
          std::string pointer;
          for (int i = 0; i < Locator::kMaxDepth; ++i) pointer += "/0";
          return pointer;
        }())});
  CHECK(faults(nested(500000)).size() == 1);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(faults(objects).size() == 1);
}

TEST_CASE("a long line is shown around the place") {
  const std::string text = "[" + std::string(1000, ' ') + "?" + std::string(1000, ' ') + "]";
  Diagnostics diagnostics;
  Locator locator("f", text);
  locator.parse(diagnostics);
  REQUIRE(diagnostics.all().size() == 1);
  const Place& p = diagnostics.all()[0].place;
  CHECK(p.column == 1002);
  CHECK(p.source.size() < 150);
  CHECK(p.source.substr(static_cast<std::size_t>(p.source_column) - 1, 1) == "?");
}

TEST_CASE("a large object is read in reasonable time") {
  std::string text = "{";
  for (int i = 0; i < 40000; ++i) text += fmt::format("\"k{}\":{},\n", i, i);
  text += "\"k7\":0}";
  Diagnostics diagnostics;
  Locator locator("f", text);
  REQUIRE(locator.parse(diagnostics));
  CHECK(brief(diagnostics) == Lines{"E0120 40001:1+4 /k7"});
  CHECK(locator.root().size() == 40000);
}
