// docs/conformance.json says of every rule of RoCE v2 RC and of every known fault of other stacks which module keeps it
// and what shows that. Here each of its words is held against the project: modules, scenarios, benches, unit tests,
// proofs, flow tests must exist under these names, and docs/conformance.md must be what is written from it. With
// ROCEGEN_UPDATE in the environment the last test writes docs/conformance.md.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.h"

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

const fs::path kRoot = ROCEGEN_SOURCE_DIR;
const fs::path kShared = kRoot / "../shared";

/// The rules of a section of the protocol sheet: numbered ones stand in its tables, lettered ones beside them.
struct Section {
  int number;
  int rows;
  std::string_view letters;
};
constexpr Section kSections[] = {{1, 16, ""}, {2, 38, "a"}, {3, 10, ""}, {4, 5, "abcdefg"},
                                 {5, 16, ""}, {6, 17, "a"}, {7, 0, "ab"}};

/// The list of known faults of other stacks.
constexpr std::string_view kCases =
    "L1 L3 L4 L6 L7 L9 L10 L12 L13 L15 L16 L18 L19 L21 L22 L24 L25 L27 "
    "L28 L30 L31 L33 L34 L36 L37 L39 L40 L42 "
    "L43 L45 L46 L48 L49 L51 L52 L54 L55 L57 L58 L60 L61 L63 L64 "
    "L66 L67 L69 L70 L72 L73 L75 L76 L78 L79 "
    "P01 P02 P04 P05 P07 P08 P10 P11 P13 P14 P16 P17 P19 P20 P22 P23 P25 P26 P28 P29 P31 P32 P34 P35 P37 P38 P40 P41 "
    "P43 P44 P46 P47 P49 P50 P52 P53 P55 P56 "
    "B01 B02 B03 B04 B05 B06 B07 B08 B09 B10 B11 "
    "E01 E02 E04 E05 E07 E08 E10 E11 "
    "R01 R02 R03 R04 R05 R06 R07 R08 R09 R10 R11 R12 R13 R14 R15 R16 R17 R18 R19";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// All rule numbers, in order.
std::set<std::string> rule_ids() {
  std::set<std::string> out;
  for (const Section& s : kSections) {
    for (int i = 1; i <= s.rows; ++i) out.insert(fmt::format("{}.{}", s.number, i));
    for (const char c : s.letters) out.insert(fmt::format("{}.{}", s.number, c));
  }
  return out;
}

std::set<std::string> case_ids() {
  std::istringstream in{std::string(kCases)};
  std::set<std::string> out;
  for (std::string id; in >> id;) CHECK_MESSAGE(out.insert(id).second, id);
  return out;
}

/// Names of the TEST_CASEs of a source file.
std::set<std::string> test_cases(const fs::path& path) {
  const std::string text = read(path);
  std::set<std::string> out;
  constexpr std::string_view kOpen = "TEST_CASE(\"";
  for (std::size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at)) {
    at += kOpen.size();
    std::string name;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
      name += text[at];
    }
    out.insert(name);
  }
  return out;
}

/// The words (letters, digits, '_', '.') of a CMake file, without comments.
void add_words(const fs::path& path, std::set<std::string>& out) {
  std::istringstream in(read(path));
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find('#'));
    std::string word;
    for (const char c : line + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') {
        word += c;
      } else if (!word.empty()) {
        out.insert(word);
        word.clear();
      }
    }
  }
}

/// What the table may name.
struct Project {
  std::set<std::string> modules;                         ///< of templates/
  std::map<std::string, std::set<std::string>> covers;   ///< scenario -> cases
  std::map<std::string, std::set<std::string>> benches;  ///< program of tests/rtl -> its test cases
  std::set<std::string> units;                           ///< test cases of tests/unit
  std::set<std::string> proofs;                          ///< of tests/formal
  std::set<std::string> flows;                           ///< tests of whole variants
};

