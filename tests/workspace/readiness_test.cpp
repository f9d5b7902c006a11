#define CAF_SUITE readiness

#include "k8s/projection.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/workspace/desk.hpp"
#include "workspace/bind_judge.hpp"
#include "workspace/flows/ports.hpp"
#include "workspace/flows/sightings.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
using namespace std::chrono_literals;
namespace pt = paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;

namespace {

/// How a host learns that a Sandbox is Ready.
enum class way {
  polled,    // no WATCH
  watched,   // a WATCH that tells every change at once
  forbidden, // a WATCH that says it tells nothing
  half_open, // a WATCH that says it tells, and has gone silent
  late,      // a WATCH that tells every change a second after it
};
constexpr way all_ways[] = {way::polled, way::watched, way::forbidden, way::half_open, way::late};

/// A desk whose controller acts when it is told to, and the WATCH of its Sandbox.
struct watched_desk : desk {
  explicit watched_desk(way how_) : desk(host::fenced, api_server::with_generations), how(how_), shown(context.get_executor()) {
    if (how != way::polled)
      on.seen = &shown;
    cluster.controller_acts = false;
    shown.put({how != way::forbidden, nullptr});
  }

  /// The WATCH tells what stands, as this way has it.
  void tell() {
    if (how == way::half_open || how == way::forbidden || how == way::polled)
      return;
    const auto x = k8s::sighting{true, cluster.sandbox ? kept_now() : nullptr};
    if (how == way::watched)
      return shown.put(x);
    in(1s, [this, x] { shown.put(x); });
  }
  /// Does `act` so long from now.
  void in(time_source::clock::duration wait, std::function<void()> act) {
    boost::asio::co_spawn(context, later(time, wait, std::move(act)), boost::asio::detached);
  }
  static boost::asio::awaitable<void> later(pt::manual_time& time, time_source::clock::duration wait, std::function<void()> act) {
    co_await time.sleep_until(time.now() + wait);
    act();
  }
  /// The controller makes a pod and says that it is Ready, or not.
  void set_ready(bool ready) {
    cluster.controller_acts = true;
    cluster.set_mode(cluster.mode());
    if (!ready)
      (*cluster.sandbox)["status"]["conditions"][1]["status"] = "False";
    cluster.controller_acts = false;
    tell();
  }
  /// A Sandbox of generation 1 that was suspended, as all ways see it.
  void stand_suspended() {
    cluster.controller_acts = true;
    cluster.stand("Suspended");
    cluster.controller_acts = false;
    if (how != way::polled && how != way::forbidden)
      shown.put({true, kept_now()});
  }
  k8s::kept kept_now() {
    return std::make_shared<const k8s::kept_object>(k8s::sandbox_projection().of(*cluster.sandbox), k8s::kept_object::form::packed);
  }
  /// GETs of the Sandbox since the last look.
  std::size_t reads() {
    return static_cast<std::size_t>(std::ranges::count(requests(), "GET SB"));
  }

