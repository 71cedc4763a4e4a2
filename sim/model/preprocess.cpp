#include "sim/model/preprocess.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace rocegen::sim {

namespace {

using Json = nlohmann::ordered_json;
using Wide = __int128;

std::int64_t number(const Json& json) {
  if (json.is_string()) return static_cast<std::int64_t>(std::stoull(json.get<std::string>(), nullptr, 16));
  return json.get<std::int64_t>();
}
std::int64_t member(const Json& args, const char* key, std::int64_t fallback) {
  return args.contains(key) ? number(args[key]) : fallback;
}

/// One value on its way through the operators.
struct Held {
  bool real = false;
  std::int64_t whole = 0;
  float f = 0;
};

/// float32 in steps: of its bits as a number, which is the unit in the last place away from zero.
float step_ulps(float f, int ulps) {
  if (f == 0 || !std::isfinite(f)) return f;
  return std::bit_cast<float>(
      static_cast<std::uint32_t>(static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(f)) + ulps));
}

std::int64_t saturate(Wide value, const std::string& type) {
  const int width = std::stoi(type.substr(1));
  const Wide low = type[0] == 's' ? -(Wide{1} << (width - 1)) : Wide{0};
  const Wide high = type[0] == 's' ? (Wide{1} << (width - 1)) - 1 : (Wide{1} << width) - 1;
  return static_cast<std::int64_t>(std::clamp(value, low, high));
}

std::uint32_t bfloat16(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  if (std::isnan(f)) return bits >> 16 | 0x40;
  const std::uint32_t kept = bits >> 16;
  const std::uint32_t rest = bits & 0xffff;
  return kept + (rest > 0x8000 || (rest == 0x8000 && (kept & 1) != 0) ? 1 : 0);
}

}  // namespace

std::int64_t sigrid_hash(std::int64_t x, std::int64_t salt, std::int64_t max) {
  auto key = static_cast<std::uint64_t>(x);
  key = ~key + (key << 21);
  key ^= key >> 24;
  key *= 265;  // key + (key << 3) + (key << 8)
  key ^= key >> 14;
  key *= 21;
  key ^= key >> 28;
  key += key << 31;
  constexpr std::uint64_t kMul = 0x9ddfea08eb382d69ULL;
  const auto upper = static_cast<std::uint64_t>(salt);
  std::uint64_t a = (key ^ upper) * kMul;
  a ^= a >> 47;
  std::uint64_t b = (upper ^ a) * kMul;
  b ^= b >> 47;
  b *= kMul;
  const auto hash = static_cast<std::int64_t>(b);
  if (max < 1) return hash;
  const std::int64_t rest = hash % max;
  return rest < 0 ? rest + max : rest;
}

RowModel::RowModel(const Json& entry) {
  for (const Json& item : entry.at("columns")) {
    const std::string text = item.get<std::string>();
    const std::size_t space = text.find(' ');
    const std::string kind = text.substr(0, space);
    const int count = space == std::string::npos ? 1 : std::stoi(text.substr(space + 1));
    const auto before =
        std::count_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.kind == kind; });
    for (int i = 0; i < count; ++i) columns_.push_back({kind, static_cast<int>(before) + i + 1, Json::array(), 4});
  }
  const auto matches = [](const Column& column, const std::string& selector) {
    const std::size_t space = selector.find(' ');
    if (selector.substr(0, space) != column.kind) return false;
    if (space == std::string::npos) return true;
    const std::string range = selector.substr(space + 1);
    const std::size_t dots = range.find("..");
    const int first = std::stoi(range.substr(0, dots));
    const int last = dots == std::string::npos ? first : std::stoi(range.substr(dots + 2));
    return first <= column.number && column.number <= last;
  };
  const Json operators = entry.value("operators", Json::object());
  for (Column& column : columns_) {
    // The list of a kind first, so that one of its own comes last and counts.
    for (const bool own : {false, true})
      for (const auto& [selector, list] : operators.items())
        if ((selector.find(' ') != std::string::npos) == own && matches(column, selector)) column.operators = list;
    if (column.operators.empty()) continue;
    const Json& last = column.operators.back();
    if (last == "bfloat16") column.bytes = 2;
    if (last.is_object() && last.contains("scale"))
      column.bytes = std::stoi(last["scale"]["type"].get<std::string>().substr(1)) / 8;
  }
  for (std::size_t i = 0; i < columns_.size() && !entry.contains("output"); ++i)
    if (columns_[i].kind != "pad") output_.push_back(i);
  for (const Json& selector : entry.value("output", Json::array()))
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (matches(columns_[i], selector.get<std::string>())) output_.push_back(i);
}

