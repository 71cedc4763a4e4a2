#include "generator/outputs/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "generator/netlist/write_diagram.h"
#include "generator/netlist/write_json.h"
#include "generator/netlist/write_verilog.h"

namespace rocegen::outputs {

namespace {

namespace fs = std::filesystem;

/// A file of the library, or nothing (then it was reported).
std::string read_template(const fs::path& templates, const std::string& shown, spec::Diagnostics& diagnostics) {
  // The library shows its files as templates/<path>.
  const fs::path path = templates / fs::path(shown).lexically_relative("templates");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) diagnostics.error("E0503", spec::file_place(path.string()), "cannot read a file of the library");
  return text.str();
}

std::string file_name(const std::string& shown) { return fs::path(shown).filename().string(); }

/// True when the generator wrote this module's text.
const stack::WrittenModule* written(const stack::Stack& stack, const std::string& module) {
  const auto it =
      std::find_if(stack.written.begin(), stack.written.end(), [&](const auto& w) { return w.name == module; });
  return it == stack.written.end() ? nullptr : &*it;
}

}  // namespace

std::vector<Source> list_sources(const stack::Stack& stack) {
  std::vector<Source> out;
  const std::string& name = stack.spec.name;
  out.push_back({"rtl/" + name + "_pkg.sv", name + "_pkg", "constants"});
  const auto of_user = [&](const std::string& file) {
    return std::any_of(stack.user_files.begin(), stack.user_files.end(),
                       [&](const auto& f) { return f.shown == file; });
  };
  for (const std::string& file : stack.design.package_files)
    if (!of_user(file)) out.push_back({"rtl/" + file_name(file), fs::path(file).stem().string(), "library"});
  for (const std::string& module : stack.design.library_modules) {
    if (of_user(stack.library.find(module)->file)) continue;
    if (written(stack, module) != nullptr)
      out.push_back({"rtl/" + module + ".sv", module, module == "csr" ? "generated" : "compiled"});
    else
      out.push_back({"rtl/" + file_name(stack.library.find(module)->file), module, "library"});
  }
  for (const services::UserFile& file : stack.user_files)
    out.push_back({file.path, fs::path(file.path).stem().string(), "custom"});
  for (const netlist::Module& module : stack.design.modules)
    out.push_back({"rtl/" + module.name + ".sv", module.name, "generated"});
  return out;
}

std::string write_filelist(const std::vector<Source>& sources) {
  std::string out = "+incdir+rtl\n";
  for (const Source& source : sources) out += source.path + "\n";
  return out;
}

std::string write_package(const stack::Stack& stack) {
  const spec::StackSpec& s = stack.spec;
  std::string out = fmt::format(
      "// {0}_pkg: every constant of this variant, for the user's own logic and benches.\n"
      "// Written by rocegen {1} from a specification with SHA-256 {2}.\n"
      "package {0}_pkg;\n\n",
      s.name, ROCEGEN_VERSION, stack.hash);
  const auto line = [&](std::string_view name, long long value, std::string_view comment) {
    const std::string text = fmt::format("  localparam int {} = {};", name, value);
    fmt::format_to(std::back_inserter(out), "{:<44}  // {}\n", text, comment);
  };
  line("DataWidth", s.data_width, "bits of the datapath");
  line("MacWidth", s.network.mac_width, "bits of s_axis_rx and m_axis_tx");
  line("ClockKhz", s.clock_khz(), "kHz of clk");
  line("QpCount", s.qp_count, "queue pairs");
  line("MrCount", s.memory_regions, "memory regions");
  line("Mtu", s.mtu, "largest path MTU in bytes");
  line("PipelineDepth", s.pipeline_depth, "as specified");
  line("WqeSlots", s.transport.wqe_slots, "slots of the send-ring memory");
  line("RqeSlots", s.transport.rqe_slots, "slots of the receive-ring memory");
  line("SrqCount", s.transport.srq_count, "shared receive rings");
  line("ReadDepth", s.transport.read_depth, "READs and atomics outstanding of one QP, each way");
  line("Selective", s.transport.recovery == "selective" ? 1 : 0, "WRITE packets behind a gap are placed");
  line("AckInterval", s.transport.ack_interval, "packets between two AckReq within a message");
  line("WindowPackets", s.transport.window_packets, "unacknowledged packets of one QP");
  line("TickCycles", s.tick_cycles(), "clock cycles of 4.096 us");
  line("RxBufferBeats", s.rx_buffer_beats(), "beats of the receive frame buffer");
  line("TxBufferBeats", s.tx_buffer_beats(), "beats of the transmit frame buffer");
  line("ReadBufferBeats", s.read_buffer_beats(), "beats of the DMA read buffer");
  line("AckAfterWrite", s.host.ack_after_write ? 1 : 0, "ACKs wait for the write responses of their data");
  line("MaxReads", s.host.max_reads, "outstanding AXI read bursts");
  line("MaxWrites", s.host.max_writes, "outstanding AXI write bursts");
  line("AddressWidth", s.host.address_width, "bits of a host address in use");
  line("CqDepth", s.host.cq_depth, "completions that may wait");
  line("EventDepth", s.host.event_depth, "events that may wait");
  for (const stack::WrittenModule& w : stack.written) {
    if (w.latency == 0) continue;
    std::string camel;
    bool up = true;
    for (char c : w.name) {
      if (c == '_')
        up = true;
      else
        camel += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c, up = false;
    }
    line(camel + "Latency", w.latency, "cycles of compiled module " + w.name);
  }
  out += "\n  // Byte addresses on s_axil.\n";
  const auto address = [&](const std::string& name, std::uint32_t value) {
    fmt::format_to(std::back_inserter(out), "  localparam logic [15:0] {} = 16'h{:04X};\n", name, value);
  };
  const auto camel = [](const std::string& name) {
    std::string text;
    bool up = true;
    for (char c : name) {
      if (c == '_')
        up = true;
      else {
        text += static_cast<char>(up ? std::toupper(static_cast<unsigned char>(c))
                                     : std::tolower(static_cast<unsigned char>(c)));
        up = false;
      }
    }
    return text;
  };
  for (const Register& reg : stack.registers.registers) address("Reg" + camel(reg.name), reg.address);
  for (const Counter& counter : stack.registers.counters) address("Cnt" + camel(counter.name), counter.address);
  out += "\nendpackage\n";
  return out;
}

