// paddock: the command-line client. Reads the arguments, asks the node, prints the answer.

#include "apps/common/version.hpp"
#include "apps/paddock/audit_verbs.hpp"
#include "apps/paddock/completion.hpp"
#include "apps/paddock/event_verbs.hpp"
#include "apps/paddock/exit_code.hpp"
#include "apps/paddock/file_verbs.hpp"
#include "apps/paddock/guest_commands.hpp"
#include "apps/paddock/guest_verbs.hpp"
#include "apps/paddock/inventory.hpp"
#include "apps/paddock/policy_verbs.hpp"
#include "apps/paddock/print.hpp"
#include "apps/paddock/task_verbs.hpp"
#include "base/random.hpp"
#include "base/stdio.hpp"
#include "client/node.hpp"
#include "config/duration.hpp"
#include "config/listen.hpp"
#include "messages/error.hpp"

#include <CLI/CLI.hpp>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace paddock;
using namespace paddock::cli;

/// Says on a terminal, and nowhere else, that something is being waited for.
class progress {
public:
  explicit progress(std::string text) {
    if (::isatty(STDERR_FILENO) == 0)
      return;
    thread_ = std::thread{[this, text = std::move(text)] {
      std::unique_lock hold{lock_};
      for (auto seconds = 0; !bell_.wait_for(hold, std::chrono::seconds{1}, [this] { return over_; });)
        std::cerr << "\r\x1b[K" << text << " " << ++seconds << "s" << std::flush;
      std::cerr << "\r\x1b[K" << std::flush;
    }};
  }
  ~progress() {
    if (!thread_.joinable())
      return;
    {
      const std::lock_guard hold{lock_};
      over_ = true;
    }
    bell_.notify_one();
    thread_.join();
  }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

private:
  std::mutex lock_;
  std::condition_variable bell_;
  bool over_ = false;
  std::thread thread_;
};

/// `ID:PATH` of the words, or the exit code of a misuse.
tl::expected<std::pair<std::string, std::string>, int> place_of(const arguments& args, const char* verb, const std::string& text) {
  auto got = remote_path(text);
  if (!got)
    return tl::unexpected{misuse(args, std::string{verb} + " wants ID:PATH, not \"" + text + "\"")};
  return std::move(*got);
}

int cat_of_node(const client::remote_node& by, const arguments& args) {
  const auto from = place_of(args, "cat", args.source);
  if (!from)
    return from.error();
  const auto at = by.workspace(from->first);
  return cat({at, from->second}, args);
}

int ls_files_of_node(const client::remote_node& by, const arguments& args) {
  const auto from = place_of(args, "ls-files", args.source);
  if (!from)
    return from.error();
  const auto at = by.workspace(from->first);
  return ls_files({at, from->second}, args);
}

int cp(const client::remote_node& by, const arguments& args) {
  const auto from = remote_path(args.source);
  const auto to = remote_path(args.destination);
  if (from.has_value() == to.has_value())
    return misuse(args, "cp wants one local path and one ID:PATH");
  const auto at = by.workspace(from ? from->first : to->first);
  return from ? copy_out({at, from->second}, args) : copy_in({at, to->second}, args);
}

int open_or_resume(const client::remote_node& by, const arguments& args, bool resume) {
  open_spec what{args.template_name, args.refresh_template, args.expect_uid, {}};
  auto claims = pairs_of("--expect-claim", "NAME=UID", args.expect_claims);
  if (!claims)
    return misuse(args, claims.error());
  what.expect_claims = std::move(*claims);
  auto waiting = std::make_optional<progress>("waiting for the pod of " + args.id);
  const auto desk = by.workspace(args.id);
  const auto got = resume ? desk.resume(std::move(what)) : desk.open(std::move(what));
  waiting.reset();
  if (!got)
    return refuse(args, got.error());
  print_opened(std::cout, args.how(), *got);
  return 0;
}

int suspend(const client::remote_node& by, const arguments& args) {
  suspend_spec what{!args.no_flush && !args.by_id, args.with_quiesce, {}};
  what.by_id = args.by_id;
  what.expect_uid = args.expect_uid;
  if (!args.grace.empty()) {
    const auto grace = duration_of("--grace", args.grace);
    if (!grace)
      return misuse(args, grace.error());
    what.grace = *grace;
  }
  const auto desk = by.workspace(args.id);
  if (args.only_if_idle && args.by_id)
    return misuse(args, "--by-id asks no guest, so nobody knows whether it is idle");
  if (args.only_if_idle) {
    const auto idle = desk.quiesce({std::nullopt, true});
    if (!idle)
      return refuse(args, idle.error());
  }
  auto waiting = std::make_optional<progress>("waiting until the pod of " + args.id + " is gone");
  const auto got = desk.suspend(what);
  waiting.reset();
  if (!got)
    return refuse(args, got.error());
  if (args.how() == format::table)
    std::cout << "suspended\n";
  else
    print(std::cout, args.how(), *got);
  return 0;
}