std::uint32_t RowModel::value(std::size_t index, std::uint32_t word, int ulps) const {
  const Column& column = columns_[index];
  Held x;
  const bool is_signed = column.kind == "dense";
  x.whole = is_signed ? static_cast<std::int64_t>(static_cast<std::int32_t>(word)) : static_cast<std::int64_t>(word);
  bool keeps_sign = is_signed;
  for (const Json& item : column.operators) {
    const std::string name = item.is_string() ? item.get<std::string>() : item.begin().key();
    const Json args = item.is_string() ? Json() : item.begin().value();
    if (name == "fill_null") {
      if (word == static_cast<std::uint32_t>(number(args.at("null")))) x.whole = member(args, "value", 0);
    } else if (name == "neg2zero") {
      x.whole = std::max<std::int64_t>(x.whole, 0);
    } else if (name == "clamp") {
      x.whole = std::min(std::max(x.whole, number(args[0])), number(args[1]));
    } else if (name == "log1p" || name == "log") {
      const std::int64_t t = x.whole + (name == "log1p" ? 1 : number(args));
      x.real = true;
      x.f = t > 0 ? step_ulps(static_cast<float>(std::log(static_cast<double>(t))), ulps)
                  : (t == 0 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN());
    } else if (name == "float32") {
      x.real = true;
      x.f = static_cast<float>(x.whole);
    } else if (name == "modulus") {
      x.whole = static_cast<std::int64_t>(static_cast<std::uint32_t>(x.whole)) % number(args);
      keeps_sign = false;
    } else if (name == "sigrid_hash") {
      x.whole = sigrid_hash(x.whole, member(args, "salt", 0), number(args.at("max")));
      keeps_sign = false;
    } else if (name == "bucketize") {
      std::int64_t below = 0;
      for (const Json& border : args) below += border.get<double>() < static_cast<double>(x.whole) ? 1 : 0;
      x.whole = below;
      keeps_sign = false;
    } else if (name == "shift") {
      const auto n = number(args);
      x.whole = n < 0 ? x.whole >> -n : saturate(Wide{x.whole} << n, keeps_sign ? "s32" : "u32");
    } else if (name == "scale") {
      const std::string type = args.at("type");
      const std::int64_t multiply = member(args, "multiply", 1);
      const std::int64_t shift = member(args, "shift", 0);
      if (!x.real) {
        const Wide half = shift > 0 ? Wide{1} << (shift - 1) : Wide{0};
        return static_cast<std::uint32_t>(saturate((Wide{x.whole} * multiply + half) >> shift, type));
      }
      if (std::isnan(x.f)) return 0;
      if (std::isinf(x.f)) return static_cast<std::uint32_t>(saturate(Wide{-1} << 40, type));
      // A logarithm is a multiple of 2^-24.
      const auto units = static_cast<Wide>(std::ldexp(static_cast<double>(x.f), 24));
      return static_cast<std::uint32_t>(saturate((units * multiply + (Wide{1} << (shift + 23))) >> (shift + 24), type));
    } else if (name == "bfloat16") {
      return bfloat16(x.f);
    } else {
      throw std::invalid_argument("unknown operator " + name);
    }
    // NaN of both is the quiet one without sign.
    if (x.real && std::isnan(x.f)) x.f = std::bit_cast<float>(0x7fc00000U);
  }
  return x.real ? std::bit_cast<std::uint32_t>(x.f) : static_cast<std::uint32_t>(x.whole);
}

bool RowModel::accepts(std::size_t column, std::uint32_t word, std::uint32_t found) const {
  const int bytes = columns_[column].bytes;
  const std::uint32_t mask = bytes == 4 ? 0xffffffff : (1U << (8 * bytes)) - 1;
  for (const int ulps : {0, 1, -1})
    if ((value(column, word, ulps) & mask) == (found & mask)) return true;
  return false;
}

/// Calls visit(column, first byte of its word in the message) for all of the output, in order.
template <typename Visit>
void RowModel::each(std::size_t bytes, Visit&& visit) const {
  const std::size_t words = bytes / 4;
  for (std::size_t first = 0; first < words; first += columns_.size()) {
    for (const std::size_t column : output_) {
      if (first + column >= words) break;  // what stands behind a missing column is missing, too
      visit(column, 4 * (first + column));
    }
  }
}

std::size_t RowModel::length(std::size_t bytes) const {
  std::size_t out = 0;
  each(bytes, [&](std::size_t column, std::size_t) { out += static_cast<std::size_t>(columns_[column].bytes); });
  return out;
}

namespace {

std::uint32_t word_at(std::span<const std::uint8_t> bytes, std::size_t at, int count = 4) {
  std::uint32_t out = 0;
  for (int i = 0; i < count; ++i) out |= std::uint32_t{bytes[at + static_cast<std::size_t>(i)]} << (8 * i);
  return out;
}

}  // namespace

std::vector<std::uint8_t> RowModel::run(std::span<const std::uint8_t> bytes) const {
  std::vector<std::uint8_t> out;
  each(bytes.size(), [&](std::size_t column, std::size_t at) {
    const std::uint32_t result = value(column, word_at(bytes, at));
    for (int b = 0; b < columns_[column].bytes; ++b) out.push_back(static_cast<std::uint8_t>(result >> (8 * b)));
  });
  return out;
}

bool RowModel::accepts(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> found,
                       std::size_t* where) const {
  *where = found.size();
  if (found.size() != length(bytes.size())) return false;
  std::size_t at_found = 0;
  each(bytes.size(), [&](std::size_t column, std::size_t at) {
    const int count = columns_[column].bytes;
    if (*where == found.size() && !accepts(column, word_at(bytes, at), word_at(found, at_found, count)))
      *where = at_found;
    at_found += static_cast<std::size_t>(count);
  });
  return *where == found.size();
}

}  // namespace rocegen::sim
