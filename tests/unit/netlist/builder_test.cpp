#include "generator/netlist/ir.h"
#include "tests/unit/netlist/support.h"

namespace {

using namespace rocegen;
using namespace rocegen::netlist;
using namespace rocegen::netlist::test;

const Library& library() {
  static const Library kLibrary = small_library();
  return kLibrary;
}

// A builder with a maker and a taker of 12 bits.
struct Pair {
  Diagnostics diagnostics;
  Builder top{library(), "top", diagnostics};
  InstanceHandle maker = top.instance("maker_i", "maker");
  InstanceHandle taker = top.instance("taker_i", "taker");
};

TEST_CASE("builder: what is asked for is in the module") {
  Pair p;
  p.top.comment("a test");
  p.top.domain("", 250, "core");
  p.top.connect(p.maker.stream("m_out"), p.taker.stream("s_in"), {.weight = 2, .comment = "all of it"});
  p.top.connect_pin(p.maker.pin("level_o"), p.taker.pin("limit_i"));
  p.top.expose_pin(p.maker.pin("cnt_made_o"), "made_o");
  p.top.leave_open(p.taker.pin("cnt_taken_o"), "not counted");
  CHECK(p.diagnostics.empty());
  const Module m = p.top.take();
  CHECK(m.instances.size() == 2);
  REQUIRE(m.stream_connections.size() == 1);
  CHECK(m.stream_connections[0].weight == 2);
  CHECK(m.stream_connections[0].comment == "all of it");
  CHECK(m.stream_connections[0].origin.text.find("builder_test.cpp:") != std::string::npos);
  CHECK(m.pin_connections.size() == 2);
  CHECK(m.opens.size() == 1);
  REQUIRE(m.ports.size() == 1);
  CHECK(m.ports[0].direction == Direction::output);
  CHECK(m.describe(m.stream_connections[0].sink) == "taker_i.s_in");
  CHECK(m.describe(p.maker.pin("level_o", 2, 3)) == "maker_i.level_o[4:2]");
  CHECK(m.find_instance("taker_i") == 1);
  CHECK(m.find_instance("nobody") == -1);
}

TEST_CASE("builder: queries come in a fixed order") {
  Pair p;
  p.top.instance("maker_b_i", "maker");
  const auto counters = p.top.output_pins("cnt_");
  REQUIRE(counters.size() == 3);
  CHECK(counters[0].instance == "maker_i");
  CHECK(counters[0].name == "cnt_made_o");
  CHECK(counters[1].instance == "taker_i");
  CHECK(counters[1].module == "taker");
  CHECK(counters[2].instance == "maker_b_i");
  CHECK(counters[0].width == 1);
  const auto inputs = p.top.input_pins("limit");
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0].width == 8);
  CHECK(p.top.width(p.maker.pin("level_o")) == 8);
  CHECK(p.top.width(p.maker.pin("level_o", 2, 3)) == 3);
  CHECK(p.top.width(p.maker.pin("nothing")) == 0);
  CHECK(p.top.interface(p.maker).module == "maker");
}

