#include "generator/netlist/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

namespace rocegen::netlist {

namespace {

bool is_identifier_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Longest first.
constexpr std::array<std::string_view, 27> kSymbols = {
    "<<<", ">>>", "===", "!==", "**", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
    "--",  "+=",  "-=",  "*=",  "+:", "-:", "::", "->", "'{", "(*", "*)", "~^", "^~"};

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  Tokens run() {
    while (!failed_ && position_ < text_.size()) step();
    result_.tokens.push_back({Token::Kind::end, "", line_, column_});
    return std::move(result_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  void advance() {
    if (text_[position_] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
    ++position_;
  }
  void advance(std::size_t count) {
    while (count-- > 0 && position_ < text_.size()) advance();
  }
  void fail(std::string message) {
    result_.error = std::move(message);
    result_.error_line = line_;
    failed_ = true;
  }
  void emit(Token::Kind kind, std::size_t from, int line, int column) {
    result_.tokens.push_back({kind, std::string(text_.substr(from, position_ - from)), line, column});
  }

  void step() {
    const char c = peek();
    if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f') return advance();
    if (c == '/' && peek(1) == '/') return line_comment();
    if (c == '/' && peek(1) == '*') return block_comment();
    const std::size_t from = position_;
    const int line = line_;
    const int column = column_;
    if (c == '"') return string(line, column);
    if (c == '`') return directive(line, column);
    if (c == '\\') {  // escaped identifier: up to white space
      while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(peek())) == 0) advance();
      return emit(Token::Kind::identifier, from, line, column);
    }
    if (is_identifier_start(c)) {
      take_identifier();
      while (peek() == ':' && peek(1) == ':' && is_identifier_start(peek(2))) {  // pkg::name is one token
        advance(2);
        take_identifier();
      }
      return emit(Token::Kind::identifier, from, line, column);
    }
    if (is_digit(c) || (c == '\'' && starts_based())) return number(from, line, column);
    for (const std::string_view symbol : kSymbols) {
      if (text_.substr(position_, symbol.size()) == symbol) {
        advance(symbol.size());
        return emit(Token::Kind::symbol, from, line, column);
      }
    }
    advance();
    emit(Token::Kind::symbol, from, line, column);
  }

  void take_identifier() {
    while (is_identifier(peek())) advance();
  }
  // At an apostrophe: 'h.., 'sb.., '0, '1, 'x, 'z.
  [[nodiscard]] bool starts_based() const {
    const char next = static_cast<char>(std::tolower(static_cast<unsigned char>(peek(1))));
    if (next == '0' || next == '1' || next == 'x' || next == 'z') return !is_identifier(peek(2));
    if (next == 's') {
      const char base = static_cast<char>(std::tolower(static_cast<unsigned char>(peek(2))));
      return base == 'b' || base == 'o' || base == 'd' || base == 'h';
    }
    return next == 'b' || next == 'o' || next == 'd' || next == 'h';
  }
  void number(std::size_t from, int line, int column) {
    while (is_digit(peek()) || peek() == '_') advance();
    if (peek() == '.' && is_digit(peek(1))) {  // a real: kept as one token, never evaluated
      advance();
      while (is_digit(peek()) || peek() == '_') advance();
    }
    if (peek() == '\'' && starts_based()) {
      advance();
      if (std::tolower(static_cast<unsigned char>(peek())) == 's') advance();
      const bool base = std::isalpha(static_cast<unsigned char>(peek())) != 0;
      advance();
      if (base) {
        while (peek() == ' ') advance();
        while (is_identifier(peek()) || peek() == '?') advance();
      }
    }
    emit(Token::Kind::number, from, line, column);
  }
  void string(int line, int column) {
    const std::size_t from = position_;
    advance();
    while (position_ < text_.size() && peek() != '"') {
      if (peek() == '\n') return fail("a string does not end on its line");
      if (peek() == '\\') advance();
      advance(1);
    }
    if (position_ >= text_.size()) return fail("a string does not end");
    advance();
    emit(Token::Kind::string, from, line, column);
  }
  void line_comment() {
    const int line = line_;
    advance(2);
    const std::size_t from = position_;
    while (position_ < text_.size() && peek() != '\n') advance();
    std::string text(text_.substr(from, position_ - from));
    if (!text.empty() && text.back() == '\r') text.pop_back();
    result_.comments.push_back({std::move(text), line});
  }
  void block_comment() {
    const int line = line_;
    advance(2);
    const std::size_t from = position_;
    while (position_ < text_.size() && !(peek() == '*' && peek(1) == '/')) advance();
    if (position_ >= text_.size()) {
      line_ = line;
      return fail("a comment does not end");
    }
    result_.comments.push_back({std::string(text_.substr(from, position_ - from)), line});
    advance(2);
  }
  // `define takes its whole (continued) line into the token; any other directive is its name.
  void directive(int line, int column) {
    const std::size_t from = position_;
    advance();
    take_identifier();
    if (text_.substr(from, position_ - from) == "`define") {
      while (position_ < text_.size() && peek() != '\n') {
        if (peek() == '\\' && peek(1) == '\n') advance();
        advance();
      }
    }
    emit(Token::Kind::directive, from, line, column);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
  int column_ = 1;
  bool failed_ = false;
  Tokens result_;
};

// Thrown and caught inside this file only.
struct EvaluationError {
  std::string message;
  int line;
  int column;
};

struct Value {
  std::int64_t number = 0;
  int width = 0;  // of a sized literal or a concatenation; 0: not sized
};

using Locals = std::map<std::string, std::int64_t, std::less<>>;

constexpr int kMaxDepth = 64;
constexpr int kMaxSteps = 100000;

class Evaluator {
 public:
  Evaluator(const std::vector<Token>& tokens, const Scope& scope, Locals* locals, int depth, int* steps)
      : tokens_(tokens), scope_(scope), locals_(locals), depth_(depth), steps_(steps) {}

  Value whole() {
    const Value value = conditional();
    if (!at_end()) fail(fmt::format("'{}' is not expected here", current().text));
    return value;
  }

  // Runs the body of a function; the result is the local named `result`.
  void run_body(const std::string& result) {
    result_name_ = result;
    while (!at_end() && !returned_) statement(true);
  }

 private:
  [[nodiscard]] bool at_end() const {
    return position_ >= tokens_.size() || tokens_[position_].kind == Token::Kind::end;
  }
  [[nodiscard]] const Token& current() const {
    static const Token kEnd;
    return position_ < tokens_.size() ? tokens_[position_] : kEnd;
  }
  [[noreturn]] void fail(std::string message) const {
    const Token& token = position_ < tokens_.size() ? tokens_[position_] : tokens_.empty() ? current() : tokens_.back();
    throw EvaluationError{std::move(message), token.line, token.column};
  }
  [[nodiscard]] bool is(std::string_view text) const {
    return !at_end() && current().kind != Token::Kind::string && current().text == text;
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    ++position_;
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) {
      fail(at_end() ? fmt::format("'{}' is missing at the end", text)
                    : fmt::format("'{}' is expected before '{}'", text, current().text));
    }
  }

  Value conditional() {
    const Value condition = binary(0);
    if (!accept("?")) return condition;
    // Only the chosen branch is evaluated, so that `N > 1 ? $clog2(N) : 1` and guards of divisions work.
    const bool chosen = condition.number != 0;
    const Value first = branch(chosen);
    expect(":");
    const Value second = branch(!chosen);
    return chosen ? first : second;
  }
  Value branch(bool evaluate_it) {
    const bool before = dry_;
    dry_ = dry_ || !evaluate_it;
    const Value value = conditional();
    dry_ = before;
    return value;
  }

  struct Operator {
    std::string_view text;
    int level;
  };
  static constexpr std::array<Operator, 25> kOperators = {
      {{"||", 1},  {"&&", 2},  {"|", 3}, {"^", 4},  {"~^", 4}, {"^~", 4}, {"&", 5},  {"==", 6}, {"!=", 6},
       {"===", 6}, {"!==", 6}, {"<", 7}, {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8}, {">>", 8}, {"<<<", 8},
       {">>>", 8}, {"+", 9},   {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}, {"**", 11}}};

  Value binary(int level) {
    Value left = unary();
    while (!at_end() && current().kind == Token::Kind::symbol) {
      const auto found = std::find_if(kOperators.begin(), kOperators.end(),
                                      [&](const Operator& o) { return o.text == current().text; });
      if (found == kOperators.end() || found->level <= level) break;
      const std::size_t at = position_;
      ++position_;
      const bool before = dry_;
      if ((found->text == "&&" && left.number == 0) || (found->text == "||" && left.number != 0)) dry_ = true;
      const Value right = binary(found->level);
      dry_ = before;
      const std::size_t after = position_;
      position_ = at;  // errors point at the operator
      left = {dry_ ? 0 : apply(found->text, left.number, right.number), 0};
      position_ = after;
    }
    return left;
  }

  std::int64_t apply(std::string_view op, std::int64_t a, std::int64_t b) const {
    std::int64_t r = 0;
    if (op == "||") return (a != 0 || b != 0) ? 1 : 0;
    if (op == "&&") return (a != 0 && b != 0) ? 1 : 0;
    if (op == "|") return a | b;
    if (op == "^") return a ^ b;
    if (op == "~^" || op == "^~") return ~(a ^ b);
    if (op == "&") return a & b;
    if (op == "==" || op == "===") return a == b ? 1 : 0;
    if (op == "!=" || op == "!==") return a != b ? 1 : 0;
    if (op == "<") return a < b ? 1 : 0;
    if (op == "<=") return a <= b ? 1 : 0;
    if (op == ">") return a > b ? 1 : 0;
    if (op == ">=") return a >= b ? 1 : 0;
    if (op == "<<" || op == "<<<") {
      if (b < 0) fail("a shift by a negative number");
      if (a == 0) return 0;
      if (b > 62 || a < 0 || a > (std::numeric_limits<std::int64_t>::max() >> b)) fail("the shift overflows 63 bits");
      return a << b;
    }
    if (op == ">>" || op == ">>>") {
      if (b < 0) fail("a shift by a negative number");
      if (a < 0 && op == ">>") fail("a logical shift of a negative number depends on its width");
      return b > 62 ? (a < 0 ? -1 : 0) : a >> b;
    }
    if (op == "+" && !__builtin_add_overflow(a, b, &r)) return r;
    if (op == "-" && !__builtin_sub_overflow(a, b, &r)) return r;
    if (op == "*" && !__builtin_mul_overflow(a, b, &r)) return r;
    if (op == "/" || op == "%") {
      if (b == 0) fail("division by zero");
      if (a == std::numeric_limits<std::int64_t>::min() && b == -1) fail("the result overflows 64 bits");
      return op == "/" ? a / b : a % b;
    }
    if (op == "**") return power(a, b);
    fail("the result overflows 64 bits");
  }
  [[nodiscard]] std::int64_t power(std::int64_t a, std::int64_t b) const {
    if (b < 0) {
      if (a == 1) return 1;
      if (a == -1) return b % 2 == 0 ? 1 : -1;
      if (a == 0) fail("zero to a negative power");
      return 0;
    }
    if (a == 0 || a == 1) return b == 0 ? 1 : a;
    if (a == -1) return b % 2 == 0 ? 1 : -1;
    std::int64_t result = 1;
    for (std::int64_t i = 0; i < b; ++i) {
      if (__builtin_mul_overflow(result, a, &result)) fail("the power overflows 64 bits");
    }
    return result;
  }

  Value unary() {
    if (accept("+")) return unary();
    if (accept("-")) {
      const Value v = unary();
      if (v.number == std::numeric_limits<std::int64_t>::min()) fail("the result overflows 64 bits");
      return {-v.number, 0};
    }
    if (accept("!")) return {unary().number == 0 ? 1 : 0, 1};
    if (accept("~")) return {~unary().number, 0};
    if (accept("|")) return {unary().number != 0 ? 1 : 0, 1};
    if (is("&") || is("^") || is("~^")) {
      const std::string op = current().text;
      ++position_;
      const Value v = unary();
      if (dry_) return {0, 1};
      if (op == "&") {
        if (v.width == 0) fail("the AND of all bits needs a sized operand");
        return {v.number == low_mask(v.width) ? 1 : 0, 1};
      }
      if (v.number < 0) fail("the parity of a negative number depends on its width");
      const bool odd = __builtin_parityll(static_cast<unsigned long long>(v.number)) != 0;
      return {odd == (op == "^") ? 1 : 0, 1};
    }
    return cast(primary());
  }

  static std::int64_t low_mask(int width) {
    return width >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << width) - 1;
  }

