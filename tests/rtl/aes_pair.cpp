// Bench of the AES service: aes_egress, aes_ingress and aes_tables, as the stack joins them. What must come out is
// computed by OpenSSL from a model of keys and extended PSNs that knows nothing of the RTL.
#include <map>
#include <optional>

#include "Vdut.h"
#include "tests/rtl/aes_reference.h"
#include "tests/rtl/bench.h"

using namespace rocegen::bench;
namespace aes = rocegen::bench::aes;

namespace {

constexpr std::size_t kBytes = P_DataW / 8, kTx = 311, kRx = 392, kCfg = 343, kPkt = 302;
constexpr std::size_t kTrailer = P_Gcm != 0 ? 16 : 0;
constexpr std::uint64_t kExtMask = (std::uint64_t{1} << 39) - 1;
constexpr std::uint32_t kQps = P_QpCount;
constexpr std::uint32_t kAhead = 0x5FFFFF;  // the furthest PSN in front of the highest one sent
constexpr std::uint32_t kBehind = 0xA00000;

constexpr std::uint8_t kOpcodes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x0D, 0x0E, 0x0F, 0x10, 0x16, 0x17};
constexpr std::uint8_t kClear[] = {0x0C, 0x11, 0x12, 0x13, 0x14};

bool is_response(unsigned opcode) { return opcode >= 0x0D && opcode <= 0x10; }

struct Headers {
  std::uint8_t opcode = 0;
  bool se = false;
  std::uint32_t qpn = 0;  // at this end
  std::uint64_t ext = 0;  // extended PSN
  std::uint64_t va = 0;
  std::uint32_t rkey = 0, dma_len = 0, imm = 0;
  bool masked = true;
};

struct Key {
  Bytes key, salt;
  std::uint64_t first[2] = {0, 0};  // extended PSN from which on it is in force: requests, responses
};

/// The peer's view and ours of one queue pair.
struct Qp {
  std::uint32_t peer = 0;  // its QPN
  std::vector<Key> sent, received;
  std::uint64_t now[2] = {0, 0};  // highest extended PSN sent: own requests, the peer's
  std::uint8_t life = 0;
};

