#include "generator/services/dpi/dpi.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "generator/model/lower.h"
#include "generator/spec/spec.h"

using namespace rocegen;
using namespace rocegen::services;

namespace {

/// A specification beside the models of tests/specs with one entry of type dpi.
std::optional<spec::StackSpec> read(const std::string& entry, spec::Diagnostics& diagnostics) {
  const std::string text =
      "{\"name\": \"t\", \"mtu\": 1024, \"qp_count\": 4,\n\"services\": [\n{\"type\": \"dpi\", \"name\": \"look\",\n" +
      entry + "}]}";
  return spec::read_spec_text(ROCEGEN_SOURCE_DIR "/tests/specs/t.json", text, diagnostics);
}

const std::string kModel = "\"model\": \"models/marker.json\"";
const std::string kFeatures = "\"features\": {\"first\": \"payload.u8[0]\", \"length\": \"header.length\"}";
const std::string kClasses = "\"classes\": [{\"class\": 1, \"actions\": [\"tag\"], \"tag\": 5}]";

}  // namespace

TEST_CASE("dpi: an entry is read with its model") {
  spec::Diagnostics diagnostics;
  const auto spec = read(kModel + ",\n" + kFeatures + ",\n" + kClasses, diagnostics);
  INFO(spec::render(diagnostics));
  REQUIRE(spec);
  const auto inspection = read_inspection(*spec, 0, diagnostics);
  REQUIRE(inspection);
  CHECK(inspection->name == "look");
  CHECK(inspection->model.classes == 6);
  REQUIRE(inspection->features.size() == 2);
  CHECK(inspection->features[0]->kind == Source::Kind::word);
  CHECK(inspection->features[1]->kind == Source::Kind::header);
  CHECK(inspection->classes[1].actions == 1);
  CHECK(inspection->classes[1].tag == 5);
  CHECK(inspection->classes[2].actions == 0);
  const auto modules = compile_inspection(*inspection, 128, 8);
  REQUIRE(modules.texts.size() == 3);
  CHECK(modules.stage == "look_stage");
  CHECK(modules.texts.back().name == modules.stage);
  CHECK(compile_inspection(*inspection, 128, 8).texts.back().text == modules.texts.back().text);
}

TEST_CASE("dpi: each bad entry has its diagnostic, at its place") {
  struct Row {
    const char* code;
    const char* pointer;
    std::string entry;
  };
  const auto features = [](const std::string& f) { return kModel + ", \"features\": " + f + ", " + kClasses; };
  const auto classes = [](const std::string& c) { return kModel + ", " + kFeatures + ", \"classes\": " + c; };
  const std::string good = kModel + ", " + kFeatures + ", " + kClasses;
  const std::vector<Row> rows = {
      {"E0531", "/services/0/features/0", features("[\"payload.u8\", \"header.length\"]")},
      {"E0531", "/services/0/features/1", features("[\"payload.u8[0]\", \"header.lenght\"]")},
      {"E0531", "/services/0/features/1", features("[\"payload.u8[0]\", 7]")},
      {"E0531", "/services/0/features/0", features("[\"chunk.u8[0]\", \"header.length\"]")},
      {"E0531", "/services/0/features/0", features("[\"bytes.count[9..3]\", \"header.length\"]")},
      {"E0531", "/services/0/features/0", features("[\"bytes.count[0..256]\", \"header.length\"]")},
      {"E0531", "/services/0/features/0", features("[\"payload.u16be[0..3]\"]")},
      {"E0531", "/services/0/features", features("7")},
      {"E0531", "/services/0/features/0", features("[\"bytes.sum\", \"header.length\"]") + ", \"unit\": \"chunk\""},
      {"E0532", "/services/0/features", features("[\"payload.u8[0]\"]")},
      {"E0532", "/services/0/features", features("[\"payload.u8[0..2]\"]")},
      {"E0532", "/services/0/features", features("{\"first\": \"payload.u8[0]\"}")},
      {"E0532", "/services/0/features/frist",
       features("{\"frist\": \"payload.u8[0]\", \"length\": \"header.length\"}")},
      {"E0532", "/services/0/features/first",
       features("{\"first\": \"payload.u16be[0]\", \"length\": \"header.length\"}")},
      {"E0532", "/services/0/features/first",
       features("{\"first\": \"payload.u8[0..1]\", \"length\": \"header.length\"}")},
      {"E0532", "/services/0", kModel + ", " + kClasses},
      {"E0533", "/services/0/features/0", features("[\"payload.u8[1024]\", \"header.length\"]")},
      {"E0533", "/services/0/features/0",
       features("[\"chunk.u8[8]\", \"header.length\"]") + ", \"unit\": \"chunk\", \"chunk_bytes\": 8"},
      {"E0534", "/services/0/classes/0/class", classes("[{\"class\": 6, \"actions\": [\"count\"]}]")},
      {"E0534", "/services/0/classes/1/class",
       classes("[{\"class\": 1, \"actions\": [\"count\"]}, {\"class\": 1, \"actions\": [\"drop\"]}]")},
      {"E0534", "/services/0/classes/0", classes("[{\"class\": 1, \"actions\": [\"tag\"]}]")},
      {"E0534", "/services/0/classes/0", classes("[{\"class\": 1, \"actions\": [\"count\"], \"tag\": 3}]")},
      {"E0534", "/services/0/classes/0/actions", classes("[{\"class\": 1, \"actions\": [\"drop\", \"refuse\"]}]")},
      {"E0535", "/services/0/thresholds", good + ", \"thresholds\": [0]"},
  };
  for (const Row& row : rows) {
    spec::Diagnostics diagnostics;
    CHECK_FALSE(read(row.entry, diagnostics));
    INFO(row.entry);
    INFO(spec::render(diagnostics));
    REQUIRE(!diagnostics.empty());
    const auto& all = diagnostics.all();
    const auto it = std::find_if(all.begin(), all.end(), [&](const spec::Diagnostic& d) {
      return d.code == row.code && d.place.pointer == row.pointer && d.place.line > 0;
    });
    const bool found = it != all.end();
    CHECK(found);
  }
}

