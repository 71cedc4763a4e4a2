// Writes the compiled modules of a dataflow bench, a top that holds them all, and vectors with expected results:
//
//   dataflow_gen FOLDER SUITE icrc|checksum|ops|random NUMBER...
//
// NUMBER: data widths (icrc), level budgets (checksum), operand widths (ops), seeds (random). Files: the modules,
// dataflow_<suite>.sv, and dataflow_<suite>.txt, which dataflow_bench.cpp reads. Expected values come from the plain
// definitions where there is one (bitwise CRC, RFC 1071), else from the evaluator, which the unit tests check.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "generator/dataflow/checksum.h"
#include "generator/dataflow/compile.h"
#include "generator/dataflow/crc.h"
#include "generator/dataflow/evaluate.h"
#include "tests/unit/dataflow/sample_graphs.h"

namespace {

using namespace rocegen::dataflow;

using Inputs = std::vector<BitVec>;
using Reference = std::function<std::vector<BitVec>(const Inputs&)>;
using Stimulus = std::function<Inputs(int vector, std::mt19937_64& rng)>;

std::vector<std::uint8_t> bytes_of(const BitVec& v) {
  std::vector<std::uint8_t> r;
  for (int i = 0; i < v.width(); i += 8) r.push_back(static_cast<std::uint8_t>(v.slice(i + 7, i).to_uint64()));
  return r;
}

class Suite {
 public:
  explicit Suite(std::string name) : name_("dataflow_" + std::move(name)) {}

  /// A graph compiled under several options; all copies see the same operands.
  void add(Graph graph, const std::vector<std::pair<std::string, Options>>& variants, Stimulus stimulus,
           Reference reference) {
    Entry e;
    e.in_lo = in_width_;
    for (const auto& p : graph.inputs()) in_width_ += graph.width(p.node);
    const std::string base = graph.name();
    for (const auto& [suffix, options] : variants) {
      graph.rename(base + suffix);
      const CompiledModule m = compile(graph, options);
      modules_.push_back(m);
      std::string text = fmt::format("  {} u_{} (\n", m.name, m.name);
      if (options.clock_ports) text += "      .clk (clk),\n      .ce_i(ce_i),\n";
      int lo = e.in_lo;
      for (const auto& p : graph.inputs()) {
        text += fmt::format("      .{}(in_i[{}+:{}]),\n", p.name, lo, graph.width(p.node));
        lo += graph.width(p.node);
      }
      for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
        const auto& p = graph.outputs()[i];
        const int width = graph.width(p.node);
        text += fmt::format("      .{}(out_o[{}+:{}]){}\n", p.name, out_width_, width,
                            i + 1 < graph.outputs().size() ? "," : "");
        index_ += fmt::format("output {}.{} {} {} {}\n", m.name, p.name, m.latency, out_width_, width);
        out_width_ += width;
      }
      instances_ += text + "  );\n";
    }
    e.copies = variants.size();
    e.stimulus = std::move(stimulus);
    e.reference = std::move(reference);
    entries_.push_back(std::move(e));
  }

  void write(const std::filesystem::path& folder, int vectors) const {
    std::filesystem::create_directories(folder);
    for (const auto& m : modules_) std::ofstream(folder / (m.name + ".sv")) << m.systemverilog;
    std::ofstream(folder / (name_ + ".sv"))
        << "`default_nettype none\n\nmodule " << name_ << " (\n    input logic clk,\n    input logic ce_i,\n"
        << fmt::format("    input logic [{}:0] in_i,\n    output logic [{}:0] out_o\n);\n", in_width_ - 1,
                       out_width_ - 1)
        << instances_ << "endmodule\n\n`default_nettype wire\n";
    std::mt19937_64 rng(0xDA7AF10);
    std::ofstream out(folder / (name_ + ".txt"));
    out << index_ << fmt::format("vectors {} {} {}\n", vectors, in_width_, out_width_);
    for (int v = 0; v < vectors; ++v) {
      std::string in_bits;
      std::string out_bits;
      for (const auto& e : entries_) {
        const Inputs in = e.stimulus(v, rng);
        const auto expected = e.reference(in);
        for (const auto& value : in) append(in_bits, value);
        for (std::size_t c = 0; c < e.copies; ++c) {
          for (const auto& value : expected) append(out_bits, value);
        }
      }
      out << in_bits << '\n' << out_bits << '\n';
    }
  }