  // N'(x): the low N bits.
  Value cast(Value value) {
    while (is("'") && position_ + 1 < tokens_.size() && tokens_[position_ + 1].text == "(") {
      ++position_;
      const Value inner = parenthesis();
      if (dry_) return {0, 0};
      if (value.number < 1 || value.number > 63) fail("a size cast is to 1..63 bits");
      const int width = static_cast<int>(value.number);
      value = {inner.number & low_mask(width), width};
    }
    return value;
  }
  Value parenthesis() {
    expect("(");
    const Value value = conditional();
    expect(")");
    return value;
  }

  Value primary() {
    if (at_end()) fail("a value is missing at the end");
    const Token token = current();
    if (token.kind == Token::Kind::number) {
      const Value value = literal(token.text);
      ++position_;
      return value;
    }
    if (token.text == "(" && token.kind == Token::Kind::symbol) return parenthesis();
    if (token.text == "{") return concatenation();
    if (token.kind != Token::Kind::identifier) fail(fmt::format("'{}' is not a value", token.text));
    if (token.text == "$clog2" || token.text == "$unsigned" || token.text == "$signed" || token.text == "int" ||
        token.text == "signed" || token.text == "unsigned" || token.text == "longint") {
      ++position_;
      if (token.text[0] != '$') expect("'");
      const Value v = parenthesis();
      if (token.text != "$clog2" || dry_) return v;
      if (v.number < 0) fail("$clog2 of a negative number");
      std::int64_t bits = 0;
      while (bits < 63 && (std::int64_t{1} << bits) < v.number) ++bits;
      return {bits, 0};
    }
    if (token.text == "$bits") return bits();
    if (token.text[0] == '$') fail(fmt::format("the system function {} cannot be evaluated here", token.text));
    ++position_;
    if (is("(")) return call(token);
    return {name(token), 0};
  }

