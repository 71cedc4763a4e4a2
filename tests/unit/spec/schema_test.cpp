#include "generator/spec/schema.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "generator/spec/text.h"
#include "tests/unit/spec/brief.h"

using namespace rocegen::spec;
using namespace rocegen::spec::test;
using Json = nlohmann::ordered_json;

namespace {

const std::string kSource = ROCEGEN_SOURCE_DIR;

// An evaluator of the part of JSON Schema 2020-12 that our schema uses, written from the standard. It refuses keywords
// that it does not know, so that the schema cannot say what this test does not see.
bool accepts(const Json& schema, const Json& value) {
  bool ok = true;
  for (const auto& [keyword, rule] : schema.items()) {
    if (keyword == "$schema" || keyword == "title" || keyword == "description" || keyword == "default" ||
        keyword == "examples") {
      continue;
    }
    if (keyword == "type") {
      const bool whole = value.is_number() && value.get<double>() == std::floor(value.get<double>());
      ok = ok && ((rule == "object" && value.is_object()) || (rule == "array" && value.is_array()) ||
                  (rule == "string" && value.is_string()) || (rule == "number" && value.is_number()) ||
                  (rule == "integer" && whole) || (rule == "boolean" && value.is_boolean()));
    } else if (keyword == "enum") {
      ok = ok && std::find(rule.begin(), rule.end(), value) != rule.end();
    } else if (keyword == "minimum") {
      ok = ok && (!value.is_number() || value.get<double>() >= rule.get<double>());
    } else if (keyword == "maximum") {
      ok = ok && (!value.is_number() || value.get<double>() <= rule.get<double>());
    } else if (keyword == "maxLength") {
      ok = ok && (!value.is_string() || count_characters(value.get<std::string>()) <= rule.get<std::size_t>());
    } else if (keyword == "pattern") {
      ok = ok && (!value.is_string() || std::regex_search(value.get<std::string>(),
                                                          std::regex(rule.get<std::string>(), std::regex::ECMAScript)));
    } else if (keyword == "anyOf") {
      ok = ok && std::any_of(rule.begin(), rule.end(), [&](const Json& one) { return accepts(one, value); });
    } else if (keyword == "minItems") {
      ok = ok && (!value.is_array() || value.size() >= rule.get<std::size_t>());
    } else if (keyword == "items") {
      if (value.is_array())
        for (const Json& item : value) ok = ok && accepts(rule, item);
    } else if (keyword == "uniqueItems") {
      REQUIRE(rule == true);
      if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i) ok = ok && std::count(value.begin(), value.end(), value[i]) == 1;
    } else if (keyword == "maxItems") {
      ok = ok && (!value.is_array() || value.size() <= rule.get<std::size_t>());
    } else if (keyword == "properties") {
      for (const auto& [name, sub] : rule.items()) {
        if (value.is_object() && value.contains(name)) ok = ok && accepts(sub, value[name]);
      }
    } else if (keyword == "required") {
      for (const auto& name : rule) ok = ok && (!value.is_object() || value.contains(name.get<std::string>()));
    } else if (keyword == "additionalProperties") {
      // false, or a schema for members that `properties` does not name
      const Json members = value.is_object() ? value : Json::object();
      for (const auto& [name, member] : members.items()) {
        const bool named = schema.contains("properties") && schema["properties"].contains(name);
        ok = ok && (named || (rule.is_object() && accepts(rule, member)));
      }
    } else {
      FAIL("unknown keyword " << keyword);
    }
  }
  return ok;
}

// True if the reader finds every key good by itself; the rules that the schema cannot say do not count.
bool reader_accepts(const Json& value) {
  Diagnostics diagnostics;
  read_spec_text("f", value.dump(), diagnostics);
  const std::set<std::string> beyond_schema = {"E0207", "E0208", "E0211", "E0212", "E0213"};
  return std::all_of(diagnostics.all().begin(), diagnostics.all().end(), [&](const Diagnostic& d) {
    return d.severity == Severity::warning || beyond_schema.count(d.code) > 0;
  });
}

Json minimal() { return Json::parse(R"({"name": "n"})"); }

}  // namespace

