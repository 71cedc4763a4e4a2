#include "sim/model/pcap.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace rocegen::sim {
namespace {

constexpr uint32_t kMagicMicro = 0xA1B2C3D4;
constexpr uint32_t kMagicNano = 0xA1B23C4D;
constexpr uint32_t kLinkEthernet = 1;
constexpr uint32_t kMaxFrame = 1u << 20;

struct Reader {
  bool swapped;
  uint32_t u32(const uint8_t* p) const {
    const auto le = static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16 |
                    static_cast<uint32_t>(p[3]) << 24;
    return swapped ? __builtin_bswap32(le) : le;
  }
};

void put_le32(uint8_t* p, uint32_t v) {
  for (int i = 0; i < 4; ++i) p[i] = static_cast<uint8_t>(v >> (8 * i));
}

}  // namespace

bool parse_pcap(ByteView data, const std::string& name, PcapFile& out, std::string& error) {
  if (data.size() < 24) {
    error = fmt::format("{}: {} bytes are too short for a pcap file header", name, data.size());
    return false;
  }
  Reader r{false};
  uint32_t magic = r.u32(&data[0]);
  if (magic != kMagicMicro && magic != kMagicNano) {
    r.swapped = true;
    magic = r.u32(&data[0]);
  }
  if (magic != kMagicMicro && magic != kMagicNano) {
    const bool ng = get_be(&data[0], 4) == 0x0A0D0D0A;
    error = ng ? fmt::format("{}: is pcapng; convert it with `editcap -F nsecpcap`", name)
               : fmt::format("{}: no pcap file: starts with {}", name, to_hex(data.first(4)));
    return false;
  }
  out.nanoseconds = magic == kMagicNano;
  out.swapped = r.swapped;
  const uint32_t link = r.u32(&data[20]) & 0x0FFFFFFF;
  if (link != kLinkEthernet) {
    error = fmt::format("{}: link type {} is not Ethernet (1)", name, link);
    return false;
  }
  size_t at = 24;
  while (at < data.size()) {
    const size_t number = out.frames.size() + 1;
    if (data.size() - at < 16) {
      error = fmt::format("{}: cut in the header of frame {} at byte {}", name, number, at);
      return false;
    }
    const uint64_t seconds = r.u32(&data[at]);
    const uint64_t fraction = r.u32(&data[at + 4]);
    const uint32_t captured = r.u32(&data[at + 8]);
    const uint32_t length = r.u32(&data[at + 12]);
    if (captured > kMaxFrame || fraction >= (out.nanoseconds ? 1000000000u : 1000000u)) {
      error = fmt::format("{}: frame {} at byte {} is garbage: {} bytes, fraction {}", name, number, at, captured,
                          fraction);
      return false;
    }
    at += 16;
    if (data.size() - at < captured) {
      error = fmt::format("{}: cut inside frame {}: {} of {} bytes", name, number, data.size() - at, captured);
      return false;
    }
    PcapFrame f;
    f.time = seconds * 1000000000000u + fraction * (out.nanoseconds ? 1000u : 1000000u);
    f.length = length;
    f.data.assign(data.begin() + static_cast<std::ptrdiff_t>(at),
                  data.begin() + static_cast<std::ptrdiff_t>(at + captured));
    out.frames.push_back(std::move(f));
    at += captured;
  }
  return true;
}

bool read_pcap(const std::string& path, PcapFile& out, std::string& error) {
  std::FILE* f = std::fopen(path.c_str(), "rb");
  if (f == nullptr) {
    error = fmt::format("{}: {}", path, std::strerror(errno));
    return false;
  }
  Bytes data;
  uint8_t chunk[65536];
  size_t n = 0;
  while ((n = std::fread(chunk, 1, sizeof chunk, f)) > 0) data.insert(data.end(), chunk, chunk + n);
  const bool bad = std::ferror(f) != 0;
  std::fclose(f);
  if (bad) {
    error = fmt::format("{}: cannot be read", path);
    return false;
  }
  return parse_pcap(data, path, out, error);
}

PcapWriter::PcapWriter(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) return;
  uint8_t h[24] = {};
  put_le32(h, kMagicNano);
  h[4] = 2;  // version 2.4
  h[6] = 4;
  put_le32(h + 16, 65535);
  put_le32(h + 20, kLinkEthernet);
  failed_ = std::fwrite(h, 1, sizeof h, file_) != sizeof h;
}

PcapWriter::~PcapWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

void PcapWriter::begin_run() { base_ = any_ ? last_ + 1'000'000 * kNs : 0; }

void PcapWriter::write(Ps time, ByteView frame) {
  if (file_ == nullptr) return;
  last_ = base_ + time;
  any_ = true;
  const uint64_t ns = last_ / kNs;
  uint8_t h[16];
  put_le32(h, static_cast<uint32_t>(ns / 1000000000u));
  put_le32(h + 4, static_cast<uint32_t>(ns % 1000000000u));
  put_le32(h + 8, static_cast<uint32_t>(frame.size()));
  put_le32(h + 12, static_cast<uint32_t>(frame.size()));
  failed_ = failed_ || std::fwrite(h, 1, sizeof h, file_) != sizeof h ||
            std::fwrite(frame.data(), 1, frame.size(), file_) != frame.size();
}

}  // namespace rocegen::sim
