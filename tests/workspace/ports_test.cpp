#define CAF_SUITE ports

#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_api.hpp"
#include "tests/support/scripted_guest.hpp"
#include "tests/support/scripted_hosts.hpp"
#include "workspace/flows/ports.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;

namespace {

/// What one verb answered.
template <class T>
struct answered {
  std::vector<transition<T>> all;

  transitions_port::then<T> then() {
    return [this](transition<T> x) { all.push_back(std::move(x)); };
  }
  [[nodiscard]] bool once() const {
    return all.size() == 1;
  }
  template <class Failure>
  [[nodiscard]] const Failure* failed() const {
    if (!once() || all.front().answer)
      return nullptr;
    const auto& why = all.front().answer.error();
    if constexpr (std::is_constructible_v<k8s::failure, Failure>) {
      const auto* inner = std::get_if<k8s::failure>(&why);
      return inner == nullptr ? nullptr : std::get_if<Failure>(inner);
    } else {
      return std::get_if<Failure>(&why);
    }
  }
};

struct fixture {
  boost::asio::io_context lane;
  test::manual_time time;
  test::scripted_api api;
  test::scripted_guest guests;
  world on{api, guests, time, make_settings()};
  flow_group flows{lane.get_executor()};
  std::unique_ptr<transitions_port> port = make_transitions(on, flows);
  std::unique_ptr<inventory_port> inventory = make_inventory(on, flows);
  test::scripted_hosts hosts{guests};
  std::unique_ptr<guest_port> calls = make_guest_calls(hosts.ways(), time, flows);
  deadline until{time, std::chrono::seconds{60}};
  id a = *id::parse("a");
  id b = *id::parse("b");

  fixture() {
    api.hold();
  }
  static settings make_settings() {
    auto x = settings{};
    x.name_space = "spaces";
    x.template_name = "small";
    x.ingress.verify = false;
    return x;
  }
  static session asleep() {
    auto x = session{};
    x.at = state::suspended;
    x.epoch = 7;
    x.sandbox = sandbox_uid{"uid"};
    return x;
  }
  void go() {
    test::run_ready(lane);
  }
};

} // namespace

BEGIN_FIXTURE_SCOPE(fixture)

SCENARIO("a verb answers once, and never inside the call that asked") {
  auto it = answered<done>{};
  port->take_up(1, a, session{}, until, it.then());
  CHECK(api.calls.empty());
  go();
  REQUIRE_EQ(api.waiting().size(), 1u);
  CHECK_EQ(api.waiting().front().method, "GET");
  CHECK(it.all.empty());
  api.answer(test::gone(api.waiting().front()));
  go();
  CHECK(it.once());
  CHECK(it.failed<k8s::already_gone>() != nullptr);
  CHECK_EQ(api.calls.size(), 1u);
}

SCENARIO("two verbs at once are answered in the order of their own answers") {
  auto one = answered<done>{};
  auto two = answered<done>{};
  port->take_up(1, a, session{}, until, one.then());
  port->take_up(2, b, session{}, until, two.then());
  go();
  REQUIRE_EQ(api.waiting().size(), 2u);
  CHECK(api.waiting().at(1).path.ends_with("/namzu-ws-b"));
  api.answer(test::gone(api.waiting().at(1)), 1);
  go();
  CHECK(one.all.empty());
  CHECK(two.failed<k8s::already_gone>() != nullptr);
  api.answer(test::gone(api.waiting().front()));
  go();
  CHECK(one.failed<k8s::already_gone>() != nullptr);
}