void put_be(Bytes& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = bytes; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

/// From the text of docs/services-aes.md.
Bytes nonce_of(const Key& key, std::uint32_t destination, const Headers& h) {
  Bytes nonce = key.salt;
  put_be(nonce, destination, 3);
  put_be(nonce, (h.ext & kExtMask) | (is_response(h.opcode) ? std::uint64_t{1} << 39 : 0), 5);
  return nonce;
}

Bytes aad_of(const Headers& h) {
  const bool response = is_response(h.opcode);
  const bool reth = h.opcode == 6 || h.opcode == 10 || h.opcode == 11;
  const bool imm =
      h.opcode == 3 || h.opcode == 5 || h.opcode == 9 || h.opcode == 11 || h.opcode == 0x16 || h.opcode == 0x17;
  Bytes a;
  a.push_back(response ? 1 : 0);
  a.push_back(response ? 0 : h.opcode);
  a.push_back(!response && h.se ? 1 : 0);
  a.push_back(0);
  put_be(a, reth ? h.va : 0, 8);
  put_be(a, reth ? h.rkey : 0, 4);
  put_be(a, reth ? h.dma_len : 0, 4);
  put_be(a, imm ? h.imm : 0, 4);
  a.resize(32);
  return a;
}

Bytes seal(const Key& key, std::uint32_t destination, const Headers& h, const Bytes& text) {
  Bytes nonce = nonce_of(key, destination, h);
  if (P_Gcm != 0) return aes::gcm_seal(key.key, nonce, aad_of(h), text);
  put_be(nonce, 1, 4);
  return aes::ctr(key.key, nonce, text);
}

/// The newest key that is in force for an extended PSN of a class.
const Key* in_force(const std::vector<Key>& keys, const Headers& h) {
  const int c = is_response(h.opcode) ? 1 : 0;
  for (std::size_t i = keys.size(); i-- > 0 && i + 2 >= keys.size();)
    if (keys[i].first[c] <= h.ext) return &keys[i];
  return nullptr;
}

class Bench : public Agent {
 public:
  explicit Bench(std::uint64_t salt) : sim(salt), qps(kQps) {
    for (Agent* a : {static_cast<Agent*>(&tx), static_cast<Agent*>(&rx), static_cast<Agent*>(&tx_out),
                     static_cast<Agent*>(&rx_out), static_cast<Agent*>(this)})
      sim.add(*a);
    // err, drop, tell, refuse and tag come with the last beat.
    tx_out.loose_user = 9;
    rx_out.loose_user = kRx;
    tx_out.on_packet = [this](const Packet& p) { got_tx.push_back(p); };
    rx_out.on_packet = [this](const Packet& p) { got_rx.push_back(p); };
    sim.dut.s_cfg_tvalid = 0;
    sim.dut.ctl_valid_i = 0;
    sim.dut.tap_valid_i = 0;
    sim.reset();
    sim.run_until([this] { return sim.dut.ready_o == 7; }, 100'000);
  }
  void drive() override {}
  void sample() override {
    for (int i = 0; i < 5; ++i) counts[i] += (sim.dut.counts_o >> i) & 1;
  }

  // ---- set-up, registers, what leaves ---------------------------------------------------------------------------
  void set_up(std::uint32_t qpn, std::uint32_t peer, std::uint32_t sq_psn, std::uint32_t rq_psn) {
    configure(qpn, peer, sq_psn, rq_psn, true, 3);
  }
  /// A record of s_cfg: a set-up, or a change of state (0 RESET, 5 ERR) alone.
  void configure(std::uint32_t qpn, std::uint32_t peer, std::uint32_t sq_psn, std::uint32_t rq_psn, bool setup,
                 unsigned state) {
    Bytes cfg = sim.rng().bits(kCfg);
    std::size_t at = kCfg;
    const auto put = [&](std::uint64_t value, std::size_t width) {
      at -= width;
      set_field(cfg, at, width, value);
    };
    put(setup ? 1 : 0, 1);
    put(qpn, 24);
    put(state, 3);
    put(3, 3);
    put(7, 4);
    put(0, 32);
    put(rq_psn, 24);
    put(sq_psn, 24);
    put(peer, 24);
    if (qpn < kQps) {
      Qp& q = qps[qpn];
      if (setup) q = Qp{peer, {}, {}, {sq_psn, rq_psn}, static_cast<std::uint8_t>((q.life + 1) & 63)};
      if (!setup && state == 0) q.sent = q.received = {};
      sim.dut.life_i = q.life;
    }
    Port(sim.dut.s_cfg_tdata, kCfg).set_value(cfg);
    sim.dut.s_cfg_tvalid = 1;
    sim.run_until([this] { return sim.dut.s_cfg_tready != 0; }, 3000);
    sim.step();
    sim.dut.s_cfg_tvalid = 0;
  }
  std::uint32_t access(bool write, std::uint32_t address, std::uint32_t value = 0) {
    sim.dut.ctl_valid_i = 1;
    sim.dut.ctl_write_i = write ? 1 : 0;
    sim.dut.ctl_addr_i = static_cast<std::uint16_t>(address);
    sim.dut.ctl_wdata_i = value;
    sim.run_until([this] { return sim.dut.ctl_ready_o != 0; }, 3000);
    const std::uint32_t data = sim.dut.ctl_rdata_o;
    sim.step();
    sim.dut.ctl_valid_i = 0;
    sim.step();
    return data;
  }
  void write(std::uint32_t address, std::uint32_t value) { access(true, address, value); }
  std::uint32_t status(std::uint32_t qpn) {
    write(0x00, qpn);
    return access(false, 0x14);
  }
  std::uint32_t word(const Bytes& b, std::size_t at) { return static_cast<std::uint32_t>(get_field(b, at * 8, 32)); }
  /// Writes a key; returns the result code.
  std::uint32_t write_key(std::uint32_t qpn, bool received, const Key& key) {
    write(0x00, qpn);
    write(0x04, word(key.salt, 0));
    write(0x08, static_cast<std::uint32_t>(key.first[0] & 0xFFFFFF));
    write(0x0C, static_cast<std::uint32_t>(key.first[1] & 0xFFFFFF));
    for (std::size_t i = 0; i < key.key.size(); i += 4) write(0x20 + static_cast<std::uint32_t>(i), word(key.key, i));
    write(0x10, (received ? 1U : 0U) | (key.key.size() == 32 ? 2U : 0U));
    const std::uint32_t result = access(false, 0x14) >> 16;
    if (result == 0) (received ? qps[qpn].received : qps[qpn].sent).push_back(key);
    return result;
  }
  Key random_key(std::uint32_t qpn, bool received) {
    const Qp& q = qps[qpn];
    Key k{sim.rng().bytes(P_KeyBits == 256 && sim.rng().percent(50) ? 32 : 16), sim.rng().bytes(4), {}};
    k.first[0] = q.now[received ? 1 : 0];
    k.first[1] = q.now[received ? 0 : 1];
    return k;
  }
  /// Tells the service that a packet leaves: space 0 a request, 1 a response.
  void tap(std::uint32_t qpn, int space, std::uint64_t ext, std::optional<std::uint8_t> life = {}) {
    Bytes pkt = sim.rng().bits(kPkt);
    const std::uint8_t request[] = {0, 4, 10, 0x0C, 0x13, 0x17}, response[] = {0x0D, 0x10, 0x11, 0x12};
    Bytes r = Record(kPkt)
                  .put(life.value_or(qps[qpn].life), 6)
                  .put(qpn, 24)
                  .put(space != 0 ? response[sim.rng().below(4)] : request[sim.rng().below(6)], 8)
                  .put(sim.rng().below(4), 2)
                  .put(ext & 0xFFFFFF, 24)
                  .put(0, 14)
                  .put(sim.rng().next(), 64)
                  .put(0, 64)
                  .put(0, 32)
                  .put(0, 64)
                  .value();
    Port(sim.dut.tap_i, kPkt).set_value(r);
    sim.dut.tap_valid_i = 1;
    sim.step();
    sim.dut.tap_valid_i = 0;
  }
  /// Moves a space forward to an extended PSN, as the packets on the way there would.
  void advance(std::uint32_t qpn, int space, std::uint64_t ext) {
    std::uint64_t& now = qps[qpn].now[space];
    while (now < ext) {
      now = std::min(ext, now + kAhead);
      tap(qpn, space, now);
      sim.run(8);  // packets that are closer to each other in time are closer in PSNs, too
    }
    sim.run(20);
  }

  // ---- packets -----------------------------------------------------------------------------------------------------
  Headers random_headers(std::uint32_t qpn, std::uint8_t opcode) {
    auto& r = sim.rng();
    return {opcode,
            r.percent(50),
            qpn,
            0,
            r.next(),
            static_cast<std::uint32_t>(r.next()),
            static_cast<std::uint32_t>(r.next()),
            static_cast<std::uint32_t>(r.next()),
            true};
  }
  Bytes tx_user(const Headers& h, std::size_t bytes, bool err, std::uint64_t noise) {
    const std::uint64_t mask = h.masked ? 1U << P_Index : 0xFFU & ~(1U << P_Index);
    return Record(kTx)
        .put(mask, 8)
        .put(err ? 1 : 0, 1)
        .put(qps[h.qpn].life, 6)
        .put(h.qpn, 24)
        .put(h.opcode, 8)
        .put(h.se ? 1 : 0, 1)
        .put(noise & 1, 1)
        .put(h.ext & 0xFFFFFF, 24)
        .put(bytes, 14)
        .put(h.va, 64)
        .put(h.rkey, 32)
        .put(h.dma_len, 32)
        .put(noise >> 8 & 0xFF, 8)
        .put(noise >> 16 & 0xFFFFFF, 24)
        .put(h.imm, 32)
        .put(noise >> 32, 32)
        .value();
  }
  Bytes rx_user(const Headers& h, std::size_t bytes, std::uint64_t verdict, std::uint64_t noise) {
    const std::uint64_t mask = h.masked ? 1U << P_Index : 0xFFU & ~(1U << P_Index);
    return Record(kRx)
        .put(mask, 8)
        .put(verdict >> 9, 2)  // drop, tell
        .put(noise & 0xFFFF, 16)
        .put(bytes, 14)
        .put(noise >> 8, 56)
        .put(0, 10)
        .put(h.opcode, 8)
        .put(h.se ? 1 : 0, 1)
        .put(noise >> 16 & 0x7, 3)
        .put(noise >> 24 & 0xFFFF, 16)
        .put(noise >> 40 & 3, 2)
        .put(h.qpn, 24)
        .put(noise >> 42 & 1, 1)
        .put(h.ext & 0xFFFFFF, 24)
        .put(h.va, 64)
        .put(h.rkey, 32)
        .put(h.dma_len, 32)
        .put(noise >> 8 & 0xFF, 8)
        .put(noise >> 16 & 0xFFFFFF, 24)
        .put(h.imm, 32)
        .put(verdict & 0x1FF, 9)
        .put(noise >> 5 & 0x3F, 6)
        .value();
  }

  /// Queues a packet to be encrypted and what must come of it.
  void send(const Headers& h, const Bytes& text, bool err = false) {
    const std::uint64_t noise = sim.rng().next();
    const bool active = h.masked && (is_response(h.opcode) || h.opcode < 0x0C || h.opcode >= 0x16);
    const Key* key = active ? in_force(qps[h.qpn].sent, h) : nullptr;
    Want want;
    want.used = !active || key != nullptr;
    want.data = text;
    if (active && key != nullptr) want.data = seal(*key, qps[h.qpn].peer, h, text);
    if (active && key == nullptr) want.size = text.size() + kTrailer;
    want.user = tx_user(h, text.size() + (active ? kTrailer : 0), err || (active && key == nullptr), noise);
    want_tx.push_back(want);
    tx.push(text, tx_user(h, text.size(), err, noise));
  }

  /// Queues a packet to be decrypted; the peer made it with `key` (null: with none). `spoil` flips a bit of
  /// the ciphertext or tag.
  void receive(const Headers& h, const Bytes& text, const Key* key, bool spoil = false, std::uint64_t verdict = 0) {
    auto& r = sim.rng();
    const std::uint64_t noise = r.next();
    const bool active = h.masked && (is_response(h.opcode) || h.opcode < 0x0C || h.opcode >= 0x16);
    Bytes wire = text;
    if (active) wire = seal(key != nullptr ? *key : random_key(h.qpn, true), h.qpn, h, text);
    bool forged = false;
    if (active && spoil && !wire.empty()) {
      wire[r.below(wire.size())] ^= static_cast<std::uint8_t>(1U << r.below(8));
      forged = P_Gcm != 0;
    }
    const Key* mine = active ? in_force(qps[h.qpn].received, h) : nullptr;
    const bool keyless = active && mine == nullptr;
    if (active && mine != nullptr && P_Gcm != 0 && (key == nullptr || mine->key != key->key)) forged = true;
    Want want;
    want.used = !keyless && !forged;
    want.data = text;
    want.size = text.size();
    if (active && P_Gcm == 0 && mine != nullptr) want.data = seal(*mine, h.qpn, h, wire);  // CTR: the same again
    std::uint64_t out = verdict;
    if (keyless || forged) out |= 1U << 10;
    if (forged && !keyless) out |= 1U << 9;
    want.user = rx_user(h, text.size(), out, noise);
    want_rx.push_back(want);
    rx.push(wire, rx_user(h, wire.size(), verdict, noise));
    ++(keyless ? expect[3] : forged ? expect[4] : expect[2]);
    if (!active) --expect[2];
  }

  void finish(std::uint64_t limit = 400'000) {
    sim.run_until([this] { return got_tx.size() == want_tx.size() && got_rx.size() == want_rx.size(); }, limit);
    compare(want_tx, got_tx, "sent");
    compare(want_rx, got_rx, "received");
  }

  struct Want {
    bool used = true;  // else only length and verdict count
    std::size_t size = 0;
    Bytes data, user;
  };
  void compare(std::deque<Want>& want, std::deque<Packet>& got, const std::string& what) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      INFO(what, " packet ", i, " of ", want.size(), ", ", want[i].data.size(), " bytes, seed ", seed());
      REQUIRE(aes::hex(got[i].user) == aes::hex(want[i].user));
      if (want[i].used)
        REQUIRE(aes::hex(got[i].data) == aes::hex(want[i].data));
      else
        REQUIRE(got[i].data.size() == want[i].size);
    }
    want.clear();
    got.clear();
  }

  Bytes text(std::size_t bytes) { return sim.rng().bytes(bytes); }

  Sim<Vdut> sim;
  PacketSource tx{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_tx, P_DataW, kTx)};
  PacketSource rx{sim.rng(), ROCEGEN_PACKET_PORTS(sim.dut, s_rx, P_DataW, kRx)};
  PacketSink tx_out{sim.rng(), tx_ports()};
  PacketSink rx_out{sim.rng(), rx_ports()};
  std::vector<Qp> qps;
  std::deque<Want> want_tx, want_rx;
  std::deque<Packet> got_tx, got_rx;
  std::uint64_t counts[5] = {}, expect[5] = {};

 private:
  PacketPorts tx_ports() { return ROCEGEN_PACKET_PORTS(sim.dut, m_tx, P_DataW, kTx); }
  PacketPorts rx_ports() { return ROCEGEN_PACKET_PORTS(sim.dut, m_rx, P_DataW, kRx); }
};

