#pragma once

#include "actors/node.hpp"
#include "messages/error.hpp"
#include "tests/support/fake_ports.hpp"

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <caf/test/bdd_dsl.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paddock::test {

using namespace std::literals;

/// Time that stands still until the test moves it.
class hand_moved_time final : public time_source {
public:
  [[nodiscard]] clock::time_point now() const override {
    return at;
  }
  [[nodiscard]] wall_clock::time_point wall() const override {
    return {};
  }
  clock::time_point at{1h};
};

struct actor_config : caf::actor_system_config {
  actor_config() {
    [[maybe_unused]] static const auto once = [] {
      register_messages();
      return true;
    }();
  }
};

/// The ports that actors ask. A base of its own, before the actor system, so that it outlives every actor.
struct fakes {
  workspace::fake_transitions_port transitions;
  workspace::fake_inventory_port inventory;
  workspace::fake_guest_port guests;
  hand_moved_time time;
  std::vector<std::string> warnings;
  actor_world world{transitions, inventory, guests, time, "standard", [this](const std::string& x) { warnings.push_back(x); }};
};

/// The end of a job that went well, in guest `boot`.
inline workspace::job_end ended_well(const std::string& boot = {}) {
  workspace::job_end out;
  if (!boot.empty())
    out.boot = guest_boot_id{boot};
  return out;
}

/// One answer that is awaited, success or problem.
template <class T>
struct answer_of {
  std::optional<T> value;
  std::optional<problem> why;
};

/// Actors over fakes on CAF's deterministic scheduler: nothing runs until the test says `run`.
struct actor_fixture : fakes, test_coordinator_fixture<actor_config> {
  ~actor_fixture() {
    for (const auto& x : spawned)
      caf::anon_send_exit(x, caf::exit_reason::kill);
    sched.run();
  }
  using test_coordinator_fixture<actor_config>::run;
  using answer = std::shared_ptr<answer_of<caf::unit_t>>; // of a question that is answered with nothing but success

  template <class Handle>
  Handle keep(Handle x) {
    spawned.push_back(caf::actor_cast<caf::actor>(x));
    sched.run();
    return x;
  }
  workspace_actor make_workspace(const std::string& which = "desk") {
    return keep(sys.spawn<workspace_impl>(std::ref(world), *workspace::id::parse(which)));
  }

  /// Asks; the answer is there once `run` has let the actor give it. Each question has its own asker.
  template <class T, class Handle, class... Ts>
  std::shared_ptr<answer_of<T>> ask(const Handle& to, Ts... xs) {
    auto out = std::make_shared<answer_of<T>>();
    auto asker = sys.spawn([=](caf::event_based_actor* me) {
      auto asked = me->request(to, caf::infinite, xs...);
      auto failed = [out](const caf::error& why) { out->why = to_problem(why); };
      if constexpr (std::is_same_v<T, caf::unit_t>)
        asked.then([out] { out->value.emplace(); }, failed);
      else
        asked.then([out](T& x) { out->value = std::move(x); }, failed);
    });
    spawned.push_back(caf::actor_cast<caf::actor>(asker));
    sched.run();
    return out;
  }

  /// Lets time pass for the actors' clock and for `time`.
  void pass(caf::timespan by) {
    time.at += by;
    sched.advance_time(by);
    sched.run();
  }

  /// A session that runs on pod P1 of Sandbox S1.
  static workspace::session running() {
    workspace::session out;
    out.at = workspace::state::running;
    out.from = workspace::origin::created;
    out.epoch = 7;
    out.sandbox = sandbox_uid{"S1"};
    out.pod = pod_uid{"P1"};
    out.guest = guest::endpoint{"127.9.9.9", 1024, secret{"P1"}};
    return out;
  }
  static workspace::session suspended() {
    auto out = running();
    out.at = workspace::state::suspended;
    out.retired_pod = out.pod;
    out.pod.reset();
    out.guest.reset();
    return out;
  }

  std::vector<caf::actor> spawned;
};

/// A sink that writes down what it is told.
struct sink_log {
  std::vector<std::pair<int, std::string>> output;
  std::vector<std::uint64_t> wanted;
  std::vector<call_note> noted;
  std::vector<call_end> ended;
  std::vector<problem> failed;
};

inline sink_actor::behavior_type logging_sink(std::shared_ptr<sink_log> log) {
  return {
    [log](atom::output, std::uint8_t which, const bytes& piece) {
      log->output.emplace_back(which, std::string{reinterpret_cast<const char*>(piece.data()), piece.size()});
    },
    [log](atom::wanted, std::uint64_t n) { log->wanted.push_back(n); },
    [log](atom::noted, const call_note& x) { log->noted.push_back(x); },
    [log](atom::ended, const call_end& x) { log->ended.push_back(x); },
    [log](atom::failed, const problem& x) { log->failed.push_back(x); },
  };
}

} // namespace paddock::test
