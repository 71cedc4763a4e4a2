#include "generator/spec/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "generator/services/service.h"
#include "generator/spec/files.h"
#include "generator/spec/locator.h"
#include "generator/spec/schema.h"
#include "generator/spec/text.h"

namespace rocegen::spec {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kQuoteLimit = 40;

// Bits that number `count` things, at least 1.
int index_bits(int count) { return std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(count - 1)))); }

std::uint64_t to_hz(double mhz) { return static_cast<std::uint64_t>(std::llround(mhz * 1e6)); }

// A number as a person writes it: without a point if it is whole.
Json number_json(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::abs(value) < kExact && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

// Where the values of a spec come from: a file, or C++ code.
class Source : public RuleContext {
 public:
  virtual Place key_place(std::string_view pointer) const = 0;
  virtual bool bad(std::string_view pointer) const = 0;
  // The value as the user wrote it.
  virtual std::string written(std::string_view pointer, const Json& value) const = 0;
};

class FileSource final : public Source {
 public:
  explicit FileSource(const Locator& locator) : locator_(locator) {}
  Place place(std::string_view pointer) const override { return locator_.value(pointer); }
  bool given(std::string_view pointer) const override { return locator_.contains(pointer); }
  Place key_place(std::string_view pointer) const override { return locator_.key(pointer); }
  bool bad(std::string_view pointer) const override { return locator_.bad(pointer); }
  std::string written(std::string_view pointer, const Json& /*value*/) const override {
    return shorten(locator_.source(pointer), kQuoteLimit);
  }

 private:
  const Locator& locator_;
};

class CodeSource final : public Source {
 public:
  explicit CodeSource(const Json& root) : root_(root) {}
  Place place(std::string_view pointer) const override {
    Place place;
    place.pointer = pointer;
    return place;
  }
  bool given(std::string_view pointer) const override {
    return root_.contains(Json::json_pointer(std::string(pointer)));
  }
  Place key_place(std::string_view pointer) const override { return place(pointer); }
  bool bad(std::string_view /*pointer*/) const override { return false; }
  std::string written(std::string_view /*pointer*/, const Json& value) const override {
    return shorten(value.dump(-1, ' ', false, Json::error_handler_t::replace), kQuoteLimit);
  }

 private:
  const Json& root_;
};

const char* type_words(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return "a number";
  }
}

const char* kind_words(Kind kind) {
  switch (kind) {
    case Kind::object:
      return "an object";
    case Kind::text:
    case Kind::word:
      return "a string";
    case Kind::integer:
      return "a whole number";
    case Kind::number:
      return "a number";
    case Kind::boolean:
      return "a boolean";
    case Kind::names:
      return "a list of names";
    case Kind::entries:
      return "a list of objects";
    case Kind::any:
      return "something else";
    case Kind::services:
      return "a list";
  }
  return "";
}

// Fills a StackSpec from JSON by the table, and reports what does not fit.
class Reader {
 public:
  /// `folder`: of the spec file, which services' files are named relative to.
  Reader(const Source& source, std::string folder, Diagnostics& diagnostics)
      : source_(source), folder_(std::move(folder)), diagnostics_(diagnostics) {}

  std::optional<StackSpec> read(const Json& root) {
    const std::size_t before = diagnostics_.error_count();
    read_value(fields().front(), root);
    StackSpec completed = complete(spec_);
    for (const Rule& rule : rules()) {
      const bool sound =
          std::none_of(rule.fields.begin(), rule.fields.end(), [this](const std::string& f) { return faulty(f); });
      if (sound) rule.check(completed, source_, diagnostics_);
    }
    if (!faulty("/services")) {
      for (std::size_t i = 0; i < completed.services.size(); ++i)
        services::find_type(completed.services[i].type)->check(completed, i, diagnostics_);
    }
    if (diagnostics_.error_count() > before) return std::nullopt;
    return completed;
  }

 private:
  // True if the value at the pointer or a group above it was refused.
  bool faulty(std::string_view pointer) const {
    for (;;) {
      if (faulty_.count(std::string(pointer)) > 0) return true;
      if (pointer.empty()) return false;
      pointer = pointer.substr(0, pointer.rfind('/'));
    }
  }

  Diagnostic& fault(std::string_view code, const std::string& pointer, std::string message) {
    faulty_.insert(pointer);
    return diagnostics_.error(code, source_.place(pointer), std::move(message));
  }

