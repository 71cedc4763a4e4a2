// Writes the stage of an inspection, as the generator compiles it, and packets with the class that each has by the
// definitions (value_of, model::decide), which the bench dpi_stage.cpp holds it to.
//
//   dpi_gen FOLDER NAME KIND DATA_WIDTH SEED
//
// KIND: network (512 bits of a chunk through ternary layers), chunk (trees over bytes of 16-byte chunks and the
// opcode), packet (trees over words, header fields and statistics of the packet), categories (XGBoost JSON with missing
// values).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "generator/model/read.h"
#include "generator/services/dpi/inspect.h"

using namespace rocegen;
using services::Inspection;
using services::Source;

namespace {

model::Model read(const std::string& text) {
  spec::Diagnostics diagnostics;
  auto model = model::read_model_text("model", text, diagnostics);
  if (!model || (!model->network() && !model::fix_point(*model))) {
    fmt::print(stderr, "{}", spec::render(diagnostics));
    std::exit(1);
  }
  return *model;
}

std::vector<std::optional<Source>> sources(std::initializer_list<const char*> texts, bool chunk) {
  std::vector<std::optional<Source>> all;
  for (const char* text : texts) {
    std::string fault;
    const auto some = services::parse_sources(text, chunk, fault);
    if (!some) {
      fmt::print(stderr, "{}: {}\n", text, fault);
      std::exit(1);
    }
    all.insert(all.end(), some->begin(), some->end());
  }
  return all;
}

/// 512-8-6-1, ternary but for the last layer, by a seed.
std::string network(std::mt19937_64& rng) {
  const auto row = [&](int inputs) {
    std::string r = "\"";
    for (int i = 0; i < inputs; ++i) r += "+-0"[rng() % 3];
    return r + "\"";
  };
  const auto layer = [&](int inputs, int outputs, int scale) {
    std::string rows;
    for (int o = 0; o < outputs; ++o) rows += (o > 0 ? "," : "") + row(inputs);
    return fmt::format(
        R"({{"weights": [{}], "scale": {}, "activation": {{"type": "relu", "bits": 3, "fraction_bits": 3,
        "rounding": "half_even", "overflow": "saturate"}}}})",
        rows, scale);
  };
  return fmt::format(R"({{"format": "rocegen-model", "features": {{"count": 512, "bits": 1}}, "layers": [{}, {},
    {{"weights": [[3, -5, 7, -2, 4, -6]], "bias": [1]}}], "thresholds": [0, 1, 2]}})",
                     layer(512, 8, -5), layer(8, 6, -1));
}

constexpr const char* kChunkTrees = R"({"format": "rocegen-model", "features": [{"name": "a", "bits": 8},
  {"name": "b", "bits": 16}, {"name": "opcode", "bits": 8}, {"name": "bit", "bits": 1}], "scores": 3, "trees": [
  {"score": 0, "nodes": [{"feature": "a", "less": 128, "left": 1, "right": 2}, {"leaf": 5}, {"leaf": 1}]},
  {"score": 1, "nodes": [{"feature": "b", "less": 24000, "left": 1, "right": 2}, {"leaf": 6},
    {"feature": "opcode", "in": [6, 7, 8, 10, 14], "left": 3, "right": 4}, {"leaf": 3}, {"leaf": 0}]},
  {"score": 2, "nodes": [{"feature": "bit", "less": 1, "left": 1, "right": 2}, {"leaf": 2},
    {"feature": "a", "at_most": 200, "left": 3, "right": 4}, {"leaf": 4}, {"leaf": 7}]}]})";

