#include "generator/stack/stack.h"

#include <fmt/format.h>

#include "generator/dataflow/checksum.h"
#include "generator/dataflow/compile.h"
#include "generator/dataflow/crc.h"
#include "generator/netlist/passes.h"

namespace rocegen::stack {

namespace {

using netlist::Builder;
using netlist::InstanceHandle;
using netlist::PinRef;
using netlist::Reduce;

/// Latencies of the compiled modules, which their users take as parameters.
struct Latencies {
  int crc = 0;
  int rewind = 0;
  int checksum = 0;
};

/// Compiles the arithmetic of this variant and registers it in the library.
Latencies compile_arithmetic(Stack& stack, spec::Diagnostics& diagnostics) {
  const spec::StackSpec& spec = stack.spec;
  const int budget = dataflow::level_budget(spec.pipeline_depth, spec.clock_mhz);
  const auto add = [&](const dataflow::CompiledModule& module) {
    stack.library.read_text(module.systemverilog, module.name + ".sv", true, diagnostics);
    stack.written.push_back({module.name, module.systemverilog, module.latency, module.levels});
    return module.latency;
  };
  Latencies out;
  out.crc = add(dataflow::compile_icrc_data(spec.data_width, budget));
  add(dataflow::compile_icrc_step(spec.data_width));
  out.rewind = add(dataflow::compile_icrc_rewind(spec.data_width, budget));
  add(dataflow::compile_icrc_residue(spec.data_width));
  out.checksum = add(dataflow::compile_ipv4_checksum(budget));
  return out;
}

std::string header_comment(const Stack& stack) {
  const spec::StackSpec& s = stack.spec;
  return fmt::format(
      "{}: RoCE v2 NIC, {} bit at {} MHz, {} queue pairs, {} memory regions, pipeline depth {}.\n"
      "Written by rocegen {} from a specification with SHA-256 {}. Do not edit: change the specification.",
      s.name, s.data_width, s.clock_mhz, s.qp_count, s.memory_regions, s.pipeline_depth, ROCEGEN_VERSION, stack.hash);
}

/// Instances, streams and pins of the top module.
class Architect {
 public:
  Architect(Stack& stack, const Latencies& latency, spec::Diagnostics& diagnostics)
      : stack_(stack),
        spec_(stack.spec),
        latency_(latency),
        diagnostics_(diagnostics),
        top_(stack.library, stack.spec.name, diagnostics) {}

  netlist::Module run() {
    top_.comment(header_comment(stack_));
    top_.domain("", spec_.clock_mhz, "datapath");
    if (spec_.has_mac_clock()) top_.domain("mac", spec_.network.mac_clock_mhz, "MAC streams");
    receive();
    transport();
    send();
    host();
    control();
    describe_clocks();
    return top_.take();
  }

 private:
  void receive() {
    rx_ = top_.instance("rx_frontend_i", "rx_frontend",
                        {{"DataW", spec_.data_width},
                         {"BufBeats", spec_.rx_buffer_beats()},
                         {"MaxPayload", spec_.mtu},
                         {"CrcLatency", latency_.crc},
                         {"HdrDepth", 64}},
                        "checks frames and keeps their payload");
    dispatch_ = top_.instance("rx_dispatch_i", "rx_dispatch", {}, "requests this way, answers that way");
    top_.connect(rx_.stream("m_hdr"), dispatch_.stream("s_hdr"), {.weight = 1});
    expose_mac_stream(rx_.stream("s_rx"), "s_axis_rx",
                      "Ethernet frames in, without FCS; tuser with tlast marks a bad frame");
  }