 private:
  struct Entry {
    int in_lo = 0;
    std::size_t copies = 0;
    Stimulus stimulus;
    Reference reference;
  };

  /// Bits as characters, bit 0 first.
  static void append(std::string& text, const BitVec& value) {
    for (int i = 0; i < value.width(); ++i) text += value.bit(i) ? '1' : '0';
  }

  std::string name_;
  std::vector<CompiledModule> modules_;
  std::vector<Entry> entries_;
  std::string instances_;
  std::string index_;
  int in_width_ = 0;
  int out_width_ = 0;
};

Options budget(int levels) {
  Options o;
  o.level_budget = levels;
  return o;
}

Options combinational(bool clock_ports) {
  Options o;
  o.combinational = true;
  o.clock_ports = clock_ports;
  return o;
}

void named(Graph& graph, std::string_view what, int number) {
  graph.rename(fmt::format("{}_{}{}", graph.name(), what, number));
}

Suite icrc(const std::string& name, const std::vector<int>& widths) {
  Suite suite(name);
  for (const int width : widths) {
    const int bytes = width / 8;
    Graph data = icrc_data_graph(width);
    named(data, "w", width);
    // Every single bit, which proves a linear map, then random beats.
    suite.add(
        data, {{"_b5", budget(5)}, {"_b2", budget(2)}},
        [width](int v, std::mt19937_64& rng) {
          if (v > width) return Inputs{sample::random_vec(rng, width)};
          BitVec one(width);
          if (v > 0) one.set_bit(v - 1, true);
          return Inputs{one};
        },
        [](const Inputs& in) { return Inputs{BitVec(32, crc32_raw(0, bytes_of(in[0])))}; });
    Graph step = icrc_step_graph(width);
    named(step, "w", width);
    suite.add(
        step, {{"", combinational(false)}},
        [](int v, std::mt19937_64& rng) {
          return Inputs{BitVec(32, v < 32 ? 1U << v : static_cast<std::uint32_t>(rng())),
                        BitVec(32, v < 32 ? 0 : rng())};
        },
        [bytes](const Inputs& in) {
          const std::vector<std::uint8_t> zeros(static_cast<std::size_t>(bytes), 0);
          return Inputs{BitVec(32, crc32_raw(static_cast<std::uint32_t>(in[0].to_uint64()), zeros)) ^ in[1]};
        });
    Graph rewind = icrc_rewind_graph(width);
    named(rewind, "w", width);
    // The operand is made by running forward; so every number of zero bytes comes up several times.
    suite.add(
        rewind, {{"_b8", budget(8)}, {"_b3", budget(3)}},
        [bytes](int v, std::mt19937_64& rng) {
          const int zeros = v % (bytes + 4);
          const std::vector<std::uint8_t> run(static_cast<std::size_t>(zeros), 0);
          const auto before = static_cast<std::uint32_t>(rng());
          return Inputs{BitVec(32, crc32_raw(before, run)), BitVec(8, static_cast<std::uint64_t>(zeros))};
        },
        [](const Inputs& in) {
          // Found without the inverse: forward from each of the 32 unit states, then elimination.
          const auto zeros = static_cast<std::size_t>(in[1].to_uint64());
          const std::vector<std::uint8_t> run(zeros, 0);
          std::vector<std::pair<std::uint32_t, std::uint32_t>> basis;  // image, preimage
          auto target = static_cast<std::uint32_t>(in[0].to_uint64());
          std::uint32_t result = 0;
          for (unsigned i = 0; i < 32; ++i) {
            std::uint32_t image = crc32_raw(1U << i, run);
            std::uint32_t source = 1U << i;
            for (const auto& [b, s] : basis) {
              if ((image ^ b) < image) {
                image ^= b;
                source ^= s;
              }
            }
            basis.emplace_back(image, source);
            std::sort(basis.rbegin(), basis.rend());
          }
          for (const auto& [b, s] : basis) {
            if ((target ^ b) < target) {
              target ^= b;
              result ^= s;
            }
          }
          if (target != 0) throw std::logic_error("the CRC step is not invertible");
          return Inputs{BitVec(32, result)};
        });
    Graph residue = icrc_residue_graph(width);
    named(residue, "w", width);
    suite.add(
        residue, {{"", combinational(false)}},
        [bytes](int v, std::mt19937_64&) { return Inputs{BitVec(8, static_cast<std::uint64_t>(v % bytes))}; },
        [](const Inputs& in) {
          const std::vector<std::uint8_t> zeros(static_cast<std::size_t>(in[0].to_uint64()), 0);
          return Inputs{BitVec(32, crc32_raw(kIcrcResidue, zeros))};
        });
  }
  return suite;
}