std::vector<TopPort> list_ports(const netlist::Module& top) {
  std::vector<TopPort> out;
  for (const netlist::Domain& domain : top.domains) {
    out.push_back({domain.clock_port(), "input", 1, "", domain.comment + " clock"});
    out.push_back({domain.reset_port(), "input", 1, domain.clock_port(), "synchronous reset, active high"});
  }
  const auto clock_of = [&](const std::string& name) {
    for (const netlist::Domain& domain : top.domains)
      if (domain.name == name) return domain.clock_port();
    return std::string();
  };
  for (const auto& [is_stream, index] : top.port_order) {
    if (is_stream) {
      const netlist::ModuleStream& stream = top.streams[static_cast<std::size_t>(index)];
      const bool sink = stream.role == netlist::Role::sink;
      const char* forward = sink ? "input" : "output";
      const char* backward = sink ? "output" : "input";
      const std::string clock = clock_of(stream.domain);
      out.push_back({stream.name + "_tvalid", forward, 1, clock, stream.comment});
      if (stream.has_ready) out.push_back({stream.name + "_tready", backward, 1, clock, ""});
      for (const netlist::Field& field : stream.fields)
        out.push_back({stream.name + "_" + field.name, forward, field.width, clock, field.record});
    } else {
      const netlist::ModulePort& port = top.ports[static_cast<std::size_t>(index)];
      out.push_back({port.name, port.direction == netlist::Direction::input ? "input" : "output", port.width,
                     clock_of(port.domain), port.comment});
    }
  }
  return out;
}

FileSet make_outputs(const stack::Stack& stack, const fs::path& templates, spec::Diagnostics& diagnostics) {
  FileSet files;
  const std::vector<Source> sources = list_sources(stack);
  for (const Source& source : sources) {
    if (source.origin == "constants") {
      files.add(source.path, write_package(stack));
      continue;
    }
    if (const auto* own = written(stack, source.module)) {
      files.add(source.path, own->text);
      continue;
    }
    const auto module = std::find_if(stack.design.modules.begin(), stack.design.modules.end(),
                                     [&](const auto& m) { return m.name == source.module; });
    if (module != stack.design.modules.end()) {
      files.add(source.path, netlist::write_verilog(*module));
      continue;
    }
    const auto user = std::find_if(stack.user_files.begin(), stack.user_files.end(),
                                   [&](const auto& f) { return f.path == source.path; });
    if (user != stack.user_files.end()) {
      files.add(source.path, user->text);
      continue;
    }
    const auto* declaration = stack.library.find(source.module);
    std::string shown;
    if (declaration != nullptr) shown = declaration->file;
    for (const std::string& package : stack.design.package_files)
      if (file_name(package) == fs::path(source.path).filename()) shown = package;
    files.add(source.path, read_template(templates, shown, diagnostics));
  }
  for (const std::string& include : stack.library.include_files(stack.design.library_modules))
    files.add("rtl/" + include, read_template(templates, "templates/lib/" + include, diagnostics));

  const netlist::Module& top = stack.design.top();
  files.add("filelist.f", write_filelist(sources));
  files.add("spec.json", spec::to_json(stack.spec).dump(2) + "\n");
  files.add("netlist.json", netlist::write_json(stack.design));
  const std::string dot = netlist::write_dot(top);
  files.add("doc/block.dot", dot);
  const std::string svg = netlist::dot_to_svg(dot, diagnostics).value_or("");
  if (!svg.empty()) files.add("doc/block.svg", svg);
  files.add("doc/index.html", write_document(stack, sources, svg));
  files.add("doc/registers.md", registers_markdown(stack.registers, true));
  add_vivado(stack, files);
  files.add("manifest.json", write_manifest(stack, sources));
  return files;
}

}  // namespace rocegen::outputs
