#include "sim/scenario/scenario.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sim/harness/model_station.h"

using namespace rocegen::sim;

namespace {

const std::string kScenarios = ROCEGEN_SOURCE_DIR "/sim/scenarios";

std::unique_ptr<Station> model(size_t which) {
  return std::make_unique<ModelStation>(which == 0 ? "a" : "b", which + 1, 100.0);
}

/// A reference endpoint that spoils frames as it sends them: what a scenario must notice.
class Saboteur : public ModelStation {
 public:
  using Edit = std::function<void(Frame&, BuildOptions&)>;
  Saboteur(size_t which, Edit edit) : ModelStation(which == 0 ? "a" : "b", which + 1, 100.0), edit_(std::move(edit)) {}
  void advance(Ps now) override {
    if (!hooked_) {
      hooked_ = true;
      Transmit next = std::move(transmit_);
      transmit_ = [this, next](Ps t, Bytes&& b) {
        Parsed p = parse(b);
        BuildOptions o;
        edit_(p.frame, o);
        next(t, build(p.frame, o));
      };
    }
    ModelStation::advance(now);
  }

 private:
  Edit edit_;
  bool hooked_ = false;
};

Scenario scenario(const std::string& text) {
  Scenario s;
  std::vector<std::string> errors;
  REQUIRE_MESSAGE(parse_scenario(text, "t.json", s, errors), (errors.empty() ? std::string() : errors.front()));
  return s;
}

std::vector<std::string> faults(const std::string& text) {
  Scenario s;
  std::vector<std::string> errors;
  CHECK_FALSE(parse_scenario(text, "t.json", s, errors));
  return errors;
}

const char* const kTransfer = R"({
  "about": "t",
  "connect": [{"name": "q", "mtu": 256}],
  "regions": [{"name": "src", "on": "a", "mr": false, "length": 4096}, {"name": "dst", "on": "b", "length": 4096}],
  "steps": [
    {"post": {"on": "a", "local": "a.src", "remote": "b.dst", "length": 600}},
    {"expect": {"from": "a", "frames": [{"opcode": "WRITE_FIRST", "psn": "q.a.psn"}, {"opcode": "WRITE_MIDDLE"}, {"opcode": "WRITE_LAST", "ackreq": 1}]}},
    {"expect": {"from": "b", "frames": [{"opcode": "ACK", "msn": 1, "psn": "q.a.psn + 2"}]}},
    {"complete": {"on": "a", "all": true}},
    {"memory": {"at": "b.dst", "length": 600, "equals": "a.src"}}
  ]})";

ScenarioResult run_spoiled(const std::string& text, size_t who, Saboteur::Edit edit) {
  return run_scenario(scenario(text), [&](size_t i) -> std::unique_ptr<Station> {
    if (i == who) return std::make_unique<Saboteur>(i, edit);
    return model(i);
  });
}

}  // namespace

TEST_CASE("scenario: every committed scenario passes on the reference endpoint, with several seeds") {
  size_t n = 0;
  for (const auto& e : std::filesystem::directory_iterator(kScenarios)) {
    Scenario s;
    std::vector<std::string> errors;
    REQUIRE_MESSAGE(load_scenario(e.path().string(), s, errors), errors.front());
    CHECK(s.name + ".json" == e.path().filename().string());
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      ScenarioOptions o;
      o.seed = seed;
      const ScenarioResult r = run_scenario(s, model, o);
      // The reference endpoint goes back N, and has no services.
      const bool other = (s.name.starts_with("selective_") && s.name != "selective_peer") ||
                         (s.doc.contains("needs") && s.doc["needs"].contains("services"));
      CHECK_MESSAGE(r.ok != other, s.name << " " << r.where << ": " << r.message);
      CHECK(r.skipped == other);
    }
    ++n;
  }
  CHECK(n >= 125);
}