SCENARIO("a verb withdrawn before it began has sent nothing and leaves the session as it was") {
  auto opens = answered<opened>{};
  auto rest = std::vector<answered<done>>(4);
  auto original = failure{guest::failure{guest::lost{"somewhere"}}};
  port->open(1, a, {}, asleep(), until, opens.then());
  port->take_up(2, a, asleep(), until, rest[0].then());
  port->suspend(3, a, {}, asleep(), until, rest[1].then());
  port->remove(4, a, {}, asleep(), until, rest[2].then());
  port->explain(5, a, "exec", asleep(), original, until, rest[3].then());
  auto resumes = answered<opened>{};
  port->resume(6, a, {}, asleep(), until, resumes.then());
  for (ticket name = 1; name <= 6; ++name)
    port->cancel(name);
  CHECK(rest[0].all.empty());
  go();
  CHECK(api.calls.empty());
  CHECK(guests.calls.empty());
  for (const auto* x : {&opens, &resumes}) {
    const auto* why = x->failed<k8s::cancelled>();
    REQUIRE(why != nullptr);
    CHECK(!why->sent);
    CHECK(x->all.front().after.at == state::suspended);
  }
  for (auto i = 0u; i < 3; ++i) {
    const auto* why = rest[i].failed<k8s::cancelled>();
    REQUIRE(why != nullptr);
    CHECK(!why->sent);
    CHECK(rest[i].all.front().after.at == state::suspended);
    CHECK_EQ(rest[i].all.front().after.epoch, std::optional<std::uint64_t>{7});
  }
  THEN("an explanation withdrawn so is the failure that was to be explained") {
    CHECK(rest[3].failed<guest::failure>() != nullptr);
  }
}

SCENARIO("a verb withdrawn while it waits for the server answers once, after its last request") {
  auto it = answered<done>{};
  port->take_up(1, a, session{}, until, it.then());
  go();
  REQUIRE_EQ(api.waiting().size(), 1u);
  port->cancel(1);
  CHECK(it.all.empty());
  go();
  CHECK(api.waiting().empty());
  REQUIRE(it.once());
  CHECK(!it.all.front().answer);
  port->cancel(1); // has ended: no error
  go();
  CHECK(it.once());
}

SCENARIO("a ticket in use is refused and the verb that has it goes on") {
  auto one = answered<done>{};
  auto two = answered<done>{};
  port->take_up(1, a, session{}, until, one.then());
  port->remove(1, b, {}, asleep(), until, two.then());
  CHECK(two.all.empty());
  go();
  REQUIRE(two.failed<k8s::cancelled>() != nullptr);
  CHECK(two.all.front().after.at == state::suspended);
  REQUIRE_EQ(api.calls.size(), 1u);
  api.answer(test::gone(api.calls.front()));
  go();
  CHECK(one.once());
}

SCENARIO("a group that closes ends what runs, then reports, and refuses what comes") {
  auto verb = answered<done>{};
  auto rows = std::vector<result<std::vector<summary>>>{};
  auto row = std::vector<result<summary>>{};
  port->take_up(1, a, session{}, until, verb.then());
  inventory->list(until, [&](auto x) { rows.push_back(std::move(x)); });
  inventory->get(a, until, [&](auto x) { row.push_back(std::move(x)); });
  CHECK(api.calls.empty());
  go();
  CHECK_EQ(api.waiting().size(), 3u);
  auto empty = 0;
  flows.close([&] {
    ++empty;
    CHECK(verb.once());
    CHECK_EQ(rows.size(), 1u);
    CHECK_EQ(row.size(), 1u);
  });
  go();
  CHECK_EQ(empty, 1);
  REQUIRE_EQ(rows.size(), 1u);
  CHECK(!rows.front());
  const auto before = api.calls.size();
  WHEN("more is asked") {
    auto late = answered<opened>{};
    port->open(2, a, {}, asleep(), until, late.then());
    inventory->list(until, [&](auto x) { rows.push_back(std::move(x)); });
    inventory->get(a, until, [&](auto x) { row.push_back(std::move(x)); });
    auto ends = std::vector<result<job_end>>{};
    auto events = call_events{};
    events.end = [&](auto x) { ends.push_back(std::move(x)); };
    calls->start(3, {}, read_job{"f", {}}, until, events);
    CHECK(late.all.empty());
    CHECK(ends.empty());
    CHECK_EQ(rows.size() + row.size(), 2u);
    go();
    THEN("nothing is sent, and each answer says so") {
      const auto* why = late.failed<k8s::cancelled>();
      REQUIRE(why != nullptr);
      CHECK(!why->sent);
      CHECK(late.all.front().after.at == state::suspended);
      CHECK_EQ(rows.size() + row.size(), 4u);
      CHECK(!rows.back());
      CHECK(!row.back());
      REQUIRE_EQ(ends.size(), 1u);
      CHECK(!ends.front());
      CHECK_EQ(api.calls.size(), before);
      CHECK(guests.calls.empty());
    }
  }
}

END_FIXTURE_SCOPE()
