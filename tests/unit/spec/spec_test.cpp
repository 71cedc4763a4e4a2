#include "generator/spec/spec.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "generator/spec/codes.h"
#include "generator/spec/files.h"
#include "tests/unit/spec/brief.h"

using namespace rocegen::spec;
using namespace rocegen::spec::test;

namespace {

const std::string kSource = ROCEGEN_SOURCE_DIR;

// What reading a text reports; also checks that there is a spec exactly if there is no error.
Lines faults(const std::string& text) {
  Diagnostics diagnostics;
  const std::optional<StackSpec> spec = read_spec_text("f", text, diagnostics);
  CHECK(spec.has_value() == !diagnostics.has_errors());
  return brief(diagnostics);
}

// The same for members on line 2, beside a good name.
Lines member_faults(const std::string& member) { return faults("{\"name\": \"n\",\n" + member + "}"); }

}  // namespace

TEST_CASE("the smallest spec takes every default") {
  Diagnostics diagnostics;
  const auto spec = read_spec_text("f", R"({"name": "n"})", diagnostics);
  REQUIRE(spec);
  CHECK(diagnostics.empty());
  CHECK(spec->data_width == 512);
  CHECK(spec->clock_mhz == 250);
  CHECK(spec->transport.ack_interval == 64);
  CHECK(spec->transport.window_packets == 1024);
  CHECK(spec->transport.wqe_slots == 1024);
  CHECK(spec->network.mac_width == 512);
  CHECK(spec->network.mac_clock_mhz == 250);
  CHECK(spec->network.ttl == 64);
  CHECK(spec->transport.read_depth == 16);
  CHECK(spec->transport.recovery == "go_back_n");
  CHECK(spec->network.rx_buffer_kib == 32);
  CHECK(spec->network.tx_buffer_kib == 32);
  CHECK(spec->host.read_buffer_kib == 32);
  CHECK(spec->host.max_reads == 192);
  CHECK(spec->host.max_writes == 128);
  CHECK(spec->host.address_width == 64);
  CHECK(spec->target.part == "xcu250-figd2104-2L-e");
  CHECK(spec->target.vivado.mode == "non_project");
}

TEST_CASE("every key is read into its member") {
  Diagnostics diagnostics;
  const auto spec = read_spec_text("f", R"({
    "name": "a1", "description": "d \u00fc", "data_width": 64, "clock_mhz": 156.25, "qp_count": 17,
    "pipeline_depth": 4, "mtu": 256, "memory_regions": 65536,
    "transport": {"ack_interval": 2, "window_packets": 3, "wqe_slots": 32,
                  "rqe_slots": 64, "srq_count": 9, "read_depth": 4, "recovery": "selective"},
    "network": {"mac_width": 128, "mac_clock_mhz": 390.625, "ttl": 1, "tos": 255, "rx_buffer_kib": 1, "tx_buffer_kib": 2},
    "host": {"read_buffer_kib": 4, "max_reads": 5, "max_writes": 6, "address_width": 32, "cq_depth": 7, "event_depth": 8,
             "targets": ["host", "gpu"], "ack_after_write": true},
    "services": [],
    "target": {"part": "xc7k325t-ffg900-2", "vivado": {"mode": "project"}}})",
                                   diagnostics);
  REQUIRE_MESSAGE(spec, render(diagnostics));
  StackSpec expected;
  expected.name = "a1";
  expected.description = "d \xC3\xBC";
  expected.data_width = 64;
  expected.clock_mhz = 156.25;
  expected.qp_count = 17;
  expected.pipeline_depth = 4;
  expected.mtu = 256;
  expected.memory_regions = 65536;
  expected.transport = {2, 3, 32, 64, 9, 4, "selective"};
  expected.network = {128, 390.625, 1, 255, 1, 2};
  expected.host = {4, 5, 6, 32, 7, 8, {"host", "gpu"}, true};
  expected.target = {"xc7k325t-ffg900-2", {"project"}};
  CHECK(*spec == expected);
}

