// The integer JSON of docs/services-dpi.md, and the JSON export of a ternary network (weights_ternary, scale_log2)
// that is read into the same layers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/model/read_support.h"
#include "generator/spec/text.h"

namespace rocegen::model {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr int kMaxInputs = 16384;
constexpr int kMaxOutputs = 4096;
constexpr int kMaxLayers = 16;
constexpr int kMaxExponent = 40;
constexpr std::int64_t kMaxWeight = std::int64_t{1} << 44U;

class IntegerReader {
 public:
  IntegerReader(const spec::Locator& locator, spec::Diagnostics& diagnostics)
      : locator_(locator), view_(locator, diagnostics) {}

  std::optional<Model> read() {
    const Json& root = locator_.root();
    model_.format = "integer JSON";
    const std::string format = view_.text(root, "", "format").value_or("rocegen-model");
    if (format != "rocegen-model") {
      view_.error("E0520", "/format", fmt::format("unknown format `{}`", spec::printable(spec::shorten(format, 40))))
          .help("write \"rocegen-model\"");
      return std::nullopt;
    }
    view_.check_keys(root, "",
                     {"format", "name", "description", "features", "trees", "base", "scores", "layers", "decision",
                      "thresholds", "classes"});
    if (root.contains("name")) model_.name = view_.text(root, "", "name").value_or("");
    if (root.contains("description")) view_.text(root, "", "description");
    read_features(root);
    if (view_.failed()) return std::nullopt;
    if (root.contains("trees") == root.contains("layers")) {
      view_.error("E0521", "", "a model has either `trees` or `layers`");
      return std::nullopt;
    }
    if (root.contains("trees")) {
      read_trees(root);
    } else {
      read_layers(root);
    }
    if (view_.failed()) return std::nullopt;
    read_decision(root);
    if (view_.failed()) return std::nullopt;
    return std::move(model_);
  }

  std::optional<Model> read_export() {
    const Json& root = locator_.root();
    model_.format = "ternary network export";
    export_ = true;
    if (root.contains("model") && root["model"].is_string()) model_.name = root["model"].get<std::string>();
    const Json* layers = view_.list(root, "", "layers");
    if (layers == nullptr) return std::nullopt;
    const auto inputs = view_.whole((*layers)[0], "/layers/0", "inputs", 1, kMaxInputs);
    model_.features.assign(static_cast<std::size_t>(inputs), Feature{"", 1, false});
    for (std::size_t i = 0; i < layers->size() && !view_.failed(); ++i) {
      const std::string path = fmt::format("/layers/{}", i);
      if ((*layers)[i].is_object() && (*layers)[i].contains("weights_float")) {
        read_float_layer((*layers)[i], path, i + 1 == layers->size());
      } else {
        read_layer((*layers)[i], path, "weights_ternary", "scale_log2", i + 1 == layers->size());
      }
    }
    if (view_.failed()) return std::nullopt;
    return std::move(model_);
  }

 private:
  void read_features(const Json& root) {
    const auto it = root.find("features");
    if (it != root.end() && it->is_object()) {
      view_.check_keys(*it, "/features", {"count", "bits"});
      const auto count = view_.whole(*it, "/features", "count", 1, kMaxInputs);
      const auto bits = view_.whole(*it, "/features", "bits", 1, kMaxFeatureBits);
      model_.features.assign(static_cast<std::size_t>(count), Feature{"", static_cast<int>(bits), false});
      return;
    }
    const Json* list = view_.list(root, "", "features");
    if (list == nullptr) return;
    if (list->empty() || list->size() > at(kMaxInputs)) {
      view_.error("E0521", "/features", fmt::format("a model has 1 to {} features", kMaxInputs));
    }
    for (std::size_t i = 0; i < list->size() && !view_.failed(); ++i) {
      const std::string path = fmt::format("/features/{}", i);
      view_.check_keys((*list)[i], path, {"name", "bits"});
      Feature f;
      f.name = view_.text((*list)[i], path, "name").value_or("");
      f.bits = static_cast<int>(view_.whole((*list)[i], path, "bits", 1, kMaxFeatureBits));
      for (const Feature& other : model_.features) {
        if (other.name == f.name && !f.name.empty()) {
          view_.error("E0523", path + "/name", fmt::format("the name `{}` is taken", spec::printable(f.name)));
        }
      }
      model_.features.push_back(f);
    }
  }