  void transport() {
    responder_ = top_.instance("rx_responder_i", "rx_responder",
                               {{"QpCount", spec_.qp_count}, {"MrCount", spec_.memory_regions}},
                               "checks requests, answers them, hands on their data");
    regions_ = top_.instance("mr_table_i", "mr_table", {{"MrCount", spec_.memory_regions}}, "memory regions");
    acks_ = top_.instance("ack_queue_i", "ack_queue", {{"QpCount", spec_.qp_count}}, "answers that wait to be sent");
    sq_ = top_.instance("sq_engine_i", "sq_engine",
                        {{"QpCount", spec_.qp_count},
                         {"WqeSlots", spec_.transport.wqe_slots},
                         {"TickCycles", spec_.tick_cycles()},
                         {"AckInterval", spec_.transport.ack_interval},
                         {"WindowPkts", spec_.transport.window_packets}},
                        "send rings, scheduler, requester, completer, timers");
    top_.connect(dispatch_.stream("m_req"), responder_.stream("s_hdr"), {.weight = 1});
    top_.connect(dispatch_.stream("m_rsp"), sq_.stream("s_ack"), {.weight = 1});
    top_.connect(responder_.stream("m_fetch"), rx_.stream("s_fetch"), {.weight = 2});
    top_.connect(responder_.stream("m_ack"), acks_.stream("s_ack"), {.weight = 1});
    top_.connect_pin(responder_.pin("mr_index_o"), regions_.pin("index_i"));
    top_.connect_pin(regions_.pin("entry_o"), responder_.pin("mr_entry_i"));
    top_.connect(sq_.stream("m_err"), responder_.stream("s_err"), {.weight = 1});
    top_.expose_stream(sq_.stream("s_wqe"), "s_axis_wqe",
                       {.weight = 1, .comment = "work queue entries, roce_pkg::wqe_t"});
  }

  void send() {
    read_ = top_.instance("dma_read_i", "dma_read",
                          {{"DataW", spec_.data_width},
                           {"AddrW", spec_.host.address_width},
                           {"BufBeats", spec_.read_buffer_beats()},
                           {"MaxReads", spec_.host.max_reads}},
                          "fetches payload to send");
    arb_ = top_.instance("tx_arb_i", "stream_arb",
                         {{"N", 2}, {"DataW", spec_.data_width}, {"UserW", tx_user_width()}, {"Priority", 1}},
                         "answers before data");
    framer_ = top_.instance("tx_framer_i", "tx_framer",
                            {{"DataW", spec_.data_width},
                             {"QpCount", spec_.qp_count},
                             {"BufBeats", spec_.tx_buffer_beats()},
                             {"CrcLatency", latency_.crc},
                             {"RewindLatency", latency_.rewind},
                             {"CsumLatency", latency_.checksum}},
                            "headers, padding, ICRC");
    watch_ = top_.instance("stall_watch_i", "stall_watch", {{"DataW", spec_.data_width}, {"Cycles", 256}},
                           "a paused MAC must not burn retries");
    top_.connect(sq_.stream("m_cmd"), read_.stream("s_cmd"), {.weight = 1});
    top_.connect(acks_.stream("m_pkt"), arb_.stream("s_axis", 0), {.weight = 1, .as_packet = true});
    top_.connect(read_.stream("m_pkt"), arb_.stream("s_axis", 1), {.weight = 2});
    top_.connect(arb_.stream("m_axis"), framer_.stream("s_pkt"), {.weight = 1});
    top_.connect(framer_.stream("m_tx"), watch_.stream("s_tx"), {.weight = 0});
    expose_mac_stream(watch_.stream("m_tx"), "m_axis_tx", "Ethernet frames out, without FCS; no bubble within a frame");
    top_.connect_pin(watch_.pin("stalled_o"), sq_.pin("tx_stalled_i"));
  }

