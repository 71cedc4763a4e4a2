#include "generator/netlist/check.h"

#include "generator/netlist/lookup.h"
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

  // The module, after the builder found nothing wrong.
  Design design() {
    INFO(shown(diagnostics));
    REQUIRE(diagnostics.empty());
    return single(top.take());
  }
};

Diagnostics structure(const Design& design) {
  Diagnostics d;
  check_structure(design, d);
  return d;
}
Diagnostics complete(const Design& design) {
  Diagnostics d;
  check_completeness(design, d);
  return d;
}
Diagnostics payloads(const Design& design, bool adapters_to_come = false) {
  Diagnostics d;
  check_payloads(design, adapters_to_come, d);
  return d;
}
Diagnostics domains(const Design& design) {
  Diagnostics d;
  check_domains(design, d);
  return d;
}
Diagnostics loops(const Design& design) {
  Diagnostics d;
  check_loops(design, d);
  return d;
}

Design sound() {
  Bench b;
  const auto maker = quiet_maker(b.top, "maker_i");
  const auto taker = quiet_taker(b.top, "taker_i");
  b.top.connect(maker.stream("m_out"), taker.stream("s_in"));
  return b.design();
}

TEST_CASE("check: a sound netlist passes every check") {
  Design d = sound();
  Diagnostics diagnostics;
  check_structure(d, diagnostics);
  check_pass(d, library(), diagnostics);
  INFO(shown(diagnostics));
  CHECK(diagnostics.empty());
}

TEST_CASE("check: dangling references") {
  const auto fault = [](std::string_view what, auto&& damage) {
    Design d = sound();
    damage(d.modules[0]);
    const Diagnostics found = structure(d);
    INFO(shown(found));
    CHECK(mentions(only(found, "E0320"), what));
  };
  fault("?.s_in", [](Module& m) { m.stream_connections[0].sink.instance = 9; });
  fault("maker_i.m_none", [](Module& m) { m.stream_connections[0].source.stream = "m_none"; });
  fault("maker_i.m_out[0]", [](Module& m) { m.stream_connections[0].source.lane = 0; });
  fault("no field 'tuser'", [](Module& m) { m.stream_connections[0].map = {{"tuser", {{"tdata", 0, 1}}}}; });
  fault("bits 8..15", [](Module& m) { m.stream_connections[0].map = {{"tdata", {{"tdata", 8, 8}}}}; });
  fault("limit_x", [](Module& m) { m.pin_connections[0].sink.name = "limit_x"; });
  fault("taker_i.limit_i[8:1]", [](Module& m) { m.pin_connections[0].sink.lsb = 1; });
  fault("cnt_gone_o", [](Module& m) { m.opens[0].pin.name = "cnt_gone_o"; });
  fault("reduces nothing", [](Module& m) { m.nets.push_back({"n", 1, Reduce::all, {}, "", {}}); });
  fault("two instances", [](Module& m) { m.instances[1].name = "maker_i"; });
  fault("'mac'", [](Module& m) { m.instances[1].domains[0].second = "mac"; });
}

TEST_CASE("check: wrong directions") {
  Design d = sound();
  std::swap(d.modules[0].stream_connections[0].source, d.modules[0].stream_connections[0].sink);
  CHECK(codes_of(structure(d)) == std::vector<std::string>{"E0321", "E0321"});
  d = sound();
  d.modules[0].pin_connections[0].sink = InstanceHandle(0).pin("level_o", 0, 8);
  CHECK(mentions(only(structure(d), "E0321"), "maker_i.level_o"));
}

TEST_CASE("check: width of pins") {
  Bench b;
  const auto maker = b.top.instance("maker_i", "maker");
  const auto taker = b.top.instance("taker_i", "taker");
  b.top.connect_pin(maker.pin("level_o", 0, 4), taker.pin("limit_i"));
  const spec::Diagnostic d = only(structure(b.design()), "E0322");
  CHECK(mentions(d, "maker_i.level_o[3:0] is 4 bits wide"));
  CHECK(mentions(d, "check_test.cpp:"));
}

