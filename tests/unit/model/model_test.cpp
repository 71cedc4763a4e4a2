#include "generator/model/model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "generator/dataflow/compile.h"
#include "generator/dataflow/evaluate.h"
#include "generator/dataflow/passes.h"
#include "generator/model/codes.h"
#include "generator/model/lower.h"
#include "generator/model/read.h"
#include "generator/model/sample.h"
#include "generator/model/share.h"

using namespace rocegen;
using namespace rocegen::model;

namespace {

namespace fs = std::filesystem;

const fs::path kVectors = ROCEGEN_SOURCE_DIR "/../shared/vectors/models";

std::string slurp(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A model that has no fault.
Model good(const std::string& text, const std::string& file = "model") {
  spec::Diagnostics diagnostics;
  auto model = read_model_text(file, text, diagnostics);
  INFO(spec::render(diagnostics));
  REQUIRE(model);
  REQUIRE(diagnostics.empty());
  if (!model->network()) REQUIRE(fix_point(*model));
  return *model;
}

Model vector_model(const char* name) { return good(slurp(kVectors / name), name); }

std::vector<int> widths(const Model& model, int standard) {
  std::vector<int> bits;
  for (const Feature& f : model.features) bits.push_back(f.bits > 0 ? f.bits : standard);
  return bits;
}

/// The class by the graph, before and after the passes.
void check_graph(const Model& model, int standard, bool missing, int samples, std::uint64_t seed = 1) {
  const auto bits = widths(model, standard);
  const dataflow::Graph graph = model_graph(model, "dut", bits, missing);
  const dataflow::Graph after = dataflow::optimise(graph);
  Sampler sampler(model, bits, missing, seed);
  for (int i = 0; i < samples; ++i) {
    const Sample sample = sampler.next();
    const auto in = operands(model, bits, missing, sample);
    REQUIRE(sample_of(model, bits, missing, in).size() == sample.size());
    const auto expected = static_cast<std::uint64_t>(decide(model, sample));
    REQUIRE(dataflow::evaluate(graph, in)[0].to_uint64() == expected);
    REQUIRE(dataflow::evaluate(after, in)[0].to_uint64() == expected);
  }
}

/// XGBoost JSON of one tree of depth 1 over one feature.
std::string stump(const std::string& threshold, int default_left, const std::string& extra_categories = "",
                  int split_type = 0) {
  return fmt::format(
      R"({{"learner":{{"objective":{{"name":"reg:squarederror"}},
"learner_model_param":{{"base_score":"0","num_class":"0","num_feature":"1"}},
"gradient_booster":{{"name":"gbtree","model":{{"tree_info":[0],"trees":[
{{"left_children":[1,-1,-1],"right_children":[2,-1,-1],"split_indices":[0,0,0],"split_conditions":[{},1.0,-1.0],
"default_left":[{},0,0],"split_type":[{},0,0]{}}}]}}}}}}}})",
      threshold, default_left, split_type, extra_categories);
}

/// LightGBM text of the same.
std::string lightgbm_stump(const std::string& threshold, int type, const std::string& sets = "num_cat=0\n") {
  return "tree\nversion=v3\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n"
         "feature_names=x\n\nTree=0\nnum_leaves=2\n" +
         sets + "split_feature=0\nthreshold=" + threshold + "\ndecision_type=" + std::to_string(type) +
         "\nleft_child=-1\nright_child=-2\nleaf_value=1 -1\nshrinkage=1\n\nend of trees\n";
}

bool left(const Model& model, std::optional<std::uint64_t> x) { return decide(model, {x}) == 1; }