TEST_CASE("derived sizes") {
  StackSpec s;
  s.name = "n";
  SUBCASE("slots are 8 a queue pair, a power of two, at least 1024") {
    for (const auto& [qps, slots] :
         {std::pair{1, 1024}, {128, 1024}, {129, 2048}, {512, 4096}, {4096, 32768}, {16383, 131072}, {16384, 131072}}) {
      s.qp_count = qps;
      s.transport.wqe_slots = 0;
      CHECK(complete(s).transport.wqe_slots == slots);
    }
  }
  SUBCASE("16 READs a queue pair, 8 of many queue pairs") {
    for (const auto& [qps, depth] : {std::pair{1, 16}, {64, 16}, {256, 16}, {257, 8}, {512, 8}, {16384, 8}}) {
      s.qp_count = qps;
      s.transport.read_depth = 0;
      CHECK(complete(s).transport.read_depth == depth);
    }
  }
  SUBCASE("what is given stays") {
    s.transport.wqe_slots = 64;
    s.network.mac_width = 64;
    s.network.mac_clock_mhz = 322.265625;
    const StackSpec c = complete(s);
    CHECK(c.transport.wqe_slots == 64);
    CHECK(c.network.mac_width == 64);
    CHECK(c.has_mac_clock());
    CHECK(c.mac_clock_hz() == 322265625);
    CHECK(c.line_rate_gbps() == doctest::Approx(20.625));
  }
  SUBCASE("derived buffers obey the rules at every width and MTU") {
    for (const int width : {64, 128, 256, 512, 1024}) {
      for (const int mtu : {256, 512, 1024, 2048, 4096}) {
        s.data_width = width;
        s.mtu = mtu;
        Diagnostics diagnostics;
        const auto c = check_spec(s, diagnostics);
        REQUIRE_MESSAGE(c, render(diagnostics));
        CHECK(diagnostics.empty());
        for (const int beats : {c->rx_buffer_beats(), c->tx_buffer_beats(), c->read_buffer_beats()}) {
          CHECK((beats & (beats - 1)) == 0);
          CHECK(beats >= 512);
          CHECK(beats <= 65536);
          CHECK(beats >= 2 * c->max_frame_beats());
        }
      }
    }
  }
  SUBCASE("ticks of the ACK timer are 4.096 us, never less") {
    for (const auto& [mhz, cycles] : {std::pair{250.0, 1024},
                                      {156.25, 640},
                                      {10.0, 41},
                                      {1000.0, 4096},
                                      {322.265625, 1320},
                                      {200.0, 820},
                                      {125.0, 512}}) {
      s.clock_mhz = mhz;
      CHECK(complete(s).tick_cycles() == cycles);
      CHECK(cycles / mhz >= 4.096);
    }
  }
  SUBCASE("clock in whole Hz and kHz") {
    s.clock_mhz = 322.265625;
    CHECK(s.clock_hz() == 322265625);
    CHECK(s.clock_khz() == 322266);
    s.clock_mhz = 156.25;
    CHECK(s.clock_khz() == 156250);
    CHECK_FALSE(complete(s).has_mac_clock());
  }
  SUBCASE("index widths and codes") {
    for (const auto& [count, bits] : {std::pair{1, 1}, {2, 1}, {3, 2}, {512, 9}, {513, 10}, {16384, 14}}) {
      s.qp_count = count;
      s.memory_regions = count;
      CHECK(s.qp_bits() == bits);
      CHECK(s.mr_bits() == bits);
    }
    s.transport.wqe_slots = 1024;
    CHECK(s.wqe_slot_bits() == 10);
    for (const auto& [mtu, code] : {std::pair{256, 1}, {512, 2}, {1024, 3}, {2048, 4}, {4096, 5}}) {
      s.mtu = mtu;
      CHECK(s.pmtu_code() == code);
      CHECK(s.max_frame_bytes() == mtu + 78);
    }
    CHECK(s.max_frame_beats() == 66);  // 4174 bytes at 64 a beat
  }
}

