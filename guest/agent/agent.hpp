#pragma once

#include "base/time.hpp"
#include "guest/agent/blocking_work.hpp"
#include "guest/agent/files.hpp"
#include "guest/agent_config.hpp"
#include "guest/identity.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::guest {

/// What an agent asks of its surroundings, apart from the machine itself.
struct agent_surroundings {
  const time_source& time;                   // leases, lifetimes, durations
  blocking_work& work;                       // over before the io_context is destroyed
  std::function<void(std::string_view)> log; // one line each; never a token, a body, a value or output
  file_calls files = {};
  /// What flushes the file system of a folder; by default the kernel's `syncfs`. 0, or an errno value. May block.
  std::function<int(const std::string& folder)> sync = {};
};

/// The guest agent ([G]): one listener, the executions and files behind it. Everything happens on the one thread that runs
/// `io`, but for what `work` takes. From the first agent on the whole process ignores SIGPIPE and SIGXFSZ and inherits the
/// orphans of its commands.
class agent {
public:
  agent(boost::asio::io_context& io, agent_config config, agent_surroundings around);
  /// Destroys the connections; commands that still run are ended by force.
  ~agent();
  agent(const agent&) = delete;
  agent& operator=(const agent&) = delete;

  /// Begins to accept, or does so again: then at once, whatever earlier connections do, and where it listened before. A
  /// failure is a text for standard error.
  [[nodiscard]] tl::expected<void, std::string> listen();
  void close_listener();

  /// Runs the reseed hook, if there is one, then listens ([G] 14), at the start and on SIGUSR1. The hook's result is ignored;
  /// it is waited for at most 30 s and then killed. Nothing is called, and nothing listens, once the agent is ending.
  void reseed_and_listen(std::function<void(tl::expected<void, std::string>)> then);

  /// Reaps the orphans of commands that have exited. For a process that has no children but the agent's, whenever one
  /// exits (SIGCHLD).
  void reap();

  /// Where it listens: `ADDRESS:PORT`, or the path.
  [[nodiscard]] const std::string& address() const noexcept;
  [[nodiscard]] const guest_boot_id& boot() const noexcept;
  /// Whether the fence is up.
  [[nodiscard]] bool retiring() const noexcept;

  /// Ends the agent as SIGTERM does ([G] 14): no new connection, the quiesce gate for good, everything stopped by quiesce
  /// rounds, the workspace flushed. Calls `done` once, at the shutdown deadline at the latest. Later calls are logged and ignored.
  void shut_down(std::function<void()> done);

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace paddock::guest