/// A small network with every rounding, wide weights and both kinds of outputs.
std::string small_network(const char* rounding, const char* overflow, const char* type, int bits) {
  return fmt::format(
      R"({{"format": "rocegen-model", "features": {{"count": 4, "bits": 3}}, "layers": [
        {{"weights": [[1, -1, 0, 1], [5, -3, 7, 0], [-2, 0, 0, 9], [1, 1, 1, 1]], "scale": [-1, -2, -3, 0],
          "bias": [0, 3, -1, -2],
          "activation": {{"type": "{}", "bits": {}, "fraction_bits": 1, "rounding": "{}", "overflow": "{}"}}}},
        {{"weights": ["+-0+", "0+-0", "++--"], "scale": [0, 1, 0], "bias": [1, 0, 2]}}]}})",
      type, bits, rounding, overflow);
}

}  // namespace

TEST_CASE("model: XGBoost sends left what is less than a float32, with integers rounded as XGBoost does") {
  for (const char* text : {"0", "-9.536743E-7", "0.5", "1", "7", "7.5", "255.99998", "16777216", "16777218", "4e9",
                           "1e30", "-3", "33554434"}) {
    const Model model = good(stump(text, 1));
    const float threshold = std::strtof(text, nullptr);
    std::mt19937_64 rng(5);
    for (int i = 0; i < 4000; ++i) {
      std::uint64_t x = rng() >> (16 + rng() % 48);
      if (i % 2 == 0 && threshold >= 0 && threshold < 1e14F) {
        x = static_cast<std::uint64_t>(
            std::max(0.0, static_cast<double>(threshold) + static_cast<double>(rng() % 9) - 4));
      }
      CHECK(left(model, x) == (static_cast<float>(x) < threshold));
    }
    CHECK(left(model, std::nullopt));
    CHECK_FALSE(left(good(stump(text, 0)), std::nullopt));
  }
}

TEST_CASE("model: LightGBM sends left what is not greater, and missing values by their type") {
  for (const char* text : {"0", "1e-35", "2.5", "3", "-1", "1e20", "1.0000000180025095e-35"}) {
    const double threshold = std::strtod(text, nullptr);
    for (int type : {0, 2, 4, 6, 8, 10}) {
      const Model model = good(lightgbm_stump(text, type));
      // Tree::NumericalDecision, as LightGBM writes it.
      const auto expected = [&](double x) {
        const int missing = type >> 2;
        if (std::isnan(x) && missing != 2) x = 0;
        if ((missing == 1 && std::abs(x) <= 1e-35) || (missing == 2 && std::isnan(x))) return (type & 2) != 0;
        return x <= threshold;
      };
      for (std::uint64_t x = 0; x < 6; ++x) CHECK(left(model, x) == expected(static_cast<double>(x)));
      CHECK(left(model, std::nullopt) == expected(NAN));
    }
  }
}

TEST_CASE("model: categories go right in XGBoost, left in LightGBM") {
  const Model x = good(stump("0", 1, R"(,"categories":[5,2],"categories_nodes":[0],"categories_segments":[0],
"categories_sizes":[2])",
                             1));
  for (std::uint64_t c = 0; c < 70; ++c) CHECK(left(x, c) == (c != 2 && c != 5));
  CHECK(left(x, std::nullopt));
  const Model l = good(lightgbm_stump("0", 1, "num_cat=1\ncat_boundaries=0 2\ncat_threshold=36 1\n"));
  for (std::uint64_t c = 0; c < 200; ++c) CHECK(left(l, c) == (c == 2 || c == 5 || c == 32));
  CHECK_FALSE(left(l, std::nullopt));
  for (const int width : {1, 3, 8, 9, 16}) {
    check_graph(x, width, true, 300);
    check_graph(l, width, true, 300);
  }
}

