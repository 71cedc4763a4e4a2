#include "generator/netlist/library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "generator/spec/text.h"

namespace rocegen::netlist {

namespace {

constexpr std::array<std::string_view, 6> kStreamSuffixes = {"tvalid", "tready", "tdata", "tkeep", "tlast", "tuser"};
constexpr std::array<std::string_view, 4> kPayload = {"tdata", "tkeep", "tlast", "tuser"};
constexpr int kMaxNesting = 32;
constexpr std::int64_t kMaxWidth = 1 << 20;  // bits of a port; above this a parameter is certainly wrong

// What is known of the stream cells of templates/lib, whose headers need no `rocegen:` comment.
struct Known {
  std::string_view module;
  std::string_view comb;
  std::string_view passes;
};
constexpr std::array<Known, 9> kKnown = {{
    {"stream_skid", "none", "s_axis m_axis"},
    {"stream_reg", "s_axis.tready<-m_axis.tready", "s_axis m_axis"},
    {"stream_fifo", "none", "s_axis m_axis"},
    {"stream_cdc", "none", "s_axis m_axis"},
    {"stream_fork", "s_axis.tready<-m_axis.tready, m_axis.tvalid<-s_axis.tvalid", "s_axis m_axis"},
    {"stream_arb", "s_axis.tready<-m_axis.tready, s_axis.tready<-s_axis.tvalid", "s_axis m_axis"},
    {"record_arb", "s_axis.tready<-m_axis.tready, s_axis.tready<-s_axis.tvalid", "s_axis m_axis"},
    {"width_up", "s_axis.tready<-m_axis.tready", "s_axis m_axis"},
    {"width_down", "s_axis.tready<-m_axis.tready", "s_axis m_axis"},
}};

struct NamedType {
  std::string_view name;
  int width;
};
constexpr std::array<NamedType, 8> kIntegerTypes = {{{"int", 32},
                                                     {"integer", 32},
                                                     {"shortint", 16},
                                                     {"longint", 64},
                                                     {"byte", 8},
                                                     {"bit", 1},
                                                     {"logic", 1},
                                                     {"reg", 1}}};

int integer_type_width(std::string_view name) {
  for (const NamedType& type : kIntegerTypes) {
    if (type.name == name) return type.width;
  }
  return 0;
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

std::string trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return std::string(text);
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

// "s_hdr_tdata" -> {"s_hdr", "tdata"}; nothing for a plain pin.
std::optional<std::pair<std::string, std::string>> split_stream_port(const std::string& name) {
  if (!starts_with(name, "s_") && !starts_with(name, "m_")) return std::nullopt;
  const std::size_t underscore = name.rfind('_');
  if (underscore < 2) return std::nullopt;
  const std::string suffix = name.substr(underscore + 1);
  if (std::find(kStreamSuffixes.begin(), kStreamSuffixes.end(), suffix) == kStreamSuffixes.end()) return std::nullopt;
  return std::make_pair(name.substr(0, underscore), suffix);
}

bool is_clock(const std::string& name) { return name == "clk" || starts_with(name, "clk_"); }
bool is_reset(const std::string& name) { return name == "rst" || starts_with(name, "rst_"); }
bool is_clock_or_reset(const std::string& name) {
  return (is_clock(name) || is_reset(name)) && !name.ends_with("_i") && !name.ends_with("_o");
}

// "a<-b, c<-d" or "none". Nothing when malformed.
std::optional<std::vector<CombPath>> parse_comb(std::string_view text) {
  std::vector<CombPath> paths;
  const std::string all = trimmed(text);
  if (all == "none") return paths;
  std::size_t from = 0;
  while (from <= all.size()) {
    std::size_t comma = all.find(',', from);
    if (comma == std::string::npos) comma = all.size();
    const std::string item = trimmed(std::string_view(all).substr(from, comma - from));
    const std::size_t arrow = item.find("<-");
    if (arrow == std::string::npos) return std::nullopt;
    CombPath path{trimmed(std::string_view(item).substr(0, arrow)), trimmed(std::string_view(item).substr(arrow + 2))};
    const auto bad = [](const std::string& s) { return s.empty() || s.find(' ') != std::string::npos; };
    if (bad(path.to) || bad(path.from)) return std::nullopt;
    paths.push_back(std::move(path));
    from = comma + 1;
  }
  return paths;
}

struct Macro {
  std::vector<Token> body;
  bool with_arguments = false;
};

}  // namespace

bool glob_match(std::string_view glob, std::string_view text) {
  if (glob.empty()) return text.empty();
  if (glob.front() == '*') {
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (glob_match(glob.substr(1), text.substr(i))) return true;
    }
    return false;
  }
  return !text.empty() && text.front() == glob.front() && glob_match(glob.substr(1), text.substr(1));
}

// ---- packages -----------------------------------------------------------------------------------------------------

struct Library::Package {
  struct Member {
    std::string name, type;
    bool ranged = false;
    Expression msb, lsb;
  };
  struct TypeDecl {
    bool is_struct = false;
    std::vector<Member> members;  // of a struct; else the one member is what the name stands for
  };
  std::string name, file;
  std::vector<std::pair<std::string, Expression>> constants;
  std::vector<std::pair<std::string, TypeDecl>> types;
  std::vector<Function> functions;
  std::vector<std::string> uses;  // other packages

  [[nodiscard]] const Expression* constant(std::string_view wanted) const {
    for (const auto& [key, value] : constants) {
      if (key == wanted) return &value;
    }
    return nullptr;
  }
  [[nodiscard]] const TypeDecl* type(std::string_view wanted) const {
    for (const auto& [key, value] : types) {
      if (key == wanted) return &value;
    }
    return nullptr;
  }
};

// Names as seen inside a package, and qualified names of any package.
class Library::PackageScope : public Scope {
 public:
  PackageScope(const Library& library, const Package* inside, int depth)
      : library_(library), inside_(inside), depth_(depth) {}

  bool value(std::string_view name, std::int64_t& result, std::string& error) const override {
    std::string_view local = name;
    const Package* package = locate(local);
    if (package == nullptr) return false;
    const Expression* expression = package->constant(local);
    if (expression == nullptr) return false;
    if (depth_ > kMaxNesting) {
      error = fmt::format("'{}' depends on itself", name);
      return false;
    }
    const Evaluation evaluation = evaluate(*expression, PackageScope(library_, package, depth_ + 1));
    if (!evaluation.ok) {
      error = fmt::format("'{}' has no usable value: {}", name, evaluation.error);
      return false;
    }
    result = evaluation.value;
    return true;
  }

  bool bits(std::string_view name, std::int64_t& result, std::string& error) const override {
    if (const int width = integer_type_width(name); width > 0) {
      result = width;
      return true;
    }
    const std::optional<RecordInfo> info = record(name, error);
    if (info) result = info->width;
    return info.has_value();
  }