std::uint8_t some_opcode(Rng& r) { return kOpcodes[r.below(sizeof(kOpcodes))]; }

/// Two queue pairs with keys.
void open(Bench& b, std::uint32_t qpns = 2) {
  for (std::uint32_t q = 0; q < std::min(qpns, kQps); ++q) {
    b.set_up(q, static_cast<std::uint32_t>(b.sim.rng().below(1 << 24)),
             static_cast<std::uint32_t>(b.sim.rng().below(1 << 24)),
             static_cast<std::uint32_t>(b.sim.rng().below(1 << 24)));
    REQUIRE(b.write_key(q, false, b.random_key(q, false)) == 0);
    REQUIRE(b.write_key(q, true, b.random_key(q, true)) == 0);
  }
}

/// A packet of random opcode to be sent and one to be received, at offsets from where the spaces stand.
void both(Bench& b, std::uint32_t qpn, std::size_t bytes, std::int64_t offset = 0) {
  auto& r = b.sim.rng();
  Headers h = b.random_headers(qpn, some_opcode(r));
  h.ext = b.qps[qpn].now[is_response(h.opcode) ? 1 : 0] + static_cast<std::uint64_t>(offset);
  b.send(h, b.text(bytes));
  h = b.random_headers(qpn, some_opcode(r));
  h.ext = b.qps[qpn].now[is_response(h.opcode) ? 0 : 1] + static_cast<std::uint64_t>(offset);
  b.receive(h, b.text(bytes), in_force(b.qps[qpn].received, h));
}

}  // namespace

