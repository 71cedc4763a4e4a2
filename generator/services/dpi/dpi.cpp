#include "generator/services/dpi/dpi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "generator/dataflow/schedule.h"
#include "generator/model/read.h"
#include "generator/spec/locator.h"
#include "generator/spec/text.h"

namespace rocegen::services {

using Json = nlohmann::ordered_json;
using spec::Kind;

namespace {

constexpr std::array<const char*, 5> kActions = {"tag", "count", "tell", "drop", "refuse"};

bool is_path(std::string_view text) {
  return !text.empty() && text.size() <= 256 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '/' || c == '-';
  });
}

bool is_action(std::string_view text) {
  return std::any_of(kActions.begin(), kActions.end(), [&](const char* a) { return text == a; });
}

class Reader {
 public:
  Reader(const spec::StackSpec& spec, std::size_t index, spec::Diagnostics& diagnostics)
      : spec_(spec), entry_(spec.services[index]), at_(fmt::format("/services/{}", index)), diagnostics_(diagnostics) {}

  std::optional<Inspection> read() {
    const Json& json = entry_.json();
    const std::size_t errors = diagnostics_.error_count();
    out_.name = entry_.name;
    out_.max_payload = spec_.max_payload();
    out_.chunk = json.at("unit") == "chunk";
    out_.chunk_bytes = json.at("chunk_bytes").get<int>();
    const auto file = json.at("model").get<std::string>();
    const std::string path = file.starts_with('/') ? file : entry_.folder + file;
    auto model = model::read_model(path, diagnostics_);
    if (!model) return std::nullopt;
    out_.model = std::move(*model);
    read_thresholds(json);
    if (!out_.model.network()) {
      const std::optional<int> fraction =
          json.contains("fraction_bits") ? std::optional<int>(json["fraction_bits"].get<int>()) : std::nullopt;
      if (!model::fix_point(out_.model, fraction)) {
        fault("E0525", "/model", "the leaves of the model differ too much in size to be added exactly")
            .label("sums would need more than 120 bits")
            .help("round them: \"fraction_bits\": 32");
      }
    } else if (json.contains("fraction_bits")) {
      fault("E0535", "/fraction_bits", "layers of integers are not rounded")
          .label("only trees have leaves to round")
          .help("remove it");
    }
    read_features(json);
    read_classes(json);
    if (diagnostics_.error_count() != errors) return std::nullopt;
    return std::move(out_);
  }

 private:
  spec::Diagnostic& fault(const char* code, const std::string& pointer, const std::string& message) {
    return diagnostics_.error(code, entry_.place(pointer), fmt::format("{}{}: {}", at_, pointer, message));
  }

  void read_thresholds(const Json& json) {
    if (!json.contains("thresholds")) return;
    model::Model& m = out_.model;
    if (m.decision != model::Decision::thresholds) {
      fault("E0535", "/thresholds", "the model decides without thresholds")
          .label("the class is that of the greatest score, or the leaf's")
          .help("remove it");
      return;
    }
    m.thresholds.clear();
    bool good = json["thresholds"].is_array() && !json["thresholds"].empty() &&
                json["thresholds"].size() < static_cast<std::size_t>(model::kMaxClasses);
    for (const Json& value : json["thresholds"]) {
      good = good && value.is_number() && (m.thresholds.empty() || value.get<double>() > m.thresholds.back());
      if (good) m.thresholds.push_back(value.get<double>());
    }
    if (!good) {
      fault("E0535", "/thresholds", fmt::format("expected 1 to {} numbers that go up", model::kMaxClasses - 1))
          .label("each is the least score of another class")
          .help("write \"thresholds\": [0]");
      return;
    }
    m.classes = static_cast<int>(m.thresholds.size()) + 1;
  }

  void read_features(const Json& json) {
    out_.features.assign(out_.model.features.size(), std::nullopt);
    if (!json.contains("features")) {
      default_features();
    } else if (json["features"].is_array()) {
      list_features(json["features"]);
    } else if (json["features"].is_object()) {
      map_features(json["features"]);
    } else {
      fault("E0531", "/features", "expected a list of sources, or an object of sources by feature")
          .label("neither a list nor an object");
    }
  }

