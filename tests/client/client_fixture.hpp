#pragma once

#include "client/asking.hpp"
#include "messages/interfaces.hpp"

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <caf/test/bdd_dsl.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test {

using namespace std::literals;

struct client_config : caf::actor_system_config {
  client_config() {
    [[maybe_unused]] static const auto once = [] {
      register_messages();
      return true;
    }();
  }
};

/// A node that keeps each request until the test answers it.
struct node_script {
  std::vector<std::string> gets; // the ids that were asked for
  std::vector<caf::typed_response_promise<workspace_view>> views;
  std::vector<std::string> removes;
  std::vector<caf::typed_response_promise<void>> removed;
  std::vector<event_sink_actor> listeners;
  std::vector<caf::typed_response_promise<std::vector<workspace_event>>> pasts;
  std::function<void()> answer; // run by the node when it is told to
};

inline caf::behavior scripted_node(caf::event_based_actor* self, std::shared_ptr<node_script> script) {
  return {
    [=](atom::get, const std::string& id, caf::timespan) {
      script->gets.push_back(id);
      return script->views.emplace_back(self->make_response_promise<workspace_view>());
    },
    [=](atom::remove, const std::string& id, const remove_spec&, caf::timespan) {
      script->removes.push_back(id);
      return script->removed.emplace_back(self->make_response_promise<void>());
    },
    [=](atom::landed) { script->answer(); },
    [=](atom::subscribe, const std::string&, const event_sink_actor& to) {
      script->listeners.push_back(to);
      return script->pasts.emplace_back(self->make_response_promise<std::vector<workspace_event>>());
    },
  };
}

/// A client's actors before a scripted node, on CAF's deterministic scheduler: nothing runs until the test says `run`.
struct client_fixture : test_coordinator_fixture<client_config> {
  client_fixture() {
    node = caf::actor_cast<node_actor>(caf::actor_cast<caf::actor>(sys.spawn(scripted_node, script)));
    sched.run();
  }
  ~client_fixture() {
    script->views.clear();
    script->removed.clear();
    script->pasts.clear();
    script->listeners.clear();
    end_node();
  }
  /// The node gives its answers.
  void answer(std::function<void()> how) {
    script->answer = std::move(how);
    self->send(caf::actor_cast<caf::actor>(node), atom::landed_v);
    sched.run();
  }
  void end_node() {
    caf::anon_send_exit(node, caf::exit_reason::kill);
    sched.run();
  }
  void pass(caf::timespan by) {
    sched.advance_time(by);
    sched.run();
  }

  std::shared_ptr<node_script> script = std::make_shared<node_script>();
  node_actor node;
};

} // namespace paddock::test