TEST_CASE("every length, with and without stalls, a key a packet") {
  for (unsigned round = 0; round < 3; ++round) {
    Bench b(1 + round);
    if (round == 1) b.tx.stall_percent = b.rx.stall_percent = 40;
    if (round == 2) b.tx_out.stall_percent = b.rx_out.stall_percent = 60;
    open(b);
    std::vector<std::size_t> lengths;
    for (std::size_t n = 0; n <= 2 * kBytes + 17; ++n) lengths.push_back(n);
    for (const std::size_t n : {255UL, 256UL, 1000UL, 1024UL, 4080UL, 4095UL, 4096UL}) lengths.push_back(n);
    std::uint32_t i = 0;
    for (const std::size_t n : lengths) both(b, i++ % std::min(2U, kQps), n, static_cast<std::int64_t>(i));
    b.finish();
    CHECK(b.counts[0] == lengths.size());
    CHECK(b.counts[2] == lengths.size());
  }
}

TEST_CASE("packets that pass as they are; errors and verdicts of others") {
  Bench b(10);
  open(b);
  auto& r = b.sim.rng();
  b.tx_out.stall_percent = b.rx_out.stall_percent = 20;
  for (int i = 0; i < 300; ++i) {
    Headers h = b.random_headers(0, r.percent(50) ? kClear[r.below(5)] : some_opcode(r));
    h.masked = r.percent(50);
    h.ext = b.qps[0].now[is_response(h.opcode) ? 1 : 0] + r.below(1000);
    b.send(h, b.text(r.percent(30) ? 0 : r.below(3 * kBytes)), r.percent(20));
    h.ext = b.qps[0].now[is_response(h.opcode) ? 0 : 1] + r.below(1000);
    b.receive(h, b.text(r.percent(30) ? 0 : r.below(3 * kBytes)), in_force(b.qps[0].received, h), false,
              r.percent(30) ? r.below(2048) : 0);
  }
  b.finish();
}