  std::int64_t name(const Token& token) {
    if (locals_ != nullptr) {
      const auto found = locals_->find(token.text);
      if (found != locals_->end()) return found->second;
    }
    std::int64_t value = 0;
    std::string error;
    if (scope_.value(token.text, value, error)) return value;
    if (dry_) return 0;
    --position_;
    fail(error.empty() ? fmt::format("'{}' is not a known constant", token.text) : error);
  }

  Value bits() {
    ++position_;
    expect("(");
    if (at_end() || current().kind != Token::Kind::identifier) fail("$bits takes a type or a name");
    const std::string text = current().text;
    std::int64_t value = 0;
    std::string error;
    if (!scope_.bits(text, value, error)) {
      fail(error.empty() ? fmt::format("the width of '{}' is not known", text) : error);
    }
    ++position_;
    expect(")");
    return {value, 0};
  }

  Value concatenation() {
    expect("{");
    Value result = conditional();
    if (is("{")) {  // replication
      if (result.number < 1 && !dry_) fail("a replication is by 1 or more");
      const std::int64_t count = dry_ ? 1 : result.number;
      const Value part = concatenation();
      result = {0, 0};
      for (std::int64_t i = 0; i < count; ++i) append(result, part);
    } else {
      const Value first = result;
      result = {0, 0};
      append(result, first);
      while (accept(",")) append(result, conditional());
    }
    expect("}");
    return result;
  }
  void append(Value& to, const Value& part) const {
    if (dry_) return;
    if (part.width == 0) fail("a part of a concatenation needs a size");
    if (to.width + part.width > 63) fail("a concatenation above 63 bits");
    to = {(to.number << part.width) | part.number, to.width + part.width};
  }