  void read_value(const Field& field, const Json& value) {
    if (source_.bad(field.pointer)) {
      faulty_.insert(field.pointer);  // reported by the locator
      return;
    }
    switch (field.kind) {
      case Kind::object:
        return read_object(field, value);
      case Kind::text:
      case Kind::word:
        return read_text(field, value);
      case Kind::integer:
      case Kind::number:
        return read_number(field, value);
      case Kind::boolean:
        if (!value.is_boolean()) return wrong_type(field, value);
        return store(field, value.get<bool>());
      case Kind::names:
        return read_names(field, value);
      case Kind::entries:
        return read_entries(field, value);
      case Kind::any:
        return store(field, value);
      case Kind::services:
        return read_services(field, value);
    }
  }

  // The member that holds the field takes the value; a field of a service has none, there it is the entry's JSON.
  template <typename T>
  void store(const Field& field, T value) {
    if constexpr (!std::is_same_v<T, Json>) {
      if (const auto* member = std::get_if<Member<T>>(&field.access)) {
        member->write(spec_) = std::move(value);
        return;
      }
    }
    if constexpr (std::is_same_v<T, double>) {
      entry_[Json::json_pointer(field.pointer.substr(entry_at_.size()))] = number_json(value);
    } else {
      entry_[Json::json_pointer(field.pointer.substr(entry_at_.size()))] = std::move(value);
    }
  }

  const Field* find(std::string_view pointer) const {
    const auto it = std::find_if(scope_.begin(), scope_.end(), [&](const Field& f) { return f.pointer == pointer; });
    return it == scope_.end() ? nullptr : &*it;
  }

  void wrong_type(const Field& field, const Json& value) {
    const std::string where = field.pointer.empty() ? "the document" : field.pointer;
    const std::string name(field.name());
    Diagnostic& d = fault("E0203", field.pointer,
                          fmt::format("{}: found {}, expected {}", where, type_words(value), kind_words(field.kind)));
    d.label(fmt::format("expected {}", kind_words(field.kind)));
    const bool numeric = field.kind == Kind::integer || field.kind == Kind::number;
    if (value.is_null() && !field.required && !field.pointer.empty()) {
      d.help(fmt::format("remove \"{}\" to take the default", name));
    } else if (numeric && value.is_string()) {
      const std::string& text = value.get_ref<const std::string&>();
      if (text.size() < kQuoteLimit && Json::accept(text) && Json::parse(text).is_number()) {
        d.help(fmt::format("write {} without quotes", text));
      } else {
        d.help(fmt::format("set \"{}\" to a number, such as {}", name, field.example));
      }
    } else if (field.kind == Kind::boolean && value.is_string() && (value == "true" || value == "false")) {
      d.help(fmt::format("write {} without quotes", value.get_ref<const std::string&>()));
    } else if ((field.kind == Kind::text || field.kind == Kind::word) && value.is_number()) {
      d.help(fmt::format("write \"{}\" in quotes", source_.written(field.pointer, value)));
    } else if (!field.example.empty()) {
      d.help(fmt::format("set \"{}\" to {}", name, field.example));
    } else if (field.pointer.empty()) {
      d.help("put the fields between { and }");
    }
  }

  void read_object(const Field& field, const Json& value) {
    if (!value.is_object()) return wrong_type(field, value);
    std::vector<std::string> names;
    for (const Field& f : scope_) {
      if (!f.pointer.empty() && f.parent() == field.pointer) names.emplace_back(f.name());
    }
    std::set<std::string_view> seen;
    for (const auto& [key, member] : value.items()) {
      const std::string pointer = child_pointer(field.pointer, key);
      const Field* known = find(pointer);
      if (known == nullptr) {
        unknown_key(field, names, key, pointer);
      } else {
        seen.insert(known->name());
        read_value(*known, member);
      }
    }
    for (const Field& f : scope_) {
      if (f.pointer.empty() || f.parent() != field.pointer || seen.count(f.name()) > 0) continue;
      if (!f.required) {
        fill_in(f);
        continue;
      }
      faulty_.insert(f.pointer);
      diagnostics_.error("E0202", source_.place(field.pointer), fmt::format("{}: required key is missing", f.pointer))
          .label(fmt::format("has no \"{}\"", f.name()))
          .help(fmt::format("add \"{}\": {}", f.name(), f.example));
    }
  }

