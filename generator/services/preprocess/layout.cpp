#include "generator/services/preprocess/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "generator/spec/locator.h"
#include "generator/spec/text.h"

namespace rocegen::preprocess {

namespace {

using Json = nlohmann::ordered_json;
using dataflow::Type;

constexpr std::int64_t kMaxWord = 0xffffffff;
constexpr std::int64_t kMinInt = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::string_view, 4> kKinds = {"label", "dense", "sparse", "pad"};
constexpr std::array<std::string_view, 11> kOperators = {"fill_null", "neg2zero",    "clamp",     "log",
                                                         "modulus",   "sigrid_hash", "bucketize", "shift",
                                                         "scale",     "float32",     "bfloat16"};

std::string ticked(std::string_view text) { return fmt::format("`{}`", spec::printable(spec::shorten(text, 40))); }
std::string shown(const Json& json) { return ticked(json.is_string() ? json.get<std::string>() : json.dump()); }

std::vector<std::string> words_of(std::span<const std::string_view> list) { return {list.begin(), list.end()}; }

/// What a column holds between two operators.
struct Held {
  bool real = false;  ///< float32
  bool logarithm = false;
  std::int64_t low = 0;  ///< of a whole number
  std::int64_t high = 0;

  std::string text() const { return real ? "float32" : fmt::format("a whole number in {}..{}", low, high); }
};

/// A number from 0 on; nothing if the text is none.
std::optional<int> digits(std::string_view text) {
  int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Reader {
 public:
  Reader(const Json& entry, const Where& where, spec::Diagnostics& diagnostics)
      : entry_(entry), where_(where), diagnostics_(diagnostics) {}

  std::optional<Layout> read() {
    const std::size_t before = diagnostics_.error_count();
    read_columns();
    if (diagnostics_.error_count() == before) read_operators();
    if (diagnostics_.error_count() == before) read_output();
    if (diagnostics_.error_count() != before) return std::nullopt;
    return std::move(layout_);
  }

 private:
  spec::Diagnostic& error(std::string_view code, const std::string& pointer, std::string message) {
    return diagnostics_.error(code, where_(pointer), std::move(message));
  }

  // ---- columns: ["label", "dense 13", "sparse 26", "pad 8"] -------------------------------------
  void read_columns() {
    if (!entry_.contains("columns") || !entry_["columns"].is_array() || entry_["columns"].empty()) {
      error("E0540", "/columns", "\"columns\" is a list of the columns of a row")
          .help("write \"columns\": [\"label\", \"dense 13\", \"sparse 26\"]");
      return;
    }
    std::array<int, kKinds.size()> counts{};
    std::int64_t words = 0;
    for (std::size_t i = 0; i < entry_["columns"].size(); ++i) {
      const Json& json = entry_["columns"][i];
      const std::string pointer = fmt::format("/columns/{}", i);
      const std::string text = json.is_string() ? json.get<std::string>() : "";
      const std::size_t space = std::min(text.find(' '), text.size());
      const std::string kind = text.substr(0, space);
      const auto known = std::find(kKinds.begin(), kKinds.end(), kind);
      const auto count = space == text.size() ? 1 : digits(std::string_view(text).substr(space + 1));
      if (known == kKinds.end() || !count || *count < 1) {
        auto& d = error("E0540", pointer, fmt::format("{} is no column", shown(json)));
        const std::string near = known == kKinds.end() ? spec::nearest(kind, words_of(kKinds)) : "";
        if (!near.empty())
          d.help(fmt::format("did you mean \"{}\"?", near));
        else
          d.help("write label, dense, sparse or pad, and how many there are: \"dense 13\"");
        continue;
      }
      words += *count;
      if (words > kMaxRowWords) {
        error("E0541", pointer, fmt::format("a row of {} words", words))
            .label(fmt::format("beyond {} words", kMaxRowWords))
            .help(fmt::format("rows have 1 to {} words; split the row into several messages", kMaxRowWords));
        return;
      }
      const auto k = static_cast<std::size_t>(known - kKinds.begin());
      for (int n = 0; n < *count; ++n) {
        Column column;
        column.kind = static_cast<ColumnKind>(k);
        column.number = ++counts[k];
        layout_.columns.push_back(std::move(column));
      }
    }
  }

  // ---- selectors: "dense", "dense 3", "dense 2..5" ----------------------------------------------
  struct Selection {
    std::vector<int> columns;
    bool whole_kind = false;
  };

  std::optional<Selection> select(const std::string& pointer, const std::string& text) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string kind = text.substr(0, space);
    const auto known = std::find(kKinds.begin(), kKinds.end(), kind);
    int first = 1;
    int last = std::numeric_limits<int>::max();
    bool good = known != kKinds.end() && kind != "pad";
    if (good && space != text.size()) {
      const std::string_view range = std::string_view(text).substr(space + 1);
      const std::size_t dots = range.find("..");
      const auto low = digits(range.substr(0, std::min(dots, range.size())));
      const auto high = dots == std::string_view::npos ? low : digits(range.substr(dots + 2));
      good = low && high && *low >= 1 && *low <= *high;
      if (good) first = *low, last = *high;
    }
    Selection out;
    int count = 0;
    for (int i = 0; good && i < layout_.row_words(); ++i) {
      const Column& c = layout_.columns[static_cast<std::size_t>(i)];
      if (to_string(c.kind) != kind) continue;
      ++count;
      if (c.number >= first && c.number <= last) out.columns.push_back(i);
    }
    out.whole_kind = space == text.size();
    if (good && !out.columns.empty() && (out.whole_kind || last <= count)) return out;
    auto& d = error("E0542", pointer, fmt::format("{} names no column", ticked(text)));
    if (good && count > 0)
      d.help(fmt::format("the row has {0} 1..{1}", kind, count));
    else
      d.help("write a kind, \"dense\", or one or some of its columns, \"dense 3\", \"dense 2..5\"");
    return std::nullopt;
  }

  // ---- operators: { "dense": [...], "sparse 3": [...] } -----------------------------------------
  void read_operators() {
    if (!entry_.contains("operators")) return;
    const Json& all = entry_["operators"];
    if (!all.is_object()) {
      error("E0540", "/operators", "\"operators\" is an object from columns to lists of operators");
      return;
    }
    std::vector<std::string> by_kind(layout_.columns.size());
    std::vector<std::string> by_number(layout_.columns.size());
    for (const auto& [key, list] : all.items()) {
      const std::string pointer = spec::child_pointer("/operators", key);
      const auto selection = select(pointer, key);
      if (!selection) continue;
      if (!list.is_array()) {
        error("E0540", pointer, fmt::format("the operators of {} are a list", key));
        continue;
      }
      for (const int i : selection->columns) {
        const auto at = static_cast<std::size_t>(i);
        std::string& owner = selection->whole_kind ? by_kind[at] : by_number[at];
        if (!owner.empty()) {
          error("E0543", pointer, fmt::format("{} has operators twice", layout_.columns[at].name()))
              .note("they stand here, too", where_(owner));
          break;
        }
        owner = pointer;
        // One column's own list counts more than that of its kind.
        if (selection->whole_kind && !by_number[at].empty()) continue;
        layout_.columns[at].operations.clear();
        layout_.columns[at].bytes = 4;
        if (!read_list(pointer, list, layout_.columns[at])) break;  // the next column says the same
      }
    }
  }

  bool read_list(const std::string& pointer, const Json& list, Column& column) {
    Held held;
    if (column.kind == ColumnKind::dense)
      held = {false, false, kMinInt, kMaxInt};
    else
      held = {false, false, 0, kMaxWord};
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string at = fmt::format("{}/{}", pointer, i);
      const auto operation = read_operation(at, list[i]);
      if (!operation || !apply(at, *operation, i, i + 1 == list.size(), column, held)) return false;
      column.operations.push_back(*operation);
    }
    return true;
  }