  void read_trees(const Json& root) {
    model_.scores = static_cast<int>(view_.whole(root, "", "scores", 1, kMaxClasses, 1));
    std::vector<std::int64_t> base(at(model_.scores));
    if (root.contains("base")) base = view_.wholes(root, "", "base", model_.scores);
    for (const std::int64_t b : base) {
      if (b < -kMaxWeight || b > kMaxWeight) view_.error("E0525", "/base", "a base is at most 2^44");
      model_.forest.base.push_back(static_cast<double>(b));
    }
    const Json* trees = view_.list(root, "", "trees");
    if (trees == nullptr) return;
    if (trees->empty()) view_.error("E0521", "/trees", "a model without trees decides nothing");
    for (std::size_t i = 0; i < trees->size() && !view_.failed(); ++i) {
      const std::string path = fmt::format("/trees/{}", i);
      view_.check_keys((*trees)[i], path, {"score", "nodes"});
      const auto score = view_.whole((*trees)[i], path, "score", 0, model_.scores - 1, 0);
      const Json* list = view_.list((*trees)[i], path, "nodes");
      if (list == nullptr) return;
      std::vector<Node> nodes;
      for (std::size_t n = 0; n < list->size() && !view_.failed(); ++n) {
        nodes.push_back(read_node((*list)[n], fmt::format("{}/nodes/{}", path, n), static_cast<int>(list->size())));
      }
      if (view_.failed()) return;
      int fault = 0;
      auto ordered = order_nodes(nodes, 0, fault);
      if (!ordered) {
        view_.error(
            "E0522", path + "/nodes",
            nodes.empty() ? std::string("a tree has a node at least") : fmt::format("node {} is reached twice", fault));
        return;
      }
      if (ordered->size() != nodes.size()) {
        view_.error("E0522", path + "/nodes",
                    fmt::format("{} of {} nodes are never reached", nodes.size() - ordered->size(), nodes.size()));
        return;
      }
      model_.forest.trees.push_back({static_cast<int>(score), std::move(*ordered)});
    }
  }

  Node read_node(const Json& json, const std::string& path, int size) {
    Node node;
    if (json.is_object() && json.contains("leaf")) {
      view_.check_keys(json, path, {"leaf"});
      node.leaf = true;
      node.value = static_cast<double>(view_.whole(json, path, "leaf", -kMaxWeight, kMaxWeight));
      return node;
    }
    view_.check_keys(json, path, {"feature", "less", "at_most", "in", "missing", "left", "right"});
    const auto count = static_cast<std::int64_t>(model_.features.size());
    const Json* feature = json.is_object() && json.contains("feature") ? &json["feature"] : nullptr;
    if (feature != nullptr && feature->is_string()) {
      const auto found = std::find_if(model_.features.begin(), model_.features.end(), [&](const Feature& f) {
        return f.name == feature->get_ref<const std::string&>();
      });
      if (found == model_.features.end()) {
        view_.error("E0523", path + "/feature", "there is no feature of that name");
        return node;
      }
      node.feature = static_cast<int>(found - model_.features.begin());
    } else if (feature != nullptr && feature->is_number_integer()) {
      const auto index = feature->get<std::int64_t>();
      if (index < 0 || index >= count) {
        view_.error("E0523", path + "/feature", fmt::format("the test reads feature {}, there are {}", index, count));
        return node;
      }
      node.feature = static_cast<int>(index);
    } else {
      view_.error("E0521", path, "a node has a `leaf`, or a `feature` by name or number");
      return node;
    }
    const int tests =
        (json.contains("less") ? 1 : 0) + (json.contains("at_most") ? 1 : 0) + (json.contains("in") ? 1 : 0);
    if (tests != 1) {
      view_.error("E0521", path, "a test has one of `less`, `at_most`, `in`");
      return node;
    }
    bool zero_left = false;
    if (json.contains("in")) {
      node.categorical = true;
      for (const std::int64_t category : view_.wholes(json, path, "in", -1)) {
        if (category < 0 || category >= static_cast<std::int64_t>(kNoBound)) {
          view_.error("E0526", path + "/in", fmt::format("{} is no value of a feature", category));
          return node;
        }
        node.categories.push_back(static_cast<std::uint64_t>(category));
      }
      std::sort(node.categories.begin(), node.categories.end());
      zero_left = !node.categories.empty() && node.categories[0] == 0;
    } else {
      const bool less = json.contains("less");
      const auto limit = static_cast<std::int64_t>(kNoBound);
      const auto bound = view_.whole(json, path, less ? "less" : "at_most", -limit, limit) + (less ? 0 : 1);
      node.high = static_cast<std::uint64_t>(std::clamp<std::int64_t>(bound, 0, limit));
      zero_left = node.high > 0;
    }
    node.missing_left = zero_left;  // unless said, a missing value counts as 0
    if (json.contains("missing")) {
      const std::string side = view_.text(json, path, "missing").value_or("left");
      if (side != "left" && side != "right") {
        view_.error("E0521", path + "/missing", "a missing value goes `left` or `right`");
      }
      node.missing_left = side == "left";
    }
    node.left = static_cast<int>(view_.whole(json, path, "left", 0, size - 1));
    node.right = static_cast<int>(view_.whole(json, path, "right", 0, size - 1));
    return node;
  }

