#define CAF_SUITE guest_jobs

// The kinds of job that are more than one plain call: terminals, ports, detached commands, listings; and the questions.

#include "tests/support/fake_ports.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_guest.hpp"
#include "tests/support/scripted_hosts.hpp"
#include "tests/workspace/told.hpp"
#include "workspace/flows/guest_calls.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::test;

namespace {

constexpr auto plenty = std::size_t{1} << 20;

struct fixture {
  boost::asio::io_context lane;
  test::manual_time time;
  scripted_guest guests;
  flow_group flows{lane.get_executor()};
  scripted_hosts hosts{guests};
  std::unique_ptr<guest_port> port = make_guest_calls(hosts.ways(), time, flows);
  guest::endpoint where{"10.0.0.1", 1024, secret{"token"}};
  deadline until{time, std::chrono::seconds{60}};
  told it;

  void go() {
    test::run_ready(lane);
  }
  void start(guest_job what) {
    port->start(1, where, std::move(what), until, it.events());
    go();
  }
  /// What the next stream that is opened plays.
  scripted_terminal::script& stream() {
    hosts.streams.prepared = std::make_shared<scripted_terminal::script>(lane.get_executor());
    return *hosts.streams.prepared;
  }
  void give(std::string_view text, bool last = false) {
    port->input(1, to_bytes(std::string{text}), last);
    go();
  }
  void steer(steering how) {
    port->steer(1, std::move(how));
    go();
  }
  result<reply> ask(question what) {
    auto got = std::optional<result<reply>>{};
    port->ask(2, where, std::move(what), until, [&](result<reply> x) { got = std::move(x); });
    go();
    REQUIRE(got);
    return std::move(*got);
  }
};

terminal_job shell() {
  auto x = terminal_job{};
  x.what.program = "sh";
  return x;
}

detached_job detached(std::optional<std::string> name = std::nullopt) {
  auto x = detached_job{};
  x.what.what.program = "do";
  x.what.execution_id = std::move(name);
  x.what.leave = true;
  return x;
}

template <class T>
const T* reason(const result<reply>& got) {
  const auto* why = got ? nullptr : std::get_if<guest::failure>(&got.error());
  return why == nullptr ? nullptr : std::get_if<T>(why);
}

} // namespace

BEGIN_FIXTURE_SCOPE(fixture)

// -- terminals ---------------------------------------------------------------------

SCENARIO("a terminal is told ready, prints against credit, takes input and ends as its program does") {
  auto& program = stream();
  program.boot = guest_boot_id{"b"};
  start(shell());
  REQUIRE_EQ(hosts.streams.terminals.size(), 1u);
  CHECK_EQ(hosts.streams.terminals.front().program, "sh");
  REQUIRE_EQ(it.notes.size(), 1u);
  CHECK(it.notes.front().what == job_note::kind::ready);
  program.say("abcdef");
  go();
  CHECK_EQ(it.output, "");
  port->grant(1, 4);
  go();
  CHECK_EQ(it.output, "abcd");
  give("ls\n");
  CHECK_EQ(program.input, "ls\n");
  CHECK(!it.ended());
  port->grant(1, plenty);
  program.finish(guest::terminal_end{3, std::nullopt});
  go();
  REQUIRE(it.well());
  CHECK_EQ(it.output, "abcdef");
  CHECK_EQ(it.ends.front()->how.exit_code, 3);
  CHECK_EQ(it.ends.front()->boot, guest_boot_id{"b"});
}

SCENARIO("the end of the input is what a terminal takes for it, and the program goes on") {
  auto& program = stream();
  start(shell());
  give("x", true);
  CHECK_EQ(program.input, "x\x04");
  CHECK(it.ends.empty());
  program.finish(guest::terminal_end{0, std::nullopt});
  go();
  CHECK(it.well());
}

SCENARIO("a death by a signal has its name") {
  stream().finish(guest::terminal_end{-1, 9});
  start(shell());
  REQUIRE(it.well());
  CHECK_EQ(it.ends.front()->how.signal, "SIGKILL");
}