TEST_CASE("without a key nothing is sent and nothing accepted") {
  Bench b(20);
  auto& r = b.sim.rng();
  for (std::uint32_t q = 0; q < std::min(2U, kQps); ++q) b.set_up(q, 7 + q, 100, 200);
  Headers h = b.random_headers(0, 4);
  const auto try_both = [&](std::uint64_t ext) {
    h.opcode = some_opcode(r);
    h.ext = ext;
    b.send(h, b.text(r.below(2 * kBytes)));
    b.receive(h, b.text(r.below(2 * kBytes)), nullptr);
  };
  for (int i = 0; i < 20; ++i) try_both(200 + r.below(100));
  b.finish();
  CHECK(b.counts[0] == 0);
  CHECK(b.counts[1] == 20);
  CHECK(b.counts[3] == 20);
  // A key is there, then the set-up takes it away.
  REQUIRE(b.write_key(0, false, b.random_key(0, false)) == 0);
  CHECK((b.status(0) & 0x1F1F) == 0x19);
  b.set_up(0, 7, 100, 200);
  CHECK((b.status(0) & 0x1F1F) == 0);
  for (int i = 0; i < 20; ++i) try_both(200 + r.below(100));
  b.finish();
  CHECK(b.counts[1] == 40);
  // Erased by a command; a packet in front of the key's first PSN.
  Key key = b.random_key(0, false);
  key.first[0] = 150;
  key.first[1] = 250;
  REQUIRE(b.write_key(0, false, key) == 0);
  h.opcode = 4;
  for (const std::uint64_t ext : {149U, 150U, 151U, 140U}) {
    h.ext = ext;
    b.send(h, b.text(10));
  }
  h.opcode = 0x10;
  for (const std::uint64_t ext : {249U, 250U}) {
    h.ext = ext;
    b.send(h, b.text(10));
  }
  b.finish();
  b.write(0x00, 0);
  b.write(0x10, 4);
  b.qps[0].sent.clear();
  for (int i = 0; i < 4; ++i) {
    h.ext = 260;
    b.send(h, b.text(10));
  }
  b.finish();
  CHECK((b.status(0) & 0x1F) == 0);
}

TEST_CASE("keys change at their first PSN, without a stop") {
  Bench b(30);
  open(b, 1);
  auto& r = b.sim.rng();
  for (int change = 0; change < 6; ++change) {
    Key tx = b.random_key(0, false), rx = b.random_key(0, true);
    for (int c = 0; c < 2; ++c) {
      tx.first[c] += 20 + r.below(20);
      rx.first[c] += 20 + r.below(20);
    }
    // Packets are under way while the keys are written; none of them is behind the change.
    for (int i = 0; i < 30; ++i) both(b, 0, r.below(3 * kBytes), static_cast<std::int64_t>(r.below(20)));
    const auto old_tx = b.qps[0].sent, old_rx = b.qps[0].received;
    REQUIRE(b.write_key(0, false, tx) == 0);
    REQUIRE(b.write_key(0, true, rx) == 0);
    b.finish();
    CHECK((b.status(0) & 0x303) == (change == 0 ? 0x303 : 0x303));
    // Around the change, in any order: repeated packets still have the old key.
    for (int i = 0; i < 80; ++i) both(b, 0, r.below(3 * kBytes), static_cast<std::int64_t>(r.below(60)));
    b.finish();
    b.advance(0, 0, b.qps[0].now[0] + 60);
    b.advance(0, 1, b.qps[0].now[1] + 60);
    CHECK((b.status(0) & 0x1B1B) == 0x1B1B);  // the new ones are in force
    for (int i = 0; i < 40; ++i) both(b, 0, r.below(kBytes), static_cast<std::int64_t>(r.below(80)) - 60);
    b.finish();
  }
}

TEST_CASE("the old key is not used 2^20 packets after the change") {
  Bench b(40);
  open(b, 1);
  for (int space = 0; space < 2; ++space) b.advance(0, space, b.qps[0].now[space] + 1000);
  Key key = b.random_key(0, false);
  const std::uint64_t change = key.first[0];
  const Key old = b.qps[0].sent[0];
  REQUIRE(b.write_key(0, false, key) == 0);
  Headers h = b.random_headers(0, 4);
  h.ext = change - 1;
  b.send(h, b.text(20));
  b.advance(0, 0, change + (1 << 20) - 1);
  b.send(h, b.text(20));
  b.finish();
  b.advance(0, 0, change + (1 << 20));
  b.qps[0].sent.erase(b.qps[0].sent.begin());
  b.send(h, b.text(20));
  h.ext = change;
  b.send(h, b.text(20));
  b.finish();
  CHECK(b.counts[1] == 1);
}

