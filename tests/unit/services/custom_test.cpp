#include "generator/services/custom/custom.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "generator/outputs/outputs.h"
#include "generator/services/codes.h"
#include "generator/stack/service_site.h"
#include "generator/stack/stack.h"
#include "tests/unit/spec/brief.h"

using namespace rocegen;
using spec::test::brief;
using spec::test::Lines;
using spec::test::TemporaryFolder;

namespace {

const std::string kTemplates = ROCEGEN_SOURCE_DIR "/templates";

std::string replace(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The codes of everything that is wrong with a module at ingress, with line and column in its file.
Lines header_faults(const std::string& module, const std::string& parameters = "{}") {
  const TemporaryFolder folder;
  folder.file("stage.sv", module);
  const std::string path = folder.file("nic.json", fmt::format(R"({{"name": "n", "data_width": 256, "services": [
  {{"type": "custom", "name": "stage", "attach": "ingress", "module": "stage", "files": ["stage.sv"],
   "parameters": {}}}]}})",
                                                               parameters));
  spec::Diagnostics diagnostics;
  const auto spec = spec::read_spec(path, diagnostics);
  REQUIRE_MESSAGE(spec, render(diagnostics));
  stack::Stack stack;
  stack.spec = *spec;
  stack.library.read_tree(kTemplates, diagnostics, "templates");
  REQUIRE_FALSE(diagnostics.has_errors());
  stack::make_services(stack, diagnostics);
  Lines out;
  for (const spec::Diagnostic& d : diagnostics.all()) {
    const bool in_module = d.place.file.ends_with("stage.sv");
    out.push_back(fmt::format("{} {}:{}", d.code, in_module ? "sv" : "json", d.place.line));
    CHECK(d.place.line > 0);
    CHECK(d.place.column > 0);
    if (!d.code.starts_with("E03")) CHECK_FALSE(d.helps.empty());
  }
  return out;
}

/// The codes of what reading a list of services finds.
Lines read_faults(const std::string& services, const std::string& more = "") {
  const TemporaryFolder folder;
  folder.file("stage.sv", services::skeleton("stage", spec::Attach::ingress));
  const std::string path =
      folder.file("nic.json", fmt::format("{{\"name\": \"n\",\n\"services\": [\n{}\n]{}}}", services, more));
  spec::Diagnostics diagnostics;
  spec::read_spec(path, diagnostics);
  return brief(diagnostics);
}

const std::string kEntry = R"("type": "custom", "module": "stage", "files": ["stage.sv"])";

}  // namespace

TEST_CASE("the skeleton keeps the contract of every attach point") {
  for (const spec::Attach attach : {spec::Attach::ingress, spec::Attach::egress, spec::Attach::deliver}) {
    const TemporaryFolder folder;
    folder.file("sieve.sv", services::skeleton("sieve", attach));
    const std::string path = folder.file("nic.json", services::skeleton_spec("sieve", attach));
    spec::Diagnostics diagnostics;
    const auto spec = spec::read_spec(path, diagnostics);
    REQUIRE_MESSAGE(spec, render(diagnostics));
    const auto stack = stack::build(*spec, {.templates = kTemplates, .dump_after = {}}, diagnostics);
    REQUIRE_MESSAGE(stack, render(diagnostics));
    CHECK(diagnostics.empty());
    CHECK(stack->design.top().find_instance("svc_sieve_i") >= 0);
    // Only what the attach point needs is there.
    const bool ingress = attach == spec::Attach::ingress;
    CHECK((stack->design.top().find_instance("ingress_open_i") >= 0) == ingress);
    CHECK((stack->design.top().find_instance("event_arb_i") >= 0) == ingress);
    CHECK((stack->design.top().find_instance("egress_open_i") >= 0) == (attach == spec::Attach::egress));
    CHECK((stack->design.top().find_instance("deliver_open_i") >= 0) == (attach == spec::Attach::deliver));
    // Its file is copied once and listed in front of the top module.
    const auto sources = outputs::list_sources(*stack);
    REQUIRE(sources.size() > 2);
    CHECK(sources[sources.size() - 2].path == "rtl/sieve.sv");
    CHECK(sources[sources.size() - 2].origin == "custom");
    const auto files = outputs::make_outputs(*stack, kTemplates, diagnostics);
    REQUIRE(files.find("rtl/sieve.sv") != nullptr);
    CHECK(*files.find("rtl/sieve.sv") == services::skeleton("sieve", attach));
    CHECK(files.find("rtl/csr.sv")->find("qp_services_mask_q") != std::string::npos);
  }
}

