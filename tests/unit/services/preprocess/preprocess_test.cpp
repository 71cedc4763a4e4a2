// The operators, layouts and graphs of the preprocess service against sim/model/preprocess, which shares nothing with
// them, and against published values.
#include "sim/model/preprocess.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "generator/dataflow/evaluate.h"
#include "generator/dataflow/passes.h"
#include "generator/services/preprocess/logarithm.h"
#include "generator/services/preprocess/rows.h"
#include "generator/services/preprocess/table.h"
#include "generator/spec/locator.h"
#include "tests/unit/services/preprocess/layouts.h"

using namespace rocegen::preprocess;
using rocegen::dataflow::BitVec;
using rocegen::sim::RowModel;
using sample::Json;
namespace dataflow = rocegen::dataflow;
namespace spec = rocegen::spec;

namespace {

std::uint32_t run(const dataflow::Graph& graph, std::uint32_t word) {
  return static_cast<std::uint32_t>(dataflow::evaluate(graph, std::array{BitVec(32, word)})[0].low64());
}

/// The graph of one column with these operators.
dataflow::Graph column(const std::string& kind, const Json& operators) {
  return column_graph(sample::layout_of({{"columns", {kind}}, {"operators", {{kind, operators}}}}).columns[0]);
}

struct LogError {
  double ulps = 0;  // before it was rounded
  std::int64_t worst = 0;
  std::uint64_t off = 0;  // results that are not the correctly rounded one, but a neighbour
  std::uint64_t bad = 0;  // more than one ulp
};

void try_log(std::int64_t t, double exact, LogError& error) {
  const auto nearest = static_cast<float>(exact);
  const std::uint32_t bits = log_bits(t);
  const auto distance =
      static_cast<std::int64_t>(bits) - static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(nearest));
  error.off += distance != 0 ? 1 : 0;
  error.bad += distance > 1 || distance < -1 ? 1 : 0;
  if (t == 1) return;
  const double ulps =
      std::fabs(static_cast<double>(std::bit_cast<float>(bits)) - exact) / std::ldexp(1.0, std::ilogb(nearest) - 23);
  if (ulps > error.ulps) error.ulps = ulps, error.worst = t;
}

/// Whether this is a run of `./check --long`, which sets ROCEGEN_LONG to ON (`./check` sets OFF); never under sanitizers, where
/// it would take hours.
bool long_run() {
#ifdef __SANITIZE_ADDRESS__
  return false;
#else
  const char* const text = std::getenv("ROCEGEN_LONG");
  return text != nullptr && std::string_view(text) == "ON";
#endif
}

}  // namespace

TEST_CASE("preprocess: sigrid_hash gives TorchArrow's published values") {
  constexpr std::array kOut = {60, 54, 54, 9, 4, 91, 11, 67, 79, 2, 25, 92, 98, 83, 66, 2};
  const auto graph = column("sparse", {{{"sigrid_hash", {{"salt", 0}, {"max", 100}}}}});
  for (std::uint32_t x = 1; x <= kOut.size(); ++x) {
    CHECK(rocegen::sim::sigrid_hash(x, 0, 100) == kOut[x - 1]);
    CHECK(run(graph, x) == static_cast<std::uint32_t>(kOut[x - 1]));
  }
}

TEST_CASE("preprocess: bucketize gives TorchArrow's published values") {
  struct Row {
    Json borders;
    std::vector<std::uint32_t> in, out;
  };
  const std::vector<Row> rows = {{{0, 2, 3, 5, 500, 1000}, {1, 2, 3, 4, 5, 6}, {1, 1, 2, 3, 3, 4}},
                                 {{1, 10, 100}, {1, 2, 150, 10, 200}, {0, 1, 3, 1, 3}},
                                 {{2, 5, 10}, {1, 2, 3, 5, 8, 10, 11}, {0, 0, 1, 1, 2, 2, 3}},
                                 {{1, 2, 2, 3, 3}, {1, 2, 3, 4}, {0, 1, 3, 5}},
                                 {{-1.5, -1, 2.5}, {0, 2, 3, 0xffffffff, 0xfffffffe}, {2, 2, 3, 1, 0}}};
  for (const Row& row : rows) {
    const auto graph = column("dense", {{{"bucketize", row.borders}}});
    for (std::size_t i = 0; i < row.in.size(); ++i) CHECK(run(graph, row.in[i]) == row.out[i]);
  }
}

