#include "sim/harness/registers.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "generator/outputs/registers.h"

using namespace rocegen::sim;
using Json = nlohmann::ordered_json;

TEST_CASE("registers: the standard map is the one that the generator writes") {
  rocegen::spec::StackSpec spec;
  spec.name = "any";
  const auto written =
      rocegen::outputs::make_register_map(rocegen::spec::complete(spec), std::string(64, '0'), /*counters=*/{});
  const RegisterMap m = RegisterMap::standard();
  CHECK(m.registers.size() == written.registers.size());
  for (const auto& reg : written.registers) {
    CAPTURE(reg.name);
    REQUIRE(m.registers.contains(reg.name));
    CHECK(m.at(reg.name) == reg.address);
  }
  CHECK(m.counters.empty());
}

TEST_CASE("registers: from a manifest, and what is wrong with one") {
  Json m = {
      {"registers", Json::array()},
      {"counters", Json::array({{{"name", "rx_frames"}, {"address", 0x400}}, {{"name", "x"}, {"address", "0x404"}}})}};
  for (const auto& [name, address] : RegisterMap::standard().registers)
    m["registers"].push_back({{"name", name}, {"address", address}});
  RegisterMap out;
  std::string error;
  REQUIRE(RegisterMap::from_manifest(m, out, error));
  CHECK(out.registers == RegisterMap::standard().registers);
  REQUIRE(out.counters.size() == 2);
  CHECK(out.counters[0].name == "rx_frames");
  CHECK(out.counters[1].address == 0x404);

  const auto broken = [&](const std::function<void(Json&)>& edit) {
    Json copy = m;
    edit(copy);
    RegisterMap r;
    std::string e;
    CHECK_FALSE(RegisterMap::from_manifest(copy, r, e));
    return e;
  };
  CHECK(broken([](Json& j) { j.erase("registers"); }) == "manifest: has no \"registers\"");
  CHECK(broken([](Json& j) { j["registers"].erase(0); }) == "manifest: \"registers\" lacks CLOCK_KHZ");
  CHECK(broken([](Json& j) { j["counters"][1]["address"] = "0x40g"; }).find("\"counters\" has an entry") !=
        std::string::npos);
  CHECK(broken([](Json& j) { j["registers"][0]["address"] = 0x10000; }).find("16-bit address") != std::string::npos);
}
