// rocegen lint: both tools read the generated RTL, without a warning.
#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "generator/cli/commands.h"
#include "generator/cli/tool.h"
#include "generator/cli/variant.h"
#include "generator/outputs/outputs.h"
#include "generator/spec/files.h"

namespace rocegen::cli {

namespace {

namespace fs = std::filesystem;

int lint(const VariantOptions& options) {
  spec::Diagnostics diagnostics;
  const std::optional<Variant> variant = generate(options, diagnostics);
  if (!variant) {
    spec::print(stderr, diagnostics);
    return kBadInput;
  }
  const bool tools = static_cast<int>(require_program("verilator", diagnostics)) &
                     static_cast<int>(require_program("yosys", diagnostics));
  if (!tools) {
    spec::print(stderr, diagnostics);
    return kBadInput;
  }
  const std::string& top = variant->stack.design.top().name;
  const fs::path logs = variant->folder / "lint";
  std::error_code ec;
  fs::create_directories(logs, ec);

  std::string script = "read_verilog -sv -I rtl";
  for (const outputs::Source& source : outputs::list_sources(variant->stack)) script += " " + source.path;
  script += fmt::format("\nhierarchy -check -top {}\nproc\ncheck -assert\n", top);
  if (!spec::write_text_file((logs / "yosys.ys").string(), script, diagnostics)) {
    spec::print(stderr, diagnostics);
    return kBadInput;
  }

  const std::vector<ToolCommand> commands = {
      {"verilator --lint-only -Wall",
       {"verilator", "--lint-only", "-Wall", "-f", "filelist.f", "--top-module", top},
       variant->folder,
       logs / "verilator.log",
       {}},
      // What Yosys only warns about is an error here: undeclared names, two drivers, indices out of bounds,
      // ports whose width is not what is connected (it drops some casts within a concatenation).
      {"yosys check",
       {"yosys", "-Q", "-T", "-e", "implicitly declared|conflicting drivers|out of bounds|Resizing cell port", "-s",
        "lint/yosys.ys"},
       variant->folder,
       logs / "yosys.log",
       {}},
  };
  const std::vector<ToolResult> results = run_tools(commands, 2, diagnostics);
  spec::print(stderr, diagnostics);
  for (const ToolResult& result : results)
    if (result.exit_code != 0) return kCheckFailed;
  return spec::write_stdout(fmt::format("{}: lint-clean in Verilator and Yosys\n", variant->folder.string()),
                            diagnostics)
             ? kDone
             : kBadInput;
}

}  // namespace

void add_lint(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("lint", "generate, then check the RTL with Verilator -Wall and Yosys");
  auto options = std::make_shared<VariantOptions>();
  command->add_option("SPEC", options->spec, "specification file")->required();
  command->add_option("-o,--output", options->output, "folder of the variant; out/<name> if not given")
      ->type_name("DIR");
  command->footer(examples({"rocegen lint specs/nic_100g.json"}));
  command->callback([options, &exit_code] { exit_code = lint(*options); });
}

}  // namespace rocegen::cli
