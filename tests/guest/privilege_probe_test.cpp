#define CAF_SUITE privilege_probe

#include "guest/privilege_probe.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <string>
#include <vector>

using namespace paddock::guest;
using namespace std::chrono_literals;

namespace {

/// What a kernel prints, with other values for some of the fields; an empty one takes the line out.
std::string status_with(const std::vector<std::pair<std::string, std::string>>& values) {
  auto lines = std::vector<std::pair<std::string, std::string>>{{"Name", "cat"},
                                                                {"Umask", "0022"},
                                                                {"State", "R (running)"},
                                                                {"Uid", "1000\t1000\t1000\t1000"},
                                                                {"CapInh", "0000000000000000"},
                                                                {"CapPrm", "0000000000000000"},
                                                                {"CapEff", "0000000000000000"},
                                                                {"CapBnd", "0000000000000000"},
                                                                {"CapAmb", "0000000000000000"},
                                                                {"NoNewPrivs", "1"},
                                                                {"Seccomp", "2"}};
  auto text = std::string{};
  for (auto& [name, value] : lines) {
    for (const auto& [other, wanted] : values)
      if (other == name)
        value = wanted;
    if (!value.empty())
      text += name + ":\t" + value + "\n";
  }
  return text;
}

probe_outcome said(std::string out, int code = 0, std::string err = {}) {
  auto got = probe_outcome{};
  got.end->exit_code = code;
  got.out = std::move(out);
  got.err = std::move(err);
  return got;
}

/// The refusal; one that is not there says "admitted".
probe_refusal judged(const probe_outcome& seen) {
  return judge_probe("namzu-ws-desk", seen).value_or(probe_refusal{"admitted", ""});
}

bool says(const probe_refusal& x, std::string_view what) {
  return x.text.find(what) != std::string::npos;
}

} // namespace

// [E 294]
SCENARIO("a guest without capabilities that can gain none is admitted") {
  CHECK_EQ(judged(said(status_with({}))).reason, "admitted");
  // As a kernel behind a terminal prints it.
  auto text = status_with({});
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2))
    text.insert(at, "\r");
  CHECK_EQ(judged(said(text)).reason, "admitted");
  CHECK_EQ(judged(said("  CapInh :0\nCapPrm:0\nCapEff:0\nCapBnd:0\nNoNewPrivs:1")).reason, "admitted");
}

// [E 295] [E 298] [E 299]
SCENARIO("what a guest has too much is named, all of it and exactly") {
  struct row {
    std::vector<std::pair<std::string, std::string>> values;
    std::string offenders;
  };
  const auto rows = std::vector<row>{
    {{{"CapBnd", "ffffffffffffffff"}}, "CapBnd=ffffffffffffffff"},
    {{{"CapBnd", "000001ffffffffff"}}, "CapBnd=1ffffffffff"},
    {{{"CapInh", "0000000000000400"}}, "CapInh=400"},
    {{{"CapPrm", "0000000000000001"}}, "CapPrm=1"},
    {{{"CapEff", "0000000000000002"}}, "CapEff=2"},
    {{{"NoNewPrivs", "0"}}, "NoNewPrivs=0"},
    {{{"NoNewPrivs", "0"}, {"CapBnd", "00000000A80425FB"}, {"CapInh", "0000000000000001"}}, "CapInh=1, CapBnd=a80425fb, NoNewPrivs=0"},
  };
  for (const auto& x : rows) {
    MESSAGE(x.offenders);
    const auto no = judged(said(status_with(x.values)));
    CHECK_EQ(no.reason, "privileged");
    CHECK(no.text.ends_with(": " + x.offenders));
    CHECK(says(no, "sandbox namzu-ws-desk"));
  }
}

// [E 296]
SCENARIO("a field that is missing is never taken for harmless") {
  for (const auto* name : {"NoNewPrivs", "CapBnd"}) {
    const auto no = judged(said(status_with({{name, ""}})));
    CHECK_EQ(no.reason, "unreadable-output");
    CHECK(says(no, std::string{name} + " is missing"));
  }
  CHECK_EQ(judged(said("")).reason, "unreadable-output");
  auto more = said(status_with({}));
  more.out_overflown = true;
  CHECK_EQ(judged(more).reason, "unreadable-output");
}

// [E 297]
SCENARIO("a value that is no number is unreadable, and the beginning of it is shown") {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
         {"CapEff", "not-a-mask"}, {"CapEff", "0x0000000000000000"}, {"CapPrm", "-1"}, {"NoNewPrivs", "yes"}, {"NoNewPrivs", "0x1"}}) {
    MESSAGE(value);
    const auto no = judged(said(status_with({{name, value}})));
    CHECK_EQ(no.reason, "unreadable-output");
    CHECK(says(no, name + " is malformed: \"" + value + "\""));
  }
  const auto no = judged(said(status_with({{"CapEff", std::string(41, 'x')}})));
  CHECK(says(no, "\"" + std::string(40, 'x') + "\""));
}

// [E 300]
SCENARIO("a probe that fails says so, and not that the guest is privileged") {
  const auto no = judged(said("", 127, "  sh: cat: not found\n" + std::string(100, 'y')));
  CHECK_EQ(no.reason, "probe-failed");
  CHECK(says(no, "exit code 127"));
  CHECK(says(no, "(sh: cat: not found\n" + std::string(21, 'y') + ")"));
  CHECK(says(no, "says nothing about what the guest may do"));
  CHECK(!says(no, "privilege"));
  auto killed = said("", -1);
  killed.end->signal = "SIGKILL";
  CHECK(says(judged(killed), "ended by SIGKILL"));
}

SCENARIO("what a guest prints that is no text is shown as text") {
  const auto mark = std::string{"\xef\xbf\xbd"};
  CHECK(says(judged(said(status_with({{"CapEff", "0\xff"}}))), "CapEff is malformed: \"0" + mark + "\""));
  // Cut in the middle of a character.
  CHECK(says(judged(said("", 1, std::string(39, 'x') + "\xc3\xa9")), "(" + std::string(39, 'x') + mark + ")"));
}

// [E 301]
SCENARIO("a probe that cannot be run tells why, and what was to be run") {
  auto seen = probe_outcome{};
  seen.end = tl::unexpected{failure{dial_failed{"10.0.0.7", 1024, "connection refused"}}};
  const auto no = judged(seen);
  CHECK_EQ(no.reason, "probe-failed");
  CHECK(says(no, "connection refused"));
  CHECK(says(no, "`cat /proc/self/status`"));
  CHECK(says(no, "sandbox namzu-ws-desk"));
}

SCENARIO("a guest that does not answer in the probe's time is not said to have failed") {
  auto seen = probe_outcome{};
  seen.end = tl::unexpected{failure{dial_failed{"10.0.0.7", 1024, "timed out"}}};
  seen.expired = 1000ms;
  const auto no = judged(seen);
  CHECK_EQ(no.reason, "probe-failed");
  CHECK(says(no, "did not answer within 1000 ms"));
}

// [E 306]
SCENARIO("the probe has the time of readiness, and 15 seconds at most") {
  CHECK_EQ(probe_budget(500ms), 500ms);
  CHECK_EQ(probe_budget(15'000ms), 15'000ms);
  CHECK_EQ(probe_budget(120'000ms), 15'000ms);
}
