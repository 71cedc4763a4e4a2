#include "generator/services/custom/custom.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "generator/spec/files.h"
#include "generator/spec/keywords.h"
#include "generator/spec/text.h"

namespace rocegen::services {

using Json = nlohmann::ordered_json;
using netlist::Direction;
using spec::Kind;

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20U;
constexpr int kMaxTrailer = 64;

// [A-Za-z][A-Za-z0-9_]{0,63}
bool is_module_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text.size() <= 64 && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

// [A-Za-z0-9_./-]{1,256}
bool is_file_name(std::string_view text) {
  return !text.empty() && text.size() <= 256 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '/' || c == '-';
  });
}

Attach point_of(const spec::ServiceSpec& entry) {
  const std::string word = entry.json().at("attach").get<std::string>();
  for (const Attach point : {Attach::ingress, Attach::egress}) {
    if (word == to_string(point)) return point;
  }
  return Attach::deliver;
}

// Path of a file as the user would write it from where the program runs.
std::string path_of(const spec::ServiceSpec& entry, const std::string& file) {
  return file.starts_with('/') ? file : entry.folder + file;
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// The module's header against the contract of its attach point.
class HeaderCheck {
 public:
  HeaderCheck(const spec::StackSpec& spec, const spec::ServiceSpec& entry, const netlist::Library& library,
              spec::Diagnostics& diagnostics)
      : spec_(spec), entry_(entry), library_(library), diagnostics_(diagnostics), point_(point_of(entry)) {}

  void run() {
    const std::string module = entry_.json().at("module").get<std::string>();
    const netlist::ModuleDecl* declaration = library_.find(module);
    const std::size_t errors = diagnostics_.error_count();
    parameters(*declaration);
    names(*declaration);
    if (diagnostics_.error_count() != errors) return;
    netlist::Params params;
    for (const auto& [name, value] : entry_.json().at("parameters").items())
      params.push_back({name, value.get<std::int64_t>()});
    give(*declaration, params, "DataW", spec_.data_width);
    give(*declaration, params, "QpCount", spec_.qp_count);
    give(*declaration, params, "Index", 0);
    const std::optional<netlist::Interface> interface =
        library_.elaborate(module, params, diagnostics_, entry_.place("/module"));
    if (interface) widths(*interface);
  }

 private:
  void give(const netlist::ModuleDecl& declaration, netlist::Params& params, const char* name, int value) const {
    const auto same = [&](const auto& p) { return p.name == name; };
    const bool known = std::any_of(declaration.params.begin(), declaration.params.end(),
                                   [&](const netlist::ParamDecl& p) { return p.name == name && !p.local; });
    if (known && std::none_of(params.begin(), params.end(), same)) params.push_back({name, value});
  }

  spec::Diagnostic& fault(const char* code, const spec::Place& place, std::string message) {
    spec::Diagnostic& d = diagnostics_.error(code, place, std::move(message));
    d.note(fmt::format("it is the service \"{}\" at {}", entry_.name, to_string(point_)), entry_.place("/module"));
    return d;
  }

  void parameters(const netlist::ModuleDecl& declaration) {
    std::vector<std::string> known;
    for (const netlist::ParamDecl& param : declaration.params) {
      if (!param.local) known.push_back(param.name);
    }
    for (const auto& [name, value] : entry_.json().at("parameters").items()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      spec::Diagnostic& d =
          diagnostics_.error("E0562", entry_.key_place("/parameters/" + name),
                             fmt::format("module {} has no parameter \"{}\"", declaration.name, name));
      const std::string near = spec::nearest(name, known);
      d.label(near.empty() ? "no such parameter" : fmt::format("did you mean \"{}\"?", near));
      d.note(fmt::format("its header has {}", known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))),
             declaration.place);
      d.help(near.empty() ? "remove it" : fmt::format("rename it to \"{}\"", near));
    }
  }

  void names(const netlist::ModuleDecl& declaration) {
    const std::vector<ContractPort> wanted = contract(point_, spec_, library_);
    std::vector<std::string> known;
    for (const ContractPort& port : wanted) known.push_back(port.name);
    std::set<std::string> there;
    for (const netlist::PortDecl& port : declaration.ports) there.insert(port.name);
    std::set<std::string> groups;  // those of which a port is there
    std::vector<const netlist::PortDecl*> strangers;
    for (const netlist::PortDecl& port : declaration.ports) {
      const auto it =
          std::find_if(wanted.begin(), wanted.end(), [&](const ContractPort& w) { return w.name == port.name; });
      if (it != wanted.end()) {
        if (!it->group.empty()) groups.insert(it->group);
        if (port.direction != it->direction) {
          const bool out = it->direction == Direction::output;
          fault("E0564", port.place,
                fmt::format("port {} of {} is {}", port.name, declaration.name, out ? "an input" : "an output"))
              .label(out ? "must be an output" : "must be an input")
              .help(fmt::format("declare it as \"{} ... {}\"", out ? "output logic" : "input logic", port.name));
        }
        continue;
      }
      if (port.name.starts_with("cnt_") && port.name.ends_with("_o") && port.name.size() > 6) {
        if (port.direction != Direction::output)
          fault("E0564", port.place, fmt::format("port {} of {} is an input", port.name, declaration.name))
              .label("must be an output")
              .help("a port cnt_*_o is counted: one pulse for each event");
        continue;
      }
      strangers.push_back(&port);
    }
    std::vector<std::string> missing;
    for (const ContractPort& port : wanted) {
      if (there.count(port.name) == 0 && (port.required || groups.count(port.group) > 0)) missing.push_back(port.name);
    }
    for (const netlist::PortDecl* port : strangers) {
      spec::Diagnostic& d =
          fault("E0566", port->place,
                fmt::format("port {} of {} is not known at {}", port->name, declaration.name, to_string(point_)));
      const std::string near = spec::nearest(port->name, missing.empty() ? known : missing);
      if (near.empty()) {
        d.label("nobody would connect it");
        d.help("remove it, or make it a parameter; docs/services.md lists the ports of a stage");
      } else {
        d.label(fmt::format("did you mean {}?", near));
        d.help(fmt::format("rename it to {}", near));
      }
    }
    if (missing.empty()) return;
    spec::Diagnostic& d = fault("E0563", declaration.place,
                                fmt::format("module {} has no port {}", declaration.name, fmt::join(missing, ", ")));
    d.label(missing.size() == 1 ? "a port is missing" : fmt::format("{} ports are missing", missing.size()));
    d.help(fmt::format("`rocegen new-service {} --attach {}` writes a header that has them all", entry_.name,
                       to_string(point_)));
  }

  void widths(const netlist::Interface& interface) {
    for (const ContractPort& port : contract(point_, spec_, library_)) {
      const netlist::Port* own = interface.port(port.name);
      if (own == nullptr || own->width == port.width) continue;
      spec::Diagnostic& d = fault("E0565", own->place,
                                  fmt::format("port {} of {} is {} bits wide, the stack has {} there", port.name,
                                              interface.module, own->width, port.width));
      d.label(fmt::format("{} bits are needed", port.width));
      std::string given;
      for (const netlist::Param& param : interface.params)
        given += fmt::format("{}{} = {}", given.empty() ? "" : ", ", param.name,
                             param.value.is_number() ? std::to_string(param.value.number()) : param.value.text());
      if (!given.empty()) d.note("with " + given);
      if (port.name.ends_with("_tdata") && port.width == spec_.data_width) {
        d.help("declare it as [DataW-1:0] with \"parameter int DataW\": the stack sets DataW");
      } else if (port.name.ends_with("_tkeep")) {
        d.help("declare it as [DataW/8-1:0] with \"parameter int DataW\": the stack sets DataW");
      } else if (port.name.ends_with("_tuser")) {
        d.help(fmt::format("declare it as roce_pkg::{}", point_ == Attach::ingress  ? "svc_rx_t"
                                                         : point_ == Attach::egress ? "svc_tx_t"
                                                                                    : "svc_pay_t"));
      } else {
        d.help(fmt::format("make it {} bits wide", port.width));
      }
    }
    for (const char* clock : {"clk", "rst"}) {
      if (interface.port(clock)->width != 1)
        fault("E0565", interface.port(clock)->place, fmt::format("port {} is not one bit wide", clock))
            .label("1 bit is needed")
            .help(fmt::format("declare it as \"input logic {}\"", clock));
    }
  }

  const spec::StackSpec& spec_;
  const spec::ServiceSpec& entry_;
  const netlist::Library& library_;
  spec::Diagnostics& diagnostics_;
  Attach point_;
};