  std::optional<Operation> read_operation(const std::string& pointer, const Json& json) {
    const bool named = json.is_object() && json.size() == 1;
    const std::string name = json.is_string() ? json.get<std::string>() : named ? json.begin().key() : "";
    static const Json kNothing;
    const Json& args = named ? json.begin().value() : kNothing;
    const std::string args_at = named ? spec::child_pointer(pointer, name) : pointer;
    if (name == "log1p") {
      if (named) return bad_args(pointer, "log1p takes nothing", "write \"log1p\", or {\"log\": c} for ln(x + c)");
      return Operation{Operator::log, {1}, {}};
    }
    const auto known = std::find(kOperators.begin(), kOperators.end(), name);
    if (known == kOperators.end()) {
      auto& d = error("E0544", pointer, fmt::format("{} is no operator", shown(json)));
      auto names = words_of(kOperators);
      names.emplace_back("log1p");
      const std::string near = spec::nearest(name, names);
      if (near.empty())
        d.help(fmt::format("the operators are {}", fmt::join(names, ", ")));
      else
        d.help(fmt::format("did you mean \"{}\"?", near));
      return std::nullopt;
    }
    const auto op = static_cast<Operator>(known - kOperators.begin());
    switch (op) {
      case Operator::neg2zero:
      case Operator::float32:
      case Operator::bfloat16:
        if (named) return bad_args(args_at, fmt::format("{} takes nothing", name), fmt::format("write \"{}\"", name));
        return Operation{op, {}, {}};
      case Operator::fill_null:
        return read_members(args_at, args, op, {{"null", kMinInt, kMaxWord, {}}, {"value", kMinInt, kMaxWord, 0}},
                            R"({"fill_null": {"null": "0x80000000", "value": 0}})");
      case Operator::sigrid_hash:
        return read_members(
            args_at, args, op,
            {{"salt", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 0},
             {"max", 1, kMaxWord, {}}},
            R"({"sigrid_hash": {"salt": 0, "max": 100000}})");
      case Operator::scale: {
        auto out = read_members(args_at, args, op, {{"multiply", 1, kMaxInt, 1}, {"shift", 0, 62, 0}},
                                R"({"scale": {"multiply": 16, "shift": 0, "type": "u8"}})", "type");
        if (!out) return out;
        const auto type = args.contains("type") && args["type"].is_string()
                              ? Type::parse(args["type"].get<std::string>())
                              : std::nullopt;
        if (!type || (type->width != 8 && type->width != 16 && type->width != 32))
          return bad_args(args_at, "\"type\" is one of u8, s8, u16, s16, u32, s32", "add \"type\": \"u8\"");
        out->type = *type;
        return out;
      }
      case Operator::clamp: {
        auto out = read_numbers(args_at, args, op, 2, 2, kMinInt, kMaxWord, R"({"clamp": [0, 1000]})");
        if (out && out->numbers[0] > out->numbers[1])
          return bad_args(args_at, "the lower bound is above the upper one", "swap them");
        return out;
      }
      case Operator::bucketize:
        return read_borders(args_at, args);
      case Operator::log:
        return read_number(args_at, args, op, 0, kMaxInt + 1, R"({"log": 3})");
      case Operator::modulus:
        return read_number(args_at, args, op, 1, kMaxWord, R"({"modulus": 8192})");
      case Operator::shift:
        return read_number(args_at, args, op, -31, 31, R"({"shift": -3})");
    }
    return std::nullopt;
  }