  void unknown_key(const Field& group, const std::vector<std::string>& names, const std::string& key,
                   const std::string& pointer) {
    const std::string quoted = shorten(key, kQuoteLimit);
    Diagnostic& d =
        diagnostics_.error("E0201", source_.key_place(pointer),
                           fmt::format("{}: unknown key \"{}\"", shorten(pointer, 2 * kQuoteLimit), quoted));
    const std::string near = nearest(key, names);
    if (!near.empty()) {
      d.label(fmt::format("did you mean \"{}\"?", near));
      d.help(fmt::format("rename it to \"{}\"", near));
      return;
    }
    d.label("no such key");
    for (const Field& f : scope_) {
      if (f.name() != key || f.pointer.empty() || !entry_at_.empty()) continue;
      if (f.parent().empty()) {
        d.help(fmt::format("move \"{}\" to the top level", key));
      } else {
        d.help(fmt::format("move \"{}\" into \"{}\"", key, f.parent().substr(1)));
      }
      return;
    }
    std::string list;
    for (const std::string& name : names) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
    d.note(fmt::format("{} has the keys {}", group.pointer.empty() ? "the top level" : group.pointer, list));
    d.help("remove it");
  }

  void read_text(const Field& field, const Json& value) {
    if (!value.is_string()) return wrong_type(field, value);
    const std::string& text = value.get_ref<const std::string&>();
    const std::string name(field.name());
    if (field.kind == Kind::word) {
      if (std::find(field.words.begin(), field.words.end(), text) == field.words.end()) {
        Diagnostic& d = fault("E0205", field.pointer,
                              fmt::format("{}: found \"{}\", allowed: {}", field.pointer, shorten(text, kQuoteLimit),
                                          field.allowed_words()));
        const std::string near = nearest(text, field.words);
        d.label(near.empty() ? "not allowed" : fmt::format("did you mean \"{}\"?", near));
        d.help(fmt::format("set \"{}\" to \"{}\"", name, near.empty() ? field.words.back() : near));
        return;
      }
    } else {
      const std::size_t length = count_characters(text);
      if (length > static_cast<std::size_t>(field.max_length)) {
        fault("E0209", field.pointer,
              fmt::format("{}: found {} characters, allowed: up to {}", field.pointer, length, field.max_length))
            .label("too long")
            .help(fmt::format("shorten it by {} characters", length - static_cast<std::size_t>(field.max_length)));
        return;
      }
      if (field.matches != nullptr && !field.matches(text)) {
        fault("E0206", field.pointer,
              fmt::format("{}: found \"{}\", expected {}", field.pointer, shorten(text, kQuoteLimit),
                          field.pattern_words))
            .label("not of this form")
            .help(fmt::format("set \"{}\" to something like {}", name, field.example));
        return;
      }
    }
    store(field, text);
  }