  void host() {
    write_ = top_.instance(
        "dma_write_i", "dma_write",
        {{"DataW", spec_.data_width}, {"AddrW", spec_.host.address_width}, {"MaxWrites", spec_.host.max_writes}},
        "places received payload");
    top_.connect(rx_.stream("m_pay"), write_.stream("s_pay"), {.weight = 2});
    top_.leave_open(write_.stream("m_done"), "a WRITE without immediate has no completion at the responder");
    top_.expose_pins(write_, "m_axi_", netlist::ExposeOptions{.comment = "AXI4 to host memory, writes"});
    top_.expose_pins(read_, "m_axi_", netlist::ExposeOptions{.comment = "AXI4 to host memory, reads"});
    cqe_ = top_.instance("cqe_fifo_i", "stream_fifo", {{"Width", 256}, {"Depth", spec_.host.cq_depth}, {"Style", 0}},
                         "completions that wait for the host");
    top_.connect(sq_.stream("m_cqe"), cqe_.stream("s_axis"), {.weight = 0});
    top_.leave_open(cqe_.pin("level_o"), "nobody asks how full it is");
    top_.expose_stream(cqe_.stream("m_axis"), "m_axis_cqe", {.weight = 1, .comment = "completions, roce_pkg::cqe_t"});

    faults_ = top_.instance("fault_arb_i", "record_arb",
                            {{"N", 3}, {"Width", record_width("roce_pkg::qp_evt_t")}, {"Priority", 0}},
                            "fatal errors of other modules, on their way to the send side");
    top_.connect(responder_.stream("m_evt"), faults_.stream("s_axis", 0), {.weight = 0});
    top_.connect(read_.stream("m_evt"), faults_.stream("s_axis", 1), {.weight = 1});
    top_.connect(write_.stream("m_evt"), faults_.stream("s_axis", 2), {.weight = 1});
    top_.connect(faults_.stream("m_axis"), sq_.stream("s_evt"), {.weight = 1});
    events_ = top_.instance("event_queue_i", "event_queue", {{"Depth", spec_.host.event_depth}},
                            "events that wait to be read");
    top_.connect(sq_.stream("m_event"), events_.stream("s_evt"), {.weight = 0});
  }

  void control() {
    // The register block counts what the modules above pulse, so its map is known only now.
    std::vector<outputs::CounterSource> counters;
    const auto pulses = top_.output_pins("cnt_");
    for (const auto& match : pulses) {
      std::string name = match.name.substr(4);
      if (name.ends_with("_o")) name.resize(name.size() - 2);
      counters.push_back({match.instance, name});
    }
    stack_.registers = outputs::make_register_map(spec_, stack_.hash, counters);
    std::string text = outputs::write_csr(stack_.registers);
    stack_.library.read_text(text, "csr.sv", true, diagnostics_);
    stack_.written.push_back({"csr", std::move(text), 0, 0});

    csr_ = top_.instance("csr_i", "csr", {}, "registers");
    bank_ = top_.instance("counter_bank_i", "counter_bank", {{"N", static_cast<int>(counters.size())}},
                          "counts every cnt_ pulse");
    int index = 0;
    for (const auto& match : pulses) top_.connect_pin(match.pin, bank_.pin("pulse_i", index++, 1));
    top_.connect_pin(csr_.pin("counter_sel_o"), bank_.pin("sel_i"));
    top_.connect_pin(bank_.pin("count_o"), csr_.pin("counter_i"));

    // A set-up is in force when all its owners have taken it; so no slices on the way.
    std::vector<InstanceHandle> owners = {responder_, sq_, framer_};
    if (top_.interface(acks_).stream("s_cfg") != nullptr) owners.push_back(acks_);
    auto fork = top_.instance("qp_cfg_fork_i", "stream_fork",
                              {{"N", static_cast<int>(owners.size())}, {"Width", record_width("roce_pkg::qp_cfg_t")}},
                              "a QP's set-up goes to every owner of its state");
    top_.connect(csr_.stream("m_qp"), fork.stream("s_axis"), {.weight = 0});
    int lane = 0;
    for (InstanceHandle owner : owners)
      top_.connect(fork.stream("m_axis", lane++), owner.stream("s_cfg"), {.weight = 0});
    top_.connect(csr_.stream("m_mr"), regions_.stream("s_cfg"), {.weight = 0});
    top_.connect(events_.stream("m_evt"), csr_.stream("s_event"), {.weight = 0});
    top_.connect_pin(events_.pin("event_lost_o"), csr_.pin("event_lost_i"));

    top_.connect_pin(csr_.pin("local_mac_o"), rx_.pin("local_mac_i"));
    top_.connect_pin(csr_.pin("local_ip_o"), rx_.pin("local_ip_i"));
    top_.connect_pin(csr_.pin("local_mac_o"), framer_.pin("local_mac_i"));
    top_.connect_pin(csr_.pin("local_ip_o"), framer_.pin("local_ip_i"));
    top_.connect_pin(csr_.pin("ttl_o"), framer_.pin("ttl_i"));
    top_.connect_pin(csr_.pin("tos_o"), framer_.pin("tos_i"));

    std::vector<PinRef> ready;
    for (const auto& match : top_.output_pins("ready_o")) ready.push_back(match.pin);
    top_.connect_pin(top_.reduce("tables_ready", Reduce::all, ready, "every table is cleared"), csr_.pin("ready_i"));
    top_.expose_pins(csr_, "s_axil_", netlist::ExposeOptions{.comment = "AXI4-Lite, registers"});
    top_.expose_pin(csr_.pin("irq_o"), "irq_o", {.comment = "an event waits and CTRL.irq_enable is set"});
  }

