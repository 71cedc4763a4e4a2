// What is written from the table of fields: the JSON Schema and the reference.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <optional>

#include "generator/services/service.h"
#include "generator/spec/schema.h"

namespace rocegen::spec {

using Json = nlohmann::ordered_json;

namespace {

Json bound(double value) { return static_cast<std::int64_t>(value); }

// The default that a fresh StackSpec holds, as JSON; nothing for what has none or derives it.
std::optional<Json> plain_default(const Field& field) {
  if (field.required || field.derive != nullptr) return std::nullopt;
  if (!field.fallback.is_null()) return field.fallback;
  if (std::holds_alternative<std::monostate>(field.access) && field.kind != Kind::services) return std::nullopt;
  if (field.kind == Kind::services) return Json::array();
  if (field.kind == Kind::object) return std::nullopt;
  const Json value = to_json(StackSpec{}).at(Json::json_pointer(field.pointer));
  return value;
}

std::string sentence(const Field& field) {
  std::string text = field.doc;
  if (!field.unit.empty()) text += fmt::format(" Unit: {}.", field.unit);
  if (field.derive != nullptr) text += fmt::format(" Default: {}.", field.derive_words);
  return text;
}

Json field_schema(const Field& field, std::span<const Field> table);

void object_schema(const Field& field, std::span<const Field> table, Json& out) {
  out["type"] = "object";
  Json properties = Json::object();
  Json required = Json::array();
  for (const Field& member : table) {
    if (member.pointer.empty() || member.parent() != field.pointer) continue;
    properties[std::string(member.name())] = field_schema(member, table);
    if (member.required) required.push_back(std::string(member.name()));
  }
  out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
  out["additionalProperties"] = false;
}

Json field_schema(const Field& field, std::span<const Field> table) {
  if (field.kind == Kind::any) {
    Json out = field.schema;
    out["description"] = sentence(field);
    return out;
  }
  Json out = Json::object();
  out["description"] = sentence(field);
  switch (field.kind) {
    case Kind::object:
      object_schema(field, table, out);
      return out;
    case Kind::services: {
      out["type"] = "array";
      Json types = Json::array();
      for (const services::ServiceType* type : services::types()) {
        const std::vector<Field> own = services::fields_of(*type);
        types.push_back(field_schema(own.front(), own));
      }
      out["items"] = {{"anyOf", std::move(types)}};
      out["maxItems"] = bound(field.max);
      break;
    }
    case Kind::entries:
      out["type"] = "array";
      for (const Field& item : table)
        if (item.pointer == field.pointer + "/*") out["items"] = field_schema(item, table);
      out["minItems"] = bound(field.min);
      out["maxItems"] = bound(field.max);
      break;
    case Kind::any:
      break;
    case Kind::text:
      out["type"] = "string";
      if (!field.pattern.empty()) out["pattern"] = "^(?:" + field.pattern + ")$";
      out["maxLength"] = field.max_length;
      break;
    case Kind::word:
      out["type"] = "string";
      out["enum"] = field.words;
      break;
    case Kind::number:
      out["type"] = "number";
      out["minimum"] = bound(field.min);
      out["maximum"] = bound(field.max);
      break;
    case Kind::boolean:
      out["type"] = "boolean";
      break;
    case Kind::names:
      out["type"] = "array";
      out["items"] = {{"type", "string"}, {"pattern", "^(?:" + field.pattern + ")$"}};
      out["minItems"] = bound(field.min);
      out["maxItems"] = bound(field.max);
      out["uniqueItems"] = true;
      break;
    case Kind::integer:
      out["type"] = "integer";
      if (const std::vector<int> values = field.allowed_values(); !values.empty()) {
        out["enum"] = values;
      } else {
        out["minimum"] = bound(field.min);
        out["maximum"] = bound(field.max);
      }
      break;
  }
  if (const std::optional<Json> value = plain_default(field)) out["default"] = *value;
  if (field.kind != Kind::services) out["examples"] = Json::array({Json::parse(field.example)});
  return out;
}

std::string default_words(const Field& field) {
  if (field.required) return "**required**";
  if (field.derive != nullptr) return field.derive_words;
  const std::optional<Json> value = plain_default(field);
  return value ? fmt::format("`{}`", value->dump()) : "";
}

// `top`: title of what has the pointer "".
void reference_group(std::string& out, const Field& group, std::span<const Field> table, const std::string& top) {
  const auto to = std::back_inserter(out);
  std::string title(group.pointer.empty() ? std::string_view() : std::string_view(group.pointer).substr(1));
  for (char& c : title) {
    if (c == '/') c = '.';
  }
  if (title.empty()) {
    fmt::format_to(to, "## {}\n\n", top);
  } else if (table.data() == fields().data()) {
    fmt::format_to(to, "## `{}`\n\n", title);
  } else {
    fmt::format_to(to, "### `{}` of a {}\n\n", title, top);
  }
  fmt::format_to(to, "{}\n\n", group.doc);
  std::string rows;
  for (const Field& field : table) {
    if (field.pointer.empty() || field.parent() != group.pointer || field.name() == "*") continue;
    if (field.kind == Kind::object) {
      fmt::format_to(std::back_inserter(rows), "| `{}` | object | | see below | {} |\n", field.name(), field.doc);
      continue;
    }
    const std::string allowed = field.allowed_words() + (field.unit.empty() ? "" : " " + field.unit);
    const char* type = field.kind == Kind::integer    ? "integer"
                       : field.kind == Kind::number   ? "number"
                       : field.kind == Kind::boolean  ? "boolean"
                       : field.kind == Kind::services ? "list"
                       : field.kind == Kind::names    ? "list"
                       : field.kind == Kind::entries  ? "list"
                       : field.kind == Kind::any      ? "value"
                                                      : "string";
    fmt::format_to(std::back_inserter(rows), "| `{}` | {} | {} | {} | {} Example: `{}`. |\n", field.name(), type,
                   allowed, default_words(field), field.doc, field.example);
  }
  fmt::format_to(to, "| key | type | allowed | default | meaning |\n|---|---|---|---|---|\n{}\n", rows);
}

}  // namespace

Json json_schema() {
  Json out = Json::object();
  out["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  out["title"] = "rocegen stack specification";
  const Json root = field_schema(fields().front(), fields());
  for (const auto& [key, value] : root.items()) out[key] = value;
  return out;
}

std::string reference_markdown() {
  std::string out =
      "# Specification reference\n"
      "\n"
      "<!-- Written by `rocegen schema --markdown`. Do not edit: change generator/spec/schema.cpp. -->\n"
      "\n"
      "A stack is specified by one JSON file (RFC 8259, UTF-8). Only `name` must be given:\n"
      "\n"
      "```json\n"
      "{ \"name\": \"my_nic\" }\n"
      "```\n"
      "\n"
      "`rocegen check SPEC` reports every fault of the file; `rocegen check --json SPEC` prints it with all defaults "
      "filled\n"
      "in; `rocegen schema -o FILE` writes the JSON Schema (2020-12), which editors complete and check with. An "
      "unknown key\n"
      "is a fault, never ignored.\n"
      "\n";
  for (const Field& field : fields()) {
    if (field.kind == Kind::object) reference_group(out, field, fields(), "Top level");
  }
  for (const services::ServiceType* type : services::types()) {
    const std::vector<Field> own = services::fields_of(*type);
    for (const Field& field : own) {
      if (field.kind == Kind::object) reference_group(out, field, own, fmt::format("Service `{}`", type->name()));
    }
  }
  out += "## Rules that join several keys\n\nThe schema cannot say these; `rocegen check` does.\n\n";
  for (const Rule& rule : rules()) fmt::format_to(std::back_inserter(out), "- {} ({})\n", rule.doc, rule.codes);
  StackSpec example;
  example.name = "my_nic";
  fmt::format_to(std::back_inserter(out),
                 "\n## A spec with every key\n\nThe completed form of the smallest spec above:\n\n```json\n{}\n```\n",
                 to_json(complete(example)).dump(2));
  return out;
}

}  // namespace rocegen::spec
