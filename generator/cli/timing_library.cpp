#include "generator/cli/timing_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>
#include <vector>

namespace rocegen::cli {

namespace {

struct CellPort {
  bool output = false;
  int width = 1;
  std::string name;
};

struct Cell {
  std::vector<CellPort> ports;
  std::vector<std::string> parameters;  // "parameter [255:0] INIT_00 = ..."
};

/// Ports and parameters of one module of Yosys's cell files, whose headers are of two kinds: ANSI, and `(...)` with
/// declarations in the body.
bool read_cell(const std::string& text, const std::string& name, Cell& cell) {
  const std::string key = "module " + name + " (";
  std::size_t at = text.find(key);
  if (at == std::string::npos) {
    at = text.find("module " + name + "(");
    if (at == std::string::npos) return false;
  }
  const std::size_t end = text.find("endmodule", at);
  std::string body = text.substr(at + key.size() - 1, end - at - key.size() + 1);
  body = std::regex_replace(body, std::regex(R"(\(\*[^*]*\*\))"), " ");
  body = std::regex_replace(body, std::regex(R"(//[^\n]*)"), " ");
  body = body.substr(0, std::min(body.find("specify"), body.find("`ifdef")));
  static const std::regex port(
      R"((input|output)\s+(?:reg\s+|wire\s+)?(\[\s*(\d+)\s*:\s*(\d+)\s*\])?\s*([A-Za-z_]\w*))");
  static const std::regex name_list(R"(^\s*,\s*([A-Za-z_]\w*)\s*(?=[,;)\n]))");
  for (std::sregex_iterator it(body.begin(), body.end(), port), none; it != none; ++it) {
    CellPort p;
    p.output = (*it)[1] == "output";
    if ((*it)[2].matched) p.width = std::abs(std::stoi((*it)[3]) - std::stoi((*it)[4])) + 1;
    p.name = (*it)[5];
    cell.ports.push_back(p);
    // Further names of the same declaration: "output [1:0] DOA, DOB".
    std::string rest = it->suffix();
    std::smatch more;
    while (std::regex_search(rest, more, name_list)) {
      if (more[1] == "input" || more[1] == "output") break;
      p.name = more[1];
      cell.ports.push_back(p);
      rest = more.suffix();
    }
  }
  static const std::regex parameter(R"(parameter[^;]*;)");
  for (std::sregex_iterator it(body.begin(), body.end(), parameter), none; it != none; ++it)
    cell.parameters.push_back(it->str());
  return !cell.ports.empty();
}

enum class Kind { lut, inverter, mux, carry, flip_flop, lut_ram, block };

Kind kind_of(const std::string& name) {
  if (name == "INV") return Kind::inverter;
  if (name.starts_with("LUT")) return Kind::lut;
  if (name.starts_with("MUXF")) return Kind::mux;
  if (name.starts_with("CARRY")) return Kind::carry;
  if (name.starts_with("FD")) return Kind::flip_flop;
  if (name.starts_with("SRL") || name.starts_with("RAM32") || name.starts_with("RAM64") || name.starts_with("RAM128") ||
      name.starts_with("RAM256") || name.starts_with("RAM512"))
    return Kind::lut_ram;
  return Kind::block;
}

bool is_clock(const std::string& name) {
  static constexpr std::array<const char*, 7> kClocks = {"C", "CLK", "WCLK", "CLKARDCLK", "CLKBWRCLK", "DCLK", "PCLK"};
  return std::any_of(kClocks.begin(), kClocks.end(), [&](const char* c) { return name == c; });
}

/// Which of two clocks a port of a block RAM belongs to.
bool belongs_to_b(const std::string& port) {
  return port.find("BWR") != std::string::npos || port.find("BDIN") != std::string::npos ||
         port.find("BDOUT") != std::string::npos || port.ends_with("B") || port.ends_with("BADDR");
}

std::string module_text(const std::string& name, const Cell& cell, const CellDelays& d) {
  std::string header;
  std::vector<std::string> clocks;
  for (const CellPort& p : cell.ports) {
    const std::string range = p.width > 1 ? fmt::format("[{}:0] ", p.width - 1) : "";
    header += fmt::format("{}{} {}{}", header.empty() ? "" : ", ", p.output ? "output" : "input", range, p.name);
    if (!p.output && is_clock(p.name)) clocks.push_back(p.name);
  }
  std::string arcs;
  const auto comb = [&](const CellPort& from, const CellPort& to, int delay) {
    arcs += fmt::format(" ({} *> {})={};", from.name, to.name, delay);
  };
  const auto launch = [&](const std::string& clock, const CellPort& to, int delay) {
    const std::string zero = to.width > 1 ? fmt::format("{}'b0", to.width) : "1'b0";
    arcs += fmt::format(" (posedge {} => ({} : {})) = {};", clock, to.name, zero, delay);
  };
  const auto capture = [&](const std::string& clock, const CellPort& from, int setup) {
    arcs += fmt::format(" $setup({}, posedge {}, {});", from.name, clock, setup);
  };
  const Kind kind = kind_of(name);
  for (const CellPort& to : cell.ports) {
    if (!to.output) continue;
    for (const CellPort& from : cell.ports) {
      if (from.output || is_clock(from.name)) continue;
      switch (kind) {
        case Kind::lut:
          comb(from, to, d.lut);
          break;
        case Kind::inverter:
          comb(from, to, 0);
          break;  // an inverter is absorbed by the LUT behind it
        case Kind::mux:
          comb(from, to, d.mux);
          break;
        case Kind::carry:
          comb(from, to, from.name == "CI" ? d.carry_step : d.carry_in);
          break;
        case Kind::lut_ram:
          // Distributed RAM and shift registers read their address combinationally.
          if (from.name.starts_with("A") || from.name.starts_with("DPRA")) comb(from, to, d.lut);
          break;
        case Kind::flip_flop:
        case Kind::block:
          break;
      }
    }
    for (const std::string& clock : clocks)
      if (clocks.size() < 2 || belongs_to_b(to.name) == (clock == "CLKBWRCLK"))
        launch(clock, to, kind == Kind::flip_flop ? d.clock_to_q : kind == Kind::lut_ram ? d.lut_ram : d.block_ram);
  }
  for (const CellPort& from : cell.ports) {
    if (from.output || is_clock(from.name)) continue;
    const bool address = kind == Kind::lut_ram && (from.name.starts_with("A") || from.name.starts_with("DPRA"));
    for (const std::string& clock : clocks)
      if (!address && (clocks.size() < 2 || belongs_to_b(from.name) == (clock == "CLKBWRCLK")))
        capture(clock, from, kind == Kind::flip_flop && from.name == "D" ? d.setup : d.control);
  }
  std::string parameters;
  for (const std::string& p : cell.parameters) parameters += " " + p;
  return fmt::format("module {}({});{} specify{} endspecify endmodule\n", name, header, parameters, arcs);
}

}  // namespace

std::string timing_library(const CellDelays& delays, const std::string& yosys_cells) {
  static constexpr std::array kCells = {
      "INV",      "LUT1",        "LUT2",      "LUT3",     "LUT4",      "LUT5",      "LUT6",   "MUXF7",  "MUXF8",
      "MUXF9",    "CARRY4",      "CARRY8",    "FDRE",     "FDSE",      "FDCE",      "FDPE",   "SRL16E", "SRLC32E",
      "RAM32X1D", "RAM32X1S",    "RAM64X1D",  "RAM64X1S", "RAM128X1D", "RAM256X1D", "RAM32M", "RAM64M", "RAM32M16",
      "RAM64M8",  "RAM32X16DR8", "RAM64X8SW", "RAMB18E2", "RAMB36E2",  "URAM288",   "DSP48E2"};
  std::string out;
  for (const char* name : kCells) {
    Cell cell;
    if (read_cell(yosys_cells, name, cell)) out += module_text(name, cell, delays);
  }
  return out;
}

}  // namespace rocegen::cli