  std::vector<Source> sources(const Json& text, const std::string& pointer) {
    std::string why = "a source is a string";
    std::optional<std::vector<Source>> all;
    if (text.is_string()) all = parse_sources(text.get<std::string>(), out_.chunk, why);
    if (!all) {
      fault("E0531", pointer, fmt::format("{} is no source of a feature", spec::shorten(text.dump(), 40)))
          .label(why)
          .note("docs/services-dpi.md lists the sources");
      return {};
    }
    for (const Source& source : *all) {
      const int limit = out_.chunk ? out_.chunk_bytes : spec_.mtu;
      if (!source.payload() || source.end() <= limit) continue;
      fault("E0533", pointer,
            fmt::format("byte {} is read, but {} has {} bytes", source.end() - 1,
                        out_.chunk ? "a chunk" : "the longest payload", limit))
          .label("reads beyond the end")
          .help(out_.chunk ? "set \"chunk_bytes\", or read less" : "raise \"mtu\", or read less");
      return {};
    }
    return *all;
  }

  void bind(std::size_t feature, const Source& source, const std::string& pointer) {
    const model::Feature& f = out_.model.features[feature];
    if (f.bits > 0 && source.bits(spec_.max_payload()) > f.bits) {
      fault("E0532", pointer,
            fmt::format("feature {} has {} bits, its source {}", f.name, f.bits, source.bits(spec_.max_payload())))
          .label("the source is wider")
          .help("choose a narrower source, or train with the wider one");
      return;
    }
    for (const model::Tree& tree : out_.model.forest.trees) {
      for (const model::Node& node : tree.nodes) {
        if (node.leaf || !node.categorical || static_cast<std::size_t>(node.feature) != feature) continue;
        if (!out_.model.forest.float32 || source.bits(spec_.max_payload()) <= 24) continue;
        fault("E0532", pointer,
              fmt::format("feature {} is a category, its source has {} bits", f.name, source.bits(spec_.max_payload())))
            .label("XGBoost takes categories below 2^24 only")
            .help("choose a narrower source");
        return;
      }
    }
    // What the model does not look at costs nothing.
    if (f.used) out_.features[feature] = source;
  }

  void default_features() {
    const auto count = out_.model.features.size();
    const auto bytes = static_cast<std::size_t>(out_.chunk_bytes);
    if (!out_.chunk || (count != bytes && count != 8 * bytes)) {
      fault("E0532", "", fmt::format("\"features\" is missing for the {} features of the model", count))
          .label("says what they are")
          .note("only a model of the bits or bytes of a chunk needs none")
          .help("add \"features\": { \"NAME\": \"payload.u8[0]\", ... }");
      return;
    }
    Source source;
    source.kind = count == bytes ? Source::Kind::word : Source::Kind::bit;
    for (std::size_t i = 0; i < count; ++i) {
      source.offset = static_cast<int>(i);
      bind(i, source, "");
    }
  }

