#include "guest/agent/session_signals.hpp"

#include "guest/agent/process.hpp"
#include "guest/agent/process_table.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <unistd.h>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

constexpr auto slice = std::chrono::microseconds{500};

bool may_be_signalled(const proc_stat& x) {
  return x.pid > 1 && x.pid != ::getpid() && !x.over();
}

} // namespace

asio::awaitable<session_signalling> signal_session(std::shared_ptr<session_scanner> table, pid_t leader, int number) {
  auto result = session_signalling{};
  if (leader <= 1 || leader == ::getsid(0))
    co_return result;
  auto found = co_await table->members_of(leader);
  auto reached_leader = false;
  if (found) {
    result.all_over = std::none_of(found->begin(), found->end(), [leader](const proc_stat& x) { return x.pid != leader; });
    auto until = std::chrono::steady_clock::now() + slice;
    for (const auto& each : *found) {
      if (std::chrono::steady_clock::now() >= until) {
        co_await give_way();
        until = std::chrono::steady_clock::now() + slice;
      }
      if (each.pid == leader)
        reached_leader = true; // with its group
      else if (may_be_signalled(each) && signal_process(each, number) == delivery::sent)
        ++result.members;
    }
  }
  if (::kill(-leader, number) == 0 && !found)
    reached_leader = true;
  result.signalled = result.members + (reached_leader ? 1 : 0);
  co_return result;
}

asio::awaitable<std::size_t> count_members(std::shared_ptr<session_scanner> table, pid_t leader) {
  auto found = co_await table->members_of(leader);
  if (!found)
    co_return std::size_t{1};
  co_return static_cast<std::size_t>(std::count_if(found->begin(), found->end(), [leader](const proc_stat& x) { return x.pid != leader; }));
}

void kill_sessions_now(const std::set<pid_t>& leaders) {
  if (leaders.empty())
    return;
  auto own = asio::io_context{1};
  scan_processes(
    own, [&](const proc_stat& x) { return leaders.contains(x.session) && !leaders.contains(x.pid) && may_be_signalled(x); },
    [&](const process_scan& found) {
      if (found)
        for (const auto& each : *found)
          [[maybe_unused]] auto sent = signal_process(each.stat, SIGKILL);
    });
  own.run();
  for (auto each : leaders)
    ::kill(-each, SIGKILL);
  for (auto each : leaders)
    reap(each);
}

} // namespace paddock::guest
