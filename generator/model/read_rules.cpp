// The rules that IIsy's training writes (tree.txt): lists of thresholds by feature, then one line a leaf,
//   when src>11.0 and dst<=6039.0  then 0;
// in the order of a walk through the tree, so that the tree can be built again.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "generator/model/read_support.h"
#include "generator/spec/text.h"

namespace rocegen::model {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

struct Condition {
  int feature = 0;
  double threshold = 0;
  bool left = false;  ///< "<=", else ">"
};

struct Rule {
  std::vector<Condition> conditions;
  int result = 0;
  int line = 0;
};

class RuleReader {
 public:
  RuleReader(const std::string& file, std::string_view text, spec::Diagnostics& diagnostics)
      : file_(file), text_(text), diagnostics_(diagnostics) {}

  std::optional<Model> read() {
    model_.format = "IIsy rules";
    model_.decision = Decision::value;
    read_lines();
    if (rules_.empty()) error("E0521", 1, "there is no rule");
    if (diagnostics_.has_errors()) return std::nullopt;
    model_.classes = 0;
    for (const Rule& rule : rules_) model_.classes = std::max(model_.classes, rule.result + 1);
    Tree tree;
    build(tree, 0, rules_.size(), 0);
    if (diagnostics_.has_errors()) return std::nullopt;
    model_.forest.base = {0};
    model_.forest.trees.push_back(std::move(tree));
    return std::move(model_);
  }

 private:
  void read_lines() {
    static const std::regex list(R"(\s*([A-Za-z_]\w*)\s*=\s*\[.*\];\s*)");
    static const std::regex rule(R"(\s*when\s+(.*?)\s+then\s+([0-9]+)\s*;\s*)");
    static const std::regex condition(R"(([A-Za-z_]\w*)\s*(<=|>)\s*([-+0-9.eE]+))");
    int line = 0;
    for (std::size_t i = 0; i < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', i), text_.size());
      const std::string row(text_.substr(i, end - i));
      lines_.push_back(row);
      ++line;
      i = end + 1;
      std::smatch match;
      if (row.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (std::regex_match(row, match, list)) {
        model_.features.push_back({match[1], 0, false});
      } else if (std::regex_match(row, match, rule)) {
        Rule r;
        r.line = line;
        r.result = match[2].length() > 3 ? kMaxClasses : std::stoi(match[2]);
        if (r.result >= kMaxClasses) {
          error("E0529", line, fmt::format("classes are numbered from 0 to {}", kMaxClasses - 1));
        }
        std::string rest = match[1];
        while (!rest.empty()) {
          std::smatch part;
          if (!std::regex_search(rest, part, condition, std::regex_constants::match_continuous)) {
            error("E0530", line, fmt::format("`{}` is no condition", spec::printable(spec::shorten(rest, 40))))
                .help("write feature<=number or feature>number");
            break;
          }
          add_condition(r, part, line);
          rest = part.suffix();
          if (rest.empty()) break;
          static const std::regex conjunction(R"(\s+and\s+)");
          std::smatch word;
          if (!std::regex_search(rest, word, conjunction, std::regex_constants::match_continuous)) {
            error("E0530", line, "conditions are joined by `and`");
            break;
          }
          rest = word.suffix();
        }
        rules_.push_back(std::move(r));
      } else {
        error("E0530", line, "a line is a list of thresholds or a rule").help("write when CONDITIONS then CLASS;");
      }
    }
  }

  void add_condition(Rule& rule, const std::smatch& part, int line) {
    const auto feature = std::find_if(model_.features.begin(), model_.features.end(),
                                      [&](const Feature& f) { return f.name == part[1]; });
    if (feature == model_.features.end()) {
      error("E0523", line, fmt::format("the feature `{}` is not listed above", part[1].str()));
      return;
    }
    char* end = nullptr;
    const std::string number = part[3];
    const double threshold = std::strtod(number.c_str(), &end);
    if (*end != '\0' || !std::isfinite(threshold)) {
      error("E0525", line, fmt::format("`{}` is no finite number", number));
      return;
    }
    rule.conditions.push_back({static_cast<int>(feature - model_.features.begin()), threshold, part[2] == "<="});
  }

  /// The subtree of rules first..end, which agree in their first `depth` conditions.
  int build(Tree& tree, std::size_t first, std::size_t end, std::size_t depth) {
    const int index = static_cast<int>(tree.nodes.size());
    tree.nodes.emplace_back();
    if (end == first + 1 && rules_[first].conditions.size() == depth) {
      tree.nodes[at(index)].leaf = true;
      tree.nodes[at(index)].value = rules_[first].result;
      return index;
    }
    const auto condition = [&](std::size_t r) -> const Condition* {
      return rules_[r].conditions.size() > depth ? &rules_[r].conditions[depth] : nullptr;
    };
    const Condition* test = condition(first);
    std::size_t middle = first;
    for (std::size_t r = first; r < end; ++r) {
      const Condition* c = condition(r);
      const bool same =
          test != nullptr && c != nullptr && c->feature == test->feature && c->threshold == test->threshold;
      if (!same || (c->left && middle != r)) {
        error("E0522", rules_[r].line, "the rule does not continue the tree of those above");
        return index;
      }
      if (c->left) ++middle;
    }
    if (middle == first || middle == end) {
      error("E0522", rules_[first].line, "the other side of the last condition has no rule");
      return index;
    }
    Node node;
    node.feature = test->feature;
    node.high = first_right(test->threshold, true, false);
    node.missing_left = node.high > 0;  // the rules know no missing values: they count as 0
    node.left = build(tree, first, middle, depth + 1);
    node.right = build(tree, middle, end, depth + 1);
    tree.nodes[at(index)] = std::move(node);
    return index;
  }

  spec::Diagnostic& error(std::string_view code, int line, std::string message) {
    spec::Place place = spec::file_place(file_);
    place.line = line;
    place.column = 1;
    place.source = lines_[at(line - 1)].substr(0, 80);
    place.source_column = 1;
    place.length = 1;
    return diagnostics_.error(code, place, std::move(message));
  }

  std::string file_;
  std::string_view text_;
  spec::Diagnostics& diagnostics_;
  std::vector<std::string> lines_;
  std::vector<Rule> rules_;
  Model model_;
};

}  // namespace

std::optional<Model> read_rules(const std::string& file, std::string_view text, spec::Diagnostics& diagnostics) {
  return RuleReader(file, text, diagnostics).read();
}

}  // namespace rocegen::model
