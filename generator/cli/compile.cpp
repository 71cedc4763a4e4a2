// rocegen compile: an expression graph becomes a module, alone.
#include "generator/cli/compile.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <random>
#include <regex>

#include "generator/cli/commands.h"
#include "generator/cli/tool.h"
#include "generator/dataflow/evaluate.h"
#include "generator/dataflow/graph_file.h"
#include "generator/dataflow/passes.h"
#include "generator/spec/files.h"

namespace rocegen::cli {

namespace {

namespace fs = std::filesystem;
using dataflow::BitVec;
using dataflow::GraphFile;

/// Everything about one compilation that the steps share.
struct Compilation {
  GraphFile file;
  dataflow::CompiledModule module;
  dataflow::Graph optimised{"graph"};
  fs::path folder;
};

/// The corners of a type, else random bits.
BitVec stimulus(dataflow::Type type, std::mt19937_64& rng) {
  BitVec sign(type.width);
  sign.set_bit(type.width - 1, true);
  switch (rng() % 12) {
    case 0:
      return BitVec(type.width);
    case 1:
      return BitVec::ones(type.width);
    case 2:
      return sign;
    case 3:
      return ~sign;
    case 4:
      return BitVec(type.width, 1);
    default: {
      std::vector<std::uint64_t> words(static_cast<std::size_t>(type.width) / 64 + 1);
      for (auto& word : words) word = rng();
      return BitVec::from_words(type.width, words);
    }
  }
}

/// A line for every vector: the inputs, then the outputs, in hexadecimal.
std::string vectors(const GraphJob& job) {
  std::mt19937_64 rng(1);
  std::string text;
  for (int i = 0; i < job.vectors; ++i) {
    std::vector<BitVec> inputs;
    if (job.operands) {
      inputs = job.operands(i);
    } else {
      for (const auto type : job.file.input_types) inputs.push_back(stimulus(type, rng));
    }
    for (const auto& value : inputs) text += value.hex() + " ";
    for (const auto& value : job.expected ? job.expected(inputs) : dataflow::evaluate(job.file.graph, inputs)) {
      text += value.hex() + " ";
    }
    text += "\n";
  }
  return text;
}

/// What the self-check must know about the module.
std::string port_header(const Compilation& c) {
  const auto& options = c.file.options;
  std::string put;
  std::string get;
  for (std::size_t i = 0; i < c.file.graph.inputs().size(); ++i) {
    put += fmt::format("  put(dut.{}, row[{}]);\n", c.file.graph.inputs()[i].name, i);
  }
  for (std::size_t i = 0; i < c.file.graph.outputs().size(); ++i) {
    get += fmt::format("  ok &= same(\"{}\", dut.{}, row[{}], vector);\n", c.file.graph.outputs()[i].name,
                       c.file.graph.outputs()[i].name, i + c.file.graph.inputs().size());
  }
  return fmt::format(
      "#define LATENCY {}\n#define {} 1\n"
      "static void put_inputs(Vdut& dut, const Row& row) {{\n{}  (void)dut; (void)row;\n}}\n"
      "static bool check_outputs(Vdut& dut, const Row& row, std::size_t vector) {{\n  bool ok = true;\n{}"
      "  return ok;\n}}\n",
      c.module.latency,
      options.elastic        ? "ELASTIC"
      : !options.clock_ports ? "COMBINATIONAL"
                             : "CLOCK_ENABLE",
      put, get);
}

/// The self-check: reads the vectors and runs the module on them, with random stalls.
constexpr const char* kBench =
    R"cpp(// Written by rocegen compile --check.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "Vdut.h"
#include "verilated.h"

          using Words = std::vector<std::uint32_t>;
          using Row = std::vector<Words>;

          static Words parse(const std::string& hex) {
            Words words((hex.size() + 7) / 8, 0);
            for (std::size_t i = 0; i < hex.size(); ++i) {
              const std::uint32_t digit = std::stoul(std::string(1, hex[hex.size() - 1 - i]), nullptr, 16);
              words[i / 8] |= digit << (4 * (i % 8));
            }
            return words;
          }

          template <typename T>
          static void put(T& port, const Words& words) {
            if constexpr (std::is_integral_v<T>) {
              std::uint64_t value = words[0];
              if (words.size() > 1) value |= std::uint64_t{words[1]} << 32;
              port = static_cast<T>(value);
            } else {
              for (std::size_t i = 0; i < words.size(); ++i) port[i] = words[i];
            }
          }

          static int g_shown = 0;

