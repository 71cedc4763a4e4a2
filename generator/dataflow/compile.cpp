#include "generator/dataflow/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>

#include "generator/dataflow/passes.h"

namespace rocegen::dataflow {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }
std::size_t at(NodeId id) { return static_cast<std::size_t>(id.index); }

constexpr std::size_t kColumns = 100;

/// `text` broken at spaces into lines of at most 100 columns; all but the first are indented by `indent` + 4.
std::string wrap(std::string_view text, std::size_t indent) {
  std::string r(indent, ' ');
  std::size_t column = indent;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = text.find(' ', i);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(i, end - i);
    if (column > indent) {
      if (column + 1 + word.size() > kColumns) {
        r += '\n' + std::string(indent + 4, ' ');
        column = indent + 4;
      } else {
        r += ' ';
        ++column;
      }
    }
    r += word;
    column += word.size();
    i = end + 1;
  }
  return r + '\n';
}

/// A comment line of prose.
std::string comment(std::string_view text, std::string_view hanging = "") {
  std::string r;
  std::string line = "//";
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = text.find(' ', i);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(i, end - i);
    if (line.size() + 1 + word.size() > kColumns) {
      r += line + '\n';
      line = fmt::format("//{}", hanging);
    }
    line += fmt::format(" {}", word);
    i = end + 1;
  }
  return r + line + '\n';
}

std::string range(int width) { return width == 1 ? "" : fmt::format("[{}:0] ", width - 1); }

/// Declarations of signals, those of equal width together.
class Declarations {
 public:
  void add(int width, const std::string& name) {
    auto& list = by_width_[width];
    list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  }
  bool empty() const { return by_width_.empty(); }
  std::string text() const {
    std::string r;
    for (const auto& [width, names] : by_width_) r += wrap(fmt::format("logic {}{};", range(width), names), 2);
    return r;
  }

 private:
  std::map<int, std::string> by_width_;
};

class Writer final : public TextContext {
 public:
  Writer(const Schedule& schedule, const Options& options) : s_(schedule), g_(schedule.graph), options_(options) {}

  std::string write() {
    choose_names();
    write_body();
    std::string r = header();
    r += "`default_nettype none\n\n";
    r += module_ports();
    if (!constants_.empty()) r += '\n' + constants_;
    r += roms_;
    for (const int width : counters_) r += counter_function(width);
    r += body_;
    r += unused();
    return r + "\nendmodule\n\n`default_nettype wire\n";
  }

  std::string constant(const BitVec& value) override {
    if (value.width() <= 64) return value.literal();
    const auto [it, fresh] = constant_names_.try_emplace(value.hex(), fmt::format("Mask{}", constant_names_.size()));
    if (fresh) {
      constants_ +=
          wrap(fmt::format("localparam logic {}{} = {};", range(value.width()), it->second, value.literal()), 2);
    }
    return it->second;
  }

  std::string counter(int width) override {
    counters_.insert(width);
    return fmt::format("count{}", width);
  }

  std::string rom(const BitVec& flat, int width) override {
    const auto [it, fresh] = rom_names_.try_emplace(fmt::format("{}_{}", width, flat.hex()),
                                                    unique(fmt::format("rom{}", rom_names_.size())));
    if (fresh) {
      const int entries = flat.width() / width;
      roms_ += fmt::format("\n  logic {}{} [0:{}];\n  initial begin\n", range(width), it->second, entries - 1);
      for (int i = 0; i < entries; ++i) {
        roms_ +=
            wrap(fmt::format("{}[{}] = {};", it->second, i, flat.slice((i + 1) * width - 1, i * width).literal()), 4);
      }
      roms_ += "  end\n";
    }
    return it->second;
  }

 private:
  /// A node as argument of a reader in some stage.
  class Argument final : public Operand {
   public:
    Argument(Writer& writer, NodeId node, int stage) : writer_(writer), node_(node), stage_(stage) {}
    int width() const override { return writer_.g_.width(node_); }
    std::string text() const override { return writer_.read(node_, stage_, width() - 1, 0); }
    std::string bits(int hi, int lo) const override { return writer_.read(node_, stage_, hi, lo); }

   private:
    Writer& writer_;
    NodeId node_;
    int stage_;
  };