  void read_names(const Field& field, const Json& value) {
    if (!value.is_array()) return wrong_type(field, value);
    const auto count = static_cast<double>(value.size());
    if (count < field.min || count > field.max) {
      fault("E0204", field.pointer,
            fmt::format("{}: found {} names, allowed: {}", field.pointer, value.size(), field.allowed_words()))
          .label(count < field.min ? "too few" : "too many")
          .help(fmt::format("set \"{}\" to {}", field.name(), field.example));
      return;
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string at = fmt::format("{}/{}", field.pointer, i);
      if (source_.bad(at)) {
        faulty_.insert(field.pointer);
        return;
      }
      if (!value[i].is_string()) {
        faulty_.insert(field.pointer);
        fault("E0203", at, fmt::format("{}: found {}, expected a string", at, type_words(value[i])))
            .label("expected a string")
            .help(fmt::format("set \"{}\" to {}", field.name(), field.example));
        return;
      }
      const std::string& name = value[i].get_ref<const std::string&>();
      if (!field.matches(name)) {
        faulty_.insert(field.pointer);
        fault("E0206", at,
              fmt::format("{}: found \"{}\", expected {}", at, shorten(name, kQuoteLimit), field.pattern_words))
            .label("not of this form")
            .help(fmt::format("set \"{}\" to something like {}", field.name(), field.example));
        return;
      }
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        faulty_.insert(field.pointer);
        fault("E0214", at, fmt::format("{}: \"{}\" is there already", at, name))
            .label("named twice")
            .help("give each its own name");
        return;
      }
      names.push_back(name);
    }
    store(field, std::move(names));
  }

  void read_number(const Field& field, const Json& value) {
    if (!value.is_number()) return wrong_type(field, value);
    const double number = value.get<double>();
    const std::string name(field.name());
    const std::string written = source_.written(field.pointer, value);
    const std::string allowed = field.allowed_words() + (field.unit.empty() ? "" : " " + field.unit);
    if (field.kind == Kind::integer && number != std::floor(number)) {
      fault("E0203", field.pointer, fmt::format("{}: found {}, expected a whole number", field.pointer, written))
          .label("expected a whole number")
          .help(fmt::format("set \"{}\" to {}", name, std::clamp(std::round(number), field.min, field.max)));
      return;
    }
    const std::vector<int> values = field.allowed_values();
    if (!(number >= field.min && number <= field.max)) {
      // A list of values says more than its ends.
      fault(field.values.empty() ? "E0204" : "E0205", field.pointer,
            fmt::format("{}: found {}, allowed: {}", field.pointer, written, allowed))
          .label(number < field.min ? "too small" : "too large")
          .help(fmt::format("set \"{}\" to {}", name, number < field.min ? field.min : field.max));
      return;
    }
    if (field.kind == Kind::number) {
      return store(field, number);
    }
    const int whole = static_cast<int>(number);
    if (!values.empty() && !std::binary_search(values.begin(), values.end(), whole)) {
      const auto above = std::upper_bound(values.begin(), values.end(), whole);
      fault("E0205", field.pointer, fmt::format("{}: found {}, allowed: {}", field.pointer, written, allowed))
          .label(std::has_single_bit(static_cast<unsigned>(whole)) ? "not allowed" : "not a power of two")
          .help(fmt::format("set \"{}\" to {} or {}", name, *std::prev(above), *above));
      return;
    }
    store(field, whole);
  }

  // The default of a field of a service that was not given.
  void fill_in(const Field& field) {
    if (entry_at_.empty()) return;
    if (field.kind == Kind::object) {
      for (const Field& f : scope_) {
        if (f.parent() == field.pointer && !f.required) fill_in(f);
      }
    } else if (!field.fallback.is_null()) {
      entry_[Json::json_pointer(field.pointer.substr(entry_at_.size()))] = field.fallback;
    }
  }

  // Fields whose pointers begin with `from` as the ones of the value at `to`; the first of them is the value itself.
  static std::vector<Field> instantiate(std::span<const Field> table, std::string_view from, std::string_view to) {
    std::vector<Field> out;
    for (const Field& field : table) {
      const std::string_view rest = std::string_view(field.pointer).substr(0, from.size()) == from
                                        ? std::string_view(field.pointer).substr(from.size())
                                        : std::string_view("-");
      if (!rest.empty() && rest.front() != '/') continue;
      out.push_back(field);
      out.back().pointer = std::string(to) + std::string(rest);
    }
    return out;
  }

  // Reads the value at table.front().pointer by a table of its own.
  void read_by(const std::vector<Field>& table, const Json& value) {
    const std::span<const Field> outer = std::exchange(scope_, std::span<const Field>(table));
    read_value(table.front(), value);
    scope_ = outer;
  }

  bool count_fits(const Field& field, const Json& value) {
    const auto count = static_cast<double>(value.size());
    if (count >= field.min && count <= field.max) return true;
    fault("E0204", field.pointer,
          fmt::format("{}: found {} entries, allowed: {}", field.pointer, value.size(), field.allowed_words()))
        .label(count < field.min ? "too few" : "too many")
        .help(count < field.min ? fmt::format("set \"{}\" to {}", field.name(), field.example) : "remove some of them");
    return false;
  }

  void read_entries(const Field& field, const Json& value) {
    if (!value.is_array()) return wrong_type(field, value);
    if (!count_fits(field, value)) return;
    entry_[Json::json_pointer(field.pointer.substr(entry_at_.size()))] = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::vector<Field> table = instantiate(scope_, field.pointer + "/*", fmt::format("{}/{}", field.pointer, i));
      if (table.empty()) throw std::logic_error("a list without fields of its entries: " + field.pointer);
      entry_[Json::json_pointer(table.front().pointer.substr(entry_at_.size()))] = Json::object();
      read_by(table, value[i]);
    }
  }

  void read_services(const Field& field, const Json& value) {
    if (!value.is_array()) return wrong_type(field, value);
    if (!count_fits(field, value)) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string at = fmt::format("{}/{}", field.pointer, i);
      const std::size_t errors = diagnostics_.error_count();
      if (!source_.bad(at)) read_service(at, value[i]);
      if (source_.bad(at) || diagnostics_.error_count() != errors) faulty_.insert(field.pointer);
    }
  }

  void read_service(const std::string& at, const Json& value) {
    const bool typed = value.is_object() && value.contains("type");
    const services::ServiceType* type =
        typed && value["type"].is_string() ? services::find_type(value["type"].get<std::string>()) : nullptr;
    if (type == nullptr) {
      const std::string where = typed ? at + "/type" : at;
      const std::string what =
          typed ? "unknown service type " + source_.written(where, value["type"]) : "entry names no known service type";
      std::vector<std::string> names;
      for (const services::ServiceType* known : services::types()) names.emplace_back(known->name());
      const std::string near =
          typed && value["type"].is_string() ? nearest(value["type"].get<std::string>(), names) : "";
      fault("E0210", where, fmt::format("{}: {}", where, what))
          .label(near.empty() ? "no such service" : fmt::format("did you mean \"{}\"?", near))
          .note(fmt::format("the types are {}", fmt::join(names, ", ")))
          .help(near.empty() ? "remove the entry" : fmt::format("set \"type\" to \"{}\"", near));
      return;
    }
    const std::size_t errors = diagnostics_.error_count();
    const std::vector<Field> own = services::fields_of(*type);
    const std::vector<Field> table = instantiate(own, "", at);
    entry_ = Json::object();
    entry_at_ = at;
    read_by(table, value);
    entry_at_.clear();
    if (diagnostics_.error_count() != errors) return;

    ServiceSpec service;
    service.type = type->name();
    if (!entry_.contains("name")) entry_["name"] = service.type;
    service.name = entry_["name"].get<std::string>();
    // In the order of the reference, whatever the user's.
    Json ordered = Json::object();
    for (const Field& field : own) {
      const std::string key(field.name());
      if (!field.pointer.empty() && field.parent().empty() && entry_.contains(key)) ordered[key] = entry_[key];
    }
    service.settings = std::make_shared<const Json>(std::move(ordered));
    service.folder = folder_;
    note_places(service, at, "", value);
    service.attach = type->attach(service);
    service.trailer = type->trailer(service);
    for (const ServiceSpec& other : spec_.services) {
      if (other.name == service.name) {
        fault("E0214", at + (value.contains("name") ? "/name" : ""),
              fmt::format("{}: the name \"{}\" is there already", at, service.name))
            .label("named twice")
            .note("the other one", other.place(""))
            .help(fmt::format("add \"name\": \"{}_2\"", service.name));
      }
      if (other.type == service.type && type->once()) {
        fault("E0216", at + "/type", fmt::format("{}: a second service of type {}", at, service.type))
            .label("can be there only once")
            .note("the other one", other.place(""))
            .help("remove one of them");
      }
    }
    spec_.services.push_back(std::move(service));
  }

  void note_places(ServiceSpec& service, const std::string& at, const std::string& pointer, const Json& value) const {
    const std::string full = at + pointer;
    service.places[pointer] = {source_.place(full), source_.key_place(full)};
    if (value.is_object()) {
      for (const auto& [key, member] : value.items()) note_places(service, at, child_pointer(pointer, key), member);
    } else if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i)
        note_places(service, at, fmt::format("{}/{}", pointer, i), value[i]);
    }
  }

  const Source& source_;
  std::string folder_;
  Diagnostics& diagnostics_;
  StackSpec spec_;
  std::span<const Field> scope_ = fields();
  std::set<std::string> faulty_;
  Json entry_;            // the service that is being read, completed
  std::string entry_at_;  // its pointer; empty: none is read
};