          template <typename T>
          static bool same(const char* name, const T& port, const Words& expected, std::size_t vector) {
            Words found = expected;
            if constexpr (std::is_integral_v<T>) {
              found[0] = static_cast<std::uint32_t>(port);
              if (found.size() > 1) found[1] = static_cast<std::uint32_t>(std::uint64_t{port} >> 32);
            } else {
              for (std::size_t i = 0; i < found.size(); ++i) found[i] = port[i];
            }
            if (found == expected) return true;
            if (++g_shown <= 5) {
              std::printf("vector %zu, %s:", vector, name);
              for (std::size_t i = found.size(); i-- > 0;) std::printf(" %08x", found[i]);
              std::printf(", expected");
              for (std::size_t i = expected.size(); i-- > 0;) std::printf(" %08x", expected[i]);
              std::printf("\n");
            }
            return false;
          }

#include "ports.h"

          static bool fail(const char* text) {
            std::printf("%s\n", text);
            return false;
          }

#if defined(COMBINATIONAL)
          static bool run(Vdut& dut, const std::vector<Row>& rows) {
            bool ok = true;
            for (std::size_t i = 0; i < rows.size(); ++i) {
              put_inputs(dut, rows[i]);
              dut.eval();
              ok &= check_outputs(dut, rows[i], i);
            }
            return ok;
          }
#elif defined(CLOCK_ENABLE)
          static bool run(Vdut& dut, const std::vector<Row>& rows) {
            std::mt19937 rng(7);
            std::vector<std::size_t> taken;
            bool ok = true;
            while (taken.size() < rows.size() + LATENCY) {
              const bool enable = taken.size() < rows.size() / 2 || rng() % 4 != 0;
              const std::size_t next = enable ? taken.size() % rows.size() : rng() % rows.size();
              dut.ce_i = enable;
              put_inputs(dut, rows[next]);
              dut.clk = 0;
              dut.eval();
              if (LATENCY == 0) ok &= check_outputs(dut, rows[next], next);
              dut.clk = 1;
              dut.eval();
              if (enable) taken.push_back(next);
              if (LATENCY > 0 && taken.size() >= LATENCY) {
                const std::size_t vector = taken[taken.size() - LATENCY];
                ok &= check_outputs(dut, rows[vector], vector);
              }
            }
            return ok;
          }
#else
          static bool run(Vdut& dut, const std::vector<Row>& rows) {
            std::mt19937 rng(7);
            bool ok = true;
            std::size_t in = 0;
            std::size_t out = 0;
            const auto clock = [&](bool valid, bool ready) {  // one cycle; counts what moves
              dut.s_tvalid = valid;
              dut.m_tready = ready;
              if (valid) {
                put_inputs(dut, rows[in % rows.size()]);
              } else {
                put_inputs(dut, rows[rng() % rows.size()]);
              }
              dut.clk = 0;
              dut.eval();
              const bool accepted = valid && dut.s_tready;
              if (dut.m_tvalid)
                ok &=
                    out < in + accepted ? check_outputs(dut, rows[out % rows.size()], out) : fail("a result too many");
              out += ready && dut.m_tvalid;
              in += accepted;
              dut.clk = 1;
              dut.eval();
              return accepted;
            };
            for (int i = 0; i < 3; ++i) {  // garbage before the reset must not come out
              dut.rst = 1;
              dut.s_tvalid = 0;
              dut.m_tready = 0;
              dut.clk = 0;
              dut.eval();
              dut.clk = 1;
              dut.eval();
            }
            dut.rst = 0;
            for (std::size_t i = 0; i < rows.size() / 2; ++i) {  // one a cycle without a stall
              if (!clock(true, true)) return fail("s_tready fell without a reason");
            }
            if (in - out != LATENCY) return fail("another latency");
            bool valid = false;
            while (in < rows.size()) {
              valid = valid || rng() % 3 != 0;
              if (clock(valid, rng() % 3 == 0)) valid = false;
            }
            for (int i = 0; i < LATENCY + 2; ++i) clock(false, true);
            if (in != out) return fail("a result is missing");
            for (int i = 0; i < LATENCY * 3 + 3; ++i)
              clock(i % 2 == 0 && in - out < LATENCY, false);  // stages close
                                                               // up
            if (in - out != LATENCY) return fail("the stages do not close up");
            if (LATENCY > 0 && clock(true, false)) return fail("a set of operands too many");
            for (int i = 0; i < LATENCY + 2; ++i) clock(false, true);
            return ok && in == out;
          }
#endif

