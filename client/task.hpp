#pragma once

#include "client/target.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace paddock::client {

class connection;

/// A task sandbox that is held: commands, files, terminals and ports of its guest. It is asked no questions. A copy is another name
/// for the same.
class remote_task final : public target {
public:
  /// The same, whose verbs may take so long.
  [[nodiscard]] remote_task within(std::chrono::nanoseconds budget) const;
  /// Gives it back: its terminals are ended and its object is deleted. Said twice it deletes once; after a failure it may be said again.
  [[nodiscard]] result<void> remove() const;
  /// `IllegalArgument`: nothing is sent.
  [[nodiscard]] result<guest_answer> ask(guest_question what) const override;

private:
  friend class task_holder;
  struct state;
  explicit remote_task(std::shared_ptr<const state> x);
  result<std::unique_ptr<running_call>> begin(call_spec what, std::shared_ptr<inbox> to) const override;

  std::shared_ptr<const state> state_;
};

/// Who holds task sandboxes. When it lets go, is destroyed, or its process ends, the node gives back what it holds. Once it is destroyed
/// nobody is told anything more; a call that is under way is waited for, unless it is this very one that destroys.
class task_holder {
public:
  ~task_holder();
  task_holder(task_holder&&) noexcept;
  task_holder& operator=(task_holder&&) noexcept;

  /// Acquires a sandbox of its own. The answer proves that what an operator applies was verified, and that its guest passed the probe.
  [[nodiscard]] result<remote_task> acquire(task_spec what) const;
  /// From any thread, also while one waits for `acquire`, which then answers soon.
  void let_go() const;

private:
  friend class remote_node;
  struct state;
  explicit task_holder(std::unique_ptr<state> x);
  std::unique_ptr<state> state_;
};

} // namespace paddock::client