class Custom final : public Service {
 public:
  Custom(const spec::ServiceSpec& entry, std::vector<UserFile> files) : entry_(entry), files_(std::move(files)) {}

  std::vector<UserFile> files() const override { return files_; }

  void link(const spec::StackSpec& spec, const netlist::Library& library, spec::Diagnostics& diagnostics) override {
    const std::string module = entry_.json().at("module").get<std::string>();
    std::vector<std::string> own;  // modules of its files
    for (const netlist::ModuleDecl& declaration : library.modules()) {
      if (std::any_of(files_.begin(), files_.end(), [&](const UserFile& f) { return f.shown == declaration.file; }))
        own.push_back(declaration.name);
    }
    if (std::find(own.begin(), own.end(), module) == own.end()) {
      const std::string near = spec::nearest(module, own);
      diagnostics
          .error("E0569", entry_.place("/module"),
                 fmt::format("there is no module {} in the files of {}", module, entry_.name))
          .label(near.empty() ? "no such module" : fmt::format("did you mean \"{}\"?", near))
          .note(own.empty() ? "they hold no module" : fmt::format("they hold {}", fmt::join(own, ", ")))
          .help(near.empty() ? "name the module that is the stage" : fmt::format("set \"module\" to \"{}\"", near));
      return;
    }
    HeaderCheck(spec, entry_, library, diagnostics).run();
    const auto& ports = library.find(module)->ports;
    window_ = std::any_of(ports.begin(), ports.end(), [](const auto& p) { return p.name == "ctl_valid_i"; });
  }