TEST_CASE("check: multiply driven and multiply read") {
  {
    Bench b;
    const auto one = quiet_maker(b.top, "one_i");
    const auto two = quiet_maker(b.top, "two_i");
    const auto taker = quiet_taker(b.top, "taker_i");
    b.top.connect(one.stream("m_out"), taker.stream("s_in"));
    b.top.connect(two.stream("m_out"), taker.stream("s_in"));
    const spec::Diagnostic d = only(structure(b.design()), "E0323");
    CHECK(mentions(d, "taker_i.s_in is driven twice"));
    CHECK(mentions(d, "first from one_i.m_out"));
  }
  {
    Bench b;
    const auto maker = quiet_maker(b.top, "maker_i");
    b.top.connect(maker.stream("m_out"), quiet_taker(b.top, "a_i").stream("s_in"));
    b.top.connect(maker.stream("m_out"), quiet_taker(b.top, "b_i").stream("s_in"));
    const spec::Diagnostic d = only(structure(b.design()), "E0324");
    CHECK(mentions(d, "maker_i.m_out is read twice"));
    CHECK(mentions(d, "stream_fork"));
  }
  {
    Bench b;
    const auto maker = quiet_maker(b.top, "maker_i");
    b.top.connect(maker.stream("m_out"), quiet_taker(b.top, "a_i").stream("s_in"));
    b.top.leave_open(maker.stream("m_out"), "x");
    CHECK(mentions(only(structure(b.design()), "E0324"), "left open and connected"));
  }
  {
    Bench b;
    const auto maker = b.top.instance("maker_i", "maker");
    const auto taker = b.top.instance("taker_i", "taker");
    b.top.tie(taker.pin("limit_i", 0, 5), 0);
    b.top.connect_pin(maker.pin("level_o", 0, 4), taker.pin("limit_i", 4, 4));
    CHECK(mentions(only(structure(b.design()), "E0323"), "taker_i.limit_i[7:4] is driven twice"));
  }
  {  // neighbouring slices and many readers are fine
    Bench b;
    const auto maker = b.top.instance("maker_i", "maker");
    const auto taker = b.top.instance("taker_i", "taker");
    b.top.tie(taker.pin("limit_i", 0, 4), 0);
    b.top.connect_pin(maker.pin("level_o", 0, 4), taker.pin("limit_i", 4, 4));
    b.top.expose_pin(maker.pin("level_o"), "level_o");
    CHECK(structure(b.design()).empty());
  }
}

TEST_CASE("check: undriven and unread") {
  Bench b;
  b.top.instance("maker_i", "maker");
  b.top.instance("taker_i", "taker");
  const Diagnostics d = complete(b.design());
  CHECK(mentions(only(d, "E0331"), "maker_i.m_out is not read"));
  CHECK(mentions(only(d, "E0330"), "taker_i.s_in is not driven"));
  CHECK(mentions(only(d, "E0332"), "taker_i.limit_i[7:0] is not driven"));
  CHECK(codes_of(d) == std::vector<std::string>{"E0331", "E0330", "E0333", "E0333", "E0332", "E0333"});
}

TEST_CASE("check: single bits that are undriven or unread") {
  Bench b;
  const auto maker = b.top.instance("maker_i", "maker");
  const auto taker = b.top.instance("taker_i", "taker");
  b.top.connect(maker.stream("m_out"), taker.stream("s_in"));
  b.top.leave_open(maker.pin("cnt_made_o"), "x");
  b.top.leave_open(taker.pin("cnt_taken_o"), "x");
  b.top.connect_pin(maker.pin("level_o", 1, 2), taker.pin("limit_i", 0, 2));
  b.top.tie(taker.pin("limit_i", 5, 2), 0);
  b.top.leave_open(maker.pin("level_o", 4, 4), "x");
  const Diagnostics d = complete(b.design());
  CHECK(mentions(only(d, "E0332"), "taker_i.limit_i[4:2], [7] is not driven"));
  CHECK(mentions(only(d, "E0333"), "maker_i.level_o[0], [3] is not read"));
}

