#pragma once

#include "guest/flows/family.hpp"
#include "guest/flows/host_connection.hpp"

#include <boost/asio/this_coro.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace paddock::guest {

/// What a request that was stopped says: `dial_failed` or `withdrawn` while no connection had been established, `lost`
/// afterwards, because it may have reached the guest.
[[nodiscard]] failure stopped(woke why, const endpoint& where, const trace& seen);

/// Runs `flow`, which is one request and notes in `seen` what it did, until it ends, `until` passes or the caller is
/// cancelled. The flow has ended when this answers, whatever it answers. The cancellation itself does not throw here; it
/// stays visible to the caller.
template <class T>
boost::asio::awaitable<result<T>> bounded_call(flow_time& time, endpoint where, std::shared_ptr<trace> seen,
                                               boost::asio::awaitable<result<T>> flow, deadline until) {
  const bool throwing = co_await boost::asio::this_coro::throw_if_cancelled();
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  auto got = std::optional<result<T>>{};
  const bool gone = co_await was_withdrawn();
  if (gone) {
    got = tl::unexpected{stopped(woke::withdrawn, where, *seen)};
  } else {
    auto lane = co_await boost::asio::this_coro::executor;
    auto kin = std::make_shared<family>(time, lane);
    auto running = kin->start(std::move(flow));
    const auto why = co_await kin->settle(running, until.at(), true);
    co_await kin->close();
    if (why != woke::over)
      got = tl::unexpected{stopped(why, where, *seen)};
    else if (running->value)
      got = std::move(*running->value);
    else
      got = tl::unexpected{failure{lost{running->thrown().value_or("the request ended without an answer")}}};
  }
  co_await boost::asio::this_coro::throw_if_cancelled(throwing);
  co_return std::move(*got);
}

/// `one_reply` as a bounded call.
boost::asio::awaitable<result<nlohmann::json>> ask(flow_time& time, transport_options with, endpoint where, std::string frame,
                                                   std::uint64_t ceiling, deadline until);

/// Replies that carry no content are small.
inline constexpr std::uint64_t control_ceiling = 1024 * 1024;

} // namespace paddock::guest
