#include "generator/outputs/registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace rocegen::outputs {

namespace {

std::uint32_t version_word() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  if (std::sscanf(ROCEGEN_VERSION, "%d.%d.%d", &major, &minor, &patch) != 3)
    throw std::logic_error("bad ROCEGEN_VERSION");
  return static_cast<std::uint32_t>(major << 24 | minor << 16 | patch);
}

Register constant(std::string name, std::uint32_t address, std::uint32_t value, std::string doc) {
  return {std::move(name), address, std::move(doc), {{"value", 0, 32, Access::ro, value, "", "constant"}}, false};
}

Register word(std::string name, std::uint32_t address, std::string doc) {
  return {std::move(name), address, std::move(doc), {{"value", 0, 32, Access::rw, 0, "", "whole word"}}, false};
}

/// 32-bit words of a receive queue entry.
constexpr std::uint32_t rqe_words = 8;

std::string lower(const std::string& text) {
  std::string out;
  for (char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Name of the flip-flops that keep an rw field.
std::string reg_name(const Register& reg, const Field& field) {
  return lower(reg.name) + (field.name == "value" ? "" : "_" + field.name) + "_q";
}

/// Bits msb down to lsb of a vector.
std::string slice(int msb, int lsb) { return msb == lsb ? fmt::format("[{}]", lsb) : fmt::format("[{}:{}]", msb, lsb); }

std::string range(int width) { return width == 1 ? "       " : fmt::format("[{:2}:0] ", width - 1); }

/// Address of a register that the CSR module treats by itself.
std::uint32_t address_of(const RegisterMap& map, std::string_view name) {
  for (const Register& reg : map.registers)
    if (reg.name == name) return reg.address;
  throw std::logic_error("the register map lacks " + std::string(name));
}

/// Text that grows by formatted pieces.
struct Text {
  std::string text;
  template <typename... Args>
  void operator()(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }
};

}  // namespace

const char* to_string(Access access) {
  switch (access) {
    case Access::ro:
      return "ro";
    case Access::rw:
      return "rw";
    case Access::wo:
      return "wo";
    case Access::w1:
      return "w1";
    case Access::pop:
      return "pop";
  }
  return "?";
}

RegisterMap make_register_map(const spec::StackSpec& spec, const std::string& spec_hash,
                              const std::vector<CounterSource>& counters, const std::vector<ServiceWindow>& windows) {
  RegisterMap map;
  map.has_services = !spec.services.empty();
  auto& r = map.registers;
  r.push_back(constant("ID", 0x000, 0x45434F52, "\"ROCE\" in ASCII, first letter in the low byte"));
  r.push_back(constant("VERSION", 0x004, version_word(), "generator version: major[31:24] minor[23:16] patch[15:0]"));
  r.push_back(constant("SPEC_HASH", 0x008, static_cast<std::uint32_t>(std::stoul(spec_hash.substr(0, 8), nullptr, 16)),
                       "first 32 bits of the SHA-256 of the completed specification"));
  r.push_back(
      {"STATUS",
       0x00C,
       "state of the whole stack",
       {{"ready", 0, 1, Access::ro, 0, "ready_i", "all tables are cleared; set-up and traffic may start"},
        {"cfg_busy", 1, 1, Access::ro, 0, "m_qp_tvalid | m_mr_tvalid | m_srq_tvalid", "a set-up waits to be taken"},
        {"event", 2, 1, Access::ro, 0, "s_event_tvalid", "an event waits in EVENT"},
        {"events_lost", 3, 1, Access::ro, 0, "lost_q", "an event found the queue full"}},
       false});
  r.push_back({"CTRL",
               0x010,
               "control",
               {{"irq_enable", 0, 1, Access::rw, 0, "", "irq_o follows STATUS.event"},
                {"clear_lost", 1, 1, Access::w1, 0, "", "clears STATUS.events_lost"}},
               false});
  r.push_back(constant("DATA_WIDTH", 0x014, static_cast<std::uint32_t>(spec.data_width), "datapath width in bits"));
  r.push_back(constant("QP_COUNT", 0x018, static_cast<std::uint32_t>(spec.qp_count), "queue pairs"));
  r.push_back(constant("MR_COUNT", 0x01C, static_cast<std::uint32_t>(spec.memory_regions), "memory regions"));
  r.push_back(constant("WQE_SLOTS", 0x020, static_cast<std::uint32_t>(spec.transport.wqe_slots),
                       "slots of the send-ring memory"));
  r.push_back(constant("CLOCK_KHZ", 0x024, static_cast<std::uint32_t>(std::lround(spec.clock_mhz * 1000.0)),
                       "datapath clock in kHz"));
  r.push_back(constant("RQE_SLOTS", 0x044, static_cast<std::uint32_t>(spec.transport.rqe_slots),
                       "slots of the receive-ring memory"));
  r.push_back(
      constant("SRQ_COUNT", 0x048, static_cast<std::uint32_t>(spec.transport.srq_count), "shared receive rings"));
  r.push_back(constant("READ_DEPTH", 0x04C, static_cast<std::uint32_t>(spec.transport.read_depth),
                       "READs and atomics outstanding that a QP may have, each way"));
  r.push_back(
      constant("TARGETS", 0x050, static_cast<std::uint32_t>(spec.host.targets.size()), "AXI masters to memory"));
  r.push_back(word("LOCAL_MAC_LO", 0x030, "own MAC address, bytes 2..5; byte 2 in [31:24]"));
  r.push_back({"LOCAL_MAC_HI",
               0x034,
               "own MAC address, bytes 0..1; byte 0 in [15:8]",
               {{"value", 0, 16, Access::rw, 0, "", "bytes 0 and 1"}},
               false});
  r.push_back(word("LOCAL_IP", 0x038, "own IPv4 address, first byte in [31:24]"));
  r.push_back({"IP_CONFIG",
               0x03C,
               "IPv4 fields of every frame sent",
               {{"ttl", 0, 8, Access::rw, static_cast<std::uint32_t>(spec.network.ttl), "", "time to live"},
                {"tos", 8, 8, Access::rw, static_cast<std::uint32_t>(spec.network.tos), "",
                 "type of service: DSCP[7:2] ECN[1:0]"}},
               false});
  r.push_back({"EVENT",
               0x040,
               "oldest event of a queue pair; reading takes it off the queue",
               {{"qpn", 0, 24, Access::pop, 0, "s_event_tdata.qpn", "queue pair"},
                {"cause", 24, 7, Access::pop, 0, "s_event_tdata.cause", "roce_pkg::Evt*"},
                {"valid", 31, 1, Access::pop, 0, "s_event_tvalid", "0: no event waits"}},
               false});
  r.push_back({"QP_NUM", 0x100, "queue pair that QP_COMMAND sets up", {{"qpn", 0, 24, Access::rw, 0, "", ""}}, false});
  r.push_back({"QP_ATTR",
               0x104,
               "attributes",
               {{"pmtu", 0, 3, Access::rw, 3, "", "path MTU: 1..5 = 256..4096 bytes"},
                {"access", 4, 4, Access::rw, 0, "", "remote rights: [0] write [1] read [2] atomic"},
                {"timeout", 8, 5, Access::rw, 0, "", "local ACK timeout 4.096 us * 2^n, 0 = never"},
                {"retry_cnt", 16, 3, Access::rw, 7, "", "timeouts and sequence NAKs before giving up"},
                {"rnr_retry", 20, 3, Access::rw, 7, "", "receiver-not-ready retries, 7 = endless"},
                {"min_rnr_timer", 24, 5, Access::rw, 12, "", "timer code sent in RNR NAKs"}},
               false});
  r.push_back({"QP_PROT",
               0x108,
               "protection",
               {{"pkey", 0, 16, Access::rw, 0xFFFF, "", "partition key"},
                {"pd", 16, 16, Access::rw, 0, "", "protection domain"}},
               false});
  r.push_back({"QP_RQ_PSN", 0x10C, "first PSN expected", {{"psn", 0, 24, Access::rw, 0, "", ""}}, false});
  r.push_back({"QP_SQ_PSN", 0x110, "first PSN sent", {{"psn", 0, 24, Access::rw, 0, "", ""}}, false});
  r.push_back({"QP_DEST_QPN", 0x114, "peer's queue pair", {{"qpn", 0, 24, Access::rw, 0, "", ""}}, false});
  r.push_back(word("QP_DEST_IP", 0x118, "peer's IPv4 address, first byte in [31:24]"));
  r.push_back(word("QP_DEST_MAC_LO", 0x11C, "next hop's MAC address, bytes 2..5; byte 2 in [31:24]"));
  r.push_back({"QP_DEST_MAC_HI",
               0x120,
               "next hop's MAC address, bytes 0..1, and UDP source port",
               {{"mac", 0, 16, Access::rw, 0, "", "byte 0 in [15:8]"},
                {"sport", 16, 16, Access::rw, 0xC000, "", "UDP source port of this QP's frames"}},
               false});
  r.push_back({"QP_SQ_RING",
               0x124,
               "send ring in the WQE memory",
               {{"base", 0, 20, Access::rw, 0, "", "first slot"}, {"log2", 24, 5, Access::rw, 0, "", "2^log2 slots"}},
               false});
  r.push_back(
      {"QP_COMMAND",
       0x128,
       "a write that holds byte 0 commits QP_NUM and, with setup, all QP registers",
       {{"state", 0, 3, Access::wo, 0, "", "0 RESET 1 INIT 2 RTR 3 RTS 4 SQD 5 ERR"},
        {"setup", 8, 1, Access::wo, 0, "",
         "1: take every field and start anew (take a QP that was in use to RESET or ERR before); 0: only change the "
         "state"}},
       true});
  r.push_back({"QP_RD_LIMITS",
               0x12C,
               "READs and atomics outstanding, at most READ_DEPTH",
               {{"max_rd", 0, 8, Access::rw, 1, "", "as requester; 0: none may be posted"},
                {"max_dest_rd", 8, 8, Access::rw, 1, "", "as responder; 0: each is refused with NAK 0x61"}},
               false});
  r.push_back({"QP_RQ_RING",
               0x130,
               "receive ring of its own in the RQE memory",
               {{"base", 0, 20, Access::rw, 0, "", "first slot"}, {"log2", 24, 5, Access::rw, 0, "", "2^log2 slots"}},
               false});
  r.push_back({"QP_RQ_ATTR",
               0x134,
               "where receive buffers come from",
               {{"rq_on", 0, 1, Access::rw, 0, "", "0: none, a SEND meets RNR; 1: from a ring"},
                {"srq", 1, 1, Access::rw, 0, "", "0: QP_RQ_RING; 1: shared ring srqn"},
                {"srqn", 16, 16, Access::rw, 0, "", "shared ring"}},
               false});
  if (map.has_services) {
    std::string bits;
    for (std::size_t i = 0; i < spec.services.size(); ++i)
      bits += fmt::format("{}[{}] {}", i == 0 ? "" : " ", i, spec.services[i].name);
    r.push_back({"QP_SERVICES",
                 0x138,
                 "services that work on its packets, from the set-up on",
                 {{"mask", 0, 8, Access::rw, 0, "", bits}},
                 false});
  }
  r.push_back({"MR_INDEX",
               0x140,
               "memory region that MR_COMMAND sets up",
               {{"index", 0, 24, Access::rw, 0, "", "upper 24 bits of the key"}},
               false});
  r.push_back({"MR_ATTR",
               0x144,
               "attributes",
               {{"variant", 0, 8, Access::rw, 0, "", "lower 8 bits of the key"},
                {"access", 8, 4, Access::rw, 0, "", "remote rights: [0] write [1] read [2] atomic [3] invalidate"},
                {"valid", 12, 1, Access::rw, 0, "", "0 revokes the region"},
                {"target", 13, 3, Access::rw, 0, "", "AXI master that the region lies behind"},
                {"pd", 16, 16, Access::rw, 0, "", "protection domain"}},
               false});
  r.push_back(word("MR_BASE_LO", 0x148, "first byte address, low word"));
  r.push_back(word("MR_BASE_HI", 0x14C, "first byte address, high word"));
  r.push_back(word("MR_LEN_LO", 0x150, "length in bytes, low word"));
  r.push_back(word("MR_LEN_HI", 0x154, "length in bytes, high word"));
  r.push_back({"MR_COMMAND",
               0x158,
               "a write that holds byte 0 commits all MR registers",
               {{"commit", 0, 1, Access::wo, 0, "", "any value"}},
               true});
  r.push_back({"SRQ_NUM",
               0x160,
               "shared receive ring that SRQ_COMMAND sets up",
               {{"srqn", 0, 16, Access::rw, 0, "", "number, below SRQ_COUNT"}},
               false});
  r.push_back({"SRQ_RING",
               0x164,
               "its ring in the RQE memory",
               {{"base", 0, 20, Access::rw, 0, "", "first slot"}, {"log2", 24, 5, Access::rw, 0, "", "2^log2 slots"}},
               false});
  r.push_back({"SRQ_COMMAND",
               0x168,
               "a write that holds byte 0 sets the ring up, empty",
               {{"commit", 0, 1, Access::wo, 0, "", "any value"}},
               true});
  for (std::uint32_t i = 0; i < rqe_words; ++i)
    r.push_back(word(fmt::format("RQE_WORD{}", i), 0x180 + 4 * i,
                     fmt::format("receive queue entry (roce_pkg::rqe_t) for RQE_COMMAND, word {}; while "
                                 "RQE_COMMAND.busy a write answers SLVERR",
                                 i)));
  r.push_back({"RQE_COMMAND",
               0x1A0,
               "a write that holds byte 0 posts the entry; answered at once, with SLVERR if busy",
               {{"busy", 0, 1, Access::ro, 0, "rqe_valid_q", "the last entry waits: its ring is full"}},
               false});

  std::uint32_t address = counter_base;
  for (const CounterSource& c : counters) {
    if (address >= window_base) throw std::length_error("more counters than the register space holds");
    map.counters.push_back({c.name, address, c.instance});
    address += 4;
  }
  for (const ServiceWindow& window : windows) {
    map.windows.push_back(window.service);
    std::string prefix;
    for (char c : window.name) prefix += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    for (Register reg : window.registers) {
      reg.name = prefix + "_" + reg.name;
      reg.address += window_base + static_cast<std::uint32_t>(window.service) * window_bytes;
      reg.window = window.service;
      r.push_back(std::move(reg));
    }
  }
  return map;
}

std::string write_csr(const RegisterMap& with_windows) {
  // What stands in windows of services is answered there.
  RegisterMap map = with_windows;
  std::erase_if(map.registers, [](const Register& reg) { return reg.window >= 0; });
  const std::size_t lanes = map.windows.size();
  Text emit;
  const std::size_t n = map.counters.size();
  int sel_width = 1;
  while ((std::size_t{1} << sel_width) < n) ++sel_width;

  emit(
      "// csr: AXI4-Lite slave with the register map of this variant.\n"
      "//\n"
      "// Address and data of a write are taken in any order. One transaction of each direction at a time,\n"
      "// and one more write waits in front. A write is answered two cycles after its later half; one to\n"
      "// QP_COMMAND, MR_COMMAND or SRQ_COMMAND when the set-up stream has been taken, and it commits only\n"
      "// if it holds byte 0. RQE_COMMAND posts the words RQE_WORD0..7 on m_rqe and is answered at once;\n"
      "// until m_rqe has been taken they are locked (SLVERR), so that a full ring never blocks the bus. An\n"
      "// address that holds no register answers SLVERR and changes nothing; so does a write to a counter. The two low "
      "address bits are ignored, byte strobes are honoured, read-only fields keep\n"
      "// their value. A read is answered three cycles after its address. EVENT pops once for each read of\n"
      "// it that is accepted. irq_o falls with the pop, so before that read is answered.\n"
      "{}"
      "// rocegen: comb irq_o<-s_event.tvalid\n"
      "`default_nettype none\n\n"
      "module csr (\n"
      "    input  wire                             clk,\n"
      "    input  wire                             rst,\n"
      "    // AXI4-Lite\n"
      "    input  wire  [15:0]                     s_axil_awaddr,\n"
      "    input  wire  [2:0]                      s_axil_awprot,\n"
      "    input  wire                             s_axil_awvalid,\n"
      "    output logic                            s_axil_awready,\n"
      "    input  wire  [31:0]                     s_axil_wdata,\n"
      "    input  wire  [3:0]                      s_axil_wstrb,\n"
      "    input  wire                             s_axil_wvalid,\n"
      "    output logic                            s_axil_wready,\n"
      "    output logic [1:0]                      s_axil_bresp,\n"
      "    output logic                            s_axil_bvalid,\n"
      "    input  wire                             s_axil_bready,\n"
      "    input  wire  [15:0]                     s_axil_araddr,\n"
      "    input  wire  [2:0]                      s_axil_arprot,\n"
      "    input  wire                             s_axil_arvalid,\n"
      "    output logic                            s_axil_arready,\n"
      "    output logic [31:0]                     s_axil_rdata,\n"
      "    output logic [1:0]                      s_axil_rresp,\n"
      "    output logic                            s_axil_rvalid,\n"
      "    input  wire                             s_axil_rready,\n"
      "    // set-up streams\n"
      "    output logic                            m_qp_tvalid,\n"
      "    input  wire                             m_qp_tready,\n"
      "    output roce_pkg::qp_cfg_t               m_qp_tdata,\n"
      "    output logic                            m_mr_tvalid,\n"
      "    input  wire                             m_mr_tready,\n"
      "    output roce_pkg::mr_cfg_t               m_mr_tdata,\n"
      "    output logic                            m_srq_tvalid,\n"
      "    input  wire                             m_srq_tready,\n"
      "    output roce_pkg::srq_cfg_t              m_srq_tdata,\n"
      "    // receive queue entries\n"
      "    output logic                            m_rqe_tvalid,\n"
      "    input  wire                             m_rqe_tready,\n"
      "    output logic [255:0]                    m_rqe_tdata,\n"
      "    // event queue\n"
      "    input  wire                             s_event_tvalid,\n"
      "    output logic                            s_event_tready,\n"
      "    input  roce_pkg::qp_evt_t               s_event_tdata,\n"
      "    input  wire                             event_lost_i,\n"
      "    output logic                            irq_o,\n"
      "    // pins\n"
      "    input  wire                             ready_i,\n"
      "    output logic [47:0]                     local_mac_o,\n"
      "    output logic [31:0]                     local_ip_o,\n"
      "    output logic [7:0]                      ttl_o,\n"
      "    output logic [7:0]                      tos_o,\n"
      "{}"
      "    // counter bank, one cycle of latency\n"
      "    output logic [{}:0]                      counter_sel_o,\n"
      "    input  wire  [31:0]                     counter_i\n"
      ");\n\n",
      lanes == 0 ? ""
                 : "//\n// An access to the window of a service (4 KiB from 0x8000 + 0x1000 * service) is offered on "
                   "its lane of\n"
                   "// ctl_* until ctl_ready_i, and answered then; a write without all strobes answers SLVERR.\n",
      lanes == 0 ? ""
                 : fmt::format("    // register windows of services: offered until ready, one at a time\n"
                               "    output logic [{}:0]                      ctl_valid_o,\n"
                               "    output logic                            ctl_write_o,\n"
                               "    output logic [11:0]                     ctl_addr_o,\n"
                               "    output logic [31:0]                     ctl_wdata_o,\n"
                               "    input  wire  [{}:0]                      ctl_ready_i,\n"
                               "    input  wire  [{}:0]                     ctl_rdata_i,\n",
                               lanes - 1, lanes - 1, 32 * lanes - 1),
      sel_width - 1);

  for (const Register& reg : map.registers)
    for (const Field& f : reg.fields)
      if (f.access == Access::rw) emit("  logic {}{};\n", range(f.width), reg_name(reg, f));
  emit("  logic        lost_q;\n\n");

  emit(
      "  // ---- write channel: address and data are kept until both are there ----------------------------\n"
      "  typedef enum logic [1:0] {{\n    WrIdle,\n    WrCommit,\n    WrResp{}\n  }} wr_state_e;\n"
      "  wr_state_e   wr_state_q;\n"
      "  logic        aw_full_q;\n"
      "  logic        w_full_q;\n"
      "  logic [13:0] aw_word_q;\n"
      "  logic [31:0] w_data_q;\n"
      "  logic [3:0]  w_strb_q;\n"
      "  logic [15:0] wr_addr;\n"
      "  logic        wr_take;\n"
      "  logic        wr_hit;\n"
      "  logic        wr_locked;  // RQE registers while an entry waits\n"
      "  logic        rqe_valid_q;\n\n"
      "  always_ff @(posedge clk) begin\n"
      "    if (wr_take) begin\n"
      "      aw_full_q <= 1'b0;\n"
      "      w_full_q <= 1'b0;\n"
      "    end\n"
      "    if (s_axil_awvalid && !aw_full_q) begin\n"
      "      aw_full_q <= 1'b1;\n"
      "      aw_word_q <= s_axil_awaddr[15:2];\n"
      "    end\n"
      "    if (s_axil_wvalid && !w_full_q) begin\n"
      "      w_full_q <= 1'b1;\n"
      "      w_data_q <= s_axil_wdata;\n"
      "      w_strb_q <= s_axil_wstrb;\n"
      "    end\n"
      "    if (rst) begin\n"
      "      aw_full_q <= 1'b0;\n"
      "      w_full_q <= 1'b0;\n"
      "    end\n"
      "  end\n\n"
      "  assign s_axil_awready = !aw_full_q;\n"
      "  assign s_axil_wready = !w_full_q;\n"
      "  assign wr_take = (wr_state_q == WrIdle) && aw_full_q && w_full_q;\n"
      "  assign wr_addr = {{aw_word_q, 2'b00}};\n\n",
      lanes == 0 ? "" : ",\n    WrWindow");
  emit("  always_comb begin\n    case (wr_addr)\n");
  std::string hits;
  for (const Register& reg : map.registers)
    hits += fmt::format("{}16'h{:04X}", hits.empty() ? "" : ",\n      ", reg.address);
  emit("      {}: wr_hit = 1'b1;\n      default: wr_hit = 1'b0;\n    endcase\n  end\n\n", hits);
  emit("  assign wr_locked = rqe_valid_q && wr_addr >= 16'h{:04X} && wr_addr <= 16'h{:04X};\n\n",
       address_of(map, "RQE_WORD0"), address_of(map, "RQE_COMMAND"));

  if (lanes > 0) {
    emit(
        "  // ---- windows of services: the write that waits, and what is offered ----------------------------\n"
        "  logic [{0}:0]  wr_lane;\n"
        "  logic        win_strobes;\n"
        "  logic [{0}:0]  win_lane_q;\n"
        "  logic [11:0] win_addr_q;\n"
        "  logic [31:0] win_data_q;\n"
        "  logic [{0}:0]  ctl_valid_q;\n"
        "  logic        ctl_done;\n\n",
        lanes - 1);
    for (std::size_t lane = 0; lane < lanes; ++lane)
      emit("  assign wr_lane[{}] = wr_addr[15:12] == 4'h{:X};\n", lane, 8 + map.windows[lane]);
    emit(
        "  assign win_strobes = w_strb_q == 4'hF;\n"
        "  assign ctl_done = (ctl_valid_q & ctl_ready_i) != '0;\n"
        "  assign ctl_valid_o = ctl_valid_q;\n\n"
        "  always_ff @(posedge clk) begin\n"
        "    if (wr_take) begin\n"
        "      win_lane_q <= wr_lane;\n"
        "      win_addr_q <= wr_addr[11:0];\n"
        "      win_data_q <= w_data_q;\n"
        "    end\n"
        "  end\n\n");
  }

  emit(
      "  logic [1:0] bresp_q;\n"
      "  logic       qp_valid_q;\n"
      "  logic       mr_valid_q;\n"
      "  logic       srq_valid_q;\n"
      "  logic       setup_q;\n"
      "  logic [2:0] state_q;\n"
      "  logic       clear_lost_q;\n\n"
      "  always_ff @(posedge clk) begin\n"
      "    clear_lost_q <= 1'b0;\n"
      "    if (m_rqe_tready) rqe_valid_q <= 1'b0;\n"
      "    case (wr_state_q)\n"
      "      WrIdle: begin\n"
      "        if (wr_take) begin\n"
      "          wr_state_q <= WrResp;\n"
      "          bresp_q <= wr_hit && !wr_locked ? 2'b00 : 2'b10;\n"
      "          if (wr_addr == 16'h{:04X} && w_strb_q[0]) begin\n"
      "            wr_state_q <= WrCommit;\n"
      "            qp_valid_q <= 1'b1;\n"
      "            state_q <= w_data_q[2:0];\n"
      "            setup_q <= w_strb_q[1] && w_data_q[8];\n"
      "          end\n"
      "          if (wr_addr == 16'h{:04X} && w_strb_q[0]) begin\n"
      "            wr_state_q <= WrCommit;\n"
      "            mr_valid_q <= 1'b1;\n"
      "          end\n"
      "          if (wr_addr == 16'h{:04X} && w_strb_q[0]) begin\n"
      "            wr_state_q <= WrCommit;\n"
      "            srq_valid_q <= 1'b1;\n"
      "          end\n"
      "          if (wr_addr == 16'h{:04X} && w_strb_q[0]) rqe_valid_q <= 1'b1;\n"
      "          if (wr_addr == 16'h{:04X}) clear_lost_q <= w_strb_q[0] && w_data_q[1];\n"
      "{}"
      "        end\n"
      "      end\n"
      "      WrCommit: begin\n"
      "        if (m_qp_tready) qp_valid_q <= 1'b0;\n"
      "        if (m_mr_tready) mr_valid_q <= 1'b0;\n"
      "        if (m_srq_tready) srq_valid_q <= 1'b0;\n"
      "        if ((!qp_valid_q || m_qp_tready) && (!mr_valid_q || m_mr_tready) &&\n"
      "            (!srq_valid_q || m_srq_tready)) wr_state_q <= WrResp;\n"
      "      end\n"
      "      WrResp: if (s_axil_bready) wr_state_q <= WrIdle;\n"
      "{}"
      "      default: wr_state_q <= WrIdle;\n"
      "    endcase\n"
      "    if (rst) begin\n"
      "      wr_state_q <= WrIdle;\n"
      "      qp_valid_q <= 1'b0;\n"
      "      mr_valid_q <= 1'b0;\n"
      "      srq_valid_q <= 1'b0;\n"
      "      rqe_valid_q <= 1'b0;\n"
      "    end\n"
      "  end\n\n"
      "  assign s_axil_bvalid = wr_state_q == WrResp;\n"
      "  assign s_axil_bresp = bresp_q;\n\n",
      address_of(map, "QP_COMMAND"), address_of(map, "MR_COMMAND"), address_of(map, "SRQ_COMMAND"),
      address_of(map, "RQE_COMMAND"), address_of(map, "CTRL"),
      lanes == 0 ? ""
                 : "          if (wr_lane != '0 && win_strobes) begin\n"
                   "            wr_state_q <= WrWindow;\n"
                   "            bresp_q <= 2'b00;\n"
                   "          end\n",
      lanes == 0 ? "" : "      WrWindow: if (ctl_done && ctl_write_o) wr_state_q <= WrResp;\n");

  emit("  always_ff @(posedge clk) begin\n    if (wr_take && !wr_locked) begin\n      case (wr_addr)\n");
  for (const Register& reg : map.registers) {
    std::string body;
    for (const Field& f : reg.fields) {
      if (f.access != Access::rw) continue;
      for (int byte = f.lsb / 8; byte * 8 < f.lsb + f.width; ++byte) {
        const int lsb = std::max(f.lsb, byte * 8);
        const int msb = std::min(f.lsb + f.width, byte * 8 + 8) - 1;
        const bool whole = msb - lsb + 1 == f.width;
        fmt::format_to(std::back_inserter(body), "          if (w_strb_q[{}]) {}{} <= w_data_q{};\n", byte,
                       reg_name(reg, f), whole ? "" : slice(msb - f.lsb, lsb - f.lsb), slice(msb, lsb));
      }
    }
    if (!body.empty()) emit("        16'h{:04X}: begin  // {}\n{}        end\n", reg.address, reg.name, body);
  }
  emit("        default: ;\n      endcase\n    end\n    if (rst) begin\n");
  for (const Register& reg : map.registers)
    for (const Field& f : reg.fields)
      if (f.access == Access::rw) emit("      {} <= {}'h{:X};\n", reg_name(reg, f), f.width, f.reset);
  emit(
      "    end\n  end\n\n"
      "  always_ff @(posedge clk) begin\n"
      "    if (clear_lost_q) lost_q <= 1'b0;\n"
      "    if (event_lost_i) lost_q <= 1'b1;\n"
      "    if (rst) lost_q <= 1'b0;\n"
      "  end\n\n");

  emit(
      "  // ---- read channel ----------------------------------------------------------------------------\n"
      "  typedef enum logic [{}:0] {{\n    RdIdle,\n    RdCounter,\n    RdMux,\n    RdResp{}\n  }} rd_state_e;\n"
      "  rd_state_e   rd_state_q;\n"
      "  logic [15:0] rd_addr_q;\n"
      "  logic [31:0] rd_data_q;\n"
      "  logic [31:0] rd_mux;\n"
      "  logic        rd_hit;\n"
      "  logic [1:0]  rresp_q;\n\n"
      "  assign s_axil_arready = rd_state_q == RdIdle;\n"
      "  assign s_axil_rvalid = rd_state_q == RdResp;\n"
      "  assign s_axil_rdata = rd_data_q;\n"
      "  assign s_axil_rresp = rresp_q;\n\n",
      lanes == 0 ? 1 : 2, lanes == 0 ? "" : ",\n    RdWindow");
  if (lanes > 0) {
    emit("  logic [{}:0]  rd_lane;\n\n", lanes - 1);
    for (std::size_t lane = 0; lane < lanes; ++lane)
      emit("  assign rd_lane[{}] = rd_addr_q[15:12] == 4'h{:X};\n", lane, 8 + map.windows[lane]);
    emit(
        "\n  always_ff @(posedge clk) begin\n"
        "    if (ctl_valid_q == '0) begin\n"
        "      ctl_write_o <= wr_state_q == WrWindow;\n"
        "      ctl_addr_o <= wr_state_q == WrWindow ? win_addr_q : rd_addr_q[11:0];\n"
        "      ctl_wdata_o <= win_data_q;\n"
        "    end\n"
        "    if (rst || ctl_done) ctl_valid_q <= '0;\n"
        "    else if (ctl_valid_q == '0)\n"
        "      ctl_valid_q <= wr_state_q == WrWindow ? win_lane_q : rd_state_q == RdWindow ? rd_lane : '0;\n"
        "  end\n\n");
  }
  emit("  always_comb begin\n    rd_hit = 1'b1;\n    rd_mux = '0;\n    case (rd_addr_q)\n");
  for (const Register& reg : map.registers) {
    std::string body;
    for (const Field& f : reg.fields) {
      std::string value;
      if (f.access == Access::rw)
        value = reg_name(reg, f);
      else if (f.access == Access::wo || f.access == Access::w1)
        continue;
      else
        value = f.source.empty() ? fmt::format("{}'h{:X}", f.width, f.reset) : f.source;
      const std::string bits = f.width == 32  ? ""
                               : f.width == 1 ? fmt::format("[{}]", f.lsb)
                                              : fmt::format("[{}:{}]", f.lsb + f.width - 1, f.lsb);
      fmt::format_to(std::back_inserter(body), "        rd_mux{} = {};\n", bits, value);
    }
    if (body.empty())
      emit("      16'h{:04X}: rd_mux = '0;  // {}\n", reg.address, reg.name);
    else
      emit("      16'h{:04X}: begin  // {}\n{}      end\n", reg.address, reg.name, body);
  }
  emit(
      "      default: begin\n"
      "        rd_mux = counter_i;\n");
  if (n == 0)
    emit("        rd_hit = 1'b0;\n");
  else
    emit("        rd_hit = (rd_addr_q >= 16'h{:04X}) && (rd_addr_q <= 16'h{:04X});\n", counter_base,
         map.counters.back().address);
  // Counter 0 stands at a multiple of 256 words: its number is zero in a narrower index.
  emit(
      "      end\n    endcase\n  end\n\n"
      "  assign counter_sel_o = rd_addr_q[{}:2]{};\n\n",
      sel_width + 1, sel_width > 8 ? fmt::format(" - {}'d{}", sel_width, counter_base / 4) : "");
  emit(
      "  always_ff @(posedge clk) begin\n"
      "    case (rd_state_q)\n"
      "      RdIdle: begin\n"
      "        if (s_axil_arvalid) rd_state_q <= RdCounter;\n"
      "        rd_addr_q <= {{s_axil_araddr[15:2], 2'b00}};\n"
      "      end\n"
      "      RdCounter: rd_state_q <= RdMux;\n"
      "      RdMux: begin\n"
      "        rd_data_q <= rd_hit ? rd_mux : '0;\n"
      "        rresp_q <= rd_hit ? 2'b00 : 2'b10;\n"
      "        rd_state_q <= {}RdResp;\n"
      "      end\n"
      "      RdResp: if (s_axil_rready) rd_state_q <= RdIdle;\n"
      "{}"
      "      default: rd_state_q <= RdIdle;\n"
      "    endcase\n"
      "    if (rst) rd_state_q <= RdIdle;\n"
      "  end\n\n"
      "  assign s_event_tready = (rd_state_q == RdMux) && (rd_addr_q == 16'h{:04X});\n"
      "  assign irq_o = ctrl_irq_enable_q & s_event_tvalid;\n\n"
      "  // ---- set-up records ----------------------------------------------------------------------------\n"
      "  assign m_qp_tvalid = qp_valid_q;\n"
      "  assign m_qp_tdata = {{\n"
      "      setup_q, qp_num_qpn_q, state_q, qp_attr_pmtu_q, qp_attr_access_q, qp_prot_pd_q, qp_prot_pkey_q,\n"
      "      qp_rq_psn_psn_q, qp_sq_psn_psn_q, qp_dest_qpn_qpn_q, qp_dest_ip_q,\n"
      "      qp_dest_mac_hi_mac_q, qp_dest_mac_lo_q, qp_dest_mac_hi_sport_q,\n"
      "      qp_attr_retry_cnt_q, qp_attr_rnr_retry_q, qp_attr_timeout_q, qp_attr_min_rnr_timer_q,\n"
      "      qp_sq_ring_base_q, qp_sq_ring_log2_q, qp_rd_limits_max_rd_q, qp_rd_limits_max_dest_rd_q,\n"
      "      qp_rq_attr_rq_on_q, qp_rq_attr_srq_q, qp_rq_attr_srqn_q, qp_rq_ring_base_q, qp_rq_ring_log2_q,\n"
      "      {}\n"
      "  }};\n"
      "  assign m_mr_tvalid = mr_valid_q;\n"
      "  assign m_mr_tdata = {{\n"
      "      mr_index_index_q, mr_attr_valid_q, mr_attr_variant_q, mr_attr_access_q, mr_attr_target_q,\n"
      "      mr_attr_pd_q, mr_base_hi_q, mr_base_lo_q, mr_len_hi_q, mr_len_lo_q\n"
      "  }};\n\n"
      "  assign m_srq_tvalid = srq_valid_q;\n"
      "  assign m_srq_tdata = {{srq_num_srqn_q, srq_ring_base_q, srq_ring_log2_q}};\n"
      "  assign m_rqe_tvalid = rqe_valid_q;\n"
      "  assign m_rqe_tdata = {{\n"
      "      rqe_word7_q, rqe_word6_q, rqe_word5_q, rqe_word4_q, rqe_word3_q, rqe_word2_q, rqe_word1_q, rqe_word0_q\n"
      "  }};\n\n"
      "  assign local_mac_o = {{local_mac_hi_q, local_mac_lo_q}};\n"
      "  assign local_ip_o = local_ip_q;\n"
      "  assign ttl_o = ip_config_ttl_q;\n"
      "  assign tos_o = ip_config_tos_q;\n\n"
      "  // The protection bits, the byte part of addresses and what only other modules need of an event.\n"
      "  logic unused;\n"
      "  assign unused = ^{{s_axil_awprot, s_axil_arprot, s_axil_awaddr[1:0], s_axil_araddr[1:0],\n"
      "      s_event_tdata.life, s_event_tdata.rsp, s_event_tdata.psn}};\n\n"
      "endmodule\n`default_nettype wire\n",
      lanes == 0 ? "" : "rd_lane != '0 ? RdWindow : ",
      lanes == 0 ? ""
                 : fmt::format("      RdWindow: if (ctl_done && !ctl_write_o) begin\n"
                               "        rd_data_q <= '0;\n"
                               "        for (int n = 0; n < {}; n++)\n"
                               "          if (ctl_valid_q[n]) rd_data_q <= ctl_rdata_i[32*n+:32];\n"
                               "        rresp_q <= 2'b00;\n"
                               "        rd_state_q <= RdResp;\n"
                               "      end\n",
                               lanes),
      address_of(map, "EVENT"), map.has_services ? "qp_services_mask_q" : "8'h00");
  return std::move(emit.text);
}

}  // namespace rocegen::outputs
