#pragma once

#include "client/follow.hpp"
#include "client/target.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace paddock::client {

class connection;

/// One guest of a workspace and no other: once it is gone every call is `GuestPinRefused`, and nothing runs.
class pinned_guest final : public target {
public:
  [[nodiscard]] result<guest_answer> ask(guest_question what) const override;

private:
  friend class remote_workspace;
  struct state;
  explicit pinned_guest(std::shared_ptr<state> x);
  result<std::unique_ptr<running_call>> begin(call_spec what, std::shared_ptr<inbox> to) const override;

  std::shared_ptr<state> state_;
};

/// A workspace of a node, by its id; the id is checked by the node. As a `target` it is the guest that the workspace has when something
/// is asked of it. Every verb waits for its answer, has the deadline of this handle, and may be called from any thread but those of the
/// node's actor system. A copy is another name for the same.
class remote_workspace final : public target {
public:
  [[nodiscard]] const std::string& id() const noexcept {
    return id_;
  }
  /// The same, whose verbs may take so long. How long a command may run is in its `run_spec`.
  [[nodiscard]] remote_workspace within(std::chrono::nanoseconds budget) const;

  /// Creates, adopts or wakes. The answer proves a bound session whose guest passed the privilege probe.
  [[nodiscard]] result<opened_view> open(open_spec what = {}) const;
  /// As `open`, for one that exists.
  [[nodiscard]] result<opened_view> resume(open_spec what = {}) const;
  /// The answer proves that the pod is gone and the disk kept.
  [[nodiscard]] result<workspace_view> suspend(suspend_spec what = {}) const;
  /// As the cluster and the node's session see it, its identity included; wakes nothing.
  [[nodiscard]] result<workspace_view> get() const;
  /// Looks whether somebody else has suspended it.
  [[nodiscard]] result<workspace_view> refresh() const;
  /// Deletes it, its disk and everything on it. The answer proves that the name is free of this object.
  [[nodiscard]] result<void> remove(remove_spec what) const;
  /// Replaces a holder epoch that nobody can read, if it is the one named; changes nothing else.
  [[nodiscard]] result<workspace_view> reset_epoch(reset_spec what) const;

  /// What it may reach beside what all may, as it stands.
  [[nodiscard]] result<policy_view> policy() const;
  /// Lets it reach these hosts instead of those of before. The answer proves that the policy stands as meant.
  [[nodiscard]] result<policy_view> set_policy(std::vector<std::string> hosts) const;
  /// Takes away what was granted.
  [[nodiscard]] result<policy_view> clear_policy() const;

  /// What the node has seen of it lately, oldest first.
  [[nodiscard]] result<std::vector<workspace_event>> events() const;
  /// Tells that, and then what the node sees, until the answer is destroyed.
  [[nodiscard]] following follow(listener to) const;

  /// The guest that is named, and no other.
  [[nodiscard]] pinned_guest pinned(pin_spec which) const;
  [[nodiscard]] result<guest_answer> ask(guest_question what) const override;

private:
  friend class remote_node;
  remote_workspace(std::shared_ptr<const connection> by, std::string id, std::chrono::nanoseconds budget);
  result<std::unique_ptr<running_call>> begin(call_spec what, std::shared_ptr<inbox> to) const override;

  std::shared_ptr<const connection> by_;
  std::string id_;
  std::chrono::nanoseconds budget_;
};

} // namespace paddock::client
