// rocegen check: reads specifications, reports every fault, and sums up what is good.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "generator/cli/commands.h"
#include "generator/spec/files.h"
#include "generator/spec/spec.h"
#include "generator/spec/text.h"

namespace rocegen::cli {

namespace {

struct Options {
  std::vector<std::string> files;
  bool json = false;
};

std::string summary(const std::string& file, const spec::StackSpec& s) {
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "{}: good\n", spec::printable(file));
  fmt::format_to(to, "  name       {}\n", s.name);
  fmt::format_to(to, "  datapath   {} bit at {} MHz = {:.6g} Gb/s, pipeline depth {}\n", s.data_width, s.clock_mhz,
                 s.datapath_gbps(), s.pipeline_depth);
  fmt::format_to(to, "  line rate  {} bit at {} MHz = {:.6g} Gb/s, {}\n", s.network.mac_width, s.network.mac_clock_mhz,
                 s.line_rate_gbps(), s.has_mac_clock() ? "its own clock" : "same clock");
  fmt::format_to(to, "  transport  {} queue pairs, MTU up to {} bytes, {} WQE slots, window {} packets\n", s.qp_count,
                 s.mtu, s.transport.wqe_slots, s.transport.window_packets);
  fmt::format_to(to, "  host       {} memory regions, {} reads and {} writes in flight, {}-bit addresses\n",
                 s.memory_regions, s.host.max_reads, s.host.max_writes, s.host.address_width);
  fmt::format_to(to, "  buffers    {} KiB receive, {} KiB transmit, {} KiB read\n", s.network.rx_buffer_kib,
                 s.network.tx_buffer_kib, s.host.read_buffer_kib);
  fmt::format_to(to, "  part       {}\n", s.target.part);
  fmt::format_to(to, "  hash       {}\n", spec::spec_hash(s));
  return out;
}

int check(const Options& options) {
  spec::Diagnostics diagnostics;
  std::string out;
  for (const std::string& file : options.files) {
    const std::optional<spec::StackSpec> spec = spec::read_spec(file, diagnostics);
    if (spec) out += options.json ? spec::to_json(*spec).dump(2) + "\n" : summary(file, *spec);
  }
  spec::write_stdout(out, diagnostics);
  spec::print(stderr, diagnostics);
  if (diagnostics.has_errors()) {
    fmt::print(stderr, "{} error{} in {} file{}\n", diagnostics.error_count(),
               diagnostics.error_count() == 1 ? "" : "s", options.files.size(), options.files.size() == 1 ? "" : "s");
  }
  return diagnostics.has_errors() ? kBadInput : kDone;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("check", "check specifications and report every fault");
  auto options = std::make_shared<Options>();
  command->add_option("SPEC", options->files, "specification files; - is the standard input")->required();
  command->add_flag("--json", options->json, "print each specification with all defaults filled in");
  command->footer(examples({"rocegen check specs/*.json", "rocegen check --json specs/nic_100g.json"}));
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace rocegen::cli
