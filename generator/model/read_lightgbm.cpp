// LightGBM's text (src/io/tree.cpp of LightGBM): a value goes left when double(x) <= threshold, or when its category is
// in a set of bits. What a missing value does is in decision_type.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "generator/model/read_support.h"
#include "generator/spec/text.h"

namespace rocegen::model {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// "key=value" of one section, with its line.
struct Entry {
  std::string value;
  int line = 0;
};
struct Section {
  std::map<std::string, Entry, std::less<>> entries;
  int line = 0;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> r;
  std::size_t i = 0;
  while ((i = text.find_first_not_of(' ', i)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find(' ', i), text.size());
    r.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return r;
}

class LightgbmReader {
 public:
  LightgbmReader(const std::string& file, std::string_view text, spec::Diagnostics& diagnostics)
      : file_(file), text_(text), diagnostics_(diagnostics) {}

  std::optional<Model> read() {
    model_.format = "LightGBM text";
    split();
    read_head();
    if (diagnostics_.has_errors()) return std::nullopt;
    if (trees_.empty()) error("E0521", 0, "a model without trees decides nothing");
    for (std::size_t i = 0; i < trees_.size() && !diagnostics_.has_errors(); ++i) {
      read_tree(trees_[i], static_cast<int>(i) % model_.scores);
    }
    if (diagnostics_.has_errors()) return std::nullopt;
    return std::move(model_);
  }

 private:
  /// The text as sections: the head, then the trees up to what follows them.
  void split() {
    Section* section = &head_;
    int line = 0;
    for (std::size_t i = 0; i < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', i), text_.size());
      std::string_view row = text_.substr(i, end - i);
      if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
      lines_.emplace_back(row);
      ++line;
      i = end + 1;
      if (row == "end of trees" || row == "feature importances:" || row == "parameters:") break;
      const std::size_t equal = row.find('=');
      if (row.starts_with("Tree=")) {
        trees_.push_back({});
        section = &trees_.back();
        section->line = line;
      } else if (equal != std::string_view::npos) {
        section->entries[std::string(row.substr(0, equal))] = {std::string(row.substr(equal + 1)), line};
      } else if (row == "average_output") {
        error("E0524", line, "a random forest that averages its trees is not read")
            .help("train with boosting=gbdt, whose trees add up");
      } else if (!row.empty() && row != "tree") {
        error("E0530", line, "a line is key=value");
      }
    }
  }

  spec::Diagnostic& error(std::string_view code, int line, std::string message) {
    spec::Place place = spec::file_place(file_);
    if (line > 0) {
      place.line = line;
      place.column = 1;
      place.source = lines_[at(line - 1)].substr(0, 80);
      place.source_column = 1;
      place.length = 1;
    }
    return diagnostics_.error(code, place, std::move(message));
  }

  const Entry* find(const Section& section, const char* key, bool needed = true) {
    const auto it = section.entries.find(key);
    if (it != section.entries.end()) return &it->second;
    if (needed) error("E0521", section.line, fmt::format("`{}` is missing", key));
    return nullptr;
  }

  /// `size` numbers, or any if negative.
  std::vector<double> numbers(const Section& section, const char* key, int size) {
    std::vector<double> r;
    if (const Entry* entry = find(section, key, size != 0)) {
      for (const std::string& word : words_of(entry->value)) {
        char* end = nullptr;
        r.push_back(std::strtod(word.c_str(), &end));
        if (*end != '\0' || !std::isfinite(r.back())) {
          error("E0525", entry->line,
                fmt::format("`{}` is no finite number", spec::printable(spec::shorten(word, 40))));
          break;
        }
      }
      if (size >= 0 && r.size() != at(size) && !diagnostics_.has_errors()) {
        error("E0521", entry->line, fmt::format("`{}` has {} entries, not {}", key, r.size(), size));
      }
    }
    if (size >= 0) r.resize(at(size));
    return r;
  }

  std::vector<std::int64_t> wholes(const Section& section, const char* key, int size) {
    std::vector<std::int64_t> r;
    for (const double value : numbers(section, key, size)) {
      if (value != std::floor(value) || std::abs(value) > 4294967295.0) {
        error("E0521", section.entries.at(key).line, fmt::format("entries of `{}` are whole numbers", key));
        return std::vector<std::int64_t>(at(std::max(size, 0)));
      }
      r.push_back(static_cast<std::int64_t>(value));
    }
    return r;
  }

  std::int64_t whole(const Section& section, const char* key, std::int64_t least, std::int64_t most,
                     std::optional<std::int64_t> standard) {
    if (find(section, key, !standard) == nullptr) return standard.value_or(least);
    const auto values = wholes(section, key, 1);
    if (values[0] >= least && values[0] <= most) return values[0];
    error("E0521", section.entries.at(key).line,
          fmt::format("`{}` is from {} to {}, not {}", key, least, most, values[0]));
    return least;
  }

  void read_head() {
    const auto features = whole(head_, "max_feature_idx", 0, (1 << 20) - 1, std::nullopt) + 1;
    model_.features.resize(static_cast<std::size_t>(features));
    model_.scores = static_cast<int>(whole(head_, "num_tree_per_iteration", 1, kMaxClasses, 1));
    if (model_.scores > 1) {
      model_.decision = Decision::greatest;
      model_.classes = model_.scores;
    }
    model_.forest.base.assign(at(model_.scores), 0);
    if (const Entry* objective = find(head_, "objective", false)) {
      const auto words = words_of(objective->value);
      if (!words.empty()) model_.objective = words[0];
    }
    if (const Entry* names = find(head_, "feature_names", false)) {
      const auto words = words_of(names->value);
      if (words.size() != model_.features.size()) {
        error("E0523", names->line, fmt::format("{} names for {} features", words.size(), features));
        return;
      }
      for (std::size_t i = 0; i < words.size(); ++i) model_.features[i].name = words[i];
    }
  }

