#define CAF_SUITE time

#include "base/time.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using wall = time_source::wall_clock::time_point;

namespace {

/// Seconds since 1970; nothing is -1.
std::int64_t read(std::string_view text) {
  const auto got = read_instant(text);
  return got ? std::chrono::floor<std::chrono::seconds>(got->time_since_epoch()).count() : -1;
}

} // namespace

SCENARIO("an instant is read with any offset, and without the fraction of its second") {
  CHECK_EQ(read("2026-01-02T03:04:05Z"), 1767323045);
  CHECK_EQ(read("2026-01-02T03:04:05.999999Z"), 1767323045);
  CHECK_EQ(read("2026-01-02T05:34:05+02:30"), 1767323045);
  CHECK_EQ(read("2026-01-01T21:04:05.5-06:00"), 1767323045);
  CHECK_EQ(read("2024-02-29T00:00:00Z"), 1709164800);
  CHECK_EQ(read("2016-12-31T23:59:60Z"), 1483228800);
  CHECK(read_instant(rfc3339_seconds(wall{std::chrono::hours{500'000}})) == wall{std::chrono::hours{500'000}});
  CHECK(read_instant(rfc3339_millis(wall{std::chrono::milliseconds{1'767'323'045'678}})) == wall{std::chrono::seconds{1'767'323'045}});
}

SCENARIO("what is not wholly an instant is none") {
  for (const auto* text : {"",
                           "-1",
                           "now",
                           "2026-01-02",
                           "2026-01-02T03:04Z",
                           "2026-01-02T03:04:05",
                           "2026-1-02T03:04:05Z",
                           "2026-13-02T03:04:05Z",
                           "2026-00-02T03:04:05Z",
                           "2026-02-30T03:04:05Z",
                           "2025-02-29T03:04:05Z",
                           "2026-01-00T03:04:05Z",
                           "2026-01-02T24:00:00Z",
                           "2026-01-02T03:60:05Z",
                           "2026-01-02T03:04:61Z",
                           "2026-01-02T03:04:05.Z",
                           "2026-01-02T03:04:05,5Z",
                           "2026-01-02T03:04:05z",
                           "2026-01-02t03:04:05Z",
                           "2026-01-02 03:04:05Z",
                           "2026-01-02T03:04:05ZZ",
                           "2026-01-02T03:04:05Z ",
                           " 2026-01-02T03:04:05Z",
                           "2026-01-02T03:04:05+0200",
                           "2026-01-02T03:04:05+24:00",
                           "2026-01-02T03:04:05+02:60",
                           "2026-01-02T03:04:05+2:30",
                           "2026-01-02T03:04:05+02:30Z",
                           "2026-01-02T03:04:05.5",
                           "2026-01-02T03:04:05what is thisZ",
                           "2026-01-02T-3:04:05Z",
                           "2026-01-02T+3:04:05Z",
                           "20260102T030405Z",
                           "+026-01-02T03:04:05Z"})
    CHECK_EQ(read(text), -1);
}

SCENARIO("an instant that the clock cannot tell is the nearest that it can") {
  const auto last = std::chrono::floor<std::chrono::seconds>(wall::max().time_since_epoch()).count();
  CHECK_EQ(read("2262-01-01T00:00:00Z"), 9'214'646'400);
  CHECK_EQ(read("2262-12-31T00:00:00Z"), last);
  CHECK_EQ(read("9999-12-31T23:59:59Z"), last);
  CHECK_EQ(read("9999-12-31T23:59:59-23:59"), last);
  CHECK_EQ(read("1969-12-31T23:59:59Z"), 0);
  CHECK_EQ(read("0000-01-01T00:00:00+23:59"), 0);
  // The time between two of them is a duration.
  CHECK(*read_instant("9999-12-31T23:59:59Z") - *read_instant("0001-01-01T00:00:00Z") > std::chrono::hours{24 * 365 * 292});
}