  way how;
  sightings shown;
};

/// What a resume came to, so that two ways can be compared.
struct outcome {
  std::string answer;
  std::string pod;
  std::string sandbox;
  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome outcome_of(const transition<opened>& x) {
  return {x.answer ? std::string{to_string(x.answer->from)} : reason_of(x.answer.error()) + ": " + to_string(x.answer.error()),
          x.after.pod ? x.after.pod->text() : "", x.after.sandbox ? x.after.sandbox->text() : ""};
}

} // namespace

SCENARIO("a resume is the same however its host learns that the Sandbox is Ready") {
  auto outcomes = std::vector<outcome>{};
  for (auto how : all_ways) {
    auto x = watched_desk{how};
    x.stand_suspended();
    x.in(3s, [&] { x.set_ready(false); });
    x.in(8s, [&] { x.set_ready(true); });
    outcomes.push_back(outcome_of(x.resume({})));
    CHECK_EQ(outcomes.back().answer, "resumed");
    CHECK(outcomes.back() == outcomes.front());
    const auto reads = x.reads();
    switch (how) {
      case way::polled:
      case way::forbidden: CHECK_GE(reads, 160u); break;
      // One for the checks before the write, one after it, and now and then one that confirms.
      case way::watched:
      case way::late: CHECK_LE(reads, 7u); break;
      case way::half_open: CHECK_LE(reads, 11u); break;
    }
  }
}

SCENARIO("with a watch there is no poll") {
  auto x = watched_desk{way::watched};
  x.stand_suspended();
  x.in(10ms, [&] { x.tell(); });
  x.in(1s, [&] { x.set_ready(false); });
  x.in(4s, [&] { x.set_ready(true); });
  REQUIRE(x.resume({}).answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET POD", "PATCH SB json", "GET SB", "GET POD", "GET PVC"}));
  GIVEN("the same by polling") {
    auto y = watched_desk{way::polled};
    y.stand_suspended();
    y.in(1s, [&] { y.set_ready(false); });
    y.in(4s, [&] { y.set_ready(true); });
    REQUIRE(y.resume({}).answer.has_value());
    CHECK_GE(y.reads(), 80u);
  }
}

SCENARIO("a created workspace is awaited from the watch") {
  auto x = watched_desk{way::watched};
  x.in(10ms, [&] { x.tell(); });
  x.in(2s, [&] { x.set_ready(true); });
  REQUIRE(x.open().answer.has_value());
  CHECK_EQ(x.reads(), 1u);
}

SCENARIO("what ends a wait is the same however it is learnt") {
  struct row {
    const char* what;
    std::string reason;
    std::function<void(watched_desk&)> happen;
  };
  const auto rows = std::vector<row>{
    {"nothing happens", "ReadinessPollTimeout", [](watched_desk&) {}},
    {"somebody suspends it", "WorkspaceSuspended",
     [](watched_desk& x) {
       x.cluster.set_mode("Suspended");
       x.tell();
     }},
    {"another takes its place", "WorkspaceReplaced",
     [](watched_desk& x) {
       x.cluster.stand("Running", std::nullopt, "S2");
       x.set_ready(true);
     }},
    {"it is deleted", "AlreadyGone",
     [](watched_desk& x) {
       x.cluster.sandbox.reset();
       x.tell();
     }},
  };
  for (const auto& row : rows) {
    MESSAGE(row.what);
    auto outcomes = std::vector<outcome>{};
    for (auto how : all_ways) {
      auto x = watched_desk{how};
      x.stand_suspended();
      x.in(2s, [&] { row.happen(x); });
      const auto got = x.resume({});
      REQUIRE(!got.answer);
      outcomes.push_back(outcome_of(got));
      CHECK(outcomes.back().answer.find(row.reason) != std::string::npos);
      CHECK_EQ(outcomes.back().answer, outcomes.front().answer);
      CHECK_EQ(outcomes.back().sandbox, outcomes.front().sandbox);
      if (how == way::watched && row.reason != "ReadinessPollTimeout")
        CHECK_LE(x.time.elapsed(), 2s + 1ms);
    }
  }
}

SCENARIO("a watch that is behind never makes another object or generation Ready") {
  struct row {
    const char* what;
    std::function<void(json&)> change;
  };
  const auto rows = std::vector<row>{
    {"the object before, Ready and of a later version",
     [](json& x) {
       x["metadata"]["uid"] = "S0";
       x["metadata"]["resourceVersion"] = "9999";
     }},
    {"an earlier version, Ready", [](json& x) { x["metadata"]["resourceVersion"] = "1"; }},
    {"the same version, Ready", [](json&) {}},
    {"an earlier generation",
     [](json& x) {
       x["metadata"]["generation"] = 0;
       x["metadata"]["resourceVersion"] = "9999";
     }},
    {"a version that is no number", [](json& x) { x["metadata"]["resourceVersion"] = "zzzz"; }},
    {"no uid",
     [](json& x) {
       x["metadata"].erase("uid");
       x["metadata"]["resourceVersion"] = "9999";
     }},
  };
  for (const auto& row : rows) {
    MESSAGE(row.what);
    auto x = watched_desk{way::watched};
    x.stand_suspended();
    x.in(1s, [&] {
      // What stands is not Ready; what is shown says that it is.
      auto shown = *x.cluster.sandbox;
      shown["status"]["conditions"] = json::parse(R"([{"type":"Ready","status":"True"}])");
      row.change(shown);
      x.shown.put({true, std::make_shared<const k8s::kept_object>(shown, k8s::kept_object::form::packed)});
    });
    const auto got = x.resume({});
    REQUIRE(!got.answer);
    CHECK(outcome_of(got).answer.find("ReadinessPollTimeout") != std::string::npos);
    auto asked = x.requests();
    CHECK_EQ(std::ranges::count(asked, "GET POD"), 1); // before the wake-up
  }
}

SCENARIO("a wait for the watch ends when its caller withdraws") {
  auto x = watched_desk{way::watched};
  x.stand_suspended();
  const auto began = x.time.now();
  auto got = x.run_and_withdraw(desk::verb::resume, {}, [&] { return x.time.now() > began + 1s; });
  REQUIRE(got.why);
  CHECK(to_string(*got.why).find("withdrawn") != std::string::npos);
  CHECK_LE(x.time.elapsed(), 7s);
}

SCENARIO("a port shows a verb what its WATCH shows, and a verb that has ended nothing") {
  auto x = watched_desk{way::polled};
  x.stand_suspended();
  auto flows = flow_group{x.context.get_executor()};
  auto port = make_transitions(x.on, flows);
  auto answers = std::vector<transition<opened>>{};
  const auto show = [&](ticket name) { port->saw(name, {true, x.kept_now()}); };
  port->saw(7, {true, x.kept_now()});
  port->resume(7, x.which, {}, {}, deadline{x.time, 60s}, [&](transition<opened> got) { answers.push_back(std::move(got)); });
  show(7);
  x.in(10ms, [&] { show(7); });
  x.in(2s, [&] {
    x.set_ready(true);
    show(7);
    show(8);
  });
  pt::run_until(x.context, x.time, [&] { return !answers.empty(); });
  CHECK(answers.at(0).answer.has_value());
  CHECK_EQ(x.reads(), 2u);
  show(7);
  pt::run_ready(x.context);
  CHECK_EQ(answers.size(), 1u);
}

SCENARIO("a WATCH that tells nothing any more has the Sandbox read at once, and polled from then on") {
  auto x = watched_desk{way::half_open};
  x.stand_suspended();
  x.in(300ms, [&] { x.shown.put({false, x.kept_now()}); });
  x.in(400ms, [&] { x.set_ready(true); });
  CHECK(x.resume({}).answer.has_value());
  CHECK_LE(x.time.elapsed(), 600ms);
}

SCENARIO("the pause between two reads") {
  const auto how = settings{};
  CHECK(pause_between_reads(watching::nothing, 60s, how) == 50ms);
  CHECK(pause_between_reads(watching::behind, 60s, how) == 1s);
  CHECK(pause_between_reads(watching::caught_up, 60s, how) == 5s);
  CHECK(pause_between_reads(watching::caught_up, 3s, how) == 1500ms);
  CHECK(pause_between_reads(watching::caught_up, 10ms, how) == 50ms);
}
