#include "generator/services/dpi/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <stdexcept>

#include "generator/dataflow/compile.h"
#include "generator/dataflow/passes.h"
#include "generator/model/lower.h"

namespace rocegen::services {

namespace {

using dataflow::BitVec;
using dataflow::Graph;
using dataflow::NodeId;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr std::size_t kLength = 0;  // header fields, by index
constexpr std::size_t kOpcode = 1;

/// Header fields that travel beside the payload, and where they lie in their vector.
struct HeaderLayout {
  std::vector<std::size_t> fields;  ///< the first in the low bits
  int width = 0;

  void add(std::size_t field) {
    if (std::find(fields.begin(), fields.end(), field) != fields.end()) return;
    fields.push_back(field);
    width += header_fields()[field].bits;
  }
  NodeId slice(Graph& g, NodeId all, std::size_t field) const {
    int low = 0;
    for (const std::size_t f : fields) {
      const int bits = header_fields()[f].bits;
      if (f == field) return g.slice(all, low + bits - 1, low);
      low += bits;
    }
    throw std::logic_error("a header field that nobody asked for");
  }
};

class Compiler {
 public:
  Compiler(const Inspection& inspection, int data_width, int level_budget)
      : i_(inspection), data_width_(data_width), bytes_(data_width / 8) {
    options_.level_budget = level_budget;
  }

  InspectionModules run() {
    for (const auto& source : i_.features) {
      if (source) note(*source);
    }
    if (header_.width == 0) header_.add(kLength);  // ports are at least a bit wide
    if (i_.chunk) {
      chunk_model();
    } else {
      beat_module();
      packet_model();
    }
    stage_module();
    return std::move(out_);
  }

 private:
  void note(const Source& source) {
    switch (source.kind) {
      case Source::Kind::header:
        header_.add(source.field);
        if (header_fields()[source.field].present != HeaderField::Present::always) header_.add(kOpcode);
        break;
      case Source::Kind::word:
      case Source::Kind::bit:
        if (!i_.chunk) {
          header_.add(kLength);
          for (int b = source.kind == Source::Kind::bit ? source.offset / 8 : source.offset; b < source.end(); ++b) {
            seen_.insert(b);
          }
        }
        break;
      case Source::Kind::sum:
        sums_.insert({-1, -1});
        break;
      case Source::Kind::least:
      case Source::Kind::greatest:
        header_.add(kLength);
        break;
      case Source::Kind::count:
        sums_.insert({source.low, source.high});
        break;
    }
  }

  int compile(const Graph& graph) {
    const dataflow::CompiledModule module = dataflow::compile(dataflow::optimise(graph), options_);
    out_.texts.push_back({module.name, module.systemverilog, module.latency, module.levels});
    out_.luts += module.luts;
    return module.latency;
  }

  NodeId present(Graph& g, NodeId header, HeaderField::Present what) const {
    std::vector<BitVec> entries;
    for (int opcode = 0; opcode < 256; ++opcode) {
      entries.emplace_back(1, has_field(what, static_cast<std::uint8_t>(opcode)) ? 1 : 0);
    }
    return g.table(header_.slice(g, header, kOpcode), entries);
  }

  model::Operand header_operand(Graph& g, NodeId header, const Source& source) const {
    model::Operand x{header_.slice(g, header, source.field), std::nullopt};
    const auto what = header_fields()[source.field].present;
    if (what != HeaderField::Present::always) x.missing = g.not_(present(g, header, what));
    return x;
  }

  /// A word or bit out of bytes by number.
  template <typename Byte>
  static NodeId word(Graph& g, const Source& source, const Byte& byte) {
    if (source.kind == Source::Kind::bit) return g.bit(byte(source.offset / 8), 7 - source.offset % 8);
    std::vector<NodeId> parts;  // the most significant first
    for (int n = 0; n < source.size; ++n) {
      parts.push_back(byte(source.offset + (source.big_endian ? n : source.size - 1 - n)));
    }
    return parts.size() == 1 ? parts[0] : g.concat(parts);
  }

  void chunk_model() {
    Graph g(i_.name + "_model", fmt::format("class of a chunk of {} bytes.", i_.chunk_bytes));
    const NodeId chunk = g.input("chunk_i", 8 * i_.chunk_bytes, "the first byte in bits 7:0");
    const NodeId header = g.input("header_i", header_.width, "header fields");
    std::vector<model::Operand> operands(i_.features.size());
    for (std::size_t f = 0; f < operands.size(); ++f) {
      if (!i_.features[f]) continue;
      const Source& source = *i_.features[f];
      operands[f] =
          source.kind == Source::Kind::header
              ? header_operand(g, header, source)
              : model::Operand{word(g, source, [&](int b) { return g.slice(chunk, 8 * b + 7, 8 * b); }), std::nullopt};
    }
    g.output("class_o", model::lower(g, i_.model, operands), "class");
    model_latency_ = compile(g);
  }