TEST_CASE("model: base scores become margins by the objective") {
  const auto with = [](const char* objective, const char* base) {
    std::string text = stump("3", 1);
    text.replace(text.find("reg:squarederror"), 16, objective);
    text.replace(text.find("\"base_score\":\"0\""), 16, fmt::format("\"base_score\":\"{}\"", base));
    return text;
  };
  CHECK(good(with("binary:logistic", "5E-1")).forest.base[0] == 0);
  CHECK(good(with("binary:logistic", "[7.5E-1]")).forest.base[0] == doctest::Approx(std::log(3.0)).epsilon(1e-6));
  CHECK(good(with("count:poisson", "2")).forest.base[0] == doctest::Approx(std::log(2.0)).epsilon(1e-6));
  CHECK(good(with("reg:squarederror", "-2.5")).forest.base[0] == -2.5);
}

TEST_CASE("model: integer trees, several scores, and the value as class") {
  const std::string features = R"("features": [{"name": "a", "bits": 8}, {"name": "b", "bits": 12}])";
  const Model greatest =
      good(R"({"format": "rocegen-model", )" + features + R"(, "scores": 3, "base": [0, 5, -1], "trees": [
    {"score": 0, "nodes": [{"feature": "a", "less": 10, "left": 1, "right": 2}, {"leaf": 7}, {"leaf": -7}]},
    {"score": 1, "nodes": [{"feature": 1, "at_most": 300, "left": 1, "right": 2, "missing": "right"}, {"leaf": -3}, {"leaf": 2}]},
    {"score": 2, "nodes": [{"feature": "b", "in": [0, 4095, 17], "left": 2, "right": 1}, {"leaf": 1}, {"leaf": 8}]}]})");
  CHECK(greatest.classes == 3);
  CHECK(decide(greatest, {9, 1000}) == 0);                     // 7, 7, 0: the first of equals
  CHECK(decide(greatest, {10, 1000}) == 1);                    // -7, 7, 0
  CHECK(decide(greatest, {10, 17}) == 2);                      // -7, 2, 7
  CHECK(decide(greatest, {std::nullopt, std::nullopt}) == 0);  // 0 < 10; missing right: 7; category 0: 7
  check_graph(greatest, 8, true, 2000);
  check_graph(greatest, 8, false, 2000);
  const Model value =
      good(R"({"format": "rocegen-model", )" + features + R"(, "decision": "value", "classes": 6, "trees": [
    {"nodes": [{"feature": 0, "less": 100, "left": 1, "right": 2}, {"leaf": 5}, {"leaf": 0}]}]})");
  CHECK(decide(value, {99, 0}) == 5);
  CHECK(decide(value, {100, 0}) == 0);
  check_graph(value, 8, true, 500);
  const Model steps = good(R"({"format": "rocegen-model", )" + features + R"(, "thresholds": [-5, 0, 4], "trees": [
    {"nodes": [{"feature": 0, "less": 100, "left": 1, "right": 2}, {"leaf": 5}, {"leaf": -5}]},
    {"nodes": [{"feature": 1, "less": 9, "left": 1, "right": 2}, {"leaf": 0}, {"leaf": -1}]}]})");
  CHECK(decide(steps, {0, 0}) == 3);    // 5
  CHECK(decide(steps, {0, 9}) == 2);    // 4 does not exceed 4
  CHECK(decide(steps, {200, 0}) == 0);  // -5
  check_graph(steps, 8, true, 500);
}

TEST_CASE("model: layers round, saturate and wrap as they say") {
  for (const char* rounding : {"floor", "half_up", "half_even"}) {
    for (const char* overflow : {"saturate", "wrap"}) {
      for (const char* type : {"relu", "identity"}) {
        for (const int bits : {2, 3, 5, 11})
          check_graph(good(small_network(rounding, overflow, type, bits)), 3, true, 400);
      }
    }
  }
}

