#include "sim/scenario/expr.h"

#include <doctest/doctest.h>

using namespace rocegen::sim;

namespace {

std::optional<uint64_t> eval(std::string_view text, std::string* why = nullptr) {
  std::string error;
  const auto v = evaluate(
      text,
      [](std::string_view n) -> std::optional<uint64_t> {
        if (n == "mtu") return 256;
        if (n == "b.dst") return 0x1000;
        return std::nullopt;
      },
      error);
  if (why != nullptr) *why = error;
  return v;
}

}  // namespace

TEST_CASE("expr: values") {
  CHECK(eval("17") == 17);
  CHECK(eval(" 0xFF_00 ") == 0xFF00);
  CHECK(eval("1_000") == 1000);
  CHECK(eval("5 * mtu + 17") == 1297);
  CHECK(eval("b.dst+3") == 0x1003);
  CHECK(eval("2 + 3 * 4 - 1") == 13);
  CHECK(eval("(2 + 3) * 4") == 20);
  CHECK(eval("-1") == ~uint64_t{0});
  CHECK(eval("0 - 1 & 0xff") == 255);
  CHECK(eval("1 << 4 + 1") == 32);
  CHECK(eval("0x100 >> 4 | 1") == 17);
  CHECK(eval("6 ^ 3") == 5);
  CHECK(eval("17 % 5 / 2") == 1);
  CHECK(eval("1 << 64") == 0);
  CHECK(eval("10.0.0.1") == 0x0A000001);
  CHECK(eval("02:00:00:00:00:0a") == 0x02000000000A);
  CHECK(eval("0xffffffffffffffff + 2") == 1);
}

TEST_CASE("expr: errors say what is wrong") {
  const auto why = [](std::string_view t) {
    std::string e;
    CHECK_FALSE(eval(t, &e));
    return e;
  };
  CHECK(why("") == "a value is missing");
  CHECK(why("1 +") == "a value is missing");
  CHECK(why("(1") == "')' is missing");
  CHECK(why("1 2") == "'2' is left over");
  CHECK(why("foo + 1") == "unknown name 'foo'");
  CHECK(why("1 / (2 - 2)") == "division by zero");
  CHECK(why("$") == "unexpected '$'");
  CHECK(why("0x") == "'0x' is no number");
  CHECK(why("0x10000000000000000").find("more than 64 bits") != std::string::npos);
  CHECK(why("18446744073709551616").find("more than 64 bits") != std::string::npos);
}