TEST_CASE("check: ports, nets, lanes and domains") {
  Bench b;
  b.top.domain("mac");
  const auto fork = b.top.instance("fork_i", "stream_fork", {{"N", 2}, {"Width", 12}});
  b.top.expose_stream(fork.stream("s_axis"), "s_axis_x");
  b.top.expose_stream(fork.stream("m_axis", 0), "m_axis_x");
  b.top.input_port("a_i", 4);
  b.top.output_port("b_o", 2);
  b.top.net("n", 3);
  const Diagnostics d = complete(b.design());
  CHECK(mentions(only(d, "E0331"), "fork_i.m_axis[1] is not read"));
  std::string all = shown(d);
  CHECK(all.find("port a_i[3:0] is not read") != std::string::npos);
  CHECK(all.find("port b_o[1:0] is not driven") != std::string::npos);
  CHECK(all.find("net n[2:0] is not driven") != std::string::npos);
  CHECK(all.find("net n[2:0] is not read") != std::string::npos);
  CHECK(all.find("clock domain 'mac' has no instance") != std::string::npos);
  CHECK(d.error_count() == 6);
}

TEST_CASE("check: left open on purpose") {
  Bench b;
  const auto maker = quiet_maker(b.top, "maker_i");
  const auto taker = quiet_taker(b.top, "taker_i");
  b.top.leave_open(maker.stream("m_out"), "nobody wants it");
  b.top.leave_open(taker.stream("s_in"), "nobody gives it");
  const Design d = b.design();
  CHECK(complete(d).empty());
  CHECK(structure(d).empty());
}

TEST_CASE("check: payload fields must fit") {
  {  // a record of another width: nothing adapts it
    Bench b;
    b.top.connect(quiet_maker(b.top, "maker_i", 12).stream("m_out"), quiet_taker(b.top, "taker_i", 13).stream("s_in"));
    const Design d = b.design();
    for (const bool to_come : {false, true}) {
      const spec::Diagnostic found = only(payloads(d, to_come), "E0326");
      CHECK(mentions(found, "tdata is 12 bits wide, tdata of taker_i.s_in is 13"));
      CHECK(mentions(found, "check_test.cpp:"));
    }
  }
  {  // a packet into a record: last, keep and user would be lost
    Bench b;
    b.top.connect(b.top.instance("maker_i", "pkt_maker").stream("m_out"),
                  quiet_taker(b.top, "taker_i", 64).stream("s_in"));
    const Diagnostics d = payloads(b.design());
    CHECK(codes_of(d) == std::vector<std::string>{"E0325", "E0325", "E0325"});
    CHECK(mentions(d.all()[0], "'tkeep' of maker_i.m_out is not read"));
    CHECK(mentions(d.all()[0], ".drop"));
  }
  {  // a record into a packet
    Bench b;
    b.top.connect(quiet_maker(b.top, "maker_i", 64).stream("m_out"),
                  b.top.instance("taker_i", "bare_taker").stream("s_in"));
    CHECK(codes_of(payloads(b.design())) == std::vector<std::string>{"E0325", "E0325"});
  }
  {  // said, so fine
    Bench b;
    b.top.connect(b.top.instance("maker_i", "pkt_maker").stream("m_out"),
                  b.top.instance("taker_i", "bare_taker").stream("s_in"), {.drop = {"tuser"}});
    CHECK(payloads(b.design()).empty());
  }
  {
    Bench b;
    const auto bare = b.top.instance("maker_i", "pkt_maker", {{"UserW", 1}});
    b.top.connect(bare.stream("m_out"), b.top.instance("taker_i", "pkt_taker", {{"UserW", 9}}).stream("s_in"),
                  {.drop = {"tuser"}, .zero = {"tuser"}});
    CHECK(payloads(b.design()).empty());
  }
  {  // a map that leaves bits out
    Bench b;
    b.top.connect(quiet_maker(b.top, "maker_i", 12).stream("m_out"), quiet_taker(b.top, "taker_i", 8).stream("s_in"),
                  {.map = {{"tdata", {{"tdata", 2, 8}}}}});
    CHECK(mentions(only(payloads(b.design()), "E0325"), "4 of 12 bits of 'tdata'"));
  }
  {  // packets of different width: only when an adapter is still to come
    Bench b;
    b.top.connect(b.top.instance("maker_i", "pkt_maker").stream("m_out"),
                  b.top.instance("taker_i", "pkt_taker", {{"DataW", 128}}).stream("s_in"));
    const Design d = b.design();
    CHECK(payloads(d, true).empty());
    CHECK(codes_of(payloads(d, false)) == std::vector<std::string>{"E0326", "E0326"});
  }
}