  void read_layers(const Json& root) {
    const Json* layers = view_.list(root, "", "layers");
    if (layers == nullptr) return;
    if (layers->empty() || layers->size() > at(kMaxLayers)) {
      view_.error("E0527", "/layers", fmt::format("a network has 1 to {} layers", kMaxLayers));
    }
    for (std::size_t i = 0; i < layers->size() && !view_.failed(); ++i) {
      const std::string path = fmt::format("/layers/{}", i);
      view_.check_keys((*layers)[i], path, {"weights", "scale", "bias", "activation"});
      read_layer((*layers)[i], path, "weights", "scale", i + 1 == layers->size());
    }
  }

  /// Inputs of the next layer.
  int width() const {
    return model_.layers.empty() ? static_cast<int>(model_.features.size()) : model_.layers.back().outputs();
  }

  void read_layer(const Json& json, const std::string& path, const char* weights, const char* scale, bool last) {
    Layer layer;
    const Json* rows = view_.list(json, path, weights);
    if (rows == nullptr) return;
    const std::string own = spec::child_pointer(path, weights);
    if (rows->empty() || rows->size() > at(kMaxOutputs)) {
      view_.error("E0527", own, fmt::format("a layer has 1 to {} outputs", kMaxOutputs));
    }
    for (std::size_t o = 0; o < rows->size() && !view_.failed(); ++o) {
      layer.weights.push_back(read_row((*rows)[o], spec::child_pointer(own, std::to_string(o))));
    }
    if (view_.failed()) return;
    const int outputs = layer.outputs();
    std::vector<std::int64_t> exponents(at(outputs));
    if (json.contains(scale)) {
      exponents =
          json[scale].is_array()
              ? view_.wholes(json, path, scale, outputs)
              : std::vector<std::int64_t>(at(outputs), view_.whole(json, path, scale, -kMaxExponent, kMaxExponent));
    }
    for (const std::int64_t e : exponents) {
      if (e < -kMaxExponent || e > kMaxExponent) {
        view_.error("E0528", spec::child_pointer(path, scale),
                    fmt::format("exponents are from {} to {}", -kMaxExponent, kMaxExponent));
        return;
      }
    }
    layer.bias.assign(at(outputs), 0);
    if (json.contains("bias")) layer.bias = view_.wholes(json, path, "bias", outputs);
    for (const std::int64_t b : layer.bias) {
      if (b < -kMaxWeight || b > kMaxWeight) view_.error("E0528", path + "/bias", "a bias is at most 2^44");
    }
    if (json.contains("activation")) {
      read_activation(layer, json, path, exponents);
    } else if (!last) {
      view_.error("E0521", path, "`activation` is missing").note("only the last layer may give its sums as they are");
    } else {
      layer.linear = true;
      const std::int64_t least = *std::min_element(exponents.begin(), exponents.end());
      for (const std::int64_t e : exponents) layer.shift.push_back(static_cast<int>(e - least));
    }
    if (!view_.failed()) finish_layer(std::move(layer), path);
  }