TEST_CASE("model: one unit against the definition in floating point") {
  for (const std::string rounding : {"floor", "half_up", "half_even"}) {
    const Model model = good(R"({"format": "rocegen-model", "features": {"count": 2, "bits": 6}, "decision": "value",
      "classes": 8, "layers": [{"weights": [[3, -2]], "scale": -4, "activation": {"type": "relu", "bits": 3,
      "fraction_bits": 1, "rounding": ")" +
                             rounding + R"(", "overflow": "saturate"}}]})");
    for (std::uint64_t a = 0; a < 64; ++a) {
      for (std::uint64_t b = 0; b < 64; ++b) {
        const double sum = (3.0 * static_cast<double>(a) - 2.0 * static_cast<double>(b)) / 8;
        const double whole = rounding == "floor"     ? std::floor(sum)
                             : rounding == "half_up" ? std::floor(sum + 0.5)
                                                     : std::nearbyint(sum);
        REQUIRE(decide(model, {a, b}) == static_cast<int>(std::min(7.0, std::max(0.0, whole))));
      }
    }
    check_graph(model, 6, false, 1000);
  }
}

TEST_CASE("model: sums with common parts are the same sums") {
  std::mt19937_64 rng(3);
  for (int round = 0; round < 20; ++round) {
    const int variables = 5 + static_cast<int>(rng() % 100);
    const std::size_t count = 1 + rng() % 12;
    std::vector<SignedSum> sums(count);
    for (auto& sum : sums) {
      for (int v = 0; v < variables; ++v) {
        const auto kind = rng() % 3;
        if (kind != 0) (kind == 1 ? sum.plus : sum.minus).insert(v);
      }
    }
    const std::vector<double> spans(static_cast<std::size_t>(variables), round % 2 == 0 ? 1 : 7);
    for (const int depth : {0, 1, 3}) {
      const SharedSums shared = share_sums(sums, spans, depth);
      if (depth == 0) CHECK(shared.sums.size() == count);
      std::vector<std::int64_t> value;
      for (int v = 0; v < variables; ++v) value.push_back(static_cast<std::int64_t>(rng() % 1000));
      const auto total = [&](const auto& self, const SignedSum& sum, int deep) -> std::int64_t {
        REQUIRE(deep <= depth);
        std::int64_t t = 0;
        for (const bool minus : {false, true}) {
          for (const int v : (minus ? sum.minus : sum.plus).members()) {
            const std::int64_t x =
                v < shared.inputs
                    ? value[static_cast<std::size_t>(v)]
                    : self(self, shared.sums[count + static_cast<std::size_t>(v - shared.inputs)], deep + 1);
            t += minus ? -x : x;
          }
        }
        return t;
      };
      for (std::size_t i = 0; i < count; ++i) CHECK(total(total, shared.sums[i], 0) == total(total, sums[i], 0));
    }
  }
}

TEST_CASE("model: rounded leaves stay within what is told") {
  Model model = good(stump("3", 1));
  model.forest.trees[0].nodes[1].value = 0.1;
  REQUIRE(fix_point(model));
  CHECK(model.forest.exact);
  CHECK(model.forest.fraction_bits == 55);
  REQUIRE(fix_point(model, 8));
  CHECK_FALSE(model.forest.exact);
  CHECK(model.forest.trees[0].nodes[1].fixed == 26);  // 25.6
  model.forest.trees[0].nodes[1].value = 1e-300;
  CHECK_FALSE(fix_point(model));
}

