#include "generator/services/preprocess/preprocess.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "generator/dataflow/schedule.h"
#include "generator/services/preprocess/stage.h"

namespace rocegen::preprocess {

namespace {

using Json = nlohmann::ordered_json;
using services::Attach;

constexpr int kRotateStages = 1;

Where where_of(const spec::ServiceSpec& entry) {
  return [&entry](std::string_view pointer) { return entry.place(pointer); };
}

class Preprocess final : public services::Service {
 public:
  Preprocess(const Layout& layout, const spec::StackSpec& spec)
      : geometry_(layout, spec.data_width), rows_(compile_rows(layout, spec.data_width, level_budget(spec))) {}

  std::vector<services::ModuleText> modules() const override {
    std::vector<services::ModuleText> out;
    for (const auto& m : rows_.modules) out.push_back({m.name, m.systemverilog, m.latency, m.levels});
    return out;
  }

  void attach(Attach point, services::Site& site) const override {
    site.stage(point, "pre_stage", stage_params(geometry_, rows_, kRotateStages), "preprocesses rows");
    const auto lengths = site.completions(
        "lengths", "pre_complete",
        {{"Services", static_cast<int>(site.spec().services.size())}, {"LengthLatency", rows_.length_latency}},
        "completions tell the length of what came out");
    site.set_up(lengths);
  }

  int latency(Attach /*point*/) const override { return rows_.latency + rows_.span_latency + kRotateStages + 12; }

 private:
  Geometry geometry_;
  RowModules rows_;
};

class PreprocessType final : public services::ServiceType {
 public:
  std::string_view name() const override { return "preprocess"; }

  std::string_view doc() const override {
    return "Preprocesses rows for recommender models, in what is written by SEND and WRITE and in what READs get. See "
           "services-preprocess.md.";
  }

  std::vector<spec::Field> fields() const override {
    std::vector<spec::Field> all;
    spec::FieldTable table(all);
    table
        .add("/columns", spec::Kind::any,
             "The words of a row, in their order: label, dense, sparse or pad, each with how many there are.")
        .required()
        .schema({{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}})
        .example(R"(["label", "dense 13", "sparse 26"])");
    table
        .add("/operators", spec::Kind::any,
             "What is done to columns: lists of operators by a kind (\"dense\"), a column (\"dense 3\") or a range "
             "(\"dense 2..5\").")
        .schema({{"type", "object"}, {"additionalProperties", {{"type", "array"}}}})
        .fallback(Json::object())
        .example(R"({"dense": ["neg2zero", "log1p"], "sparse": [{"modulus": 8192}]})");
    table
        .add("/output", spec::Kind::any,
             "Columns of the output, in their order; others are left out. Default: all but pad.")
        .schema({{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}})
        .example(R"(["dense", "sparse"])");
    return all;
  }

  bool once() const override { return true; }

  std::vector<Attach> attach(const spec::ServiceSpec& /*entry*/) const override { return {Attach::deliver}; }

  void check(const spec::StackSpec& spec, std::size_t index, spec::Diagnostics& diagnostics) const override {
    const spec::ServiceSpec& entry = spec.services[index];
    const auto layout = read_layout(entry.json(), where_of(entry), diagnostics);
    if (layout) check_order(*layout, spec.data_width / 32, where_of(entry), diagnostics);
    if (spec.transport.recovery == "selective") {
      diagnostics
          .error("E0550", entry.place(""),
                 fmt::format("\"{}\" cannot work with transport.recovery \"selective\"", entry.name))
          .label("rows need their packets in order")
          .note(
              "selective recovery writes packets behind a lost one to memory before it; which words of a row they hold "
              "is not known then")
          .help("set \"recovery\" in \"transport\" to \"go_back_n\"");
    }
  }

  std::unique_ptr<services::Service> make(const spec::StackSpec& spec, std::size_t index,
                                          spec::Diagnostics& /*diagnostics*/) const override {
    return std::make_unique<Preprocess>(layout_of(spec, index), spec);
  }
};

}  // namespace

const services::ServiceType& preprocess_type() {
  static const PreprocessType type;
  return type;
}

Layout layout_of(const spec::StackSpec& spec, std::size_t index) {
  spec::Diagnostics none;
  const spec::ServiceSpec& entry = spec.services[index];
  return read_layout(entry.json(), where_of(entry), none).value();
}

int level_budget(const spec::StackSpec& spec) { return dataflow::level_budget(spec.pipeline_depth, spec.clock_mhz); }

}  // namespace rocegen::preprocess
