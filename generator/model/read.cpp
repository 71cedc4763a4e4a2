#include "generator/model/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/model/read_support.h"
#include "generator/spec/files.h"
#include "generator/spec/text.h"

namespace rocegen::model {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

const char* kind_of(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  if (json.is_string()) return "a string";
  if (json.is_boolean()) return "true or false";
  if (json.is_null()) return "null";
  return json.is_number_float() ? "a fraction" : "a number";
}

/// A whole number, also one that is written as 3.0, as string, or as true.
std::optional<std::int64_t> whole_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) {
    const double value = json.get<double>();
    if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  }
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    const Json inner = Json::parse(text, nullptr, false);
    if (inner.is_number()) return whole_of(inner);
  }
  return std::nullopt;
}

}  // namespace

const Json* JsonView::member(const Json& from, const std::string& pointer, const char* key, bool needed) {
  if (!from.is_object()) {
    error("E0521", pointer, fmt::format("an object with `{}` is expected here, not {}", key, kind_of(from)));
    return nullptr;
  }
  const auto it = from.find(key);
  if (it != from.end()) return &*it;
  if (needed) error("E0521", pointer, fmt::format("`{}` is missing", key));
  return nullptr;
}

const Json* JsonView::object(const Json& from, const std::string& pointer, const char* key) {
  const Json* value = member(from, pointer, key);
  if (value == nullptr || value->is_object()) return value;
  error("E0521", spec::child_pointer(pointer, key), fmt::format("`{}` is an object, not {}", key, kind_of(*value)));
  return nullptr;
}

const Json* JsonView::list(const Json& from, const std::string& pointer, const char* key) {
  const Json* value = member(from, pointer, key);
  if (value == nullptr || value->is_array()) return value;
  error("E0521", spec::child_pointer(pointer, key), fmt::format("`{}` is a list, not {}", key, kind_of(*value)));
  return nullptr;
}

