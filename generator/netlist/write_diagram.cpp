#include "generator/netlist/write_diagram.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "generator/netlist/lookup.h"

namespace rocegen::netlist {

namespace {

std::string html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

// "roce_pkg::rx_hdr_t" -> "rx_hdr_t".
std::string short_record(const std::string& record) {
  const std::size_t colons = record.rfind("::");
  return colons == std::string::npos ? record : record.substr(colons + 2);
}

// What an arrow carries: "512 b, rx_cmd_t" for a packet, "rx_hdr_t" or "345 b" for a record.
std::string payload_text(const Stream& stream) {
  const Field* data = stream.field("tdata");
  const Field* user = stream.field("tuser");
  std::string text;
  if (data != nullptr) text = data->record.empty() ? fmt::format("{} b", data->width) : short_record(data->record);
  if (user != nullptr) {
    const std::string tag = user->record.empty() ? fmt::format("user {} b", user->width) : short_record(user->record);
    text += (text.empty() ? "" : ", ") + tag;
  }
  return text;
}

// Plain ports of one interface are drawn as one: "m_axi_awaddr" -> "m_axi", "irq_o" stays.
std::string port_group(const std::string& name) {
  if (name.rfind("s_", 0) != 0 && name.rfind("m_", 0) != 0) return name;
  const std::size_t second = name.find('_', 2);
  return second == std::string::npos ? name : name.substr(0, second);
}

class Diagram {
 public:
  Diagram(const Module& module, const DiagramOptions& options) : module_(module), options_(options) {}

