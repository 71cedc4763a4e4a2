#include "generator/spec/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rocegen::spec {

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= 48 && is_lower(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

FieldTable::Row FieldTable::add(std::string pointer, Kind kind, Access member, std::string doc) {
  Field f;
  f.pointer = std::move(pointer);
  f.kind = kind;
  f.access = member;
  f.doc = std::move(doc);
  fields_.push_back(std::move(f));
  return Row{fields_.back()};
}

namespace {

// Frame buffers are addressed in beats with 16 bits (roce_pkg: buf_addr).
constexpr int kMaxBufferBeats = 65536;
// A block RAM is at least 512 words deep: a shallower buffer costs the same.
constexpr int kMinBufferBeats = 512;
constexpr int kMinBufferKib = 16;

int power_of_two_above(int value) {
  int power = 1;
  while (power < value) power *= 2;
  return power;
}

// KiB of a buffer that holds `frames` largest frames.
int buffer_kib(const StackSpec& s, int frames) {
  const int bytes = std::max(frames * s.max_frame_beats(), kMinBufferBeats) * s.bytes_per_beat();
  return power_of_two_above(std::max((bytes + 1023) / 1024, kMinBufferKib));
}

// [a-z][a-z0-9_]{0,15}
bool is_port_part(std::string_view text) { return text.size() <= 16 && is_identifier(text); }

// x[caq][a-z0-9]+(-[A-Za-z0-9]+)+
bool is_part(std::string_view text) {
  const std::string_view family = text.substr(0, text.find('-'));
  if (family.size() < 3 || family.size() == text.size() || family[0] != 'x' ||
      std::string_view("caq").find(family[1]) == std::string_view::npos ||
      !std::all_of(family.begin() + 2, family.end(), [](char c) { return is_lower(c) || is_digit(c); })) {
    return false;
  }
  char before = 'x';
  for (const char c : text.substr(family.size())) {
    const bool sign = is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
    if (!sign && (c != '-' || before == '-')) return false;
    before = c;
  }
  return before != '-';
}

// `member` is a generic lambda `[](auto& s) -> auto& { return s.x; }`.
template <typename T, typename Lambda>
Access access(Lambda member) {
  return Member<T>{member, member};
}

// Builds the table of the spec.
class Table : public FieldTable {
 public:
  using FieldTable::FieldTable;

  void object(std::string pointer, std::string doc) { add(std::move(pointer), Kind::object, {}, std::move(doc)); }
  void services(std::string pointer, std::string doc) {
    add(std::move(pointer), Kind::services, {}, std::move(doc)).range(0, kMaxServices).example("[]");
  }
  template <typename Lambda>
  Row text(std::string pointer, Lambda member, std::string doc) {
    return add(std::move(pointer), Kind::text, access<std::string>(member), std::move(doc));
  }
  template <typename Lambda>
  Row word(std::string pointer, Lambda member, std::string doc) {
    return add(std::move(pointer), Kind::word, access<std::string>(member), std::move(doc));
  }
  template <typename Lambda>
  Row integer(std::string pointer, Lambda member, std::string doc) {
    return add(std::move(pointer), Kind::integer, access<int>(member), std::move(doc));
  }
  template <typename Lambda>
  Row number(std::string pointer, Lambda member, std::string doc) {
    return add(std::move(pointer), Kind::number, access<double>(member), std::move(doc));
  }
  template <typename Lambda>
  Row boolean(std::string pointer, Lambda member, std::string doc) {
    return add(std::move(pointer), Kind::boolean, access<bool>(member), std::move(doc));
  }
  template <typename Lambda>
  Row names(std::string pointer, Lambda member, std::string doc) {
    return add(std::move(pointer), Kind::names, access<std::vector<std::string>>(member), std::move(doc));
  }
};

std::vector<Field> make_fields() {
  std::vector<Field> all;
  Table t(all);
  t.object("", "One RoCE v2 network interface.");
  t.text(
       "/name", [](auto& s) -> auto& { return s.name; },
       "Name of the top module and of the output folder. It is no keyword of SystemVerilog and no name of a library "
       "module.")
      .required()
      .pattern(kIdentifierPattern, is_identifier, kIdentifierWords)
      .max_length(48)
      .example("\"nic_100g\"");
  t.text(
       "/description", [](auto& s) -> auto& { return s.description; },
       "What this stack is for, in your own words. It is printed in the generated documentation.")
      .max_length(4096)
      .example("\"100 Gb/s for the storage node\"");
  t.integer(
       "/data_width", [](auto& s) -> auto& { return s.data_width; },
       "Width of the datapath: of every packet stream inside of the stack and of the AXI4 master's data.")
      .unit("bits")
      .values({64, 128, 256, 512, 1024})
      .example("512");
  t.number(
       "/clock_mhz", [](auto& s) -> auto& { return s.clock_mhz; },
       "Frequency of the datapath's clock. With data_width it sets the raw rate, with pipeline_depth how much logic "
       "fits between two registers; the ACK timers count by it.")
      .unit("MHz")
      .range(10, 1000)
      .example("322.265625");
  t.integer(
       "/qp_count", [](auto& s) -> auto& { return s.qp_count; },
       "Queue pairs. Their state lies in RAM; any number is allowed, not only powers of two.")
      .range(1, 16384)
      .example("512");
  t.integer(
       "/pipeline_depth", [](auto& s) -> auto& { return s.pipeline_depth; },
       "How deeply the stack is pipelined: 0 is smallest and has the least latency, 4 reaches the highest clock. It "
       "sets the register slices between modules and the stages of compiled arithmetic.")
      .range(0, 4)
      .example("2");
  t.integer(
       "/mtu", [](auto& s) -> auto& { return s.mtu; },
       "Largest path MTU, in bytes of payload. Every queue pair may be set to this or to a smaller one at run time. "
       "It sizes the frame buffers.")
      .unit("bytes")
      .values({256, 512, 1024, 2048, 4096})
      .example("1024");
  t.integer(
       "/memory_regions", [](auto& s) -> auto& { return s.memory_regions; },
       "Entries of the memory-region table, which remote keys are looked up in.")
      .range(1, 65536)
      .example("1024");

  t.object("/transport", "The reliable connection: send rings, window, acknowledgement.");
  t.integer(
       "/transport/ack_interval", [](auto& s) -> auto& { return s.transport.ack_interval; },
       "Within a long message the requester asks for an acknowledgement every so many packets; the last packet of a "
       "message always asks.")
      .unit("packets")
      .range(1, 256)
      .example("32");
  t.integer(
       "/transport/window_packets", [](auto& s) -> auto& { return s.transport.window_packets; },
       "Packets that one queue pair may have unacknowledged. More is needed the longer the round trip; a sequence "
       "number's half circle is the upper limit.")
      .unit("packets")
      .range(2, 4194304)
      .example("4096");
  t.integer(
       "/transport/wqe_slots", [](auto& s) -> auto& { return s.transport.wqe_slots; },
       "Work queue entries in the send-ring memory that all queue pairs share, 64 bytes each. Every queue pair gets a "
       "ring of a power of two of them at run time.")
      .unit("entries")
      .range(16, 1048576)
      .power_of_two()
      .derive(
          [](StackSpec& s) {
            if (s.transport.wqe_slots == 0) s.transport.wqe_slots = std::max(1024, power_of_two_above(8 * s.qp_count));
          },
          "8 for each queue pair, rounded up to a power of two, at least 1024")
      .example("8192");
  t.integer(
       "/transport/rqe_slots", [](auto& s) -> auto& { return s.transport.rqe_slots; },
       "Receive queue entries in the receive-ring memory that all queue pairs and shared rings share, 32 bytes each. "
       "Every ring gets a power of two of them at run time.")
      .unit("entries")
      .range(16, 1048576)
      .power_of_two()
      .derive(
          [](StackSpec& s) {
            if (s.transport.rqe_slots == 0) s.transport.rqe_slots = std::max(1024, power_of_two_above(8 * s.qp_count));
          },
          "8 for each queue pair, rounded up to a power of two, at least 1024")
      .example("8192");
  t.integer(
       "/transport/srq_count", [](auto& s) -> auto& { return s.transport.srq_count; },
       "Shared receive rings: several queue pairs take their receive buffers from one of them.")
      .range(0, 4096)
      .example("16");
  t.integer(
       "/transport/read_depth", [](auto& s) -> auto& { return s.transport.read_depth; },
       "READ and atomic requests that one queue pair may have outstanding, as requester and as responder each; a queue "
       "pair may be set to fewer at run time. As many are remembered to answer duplicates.")
      .unit("requests")
      .range(1, 128)
      .power_of_two()
      .derive(
          [](StackSpec& s) {
            if (s.transport.read_depth == 0) s.transport.read_depth = s.qp_count <= 256 ? 16 : 8;
          },
          "16, and 8 for more than 256 queue pairs: their rows then fill whole UltraRAMs")
      .example("32");
  t.word(
       "/transport/recovery", [](auto& s) -> auto& { return s.transport.recovery; },
       "What becomes of packets behind a lost one. go_back_n: all of them are dropped and come again. selective: those "
       "of "
       "the WRITE under way go to memory at once, and ePSN jumps over them when the lost one arrives; a requester "
       "sends a "
       "lost packet of a WRITE alone and skips the rest of its message. Works with any peer and keeps the order of "
       "messages; pays off with WRITEs of many packets.")
      .words({"go_back_n", "selective"})
      .example("\"selective\"");

  t.object("/network", "The side of the Ethernet MAC, and IPv4.");
  t.integer(
       "/network/mac_width", [](auto& s) -> auto& { return s.network.mac_width; },
       "Width of s_axis_rx and m_axis_tx. Width adapters join it to data_width.")
      .unit("bits")
      .values({64, 128, 256, 512, 1024})
      .derive(
          [](StackSpec& s) {
            if (s.network.mac_width == 0) s.network.mac_width = s.data_width;
          },
          "data_width")
      .example("512");
  t.number(
       "/network/mac_clock_mhz", [](auto& s) -> auto& { return s.network.mac_clock_mhz; },
       "Frequency of the MAC's clock. Another value than clock_mhz makes a clock domain of its own, with the ports "
       "clk_mac and rst_mac and clock crossings.")
      .unit("MHz")
      .range(10, 1000)
      .derive(
          [](StackSpec& s) {
            if (s.network.mac_clock_mhz == 0) s.network.mac_clock_mhz = s.clock_mhz;
          },
          "clock_mhz")
      .example("322.265625");
  t.integer(
       "/network/ttl", [](auto& s) -> auto& { return s.network.ttl; },
       "IPv4 time to live of sent frames after reset; register IP_CONFIG changes it.")
      .range(1, 255)
      .example("64");
  t.integer(
       "/network/tos", [](auto& s) -> auto& { return s.network.tos; },
       "IPv4 type of service (DSCP and ECN bits) of sent frames after reset; register IP_CONFIG changes it.")
      .range(0, 255)
      .example("106");
  t.integer(
       "/network/rx_buffer_kib", [](auto& s) -> auto& { return s.network.rx_buffer_kib; },
       "Receive frame buffer. A frame stays in it until its ICRC is checked and its payload has gone to the host; "
       "what finds no room is dropped and counted.")
      .unit("KiB")
      .range(1, 8192)
      .power_of_two()
      .derive(
          [](StackSpec& s) {
            if (s.network.rx_buffer_kib == 0) s.network.rx_buffer_kib = buffer_kib(s, 6);
          },
          "room for 6 of the largest frames and 512 beats, rounded up to a power of two, at least 16")
      .example("64");
  t.integer(
       "/network/tx_buffer_kib", [](auto& s) -> auto& { return s.network.tx_buffer_kib; },
       "Transmit frame buffer. A frame is sent when it is complete, so that it has no gaps.")
      .unit("KiB")
      .range(1, 8192)
      .power_of_two()
      .derive(
          [](StackSpec& s) {
            if (s.network.tx_buffer_kib == 0) s.network.tx_buffer_kib = buffer_kib(s, 3);
          },
          "room for 3 of the largest frames and 512 beats, rounded up to a power of two, at least 16")
      .example("32");

  t.object("/host", "The side of host memory: AXI4 reads and writes, completions, events.");
  t.integer(
       "/host/read_buffer_kib", [](auto& s) -> auto& { return s.host.read_buffer_kib; },
       "Payload that may be on its way from host memory. At full rate it holds the rate times the memory's latency.")
      .unit("KiB")
      .range(1, 8192)
      .power_of_two()
      .derive(
          [](StackSpec& s) {
            if (s.host.read_buffer_kib == 0) s.host.read_buffer_kib = buffer_kib(s, 3);
          },
          "room for 3 of the largest frames and 512 beats, rounded up to a power of two, at least 16")
      .example("64");
  t.integer(
       "/host/max_reads", [](auto& s) -> auto& { return s.host.max_reads; }, "Outstanding AXI4 read bursts.")
      .unit("bursts")
      .range(1, 256)
      .example("64");
  t.integer(
       "/host/max_writes", [](auto& s) -> auto& { return s.host.max_writes; }, "Outstanding AXI4 write bursts.")
      .unit("bursts")
      .range(1, 256)
      .example("32");
  t.integer(
       "/host/address_width", [](auto& s) -> auto& { return s.host.address_width; },
       "Bits of an AXI4 address that host memory uses; higher bits of a host address must be 0.")
      .unit("bits")
      .range(32, 64)
      .example("48");
  t.integer(
       "/host/cq_depth", [](auto& s) -> auto& { return s.host.cq_depth; }, "Completions that may wait for m_axis_cqe.")
      .unit("entries")
      .range(2, 4096)
      .example("256");
  t.integer(
       "/host/event_depth", [](auto& s) -> auto& { return s.host.event_depth; },
       "Events that may wait to be read from register EVENT; what finds no room is lost and sets STATUS.")
      .unit("entries")
      .range(2, 4096)
      .example("128");
  t.names(
       "/host/targets", [](auto& s) -> auto& { return s.host.targets; },
       "Memories, each behind an AXI4 master of its own: m_axi_NAME_*, or just m_axi_* when there is only one. A "
       "memory "
       "region, a work request and a receive entry say by number which one they mean, and payload goes there directly.")
      .range(1, 8)
      .pattern("[a-z][a-z0-9_]{0,15}", is_port_part,
               "a lower-case letter, then up to 15 lower-case letters, digits and underscores")
      .example("[\"host\", \"gpu\"]");
  t.boolean(
       "/host/ack_after_write", [](auto& s) -> auto& { return s.host.ack_after_write; },
       "false: a request is acknowledged when its data is on its way to memory; true: when memory has answered for "
       "it, so that a write error becomes a NAK 0x63 for the very request. Costs a memory latency a round trip.")
      .example("true");

  t.services("/services",
             "Services on the packet path, in the order in which received data passes; what is sent passes them in the "
             "reverse order. Keys of each type: see below; how they work: services.md.");

  t.object("/target", "The FPGA that the stack will run on.");
  t.text(
       "/target/part", [](auto& s) -> auto& { return s.target.part; },
       "Xilinx part as Vivado names it. It goes into the Vivado hand-off; the SystemVerilog is the same for all parts.")
      .pattern("x[caq][a-z0-9]+(-[A-Za-z0-9]+)+", is_part,
               "a part with package and speed grade, such as xcu250-figd2104-2L-e")
      .max_length(64)
      .example("\"xcvu9p-flga2104-2-i\"");
  t.object("/target/vivado", "The Vivado hand-off.");
  t.word(
       "/target/vivado/mode", [](auto& s) -> auto& { return s.target.vivado.mode; },
       "project: the script makes a Vivado project; non_project: it synthesises in memory and writes reports and a "
       "checkpoint.")
      .words({"project", "non_project"})
      .example("\"project\"");
  return all;
}

// ---- rules -----------------------------------------------------------------------------------------

// Adds "what is N" with the place of N, or that it is the default.
void note_value(Diagnostic& d, const RuleContext& context, std::string_view pointer, std::string what) {
  d.note(context.given(pointer) ? std::move(what) : what + " by default",
         context.given(pointer) ? context.place(pointer) : Place{});
}

void check_name(const StackSpec& s, const RuleContext& context, Diagnostics& diagnostics) {
  const auto has = [](std::span<const std::string> sorted, std::string_view word) {
    return std::binary_search(sorted.begin(), sorted.end(), word);
  };
  if (has(keywords(), s.name)) {
    diagnostics
        .error("E0207", context.place("/name"), fmt::format("/name: \"{}\" is a keyword of SystemVerilog", s.name))
        .label("names the top module")
        .help(fmt::format("set \"name\" to \"{}_nic\"", s.name));
  } else if (has(library_names(), s.name) || has(library_names(), s.name + "_pkg")) {
    const std::string clash = has(library_names(), s.name) ? "module " + s.name : "package " + s.name + "_pkg";
    diagnostics
        .error("E0208", context.place("/name"),
               fmt::format("/name: \"{}\" clashes with the library's {}", s.name, clash))
        .label("names the top module and its package")
        .help(fmt::format("set \"name\" to \"{}_nic\"", s.name));
  }
}

void check_window(const StackSpec& s, const RuleContext& context, Diagnostics& diagnostics) {
  const int window = s.transport.window_packets;
  const int interval = s.transport.ack_interval;
  if (window >= interval) return;
  const bool at_window = context.given("/transport/window_packets");
  Diagnostic& d = diagnostics.error(
      "E0211", context.place(at_window ? "/transport/window_packets" : "/transport/ack_interval"),
      fmt::format("/transport/window_packets: {} is below /transport/ack_interval, {}", window, interval));
  d.label(at_window ? "the window closes before an ACK is asked for" : "no ACK is asked for within the window");
  if (at_window) {
    note_value(d, context, "/transport/ack_interval", fmt::format("ack_interval is {}", interval));
  } else {
    note_value(d, context, "/transport/window_packets", fmt::format("window_packets is {}", window));
  }
  d.help(fmt::format("set \"window_packets\" to {} or more, or \"ack_interval\" to {} or less", interval, window));
}

void check_buffer(const StackSpec& s, const RuleContext& context, Diagnostics& diagnostics, const char* pointer,
                  int kib) {
  const std::string name(std::string_view(pointer).substr(std::string_view(pointer).rfind('/') + 1));
  const int beats = kib * 1024 / s.bytes_per_beat();
  if (beats > kMaxBufferBeats) {
    Diagnostic& d = diagnostics.error(
        "E0213", context.place(pointer),
        fmt::format("{}: {} KiB are {} beats, allowed: up to {}", pointer, kib, beats, kMaxBufferBeats));
    d.label("too large");
    note_value(d, context, "/data_width", fmt::format("data_width is {} bits", s.data_width));
    d.help(fmt::format("set \"{}\" to {} or less", name, kMaxBufferBeats / 1024 * s.bytes_per_beat()));
  }
  if (beats < 2 * s.max_frame_beats()) {
    const int needed = 2 * s.max_frame_beats() * s.bytes_per_beat();
    Diagnostic& d = diagnostics.error("E0212", context.place(pointer),
                                      fmt::format("{}: {} KiB do not hold two frames of the MTU", pointer, kib));
    d.label("too small");
    note_value(d, context, "/mtu", fmt::format("mtu is {} bytes, so that two frames take {}", s.mtu, needed));
    d.help(fmt::format("set \"{}\" to {} or more", name, power_of_two_above((needed + 1023) / 1024)));
  }
}

void check_rx_buffer(const StackSpec& s, const RuleContext& context, Diagnostics& diagnostics) {
  check_buffer(s, context, diagnostics, "/network/rx_buffer_kib", s.network.rx_buffer_kib);
}
void check_tx_buffer(const StackSpec& s, const RuleContext& context, Diagnostics& diagnostics) {
  check_buffer(s, context, diagnostics, "/network/tx_buffer_kib", s.network.tx_buffer_kib);
}
void check_read_buffer(const StackSpec& s, const RuleContext& context, Diagnostics& diagnostics) {
  check_buffer(s, context, diagnostics, "/host/read_buffer_kib", s.host.read_buffer_kib);
}

// Received data passes ingress, then deliver: the list cannot say otherwise.
void check_service_order(const StackSpec& s, const RuleContext& context, Diagnostics& diagnostics) {
  std::size_t deliver = s.services.size();
  for (std::size_t i = 0; i < s.services.size(); ++i) {
    const ServiceSpec& service = s.services[i];
    if (service.at(Attach::deliver) && deliver == s.services.size()) deliver = i;
    if (!service.at(Attach::ingress) || deliver == s.services.size() || deliver == i) continue;
    diagnostics
        .error("E0215", context.place(fmt::format("/services/{}", i)),
               fmt::format("/services/{}: \"{}\" works at ingress, but stands behind \"{}\", which works at deliver", i,
                           service.name, s.services[deliver].name))
        .label("received data would have to go back")
        .note(fmt::format("\"{}\" sees data that has been accepted already", s.services[deliver].name),
              context.place(fmt::format("/services/{}", deliver)))
        .help(fmt::format("move \"{}\" in front of \"{}\"", service.name, s.services[deliver].name));
  }
}

void check_slots(const StackSpec& s, const RuleContext& context, Diagnostics& diagnostics) {
  if (s.transport.wqe_slots >= s.qp_count) return;
  Diagnostic& d = diagnostics.warning(
      "W0201", context.place("/transport/wqe_slots"),
      fmt::format("/transport/wqe_slots: {} are fewer than the queue pairs, {}", s.transport.wqe_slots, s.qp_count));
  d.label("some queue pairs cannot send");
  note_value(d, context, "/qp_count", fmt::format("qp_count is {}", s.qp_count));
  d.help(fmt::format("set \"wqe_slots\" to {} or more", power_of_two_above(s.qp_count)));
}

std::vector<Rule> make_rules() {
  const std::string buffer_doc = " holds at least two of the largest frames and has at most 65536 beats of data_width.";
  return {
      {"E0207, E0208", "name is no keyword of SystemVerilog and no name of the library.", {"/name"}, check_name},
      {"E0211",
       "transport.window_packets is at least transport.ack_interval.",
       {"/transport/window_packets", "/transport/ack_interval"},
       check_window},
      {"E0212, E0213",
       "network.rx_buffer_kib" + buffer_doc,
       {"/network/rx_buffer_kib", "/data_width", "/mtu"},
       check_rx_buffer},
      {"E0212, E0213",
       "network.tx_buffer_kib" + buffer_doc,
       {"/network/tx_buffer_kib", "/data_width", "/mtu"},
       check_tx_buffer},
      {"E0212, E0213",
       "host.read_buffer_kib" + buffer_doc,
       {"/host/read_buffer_kib", "/data_width", "/mtu"},
       check_read_buffer},
      {"E0215",
       "In services, what works at ingress stands in front of what works at deliver.",
       {"/services"},
       check_service_order},
      {"W0201",
       "transport.wqe_slots should be at least qp_count (a warning: a queue pair without a ring can only receive).",
       {"/transport/wqe_slots", "/qp_count"},
       check_slots},
  };
}

}  // namespace

std::string_view Field::name() const {
  const std::string_view all = pointer;
  return all.empty() ? all : all.substr(all.rfind('/') + 1);
}

std::string_view Field::parent() const {
  const std::string_view all = pointer;
  return all.empty() ? all : all.substr(0, all.rfind('/'));
}

std::vector<int> Field::allowed_values() const {
  if (!power_of_two) return values;
  std::vector<int> powers;
  for (int power = 1; power <= static_cast<int>(max); power *= 2) {
    if (power >= static_cast<int>(min)) powers.push_back(power);
  }
  return powers;
}

std::string Field::allowed_words() const {
  switch (kind) {
    case Kind::object:
      return "an object";
    case Kind::text:
      if (!pattern_words.empty()) return pattern_words;
      return fmt::format("up to {} characters", max_length);
    case Kind::word:
      return fmt::format("{}", fmt::join(words, ", "));
    case Kind::integer:
      if (!values.empty()) return fmt::format("{}", fmt::join(values, ", "));
      return fmt::format("{}{}..{}", power_of_two ? "a power of two, " : "", min, max);
    case Kind::number:
      return fmt::format("{}..{}", min, max);
    case Kind::boolean:
      return "true, false";
    case Kind::names:
      return fmt::format("a list of {}..{} names", min, max);
    case Kind::entries:
      return fmt::format("a list of {}..{} objects", min, max);
    case Kind::any:
      return "see there";
    case Kind::services:
      return fmt::format("a list of up to {} objects", max);
  }
  return {};
}

std::span<const Field> fields() {
  static const std::vector<Field> all = make_fields();
  return all;
}

const Field* find_field(std::string_view pointer) {
  const std::span<const Field> all = fields();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Field& f) { return f.pointer == pointer; });
  return it == all.end() ? nullptr : &*it;
}

std::span<const Rule> rules() {
  static const std::vector<Rule> all = make_rules();
  return all;
}

}  // namespace rocegen::spec
