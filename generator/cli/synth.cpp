// rocegen synth: area and depth of the generated RTL by Yosys, a row a module.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "generator/cli/commands.h"
#include "generator/cli/timing_library.h"
#include "generator/cli/tool.h"
#include "generator/cli/variant.h"
#include "generator/outputs/outputs.h"
#include "generator/spec/files.h"

namespace rocegen::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// What a module and everything in it takes.
struct Area {
  long lut = 0;      ///< LUT1..LUT6
  long lut_ram = 0;  ///< LUTs used as distributed RAM or shift registers
  long ff = 0;
  long carry = 0;  ///< CARRY4 as half a CARRY8 each, rounded up where shown
  double bram36 = 0;
  long uram = 0;
  long dsp = 0;

  Area& operator+=(const Area& other) {
    lut += other.lut;
    lut_ram += other.lut_ram;
    ff += other.ff;
    carry += other.carry;
    bram36 += other.bram36;
    uram += other.uram;
    dsp += other.dsp;
    return *this;
  }
};

struct Depth {
  double levels = -1;  ///< LUTs on the deepest path; -1: not looked at
  double ps = 0;       ///< illustrative delay of the slowest path
};

struct Row {
  std::string instance;
  std::string module;
  Area area;
  Depth depth;
};

/// LUTs that one cell of distributed RAM or shift register takes (UG574).
long lut_ram_size(const std::string& cell) {
  if (cell == "RAM32M16" || cell == "RAM64M8" || cell == "RAM64X8SW" || cell == "RAM32X16DR8") return 8;
  if (cell == "RAM32M" || cell == "RAM64M" || cell == "RAM128X1D" || cell == "RAM256X1S") return 4;
  if (cell == "RAM256X1D" || cell == "RAM512X1S") return 8;
  if (cell == "RAM32X1D" || cell == "RAM64X1D" || cell == "RAM128X1S") return 2;
  return 1;
}

Area area_of_cell(const std::string& cell) {
  Area a;
  if (cell.size() == 4 && cell.starts_with("LUT"))
    a.lut = 1;
  else if (cell.starts_with("SRL") || cell.starts_with("RAM3") || cell.starts_with("RAM6") ||
           cell.starts_with("RAM1") || cell.starts_with("RAM2") || cell.starts_with("RAM5"))
    a.lut_ram = lut_ram_size(cell);
  else if (cell.starts_with("FD"))
    a.ff = 1;
  else if (cell == "CARRY4" || cell == "CARRY8")
    a.carry = 1;
  else if (cell == "RAMB36E2")
    a.bram36 = 1;
  else if (cell == "RAMB18E2")
    a.bram36 = 0.5;
  else if (cell == "URAM288")
    a.uram = 1;
  else if (cell.starts_with("DSP"))
    a.dsp = 1;
  return a;
}

/// Area of every module with all that it instantiates, from `stat -json`.
class AreaBook {
 public:
  explicit AreaBook(const Json& stat) : modules_(stat.at("modules")) {}

  const Area& of(const std::string& module) {
    const auto found = done_.find(module);
    if (found != done_.end()) return found->second;
    Area sum;
    for (const auto& [cell, count] : modules_.at(module).at("num_cells_by_type").items()) {
      Area one = is_module(cell) ? of(key(cell)) : area_of_cell(cell);
      for (long i = 0; i < count.get<long>(); ++i) sum += one;
    }
    return done_[module] = sum;
  }

 private:
  /// Modules are listed with their escape ("\top", "$paramod\..."), cells without it.
  std::string key(const std::string& cell) const { return modules_.contains(cell) ? cell : "\\" + cell; }
  bool is_module(const std::string& cell) const { return modules_.contains(cell) || modules_.contains("\\" + cell); }

  const Json& modules_;
  std::map<std::string, Area> done_;
};

/// Which module (by the name that Yosys gave it) an instance of the top is of: read off the netlist that it wrote.
/// Cells of the FPGA family are no modules of `stat`, so they are left out.
std::map<std::string, std::string> instances_of_top(const fs::path& netlist, const std::string& top, const Json& stat) {
  std::map<std::string, std::string> out;
  std::ifstream in(netlist);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("module "))
      inside = line.starts_with("module " + top + "(") || line.starts_with("module " + top + " ");
    if (!inside || !line.starts_with("  ") || !line.ends_with(" (")) continue;
    std::istringstream words(line);
    std::string module;
    std::string name;
    words >> module >> name;
    if (module.starts_with("\\")) module.erase(0, 1);
    if (name.starts_with("\\")) name.erase(0, 1);
    const Json& known = stat.at("modules");
    if (known.contains(module) || known.contains("\\" + module)) out[name] = module;
  }
  return out;
}

