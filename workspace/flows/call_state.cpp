#include "workspace/flows/call_state.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace paddock::workspace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

bool is_cancelled(asio::cancellation_state x) {
  return x.cancelled() != asio::cancellation_type::none;
}

namespace {

/// Between this check and the wait nothing else runs on the strand, so no bell is missed.
asio::awaitable<void> credit_rung(shared_call call) {
  if (call->credit > 0 || call->withdrawn)
    co_return;
  [[maybe_unused]] auto rung = co_await call->credit_bell.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<void> place_rung(shared_call call) {
  if (call->next_place || call->withdrawn)
    co_return;
  [[maybe_unused]] auto rung = co_await call->place_bell.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<void> input_rung(shared_call call) {
  if (!call->given.empty() || call->complete)
    co_return;
  [[maybe_unused]] auto rung = co_await call->input_bell.async_wait(asio::as_tuple(asio::use_awaitable));
}

} // namespace

asio::awaitable<bool> has_credit(shared_call call, flow_time& time, deadline until) {
  for (;;) {
    if (call->credit > 0)
      co_return true;
    const auto state = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(state) || call->withdrawn || until.passed(time))
      co_return false;
    auto either = credit_rung(call) || time.sleep_until(until.at());
    co_await std::move(either);
  }
}

asio::awaitable<bool> has_input(shared_call call, flow_time& time, deadline until) {
  for (;;) {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(state))
      co_return false;
    if (!call->given.empty() || call->complete)
      co_return true;
    if (until.passed(time))
      co_return false;
    auto either = input_rung(call) || time.sleep_until(until.at());
    co_await std::move(either);
  }
}

asio::awaitable<std::optional<guest::endpoint>> another_place(shared_call call, guest::failure why, flow_time& time, deadline until) {
  const auto throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  call->refused(std::move(why));
  auto state = co_await asio::this_coro::cancellation_state;
  while (!call->next_place && !call->withdrawn && !is_cancelled(state) && !until.passed(time)) {
    auto either = place_rung(call) || time.sleep_until(until.at());
    co_await std::move(either);
    state = co_await asio::this_coro::cancellation_state;
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (call->withdrawn || is_cancelled(state) || !call->next_place)
    co_return std::nullopt;
  co_return *call->next_place;
}

namespace {

asio::awaitable<bool> hand_on_all(shared_call call, guest::stream which, std::string bytes, flow_time& time, deadline until) {
  for (auto from = std::size_t{0}; from < bytes.size();) {
    auto may = false;
    if (!call->dropped)
      may = co_await has_credit(call, time, until);
    if (!may) {
      call->dropped = true;
      co_return false;
    }
    const auto size = std::min({call->credit, largest_piece, bytes.size() - from});
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data()) + from;
    call->credit -= size;
    call->begun = true;
    from += size;
    call->output(which, std::vector<std::byte>(first, first + size));
  }
  co_return true;
}

} // namespace

asio::awaitable<bool> hand_on(shared_call call, guest::stream which, std::string bytes, flow_time& time, deadline until) {
  const auto throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto all = co_await hand_on_all(call, which, std::move(bytes), time, until);
  co_await asio::this_coro::throw_if_cancelled(throws);
  co_return all;
}

asio::awaitable<std::string> source::next() {
  const auto there = co_await has_input(call_, time_, until_);
  if (!there)
    throw boost::system::system_error{asio::error::operation_aborted};
  co_return call_->take_input();
}

} // namespace paddock::workspace