  [[nodiscard]] const Function* function(std::string_view name) const override {
    std::string_view local = name;
    const Package* package = locate(local);
    if (package == nullptr) return nullptr;
    for (const Function& candidate : package->functions) {
      if (candidate.name == local) return &candidate;
    }
    return nullptr;
  }

  // Width and fields of a type.
  [[nodiscard]] std::optional<RecordInfo> record(std::string_view name, std::string& error) const {
    std::string_view local = name;
    const Package* package = locate(local);
    const Package::TypeDecl* type = package != nullptr ? package->type(local) : nullptr;
    if (type == nullptr) return std::nullopt;
    if (depth_ > kMaxNesting) {
      error = fmt::format("type '{}' contains itself", name);
      return std::nullopt;
    }
    const PackageScope inner(library_, package, depth_ + 1);
    RecordInfo info;
    info.name = fmt::format("{}::{}", package->name, local);
    for (const Package::Member& member : type->members) {
      StructField field;
      field.name = member.name;
      std::int64_t width = integer_type_width(member.type);
      if (width == 0) {
        const std::optional<RecordInfo> nested = inner.record(member.type, error);
        if (!nested) {
          if (error.empty()) error = fmt::format("type '{}' of '{}' is not known", member.type, info.name);
          return std::nullopt;
        }
        width = nested->width;
        field.record = nested->name;
      }
      if (member.ranged) {
        if (!field.record.empty()) {
          error = fmt::format("'{}' is a packed array of a named type, which Yosys miscompiles", info.name);
          return std::nullopt;
        }
        const Evaluation msb = evaluate(member.msb, inner);
        const Evaluation lsb = evaluate(member.lsb, inner);
        if (!msb.ok || !lsb.ok) {
          error = fmt::format("the range of '{}' in '{}' has no value: {}", member.name, info.name,
                              msb.ok ? lsb.error : msb.error);
          return std::nullopt;
        }
        width *= (msb.value >= lsb.value ? msb.value - lsb.value : lsb.value - msb.value) + 1;
      }
      if (width < 1 || width > kMaxWidth) {
        error = fmt::format("'{}' in '{}' is {} bits wide", member.name, info.name, width);
        return std::nullopt;
      }
      field.width = static_cast<int>(width);
      info.fields.push_back(std::move(field));
    }
    for (auto field = info.fields.rbegin(); field != info.fields.rend(); ++field) {
      field->lsb = info.width;
      info.width += field->width;
    }
    if (!type->is_struct) info.fields.clear();
    return info;
  }

 private:
  // The package of a name; `name` loses its qualifier.
  const Package* locate(std::string_view& name) const {
    const std::size_t colons = name.find("::");
    if (colons == std::string_view::npos) return inside_;
    const Package* found = library_.package(name.substr(0, colons));
    name.remove_prefix(colons + 2);
    return found;
  }

  const Library& library_;
  const Package* inside_;
  int depth_;
};

// ---- reading ------------------------------------------------------------------------------------------------------

// Reads one text: packages in full, modules up to the end of their headers.
class HeaderReader {
 public:
  HeaderReader(Library& library, std::string file, bool generated, Diagnostics& diagnostics)
      : library_(library), file_(std::move(file)), generated_(generated), diagnostics_(diagnostics) {}

  void read(std::string_view text) {
    split_lines(text);
    Tokens raw = tokenize(text);
    if (!raw.error.empty()) {
      error(raw.error_line, 1, raw.error);
      return;
    }
    comments_ = std::move(raw.comments);
    preprocess(raw.tokens);
    while (!at_end()) {
      const Token& token = current();
      if (token.kind == Token::Kind::identifier && token.text == "package") {
        read_package();
      } else if (token.kind == Token::Kind::identifier && (token.text == "module" || token.text == "macromodule")) {
        read_module();
      } else {
        ++position_;
      }
    }
  }

 private:
  struct HeaderError {};

  // ---- tokens ----
  [[nodiscard]] bool at_end() const { return tokens_[position_].kind == Token::Kind::end; }
  [[nodiscard]] const Token& current() const { return tokens_[position_]; }
  [[nodiscard]] const Token& ahead(std::size_t count = 1) const {
    return tokens_[std::min(position_ + count, tokens_.size() - 1)];
  }
  [[nodiscard]] bool is(std::string_view text) const {
    return current().kind != Token::Kind::string && current().text == text && !at_end();
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    ++position_;
    return true;
  }
  void split_lines(std::string_view text) {
    std::size_t from = 0;
    while (from <= text.size()) {
      std::size_t end = text.find('\n', from);
      if (end == std::string_view::npos) end = text.size();
      lines_.emplace_back(text.substr(from, end - from));
      from = end + 1;
    }
  }
  [[nodiscard]] Place place(int line, int column, int length = 1) const {
    Place p;
    p.file = file_;
    p.line = line;
    p.column = column;
    p.length = length;
    if (line >= 1 && static_cast<std::size_t>(line) <= lines_.size()) {
      p.source = lines_[static_cast<std::size_t>(line) - 1];
      p.source_column = column;
    }
    return p;
  }
  [[nodiscard]] Place place(const Token& token) const {
    return place(token.line, token.column, std::max(1, static_cast<int>(token.text.size())));
  }
  spec::Diagnostic& error(int line, int column, std::string message) {
    return diagnostics_.error("E0301", place(line, column), std::move(message));
  }
  [[noreturn]] void fail(const Token& token, std::string message, const std::string& help = "") {
    spec::Diagnostic& d = diagnostics_.error("E0301", place(token), std::move(message));
    if (!help.empty()) d.help(help);
    throw HeaderError{};
  }
  [[noreturn]] void fail_expected(std::string_view what) {
    fail(current(), at_end() ? fmt::format("{} is missing at the end of the file", what)
                             : fmt::format("{} is expected before '{}'", what, current().text));
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail_expected(fmt::format("'{}'", text));
  }
  std::string identifier(std::string_view what) {
    if (current().kind != Token::Kind::identifier) fail_expected(what);
    return tokens_[position_++].text;
  }

