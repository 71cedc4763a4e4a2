// rocegen new-service: the skeleton of a service of the user's own, with a specification and a scenario that run it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "generator/cli/commands.h"
#include "generator/services/custom/custom.h"
#include "generator/spec/files.h"
#include "generator/spec/keywords.h"

namespace rocegen::cli {

namespace {

namespace fs = std::filesystem;

struct Options {
  std::string name;
  std::string attach = "ingress";
  std::string output;
};

bool name_is_free(const std::string& name, spec::Diagnostics& diagnostics) {
  if (!spec::is_identifier(name)) {
    diagnostics.error("E0206", {}, fmt::format("\"{}\" cannot name a module and a file", name))
        .help("take " + std::string(spec::kIdentifierWords));
    return false;
  }
  const auto reserved = spec::library_names();
  if (spec::is_keyword(name) || std::binary_search(reserved.begin(), reserved.end(), name)) {
    diagnostics
        .error("E0567", {},
               fmt::format("\"{}\" is {}", name,
                           spec::is_keyword(name) ? "a keyword of SystemVerilog" : "a module of the library"))
        .help(fmt::format("take another name, such as my_{}", name));
    return false;
  }
  return true;
}

int new_service(const Options& options) {
  spec::Diagnostics diagnostics;
  const auto refuse = [&] {
    spec::print(stderr, diagnostics);
    return kBadInput;
  };
  if (!name_is_free(options.name, diagnostics)) return refuse();
  const services::Attach attach = options.attach == "ingress"  ? services::Attach::ingress
                                  : options.attach == "egress" ? services::Attach::egress
                                                               : services::Attach::deliver;
  const fs::path folder = options.output.empty() ? fs::path(options.name) : fs::path(options.output);
  const std::string module = (folder / (options.name + ".sv")).string();
  const std::string spec = (folder / (options.name + "_nic.json")).string();
  const std::string scenario = (folder / (options.name + "_test.json")).string();
  std::error_code ec;
  for (const std::string& file : {module, spec, scenario}) {
    if (!fs::exists(file, ec)) continue;
    diagnostics.error("E0570", spec::file_place(file), "the file is there already")
        .help("remove it, or choose another folder with -o");
    return refuse();
  }
  fs::create_directories(folder, ec);
  if (ec) {
    diagnostics.error("E0107", spec::file_place(folder.string()), "cannot make the folder: " + ec.message())
        .help("choose another folder with -o");
    return refuse();
  }
  if (!spec::write_text_file(module, services::skeleton(options.name, attach), diagnostics) ||
      !spec::write_text_file(spec, services::skeleton_spec(options.name, attach), diagnostics) ||
      !spec::write_text_file(scenario, services::skeleton_scenario(options.name, attach), diagnostics))
    return refuse();
  const std::string text = fmt::format(
      "{0}  the module: it hands packets on as they are\n"
      "{1}  a stack that has it\n"
      "{2}  a scenario that runs it\n\n"
      "Next:\n"
      "  1. rocegen lint {1}\n"
      "  2. rocegen sim {1} run {2} --pairs dut-dut\n"
      "  3. write what it does at the TODOs of {0}, and what must come out into {2}\n"
      "  4. put the entry of \"services\" into your own specification; register QP_SERVICES says which queue pairs use "
      "it\n"
      "docs/services.md tells the rules that a stage keeps.\n",
      module, spec, scenario);
  return spec::write_stdout(text, diagnostics) ? kDone : kBadInput;
}

}  // namespace

void add_new_service(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "new-service", "write the skeleton of a service, and a specification and a scenario that run it");
  auto options = std::make_shared<Options>();
  command->add_option("NAME", options->name, "name of the service and of its module")->required();
  command->add_option("--attach", options->attach, "where it takes packets: ingress, egress or deliver")
      ->capture_default_str()
      ->check(CLI::IsMember({"ingress", "egress", "deliver"}));
  command->add_option("-o,--output", options->output, "folder to write into; NAME if not given")->type_name("DIR");
  command->footer(
      examples({"rocegen new-service sieve", "rocegen new-service scrambler --attach egress -o lab/scrambler"}));
  command->callback([options, &exit_code] { exit_code = new_service(*options); });
}

}  // namespace rocegen::cli
