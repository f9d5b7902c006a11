#include "apps/paddock/task_verbs.hpp"

#include "apps/paddock/exit_code.hpp"
#include "apps/paddock/guest_commands.hpp"
#include "apps/paddock/guest_verbs.hpp"
#include "apps/paddock/target.hpp"

#include <array>
#include <csignal>
#include <future>
#include <iostream>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace paddock::cli {

namespace {

/// What the node tells of a task that is held goes to standard error.
task_holder_actor::behavior_type make_holder(format how) {
  return {[how](atom::noted, const task_event& x) { print_problem(std::cerr, how, x.why); }};
}

/// The signals that end programs, as a descriptor. They are blocked.
class ending_signals {
public:
  ending_signals() {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    bell_ = ::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~ending_signals() {
    ::close(bell_);
  }
  ending_signals(const ending_signals&) = delete;
  ending_signals& operator=(const ending_signals&) = delete;
  [[nodiscard]] int bell() const {
    return bell_;
  }
  /// 0: none has come.
  [[nodiscard]] int take() const {
    signalfd_siginfo info{};
    return ::read(bell_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

private:
  int bell_;
};

struct acquired {
  tl::expected<task_actor, problem> task;
  int signal = 0; // came meanwhile; what had been made is given back
};

/// Acquires a task for `holder`. A signal lets go of it, so that the node gives it back, and its answer is then awaited; a second one
/// leaves the process.
acquired acquire(client& by, const task_spec& what, const task_holder_actor& holder) {
  const auto signals = ending_signals{};
  const auto answered = ::eventfd(0, EFD_CLOEXEC);
  auto asked = std::async(std::launch::async, [&] {
    auto got = by.ask<task_actor>(effect::changes, atom::acquire_v, what, holder, by.budget());
    ::eventfd_write(answered, 1);
    return got;
  });
  auto got = acquired{};
  auto ready = std::array<pollfd, 2>{{{answered, POLLIN, 0}, {signals.bell(), POLLIN, 0}}};
  while (::poll(ready.data(), ready.size(), -1) < 0 || (ready[0].revents & POLLIN) == 0) {
    const auto which = signals.take();
    if (which == 0)
      continue;
    if (got.signal != 0)
      ::_exit(128 + which);
    got.signal = which;
    caf::anon_send_exit(holder, caf::exit_reason::user_shutdown);
  }
  got.task = asked.get();
  ::close(answered);
  return got;
}

int run(client& by, const arguments& args) {
  auto holder = task_holder_actor{by.system().spawn(make_holder, args.how())};
  auto got = acquire(by, {args.pool, args.template_name}, holder);
  if (!got.task) {
    print_problem(std::cerr, args.how(), got.task.error());
    return got.signal != 0 ? 128 + got.signal : exec_exit_code(got.task.error());
  }
  auto code = 128 + got.signal;
  if (got.signal == 0)
    code = exec(*make_task_target(by, *got.task), args);
  const auto given_back = by.ask_of<caf::unit_t>(*got.task, effect::changes, atom::remove_v, caf::timespan{std::chrono::seconds{15}});
  if (!given_back)
    print_problem(std::cerr, args.how(), given_back.error());
  return code;
}

int release(client& by, const arguments& args) {
  const auto got = by.ask<released_view>(effect::changes, atom::release_v, args.selector, by.budget());
  if (!got)
    return refuse(args, got.error());
  if (args.how() == format::json)
    std::cout << nlohmann::json{{"deleted", got->deleted}, {"names", got->names}}.dump(2) << '\n';
  else
    for (const auto& x : got->names)
      std::cout << x << '\n';
  return 0;
}

int capacity(client& by, const arguments& args) {
  const auto got = by.ask<capacity_view>(effect::reads, atom::capacity_v, args.pool, by.budget());
  if (!got)
    return refuse(args, got.error());
  if (args.how() == format::json)
    std::cout << nlohmann::json{{"warmPool", {{"ready", got->ready}, {"desired", got->desired}}},
                                {"activeClaims", got->active_claims},
                                {"pendingPods", got->pending_pods}}
                   .dump(2)
              << '\n';
  else
    std::cout << got->ready << " of " << got->desired << " ready, " << got->active_claims << " claimed, " << got->pending_pods
              << " pods pending\n";
  return 0;
}

} // namespace

bool task_verbs::parsed() const {
  return run->parsed() || release->parsed() || capacity->parsed();
}

task_verbs add_task_verbs(CLI::App& on, arguments& args) {
  auto* group = on.add_subcommand("task", "Sandboxes that live as long as one command");
  group->require_subcommand(1);
  task_verbs out;
  out.run = group->add_subcommand("run", "Run a command in a sandbox of its own, and give that back: task run -- CMD ARG...");
  out.run->add_option("--pool", args.pool, "The SandboxWarmPool to take it from (default: the node's, if it has one)");
  out.run->add_option("--template", args.template_name, "The SandboxTemplate to make it from, without a pool (default: the node's)");
  out.run->add_flag("--stdin", args.with_input, "Pass this program's input on");
  add_environment(out.run, args);
  out.run->add_option("--limit", args.limit, "End the command after so long (default 5m)");
  out.run->add_option("CMD", args.command, "After --: the program and its arguments")->required();
  out.release = group->add_subcommand("release", "Delete every claim that a label selector names, whichever host made it");
  out.release->add_option("SELECTOR", args.selector, "KEY=VALUE, as kubectl takes it")->required();
  out.capacity = group->add_subcommand("capacity", "Show how a pool stands");
  out.capacity->add_option("--pool", args.pool, "The SandboxWarmPool (default: the node's)");
  return out;
}

int run_task_verb(const task_verbs& verbs, client& by, const arguments& args) {
  if (verbs.run->parsed())
    return run(by, args);
  return verbs.release->parsed() ? release(by, args) : capacity(by, args);
}

} // namespace paddock::cli
