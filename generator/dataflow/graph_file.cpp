#include "generator/dataflow/graph_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "generator/spec/locator.h"
#include "generator/spec/text.h"

namespace rocegen::dataflow {

namespace {

using Json = nlohmann::ordered_json;

/// One argument of an operator, as its signature wants it.
struct Arg {
  Value value;
  int number = 0;
  Type type;
  std::vector<BitVec> entries;
};
using ArgList = std::span<const Arg>;

std::vector<Value> values_of(ArgList args) {
  std::vector<Value> r;
  for (const auto& a : args) r.push_back(a.value);
  return r;
}

/// An operator of the format. Signature: v a value, i an integer, t a type, L the entries of a table (of the type
/// before), k a constant (of the type before); + repeats the last one, any number of times.
struct Entry {
  std::string_view name;
  std::string_view signature;
  std::string_view args;  ///< for the documentation
  std::string_view meaning;
  Value (*build)(Typed&, ArgList);
};

constexpr std::array kEntries = {
    Entry{"add", "vv", "a, b", "a + b", [](Typed& t, ArgList a) { return t.add(a[0].value, a[1].value); }},
    Entry{"sub", "vv", "a, b", "a - b, signed", [](Typed& t, ArgList a) { return t.sub(a[0].value, a[1].value); }},
    Entry{"neg", "v", "a", "-a, signed", [](Typed& t, ArgList a) { return t.neg(a[0].value); }},
    Entry{"abs", "v", "a", "magnitude, unsigned", [](Typed& t, ArgList a) { return t.abs(a[0].value); }},
    Entry{"sum", "v+", "a, ...", "a + ...", [](Typed& t, ArgList a) { return t.sum(values_of(a)); }},
    Entry{"mul", "vv", "a, b", "a * b", [](Typed& t, ArgList a) { return t.mul(a[0].value, a[1].value); }},
    Entry{"div", "vv", "a, constant", "quotient of an unsigned value by a positive constant",
          [](Typed& t, ArgList a) { return t.div(a[0].value, a[1].value); }},
    Entry{"mod", "vv", "a, constant", "remainder of the same",
          [](Typed& t, ArgList a) { return t.mod(a[0].value, a[1].value); }},
    Entry{"min", "v+", "a, ...", "the smallest", [](Typed& t, ArgList a) { return t.min(values_of(a)); }},
    Entry{"max", "v+", "a, ...", "the greatest", [](Typed& t, ArgList a) { return t.max(values_of(a)); }},
    Entry{"and", "v+", "a, ...", "bit by bit, of the common type",
          [](Typed& t, ArgList a) { return t.and_(values_of(a)); }},
    Entry{"or", "v+", "a, ...", "bit by bit, of the common type",
          [](Typed& t, ArgList a) { return t.or_(values_of(a)); }},
    Entry{"xor", "v+", "a, ...", "bit by bit, of the common type",
          [](Typed& t, ArgList a) { return t.xor_(values_of(a)); }},
    Entry{"not", "v", "a", "every bit inverted", [](Typed& t, ArgList a) { return t.not_(a[0].value); }},
    Entry{"any", "v", "a", "u1: some bit is 1", [](Typed& t, ArgList a) { return t.any(a[0].value); }},
    Entry{"all", "v", "a", "u1: every bit is 1", [](Typed& t, ArgList a) { return t.all(a[0].value); }},
    Entry{"parity", "v", "a", "u1: an odd number of bits is 1",
          [](Typed& t, ArgList a) { return t.parity(a[0].value); }},
    Entry{"popcount", "v", "a", "how many bits are 1", [](Typed& t, ArgList a) { return t.popcount(a[0].value); }},
    Entry{"eq", "vv", "a, b", "u1: a = b, as numbers",
          [](Typed& t, ArgList a) { return t.eq(a[0].value, a[1].value); }},
    Entry{"ne", "vv", "a, b", "u1: a differs from b", [](Typed& t, ArgList a) { return t.ne(a[0].value, a[1].value); }},
    Entry{"lt", "vv", "a, b", "u1: a < b", [](Typed& t, ArgList a) { return t.lt(a[0].value, a[1].value); }},
    Entry{"le", "vv", "a, b", "u1: a <= b", [](Typed& t, ArgList a) { return t.le(a[0].value, a[1].value); }},
    Entry{"gt", "vv", "a, b", "u1: a > b", [](Typed& t, ArgList a) { return t.lt(a[1].value, a[0].value); }},
    Entry{"ge", "vv", "a, b", "u1: a >= b", [](Typed& t, ArgList a) { return t.le(a[1].value, a[0].value); }},
    Entry{"select", "vvv", "c, a, b", "c (u1) ? a : b",
          [](Typed& t, ArgList a) { return t.select(a[0].value, a[1].value, a[2].value); }},
    Entry{"mux", "vv+", "i, a0, a1, ...", "the value number i; as many as i has values",
          [](Typed& t, ArgList a) { return t.mux(a[0].value, values_of(a.subspan(1))); }},
    Entry{"table", "vtL", "i, type, [entries]", "the entry number i; as many as i has values, i at most u12",
          [](Typed& t, ArgList a) { return t.table(a[0].value, a[1].type, a[2].entries); }},
    Entry{"shl", "vv", "a, n", "a * 2^n; n a constant: n bits wider; n a value: the type stays, bits are lost",
          [](Typed& t, ArgList a) { return t.shl(a[0].value, a[1].value); }},
    Entry{"shr", "vv", "a, n", "floor(a / 2^n); n a constant: n bits narrower; n a value: the type stays",
          [](Typed& t, ArgList a) { return t.shr(a[0].value, a[1].value); }},
    Entry{"slice", "vii", "a, hi, lo", "bits hi to lo, unsigned",
          [](Typed& t, ArgList a) { return t.slice(a[0].value, a[1].number, a[2].number); }},
    Entry{"bit", "vi", "a, i", "u1: bit i",
          [](Typed& t, ArgList a) { return t.slice(a[0].value, a[1].number, a[1].number); }},
    Entry{"concat", "v+", "a, ...", "the bits of all, the first on top, unsigned",
          [](Typed& t, ArgList a) { return t.concat(values_of(a)); }},
    Entry{"extend", "vt", "a, type", "the same number in a type that holds all of a's",
          [](Typed& t, ArgList a) { return t.extend(a[0].value, a[1].type); }},
    Entry{"wrap", "vt", "a, type", "modulo 2^width", [](Typed& t, ArgList a) { return t.wrap(a[0].value, a[1].type); }},
    Entry{"saturate", "vt", "a, type", "the nearest number of the type",
          [](Typed& t, ArgList a) { return t.saturate(a[0].value, a[1].type); }},
    Entry{"const", "tk", "type, number", "a constant of that type; hexadecimal in a string: \"0xFF\"",
          [](Typed& t, ArgList a) { return t.constant(a[0].type, a[1].entries[0]); }},
};

std::string kind_of(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  if (json.is_string()) return "a string";
  if (json.is_boolean()) return "true or false";
  if (json.is_null()) return "null";
  return json.is_number_float() ? "a fraction" : "a number";
}

std::string ticked(std::string_view text) { return fmt::format("`{}`", spec::printable(spec::shorten(text, 40))); }

class Reader {
 public:
  Reader(const spec::Locator& locator, spec::Diagnostics& diagnostics)
      : locator_(locator), diagnostics_(diagnostics), typed_(file_.graph) {}

