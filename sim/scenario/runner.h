// The interpreter of scenarios: one run. Its parts: values.cpp (names, expressions, data), setup.cpp (QPs, regions,
// rings, the cable), steps.cpp (work and frames), check.cpp (what must come out), run.cpp (the course of a run).
#pragma once

#include <fmt/format.h>

#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/expr.h"
#include "sim/scenario/scenario.h"

namespace rocegen::sim {

using Json = nlohmann::ordered_json;

inline constexpr uint64_t kDefaultWithinNs = 400'000;

/// A difference between what the scenario says and what happened; ends the run.
struct Difference {
  std::string where;
  std::string message;
};
/// The stations are too small for the scenario.
struct Unsuitable {
  std::string message;
};

struct Region {
  size_t on = 0;
  uint64_t base = 0;
  uint64_t length = 0;
  uint32_t key = 0;
  uint64_t number = 0;
};

struct Connection {
  QpConfig side[2];
};

struct Posted {
  uint64_t id;
  bool signaled;
};
class Runner {
 public:
  Runner(const Scenario& s, const StationFactory& factory, const ScenarioOptions& options);

  ScenarioResult run();

 private:
  // ---- values

  [[noreturn]] void fail(const std::string& message) const;

  std::string where() const;

  /// Enters a key or index for the JSON place of messages.
  class In {
   public:
    In(Runner& r, std::string key) : r_(r) { r_.path_.push_back(std::move(key)); }
    In(Runner& r, size_t index) : In(r, fmt::format("{}", index)) {}
    // An exception of the JSON library knows no place: the innermost one is kept for it.
    ~In() {
      if (std::uncaught_exceptions() > exceptions_ && r_.broken_at_.empty()) r_.broken_at_ = r_.where();
      r_.path_.pop_back();
    }
    In(const In&) = delete;
    In& operator=(const In&) = delete;

   private:
    Runner& r_;
    int exceptions_ = std::uncaught_exceptions();
  };

  std::optional<uint64_t> name(std::string_view n);

  uint64_t value(const Json& j);

  uint64_t value(const Json& j, const char* key, uint64_t otherwise);

  uint64_t need(const Json& j, const char* key);

  double number(const Json& j, const char* key, double otherwise);

  std::string text(const Json& j, const char* key, const std::string& otherwise);

  Bytes hex(const Json& j, const char* key);

  size_t station_named(const std::string& s, bool real = true);

  size_t station(const Json& j, const char* key, bool real = true);

  /// Station whose memory an address means: "on", or the prefix of the expression.
  size_t memory_of(const Json& j, const char* key);

  size_t memory_of_expression(const Json& j, const char* key);

  Memory& memory(size_t i);

  const QpConfig& qp(const Json& j, size_t side);

  const Connection& connection(const Json& j);

  /// Eight bytes of a number as memory holds it, least significant byte first.
  Bytes word(const Json& j);

  /// Data as an object gives it: hex; or seed, byte or at (memory) with a length.
  Bytes data(const Json& j, uint64_t otherwise = 0);

  // ---- time

  Ps limit(const Json& j);

  void settle();

  /// Takes what the stations reported and checks the order of completions.
  void collect();

  /// Receives of a QP's own ring complete in its order, those of a shared ring in any; each exactly once.
  void collect_receive(size_t i, const Cqe& c);

  void check_fault();

  // ---- set-up

  void needs();

  void start();

  bool allowed(const char* what) const;

  // What must hold at the end of every scenario.
  void finish();

  void set(const Json& j);

  void link(const Json& j);

  uint8_t access(const Json& j);

  void qp_fields(const Json& j, QpConfig& q);

  /// The mask of a list of services, by their names in the station's specification.
  void services(const Json& j, size_t station, QpConfig& q);

  void connect(const Json& j);

  void shared_ring(const Json& j);

  void reg(const Json& j);

  void region(const Json& j);

  // ---- steps

  void steps(const Json& list);

  void step(const std::string& kind, const Json& j);

  /// Like data(), but "at" is the target.
  Bytes fill_data(const Json& j);

  void repeat(const Json& j, const Json& body);

  void post(const Json& j);

  uint8_t work_opcode(const Json& j);

  void recv(const Json& j);

  Bytes frame(const Json& j, size_t to, const Json& step_body);

  void inject(const Json& j);

  // ---- conditions on frames

  struct Condition {
    std::string key;
    FieldMatch match;
  };

  FieldMatch condition(const FieldInfo* field, const Json& v);

  std::vector<Condition> conditions(const Json& j);

  static std::string wanted(const FieldMatch& m);

  struct Mismatch {
    std::string key;
    std::string text;
  };

  /// The first field of `spec` that a frame does not meet.
  std::optional<Mismatch> mismatch(const Json& spec, ByteView bytes);

  static std::string brief(const Json& spec);

  bool wait_for_frame(size_t i, Ps until);

  void expect(const Json& j);

  std::optional<Mismatch> match_at(const Json& frames, size_t k, ByteView got);

  /// Lets the device take the frames that arrived, and a microsecond pass.
  void drain(size_t i);

  void quiet(const Json& j);

  void rule(const Json& j);

  // ---- completions, events, memory, counters

  void complete(const Json& j);

  void received(const Json& j);

  static std::string shown(const Cqe& c);

  using CqeMismatch = std::string (Runner::*)(const Json&, const Cqe&, size_t);

  /// The next completions of one kind: `list` from `next` on; `open`: outstanding and not yet in the list.
  void completions(const Json& j, size_t i, const std::vector<Cqe>& list, size_t& next, size_t open,
                   CqeMismatch differs);

  /// What both kinds of completions have.
  std::string common_mismatch(const Json& e, const Cqe& c, size_t i);

  std::string cqe_mismatch(const Json& e, const Cqe& c, size_t i);

  /// Of a good completion all is compared: what an entry does not mention must not be there.
  std::string receive_mismatch(const Json& e, const Cqe& c, size_t i);

  void events(const Json& j);

  void compare(const Json& j);

  void counters(const Json& j);

  void axi_error(const Json& j);

  std::vector<std::string> trail() const;

  const Scenario& scenario_;
  ScenarioOptions options_;
  std::unique_ptr<Bench> bench_;
  LocalAddress address_[2];
  std::vector<std::string> path_;
  std::vector<std::pair<std::string, uint64_t>> loop_;
  std::map<std::string, uint64_t, std::less<>> vars_;
  std::map<std::pair<size_t, std::string>, Region> regions_;
  std::map<std::pair<size_t, std::string>, Bytes> snapshot_;
  std::map<std::string, Connection> connections_;
  std::map<std::string, uint64_t> connection_index_;
  uint64_t region_count_ = 0;
  const Region* last_region_ = nullptr;
  NameLookup lookup_;
  uint64_t next_id_ = 1;
  std::map<uint32_t, std::deque<Posted>> posted_[2];
  std::map<std::pair<bool, uint32_t>, std::deque<uint64_t>> receives_[2];  // by ring: shared, number
  std::vector<Cqe> cqes_[2];
  std::vector<Cqe> received_[2];
  std::vector<QpEvent> events_[2];
  size_t cqe_at_[2] = {0, 0};
  size_t received_at_[2] = {0, 0};
  size_t event_at_[2] = {0, 0};
  size_t frame_at_[2] = {0, 0};
  std::map<std::string, uint64_t> counter_base_[2];
  std::vector<std::tuple<size_t, size_t, std::string>> rules_;
  std::string fault_;
  std::string broken_at_;  // place of an exception of the JSON library
};

}  // namespace rocegen::sim