Suite checksum(const std::string& name, const std::vector<int>& budgets) {
  Suite suite(name);
  std::vector<std::pair<std::string, Options>> variants = {{"_comb", combinational(true)}};
  for (const int b : budgets) variants.emplace_back(fmt::format("_b{}", b), budget(b));
  suite.add(
      ipv4_checksum_graph(), variants,
      [](int v, std::mt19937_64& rng) {
        // Sums around every multiple of 0xFFFF (case E01: 0x2FFFD needs the second fold), then dense and sparse ones.
        BitVec header(160);
        const int corners = 10 * 24;
        auto rest = static_cast<std::uint32_t>(v / 24 * 0xFFFF + v % 24);
        rest = rest >= 12 ? rest - 12 : 0;
        for (int word = 0; word < 10; ++word) {
          auto value = static_cast<std::uint32_t>(std::min<std::uint32_t>(rest, 0xFFFF));
          rest -= value;
          if (v >= corners) {
            value = static_cast<std::uint32_t>(rng() & 0xFFFF);
            if (v % 3 == 1) value |= static_cast<std::uint32_t>((rng() | rng() | rng()) & 0xFFFF);
            if (v % 3 == 2 && rng() % 2 == 0) value = 0xFFFF;
          }
          header.insert(word * 16, BitVec(8, value >> 8));
          header.insert(word * 16 + 8, BitVec(8, value & 0xFF));
        }
        return Inputs{header};
      },
      [](const Inputs& in) {
        const std::uint16_t sum = internet_checksum(bytes_of(in[0]));
        return Inputs{BitVec(16, static_cast<std::uint64_t>((sum & 0xFF) << 8 | sum >> 8))};
      });
  return suite;
}

void add_graph(Suite& suite, const Graph& graph, const std::vector<std::pair<std::string, Options>>& variants) {
  suite.add(
      graph, variants,
      [graph](int, std::mt19937_64& rng) {
        Inputs in = sample::random_inputs(graph, rng);
        // Comparisons should meet equal operands now and then.
        if (in.size() > 1 && in[0].width() == in[1].width() && rng() % 6 == 0) in[1] = in[0];
        return in;
      },
      [graph](const Inputs& in) { return evaluate(graph, in); });
}

int run(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: dataflow_gen FOLDER SUITE icrc|checksum|ops|random NUMBER...\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const std::string name = argv[2];
  const std::string what = argv[3];
  std::vector<int> numbers;
  for (int i = 4; i < argc; ++i) numbers.push_back(std::atoi(argv[i]));
  if (what == "icrc") {
    icrc(name, numbers).write(folder, 1400);
  } else if (what == "checksum") {
    checksum(name, numbers).write(folder, 6000);
  } else if (what == "ops") {
    Suite suite(name);
    for (const int width : numbers) {
      std::vector<std::pair<std::string, Options>> variants = {
          {"_comb", combinational(true)}, {"_b3", budget(3)}, {"_b10", budget(10)}};
      if (width <= 32) variants.emplace_back("_b1", budget(1));  // one level a stage is much text
      add_graph(suite, sample::all_operators(width, fmt::format("ops_w{}", width)), variants);
    }
    suite.write(folder, 800);
  } else if (what == "random") {
    Suite suite(name);
    for (const int seed : numbers) {
      std::mt19937_64 rng(static_cast<std::uint64_t>(seed));
      add_graph(suite, sample::random_graph(rng, 45, fmt::format("random_s{}", seed)),
                {{"_comb", combinational(true)}, {"_b1", budget(1)}, {"_b4", budget(4)}});
    }
    suite.write(folder, 1500);
  } else {
    fmt::print(stderr, "dataflow_gen: no kind '{}'\n", what);
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "dataflow_gen: {}\n", e.what());
    return 3;
  }
}
