// rocegen model: what was understood of a trained model, and what it costs as hardware.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "generator/cli/commands.h"
#include "generator/cli/compile.h"
#include "generator/model/lower.h"
#include "generator/model/read.h"
#include "generator/model/sample.h"
#include "generator/spec/files.h"

namespace rocegen::cli {

namespace {

using model::Model;

struct ModelCommand {
  std::string file;
  int bits = 16;
  bool missing = false;
  int fraction_bits = -1;
  int depth = 2;
  double clock_mhz = 250;
  GraphJob job;
};

std::string plural(std::size_t n, const char* word) { return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s"); }

std::string identifier(const Model& m, const std::string& file) {
  std::string name = m.name.empty() ? std::filesystem::path(file).stem().string() : m.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "model_");
  return dataflow::is_identifier(name) ? name : name + "_model";
}

std::string describe_forest(const Model& m) {
  std::size_t tests = 0;
  std::size_t leaves = 0;
  int deepest = 0;
  bool categorical = false;
  double reach = 0;
  for (const model::Tree& tree : m.forest.trees) {
    std::vector<int> depth(tree.nodes.size());
    double most = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const model::Node& node = tree.nodes[i];
      ++(node.leaf ? leaves : tests);
      if (node.leaf) {
        most = std::max(most, std::abs(node.value));
        deepest = std::max(deepest, depth[i]);
        continue;
      }
      categorical = categorical || node.categorical;
      for (const int child : {node.left, node.right}) depth[static_cast<std::size_t>(child)] = depth[i] + 1;
    }
    reach += most;
  }
  for (const double base : m.forest.base) reach += std::abs(base);
  std::string text =
      fmt::format("  {}: {}, {}, depth {}{}\n", plural(m.forest.trees.size(), "tree"), plural(tests, "test"),
                  plural(leaves, "leaf value"), deepest, categorical ? ", some by category" : "");
  model::Wide limit = 0;
  for (int s = 0; s < m.scores; ++s) limit = std::max(limit, model::score_limit(m.forest, s));
  int bits = 1;
  while (limit >> bits != 0) ++bits;
  text += fmt::format("  score: {} bits, {} of them behind the point; {}\n", bits + 1, m.forest.fraction_bits,
                      m.forest.exact ? "leaves are exact, so are their sums"
                                     : fmt::format("leaves are rounded: a score is off by at most {:.3g}",
                                                   static_cast<double>(m.forest.trees.size() + 1) *
                                                       std::ldexp(0.5, -m.forest.fraction_bits)));
  if (m.forest.exact && m.decision != model::Decision::value && m.forest.trees.size() > 1) {
    // Each of n - 1 additions rounds a partial sum by half a unit in the last place.
    const double unit = std::ldexp(1.0, m.forest.float32 ? -24 : -53);
    const double bound = reach * unit * static_cast<double>(m.forest.trees.size());
    text += fmt::format("  the program that wrote the file adds in {}, and may be {:.2g} off the exact sum\n",
                        m.forest.float32 ? "float32" : "double", bound);
  }
  return text;
}

std::string describe_network(const Model& m) {
  std::string shape = fmt::format("{}", m.features.size());
  std::size_t weights = 0;
  std::size_t other = 0;
  for (const model::Layer& layer : m.layers) {
    shape += fmt::format("-{}", layer.outputs());
    for (const auto& row : layer.weights) {
      weights += row.size();
      other += static_cast<std::size_t>(std::count_if(row.begin(), row.end(), [](std::int64_t w) { return w != 0; }));
    }
  }
  return fmt::format("  dense layers {}: {} weights, {} of them not 0; integers, exact\n", shape, weights, other);
}

std::string describe(const Model& m, const ModelCommand& command) {
  std::string text = fmt::format("{}: {}{}{}\n", command.file, m.format, m.name.empty() ? "" : ", " + m.name,
                                 m.objective.empty() ? "" : ", trained for " + m.objective);
  std::size_t used = 0;
  std::string names;
  for (const model::Feature& f : m.features) {
    if (!f.used) continue;
    if (++used <= 12) names += (used > 1 ? ", " : "") + f.name;
  }
  text +=
      fmt::format("  {}, {} used: {}{}\n", plural(m.features.size(), "feature"), used, names, used > 12 ? ", ..." : "");
  text += m.network() ? describe_network(m) : describe_forest(m);
  switch (m.decision) {
    case model::Decision::thresholds: {
      std::string limits;
      for (const double t : m.thresholds) limits += fmt::format("{}{}", limits.empty() ? "" : ", ", t);
      text += fmt::format("  decision: {} classes, by how many of the thresholds {} the score exceeds\n", m.classes,
                          limits);
      break;
    }
    case model::Decision::greatest:
      text += fmt::format("  decision: {} classes, by the greatest score, the first of equals\n", m.classes);
      break;
    case model::Decision::value:
      text += fmt::format("  decision: {} classes, by the value of the leaf\n", m.classes);
      break;
  }
  return text;
}

int show(ModelCommand& command) {
  spec::Diagnostics diagnostics;
  const auto finish = [&](int code) {
    spec::print(stderr, diagnostics);
    return code;
  };
  auto m = model::read_model(command.file, diagnostics);
  if (!m) return finish(kBadInput);
  const std::optional<int> fraction =
      command.fraction_bits < 0 ? std::nullopt : std::optional<int>(command.fraction_bits);
  if (!m->network() && !model::fix_point(*m, fraction)) {
    diagnostics.error("E0525", spec::file_place(command.file), "the leaves differ too much in size to be added exactly")
        .help("round them: --fraction-bits 32");
    return finish(kBadInput);
  }
  if (!spec::write_stdout(describe(*m, command), diagnostics)) return finish(kBadInput);

  std::vector<int> bits;
  for (const model::Feature& f : m->features) bits.push_back(f.bits > 0 ? f.bits : command.bits);
  auto& job = command.job;
  dataflow::GraphFile file{model::model_graph(*m, identifier(*m, command.file), bits, command.missing), {}, {}, {}};
  file.options.level_budget = dataflow::level_budget(command.depth, command.clock_mhz);
  for (const auto& p : file.graph.inputs()) file.input_types.push_back({file.graph.width(p.node), false});
  for (const auto& p : file.graph.outputs()) file.output_types.push_back({file.graph.width(p.node), false});
  job.file = std::move(file);
  job.reference = "evaluator of models";
  auto sampler = std::make_shared<model::Sampler>(*m, bits, command.missing, 1);
  job.operands = [&, sampler](int) { return model::operands(*m, bits, command.missing, sampler->next()); };
  job.expected = [&](const std::vector<dataflow::BitVec>& operands) {
    const auto sample = model::sample_of(*m, bits, command.missing, operands);
    return std::vector{dataflow::BitVec(model::class_bits(*m), static_cast<std::uint64_t>(model::decide(*m, sample)))};
  };
  return finish(run_graph_job(job, diagnostics));
}

}  // namespace