const Project& project() {
  static const Project p = [] {
    Project out;
    for (const auto& e : fs::recursive_directory_iterator(kRoot / "templates"))
      if (e.path().extension() == ".sv") out.modules.insert(e.path().stem().string());
    for (const auto& e : fs::directory_iterator(kRoot / "sim/scenarios")) {
      rocegen::sim::Scenario s;
      std::vector<std::string> errors;
      REQUIRE_MESSAGE(rocegen::sim::load_scenario(e.path().string(), s, errors), errors.front());
      out.covers[s.name] = {s.covers.begin(), s.covers.end()};
    }
    // A bench counts when a list of benches names it, a proof likewise (suite.sh is what the proofs share).
    std::set<std::string> bench_words;
    for (const auto& e : fs::directory_iterator(kRoot / "tests/rtl"))
      if (e.path().extension() == ".cmake") add_words(e.path(), bench_words);
    for (const auto& e : fs::directory_iterator(kRoot / "tests/rtl")) {
      const std::string name = e.path().stem().string();
      if (e.path().extension() == ".cpp" && (bench_words.contains(name) || bench_words.contains(name + ".cpp")))
        out.benches[name] = test_cases(e.path());
    }
    for (const auto& e : fs::recursive_directory_iterator(kRoot / "tests/unit"))
      if (e.path().string().ends_with("_test.cpp")) out.units.merge(test_cases(e.path()));
    for (const auto& e : fs::directory_iterator(kRoot / "tests/formal"))
      if (e.path().extension() == ".sh" && e.path().stem() != "suite" && bench_words.contains(e.path().stem().string()))
        out.proofs.insert(e.path().stem().string());
    // Their names in flow.cmake are "<kind>.${name}", or <kind> of a test of several variants.
    std::set<std::string> flow_words;
    add_words(kRoot / "tests/flow.cmake", flow_words);
    for (const std::string& word : flow_words)
      if (word.ends_with('.')) out.flows.insert(word.substr(0, word.size() - 1));
    const std::string flow = read(kRoot / "tests/flow.cmake");
    constexpr std::string_view kAdd = "add_test(NAME ";
    for (std::size_t at = flow.find(kAdd); at != std::string::npos; at = flow.find(kAdd, at + 1))
      out.flows.insert(flow.substr(at + kAdd.size(), flow.find(' ', at + kAdd.size()) - at - kAdd.size()));
    return out;
  }();
  return p;
}

/// Evidence in its parts: "bench:net_rx/each reason" is {bench, net_rx, each reason}.
struct Evidence {
  std::string kind;
  std::string name;
  std::string part;
};

Evidence split(const std::string& text) {
  Evidence out;
  const std::size_t colon = text.find(':');
  out.kind = text.substr(0, colon);
  if (colon == std::string::npos) return out;
  out.name = text.substr(colon + 1);
  const std::size_t slash = out.kind == "bench" ? out.name.find('/') : std::string::npos;
  if (slash != std::string::npos) {
    out.part = out.name.substr(slash + 1);
    out.name.resize(slash);
  }
  return out;
}

bool exists(const Project& p, const Evidence& e) {
  if (e.kind == "scenario") return p.covers.contains(e.name);
  if (e.kind == "bench") {
    const auto bench = p.benches.find(e.name);
    return bench != p.benches.end() && (e.part.empty() || bench->second.contains(e.part));
  }
  if (e.kind == "unit") return p.units.contains(e.name);
  if (e.kind == "proof") return p.proofs.contains(e.name);
  return e.kind == "flow" && p.flows.contains(e.name);
}

/// Scenarios that name a case in `covers`.
std::vector<std::string> covering(const Project& p, const std::string& id) {
  std::vector<std::string> out;
  for (const auto& [name, covers] : p.covers)
    if (covers.contains(id)) out.push_back(name);
  return out;
}

/// Everything that is wrong with a table, a line a fault.
std::vector<std::string> faults(const Project& p, const Json& table) {
  std::vector<std::string> out;
  const auto check_row = [&](const Json& row, bool is_case) {
    const std::string id = row["id"];
    const auto fault = [&](const std::string& text) { out.push_back(id + ": " + text); };
    for (const auto& [key, value] : row.items())
      if (key != "id" && key != "rule" && key != "modules" && key != "shown" && key != "note")
        fault("unknown key " + key);
    const std::string rule = row["rule"];
    if (rule.empty() || rule.size() > 250 || rule.ends_with('.')) fault("the rule is a sentence without its full stop");
    const bool note = row.contains("note");
    if (note && !row["note"].get<std::string>().ends_with('.')) fault("the note ends with a full stop");
    if (row["modules"].empty() && !note) fault("no module, and no note that says why");
    for (const auto& m : row["modules"]) {
      const std::string name = m;
      const bool file = name.find('/') != std::string::npos;
      if (file ? !fs::is_regular_file(kRoot / name) : !p.modules.contains(name)) fault("no module " + name);
    }
    std::set<std::string> seen;
    for (const auto& s : row["shown"]) {
      const std::string text = s;
      if (!seen.insert(text).second) fault("twice " + text);
      if (!exists(p, split(text))) fault("nothing is called " + text);
      if (is_case && split(text).kind == "scenario") fault("scenarios name their cases in `covers`, not here: " + text);
    }
    if (row["shown"].empty() && !(is_case && !covering(p, id).empty()) && !note)
      fault("nothing shows it, and no note says why");
  };
  const auto check_ids = [&](const Json& groups, std::set<std::string> ids, bool is_case) {
    for (const auto& group : groups) {
      for (const auto& row : group["rows"]) {
        const std::string id = row["id"];
        if (ids.erase(id) == 0) out.push_back(id + ": not in the list, or twice");
        if (!is_case && !id.starts_with(fmt::format("{}.", group["section"].get<int>())))
          out.push_back(id + ": wrong section");
        check_row(row, is_case);
      }
    }
    for (const auto& id : ids) out.push_back(id + ": missing");
  };
  check_ids(table["rules"], rule_ids(), false);
  const std::set<std::string> cases = case_ids();
  check_ids(table["cases"], cases, true);
  for (const auto& [name, covers] : p.covers)
    for (const auto& id : covers)
      if (!cases.contains(id)) out.push_back(fmt::format("scenario {} covers {}, which no list has", name, id));
  return out;
}