TEST_CASE("preprocess: the rows of the Criteo sample give the golden values") {
  const std::filesystem::path folder = ROCEGEN_SOURCE_DIR "/../shared/vectors/criteo";
  std::ifstream rows(folder / "criteo_sample_200.csv");
  std::ifstream golden(folder / "criteo_golden_dlrm.csv");
  if (!rows || !golden) {
    MESSAGE("skipped: ../shared/vectors/criteo is not there");
    return;
  }
  const auto log1p = column("dense", {{{"fill_null", {{"null", "0x80000000"}}}}, "neg2zero", "log1p"});
  const auto mod1024 = column("sparse", {{{"modulus", 1024}}});
  const auto mod8192 = column("sparse", {{{"modulus", 8192}}});
  const auto hash = column("sparse", {{{"sigrid_hash", {{"salt", 0}, {"max", 8192}}}}});
  const auto next = [](std::ifstream& file) {
    std::string line;
    do {
      if (!std::getline(file, line)) return std::string();
    } while (line.starts_with('#') || line.starts_with("label"));
    return line;
  };
  int count = 0;
  int off = 0;
  for (std::string row = next(rows), want = next(golden); !row.empty(); row = next(rows), want = next(golden)) {
    ++count;
    std::vector<std::string> cells;
    std::istringstream split(row + ",");
    for (std::string cell; std::getline(split, cell, ',');) cells.push_back(cell);
    cells.resize(40);
    std::istringstream words(want);
    std::string bar;
    for (std::size_t i = 1; i <= 13; ++i) {
      std::string bits;
      words >> bits;
      const std::uint32_t word =
          cells[i].empty() ? 0x80000000 : static_cast<std::uint32_t>(static_cast<std::int32_t>(std::stod(cells[i])));
      const auto found = static_cast<std::int64_t>(run(log1p, word));
      const std::int64_t right = std::stoll(bits, nullptr, 16);
      off += found != right ? 1 : 0;
      CHECK(std::abs(found - right) <= 1);
    }
    for (const auto* graph : {&mod1024, &mod8192, &hash}) {
      words >> bar;
      CHECK(bar == "|");
      for (std::size_t i = 14; i < 40; ++i) {
        std::uint32_t right = 0;
        words >> right;
        const std::uint32_t id = cells[i].empty() ? 0 : static_cast<std::uint32_t>(std::stoull(cells[i], nullptr, 16));
        CHECK(run(*graph, id) == right);
      }
    }
  }
  CHECK(count == 200);
  MESSAGE("logarithms one ulp off: " << off << " of " << count * 13);
}

