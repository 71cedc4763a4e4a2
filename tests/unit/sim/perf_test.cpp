#include "sim/bench/perf.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sim/model/frame.h"
#include "sim/model/types.h"

using namespace rocegen::sim;

namespace {

/// Bytes that a frame of this opcode takes on the wire: at least 64 with its FCS, preamble 8, gap 12.
uint64_t on_wire(uint8_t opcode, uint64_t payload) {
  Frame f;
  f.opcode = opcode;
  f.payload.assign(payload, 0xA5);
  return std::max<uint64_t>(build(f).size() + 4, 64) + 8 + 12;
}

/// A message's packets, each built.
uint64_t built(uint64_t payload, uint32_t mtu, uint32_t trailer, uint8_t first, uint8_t middle, uint8_t last,
               uint8_t only) {
  uint64_t sum = 0;
  bool begins = true;
  do {
    const uint64_t n = std::min<uint64_t>(payload, mtu);
    payload -= n;
    const uint8_t opcode = payload == 0 ? (begins ? only : last) : begins ? first : middle;
    sum += on_wire(opcode, n + trailer);
    begins = false;
  } while (payload != 0);
  return sum;
}

}  // namespace

TEST_CASE("perf: bytes on the wire are those of the frames that the message is made of") {
  for (const uint32_t trailer : {0u, 8u, 16u}) {
    for (const uint32_t mtu : {256u, 1024u, 4096u}) {
      for (const uint64_t n : {0u, 1u, 2u, 3u, 4u, 15u, 64u, 255u, 256u, 257u, 4095u, 4096u, 4097u, 8192u, 9001u}) {
        CAPTURE(trailer);
        CAPTURE(mtu);
        CAPTURE(n);
        const WireBytes write = wire_bytes(kWrWrite, n, mtu, trailer);
        CHECK(write.request == built(n, mtu, trailer, op::WriteFirst, op::WriteMiddle, op::WriteLast, op::WriteOnly));
        CHECK(write.response == 0);
        const WireBytes send = wire_bytes(kWrSend, n, mtu, trailer);
        CHECK(send.request == built(n, mtu, trailer, op::SendFirst, op::SendMiddle, op::SendLast, op::SendOnly));
        CHECK(send.response == 0);
        const WireBytes read = wire_bytes(kWrRead, n, mtu, trailer);
        CHECK(read.request == on_wire(op::ReadRequest, 0));
        CHECK(read.response ==
              built(n, mtu, trailer, op::ReadRespFirst, op::ReadRespMiddle, op::ReadRespLast, op::ReadRespOnly));
        const WireBytes add = wire_bytes(kWrFetchAdd, 8, mtu, trailer);
        CHECK(add.request == on_wire(op::FetchAdd, 0));
        CHECK(add.response == on_wire(op::AtomicAck, 0));
      }
    }
  }
}

TEST_CASE("perf: the wire limit is that of the busier direction, of both together when both carry the load") {
  // 64 byte WRITE: 58 + 16 + 64 + 24 = 162 bytes, so 77.2 million a second at 100 Gb/s.
  CHECK(std::abs(wire_limit(kWrWrite, 64, 4096, 100, false) - 100e9 / 8 / 162) < 1);
  CHECK(std::abs(wire_limit(kWrWrite, 64, 4096, 100, false, 16) - 100e9 / 8 / 178) < 1);
  // READ: request 98, response 58 + 4 + 64 + 24 = 150.
  CHECK(std::abs(wire_limit(kWrRead, 64, 4096, 100, false) - 100e9 / 8 / 150) < 1);
  CHECK(std::abs(wire_limit(kWrRead, 64, 4096, 100, true) - 100e9 / 8 / 248) < 1);
  // A READ of one byte is held up by its request.
  CHECK(std::abs(wire_limit(kWrRead, 1, 4096, 10, false) - 10e9 / 8 / 98) < 1);
}

TEST_CASE("perf: points are read whole or not at all") {
  const auto p = parse_perf_point("read:4096:32:both");
  REQUIRE(p);
  CHECK(p->op == kWrRead);
  CHECK(p->payload == 4096);
  CHECK(p->qps == 32);
  CHECK(p->both);
  CHECK_FALSE(parse_perf_point("write:64:1")->both);
  for (const char* const bad :
       {"", "read", "read:64", "fetch_add:8:1", "read:0:1", "read:64:0", "read:64:1:", "read:64:1:one",
        "read:64:1:both:", "read:64x:1", "read:-1:1", "read:9999999999:1", "Read:64:1"})
    CHECK_MESSAGE(!parse_perf_point(bad), bad);
  const auto l = parse_perf_loss("0.01:4096:16:10");
  REQUIRE(l);
  CHECK(l->loss == 0.01);
  CHECK(l->payload == 4096);
  CHECK(l->qps == 16);
  CHECK(l->round_us == 10);
  CHECK(parse_perf_loss("0:64:1:3"));
  for (const char* const bad :
       {"", "0.01:4096:16", "0.5:4096:16:10", "-0.1:4096:16:10", "nan:4096:16:10", "0.01:0:16:10", "0.01:4096:0:10",
        "0.01:4096:16:2.9", "0.01:4096:16:10001", "0.01:4096:16:10:1"})
    CHECK_MESSAGE(!parse_perf_loss(bad), bad);
}
