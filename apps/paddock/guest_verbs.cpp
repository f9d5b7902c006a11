#include "apps/paddock/guest_verbs.hpp"

#include "apps/paddock/exit_code.hpp"
#include "apps/paddock/forward.hpp"
#include "apps/paddock/print_guest.hpp"
#include "apps/paddock/shell.hpp"
#include "apps/paddock/stream.hpp"
#include "guest/execution_registry.hpp"
#include "messages/error.hpp"

#include <csignal>
#include <iostream>
#include <unistd.h>

namespace paddock::cli {

namespace {

/// What a command's end says beside its exit code.
void remark(const arguments& args, const call_end& done) {
  const auto say = [&](const char* reason, const char* text) {
    print_problem(std::cerr, args.how(), make_problem(verdict::failed, reason, text));
  };
  if (done.timed_out)
    say("TimedOut", "the command ran out of its time and was ended");
  if (done.dropped_bytes > 0)
    print_problem(std::cerr, args.how(),
                  make_problem(verdict::failed, "OutputGap", std::to_string(done.dropped_bytes) + " bytes of the output are gone"));
  else if (done.out_truncated || done.err_truncated)
    say("OutputTruncated", "the guest cut the output");
  if (done.lossy)
    say("OutputLossy", "this guest sends text only: bytes that are not UTF-8 arrived as U+FFFD");
}

int end_of_command(const arguments& args, const stream_end& end) {
  if (const auto* why = std::get_if<problem>(&end.how)) {
    // Whoever closed the output knows why not all of it came.
    if (!end.output_closed || why->how == verdict::unknown)
      print_problem(std::cerr, args.how(), *why);
    return end.signal != 0 ? 128 + end.signal : end.output_closed ? 128 + SIGPIPE : exec_exit_code(*why);
  }
  const auto& done = std::get<call_end>(end.how);
  remark(args, done);
  if (end.signal != 0)
    return 128 + end.signal;
  return end.output_closed ? 128 + SIGPIPE : exit_code(done);
}

/// Starts it and leaves it. What it has said already is kept in the guest, as all that it will say; how it ended, should it have, is for
/// an attach to tell.
int run_and_leave(const client::target& at, const arguments& args, run_spec what) {
  const auto end = run_interruptible(at, std::move(what), {-1, -1, -1});
  if (const auto* why = std::get_if<problem>(&end.how)) {
    print_problem(std::cerr, args.how(), *why);
    return end.signal != 0 ? 128 + end.signal : exec_exit_code(*why);
  }
  const auto& done = std::get<call_end>(end.how);
  if (args.how() == format::json)
    std::cout << to_json(done).dump(2) << '\n';
  else
    std::cout << done.execution << '\n';
  return 0;
}

std::string no_execution_id(const std::string& text) {
  return "an execution id is exec_ and a UUID, not \"" + text + "\"";
}

sigset_t ending_signals() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGINT);
  sigaddset(&out, SIGTERM);
  return out;
}

int misused(const arguments& args, const std::string& text) {
  misuse(args, text);
  return 125;
}

} // namespace

void block_signals(bool terminal) {
  auto ending = ending_signals();
  if (terminal)
    for (const auto number : {SIGHUP, SIGWINCH, SIGCONT})
      sigaddset(&ending, number);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
}

void unblock_signals() {
  const auto ending = ending_signals();
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
}

int exec(const client::target& at, const arguments& args) {
  if (args.with_terminal && (args.detach || !args.execution.empty() || !args.limit.empty()))
    return misused(args, "a command with a terminal takes no --detach, --execution or --limit");
  if (args.with_terminal)
    return shell(at, args);
  if (!args.execution.empty() && !guest::is_execution_id(args.execution))
    return misused(args, no_execution_id(args.execution));
  run_spec what;
  what.program = args.command.front();
  what.arguments.assign(args.command.begin() + 1, args.command.end());
  if (!args.directory.empty())
    what.directory = args.directory;
  auto environment = environment_of(args.environment);
  if (!environment)
    return misused(args, environment.error());
  what.environment = std::move(*environment);
  if (!args.limit.empty()) {
    const auto limit = duration_of("--limit", args.limit);
    if (!limit)
      return misused(args, limit.error());
    what.limit = *limit;
  }
  what.with_input = args.with_input;
  what.detach = args.detach || !args.execution.empty();
  what.leave = args.detach;
  what.execution = args.execution;
  if (what.detach && what.with_input)
    return misused(args, "a detached command takes no input: nobody would be there to give it");
  if (what.leave)
    return run_and_leave(at, args, std::move(what));
  const auto end = run_interruptible(at, std::move(what), {args.with_input ? STDIN_FILENO : -1, STDOUT_FILENO, STDERR_FILENO});
  return end_of_command(args, end);
}

int attach(const client::target& at, const arguments& args) {
  if (!guest::is_execution_id(args.execution))
    return misuse(args, no_execution_id(args.execution));
  const auto end = run_interruptible(at, attach_spec{args.execution, args.from}, {-1, STDOUT_FILENO, STDERR_FILENO});
  if (const auto* why = std::get_if<problem>(&end.how); why != nullptr && end.signal == 0 && !end.output_closed)
    return refuse(args, *why); // no command of ours: its exit codes are those of the client
  return end_of_command(args, end);
}