TEST_CASE("scenario: the named tests that the project promises exist") {
  for (const char* name : {"send_segmented",
                           "send_imm",
                           "write_imm",
                           "send_inv",
                           "rnr_timer_codes",
                           "rnr_retry_count",
                           "credits_requester",
                           "credits_responder",
                           "read_segmented",
                           "read_partial_retry",
                           "read_implied_nak",
                           "read_duplicate",
                           "atomics",
                           "atomic_duplicate",
                           "fence",
                           "shared_ring",
                           "receive_flush",
                           "write_only",
                           "write_segmented",
                           "zero_length",
                           "unaligned",
                           "one_mib",
                           "psn_wrap",
                           "wrong_rkey",
                           "out_of_bounds",
                           "address_overflow_64bit",
                           "no_write_right",
                           "wrong_pd",
                           "stale_ack",
                           "lost_ack",
                           "lost_first",
                           "lost_middle",
                           "lost_last",
                           "duplicate_write",
                           "nak_once_per_gap",
                           "bad_icrc",
                           "bad_opcode_sequence",
                           "bad_length",
                           "pad_wrong",
                           "runts",
                           "ip_options",
                           "wrong_address",
                           "wrong_pkey",
                           "unknown_qpn",
                           "other_traffic",
                           "mig_req",
                           "eth_padding",
                           "retry_exhausted",
                           "fatal_nak_flush",
                           "fragment",
                           "interleaved_qps",
                           "ack_coalesced_completion",
                           "qp_reuse"}) {
    CHECK_MESSAGE(std::filesystem::exists(kScenarios + "/" + name + ".json"), name);
  }
}

TEST_CASE("scenario: the index of cases in the documentation names scenarios that cover them") {
  // docs/scenarios.md holds a table row "| L15 | `a`, `b` |" for each case.
  std::map<std::string, std::set<std::string>> covers;
  for (const auto& e : std::filesystem::directory_iterator(kScenarios)) {
    Scenario s;
    std::vector<std::string> errors;
    REQUIRE(load_scenario(e.path().string(), s, errors));
    for (const auto& c : s.covers) covers[c].insert(s.name);
  }
  std::FILE* f = std::fopen(ROCEGEN_SOURCE_DIR "/docs/scenarios.md", "r");
  REQUIRE(f != nullptr);
  std::map<std::string, std::set<std::string>> index;
  char line[4096];
  while (std::fgets(line, sizeof line, f) != nullptr) {
    const std::string l(line);
    if (l.size() < 8 || l.rfind("| ", 0) != 0 || std::string("LPBER").find(l[2]) == std::string::npos ||
        std::isdigit(l[3]) == 0)
      continue;
    const std::string id = l.substr(2, l.find(' ', 2) - 2);
    for (size_t at = l.find('`'); at != std::string::npos;) {
      const size_t end = l.find('`', at + 1);
      REQUIRE(end != std::string::npos);
      index[id].insert(l.substr(at + 1, end - at - 1));
      at = l.find('`', end + 1);
    }
  }
  std::fclose(f);
  CHECK(index == covers);
}

TEST_CASE("scenario: the sound transfer passes, each sabotage fails where it shows") {
  CHECK(run_scenario(scenario(kTransfer), model).ok);
  const auto where = [](size_t who, const Saboteur::Edit& edit) {
    const ScenarioResult r = run_spoiled(kTransfer, who, edit);
    CHECK_FALSE(r.ok);
    CHECK_FALSE(r.trail.empty());
    return r.where + ": " + r.message.substr(0, r.message.find('\n'));
  };
  CHECK(where(1, [](Frame& f, BuildOptions&) { f.msn ^= 2; }) == "/steps/2/expect/frames/0/msn: expected 0x1, is 0x3");
  CHECK(where(1, [](Frame& f, BuildOptions&) { f.psn ^= 1; }) ==
        "/steps/2/expect/frames/0/psn: expected 0x100002, is 0x100003");
  CHECK(where(0, [](Frame& f, BuildOptions&) { f.ackreq = false; }) ==
        "/steps/1/expect/frames/2/ackreq: expected 0x1, is 0x0");
  CHECK(where(0, [](Frame& f, BuildOptions&) { f.opcode = op::WriteMiddle; }) ==
        "/steps/1/expect/frames/0/opcode: expected WRITE_FIRST, is WRITE_MIDDLE");
  CHECK(where(0, [](Frame& f, BuildOptions&) {
          if (f.opcode == op::WriteMiddle) f.payload[7] ^= 1;
        }).find("/steps/4/memory: memory of b at 0x12000107 (byte 263 of 600): expected ") == 0);
  // What no step looks at is found at the end.
  CHECK(where(0, [](Frame& f, BuildOptions&) {
          f.resv6 = 1;
        }).find("/: end of scenario: 0 ns: frame 1 of a: a reserved or congestion bit is set: ") == 0);
  CHECK(where(1, [](Frame& f, BuildOptions&) { f.ttl = 63; }).find("ttl 63 tos 0 instead of 64 and 0") !=
        std::string::npos);
  CHECK(where(1, [](Frame&, BuildOptions& o) { o.eth_pad = 2; }).find("bytes behind the IP packet") !=
        std::string::npos);
  // A wrong ICRC means retries until they are used up.
  CHECK(where(0, [](Frame&, BuildOptions& o) { o.icrc_xor = 1; }).find("/steps/1/expect/frames/") == std::string::npos);
}