  std::string run() {
    out_ += fmt::format("digraph \"{}\" {{\n", html(module_.name));
    out_ += "  graph [rankdir=LR, nodesep=0.3, ranksep=0.9, fontname=\"Helvetica\", fontsize=12, pad=0.2];\n";
    out_ +=
        "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#dce9f7\", color=\"#35618f\", "
        "fontname=\"Helvetica\", fontsize=12, margin=\"0.16,0.08\"];\n";
    out_ += "  edge [color=\"#35618f\", fontname=\"Helvetica\", fontsize=9, arrowsize=0.8];\n";
    if (options_.pins) collect_pins();
    nodes();
    streams();
    pins();
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool folded(int instance) const {
    return options_.fold_slices && instance >= 0 &&
           module_.instances[static_cast<std::size_t>(instance)].inserted_by == "pipeline";
  }
  static std::string id(int instance) { return fmt::format("i{}", instance); }

  // The domain that an instance is drawn in; nothing when it stands between two.
  [[nodiscard]] std::optional<std::string> domain_of(const Instance& instance) const {
    if (instance.domains.empty()) return module_.domains.front().name;
    for (const auto& [port, domain] : instance.domains) {
      if (domain != instance.domains.front().second) return std::nullopt;
    }
    return instance.domains.front().second;
  }

  void node(int number, std::string_view indent) {
    const Instance& instance = module_.instances[static_cast<std::size_t>(number)];
    const std::string name = base_name(instance.name);
    const bool same = name == instance.interface.module;
    if (instance.inserted_by.empty()) {
      const auto small = [](const std::string& text) {
        return fmt::format("<br/><font point-size=\"9\" color=\"#555555\">{}</font>", html(text));
      };
      std::string second = same ? "" : small(instance.interface.module);
      const auto hub = hubs_.find(id(number));
      if (hub != hubs_.end()) second += small(fmt::format("pins with {} blocks", hub->second));
      out_ += fmt::format("{}{} [label=<<b>{}</b>{}>];\n", indent, id(number), html(name), second);
    } else {
      out_ += fmt::format(
          "{}{} [label=\"{}\", fontsize=9, margin=\"0.08,0.04\", height=0.25, fillcolor=\"#f2f2f2\", "
          "color=\"#777777\"];\n",
          indent, id(number), html(instance.interface.module));
    }
  }

  void nodes() {
    std::map<std::string, std::vector<int>> by_domain;
    std::vector<int> between;
    for (std::size_t i = 0; i < module_.instances.size(); ++i) {
      const int number = static_cast<int>(i);
      if (folded(number)) continue;
      const auto domain = domain_of(module_.instances[i]);
      if (domain) {
        by_domain[*domain].push_back(number);
      } else {
        between.push_back(number);
      }
    }
    for (const Domain& domain : module_.domains) {
      const auto found = by_domain.find(domain.name);
      if (found == by_domain.end()) continue;
      if (module_.domains.size() == 1) {
        for (const int number : found->second) node(number, "  ");
        continue;
      }
      const std::string mhz = domain.mhz > 0 ? fmt::format(", {:g} MHz", domain.mhz) : "";
      out_ += fmt::format("  subgraph \"cluster_{}\" {{\n", domain.clock_port());
      out_ += fmt::format("    label=\"{}{}\"; style=\"rounded,dashed\"; color=\"#999999\"; fontcolor=\"#555555\";\n",
                          html(domain.clock_port()), mhz);
      for (const int number : found->second) node(number, "    ");
      out_ += "  }\n";
    }
    for (const int number : between) node(number, "  ");
    for (const ModuleStream& stream : module_.streams) port_node(stream.name);
  }
  void port_node(const std::string& name) {
    if (!port_nodes_.insert(name).second) return;
    out_ += fmt::format(
        "  \"p_{0}\" [label=\"{0}\", shape=plain, fontsize=11, fontcolor=\"#222222\", style=\"\", margin=\"0.04\"];\n",
        html(name));
  }

  [[nodiscard]] std::string node_of(const StreamRef& ref) const {
    return ref.instance == kTop ? fmt::format("\"p_{}\"", html(ref.stream)) : id(ref.instance);
  }

  // The stream whose beats a connection carries: behind a crossing or a slice the payload is one packed vector, so the
  // stream that went in is asked.
  [[nodiscard]] std::optional<Stream> carried(const StreamConnection& connection) const {
    const StreamConnection* c = &connection;
    for (std::size_t steps = 0; steps <= module_.instances.size(); ++steps) {
      const int at = c->source.instance;
      if (at == kTop) break;
      const std::string& pass = module_.instances[static_cast<std::size_t>(at)].inserted_by;
      if (pass != "crossing" && pass != "pipeline") break;
      const auto before = std::find_if(module_.stream_connections.begin(), module_.stream_connections.end(),
                                       [&](const StreamConnection& x) { return x.sink.instance == at; });
      if (before == module_.stream_connections.end()) break;
      c = &*before;
    }
    const auto end = stream_at(module_, c->source);
    return end ? std::optional<Stream>(end->stream) : std::nullopt;
  }

  void streams() {
    for (const StreamConnection& first : module_.stream_connections) {
      if (folded(first.source.instance)) continue;
      const std::optional<Stream> source = carried(first);
      if (!source) continue;
      // Through folded slices to the real sink.
      const StreamConnection* last = &first;
      std::vector<std::string> cut;
      while (folded(last->sink.instance)) {
        cut.push_back(module_.instances[static_cast<std::size_t>(last->sink.instance)].interface.module == "stream_reg"
                          ? "r"
                          : "s");
        const int slice = last->sink.instance;
        const auto next = std::find_if(module_.stream_connections.begin(), module_.stream_connections.end(),
                                       [&](const StreamConnection& c) { return c.source.instance == slice; });
        if (next == module_.stream_connections.end()) break;
        last = &*next;
      }
      const auto sink = stream_at(module_, last->sink);
      if (!sink) continue;
      // The richer description of the two ends.
      std::string text = payload_text(*source);
      const std::string other = payload_text(sink->stream);
      const bool packed_sink =
          last->sink.instance != kTop &&
          module_.instances[static_cast<std::size_t>(last->sink.instance)].inserted_by == "crossing";
      if (!packed_sink && text.find("_t") == std::string::npos && other.find("_t") != std::string::npos) text = other;
      if (!cut.empty()) text += fmt::format("\\n{} slice{}", cut.size(), cut.size() > 1 ? "s" : "");
      const double width = source->is_packet() ? 2.6 : 1.4;
      out_ += fmt::format("  {} -> {} [label=\"{}\", penwidth={:.1f}{}{}];\n", node_of(first.source),
                          node_of(last->sink), text, width, source->is_packet() ? ", weight=4" : "",
                          cut.empty() ? "" : ", style=bold, color=\"#2f7d4f\", fontcolor=\"#2f7d4f\"");
    }
  }

  // Plain pins: one thin line between two blocks, however many there are. A block that has pins with more than kHub
  // others (the register block, the counters) would hide the streams behind its lines: it says so in its box instead.
  static constexpr std::size_t kHub = 4;

  struct Bundle {
    int forward = 0, backward = 0;
    std::string name;  // of the first pin
  };

  void collect_pins() {
    const auto link = [&](const std::string& from, const std::string& to, const std::string& name) {
      if (from == to) return;
      const bool known_backward = bundles_.contains({to, from});
      const auto key = known_backward ? std::pair(to, from) : std::pair(from, to);
      if (!bundles_.contains(key)) order_.push_back(key);
      Bundle& bundle = bundles_[key];
      (known_backward ? bundle.backward : bundle.forward) += 1;
      if (bundle.forward + bundle.backward == 1) bundle.name = name;
    };
    const auto drivers_of = [&](const PinRef& ref) {
      std::vector<std::pair<std::string, std::string>> nodes;
      std::vector<PinRef> work{ref};
      for (std::size_t i = 0; i < work.size() && i < 4096; ++i) {
        const PinRef one = work[i];
        if (one.kind == PinRef::Kind::instance) nodes.emplace_back(id(one.instance), one.name);
        if (one.kind == PinRef::Kind::port) nodes.emplace_back("p:" + port_group(one.name), one.name);
        if (one.kind != PinRef::Kind::net) continue;
        for (const Net& net : module_.nets) {
          if (net.name == one.name) work.insert(work.end(), net.operands.begin(), net.operands.end());
        }
        for (const PinConnection& c : module_.pin_connections) {
          if (c.sink.kind == PinRef::Kind::net && c.sink.name == one.name) work.push_back(c.driver);
        }
      }
      return nodes;
    };
    for (const PinConnection& c : module_.pin_connections) {
      if (c.sink.kind == PinRef::Kind::net) continue;
      const std::string to = c.sink.kind == PinRef::Kind::port ? "p:" + port_group(c.sink.name) : id(c.sink.instance);
      for (const auto& [from, name] : drivers_of(c.driver)) link(from, to, name);
    }
    std::map<std::string, std::set<std::string>> partners;
    for (const auto& [from, to] : order_) {
      if (is_port(from) || is_port(to)) continue;
      partners[from].insert(to);
      partners[to].insert(from);
    }
    for (const auto& [block, others] : partners) {
      if (others.size() > kHub) hubs_[block] = others.size();
    }
  }
  static bool is_port(const std::string& key) { return key.rfind("p:", 0) == 0; }

  void pins() {
    const auto node_text = [&](const std::string& key) {
      if (!is_port(key)) return key;
      port_node(key.substr(2));
      return fmt::format("\"p_{}\"", html(key.substr(2)));
    };
    for (const auto& key : order_) {
      const bool port = is_port(key.first) || is_port(key.second);
      if (!port && (hubs_.contains(key.first) || hubs_.contains(key.second))) continue;
      const Bundle& bundle = bundles_[key];
      const int count = bundle.forward + bundle.backward;
      const std::string label = count > 1 ? fmt::format("{} pins", count) : port ? "" : bundle.name;
      const std::string from = node_text(key.first);
      const std::string to = node_text(key.second);
      // Pins between blocks do not shape the picture: streams do.
      out_ += fmt::format(
          "  {} -> {} [label=\"{}\", penwidth=0.7, color=\"#aaaaaa\", fontcolor=\"#888888\", fontsize=8, "
          "arrowsize=0.5{}{}];\n",
          from, to, html(label), bundle.backward > 0 ? ", dir=both" : "", port ? "" : ", constraint=false");
    }
  }

  const Module& module_;
  DiagramOptions options_;
  std::string out_;
  std::set<std::string> port_nodes_;
  std::map<std::pair<std::string, std::string>, Bundle>
      bundles_;  // by the two ends: an instance's id, or "p:" + port group
  std::vector<std::pair<std::string, std::string>> order_;
  std::map<std::string, std::size_t> hubs_;  // id -> blocks that it has pins with
};

// A file that is gone at the end of its scope.
class TemporaryFile {
 public:
  TemporaryFile() {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/rocegen_XXXXXX";
    descriptor_ = ::mkostemp(path_.data(), O_CLOEXEC);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }
  [[nodiscard]] bool ok() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string read() const {
    std::ifstream in(path_, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace

std::string write_dot(const Module& module, const DiagramOptions& options) { return Diagram(module, options).run(); }

std::optional<std::string> dot_to_svg(const std::string& dot, Diagnostics& diagnostics, const std::string& program) {
  const TemporaryFile input;
  const TemporaryFile output;
  const TemporaryFile messages;
  if (!input.ok() || !output.ok() || !messages.ok()) {
    diagnostics.error("E0341", {}, fmt::format("no temporary file: {}", std::strerror(errno)));
    return std::nullopt;
  }
  std::ofstream(input.path(), std::ios::binary) << dot;
  const pid_t child = ::fork();
  if (child == 0) {
    // An exec that fails must be told apart from a dot that fails: 127 is kept for it.
    ::dup2(output.descriptor(), STDOUT_FILENO);
    ::dup2(messages.descriptor(), STDERR_FILENO);
    ::execlp(program.c_str(), program.c_str(), "-Tsvg", input.path().c_str(), static_cast<char*>(nullptr));
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  int status = 0;
  pid_t done = -1;
  while (child > 0 && (done = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (child < 0 || done < 0) {
    diagnostics.error("E0341", {}, fmt::format("'{}' cannot be started: {}", program, std::strerror(errno)));
    return std::nullopt;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    diagnostics.error("E0340", {}, fmt::format("'{}' is not installed", program))
        .note("it draws the block diagram")
        .help("install the package graphviz");
    return std::nullopt;
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::string text = messages.read();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    // Its own file name means nothing to the user.
    for (std::size_t at = text.find(input.path()); at != std::string::npos; at = text.find(input.path()))
      text.replace(at, input.path().size(), "<dot>");
    spec::Diagnostic& d = diagnostics.error(
        "E0341", {},
        WIFSIGNALED(status) ? fmt::format("'{}' was ended by signal {}", program, WTERMSIG(status))
                            : fmt::format("'{}' failed with exit code {}", program, WEXITSTATUS(status)));
    if (!text.empty()) d.note(text);
    d.help(fmt::format("to repeat it: {} -Tsvg netlist.dot", program));
    return std::nullopt;
  }
  return output.read();
}

}  // namespace rocegen::netlist
