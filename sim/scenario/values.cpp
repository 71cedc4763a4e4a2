// Names, expressions and data of scenarios.
#include <fmt/format.h>

#include <algorithm>

#include "sim/model/preprocess.h"
#include "sim/model/rng.h"
#include "sim/scenario/runner.h"

namespace rocegen::sim {

Bytes pattern_bytes(uint64_t seed, uint64_t offset, size_t n) {
  Bytes out(n);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t at = offset + i;
    out[i] = static_cast<uint8_t>(mix64(seed * 0x9E3779B97F4A7C15u + (at >> 3)) >> (8 * (at & 7)));
  }
  return out;
}

namespace {

struct Constant {
  std::string_view name;
  uint64_t value;
};

constexpr Constant kConstants[] = {
    {"true", 1},
    {"false", 0},
    {"ACK_NO_LIMIT", kSynAckNoLimit},
    {"NAK_PSN", kSynNakPsn},
    {"NAK_INV_REQ", kSynNakInvReq},
    {"NAK_ACCESS", kSynNakAccess},
    {"NAK_OP", kSynNakOp},
    {"RNR_NAK", kSynRnr},
    {"success", 0},
    {"loc_len_err", 1},
    {"loc_qp_op_err", 2},
    {"loc_prot_err", 4},
    {"flush_err", 5},
    {"rem_inv_req_err", 9},
    {"rem_access_err", 10},
    {"rem_op_err", 11},
    {"retry_exc_err", 12},
    {"rnr_retry_exc_err", 13},
    {"bad_resp_err", 7},
    {"nak_inv_req", 1},
    {"nak_access", 2},
    {"read_err", 3},
    {"write_err", 4},
    {"retry_exc", 5},
    {"peer_nak", 6},
    {"bad_wqe", 7},
    {"sq_drained", 8},
    {"rnr_exc", 9},
    {"bad_response", 10},
    {"invalidate", 11},
    {"local_len", 12},
    {"service", 13},
    {"refused", 14},
    {"wc_send", kWcSend},
    {"wc_write", kWcWrite},
    {"wc_read", kWcRead},
    {"wc_cmp_swap", kWcCmpSwap},
    {"wc_fetch_add", kWcFetchAdd},
    {"wc_recv", kWcRecv},
    {"wc_recv_write_imm", kWcRecvWriteImm},
    {"reset", 0},
    {"init", 1},
    {"rtr", 2},
    {"rts", 3},
    {"sqd", 4},
    {"err", 5},
};

}  // namespace

void Runner::fail(const std::string& message) const { throw Difference{where(), message}; }

std::string Runner::where() const {
  std::string s;
  for (const auto& p : path_) s += "/" + p;
  return s.empty() ? "/" : s;
}

