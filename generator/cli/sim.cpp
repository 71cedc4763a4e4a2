// rocegen sim: runs scenarios, captures and soaks against the Verilated RTL of a specification.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "generator/cli/commands.h"
#include "generator/cli/model.h"
#include "generator/cli/tool.h"
#include "generator/cli/variant.h"

namespace rocegen::cli {

namespace {

struct Options {
  VariantOptions variant;
  std::vector<std::string> arguments;
  bool coverage = false;
};

int sim(const Options& options) {
  spec::Diagnostics diagnostics;
  const std::optional<Variant> variant = generate(options.variant, diagnostics);
  if (!variant) {
    spec::print(stderr, diagnostics);
    return kBadInput;
  }
  std::vector<std::string> arguments = options.arguments;
  const bool trace =
      std::any_of(arguments.begin(), arguments.end(), [](const std::string& a) { return a.starts_with("--wave"); });
  const auto model = build_model(*variant, {trace, options.coverage}, diagnostics);
  const auto home = find_home(diagnostics);
  if (!model || !home) {
    spec::print(stderr, diagnostics);
    return kCheckFailed;
  }
  // Without a mode the arguments are scenarios; without any, all scenarios of the project run.
  static constexpr std::array kModes = {"run", "replay", "soak", "fuzz", "list"};
  const bool has_mode = std::any_of(arguments.begin(), arguments.end(), [](const std::string& a) {
    return std::any_of(kModes.begin(), kModes.end(), [&](const char* m) { return a == m; });
  });
  if (!has_mode) {
    const bool names_one = !arguments.empty() && !arguments.front().starts_with("-");
    if (!names_one) arguments.insert(arguments.begin(), "all");
    arguments.insert(arguments.begin(), "run");
  }
  std::vector<std::string> argv = {model->string(), "--manifest", (variant->folder / "manifest.json").string(),
                                   "--scenarios", (*home / "sim" / "scenarios").string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const ToolResult result = run_attached({"sim", argv, {}, {}, {}}, diagnostics);
  spec::print(stderr, diagnostics);
  return result.exit_code;
}

}  // namespace

void add_sim(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("sim",
                                         "generate, then run the Verilator regression: SPEC [run SCENARIO... | replay "
                                         "PCAP... | soak | fuzz | list] [OPTION...]");
  auto options = std::make_shared<Options>();
  command->add_option("SPEC", options->variant.spec, "specification file")->required();
  command->add_option("-o,--output", options->variant.output, "folder of the variant; out/<name> if not given")
      ->type_name("DIR");
  command->add_flag("--coverage", options->coverage, "build with line coverage");
  // What follows SPEC is the simulator's own command line, in its order.
  command->prefix_command();
  command->footer(examples({"rocegen sim specs/nic_10g.json",
                            "rocegen sim specs/nic_100g.json run psn_wrap lost_ack --wave lost.fst",
                            "rocegen sim specs/nic_100g.json replay tests/captures/rc-mtu1024-write.pcap",
                            "rocegen sim specs/nic_100g.json soak --qps 16 --messages 10000 --loss 0.01",
                            "rocegen sim specs/nic_100g.json fuzz --frames 100000"}));
  command->callback([command, options, &exit_code] {
    options->arguments = command->remaining();
    exit_code = sim(*options);
  });
}

}  // namespace rocegen::cli