TEST_CASE("scenario: leftovers, missing frames and rules without effect fail") {
  const auto failing = [](const std::string& steps, const std::string& extra = "") {
    const ScenarioResult r = run_scenario(
        scenario(R"({"about": "t", )" + extra + R"("connect": [{"name": "q", "mtu": 256, "retry_cnt": 0, "timeout": 1}],
      "regions": [{"name": "src", "on": "a", "mr": false, "length": 4096}, {"name": "dst", "on": "b", "length": 4096}], "steps": [)" +
                 steps + "]}"),
        model);
    CHECK_FALSE(r.ok);
    return r.where + ": " + r.message;
  };
  const std::string post = R"({"post": {"on": "a", "local": "a.src", "remote": "b.dst", "length": 10, "id": 7}})";
  CHECK(failing(post).find(
            "/: end of scenario: station a gave a completion that no step expects: id 7 on QP 2, success") == 0);
  CHECK(failing(post + R"(,{"complete": {"on": "a", "count": 2}})")
            .find("/steps/1/complete: station a: 1 of 2 completions within 400000 ns") == 0);
  CHECK(failing(post + R"(,{"complete": {"on": "a", "entries": [{"id": 8}]}})")
            .find("/steps/1/complete/entries/0: expected id 8") == 0);
  CHECK(failing(post + R"(,{"expect": {"from": "a", "frames": [{"opcode": "ACK"}]}})")
            .find("/steps/1/expect/frames/0/opcode: expected ACK, is WRITE_ONLY") == 0);
  CHECK(failing(R"({"expect": {"from": "a", "frames": [{"opcode": "ACK"}], "within_ns": 100}})") ==
        R"(/steps/0/expect/frames/0: station a did not send {"opcode":"ACK"} within 100 ns)");
  CHECK(failing(post + R"(,{"quiet": {"from": "b", "for_ns": 5000}})")
            .find("/steps/1/quiet: expected no frame for 5000 ns, station b sent at") == 0);
  CHECK(failing(
            post +
            R"(,{"rule": {"from": "a", "action": "lose", "match": {"psn": 1}}},{"complete": {"on": "a", "all": true}})")
            .find("/steps/1/rule: rule hit 0 frames instead of 1") == 0);
  CHECK(failing(post +
                R"(,{"complete": {"on": "a", "all": true}},{"counters": {"on": "b", "values": {"rsp_acks": 2}}})") ==
        "/steps/2/counters/values/rsp_acks: expected 2, is 1");
  // The peer's refusal leaves events on both sides.
  const std::string refused =
      R"({"post": {"on": "a", "local": "a.src", "remote": "b.dst", "length": 10, "rkey": 1}},{"complete": {"on": "a", "all": true, "status": "rem_access_err"}})";
  CHECK(failing(refused).find(
            "/: end of scenario: station a reported an event that no step expects: peer_nak on QP 2") == 0);
  CHECK(failing(refused + R"(,{"events": {"on": "a", "list": [{"cause": "retry_exc", "qp": "q"}]}})")
            .find("/steps/2/events/list/0: expected retry_exc on QP 2, is peer_nak on QP 2") == 0);
  CHECK(
      failing(
          R"({"repeat": {"var": "i", "from": 0, "to": 3}, "steps": [{"memory": {"at": "b.dst + i", "length": 1, "byte": 300, "within_ns": 1}}]})")
          .find("(i = 0)") != std::string::npos);
  CHECK(failing(R"({"wait": {"ns": "nothing + 1"}})") == "/steps/0/wait/ns: 'nothing + 1': unknown name 'nothing'");
}

TEST_CASE("scenario: writes outside of the regions are found") {
  // The reference endpoint obeys its MR; the scenario declares the region as not writable.
  const ScenarioResult r = run_scenario(scenario(R"({"about": "t", "connect": [{"name": "q"}],
      "regions": [{"name": "src", "on": "a", "mr": false, "length": 64}, {"name": "dst", "on": "b", "length": 64, "writable": false}],
      "steps": [{"post": {"on": "a", "local": "a.src", "remote": "b.dst", "length": 3}}, {"complete": {"on": "a", "all": true}}]})"),
                                        model);
  CHECK_FALSE(r.ok);
  CHECK(r.message.find("b: device wrote") != std::string::npos);
  CHECK(r.message.find("b: guard byte 0x12000000 was") != std::string::npos);
}

