// XGBoost's own JSON (doc/model.schema of XGBoost 1.7): a value goes left when float32(x) < threshold.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/model/read_support.h"
#include "generator/spec/text.h"

namespace rocegen::model {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// How base_score becomes a margin (ObjFunction::ProbToMargin), by the beginning of the objective's name.
enum class Link { identity, logit, log };
struct Objective {
  std::string_view name;
  Link link;
};
constexpr std::array kObjectives = {
    Objective{"binary:hinge", Link::identity},
    Objective{"binary:logistic", Link::logit},
    Objective{"binary:logitraw", Link::logit},
    Objective{"count:poisson", Link::log},
    Objective{"multi:softmax", Link::identity},
    Objective{"multi:softprob", Link::identity},
    Objective{"rank:map", Link::identity},
    Objective{"rank:ndcg", Link::identity},
    Objective{"rank:pairwise", Link::identity},
    Objective{"reg:absoluteerror", Link::identity},
    Objective{"reg:gamma", Link::log},
    Objective{"reg:linear", Link::identity},
    Objective{"reg:logistic", Link::logit},
    Objective{"reg:pseudohubererror", Link::identity},
    Objective{"reg:squarederror", Link::identity},
    Objective{"reg:tweedie", Link::log},
};

class XgboostReader {
 public:
  XgboostReader(const spec::Locator& locator, spec::Diagnostics& diagnostics)
      : locator_(locator), view_(locator, diagnostics) {}

  std::optional<Model> read() {
    model_.format = "XGBoost JSON";
    model_.forest.float32 = true;
    const Json& root = locator_.root();
    const Json* learner = view_.object(root, "", "learner");
    if (learner == nullptr) return std::nullopt;
    const std::string path = "/learner";
    read_objective(*learner, path);
    read_parameters(*learner, path);
    if (view_.failed()) return std::nullopt;
    read_names(*learner, path);
    const Json* booster = view_.object(*learner, path, "gradient_booster");
    if (booster == nullptr) return std::nullopt;
    read_booster(*booster, path + "/gradient_booster");
    if (view_.failed()) return std::nullopt;
    return std::move(model_);
  }

 private:
  void read_objective(const Json& learner, const std::string& path) {
    const Json* objective = view_.object(learner, path, "objective");
    if (objective == nullptr) return;
    model_.objective = view_.text(*objective, path + "/objective", "name").value_or("");
    const auto known = std::find_if(kObjectives.begin(), kObjectives.end(),
                                    [&](const Objective& o) { return o.name == model_.objective; });
    if (known == kObjectives.end()) {
      if (!model_.objective.empty()) {
        view_
            .error("E0524", path + "/objective/name",
                   fmt::format("the objective `{}` is not known here",
                               spec::printable(spec::shorten(model_.objective, 40))))
            .note("base_score becomes a margin by a rule of the objective");
      }
      return;
    }
    link_ = known->link;
  }

  void read_parameters(const Json& learner, const std::string& parent) {
    const Json* parameters = view_.object(learner, parent, "learner_model_param");
    if (parameters == nullptr) return;
    const std::string path = parent + "/learner_model_param";
    const auto features = view_.whole(*parameters, path, "num_feature", 1, 1 << 20);
    const auto classes = view_.whole(*parameters, path, "num_class", 0, kMaxClasses, 0);
    if (view_.whole(*parameters, path, "num_target", 0, 1 << 20, 1) > 1) {
      view_.error("E0524", path + "/num_target", "a model with several targets has no one verdict");
    }
    model_.features.resize(static_cast<std::size_t>(features));
    model_.scores = std::max(1, static_cast<int>(classes));
    if (classes > 1) {
      model_.decision = Decision::greatest;
      model_.classes = static_cast<int>(classes);
    }
    read_base(view_.text(*parameters, path, "base_score").value_or("0"), path + "/base_score");
  }