std::optional<uint64_t> Runner::name(std::string_view n) {
  for (auto it = loop_.rbegin(); it != loop_.rend(); ++it) {
    if (it->first == n) return it->second;
  }
  if (const auto it = vars_.find(n); it != vars_.end()) return it->second;
  for (const Constant& c : kConstants) {
    if (c.name == n) return c.value;
  }
  if (const auto opcode = opcode_from_name(n)) return *opcode;
  if (n == "bus") {
    size_t widest = 0;
    for (size_t i = 0; i < bench_->size(); ++i) widest = std::max(widest, bench_->station(i).info().data_bytes);
    return widest;
  }
  if (n == "rd_depth") {
    uint32_t least = ~0u;
    for (size_t i = 0; i < bench_->size(); ++i) least = std::min(least, bench_->station(i).info().rd_depth);
    return least;
  }
  if (n == "row_bytes" || n == "row_output") {
    for (size_t i = 0; i < bench_->size(); ++i) {
      const auto& rows = bench_->station(i).info().rows;
      if (!rows) continue;
      const size_t bytes = 4 * rows->columns().size();
      return n == "row_bytes" ? bytes : rows->length(bytes);
    }
    return std::nullopt;
  }
  if (n == "max_mtu") {
    uint32_t least = 4096;
    for (size_t i = 0; i < bench_->size(); ++i) least = std::min(least, bench_->station(i).info().max_mtu);
    return least;
  }
  const size_t dot = n.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view head = n.substr(0, dot);
  const std::string_view rest = n.substr(dot + 1);
  if (head == "a" || head == "b") {
    const size_t i = head == "b";
    if (rest == "mac") return address_[i].mac;
    if (rest == "ip") return address_[i].ip;
    if (rest.starts_with("last.") && i < bench_->size() && !bench_->sent(i).empty()) {
      const FieldInfo* field = find_field(rest.substr(5));
      if (field == nullptr || field->get == nullptr) return std::nullopt;
      return field->get(parse(bench_->sent(i).back().frame));
    }
    const size_t second = rest.find('.');
    const std::string region(rest.substr(0, second));
    const auto it = regions_.find(std::make_pair(i, region));
    if (it == regions_.end()) return std::nullopt;
    last_region_ = &it->second;
    if (second == std::string_view::npos) return it->second.base;
    const std::string_view what = rest.substr(second + 1);
    if (what == "key") return it->second.key;
    if (what == "length") return it->second.length;
    return std::nullopt;
  }
  const auto it = connections_.find(std::string(head));
  if (it == connections_.end()) return std::nullopt;
  if (rest == "mtu") return mtu_bytes(it->second.side[0].pmtu);
  const size_t second = rest.find('.');
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view station = rest.substr(0, second);
  const std::string_view what = rest.substr(second + 1);
  if (station != "a" && station != "b") return std::nullopt;
  const QpConfig& q = it->second.side[station == "b"];
  if (what == "qpn") return q.qpn;
  if (what == "psn") return q.sq_psn;
  if (what == "sport") return q.sport;
  if (what == "mtu") return mtu_bytes(q.pmtu);
  return std::nullopt;
}

uint64_t Runner::value(const Json& j) {
  if (j.is_boolean()) return j.get<bool>() ? 1 : 0;
  if (j.is_number_unsigned()) return j.get<uint64_t>();
  if (j.is_number_integer()) return static_cast<uint64_t>(j.get<int64_t>());
  if (!j.is_string()) fail(fmt::format("'{}' is neither a number nor an expression", j.dump()));
  std::string error;
  const auto v = evaluate(j.get<std::string>(), lookup_, error);
  if (!v) fail(fmt::format("'{}': {}", j.get<std::string>(), error));
  return *v;
}

uint64_t Runner::value(const Json& j, const char* key, uint64_t otherwise) {
  if (!j.contains(key)) return otherwise;
  const In in(*this, key);
  return value(j[key]);
}

uint64_t Runner::need(const Json& j, const char* key) {
  const In in(*this, key);
  return value(j[key]);
}

double Runner::number(const Json& j, const char* key, double otherwise) {
  if (!j.contains(key)) return otherwise;
  const In in(*this, key);
  if (j[key].is_number()) return j[key].get<double>();
  return static_cast<double>(value(j[key]));
}

std::string Runner::text(const Json& j, const char* key, const std::string& otherwise) {
  if (!j.contains(key)) return otherwise;
  const In in(*this, key);
  if (!j[key].is_string()) fail("must be a string");
  return j[key].get<std::string>();
}

Bytes Runner::hex(const Json& j, const char* key) {
  const In in(*this, key);
  if (!j[key].is_string()) fail("must be a string of hex digits");
  const auto b = from_hex(j[key].get<std::string>());
  if (!b) fail("is no even number of hex digits");
  return *b;
}

size_t Runner::station_named(const std::string& s, bool real) {
  if (s != "a" && s != "b") fail(fmt::format("'{}' is no station, a or b", s));
  const size_t i = s == "b";
  if (real && i >= bench_->size()) fail("this scenario has no station b");
  return i;
}

size_t Runner::station(const Json& j, const char* key, bool real) {
  const In in(*this, key);
  if (!j[key].is_string()) fail("must be \"a\" or \"b\"");
  return station_named(j[key].get<std::string>(), real);
}

