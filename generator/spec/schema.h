// The one description of the specification: every field with type, unit, range, default and meaning. It drives reading,
// checking, completing, the JSON Schema and docs/spec-reference.md, so that none of them can drift.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "generator/spec/spec.h"

namespace rocegen::spec {

enum class Kind {
  object,   ///< a group of fields
  text,     ///< a string
  word,     ///< a string out of `words`
  integer,  ///< a whole number in `min`..`max`, perhaps a power of two or one of `values`
  number,   ///< a number in `min`..`max`
  boolean,  ///< true or false
  names,    ///< a list of `min`..`max` different strings of the form `pattern`
  entries,  ///< a list of `min`..`max` objects; their fields are those below "<pointer>/*" (within services only)
  any,      ///< whatever JSON `schema` allows; its owner reads it (within services only)
  services  ///< the list of services
};

/// Reaches a member of a StackSpec, to read and to write.
template <typename T>
struct Member {
  T& (*write)(StackSpec&);
  const T& (*read)(const StackSpec&);
};
using Access = std::variant<std::monostate, Member<std::string>, Member<int>, Member<double>, Member<bool>,
                            Member<std::vector<std::string>>>;

/// One field. Numbers are plain; which of them mean something depends on the kind.
struct Field {
  std::string pointer;  ///< JSON pointer, e.g. "/transport/ack_interval"
  Kind kind = Kind::object;
  Access access;                   ///< the member that holds it; none for object and services
  std::string unit;                ///< "bits", "MHz", ..., or empty
  std::string doc;                 ///< what it is: a sentence or two
  std::string example;             ///< a JSON value that is accepted
  bool required = false;           ///< must be given
  double min = 0;                  ///< smallest allowed value
  double max = 0;                  ///< largest allowed value
  bool power_of_two = false;       ///< integer: only powers of two
  std::vector<int> values;         ///< integer: only these, ascending; empty = all of min..max
  std::vector<std::string> words;  ///< word: the allowed ones
  std::string pattern;  ///< text, names: the form that it must have, as a regular expression (ECMA 262); or empty
  bool (*matches)(std::string_view) = nullptr;  ///< true if all of a text has that form; a test holds it to `pattern`
  std::string pattern_words;                    ///< the form in words
  int max_length = 0;                           ///< text: characters
  nlohmann::ordered_json fallback;              ///< within services: the default; null: none, and it may be left out
  nlohmann::ordered_json schema;                ///< any: its JSON Schema
  void (*derive)(StackSpec&) = nullptr;         ///< fills the member in where it is 0
  std::string derive_words;                     ///< the rule of `derive` in words

  /// Last part of the pointer.
  std::string_view name() const;
  /// Pointer of the group that holds the field.
  std::string_view parent() const;
  /// integer: the allowed values one by one, or empty if all of min..max are allowed.
  std::vector<int> allowed_values() const;
  /// What is allowed, in words: "64, 128, 256", "1..256", "a power of two, 16..1048576".
  std::string allowed_words() const;
};

/// All fields: a group before its members, in the order of the reference. The root has the pointer "".
std::span<const Field> fields();

/// The field at `pointer`, or null.
const Field* find_field(std::string_view pointer);

/// Builds tables of fields: each function starts one, the chained ones complete it.
class FieldTable {
 public:
  struct Row {
    Field& f;
    Row& unit(std::string text) { return f.unit = std::move(text), *this; }
    Row& example(std::string json) { return f.example = std::move(json), *this; }
    Row& required() { return f.required = true, *this; }
    Row& range(double min, double max) { return f.min = min, f.max = max, *this; }
    Row& power_of_two() { return f.power_of_two = true, *this; }
    Row& values(std::vector<int> all) {
      f.min = all.front();
      f.max = all.back();
      f.values = std::move(all);
      return *this;
    }
    Row& words(std::vector<std::string> all) { return f.words = std::move(all), *this; }
    Row& pattern(std::string regex, bool (*matches)(std::string_view), std::string in_words) {
      f.pattern = std::move(regex);
      f.matches = matches;
      f.pattern_words = std::move(in_words);
      return *this;
    }
    Row& max_length(int characters) { return f.max_length = characters, *this; }
    Row& fallback(nlohmann::ordered_json value) { return f.fallback = std::move(value), *this; }
    Row& schema(nlohmann::ordered_json value) { return f.schema = std::move(value), *this; }
    Row& derive(void (*function)(StackSpec&), std::string in_words) {
      f.derive = function;
      f.derive_words = std::move(in_words);
      return *this;
    }
  };

  explicit FieldTable(std::vector<Field>& fields) : fields_(fields) {}

  /// A field without a member: of services.
  Row add(std::string pointer, Kind kind, std::string doc) { return add(std::move(pointer), kind, {}, std::move(doc)); }
  Row add(std::string pointer, Kind kind, Access member, std::string doc);

 private:
  std::vector<Field>& fields_;
};

/// A name that SystemVerilog and file names take: a lower-case letter, then up to 47 of a-z, 0-9 and _.
inline constexpr const char* kIdentifierPattern = "[a-z][a-z0-9_]{0,47}";
inline constexpr const char* kIdentifierWords =
    "a lower-case letter, then up to 47 lower-case letters, digits and underscores";
bool is_identifier(std::string_view text);

/// Largest number of services.
inline constexpr int kMaxServices = 8;

/// What rules look at: the completed spec, and where its values stand.
class RuleContext {
 public:
  virtual ~RuleContext() = default;
  /// Place of the value at `pointer`; has no line if the value is a default.
  virtual Place place(std::string_view pointer) const = 0;
  /// True if the user gave the value.
  virtual bool given(std::string_view pointer) const = 0;
};

/// A rule that joins several fields. It is checked when none of `fields` is faulty by itself.
struct Rule {
  std::string codes;                ///< what it reports
  std::string doc;                  ///< a sentence for the reference
  std::vector<std::string> fields;  ///< pointers
  void (*check)(const StackSpec&, const RuleContext&, Diagnostics&);
};

std::span<const Rule> rules();

/// Names that a spec must not have because modules and packages of the stack have them, sorted.
std::span<const std::string> library_names();
/// Keywords of SystemVerilog (IEEE 1800-2017 annex B), sorted.
std::span<const std::string> keywords();

/// The JSON Schema (2020-12) of a spec.
nlohmann::ordered_json json_schema();

/// docs/spec-reference.md.
std::string reference_markdown();

}  // namespace rocegen::spec
