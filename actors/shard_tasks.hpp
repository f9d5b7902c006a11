#pragma once

#include "actors/task.hpp"

#include <map>
#include <string>

namespace paddock {

/// The TASKs of a SHARD. Lives in its state; a TASK that has ended is forgotten and never made again.
class shard_tasks {
public:
  shard_tasks(shard_actor::pointer self, actor_world& world);
  ~shard_tasks();
  shard_tasks(const shard_tasks&) = delete;
  shard_tasks& operator=(const shard_tasks&) = delete;

  /// The answer proves a task sandbox that was verified and probed. A TASK that crashes meanwhile is `OutcomeUnknown`.
  caf::result<task_actor> acquire(task_options how, caf::timespan budget);
  void down(const caf::actor_addr& who);
  void stop();
  [[nodiscard]] bool idle() const {
    return tasks_.empty();
  }

private:
  shard_actor::pointer self_;
  actor_world& world_;
  std::map<caf::actor_addr, task_actor> tasks_;
};

} // namespace paddock
