#include "generator/dataflow/graph_file.h"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "generator/dataflow/codes.h"
#include "generator/dataflow/evaluate.h"
#include "generator/dataflow/passes.h"
#include "tests/unit/dataflow/sample_graphs.h"

using namespace rocegen;
using namespace rocegen::dataflow;

namespace {

std::string read_file(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const std::filesystem::path kSource = ROCEGEN_SOURCE_DIR;

/// A graph of one value `y` over inputs a (u8), b (s8), c (u1).
std::string one(const std::string& expression) {
  return "{\"name\": \"g\", \"inputs\": {\"a\": \"u8\", \"b\": \"s8\", \"c\": \"u1\"},\n \"values\": {\"used\": "
         "[\"concat\", \"a\", \"b\", \"c\"]},\n \"outputs\": {\"u\": \"used\", \"y\": " +
         expression + "}}";
}

std::optional<GraphFile> read(const std::string& text, spec::Diagnostics& diagnostics) {
  return read_graph("graph.json", text, diagnostics);
}

}  // namespace

TEST_CASE("graph file: each operator has the type and the values that it says") {
  struct Row {
    std::string expression;
    std::string type;
    long (*expected)(long a, long b, long c);
  };
  const std::vector<Row> rows = {
      {R"(["add", "a", "b"])", "s10", [](long a, long b, long) { return a + b; }},
      {R"(["add", "a", 200])", "u9", [](long a, long, long) { return a + 200; }},
      {R"(["sub", "a", "b"])", "s10", [](long a, long b, long) { return a - b; }},
      {R"(["sub", "a", "a"])", "s9", [](long, long, long) { return 0L; }},
      {R"(["neg", "a"])", "s9", [](long a, long, long) { return -a; }},
      {R"(["abs", "b"])", "u8", [](long, long b, long) { return b < 0 ? -b : b; }},
      {R"(["sum", "a", "b", "c", -5])", "s11", [](long a, long b, long c) { return a + b + c - 5; }},
      {R"(["mul", "a", "b"])", "s16", [](long a, long b, long) { return a * b; }},
      {R"(["mul", "b", "b"])", "s16", [](long, long b, long) { return b * b; }},
      {R"(["mul", "b", -37])", "s15", [](long, long b, long) { return b * -37; }},
      {R"(["div", "a", 7])", "u8", [](long a, long, long) { return a / 7; }},
      {R"(["mod", "a", 7])", "u3", [](long a, long, long) { return a % 7; }},
      {R"(["mod", "a", 1000])", "u10", [](long a, long, long) { return a; }},
      {R"(["min", "a", "b", 3])", "s9",
       [](long a, long b, long) {
         return std::min({a, b, 3L});
       }},
      {R"(["max", "a", "b"])", "s9", [](long a, long b, long) { return std::max(a, b); }},
      {R"(["and", "a", 15])", "u8", [](long a, long, long) { return a & 15; }},
      {R"(["or", "a", "b"])", "s9", [](long a, long b, long) { return a | b; }},
      {R"(["xor", "a", "b"])", "s9", [](long a, long b, long) { return a ^ b; }},
      {R"(["not", "b"])", "s8", [](long, long b, long) { return ~b; }},
      {R"(["any", "a"])", "u1", [](long a, long, long) { return long{a != 0}; }},
      {R"(["all", "a"])", "u1", [](long a, long, long) { return long{a == 255}; }},
      {R"(["parity", "a"])", "u1", [](long a, long, long) { return long{__builtin_parityl(a)}; }},
      {R"(["popcount", "a"])", "u4", [](long a, long, long) { return long{__builtin_popcountl(a)}; }},
      {R"(["eq", "a", "b"])", "u1", [](long a, long b, long) { return long{a == b}; }},
      {R"(["ne", "a", "b"])", "u1", [](long a, long b, long) { return long{a != b}; }},
      {R"(["lt", "a", "b"])", "u1", [](long a, long b, long) { return long{a < b}; }},
      {R"(["le", "b", -3])", "u1", [](long, long b, long) { return long{b <= -3}; }},
      {R"(["gt", "a", "b"])", "u1", [](long a, long b, long) { return long{a > b}; }},
      {R"(["ge", "a", 100])", "u1", [](long a, long, long) { return long{a >= 100}; }},
      {R"(["select", "c", "a", "b"])", "s9", [](long a, long b, long c) { return c != 0 ? a : b; }},
      {R"(["mux", ["slice", "a", 1, 0], "a", "b", 7, -1])", "s9",
       [](long a, long b, long) {
         return std::array{a, b, 7L, -1L}[static_cast<std::size_t>(a & 3)];
       }},
      {R"(["table", ["slice", "a", 1, 0], "s4", [3, -8, "0xF", 0]])", "s4",
       [](long a, long, long) {
         return std::array{3L, -8L, -1L, 0L}[static_cast<std::size_t>(a & 3)];
       }},
      {R"(["shl", "b", 3])", "s11", [](long, long b, long) { return b * 8; }},
      {R"(["shr", "b", 3])", "s5", [](long, long b, long) { return b >> 3; }},
      {R"(["shr", "b", 30])", "s1", [](long, long b, long) { return b < 0 ? -1L : 0L; }},
      {R"(["shr", "b", ["slice", "a", 2, 0]])", "s8", [](long a, long b, long) { return b >> (a & 7); }},
      {R"(["shl", "a", ["slice", "b", 3, 0]])", "u8", [](long a, long b, long) { return (a << (b & 15)) & 255; }},
      {R"(["slice", "b", 6, 2])", "u5", [](long, long b, long) { return (b >> 2) & 31; }},
      {R"(["bit", "b", 7])", "u1", [](long, long b, long) { return long{b < 0}; }},
      {R"(["concat", "c", "b"])", "u9", [](long, long b, long c) { return c * 256 + (b & 255); }},
      {R"(["extend", "a", "s9"])", "s9", [](long a, long, long) { return a; }},
      {R"(["wrap", "a", "s4"])", "s4", [](long a, long, long) { return ((a & 15) ^ 8) - 8; }},
      {R"(["wrap", "b", "u12"])", "u12", [](long, long b, long) { return b & 4095; }},
      {R"(["saturate", "b", "u5"])", "u5", [](long, long b, long) { return std::clamp(b, 0L, 31L); }},
      {R"(["saturate", "a", "s6"])", "s6", [](long a, long, long) { return std::min(a, 31L); }},
      {R"(["const", "s12", "0xFFE"])", "s12", [](long, long, long) { return -2L; }},
      {R"("b")", "s8", [](long, long b, long) { return b; }},
      {R"(-9)", "s5", [](long, long, long) { return -9L; }},
      {R"({"value": "a", "type": "s12", "doc": "wider"})", "s12", [](long a, long, long) { return a; }},
  };
  for (const auto& row : rows) {
    CAPTURE(row.expression);
    spec::Diagnostics diagnostics;
    const auto file = read(one(row.expression), diagnostics);
    CAPTURE(spec::render(diagnostics));
    REQUIRE(file.has_value());
    CHECK(file->output_types[1].text() == row.type);
    const Graph optimised = optimise(file->graph);
    for (long a = 0; a < 256; a += 3) {
      for (long b = -128; b < 128; b += 5) {
        const long c = (a + b) & 1;
        const std::array inputs = {BitVec(8, static_cast<std::uint64_t>(a)),
                                   BitVec(64, static_cast<std::uint64_t>(b)).resize(8),
                                   BitVec(1, static_cast<std::uint64_t>(c))};
        const auto expected =
            BitVec(64, static_cast<std::uint64_t>(row.expected(a, b, c))).resize(file->output_types[1].width);
        REQUIRE(evaluate(file->graph, inputs)[1] == expected);
        REQUIRE(evaluate(optimised, inputs)[1] == expected);
      }
    }
  }
}

TEST_CASE("graph file: every fault has its code and its place") {
  struct Row {
    std::string text;
    std::string code;
    std::string pointer;
  };
  const std::vector<Row> rows = {
      {"[]", "E0401", ""},
      {R"({"inputs": {}, "outputs": {"y": 1}})", "E0401", ""},
      {R"({"name": "g", "inputs": {}})", "E0401", ""},
      {R"({"name": "g", "inputs": [], "outputs": {"y": 1}})", "E0401", "/inputs"},
      {R"({"name": "g", "inputs": {}, "outputs": {"y": 1}, "output": 1})", "E0401", "/output"},
      {R"({"name": 4, "inputs": {}, "outputs": {"y": 1}})", "E0401", "/name"},
      {R"({"name": "g", "inputs": {"x": {"doc": "no type"}}, "outputs": {"y": 1}})", "E0401", "/inputs/x"},
      {R"({"name": "g", "inputs": {"x": "i8"}, "outputs": {"y": "x"}})", "E0402", "/inputs/x"},
      {R"({"name": "g", "inputs": {"x": "u0"}, "outputs": {"y": "x"}})", "E0402", "/inputs/x"},
      {R"({"name": "g", "inputs": {"x": "u5000"}, "outputs": {"y": "x"}})", "E0402", "/inputs/x"},
      {R"({"name": "g", "inputs": {"x": 8}, "outputs": {"y": "x"}})", "E0402", "/inputs/x"},
      {R"({"name": "module", "inputs": {}, "outputs": {"y": 1}})", "E0403", "/name"},
      {R"({"name": "g", "inputs": {"a-b": "u1"}, "outputs": {"y": 1}})", "E0403", "/inputs/a-b"},
      {R"({"name": "g", "inputs": {"x": "u1"}, "values": {"x": 1}, "outputs": {"y": "x"}})", "E0403", "/values/x"},
      {R"({"name": "g", "inputs": {"x": "u1"}, "values": {"x_q": 1}, "outputs": {"y": "x"}})", "E0403", "/values/x_q"},
      {one(R"(["plus", "a", "b"])"), "E0404", "/outputs/y/0"},
      {one(R"(["sub", "a"])"), "E0405", "/outputs/y"},
      {one(R"(["sub", "a", "b", "c"])"), "E0405", "/outputs/y"},
      {one(R"(["sum"])"), "E0405", "/outputs/y"},
      {one(R"("aa")"), "E0406", "/outputs/y"},
      {one(R"(["add", "a", ["neg", "d"]])"), "E0406", "/outputs/y/2/1"},
      {R"({"name": "g", "inputs": {}, "values": {"p": "q", "q": 1}, "outputs": {"y": "p"}})", "E0406", "/values/p"},
      {one("1.5"), "E0401", "/outputs/y"},
      {one("[]"), "E0401", "/outputs/y"},
      {one("true"), "E0401", "/outputs/y"},
      {one(R"(["select", "a", "a", "b"])"), "E0407", "/outputs/y"},
      {one(R"(["div", "b", 3])"), "E0407", "/outputs/y"},
      {one(R"(["div", "a", "a"])"), "E0407", "/outputs/y"},
      {one(R"(["mod", "a", 0])"), "E0407", "/outputs/y"},
      {one(R"(["mod", "a", -2])"), "E0407", "/outputs/y"},
      {one(R"(["slice", "a", 8, 0])"), "E0407", "/outputs/y"},
      {one(R"(["slice", "a", "b", 0])"), "E0407", "/outputs/y/2"},
      {one(R"(["extend", "b", "u20"])"), "E0407", "/outputs/y"},
      {one(R"(["mux", "c", "a"])"), "E0407", "/outputs/y"},
      {one(R"(["shl", "a", 4090])"), "E0407", "/outputs/y"},
      {one(R"(["shl", "a", "b"])"), "E0407", "/outputs/y"},
      {one(R"(["table", "c", "u4", [1, 16]])"), "E0407", "/outputs/y/3/1"},
      {one(R"(["table", "c", "u4", [1]])"), "E0407", "/outputs/y"},
      {one(R"(["table", "c", "u4", 7])"), "E0401", "/outputs/y/3"},
      {one(R"(["const", "u8", 256])"), "E0407", "/outputs/y/2"},
      {one(R"(["const", "u8", -1])"), "E0407", "/outputs/y/2"},
      {one(R"(["const", "s8", "0x1FF"])"), "E0407", "/outputs/y/2"},
      {one(R"(["const", "s8", "ten"])"), "E0407", "/outputs/y/2"},
      {one(R"({"value": "b", "type": "u8"})"), "E0407", "/outputs/y/type"},
      {R"({"name": "g", "inputs": {}, "outputs": {}})", "E0408", "/outputs"},
      {R"({"name": "g", "inputs": {}, "outputs": {"y": 1}, "pipeline": {"depth": 5}})", "E0409", "/pipeline/depth"},
      {R"({"name": "g", "inputs": {}, "outputs": {"y": 1}, "pipeline": {"levels": 0}})", "E0409", "/pipeline/levels"},
      {R"({"name": "g", "inputs": {}, "outputs": {"y": 1}, "pipeline": {"depth": 1, "levels": 4}})", "E0409",
       "/pipeline/levels"},
      {R"({"name": "g", "inputs": {}, "outputs": {"y": 1}, "pipeline": {"clock_mhz": 0}})", "E0409",
       "/pipeline/clock_mhz"},
      {R"({"name": "g", "inputs": {}, "outputs": {"y": 1}, "pipeline": {"interface": "axi"}})", "E0409",
       "/pipeline/interface"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    spec::Diagnostics diagnostics;
    CHECK_FALSE(read(row.text, diagnostics).has_value());
    REQUIRE(diagnostics.error_count() == 1);
    const auto& d = diagnostics.all()[0];
    CAPTURE(d.message);
    CHECK(d.code == row.code);
    CHECK(d.place.pointer == row.pointer);
    CHECK(d.place.line > 0);
    CHECK(d.place.column > 0);
  }
}

TEST_CASE("graph file: several faults are reported together; an unread value is a warning") {
  spec::Diagnostics diagnostics;
  CHECK_FALSE(read(R"({"name": "g", "inputs": {"x": "u8", "y": "i8"}, "values": {"v": ["ad", "x", 1], "w": "v"},
                      "outputs": {"z": ["add", "w", "u"]}})",
                   diagnostics)
                  .has_value());
  CHECK(diagnostics.error_count() == 3);