          int main(int, char** argv) {
            std::vector<Row> rows;
            std::ifstream file(argv[1]);
            for (std::string line; std::getline(file, line);) {
              std::istringstream words(line);
              Row row;
              for (std::string word; words >> word;) row.push_back(parse(word));
              rows.push_back(row);
            }
            VerilatedContext context;
            Vdut dut(&context);
            return !rows.empty() && run(dut, rows) ? 0 : 1;
          }
    )cpp";

bool write(const fs::path& path, const std::string& text, spec::Diagnostics& diagnostics) {
  std::error_code ec;
  fs::create_directories(path.parent_path(), ec);
  return spec::write_text_file(path.string(), text, diagnostics);
}

void fault(const Compilation& c, std::string message, const fs::path& log, spec::Diagnostics& diagnostics) {
  auto& d =
      diagnostics.error("E0410", spec::file_place((c.folder / (c.module.name + ".sv")).string()), std::move(message));
  const std::string text = read_log(log);
  if (!text.empty()) d.note(text.substr(0, text.find('\n')));
}

/// Runs the module in Verilator against what is expected of it.
bool check(const Compilation& c, const GraphJob& job, spec::Diagnostics& diagnostics) {
  const fs::path folder = c.folder / "check";
  if (!require_program("verilator", diagnostics)) return false;
  if (!write(folder / "vectors.txt", vectors(job), diagnostics) ||
      !write(folder / "ports.h", port_header(c), diagnostics) || !write(folder / "main.cpp", kBench, diagnostics)) {
    return false;
  }
  const std::string source = fs::absolute(c.folder / (c.module.name + ".sv")).string();
  // Verilator 5.006 can invert a term of an XOR tree twice (its issues 4832, 4857), so that optimisation is off.
  const ToolCommand build = {"verilator " + c.module.name,
                             {"verilator",    "--cc",
                              "--exe",        "--build",
                              "-j",           "1",
                              "-Wall",        "-fno-const-bit-op-tree",
                              "--top-module", c.module.name,
                              "--prefix",     "Vdut",
                              "-Mdir",        "obj",
                              "-MAKEFLAGS",   "OPT_FAST=-O1",
                              "-CFLAGS",      "-std=c++20 -O1 -I..",
                              "-o",           "check",
                              source,         "main.cpp"},
                             folder,
                             folder / "verilator.log",
                             {}};
  if (run_tools({build}, 1, diagnostics)[0].exit_code != 0) return false;
  spec::Diagnostics ignored;  // a difference is a fault of its own
  const fs::path log = folder / "check.log";
  const ToolCommand run = {"check " + c.module.name, {"./obj/check", "vectors.txt"}, folder, log, {}};
  if (run_tools({run}, 1, ignored)[0].exit_code == 0) return true;
  fault(c, "the module differs from the " + job.reference, log, diagnostics);
  return false;
}

/// Proves that the passes keep every value, by SAT on the graph before and after them.
bool prove(const Compilation& c, spec::Diagnostics& diagnostics) {
  const fs::path folder = c.folder / "prove";
  if (!require_program("yosys", diagnostics)) return false;
  dataflow::Options options;
  options.combinational = true;
  options.clock_ports = false;
  dataflow::Graph before = c.file.graph;
  dataflow::Graph after = c.optimised;
  before.rename(c.module.name + "_before");
  after.rename(c.module.name + "_after");
  const std::string script = fmt::format(
      "read_verilog -sv before.sv after.sv\nproc\nflatten\nmemory\nopt -full\n"
      "miter -equiv -flatten -make_outputs {0}_before {0}_after miter\nhierarchy -top miter\nopt -full\n"
      "sat -verify -prove trigger 0 -timeout 120 miter\n",
      c.module.name);
  if (!write(folder / "before.sv", dataflow::compile(before, options).systemverilog, diagnostics) ||
      !write(folder / "after.sv", dataflow::compile(after, options).systemverilog, diagnostics) ||
      !write(folder / "prove.ys", script, diagnostics)) {
    return false;
  }
  const ToolCommand run = {
      "yosys sat " + c.module.name, {"yosys", "-Q", "-T", "-s", "prove.ys"}, folder, folder / "prove.log", {}};
  return run_tools({run}, 1, diagnostics)[0].exit_code == 0;
}

/// What Yosys makes of the module.
struct Synthesis {
  int levels = 0;
  int luts = 0;
  int carries = 0;
  int registers = 0;
  int dsps = 0;
};

int cells(const std::string& log, const char* pattern) {
  int n = 0;
  const std::regex row(fmt::format("\\n +\\\\?{} +([0-9]+)", pattern));
  for (auto it = std::sregex_iterator(log.begin(), log.end(), row); it != std::sregex_iterator(); ++it) {
    n += std::stoi((*it)[1]);
  }
  return n;
}

std::optional<Synthesis> synthesise(const Compilation& c, spec::Diagnostics& diagnostics) {
  const fs::path folder = c.folder / "synth";
  if (!require_program("yosys", diagnostics)) return std::nullopt;
  const std::string script = fmt::format(
      "read_verilog -sv {1}\nhierarchy -check -top {0}\nproc\ncheck -assert\ndesign -save source\n"
      "synth -flatten -lut 6 -top {0}\ntee -o levels.txt ltp -noff\ndesign -load source\n"
      "synth_xilinx -family xcup -flatten -noiopad -noclkbuf -nowidelut -top {0}\ntee -o cells.txt stat\n",
      c.module.name, fs::absolute(c.folder / (c.module.name + ".sv")).string());
  if (!write(folder / "synth.ys", script, diagnostics)) return std::nullopt;
  const ToolCommand run = {
      "yosys " + c.module.name,
      {"yosys", "-Q", "-T", "-q", "-e", "implicitly declared|conflicting drivers|out of bounds", "-s", "synth.ys"},
      folder,
      folder / "yosys.log",
      {}};
  if (run_tools({run}, 1, diagnostics)[0].exit_code != 0) return std::nullopt;
  const std::string levels = read_log(folder / "levels.txt");
  const std::string stat = read_log(folder / "cells.txt");
  std::smatch length;
  Synthesis r;
  if (std::regex_search(levels, length, std::regex("length=([0-9]+)"))) r.levels = std::stoi(length[1]);
  r.luts = cells(stat, "LUT[1-6]");
  r.carries = cells(stat, "CARRY[48]");
  r.registers = cells(stat, "FD[RSCP]E") + cells(stat, "SRL[0-9A-Z]+");
  r.dsps = cells(stat, "DSP[0-9A-Z]+");
  return r;
}

}  // namespace

