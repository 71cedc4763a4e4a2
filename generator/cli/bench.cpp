// rocegen bench: measures the Verilated RTL of a specification against the wire limit, and writes JSON, Markdown and
// charts (SVG, by gnuplot).
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "generator/cli/commands.h"
#include "generator/cli/model.h"
#include "generator/cli/tool.h"
#include "generator/cli/variant.h"
#include "generator/spec/files.h"

namespace rocegen::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
  VariantOptions variant;
  double gbps = 0;
  int memory_cycles = 250;
  int delay_ns = 500;
  bool quick = false;
  std::vector<std::string> only;
  std::vector<std::string> points;
  std::vector<std::string> losses;
  bool own_recovery = false;
};

/// The fastest Ethernet rate that the datapath and the MAC's streams carry, in Gb/s.
double ethernet_rate(const spec::StackSpec& s) {
  const double raw = std::min(s.datapath_gbps(), s.line_rate_gbps());
  double best = 1;
  for (const double rate : {1.0, 2.5, 5.0, 10.0, 25.0, 40.0, 50.0, 100.0, 200.0, 400.0, 800.0})
    if (rate <= raw) best = rate;
  return best;
}

std::string bytes_words(std::uint64_t n) {
  if (n >= 1U << 20 && n % (1U << 20) == 0) return fmt::format("{} MiB", n >> 20);
  if (n >= 1024 && n % 1024 == 0) return fmt::format("{} KiB", n >> 10);
  return fmt::format("{} B", n);
}

std::string cell(const Json& value) { return value.is_number() ? fmt::format("{}", value.get<long>()) : "–"; }

/// The chart of goodput under loss shows these points.
bool in_loss_chart(const Json& point) { return point.at("qps") == 1 && point.at("round_us") == 10; }

std::string rate_table(const Json& points, bool fairness) {
  std::string out = fmt::format(
      "| operation | payload | queue pairs | directions | M messages/s | Gb/s of payload | wire limit Gb/s | of the "
      "limit |{}\n"
      "|---|--:|--:|---|--:|--:|--:|--:|{}\n",
      fairness ? " Jain index |" : "", fairness ? "--:|" : "");
  for (const Json& p : points) {
    fmt::format_to(std::back_inserter(out), "| {} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.2f} % |",
                   p.at("op").get<std::string>(), bytes_words(p.at("payload")), p.at("qps").get<int>(),
                   p.at("both").get<bool>() ? "both" : "one", p.at("mps").get<double>(), p.at("gbps").get<double>(),
                   p.at("limit_gbps").get<double>(), 100 * p.at("fraction").get<double>());
    if (fairness) fmt::format_to(std::back_inserter(out), " {:.4f} |", p.at("jain").get<double>());
    out += '\n';
  }
  return out;
}

/// The point of `points` that measures the same; null: none.
const Json* same_point(const Json& points, const Json& wanted, std::initializer_list<const char*> keys) {
  for (const Json& p : points)
    if (std::all_of(keys.begin(), keys.end(), [&](const char* key) { return p.at(key) == wanted.at(key); })) return &p;
  return nullptr;
}