  bool is_input(NodeId id) const { return g_.node(id).op == &ops::input(); }
  bool is_slice(NodeId id) const { return g_.node(id).op == &ops::slice(); }

  std::string unique(std::string wanted) {
    while (!taken_.insert(wanted).second) wanted += "_";
    return wanted;
  }

  void choose_names() {
    names_.resize(at(g_.size()));
    taken_ = {"clk",    "ce_i",   "unused_ok", "count2", "count3", "count4",
              "count5", "count6", "c_x",       "c_low",  "c_high", "c_both"};
    if (options_.elastic) taken_.insert({"rst", "s_tvalid", "s_tready", "m_tvalid", "m_tready", "valid_q", "load"});
    for (const auto& port : g_.inputs()) {
      names_[at(port.node)] = port.name;
      taken_.insert(port.name);
    }
    for (const auto& port : g_.outputs()) taken_.insert(port.name);
    for (int i = 0; i < g_.size(); ++i) {
      if (!names_[at(i)].empty()) continue;
      const std::string number = fmt::format("n{}", i);
      const std::string label(g_.label({i}));
      names_[at(i)] = unique(label.empty() ? number : label);
    }
  }

  /// Name of node `id` as register in front of `stage`.
  std::string registered(NodeId id, int stage) const {
    std::string base = names_[at(id)];
    if (is_input(id) && base.ends_with("_i")) base.resize(base.size() - 2);
    return fmt::format("{}_s{}_q", base, stage);
  }

  /// Bits hi..lo of the value of `id` as stage `stage` sees it.
  std::string read(NodeId id, int stage, int hi, int lo) {
    const Node& n = g_.node(id);
    if (n.op == &ops::constant()) return n.attrs.bits.slice(hi, lo).literal();
    const bool fresh = s_.stage[at(id)] == stage;
    if (fresh && is_slice(id)) return read(n.args[0], stage, hi + n.attrs.numbers[1], lo + n.attrs.numbers[1]);
    if (fresh && inlined_[at(id)]) return expression(id);
    const std::string name = fresh ? names_[at(id)] : registered(id, stage);
    auto [it, first] = used_.try_emplace(name, BitVec(n.width));
    for (int i = lo; i <= hi; ++i) it->second.set_bit(i, true);
    if (n.width == 1 || (lo == 0 && hi == n.width - 1)) return name;
    return hi == lo ? fmt::format("{}[{}]", name, hi) : fmt::format("{}[{}:{}]", name, hi, lo);
  }

  std::string expression(NodeId id) {
    const Node& n = g_.node(id);
    const int stage = s_.stage[at(id)];
    std::vector<Argument> args;
    args.reserve(n.args.size());
    for (const auto a : n.args) args.emplace_back(*this, a, stage);
    std::vector<const Operand*> operands;
    for (const auto& a : args) operands.push_back(&a);
    return n.op->expression(*this, operands, n.attrs);
  }

  /// Learns whether an operator reads an argument bit by bit, for which the argument needs a name.
  class Probe final : public Operand {
   public:
    explicit Probe(int width) : width_(width) {}
    int width() const override { return width_; }
    std::string text() const override { return ""; }
    std::string bits(int hi, int lo) const override {
      partial_ = partial_ || lo > 0 || hi < width_ - 1;
      return "";
    }
    bool partial() const { return partial_; }

   private:
    int width_;
    mutable bool partial_ = false;
  };
  class NoText final : public TextContext {
    std::string constant(const BitVec&) override { return ""; }
    std::string rom(const BitVec&, int) override { return ""; }
    std::string counter(int) override { return ""; }
  };

  /// Pure wiring with one reader that takes it whole is written inside the reader's expression.
  void choose_inlined(const std::vector<bool>& live) {
    inlined_.assign(at(g_.size()), false);
    std::vector<int> reads(at(g_.size()), 0);
    for (int i = 0; i < g_.size(); ++i) {
      if (!live[at(i)]) continue;
      for (const auto a : g_.node({i}).args) ++reads[at(a)];
    }
    for (const auto& port : g_.outputs()) reads[at(port.node)] += 2;
    NoText no_text;
    for (int i = 0; i < g_.size(); ++i) {
      const Node& n = g_.node({i});
      if (!live[at(i)] || is_slice({i})) continue;
      std::vector<Probe> probes;
      for (const auto a : n.args) probes.emplace_back(g_.width(a));
      std::vector<const Operand*> operands;
      for (const auto& p : probes) operands.push_back(&p);
      bool probed = false;
      for (std::size_t k = 0; k < n.args.size(); ++k) {
        const NodeId a = n.args[k];
        if (!g_.node(a).op->wiring() || is_slice(a) || g_.constant_value(a) != nullptr) continue;
        if (reads[at(a)] != 1 || s_.last_use[at(a)] != s_.stage[at(a)]) continue;
        if (!probed) n.op->expression(no_text, operands, n.attrs);
        probed = true;
        inlined_[at(a)] = !probes[k].partial();
      }
    }
  }

