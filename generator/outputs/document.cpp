// doc/index.html: what was generated, as one page without outside references.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "generator/outputs/outputs.h"

namespace rocegen::outputs {

namespace {

std::string escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// An HTML table that grows by rows; cells are escaped, those of code columns set as code.
class Table {
 public:
  explicit Table(std::initializer_list<const char*> head) {
    text_ = "<table>\n<thead><tr>";
    for (const char* cell : head) text_ += fmt::format("<th>{}</th>", escape(cell));
    text_ += "</tr></thead>\n<tbody>\n";
  }
  /// `code`: how many of the first cells are code.
  void row(std::initializer_list<std::string> cells, std::size_t code = 1) {
    text_ += "<tr>";
    std::size_t i = 0;
    for (const std::string& cell : cells) {
      text_ +=
          i < code ? fmt::format("<td><code>{}</code></td>", escape(cell)) : fmt::format("<td>{}</td>", escape(cell));
      ++i;
    }
    text_ += "</tr>\n";
  }
  std::string done() && { return std::move(text_) + "</tbody>\n</table>\n"; }

 private:
  std::string text_;
};

constexpr const char* kStyle = R"(
:root { --ink: #1d2733; --soft: #5a6775; --line: #d7dee6; --fill: #f4f7fa; --accent: #14648c; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
header { background: var(--accent); color: #fff; padding: 1.6rem 2rem; }
header h1 { margin: 0; font-size: 1.7rem; } header p { margin: .3rem 0 0; opacity: .9; }
main { max-width: 76rem; margin: 0 auto; padding: 1rem 2rem 4rem; }
nav { position: sticky; top: 0; background: #fff; border-bottom: 1px solid var(--line); padding: .6rem 2rem; }
nav a { margin-right: 1.2rem; color: var(--accent); text-decoration: none; }
h2 { margin: 2.4rem 0 .6rem; border-bottom: 2px solid var(--line); padding-bottom: .2rem; font-size: 1.25rem; scroll-margin-top: 3rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem; margin: 1.2rem 0; }
.figures div { background: var(--fill); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; }
.figures b { display: block; font-size: 1.25rem; } .figures span { color: var(--soft); font-size: .85rem; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0 1.2rem; font-size: .9rem; }
th { text-align: left; background: var(--fill); } th, td { border: 1px solid var(--line); padding: .28rem .6rem; vertical-align: top; }
code { font: .92em "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.diagram { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; padding: .6rem; background: #fff; }
.diagram { margin: 0 calc(50% - 50vw + 2rem); }
.diagram svg { display: block; min-width: 80rem; width: 100%; height: auto; }
footer { color: var(--soft); font-size: .85rem; padding: 1rem 2rem; border-top: 1px solid var(--line); }
@media print { nav { display: none; } }
)";

std::string figure(const std::string& value, const char* what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", escape(value), escape(what));
}

std::string bits(const Field& field) {
  return field.width == 1 ? fmt::format("[{}]", field.lsb)
                          : fmt::format("[{}:{}]", field.lsb + field.width - 1, field.lsb);
}

/// The drawing without its XML prologue, which has no place inside a page.
std::string inline_svg(const std::string& svg) {
  const std::size_t at = svg.find("<svg");
  return at == std::string::npos ? "" : svg.substr(at);
}

void specification_rows(const nlohmann::ordered_json& json, const std::string& prefix, Table& table) {
  for (const auto& [key, value] : json.items()) {
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object())
      specification_rows(value, path, table);
    else
      table.row({path, value.is_string() ? value.get<std::string>() : value.dump()});
  }
}

/// Shows what `rocegen synth` wrote beside the page; until then the sentence that stands there.
constexpr const char* kAreaScript = R"(<script src="../synth/report.js"></script>
<script>
(() => {
  const report = window.rocegenSynth;
  if (!report) return;
  const place = document.getElementById("area-tables");
  place.textContent = "";
  const table = (head, rows) => {
    const t = document.createElement("table");
    const line = (parent, tag, cells) => {
      const tr = parent.appendChild(document.createElement("tr"));
      for (const cell of cells) tr.appendChild(document.createElement(tag)).textContent = cell;
    };
    line(t.createTHead(), "th", head);
    const body = t.createTBody();
    for (const row of rows) line(body, "td", row);
    place.appendChild(t);
  };
  const figures = r => [r.lut, r.lut_ram, r.ff, r.carry, r.bram36, r.uram, r.dsp, r.levels ?? "–"];
  const columns = ["LUT", "LUTRAM", "FF", "CARRY", "BRAM36", "URAM", "DSP", "levels"];
  table(["instance", "module", ...columns], report.rows.map(r => [r.instance, r.module, ...figures(r)]));
  if (report.services)
    table(["service", "at", ...columns, "cycles"],
          report.services.map(r => [r.service, r.point, ...figures(r), r.cycles || "–"]));
})();
</script>
)";

}  // namespace

std::string write_document(const stack::Stack& stack, const std::vector<Source>& sources,
                           const std::string& diagram_svg) {
  const spec::StackSpec& s = stack.spec;
  const netlist::Module& top = stack.design.top();
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n"
      "<title>{0}: RoCE v2 NIC</title>\n<style>{1}</style>\n</head>\n<body>\n<header><h1>{0}</h1><p>{2}</p></header>\n"
      "<nav><a href=\"#diagram\">Diagram</a><a href=\"#ports\">Ports</a><a href=\"#modules\">Modules</a>"
      "<a href=\"#services\">Services</a><a href=\"#area\">Area</a>"
      "<a href=\"#registers\">Registers</a><a href=\"#counters\">Counters</a><a "
      "href=\"#specification\">Specification</a></nav>\n<main>\n",
      escape(s.name), kStyle, escape(s.description.empty() ? "RoCE v2 NIC" : s.description));