  /// Bits that number beats up to the last whose bytes are read; the greatest number stands for all behind it.
  /// Of all numbers that add up over a packet.
  int sum_bits() const {
    Source sum;
    sum.kind = Source::Kind::sum;
    return sum.bits(i_.max_payload);
  }
  int beat_bits() const {
    const int last = seen_.empty() ? 0 : *seen_.rbegin() / bytes_;
    return std::bit_width(static_cast<unsigned>(last + 1));
  }

  void beat_module() {
    Graph g(i_.name + "_beat", "what a beat adds to the features of its packet.");
    const NodeId data = g.input("data_i", data_width_, "payload, the first byte in bits 7:0");
    const NodeId keep = g.input("keep_i", bytes_, "bytes that are there");
    const NodeId beat = g.input("beat_i", beat_bits(), "number of the beat in its packet");
    std::vector<NodeId> bytes;
    std::vector<NodeId> kept;    // 0 where there is none
    std::vector<NodeId> filled;  // 255 where there is none
    for (int b = 0; b < bytes_; ++b) {
      const NodeId here = g.replicate(g.bit(keep, b), 8);
      bytes.push_back(g.slice(data, 8 * b + 7, 8 * b));
      kept.push_back(g.and_(bytes.back(), here));
      filled.push_back(g.or_(bytes.back(), g.not_(here)));
    }
    std::vector<NodeId> sums;
    for (const auto& [low, high] : sums_) {
      if (low < 0) {
        std::vector<NodeId> wide;
        for (const NodeId byte : kept) wide.push_back(g.zext(byte, sum_bits()));
        sums.push_back(g.sum(wide));
        continue;
      }
      std::vector<NodeId> inside;
      for (int b = 0; b < bytes_; ++b) {
        std::vector<BitVec> entries;
        for (int v = 0; v < 256; ++v) entries.emplace_back(1, v >= low && v <= high ? 1 : 0);
        inside.push_back(g.and_(g.table(bytes[at(b)], entries), g.bit(keep, b)));
      }
      sums.push_back(g.zext(g.popcount(g.from_bits(inside)), sum_bits()));
    }
    if (sums.empty()) sums.push_back(g.constant(sum_bits(), 0));
    std::reverse(sums.begin(), sums.end());
    g.output("sum_o", sums.size() == 1 ? sums[0] : g.concat(sums), "numbers that add up");
    const auto tree = [&](std::vector<NodeId> values, bool least) {
      while (values.size() > 1) {
        std::vector<NodeId> next;
        for (std::size_t n = 0; n + 1 < values.size(); n += 2) {
          next.push_back(least ? g.umin(values[n], values[n + 1]) : g.umax(values[n], values[n + 1]));
        }
        values = std::move(next);
      }
      return values[0];
    };
    g.output("min_o", reads(Source::Kind::least) ? tree(filled, true) : g.constant(8, 255), "smallest byte");
    g.output("max_o", reads(Source::Kind::greatest) ? tree(kept, false) : g.constant(8, 0), "greatest byte");
    std::vector<NodeId> seen;
    for (const int b : seen_) {
      const NodeId here = g.eq(beat, g.constant(beat_bits(), static_cast<std::uint64_t>(b / bytes_)));
      seen.push_back(g.and_(bytes[at(b % bytes_)], g.replicate(here, 8)));
    }
    if (seen.empty()) seen.push_back(g.constant(8, 0));
    std::reverse(seen.begin(), seen.end());
    g.output("seen_o", seen.size() == 1 ? seen[0] : g.concat(seen), "bytes of certain beats");
    beat_latency_ = compile(g);
  }

  bool reads(Source::Kind kind) const {
    return std::any_of(i_.features.begin(), i_.features.end(), [&](const auto& s) { return s && s->kind == kind; });
  }

  int sum_lanes() const { return std::max(1, static_cast<int>(sums_.size())); }
  int seen_width() const { return 8 * std::max(1, static_cast<int>(seen_.size())); }