TEST_CASE("each fault of a value has its code and stands at the value") {
  CHECK(member_faults(R"("qp_count": 0)") == Lines{"E0204 2:13+1 /qp_count"});
  CHECK(member_faults(R"("qp_count": 16385)") == Lines{"E0204 2:13+5 /qp_count"});
  CHECK(member_faults(R"("qp_count": 16384)").empty());
  CHECK(member_faults(R"("qp_count": 3)").empty());
  CHECK(member_faults(R"("qp_count": -1)") == Lines{"E0204 2:13+2 /qp_count"});
  CHECK(member_faults(R"("qp_count": 1e99)") == Lines{"E0204 2:13+4 /qp_count"});
  CHECK(member_faults(R"("qp_count": 99999999999999999999)") == Lines{"E0204 2:13+20 /qp_count"});
  CHECK(member_faults(R"("qp_count": 4294967297)") == Lines{"E0204 2:13+10 /qp_count"});  // 1 modulo 2^32
  CHECK(member_faults(R"("qp_count": 16.0)").empty());                                    // JSON Schema: a whole number
  CHECK(member_faults(R"("qp_count": 1.6e1)").empty());
  CHECK(member_faults(R"("qp_count": 16.5)") == Lines{"E0203 2:13+4 /qp_count"});
  CHECK(member_faults(R"("qp_count": "16")") == Lines{"E0203 2:13+4 /qp_count"});
  CHECK(member_faults(R"("qp_count": null)") == Lines{"E0203 2:13+4 /qp_count"});
  CHECK(member_faults(R"("qp_count": true)") == Lines{"E0203 2:13+4 /qp_count"});
  CHECK(member_faults(R"("qp_count": [16])") == Lines{"E0203 2:13+4 /qp_count"});
  CHECK(member_faults("\"qp_count\": [\n16]") == Lines{"E0203 2:13+1 /qp_count"});
  CHECK(member_faults(R"("data_width": 384)") == Lines{"E0205 2:15+3 /data_width"});
  CHECK(member_faults(R"("data_width": 2048)") == Lines{"E0205 2:15+4 /data_width"});
  CHECK(member_faults(R"("data_width": 0)") == Lines{"E0205 2:15+1 /data_width"});
  CHECK(member_faults(R"("mtu": 1500)") == Lines{"E0205 2:8+4 /mtu"});
  CHECK(member_faults(R"("clock_mhz": 9.99)") == Lines{"E0204 2:14+4 /clock_mhz"});
  CHECK(member_faults(R"("clock_mhz": 1000.5)") == Lines{"E0204 2:14+6 /clock_mhz"});
  CHECK(member_faults(R"("clock_mhz": 10)").empty());
  CHECK(member_faults(R"("pipeline_depth": 5)") == Lines{"E0204 2:19+1 /pipeline_depth"});
  CHECK(member_faults(R"("description": 5)") == Lines{"E0203 2:16+1 /description"});
  CHECK(member_faults("\"description\": \"" + std::string(4096, 'x') + "\"").empty());
  CHECK(member_faults("\"description\": \"" + std::string(4097, 'x') + "\"") == Lines{"E0209 2:16+4099 /description"});
  CHECK(member_faults(R"("transport": 5)") == Lines{"E0203 2:14+1 /transport"});
  CHECK(member_faults(R"("transport": [])") == Lines{"E0203 2:14+2 /transport"});
  CHECK(member_faults(R"("transport": {"wqe_slots": 100})") == Lines{"E0205 2:28+3 /transport/wqe_slots"});
  CHECK(member_faults(R"("transport": {"wqe_slots": 8})") == Lines{"E0204 2:28+1 /transport/wqe_slots"});
  CHECK(member_faults(R"("transport": {"wqe_slots": 2097152})") == Lines{"E0204 2:28+7 /transport/wqe_slots"});
  CHECK(member_faults(R"("network": {"mac_width": 40})") == Lines{"E0205 2:26+2 /network/mac_width"});
  CHECK(member_faults(R"("network": {"mac_clock_mhz": 0})") == Lines{"E0204 2:30+1 /network/mac_clock_mhz"});
  CHECK(member_faults(R"("network": {"ttl": 0, "tos": 256})") ==
        Lines{"E0204 2:20+1 /network/ttl", "E0204 2:30+3 /network/tos"});
  CHECK(member_faults(R"("network": {"rx_buffer_kib": 24})") == Lines{"E0205 2:30+2 /network/rx_buffer_kib"});
  CHECK(member_faults(R"("host": {"address_width": 31})") == Lines{"E0204 2:27+2 /host/address_width"});
  CHECK(member_faults(R"("target": {"part": "xcu250"})") == Lines{"E0206 2:20+8 /target/part"});
  CHECK(member_faults(R"("target": {"part": "xcu250-figd2104-2L-e; exit"})") == Lines{"E0206 2:20+28 /target/part"});
  CHECK(member_faults(R"("target": {"part": "xcu250-figd2104-2L-e\n"})") == Lines{"E0206 2:20+24 /target/part"});
  CHECK(member_faults("\"target\": {\"part\": \"xc7" + std::string(70, '-') + "\"}") ==
        Lines{"E0209 2:20+75 /target/part"});
  CHECK(member_faults(R"("target": {"vivado": {"mode": "Project"}})") == Lines{"E0205 2:31+9 /target/vivado/mode"});
  CHECK(member_faults(R"("transport": {"recovery": "selectiv"})") == Lines{"E0205 2:27+10 /transport/recovery"});
  CHECK(member_faults(R"("target": {"vivado": {"mode": ""}})") == Lines{"E0205 2:31+2 /target/vivado/mode"});
  CHECK(faults("[]") == Lines{"E0203 1:1+2 "});
  CHECK(faults("7") == Lines{"E0203 1:1+1 "});
  CHECK(faults("null") == Lines{"E0203 1:1+4 "});
}

