#include "guest/agent/session_scanner.hpp"

#include "guest/agent/process_table.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <unistd.h>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

using clock = std::chrono::steady_clock;

constexpr auto slice = std::chrono::microseconds{500};

} // namespace

asio::awaitable<std::optional<std::vector<proc_stat>>> session_scanner::members_of(pid_t session) {
  auto self = shared_from_this();
  auto asked = std::make_shared<question>(io_, session);
  waiting_.push_back(asked);
  if (!std::exchange(running_, true))
    asio::co_spawn(io_, run(), asio::detached);
  while (!asked->done)
    [[maybe_unused]] auto [ec] = co_await asked->answered.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return std::move(asked->found);
}

asio::awaitable<void> session_scanner::run() {
  auto self = shared_from_this();
  co_await give_way();
  while (!waiting_.empty()) {
    auto batch = std::exchange(waiting_, {});
    co_await scan(batch);
    for (const auto& each : batch) {
      each->done = true;
      each->answered.cancel();
    }
  }
  running_ = false;
}

asio::awaitable<void> session_scanner::scan(questions all) {
  auto numbers = process_numbers{};
  auto until = clock::now() + slice;
  while (auto pid = numbers.next()) {
    if (clock::now() >= until) {
      co_await give_way();
      until = clock::now() + slice;
    }
    // Only of those that were asked for is it worth reading more.
    auto session = ::getsid(pid);
    auto wanted = [session](const auto& x) { return x->session == session; };
    if (session <= 0 || std::none_of(all.begin(), all.end(), wanted))
      continue;
    auto now = process_now(pid);
    if (now ? !*now || (*now)->session != session || (*now)->over() : hidden(now.error()))
      continue;
    for (const auto& each : all) {
      if (!wanted(each))
        continue;
      if (!now)
        each->found = std::nullopt;
      else if (each->found)
        each->found->push_back(**now);
    }
  }
  if (numbers.error() != 0)
    for (const auto& each : all)
      each->found = std::nullopt;
}

} // namespace paddock::guest