  // Conditional compilation, object-like macros, includes. What a header may see is what synthesis sees: no FORMAL, no
  // VERILATOR; SYNTHESIS is defined.
  void preprocess(const std::vector<Token>& raw) {
    std::map<std::string, Macro> macros;
    macros["SYNTHESIS"] = {};
    struct Level {
      bool active, taken, parent;
    };
    std::vector<Level> levels;
    const auto active = [&] { return levels.empty() || levels.back().active; };
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const Token& token = raw[i];
      if (token.kind != Token::Kind::directive) {
        if (active() || token.kind == Token::Kind::end) tokens_.push_back(token);
        continue;
      }
      const std::string& text = token.text;
      const auto argument = [&]() -> std::string {
        if (i + 1 < raw.size() && raw[i + 1].kind == Token::Kind::identifier) return raw[++i].text;
        return "";
      };
      const auto skip_line = [&] {
        while (i + 1 < raw.size() && raw[i + 1].line == token.line && raw[i + 1].kind != Token::Kind::end) ++i;
      };
      if (text == "`ifdef" || text == "`ifndef") {
        const bool defined = macros.contains(argument());
        const bool take = active() && defined == (text == "`ifdef");
        levels.push_back({take, take, active()});
      } else if (text == "`elsif") {
        const bool defined = macros.contains(argument());
        if (levels.empty()) {
          error(token.line, token.column, "`elsif without `ifdef");
          continue;
        }
        Level& level = levels.back();
        level.active = level.parent && !level.taken && defined;
        level.taken = level.taken || level.active;
      } else if (text == "`else") {
        if (levels.empty()) {
          error(token.line, token.column, "`else without `ifdef");
          continue;
        }
        Level& level = levels.back();
        level.active = level.parent && !level.taken;
        level.taken = true;
      } else if (text == "`endif") {
        if (levels.empty()) {
          error(token.line, token.column, "`endif without `ifdef");
          continue;
        }
        levels.pop_back();
      } else if (starts_with(text, "`define")) {
        if (active()) define(text, macros);
      } else if (text == "`undef") {
        const std::string name = argument();
        if (active()) macros.erase(name);
      } else if (text == "`include") {
        if (i + 1 < raw.size() && raw[i + 1].kind == Token::Kind::string) {
          const std::string& quoted = raw[++i].text;
          if (active()) includes_.push_back(quoted.substr(1, quoted.size() - 2));
        }
      } else if (text == "`default_nettype" || text == "`timescale" || text == "`resetall" || text == "`line" ||
                 text == "`pragma" || text == "`celldefine" || text == "`endcelldefine") {
        skip_line();
      } else if (active()) {
        const auto macro = macros.find(text.substr(1));
        if (macro == macros.end() || macro->second.with_arguments) {
          tokens_.push_back(token);  // an error only where a header needs it
        } else {
          for (Token part : macro->second.body) {
            part.line = token.line;
            part.column = token.column;
            tokens_.push_back(std::move(part));
          }
        }
      }
    }
    if (!levels.empty()) error(raw.back().line, 1, "`ifdef without `endif");
    if (tokens_.empty() || tokens_.back().kind != Token::Kind::end) tokens_.push_back({});
  }

  static void define(const std::string& text, std::map<std::string, Macro>& macros) {
    std::size_t at = std::string_view("`define").size();
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
    const std::size_t from = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_')) ++at;
    Macro macro;
    macro.with_arguments = at < text.size() && text[at] == '(';
    if (!macro.with_arguments) {
      std::string body = text.substr(at);
      std::replace(body.begin(), body.end(), '\\', ' ');
      macro.body = tokenize(body).tokens;
      macro.body.pop_back();  // end
    }
    macros[text.substr(from, at - from)] = std::move(macro);
  }

  // Tokens up to one of `stops` at depth 0; the stop is not taken.
  Expression expression_until(std::initializer_list<std::string_view> stops) {
    Expression expression;
    int depth = 0;
    while (!at_end()) {
      const Token& token = current();
      if (token.kind == Token::Kind::symbol || token.kind == Token::Kind::identifier) {
        if (depth == 0 && std::find(stops.begin(), stops.end(), token.text) != stops.end()) return expression;
        if (token.text == "(" || token.text == "[" || token.text == "{" || token.text == "'{") ++depth;
        if (token.text == ")" || token.text == "]" || token.text == "}") --depth;
        if (depth < 0) return expression;
      }
      if (token.kind == Token::Kind::directive) {
        fail(token, fmt::format("the macro {} is not known to the header reader", token.text),
             "use a parameter or a package constant instead of the macro");
      }
      if (token.text == ";" && depth > 0) fail(token, "a parenthesis is not closed");
      expression.push_back(token);
      ++position_;
    }
    fail_expected("the end of an expression");
  }

  // [msb:lsb]; at most one dimension.
  bool range(Expression& msb, Expression& lsb) {
    if (!is("[")) return false;
    ++position_;
    msb = expression_until({":", "]"});
    if (!accept(":")) fail(current(), "a range is written [msb:lsb]");
    lsb = expression_until({"]"});
    expect("]");
    if (msb.empty() || lsb.empty()) fail(current(), "a range is written [msb:lsb]");
    if (is("[")) {
      fail(current(), "more than one packed dimension is not supported", "write one flat vector [N*W-1:0]");
    }
    return true;
  }
  void skip_attributes() {
    while (is("(*")) {
      while (!at_end() && !is("*)")) ++position_;
      expect("*)");
    }
  }

  // ---- packages ----
  void read_package() {
    const Token start = current();
    ++position_;
    Library::Package package;
    package.file = file_;
    try {
      accept("automatic");
      package.name = identifier("the name of the package");
      expect(";");
      while (!is("endpackage")) {
        if (at_end()) fail(start, fmt::format("package '{}' has no endpackage", package.name));
        package_item(package);
      }
      ++position_;
      accept(":") && (++position_ != 0);
    } catch (const HeaderError&) {
      while (!at_end() && !is("endpackage")) ++position_;
      return;
    }
    if (library_.package(package.name) != nullptr) {
      diagnostics_.error("E0302", place(start), fmt::format("package '{}' is declared twice", package.name))
          .note(fmt::format("first in {}", library_.package(package.name)->file));
      return;
    }
    std::sort(package.uses.begin(), package.uses.end());
    package.uses.erase(std::unique(package.uses.begin(), package.uses.end()), package.uses.end());
    library_.packages_.push_back(std::make_shared<const Library::Package>(std::move(package)));
  }

  static void note_uses(const Expression& expression, std::vector<std::string>& uses) {
    for (const Token& token : expression) {
      const std::size_t colons = token.text.find("::");
      if (token.kind == Token::Kind::identifier && colons != std::string::npos)
        uses.push_back(token.text.substr(0, colons));
    }
  }

  void package_item(Library::Package& package) {
    skip_attributes();
    if (accept("localparam") || accept("parameter")) {
      // type tokens up to the name in front of '='
      while (!at_end() && !(current().kind == Token::Kind::identifier && ahead().text == "=")) {
        if (is(";")) fail(current(), "a constant of a package needs a value");
        ++position_;
      }
      do {
        const std::string name = identifier("the name of the constant");
        expect("=");
        Expression value = expression_until({",", ";"});
        note_uses(value, package.uses);
        package.constants.emplace_back(name, std::move(value));
      } while (accept(","));
      return expect(";");
    }
    if (is("typedef")) return read_typedef(package);
    if (is("function")) return read_function(package);
    if (is("task") || is("class")) {
      const std::string end = "end" + current().text;
      while (!at_end() && !is(end)) ++position_;
      ++position_;
      return;
    }
    while (!at_end() && !is(";") && !is("endpackage")) ++position_;
    accept(";");
  }