/// What `stat -json` wrote. Yosys 0.23 prints the hierarchy as text behind the modules, which is no JSON: it is cut
/// off.
Json parse_stat(const std::string& text) {
  Json whole = Json::parse(text, nullptr, false);
  if (!whole.is_discarded()) return whole;
  const std::size_t end = text.find("\n   },");
  if (end == std::string::npos) return Json::object();
  Json modules = Json::parse(text.substr(0, end) + "\n}}", nullptr, false);
  return modules.is_discarded() ? Json::object() : modules;
}

std::string yosys_share(const std::string& file) {
  for (const char* folder : {"/usr/share/yosys", "/usr/local/share/yosys"})
    if (fs::exists(fs::path(folder) / file)) return (fs::path(folder) / file).string();
  return "";
}

Depth read_depth(const fs::path& levels, const fs::path& estimate) {
  const auto arrival = [](const fs::path& log) {
    const std::string text = read_log(log);
    const std::size_t at = text.find("Latest arrival time in");
    if (at == std::string::npos) return 0.0;
    const std::size_t is = text.find(" is ", at);
    return is == std::string::npos ? 0.0 : std::strtod(text.c_str() + is + 4, nullptr);
  };
  // The level library counts a LUT as 1000 and everything else as 0 or 1.
  return {static_cast<double>(static_cast<long>(arrival(levels) / 1000.0)), arrival(estimate)};
}

std::string table(const std::vector<Row>& rows) {
  std::string out = fmt::format("{:<22} {:<16} {:>7} {:>7} {:>7} {:>6} {:>7} {:>5} {:>4} {:>7} {:>7}\n", "instance",
                                "module", "LUT", "LUTRAM", "FF", "CARRY", "BRAM36", "URAM", "DSP", "levels", "ns*");
  for (const Row& r : rows)
    fmt::format_to(std::back_inserter(out), "{:<22} {:<16} {:>7} {:>7} {:>7} {:>6} {:>7.1f} {:>5} {:>4} {:>7} {:>7}\n",
                   r.instance, r.module, r.area.lut, r.area.lut_ram, r.area.ff, r.area.carry, r.area.bram36,
                   r.area.uram, r.area.dsp, r.depth.levels < 0 ? "-" : fmt::format("{:.0f}", r.depth.levels),
                   r.depth.levels < 0 ? "-" : fmt::format("{:.2f}", r.depth.ps / 1000.0));
  out += "* an illustrative delay model, not vendor timing: good for comparing, not for signing off\n";
  return out;
}

/// What one service takes at one attach point, what it takes beside the stream, or what all of them share.
struct ServiceCost {
  std::string service;
  std::string point;
  Area area;
  double levels = -1;  ///< the most of its instances
  int cycles = 0;      ///< that a packet spends more there; 0: none of its own
};

/// From the rows of the instances; "all" sums up.
std::vector<ServiceCost> service_costs(const stack::Stack& stack, const std::vector<Row>& rows) {
  std::vector<ServiceCost> out;
  if (stack.spec.services.empty()) return out;
  ServiceCost all{"all", "", {}, -1, 0};
  for (const stack::ServiceInstance& one : stack.service_instances) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.instance == one.instance; });
    if (row == rows.end()) continue;
    const auto at = static_cast<std::size_t>(one.service);
    const std::string name = one.service < 0 ? "(shared)" : stack.spec.services[at].name;
    const std::string point = one.point ? spec::to_string(*one.point) : "-";
    auto cost = std::find_if(out.begin(), out.end(),
                             [&](const ServiceCost& c) { return c.service == name && c.point == point; });
    if (cost == out.end()) {
      out.push_back({name, point, {}, -1, 0});
      cost = out.end() - 1;
      if (one.service >= 0 && one.point) cost->cycles = stack.services[at]->latency(*one.point);
      all.cycles += cost->cycles;
    }
    cost->area += row->area;
    all.area += row->area;
    cost->levels = std::max(cost->levels, row->depth.levels);
    all.levels = std::max(all.levels, row->depth.levels);
  }
  out.push_back(all);
  return out;
}