TEST_CASE("preprocess: logarithms are within one ulp of the correctly rounded ones") {
  LogError error;
  for (std::int64_t t = 1; t < 300'000; ++t) try_log(t, std::log(static_cast<double>(t)), error);
  std::mt19937_64 rng(1);
  for (int i = 0; i < 500'000; ++i) {
    const auto t = static_cast<std::int64_t>(rng() >> (31 + rng() % 32)) | 1;
    try_log(t, std::log(static_cast<double>(t)), error);
  }
  for (int e = 1; e < 33; ++e)
    for (std::int64_t d = -40; d <= 40; ++d)
      if ((std::int64_t{1} << e) + d > 0)
        try_log((std::int64_t{1} << e) + d, std::log(std::ldexp(1.0, e) + static_cast<double>(d)), error);
  CHECK(error.bad == 0);
  CHECK(error.ulps < 0.55);
  CHECK(log_bits(1) == 0);
  CHECK(log_bits(0) == 0xff800000);
  CHECK(log_bits(-5) == 0x7fc00000);
  MESSAGE("worst " << error.ulps << " ulp, of " << error.worst << "; not the nearest: " << error.off);
}

// Also against DLRM's order: float32(x) first, then + 1, then the logarithm. Four billion logarithms: a quarter of an hour.
TEST_CASE("preprocess: logarithms of every positive int32" * doctest::skip(!long_run())) {
  const unsigned workers = std::max(1U, std::thread::hardware_concurrency());
  std::vector<LogError> plain(workers), dlrm(workers);
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] {
      for (std::int64_t t = 1 + w; t <= (std::int64_t{1} << 31); t += workers) {
        try_log(t, std::log(static_cast<double>(t)), plain[w]);
        if (t < 1 << 24) continue;  // the same
        const float moved = static_cast<float>(t - 1) + 1.0F;
        try_log(t, std::log(static_cast<double>(moved)), dlrm[w]);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto* list : {&plain, &dlrm}) {
    LogError all;
    for (const LogError& e : *list) {
      CHECK(e.bad == 0);
      if (e.ulps > all.ulps) all.ulps = e.ulps, all.worst = e.worst;
      all.off += e.off;
    }
    MESSAGE((list == &plain ? "ln(x + 1): " : "as DLRM: ")
            << "worst " << all.ulps << " ulp, of " << all.worst << "; not the nearest: " << all.off);
  }
}

TEST_CASE("preprocess: the graph of the logarithm gives the bits of log_bits") {
  for (const int width : {3, 8, 25, 26, 32, 33}) {
    for (const bool is_signed : {false, true}) {
      dataflow::Graph g("g");
      dataflow::Typed t(g);
      const dataflow::Type type{width + (is_signed ? 1 : 0), is_signed};
      g.output("y_o", build_log(t, {g.input("x_i", type.width), type}).node);
      const auto optimised = dataflow::optimise(g);
      std::mt19937_64 rng(2);
      for (int i = 0; i < 400; ++i) {
        const std::uint64_t bits = i < 8
                                       ? static_cast<std::uint64_t>(i)
                                       : rng() >> (64 - width + static_cast<int>(rng() % static_cast<unsigned>(width)));
        const std::int64_t x =
            is_signed && i % 7 == 6 ? -static_cast<std::int64_t>(bits) : static_cast<std::int64_t>(bits);
        const BitVec in(type.width, static_cast<std::uint64_t>(x));
        CHECK(dataflow::evaluate(g, std::array{in})[0].low64() == log_bits(x));
        CHECK(dataflow::evaluate(optimised, std::array{in})[0].low64() == log_bits(x));
      }
    }
  }
}

TEST_CASE("preprocess: random operators on random and corner words") {
  sample::RandomLayouts random(11);
  for (int n = 0; n < 150; ++n) {
    const std::string kind = std::array{"label", "dense", "sparse"}[random.below(3)];
    const Json entry = {{"columns", {kind}}, {"operators", {{kind, random.operators(kind, true)}}}};
    CAPTURE(entry.dump());
    const Layout layout = sample::layout_of(entry);
    const RowModel model(entry);
    const auto graph = column_graph(layout.columns[0]);
    const auto optimised = dataflow::optimise(graph);
    CHECK(layout.columns[0].bytes == model.columns()[0].bytes);
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t word = random.word();
      const std::uint32_t found = run(i % 2 == 0 ? graph : optimised, word);
      CAPTURE(word);
      CAPTURE(found);
      CAPTURE(model.value(0, word));
      CHECK(model.accepts(0, word, found));
    }
  }
}