  std::nullopt_t bad_args(const std::string& pointer, std::string message, std::string help) {
    error("E0545", pointer, std::move(message)).help(std::move(help));
    return std::nullopt;
  }

  /// A whole number, also as a string with hexadecimal digits.
  static std::optional<std::int64_t> number(const Json& json) {
    if (json.is_number_integer()) {
      if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
      return json.get<std::int64_t>();
    }
    if (!json.is_string()) return std::nullopt;
    const std::string text = json.get<std::string>();
    if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (fault != std::errc{} || end != text.data() + text.size() || text.size() < 3) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }

  struct Member {
    const char* key;
    std::int64_t low, high;
    std::optional<std::int64_t> fallback;
  };

  std::optional<Operation> read_members(const std::string& pointer, const Json& args, Operator op,
                                        const std::vector<Member>& members, const char* example,
                                        std::string_view also = {}) {
    const std::string help = fmt::format("write {}", example);
    if (!args.is_object()) return bad_args(pointer, fmt::format("{} takes an object", to_string(op)), help);
    for (const auto& [key, value] : args.items()) {
      const bool known =
          key == also || std::any_of(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
      if (!known)
        return bad_args(spec::child_pointer(pointer, key), fmt::format("{} takes no {}", to_string(op), ticked(key)),
                        help);
    }
    Operation out{op, {}, {}};
    for (const Member& m : members) {
      std::optional<std::int64_t> value = m.fallback;
      if (args.contains(m.key)) value = number(args[m.key]);
      if (!value || *value < m.low || *value > m.high) {
        return bad_args(args.contains(m.key) ? spec::child_pointer(pointer, m.key) : pointer,
                        fmt::format("\"{}\" of {} is a whole number in {}..{}", m.key, to_string(op), m.low, m.high),
                        help);
      }
      out.numbers.push_back(*value);
    }
    return out;
  }

  std::optional<Operation> read_number(const std::string& pointer, const Json& args, Operator op, std::int64_t low,
                                       std::int64_t high, const char* example) {
    const auto value = number(args);
    if (!value || *value < low || *value > high)
      return bad_args(pointer, fmt::format("{} takes a whole number in {}..{}", to_string(op), low, high),
                      fmt::format("write {}", example));
    return Operation{op, {*value}, {}};
  }

  std::optional<Operation> read_numbers(const std::string& pointer, const Json& args, Operator op, std::size_t least,
                                        std::size_t most, std::int64_t low, std::int64_t high, const char* example) {
    Operation out{op, {}, {}};
    bool good = args.is_array() && args.size() >= least && args.size() <= most;
    for (std::size_t i = 0; good && i < args.size(); ++i) {
      const auto value = number(args[i]);
      good = value && *value >= low && *value <= high;
      if (good) out.numbers.push_back(*value);
    }
    if (good) return out;
    return bad_args(pointer,
                    fmt::format("{} takes a list of {} whole numbers in {}..{}", to_string(op),
                                least == most ? fmt::to_string(least) : fmt::format("{}..{}", least, most), low, high),
                    fmt::format("write {}", example));
  }

  std::optional<Operation> read_borders(const std::string& pointer, const Json& args) {
    const char* help = R"(write {"bucketize": [0, 2.5, 10, 100]})";
    if (!args.is_array() || args.empty() || args.size() > kMaxBorders)
      return bad_args(pointer, fmt::format("bucketize takes a list of 1..{} borders", kMaxBorders), help);
    Operation out{Operator::bucketize, {}, {}};
    double last = -std::numeric_limits<double>::infinity();
    int equal = 1;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const std::string at = fmt::format("{}/{}", pointer, i);
      if (!args[i].is_number() || std::fabs(args[i].get<double>()) > 4294967296.0)
        return bad_args(at, "a border is a number of at most 32 bits", help);
      const double border = args[i].get<double>();
      if (border < last) return bad_args(at, "the borders do not ascend", "sort them");
      equal = border == last ? equal + 1 : 1;
      if (equal > 2) return bad_args(at, "more than two borders are equal", "leave out the third");
      last = border;
      // A whole number lies above a border exactly if it lies above the border rounded down.
      out.numbers.push_back(static_cast<std::int64_t>(std::floor(border)));
    }
    return out;
  }

