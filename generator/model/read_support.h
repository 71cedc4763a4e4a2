// What the readers of the model formats share. Each gets the whole text and reports every fault that it finds.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/model/model.h"
#include "generator/spec/diagnostic.h"
#include "generator/spec/locator.h"

namespace rocegen::model {

using Json = nlohmann::ordered_json;

/// One reader a format. `locator` has parsed the text.
std::optional<Model> read_xgboost(const spec::Locator& locator, spec::Diagnostics& diagnostics);
std::optional<Model> read_integer(const spec::Locator& locator, spec::Diagnostics& diagnostics);
std::optional<Model> read_ternary_export(const spec::Locator& locator, spec::Diagnostics& diagnostics);
std::optional<Model> read_lightgbm(const std::string& file, std::string_view text, spec::Diagnostics& diagnostics);
std::optional<Model> read_rules(const std::string& file, std::string_view text, spec::Diagnostics& diagnostics);

/// The smallest feature value that a test `x < threshold` (or `x <= threshold`, of doubles) does not send left;
/// kNoBound when there is none. With float32 the value is rounded to float32 before it is compared, as XGBoost does.
std::uint64_t first_right(double threshold, bool or_equal, bool float32);

/// Takes a tree as the file has it (nodes anywhere, children by index) into the order of Tree: root first, children
/// behind their parents. Nodes that the root does not reach are left out. The index of a node that is reached twice,
/// or of a child that there is not, is given back in `fault`.
std::optional<std::vector<Node>> order_nodes(const std::vector<Node>& nodes, int root, int& fault);

/// Names all features that have none, marks those that are used, and checks that a model tests something.
void finish_features(Model& model);

/// Members of a JSON document, with a diagnostic where one is not what it should be.
class JsonView {
 public:
  JsonView(const spec::Locator& locator, spec::Diagnostics& diagnostics)
      : locator_(locator), diagnostics_(diagnostics) {}

  /// The value at the path below `from`, or null with E0521.
  const Json* object(const Json& from, const std::string& pointer, const char* key);
  const Json* list(const Json& from, const std::string& pointer, const char* key);
  std::optional<std::string> text(const Json& from, const std::string& pointer, const char* key);
  /// A whole number in least..most, which XGBoost writes as string now and then; `standard` if the key is not there.
  std::int64_t whole(const Json& from, const std::string& pointer, const char* key, std::int64_t least,
                     std::int64_t most, std::optional<std::int64_t> standard = std::nullopt);
  /// Lists of `size` numbers (any length if negative).
  std::vector<std::int64_t> wholes(const Json& from, const std::string& pointer, const char* key, int size);
  std::vector<double> numbers(const Json& from, const std::string& pointer, const char* key, int size);
  /// Keys that the format does not have are faults.
  void check_keys(const Json& from, const std::string& pointer, std::initializer_list<std::string_view> allowed);

  spec::Diagnostic& error(std::string_view code, const std::string& pointer, std::string message) {
    return diagnostics_.error(code, locator_.value(pointer), std::move(message));
  }
  bool failed() const { return diagnostics_.has_errors(); }

 private:
  const Json* member(const Json& from, const std::string& pointer, const char* key, bool needed = true);

  const spec::Locator& locator_;
  spec::Diagnostics& diagnostics_;
};

}  // namespace rocegen::model