TEST_CASE("model: each bad file has its diagnostic") {
  struct Row {
    const char* code;
    int line;
    std::string text;
  };
  const std::string x = stump("3", 1);
  const auto edit = [](std::string text, const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string l = lightgbm_stump("3", 0);
  const std::string n = small_network("floor", "saturate", "relu", 3);
  const auto tree = [](const std::string& nodes, const std::string& more = "") {
    return "{\"format\": \"rocegen-model\", \"features\": [{\"name\": \"a\", \"bits\": 8}],\n\"trees\": "
           "[{\"nodes\":\n" +
           nodes + "}]" + more + "}";
  };
  const std::string leaves = ", {\"leaf\": 1}, {\"leaf\": 0}]";
  const std::string test = R"([{"feature": 0, "less": 3, "left": 1, "right": 2})";
  const std::vector<Row> rows = {
      {"E0520", 0, std::string("binf\0\0\1", 7)},
      {"E0520", 0, "hello"},
      {"E0520", 0, ""},
      {"E0520", 1, "{\"trees\": []}"},
      {"E0520", 1, "{\"format\": \"onnx\"}"},
      {"E0521", 3, edit(x, "\"trees\":[", "\"no\":[")},
      {"E0521", 5, edit(x, "\"default_left\":[1,0,0]", "\"default_left\":[1,0]")},
      {"E0521", 4, edit(x, "\"right_children\":[2,-1,-1]", "\"right_children\":[2,-1,0.5]")},
      {"E0522", 4, edit(x, "\"right_children\":[2", "\"right_children\":[1")},
      {"E0522", 4, edit(x, "\"right_children\":[2", "\"right_children\":[9")},
      {"E0522", 4, edit(x, "\"left_children\":[1", "\"left_children\":[0")},
      {"E0523", 4, edit(x, "\"split_indices\":[0", "\"split_indices\":[1")},
      {"E0524", 3, edit(x, "\"name\":\"gbtree\"", "\"name\":\"dart\"")},
      {"E0524", 1, edit(x, "reg:squarederror", "survival:aft")},
      {"E0524", 2, edit(x, "\"num_feature\":\"1\"", "\"num_feature\":\"1\",\"num_target\":\"2\"")},
      {"E0524", 5, edit(x, "\"split_type\":[0", "\"split_type\":[2")},
      {"E0525", 4, edit(x, "[3,1.0", "[true,1.0")},
      {"E0525", 2, edit(x, "\"base_score\":\"0\"", "\"base_score\":\"half\"")},
      {"E0525", 2,
       edit(edit(x, "reg:squarederror", "binary:logistic"), "\"base_score\":\"0\"", "\"base_score\":\"1\"")},
      {"E0521", 2, edit(x, "\"num_class\":\"0\"", "\"num_class\":\"99\"")},
      {"E0521", 4, edit(x, "\"tree_info\":[0]", "\"tree_info\":[1]").replace(0, 0, "\n")},
      {"E0526", 5,
       stump("0", 1,
             ",\"categories\":[-5],\"categories_nodes\":[0],\"categories_segments\":[0],\"categories_sizes\":[1]", 1)},
      {"E0526", 5,
       stump("0", 1,
             ",\"categories\":[5],\"categories_nodes\":[0],\"categories_segments\":[0],\"categories_sizes\":[2]", 1)},
      {"E0526", 5,
       stump("0", 1, ",\"categories\":[],\"categories_nodes\":[],\"categories_segments\":[],\"categories_sizes\":[]",
             1)},
      {"E0521", 9, edit(l, "split_feature=0\n", "")},
      {"E0521", 15, edit(l, "left_child=-1", "left_child=-1 0")},
      {"E0522", 9, edit(l, "right_child=-2", "right_child=-1")},
      {"E0522", 9, edit(l, "right_child=-2", "right_child=5")},
      {"E0523", 12, edit(l, "split_feature=0", "split_feature=3")},
      {"E0523", 7, edit(l, "feature_names=x", "feature_names=x y")},
      {"E0524", 2, edit(l, "version=v3", "average_output")},
      {"E0524", 14, edit(l, "decision_type=0", "decision_type=12")},
      {"E0524", 11, edit(l, "num_cat=0", "is_linear=1")},
      {"E0525", 17, edit(l, "leaf_value=1 -1", "leaf_value=1 nan")},
      {"E0526", 15, lightgbm_stump("1", 1, "num_cat=1\ncat_boundaries=0 1\ncat_threshold=4\n")},
      {"E0530", 2, edit(l, "version=v3", "version")},
      {"E0530", 2, "a = [1];\n when a<1 then 2;\n"},
      {"E0523", 2, "a = [1];\n when b<=1 then 2;\n"},
      {"E0529", 2, "a = [1];\n when a<=1 then 16;\n"},
      {"E0522", 2, "a = [1];\n when a<=1 then 2;\n"},
      {"E0522", 3, "a = [1];\n when a<=1 then 2;\n when a>2 then 1;\n"},
      {"E0530", 3, "a = [1];\n when a<=1 then 2;\n else 1;\n when a>1 then 1;\n"},
      {"E0521", 1, "{\"format\": \"rocegen-model\", \"features\": {\"count\": 1, \"bits\": 1}}"},
      {"E0521", 1, "{\"format\": \"rocegen-model\", \"features\": {\"count\": 1, \"bits\": 49}, \"trees\": []}"},
      {"E0521", 1, "{\"format\": \"rocegen-model\", \"features\": [], \"trees\": []}"},
      {"E0521", 1, "{\"format\": \"rocegen-model\", \"features\": {\"count\": 1, \"bits\": 1}, \"trees\": []}"},
      {"E0521", 4, tree(test + leaves, ",\n\"thershold\": 3")},
      {"E0521", 3, tree(R"([{"feature": 0, "left": 1, "right": 2})" + leaves)},
      {"E0521", 3, tree(R"([{"feature": 0, "less": 3, "left": 1, "right": 2, "missing": "up"})" + leaves)},
      {"E0521", 3, tree(R"([{"feature": 0, "less": 3.5, "left": 1, "right": 2})" + leaves)},
      {"E0521", 3, tree(R"([{"feature": 0, "less": 3, "left": 1, "right": 3})" + leaves)},
      {"E0522", 3, tree(R"([{"feature": 0, "less": 3, "left": 1, "right": 1})" + leaves)},
      {"E0522", 3, tree(R"([{"leaf": 0})" + leaves)},
      {"E0523", 3, tree(R"([{"feature": 1, "less": 3, "left": 1, "right": 2})" + leaves)},
      {"E0523", 3, tree(R"([{"feature": "b", "less": 3, "left": 1, "right": 2})" + leaves)},
      {"E0526", 3, tree(R"([{"feature": 0, "in": [-1], "left": 1, "right": 2})" + leaves)},
      {"E0529", 4, tree(test + leaves, ",\n\"decision\": \"greatest\"")},
      {"E0529", 4, tree(test + leaves, ",\n\"decision\": \"best\"")},
      {"E0529", 4, tree(test + leaves, ",\n\"thresholds\": [1, 1]")},
      {"E0529", 4, tree(test + ", {\"leaf\": -1}, {\"leaf\": 0}]", ",\n\"decision\": \"value\", \"classes\": 2")},
      {"E0527", 5, edit(n, "\"0+-0\"", "\"0+-\"")},
      {"E0527", 2, edit(n, "[1, -1, 0, 1]", "[1, -1, 0]")},
      {"E0528", 5, edit(n, "\"0+-0\"", "\"0+-x\"")},
      {"E0528", 2, edit(n, "[1, -1, 0, 1]", "[1, -1.5, 0, 1]")},
      {"E0528", 4, edit(n, "\"floor\"", "\"nearest\"")},
      {"E0528", 2, edit(n, "[-1, -2, -3, 0]", "[-1, -2, -41, 0]")},
      {"E0521", 4, edit(n, "\"bits\": 3, \"frac", "\"bits\": 0, \"frac")},
      {"E0521", 2, edit(n, "[-1, -2, -3, 0]", "[-1, -2, -3]")},
      {"E0521", 4, edit(n, "\"activation\"", "\"activations\"")},
  };
  std::vector<std::string> seen;
  for (const Row& row : rows) {
    spec::Diagnostics diagnostics;
    CHECK_FALSE(read_model_text("model", row.text, diagnostics));
    INFO(row.text);
    INFO(spec::render(diagnostics));
    REQUIRE(!diagnostics.empty());
    const auto& first = diagnostics.all()[0];
    CHECK(first.code == row.code);
    CHECK(first.place.line == row.line);
    CHECK(first.place.file == "model");
    seen.push_back(first.code);
  }
  for (const auto& info : codes()) {
    const bool tested = std::find(seen.begin(), seen.end(), info.code) != seen.end();
    CHECK_MESSAGE(tested, info.code);
  }
}

TEST_CASE("model: broken files of every format do not break the readers") {
  const std::string network = small_network("floor", "saturate", "relu", 3);
  std::mt19937_64 rng(9);
  for (const std::string& text : {stump("3", 1), lightgbm_stump("3", 0), network,
                                  std::string("a = [1];\n when a<=1 then 2;\n when a>1 then 0;\n")}) {
    for (int i = 0; i < 400; ++i) {
      std::string broken = text;
      for (auto edits = 1 + rng() % 3; edits > 0; --edits) {
        const std::size_t at = rng() % broken.size();
        if (rng() % 3 == 0)
          broken.erase(at, 1 + rng() % 4);
        else
          broken[at] = "0123456789-{}[],\":.e"[rng() % 19];
        if (broken.empty()) broken = "x";
      }
      spec::Diagnostics diagnostics;
      auto model = read_model_text("model", broken, diagnostics);
      CHECK(model.has_value() == !diagnostics.has_errors());
      if (model && (model->network() || fix_point(*model))) {
        decide(*model, Sample(model->features.size(), std::uint64_t{1}));
      }
    }
  }
}

TEST_CASE("model vectors: XGBoost's margins of the mushroom model, bit by bit") {
  if (!fs::exists(kVectors)) {
    MESSAGE("skipped: " << kVectors.string() << " is not there");
    return;
  }
  const Model model = vector_model("mushroom.json");
  const std::array<std::size_t, 8> used = {21, 29, 36, 39, 56, 60, 67, 109};
  std::ifstream file(kVectors / "mushroom_predictions.txt");
  std::string line;
  int rows = 0;
  const auto bits = widths(model, 1);
  const dataflow::Graph graph = dataflow::optimise(model_graph(model, "mushroom", bits, true));
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string pattern;
    std::string margin;
    words >> pattern >> margin;
    Sample sample(model.features.size());
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (pattern[i] == '1') sample[used[i]] = 1;
    }
    const auto found = static_cast<float>(float_scores(model, sample)[0]);
    CHECK(fmt::format("{:08x}", std::bit_cast<std::uint32_t>(found)) == margin);
    CHECK(decide(model, sample) == (found > 0 ? 1 : 0));
    CHECK(dataflow::evaluate(graph, operands(model, bits, true, sample))[0].to_uint64() == (found > 0 ? 1 : 0));
    ++rows;
  }
  CHECK(rows == 256);
  spec::Diagnostics diagnostics;
  CHECK_FALSE(read_model((kVectors / "mushroom.model").string(), diagnostics));
  CHECK(diagnostics.all().at(0).code == "E0520");
}

