// The pass manager: small functions over a Design, run in order, with the invariants checked after each one.
//
// The standard order is
//   types         record tags travel through FIFOs, arbiters and forks; payloads of connected streams fit
//   width         packet streams of different width get an adapter
//   crossing      streams between clock domains get a stream_cdc
//   pipeline      register slices by pipeline_depth and weight
//   names         legal, unique, stable names for everything
//   check         everything that must hold of a finished netlist
//   prune         which library modules and packages the design needs
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "generator/netlist/ir.h"
#include "generator/netlist/library.h"

namespace rocegen::netlist {

using PassFunction = std::function<void(Design&, const Library&, Diagnostics&)>;

class PassManager {
 public:
  // Adds a pass at the end.
  void add(std::string name, PassFunction function);
  // The JSON netlist after this pass goes to `sink`. An unknown name is a diagnostic of run().
  void dump_after(std::string name, std::function<void(const std::string& json)> sink);
  // Names in order, for help and messages.
  [[nodiscard]] std::vector<std::string> names() const;
  // Runs all passes. Stops after the first one that leaves an error (its own or a broken invariant); false then.
  bool run(Design& design, const Library& library, Diagnostics& diagnostics) const;

 private:
  struct Pass {
    std::string name;
    PassFunction function;
  };
  struct Dump {
    std::string name;
    std::function<void(const std::string&)> sink;
  };
  std::vector<Pass> passes_;
  std::vector<Dump> dumps_;
};

struct PassOptions {
  int pipeline_depth = 0;   // 0..4
  int crossing_depth = 16;  // words of a stream_cdc
};

// The passes above in their order.
[[nodiscard]] PassManager standard_passes(const PassOptions& options);

}  // namespace rocegen::netlist
