#include "sim/model/pcap.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace rocegen::sim;

namespace {

const std::string kSample = ROCEGEN_SOURCE_DIR "/tests/captures/rc-mtu256-write.pcap";

Bytes slurp(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(f), {});
}

struct TempFile {
  std::string path;
  explicit TempFile(const char* name) : path((std::filesystem::temp_directory_path() / name).string()) {}
  ~TempFile() { std::filesystem::remove(path); }
};

void put32(Bytes& b, uint32_t v, bool swapped) {
  for (int i = 0; i < 4; ++i) b.push_back(static_cast<uint8_t>(v >> (8 * (swapped ? 3 - i : i))));
}

Bytes file_of(uint32_t magic, bool swapped, uint32_t fraction, uint32_t link = 1) {
  Bytes b;
  put32(b, magic, swapped);
  b.insert(b.end(), swapped ? std::initializer_list<uint8_t>{0, 2, 0, 4} : std::initializer_list<uint8_t>{2, 0, 4, 0});
  put32(b, 0, swapped);
  put32(b, 0, swapped);
  put32(b, 65535, swapped);
  put32(b, link, swapped);
  put32(b, 7, swapped);
  put32(b, fraction, swapped);
  put32(b, 3, swapped);
  put32(b, 60, swapped);
  b.insert(b.end(), {1, 2, 3});
  return b;
}

}  // namespace

TEST_CASE("pcap: both resolutions in both byte orders") {
  for (const bool swapped : {false, true}) {
    for (const bool nano : {false, true}) {
      PcapFile f;
      std::string error;
      REQUIRE(parse_pcap(file_of(nano ? 0xA1B23C4D : 0xA1B2C3D4, swapped, 25), "x", f, error));
      CHECK(f.nanoseconds == nano);
      CHECK(f.swapped == swapped);
      REQUIRE(f.frames.size() == 1);
      CHECK(f.frames[0].time == 7'000'000'000'000 + (nano ? 25'000u : 25'000'000u));
      CHECK(f.frames[0].length == 60);
      CHECK(f.frames[0].data == Bytes{1, 2, 3});
    }
  }
}

TEST_CASE("pcap: a real capture cut anywhere gives the frames before the cut and a message, never more") {
  const Bytes whole = slurp(kSample);
  PcapFile all;
  std::string error;
  REQUIRE(parse_pcap(whole, "s", all, error));
  CHECK(all.frames.size() == 25);
  size_t good = 0;
  for (size_t n = 0; n < whole.size(); ++n) {
    PcapFile f;
    error.clear();
    const bool ok = parse_pcap(ByteView(whole).first(n), "s", f, error);
    CHECK(ok == error.empty());
    good += ok;
    if (!ok && n > 24) CHECK(error.find("cut") != std::string::npos);
    for (size_t i = 0; i < f.frames.size(); ++i) CHECK(f.frames[i].data == all.frames[i].data);
  }
  CHECK(good == 25);  // at each record's start
}

TEST_CASE("pcap: messages name the file and what is wrong") {
  const auto message = [](const Bytes& b) {
    PcapFile f;
    std::string error;
    CHECK_FALSE(parse_pcap(b, "some.pcap", f, error));
    CHECK(error.find("some.pcap: ") == 0);
    return error;
  };
  CHECK(message({}).find("too short") != std::string::npos);
  CHECK(message(Bytes(100, 0x41)).find("no pcap file") != std::string::npos);
  Bytes ng = *from_hex("0a0d0d0a");
  ng.resize(40);
  CHECK(message(ng).find("pcapng") != std::string::npos);
  CHECK(message(file_of(0xA1B2C3D4, false, 0, 113)).find("link type 113") != std::string::npos);
  CHECK(message(file_of(0xA1B2C3D4, false, 1000000)).find("garbage") != std::string::npos);
  Bytes huge = file_of(0xA1B2C3D4, false, 0);
  huge[24 + 8 + 3] = 0x7F;
  CHECK(message(huge).find("garbage") != std::string::npos);
  PcapFile f;
  std::string error;
  CHECK_FALSE(read_pcap("/no/such/file.pcap", f, error));
  CHECK(error == "/no/such/file.pcap: No such file or directory");
}

TEST_CASE("pcap: what is written is read back with its nanoseconds") {
  const TempFile t("rocegen_pcap_test.pcap");
  {
    PcapWriter w(t.path);
    REQUIRE(w.ok());
    w.write(0, Bytes{1});
    w.write(1'234'567'891'234'000, Bytes(1500, 7));
    w.begin_run();
    w.write(5000, Bytes{2});
    CHECK(w.ok());
  }
  PcapFile f;
  std::string error;
  REQUIRE(read_pcap(t.path, f, error));
  CHECK(f.nanoseconds);
  REQUIRE(f.frames.size() == 3);
  CHECK(f.frames[2].time == 1'234'567'891'234'000 + 1'000'005'000);
  CHECK(f.frames[0].data == Bytes{1});
  CHECK(f.frames[1].time == 1'234'567'891'234'000);
  CHECK(f.frames[1].data == Bytes(1500, 7));
  CHECK_FALSE(PcapWriter("/no/such/folder/x.pcap").ok());
}
