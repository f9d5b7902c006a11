#pragma once

#include "guest/agent/session_scanner.hpp"
#include "guest/session_registry.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace paddock::guest {

class live_program;
class live_session;
struct agent_core;

/// The terminals and the sessions of one agent. Wire thread only.
struct session_table {
  session_table(boost::asio::io_context& io, session_registry::limits x) : registry(x), scanner(std::make_shared<session_scanner>(io)) {
  }

  /// Forgets the exited sessions that have expired.
  void prune(session_registry::time_point now);
  /// Forgets the sessions that the registry has given up.
  void forget(const std::vector<std::string>& ids);

  /// The agent is destroyed: kills what runs, with the processes of its kernel session, and waits for the programs.
  void abandon();

  session_registry registry;
  std::map<std::string, std::shared_ptr<live_session>> live; // those that have been started
  std::set<std::shared_ptr<live_program>> programs;          // whose number is not given free
  std::shared_ptr<session_scanner> scanner;
};

} // namespace paddock::guest
