// Row layouts for tests: the one of the Criteo set, and random ones.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "generator/services/preprocess/layout.h"

namespace rocegen::preprocess::sample {

using Json = nlohmann::ordered_json;

inline const char* const kCriteo = R"({
  "columns": ["label", "dense 13", "sparse 26"],
  "operators": {
    "dense": [{"fill_null": {"null": "0x80000000", "value": 0}}, "neg2zero", "log1p"],
    "sparse": [{"sigrid_hash": {"salt": 0, "max": 8192}}]
  }
})";

/// The two operators that take the most hardware, each in its lane at 64 bits.
inline const char* const kPair = R"({
  "columns": ["dense", "sparse"],
  "operators": {"dense": ["neg2zero", "log1p"], "sparse": [{"sigrid_hash": {"salt": 5, "max": 1000003}}]}
})";

/// The layout of an entry that has no fault.
inline Layout layout_of(const Json& entry) {
  spec::Diagnostics diagnostics;
  const auto layout = read_layout(
      entry, [](std::string_view p) { return spec::Place{"", std::string(p), 0, 0, 0, "", 0}; }, diagnostics);
  if (!layout) throw std::invalid_argument(entry.dump() + "\n" + spec::render(diagnostics));
  return *layout;
}

/// A random entry whose rows beats of `lanes` words can take. Few kinds of operators a layout, so that it compiles
/// fast.
class RandomLayouts {
 public:
  explicit RandomLayouts(std::uint64_t seed) : rng_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return rng_() % limit; }

  /// A list of operators for a column of that kind; `heavy`: perhaps a logarithm or a hash.
  Json operators(const std::string& kind, bool heavy) {
    Json list = Json::array();
    const bool dense = kind == "dense";
    if (below(2) == 0)
      list.push_back({{"fill_null", {{"null", hex(dense ? 0x80000000 : below(3))}, {"value", below(5)}}}});
    switch (below(heavy ? 8 : 5)) {
      case 0:
        break;
      case 1:
        list.push_back({{"modulus", modulus()}});
        break;
      case 2:
        if (dense) list.push_back("neg2zero");
        list.push_back({{"bucketize", borders()}});
        break;
      case 3:
        list.push_back({{"clamp", {below(100), 100 + below(100000)}}});
        list.push_back({{"shift", static_cast<int>(below(30)) - 15}});
        break;
      case 4:
        list.push_back("float32");
        if (below(2) == 0) list.push_back("bfloat16");
        return list;
      case 5:
        list.push_back({{"sigrid_hash", {{"salt", below(1000)}, {"max", modulus()}}}});
        break;
      default:
        if (dense && below(3) != 0) list.push_back("neg2zero");
        list.push_back({{"log", 1 + below(5)}});
        if (below(3) == 0) list.push_back("bfloat16");
        if (list.back() != "bfloat16" && below(2) == 0)
          list.push_back({{"scale", {{"multiply", 1 + below(40)}, {"shift", below(4)}, {"type", type()}}}});
        return list;
    }
    if (below(4) == 0)
      list.push_back({{"scale", {{"multiply", 1 + below(1000)}, {"shift", below(10)}, {"type", type()}}}});
    return list;
  }

  Json entry(int lanes, int most_words) {
    const int words = 1 + static_cast<int>(below(static_cast<std::uint64_t>(most_words)));
    Json entry;
    entry["columns"] = Json::array();
    std::vector<std::string> names;  // of each word; empty: padding
    std::map<std::string, int> counts;
    for (int left = words; left > 0;) {
      static constexpr const char* kKinds[] = {"label", "dense", "sparse", "pad"};
      const std::string kind = kKinds[left == words ? below(3) : below(4)];
      const int count = 1 + static_cast<int>(below(static_cast<std::uint64_t>(left)));
      entry["columns"].push_back(count == 1 ? kind : fmt::format("{} {}", kind, count));
      for (int i = 0; i < count; ++i) names.push_back(kind == "pad" ? "" : fmt::format("{} {}", kind, ++counts[kind]));
      left -= count;
    }
    entry["operators"] = Json::object();
    bool heavy = true;
    for (const auto& [kind, count] : counts) {
      if (below(5) != 0) entry["operators"][kind] = operators(kind, heavy);
      heavy = heavy && below(2) == 0;
      if (count > 2 && below(2) == 0) {
        const auto first = 1 + below(static_cast<std::uint64_t>(count) - 1);
        entry["operators"][fmt::format("{} {}..{}", kind, first, first + 1)] = operators(kind, false);
      }
    }
    if (below(2) == 0) {
      // Leave out some columns, and change places within groups.
      const auto group = static_cast<std::size_t>(std::gcd(lanes, words));
      entry["output"] = Json::array();
      for (std::size_t first = 0; first < names.size(); first += group) {
        std::vector<std::string> part(names.begin() + static_cast<std::ptrdiff_t>(first),
                                      names.begin() + static_cast<std::ptrdiff_t>(first + group));
        std::shuffle(part.begin(), part.end(), rng_);
        for (const std::string& name : part)
          if (!name.empty() && below(4) != 0) entry["output"].push_back(name);
      }
      if (entry["output"].empty()) entry.erase("output");
    }
    return entry;
  }

  /// A word that is likely to be a corner of something.
  std::uint32_t word() {
    switch (below(8)) {
      case 0:
        return 0x80000000;
      case 1:
        return static_cast<std::uint32_t>(below(4));
      case 2:
        return static_cast<std::uint32_t>(0 - below(4));
      case 3:
        return static_cast<std::uint32_t>(1ULL << below(32)) - static_cast<std::uint32_t>(below(3));
      default:
        return static_cast<std::uint32_t>(rng_() >> (32 + below(32)));
    }
  }

 private:
  static std::string hex(std::uint64_t value) { return fmt::format("0x{:x}", value); }
  std::uint64_t modulus() {
    switch (below(4)) {
      case 0:
        return 1ULL << below(32);
      case 1:
        return 0xffffffff - below(3);
      default:
        return 1 + (rng_() >> (32 + below(32)));
    }
  }
  Json borders() {
    std::vector<double> list;
    for (std::uint64_t i = 1 + below(8); i > 0; --i)
      list.push_back(static_cast<double>(static_cast<std::int64_t>(below(4000)) - 1000) / 2);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (below(2) == 0) list.push_back(list.back());
    return list;
  }
  std::string type() {
    static constexpr const char* kTypes[] = {"u8", "s8", "u16", "s16", "u32", "s32"};
    return kTypes[below(6)];
  }

  std::mt19937_64 rng_;
};

}  // namespace rocegen::preprocess::sample
