// rocegen schema: writes the JSON Schema of a specification, or the reference of all its keys.
#include "generator/spec/schema.h"

#include <memory>
#include <string>

#include "generator/cli/commands.h"
#include "generator/spec/files.h"

namespace rocegen::cli {

namespace {

struct Options {
  std::string output;
  bool markdown = false;
};

int write_schema(const Options& options) {
  spec::Diagnostics diagnostics;
  const std::string text = options.markdown ? spec::reference_markdown() : spec::json_schema().dump(2) + "\n";
  const bool written = options.output.empty() || options.output == "-"
                           ? spec::write_stdout(text, diagnostics)
                           : spec::write_text_file(options.output, text, diagnostics);
  spec::print(stderr, diagnostics);
  return written ? kDone : kBadInput;
}

}  // namespace

void add_schema(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("schema", "write the JSON Schema (2020-12) of a specification");
  auto options = std::make_shared<Options>();
  command->add_option("-o,--output", options->output, "file to write; standard output if not given")->type_name("FILE");
  command->add_flag("--markdown", options->markdown, "write the reference of all keys as Markdown instead");
  command->footer(
      examples({"rocegen schema -o nic.schema.json", "rocegen schema --markdown -o docs/spec-reference.md"}));
  command->callback([options, &exit_code] { exit_code = write_schema(*options); });
}

}  // namespace rocegen::cli
