// Constant expressions of SystemVerilog headers: tokens, and an evaluator over 64-bit integers.
//
// Understood: + - * / % ** << >> <<< >>> comparisons && || ! & | ^ ~ unary + - ~ & | ^, ?:, parentheses, sized and
// unsized literals ('0, '1, 8'hFF, 1_000), parameters, pkg::names, $clog2, $bits, $signed, $unsigned, size casts N'(x),
// int'(x), {a, b} of sized literals, and calls of package functions over `int` made of assignments, if, for and return.
//
// A value is a signed 64-bit integer; a sized literal above 63 bits, an overflow, a division by zero and a negative
// shift are errors, never wrapped silently.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rocegen::netlist {

// A token of SystemVerilog with the place where it stands.
struct Token {
  enum class Kind { identifier, number, string, symbol, directive, end };
  Kind kind = Kind::end;
  std::string text;
  int line = 0;
  int column = 0;
  bool operator==(const Token&) const = default;
};

// A comment of a source text, without its markers.
struct Comment {
  std::string text;
  int line = 0;
};

struct Tokens {
  std::vector<Token> tokens;  // ends with one token of kind end
  std::vector<Comment> comments;
  std::string error;  // an unterminated comment or string; empty when all is well
  int error_line = 0;
};

// Splits SystemVerilog text into tokens. `pkg::name` is one identifier token; `$clog2` too. Comments are kept apart.
[[nodiscard]] Tokens tokenize(std::string_view text);

// An expression is its tokens; it is evaluated when its names are known.
using Expression = std::vector<Token>;

// The expression as text, for messages: "$clog2(Depth) - 1".
[[nodiscard]] std::string to_string(const Expression& expression);

// A function of a package.
struct Function {
  std::string name;
  bool integral = true;  // result and arguments are `int`, `integer` or `longint`: only such can be evaluated
  std::vector<std::string> arguments;
  std::vector<Token> body;  // statements between the header and endfunction
};

// What names mean to an expression.
class Scope {
 public:
  virtual ~Scope() = default;
  // Value of a name ("Depth", "roce_pkg::IcrcInit"). False: unknown. May set `error` for a name whose own value is
  // faulty.
  virtual bool value(std::string_view name, std::int64_t& result, std::string& error) const = 0;
  // Width in bits of a type or name for $bits. False: unknown.
  virtual bool bits(std::string_view name, std::int64_t& result, std::string& error) const = 0;
  // A function by name, or nullptr.
  virtual const Function* function(std::string_view name) const = 0;
};

struct Evaluation {
  bool ok = false;
  std::int64_t value = 0;
  std::string error;  // what is wrong, lowercase, when not ok
  int line = 0;       // where, from the tokens; 0 when unknown
  int column = 0;
};

// Evaluates; never throws.
[[nodiscard]] Evaluation evaluate(const Expression& expression, const Scope& scope);

}  // namespace rocegen::netlist
