// rocegen gen: writes the RTL of a specification and everything that goes with it.
#include <fmt/format.h>

#include <memory>

#include "generator/cli/commands.h"
#include "generator/cli/variant.h"
#include "generator/spec/files.h"

namespace rocegen::cli {

void add_gen(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("gen", "generate the RTL and everything that goes with it");
  auto options = std::make_shared<VariantOptions>();
  command->add_option("SPEC", options->spec, "specification file; - is the standard input")->required();
  command->add_option("-o,--output", options->output, "folder to write; out/<name> if not given")->type_name("DIR");
  command->add_option("--dump-after", options->dump_after, "write the netlist after this pass to DIR/dump/PASS.json")
      ->type_name("PASS");
  command->footer(examples(
      {"rocegen gen specs/nic_100g.json", "rocegen gen specs/nic_10g.json -o /tmp/nic --dump-after pipeline"}));
  command->callback([options, &exit_code] {
    spec::Diagnostics diagnostics;
    const std::optional<Variant> variant = generate(*options, diagnostics);
    spec::print(stderr, diagnostics);
    if (!variant) {
      exit_code = kBadInput;
      return;
    }
    const std::string folder = variant->folder.string();
    const std::string text =
        variant->changed
            ? fmt::format(
                  "{}: {} modules written\n  RTL        {}/filelist.f\n  document   {}/doc/index.html\n  Vivado     "
                  "{}/vivado/create_project.tcl\n",
                  folder, variant->stack.design.library_modules.size() + 1, folder, folder, folder)
            : fmt::format("{}: up to date\n", folder);
    exit_code = spec::write_stdout(text, diagnostics) ? kDone : kBadInput;
  });
}

}  // namespace rocegen::cli