  void list_features(const Json& list) {
    std::vector<std::pair<Source, std::string>> all;
    const std::size_t errors = diagnostics_.error_count();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string pointer = fmt::format("/features/{}", i);
      for (const Source& source : sources(list[i], pointer)) all.emplace_back(source, pointer);
    }
    if (diagnostics_.error_count() != errors) return;
    if (all.size() != out_.model.features.size()) {
      fault("E0532", "/features",
            fmt::format("{} sources for the {} features of the model", all.size(), out_.model.features.size()))
          .label("one for each, in their order")
          .help("or name the used ones: \"features\": { \"NAME\": \"payload.u8[0]\", ... }");
      return;
    }
    for (std::size_t i = 0; i < all.size(); ++i) bind(i, all[i].first, all[i].second);
  }

  void map_features(const Json& map) {
    const auto& features = out_.model.features;
    std::vector<std::string> names;
    for (const model::Feature& f : features) names.push_back(f.name);
    for (const auto& [name, text] : map.items()) {
      const std::string pointer = spec::child_pointer("/features", name);
      const auto it = std::find(names.begin(), names.end(), name);
      if (it == names.end()) {
        const std::string near = spec::nearest(name, names);
        diagnostics_
            .error("E0532", entry_.key_place(pointer),
                   fmt::format("{}{}: the model has no feature {}", at_, pointer, spec::printable(name)))
            .label(near.empty() ? "no such feature" : fmt::format("did you mean \"{}\"?", near))
            .note("`rocegen model FILE` lists the features; those without a name are f0, f1, ...");
        continue;
      }
      const auto all = sources(text, pointer);
      if (all.size() > 1) {
        fault("E0532", pointer, "one feature has one source, this names several").label("a range");
      } else if (all.size() == 1) {
        bind(static_cast<std::size_t>(it - names.begin()), all[0], pointer);
      }
    }
    std::string missing;
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (features[i].used && !map.contains(features[i].name)) missing += " " + features[i].name;
    }
    if (!missing.empty()) {
      fault("E0532", "/features", "the model also reads" + spec::shorten(missing, 60)).label("without a source");
    }
  }

  void read_classes(const Json& json) {
    out_.classes.assign(static_cast<std::size_t>(out_.model.classes), {});
    std::vector<bool> given(out_.classes.size());
    const Json& list = json.at("classes");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string pointer = fmt::format("/classes/{}", i);
      const auto number = list[i].at("class").get<std::size_t>();
      if (number >= out_.classes.size()) {
        fault("E0534", pointer + "/class", fmt::format("the model has {} classes, from 0 on", out_.classes.size()))
            .label("no such class");
        continue;
      }
      if (given[number]) {
        fault("E0534", pointer + "/class", fmt::format("class {} is there already", number)).label("named twice");
        continue;
      }
      given[number] = true;
      ClassActions& c = out_.classes[number];
      for (const Json& action : list[i].at("actions")) {
        for (std::size_t a = 0; a < kActions.size(); ++a) {
          if (action == kActions[a]) c.actions |= 1 << a;
        }
      }
      c.tag = list[i].at("tag").get<int>();
      const bool tags = (c.actions & 1) != 0;
      if (tags != (c.tag != 0)) {
        fault("E0534", pointer,
              tags ? "the action tag needs a \"tag\" that is not 0" : "\"tag\" without the action tag")
            .label(tags ? "nothing would show in the completion" : "it would not be used")
            .help(tags ? "add \"tag\": 1" : "add \"tag\" to \"actions\", or remove it");
      }
      if ((c.actions & 8) != 0 && (c.actions & 17) != 0) {
        fault("E0534", pointer + "/actions", "a dropped packet is neither tagged nor refused")
            .label("contradicts drop")
            .help("keep one of them");
      }
    }
  }

  const spec::StackSpec& spec_;
  const spec::ServiceSpec& entry_;
  std::string at_;
  spec::Diagnostics& diagnostics_;
  Inspection out_;
};

class Dpi final : public Service {
 public:
  Dpi(const spec::StackSpec& spec, const spec::ServiceSpec& entry, Inspection inspection)
      : entry_(entry),
        inspection_(std::move(inspection)),
        modules_(compile_inspection(inspection_, spec.data_width,
                                    dataflow::level_budget(spec.pipeline_depth, spec.clock_mhz))) {}

  std::vector<ModuleText> modules() const override { return modules_.texts; }

  std::vector<WindowRegister> registers() const override {
    const auto actions = [](outputs::Access access, std::uint32_t reset) {
      std::vector<outputs::Field> fields;
      for (std::size_t a = 0; a < kActions.size(); ++a) {
        fields.push_back({kActions[a], static_cast<int>(a), 1, access, reset >> a & 1U, "", ""});
      }
      return fields;
    };
    using outputs::Access;
    std::vector<WindowRegister> all = {
        {"QP", 0x000, "queue pair whose actions ACTIONS shows", {{"qpn", 0, 24, Access::rw, 0, "", ""}}},
        {"ACTIONS", 0x004,
         "what may be done with packets of the queue pair QP, whatever their class asks for; all after reset",
         actions(Access::rw, 0x1F)},
        {"ENABLE", 0x008, "what may be done with packets of any queue pair", actions(Access::rw, 0x1F)}};
    for (int c = 0; c < inspection_.model.classes; ++c) {
      all.push_back({fmt::format("CLASS_{}", c),
                     static_cast<std::uint32_t>(0x040 + 4 * c),
                     fmt::format("packets of class {} that were counted", c),
                     {{"packets", 0, 32, Access::ro, 0, "", ""}}});
    }
    return all;
  }

  void attach(Attach point, Site& site) const override {
    const auto stage = site.stage(point, modules_.stage, {}, fmt::format("service {}", entry_.name));
    site.window(stage);
  }

  int latency(Attach) const override { return modules_.latency; }

 private:
  spec::ServiceSpec entry_;
  Inspection inspection_;
  InspectionModules modules_;
};

class DpiType final : public ServiceType {
 public:
  std::string_view name() const override { return "dpi"; }
  std::string_view doc() const override {
    return "Judges received packets by a trained model before they are accepted: trees of XGBoost and LightGBM, or "
           "layers of integers. See docs/services-dpi.md.";
  }