TEST_CASE("dpi: a model that is not there, or is none") {
  spec::Diagnostics diagnostics;
  CHECK_FALSE(read("\"model\": \"models/none.json\", " + kFeatures + ", " + kClasses, diagnostics));
  REQUIRE(!diagnostics.empty());
  spec::Diagnostics other;
  CHECK_FALSE(read("\"model\": \"dpi.json\", " + kFeatures + ", " + kClasses, other));
  REQUIRE(!other.empty());
  CHECK(other.all()[0].code == "E0520");
}

TEST_CASE("dpi: values of sources by their definition") {
  std::vector<std::uint8_t> payload(100);
  std::iota(payload.begin(), payload.end(), std::uint8_t{10});
  PacketView packet;
  packet.payload = payload;
  packet.opcode = 0x0A;
  for (std::size_t f = 0; f < header_fields().size(); ++f) packet.header.push_back(1000 + f);
  const auto value = [&](const char* text) {
    std::string fault;
    const auto all = parse_sources(text, false, fault);
    REQUIRE(all);
    REQUIRE(all->size() == 1);
    return value_of(all->front(), packet);
  };
  CHECK(value("payload.u8[3]") == 13);
  CHECK(value("payload.u16be[0]") == 0x0A0B);
  CHECK(value("payload.u16le[0]") == 0x0B0A);
  CHECK(value("payload.u24be[1]") == 0x0B0C0D);
  CHECK(value("payload.u32le[96]") == 0x6D6C6B6A);
  CHECK_FALSE(value("payload.u32le[97]"));
  CHECK(value("payload.bit[4]") == 1);  // 0x0A = 00001010
  CHECK(value("payload.bit[7]") == 0);
  CHECK(value("bytes.sum") == 100 * 10 + 99 * 50);
  CHECK(value("bytes.min") == 10);
  CHECK(value("bytes.max") == 109);
  CHECK(value("bytes.count[0x20..0x7e]") == 78);
  CHECK(value("bytes.count[109]") == 1);
  CHECK(value("header.length") == 1000);
  CHECK(value("header.dma_len") == 1011);
  CHECK_FALSE(value("header.imm"));
  packet.opcode = 0x0B;
  CHECK(value("header.imm") == 1012);
  packet.payload = {};
  CHECK_FALSE(value("bytes.min"));
  CHECK(value("bytes.sum") == 0);
  std::string fault;
  const Source sum = parse_sources("bytes.sum", false, fault)->front();
  for (const int longest : {256, 4096, 4112, 4113, 4608}) CHECK(255 * longest < 1 << sum.bits(longest));
  CHECK(sum.bits(4112) == 20);
  CHECK(sum.bits(4113) == 21);
  CHECK(parse_sources("payload.u16be[0..30]", false, fault)->size() == 16);
  CHECK(parse_sources("chunk.bit[0..511]", true, fault)->size() == 512);
}