  Value literal(const std::string& text) const {
    const std::size_t quote = text.find('\'');
    std::string digits;
    int radix = 10;
    std::int64_t width = 0;
    if (quote == std::string::npos) {
      digits = text;
    } else {
      std::string size = text.substr(0, quote);
      std::erase(size, '_');
      if (!size.empty()) {
        if (size.size() > 5) fail(fmt::format("the size of '{}' is too large", text));
        width = std::stoi(size);
      }
      std::string rest = text.substr(quote + 1);
      if (!rest.empty() && std::tolower(static_cast<unsigned char>(rest[0])) == 's') rest.erase(0, 1);
      const char base = rest.empty() ? 'd' : static_cast<char>(std::tolower(static_cast<unsigned char>(rest[0])));
      if (base == '0' && rest.size() == 1) return {0, 0};
      if (base == '1' && rest.size() == 1) fail("the width of '1 is not known here");
      radix = base == 'h' ? 16 : base == 'b' ? 2 : base == 'o' ? 8 : 10;
      digits = rest.substr(1);
    }
    std::erase(digits, '_');
    std::erase(digits, ' ');
    if (digits.empty()) fail(fmt::format("'{}' is not a number", text));
    std::int64_t value = 0;
    for (const char c : digits) {
      const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const int digit = lower >= '0' && lower <= '9'   ? lower - '0'
                        : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                       : 99;
      if (digit >= radix) fail(fmt::format("'{}' is not a constant number", text));
      if (__builtin_mul_overflow(value, static_cast<std::int64_t>(radix), &value) ||
          __builtin_add_overflow(value, static_cast<std::int64_t>(digit), &value)) {
        fail(fmt::format("'{}' does not fit into 63 bits", text));
      }
    }
    if (width > 0 && width < 63) value &= low_mask(static_cast<int>(width));
    return {value, static_cast<int>(width)};
  }