/// What services cost: rates of the NIC with all of them beside those without any, and the cycles that each adds.
std::string services_tables(const Json& r) {
  const Json& alone = r.at("services");  // the first has none of them
  std::string out =
      "## Services\n\n"
      "The same NIC without services beside it. All of them work on every queue pair; the wire limit counts what they "
      "put behind the payload.\n\n"
      "| operation | payload | queue pairs | directions | M messages/s | without | of the wire limit | without |\n"
      "|---|--:|--:|---|--:|--:|--:|--:|\n";
  for (const Json& p : r.at("rate")) {
    const Json* const plain = same_point(alone.front().at("rate"), p, {"op", "payload", "qps", "both"});
    if (plain == nullptr) continue;
    fmt::format_to(std::back_inserter(out), "| {} | {} | {} | {} | {:.3f} | {:.3f} | {:.2f} % | {:.2f} % |\n",
                   p.at("op").get<std::string>(), bytes_words(p.at("payload")), p.at("qps").get<int>(),
                   p.at("both").get<bool>() ? "both" : "one", p.at("mps").get<double>(), plain->at("mps").get<double>(),
                   100 * p.at("fraction").get<double>(), 100 * plain->at("fraction").get<double>());
  }
  out +=
      "\nCycles from WQE to CQE of one message on idle NICs, with memory and cable: without services, and what is "
      "added "
      "by each\nalone and by all.\n\n| operation | payload | none |";
  std::string rule = "\n|---|--:|--:|";
  for (const Json& one : alone) {
    if (&one == &alone.front()) continue;
    fmt::format_to(std::back_inserter(out), " {} |", one.at("name").get<std::string>());
    rule += "--:|";
  }
  out += " all |" + rule + "--:|\n";
  for (const Json& p : r.at("latency")) {
    const auto cycles = [&](const Json& points) -> std::optional<long> {
      const Json* const at = same_point(points, p, {"op", "payload"});
      return at == nullptr || !at->at("wqe_to_cqe").is_number() ? std::nullopt
                                                                : std::optional(at->at("wqe_to_cqe").get<long>());
    };
    const std::optional<long> none = cycles(alone.front().at("latency"));
    if (!none) continue;
    fmt::format_to(std::back_inserter(out), "| {} | {} | {} |", p.at("op").get<std::string>(),
                   bytes_words(p.at("payload")), *none);
    const auto added = [&](std::optional<long> n) {
      out += n ? fmt::format(" {} |", *n - *none) : std::string(" – |");
    };
    for (const Json& one : alone)
      if (&one != &alone.front()) added(cycles(one.at("latency")));
    added(cycles(r.at("latency")));
    out += '\n';
  }
  return out + '\n';
}

std::string markdown(const spec::StackSpec& s, const Json& r) {
  std::string out = fmt::format(
      "# Performance of {}\n\n"
      "Measured in simulation by `rocegen bench`: two of these NICs at {:g} MHz joined by a cable of {:g} Gb/s and {} "
      "ns, memory\n"
      "latency {} cycles. Figures are counts over simulated time, so they repeat exactly. A frame takes 24 bytes more "
      "on the wire\n"
      "than its own (preamble, FCS, gap); the limits leave acknowledgements out.\n\n",
      s.name, r.at("clock_mhz").get<double>(), r.at("gbps").get<double>(), r.at("delay_ns").get<int>(),
      r.at("memory_cycles").get<int>());
  if (r.contains("rate")) {
    out += "## Message rate and goodput\n\n" + rate_table(r["rate"], false) + "\n";
    out += "![goodput by payload](goodput.svg)\n\n![message rate by payload](rate.svg)\n\n";
  }
  if (r.contains("fairness"))
    out += fmt::format("## Fairness, all queue pairs at once\n\n{}\n", rate_table(r["fairness"], true));
  if (r.contains("latency")) {
    out +=
        "## Latency in cycles\n\n"
        "One message on idle NICs, A to B. *Own one way*: from the WQE at A to the last write beat at B, without "
        "memory and cable.\n\n"
        "| operation | payload | WQE → memory read | WQE → first beat out | last beat in → first write | last beat in "
        "→ last "
        "write beat | last beat in → answer out | answer in → CQE | WQE → CQE | own one way |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    for (const Json& p : r["latency"]) {
      const auto at = [&](const char* name) { return p.contains(name) ? cell(p[name]) : std::string("–"); };
      fmt::format_to(std::back_inserter(out), "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                     p.at("op").get<std::string>(), bytes_words(p.at("payload")), at("wqe_to_read"),
                     at("wqe_to_first_beat_out"), at("last_beat_in_to_first_write"),
                     at("last_beat_in_to_last_write_beat"), at("last_beat_in_to_answer_out"), at("answer_in_to_cqe"),
                     at("wqe_to_cqe"), at("one_way_own"));
    }
    out += '\n';
  }
  if (r.contains("services")) out += services_tables(r);
  if (r.contains("loss")) {
    out +=
        "## Goodput under loss\n\n"
        "WRITEs, lost at random in both directions. Theory, with the losses that fell: a packet lost goes again and, "
        "with "
        "go-back-N,\n"
        "all that its queue pair sent behind it until the NAK came; with selective recovery only if it was its "
        "message's "
        "first.\n\n"
        "| loss | queue pairs | message | round trip | go-back-N Gb/s | in theory | selective Gb/s | in theory | wire "
        "limit | timeouts |\n"
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    const std::string first = r["loss"].front().at("recovery");
    for (const Json& p : r["loss"]) {
      if (p.at("recovery") != first) continue;
      std::map<std::string, const Json*> by;  // recovery -> this point
      for (const Json& o : r["loss"])
        if (o.at("loss") == p.at("loss") && o.at("payload") == p.at("payload") && o.at("qps") == p.at("qps") &&
            o.at("round_us") == p.at("round_us"))
          by[o.at("recovery")] = &o;
      fmt::format_to(std::back_inserter(out), "| {:g} | {} | {} | {:g} us |", p.at("loss").get<double>(),
                     p.at("qps").get<int>(), bytes_words(p.at("payload")), p.at("round_us").get<double>());
      std::string timeouts;
      for (const char* recovery : {"go_back_n", "selective"}) {
        const auto o = by.find(recovery);
        if (o == by.end()) {
          out += " – | – |";
          continue;
        }
        fmt::format_to(std::back_inserter(out), " {:.3f} | {:.3f} |", o->second->at("gbps").get<double>(),
                       o->second->at("theory_gbps").get<double>());
        timeouts +=
            fmt::format("{}{}", timeouts.empty() ? "" : ", ", o->second->at("sq_timeouts").get<std::uint64_t>());
      }
      fmt::format_to(std::back_inserter(out), " {:.3f} | {} |\n", p.at("limit_gbps").get<double>(), timeouts);
    }
    out += '\n';
    if (std::any_of(r["loss"].begin(), r["loss"].end(), in_loss_chart)) out += "![goodput under loss](loss.svg)\n\n";
  }
  fmt::format_to(std::back_inserter(out), "{} cycles simulated.\n", r.at("simulated_cycles").get<std::uint64_t>());
  return out;
}

