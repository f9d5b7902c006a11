#include "apps/paddock/guest_commands.hpp"

#include "apps/paddock/file_verbs.hpp"
#include "apps/paddock/guest_target.hpp"
#include "apps/paddock/guest_verbs.hpp"
#include "config/listen.hpp"
#include "messages/error.hpp"

#include <fstream>
#include <iostream>
#include <sstream>

namespace paddock::cli {

namespace {

constexpr std::size_t largest_pin = 64 * 1024;

std::optional<std::string> small_file(const std::string& path) {
  auto in = std::ifstream{path, std::ios::binary};
  auto text = std::string(largest_pin + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.gcount() == 0 || in.gcount() > static_cast<std::streamsize>(largest_pin))
    return std::nullopt;
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

int dispatch(const guest_verbs& verbs, const client::target& at, const arguments& args) {
  if (verbs.exec->parsed())
    return exec(at, args);
  if (verbs.attach->parsed())
    return attach(at, args);
  if (verbs.cancel->parsed())
    return cancel_execution(at, args);
  if (verbs.shell->parsed())
    return shell(at, args);
  if (verbs.sessions->parsed())
    return sessions(at, args);
  if (verbs.forward->parsed())
    return forward(at, args);
  if (verbs.quiesce->parsed())
    return quiesce(at, args);
  return flush(at, args);
}

int print_health(guest_target& guest, const arguments& args) {
  const auto got = guest.look();
  if (!got)
    return refuse(args, got.error());
  if (args.how() == format::json) {
    std::cout << nlohmann::json{{"ok", got->ok},
                                {"retiring", got->retiring},
                                {"protocolVersion", got->protocol_version},
                                {"features", got->features}}
                   .dump(2)
              << '\n';
  } else if (args.how() == format::table) {
    std::cout << (got->ok         ? "ok"
                  : got->retiring ? "retiring: it cannot account for a process, and only a new pod clears that"
                                  : "not ready")
              << '\n';
    for (const auto& x : got->features)
      std::cout << "  " << x << '\n';
  }
  return got->ok ? 0 : 1;
}

} // namespace

void add_environment(CLI::App* verb, arguments& args) {
  verb->add_option("--cwd", args.directory, "Folder below the workspace");
  verb->add_option("--env", args.environment, "KEY=VALUE, as often as needed")
    ->take_all()
    ->allow_extra_args(false); // `--` ends no list here
}

bool guest_verbs::parsed() const {
  for (const auto* verb : {exec, attach, cancel, shell, sessions, forward, quiesce, flush})
    if (verb->parsed())
      return true;
  return false;
}

bool direct_verbs::streams() const {
  return of.streams() || read->parsed() || write->parsed() || ls->parsed() || walk->parsed();
}

bool guest_verbs::streams() const {
  return exec->parsed() || attach->parsed() || shell->parsed() || forward->parsed();
}

guest_verbs add_guest_verbs(CLI::App& on, arguments& args, bool with_id) {
  const auto add = [&](const char* name, const char* text) {
    auto* verb = on.add_subcommand(name, text);
    if (with_id)
      verb->add_option("ID", args.id, "The workspace: 1 to 54 of a-z, 0-9 and -")->required();
    return verb;
  };
  const auto pinnable = [&](CLI::App* verb) {
    if (with_id)
      verb->add_option("--pin", args.pin, "Only in the guest that this file names (what `identity ID -o json` printed)");
    return verb;
  };
  auto out = guest_verbs{};
  out.exec = pinnable(add("exec", "Run a command: exec [ID] -- CMD ARG..."));
  out.exec->add_flag("--stdin", args.with_input, "Pass this program's input on");
  out.exec->add_flag("--tty", args.with_terminal, "Give it a terminal, as `shell` does");
  add_environment(out.exec, args);
  out.exec->add_option("--limit", args.limit, "End the command after so long (default 5m)");
  out.exec->add_flag("--detach", args.detach, "Leave it running and print its execution id; its output is kept in the guest");
  out.exec->add_option("--execution", args.execution, "Run it under this execution id, with its output kept in the guest");
  out.exec->add_option("CMD", args.command, "Program and arguments, after --")->required();
  out.attach = add("attach", "Watch a command that was detached, to its end");
  out.attach->add_option("EXECUTION", args.execution)->required();
  out.attach->add_option("--from", args.from, "From this byte of its output on (default: all that is kept)");
  out.cancel = add("cancel", "End a command that was detached; done once it is confirmed gone");
  out.cancel->add_option("EXECUTION", args.execution)->required();
  out.shell = pinnable(add("shell", "Open a terminal; ~. at the beginning of a line leaves it, ~? has more"));
  out.shell->add_option("--session", args.session, "A terminal that goes on when you leave, under this id");
  out.shell->add_flag("--attach", args.attach, "Take up the --session that is there");
  out.shell->add_option("--from", args.from, "With --attach: from this byte of its output on");
  add_environment(out.shell, args);
  out.shell->add_option("CMD", args.command, "Program and arguments, after -- (default: the guest's shell)");
  out.sessions = add("sessions", "List the terminals and programs that go on by themselves, start or kill one");
  out.sessions->add_option("--kill", args.kill, "Kill this session and all that it started");
  out.sessions->add_option("--signal", args.signal, "With --kill: SIGTERM, SIGKILL (default), SIGINT or SIGHUP");
  out.sessions->add_option("--start", args.start, "Start the command after -- under this id, without a terminal");
  add_environment(out.sessions, args);
  out.sessions->add_option("CMD", args.command, "With --start: program and arguments, after --");
  out.forward = pinnable(add("forward", "Carry a local port to one on the guest's loopback"));
  out.forward->add_option("LOCAL:REMOTE", args.ports, "Two ports; 0 for any local one")->required();
  out.quiesce = pinnable(add("quiesce", "Stop every process of the guest"));
  out.quiesce->add_flag("--only-if-idle", args.only_if_idle, "Stop nothing: refuse when something runs")->disable_flag_override();
  out.quiesce->add_option("--grace", args.grace, "From SIGTERM to SIGKILL (default: the guest's)");
  out.flush = add("flush", "Flush the workspace's file system to its disk");
  out.flush->add_option("--bound", args.bound, "Give up after so long (default: the guest's)");
  return out;
}

void add_walk_options(CLI::App& on, arguments& args) {
  on.add_option("--pattern", args.pattern, "Only paths like this one (default **/*)");
  on.add_option("--max", args.max_entries, "At most so many (default 10000; 0: all, without a pattern, as `find` lists them)");
  on.add_option("--max-visited", args.max_visited, "Give up after looking at so many");
  on.add_option("--depth", args.depth, "At most so deep; direct children have depth 1");
  on.add_flag("--hidden", args.hidden, "Names that begin with a dot too");
}

direct_verbs add_direct_verbs(CLI::App& on, arguments& args) {
  on.require_subcommand(1);
  on.add_option("--address", args.address, "HOST:PORT of the guest, maybe of a port-forward")->required();
  on.add_option("--token-file", args.token_file, "A file with the token that the guest wants (the uid of its pod)");
  on.add_option("--walker", args.walker, "Where the guest finds its own program (default /usr/local/bin/paddock-guest)");
  auto out = direct_verbs{};
  out.of = add_guest_verbs(on, args, false);
  out.health = on.add_subcommand("health", "Ask the guest whether it is well, and what it can do");
  out.read = on.add_subcommand("read", "Print a file, or with -r copy a tree out: read PATH [LOCAL]");
  out.read->add_option("PATH", args.source)->required();
  out.read->add_option("LOCAL", args.destination, "A local path (default: stdout)");
  out.read->add_option("--offset", args.offset, "From this byte on");
  out.read->add_option("--length", args.length, "So many bytes at most");
  out.read->add_flag("-r,--recursive", args.recursive, "A whole tree of regular files");
  out.write = on.add_subcommand("write", "Write a file, or with -r a tree: write PATH [LOCAL]");
  out.write->add_option("PATH", args.destination)->required();
  out.write->add_option("LOCAL", args.source, "A local path (default: stdin)");
  out.write->add_flag("-r,--recursive", args.recursive, "A whole tree of regular files");
  out.ls = on.add_subcommand("ls", "List every regular file below a folder");
  out.ls->add_option("PATH", args.source)->required();
  out.walk = on.add_subcommand("walk", "List the regular files below a folder that a pattern names");
  out.walk->add_option("PATH", args.source)->required();
  add_walk_options(*out.walk, args);
  return out;
}

bool runs_a_command(const guest_verbs& a, const direct_verbs& b) {
  return a.exec->parsed() || b.of.exec->parsed() || a.shell->parsed() || b.of.shell->parsed();
}

bool has_terminal(const guest_verbs& a, const direct_verbs& b, const arguments& args) {
  return a.shell->parsed() || b.of.shell->parsed() || (runs_a_command(a, b) && args.with_terminal);
}

int run_of_node(const guest_verbs& verbs, const client::remote_node& by, const arguments& args) {
  const auto desk = by.workspace(args.id);
  if (!args.pin.empty()) {
    const auto code_of = [&](int code) { return verbs.exec->parsed() || verbs.shell->parsed() ? 125 : code; };
    const auto text = small_file(args.pin);
    if (!text)
      return code_of(misuse(args, "cannot read a pin from " + args.pin));
    auto parsed = parse_pin(*text);
    if (!parsed)
      return code_of(misuse(args, parsed.error()));
    return dispatch(verbs, desk.pinned(std::move(*parsed)), args);
  }
  return dispatch(verbs, desk, args);
}

int run_direct(const direct_verbs& verbs, const arguments& args, caf::timespan budget) {
  const auto code_of = [&](int code) { return verbs.of.exec->parsed() || verbs.of.shell->parsed() ? 125 : code; };
  const auto place = config::parse_listen(args.address);
  if (!place || place->port == 0)
    return code_of(misuse(args, "--address wants HOST:PORT, not \"" + args.address + "\""));
  auto where = guest_place{place->host, place->port, {}, budget, args.walker};
  if (!args.token_file.empty()) {
    auto text = small_file(args.token_file);
    if (!text)
      return code_of(misuse(args, "cannot read a token from " + args.token_file));
    while (!text->empty() && (text->back() == '\n' || text->back() == '\r'))
      text->pop_back();
    where.token = std::move(*text);
  }
  const auto at = make_guest_target(std::move(where));
  if (verbs.of.parsed())
    return dispatch(verbs.of, *at, args);
  if (verbs.health->parsed())
    return print_health(*at, args);
  if (verbs.read->parsed()) {
    const auto part = args.offset || args.length;
    if (part && (args.recursive || !args.destination.empty()))
      return misuse(args, "--offset and --length print a part of one file; they go with no -r and no LOCAL");
    if (args.recursive && args.destination.empty())
      return misuse(args, "a tree needs a LOCAL folder to go to");
    auto how = args;
    if (how.destination.empty())
      how.destination = "-";
    return part ? cat({*at, args.source}, how) : copy_out({*at, args.source}, how);
  }
  if (verbs.write->parsed()) {
    auto how = args;
    if (how.source.empty())
      how.source = "-";
    return copy_in({*at, args.destination}, how);
  }
  auto how = args;
  if (verbs.ls->parsed())
    how.max_entries = 0;
  return ls_files({*at, args.source}, how);
}

} // namespace paddock::cli