/// Asks whoever sits at a terminal. Who cannot be asked has said all there is to say.
bool confirmed(const arguments& args) {
  if (args.yes || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0)
    return true;
  std::cerr << "delete the workspace " << args.id << ", its disk and everything on it? [y/N] " << std::flush;
  auto said = std::string{};
  std::getline(std::cin, said);
  return said == "y" || said == "yes";
}

int remove(const client::remote_node& by, const arguments& args) {
  if (!args.delete_disk)
    return misuse(args, "rm deletes the disk of the workspace and everything on it; say so with --delete-disk");
  if (!confirmed(args))
    return refuse(args, make_problem(verdict::refused, "NotConfirmed", "nothing was deleted"));
  const auto got = by.workspace(args.id).remove({args.expect_uid});
  if (!got)
    return refuse(args, got.error());
  switch (args.how()) {
    case format::json: std::cout << nlohmann::json{{"workspace", args.id}, {"deleted", true}}.dump(2) << '\n'; break;
    case format::name: std::cout << args.id << '\n'; break;
    case format::table: std::cout << "deleted\n"; break;
  }
  return 0;
}

int reset_epoch(const client::remote_node& by, const arguments& args) {
  const auto got = by.workspace(args.id).reset_epoch({args.stored_epoch, args.sandbox_uid});
  if (!got)
    return refuse(args, got.error());
  if (args.how() == format::table)
    std::cout << "replaced\n";
  else
    print(std::cout, args.how(), *got);
  return 0;
}

int get(const client::remote_node& by, const arguments& args, bool identity) {
  const auto got = by.workspace(args.id).get();
  if (!got)
    return refuse(args, got.error());
  identity ? print_identity(std::cout, args.how(), *got) : print(std::cout, args.how(), *got);
  return 0;
}

int refresh(const client::remote_node& by, const arguments& args) {
  const auto got = by.workspace(args.id).refresh();
  if (!got)
    return refuse(args, got.error());
  if (args.how() == format::table)
    std::cout << got->state << '\n';
  else
    print(std::cout, args.how(), *got);
  return 0;
}

int list(const client::remote_node& by, const arguments& args, const std::string& place) {
  const auto got = by.list();
  if (!got)
    return refuse(args, got.error());
  print_inventory(std::cout, args.how(), *got, place, time_source::wall_clock::now());
  return 0;
}