TEST_CASE("without services nothing of them is generated") {
  const auto outputs = [](const std::string& text) {
    spec::Diagnostics diagnostics;
    const auto spec = spec::read_spec_text("f", text, diagnostics);
    REQUIRE(spec);
    const auto stack = stack::build(*spec, {.templates = kTemplates, .dump_after = {}}, diagnostics);
    REQUIRE_MESSAGE(stack, render(diagnostics));
    return outputs::make_outputs(*stack, kTemplates, diagnostics);
  };
  const auto plain = outputs(R"({"name": "n", "data_width": 64, "qp_count": 4})");
  const auto empty = outputs(R"({"name": "n", "data_width": 64, "qp_count": 4, "services": []})");
  CHECK(plain.files() == empty.files());
  for (const char* module : {"ingress_open", "ingress_close", "svc_open", "svc_close", "svc_mask"})
    CHECK(plain.find(fmt::format("rtl/{}.sv", module)) == nullptr);
  for (const char* word : {"svc_", "ingress", "egress", "deliver", ".Services("})
    CHECK(plain.find("rtl/n.sv")->find(word) == std::string::npos);
  CHECK(plain.find("rtl/csr.sv")->find("ctl_") == std::string::npos);
}

TEST_CASE("a header is held against the contract, port by port") {
  const std::string good = services::skeleton("stage", spec::Attach::ingress);
  CHECK(header_faults(good).empty());
  const auto line_of = [](const std::string& text, const std::string& what) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  };
  const auto faults = [&](const std::string& from, const std::string& to) {
    return header_faults(replace(good, from, to));
  };
  const auto at = [&](const char* code, const std::string& what) {
    return Lines{fmt::format("{} sv:{}", code, line_of(good, what))};
  };
  const std::string valid = "  input  logic               s_pkt_tvalid,\n";
  CHECK(faults(valid, "") == at("E0563", "module stage"));
  CHECK(faults("input  logic               s_pkt_tvalid", "output logic               s_pkt_tvalid") ==
        at("E0564", "s_pkt_tvalid,"));
  CHECK(faults("output logic               cnt_packets_o", "input  logic               cnt_packets_o") ==
        at("E0564", "cnt_packets_o"));
  CHECK(faults("input  logic [DataW-1:0]   s_pkt_tdata", "input  logic [511:0]       s_pkt_tdata") ==
        at("E0308", "s_pkt_tvalid,"));  // tkeep does not fit tdata
  CHECK(faults("input  roce_pkg::svc_rx_t s_pkt_tuser", "input  roce_pkg::svc_tx_t s_pkt_tuser") ==
        at("E0565", "s_pkt_tuser,"));
  CHECK(faults(valid, valid + "  output logic               led_o,\n") ==
        Lines{fmt::format("E0566 sv:{}", line_of(good, "s_pkt_tvalid,") + 1)});
  CHECK(faults("s_pkt_tvalid,", "s_pkt_tvald,").size() == 2);  // the stranger and the missing one
  CHECK(faults(valid, valid + "  input  logic               ctl_valid_i,\n") == at("E0563", "module stage"));
  CHECK(faults(valid, valid + "  input  logic [11:0]        life_i,\n") ==
        Lines{fmt::format("E0565 sv:{}", line_of(good, "s_pkt_tvalid,") + 1)});
  // A module of fixed width fits where the stack is as wide.
  const std::string fixed = replace(replace(good, "  parameter int DataW = 512,\n", ""), "int Index = 0\n",
                                    "int Index = 0,\n  localparam int DataW = 256\n");
  CHECK(header_faults(fixed).empty());
  CHECK(header_faults(replace(fixed, "DataW = 256", "DataW = 512")).size() == 4);
  // Parameters.
  CHECK(header_faults(good, R"({"Kex": 1})") == Lines{"E0562 json:3"});
  CHECK(header_faults(replace(good, "int Index = 0", "int Index = 0, parameter int Key = 1"), R"({"Key": 7})").empty());
  // The module.
  CHECK(header_faults(replace(good, "module stage ", "module stages ")) == Lines{"E0569 json:2"});
  CHECK_FALSE(header_faults(good + "\nmodule stream_skid; endmodule\n").empty());
  CHECK_FALSE(header_faults("module stage (").empty());
}