std::string services_table(const std::vector<ServiceCost>& costs) {
  std::string out = fmt::format("\n{:<22} {:<16} {:>7} {:>7} {:>7} {:>6} {:>7} {:>5} {:>4} {:>7} {:>7}\n", "service",
                                "at", "LUT", "LUTRAM", "FF", "CARRY", "BRAM36", "URAM", "DSP", "levels", "cycles");
  for (const ServiceCost& c : costs)
    fmt::format_to(std::back_inserter(out), "{:<22} {:<16} {:>7} {:>7} {:>7} {:>6} {:>7.1f} {:>5} {:>4} {:>7} {:>7}\n",
                   c.service, c.point, c.area.lut, c.area.lut_ram, c.area.ff, c.area.carry, c.area.bram36, c.area.uram,
                   c.area.dsp, c.levels < 0 ? "-" : fmt::format("{:.0f}", c.levels),
                   c.cycles == 0 ? "-" : fmt::format("{}", c.cycles));
  out += "register slices between the stages are in the row \"slices, adapters\"\n";
  return out;
}

Json area_json(const Area& a) {
  return {{"lut", a.lut},       {"lut_ram", a.lut_ram}, {"ff", a.ff},  {"carry", a.carry},
          {"bram36", a.bram36}, {"uram", a.uram},       {"dsp", a.dsp}};
}

Json to_json(const std::vector<ServiceCost>& costs) {
  Json out = Json::array();
  for (const ServiceCost& c : costs) {
    Json one = {{"service", c.service}, {"point", c.point}};
    one.update(area_json(c.area));
    one["levels"] = c.levels < 0 ? Json() : Json(c.levels);
    one["cycles"] = c.cycles;
    out.push_back(std::move(one));
  }
  return out;
}

Json to_json(const std::vector<Row>& rows) {
  Json out = Json::array();
  for (const Row& r : rows) {
    Json one = {{"instance", r.instance}, {"module", r.module}};
    one.update(area_json(r.area));
    one["levels"] = r.depth.levels < 0 ? Json() : Json(r.depth.levels);
    one["estimated_ps"] = r.depth.levels < 0 ? Json() : Json(r.depth.ps);
    out.push_back(std::move(one));
  }
  return out;
}

int fail(const spec::Diagnostics& diagnostics, int code) {
  spec::print(stderr, diagnostics);
  return code;
}