/// Station whose memory an address means: "on", or the prefix of the expression.
size_t Runner::memory_of(const Json& j, const char* key) {
  if (j.contains("on")) return station(j, "on");
  return memory_of_expression(j, key);
}

size_t Runner::memory_of_expression(const Json& j, const char* key) {
  const In in(*this, key);
  if (j[key].is_string()) {
    const std::string s = j[key].get<std::string>();
    if (s.starts_with("a.")) return station_named("a");
    if (s.starts_with("b.")) return station_named("b");
  }
  fail("says no station: add \"on\", or start with \"a.\" or \"b.\"");
}

Memory& Runner::memory(size_t i) { return bench_->station(i).memory(); }

const QpConfig& Runner::qp(const Json& j, size_t side) {
  const In in(*this, "qp");
  if (!j.contains("qp")) {
    if (connections_.size() == 1) return connections_.begin()->second.side[side];
    fail("\"qp\" is missing");
  }
  return connection(j["qp"]).side[side];
}

const Connection& Runner::connection(const Json& j) {
  if (!j.is_string()) fail("must be the name of a connection");
  const auto it = connections_.find(j.get<std::string>());
  if (it == connections_.end()) fail(fmt::format("no connection is named '{}'", j.get<std::string>()));
  return it->second;
}

/// Eight bytes of a number as memory holds it, least significant byte first.
Bytes Runner::word(const Json& j) {
  const uint64_t v = need(j, "word");
  Bytes b(8);
  for (size_t i = 0; i < 8; ++i) b[i] = static_cast<uint8_t>(v >> (8 * i));
  return b;
}

/// Data as an object gives it: hex; or seed, byte or at (memory) with a length.
Bytes Runner::data(const Json& j, uint64_t otherwise) {
  if (j.contains("hex")) return hex(j, "hex");
  if (j.contains("word")) return word(j);
  const size_t n = value(j, "length", otherwise);
  if (j.contains("byte")) return Bytes(n, static_cast<uint8_t>(need(j, "byte")));
  if (j.contains("at")) return memory(memory_of(j, "at")).read(need(j, "at"), n);
  return pattern_bytes(value(j, "seed", 0), value(j, "offset", 0), n);
}

uint8_t Runner::access(const Json& j) {
  if (!j.is_array()) return static_cast<uint8_t>(value(j));
  uint8_t a = 0;
  for (const auto& e : j) {
    if (e == "write") {
      a |= kAccWrite;
    } else if (e == "read") {
      a |= kAccRead;
    } else if (e == "atomic") {
      a |= kAccAtomic;
    } else if (e == "invalidate") {
      a |= kAccInvalidate;
    } else {
      fail(fmt::format("'{}' is no access right: write, read, atomic, invalidate", e.dump()));
    }
  }
  return a;
}

/// Like data(), but "at" is the target.
Bytes Runner::fill_data(const Json& j) {
  if (j.contains("hex")) return hex(j, "hex");
  if (j.contains("word")) return word(j);
  const size_t n = value(j, "length", 0);
  if (j.contains("byte")) return Bytes(n, static_cast<uint8_t>(need(j, "byte")));
  return pattern_bytes(value(j, "seed", 0), value(j, "offset", 0), n);
}

uint8_t Runner::work_opcode(const Json& j) {
  if (!j.contains("op")) return kWrWrite;
  const In in(*this, "op");
  static const std::map<std::string, uint8_t, std::less<>> names = {
      {"write", kWrWrite},      {"write_imm", kWrWriteImm}, {"send", kWrSend},        {"send_imm", kWrSendImm},
      {"send_inv", kWrSendInv}, {"read", kWrRead},          {"cmp_swap", kWrCmpSwap}, {"fetch_add", kWrFetchAdd}};
  if (j["op"].is_string()) {
    if (const auto it = names.find(j["op"].get<std::string>()); it != names.end()) return it->second;
  }
  return static_cast<uint8_t>(value(j["op"]));
}

}  // namespace rocegen::sim