SCENARIO("a terminal hears of its size, of which the last counts, and of signals") {
  auto& program = stream();
  start(shell());
  port->steer(1, resize_terminal{{100, 30}});
  port->steer(1, signal_terminal{"SIGINT"});
  port->steer(1, resize_terminal{{120, 40}});
  go();
  REQUIRE(!program.sizes.empty());
  CHECK_EQ(program.sizes.back().columns, 120);
  CHECK_EQ(program.signals, std::vector<std::string>{"SIGINT"});
  CHECK(it.ends.empty());
  port->cancel(1);
  go();
}

SCENARIO("a terminal that is left, or withdrawn, ends with what the host says of that") {
  for (const auto leave : {true, false}) {
    fixture f;
    auto& program = f.stream();
    program.when_left = tl::unexpected{guest::failure{guest::session_detached{7, "left"}}};
    f.start(shell());
    if (leave)
      f.steer(leave_running{});
    else
      f.port->cancel(1);
    f.go();
    CHECK_GE(program.left, 1);
    REQUIRE(f.it.failed<guest::session_detached>() != nullptr);
    CHECK_EQ(f.it.failed<guest::session_detached>()->next_offset, 7u);
  }
}

SCENARIO("a terminal that cannot be opened says why, and nothing of it is told before") {
  hosts.streams.refusal = guest::refused{"terminal_failed", "no pty"};
  start(shell());
  CHECK(it.failed<guest::refused>() != nullptr);
  CHECK(it.notes.empty());
  CHECK(it.wants.empty());
}

SCENARIO("more input than was wanted breaks a terminal, whatever its program does") {
  auto& program = stream();
  start(shell());
  give(std::string(it.wanted() + 1, 'x'));
  CHECK(it.failed<guest::protocol_failure>() != nullptr);
  CHECK_EQ(program.input, "");
  CHECK_GE(program.left, 1);
}

SCENARIO("a session that is taken up is told where it stands") {
  auto& program = stream();
  program.position = guest::session_position{"terminal", "running", 5, 5, 90};
  program.next_offset = 95;
  auto job = rejoin_job{};
  job.what.session = "s";
  start(job);
  REQUIRE_EQ(hosts.streams.attached.size(), 1u);
  CHECK_EQ(hosts.streams.attached.front().session, "s");
  REQUIRE_EQ(it.notes.size(), 1u);
  CHECK(it.notes.front().what == job_note::kind::attached);
  CHECK_EQ(it.notes.front().state, "running");
  CHECK_EQ(it.notes.front().dropped_bytes, 5u);
  CHECK_EQ(it.notes.front().next_offset, 90u);
  program.finish(guest::terminal_end{0, std::nullopt});
  go();
  REQUIRE(it.well());
  CHECK_EQ(it.ends.front()->next_offset, 95u);
}

// -- ports -------------------------------------------------------------------------

SCENARIO("a port carries both ways, and the end of one way is not the end of the other") {
  auto& service = stream();
  start(tcp_job{"127.0.0.1", 80});
  CHECK_EQ(hosts.streams.ports, std::vector<std::string>{"127.0.0.1:80"});
  port->grant(1, plenty);
  give("ping", true);
  CHECK_EQ(service.input, "ping");
  CHECK_EQ(service.signals, std::vector<std::string>{"finish"});
  CHECK(it.ends.empty());
  service.say("pong");
  service.finish(guest::terminal_end{});
  go();
  CHECK(it.well());
  CHECK_EQ(it.output, "pong");
  CHECK_EQ(service.left, 1);
}

SCENARIO("a port that is withdrawn is torn down") {
  auto& service = stream();
  start(tcp_job{"127.0.0.1", 80});
  port->cancel(1);
  go();
  CHECK(it.ended());
  CHECK_EQ(service.left, 1);
}

// -- detached commands ---------------------------------------------------------------