  std::optional<GraphFile> read() {
    const Json& root = locator_.root();
    if (!root.is_object()) {
      error("E0401", "", fmt::format("a graph is an object, not {}", kind_of(root)));
      return std::nullopt;
    }
    check_keys("", root, {"name", "description", "inputs", "values", "outputs", "pipeline"});
    read_name(root);
    read_inputs(root);
    read_values(root);
    read_outputs(root);
    read_pipeline(root);
    if (diagnostics_.has_errors()) return std::nullopt;
    for (const auto& [name, symbol] : symbols_) {
      if (!symbol.used) {
        diagnostics_.warning("W0401", locator_.key(symbol.pointer), fmt::format("{} is never read", ticked(name)))
            .help("remove it");
      }
    }
    return std::move(file_);
  }

 private:
  struct Symbol {
    std::optional<Value> value;  ///< none: its expression was faulty, which is reported already
    std::string pointer;
    bool used = false;
  };

  spec::Diagnostic& error(std::string_view code, const std::string& pointer, std::string message) {
    return diagnostics_.error(code, locator_.value(pointer), std::move(message));
  }

  void check_keys(const std::string& pointer, const Json& object, const std::vector<std::string>& known) {
    for (const auto& [key, value] : object.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      auto& d = diagnostics_.error("E0401", locator_.key(spec::child_pointer(pointer, key)),
                                   fmt::format("unknown key {}", ticked(key)));
      const std::string near = spec::nearest(key, known);
      if (near.empty()) {
        d.help(fmt::format("the keys here are {}", fmt::join(known, ", ")));
      } else {
        d.help(fmt::format("did you mean \"{}\"?", near));
      }
    }
  }