constexpr const char* kPacketTrees = R"({"format": "rocegen-model", "features": [{"name": "length", "bits": 14},
  {"name": "psn", "bits": 24}, {"name": "dma_len", "bits": 32}, {"name": "first", "bits": 8}, {"name": "far", "bits": 32},
  {"name": "sum", "bits": 21}, {"name": "min", "bits": 8}, {"name": "max", "bits": 8}, {"name": "text", "bits": 13},
  {"name": "zeros", "bits": 13}, {"name": "last", "bits": 16}], "thresholds": [0, 3], "trees": [
  {"nodes": [{"feature": "length", "less": 100, "left": 1, "right": 2},
    {"feature": "min", "less": 32, "left": 3, "right": 4, "missing": "right"},
    {"feature": "sum", "less": 12000, "left": 5, "right": 6}, {"leaf": -1}, {"leaf": 1}, {"leaf": 1}, {"leaf": 0}]},
  {"nodes": [{"feature": "text", "less": 40, "left": 1, "right": 2},
    {"feature": "zeros", "less": 3, "left": 3, "right": 4},
    {"feature": "max", "at_most": 127, "left": 5, "right": 6, "missing": "left"}, {"leaf": 0}, {"leaf": 1}, {"leaf": 2},
    {"leaf": -1}]},
  {"nodes": [{"feature": "far", "less": 2147483648, "left": 1, "right": 2, "missing": "right"}, {"leaf": 1}, {"leaf": -1}]},
  {"nodes": [{"feature": "dma_len", "less": 4096, "left": 1, "right": 2, "missing": "right"},
    {"feature": "first", "in": [0, 69, 255], "left": 3, "right": 4}, {"leaf": 0}, {"leaf": 2}, {"leaf": -1}]},
  {"nodes": [{"feature": "last", "less": 20000, "left": 1, "right": 2, "missing": "left"},
    {"feature": "psn", "less": 8388608, "left": 3, "right": 4}, {"leaf": -1}, {"leaf": 1}, {"leaf": 0}]}]})";

constexpr const char* kCategories = R"({"learner":{"objective":{"name":"binary:logistic"},
"learner_model_param":{"base_score":"4E-1","num_class":"0","num_feature":"3"},
"gradient_booster":{"name":"gbtree","model":{"tree_info":[0,0],"trees":[
{"left_children":[1,-1,3,-1,-1],"right_children":[2,-1,4,-1,-1],"split_indices":[0,0,1,0,0],
"split_conditions":[0.0,0.71,96.5,-0.33,0.45],"default_left":[1,0,0,0,0],"split_type":[1,0,0,0,0],
"categories":[4,10,14,16],"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[4]},
{"left_children":[1,-1,-1],"right_children":[2,-1,-1],"split_indices":[2,0,0],
"split_conditions":[1000.0,-0.61,0.27],"default_left":[0,0,0],"split_type":[0,0,0]}]}}}})";

std::vector<std::uint8_t> payload(std::mt19937_64& rng, std::size_t bytes) {
  std::vector<std::uint8_t> p(bytes);
  const auto kind = rng() % 5;
  for (auto& b : p) {
    const auto r = static_cast<std::uint8_t>(rng() >> 40U);
    b = kind == 0   ? r
        : kind == 1 ? static_cast<std::uint8_t>(32 + r % 95)
        : kind == 2 ? 0
        : kind == 3 ? 255
                    : r & (r >> 3);
  }
  return p;
}

Inspection inspection(const std::string& kind, std::mt19937_64& rng) {
  Inspection i;
  i.name = "dut";
  if (kind == "network") {
    i.model = read(network(rng));
    i.chunk = true;
    i.features = sources({"chunk.bit[0..511]"}, true);
    // Thresholds between scores that occur, so that every class does.
    std::set<double> scores;
    for (int n = 0; n < 200; ++n) {
      const auto chunk = payload(rng, 64);
      services::PacketView view;
      view.payload = chunk;
      model::Sample sample;
      for (const auto& source : i.features) sample.push_back(services::value_of(*source, view));
      scores.insert(static_cast<double>(model::scores(i.model, sample)[0]));
    }
    const auto rank = [&](std::size_t part) {
      return *std::next(scores.begin(), static_cast<std::ptrdiff_t>(scores.size() * part / 4));
    };
    i.model.thresholds = {rank(1), rank(2), rank(3)};
  } else if (kind == "chunk") {
    i.model = read(kChunkTrees);
    i.chunk = true;
    i.chunk_bytes = 16;
    i.features = sources({"chunk.u8[0]", "chunk.u16be[9]", "header.opcode", "chunk.bit[127]"}, true);
  } else if (kind == "packet") {
    i.model = read(kPacketTrees);
    i.max_payload = 4608;  // with the trailers of eight services
    i.features =
        sources({"header.length", "header.psn", "header.dma_len", "payload.u8[0]", "payload.u32le[70]", "bytes.sum",
                 "bytes.min", "bytes.max", "bytes.count[0x20..0x7e]", "bytes.count[0]", "payload.u16be[254]"},
                false);
  } else {
    i.model = read(kCategories);
    i.features = sources({"header.opcode", "payload.u8[3]", "header.imm"}, false);
  }
  // Every class has actions of its own; class 0 only counts.
  for (int c = 0; c < i.model.classes; ++c) {
    const int actions = c == 0 ? 2 : c == 1 ? 1 + 2 + 4 : c == 2 ? 2 + 8 : 1 + 16;
    i.classes.push_back({actions, (actions & 1) != 0 ? 1 << c : 0});
  }
  return i;
}