/// A gnuplot script with its data inside. Curves: name -> points.
struct Chart {
  std::string file, title, x, y;
  bool log_x = true;
  std::map<std::string, std::vector<std::pair<double, double>>> curves;
};

std::string script(const Chart& chart) {
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "set terminal svg size 760,440 enhanced font 'sans-serif,13' background '#ffffff'\n");
  fmt::format_to(to, "set output '{}'\nset title \"{}\" noenhanced\nset xlabel '{}'\nset ylabel '{}'\n", chart.file,
                 chart.title, chart.x, chart.y);
  out += "set grid lc rgb '#dddddd'\nset border 3\nset tics nomirror\nset key outside right top\nset yrange [0:*]\n";
  if (chart.log_x) out += "set logscale x\n";
  int i = 0;
  for (const auto& [name, points] : chart.curves) {
    fmt::format_to(to, "$d{} << end\n", i++);
    for (const auto& [x, y] : points) fmt::format_to(to, "{:g} {:g}\n", x, y);
    out += "end\n";
  }
  out += "plot ";
  i = 0;
  for (const auto& [name, points] : chart.curves) {
    fmt::format_to(to, "{}$d{} using 1:2 with linespoints lw 2 pt 7 ps 0.6 {}title '{}'", i == 0 ? "" : ", ", i,
                   name.starts_with("limit") ? "dt 2 " : "", name);
    ++i;
  }
  return out + "\n";
}

std::vector<Chart> charts(const spec::StackSpec& s, const Json& r) {
  std::vector<Chart> out;
  if (r.contains("rate")) {
    Chart goodput{"goodput.svg", s.name + ": goodput by payload", "payload in bytes", "Gb/s of payload", true, {}};
    Chart rate{"rate.svg", s.name + ": message rate by payload", "payload in bytes", "M messages/s", true, {}};
    for (const Json& p : r["rate"]) {
      if (p.at("both").get<bool>()) continue;
      const std::string op = p.at("op");
      const std::string name = fmt::format("{}, {} QP{}", op, p.at("qps").get<int>(), p.at("qps") == 1 ? "" : "s");
      const double x = p.at("payload");
      goodput.curves[name].emplace_back(x, p.at("gbps").get<double>());
      rate.curves[name].emplace_back(x, p.at("mps").get<double>());
      if (p.at("qps") == 1) {
        goodput.curves["limit of " + op].emplace_back(x, p.at("limit_gbps").get<double>());
        rate.curves["limit of " + op].emplace_back(x, p.at("limit_mps").get<double>());
      }
    }
    out.push_back(std::move(goodput));
    out.push_back(std::move(rate));
  }
  if (r.contains("loss")) {
    Chart loss{"loss.svg",
               s.name + ": goodput under loss, one queue pair, long WRITEs, 10 us round trip",
               "loss in percent",
               "Gb/s of payload",
               false,
               {}};
    for (const Json& p : r["loss"]) {
      if (!in_loss_chart(p)) continue;
      const double x = 100 * p.at("loss").get<double>();
      const std::string recovery = p.at("recovery");
      loss.curves[recovery].emplace_back(x, p.at("gbps").get<double>());
      loss.curves[fmt::format("limit: {} in theory", recovery)].emplace_back(x, p.at("theory_gbps").get<double>());
    }
    out.push_back(std::move(loss));
  }
  // Points of one's own may have nothing of a chart.
  std::erase_if(out, [](const Chart& chart) { return chart.curves.empty(); });
  return out;
}

