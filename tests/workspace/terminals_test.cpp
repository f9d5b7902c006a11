#define CAF_SUITE terminals

// A verb that takes the guest away ends the terminals in it first.

#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_hosts.hpp"
#include "tests/workspace/desk.hpp"
#include "tests/workspace/told.hpp"
#include "workspace/flows/guest_calls.hpp"
#include "workspace/flows/tasks.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
using strings = std::vector<std::string>;

namespace {

struct fixture {
  desk host;
  open_terminals terminals{host.context.get_executor()};
  flow_group flows{host.context.get_executor()};
  scripted_hosts hosts{host.guest};
  std::unique_ptr<guest_port> port = make_guest_calls(hosts.ways(), host.time, flows, &terminals);
  session held;
  told first, second;
  /// Of the requests that change the cluster, what was true of each when it was sent.
  strings seen;

  fixture() {
    host.on.terminals = &terminals;
    held = host.open().after;
    host.forget();
    host.cluster.intercept = [this](const k8s::call& x, std::size_t) -> std::optional<desk_cluster::reply> {
      if (x.method != "GET")
        seen.push_back(x.method + (first.ends.empty() ? ", first open" : "") + (second.ends.empty() ? ", second open" : ""));
      return std::nullopt;
    };
  }
  ~fixture() {
    flows.close([] {});
    host.context.restart();
    host.context.poll();
  }
  std::shared_ptr<scripted_terminal::script> start(ticket name, guest_job what, told& to, guest::endpoint where) {
    auto program = std::make_shared<scripted_terminal::script>(host.context.get_executor());
    hosts.streams.prepared = program;
    port->start(name, std::move(where), std::move(what), deadline{host.time, std::chrono::seconds{60}}, to.events());
    run_ready(host.context);
    return program;
  }
  std::shared_ptr<scripted_terminal::script> start(ticket name, guest_job what, told& to) {
    return start(name, std::move(what), to, held.guest.value());
  }
};

terminal_job shell(std::optional<std::string> session = std::nullopt) {
  auto x = terminal_job{};
  x.what.session = std::move(session);
  return x;
}

} // namespace

BEGIN_FIXTURE_SCOPE(fixture)

// [W 84] killed, and waited for
SCENARIO("a suspend kills the terminals in the guest and waits for their ends before it sends its patch") {
  auto one = start(1, shell(), first);
  auto two = start(2, shell(), second);
  one->dies_of_signals = two->dies_of_signals = true;
  auto got = host.suspend(held);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(one->signals, strings{"SIGKILL"});
  CHECK_EQ(two->signals, strings{"SIGKILL"});
  CHECK(first.well());
  CHECK(second.well());
  CHECK_EQ(seen, strings{"PATCH"});
  CHECK_EQ(host.requests(), (strings{"PATCH SB merge", "GET POD"}));
}

// [W 145] a holder that was overtaken
SCENARIO("a suspend that is refused for its epoch leaves the terminals as they are") {
  auto later = session{};
  later.epoch = 5;
  held.epoch = 4;
  REQUIRE(host.open(later).answer.has_value());
  seen.clear();
  auto one = start(1, shell(), first);
  auto got = host.suspend(held);
  CHECK(failed_with<precondition>(got) != nullptr);
  CHECK(seen.empty());
  CHECK(first.ends.empty());
  CHECK(one->signals.empty());
}

// [W 85] an attachment
SCENARIO("a suspend leaves sessions to themselves: an attachment ends, and nothing is killed") {
  auto opened = start(1, shell("work"), first);
  auto attached = start(2, rejoin_job{{"other", 0, std::nullopt}}, second);
  auto got = host.suspend(held);
  REQUIRE(got.answer.has_value());
  CHECK(opened->signals.empty());
  CHECK(attached->signals.empty());
  CHECK(opened->left > 0);
  CHECK(attached->left > 0);
  CHECK_EQ(seen, strings{"PATCH"});
}

SCENARIO("a terminal that does not die of its signal is given up, and the suspend goes on") {
  auto program = start(1, shell(), first);
  second.ends.emplace_back(job_end{});
  auto got = host.suspend(held);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(program->signals, strings{"SIGKILL"});
  CHECK(program->left > 0);
  CHECK_EQ(seen, strings{"PATCH"});
}

// [G 258]
SCENARIO("a task sandbox is deleted only when the terminals in it have been killed and have ended") {
  auto tasks = task_world{host.on, {}};
  auto task = held_task{};
  task.what = {owned_object::type::sandbox, host.which.sandbox_name()};
  task.sandbox_name = task.what.name;
  task.guest = held.guest.value();
  auto one = start(1, shell(), first);
  auto two = start(2, shell(), second);
  one->dies_of_signals = two->dies_of_signals = true;
  auto got = paddock::test::run_flow(host.context, host.time, release_task(tasks, task, deadline{host.time, std::chrono::minutes{1}}));
  REQUIRE(got.has_value());
  CHECK_EQ(one->signals, strings{"SIGKILL"});
  CHECK_EQ(two->signals, strings{"SIGKILL"});
  CHECK(first.well());
  CHECK(second.well());
  CHECK_EQ(seen, strings{"DELETE"});
  CHECK_EQ(host.requests(), strings{"DELETE SB"});
}

SCENARIO("a terminal in another guest stays") {
  auto elsewhere = held.guest.value();
  elsewhere.token = secret{"another pod"};
  auto program = start(1, shell(), first, elsewhere);
  auto got = host.suspend(held);
  REQUIRE(got.answer.has_value());
  CHECK(program->signals.empty());
  CHECK_EQ(program->left, 0);
  CHECK_EQ(seen, strings{"PATCH, first open, second open"});
}

SCENARIO("a suspend that is refused leaves the terminals as they are") {
  auto program = start(1, shell(), first);
  held.epoch = 4;
  host.cluster.stand("Running", "5");
  auto got = host.suspend(held);
  REQUIRE(!got.answer);
  CHECK(program->signals.empty());
  CHECK_EQ(program->left, 0);
  CHECK(seen.empty());
}

SCENARIO("a removal kills the terminals before it deletes") {
  auto program = start(1, shell(), first);
  program->dies_of_signals = true;
  second.ends.emplace_back(job_end{});
  auto got = host.remove(held);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(program->signals, strings{"SIGKILL"});
  CHECK_EQ(seen, strings{"DELETE"});
}

END_FIXTURE_SCOPE()
