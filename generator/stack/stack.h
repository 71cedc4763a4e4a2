// The architecture: a specification becomes a netlist of library modules, compiled arithmetic and the register block.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/netlist/ir.h"
#include "generator/netlist/library.h"
#include "generator/outputs/registers.h"
#include "generator/services/service.h"
#include "generator/spec/diagnostic.h"
#include "generator/spec/spec.h"

namespace rocegen::stack {

/// A module whose text the generator wrote (compiled arithmetic, register block).
struct WrittenModule {
  std::string name;
  std::string text;
  int latency = 0;  ///< clock cycles from input to output; 0 for the register block and combinational modules
  int levels = 0;   ///< estimated LUT6 levels of the deepest stage; 0 where nothing was estimated
};

/// An instance of the top module that stands there because of a service.
struct ServiceInstance {
  std::string instance;
  int service = -1;                   ///< index in the spec's list; -1: all services share it
  std::optional<spec::Attach> point;  ///< where it stands in the stream; nothing: beside it
};

/// One variant, ready to be written out.
struct Stack {
  spec::StackSpec spec;  ///< completed
  std::string hash;      ///< spec::spec_hash
  netlist::Library library;
  netlist::Design design;  ///< after all passes
  outputs::RegisterMap registers;
  std::vector<WrittenModule> written;
  std::vector<std::shared_ptr<services::Service>> services;  ///< one for each entry of the spec's list
  std::vector<services::UserFile> user_files;                ///< of the services, each once
  std::vector<ServiceInstance> service_instances;            ///< in the order in which they were put in
};

struct BuildOptions {
  /// Folder of the library (templates/ of the project).
  std::filesystem::path templates;
  /// Passes after which the JSON netlist goes to the function beside them.
  std::vector<std::pair<std::string, std::function<void(const std::string&)>>> dump_after;
};

/// Builds the netlist of a completed spec and runs every pass. Faults of the library or the netlist are diagnostics;
/// then nothing is returned.
std::optional<Stack> build(const spec::StackSpec& spec, const BuildOptions& options, spec::Diagnostics& diagnostics);

}  // namespace rocegen::stack