  std::vector<std::int64_t> read_row(const Json& row, const std::string& path) {
    std::vector<std::int64_t> r;
    if (row.is_string()) {
      for (const char c : row.get_ref<const std::string&>()) {
        if (c != '+' && c != '-' && c != '0') {
          view_.error("E0528", path, "a row of ternary weights is written with +, - and 0");
          return r;
        }
        r.push_back(c == '+' ? 1 : c == '-' ? -1 : 0);
      }
    } else if (row.is_array()) {
      for (const Json& w : row) {
        if (!w.is_number_integer() || w.get<double>() > static_cast<double>(kMaxWeight) ||
            w.get<double>() < -static_cast<double>(kMaxWeight)) {
          view_.error("E0528", spec::child_pointer(path, std::to_string(r.size())),
                      "weights are whole numbers of at most 2^44");
          return r;
        }
        r.push_back(w.get<std::int64_t>());
      }
    } else {
      view_.error("E0521", path, "a row of weights is a list of numbers or a string of +, - and 0");
      return r;
    }
    if (static_cast<int>(r.size()) != width()) {
      view_.error("E0527", path, fmt::format("the row has {} weights for {} inputs", r.size(), width()));
    }
    return r;
  }

  void read_activation(Layer& layer, const Json& json, const std::string& parent,
                       const std::vector<std::int64_t>& exponents) {
    const Json* activation = view_.object(json, parent, "activation");
    if (activation == nullptr) return;
    const std::string path = parent + "/activation";
    // The export of a quantiser names the fraction frac_bits and says that relu is unsigned.
    if (export_) {
      view_.check_keys(*activation, path, {"type", "bits", "frac_bits", "rounding", "overflow", "signed"});
      const bool is_signed = view_.whole(*activation, path, "signed", 0, 1, 0) != 0;
      if (is_signed) view_.error("E0528", path + "/signed", "a signed quantiser is not read from an export");
    } else {
      view_.check_keys(*activation, path, {"type", "bits", "fraction_bits", "rounding", "overflow"});
    }
    const auto word = [&](const char* key, std::initializer_list<std::string_view> words) {
      const std::string text = view_.text(*activation, path, key).value_or(std::string(*words.begin()));
      const auto found = std::find(words.begin(), words.end(), text);
      if (found == words.end()) {
        view_.error(
            "E0528", spec::child_pointer(path, key),
            fmt::format("`{}` is none of {}", spec::printable(spec::shorten(text, 40)), fmt::join(words, ", ")));
        return 0;
      }
      return static_cast<int>(found - words.begin());
    };
    layer.relu = word("type", {"relu", "identity"}) == 0;
    layer.bits = static_cast<int>(view_.whole(*activation, path, "bits", layer.relu ? 1 : 2, kMaxFeatureBits));
    layer.rounding = static_cast<Rounding>(word("rounding", {"floor", "half_up", "half_even"}));
    layer.overflow = static_cast<Overflow>(word("overflow", {"saturate", "wrap"}));
    const char* key = export_ ? "frac_bits" : "fraction_bits";
    const auto fraction = view_.whole(*activation, path, key, 0, kMaxExponent, 0);
    for (const std::int64_t e : exponents) layer.shift.push_back(static_cast<int>(e + fraction) - fraction_);
    fraction_ = static_cast<int>(fraction);
  }

  /// One output with float weights, taken exactly: integers over one power of two.
  void read_float_layer(const Json& json, const std::string& path, bool last) {
    const auto weights = view_.numbers(json, path, "weights_float", width());
    const double bias =
        json.contains("bias_float") && json["bias_float"].is_number() ? json["bias_float"].get<double>() : 0;
    if (!last) view_.error("E0527", path, "only the last layer may have float weights");
    if (view_.failed()) return;
    int bits = 0;
    const auto whole = [](double v) { return v == std::floor(v); };
    for (double w : weights) {
      for (int n = 0; n <= 44 && !whole(std::ldexp(w, n)); ++n) bits = std::max(bits, n + 1);
    }
    for (int n = 0; n <= 44 && !whole(std::ldexp(bias, n)); ++n) bits = std::max(bits, n + 1 - fraction_);
    Layer layer;
    layer.linear = true;
    layer.shift = {0};
    layer.weights.emplace_back();
    double greatest = std::ldexp(std::abs(bias), bits + fraction_);
    for (const double w : weights) greatest = std::max(greatest, std::ldexp(std::abs(w), bits));
    if (bits > 44 || greatest > static_cast<double>(kMaxWeight)) {
      view_.error("E0525", path + "/weights_float",
                  "the weights differ too much in size to be integers over one exponent");
      return;
    }
    for (const double w : weights) layer.weights[0].push_back(static_cast<std::int64_t>(std::ldexp(w, bits)));
    layer.bias = {static_cast<std::int64_t>(std::ldexp(bias, bits + fraction_))};
    finish_layer(std::move(layer), path);
  }

