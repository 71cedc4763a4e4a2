// rocegen preprocess: rows go through the evaluator and through the Verilated hardware of a specification.
#include "generator/services/preprocess/preprocess.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <memory>
#include <sstream>

#include "generator/cli/commands.h"
#include "generator/cli/tool.h"
#include "generator/cli/variant.h"
#include "generator/services/preprocess/rows.h"
#include "generator/services/preprocess/stage.h"
#include "generator/services/preprocess/table.h"
#include "generator/spec/files.h"

namespace rocegen::cli {

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

struct PreprocessOptions {
  std::string spec;
  std::string rows;
  std::string output;
  int packet = 0;  // bytes; 0: the specification's MTU
  bool evaluate_only = false;
};

/// Drives pre_stage: a message in packets, with stalls; writes the bytes of every packet that comes out.
constexpr const char* kBench = R"cpp(// Written by rocegen preprocess.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "Vdut.h"
#include "verilated.h"

                                     template <typename T>
                                     static std::uint8_t* memory(T& port) {
                                       return reinterpret_cast<std::uint8_t*>(&port);
                                     }

                                     template <typename T>
                                     static void put(T& user, int lsb, int width, std::uint64_t value) {
                                       for (int i = 0; i < width; ++i) {
                                         const int bit = lsb + i;
                                         std::uint8_t& byte = memory(user)[bit / 8];
                                         byte = static_cast<std::uint8_t>((byte & ~(1U << (bit % 8))) | ((value >> i & 1U) << (bit % 8)));
                                       }
                                     }

                                     template <typename T>
                                     static std::uint64_t get(T& user, int lsb, int width) {
                                       std::uint64_t out = 0;
                                       for (int i = 0; i < width; ++i) out |= std::uint64_t{memory(user)[(lsb + i) / 8] >> ((lsb + i) % 8) & 1U} << i;
                                       return out;
                                     }

                                     static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

                                     int main(int, char** argv) {
                                       constexpr std::size_t kBytes = DATA_WIDTH / 8;
                                       std::vector<std::vector<std::uint8_t>> packets;
                                       std::ifstream file(argv[1]);
                                       for (std::string line; std::getline(file, line);) {
                                         std::vector<std::uint8_t> packet;
                                         for (std::size_t i = 0; i + 1 < line.size(); i += 2)
                                           packet.push_back(static_cast<std::uint8_t>(digit(line[i]) << 4 | digit(line[i + 1])));
                                         packets.push_back(packet);
                                       }
                                       std::ofstream result(argv[2]);
                                       VerilatedContext context;
                                       Vdut dut(&context);
                                       std::mt19937 rng(1);
                                       std::size_t packet = 0, at = 0, done = 0;
                                       std::uint64_t addr = 0, waited = 0;
                                       bool offered = false, first = true;
                                       const std::uint64_t base = 0x10000;
                                       for (std::uint64_t cycle = 0; done < packets.size(); ++cycle) {
                                         dut.rst = cycle < 4;
                                         if (!offered && cycle >= 4 && packet < packets.size() && rng() % 8 != 0) {
                                           const auto& bytes = packets[packet];
                                           const std::size_t count = std::min(kBytes, bytes.size() - at);
                                           std::memset(memory(dut.s_pkt_tdata), 0, kBytes);
                                           std::memcpy(memory(dut.s_pkt_tdata), bytes.data() + at, count);
                                           for (std::size_t i = 0; i < kBytes; ++i) put(dut.s_pkt_tkeep, static_cast<int>(i), 1, i < count ? 1 : 0);
                                           dut.s_pkt_tlast = at + count == bytes.size();
                                           put(dut.s_pkt_tuser, 158, 8, 4);  // mask
                                           put(dut.s_pkt_tuser, 128, 14, bytes.size());
                                           put(dut.s_pkt_tuser, 126, 1, packet + 1 == packets.size());  // last
                                           put(dut.s_pkt_tuser, 115, 8, packet == 0 ? 0x80 : 0);        // idx: first
                                           put(dut.s_pkt_tuser, 0, 64, base + addr);
                                           offered = true;
                                         }
                                         dut.s_pkt_tvalid = offered;
                                         dut.m_pkt_tready = rng() % 8 != 0;
                                         dut.clk = 0;
                                         dut.eval();
                                         if (offered && dut.s_pkt_tready && cycle >= 4) {
                                           offered = false;
                                           at += kBytes;
                                           if (at >= packets[packet].size()) addr += packets[packet++].size(), at = 0;
                                         }
                                         if (cycle >= 4 && dut.m_pkt_tvalid && dut.m_pkt_tready) {
                                           waited = 0;
                                           if (first) result << get(dut.m_pkt_tuser, 0, 64) - base << ' ' << get(dut.m_pkt_tuser, 128, 14) << ' ';
                                           for (std::size_t i = 0; i < kBytes && get(dut.m_pkt_tkeep, static_cast<int>(i), 1) != 0; ++i) {
                                             constexpr char kDigits[] = "0123456789abcdef";
                                             result << kDigits[memory(dut.m_pkt_tdata)[i] >> 4] << kDigits[memory(dut.m_pkt_tdata)[i] & 15];
                                           }
                                           first = dut.m_pkt_tlast;
                                           if (first) result << '\n', ++done;
                                         }
                                         dut.clk = 1;
                                         dut.eval();
                                         if (++waited > 10000) {
                                           std::printf("nothing comes out\n");
                                           return 1;
                                         }
                                       }
                                       return context.gotError() ? 1 : 0;
                                     }
)cpp";

