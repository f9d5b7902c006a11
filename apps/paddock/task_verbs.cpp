#include "apps/paddock/task_verbs.hpp"

#include "apps/paddock/exit_code.hpp"
#include "apps/paddock/guest_commands.hpp"
#include "apps/paddock/guest_verbs.hpp"
#include "apps/paddock/stream.hpp"

#include <iostream>
#include <optional>
#include <utility>

namespace paddock::cli {

namespace {

struct acquired {
  client::result<client::remote_task> task;
  int signal = 0; // came meanwhile; what had been made is given back
};

/// Acquires a task for `holder`. A signal lets go of it, so that the node gives it back, and its answer is then awaited; a second one
/// leaves the process.
acquired acquire(const client::task_holder& holder, const task_spec& what) {
  auto signals = interrupts{};
  auto got = std::optional<client::result<client::remote_task>>{};
  run_stoppable(
    signals, [&] { got.emplace(holder.acquire(what)); }, [&] { holder.let_go(); });
  return {std::move(*got), signals.seen()};
}

int run(const client::remote_node& by, const arguments& args) {
  // What the node tells of a task that is held goes to standard error.
  const auto holder = by.hold_tasks([how = args.how()](const task_event& x) { print_problem(std::cerr, how, x.why); });
  const auto got = acquire(holder, {args.pool, args.template_name});
  if (!got.task) {
    print_problem(std::cerr, args.how(), got.task.error());
    return got.signal != 0 ? 128 + got.signal : exec_exit_code(got.task.error());
  }
  auto code = 128 + got.signal;
  if (got.signal == 0)
    code = exec(*got.task, args);
  unblock_signals(); // who will not wait leaves the giving back to the node
  const auto given_back = got.task->within(std::chrono::seconds{15}).remove();
  if (!given_back)
    print_problem(std::cerr, args.how(), given_back.error());
  return code;
}

int release(const client::remote_node& by, const arguments& args) {
  const auto got = by.release(args.selector);
  if (!got)
    return refuse(args, got.error());
  if (args.how() == format::json)
    std::cout << nlohmann::json{{"deleted", got->deleted}, {"names", got->names}}.dump(2) << '\n';
  else
    for (const auto& x : got->names)
      std::cout << x << '\n';
  return 0;
}

int capacity(const client::remote_node& by, const arguments& args) {
  const auto got = by.capacity(args.pool);
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

int run_task_verb(const task_verbs& verbs, const client::remote_node& by, const arguments& args) {
  if (verbs.run->parsed())
    return run(by, args);
  return verbs.release->parsed() ? release(by, args) : capacity(by, args);
}

} // namespace paddock::cli