  /// What Vivado can't see from the names of the ports: which buses a clock drives, and that resets are active high
  /// (UG994).
  void describe_clocks() {
    for (const netlist::Domain& domain : top_.module().domains) {
      std::string buses;
      const auto add = [&](const std::string& name) { buses += (buses.empty() ? "" : ":") + name; };
      for (const netlist::ModuleStream& stream : top_.module().streams)
        if (stream.domain == domain.name) add(stream.name);
      if (domain.name.empty()) {
        add("m_axi");
        add("s_axil");
      }
      const std::string clock = domain.clock_port();
      const std::string reset = domain.reset_port();
      clock_notes_.push_back({domain.name,
                              {{"X_INTERFACE_INFO", "xilinx.com:signal:clock:1.0 " + clock + " CLK"},
                               {"X_INTERFACE_PARAMETER", "ASSOCIATED_BUSIF " + buses + ", ASSOCIATED_RESET " + reset}},
                              {{"X_INTERFACE_INFO", "xilinx.com:signal:reset:1.0 " + reset + " RST"},
                               {"X_INTERFACE_PARAMETER", "POLARITY ACTIVE_HIGH"}}});
    }
    for (ClockNotes& notes : clock_notes_)
      top_.domain_attributes(notes.domain, std::move(notes.clock), std::move(notes.reset));
  }

  /// The MAC's streams may have another width and clock; the passes put the adapters in.
  void expose_mac_stream(const netlist::StreamRef& ref, const std::string& name, const char* comment) {
    netlist::ExposeOptions options;
    options.weight = 1;
    options.comment = comment;
    if (spec_.has_mac_clock()) options.domain = "mac";
    options.data_width = spec_.network.mac_width;
    top_.expose_stream(ref, name, options);
  }

  int record_width(const char* record) {
    const auto info = stack_.library.record(record);
    return info ? info->width : 0;
  }

  /// tuser of the packets on their way to the framer: the packet record and the error mark above it.
  int tx_user_width() { return record_width("roce_pkg::tx_pkt_t") + 1; }

  struct ClockNotes {
    std::string domain;
    std::vector<netlist::Attribute> clock, reset;
  };

  Stack& stack_;
  const spec::StackSpec& spec_;
  const Latencies& latency_;
  spec::Diagnostics& diagnostics_;
  Builder top_;
  std::vector<ClockNotes> clock_notes_;
  InstanceHandle rx_, dispatch_, responder_, regions_, acks_, sq_, read_, arb_, framer_, watch_, write_, cqe_, faults_,
      events_, csr_, bank_;
};

}  // namespace

std::optional<Stack> build(const spec::StackSpec& spec, const BuildOptions& options, spec::Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  std::optional<Stack> stack(std::in_place);
  stack->spec = spec;
  stack->hash = spec::spec_hash(spec);
  stack->library.read_tree(options.templates, diagnostics, "templates");
  const Latencies latency = compile_arithmetic(*stack, diagnostics);
  if (diagnostics.error_count() != errors_before) return std::nullopt;

  stack->design = netlist::single(Architect(*stack, latency, diagnostics).run());
  if (diagnostics.error_count() != errors_before) return std::nullopt;

  netlist::PassManager passes = netlist::standard_passes({.pipeline_depth = spec.pipeline_depth});
  for (const auto& [name, sink] : options.dump_after) passes.dump_after(name, sink);
  if (!passes.run(stack->design, stack->library, diagnostics)) return std::nullopt;
  return stack;
}

}  // namespace rocegen::stack