  /// The member of an object that is a string; empty, with a diagnostic unless it is not there, if not.
  std::string text_member(const std::string& pointer, const Json& object, const char* key) {
    const auto it = object.find(key);
    if (it == object.end()) return "";
    if (it->is_string()) return it->get<std::string>();
    error("E0401", spec::child_pointer(pointer, key), fmt::format("\"{}\" is a string, not {}", key, kind_of(*it)));
    return "";
  }

  void read_name(const Json& root) {
    const std::string name = text_member("", root, "name");
    const std::string description = text_member("", root, "description");
    if (!root.contains("name")) {
      error("E0401", "", "\"name\" is missing").help("add \"name\": \"my_graph\"; it becomes the module's name");
    } else if (!name.empty() || root["name"].is_string()) {
      if (is_identifier(name)) {
        file_.graph = Graph(name, description.empty() ? "compiled from an expression graph." : description);
      } else {
        error("E0403", "/name", fmt::format("{} cannot name a module", ticked(name)))
            .help("use letters, digits and _, starting with a letter, and no keyword of SystemVerilog");
      }
    }
  }

  std::optional<Type> read_type(const std::string& pointer, const Json& json) {
    if (json.is_string()) {
      if (const auto type = Type::parse(json.get<std::string>())) return type;
    }
    error("E0402", pointer,
          json.is_string() ? fmt::format("{} is not a type", ticked(json.get<std::string>()))
                           : fmt::format("a type is a string, not {}", kind_of(json)))
        .help(fmt::format("write \"u8\" for unsigned or \"s8\" for signed numbers of 8 bits, 1 to {} bits", kMaxWidth));
    return std::nullopt;
  }

  /// Whether `name` may name an input, value or output.
  bool check_name(const std::string& pointer, const std::string& name) {
    if (is_identifier(name) && !name.ends_with("_q")) return true;
    diagnostics_.error("E0403", locator_.key(pointer), fmt::format("{} cannot be a name here", ticked(name)))
        .help("use letters, digits and _, starting with a letter, no keyword of SystemVerilog, not ending in _q");
    return false;
  }

  const Json* object_member(const Json& root, const char* key, bool required) {
    const auto it = root.find(key);
    if (it == root.end()) {
      if (required) error("E0401", "", fmt::format("\"{}\" is missing", key));
      return nullptr;
    }
    if (it->is_object()) return &*it;
    error("E0401", fmt::format("/{}", key), fmt::format("\"{}\" is an object, not {}", key, kind_of(*it)));
    return nullptr;
  }

  void read_inputs(const Json& root) {
    const Json* inputs = object_member(root, "inputs", true);
    if (inputs == nullptr) return;
    for (const auto& [name, json] : inputs->items()) {
      const std::string pointer = spec::child_pointer("/inputs", name);
      Symbol& symbol = symbols_[name];
      symbol.pointer = pointer;
      order_.push_back(name);
      if (!check_name(pointer, name)) continue;
      std::string doc;
      std::optional<Type> type;
      if (json.is_object()) {
        check_keys(pointer, json, {"type", "doc"});
        doc = text_member(pointer, json, "doc");
        if (json.contains("type")) {
          type = read_type(pointer + "/type", json["type"]);
        } else {
          error("E0401", pointer, "\"type\" is missing");
        }
      } else {
        type = read_type(pointer, json);
      }
      if (!type) continue;
      symbol.value = Value{file_.graph.input(name + "_i", type->width, std::move(doc)), *type};
      file_.input_types.push_back(*type);
    }
  }

