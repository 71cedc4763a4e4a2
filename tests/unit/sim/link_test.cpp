#include "sim/model/link.h"

#include <doctest/doctest.h>

using namespace rocegen::sim;

namespace {

Bytes frame(uint32_t psn, uint8_t opcode = op::WriteMiddle) {
  Frame f;
  f.opcode = opcode;
  f.psn = psn;
  f.payload = Bytes(64, 1);
  return build(f);
}

struct Arrival {
  Ps at;
  Bytes frame;
  bool bad;
};

std::vector<Arrival> drain(Link& l) {
  std::vector<Arrival> out;
  while (l.next_arrival() != kNever) {
    const Ps at = l.next_arrival();
    Arrival a{at, {}, false};
    CHECK_FALSE(l.receive(at - 1, a.frame, a.bad));
    REQUIRE(l.receive(at, a.frame, a.bad));
    out.push_back(std::move(a));
  }
  return out;
}

uint32_t psn_of(const Arrival& a) { return parse(a.frame).frame.psn; }

}  // namespace

TEST_CASE("link: delay and line rate") {
  LinkConfig c;
  c.delay_ns = 300;
  c.gbps = 10;
  Link l(c);
  for (uint32_t i = 0; i < 3; ++i) l.send(1000, frame(i));
  const auto a = drain(l);
  REQUIRE(a.size() == 3);
  const Ps line = (frame(0).size() + 24) * 8 * 100;  // 100 ps a bit
  for (uint32_t i = 0; i < 3; ++i) {
    CHECK(psn_of(a[i]) == i);
    CHECK(a[i].at == 1000 + (i + 1) * line + 300'000);
    CHECK(a[i].frame == frame(i));
  }
}

TEST_CASE("link: probabilities are those asked for, and the same seed gives the same") {
  LinkConfig c;
  c.loss = 0.1;
  c.duplicate = 0.05;
  c.reorder = 0.2;
  c.corrupt = 0.03;
  c.seed = 7;
  const auto run = [&] {
    Link l(c);
    for (uint32_t i = 0; i < 20000; ++i) l.send(i * 100'000, frame(i & 0xFFFFFF));
    CHECK(l.sent() == 20000);
    CHECK(l.lost() > 1800);
    CHECK(l.lost() < 2200);
    CHECK(l.duplicated() > 800);
    CHECK(l.duplicated() < 1050);
    CHECK(l.reordered() > 3300);
    CHECK(l.reordered() < 3900);
    CHECK(l.corrupted() > 440);
    CHECK(l.corrupted() < 640);
    return drain(l);
  };
  const auto a = run();
  const auto b = run();
  REQUIRE(a.size() == b.size());
  size_t overtaken = 0, broken = 0, bad = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].frame == b[i].frame);
    CHECK(a[i].at == b[i].at);
    if (i > 0) CHECK(a[i].at >= a[i - 1].at);
    if (i > 0 && parse(a[i].frame).ok() && parse(a[i - 1].frame).ok()) overtaken += psn_of(a[i]) < psn_of(a[i - 1]);
    broken += !parse(a[i].frame).ok();
    bad += a[i].bad;
  }
  CHECK(overtaken > 2000);
  CHECK(broken > 300);
  CHECK(bad > 150);
  CHECK(bad < 400);
}

TEST_CASE("link: rules hit the n-th matching frame and no other") {
  const auto rule = [](LinkRule::Action action, uint64_t nth, uint64_t count) {
    LinkRule r;
    r.action = action;
    r.match = {{find_field("opcode"), FieldMatch::Kind::Equal, {op::WriteMiddle}}};
    r.nth = nth;
    r.count = count;
    return r;
  };
  const auto send = [](Link& l) {
    l.send(0, frame(100, op::WriteFirst));
    for (uint32_t i = 0; i < 5; ++i) l.send(0, frame(i));
    return drain(l);
  };
  SUBCASE("lose the second and third") {
    Link l;
    l.add_rule(rule(LinkRule::Action::Lose, 2, 2));
    const auto a = send(l);
    REQUIRE(a.size() == 4);
    CHECK(psn_of(a[0]) == 100);
    CHECK(psn_of(a[1]) == 0);
    CHECK(psn_of(a[2]) == 3);
    CHECK(l.rule(0).seen == 5);
    CHECK(l.rule(0).hits == 2);
  }
  SUBCASE("lose all from the fourth on") {
    Link l;
    l.add_rule(rule(LinkRule::Action::Lose, 4, 0));
    CHECK(send(l).size() == 4);
  }
  SUBCASE("duplicate later") {
    Link l;
    LinkRule r = rule(LinkRule::Action::Duplicate, 1, 1);
    r.copies = 2;
    r.delay_ns = 5000;
    l.add_rule(r);
    const auto a = send(l);
    REQUIRE(a.size() == 8);
    CHECK(psn_of(a[7]) == 0);
    CHECK(psn_of(a[6]) == 0);
    CHECK(a[7].at == a[0].at + 5'000'000);
  }
  SUBCASE("delay") {
    Link l;
    LinkRule r = rule(LinkRule::Action::Delay, 1, 1);
    r.delay_ns = 10;
    l.add_rule(r);
    CHECK(psn_of(send(l).back()) == 0);
  }
  SUBCASE("corrupt one bit, or mark as bad") {
    Link l;
    LinkRule r = rule(LinkRule::Action::Corrupt, 1, 1);
    r.flip_bit = 8 * 60 + 3;
    l.add_rule(r);
    l.add_rule(rule(LinkRule::Action::MarkBad, 2, 1));
    const auto a = send(l);
    REQUIRE(a.size() == 6);
    Bytes want = frame(0);
    want[60] ^= 8;
    CHECK(a[1].frame == want);
    CHECK_FALSE(a[1].bad);
    CHECK(a[2].bad);
    CHECK(a[2].frame == frame(1));
  }
  SUBCASE("change a field: the ICRC follows") {
    Link l;
    LinkRule r = rule(LinkRule::Action::Change, 3, 1);
    r.set = {{find_field("psn"), 777}};
    l.add_rule(r);
    const auto a = send(l);
    CHECK(a[3].frame == frame(777));
  }
  SUBCASE("no matching frame") {
    Link l;
    LinkRule r = rule(LinkRule::Action::Lose, 1, 0);
    r.match.push_back({find_field("psn"), FieldMatch::Kind::Range, {10, 20}});
    l.add_rule(r);
    CHECK(send(l).size() == 6);
    CHECK(l.rule(0).hits == 0);
  }
}