  // ---- what an operator makes of what the column holds ------------------------------------------
  bool apply(const std::string& pointer, const Operation& o, std::size_t index, bool final, Column& column,
             Held& held) {
    const auto refuse = [&](std::string why, std::string help) {
      error("E0546", pointer, fmt::format("{} {}", to_string(o.op), why))
          .label(fmt::format("{} holds {} here", column.name(), held.text()))
          .help(std::move(help));
      return false;
    };
    const bool takes_real = o.op == Operator::scale || o.op == Operator::bfloat16;
    if (held.real && !takes_real) return refuse("takes a whole number", "move it in front of what makes a float32");
    const auto saturated = [&](std::int64_t value) {
      return held.low < 0 ? std::clamp(value, kMinInt, kMaxInt) : std::clamp<std::int64_t>(value, 0, kMaxWord);
    };
    switch (o.op) {
      case Operator::fill_null: {
        if (index != 0) return refuse("compares the word as it came", "make it the first operator");
        const bool is_signed = held.low < 0;
        if (is_signed ? o.numbers[1] > kMaxInt : o.numbers[1] < 0)
          return refuse(fmt::format("cannot put {} there", o.numbers[1]), "give a value that the column can hold");
        return true;
      }
      case Operator::neg2zero:
        held.low = std::max<std::int64_t>(held.low, 0);
        held.high = std::max<std::int64_t>(held.high, 0);
        return true;
      case Operator::clamp:
        if (held.low < 0 && o.numbers[1] > kMaxInt)
          return refuse("has a bound that the column cannot hold", fmt::format("give bounds of at most {}", kMaxInt));
        if (held.low >= 0 && o.numbers[0] < 0)
          return refuse("has a bound that the column cannot hold", "give bounds of at least 0");
        held.low = std::clamp(held.low, o.numbers[0], o.numbers[1]);
        held.high = std::clamp(held.high, o.numbers[0], o.numbers[1]);
        return true;
      case Operator::log:
        if (held.high + o.numbers[0] <= 0) return refuse("has no number above zero", "add a larger constant");
        held = {true, true, 0, 0};
        return true;
      case Operator::modulus:
      case Operator::sigrid_hash:
        held = {false, false, 0, o.numbers.back() - 1};
        return true;
      case Operator::bucketize:
        held = {false, false, 0, static_cast<std::int64_t>(o.numbers.size())};
        return true;
      case Operator::shift: {
        const auto n = o.numbers[0];
        const auto moved = [&](std::int64_t x) { return n >= 0 ? saturated(x * (std::int64_t{1} << n)) : x >> -n; };
        held = {false, false, moved(held.low), moved(held.high)};
        return true;
      }
      case Operator::scale:
        if (!final) return refuse("ends the list of operators", "make it the last one");
        if (held.real && !held.logarithm) return refuse("takes a whole number or a logarithm", "leave out float32");
        column.bytes = o.type.width / 8;
        return true;
      case Operator::float32:
        held = {true, false, 0, 0};
        return true;
      case Operator::bfloat16:
        if (!final) return refuse("ends the list of operators", "make it the last one");
        if (!held.real) return refuse("takes a float32", "put \"log1p\" or \"float32\" in front of it");
        column.bytes = 2;
        return true;
    }
    return false;
  }