  // The type of a member: "logic signed [7:0]", "pkg::t", "tx_pkt_t".
  void member_type(Library::Package::Member& member) {
    member.type = identifier("a type");
    accept("signed") || accept("unsigned");
    member.ranged = range(member.msb, member.lsb);
  }

  void read_typedef(Library::Package& package) {
    ++position_;
    Library::Package::TypeDecl type;
    if (is("struct")) {
      ++position_;
      const bool packed = accept("packed");
      accept("signed") || accept("unsigned");
      type.is_struct = packed;
      expect("{");
      while (!accept("}")) {
        Library::Package::Member member;
        member_type(member);
        do {
          member.name = identifier("the name of a member");
          if (is("[")) fail(current(), "an unpacked member is not supported");
          type.members.push_back(member);
        } while (accept(","));
        expect(";");
      }
    } else if (is("enum")) {
      ++position_;
      Library::Package::Member member;
      if (is("{")) {
        member.type = "int";
      } else {
        member_type(member);
      }
      type.members.push_back(member);
      expect("{");
      Expression previous;
      while (!accept("}")) {
        const Token name_token = current();
        const std::string name = identifier("the name of an enum value");
        Expression value;
        if (accept("=")) {
          value = expression_until({",", "}"});
        } else if (previous.empty()) {
          value = {{Token::Kind::number, "0", name_token.line, name_token.column}};
        } else {
          value = {{Token::Kind::symbol, "(", name_token.line, name_token.column}};
          value.insert(value.end(), previous.begin(), previous.end());
          value.push_back({Token::Kind::symbol, ")", name_token.line, name_token.column});
          value.push_back({Token::Kind::symbol, "+", name_token.line, name_token.column});
          value.push_back({Token::Kind::number, "1", name_token.line, name_token.column});
        }
        package.constants.emplace_back(name, value);
        previous = {{Token::Kind::identifier, name, name_token.line, name_token.column}};
        accept(",");
      }
    } else if (is("union")) {
      while (!at_end() && !is("}")) ++position_;
      ++position_;
      while (!at_end() && !is(";")) ++position_;
      return expect(";");  // no record can be made of it; a port of this type is an unknown type
    } else {
      Library::Package::Member member;
      member_type(member);
      type.members.push_back(member);
    }
    for (const Library::Package::Member& member : type.members) {
      const std::size_t colons = member.type.find("::");
      if (colons != std::string::npos) package.uses.push_back(member.type.substr(0, colons));
      note_uses(member.msb, package.uses);
      note_uses(member.lsb, package.uses);
    }
    const std::string name = identifier("the name of the type");
    if (is("[")) fail(current(), "an unpacked type is not supported");
    expect(";");
    package.types.emplace_back(name, std::move(type));
  }

  // function automatic int name(input int a, int b); ... endfunction
  void read_function(Library::Package& package) {
    ++position_;
    accept("automatic") || accept("static");
    Function function;
    std::vector<Token> before;
    while (!at_end() && !is("(") && !is(";")) before.push_back(tokens_[position_++]);
    if (before.empty()) fail_expected("the name of the function");
    function.name = before.back().text;
    const auto integral = [](std::string_view type) { return type == "int" || type == "integer" || type == "longint"; };
    function.integral = before.size() >= 2 && integral(before.front().text);
    if (accept("(")) {
      bool last_integral = false;
      while (!accept(")")) {
        std::vector<Token> argument;
        while (!at_end() && !is(",") && !is(")")) argument.push_back(tokens_[position_++]);
        accept(",");
        std::erase_if(argument, [](const Token& t) { return t.text == "input" || t.text == "unsigned"; });
        if (argument.empty()) continue;
        if (argument.size() > 1) last_integral = argument.size() == 2 && integral(argument.front().text);
        function.integral = function.integral && last_integral;
        function.arguments.push_back(argument.back().text);
      }
    }
    expect(";");
    while (!at_end() && !is("endfunction")) function.body.push_back(tokens_[position_++]);
    expect("endfunction");
    if (accept(":")) ++position_;
    note_uses(function.body, package.uses);
    package.functions.push_back(std::move(function));
  }

  // ---- modules ----
  void read_module() {
    const Token start = current();
    const std::size_t first = position_;
    ++position_;
    ModuleDecl module;
    bool good = true;
    try {
      accept("automatic") || accept("static");
      const Token name = current();
      module.name = identifier("the name of the module");
      module.place = place(name);
      module.file = file_;
      module.generated = generated_;
      while (is("import")) {
        while (!at_end() && !is(";")) ++position_;
        ++position_;
      }
      if (accept("#")) parameters(module);
      if (accept("(")) ports(module);
      expect(";");
    } catch (const HeaderError&) {
      good = false;
    }
    const std::size_t body = position_;
    while (!at_end() && !is("endmodule")) {
      if (is("module")) break;
      ++position_;
    }
    if (!is("endmodule")) {
      if (good) {
        diagnostics_.error("E0301", place(start), fmt::format("module '{}' has no endmodule", module.name));
      }
      return;
    }
    const int last_line = current().line;
    ++position_;
    if (!good) {
      previous_end_ = last_line + 1;
      return;
    }
    dependencies(module, first, body, position_);
    annotations(module, previous_end_, last_line);
    previous_end_ = last_line + 1;
    module.includes = includes_;
    library_.add(std::move(module), diagnostics_);
  }

  void parameters(ModuleDecl& module) {
    expect("(");
    ParamDecl shape;  // keyword and type carry over to items without one
    while (!accept(")")) {
      skip_attributes();
      ParamDecl param;
      const bool keyword = is("parameter") || is("localparam");
      if (keyword) {
        shape = {};
        shape.local = is("localparam");
        ++position_;
        if (is("type")) {
          fail(current(), "type parameters are not supported", "Yosys cannot read them: pass a width instead");
        }
      }
      const bool bare = current().kind == Token::Kind::identifier &&
                        (ahead().text == "=" || ahead().text == "," || ahead().text == ")");
      if (!bare) {
        shape.type.clear();
        shape.package_type.clear();
        shape.msb.clear();
        shape.lsb.clear();
        shape.is_signed = false;
        if (current().kind == Token::Kind::identifier) {
          const std::string word = current().text;
          if (integer_type_width(word) > 0 || word == "string" || word == "real" || word == "time") {
            shape.type = word;
            ++position_;
          } else if (word.find("::") != std::string::npos) {
            shape.package_type = word;
            ++position_;
          }
        }
        if (accept("signed")) {
          shape.is_signed = true;
        } else {
          accept("unsigned");
        }
        range(shape.msb, shape.lsb);
      }
      param = shape;
      const Token name = current();
      param.name = identifier("the name of a parameter");
      param.place = place(name);
      if (is("[")) fail(current(), "array parameters are not supported", "pass one flat vector");
      if (accept("=")) param.value = expression_until({",", ")"});
      if (param.local && param.value.empty()) fail(name, fmt::format("localparam '{}' has no value", param.name));
      for (const ParamDecl& other : module.params) {
        if (other.name == param.name) fail(name, fmt::format("parameter '{}' is declared twice", param.name));
      }
      module.params.push_back(std::move(param));
      if (!is(")")) expect(",");
    }
  }

