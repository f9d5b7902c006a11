#define CAF_SUITE follow

#include "client/follower.hpp"
#include "tests/client/client_fixture.hpp"

using namespace paddock;
using namespace paddock::client;
using namespace paddock::test;

namespace {

workspace_event event(std::uint64_t number) {
  auto out = workspace_event{};
  out.number = number;
  return out;
}

struct fixture : client_fixture {
  fixture() {
    auto to = listener{[this](const workspace_event& x) {
                         heard.push_back(x.number);
                         if (then)
                           then();
                       },
                       [this](const problem& x) { ends.push_back(x.reason); }};
    heard_by = std::make_shared<listening>(std::move(to));
    me.emplace(std::unique_ptr<following::state>{new following::state{nullptr, heard_by, spawn_follower(sys, node, "desk", heard_by)}});
    sched.run();
  }
  ~fixture() {
    me.reset();
    sched.run();
  }
  /// Tells an event, as a SUBSCRIPTION does; true once it was taken.
  std::shared_ptr<bool> tell(std::uint64_t number) {
    auto taken = std::make_shared<bool>(false);
    sys.spawn([=, to = script->listeners.at(0)](caf::event_based_actor* teller) {
      mail::ask(teller, to, 1min, atom::noted_v, event(number)).then([=] { *taken = true; }, [](const caf::error&) {});
    });
    sched.run();
    return taken;
  }

  std::vector<std::uint64_t> heard;
  std::vector<std::string> ends;
  std::function<void()> then;
  std::shared_ptr<listening> heard_by;
  std::optional<following> me;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(follow_tests, fixture)

SCENARIO("what was seen before is told before what comes, also where that arrives first") {
  auto early = tell(3);
  CHECK(heard.empty());
  CHECK(!*early);
  answer([&] { script->pasts.at(0).deliver(std::vector<workspace_event>{event(1), event(2)}); });
  CHECK_EQ(heard, (std::vector<std::uint64_t>{1, 2, 3}));
  CHECK(*early);
  CHECK(*tell(4));
  CHECK_EQ(heard, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  CHECK(ends.empty());
}

SCENARIO("a refusal is the end, and so is a node that goes away; either is told once") {
  answer([&] { script->pasts.at(0).deliver(to_error(make_problem(verdict::usage, "IllegalId", "no id"))); });
  end_node();
  CHECK_EQ(ends, std::vector<std::string>{"IllegalId"});
}

SCENARIO("a node that goes away ends it as unreachable") {
  answer([&] { script->pasts.at(0).deliver(std::vector<workspace_event>{}); });
  end_node();
  CHECK_EQ(ends, std::vector<std::string>{"Unreachable"});
}

SCENARIO("what a node ends with is passed on") {
  answer([&] { script->pasts.at(0).deliver(std::vector<workspace_event>{}); });
  self->send(script->listeners.at(0), atom::failed_v, make_problem(verdict::failed, "EventsDropped", "too slow"));
  sched.run();
  CHECK_EQ(ends, std::vector<std::string>{"EventsDropped"});
}

SCENARIO("nobody is told anything once the following is gone, also where a listener ends it") {
  then = [this] { me.reset(); };
  answer([&] { script->pasts.at(0).deliver(std::vector<workspace_event>{event(1), event(2)}); });
  end_node();
  CHECK_EQ(heard, std::vector<std::uint64_t>{1});
  CHECK(ends.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