  std::vector<spec::Field> fields() const override {
    std::vector<spec::Field> all;
    spec::FieldTable t(all);
    t.add("/model", Kind::text,
          "File of the model, relative to the specification; `rocegen model` shows what is in one.")
        .required()
        .pattern("[A-Za-z0-9_./-]{1,256}", is_path, "a path of letters, digits and . / _ -")
        .max_length(256)
        .example("\"models/chunks.json\"");
    t.add("/unit", Kind::word,
          "What is judged: the packet as a whole, or every full chunk of its payload; then the packet has the greatest "
          "class of its chunks, 0 without any.")
        .words({"packet", "chunk"})
        .fallback("packet")
        .example("\"chunk\"");
    t.add("/chunk_bytes", Kind::integer, "Size of a chunk.")
        .unit("bytes")
        .values({8, 16, 32, 64, 128})
        .fallback(64)
        .example("64");
    t.add("/features", Kind::any,
          "Where the features come from: a list of sources in the order of the model's features, or an object of them "
          "by "
          "name of the feature. May be left out when the features are the bits or bytes of a chunk.")
        .schema(Json::parse(R"({"type": ["array", "object"]})"))
        .example("[\"header.length\", \"bytes.count[0x20..0x7e]\"]");
    t.add("/thresholds", Kind::any,
          "Least scores of classes 1, 2, ..., in the score's own unit, in place of those of the model. A class has "
          "scores "
          "above its threshold.")
        .schema(Json::parse(R"({"type": "array", "items": {"type": "number"}})"))
        .example("[0]");
    t.add("/fraction_bits", Kind::integer,
          "Rounds the leaves of trees to so many bits behind the point; left out, they and their sums are exact.")
        .unit("bits")
        .range(0, 64)
        .example("16");
    t.add("/classes", Kind::entries, "What happens to packets by their class; nothing to those that are not listed.")
        .required()
        .range(1, model::kMaxClasses)
        .example("[{ \"class\": 1, \"actions\": [\"tag\"], \"tag\": 1 }]");
    t.add("/classes/*", Kind::object, "A class.");
    t.add("/classes/*/class", Kind::integer, "Its number.").required().range(0, model::kMaxClasses - 1).example("1");
    t.add("/classes/*/actions", Kind::names,
          "tag: ORs `tag` into the completion of the message. count: counts in the register window. tell: an event for "
          "the queue pair. drop: the packet vanishes. refuse: a request gets NAK 0x63; a READ response takes its queue "
          "pair to ERR.")
        .required()
        .range(1, static_cast<double>(kActions.size()))
        .pattern("tag|count|tell|drop|refuse", is_action, "tag, count, tell, drop or refuse")
        .example("[\"count\", \"drop\"]");
    t.add("/classes/*/tag", Kind::integer, "Bits 15:8 of the flags of the message's completion.")
        .range(0, 255)
        .fallback(0)
        .example("1");
    return all;
  }

  std::vector<Attach> attach(const spec::ServiceSpec&) const override { return {Attach::ingress}; }

  void check(const spec::StackSpec& spec, std::size_t index, spec::Diagnostics& diagnostics) const override {
    read_inspection(spec, index, diagnostics);
    for (std::size_t later = index + 1; later < spec.services.size(); ++later) {
      if (spec.services[later].type != "aes") continue;
      diagnostics
          .error("E0536", spec.services[index].place(""),
                 fmt::format("/services/{}: would look at what is still encrypted", index))
          .label("received packets pass here first")
          .note("they are decrypted here", spec.services[later].place(""))
          .help("move it behind the entry that decrypts");
    }
  }

  std::unique_ptr<Service> make(const spec::StackSpec& spec, std::size_t index,
                                spec::Diagnostics& diagnostics) const override {
    auto inspection = read_inspection(spec, index, diagnostics);
    if (!inspection) return nullptr;
    return std::make_unique<Dpi>(spec, spec.services[index], std::move(*inspection));
  }
};

}  // namespace

std::optional<Inspection> read_inspection(const spec::StackSpec& spec, std::size_t index,
                                          spec::Diagnostics& diagnostics) {
  return Reader(spec, index, diagnostics).read();
}

const ServiceType& dpi_type() {
  static const DpiType type;
  return type;
}

}  // namespace rocegen::services