  void read_values(const Json& root) {
    const Json* values = object_member(root, "values", false);
    if (values == nullptr) return;
    for (const auto& [name, json] : values->items()) {
      const std::string pointer = spec::child_pointer("/values", name);
      if (!check_name(pointer, name)) {
        symbols_[name].pointer = pointer;
        order_.push_back(name);
        continue;
      }
      const auto known = symbols_.find(name);
      if (known != symbols_.end()) {
        diagnostics_.error("E0403", locator_.key(pointer), fmt::format("the name {} is taken", ticked(name)))
            .note("it stands here already", locator_.key(known->second.pointer));
        continue;
      }
      const auto value = expression(pointer, json);
      symbols_[name] = {value, pointer, false};
      order_.push_back(name);
      if (value && file_.graph.constant_value(value->node) == nullptr && file_.graph.label(value->node).empty() &&
          file_.graph.node(value->node).op != &ops::input()) {
        file_.graph.label(value->node, name);
      }
    }
  }

  void read_outputs(const Json& root) {
    const Json* outputs = object_member(root, "outputs", true);
    if (outputs == nullptr) return;
    if (outputs->empty()) error("E0408", "/outputs", "a graph without outputs").help("name what it computes");
    for (const auto& [name, json] : outputs->items()) {
      const std::string pointer = spec::child_pointer("/outputs", name);
      if (!check_name(pointer, name)) continue;
      std::string doc;
      std::optional<Value> value;
      if (json.is_object()) {
        check_keys(pointer, json, {"value", "type", "doc"});
        doc = text_member(pointer, json, "doc");
        if (!json.contains("value")) {
          error("E0401", pointer, "\"value\" is missing");
          continue;
        }
        value = expression(pointer + "/value", json["value"]);
        if (value && json.contains("type")) {
          const auto type = read_type(pointer + "/type", json["type"]);
          if (!type) continue;
          if (!type->holds(value->type)) {
            error("E0407", pointer + "/type",
                  fmt::format("{} does not hold every value of {}", type->text(), value->type.text()))
                .help(fmt::format("write [\"saturate\", ..., \"{0}\"] or [\"wrap\", ..., \"{0}\"]", type->text()));
            continue;
          }
          value = typed_.extend(*value, *type);
        }
      } else {
        value = expression(pointer, json);
      }
      if (!value) continue;
      doc = doc.empty() ? value->type.text() : fmt::format("{}; {}", value->type.text(), doc);
      file_.graph.output(name + "_o", value->node, std::move(doc));
      file_.output_types.push_back(value->type);
    }
  }

  int integer(const std::string& pointer, const Json& json, std::string_view what, int low, int high, bool& ok) {
    const bool fits = json.is_number_integer() && json >= low && json <= high;
    if (!fits) {
      error("E0409", pointer, fmt::format("{} is a whole number from {} to {}", what, low, high));
      ok = false;
      return low;
    }
    return json.get<int>();
  }

  void read_pipeline(const Json& root) {
    int depth = 2;
    double clock = 250;
    const Json* pipeline = object_member(root, "pipeline", false);
    if (pipeline != nullptr) {
      check_keys("/pipeline", *pipeline, {"interface", "depth", "clock_mhz", "levels"});
      bool ok = true;
      if (pipeline->contains("depth")) {
        depth = integer("/pipeline/depth", (*pipeline)["depth"], "\"depth\"", 0, 4, ok);
      }
      if (pipeline->contains("clock_mhz")) {
        const Json& mhz = (*pipeline)["clock_mhz"];
        if (!mhz.is_number() || mhz.get<double>() < 1 || mhz.get<double>() > 1000) {
          error("E0409", "/pipeline/clock_mhz", "\"clock_mhz\" is a number from 1 to 1000");
        } else {
          clock = mhz.get<double>();
        }
      }
      if (pipeline->contains("interface")) {
        const Json& json = (*pipeline)["interface"];
        const std::string name = json.is_string() ? json.get<std::string>() : "";
        if (name == "combinational") {
          file_.options.combinational = true;
          file_.options.clock_ports = false;
        } else if (name == "elastic") {
          file_.options.elastic = true;
        } else if (name != "clock_enable") {
          error("E0409", "/pipeline/interface", "an unknown interface")
              .help("write \"clock_enable\", \"elastic\" or \"combinational\"");
        }
      }
      file_.options.level_budget = level_budget(depth, clock);
      if (pipeline->contains("levels")) {
        const int levels = integer("/pipeline/levels", (*pipeline)["levels"], "\"levels\"", 1, 64, ok);
        if (pipeline->contains("depth") || pipeline->contains("clock_mhz")) {
          error("E0409", "/pipeline/levels", "\"levels\" stands beside \"depth\" or \"clock_mhz\"")
              .help("the levels follow from depth and clock: give them or \"levels\"");
        }
        file_.options.level_budget = levels;
      }
      return;
    }
    file_.options.level_budget = level_budget(depth, clock);
  }