  spec::Diagnostics warnings;
  const auto file = read(R"({"name": "g", "inputs": {"x": "u8", "n": "u8"}, "outputs": {"z": "x"}})", warnings);
  REQUIRE(file.has_value());
  CHECK_FALSE(warnings.has_errors());
  REQUIRE(warnings.warning_count() == 1);
  CHECK(warnings.all()[0].code == "W0401");
  CHECK(warnings.all()[0].place.pointer == "/inputs/n");
}

TEST_CASE("graph file: every code of the folder is explained and in order") {
  std::string last;
  for (const auto& info : codes()) {
    CHECK(std::string(info.code).substr(1) > "0400");
    CHECK(std::string(info.code) > last);
    last = info.code;
  }
}

TEST_CASE("graph file: the pipeline's keys become options") {
  const auto options = [](const std::string& pipeline) {
    spec::Diagnostics diagnostics;
    const auto file =
        read(R"({"name": "g", "inputs": {"x": "u8"}, "outputs": {"y": ["add", "x", 1]}, "pipeline": )" + pipeline + "}",
             diagnostics);
    REQUIRE(file.has_value());
    return file->options;
  };
  CHECK(options("{}").level_budget == 8);
  CHECK(options(R"({"depth": 3, "clock_mhz": 250})").level_budget == 6);
  CHECK(options(R"({"levels": 5, "interface": "elastic"})").level_budget == 5);
  CHECK(options(R"({"interface": "elastic"})").elastic);
  CHECK(options(R"({"interface": "combinational"})").combinational);
  CHECK_FALSE(options(R"({"interface": "clock_enable"})").elastic);
}

