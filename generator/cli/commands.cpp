#include "generator/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <exception>
#include <vector>

#include "generator/cli/run.h"
#include "generator/spec/text.h"

namespace rocegen::cli {

namespace {

using AddCommand = void (*)(CLI::App&, int&);

// In the order of the help.
constexpr std::array kCommands = {AddCommand{add_check},      AddCommand{add_gen},         AddCommand{add_lint},
                                  AddCommand{add_synth},      AddCommand{add_sim},         AddCommand{add_bench},
                                  AddCommand{add_compile},    AddCommand{add_model},
                                  AddCommand{add_preprocess}, AddCommand{add_new_service}, AddCommand{add_schema},
                                  AddCommand{add_explain}};

int parse_and_run(int argc, const char* const* argv) {
  CLI::App app("Generates RoCE v2 network interfaces in SystemVerilog from a JSON specification.", "rocegen");
  app.set_version_flag("--version", "rocegen " ROCEGEN_VERSION, "print the version and exit");
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    const CLI::App* command = failed->get_subcommands().empty() ? failed : failed->get_subcommands().front();
    const std::string name = command == failed ? "rocegen" : "rocegen " + command->get_name();
    std::string message = error.what();
    if (message.size() > 1 && std::isupper(static_cast<unsigned char>(message[1])) == 0) {
      message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
    }
    return fmt::format("rocegen: {}\nrun `{} --help` for more\n", spec::printable(message), name);
  });
  app.footer(examples({"rocegen check specs/nic_100g.json", "rocegen gen specs/nic_100g.json",
                       "rocegen lint specs/nic_100g.json", "rocegen synth specs/nic_100g.json",
                       "rocegen sim specs/nic_100g.json", "rocegen bench specs/nic_100g.json",
                       "rocegen compile specs/graphs/dot_product.json", "rocegen model specs/models/chunks.json",
                       "rocegen explain E0201"}) +
             "Exit codes: 0 done, 1 the input is wrong, 2 usage, 3 internal error, 4 a check failed");
  int exit_code = kDone;
  add_commands(app, exit_code);
  if (argc <= 1) {
    fmt::print(stderr, "{}", app.help());
    return kUsage;
  }
  // CLI11 would only say that a subcommand is missing.
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    const std::string near = spec::nearest(argv[1], names);
    fmt::print(stderr, "rocegen: unknown command `{}`{}\nrun `rocegen --help` for more\n",
               spec::printable(spec::shorten(argv[1], 40)),
               near.empty() ? "" : fmt::format(", did you mean `{}`?", near));
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  return exit_code;
}

}  // namespace

void add_commands(CLI::App& app, int& exit_code) {
  for (const AddCommand add : kCommands) add(app, exit_code);
}

std::string examples(std::initializer_list<const char*> lines) {
  std::string text = "Examples:\n";
  for (const char* line : lines) text += fmt::format("  {}\n", line);
  return text;
}

int run(int argc, const char* const* argv) noexcept {
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rocegen: internal error: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "rocegen: internal error\n");
  }
  std::fprintf(stderr, "this is a bug in rocegen %s: please report it with the command and its input\n",
               ROCEGEN_VERSION);
  return kInternal;
}

}  // namespace rocegen::cli