int complete(const arguments& args, const CLI::App& app) {
  std::vector<verb_words> verbs;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    verb_words words{verb->get_name(), {}};
    std::vector<const CLI::App*> lists{&app, verb};
    for (const auto* below : verb->get_subcommands([](const CLI::App*) { return true; })) {
      words.options.push_back(below->get_name());
      lists.push_back(below);
    }
    for (const auto* list : lists)
      for (const auto* option : list->get_options())
        for (const auto& name : option->get_lnames())
          words.options.push_back("--" + name);
    std::ranges::sort(words.options);
    words.options.erase(std::ranges::unique(words.options).begin(), words.options.end());
    verbs.push_back(std::move(words));
  }
  const auto script = completion(args.shell, verbs);
  if (!script)
    return misuse(args, "completion knows bash, zsh and fish, not \"" + args.shell + "\"");
  std::cout << *script;
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  hold_standard_descriptors();
  arguments args;
  CLI::App app{"The client of a Paddock node.", "paddock"};
  app.fallthrough();
  app.require_subcommand(1);
  app.set_version_flag("--version", version);
  app.add_option("--node", args.node, "The node, HOST:PORT (default: $PADDOCK_NODE, else 127.0.0.1:7330)");
  app.add_option("-o,--output", args.output, "table, json or name")->check(CLI::IsMember({"table", "json", "name"}));
  app.add_option("--timeout", args.timeout, "How long the verb may take, such as 30s (default 2m; exec: as long as --limit allows)");
  app.add_option("--tls-certificate", args.tls_certificate, "This client's certificate (PEM), for a node beyond loopback")
    ->envname("PADDOCK_TLS_CERTIFICATE");
  app.add_option("--tls-key", args.tls_key, "Its key (PEM)")->envname("PADDOCK_TLS_KEY");
  app.add_option("--tls-ca", args.tls_ca, "The authority that the node's certificate must come from (PEM)")->envname("PADDOCK_TLS_CA");

  auto with_id = [&](CLI::App* verb) {
    verb->add_option("ID", args.id, "The workspace: 1 to 54 of a-z, 0-9 and -")->required();
    return verb;
  };
  auto* open_verb = with_id(app.add_subcommand("open", "Create, adopt or resume a workspace; prints which"));
  open_verb->add_option("--template", args.template_name, "The SandboxTemplate to make it from (default: the node's)");
  open_verb->add_flag("--refresh-template", args.refresh_template, "Take the template's present pod when it is woken");
  open_verb->add_option("--expect-uid", args.expect_uid, "Open only the Sandbox with this uid; never create");
  open_verb->add_option("--expect-claim", args.expect_claims, "With --expect-uid: the disk NAME must be the one with this uid, NAME=UID");
  auto* list_verb = app.add_subcommand("ls", "List the workspaces; wakes nothing");
  auto* get_verb = with_id(app.add_subcommand("get", "Show a workspace; wakes nothing"));
  auto* identity_verb = with_id(app.add_subcommand("identity", "Show which Sandbox, pod, guest and disks it is"));
  auto* events_verb =
    with_id(app.add_subcommand("events", "Show what this node has seen of it lately: guest restarts and what else was not asked for here"));
  events_verb->add_flag("-f,--follow", args.follow, "Go on showing what it sees, as long as --timeout says, else until interrupted");
  const auto verbs = add_guest_verbs(app, args, true);
  auto* cat_verb = app.add_subcommand("cat", "Print a file: paddock cat ID:PATH");
  cat_verb->add_option("ID:PATH", args.source)->required();
  cat_verb->add_option("--offset", args.offset, "From this byte on");
  cat_verb->add_option("--length", args.length, "So many bytes at most");
  auto* ls_files_verb = app.add_subcommand("ls-files", "List the regular files below a folder: paddock ls-files ID:PATH");
  ls_files_verb->add_option("ID:PATH", args.source)->required();
  add_walk_options(*ls_files_verb, args);
  auto* copy_verb = app.add_subcommand("cp", "Copy in or out: paddock cp SRC DST, one of them ID:PATH, - for stdin or stdout");
  copy_verb->add_option("SRC", args.source)->required();
  copy_verb->add_option("DST", args.destination)->required();
  copy_verb->add_flag("-r,--recursive", args.recursive, "A whole tree of regular files");
  auto* suspend_verb = with_id(app.add_subcommand("suspend", "End the pod and keep the disk"));
  suspend_verb->add_flag("--no-flush", args.no_flush, "Do not ask the guest to flush first");
  suspend_verb->add_flag("--quiesce", args.with_quiesce, "Stop every process of the guest first; no suspend when that is not confirmed");
  suspend_verb->add_flag("--only-if-idle", args.only_if_idle, "Only when nothing runs in the guest; otherwise nothing happens")
    ->disable_flag_override();
  suspend_verb->add_option("--grace", args.grace, "With --quiesce: from SIGTERM to SIGKILL (default: the guest's)");
  suspend_verb->add_flag("--by-id", args.by_id, "Ask the cluster alone: no guest is dialled, so nothing is flushed");
  suspend_verb->add_option("--expect-uid", args.expect_uid, "Suspend only the Sandbox with this uid");
  auto* refresh_verb = with_id(app.add_subcommand("refresh", "Look whether it was suspended elsewhere; prints its state on this node"));
  auto* resume_verb = with_id(app.add_subcommand("resume", "Wake it on a new pod with the same disk"));
  resume_verb->add_flag("--refresh-template", args.refresh_template, "Take the template's present pod");
  auto* remove_verb = with_id(app.add_subcommand("rm", "Delete a workspace with its disk"));
  remove_verb->add_flag("--delete-disk", args.delete_disk, "The disk too, and everything on it");
  remove_verb->add_flag("--yes", args.yes, "Do not ask for a word on a terminal");
  remove_verb->add_option("--expect-uid", args.expect_uid, "Delete only the Sandbox with this uid");
  auto* reset_verb = with_id(app.add_subcommand("reset-epoch", "Replace a holder epoch that nobody can read; changes nothing else"));
  reset_verb->add_option("--stored", args.stored_epoch, "The text that stands now, to the letter")->required();
  reset_verb->add_option("--uid", args.sandbox_uid, "The uid of the Sandbox that carries it")->required();
  const auto policies = add_policy_verbs(app, args);
  const auto tasks = add_task_verbs(app, args);
  auto* nodes_verb = app.add_subcommand("nodes", "Show the node");
  auto* guest_verb = app.add_subcommand("guest", "Speak to a guest itself, without a node: paddock guest --address HOST:PORT VERB");
  const auto direct = add_direct_verbs(*guest_verb, args);
  const auto audits = add_audit_verbs(app, args);
  auto* version_verb = app.add_subcommand("version", "Show the version of this client");
  auto* completion_verb = app.add_subcommand("completion", "Print a completion script");
  completion_verb->add_option("SHELL", args.shell, "bash, zsh or fish")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& x) {
    if (x.get_exit_code() == 0)
      return app.exit(x);
    // An exec that was not understood is one that Paddock could not carry out.
    const auto code = misuse(args, x.what());
    return runs_a_command(verbs, direct) || tasks.run->parsed() ? 125 : code;
  }
  if (version_verb->parsed()) {
    if (args.how() == format::json)
      std::cout << nlohmann::json{{"version", version}, {"protocol", message_protocol}}.dump(2) << '\n';
    else
      std::cout << "paddock " << version << '\n';
    return 0;
  }
  if (completion_verb->parsed())
    return complete(args, app);

  const auto code_of = [&](int code) { return runs_a_command(verbs, direct) || tasks.run->parsed() ? 125 : code; };
  if (args.node.empty())
    if (const auto* from_environment = std::getenv("PADDOCK_NODE"))
      args.node = from_environment;
  client::options how;
  if (!args.node.empty()) {
    const auto place = config::parse_listen(args.node);
    if (!place || place->port == 0)
      return code_of(misuse(args, "--node wants HOST:PORT, not \"" + args.node + "\""));
    how.host = place->host;
    how.port = place->port;
  }
  if (!args.timeout.empty()) {
    const auto budget = config::parse_duration(args.timeout);
    if (!budget || budget->count() == 0)
      return code_of(misuse(args, "--timeout wants a duration such as 30s, not \"" + args.timeout + "\""));
    how.budget = *budget;
  } else if (verbs.exec->parsed() || direct.of.exec->parsed() || tasks.run->parsed()) {
    // The command's own limit ends it, not the verb's: five minutes are what a guest gives one that names none.
    const auto limit = args.limit.empty() ? std::nullopt : config::parse_duration(args.limit);
    how.budget = limit.value_or(std::chrono::minutes{5}) + std::chrono::minutes{1};
  }
  if (audits.parsed()) {
    auto code = run_audit(audits, args, how.budget);
    std::cout.flush();
    if (!std::cout.good() && code == 0)
      code = refuse(args, make_problem(verdict::failed, "OutputFailed", "cannot write the output"));
    std::cerr.flush();
    ::_exit(code);
  }
  how.tls = {args.tls_certificate, args.tls_key, args.tls_ca};
  std::signal(SIGPIPE, SIG_IGN);
  if (has_terminal(verbs, direct, args))
    block_signals(true);
  else if (verbs.streams() || direct.streams() || tasks.run->parsed() || cat_verb->parsed() || ls_files_verb->parsed()
           || copy_verb->parsed())
    block_signals(false);
  if (guest_verb->parsed()) {
    const auto code = run_direct(direct, args, how.budget);
    std::cout.flush();
    std::cerr.flush();
    ::_exit(code);
  }

  auto connected = client::remote_node::connect(how);
  if (!connected)
    return code_of(refuse(args, connected.error()));
  const auto& by = *connected;
  auto code = 0;
  if (open_verb->parsed())
    code = open_or_resume(by, args, false);
  else if (list_verb->parsed())
    code = list(by, args, config::write_listen({how.host, how.port}));
  else if (get_verb->parsed())
    code = get(by, args, false);
  else if (identity_verb->parsed())
    code = get(by, args, true);
  else if (events_verb->parsed())
    code = show_events(by, args, how.budget);
  else if (refresh_verb->parsed())
    code = refresh(by, args);
  else if (verbs.parsed())
    code = run_of_node(verbs, by, args);
  else if (cat_verb->parsed())
    code = cat_of_node(by, args);
  else if (ls_files_verb->parsed())
    code = ls_files_of_node(by, args);
  else if (copy_verb->parsed())
    code = cp(by, args);
  else if (suspend_verb->parsed())
    code = suspend(by, args);
  else if (resume_verb->parsed())
    code = open_or_resume(by, args, true);
  else if (remove_verb->parsed())
    code = remove(by, args);
  else if (reset_verb->parsed())
    code = reset_epoch(by, args);
  else if (policies.parsed())
    code = run_policy(policies, by, args);
  else if (tasks.parsed())
    code = run_task_verb(tasks, by, args);
  else if (nodes_verb->parsed())
    print_nodes(std::cout, args.how(), config::write_listen({how.host, how.port}), by.about());
  std::cout.flush();
  if (!std::cout.good() && code == 0)
    code = refuse(args, make_problem(verdict::failed, "OutputFailed", "cannot write the output"));
  // Leaving by `_exit` spares the wait for actors of a system that nobody needs any more.
  std::cerr.flush();
  ::_exit(code);
}
