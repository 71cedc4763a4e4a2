#include "generator/stack/service_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace rocegen::stack {

using netlist::InstanceHandle;

namespace {

const char* record_of(spec::Attach point) {
  switch (point) {
    case spec::Attach::ingress:
      return "roce_pkg::svc_rx_t";
    case spec::Attach::egress:
      return "roce_pkg::svc_tx_t";
    case spec::Attach::deliver:
      return "roce_pkg::svc_pay_t";
  }
  return "";
}

// A file of the user's enters the library under its path; one that several services name enters it once.
void add_file(Stack& stack, const spec::ServiceSpec& entry, services::UserFile file, spec::Diagnostics& diagnostics) {
  const auto taken = [&](const spec::Place& where, const std::string& what) {
    diagnostics.error("E0567", where, fmt::format("{} is there already", what))
        .label("the name is taken")
        .help("rename it");
  };
  for (const services::UserFile& other : stack.user_files) {
    if (other.shown == file.shown) return;
    if (other.path != file.path) continue;
    return taken(entry.place("/files"), fmt::format("a file {}", std::filesystem::path(file.path).filename().string()));
  }
  for (const netlist::ModuleDecl& module : stack.library.modules()) {
    if (std::filesystem::path(module.file).filename() != std::filesystem::path(file.path).filename()) continue;
    return taken(entry.place("/files"), fmt::format("a file {} of the library", module.file));
  }
  const std::size_t before = stack.library.modules().size();
  stack.library.read_text(file.text, file.shown, false, diagnostics);
  for (std::size_t i = before; i < stack.library.modules().size(); ++i) {
    const netlist::ModuleDecl& module = stack.library.modules()[i];
    if (module.name == stack.spec.name) taken(module.place, fmt::format("module {}, the top module,", module.name));
    if (module.name == "csr") taken(module.place, "module csr of the stack");
  }
  stack.user_files.push_back(std::move(file));
}

}  // namespace

void make_services(Stack& stack, spec::Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < stack.spec.services.size(); ++i) {
    const spec::ServiceSpec& entry = stack.spec.services[i];
    std::shared_ptr<services::Service> service = services::find_type(entry.type)->make(stack.spec, i, diagnostics);
    if (!service) continue;
    for (services::UserFile& file : service->files()) add_file(stack, entry, std::move(file), diagnostics);
    for (services::ModuleText& module : service->modules()) {
      stack.library.read_text(module.text, module.name + ".sv", true, diagnostics);
      stack.written.push_back({module.name, std::move(module.text), module.latency, module.levels});
    }
    if (!diagnostics.has_errors()) service->link(stack.spec, stack.library, diagnostics);
    stack.services.push_back(std::move(service));
  }
}

netlist::Params ServiceSite::mask_params() const {
  return {{"QpCount", stack_.spec.qp_count}, {"Services", static_cast<int>(stack_.spec.services.size())}};
}

netlist::StreamRef ServiceSite::chain(Attach point, const netlist::StreamRef& source) {
  current_ = source;
  const int count = static_cast<int>(stack_.services.size());
  for (int i = 0; i < count; ++i) {
    // What is sent goes the way back.
    index_ = point == Attach::egress ? count - 1 - i : i;
    const auto at = static_cast<std::size_t>(index_);
    if (stack_.spec.services[at].at(point)) stack_.services[at]->attach(point, *this);
  }
  return current_;
}

netlist::Params ServiceSite::with_own(std::string_view module, netlist::Params params) const {
  const netlist::ModuleDecl* declaration = stack_.library.find(module);
  if (declaration == nullptr) return params;
  const auto add = [&](const char* name, int value) {
    const auto same = [&](const auto& p) { return p.name == name; };
    const bool known = std::any_of(declaration->params.begin(), declaration->params.end(),
                                   [&](const netlist::ParamDecl& p) { return p.name == name && !p.local; });
    if (known && std::none_of(params.begin(), params.end(), same)) params.push_back({name, value});
  };
  add("DataW", stack_.spec.data_width);
  add("QpCount", stack_.spec.qp_count);
  add("Index", index_);
  return params;
}

InstanceHandle ServiceSite::instance(const std::string& name, std::optional<Attach> point, std::string_view module,
                                     netlist::Params params, const std::string& comment) {
  std::string free = name;
  for (int n = 2; top_.module().find_instance(free + "_i") >= 0; ++n) free = fmt::format("{}_{}", name, n);
  free += "_i";
  stack_.service_instances.push_back({free, index_, point});
  return top_.instance(free, module, with_own(module, std::move(params)), comment);
}

InstanceHandle ServiceSite::stage(Attach point, std::string_view module, netlist::Params params,
                                  const std::string& comment) {
  const spec::ServiceSpec& entry = stack_.spec.services[static_cast<std::size_t>(index_)];
  const std::string name =
      entry.attach.size() > 1 ? fmt::format("svc_{}_{}", entry.name, to_string(point)) : "svc_" + entry.name;
  InstanceHandle out = instance(name, point, module, std::move(params), comment);
  for (const char* stream : {"s_pkt", "m_pkt"}) top_.set_record(out.stream(stream), "tuser", record_of(point));
  top_.connect(current_, out.stream("s_pkt"), {.weight = 1});
  current_ = out.stream("m_pkt");
  return out;
}

InstanceHandle ServiceSite::side(const std::string& suffix, std::string_view module, netlist::Params params,
                                 const std::string& comment) {
  const spec::ServiceSpec& entry = stack_.spec.services[static_cast<std::size_t>(index_)];
  return instance(fmt::format("svc_{}_{}", entry.name, suffix), std::nullopt, module, std::move(params), comment);
}

InstanceHandle ServiceSite::completions(const std::string& suffix, std::string_view module, netlist::Params params,
                                        const std::string& comment) {
  completions_.push_back(side(suffix, module, std::move(params), comment));
  return completions_.back();
}

std::vector<std::pair<int, InstanceHandle>> ServiceSite::windows() const {
  auto all = windows_;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

std::string ServiceSite::counter_name(const std::string& instance, const std::string& name) const {
  // Modules of the library name their counters after the service; those of a user know nothing of the others.
  const auto& all = stack_.service_instances;
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.instance == instance; });
  if (it == all.end() || it->service < 0) return name;
  const spec::ServiceSpec& entry = stack_.spec.services[static_cast<std::size_t>(it->service)];
  return entry.type == "custom" ? fmt::format("{}_{}", entry.name, name) : name;
}

}  // namespace rocegen::stack
