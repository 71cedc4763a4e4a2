// The start of a service: a stage that hands on what it gets, a specification that has it, a scenario that runs it.
#include <fmt/format.h>

#include "generator/services/custom/custom.h"

namespace rocegen::services {

namespace {

struct Point {
  const char* record;
  const char* what;
  const char* user;  // what of tuser the stage may change
};

Point point_of(Attach attach) {
  switch (attach) {
    case Attach::ingress:
      return {
          "svc_rx_t", "received packets, before they are accepted",
          "// tuser.hdr is the header and constant over the packet. With tlast you may set tuser.drop, tuser.tell,\n"
          "// tuser.hdr.refuse and bits of tuser.hdr.tag: never clear what another service has set. Leave the payload\n"
          "// of atomics and ACKs (opcodes 0x11 to 0x14) as it is."};
    case Attach::egress:
      return {"svc_tx_t", "packets on their way out",
              "// tuser.pkt is the header. A retransmission must leave with the same bytes: whatever you do may depend "
              "on the\n"
              "// queue pair, the PSN and the payload only."};
    case Attach::deliver:
      break;
  }
  return {"svc_pay_t", "accepted data on its way to memory",
          "// tuser.cmd says where the data goes. A packet may become shorter (cmd.bytes, cmd.addr), never longer; one "
          "that\n"
          "// becomes empty stays as a beat with tkeep 0."};
}

}  // namespace

std::string skeleton(const std::string& name, Attach attach) {
  const Point point = point_of(attach);
  std::string out = fmt::format(
      "// {0}: a service on {1}.\n"
      "//\n"
      "// TODO: say what it does to a packet.\n"
      "//\n"
      "// Handshake: the outputs are registers; s_pkt_tready follows m_pkt_tready combinationally. A beat a cycle,\n"
      "// latency 1. Packets come one for one, in order; tkeep is contiguous and full but in the last beat, and zero "
      "in\n"
      "// a packet without payload.\n"
      "{2}\n"
      "//\n"
      "// DataW: bits a beat, 64..1024, a power of two. Index: bit of the mask that means this service; both are set "
      "by\n"
      "// the stack.\n"
      "// rocegen: comb s_pkt.tready<-m_pkt.tready\n",
      name, point.what, point.user);
  out += fmt::format(
      "`default_nettype none\n\n"
      "module {0} #(\n"
      "  parameter int DataW = 512,\n"
      "  parameter int Index = 0\n"
      ") (\n"
      "  input  logic               clk,\n"
      "  input  logic               rst,\n"
      "  input  logic               s_pkt_tvalid,\n"
      "  output logic               s_pkt_tready,\n"
      "  input  logic [DataW-1:0]   s_pkt_tdata,\n"
      "  input  logic [DataW/8-1:0] s_pkt_tkeep,\n"
      "  input  logic               s_pkt_tlast,\n"
      "  input  roce_pkg::{1} s_pkt_tuser,\n"
      "  output logic               m_pkt_tvalid,\n"
      "  input  logic               m_pkt_tready,\n"
      "  output logic [DataW-1:0]   m_pkt_tdata,\n"
      "  output logic [DataW/8-1:0] m_pkt_tkeep,\n"
      "  output logic               m_pkt_tlast,\n"
      "  output roce_pkg::{1} m_pkt_tuser,\n"
      "  output logic               cnt_packets_o  // worked on; every output cnt_*_o is counted\n"
      ");\n\n"
      "  logic             load;  // the output register takes a beat\n"
      "  logic             mine;  // the packet's queue pair wants this service\n"
      "  logic [DataW-1:0] data;\n\n"
      "  assign load         = m_pkt_tready || !m_pkt_tvalid;\n"
      "  assign s_pkt_tready = load;\n"
      "  assign mine         = s_pkt_tuser.mask[Index];\n\n"
      "  // TODO: what becomes of the payload.\n"
      "  assign data = s_pkt_tdata;\n\n"
      "  always_ff @(posedge clk) begin\n"
      "    if (rst) m_pkt_tvalid <= 1'b0;\n"
      "    else if (load) m_pkt_tvalid <= s_pkt_tvalid;\n"
      "    if (load) begin\n"
      "      m_pkt_tdata <= mine ? data : s_pkt_tdata;\n"
      "      m_pkt_tkeep <= s_pkt_tkeep;\n"
      "      m_pkt_tlast <= s_pkt_tlast;\n"
      "      m_pkt_tuser <= s_pkt_tuser;\n"
      "    end\n"
      "  end\n\n"
      "  always_ff @(posedge clk) begin\n"
      "    if (rst) cnt_packets_o <= 1'b0;\n"
      "    else cnt_packets_o <= load && s_pkt_tvalid && s_pkt_tlast && mine;\n"
      "  end\n\n"
      "endmodule\n\n"
      "`default_nettype wire\n",
      name, point.record);
  return out;
}

std::string skeleton_spec(const std::string& name, Attach attach) {
  return fmt::format(
      R"({{
  "name": "{0}_nic",
  "description": "A small stack to try the service {0} with",
  "data_width": 128,
  "clock_mhz": 200,
  "qp_count": 16,
  "pipeline_depth": 1,
  "mtu": 1024,
  "memory_regions": 16,
  "services": [
    {{ "type": "custom", "name": "{0}", "attach": "{1}", "module": "{0}", "files": ["{0}.sv"] }}
  ]
}}
)",
      name, to_string(attach));
}

std::string skeleton_scenario(const std::string& name, Attach) {
  return fmt::format(
      R"({{
  "about": "SEND, WRITE and READ of a queue pair that the service {0} works on",
  "needs": {{"services": ["{0}"]}},
  "connect": [{{"name": "q", "mtu": 1024, "access": ["write", "read"], "rq": true, "services": ["{0}"]}}],
  "regions": [
    {{"name": "src", "on": "a", "mr": false, "length": 8192}},
    {{"name": "dst", "on": "b", "length": 8192, "access": ["write", "read"]}},
    {{"name": "back", "on": "a", "mr": false, "length": 8192, "writable": true}}
  ],
  "steps": [
    {{
      "repeat": {{"var": "n", "in": [0, 1, 64, 1024, 5000]}},
      "steps": [
        {{"post": {{"on": "a", "qp": "q", "local": "a.src", "remote": "b.dst", "length": "n"}}}},
        {{"complete": {{"on": "a", "all": true, "status": "success"}}}},
        {{"memory": {{"at": "b.dst", "length": "n", "equals": "a.src"}}}},
        {{"post": {{"on": "a", "qp": "q", "op": "read", "local": "a.back", "remote": "b.dst", "length": "n"}}}},
        {{"complete": {{"on": "a", "all": true, "status": "success"}}}},
        {{"memory": {{"at": "a.back", "length": "n", "equals": "a.src"}}}}
      ]
    }},
    {{"recv": {{"on": "b", "qp": "q", "local": "b.dst", "length": 8192}}}},
    {{"post": {{"on": "a", "qp": "q", "op": "send", "local": "a.src", "length": 3000}}}},
    {{"received": {{"on": "b", "entries": [{{"qp": "q", "bytes": 3000}}]}}}},
    {{"complete": {{"on": "a", "all": true, "status": "success"}}}}
  ]
}}
)",
      name);
}

}  // namespace rocegen::services