/// docs/conformance.md.
std::string markdown(const Project& p, const Json& table) {
  std::string out =
      "# Conformance\n\n"
      "<!-- written from docs/conformance.json; do not edit: ROCEGEN_UPDATE=1 build/tests/unit_tests "
      "-tc='conformance*' -->\n\n"
      "Every rule of RoCE v2 reliable connections that the project knows, and every known fault of other stacks: which "
      "modules keep the\n"
      "rule, and what shows that they do. A test holds each name below against the project, so a module, scenario, "
      "bench, unit test,\n"
      "proof or flow test that goes or gets another name fails it; so does a rule or case without a row. To change a "
      "row change\n"
      "`conformance.json`, and write this file anew as above. The scenarios of a case are those that name it in "
      "`covers`.\n\n"
      "| shown by | what |\n|---|---|\n"
      "| `name` | scenario of `sim/scenarios`, run on the generated hardware and on the reference endpoint (`rocegen "
      "sim SPEC run name`) |\n"
      "| bench | Verilated bench of modules, `tests/rtl`: program, test case |\n"
      "| unit | test case of the generator or the models, `tests/unit` |\n"
      "| proof | unbounded proof, `tests/formal` |\n"
      "| flow | test of whole variants, `tests/flow.cmake`: `gen`, `lint`, `comb`, `sim` (all scenarios), `replay` "
      "(Linux's frames), `soak`, "
      "`pcap`, `synth` |\n\n"
      "Beside these every frame of every scenario, capture and soak is checked against its headers' rules "
      "(docs/scenarios.md, \"The "
      "bench\").\n"
      "CNP and congestion control (section 8 of the sheet) and the preprocessing operators (section 9) belong to "
      "issues of their own and\n"
      "are not listed.\n";
  const auto rows = [&](const Json& group, bool is_case) {
    out += "\n| id | rule | modules | shown by |\n|---|---|---|---|\n";
    for (const auto& row : group["rows"]) {
      const auto list = [&](const std::string& item, std::string& text) { text += (text.empty() ? "" : ", ") + item; };
      const auto code = [](const std::string& text) { return "`" + text + "`"; };
      std::string modules;
      for (const auto& m : row["modules"]) list(code(m.get<std::string>()), modules);
      std::string shown;
      std::string behind;
      if (is_case)
        for (const auto& name : covering(p, row["id"])) list(code(name), shown);
      for (const auto& s : row["shown"]) {
        const Evidence e = split(s);
        if (e.kind == "scenario")
          list(code(e.name), shown);
        else if (e.kind == "unit")
          behind += fmt::format("{}unit: {}", behind.empty() ? "" : "; ", e.name);
        else if (e.part.empty())
          behind += fmt::format("{}{} `{}`", behind.empty() ? "" : "; ", e.kind, e.name);
        else
          behind += fmt::format("{}{} `{}`: {}", behind.empty() ? "" : "; ", e.kind, e.name, e.part);
      }
      if (!shown.empty() && !behind.empty()) shown += "; ";
      std::string rule = row["rule"];
      if (row.contains("note")) rule += ". *" + row["note"].get<std::string>() + "*";
      out += fmt::format("| {} | {} | {} | {} |\n", row["id"].get<std::string>(), rule, modules, shown + behind);
    }
  };
  out += "\n## Rules\n";
  for (const auto& group : table["rules"]) {
    out += fmt::format("\n### {}. {}\n", group["section"].get<int>(), group["title"].get<std::string>());
    rows(group, false);
  }
  out += "\n## Cases\n";
  for (const auto& group : table["cases"]) {
    out += fmt::format("\n### {}\n", group["title"].get<std::string>());
    rows(group, true);
  }
  return out;
}

Json table() { return Json::parse(read(kRoot / "docs/conformance.json")); }

/// A row of a table, to be spoiled.
Json& row(Json& t, std::string_view id) {
  for (const char* part : {"rules", "cases"})
    for (auto& group : t[part])
      for (auto& r : group["rows"])
        if (r["id"] == id) return r;
  FAIL(std::string(id));
  return t;
}

}  // namespace