TEST_CASE("model vectors: LightGBM's predictions, digit by digit") {
  if (!fs::exists(kVectors)) {
    MESSAGE("skipped: " << kVectors.string() << " is not there");
    return;
  }
  const Model model = vector_model("toy_categorical_model.txt");
  CHECK(model.forest.exact);
  std::ifstream rows(kVectors / "toy_categorical.test");
  std::ifstream expected(kVectors / "toy_categorical.test.pred");
  std::string line;
  int count = 0;
  while (std::getline(rows, line)) {
    double value = 0;
    const bool given = static_cast<bool>(expected >> value);
    REQUIRE(given);
    std::istringstream words(line);
    std::string label;
    words >> label;
    Sample sample(model.features.size());
    for (std::string word; words >> word;) sample[std::stoul(word)] = std::stoul(word.substr(word.find(':') + 1));
    CHECK(float_scores(model, sample)[0] == value);
    // The exact sum, rounded once, is within the roundings of thirty additions.
    const double exact = std::ldexp(static_cast<double>(scores(model, sample)[0]), -model.forest.fraction_bits);
    CHECK(std::abs(exact - value) < 1e-13);
    CHECK(decide(model, sample) == (value > 0 ? 1 : 0));
    ++count;
  }
  CHECK(count == 180);
  check_graph(model, 3, true, 300);
  check_graph(model, 12, true, 300);
}

