#include "generator/cli/variant.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "generator/netlist/passes.h"
#include "generator/outputs/outputs.h"

namespace rocegen::cli {

namespace fs = std::filesystem;

namespace {

bool is_home(const fs::path& path) {
  std::error_code ec;
  return fs::exists(path / "templates" / "net" / "roce_pkg.sv", ec);
}

/// True when the folder holds each of these files with this content. Results of other commands may lie beside them.
bool up_to_date(const fs::path& folder, const outputs::FileSet& files) {
  for (const auto& [name, content] : files.files()) {
    std::ifstream in(folder / name, std::ios::binary);
    if (!in) return false;
    std::ostringstream text;
    text << in.rdbuf();
    if (text.str() != content) return false;
  }
  // A source that this variant no longer has must not stay.
  std::error_code ec;
  std::size_t present = 0;
  for (const auto& entry : fs::directory_iterator(folder / "rtl", ec)) present += entry.is_regular_file() ? 1 : 0;
  std::size_t wanted = 0;
  for (const auto& [name, content] : files.files()) wanted += name.starts_with("rtl/") ? 1 : 0;
  return !ec && present == wanted;
}

}  // namespace

std::optional<fs::path> find_home(spec::Diagnostics& diagnostics) {
  if (const char* set = std::getenv("ROCEGEN_HOME"); set != nullptr && *set != '\0') {
    if (is_home(set)) return fs::path(set);
    diagnostics.error("E0504", spec::file_place(set), "ROCEGEN_HOME is not a folder of rocegen")
        .note("a folder of rocegen holds templates/net/roce_pkg.sv")
        .help("unset ROCEGEN_HOME, or set it to the folder of your clone");
    return std::nullopt;
  }
  std::error_code ec;
  const fs::path program = fs::read_symlink("/proc/self/exe", ec);
  if (!ec) {
    fs::path place = program.parent_path();
    for (int up = 0; up < 3; ++up) {
      if (is_home(place)) return place;
      if (is_home(place / "share" / "rocegen")) return place / "share" / "rocegen";
      if (!place.has_parent_path()) break;
      place = place.parent_path();
    }
  }
  diagnostics.error("E0504", {}, "the library templates/ is not beside the program")
      .help("set ROCEGEN_HOME to the folder of your clone of rocegen");
  return std::nullopt;
}

std::optional<Variant> generate(const VariantOptions& options, spec::Diagnostics& diagnostics) {
  std::optional<spec::StackSpec> spec = spec::read_spec(options.spec, diagnostics);
  const std::optional<fs::path> home = find_home(diagnostics);
  if (!spec || !home) return std::nullopt;
  if (!options.recovery.empty()) spec->transport.recovery = options.recovery;
  if (options.services) {
    std::vector<spec::ServiceSpec> kept;
    for (const std::size_t i : *options.services) kept.push_back(spec->services.at(i));
    spec->services = std::move(kept);
  }

  outputs::FileSet dumps;
  stack::BuildOptions build;
  build.templates = *home / "templates";
  for (const std::string& pass : options.dump_after)
    build.dump_after.emplace_back(
        pass, [&dumps, pass](const std::string& json) { dumps.add("dump/" + pass + ".json", json); });

  std::optional<stack::Stack> stack = stack::build(*spec, build, diagnostics);
  if (!stack) return std::nullopt;
  const std::size_t errors = diagnostics.error_count();
  outputs::FileSet files = outputs::make_outputs(*stack, build.templates, diagnostics);
  for (const auto& [name, content] : dumps.files()) files.add(name, content);
  if (diagnostics.error_count() != errors) return std::nullopt;

  Variant variant;
  variant.folder = options.output.empty() ? fs::path("out") / spec->name : fs::path(options.output);
  variant.changed = !up_to_date(variant.folder, files);
  if (variant.changed && !outputs::replace_folder(variant.folder, files, {}, diagnostics)) return std::nullopt;
  variant.stack = std::move(*stack);
  return variant;
}

}  // namespace rocegen::cli