  // ---- expressions -----------------------------------------------------------------------------

  std::optional<Value> expression(const std::string& pointer, const Json& json) {
    if (locator_.bad(pointer)) return std::nullopt;
    if (json.is_string()) return by_name(pointer, json.get<std::string>());
    if (json.is_number_integer()) return number(pointer, json);
    if (json.is_array() && !json.empty() && json[0].is_string()) return operation(pointer, json);
    error("E0401", pointer,
          fmt::format("an expression is a name, a number or [\"operator\", ...], not {}",
                      json.is_array() ? "this list" : kind_of(json)));
    return std::nullopt;
  }

  std::optional<Value> by_name(const std::string& pointer, const std::string& name) {
    const auto it = symbols_.find(name);
    if (it == symbols_.end()) {
      auto& d = error("E0406", pointer, fmt::format("there is no input or value {} up to here", ticked(name)));
      const std::string near = spec::nearest(name, order_);
      const Json& root = locator_.root();
      if (root.contains("values") && root["values"].is_object() && root["values"].contains(name)) {
        d.note("it is defined later", locator_.key(spec::child_pointer("/values", name)))
            .help("values are computed in their order: move it up");
      } else if (!near.empty()) {
        d.help(fmt::format("did you mean \"{}\"?", near));
      }
      return std::nullopt;
    }
    it->second.used = true;
    return it->second.value;
  }

  std::optional<Value> number(const std::string& pointer, const Json& json) {
    if (json.is_number_unsigned() && json.get<std::uint64_t>() >> 63 != 0) {
      const BitVec bits(64, json.get<std::uint64_t>());
      return typed_.constant({64, false}, bits);
    }
    (void)pointer;
    return typed_.constant(json.get<std::int64_t>());
  }

  /// A literal as the bits of a type.
  std::optional<BitVec> literal(const std::string& pointer, const Json& json, Type type) {
    std::optional<BitVec> bits;
    if (json.is_number_integer()) {
      const bool negative = json.is_number_integer() && !json.is_number_unsigned() && json.get<std::int64_t>() < 0;
      const auto raw = negative ? static_cast<std::uint64_t>(json.get<std::int64_t>()) : json.get<std::uint64_t>();
      const BitVec wide = negative ? BitVec(64, raw).sign_extend(std::max(64, type.width) + 1)
                                   : BitVec(64, raw).resize(std::max(64, type.width) + 1);
      const int needed = type.is_signed ? signed_bits(wide) : negative ? kMaxWidth + 1 : unsigned_bits(wide);
      if (needed <= type.width) bits = wide.resize(type.width);
    } else if (json.is_string()) {
      const auto text = json.get<std::string>();
      if (text.starts_with("0x") && text.size() > 2) {
        try {
          bits = BitVec::from_hex(type.width, std::string_view(text).substr(2));
        } catch (const std::invalid_argument&) {
          bits.reset();  // reported below
        }
      }
    }
    if (!bits) {
      error("E0407", pointer, fmt::format("this is not a number of type {}", type.text()))
          .help("write a whole number within the type, or its bits as \"0x...\"");
    }
    return bits;
  }

