// What Yosys builds of compiled modules (`synth -flatten -lut 6; ltp -noff`, see toolchain.md section 3): no stage
// deeper than the estimate, and the size of the CRC within its ceiling.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "generator/dataflow/checksum.h"
#include "generator/dataflow/compile.h"
#include "generator/dataflow/crc.h"
#include "generator/dataflow/delay_table.h"
#include "generator/dataflow/passes.h"
#include "tests/unit/dataflow/delay_samples.h"
#include "tests/unit/dataflow/sample_graphs.h"

namespace {

using namespace rocegen::dataflow;

/// A folder that goes away with the program.
class Workspace {
 public:
  Workspace() : path_(std::filesystem::temp_directory_path() / fmt::format("dataflow_synth.{}", getpid())) {
    std::filesystem::create_directories(path_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Built {
  int levels = 0;
  int luts = 0;
};

/// Synthesises all modules in one Yosys run.
std::vector<Built> synthesise(const std::vector<CompiledModule>& modules) {
  const Workspace workspace;
  std::ofstream script(workspace.path() / "run.ys");
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const auto source = workspace.path() / fmt::format("{}.sv", i);
    std::ofstream(source) << modules[i].systemverilog;
    script << fmt::format(
        "design -reset\nread_verilog -sv {}\nsynth -flatten -lut 6 -top {}\n"
        "tee -o {}/{}.txt ltp -noff\ntee -a {}/{}.txt stat\n",
        source.string(), modules[i].name, workspace.path().string(), i, workspace.path().string(), i);
  }
  script.close();
  const auto log = workspace.path() / "log.txt";
  const std::string command =
      fmt::format("yosys -q -s {} > {} 2>&1", (workspace.path() / "run.ys").string(), log.string());
  if (std::system(command.c_str()) != 0) {
    std::stringstream text;
    text << std::ifstream(log).rdbuf();
    FAIL("yosys failed: " << text.str());
  }
  std::vector<Built> r;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    std::stringstream text;
    text << std::ifstream(workspace.path() / fmt::format("{}.txt", i)).rdbuf();
    const std::string all = text.str();
    Built built;
    const std::size_t length = all.find("(length=");
    REQUIRE(length != std::string::npos);
    built.levels = std::atoi(all.c_str() + length + 8);
    const std::size_t luts = all.find("$lut");
    if (luts != std::string::npos) built.luts = std::atoi(all.c_str() + luts + 4);
    r.push_back(built);
  }
  return r;
}

}  // namespace

TEST_CASE("compiled modules: levels within the estimate, LUTs within the ceiling") {
  struct Row {
    CompiledModule module;
    int max_luts;
  };
  const std::vector<Row> rows = {
      {compile_icrc_data(64, 5), 260},      {compile_icrc_data(256, 5), 1150},  {compile_icrc_data(512, 5), 2150},
      {compile_icrc_data(512, 2), 1750},    {compile_icrc_data(1024, 5), 4300}, {compile_icrc_step(512), 150},
      {compile_icrc_rewind(64, 8), 600},    {compile_icrc_rewind(512, 8), 900}, {compile_icrc_rewind(512, 5), 950},
      {compile_icrc_rewind(1024, 5), 1050}, {compile_icrc_residue(512), 32},    {compile_icrc_residue(1024), 96},
      {compile_ipv4_checksum(10), 280},     {compile_ipv4_checksum(3), 300},
  };
  std::vector<CompiledModule> modules;
  for (const auto& row : rows) modules.push_back(row.module);
  const auto built = synthesise(modules);
  fmt::print("{:14} {:>7} {:>8} {:>8} {:>6} {:>6}\n", "module", "latency", "estimate", "levels", "LUT6", "FF");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& m = rows[i].module;
    fmt::print("{:14} {:>7} {:>8} {:>8} {:>6} {:>6}\n", m.name, m.latency, m.levels, built[i].levels, built[i].luts,
               m.register_bits);
    // One level of slack: ABC does not find every depth-optimal cover of an XOR tree.
    CHECK_MESSAGE(built[i].levels <= m.levels + 1, m.name);
    CHECK_MESSAGE(built[i].luts <= rows[i].max_luts, m.name);
    CHECK_MESSAGE(built[i].luts > 0, m.name);
  }
}

TEST_CASE("operators: the delay of each is no underestimate") {
  Options options;
  options.combinational = true;
  for (const int width : {5, 40}) {
    std::vector<CompiledModule> modules;
    std::vector<std::string> names;
    const Graph all = sample::all_operators(width, "op");
    for (const auto& port : all.outputs()) {
      modules.push_back(compile(sample::all_operators(width, "op", port.name), options));
      names.push_back(port.name);
    }
    const auto built = synthesise(modules);
    for (std::size_t i = 0; i < modules.size(); ++i) {
      CHECK_MESSAGE(
          built[i].levels <= modules[i].levels + 1,
          fmt::format("{} of {} bits: {} levels, estimate {}", names[i], width, built[i].levels, modules[i].levels));
    }
  }
}

TEST_CASE("delay table: Yosys builds what was measured") {
  Options options;
  options.combinational = true;
  std::vector<CompiledModule> modules;
  for (const auto& row : kMeasuredDelays) modules.push_back(compile(sample::delay_graph(row.op, row.width), options));
  const auto built = synthesise(modules);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const auto& row = kMeasuredDelays[i];
    fmt::print("    {{\"{}\", {}, {}}},\n", row.op, row.width, built[i].levels);
    CHECK_MESSAGE(std::abs(built[i].levels - row.levels) <= 1, fmt::format("{} of {} bits", row.op, row.width));
  }
}