int run_graph_job(const GraphJob& job, spec::Diagnostics& diagnostics) {
  Compilation c{job.file, {}, dataflow::Graph("graph"), {}};
  c.optimised = dataflow::optimise(c.file.graph);
  c.module = dataflow::compile(c.optimised, c.file.options);
  c.folder = job.output.empty() ? fs::path("out") / c.module.name : fs::path(job.output);
  const fs::path source = c.folder / (c.module.name + ".sv");
  if (!write(source, c.module.systemverilog, diagnostics)) return kBadInput;

  std::string report = fmt::format("{}: latency {} cycle{}, levels {} (stages {}), {} register bits, about {} LUT\n",
                                   c.module.name, c.module.latency, c.module.latency == 1 ? "" : "s", c.module.levels,
                                   fmt::join(c.module.stage_levels, ", "), c.module.register_bits, c.module.luts);
  bool good = true;
  if (job.synth) {
    if (const auto s = synthesise(c, diagnostics)) {
      report += fmt::format("  Yosys: {} LUT6 levels; synth_xilinx {} LUT, {} CARRY, {} FF, {} DSP\n", s->levels,
                            s->luts, s->carries, s->registers, s->dsps);
    } else {
      good = false;
    }
  }
  if (job.check) {
    const bool same = check(c, job, diagnostics);
    if (same) report += fmt::format("  check: {} vectors, the module equals the {}\n", job.vectors, job.reference);
    good = good && same;
  }
  if (job.prove) {
    const bool proved = prove(c, diagnostics);
    if (proved) report += "  proof: the passes keep every value\n";
    good = good && proved;
  }
  report += fmt::format("  wrote {}\n", source.string());
  if (!spec::write_stdout(report, diagnostics)) return kBadInput;
  return good ? kDone : kCheckFailed;
}

namespace {

struct CompileOptions {
  std::string graph;
  GraphJob job;
};

int compile(CompileOptions& options) {
  spec::Diagnostics diagnostics;
  int code = kBadInput;
  if (auto text = spec::read_text_file(options.graph, diagnostics)) {
    if (auto file = dataflow::read_graph(options.graph, std::move(*text), diagnostics)) {
      options.job.file = std::move(*file);
      code = run_graph_job(options.job, diagnostics);
    }
  }
  spec::print(stderr, diagnostics);
  return code;
}

}  // namespace

void add_compile(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("compile", "compile an expression graph into a pipelined module");
  auto options = std::make_shared<CompileOptions>();
  command->add_option("GRAPH", options->graph, "graph file, see docs/dataflow.md")->required();
  command->add_option("-o,--output", options->job.output, "folder of the module; out/<name> if not given")
      ->type_name("DIR");
  command->add_flag("--check", options->job.check, "run the module in Verilator against the evaluator");
  command->add_option("--vectors", options->job.vectors, "vectors of --check")
      ->check(CLI::Range(2, 10'000'000))
      ->capture_default_str();
  command->add_flag("--prove", options->job.prove, "prove by SAT in Yosys that the passes keep every value");
  command->add_flag("--synth", options->job.synth, "synthesise with Yosys and report LUTs and levels");
  command->footer(examples({"rocegen compile specs/graphs/dot_product.json --check --synth"}));
  command->callback([options, &exit_code] { exit_code = compile(*options); });
}

}  // namespace rocegen::cli