  void ports(ModuleDecl& module) {
    PortDecl shape;
    bool have_shape = false;
    while (!accept(")")) {
      skip_attributes();
      const Token first = current();
      if (first.kind == Token::Kind::directive) {
        fail(first, fmt::format("the macro {} is not known to the header reader", first.text), "write the port out");
      }
      if (is(".")) fail(first, "a port with an expression is not supported", "declare the port by its name");
      if (is("input") || is("output") || is("inout") || is("ref")) {
        if (is("inout") || is("ref")) fail(first, fmt::format("'{}' ports are not supported", first.text));
        shape = {};
        shape.direction = is("input") ? Direction::input : Direction::output;
        have_shape = true;
        ++position_;
        type_of(shape);
      } else if (!have_shape) {
        fail(first, "only ANSI headers are supported",
             "declare direction and type in the port list: input logic [7:0] name");
      } else if (!(first.kind == Token::Kind::identifier &&
                   (ahead().text == "," || ahead().text == ")" || ahead().text == "="))) {
        const Direction direction = shape.direction;
        shape = {};
        shape.direction = direction;
        type_of(shape);
      }
      PortDecl port = shape;
      const Token name = current();
      port.name = identifier("the name of a port");
      port.place = place(name);
      if (is("[")) fail(current(), "unpacked array ports are not supported", "write one flat vector [N*W-1:0]");
      if (accept("=")) expression_until({",", ")"});
      for (const PortDecl& other : module.ports) {
        if (other.name == port.name) fail(name, fmt::format("port '{}' is declared twice", port.name));
      }
      module.ports.push_back(std::move(port));
      if (!is(")")) expect(",");
    }
  }

  void type_of(PortDecl& port) {
    accept("var");
    if (current().kind == Token::Kind::identifier) {
      const std::string word = current().text;
      if (word == "wire" || word == "tri") {
        ++position_;
        if (is("logic") || is("reg") || is("bit")) ++position_;
        if (current().text.find("::") != std::string::npos) port.package_type = tokens_[position_++].text;
      } else if (word == "logic" || word == "reg" || word == "bit") {
        ++position_;
      } else if (integer_type_width(word) > 1) {
        port.package_type = word;
        ++position_;
      } else if (word.find("::") != std::string::npos) {
        port.package_type = word;
        ++position_;
      } else if (ahead().kind == Token::Kind::identifier) {
        fail(current(), fmt::format("type '{}' is not known", word), "write it with its package: pkg::type");
      } else if (ahead().text == ".") {
        fail(current(), "interface ports are not supported", "write flat valid/ready ports");
      }
    }
    accept("signed") || accept("unsigned");
    const Token at = current();
    port.ranged = range(port.msb, port.lsb);
    if (port.ranged && !port.package_type.empty()) {
      fail(at, "a packed array of a named type is not supported", "Yosys miscompiles it: write one flat vector");
    }
  }

  // Names that can be instances: an identifier in front of '#' or of another identifier.
  void dependencies(ModuleDecl& module, std::size_t from, std::size_t body, std::size_t to) const {
    std::set<std::string> modules;
    std::set<std::string> packages;
    for (std::size_t i = from; i + 1 < to; ++i) {
      const Token& token = tokens_[i];
      if (token.kind != Token::Kind::identifier) continue;
      const std::size_t colons = token.text.find("::");
      if (colons != std::string::npos) packages.insert(token.text.substr(0, colons));
      const Token& next = tokens_[i + 1];
      if (i >= body && (next.kind == Token::Kind::identifier || next.text == "#") && token.text != "module") {
        modules.insert(token.text);
      }
    }
    module.instantiates.assign(modules.begin(), modules.end());
    module.packages.assign(packages.begin(), packages.end());
  }

  // Structured comments and the first sentence of the header comment.
  void annotations(ModuleDecl& module, int first_line, int last_line) {
    for (const Known& known : kKnown) {
      if (known.module != module.name) continue;
      module.comb = parse_comb(known.comb);
      const std::vector<std::string> pair = words(known.passes);
      module.passes.emplace_back(pair[0], pair[1]);
    }
    first_comb_ = true;
    bool own_passes = false;
    std::string header;
    bool header_done = false;
    int previous = 0;
    for (const Comment& comment : comments_) {
      if (comment.line < first_line || comment.line > last_line) continue;
      const std::string text = trimmed(comment.text);
      if (starts_with(text, "rocegen:")) {
        annotation(module, comment.line, trimmed(std::string_view(text).substr(8)), own_passes);
        continue;
      }
      if (header_done || comment.line > module.place.line || text.empty() ||
          (previous != 0 && comment.line != previous + 1)) {
        header_done = header_done || !header.empty();
        continue;
      }
      header += (header.empty() ? "" : " ") + text;
      previous = comment.line;
    }
    if (starts_with(header, module.name + ":"))
      header = trimmed(std::string_view(header).substr(module.name.size() + 1));
    const std::size_t stop = header.find(". ");
    if (stop != std::string::npos) header.erase(stop);
    while (!header.empty() && header.back() == '.') header.pop_back();
    module.summary = header;
  }

  void annotation(ModuleDecl& module, int line, const std::string& text, bool& own_passes) {
    const std::vector<std::string> parts = words(text);
    const std::string verb = parts.empty() ? "" : parts[0];
    bool good = true;
    if (verb == "comb") {
      const auto paths = parse_comb(std::string_view(text).substr(4));
      good = paths.has_value();
      if (good) {
        if (first_comb_) module.comb.emplace();
        first_comb_ = false;
        module.comb->insert(module.comb->end(), paths->begin(), paths->end());
      }
    } else if (verb == "clock" && parts.size() == 3) {
      module.clocks_of.emplace_back(parts[1], parts[2]);
    } else if (verb == "record" && parts.size() == 3 && parts[1].find('.') != std::string::npos) {
      module.records_of.emplace_back(parts[1], parts[2]);
    } else if (verb == "passes" && parts.size() == 3) {
      if (!own_passes) module.passes.clear();
      own_passes = true;
      module.passes.emplace_back(parts[1], parts[2]);
    } else {
      good = false;
    }
    if (!good) {
      diagnostics_.error("E0303", place(line, 1), fmt::format("'rocegen: {}' is not understood", text))
          .help("write comb none, comb A<-B, clock STREAM CLOCK, record STREAM.FIELD NAME or passes STREAM STREAM");
    }
  }

  Library& library_;
  std::string file_;
  bool generated_;
  Diagnostics& diagnostics_;
  std::vector<std::string> lines_;
  std::vector<Comment> comments_;
  std::vector<Token> tokens_;
  std::vector<std::string> includes_;
  std::size_t position_ = 0;
  int previous_end_ = 0;  // first line that belongs to the next module
  bool first_comb_ = true;
};