TEST_CASE("check: a source that cannot wait must not meet a sink that may stall it") {
  Bench b;
  const auto maker = quiet_maker(b.top, "maker_i");
  b.top.connect(maker.stream("m_out"), quiet_taker(b.top, "taker_i").stream("s_in"));
  Design d = b.design();
  d.modules[0].instances[0].interface.streams[0].has_ready = false;
  CHECK(mentions(only(payloads(d), "E0325"), "cannot wait"));
}

TEST_CASE("check: different records of the same width") {
  Bench b;
  b.top.connect(b.top.instance("maker_i", "rec_maker").stream("m_out"),
                b.top.instance("taker_i", "other_taker").stream("s_in"));
  const spec::Diagnostic d = only(payloads(b.design()), "E0327");
  CHECK(mentions(d, "pk::rec_t"));
  CHECK(mentions(d, "pk::other_t"));
  Bench plain;
  plain.top.connect(plain.top.instance("maker_i", "rec_maker").stream("m_out"),
                    quiet_taker(plain.top, "taker_i", 12).stream("s_in"));
  CHECK(payloads(plain.design()).empty());
}

TEST_CASE("check: clock domains of streams") {
  Bench b;
  b.top.domain("mac");
  b.top.connect(quiet_maker(b.top, "maker_i", 12, "mac").stream("m_out"), quiet_taker(b.top, "taker_i").stream("s_in"));
  const spec::Diagnostic d = only(domains(b.design()), "E0328");
  CHECK(mentions(d, "maker_i.m_out is in clock domain clk_mac, taker_i.s_in in clk"));
}

TEST_CASE("check: clock domains of pins, also through nets") {
  {
    Bench b;
    b.top.domain("mac");
    const auto maker = b.top.instance("maker_i", "maker", {}, "", "mac");
    const auto taker = b.top.instance("taker_i", "taker");
    b.top.connect_pin(maker.pin("level_o"), taker.pin("limit_i"));
    CHECK(mentions(only(domains(b.design()), "E0329"), "maker_i.level_o is in clock domain clk_mac"));
  }
  {
    Bench b;
    b.top.domain("mac");
    const auto maker = b.top.instance("maker_i", "maker", {}, "", "mac");
    const auto taker = b.top.instance("taker_i", "taker");
    const PinRef any = b.top.reduce("any", Reduce::any, {maker.pin("level_o")});
    b.top.connect_pin(any, taker.pin("limit_i", 0, 1));
    CHECK(mentions(only(domains(b.design()), "E0329"), "net any is in clock domain clk_mac"));
  }
  {
    Bench b;
    b.top.domain("mac");
    const auto maker = b.top.instance("maker_i", "maker", {}, "", "mac");
    const auto taker = b.top.instance("taker_i", "taker");
    b.top.connect_pin(maker.pin("level_o"), taker.pin("limit_i"), {.quasi_static = "set before the first frame"});
    CHECK(domains(b.design()).empty());
  }
}