/// Runs the measurements on one variant; its report, or nothing with diagnostics.
std::optional<Json> measure(const Options& options, const Variant& variant, const std::vector<std::string>& only,
                            const std::vector<std::string>& points, const fs::path& report,
                            spec::Diagnostics& diagnostics) {
  const auto model = build_model(variant, {}, diagnostics);
  if (!model) return std::nullopt;
  const double gbps = options.gbps > 0 ? options.gbps : ethernet_rate(variant.stack.spec);
  std::vector<std::string> argv = {model->string(),
                                   "--manifest",
                                   (variant.folder / "manifest.json").string(),
                                   "--json",
                                   report.string(),
                                   "bench",
                                   "--memory-cycles",
                                   fmt::format("{}", options.memory_cycles),
                                   "--delay",
                                   fmt::format("{}", options.delay_ns),
                                   "--gbps",
                                   fmt::format("{}", gbps)};
  if (options.quick) argv.emplace_back("--quick");
  for (const std::string& part : only) argv.insert(argv.end(), {"--only", part});
  for (const std::string& point : points) argv.insert(argv.end(), {"--point", point});
  for (const std::string& point : options.losses) argv.insert(argv.end(), {"--loss-point", point});
  if (run_attached({"bench", argv, {}, {}, {}}, diagnostics).exit_code != 0) return std::nullopt;
  const auto text = spec::read_text_file(report.string(), diagnostics);
  if (!text) return std::nullopt;
  return Json::parse(*text);
}

/// Measures the NIC without services, and with each of them alone where there are several: [{name, latency, rate}],
/// rate of the first.
std::optional<Json> measure_services(const Options& options, const spec::StackSpec& s, const fs::path& folder,
                                     spec::Diagnostics& diagnostics) {
  Json out = Json::array();
  for (std::size_t k = 0; k <= (s.services.size() > 1 ? s.services.size() : 0); ++k) {
    const std::string name = k == 0 ? "none" : s.services[k - 1].name;
    VariantOptions some = options.variant;
    some.services = k == 0 ? std::vector<std::size_t>{} : std::vector<std::size_t>{k - 1};
    some.output = (folder / ("services_" + name)).string();
    const std::optional<Variant> variant = generate(some, diagnostics);
    if (!variant) return std::nullopt;
    std::vector<std::string> parts = {"latency"};
    if (k == 0) parts.emplace_back("rate");
    const auto report =
        measure(options, *variant, parts, options.points, folder / ("services_" + name + ".json"), diagnostics);
    if (!report) return std::nullopt;
    Json one;
    one["name"] = name;
    for (const std::string& part : parts) one[part] = report->at(part);
    out.push_back(std::move(one));
  }
  return out;
}