  std::vector<WindowRegister> registers() const override {
    // What the user's module answers there is not known: the first word stands for the window.
    if (!window_) return {};
    return {{"WINDOW",
             0,
             "first word of the register window of " + entry_.name,
             {{"value", 0, 32, outputs::Access::rw, 0, "", ""}}}};
  }

  int latency(Attach) const override { return entry_.json().value("latency", 1); }

  void attach(Attach point, Site& site) const override {
    netlist::Params params;
    for (const auto& [name, value] : entry_.json().at("parameters").items())
      params.push_back({name, value.get<std::int64_t>()});
    const std::string module = entry_.json().at("module").get<std::string>();
    const netlist::ModuleDecl* declaration = site.library().find(module);
    const netlist::InstanceHandle stage =
        site.stage(point, module, std::move(params), fmt::format("service {}", entry_.name));
    const auto has = [&](std::string_view port) {
      return std::any_of(declaration->ports.begin(), declaration->ports.end(),
                         [&](const netlist::PortDecl& p) { return p.name == port; });
    };
    if (has("s_cfg_tvalid")) site.set_up(stage);
    if (has("life_i")) site.life(stage);
    if (has("ctl_valid_i")) site.window(stage);
  }

 private:
  spec::ServiceSpec entry_;
  std::vector<UserFile> files_;
  bool window_ = false;
};

class CustomType final : public ServiceType {
 public:
  std::string_view name() const override { return "custom"; }
  std::string_view doc() const override {
    return "A module of your own in the stream of one attach point. Its header is checked against the ports of a "
           "stage; "
           "`rocegen new-service` writes one to start from.";
  }