TEST_CASE("the table is sound") {
  std::set<std::string> seen;
  for (const Field& field : fields()) {
    CAPTURE(field.pointer);
    CHECK(seen.insert(field.pointer).second);
    CHECK(find_field(field.pointer) == &field);
    if (!field.pointer.empty()) {
      const Field* group = find_field(field.parent());
      REQUIRE(group != nullptr);
      CHECK(group->kind == Kind::object);
      CHECK(group < &field);
    }
    CHECK(field.doc.size() > 10);
    CHECK(field.doc.back() == '.');
    CHECK((field.derive == nullptr) == field.derive_words.empty());
    const bool holds = !std::holds_alternative<std::monostate>(field.access);
    CHECK(holds == (field.kind != Kind::object && field.kind != Kind::services));
    if (field.kind == Kind::integer || field.kind == Kind::number) CHECK(field.min < field.max);
    if (field.kind == Kind::text) CHECK(field.max_length > 0);
    // Its example is accepted.
    if (field.kind != Kind::object) {
      Json spec = minimal();
      spec[Json::json_pointer(field.pointer)] = Json::parse(field.example);
      CHECK(reader_accepts(spec));
      CHECK(accepts(json_schema(), spec));
    }
  }
  CHECK(find_field("/nothing") == nullptr);
  for (const Rule& rule : rules()) {
    for (const std::string& pointer : rule.fields) CHECK(find_field(pointer) != nullptr);
  }
}

TEST_CASE("every member has its own place in the completed spec") {
  // Writing a value through one field changes exactly that key of the JSON.
  StackSpec base;
  base.name = "n";
  base = complete(base);
  for (const Field& field : fields()) {
    CAPTURE(field.pointer);
    StackSpec changed = base;
    if (const auto* text = std::get_if<Member<std::string>>(&field.access)) {
      text->write(changed) = "changed";
    } else if (const auto* integer = std::get_if<Member<int>>(&field.access)) {
      integer->write(changed) = -77;
    } else if (const auto* number = std::get_if<Member<double>>(&field.access)) {
      number->write(changed) = -7.5;
    } else if (const auto* boolean = std::get_if<Member<bool>>(&field.access)) {
      boolean->write(changed) = !boolean->read(base);
    } else if (const auto* names = std::get_if<Member<std::vector<std::string>>>(&field.access)) {
      names->write(changed) = {"changed"};
    } else {
      continue;
    }
    CHECK_FALSE(changed == base);
    Json before = to_json(base);
    const Json after = to_json(changed);
    CHECK(before != after);
    before[Json::json_pointer(field.pointer)] = after[Json::json_pointer(field.pointer)];
    CHECK(before == after);
  }
}

TEST_CASE("the schema accepts all example specs and their completed form") {
  const Json schema = json_schema();
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource + "/specs")) {
    if (entry.path().extension() != ".json") continue;
    CAPTURE(entry.path().string());
    ++count;
    CHECK(accepts(schema, Json::parse(slurp(entry.path()))));
    Diagnostics diagnostics;
    const auto spec = read_spec(entry.path().string(), diagnostics);
    REQUIRE_MESSAGE(spec, render(diagnostics));
    CHECK(accepts(schema, to_json(*spec)));
  }
  CHECK(count >= 4);
}

TEST_CASE("schema and reader agree on every key, at and beside its bounds") {
  const Json schema = json_schema();
  int accepted = 0;
  int refused = 0;
  const auto compare = [&](const Json& spec) {
    const bool by_schema = accepts(schema, spec);
    CHECK_MESSAGE(by_schema == reader_accepts(spec), spec.dump());
    ++(by_schema ? accepted : refused);
  };
  compare(Json::object());
  compare(Json::array());
  compare(Json());
  for (const Field& field : fields()) {
    if (field.pointer.empty()) continue;
    std::vector<Json> values = {nullptr,
                                true,
                                "",
                                "x",
                                "project",
                                Json::array(),
                                Json::array({1}),
                                Json::array({"a"}),
                                Json::array({"a", "b"}),
                                Json::array({"a", "a"}),
                                Json::array({"a", ""}),
                                Json::array({"1", "b", "c", "d", "e", "f", "g", "h"}),
                                Json::array({"a", "b", "c", "d", "e", "f", "g", "h"}),
                                Json::array({"a", "b", "c", "d", "e", "f", "g", "h", "i"}),
                                Json::array({"a_name_of_17_chars"}),
                                Json::object(),
                                Json::object({{"x", 1}}),
                                0,
                                1,
                                -1,
                                1.5,
                                64.0,
                                1e300,
                                -1e300,
                                250,
                                "xcvu9p-flga2104-2-i",
                                std::string(48, 'a'),
                                std::string(49, 'a'),
                                std::string(65, 'a'),
                                std::string(5000, 'a')};
    for (const double edge : {field.min, field.max}) {
      for (const int step : {-1, 0, 1}) values.emplace_back(static_cast<std::int64_t>(edge) + step);
      values.emplace_back(edge + 0.25);
      values.emplace_back(edge - 0.25);
    }
    for (int power = 1; power <= 1 << 21; power *= 2) values.emplace_back(power);
    for (const Json& value : values) {
      Json spec = minimal();
      spec[Json::json_pointer(field.pointer)] = value;
      compare(spec);
    }
    Json unknown = minimal();
    unknown[Json::json_pointer(std::string(field.parent()) + "/unknown_key")] = 1;
    if (find_field(field.parent())->kind == Kind::object) compare(unknown);
  }
  CHECK(accepted > 200);
  CHECK(refused > 500);
}