  void read_tree(const Section& section, int score) {
    const int leaves = static_cast<int>(whole(section, "num_leaves", 1, 1 << 20, std::nullopt));
    if (whole(section, "is_linear", 0, 1, 0) != 0) {
      error("E0524", section.entries.at("is_linear").line, "leaves with a linear model are not read")
          .help("train with linear_tree=false");
      return;
    }
    const int tests = leaves - 1;
    const auto values = numbers(section, "leaf_value", leaves);
    const auto features = wholes(section, "split_feature", tests);
    const auto thresholds = numbers(section, "threshold", tests);
    const auto types = wholes(section, "decision_type", tests);
    const auto left = wholes(section, "left_child", tests);
    const auto right = wholes(section, "right_child", tests);
    const int sets = static_cast<int>(whole(section, "num_cat", 0, tests, 0));
    const auto bounds = wholes(section, "cat_boundaries", sets > 0 ? sets + 1 : 0);
    const auto bits = wholes(section, "cat_threshold", sets > 0 ? -1 : 0);
    if (diagnostics_.has_errors()) return;

    // Tests first, then leaves: a child c < 0 is leaf -c - 1.
    std::vector<Node> nodes(at(tests + leaves));
    const auto child = [&](std::int64_t c) {
      const std::int64_t index = c < 0 ? tests - c - 1 : c;
      return index < tests + leaves && (c < 0 || c < tests) ? static_cast<int>(index) : -1;
    };
    for (int i = 0; i < tests; ++i) {
      Node& node = nodes[at(i)];
      if (features[at(i)] < 0 || features[at(i)] >= static_cast<std::int64_t>(model_.features.size())) {
        error("E0523", section.entries.at("split_feature").line,
              fmt::format("a test reads feature {}, there are {}", features[at(i)], model_.features.size()));
        return;
      }
      node.feature = static_cast<int>(features[at(i)]);
      node.left = child(left[at(i)]);
      node.right = child(right[at(i)]);
      const std::int64_t type = types[at(i)];
      const std::int64_t missing = type >> 2 & 3;
      if (type < 0 || type > 15 || missing == 3) {
        error("E0524", section.entries.at("decision_type").line, fmt::format("unknown decision_type {}", type));
        return;
      }
      if ((type & 1) != 0) {
        if (!set_categories(node, section, thresholds[at(i)], bounds, bits)) return;
        continue;
      }
      set_range(node, first_right(thresholds[at(i)], true, false), missing, (type & 2) != 0);
    }
    for (int i = 0; i < leaves; ++i) {
      nodes[at(tests + i)].leaf = true;
      nodes[at(tests + i)].value = values[at(i)];
    }
    int fault = 0;
    auto ordered = order_nodes(nodes, tests > 0 ? 0 : tests, fault);
    if (!ordered) {
      error("E0522", section.line,
            fault < 0 ? std::string("a test of the tree lacks a child")
                      : fmt::format("{} {} of the tree is reached twice", fault < tests ? "node" : "leaf",
                                    fault < tests ? fault : fault - tests));
      return;
    }
    model_.forest.trees.push_back({score, std::move(*ordered)});
  }

  /// Tree::NumericalDecision: missing type 0 reads a missing value as 0, 1 takes both 0 and missing to the default
  /// side, 2 a missing value only.
  static void set_range(Node& node, std::uint64_t high, std::int64_t missing, bool default_left) {
    node.high = high;
    if (missing == 0) {
      node.missing_left = high > 0;
      return;
    }
    node.missing_left = default_left;
    if (missing != 1) return;
    if (default_left) {
      node.high = std::max<std::uint64_t>(high, 1);
    } else {
      node.low = 1;
    }
  }

  /// Tree::CategoricalDecision: what is in the set goes left, all else, also a missing value, right.
  bool set_categories(Node& node, const Section& section, double number, const std::vector<std::int64_t>& bounds,
                      const std::vector<std::int64_t>& bits) {
    const int line = section.entries.at("threshold").line;
    if (number < 0 || number + 1 >= static_cast<double>(bounds.size()) || number != std::floor(number)) {
      error("E0526", line,
            fmt::format("a test names set {} of categories, there are {}", number,
                        bounds.empty() ? 0 : bounds.size() - 1));
      return false;
    }
    const std::int64_t first = bounds[static_cast<std::size_t>(number)];
    const std::int64_t end = bounds[static_cast<std::size_t>(number) + 1];
    if (first < 0 || end < first || end > static_cast<std::int64_t>(bits.size())) {
      error("E0526", line, fmt::format("set {} of categories lies outside of cat_threshold", number));
      return false;
    }
    node.categorical = true;
    for (std::int64_t w = first; w < end; ++w) {
      for (std::uint64_t b = 0; b < 32; ++b) {
        const auto word = static_cast<std::uint64_t>(bits[static_cast<std::size_t>(w)]);
        if ((word >> b & 1U) != 0) node.categories.push_back(static_cast<std::uint64_t>(w - first) * 32 + b);
      }
    }
    return true;
  }

  std::string file_;
  std::string_view text_;
  spec::Diagnostics& diagnostics_;
  std::vector<std::string> lines_;
  Section head_;
  std::vector<Section> trees_;
  Model model_;
};

}  // namespace

std::optional<Model> read_lightgbm(const std::string& file, std::string_view text, spec::Diagnostics& diagnostics) {
  return LightgbmReader(file, text, diagnostics).read();
}

}  // namespace rocegen::model