  std::vector<spec::Field> fields() const override {
    std::vector<spec::Field> all;
    spec::FieldTable t(all);
    t.add(
         "/attach", Kind::word,
         "Where it takes packets: received ones before they are accepted, packets to send, or accepted data on its way "
         "to memory.")
        .words({"ingress", "egress", "deliver"})
        .required()
        .example("\"ingress\"");
    t.add("/module", Kind::text, "Name of the module.")
        .required()
        .pattern("[A-Za-z][A-Za-z0-9_]{0,63}", is_module_name,
                 "a letter, then up to 63 letters, digits and underscores")
        .max_length(64)
        .example("\"xor_mask\"");
    t.add("/files", Kind::names,
          "Its SystemVerilog files, relative to the specification, in the order in which tools read them: packages and "
          "modules in front of who uses them. Modules of the library need not be named.")
        .required()
        .range(1, 64)
        .pattern("[A-Za-z0-9_./-]{1,256}", is_file_name, "a path of letters, digits and . / _ -")
        .example("[\"custom/xor_mask.sv\"]");
    t.add(
         "/parameters", Kind::any,
         "Values of the module's own parameters: whole numbers by name. DataW, QpCount and Index are set by the stack.")
        .fallback(Json::object())
        .schema(Json::parse(R"({"type": "object"})"))
        .example("{ \"Key\": 90 }");
    t.add(
         "/trailer", Kind::integer,
         "Bytes that it appends to every packet it works on at egress, or takes off at ingress; the counterpart at the "
         "peer must do the reverse.")
        .unit("bytes")
        .range(0, kMaxTrailer)
        .fallback(0)
        .example("16");
    t.add("/latency", Kind::integer, "Cycles that a packet spends in it; for the documents only.")
        .unit("cycles")
        .range(0, 10000)
        .fallback(1)
        .example("3");
    return all;
  }

  std::vector<Attach> attach(const spec::ServiceSpec& entry) const override { return {point_of(entry)}; }
  int trailer(const spec::ServiceSpec& entry) const override { return entry.json().at("trailer").get<int>(); }

  void check(const spec::StackSpec& spec, std::size_t index, spec::Diagnostics& diagnostics) const override {
    const spec::ServiceSpec& entry = spec.services[index];
    const std::string at = fmt::format("/services/{}", index);
    if (entry.trailer % 4 != 0) {
      diagnostics
          .error("E0568", entry.place("/trailer"),
                 fmt::format("{}/trailer: {} is not a multiple of 4", at, entry.trailer))
          .label("not a multiple of 4")
          .note("the pad count of a packet, which is sent in its header, must not change")
          .help(fmt::format("set \"trailer\" to {}", (entry.trailer + 3) / 4 * 4));
    }
    if (entry.trailer != 0 && point_of(entry) == Attach::deliver) {
      diagnostics.error("E0568", entry.place("/trailer"), fmt::format("{}/trailer: there is none at deliver", at))
          .label("at deliver packets only get smaller")
          .help("remove \"trailer\"");
    }
    const Json& parameters = entry.json().at("parameters");
    if (!parameters.is_object()) {
      diagnostics.error("E0203", entry.place("/parameters"), fmt::format("{}/parameters: expected an object", at))
          .label("expected an object")
          .help("write \"parameters\": { \"Name\": 1 }");
      return;
    }
    for (const auto& [name, value] : parameters.items()) {
      const std::string pointer = "/parameters/" + name;
      if (name == "DataW" || name == "QpCount" || name == "Index") {
        diagnostics.error("E0561", entry.key_place(pointer), fmt::format("{}{}: the stack sets {}", at, pointer, name))
            .label("not yours to set")
            .help("remove it");
      } else if (!value.is_number_integer()) {
        diagnostics
            .error("E0203", entry.place(pointer),
                   fmt::format("{}{}: found {}, expected a whole number", at, pointer, spec::shorten(value.dump(), 40)))
            .label("expected a whole number")
            .help(fmt::format("set \"{}\" to a whole number", name));
      }
    }
    std::set<std::string> seen;
    const auto files = entry.json().at("files").get<std::vector<std::string>>();
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string base = file_name(files[i]);
      const spec::Place& place = entry.place(fmt::format("/files/{}", i));
      std::error_code ec;
      const std::string path = path_of(entry, files[i]);
      if (!std::filesystem::is_regular_file(path, ec)) {
        diagnostics.error("E0560", place, fmt::format("{}/files/{}: there is no file {}", at, i, path))
            .label("no such file")
            .note("files are named relative to the specification")
            .help("correct the path");
      }
      if (!base.ends_with(".sv") && !base.ends_with(".v")) {
        diagnostics.error("E0560", place, fmt::format("{}/files/{}: {} is no SystemVerilog file", at, i, base))
            .label("must end in .sv or .v")
            .help("rename the file");
      } else if (!seen.insert(base).second) {
        diagnostics.error("E0567", place, fmt::format("{}/files/{}: two files are named {}", at, i, base))
            .label("named twice")
            .note("all files are copied into one folder")
            .help("rename one of them");
      }
    }
  }

  std::unique_ptr<Service> make(const spec::StackSpec& spec, std::size_t index,
                                spec::Diagnostics& diagnostics) const override {
    const spec::ServiceSpec& entry = spec.services[index];
    std::vector<UserFile> files;
    for (const auto& file : entry.json().at("files")) {
      const std::string path = path_of(entry, file.get<std::string>());
      std::optional<std::string> text = spec::read_text_file(path, diagnostics, kMaxFileBytes);
      if (!text) return nullptr;
      files.push_back({path, "rtl/" + file_name(path), std::move(*text)});
    }
    return std::make_unique<Custom>(entry, std::move(files));
  }
};

}  // namespace