TEST_CASE("model vectors: the rules of IIsy, one by one") {
  if (!fs::exists(kVectors)) {
    MESSAGE("skipped: " << kVectors.string() << " is not there");
    return;
  }
  const Model model = vector_model("iisy_tree.txt");
  CHECK(model.classes == 5);
  // The rules as they stand, without the tree.
  struct Condition {
    std::string feature;
    bool at_most;
    double threshold;
  };
  std::vector<std::pair<std::vector<Condition>, int>> rules;
  std::ifstream file(kVectors / "iisy_tree.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != "when") continue;
    std::vector<Condition> conditions;
    while (words >> word && word != "then") {
      if (word == "and") continue;
      const std::size_t op = word.find_first_of("<>");
      const bool at_most = word[op] == '<';
      conditions.push_back({word.substr(0, op), at_most, std::stod(word.substr(op + (at_most ? 2 : 1)))});
    }
    int result = 0;
    words >> result;
    rules.emplace_back(conditions, result);
  }
  REQUIRE(rules.size() == 9);
  const auto bits = widths(model, 16);
  const dataflow::Graph graph = dataflow::optimise(model_graph(model, "iisy", bits, false));
  Sampler sampler(model, bits, false, 2);
  for (int i = 0; i < 5000; ++i) {
    const Sample sample = sampler.next();
    int expected = -1;
    for (const auto& [conditions, result] : rules) {
      bool all = true;
      for (const Condition& c : conditions) {
        const auto x = static_cast<double>(*sample[c.feature == "proto" ? 0 : c.feature == "src" ? 1 : 2]);
        all = all && (c.at_most ? x <= c.threshold : x > c.threshold);
      }
      if (all) expected = result;
    }
    REQUIRE(decide(model, sample) == expected);
    REQUIRE(dataflow::evaluate(graph, operands(model, bits, false, sample))[0].to_uint64() ==
            static_cast<std::uint64_t>(expected));
  }
}

