#include "generator/spec/locator.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "generator/spec/text.h"

namespace rocegen::spec {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
// A line longer than this is shown as a window around the place.
constexpr std::size_t kLineLimit = 120;
constexpr std::size_t kBeforePlace = 40;
// Characters of the user's text that a message quotes.
constexpr std::size_t kQuoteLimit = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace

std::string child_pointer(std::string_view pointer, std::string_view key) {
  std::string out(pointer);
  out.push_back('/');
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

// Recursive descent over the text; depth is bounded by Locator::kMaxDepth. A function that returns false has met a
// fault after which nothing sensible can follow.
class JsonReader {
 public:
  JsonReader(Locator& locator, Diagnostics& diagnostics)
      : where_(locator), text_(locator.text_), diagnostics_(diagnostics) {}

  bool document() {
    if (text_.substr(0, 2) == "\xFF\xFE" || text_.substr(0, 2) == "\xFE\xFF") {
      diagnostics_.error("E0106", file_place(where_.file_), "file is UTF-16, JSON is UTF-8")
          .help("save the file as UTF-8");
      return false;
    }
    if (text_.substr(0, kBom.size()) == kBom) at_ = kBom.size();
    skip_space();
    if (at_ == text_.size()) {
      diagnostics_.error("E0104", file_place(where_.file_), "file is empty, expected a JSON object")
          .help("start with { \"name\": \"my_nic\" }");
      return false;
    }
    Locator::Entry entry;
    if (!value("", where_.root_, entry)) return false;
    where_.entries_.emplace("", entry);
    skip_space();
    if (at_ < text_.size()) {
      const Place place = where_.at(at_, token_bytes(), "");
      diagnostics_.error("E0114", place, fmt::format("unexpected {} after the end of the document", found()))
          .label("expected the end of the file")
          .note("the document ends here", where_.at(entry.value_end - 1, 1));
    }
    return true;
  }

 private:
  // ---- what is found ----------------------------------------------------------------------------
  // Bytes of what stands at the cursor, for the caret: a string, a word, a number, or one character.
  std::size_t token_bytes() const {
    if (at_ >= text_.size()) return 0;
    if (text_[at_] == '"') {
      const std::size_t close = text_.find_first_of("\"\r\n", at_ + 1);
      return close != std::string_view::npos && text_[close] == '"' ? close + 1 - at_ : 1;
    }
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    return end > at_ ? end - at_ : decode_utf8(text_, at_).length;
  }

  // The same as words for a message.
  std::string found() const {
    if (at_ >= text_.size()) return "end of file";
    return fmt::format("`{}`", shorten(text_.substr(at_, token_bytes()), kQuoteLimit));
  }

  // The end of the file as a place: behind the last character that is not space.
  Place end_of_file(std::string_view pointer) const {
    std::size_t end = text_.size();
    while (end > 0 &&
           (text_[end - 1] == ' ' || text_[end - 1] == '\t' || text_[end - 1] == '\n' || text_[end - 1] == '\r'))
      --end;
    return where_.at(end, 0, std::string(pointer));
  }

  // Reports what stands at the cursor in place of `expected`.
  Diagnostic& unexpected(std::string_view pointer, std::string_view expected) {
    if (at_ >= text_.size()) {
      return diagnostics_
          .error("E0113", end_of_file(pointer), fmt::format("unexpected end of file, expected {}", expected))
          .label(fmt::format("expected {}", expected));
    }
    return diagnostics_
        .error("E0110", where_.at(at_, token_bytes(), std::string(pointer)),
               fmt::format("unexpected {}, expected {}", found(), expected))
        .label(fmt::format("expected {}", expected));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool at_end() const { return at_ >= text_.size(); }

  // ---- space and comments -----------------------------------------------------------------------
  void skip_space() {
    while (!at_end()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else if (c == '#' || text_.substr(at_, 2) == "//") {
        const std::size_t begin = at_;
        at_ = std::min(text_.find('\n', at_), text_.size());
        comment(begin);
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t begin = at_;
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
        comment(begin);
      } else {
        return;
      }
    }
  }

  void comment(std::size_t begin) {
    if (std::exchange(comment_seen_, true)) return;
    diagnostics_.error("E0118", where_.at(begin, at_ - begin), "JSON has no comments")
        .help("move the remark into \"description\"");
  }

  // ---- values -----------------------------------------------------------------------------------
  bool value(const std::string& pointer, Json& out, Locator::Entry& entry) {
    entry.value_begin = at_;
    const char c = peek();
    bool ok = true;
    if (c == '{' || c == '[') {
      if (++depth_ > Locator::kMaxDepth) {
        diagnostics_.error("E0119", where_.at(at_, 1, pointer),
                           fmt::format("nested more than {} levels deep", Locator::kMaxDepth));
        return false;
      }
      ok = c == '{' ? object(pointer, out) : array(pointer, out);
      --depth_;
    } else if (c == '"' || c == '\'') {
      std::string text;
      ok = string(pointer, text, entry.bad);
      out = std::move(text);
    } else if (is_digit(c) || c == '-' || c == '+' ||
               (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      number(pointer, out, entry.bad);
    } else if (is_letter(c)) {
      word(pointer, out, entry.bad);
    } else {
      unexpected(pointer, "a value");
      return false;
    }
    entry.value_end = at_;
    return ok;
  }

  void word(const std::string& pointer, Json& out, bool& bad) {
    const std::size_t begin = at_;
    const std::string_view text = text_.substr(at_, token_bytes());
    at_ += text.size();
    if (text == "true") {
      out = true;
    } else if (text == "false") {
      out = false;
    } else if (text != "null") {
      bad = true;
      Diagnostic& d = diagnostics_.error("E0110", where_.at(begin, text.size(), pointer),
                                         fmt::format("unexpected `{}`, expected a value", shorten(text, kQuoteLimit)));
      d.label("expected a value");
      const std::string folded = lower(text);
      if (folded == "true" || folded == "false" || folded == "null") {
        d.help(fmt::format("write {}", folded));
      } else if (folded == "none" || folded == "nil" || folded == "undefined") {
        d.help("remove the key to take the default");
      } else if (folded == "nan" || folded == "infinity" || folded == "inf") {
        d.help("JSON numbers are finite: write a number");
      } else {
        d.help(fmt::format("put text in double quotes: \"{}\"", shorten(text, kQuoteLimit)));
      }
    }
  }

  // RFC 8259 section 6.
  void number(const std::string& pointer, Json& out, bool& bad) {
    const std::size_t begin = at_;
    std::size_t end = at_;
    while (end < text_.size() && (is_digit(text_[end]) || is_letter(text_[end]) || text_[end] == '.' ||
                                  text_[end] == '+' || text_[end] == '-'))
      ++end;
    const std::string token(text_.substr(begin, end - begin));
    at_ = end;
    const auto fault = [&](std::string message, std::string help) {
      bad = true;
      diagnostics_.error("E0117", where_.at(begin, token.size(), pointer), std::move(message)).help(std::move(help));
    };
    const std::string quoted = shorten(token, kQuoteLimit);
    std::size_t i = token[0] == '-' ? 1 : 0;
    const std::size_t whole = i;
    const auto digits = [&] {
      const std::size_t from = i;
      while (i < token.size() && is_digit(token[i])) ++i;
      return i - from;
    };
    if (token[0] == '+') return fault(fmt::format("`{}` is not a number", quoted), "remove the plus sign");
    const std::size_t whole_digits = digits();
    if (whole_digits == 0) {
      return fault(fmt::format("`{}` is not a number", quoted),
                   token[0] == '-' ? "put a digit behind the minus sign" : "put a 0 in front of the point");
    }
    if (whole_digits > 1 && token[whole] == '0') {
      return fault(fmt::format("number `{}` has a leading zero", quoted), "remove the leading zeros");
    }
    bool integer = true;
    if (i < token.size() && token[i] == '.') {
      integer = false;
      ++i;
      if (digits() == 0) return fault(fmt::format("`{}` is not a number", quoted), "put a digit behind the point");
    }
    if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
      integer = false;
      ++i;
      if (i < token.size() && (token[i] == '+' || token[i] == '-')) ++i;
      if (digits() == 0)
        return fault(fmt::format("`{}` is not a number", quoted), "put a digit behind the exponent's e");
    }
    if (i < token.size()) {
      const std::string good = token.substr(0, i);
      if (token[i] == '_') return fault(fmt::format("`{}` is not a number", quoted), "remove the underscores");
      if (token[i] == 'x' || token[i] == 'X' || token[i] == 'b' || token[i] == 'o') {
        return fault(fmt::format("`{}` is not a number", quoted), "write the number in decimal");
      }
      return fault(fmt::format("`{}` is not a number", quoted),
                   fmt::format("write {} alone, the unit belongs to the key", shorten(good, kQuoteLimit)));
    }
    if (integer) {
      std::int64_t as_signed = 0;
      std::uint64_t as_unsigned = 0;
      const char* first = token.data();
      const char* last = token.data() + token.size();
      if (token[0] != '-' && std::from_chars(first, last, as_unsigned).ec == std::errc{}) {
        out = as_unsigned;
        return;
      }
      if (token[0] == '-' && std::from_chars(first, last, as_signed).ec == std::errc{}) {
        out = as_signed;
        return;
      }
    }
    const double real = std::strtod(token.c_str(), nullptr);
    if (!std::isfinite(real)) return fault(fmt::format("number `{}` is too large", quoted), "write a smaller number");
    out = real;
  }

  // ---- strings ----------------------------------------------------------------------------------
  std::optional<unsigned> hex4(std::size_t offset) const {
    if (offset + 4 > text_.size()) return std::nullopt;
    unsigned code = 0;
    const char* first = text_.data() + offset;
    const auto [end, error] = std::from_chars(first, first + 4, code, 16);
    if (error != std::errc{} || end != first + 4) return std::nullopt;
    return code;
  }

  void escape_fault(const std::string& pointer, std::size_t bytes, std::string message, std::string help, bool& bad) {
    bad = true;
    diagnostics_.error("E0116", where_.at(at_, bytes, pointer), std::move(message)).help(std::move(help));
  }

  // One escape sequence; the cursor stands on the backslash.
  void escape(const std::string& pointer, std::string& out, bool& bad) {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kCodes = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = kNames.find(c); c != '\0' && i != std::string_view::npos) {
      out.push_back(kCodes[i]);
      at_ += 2;
      return;
    }
    if (c != 'u') {
      const std::size_t bytes = 1 + (at_ + 1 < text_.size() ? decode_utf8(text_, at_ + 1).length : 0);
      escape_fault(pointer, bytes, fmt::format("unknown escape `{}`", text_.substr(at_, bytes)),
                   "write \\\\ for a backslash", bad);
      at_ += c == '\n' || c == '\r' || c == '\0' ? 1 : bytes;
      return;
    }
    const std::optional<unsigned> first = hex4(at_ + 2);
    if (!first) {
      escape_fault(pointer, 2, "escape `\\u` without four hexadecimal digits", "write four digits behind \\u", bad);
      at_ += 2;
      return;
    }
    if (*first < 0xD800 || *first > 0xDFFF) {
      append_utf8(out, *first);
      at_ += 6;
      return;
    }
    const std::optional<unsigned> second = text_.substr(at_ + 6, 2) == "\\u" ? hex4(at_ + 8) : std::nullopt;
    if (*first > 0xDBFF || !second || *second < 0xDC00 || *second > 0xDFFF) {
      escape_fault(pointer, 6, fmt::format("escape `{}` is half of a surrogate pair", text_.substr(at_, 6)),
                   "write both halves, or the character itself", bad);
      append_utf8(out, 0xFFFD);
      at_ += 6;
      return;
    }
    append_utf8(out, 0x10000U + ((*first - 0xD800U) << 10U) + (*second - 0xDC00U));
    at_ += 12;
  }

  // A string; the cursor stands on its quote. Single quotes are a fault that reading survives.
  bool string(const std::string& pointer, std::string& out, bool& bad) {
    const std::size_t begin = at_;
    const char quote = text_[at_++];
    while (!at_end()) {
      const char c = peek();
      if (c == quote) {
        ++at_;
        if (quote == '\'') {
          diagnostics_
              .error("E0110", where_.at(begin, at_ - begin, pointer),
                     "unexpected `'`, expected a string in double quotes")
              .help("use double quotes");
        }
        return true;
      }
      if (c == '\n' || c == '\r') break;
      if (c == '\\') {
        escape(pointer, out, bad);
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        escape_fault(pointer, 1, fmt::format("control character U+{:04X} in a string", static_cast<unsigned>(c)),
                     fmt::format("write \\u{:04x}", static_cast<unsigned>(c)), bad);
        ++at_;
        continue;
      }
      const Utf8Char decoded = decode_utf8(text_, at_);
      if (!decoded.valid) {
        bad = true;
        if (!std::exchange(encoding_seen_, true)) {
          diagnostics_
              .error("E0106", where_.at(at_, 1, pointer),
                     fmt::format("byte 0x{:02X} is not UTF-8", static_cast<unsigned char>(c)))
              .help("save the file as UTF-8");
        }
        append_utf8(out, 0xFFFD);
      } else {
        out.append(text_.substr(at_, decoded.length));
      }
      at_ += decoded.length;
    }
    diagnostics_
        .error(at_end() ? "E0113" : "E0115", where_.at(begin, at_ - begin, pointer),
               at_end() ? "unexpected end of file inside of a string" : "string does not end on its line")
        .label("starts here")
        .help("close the string with a double quote");
    return false;
  }

  // ---- objects and arrays -----------------------------------------------------------------------
  // A key, good or nearly so. False if there is none.
  bool key(const std::string& pointer, std::string& out, bool& bad) {
    if (peek() == '"' || peek() == '\'') return string(pointer, out, bad);
    if (!is_letter(peek())) {
      unexpected(pointer, "a key in double quotes");
      return false;
    }
    const std::string_view name = text_.substr(at_, token_bytes());
    diagnostics_
        .error("E0110", where_.at(at_, name.size(), pointer),
               fmt::format("unexpected `{}`, expected a key in double quotes", shorten(name, kQuoteLimit)))
        .help(fmt::format("write \"{}\"", shorten(name, kQuoteLimit)));
    out = name;
    at_ += name.size();
    return true;
  }

  // Between two members: true to go on with a next member, false at the closing bracket or after a fatal fault
  // (failed_). `end` is where the last value ended.
  bool next_member(const std::string& pointer, char close, std::size_t open, std::size_t end) {
    skip_space();
    const std::string_view open_text = text_.substr(open, 1);
    if (peek() == ',') {
      const std::size_t comma = at_++;
      skip_space();
      if (peek() == close) {
        diagnostics_.error("E0112", where_.at(comma, 1, pointer), fmt::format("`,` in front of `{}`", close))
            .label("one comma too many")
            .help("remove the comma");
        ++at_;
        return false;
      }
      if (!at_end()) return true;
      unexpected(pointer, close == '}' ? "a key in double quotes" : "a value")
          .note(fmt::format("`{}` is never closed", open_text), where_.at(open, 1));
      failed_ = true;
      return false;
    }
    if (peek() == close) {
      ++at_;
      return false;
    }
    const char c = peek();
    const bool text_follows = c == '"' || c == '\'' || is_letter(c);
    const bool member_follows = text_follows || (close == ']' && (c == '{' || c == '[' || c == '-' || is_digit(c)));
    if (member_follows) {
      diagnostics_.error("E0111", where_.at(end, 0, pointer), fmt::format("missing `,` in front of {}", found()))
          .label("put a comma here");
      return true;
    }
    unexpected(pointer, fmt::format("`,` or `{}`", close))
        .note(fmt::format("`{}` is never closed", open_text), where_.at(open, 1));
    failed_ = true;
    return false;
  }

  bool object(const std::string& pointer, Json& out) {
    const std::size_t open = at_++;
    out = Json::object();
    // ordered_json searches its members one by one: the index keeps a large object linear.
    auto& members = static_cast<std::vector<Json::object_t::value_type>&>(out.get_ref<Json::object_t&>());
    skip_space();
    if (peek() == '}') {
      ++at_;
      return true;
    }
    if (at_end()) {
      unexpected(pointer, "a key or `}`").note("`{` is never closed", where_.at(open, 1));
      return false;
    }
    for (;;) {
      Locator::Entry entry;
      entry.key_begin = at_;
      std::string name;
      bool bad_key = false;
      if (!key(pointer, name, bad_key)) return false;
      entry.key_end = at_;
      const std::string child = child_pointer(pointer, name);
      skip_space();
      if (peek() == '=') {
        unexpected(child, "`:`").help("write : between key and value");
        ++at_;
      } else if (peek() == ':') {
        ++at_;
      } else {
        unexpected(child, "`:` behind the key");
        return false;
      }
      skip_space();
      Json member;
      const auto known = where_.entries_.find(child);
      if (known != where_.entries_.end()) {
        const Locator::Entry& first = known->second;
        diagnostics_
            .error("E0120", where_.at(entry.key_begin, entry.key_end - entry.key_begin, child),
                   fmt::format("key \"{}\" is given twice", shorten(name, kQuoteLimit)))
            .label("given again here")
            .note(
                fmt::format("the first one is {}",
                            shorten(text_.substr(first.value_begin, first.value_end - first.value_begin), kQuoteLimit)),
                where_.at(first.key_begin, first.key_end - first.key_begin, child))
            .help("remove one of the two");
        // It is read for its own faults only: the first value and its places are the ones that count.
        auto entries = std::exchange(where_.entries_, {});
        const bool ok = value(child, member, entry);
        where_.entries_ = std::move(entries);
        if (!ok) return false;
      } else {
        if (!value(child, member, entry)) return false;
        entry.bad = entry.bad || bad_key;
        where_.entries_.emplace(child, entry);
        members.emplace_back(std::move(name), std::move(member));
      }
      if (!next_member(pointer, '}', open, entry.value_end)) return !failed_;
    }
  }

  bool array(const std::string& pointer, Json& out) {
    const std::size_t open = at_++;
    out = Json::array();
    skip_space();
    if (peek() == ']') {
      ++at_;
      return true;
    }
    if (at_end()) {
      unexpected(pointer, "a value or `]`").note("`[` is never closed", where_.at(open, 1));
      return false;
    }
    for (std::size_t i = 0;; ++i) {
      const std::string child = fmt::format("{}/{}", pointer, i);
      Locator::Entry entry;
      Json element;
      if (!value(child, element, entry)) return false;
      where_.entries_.emplace(child, entry);
      out.push_back(std::move(element));
      if (!next_member(pointer, ']', open, entry.value_end)) return !failed_;
    }
  }

  Locator& where_;
  std::string_view text_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;         // set by next_member
  bool comment_seen_ = false;   // one report is enough
  bool encoding_seen_ = false;  // likewise
};

Locator::Locator(std::string file, std::string text) : file_(std::move(file)), text_(std::move(text)) {
  lines_.push_back(0);
  for (std::size_t i = text_.find('\n'); i != std::string::npos; i = text_.find('\n', i + 1)) lines_.push_back(i + 1);
}

bool Locator::parse(Diagnostics& diagnostics) {
  entries_.clear();
  root_ = nullptr;
  return JsonReader(*this, diagnostics).document();
}

const Locator::Entry* Locator::find(std::string_view pointer) const {
  const auto it = entries_.find(std::string(pointer));
  return it == entries_.end() ? nullptr : &it->second;
}

bool Locator::contains(std::string_view pointer) const { return find(pointer) != nullptr; }

bool Locator::bad(std::string_view pointer) const {
  const Entry* entry = find(pointer);
  return entry != nullptr && entry->bad;
}

std::string_view Locator::source(std::string_view pointer) const {
  const Entry* entry = find(pointer);
  if (entry == nullptr) return {};
  return std::string_view(text_).substr(entry->value_begin, entry->value_end - entry->value_begin);
}

Place Locator::value(std::string_view pointer) const {
  std::string_view nearest = pointer;
  const Entry* entry = find(nearest);
  while (entry == nullptr && !nearest.empty()) {
    nearest = nearest.substr(0, nearest.rfind('/'));
    entry = find(nearest);
  }
  if (entry == nullptr) {
    Place place = file_place(file_);
    place.pointer = pointer;
    return place;
  }
  const std::string_view text =
      std::string_view(text_).substr(entry->value_begin, entry->value_end - entry->value_begin);
  const bool whole = nearest == pointer && text.find('\n') == std::string_view::npos;
  return at(entry->value_begin, whole ? text.size() : 1, std::string(pointer));
}

Place Locator::key(std::string_view pointer) const {
  const Entry* entry = find(pointer);
  if (entry == nullptr || entry->key_end == entry->key_begin) return value(pointer);
  return at(entry->key_begin, entry->key_end - entry->key_begin, std::string(pointer));
}

Place Locator::at(std::size_t offset, std::size_t bytes, std::string pointer) const {
  const std::string_view text = text_;
  offset = std::min(offset, text.size());
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), offset);
  std::size_t begin = *std::prev(after);
  std::size_t end = after == lines_.end() ? text.size() : *after - 1;
  if (end > begin && text[end - 1] == '\r') --end;
  if (begin == 0 && text.substr(0, kBom.size()) == kBom) begin = std::min(kBom.size(), end);
  offset = std::clamp(offset, begin, end);