int synth(const VariantOptions& options, bool wide_mux) {
  spec::Diagnostics diagnostics;
  const std::optional<Variant> variant = generate(options, diagnostics);
  if (!variant) return fail(diagnostics, kBadInput);
  if (!require_program("yosys", diagnostics)) return fail(diagnostics, kBadInput);
  const std::string sim_cells = yosys_share("xilinx/cells_sim.v");
  if (sim_cells.empty()) {
    diagnostics.error("E0510", {}, "the cell libraries of yosys are not installed").help("apt-get install yosys");
    return fail(diagnostics, kBadInput);
  }
  const std::string& top = variant->stack.design.top().name;
  const fs::path& folder = variant->folder;
  std::error_code ec;
  fs::create_directories(folder / "synth", ec);

  // ---- synthesis, hierarchical ---------------------------------------------------------------------
  std::string script = "read_verilog -sv -I rtl";
  for (const outputs::Source& source : outputs::list_sources(variant->stack)) script += " " + source.path;
  script += fmt::format(
      "\nhierarchy -check -top {0}\n"
      "synth_xilinx -family xcup -noiopad -noclkbuf {1} -top {0}\n"
      "check\n"
      "tee -q -o synth/stat.json stat -json\n"
      "write_verilog -noattr synth/{0}.v\n"
      "write_edif synth/{0}.edif\n",
      top, wide_mux ? "" : "-nowidelut");
  if (!spec::write_text_file((folder / "synth/synth.ys").string(), script, diagnostics))
    return fail(diagnostics, kBadInput);
  const auto synthesised =
      run_tools({{"yosys synth_xilinx " + variant->stack.spec.name,
                  {"yosys", "-Q", "-T", "-q", "-e", "implicitly declared|conflicting drivers|out of bounds", "-s",
                   "synth/synth.ys"},
                  folder,
                  folder / "synth/synth.log",
                  {}}},
                1, diagnostics);
  if (synthesised[0].exit_code != 0) return fail(diagnostics, kCheckFailed);

  // ---- depth, every instance of the top flattened by itself ------------------------------------------
  const Json stat = parse_stat(read_log(folder / "synth/stat.json"));
  if (!stat.contains("modules")) {
    diagnostics.error("E0511", spec::file_place((folder / "synth/stat.json").string()),
                      "yosys wrote no statistics that can be read");
    return fail(diagnostics, kCheckFailed);
  }
  const std::map<std::string, std::string> modules = instances_of_top(folder / "synth" / (top + ".v"), top, stat);
  const std::string cells = read_log(sim_cells) + read_log(yosys_share("xilinx/cells_xtra.v"));
  // What the passes inserted (slices, adapters, crossings) is a register away from its neighbours: one row sums it up.
  std::vector<std::string> unique;
  for (const netlist::Instance& instance : variant->stack.design.top().instances) {
    const auto found = modules.find(instance.name);
    if (found == modules.end() || !instance.inserted_by.empty()) continue;
    if (std::find(unique.begin(), unique.end(), found->second) == unique.end()) unique.push_back(found->second);
  }
  unique.push_back(top);
  std::vector<ToolCommand> commands;
  for (const auto& [name, delays] :
       {std::pair<std::string, CellDelays>{"levels", level_delays}, {"estimate", estimate_delays}}) {
    std::string sta = fmt::format(
        "read_verilog -lib -specify synth/{0}.vlib\nread_verilog synth/{1}.v\ndesign -save all\n", name, top);
    for (std::size_t i = 0; i < unique.size(); ++i)
      sta += fmt::format("design -load all\nhierarchy -check -top \\{0}\nflatten\ntee -q -o synth/{1}_{2}.txt sta\n",
                         unique[i], name, i);
    if (!spec::write_text_file((folder / "synth" / (name + ".vlib")).string(), timing_library(delays, cells),
                               diagnostics) ||
        !spec::write_text_file((folder / "synth" / (name + ".ys")).string(), sta, diagnostics))
      return fail(diagnostics, kBadInput);
    commands.push_back({"yosys sta, " + name,
                        {"yosys", "-Q", "-T", "-q", "-s", "synth/" + name + ".ys"},
                        folder,
                        folder / "synth" / (name + ".log"),
                        {}});
  }
  for (const ToolResult& result : run_tools(commands, 2, diagnostics))
    if (result.exit_code != 0) return fail(diagnostics, kCheckFailed);

  // ---- report --------------------------------------------------------------------------------------
  const auto depth_of = [&](const std::string& module) {
    const auto i = std::find(unique.begin(), unique.end(), module) - unique.begin();
    return read_depth(folder / fmt::format("synth/levels_{}.txt", i), folder / fmt::format("synth/estimate_{}.txt", i));
  };
  AreaBook book(stat);
  std::vector<Row> rows;
  Row inserted{"slices, adapters", "", {}, {}};
  int inserted_count = 0;
  for (const netlist::Instance& instance : variant->stack.design.top().instances) {
    const auto found = modules.find(instance.name);
    if (found == modules.end()) continue;  // Yosys removed it: it drives nothing
    const std::string key = stat.at("modules").contains(found->second) ? found->second : "\\" + found->second;
    if (instance.inserted_by.empty()) {
      rows.push_back({instance.name, instance.interface.module, book.of(key), depth_of(found->second)});
    } else {
      inserted.area += book.of(key);
      ++inserted_count;
    }
  }
  inserted.module = fmt::format("{} instances", inserted_count);
  if (inserted_count > 0) rows.push_back(inserted);
  rows.push_back({"total", top, book.of("\\" + top), depth_of(top)});
  const std::vector<ServiceCost> costs = service_costs(variant->stack, rows);
  const std::string text = table(rows) + (costs.empty() ? "" : services_table(costs));
  Json report = {{"name", variant->stack.spec.name},
                 {"spec_sha256", variant->stack.hash},
                 {"family", "xcup"},
                 {"wide_mux", wide_mux},
                 {"rows", to_json(rows)}};
  if (!costs.empty()) report["services"] = to_json(costs);
  if (!spec::write_text_file((folder / "synth/report.json").string(), report.dump(2) + "\n", diagnostics) ||
      !spec::write_text_file((folder / "synth/report.txt").string(), text, diagnostics) ||
      // The same for doc/index.html, which a browser lets read a script beside it, but no data.
      !spec::write_text_file((folder / "synth/report.js").string(), "window.rocegenSynth = " + report.dump() + ";\n",
                             diagnostics) ||
      !spec::write_stdout(text, diagnostics))
    return fail(diagnostics, kBadInput);
  fmt::print("reports and netlist: {}/synth/report.json {}.v {}.edif\n", folder.string(), top, top);
  return kDone;
}

}  // namespace

void add_synth(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("synth", "generate, then report area and depth by Yosys");
  auto options = std::make_shared<VariantOptions>();
  auto wide_mux = std::make_shared<bool>(false);
  command->add_option("SPEC", options->spec, "specification file")->required();
  command->add_option("-o,--output", options->output, "folder of the variant; out/<name> if not given")
      ->type_name("DIR");
  command->add_flag("--wide-mux", *wide_mux, "allow MUXF7..9 (fewer levels, often more LUTs)");
  command->footer(examples({"rocegen synth specs/nic_10g.json"}));
  command->callback([options, wide_mux, &exit_code] { exit_code = synth(*options, *wide_mux); });
}

}  // namespace rocegen::cli
