#pragma once

#include "base/time.hpp"
#include "guest/agent/blocking_work.hpp"
#include "guest/agent/files.hpp"
#include "guest/agent/live_execution.hpp"
#include "guest/agent_config.hpp"
#include "guest/dispatch.hpp"
#include "guest/execution_registry.hpp"
#include "guest/gate.hpp"
#include "guest/quiesce.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace paddock::guest {

class connection;
class retained_output;
struct session_table;
class flusher;

/// What the connections of one agent share. Wire thread only.
struct agent_core : std::enable_shared_from_this<agent_core> {
  agent_core(boost::asio::io_context& context, agent_config x, const time_source& clock, blocking_work& pool, file_calls files,
             std::function<void(std::string_view)> logger, std::function<int(const std::string&)> sync = {});
  ~agent_core();

  [[nodiscard]] standing now() const {
    return {boot, retiring, quiescing};
  }

  /// Raises the fence, once and for good.
  void fence(std::string_view reason);

  /// Runs `job` where it may block, then `then` with its answer on the wire thread. `then` is dropped with the agent.
  template <class Job, class Then>
  void elsewhere(Job job, Then then) {
    work.run([self = shared_from_this(), job = std::move(job), then = std::move(then)]() mutable {
      auto answer = job();
      boost::asio::post(self->io, [self, then = std::move(then), answer = std::move(answer)]() mutable {
        if (!self->destroyed)
          then(std::move(answer));
      });
    });
  }

  boost::asio::io_context& io;
  agent_config config;
  const time_source& time;
  blocking_work& work;
  file_calls files;
  std::function<void(std::string_view)> log;

  guest_boot_id boot;
  credential_gate gate;
  preauth_pool pool;
  execution_registry registry;
  std::map<std::string, std::shared_ptr<live_execution>> running;   // by id, tracked ones
  std::map<std::string, std::shared_ptr<retained_output>> retained; // by id, those that are not terminal
  std::set<std::shared_ptr<live_execution>> live;                   // all that have not settled
  std::shared_ptr<session_table> sessions;                          // and the terminals
  /// The kernel sessions whose leader an op started and has not accounted for yet: all that `quiesce` may stop where it
  /// does not rule the whole pid namespace ([G] 12.3).
  std::set<pid_t> owned_sessions;
  /// Children that stay zombies until their owner reaps them, so that their number names nobody else.
  std::set<pid_t> unreaped;
  quiesce_scope scope;        // judged once: whoever becomes the parent later is not the agent's init
  std::uint64_t starting = 0; // ops that were admitted and have no process yet
  std::uint64_t quiesces = 0; // each takes back the permits given before it
  std::unique_ptr<flusher> flushing;
  parts_in_flight parts;                  // of `write-file`; on any thread
  std::vector<std::string_view> features; // what `healthz` advertises, in the order of [G] 3.2
  bool retiring = false;
  bool quiescing = false;
  bool terminating = false;
  bool destroyed = false; // the agent: nothing is begun any more

  std::map<std::uint64_t, std::weak_ptr<connection>> connections;
  std::uint64_t next_connection = 1;

  std::array<char, 64 * 1024> scratch{}; // for one read at a time
};

/// Held by an op from its admission until it has a process or none ([G] 12.4, 12.6): an idle-only quiesce counts it, any
/// other takes it back, and then the op must start nothing. So no command begins behind a quiesce that has not seen it.
class start_permit {
public:
  explicit start_permit(std::shared_ptr<agent_core> core) : core_(std::move(core)), given_(core_->quiesces) {
    ++core_->starting;
  }
  ~start_permit() {
    --core_->starting;
  }
  start_permit(const start_permit&) = delete;
  start_permit& operator=(const start_permit&) = delete;

  [[nodiscard]] bool taken_back() const {
    return core_->terminating || core_->quiesces != given_;
  }

private:
  std::shared_ptr<agent_core> core_;
  std::uint64_t given_;
};

} // namespace paddock::guest
