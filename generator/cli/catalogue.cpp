#include "generator/cli/catalogue.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "generator/dataflow/codes.h"
#include "generator/model/codes.h"
#include "generator/netlist/codes.h"
#include "generator/outputs/codes.h"
#include "generator/services/codes.h"
#include "generator/services/preprocess/codes.h"
#include "generator/spec/codes.h"

namespace rocegen::cli {

namespace {

using Table = std::span<const spec::CodeInfo> (*)();

// One line a folder.
constexpr std::array kTables = {Table{spec::codes},      Table{netlist::codes}, Table{dataflow::codes},
                                Table{model::codes},     Table{outputs::codes}, Table{services::codes},
                                Table{preprocess::codes}};

std::vector<spec::CodeInfo> collect() {
  std::vector<spec::CodeInfo> all;
  for (const Table table : kTables) {
    const std::span<const spec::CodeInfo> codes = table();
    all.insert(all.end(), codes.begin(), codes.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const spec::CodeInfo& a, const spec::CodeInfo& b) {
    return std::string_view(a.code) < std::string_view(b.code);
  });
  return all;
}

}  // namespace

std::span<const spec::CodeInfo> catalogue() {
  static const std::vector<spec::CodeInfo> all = collect();
  return all;
}

const spec::CodeInfo* find_code(std::string_view code) {
  std::string upper(code);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const spec::CodeInfo& info : catalogue()) {
    if (upper == info.code) return &info;
  }
  return nullptr;
}

}  // namespace rocegen::cli
