#pragma once

#include "tests/actors/actor_fixture.hpp"

namespace paddock::test {

/// What a listener was told.
struct heard_events {
  std::vector<workspace_event> events;
  std::vector<problem> ends;
  std::function<void(const workspace_event&)> then; // within the handler
};

inline event_sink_actor::behavior_type listener(std::shared_ptr<heard_events> log) {
  return {
    [log](atom::noted, const workspace_event& x) {
      log->events.push_back(x);
      if (log->then)
        log->then(x);
    },
    [log](atom::failed, const problem& x) { log->ends.push_back(x); },
  };
}

} // namespace paddock::test
