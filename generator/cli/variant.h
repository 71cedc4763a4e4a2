// From a specification file to a generated folder: what gen, lint, synth and sim have in common.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "generator/spec/diagnostic.h"
#include "generator/stack/stack.h"

namespace rocegen::cli {

struct VariantOptions {
  std::string spec;                     ///< path of the specification; "-" is the standard input
  std::string output;                   ///< folder; empty: out/<name>
  std::string recovery;                 ///< transport.recovery in place of the specification's; empty: as it says
  /// Only these entries of the specification's services, by index, ascending; nothing: all.
  std::optional<std::vector<std::size_t>> services;
  std::vector<std::string> dump_after;  ///< passes whose result is written to <output>/dump/<pass>.json
};

/// A generated variant.
struct Variant {
  stack::Stack stack;
  std::filesystem::path folder;
  bool changed = false;  ///< false: the folder already held exactly these files
};

/// Folder of the project's own files (templates/, sim/): ROCEGEN_HOME, or found beside the program (build tree or
/// installation). Nothing, with a diagnostic E0504, when there is none.
std::optional<std::filesystem::path> find_home(spec::Diagnostics& diagnostics);

/// Reads the spec, builds the netlist and puts the output folder in place. A folder that already holds exactly these
/// files stays untouched, so results of other commands in it (synth/, sim/, vivado/build/) stay valid; otherwise they
/// go with the old files. Faults are diagnostics; then nothing is returned and the old output is whole.
std::optional<Variant> generate(const VariantOptions& options, spec::Diagnostics& diagnostics);

}  // namespace rocegen::cli