  Place place;
  place.file = file_;
  place.pointer = std::move(pointer);
  place.line = static_cast<int>(after - lines_.begin());
  const std::size_t before = count_characters(text.substr(begin, offset - begin));
  const std::size_t length = count_characters(text.substr(offset, std::min(bytes, end - offset)));
  place.column = static_cast<int>(before) + 1;
  place.length = static_cast<int>(std::max<std::size_t>(length, 1));

  // A long line is cut to a window around the place.
  const std::string_view line = text.substr(begin, end - begin);
  const auto skip = [&line](std::size_t from, std::size_t characters) {
    for (; from < line.size() && characters > 0; --characters) from += decode_utf8(line, from).length;
    return std::min(from, line.size());
  };
  std::size_t first = 0;
  std::size_t last = line.size();
  std::size_t dropped = 0;
  if (skip(0, kLineLimit) < line.size()) {
    dropped = before > kBeforePlace ? before - kBeforePlace : 0;
    first = skip(0, dropped);
    last = skip(first, kLineLimit);
  }
  constexpr std::string_view kCut = "...";
  if (first > 0) place.source = kCut;
  place.source += line.substr(first, last - first);
  if (last < line.size()) place.source += kCut;
  place.source_column = place.column - static_cast<int>(dropped) + (first > 0 ? static_cast<int>(kCut.size()) : 0);
  return place;
}

}  // namespace rocegen::spec