  // ---- output: ["label", "dense", "sparse 2..4"] ------------------------------------------------
  void read_output() {
    std::vector<bool> out(layout_.columns.size());
    if (!entry_.contains("output")) {
      for (int i = 0; i < layout_.row_words(); ++i) {
        if (layout_.columns[static_cast<std::size_t>(i)].kind == ColumnKind::pad) continue;
        layout_.output.push_back(i);
      }
    } else if (!entry_["output"].is_array()) {
      error("E0540", "/output", "\"output\" is a list of columns");
      return;
    } else {
      for (std::size_t i = 0; i < entry_["output"].size(); ++i) {
        const std::string pointer = fmt::format("/output/{}", i);
        const Json& json = entry_["output"][i];
        const auto selection = select(pointer, json.is_string() ? json.get<std::string>() : json.dump());
        if (!selection) return;
        for (const int column : selection->columns) {
          const auto at = static_cast<std::size_t>(column);
          if (std::find(layout_.output.begin(), layout_.output.end(), column) != layout_.output.end()) {
            error("E0547", pointer, fmt::format("{} is in the output twice", layout_.columns[at].name()))
                .help("name every column once; those that are not named are left out");
            return;
          }
          layout_.output.push_back(column);
        }
      }
    }
    for (const int column : layout_.output) out[static_cast<std::size_t>(column)] = true;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!out[i]) layout_.columns[i].bytes = 0;
    if (layout_.output.empty())
      error("E0548", entry_.contains("output") ? "/output" : "/columns", "nothing of a row is left")
          .help("name a column in \"output\", or clear the service's bit in QP_SERVICES");
  }

  const Json& entry_;
  const Where& where_;
  spec::Diagnostics& diagnostics_;
  Layout layout_;
};

}  // namespace

std::string_view to_string(ColumnKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view to_string(Operator op) { return kOperators[static_cast<std::size_t>(op)]; }

std::string Column::name() const { return fmt::format("{} {}", to_string(kind), number); }

int Layout::row_bytes() const { return bytes_after(row_words()); }

int Layout::bytes_after(int words) const {
  int bytes = 0;
  for (const int column : output) {
    if (column >= words) break;
    bytes += columns[static_cast<std::size_t>(column)].bytes;
  }
  return bytes;
}

std::uint64_t Layout::length(std::uint64_t bytes) const {
  const std::uint64_t words = bytes / 4;
  const auto row = static_cast<std::uint64_t>(row_words());
  return words / row * static_cast<std::uint64_t>(row_bytes()) +
         static_cast<std::uint64_t>(bytes_after(static_cast<int>(words % row)));
}

std::optional<Layout> read_layout(const Json& entry, const Where& where, spec::Diagnostics& diagnostics) {
  return Reader(entry, where, diagnostics).read();
}

bool check_order(const Layout& layout, int lanes, const Where& where, spec::Diagnostics& diagnostics) {
  const int group = std::gcd(lanes, layout.row_words());
  for (std::size_t i = 1; i < layout.output.size(); ++i) {
    const int before = layout.output[i - 1];
    const int here = layout.output[i];
    if (here / group >= before / group) continue;
    const auto name = [&](int column) { return layout.columns[static_cast<std::size_t>(column)].name(); };
    diagnostics.error("E0549", where("/output"), fmt::format("{} cannot stand behind {}", name(here), name(before)))
        .label(fmt::format("{} may come in an earlier beat than {}", name(here), name(before)))
        .note(fmt::format(
            "rows of {} words in beats of {} words: columns change places only within words {}..{}, {}..{}, ...",
            layout.row_words(), lanes, 0, group - 1, group, 2 * group - 1))
        .help(fmt::format(
            "let the sender put the columns in this order, or fill the row up with \"pad\" to a multiple of {} words",
            lanes));
    return false;
  }
  return true;
}

}  // namespace rocegen::preprocess