TEST_CASE("what a text must look like is the same in schema and reader") {
  std::mt19937 random(7);
  for (const Field& field : fields()) {
    CHECK(field.pattern.empty() == (field.matches == nullptr));
    if (field.matches == nullptr) continue;
    CAPTURE(field.pointer);
    const std::regex regex(field.pattern, std::regex::ECMAScript);
    int good = 0;
    const auto compare = [&](const std::string& text) {
      const bool matches = field.matches(text);
      CHECK_MESSAGE(matches == std::regex_match(text, regex), printable(text));
      good += matches ? 1 : 0;
    };
    const std::string pieces = "xcaqz09AZ--__ .\n\xC3/";
    const Json given = Json::parse(field.example);
    const std::string example = given.is_array() ? given.front() : given;
    for (int round = 0; round < 4000; ++round) {
      std::string text = round % 2 == 0 ? example : std::string("xc7-");
      for (auto edits = random() % 4; edits > 0; --edits) {
        const std::size_t at = random() % (text.size() + 1);
        if (random() % 2 == 0) {
          text.insert(at, 1, pieces[random() % pieces.size()]);
        } else {
          text.erase(at, 1 + random() % 3);
        }
      }
      compare(text);
    }
    for (std::size_t length = 0; length < 60; ++length) compare(std::string(length, 'a'));
    CHECK(good > 50);
  }
}

TEST_CASE("plain defaults in the schema are those of the struct") {
  const Json schema = json_schema();
  const Json defaults = to_json(StackSpec{});
  int count = 0;
  for (const Field& field : fields()) {
    if (field.pointer.empty() || field.kind == Kind::object) continue;
    CAPTURE(field.pointer);
    std::string path;
    std::istringstream parts(field.pointer.substr(1));
    for (std::string part; std::getline(parts, part, '/');) path += "/properties/" + part;
    const Json& entry = schema.at(Json::json_pointer(path));
    CHECK(entry.contains("default") == (!field.required && field.derive == nullptr));
    if (entry.contains("default")) {
      ++count;
      CHECK(entry["default"] == defaults.at(Json::json_pointer(field.pointer)));
    }
  }
  CHECK(count > 10);
}

TEST_CASE("docs/spec-reference.md is what the program writes") {
  const std::string text = reference_markdown();
  CHECK_MESSAGE(text == slurp(kSource + "/docs/spec-reference.md"),
                "run `rocegen schema --markdown -o docs/spec-reference.md`");
  for (const Field& field : fields()) {
    if (!field.pointer.empty()) CHECK(text.find(fmt::format("| `{}` |", field.name())) != std::string::npos);
  }
}

TEST_CASE("what is written does not change from run to run") {
  CHECK(json_schema().dump() == json_schema().dump());
  CHECK(reference_markdown() == reference_markdown());
}

TEST_CASE("all modules and packages of the templates are reserved names") {
  const std::regex declaration(
      "^(?:module|package|interface)\\s+(?:automatic\\s+|static\\s+)?([A-Za-z_][A-Za-z0-9_]*)");
  const auto reserved = library_names();
  int count = 0;
  Lines missing;  // in generator/spec/names.cpp
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource + "/templates")) {
    if (entry.path().extension() != ".sv") continue;
    std::istringstream text(slurp(entry.path()));
    for (std::string line; std::getline(text, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, declaration)) continue;
      ++count;
      const std::string name = match[1];
      if (!std::binary_search(reserved.begin(), reserved.end(), name)) missing.push_back(name);
    }
  }
  CHECK(count > 0);
  CHECK(missing == Lines{});
}

TEST_CASE("the lists of names are sorted and complete") {
  CHECK(keywords().size() == 248);  // IEEE 1800-2017 annex B
  for (const auto& list : {keywords(), library_names()}) {
    CHECK(std::is_sorted(list.begin(), list.end()));
    CHECK(std::adjacent_find(list.begin(), list.end()) == list.end());
  }
}