  Value call(const Token& token) {
    expect("(");
    std::vector<std::int64_t> arguments;
    if (!is(")")) {
      do arguments.push_back(conditional().number);
      while (accept(","));
    }
    expect(")");
    if (dry_) return {0, 0};
    const Function* function = scope_.function(token.text);
    if (function == nullptr) fail(fmt::format("'{}' is not a known function", token.text));
    if (!function->integral)
      fail(fmt::format("'{}' is not a function over int and cannot be evaluated here", token.text));
    if (function->arguments.size() != arguments.size()) {
      fail(fmt::format("'{}' takes {} arguments, not {}", token.text, function->arguments.size(), arguments.size()));
    }
    if (depth_ >= kMaxDepth) fail(fmt::format("'{}' calls itself too deeply", token.text));
    Locals locals;
    locals[function->name] = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) locals[function->arguments[i]] = arguments[i];
    Evaluator body(function->body, scope_, &locals, depth_ + 1, steps_);
    body.run_body(function->name);
    return {locals[function->name], 0};
  }

  // ---- statements of functions ----------------------------------------------------------------------------------

  static bool is_int_type(std::string_view text) { return text == "int" || text == "integer" || text == "longint"; }

  void statement(bool execute) {
    if (++*steps_ > kMaxSteps) fail("a function does not end");
    if (accept(";")) return;
    if (accept("begin")) {
      if (accept(":")) ++position_;
      while (!is("end")) {
        if (at_end()) fail("'end' is missing");
        statement(execute && !returned_);
      }
      ++position_;
      return;
    }
    if (accept("if")) {
      const bool chosen = condition(execute);
      statement(execute && chosen && !returned_);
      if (accept("else")) statement(execute && !chosen && !returned_);
      return;
    }
    if (accept("for")) return loop(execute);
    if (accept("return")) {
      const Value value = expression(execute);
      if (execute) {
        (*locals_)[result_name_] = value.number;
        returned_ = true;
      }
      return expect(";");
    }
    if (accept("automatic") || accept("static")) return statement(execute);
    if (!at_end() && is_int_type(current().text)) {
      ++position_;
      accept("unsigned");
      do assignment(execute, true);
      while (accept(","));
      return expect(";");
    }
    assignment(execute, false);
    expect(";");
  }
  Value expression(bool execute) {
    const bool before = dry_;
    dry_ = dry_ || !execute;
    const Value value = conditional();
    dry_ = before;
    return value;
  }
  bool condition(bool execute) {
    expect("(");
    const Value value = expression(execute);
    expect(")");
    return value.number != 0;
  }
  void assignment(bool execute, bool declares) {
    if (at_end() || current().kind != Token::Kind::identifier) {
      fail(fmt::format("the statement at '{}' cannot be evaluated", current().text));
    }
    const std::string target = current().text;
    if (!declares && locals_->find(target) == locals_->end() && execute) {
      fail(fmt::format("the statement at '{}' cannot be evaluated", target));
    }
    ++position_;
    if (declares && !is("=")) {
      if (execute) (*locals_)[target] = 0;
      return;
    }
    const std::string op = current().text;
    if (op != "=" && op != "+=" && op != "-=" && op != "*=" && op != "++" && op != "--") {
      fail(fmt::format("the statement at '{}' cannot be evaluated", target));
    }
    ++position_;
    const bool step = op == "++" || op == "--";
    const std::int64_t operand = step ? 1 : expression(execute).number;
    if (!execute) return;
    std::int64_t& variable = (*locals_)[target];
    variable = op == "=" ? operand : apply(op.substr(0, 1), variable, operand);
  }
  void loop(bool execute) {
    expect("(");
    const bool declares = is_int_type(current().text);
    if (declares) ++position_;
    assignment(execute, declares);
    expect(";");
    const std::size_t condition_at = position_;
    bool go = expression(execute).number != 0;
    expect(";");
    const std::size_t step_at = position_;
    assignment(false, false);
    expect(")");
    const std::size_t body_at = position_;
    statement(false);
    const std::size_t after = position_;
    while (execute && go && !returned_) {
      position_ = body_at;
      statement(true);
      if (returned_) break;
      position_ = step_at;
      assignment(true, false);
      position_ = condition_at;
      go = expression(true).number != 0;
    }
    position_ = after;
  }

