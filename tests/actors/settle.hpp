#pragma once

#include "tests/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>

namespace paddock::test {

/// Lets actors and flows run, while time stands still, until nothing is left to do.
template <class Scheduler>
void settle(Scheduler& actors, boost::asio::io_context& flows) {
  for (auto idle = 0; idle < 2;) {
    actors.run();
    flows.restart();
    idle = flows.poll() > 0 ? 0 : idle + 1;
  }
}

/// The same, and time moves on while a flow sleeps.
template <class Scheduler>
void settle(Scheduler& actors, boost::asio::io_context& flows, manual_time& time) {
  settle(actors, flows);
  while (const auto next = time.next()) {
    time.advance_to(*next);
    settle(actors, flows);
  }
}

} // namespace paddock::test