// The spec as JSON; with `only_set`, without the fields that are still to be derived.
Json write_json(const StackSpec& spec, bool only_set) {
  Json root = Json::object();
  for (const Field& field : fields()) {
    if (field.pointer.empty()) continue;
    Json value;
    if (field.kind == Kind::object) {
      value = Json::object();
    } else if (field.kind == Kind::services) {
      value = Json::array();
      for (const ServiceSpec& service : spec.services) value.push_back(service.json());
    } else if (const auto* text = std::get_if<Member<std::string>>(&field.access)) {
      value = text->read(spec);
    } else if (const auto* integer = std::get_if<Member<int>>(&field.access)) {
      const int number = integer->read(spec);
      if (only_set && field.derive != nullptr && number == 0) continue;
      value = number;
    } else if (const auto* boolean = std::get_if<Member<bool>>(&field.access)) {
      value = boolean->read(spec);
    } else if (const auto* names = std::get_if<Member<std::vector<std::string>>>(&field.access)) {
      value = names->read(spec);
    } else {
      const double number = std::get<Member<double>>(field.access).read(spec);
      if (only_set && field.derive != nullptr && number == 0) continue;
      value = number_json(number);
    }
    root[Json::json_pointer(field.pointer)] = std::move(value);
  }
  return root;
}

}  // namespace