int bench(const Options& options) {
  spec::Diagnostics diagnostics;
  const auto failed = [&](int code) {
    spec::print(stderr, diagnostics);
    return code;
  };
  const std::optional<Variant> variant = generate(options.variant, diagnostics);
  if (!variant) return failed(kBadInput);
  const spec::StackSpec& s = variant->stack.spec;
  if (!require_program("gnuplot", diagnostics)) return failed(kCheckFailed);
  const fs::path folder = variant->folder / "bench";
  std::error_code fault;
  fs::create_directories(folder, fault);

  const std::string report = (folder / "bench.json").string();
  // The part `services` compares rate and latency.
  std::vector<std::string> parts;
  const auto wanted = [](const std::vector<std::string>& list, const char* part) {
    return std::find(list.begin(), list.end(), part) != list.end();
  };
  const bool services = !s.services.empty() && (options.only.empty() || wanted(options.only, "services"));
  for (const std::string& part : options.only)
    if (part != "services") parts.push_back(part);
  if (services && !options.only.empty()) {
    for (const char* part : {"rate", "latency"})
      if (!wanted(parts, part)) parts.emplace_back(part);
  }
  if (parts.empty() && !options.only.empty()) {
    diagnostics
        .error("E0571", spec::file_place(options.variant.spec), "--only services: the specification has no services")
        .help("add one to \"services\"; docs/services.md says how");
    return failed(kBadInput);
  }
  std::optional<Json> result = measure(options, *variant, parts, options.points, report, diagnostics);
  if (!result) return failed(kCheckFailed);
  Json& measured = *result;
  if (services) {
    const auto compared = measure_services(options, s, folder, diagnostics);
    if (!compared) return failed(kCheckFailed);
    measured["services"] = *compared;
    if (!spec::write_text_file(report, measured.dump(2) + "\n", diagnostics)) return failed(kCheckFailed);
  }
  if (measured.contains("loss") && !options.own_recovery) {
    // The same NIC with the other recovery, beside it.
    VariantOptions other_options = options.variant;
    other_options.recovery = s.transport.recovery == "selective" ? "go_back_n" : "selective";
    other_options.output = (folder / other_options.recovery).string();
    const std::optional<Variant> other = generate(other_options, diagnostics);
    if (!other) return failed(kBadInput);
    const auto losses =
        measure(options, *other, {"loss"}, {}, folder / (other_options.recovery + ".json"), diagnostics);
    if (!losses) return failed(kCheckFailed);
    for (const Json& point : losses->at("loss")) measured["loss"].push_back(point);
    if (!spec::write_text_file(report, measured.dump(2) + "\n", diagnostics)) return failed(kCheckFailed);
  }
  if (!spec::write_text_file((folder / "bench.md").string(), markdown(s, measured), diagnostics))
    return failed(kCheckFailed);
  for (const Chart& chart : charts(s, measured)) {
    const fs::path source = folder / (fs::path(chart.file).stem().string() + ".gnuplot");
    if (!spec::write_text_file(source.string(), script(chart), diagnostics)) return failed(kCheckFailed);
    const ToolCommand draw{"gnuplot " + chart.file,
                           {"gnuplot", source.filename().string()},
                           folder,
                           folder / (source.stem().string() + ".log"),
                           {}};
    if (run_tools({draw}, 1, diagnostics).front().exit_code != 0) return failed(kCheckFailed);
  }
  fmt::print("wrote {}/bench.md, bench.json and charts\n", folder.string());
  return kDone;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "bench",
      "measure message rate, goodput, latency, fairness, goodput under loss and what services cost, in simulation: "
      "JSON, Markdown, SVG");
  auto options = std::make_shared<Options>();
  command->add_option("SPEC", options->variant.spec, "specification file")->required();
  command->add_option("-o,--output", options->variant.output, "folder of the variant; out/<name> if not given")
      ->type_name("DIR");
  command->add_option("--gbps", options->gbps, "line rate; default: the fastest Ethernet rate that the variant carries")
      ->check(CLI::Range(0.1, 10000.0));
  command->add_option("--memory-cycles", options->memory_cycles, "latency of host memory")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  command->add_option("--delay", options->delay_ns, "propagation of the cable in ns, one way")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  command->add_flag("--quick", options->quick, "a few points only");
  command->add_option("--only", options->only, "rate, latency, fairness, loss or services; may be given several times")
      ->check(CLI::IsMember({"rate", "latency", "fairness", "loss", "services"}));
  command->add_option("--loss-point", options->losses,
                      "measure goodput under loss at LOSS:BYTES:QPS:ROUND_US instead of the standard points, LOSS the "
                      "probability a frame; may be given several times");
  command->add_flag("--own-recovery", options->own_recovery,
                    "loss: only the transport.recovery of the specification, no model of the other");
  command->add_option("--point", options->points,
                      "measure the rate at OP:BYTES:QPS[:both] instead of the standard points, OP one of write, send, "
                      "read; may be given several times");
  command->footer(examples({"rocegen bench specs/nic_100g.json", "rocegen bench specs/nic_10g.json --quick",
                            "rocegen bench specs/nic_100g.json --only loss",
                            "rocegen bench specs/nic_100g_all.json --quick --only services"}));
  command->callback([options, &exit_code] { exit_code = bench(*options); });
}

}  // namespace rocegen::cli