void add_model(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("model", "show what a trained model decides by, and what it costs");
  auto options = std::make_shared<ModelCommand>();
  command->add_option("FILE", options->file, "XGBoost JSON, LightGBM text, or integer JSON, see docs/services-dpi.md")
      ->required();
  command->add_option("--bits", options->bits, "width of features of which the file does not say it")
      ->check(CLI::Range(1, model::kMaxFeatureBits))
      ->capture_default_str();
  command->add_flag("--missing", options->missing, "features may be missing");
  command->add_option("--fraction-bits", options->fraction_bits, "round leaves to so many bits behind the point")
      ->check(CLI::Range(0, model::kMaxScoreBits));
  command->add_option("--depth", options->depth, "pipeline_depth of the specification")
      ->check(CLI::Range(0, 4))
      ->capture_default_str();
  command->add_option("--mhz", options->clock_mhz, "clock of the specification")
      ->check(CLI::Range(10.0, 1000.0))
      ->capture_default_str();
  command->add_option("-o,--output", options->job.output, "folder of the module; out/<name> if not given")
      ->type_name("DIR");
  command->add_flag("--check", options->job.check, "run the module in Verilator against the evaluator of models");
  command->add_option("--vectors", options->job.vectors, "vectors of --check")
      ->check(CLI::Range(2, 10'000'000))
      ->capture_default_str();
  command->add_flag("--synth", options->job.synth, "synthesise with Yosys and report LUTs and levels");
  command->footer(examples({"rocegen model specs/models/chunks.json --check"}));
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

}  // namespace rocegen::cli