TEST_CASE("builder: misuse is a diagnostic that names the thing, and where it was asked for") {
  const auto fault = [](std::string_view code, std::string_view what, auto&& act) {
    Pair p;
    act(p);
    const spec::Diagnostic d = only(p.diagnostics, code);
    CHECK_MESSAGE(mentions(d, what), spec::render(d));
    CHECK(d.place.file == "module top");
    CHECK(mentions(d, "builder_test.cpp:"));
  };
  fault("E0310", "it has s_in", [](Pair& p) { p.top.connect(p.maker.stream("m_out"), p.taker.stream("s_inn")); });
  fault("E0310", "did you mean 'limit_i'?", [](Pair& p) { p.top.tie(p.taker.pin("limt_i"), 0); });
  fault("E0310", "not a plain pin", [](Pair& p) { p.top.tie(p.taker.pin("s_in_tvalid"), 0); });
  fault("E0310", "not a plain pin", [](Pair& p) { p.top.tie(p.taker.pin("clk"), 0); });
  fault("E0310", "8 bits wide", [](Pair& p) { p.top.tie(p.taker.pin("limit_i", 6, 4), 0); });
  fault("E0310", "no port 'x'", [](Pair& p) { p.top.connect_pin(p.top.port("x"), p.taker.pin("limit_i")); });
  fault("E0310", "no stream port 'x'", [](Pair& p) { p.top.connect(p.top.port_stream("x"), p.taker.stream("s_in")); });
  fault("E0310", "no plain port 'axi_*'", [](Pair& p) { p.top.expose_pins(p.maker, "axi_"); });
  fault("E0310", "no clock 'clk_x'", [](Pair& p) { p.top.clock(p.maker, "clk_x", ""); });
  fault("E0311", "'maker_i'", [](Pair& p) { p.top.instance("maker_i", "maker"); });
  fault("E0311", "'maker_i'", [](Pair& p) { p.top.net("maker_i"); });
  fault("E0311", "'a_o'", [](Pair& p) {
    p.top.expose_pin(p.maker.pin("level_o"), "a_o");
    p.top.expose_pin(p.taker.pin("cnt_taken_o"), "a_o");
  });
  fault("E0312", "'mac'", [](Pair& p) { p.top.instance("x_i", "maker", {}, "", "mac"); });
  fault("E0312", "'mac'", [](Pair& p) { p.top.clock(p.maker, "clk", "mac"); });
  fault("E0313", "taker_i.s_in takes", [](Pair& p) { p.top.connect(p.taker.stream("s_in"), p.taker.stream("s_in")); });
  fault("E0313", "maker_i.m_out gives",
        [](Pair& p) { p.top.connect(p.maker.stream("m_out"), p.maker.stream("m_out")); });
  fault("E0313", "maker_i.level_o", [](Pair& p) { p.top.tie(p.maker.pin("level_o"), 0); });
  fault("E0313", "taker_i.limit_i", [](Pair& p) { p.top.connect_pin(p.taker.pin("limit_i"), p.taker.pin("limit_i")); });
  fault("E0313", "taker_i.limit_i", [](Pair& p) { p.top.leave_open(p.taker.pin("limit_i"), "no"); });
  fault("E0313", "reduction", [](Pair& p) {
    const PinRef net = p.top.reduce("all_there", Reduce::all, {p.maker.pin("level_o")});
    p.top.tie(net, 0);
  });
  fault("E0315", "cannot be a packet",
        [](Pair& p) { p.top.connect(p.maker.stream("m_out"), p.taker.stream("s_in"), {.as_packet = true}); });
  fault("E0315", "no field 'tuser'", [](Pair& p) {
    p.top.connect(p.maker.stream("m_out"), p.taker.stream("s_in"), {.map = {{"tdata", {{"tuser", 0, 12}}}}});
  });
  fault("E0315", "no field 'tlast'", [](Pair& p) {
    p.top.connect(p.maker.stream("m_out"), p.taker.stream("s_in"), {.map = {{"tlast", {{"tdata", 0, 1}}}}});
  });
  fault("E0315", "bits 4..15", [](Pair& p) {
    p.top.connect(p.maker.stream("m_out"), p.taker.stream("s_in"), {.map = {{"tdata", {{"tdata", 4, 12}}}}});
  });
  fault("E0315", "128 bits", [](Pair& p) { p.top.expose_stream(p.maker.stream("m_out"), "m_x", {.data_width = 128}); });
  fault("E0316", "256 does not fit", [](Pair& p) { p.top.tie(p.taker.pin("limit_i"), 256); });
  fault("E0316", "4 does not fit", [](Pair& p) { p.top.tie(p.taker.pin("limit_i", 3, 2), 4); });
  fault("E0314", "3 streams", [](Pair& p) {
    const auto fork = p.top.instance("fork_i", "stream_fork", {{"N", 3}, {"Width", 12}});
    p.top.connect(fork.stream("m_axis"), p.taker.stream("s_in"));
  });
  fault("E0314", "3 streams", [](Pair& p) {
    const auto fork = p.top.instance("fork_i", "stream_fork", {{"N", 3}, {"Width", 12}});
    p.top.expose_stream(fork.stream("m_axis"), "m_x");
  });
  fault("E0310", "3 streams", [](Pair& p) {
    const auto fork = p.top.instance("fork_i", "stream_fork", {{"N", 3}, {"Width", 12}});
    p.top.connect(fork.stream("m_axis", 3), p.taker.stream("s_in"));
  });
}

