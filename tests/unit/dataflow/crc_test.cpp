#include "generator/dataflow/crc.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "generator/dataflow/evaluate.h"
#include "tests/unit/dataflow/sample_graphs.h"

using namespace rocegen::dataflow;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes random_bytes(std::mt19937_64& rng, std::size_t count) {
  Bytes r(count);
  for (auto& b : r) b = static_cast<std::uint8_t>(rng());
  return r;
}

std::uint32_t run32(const Graph& g, const std::vector<BitVec>& inputs) {
  return static_cast<std::uint32_t>(evaluate(g, inputs)[0].to_uint64());
}

/// Value of `localparam logic [31:0] name = 32'h...;` in roce_pkg.sv.
std::uint32_t package_constant(const std::string& name) {
  std::ifstream file(std::filesystem::path(ROCEGEN_SOURCE_DIR) / "templates/net/roce_pkg.sv");
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::size_t at = all.find("localparam logic [31:0] " + name + " = 32'h");
  REQUIRE(at != std::string::npos);
  return static_cast<std::uint32_t>(std::stoul(all.substr(all.find("'h", at) + 2, 8), nullptr, 16));
}

/// The frame from its IP header to its ICRC (inclusive), with the fields that the ICRC does not cover set to ones
/// (protocol.md section 1). Empty unless IPv4 RoCE v2.
Bytes masked_packet(const Bytes& frame) {
  if (frame.size() < 14 + 20 + 8 + 12 + 4 || frame[12] != 0x08 || frame[13] != 0x00 || frame[14] != 0x45) return {};
  const std::size_t length = static_cast<std::size_t>(frame[16] << 8 | frame[17]);
  if (frame[23] != 17 || (frame[36] << 8 | frame[37]) != 4791 || 14 + length > frame.size()) return {};
  Bytes r(frame.begin() + 14, frame.begin() + 14 + static_cast<std::ptrdiff_t>(length));
  for (const std::size_t i : {1U, 8U, 10U, 11U, 26U, 27U, 32U}) r[i] = 0xFF;
  return r;
}

std::vector<Bytes> read_hex_frames(const std::filesystem::path& path) {
  std::vector<Bytes> r;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (line.empty() || line[0] == '#' || tab == std::string::npos) continue;
    Bytes frame;
    for (std::size_t i = tab + 1; i + 1 < line.size(); i += 2) {
      frame.push_back(static_cast<std::uint8_t>(std::stoul(line.substr(i, 2), nullptr, 16)));
    }
    r.push_back(frame);
  }
  return r;
}

std::vector<Bytes> read_pcap_frames(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const Bytes all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<Bytes> r;
  for (std::size_t i = 24; i + 16 <= all.size();) {
    std::uint32_t length = 0;
    std::memcpy(&length, &all[i + 8], 4);
    i += 16;
    r.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(i + length));
    i += length;
  }
  return r;
}

constexpr std::array kWidths = {8, 24, 64, 72, 128, 200, 256, 512, 1000, 1024};

/// The pipeline as the templates run it: Ethernet header fed as zero from IcrcSeedEth, beats of `width` bits padded
/// with zero, the padding taken back.
struct BeatPipeline {
  explicit BeatPipeline(int bits)
      : width(bits), data(icrc_data_graph(bits)), step(icrc_step_graph(bits)), rewind(icrc_rewind_graph(bits)) {}

  struct Result {
    std::uint32_t state = 0;
    int zeros = 0;
  };
  Result run(std::uint32_t seed, const Bytes& bytes) const {
    Result r{seed, 0};
    const std::size_t beat = static_cast<std::size_t>(width) / 8;
    for (std::size_t i = 0; i < bytes.size(); i += beat) {
      Bytes padded(beat, 0);
      const std::size_t n = std::min(beat, bytes.size() - i);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i), n, padded.begin());
      r.zeros = static_cast<int>(beat - n);
      const std::uint32_t crc = run32(data, {BitVec::from_bytes(padded)});
      r.state = run32(step, {BitVec(32, r.state), BitVec(32, crc)});
    }
    return r;
  }

  int width;
  Graph data;
  Graph step;
  Graph rewind;
};

}  // namespace