std::optional<std::string> JsonView::text(const Json& from, const std::string& pointer, const char* key) {
  const Json* value = member(from, pointer, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  error("E0521", spec::child_pointer(pointer, key), fmt::format("`{}` is a string, not {}", key, kind_of(*value)));
  return std::nullopt;
}

std::int64_t JsonView::whole(const Json& from, const std::string& pointer, const char* key, std::int64_t least,
                             std::int64_t most, std::optional<std::int64_t> standard) {
  const Json* value = member(from, pointer, key, !standard);
  if (value == nullptr) return standard.value_or(least);
  const auto number = whole_of(*value);
  if (number && *number >= least && *number <= most) return *number;
  error("E0521", spec::child_pointer(pointer, key),
        fmt::format("`{}` is a whole number from {} to {}, not {}", key, least, most,
                    number ? fmt::format("{}", *number) : kind_of(*value)));
  return least;
}

std::vector<std::int64_t> JsonView::wholes(const Json& from, const std::string& pointer, const char* key, int size) {
  std::vector<std::int64_t> r;
  const Json* values = list(from, pointer, key);
  const std::string own = spec::child_pointer(pointer, key);
  if (values != nullptr && size >= 0 && values->size() != at(size)) {
    error("E0521", own, fmt::format("`{}` has {} entries, not {}", key, values->size(), size));
  } else if (values != nullptr) {
    for (const Json& value : *values) {
      const auto number = whole_of(value);
      if (!number) {
        error("E0521", spec::child_pointer(own, std::to_string(r.size())),
              fmt::format("entries of `{}` are whole numbers, not {}", key, kind_of(value)));
        break;
      }
      r.push_back(*number);
    }
  }
  if (size >= 0) r.resize(at(size));
  return r;
}

std::vector<double> JsonView::numbers(const Json& from, const std::string& pointer, const char* key, int size) {
  std::vector<double> r;
  const Json* values = list(from, pointer, key);
  const std::string own = spec::child_pointer(pointer, key);
  if (values != nullptr && size >= 0 && values->size() != at(size)) {
    error("E0521", own, fmt::format("`{}` has {} entries, not {}", key, values->size(), size));
  } else if (values != nullptr) {
    for (const Json& value : *values) {
      if (!value.is_number() || !std::isfinite(value.get<double>())) {
        error("E0525", spec::child_pointer(own, std::to_string(r.size())),
              fmt::format("entries of `{}` are finite numbers, not {}", key, kind_of(value)));
        break;
      }
      r.push_back(value.get<double>());
    }
  }
  if (size >= 0) r.resize(at(size));
  return r;
}

void JsonView::check_keys(const Json& from, const std::string& pointer,
                          std::initializer_list<std::string_view> allowed) {
  if (!from.is_object()) return;
  const std::vector<std::string> words(allowed.begin(), allowed.end());
  for (const auto& [key, value] : from.items()) {
    if (std::find(words.begin(), words.end(), key) != words.end()) continue;
    auto& d = diagnostics_.error("E0521", locator_.key(spec::child_pointer(pointer, key)),
                                 fmt::format("unknown key `{}`", spec::printable(spec::shorten(key, 40))));
    const std::string near = spec::nearest(key, words);
    if (near.empty()) {
      d.help(fmt::format("use one of {}", fmt::join(words, ", ")));
    } else {
      d.help(fmt::format("did you mean `{}`?", near));
    }
  }
}

std::uint64_t first_right(double threshold, bool or_equal, bool float32) {
  const auto left = [&](std::uint64_t x) {
    const double value = float32 ? static_cast<double>(static_cast<float>(x)) : static_cast<double>(x);
    return or_equal ? value <= threshold : value < threshold;
  };
  // The test is monotonous: rounding is.
  std::uint64_t low = 0;
  std::uint64_t high = kNoBound;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (left(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<std::vector<Node>> order_nodes(const std::vector<Node>& nodes, int root, int& fault) {
  const int size = static_cast<int>(nodes.size());
  std::vector<bool> seen(nodes.size());
  std::vector<int> order;
  std::vector<int> place(nodes.size());
  std::vector<int> waiting = {root};
  while (!waiting.empty()) {
    const int index = waiting.back();
    waiting.pop_back();
    if (index < 0 || index >= size || seen[at(index)]) {
      fault = index;
      return std::nullopt;
    }
    seen[at(index)] = true;
    place[at(index)] = static_cast<int>(order.size());
    order.push_back(index);
    if (nodes[at(index)].leaf) continue;
    waiting.push_back(nodes[at(index)].right);
    waiting.push_back(nodes[at(index)].left);
  }
  std::vector<Node> r;
  for (const int index : order) {
    r.push_back(nodes[at(index)]);
    if (r.back().leaf) continue;
    r.back().left = place[at(r.back().left)];
    r.back().right = place[at(r.back().right)];
  }
  return r;
}

void finish_features(Model& model) {
  for (std::size_t i = 0; i < model.features.size(); ++i) {
    if (model.features[i].name.empty()) model.features[i].name = fmt::format("f{}", i);
  }
  for (const Tree& tree : model.forest.trees) {
    for (const Node& node : tree.nodes) {
      if (!node.leaf) model.features[at(node.feature)].used = true;
    }
  }
  if (!model.network()) return;
  for (std::size_t i = 0; i < model.features.size(); ++i) {
    for (const auto& row : model.layers[0].weights) {
      if (row[i] != 0) model.features[i].used = true;
    }
  }
}

std::optional<Model> read_model_text(std::string file, std::string text, spec::Diagnostics& diagnostics) {
  spec::Diagnostics own;
  std::optional<Model> model;
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (text.find('\0') != std::string::npos) {
    own.error("E0520", spec::file_place(file), "this is a binary file")
        .note("XGBoost writes its own binary format unless the file's name ends in .json")
        .help("save the model with booster.save_model(\"model.json\")");
  } else if (start != std::string::npos && text[start] == '{') {
    spec::Locator locator(std::move(file), std::move(text));
    if (locator.parse(own) && !own.has_errors()) {
      const Json& root = locator.root();
      const auto ternary = [&] {
        const auto layers = root.find("layers");
        return layers != root.end() && layers->is_array() && !layers->empty() && layers->front().is_object() &&
               layers->front().contains("weights_ternary");
      };
      if (root.contains("learner")) {
        model = read_xgboost(locator, own);
      } else if (root.contains("format")) {
        model = read_integer(locator, own);
      } else if (ternary()) {
        model = read_ternary_export(locator, own);
      } else {
        own.error("E0520", locator.value(""), "this is no model that is known here")
            .note("XGBoost has a member \"learner\", the integer format a member \"format\"")
            .help("add \"format\": \"rocegen-model\" if it is the integer format of docs/services-dpi.md");
      }
    }
  } else if (text.substr(start == std::string::npos ? 0 : start).starts_with("tree\n") ||
             text.substr(start == std::string::npos ? 0 : start).starts_with("tree\r\n")) {
    model = read_lightgbm(file, text, own);
  } else if (text.find(" when ") != std::string::npos && text.find(" then ") != std::string::npos) {
    model = read_rules(file, text, own);
  } else {
    own.error("E0520", spec::file_place(file), "this is no model that is known here")
        .help("give XGBoost JSON, LightGBM text, or the integer JSON of docs/services-dpi.md");
  }
  const bool good = model && !own.has_errors();
  diagnostics.append(own);
  if (!good) return std::nullopt;
  finish_features(*model);
  return model;
}

std::optional<Model> read_model(const std::string& path, spec::Diagnostics& diagnostics) {
  auto text = spec::read_text_file(path, diagnostics, kMaxModelBytes);
  if (!text) return std::nullopt;
  return read_model_text(path, std::move(*text), diagnostics);
}

}  // namespace rocegen::model
