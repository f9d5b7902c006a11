#include "workspace/flows/open_terminals.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <set>
#include <utility>
#include <vector>

namespace paddock::workspace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

namespace {

/// Until a call is withdrawn whose terminal was asked to end.
constexpr auto patience = std::chrono::milliseconds{2'000};

bool same_guest(const guest::endpoint& a, const guest::endpoint& b) {
  return a.host == b.host && a.port == b.port && a.token == b.token;
}

asio::awaitable<void> rung(asio::steady_timer& bell) {
  [[maybe_unused]] auto woken = co_await bell.async_wait(asio::as_tuple(asio::use_awaitable));
}

} // namespace

open_terminals::open_terminals(asio::any_io_executor lane) : bell_(std::move(lane), asio::steady_timer::time_point::max()) {
}

std::shared_ptr<void> open_terminals::enter(terminal x) {
  const auto key = ++entered_;
  open_.emplace(key, std::move(x));
  return {nullptr, [this, key](std::nullptr_t) {
            open_.erase(key);
            bell_.cancel();
          }};
}

void open_terminals::release(const guest::endpoint& where) {
  for (const auto& [key, each] : open_)
    if (same_guest(each.where, where))
      each.end();
}

asio::awaitable<void> open_terminals::reap(guest::endpoint where, flow_time& time, deadline until) {
  const auto patient = until.no_later_than(time.now() + patience);
  auto told = std::set<std::uint64_t>{};
  auto withdrawn = false;
  for (;;) {
    auto left = std::vector<std::pair<std::uint64_t, terminal>>{};
    for (const auto& each : open_)
      if (same_guest(each.second.where, where))
        left.push_back(each);
    const auto state = co_await asio::this_coro::cancellation_state;
    if (left.empty() || until.passed(time) || state.cancelled() != asio::cancellation_type::none)
      co_return;
    for (const auto& [key, each] : left)
      if (told.insert(key).second)
        each.end();
    if (!withdrawn && patient.passed(time)) {
      withdrawn = true;
      for (const auto& each : left)
        each.second.withdraw();
    }
    // Between the look and the wait nothing else runs on the strand, so no bell is missed.
    auto either = rung(bell_) || time.sleep_until(withdrawn ? until.at() : patient.at());
    co_await std::move(either);
  }
}

} // namespace paddock::workspace
