// The register map: one table that the CSR module, the manifest, the documentation and the C++ driver are written from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/spec/spec.h"

namespace rocegen::outputs {

/// How software sees a field.
enum class Access {
  ro,   ///< read only: a constant or a status pin
  rw,   ///< read and write, kept in a register
  wo,   ///< write only: reads as zero
  w1,   ///< writing 1 gives one pulse; reads as zero
  pop,  ///< read only, and the read takes the entry off its queue
};

struct Field {
  std::string name;
  int lsb = 0;
  int width = 32;
  Access access = Access::rw;
  std::uint32_t reset = 0;  ///< reset value of rw fields; value of constant ro fields
  std::string source;       ///< SystemVerilog expression that an ro field reads; empty: the constant `reset`
  std::string doc;
};

struct Register {
  std::string name;
  std::uint32_t address = 0;  ///< byte address on s_axil
  std::string doc;
  std::vector<Field> fields;
  bool command = false;  ///< a write is answered only when the modules concerned have taken it
  int window = -1;       ///< service that answers it, in its own window; -1: the register block itself
};

struct Counter {
  std::string name;  ///< without the cnt_ prefix and the _o suffix of its port
  std::uint32_t address = 0;
  std::string instance;  ///< instance of the top whose port it counts
};

struct RegisterMap {
  std::vector<Register> registers;
  std::vector<Counter> counters;
  std::vector<int> windows;   ///< services with a register window, ascending; lane n of the pins ctl_* is windows[n]
  bool has_services = false;  ///< queue pairs have a mask of services
};

/// Register window of service i: 4 KiB from window_base + i * window_bytes.
inline constexpr std::uint32_t window_base = 0x8000;
inline constexpr std::uint32_t window_bytes = 0x1000;

/// A service that answers a register window. Addresses count from the window's first byte.
struct ServiceWindow {
  int service = 0;
  std::string name;  ///< of the entry; its registers' names begin with it
  std::vector<Register> registers;
};

/// First byte address of the counters.
inline constexpr std::uint32_t counter_base = 0x400;

/// A counter that the map is to hold: the port `cnt_<name>_o` of an instance.
struct CounterSource {
  std::string instance;
  std::string name;
};

/// The map of one variant. Counters get addresses in the order given. Throws std::length_error when they do not fit
/// below the windows of services.
RegisterMap make_register_map(const spec::StackSpec& spec, const std::string& spec_hash,
                              const std::vector<CounterSource>& counters,
                              const std::vector<ServiceWindow>& windows = {});

/// Text of the module `csr`: AXI4-Lite slave that holds the map's registers, commits QP and memory-region set-ups as
/// streams, pops the event queue and reads the counter bank.
std::string write_csr(const RegisterMap& map);

/// The map as Markdown: docs/registers.md, and doc/registers.md of every variant. `variant`: with the values of this
/// variant's constants; otherwise they are left out, so that the text holds for all.
std::string registers_markdown(const RegisterMap& map, bool variant);

/// "ro", "rw", ... for documents.
const char* to_string(Access access);

}  // namespace rocegen::outputs
