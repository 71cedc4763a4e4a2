// StackSpec: the specification of one NIC, completed and checked. Fields, units and ranges are described once, in
// schema.cpp; docs/spec-reference.md is written from there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/spec/diagnostic.h"

namespace rocegen::spec {

/// Reliable-connection transport: what `transport{}` holds.
struct TransportSpec {
  int ack_interval = 64;      ///< packets of one message between two AckReq, 1..256
  int window_packets = 1024;  ///< unacknowledged packets a QP may have, 2..2^23-1
  int wqe_slots = 0;          ///< WQEs in the send-ring memory that all QPs share, a power of two; 0 = derive
  int rqe_slots = 0;          ///< RQEs in the receive-ring memory that all rings share, a power of two; 0 = derive
  int srq_count = 0;          ///< shared receive rings, 0..4096
  int read_depth = 0;         ///< READs and atomics outstanding of a QP, each way; a power of two, 1..128; 0 = derive
  std::string recovery = "go_back_n";  ///< what a responder does behind a gap: "go_back_n" or "selective"

  bool operator==(const TransportSpec&) const = default;
};

/// MAC side: what `network{}` holds.
struct NetworkSpec {
  int mac_width = 0;         ///< bits of s_axis_rx and m_axis_tx; 0 = data_width
  double mac_clock_mhz = 0;  ///< MHz; 0 = clock_mhz; another value than clock_mhz is a clock domain of its own
  int ttl = 64;              ///< IPv4 time to live after reset
  int tos = 0;               ///< IPv4 type of service byte after reset
  int rx_buffer_kib = 0;     ///< KiB of the receive frame buffer, a power of two; 0 = derive
  int tx_buffer_kib = 0;     ///< KiB of the transmit frame buffer, a power of two; 0 = derive

  bool operator==(const NetworkSpec&) const = default;
};

/// Host side: what `host{}` holds.
struct HostSpec {
  int read_buffer_kib = 0;  ///< KiB of payload that AXI reads may have in flight, a power of two; 0 = derive
  int max_reads = 192;      ///< outstanding AXI read bursts, 1..256
  int max_writes = 128;     ///< outstanding AXI write bursts, 1..256
  int address_width = 64;   ///< bits of an AXI address that are used, 32..64
  int cq_depth = 64;        ///< completions that wait for m_axis_cqe, 2..4096
  int event_depth = 64;     ///< events that wait to be read, 2..4096
  std::vector<std::string> targets = {"host"};  ///< memories, each behind its own AXI4 master; 1..8 different names
  bool ack_after_write = false;                 ///< acknowledge when memory has answered for the data

  bool operator==(const HostSpec&) const = default;
};

/// What `target.vivado{}` holds.
struct VivadoSpec {
  std::string mode = "non_project";  ///< "project" or "non_project"

  bool operator==(const VivadoSpec&) const = default;
};

/// Where the stack will run: what `target{}` holds.
struct TargetSpec {
  std::string part = "xcu250-figd2104-2L-e";  ///< Xilinx part number
  VivadoSpec vivado;

  bool operator==(const TargetSpec&) const = default;
};

/// Where a service takes packets: received ones before they are accepted, packets to send, accepted data on its way to
/// memory.
enum class Attach { ingress, egress, deliver };

const char* to_string(Attach attach);

/// One entry of `services{}`: what the frame knows of it, and the settings of its type, which generator/services reads.
struct ServiceSpec {
  std::string type;            ///< "custom", ...
  std::string name;            ///< an identifier, different from those of the other entries
  std::vector<Attach> attach;  ///< where it takes packets
  int trailer = 0;             ///< bytes that it appends to each packet at egress and takes off at ingress
  std::string folder;          ///< of the spec file, "" or with a '/' at its end: files are named relative to it
  /// The entry with every default filled in.
  const nlohmann::ordered_json& json() const { return *settings; }
  /// Place of the value at a JSON pointer within the entry ("/attach"); of the entry when it was not given.
  const Place& place(std::string_view pointer) const;
  /// Place of its key.
  const Place& key_place(std::string_view pointer) const;
  /// True when it takes packets there.
  bool at(Attach point) const;

  std::shared_ptr<const nlohmann::ordered_json> settings;
  std::map<std::string, std::pair<Place, Place>, std::less<>> places;  ///< value and key by pointer; "" is the entry