TEST_CASE("names") {
  const auto named = [](const std::string& name) { return faults("{\"name\": \"" + name + "\"}"); };
  CHECK(named("a").empty());
  CHECK(named("nic_100g").empty());
  CHECK(named("a" + std::string(47, '_')).empty());
  CHECK(named("a" + std::string(48, 'b')) == Lines{"E0209 1:10+51 /name"});
  for (const std::string bad : {"", "A", "1a", "_a", "a-b", "a b", "a.b", "../a", "a/b"}) {
    CAPTURE(bad);
    CHECK(named(bad) == Lines{fmt::format("E0206 1:10+{} /name", bad.size() + 2)});
  }
  CHECK(named("na\xC3\xAF") == Lines{"E0206 1:10+5 /name"});
  for (const std::string keyword : {"module", "logic", "xor", "accept_on", "bit", "soft"}) {
    CAPTURE(keyword);
    CHECK(named(keyword) == Lines{fmt::format("E0207 1:10+{} /name", keyword.size() + 2)});
  }
  for (const std::string library : {"stream_fifo", "sq_engine", "icrc_data", "roce_pkg", "roce", "csr"}) {
    CAPTURE(library);
    CHECK(named(library) == Lines{fmt::format("E0208 1:10+{} /name", library.size() + 2)});
  }
}

TEST_CASE("required, unknown and misplaced keys") {
  CHECK(faults("{}") == Lines{"E0202 1:1+2 "});
  CHECK(faults("\n{ \"qp_count\": 4\n}") == Lines{"E0202 2:1+1 "});
  CHECK(faults(R"({"nmae": "n"})") == Lines{"E0202 1:1+13 ", "E0201 1:2+6 /nmae"});
  CHECK(member_faults(R"("qp_cont": 16)") == Lines{"E0201 2:1+9 /qp_cont"});
  CHECK(member_faults(R"("Name": "x")") == Lines{"E0201 2:1+6 /Name"});
  CHECK(member_faults(R"("": 1)") == Lines{"E0201 2:1+2 /"});
  CHECK(member_faults(R"("a/b": 1)") == Lines{"E0201 2:1+5 /a~1b"});
  CHECK(member_faults(R"("transport/ack_interval": 1)") == Lines{"E0201 2:1+24 /transport~1ack_interval"});
  CHECK(member_faults(R"("transport": {"ack_intervall": 1})") == Lines{"E0201 2:15+15 /transport/ack_intervall"});
  CHECK(member_faults(R"("target": {"vivado": {"mode": "project", "x": 1}})") ==
        Lines{"E0201 2:42+3 /target/vivado/x"});

  Diagnostics diagnostics;
  read_spec_text("f", R"({"name": "n", "qp_cont": 1, "ack_interval": 2, "transport": {"mtu": 256}, "zzz": 1})",
                 diagnostics);
  REQUIRE(diagnostics.all().size() == 4);
  const auto help = [&](std::size_t i) { return diagnostics.all()[i].helps.at(0); };
  CHECK(help(0).find("\"qp_count\"") != std::string::npos);
  CHECK(help(1).find("\"transport\"") != std::string::npos);
  CHECK(help(2).find("top level") != std::string::npos);
  CHECK(diagnostics.all()[3].notes.size() == 1);
}