int run(char** argv) {
  const std::filesystem::path folder = argv[1];
  const std::string name = argv[2];
  const std::string kind = argv[3];
  const int width = std::atoi(argv[4]);
  std::mt19937_64 rng(static_cast<std::uint64_t>(std::atoi(argv[5])));
  const Inspection i = inspection(kind, rng);
  const auto modules = services::compile_inspection(i, width, 8);
  std::filesystem::create_directories(folder);
  for (const auto& m : modules.texts) std::ofstream(folder / (m.name + ".sv")) << m.text;

  std::ofstream out(folder / (name + ".txt"));
  out << fmt::format("{} {}\n", i.model.classes, modules.latency);
  for (const auto& c : i.classes) out << fmt::format("{} {}\n", c.actions, c.tag);
  constexpr std::uint8_t kOpcodes[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B,
                                       0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17};
  std::vector<int> seen(static_cast<std::size_t>(i.model.classes));
  for (int n = 0; n < 900; ++n) {
    const std::uint8_t opcode = kOpcodes[rng() % std::size(kOpcodes)];
    std::size_t bytes = rng() % 3 == 0 ? rng() % 20 : rng() % 2 == 0 ? rng() % 300 : 64 * (rng() % 6);
    if (opcode == 0x0C || opcode == 0x11) bytes = 0;
    if (opcode == 0x12) bytes = 8;
    if (opcode == 0x13 || opcode == 0x14) bytes = 16;
    auto p = payload(rng, bytes);
    if (kind == "packet" && opcode < 0x0C && n % 3 == 0 && rng() % 8 == 0) {
      bytes = 4113;  // their sum is beyond 2^20 by less than a threshold of the model
      p.assign(bytes, 255);
    }
    services::PacketView view;
    view.opcode = opcode;
    view.payload = p;
    for (const auto& field : services::header_fields()) {
      view.header.push_back(rng() >> (64U - static_cast<unsigned>(field.bits)));
      if (field.word == "length") view.header.back() = bytes;
      if (field.word == "opcode") view.header.back() = opcode;
      if (field.word == "qpn") view.header.back() %= 11;
      if (field.word == "dma_len" && rng() % 2 == 0) view.header.back() %= 5000;
      if (field.word == "imm" && rng() % 2 == 0) view.header.back() %= 2000;
    }
    const auto judge = [&](std::span<const std::uint8_t> bytes_seen) {
      services::PacketView part = view;
      part.payload = bytes_seen;
      model::Sample sample(i.features.size());
      for (std::size_t f = 0; f < sample.size(); ++f) sample[f] = services::value_of(*i.features[f], part);
      return model::decide(i.model, sample);
    };
    int expected = i.chunk ? 0 : judge(p);
    if (i.chunk) {
      const auto size = static_cast<std::size_t>(i.chunk_bytes);
      for (std::size_t at = 0; at + size <= p.size(); at += size) {
        expected = std::max(expected, judge(std::span(p).subspan(at, size)));
      }
    }
    ++seen[static_cast<std::size_t>(expected)];
    out << fmt::format("{} {} {}", expected, rng() % 5 != 0 ? 1 : 0, fmt::join(view.header, " "));
    std::string hex = " -";
    for (const std::uint8_t b : p) hex += fmt::format("{:02x}", b);
    out << hex << '\n';
  }
  for (const int count : seen) {
    if (count >= 5) continue;
    fmt::print(stderr, "dpi_gen: classes {} of {} {}: a class hardly occurs\n", fmt::join(seen, ", "), kind, width);
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: dpi_gen FOLDER NAME KIND DATA_WIDTH SEED\n");
    return 2;
  }
  return run(argv);
}