TEST_CASE("PSNs wrap; repeated packets and duplicates have the nonce that they had") {
  Bench b(50);
  auto& r = b.sim.rng();
  b.set_up(0, 0xABCDEF, 0xFFFFF0, 0xFFFFE0);
  REQUIRE(b.write_key(0, false, b.random_key(0, false)) == 0);
  REQUIRE(b.write_key(0, true, b.random_key(0, true)) == 0);
  for (int wrap = 0; wrap < 4; ++wrap) {
    for (int step = 0; step < 6; ++step) {
      // What is under way lies within the circle's asymmetric window around the highest PSN sent.
      for (int i = 0; i < 6; ++i) {
        both(b, 0, r.below(2 * kBytes), static_cast<std::int64_t>(r.below(64)));
        both(b, 0, r.below(2 * kBytes), static_cast<std::int64_t>(r.below(kAhead + 1)));
        if (wrap != 0) both(b, 0, r.below(2 * kBytes), -static_cast<std::int64_t>(r.below(kBehind + 1)));
      }
      b.finish();
      for (int space = 0; space < 2; ++space) b.advance(0, space, b.qps[0].now[space] + 8 + r.below(8));
    }
    for (int space = 0; space < 2; ++space) b.advance(0, space, (b.qps[0].now[space] | 0xFFFFFF) - 20 + r.below(8));
  }
}

TEST_CASE("what is sent again takes no reference back, whatever follows how closely") {
  Bench b(55);
  auto& r = b.sim.rng();
  open(b, 1);
  for (int space = 0; space < 2; ++space) b.advance(0, space, b.qps[0].now[space] + kBehind + 1000);
  for (int round = 0; round < 40; ++round) {
    for (int space = 0; space < 2; ++space) {
      // An old answer, perhaps among new ones that have not moved the reference yet; in the end only the highest
      // counts.
      std::uint64_t& now = b.qps[0].now[space];
      const std::uint64_t before = now;
      const std::uint64_t packets = 1 + r.below(6);
      for (std::uint64_t i = 0; i < packets; ++i) {
        const bool old = r.percent(50);
        const std::uint64_t ext =
            old ? before - r.below(r.percent(50) ? kBehind - 0x200000 : 4) : before + r.below(0x200000);
        b.tap(0, space, ext);
        now = std::max(now, ext);
        b.sim.run(r.below(3));
      }
    }
    b.sim.run(20);
    for (int i = 0; i < 2; ++i) {
      both(b, 0, r.below(2 * kBytes), static_cast<std::int64_t>(r.below(kAhead + 1)));
      both(b, 0, r.below(2 * kBytes), -static_cast<std::int64_t>(r.below(kBehind + 1)));
    }
    both(b, 0, 40, kAhead);
    both(b, 0, 40, -static_cast<std::int64_t>(kBehind));
    b.finish();
  }
}

#if P_DataW == 64
TEST_CASE("a key is in force for 2^38 packets, and never again") {
  Bench b(57);
  b.set_up(0, 0xABCDEF, 1000, 2000);
  REQUIRE(b.write_key(0, false, b.random_key(0, false)) == 0);
  REQUIRE(b.write_key(0, true, b.random_key(0, true)) == 0);
  const auto at = [&](std::uint64_t past, bool in_force) {
    b.advance(0, 0, 1000 + past);
    Headers h = b.random_headers(0, 4);
    h.ext = 1000 + past;
    const Qp keys = b.qps[0];
    if (!in_force) b.qps[0].sent = b.qps[0].received = {};
    b.send(h, b.text(40));
    h.opcode = 0x10;
    b.receive(h, b.text(40), nullptr);
    b.qps[0] = keys;
    b.finish();
    CHECK(((b.status(0) >> 3) & 1) == (in_force ? 1 : 0));
  };
  constexpr std::uint64_t kLife = std::uint64_t{1} << 38;
  at(kLife - 1, true);
  for (const std::uint64_t past : {kLife, 2 * kLife - 1, 2 * kLife, 3 * kLife, 4 * kLife, 4 * kLife + 5})
    at(past, false);
}
#endif

TEST_CASE("packets of a former life move no reference") {
  Bench b(60);
  open(b, 1);
  const auto life = static_cast<std::uint8_t>((b.qps[0].life + 63) & 63);
  for (int i = 0; i < 8; ++i) b.tap(0, 0, b.qps[0].now[0] + 0x600000U * static_cast<unsigned>(i), life);
  b.sim.run(20);
  both(b, 0, 40);
  b.finish();
}

TEST_CASE("wrong ciphertext, wrong tag, wrong key, no tag at all") {
  Bench b(70);
  open(b, 1);
  auto& r = b.sim.rng();
  const Key stranger = b.random_key(0, true);
  for (int i = 0; i < 200; ++i) {
    Headers h = b.random_headers(0, some_opcode(r));
    h.ext = b.qps[0].now[is_response(h.opcode) ? 0 : 1] + r.below(50);
    const Key* good = in_force(b.qps[0].received, h);
    const std::uint64_t kind = r.below(4);
    b.receive(h, b.text(r.below(3 * kBytes)), kind == 0 ? &stranger : good, kind == 1);
    // What the peer authenticated is not what came: another address.
    if (kind == 2 && P_Gcm != 0) {
      h.opcode = 10;
      h.ext = b.qps[0].now[1] + r.below(50);
      const Bytes text = b.text(r.below(100));
      Headers told = h;
      told.va ^= std::uint64_t{1} << r.below(64);
      const std::uint64_t noise = r.next();
      b.rx.push(seal(*good, 0, h, text), b.rx_user(told, text.size() + 16, 0, noise));
      Bench::Want want{false, text.size(), text, b.rx_user(told, text.size(), 3U << 9, noise)};
      b.want_rx.push_back(want);
      ++b.expect[4];
    }
  }
  if (P_Gcm != 0) {
    for (std::size_t n = 0; n < 16; ++n) {
      Headers h = b.random_headers(0, 4);
      h.ext = b.qps[0].now[1];
      b.rx.push(b.text(n), b.rx_user(h, n, 0, 0));
      b.want_rx.push_back({false, 0, {}, b.rx_user(h, 0, 3U << 9, 0)});
      ++b.expect[4];
    }
  }
  b.finish();
  for (int i = 2; i < 5; ++i) CHECK(b.counts[i] == b.expect[i]);
  if (P_Gcm != 0) CHECK(b.counts[4] > 60);
}

