#define CAF_SUITE host_entry

#include "egress/host_entry.hpp"
#include "egress/per_sandbox_policy.hpp"
#include "tests/egress/configured.hpp"

#include <set>

using namespace paddock::egress;
using nlohmann::json;

namespace {

egress_error refusal(const std::string& entry) {
  auto got = host_entry::parse(entry);
  if (got)
    CAF_FAIL("was not refused: " << entry);
  return got.error();
}

host_entry entry(const char* text) {
  return host_entry::parse(text).value();
}

const auto bad_entries = std::vector<std::string>{".com", ".", "..example.com", "*", "*.example.com", "10.0.0.1"};

} // namespace

// [E 50]
SCENARIO("one bad entry refuses a configured list, and is quoted") {
  for (const auto& bad : bad_entries) {
    auto config = json{{"engine", "cilium"}, {"policy", {{"kind", "static"}, {"allowedHosts", {"good.example", bad}}}}};
    auto got = translate(configured(config.dump()), task);
    REQUIRE(!got);
    CHECK_EQ(refused_as<illegal_host>(got.error()).host, bad);
    CHECK_EQ(reason_of(got.error()), "NetworkPolicyHost");
    CHECK(says(got.error(), "\"" + bad + "\""));
    CHECK(says(got.error(), "nothing was written"));
  }
}

// [E 51]
SCENARIO("each kind of bad entry has its own reason") {
  CHECK(says(refusal(".com"), "top-level domain"));
  CHECK(says(refusal("."), "nothing after the leading dot"));
  CHECK(says(refusal("..example.com"), "not a DNS name"));
  CHECK(says(refusal("*"), "glob"));
  CHECK(says(refusal("10.0.0.1"), "last label is numeric"));
  auto problems = std::set<std::string>{};
  for (const auto* bad : {".com", ".", "..example.com", "*", "10.0.0.1", ""})
    problems.insert(refused_as<illegal_host>(refusal(bad)).problem);
  CHECK_EQ(problems.size(), 6u);
}

// [E 52]
SCENARIO("an entry is refused in the same words on both paths") {
  auto how = per_sandbox_egress{"fence"};
  for (const auto& bad : bad_entries) {
    auto config = egress_config{static_hosts{{"good.example", bad}}};
    config.engine = policy_engine::cilium;
    auto listed = translate(config, task);
    auto granted = per_sandbox_hosts(how, {"good.example", bad});
    REQUIRE(!listed);
    REQUIRE(!granted);
    CHECK_EQ(to_string(listed.error()), to_string(granted.error()));
  }
}

// [E 55]
SCENARIO("what is no string is no host") {
  for (const auto* bad : {"5", "null", "true", R"(["a.example"])", R"({"host": "a.example"})"}) {
    auto config = json{{"engine", "cilium"}, {"policy", {{"kind", "static"}, {"allowedHosts", {"good.example", json::parse(bad)}}}}};
    auto got = read_egress_config(config);
    REQUIRE(!got);
    CHECK_EQ(refused_as<illegal_host>(got.error()).host, json::parse(bad).dump());
    CHECK(says(got.error(), "is not a string; nothing was written"));
    // The list of a call is read by the same function.
    auto called = read_host_list(json{"good.example", json::parse(bad)}, "allowedHosts");
    REQUIRE(!called);
    CHECK_EQ(to_string(called.error()), to_string(got.error()));
  }
}

// [E 56]
SCENARIO("a trailing dot is no part of a name") {
  CHECK(says(refusal("example.com."), "not a DNS name"));
  CHECK(says(refusal(".example.com."), "not a DNS name"));
}

// [E 57]
SCENARIO("one label is a name, and 253 characters are the longest one") {
  CHECK(host_entry::parse("localhost").has_value());
  auto labels = std::string{};
  while (labels.size() < 252)
    labels += "a.";
  auto longest = labels.substr(0, 252) + "b";
  CHECK_EQ(longest.size(), 253u);
  CHECK(host_entry::parse(longest).has_value());
  CHECK(host_entry::parse("." + longest).has_value());
  CHECK(says(refusal("a" + longest), "longer than the 253"));
  CHECK(says(refusal(".a" + longest), "longer than the 253"));
}

SCENARIO("what is no DNS name is refused as that") {
  for (const auto* bad : {"https://example.com",
                          "example.com/path",
                          "example.com:443",
                          "::1",
                          "[::1]",
                          "fe80::1",
                          " example.com",
                          "example.com ",
                          "exa mple.com",
                          "a_b.example",
                          "a..example",
                          "-a.example",
                          "a-.example",
                          "a.-b.example",
                          "bücher.example",
                          "example.com\n",
                          "user@example.com",
                          "%2e",
                          "\xE2\x84\xAA.example",
                          "a.example\t",
                          "\x01"})
    CHECK(says(refusal(bad), "is not a DNS name"));
  CHECK(says(refusal(std::string{"a\0b.example", 11}), "is not a DNS name"));
}

SCENARIO("a refusal shows no control character") {
  auto text = to_string(refusal("a\x1b[2J\n.example"));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(says(refusal("b\xc3\xbc"
                     "cher.example\x7f"),
             "\"b\\u00fccher.example\\u007f\""));
  CHECK(!to_string(refusal("\xff.example")).empty());
}

SCENARIO("an empty entry comes before a dot, a glob before the grammar, the grammar before the length") {
  CHECK(says(refusal(""), "is empty"));
  CHECK(says(refusal("*:443"), "glob"));
  CHECK(says(refusal(std::string(300, '_')), "not a DNS name"));
  CHECK(says(refusal("." + std::string(300, 'a')), "longer"));
  CHECK(says(refusal(".1"), "top-level domain"));
  CHECK(says(refusal("a.1"), "numeric"));
  CHECK(host_entry::parse("1.a").has_value());
  CHECK(host_entry::parse("a.1b").has_value());
  CHECK(says(refusal("127"), "numeric"));
}

SCENARIO("capitals are judged as if they were none, and kept") {
  auto got = entry(".Example.COM");
  CHECK_EQ(got.text(), ".Example.COM");
  CHECK(got.whole_domain());
  CHECK_EQ(got.name(), "Example.COM");
  CHECK_EQ(got.lowered().text(), ".example.com");
  CHECK(says(refusal(".COM"), "\".COM\""));
}

SCENARIO("an entry covers what it names") {
  CHECK(entry("a.example").covers(entry("a.example")));
  CHECK(!entry("a.example").covers(entry("b.a.example")));
  CHECK(!entry("a.example").covers(entry(".a.example")));
  CHECK(entry(".a.example").covers(entry("a.example")));
  CHECK(entry(".a.example").covers(entry("b.a.example")));
  CHECK(entry(".a.example").covers(entry("c.b.a.example")));
  CHECK(entry(".a.example").covers(entry(".a.example")));
  CHECK(entry(".a.example").covers(entry(".b.a.example")));
  CHECK(!entry(".a.example").covers(entry("ba.example")));
  CHECK(!entry(".b.a.example").covers(entry(".a.example")));
}