TEST_CASE("scenario: what a receive carries is compared whole") {
  const auto run =
      [](const std::string& post, const std::string& entry) {
        const ScenarioResult r = run_scenario(scenario(R"({
      "about": "t", "connect": [{"name": "q", "mtu": 256, "rq": true}],
      "regions": [{"name": "buf", "on": "b", "mr": false, "length": 4096, "writable": true}],
      "steps": [
        {"recv": {"on": "b", "local": "b.buf", "length": 512, "id": 7}},
        {"post": {"on": "a", "length": 20, )" + post + R"(}},
        {"received": {"on": "b", "entries": [{"id": 7)" +
                                                       entry + R"(}]}},
        {"complete": {"on": "a", "all": true}}
      ]})"),
                                              model);
        return r.ok ? std::string() : r.where + ": " + r.message.substr(0, r.message.find('\n'));
      };
  CHECK(run(R"("op": "send")", R"(, "bytes": 20)").empty());
  CHECK(run(R"("op": "send_imm", "imm": 5, "solicited": true)", R"(, "imm": 5, "solicited": true)").empty());
  CHECK(run(R"("op": "send_imm", "imm": 5)", "") == "/steps/2/received/entries/0: expected no \"imm\"");
  CHECK(run(R"("op": "send")", R"(, "imm": 0)") == "/steps/2/received/entries/0: expected \"imm\"");
  CHECK(run(R"("op": "send", "solicited": true)", "") == "/steps/2/received/entries/0: expected no \"solicited\"");
  CHECK(run(R"("op": "send_imm", "imm": 5)", R"(, "imm": 6)") == "/steps/2/received/entries/0: expected imm 0x6");
  CHECK(run(R"("op": "send")", R"(, "bytes": 21)") == "/steps/2/received/entries/0: expected 21 bytes");
  CHECK(run(R"("op": "send")", R"(, "op": "wc_recv_write_imm")") == "/steps/2/received/entries/0: expected opcode 129");
}

TEST_CASE("scenario: stations that are too small skip it") {
  const ScenarioResult r =
      run_scenario(scenario(R"({"about": "t", "connect": [{"name": "q", "a": {"qpn": 5000}}], "steps": []})"), model);
  CHECK(r.skipped);
  CHECK(r.message.find("needs QP 5000") == 0);
  CHECK(run_scenario(scenario(R"({"about": "t", "needs": {"mtu": 8192}, "steps": []})"), model).skipped);
}

TEST_CASE("scenario: files that are wrong give every fault with its place") {
  CHECK(faults("{").front().find("t.json: parse error at line 1, column 2") == 0);
  CHECK(faults("[]") == std::vector<std::string>{"t.json: /: must be an object"});
  const auto f = faults(R"({
    "abuot": "x", "stations": 3, "allow": ["all"],
    "connect": [{"name": "q", "mtuu": 1, "a": {"qp": 1}}],
    "regions": [{"name": "r", "on": "a"}],
    "steps": [
      {"pots": {}},
      {"post": {"on": "a"}},
      {"expect": {"from": "a", "frames": [{"opcoed": 1}, {"flip_bit": 1}]}},
      {"inject": {"to": "a", "frame": {"bytes": 3}, "hex": "00"}},
      {"wait": {"ns": 1}, "quiet": {"from": "a", "for_ns": 1}},
      {"repeat": {"var": "i"}},
      {"complete": {"on": "a"}},
      {"note": "nothing"},
      {"memory": {"at": 1, "equals": 2, "hex": "00"}}
    ]})");
  const auto has = [&](const std::string& what) {
    return std::any_of(f.begin(), f.end(), [&](const std::string& e) { return e.find("t.json: " + what) == 0; });
  };
  CHECK(has("/abuot: unknown key, allowed: about, covers"));
  CHECK(has("/: \"about\" is missing"));
  CHECK(has("/stations: must be 1 or 2"));
  CHECK(has("/allow/0: must be"));
  CHECK(has("/connect/0/mtuu: unknown key"));
  CHECK(has("/connect/0/a/qp: unknown key"));
  CHECK(has("/regions/0: \"length\" is missing"));
  CHECK(has("/steps/0/pots: unknown kind of step"));
  CHECK(has("/steps/1/post: \"length\" is missing"));
  CHECK(has("/steps/2/expect/frames/0/opcoed: unknown field of a frame"));
  CHECK(has("/steps/2/expect/frames/1/flip_bit: this field can only be written"));
  CHECK(has("/steps/3/inject: needs one of"));
  CHECK(has("/steps/3/inject/frame/bytes: this field can only be read"));
  CHECK(has("/steps/4: is two steps in one: \"wait\" and \"quiet\""));
  CHECK(has("/steps/5/repeat: needs \"in\""));
  CHECK(has("/steps/5: \"repeat\" and \"steps\" belong together"));
  CHECK(has("/steps/6/complete: needs one of"));
  CHECK(has("/steps/7: names no kind of step"));
  CHECK(has("/steps/8/memory: needs one of"));
}

TEST_CASE("scenario: values of a wrong type fail with their place, whatever they are") {
  const auto failing = [](const std::string& step) {
    const ScenarioResult r = run_scenario(
        scenario(R"({"about": "t", "connect": [{"name": "q"}], "regions": [{"name": "dst", "on": "a", "length": 64}],
      "stations": 1, "steps": [)" +
                 step + "]}"),
        model);
    CHECK_FALSE(r.ok);
    CHECK_MESSAGE(r.where.find("/steps/0/") == 0, r.where);
    return r.message;
  };
  CHECK(failing(R"({"wait": {"ns": []}})") == "'[]' is neither a number nor an expression");
  CHECK(failing(R"({"wait": {"ns": null}})") == "'null' is neither a number nor an expression");
  CHECK(failing(R"({"quiet": {"from": 3, "for_ns": 1}})").find("must be \"a\" or \"b\"") == 0);
  CHECK(failing(R"({"quiet": {"from": "b", "for_ns": 1}})") == "this scenario has no station b");
  CHECK(failing(R"({"state": {"on": "a", "qp": 7, "state": 1}})") != "");
  CHECK(failing(R"({"state": {"on": "a", "qp": "x", "state": 1}})") == "no connection is named 'x'");
  CHECK(failing(R"({"repeat": {"var": 7, "in": [1]}, "steps": []})") == "must be a string");
  CHECK(failing(R"({"inject": {"to": "a", "hex": "0"}})") == "is no even number of hex digits");
  CHECK(failing(R"({"inject": {"to": "a", "frame": {"psn": "1 << 24"}}})") == "0x1000000 does not fit into 24 bits");
  CHECK(failing(R"({"rule": {"from": "a", "action": "eat"}})").find("'eat' is no action") == 0);
  CHECK(failing(R"({"connect": {"name": "q", "mtu": 300}})").find("is no path MTU") == 0);
  CHECK(failing(R"({"memory": {"at": 5, "hex": "00"}})").find("says no station") == 0);
  CHECK(failing(R"({"expect": {"from": "a", "frames": [{"psn": {"about": 1}}]}})") != "");
  CHECK(failing(R"({"complete": {"on": "a", "count": {}}})") != "");
}

TEST_CASE("scenario: the same seed gives the same run") {
  Scenario s;
  std::vector<std::string> errors;
  REQUIRE(load_scenario(kScenarios + "/duplicated_frames.json", s, errors));
  const ScenarioResult a = run_scenario(s, model);
  const ScenarioResult b = run_scenario(s, model);
  CHECK(a.time == b.time);
  CHECK(a.frames == b.frames);
}

TEST_CASE("scenario: the documentation lists every field of frames") {
  std::FILE* f = std::fopen(ROCEGEN_SOURCE_DIR "/docs/scenarios.md", "r");
  REQUIRE(f != nullptr);
  std::string all;
  char chunk[4096];
  for (size_t n = 0; (n = std::fread(chunk, 1, sizeof chunk, f)) > 0;) all.append(chunk, n);
  std::fclose(f);
  for (const FieldInfo& field : frame_fields()) {
    const std::string row = "| `" + std::string(field.name) + "` | " + std::to_string(field.bits) + " | " +
                            std::string(field.about) + " | " + (field.set != nullptr ? "x" : "") + " | " +
                            (field.get != nullptr ? "x" : "") + " |";
    CHECK_MESSAGE(all.find(row) != std::string::npos, row);
  }
}
