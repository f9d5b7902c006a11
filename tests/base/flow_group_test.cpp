#define CAF_SUITE flow_group

#include "base/flows/flow_group.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
namespace asio = boost::asio;

namespace {

struct record {
  int begun = 0;
  int ended = 0;
  int cancelled = 0;
};

asio::awaitable<void> quick(record& in) {
  ++in.begun;
  ++in.ended;
  co_return;
}

asio::awaitable<void> forever(record& in) {
  ++in.begun;
  auto lane = co_await asio::this_coro::executor;
  auto bell = asio::steady_timer{lane, asio::steady_timer::time_point::max()};
  auto [ec] = co_await bell.async_wait(asio::as_tuple(asio::use_awaitable));
  if (ec == asio::error::operation_aborted)
    ++in.cancelled;
  // A clean-up that awaits more is still let run to its end.
  auto pause = asio::steady_timer{lane, std::chrono::milliseconds{1}};
  co_await asio::this_coro::reset_cancellation_state();
  co_await pause.async_wait(asio::use_awaitable);
  ++in.ended;
}

asio::awaitable<void> aborted(record& in) {
  ++in.begun;
  auto time = real_flow_time{};
  co_await time.sleep_until(time.now() + std::chrono::hours{1});
  ++in.ended;
}

} // namespace

SCENARIO("closing a group cancels its flows and tells once, after the last has ended") {
  asio::io_context on;
  auto in = record{};
  auto told = 0;
  auto ended_when_told = 0;
  GIVEN("a group with two flows that wait forever") {
    auto group = flow_group{on.get_executor()};
    CHECK_NE(group.start([&in] { return forever(in); }), 0u);
    CHECK(group.start(7, [&in] { return forever(in); }));
    CHECK(!group.start(7, [&in] { return forever(in); }));
    run_until(on, [&] { return in.begun == 2; });
    WHEN("it is closed") {
      group.close([&] {
        ++told;
        ended_when_told = in.ended;
      });
      CHECK_EQ(told, 0);
      THEN("new flows are refused and the end is told when both have ended") {
        CHECK_EQ(group.start([&in] { return quick(in); }), 0u);
        CHECK(!group.start(8, [&in] { return quick(in); }));
        run_until(on, [&] { return told != 0; });
        run_ready(on);
        CHECK_EQ(told, 1);
        CHECK_EQ(ended_when_told, 2);
        CHECK_EQ(in.cancelled, 2);
        CHECK_EQ(in.begun, 2);
      }
    }
  }
}

SCENARIO("a group without flows tells its end at once, but never inside close") {
  asio::io_context on;
  auto group = flow_group{on.get_executor()};
  auto told = 0;
  group.close([&] { ++told; });
  CHECK_EQ(told, 0);
  run_ready(on);
  CHECK_EQ(told, 1);
}

SCENARIO("cancelling one ticket ends that flow only, and an ended ticket is no error") {
  asio::io_context on;
  auto one = record{};
  auto other = record{};
  auto group = flow_group{on.get_executor()};
  REQUIRE(group.start(1, [&one] { return forever(one); }));
  REQUIRE(group.start(2, [&other] { return forever(other); }));
  run_until(on, [&] { return one.begun + other.begun == 2; });
  group.cancel(1);
  run_until(on, [&] { return one.ended == 1; });
  run_ready(on);
  CHECK_EQ(one.cancelled, 1);
  CHECK_EQ(other.cancelled, 0);
  group.cancel(1);
  group.cancel(99);
  run_ready(on);
  CHECK(group.start(1, [&one] { return quick(one); }));
  run_until(on, [&] { return one.ended == 2; });
}

SCENARIO("a flow that was accepted runs even when it is cancelled before its first step") {
  asio::io_context on;
  auto in = record{};
  auto told = false;
  auto group = flow_group{on.get_executor()};
  const auto ticket = group.start([&in] { return aborted(in); });
  group.cancel(ticket);
  group.close([&] { told = true; });
  run_until(on, [&] { return told; });
  CHECK_EQ(in.begun, 1);
  CHECK_EQ(in.ended, 0);
}

SCENARIO("a group that goes cancels what still runs") {
  asio::io_context on;
  auto in = record{};
  {
    auto group = flow_group{on.get_executor()};
    group.start([&in] { return forever(in); });
    run_until(on, [&] { return in.begun == 1; });
  }
  run_until(on, [&] { return in.ended == 1; });
  CHECK_EQ(in.cancelled, 1);
}