SCENARIO("a detached command has a name before it runs, and is told as running when it was left") {
  hosts.work.on_run = [this](const auto&, const guest::detached_run& x) -> guest::result<guest::attached_end> {
    CHECK(x.leave);
    REQUIRE_EQ(it.notes.size(), 1u);
    CHECK_EQ(it.notes.front().execution, x.execution_id);
    return tl::unexpected{guest::failure{guest::execution_detached{*x.execution_id, 12, "left", true}}};
  };
  start(detached());
  CHECK(it.notes.front().what == job_note::kind::named);
  REQUIRE(it.well());
  CHECK_EQ(it.ends.front()->outcome, "running");
  CHECK_EQ(it.ends.front()->execution, it.notes.front().execution);
  CHECK_EQ(it.ends.front()->execution.rfind("exec_", 0), 0u);
  CHECK_EQ(it.ends.front()->next_offset, 12u);
}

SCENARIO("a detached command that was lost is not told as running") {
  hosts.work.on_run = [](const auto&, const guest::detached_run& x) -> guest::result<guest::attached_end> {
    return tl::unexpected{guest::failure{guest::execution_detached{*x.execution_id, 0, "lost", false}}};
  };
  start(detached("exec_mine"));
  REQUIRE(it.failed<guest::execution_detached>() != nullptr);
  CHECK_EQ(it.failed<guest::execution_detached>()->execution_id, "exec_mine");
}

SCENARIO("a detached command with input is refused before it has a name") {
  auto job = detached();
  job.what.what.with_input = true;
  start(job);
  CHECK(it.failed<guest::invalid_argument>() != nullptr);
  CHECK(it.notes.empty());
}

SCENARIO("an attach hands the log on against credit and tells what is missing of it") {
  hosts.work.log = {"one\n", "two\n"};
  auto job = attach_job{};
  job.what.execution_id = "exec_a";
  start(job);
  CHECK_EQ(it.output, "");
  port->grant(1, 5);
  go();
  CHECK_EQ(it.output, "one\nt");
  CHECK(it.ends.empty());
  port->grant(1, plenty);
  go();
  REQUIRE(it.well());
  CHECK_EQ(it.output, "one\ntwo\n");
  CHECK_EQ(it.ends.front()->outcome, "completed");

  hosts.work.gap = {8, 100};
  auto other = told{};
  port->start(3, where, detached("exec_b"), until, other.events());
  port->grant(3, plenty);
  go();
  REQUIRE_EQ(other.notes.size(), 2u);
  CHECK(other.notes.back().what == job_note::kind::gap);
  CHECK_EQ(other.notes.back().from_offset, 8u);
  CHECK_EQ(other.notes.back().dropped_bytes, 100u);
}

SCENARIO("an attach of which not all was taken has not shown the whole log") {
  hosts.work.log = {"one\n", "two\n"};
  auto job = attach_job{};
  job.what.execution_id = "exec_a";
  start(job);
  port->cancel(1);
  go();
  REQUIRE(it.failed<guest::execution_detached>() != nullptr);
  CHECK_EQ(it.failed<guest::execution_detached>()->execution_id, "exec_a");
}

// -- listings -----------------------------------------------------------------------

SCENARIO("a listing and a walk are lines of JSON against credit, and count what they told") {
  for (const auto most : {std::uint64_t{0}, std::uint64_t{10}}) {
    fixture f;
    f.hosts.files.listed = {{"a b", 1}, {"c\xff", 22}};
    auto job = walk_job{};
    job.what.root = "docs";
    job.what.max_entries = most;
    f.start(job);
    CHECK_EQ(f.it.output, "");
    f.port->grant(1, plenty);
    f.go();
    REQUIRE(f.it.well());
    CHECK_EQ(f.it.output, "{\"path\":\"a b\",\"size\":1}\n{\"path\":\"c\xef\xbf\xbd\",\"size\":22}\n");
    CHECK_EQ(f.it.ends.front()->size, 2u);
    CHECK_EQ(f.hosts.files.walks.size(), most == 0 ? 0u : 1u);
    CHECK_EQ(f.hosts.files.roots.size(), most == 0 ? 1u : 0u);
  }
}