TEST_CASE("services: the list, types and names") {
  CHECK(member_faults(R"("services": [])").empty());
  CHECK(member_faults(R"("services": {})") == Lines{"E0203 2:13+2 /services"});
  CHECK(member_faults(R"("services": [{"type": "tea"}, 5, {"typ": 1}])") ==
        Lines{"E0210 2:23+5 /services/0/type", "E0210 2:31+1 /services/1", "E0210 2:34+10 /services/2"});
  CHECK(member_faults(R"("services": [1, 1, 1, 1, 1, 1, 1, 1, 1])") == Lines{"E0204 2:13+27 /services"});
}

TEST_CASE("rules between keys show both ends") {
  Diagnostics diagnostics;
  read_spec_text("f", "{\"name\": \"n\", \"transport\": {\n\"ack_interval\": 64,\n\"window_packets\": 32}}",
                 diagnostics);
  CHECK(brief(diagnostics) == Lines{"E0211 3:19+2 /transport/window_packets"});
  REQUIRE(diagnostics.all()[0].notes.size() == 1);
  CHECK(to_string(diagnostics.all()[0].notes[0].place) == "f:2:17");

  // The default of the interval has no place.
  Diagnostics defaulted;
  read_spec_text("f", R"({"name": "n", "transport": {"window_packets": 63}})", defaulted);
  CHECK(brief(defaulted) == Lines{"E0211 1:47+2 /transport/window_packets"});
  CHECK(defaulted.all()[0].notes.at(0).place == Place{});
  CHECK(faults(R"({"name": "n", "transport": {"window_packets": 64}})").empty());
  CHECK(faults(R"({"name": "n", "transport": {"window_packets": 2, "ack_interval": 2}})").empty());

  // A buffer that is too small for the MTU, or that has too many beats for the width.
  Diagnostics small;
  read_spec_text("f", "{\"name\": \"n\",\n\"mtu\": 2048,\n\"network\": {\"rx_buffer_kib\": 4}}", small);
  CHECK(brief(small) == Lines{"E0212 3:30+1 /network/rx_buffer_kib"});
  CHECK(to_string(small.all()[0].notes.at(0).place) == "f:2:8");
  CHECK(small.all()[0].helps.at(0).find("to 8 ") != std::string::npos);
  CHECK(faults(R"({"name": "n", "mtu": 2048, "network": {"rx_buffer_kib": 8}})").empty());
  CHECK(member_faults(R"("network": {"tx_buffer_kib": 8})") == Lines{"E0212 2:30+1 /network/tx_buffer_kib"});
  CHECK(member_faults(R"("host": {"read_buffer_kib": 8})") == Lines{"E0212 2:29+1 /host/read_buffer_kib"});

  Diagnostics large;
  read_spec_text("f", "{\"name\": \"n\",\n\"data_width\": 64,\n\"network\": {\"tx_buffer_kib\": 1024}}", large);
  CHECK(brief(large) == Lines{"E0213 3:30+4 /network/tx_buffer_kib"});
  CHECK(to_string(large.all()[0].notes.at(0).place) == "f:2:15");
  CHECK(member_faults(R"("data_width": 64, "network": {"tx_buffer_kib": 512})").empty());
  CHECK(member_faults(R"("data_width": 1024, "network": {"rx_buffer_kib": 8192})").empty());
  CHECK(member_faults(R"("data_width": 512, "host": {"read_buffer_kib": 8192})") ==
        Lines{"E0213 2:48+4 /host/read_buffer_kib"});

  // A warning lets the spec pass.
  CHECK(member_faults(R"("qp_count": 17, "transport": {"wqe_slots": 16})") ==
        Lines{"W0201 2:44+2 /transport/wqe_slots"});
  CHECK(member_faults(R"("qp_count": 16, "transport": {"wqe_slots": 16})").empty());
}