std::vector<ContractPort> contract(Attach point, const spec::StackSpec& spec, const netlist::Library& library) {
  const char* const record = point == Attach::ingress  ? "roce_pkg::svc_rx_t"
                             : point == Attach::egress ? "roce_pkg::svc_tx_t"
                                                       : "roce_pkg::svc_pay_t";
  const auto width = [&](const char* name) {
    const auto info = library.record(name);
    return info ? info->width : 0;
  };
  const Direction in = Direction::input;
  const Direction out = Direction::output;
  std::vector<ContractPort> ports = {{"clk", in, 1, true, ""}, {"rst", in, 1, true, ""}};
  for (const bool sink : {true, false}) {
    const std::string stream = sink ? "s_pkt_" : "m_pkt_";
    const Direction forward = sink ? in : out;
    ports.push_back({stream + "tvalid", forward, 1, true, ""});
    ports.push_back({stream + "tready", sink ? out : in, 1, true, ""});
    ports.push_back({stream + "tdata", forward, spec.data_width, true, ""});
    ports.push_back({stream + "tkeep", forward, spec.data_width / 8, true, ""});
    ports.push_back({stream + "tlast", forward, 1, true, ""});
    ports.push_back({stream + "tuser", forward, width(record), true, ""});
  }
  ports.push_back({"s_cfg_tvalid", in, 1, false, "s_cfg"});
  ports.push_back({"s_cfg_tready", out, 1, false, "s_cfg"});
  ports.push_back({"s_cfg_tdata", in, width("roce_pkg::qp_cfg_t"), false, "s_cfg"});
  ports.push_back({"life_i", in, static_cast<int>(library.constant("roce_pkg::LifeW").value_or(0)), false, ""});
  ports.push_back({"ready_o", out, 1, false, ""});
  ports.push_back({"ctl_valid_i", in, 1, false, "ctl"});
  ports.push_back({"ctl_write_i", in, 1, false, "ctl"});
  ports.push_back({"ctl_addr_i", in, 12, false, "ctl"});
  ports.push_back({"ctl_wdata_i", in, 32, false, "ctl"});
  ports.push_back({"ctl_ready_o", out, 1, false, "ctl"});
  ports.push_back({"ctl_rdata_o", out, 32, false, "ctl"});
  return ports;
}

const ServiceType& custom_type() {
  static const CustomType type;
  return type;
}

}  // namespace rocegen::services