TEST_CASE("what the registers refuse and never tell") {
  Bench b(80);
  open(b, 1);
  Key key = b.random_key(0, false);
  CHECK(b.write_key(kQps, false, key) == 1);
  if (kQps > 1) CHECK(b.write_key(1, false, key) == 1);  // not set up
  if (P_KeyBits == 128) {
    Key big = key;
    big.key = b.text(32);
    CHECK(b.write_key(0, false, big) == 2);
  }
  key.salt = b.qps[0].received[0].salt;
  CHECK(b.write_key(0, false, key) == 3);
  key = b.random_key(0, true);
  key.salt = b.qps[0].sent[0].salt;
  CHECK(b.write_key(0, true, key) == 3);
  CHECK((b.status(0) & 0x303) == 0x101);
  for (std::uint32_t a = 0x04; a < 0x60; a += 4) {
    b.write(0x00, 0x123456);
    b.write(a == 0x10 || a == 0x14 ? 0x04 : a, 0xFFFFFFFF);
    if (a != 0x14) CHECK(b.access(false, a) == 0);
  }
  CHECK(b.access(false, 0x00) == 0x123456);
  // A key whose words were not written again is zero: nothing of the last one is left.
  b.set_up(0, 5, 0, 0);
  b.write(0x00, 0);
  b.write(0x04, 0);
  b.write(0x08, 0);
  b.write(0x0C, 0);
  for (std::uint32_t a = 0x20; a < 0x40; a += 4) b.write(a, 0x5A5A5A5A);
  b.write(0x10, 1);
  b.write(0x04, 1);
  b.write(0x10, 0);
  b.qps[0].sent.push_back({Bytes(16, 0), {1, 0, 0, 0}, {0, 0}});
  Headers h = b.random_headers(0, 4);
  b.send(h, b.text(40));
  b.finish();
}

TEST_CASE("RESET erases keys, also those that are written and not given yet") {
  Bench b(85);
  auto& r = b.sim.rng();
  open(b);
  const Key pending{Bytes(16, 0x5A), {9, 9, 9, 9}, {}};
  const auto half = [&](std::uint32_t qpn) {  // all but the command
    b.write(0x00, qpn);
    b.write(0x04, b.word(pending.salt, 0));
    for (std::uint32_t a = 0x20; a < 0x30; a += 4) b.write(a, 0x5A5A5A5A);
  };
  b.configure(0, 0, 0, 0, false, 5);  // ERR: nothing
  CHECK((b.status(0) & 0x303) == 0x101);
  both(b, 0, 40);
  b.finish();
  half(0);
  b.configure(0, 0, 0, 0, false, 0);
  CHECK((b.status(0) & 0x1F1F) == 0);
  for (int i = 0; i < 10; ++i) both(b, 0, r.below(2 * kBytes));
  if (kQps > 1) both(b, 1, 40);
  b.finish();
  CHECK(b.counts[1] == 10);
  CHECK(b.counts[3] == 10);
  b.write(0x10, 0);
  CHECK((b.access(false, 0x14) >> 16) == 1);  // as one that was never set up
  // A key that waits for its command does not survive the set-up or the RESET of its queue pair; another's does.
  for (const unsigned kind : {0U, 1U, 2U}) {
    if (kind == 2 && kQps < 2) continue;
    b.set_up(0, 5, 0, 0);
    half(0);
    if (kind == 0) b.configure(0, 0, 0, 0, false, 0);
    if (kind < 2)
      b.set_up(0, 5, 0, 0);
    else
      b.set_up(1, 6, 0, 0);
    b.write(0x08, 0);
    b.write(0x0C, 0);
    b.write(0x10, 0);
    b.qps[0].sent = {kind < 2 ? Key{Bytes(16, 0), Bytes(4, 0), {}} : pending};
    Headers h = b.random_headers(0, 4);
    b.send(h, b.text(40));
    b.finish();
  }
}

TEST_CASE("a beat a cycle") {
  Bench b(90);
  open(b);
  const std::size_t bytes = 4 * kBytes;
  for (int i = 0; i < 200; ++i) both(b, static_cast<std::uint32_t>(i) % std::min(2U, kQps), bytes, i);
  const auto begin = b.sim.cycle();
  b.finish();
  const auto cycles = b.sim.cycle() - begin;
  // Packets of 4 beats; GCM: a beat or two for the trailer, and their own cycles.
  const std::uint64_t heads = P_Gcm == 0 ? 0 : P_DataW > 128 ? 1 : 2;
  const std::uint64_t tail = P_Gcm == 0 ? 0 : (16 + kBytes - 1) / kBytes;
  CHECK(cycles <= 200 * (4 + heads + tail) + 120);
  MESSAGE(cycles << " cycles for 200 packets of 4 beats");
}

