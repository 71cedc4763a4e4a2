// The register map as control_gen hands it to control_csr.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct CsrField {
  std::string name;
  unsigned lsb;
  unsigned width;
  std::string access;  // outputs::to_string
  std::uint32_t reset;
  bool pin;  // reads a signal of the module, not a constant
  std::uint32_t mask() const { return (width == 32 ? ~0U : (1U << width) - 1U) << lsb; }
};

struct CsrRegister {
  std::string name;
  std::uint32_t address;
  bool command;
  std::vector<CsrField> fields;
};

struct CsrMap {
  std::vector<CsrRegister> registers;
  std::vector<std::uint32_t> counters;
};