const char* to_string(Attach attach) {
  switch (attach) {
    case Attach::ingress:
      return "ingress";
    case Attach::egress:
      return "egress";
    case Attach::deliver:
      return "deliver";
  }
  return "?";
}

const Place& ServiceSpec::place(std::string_view pointer) const {
  static const Place kNone;
  for (;;) {
    if (const auto it = places.find(pointer); it != places.end()) return it->second.first;
    if (pointer.empty()) return kNone;
    pointer = pointer.substr(0, pointer.rfind('/'));
  }
}

const Place& ServiceSpec::key_place(std::string_view pointer) const {
  const auto it = places.find(pointer);
  return it == places.end() ? place(pointer) : it->second.second;
}

bool ServiceSpec::at(Attach point) const { return std::find(attach.begin(), attach.end(), point) != attach.end(); }

bool ServiceSpec::operator==(const ServiceSpec& other) const { return json() == other.json(); }

bool StackSpec::serves(Attach point) const {
  return std::any_of(services.begin(), services.end(), [&](const ServiceSpec& s) { return s.at(point); });
}

int StackSpec::trailer_bytes() const {
  int bytes = 0;
  for (const ServiceSpec& service : services) bytes += service.at(Attach::egress) ? service.trailer : 0;
  return bytes;
}

std::uint64_t StackSpec::clock_hz() const { return to_hz(clock_mhz); }

std::uint32_t StackSpec::clock_khz() const { return static_cast<std::uint32_t>((clock_hz() + 500) / 1000); }

std::uint64_t StackSpec::mac_clock_hz() const { return to_hz(network.mac_clock_mhz); }

int StackSpec::tick_cycles() const {
  // In whole Hz and ns: 4.096 us at 250 MHz are 1024 cycles exactly.
  constexpr std::uint64_t kTickNs = 4096;
  constexpr std::uint64_t kNsPerSecond = 1000000000;
  return static_cast<int>((clock_hz() * kTickNs + kNsPerSecond - 1) / kNsPerSecond);
}

int StackSpec::pmtu_code() const { return static_cast<int>(std::bit_width(static_cast<unsigned>(mtu))) - 8; }

int StackSpec::qp_bits() const { return index_bits(qp_count); }

int StackSpec::mr_bits() const { return index_bits(memory_regions); }

int StackSpec::wqe_slot_bits() const { return index_bits(transport.wqe_slots); }

StackSpec complete(StackSpec spec) {
  for (const Field& field : fields()) {
    if (field.derive != nullptr) field.derive(spec);
  }
  return spec;
}

std::optional<StackSpec> check_spec(const StackSpec& spec, Diagnostics& diagnostics) {
  const Json root = write_json(spec, true);
  const CodeSource source(root);
  return Reader(source, spec.services.empty() ? "" : spec.services.front().folder, diagnostics).read(root);
}

std::optional<StackSpec> read_spec(const std::string& path, Diagnostics& diagnostics) {
  std::optional<std::string> text = read_text_file(path, diagnostics);
  if (!text) return std::nullopt;
  return read_spec_text(path == "-" ? "<stdin>" : path, std::move(*text), diagnostics);
}

std::optional<StackSpec> read_spec_text(std::string file, std::string text, Diagnostics& diagnostics) {
  const std::size_t first = diagnostics.all().size();
  const std::size_t errors = diagnostics.error_count();
  Locator locator(std::move(file), std::move(text));
  std::optional<StackSpec> spec;
  if (locator.parse(diagnostics)) {
    const FileSource source(locator);
    const std::size_t slash = locator.file().rfind('/');
    spec = Reader(source, slash == std::string::npos ? "" : locator.file().substr(0, slash + 1), diagnostics)
               .read(locator.root());
  }
  diagnostics.sort_by_place(first);
  if (diagnostics.error_count() > errors) return std::nullopt;
  return spec;
}

Json to_json(const StackSpec& spec) { return write_json(spec, false); }

std::string spec_hash(const StackSpec& spec) {
  const std::string text = to_json(spec).dump();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  std::string hex;
  for (unsigned i = 0; i < length; ++i) fmt::format_to(std::back_inserter(hex), "{:02x}", digest[i]);
  return hex;
}

}  // namespace rocegen::spec