  /// Nodes whose text stands only in one place: their register, or the one output they drive.
  bool in_place(NodeId id, const std::vector<int>& readers) const { return readers[at(id)] == 0; }

  void write_body() {
    const auto live = g_.live();
    choose_inlined(live);
    const int stages = std::max(1, s_.latency);
    if (options_.elastic) body_ += handshake();
    std::vector<int> readers(at(g_.size()), 0);  // of the unregistered value, its own register not counted
    for (int i = 0; i < g_.size(); ++i) {
      if (!live[at(i)]) continue;
      for (const auto a : g_.node({i}).args) readers[at(a)] += s_.stage[at(a)] == s_.stage[at(i)] ? 1 : 0;
    }
    if (s_.latency == 0) {
      std::map<int, int> drives;
      for (const auto& port : g_.outputs()) ++drives[port.node.index];
      for (const auto& [node, count] : drives) readers[at(node)] += count - 1;
    }

    for (int stage = 0; stage < stages; ++stage) {
      Declarations declarations;
      Declarations rank;
      std::string assigns;
      std::string clocked;
      for (int i = 0; i < g_.size(); ++i) {
        const NodeId id{i};
        if (!live[at(i)] || g_.constant_value(id) != nullptr || s_.stage[at(i)] > stage) continue;
        const bool here = s_.stage[at(i)] == stage;
        if (here && !is_input(id) && !is_slice(id) && !inlined_[at(i)] && !in_place(id, readers)) {
          declarations.add(g_.width(id), names_[at(i)]);
          assigns += wrap(fmt::format("assign {} = {};", names_[at(i)], expression(id)), 2);
          used_.try_emplace(names_[at(i)], BitVec(g_.width(id)));
        }
        if (s_.last_use[at(i)] > stage) {
          const std::string name = registered(id, stage + 1);
          const bool direct = here && !is_input(id) && in_place(id, readers);
          rank.add(g_.width(id), name);
          clocked +=
              wrap(fmt::format("{} <= {};", name, direct ? expression(id) : read(id, stage, g_.width(id) - 1, 0)), 6);
          used_.try_emplace(name, BitVec(g_.width(id)));
        }
      }
      if (s_.latency > 0) {
        body_ += fmt::format("\n  // Stage {}: {} levels.\n", stage, s_.stage_levels[at(stage)]);
      } else if (!declarations.empty()) {
        body_ += '\n';
      }
      body_ += declarations.text() + assigns;
      if (!rank.empty()) {
        body_ += rank.text();
        const std::string enable = options_.elastic ? fmt::format("load[{}]", stage) : "ce_i";
        body_ +=
            fmt::format("  always_ff @(posedge clk) begin\n    if ({}) begin\n{}    end\n  end\n", enable, clocked);
      }
    }

    body_ += '\n';
    for (const auto& port : g_.outputs()) {
      const bool direct = s_.latency == 0 && !is_input(port.node) && in_place(port.node, readers);
      body_ +=
          wrap(fmt::format("assign {} = {};", port.name,
                           direct ? expression(port.node) : read(port.node, s_.latency, g_.width(port.node) - 1, 0)),
               2);
    }
  }