TEST_CASE("entries of services are read with places") {
  const std::string at = R"("attach": "ingress")";
  CHECK(read_faults(fmt::format("{{{}, {}}}", kEntry, at)).empty());
  CHECK(read_faults(fmt::format("{{{}}}", kEntry)) == Lines{"E0202 3:1+60 /services/0"});
  CHECK(read_faults(fmt::format("{{{},\n\"attach\": \"ingres\"}}", kEntry)) ==
        Lines{"E0205 4:11+8 /services/0/attach"});
  CHECK(read_faults(fmt::format("{{{}, {},\n\"moduel\": 1}}", kEntry, at)) == Lines{"E0201 4:1+8 /services/0/moduel"});
  CHECK(read_faults(fmt::format("{{{}, {},\n\"trailer\": 6}}", kEntry, at)) ==
        Lines{"E0568 4:12+1 /services/0/trailer"});
  CHECK(read_faults(fmt::format("{{{}, \"attach\": \"deliver\",\n\"trailer\": 4}}", kEntry)) ==
        Lines{"E0568 4:12+1 /services/0/trailer"});
  CHECK(read_faults(fmt::format("{{{}, {},\n\"parameters\": {{\"DataW\": 1}}}}", kEntry, at)) ==
        Lines{"E0561 4:16+7 /services/0/parameters/DataW"});
  CHECK(read_faults(fmt::format("{{{}, {},\n\"parameters\": {{\"Key\": \"a\"}}}}", kEntry, at)) ==
        Lines{"E0203 4:23+3 /services/0/parameters/Key"});
  CHECK(read_faults(fmt::format("{{\"type\": \"custom\", \"module\": \"stage\", {},\n\"files\": [\"none.sv\"]}}",
                                at)) == Lines{"E0560 4:11+9 /services/0/files/0"});
  CHECK(read_faults(fmt::format("{{\"type\": \"custom\", \"module\": \"stage\", {},\n\"files\": [\"nic.json\"]}}",
                                at)) == Lines{"E0560 4:11+10 /services/0/files/0"});
  CHECK(read_faults(fmt::format("{{{0}, {1}}},\n{{{0}, {1}}}", kEntry, at)) == Lines{"E0214 4:1+81 /services/1"});
  CHECK(read_faults(fmt::format("{{{0}, \"attach\": \"deliver\", \"name\": \"d\"}},\n{{{0}, {1}}}", kEntry, at)) ==
        Lines{"E0215 4:1+81 /services/1"});
}

TEST_CASE("a completed spec with services reads back as the same") {
  spec::Diagnostics diagnostics;
  const auto spec = spec::read_spec(ROCEGEN_SOURCE_DIR "/specs/custom_xor.json", diagnostics);
  REQUIRE_MESSAGE(spec, render(diagnostics));
  CHECK(spec->services.size() == 2);
  CHECK(spec->serves(spec::Attach::egress));
  CHECK_FALSE(spec->serves(spec::Attach::deliver));
  const auto again = spec::read_spec_text(ROCEGEN_SOURCE_DIR "/specs/again.json", to_json(*spec).dump(), diagnostics);
  REQUIRE_MESSAGE(again, render(diagnostics));
  CHECK(*again == *spec);
  CHECK(spec::check_spec(*spec, diagnostics) == spec);
  // A trailer makes frames longer.
  spec::StackSpec longer = *spec;
  longer.services[1].trailer = 16;
  CHECK(longer.max_payload() == spec->mtu + 16);
  CHECK(longer.max_frame_bytes() == spec->max_frame_bytes() + 16);
}

TEST_CASE("codes of services are sorted") {
  const auto all = services::codes();
  REQUIRE(all.size() > 5);
  for (std::size_t i = 1; i < all.size(); ++i) CHECK(std::string_view(all[i - 1].code) < std::string_view(all[i].code));
}