TEST_CASE("model vectors: the decisions of BALBOA's own hardware, 322 of 322") {
  if (!fs::exists(kVectors)) {
    MESSAGE("skipped: " << kVectors.string() << " is not there");
    return;
  }
  const Model model = vector_model("balboa_dpi_ternary.json");
  const auto bits = widths(model, 1);
  const dataflow::Graph graph = dataflow::optimise(model_graph(model, "balboa", bits, false));
  dataflow::Options options;
  options.level_budget = 8;
  const auto module = dataflow::compile(graph, options);
  CHECK(module.latency <= 11);
  CHECK(module.levels <= 8);
  std::ifstream file(kVectors / "balboa_dpi_rtl_decisions.txt");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string source;
    std::string hex;
    int decision = 0;
    words >> source >> hex >> decision;
    Sample sample(512);
    for (std::size_t i = 0; i < 512; ++i) {
      const int byte = std::stoi(hex.substr(i / 8 * 2, 2), nullptr, 16);
      sample[i] = static_cast<std::uint64_t>(byte >> (7 - i % 8) & 1);
    }
    CHECK(decide(model, sample) == decision);
    CHECK(dataflow::evaluate(graph, operands(model, bits, false, sample))[0].to_uint64() ==
          static_cast<std::uint64_t>(decision));
    ++rows;
  }
  CHECK(rows == 322);
  check_graph(model, 1, false, 30);
}