TEST_CASE("a packet a cycle") {
  Bench b(91);
  open(b);
  for (int i = 0; i < 300; ++i) both(b, static_cast<std::uint32_t>(i) % std::min(2U, kQps), kBytes, i);
  const auto begin = b.sim.cycle();
  b.finish();
  const auto cycles = b.sim.cycle() - begin;
  const std::uint64_t heads = P_Gcm == 0 ? 0 : P_DataW > 128 ? 1 : 2;
  const std::uint64_t tail = P_Gcm == 0 ? 0 : (16 + kBytes - 1) / kBytes;
  CHECK(cycles <= 300 * (1 + heads + tail) + 120);
  MESSAGE(cycles << " cycles for 300 packets of one beat");
}

#if P_Gcm == 0
TEST_CASE("RFC 3686") {
  // Key, nonce (the salt), IV (queue pair, class, extended PSN), plaintext, ciphertext: section 6, vectors 1-3, 7-9.
  const struct {
    const char *key, *salt, *iv, *text, *out;
  } kVectors[] = {
      {"ae6852f8121067cc4bf7a5765577f39e", "00000030", "0000000000000000", "53696e676c6520626c6f636b206d7367",
       "e4095d4fb7a7b3792d6175a3261311b8"},
      {"7e24067817fae0d743d6ce1f32539163", "006cb6db", "c0543b59da48d90b",
       "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
       "5104a106168a72d9790d41ee8edad388eb2e1efc46da57c8fce630df9141be28"},
      {"7691be035e5020a8ac6e618529f9a0dc", "00e0017b", "27777f3f4a1786f0",
       "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223",
       "c1cf48a89f2ffdd9cf4652e9efdb72d74540a42bde6d7836d59a5ceaaef3105325b2072f"},
      {"776beff2851db06f4c8a0542c8696f6c6a81af1eec96b4d37fc1d689e6c1c104", "00000060", "db5672c97aa8f0b2",
       "53696e676c6520626c6f636b206d7367", "145ad01dbf824ec7560863dc71e3e0c0"},
      {"f6d66d6bd52d59bb0796365879eff886c66dd51a5b6a99744b50590c87a23884", "00faac24", "c1585ef15a43d875",
       "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
       "f05e231b3894612c49ee000b804eb2a9b8306b508f839d6a5530831d9344af1c"},
      {"ff7a617ce69148e4f1726e2f43581de2aa62d9f805532edff1eed687fb54153d", "001cc5b7", "51a51d70a1c11148",
       "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223",
       "eb6c52821d0bbbf7ce7594462aca4faab407df866569fd07f48cc0b583d6071f1ec0e6b8"},
  };
  for (const auto& v : kVectors) {
    Bench b(100);
    Key key{aes::unhex(v.key), aes::unhex(v.salt), {}};
    if (key.key.size() * 8 > P_KeyBits) continue;
    const std::uint64_t iv = std::strtoull(v.iv, nullptr, 16);
    Headers h = b.random_headers(0, (iv >> 39 & 1) != 0 ? 0x10 : 0x04);
    h.ext = iv & kExtMask;
    b.set_up(0, static_cast<std::uint32_t>(iv >> 40), 0, 0);
    const int space = is_response(h.opcode) ? 1 : 0;
    b.advance(0, space, h.ext);
    key.first[space] = h.ext;
    REQUIRE(b.write_key(0, false, key) == 0);
    b.send(h, aes::unhex(v.text));
    b.sim.run_until([&] { return b.got_tx.size() == 1; }, 1000);
    CHECK(aes::hex(b.got_tx[0].data) == v.out);
    b.finish();
  }
}
#endif

#if P_DataW == 64
TEST_CASE("the references: OpenSSL gives what NIST and RFC 3686 print") {
  // SP 800-38D test case 4 (McGrew and Viega), key of 128 bits, 20 bytes of associated data.
  const Bytes text = aes::unhex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
      "ba"
      "637b39");
  CHECK(aes::hex(aes::gcm_seal(aes::unhex("feffe9928665731c6d6a8f9467308308"), aes::unhex("cafebabefacedbaddecaf888"),
                               aes::unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2"), text)) ==
        "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac"
        "973"
        "d58e0915bc94fbc3221a5db94fae95ae7121a47");
  std::size_t checked = 0;
  for (const char* name : {"gcmEncryptExtIV128-subset.rsp", "gcmEncryptExtIV256-subset.rsp"})
    for (const aes::Vector& v : aes::read_response_file(name)) {
      if (v.text("IVlen") != "96" || v.text("Taglen") != "128") continue;
      CHECK(aes::hex(aes::gcm_seal(v.bytes("Key"), v.bytes("IV"), v.bytes("AAD"), v.bytes("PT"))) ==
            v.text("CT") + v.text("Tag"));
      ++checked;
    }
  MESSAGE(checked << " vectors of ../shared");
}
#endif
