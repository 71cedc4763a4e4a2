#include "sim/scenario/expr.h"

#include <fmt/format.h>

#include <cctype>

namespace rocegen::sim {
namespace {

class Evaluator {
 public:
  Evaluator(std::string_view text, const NameLookup& lookup, std::string& error)
      : text_(text), lookup_(lookup), error_(error) {}

  std::optional<uint64_t> run() {
    const uint64_t v = binary(0);
    skip();
    if (ok_ && at_ != text_.size()) fail(fmt::format("'{}' is left over", text_.substr(at_)));
    if (!ok_) return std::nullopt;
    return v;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void fail(std::string why) {
    if (ok_) error_ = std::move(why);
    ok_ = false;
  }

  // Levels, loosest first: | ^ & shift sum product.
  uint64_t binary(int level) {
    if (level == 6) return unary();
    uint64_t v = binary(level + 1);
    while (ok_) {
      skip();
      if (level == 0 && take("|")) {
        v |= binary(1);
      } else if (level == 1 && take("^")) {
        v ^= binary(2);
      } else if (level == 2 && take("&")) {
        v &= binary(3);
      } else if (level == 3 && take("<<")) {
        const uint64_t n = binary(4);
        v = n > 63 ? 0 : v << n;
      } else if (level == 3 && take(">>")) {
        const uint64_t n = binary(4);
        v = n > 63 ? 0 : v >> n;
      } else if (level == 4 && take("+")) {
        v += binary(5);
      } else if (level == 4 && take("-")) {
        v -= binary(5);
      } else if (level == 5 && take("*")) {
        v *= binary(6);
      } else if (level == 5 && (peek('/') || peek('%'))) {
        const char o = text_[at_++];
        const uint64_t d = binary(6);
        if (d == 0) {
          fail("division by zero");
          return 0;
        }
        v = o == '/' ? v / d : v % d;
      } else {
        return v;
      }
    }
    return v;
  }

  bool peek(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }

  uint64_t unary() {
    if (take("-")) return 0 - unary();
    if (take("(")) {
      const uint64_t v = binary(0);
      if (!take(")")) fail("')' is missing");
      return v;
    }
    skip();
    if (at_ >= text_.size()) {
      fail("a value is missing");
      return 0;
    }
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return literal();
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
      const size_t start = at_;
      while (at_ < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' || text_[at_] == '.')) {
        ++at_;
      }
      const std::string_view name = text_.substr(start, at_ - start);
      if (const auto v = lookup_(name)) return *v;
      fail(fmt::format("unknown name '{}'", name));
      return 0;
    }
    fail(fmt::format("unexpected '{}'", c));
    return 0;
  }

  uint64_t literal() {
    const size_t start = at_;
    const bool hex = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
    if (hex) at_ += 2;
    uint64_t v = 0;
    size_t digits = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '_') continue;
      const int lower = std::tolower(static_cast<unsigned char>(c));
      uint64_t d = 0;
      if (c >= '0' && c <= '9') {
        d = static_cast<uint64_t>(c - '0');
      } else if (hex && lower >= 'a' && lower <= 'f') {
        d = static_cast<uint64_t>(lower - 'a') + 10;
      } else {
        break;
      }
      const uint64_t base = hex ? 16 : 10;
      if (v > (~uint64_t{0} - d) / base) fail(fmt::format("'{}' has more than 64 bits", text_.substr(start)));
      v = v * base + d;
      ++digits;
    }
    if (digits == 0) fail(fmt::format("'{}' is no number", text_.substr(start)));
    return v;
  }

  std::string_view text_;
  const NameLookup& lookup_;
  std::string& error_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

std::optional<uint64_t> evaluate(std::string_view text, const NameLookup& lookup, std::string& error) {
  if (const auto ip = ip_from_text(text)) return *ip;
  if (const auto mac = mac_from_text(text)) return *mac;
  return Evaluator(text, lookup, error).run();
}

}  // namespace rocegen::sim