void Library::read_tree(const std::filesystem::path& root, Diagnostics& diagnostics, const std::string& shown_as) {
  namespace fs = std::filesystem;
  std::error_code ec;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(root, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->is_regular_file() && it->path().extension() == ".sv") files.push_back(it->path());
  }
  if (ec) {
    diagnostics.error("E0300", spec::file_place(root.string()),
                      fmt::format("the templates cannot be read: {}", ec.message()));
    return;
  }
  std::sort(files.begin(), files.end());
  const std::string base = shown_as.empty() ? root.filename().string() : shown_as;
  for (const fs::path& file : files) {
    read_file(file, base + "/" + file.lexically_relative(root).generic_string(), diagnostics);
  }
}

void Library::read_file(const std::filesystem::path& file, const std::string& shown_as, Diagnostics& diagnostics) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    diagnostics.error("E0300", spec::file_place(shown_as), "the file cannot be read");
    return;
  }
  read_text(text.str(), shown_as, false, diagnostics);
}

void Library::read_text(std::string_view text, const std::string& shown_as, bool generated, Diagnostics& diagnostics) {
  HeaderReader(*this, shown_as, generated, diagnostics).read(text);
}

void Library::add(ModuleDecl declaration, Diagnostics& diagnostics) {
  const auto [it, inserted] = by_name_.emplace(declaration.name, modules_.size());
  if (!inserted) {
    diagnostics.error("E0302", declaration.place, fmt::format("module '{}' is declared twice", declaration.name))
        .note("first here", modules_[it->second].place);
    return;
  }
  modules_.push_back(std::move(declaration));
}

const ModuleDecl* Library::find(std::string_view module) const {
  const auto it = by_name_.find(module);
  return it == by_name_.end() ? nullptr : &modules_[it->second];
}

const Library::Package* Library::package(std::string_view name) const {
  for (const auto& p : packages_) {
    if (p->name == name) return p.get();
  }
  return nullptr;
}

std::optional<std::int64_t> Library::constant(std::string_view qualified) const {
  std::int64_t value = 0;
  std::string error;
  if (!PackageScope(*this, nullptr, 0).value(qualified, value, error)) return std::nullopt;
  return value;
}

std::optional<RecordInfo> Library::record(std::string_view qualified) const {
  std::string error;
  return PackageScope(*this, nullptr, 0).record(qualified, error);
}

std::vector<std::string> Library::closure(const std::vector<std::string>& modules) const {
  std::vector<std::string> order;
  std::set<std::string> seen;
  const std::function<void(const std::string&)> visit = [&](const std::string& name) {
    const ModuleDecl* module = find(name);
    if (module == nullptr || !seen.insert(name).second) return;
    for (const std::string& used : module->instantiates) visit(used);
    order.push_back(name);
  };
  for (const std::string& name : modules) visit(name);
  return order;
}

std::vector<std::string> Library::package_files(const std::vector<std::string>& modules) const {
  std::vector<std::string> order;
  std::set<std::string> seen;
  const std::function<void(const std::string&)> visit = [&](const std::string& name) {
    const Package* found = package(name);
    if (found == nullptr || !seen.insert(name).second) return;
    for (const std::string& used : found->uses) visit(used);
    order.push_back(found->file);
  };
  for (const std::string& name : modules) {
    if (const ModuleDecl* module = find(name)) {
      for (const std::string& used : module->packages) visit(used);
    }
  }
  order.erase(std::unique(order.begin(), order.end()), order.end());
  return order;
}

std::vector<std::string> Library::include_files(const std::vector<std::string>& modules) const {
  std::set<std::string> files;
  for (const std::string& name : modules) {
    if (const ModuleDecl* module = find(name)) files.insert(module->includes.begin(), module->includes.end());
  }
  return {files.begin(), files.end()};
}

// ---- elaboration --------------------------------------------------------------------------------------------------

namespace {

// Parameters of the module, then whatever `outer` knows.
class ParamScope : public Scope {
 public:
  ParamScope(const Scope& outer, const Params& params, const std::vector<std::pair<std::string, int>>& widths)
      : outer_(outer), params_(params), widths_(widths) {}
  bool value(std::string_view name, std::int64_t& result, std::string& error) const override {
    for (const Param& param : params_) {
      if (param.name != name) continue;
      if (!param.value.is_number()) {
        error = fmt::format("'{}' is not a number up to 63 bits", name);
        return false;
      }
      result = param.value.number();
      return true;
    }
    return outer_.value(name, result, error);
  }
  bool bits(std::string_view name, std::int64_t& result, std::string& error) const override {
    for (const auto& [param, width] : widths_) {
      if (param == name) {
        result = width == 0 ? 32 : width;
        return true;
      }
    }
    return outer_.bits(name, result, error);
  }
  [[nodiscard]] const Function* function(std::string_view name) const override { return outer_.function(name); }

 private:
  const Scope& outer_;
  const Params& params_;
  const std::vector<std::pair<std::string, int>>& widths_;
};

class Elaborator {
 public:
  Elaborator(const ModuleDecl& module, const Scope& packages, Diagnostics& diagnostics, const Place& at)
      : module_(module), packages_(packages), diagnostics_(diagnostics), at_(at) {}

  std::optional<Interface> run(const Params& given,
                               const std::function<std::optional<int>(std::string_view)>& record_width) {
    result_.module = module_.name;
    result_.file = module_.file;
    result_.generated = module_.generated;
    result_.comb = module_.comb;
    result_.passes = module_.passes;
    result_.place = module_.place;
    check_given(given);
    for (const ParamDecl& param : module_.params) parameter(param, given, record_width);
    if (!good_) return std::nullopt;
    for (const PortDecl& port : module_.ports) add_port(port, record_width);
    if (!good_) return std::nullopt;
    for (const Port& port : result_.ports) {
      if (!is_clock_or_reset(port.name)) continue;
      (is_clock(port.name) ? result_.clocks : result_.resets).push_back(port.name);
    }
    streams();
    clocks();
    if (!good_) return std::nullopt;
    return std::move(result_);
  }

 private:
  spec::Diagnostic& fault(std::string_view code, const Place& place, std::string message) {
    good_ = false;
    spec::Diagnostic& d = diagnostics_.error(code, place, std::move(message));
    if (!params_text_.empty()) d.note(fmt::format("with {}", params_text_));
    if (!at_.file.empty()) d.note("instantiated here", at_);
    return d;
  }
  [[nodiscard]] Evaluation value_of(const Expression& expression) const {
    return evaluate(expression, ParamScope(packages_, result_.params, result_.param_widths));
  }

