#include "generator/netlist/expression.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>

namespace {

using namespace rocegen::netlist;

class Names : public Scope {
 public:
  std::map<std::string, std::int64_t, std::less<>> values{{"W", 64}, {"N", 3}, {"pk::K", 7}, {"zero", 0}};
  std::map<std::string, Function, std::less<>> functions;

  bool value(std::string_view name, std::int64_t& result, std::string& error) const override {
    if (name == "bad") {
      error = "'bad' is broken";
      return false;
    }
    const auto found = values.find(name);
    if (found != values.end()) result = found->second;
    return found != values.end();
  }
  bool bits(std::string_view name, std::int64_t& result, std::string& /*error*/) const override {
    result = 344;
    return name == "pk::rec_t";
  }
  const Function* function(std::string_view name) const override {
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : &found->second;
  }
};

Evaluation eval(const std::string& text, const Names& names = {}) {
  Tokens tokens = tokenize(text);
  REQUIRE(tokens.error.empty());
  return evaluate(tokens.tokens, names);
}

std::int64_t value(const std::string& text, const Names& names = {}) {
  const Evaluation e = eval(text, names);
  CHECK_MESSAGE(e.ok, fmt::format("{}: {}", text, e.error));
  return e.value;
}

std::string error(const std::string& text, const Names& names = {}) {
  const Evaluation e = eval(text, names);
  CHECK_MESSAGE(!e.ok, text);
  return e.error;
}

TEST_CASE("expression: operators and their precedence") {
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("(1 + 2) * 3") == 9);
  CHECK(value("10 - 4 - 3") == 3);
  CHECK(value("2 ** 3 ** 2") == 64);  // left associative in SystemVerilog (IEEE 1800-2017 table 11-2)
  CHECK(value("-2 ** 2") == 4);       // unary binds tighter
  CHECK(value("17 / 5") == 3);
  CHECK(value("-17 / 5") == -3);
  CHECK(value("-17 % 5") == -2);
  CHECK(value("1 << 4 + 1") == 32);
  CHECK(value("256 >> 3") == 32);
  CHECK(value("-8 >>> 1") == -4);
  CHECK(value("6 & 3 | 8") == 10);
  CHECK(value("6 ^ 3") == 5);
  CHECK(value("1 | 2 ^ 3 & 2") == 1);
  CHECK(value("3 == 3 && 2 < 1 || 5 >= 5") == 1);
  CHECK(value("!0 + !5") == 1);
  CHECK(value("~0") == -1);
  CHECK(value("1 ? 2 : 3 ? 4 : 5") == 2);
  CHECK(value("0 ? 2 : 0 ? 4 : 5") == 5);
  CHECK(value("W/8 - 1") == 7);
  CHECK(value("pk::K * N") == 21);
  CHECK(value("|8'h10") == 1);
  CHECK(value("^4'b0111") == 1);
  CHECK(value("&4'b1111") == 1);
  CHECK(value("&4'b1110") == 0);
}

TEST_CASE("expression: literals") {
  CHECK(value("1_000") == 1000);
  CHECK(value("8'hFf") == 255);
  CHECK(value("4'b1010") == 10);
  CHECK(value("6'o17") == 15);
  CHECK(value("16'd4791") == 4791);
  CHECK(value("32'hDEBB20E3") == 0xDEBB20E3LL);
  CHECK(value("'h10") == 16);
  CHECK(value("8'sd5") == 5);
  CHECK(value("4'hFF") == 15);  // SystemVerilog cuts a literal that is too long
  CHECK(value("'0") == 0);
  CHECK(value("{4'hA, 4'h5}") == 0xA5);
  CHECK(value("{3{2'b10}}") == 42);
  CHECK(value("8'(300)") == 44);
  CHECK(value("N'(15)") == 7);
  CHECK(value("int'(5)") == 5);
  CHECK(error("64'hFFFFFFFFFFFFFFFF").find("63 bits") != std::string::npos);
  CHECK(error("4'bx01z").find("constant number") != std::string::npos);
  CHECK(error("'1").find("width") != std::string::npos);
  CHECK(error("{N, 4'h5}").find("size") != std::string::npos);
  CHECK(error("1.5").find("constant number") != std::string::npos);
}

TEST_CASE("expression: $clog2 and $bits") {
  CHECK(value("$clog2(0)") == 0);  // IEEE 1800-2017 20.8.1
  CHECK(value("$clog2(1)") == 0);
  CHECK(value("$clog2(2)") == 1);
  CHECK(value("$clog2(3)") == 2);
  CHECK(value("$clog2(1024)") == 10);
  CHECK(value("$clog2(1025)") == 11);
  CHECK(value("$clog2(W + 1) - 1") == 6);
  CHECK(value("$bits(pk::rec_t) + 1") == 345);
  CHECK(error("$clog2(-1)").find("negative") != std::string::npos);
  CHECK(error("$bits(nothing)").find("nothing") != std::string::npos);
  CHECK(error("$time").find("$time") != std::string::npos);
}

TEST_CASE("expression: faults are errors with a place, never a wrong value") {
  CHECK(error("4 / zero").find("zero") != std::string::npos);
  CHECK(error("4 % zero").find("zero") != std::string::npos);
  CHECK(error("1 << 63").find("overflow") != std::string::npos);
  CHECK(error("1 << -1").find("negative") != std::string::npos);
  CHECK(error("-8 >> 1").find("negative") != std::string::npos);
  CHECK(error("2 ** 64").find("overflow") != std::string::npos);
  CHECK(error("9223372036854775807 + 1").find("overflow") != std::string::npos);
  CHECK(error("3037000500 * 3037000500").find("overflow") != std::string::npos);
  CHECK(error("0 ** -1").find("negative") != std::string::npos);
  CHECK(error("1 +").find("missing") != std::string::npos);
  CHECK(error("(1 + 2").find("')'") != std::string::npos);
  CHECK(error("1 2").find("not expected") != std::string::npos);
  CHECK(error("bad + 1") == "'bad' is broken");
  CHECK(error("").find("missing") != std::string::npos);
  const Evaluation e = eval("1 +\n  unknown");
  CHECK(e.error.find("'unknown'") != std::string::npos);
  CHECK(e.line == 2);
  CHECK(e.column == 3);
  const Evaluation division = eval("10 / zero");
  CHECK(division.column == 4);  // at the operator
}