// What the modules refuse by $fatal. Their conditions are looked up in the templates: who changes one comes here.
TEST_CASE("buffers that the spec accepts the modules accept, at every MTU and width") {
  const auto has = [](const char* file, const char* text) {
    std::ifstream in(kSource + "/templates/" + file);
    return std::string(std::istreambuf_iterator<char>(in), {}).find(text) != std::string::npos;
  };
  CHECK(has("net/tx_framer.sv", "localparam int LongestBeats = (MaxPayload + 78 + Bytes - 1) / Bytes;"));
  CHECK(has("net/tx_framer.sv", "if (BufBeats < LongestBeats + 4) begin"));
  CHECK(has("net/tx_frame_buffer.sv", "if (BufBeats < 8 || (1 << AddrW) != BufBeats) begin"));
  CHECK(has("host/dma_read.sv", "localparam int PayloadBeats = (MaxPayload - 2) / Bytes + 2;"));
  CHECK(has("host/dma_read.sv", "localparam int PageBeats = DataW >= 128 ? 4096 / Bytes : 256;"));
  CHECK(has("host/dma_read.sv", "if (BufBeats < BurstBeats) begin"));
  CHECK(has("net/rx_frontend.sv", "if (BufBeats * Bytes < MaxPayload) begin"));
  CHECK(has("net/rx_buffer.sv", "if (BufBeats < 2 || BufBeats > 65536 || (1 << AddrW) != BufBeats) begin"));
  for (const int mtu : {256, 512, 1024, 2048, 4096}) {
    for (const int width : {64, 128, 256, 512, 1024}) {
      int accepted = 0;
      for (int kib = 1; kib <= 8192; kib *= 2) {
        INFO("mtu ", mtu, " width ", width, " KiB ", kib);
        const int bytes = width / 8, beats = kib * 1024 / bytes;
        const auto accepts = [&](int rx, int tx, int read) {
          StackSpec s;
          s.name = "n";
          s.mtu = mtu;
          s.data_width = width;
          s.network.rx_buffer_kib = rx;
          s.network.tx_buffer_kib = tx;
          s.host.read_buffer_kib = read;
          Diagnostics diagnostics;
          return check_spec(s, diagnostics).has_value();
        };
        StackSpec s;
        s.mtu = mtu;
        s.data_width = width;
        const bool fits = beats <= 65536 && beats >= 2 * s.max_frame_beats();
        const bool rx = accepts(kib, 0, 0), tx = accepts(0, kib, 0), read = accepts(0, 0, kib);
        CHECK((rx == fits && tx == fits && read == fits));
        if (rx) CHECK(beats * bytes >= mtu);
        if (tx) CHECK((beats >= (mtu + 78 + bytes - 1) / bytes + 4 && beats >= 8));
        if (read) CHECK(beats >= std::min((mtu - 2) / bytes + 2, width >= 128 ? 4096 / bytes : 256));
        accepted += rx + tx + read;
      }
      CHECK(accepted > 0);
    }
  }
}

TEST_CASE("a rule is silent while one of its keys is faulty") {
  CHECK(member_faults(R"("transport": {"ack_interval": "64", "window_packets": 32})") ==
        Lines{"E0203 2:31+4 /transport/ack_interval"});
  CHECK(member_faults(R"("mtu": 1, "network": {"rx_buffer_kib": 1})") == Lines{"E0205 2:8+1 /mtu"});
  CHECK(member_faults(R"("transport": {"ack_interval": 0x40, "window_packets": 32})") ==
        Lines{"E0117 2:31+4 /transport/ack_interval"});
}

