// Test scenarios: JSON files that set up stations, let work happen, and say what must come out (docs/scenarios.md).
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/harness/bench.h"

namespace rocegen::sim {

struct Scenario {
  std::string name;  ///< file name without folder and ".json"
  std::string path;
  std::string about;
  std::vector<std::string> covers;  ///< rows of the list of cases that it shows
  size_t stations = 2;              ///< 1: only station a exists, the scenario itself is its peer
  nlohmann::ordered_json doc;
};

/// Reads a scenario and checks its shape: every unknown or missing key and every value of a wrong type is one message
/// "file: /json/pointer: text". False if there is any.
bool load_scenario(const std::string& path, Scenario& out, std::vector<std::string>& errors);
/// The same from text; `name` stands for the file.
bool parse_scenario(const std::string& text, const std::string& name, Scenario& out, std::vector<std::string>& errors);

/// Makes station `a` (0) or `b` (1) of a run, named "a" or "b".
using StationFactory = std::function<std::unique_ptr<Station>(size_t which)>;

struct ScenarioOptions {
  uint64_t seed = 1;  ///< of the link; stations get theirs from the factory
  PcapWriter* pcap = nullptr;
};

struct ScenarioResult {
  bool ok = false;
  bool skipped = false;            ///< the stations cannot run it (too few QPs); `message` says why
  std::string where;               ///< JSON pointer of the first difference
  std::string message;             ///< expected and actual
  std::vector<std::string> trail;  ///< last frames on the wire before the difference
  Ps time = 0;                     ///< simulated
  uint64_t cycles = 0;             ///< of all generated stations together
  uint64_t frames = 0;             ///< sent by all stations
};

/// Runs a scenario from reset.
ScenarioResult run_scenario(const Scenario& s, const StationFactory& factory, const ScenarioOptions& options = {});

/// `n` reproducible bytes of a seed; bytes [offset, offset + n) of an endless stream.
Bytes pattern_bytes(uint64_t seed, uint64_t offset, size_t n);

}  // namespace rocegen::sim
