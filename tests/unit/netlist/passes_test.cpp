#include "generator/netlist/passes.h"

#include <algorithm>

#include "generator/netlist/check.h"
#include "generator/netlist/codes.h"
#include "generator/netlist/crossing.h"
#include "generator/netlist/lookup.h"
#include "generator/netlist/names.h"
#include "generator/netlist/pipeline.h"
#include "generator/netlist/prune.h"
#include "generator/netlist/types.h"
#include "generator/netlist/width.h"
#include "generator/netlist/write_json.h"
#include "tests/unit/netlist/support.h"

namespace {

using namespace rocegen;
using namespace rocegen::netlist;
using namespace rocegen::netlist::test;

const Library& library() {
  static const Library kLibrary = small_library();
  return kLibrary;
}

struct Bench {
  Diagnostics diagnostics;
  Builder top{library(), "top", diagnostics};

  Design design() {
    INFO(shown(diagnostics));
    REQUIRE(diagnostics.empty());
    return single(top.take());
  }
};

std::int64_t param(const Instance& i, std::string_view name) {
  for (const Param& p : i.interface.params) {
    if (p.name == name) return p.value.number();
  }
  return -1;
}

// Packet maker and taker of given widths, in given domains.
Design packets(int from, int to, const std::string& from_domain = "", const std::string& to_domain = "",
               ConnectOptions options = {}, const char* taker_module = "pkt_taker") {
  Bench b;
  if (!from_domain.empty() || !to_domain.empty()) b.top.domain("mac");
  const auto maker = b.top.instance("maker_i", "pkt_maker", {{"DataW", from}}, "", from_domain);
  const auto taker = b.top.instance("taker_i", taker_module, {{"DataW", to}}, "", to_domain);
  b.top.connect(maker.stream("m_out"), taker.stream("s_in"), std::move(options));
  return b.design();
}

// ---- types --------------------------------------------------------------------------------------------------------

TEST_CASE("types: a record is known behind a FIFO, a fork and an arbiter") {
  Bench b;
  const auto maker = b.top.instance("maker_i", "rec_maker");
  const auto fifo = b.top.instance("fifo_i", "stream_fifo", {{"Width", 12}});
  const auto fork = b.top.instance("fork_i", "stream_fork", {{"N", 2}, {"Width", 12}});
  const auto good = b.top.instance("good_i", "rec_taker");
  const auto bad = b.top.instance("bad_i", "other_taker");
  b.top.connect(maker.stream("m_out"), fifo.stream("s_axis"));
  b.top.connect(fifo.stream("m_axis"), fork.stream("s_axis"));
  b.top.connect(fork.stream("m_axis", 0), good.stream("s_in"));
  b.top.connect(fork.stream("m_axis", 1), bad.stream("s_in"));
  Design d = b.design();
  Diagnostics found;
  types_pass(d, library(), found);
  const spec::Diagnostic one = only(found, "E0327");
  CHECK(mentions(one, "fork_i.m_axis[1] is pk::rec_t"));
  CHECK(mentions(one, "bad_i.s_in takes pk::other_t"));
  CHECK(found.error_count() == 1);
}

TEST_CASE("types: a port learns its record from what is behind it") {
  Bench b;
  const auto fifo = b.top.instance("fifo_i", "stream_fifo", {{"Width", 12}});
  const auto taker = b.top.instance("taker_i", "rec_taker");
  b.top.expose_stream(fifo.stream("s_axis"), "s_axis_x");
  b.top.connect(fifo.stream("m_axis"), taker.stream("s_in"));
  Design d = b.design();
  Diagnostics found;
  types_pass(d, library(), found);
  CHECK(found.empty());
  CHECK(d.top().streams[0].fields[0].record == "pk::rec_t");
}

// ---- width --------------------------------------------------------------------------------------------------------

TEST_CASE("width: up and down") {
  for (const auto& [from, to, module] :
       {std::tuple(64, 512, "width_up"), std::tuple(512, 64, "width_down"), std::tuple(64, 128, "width_up")}) {
    CAPTURE(from);
    CAPTURE(to);
    Design d = packets(from, to);
    Diagnostics found;
    width_pass(d, library(), found);
    check_structure(d, found);
    check_payloads(d, false, found);
    INFO(shown(found));
    CHECK(found.empty());
    REQUIRE(d.top().instances.size() == 3);
    const Instance& adapter = d.top().instances[2];
    CHECK(adapter.interface.module == module);
    CHECK(adapter.inserted_by == "width");
    CHECK(adapter.comment.find(fmt::format("{} bits to {}", from, to)) != std::string::npos);
    CHECK(param(adapter, "InBytes") == from / 8);
    CHECK(param(adapter, "OutBytes") == to / 8);
    CHECK(param(adapter, "UserW") == 4);
    CHECK(d.top().stream_connections.size() == 2);
  }
}

TEST_CASE("width: equal widths need nothing, and a second run changes nothing") {
  Design d = packets(64, 64);
  Diagnostics found;
  width_pass(d, library(), found);
  CHECK(d.top().instances.size() == 2);
  d = packets(64, 256);
  width_pass(d, library(), found);
  const std::string once = write_json(d);
  width_pass(d, library(), found);
  CHECK(write_json(d) == once);
  CHECK(found.empty());
}

TEST_CASE("width: tuser that is dropped or zero") {
  {
    Design d = packets(64, 128, "", "", {.drop = {"tuser"}}, "bare_taker");
    Diagnostics found;
    width_pass(d, library(), found);
    check_structure(d, found);
    check_payloads(d, false, found);
    INFO(shown(found));
    CHECK(found.empty());
    CHECK(param(d.top().instances[2], "UserW") == 1);
    CHECK(d.top().stream_connections[0].dropped == std::vector<std::string>{"tuser"});
    CHECK(d.top().stream_connections[1].dropped == std::vector<std::string>{"tuser"});
  }
  {
    Design d = packets(64, 128, "", "", {.drop = {"tuser"}, .zero = {"tuser"}});
    Diagnostics found;
    width_pass(d, library(), found);
    check_payloads(d, false, found);
    INFO(shown(found));
    CHECK(found.empty());
    const PayloadMap& map = d.top().stream_connections[1].map;
    const auto user = std::find_if(map.begin(), map.end(), [](const FieldMap& f) { return f.field == "tuser"; });
    REQUIRE(user != map.end());
    CHECK(user->pieces == std::vector<Piece>{{"", 0, 4, 0}});
  }
}

TEST_CASE("width: what is no multiple is refused") {
  Design d = packets(64, 96);
  Diagnostics found;
  width_pass(d, library(), found);
  const spec::Diagnostic one = only(found, "E0335");
  CHECK(mentions(one, "64 cannot be adapted to 96"));
  CHECK(mentions(one, "maker_i.m_out -> taker_i.s_in"));
  CHECK(d.top().instances.size() == 2);
}

TEST_CASE("width: with a crossing, the wide side crosses") {
  for (const bool up : {true, false}) {
    CAPTURE(up);
    Design d = up ? packets(64, 512, "mac", "") : packets(512, 64, "", "mac");
    Diagnostics found;
    width_pass(d, library(), found);
    crossing_pass(d, library(), 32, found);
    check_structure(d, found);
    check_payloads(d, false, found);
    check_domains(d, found);
    INFO(shown(found));
    CHECK(found.empty());
    REQUIRE(d.top().instances.size() == 4);
    CHECK(d.top().instances[2].domain_of_clock("clk") == "mac");
    const Instance& crossing = d.top().instances[3];
    CHECK(crossing.interface.module == "stream_cdc");
    CHECK(param(crossing, "Width") == 512 + 64 + 1 + 4);
  }
}

// ---- crossing -----------------------------------------------------------------------------------------------------

TEST_CASE("crossing: between two domains, once") {
  Bench b;
  b.top.domain("mac");
  b.top.connect(quiet_maker(b.top, "maker_i", 12, "mac").stream("m_out"), quiet_taker(b.top, "taker_i").stream("s_in"));
  Design d = b.design();
  Diagnostics found;
  crossing_pass(d, library(), 32, found);
  crossing_pass(d, library(), 32, found);
  check_structure(d, found);
  check_domains(d, found);
  check_payloads(d, false, found);
  INFO(shown(found));
  CHECK(found.empty());
  REQUIRE(d.top().instances.size() == 3);
  const Instance& cdc = d.top().instances[2];
  CHECK(cdc.name == "maker_out_cdc_i");
  CHECK(cdc.domain_of_clock("clk_s") == "mac");
  CHECK(cdc.domain_of_clock("clk_m").empty());
  CHECK(param(cdc, "Width") == 12);
  CHECK(param(cdc, "Depth") == 32);
  CHECK(cdc.inserted_by == "crossing");
  CHECK(cdc.comment == "clk_mac to clk: maker_i.m_out -> taker_i.s_in");
}

TEST_CASE("crossing: a port in another domain") {
  Bench b;
  b.top.domain("mac");
  const auto taker = quiet_taker(b.top, "taker_i");
  b.top.expose_stream(taker.stream("s_in"), "s_axis_x", {.domain = "mac"});
  Design d = b.design();
  Diagnostics found;
  crossing_pass(d, library(), 16, found);
  CHECK(count_module(d.top(), "stream_cdc") == 1);
}

TEST_CASE("crossing: dropped fields do not cross, mapped ones do") {
  Bench b;
  b.top.domain("mac");
  const auto maker = quiet_maker(b.top, "maker_i", 12, "mac");
  const auto taker = b.top.instance("taker_i", "pkt_taker", {{"UserW", 13}});
  b.top.connect(maker.stream("m_out"), taker.stream("s_in"), {.as_packet = true});
  Design d = b.design();
  Diagnostics found;
  crossing_pass(d, library(), 16, found);
  check_structure(d, found);
  check_payloads(d, false, found);
  INFO(shown(found));
  CHECK(found.empty());
  CHECK(param(d.top().instances[2], "Width") == 12);  // not the 86 bits of the packet

  Design dropped = packets(64, 64, "mac", "", {.drop = {"tuser"}}, "bare_taker");
  crossing_pass(dropped, library(), 16, found);
  check_payloads(dropped, false, found);
  CHECK(found.empty());
  CHECK(param(dropped.top().instances[2], "Width") == 64 + 8 + 1);
}

// ---- pipeline -----------------------------------------------------------------------------------------------------

TEST_CASE("pipeline: the rule") {
  using S = std::vector<Slice>;
  const Slice r = Slice::reg;
  const Slice s = Slice::skid;
  for (int depth = 0; depth <= 4; ++depth) CHECK(slices(depth, 0).empty());
  CHECK(slices(0, 1).empty());
  CHECK(slices(1, 1).empty());
  CHECK(slices(2, 1) == S{r});
  CHECK(slices(3, 1) == S{s});
  CHECK(slices(4, 1) == S{r, s});
  CHECK(slices(0, 2).empty());
  CHECK(slices(1, 2) == S{r});
  CHECK(slices(2, 2) == S{r, s});
  CHECK(slices(3, 2) == S{r, s, s});
  CHECK(slices(4, 2) == S{r, s, s, s});
  CHECK(slices(4, 7) == slices(4, 2));
  CHECK(slices(-1, 2).empty());
}

TEST_CASE("pipeline: slices stand in their connection, in order, with the payload packed") {
  Design d = packets(64, 64, "", "", {.weight = 2});
  Diagnostics found;
  pipeline_pass(d, library(), 3, found);
  check_structure(d, found);
  check_payloads(d, false, found);
  check_domains(d, found);
  check_completeness(d, found);
  INFO(shown(found));
  const Module& m = d.top();
  REQUIRE(m.instances.size() == 5);
  CHECK(m.instances[2].interface.module == "stream_reg");
  CHECK(m.instances[3].interface.module == "stream_skid");
  CHECK(m.instances[4].interface.module == "stream_skid");
  for (int i = 2; i < 5; ++i) {
    const Instance& slice = m.instances[static_cast<std::size_t>(i)];
    CHECK(param(slice, "Width") == 64 + 8 + 1 + 4);
    CHECK(slice.inserted_by == "pipeline");
    CHECK(slice.comment ==
          fmt::format("pipeline_depth 3, weight 2: slice {} of 3 in maker_i.m_out -> taker_i.s_in", i - 1));
  }
  // One chain from the source through all slices to the sink.
  REQUIRE(m.stream_connections.size() == 4);
  CHECK(m.stream_connections[0].source == InstanceHandle(0).stream("m_out"));
  for (int i = 0; i < 3; ++i) {
    CHECK(m.stream_connections[static_cast<std::size_t>(i)].sink == InstanceHandle(2 + i).stream("s_axis"));
    CHECK(m.stream_connections[static_cast<std::size_t>(i) + 1].source == InstanceHandle(2 + i).stream("m_axis"));
  }
  CHECK(m.stream_connections[3].sink == InstanceHandle(1).stream("s_in"));
  // {tuser, tlast, tkeep, tdata}
  const std::vector<Piece> pieces = m.stream_connections[0].map.at(0).pieces;
  REQUIRE(pieces.size() == 4);
  CHECK(pieces[0].field == "tuser");
  CHECK(pieces[3].field == "tdata");
  for (const FieldMap& one : m.stream_connections[3].map) {
    const int lsb = one.field == "tdata" ? 0 : one.field == "tkeep" ? 64 : one.field == "tlast" ? 72 : 73;
    CHECK(one.pieces.at(0).lsb == lsb);
  }
}

TEST_CASE("pipeline: depth has an effect at each step, weight 0 has none") {
  std::vector<std::size_t> counts;
  for (int depth = 0; depth <= 4; ++depth) {
    std::size_t total = 0;
    for (const int weight : {0, 1, 2}) {
      Design d = packets(64, 64, "", "", {.weight = weight});
      Diagnostics found;
      pipeline_pass(d, library(), depth, found);
      CHECK(found.empty());
      const std::size_t sets = count_module(d.top(), "stream_reg") + 2 * count_module(d.top(), "stream_skid");
      if (weight == 0) CHECK(sets == 0);
      total += sets;
    }
    counts.push_back(total);
  }
  CHECK(counts == std::vector<std::size_t>{0, 1, 4, 7, 10});
}

TEST_CASE("pipeline: streams that cannot wait are not cut") {
  Design d = packets(64, 64, "", "", {.weight = 2});
  d.modules[0].instances[0].interface.streams[0].has_ready = false;
  Diagnostics found;
  pipeline_pass(d, library(), 4, found);
  CHECK(d.top().instances.size() == 2);
}

TEST_CASE("pipeline: slices go into the domain of their stream") {
  Bench b;
  b.top.domain("mac");
  b.top.connect(quiet_maker(b.top, "maker_i", 12, "mac").stream("m_out"),
                quiet_taker(b.top, "taker_i", 12, "mac").stream("s_in"), {.weight = 2});
  Design d = b.design();
  Diagnostics found;
  pipeline_pass(d, library(), 2, found);
  check_domains(d, found);
  CHECK(found.empty());
  CHECK(d.top().instances[2].domain_of_clock("clk") == "mac");
}

TEST_CASE("pipeline: an adapted connection is cut once, behind its adapter") {
  Design d = packets(64, 128, "mac", "", {.weight = 2});
  Diagnostics found;
  width_pass(d, library(), found);
  crossing_pass(d, library(), 16, found);
  pipeline_pass(d, library(), 2, found);
  check_structure(d, found);
  check_payloads(d, false, found);
  INFO(shown(found));
  CHECK(found.empty());
  CHECK(count_module(d.top(), "stream_reg") == 1);
  CHECK(count_module(d.top(), "stream_skid") == 1);
}

// ---- names --------------------------------------------------------------------------------------------------------

TEST_CASE("names: what is legal") {
  CHECK(fault_of_name("rx_frontend_i").empty());
  CHECK(fault_of_name("a").empty());
  CHECK(!fault_of_name("").empty());
  CHECK(fault_of_name("_a").find("underscore") != std::string::npos);
  CHECK(fault_of_name("9a").find("letter") != std::string::npos);
  CHECK(fault_of_name("a-b").find("'-'") != std::string::npos);
  CHECK(fault_of_name("a$b").find("'$'") != std::string::npos);
  CHECK(fault_of_name("module").find("keyword") != std::string::npos);
  CHECK(fault_of_name("always_ff").find("keyword") != std::string::npos);
  CHECK(fault_of_name("xor").find("keyword") != std::string::npos);
  CHECK(fault_of_name("accept_on").find("keyword") != std::string::npos);
  CHECK(fault_of_name("Module").empty());
  CHECK(fault_of_name(std::string(128, 'a')).empty());
  CHECK(!fault_of_name(std::string(129, 'a')).empty());
}

TEST_CASE("names: a person's names are refused, not changed") {
  const auto fault = [](std::string_view code, std::string_view what, auto&& act, const std::string& name = "top") {
    Diagnostics diagnostics;
    Builder b(library(), name, diagnostics);
    act(b);
    REQUIRE(diagnostics.empty());
    Design d = single(b.take());
    names_pass(d, library(), diagnostics);
    CHECK_MESSAGE(mentions(only(diagnostics, code), what), shown(diagnostics));
  };
  fault(
      "E0336", "'module'", [](Builder&) {}, "module");
  fault(
      "E0336", "'100g'", [](Builder&) {}, "100g");
  fault("E0336", "'wire'", [](Builder& b) { quiet_maker(b, "wire"); });
  fault("E0336", "'_p'", [](Builder& b) { b.expose_pin(b.instance("m_i", "maker").pin("level_o"), "_p"); });
  fault("E0336", "'s-x'", [](Builder& b) { b.expose_stream(quiet_taker(b, "t_i").stream("s_in"), "s-x"); });
  fault("E0337", "'clk'", [](Builder& b) { b.expose_pin(b.instance("m_i", "maker").pin("level_o"), "clk"); });
  fault("E0337", "'s_x_tdata'", [](Builder& b) {
    const auto t = quiet_taker(b, "t_i");
    b.expose_stream(t.stream("s_in"), "s_x");
    b.expose_pin(b.instance("m_i", "maker").pin("level_o"), "s_x_tdata");
  });
  fault(
      "E0337", "'stream_fifo'", [](Builder&) {}, "stream_fifo");
}

TEST_CASE("names: made names come from what they hang on, and give way") {
  Bench b;
  const auto maker = quiet_maker(b.top, "u_maker");
  const auto taker = b.top.instance("taker_i", "taker");
  // This net has the very name that a wire would get.
  const PinRef net = b.top.net("maker_out_tvalid", 8);
  b.top.connect_pin(maker.pin("level_o"), net);
  b.top.connect_pin(net, taker.pin("limit_i"));
  b.top.connect(maker.stream("m_out"), taker.stream("s_in"));
  b.top.expose_pin(taker.pin("cnt_taken_o"), "taken_o");
  Design d = single(b.top.take());
  Diagnostics found;
  names_pass(d, library(), found);
  CHECK(found.empty());
  CHECK(d.top().stream_connections[0].name == "maker_out_2");
  const auto wires = d.top().instances[0].wires;
  CHECK(wires == std::vector<std::pair<std::string, std::string>>{{"cnt_made_o", "maker_cnt_made"},
                                                                  {"level_o", "maker_out_tvalid"}});
  CHECK(d.top().instances[1].wires == std::vector<std::pair<std::string, std::string>>{{"cnt_taken_o", "taken_o"}});
  const std::string once = write_json(d);
  names_pass(d, library(), found);
  CHECK(write_json(d) == once);
}

TEST_CASE("names: inserted instances do not collide") {
  Bench b;
  const auto maker = quiet_maker(b.top, "maker_i");
  const auto clash = quiet_taker(b.top, "maker_out_slice0_i");
  b.top.connect(maker.stream("m_out"), clash.stream("s_in"), {.weight = 2});
  Design d = b.design();
  Diagnostics found;
  pipeline_pass(d, library(), 1, found);
  names_pass(d, library(), found);
  CHECK(found.empty());
  CHECK(d.top().instances[2].name == "maker_out_slice0_i_2");
}

TEST_CASE("names: a change elsewhere does not rename") {
  const auto name_of = [](bool more) {
    Bench b;
    if (more)
      b.top.connect(quiet_maker(b.top, "a_i").stream("m_out"), quiet_taker(b.top, "b_i").stream("s_in"), {.weight = 2});
    b.top.connect(quiet_maker(b.top, "maker_i").stream("m_out"), quiet_taker(b.top, "taker_i").stream("s_in"),
                  {.weight = 2});
    Design d = b.design();
    Diagnostics found;
    pipeline_pass(d, library(), 2, found);
    names_pass(d, library(), found);
    std::vector<std::string> names;
    for (const StreamConnection& c : d.top().stream_connections) {
      if (c.name.rfind("maker", 0) == 0) names.push_back(c.name);
    }
    return names;
  };
  CHECK(name_of(false) == std::vector<std::string>{"maker_out", "maker_out_slice0", "maker_out_slice1"});
  CHECK(name_of(true) == name_of(false));
}

// ---- prune --------------------------------------------------------------------------------------------------------

TEST_CASE("prune: only what is used, used before using") {
  Bench b;
  const auto fifo = b.top.instance("fifo_i", "stream_cdc", {{"Width", 8}});
  static_cast<void>(fifo);
  Design d = b.design();
  Diagnostics found;
  prune_pass(d, library(), found);
  CHECK(d.library_modules == std::vector<std::string>{"sync_bit", "stream_cdc"});
  CHECK(d.include_files == std::vector<std::string>{"rocegen_assert.svh"});
  CHECK(d.package_files.empty());
  Bench with_record;
  with_record.top.instance("r_i", "rec_maker");
  d = with_record.design();
  prune_pass(d, library(), found);
  CHECK(d.package_files == std::vector<std::string>{"modules.sv"});
}

// ---- manager ------------------------------------------------------------------------------------------------------

TEST_CASE("passes: the standard order, to the end") {
  const PassManager manager = standard_passes({.pipeline_depth = 2});
  CHECK(manager.names() ==
        std::vector<std::string>{"types", "width", "crossing", "pipeline", "names", "check", "prune"});
  Design d = packets(64, 512, "mac", "", {.weight = 2});
  Diagnostics found;
  CHECK(manager.run(d, library(), found));
  INFO(shown(found));
  CHECK(!found.has_errors());
  CHECK(count_module(d.top(), "width_up") == 1);
  CHECK(count_module(d.top(), "stream_cdc") == 1);
  CHECK(!d.library_modules.empty());
}

TEST_CASE("passes: stops at the first pass with an error") {
  Design d = packets(64, 96);
  Diagnostics found;
  std::vector<std::string> dumped;
  PassManager manager = standard_passes({});
  for (const std::string& name : manager.names())
    manager.dump_after(name, [&dumped, name](const std::string&) { dumped.push_back(name); });
  CHECK(!manager.run(d, library(), found));
  CHECK(codes_of(found) == std::vector<std::string>{"E0335"});
  CHECK(dumped == std::vector<std::string>{"types", "width"});
}

TEST_CASE("passes: an unsound netlist is not touched") {
  Design d = packets(64, 64);
  d.modules[0].stream_connections[0].sink.instance = 7;
  Diagnostics found;
  bool ran = false;
  PassManager manager;
  manager.add("any", [&](Design&, const Library&, Diagnostics&) { ran = true; });
  CHECK(!manager.run(d, library(), found));
  CHECK(!ran);
  only(found, "E0320");
}

TEST_CASE("passes: a pass that breaks an invariant is named") {
  Design d = packets(64, 64);
  Diagnostics found;
  PassManager manager;
  bool later = false;
  manager.add("vandal", [](Design& design, const Library&, Diagnostics&) {
    design.modules[0].stream_connections[0].sink.instance = 7;
  });
  manager.add("later", [&](Design&, const Library&, Diagnostics&) { later = true; });
  CHECK(!manager.run(d, library(), found));
  CHECK(!later);
  CHECK(codes_of(found) == std::vector<std::string>{"E0320", "E0339"});
  CHECK(mentions(only(found, "E0339"), "'vandal'"));
}

TEST_CASE("passes: dump_after") {
  Design d = packets(64, 64, "", "", {.weight = 2});
  Diagnostics found;
  PassManager manager = standard_passes({.pipeline_depth = 1});
  std::string before;
  std::string after;
  manager.dump_after("crossing", [&](const std::string& json) { before = json; });
  manager.dump_after("pipeline", [&](const std::string& json) { after = json; });
  CHECK(manager.run(d, library(), found));
  CHECK(before.find("stream_reg") == std::string::npos);
  CHECK(after.find("stream_reg") != std::string::npos);

  PassManager wrong = standard_passes({});
  wrong.dump_after("pipelin", [](const std::string&) {});
  CHECK(!wrong.run(d, library(), found));
  CHECK(mentions(only(found, "E0338"), "did you mean 'pipeline'?"));
}

TEST_CASE("passes: two runs give the same bytes") {
  const auto run = [] {
    Design d = packets(64, 512, "mac", "", {.weight = 2});
    Diagnostics found;
    standard_passes({.pipeline_depth = 4}).run(d, library(), found);
    return write_json(d);
  };
  CHECK(run() == run());
}

TEST_CASE("codes: sorted, each explained") {
  std::string previous;
  for (const spec::CodeInfo& info : codes()) {
    CAPTURE(info.code);
    CHECK(std::string(info.code).size() == 5);
    CHECK((std::string(info.code).rfind("E03", 0) == 0 || std::string(info.code).rfind("W03", 0) == 0));
    CHECK(previous < info.code);
    CHECK(std::string(info.title).size() > 3);
    CHECK(std::string(info.explanation).size() > 20);
    CHECK(std::string(info.example).size() > 3);
    CHECK(std::string(info.fix).size() > 3);
    previous = info.code;
  }
}

}  // namespace