  void check_given(const Params& given) {
    std::vector<std::string> known;
    for (const ParamDecl& param : module_.params) {
      if (!param.local) known.push_back(param.name);
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Param& param = given[i];
      if (std::find(known.begin(), known.end(), param.name) == known.end()) {
        spec::Diagnostic& d =
            fault("E0305", module_.place, fmt::format("module '{}' has no parameter '{}'", module_.name, param.name));
        const std::string near = spec::nearest(param.name, known);
        if (!near.empty()) {
          d.help(fmt::format("did you mean '{}'?", near));
        } else if (!known.empty()) {
          d.help(fmt::format("it has {}", fmt::join(known, ", ")));
        }
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (given[j].name == param.name) {
          fault("E0305", module_.place, fmt::format("parameter '{}' of '{}' is given twice", param.name, module_.name));
        }
      }
    }
  }

  void parameter(const ParamDecl& decl, const Params& given,
                 const std::function<std::optional<int>(std::string_view)>& record_width) {
    int width = 0;  // 0: untyped or int
    if (!decl.package_type.empty()) {
      width = record_width(decl.package_type).value_or(0);
    } else if (!decl.msb.empty()) {
      const Evaluation msb = value_of(decl.msb);
      const Evaluation lsb = value_of(decl.lsb);
      if (!msb.ok || !lsb.ok || msb.value < lsb.value || msb.value - lsb.value >= kMaxWidth) {
        fault("E0306", decl.place, fmt::format("the range of parameter '{}' has no usable value", decl.name));
        return;
      }
      width = static_cast<int>(msb.value - lsb.value + 1);
    } else if (decl.type == "bit" || decl.type == "logic" || decl.type == "reg") {
      width = 1;
    }
    const auto own = std::find_if(given.begin(), given.end(), [&](const Param& p) { return p.name == decl.name; });
    ParamValue value;
    if (!decl.local && own != given.end()) {
      value = own->value;
    } else if (decl.value.empty()) {
      fault("E0306", decl.place,
            fmt::format("parameter '{}' of '{}' has no default and is not given", decl.name, module_.name));
      return;
    } else if (decl.value.size() == 1 && decl.value[0].kind == Token::Kind::string) {
      value = decl.value[0].text;
    } else {
      const Evaluation evaluation = value_of(decl.value);
      if (evaluation.ok) {
        value = evaluation.value;
      } else if (width > 63 || decl.type == "real" || decl.type == "string") {
        value = to_string(decl.value);  // passed on as text
      } else {
        fault("E0306", decl.place,
              fmt::format("parameter '{}' of '{}' has no usable value: {}", decl.name, module_.name, evaluation.error));
        return;
      }
    }
    if (value.is_number()) {
      const std::int64_t n = value.number();
      if (width > 0 && width < 63) {
        const std::int64_t limit = std::int64_t{1} << width;
        // A local or default value wraps as SystemVerilog says; one that the generator gives must fit.
        if (own != given.end() && !decl.local && (n >= limit || n < -limit / 2)) {
          fault("E0307", decl.place,
                fmt::format("{} does not fit into the {} bits of parameter '{}' of '{}'", n, width, decl.name,
                            module_.name));
          return;
        }
        value = decl.is_signed && (n & (limit / 2)) != 0 ? (n & (limit - 1)) - limit : n & (limit - 1);
      } else if (decl.type == "int" || decl.type == "integer") {
        if (n > 0x7FFFFFFFLL || n < -0x80000000LL) {
          fault("E0307", decl.place,
                fmt::format("{} does not fit into the 32 bits of parameter '{}' of '{}'", n, decl.name, module_.name));
          return;
        }
      }
    }
    params_text_ += fmt::format("{}{} = {}", params_text_.empty() ? "" : ", ", decl.name,
                                value.is_number() ? std::to_string(value.number()) : value.text());
    result_.params.push_back({decl.name, value});
    if (!decl.local) result_.overridable.push_back(decl.name);
    result_.param_widths.emplace_back(decl.name, width);
  }

  void add_port(const PortDecl& decl, const std::function<std::optional<int>(std::string_view)>& record_width) {
    Port port;
    port.name = decl.name;
    port.direction = decl.direction;
    port.ranged = decl.ranged;
    port.place = decl.place;
    if (!decl.package_type.empty()) {
      if (const int width = integer_type_width(decl.package_type); width > 0) {
        port.width = width;
        port.ranged = true;
      } else {
        const std::optional<int> record = record_width(decl.package_type);
        if (!record) {
          fault("E0304", decl.place, fmt::format("type '{}' of port '{}' is not known", decl.package_type, decl.name));
          return;
        }
        port.width = *record;
        port.record = decl.package_type;
        port.ranged = true;
      }
    } else if (decl.ranged) {
      const Evaluation msb = value_of(decl.msb);
      const Evaluation lsb = value_of(decl.lsb);
      if (!msb.ok || !lsb.ok) {
        fault("E0306", decl.place,
              fmt::format("the width of port '{}' has no value: {}", decl.name, msb.ok ? lsb.error : msb.error));
        return;
      }
      if (lsb.value != 0 || msb.value < 0 || msb.value >= kMaxWidth) {
        fault("E0306", decl.place,
              fmt::format("the range [{}:{}] of port '{}' is [{}:{}]", to_string(decl.msb), to_string(decl.lsb),
                          decl.name, msb.value, lsb.value))
            .help("a port is a vector [N:0] of at least one bit");
        return;
      }
      port.width = static_cast<int>(msb.value) + 1;
    }
    result_.ports.push_back(std::move(port));
  }

  [[nodiscard]] const Port* member(const std::string& stream, std::string_view suffix) const {
    return result_.port(fmt::format("{}_{}", stream, suffix));
  }

  void streams() {
    std::set<std::string> seen;
    for (const Port& port : result_.ports) {
      const auto split = split_stream_port(port.name);
      if (!split || !seen.insert(split->first).second) continue;
      Stream stream;
      stream.name = split->first;
      stream.role = stream.name[0] == 's' ? Role::sink : Role::source;
      stream.place = port.place;
      if (!build(stream)) continue;
      result_.streams.push_back(std::move(stream));
    }
  }