TEST_CASE("preprocess: beats of random layouts, lane by lane, packed") {
  sample::RandomLayouts random(5);
  for (int n = 0; n < 40; ++n) {
    const int width = 64 << random.below(5);
    const Json entry = random.entry(width / 32, 1 + static_cast<int>(random.below(20)));
    CAPTURE(width);
    CAPTURE(entry.dump());
    const Layout layout = sample::layout_of(entry);
    const Geometry geo(layout, width);
    const RowModel model(entry);
    std::vector<dataflow::Graph> lanes;
    std::vector<bool> some;
    for (int k = 0; k < geo.group; ++k) {
      some.push_back(false);
      for (int s = 0; s < geo.phases; ++s)
        some.back() = some.back() || layout.columns[static_cast<std::size_t>(s * geo.group + k)].bytes > 0;
      lanes.push_back(some.back() ? lane_graph(layout, geo, k, "lane") : dataflow::Graph("none"));
    }
    const auto pack = dataflow::optimise(pack_graph(layout, geo));
    std::vector<std::uint8_t> message(4 * (1 + random.below(static_cast<std::uint64_t>(3 * (geo.lanes + geo.row)))));
    for (std::size_t i = 0; i < message.size(); i += 4) {
      const std::uint32_t word = random.word();
      for (int b = 0; b < 4; ++b) message[i + static_cast<std::size_t>(b)] = static_cast<std::uint8_t>(word >> (8 * b));
    }
    std::vector<std::uint8_t> out;
    int phase = 0;
    for (std::size_t at = 0; at < message.size(); at += static_cast<std::size_t>(geo.lanes) * 4) {
      const auto words = std::min(static_cast<std::size_t>(geo.lanes), (message.size() - at) / 4);
      BitVec beat(geo.lanes * 32);
      for (int lane = 0; lane < geo.lanes; ++lane) {
        const auto k = static_cast<std::size_t>(lane % geo.group);
        std::uint32_t word = 0xdeadbeef;  // whatever stands behind the end
        for (std::size_t b = 0; static_cast<std::size_t>(lane) < words && b < 4; ++b)
          word = word >> 8 | std::uint32_t{message[at + static_cast<std::size_t>(lane) * 4 + b]} << 24;
        if (!some[k]) continue;
        std::vector<BitVec> in = {BitVec(32, word)};
        if (geo.phases > 1)
          in.emplace_back(geo.phase_bits, static_cast<std::uint64_t>((phase + lane / geo.group) % geo.phases));
        beat.insert(lane * 32, dataflow::evaluate(lanes[k], in)[0]);
      }
      const auto packed = dataflow::evaluate(
          pack, std::array{beat, BitVec(geo.phase_bits, static_cast<std::uint64_t>(phase)),
                           BitVec(static_cast<int>(std::bit_width(static_cast<unsigned>(geo.lanes))), words)});
      for (std::uint64_t b = 0; b < packed[1].low64(); ++b)
        out.push_back(
            static_cast<std::uint8_t>(packed[0].slice(static_cast<int>(8 * b + 7), static_cast<int>(8 * b)).low64()));
      phase = (phase + geo.lanes / geo.group) % geo.phases;
    }
    std::size_t where = 0;
    CHECK(model.accepts(message, out, &where));
    CAPTURE(where);
    CHECK(layout.length(message.size()) == model.length(message.size()));
  }
}

TEST_CASE("preprocess: positions and lengths of packets") {
  sample::RandomLayouts random(7);
  for (int n = 0; n < 30; ++n) {
    const int width = 64 << random.below(5);
    const Json entry = random.entry(width / 32, 1 + static_cast<int>(random.below(100)));
    CAPTURE(entry.dump());
    const Layout layout = sample::layout_of(entry);
    const RowModel model(entry);
    const Geometry geo(layout, width);
    const auto span = dataflow::optimise(span_graph(layout, geo));
    const auto length = dataflow::optimise(length_graph(layout));
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t words =
          random.below(i < 30 ? 100 : std::uint64_t{1} << 18) * 64;  // packets in front are whole
      const std::uint64_t bytes = i % 3 == 0 ? 4096 : random.below(4097);
      const std::uint64_t addr = (std::uint64_t{1} << 40) + random.below(1000) + 4 * words;
      const auto out =
          dataflow::evaluate(span, std::array{BitVec(kWordsBits, words), BitVec(14, bytes), BitVec(64, addr)});
      const std::uint64_t before = i < 30 ? model.length(4 * words) : layout.length(4 * words);
      const std::uint64_t after = i < 30 ? model.length(4 * words + bytes) : layout.length(4 * words + bytes);
      CHECK(out[0].low64() == words % static_cast<std::uint64_t>(geo.row) / static_cast<std::uint64_t>(geo.group));
      CHECK(out[1].low64() == addr - 4 * words + before);
      CHECK(out[2].low64() == after - before);
      CHECK(out[3].low64() == ((4 * words + bytes) % (4 * static_cast<std::uint64_t>(geo.row)) != 0 ? 1 : 0));
      const std::uint64_t total = i < 20 ? random.below(10000) : random.below(std::uint64_t{1} << 31);
      CHECK(dataflow::evaluate(length, std::array{BitVec(32, total)})[0].low64() == layout.length(total));
      if (i < 20) CHECK(layout.length(total) == model.length(total));
    }
  }
}