TEST_CASE("conformance: every rule and every case has its modules and its evidence") {
  for (const std::string& fault : faults(project(), table())) FAIL_CHECK(fault);
}

TEST_CASE("conformance: each fault of the table is found") {
  const Json good = table();
  const auto finds = [&](const Json& t, const std::string& text) {
    for (const std::string& fault : faults(project(), t))
      if (fault.find(text) != std::string::npos) return true;
    return false;
  };
  const auto spoil = [&](std::string_view id, auto&& edit) {
    Json t = good;
    edit(row(t, id));
    return t;
  };
  CHECK(finds(spoil("3.1", [](Json& r) { r["id"] = "3.11"; }), "3.11: not in the list"));
  CHECK(finds(spoil("3.1", [](Json& r) { r["id"] = "3.11"; }), "3.1: missing"));
  CHECK(finds(spoil("3.1", [](Json& r) { r["id"] = "3.2"; }), "3.2: not in the list, or twice"));
  CHECK(finds(spoil("3.1", [](Json& r) { r["id"] = "4.a"; }), "4.a: wrong section"));
  CHECK(finds(spoil("L15", [](Json& r) { r["id"] = "L2"; }), "L15: missing"));
  CHECK(
      finds(spoil("3.1", [](Json& r) { r["modules"].push_back("no_such_module"); }), "3.1: no module no_such_module"));
  CHECK(finds(spoil("3.1", [](Json& r) { r["modules"].push_back("sim/gone.cpp"); }), "3.1: no module sim/gone.cpp"));
  CHECK(finds(spoil("3.1", [](Json& r) { r["modules"] = Json::array(); }), "3.1: no module, and no note"));
  CHECK(finds(spoil("3.1", [](Json& r) { r["shown"] = Json::array(); }), "3.1: nothing shows it"));
  CHECK(finds(spoil("3.1", [](Json& r) { r["rule"] = ""; }), "3.1: the rule is"));
  CHECK(finds(spoil("3.1", [](Json& r) { r["proof"] = 1; }), "3.1: unknown key proof"));
  for (const char* bad : {"scenario:no_such", "bench:no_such", "bench:net_rx/no such test", "bench:bench",
                          "unit:no such test", "proof:prove", "proof:suite", "flow:no_such", "net_rx", "word:net_rx"})
    CHECK_MESSAGE(
        finds(spoil("3.1", [&](Json& r) { r["shown"].push_back(bad); }), fmt::format("3.1: nothing is called {}", bad)),
        bad);
  CHECK(finds(spoil("L15", [](Json& r) { r["shown"].push_back("scenario:msn_counts"); }),
              "L15: scenarios name their cases"));
  Project other = project();
  other.covers["msn_counts"].insert("L2");
  CHECK(faults(other, good).size() == faults(project(), good).size() + 1);
  other.covers.clear();
  CHECK(faults(other, good).size() > 200);
}

TEST_CASE("conformance: the lists are those of the sheets, where they are at hand") {
  if (!fs::exists(kShared / "cases.md") || !fs::exists(kShared / "protocol.md")) return;
  std::istringstream cases(read(kShared / "cases.md"));
  std::set<std::string> found;
  for (std::string line; std::getline(cases, line);) {
    if (line.size() < 6 || !line.starts_with("| ") ||
        std::string_view("LPBER").find(line[2]) == std::string_view::npos ||
        std::isdigit(static_cast<unsigned char>(line[3])) == 0)
      continue;
    found.insert(line.substr(2, line.find(' ', 2) - 2));
  }
  CHECK(found == case_ids());
  // Rows of the tables of each section; those of a head and its rule do not count.
  std::istringstream sheet(read(kShared / "protocol.md"));
  std::map<int, int> rows;
  int section = 0;
  for (std::string line; std::getline(sheet, line);) {
    if (line.starts_with("## ")) section = std::atoi(line.c_str() + 3);
    if (line.starts_with("|--"))
      --rows[section];
    else if (line.starts_with("|"))
      ++rows[section];
  }
  for (const Section& s : kSections) CHECK_MESSAGE(rows[s.number] == s.rows, "section " << s.number);
}

TEST_CASE("conformance: docs/conformance.md is what is written from the table") {
  const std::string text = markdown(project(), table());
  if (std::getenv("ROCEGEN_UPDATE") != nullptr) std::ofstream(kRoot / "docs/conformance.md", std::ios::binary) << text;
  CHECK_MESSAGE(read(kRoot / "docs/conformance.md") == text,
                "ROCEGEN_UPDATE=1 build/tests/unit_tests -tc='conformance*' writes it");
}