  bool build(Stream& stream) {
    const Port* valid = member(stream.name, "tvalid");
    const Port* ready = member(stream.name, "tready");
    if (valid == nullptr) {
      fault("E0308", stream.place,
            fmt::format("stream '{}' of '{}' has no {}_tvalid", stream.name, module_.name, stream.name));
      return false;
    }
    stream.array = valid->ranged;
    stream.lanes = valid->width;
    stream.has_ready = ready != nullptr;
    const Direction forward = stream.role == Role::sink ? Direction::input : Direction::output;
    for (const std::string_view suffix : kStreamSuffixes) {
      const Port* port = member(stream.name, suffix);
      if (port == nullptr) continue;
      if ((port->direction == forward) != (suffix != "tready")) {
        fault("E0308", port->place, fmt::format("port '{}' of '{}' has the wrong direction", port->name, module_.name))
            .help("s_* streams take: tvalid and payload are inputs, tready is an output; m_* streams give");
        return false;
      }
    }
    if (ready != nullptr && ready->width != stream.lanes) {
      fault("E0308", ready->place,
            fmt::format("'{}' is {} bits wide, '{}' {}", ready->name, ready->width, valid->name, stream.lanes));
      return false;
    }
    for (const std::string_view suffix : kPayload) {
      const Port* port = member(stream.name, suffix);
      if (port == nullptr) continue;
      if (port->width % stream.lanes != 0) {
        fault(
            "E0308", port->place,
            fmt::format("'{}' is {} bits wide, which {} streams cannot share", port->name, port->width, stream.lanes));
        return false;
      }
      Field field{std::string(suffix), port->width / stream.lanes, port->record};
      for (const auto& [name, record] : module_.records_of) {
        if (name == fmt::format("{}.{}", stream.name, suffix)) field.record = record;
      }
      stream.fields.push_back(std::move(field));
    }
    const Field* data = stream.field("tdata");
    const Field* keep = stream.field("tkeep");
    const Field* last = stream.field("tlast");
    if (last != nullptr && last->width != 1) {
      fault("E0308", valid->place,
            fmt::format("'{}_tlast' is {} bits wide, not one a stream", stream.name, last->width));
      return false;
    }
    if (keep != nullptr && (data == nullptr || keep->width * 8 != data->width)) {
      fault("E0308", valid->place,
            fmt::format("'{0}_tkeep' is {1} bits wide, '{0}_tdata' {2}", stream.name, keep->width,
                        data == nullptr ? 0 : data->width))
          .help("tkeep has one bit for each byte of tdata");
      return false;
    }
    return true;
  }

  void clocks() {
    const auto has_clock = [&](const std::string& name) {
      return std::find(result_.clocks.begin(), result_.clocks.end(), name) != result_.clocks.end();
    };
    for (const auto& [what, clock] : module_.clocks_of) {
      const bool known = result_.stream(what) != nullptr || result_.port(what) != nullptr;
      if (!known || (clock != "async" && !has_clock(clock))) {
        fault("E0303", module_.place,
              fmt::format("'rocegen: clock {} {}' names no {} of '{}'", what, clock, known ? "clock" : "stream or port",
                          module_.name));
      }
    }
    for (const auto& [name, record] : module_.records_of) {
      const std::size_t dot = name.find('.');
      const Stream* stream = result_.stream(name.substr(0, dot));
      if (stream == nullptr || stream->field(name.substr(dot + 1)) == nullptr) {
        fault("E0303", module_.place,
              fmt::format("'rocegen: record {} {}' names no field of '{}'", name, record, module_.name));
      }
    }
    for (const auto& [in, out] : module_.passes) {
      const Stream* from = result_.stream(in);
      const Stream* to = result_.stream(out);
      if (from == nullptr || to == nullptr || from->role != Role::sink || to->role != Role::source) {
        fault("E0303", module_.place,
              fmt::format("'rocegen: passes {} {}' names no stream in and stream out of '{}'", in, out, module_.name));
      }
    }
    const auto annotated = [&](const std::string& name) -> std::optional<std::string> {
      for (const auto& [what, clock] : module_.clocks_of) {
        if (what == name) return clock == "async" ? std::string() : clock;
      }
      return std::nullopt;
    };
    const bool crossing = !has_clock("clk") && has_clock("clk_s") && has_clock("clk_m");
    const auto default_clock = [&](const std::string& name) -> std::string {
      if (has_clock("clk")) return "clk";
      if (result_.clocks.size() == 1) return result_.clocks[0];
      if (crossing && starts_with(name, "s_")) return "clk_s";
      if (crossing && starts_with(name, "m_")) return "clk_m";
      return "";
    };
    for (Stream& stream : result_.streams) {
      const auto own = annotated(stream.name);
      stream.clock = own ? *own : default_clock(stream.name);
      if (!own && stream.clock.empty() && !result_.clocks.empty()) missing_clock("stream", stream.name, stream.place);
    }
    for (Port& port : result_.ports) {
      if (is_clock_or_reset(port.name)) continue;
      const auto split = split_stream_port(port.name);
      if (split) {
        if (const Stream* stream = result_.stream(split->first)) port.clock = stream->clock;
        continue;
      }
      const auto own = annotated(port.name);
      port.clock = own ? *own : default_clock(port.name);
      if (!own && port.clock.empty() && !result_.clocks.empty()) missing_clock("port", port.name, port.place);
    }
  }
  void missing_clock(std::string_view what, const std::string& name, const Place& place) {
    fault("E0309", place, fmt::format("{} '{}' of '{}' belongs to no clock", what, name, module_.name))
        .help(fmt::format("add a comment to the module: // rocegen: clock {} {}", name, result_.clocks.front()));
  }

  const ModuleDecl& module_;
  const Scope& packages_;
  Diagnostics& diagnostics_;
  const Place& at_;
  Interface result_;
  std::string params_text_;
  bool good_ = true;
};

}  // namespace

std::optional<Interface> Library::elaborate(std::string_view module, const Params& params, Diagnostics& diagnostics,
                                            const Place& at) const {
  const ModuleDecl* decl = find(module);
  if (decl == nullptr) {
    std::vector<std::string> names;
    for (const ModuleDecl& m : modules_) names.push_back(m.name);
    spec::Diagnostic& d = diagnostics.error("E0304", at, fmt::format("module '{}' is not in the library", module));
    const std::string near = spec::nearest(module, names);
    if (!near.empty()) d.help(fmt::format("did you mean '{}'?", near));
    return std::nullopt;
  }
  const PackageScope packages(*this, nullptr, 0);
  const auto record_width = [&](std::string_view type) -> std::optional<int> {
    const std::optional<RecordInfo> info = record(type);
    return info ? std::optional<int>(info->width) : std::nullopt;
  };
  return Elaborator(*decl, packages, diagnostics, at).run(params, record_width);
}

// ---- resolved modules ---------------------------------------------------------------------------------------------

const Field* Stream::field(std::string_view wanted) const {
  for (const Field& f : fields) {
    if (f.name == wanted) return &f;
  }
  return nullptr;
}

int Stream::payload_width() const {
  int width = 0;
  for (const Field& f : fields) width += f.width;
  return width;
}

std::string Stream::describe() const {
  std::string text;
  for (const Field& f : fields) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", f.name, f.width);
    if (!f.record.empty()) text += fmt::format(" ({})", f.record);
  }
  return text.empty() ? "no payload" : text;
}

const Port* Interface::port(std::string_view name) const {
  for (const Port& p : ports) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

const Stream* Interface::stream(std::string_view name) const {
  for (const Stream& s : streams) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

Stream* Interface::stream(std::string_view name) {
  for (Stream& s : streams) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

bool Interface::is_plain(std::string_view port_name) const {
  const std::string name(port_name);
  return port(port_name) != nullptr && !is_clock_or_reset(name) && !split_stream_port(name);
}

}  // namespace rocegen::netlist