  /// Counts ones as two full adders of three bits each, whose sums and carries are added.
  static std::string counter_function(int width) {
    const int high = std::max(0, width - 3);
    const std::string_view parity = "^c_x";
    const auto majority = [](int count, int lo) {
      const auto bit = [lo](int i) { return fmt::format("c_x[{}]", lo + i); };
      if (count < 2) return std::string("1'b0");
      if (count == 2) return fmt::format("{} & {}", bit(0), bit(1));
      return fmt::format("({0} & {1}) | (({0} | {1}) & {2})", bit(0), bit(1), bit(2));
    };
    const int bits = log2_ceil(width + 1);
    std::string r = fmt::format(
        "\n  // How many of {} bits are 1.\n  function automatic logic [{}:0] count{}(input logic [{}:0] c_x);\n",
        width, bits - 1, width, width - 1);
    if (high == 0) {
      r += fmt::format("    count{} = {{{}, {}}};\n", width, majority(width, 0), parity);
    } else {
      const std::string top = high == 1 ? "c_x[3]" : fmt::format("^c_x[{}:3]", width - 1);
      r += "    logic c_low, c_high, c_both;\n";
      r += fmt::format("    c_low = {};\n    c_high = {};\n", majority(3, 0), majority(high, 3));
      r += fmt::format("    c_both = (^c_x[2:0]) & ({});\n", top);
      r += fmt::format(
          "    count{} = {{(c_low & c_high) | ((c_low | c_high) & c_both), c_low ^ c_high ^ c_both, {}}};\n", width,
          parity);
    }
    return r + "  endfunction\n";
  }

  /// One valid bit a rank; rank i loads unless it and all behind it are full and the receiver does not take.
  std::string handshake() const {
    const int n = s_.latency;
    if (n == 0) return "\n  assign s_tready = m_tready;\n  assign m_tvalid = s_tvalid;\n";
    std::string r = fmt::format("\n  logic [{}:0] valid_q, load;\n", n - 1);
    for (int i = 0; i < n; ++i) r += fmt::format("  assign load[{}] = m_tready | ~(&valid_q[{}:{}]);\n", i, n - 1, i);
    r += fmt::format("  assign s_tready = load[0];\n  assign m_tvalid = valid_q[{}];\n", n - 1);
    r += "  always_ff @(posedge clk) begin\n    if (rst) begin\n      valid_q <= '0;\n    end else begin\n";
    for (int i = 0; i < n; ++i) {
      r += fmt::format("      if (load[{}]) valid_q[{}] <= {};\n", i, i,
                       i == 0 ? "s_tvalid" : fmt::format("valid_q[{}]", i - 1));
    }
    return r + "    end\n  end\n";
  }

  std::string header() const {
    std::string r = comment(fmt::format("{}: {}", g_.name(), g_.description()));
    r += "//\n// Written by the dataflow compiler of rocegen; change the graph, not this file.\n";
    if (s_.latency == 0) {
      const std::string_view unread = options_.elastic ? "clk and rst" : "clk and ce_i";
      r += comment(
          fmt::format("Combinational: latency 0, about {} LUT6 levels.{}", s_.levels(),
                      options_.clock_ports ? fmt::format(" {} are there for the common port list only.", unread) : ""));
    } else if (options_.elastic) {
      r += comment(
          fmt::format("A set of operands is taken where s_tvalid and s_tready are 1, a result where m_tvalid and"
                      " m_tready are; results keep the order. Latency {} cycles without a stall, throughput"
                      " one a cycle. {} sets fit in; the stages close up before s_tready falls. s_tready follows"
                      " m_tready in the same cycle. rst empties all.",
                      s_.latency, s_.latency));
      r += levels_comment();
    } else {
      r += comment(
          fmt::format("Latency {} enabled cycle{}: a result belongs to the operands of that many cycles with ce_i"
                      " before. Throughput one set of operands every enabled cycle; ce_i 0 holds all. No reset,"
                      " no valid: the user carries them.",
                      s_.latency, s_.latency == 1 ? "" : "s"));
      r += levels_comment();
    }
    for (const auto& ports : {g_.inputs(), g_.outputs()}) {
      for (const auto& port : ports) {
        if (!port.doc.empty()) r += comment(fmt::format("  {}: {}", port.name, port.doc), "    ");
      }
    }
    return r;
  }

  std::string levels_comment() const {
    std::string levels;
    for (const int n : s_.stage_levels) levels += fmt::format("{}{}", levels.empty() ? "" : ", ", n);
    return comment(fmt::format("Estimate: LUT6 levels by stage {}; {} register bits.", levels, s_.register_bits));
  }