  /// "5E-1", since XGBoost 3 "[5E-1]", one number for all scores or one each.
  void read_base(const std::string& text, const std::string& pointer) {
    const Json value = Json::parse(text, nullptr, false);
    std::vector<double> base;
    for (const Json& number : value.is_array() ? value : Json::array({value})) {
      if (number.is_number()) base.push_back(static_cast<double>(static_cast<float>(number.get<double>())));
    }
    if (base.size() == 1) base.resize(at(model_.scores), base[0]);
    bool good = base.size() == at(model_.scores);
    for (double& score : base) {
      if (link_ == Link::logit) good = good && score > 0 && score < 1;
      if (link_ == Link::log) good = good && score > 0;
      good = good && std::isfinite(score);
      if (!good) break;
      const auto single = static_cast<float>(score);
      if (link_ == Link::logit) score = static_cast<double>(-std::log(1.0F / single - 1.0F));
      if (link_ == Link::log) score = static_cast<double>(std::log(single));
      if (score == 0) score = 0;  // no negative zero
    }
    if (!good) {
      view_.error("E0525", pointer,
                  fmt::format("base_score `{}` is not {}", spec::printable(spec::shorten(text, 40)),
                              link_ == Link::logit ? "a probability between 0 and 1" : "a number for every score"));
    }
    model_.forest.base = base;
  }

  void read_names(const Json& learner, const std::string& path) {
    const auto names = learner.find("feature_names");
    if (names == learner.end() || !names->is_array() || names->empty()) return;
    if (names->size() != model_.features.size()) {
      view_.error("E0523", path + "/feature_names",
                  fmt::format("{} names for {} features", names->size(), model_.features.size()));
      return;
    }
    for (std::size_t i = 0; i < names->size(); ++i) {
      if ((*names)[i].is_string()) model_.features[i].name = (*names)[i].get<std::string>();
    }
  }

  void read_booster(const Json& booster, const std::string& path) {
    const std::string name = view_.text(booster, path, "name").value_or("gbtree");
    if (name != "gbtree") {
      view_
          .error("E0524", path + "/name",
                 fmt::format("the booster is `{}`, only gbtree is read", spec::printable(spec::shorten(name, 40))))
          .help("train with booster=\"gbtree\"");
      return;
    }
    const Json* gbtree = view_.object(booster, path, "model");
    if (gbtree == nullptr) return;
    const std::string own = path + "/model";
    const Json* trees = view_.list(*gbtree, own, "trees");
    if (trees == nullptr) return;
    if (trees->empty()) view_.error("E0521", own + "/trees", "a model without trees decides nothing");
    const auto info = view_.wholes(*gbtree, own, "tree_info", static_cast<int>(trees->size()));
    for (std::size_t i = 0; i < trees->size() && !view_.failed(); ++i) {
      if (info[i] < 0 || info[i] >= model_.scores) {
        view_.error("E0521", fmt::format("{}/tree_info/{}", own, i),
                    fmt::format("the tree adds to score {} of {}", info[i], model_.scores));
        return;
      }
      read_tree((*trees)[i], fmt::format("{}/trees/{}", own, i), static_cast<int>(info[i]));
    }
  }

