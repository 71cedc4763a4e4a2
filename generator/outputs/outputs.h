// What `rocegen gen` writes: every file of one variant, from its finished netlist.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/outputs/files.h"
#include "generator/spec/diagnostic.h"
#include "generator/stack/stack.h"

namespace rocegen::outputs {

/// One SystemVerilog source of the variant, in compile order.
struct Source {
  std::string path;    ///< relative to the output folder: "rtl/stream_fifo.sv"
  std::string module;  ///< module or package that it holds
  std::string origin;  ///< "library", "compiled", "generated" or "constants"
};

/// The sources in compile order: packages, then modules before those that instantiate them. Headers that are included
/// (rocegen_assert.svh) are not listed; they are in rtl/, which is the include folder.
std::vector<Source> list_sources(const stack::Stack& stack);

/// Every file of the variant. `templates` is where the library was read from.
/// Files that cannot be read, and a missing Graphviz for the block diagram, are diagnostics.
FileSet make_outputs(const stack::Stack& stack, const std::filesystem::path& templates, spec::Diagnostics& diagnostics);

/// filelist.f: include folder and sources, one a line, relative to the folder that holds it. Verilator, Vivado (read by
/// create_project.tcl) and other tools take it with -f.
std::string write_filelist(const std::vector<Source>& sources);

/// The package <name>_pkg with every constant of the variant: specification, derived sizes, register addresses.
std::string write_package(const stack::Stack& stack);

/// manifest.json: specification and hash, generator version, sources, modules with parameters, ports of the top, clock
/// domains, register map, counters, latencies of the compiled arithmetic.
std::string write_manifest(const stack::Stack& stack, const std::vector<Source>& sources);

/// vivado/create_project.tcl and its constraints (see vivado.cpp).
void add_vivado(const stack::Stack& stack, FileSet& files);

/// doc/index.html: parameters, block diagram (`diagram_svg`, may be empty), ports, modules, register map (see
/// document.cpp).
std::string write_document(const stack::Stack& stack, const std::vector<Source>& sources,
                           const std::string& diagram_svg);

/// One port of the top as a user sees it.
struct TopPort {
  std::string name;
  std::string direction;  ///< "input" or "output"
  int width = 1;
  std::string domain;  ///< clock port that it belongs to; empty for clocks and resets
  std::string comment;
};

/// Ports of the top in declaration order, clocks and resets first.
std::vector<TopPort> list_ports(const netlist::Module& top);

}  // namespace rocegen::outputs