  const std::vector<Token>& tokens_;
  const Scope& scope_;
  Locals* locals_;
  int depth_;
  int* steps_;
  std::size_t position_ = 0;
  bool dry_ = false;  // parse only
  bool returned_ = false;
  std::string result_name_;
};

}  // namespace

Tokens tokenize(std::string_view text) { return Tokenizer(text).run(); }

std::string to_string(const Expression& expression) {
  std::string out;
  std::string before;
  for (const Token& token : expression) {
    if (token.kind == Token::Kind::end) break;
    const bool word = token.kind != Token::Kind::symbol;
    const bool tight = token.text == "(" || token.text == ")" || token.text == "," || token.text == "'" ||
                       token.text == "{" || token.text == "}" || token.text == "]" || token.text == "[";
    const bool after_open =
        before == "(" || before == "'" || before == "{" || before == "~" || before == "!" || before == "[";
    const bool open_after_operator =
        token.text == "(" && !before.empty() && before != "(" && before != "'" && !is_identifier(before.back());
    if (!out.empty() && !after_open && (!tight || open_after_operator || (word && before == ")"))) out += ' ';
    out += token.text;
    before = token.text;
  }
  return out;
}

Evaluation evaluate(const Expression& expression, const Scope& scope) {
  Evaluation result;
  int steps = 0;
  try {
    Evaluator evaluator(expression, scope, nullptr, 0, &steps);
    result.value = evaluator.whole().number;
    result.ok = true;
  } catch (const EvaluationError& error) {
    result.error = error.message;
    result.line = error.line;
    result.column = error.column;
  }
  return result;
}

}  // namespace rocegen::netlist