TEST_CASE("crc: the definition and its constants") {
  const std::string check = "123456789";  // the check value of CRC-32, from the catalogue of CRC algorithms
  const Bytes bytes(check.begin(), check.end());
  CHECK((crc32_raw(0xFFFFFFFFU, bytes) ^ 0xFFFFFFFFU) == 0xCBF43926U);
  CHECK(crc32_raw(0xFFFFFFFFU, Bytes(8, 0xFF)) == kIcrcInit);
  CHECK(crc32_raw(kIcrcSeedEth, Bytes(14, 0x00)) == kIcrcInit);
  CHECK(package_constant("IcrcInit") == kIcrcInit);
  CHECK(package_constant("IcrcSeedEth") == kIcrcSeedEth);
  CHECK(package_constant("IcrcResidue") == kIcrcResidue);
}

TEST_CASE("crc: matrices advance and take back") {
  std::mt19937_64 rng(0xC2C);
  CHECK(CrcMatrix::zeros(0) == CrcMatrix::identity());
  for (const int n : {1, 2, 3, 7, 8, 64, 131, 1000}) {
    CHECK(CrcMatrix::zeros(n) * CrcMatrix::zeros(-n) == CrcMatrix::identity());
    for (int round = 0; round < 10; ++round) {
      const auto state = static_cast<std::uint32_t>(rng());
      const std::uint32_t after = crc32_raw(state, Bytes(static_cast<std::size_t>(n), 0));
      CHECK(CrcMatrix::zeros(n)(state) == after);
      CHECK(CrcMatrix::zeros(-n)(after) == state);
    }
  }
  const CrcMatrix m = CrcMatrix::zeros(5);
  for (int bit = 0; bit < 32; ++bit) {
    const auto state = static_cast<std::uint32_t>(rng());
    CHECK((m(state) >> bit & 1U) == (static_cast<unsigned>(__builtin_popcount(m.row(bit) & state)) & 1U));
  }
}

TEST_CASE("crc: icrc_data, icrc_step equal the bitwise CRC at every width") {
  std::mt19937_64 rng(0xC2D);
  for (const int width : kWidths) {
    CAPTURE(width);
    const Graph data = icrc_data_graph(width);
    const Graph step = icrc_step_graph(width);
    const auto bytes = static_cast<std::size_t>(width) / 8;
    for (int bit = 0; bit<width; bit += width> 200 ? 7 : 1) {  // a linear map is what it does to single bits
      BitVec one(width);
      one.set_bit(bit, true);
      Bytes beat(bytes, 0);
      beat[static_cast<std::size_t>(bit) / 8] = static_cast<std::uint8_t>(1U << (bit % 8));
      CHECK(run32(data, {one}) == crc32_raw(0, beat));
    }
    for (int round = 0; round < 20; ++round) {
      const Bytes beat = random_bytes(rng, bytes);
      const auto state = static_cast<std::uint32_t>(rng());
      const std::uint32_t crc = run32(data, {BitVec::from_bytes(beat)});
      CHECK(crc == crc32_raw(0, beat));
      CHECK(run32(step, {BitVec(32, state), BitVec(32, crc)}) == crc32_raw(state, beat));
    }
  }
}

TEST_CASE("crc: icrc_rewind takes back every number of zero bytes") {
  std::mt19937_64 rng(0xC2E);
  for (const int width : kWidths) {
    CAPTURE(width);
    const Graph g = icrc_rewind_graph(width);
    for (int zeros = 0; zeros <= width / 8 + 3; ++zeros) {
      for (int round = 0; round < 4; ++round) {
        const auto state = static_cast<std::uint32_t>(rng());
        const std::uint32_t after = crc32_raw(state, Bytes(static_cast<std::size_t>(zeros), 0));
        CHECK(run32(g, {BitVec(32, after), BitVec(8, static_cast<std::uint64_t>(zeros))}) == state);
      }
    }
  }
}

TEST_CASE("crc: icrc_residue after every number of zero bytes") {
  for (const int width : kWidths) {
    CAPTURE(width);
    const Graph g = icrc_residue_graph(width);
    for (int zeros = 0; zeros < width / 8; ++zeros) {
      CHECK(run32(g, {BitVec(8, static_cast<std::uint64_t>(zeros))}) ==
            crc32_raw(kIcrcResidue, Bytes(static_cast<std::size_t>(zeros), 0)));
    }
  }
}

