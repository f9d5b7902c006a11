#define CAF_SUITE rules

#include "config/duration.hpp"
#include "config/listen.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::config;
using std::chrono::milliseconds;

SCENARIO("a duration is a whole number with a unit, milliseconds without one") {
  const auto reads = [](std::string_view text) {
    const auto got = parse_duration(text);
    return got ? got->count() : -1;
  };
  CHECK_EQ(reads("0"), 0);
  CHECK_EQ(reads("250"), 250);
  CHECK_EQ(reads("250ms"), 250);
  CHECK_EQ(reads("30s"), 30'000);
  CHECK_EQ(reads("1m"), 60'000);
  CHECK_EQ(reads("2h"), 7'200'000);
  CHECK_EQ(reads("9007199254740991"), 9'007'199'254'740'991);
}

SCENARIO("what is not a duration is refused") {
  for (const auto* text : {"", "s", "-1", "+1", "1.5s", "1 s", " 1s", "1s ", "01s", "1S", "1m30s", "1d", "0x10", "1e3", "9007199254740992",
                           "9007199254741s", "99999999999999999999", "ms"}) {
    MESSAGE(text);
    CHECK(!parse_duration(text));
  }
}

SCENARIO("a duration is written in its largest whole unit and reads back") {
  CHECK_EQ(write_duration(milliseconds{0}), "0ms");
  CHECK_EQ(write_duration(milliseconds{250}), "250ms");
  CHECK_EQ(write_duration(milliseconds{90'000}), "90s");
  CHECK_EQ(write_duration(milliseconds{60'000}), "1m");
  CHECK_EQ(write_duration(milliseconds{7'200'000}), "2h");
  for (const auto x : {0, 1, 999, 1000, 1001, 59'999, 60'000, 61'000, 3'600'000, 3'601'000})
    CHECK_EQ(parse_duration(write_duration(milliseconds{x}))->count(), x);
}

SCENARIO("a whole number has no sign and no needless zero and fits 53 bits") {
  CHECK_EQ(parse_whole("0").value_or(1), 0u);
  CHECK_EQ(parse_whole("9007199254740991").value_or(1), 9'007'199'254'740'991u);
  for (const auto* text : {"", "00", "-1", "+1", "1.0", "9007199254740992", "1 "})
    CHECK(!parse_whole(text));
}

SCENARIO("an address is a host and a port") {
  CHECK_EQ(write_listen(*parse_listen("127.0.0.1:7330")), "127.0.0.1:7330");
  CHECK_EQ(parse_listen("localhost:0")->port, 0);
  CHECK_EQ(parse_listen("[::1]:65535")->host, "::1");
  CHECK_EQ(write_listen(*parse_listen("[::1]:65535")), "[::1]:65535");
  for (const auto* text : {"", ":1", "a", "a:", "a:x", "a:65536", "a:-1", "a:01", "::1:80", "[::1]", "[]:1", "[a]:1", "[::1:80", "a b:1",
                           "http://a:1", "-a:1"}) {
    MESSAGE(text);
    CHECK(!parse_listen(text));
  }
}
