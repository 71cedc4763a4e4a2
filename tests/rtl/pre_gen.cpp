// Writes what the benches of the preprocess service need into a folder: the compiled modules of a layout, a top
// pre_bench that holds pre_stage with its parameters, and the layout as layout.json.
//
//   pre_gen FOLDER DATA_WIDTH LEVELS QP_COUNT LAYOUT
//
// LAYOUT: "pair", or the seed of a random layout.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "generator/services/preprocess/rows.h"
#include "generator/services/preprocess/stage.h"
#include "tests/unit/services/preprocess/layouts.h"

using namespace rocegen::preprocess;

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: pre_gen FOLDER DATA_WIDTH LEVELS QP_COUNT LAYOUT\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const int width = std::atoi(argv[2]);
  const std::string which = argv[5];
  sample::RandomLayouts random(static_cast<std::uint64_t>(std::atoi(argv[5])));
  const sample::Json entry =
      which == "pair" ? sample::Json::parse(sample::kPair) : random.entry(width / 32, 2 * width / 32 + 3);
  const Layout layout = sample::layout_of(entry);
  const RowModules rows = compile_rows(layout, width, std::atoi(argv[3]));
  std::filesystem::create_directories(folder);
  // One file: how many modules there are depends on the layout.
  std::ofstream all(folder / "pre_modules.sv");
  all << "// verilator lint_off DECLFILENAME\n";
  for (const auto& module : rows.modules) all << module.systemverilog;
  const int qps = std::atoi(argv[4]);
  all << bench_top(stage_params(Geometry(layout, width), rows, 1 + qps % 2), width, qps);
  std::ofstream(folder / "layout.json") << entry.dump(2) << "\n";
  return all.good() ? 0 : 1;
}