TEST_CASE("preprocess: rows as text") {
  const Layout layout = sample::layout_of(Json::parse(R"({
    "columns": ["label", "dense 2", "pad", "sparse"],
    "operators": {"dense": [{"fill_null": {"null": "0x80000000", "value": -1}}, "neg2zero", {"log": 1}, "bfloat16"],
                  "sparse": [{"modulus": 1000}]}})"));
  spec::Diagnostics diagnostics;
  const auto words = read_rows(layout, "rows.csv", "y,I1,I2,C1\n1,-5,3.0,ffffffff\r\n0,,0,a\n\n", diagnostics);
  REQUIRE(words);
  CHECK(*words == std::vector<std::uint32_t>{1, 0xfffffffb, 3, 0, 0xffffffff, 0, 0x80000000, 0, 0, 10});
  CHECK(read_rows(layout, "rows.tsv", "1\t-5\t3\tffffffff\n0\t\t0\ta", diagnostics) == words);
  const auto cells = write_rows(layout, evaluate_rows(layout, *words));
  CHECK(cells[0] == std::vector<std::string>{"label_1", "dense_1", "dense_2", "sparse_1"});
  CHECK(cells[1] == std::vector<std::string>{"1", "0", "1.3828125", "295"});
  CHECK(cells[2] == std::vector<std::string>{"0", "0", "0", "10"});
  CHECK(diagnostics.empty());
  for (const char* text : {"", "y,I1,I2,C1\n", "1,2,3\n", "1,2,3,4,5\n", "1,2,3,xyz\n", "1,2.5,3,4\n",
                           "1,3000000000,3,4\n", "-1,2,3,4\n", "1,2,3,\n", "1,2,3,123456789\n"}) {
    CAPTURE(text);
    spec::Diagnostics faults;
    CHECK_FALSE(read_rows(layout, "rows.csv", text, faults));
    REQUIRE(faults.error_count() == 1);
    CHECK(faults.all()[0].code == "E0551");
    CHECK_FALSE(faults.all()[0].helps.empty());
  }
}

TEST_CASE("preprocess: lanes of equal columns are one module") {
  const Layout layout = sample::layout_of(Json::parse(sample::kCriteo));
  const Geometry geo(layout, 512);
  CHECK(geo.group == 8);
  CHECK(geo.phases == 5);
  const RowModules rows = compile_rows(layout, 512, 16);
  CHECK(rows.lane_module == std::vector<int>{0, 1, 1, 1, 1, 1, 2, 2});
  const Layout sixteen = sample::layout_of({{"columns", {"dense 16"}}, {"operators", {{"dense", {{{"shift", -4}}}}}}});
  CHECK(compile_rows(sixteen, 512, 8).lane_module == std::vector<int>(16, 0));
}

