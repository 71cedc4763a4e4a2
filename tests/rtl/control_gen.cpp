// Writes what a bench of the CSR module needs:
//
//   control_gen FOLDER COUNTERS DATA_WIDTH QPS MRS SLOTS CLOCK_MHZ TTL TOS SPEC_HASH
//
// FOLDER/csr.sv is the module for a variant with these numbers; FOLDER/csr_map.h is the register map that it was
// written from, as a C++ table `csr_map` for control_csr.cpp.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "generator/outputs/registers.h"

using namespace rocegen;

namespace {

std::string map_header(const outputs::RegisterMap& map) {
  std::string text = "// Written by control_gen.\n#pragma once\n#include \"tests/rtl/control_map.h\"\n";
  text += "inline const CsrMap csr_map{{\n";
  for (const outputs::Register& reg : map.registers) {
    text += fmt::format("  {{\"{}\", 0x{:X}, {}, {{", reg.name, reg.address, reg.command);
    for (const outputs::Field& field : reg.fields)
      text += fmt::format("{{\"{}\", {}, {}, \"{}\", 0x{:X}U, {}}}, ", field.name, field.lsb, field.width,
                          outputs::to_string(field.access), field.reset, !field.source.empty());
    text += "}},\n";
  }
  text += "}, {";
  for (const outputs::Counter& counter : map.counters) text += fmt::format("0x{:X}, ", counter.address);
  return text + "}};\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 11) {
    fmt::print(stderr, "usage: control_gen FOLDER COUNTERS DATA_WIDTH QPS MRS SLOTS CLOCK_MHZ TTL TOS SPEC_HASH\n");
    return 2;
  }
  spec::StackSpec spec;
  spec.data_width = std::atoi(argv[3]);
  spec.qp_count = std::atoi(argv[4]);
  spec.memory_regions = std::atoi(argv[5]);
  spec.transport.wqe_slots = std::atoi(argv[6]);
  spec.clock_mhz = std::atof(argv[7]);
  spec.network.ttl = std::atoi(argv[8]);
  spec.network.tos = std::atoi(argv[9]);
  std::vector<outputs::CounterSource> counters;
  for (int i = 0; i < std::atoi(argv[2]); ++i) counters.push_back({"part_i", fmt::format("what_{}", i)});
  const outputs::RegisterMap map = outputs::make_register_map(spec, argv[10], counters);
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "csr.sv") << outputs::write_csr(map);
  std::ofstream(folder / "csr_map.h") << map_header(map);
  return 0;
}