bool write(const fs::path& path, const std::string& text, spec::Diagnostics& diagnostics) {
  std::error_code ec;
  fs::create_directories(path.parent_path(), ec);
  return spec::write_text_file(path.string(), text, diagnostics);
}

std::string hex(std::span<const std::uint8_t> bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); }

/// Builds the hardware, runs the message through it and compares; false, with a diagnostic, if it is not the same.
bool run_hardware(const spec::StackSpec& spec, const preprocess::Layout& layout, std::span<const std::uint8_t> message,
                  const Bytes& expected, std::size_t packet, const fs::path& folder, spec::Diagnostics& diagnostics) {
  const auto home = find_home(diagnostics);
  if (!home || !require_program("verilator", diagnostics)) return false;
  const preprocess::RowModules rows = preprocess::compile_rows(layout, spec.data_width, preprocess::level_budget(spec));
  std::string modules = "// verilator lint_off DECLFILENAME\n";
  for (const auto& m : rows.modules) modules += m.systemverilog;
  const preprocess::Geometry geometry(layout, spec.data_width);
  modules += preprocess::bench_top(preprocess::stage_params(geometry, rows, 1), spec.data_width, 1);
  std::string packets;
  std::vector<std::string> want;
  for (std::size_t at = 0; at < message.size(); at += packet) {
    const std::size_t size = std::min(packet, message.size() - at);
    packets += hex(message.subspan(at, size)) + "\n";
    const std::size_t first = layout.length(at);
    const std::size_t count = layout.length(at + size) - first;
    want.push_back(fmt::format("{} {} {}", first, count, hex(std::span(expected).subspan(first, count))));
  }
  if (!write(folder / "pre_modules.sv", modules, diagnostics) || !write(folder / "main.cpp", kBench, diagnostics) ||
      !write(folder / "packets.txt", packets, diagnostics)) {
    return false;
  }
  std::vector<std::string> argv = {"verilator",
                                   "--cc",
                                   "--exe",
                                   "--build",
                                   "-j",
                                   "1",
                                   "-Wall",
                                   "--assert",
                                   "-fno-const-bit-op-tree",
                                   "--top-module",
                                   "pre_bench",
                                   "--prefix",
                                   "Vdut",
                                   "-Mdir",
                                   "obj",
                                   "-MAKEFLAGS",
                                   "OPT_FAST=-O1",
                                   "-CFLAGS",
                                   fmt::format("-std=c++20 -O1 -DDATA_WIDTH={}", spec.data_width),
                                   "-o",
                                   "rows"};
  const fs::path templates = fs::absolute(*home / "templates");
  argv.push_back("-I" + (templates / "lib").string());
  for (const char* file : {"net/roce_pkg", "lib/stream_skid", "lib/stream_fifo", "lib/ram_sdp", "lib/byte_rotate_level",
                           "lib/byte_rotate", "net/delay_line", "services/pre_join", "services/pre_stage"})
    argv.push_back((templates / (std::string(file) + ".sv")).string());
  argv.insert(argv.end(), {"pre_modules.sv", "main.cpp"});
  const ToolCommand build = {"verilator pre_stage", argv, folder, folder / "verilator.log", {}};
  if (run_tools({build}, 1, diagnostics)[0].exit_code != 0) return false;
  const ToolCommand run = {"rows", {"./obj/rows", "packets.txt", "result.txt"}, folder, folder / "rows.log", {}};
  if (run_tools({run}, 1, diagnostics)[0].exit_code != 0) return false;
  const auto result = spec::read_text_file((folder / "result.txt").string(), diagnostics);
  if (!result) return false;
  std::istringstream lines(*result);
  std::string line;
  for (std::size_t i = 0; i < want.size(); ++i) {
    std::getline(lines, line);
    if (line == want[i]) continue;
    diagnostics
        .error("E0552", spec::file_place((folder / "result.txt").string()), fmt::format("packet {} came out wrong", i))
        .note("hardware: " + line.substr(0, 100))
        .note("evaluator: " + want[i].substr(0, 100));
    return false;
  }
  return true;
}