  void packet_model() {
    Graph g(i_.name + "_model", "class of a packet.");
    const NodeId sum = g.input("sum_i", sum_bits() * sum_lanes(), "sums over the packet");
    const NodeId least = g.input("min_i", 8, "smallest byte");
    const NodeId greatest = g.input("max_i", 8, "greatest byte");
    const NodeId seen = g.input("seen_i", seen_width(), "bytes of the payload that are read");
    const NodeId header = g.input("header_i", header_.width, "header fields");
    const auto lane = [&](std::pair<int, int> what, int bits) {
      const int index = static_cast<int>(std::distance(sums_.begin(), sums_.find(what)));
      return g.slice(sum, sum_bits() * index + bits - 1, sum_bits() * index);
    };
    const auto shorter = [&](int bytes) {  // the payload has fewer than `bytes` bytes
      const NodeId length = header_.slice(g, header, kLength);
      return g.ult(length, g.constant(g.width(length), static_cast<std::uint64_t>(bytes)));
    };
    std::vector<model::Operand> operands(i_.features.size());
    for (std::size_t f = 0; f < operands.size(); ++f) {
      if (!i_.features[f]) continue;
      const Source& source = *i_.features[f];
      switch (source.kind) {
        case Source::Kind::header:
          operands[f] = header_operand(g, header, source);
          break;
        case Source::Kind::word:
        case Source::Kind::bit:
          operands[f] = {word(g, source,
                              [&](int b) {
                                const int index = static_cast<int>(std::distance(seen_.begin(), seen_.find(b)));
                                return g.slice(seen, 8 * index + 7, 8 * index);
                              }),
                         shorter(source.end())};
          break;
        case Source::Kind::sum:
          operands[f] = {lane({-1, -1}, source.bits(i_.max_payload)), std::nullopt};
          break;
        case Source::Kind::count:
          operands[f] = {lane({source.low, source.high}, source.bits(i_.max_payload)), std::nullopt};
          break;
        case Source::Kind::least:
          operands[f] = {least, shorter(1)};
          break;
        case Source::Kind::greatest:
          operands[f] = {greatest, shorter(1)};
          break;
      }
    }
    g.output("class_o", model::lower(g, i_.model, operands), "class");
    model_latency_ = compile(g);
  }

  // ---- the stage ---------------------------------------------------------------------------------

