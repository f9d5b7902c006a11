#pragma once

#include "base/time.hpp"
#include "workspace/ports.hpp"
#include "workspace/task.hpp"

#include <functional>
#include <optional>
#include <string>

namespace paddock::workspace {

/// The steps of a task sandbox's life, as an actor asks for them ([C] 3). Between `plan` and `make`, and between `make` and `probe`, the
/// asker has verified what an operator applies. A callback comes exactly once, on any thread, never inside the call that asked, by the
/// deadline plus one bounded clean-up; also when it is withdrawn.
class task_port {
public:
  template <class T>
  using then = std::function<void(result<T>)>;
  virtual ~task_port() = default;

  /// Starts the readiness clock, and reads the template where one is needed. Nothing is made.
  virtual void plan(ticket name, task_request what, deadline until, then<task_plan> to) = 0;
  /// The POST, which is sent once, the wait for Ready and the read of the pod, within `what.until`. A failure means that the object was
  /// deleted, or that its deletion was tried for a second; it dies with its lease then.
  virtual void make(ticket name, task_plan what, then<held_task> to) = 0;
  /// The privilege probe. Nothing is cleaned up.
  virtual void probe(ticket name, held_task which, deadline until, then<done> to) = 0;
  /// Ends the terminals that are open in it, and deletes the object; already gone is success.
  virtual void release(ticket name, held_task which, deadline until, then<done> to) = 0;
  /// Lets the object live for another lease from now on.
  virtual void renew(ticket name, held_task which, deadline until, then<done> to) = 0;
  /// Which pod is behind it now, after a call was proven to have run nothing. Nothing: the same one, or nobody can tell.
  virtual void reread(ticket name, held_task which, deadline until, then<std::optional<found_pod>> to) = 0;
  /// Deletes every claim that the selector names; an empty one is an argument error.
  virtual void release_selected(ticket name, std::string selector, deadline until, then<released_tasks> to) = 0;
  /// How this pool stands, else the configured one; without any it is an argument error.
  virtual void capacity(ticket name, std::optional<std::string> pool, deadline until, then<task_capacity> to) = 0;
  virtual void cancel(ticket name) = 0;
};

} // namespace paddock::workspace