TEST_CASE("builder: an instance that cannot be made is reported once, not at each use") {
  Diagnostics diagnostics;
  Builder top(library(), "top", diagnostics);
  const auto broken = top.instance("broken_i", "makr");
  const auto taker = top.instance("taker_i", "taker", {{"W", 0}});
  top.connect(broken.stream("m_out"), taker.stream("s_in"));
  top.connect_pin(broken.pin("level_o"), taker.pin("limit_i"));
  top.expose_stream(broken.stream("m_out"), "m_x");
  top.expose_pin(broken.pin("level_o"), "level_o");
  top.expose_pins(broken, "m_");
  top.leave_open(broken.stream("m_out"), "x");
  top.leave_open(broken.pin("a_o"), "x");
  top.set_record(broken.stream("m_out"), "tdata", "x");
  top.clock(broken, "clk", "");
  CHECK(top.interface(broken).ports.empty());
  CHECK(codes_of(diagnostics) == std::vector<std::string>{"E0304", "E0306"});
}

TEST_CASE("builder: arrays connect lane by lane") {
  Diagnostics diagnostics;
  Builder top(library(), "top", diagnostics);
  const auto fork = top.instance("fork_i", "stream_fork", {{"N", 3}, {"Width", 12}});
  const auto arb = top.instance("arb_i", "record_arb", {{"N", 3}, {"Width", 12}});
  top.connect(fork.stream("m_axis"), arb.stream("s_axis"));
  CHECK(diagnostics.empty());
  const Module m = top.take();
  REQUIRE(m.stream_connections.size() == 3);
  CHECK(m.stream_connections[2].source == fork.stream("m_axis", 2));
  CHECK(m.stream_connections[2].sink == arb.stream("s_axis", 2));
}

TEST_CASE("builder: a record becomes a packet without payload") {
  Diagnostics diagnostics;
  Builder top(library(), "top", diagnostics);
  const auto maker = top.instance("maker_i", "maker", {{"W", 12}});
  const auto taker = top.instance("taker_i", "pkt_taker", {{"DataW", 64}, {"UserW", 13}});
  top.connect(maker.stream("m_out"), taker.stream("s_in"), {.as_packet = true});
  CHECK(diagnostics.empty());
  const PayloadMap map = top.module().stream_connections.at(0).map;
  REQUIRE(map.size() == 4);
  CHECK(map[0] == FieldMap{"tdata", {{"", 0, 64, 0}}});
  CHECK(map[1] == FieldMap{"tkeep", {{"", 0, 8, 0}}});
  CHECK(map[2] == FieldMap{"tlast", {{"", 0, 1, 1}}});
  CHECK(map[3] == FieldMap{"tuser", {{"", 0, 1, 0}, {"tdata", 0, 12, 0}}});
}

TEST_CASE("builder: ports take direction, width, record and clock of what they expose") {
  Diagnostics diagnostics;
  Builder top(library(), "top", diagnostics);
  top.domain("mac", 322.265625);
  const auto maker = top.instance("maker_i", "rec_maker", {}, "", "mac");
  const auto taker = top.instance("taker_i", "pkt_taker", {{"DataW", 512}});
  top.expose_stream(maker.stream("m_out"), "m_axis_rec",
                    {.comment = "records", .attributes = {{"X_INTERFACE_INFO", "x"}}});
  top.expose_stream(taker.stream("s_in"), "s_axis_p", {.domain = "mac", .data_width = 64});
  CHECK(diagnostics.empty());
  const Module m = top.take();
  REQUIRE(m.streams.size() == 2);
  CHECK(m.streams[0].role == Role::source);
  CHECK(m.streams[0].domain == "mac");
  CHECK(m.streams[0].fields[0].record == "pk::rec_t");
  CHECK(m.streams[0].attributes.size() == 1);
  CHECK(m.streams[1].role == Role::sink);
  CHECK(m.streams[1].domain == "mac");
  CHECK(m.streams[1].fields[0].width == 64);
  CHECK(m.streams[1].fields[1].width == 8);
  CHECK(m.streams[1].fields[3].width == 4);
  CHECK(m.port_order.size() == 2);
}

TEST_CASE("builder: constants and slices") {
  CHECK(constant(4, 0xFF).value == 0xF);
  CHECK(constant(64, ~0ULL).value == ~0ULL);
  CHECK(constant(16, 0xABCD).slice(4, 8).value == 0xBC);
  CHECK(constant(100, 5).slice(80, 8).value == 0);
  const PinRef pin = InstanceHandle(3).pin("x_o", 8, 8);
  CHECK(pin.slice(2, 3).lsb == 10);
  CHECK(pin.slice(2, 3).width == 3);
}

}  // namespace