  void stage_module() {
    const int classes = i_.model.classes;
    const int class_bits = model::class_bits(i_.model);
    // dpi_gate: a cycle to look_*, two of the class through its FIFO.
    out_.latency = (i_.chunk ? 1 + 1 + model_latency_ + 1 : 1 + beat_latency_ + 1 + model_latency_) + 2;
    const int depth = static_cast<int>(std::bit_ceil(static_cast<unsigned>(out_.latency + 6)));
    out_.stage = i_.name + "_stage";
    std::string actions;
    std::string tags;
    for (int c = classes; c-- > 0;) {
      actions += fmt::format("{}5'd{}", actions.empty() ? "" : ", ", i_.classes[at(c)].actions);
      tags += fmt::format("{}8'd{}", tags.empty() ? "" : ", ", i_.classes[at(c)].tag);
    }
    std::string header;
    for (const std::size_t field : header_.fields) {
      header = fmt::format("user.hdr.{}{}{}", header_fields()[field].member, header.empty() ? "" : ", ", header);
    }
    std::string text = fmt::format(
        "// {0}: judges received packets by a trained model and acts on what it finds.\n//\n"
        "// Streams, window and pulses: dpi_gate. A packet's last beat leaves {1} cycles behind its arrival;\n"
        "// a beat and a packet a cycle. Written by rocegen.\n"
        "// rocegen: comb none\n"
        "// rocegen: record s_pkt.tuser roce_pkg::svc_rx_t\n"
        "// rocegen: record m_pkt.tuser roce_pkg::svc_rx_t\n"
        "`default_nettype none\n\nmodule {0} #(\n  parameter int DataW = {2},\n  parameter int QpCount = 16,\n"
        "  parameter int Index = 0\n) (\n"
        "  input  logic                        clk,\n  input  logic                        rst,\n"
        "  output logic                        ready_o,\n",
        out_.stage, out_.latency, data_width_);
    for (const bool sink : {true, false}) {
      const char* in = sink ? "input " : "output";
      const char* p = sink ? "s" : "m";
      text += fmt::format(
          "  {0} logic                        {1}_pkt_tvalid,\n  {2} logic                        {1}_pkt_tready,\n"
          "  {0} logic [DataW-1:0]            {1}_pkt_tdata,\n  {0} logic [DataW/8-1:0]          {1}_pkt_tkeep,\n"
          "  {0} logic                        {1}_pkt_tlast,\n"
          "  {0} logic [roce_pkg::SvcRxW-1:0] {1}_pkt_tuser,\n",
          in, p, sink ? "output" : "input ");
    }
    text +=
        "  input  logic                        ctl_valid_i,\n  input  logic                        ctl_write_i,\n"
        "  input  logic [11:0]                 ctl_addr_i,\n  input  logic [31:0]                 ctl_wdata_i,\n"
        "  output logic                        ctl_ready_o,\n  output logic [31:0]                 ctl_rdata_o";
    const std::vector<std::string> pulses = {"judged", "tagged", "told", "dropped", "refused"};
    for (const std::string& pulse : pulses) {
      text += fmt::format(",\n  output logic                        cnt_{}_{}_o", i_.name, pulse);
    }
    text += fmt::format(
        "\n);\n\n  if (DataW != {0}) begin : gen_check_width\n    $fatal(1, \"{1}: written for DataW {0}\");\n  end\n\n"
        "  logic                        valid;\n  logic                        first;\n"
        "  logic                        last;\n  logic [DataW-1:0]            data;\n"
        "  logic [DataW/8-1:0]          keep;\n"
        "  /* verilator lint_off UNUSEDSIGNAL */\n"  // only some header fields are read
        "  roce_pkg::svc_rx_t           user;\n  /* verilator lint_on UNUSEDSIGNAL */\n"
        "  logic                        class_valid;\n  logic {2}class_out;\n  logic {3}header;\n\n"
        "  assign header = {{{4}}};\n\n",
        data_width_, out_.stage, range(class_bits), range(header_.width), header);
    text += fmt::format(
        "  dpi_gate #(\n    .DataW(DataW),\n    .QpCount(QpCount),\n    .Index(Index),\n    .Classes({}),\n"
        "    .ClassW({}),\n    .Depth({}),\n    .Actions({{{}}}),\n    .Tags({{{}}})\n  ) u_gate (\n",
        classes, class_bits, depth, actions, tags);
    for (const char* port : {"clk", "rst", "ready_o"}) text += fmt::format("    .{0}({0}),\n", port);
    for (const char* stream : {"s_pkt", "m_pkt"}) {
      for (const char* port : {"tvalid", "tready", "tdata", "tkeep", "tlast", "tuser"}) {
        text += fmt::format("    .{0}_{1}({0}_{1}),\n", stream, port);
      }
    }
    for (const char* port : {"valid", "first", "last", "data", "keep", "user"}) {
      text += fmt::format("    .look_{0}_o({0}),\n", port);
    }
    text += "    .class_valid_i(class_valid),\n    .class_i(class_out)";
    for (const char* port : {"valid_i", "write_i", "addr_i", "wdata_i", "ready_o", "rdata_o"}) {
      text += fmt::format(",\n    .ctl_{0}(ctl_{0})", port);
    }
    for (const std::string& pulse : pulses) text += fmt::format(",\n    .cnt_{1}_o(cnt_{0}_{1}_o)", i_.name, pulse);
    text += "\n  );\n\n";
    text += i_.chunk ? chunk_text(class_bits) : packet_text();
    text += "\n  logic unused_first;\n  assign unused_first = first;\n\nendmodule\n\n`default_nettype wire\n";
    out_.texts.push_back({out_.stage, text, 0, 0});
  }

  static std::string range(int width) { return width == 1 ? "" : fmt::format("[{}:0] ", width - 1); }