  out += "<div class=\"figures\">\n";
  out += figure(fmt::format("{} bit", s.data_width), "datapath width");
  out += figure(fmt::format("{} MHz", s.clock_mhz), "datapath clock");
  out += figure(fmt::format("{:.4g} Gb/s", s.line_rate_gbps()), "MAC stream, raw");
  out += figure(fmt::format("{}", s.qp_count), "queue pairs");
  out += figure(fmt::format("{}", s.memory_regions), "memory regions");
  out += figure(fmt::format("{} bytes", s.mtu), "largest path MTU");
  out += figure(fmt::format("{}", s.transport.wqe_slots), "send queue entries");
  out += figure(fmt::format("{}", s.pipeline_depth), "pipeline depth");
  out += "</div>\n";

  out += "<h2 id=\"diagram\">Block diagram</h2>\n";
  out += diagram_svg.empty() ? std::string("<p>Graphviz was not there to draw it; its text is in block.dot.</p>\n")
                             : fmt::format("<div class=\"diagram\">{}</div>\n", inline_svg(diagram_svg));

  out += "<h2 id=\"ports\">Ports</h2>\n";
  Table ports({"port", "direction", "bits", "clock", "what"});
  for (const TopPort& port : list_ports(top))
    ports.row({port.name, port.direction, fmt::format("{}", port.width), port.domain, port.comment});
  out += std::move(ports).done();

  out += "<h2 id=\"modules\">Modules</h2>\n";
  Table modules({"instance", "module", "parameters", "what"});
  for (const netlist::Instance& instance : top.instances) {
    std::string parameters;
    for (const netlist::Param& param : instance.params)
      parameters += fmt::format("{}{}={}", parameters.empty() ? "" : ", ", param.name,
                                param.value.is_number() ? fmt::format("{}", param.value.number()) : param.value.text());
    modules.row({instance.name, instance.interface.module, parameters, instance.comment}, 3);
  }
  out += std::move(modules).done();
  Table compiled({"compiled module", "latency in cycles", "LUT levels a stage (estimate)"});
  for (const stack::WrittenModule& module : stack.written)
    if (module.name != "csr")
      compiled.row({module.name, fmt::format("{}", module.latency), fmt::format("{}", module.levels)});
  out += std::move(compiled).done();

  out += "<h2 id=\"services\">Services</h2>\n";
  if (s.services.empty()) {
    out += "<p>None.</p>\n";
  } else {
    Table services({"service", "type", "at", "instances", "cycles it adds", "bytes behind the payload"});
    for (std::size_t i = 0; i < s.services.size(); ++i) {
      const spec::ServiceSpec& entry = s.services[i];
      for (const spec::Attach point : entry.attach) {
        std::string instances;
        for (const stack::ServiceInstance& one : stack.service_instances)
          if (one.service == static_cast<int>(i) && (!one.point || one.point == point))
            instances += (instances.empty() ? "" : ", ") + one.instance;
        const bool adds = point == spec::Attach::egress && entry.trailer != 0;
        services.row(
            {entry.name, entry.type, spec::to_string(point), instances,
             fmt::format("{}", stack.services[i]->latency(point)), adds ? fmt::format("{}", entry.trailer) : "0"},
            2);
      }
    }
    out += std::move(services).done();
  }

  out +=
      "<h2 id=\"area\">Area and depth</h2>\n<div id=\"area-tables\"><p>Not synthesised yet: <code>rocegen synth</code> "
      "fills this in.</p></div>\n";

  out += "<h2 id=\"registers\">Registers</h2>\n<p>32-bit words on <code>s_axil</code>; byte addresses.</p>\n";
  Table registers({"address", "register", "bits", "field", "access", "reset", "what"});
  for (const Register& reg : stack.registers.registers) {
    bool first = true;
    for (const Field& field : reg.fields) {
      const bool has_reset = field.access == Access::rw || (field.access == Access::ro && field.source.empty());
      registers.row(
          {first ? fmt::format("0x{:03X}", reg.address) : "", first ? reg.name : "", bits(field), field.name,
           to_string(field.access), has_reset ? fmt::format("0x{:X}", field.reset) : "",
           first ? reg.doc + (field.doc.empty() || field.name == "value" ? "" : ": " + field.doc) : field.doc},
          4);
      first = false;
    }
  }
  out += std::move(registers).done();

  out += "<h2 id=\"counters\">Counters</h2>\n<p>32 bits each, wrapping; cleared by reset only.</p>\n";
  Table counters({"address", "counter", "counted in"});
  for (const Counter& counter : stack.registers.counters)
    counters.row({fmt::format("0x{:03X}", counter.address), counter.name, counter.instance}, 3);
  out += std::move(counters).done();

  out += "<h2 id=\"specification\">Specification</h2>\n<p>With every default filled in.</p>\n";
  Table specification({"key", "value"});
  specification_rows(spec::to_json(s), "", specification);
  out += std::move(specification).done();
  Table files({"source", "holds", "origin"});
  for (const Source& source : sources) files.row({source.path, source.module, source.origin}, 2);
  out += std::move(files).done();

  out += kAreaScript;
  out += fmt::format(
      "</main>\n<footer>Written by rocegen {} from a specification with SHA-256 "
      "<code>{}</code>.</footer>\n</body>\n</html>\n",
      ROCEGEN_VERSION, stack.hash);
  return out;
}

}  // namespace rocegen::outputs
