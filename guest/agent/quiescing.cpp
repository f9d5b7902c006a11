#include "guest/agent/quiescing.hpp"

#include "guest/agent/live_program.hpp"
#include "guest/agent/process_table.hpp"
#include "guest/agent/session_table.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <map>
#include <unistd.h>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock; // bounds of real processes are real time
using processes = std::vector<proc_stat>;

constexpr auto poll_interval = 25ms;
constexpr auto first_poll = 2ms; // most processes end at once
constexpr auto slice = 250us;

asio::awaitable<void> rest(clock::time_point until) {
  auto executor = co_await asio::this_coro::executor;
  auto timer = asio::steady_timer{executor};
  timer.expires_at(until);
  [[maybe_unused]] auto [ec] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<processes> those_that_run(processes all) {
  auto left = processes{};
  auto until = clock::now() + slice;
  for (auto& each : all) {
    if (clock::now() >= until) {
      co_await give_way();
      until = clock::now() + slice;
    }
    if (still_runs(each))
      left.push_back(std::move(each));
  }
  co_return left;
}

// Those that outlast `until`; they are looked at once more when it has come.
asio::awaitable<processes> those_that_outlast(std::shared_ptr<agent_core> core, processes left, clock::time_point until) {
  auto pause = clock::duration{first_poll};
  for (;;) {
    auto over = clock::now() >= until;
    left = co_await those_that_run(std::move(left));
    if (left.empty() || over || core->destroyed)
      co_return left;
    auto next = std::min(clock::now() + pause, until);
    co_await rest(next);
    pause = std::min<clock::duration>(pause * 2, poll_interval);
  }
}

quiesce_view view_of(const agent_core& core) {
  return {::getpid(), ::getsid(0), ::getuid(), core.scope};
}

// Sessions of executions whose leader was reaped while others of them were alive, and when.
std::map<pid_t, std::uint64_t> left_sessions(const agent_core& core) {
  auto result = std::map<pid_t, std::uint64_t>{};
  for (const auto& each : core.live)
    if (auto at = each->leader_reaped_at())
      result.emplace(each->leader(), *at);
  return result;
}

// A program that has ended keeps its number for as long as its session is remembered: nothing of it is waited for.
bool settled(const agent_core& core) {
  const auto& programs = core.sessions->programs;
  return std::all_of(core.live.begin(), core.live.end(), [](const auto& x) { return x->severed(); })
         && std::all_of(programs.begin(), programs.end(), [](const auto& x) { return x->has_ended(); });
}

asio::awaitable<void> settle(std::shared_ptr<agent_core> core, clock::time_point until) {
  auto pause = clock::duration{first_poll};
  while (!settled(*core) && !core->destroyed && clock::now() < until) {
    auto next = std::min(clock::now() + pause, until);
    co_await rest(next);
    pause = std::min<clock::duration>(pause * 2, poll_interval);
  }
}

} // namespace

asio::awaitable<tl::expected<processes, std::string>> find_candidates(std::shared_ptr<agent_core> core) {
  auto view = view_of(*core);
  auto filter = process_filter{[core, view](const proc_stat& x) {
    return may_be_stopped(x, view) && (view.scope == quiesce_scope::pid_namespace || core->owned_sessions.contains(x.session));
  }};
  auto seen = co_await scan_processes(std::move(filter));
  if (!seen)
    co_return tl::unexpected{seen.error()};
  auto found = processes{};
  for (auto& each : *seen)
    if (each.real_uid == view.uid)
      found.push_back(std::move(each.stat));
  if (view.scope == quiesce_scope::owned_sessions) {
    auto left = left_sessions(*core);
    owned_sessions_view{core->owned_sessions, left}.keep_proven(found);
  }
  co_return found;
}

asio::awaitable<tl::expected<quiesce_result, std::string>> stop_everything(std::shared_ptr<agent_core> core,
                                                                           std::chrono::milliseconds grace, clock::time_point deadline) {
  auto rounds = quiesce_rounds{deadline, core->config.quiesce_max_rounds};
  for (;;) {
    auto found = co_await find_candidates(core);
    if (core->destroyed)
      co_return tl::unexpected{std::string{"the agent has ended"}};
    if (!found)
      co_return tl::unexpected{found.error()};
    auto next = rounds.scanned(*found, clock::now());
    if (next == quiesce_rounds::step::failed)
      co_return tl::unexpected{rounds.failure()};
    if (next == quiesce_rounds::step::done)
      break;
    // After the scan and before the first signal, so that no execution takes its end for one of its own.
    for (const auto& each : core->live)
      each->mark_quiesced();
    auto left = std::move(*found);
    for (auto [number, name] : {std::pair{SIGTERM, "SIGTERM"}, std::pair{SIGKILL, "SIGKILL"}}) {
      auto until = clock::now() + slice;
      for (const auto& each : left) {
        if (clock::now() >= until) {
          co_await give_way();
          until = clock::now() + slice;
        }
        if (signal_process(each, number) == delivery::sent)
          rounds.delivered(each, name);
      }
      auto patience = std::min(clock::now() + grace, deadline);
      left = co_await those_that_outlast(core, std::move(left), patience);
      if (left.empty())
        break;
    }
    if (rounds.waited(left) == quiesce_rounds::step::failed)
      co_return tl::unexpected{rounds.failure()};
  }
  auto until = std::min(clock::now() + core->config.quiesce_settle, deadline);
  co_await settle(core, until);
  co_return quiesce_result{rounds.rounds(), rounds.stopped()};
}

} // namespace paddock::guest