  /// Sums must be numbers that the hardware and the evaluator can hold.
  void finish_layer(Layer layer, const std::string& path) {
    double input = 1;
    if (model_.layers.empty()) {
      for (const Feature& f : model_.features) input = std::max(input, std::ldexp(1.0, f.bits));
    } else {
      input = std::ldexp(1.0, model_.layers.back().bits);
    }
    for (int o = 0; o < layer.outputs(); ++o) {
      double sum = std::abs(static_cast<double>(layer.bias[at(o)]));
      for (const std::int64_t w : layer.weights[at(o)]) sum += std::abs(static_cast<double>(w)) * input;
      if (std::ldexp(sum, std::max(layer.shift[at(o)], 0)) > std::ldexp(1.0, kMaxScoreBits - 1)) {
        view_.error("E0528", path, fmt::format("the sum of output {} may need more than {} bits", o, kMaxScoreBits));
        return;
      }
    }
    model_.layers.push_back(std::move(layer));
  }

  void read_decision(const Json& root) {
    if (model_.network()) model_.scores = model_.layers.back().outputs();
    std::string decision = model_.scores > 1 ? "greatest" : "thresholds";
    if (root.contains("decision")) decision = view_.text(root, "", "decision").value_or(decision);
    if (decision != "thresholds" && decision != "greatest" && decision != "value") {
      view_.error("E0529", "/decision",
                  "a decision is by `thresholds`, the `greatest` score, or the `value` of the score");
      return;
    }
    if ((decision == "greatest") != (model_.scores > 1)) {
      view_.error("E0529", root.contains("decision") ? "/decision" : "",
                  fmt::format("a decision by {} does not go with {} score{}", decision, model_.scores,
                              model_.scores == 1 ? "" : "s"));
      return;
    }
    if (model_.scores > kMaxClasses) {
      view_.error("E0529", "", fmt::format("there are {} scores, at most {} classes", model_.scores, kMaxClasses));
      return;
    }
    if (root.contains("thresholds")) {
      if (decision != "thresholds") view_.error("E0529", "/thresholds", "only a decision by thresholds has thresholds");
      const auto values = view_.wholes(root, "", "thresholds", -1);
      model_.thresholds.assign(values.begin(), values.end());
    }
    if (decision == "thresholds") {
      model_.classes = static_cast<int>(model_.thresholds.size()) + 1;
      if (model_.thresholds.empty() || model_.classes > kMaxClasses ||
          !std::is_sorted(model_.thresholds.begin(), model_.thresholds.end(), std::less_equal<>())) {
        view_.error("E0529", "/thresholds", fmt::format("1 to {} thresholds in ascending order", kMaxClasses - 1));
      }
      return;
    }
    if (decision == "greatest") {
      model_.decision = Decision::greatest;
      model_.classes = model_.scores;
      return;
    }
    model_.decision = Decision::value;
    read_value_classes(root);
  }

  /// Every value that the score may have is a class.
  void read_value_classes(const Json& root) {
    model_.classes = static_cast<int>(view_.whole(root, "", "classes", 2, kMaxClasses));
    double least = 0;
    double most = 0;
    if (model_.network()) {
      const Layer& layer = model_.layers.back();
      most = layer.linear || !layer.relu ? kMaxClasses : std::ldexp(1.0, layer.bits) - 1;
    } else {
      least = most = model_.forest.base[0];
      for (const Tree& tree : model_.forest.trees) {
        double low = INFINITY;
        double high = -INFINITY;
        for (const Node& node : tree.nodes) {
          if (!node.leaf) continue;
          low = std::min(low, node.value);
          high = std::max(high, node.value);
        }
        least += low;
        most += high;
      }
    }
    if (least < 0 || most >= model_.classes) {
      view_.error("E0529", "/classes", "the score may leave the range of the classes")
          .note(fmt::format("it may lie between {} and {}", least, most));
    }
  }

  const spec::Locator& locator_;
  JsonView view_;
  Model model_;
  bool export_ = false;  ///< the file is the export of a quantiser, not the format of docs/services-dpi.md
  int fraction_ = 0;     ///< fraction bits of the inputs of the next layer
};

}  // namespace

std::optional<Model> read_integer(const spec::Locator& locator, spec::Diagnostics& diagnostics) {
  return IntegerReader(locator, diagnostics).read();
}

std::optional<Model> read_ternary_export(const spec::Locator& locator, spec::Diagnostics& diagnostics) {
  return IntegerReader(locator, diagnostics).read_export();
}

}  // namespace rocegen::model