TEST_CASE("crc: sending and checking frames of every tail length, beat by beat") {
  std::mt19937_64 rng(0xC2F);
  for (const int width : {64, 128, 512, 1024}) {
    CAPTURE(width);
    const BeatPipeline pipe(width);
    const Graph residue = icrc_residue_graph(width);
    for (std::size_t length = 44; length < 44 + static_cast<std::size_t>(width) / 8 + 2; ++length) {
      const Bytes packet = random_bytes(rng, length);
      const std::uint32_t icrc = crc32_raw(kIcrcInit, packet) ^ 0xFFFFFFFFU;
      // TX: the ICRC field itself is fed as zero too, so up to width/8 + 3 zero bytes are taken back.
      Bytes frame(14, 0);
      frame.insert(frame.end(), packet.begin(), packet.end());
      Bytes with_field = frame;
      with_field.resize(frame.size() + 4, 0);
      const auto tx = pipe.run(kIcrcSeedEth, with_field);
      const int zeros = tx.zeros + 4;
      CHECK((run32(pipe.rewind, {BitVec(32, tx.state), BitVec(8, static_cast<std::uint64_t>(zeros))}) ^ 0xFFFFFFFFU) ==
            icrc);
      // RX: after the whole frame the register is the residue, advanced over the last beat's padding.
      for (std::size_t i = 0; i < 4; ++i) with_field[frame.size() + i] = static_cast<std::uint8_t>(icrc >> (8 * i));
      const auto rx = pipe.run(kIcrcSeedEth, with_field);
      CHECK(rx.state == run32(residue, {BitVec(8, static_cast<std::uint64_t>(rx.zeros))}));
      with_field[14 + rng() % (with_field.size() - 14)] ^= static_cast<std::uint8_t>(1U << (rng() % 8));
      const auto bad = pipe.run(kIcrcSeedEth, with_field);
      CHECK(bad.state != run32(residue, {BitVec(8, static_cast<std::uint64_t>(bad.zeros))}));
    }
  }
}

TEST_CASE("crc: frames that real devices sent") {
  const std::filesystem::path folder = ROCEGEN_SOURCE_DIR "/../shared/vectors/roce";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: there is no " << folder.string());
    return;
  }
  int good = 0;
  int bad = 0;
  const BeatPipeline pipe(512);
  const Graph residue = icrc_residue_graph(512);
  const auto verdict = [&](const Bytes& frame) {
    Bytes packet = masked_packet(frame);
    const bool right = crc32_raw(kIcrcInit, packet) == kIcrcResidue;
    Bytes fed(14, 0);
    fed.insert(fed.end(), packet.begin(), packet.end());
    const auto r = pipe.run(kIcrcSeedEth, fed);
    CHECK((r.state == run32(residue, {BitVec(8, static_cast<std::uint64_t>(r.zeros))})) == right);
    return right;
  };
  for (const auto& frame : read_hex_frames(folder / "packets_icrc_good.txt")) {
    if (masked_packet(frame).empty()) continue;  // IPv6, RoCE v1
    CHECK(verdict(frame));
    ++good;
  }
  for (const auto& frame : read_pcap_frames(folder / "rc_send_imm_mtu1024.pcap")) {
    if (masked_packet(frame).empty()) continue;
    CHECK(verdict(frame));
    ++good;
  }
  for (const auto& frame : read_hex_frames(folder / "packets_icrc_bad.txt")) {
    if (masked_packet(frame).empty()) continue;
    CHECK_FALSE(verdict(frame));
    ++bad;
  }
  CHECK(good >= 105 + 7);
  CHECK(bad >= 5);
  MESSAGE(good << " good and " << bad << " bad frames");
}

TEST_CASE("crc: faults") {
  CHECK_THROWS_AS(icrc_data_graph(0), std::invalid_argument);
  CHECK_THROWS_AS(icrc_data_graph(12), std::invalid_argument);
  CHECK_THROWS_AS(icrc_data_graph(4104), std::invalid_argument);
  CHECK_THROWS_AS(icrc_step_graph(-8), std::invalid_argument);
  CHECK_THROWS_AS(icrc_rewind_graph(2024), std::invalid_argument);
  CHECK_NOTHROW(icrc_rewind_graph(2016));
  CHECK_THROWS_AS(icrc_residue_graph(2056), std::invalid_argument);
}
