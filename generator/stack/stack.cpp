#include "generator/stack/stack.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/dataflow/checksum.h"
#include "generator/dataflow/compile.h"
#include "generator/dataflow/crc.h"
#include "generator/netlist/passes.h"
#include "generator/stack/service_site.h"

namespace rocegen::stack {

namespace {

using netlist::Builder;
using netlist::InstanceHandle;
using netlist::PinRef;
using netlist::Reduce;

/// Cycles that answers are collected while data fills the line: about one in 25 packets of 4 KiB at 512 bit, one in 5
/// at 64, where more would be a long time: what the sender has posted has to last that long, and for a round trip.
constexpr int kAckHold = 2048;
/// Cycles after which a line that did not hold back data is not full any more, beside the longest frame.
constexpr int kLineLinger = 128;

/// Latencies of the compiled modules, which their users take as parameters.
struct Latencies {
  int crc = 0;
  int rewind = 0;
  int checksum = 0;
};

/// LUT6 levels that a stage may have where few cycles matter more than the clock.
constexpr int kLowLatencyLevels = 16;

/// The modules leave out the registers that only divide long paths (their parameter LowLatency).
bool low_latency(const spec::StackSpec& spec) { return spec.pipeline_depth <= 1; }

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
  out.crc = add(dataflow::compile_icrc_data(spec.data_width, low_latency(spec) ? 0 : budget));
  add(dataflow::compile_icrc_step(spec.data_width));
  out.rewind = add(
      dataflow::compile_icrc_rewind(spec.data_width, low_latency(spec) ? std::max(budget, kLowLatencyLevels) : budget));
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
        low_(low_latency(stack.spec) ? 1 : 0),
        top_(stack.library, stack.spec.name, diagnostics),
        site_(stack, top_, low_, diagnostics) {}

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
                         {"MaxPayload", spec_.max_payload()},
                         {"CrcLatency", latency_.crc},
                         {"HdrDepth", 64},
                         {"LowLatency", low_}},
                        "checks frames and keeps their payload");
    const bool served = spec_.serves(spec::Attach::ingress);
    dispatch_ =
        top_.instance("rx_dispatch_i", "rx_dispatch", served ? netlist::Params{{"Services", 1}} : netlist::Params{},
                      "requests this way, answers that way");
    merge_ = top_.instance("fetch_merge_i", "fetch_merge", {{"LowLatency", low_}},
                           "payload commands in the order of their headers");
    const InstanceHandle keeper = ingress();
    top_.connect(keeper.stream("m_hdr"), dispatch_.stream("s_hdr"), {.weight = 1});
    top_.connect(dispatch_.stream("m_order"), merge_.stream("s_order"), {.weight = 0});
    top_.connect(merge_.stream("m_fetch"), keeper.stream("s_fetch"), {.weight = long_wire_});
    received_ = keeper.stream("m_pay");
    expose_mac_stream(rx_.stream("s_rx"), "s_axis_rx",
                      "Ethernet frames in, without FCS; tuser with tlast marks a bad frame");
  }

  /// Services see a whole packet before it is accepted: it leaves the frame buffer, passes them and waits in a second
  /// buffer. Returns who keeps received payload.
  InstanceHandle ingress() {
    if (!spec_.serves(spec::Attach::ingress)) return rx_;
    netlist::Params open_params = site_.mask_params();
    open_params.push_back({"DataW", spec_.data_width});
    const InstanceHandle open =
        top_.instance("ingress_open_i", "ingress_open", open_params, "header and payload as packets, for services");
    top_.connect(rx_.stream("m_hdr"), open.stream("s_hdr"), {.weight = 1});
    top_.connect(open.stream("m_fetch"), rx_.stream("s_fetch"), {.weight = 0});
    top_.connect(rx_.stream("m_pay"), open.stream("s_pay"), {.weight = 0});
    opens_.push_back(open);
    for (const char* part : {"ingress_open_i", "ingress_close_i"})
      stack_.service_instances.push_back({part, -1, spec::Attach::ingress});
    judge_ = open;
    const netlist::StreamRef last = site_.chain(spec::Attach::ingress, open.stream("m_pkt"));
    close_ = top_.instance("ingress_close_i", "ingress_close",
                           {{"DataW", spec_.data_width},
                            {"BufBeats", services::ingress_buffer_beats(spec_)},
                            {"MaxPayload", spec_.max_payload()},
                            {"LowLatency", low_}},
                           "the services' verdict; keeps the payload that passed");
    top_.connect(last, close_.stream("s_pkt"), {.weight = 1});
    return close_;
  }

  /// Stages of an attach point between two packet streams whose records name their queue pair at `qpn_lsb`.
  netlist::StreamRef serve(spec::Attach point, const netlist::StreamRef& source, const char* record, int off_lsb) {
    if (!spec_.serves(point)) return source;
    const int user = record_width(record) + (point == spec::Attach::egress ? 1 : 0);
    const int qpn = field_lsb(record, "qpn");
    const std::string name = to_string(point);
    netlist::Params params = site_.mask_params();
    params.insert(params.begin(), {{"DataW", spec_.data_width}, {"UserW", user}, {"QpnLsb", qpn}, {"OffLsb", off_lsb}});
    const InstanceHandle open =
        top_.instance(name + "_open_i", "svc_open", params, "which services work on the packet");
    top_.connect(source, open.stream("s_pkt"), {.weight = 0});
    opens_.push_back(open);
    for (const char* part : {"_open_i", "_close_i"}) stack_.service_instances.push_back({name + part, -1, point});
    const netlist::StreamRef last = site_.chain(point, open.stream("m_pkt"));
    const InstanceHandle close = top_.instance(name + "_close_i", "svc_close",
                                               {{"DataW", spec_.data_width}, {"UserW", user}}, "services end here");
    top_.connect(last, close.stream("s_pkt"), {.weight = 1});
    return close.stream("m_pkt");
  }

  void transport() {
    const int selective = spec_.transport.recovery == "selective" ? 1 : 0;
    netlist::Params responder = {{"QpCount", spec_.qp_count},
                                 {"MrCount", spec_.memory_regions},
                                 {"SrqCount", spec_.transport.srq_count},
                                 {"RdDepth", spec_.transport.read_depth},
                                 {"Selective", selective},
                                 {"LowLatency", low_}};
    if (spec_.serves(spec::Attach::ingress)) responder.push_back({"Services", 1});
    responder_ = top_.instance("rx_responder_i", "rx_responder", responder,
                               "checks requests, answers them, hands on their data");
    regions_ = top_.instance("mr_table_i", "mr_table", {{"MrCount", spec_.memory_regions}}, "memory regions");
    answers_ = top_.instance("ack_split_i", "ack_split", {}, "answers that READ responses may stand in front of");
    acks_ = top_.instance("ack_queue_i", "ack_queue", {{"QpCount", spec_.qp_count}, {"HoldCycles", kAckHold}},
                          "answers that wait to be sent");
    // A trailer authenticates a packet: the same PSN must never come with fewer bytes.
    netlist::Params responses = {{"QpCount", spec_.qp_count}, {"RdDepth", spec_.transport.read_depth}};
    if (spec_.trailer_bytes() != 0) responses.push_back({"Exact", 1});
    rsp_ = top_.instance("rsp_engine_i", "rsp_engine", responses,
                         "READ responses, atomic acknowledges, answers behind them");
    rq_ = top_.instance(
        "rq_engine_i", "rq_engine",
        {{"QpCount", spec_.qp_count}, {"SrqCount", spec_.transport.srq_count}, {"RqeSlots", spec_.transport.rqe_slots}},
        "receive rings and their completions");
    // With ack_after_write no answer goes beyond a write that failed.
    const bool after = spec_.host.ack_after_write;
    rd_gate_ = gate("rd_gate_i", "roce_pkg::rd_req_t", {{"Depth", 64}, {"DropErr", 0}},
                    "READs wait for the data in front of them", after ? 2 : 0);
    rcq_gate_ = gate("rcq_gate_i", "roce_pkg::rcq_t", {{"Depth", 256}, {"Slack", 64}, {"Drain", 0}},
                     "completions of receives wait for their data");
    if (spec_.host.ack_after_write)
      ack_gate_ = gate("ack_gate_i", "roce_pkg::ack_req_t", {{"Depth", 256}, {"DropErr", 2}},
                       "answers wait for the data in front of them", 1);
    netlist::Params requester = {{"QpCount", spec_.qp_count},
                                 {"WqeSlots", spec_.transport.wqe_slots},
                                 {"TickCycles", spec_.tick_cycles()},
                                 {"AckInterval", spec_.transport.ack_interval},
                                 {"WindowPkts", spec_.transport.window_packets},
                                 {"RdDepth", spec_.transport.read_depth},
                                 {"Selective", selective},
                                 {"LowLatency", low_}};
    if (spec_.serves(spec::Attach::ingress)) requester.push_back({"Services", 1});
    sq_ = top_.instance("sq_engine_i", "sq_engine", requester, "send rings, scheduler, requester, completer, timers");
    top_.connect(dispatch_.stream("m_req"), responder_.stream("s_hdr"), {.weight = 1});
    top_.connect(dispatch_.stream("m_rsp"), sq_.stream("s_ack"), {.weight = 1});
    top_.connect(responder_.stream("m_fetch"), merge_.stream("s_req"), {.weight = 1});
    top_.connect(sq_.stream("m_fetch"), merge_.stream("s_rsp"), {.weight = 1});
    if (spec_.host.ack_after_write) {
      top_.connect(responder_.stream("m_ack"), ack_gate_.stream("s_rec"), {.weight = 0});
      top_.connect(ack_gate_.stream("m_rec"), answers_.stream("s_ack"), {.weight = 0, .drop = {"tuser"}});
    } else {
      top_.connect(responder_.stream("m_ack"), answers_.stream("s_ack"), {.weight = 0});
    }
    // No slices in front of rsp_engine: cfg_order counts on how long what is on its way may take.
    top_.connect(answers_.stream("m_now"), acks_.stream("s_ack"), {.weight = 1});
    top_.connect(answers_.stream("m_behind"), rsp_.stream("s_ack"), {.weight = 0});
    top_.connect(responder_.stream("m_rd"), rd_gate_.stream("s_rec"), {.weight = 0});
    top_.connect(rd_gate_.stream("m_rec"), rsp_.stream("s_rd"), {.weight = 0});
    top_.connect(responder_.stream("m_rcq"), rcq_gate_.stream("s_rec"), {.weight = 0});
    top_.connect(rcq_gate_.stream("m_rec"), rq_.stream("s_rcq"), {.weight = 1});
    top_.connect_pin(rcq_gate_.pin("room_o"), responder_.pin("rcq_room_i"));
    top_.leave_open(rd_gate_.pin("room_o"), "its sender waits");
    if (spec_.host.ack_after_write) top_.leave_open(ack_gate_.pin("room_o"), "its sender waits");

    // Look-ups: latency is part of the contract, so plain wires.
    top_.connect_pin(responder_.pin("mr_req_o"), regions_.pin("req_i"));
    top_.connect_pin(responder_.pin("mr_index_o"), regions_.pin("index_i"));
    top_.connect_pin(regions_.pin("entry_o"), responder_.pin("mr_entry_i"));
    top_.connect_pin(rsp_.pin("mr_req_o"), regions_.pin("req2_i"));
    top_.connect_pin(rsp_.pin("mr_index_o"), regions_.pin("index2_i"));
    top_.connect_pin(regions_.pin("gnt2_o"), rsp_.pin("mr_gnt_i"));
    top_.connect_pin(regions_.pin("entry_o"), rsp_.pin("mr_entry_i"));
    top_.connect_pin(responder_.pin("inv_valid_o"), regions_.pin("inv_valid_i"));
    top_.connect_pin(responder_.pin("inv_index_o"), regions_.pin("inv_index_i"));
    for (const char* pin : {"rq_row", "rq_slot"})
      top_.connect_pin(responder_.pin(fmt::format("{}_o", pin)), rq_.pin(fmt::format("{}_i", pin)));
    top_.connect_pin(rq_.pin("rq_ring_o"), responder_.pin("rq_ring_i"));
    top_.connect_pin(rq_.pin("rq_slot_o"), responder_.pin("rq_slot_i"));
    for (const char* pin : {"head_we", "head_row", "head", "head_gen"})
      top_.connect_pin(responder_.pin(fmt::format("{}_o", pin)), rq_.pin(fmt::format("{}_i", pin)));
    for (const char* pin : {"rd_done_we", "rd_done_qpn", "rd_done"})
      top_.connect_pin(rsp_.pin(fmt::format("{}_o", pin)), responder_.pin(fmt::format("{}_i", pin)));
    top_.connect(sq_.stream("m_err"), responder_.stream("s_err"), {.weight = 1});
    top_.expose_stream(sq_.stream("s_wqe"), "s_axis_wqe",
                       {.weight = 1, .comment = "work queue entries, roce_pkg::wqe_t"});
    rqe_arb_ = top_.instance("rqe_arb_i", "record_arb",
                             {{"N", 2}, {"Width", record_width("roce_pkg::rqe_t")}, {"Priority", 0}},
                             "receive entries, by stream and by register");
    top_.expose_stream(rqe_arb_.stream("s_axis", 0), "s_axis_rqe",
                       {.weight = 1, .comment = "receive queue entries, roce_pkg::rqe_t"});
    top_.connect(rqe_arb_.stream("m_axis"), rq_.stream("s_rqe"), {.weight = 0});
  }

  /// Hands every record of a set-up stream to all of these.
  void fork_set_up(const char* name, const netlist::StreamRef& source, const std::vector<InstanceHandle>& sinks,
                   const char* comment) {
    auto fork =
        top_.instance(name, "stream_fork",
                      {{"N", static_cast<int>(sinks.size())}, {"Width", record_width("roce_pkg::qp_cfg_t")}}, comment);
    top_.connect(source, fork.stream("s_axis"), {.weight = 0});
    int lane = 0;
    for (InstanceHandle sink : sinks) top_.connect(fork.stream("m_axis", lane++), sink.stream("s_cfg"), {.weight = 0});
  }

  /// A FIFO of records that wait until the request data in front of them is in memory. `psns`: how many of the record
  /// may not lie behind a write that failed.
  InstanceHandle gate(const char* name, const char* record, netlist::Params parameters, const char* comment,
                      int psns = 0) {
    const auto info = stack_.library.record(record);
    int tag = 0;
    int qpn = 0;
    for (const auto& field : info->fields) {
      if (field.name == "wtag") tag = field.lsb;
      if (field.name == "qpn") qpn = field.lsb;
      if (field.name == "syndrome") parameters.push_back({"SynLsb", field.lsb});
      // The last PSN is the field below the first one.
      if (psns > 0 && field.name == (psns > 1 ? "last_psn" : "psn")) {
        parameters.push_back({"PsnLsb", field.lsb});
        parameters.push_back({"PsnCount", psns});
      }
    }
    parameters.push_back({"QpCount", spec_.qp_count});
    parameters.push_back({"Width", info->width});
    parameters.push_back({"TagLsb", tag});
    parameters.push_back({"QpnLsb", qpn});
    InstanceHandle out = top_.instance(name, "write_gate", parameters, comment);
    gates_.push_back(out);
    return out;
  }

  void send() {
    read_ = top_.instance("dma_read_i", "dma_read",
                          {{"DataW", spec_.data_width},
                           {"AddrW", spec_.host.address_width},
                           {"BufBeats", spec_.read_buffer_beats()},
                           {"MaxPayload", spec_.mtu},
                           {"MaxReads", spec_.host.max_reads},
                           {"RotateStages", rotate_stages_},
                           {"Targets", targets()},
                           {"LowLatency", low_}},
                          "fetches payload to send");
    arb_ = top_.instance("tx_share_i", "tx_share",
                         {{"DataW", spec_.data_width}, {"FullLinger", spec_.max_frame_beats() + kLineLinger}},
                         "answers before data");
    framer_ = top_.instance("tx_framer_i", "tx_framer",
                            {{"DataW", spec_.data_width},
                             {"QpCount", spec_.qp_count},
                             {"BufBeats", spec_.tx_buffer_beats()},
                             {"MaxPayload", spec_.max_payload()},
                             {"CrcLatency", latency_.crc},
                             {"RewindLatency", latency_.rewind},
                             {"CsumLatency", latency_.checksum},
                             {"LowLatency", low_}},
                            "headers, padding, ICRC");
    watch_ = top_.instance("stall_watch_i", "stall_watch", {{"DataW", spec_.data_width}, {"Cycles", 256}},
                           "a paused MAC must not burn retries");
    cmd_arb_ = top_.instance(
        "cmd_arb_i", "record_arb",
        {{"N", 2}, {"Width", record_width("roce_pkg::tx_cmd_t")}, {"Priority", 0}, {"Registered", 1 - low_}},
        "requests and READ responses take turns");
    top_.connect(rsp_.stream("m_cmd"), cmd_arb_.stream("s_axis", 0), {.weight = 0});
    const bool grows = spec_.trailer_bytes() != 0;
    bypass_ =
        top_.instance("cmd_bypass_i", "cmd_bypass", grows ? netlist::Params{{"EmptyThrough", 1}} : netlist::Params{},
                      "requests without payload need not wait for memory");
    top_.connect(sq_.stream("m_cmd"), bypass_.stream("s_cmd"), {.weight = 0});
    top_.connect(bypass_.stream("m_cmd"), cmd_arb_.stream("s_axis", 1), {.weight = 0});
    // No slices here: what has left cmd_bypass is in front of all that leaves dma_read later.
    top_.connect(bypass_.stream("m_pkt"), arb_.stream("s_request"), {.weight = 0, .as_packet = true});
    top_.connect_pin(arb_.pin("request_left_o"), bypass_.pin("request_left_i"));
    top_.connect(cmd_arb_.stream("m_axis"), read_.stream("s_cmd"), {.weight = 1});
    top_.connect(acks_.stream("m_pkt"), arb_.stream("s_answer"), {.weight = long_wire_, .as_packet = true});
    guard_ =
        top_.instance("rsp_guard_i", "rsp_guard", {{"DataW", spec_.data_width}}, "no response behind one that failed");
    top_.connect(read_.stream("m_pkt"), guard_.stream("s_pkt"), {.weight = 0});
    top_.connect(serve(spec::Attach::egress, guard_.stream("m_pkt"), "roce_pkg::tx_pkt_t", -1), arb_.stream("s_data"),
                 {.weight = long_wire_});
    top_.connect_pin(arb_.pin("busy_o"), acks_.pin("busy_i"));
    // Whoever has the pins tap_valid_i and tap_i hears of every packet that leaves.
    const auto listeners = top_.input_pins("tap_i");
    if (listeners.empty()) {
      top_.connect(arb_.stream("m_axis"), framer_.stream("s_pkt"), {.weight = 1});
    } else {
      const InstanceHandle tap =
          top_.instance("tx_tap_i", "tx_tap", {{"DataW", spec_.data_width}}, "services hear what leaves");
      stack_.service_instances.push_back({"tx_tap_i", -1, std::nullopt});
      top_.connect(arb_.stream("m_axis"), tap.stream("s_pkt"), {.weight = 0});
      top_.connect(tap.stream("m_pkt"), framer_.stream("s_pkt"), {.weight = 1});
      for (const auto& match : listeners) top_.connect_pin(tap.pin("tap_o"), match.pin);
      for (const auto& match : top_.input_pins("tap_valid_i")) top_.connect_pin(tap.pin("tap_valid_o"), match.pin);
    }
    top_.connect(framer_.stream("m_tx"), watch_.stream("s_tx"), {.weight = 0});
    expose_mac_stream(watch_.stream("m_tx"), "m_axis_tx", "Ethernet frames out, without FCS; no bubble within a frame");
    top_.connect_pin(watch_.pin("stalled_o"), sq_.pin("tx_stalled_i"));
    top_.connect_pin(watch_.pin("held_o"), arb_.pin("line_full_i"));
  }

  void host() {
    write_ = top_.instance("dma_write_i", "dma_write",
                           {{"DataW", spec_.data_width},
                            {"AddrW", spec_.host.address_width},
                            {"MaxWrites", spec_.host.max_writes},
                            {"RotateStages", rotate_stages_},
                            {"Targets", targets()},
                            {"LowLatency", low_}},
                           "places received payload");
    route_ = top_.instance("pay_route_i", "pay_route", {{"DataW", spec_.data_width}}, "data, or operands of an atomic");
    done_ = top_.instance("done_split_i", "done_split", {}, "who waits for data to be in memory");
    atomic_ = top_.instance("atomic_unit_i", "atomic_unit",
                            {{"DataW", spec_.data_width}, {"AddrW", spec_.host.address_width}, {"Targets", targets()}},
                            "carries out atomics");
    axi_ = top_.instance("axi_join_i", "axi_join",
                         {{"DataW", spec_.data_width}, {"AddrW", spec_.host.address_width}, {"Targets", targets()}},
                         "reads of payload and of atomics share the port");
    top_.connect(received_, route_.stream("s_pay"), {.weight = long_wire_});
    // The upper bit of a command's kind is set in the writes of atomics.
    const int atomic = field_lsb("roce_pkg::rx_cmd_t", "kind") + 1;
    top_.connect(serve(spec::Attach::deliver, route_.stream("m_pay"), "roce_pkg::rx_cmd_t", atomic),
                 write_.stream("s_pay"), {.weight = 0});
    top_.connect(route_.stream("m_atomic"), atomic_.stream("s_atomic"), {.weight = 0});
    top_.connect(atomic_.stream("m_write"), route_.stream("s_write"), {.weight = 0});
    top_.connect(atomic_.stream("m_result"), rsp_.stream("s_result"), {.weight = 0});
    top_.connect(write_.stream("m_done"), done_.stream("s_done"), {.weight = 0});
    top_.connect(done_.stream("m_done"), sq_.stream("s_done"), {.weight = 1});
    top_.connect_pin(done_.pin("written_o"), atomic_.pin("written_i"));
    top_.connect_pin(done_.pin("atomic_done_o"), atomic_.pin("done_i"));
    top_.connect_pin(done_.pin("atomic_slot_o"), atomic_.pin("done_slot_i"));
    top_.connect_pin(done_.pin("atomic_err_o"), atomic_.pin("done_err_i"));
    for (InstanceHandle gate : gates_) {
      top_.connect_pin(done_.pin("wr_done_o"), gate.pin("done_valid_i"));
      top_.connect_pin(done_.pin("wr_err_o"), gate.pin("done_err_i"));
      top_.connect_pin(done_.pin("wr_qpn_o"), gate.pin("done_qpn_i"));
      top_.connect_pin(done_.pin("wr_psn_o"), gate.pin("done_psn_i"));
    }
    expose_axi(write_, "AXI4, writes");
    expose_axi(axi_, "AXI4, reads");
    for (const char* pin : {"arvalid", "araddr", "arlen", "rready"}) {
      top_.connect_pin(read_.pin(fmt::format("m_axi_{}", pin)), axi_.pin(fmt::format("s_dma_{}", pin)));
      if (std::string_view(pin) != "arlen")
        top_.connect_pin(atomic_.pin(fmt::format("m_axi_{}", pin)), axi_.pin(fmt::format("s_atomic_{}", pin)));
    }
    for (const char* pin : {"arready", "rvalid", "rdata", "rresp", "rlast"}) {
      top_.connect_pin(axi_.pin(fmt::format("s_dma_{}", pin)), read_.pin(fmt::format("m_axi_{}", pin)));
      if (std::string_view(pin) != "rlast")
        top_.connect_pin(axi_.pin(fmt::format("s_atomic_{}", pin)), atomic_.pin(fmt::format("m_axi_{}", pin)));
    }
    for (const char* pin : {"arid", "arsize", "arburst", "arcache", "arprot"})
      top_.leave_open(read_.pin(fmt::format("m_axi_{}", pin)), "axi_join drives the port's");
    top_.tie(read_.pin("m_axi_rid"), 0);
    cqe_arb_ = top_.instance("cqe_arb_i", "record_arb",
                             {{"N", 2}, {"Width", record_width("roce_pkg::cqe_t")}, {"Priority", 0}},
                             "completions of sends and of receives");
    cqe_ = top_.instance("cqe_fifo_i", "stream_fifo", {{"Width", 256}, {"Depth", spec_.host.cq_depth}, {"Style", 0}},
                         "completions that wait for the host");
    top_.connect(sq_.stream("m_cqe"), cqe_arb_.stream("s_axis", 0), {.weight = 0});
    top_.connect(rq_.stream("m_cqe"), cqe_arb_.stream("s_axis", 1), {.weight = 0});
    netlist::StreamRef completions = cqe_arb_.stream("m_axis");
    for (InstanceHandle stage : site_.completion_stages()) {
      top_.connect(completions, stage.stream("s_cqe"), {.weight = 0});
      completions = stage.stream("m_cqe");
    }
    top_.connect(completions, cqe_.stream("s_axis"), {.weight = 0});
    top_.leave_open(cqe_.pin("level_o"), "nobody asks how full it is");
    top_.expose_stream(cqe_.stream("m_axis"), "m_axis_cqe", {.weight = 1, .comment = "completions, roce_pkg::cqe_t"});

    faults_ = top_.instance("fault_arb_i", "record_arb",
                            {{"N", 4}, {"Width", record_width("roce_pkg::qp_evt_t")}, {"Priority", 0}},
                            "fatal errors of other modules, on their way to the send side");
    top_.connect(responder_.stream("m_evt"), faults_.stream("s_axis", 0), {.weight = 0});
    top_.connect(read_.stream("m_evt"), faults_.stream("s_axis", 1), {.weight = 1});
    top_.connect(write_.stream("m_evt"), faults_.stream("s_axis", 2), {.weight = 1});
    top_.connect(rsp_.stream("m_evt"), faults_.stream("s_axis", 3), {.weight = 1});
    top_.connect(faults_.stream("m_axis"), sq_.stream("s_evt"), {.weight = 1});
    events_ = top_.instance("event_queue_i", "event_queue", {{"Depth", spec_.host.event_depth}},
                            "events that wait to be read");
    if (spec_.serves(spec::Attach::ingress)) {
      auto tell = top_.instance("event_arb_i", "record_arb",
                                {{"N", 2}, {"Width", record_width("roce_pkg::qp_evt_t")}, {"Priority", 0}},
                                "events of queue pairs, and what services tell");
      stack_.service_instances.push_back({"event_arb_i", -1, std::nullopt});
      top_.connect(sq_.stream("m_event"), tell.stream("s_axis", 0), {.weight = 0});
      top_.connect(close_.stream("m_evt"), tell.stream("s_axis", 1), {.weight = 1});
      top_.connect(tell.stream("m_axis"), events_.stream("s_evt"), {.weight = 0});
    } else {
      top_.connect(sq_.stream("m_event"), events_.stream("s_evt"), {.weight = 0});
    }
  }

  void control() {
    // The register block counts what the modules above pulse, so its map is known only now.
    std::vector<outputs::CounterSource> counters;
    const auto pulses = top_.output_pins("cnt_");
    for (const auto& match : pulses) {
      std::string name = match.name.substr(4);
      if (name.ends_with("_o")) name.resize(name.size() - 2);
      counters.push_back({match.instance, site_.counter_name(match.instance, name)});
    }
    std::vector<outputs::ServiceWindow> windows;
    for (const auto& [service, handle] : site_.windows()) {
      const auto at = static_cast<std::size_t>(service);
      windows.push_back({service, spec_.services[at].name, stack_.services[at]->registers()});
    }
    stack_.registers = outputs::make_register_map(spec_, stack_.hash, counters, windows);
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
    auto order = top_.instance("cfg_order_i", "cfg_order", {{"QpCount", spec_.qp_count}},
                               "keeps the lives of a queue pair apart");
    top_.connect(csr_.stream("m_qp"), order.stream("s_cfg"), {.weight = 0});
    std::vector<InstanceHandle> drains = {answers_, atomic_};
    drains.insert(drains.end(), gates_.begin(), gates_.end());
    drains.insert(drains.end(), site_.erasers().begin(), site_.erasers().end());
    fork_set_up("qp_drain_fork_i", order.stream("m_drain"), drains, "a QP's former life leaves these first");
    std::vector<InstanceHandle> owners = {responder_, sq_, framer_, acks_, rsp_, rq_, guard_};
    owners.insert(owners.end(), opens_.begin(), opens_.end());
    owners.insert(owners.end(), site_.set_ups().begin(), site_.set_ups().end());
    fork_set_up("qp_cfg_fork_i", order.stream("m_cfg"), owners, "a QP's set-up goes to every owner of its state");
    for (InstanceHandle owner : {responder_, sq_, framer_, rsp_})
      top_.connect_pin(order.pin("life_o"), owner.pin("life_i"));
    if (judge_) top_.connect_pin(order.pin("life_o"), judge_->pin("life_i"));
    for (InstanceHandle owner : site_.lives()) top_.connect_pin(order.pin("life_o"), owner.pin("life_i"));
    int window = 0;
    for (const auto& [service, handle] : site_.windows()) {
      top_.connect_pin(csr_.pin("ctl_valid_o", window, 1), handle.pin("ctl_valid_i"));
      top_.connect_pin(csr_.pin("ctl_write_o"), handle.pin("ctl_write_i"));
      top_.connect_pin(csr_.pin("ctl_addr_o"), handle.pin("ctl_addr_i"));
      top_.connect_pin(csr_.pin("ctl_wdata_o"), handle.pin("ctl_wdata_i"));
      top_.connect_pin(handle.pin("ctl_ready_o"), csr_.pin("ctl_ready_i", window, 1));
      top_.connect_pin(handle.pin("ctl_rdata_o"), csr_.pin("ctl_rdata_i", 32 * window, 32));
      ++window;
    }
    for (InstanceHandle gate : gates_) top_.connect_pin(responder_.pin("writes_o"), gate.pin("sent_i"));
    top_.connect_pin(responder_.pin("atomics_o"), atomic_.pin("sent_i"));
    top_.connect(csr_.stream("m_mr"), regions_.stream("s_cfg"), {.weight = 0});
    auto srq_fork =
        top_.instance("srq_cfg_fork_i", "stream_fork", {{"N", 2}, {"Width", record_width("roce_pkg::srq_cfg_t")}},
                      "a shared ring's set-up goes to both owners of its state");
    top_.connect(csr_.stream("m_srq"), srq_fork.stream("s_axis"), {.weight = 0});
    top_.connect(srq_fork.stream("m_axis", 0), responder_.stream("s_srq"), {.weight = 0});
    top_.connect(srq_fork.stream("m_axis", 1), rq_.stream("s_srq"), {.weight = 0});
    top_.connect(csr_.stream("m_rqe"), rqe_arb_.stream("s_axis", 1), {.weight = 0});
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
        if (targets() == 1) add("m_axi");
        for (const std::string& name : spec_.host.targets)
          if (targets() > 1) add("m_axi_" + name);
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

  /// The AXI4 ports: m_axi_*, or m_axi_NAME_* of each target, whose pins are lanes of the instance's.
  void expose_axi(InstanceHandle instance, const std::string& comment) {
    constexpr std::string_view kPrefix = "m_axi_";
    const auto& targets = spec_.host.targets;
    if (targets.size() == 1) {
      top_.expose_pins(instance, kPrefix, netlist::ExposeOptions{.comment = comment + " to memory"});
      return;
    }
    const std::vector<netlist::Port> ports = top_.interface(instance).ports;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const netlist::ExposeOptions options{.comment = fmt::format("{} to {}, target {}", comment, targets[t], t)};
      for (const netlist::Port& port : ports) {
        if (!port.name.starts_with(kPrefix)) continue;
        const int width = port.width / static_cast<int>(targets.size());
        const PinRef lane = instance.pin(port.name, static_cast<int>(t) * width, width);
        const std::string name = fmt::format("{}{}_{}", kPrefix, targets[t], port.name.substr(kPrefix.size()));
        if (port.direction == netlist::Direction::output)
          top_.connect_pin(lane, top_.output_port(name, width, options));
        else
          top_.connect_pin(top_.input_port(name, width, options), lane);
      }
    }
  }

  int targets() const { return static_cast<int>(spec_.host.targets.size()); }

  int record_width(const char* record) {
    const auto info = stack_.library.record(record);
    return info ? info->width : 0;
  }

  int field_lsb(const char* record, std::string_view name) {
    const auto info = stack_.library.record(record);
    if (info) {
      for (const auto& field : info->fields)
        if (field.name == name) return field.lsb;
    }
    return 0;
  }

  struct ClockNotes {
    std::string domain;
    std::vector<netlist::Attribute> clock, reset;
  };

  Stack& stack_;
  const spec::StackSpec& spec_;
  const Latencies& latency_;
  spec::Diagnostics& diagnostics_;
  const int low_;                            ///< parameter LowLatency
  const int rotate_stages_ = 2 - low_;       ///< registers in the byte rotators
  const int long_wire_ = low_ != 0 ? 1 : 2;  ///< weight of connections across the die
  Builder top_;
  ServiceSite site_;
  netlist::StreamRef received_;  ///< accepted payload
  std::vector<ClockNotes> clock_notes_;
  InstanceHandle rx_, dispatch_, merge_, responder_, regions_, answers_, acks_, rsp_, rq_, rd_gate_, rcq_gate_, close_,
      ack_gate_, sq_, rqe_arb_, cmd_arb_, bypass_, read_, guard_, arb_, framer_, watch_, route_, done_, atomic_, axi_,
      write_, cqe_arb_, cqe_, faults_, events_, csr_, bank_;
  std::vector<InstanceHandle> gates_;
  std::vector<InstanceHandle> opens_;    ///< who look up masks of services
  std::optional<InstanceHandle> judge_;  ///< who looks them up for what is received
};

}  // namespace

std::optional<Stack> build(const spec::StackSpec& spec, const BuildOptions& options, spec::Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  std::optional<Stack> stack(std::in_place);
  stack->spec = spec;
  stack->hash = spec::spec_hash(spec);
  stack->library.read_tree(options.templates, diagnostics, "templates");
  const Latencies latency = compile_arithmetic(*stack, diagnostics);
  if (diagnostics.error_count() == errors_before) make_services(*stack, diagnostics);
  if (diagnostics.error_count() != errors_before) return std::nullopt;

  stack->design = netlist::single(Architect(*stack, latency, diagnostics).run());
  if (diagnostics.error_count() != errors_before) return std::nullopt;

  netlist::PassManager passes = netlist::standard_passes({.pipeline_depth = spec.pipeline_depth});
  for (const auto& [name, sink] : options.dump_after) passes.dump_after(name, sink);
  if (!passes.run(stack->design, stack->library, diagnostics)) return std::nullopt;
  return stack;
}

}  // namespace rocegen::stack
