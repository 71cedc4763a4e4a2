// Writes the compiled modules that the net benches need (icrc_data, icrc_step, icrc_rewind, icrc_residue,
// ipv4_checksum), with the latencies that a bench asks for:
//
//   net_compile FOLDER DATA_WIDTH CRC_LATENCY REWIND_LATENCY CSUM_LATENCY
//
// Each module takes the largest level budget that gives its latency. Exit code 1 if there is none.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "generator/dataflow/checksum.h"
#include "generator/dataflow/crc.h"

namespace {

using rocegen::dataflow::CompiledModule;

void write(const std::filesystem::path& folder, const CompiledModule& module) {
  std::ofstream(folder / (module.name + ".sv")) << module.systemverilog;
}

bool write_with_latency(const std::filesystem::path& folder, int latency,
                        const std::function<CompiledModule(int)>& compile) {
  std::string name;
  for (int budget = 32; budget >= 0; --budget) {
    const CompiledModule module = compile(budget);
    name = module.name;
    if (module.latency == latency) {
      write(folder, module);
      return true;
    }
  }
  fmt::print(stderr, "net_compile: no level budget gives {} a latency of {}\n", name, latency);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: net_compile FOLDER DATA_WIDTH CRC_LATENCY REWIND_LATENCY CSUM_LATENCY\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const int width = std::atoi(argv[2]);
  std::filesystem::create_directories(folder);
  using namespace rocegen::dataflow;
  write(folder, compile_icrc_step(width));
  write(folder, compile_icrc_residue(width));
  const bool ok =
      write_with_latency(folder, std::atoi(argv[3]), [&](int b) { return compile_icrc_data(width, b); }) &&
      write_with_latency(folder, std::atoi(argv[4]), [&](int b) { return compile_icrc_rewind(width, b); }) &&
      write_with_latency(folder, std::atoi(argv[5]), [&](int b) { return compile_ipv4_checksum(b); });
  return ok ? 0 : 1;
}