TEST_CASE("expression: the branch that is not taken is not evaluated") {
  CHECK(value("zero != 0 ? 4 / zero : 9") == 9);
  CHECK(value("N > 1 ? $clog2(N) : unknown") == 2);
  CHECK(value("zero != 0 && 4 / zero > 1") == 0);
  CHECK(value("zero == 0 || 4 / zero > 1") == 1);
  CHECK(value("1 ? 2 : f(3)") == 2);
}

TEST_CASE("expression: functions of a package") {
  const auto function = [](std::string name, std::vector<std::string> arguments, const std::string& body) {
    Function f;
    f.name = std::move(name);
    f.arguments = std::move(arguments);
    f.body = tokenize(body).tokens;
    f.body.pop_back();
    return f;
  };
  Names names;
  names.functions["pk::max"] = function("max", {"a", "b"}, "max = a > b ? a : b;");
  names.functions["fact"] = function("fact", {"n"}, "if (n <= 1) fact = 1; else fact = n * fact(n - 1);");
  names.functions["sum"] =
      function("sum", {"n"}, "int s; s = 0; for (int i = 1; i <= n; i++) begin s += i; end sum = s;");
  names.functions["early"] =
      function("early", {"n"}, "for (int i = 0; i < 100; i = i + 1) if (i * i >= n) return i; return 100;");
  names.functions["forever"] = function("forever", {"n"}, "for (int i = 0; i < 10; i = i * 1) forever = i;");
  names.functions["typed"] = function("typed", {"n"}, "typed = n;");
  names.functions["typed"].integral = false;
  names.functions["odd"] = function("odd", {"n"}, "case (n) 0: odd = 1; endcase");
  CHECK(value("pk::max(3, N * 2) + 1", names) == 7);
  CHECK(value("fact(5)", names) == 120);
  CHECK(value("sum(10)", names) == 55);
  CHECK(value("early(50)", names) == 8);
  CHECK(error("forever(1)", names).find("does not end") != std::string::npos);
  CHECK(error("typed(1)", names).find("int") != std::string::npos);
  CHECK(error("odd(1)", names).find("cannot be evaluated") != std::string::npos);
  CHECK(error("sum(1, 2)", names).find("takes 1") != std::string::npos);
  CHECK(error("nothing(1)", names).find("nothing") != std::string::npos);
}

TEST_CASE("expression: agrees with C++ on random expressions") {
  const unsigned seed = 20240607;
  INFO("seed ", seed);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  // Text with all parentheses, text with none, and the value of a left-to-right chain of equal precedence.
  for (int round = 0; round < 2000; ++round) {
    std::int64_t expected = pick(200) - 100;
    std::string text = fmt::format("{}", expected);
    if (expected < 0) text = fmt::format("({})", text);
    std::string flat = text;
    const bool additive = pick(2) == 0;
    for (int i = 0; i < 5; ++i) {
      const std::int64_t operand = pick(50) + 1;
      const int op = pick(3);
      if (additive) {
        expected = op == 0 ? expected + operand : expected - operand;
        text = fmt::format("({} {} {})", text, op == 0 ? '+' : '-', operand);
        flat += fmt::format(" {} {}", op == 0 ? '+' : '-', operand);
      } else {
        expected = op == 0 ? expected * operand : op == 1 ? expected / operand : expected % operand;
        text = fmt::format("({} {} {})", text, op == 0 ? '*' : op == 1 ? '/' : '%', operand);
        flat += fmt::format(" {} {}", op == 0 ? '*' : op == 1 ? '/' : '%', operand);
      }
    }
    CHECK(value(text) == expected);
    CHECK(value(flat) == expected);
  }
}

TEST_CASE("tokenizer: comments, strings, names and places") {
  const Tokens t = tokenize("a /* x\n y */ pk::b_c // rest\n  \"s//\\\"t\" 8'hF_F \\esc@ped $clog2 (* k *) @(*)");
  REQUIRE(t.error.empty());
  REQUIRE(t.comments.size() == 2);
  CHECK(t.comments[0].line == 1);
  CHECK(t.comments[1].text == " rest");
  CHECK(t.comments[1].line == 2);
  std::vector<std::string> texts;
  for (const Token& token : t.tokens) texts.push_back(token.text);
  CHECK(texts == std::vector<std::string>{"a", "pk::b_c", "\"s//\\\"t\"", "8'hF_F", "\\esc@ped", "$clog2", "(*", "k",
                                          "*)", "@", "(*", ")", ""});
  CHECK(t.tokens[1].line == 2);
  CHECK(t.tokens[1].column == 7);
  CHECK(t.tokens[2].kind == Token::Kind::string);
  CHECK(tokenize("/* never").error.find("comment") != std::string::npos);
  CHECK(tokenize("\"never").error.find("string") != std::string::npos);
  CHECK(tokenize("x\n\"broken\n\"").error_line == 2);
}

TEST_CASE("expression: as text") {
  CHECK(to_string(tokenize("$clog2(Depth+1)-1").tokens) == "$clog2(Depth + 1) - 1");
  CHECK(to_string(tokenize("N*(W/8)").tokens) == "N * (W / 8)");
}

}  // namespace