TEST_CASE("graph file: the examples and the one of the documentation compile, and the passes keep their values") {
  std::vector<std::string> texts;
  for (const auto* name : {"dot_product", "clamp_shift", "popcount_classifier"}) {
    texts.push_back(read_file(kSource / "specs" / "graphs" / (std::string(name) + ".json")));
  }
  const std::string document = read_file(kSource / "docs" / "dataflow.md");
  const auto begin = document.find("```json\n{");
  REQUIRE(begin != std::string::npos);
  texts.push_back(document.substr(begin + 8, document.find("```", begin + 8) - begin - 8));
  std::mt19937_64 rng(11);
  for (const auto& text : texts) {
    spec::Diagnostics diagnostics;
    const auto file = read(text, diagnostics);
    CAPTURE(spec::render(diagnostics));
    REQUIRE(file.has_value());
    CHECK(diagnostics.empty());
    const Graph optimised = optimise(file->graph);
    for (int i = 0; i < 200; ++i) {
      const auto inputs = sample::random_inputs(file->graph, rng);
      REQUIRE(evaluate(optimised, inputs) == evaluate(file->graph, inputs));
    }
    const CompiledModule module = compile(optimised, file->options);
    CHECK(module.levels <= file->options.level_budget);
    CHECK(module.luts > 0);
  }
}

TEST_CASE("graph file: the documentation lists the operators as they are") {
  const std::string document = read_file(kSource / "docs" / "dataflow.md");
  CHECK(document.find(operator_table()) != std::string::npos);
}