  /// Where a spec lies says nothing about what is meant.
  bool operator==(const ServiceSpec& other) const;
};

/// One stack. A value with 0 in a field that says "derive" is not yet complete: see complete(). The functions below
/// expect a completed spec.
struct StackSpec {
  std::string name;          ///< name of the top module
  std::string description;   ///< free text
  int data_width = 512;      ///< bits of the datapath: 64, 128, 256, 512, 1024
  double clock_mhz = 250;    ///< MHz of the datapath's clock, 10..1000
  int qp_count = 64;         ///< queue pairs, 1..16384, any integer
  int pipeline_depth = 1;    ///< register slices and arithmetic stages, 0..4
  int mtu = 4096;            ///< largest path MTU in bytes: 256, 512, 1024, 2048, 4096
  int memory_regions = 256;  ///< entries of the memory-region table, 1..65536
  TransportSpec transport;
  NetworkSpec network;
  HostSpec host;
  std::vector<ServiceSpec> services;  ///< in the order in which received data passes; at most 8
  TargetSpec target;

  /// True when a service takes packets there.
  bool serves(Attach point) const;
  /// Bytes that services append to a packet.
  int trailer_bytes() const;
  /// Bytes of the longest payload on the wire.
  int max_payload() const { return mtu + trailer_bytes(); }
  /// Bytes of one beat of the datapath.
  int bytes_per_beat() const { return data_width / 8; }
  /// Bytes of one beat of the MAC's streams.
  int mac_bytes_per_beat() const { return network.mac_width / 8; }
  /// The datapath's clock in Hz, rounded to whole Hz.
  std::uint64_t clock_hz() const;
  /// The datapath's clock in kHz, rounded (register CLOCK_KHZ).
  std::uint32_t clock_khz() const;
  /// The MAC's clock in Hz, rounded to whole Hz.
  std::uint64_t mac_clock_hz() const;
  /// True if the MAC's streams have a clock of their own (clk_mac, rst_mac).
  bool has_mac_clock() const { return mac_clock_hz() != clock_hz(); }
  /// Clock cycles of one tick of the ACK timers, 4.096 us rounded up (IBTA 9.7.6.1.3: timeouts are never shorter).
  int tick_cycles() const;
  /// Largest frame without FCS in bytes: the payload and 78 bytes of Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16,
  /// ImmDt 4 (WRITE only with immediate) and ICRC 4.
  int max_frame_bytes() const { return max_payload() + 78; }
  /// Beats of the datapath that the largest frame takes.
  int max_frame_beats() const { return (max_frame_bytes() + bytes_per_beat() - 1) / bytes_per_beat(); }
  /// Beats (of data_width) of the receive frame buffer: a power of two, at most 65536.
  int rx_buffer_beats() const { return network.rx_buffer_kib * 1024 / bytes_per_beat(); }
  /// Beats (of data_width) of the transmit frame buffer: a power of two, at most 65536.
  int tx_buffer_beats() const { return network.tx_buffer_kib * 1024 / bytes_per_beat(); }
  /// Beats (of data_width) of the DMA read buffer: a power of two, at most 65536.
  int read_buffer_beats() const { return host.read_buffer_kib * 1024 / bytes_per_beat(); }
  /// The largest MTU as the PMTU code of QP attributes: 1..5 = 256..4096 bytes.
  int pmtu_code() const;
  /// Bits that number the QPs: ceil(log2(qp_count)), at least 1.
  int qp_bits() const;
  /// Bits that number the memory regions: ceil(log2(memory_regions)), at least 1.
  int mr_bits() const;
  /// Bits that number the WQE slots: log2(wqe_slots).
  int wqe_slot_bits() const;
  /// Raw rate of the datapath in Gb/s: data_width x clock_mhz / 1000.
  double datapath_gbps() const { return data_width * clock_mhz / 1000.0; }
  /// Raw rate of the MAC's streams in Gb/s: mac_width x mac_clock_mhz / 1000.
  double line_rate_gbps() const { return network.mac_width * network.mac_clock_mhz / 1000.0; }

  bool operator==(const StackSpec&) const = default;
};

/// Fills in every field that is derived from others and still 0. Fields that are set stay as they are.
StackSpec complete(StackSpec spec);

/// Checks a spec that C++ code made, by the same table and rules as a file; places carry the JSON pointer only.
/// Returns the completed spec, or nothing if errors were reported.
std::optional<StackSpec> check_spec(const StackSpec& spec, Diagnostics& diagnostics);

/// Reads, checks and completes the spec in the file `path` ("-" is the standard input). Every fault is reported.
/// Returns nothing exactly if an error was reported.
std::optional<StackSpec> read_spec(const std::string& path, Diagnostics& diagnostics);

/// The same for a text; `file` is the name that the diagnostics show.
std::optional<StackSpec> read_spec_text(std::string file, std::string text, Diagnostics& diagnostics);

/// The spec with every default filled in, in the order of the reference. Reading it back gives an equal spec.
nlohmann::ordered_json to_json(const StackSpec& spec);

/// SHA-256 (FIPS 180-4) of the compact text of to_json(), 64 lower-case hexadecimal digits.
std::string spec_hash(const StackSpec& spec);

}  // namespace rocegen::spec