  std::string module_ports() const {
    struct Row {
      std::string direction;
      std::string range;
      std::string name;
    };
    std::vector<Row> rows;
    if (options_.clock_ports) {
      rows = {{"input  logic", "", "clk"}, {"input  logic", "", options_.elastic ? "rst" : "ce_i"}};
    }
    const auto add = [&](std::string_view direction, std::span<const Port> ports) {
      for (const auto& p : ports) {
        const int width = g_.width(p.node);
        rows.push_back({std::string(direction), width == 1 ? "" : fmt::format("[{}:0]", width - 1), p.name});
      }
    };
    if (options_.elastic) {
      rows.push_back({"input  logic", "", "s_tvalid"});
      rows.push_back({"output logic", "", "s_tready"});
    }
    add("input  logic", g_.inputs());
    if (options_.elastic) {
      rows.push_back({"output logic", "", "m_tvalid"});
      rows.push_back({"input  logic", "", "m_tready"});
    }
    add("output logic", g_.outputs());
    std::size_t widest = 0;
    for (const auto& row : rows) widest = std::max(widest, row.range.size());
    std::string r = fmt::format("module {} (\n", g_.name());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      r += fmt::format("    {} {:{}}{}{}{}\n", rows[i].direction, rows[i].range, widest, widest > 0 ? " " : "",
                       rows[i].name, i + 1 < rows.size() ? "," : "");
    }
    return r + ");\n";
  }

  /// Bits that nobody reads, gathered so that no lint rule has to be waived.
  std::string unused() const {
    std::vector<std::string> terms;
    if (options_.clock_ports && s_.latency == 0) terms = {"clk", options_.elastic ? "rst" : "ce_i"};
    auto used = used_;
    for (const auto& port : g_.inputs()) used.try_emplace(port.name, BitVec(g_.width(port.node)));
    for (const auto& [name, bits] : used) {
      if (bits.is_ones()) continue;
      if (bits.width() == 1 || bits.is_zero()) {
        terms.push_back(name);
        continue;
      }
      for (int lo = 0; lo < bits.width();) {
        int hi = lo;
        while (hi + 1 < bits.width() && bits.bit(hi + 1) == bits.bit(lo)) ++hi;
        if (!bits.bit(lo))
          terms.push_back(hi == lo ? fmt::format("{}[{}]", name, lo) : fmt::format("{}[{}:{}]", name, hi, lo));
        lo = hi + 1;
      }
    }
    if (terms.empty()) return "";
    std::string list;
    for (const auto& t : terms) list += ", " + t;
    return "\n  // Bits without a reader.\n  logic unused_ok;\n" +
           wrap(fmt::format("assign unused_ok = &{{1'b0{}}};", list), 2);
  }

  const Schedule& s_;
  const Graph& g_;
  const Options& options_;
  std::vector<std::string> names_;
  std::set<std::string> taken_;
  std::vector<bool> inlined_;
  std::map<std::string, BitVec> used_;  // bits that are read, by signal
  std::map<std::string, std::string> constant_names_;
  std::map<std::string, std::string> rom_names_;
  std::set<int> counters_;
  std::string constants_;
  std::string roms_;
  std::string body_;
};

}  // namespace

std::string write_systemverilog(const Schedule& schedule, const Options& options) {
  return Writer(schedule, options).write();
}

CompiledModule compile(const Graph& graph, const Options& options) {
  static constexpr std::array<std::string_view, 5> kHandshake = {"rst", "s_tvalid", "s_tready", "m_tvalid", "m_tready"};
  for (const auto& ports : {graph.inputs(), graph.outputs()}) {
    for (const auto& port : ports) {
      if (options.elastic && std::find(kHandshake.begin(), kHandshake.end(), port.name) != kHandshake.end()) {
        throw std::invalid_argument(fmt::format("'{}' cannot name a port of an elastic module", port.name));
      }
    }
  }
  const Schedule s = schedule(graph, options);
  check_schedule(s, options);
  CompiledModule r;
  r.name = graph.name();
  r.latency = s.latency;
  r.levels = s.levels();
  r.stage_levels = s.stage_levels;
  r.register_bits = s.register_bits;
  r.luts = estimate_luts(s.graph);
  r.systemverilog = write_systemverilog(s, options);
  return r;
}

}  // namespace rocegen::dataflow