SCENARIO("a listing that was not taken whole is not told as whole") {
  hosts.files.listed = {{"a", 1}, {"b", 2}};
  auto job = walk_job{};
  job.what.max_entries = 10;
  start(job);
  port->grant(1, 3);
  go();
  port->cancel(1);
  go();
  CHECK(it.failed<guest::withdrawn>() != nullptr);
}

// -- questions ------------------------------------------------------------------------

SCENARIO("each question reaches its host with what was asked, and its answer comes back") {
  auto asked = std::vector<std::string>{};
  hosts.work.on_kill = [&](const auto& at, const auto& session, const auto& signal) {
    asked.push_back(at.host + " kill " + session + " " + signal.value_or("-"));
    return guest::result<guest::session_row>{guest::session_row{}};
  };
  hosts.work.on_quiesce = [&](const auto&, const auto&) {
    asked.emplace_back("quiesce");
    return guest::result<guest::quiesce_report>{guest::quiesce_report{}};
  };
  hosts.work.on_flush = [&](const auto&, const auto& bound) {
    asked.push_back("flush " + std::to_string(bound->count()));
    return guest::result<guest::flush_report>{guest::flush_report{}};
  };
  hosts.work.on_cancel = [&](const auto&, const auto& execution) {
    asked.push_back("cancel " + execution);
    return guest::result<void>{};
  };
  auto program = start_detached{};
  program.what.session = "p";
  const auto started = ask(program);
  REQUIRE(started);
  CHECK_EQ(std::get<guest::session_row>(*started).session, "p");
  const auto listed = ask(list_sessions{});
  REQUIRE(listed);
  CHECK(std::get<std::vector<guest::session_row>>(*listed).empty());
  CHECK(ask(kill_session{"s", "SIGHUP"}));
  CHECK(std::holds_alternative<guest::quiesce_report>(*ask(quiesce_guest{})));
  CHECK(std::holds_alternative<guest::flush_report>(*ask(flush_guest{std::chrono::milliseconds{7}})));
  CHECK(std::holds_alternative<std::monostate>(*ask(cancel_execution{"exec_c"})));
  CHECK_EQ(asked, (std::vector<std::string>{"10.0.0.1 kill s SIGHUP", "quiesce", "flush 7", "cancel exec_c"}));
}

SCENARIO("a question that is refused says why, and one that breaks is lost and not answered well") {
  hosts.work.on_cancel = [](const auto&, const auto&) -> guest::result<void> {
    return tl::unexpected{guest::failure{guest::refused{"unknown_execution", "it"}}};
  };
  CHECK(reason<guest::refused>(ask(cancel_execution{"x"})) != nullptr);
  hosts.work.on_flush = [](const auto&, const auto&) -> guest::result<guest::flush_report> { throw std::bad_alloc{}; };
  CHECK(reason<guest::lost>(ask(flush_guest{})) != nullptr);
}

// -- what breaks ------------------------------------------------------------------------

SCENARIO("a job whose host throws ends once, with what is not known of it") {
  hosts.work.on_attach = [](const auto&, const auto&) -> guest::result<guest::attached_end> { throw std::bad_alloc{}; };
  hosts.work.on_run = [](const auto&, const auto&) -> guest::result<guest::attached_end> { throw std::bad_alloc{}; };
  auto job = attach_job{};
  job.what.execution_id = "exec_a";
  job.what.from_offset = 4;
  start(job);
  REQUIRE(it.failed<guest::execution_detached>() != nullptr);
  CHECK_EQ(it.failed<guest::execution_detached>()->output_offset, 4u);
  CHECK(!it.failed<guest::execution_detached>()->left);

  auto other = told{};
  port->start(3, where, detached("exec_b"), until, other.events());
  go();
  REQUIRE(other.failed<guest::execution_detached>() != nullptr);
  CHECK_EQ(other.failed<guest::execution_detached>()->execution_id, "exec_b");
}

END_FIXTURE_SCOPE()