  std::string chunk_text(int class_bits) const {
    const int chunk_width = 8 * i_.chunk_bytes;
    const int lanes = std::max(1, data_width_ / chunk_width);
    std::string text = fmt::format(
        "  logic ends;\n  logic {0}chunk_valid;\n  logic {1}chunk;\n  logic {2}classes;\n  logic {3}header_q;\n\n"
        "  always_ff @(posedge clk) header_q <= header;\n\n"
        "  dpi_chunks #(\n    .DataW(DataW),\n    .ChunkW({4})\n  ) u_chunks (\n    .clk(clk),\n    .rst(rst),\n"
        "    .valid_i(valid),\n    .last_i(last),\n    .data_i(data),\n    .keep_i(keep),\n    .end_o(ends),\n"
        "    .chunk_valid_o(chunk_valid),\n    .chunk_o(chunk)\n  );\n\n",
        range(lanes), range(lanes * chunk_width), range(lanes * class_bits), range(header_.width), chunk_width);
    for (int lane = 0; lane < lanes; ++lane) {
      text += fmt::format(
          "  {0}_model u_model_{1} (\n    .clk(clk),\n    .ce_i(1'b1),\n    .chunk_i(chunk[{2}+:{3}]),\n"
          "    .header_i(header_q),\n    .class_o({4})\n  );\n\n",
          i_.name, lane, lane * chunk_width, chunk_width,
          lanes * class_bits == 1 ? "classes" : fmt::format("classes[{}+:{}]", lane * class_bits, class_bits));
    }
    return text +
           fmt::format(
               "  dpi_fold #(\n    .Lanes({}),\n    .ClassW({}),\n    .Latency({})\n  ) u_fold (\n    .clk(clk),\n"
               "    .rst(rst),\n    .chunk_valid_i(chunk_valid),\n    .end_i(ends),\n    .class_i(classes),\n"
               "    .class_valid_o(class_valid),\n    .class_o(class_out)\n  );\n",
               lanes, class_bits, model_latency_);
  }

  std::string packet_text() const {
    const int sums = sum_bits() * sum_lanes();
    std::string text = fmt::format(
        "  logic {0}beat;\n  logic {1}beat_sum;\n  logic [7:0] beat_min;\n  logic [7:0] beat_max;\n"
        "  logic {2}beat_seen;\n  logic packet_valid;\n  logic {1}sum;\n  logic [7:0] least;\n"
        "  logic [7:0] greatest;\n  logic {2}seen;\n  logic {3}packet_header;\n\n"
        "  {4}_beat u_beat (\n    .clk(clk),\n    .ce_i(1'b1),\n    .data_i(data),\n    .keep_i(keep),\n"
        "    .beat_i(beat),\n    .sum_o(beat_sum),\n    .min_o(beat_min),\n    .max_o(beat_max),\n"
        "    .seen_o(beat_seen)\n  );\n\n",
        range(beat_bits()), range(sums), range(seen_width()), range(header_.width), i_.name);
    text += fmt::format(
        "  dpi_packet #(\n    .Sums({}),\n    .SumW({}),\n    .SeenW({}),\n    .UserW({}),\n    .BeatW({}),\n"
        "    .Latency({})\n  ) u_packet (\n    .clk(clk),\n    .rst(rst),\n    .valid_i(valid),\n    .last_i(last),\n"
        "    .user_i(header),\n    .beat_o(beat),\n    .sum_i(beat_sum),\n    .min_i(beat_min),\n"
        "    .max_i(beat_max),\n    .seen_i(beat_seen),\n    .valid_o(packet_valid),\n    .sum_o(sum),\n"
        "    .min_o(least),\n    .max_o(greatest),\n    .seen_o(seen),\n    .user_o(packet_header)\n  );\n\n",
        sum_lanes(), sum_bits(), seen_width(), header_.width, beat_bits(), beat_latency_);
    text += fmt::format(
        "  {}_model u_model (\n    .clk(clk),\n    .ce_i(1'b1),\n    .sum_i(sum),\n    .min_i(least),\n"
        "    .max_i(greatest),\n    .seen_i(seen),\n    .header_i(packet_header),\n    .class_o(class_out)\n  );\n\n",
        i_.name);
    if (model_latency_ == 0) return text + "  assign class_valid = packet_valid;\n";
    text += fmt::format("  logic {}wait_q;\n\n  always_ff @(posedge clk) ", range(model_latency_));
    text += model_latency_ == 1
                ? "wait_q <= rst ? '0 : packet_valid;\n"
                : fmt::format("wait_q <= rst ? '0 : {{wait_q[{}:0], packet_valid}};\n", model_latency_ - 2);
    return text + fmt::format("  assign class_valid = wait_q{};\n",
                              model_latency_ == 1 ? "" : fmt::format("[{}]", model_latency_ - 1));
  }

  const Inspection& i_;
  int data_width_;
  int bytes_;
  dataflow::Options options_;
  HeaderLayout header_;
  std::set<std::pair<int, int>> sums_;  ///< ranges that are counted; (-1, -1) the sum itself
  std::set<int> seen_;                  ///< bytes of the payload that are read
  int beat_latency_ = 0;
  int model_latency_ = 0;
  InspectionModules out_;
};

}  // namespace

InspectionModules compile_inspection(const Inspection& inspection, int data_width, int level_budget) {
  return Compiler(inspection, data_width, level_budget).run();
}

}  // namespace rocegen::services
