#include <algorithm>
#include <sstream>
#include <vector>

#include "generator/spec/keywords.h"
#include "generator/spec/schema.h"

namespace rocegen::spec {

namespace {

// Modules and packages of templates/, and modules that the generator writes for every variant.
// tests/unit/spec/schema_test.cpp compares the first with the files.
constexpr const char* kLibraryNames =
    // templates/host
    "atomic_pick atomic_unit axi_burst axi_join cmd_bypass dma_read dma_write done_split event_queue pay_route "
    "rsp_guard write_gate "
    // templates/lib
    "arb_grant byte_rotate byte_rotate_level counter_bank ram_clear ram_sdp record_arb stream_arb stream_cdc "
    "stream_fifo stream_fork stream_reg stream_skid sync_bit sync_reset width_down width_up "
    // templates/net
    "delay_line icrc_check icrc_mask roce_pkg rx_buffer rx_fetch rx_frontend rx_header rx_ip_sum rx_parse "
    "rx_strip rx_verdict stall_watch tx_assemble tx_frame_buffer tx_framer tx_header tx_lookup tx_seal tx_share "
    // templates/services
    "aes_control aes_core aes_egress aes_ghash aes_hash_key aes_ingress aes_keys aes_packet aes_pkg aes_refs aes_round "
    "aes_sbox aes_sbox_quarter aes_stream aes_strip aes_tables gf_clmul32 gf_product ingress_close ingress_open "
    "svc_close svc_mask svc_open tx_tap "
    "dpi_chunks dpi_fold dpi_gate dpi_packet pre_complete pre_join pre_stage "
    // templates/transport
    "ack_queue ack_split cfg_order fetch_merge mr_table qp_timer responder_ahead responder_buffer responder_decode "
    "responder_mtu "
    "responder_packet responder_reads responder_recent responder_region responder_retire responder_ring "
    "responder_sequence responder_setup rq_complete rq_control rq_engine rq_flush rq_post rq_rings rsp_answers "
    "rsp_emit rsp_engine rsp_enter rsp_fetch rsp_rows rsp_serve rsp_sort rsp_turn rx_dispatch rx_responder sq_ack "
    "sq_ack_rules sq_choose sq_completer sq_emit sq_engine sq_enqueue sq_fetch sq_peer sq_post sq_read "
    "sq_read_done sq_read_fetch sq_requester sq_retire sq_retire_fetch sq_sched sq_segment sq_setup sq_tell "
    "sq_turn "
    // generator/dataflow
    "icrc_data icrc_residue icrc_rewind icrc_step ipv4_checksum "
    // generator/outputs
    "csr ";

// IEEE 1800-2017, annex B, table B.1.
constexpr const char* kKeywords =
    "accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind "
    "bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config "
    "const constraint context continue cover covergroup coverpoint cross deassign default defparam design disable "
    "dist do edge else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup "
    "endinterface endmodule endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask "
    "enum event eventually expect export extends extern final first_match for force foreach forever fork forkjoin "
    "function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import "
    "incdir include initial inout input inside instance int integer interconnect interface intersect join join_any "
    "join_none large let liblist library local localparam logic longint macromodule matches medium modport module "
    "nand negedge nettype new nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed "
    "parameter pmos posedge primitive priority program property protected pull0 pull1 pulldown pullup "
    "pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime ref reg "
    "reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime "
    "s_until s_until_with scalared sequence shortint shortreal showcancelled signed small soft solve specify "
    "specparam static string strong strong0 strong1 struct super supply0 supply1 sync_accept_on sync_reject_on table "
    "tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg "
    "type typedef union unique unique0 unsigned until until_with untyped use uwire var vectored virtual void wait "
    "wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor ";

std::vector<std::string> sorted_words(const char* text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

std::span<const std::string> library_names() {
  static const std::vector<std::string> names = sorted_words(kLibraryNames);
  return names;
}

std::span<const std::string> keywords() {
  static const std::vector<std::string> words = sorted_words(kKeywords);
  return words;
}

bool is_keyword(std::string_view word) { return std::binary_search(keywords().begin(), keywords().end(), word); }

}  // namespace rocegen::spec