  void read_tree(const Json& json, const std::string& path, int score) {
    const auto left = view_.wholes(json, path, "left_children", -1);
    const int size = static_cast<int>(left.size());
    const auto right = view_.wholes(json, path, "right_children", size);
    const auto features = view_.wholes(json, path, "split_indices", size);
    const auto conditions = view_.numbers(json, path, "split_conditions", size);
    const auto defaults = view_.wholes(json, path, "default_left", size);
    const auto types = json.is_object() && json.contains("split_type") ? view_.wholes(json, path, "split_type", size)
                                                                       : std::vector<std::int64_t>(at(size));
    if (json.is_object() && json.contains("tree_param") && json["tree_param"].is_object() &&
        view_.whole(json["tree_param"], path + "/tree_param", "size_leaf_vector", 0, 1 << 20, 0) > 1) {
      view_.error("E0524", path + "/tree_param/size_leaf_vector", "leaves with several values are not read");
    }
    if (view_.failed()) return;
    const auto categories = read_categories(json, path, types);
    std::vector<Node> nodes(at(size));
    for (int i = 0; i < size && !view_.failed(); ++i) {
      Node& node = nodes[at(i)];
      node.leaf = left[at(i)] == -1;
      if (node.leaf) {
        node.value = static_cast<double>(static_cast<float>(conditions[at(i)]));
        continue;
      }
      const auto child = [&](std::int64_t c) { return c >= 0 && c < size ? static_cast<int>(c) : -1; };
      node.left = child(left[at(i)]);
      node.right = child(right[at(i)]);
      node.missing_left = defaults[at(i)] != 0;
      if (features[at(i)] < 0 || features[at(i)] >= static_cast<std::int64_t>(model_.features.size())) {
        view_.error("E0523", fmt::format("{}/split_indices/{}", path, i),
                    fmt::format("the test reads feature {}, there are {}", features[at(i)], model_.features.size()));
        return;
      }
      node.feature = static_cast<int>(features[at(i)]);
      if (types[at(i)] == 1) {  // what is in the set goes right (common::Decision)
        node.categorical = true;
        node.inverted = true;
        node.categories = categories[at(i)];
      } else if (types[at(i)] == 0) {
        node.high = first_right(static_cast<double>(static_cast<float>(conditions[at(i)])), false, true);
      } else {
        view_.error("E0524", fmt::format("{}/split_type/{}", path, i),
                    fmt::format("unknown kind of split {}", types[at(i)]));
      }
    }
    if (view_.failed()) return;
    int fault = 0;
    auto ordered = order_nodes(nodes, 0, fault);
    if (!ordered) {
      view_.error("E0522", path + "/left_children",
                  fault < 0 ? std::string("a test of the tree lacks a child")
                            : fmt::format("node {} of the tree is reached twice or is not there", fault));
      return;
    }
    model_.forest.trees.push_back({score, std::move(*ordered)});
  }

  /// The sets of the categorical nodes, by node.
  std::vector<std::vector<std::uint64_t>> read_categories(const Json& json, const std::string& path,
                                                          const std::vector<std::int64_t>& types) {
    std::vector<std::vector<std::uint64_t>> r(types.size());
    if (std::find(types.begin(), types.end(), 1) == types.end()) return r;
    const auto values = view_.wholes(json, path, "categories", -1);
    const auto nodes = view_.wholes(json, path, "categories_nodes", -1);
    const auto segments = view_.wholes(json, path, "categories_segments", static_cast<int>(nodes.size()));
    const auto sizes = view_.wholes(json, path, "categories_sizes", static_cast<int>(nodes.size()));
    std::vector<bool> given(types.size());
    for (std::size_t k = 0; k < nodes.size() && !view_.failed(); ++k) {
      const auto count = static_cast<std::int64_t>(values.size());
      if (nodes[k] < 0 || nodes[k] >= static_cast<std::int64_t>(types.size()) || segments[k] < 0 || sizes[k] < 0 ||
          segments[k] > count || sizes[k] > count - segments[k]) {
        view_.error("E0526", fmt::format("{}/categories_nodes/{}", path, k), "the set of categories lies outside");
        return r;
      }
      auto& set = r[static_cast<std::size_t>(nodes[k])];
      given[static_cast<std::size_t>(nodes[k])] = true;
      for (std::int64_t i = segments[k]; i < segments[k] + sizes[k]; ++i) {
        const std::int64_t category = values[static_cast<std::size_t>(i)];
        if (category < 0 || category >= static_cast<std::int64_t>(kMaxCategory)) {
          view_.error("E0526", fmt::format("{}/categories/{}", path, i),
                      fmt::format("category {} is outside of 0..{}", category, kMaxCategory - 1));
          return r;
        }
        set.push_back(static_cast<std::uint64_t>(category));
      }
      std::sort(set.begin(), set.end());
    }
    for (std::size_t i = 0; i < types.size() && !view_.failed(); ++i) {
      if (types[i] == 1 && !given[i]) {
        view_.error("E0526", path + "/categories_nodes", fmt::format("node {} has no set of categories", i));
      }
    }
    return r;
  }

  const spec::Locator& locator_;
  JsonView view_;
  Model model_;
  Link link_ = Link::identity;
};

}  // namespace

std::optional<Model> read_xgboost(const spec::Locator& locator, spec::Diagnostics& diagnostics) {
  return XgboostReader(locator, diagnostics).read();
}

}  // namespace rocegen::model