  std::optional<Value> operation(const std::string& pointer, const Json& json) {
    const auto name = json[0].get<std::string>();
    const auto entry = std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& e) { return e.name == name; });
    if (entry == kEntries.end()) {
      std::vector<std::string> names;
      for (const auto& e : kEntries) names.emplace_back(e.name);
      auto& d = error("E0404", pointer + "/0", fmt::format("there is no operator {}", ticked(name)));
      const std::string near = spec::nearest(name, names);
      if (near.empty()) {
        d.help(fmt::format("the operators are {}", fmt::join(names, ", ")));
      } else {
        d.help(fmt::format("did you mean \"{}\"?", near));
      }
      return std::nullopt;
    }
    const bool repeats = entry->signature.back() == '+';
    const std::string_view signature = entry->signature.substr(0, entry->signature.size() - (repeats ? 1 : 0));
    const std::size_t count = json.size() - 1;
    if (count < signature.size() || (!repeats && count > signature.size())) {
      error("E0405", pointer,
            fmt::format("`{}` takes {}{} argument{}, not {}", name, repeats ? "at least " : "", signature.size(),
                        signature.size() == 1 ? "" : "s", count))
          .help(fmt::format("write [\"{}\", {}]", name, entry->args));
      return std::nullopt;
    }
    std::vector<Arg> args;
    bool ok = true;
    for (std::size_t i = 0; i < count; ++i) {
      const char kind = signature[std::min(i, signature.size() - 1)];
      const auto arg = argument(fmt::format("{}/{}", pointer, i + 1), json[i + 1], kind, args);
      ok = ok && arg.has_value();
      args.push_back(arg.value_or(Arg{}));
      if (!arg && kind == 't') return std::nullopt;  // what follows depends on it
    }
    if (!ok) return std::nullopt;
    try {
      return entry->build(typed_, args);
    } catch (const std::invalid_argument& fault) {
      error("E0407", pointer, fmt::format("`{}`: {}", name, fault.what()))
          .help(fmt::format("[\"{}\", {}]: {}", name, entry->args, entry->meaning));
      return std::nullopt;
    }
  }

  std::optional<Arg> argument(const std::string& pointer, const Json& json, char kind, const std::vector<Arg>& before) {
    Arg arg;
    if (kind == 'v') {
      const auto value = expression(pointer, json);
      if (!value) return std::nullopt;
      arg.value = *value;
    } else if (kind == 'i') {
      if (!json.is_number_integer() || json < 0 || json >= kMaxWidth) {
        error("E0407", pointer, fmt::format("a bit number is a whole number from 0 to {}", kMaxWidth - 1));
        return std::nullopt;
      }
      arg.number = json.get<int>();
    } else if (kind == 't') {
      const auto type = read_type(pointer, json);
      if (!type) return std::nullopt;
      arg.type = *type;
    } else if (kind == 'k') {
      const auto bits = literal(pointer, json, before.back().type);
      if (!bits) return std::nullopt;
      arg.entries = {*bits};
    } else {
      if (!json.is_array()) {
        error("E0401", pointer, fmt::format("the entries are a list of numbers, not {}", kind_of(json)));
        return std::nullopt;
      }
      for (std::size_t i = 0; i < json.size(); ++i) {
        const auto bits = literal(fmt::format("{}/{}", pointer, i), json[i], before.back().type);
        if (!bits) return std::nullopt;
        arg.entries.push_back(*bits);
      }
    }
    return arg;
  }

  const spec::Locator& locator_;
  spec::Diagnostics& diagnostics_;
  GraphFile file_;
  Typed typed_;
  std::map<std::string, Symbol> symbols_;
  std::vector<std::string> order_;  // names, for suggestions
};

}  // namespace

std::optional<GraphFile> read_graph(std::string file, std::string text, spec::Diagnostics& diagnostics) {
  spec::Locator locator(std::move(file), std::move(text));
  if (!locator.parse(diagnostics)) return std::nullopt;
  return Reader(locator, diagnostics).read();
}

std::string operator_table() {
  std::string r = "| operator | arguments | meaning |\n|---|---|---|\n";
  for (const auto& e : kEntries) r += fmt::format("| `{}` | {} | {} |\n", e.name, e.args, e.meaning);
  return r;
}

}  // namespace rocegen::dataflow