TEST_CASE("preprocess: faults of a layout are told with their place") {
  struct Row {
    const char* entry;
    const char* code;
    const char* pointer;
  };
  const std::vector<Row> rows = {
      {R"({})", "E0540", "/columns"},
      {R"({"columns": []})", "E0540", "/columns"},
      {R"({"columns": ["dense 13", "sparce 26"]})", "E0540", "/columns/1"},
      {R"({"columns": ["dense x"]})", "E0540", "/columns/0"},
      {R"({"columns": ["dense 0"]})", "E0540", "/columns/0"},
      {R"({"columns": [13]})", "E0540", "/columns/0"},
      {R"({"columns": ["dense 1000", "sparse 25"]})", "E0541", "/columns/1"},
      {R"({"columns": ["dense 2"], "operators": []})", "E0540", "/operators"},
      {R"({"columns": ["dense 2"], "operators": {"dense": "log1p"}})", "E0540", "/operators/dense"},
      {R"({"columns": ["dense 2"], "operators": {"sparse": []}})", "E0542", "/operators/sparse"},
      {R"({"columns": ["dense 2"], "operators": {"dense 3": []}})", "E0542", "/operators/dense 3"},
      {R"({"columns": ["dense 2"], "operators": {"dense 2..3": []}})", "E0542", "/operators/dense 2..3"},
      {R"({"columns": ["dense 2", "pad"], "operators": {"pad": []}})", "E0542", "/operators/pad"},
      {R"({"columns": ["dense 3"], "operators": {"dense 1..2": [], "dense 2": []}})", "E0543", "/operators/dense 2"},
      {R"({"columns": ["dense"], "operators": {"dense": ["log2p"]}})", "E0544", "/operators/dense/0"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"clamp": [1, 2], "shift": 1}]}})", "E0544",
       "/operators/dense/0"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"log1p": 1}]}})", "E0545", "/operators/dense/0"},
      {R"({"columns": ["dense"], "operators": {"dense": ["clamp"]}})", "E0545", "/operators/dense/0"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"clamp": [2, 1]}]}})", "E0545", "/operators/dense/0/clamp"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"fill_null": {}}]}})", "E0545",
       "/operators/dense/0/fill_null"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"fill_null": {"null": 0, "valu": 1}}]}})", "E0545",
       "/operators/dense/0/fill_null/valu"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"log": 1.5}]}})", "E0545", "/operators/dense/0/log"},
      {R"({"columns": ["sparse"], "operators": {"sparse": [{"modulus": 0}]}})", "E0545", "/operators/sparse/0/modulus"},
      {R"({"columns": ["sparse"], "operators": {"sparse": [{"modulus": 4294967296}]}})", "E0545",
       "/operators/sparse/0/modulus"},
      {R"({"columns": ["sparse"], "operators": {"sparse": [{"sigrid_hash": {"salt": 1}}]}})", "E0545",
       "/operators/sparse/0/sigrid_hash"},
      {R"({"columns": ["sparse"], "operators": {"sparse": [{"sigrid_hash": {"max": 0}}]}})", "E0545",
       "/operators/sparse/0/sigrid_hash/max"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"bucketize": []}]}})", "E0545",
       "/operators/dense/0/bucketize"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"bucketize": [3, 2, 1]}]}})", "E0545",
       "/operators/dense/0/bucketize/1"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"bucketize": [3, 3, 3]}]}})", "E0545",
       "/operators/dense/0/bucketize/2"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"shift": 32}]}})", "E0545", "/operators/dense/0/shift"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"scale": {"multiply": 3, "type": "u12"}}]}})", "E0545",
       "/operators/dense/0/scale"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"scale": {"multiply": 0, "type": "u8"}}]}})", "E0545",
       "/operators/dense/0/scale/multiply"},
      {R"({"columns": ["dense"], "operators": {"dense": ["log1p", "neg2zero"]}})", "E0546", "/operators/dense/1"},
      {R"({"columns": ["dense"], "operators": {"dense": ["neg2zero", {"fill_null": {"null": 0}}]}})", "E0546",
       "/operators/dense/1"},
      {R"({"columns": ["dense"], "operators": {"dense": ["bfloat16"]}})", "E0546", "/operators/dense/0"},
      {R"({"columns": ["dense"], "operators": {"dense": ["log1p", "bfloat16", "bfloat16"]}})", "E0546",
       "/operators/dense/1"},
      {R"({"columns": ["dense"], "operators": {"dense": ["float32", {"scale": {"type": "u8"}}]}})", "E0546",
       "/operators/dense/1"},
      {R"({"columns": ["sparse"], "operators": {"sparse": [{"clamp": [-1, 5]}]}})", "E0546", "/operators/sparse/0"},
      {R"({"columns": ["dense"], "operators": {"dense": [{"clamp": [-9, -5]}, "log1p"]}})", "E0546",
       "/operators/dense/1"},
      {R"({"columns": ["dense 2"], "output": "dense"})", "E0540", "/output"},
      {R"({"columns": ["dense 2"], "output": ["sparse"]})", "E0542", "/output/0"},
      {R"({"columns": ["dense 2"], "output": ["dense 1", "dense"]})", "E0547", "/output/1"},
      {R"({"columns": ["dense 2"], "output": []})", "E0548", "/output"},
      {R"({"columns": ["pad 2"]})", "E0548", "/columns"},
      {R"({"columns": ["label", "dense 13", "sparse 26"], "output": ["sparse", "dense"]})", "E0549", "/output"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.entry);
    spec::Locator locator("spec.json", row.entry);
    spec::Diagnostics diagnostics;
    REQUIRE(locator.parse(diagnostics));
    const Where where = [&](std::string_view pointer) { return locator.value(pointer); };
    const auto layout = read_layout(locator.root(), where, diagnostics);
    if (layout) CHECK_FALSE(check_order(*layout, 16, where, diagnostics));
    REQUIRE(diagnostics.error_count() == 1);
    CHECK(diagnostics.all()[0].code == row.code);
    CHECK(diagnostics.all()[0].place.pointer == row.pointer);
    CHECK((!diagnostics.all()[0].helps.empty() || diagnostics.all()[0].code == "E0540" ||
           row.code == std::string("E0543")));
  }
}