TEST_CASE("one run reports every fault, in the order of the file") {
  CHECK(faults("{\n"
               "  \"nmae\": 'x',\n"
               "  \"data_width\": 384,\n"
               "  \"clock_mhz\": \"250\"\n"
               "  \"qp_count\": 20000, \"qp_count\": 1, // twice\n"
               "  \"transport\": { \"ack_interval\": 64, \"window_packets\": 32, \"wqe_slots\": 100 },\n"
               "  \"services\": [ { \"type\": \"tea\" } ],\n"
               "  \"target\": { \"vivado\": { \"mode\": \"projekt\" } },\n"
               "}\n") == Lines{"E0202 1:1+1 ", "E0201 2:3+6 /nmae", "E0110 2:11+3 /nmae", "E0205 3:17+3 /data_width",
                               "E0203 4:16+5 /clock_mhz", "E0111 4:21+1 ", "E0204 5:15+5 /qp_count",
                               "E0120 5:22+10 /qp_count", "E0118 5:37+8 ", "E0211 6:56+2 /transport/window_packets",
                               "E0205 6:73+3 /transport/wqe_slots", "E0210 7:27+5 /services/0/type",
                               "E0205 8:35+9 /target/vivado/mode", "E0112 8:48+1 "});
}

TEST_CASE("files that cannot be read") {
  const TemporaryFolder folder;
  const auto read = [](const std::string& path) {
    Diagnostics diagnostics;
    CHECK_FALSE(read_spec(path, diagnostics));
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].place.file == path);
    return diagnostics.all()[0];
  };
  CHECK(read((folder.path / "none.json").string()).code == "E0101");
  CHECK(read("").code == "E0101");
  folder.file("nic_10g.json", "{}");
  CHECK(read((folder.path / "nic_10.json").string()).helps.at(0).find("nic_10g.json") != std::string::npos);
  CHECK(read((folder.path / "nic_10g.json" / "x").string()).code == "E0101");  // a file taken for a folder
  CHECK(read(folder.path.string()).code == "E0102");
  CHECK(read(folder.file("empty.json", "")).code == "E0104");
  CHECK(read(folder.file("large.json", std::string(kMaxTextBytes + 1, ' '))).code == "E0105");
  CHECK(read("/dev/zero").code == "E0105");
  CHECK(read((folder.path / std::string(5000, 'x')).string()).code == "E0103");  // name too long
  if (geteuid() != 0) {
    const std::string locked = folder.file("locked.json", "{}");
    std::filesystem::permissions(locked, std::filesystem::perms::none);
    CHECK(read(locked).code == "E0103");
  }
}

TEST_CASE("files are written whole or not at all") {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "a.json").string();
  Diagnostics diagnostics;
  CHECK(write_text_file(path, "one", diagnostics));
  CHECK(write_text_file(path, "two", diagnostics));
  CHECK(read_text_file(path, diagnostics) == "two");
  std::filesystem::create_symlink(path, folder.path / "link");
  CHECK(write_text_file((folder.path / "link").string(), "three", diagnostics));
  CHECK(std::filesystem::is_symlink(folder.path / "link"));
  CHECK(read_text_file(path, diagnostics) == "three");
  CHECK(diagnostics.empty());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 2);  // no temporary file is left

  const auto refused = [](const std::string& where) {
    Diagnostics d;
    CHECK_FALSE(write_text_file(where, "x", d));
    return brief(d);
  };
  CHECK(refused((folder.path / "none" / "a").string()) == Lines{"E0107 0:0+0 "});
  CHECK(refused(folder.path.string()) == Lines{"E0107 0:0+0 "});
  CHECK(refused(path + "/b") == Lines{"E0107 0:0+0 "});
  CHECK(refused("") == Lines{"E0107 0:0+0 "});
  if (std::filesystem::exists("/dev/full")) CHECK(refused("/dev/full") == Lines{"E0107 0:0+0 "});
}

TEST_CASE("a spec that code made is checked by the same table") {
  StackSpec s;
  s.name = "n";
  Diagnostics good;
  const auto completed = check_spec(s, good);
  REQUIRE(completed);
  CHECK(*completed == complete(s));
  CHECK(good.empty());

  s.name = "Bad";
  s.data_width = 0;
  s.qp_count = 0;
  s.clock_mhz = std::numeric_limits<double>::quiet_NaN();
  s.transport.window_packets = 2;
  s.network.rx_buffer_kib = -16;
  s.target.vivado.mode = "x";
  Diagnostics bad;
  CHECK_FALSE(check_spec(s, bad));
  CHECK(brief(bad) == Lines{"E0206 0:0+0 /name", "E0205 0:0+0 /data_width", "E0204 0:0+0 /clock_mhz",
                            "E0204 0:0+0 /qp_count", "E0204 0:0+0 /network/rx_buffer_kib",
                            "E0205 0:0+0 /target/vivado/mode", "E0211 0:0+0 /transport/window_packets"});
}

