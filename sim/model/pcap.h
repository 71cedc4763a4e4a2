// Capture files: reads classic pcap (micro- and nanosecond stamps, either byte order), writes it with nanosecond
// stamps.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "sim/model/bytes.h"

namespace rocegen::sim {

struct PcapFrame {
  Ps time = 0;          ///< since 1970, in picoseconds
  uint32_t length = 0;  ///< on the wire; larger than data.size() if the capture cut the frame
  Bytes data;
};

struct PcapFile {
  bool nanoseconds = false;
  bool swapped = false;  ///< written on a machine of the other byte order
  std::vector<PcapFrame> frames;
};

/// Reads a whole capture of Ethernet frames. False, with a message that names the file and the place, if the file
/// cannot be opened, is no classic pcap, is not Ethernet, or ends inside a record; frames before the fault are kept.
bool read_pcap(const std::string& path, PcapFile& out, std::string& error);

/// The same from memory; `name` is for messages.
bool parse_pcap(ByteView data, const std::string& name, PcapFile& out, std::string& error);

/// Writes a capture, a record at a time. Little-endian, nanosecond stamps, Ethernet.
class PcapWriter {
 public:
  /// Opens `path`, overwriting it; ok() tells whether that went well.
  explicit PcapWriter(const std::string& path);
  ~PcapWriter();
  PcapWriter(const PcapWriter&) = delete;
  PcapWriter& operator=(const PcapWriter&) = delete;
  bool ok() const { return file_ != nullptr && !failed_; }
  /// Appends one frame stamped `time`, which counts from the last begin_run().
  void write(Ps time, ByteView frame);
  /// A new simulation begins at time 0: its stamps follow, a millisecond later, on those written so far.
  void begin_run();

 private:
  std::FILE* file_ = nullptr;
  bool failed_ = false;
  Ps base_ = 0;
  Ps last_ = 0;
  bool any_ = false;
};

}  // namespace rocegen::sim