int preprocess_rows(const PreprocessOptions& options) {
  spec::Diagnostics diagnostics;
  const auto finish = [&](int code) {
    spec::print(stderr, diagnostics);
    return code;
  };
  const auto spec = spec::read_spec(options.spec, diagnostics);
  if (!spec) return finish(kBadInput);
  const auto entry = std::find_if(spec->services.begin(), spec->services.end(),
                                  [](const spec::ServiceSpec& s) { return s.type == "preprocess"; });
  if (entry == spec->services.end()) {
    diagnostics.error("E0553", spec::file_place(options.spec), "the specification has no service of type preprocess")
        .help("add one to \"services\"; docs/services-preprocess.md says how");
    return finish(kBadInput);
  }
  const preprocess::Layout layout =
      preprocess::layout_of(*spec, static_cast<std::size_t>(entry - spec->services.begin()));
  const auto text = spec::read_text_file(options.rows, diagnostics);
  if (!text) return finish(kBadInput);
  const auto words = preprocess::read_rows(layout, options.rows, *text, diagnostics);
  if (!words) return finish(kBadInput);

  const Bytes expected = preprocess::evaluate_rows(layout, *words);
  Bytes message;
  for (const std::uint32_t word : *words)
    for (int b = 0; b < 4; ++b) message.push_back(static_cast<std::uint8_t>(word >> (8 * b)));
  const auto cells = preprocess::write_rows(layout, expected);
  std::string csv;
  for (const auto& row : cells) csv += fmt::format("{}\n", fmt::join(row, ","));
  const fs::path folder = options.output.empty() ? fs::path("out") / spec->name : fs::path(options.output);
  const fs::path table = folder / "rows.csv";
  if (!write(table, csv, diagnostics)) return finish(kBadInput);

  std::string report;
  // A column a line: the values of the first rows beside each other.
  const std::size_t shown = std::min<std::size_t>(cells.size(), 6);
  for (std::size_t column = 0; column < cells[0].size(); ++column) {
    report += fmt::format("  {:<12}", cells[0][column]);
    for (std::size_t row = 1; row < shown; ++row) report += fmt::format("{:>14}", cells[row][column]);
    report += "\n";
  }
  report += fmt::format("{} rows of {} bytes, {} bytes of output each\n", cells.size() - 1, 4 * layout.row_words(),
                        layout.row_bytes());
  bool good = true;
  if (!options.evaluate_only) {
    const auto packet = static_cast<std::size_t>(options.packet > 0 ? options.packet : spec->mtu);
    good = run_hardware(*spec, layout, message, expected, packet, folder / "preprocess", diagnostics);
    if (good)
      report += fmt::format("the hardware gives the same bytes and addresses, in packets of {} bytes at {} bit\n",
                            packet, spec->data_width);
  }
  report += fmt::format("wrote {}\n", table.string());
  if (!spec::write_stdout(report, diagnostics)) return finish(kBadInput);
  return finish(good ? kDone : kCheckFailed);
}

}  // namespace

void add_preprocess(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("preprocess", "run rows through a specification's preprocessing");
  auto options = std::make_shared<PreprocessOptions>();
  command->add_option("SPEC", options->spec, "specification with a service of type preprocess")->required();
  command->add_option("ROWS", options->rows, "rows: a line a row, a cell a column, see docs/services-preprocess.md")
      ->required();
  command->add_option("-o,--output", options->output, "folder; out/<name> if not given")->type_name("DIR");
  command->add_option("--packet", options->packet, "bytes of a packet; the specification's mtu if not given")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}));
  command->add_flag("--evaluate", options->evaluate_only, "only the evaluator, no hardware");
  command->footer(examples({"rocegen preprocess specs/nic_100g_recsys.json specs/rows/criteo_rows.csv"}));
  command->callback([options, &exit_code] { exit_code = preprocess_rows(*options); });
}

}  // namespace rocegen::cli