TEST_CASE("check: combinational loop through modules that say what they do") {
  Bench b;
  const auto a = b.top.instance("a_i", "wire_through");
  const auto c = b.top.instance("c_i", "wire_through");
  b.top.connect(a.stream("m_out"), c.stream("s_in"));
  b.top.connect(c.stream("m_out"), a.stream("s_in"));
  const Diagnostics d = loops(b.design());
  CHECK(codes_of(d) == std::vector<std::string>{"E0334", "E0334"});  // valid around, and ready around
  CHECK(mentions(d.all()[0],
                 "a_i.s_in.tvalid -> a_i.m_out.tvalid -> c_i.s_in.tvalid -> c_i.m_out.tvalid -> a_i.s_in.tvalid"));
}

TEST_CASE("check: a register in the ring ends the loop, a half one ends half of it") {
  for (const auto& [cell, expected] :
       {std::pair<const char*, std::size_t>{"stream_skid", 0}, {"stream_reg", 1}, {"stream_fifo", 0}}) {
    CAPTURE(cell);
    Bench b;
    const auto a = b.top.instance("a_i", "wire_through");
    const auto r = b.top.instance("r_i", cell, {{"Width", 12}});
    b.top.connect(a.stream("m_out"), r.stream("s_axis"));
    b.top.connect(r.stream("m_axis"), a.stream("s_in"));
    const Diagnostics d = loops(b.design());
    INFO(shown(d));
    CHECK(d.all().size() == expected);  // stream_reg leaves the ready path
    for (const spec::Diagnostic& x : d.all()) CHECK(mentions(x, "tready"));
  }
}

TEST_CASE("check: a loop through a module that says nothing is a warning that names it") {
  Bench b;
  const auto a = b.top.instance("a_i", "wire_through");
  const auto s = b.top.instance("s_i", "silent");
  b.top.connect(a.stream("m_out"), s.stream("s_in"));
  b.top.connect(s.stream("m_out"), a.stream("s_in"));
  const Diagnostics d = loops(b.design());
  CHECK(!d.has_errors());
  REQUIRE(d.warning_count() >= 1);
  CHECK(d.all()[0].code == "W0301");
  CHECK(mentions(d.all()[0], "to silent"));
}

TEST_CASE("check: loops through pins and nets") {
  Diagnostics diagnostics;
  Library own;
  own.read_text(R"(
// rocegen: comb y_o<-x_i
module buf_cell (input logic x_i, output logic y_o);
endmodule
// rocegen: comb m_a.tvalid<-go_i, busy_o<-m_a.tready
module gate (input logic clk, input logic go_i, output logic busy_o, output logic m_a_tvalid, input logic m_a_tready);
endmodule
// rocegen: comb s_a.tready<-s_a.tdata
module eager (input logic clk, input logic s_a_tvalid, output logic s_a_tready);
endmodule
// rocegen: comb nothing_o<-x_i
module wrong (input logic x_i, output logic y_o);
endmodule
)",
                "own.sv", false, diagnostics);
  Builder top(own, "top", diagnostics);
  const auto buffer = top.instance("buf_i", "buf_cell");
  const auto gate = top.instance("gate_i", "gate");
  const auto eager = top.instance("eager_i", "eager");
  top.connect(gate.stream("m_a"), eager.stream("s_a"));
  const PinRef n = top.net("n");
  top.connect_pin(gate.pin("busy_o"), n);
  top.connect_pin(n, buffer.pin("x_i"));
  top.connect_pin(buffer.pin("y_o"), gate.pin("go_i"));
  REQUIRE(diagnostics.empty());
  // go -> valid -> (tdata stands for valid) ready -> busy -> n -> x -> y -> go
  const spec::Diagnostic d = only(loops(single(top.take())), "E0334");
  CHECK(mentions(d, "net n"));
  CHECK(mentions(d, "eager_i.s_a.tvalid -> eager_i.s_a.tready"));

  Builder other(own, "top", diagnostics);
  other.instance("wrong_i", "wrong");
  CHECK(mentions(only(loops(single(other.take())), "E0303"), "nothing_o"));
}

}  // namespace