TEST_CASE("the completed spec reads back to itself, and equal specs have equal hashes") {
  for (const std::string name : {"nic_10g", "nic_25g", "nic_100g", "nic_200g"}) {
    CAPTURE(name);
    Diagnostics diagnostics;
    const auto spec = read_spec(kSource + "/specs/" + name + ".json", diagnostics);
    REQUIRE_MESSAGE(spec, render(diagnostics));
    CHECK(diagnostics.empty());
    CHECK(spec->name == name);
    CHECK_FALSE(spec->description.empty());
    const std::string text = to_json(*spec).dump(2);
    const auto again = read_spec_text("again", text, diagnostics);
    REQUIRE_MESSAGE(again, render(diagnostics));
    CHECK(*again == *spec);
    CHECK(to_json(*again).dump(2) == text);
    CHECK(spec_hash(*again) == spec_hash(*spec));
  }
}

TEST_CASE("the example specs reach their rate") {
  for (const auto& [name, width, qps, gbps] : {std::tuple{"nic_10g", 64, 16, 10.0},
                                               {"nic_25g", 128, 64, 25.0},
                                               {"nic_100g", 512, 512, 100.0},
                                               {"nic_200g", 1024, 4096, 200.0}}) {
    CAPTURE(name);
    Diagnostics diagnostics;
    const auto spec = read_spec(kSource + "/specs/" + name + ".json", diagnostics);
    REQUIRE(spec);
    CHECK(spec->data_width == width);
    CHECK(spec->qp_count == qps);
    CHECK(spec->datapath_gbps() >= gbps);
    CHECK(spec->line_rate_gbps() >= gbps);
  }
}

TEST_CASE("the hash is SHA-256 of the completed spec and sees every byte") {
  Diagnostics diagnostics;
  const auto hash = [&](const std::string& text) {
    const auto spec = read_spec_text("f", text, diagnostics);
    REQUIRE(spec);
    return spec_hash(*spec);
  };
  const std::string base = hash(R"({"name": "n"})");
  CHECK(base.size() == 64);
  CHECK(base.find_first_not_of("0123456789abcdef") == std::string::npos);
  // Order, space and defaults that are spelled out do not matter; values do.
  CHECK(hash("{ \"mtu\": 4096.0,\n \"name\": \"n\" }") == base);
  CHECK(hash(R"({"name": "m"})") != base);
  CHECK(hash(R"({"name": "n", "description": "x"})") != base);
  CHECK(hash(R"({"name": "n", "clock_mhz": 250.000001})") != base);
}

TEST_CASE("every code of the catalogue is provoked by its example, and the fix removes it") {
  std::set<std::string> seen;
  for (const CodeInfo& info : codes()) {
    CAPTURE(std::string(info.code));
    CHECK(std::string(info.code).size() == 5);
    CHECK((std::string(info.code).substr(0, 3) == "E01" || std::string(info.code).substr(1, 2) == "02"));
    CHECK(seen.insert(info.code).second);
    for (const char* text : {info.title, info.explanation, info.example, info.fix}) CHECK(std::string(text).size() > 5);
    const auto reported = [&](std::string text) {
      if (const std::size_t i = text.find("\\xFC"); i != std::string::npos) text.replace(i, 4, "\xFC");
      if (const std::size_t i = text.find("[..."); i != std::string::npos) text = std::string(1000, '[');
      Diagnostics diagnostics;
      read_spec_text("f", text, diagnostics);
      std::set<std::string> all;
      for (const Diagnostic& d : diagnostics.all()) all.insert(d.code);
      return all;
    };
    const std::string example = info.example;
    if (example[0] != '{' && example[0] != '[') continue;  // a command line: the other tests provoke it
    CHECK(reported(example).count(info.code) == 1);
    if (info.fix[0] == '{') CHECK(reported(info.fix).count(info.code) == 0);
  }
}
