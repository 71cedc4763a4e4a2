// Reading and shape of scenario files. What a step may hold is in one table; docs/scenarios.md explains it.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <sstream>

#include "sim/scenario/scenario.h"

namespace rocegen::sim {
namespace {

using Json = nlohmann::ordered_json;

struct Shape {
  const char* kind;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> required;
};

const std::vector<std::string_view> kSide = {
    "qpn",   "psn",     "rq_psn",      "peer_qpn",  "access",        "pd",      "pkey",    "sport",
    "state", "timeout", "retry_cnt",   "rnr_retry", "min_rnr_timer", "sq_log2", "rq_log2", "rq",
    "srq",   "max_rd",  "max_dest_rd", "mtu",       "services"};
const std::vector<std::string_view> kLinkKeys = {"from",    "gbps",       "delay_ns", "loss", "duplicate",
                                                 "reorder", "reorder_ns", "corrupt",  "seed"};
const std::vector<std::string_view> kPayload = {"hex", "seed", "byte", "word", "offset", "length", "at", "on"};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> table = {
      {"connect",
       {"name",  "mtu",   "timeout", "retry_cnt", "rnr_retry", "min_rnr_timer", "pkey",   "pd",          "access",
        "state", "sport", "sq_log2", "rq_log2",   "rq",        "srq",           "max_rd", "max_dest_rd", "services",
        "a",     "b"},
       {"name"}},
      {"region",
       {"name", "on", "base", "length", "index", "variant", "access", "pd", "mr", "valid", "writable", "fill",
        "target"},
       {"name", "on", "length"}},
      {"state", {"on", "qp", "state"}, {"on", "qp", "state"}},
      {"shared_ring", {"on", "number", "log2"}, {"on"}},
      {"register", {"on", "name", "word", "value", "equals"}, {"on", "name"}},
      {"fill", {"on", "at", "length", "seed", "offset", "byte", "hex", "word"}, {"at"}},
      {"post",
       {"on",    "qp",     "op",  "local", "remote", "length", "rkey",    "lkey",  "id",        "signaled", "flags",
        "count", "stride", "imm", "inv",   "add",    "swap",   "compare", "fence", "solicited", "target"},
       {"on"}},
      {"recv", {"on", "qp", "srq", "local", "length", "id", "count", "stride", "lkey", "target"}, {"on"}},
      {"inject", {"to", "qp", "frame", "frames", "hex", "bad", "gap_ns"}, {"to"}},
      {"rule",
       {"from", "action", "match", "nth", "count", "copies", "delay_ns", "flip_bit", "set", "optional"},
       {"from", "action"}},
      {"link", kLinkKeys, {}},
      {"expect", {"from", "frames", "others", "order", "within_ns"}, {"from", "frames"}},
      {"ignore", {"from"}, {"from"}},
      {"quiet", {"from", "for_ns"}, {"from", "for_ns"}},
      {"complete", {"on", "count", "all", "none", "entries", "order", "status", "within_ns"}, {"on"}},
      {"received", {"on", "count", "all", "none", "entries", "order", "status", "within_ns"}, {"on"}},
      {"events", {"on", "list", "within_ns"}, {"on", "list"}},
      {"memory",
       {"on", "at", "length", "equals", "hex", "byte", "word", "seed", "offset", "unchanged", "rows", "within_ns"},
       {"at"}},
      {"counters", {"on", "values", "mark"}, {"on"}},
      {"wait", {"ns"}, {"ns"}},
      {"pause", {"on", "state"}, {"on", "state"}},
      {"axi_error", {"on", "at", "length", "reads", "writes", "clear"}, {}},
      {"address", {"on", "ttl", "tos"}, {"on"}},
      {"set", {}, {}},
      {"repeat", {"var", "in", "from", "to", "by", "max"}, {"var"}},
  };
  return table;
}

const std::vector<std::string_view> kTop = {"about", "covers",  "stations", "link",  "set",
                                            "needs", "connect", "regions",  "steps", "allow"};

bool has(const std::vector<std::string_view>& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

class Checker {
 public:
  Checker(const std::string& name, std::vector<std::string>& errors) : name_(name), errors_(errors) {}

  void fault(const std::string& where, const std::string& text) {
    errors_.push_back(fmt::format("{}: {}: {}", name_, where.empty() ? "/" : where, text));
  }

  bool object(const Json& j, const std::string& where) {
    if (j.is_object()) return true;
    fault(where, "must be an object");
    return false;
  }
  bool array(const Json& j, const std::string& where) {
    if (j.is_array()) return true;
    fault(where, "must be an array");
    return false;
  }

  void keys(const Json& j, const std::string& where, const std::vector<std::string_view>& allowed,
            const std::vector<std::string_view>& required = {}) {
    for (const auto& [key, value] : j.items()) {
      if (has(allowed, key)) continue;
      std::string list;
      for (const auto k : allowed) list += fmt::format("{}{}", list.empty() ? "" : ", ", k);
      fault(where + "/" + key, fmt::format("unknown key, allowed: {}", list));
    }
    for (const auto k : required) {
      if (!j.contains(k)) fault(where, fmt::format("\"{}\" is missing", k));
    }
  }

  void payload(const Json& j, const std::string& where) {
    if (object(j, where)) keys(j, where, kPayload);
  }

  void frame(const Json& j, const std::string& where, bool expect) {
    if (!object(j, where)) return;
    for (const auto& [key, value] : j.items()) {
      const std::string at = where + "/" + key;
      if (key == "payload") {
        payload(value, at);
      } else if (expect && (key == "optional" || key == "count")) {
      } else if (const FieldInfo* f = find_field(key); f == nullptr) {
        fault(at, "unknown field of a frame");
      } else if (expect && f->get == nullptr) {
        fault(at, "this field can only be written");
      } else if (!expect && f->set == nullptr) {
        fault(at, "this field can only be read");
      }
    }
  }

  void names(const Json& j, const std::string& where) {
    if (!array(j, where)) return;
    for (size_t i = 0; i < j.size(); ++i) {
      if (!j[i].is_string()) fault(fmt::format("{}/{}", where, i), "must be a string");
    }
  }

  void side(const Json& j, const std::string& where, std::string_view key) {
    if (j.contains(key) && object(j[key], where + "/" + std::string(key))) {
      keys(j[key], where + "/" + std::string(key), kSide);
      if (j[key].contains("services")) names(j[key]["services"], where + "/" + std::string(key) + "/services");
    }
  }

  void body(const std::string& kind, const Json& j, const std::string& where) {
    const auto& all = shapes();
    const auto shape = std::find_if(all.begin(), all.end(), [&](const Shape& s) { return kind == s.kind; });
    if (!object(j, where)) return;
    if (kind == "set") return;
    keys(j, where, shape->keys, shape->required);
    if (kind == "connect") {
      side(j, where, "a");
      side(j, where, "b");
      if (j.contains("services")) names(j["services"], where + "/services");
    }
    if (kind == "post" && !j.contains("length") && j.value("op", Json()) != "cmp_swap" &&
        j.value("op", Json()) != "fetch_add") {
      fault(where, "\"length\" is missing");
    }
    if (kind == "region" && j.contains("fill") && !j["fill"].is_boolean()) payload(j["fill"], where + "/fill");
    if (kind == "inject") {
      if (j.contains("frame") + j.contains("frames") + j.contains("hex") != 1) {
        fault(where, "needs one of \"frame\", \"frames\", \"hex\"");
      }
      if (j.contains("frame")) frame(j["frame"], where + "/frame", false);
      if (j.contains("frames") && array(j["frames"], where + "/frames")) {
        for (size_t i = 0; i < j["frames"].size(); ++i)
          frame(j["frames"][i], fmt::format("{}/frames/{}", where, i), false);
      }
    }
    if (kind == "expect" && j.contains("frames") && array(j["frames"], where + "/frames")) {
      for (size_t i = 0; i < j["frames"].size(); ++i)
        frame(j["frames"][i], fmt::format("{}/frames/{}", where, i), true);
    }
    if (kind == "rule") {
      if (j.contains("match")) frame(j["match"], where + "/match", true);
      if (j.contains("set")) frame(j["set"], where + "/set", false);
    }
    if (kind == "complete" || kind == "received") {
      if (j.contains("count") + j.contains("all") + j.contains("none") + j.contains("entries") != 1) {
        fault(where, "needs one of \"count\", \"all\", \"none\", \"entries\"");
      }
      if (j.contains("entries") && array(j["entries"], where + "/entries")) {
        for (size_t i = 0; i < j["entries"].size(); ++i) {
          const std::string at = fmt::format("{}/entries/{}", where, i);
          if (!object(j["entries"][i], at)) continue;
          if (kind == "complete") {
            keys(j["entries"][i], at, {"id", "qp", "status", "syndrome", "op", "bytes"});
          } else {
            keys(j["entries"][i], at, {"id", "qp", "status", "op", "bytes", "imm", "inv", "solicited", "tag"});
          }
        }
      }
    }
    if (kind == "events" && j.contains("list") && array(j["list"], where + "/list")) {
      for (size_t i = 0; i < j["list"].size(); ++i) {
        const std::string at = fmt::format("{}/list/{}", where, i);
        if (object(j["list"][i], at)) keys(j["list"][i], at, {"cause", "qp"}, {"cause", "qp"});
      }
    }
    if (kind == "counters" && j.contains("values")) object(j["values"], where + "/values");
    if (kind == "repeat" && !j.contains("in") && !(j.contains("from") && j.contains("to"))) {
      fault(where, "needs \"in\" or \"from\" and \"to\"");
    }
    if (kind == "repeat" && j.contains("in")) array(j["in"], where + "/in");
    if (kind == "memory" && j.contains("equals") + j.contains("hex") + j.contains("byte") + j.contains("word") +
                                    j.contains("seed") + j.contains("unchanged") + j.contains("rows") !=
                                1) {
      fault(where, "needs one of \"equals\", \"hex\", \"byte\", \"word\", \"seed\", \"unchanged\", \"rows\"");
    }
  }

  void steps(const Json& j, const std::string& where) {
    if (!array(j, where)) return;
    for (size_t i = 0; i < j.size(); ++i) {
      const std::string at = fmt::format("{}/{}", where, i);
      if (!object(j[i], at)) continue;
      std::string kind;
      for (const auto& [key, value] : j[i].items()) {
        if (key == "note" || key == "steps") continue;
        const auto& all = shapes();
        if (std::none_of(all.begin(), all.end(), [&, &k = key](const Shape& s) { return k == s.kind; })) {
          fault(at + "/" + key, "unknown kind of step");
          continue;
        }
        if (!kind.empty()) fault(at, fmt::format("is two steps in one: \"{}\" and \"{}\"", kind, key));
        kind = key;
        body(key, value, at + "/" + key);
      }
      if (kind.empty()) fault(at, "names no kind of step");
      if ((kind == "repeat") != j[i].contains("steps")) {
        fault(at, "\"repeat\" and \"steps\" belong together");
      } else if (kind == "repeat") {
        steps(j[i]["steps"], at + "/steps");
      }
    }
  }

  void top(const Json& j) {
    if (!object(j, "")) return;
    keys(j, "", kTop, {"about", "steps"});
    if (j.contains("about") && !j["about"].is_string()) fault("/about", "must be a string");
    if (j.contains("covers") && array(j["covers"], "/covers")) {
      for (size_t i = 0; i < j["covers"].size(); ++i) {
        if (!j["covers"][i].is_string()) fault(fmt::format("/covers/{}", i), "must be a string");
      }
    }
    if (j.contains("stations") && j["stations"] != 1 && j["stations"] != 2) fault("/stations", "must be 1 or 2");
    if (j.contains("link") && object(j["link"], "/link")) keys(j["link"], "/link", kLinkKeys);
    if (j.contains("set")) object(j["set"], "/set");
    if (j.contains("needs") && object(j["needs"], "/needs")) {
      keys(j["needs"], "/needs",
           {"qps", "mrs", "mtu", "rqe_slots", "srqs", "rd_depth", "recovery", "ack_after_write", "services", "trailer"});
      for (const auto& [key, value] : j["needs"].items()) {
        if (key == "recovery") {
          if (value != "go_back_n" && value != "selective") {
            fault("/needs/" + key, "must be \"go_back_n\" or \"selective\"");
          }
        } else if (key == "services") {
          names(value, "/needs/services");
        } else if (key == "ack_after_write") {
          if (!value.is_boolean()) fault("/needs/" + key, "must be true or false");
        } else if (!value.is_number_unsigned())
          fault("/needs/" + key, "must be a number");
      }
    }
    if (j.contains("allow") && array(j["allow"], "/allow")) {
      for (size_t i = 0; i < j["allow"].size(); ++i) {
        const Json& a = j["allow"][i];
        if (a != "events" && a != "unfinished" && a != "completions") {
          fault(fmt::format("/allow/{}", i), "must be \"events\", \"completions\" or \"unfinished\"");
        }
      }
    }
    for (const char* const list : {"connect", "regions"}) {
      if (!j.contains(list) || !array(j[list], fmt::format("/{}", list))) continue;
      for (size_t i = 0; i < j[list].size(); ++i) {
        body(std::string(list) == "regions" ? "region" : "connect", j[list][i], fmt::format("/{}/{}", list, i));
      }
    }
    if (j.contains("steps")) steps(j["steps"], "/steps");
  }

 private:
  const std::string& name_;
  std::vector<std::string>& errors_;
};

}  // namespace

bool parse_scenario(const std::string& text, const std::string& name, Scenario& out, std::vector<std::string>& errors) {
  const size_t before = errors.size();
  try {
    out.doc = Json::parse(text, nullptr, true, true);
  } catch (const Json::parse_error& e) {
    // The library's message holds the line and column.
    std::string what = e.what();
    const size_t at = what.find("parse error");
    errors.push_back(fmt::format("{}: {}", name, at == std::string::npos ? what : what.substr(at)));
    return false;
  }
  Checker(name, errors).top(out.doc);
  if (errors.size() != before) return false;
  out.about = out.doc["about"].get<std::string>();
  out.stations = out.doc.value("stations", size_t{2});
  out.covers.clear();
  if (out.doc.contains("covers")) {
    for (const auto& c : out.doc["covers"]) out.covers.push_back(c.get<std::string>());
  }
  return true;
}

bool load_scenario(const std::string& path, Scenario& out, std::vector<std::string>& errors) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    errors.push_back(fmt::format("{}: cannot be read", path));
    return false;
  }
  std::stringstream text;
  text << file.rdbuf();
  out.path = path;
  const size_t slash = path.find_last_of('/');
  out.name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (out.name.ends_with(".json")) out.name.resize(out.name.size() - 5);
  return parse_scenario(text.str(), path, out, errors);
}

}  // namespace rocegen::sim
