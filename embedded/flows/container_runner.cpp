#include "embedded/flows/container_runner.hpp"

#include "embedded/flows/container_log.hpp"
#include "embedded/flows/fault_of.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/pod_happenings.hpp"
#include "embedded/pod_log.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <map>
#include <signal.h>

namespace paddock::embedded {

namespace {

using namespace std::chrono_literals;
using namespace boost::asio::experimental::awaitable_operators;
using boost::asio::awaitable;
using at = container_state::at;

constexpr auto guest_bound = 60s; // a guest that does not answer by then is started again
constexpr auto steady_run = 10s;  // after such a run the next start waits no longer than the first

} // namespace

container_runner::container_runner(node_context& node, container_request what, container_place where, container_state found,
                                   std::function<void()> changed) :
  node_(node),
  what_(std::move(what)),
  where_(std::move(where)),
  state_(std::move(found)),
  changed_(std::move(changed)),
  wake_(node.lane),
  wait_(100ms, 10s) {
}

void container_runner::end(time_source::clock::time_point until) {
  end_at_ = until;
  wake_.raise();
}

awaitable<void> container_runner::run() {
  while (!end_at_ && state_.now != at::terminated) {
    auto fault = co_await fault_of(run_once());
    if (!fault.empty())
      co_await recover(std::move(fault));
  }
  over_ = true;
  changed_();
}

/// Ends what may run still; the next start is as after any end.
awaitable<void> container_runner::recover(std::string fault) {
  if (runs_) {
    runs_->signal(SIGKILL);
    auto end = co_await runs_->ended();
    ended(end);
  }
  say_fault(fault);
  if (state_.now != at::terminated)
    co_await rest(wait_.next());
}

void container_runner::say_fault(const std::string& fault) {
  if (state_.now != at::terminated) {
    state_.now = at::waiting;
    state_.reason = "RunContainerError";
    state_.message = fault;
  }
  node_.options.log(title() + ": " + fault);
  changed_();
}

std::string container_runner::title() const {
  return "pod " + namespace_of(where_.pod) + "/" + name_of(where_.pod) + ", container " + what_.name;
}

/// One process from its start to the wait before the next.
awaitable<void> container_runner::run_once() {
  auto started = co_await start();
  if (started) {
    auto end = co_await live();
    ended(end);
    changed_();
    if (node_.time().now() - began_ > steady_run)
      wait_.reset();
  }
  if (state_.now != at::terminated)
    co_await rest(wait_.next());
}

/// False: it could not be started; the state says why.
awaitable<bool> container_runner::start() {
  // One of its own for each start: the one before may not be gone yet.
  auto name = uid_of(where_.pod) + "." + what_.name + "." + std::to_string(state_.restarts);
  cgroup_ = node_.cgroups.make(name, what_.cpu_limit, what_.memory_limit);
  auto wanted = request();
  if (cgroup_)
    wanted.cgroup = *cgroup_;
  auto got = process::start(node_.lane, std::move(wanted));
  if (!got) {
    say_fault(got.error());
    co_return false;
  }
  runs_ = std::move(*got);
  began_ = node_.time().now();
  state_.now = at::running;
  state_.began = node_.time().wall();
  state_.reason.clear();
  state_.message.clear();
  auto file = log_file(where_.logs, what_.name, state_.restarts);
  node_.flows.start([this_time = &node_.time(), from = runs_, file] { return until_cancelled(keep_log(*this_time, from, file)); });
  for (const auto& old : old_container_logs(where_.logs / what_.name))
    node_.disks.discard(old);
  changed_();
  co_return true;
}

/// From the start of a process to its end, by itself or by us.
awaitable<process_end> container_runner::live() {
  while (!end_at_) {
    auto any = watch_health() || runs_->ended() || wake_.wait();
    auto first = co_await std::move(any);
    if (first.index() == 1)
      co_return std::get<1>(first);
    if (first.index() == 0) {
      node_.options.log(title() + ": it does not answer its probe; it is started again");
      const auto field = container_field(what_.name, what_.init);
      const auto* probe = state_.started ? "Liveness" : "Startup";
      node_.options.tell(where_.pod, {true, "Unhealthy", std::string{probe} + " probe failed", field});
      node_.options.tell(where_.pod, {false, "Killing", "Container " + what_.name + " failed its probe, will be restarted", field});
      auto killed = co_await end_process(node_.time().now() + grace_of(where_.pod));
      co_return killed;
    }
  }
  auto end = co_await end_process(*end_at_);
  co_return end;
}

/// Keeps `started` and `ready` as the probes say; answers when the container is to be started again.
awaitable<container_runner::verdict> container_runner::watch_health() {
  if (!state_.started) {
    auto held = co_await become_started();
    if (!held)
      co_return verdict::unhealthy;
    say_started();
  }
  auto turn = std::function<void(bool)>{[this](bool ready) {
    state_.ready = ready;
    changed_();
  }};
  if (what_.readiness && what_.liveness) {
    auto both = follow(node_, *what_.readiness, target(), state_.ready, turn) || until_failed(node_, *what_.liveness, target());
    co_await std::move(both);
  } else if (what_.readiness) {
    co_await follow(node_, *what_.readiness, target(), state_.ready, turn);
  } else if (what_.liveness) {
    co_await until_failed(node_, *what_.liveness, target());
  } else {
    co_await node_.time().sleep_until(time_source::clock::time_point::max());
  }
  co_return verdict::unhealthy;
}

/// Whether the startup probe holds; without one, whether a guest without probes of its own answers in time.
awaitable<bool> container_runner::become_started() {
  if (what_.startup) {
    auto held = co_await until_decided(node_, *what_.startup, target());
    co_return held;
  }
  if (what_.guest && !what_.readiness) {
    auto where = guest::endpoint{where_.address, where_.port, {}};
    auto answers = co_await until_guest_answers(node_, where, deadline{node_.time(), guest_bound});
    co_return answers;
  }
  co_return true;
}

void container_runner::say_started() {
  state_.started = true;
  state_.ready = !what_.readiness;
  changed_();
}

void container_runner::ended(const process_end& end) {
  runs_.reset();
  if (cgroup_ && !node_.cgroups.remove(*cgroup_))
    node_.flows.start([&node = node_, which = *cgroup_] { return until_cancelled(remove_cgroup(node, which)); });
  cgroup_.reset();
  state_.started = false;
  state_.ready = false;
  state_.last = end;
  state_.last_began = state_.began;
  state_.last_ended = node_.time().wall();
  auto again = what_.stays || (starts_again(where_.pod, end) && !(what_.init && end == process_end{}));
  if (end_at_ || !again) {
    state_.now = at::terminated;
    return;
  }
  state_.now = at::waiting;
  state_.reason = "CrashLoopBackOff";
  state_.message.clear();
  ++state_.restarts;
}

/// What was killed may take a moment to leave its cgroup.
awaitable<void> container_runner::remove_cgroup(node_context& node, std::filesystem::path which) {
  for (auto tries = 0; tries < 100; ++tries) {
    co_await node.time().sleep_until(node.time().now() + 50ms);
    if (node.cgroups.remove(which))
      co_return;
  }
  node.options.log("the cgroup " + which.string() + " is busy still, and stays until the kubelet ends");
}

/// Until `until`, or sooner when it is to be ended sooner.
awaitable<void> container_runner::grace_over(time_source::clock::time_point until) {
  for (;;) {
    auto at_most = end_at_ ? std::min(until, *end_at_) : until;
    if (node_.time().now() >= at_most)
      co_return;
    co_await wake_.wait_until(at_most);
  }
}

/// The pre-stop hook, TERM, the grace, KILL.
awaitable<process_end> container_runner::end_process(time_source::clock::time_point until) {
  if (!what_.pre_stop.empty() && node_.time().now() < until) {
    // What it answers changes nothing, and its time is the grace's.
    auto hook = run_command(node_, request(), what_.pre_stop, deadline{until}) || runs_->ended() || grace_over(until);
    auto first = co_await std::move(hook);
    if (first.index() == 1)
      co_return std::get<1>(first);
  }
  runs_->signal(SIGTERM);
  auto any = runs_->ended() || grace_over(until);
  auto gone = co_await std::move(any);
  if (gone.index() == 0)
    co_return std::get<0>(gone);
  runs_->signal(SIGKILL);
  auto end = co_await runs_->ended();
  co_return end;
}

/// So long, or until it is to be ended.
awaitable<void> container_runner::rest(time_source::clock::duration how_long) {
  auto until = node_.time().now() + how_long;
  while (!end_at_ && node_.time().now() < until)
    co_await wake_.wait_until(until);
}

process_request container_runner::request() const {
  std::map<std::string, std::string> variables{
    {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
    {"HOME", where_.home.string()},
    {"LANG", "C.UTF-8"},
    {"HOSTNAME", name_of(where_.pod)},
  };
  for (const auto& [name, value] : what_.environment)
    variables[name] = value;
  auto result = process_request{};
  result.directory = what_.directory.empty() ? where_.workspace : std::filesystem::path{what_.directory};
  result.family = node_.options.family;
  if (what_.guest) {
    // Where it listens, for whom, and on which disk is the kubelet's to say.
    variables.erase("NAMZU_AGENT_UNIX_PATH");
    variables.erase("NAMZU_AGENT_VSOCK_PORT");
    variables["NAMZU_AGENT_TCP_PORT"] = std::to_string(where_.port);
    variables["PADDOCK_GUEST_TCP_ADDRESS"] = where_.address;
    variables["NAMZU_AGENT_BIND_TOKEN"] = uid_of(where_.pod);
    variables["NAMZU_SANDBOX_WORKSPACE"] = where_.workspace.string();
    // The guests of one machine share its processes: none may take itself for the only one, also where the kubelet is pid 1.
    variables["NAMZU_AGENT_QUIESCE_SCOPE"] = "owned-sessions";
    result.program = node_.options.guest_program;
  } else {
    result.program = what_.command.front();
    result.arguments.assign(what_.command.begin() + 1, what_.command.end());
  }
  result.environment.assign(variables.begin(), variables.end());
  return result;
}

probe_target container_runner::target() const {
  return {where_.address, request()};
}

} // namespace paddock::embedded
