#define CAF_SUITE heartbeat

#include "guest/heartbeat.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <limits>
#include <optional>

using namespace paddock;
using namespace std::chrono_literals;
using guest::accepted_heartbeat;
using guest::armed_heartbeat;
using guest::heartbeat;
using nlohmann::json;
using verdict = guest::heartbeat::verdict;

namespace {

using interval = std::optional<std::chrono::milliseconds>;

constexpr auto start = time_source::clock::time_point{1000s};

json with(json x) {
  return {{"heartbeatMs", std::move(x)}};
}

} // namespace

// -- negotiation -----------------------------------------------------------------

SCENARIO("a guest accepts a finite number above 0, floored and raised to 100") {
  CHECK(accepted_heartbeat(with(15000)) == interval{15000ms});
  CHECK(accepted_heartbeat(with(15000.9)) == interval{15000ms});
  CHECK(accepted_heartbeat(json::parse(R"({"heartbeatMs":1e3})")) == interval{1000ms});
  CHECK(accepted_heartbeat(with(1)) == interval{100ms});
  CHECK(accepted_heartbeat(with(0.25)) == interval{100ms});
  CHECK(accepted_heartbeat(with(100)) == interval{100ms});
  CHECK(accepted_heartbeat(with(101)) == interval{101ms});
}

SCENARIO("a guest takes everything else for not asked") {
  for (const auto& x : {json(0), json(-1), json(-0.5), json("15000"), json(true), json(nullptr), json::array({1}), json::object(),
                        json(std::numeric_limits<double>::infinity()), json(std::numeric_limits<double>::quiet_NaN())})
    CHECK(!accepted_heartbeat(with(x)));
  CHECK(!accepted_heartbeat(json::object()));
  CHECK(!accepted_heartbeat(json(nullptr)));
  CHECK(!accepted_heartbeat(json::array({json{{"heartbeatMs", 5}}})));
}

SCENARIO("an interval beyond every timer is shortened, not overflown") {
  CHECK(accepted_heartbeat(with(1e300)) == interval{2147483647ms});
  CHECK(accepted_heartbeat(with(std::numeric_limits<std::uint64_t>::max())) == interval{2147483647ms});
  auto beat = heartbeat{2147483647ms, start};
  CHECK(beat.poll(start + 24h) == verdict::nothing);
}

SCENARIO("a host arms only what it asked and the guest echoed") {
  CHECK(armed_heartbeat(15s, with(15000)) == interval{15000ms});
  CHECK(!armed_heartbeat(0ms, with(15000)));
  CHECK(!armed_heartbeat(-1ms, with(15000)));
  CHECK(!armed_heartbeat(15s, json::object()));
  CHECK(!armed_heartbeat(15s, with("15000")));
  CHECK(!armed_heartbeat(15s, with(0)));
  CHECK(!armed_heartbeat(15s, with(-15000)));
}

SCENARIO("a host raises a short echo to 100 and bounds a long one by four times what it asked") {
  CHECK(armed_heartbeat(15s, with(0.5)) == interval{100ms});
  CHECK(armed_heartbeat(15s, with(59999.5)) == interval{59999ms});
  CHECK(armed_heartbeat(15s, with(60000)) == interval{60000ms});
  CHECK(armed_heartbeat(15s, with(86'400'000)) == interval{60000ms});
  CHECK(armed_heartbeat(1ms, with(86'400'000)) == interval{400ms});
  CHECK(armed_heartbeat(std::chrono::milliseconds::max(), with(1000)) == interval{1000ms});
}

// -- the clock -------------------------------------------------------------------

SCENARIO("it is polled every quarter of its interval, and never more often than every 10 ms") {
  CHECK((heartbeat{15s, start}.poll_every() == 3750ms));
  CHECK((heartbeat{101ms, start}.poll_every() == 25ms));
  CHECK((heartbeat{100ms, start}.poll_every() == 25ms));
  CHECK((heartbeat{1ms, start}.interval() == 100ms));
  static_assert(guest::shortest_heartbeat / 4 >= 10ms, "so the bound of 10 ms never bites");
}

SCENARIO("it beats once an interval") {
  auto beat = heartbeat{1s, start};
  auto beats = 0;
  for (auto at = start + 250ms; at <= start + 10s; at += 250ms) {
    beat.heard(at);
    if (beat.poll(at) == verdict::beat)
      ++beats;
  }
  CHECK_EQ(beats, 10);
}

SCENARIO("beats keep their rate when the polls do not divide the interval") {
  auto beat = heartbeat{103ms, start};
  auto beats = 0;
  for (auto at = start; at <= start + 10300ms; at += beat.poll_every()) {
    beat.heard(at);
    if (beat.poll(at) == verdict::beat)
      ++beats;
  }
  CHECK_GE(beats, 99);
  CHECK_LE(beats, 100);
}

SCENARIO("beats that were missed are not made up for") {
  auto beat = heartbeat{1s, start};
  beat.heard(start + 100s);
  CHECK(beat.poll(start + 100s) == verdict::beat);
  CHECK(beat.poll(start + 100s + 999ms) == verdict::nothing);
  CHECK(beat.poll(start + 101s) == verdict::beat);
}

SCENARIO("a peer is dead after three intervals without a byte, and not before") {
  auto beat = heartbeat{1s, start};
  CHECK(beat.poll(start + 2999ms) == verdict::beat);
  CHECK(beat.poll(start + 3s) == verdict::dead);
  CHECK(beat.poll(start + 3s) == verdict::dead);
}

SCENARIO("any byte starts the three intervals anew") {
  auto beat = heartbeat{1s, start};
  beat.heard(start + 2999ms);
  CHECK(beat.poll(start + 5998ms) == verdict::beat);
  CHECK(beat.poll(start + 5999ms) == verdict::dead);
}

SCENARIO("a side that does not read does not judge, and goes on beating") {
  auto beat = heartbeat{1s, start};
  beat.suspend();
  CHECK(beat.suspended());
  CHECK(beat.poll(start + 1s) == verdict::beat);
  CHECK(beat.poll(start + 1h) == verdict::beat);
  beat.resume(start + 1h);
  CHECK(!beat.suspended());
  CHECK(beat.poll(start + 1h + 2999ms) == verdict::beat);
  CHECK(beat.poll(start + 1h + 3s) == verdict::dead);
}

SCENARIO("resuming what was not suspended is no proof of life") {
  auto beat = heartbeat{1s, start};
  beat.resume(start + 2s);
  CHECK(beat.poll(start + 3s) == verdict::dead);
}