int cancel_execution(const client::target& at, const arguments& args) {
  if (!guest::is_execution_id(args.execution))
    return misuse(args, no_execution_id(args.execution));
  const auto got = at.cancel_execution(args.execution);
  if (!got)
    return refuse(args, got.error());
  if (args.how() == format::json)
    std::cout << nlohmann::json{{"executionId", args.execution}, {"ended", true}}.dump(2) << '\n';
  else
    std::cout << (args.how() == format::name ? args.execution : "ended") << '\n';
  return 0;
}

int shell(const client::target& at, const arguments& args) {
  shell_spec what;
  if (!args.command.empty()) {
    what.program = args.command.front();
    what.arguments.assign(args.command.begin() + 1, args.command.end());
  }
  if (!args.directory.empty())
    what.directory = args.directory;
  auto environment = environment_of(args.environment);
  if (!environment)
    return misused(args, environment.error());
  what.environment = std::move(*environment);
  if (const auto* term = std::getenv("TERM"); term != nullptr && *term != '\0' && !what.environment.contains("TERM"))
    what.environment["TERM"] = term;
  what.session = args.session;
  what.attach = args.attach;
  what.from = args.from;
  if (what.attach && what.session.empty())
    return misused(args, "--attach wants the --session to take up");
  if (what.from != 0 && !what.attach)
    return misused(args, "--from is for --attach");
  const auto end = run_shell(at, std::move(what));
  const auto* why = std::get_if<problem>(&end.how);
  const auto lives = why != nullptr && why->reason == "AgentSessionDetached";
  if (lives && (end.left || end.signal != 0)) {
    const auto details = nlohmann::json::parse(why->details, nullptr, false);
    const auto at_byte = details.is_object() ? details.value("nextOffset", end.next_offset) : end.next_offset;
    std::cerr << "left session " << args.session << "; take it up with --session " << args.session << " --attach --from " << at_byte
              << '\n';
    return end.signal != 0 ? 128 + end.signal : 0;
  }
  if (why != nullptr) {
    print_problem(std::cerr, args.how(), *why);
    return end.signal != 0 ? 128 + end.signal : exec_exit_code(*why);
  }
  if (end.signal != 0)
    return 128 + end.signal;
  const auto& done = std::get<call_end>(end.how);
  // Left, or the connection was lost: how the program ended is not known.
  return end.left || (done.exit_code == -1 && !done.signal) ? 128 + SIGHUP : exit_code(done);
}

int sessions(const client::target& at, const arguments& args) {
  if (!args.command.empty() && args.start.empty())
    return misuse(args, "a command wants --start with an id for it");
  if (!args.signal.empty() && args.kill.empty())
    return misuse(args, "--signal is for --kill");
  if (!args.kill.empty() && !args.start.empty())
    return misuse(args, "--kill and --start are two requests");
  if (!args.kill.empty()) {
    const auto got = at.kill_session(args.kill, args.signal);
    if (!got)
      return refuse(args, got.error());
    print_session(std::cout, args.how(), *got);
    return got->state == "running" ? 1 : 0; // it outlived the signal
  }
  if (!args.start.empty()) {
    if (args.command.empty())
      return misuse(args, "--start wants a command after --");
    auto what = session_start_question{};
    what.session = args.start;
    what.program = args.command.front();
    what.arguments.assign(args.command.begin() + 1, args.command.end());
    if (!args.directory.empty())
      what.directory = args.directory;
    auto environment = environment_of(args.environment);
    if (!environment)
      return misuse(args, environment.error());
    what.environment = std::move(*environment);
    const auto got = at.start_session(std::move(what));
    if (!got)
      return refuse(args, got.error());
    print_session(std::cout, args.how(), *got);
    return 0;
  }
  const auto got = at.sessions();
  if (!got)
    return refuse(args, got.error());
  print_sessions(std::cout, args.how(), *got);
  return 0;
}

int quiesce(const client::target& at, const arguments& args) {
  auto what = quiesce_question{};
  what.only_if_idle = args.only_if_idle;
  if (!args.grace.empty()) {
    const auto grace = duration_of("--grace", args.grace);
    if (!grace)
      return misuse(args, grace.error());
    what.grace = *grace;
  }
  const auto got = at.quiesce(what);
  if (!got)
    return refuse(args, got.error());
  print_quiesce(std::cout, args.how(), *got);
  return 0;
}

int flush(const client::target& at, const arguments& args) {
  auto what = flush_question{};
  if (!args.bound.empty()) {
    const auto bound = duration_of("--bound", args.bound);
    if (!bound)
      return misuse(args, bound.error());
    what.bound = *bound;
  }
  const auto got = at.flush(what);
  if (!got)
    return refuse(args, got.error());
  print_flush(std::cout, args.how(), *got);
  return 0;
}

int forward(const client::target& at, const arguments& args) {
  const auto ports = parse_forward(args.ports);
  if (!ports)
    return misuse(args, "LOCAL:REMOTE are two ports, the local one on loopback and 0 for any, not \"" + args.ports + "\"");
  return run_forward(at, args, *ports);
}

} // namespace paddock::cli
