#pragma once

#include "client/options.hpp"
#include "client/task.hpp"
#include "client/workspace.hpp"

#include <string>
#include <vector>

namespace paddock::client {

/// A node, addressed as a remote actor. A copy is another name for the same connection, which ends with the last of its handles: of the
/// node, its workspaces, calls and listeners. None of them may be destroyed on a thread that calls a listener back.
class remote_node {
public:
  /// Connects, and checks that the node speaks this library's messages. Bounded by 10 s and the budget. Brings an actor system.
  [[nodiscard]] static result<remote_node> connect(const options& how);

  /// What the node has said of itself when it was connected to.
  [[nodiscard]] const node_info& about() const;
  /// The same, whose verbs, and those of its workspaces, may take so long.
  [[nodiscard]] remote_node within(std::chrono::nanoseconds budget) const;

  /// Every workspace of the node's namespace; wakes nothing.
  [[nodiscard]] result<std::vector<workspace_view>> list() const;
  /// The workspace of this id, which need not exist yet; asks nothing.
  [[nodiscard]] remote_workspace workspace(std::string id) const;

  /// A holder of task sandboxes. `told` hears, on a thread of the library and one event at a time, what the node says of those
  /// that are held.
  [[nodiscard]] task_holder hold_tasks(std::function<void(const task_event&)> told = {}) const;
  /// Deletes every claim that the selector names, whichever host made it.
  [[nodiscard]] result<released_view> release(std::string selector) const;
  /// How a pool stands; empty: the node's own.
  [[nodiscard]] result<capacity_view> capacity(std::string pool = {}) const;

private:
  friend struct actor_access;
  remote_node(std::shared_ptr<const connection> by, std::chrono::nanoseconds budget);

  std::shared_ptr<const connection> by_;
  std::chrono::nanoseconds budget_;
};

/// The version of this library.
[[nodiscard]] const char* version() noexcept;

} // namespace paddock::client
