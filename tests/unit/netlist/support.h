// What the tests of the netlist share: a small library, and ways to look at diagnostics.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "generator/netlist/ir.h"
#include "generator/netlist/library.h"
#include "generator/netlist/passes.h"

namespace rocegen::netlist::test {

// Codes in order.
inline std::vector<std::string> codes_of(const Diagnostics& diagnostics) {
  std::vector<std::string> codes;
  for (const spec::Diagnostic& d : diagnostics.all()) codes.push_back(d.code);
  return codes;
}

inline std::string shown(const Diagnostics& diagnostics) { return spec::render(diagnostics); }

// The one diagnostic of this code; the test fails when there is not exactly one.
inline spec::Diagnostic only(const Diagnostics& diagnostics, std::string_view code) {
  spec::Diagnostic found;
  int count = 0;
  for (const spec::Diagnostic& d : diagnostics.all()) {
    if (d.code != code) continue;
    found = d;
    ++count;
  }
  INFO(shown(diagnostics));
  CHECK_MESSAGE(count == 1, fmt::format("{} appears {} times", code, count));
  return found;
}

inline bool mentions(const spec::Diagnostic& d, std::string_view text) {
  if (d.message.find(text) != std::string::npos) return true;
  for (const spec::Note& note : d.notes) {
    if (note.message.find(text) != std::string::npos) return true;
  }
  for (const std::string& help : d.helps) {
    if (help.find(text) != std::string::npos) return true;
  }
  return false;
}

// Modules without bodies: enough for everything but lint.
inline constexpr std::string_view kModules = R"(
package pk;
  typedef struct packed { logic [7:0] a; logic [3:0] b; } rec_t;
  typedef struct packed { logic [3:0] b; logic [7:0] a; } other_t;
endpackage

module maker #(parameter int W = 12) (  // gives a plain record
  input logic clk, input logic rst,
  output logic m_out_tvalid, input logic m_out_tready, output logic [W-1:0] m_out_tdata,
  output logic cnt_made_o, output logic [7:0] level_o
);
endmodule

module taker #(parameter int W = 12) (
  input logic clk, input logic rst,
  input logic s_in_tvalid, output logic s_in_tready, input logic [W-1:0] s_in_tdata,
  input logic [7:0] limit_i, output logic cnt_taken_o
);
endmodule

module rec_maker (input logic clk, input logic rst,
  output logic m_out_tvalid, input logic m_out_tready, output pk::rec_t m_out_tdata);
endmodule
module rec_taker (input logic clk, input logic rst,
  input logic s_in_tvalid, output logic s_in_tready, input pk::rec_t s_in_tdata);
endmodule
module other_taker (input logic clk, input logic rst,
  input logic s_in_tvalid, output logic s_in_tready, input pk::other_t s_in_tdata);
endmodule

module pkt_maker #(parameter int DataW = 64, parameter int UserW = 4) (input logic clk, input logic rst,
  output logic m_out_tvalid, input logic m_out_tready, output logic [DataW-1:0] m_out_tdata,
  output logic [DataW/8-1:0] m_out_tkeep, output logic m_out_tlast, output logic [UserW-1:0] m_out_tuser);
endmodule
module pkt_taker #(parameter int DataW = 64, parameter int UserW = 4) (input logic clk, input logic rst,
  input logic s_in_tvalid, output logic s_in_tready, input logic [DataW-1:0] s_in_tdata,
  input logic [DataW/8-1:0] s_in_tkeep, input logic s_in_tlast, input logic [UserW-1:0] s_in_tuser);
endmodule
module bare_taker #(parameter int DataW = 64) (input logic clk, input logic rst,
  input logic s_in_tvalid, output logic s_in_tready, input logic [DataW-1:0] s_in_tdata,
  input logic [DataW/8-1:0] s_in_tkeep, input logic s_in_tlast);
endmodule

// rocegen: comb m_out.tvalid<-s_in.tvalid, s_in.tready<-m_out.tready
module wire_through #(parameter int W = 12) (input logic clk, input logic rst,
  input logic s_in_tvalid, output logic s_in_tready, input logic [W-1:0] s_in_tdata,
  output logic m_out_tvalid, input logic m_out_tready, output logic [W-1:0] m_out_tdata);
endmodule
)";

// A module in the middle that says nothing about its combinational paths.
inline constexpr std::string_view kSilent = R"(
module silent #(parameter int W = 12) (input logic clk, input logic rst,
  input logic s_in_tvalid, output logic s_in_tready, input logic [W-1:0] s_in_tdata,
  output logic m_out_tvalid, input logic m_out_tready, output logic [W-1:0] m_out_tdata);
endmodule
)";

// The small library, and templates/lib for what passes insert.
inline Library small_library() {
  Library library;
  Diagnostics diagnostics;
  library.read_text(kModules, "modules.sv", false, diagnostics);
  library.read_text(kSilent, "silent.sv", false, diagnostics);
  library.read_tree(std::string(ROCEGEN_SOURCE_DIR) + "/templates/lib", diagnostics, "templates/lib");
  INFO(shown(diagnostics));
  REQUIRE(!diagnostics.has_errors());
  return library;
}

// A maker whose pins are dealt with.
inline InstanceHandle quiet_maker(Builder& b, const std::string& name, int width = 12, const std::string& domain = "") {
  InstanceHandle h = b.instance(name, "maker", {{"W", width}}, "", domain);
  b.leave_open(h.pin("cnt_made_o"), "test");
  b.leave_open(h.pin("level_o"), "test");
  return h;
}
inline InstanceHandle quiet_taker(Builder& b, const std::string& name, int width = 12, const std::string& domain = "") {
  InstanceHandle h = b.instance(name, "taker", {{"W", width}}, "", domain);
  b.tie(h.pin("limit_i"), 5);
  b.leave_open(h.pin("cnt_taken_o"), "test");
  return h;
}

inline std::size_t count_module(const Module& module, std::string_view name) {
  std::size_t count = 0;
  for (const Instance& instance : module.instances) count += instance.interface.module == name ? 1 : 0;
  return count;
}

}  // namespace rocegen::netlist::test
